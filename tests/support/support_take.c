#include "support_take.h"

#include "support_tool.h"

#include <math.h>
#include <string.h>

#include "support.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

static void pose_at(const ulna_model *model, int frame, double *q)
{
    memcpy(q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    for (int d = 0; d < ulna_model_dof_count(model); d++) {
        int c = ulna_model_dof_coordinate(model, d);
        assert_true(c != ULNA_NONE);
        q[c] += 0.2 * sin(0.05 * frame + 0.7 * d);
    }
    ulna_model_clamp(model, q);
}

ulna_test_take ulna_test_take_make(int frames)
{
    ulna_test_take take = {.clip = ulna_clip_empty(NULL), .markers = ulna_recording_empty(NULL)};
    ulna_pose *pose;
    assert_int_equal(ulna_sample_create("human", NULL, &take.model, NULL), ULNA_OK);
    int markers = ulna_model_marker_count(take.model);
    assert_int_equal(ulna_pose_create(take.model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_clip_resize(&take.clip, ulna_model_coordinate_count(take.model), frames), ULNA_OK);
    assert_int_equal(ulna_recording_resize(&take.markers, markers + 1, frames), ULNA_OK);
    take.clip.frame_seconds = take.markers.frame_seconds = 1.0 / 120;
    take.clip.first_frame = take.markers.first_frame = 1;
    for (int m = 0; m < markers; m++)
        snprintf(take.markers.names[m], ULNA_MARKER_NAME, "Eve:%s", ulna_model_marker_name(take.model, m));
    snprintf(take.markers.names[markers], ULNA_MARKER_NAME, "*0");
    for (int f = 0; f < frames; f++) {
        double *q = ulna_clip_frame(&take.clip, f), *at = ulna_recording_frame(&take.markers, f);
        pose_at(take.model, f, q);
        assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
        ulna_pose_markers(pose, at);
        at[3 * markers] = at[3 * markers + 1] = at[3 * markers + 2] = 0.1;
    }
    ulna_pose_destroy(pose);
    return take;
}

void ulna_test_take_release(ulna_test_take *take)
{
    ulna_clip_release(&take->clip);
    ulna_recording_release(&take->markers);
    ulna_model_destroy(take->model);
}

void ulna_test_take_write(const char *folder, const char *name, const ulna_model *model, const ulna_clip *clip,
                          const ulna_recording *recording)
{
    char path[256];
    ulna_output *output;
    ulna_test_path(path, sizeof path, folder, name);
    assert_int_equal(ulna_output_open(path, NULL, &output, NULL), ULNA_OK);
    ulna_sink sink = ulna_output_sink(output);
    assert_int_equal(ulna_content_write(ulna_format_of_name(name), model, clip, recording, NULL, &sink, NULL, NULL),
                     ULNA_OK);
    assert_int_equal(ulna_output_commit(output, ULNA_OK, NULL), ULNA_OK);
}

int ulna_test_take_open(void **state, int frames)
{
    int result = ulna_test_tool_open(state);
    ulna_test_tool *tool = *state;
    if (result == 0 && tool) {
        ulna_test_take take = ulna_test_take_make(frames);
        ulna_test_take_write(tool->folder, "take.c3d", NULL, NULL, &take.markers);
        ulna_test_take_write(tool->folder, "truth.csv", take.model, &take.clip, NULL);
        ulna_test_take_release(&take);
    }
    return result;
}
