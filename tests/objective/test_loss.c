/* Robust losses: the cost and its gradient against plain formulas and differences; distances after a step. */
#include "support_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const ulna_loss losses[] = {ULNA_LOSS_SQUARE, ULNA_LOSS_GEMAN_MCCLURE, ULNA_LOSS_CAUCHY, ULNA_LOSS_HUBER};
enum { LOSSES = sizeof losses / sizeof *losses, POINTS = 6 };

/* A random tree of any joints with points, and a loss on all of them but the first. */
static ulna_test_bench open_bench(ulna_test_rng *rng, ulna_loss loss, double scale)
{
    ulna_test_tree_options options = ulna_test_tree_options_default();
    ulna_test_bench b = ulna_test_bench_open(rng, &options, 1u << ULNA_TERM_POINT, POINTS);
    double f;
    assert_int_equal(ulna_problem_set_loss(b.problem, 1, POINTS - 1, loss, scale), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
    return b;
}

/* rho(r) as in the header's table. */
static double rho(ulna_loss loss, double r, double c)
{
    switch (loss) {
    case ULNA_LOSS_GEMAN_MCCLURE:
        return r * r / (1 + r * r / (c * c)) / 2;
    case ULNA_LOSS_CAUCHY:
        return c * c * log(1 + r * r / (c * c)) / 2;
    case ULNA_LOSS_HUBER:
        return r < c ? r * r / 2 : c * r - c * c / 2;
    default:
        return r * r / 2;
    }
}

static void the_cost_is_that_of_the_formula(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(31);
    for (int n = 0; n < 400; n++) {
        ulna_loss loss = losses[n % LOSSES];
        double c = ulna_test_rng_uniform(&rng, 0.05, 2), f, expected = 0;
        ulna_test_bench b = open_bench(&rng, loss, c);
        assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
        for (int i = 0; i < POINTS; i++) {
            double r;
            assert_int_equal(ulna_work_term_error(b.work, i, &r), ULNA_OK);
            expected += ulna_problem_weight(b.problem, i) * rho(i ? loss : ULNA_LOSS_SQUARE, r, c);
        }
        if (!(fabs(f - expected) <= 1e-12 * expected))
            fail_msg("loss %d: %.17g, not %.17g", (int)loss, f, expected);
        ulna_test_bench_close(&b);
    }
}

/* Central differences of f; and J^T r of the residuals, as least-squares methods see it. */
static void the_gradient_is_that_of_the_cost(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(32);
    const double h = 1e-5;
    for (int n = 0; n < 400; n++) {
        ulna_loss loss = losses[n % LOSSES];
        ulna_test_bench b = open_bench(&rng, loss, ulna_test_rng_uniform(&rng, 0.2, 2));
        int rows = ulna_work_residual_count(b.work);
        double *g = ulna_test_numbers(b.nv), *step = ulna_test_numbers(b.nv), *q = ulna_test_numbers(b.nq), f[2],
               size = 0;
        double *r = ulna_test_numbers(rows), *J = ulna_test_numbers(rows * b.nv);
        assert_int_equal(ulna_work_gradient(b.work, g), ULNA_OK);
        assert_int_equal(ulna_work_residuals(b.work, r, J), ULNA_OK);
        for (int d = 0; d < b.nv; d++)
            size = fmax(size, fabs(g[d]));
        for (int d = 0; d < b.nv; d++) {
            double product = 0;
            for (int k = 0; k < rows; k++)
                product -= J[d * rows + k] * r[k];
            for (int side = 0; side < 2; side++) {
                memset(step, 0, (size_t)b.nv * sizeof *step);
                step[d] = side ? h : -h;
                ulna_model_integrate(b.model, b.q, step, q);
                assert_int_equal(ulna_work_evaluate(b.work, q, &f[side]), ULNA_OK);
            }
            double difference = (f[1] - f[0]) / (2 * h);
            if (!(fabs(difference - g[d]) <= 1e-6 * size + 1e-9) || !(fabs(product - g[d]) <= 1e-11 * size + 1e-14))
                fail_msg("loss %d: gradient %.12g, by differences %.12g, by residuals %.12g", (int)loss, g[d],
                         difference, product);
        }
        free(g);
        free(step);
        free(q);
        free(r);
        free(J);
        ulna_test_bench_close(&b);
    }
}

/* Every kernel gives the same cost and step. */
static void kernels_agree(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(33);
    const char *names[] = {"avx2", "avx512"};
    for (int n = 0; n < 100; n++) {
        ulna_test_bench b = open_bench(&rng, losses[n % LOSSES], 0.5);
        double *shift = ulna_test_numbers(b.nv), *one = ulna_test_numbers(b.nv), *other = ulna_test_numbers(b.nv), f[2];
        for (int d = 0; d < b.nv; d++)
            shift[d] = 1;
        ulna_step_options options = {.shift = shift};
        assert_int_equal(ulna_pose_set_kernel(b.work->pose, "portable"), ULNA_OK);
        assert_int_equal(ulna_work_evaluate(b.work, b.q, &f[0]), ULNA_OK);
        assert_int_equal(ulna_work_step(b.work, &options, one, NULL, NULL), ULNA_OK);
        for (int k = 0; k < 2; k++) {
            if (ulna_pose_set_kernel(b.work->pose, names[k]) != ULNA_OK)
                continue;
            assert_int_equal(ulna_work_evaluate(b.work, b.q, &f[1]), ULNA_OK);
            assert_int_equal(ulna_work_step(b.work, &options, other, NULL, NULL), ULNA_OK);
            assert_true(fabs(f[1] - f[0]) <= 1e-12 * f[0]);
            for (int d = 0; d < b.nv; d++)
                assert_true(fabs(one[d] - other[d]) <= 1e-10 * (1 + fabs(one[d])));
        }
        free(shift);
        free(one);
        free(other);
        ulna_test_bench_close(&b);
    }
}

/* Distances by the twists of a step differ from those at the pose after it by the square of the step. */
static void distances_after_a_step_are_of_first_order(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(34);
    for (int n = 0; n < 200; n++) {
        ulna_test_bench b = open_bench(&rng, ULNA_LOSS_GEMAN_MCCLURE, 1);
        double *shift = ulna_test_numbers(b.nv), *step = ulna_test_numbers(b.nv), *q = ulna_test_numbers(b.nq);
        double before[POINTS], linear[POINTS], after[POINTS], f, size = 0, moved = 0;
        for (int d = 0; d < b.nv; d++)
            shift[d] = 1e4; /* short steps */
        ulna_step_options options = {.shift = shift};
        assert_int_equal(ulna_point_errors(b.work, 0, POINTS, 0, before), ULNA_OK);
        assert_int_equal(ulna_work_step(b.work, &options, step, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_point_errors(b.work, 0, POINTS, 1, linear), ULNA_OK);
        ulna_model_integrate(b.model, b.q, step, q);
        assert_int_equal(ulna_work_evaluate(b.work, q, &f), ULNA_OK);
        assert_int_equal(ulna_point_errors(b.work, 0, POINTS, 0, after), ULNA_OK);
        for (int d = 0; d < b.nv; d++)
            size += fabs(step[d]);
        for (int i = 0; i < POINTS; i++) {
            double off = fabs(linear[i] - after[i]), reach = 4 * b.model->length_scale + before[i];
            moved = fmax(moved, fabs(after[i] - before[i]));
            if (!(off <= reach * size * size + 1e-12))
                fail_msg("%g off after a step of %g", off, size);
        }
        assert_true(moved > 0 || size == 0);
        free(shift);
        free(step);
        free(q);
        ulna_test_bench_close(&b);
    }
}

static void mistakes_are_refused(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(35);
    ulna_test_bench b = open_bench(&rng, ULNA_LOSS_CAUCHY, 1);
    assert_int_equal(ulna_problem_set_loss(NULL, 0, 1, ULNA_LOSS_CAUCHY, 1), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_set_loss(b.problem, 0, POINTS + 1, ULNA_LOSS_CAUCHY, 1), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_set_loss(b.problem, -1, 1, ULNA_LOSS_CAUCHY, 1), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_set_loss(b.problem, 0, 1, ULNA_LOSS_CAUCHY, 0), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_set_loss(b.problem, 0, 1, ULNA_LOSS_CAUCHY, (double)NAN), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_set_loss(b.problem, 0, 1, (ulna_loss)9, 1), ULNA_ERR_ARGUMENT);
    ulna_test_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cost_is_that_of_the_formula),
        cmocka_unit_test(the_gradient_is_that_of_the_cost),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(distances_after_a_step_are_of_first_order),
        cmocka_unit_test(mistakes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
