/* Serial chains: canonical form, kernels, any solution and near ones, checked by the library's own forward kinematics. */
#include "reach/serial_kernel.h"

#include "math/math3.h"
#include "support_robots.h"
#include "ulna/kinematics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kernel_names[] = {"portable", "avx2", "avx512"};
enum { KERNELS = 3 };

/* A model, its pose and the chain from the world to its last body. */
typedef struct setting {
    ulna_model *model;
    ulna_pose *pose;
    ulna_serial *chain;
    int n, base, tip;
    double q[32]; /* of the model */
} setting;

static setting setting_of(ulna_model *model, int base, int tip, const char *kernel)
{
    setting s = {.model = model, .base = base, .tip = tip};
    ulna_error error;
    if (ulna_serial_create_with(model, base, tip, NULL, NULL, ulna_serial_kernel_find(kernel), NULL, &s.chain,
                                &error) != ULNA_OK)
        fail_msg("%s", error.message);
    assert_int_equal(ulna_pose_create(model, NULL, &s.pose, &error), ULNA_OK);
    s.n = ulna_serial_count(s.chain);
    assert_true(ulna_model_coordinate_count(model) <= 32);
    memcpy(s.q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *s.q);
    return s;
}

static setting robot_setting(const ulna_test_robot *robot, const char *kernel)
{
    ulna_model *model = ulna_test_robot_model(robot);
    return setting_of(model, ULNA_NONE, robot->joints, kernel);
}

static void clear(setting *s)
{
    ulna_serial_destroy(s->chain);
    ulna_pose_destroy(s->pose);
    ulna_model_destroy(s->model);
}

/* Position of a point of the tip and its rotation, in the base's frame, by the library. */
static void place_tip(setting *s, const double *q, const double point[3], double position[3], double rotation[9])
{
    for (int i = 0; i < s->n; i++)
        s->q[ulna_serial_coordinates(s->chain)[i]] = q[i];
    assert_int_equal(ulna_pose_forward(s->pose, s->q), ULNA_OK);
    double at[3], R[9], moved[3], B[9], b[3];
    assert_int_equal(ulna_pose_body(s->pose, s->tip, at, R), ULNA_OK);
    ulna_rotate(R, point, moved);
    ulna_accumulate3(at, moved);
    if (s->base == ULNA_NONE) {
        ulna_copy3(moved, position);
        ulna_copy9(R, rotation);
        return;
    }
    assert_int_equal(ulna_pose_body(s->pose, s->base, b, B), ULNA_OK);
    double way[3], inverse[9];
    ulna_subtract3(moved, b, way);
    ulna_unrotate(B, way, position);
    ulna_transpose9(B, inverse);
    ulna_multiply9(inverse, R, rotation);
}

static ulna_serial_goal goal_at(setting *s, const double *q)
{
    static const double origin[3];
    double position[3], rotation[9];
    place_tip(s, q, origin, position, rotation);
    return ulna_serial_goal_pose(position, rotation);
}

static void errors_at(setting *s, const ulna_serial_goal *goal, const double *q, double *position, double *rotation)
{
    double at[3], R[9], T[9], difference[9];
    place_tip(s, q, goal->point, at, R);
    *position = goal->aim == ULNA_SERIAL_ORIENTATION ? 0 : sqrt(ulna_squared_distance(at, goal->position, 3));
    if (goal->aim == ULNA_SERIAL_SPIN) {
        double a[3], b[3], c[3];
        ulna_rotate(R, goal->axis, a);
        ulna_rotate(goal->rotation, goal->axis, b);
        ulna_cross(a, b, c);
        *rotation = atan2(ulna_norm(c), ulna_dot(a, b));
        return;
    }
    ulna_transpose9(goal->rotation, T);
    ulna_multiply9(T, R, difference);
    const double w[3] = {difference[7] - difference[5], difference[2] - difference[6], difference[3] - difference[1]};
    *rotation =
        goal->aim == ULNA_SERIAL_POSITION ? 0 : atan2(ulna_norm(w), difference[0] + difference[4] + difference[8] - 1);
}

static void random_q(const setting *s, ulna_test_rng *rng, double *q)
{
    for (int i = 0; i < s->n; i++)
        q[i] = ulna_test_rng_uniform(rng, ulna_serial_lower(s->chain)[i], ulna_serial_upper(s->chain)[i]);
}

static void noisy_q(const setting *s, ulna_test_rng *rng, const double *q, double *seed)
{
    for (int i = 0; i < s->n; i++)
        seed[i] = fmin(fmax(q[i] + 0.1 * ulna_test_rng_normal(rng), ulna_serial_lower(s->chain)[i]),
                       ulna_serial_upper(s->chain)[i]);
}

static void assert_solution(setting *s, const ulna_serial_goal *goal, const double *q)
{
    double position, rotation;
    errors_at(s, goal, q, &position, &rotation);
    if (!(position <= goal->position_tolerance && rotation <= goal->rotation_tolerance))
        fail_msg("reached, but %g m and %g rad away", position, rotation);
    for (int i = 0; i < s->n; i++)
        assert_true(q[i] >= ulna_serial_lower(s->chain)[i] && q[i] <= ulna_serial_upper(s->chain)[i]);
}

/* ---- canonical form ---------------------------------------------------------------------------------------------- */

static void check_forward(setting *s, ulna_test_rng *rng)
{
    for (int k = 0; k < 20; k++) {
        double q[ULNA_SERIAL_MAX], position, rotation;
        random_q(s, rng, q);
        ulna_serial_goal goal = goal_at(s, q);
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
    for (int k = 0; k < KERNELS; k++) {
        if (!ulna_serial_kernel_find(kernel_names[k]))
            continue;
        for (int r = 0; r < ulna_test_robot_count + 40; r++) {
            const ulna_test_robot robot = r < ulna_test_robot_count
                                              ? ulna_test_robots[r]
                                              : ulna_test_random_robot(&rng, 1 + r % ULNA_SERIAL_MAX, 0.3);
            setting s = robot_setting(&robot, kernel_names[k]);
            check_forward(&s, &rng);
            clear(&s);
        }
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
        setting s = robot_setting(&robot, NULL);
        check_forward(&s, &rng);
        clear(&s);
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
        setting s = setting_of(model, pairs[k][0], pairs[k][1], NULL);
        check_forward(&s, &rng);
        clear(&s);
    }
    ulna_builder_destroy(builder);
}

/* Joints that follow others: the same goals as the library's kinematics, with the couplings in it, and solutions that keep them. */
static void test_coupled(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(18);
    for (int r = 0; r < 24; r++) {
        const int joints = 4 + r % 6, master_is_last = r % 2;
        ulna_test_robot robot = ulna_test_random_robot(&rng, joints, 0.2);
        ulna_model *plain = ulna_test_robot_model(&robot), *model;
        ulna_builder *builder;
        ulna_error error;
        assert_int_equal(ulna_builder_from_model(plain, NULL, &builder, &error), ULNA_OK);
        ulna_model_destroy(plain);
        const int master = master_is_last ? joints - 1 : 0;
        assert_int_equal(ulna_builder_couple(builder, 1, 0, master, 0, 0.5, 0.1, &error), ULNA_OK);
        assert_int_equal(ulna_builder_couple(builder, 2, 0, master, 0, -0.4, 0.15, &error), ULNA_OK);
        assert_int_equal(ulna_builder_build(builder, NULL, &model, &error), ULNA_OK);
        ulna_builder_destroy(builder);
        setting s = setting_of(model, ULNA_NONE, joints, kernel_names[r % KERNELS]);
        int reached = 0;
        for (int k = 0; k < 50; k++) {
            double q[32], x[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
            random_q(&s, &rng, x);
            for (int i = 0; i < s.n; i++)
                q[ulna_serial_coordinates(s.chain)[i]] = x[i];
            ulna_model_couple(model, q);
            for (int i = 0; i < s.n; i++)
                x[i] = q[ulna_serial_coordinates(s.chain)[i]];
            const ulna_serial_goal goal = goal_at(&s, x);
            noisy_q(&s, &rng, x, seed);
            const int near = ulna_serial_solve_near(s.chain, &goal, seed, found).reached;
            reached += near;
            if (near) {
                assert_solution(&s, &goal, found); /* by couplings: see place_tip */
                assert_true(fabs(found[1] - 0.5 * found[master] - 0.1) < 1e-9);
                assert_true(fabs(found[2] + 0.4 * found[master] - 0.15) < 1e-9);
            }
            if (ulna_serial_solve_nearest(s.chain, &goal, seed, NULL, 1, found).reached)
                assert_solution(&s, &goal, found);
        }
        assert_true(reached >= 49);
        clear(&s);
    }
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

static ulna_serial_goal random_goal(setting *s, ulna_test_rng *rng, ulna_serial_aim aim, const double *q)
{
    ulna_serial_goal goal = goal_at(s, q);
    goal.aim = aim;
    if (aim != ULNA_SERIAL_POSE) {
        double position[3];
        ulna_test_rng_fill(rng, goal.point, 3, -0.2, 0.2);
        ulna_test_rng_fill(rng, goal.axis, 3, -1, 1);
        const double length = ulna_norm(goal.axis);
        for (int r = 0; r < 3; r++)
            goal.axis[r] /= length;
        place_tip(s, q, goal.point, position, goal.rotation);
        ulna_copy3(position, goal.position);
    }
    return goal;
}

static void set_lanes(const setting *s, const ulna_serial_target *target, const double *q, double damping,
                      ulna_serial_lanes *lanes)
{
    memset(lanes, 0, sizeof *lanes);
    ulna_serial_lanes_set(s->chain, target, lanes);
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
        setting s = robot_setting(&robot, NULL);
        double q[ULNA_SERIAL_MAX], from[ULNA_SERIAL_MAX], position, rotation, new_position, new_rotation;
        for (int i = 0; i < s.n; i++) {
            const double middle = robot.joint[i].slides ? 0.2 : 0, half = robot.joint[i].slides ? 0.19 : 2.5;
            q[i] = middle + ulna_test_rng_uniform(&rng, -half, half);
            from[i] = q[i] + ulna_test_rng_uniform(&rng, -1e-3, 1e-3);
        }
        ulna_serial_goal goal = random_goal(&s, &rng, aim, q);
        ulna_serial_target target;
        ulna_serial_lanes lanes;
        ulna_serial_target_set(s.chain, &goal, &target);
        set_lanes(&s, &target, from, 0, &lanes);
        s.chain->kernel->step(s.chain, &lanes);
        errors_at(&s, &goal, from, &position, &rotation);
        double largest = 0;
        for (int i = 0; i < s.n; i++) {
            const double x = lanes.q[i][0] * s.chain->unit[i];
            largest = fmax(largest, fabs(x - from[i]));
            from[i] = x;
        }
        errors_at(&s, &goal, from, &new_position, &new_rotation);
        if (largest < 0.02) { /* far from a singularity */
            const double before = position + rotation, room = 1e-9 + 10 * (before * before + largest * largest);
            if (!(new_position + new_rotation < room))
                fail_msg("aim %d: from %g and %g to %g and %g", aim, position, rotation, new_position, new_rotation);
            checked++;
        }
        if (lanes.certified & 1) {
            assert_solution(&s, &goal, from);
            certified++;
        }
        clear(&s);
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
        for (int k = 0; k < KERNELS; k++) {
            if (!ulna_serial_kernel_find(kernel_names[k]))
                continue;
            ulna_test_rng same = ulna_test_rng_seed(seed);
            setting s = robot_setting(&robot, kernel_names[k]);
            double q[ULNA_SERIAL_MAX], from[ULNA_SERIAL_MAX];
            random_q(&s, &same, q);
            random_q(&s, &same, from);
            if (r % 3 == 0)
                from[0] = ulna_serial_upper(s.chain)[0];
            ulna_serial_goal goal = random_goal(&s, &same, aim, q);
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
                        fail_msg("%s, aim %d, joint %d of %d, lane %d: %.12g, not %.12g", kernel_names[k], aim, i, s.n,
                                 l, lanes.q[i][l], first[i]);
                }
            clear(&s);
        }
    }
}

/* ---- solving --------------------------------------------------------------------------------------------------------- */

static void check_goals(const ulna_test_robot *robot, const char *kernel, ulna_serial_aim aim, int count, uint64_t seed,
                        double least)
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    setting s = robot_setting(robot, kernel);
    int any = 0, near = 0, jumps = 0;
    for (int k = 0; k < count; k++) {
        double q[ULNA_SERIAL_MAX], from[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
        random_q(&s, &rng, q);
        ulna_serial_goal goal = random_goal(&s, &rng, aim, q);
        random_q(&s, &rng, from);
        if (ulna_serial_solve_any(s.chain, &goal, from, found).reached) {
            assert_solution(&s, &goal, found);
            any++;
        }
        noisy_q(&s, &rng, q, from);
        if (ulna_serial_solve_near(s.chain, &goal, from, found).reached) {
            assert_solution(&s, &goal, found);
            near++;
            double largest = 0;
            for (int i = 0; i < s.n; i++)
                largest = fmax(largest, fabs(robot->joint[i].slides ? found[i] - from[i]
                                                                    : remainder(found[i] - from[i], 2 * ULNA_PI)));
            jumps += largest > 1;
        }
    }
    if (any < least * count || near < least * count || jumps > 0)
        fail_msg("%s, %s, aim %d: any %d, near %d of %d, %d jumps", robot->name, kernel, aim, any, near, count, jumps);
    clear(&s);
}

static void test_goals_of_robots(void **state)
{
    (void)state;
    for (int k = 0; k < KERNELS; k++)
        for (int r = 0; r < ulna_test_robot_count; r++)
            if (ulna_serial_kernel_find(kernel_names[k]))
                check_goals(&ulna_test_robots[r], kernel_names[k], ULNA_SERIAL_POSE, k == 1 ? 10000 : 2000, 6, 1);
}

static void test_partial_goals(void **state)
{
    (void)state;
    for (int k = 0; k < KERNELS; k++)
        for (int r = 0; r < ulna_test_robot_count; r++)
            for (int aim = 1; aim < 4; aim++)
                if (ulna_serial_kernel_find(kernel_names[k]))
                    check_goals(&ulna_test_robots[r], kernel_names[k], (ulna_serial_aim)aim, 1000, 7, 1);
}

/* Robots that no constant was tuned for. */
static void test_random_robots(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(8);
    for (int r = 0; r < 60; r++) {
        const ulna_test_robot robot = ulna_test_random_robot(&rng, 2 + r % 9, r % 2 ? 0.25 : 0);
        check_goals(&robot, NULL, ULNA_SERIAL_POSE, 200, 9, 0.995);
    }
}

/* A quarter of a million goals for each arm: what is reached is reached. */
static void test_certificates(void **state)
{
    (void)state;
    for (int r = 0; r < ULNA_TEST_ARMS; r++) {
        setting s = robot_setting(&ulna_test_robots[r], NULL);
        ulna_test_rng rng = ulna_test_rng_seed(10);
        for (int k = 0; k < 250000; k++) {
            double q[ULNA_SERIAL_MAX], from[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
            random_q(&s, &rng, q);
            const ulna_serial_goal goal = goal_at(&s, q);
            noisy_q(&s, &rng, q, from);
            if (!ulna_serial_solve_near(s.chain, &goal, from, found).reached)
                fail_msg("%s: goal %d is not reached", ulna_test_robots[r].name, k);
            assert_solution(&s, &goal, found);
        }
        clear(&s);
    }
}

/* ---- many, nearest, all ------------------------------------------------------------------------------------------------- */

static void test_many(void **state)
{
    (void)state;
    enum { COUNT = 500 };
    static ulna_serial_goal goals[COUNT];
    static ulna_serial_result results[COUNT];
    static double seeds[COUNT * ULNA_SERIAL_MAX], found[COUNT * ULNA_SERIAL_MAX];
    for (int k = 0; k < KERNELS; k++)
        for (int r = 0; r < ulna_test_robot_count; r++)
            for (int near = 0; near < 2; near++) {
                if (!ulna_serial_kernel_find(kernel_names[k]))
                    continue;
                ulna_test_rng rng = ulna_test_rng_seed(11);
                setting s = robot_setting(&ulna_test_robots[r], kernel_names[k]);
                for (int i = 0; i < COUNT; i++) {
                    double q[ULNA_SERIAL_MAX];
                    random_q(&s, &rng, q);
                    goals[i] = goal_at(&s, q);
                    if (near)
                        noisy_q(&s, &rng, q, seeds + i * s.n);
                    else
                        random_q(&s, &rng, seeds + i * s.n);
                }
                ulna_serial_solve_many(s.chain, near, COUNT, goals, seeds, found, results);
                for (int i = 0; i < COUNT; i++) {
                    assert_true(results[i].reached);
                    assert_solution(&s, &goals[i], found + i * s.n);
                }
                clear(&s);
            }
}

/* Against many starts, each slid towards the seed. */
static void test_nearest(void **state)
{
    (void)state;
    for (int r = 0; r < ULNA_TEST_ARMS; r++)
        for (int near = 0; near < 2; near++) {
            ulna_test_rng rng = ulna_test_rng_seed(12);
            setting s = robot_setting(&ulna_test_robots[r], NULL);
            enum { COUNT = 200 };
            int good = 0;
            for (int k = 0; k < COUNT; k++) {
                double q[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX], start[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
                random_q(&s, &rng, q);
                const ulna_serial_goal goal = goal_at(&s, q);
                if (near)
                    noisy_q(&s, &rng, q, seed);
                else
                    random_q(&s, &rng, seed);
                double least = ulna_serial_distance(s.chain, NULL, q, seed);
                for (int i = 0; i < 50; i++) {
                    random_q(&s, &rng, start);
                    if (ulna_serial_solve_from(s.chain, &goal, start, seed, NULL, found).reached) {
                        assert_solution(&s, &goal, found);
                        least = fmin(least, ulna_serial_distance(s.chain, NULL, found, seed));
                    }
                }
                assert_true(ulna_serial_solve_nearest(s.chain, &goal, seed, NULL, k % 2, found).reached);
                assert_solution(&s, &goal, found);
                good += ulna_serial_distance(s.chain, NULL, found, seed) < least + 1e-3;
            }
            if (good < (near ? 0.99 : 0.93) * COUNT)
                fail_msg("%s, %s seed: nearest %d of %d", ulna_test_robots[r].name, near ? "near" : "random", good,
                         COUNT);
            clear(&s);
        }
}

/* Weights: a joint that must not move moves less. */
static void test_nearest_weighted(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(13);
    setting s = robot_setting(&ulna_test_robots[2], NULL);
    double plain = 0, weighted = 0;
    for (int k = 0; k < 100; k++) {
        double q[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
        ulna_serial_norm norm = {.weight = {1, 1, 30, 1, 1, 1, 1}};
        random_q(&s, &rng, q);
        const ulna_serial_goal goal = goal_at(&s, q);
        noisy_q(&s, &rng, q, seed);
        assert_true(ulna_serial_solve_nearest(s.chain, &goal, seed, NULL, 0, found).reached);
        plain += fabs(found[2] - seed[2]);
        assert_true(ulna_serial_solve_nearest(s.chain, &goal, seed, &norm, 0, found).reached);
        assert_solution(&s, &goal, found);
        weighted += fabs(found[2] - seed[2]);
    }
    assert_true(weighted < 0.5 * plain); /* at limits it must move */
    clear(&s);
}

static void test_all(void **state)
{
    (void)state;
    for (int r = 0; r < ulna_test_robot_count; r++) {
        ulna_test_rng rng = ulna_test_rng_seed(14);
        setting s = robot_setting(&ulna_test_robots[r], NULL);
        int most = 0;
        for (int k = 0; k < 50; k++) {
            double q[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX], found[ULNA_SERIAL_ALL][ULNA_SERIAL_MAX], last = 0;
            ulna_serial_result result;
            random_q(&s, &rng, q);
            random_q(&s, &rng, seed);
            const ulna_serial_goal goal = goal_at(&s, q);
            const int count = ulna_serial_solve_all(s.chain, &goal, seed, NULL, 12, found, &result);
            assert_true(count >= 1 && count <= 12 && result.reached);
            most = count > most ? count : most;
            for (int i = 0; i < count; i++) {
                assert_solution(&s, &goal, found[i]);
                const double distance = ulna_serial_distance(s.chain, NULL, found[i], seed);
                assert_true(distance >= last);
                last = distance;
                for (int j = 0; j < i; j++) {
                    double largest = 0;
                    for (int c = 0; c < s.n; c++)
                        largest = fmax(largest, fabs(found[i][c] - found[j][c]) / s.chain->unit[c]);
                    assert_true(largest > 0.1);
                }
            }
        }
        if (r < ULNA_TEST_ARMS)
            assert_true(most >= 4);
        clear(&s);
    }
}

/* Twice the same, to the bit, whatever was solved in between. */
static void test_same_bits(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(15);
    setting s = robot_setting(&ulna_test_robots[2], NULL);
    double seed[ULNA_SERIAL_MAX], found[20][3][ULNA_SERIAL_MAX], again[ULNA_SERIAL_MAX];
    ulna_serial_goal goal[20];
    random_q(&s, &rng, seed);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < 20; k++) {
            if (pass == 0) {
                double q[ULNA_SERIAL_MAX];
                random_q(&s, &rng, q);
                goal[k] = goal_at(&s, q);
            }
            for (int mode = 0; mode < 3; mode++) {
                double *to = pass == 0 ? found[k][mode] : again;
                if (mode == 0)
                    ulna_serial_solve_any(s.chain, &goal[k], seed, to);
                else if (mode == 1)
                    ulna_serial_solve_near(s.chain, &goal[k], seed, to);
                else
                    ulna_serial_solve_nearest(s.chain, &goal[k], seed, NULL, 1, to);
                if (pass == 1)
                    assert_memory_equal(found[k][mode], again, (size_t)s.n * sizeof *again);
            }
        }
    clear(&s);
}

/* Singular poses and poses at limits: wrist aligned, elbow straight, every joint at a limit. */
static void test_hard_goals(void **state)
{
    (void)state;
    for (int r = 0; r < ulna_test_robot_count; r++) {
        ulna_test_rng rng = ulna_test_rng_seed(16);
        setting s = robot_setting(&ulna_test_robots[r], NULL);
        for (int k = 0; k < 300; k++) {
            double q[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
            random_q(&s, &rng, q);
            for (int i = 0; i < s.n; i++) {
                const double lower = ulna_serial_lower(s.chain)[i], upper = ulna_serial_upper(s.chain)[i];
                if (k % 3 == 0 && lower <= 0 && upper >= 0 && i % 2 == k % 2)
                    q[i] = 0;
                else if (k % 3 == 1 && (i == k % s.n || k % 12 == 1))
                    q[i] = k % 2 ? lower : upper;
            }
            const ulna_serial_goal goal = goal_at(&s, q);
            random_q(&s, &rng, seed);
            if (!ulna_serial_solve_any(s.chain, &goal, seed, found).reached)
                fail_msg("%s: goal %d is not reached", ulna_test_robots[r].name, k);
            assert_solution(&s, &goal, found);
            noisy_q(&s, &rng, q, seed);
            if (!ulna_serial_solve_near(s.chain, &goal, seed, found).reached)
                fail_msg("%s: goal %d is not reached from near", ulna_test_robots[r].name, k);
            assert_solution(&s, &goal, found);
        }
        clear(&s);
    }
}

static double closest_cost(setting *s, const ulna_serial_goal *goal, double length, const double *q)
{
    double position, rotation;
    errors_at(s, goal, q, &position, &rotation);
    return 0.5 * position * position + length * length * (1 - cos(rotation));
}

/* What is found is not worse than random configurations nor than its own neighbours inside the limits. */
static void test_closest(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(19);
    for (int r = 0; r < ulna_test_robot_count + 8; r++)
        for (int k = 0; k < 8; k++) {
            const ulna_test_robot robot =
                r < ulna_test_robot_count ? ulna_test_robots[r] : ulna_test_random_robot(&rng, 2 + r % 7, 0.2);
            setting s = robot_setting(&robot, NULL);
            double q[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX], other[ULNA_SERIAL_MAX], length = 0.3;
            random_q(&s, &rng, q);
            ulna_serial_goal goal = random_goal(&s, &rng, (ulna_serial_aim)(k % 3), q);
            goal.position[k % 3] += 1.5 + s.chain->length;
            assert_false(ulna_serial_solve_closest(s.chain, &goal, q, length, found).reached);
            const double least = closest_cost(&s, &goal, length, found);
            for (int i = 0; i < 400; i++) {
                if (i % 2)
                    random_q(&s, &rng, other);
                for (int j = 0; j < s.n && i % 2 == 0; j++)
                    other[j] =
                        fmin(fmax(found[j] + ulna_test_rng_uniform(&rng, -0.01, 0.01), ulna_serial_lower(s.chain)[j]),
                             ulna_serial_upper(s.chain)[j]);
                const double cost = closest_cost(&s, &goal, length, other);
                if (cost < least - 1e-8)
                    fail_msg("%s, aim %d, sample %d: %.10g, but %.10g is found", robot.name, goal.aim, i, cost, least);
            }
            clear(&s);
        }
}

/* A goal that can be reached is its own closest configuration. */
static void test_closest_reached(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(20);
    setting s = robot_setting(&ulna_test_robots[3], NULL);
    for (int k = 0; k < 50; k++) {
        double q[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX];
        random_q(&s, &rng, q);
        noisy_q(&s, &rng, q, seed);
        const ulna_serial_goal goal = goal_at(&s, q);
        assert_true(ulna_serial_solve_closest(s.chain, &goal, seed, 0.3, found).reached);
        assert_solution(&s, &goal, found);
    }
    clear(&s);
}

/* Too far away: not reached, and q is inside the limits all the same. */
static void test_unreachable(void **state)
{
    (void)state;
    for (int r = 0; r < ulna_test_robot_count; r++) {
        ulna_test_rng rng = ulna_test_rng_seed(17);
        setting s = robot_setting(&ulna_test_robots[r], NULL);
        for (int k = 0; k < 3; k++) {
            double q[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
            random_q(&s, &rng, q);
            ulna_serial_goal goal = goal_at(&s, q);
            goal.position[k] += 20;
            assert_false(ulna_serial_solve_any(s.chain, &goal, q, found).reached);
            for (int i = 0; i < s.n; i++)
                assert_true(found[i] >= ulna_serial_lower(s.chain)[i] && found[i] <= ulna_serial_upper(s.chain)[i]);
        }
        clear(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward_of_robots),
        cmocka_unit_test(test_forward_nearly_parallel),
        cmocka_unit_test(test_forward_between_branches),
        cmocka_unit_test(test_coupled),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_step_is_newton),
        cmocka_unit_test(test_kernels_agree),
        cmocka_unit_test(test_goals_of_robots),
        cmocka_unit_test(test_partial_goals),
        cmocka_unit_test(test_random_robots),
        cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_nearest_weighted),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_hard_goals),
        cmocka_unit_test(test_closest),
        cmocka_unit_test(test_closest_reached),
        cmocka_unit_test(test_unreachable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
