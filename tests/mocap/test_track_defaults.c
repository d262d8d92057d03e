/*
 * The defaults hold for other skeletons than an adult: an arm of 10 degrees of freedom, a hand, a BVH of 96 with its recorded motion.
 * Markers are those of a known motion, with noise in proportion to the skeleton. Nothing is lost or in doubt, bones shake at most half
 * as much as by plain least squares, and their rotations are nearer to the truth.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "support_content.h"
#include "support_mocap.h"
#include "support_tree.h"
#include "ulna/formats.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

#define NOISE 0.005 /* m on an adult, whose length scale is 1.3 m */
enum { FRAMES = 240, MARKERS = 2 };

typedef struct scene {
    const ulna_model *model;
    ulna_clip truth;
    ulna_marker_set set;
    ulna_recording recording;
} scene;

static void swing(const ulna_model *model, double by, ulna_clip *truth)
{
    int nq = ulna_model_coordinate_count(model);
    assert_int_equal(ulna_clip_resize(truth, nq, FRAMES), ULNA_OK);
    truth->frame_seconds = 1.0 / 120;
    for (int f = 0; f < FRAMES; f++) {
        double *q = ulna_clip_frame(truth, f);
        for (int i = 0; i < nq; i++)
            q[i] = ulna_model_rest(model)[i] + by * sin(0.015 * f * (1 + i % 3) + i);
        ulna_model_clamp(model, q);
    }
}

/* Markers on every body that has a joint: at random places around it. */
static void record(scene *s, uint64_t seed)
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    double length = ulna_model_length_scale(s->model);
    ulna_pose *pose;
    s->set = ulna_marker_set_empty(NULL);
    s->recording = ulna_recording_empty(NULL);
    for (int b = 0; b < ulna_model_body_count(s->model); b++)
        for (int k = 0; k < MARKERS && s->model->body[b].dof_count > 0; k++) {
            char name[40];
            double offset[3];
            snprintf(name, sizeof name, "m%d_%d", b, k);
            ulna_test_rng_fill(&rng, offset, 3, -0.06 * length, 0.06 * length);
            assert_int_equal(ulna_marker_set_add(&s->set, name, b, offset, 1), ULNA_OK);
        }
    int count = (int)s->set.count, frames = s->truth.frame_count;
    assert_int_equal(ulna_recording_resize(&s->recording, count, frames), ULNA_OK);
    assert_int_equal(ulna_pose_create(s->model, NULL, &pose, NULL), ULNA_OK);
    s->recording.frame_seconds = s->truth.frame_seconds;
    for (int m = 0; m < count; m++)
        snprintf(s->recording.names[m], ULNA_MARKER_NAME, "%s", s->set.items[m].marker);
    for (int f = 0; f < frames; f++) {
        assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&s->truth, f)), ULNA_OK);
        for (int m = 0; m < count; m++) {
            double *x = ulna_recording_frame(&s->recording, f) + 3 * m;
            ulna_pose_point(pose, s->set.items[m].body, s->set.items[m].offset, x);
            for (int i = 0; i < 3; i++)
                x[i] += NOISE * length / 1.3 * ulna_test_rng_normal(&rng);
        }
    }
    ulna_pose_destroy(pose);
}

/* The angle between two rotations. */
static double angle(const double a[9], const double b[9])
{
    double square = 0;
    for (int i = 0; i < 9; i++)
        square += (a[i] - b[i]) * (a[i] - b[i]);
    return 2 * asin(fmin(1, sqrt(square / 8)));
}

/* Root mean square over bodies and frames: of the error, and of its change from frame to frame. */
static void measure(const scene *s, const ulna_clip *clip, double *off, double *shake)
{
    int nb = ulna_model_body_count(s->model), frames = clip->frame_count;
    double *rotation = ulna_test_numbers(4 * 9 * nb); /* truth and found, of this frame and the last */
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(s->model, NULL, &pose, NULL), ULNA_OK);
    *off = *shake = 0;
    for (int f = 0; f < frames; f++) {
        const ulna_clip *from[2] = {&s->truth, clip};
        for (int k = 0; k < 2; k++) {
            assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(from[k], f)), ULNA_OK);
            for (int b = 0; b < nb; b++)
                ulna_pose_body(pose, b, NULL, rotation + 36 * b + 18 * (f % 2) + 9 * k);
        }
        for (int b = 0; b < nb; b++) {
            const double *now = rotation + 36 * b + 18 * (f % 2), *last = rotation + 36 * b + 18 * !(f % 2);
            double error = angle(now, now + 9), change = f ? angle(now + 9, last + 9) - angle(now, last) : 0;
            *off += error * error / (nb * frames);
            *shake += change * change / (nb * frames);
        }
    }
    *off = sqrt(*off);
    *shake = sqrt(*shake);
    ulna_pose_destroy(pose);
    free(rotation);
}

static void check(scene *s, const char *name, int dofs, uint64_t seed)
{
    double off[2], shake[2];
    assert_int_equal(ulna_model_dof_count(s->model), dofs);
    record(s, seed);
    for (int way = 0; way < 2; way++) {
        ulna_take *take = NULL;
        ulna_track_result result = {0};
        ulna_error error;
        ulna_track_options options = ulna_track_options_default();
        options.loss = way ? ULNA_LOSS_SQUARE : options.loss;
        if (ulna_test_take(s->model, &s->set, &s->recording, NULL, NULL, &take, &error) ||
            ulna_track(take, &options, &result, &error))
            fail_msg("%s: %s", name, error.message);
        measure(s, &result.clip, &off[way], &shake[way]);
        assert_int_equal(result.summary.lost, 0);
        if (!way)
            assert_int_equal(result.summary.doubtful + result.summary.recovered + result.summary.jumps, 0);
        ulna_track_result_release(&result);
        ulna_take_destroy(take);
    }
    print_message("%s: bones off by %.2f degrees, %.2f by plain least squares; shake by %.3f, %.3f degrees a frame\n",
                  name, 57.3 * off[0], 57.3 * off[1], 57.3 * shake[0], 57.3 * shake[1]);
    assert_true(off[0] < off[1] && shake[0] < 0.5 * shake[1]);
    ulna_recording_release(&s->recording);
    ulna_marker_set_release(&s->set);
    ulna_clip_release(&s->truth);
}

static void an_arm(void **state)
{
    (void)state;
    static const struct {
        const char *order;
        double length;
    } joints[] = {{"ZY", 0.02}, {"ZYX", 0.15}, {"X", 0.3}, {"Y", 0.03}, {"ZX", 0.23}, {"X", 0.09}};
    ulna_builder *builder;
    ulna_model *model;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "bone%d", i);
        const double at[3] = {joints[i].length, 0, 0};
        ulna_joint joint = ulna_joint_euler(joints[i].order);
        assert_int_equal(ulna_builder_add_body(builder, name, i - 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, i, &joint, NULL), ULNA_OK);
        ulna_builder_set_placement(builder, i, at, NULL, NULL);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    scene s = {.model = model, .truth = ulna_clip_empty(NULL)};
    swing(model, 0.5, &s.truth);
    check(&s, "arm", 10, 501);
    ulna_model_destroy(model);
}

static void a_hand(void **state)
{
    (void)state;
    ulna_model *model;
    assert_int_equal(ulna_sample_create("hand", NULL, &model, NULL), ULNA_OK);
    scene s = {.model = model, .truth = ulna_clip_empty(NULL)};
    swing(model, 0.3, &s.truth);
    check(&s, "hand", 28, 502);
    ulna_model_destroy(model);
}

/* The human as a BVH has it, whose joints all have three angles. */
static void a_bvh(void **state)
{
    (void)state;
    ulna_model *model;
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    ulna_text text = written(ULNA_FORMAT_BVH, model, NULL, NULL, NULL, NULL);
    ulna_content content = content_of(text.data, text.length, ULNA_FORMAT_BVH, NULL);
    scene s = {.model = content.model, .truth = ulna_clip_empty(NULL)};
    swing(content.model, 0.3, &s.truth);
    check(&s, "human as BVH", 81, 504);
    ulna_content_release(&content);
    ulna_text_release(&text);
    ulna_model_destroy(model);
}

static void a_recorded_bvh(void **state)
{
    (void)state;
    char path[512];
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    if (ulna_content_load(ulna_test_path(path, sizeof path, ulna_test_data_dir(), "cmu/02_01_cgspeed_mb.bvh"), NULL,
                          &content, &error))
        fail_msg("%s", error.message);
    scene s = {.model = content.model, .truth = ulna_clip_empty(NULL)};
    int frames = content.clip.frame_count - 1; /* the first one is the rest pose */
    assert_int_equal(ulna_clip_resize(&s.truth, content.clip.coordinate_count, frames), ULNA_OK);
    s.truth.frame_seconds = content.clip.frame_seconds;
    for (int f = 0; f < frames; f++)
        memcpy(ulna_clip_frame(&s.truth, f), ulna_clip_frame(&content.clip, f + 1),
               (size_t)s.truth.coordinate_count * sizeof(double));
    check(&s, "BVH", 96, 503);
    ulna_content_release(&content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arm),
        cmocka_unit_test(a_hand),
        cmocka_unit_test(a_bvh),
        ulna_test_needs("cmu", cmocka_unit_test(a_recorded_bvh)),
    };
    return cmocka_run_group_tests_name("defaults for other skeletons", tests, NULL, NULL);
}
