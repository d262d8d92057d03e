/* The updates of bfgs and lbfgs, against dense algebra and against each other. */
#include "solve/quasi_newton.h"
#include "support_problem.h"
#include "ulna/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* A symmetric positive definite matrix and pairs y = A s. */
static void random_pairs(ulna_test_rng *rng, int n, int count, double *A, double *s, double *y)
{
    double *L = ulna_test_numbers(n * n);
    ulna_test_rng_fill(rng, L, n * n, -1, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i * n + j] = i == j ? 0.1 : 0;
            for (int k = 0; k < n; k++)
                A[i * n + j] += L[i * n + k] * L[j * n + k];
        }
    ulna_test_rng_fill(rng, s, n * count, -1, 1);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < n; i++)
            y[k * n + i] = dot(n, A + i * n, s + k * n);
    free(L);
}

static void set_identity(int n, double factor, double *H)
{
    for (int i = 0; i < n * n; i++)
        H[i] = i % (n + 1) ? 0 : factor;
}

static void bfgs_keeps_the_secant_equation(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(63);
    for (int round = 0; round < 200; round++) {
        int n = 1 + ulna_test_rng_index(&rng, 12), count = 1 + ulna_test_rng_index(&rng, 2 * n);
        double *A = ulna_test_numbers(n * n), *H = ulna_test_numbers(n * n), *s = ulna_test_numbers(n * count);
        double *y = ulna_test_numbers(n * count), *Hy = ulna_test_numbers(n), *scratch = ulna_test_numbers(n);
        random_pairs(&rng, n, count, A, s, y);
        set_identity(n, 0.5, H);
        for (int k = 0; k < count; k++) {
            assert_true(ulna_pair_is_sound(n, s + k * n, y + k * n));
            ulna_bfgs_update(n, s + k * n, y + k * n, H, scratch);
            for (int i = 0; i < n; i++)
                Hy[i] = dot(n, H + i * n, y + k * n);
            ulna_test_assert_close(Hy, s + k * n, n, 1e-9, "H y = s");
            for (int i = 0; i < n * n; i++)
                assert_true(fabs(H[i] - H[i % n * n + i / n]) <= 1e-11 * (1 + ulna_test_largest(H, n * n)));
        }
        for (int k = 0; k < 10; k++) { /* positive definite */
            ulna_test_rng_fill(&rng, scratch, n, -1, 1);
            double sum = 0;
            for (int i = 0; i < n; i++)
                sum += scratch[i] * dot(n, H + i * n, scratch);
            assert_true(sum > 0);
        }
        free(A);
        free(H);
        free(s);
        free(y);
        free(Hy);
        free(scratch);
    }
}

/* Exact line searches along n conjugate directions: H is then the inverse of the Hessian, to rounding. */
static void bfgs_learns_a_quadratic_in_n_steps(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(64);
    enum { N = 7 };
    double A[N * N], H[N * N], s[N], y[N], g[N], scratch[N], x[N];
    random_pairs(&rng, N, 1, A, s, y);
    ulna_test_rng_fill(&rng, x, N, -1, 1);
    set_identity(N, 1, H);
    for (int i = 0; i < N; i++)
        g[i] = dot(N, A + i * N, x);
    for (int k = 0; k < N; k++) {
        for (int i = 0; i < N; i++)
            s[i] = -dot(N, H + i * N, g);
        for (int i = 0; i < N; i++)
            y[i] = dot(N, A + i * N, s);
        double length = -dot(N, g, s) / dot(N, s, y);
        for (int i = 0; i < N; i++) {
            s[i] *= length;
            y[i] *= length;
            g[i] += y[i];
        }
        ulna_bfgs_update(N, s, y, H, scratch);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += H[i * N + k] * A[k * N + j];
            assert_true(fabs(sum - (i == j)) < 1e-8);
        }
}

/* Holding variables and then updating on the others is updating what never knew the held ones. */
static void holding_is_the_inverse_of_the_smaller_matrix(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(65);
    enum { N = 6 };
    for (int round = 0; round < 100; round++) {
        double A[N * N], s[N * N], y[N * N], H[N * N], scratch[N];
        random_pairs(&rng, N, N, A, s, y);

        /* N pairs: H is not A's inverse yet, but that of some B. Now B without two of its rows and columns. */
        set_identity(N, 1, H);
        for (int k = 0; k < N; k++)
            ulna_bfgs_update(N, s + k * N, y + k * N, H, scratch);
        double x[N], image[N], smaller[N * N];
        int held = ulna_test_rng_index(&rng, N), other = (held + 1 + ulna_test_rng_index(&rng, N - 1)) % N;
        memcpy(smaller, H, sizeof H);
        ulna_bfgs_hold(N, held, smaller);
        ulna_bfgs_hold(N, other, smaller);

        /* An image = B x with x[held] = x[other] = 0; of the rest of that image `smaller` makes the same x. */
        ulna_test_rng_fill(&rng, image, N, -1, 1);
        double h11 = H[held * N + held], h12 = H[held * N + other], h22 = H[other * N + other];
        image[held] = image[other] = 0;
        double r1 = -dot(N, H + held * N, image), r2 = -dot(N, H + other * N, image), d = h11 * h22 - h12 * h12;
        image[held] = (r1 * h22 - r2 * h12) / d;
        image[other] = (r2 * h11 - r1 * h12) / d;
        for (int i = 0; i < N; i++)
            x[i] = dot(N, H + i * N, image);
        assert_true(fabs(x[held]) + fabs(x[other]) < 1e-8);
        for (int i = 0; i < N; i++)
            scratch[i] = dot(N, smaller + i * N, image);
        ulna_test_assert_close(scratch, x, N, 1e-8, "held");
        for (int i = 0; i < N; i++)
            assert_true(smaller[i * N + held] == 0 && smaller[held * N + i] == 0 && smaller[i * N + other] == 0);
    }
}

/* The two loops are BFGS updates on a multiple of the identity, in order, on the variables that are free. */
static void two_loops_equal_the_matrix(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(66);
    for (int round = 0; round < 500; round++) {
        int n = 2 + ulna_test_rng_index(&rng, 12), memory = 1 + ulna_test_rng_index(&rng, 9);
        int made = ulna_test_rng_index(&rng, 2 * memory), count = made < memory ? made : memory;
        double *A = ulna_test_numbers(n * n), *H = ulna_test_numbers(n * n), *s = ulna_test_numbers(n * (made + 1));
        double *y = ulna_test_numbers(n * (made + 1)), *scratch = ulna_test_numbers(n),
               *free_ones = ulna_test_numbers(n);
        double *x = ulna_test_numbers(n), *expected = ulna_test_numbers(n), gamma = ulna_test_rng_uniform(&rng, 0.2, 3);
        ulna_pairs pairs = {memory,
                            count,
                            made % memory,
                            ulna_test_numbers(n * memory),
                            ulna_test_numbers(n * memory),
                            ulna_test_numbers(memory),
                            ulna_test_numbers(memory)};
        random_pairs(&rng, n, made, A, s, y);
        for (int i = 0; i < n; i++)
            free_ones[i] = round % 2 ? 1 : ulna_test_rng_index(&rng, 3) > 0;
        for (int k = 0; k < made; k++) {
            memcpy(pairs.s + k % memory * n, s + k * n, (size_t)n * sizeof *s);
            memcpy(pairs.y + k % memory * n, y + k * n, (size_t)n * sizeof *y);
        }
        set_identity(n, gamma, H);
        for (int k = made - count; k < made; k++) {
            for (int i = 0; i < n; i++) {
                s[k * n + i] *= free_ones[i];
                y[k * n + i] *= free_ones[i];
            }
            if (ulna_pair_is_sound(n, s + k * n, y + k * n))
                ulna_bfgs_update(n, s + k * n, y + k * n, H, scratch);
        }
        ulna_test_rng_fill(&rng, x, n, -1, 1);
        for (int i = 0; i < n; i++)
            x[i] *= free_ones[i];
        for (int i = 0; i < n; i++)
            expected[i] = free_ones[i] * dot(n, H + i * n, x);
        ulna_two_loop(n, &pairs, free_ones, gamma, x);
        double size = 1 + ulna_test_largest(expected, n);
        for (int i = 0; i < n; i++)
            if (!(fabs(x[i] - expected[i]) <= 1e-8 * size))
                fail_msg("round %d: element %d is %g, not %g", round, i, x[i], expected[i]);
        double *all[] = {A, H, s, y, scratch, free_ones, x, expected, pairs.s, pairs.y, pairs.rho, pairs.alpha};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            free(all[i]);
    }
}

/* With one pair, and with the same scaling, both are the same; and memory makes no difference until it is full. */
static void lbfgs_begins_as_bfgs_does(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(70);
    enum { ROWS = 12, MEMORY = 4 };
    for (int round = 0; round < 200; round++) {
        ulna_test_bench b = ulna_test_bench_open(&rng, NULL, 1u << ULNA_TERM_POINT | 1u << ULNA_TERM_ORIENTATION, 6);
        ulna_trace_row trace[3][ROWS];
        double *q = ulna_test_numbers(b.nq);
        for (int k = 0; k < 3; k++) {
            ulna_options options = ulna_options_default();
            ulna_result result;
            options.method = k ? "lbfgs" : "bfgs";
            options.bounded = 0;
            options.line.memory = k == 2 ? 100 : MEMORY;
            options.iterations = ROWS - 1;
            options.decrease = 0;
            options.trace = trace[k];
            options.trace_capacity = ROWS;
            memset(trace[k], 0, sizeof trace[k]);
            memcpy(q, b.q, (size_t)b.nq * sizeof *q);
            assert_int_equal(ulna_solve_once(b.problem, &options, q, &result, NULL), ULNA_OK);
        }
        for (int i = 0; i <= 2; i++)
            assert_true(fabs(trace[0][i].f - trace[1][i].f) <= 1e-9 * trace[0][0].f);
        for (int i = 0; i <= MEMORY + 1; i++)
            assert_true(trace[1][i].f == trace[2][i].f);
        free(q);
        ulna_test_bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bfgs_keeps_the_secant_equation),
        cmocka_unit_test(bfgs_learns_a_quadratic_in_n_steps),
        cmocka_unit_test(holding_is_the_inverse_of_the_smaller_matrix),
        cmocka_unit_test(two_loops_equal_the_matrix),
        cmocka_unit_test(lbfgs_begins_as_bfgs_does),
    };
    return cmocka_run_group_tests_name("solve_quasi_newton", tests, NULL, NULL);
}
