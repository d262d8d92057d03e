/*
 * bench_batch: whole databases by `ulna batch`. The recorded takes of HDM05 and CMU, linked under many names up to --takes (500), or the
 * built-in walk where there are none: takes a second with one and two processes and threads, where the time goes, what a frame costs
 * from file to file in each format, and the largest process. --formats-only measures just what a frame costs, in half a minute.
 * --against TOOL runs another `ulna`, such as one of an older version, in turns with this one, and adds what a frame costs there and the
 * ratios.
 *
 * Times of one frame are CPU time, of all processes of a run: other programs on the machine disturb them least. Takes a second and
 * scaling are wall clock times, and mean something only on a machine that is otherwise idle. On a machine shared with others, CPU time
 * changes from one hour to the next as well: only ratios of runs in turns count there.
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

#include "base/algorithms.h"
#include "support.h"

enum { FEW = 20 }; /* takes, for the times of formats */

typedef struct outcome {
    double wall, cpu; /* seconds */
    double frames, takes, reading, solving, writing;
    double short_frames, short_seconds; /* of the shortest take, wall clock */
} outcome;

static char work[] = "/tmp/ulna-bench-XXXXXX";
static int sessions; /* of each database, to calibrate once */

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
static void add_copy(const char *database, const bench_take *take, int copy)
{
    const char *slash = strrchr(take->skeleton, '/'), *stem = slash ? slash + 1 : take->skeleton;
    char path[400], name[700], session[300];
    snprintf(session, sizeof session, "%s/%s", database, take->name);
    make_folder(session);
    bench_data_path(path, sizeof path, take->markers);
    snprintf(name, sizeof name, "%s/%.*s-%03d.c3d", session, (int)strcspn(stem, "."), stem, copy);
    link_file(path, name);
    bench_data_path(path, sizeof path, take->skeleton);
    snprintf(name, sizeof name, "%s/%s", session, stem);
    link_file(path, name);
}

static void make_database(const char *name, int most)
{
    const bench_take *takes = bench_takes(&sessions);
    make_folder(name);
    for (int i = 0; i < most; i++)
        add_copy(name, &takes[i % sessions], i / sessions);
    sessions = sessions < most ? sessions : most;
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

static double number_of(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

/* Short takes cost more a frame: each begins anew, which takes longer than to follow. */
static void find_shortest(const char *text, outcome *o)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        double frames = number_of(line, "\"frames\":"), seconds = number_of(line, "\"seconds\":");
        int is_shorter = !o->short_frames || frames < o->short_frames;
        if (is_shorter || (frames <= o->short_frames && seconds < o->short_seconds)) {
            o->short_frames = frames;
            o->short_seconds = seconds;
        }
    }
}

/* A tool, and what it adds to the name of a database for its outputs: calibrations that are there are its own. */
typedef struct contestant {
    const char *tool, *suffix;
} contestant;

static const contestant this_tool = {ULNA_BENCH_TOOL, ".out"};

/* Calibrations of an earlier run of the same database and tool are used again. */
static outcome run(const contestant *by, const char *database, const char *options)
{
    char command[2000], path[300];
    struct rusage before, after;
    outcome o = {0};
    char output[200];
    snprintf(output, sizeof output, "%s/%s%s", work, database, by->suffix);
    snprintf(
        command, sizeof command,
        "mkdir -p %s && find %s -name '*.amc' -o -name '*.bvh' -o -name '*.glb' -o -path '*/journal/*.jsonl' | xargs "
        "rm -f",
        output, output);
    stop_if(system(command) != 0, "rm");
    int length = snprintf(command, sizeof command, "'%s' batch -q %s/%s -o %s --no-reports %s", by->tool, work,
                          database, output, options);
    stop_if(length >= (int)sizeof command, "the name of the tool is too long");
    getrusage(RUSAGE_CHILDREN, &before);
    double begun = wall_now();
    stop_if(system(command) != 0, "ulna batch failed");
    o.wall = wall_now() - begun;
    getrusage(RUSAGE_CHILDREN, &after);
    o.cpu = seconds_of(after.ru_utime) + seconds_of(after.ru_stime) - seconds_of(before.ru_utime) -
            seconds_of(before.ru_stime);
    snprintf(path, sizeof path, "%s/results.jsonl", output);
    ulna_text text = ulna_text_empty(NULL);
    stop_if(ulna_file_read(path, (size_t)1 << 30, &text, NULL) != ULNA_OK, "there is no table");
    o.frames = sum_of(text.data, "frames");
    for (const char *at = text.data; (at = strstr(at, "\"status\":\"done\"")) != NULL; at++)
        o.takes++;
    o.reading = sum_of(text.data, "read_seconds");
    o.solving = sum_of(text.data, "solve_seconds");
    o.writing = sum_of(text.data, "write_seconds");
    find_shortest(text.data, &o);
    ulna_text_release(&text);
    return o;
}

static void measure_scaling(bench_report *report)
{
    static const struct {
        const char *name, *options, *note;
    } runs[] = {
        {"processes_1", "--threads 1 --formats amc",
         "takes a second, one process at a time, AMC; the fastest of three runs"},
        {"processes_2", "--threads 2 --formats amc", "two processes"},
        {"threads_1", "--threads 1 --isolate off --formats amc", "one thread, no processes"},
        {"threads_2", "--threads 2 --isolate off --formats amc", "two threads"},
    };
    enum { RUNS = 4, TURNS = 3 }; /* in turns, the fastest of each: others on the machine only add */
    outcome o[RUNS];
    (void)run(&this_tool, "db", runs[1].options); /* for its calibrations */
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; i < RUNS; i++) {
            outcome next = run(&this_tool, "db", runs[i].options);
            if (!turn || next.wall < o[i].wall)
                o[i] = next;
        }
    for (int i = 0; i < RUNS; i++)
        bench_add(report, runs[i].name, o[i].takes / o[i].wall, runs[i].note);
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

enum { FORMATS = 4, AMC = 1, ALL = 3 };
static const struct {
    const char *name, *endings;
} formats[FORMATS] = {{"glb", "glb"}, {"amc", "amc"}, {"bvh", "bvh"}, {"all", "amc,bvh,glb"}};

/* What a frame costs by one tool. */
typedef struct costs {
    double us[FORMATS][ROUNDS], least[FORMATS];
    outcome parts, amc; /* of the best run with all formats, and with one */
} costs;

static void measure_format(const contestant *by, int format, int round, costs *c)
{
    char options[100];
    snprintf(options, sizeof options, "--threads 1 --formats %s", formats[format].endings);
    outcome o = run(by, "few", options);
    double us = c->us[format][round] = 1e6 * o.cpu / o.frames;
    if (round && c->least[format] <= us)
        return;
    c->least[format] = us;
    if (format == ALL)
        c->parts = o;
    if (format == AMC)
        c->amc = o;
}

/* The median over the rounds: the two runs of a round see the same hour. The ratio of the least ones does not: of one tool against itself,
 * with others on the machine, it was off by up to 14 %, the median by 3 % in the same runs. */
static double ratio_of(const costs *own, const costs *other, int format)
{
    double ratios[ROUNDS];
    for (int round = 0; round < ROUNDS; round++)
        ratios[round] = own->us[format][round] / other->us[format][round];
    return ulna_quick_median(ratios, ROUNDS);
}

static void add_against(bench_report *report, const costs *own, const costs *other)
{
    for (int i = 0; i < FORMATS; i++) {
        char name[40], note[96];
        snprintf(name, sizeof name, "us_%s_against", formats[i].name);
        snprintf(note, sizeof note, "by the other tool, from C3D to %s", formats[i].endings);
        bench_add(report, name, other->least[i], note);
    }
    for (int i = 0; i < FORMATS; i++) {
        char name[40], note[96];
        snprintf(name, sizeof name, "ratio_%s", formats[i].name);
        snprintf(note, sizeof note, "this tool over the other, median of nine pairs of runs, to %s",
                 formats[i].endings);
        bench_add(report, name, ratio_of(own, other, i), note);
    }
}

/* On fewer takes: the differences are the formats. Two tools run in turns, and take turns in being first. against: NULL, or another tool. */
static void measure_formats(bench_report *report, const char *against)
{
    const contestant tools[2] = {this_tool, {against, ".against"}};
    const int count = against ? 2 : 1;
    costs costs_of[2] = {0};
    outcome first[2];
    for (int k = 0; k < count; k++)
        first[k] = run(&tools[k], "few", "--threads 1 --formats amc"); /* calibrates, too */
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < FORMATS; i++)
            for (int k = 0; k < count; k++) {
                int turn = (round + k) % count;
                measure_format(&tools[turn], i, round, &costs_of[turn]);
            }
    for (int i = 0; i < FORMATS; i++) {
        char name[40], note[96];
        snprintf(name, sizeof name, "us_%s", formats[i].name);
        snprintf(note, sizeof note, "CPU microseconds a frame, from C3D to %s, the least of nine runs",
                 formats[i].endings);
        bench_add(report, name, costs_of[0].least[i], note);
    }
    bench_add(report, "calibration_ms",
              (1e3 * first[0].cpu - 1e-3 * costs_of[0].least[AMC] * first[0].frames) / sessions,
              "CPU milliseconds to calibrate a session: the first run to amc, less the least of the others");
    bench_add(report, "short_frames", costs_of[0].amc.short_frames, "frames of the shortest take");
    bench_add(report, "short_ms", 1e3 * costs_of[0].amc.short_seconds, "its milliseconds, to amc, wall clock");
    const outcome *parts = &costs_of[0].parts;
    bench_add(report, "us_reading", 1e6 * parts->reading / parts->frames,
              "of the run with all formats: reading and checks, wall clock");
    bench_add(report, "us_solving", 1e6 * parts->solving / parts->frames, "solving");
    bench_add(report, "us_writing", 1e6 * parts->writing / parts->frames, "writing three formats, with the disk");
    if (against)
        add_against(report, &costs_of[0], &costs_of[1]);
}

/* ---- the command line ---------------------------------------------------------------------------------------------------- */

typedef struct choices {
    int takes, is_formats_only;
    const char *against, *json; /* NULL: none */
} choices;

static choices read_choices(int argc, char **argv)
{
    choices c = {.takes = 500};
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        int has_value = 1;
        if (strcmp(option, "--formats-only") == 0) {
            c.is_formats_only = 1;
            has_value = 0;
        } else if (strcmp(option, "--takes") == 0 && value && strtol(value, NULL, 10) > 0)
            c.takes = (int)strtol(value, NULL, 10);
        else if (strcmp(option, "--against") == 0 && value)
            c.against = value;
        else if (strcmp(option, "--json") == 0 && value)
            c.json = value;
        else {
            fprintf(stderr,
                    "bench_batch: '%s' is no option, or its value is missing or wrong\n"
                    "usage: %s [--takes N] [--formats-only [--against TOOL]] [--json FILE]\n",
                    option, argv[0]);
            exit(2);
        }
        i += has_value;
    }
    if (c.against && (!c.is_formats_only || access(c.against, X_OK) != 0)) {
        fprintf(stderr, "bench_batch: --against %s: %s\n", c.against,
                c.is_formats_only ? strerror(errno) : "it goes with --formats-only");
        exit(2);
    }
    return c;
}

int main(int argc, char **argv)
{
    static bench_report report;
    struct rusage usage;
    char command[400];
    choices c = read_choices(argc, argv);
    stop_if(!mkdtemp(work), "no folder to work in");
    make_database("few", c.takes < FEW ? c.takes : FEW);
    printf("bench_batch: %s\n", bench_data_text());
    fflush(stdout);
    if (!c.is_formats_only)
        make_database("db", c.takes);
    measure_formats(&report, c.against);
    if (!c.is_formats_only)
        measure_scaling(&report);
    getrusage(RUSAGE_CHILDREN, &usage);
    if (!c.against) /* else it might be the other tool's */
        bench_add(&report, "peak_mb", (double)usage.ru_maxrss / 1024, "memory of the largest process, in MB");
    snprintf(command, sizeof command, "rm -rf %s", work);
    stop_if(system(command) != 0, "rm");
    return bench_finish(&report, "whole databases by ulna batch", c.json);
}
