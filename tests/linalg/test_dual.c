/* Multipliers of equations and inequalities against all active sets one after the other, and against the conditions claimed. */
#include "support_linalg.h"

enum { MOST = 8 };

typedef struct program {
    int n, leading;
    double S[MOST * (MOST + 3)], c[MOST], E[MOST], centre[MOST];
    unsigned char is_equation[MOST];
} program;

/* S = sum over k of x xT, `rank` of them, the last `below` of them subtracted. */
static program random_program(ulna_test_rng *rng, int n, int rank, int below)
{
    program p = {.n = n, .leading = n + ulna_test_rng_index(rng, 4)};
    for (int k = 0; k < rank; k++) {
        double x[MOST], sign = k < rank - below ? 1 : -1;
        for (int i = 0; i < n; i++)
            x[i] = ulna_test_rng_normal(rng);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                p.S[i * p.leading + j] += sign * x[i] * x[j];
    }
    for (int i = 0; i < n; i++) {
        p.c[i] = ulna_test_rng_normal(rng);
        p.E[i] = 0.1 + ulna_test_rng_uniform(rng, 0, 1);
        p.centre[i] = ulna_test_rng_index(rng, 2) ? ulna_test_rng_normal(rng) : 0;
        p.is_equation[i] = ulna_test_rng_index(rng, 3) == 0;
    }
    return p;
}

static double slack(const program *p, const double *beta, int i)
{
    double w = p->c[i] + p->E[i] * (beta[i] - p->centre[i]);
    for (int j = 0; j < p->n; j++)
        w += p->S[i * p->leading + j] * beta[j];
    return w;
}

/* How far beta is from the conditions that it must keep. */
static double violation(const program *p, const double *beta)
{
    double worst = 0;
    for (int i = 0; i < p->n; i++) {
        double w = slack(p, beta, i);
        worst = fmax(worst, p->is_equation[i] ? fabs(w) : fmax(fmax(-w, -beta[i]), fmin(fabs(w), fabs(beta[i]))));
    }
    return worst;
}

/* beta with the rows of a set active, by Gaussian elimination with pivoting; the others are 0. */
static void beta_of_set(const program *p, unsigned set, double *beta)
{
    int row[MOST], m = 0;
    double A[MOST][MOST + 1];
    for (int i = 0; i < p->n; i++) {
        beta[i] = 0;
        if (set >> i & 1)
            row[m++] = i;
    }
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++)
            A[i][j] = p->S[row[i] * p->leading + row[j]] + (i == j ? p->E[row[i]] : 0);
        A[i][m] = p->E[row[i]] * p->centre[row[i]] - p->c[row[i]];
    }
    for (int k = 0; k < m; k++) {
        int best = k;
        for (int i = k; i < m; i++)
            best = fabs(A[i][k]) > fabs(A[best][k]) ? i : best;
        for (int j = k; j <= m; j++) {
            double swap = A[k][j];
            A[k][j] = A[best][j];
            A[best][j] = swap;
        }
        for (int i = 0; i < m; i++) {
            double factor = A[i][k] / A[k][k];
            for (int j = k; i != k && j <= m; j++)
                A[i][j] -= factor * A[k][j];
        }
    }
    for (int i = 0; i < m; i++)
        beta[row[i]] = A[i][m] / A[i][i];
}

/* The multipliers of the set that violates its conditions least, all sets tried. */
static double search(const program *p, double *beta)
{
    double best = INFINITY, tried[MOST];
    for (unsigned set = 0; set < 1u << p->n; set++) {
        int has_equations = 1;
        for (int i = 0; i < p->n; i++)
            has_equations &= !p->is_equation[i] || (set >> i & 1);
        beta_of_set(p, set, tried);
        double worst = violation(p, tried);
        if (has_equations && worst < best) {
            best = worst;
            memcpy(beta, tried, sizeof tried);
        }
    }
    return best;
}

static ulna_status solve(const program *p, unsigned char *active, double *beta, int *negative)
{
    double *scratch = new_numbers(ulna_dual_size(p->n));
    ulna_status status =
        ulna_dual_solve(p->n, p->S, p->leading, p->c, p->E, p->centre, p->is_equation, active, beta, scratch, negative);
    free(scratch);
    return status;
}

static void equals_the_search_over_all_sets(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(1);
    for (int round = 0; round < 2000; round++) {
        int n = 1 + ulna_test_rng_index(&rng, MOST), negative = -1;
        program p = random_program(&rng, n, 1 + ulna_test_rng_index(&rng, n + 2), 0);
        double expected[MOST] = {0}, beta[MOST];
        unsigned char active[MOST], again[MOST];
        for (int i = 0; i < n; i++) /* a warm start that is right, wrong or absent */
            active[i] = (unsigned char)(round % 2 ? ulna_test_rng_index(&rng, 2) : 0);
        assert_true(search(&p, expected) < 1e-10);
        assert_int_equal(solve(&p, active, beta, &negative), ULNA_OK);
        assert_close(beta, expected, (size_t)n, 1e-9);
        assert_true(violation(&p, beta) < 1e-11);
        assert_int_equal(negative, 0);
        for (int i = 0; i < n; i++) {
            assert_true(active[i] || (beta[i] == 0 && !p.is_equation[i]));
            assert_true(p.is_equation[i] || beta[i] >= 0);
        }
        memcpy(again, active, sizeof active);
        assert_int_equal(solve(&p, again, beta, NULL), ULNA_OK);
        assert_memory_equal(again, active, (size_t)n);
        assert_close(beta, expected, (size_t)n, 1e-9);
    }
}

/* The same row twice and more, whose S is singular: E shares the multiplier out. */
static void redundant_rows_share_a_multiplier(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(2);
    for (int round = 0; round < 500; round++) {
        program p = random_program(&rng, MOST, 2, 0);
        for (int i = 0; i < MOST; i++) {
            int twin = i % 3;
            p.E[i] = 1e-6;
            p.centre[i] = 0;
            p.is_equation[i] = p.is_equation[twin];
            p.c[i] = p.c[twin];
            for (int j = 0; j < MOST; j++)
                p.S[i * p.leading + j] = p.S[twin * p.leading + j % 3];
        }
        double beta[MOST], expected[MOST];
        unsigned char active[MOST] = {0};
        assert_int_equal(solve(&p, active, beta, NULL), ULNA_OK);
        search(&p, expected);
        double scale = 1 + largest_of(beta, MOST);
        assert_true(violation(&p, beta) < 1e-9 * scale);
        for (int i = 3; i < MOST; i++)
            assert_true(fabs(beta[i] - beta[i % 3]) < 1e-7 * scale);
        assert_close(beta, expected, MOST, 1e-6);
    }
}

/* Rows that are met exactly and need no force: both signs of rounding must be accepted. */
static void degenerate_rows_end(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(3);
    for (int round = 0; round < 1000; round++) {
        int n = 2 + ulna_test_rng_index(&rng, MOST - 1);
        program p = random_program(&rng, n, n + 1, 0);
        double truth[MOST], beta[MOST];
        unsigned char active[MOST];
        for (int i = 0; i < n; i++) {
            truth[i] = ulna_test_rng_index(&rng, 2) ? ulna_test_rng_uniform(&rng, 0, 1) : 0;
            active[i] = (unsigned char)ulna_test_rng_index(&rng, 2);
            p.c[i] = p.centre[i] = 0;
        }
        for (int i = 0; i < n; i++)
            p.c[i] -= slack(&p, truth, i); /* w = 0 everywhere */
        assert_int_equal(solve(&p, active, beta, NULL), ULNA_OK);
        for (int i = 0; i < n; i++)
            assert_true(fabs(beta[i] - truth[i]) < 1e-10);
    }
}

/* An indefinite S may have no solution or several: what is claimed to be one is one, and its negative pivots are counted. */
static void indefinite_claims_hold(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(4);
    int solved = 0, counted = 0;
    for (int round = 0; round < 2000; round++) {
        int n = 1 + ulna_test_rng_index(&rng, MOST), negative = -1, m = 0;
        program p = random_program(&rng, n, n + 2, 2);
        double beta[MOST], block[MOST * MOST];
        int row[MOST];
        unsigned char active[MOST] = {0};
        ulna_status status = solve(&p, active, beta, &negative);
        if (status != ULNA_OK) {
            assert_true(status == ULNA_ERR_CONVERGENCE || status == ULNA_ERR_SINGULAR);
            continue;
        }
        solved++;
        assert_true(violation(&p, beta) < 1e-6 * (1 + largest_of(beta, (size_t)n)));
        for (int i = 0; i < n; i++)
            if (active[i])
                row[m++] = i;
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++)
                block[i + m * j] = p.S[row[i] * p.leading + row[j]] + (i == j ? p.E[row[i]] : 0);
        double *values = new_eigenvalues(m, block, NULL);
        int below = 0;
        for (int i = 0; i < m; i++)
            below += values[i] < 0;
        assert_int_equal(negative, below);
        counted += below;
        free(values);
    }
    assert_true(solved > 1000 && counted > 200);
}

static void hostile_input_is_refused(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(5);
    program p = random_program(&rng, 4, 5, 0), q = p;
    double beta[MOST], scratch[MOST * (MOST + 6)];
    unsigned char active[MOST] = {0};
    assert_int_equal(ulna_dual_size(-1), 0);
    assert_true(ulna_dual_size(MOST) <= sizeof scratch / sizeof *scratch);
    assert_int_equal(ulna_dual_solve(0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_dual_solve(-1, p.S, 4, p.c, p.E, p.centre, p.is_equation, active, beta, scratch, NULL),
                     ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dual_solve(4, p.S, 3, p.c, p.E, p.centre, p.is_equation, active, beta, scratch, NULL),
                     ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dual_solve(4, p.S, 4, NULL, p.E, p.centre, p.is_equation, active, beta, scratch, NULL),
                     ULNA_ERR_ARGUMENT);
    q.c[2] = NAN;
    assert_int_equal(solve(&q, active, beta, NULL), ULNA_ERR_NUMBER);
    q = p;
    q.S[0] = INFINITY;
    assert_int_equal(solve(&q, active, beta, NULL), ULNA_ERR_NUMBER);
    q = (program){.n = 2, .leading = 2, .S = {1, 1, 1, 1}, .c = {1, 2}, .is_equation = {1, 1}};
    assert_int_equal(solve(&q, active, beta, NULL), ULNA_ERR_SINGULAR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_search_over_all_sets),
        cmocka_unit_test(redundant_rows_share_a_multiplier),
        cmocka_unit_test(degenerate_rows_end),
        cmocka_unit_test(indefinite_claims_hold),
        cmocka_unit_test(hostile_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
