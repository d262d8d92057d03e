/* support_mocap.h: a take made and tracked, or calibrated, in one call, for tests that look at little of the result. */
#ifndef ULNA_TESTS_SUPPORT_MOCAP_H
#define ULNA_TESTS_SUPPORT_MOCAP_H

#include <string.h>

#include "support.h"
#include "ulna/calibrate.h"

static inline ulna_status ulna_test_take(const ulna_model *model, const ulna_marker_set *set,
                                         const ulna_recording *recording, const double *axes,
                                         const ulna_allocator *allocator, ulna_take **take, ulna_error *error)
{
    static const double as_it_is[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    ulna_take_options options = ulna_take_options_default();
    options.model = model;
    options.set = set;
    options.recording = recording;
    options.axes = axes ? axes : as_it_is;
    options.allocator = allocator;
    return ulna_take_create(&options, take, error);
}

/* The clip's allocator is used for everything; `frames` (frame_count) and `summary` may be NULL. */
static inline ulna_status ulna_test_track(const ulna_model *model, const ulna_marker_set *set,
                                          const ulna_recording *recording, const double *axes,
                                          const ulna_track_options *options, ulna_clip *clip, ulna_frame_report *frames,
                                          ulna_track_summary *summary, ulna_error *error)
{
    ulna_take *take = NULL;
    ulna_track_result result = {0};
    ulna_status status = ulna_test_take(model, set, recording, axes, &clip->allocator, &take, error);
    if (status == ULNA_OK)
        status = ulna_track(take, options, &result, error);
    if (status == ULNA_OK) {
        ulna_clip empty = *clip;
        *clip = result.clip;
        result.clip = empty;
        if (frames)
            memcpy(frames, result.frames, (size_t)take->frame_count * sizeof *frames);
    }
    if (summary)
        *summary = result.summary;
    ulna_track_result_release(&result);
    ulna_take_destroy(take);
    return status;
}

/* The default allocator, or the set's if it has another. */
static inline ulna_status ulna_test_calibrate(const ulna_model *model, const ulna_marker_set *set,
                                              const ulna_recording *recording, const double *axes,
                                              const ulna_calibrate_options *options, ulna_calibration *result,
                                              ulna_error *error)
{
    ulna_take *take = NULL;
    *result = (ulna_calibration){0};
    ulna_status status = ulna_test_take(model, set, recording, axes, &set->allocator, &take, error);
    if (status == ULNA_OK)
        status = ulna_calibrate(take, options, result, error);
    ulna_take_destroy(take);
    return status;
}

/* In the axes of the model; fails the test if there is none. Destroy it. */
static inline ulna_take *ulna_test_take_of(const ulna_model *model, const ulna_recording *recording, ulna_attach attach)
{
    static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    ulna_take_options options = ulna_take_options_default();
    ulna_take *take;
    ulna_error error;
    options.model = model;
    options.recording = recording;
    options.attach = attach;
    options.axes = same;
    if (ulna_take_create(&options, &take, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    return take;
}

#endif
