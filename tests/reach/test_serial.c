/* Serial chains: canonical form, the step, and kernels that agree. Solving: test_serial_solve.c. */
#include "support_serial.h"

#include "math/math3.h"

#include <math.h>
#include <string.h>

/* ---- canonical form ---------------------------------------------------------------------------------------------- */

static void check_forward(ulna_test_serial *s, ulna_test_rng *rng)
{
    for (int k = 0; k < 20; k++) {
        double q[ULNA_SERIAL_MAX], position, rotation;
        ulna_test_serial_q(s, rng, q);
        ulna_serial_goal goal = ulna_test_serial_goal_at(s, q);
        ulna_serial_error(s->chain, &goal, q, &position, &rotation);
        assert_true(position < 1e-12 && rotation < 1e-12);

        ulna_serial_target target;
        double x[ULNA_SERIAL_MAX][ULNA_SERIAL_LANES] = {{0}}, frame[12][ULNA_SERIAL_LANES];
        ulna_serial_target_set(s->chain, &goal, &target);
        for (int i = 0; i < s->n; i++)
            for (int l = 0; l < s->chain->kernel->lanes; l++)
                x[i][l] = q[i] / s->chain->unit[i];
        s->chain->kernel->forward(s->chain, x, frame);
        for (int r = 0; r < 12; r++)
            for (int l = 0; l < s->chain->kernel->lanes; l++)
                assert_true(fabs(frame[r][l] - target.column[r / 3][r % 3]) < 1e-13);
    }
}

static void test_forward_of_robots(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(1);
    for (int k = 0; k < ULNA_TEST_SERIAL_KERNELS; k++) {
        if (!ulna_serial_kernel_find(ulna_test_serial_kernels[k]))
            continue;
        for (int r = 0; r < ulna_test_robot_count + 40; r++) {
            const ulna_test_robot robot = r < ulna_test_robot_count
                                              ? ulna_test_robots[r]
                                              : ulna_test_random_robot(&rng, 1 + r % ULNA_SERIAL_MAX, 0.3);
            ulna_test_serial s = ulna_test_serial_robot(&robot, ulna_test_serial_kernels[k]);
            check_forward(&s, &rng);
            ulna_test_serial_release(&s);
        }
    }
}

/* Errors of every aim, near the goal and far from it, as the library's own forward kinematics has them. */
static void test_errors(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(21);
    for (int r = 0; r < 120; r++) {
        const ulna_test_robot robot = r < ulna_test_robot_count
                                          ? ulna_test_robots[r]
                                          : ulna_test_random_robot(&rng, 1 + r % ULNA_SERIAL_MAX, 0.3);
        ulna_test_serial s = ulna_test_serial_robot(&robot, ulna_test_serial_kernels[r % ULNA_TEST_SERIAL_KERNELS]);
        for (int k = 0; k < 40; k++) {
            double q[ULNA_SERIAL_MAX], position, rotation, expected[2];
            ulna_test_serial_q(&s, &rng, q);
            ulna_serial_goal goal = ulna_test_serial_goal(&s, &rng, (ulna_serial_aim)(k % 4), q);
            if (goal.aim == ULNA_SERIAL_SPIN && k % 8 < 4) { /* about the last joint: see fold_spin */
                const double along[3] = {0, 0, k % 3 - 1.0}, out[3] = {0, 0, k % 16 < 8 ? 1 : -1};
                ulna_copy3(along, goal.point);
                ulna_copy3(out, goal.axis);
                ulna_test_serial_place(&s, q, goal.point, goal.position, goal.rotation);
            }
            const int magnitude = k / 4;
            const double size = pow(10, -magnitude);
            for (int i = 0; i < s.n; i++)
                q[i] += size * ulna_test_rng_uniform(&rng, -1, 1);
            ulna_serial_error(s.chain, &goal, q, &position, &rotation);
            ulna_test_serial_errors(&s, &goal, q, &expected[0], &expected[1]);
            assert_true(fabs(position - expected[0]) < 1e-13 * (10 + s.chain->length));
            assert_true(fabs(rotation - expected[1]) < 1e-12);
        }
        ulna_test_serial_release(&s);
    }
}

/* Neighbouring axes that are nearly parallel: their common normal would be a kilometre away. */
static void test_forward_nearly_parallel(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(2);
    for (int r = 0; r < 20; r++) {
        ulna_test_robot robot = ulna_test_random_robot(&rng, 7, 0.1);
        robot.joint[2].alpha = ulna_test_rng_uniform(&rng, -1, 1) * pow(10, -r);
        robot.joint[4].alpha = ULNA_PI + ulna_test_rng_uniform(&rng, -1, 1) * pow(10, -r);
        ulna_test_serial s = ulna_test_serial_robot(&robot, NULL);
        check_forward(&s, &rng);
        ulna_test_serial_release(&s);
    }
}

/* From one hand to another: up through joints that are then inverted, and down; joints of several DOFs, reversed ones. */
static void test_forward_between_branches(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(3);
    static const char *const order[] = {"ZYX", "XZX", "TxRy", "Rz"};
    ulna_builder *builder;
    ulna_error error;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    int body, parent = ULNA_NONE, left = 0, right = 0;
    for (int i = 0; i < 7; i++) {
        char name[8];
        snprintf(name, sizeof name, "b%d", i);
        if (i == 4)
            parent = 1; /* the other branch */
        assert_int_equal(ulna_builder_add_body(builder, name, parent, &body, &error), ULNA_OK);
        ulna_joint joint = i < 2 ? ulna_joint_euler(order[i]) : ulna_joint_sequence(order[2 + i % 2]);
        joint.reversed = i == 3;
        assert_int_equal(ulna_builder_set_joint(builder, body, &joint, &error), ULNA_OK);
        double position[3], w[3], rotation[9];
        ulna_test_rng_fill(&rng, position, 3, -0.3, 0.3);
        ulna_test_rng_fill(&rng, w, 3, -2, 2);
        ulna_exp(w, rotation);
        assert_int_equal(ulna_builder_set_placement(builder, body, position, rotation, &error), ULNA_OK);
        ulna_test_rng_fill(&rng, position, 3, -0.3, 0.3);
        assert_int_equal(ulna_builder_set_offset(builder, body, position, rotation, &error), ULNA_OK);
        const int dofs = i < 2 ? 3 : 1 + (i % 2 == 0);
        for (int k = 0; k < dofs; k++)
            assert_int_equal(ulna_builder_set_limits(builder, body, k, -1.2, 1.3, &error), ULNA_OK);
        parent = body;
        if (i == 3)
            left = body;
        if (i == 6)
            right = body;
    }
    const int pairs[][2] = {{ULNA_NONE, left}, {left, right}, {right, left}, {1, right}, {right, 0}};
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        ulna_model *model;
        assert_int_equal(ulna_builder_build(builder, NULL, &model, &error), ULNA_OK);
        ulna_test_serial s = ulna_test_serial_make(model, pairs[k][0], pairs[k][1], NULL);
        check_forward(&s, &rng);
        ulna_test_serial_release(&s);
    }
    ulna_builder_destroy(builder);
}

static void test_refused(void **state)
{
    (void)state;
    ulna_builder *builder;
    ulna_error error;
    ulna_model *model;
    ulna_serial *chain;
    int root, tip;
    const ulna_joint ball = ulna_joint_ball();
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    assert_int_equal(ulna_builder_add_body(builder, "root", ULNA_NONE, &root, &error), ULNA_OK);
    assert_int_equal(ulna_builder_add_body(builder, "hand", root, &tip, &error), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, NULL, &model, &error), ULNA_OK);
    assert_int_equal(ulna_serial_create(model, ULNA_NONE, tip, NULL, NULL, NULL, &chain, &error), ULNA_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "no joint moves 'hand'"));
    assert_int_equal(ulna_serial_create(model, ULNA_NONE, 7, NULL, NULL, NULL, &chain, &error), ULNA_ERR_ARGUMENT);
    ulna_model_destroy(model);
    assert_int_equal(ulna_builder_set_joint(builder, tip, &ball, &error), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, NULL, &model, &error), ULNA_OK);
    assert_int_equal(ulna_serial_create(model, ULNA_NONE, tip, NULL, NULL, NULL, &chain, &error), ULNA_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "'hand'"));
    assert_null(chain);
    ulna_model_destroy(model);
    ulna_builder_destroy(builder);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    ulna_model *model = ulna_test_robot_model(&ulna_test_robots[0]);
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_serial *chain;
        ulna_error error;
        const ulna_status status = ulna_serial_create(model, ULNA_NONE, 6, NULL, NULL, &allocator, &chain, &error);
        if (status == ULNA_OK)
            ulna_serial_destroy(chain);
        ulna_test_memory_check(&memory);
        if (!memory.failed)
            break;
        assert_int_equal(status, ULNA_ERR_MEMORY);
        assert_null(chain);
    }
    ulna_model_destroy(model);
}

/* ---- the step ------------------------------------------------------------------------------------------------------- */

static void set_lanes(const ulna_test_serial *s, const ulna_serial_target *target, const double *q, double damping,
                      ulna_serial_lanes *lanes)
{
    memset(lanes, 0, sizeof *lanes);
    ulna_serial_lanes_set(s->chain, s->chain->kernel, target, lanes);
    for (int l = 0; l < ULNA_SERIAL_LANES; l++) {
        lanes->damping[l] = damping;
        for (int i = 0; i < s->n; i++)
            lanes->q[i][l] = q[i] / s->chain->unit[i];
    }
}

/* Without damping and inside the limits a step is Newton's: from an error of 1e-3 to one of 1e-6. This is so only if error and Jacobian
 * belong together. A bound that certifies must hold. */
static void test_step_is_newton(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(4);
    int certified = 0, checked = 0;
    for (int r = 0; r < 400; r++) {
        const ulna_test_robot robot = ulna_test_random_robot(&rng, 6 + r % 3, 0.2);
        const ulna_serial_aim aim = (ulna_serial_aim)(r / 4 % 4);
        ulna_test_serial s = ulna_test_serial_robot(&robot, NULL);
        double q[ULNA_SERIAL_MAX], from[ULNA_SERIAL_MAX] = {0}, position, rotation, new_position, new_rotation;
        for (int i = 0; i < s.n; i++) {
            const double middle = robot.joint[i].slides ? 0.2 : 0, half = robot.joint[i].slides ? 0.19 : 2.5;
            q[i] = middle + ulna_test_rng_uniform(&rng, -half, half);
            from[i] = q[i] + ulna_test_rng_uniform(&rng, -1e-3, 1e-3);
        }
        ulna_serial_goal goal = ulna_test_serial_goal(&s, &rng, aim, q);
        ulna_serial_target target;
        ulna_serial_lanes lanes;
        ulna_serial_target_set(s.chain, &goal, &target);
        set_lanes(&s, &target, from, 0, &lanes);
        s.chain->kernel->step(s.chain, &lanes);
        ulna_test_serial_errors(&s, &goal, from, &position, &rotation);
        double largest = 0;
        for (int i = 0; i < s.n; i++) {
            const double x = lanes.q[i][0] * s.chain->unit[i];
            largest = fmax(largest, fabs(x - from[i]));
            from[i] = x;
        }
        ulna_test_serial_errors(&s, &goal, from, &new_position, &new_rotation);
        if (largest < 0.02) { /* far from a singularity */
            const double before = position + rotation, room = 1e-9 + 10 * (before * before + largest * largest);
            if (!(new_position + new_rotation < room))
                fail_msg("aim %d: from %g and %g to %g and %g", aim, position, rotation, new_position, new_rotation);
            checked++;
        }
        if (lanes.certified & 1) {
            ulna_test_serial_assert_solution(&s, &goal, from);
            certified++;
        }
        ulna_test_serial_release(&s);
    }
    assert_true(checked > 300);
    assert_true(certified > 20);
}

/* The same step by all kernels, in every lane, free and at limits. */
static void test_kernels_agree(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(5);
    for (int r = 0; r < 200; r++) {
        const ulna_test_robot robot = r < ulna_test_robot_count
                                          ? ulna_test_robots[r]
                                          : ulna_test_random_robot(&rng, 1 + r % ULNA_SERIAL_MAX, 0.3);
        const ulna_serial_aim aim = (ulna_serial_aim)(r % 4);
        const uint64_t seed = ulna_test_rng_next(&rng);
        double first[ULNA_SERIAL_MAX] = {0};
        for (int k = 0; k < ULNA_TEST_SERIAL_KERNELS; k++) {
            if (!ulna_serial_kernel_find(ulna_test_serial_kernels[k]))
                continue;
            ulna_test_rng same = ulna_test_rng_seed(seed);
            ulna_test_serial s = ulna_test_serial_robot(&robot, ulna_test_serial_kernels[k]);
            double q[ULNA_SERIAL_MAX], from[ULNA_SERIAL_MAX];
            ulna_test_serial_q(&s, &same, q);
            ulna_test_serial_q(&s, &same, from);
            if (r % 3 == 0)
                from[0] = ulna_serial_upper(s.chain)[0];
            ulna_serial_goal goal = ulna_test_serial_goal(&s, &same, aim, q);
            ulna_serial_target target;
            ulna_serial_lanes lanes;
            ulna_serial_target_set(s.chain, &goal, &target);
            set_lanes(&s, &target, from, 0.5, &lanes);
            s.chain->kernel->step(s.chain, &lanes);
            for (int i = 0; i < s.n; i++)
                for (int l = 0; l < s.chain->kernel->lanes; l++) {
                    if (k == 0)
                        first[i] = lanes.q[i][0];
                    if (!(fabs(lanes.q[i][l] - first[i]) < 1e-7))
                        fail_msg("%s, aim %d, joint %d of %d, lane %d: %.12g, not %.12g", ulna_test_serial_kernels[k],
                                 aim, i, s.n, l, lanes.q[i][l], first[i]);
                }
            ulna_test_serial_release(&s);
        }
    }
}

/* Joints with one axis, and a chain in a plane: the pose changes in fewer ways than there are joints. */
static void test_rank(void **state)
{
    (void)state;
    static const struct {
        int joints, same, planar, rank;
    } cases[] = {{6, 0, 0, 6}, {7, 0, 0, 6}, {6, 1, 0, 5}, {7, 1, 0, 6}, {4, 0, 1, 3}, {3, 0, 0, 3}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        ulna_builder *builder;
        ulna_model *model;
        ulna_error error;
        const ulna_joint hinge = ulna_joint_revolute(0, 0, 1);
        assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
        for (int k = 0; k < cases[c].joints; k++) {
            char name[16];
            const int is_same = cases[c].same && k == 2; /* the next joint has the same axis */
            const double angle = is_same || cases[c].planar ? 0 : 1.2 + 0.3 * k;
            const double position[3] = {is_same ? 0 : 0.3, 0, cases[c].planar ? 0 : 0.1 + 0.02 * k};
            const double rotation[9] = {1, 0, 0, 0, cos(angle), -sin(angle), 0, sin(angle), cos(angle)};
            snprintf(name, sizeof name, "link%d", k);
            ulna_builder_add_body(builder, name, k - 1, NULL, NULL);
            ulna_builder_set_joint(builder, k, &hinge, NULL);
            ulna_builder_set_limits(builder, k, 0, -2, 2, NULL);
            ulna_builder_set_offset(builder, k, position, rotation, NULL);
        }
        assert_int_equal(ulna_builder_build(builder, NULL, &model, &error), ULNA_OK);
        ulna_builder_destroy(builder);
        ulna_test_serial s = ulna_test_serial_make(model, ULNA_NONE, cases[c].joints - 1, NULL);
        assert_int_equal(s.chain->rank, cases[c].rank);
        ulna_test_serial_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_forward_of_robots),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_forward_nearly_parallel),
        cmocka_unit_test(test_forward_between_branches),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_step_is_newton),
        cmocka_unit_test(test_kernels_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
