/*
 * lm, lm-marquardt, gauss-newton, dls, pinv, qr, transpose: single steps against what the papers' formulas give with
 * dense matrices, on random trees with every kind of term.
 */
#include "support_problem.h"
#include "ulna/solve.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int can_run(const char *method)
{
    return ulna_dense_available() || !(ulna_method_find(method)->flags & ULNA_METHOD_LAPACK);
}

/* ---- one step, and the matrices that it should come from ------------------------------------------------------- */

/* A random problem, random strengths and locked DOFs; r, J in scaled coordinates; and where the first step leads. */
typedef struct scene {
    ulna_test_bench b;
    int m;
    double *unit, *scale, *strength, *r, *A, *g; /* A: J diag(scale), m x nv, locked columns zero */
    double *diagonal;                            /* of JtJ */
    unsigned char *locked;
    double f, largest; /* f at q; the largest element of `diagonal`, in units, of DOFs that are not locked */
    double *y;         /* nv: the step taken, over scale */
    int accepted;
    ulna_trace_row rows[2];
} scene;

/* Some way down from a random pose, and off by a little: steps are then short, residuals large or not. */
static void settle(ulna_test_rng *rng, ulna_test_bench *b)
{
    ulna_options o = ulna_options_default();
    double *off = ulna_test_numbers(b->nv), *q = ulna_test_numbers(b->nq);
    o.bounded = 0;
    o.iterations = 20;
    assert_int_equal(ulna_solve_once(b->problem, &o, b->q, NULL, NULL), ULNA_OK);
    ulna_test_rng_fill(rng, off, b->nv, -0.02, 0.02);
    ulna_model_integrate(b->model, b->q, off, q);
    memcpy(b->q, q, (size_t)b->nq * sizeof *q);
    free(off);
    free(q);
}

static scene scene_open(ulna_test_rng *rng, unsigned types, int terms)
{
    scene s = {.b = ulna_test_bench_open(rng, NULL, types, terms)};
    int nv = s.b.nv;
    settle(rng, &s.b);
    s.m = ulna_work_residual_count(s.b.work);
    double **arrays[] = {&s.unit, &s.scale, &s.strength, &s.g, &s.diagonal, &s.y};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = ulna_test_numbers(nv);
    s.r = ulna_test_numbers(s.m);
    s.A = ulna_test_numbers(s.m * nv);
    s.locked = calloc((size_t)nv + 1, 1);
    assert_int_equal(ulna_work_evaluate(s.b.work, s.b.q, &s.f), ULNA_OK);
    assert_int_equal(ulna_work_gradient(s.b.work, s.g), ULNA_OK);
    assert_int_equal(ulna_work_residuals(s.b.work, s.r, s.A), ULNA_OK);
    for (int j = 0; j < nv; j++) {
        s.unit[j] = ulna_model_dof_is_translation(s.b.model, j) ? ulna_model_length_scale(s.b.model) : 1;
        s.strength[j] = exp(ulna_test_rng_uniform(rng, -1, 1));
        s.locked[j] = ulna_test_rng_index(rng, 6) == 0;
        s.scale[j] = s.unit[j] * s.strength[j];
        for (int i = 0; i < s.m; i++) {
            double *a = &s.A[j * s.m + i];
            s.diagonal[j] += *a * *a;
            *a *= s.locked[j] ? 0 : s.scale[j];
        }
        if (!s.locked[j])
            s.largest = fmax(s.largest, s.diagonal[j] * s.unit[j] * s.unit[j]);
    }
    return s;
}

static void scene_close(scene *s)
{
    double *arrays[] = {s->unit, s->scale, s->strength, s->g, s->diagonal, s->y, s->r, s->A};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    free(s->locked);
    ulna_test_bench_close(&s->b);
}

/* Options of a scene: limits off, so that steps are those of the formulas. */
static ulna_options options_of(scene *s, const char *method)
{
    ulna_options o = ulna_options_default();
    o.method = method;
    o.bounded = 0;
    o.strength = s->strength;
    o.locked = s->locked;
    o.dense.max_step = 0;
    o.trace = s->rows;
    o.trace_capacity = 2;
    return o;
}

/* One iteration. Where it went goes into s->y, by the difference of coordinates; 0 if there was none. */
static int step_once(scene *s, const ulna_options *options)
{
    ulna_solver *solver;
    ulna_stop stop;
    double *q = ulna_test_numbers(s->b.nq);
    ulna_result result;
    assert_int_equal(ulna_solver_create(s->b.problem, options, NULL, &solver, NULL), ULNA_OK);
    assert_int_equal(ulna_solver_begin(solver, s->b.q), ULNA_OK);
    assert_int_equal(ulna_solver_step(solver, &stop), ULNA_OK);
    ulna_model_difference(s->b.model, s->b.q, ulna_solver_q(solver), s->y);
    for (int j = 0; j < s->b.nv; j++)
        s->y[j] /= s->scale[j];
    assert_int_equal(ulna_solver_end(solver, q, &result), ULNA_OK);
    s->accepted = result.trace_count > 1 && s->rows[1].accepted;
    ulna_solver_destroy(solver);
    free(q);
    return s->accepted;
}

/* Longer turns than half a turn come back from coordinates as shorter ones. */
static int is_short(const scene *s, const double *y)
{
    for (int j = 0; j < s->b.nv; j++)
        if (fabs(y[j] * s->scale[j] / s->unit[j]) > 1.5)
            return 0;
    return 1;
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void assert_same_step(const double *y, const double *wanted, int nv, double tolerance, const char *what)
{
    double size = ulna_test_largest(wanted, nv);
    for (int j = 0; j < nv; j++)
        if (!(fabs(y[j] - wanted[j]) <= tolerance * size + 1e-14))
            fail_msg("%s: DOF %d of %d moves by %.17g, not by %.17g", what, j, nv, y[j], wanted[j]);
}

/* y of (AtA + shift) y = At r; shift: nv. By Cholesky; 0 if that fails. */
static int normal_equations(const scene *s, const double *shift, double *y)
{
    int nv = s->b.nv, m = s->m;
    double *N = ulna_test_numbers(nv * nv);
    for (int j = 0; j < nv; j++) {
        for (int i = 0; i < nv; i++)
            N[j * nv + i] = dot(m, s->A + i * m, s->A + j * m);
        N[j * nv + j] += s->locked[j] ? 1 : shift[j];
        y[j] = dot(m, s->A + j * m, s->r);
    }
    int solved = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', nv, N, nv) == 0;
    for (int j = 0; j < nv; j++) /* and not near singular, where two ways of rounding part */
        solved &= s->locked[j] || N[j * nv + j] * N[j * nv + j] > 1e-5 * s->largest;
    solved = solved && LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', nv, 1, N, nv, y, nv) == 0;
    free(N);
    return solved;
}

/* ---- damped steps ------------------------------------------------------------------------------------------------ */

/* Eq. 26: (JtJ + mu I) in scaled coordinates, mu the given part of the largest diagonal element. */
static void levenberg_step(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(101);
    int compared = 0;
    for (int round = 0; round < 300; round++) {
        scene s = scene_open(&rng, ULNA_TEST_ALL_TERMS, 6);
        ulna_options o = options_of(&s, "lm");
        double *shift = ulna_test_numbers(s.b.nv), *y = ulna_test_numbers(s.b.nv);
        o.lm.damping = exp(ulna_test_rng_uniform(&rng, -3, 3));
        for (int j = 0; j < s.b.nv; j++)
            shift[j] = o.lm.damping * s.largest;
        if (s.largest > 0 && step_once(&s, &o) && normal_equations(&s, shift, y) && is_short(&s, y)) {
            assert_same_step(s.y, y, s.b.nv, 1e-9, "lm");
            assert_true(fabs(s.rows[1].damping - o.lm.damping * s.largest) <= 1e-12 * s.rows[1].damping);
            compared++;
        }
        free(shift);
        free(y);
        scene_close(&s);
    }
    assert_true(compared > 200);
}

/* Eq. 27: mu diag(JtJ), with strengths put back and no element below 1e-3 of the largest. */
static void marquardt_step(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(102);
    int compared = 0;
    for (int round = 0; round < 300; round++) {
        scene s = scene_open(&rng, ULNA_TEST_ALL_TERMS, 6);
        ulna_options o = options_of(&s, "lm-marquardt");
        double *shift = ulna_test_numbers(s.b.nv), *y = ulna_test_numbers(s.b.nv);
        o.lm.damping = exp(ulna_test_rng_uniform(&rng, -1, 4));
        for (int j = 0; j < s.b.nv; j++)
            shift[j] = o.lm.damping * fmax(s.diagonal[j] * s.unit[j] * s.unit[j], 1e-3 * s.largest);
        if (s.largest > 0 && step_once(&s, &o) && normal_equations(&s, shift, y) && is_short(&s, y)) {
            assert_same_step(s.y, y, s.b.nv, 1e-8, "lm-marquardt");
            compared++;
        }
        free(shift);
        free(y);
        scene_close(&s);
    }
    assert_true(compared > 150);
}

/* The recipe's eq. 35 as it is written: Jt (JJt + lambda I)^-1 r, with lambda constant or c f. */
static void singularity_robust_step(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(103);
    int compared[2] = {0, 0};
    for (int round = 0; round < 300; round++) {
        scene s = scene_open(&rng, ULNA_TEST_ALL_TERMS & ~(1u << ULNA_TERM_POSTURE), 5);
        ulna_options o = options_of(&s, "dls");
        int m = s.m, nv = s.b.nv, fixed = round % 2;
        double *N = ulna_test_numbers(m * m), *z = ulna_test_numbers(m), *y = ulna_test_numbers(nv);
        o.dls.rule = fixed ? ULNA_DLS_FIXED : ULNA_DLS_ERROR;
        o.dls.damping = round % 3 == 0 ? 0 : exp(ulna_test_rng_uniform(&rng, -2, 2));
        double factor = o.dls.damping > 0 ? o.dls.damping : fixed ? 1e-3 : 1;
        double lambda = factor * (fixed ? s.largest : s.f);
        memcpy(z, s.r, (size_t)m * sizeof *z);
        for (int i = 0; i < m; i++)
            for (int k = 0; k < m; k++) {
                for (int j = 0; j < nv; j++)
                    N[k * m + i] += s.A[j * m + i] * s.A[j * m + k];
                N[k * m + i] += i == k ? lambda : 0;
            }
        int solved = lambda > 0 && LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', m, 1, N, m, z, m) == 0 && step_once(&s, &o);
        for (int j = 0; j < nv; j++)
            y[j] = dot(m, s.A + j * m, z);
        if (solved && is_short(&s, y)) {
            assert_same_step(s.y, y, nv, 1e-8, "dls");
            compared[fixed]++;
        }
        free(N);
        free(z);
        free(y);
        scene_close(&s);
    }
    assert_true(compared[0] > 80 && compared[1] > 80);
}

/* Eq. 14 where JtJ can be inverted: the whole step, or 1/2, 1/4, ... of it. */
static void gauss_newton_step(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(104);
    int whole = 0, parts = 0;
    for (int round = 0; round < 400; round++) {
        scene s = scene_open(&rng, 1u << ULNA_TERM_POSTURE | 1u << ULNA_TERM_POINT | 1u << ULNA_TERM_COUPLING, 7);
        ulna_options o = options_of(&s, "gauss-newton");
        double *zero = ulna_test_numbers(s.b.nv), *y = ulna_test_numbers(s.b.nv);
        if (s.largest > 0 && step_once(&s, &o) && normal_equations(&s, zero, y) && is_short(&s, y)) {
            double part = dot(s.b.nv, s.y, y) / dot(s.b.nv, y, y), halvings = -log2(part);
            assert_true(fabs(halvings - rint(halvings)) < 1e-6);
            for (int j = 0; j < s.b.nv; j++)
                y[j] *= part;
            assert_same_step(s.y, y, s.b.nv, 1e-8, "gauss-newton");
            whole += halvings < 0.5;
            parts += halvings > 0.5;
        }
        free(zero);
        free(y);
        scene_close(&s);
    }
    print_message("[ steps    ] gauss-newton: %d whole, %d shortened\n", whole, parts);
    assert_true(whole > 100);
}

/* ---- undamped steps on the dense Jacobian ------------------------------------------------------------------------ */

/* At (r - A y) against what rounding leaves of it. */
static void assert_normal(const scene *s, const char *what)
{
    double *rest = ulna_test_numbers(s->m), size = 0;
    memcpy(rest, s->r, (size_t)s->m * sizeof *rest);
    for (int j = 0; j < s->b.nv; j++)
        for (int i = 0; i < s->m; i++) {
            rest[i] -= s->A[j * s->m + i] * s->y[j];
            size = fmax(size, fabs(s->A[j * s->m + i]));
        }
    for (int j = 0; j < s->b.nv; j++) {
        double along = dot(s->m, s->A + j * s->m, rest);
        if (!(fabs(along) <= 1e-9 * size * sqrt(2 * s->f)))
            fail_msg("%s: the rest has a part of %g along column %d", what, along, j);
    }
    free(rest);
}

/* Eigenvectors of AtA (columns of V) and how many of its eigenvalues, ascending, are zero; -1 if that is hard to say.
 * */
static int null_space(const scene *s, double *V)
{
    int nv = s->b.nv, zeros = 0;
    double *values = ulna_test_numbers(nv);
    ulna_dense_need need;
    assert_int_equal(ulna_dense_eigen_need(nv, &need), ULNA_OK);
    ulna_dense_work work = {ulna_test_numbers((int)need.reals), calloc(need.integers + 1, sizeof(int)), need};
    for (int j = 0; j < nv; j++)
        for (int i = 0; i < nv; i++)
            V[j * nv + i] = dot(s->m, s->A + i * s->m, s->A + j * s->m);
    assert_int_equal(ulna_dense_eigen(nv, V, 1, values, &work), ULNA_OK);
    while (zeros < nv && values[zeros] < 1e-13 * values[nv - 1])
        zeros++;
    if (zeros < nv && values[zeros] < 1e-5 * values[nv - 1])
        zeros = -1;
    free(values);
    free(work.reals);
    free(work.integers);
    return zeros;
}

/* Eq. 8: the least-squares solution, and of these the shortest: nothing of it lies in the null space. */
static void pseudoinverse_step(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(105);
    int compared = 0, redundant = 0;
    if (!can_run("pinv"))
        skip();
    for (int round = 0; round < 300; round++) {
        scene s = scene_open(&rng, ULNA_TEST_ALL_TERMS, 1 + round % 8);
        ulna_options o = options_of(&s, "pinv");
        int nv = s.b.nv, zeros = -1;
        double *V = ulna_test_numbers(nv * nv);
        if (s.largest > 0)
            zeros = null_space(&s, V);
        if (zeros >= 0 && step_once(&s, &o) && is_short(&s, s.y) && s.rows[1].step < 1.5) {
            assert_normal(&s, "pinv");
            for (int k = 0; k < zeros; k++)
                assert_true(fabs(dot(nv, V + k * nv, s.y)) <= 1e-9 * sqrt(dot(nv, s.y, s.y)));
            compared++;
            redundant += zeros > 0;
        }
        free(V);
        scene_close(&s);
    }
    assert_true(compared > 80 && redundant > 50);
}

/* Fig. 8: a least-squares solution that moves no more joints than the rank. */
static void pivoted_step(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(106);
    int compared = 0, basic = 0;
    if (!can_run("qr"))
        skip();
    for (int round = 0; round < 300; round++) {
        scene s = scene_open(&rng, ULNA_TEST_ALL_TERMS, 1 + round % 8);
        ulna_options o = options_of(&s, "qr");
        int nv = s.b.nv, zeros = -1, moving = 0;
        double *V = ulna_test_numbers(nv * nv);
        if (s.largest > 0)
            zeros = null_space(&s, V);
        if (zeros >= 0 && step_once(&s, &o) && is_short(&s, s.y) && s.rows[1].step < 1.5) {
            assert_normal(&s, "qr");
            for (int j = 0; j < nv; j++)
                moving += fabs(s.y[j]) > 1e-13 && ulna_model_dof_coordinate(s.b.model, j) >= 0;
            assert_true(moving <= nv - zeros);
            compared++;
            basic += zeros > 0;
        }
        free(V);
        scene_close(&s);
    }
    assert_true(compared > 60 && basic > 40);
}

/* Buss's alpha: along At r, and what is left of r stands at right angles to what the step brings. */
static void transposed_step(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(107);
    int compared = 0;
    for (int round = 0; round < 300; round++) {
        scene s = scene_open(&rng, ULNA_TEST_ALL_TERMS, 1 + round % 8);
        ulna_options o = options_of(&s, "transpose");
        int nv = s.b.nv, m = s.m;
        double *y = ulna_test_numbers(nv), *rest = ulna_test_numbers(m), *brings = ulna_test_numbers(m);
        if (step_once(&s, &o) && is_short(&s, s.y) && s.rows[1].step < 1.5) {
            for (int j = 0; j < nv; j++)
                y[j] = dot(m, s.A + j * m, s.r);
            double alpha = dot(nv, y, s.y) / dot(nv, y, y);
            assert_true(alpha > 0 && fabs(alpha - s.rows[1].damping) <= 1e-9 * alpha);
            for (int j = 0; j < nv; j++) {
                y[j] *= alpha;
                for (int i = 0; i < m; i++)
                    brings[i] += s.A[j * m + i] * y[j];
            }
            assert_same_step(s.y, y, nv, 1e-9, "transpose");
            for (int i = 0; i < m; i++)
                rest[i] = s.r[i] - brings[i];
            assert_true(fabs(dot(m, rest, brings)) <= 1e-9 * dot(m, brings, brings));
            compared++;
        }
        free(y);
        free(rest);
        free(brings);
        scene_close(&s);
    }
    assert_true(compared > 200);
}

/* dense.max_step shortens a step and keeps its direction. */
static void steps_are_shortened(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(108);
    int compared = 0;
    for (int round = 0; round < 150; round++) {
        const char *method = round % 3 == 0 ? "pinv" : round % 3 == 1 ? "qr" : "transpose";
        if (!can_run(method))
            continue;
        scene s = scene_open(&rng, ULNA_TEST_ALL_TERMS, 6);
        ulna_options o = options_of(&s, method);
        double *y = ulna_test_numbers(s.b.nv);
        if (step_once(&s, &o) && is_short(&s, s.y) && s.rows[1].step < 1.5 && s.rows[1].step > 0.01) {
            double part = 0.01 / s.rows[1].step;
            for (int j = 0; j < s.b.nv; j++)
                y[j] = part * s.y[j];
            o.dense.max_step = 0.01;
            assert_true(step_once(&s, &o));
            assert_true(fabs(s.rows[1].step - 0.01) < 1e-15);
            assert_same_step(s.y, y, s.b.nv, 1e-8, method);
            compared++;
        }
        free(y);
        scene_close(&s);
    }
    assert_true(compared > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levenberg_step),          cmocka_unit_test(marquardt_step),
        cmocka_unit_test(singularity_robust_step), cmocka_unit_test(gauss_newton_step),
        cmocka_unit_test(pseudoinverse_step),      cmocka_unit_test(pivoted_step),
        cmocka_unit_test(transposed_step),         cmocka_unit_test(steps_are_shortened),
    };
    return cmocka_run_group_tests_name("solve_least_squares", tests, NULL, NULL);
}
