/*
 * One skeleton against another: poses transferred after re-rooting, to another connectivity, to other kinds of joints;
 * and the derivative by bone lengths. First, that the random trees cover what they claim to cover.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_tree.h"
#include "ulna/sample.h"

static ulna_test_scene placed(ulna_model *model, const double *q)
{
    ulna_test_scene s = {.model = model};
    s.nb = ulna_model_body_count(model);
    s.nv = ulna_model_dof_count(model);
    s.nq = ulna_model_coordinate_count(model);
    s.q = ulna_test_numbers(s.nq);
    assert_int_equal(ulna_pose_create(model, NULL, &s.pose, NULL), ULNA_OK);
    if (q) {
        memcpy(s.q, q, (size_t)s.nq * sizeof *q);
        assert_int_equal(ulna_pose_forward(s.pose, q), ULNA_OK);
    }
    return s;
}

/* The largest distance between bodies of the same name: at the origins and at unit length along the axes. */
static double pose_distance(const ulna_test_scene *a, const ulna_test_scene *b)
{
    double result = 0;
    for (int body = 0; body < a->nb; body++) {
        int other = ulna_model_find_body(b->model, ulna_model_body_name(a->model, body));
        double x[2][3], r[2][9];
        if (other < 0)
            continue;
        assert_int_equal(ulna_pose_body(a->pose, body, x[0], r[0]), ULNA_OK);
        assert_int_equal(ulna_pose_body(b->pose, other, x[1], r[1]), ULNA_OK);
        for (int axis = -1; axis < 3; axis++) {
            double square = 0;
            for (int i = 0; i < 3; i++) {
                double apart = x[0][i] - x[1][i];
                if (axis >= 0)
                    apart += r[0][3 * i + axis] - r[1][3 * i + axis];
                square += apart * apart;
            }
            result = fmax(result, sqrt(square));
        }
    }
    return result;
}

/* From one to the other and back; each time all bodies stay where they are. */
static void there_and_back(const ulna_test_scene *from, ulna_test_scene *to, double tolerance)
{
    double error = NAN;
    assert_int_equal(ulna_pose_transfer(from->pose, to->pose, to->q, &error), ULNA_OK);
    if (!(error < tolerance) || !(pose_distance(from, to) < tolerance))
        fail_msg("off by %g, said %g", pose_distance(from, to), error);

    /* to_pose is placed at the result */
    ulna_test_scene again = placed(to->model, to->q);
    assert_true(pose_distance(&again, to) == 0);
    ulna_pose_destroy(again.pose);
    free(again.q);

    ulna_test_scene back = placed(from->model, NULL);
    assert_int_equal(ulna_pose_transfer(to->pose, back.pose, back.q, &error), ULNA_OK);
    assert_true(error < tolerance);
    assert_true(pose_distance(from, &back) < tolerance);
    ulna_pose_destroy(back.pose);
    free(back.q);
}

/* ---- Another root ---- */

static void after_rerooting(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(301);
    for (int round = 0; round < 1000; round++) {
        /* The old root must be able to go where it is asked to: six degrees of freedom. */
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.root = round % 2 ? ULNA_JOINT_FREE : ULNA_JOINT_FREE_EULER;
        options.limits = 0;
        ulna_test_scene from = ulna_test_scene_open(&rng, &options);
        ulna_model *model = NULL;
        ulna_error error;
        int root = ulna_test_rng_index(&rng, from.nb);
        if (ulna_model_reroot(from.model, root, NULL, &model, &error) != ULNA_OK)
            fail_msg("reroot: %s", error.message);
        assert_string_equal(ulna_model_body_name(model, 0), ulna_model_body_name(from.model, root));
        ulna_test_scene to = placed(model, NULL);
        there_and_back(&from, &to, 1e-9);
        ulna_test_scene_close(&to);
        ulna_test_scene_close(&from);
    }
}

/* ---- Limits ---- */

/* How far q is outside, at most. */
static double outside(const ulna_model *model, const double *q)
{
    double largest = 0;
    for (int dof = 0; dof < ulna_model_dof_count(model); dof++) {
        int c = ulna_model_dof_coordinate(model, dof);
        if (c >= 0)
            largest = fmax(largest, fmax(ulna_model_lower(model)[dof] - q[c], q[c] - ulna_model_upper(model)[dof]));
    }
    return largest;
}

/* Coordinates on a limit here and there: where solvers like to stop, and where rounding steps over. */
static void onto_limits(ulna_test_rng *rng, const ulna_model *model, double *q)
{
    for (int dof = 0; dof < ulna_model_dof_count(model); dof++) {
        double limit = ulna_test_rng_index(rng, 2) ? ulna_model_lower(model)[dof] : ulna_model_upper(model)[dof];
        if (isfinite(limit) && ulna_test_rng_index(rng, 8) == 0)
            q[ulna_model_dof_coordinate(model, dof)] = limit;
    }
}

/* Inside before, inside after, there and back. Rotation vectors are up to 6 rad long: the nearest answer is another. */
static void limits_hold_after_rerooting(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(307);
    for (int round = 0; round < 2000; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.limits = 0.6;
        ulna_test_scene from = ulna_test_scene_open(&rng, &options);
        if (round % 2) {
            onto_limits(&rng, from.model, from.q);
            assert_int_equal(ulna_pose_forward(from.pose, from.q), ULNA_OK);
        }
        assert_true(outside(from.model, from.q) == 0);
        ulna_model *model;
        assert_int_equal(ulna_model_reroot(from.model, ulna_test_rng_index(&rng, from.nb), NULL, &model, NULL),
                         ULNA_OK);
        ulna_test_scene to = placed(model, NULL), back = placed(from.model, NULL);
        double error;
        assert_int_equal(ulna_pose_transfer(from.pose, to.pose, to.q, &error), ULNA_OK);
        assert_true(error < 1e-9 && pose_distance(&from, &to) < 1e-9);
        assert_true(outside(to.model, to.q) == 0);
        assert_int_equal(ulna_pose_transfer(to.pose, back.pose, back.q, &error), ULNA_OK);
        assert_true(error < 1e-9 && pose_distance(&from, &back) < 1e-9);
        assert_true(outside(back.model, back.q) == 0);
        ulna_pose_destroy(back.pose);
        free(back.q);
        ulna_test_scene_close(&to);
        ulna_test_scene_close(&from);
    }
}

/* One joint with limits that one answer satisfies; the one nearest to zero, from where it is read, is another. */
static void the_answer_inside_is_taken(void **state)
{
    (void)state;
    static const struct {
        ulna_joint_type type;
        const char *order;
        double lower[6], upper[6], q[6];
    } cases[] = {
        {ULNA_JOINT_EULER, "ZYX", {-4, 1.7, -4}, {4, 3, 4}, {2.9, 2, 2.8}},    /* the other branch */
        {ULNA_JOINT_EULER, "XZX", {-4, -3, -4}, {4, -0.1, 4}, {2.9, -1, 2.8}}, /* of proper Euler angles */
        {ULNA_JOINT_EULER, "YZX", {7, 1.7, -11}, {11, 3, -7}, {9, 2, -9}},     /* and whole turns */
        {ULNA_JOINT_EULER, "X", {7, 0, 0}, {9, 0, 0}, {8, 0, 0}},
        {ULNA_JOINT_EXPMAP, "", {3, -9, -9}, {9, 9, 9}, {4, 1, 2}}, /* whole turns of a vector */
        /* slides between the turns: against the axes of the turns, along them */
        {ULNA_JOINT_SEQUENCE, "RzTxRyTyRxTz", {-4, -2, 1.7, -2, -4, -2}, {4, 2, 3, 2, 4, 2}, {2.9, 1, 2, -1, 2.8, 1}},
        {ULNA_JOINT_SEQUENCE, "RzTzRyTxRxTy", {-4, -2, 1.7, -2, -4, -2}, {4, 2, 3, 2, 4, 2}, {2.9, 1, 2, -1, 2.8, 1}},
        {ULNA_JOINT_SEQUENCE, "RzTxRxTyRzTz", {-4, -2, -3, -2, -4, -2}, {4, 2, -1, 2, 4, 2}, {2.9, 1, -2, -1, 2.8, 1}},
        {ULNA_JOINT_SEQUENCE, "RzTzRxTyRzTx", {-4, -2, -3, -2, -4, -2}, {4, 2, -1, 2, 4, 2}, {2.9, 1, -2, -1, 2.8, 1}},
    };
    for (size_t n = 0; n < 2 * sizeof cases / sizeof *cases; n++) {
        size_t at = n / 2;
        ulna_joint joint = ulna_joint_sequence(cases[at].order), still = ulna_joint_fixed();
        joint.type = cases[at].type;
        joint.reversed = n % 2 == 1;
        ulna_builder *builder;
        ulna_model *models[2];
        int dofs = ulna_joint_dof_count(&joint, NULL);
        double q[6], lower[6], upper[6];
        for (int k = 0; k < dofs; k++) { /* a reversed joint lists its segments backwards */
            int source = joint.reversed && joint.type != ULNA_JOINT_EXPMAP ? dofs - 1 - k : k;
            q[k] = cases[at].q[source];
            lower[k] = cases[at].lower[source];
            upper[k] = cases[at].upper[source];
        }
        assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
        ulna_builder_add_body(builder, "base", ULNA_NONE, NULL, NULL);
        ulna_builder_add_body(builder, "tip", 0, NULL, NULL);
        ulna_builder_set_joint(builder, 0, &still, NULL);
        ulna_builder_set_joint(builder, 1, &joint, NULL);
        for (int k = 0; k < dofs; k++)
            assert_int_equal(ulna_builder_set_limits(builder, 1, k, lower[k], upper[k], NULL), ULNA_OK);
        assert_int_equal(ulna_builder_build(builder, NULL, &models[0], NULL), ULNA_OK);
        for (int k = 0; k < dofs; k++)
            ulna_builder_set_limits(builder, 1, k, -INFINITY, INFINITY, NULL);
        assert_int_equal(ulna_builder_build(builder, NULL, &models[1], NULL), ULNA_OK);
        ulna_builder_destroy(builder);

        const double zero[6] = {0};
        ulna_test_scene from = placed(models[0], q), to = placed(models[0], zero);
        ulna_test_scene unlimited = placed(models[1], zero);
        double error;
        assert_int_equal(ulna_pose_transfer(from.pose, unlimited.pose, unlimited.q, &error), ULNA_OK);
        assert_true(error < 1e-12 && outside(models[0], unlimited.q) > 0.1);
        assert_int_equal(ulna_pose_transfer(from.pose, to.pose, to.q, &error), ULNA_OK);
        assert_true(error < 1e-12);
        ulna_test_assert_close(to.q, q, dofs, 1e-12, cases[at].order);
        ulna_pose_destroy(from.pose);
        free(from.q);
        ulna_test_scene_close(&to);
        ulna_test_scene_close(&unlimited);
    }
}

/* ---- Another connectivity: every joint free, bodies hung anywhere ---- */

static ulna_joint free_joint(ulna_test_rng *rng)
{
    ulna_joint_type type = ulna_test_rng_index(rng, 2) ? ULNA_JOINT_FREE : ULNA_JOINT_FREE_EULER;
    return ulna_test_random_joint(rng, type, 0.3, 0.5);
}

static void after_reparenting(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(302);
    for (int round = 0; round < 500; round++) {
        ulna_test_scene from = ulna_test_scene_open(&rng, NULL);
        ulna_builder *builder;
        ulna_model *model;
        ulna_error error;
        assert_int_equal(ulna_builder_from_model(from.model, NULL, &builder, &error), ULNA_OK);
        for (int body = 0; body < from.nb; body++) {
            ulna_joint joint = free_joint(&rng);
            assert_int_equal(ulna_builder_set_joint(builder, body, &joint, &error), ULNA_OK);
        }
        for (int i = 0; i < 5 && from.nb > 1; i++) { /* onto a body outside its own subtree */
            int body = 1 + ulna_test_rng_index(&rng, from.nb - 1), parent = ulna_test_rng_index(&rng, body);
            ulna_status status = ulna_builder_reparent(builder, body, parent, &error);
            if (status != ULNA_OK)
                fail_msg("reparent: %s", error.message);
        }
        assert_int_equal(ulna_builder_build(builder, NULL, &model, &error), ULNA_OK);
        ulna_builder_destroy(builder);
        ulna_test_scene to = placed(model, NULL);
        double left;
        assert_int_equal(ulna_pose_transfer(from.pose, to.pose, to.q, &left), ULNA_OK);
        assert_true(left < 1e-9 && pose_distance(&from, &to) < 1e-9);
        ulna_test_scene_close(&to);
        ulna_test_scene_close(&from);
    }
}

/* ---- Other kinds of joints ---- */

static int turns_freely(const ulna_joint *joint)
{
    return joint->type == ULNA_JOINT_BALL || joint->type == ULNA_JOINT_EXPMAP ||
           joint->type == ULNA_JOINT_SWING_TWIST || (joint->type == ULNA_JOINT_EULER && strlen(joint->order) == 3);
}

static ulna_joint other_kind(ulna_test_rng *rng)
{
    static const ulna_joint_type kinds[4] = {
        ULNA_JOINT_BALL,
        ULNA_JOINT_EXPMAP,
        ULNA_JOINT_SWING_TWIST,
        ULNA_JOINT_EULER,
    };
    ulna_joint joint;
    do
        joint = ulna_test_random_joint(rng, kinds[ulna_test_rng_index(rng, 4)], 0.3, 0.5);
    while (!turns_freely(&joint));
    return joint;
}

static ulna_model *with_other_kinds(ulna_test_rng *rng, const ulna_model *model)
{
    ulna_builder *builder;
    ulna_model *result;
    assert_int_equal(ulna_builder_from_model(model, NULL, &builder, NULL), ULNA_OK);
    for (int body = 0; body < ulna_model_body_count(model); body++)
        if (turns_freely(ulna_model_body_joint(model, body))) {
            ulna_joint joint = other_kind(rng);
            assert_int_equal(ulna_builder_set_joint(builder, body, &joint, NULL), ULNA_OK);
        }
    assert_int_equal(ulna_builder_build(builder, NULL, &result, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return result;
}

static void to_other_kinds_of_joints(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(303);
    for (int round = 0; round < 1000; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.joints |= 1u << ULNA_JOINT_EULER;
        ulna_test_scene from = ulna_test_scene_open(&rng, &options);
        ulna_test_scene to = placed(with_other_kinds(&rng, from.model), NULL);
        there_and_back(&from, &to, 1e-9);
        ulna_test_scene_close(&to);
        ulna_test_scene_close(&from);
    }
}

/* Frame by frame, Euler angles follow without a jump where the ball turns on and on. */
static void angles_stay_continuous(void **state)
{
    (void)state;
    ulna_joint ball = ulna_joint_ball(), euler = ulna_joint_euler("ZYX");
    ulna_model *models[2];
    for (int i = 0; i < 2; i++) {
        ulna_builder *builder;
        assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
        ulna_builder_add_body(builder, "head", ULNA_NONE, NULL, NULL);
        ulna_builder_set_joint(builder, 0, i ? &euler : &ball, NULL);
        assert_int_equal(ulna_builder_build(builder, NULL, &models[i], NULL), ULNA_OK);
        ulna_builder_destroy(builder);
    }
    const double start[4] = {0, 0, 0, 1}, step[3] = {0.01, 0.02, 0.1};
    ulna_test_scene from = placed(models[0], start), to = placed(models[1], NULL);
    double before[3] = {0, 0, 0};
    for (int frame = 0; frame < 500; frame++) { /* fifty radians */
        ulna_model_integrate(from.model, from.q, step, from.q);
        assert_int_equal(ulna_pose_forward(from.pose, from.q), ULNA_OK);
        assert_int_equal(ulna_pose_transfer(from.pose, to.pose, to.q, NULL), ULNA_OK);
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(to.q[i] - before[i]) < 0.2);
            before[i] = to.q[i];
        }
    }
    assert_true(to.q[0] > 45);
    ulna_test_scene_close(&from);
    ulna_test_scene_close(&to);
}

/* ---- Bone lengths ---- */

/* Every column against a skeleton whose bone is longer. The dependence is linear: any step will do. */
static void check_lengths(const ulna_test_scene *s, const ulna_effector *e)
{
    double *jacobian = ulna_test_numbers(3 * s->nb), *lengths = ulna_test_numbers(s->nb), p[3], moved[3];
    const double none[3] = {0, 0, 0}, step = 0.25;
    assert_int_equal(ulna_pose_length_jacobian(s->pose, e, jacobian), ULNA_OK);
    ulna_pose_point(s->pose, e->body, e->point, p);
    for (int body = 0; body < s->nb; body++)
        lengths[body] = ulna_model_bone_length(s->model, body);
    for (int body = 0; body < s->nb; body++) {
        if (lengths[body] == 0) { /* no direction */
            assert_memory_equal(jacobian + 3 * body, none, sizeof none);
            continue;
        }
        ulna_model *longer;
        ulna_pose *pose;
        lengths[body] += step;
        assert_int_equal(ulna_model_with_lengths(s->model, lengths, NULL, &longer, NULL), ULNA_OK);
        assert_int_equal(ulna_pose_create(longer, NULL, &pose, NULL), ULNA_OK);
        assert_int_equal(ulna_pose_forward(pose, s->q), ULNA_OK);
        ulna_pose_point(pose, e->body, e->point, moved);
        for (int i = 0; i < 3; i++)
            moved[i] = (moved[i] - p[i]) / step;
        ulna_test_assert_close(jacobian + 3 * body, moved, 3, 1e-11, "length");
        lengths[body] -= step;
        ulna_pose_destroy(pose);
        ulna_model_destroy(longer);
    }
    free(jacobian);
    free(lengths);
}

/* On random trees, a fifth of whose joints are reversed, and half of which are hung from another root. */
static void lengths_against_longer_bones(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(106);
    for (int round = 0; round < 200; round++) {
        ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
        if (round % 2) {
            ulna_model *turned;
            assert_int_equal(ulna_model_reroot(s.model, ulna_test_rng_index(&rng, s.nb), NULL, &turned, NULL), ULNA_OK);
            ulna_test_scene_close(&s);
            s = placed(turned, NULL);
            ulna_test_fill_q(&rng, turned, s.q);
            assert_int_equal(ulna_pose_forward(s.pose, s.q), ULNA_OK);
        }
        ulna_effector e = ulna_test_random_effector(&rng, s.model);
        check_lengths(&s, &e);
        ulna_test_scene_close(&s);
    }
}

static void lengths_of_a_human_held_by_the_hand(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(107);
    ulna_model *human, *turned;
    assert_int_equal(ulna_sample_create("human", NULL, &human, NULL), ULNA_OK);
    int hand = ulna_model_find_body(human, "left_hand");
    assert_int_equal(ulna_model_reroot(human, hand, NULL, &turned, NULL), ULNA_OK);
    ulna_test_scene s = placed(turned, NULL);
    ulna_test_fill_q(&rng, turned, s.q);
    assert_int_equal(ulna_pose_forward(s.pose, s.q), ULNA_OK);

    /* over the whole body; no bone of the arm that re-rooting turned round is lost */
    ulna_effector e = {.body = ulna_model_find_body(turned, "right_foot"), .point = {0.01, 0.02, 0.03}};
    double *jacobian = ulna_test_numbers(3 * s.nb);
    check_lengths(&s, &e);
    assert_int_equal(ulna_pose_length_jacobian(s.pose, &e, jacobian), ULNA_OK);
    int lower_arm = ulna_model_find_body(turned, ulna_model_body_name(human, ulna_model_body_parent(human, hand)));
    double moved = ulna_test_largest(jacobian + 3 * lower_arm, 3);
    assert_true(ulna_model_bone_length(turned, lower_arm) == ulna_model_bone_length(human, hand));
    assert_true(moved > 0.5 && moved <= 1 + 1e-12);
    free(jacobian);
    ulna_test_scene_close(&s);
    ulna_model_destroy(human);
}

/* ---- What cannot be followed ---- */

/* The target has two more bodies, which stay at rest, and hinges here and there: the error left is reported. */
static void best_effort(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(304);
    int followed = 0;
    for (int round = 0; round < 300; round++) {
        ulna_test_scene from = ulna_test_scene_open(&rng, NULL);
        ulna_builder *builder;
        ulna_model *model;
        assert_int_equal(ulna_builder_from_model(from.model, NULL, &builder, NULL), ULNA_OK);
        ulna_joint hinge = ulna_joint_revolute(1, 2, 3), ball = ulna_joint_ball();
        const double rest[1] = {0.3};
        int extra, tail;
        assert_int_equal(ulna_builder_add_body(builder, "extra", 0, &extra, NULL), ULNA_OK);
        ulna_builder_set_joint(builder, extra, &hinge, NULL);
        ulna_builder_set_rest(builder, extra, rest, 1, NULL);
        assert_int_equal(ulna_builder_add_body(builder, "tail", extra, &tail, NULL), ULNA_OK);
        ulna_builder_set_joint(builder, tail, &ball, NULL);
        for (int body = 0; body < from.nb; body++)
            if (ulna_test_rng_index(&rng, 4) == 0)
                ulna_builder_set_joint(builder, body, &hinge, NULL);
        assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
        ulna_builder_destroy(builder);

        ulna_test_scene to = placed(model, NULL);
        double error;
        assert_int_equal(ulna_pose_transfer(from.pose, to.pose, to.q, &error), ULNA_OK);
        double distance = pose_distance(&from, &to);
        assert_true(fabs(error - distance) < 1e-9 * (1 + distance));
        followed += error < 1e-9;
        int first, body = ulna_model_find_body(model, "extra");
        assert_int_equal(ulna_model_body_coordinates(model, body, &first), 1);
        assert_true(to.q[first] == 0.3);
        ulna_model_body_coordinates(model, ulna_model_find_body(model, "tail"), &first);
        assert_true(to.q[first] == 0 && to.q[first + 3] == 1);
        ulna_test_scene_close(&to);
        ulna_test_scene_close(&from);
    }
    assert_true(followed > 10 && followed < 200);
}

static void errors(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(305);
    ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
    ulna_test_scene other = placed(s.model, NULL);
    assert_int_equal(ulna_pose_transfer(other.pose, s.pose, s.q, NULL), ULNA_ERR_STATE);
    assert_int_equal(ulna_pose_transfer(NULL, s.pose, s.q, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pose_transfer(s.pose, NULL, s.q, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pose_transfer(s.pose, other.pose, NULL, NULL), ULNA_ERR_ARGUMENT);
    double left;
    assert_int_equal(ulna_pose_transfer(s.pose, s.pose, s.q, &left), ULNA_OK); /* to itself */
    assert_true(left < 1e-9);
    ulna_pose_destroy(other.pose);
    free(other.q);
    ulna_test_scene_close(&s);
}

/* ---- The random trees ---- */

static void random_trees_cover_all(void **state)
{
    (void)state;
    enum { DRAWS = 400 };
    int types[ULNA_JOINT_TYPE_COUNT] = {0}, reversed[ULNA_JOINT_TYPE_COUNT] = {0};
    int euler[4 * 4 * 4] = {0}, chains = 0, stars = 0, single = 0, limited = 0, reordered = 0, turned_slides = 0;
    ulna_test_rng rng = ulna_test_rng_seed(306);
    for (int draw = 0; draw < DRAWS; draw++) {
        ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
        assert_int_equal(ulna_model_check_q(s.model, s.q, NULL), ULNA_OK);
        int deepest = 0;
        single += s.nb == 1;
        for (int body = 0; body < s.nb; body++) {
            const ulna_joint *joint = ulna_model_body_joint(s.model, body);
            types[joint->type]++;
            reversed[joint->type] += joint->reversed != 0;
            int index = 0;
            for (int i = 0; joint->type == ULNA_JOINT_EULER && joint->order[i]; i++)
                index = 4 * index + joint->order[i] - 'W';
            euler[index]++;
            if (joint->type == ULNA_JOINT_SEQUENCE)
                turned_slides += joint->order[0] == 'R' && strchr(joint->order, 'T') != NULL;
            deepest = (int)fmax(deepest, ulna_model_body_depth(s.model, body));
            char name[32];
            snprintf(name, sizeof name, "body%d", body);
            reordered += strcmp(name, ulna_model_body_name(s.model, body)) != 0;
        }
        chains += s.nb > 10 && deepest == s.nb - 1;
        stars += s.nb > 10 && deepest == 1;
        for (int dof = 0; dof < s.nv; dof++) {
            int coordinate = ulna_model_dof_coordinate(s.model, dof);
            double lower = ulna_model_lower(s.model)[dof], upper = ulna_model_upper(s.model)[dof];
            limited += isfinite(lower) || isfinite(upper);
            if (coordinate >= 0)
                assert_true(s.q[coordinate] >= lower && s.q[coordinate] <= upper);
        }
        ulna_test_scene_close(&s);
    }
    for (int type = 0; type < ULNA_JOINT_TYPE_COUNT; type++)
        assert_true(types[type] > 50 && reversed[type] > 5);
    int orders = 0;
    for (int i = 1; i < 64; i++)
        orders += euler[i] > 0;
    assert_int_equal(orders, 3 + 6 + 12);
    assert_true(chains > 20 && stars > 20 && single > 2 && limited > 100 && reordered > 100 && turned_slides > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees_cover_all),
        cmocka_unit_test(after_rerooting),
        cmocka_unit_test(limits_hold_after_rerooting),
        cmocka_unit_test(the_answer_inside_is_taken),
        cmocka_unit_test(after_reparenting),
        cmocka_unit_test(to_other_kinds_of_joints),
        cmocka_unit_test(angles_stay_continuous),
        cmocka_unit_test(best_effort),
        cmocka_unit_test(lengths_against_longer_bones),
        cmocka_unit_test(lengths_of_a_human_held_by_the_hand),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
