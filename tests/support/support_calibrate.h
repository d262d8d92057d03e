/* support_calibrate.h: motions and recordings to calibrate, a calibration that has to succeed, a marker that has to be on its bone. */
#ifndef ULNA_TESTS_SUPPORT_CALIBRATE_H
#define ULNA_TESTS_SUPPORT_CALIBRATE_H

#include <math.h>
#include <string.h>

#include "math/math3.h"
#include "mocap/take.h"
#include "support.h"
#include "support_mocap.h"
#include "ulna/sample.h"

static inline ulna_calibration calibrate(const ulna_model *model, const ulna_marker_set *set,
                                         const ulna_recording *recording, const double *axes,
                                         const ulna_calibrate_options *options)
{
    ulna_calibration result = {0};
    ulna_error error;
    ulna_error_clear(&error);
    if (ulna_test_calibrate(model, set, recording, axes, options, &result, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    return result;
}

static inline void assert_on(const ulna_model *model, const char *marker, const char *bone)
{
    int body = ulna_marker_body(model, marker);
    if (!bone)
        assert_int_equal(body, ULNA_NONE);
    else if (body == ULNA_NONE || strcmp(ulna_model_body_name(model, body), bone) != 0)
        fail_msg("%s is on %s, not on %s", marker, body == ULNA_NONE ? "nothing" : ulna_model_body_name(model, body),
                 bone);
}

static inline ulna_model *sample(const char *name)
{
    ulna_model *model;
    assert_int_equal(ulna_sample_create(name, NULL, &model, NULL), ULNA_OK);
    return model;
}

/* A motion that bends every joint over most of its range, each at a pace of its own; the root walks and turns. */
static inline ulna_clip make_motion(const ulna_model *model, int frames, uint64_t seed)
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    ulna_clip clip = ulna_clip_empty(NULL);
    int nq = ulna_model_coordinate_count(model), nv = ulna_model_dof_count(model);
    assert_int_equal(ulna_clip_resize(&clip, nq, frames), ULNA_OK);
    for (int f = 0; f < frames; f++)
        memcpy(ulna_clip_frame(&clip, f), ulna_model_rest(model), (size_t)nq * sizeof(double));
    for (int d = 0; d < nv; d++) {
        int c = ulna_model_dof_coordinate(model, d);
        assert_true(c >= 0);
        double low = ulna_model_lower(model)[d], high = ulna_model_upper(model)[d];
        double pace = ulna_test_rng_uniform(&rng, 0.005, 0.03), phase = ulna_test_rng_uniform(&rng, 0, 6);
        low = isfinite(low) ? low : -1;
        high = isfinite(high) ? high : 1;
        for (int f = 0; f < frames; f++)
            ulna_clip_frame(&clip, f)[c] = 0.5 * (low + high) + 0.35 * (high - low) * sin(phase + pace * f);
    }
    return clip;
}

/* Where a set's markers are in a motion. */
static inline ulna_recording record(const ulna_model *model, const ulna_clip *clip, const ulna_marker_set *set)
{
    ulna_recording recording = ulna_recording_empty(NULL);
    ulna_pose *pose;
    assert_int_equal(ulna_recording_resize(&recording, (int)set->count, clip->frame_count), ULNA_OK);
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    for (size_t i = 0; i < set->count; i++)
        memcpy(recording.names[i], set->items[i].marker, sizeof recording.names[i]);
    for (int f = 0; f < clip->frame_count; f++) {
        assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(clip, f)), ULNA_OK);
        for (size_t i = 0; i < set->count; i++)
            ulna_pose_point(pose, set->items[i].body, set->items[i].offset,
                            ulna_recording_frame(&recording, f) + 3 * i);
    }
    recording.first_frame = 1;
    ulna_pose_destroy(pose);
    return recording;
}

static inline ulna_marker_set own_markers(const ulna_model *model)
{
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    assert_int_equal(ulna_marker_set_from_model(&set, model), ULNA_OK);
    return set;
}

static inline ulna_marker_set disturbed(const ulna_marker_set *set, double sigma, uint64_t seed)
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    ulna_marker_set copy = ulna_marker_set_empty(NULL);
    for (size_t i = 0; i < set->count; i++) {
        double offset[3];
        for (int k = 0; k < 3; k++)
            offset[k] = set->items[i].offset[k] + sigma * ulna_test_rng_normal(&rng);
        ulna_marker_set_add(&copy, set->items[i].marker, set->items[i].body, offset, 1);
    }
    return copy;
}

static inline double offset_error(const ulna_attachment *a, const ulna_attachment *b)
{
    double d[3] = {a->offset[0] - b->offset[0], a->offset[1] - b->offset[1], a->offset[2] - b->offset[2]};
    return ulna_norm(d);
}

#endif
