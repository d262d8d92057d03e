/*
 * bench_shifts [--json FILE]: how many of the markers that shift on the skin are reported (docs/tracking.md), on the takes of $ULNA_DATA, or
 * on the built-in take where there are none.
 *
 * One marker is moved on its bone, by 2, 3 or 5 cm in a random direction, from a random frame in the middle 60 % of the take on; its bone is
 * where the undisturbed take has it. The take is then calibrated and tracked as `ulna solve` does it. A shift is found if one is reported
 * within a quarter of a second of that frame, and named right if it is of that marker. Skeletons whose lengths are doubted are searched here
 * too, other than by `ulna solve`; the rows `by_solve` are without them. Seeds from 501 on.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/algorithms.h"
#include "math/math3.h"
#include "support.h"
#include "ulna/calibrate.h"
#include "ulna/kinematics.h"

enum { SIZES = 3, SHIFTS = 20, FIRST_SEED = 501 };
static const int sizes_cm[SIZES] = {2, 3, 5};

#define NEAR 0.25       /* s */
#define MIDDLE 0.6      /* of the take */
#define OFTEN_SEEN 0.75 /* of the frames: a marker that may be chosen */

typedef struct scene {
    ulna_content skeleton, markers;
    ulna_take *clean; /* calibrated */
    ulna_clip clip;   /* its motion */
    double axes[9];   /* recording = axes x model */
} scene;

typedef struct tally {
    int runs, found, named, by_solve, elsewhere;
} tally;

/* ---- tracking -------------------------------------------------------------------------------------------------------- */

/* Calibrated and tracked. *is_doubted: the lengths. 0 without a result. */
static int track(const scene *s, ulna_take **take, ulna_track_result *result, int *is_doubted)
{
    ulna_take *by_names = NULL;
    ulna_calibration found = {0};
    ulna_take_options o = ulna_take_options_for(&s->skeleton, &s->markers);
    o.attach = ULNA_ATTACH_NAMES;
    int ready =
        ulna_take_create(&o, &by_names, NULL) == ULNA_OK && ulna_calibrate(by_names, NULL, &found, NULL) == ULNA_OK;
    *is_doubted = found.set.has_other_lengths;
    found.set.has_other_lengths = 0; /* or it would not be searched */
    o.attach = ULNA_ATTACH_SET;
    o.set = &found.set;
    ready = ready && ulna_take_create(&o, take, NULL) == ULNA_OK && ulna_track(*take, NULL, result, NULL) == ULNA_OK;
    ulna_calibration_release(&found);
    ulna_take_destroy(by_names);
    return ready;
}

static void scene_free(scene *s)
{
    ulna_clip_release(&s->clip);
    ulna_take_destroy(s->clean);
    ulna_content_release(&s->markers);
    ulna_content_release(&s->skeleton);
}

/* The undisturbed take; *reports of markers that shifted in it. */
static int scene_load(scene *s, const bench_take *from, int *reports, int *is_doubted)
{
    ulna_track_result result = {0};
    *s = (scene){.skeleton = bench_load(from->skeleton, NULL), .markers = bench_load(from->markers, NULL)};
    int ready = s->skeleton.model && s->markers.recording.frame_count && track(s, &s->clean, &result, is_doubted);
    if (ready) {
        *reports = result.shift_count;
        s->clip = result.clip;
        result.clip = ulna_clip_empty(NULL);
        ulna_transpose9(s->clean->axes, s->axes);
    }
    ulna_track_result_release(&result);
    return ready;
}

/* ---- shifts ------------------------------------------------------------------------------------------------------------ */

/* Moves a marker of the clean take's set by `by` (m, in the frame of its bone) from a frame on. */
static int shift_marker(const scene *s, int marker, int from, const double by[3])
{
    ulna_pose *pose = NULL;
    double R[9], in_model[3], in_recording[3];
    if (ulna_pose_create(s->clean->model, NULL, &pose, NULL) != ULNA_OK)
        return 0;
    for (int f = from; f < s->clean->frame_count; f++) {
        double *x = ulna_recording_frame(&s->markers.recording, f + s->clean->skipped) + 3 * s->clean->source[marker];
        ulna_pose_forward(pose, ulna_clip_frame(&s->clip, f));
        ulna_pose_body(pose, s->clean->set.items[marker].body, NULL, R);
        ulna_rotate(R, by, in_model);
        ulna_rotate(s->axes, in_model, in_recording);
        for (int k = 0; k < 3; k++)
            x[k] += in_recording[k];
    }
    ulna_pose_destroy(pose);
    return 1;
}

static int choose_marker(const scene *s, uint64_t *random)
{
    const ulna_take *take = s->clean;
    int marker = 0;
    for (int tries = 0; tries < 1000; tries++) {
        marker = (int)(ulna_random_uniform(random) * (double)take->set.count);
        if (take->seen[marker] >= OFTEN_SEEN * take->frame_count)
            break;
    }
    return marker;
}

/* What is reported of a take in which this marker shifted at this frame. */
static void count_reports(const ulna_take *take, const ulna_track_result *result, const char *name, int frame,
                          int is_doubted, tally *t)
{
    double seconds = take->recording->frame_seconds > 0 ? take->recording->frame_seconds : 1.0 / 120;
    int is_found = 0, is_named = 0;
    for (int i = 0; i < result->shift_count; i++) {
        const ulna_shift *shift = &result->shifts[i];
        int is_near = abs(shift->frame - frame) * seconds <= NEAR;
        is_found |= is_near;
        is_named |= is_near && strcmp(take->set.items[shift->marker].marker, name) == 0;
        t->elsewhere += !is_near;
    }
    t->runs++;
    t->found += is_found;
    t->named += is_named;
    t->by_solve += is_found && !is_doubted;
}

static void run(const scene *s, double size, uint64_t random, tally *t)
{
    ulna_take *take = NULL;
    ulna_track_result result = {0};
    int marker = choose_marker(s, &random), is_doubted;
    int frame = (int)((0.5 + MIDDLE * (ulna_random_uniform(&random) - 0.5)) * s->clean->frame_count);
    double by[3] = {ulna_random_normal(&random), ulna_random_normal(&random), ulna_random_normal(&random)}, back[3];
    double length = ulna_norm(by);
    for (int k = 0; k < 3; k++) {
        by[k] *= size / length;
        back[k] = -by[k];
    }
    if (shift_marker(s, marker, frame, by) && track(s, &take, &result, &is_doubted))
        count_reports(take, &result, s->clean->set.items[marker].marker, frame, is_doubted, t);
    shift_marker(s, marker, frame, back);
    ulna_track_result_release(&result);
    ulna_take_destroy(take);
}

/* ---- the report ---------------------------------------------------------------------------------------------------------- */

static void add_tally(bench_report *report, const char *name, const tally *t)
{
    char label[64];
    double runs = fmax(t->runs, 1);
    snprintf(label, sizeof label, "%s_found_percent", name);
    bench_add(report, label, 100 * t->found / runs, "reported near their frame");
    snprintf(label, sizeof label, "%s_named_percent", name);
    bench_add(report, label, 100 * t->named / fmax(t->found, 1), "of these, by the marker that shifted");
    snprintf(label, sizeof label, "%s_by_solve_percent", name);
    bench_add(report, label, 100 * t->by_solve / runs, "reported by `ulna solve`: lengths are not doubted");
    snprintf(label, sizeof label, "%s_elsewhere", name);
    bench_add(report, label, t->elsewhere, "false reports, at other frames");
}

static void add_up(const tally *from, tally *to)
{
    to->runs += from->runs;
    to->found += from->found;
    to->named += from->named;
    to->by_solve += from->by_solve;
    to->elsewhere += from->elsewhere;
}

int main(int count, char **arguments)
{
    const char *path = bench_json_path(count, arguments);
    bench_report report = {0};
    tally all[SIZES] = {0};
    int undisturbed = 0, takes;
    const bench_take *from = bench_takes(&takes);
    printf("bench_shifts: %s\n", bench_data_text());
    for (int b = 0; b < takes; b++) {
        scene s;
        int reports = 0, is_doubted = 0;
        if (scene_load(&s, &from[b], &reports, &is_doubted)) {
            undisturbed += reports;
            for (int k = 0; k < SIZES; k++) {
                tally own = {0};
                char label[64];
                for (int i = 0; i < SHIFTS; i++)
                    run(&s, 0.01 * sizes_cm[k], (uint64_t)(FIRST_SEED + i), &own);
                snprintf(label, sizeof label, "%s_%dcm", from[b].name, sizes_cm[k]);
                add_tally(&report, label, &own);
                add_up(&own, &all[k]);
            }
        }
        scene_free(&s);
    }
    for (int k = 0; k < SIZES; k++) {
        char label[64];
        snprintf(label, sizeof label, "all_%dcm", sizes_cm[k]);
        add_tally(&report, label, &all[k]);
    }
    bench_add(&report, "undisturbed_reports", undisturbed, "of takes as they are: aim 0");
    return bench_finish(&report, "Markers that shift on the skin, 20 in each take", path);
}
