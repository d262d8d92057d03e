/* The take of bench_track: see the header. */
#include "track.h"
#include "ulna/calibrate.h"
#include "ulna/kinematics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static ulna_status weld_thumbs(const ulna_model *model, ulna_model **result)
{
    static const char *const thumbs[] = {"lthumb", "rthumb", "left_thumb", "right_thumb"};
    const ulna_joint fixed = ulna_joint_fixed();
    ulna_builder *builder = NULL;
    ulna_status status = ulna_builder_from_model(model, NULL, &builder, NULL);
    for (size_t i = 0; i < sizeof thumbs / sizeof *thumbs && status == ULNA_OK; i++) {
        int thumb = ulna_builder_find_body(builder, thumbs[i]);
        status = thumb == ULNA_NONE ? ULNA_OK : ulna_builder_set_joint(builder, thumb, &fixed, NULL);
    }
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, NULL, result, NULL);
    ulna_builder_destroy(builder);
    return status;
}

/* Where the markers sit: from a file of `ulna calibrate`, or as the library calibrates them. */
static int find_offsets(const ulna_take *by_names, const char *offsets, ulna_marker_set *set)
{
    ulna_calibration found = {0};
    int ready = offsets ? ulna_marker_set_load(offsets, by_names->model, set, NULL) == ULNA_OK
                        : ulna_calibrate(by_names, NULL, &found, NULL) == ULNA_OK;
    for (size_t i = 0; ready && !offsets && i < found.set.count; i++) {
        const ulna_attachment *item = &found.set.items[i];
        ready = ulna_marker_set_add(set, item->marker, item->body, item->offset, item->weight) == ULNA_OK;
    }
    ulna_calibration_release(&found);
    return ready;
}

static int take_goals(track_take *take, const ulna_take *from)
{
    size_t numbers = 3 * (size_t)from->frame_count * from->set.count;
    take->frames = from->frame_count;
    take->markers = (int)from->set.count;
    take->goals = calloc(numbers, sizeof *take->goals);
    for (int f = 0; take->goals && f < take->frames; f++)
        for (int m = 0; m < take->markers; m++)
            ulna_take_position(from, f, m, take->goals + 3 * ((ptrdiff_t)f * take->markers + m));
    return take->goals != NULL;
}

static int match(track_take *take, const ulna_content *skeleton, const ulna_content *markers, const char *offsets)
{
    ulna_take_options options = ulna_take_options_for(skeleton, markers);
    ulna_take *by_names = NULL, *made = NULL;
    options.model = take->model;
    options.attach = ULNA_ATTACH_NAMES;
    int ready = ulna_take_create(&options, &by_names, NULL) == ULNA_OK && find_offsets(by_names, offsets, &take->set);
    if (ready) {
        options.attach = ULNA_ATTACH_SET;
        options.set = &take->set;
        options.axes = by_names->axes;
        ready = ulna_take_create(&options, &made, NULL) == ULNA_OK && made->set.count == take->set.count &&
                take_goals(take, made);
    }
    ulna_take_destroy(made);
    ulna_take_destroy(by_names);
    return ready;
}

int track_take_load(track_take *take, const bench_take *from, const char *offsets)
{
    ulna_content skeleton = bench_load(from->skeleton, NULL), markers = bench_load(from->markers, NULL);
    *take = (track_take){.set = ulna_marker_set_empty(NULL)};
    int ready = skeleton.model && markers.recording.frame_count &&
                weld_thumbs(skeleton.model, &take->model) == ULNA_OK && match(take, &skeleton, &markers, offsets);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    if (!ready)
        track_take_free(take);
    return ready;
}

void track_take_free(track_take *take)
{
    free(take->goals);
    ulna_marker_set_release(&take->set);
    ulna_model_destroy(take->model);
    *take = (track_take){0};
}

const double *track_take_goals(const track_take *take, int frame)
{
    return take->goals + 3 * (ptrdiff_t)frame * take->markers;
}

double track_take_fill(track_take *take)
{
    ulna_tracker *tracker = NULL;
    ulna_pose *pose = NULL;
    double *q = calloc((size_t)ulna_model_coordinate_count(take->model), sizeof *q);
    long filled = 0;
    int good = q && ulna_tracker_create(take->model, &take->set, NULL, NULL, &tracker, NULL) == ULNA_OK &&
               ulna_pose_create(take->model, NULL, &pose, NULL) == ULNA_OK;
    for (int f = 0; f < take->frames && good; f++) {
        double *goals = take->goals + 3 * (ptrdiff_t)f * take->markers;
        good = ulna_tracker_frame(tracker, goals, q, NULL) == ULNA_OK && ulna_pose_forward(pose, q) == ULNA_OK;
        for (int m = 0; m < take->markers && good; m++)
            if (isnan(goals[3 * m])) {
                ulna_pose_point(pose, take->set.items[m].body, take->set.items[m].offset, goals + 3 * m);
                filled++;
            }
    }
    ulna_pose_destroy(pose);
    ulna_tracker_destroy(tracker);
    free(q);
    return good ? 100.0 * (double)filled / ((double)take->frames * take->markers) : -1;
}
