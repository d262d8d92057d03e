#include "support_swing.h"

#include "support_mocap.h"
#include "support_tree.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>

ulna_test_swing ulna_test_swing_make(int frames, double spin)
{
    ulna_test_swing s = {.frames = frames, .set = ulna_marker_set_empty(NULL), .recording = ulna_recording_empty(NULL)};
    ulna_pose *pose;
    assert_int_equal(ulna_sample_create("human", NULL, &s.model, NULL), ULNA_OK);
    assert_int_equal(ulna_marker_set_from_model(&s.set, s.model), ULNA_OK);
    s.nq = ulna_model_coordinate_count(s.model);
    s.truth = ulna_test_numbers(frames * s.nq);
    int count = ulna_model_marker_count(s.model);
    assert_int_equal(ulna_recording_resize(&s.recording, count, frames), ULNA_OK);
    s.recording.frame_seconds = 1.0 / 120;
    assert_int_equal(ulna_pose_create(s.model, NULL, &pose, NULL), ULNA_OK);
    for (int m = 0; m < count; m++)
        snprintf(s.recording.names[m], ULNA_MARKER_NAME, "Subject:%s", ulna_model_marker_name(s.model, m));
    for (int f = 0; f < frames; f++) {
        double *q = s.truth + (size_t)f * (size_t)s.nq;
        for (int j = 0; j < s.nq; j++) {
            double swing = (j < 3 ? 0.3 : j < 6 ? 0.4 : 0.25) * sin(0.02 * f * (1 + j % 4) + j);
            q[j] = ulna_model_rest(s.model)[j] + swing;
        }
        ulna_model_clamp(s.model, q);
        q[5] += spin * f;
        assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
        for (int m = 0; m < count; m++) {
            double local[3];
            ulna_model_marker_position(s.model, m, local);
            ulna_pose_point(pose, ulna_model_marker_body(s.model, m), local,
                            ulna_recording_frame(&s.recording, f) + 3 * m);
        }
    }
    ulna_pose_destroy(pose);
    return s;
}

void ulna_test_swing_release(ulna_test_swing *s)
{
    ulna_marker_set_release(&s->set);
    ulna_recording_release(&s->recording);
    ulna_model_destroy(s->model);
    free(s->truth);
}

ulna_track_summary ulna_test_swing_track(const ulna_test_swing *s, const ulna_track_options *options, ulna_clip *clip,
                                         ulna_frame_report *frames)
{
    ulna_track_summary summary;
    ulna_error error;
    ulna_error_clear(&error);
    *clip = ulna_clip_empty(NULL);
    if (ulna_test_track(s->model, &s->set, &s->recording, NULL, options, clip, frames, &summary, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    return summary;
}
