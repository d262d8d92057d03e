/*
 * bench_poses [--json FILE] [TAKE...]: how true the poses are that `ulna calibrate` and `ulna solve` give, by their default options,
 * on the takes of $ULNA_DATA that have a skeleton and a recording; and beside them plain least squares, as tracking was before it
 * knew priors. --offsets FOLDER reads TAKE.csv there instead of calibrating; --shoulders and --symmetric find bone lengths too.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "poses_measure.h"
#include "support.h"
#include "ulna/calibrate.h"

typedef struct subject {
    const char *name, *skeleton, *markers, *reference;
} subject;

static const subject subjects[] = {
    {"dg0305", "hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d", "hdm05/HDM_dg_03-05_02_120.amc"},
    {"dg0103", "hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.c3d", "hdm05/HDM_dg_01-03_01_120.amc"},
    {"dg0302", "hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-02_02_120.c3d", NULL},
    {"dg0603", "hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.c3d", "hdm05/HDM_dg_06-03_03_120.amc"},
    {"cmu0201", "cmu/02.asf", "cmu/02_01.c3d", "cmu/02_01.amc"},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects, WAYS = 3, ROUNDS = 3 };
static const char *const ways[WAYS] = {"default", "causal", "least_squares"};

typedef struct outcome {
    int ready;
    poses_figures figures;
    double us;  /* a frame, the best of some rounds */
    int marked; /* frames: lost, doubtful or recovered */
} outcome;

static ulna_content load(const char *name, const ulna_read_options *options)
{
    const char *folder = getenv("ULNA_DATA");
    char path[2048];
    ulna_content content = ulna_content_empty(NULL);
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ULNA_SOURCE_DIR "/../shared/data", name);
    ulna_content_load(path, options, &content, NULL);
    return content;
}

static ulna_track_options options_of(int way)
{
    ulna_track_options o = ulna_track_options_default();
    o.causal = way != 0;
    if (way == 2)
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

/* The take with the markers where they sit, by calibration or from a file. */
static ulna_take *attach(const subject *s, ulna_take_options *options, const char *folder,
                         const ulna_calibrate_options *calibrate, ulna_calibration *found)
{
    ulna_take *made = NULL, *by_names = NULL;
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.csv", folder ? folder : "", s->name);
    if (folder && ulna_marker_set_load(path, options->model, &set, NULL) == ULNA_OK) {
        options->set = &set;
        ulna_take_create(options, &made, NULL);
    } else if (!folder) {
        options->attach = ULNA_ATTACH_NAMES;
        if (ulna_take_create(options, &by_names, NULL) == ULNA_OK &&
            ulna_calibrate(by_names, calibrate, found, NULL) == ULNA_OK) {
            options->model = found->model ? found->model : options->model;
            options->attach = ULNA_ATTACH_SET;
            options->set = &found->set;
            options->axes = by_names->axes;
            ulna_take_create(options, &made, NULL);
        }
        ulna_take_destroy(by_names);
    }
    ulna_marker_set_release(&set);
    return made;
}

static void run_subject(const subject *s, const char *folder, const ulna_calibrate_options *calibrate, outcome to[WAYS])
{
    ulna_content skeleton = load(s->skeleton, NULL), markers = load(s->markers, NULL);
    ulna_content reference = ulna_content_empty(NULL);
    ulna_calibration found = {0};
    if (skeleton.model && markers.recording.frame_count) {
        ulna_read_options read = ulna_read_options_for(&skeleton);
        if (s->reference)
            reference = load(s->reference, &read);
        ulna_take_options options = ulna_take_options_for(&skeleton, &markers);
        options.reference = reference.clip.frame_count ? &reference.clip : NULL;
        ulna_take *take = attach(s, &options, folder, calibrate, &found);
        for (int way = 0; way < WAYS && take; way++)
            run(take, way, &to[way]);
        ulna_take_destroy(take);
    }
    ulna_calibration_release(&found);
    ulna_content_release(&reference);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
}

static void put(FILE *file, const char *name, double value, int is_last)
{
    if (isnan(value))
        fprintf(file, "\"%s\": null%s", name, is_last ? "" : ", ");
    else
        fprintf(file, "\"%s\": %.6g%s", name, value, is_last ? "" : ", ");
}

static int write_json(const char *path, outcome all[SUBJECTS][WAYS])
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return 1;
    }
    const char *separator = "{\n";
    for (int s = 0; s < SUBJECTS; s++)
        for (int w = 0; w < WAYS; w++) {
            const outcome *o = &all[s][w];
            const poses_figures *f = &o->figures;
            if (!o->ready)
                continue;
            fprintf(file, "%s  \"%s_%s\": {", separator, subjects[s].name, ways[w]);
            put(file, "rms_cm", f->rms_cm, 0);
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
            separator = ",\n";
        }
    fprintf(file, "\n}\n");
    return fclose(file) != 0;
}

int main(int argc, char **argv)
{
    static outcome all[SUBJECTS][WAYS];
    const char *json = NULL, *folder = NULL;
    ulna_calibrate_options calibrate = ulna_calibrate_options_default();
    int chosen = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            json = argv[++i];
        else if (strcmp(argv[i], "--offsets") == 0 && i + 1 < argc)
            folder = argv[++i];
        calibrate.shoulders |= strcmp(argv[i], "--shoulders") == 0;
        if (strcmp(argv[i], "--symmetric") == 0)
            calibrate.scale = calibrate.symmetric = 1;
        for (int s = 0; s < SUBJECTS; s++)
            chosen |= (strcmp(argv[i], subjects[s].name) == 0) << s;
    }
    printf("%-8s %-14s %7s %7s %6s %6s %6s %6s %6s %6s %6s %5s %7s %6s\n", "take", "tracked by", "rms cm", "sum cm",
           ">15", ">30", "jerk", "orient", "rest", "mm", "lim %", "mid", "us", "marked");
    for (int s = 0; s < SUBJECTS; s++) {
        if (chosen && !(chosen >> s & 1))
            continue;
        run_subject(&subjects[s], folder, &calibrate, all[s]);
        for (int w = 0; w < WAYS; w++) {
            const poses_figures *f = &all[s][w].figures;
            if (all[s][w].ready)
                printf("%-8s %-14s %7.4f %7.2f %6d %6d %6.2f %6.1f %6.2f %6.1f %6.1f %5.0f %7.2f %6d\n",
                       subjects[s].name, ways[w], f->rms_cm, f->sum_cm, f->jumps15, f->jumps30, f->jerk,
                       f->orientation_deg, f->orientation_rest_deg, f->position_mm, f->limits_percent, f->midline_mm,
                       all[s][w].us, all[s][w].marked);
        }
        fflush(stdout);
    }
    return json ? write_json(json, all) : 0;
}
