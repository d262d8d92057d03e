/* The same skeleton with other joints: poses stay, coordinates are continuous, what is lost is told. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "motion/branch.h"
#include "support_model.h"
#include "support_tree.h"
#include "support_units.h"
#include "ulna/motion.h"
#include "ulna/sample.h"

#define PI 3.14159265358979323846

static const ulna_ball balls[] = {ULNA_BALL_EULER, ULNA_BALL_QUATERNION, ULNA_BALL_EXPMAP, ULNA_BALL_SWING_TWIST};

/* ---- helpers ---- */

static ulna_model *with_balls(const ulna_model *model, ulna_ball ball, int *dropped)
{
    ulna_model *result;
    ulna_error error;
    if (ulna_model_with_balls(model, ball, NULL, &result, dropped, &error) != ULNA_OK)
        fail_msg("with_balls: %s", error.message);
    return result;
}

static ulna_clip random_clip(ulna_test_rng *rng, const ulna_model *model, int frames)
{
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, ulna_model_coordinate_count(model), frames), ULNA_OK);
    for (int f = 0; f < frames && clip.coordinate_count; f++)
        ulna_test_fill_q(rng, model, ulna_clip_frame(&clip, f));
    return clip;
}

static ulna_clip converted(const ulna_model *from, const ulna_clip *clip, const ulna_model *to)
{
    ulna_clip result = ulna_clip_empty(NULL);
    ulna_error error;
    if (ulna_clip_convert(from, clip, to, &result, &error) != ULNA_OK)
        fail_msg("convert: %s", error.message);
    assert_int_equal(result.frame_count, clip->frame_count);
    assert_int_equal(result.coordinate_count, ulna_model_coordinate_count(to));
    return result;
}

/* The largest difference of any body's frame in any frame of two clips. */
static double pose_difference(const ulna_model *a, const ulna_clip *p, const ulna_model *b, const ulna_clip *q)
{
    double largest = 0;
    for (int f = 0; f < p->frame_count; f++) {
        ulna_test_frame *x = ulna_test_frames(a, p->q + (size_t)f * (size_t)p->coordinate_count);
        ulna_test_frame *y = ulna_test_frames(b, q->q + (size_t)f * (size_t)q->coordinate_count);
        for (int i = 0; i < ulna_model_body_count(a); i++)
            largest = fmax(largest, ulna_test_frame_difference(&x[i], &y[i]));
        free(x);
        free(y);
    }
    return largest;
}

/* The largest step of a coordinate from one frame to the next. */
static double largest_step(const ulna_clip *clip)
{
    double largest = 0;
    for (int f = 1; f < clip->frame_count; f++)
        for (int k = 0; k < clip->coordinate_count; k++)
            largest = fmax(largest, fabs(ulna_clip_frame(clip, f)[k] - ulna_clip_frame(clip, f - 1)[k]));
    return largest;
}

static ulna_model *chain_of(const ulna_joint *joint, int count)
{
    ulna_builder *builder = ulna_test_builder();
    for (int i = 0, parent = ULNA_NONE; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        int body = ulna_test_add(builder, name, parent);
        ulna_test_set_joint(builder, body, *joint);
        assert_int_equal(ulna_builder_set_placement(builder, body, (double[]){0.1, 0.2, 0.3}, NULL, NULL), ULNA_OK);
        parent = body;
    }
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    return model;
}

/* Frames that follow each other by small turns whose direction changes slowly. */
static ulna_clip smooth_clip(ulna_test_rng *rng, const ulna_model *model, int frames, double step)
{
    ulna_clip clip = random_clip(rng, model, frames);
    int nv = ulna_model_dof_count(model);
    double *speed = ulna_test_numbers(nv);
    ulna_test_rng_fill(rng, speed, nv, -step, step);
    for (int f = 1; f < frames; f++) {
        for (int k = 0; k < nv; k++)
            speed[k] = fmax(-step, fmin(step, speed[k] + 0.1 * step * ulna_test_rng_normal(rng)));
        ulna_model_integrate(model, ulna_clip_frame(&clip, f - 1), speed, ulna_clip_frame(&clip, f));
    }
    free(speed);
    return clip;
}

/* ---- skeletons ---- */

static void joints_of_three_turns_become_the_wanted_kind(void **state)
{
    (void)state;
    static const ulna_joint_type wanted[4][2] = {
        {ULNA_JOINT_EULER, ULNA_JOINT_FREE_EULER},
        {ULNA_JOINT_BALL, ULNA_JOINT_FREE},
        {ULNA_JOINT_EXPMAP, ULNA_JOINT_FREE},
        {ULNA_JOINT_SWING_TWIST, ULNA_JOINT_FREE},
    };
    double z[3] = {0, 0, 1};
    const ulna_joint turning[] = {
        ulna_joint_euler("XZX"), ulna_joint_euler("ZYX"),         ulna_joint_ball(),
        ulna_joint_expmap(),     ulna_joint_swing_twist(z, NULL), ulna_joint_sequence("RzRyRx")};
    const ulna_joint sliding[] = {ulna_joint_free(), ulna_joint_free_euler("ZXY"), ulna_joint_sequence("TzTxTyRxRyRx")};
    const ulna_joint others[] = {
        ulna_joint_revolute(1, 2, 3),    ulna_joint_euler("XY"),          ulna_joint_fixed(),
        ulna_joint_sequence("TxRzRyRx"), ulna_joint_sequence("RzTxRyRx"), ulna_joint_sequence("TxTyTxRzRyRx"),
        ulna_joint_planar(0, 0, 1)};
    for (int b = 0; b < 4; b++) {
        for (size_t i = 0; i < 6 + 3 + 7; i++) {
            const ulna_joint *joint = i < 6 ? &turning[i] : i < 9 ? &sliding[i - 6] : &others[i - 9];
            ulna_model *model = chain_of(joint, 3), *result = with_balls(model, balls[b], NULL);
            const ulna_joint *became = ulna_model_body_joint(result, 1);
            int keeps = i >= 9 || (b == 0 && joint->type == ULNA_JOINT_SEQUENCE);
            assert_int_equal(became->type, keeps ? joint->type : wanted[b][i >= 6]);
            if (keeps || became->type == joint->type)
                assert_string_equal(became->order, joint->order);
            ulna_model_destroy(model);
            ulna_model_destroy(result);
        }
    }
}

static void a_swing_twist_twists_about_the_bone(void **state)
{
    (void)state;
    ulna_joint joint = ulna_joint_ball();
    ulna_model *model = chain_of(&joint, 2), *result = with_balls(model, ULNA_BALL_SWING_TWIST, NULL);
    const double *axis = ulna_model_body_joint(result, 0)->axis, length = sqrt(0.14);
    assert_true(fabs(axis[0] - 0.1 / length) < 1e-15 && fabs(axis[2] - 0.3 / length) < 1e-15);
    assert_true(ulna_model_body_joint(result, 1)->axis[2] == 1); /* a leaf has no bone */
    ulna_model_destroy(model);
    ulna_model_destroy(result);
}

static void limits_stay_where_they_mean_the_same(void **state)
{
    (void)state;
    ulna_builder *builder = ulna_test_builder();
    int root = ulna_test_add(builder, "root", ULNA_NONE), arm = ulna_test_add(builder, "arm", root);
    ulna_test_set_joint(builder, root, ulna_joint_sequence("TzTxTyRxRyRz"));
    ulna_test_set_joint(builder, arm, ulna_joint_euler("ZYX"));
    for (int k = 0; k < 6; k++) {
        assert_int_equal(ulna_builder_set_limits(builder, root, k, -1 - k, 1 + k, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_strength(builder, root, k, 0.1 * (k + 1), NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_set_limits(builder, arm, 1, -INFINITY, 2, NULL), ULNA_OK);
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);

    int dropped = -1;
    ulna_model *same = with_balls(model, ULNA_BALL_EULER, &dropped);
    assert_int_equal(dropped, 0);
    assert_true(ulna_model_upper(same)[7] == 2);
    ulna_model *free_root = with_balls(model, ULNA_BALL_EXPMAP, &dropped);
    assert_int_equal(dropped, 4); /* three turns of the root, one of the arm */
    const double expected[3] = {2, 3, 1};
    for (int k = 0; k < 3; k++) {
        assert_true(ulna_model_upper(free_root)[k] == expected[k] && ulna_model_lower(free_root)[k] == -expected[k]);
        assert_true(isinf(ulna_model_upper(free_root)[6 + k]));
        assert_true(fabs(ulna_model_strength(free_root)[k] - 0.1 * expected[k]) < 1e-15);
        assert_true(fabs(ulna_model_strength(free_root)[3 + k] - 0.5) < 1e-15);
    }
    ulna_model_destroy(model);
    ulna_model_destroy(same);
    ulna_model_destroy(free_root);
}

static void the_rest_pose_stays(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(31);
    ulna_test_tree_options options = ulna_test_tree_options_default();
    options.limits = 0;
    for (int round = 0; round < 100; round++) {
        ulna_model *plain = ulna_test_random_tree(&rng, &options), *model, *result;
        double *q = ulna_test_random_q(&rng, plain);
        ulna_builder *builder;
        assert_int_equal(ulna_builder_from_model(plain, NULL, &builder, NULL), ULNA_OK);
        for (int b = 0, first; b < ulna_model_body_count(plain); b++) {
            int count = ulna_model_body_coordinates(plain, b, &first);
            assert_int_equal(ulna_builder_set_rest(builder, b, q + first, count, NULL), ULNA_OK);
        }
        model = ulna_test_build(builder);
        ulna_builder_destroy(builder);
        result = with_balls(model, balls[round % 4], NULL);
        ulna_test_frame *a = ulna_test_frames(model, ulna_model_rest(model));
        ulna_test_frame *b = ulna_test_frames(result, ulna_model_rest(result));
        for (int i = 0; i < ulna_model_body_count(model); i++)
            assert_true(ulna_test_frame_difference(&a[i], &b[i]) < 1e-10);
        free(a);
        free(b);
        free(q);
        ulna_model_destroy(plain);
        ulna_model_destroy(model);
        ulna_model_destroy(result);
    }
}

/* ---- clips ---- */

static void poses_survive_every_kind_and_back(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(5);
    for (int round = 0; round < 400; round++) {
        ulna_model *model = ulna_test_random_tree(&rng, NULL), *other = with_balls(model, balls[round % 4], NULL);
        ulna_clip clip = random_clip(&rng, model, 4);
        clip.first_frame = 17;
        clip.frame_seconds = 0.25;
        ulna_clip there = converted(model, &clip, other), back = converted(other, &there, model);
        double way = pose_difference(model, &clip, other, &there),
               round_trip = pose_difference(model, &clip, model, &back);
        if (!(way < 1e-9 && round_trip < 1e-9))
            fail_msg("round %d: %g there, %g back", round, way, round_trip);
        assert_int_equal(back.first_frame, 17);
        assert_true(back.frame_seconds == 0.25);
        ulna_clip_release(&clip);
        ulna_clip_release(&there);
        ulna_clip_release(&back);
        ulna_model_destroy(model);
        ulna_model_destroy(other);
    }
}

static void joints_that_stay_keep_their_bits(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(6);
    ulna_model *model = ulna_test_random_tree(&rng, NULL);
    ulna_clip clip = random_clip(&rng, model, 5), same = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_convert(model, &clip, model, &same, NULL), ULNA_OK);
    assert_memory_equal(clip.q, same.q, 5 * (size_t)clip.coordinate_count * sizeof *clip.q);
    ulna_clip_release(&same);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

static void smooth_motions_give_angles_without_jumps(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(8);
    static const char *const orders[] = {"XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX",
                                         "XYX", "XZX", "YXY", "YZY", "ZXZ", "ZYZ"};
    for (int i = 0; i < 12; i++) {
        ulna_joint ball = ulna_joint_ball(), euler = ulna_joint_euler(orders[i]);
        ball.reversed = euler.reversed = i % 2;
        ulna_test_random_rotation(&rng, ball.frame);
        memcpy(euler.frame, ball.frame, sizeof ball.frame);
        ulna_model *from = chain_of(&ball, 4), *to = chain_of(&euler, 4);
        ulna_clip clip = smooth_clip(&rng, from, 1500, 0.03), angles = converted(from, &clip, to);
        /* beside the lock two angles swing at once: a quarter turn at most, and a little for the frame's own motion */
        assert_true(largest_step(&angles) < PI / 2 + 0.2);
        assert_true(largest_step(&angles) > 0.3); /* which happened */
        assert_true(pose_difference(from, &clip, to, &angles) < 1e-9);

        /* other kinds are as smooth as the motion; all come back to the same angles */
        for (int b = 1; b < 4; b++) {
            ulna_model *other = with_balls(to, balls[b], NULL);
            ulna_clip there = converted(to, &angles, other), back = converted(other, &there, to);
            if (balls[b] == ULNA_BALL_QUATERNION)
                assert_true(largest_step(&there) < 0.06);
            assert_true(largest_step(&back) < PI / 2 + 0.2);
            ulna_clip_release(&there);
            ulna_clip_release(&back);
            ulna_model_destroy(other);
        }
        ulna_clip_release(&clip);
        ulna_clip_release(&angles);
        ulna_model_destroy(from);
        ulna_model_destroy(to);
    }
}

static void angles_pass_through_gimbal_lock(void **state)
{
    (void)state;
    static const char *const orders[] = {"ZYX", "XZY", "ZXZ", "YXY"};
    for (int i = 0; i < 4; i++) {
        ulna_joint euler = ulna_joint_euler(orders[i]);
        euler.reversed = i % 2;
        ulna_model *model = chain_of(&euler, 2), *other = with_balls(model, ULNA_BALL_QUATERNION, NULL);
        ulna_clip clip = ulna_clip_empty(NULL);
        assert_int_equal(ulna_clip_resize(&clip, 6, 201), ULNA_OK);
        for (int f = 0; f < 201; f++) {
            double *q = ulna_clip_frame(&clip, f), b = (f - 100) * 0.01; /* 0 in the middle */
            const double locked = i < 2 ? PI / 2 : 0;
            memcpy(q, (double[]){0.3, locked + b, -0.8, 0.4, locked - b, 1.1}, 6 * sizeof *q);
        }
        ulna_clip there = converted(model, &clip, other), back = converted(other, &there, model);
        double *first = ulna_clip_frame(&back, 0), *original = ulna_clip_frame(&clip, 0);
        if (fabs(first[1] - original[1]) < 0.1 && fabs(first[4] - original[4]) < 0.1) { /* the same family: all along */
            for (int k = 0; k < 6 * 201; k++)
                assert_true(fabs(back.q[k] - clip.q[k]) < 1e-7);
        }
        assert_true(largest_step(&back) < 0.011);
        ulna_clip_release(&clip);
        ulna_clip_release(&there);
        ulna_clip_release(&back);
        ulna_model_destroy(model);
        ulna_model_destroy(other);
    }
}

static void resting_in_gimbal_lock_stays_still(void **state)
{
    (void)state;
    ulna_joint euler = ulna_joint_euler("ZYX");
    ulna_model *model = chain_of(&euler, 1);
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_test_rng rng = ulna_test_rng_seed(3);
    assert_int_equal(ulna_clip_resize(&clip, 3, 50), ULNA_OK);
    for (int f = 0; f < 50; f++) { /* only the difference of the outer angles matters, and grows slowly */
        double any = f ? ulna_test_rng_uniform(&rng, -3, 3) : 0;
        memcpy(ulna_clip_frame(&clip, f), (double[]){any, PI / 2, any + 0.01 * f}, 3 * sizeof(double));
    }
    ulna_clip before = converted(model, &clip, model);
    assert_int_equal(ulna_clip_unwind(model, &clip), ULNA_OK);
    assert_true(largest_step(&clip) < 0.0051);
    assert_true(pose_difference(model, &before, model, &clip) < 1e-12);
    ulna_clip_release(&before);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

/* Other coordinates of the same pose. */
static void scramble(ulna_test_rng *rng, const ulna_model *model, int body, double *q)
{
    ulna_joint_plan plan;
    double other[7], *at = q;
    ulna_joint_resolve(ulna_model_body_joint(model, body), &plan, NULL);
    if (ulna_test_rng_index(rng, 2) && ulna_joint_other_family(&plan, q, other))
        memcpy(q, other, (size_t)plan.coordinate_count * sizeof *q);
    for (int s = 0; s < plan.segment_count; at += ulna_segment_coordinates((ulna_segment)plan.segment[s++])) {
        int n = ulna_test_rng_index(rng, 5) - 2, count = ulna_segment_coordinates((ulna_segment)plan.segment[s]);
        double length = 0;
        for (int k = 0; k < count; k++)
            length += at[k] * at[k];
        if (plan.segment[s] == ULNA_SEGMENT_BALL)
            for (int k = 0; k < 4 && n < 0; k++)
                at[k] = -at[k];
        else if (plan.segment[s] > ULNA_SEGMENT_BALL)
            for (int k = 0; k < count; k++)
                at[k] *= 1 + 2 * PI * n / sqrt(length);
        else if (!ulna_segment_is_translation(plan.segment[s]))
            at[0] += 2 * PI * n;
    }
}

static void unwinding_undoes_what_does_not_move(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(12);
    ulna_test_tree_options options = ulna_test_tree_options_default();
    options.limits = 0;
    options.max_bodies = 12;
    for (int round = 0; round < 200; round++) {
        ulna_model *model = ulna_test_random_tree(&rng, &options);
        ulna_clip clip = random_clip(&rng, model, 1), original = ulna_clip_empty(NULL);
        int nq = clip.coordinate_count;
        assert_int_equal(ulna_clip_resize(&clip, nq, 40), ULNA_OK);
        assert_int_equal(ulna_clip_resize(&original, nq, 40), ULNA_OK);
        double *step = ulna_test_numbers(ulna_model_dof_count(model));
        ulna_test_rng_fill(&rng, step, ulna_model_dof_count(model), -0.02, 0.02);
        for (int f = 0; nq && f < 40; f++) {
            double *q = ulna_clip_frame(&clip, f), *o = ulna_clip_frame(&original, f);
            if (f > 0)
                ulna_model_integrate(model, o - nq, step, o);
            else
                memcpy(o, q, (size_t)nq * sizeof *o);
            memcpy(q, o, (size_t)nq * sizeof *o);
            for (int b = 0, first; f && b < ulna_model_body_count(model); b++)
                if (ulna_model_body_coordinates(model, b, &first) > 0)
                    scramble(&rng, model, b, q + first);
        }
        assert_int_equal(ulna_clip_unwind(model, &clip), ULNA_OK);
        for (int k = 0; k < 40 * nq; k++)
            if (!(fabs(clip.q[k] - original.q[k]) < 1e-9))
                fail_msg("round %d, frame %d, coordinate %d: %g, not %g", round, k / nq, k % nq, clip.q[k],
                         original.q[k]);
        free(step);
        ulna_clip_release(&clip);
        ulna_clip_release(&original);
        ulna_model_destroy(model);
    }
}

static void unwinding_stays_inside_limits(void **state)
{
    (void)state;
    ulna_builder *builder = ulna_test_builder();
    int body = ulna_test_add(builder, "wheel", ULNA_NONE);
    ulna_test_set_joint(builder, body, ulna_joint_revolute(0, 0, 1));
    assert_int_equal(ulna_builder_set_limits(builder, body, 0, -3.1, 3.1, NULL), ULNA_OK);
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, 1, 4), ULNA_OK);
    memcpy(clip.q, (double[]){3, -3, 3 + 2 * PI, 9 * PI}, 4 * sizeof(double));
    assert_int_equal(ulna_clip_unwind(model, &clip), ULNA_OK);
    assert_true(clip.q[1] == -3);                     /* a jump, but inside */
    assert_true(fabs(clip.q[2] + 2 * PI - 3) < 1e-9); /* outside before: nearest to the frame before */
    assert_true(fabs(clip.q[3] + PI) < 1e-9);
    assert_int_equal(ulna_clip_unwind(NULL, &clip), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_clip_unwind(model, NULL), ULNA_ERR_ARGUMENT);
    clip.coordinate_count = 2;
    assert_int_equal(ulna_clip_unwind(model, &clip), ULNA_ERR_ARGUMENT);
    clip.coordinate_count = 1;
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

static void the_first_frame_prefers_the_limits(void **state)
{
    (void)state;
    ulna_builder *builder = ulna_test_builder();
    int body = ulna_test_add(builder, "arm", ULNA_NONE);
    ulna_test_set_joint(builder, body, ulna_joint_euler("ZYX"));
    ulna_model *unlimited = ulna_test_build(builder);
    assert_int_equal(ulna_builder_set_limits(builder, body, 1, -0.1, 0.3, NULL), ULNA_OK);
    ulna_model *limited = ulna_test_build(builder), *ball = with_balls(limited, ULNA_BALL_QUATERNION, NULL);
    ulna_builder_destroy(builder);
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, 3, 2), ULNA_OK);
    memcpy(clip.q, (double[]){-0.4, 2.9, 0.5, -0.45, 2.95, 0.5}, 6 * sizeof(double));
    ulna_clip there = converted(unlimited, &clip, ball), nearest = converted(ball, &there, unlimited);
    ulna_clip inside = converted(ball, &there, limited);
    for (int f = 0; f < 2; f++) {
        const double *q = ulna_clip_frame(&clip, f);
        const double *near = ulna_clip_frame(&nearest, f), *in = ulna_clip_frame(&inside, f);
        assert_true(fabs(near[0] - q[0]) + fabs(near[1] - q[1]) + fabs(near[2] - q[2]) < 1e-12);
        assert_true(fabs(in[0] - q[0] - PI) + fabs(in[1] + q[1] - PI) + fabs(in[2] - q[2] + PI) < 1e-12);
    }
    ulna_clip_release(&clip);
    ulna_clip_release(&there);
    ulna_clip_release(&nearest);
    ulna_clip_release(&inside);
    ulna_model_destroy(unlimited);
    ulna_model_destroy(limited);
    ulna_model_destroy(ball);
}

/* ---- refusals ---- */

static void skeletons_that_differ_are_refused(void **state)
{
    (void)state;
    ulna_error error;
    ulna_joint ball = ulna_joint_ball(), hinge = ulna_joint_revolute(0, 0, 1);
    ulna_model *two = chain_of(&ball, 2), *three = chain_of(&ball, 3), *hinges = chain_of(&hinge, 2), *moved, *renamed;
    ulna_builder *builder;
    assert_int_equal(ulna_builder_from_model(two, NULL, &builder, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_placement(builder, 1, (double[]){0.1, 0.2, 0.3001}, NULL, NULL), ULNA_OK);
    moved = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    builder = ulna_test_builder();
    ulna_test_add(builder, "b1", ulna_test_add(builder, "a0", ULNA_NONE));
    renamed = ulna_test_build(builder);
    ulna_builder_destroy(builder);

    ulna_test_rng rng = ulna_test_rng_seed(1);
    ulna_clip clip = random_clip(&rng, two, 3), result = ulna_clip_empty(NULL);
    clip.first_frame = 10;
    assert_says(ulna_clip_convert(two, &clip, three, &result, &error), ULNA_ERR_MODEL, "2 bodies", "3");
    assert_says(ulna_clip_convert(two, &clip, moved, &result, &error), ULNA_ERR_MODEL, "\"b1\"",
                "another position or orientation");
    assert_says(ulna_clip_convert(two, &clip, renamed, &result, &error), ULNA_ERR_MODEL, "\"b0\"", "\"a0\"");
    assert_says(ulna_clip_convert(two, &clip, hinges, &clip, &error), ULNA_ERR_MODEL, "frame 10", "\"b0\"");
    assert_int_equal(clip.coordinate_count, 8); /* as it was */
    assert_says(ulna_clip_convert(three, &clip, three, &result, &error), ULNA_ERR_ARGUMENT, "8 coordinates", "12");
    assert_says(ulna_clip_convert(NULL, &clip, two, &result, &error), ULNA_ERR_ARGUMENT, "needed");
    ulna_clip_frame(&clip, 1)[5] = NAN;
    assert_says(ulna_clip_convert(two, &clip, two, &result, &error), ULNA_ERR_NUMBER, "frame 11", "coordinate 5");
    assert_int_equal(result.frame_count, 0);

    ulna_model *model;
    int dropped;
    assert_says(ulna_model_with_balls(two, (ulna_ball)4, NULL, &model, &dropped, &error), ULNA_ERR_ARGUMENT, "kind 4");
    assert_says(ulna_model_with_balls(NULL, ULNA_BALL_EULER, NULL, &model, NULL, &error), ULNA_ERR_ARGUMENT, "model");
    assert_says(ulna_model_with_balls(two, ULNA_BALL_EULER, NULL, NULL, NULL, &error), ULNA_ERR_ARGUMENT, "pointer");
    ulna_clip_release(&clip);
    ulna_model_destroy(two);
    ulna_model_destroy(three);
    ulna_model_destroy(hinges);
    ulna_model_destroy(moved);
    ulna_model_destroy(renamed);
}

static void a_clip_can_be_converted_in_place(void **state)
{
    (void)state;
    ulna_joint ball = ulna_joint_ball();
    ulna_model *model = chain_of(&ball, 3), *other = with_balls(model, ULNA_BALL_EULER, NULL);
    ulna_test_rng rng = ulna_test_rng_seed(2);
    ulna_clip clip = random_clip(&rng, model, 3), copy = converted(model, &clip, model);
    assert_int_equal(ulna_clip_convert(model, &clip, other, &clip, NULL), ULNA_OK);
    assert_int_equal(clip.coordinate_count, 9);
    assert_true(pose_difference(model, &copy, other, &clip) < 1e-12);
    ulna_clip_release(&clip);
    ulna_clip_release(&copy);
    ulna_model_destroy(model);
    ulna_model_destroy(other);
}

static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    ulna_joint ball = ulna_joint_ball();
    ulna_model *model = chain_of(&ball, 3), *other = with_balls(model, ULNA_BALL_EULER, NULL);
    ulna_test_rng rng = ulna_test_rng_seed(2);
    ulna_clip clip = random_clip(&rng, model, 3);
    for (int what = 0; what < 2; what++)
        for (long fail = 0;; fail++) {
            ulna_test_memory memory = {.fail_at = fail};
            ulna_allocator allocator = ulna_test_allocator(&memory);
            ulna_clip result = ulna_clip_empty(&allocator);
            ulna_model *made = NULL;
            ulna_error error;
            ulna_status status = what ? ulna_clip_convert(model, &clip, other, &result, &error)
                                      : ulna_model_with_balls(model, ULNA_BALL_EXPMAP, &allocator, &made, NULL, &error);
            ulna_model_destroy(made);
            ulna_clip_release(&result);
            ulna_test_memory_check(&memory);
            if (!memory.failed) {
                assert_int_equal(status, ULNA_OK);
                break;
            }
            assert_int_equal(status, ULNA_ERR_MEMORY);
            assert_int_equal(error.status, ULNA_ERR_MEMORY);
        }
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
    ulna_model_destroy(other);
}

/* ---- limits --------------------------------------------------------------------------------------------------------------- */

/* How many of the joint's coordinates are at a limit; -1 if one is beyond. */
static int at_limits(const ulna_model *model, int body, const double *q)
{
    int first, count = 0;
    ulna_model_body_coordinates(model, body, &first);
    for (int d = 0; d < ulna_model_dof_count(model); d++) {
        int c = ulna_model_dof_coordinate(model, d);
        double low = ulna_model_lower(model)[d], high = ulna_model_upper(model)[d];
        if (ulna_model_dof_body(model, d) != body)
            continue;
        if (q[c] < low - 1e-9 || q[c] > high + 1e-9)
            return -1;
        count += fabs(q[c] - low) < 1e-9 || fabs(q[c] - high) < 1e-9;
    }
    return count;
}

/* One angle at a limit is the swing or the twist at a limit; twice as much is beyond. */
static void limits_become_those_of_swing_and_twist(void **state)
{
    (void)state;
    static const char *const bodies[] = {"left_upper_arm", "right_upper_arm", "left_thigh",
                                         "right_thigh",    "lower_spine",     "middle_spine"};
    ulna_model *model;
    int dropped;
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    ulna_model *turned = with_balls(model, ULNA_BALL_SWING_TWIST, &dropped);
    assert_int_equal(dropped, 0);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (int k = 0; k < 6; k++) {
            int body = ulna_model_find_body(model, bodies[i]), first;
            ulna_clip clip = ulna_clip_empty(NULL), other = ulna_clip_empty(NULL);
            assert_int_equal(ulna_clip_resize(&clip, ulna_model_coordinate_count(model), 2), ULNA_OK);
            ulna_model_body_coordinates(model, body, &first);
            for (int d = 0; d < ulna_model_dof_count(model); d++)
                if (ulna_model_dof_coordinate(model, d) == first + k / 2) {
                    double limit = k % 2 ? ulna_model_upper(model)[d] : ulna_model_lower(model)[d];
                    clip.q[first + k / 2] = limit;
                    ulna_clip_frame(&clip, 1)[first + k / 2] = 1.2 * limit;
                }
            assert_int_equal(ulna_clip_convert(model, &clip, turned, &other, NULL), ULNA_OK);
            assert_int_equal(at_limits(turned, body, other.q), 1);
            assert_int_equal(at_limits(turned, body, ulna_clip_frame(&other, 1)), -1);
            ulna_clip_release(&clip);
            ulna_clip_release(&other);
        }
    ulna_model_destroy(turned);
    ulna_model_destroy(model);
}

/* The rest pose is inside on any skeleton, and random poses inside the new limits are read back as they are. */
static void rest_is_inside_the_limits_of_swing_and_twist(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(41);
    for (int round = 0; round < 200; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        ulna_model *model = ulna_test_random_tree(&rng, &options);
        int dropped;
        ulna_model *turned = with_balls(model, ULNA_BALL_SWING_TWIST, &dropped);
        assert_true(dropped >= 0);
        for (int b = 0; b < ulna_model_body_count(turned); b++)
            assert_true(at_limits(turned, b, ulna_model_rest(turned)) >= 0);
        ulna_model_destroy(turned);
        ulna_model_destroy(model);
    }
}

/* In a unit 2^power as large: the same coordinates, bit for bit. */
static void compare_scaled(const ulna_model *model, const ulna_clip *clip, ulna_ball ball, int power)
{
    double factor = ldexp(1, power);
    ulna_model *scaled = ulna_test_scaled_model(model, factor);
    ulna_model *to = with_balls(model, ball, NULL), *scaled_to = with_balls(scaled, ball, NULL);
    ulna_clip moved = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&moved, clip->coordinate_count, clip->frame_count), ULNA_OK);
    for (int f = 0; f < clip->frame_count && clip->coordinate_count; f++)
        ulna_test_scale_q(model, ulna_clip_frame(clip, f), factor, ulna_clip_frame(&moved, f));
    ulna_clip one = converted(model, clip, to), other = converted(scaled, &moved, scaled_to);
    assert_int_equal(ulna_clip_check(to, &one).outside, ulna_clip_check(scaled_to, &other).outside);
    for (int f = 0; f < clip->frame_count && one.coordinate_count; f++) {
        ulna_test_scale_q(to, ulna_clip_frame(&one, f), factor, ulna_clip_frame(&one, f));
        assert_memory_equal(ulna_clip_frame(&one, f), ulna_clip_frame(&other, f),
                            (size_t)one.coordinate_count * sizeof(double));
    }
    ulna_clip_release(&one);
    ulna_clip_release(&other);
    ulna_clip_release(&moved);
    ulna_model_destroy(to);
    ulna_model_destroy(scaled_to);
    ulna_model_destroy(scaled);
}

static void conversion_in_any_unit(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(91);
    for (int round = 0; round < 60; round++) {
        ulna_model *model = ulna_test_random_tree(&rng, NULL);
        ulna_clip clip = random_clip(&rng, model, 4);
        for (size_t b = 0; b < sizeof balls / sizeof *balls; b++)
            for (int power = -40; power <= 40; power += 20)
                compare_scaled(model, &clip, balls[b], power);
        ulna_clip_release(&clip);
        ulna_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_become_those_of_swing_and_twist),
        cmocka_unit_test(rest_is_inside_the_limits_of_swing_and_twist),
        cmocka_unit_test(joints_of_three_turns_become_the_wanted_kind),
        cmocka_unit_test(a_swing_twist_twists_about_the_bone),
        cmocka_unit_test(limits_stay_where_they_mean_the_same),
        cmocka_unit_test(the_rest_pose_stays),
        cmocka_unit_test(poses_survive_every_kind_and_back),
        cmocka_unit_test(joints_that_stay_keep_their_bits),
        cmocka_unit_test(smooth_motions_give_angles_without_jumps),
        cmocka_unit_test(angles_pass_through_gimbal_lock),
        cmocka_unit_test(resting_in_gimbal_lock_stays_still),
        cmocka_unit_test(unwinding_undoes_what_does_not_move),
        cmocka_unit_test(unwinding_stays_inside_limits),
        cmocka_unit_test(the_first_frame_prefers_the_limits),
        cmocka_unit_test(skeletons_that_differ_are_refused),
        cmocka_unit_test(a_clip_can_be_converted_in_place),
        cmocka_unit_test(running_out_of_memory_is_told),
        cmocka_unit_test(conversion_in_any_unit),
    };
    return cmocka_run_group_tests_name("convert", tests, NULL, NULL);
}
