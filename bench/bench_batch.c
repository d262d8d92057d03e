/*
 * bench_batch: whole databases by `ulna batch`. The recorded takes of HDM05 and CMU, linked under many names up to --takes (500), or the
 * built-in walk where there are none: takes a second with one and two processes and threads, where the time goes, what a frame costs
 * from file to file in each format, and the largest process. --formats-only measures just what a frame costs, in half a minute.
 *
 * Times of one frame are CPU time, of all processes of a run: other programs on the machine disturb them least. Takes a second and
 * scaling are wall clock times, and mean something only on a machine that is otherwise idle.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

#ifndef ULNA_BENCH_TOOL
#define ULNA_BENCH_TOOL "ulna"
#endif

enum { FEW = 20 }; /* takes, for the times of formats */

typedef struct outcome {
    double wall, cpu; /* seconds */
    double frames, takes, reading, solving, writing;
} outcome;

static char work[] = "/tmp/ulna-bench-XXXXXX";

static void stop_if(int is_wrong, const char *what)
{
    if (is_wrong) {
        fprintf(stderr, "bench_batch: %s\n", what);
        exit(1);
    }
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static double wall_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the database ---------------------------------------------------------------------------------------------------- */

static void make_folder(const char *name)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", work, name);
    stop_if(mkdir(path, 0777) != 0 && errno != EEXIST, "cannot make a folder");
}

/* To a name below the folder of the benchmark; one that is there stays. */
static void link_file(const char *from, const char *name)
{
    char to[900];
    snprintf(to, sizeof to, "%s/%s", work, name);
    stop_if(symlink(from, to) != 0 && errno != EEXIST, "cannot link a recording");
}

/* Copies of a take, in a folder of their own with its skeleton: they are a session, as its markers were placed for it. */
static int add_copy(const char *database, int take, int copy)
{
    const char *markers = bench_takes[take].markers, *skeleton = bench_takes[take].skeleton;
    const char *slash = strrchr(skeleton, '/'), *stem = slash ? slash + 1 : skeleton;
    char path[400], name[700], session[300];
    bench_data_path(path, sizeof path, markers);
    if (access(path, R_OK) != 0)
        return 0;
    snprintf(session, sizeof session, "%s/%s", database, bench_takes[take].name);
    make_folder(session);
    snprintf(name, sizeof name, "%s/%.*s-%03d.c3d", session, (int)strcspn(stem, "."), stem, copy);
    link_file(path, name);
    bench_data_path(path, sizeof path, skeleton);
    snprintf(name, sizeof name, "%s/%s", session, stem);
    link_file(path, name);
    return 1;
}

/* Returns how many there are now. */
static int add_takes(const char *database, int most)
{
    int count = 0;
    make_folder(database);
    for (int copy = 0; count < most; copy++) {
        int before = count;
        for (int i = 0; i < BENCH_TAKES && count < most; i++)
            count += add_copy(database, i, copy);
        if (count == before)
            break;
    }
    return count;
}

/* Where there is no recorded data. */
static void add_walks(const char *database, int most)
{
    char command[700], name[100];
    snprintf(command, sizeof command, "%s sample -q %s/sample", ULNA_BENCH_TOOL, work);
    stop_if(system(command) != 0, "ulna sample");
    snprintf(command, sizeof command, "%s/sample/human.asf", work);
    snprintf(name, sizeof name, "%s/human.asf", database);
    link_file(command, name);
    snprintf(command, sizeof command, "%s/sample/walk.c3d", work);
    for (int i = 0; i < most; i++) {
        snprintf(name, sizeof name, "%s/human-%03d.c3d", database, i);
        link_file(command, name);
    }
}

static void make_database(const char *name, int takes)
{
    if (!add_takes(name, takes))
        add_walks(name, takes);
}

/* ---- runs ---------------------------------------------------------------------------------------------------------------- */

/* The sum of a number over the lines of results.jsonl. */
static double sum_of(const char *text, const char *key)
{
    char quoted[60];
    double sum = 0;
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    for (const char *at = text; (at = strstr(at, quoted)) != NULL; at++)
        sum += strtod(at + strlen(quoted), NULL);
    return sum;
}

/* Calibrations of an earlier run of the same database are used again. */
static outcome run(const char *database, const char *options)
{
    char command[900], path[300];
    struct rusage before, after;
    outcome o = {0};
    snprintf(command, sizeof command,
             "mkdir -p %s/%s.out && find %s/%s.out -name '*.amc' -o -name '*.bvh' -o -name '*.glb' -o -path "
             "'*/journal/*.jsonl' | xargs rm -f",
             work, database, work, database);
    stop_if(system(command) != 0, "rm");
    snprintf(command, sizeof command, "%s batch -q %s/%s -o %s/%s.out --no-reports %s", ULNA_BENCH_TOOL, work, database,
             work, database, options);
    getrusage(RUSAGE_CHILDREN, &before);
    double begun = wall_now();
    stop_if(system(command) != 0, "ulna batch failed");
    o.wall = wall_now() - begun;
    getrusage(RUSAGE_CHILDREN, &after);
    o.cpu = seconds_of(after.ru_utime) + seconds_of(after.ru_stime) - seconds_of(before.ru_utime) -
            seconds_of(before.ru_stime);
    snprintf(path, sizeof path, "%s/%s.out/results.jsonl", work, database);
    ulna_text text = ulna_text_empty(NULL);
    stop_if(ulna_file_read(path, (size_t)1 << 30, &text, NULL) != ULNA_OK, "there is no table");
    o.frames = sum_of(text.data, "frames");
    for (const char *at = text.data; (at = strstr(at, "\"status\":\"done\"")) != NULL; at++)
        o.takes++;
    o.reading = sum_of(text.data, "read_seconds");
    o.solving = sum_of(text.data, "solve_seconds");
    o.writing = sum_of(text.data, "write_seconds");
    ulna_text_release(&text);
    return o;
}

static void measure_scaling(bench_report *report)
{
    static const struct {
        const char *name, *options, *note;
    } runs[] = {
        {"processes_1", "--threads 1 --formats amc", "takes a second, one process at a time, AMC"},
        {"processes_2", "--threads 2 --formats amc", "two processes"},
        {"threads_1", "--threads 1 --isolate off --formats amc", "one thread, no processes"},
        {"threads_2", "--threads 2 --isolate off --formats amc", "two threads"},
    };
    outcome o[4];
    (void)run("db", runs[1].options); /* for its calibrations */
    for (int i = 0; i < 4; i++) {
        o[i] = run("db", runs[i].options);
        bench_add(report, runs[i].name, o[i].takes / o[i].wall, runs[i].note);
    }
    bench_add(report, "takes", o[0].takes, "takes solved in each of these runs");
    bench_add(report, "frames", o[0].frames, "frames of these takes");
    bench_add(report, "scaling_processes", o[0].wall / (2 * o[1].wall),
              "efficiency of two processes, wall clock: 1 is perfect");
    bench_add(report, "scaling_threads", o[2].wall / (2 * o[3].wall), "efficiency of two threads, wall clock");
    bench_add(report, "scaling_cpu", o[0].cpu / o[1].cpu,
              "CPU time of one process over that of two: 1 means no work is added");
    double all = o[0].reading + o[0].solving + o[0].writing;
    bench_add(report, "share_reading", o[0].reading / all, "of the time in a take: reading, checks of the take");
    bench_add(report, "share_solving", o[0].solving / all, "solving");
    bench_add(report, "share_writing", o[0].writing / all, "writing AMC, with the disk");
}

enum { ROUNDS = 9 }; /* of which the least counts: others on the machine only add */

/* On fewer takes: the differences are the formats. */
static void measure_formats(bench_report *report)
{
    static const char *const formats[] = {"glb", "amc", "bvh", "amc,bvh,glb"}, *const names[] = {"us_glb", "us_amc",
                                                                                                 "us_bvh", "us_all"};
    double best[4];
    outcome parts = {0};
    (void)run("few", "--threads 1 --formats amc"); /* for its calibrations */
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 4; i++) {
            char options[100];
            snprintf(options, sizeof options, "--threads 1 --formats %s", formats[i]);
            outcome o = run("few", options);
            double us = 1e6 * o.cpu / o.frames;
            if (i == 3 && (!round || us < best[i]))
                parts = o;
            best[i] = round && best[i] < us ? best[i] : us;
        }
    for (int i = 0; i < 4; i++) {
        char note[96];
        snprintf(note, sizeof note, "CPU microseconds a frame, from C3D to %s, the least of nine runs", formats[i]);
        bench_add(report, names[i], best[i], note);
    }
    bench_add(report, "us_reading", 1e6 * parts.reading / parts.frames,
              "of the run with all formats: reading and checks, wall clock");
    bench_add(report, "us_solving", 1e6 * parts.solving / parts.frames, "solving");
    bench_add(report, "us_writing", 1e6 * parts.writing / parts.frames, "writing three formats, with the disk");
}

int main(int argc, char **argv)
{
    static bench_report report;
    struct rusage usage;
    char command[400];
    int most = 500, is_few = argc >= 2 && strcmp(argv[1], "--formats-only") == 0;
    if (is_few) {
        argv++;
        argc--;
    } else if (argc >= 3 && strcmp(argv[1], "--takes") == 0) {
        most = (int)strtol(argv[2], NULL, 10);
        argv += 2;
        argc -= 2;
    }
    const char *json = bench_json_path(argc, argv);
    stop_if(!mkdtemp(work) || most < 1, "no folder to work in");
    make_database("few", most < FEW ? most : FEW);
    if (!is_few)
        make_database("db", most);
    measure_formats(&report);
    if (!is_few)
        measure_scaling(&report);
    getrusage(RUSAGE_CHILDREN, &usage);
    bench_add(&report, "peak_mb", (double)usage.ru_maxrss / 1024, "memory of the largest process, in MB");
    snprintf(command, sizeof command, "rm -rf %s", work);
    stop_if(system(command) != 0, "rm");
    return bench_finish(&report, "whole databases by ulna batch", json);
}
