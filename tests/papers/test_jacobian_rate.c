/*
 * The time derivative of the Jacobian, route by route.
 *
 * The closed form of the simple route is held against second differences of forward kinematics alone; all other routes
 * against the closed form, in both frames, at any point, stacked and with any options.
 */
#include <math.h>
#include <stdlib.h>

#include "papers/papers.h"
#include "support_tree.h"

enum { TREES = 2000, MAX_EFFECTORS = 4 };

static const char *const route_names[ULNA_JACOBIAN_ROUTE_COUNT] = {
    "rate, simple", "rate, generic", "rate, adjusted", "rate, twists", "rate, differences",
};

static double route_tolerance(int route)
{
    return route == ULNA_JACOBIAN_DIFFERENCES ? 1e-7 : 1e-11;
}

/* ---- All routes against the closed form ---- */

/* Everything in the first third of the rounds; then trimmed rows, motions and scales; then columns in any order too. */
static ulna_jacobian_options random_options(ulna_test_rng *rng, int round, int nv, double *scale, int *columns)
{
    ulna_jacobian_options o = ulna_jacobian_options_default();
    if (round % 3 > 0) {
        o.rows = 1 + (unsigned)ulna_test_rng_index(rng, 3);
        o.motions = 1 + (unsigned)ulna_test_rng_index(rng, 3);
        ulna_test_rng_fill(rng, scale, nv, -2, 2);
        o.scale = scale;
    }
    if (round % 3 > 1 && nv > 0) {
        o.columns = columns;
        o.column_count = ulna_test_rng_index(rng, 2 * nv + 1);
        for (int c = 0; c < o.column_count; c++)
            columns[c] = ulna_test_rng_index(rng, nv);
    }
    return o;
}

static void routes_agree(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(151);
    for (int round = 0; round < TREES; round++) {
        ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
        int count = 1 + ulna_test_rng_index(&rng, MAX_EFFECTORS);
        ulna_effector e[MAX_EFFECTORS];
        for (int i = 0; i < count; i++)
            e[i] = ulna_test_random_effector(&rng, s.model);
        double *scale = ulna_test_numbers(s.nv), *velocity = ulna_test_numbers(s.nv);
        int *columns = calloc((size_t)(2 * s.nv) + 1, sizeof *columns);
        assert_non_null(columns);
        ulna_test_rng_fill(&rng, velocity, s.nv, -1, 1);
        ulna_jacobian_options o = random_options(&rng, round, s.nv, scale, columns);

        int size = count * ulna_test_jacobian_rows(&o) * (o.columns ? o.column_count : s.nv);
        double *expected = ulna_test_numbers(size), *rate = ulna_test_numbers(size);
        for (int frame = 0; frame < 2; frame++) {
            o.frame = frame ? ULNA_FRAME_BODY : ULNA_FRAME_WORLD;
            assert_int_equal(ulna_papers_jacobian_rate(s.pose, ULNA_JACOBIAN_SIMPLE, &o, velocity, count, e, expected),
                             ULNA_OK);
            for (int route = 1; route < ULNA_JACOBIAN_ROUTE_COUNT; route++) {
                for (int i = 0; i < size; i++)
                    rate[i] = NAN;
                rate[size] = 12345; /* nothing is written past the end */
                assert_int_equal(
                    ulna_papers_jacobian_rate(s.pose, (ulna_jacobian_route)route, &o, velocity, count, e, rate),
                    ULNA_OK);
                ulna_test_assert_close(rate, expected, size, route_tolerance(route), route_names[route]);
                assert_true(rate[size] == 12345);
            }
        }
        free(columns);
        free(scale);
        free(velocity);
        free(expected);
        free(rate);
        ulna_test_scene_close(&s);
    }
}

/* ---- Rate times velocity is acceleration ---- */

/* p'' along the motion at constant velocity of the degrees of freedom: five points, fourth order. */
static void acceleration(ulna_test_scene *s, const ulna_effector *e, const double *velocity, double result[3])
{
    static const double weight[5] = {-1, 16, -30, 16, -1};
    const double h = 1e-3;
    double *step = ulna_test_numbers(s->nv), *q = ulna_test_numbers(s->nq), start[3], p[3];
    assert_int_equal(ulna_pose_point(s->pose, e->body, e->point, start), ULNA_OK);
    for (int i = 0; i < 3; i++)
        result[i] = 0;
    for (int k = 0; k < 5; k++) {
        for (int j = 0; j < s->nv; j++)
            step[j] = (k - 2) * h * velocity[j];
        ulna_model_integrate(s->model, s->q, step, q);
        assert_int_equal(ulna_pose_forward(s->pose, q), ULNA_OK);
        assert_int_equal(ulna_pose_point(s->pose, e->body, e->point, p), ULNA_OK);
        for (int i = 0; i < 3; i++)
            result[i] += weight[k] * (p[i] - start[i]) / (12 * h * h);
    }
    assert_int_equal(ulna_pose_forward(s->pose, s->q), ULNA_OK);
    free(step);
    free(q);
}

static void rate_times_velocity_is_acceleration(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(152);
    for (int round = 0; round < TREES; round++) {
        ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
        ulna_effector e = ulna_test_random_effector(&rng, s.model);
        ulna_jacobian_options o = ulna_jacobian_options_default();
        o.rows = ULNA_ROWS_LINEAR;
        double *velocity = ulna_test_numbers(s.nv), *rate = ulna_test_numbers(3 * s.nv), expected[3];
        ulna_test_rng_fill(&rng, velocity, s.nv, -1, 1);
        acceleration(&s, &e, velocity, expected);
        for (int route = 0; route < ULNA_JACOBIAN_ROUTE_COUNT; route++) {
            double product[3] = {0, 0, 0};
            assert_int_equal(ulna_papers_jacobian_rate(s.pose, (ulna_jacobian_route)route, &o, velocity, 1, &e, rate),
                             ULNA_OK);
            for (int j = 0; j < s.nv; j++)
                for (int i = 0; i < 3; i++)
                    product[i] += rate[3 * j + i] * velocity[j];
            ulna_test_assert_close(product, expected, 3, 1e-7, route_names[route]);
        }
        free(velocity);
        free(rate);
        ulna_test_scene_close(&s);
    }
}

/* ---- Linear in the velocity ---- */

static void rates_are_linear_in_the_velocity(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(153);
    for (int round = 0; round < 200; round++) {
        ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
        ulna_effector e = ulna_test_random_effector(&rng, s.model);
        ulna_jacobian_options o = ulna_jacobian_options_default();
        o.frame = round % 2 ? ULNA_FRAME_BODY : ULNA_FRAME_WORLD;
        int size = 6 * s.nv;
        double *speed[3], *rate[3];
        for (int k = 0; k < 3; k++) {
            speed[k] = ulna_test_numbers(s.nv);
            rate[k] = ulna_test_numbers(size);
        }
        ulna_test_rng_fill(&rng, speed[0], s.nv, -1, 1);
        ulna_test_rng_fill(&rng, speed[1], s.nv, -1e3, 1e3);
        for (int j = 0; j < s.nv; j++)
            speed[2][j] = speed[0][j] - 2 * speed[1][j];
        for (int route = 0; route < ULNA_JACOBIAN_DIFFERENCES; route++) {
            for (int k = 0; k < 3; k++)
                assert_int_equal(
                    ulna_papers_jacobian_rate(s.pose, (ulna_jacobian_route)route, &o, speed[k], 1, &e, rate[k]),
                    ULNA_OK);
            for (int i = 0; i < size; i++)
                rate[0][i] -= 2 * rate[1][i];
            ulna_test_assert_close(rate[2], rate[0], size, 1e-11, route_names[route]);
        }
        for (int k = 0; k < 3; k++) {
            free(speed[k]);
            free(rate[k]);
        }
        ulna_test_scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_agree),
        cmocka_unit_test(rate_times_velocity_is_acceleration),
        cmocka_unit_test(rates_are_linear_in_the_velocity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
