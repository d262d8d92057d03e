/*
 * bench_poses [--json FILE] [TAKE...]: how true the poses are that `ulna calibrate` and `ulna solve` give, by their default options,
 * on the takes of $ULNA_DATA that have a skeleton and a recording, or on the built-in take where there are none; and beside them plain least squares, as tracking was before it
 * knew priors. Where the prototype 'poses' is present (tools/build-yardstick) it runs too, with its sweeps, and ulna with the offsets
 * that it has. --offsets FOLDER reads TAKE.csv there instead of calibrating; --shoulders and --symmetric find bone lengths too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "poses_measure.h"
#include "support.h"
#include "ulna/calibrate.h"

enum way { DEFAULT, CAUSAL, LEAST_SQUARES, YARDSTICK_OFFSETS, YARDSTICK, WAYS };
enum { ROUNDS = 3 };
static const char *const ways[WAYS] = {"default", "causal", "least_squares", "yardstick_offsets", "yardstick"};

typedef struct outcome {
    int ready;
    poses_figures figures;
    double us;  /* a frame, the best of some rounds */
    int marked; /* frames: lost, doubtful or recovered */
} outcome;

static ulna_track_options options_of(int way)
{
    ulna_track_options o = ulna_track_options_default();
    o.causal = way == CAUSAL || way == LEAST_SQUARES;
    if (way == LEAST_SQUARES)
        o.loss = ULNA_LOSS_SQUARE;
    return o;
}

static void run(const ulna_take *take, int way, outcome *to)
{
    ulna_track_options options = options_of(way);
    to->us = (double)INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        ulna_track_result result = {0};
        double started = bench_now();
        if (ulna_track(take, &options, &result, NULL) != ULNA_OK)
            return;
        to->us = fmin(to->us, 1e6 * (bench_now() - started) / take->frame_count);
        if (round == 0) {
            to->ready = poses_measure(take, &result, take->reference, &to->figures);
            for (int f = 0; f < take->frame_count; f++)
                to->marked +=
                    (result.frames[f].flags & (ULNA_TRACK_LOST | ULNA_TRACK_DOUBTFUL | ULNA_TRACK_RECOVERED)) != 0;
        }
        ulna_track_result_release(&result);
    }
}

/* The take with the markers where they sit, by calibration or from `name`.csv in a folder. */
static ulna_take *attach(const char *name, ulna_take_options options, const char *folder,
                         const ulna_calibrate_options *calibrate, ulna_calibration *found)
{
    ulna_take *made = NULL, *by_names = NULL;
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    char path[1200];
    snprintf(path, sizeof path, "%s/%s.csv", folder ? folder : "", name);
    if (folder && ulna_marker_set_load(path, options.model, &set, NULL) == ULNA_OK) {
        options.set = &set;
        ulna_take_create(&options, &made, NULL);
    } else if (!folder) {
        options.attach = ULNA_ATTACH_NAMES;
        if (ulna_take_create(&options, &by_names, NULL) == ULNA_OK &&
            ulna_calibrate(by_names, calibrate, found, NULL) == ULNA_OK) {
            options.model = found->model ? found->model : options.model;
            options.attach = ULNA_ATTACH_SET;
            options.set = &found->set;
            options.axes = by_names->axes;
            ulna_take_create(&options, &made, NULL);
        }
        ulna_take_destroy(by_names);
    }
    ulna_marker_set_release(&set);
    return made;
}

/* ---- the prototype ------------------------------------------------------------------------------------------------ */

static const char *yardstick_name(const bench_take *take)
{
    return strcmp(take->name, "dg0103") == 0 ? "dg0103a" : take->name;
}

/* Reads lines from a program of the prototype, with the recipe of its notes. */
static FILE *yardstick_open(const char *folder, const char *program, const bench_take *take, const char *recipe)
{
    char command[1400];
    snprintf(command, sizeof command, "cd '%s' && ./%s %s %s 2>/dev/null", folder, program, yardstick_name(take),
             recipe);
    return popen(command, "r");
}

/* A row of `try`: rms, sum, p99 | orientation without its constant part, and six more | position | three kinds of jumps | jerk ... */
static int yardstick_measure(const char *folder, const bench_take *take, outcome *to)
{
    FILE *pipe = yardstick_open(folder, "try", take,
                                "loss=.06,post=1e-5,curve=3e-5,s0=3e-4,rho=.5,sw=1e-3,ftol=3e-2,sm=1e-3,passes=2");
    poses_figures *f = &to->figures;
    char line[1024];
    *f = (poses_figures){.rms_near_cm = (double)NAN,
                         .rms_frames_cm = (double)NAN,
                         .orientation_deg = (double)NAN,
                         .position_mm = (double)NAN,
                         .midline_mm = (double)NAN};
    int found = 0;
    while (pipe && fgets(line, sizeof line, pipe))
        if (sscanf(line,
                   "%*s %*s %lf %lf %*f | %lf %*f %*f %*f %*f %*f %*f | %*f | %d %*d %*d | %lf %*f | %lf %*f %*d | %lf",
                   &f->rms_cm, &f->sum_cm, &f->orientation_rest_deg, &f->jumps15, &f->jerk, &f->limits_percent,
                   &to->us) == 7)
            found = 1;
    if (!take->reference)
        f->orientation_rest_deg = (double)NAN;
    return pipe && pclose(pipe) == 0 && found;
}

/* "dg0305   recipe+sweeps  >15: 86 in 41 frames, >30: 1 in 1, >60: ..." of `jumps`. */
static int yardstick_count_jumps(const char *folder, const bench_take *take, poses_figures *to)
{
    FILE *pipe = yardstick_open(folder, "jumps", take, "");
    char line[1024];
    int found = 0;
    while (pipe && fgets(line, sizeof line, pipe))
        found |= sscanf(line, "%*s recipe+sweeps >15: %d in %*d frames, >30: %d", &to->jumps15, &to->jumps30) == 2;
    return pipe && pclose(pipe) == 0 && found;
}

/* ---- takes --------------------------------------------------------------------------------------------------------- */

/* Where offsets come from: a folder, or the calibration; and the folder of the prototype, "" without. */
typedef struct settings {
    const char *offsets;
    ulna_calibrate_options calibrate;
    char yardstick[1024];
} settings;

static void run_beside_yardstick(const bench_take *s, const ulna_take_options *options, const char *yardstick,
                                 outcome to[WAYS])
{
    char folder[1100];
    snprintf(folder, sizeof folder, "%s/cal", yardstick);
    ulna_take *take = attach(yardstick_name(s), *options, folder, NULL, NULL);
    if (take)
        run(take, YARDSTICK_OFFSETS, &to[YARDSTICK_OFFSETS]);
    ulna_take_destroy(take);
    to[YARDSTICK].ready =
        yardstick_measure(yardstick, s, &to[YARDSTICK]) && yardstick_count_jumps(yardstick, s, &to[YARDSTICK].figures);
}

static void run_take(const bench_take *s, const settings *wanted, outcome to[WAYS])
{
    ulna_content skeleton = bench_load(s->skeleton, NULL), markers = bench_load(s->markers, NULL);
    ulna_content reference = ulna_content_empty(NULL);
    ulna_calibration found = {0};
    if (skeleton.model && markers.recording.frame_count) {
        ulna_read_options read = ulna_read_options_for(&skeleton);
        if (s->reference)
            reference = bench_load(s->reference, &read);
        ulna_take_options options = ulna_take_options_for(&skeleton, &markers);
        options.reference = reference.clip.frame_count ? &reference.clip : NULL;
        if (*wanted->yardstick)
            run_beside_yardstick(s, &options, wanted->yardstick, to);
        ulna_take *take = attach(s->name, options, wanted->offsets, &wanted->calibrate, &found);
        for (int way = DEFAULT; way <= LEAST_SQUARES && take; way++)
            run(take, way, &to[way]);
        ulna_take_destroy(take);
    }
    ulna_calibration_release(&found);
    ulna_content_release(&reference);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
}

/* ---- results --------------------------------------------------------------------------------------------------------- */

static void put(FILE *file, const char *name, double value, int is_last)
{
    if (isnan(value))
        fprintf(file, "\"%s\": null%s", name, is_last ? "" : ", ");
    else
        fprintf(file, "\"%s\": %.6g%s", name, value, is_last ? "" : ", ");
}

static int write_json(const char *path, const bench_take *takes, int count, outcome all[BENCH_TAKES][WAYS])
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return 1;
    }
    fprintf(file, "{\n  \"data\": \"%s\"", bench_data_text());
    for (int s = 0; s < count; s++)
        for (int w = 0; w < WAYS; w++) {
            const outcome *o = &all[s][w];
            const poses_figures *f = &o->figures;
            if (!o->ready)
                continue;
            fprintf(file, ",\n  \"%s_%s\": {", takes[s].name, ways[w]);
            put(file, "rms_cm", f->rms_cm, 0);
            put(file, "rms_near_cm", f->rms_near_cm, 0);
            put(file, "rms_frames_cm", f->rms_frames_cm, 0);
            put(file, "sum_cm", f->sum_cm, 0);
            put(file, "jumps15", f->jumps15, 0);
            put(file, "jumps30", f->jumps30, 0);
            put(file, "jerk", f->jerk, 0);
            put(file, "orientation_deg", f->orientation_deg, 0);
            put(file, "orientation_rest_deg", f->orientation_rest_deg, 0);
            put(file, "position_mm", f->position_mm, 0);
            put(file, "limits_percent", f->limits_percent, 0);
            put(file, "midline_mm", f->midline_mm, 0);
            put(file, "marked", o->marked, 0);
            put(file, "us", o->us, 1);
            fprintf(file, "}");
        }
    fprintf(file, "\n}\n");
    return fclose(file) != 0;
}

static void print_row(const char *take, const char *way, const outcome *o)
{
    const poses_figures *f = &o->figures;
    if (o->ready)
        printf("%-8s %-17s %7.4f %7.4f %7.4f %7.2f %6d %6d %6.2f %6.1f %6.2f %6.1f %6.1f %5.0f %7.2f %6d\n", take, way,
               f->rms_cm, f->rms_near_cm, f->rms_frames_cm, f->sum_cm, f->jumps15, f->jumps30, f->jerk,
               f->orientation_deg, f->orientation_rest_deg, f->position_mm, f->limits_percent, f->midline_mm, o->us,
               o->marked);
}

int main(int argc, char **argv)
{
    static outcome all[BENCH_TAKES][WAYS];
    const char *json = NULL;
    settings wanted = {.calibrate = ulna_calibrate_options_default()};
    int chosen = 0, count;
    const bench_take *takes = bench_takes(&count);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            json = argv[++i];
        else if (strcmp(argv[i], "--offsets") == 0 && i + 1 < argc)
            wanted.offsets = argv[++i];
        wanted.calibrate.shoulders |= strcmp(argv[i], "--shoulders") == 0;
        if (strcmp(argv[i], "--symmetric") == 0)
            wanted.calibrate.scale = wanted.calibrate.symmetric = 1;
        for (int t = 0; t < count; t++)
            chosen |= (strcmp(argv[i], takes[t].name) == 0) << t;
    }
    printf("bench_poses: %s\n", bench_data_text());
    if (!bench_yardstick_find("jumps", wanted.yardstick, sizeof wanted.yardstick))
        wanted.yardstick[0] = 0;
    printf("%-8s %-17s %7s %7s %7s %7s %6s %6s %6s %6s %6s %6s %6s %5s %7s %6s\n", "take", "tracked by", "rms cm",
           "<6 cm", "frames", "sum cm", ">15", ">30", "jerk", "orient", "rest", "mm", "lim %", "mid", "us", "marked");
    for (int t = 0; t < count; t++) {
        if (chosen && !(chosen >> t & 1))
            continue;
        run_take(&takes[t], &wanted, all[t]);
        for (int w = 0; w < WAYS; w++)
            print_row(takes[t].name, ways[w], &all[t][w]);
        fflush(stdout);
    }
    return json ? write_json(json, takes, count, all) : 0;
}
