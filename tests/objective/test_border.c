/* Rows beside the tree against dense algebra: S, J d0, the step, signs of pivots, decrease; on every kernel. */
#include "objective/border.h"
#include "support_problem.h"
#include "ulna/sample.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 22, MOST_DOFS = 3 };

/* ---- random rows ---------------------------------------------------------------------------------------------------- */

typedef struct random_rows {
    int count;
    ulna_row row[MOST_ROWS];
    const ulna_row *pointer[MOST_ROWS];
    int dof[MOST_ROWS][MOST_DOFS];
    double coefficient[MOST_ROWS][MOST_DOFS];
} random_rows;

static void fill_row(ulna_test_rng *rng, const ulna_model *model, random_rows *rows, int i)
{
    ulna_row *row = &rows->row[i];
    int kind = ulna_test_rng_index(rng, 6); /* one part (often), two, DOFs, the centre, all of them */
    row->part_count = kind < 2 ? 1 : kind == 2 || kind == 5 ? 2 : 0;
    for (int p = 0; p < row->part_count; p++) {
        row->part[p].link = ulna_test_rng_index(rng, model->nl);
        ulna_test_rng_fill(rng, row->part[p].wrench, 6, -1, 1);
    }
    if (kind == 1 && i > 0 && rows->row[i - 1].part_count) /* rows on one body come together */
        row->part[0].link = rows->row[i - 1].part[0].link;
    row->dof_count = (kind == 3 || kind == 5) && model->nv > 0 ? 1 + ulna_test_rng_index(rng, MOST_DOFS) : 0;
    for (int k = 0; k < row->dof_count; k++) {
        rows->dof[i][k] = ulna_test_rng_index(rng, model->nv);
        rows->coefficient[i][k] = ulna_test_rng_uniform(rng, -1, 1);
    }
    row->dof = rows->dof[i];
    row->coefficient = rows->coefficient[i];
    row->has_centre = kind >= 4;
    ulna_test_rng_fill(rng, row->centre, 3, -1, 1);
}

static void fill_rows(ulna_test_rng *rng, const ulna_model *model, random_rows *rows)
{
    memset(rows, 0, sizeof *rows);
    rows->count = ulna_test_rng_index(rng, MOST_ROWS + 1);
    for (int i = 0; i < rows->count; i++) {
        fill_row(rng, model, rows, i);
        rows->pointer[i] = &rows->row[i];
    }
}

/* ---- dense ---------------------------------------------------------------------------------------------------------- */

/* What a wrench on a link does to the DOFs above it. */
static void add_wrench(const ulna_pose *pose, int link, const double wrench[6], double *J)
{
    for (int l = link; l >= 0; l = pose->model->link[l].parent)
        for (int d = pose->model->link[l].dof, end = d + pose->model->link[l].dof_count; d < end; d++)
            for (int k = 0; k < 3; k++)
                J[d] += wrench[k] * pose->motion[2 * d][k] + wrench[3 + k] * pose->motion[2 * d + 1][k];
}

static void dense_row(const ulna_pose *pose, const ulna_row *row, double *J)
{
    const ulna_model *model = pose->model;
    double whole = 0;
    for (int p = 0; p < row->part_count; p++)
        add_wrench(pose, row->part[p].link, row->part[p].wrench, J);
    for (int i = 0; i < row->dof_count; i++)
        J[row->dof[i]] += row->coefficient[i];
    for (int b = 0; b < model->nb; b++)
        whole += ulna_model_body_mass(model, b)->mass;
    for (int b = 0; row->has_centre && whole > 0 && b < model->nb; b++) {
        const ulna_mass *mass = ulna_model_body_mass(model, b);
        double c[3], wrench[6], part = mass->mass / whole;
        const double *n = row->centre;
        ulna_pose_point_relative(pose, b, mass->center, c);
        for (int k = 0; k < 3; k++) {
            int j = (k + 1) % 3, m = (k + 2) % 3;
            wrench[k] = part * (c[j] * n[m] - c[m] * n[j]);
            wrench[3 + k] = part * n[k];
        }
        add_wrench(pose, model->body[b].link, wrench, J);
    }
}

typedef struct dense {
    int n, m;             /* DOFs, rows */
    double *M;            /* n x n, couplings left out */
    double *J;            /* n x m, row after row */
    double *Z;            /* n x m: M^-1 JT on the free DOFs */
    double *g, *d0;       /* n */
    double *S, *drift;    /* m x m, m */
    int negative;         /* eigenvalues of the free part */
    double worst, stable; /* smallest over largest of them; smallest pivot in the order of the elimination, likewise */
    double decrease;
} dense;

/* X = M_ff^-1 X on the free DOFs, 0 on the others. Returns what LAPACK says. */
static int solve_free(const dense *x, const unsigned char *locked, int columns, double *X)
{
    int n = x->n, info = 0;
    double *A = ulna_test_numbers(n * n);
    int *pivot = calloc((size_t)n + 1, sizeof *pivot);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            A[j * n + i] = locked && (locked[i] || locked[j]) ? i == j : x->M[j * n + i];
    for (int k = 0; k < columns; k++)
        for (int i = 0; locked && i < n; i++)
            X[k * n + i] = locked[i] ? 0 : X[k * n + i];
    if (n > 0 && columns > 0)
        info = LAPACKE_dsysv(LAPACK_COL_MAJOR, 'L', n, columns, A, n, pivot, X, n);
    free(A);
    free(pivot);
    return info;
}

static void count_signs(dense *x, const unsigned char *locked)
{
    int n = x->n;
    double *A = ulna_test_numbers(n * n), *values = ulna_test_numbers(n), least = INFINITY, most = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            A[j * n + i] = locked && (locked[i] || locked[j]) ? (i == j) * 1e-3 : x->M[j * n + i];
    if (n > 0)
        assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', n, A, n, values), 0);
    for (int i = 0; i < n; i++) {
        x->negative += values[i] < 0;
        least = fmin(least, fabs(values[i]));
        most = fmax(most, fabs(values[i]));
    }
    x->worst = n > 0 ? least / most : 1;
    /* Without pivoting, from the last DOF to the first: how small a pivot gets says how much the elimination may lose. */
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            A[j * n + i] = locked && (locked[i] || locked[j]) ? i == j : x->M[j * n + i];
    double size = 0;
    for (int k = n - 1; k >= 0; k--)
        for (int j = 0; j < k; j++)
            for (int i = 0; i < k; i++) {
                A[j * n + i] -= A[k * n + i] * A[k * n + j] / A[k * n + k];
                size = fmax(size, fabs(A[j * n + i]));
            }
    x->stable = most / fmax(most, size);
    free(A);
    free(values);
}

static dense dense_open(const ulna_test_bench *b, const ulna_step_options *options, const random_rows *rows)
{
    int n = b->nv, m = rows->count;
    dense x = {.n = n, .m = m};
    x.M = ulna_test_numbers(n * n), x.J = ulna_test_numbers(n * m), x.Z = ulna_test_numbers(n * m);
    x.g = ulna_test_numbers(n), x.d0 = ulna_test_numbers(n), x.S = ulna_test_numbers(m * m);
    x.drift = ulna_test_numbers(m);
    assert_int_equal(ulna_work_gradient(b->work, x.g), ULNA_OK);
    assert_int_equal(ulna_work_hessian_dense(b->work, options->t, x.M), ULNA_OK);
    for (int d = 0; d < n; d++)
        x.M[d * n + d] += options->shift[d];
    for (int i = 0; i < m; i++)
        dense_row(b->work->pose, &rows->row[i], x.J + i * n);
    memcpy(x.Z, x.J, (size_t)(n * m) * sizeof *x.Z);
    assert_int_equal(solve_free(&x, options->locked, m, x.Z), 0);

    double *moved = ulna_test_numbers(n);
    for (int d = 0; d < n; d++)
        moved[d] = options->locked && options->locked[d] && options->displacement ? options->displacement[d] : 0;
    for (int i = 0; i < n; i++) {
        x.d0[i] = -x.g[i];
        for (int j = 0; j < n; j++)
            x.d0[i] -= x.M[j * n + i] * moved[j];
    }
    assert_int_equal(solve_free(&x, options->locked, 1, x.d0), 0);
    for (int i = 0; i < n; i++) {
        x.d0[i] += moved[i];
        x.decrease -= x.g[i] * x.d0[i];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x.decrease -= 0.5 * x.d0[i] * x.M[j * n + i] * x.d0[j];
    for (int i = 0; i < m; i++)
        for (int d = 0; d < n; d++) {
            x.drift[i] += x.J[i * n + d] * x.d0[d];
            for (int j = 0; j < m; j++)
                x.S[i * m + j] += x.J[i * n + d] * x.Z[j * n + d];
        }
    count_signs(&x, options->locked);
    free(moved);
    return x;
}

static void dense_close(dense *x)
{
    free(x->M), free(x->J), free(x->Z), free(x->g), free(x->d0), free(x->S), free(x->drift);
}

/* ---- the border ------------------------------------------------------------------------------------------------------ */

typedef struct border_memory {
    ulna_border border;
    void *memory;
} border_memory;

static border_memory border_open(const ulna_model *model, int capacity)
{
    border_memory b;
    ulna_arena count = {0};
    ulna_border_take(&b.border, model, capacity, &count);
    assert_false(count.failed);
    b.memory = aligned_alloc(64, (count.used + 127) & ~(size_t)63);
    assert_non_null(b.memory);
    memset(b.memory, 0x7f, count.used); /* nothing may depend on what was there */
    ulna_arena arena = {.memory = b.memory};
    ulna_border_take(&b.border, model, capacity, &arena);
    assert_true(b.border.capacity >= capacity);
    return b;
}

/* In several calls, or in one. */
static void add_rows(ulna_work *work, ulna_border *border, const random_rows *rows, ulna_test_rng *rng, int at_once)
{
    for (int i = 0; i < rows->count;) {
        int n = at_once ? rows->count : 1 + ulna_test_rng_index(rng, 6);
        n = n < rows->count - i ? n : rows->count - i;
        assert_int_equal(ulna_border_add(work, border, rows->pointer + i, n), ULNA_OK);
        i += n;
    }
    assert_int_equal(border->count, rows->count);
}

static void assert_within(const double *a, const double *b, int n, double tolerance, const char *what, int round)
{
    double scale = DBL_MIN, worst = 0;
    for (int i = 0; i < n; i++) {
        scale = fmax(scale, fabs(b[i]));
        worst = fmax(worst, fabs(a[i] - b[i]));
    }
    if (!(worst <= tolerance * scale))
        fail_msg("%s, round %d: differs by %.3g of %.3g", what, round, worst, scale);
}

static void compare(ulna_test_rng *rng, const ulna_test_bench *b, ulna_border *border, const dense *x,
                    const random_rows *rows, int round)
{
    int n = x->n, m = x->m;
    double tolerance = 1e-14 / (x->worst * x->stable), S[MOST_ROWS * MOST_ROWS], beta[MOST_ROWS], velocity[MOST_ROWS];
    double expected[MOST_ROWS];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            S[i * m + j] = border->schur[i * border->capacity + j];
            assert_true(border->schur[j * border->capacity + i] == S[i * m + j]);
        }
    assert_within(S, x->S, m * m, tolerance, "S", round);
    assert_within(border->drift, x->drift, m, 10 * tolerance, "J d0", round);
    assert_int_equal(border->negative, x->negative);
    assert_within(&border->decrease, &x->decrease, 1, 100 * tolerance, "decrease", round);
    double *step = ulna_test_numbers(n), *whole = ulna_test_numbers(n);
    for (int again = 0; again < 2; again++) { /* the second step does not see the first */
        ulna_test_rng_fill(rng, beta, m, -1, 1);
        ulna_border_step(b->work, border, beta, step);
        for (int d = 0; d < n; d++) {
            whole[d] = x->d0[d];
            for (int i = 0; i < m; i++)
                whole[d] += x->Z[i * n + d] * beta[i];
        }
        assert_within(step, whole, n, 10 * tolerance, "step", round);
        for (int i = 0; i < m; i++) {
            velocity[i] = ulna_border_velocity(b->work, &rows->row[i], step);
            expected[i] = 0;
            for (int d = 0; d < n; d++)
                expected[i] += x->J[i * n + d] * step[d];
        }
        assert_within(velocity, expected, m, 1e-11, "velocity", round);
    }
    free(step);
    free(whole);
}

typedef struct options_memory {
    ulna_step_options options;
    double *shift, *displacement;
    unsigned char *locked;
} options_memory;

/* Damping is small where the matrix shall be indefinite. */
static options_memory random_options(ulna_test_rng *rng, int nv, int round)
{
    options_memory o = {.shift = ulna_test_numbers(nv), .displacement = ulna_test_numbers(nv)};
    o.locked = calloc((size_t)nv + 1, 1);
    for (int d = 0; d < nv; d++) {
        o.shift[d] = (round % 3 ? 0.02 : 1) * ulna_test_rng_uniform(rng, 0.5, 2);
        o.locked[d] = (unsigned char)(ulna_test_rng_index(rng, 4) == 0);
        o.displacement[d] = ulna_test_rng_uniform(rng, -0.3, 0.3);
    }
    o.options = (ulna_step_options){.t = round % 2, .shift = o.shift};
    if (round % 4 > 1)
        o.options.locked = o.locked;
    if (round % 8 > 3)
        o.options.displacement = o.displacement;
    return o;
}

static void options_close(options_memory *o)
{
    free(o->shift), free(o->displacement), free(o->locked);
}

static ulna_test_bench random_bench(ulna_test_rng *rng)
{
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    tree.max_bodies = 18;
    tree.masses = 0.7;
    return ulna_test_bench_open(rng, &tree, ULNA_TEST_ALL_TERMS & ~(1u << ULNA_TERM_COUPLING),
                                1 + ulna_test_rng_index(rng, 20));
}

static void equals_dense_algebra(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(41);
    int solved = 0, indefinite = 0, refused = 0;
    for (int round = 0; round < 3000; round++) {
        ulna_test_bench b = random_bench(&rng);
        options_memory o = random_options(&rng, b.nv, round);
        random_rows rows;
        fill_rows(&rng, b.model, &rows);
        dense x = dense_open(&b, &o.options, &rows);
        border_memory memory = border_open(b.model, MOST_ROWS);
        ulna_status status = ulna_border_factor(b.work, &o.options, &memory.border);
        if (status == ULNA_OK && x.worst * x.stable > 1e-8) {
            assert_int_equal(memory.border.count, 0);
            add_rows(b.work, &memory.border, &rows, &rng, round % 2);
            compare(&rng, &b, &memory.border, &x, &rows, round);
            solved++;
            indefinite += x.negative > 0;
        } else if (status != ULNA_OK) {
            assert_int_equal(status, ULNA_ERR_SINGULAR);
            refused++;
        }
        free(memory.memory);
        dense_close(&x);
        options_close(&o);
        ulna_test_bench_close(&b);
    }
    assert_true(solved > 2800 && indefinite > 400 && refused < 3);
}

/* A soft coupling as a row with E = 1 / weight gives the step of ulna_work_step. */
static void couplings_are_rows(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(42);
    int coupled = 0;
    for (int round = 0; round < 300; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, ULNA_TEST_ALL_TERMS, 12);
        options_memory o = random_options(&rng, b.nv, 4 * round);
        int count = b.problem->coupling_count, negative;
        double *step = ulna_test_numbers(b.nv), *expected = ulna_test_numbers(b.nv), beta[12], E[12], zero[12] = {0};
        double scratch[12 * (12 + 6)];
        unsigned char is_equation[12], active[12] = {0};
        border_memory memory = border_open(b.model, count);
        assert_int_equal(ulna_work_step(b.work, &o.options, expected, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_border_factor(b.work, &o.options, &memory.border), ULNA_OK);
        for (int k = 0; k < count; k++) {
            ulna_row row;
            double weight;
            const ulna_row *pointer = &row;
            ulna_coupling_row(b.work, k, &row, &weight);
            E[k] = 1 / weight;
            is_equation[k] = 1;
            assert_int_equal(ulna_border_add(b.work, &memory.border, &pointer, 1), ULNA_OK);
        }
        assert_true(ulna_dual_size(count) <= sizeof scratch / sizeof *scratch);
        assert_int_equal(ulna_dual_solve(count, memory.border.schur, memory.border.capacity, memory.border.drift, E,
                                         zero, is_equation, active, beta, scratch, &negative),
                         ULNA_OK);
        ulna_border_step(b.work, &memory.border, beta, step);
        assert_within(step, expected, b.nv, 1e-9, "coupled step", round);
        coupled += count > 0;
        free(step);
        free(expected);
        free(memory.memory);
        options_close(&o);
        ulna_test_bench_close(&b);
    }
    assert_true(coupled > 100);
}

/* All kernels give the same to rounding. */
static void kernels_agree(void **state)
{
    (void)state;
    static const char *const names[] = {"portable", "avx2", "avx512"};
    ulna_test_rng rng = ulna_test_rng_seed(43);
    for (int round = 0; round < 200; round++) {
        ulna_test_bench b = random_bench(&rng);
        options_memory o = random_options(&rng, b.nv, 6 * round); /* t = 0 */
        random_rows rows;
        fill_rows(&rng, b.model, &rows);
        double beta[MOST_ROWS], f, *step = ulna_test_numbers(b.nv), *first = ulna_test_numbers(b.nv);
        double S[MOST_ROWS * MOST_ROWS] = {0};
        ulna_test_rng_fill(&rng, beta, rows.count, -1, 1);
        for (int k = 0; k < 3; k++) {
            border_memory memory = border_open(b.model, MOST_ROWS);
            if (ulna_pose_set_kernel(b.work->pose, names[k]) == ULNA_OK) {
                assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
                assert_int_equal(ulna_border_factor(b.work, &o.options, &memory.border), ULNA_OK);
                add_rows(b.work, &memory.border, &rows, &rng, 1);
                ulna_border_step(b.work, &memory.border, beta, k ? step : first);
                for (int i = 0; i < rows.count * rows.count; i++) {
                    double s = memory.border.schur[i / rows.count * memory.border.capacity + i % rows.count];
                    assert_true(k == 0 || fabs(s - S[i]) < 1e-9 * (1 + fabs(s)));
                    S[i] = k == 0 ? s : S[i];
                }
                if (k > 0)
                    assert_within(step, first, b.nv, 1e-9, names[k], round);
            }
            free(memory.memory);
        }
        free(step);
        free(first);
        options_close(&o);
        ulna_test_bench_close(&b);
    }
}

/* Terms 1e-13 of a heavy row beside it: ulna_work_step, which wants a good margin, refuses them; here they count. */
static void weak_terms_beside_heavy_rows(void **state)
{
    (void)state;
    static const double goal[3] = {0.1, 0.2, 0.3}, weak = 1e-8;
    ulna_test_bench b = {0};
    double f, decrease;
    assert_int_equal(ulna_sample_create("human", NULL, &b.model, NULL), ULNA_OK);
    b.nv = ulna_model_dof_count(b.model), b.q = ulna_test_numbers(b.model->nq);
    assert_int_equal(ulna_problem_create(b.model, NULL, &b.problem, NULL), ULNA_OK);
    for (int side = 0; side < 2; side++) {
        int body = ulna_model_find_body(b.model, side ? "left_foot" : "right_foot");
        static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        assert_int_equal(ulna_problem_add_point(b.problem, body, NULL, goal, 1e5, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_add_orientation(b.problem, body, identity, 1e5, NULL, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_problem_ready(b.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(b.problem, NULL, &b.work, NULL), ULNA_OK);
    for (int d = 0; d < b.nv; d++)
        b.q[d] = 0.2 * sin(d);
    assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
    double *shift = ulna_test_numbers(b.nv), *step = ulna_test_numbers(b.nv), *product = ulna_test_numbers(b.nv);
    double *g = ulna_test_numbers(b.nv);
    for (int d = 0; d < b.nv; d++)
        shift[d] = weak;
    ulna_step_options options = {.shift = shift};
    border_memory memory = border_open(b.model, 0);
    assert_int_equal(ulna_work_step(b.work, &options, step, &decrease, NULL), ULNA_ERR_SINGULAR);
    assert_int_equal(ulna_border_factor(b.work, &options, &memory.border), ULNA_OK);
    assert_int_equal(memory.border.negative, 0);
    ulna_border_step(b.work, &memory.border, NULL, step);
    assert_int_equal(ulna_work_gradient(b.work, g), ULNA_OK);
    assert_int_equal(ulna_work_hessian_multiply(b.work, 0, step, product), ULNA_OK);
    for (int d = 0; d < b.nv; d++)
        product[d] = -product[d] - weak * step[d];
    assert_within(product, g, b.nv, 1e-9, "H step", 0);
    free(memory.memory);
    free(shift), free(step), free(product), free(g);
    ulna_test_bench_close(&b);
}

static void hostile_input_is_refused(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(44);
    ulna_test_bench b = random_bench(&rng);
    while (b.nv == 0) {
        ulna_test_bench_close(&b);
        b = random_bench(&rng);
    }
    border_memory memory = border_open(b.model, 4);
    double *shift = ulna_test_numbers(b.nv);
    random_rows rows;
    do
        fill_rows(&rng, b.model, &rows);
    while (rows.count < 5);
    for (int d = 0; d < b.nv; d++)
        shift[d] = 10;
    ulna_step_options options = {.shift = shift}, wild = {.t = NAN};
    assert_int_equal(ulna_border_factor(NULL, &options, &memory.border), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_border_factor(b.work, NULL, &memory.border), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_border_factor(b.work, &options, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_border_factor(b.work, &wild, &memory.border), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_border_factor(b.work, &options, &memory.border), ULNA_OK);
    assert_int_equal(ulna_border_add(b.work, &memory.border, rows.pointer, 5), ULNA_ERR_LIMIT);
    assert_int_equal(memory.border.count, 0);
    shift[0] = NAN;
    assert_int_equal(ulna_border_factor(b.work, &options, &memory.border), ULNA_ERR_NUMBER);
    free(shift);
    free(memory.memory);
    ulna_test_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_dense_algebra),
        cmocka_unit_test(couplings_are_rows),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(weak_terms_beside_heavy_rows),
        cmocka_unit_test(hostile_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
