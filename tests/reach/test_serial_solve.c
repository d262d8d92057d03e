/* Serial chains: any solution and near ones, many, nearest, all, closest; checked by the library's own forward kinematics. */
#include "support_serial.h"

#include "math/math3.h"

#include <math.h>
#include <string.h>

/* ---- solving --------------------------------------------------------------------------------------------------------- */

static void check_goals(const ulna_test_robot *robot, const char *kernel, ulna_serial_aim aim, int count, uint64_t seed,
                        double least)
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    ulna_test_serial s = ulna_test_serial_robot(robot, kernel);
    int any = 0, near = 0, jumps = 0;
    for (int k = 0; k < count; k++) {
        double q[ULNA_SERIAL_MAX], from[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
        ulna_test_serial_q(&s, &rng, q);
        ulna_serial_goal goal = ulna_test_serial_goal(&s, &rng, aim, q);
        ulna_test_serial_q(&s, &rng, from);
        if (ulna_serial_solve_any(s.chain, &goal, from, found).reached) {
            ulna_test_serial_assert_solution(&s, &goal, found);
            any++;
        }
        ulna_test_serial_near(&s, &rng, q, from);
        if (ulna_serial_solve_near(s.chain, &goal, from, found).reached) {
            ulna_test_serial_assert_solution(&s, &goal, found);
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
    ulna_test_serial_release(&s);
}

static void test_goals_of_robots(void **state)
{
    (void)state;
    for (int k = 0; k < ULNA_TEST_SERIAL_KERNELS; k++)
        for (int r = 0; r < ulna_test_robot_count; r++)
            if (ulna_serial_kernel_find(ulna_test_serial_kernels[k]))
                check_goals(&ulna_test_robots[r], ulna_test_serial_kernels[k], ULNA_SERIAL_POSE, k == 1 ? 10000 : 2000,
                            6, 1);
}

static void test_partial_goals(void **state)
{
    (void)state;
    for (int k = 0; k < ULNA_TEST_SERIAL_KERNELS; k++)
        for (int r = 0; r < ulna_test_robot_count; r++)
            for (int aim = 1; aim < 4; aim++)
                if (ulna_serial_kernel_find(ulna_test_serial_kernels[k]))
                    check_goals(&ulna_test_robots[r], ulna_test_serial_kernels[k], (ulna_serial_aim)aim, 1000, 7, 1);
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
        ulna_test_serial s = ulna_test_serial_robot(&ulna_test_robots[r], NULL);
        ulna_test_rng rng = ulna_test_rng_seed(10);
        for (int k = 0; k < 250000; k++) {
            double q[ULNA_SERIAL_MAX], from[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
            ulna_test_serial_q(&s, &rng, q);
            const ulna_serial_goal goal = ulna_test_serial_goal_at(&s, q);
            ulna_test_serial_near(&s, &rng, q, from);
            if (!ulna_serial_solve_near(s.chain, &goal, from, found).reached)
                fail_msg("%s: goal %d is not reached", ulna_test_robots[r].name, k);
            ulna_test_serial_assert_solution(&s, &goal, found);
        }
        ulna_test_serial_release(&s);
    }
}

/* A random robot on which the second and the third joint follow the first or the last. */
static ulna_model *coupled_model(ulna_test_rng *rng, int joints, double prismatic, int master)
{
    const ulna_test_robot robot = ulna_test_random_robot(rng, joints, prismatic);
    ulna_model *plain = ulna_test_robot_model(&robot), *model;
    ulna_builder *builder;
    ulna_error error;
    assert_int_equal(ulna_builder_from_model(plain, NULL, &builder, &error), ULNA_OK);
    ulna_model_destroy(plain);
    assert_int_equal(ulna_builder_couple(builder, 1, 0, master, 0, 0.5, 0.1, &error), ULNA_OK);
    assert_int_equal(ulna_builder_couple(builder, 2, 0, master, 0, -0.4, 0.15, &error), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, NULL, &model, &error), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

/* Joints that follow others: the same goals as the library's kinematics, with the couplings in it, and solutions that keep them. */
static void test_coupled(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(18);
    for (int r = 0; r < 24; r++) {
        const int joints = 4 + r % 6, master = r % 2 ? joints - 1 : 0;
        ulna_model *model = coupled_model(&rng, joints, 0.2, master);
        ulna_test_serial s =
            ulna_test_serial_make(model, ULNA_NONE, joints, ulna_test_serial_kernels[r % ULNA_TEST_SERIAL_KERNELS]);
        int reached = 0;
        for (int k = 0; k < 50; k++) {
            double x[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
            ulna_test_serial_q(&s, &rng, x);
            const ulna_serial_goal goal = ulna_test_serial_goal_at(&s, x);
            ulna_test_serial_near(&s, &rng, x, seed);
            const int near = ulna_serial_solve_near(s.chain, &goal, seed, found).reached;
            reached += near;
            if (near) {
                ulna_test_serial_assert_solution(&s, &goal, found); /* by couplings: see ulna_test_serial_place */
                assert_true(fabs(found[1] - 0.5 * found[master] - 0.1) < 1e-9);
                assert_true(fabs(found[2] + 0.4 * found[master] - 0.15) < 1e-9);
            }
            if (ulna_serial_solve_nearest(s.chain, &goal, seed, NULL, ULNA_SERIAL_THOROUGH, found).reached)
                ulna_test_serial_assert_solution(&s, &goal, found);
        }
        assert_true(reached >= 49);
        ulna_test_serial_release(&s);
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
    for (int k = 0; k < ULNA_TEST_SERIAL_KERNELS; k++)
        for (int r = 0; r < ulna_test_robot_count; r++)
            for (int near = 0; near < 2; near++) {
                if (!ulna_serial_kernel_find(ulna_test_serial_kernels[k]))
                    continue;
                ulna_test_rng rng = ulna_test_rng_seed(11);
                ulna_test_serial s = ulna_test_serial_robot(&ulna_test_robots[r], ulna_test_serial_kernels[k]);
                for (int i = 0; i < COUNT; i++) {
                    double q[ULNA_SERIAL_MAX];
                    ulna_test_serial_q(&s, &rng, q);
                    goals[i] = ulna_test_serial_goal_at(&s, q);
                    if (near)
                        ulna_test_serial_near(&s, &rng, q, seeds + i * s.n);
                    else
                        ulna_test_serial_q(&s, &rng, seeds + i * s.n);
                }
                ulna_serial_solve_many(s.chain, near, COUNT, goals, seeds, found, results);
                for (int i = 0; i < COUNT; i++) {
                    assert_true(results[i].reached);
                    ulna_test_serial_assert_solution(&s, &goals[i], found + i * s.n);
                    double position, rotation;
                    ulna_test_serial_errors(&s, &goals[i], found + i * s.n, &position, &rotation);
                    assert_true(fabs(results[i].position_error - position) < 1e-13);
                    assert_true(fabs(results[i].rotation_error - rotation) < 1e-13);
                }
                ulna_test_serial_release(&s);
            }
}

/* Is a solution beside q, found without sliding, nearer to the seed? */
static int is_beside(ulna_test_serial *s, ulna_test_rng rng, const ulna_serial_goal *goal, const ulna_serial_norm *norm,
                     const double *q, const double *seed)
{
    for (int k = 0; k < 4; k++) {
        double start[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
        ulna_test_serial_near(s, &rng, q, start);
        if (ulna_serial_solve_near(s->chain, goal, start, found).reached &&
            ulna_serial_distance(s->chain, norm, found, q) < 0.5 &&
            ulna_serial_distance(s->chain, norm, found, seed) < ulna_serial_distance(s->chain, norm, q, seed) - 1e-3)
            return 1;
    }
    return 0;
}

/* Against many starts, each slid towards the seed: in how many of `count` problems the nearest was found. */
static int count_nearest(ulna_test_serial *s, ulna_test_rng *rng, const ulna_serial_norm *norm, ulna_serial_aim aim,
                         int near, int count)
{
    int good = 0;
    for (int k = 0; k < count; k++) {
        double q[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX], start[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
        ulna_test_serial_q(s, rng, q);
        ulna_serial_goal goal = ulna_test_serial_goal_at(s, q);
        goal.aim = aim;
        goal.axis[0] = 1, goal.axis[1] = goal.axis[2] = 0;
        if (near)
            ulna_test_serial_near(s, rng, q, seed);
        else
            ulna_test_serial_q(s, rng, seed);
        double least = ulna_serial_distance(s->chain, norm, q, seed);
        for (int i = 0; i < 50; i++) {
            ulna_test_serial_q(s, rng, start);
            if (ulna_serial_solve_from(s->chain, &goal, start, seed, norm, found).reached) {
                ulna_test_serial_assert_solution(s, &goal, found);
                least = fmin(least, ulna_serial_distance(s->chain, norm, found, seed));
            }
        }
        const ulna_serial_effort effort = k % 2 ? ULNA_SERIAL_THOROUGH : ULNA_SERIAL_QUICK;
        assert_true(ulna_serial_solve_nearest(s->chain, &goal, seed, norm, effort, found).reached);
        ulna_test_serial_assert_solution(s, &goal, found);
        good += ulna_serial_distance(s->chain, norm, found, seed) < least + 1e-3 &&
                !is_beside(s, *rng, &goal, norm, found, seed);
    }
    return good;
}

static void test_nearest(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    const ulna_serial_norm largest = {.weight = {1, 1, 1, 1, 1, 1, 1}, .is_largest = 1};
    const ulna_serial_norm weighted = {.weight = {0.3, 0.7, 1.1, 1.5, 1.9, 2.3, 2.7}};
    const ulna_serial_norm *const norms[] = {NULL, &largest, &weighted};
    for (int r = 0; r < ULNA_TEST_ARMS; r++)
        for (int n = 0; n < 3; n++)
            for (int near = 0; near < 2; near++) {
                ulna_test_rng rng = ulna_test_rng_seed(12);
                ulna_test_serial s = ulna_test_serial_robot(
                    &ulna_test_robots[r], ulna_test_serial_kernels[(r + n + near) % ULNA_TEST_SERIAL_KERNELS]);
                const int good = count_nearest(&s, &rng, norms[n], ULNA_SERIAL_POSE, near, COUNT);
                if (good < (near ? 0.99 : 0.96) * COUNT)
                    fail_msg("%s, norm %d, %s seed: nearest %d of %d", ulna_test_robots[r].name, n,
                             near ? "near" : "random", good, COUNT);
                ulna_test_serial_release(&s);
            }
}

/* Arms that no constant was tuned on, and chains whose solutions form surfaces. */
static void test_nearest_random(void **state)
{
    (void)state;
    enum { ROBOTS = 16, COUNT = 50 };
    ulna_test_rng rng = ulna_test_rng_seed(19);
    int good[2] = {0};
    for (int r = 0; r < ROBOTS; r++) {
        const int joints = 6 + r % 3;
        ulna_test_robot robot = ulna_test_random_robot(&rng, joints, 0.1);
        ulna_test_serial s = ulna_test_serial_robot(&robot, ulna_test_serial_kernels[r % ULNA_TEST_SERIAL_KERNELS]);
        for (int near = 0; near < 2; near++)
            good[near] += count_nearest(&s, &rng, NULL, ULNA_SERIAL_POSE, near, COUNT);
        ulna_test_serial_release(&s);
    }
    if (good[0] < 0.94 * ROBOTS * COUNT || good[1] < 0.99 * ROBOTS * COUNT)
        fail_msg("random seeds %d, near seeds %d of %d", good[0], good[1], ROBOTS * COUNT);
}

/* Joints that follow others: 5 to 8 that move for poses, 3 to 5 for positions, so that solutions are points, curves and surfaces. */
static void test_nearest_coupled(void **state)
{
    (void)state;
    enum { ROBOTS = 24, COUNT = 50 };
    static const struct {
        ulna_serial_aim aim;
        int least, kinds;
        double random, near;
    } cases[] = {{ULNA_SERIAL_POSE, 7, 4, 0.92, 0.99}, {ULNA_SERIAL_POSITION, 5, 3, 0.97, 0.99}};
    ulna_test_rng rng = ulna_test_rng_seed(23);
    for (int c = 0; c < 2; c++) {
        int good[2] = {0};
        for (int r = 0; r < ROBOTS; r++) {
            const int joints = cases[c].least + r % cases[c].kinds;
            ulna_model *model = coupled_model(&rng, joints, 0.1, r % 2 ? joints - 1 : 0);
            ulna_test_serial s =
                ulna_test_serial_make(model, ULNA_NONE, joints, ulna_test_serial_kernels[r % ULNA_TEST_SERIAL_KERNELS]);
            for (int near = 0; near < 2; near++)
                good[near] += count_nearest(&s, &rng, NULL, cases[c].aim, near, COUNT);
            ulna_test_serial_release(&s);
        }
        print_message("joints that follow others: nearest %d from random seeds, %d from near ones, of %d\n", good[0],
                      good[1], ROBOTS * COUNT);
        if (good[0] < cases[c].random * ROBOTS * COUNT || good[1] < cases[c].near * ROBOTS * COUNT)
            fail_msg("case %d: random seeds %d, near seeds %d of %d", c, good[0], good[1], ROBOTS * COUNT);
    }
}

/* A spin that is left free is one joint more: it is less sure. */
static void test_nearest_spin(void **state)
{
    (void)state;
    enum { COUNT = 100 };
    for (int r = 0; r < ULNA_TEST_ARMS; r++) {
        ulna_test_rng rng = ulna_test_rng_seed(21);
        ulna_test_serial s = ulna_test_serial_robot(&ulna_test_robots[r], NULL);
        const int random = count_nearest(&s, &rng, NULL, ULNA_SERIAL_SPIN, 0, COUNT);
        const int near = count_nearest(&s, &rng, NULL, ULNA_SERIAL_SPIN, 1, COUNT);
        print_message("%s, free spin: nearest %d from random seeds, %d from near ones\n", ulna_test_robots[r].name,
                      random, near);
        if (random < 0.9 * COUNT || near < 0.95 * COUNT)
            fail_msg("%s: random seeds %d, near seeds %d of %d", ulna_test_robots[r].name, random, near, COUNT);
        ulna_test_serial_release(&s);
    }
}

/* Weights: a joint that must not move moves less. */
static void test_nearest_weighted(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(13);
    ulna_test_serial s = ulna_test_serial_robot(&ulna_test_robots[2], NULL);
    double plain = 0, weighted = 0;
    for (int k = 0; k < 100; k++) {
        double q[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
        ulna_serial_norm norm = {.weight = {1, 1, 30, 1, 1, 1, 1}};
        ulna_test_serial_q(&s, &rng, q);
        const ulna_serial_goal goal = ulna_test_serial_goal_at(&s, q);
        ulna_test_serial_near(&s, &rng, q, seed);
        assert_true(ulna_serial_solve_nearest(s.chain, &goal, seed, NULL, ULNA_SERIAL_QUICK, found).reached);
        plain += fabs(found[2] - seed[2]);
        assert_true(ulna_serial_solve_nearest(s.chain, &goal, seed, &norm, ULNA_SERIAL_QUICK, found).reached);
        ulna_test_serial_assert_solution(&s, &goal, found);
        weighted += fabs(found[2] - seed[2]);
    }
    assert_true(weighted < 0.5 * plain); /* at limits it must move */
    ulna_test_serial_release(&s);
}

static void test_all(void **state)
{
    (void)state;
    for (int r = 0; r < ulna_test_robot_count; r++) {
        ulna_test_rng rng = ulna_test_rng_seed(14);
        ulna_test_serial s = ulna_test_serial_robot(&ulna_test_robots[r], NULL);
        int most = 0;
        for (int k = 0; k < 50; k++) {
            double q[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX], found[ULNA_SERIAL_ALL][ULNA_SERIAL_MAX], last = 0;
            ulna_serial_result result;
            ulna_test_serial_q(&s, &rng, q);
            ulna_test_serial_q(&s, &rng, seed);
            const ulna_serial_goal goal = ulna_test_serial_goal_at(&s, q);
            const int count = ulna_serial_solve_all(s.chain, &goal, seed, NULL, 12, found, &result);
            assert_true(count >= 1 && count <= 12 && result.reached);
            most = count > most ? count : most;
            for (int i = 0; i < count; i++) {
                ulna_test_serial_assert_solution(&s, &goal, found[i]);
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
        ulna_test_serial_release(&s);
    }
}

/* Twice the same, to the bit, whatever was solved in between. */
static void test_same_bits(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(15);
    ulna_test_serial s = ulna_test_serial_robot(&ulna_test_robots[2], NULL);
    double seed[ULNA_SERIAL_MAX], found[20][3][ULNA_SERIAL_MAX], again[ULNA_SERIAL_MAX];
    ulna_serial_goal goal[20];
    ulna_test_serial_q(&s, &rng, seed);
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < 20; k++) {
            if (pass == 0) {
                double q[ULNA_SERIAL_MAX];
                ulna_test_serial_q(&s, &rng, q);
                goal[k] = ulna_test_serial_goal_at(&s, q);
            }
            for (int mode = 0; mode < 3; mode++) {
                double *to = pass == 0 ? found[k][mode] : again;
                if (mode == 0)
                    ulna_serial_solve_any(s.chain, &goal[k], seed, to);
                else if (mode == 1)
                    ulna_serial_solve_near(s.chain, &goal[k], seed, to);
                else
                    ulna_serial_solve_nearest(s.chain, &goal[k], seed, NULL, ULNA_SERIAL_THOROUGH, to);
                if (pass == 1)
                    assert_memory_equal(found[k][mode], again, (size_t)s.n * sizeof *again);
            }
        }
    ulna_test_serial_release(&s);
}

/* Leaves bytes on the stack where the next call has its variables. */
static __attribute__((noinline)) void fill_stack(int byte)
{
    volatile unsigned char bytes[1 << 16];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)byte;
}

/* The same for goals that leave a spin free, whose chains are padded: nothing depends on memory that nobody has set. */
static void test_same_bits_on_any_stack(void **state)
{
    (void)state;
    static const int bytes[] = {0, 0x3f, 0x7f, 0xff};
    for (int r = 0; r < ULNA_TEST_ARMS; r++) {
        ulna_test_rng rng = ulna_test_rng_seed(17);
        ulna_test_serial s = ulna_test_serial_robot(&ulna_test_robots[r], NULL);
        for (int k = 0; k < 20; k++) {
            double q[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX], found[4][ULNA_SERIAL_MAX];
            ulna_test_serial_q(&s, &rng, q);
            ulna_test_serial_q(&s, &rng, seed);
            ulna_serial_goal goal = ulna_test_serial_goal_at(&s, q);
            goal.aim = ULNA_SERIAL_SPIN;
            goal.axis[0] = 1, goal.axis[1] = goal.axis[2] = 0;
            for (int i = 0; i < 4; i++) {
                fill_stack(bytes[i]);
                ulna_serial_solve_nearest(s.chain, &goal, seed, NULL, ULNA_SERIAL_THOROUGH, found[i]);
                assert_memory_equal(found[0], found[i], (size_t)s.n * sizeof found[0][0]);
            }
        }
        ulna_test_serial_release(&s);
    }
}

/* Singular poses and poses at limits: wrist aligned, elbow straight, every joint at a limit. */
static void test_hard_goals(void **state)
{
    (void)state;
    for (int r = 0; r < ulna_test_robot_count; r++) {
        ulna_test_rng rng = ulna_test_rng_seed(16);
        ulna_test_serial s = ulna_test_serial_robot(&ulna_test_robots[r], NULL);
        for (int k = 0; k < 300; k++) {
            double q[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
            ulna_test_serial_q(&s, &rng, q);
            for (int i = 0; i < s.n; i++) {
                const double lower = ulna_serial_lower(s.chain)[i], upper = ulna_serial_upper(s.chain)[i];
                if (k % 3 == 0 && lower <= 0 && upper >= 0 && i % 2 == k % 2)
                    q[i] = 0;
                else if (k % 3 == 1 && (i == k % s.n || k % 12 == 1))
                    q[i] = k % 2 ? lower : upper;
            }
            const ulna_serial_goal goal = ulna_test_serial_goal_at(&s, q);
            ulna_test_serial_q(&s, &rng, seed);
            if (!ulna_serial_solve_any(s.chain, &goal, seed, found).reached)
                fail_msg("%s: goal %d is not reached", ulna_test_robots[r].name, k);
            ulna_test_serial_assert_solution(&s, &goal, found);
            ulna_test_serial_near(&s, &rng, q, seed);
            if (!ulna_serial_solve_near(s.chain, &goal, seed, found).reached)
                fail_msg("%s: goal %d is not reached from near", ulna_test_robots[r].name, k);
            ulna_test_serial_assert_solution(&s, &goal, found);
        }
        ulna_test_serial_release(&s);
    }
}

static double closest_cost(ulna_test_serial *s, const ulna_serial_goal *goal, double length, const double *q)
{
    double position, rotation;
    ulna_test_serial_errors(s, goal, q, &position, &rotation);
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
            ulna_test_serial s = ulna_test_serial_robot(&robot, NULL);
            double q[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX], other[ULNA_SERIAL_MAX], length = 0.3;
            ulna_test_serial_q(&s, &rng, q);
            ulna_serial_goal goal = ulna_test_serial_goal(&s, &rng, (ulna_serial_aim)(k % 3), q);
            goal.position[k % 3] += 1.5 + s.chain->length;
            assert_false(ulna_serial_solve_closest(s.chain, &goal, q, length, found).reached);
            const double least = closest_cost(&s, &goal, length, found);
            for (int i = 0; i < 400; i++) {
                if (i % 2)
                    ulna_test_serial_q(&s, &rng, other);
                for (int j = 0; j < s.n && i % 2 == 0; j++)
                    other[j] =
                        fmin(fmax(found[j] + ulna_test_rng_uniform(&rng, -0.01, 0.01), ulna_serial_lower(s.chain)[j]),
                             ulna_serial_upper(s.chain)[j]);
                const double cost = closest_cost(&s, &goal, length, other);
                if (cost < least - 1e-8)
                    fail_msg("%s, aim %d, sample %d: %.10g, but %.10g is found", robot.name, goal.aim, i, cost, least);
            }
            ulna_test_serial_release(&s);
        }
}

/* A goal that can be reached is its own closest configuration. */
static void test_closest_reached(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(20);
    ulna_test_serial s = ulna_test_serial_robot(&ulna_test_robots[3], NULL);
    for (int k = 0; k < 50; k++) {
        double q[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX];
        ulna_test_serial_q(&s, &rng, q);
        ulna_test_serial_near(&s, &rng, q, seed);
        const ulna_serial_goal goal = ulna_test_serial_goal_at(&s, q);
        assert_true(ulna_serial_solve_closest(s.chain, &goal, seed, 0.3, found).reached);
        ulna_test_serial_assert_solution(&s, &goal, found);
    }
    ulna_test_serial_release(&s);
}

/* Too far away: not reached, and q is inside the limits all the same. */
static void test_unreachable(void **state)
{
    (void)state;
    for (int r = 0; r < ulna_test_robot_count; r++) {
        ulna_test_rng rng = ulna_test_rng_seed(17);
        ulna_test_serial s = ulna_test_serial_robot(&ulna_test_robots[r], NULL);
        for (int k = 0; k < 3; k++) {
            double q[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
            ulna_test_serial_q(&s, &rng, q);
            ulna_serial_goal goal = ulna_test_serial_goal_at(&s, q);
            goal.position[k] += 20;
            assert_false(ulna_serial_solve_any(s.chain, &goal, q, found).reached);
            for (int i = 0; i < s.n; i++)
                assert_true(found[i] >= ulna_serial_lower(s.chain)[i] && found[i] <= ulna_serial_upper(s.chain)[i]);
        }
        ulna_test_serial_release(&s);
    }
}

/* A goal out of reach that moves a little: of configurations that are equally close, the one that the seed leads to. */
static void test_closest_stays(void **state)
{
    (void)state;
    for (int r = 0; r < ULNA_TEST_ARMS; r++) {
        ulna_test_rng rng = ulna_test_rng_seed(20);
        ulna_test_serial s = ulna_test_serial_robot(&ulna_test_robots[r], NULL);
        for (int k = 0; k < 20; k++) {
            double q[ULNA_SERIAL_MAX], seed[ULNA_SERIAL_MAX], found[ULNA_SERIAL_MAX];
            ulna_test_serial_q(&s, &rng, q);
            ulna_test_serial_q(&s, &rng, seed);
            ulna_serial_goal goal = ulna_test_serial_goal_at(&s, q);
            goal.aim = ULNA_SERIAL_POSITION; /* the last joints may turn as they like */
            for (int c = 0; c < 3; c++)
                goal.position[c] *= 5;
            for (int step = 0; step < 10; step++) {
                assert_false(ulna_serial_solve_closest(s.chain, &goal, seed, 1, found).reached);
                for (int i = 0; i < s.n && step > 0; i++)
                    assert_true(fabs(found[i] - seed[i]) < 0.05);
                memcpy(seed, found, sizeof seed);
                goal.position[step % 3] += 1e-4;
            }
        }
        ulna_test_serial_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goals_of_robots),  cmocka_unit_test(test_partial_goals),
        cmocka_unit_test(test_random_robots),    cmocka_unit_test(test_certificates),
        cmocka_unit_test(test_coupled),          cmocka_unit_test(test_many),
        cmocka_unit_test(test_nearest),          cmocka_unit_test(test_nearest_random),
        cmocka_unit_test(test_nearest_weighted), cmocka_unit_test(test_nearest_coupled),
        cmocka_unit_test(test_nearest_spin),     cmocka_unit_test(test_all),
        cmocka_unit_test(test_same_bits),        cmocka_unit_test(test_same_bits_on_any_stack),
        cmocka_unit_test(test_hard_goals),       cmocka_unit_test(test_closest),
        cmocka_unit_test(test_closest_reached),  cmocka_unit_test(test_closest_stays),
        cmocka_unit_test(test_unreachable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
