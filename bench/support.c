/* Timing, reporting and recorded data: see the header. */
#include "support.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef ULNA_BENCH_TOOL
#define ULNA_BENCH_TOOL "ulna"
#endif

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_us(bench_body body, void *context, int batches, int calls)
{
    double best = 1e300;
    for (int b = 0; b < batches; b++) {
        double start = bench_now();
        for (int i = 0; i < calls; i++)
            body(context);
        double us = (bench_now() - start) * 1e6 / calls;
        best = us < best ? us : best;
    }
    return best;
}

double bench_count_instructions(const char *self, const char *arguments)
{
    char command[1024], line[512];
    double counted = -1;
    snprintf(command, sizeof command, "valgrind --tool=callgrind --callgrind-out-file=/dev/null '%s' %s 2>&1", self,
             arguments);
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
        const char *at = strstr(line, "Collected :");
        if (at)
            counted = strtod(at + strlen("Collected :"), NULL);
    }
    return pipe && pclose(pipe) == 0 ? counted : -1;
}

void bench_add(bench_report *report, const char *name, double value, const char *note)
{
    if (report->count < (int)(sizeof report->row / sizeof report->row[0])) {
        snprintf(report->row[report->count].name, sizeof report->row[0].name, "%s", name);
        snprintf(report->row[report->count].note, sizeof report->row[0].note, "%s", note);
        report->row[report->count++].value = value;
    }
}

void bench_put_number(FILE *file, const char *name, double value, const char *end)
{
    if (isfinite(value))
        fprintf(file, "  \"%s\": %.6g%s", name, value, end);
    else
        fprintf(file, "  \"%s\": null%s", name, end);
}

int bench_finish(const bench_report *report, const char *title, const char *json_path)
{
    printf("%s\n", title);
    if (*bench_data_text())
        printf("  on %s\n", bench_data_text());
    for (int i = 0; i < report->count; i++)
        printf("  %-26s %10.5g  %s\n", report->row[i].name, report->row[i].value, report->row[i].note);
    if (!json_path)
        return 0;
    FILE *file = fopen(json_path, "w");
    if (!file) {
        perror(json_path);
        return 1;
    }
    fprintf(file, "{\n");
    if (*bench_data_text())
        fprintf(file, "  \"data\": \"%s\",\n", bench_data_text());
    for (int i = 0; i < report->count; i++)
        bench_put_number(file, report->row[i].name, report->row[i].value, i + 1 < report->count ? ",\n" : "\n");
    fprintf(file, "}\n");
    return fclose(file) != 0;
}

const char *bench_json_path(int count, char **arguments)
{
    if (count == 1)
        return NULL;
    if (count == 3 && strcmp(arguments[1], "--json") == 0)
        return arguments[2];
    fprintf(stderr, "usage: %s [--json FILE]\n", arguments[0]);
    exit(2);
}

/* ---- data ------------------------------------------------------------------------------------------------------------ */

#define HDM_DG "hdm05/HDM_dg.asf"

static const bench_take recorded[BENCH_TAKES] = {
    {"dg0305", HDM_DG, "hdm05/HDM_dg_03-05_02_120.c3d", "hdm05/HDM_dg_03-05_02_120.amc"},
    {"dg0103", HDM_DG, "hdm05/HDM_dg_01-03_01_120.c3d", "hdm05/HDM_dg_01-03_01_120.amc"},
    {"dg0302", HDM_DG, "hdm05/HDM_dg_03-02_02_120.c3d", NULL},
    {"dg0603", HDM_DG, "hdm05/HDM_dg_06-03_03_120.c3d", "hdm05/HDM_dg_06-03_03_120.amc"},
    {"cmu0201", "cmu/02.asf", "cmu/02_01.c3d", "cmu/02_01.amc"},
};

void bench_data_path(char *path, size_t size, const char *name)
{
    const char *folder = getenv("ULNA_DATA");
    if (*name == '/')
        snprintf(path, size, "%s", name);
    else
        snprintf(path, size, "%s/%s", folder ? folder : ULNA_SOURCE_DIR "/../shared/data", name);
}

static char said[256];

void bench_data_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
}

const char *bench_data_text(void)
{
    return said;
}

static int is_there(const char *name)
{
    char path[2048];
    bench_data_path(path, sizeof path, name);
    return access(path, R_OK) == 0;
}

static char sample_folder[] = "/tmp/ulna-sample-XXXXXX";

static void remove_sample(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", sample_folder);
    if (system(command) != 0)
        fprintf(stderr, "%s is left behind\n", sample_folder);
}

bench_take bench_sample_take(void)
{
    static char skeleton[64], markers[64], reference[64];
    char command[2048];
    int is_made = mkdtemp(sample_folder) != NULL;
    if (is_made)
        atexit(remove_sample);
    snprintf(command, sizeof command, "'%s' sample --quiet --only walk '%s'", ULNA_BENCH_TOOL, sample_folder);
    if (!is_made || system(command) != 0) {
        fprintf(stderr, "the built-in take cannot be written: %s\n", command);
        exit(1);
    }
    snprintf(skeleton, sizeof skeleton, "%s/human.asf", sample_folder);
    snprintf(markers, sizeof markers, "%s/walk.c3d", sample_folder);
    snprintf(reference, sizeof reference, "%s/walk-true.amc", sample_folder);
    return (bench_take){"walk", skeleton, markers, reference};
}

const bench_take *bench_takes(int *count)
{
    static bench_take found[BENCH_TAKES];
    static int found_count;
    char names[128] = "";
    for (int i = 0; i < BENCH_TAKES && !*said; i++) {
        if (!is_there(recorded[i].skeleton) || !is_there(recorded[i].markers))
            continue;
        size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", recorded[i].name);
        found[found_count++] = recorded[i];
    }
    if (!*said && found_count)
        bench_data_say("recorded takes: %s", names);
    else if (!*said) {
        found[found_count++] = bench_sample_take();
        bench_data_say("the built-in take: no recording was found (docs/test-data.md)");
    }
    *count = found_count;
    return found;
}

ulna_content bench_load(const char *name, const ulna_read_options *options)
{
    char path[2048];
    ulna_content content = ulna_content_empty(NULL);
    bench_data_path(path, sizeof path, name);
    ulna_content_load(path, options, &content, NULL);
    return content;
}

int bench_yardstick_find(const char *program, char *folder, size_t size)
{
    const char *given = getenv("ULNA_YARDSTICK");
    char path[1200];
    snprintf(folder, size, "%s", given ? given : ULNA_SOURCE_DIR "/build/bench/yardstick/poses");
    snprintf(path, sizeof path, "%s/%s", folder, program);
    if (access(path, X_OK) == 0)
        return 1;
    printf(
        "(no yardstick: tools/build-yardstick builds it where the prototype 'poses' is present; or $ULNA_YARDSTICK is the folder with "
        "its programs)\n");
    return 0;
}
