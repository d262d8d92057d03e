/* The step by elimination against dense Cholesky: damped, exact, locked, prescribed, coupled; on every kernel. */
#include "support_problem.h"
#include "ulna/sample.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *aligned_numbers(size_t count)
{
    double *numbers = aligned_alloc(64, (count * sizeof(double) + 127) & ~(size_t)63);
    assert_non_null(numbers);
    memset(numbers, 0, count * sizeof *numbers);
    return numbers;
}

/*
 * The step of the damped system by dense Cholesky: for locked DOFs the right-hand side is -g - H displacement on the free
 * ones and the displacement itself on the locked. Returns whether the matrix is positive definite.
 */
static int reference_step(const ulna_test_bench *b, const ulna_step_options *options, double *g, double *step)
{
    int nv = b->nv;
    double *A = ulna_test_numbers(nv * nv), *moved = ulna_test_numbers(nv), *pull = ulna_test_numbers(nv);
    assert_int_equal(ulna_work_gradient(b->work, g), ULNA_OK);
    assert_int_equal(ulna_work_hessian_dense(b->work, options->t, A), ULNA_OK);
    const unsigned char *locked = options->locked;
    for (int d = 0; d < nv; d++)
        moved[d] = locked && locked[d] && options->displacement ? options->displacement[d] : 0;
    assert_int_equal(ulna_work_hessian_multiply(b->work, options->t, moved, pull), ULNA_OK);
    for (int j = 0; j < nv; j++) {
        step[j] = locked && locked[j] ? moved[j] : -g[j] - pull[j];
        A[j * nv + j] += options->shift[j];
        for (int i = 0; locked && i < nv; i++)
            if (locked[i] || locked[j])
                A[j * nv + i] = i == j;
    }
    int definite = nv == 0 || LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', nv, 1, A, nv, step, nv) == 0;
    free(A);
    free(moved);
    free(pull);
    return definite;
}

static int is_coupled(const ulna_problem *problem)
{
    int found = 0;
    for (int t = 0; t < ulna_problem_term_count(problem); t++)
        found |= ulna_problem_term_type(problem, t) == ULNA_TERM_COUPLING;
    return found;
}

/* -(g.s + 1/2 s (H + shift) s): what `decrease` should be. */
static double model_decrease(const ulna_test_bench *b, const double *g, const ulna_step_options *options,
                             const double *step)
{
    double *product = ulna_test_numbers(b->nv), sum = 0;
    assert_int_equal(ulna_work_hessian_multiply(b->work, options->t, step, product), ULNA_OK);
    for (int d = 0; d < b->nv; d++)
        sum -= step[d] * (g[d] + 0.5 * product[d] + 0.5 * options->shift[d] * step[d]);
    free(product);
    return sum;
}

static void assert_relative(const double *a, const double *b, int n, double tolerance, const char *what, int round)
{
    double scale = ulna_test_largest(b, n), worst = 0;
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fabs(a[i] - b[i]));
    if (!(worst <= tolerance * scale + DBL_MIN))
        fail_msg("%s, round %d: differs by %.3g of %.3g", what, round, worst, scale);
}

static void elimination_equals_factorisation(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(21);
    int solved = 0, refused = 0, held_dofs = 0, coupled = 0;
    for (int round = 0; round < 2000; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.max_bodies = 20;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, ULNA_TEST_ALL_TERMS, 1 + ulna_test_rng_index(&rng, 20));
        double *g = ulna_test_numbers(b.nv), *reference = ulna_test_numbers(b.nv);
        double *shift = ulna_test_numbers(b.nv), *displacement = ulna_test_numbers(b.nv);
        double *step = ulna_test_numbers(b.nv), decrease;
        unsigned char *locked = calloc((size_t)b.nv + 1, 1);
        double damping = round % 3 ? 1 : 0.05;
        for (int d = 0; d < b.nv; d++) {
            shift[d] = damping * ulna_test_rng_uniform(&rng, 0.5, 2);
            locked[d] = (unsigned char)(ulna_test_rng_index(&rng, 4) == 0);
            displacement[d] = locked[d] && round % 4 < 2 ? ulna_test_rng_uniform(&rng, -0.3, 0.3) : 0;
        }
        ulna_step_options options = {.t = 0.5 * (round % 3), .shift = shift};
        if (round % 2) {
            options.locked = locked;
            options.displacement = round % 4 == 1 ? displacement : NULL;
        }
        int definite = reference_step(&b, &options, g, reference);
        int failed = -2;
        ulna_status stepped = ulna_work_step(b.work, &options, step, &decrease, &failed);
        if (definite && stepped == ULNA_OK) {
            assert_relative(step, reference, b.nv, 1e-10, "step", round);
            assert_true(failed == ULNA_NONE);
            for (int d = 0; d < b.nv; d++)
                held_dofs += options.locked && locked[d];
            double expected = model_decrease(&b, g, &options, step);
            assert_true(fabs(decrease - expected) <= 1e-9 * (fabs(expected) + 1e-12 + fabs(decrease)));
            coupled += is_coupled(b.problem);
            solved++;
        } else if (stepped != ULNA_OK) {
            assert_int_equal(stepped, ULNA_ERR_INDEFINITE);
            assert_false(definite); /* nothing is refused in vain, couplings or not */
            refused++;
        } else {
            /* The elimination went through although the factorisation saw a pivot that is not positive: only at the edge. */
            fail_msg("round %d: a system that is not positive definite was solved", round);
        }
        free(shift);
        free(displacement);
        free(step);
        free(locked);
        free(g);
        free(reference);
        ulna_test_bench_close(&b);
    }
    assert_true(solved > 1200);
    assert_true(refused > 50);
    assert_true(held_dofs > 1000);
    assert_true(coupled > 300);
}

/* x = (H + shift)^-1 right, with the factors of the last step. */
static void solving_again(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(22);
    for (int round = 0; round < 400; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.max_bodies = 12;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, ULNA_TEST_ALL_TERMS, 6);
        double *shift = ulna_test_numbers(b.nv), *x = ulna_test_numbers(b.nv), *right = ulna_test_numbers(b.nv);
        double *back = ulna_test_numbers(b.nv), f;
        unsigned char *locked = calloc((size_t)b.nv + 1, 1);
        for (int d = 0; d < b.nv; d++) {
            shift[d] = 1;
            locked[d] = (unsigned char)(ulna_test_rng_index(&rng, 5) == 0);
        }
        ulna_step_options options = {.shift = shift, .locked = round % 2 ? locked : NULL};
        assert_int_equal(ulna_work_step_solve(b.work, right, x), ULNA_ERR_STATE);
        assert_int_equal(ulna_work_step(b.work, &options, x, NULL, NULL), ULNA_OK);
        ulna_test_rng_fill(&rng, right, b.nv, -1, 1);
        assert_int_equal(ulna_work_step_solve(b.work, right, x), ULNA_OK);
        memcpy(back, right, (size_t)b.nv * sizeof *back);
        assert_int_equal(ulna_work_step_solve(b.work, back, back),
                         ULNA_OK); /* in place, and the factors are still there */
        assert_memory_equal(back, x, (size_t)b.nv * sizeof *x);
        assert_int_equal(ulna_work_hessian_multiply(b.work, 0, x, back), ULNA_OK);
        for (int d = 0; d < b.nv; d++) {
            back[d] += shift[d] * x[d];
            if (options.locked && locked[d]) {
                assert_true(x[d] == 0);
                back[d] = right[d];
            }
        }
        assert_relative(back, right, b.nv, 1e-9, "product with the solution", round);
        assert_int_equal(ulna_work_step_solve(b.work, right, x), ULNA_ERR_STATE); /* the product used the scratch */
        assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
        free(shift);
        free(x);
        free(right);
        free(back);
        free(locked);
        ulna_test_bench_close(&b);
    }
}

/* A redundant chain without damping has no step: told, not made up from rounding. With damping there is one. */
static void singular_is_told(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(26);
    int singular = 0;
    for (int round = 0; round < 600; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.shape = ULNA_TEST_SHAPE_CHAIN;
        tree.min_bodies = 5;
        tree.joints = round % 2 ? 1u << ULNA_JOINT_REVOLUTE : (1u << ULNA_JOINT_REVOLUTE | 1u << ULNA_JOINT_EULER);
        tree.fixed = 0;
        ulna_test_bench b =
            ulna_test_bench_open(&rng, &tree, 1u << ULNA_TERM_POINT, 1); /* 3 equations, 5 unknowns or more */
        double *step = ulna_test_numbers(b.nv), *shift = ulna_test_numbers(b.nv);
        ulna_step_options options = ulna_step_options_default();
        int failed = ULNA_NONE;
        ulna_status status = ulna_work_step(b.work, &options, step, NULL, &failed);
        assert_int_equal(status, ULNA_ERR_SINGULAR);
        assert_in_range(failed, 0, b.nv - 1);
        singular++;
        for (int d = 0; d < b.nv; d++)
            shift[d] = 1e-6;
        options.shift = shift;
        assert_int_equal(ulna_work_step(b.work, &options, step, NULL, NULL), ULNA_OK);
        assert_true(ulna_test_largest(step, b.nv) < 1e4);
        free(step);
        free(shift);
        ulna_test_bench_close(&b);
    }
    assert_int_equal(singular, 600);
}

/* Slides too, however small the skeleton: four directions for three equations. Where the first three nearly lie in a plane,
 * rounding grows past any fixed bound, so that a few in a thousand may pass. */
static void singular_slides(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(29);
    int singular = 0;
    for (int round = 0; round < 1000; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.shape = ULNA_TEST_SHAPE_CHAIN;
        tree.min_bodies = tree.max_bodies = 4;
        tree.joints = 1u << ULNA_JOINT_PRISMATIC;
        tree.fixed = 0;
        tree.length_m = round % 4 == 0 ? 1 : round % 4 == 1 ? 0.1 : round % 4 == 2 ? 0.01 : 0.001;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, 1u << ULNA_TERM_POINT, 1);
        double step[4];
        ulna_step_options options = ulna_step_options_default();
        singular += ulna_work_step(b.work, &options, step, NULL, NULL) == ULNA_ERR_SINGULAR;
        ulna_test_bench_close(&b);
    }
    assert_in_range(singular, 990, 1000);
}

/* A coupling alone leaves the common motion of its joints free; one too stiff for the arithmetic says so too. */
static void singular_couplings(void **state)
{
    (void)state;
    const double weights[] = {1, 1e6, 1e18};
    const double tip[3] = {1, 0, 0}, goal[3] = {1, 1, 0}, q[2] = {0.3, 0.5};
    for (int seen = 0; seen < 2; seen++)
        for (int k = 0; k < 3; k++) {
            ulna_model *model;
            ulna_problem *p;
            ulna_work *w;
            double step[2], f;
            ulna_step_options options = ulna_step_options_default();
            assert_int_equal(ulna_sample_create("two-link", NULL, &model, NULL), ULNA_OK);
            assert_int_equal(ulna_problem_create(model, NULL, &p, NULL), ULNA_OK);
            assert_int_equal(ulna_problem_add_coupling(p, 0, 1, 0.7, 0.2, weights[k], NULL, NULL), ULNA_OK);
            if (seen)
                assert_int_equal(ulna_problem_add_point(p, 1, tip, goal, 1, NULL, NULL), ULNA_OK);
            assert_int_equal(ulna_problem_ready(p, NULL), ULNA_OK);
            assert_int_equal(ulna_work_create(p, NULL, &w, NULL), ULNA_OK);
            assert_int_equal(ulna_work_evaluate(w, q, &f), ULNA_OK);
            assert_int_equal(ulna_work_step(w, &options, step, NULL, NULL),
                             seen && weights[k] < 1e12 ? ULNA_OK : ULNA_ERR_SINGULAR);
            ulna_work_destroy(w);
            ulna_problem_destroy(p);
            ulna_model_destroy(model);
        }
}

/* A hinge on a fixed root ten thousand kilometres away from it: the arm is short all the same. */
static void far_from_a_fixed_root(void **state)
{
    (void)state;
    ulna_builder *builder;
    ulna_model *model;
    ulna_problem *p;
    ulna_work *w;
    ulna_joint hinge = ulna_joint_revolute(0, 0, 1);
    const double far[3] = {1e7, 0, 0}, tip[3] = {0.5, 0, 0}, goal[3] = {1e7 + 0.25, 0.5, 0};
    double q = 0, f, step;
    ulna_step_options options = ulna_step_options_default();
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    assert_int_equal(ulna_builder_add_body(builder, "ground", ULNA_NONE, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_add_body(builder, "arm", 0, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_placement(builder, 1, far, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_joint(builder, 1, &hinge, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(model, NULL, &p, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(p, 1, tip, goal, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(p, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(p, NULL, &w, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(w, &q, &f), ULNA_OK);
    assert_int_equal(ulna_work_step(w, &options, &step, NULL, NULL), ULNA_OK);
    assert_true(fabs(step - 1) < 1e-8); /* JtJ = 0.25, -g = 0.5 * 0.5 */
    ulna_work_destroy(w);
    ulna_problem_destroy(p);
    ulna_model_destroy(model);
    ulna_builder_destroy(builder);
}

/* Weights of any size: products of three pivots overflow long before the numbers do. */
static void weights_of_any_size(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(27);
    for (int round = 0; round < 100; round++) {
        ulna_test_bench b = ulna_test_bench_open(&rng, NULL, 1u << ULNA_TERM_POINT, 6);
        double *step = ulna_test_numbers(b.nv), *plain = ulna_test_numbers(b.nv), *shift = ulna_test_numbers(b.nv), f;
        const double sizes[] = {1, 1e80, 1e-85};
        for (int k = 0; k < 3; k++) {
            for (int t = 0; t < ulna_problem_term_count(b.problem); t++)
                assert_int_equal(ulna_problem_set_weight(b.problem, t, sizes[k]), ULNA_OK);
            for (int d = 0; d < b.nv; d++)
                shift[d] = sizes[k];
            ulna_step_options options = {.shift = shift};
            assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
            assert_int_equal(ulna_work_step(b.work, &options, k ? step : plain, NULL, NULL), ULNA_OK);
            if (k)
                assert_relative(step, plain, b.nv, 1e-10, "step with extreme weights", round);
        }
        free(step);
        free(plain);
        free(shift);
        ulna_test_bench_close(&b);
    }
}

/* Rows in any memory: no alignment is asked of the caller. */
static void rows_anywhere(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(28);
    for (int round = 0; round < 50; round++) {
        ulna_test_bench b = ulna_test_bench_open(&rng, NULL, ULNA_TEST_ALL_TERMS, 6);
        const ulna_tree *tree = &b.model->tree;
        size_t rows = tree->row[b.nv];
        double *aligned = aligned_numbers(rows), *room = aligned_numbers(2 * rows + 16), *g = ulna_test_numbers(b.nv);
        assert_int_equal(ulna_work_hessian(b.work, 1, g, aligned, NULL), ULNA_OK);
        for (int offset = 1; offset < 4; offset++) {
            double *H = room + offset, *second = H + rows + 1;
            assert_int_equal(ulna_work_hessian(b.work, 1, g, H, NULL), ULNA_OK);
            assert_memory_equal(H, aligned, rows * sizeof *H);
            assert_int_equal(ulna_work_hessian(b.work, 1, g, H, second), ULNA_OK);
        }
        free(aligned);
        free(room);
        free(g);
        ulna_test_bench_close(&b);
    }
}

/* The band, from forces alone, against the band cut out of the rows. */
static void band_without_rows(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(24);
    for (int round = 0; round < 500; round++) {
        unsigned types = ULNA_TEST_ALL_TERMS & ~(1u << ULNA_TERM_COUPLING);
        ulna_test_bench b = ulna_test_bench_open(&rng, NULL, types, 8);
        const ulna_tree *tree = &b.model->tree;
        double *rows = aligned_numbers(tree->row[b.nv]), t = 0.5 * (round % 3);
        int width = ulna_test_rng_index(&rng, 30), size = (int)ulna_band_size(b.nv, width);
        ulna_band band = {b.nv, width, ulna_test_numbers(size), ulna_test_numbers(size), 0}, cut = band;
        cut.entries = ulna_test_numbers(size);
        assert_int_equal(ulna_work_hessian(b.work, t, NULL, rows, NULL), ULNA_OK);
        for (int j = 0; j < b.nv; j++)
            for (int p = 0; p < tree->depth[j]; p++) {
                int i = tree->path[j][p];
                if (j - i <= width)
                    cut.entries[i * (width + 1) + j - i] = rows[tree->row[j] + (size_t)p];
            }
        assert_int_equal(ulna_work_hessian_band(b.work, t, &band), ULNA_OK);
        ulna_test_assert_close(band.entries, cut.entries, size, 1e-12, "band");
        free(rows);
        free(band.entries);
        free(band.factor);
        free(cut.entries);
        ulna_test_bench_close(&b);
    }
}

typedef struct damped {
    ulna_work *work;
    const double *shift;
    const unsigned char *locked;
    double *x, *y; /* scratch, nv each */
    int nv;
} damped;

/* H + shift, with the identity for locked DOFs. */
static ulna_status damped_product(void *context, const double *x, double *y)
{
    const damped *d = context;
    for (int i = 0; i < d->nv; i++)
        d->x[i] = d->locked[i] ? 0 : x[i];
    ulna_status status = ulna_work_hessian_multiply(d->work, 0, d->x, d->y);
    for (int i = 0; i < d->nv; i++)
        y[i] = d->locked[i] ? x[i] : d->y[i] + d->shift[i] * x[i];
    return status;
}

/* Conjugate gradients on products alone, with and without the banded preconditioner: the step of the elimination. */
static void pcg_without_a_matrix(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(25);
    for (int round = 0; round < 100; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.shape = ULNA_TEST_SHAPE_CHAIN;
        tree.min_bodies = 20;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, ULNA_TEST_ALL_TERMS, 12);
        int size = (int)ulna_band_size(b.nv, 24);
        ulna_band band = {b.nv, 24, ulna_test_numbers(size), ulna_test_numbers(size), 0};
        double *shift = ulna_test_numbers(b.nv), *step = ulna_test_numbers(b.nv), *x = ulna_test_numbers(b.nv);
        double *right = ulna_test_numbers(b.nv), *scratch = ulna_test_numbers((int)ulna_pcg_size(b.nv));
        unsigned char *locked = calloc((size_t)b.nv + 1, 1);
        damped matrix = {b.work, shift, locked, ulna_test_numbers(b.nv), ulna_test_numbers(b.nv), b.nv};
        for (int d = 0; d < b.nv; d++) {
            shift[d] = 0.1;
            locked[d] = (unsigned char)(round % 2 && d % 5 == 0);
        }
        ulna_step_options options = {.shift = shift, .locked = locked};
        assert_int_equal(ulna_work_step(b.work, &options, step, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_work_gradient(b.work, right), ULNA_OK);
        for (int d = 0; d < b.nv; d++)
            right[d] = locked[d] ? 0 : -right[d];
        assert_int_equal(ulna_work_hessian_band(b.work, 0, &band), ULNA_OK);
        for (int d = 0; d < b.nv; d++)
            for (int k = 0; k < 25 && d + k < b.nv; k++) {
                double *entry = &band.entries[25 * d + k];
                *entry = locked[d] || locked[d + k] ? k == 0 : *entry + (k == 0 ? shift[d] : 0);
            }
        assert_int_equal(ulna_band_factor(&band), ULNA_OK);
        const ulna_pcg_options precise = {.tolerance = 1e-12, .max_iterations = 20 * b.nv + 100};
        for (int k = 0; k < 2; k++) {
            ulna_pcg_info info;
            assert_int_equal(ulna_pcg(b.nv, damped_product, &matrix, k ? ulna_band_solve : NULL, &band, right, x,
                                      &precise, scratch, &info),
                             ULNA_OK);
            assert_int_equal(info.stop, ULNA_PCG_CONVERGED);
            assert_relative(x, step, b.nv, 1e-7, "step by conjugate gradients", round);
        }
        double *arrays[] = {band.entries, band.factor, shift, step, x, right, scratch, matrix.x, matrix.y};
        for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
            free(arrays[i]);
        free(locked);
        ulna_test_bench_close(&b);
    }
}

/* All kernels of this machine: the same f, gradient, rows and step within 1e-12 (step: 1e-10, it is a solve). */
static void kernels_agree(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(23);
    static const char *const kernel_names[] = {"portable", "avx2", "avx512"};
    enum { KERNELS = sizeof kernel_names / sizeof kernel_names[0] };
    int compared[KERNELS] = {0};
    for (int round = 0; round < 500; round++) {
        ulna_test_bench b = ulna_test_bench_open(&rng, NULL, ULNA_TEST_ALL_TERMS, 10);
        size_t rows = b.model->tree.row[b.nv];
        double *shift = ulna_test_numbers(b.nv), *H[2], *g[2], *step[2], *Hx[2], f[2];
        for (int d = 0; d < b.nv; d++)
            shift[d] = 1;
        ulna_step_options options = {.shift = shift};
        for (int k = 0; k < 2; k++) {
            H[k] = aligned_numbers(rows);
            g[k] = ulna_test_numbers(b.nv);
            step[k] = ulna_test_numbers(b.nv);
            Hx[k] = ulna_test_numbers(b.nv);
        }
        for (int index = 0; index < KERNELS; index++) {
            int k = index > 0;
            ulna_status status = ulna_pose_set_kernel(ulna_work_pose(b.work), kernel_names[index]);
            if (status == ULNA_ERR_UNSUPPORTED)
                continue;
            assert_int_equal(status, ULNA_OK);
            assert_string_equal(ulna_pose_kernel(ulna_work_pose(b.work)), kernel_names[index]);
            assert_int_equal(ulna_work_evaluate(b.work, b.q, &f[k]), ULNA_OK);
            assert_int_equal(ulna_work_gradient(b.work, g[k]), ULNA_OK);
            assert_int_equal(ulna_work_hessian(b.work, 1, NULL, H[k], NULL), ULNA_OK);
            assert_int_equal(ulna_work_hessian_multiply(b.work, 1, g[0], Hx[k]), ULNA_OK);
            assert_int_equal(ulna_work_step(b.work, &options, step[k], NULL, NULL), ULNA_OK);
            if (k) {
                assert_true(fabs(f[1] - f[0]) <= 1e-12 * fabs(f[0]));
                assert_relative(g[1], g[0], b.nv, 1e-12, "gradient", round);
                assert_relative(H[1], H[0], (int)rows, 1e-12, "rows", round);
                assert_relative(Hx[1], Hx[0], b.nv, 1e-12, "product", round);
                assert_relative(step[1], step[0], b.nv, 1e-10, "step", round);
                compared[index]++;
            }
        }
        for (int k = 0; k < 2; k++) {
            free(H[k]);
            free(g[k]);
            free(step[k]);
            free(Hx[k]);
        }
        free(shift);
        ulna_test_bench_close(&b);
    }
    for (int index = 1; index < KERNELS; index++)
        print_message("[ kernels  ] %s: %s\n", kernel_names[index],
                      compared[index] ? "compared" : "not run: no such CPU");
    for (int index = 0; index < KERNELS; index++)
        assert_int_equal(compared[index], index > 0 && ulna_cpu_runs(kernel_names[index]) ? 500 : 0);
    ulna_test_bench b = ulna_test_bench_open(&rng, NULL, ULNA_TEST_ALL_TERMS, 1);
    assert_int_equal(ulna_pose_set_kernel(ulna_work_pose(b.work), "abacus"), ULNA_ERR_UNSUPPORTED);
    ulna_test_bench_close(&b);
}

/* One tree with points a metre from its root, at home or 1e6 m away: by its placement, or by the root's coordinates. */
static ulna_test_bench far_bench(uint64_t seed, int far)
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    int by_placement = seed % 2 == 0;
    tree.far_m = far && by_placement ? 1e6 : 0;
    tree.root = by_placement ? -1 : ULNA_JOINT_FREE;
    tree.reversed = 0;
    ulna_test_bench b = {.model = ulna_test_random_tree(&rng, &tree)};
    ulna_pose *pose;
    double root[3], goal[3], f;
    b.nv = ulna_model_dof_count(b.model);
    b.nq = ulna_model_coordinate_count(b.model);
    b.q = ulna_test_random_q(&rng, b.model);
    for (int k = 0; k < 3 && far && !by_placement; k++)
        b.q[k] += 1e6;
    assert_int_equal(ulna_pose_create(b.model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, b.q), ULNA_OK);
    assert_int_equal(ulna_pose_body(pose, 0, root, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(b.model, NULL, &b.problem, NULL), ULNA_OK);
    for (int i = 0; i < 6; i++) {
        ulna_effector e = ulna_test_random_effector(&rng, b.model);
        ulna_test_rng_fill(&rng, goal, 3, -1, 1);
        for (int k = 0; k < 3; k++)
            goal[k] += root[k];
        assert_int_equal(ulna_problem_add_point(b.problem, e.body, e.point, goal, 1, NULL, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_problem_ready(b.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(b.problem, NULL, &b.work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
    ulna_pose_destroy(pose);
    return b;
}

/* A thousand kilometres away the derivatives are those of home, but for the goals, which are rounded to 1e-10 m there. */
static void far_from_the_origin(void **state)
{
    (void)state;
    for (uint64_t seed = 1000; seed < 1400; seed++) {
        double *H[2], *g[2], *step[2], *shift = NULL;
        int nv = 0, rows = 0;
        for (int far = 0; far < 2; far++) {
            ulna_test_bench b = far_bench(seed, far);
            nv = b.nv;
            rows = (int)b.model->tree.row[nv];
            H[far] = aligned_numbers((size_t)rows);
            g[far] = ulna_test_numbers(nv);
            step[far] = ulna_test_numbers(nv);
            shift = shift ? shift : ulna_test_numbers(nv);
            for (int d = 0; d < nv; d++)
                shift[d] = 1;
            ulna_step_options options = {.shift = shift};
            assert_int_equal(ulna_work_hessian(b.work, 1, g[far], H[far], NULL), ULNA_OK);
            assert_int_equal(ulna_work_step(b.work, &options, step[far], NULL, NULL), ULNA_OK);
            ulna_test_bench_close(&b);
        }
        assert_relative(H[1], H[0], rows, 2e-9, "Hessian a thousand kilometres away", (int)seed);
        assert_relative(g[1], g[0], nv, 2e-9, "gradient a thousand kilometres away", (int)seed);
        assert_relative(step[1], step[0], nv, 2e-9, "step a thousand kilometres away", (int)seed);
        for (int k = 0; k < 2; k++) {
            free(H[k]);
            free(g[k]);
            free(step[k]);
        }
        free(shift);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elimination_equals_factorisation),
        cmocka_unit_test(solving_again),
        cmocka_unit_test(singular_is_told),
        cmocka_unit_test(singular_slides),
        cmocka_unit_test(singular_couplings),
        cmocka_unit_test(far_from_a_fixed_root),
        cmocka_unit_test(weights_of_any_size),
        cmocka_unit_test(rows_anywhere),
        cmocka_unit_test(band_without_rows),
        cmocka_unit_test(pcg_without_a_matrix),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(far_from_the_origin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
