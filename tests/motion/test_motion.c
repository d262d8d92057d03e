/* Clips and recordings: growing, names, missing markers, memory that runs out. */
#include "math/math3.h"
#include "model/model.h"
#include "motion/convert.h"
#include "support.h"
#include "ulna/motion.h"
#include "ulna/sample.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void clips_grow_and_keep_what_they_hold(void **state)
{
    (void)state;
    ulna_clip clip = ulna_clip_empty(NULL);
    for (int frame = 0; frame < 1000; frame++) {
        assert_int_equal(ulna_clip_resize(&clip, 3, frame + 1), ULNA_OK);
        assert_true(ulna_clip_frame(&clip, frame)[0] == 0 && ulna_clip_frame(&clip, frame)[2] == 0);
        for (int k = 0; k < 3; k++)
            ulna_clip_frame(&clip, frame)[k] = 10.0 * frame + k;
    }
    for (int frame = 0; frame < 1000; frame++)
        assert_true(ulna_clip_frame(&clip, frame)[2] == 10.0 * frame + 2);
    assert_int_equal(ulna_clip_resize(&clip, 4, 1000), ULNA_ERR_ARGUMENT); /* another width would mix frames */
    assert_int_equal(ulna_clip_resize(&clip, 3, -1), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_clip_resize(&clip, 3, 1), ULNA_OK);
    assert_int_equal(ulna_clip_resize(&clip, 3, 2), ULNA_OK); /* frames that come back are zero again */
    assert_true(ulna_clip_frame(&clip, 1)[0] == 0);
    ulna_clip_release(&clip);
    assert_int_equal(ulna_clip_resize(&clip, INT_MAX, INT_MAX), ULNA_ERR_LIMIT);
    assert_int_equal(clip.frame_count, 0);
    ulna_clip_release(&clip);
}

static void recordings_find_markers_by_name(void **state)
{
    (void)state;
    const char *const names[] = {"Daniel:LFHD", "Daniel:RFHD", "lfhd", "C7", "Anna:C7", "X:sacr"};
    ulna_recording r = ulna_recording_empty(NULL);
    assert_int_equal(ulna_recording_resize(&r, 6, 0), ULNA_OK);
    for (int i = 0; i < 6; i++)
        snprintf(r.names[i], sizeof r.names[i], "%s", names[i]);
    assert_int_equal(ulna_recording_find(&r, "Daniel:LFHD"), 0);
    assert_int_equal(ulna_recording_find(&r, "LFHD"), 0);
    assert_int_equal(ulna_recording_find(&r, "lfhd"), 2);
    assert_int_equal(ulna_recording_find(&r, "C7"), 3);
    assert_int_equal(ulna_recording_find(&r, "Other:RFHD"), 1);
    assert_int_equal(ulna_recording_find(&r, "SACR"), 5);
    assert_int_equal(ulna_recording_find(&r, "LFH"), ULNA_NONE);
    assert_int_equal(ulna_recording_find(&r, ""), ULNA_NONE);
    assert_int_equal(ulna_recording_resize(&r, 6, 10), ULNA_OK);
    assert_int_equal(ulna_recording_missing(&r), 60);
    ulna_recording_frame(&r, 3)[3] = 0;
    assert_int_equal(ulna_recording_missing(&r), 59);
    assert_true(isnan(ulna_recording_frame(&r, 9)[17]));
    assert_int_equal(ulna_recording_resize(&r, 5, 10), ULNA_ERR_ARGUMENT);
    ulna_recording_release(&r);
    assert_int_equal(r.marker_count, 0);
}

static void running_out_of_memory_leaves_them_as_they_were(void **state)
{
    (void)state;
    for (long fail = 0; fail < 4; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_recording r = ulna_recording_empty(&allocator);
        ulna_clip clip = ulna_clip_empty(&allocator);
        ulna_status a = ulna_recording_resize(&r, 2, 5), b = ulna_clip_resize(&clip, 2, 5);
        assert_int_equal(r.frame_count, a == ULNA_OK ? 5 : 0);
        assert_int_equal(clip.frame_count, b == ULNA_OK ? 5 : 0);
        assert_int_equal(a == ULNA_OK && b == ULNA_OK, !memory.failed);
        ulna_recording_release(&r);
        ulna_clip_release(&clip);
        ulna_test_memory_check(&memory);
    }
}

/* The human moves inside its limits; from frame 60 on each joint is told by its other family, or two turns further. */
static void angles_come_home(void **state)
{
    (void)state;
    enum { FRAMES = 120, FROM = 60 };
    ulna_model *model;
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_clip_resize(&clip, model->nq, FRAMES), ULNA_OK);
    double *truth = calloc((size_t)FRAMES * (size_t)model->nq, sizeof *truth);
    for (int f = 0; f < FRAMES; f++) {
        double *q = ulna_clip_frame(&clip, f);
        for (int d = 0; d < model->nv; d++) {
            int c = model->dof_coordinate[d], limited = isfinite(model->lower[d]) && isfinite(model->upper[d]);
            double middle = limited ? 0.5 * (model->lower[d] + model->upper[d]) : model->rest[c];
            q[c] = middle + 0.2 * sin(0.05 * f + d);
        }
        memcpy(truth + (size_t)f * (size_t)model->nq, q, (size_t)model->nq * sizeof *q);
        for (int b = 0; b < model->nb && f >= FROM; b++) {
            ulna_joint_plan plan;
            double other[7] = {0}, *at = q + model->body[b].coordinate;
            assert_int_equal(ulna_joint_resolve(&model->joint[b], &plan, NULL), ULNA_OK);
            if (ulna_joint_other_family(&plan, at, other))
                memcpy(at, other, (size_t)plan.coordinate_count * sizeof *at);
            else if (plan.segment_count == 1 && !ulna_segment_is_translation(plan.segment[0]))
                at[0] += 4 * ULNA_PI;
        }
    }
    assert_int_equal(ulna_clip_home(model, &clip), ULNA_OK);
    for (int i = 0; i < FRAMES * model->nq; i++)
        assert_true(fabs(clip.q[i] - truth[i]) < 1e-12);
    assert_int_equal(ulna_clip_home(NULL, &clip), ULNA_ERR_ARGUMENT);
    free(truth);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clips_grow_and_keep_what_they_hold),
        cmocka_unit_test(recordings_find_markers_by_name),
        cmocka_unit_test(angles_come_home),
        cmocka_unit_test(running_out_of_memory_leaves_them_as_they_were),
    };
    return cmocka_run_group_tests_name("motion", tests, NULL, NULL);
}
