/* linalg: the tree factorisation, in every kernel that this machine has, against LAPACK. */
#include <lapacke.h>

#include "linalg/ltdl.h"
#include "test_linalg_support.h"

static const char *const kernel_names[] = {"portable", "avx2", "avx512"};
#define KERNELS 3

/* 1 if this machine runs what the kernel of that name is made of. */
static int machine_runs(const char *name)
{
#ifndef ULNA_NO_X86
    if (!strcmp(name, "avx2"))
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (!strcmp(name, "avx512"))
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq");
#endif
    return !strcmp(name, "portable");
}

/* By name, or NULL; says which it is, and fails if one that this machine runs is missing. */
static const ulna_ltdl_kernel *named_kernel(const char *name)
{
    const ulna_ltdl_kernel *kernel = ulna_ltdl_kernel_find(name);
    print_message("    kernel %s: %s\n", name, kernel ? "run" : "not run here");
    if ((kernel != NULL) != machine_runs(name))
        fail_msg("kernel %s is %s, against what the CPU says", name, kernel ? "there" : "missing");
    if (kernel)
        assert_string_equal(kernel->name, name);
    return kernel;
}

/* Dense A = H + diag(shift) with identity rows for fixed DOFs. */
static double *new_dense(const ulna_tree *tree, const double *H, const double *shift, const unsigned char *fixed)
{
    const size_t n = (size_t)tree->n;
    double *A = new_numbers(n * n);
    ulna_test_pattern_dense(tree, H, A);
    for (size_t j = 0; j < n; j++) {
        A[j + n * j] += shift ? shift[j] : 0;
        for (size_t i = 0; fixed && fixed[j] && i < n; i++)
            A[i + n * j] = A[j + n * i] = i == j;
    }
    return A;
}

/* x = A^-1 b by LAPACK's dsysv. */
static double *new_reference(int n, const double *A, const double *b)
{
    const size_t size = (size_t)n;
    double *copy = new_numbers(size * size), *x = new_numbers(size);
    int *pivot = calloc(size + 1, sizeof *pivot);
    assert_non_null(pivot);
    memcpy(copy, A, size * size * sizeof *A);
    memcpy(x, b, size * sizeof *b);
    if (n > 0)
        assert_int_equal(LAPACKE_dsysv(LAPACK_COL_MAJOR, 'L', n, 1, copy, n, pivot, x, n), 0);
    free(copy);
    free(pivot);
    return x;
}

/* LT D L as a dense matrix. */
static double *new_product(const ulna_tree *tree, const double *L, const double *inverse_pivots)
{
    const size_t n = (size_t)tree->n;
    double *D = new_numbers(n), *A = new_numbers(n * n);
    for (size_t j = 0; j < n; j++)
        D[j] = 1 / inverse_pivots[j];
    double *H = tree_from_factors(tree, L, D);
    ulna_test_pattern_dense(tree, H, A);
    free(D);
    free(H);
    return A;
}

/* One matrix, everything about it. Returns the status of the factorisation. */
static void check_matrix(const ulna_ltdl_kernel *kernel, ulna_test_rng *rng, const ulna_tree *tree, const double *H,
                         const double *shift, const unsigned char *fixed)
{
    const size_t n = (size_t)tree->n, size = tree_size(tree);
    double *L = new_random(rng, size), *inverse = new_random(rng, n), *b = new_random(rng, n), *x = new_numbers(n);
    double *H_before = new_numbers(size);
    ulna_inertia inertia = {-1, -1, -1};
    memcpy(H_before, H, size * sizeof *H);
    assert_int_equal(ulna_ltdl_factor_with(kernel, tree, H, shift, fixed, ULNA_LTDL_ANY, L, inverse, &inertia),
                     ULNA_OK);
    assert_memory_equal(H, H_before, size * sizeof *H);

    double *A = new_dense(tree, H, shift, fixed), *product = new_product(tree, L, inverse);
    assert_close(product, A, n * n, 1e-12);
    for (int j = 0; j < tree->n; j++)
        assert_true(*diagonal_of(tree, L, j) == 1);

    double *values = new_eigenvalues(tree->n, A, NULL);
    int negative = 0;
    for (size_t j = 0; j < n; j++)
        negative += values[j] < 0;
    assert_inertia(inertia, tree->n - negative, negative, 0);

    double *expected = new_reference(tree->n, A, b);
    assert_int_equal(ulna_ltdl_solve_with(kernel, tree, L, inverse, b, x), ULNA_OK);
    assert_close(x, expected, n, 1e-10);
    for (size_t j = 0; fixed && j < n; j++)
        assert_true(!fixed[j] || x[j] == b[j]);
    assert_int_equal(ulna_ltdl_solve_with(kernel, tree, L, inverse, b, b), ULNA_OK); /* in place */
    assert_memory_equal(b, x, n * sizeof *x);
    free(L), free(inverse), free(b), free(x), free(H_before), free(A), free(product), free(values), free(expected);
}

static void every_kernel_factors_every_shape(void **state)
{
    (void)state;
    const ulna_ltdl_kernel *best = NULL;
    for (int name = 0; name < KERNELS; name++) {
        const ulna_ltdl_kernel *kernel = named_kernel(kernel_names[name]);
        ulna_test_rng rng = ulna_test_rng_seed(10);
        for (int round = 0; kernel && round < 12; round++) {
            for (int shape = 0; shape < FOREST_SHAPE_COUNT; shape++) {
                ulna_tree *tree = forest_tree(&rng, (forest_shape)shape);
                int negative;
                double *H = random_tree_matrix(&rng, tree, round % 2 ? 0.4 : 0, &negative);
                check_matrix(kernel, &rng, tree, H, NULL, NULL);
                free(H);
                ulna_test_pattern_free(tree);
            }
        }
        best = kernel ? kernel : best; /* the best is last */
    }
    assert_ptr_equal(ulna_ltdl_kernel_find(NULL), best);
    assert_null(ulna_ltdl_kernel_find("abacus"));
}

/* Gram matrices, as Gauss-Newton makes them; shifts and fixed DOFs. */
static void shift_and_fixed_work(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(11);
    for (int round = 0; round < 60; round++) {
        const ulna_ltdl_kernel *kernel = ulna_ltdl_kernel_find(kernel_names[round % KERNELS]);
        ulna_tree *tree = forest_tree(&rng, (forest_shape)(round % FOREST_SHAPE_COUNT));
        const size_t n = (size_t)tree->n;
        double *L = new_random(&rng, tree_size(tree)), *D = new_numbers(n), *shift = new_numbers(n);
        unsigned char fixed[FOREST_MAX];
        for (size_t j = 0; j < n; j++) {
            D[j] = 1;
            shift[j] = ulna_test_rng_uniform(&rng, 0, 1);
            fixed[j] = ulna_test_rng_uniform(&rng, 0, 1) < 0.3;
        }
        double *H = tree_from_factors(tree, L, D);
        if (kernel) {
            check_matrix(kernel, &rng, tree, H, shift, NULL);
            check_matrix(kernel, &rng, tree, H, NULL, fixed);
            check_matrix(kernel, &rng, tree, H, shift, fixed);
        }
        free(L), free(D), free(shift), free(H);
        ulna_test_pattern_free(tree);
    }
}

static void kernels_agree(void **state)
{
    (void)state;
    const ulna_ltdl_kernel *kernels[KERNELS];
    int compared = 0; /* with the portable one */
    for (int k = 0; k < KERNELS; k++) {
        kernels[k] = named_kernel(kernel_names[k]);
        compared += k > 0 && kernels[k];
    }
    assert_true(compared > 0 || !machine_runs("avx2"));
    ulna_test_rng rng = ulna_test_rng_seed(12);
    for (int round = 0; round < 100; round++) {
        ulna_tree *tree = forest_tree(&rng, (forest_shape)(round % FOREST_SHAPE_COUNT));
        const size_t n = (size_t)tree->n, size = tree_size(tree);
        int negative;
        double *H = random_tree_matrix(&rng, tree, 0.3, &negative), *b = new_random(&rng, n);
        double *L[KERNELS], *inverse[KERNELS], *x[KERNELS];
        for (int k = 0; k < KERNELS; k++) {
            const ulna_ltdl_kernel *kernel = kernels[k];
            L[k] = new_numbers(size), inverse[k] = new_numbers(n), x[k] = new_numbers(n);
            if (!kernel)
                continue;
            assert_int_equal(ulna_ltdl_factor_with(kernel, tree, H, NULL, NULL, ULNA_LTDL_ANY, L[k], inverse[k], NULL),
                             ULNA_OK);
            assert_int_equal(ulna_ltdl_solve_with(kernel, tree, L[k], inverse[k], b, x[k]), ULNA_OK);
            for (size_t j = 0; j < n; j++)
                assert_close(L[k] + tree->row[j], L[0] + tree->row[j], (size_t)tree->depth[j], 1e-12);
            assert_close(inverse[k], inverse[0], n, 1e-12);
            assert_close(x[k], x[0], n, 1e-12);
        }
        for (int k = 0; k < KERNELS; k++)
            free(L[k]), free(inverse[k]), free(x[k]);
        free(H), free(b);
        ulna_test_pattern_free(tree);
    }
}

/* Padding is not part of the matrix, arrays need no alignment, and nothing is written outside of them. */
static void padding_and_alignment_do_not_matter(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(13);
    for (int round = 0; round < 60; round++) {
        const ulna_ltdl_kernel *kernel = ulna_ltdl_kernel_find(kernel_names[round % KERNELS]);
        ulna_tree *tree = forest_tree(&rng, (forest_shape)(round % FOREST_SHAPE_COUNT));
        const size_t n = (size_t)tree->n, size = tree_size(tree);
        int negative;
        double *clean = random_tree_matrix(&rng, tree, 0.3, &negative), *b = new_random(&rng, n);
        double *H = new_numbers(size + 1), *L = new_numbers(size + 2), *inverse = new_numbers(n + 2),
               *x = new_numbers(n + 2);
        for (size_t i = 0; i < size; i++)
            H[i + 1] = NAN;
        for (size_t j = 0; j < n; j++)
            memcpy(H + 1 + tree->row[j], clean + tree->row[j], (size_t)tree->depth[j] * sizeof *H);
        L[0] = L[size + 1] = inverse[0] = inverse[n + 1] = x[0] = x[n + 1] = 42;
        if (kernel) {
            double *A = new_dense(tree, clean, NULL, NULL), *expected = new_reference(tree->n, A, b);
            assert_int_equal(
                ulna_ltdl_factor_with(kernel, tree, H + 1, NULL, NULL, ULNA_LTDL_ANY, L + 1, inverse + 1, NULL),
                ULNA_OK);
            assert_int_equal(ulna_ltdl_solve_with(kernel, tree, L + 1, inverse + 1, b, x + 1), ULNA_OK);
            assert_close(x + 1, expected, n, 1e-10);
            assert_true(L[0] == 42 && L[size + 1] == 42 && inverse[0] == 42 && inverse[n + 1] == 42);
            assert_true(x[0] == 42 && x[n + 1] == 42);
            free(A), free(expected);
        }
        free(clean), free(b), free(H), free(L), free(inverse), free(x);
        ulna_test_pattern_free(tree);
    }
}

/* Deeper than the kernels keep on their stack: a rope, and one with branches. */
static void deep_trees_are_solved(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(14);
    for (int branched = 0; branched < 2; branched++) {
        enum { DEEP = ULNA_LTDL_KERNEL_DEPTH + 90 };
        int parents[DEEP];
        ulna_tree *tree;
        for (int j = 0; j < DEEP; j++)
            parents[j] = branched && j % 40 == 39 ? j - 3 : j - 1;
        tree = ulna_test_pattern(DEEP, parents);
        assert_true(tree->depth[DEEP - 1] > ULNA_LTDL_KERNEL_DEPTH);
        int negative;
        double *H = random_tree_matrix(&rng, tree, 0.2, &negative);
        double *L = new_numbers(tree_size(tree)), *inverse = new_numbers(DEEP), *b = new_random(&rng, DEEP);
        double *x = new_numbers(DEEP), *y = new_numbers(DEEP);
        ulna_inertia inertia;
        assert_int_equal(ulna_ltdl_factor(tree, H, NULL, NULL, ULNA_LTDL_ANY, L, inverse, &inertia), ULNA_OK);
        assert_inertia(inertia, DEEP - negative, negative, 0);
        assert_int_equal(ulna_ltdl_solve(tree, L, inverse, b, x), ULNA_OK);
        ulna_test_pattern_multiply(tree, H, x, y);
        assert_close(y, b, DEEP, 1e-10);
        free(H), free(L), free(inverse), free(b), free(x), free(y);
        ulna_test_pattern_free(tree);
    }
}

static void positive_mode_stops_at_once(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(15);
    for (int round = 0; round < 60; round++) {
        const ulna_ltdl_kernel *kernel = ulna_ltdl_kernel_find(kernel_names[round % KERNELS]);
        ulna_tree *tree = forest_tree(&rng, (forest_shape)(FOREST_SINGLE + round % (FOREST_SHAPE_COUNT - 1)));
        int negative;
        double *H = random_tree_matrix(&rng, tree, 0, &negative);
        double *L = new_numbers(tree_size(tree)), *inverse = new_numbers((size_t)tree->n);
        const ulna_ltdl_mode mode = ULNA_LTDL_POSITIVE;
        if (kernel) {
            assert_int_equal(ulna_ltdl_factor_with(kernel, tree, H, NULL, NULL, mode, L, inverse, NULL), ULNA_OK);
            *diagonal_of(tree, H, ulna_test_rng_index(&rng, tree->n)) -= 1e4;
            assert_int_equal(ulna_ltdl_factor_with(kernel, tree, H, NULL, NULL, mode, L, inverse, NULL),
                             ULNA_ERR_INDEFINITE);
        }
        free(H), free(L), free(inverse);
        ulna_test_pattern_free(tree);
    }
}

/* Not only is the status right: the kernel does not go on to the root. */
static void positive_mode_saves_the_rest(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(20);
    ulna_tree *tree = forest_tree(&rng, FOREST_HUMAN);
    double *L = new_numbers(tree_size(tree)), *inverse = new_numbers((size_t)tree->n);
    for (int name = 0; name < KERNELS; name++) {
        const ulna_ltdl_kernel *kernel = ulna_ltdl_kernel_find(kernel_names[name]);
        memset(inverse, 0, (size_t)tree->n * sizeof *inverse); /* no pivot is too small */
        for (int j = 0; j < tree->n; j++)
            *diagonal_of(tree, L, j) = j == 50 ? -1 : 1;
        if (kernel) {
            const int reached = kernel->factor(tree, 1, L, inverse);
            assert_in_range(reached, 47, 50);
        }
    }
    free(L), free(inverse);
    ulna_test_pattern_free(tree);
}

/* A Gram matrix of too few vectors, each with a DOF of its own: the nullity is exact, and so is a solution. */
static void gram_matrices_show_their_rank(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(19);
    for (int round = 0; round < 100; round++) {
        ulna_tree *tree = forest_tree(&rng, round % 2 ? FOREST_HUMAN : FOREST_LIMBS);
        const size_t n = (size_t)tree->n, size = tree_size(tree);
        double *rows = new_random(&rng, size), *there = new_numbers(n), *L = new_numbers(size),
               *inverse = new_numbers(n);
        double *seed = new_random(&rng, n), *b = new_numbers(n), *x = new_numbers(n), *y = new_numbers(n);
        int rank = 0;
        for (size_t j = 0; j < n; j++) {
            there[j] = j == 0 || ulna_test_rng_uniform(&rng, 0, 1) < 0.7;
            rank += there[j] > 0;
        }
        double *H = tree_from_factors(tree, rows, there);
        ulna_inertia inertia;
        assert_int_equal(ulna_ltdl_factor(tree, H, NULL, NULL, ULNA_LTDL_ANY, L, inverse, &inertia),
                         rank < tree->n ? ULNA_ERR_SINGULAR : ULNA_OK);
        assert_inertia(inertia, rank, 0, tree->n - rank);
        ulna_test_pattern_multiply(tree, H, seed, b);
        assert_int_equal(ulna_ltdl_solve(tree, L, inverse, b, x), ULNA_OK);
        ulna_test_pattern_multiply(tree, H, x, y);
        assert_close(y, b, n, 1e-10);
        free(rows), free(there), free(H), free(L), free(inverse), free(seed), free(b), free(x), free(y);
        ulna_test_pattern_free(tree);
    }
}

/* The rank of J with its columns at unit length, or -1 if there is no clear gap. J is destroyed. */
static int clear_rank(int m, int n, double *J)
{
    for (int j = 0; j < n; j++) {
        double *column = J + (size_t)m * (size_t)j, square = 0;
        for (int i = 0; i < m; i++)
            square += column[i] * column[i];
        for (int i = 0; i < m && square > 0; i++)
            column[i] /= sqrt(square);
    }
    const int count = m < n ? m : n;
    ulna_dense_need need;
    assert_int_equal(ulna_dense_svd_need(m, n, &need), ULNA_OK);
    ulna_dense_work work = new_work(need);
    double *values = new_numbers((size_t)count);
    assert_int_equal(ulna_dense_svd(m, n, J, values, NULL, NULL, &work), ULNA_OK);
    int rank = 0, clear = 1;
    for (int i = 0; i < count; i++) {
        rank += values[i] > 1e-5 * values[0];
        clear &= values[i] > 1e-5 * values[0] || values[i] < 1e-13 * values[0];
    }
    free(values);
    free_work(&work);
    return clear ? rank : -1;
}

/* JTJ of skeletons with too few markers: of the inertia only what linalg.h claims, of factors and solution everything. */
static void semidefinite_claims_hold(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(21);
    int compared = 0, noisy = 0;
    for (int round = 0; round < 1500; round++) {
        const ulna_ltdl_kernel *kernel = ulna_ltdl_kernel_find(round % 2 ? NULL : "portable");
        ulna_tree *tree = forest_tree(&rng, (forest_shape)(FOREST_CHAIN + round % (FOREST_SHAPE_COUNT - FOREST_CHAIN)));
        const int markers = 1 + ulna_test_rng_index(&rng, 20);
        const size_t n = (size_t)tree->n, size = tree_size(tree);
        double *J = new_jacobian(&rng, tree, markers), *H = tree_gram(tree, 3 * markers, J), *L = new_numbers(size);
        double *inverse = new_numbers(n), *D = new_numbers(n), *shift = new_numbers(n);
        double *seed = new_random(&rng, n), *b = new_numbers(n), *x = new_numbers(n), *y = new_numbers(n);
        const int rank = clear_rank(3 * markers, tree->n, J);
        ulna_inertia inertia;
        const ulna_status status =
            ulna_ltdl_factor_with(kernel, tree, H, NULL, NULL, ULNA_LTDL_ANY, L, inverse, &inertia);
        assert_int_equal(status, inertia.zero ? ULNA_ERR_SINGULAR : ULNA_OK);
        if (rank >= 0) {
            assert_true(inertia.positive >= rank && inertia.zero <= tree->n - rank);
            noisy += inertia.zero < tree->n - rank;
            ++compared;
        }

        /* LT D L is H, and H x = b is solved. */
        for (size_t j = 0; j < n; j++)
            D[j] = inverse[j] != 0 ? 1 / inverse[j] : 0;
        double *product = tree_from_factors(tree, L, D);
        for (int j = 0; j < tree->n; j++) {
            for (int p = 0; p < tree->depth[j]; p++) {
                const size_t at = tree->row[j] + (size_t)p;
                const double scale = sqrt(*diagonal_of(tree, H, j) * *diagonal_of(tree, H, tree->path[j][p]));
                assert_true(fabs(product[at] - H[at]) <= 1e-6 * scale);
            }
        }
        ulna_test_pattern_multiply(tree, H, seed, b);
        assert_int_equal(ulna_ltdl_solve_with(kernel, tree, L, inverse, b, x), ULNA_OK);
        ulna_test_pattern_multiply(tree, H, x, y);
        assert_close(y, b, n, 1e-10);

        /* A little damping, and it is positive definite. */
        for (int j = 0; j < tree->n; j++)
            shift[j] = *diagonal_of(tree, H, j) > 0 ? 1e-10 * *diagonal_of(tree, H, j) : 1;
        assert_int_equal(ulna_ltdl_factor_with(kernel, tree, H, shift, NULL, ULNA_LTDL_POSITIVE, L, inverse, NULL),
                         ULNA_OK);
        free(J), free(H), free(L), free(inverse), free(D), free(shift), free(product);
        free(seed), free(b), free(x), free(y);
        ulna_test_pattern_free(tree);
    }
    assert_true(compared > 1200);
    assert_true(noisy > 0); /* or linalg.h could claim more */
}

static void unseen_dofs_are_singular(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(16);
    for (int round = 0; round < 40; round++) {
        ulna_tree *tree = forest_tree(&rng, FOREST_LIMBS);
        const size_t n = (size_t)tree->n;
        double *H = new_numbers(tree_size(tree)), *L = new_numbers(tree_size(tree)), *inverse = new_numbers(n);
        double *seed = new_random(&rng, n), *b = new_numbers(n), *x = new_numbers(n), *y = new_numbers(n);
        int missing = 0;
        for (int j = 0; j < tree->n; j++) { /* DOFs whose whole row is zero, as if no marker were below */
            const int absent = ulna_test_rng_uniform(&rng, 0, 1) < 0.2;
            missing += absent;
            if (!absent)
                *diagonal_of(tree, H, j) = 1 + j % 3;
        }
        ulna_inertia inertia;
        assert_int_equal(ulna_ltdl_factor(tree, H, NULL, NULL, ULNA_LTDL_ANY, L, inverse, &inertia),
                         missing ? ULNA_ERR_SINGULAR : ULNA_OK);
        assert_inertia(inertia, tree->n - missing, 0, missing);
        ulna_test_pattern_multiply(tree, H, seed, b);
        assert_int_equal(ulna_ltdl_solve(tree, L, inverse, b, x), ULNA_OK);
        ulna_test_pattern_multiply(tree, H, x, y);
        assert_close(y, b, n, 1e-12);
        free(H), free(L), free(inverse), free(seed), free(b), free(x), free(y);
        ulna_test_pattern_free(tree);
    }

    /* Two DOFs that do the same: rank one. */
    const int parents[] = {-1, 0};
    const double H[8] = {[0] = 3, [4] = 3, [5] = 3};
    double L[8], inverse[2];
    ulna_tree *tree;
    ulna_inertia inertia;
    tree = ulna_test_pattern(2, parents);
    assert_int_equal(ulna_ltdl_factor(tree, H, NULL, NULL, ULNA_LTDL_ANY, L, inverse, &inertia), ULNA_ERR_SINGULAR);
    assert_inertia(inertia, 1, 0, 1);
    ulna_test_pattern_free(tree);
}

/* Every element in turn; and no complaint about numbers that a fixed DOF hides. */
static void numbers_that_are_none_are_found(void **state)
{
    (void)state;
    const double odd[] = {NAN, INFINITY, -INFINITY};
    ulna_test_rng rng = ulna_test_rng_seed(17);
    ulna_tree *tree = forest_tree(&rng, FOREST_HUMAN);
    const size_t n = (size_t)tree->n;
    int negative;
    double *H = random_tree_matrix(&rng, tree, 0.2, &negative), *shift = new_numbers(n);
    double *L = new_numbers(tree_size(tree)), *inverse = new_numbers(n);
    for (int j = 0; j < tree->n; j++) {
        for (int p = 0; p < tree->depth[j]; p++) {
            double *element = &H[tree->row[j] + (size_t)p];
            const double kept = *element;
            unsigned char fixed[FOREST_MAX] = {0};
            *element = odd[(j + p) % 3];
            for (int mode = 0; mode < 2; mode++) {
                const ulna_status status =
                    ulna_ltdl_factor(tree, H, NULL, NULL, (ulna_ltdl_mode)mode, L, inverse, NULL);
                if (status != ULNA_ERR_NUMBER)
                    assert_true(mode == ULNA_LTDL_POSITIVE && status == ULNA_ERR_INDEFINITE);
            }
            fixed[p % 2 ? j : tree->path[j][p]] = 1;
            assert_int_equal(ulna_ltdl_factor(tree, H, NULL, fixed, ULNA_LTDL_ANY, L, inverse, NULL), ULNA_OK);
            *element = kept;
        }
        shift[j] = odd[j % 3];
        assert_int_equal(ulna_ltdl_factor(tree, H, shift, NULL, ULNA_LTDL_ANY, L, inverse, NULL), ULNA_ERR_NUMBER);
        shift[j] = 0;
    }
    free(H), free(shift), free(L), free(inverse);
    ulna_test_pattern_free(tree);
}

/* A matrix in other units is the same matrix. */
static void scale_does_not_matter(void **state)
{
    (void)state;
    const double scales[] = {1e-250, 1e-100, 1e100, 1e250};
    ulna_test_rng rng = ulna_test_rng_seed(18);
    ulna_tree *tree = forest_tree(&rng, FOREST_HUMAN);
    const size_t n = (size_t)tree->n, size = tree_size(tree);
    int negative;
    double *H = random_tree_matrix(&rng, tree, 0.2, &negative), *scaled = new_numbers(size), *L = new_numbers(size);
    double *inverse = new_numbers(n), *b = new_random(&rng, n), *x = new_numbers(n), *y = new_numbers(n);
    for (int k = 0; k < 4; k++) {
        ulna_inertia inertia;
        for (size_t i = 0; i < size; i++)
            scaled[i] = H[i] * scales[k];
        assert_int_equal(ulna_ltdl_factor(tree, scaled, NULL, NULL, ULNA_LTDL_ANY, L, inverse, &inertia), ULNA_OK);
        assert_inertia(inertia, tree->n - negative, negative, 0);
        assert_int_equal(ulna_ltdl_solve(tree, L, inverse, b, x), ULNA_OK);
        ulna_test_pattern_multiply(tree, scaled, x, y);
        assert_close(y, b, n, 1e-10);
    }
    free(H), free(scaled), free(L), free(inverse), free(b), free(x), free(y);
    ulna_test_pattern_free(tree);
}

static void arguments_are_checked(void **state)
{
    (void)state;
    const int parents[] = {-1};
    const double H[4] = {1}, b[1] = {1};
    double L[4], inverse[1], x[1];
    ulna_tree *tree;
    const ulna_ltdl_mode any = ULNA_LTDL_ANY;
    tree = ulna_test_pattern(1, parents);
    assert_int_equal(ulna_ltdl_factor(NULL, H, NULL, NULL, any, L, inverse, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_ltdl_factor(tree, NULL, NULL, NULL, any, L, inverse, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_ltdl_factor(tree, H, NULL, NULL, any, NULL, inverse, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_ltdl_factor(tree, H, NULL, NULL, any, L, NULL, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_ltdl_factor(tree, L, NULL, NULL, any, L, inverse, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_ltdl_factor(tree, H, NULL, NULL, (ulna_ltdl_mode)7, L, inverse, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_ltdl_factor_with(NULL, tree, H, NULL, NULL, any, L, inverse, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_ltdl_factor(tree, H, NULL, NULL, any, L, inverse, NULL), ULNA_OK);
    assert_int_equal(ulna_ltdl_solve(NULL, L, inverse, b, x), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_ltdl_solve(tree, NULL, inverse, b, x), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_ltdl_solve(tree, L, NULL, b, x), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_ltdl_solve(tree, L, inverse, NULL, x), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_ltdl_solve(tree, L, inverse, b, NULL), ULNA_ERR_ARGUMENT);
    ulna_test_pattern_free(tree);

    ulna_tree *empty;
    ulna_inertia inertia = {9, 9, 9};
    empty = ulna_test_pattern(0, NULL);
    assert_int_equal(ulna_ltdl_factor(empty, NULL, NULL, NULL, any, NULL, NULL, &inertia), ULNA_OK);
    assert_inertia(inertia, 0, 0, 0);
    assert_int_equal(ulna_ltdl_solve(empty, NULL, NULL, NULL, NULL), ULNA_OK);
    ulna_test_pattern_free(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_factors_every_shape),
        cmocka_unit_test(shift_and_fixed_work),
        cmocka_unit_test(kernels_agree),
        cmocka_unit_test(padding_and_alignment_do_not_matter),
        cmocka_unit_test(deep_trees_are_solved),
        cmocka_unit_test(positive_mode_stops_at_once),
        cmocka_unit_test(positive_mode_saves_the_rest),
        cmocka_unit_test(gram_matrices_show_their_rank),
        cmocka_unit_test(semidefinite_claims_hold),
        cmocka_unit_test(unseen_dofs_are_singular),
        cmocka_unit_test(numbers_that_are_none_are_found),
        cmocka_unit_test(scale_does_not_matter),
        cmocka_unit_test(arguments_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
