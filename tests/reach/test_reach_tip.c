/* Errors of a tip: zero at the goal, what they say elsewhere, and their derivatives against differences. */
#include "math/math3.h"
#include "reach/reach.h"
#include "support_robots.h"

#include <math.h>
#include <string.h>

static ulna_tip make_tip(const char *axes, ulna_test_rng *rng)
{
    ulna_tip tip = {.given = ulna_reach_tip_default(0)};
    for (int k = 0; k < 6; k++)
        tip.given.weight[k] = axes[k] - '0';
    ulna_test_rng_fill(rng, tip.given.point, 3, -0.3, 0.3);
    for (int i = 0; i < 4; i++)
        tip.given.rotation[i] = ulna_test_rng_normal(rng);
    ulna_quaternion_normalise(tip.given.rotation);
    ulna_tip_prepare(&tip, 0.7);
    return tip;
}

static void random_frame(ulna_test_rng *rng, double rotation[9], double position[3])
{
    double q[4];
    for (int i = 0; i < 4; i++)
        q[i] = ulna_test_rng_normal(rng);
    ulna_quaternion_to_rotation(q, rotation);
    ulna_test_rng_fill(rng, position, 3, -1, 1);
}

/* A twist (w, v) of one of the two frames at its origin, by `size`. */
static void move(const double rotation[2][9], const double position[2][3], int part, int k, double size,
                 double moved_rotation[2][9], double moved_position[2][3])
{
    double w[3] = {0}, turn[9];
    memcpy(moved_rotation, rotation, 2 * sizeof *moved_rotation);
    memcpy(moved_position, position, 2 * sizeof *moved_position);
    if (k < 3) {
        w[k] = size;
        ulna_exp(w, turn);
        ulna_multiply9(turn, rotation[part], moved_rotation[part]);
    } else
        moved_position[part][k - 3] += size;
}

static void derivatives_match_differences(void **state)
{
    (void)state;
    static const char *const shapes[] = {"111111", "111000", "000111", "111110", "111101", "111011",
                                         "111001", "111010", "111100", "101110", "010001"};
    const double h = 1e-6;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        ulna_test_rng rng = ulna_test_rng_seed(100 + s);
        for (int trial = 0; trial < 50; trial++) {
            ulna_tip tip = make_tip(shapes[s], &rng);
            ulna_target target;
            double R[2][9], p[2][3], error[6], row[6][2][6], A[2][9], a[2][3], plus[6], minus[6];
            random_frame(&rng, R[0], p[0]);
            random_frame(&rng, R[1], p[1]);
            random_frame(&rng, target.rotation, target.position);
            ulna_rotation_to_quaternion(target.rotation, target.quaternion);
            ulna_tip_error(&tip, &target, (const double(*)[9])R, (const double(*)[3])p, error, row);
            double angle = ulna_norm(error + 3);
            if (angle > 2.9) /* near half a turn differences are no use */
                continue;
            for (int part = 0; part < 2; part++)
                for (int k = 0; k < 6; k++) {
                    move((const double(*)[9])R, (const double(*)[3])p, part, k, h, A, a);
                    ulna_tip_error(&tip, &target, (const double(*)[9])A, (const double(*)[3])a, plus, NULL);
                    move((const double(*)[9])R, (const double(*)[3])p, part, k, -h, A, a);
                    ulna_tip_error(&tip, &target, (const double(*)[9])A, (const double(*)[3])a, minus, NULL);
                    for (int i = 0; i < 6; i++) {
                        double difference = (plus[i] - minus[i]) / (2 * h);
                        if (fabs(difference - row[i][part][k]) > 1e-6 * (1 + fabs(difference)))
                            fail_msg("%s: row %d over twist %d of frame %d: %g, differences say %g", shapes[s], i, k,
                                     part, row[i][part][k], difference);
                    }
                }
        }
    }
}

/* The tip at its goal, then turned about its own axes by a known angle. */
static void errors_are_angles(void **state)
{
    (void)state;
    static const double turns[] = {0, 1e-7, 0.3, 1.5, 3};
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
        for (int k = 0; k < 3; k++) {
            ulna_tip full = {.given = ulna_reach_tip_default(0)}, spin = full, twist = full;
            spin.given.weight[3 + (k + 1) % 3] = 0;
            twist.given.weight[3 + (k + 1) % 3] = twist.given.weight[3 + (k + 2) % 3] = 0;
            ulna_tip_prepare(&full, 1);
            ulna_tip_prepare(&spin, 1);
            ulna_tip_prepare(&twist, 1);
            ulna_target target = {
                .position = {0.1, 0.2, 0.3}, .quaternion = {0, 0, 0, 1}, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
            double R[2][9], p[2][3] = {{0.1, 0.2, 0.3}}, w[3] = {0}, error[6];
            w[k] = turns[i];
            ulna_exp(w, R[0]);
            ulna_identity9(R[1]);
            const ulna_tip *tips[] = {&full, &spin, &twist};
            for (int t = 0; t < 3; t++) {
                ulna_tip_error(tips[t], &target, (const double(*)[9])R, (const double(*)[3])p, error, NULL);
                for (int a = 0; a < 6; a++)
                    if (fabs(error[a] - (a == 3 + k ? turns[i] : 0)) > 1e-12 + 1e-9 * turns[i])
                        fail_msg("turn %g about %d, kind %d: error %d is %g", turns[i], k, t, a, error[a]);
            }
        }
}

/* Opposite directions have an error of half a turn, not of nothing. */
static void opposite_is_far(void **state)
{
    (void)state;
    ulna_tip tip = {.given = ulna_reach_tip_default(0)};
    tip.given.weight[5] = 0;
    ulna_tip_prepare(&tip, 1);
    ulna_target target = {.quaternion = {0, 0, 0, 1}, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    double R[2][9] = {{1, 0, 0, 0, -1, 0, 0, 0, -1}}, p[2][3] = {{0}}, error[6], row[6][2][6];
    ulna_identity9(R[1]);
    ulna_tip_error(&tip, &target, (const double(*)[9])R, (const double(*)[3])p, error, row);
    assert_true(fabs(ulna_norm(error + 3) - ULNA_PI) < 1e-3);
}

/* Terms of tips with free axes have exact second derivatives. */
static void terms_have_second_derivatives(void **state)
{
    (void)state;
    static const char *const shapes[] = {"110000", "001000", "101111", "111100", "111010", "000001", "010110"};
    ulna_test_rng rng = ulna_test_rng_seed(7);
    for (int trial = 0; trial < 70; trial++) {
        ulna_test_robot robot = ulna_test_random_robot(&rng, 6, 0.2);
        ulna_model *model = ulna_test_robot_model(&robot);
        ulna_tip tip = make_tip(shapes[trial % 7], &rng);
        tip.given.body = ulna_model_body_count(model) - 1;
        ulna_tip_numbers numbers;
        ulna_target target;
        ulna_problem *problem;
        ulna_work *work;
        ulna_derivative_report report;
        double q[6];
        random_frame(&rng, target.rotation, target.position);
        ulna_rotation_to_quaternion(target.rotation, target.quaternion);
        ulna_test_rng_fill(&rng, q, 6, -0.4, 0.4);
        assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
        assert_int_equal(ulna_tip_add(&tip, problem, ULNA_REACH_SOFT, &numbers, NULL), ULNA_OK);
        assert_int_equal(ulna_tip_set_goal(&tip, problem, ULNA_REACH_SOFT, &numbers, &target), ULNA_OK);
        assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
        assert_int_equal(ulna_work_create(problem, NULL, &work, NULL), ULNA_OK);
        assert_int_equal(ulna_work_check_derivatives(work, q, &report, NULL), ULNA_OK);
        if (!(report.hessian < 1e-5))
            fail_msg("%s: the Hessian is off by %g", shapes[trial % 7], report.hessian);
        ulna_work_destroy(work);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_match_differences),
        cmocka_unit_test(terms_have_second_derivatives),
        cmocka_unit_test(errors_are_angles),
        cmocka_unit_test(opposite_is_far),
    };
    return cmocka_run_group_tests_name("reach_tip", tests, NULL, NULL);
}
