/* The factorisation on the tree that calibration uses, in every kernel that this machine has, multiplied out again. */
#include "mocap/calibrator.h"
#include "support_linalg.h"
#include "support_pattern.h"

/* ---- forests ---- */

typedef enum forest_shape {
    FOREST_EMPTY = 0,
    FOREST_SINGLE,
    FOREST_ROOTS,     /* no edges at all */
    FOREST_CHAIN,     /* one run of numbers */
    FOREST_CHAINS,    /* several roots, runs of different lengths */
    FOREST_STAR,      /* a root and leaves */
    FOREST_BUSH,      /* any parent, several roots, numbers in no order */
    FOREST_LIMBS,     /* mostly runs, depth-first */
    FOREST_HUMAN,     /* 60 DOF, depth-first */
    FOREST_HUMAN_BFS, /* the same joints, breadth-first */
    FOREST_SHAPE_COUNT
} forest_shape;

#define FOREST_MAX 96

/* Hangs `count` DOFs below `parent` one after the other; returns the last. */
static int forest_run(int *parents, int *n, int parent, int count)
{
    for (int i = 0; i < count; i++) {
        parents[*n] = parent;
        parent = (*n)++;
    }
    return parent;
}

static int forest_human(int *parents, int breadth_first)
{
    int n = 0;
    const int root = forest_run(parents, &n, -1, 6);
    if (!breadth_first) {
        forest_run(parents, &n, root, 8);
        forest_run(parents, &n, root, 8);
        const int chest = forest_run(parents, &n, root, 9);
        forest_run(parents, &n, chest, 7);
        forest_run(parents, &n, chest, 11);
        forest_run(parents, &n, chest, 11);
        return n;
    }
    static const int joints[6][5] = {
        {3, 1, 3, 1, 0}, {3, 1, 3, 1, 0}, {3, 3, 3, 0, 0}, {3, 3, 1, 0, 0}, {2, 3, 1, 2, 3}, {2, 3, 1, 2, 3},
    };
    int tip[6];
    for (int limb = 0; limb < 3; limb++)
        tip[limb] = root;
    for (int level = 0; level < 5; level++) {
        for (int limb = 0; limb < 3; limb++)
            tip[limb] = forest_run(parents, &n, tip[limb], joints[limb][level]);
    }
    for (int limb = 3; limb < 6; limb++)
        tip[limb] = tip[2];
    for (int level = 0; level < 5; level++) {
        for (int limb = 3; limb < 6; limb++)
            tip[limb] = forest_run(parents, &n, tip[limb], joints[limb][level]);
    }
    return n;
}

/* Fills parents (FOREST_MAX) and returns how many there are. */
static int forest_fill(ulna_test_rng *rng, forest_shape shape, int *parents)
{
    const int any = 2 + ulna_test_rng_index(rng, 60);
    int n = 0;
    switch (shape) {
    case FOREST_EMPTY:
        return 0;
    case FOREST_SINGLE:
        return forest_run(parents, &n, -1, 1) + 1;
    case FOREST_ROOTS:
        for (int i = 0; i < any; i++)
            forest_run(parents, &n, -1, 1);
        return n;
    case FOREST_CHAIN:
        return forest_run(parents, &n, -1, any) + 1;
    case FOREST_CHAINS:
        for (int i = 1; i < 9; i++)
            forest_run(parents, &n, -1, i);
        return n;
    case FOREST_STAR:
        forest_run(parents, &n, -1, 1);
        for (int i = 0; i < any; i++)
            forest_run(parents, &n, 0, 1);
        return n;
    case FOREST_BUSH:
        for (int i = 0; i < any; i++)
            forest_run(parents, &n, ulna_test_rng_index(rng, i + 1) - 1, 1);
        return n;
    case FOREST_LIMBS:
        while (n < any)
            forest_run(parents, &n, n ? ulna_test_rng_index(rng, n) : -1, 1 + ulna_test_rng_index(rng, 7));
        return n;
    case FOREST_HUMAN:
        return forest_human(parents, 0);
    default:
        return forest_human(parents, 1);
    }
}

static ulna_tree *forest_tree(ulna_test_rng *rng, forest_shape shape)
{
    int parents[FOREST_MAX];
    ulna_tree *tree;
    const int n = forest_fill(rng, shape, parents);
    tree = ulna_test_pattern(n, parents);
    return tree;
}

/* ---- matrices ---- */

static size_t tree_size(const ulna_tree *tree)
{
    return tree->n ? tree->row[tree->n] : 0;
}

/* LT D L in tree rows, for L in tree rows (its diagonal taken as 1): what the factorisation undoes. */
static double *tree_from_factors(const ulna_tree *tree, const double *L, const double *D)
{
    double *H = new_numbers(tree_size(tree));
    for (int k = 0; k < tree->n; k++) {
        const int *path = tree->path[k];
        const double *row = L + tree->row[k];
        for (int p = 0; p < tree->depth[k]; p++) {
            const double left = p == tree->depth[k] - 1 ? 1 : row[p];
            for (int c = 0; c <= p; c++)
                H[tree->row[path[p]] + (size_t)c] += D[k] * left * (c == tree->depth[k] - 1 ? 1 : row[c]);
        }
    }
    return H;
}

/* A random matrix of known, moderate factors. negative: chance of a negative pivot; counted in *count. */
static double *random_tree_matrix(ulna_test_rng *rng, const ulna_tree *tree, double negative, int *count)
{
    double *L = new_random(rng, tree_size(tree)), *D = new_numbers((size_t)tree->n);
    *count = 0;
    for (int j = 0; j < tree->n; j++) {
        D[j] = ulna_test_rng_uniform(rng, 0.5, 2);
        if (ulna_test_rng_uniform(rng, 0, 1) < negative) {
            D[j] = -D[j];
            ++*count;
        }
        for (int p = 0; p < tree->depth[j]; p++)
            L[tree->row[j] + (size_t)p] *= 2.0 / tree->depth[j];
    }
    double *H = tree_from_factors(tree, L, D);
    free(L);
    free(D);
    return H;
}

/* ---- tests ---- */

typedef const ulna_reduce_kernel *kernel_list[2];

/* The kernels that this machine runs; the portable one first. */
static int find_kernels(kernel_list kernels)
{
    int count = 0;
    kernels[count++] = &ulna_reduce_portable;
#ifndef ULNA_NO_X86
    if (ulna_cpu_runs("avx2"))
        kernels[count++] = &ulna_reduce_avx2;
#endif
    return count;
}

/* Factors H + shift I with every kernel. LT D L must be that matrix, and the pivots must have the expected signs. */
static void check_factors(const ulna_tree *tree, const double *H, double shift, int negative, int zero)
{
    const size_t n = (size_t)tree->n, size = tree_size(tree);
    double *L = new_numbers(size), *inverse = new_numbers(n), *D = new_numbers(n), *A = new_numbers(n * n);
    double *expected = new_numbers(n * n);
    kernel_list kernels;
    const int count = find_kernels(kernels);
    ulna_test_pattern_dense(tree, H, expected);
    for (size_t j = 0; j < n; j++)
        expected[j + n * j] += shift;
    for (int k = 0; k < count; k++) {
        int negatives = 0, zeros = 0;
        memcpy(L, H, size * sizeof *L);
        assert_int_equal(kernels[k]->factor(tree, shift, L, inverse), 1);
        for (size_t j = 0; j < n; j++) {
            negatives += inverse[j] < 0;
            zeros += inverse[j] == 0;
            D[j] = inverse[j] != 0 ? 1 / inverse[j] : 0;
        }
        assert_int_equal(negatives, negative);
        assert_int_equal(zeros, zero);
        double *product = tree_from_factors(tree, L, D);
        ulna_test_pattern_dense(tree, product, A);
        assert_close(A, expected, n * n, 1e-12);
        free(product);
    }
    free(L), free(inverse), free(D), free(A), free(expected);
}

static void every_kernel_factors_every_shape(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(10);
    for (int round = 0; round < 12; round++) {
        for (int shape = 0; shape < FOREST_SHAPE_COUNT; shape++) {
            ulna_tree *tree = forest_tree(&rng, (forest_shape)shape);
            int negative;
            double *H = random_tree_matrix(&rng, tree, round % 2 ? 0.4 : 0, &negative);
            check_factors(tree, H, 0, negative, 0);
            if (negative == 0)
                check_factors(tree, H, 0.3, 0, 0);
            free(H);
            ulna_test_pattern_free(tree);
        }
    }
}

/* A Gram matrix of too few vectors, each with a DOF of its own: the missing ones have the pivot 0, the others are exact. */
static void missing_vectors_have_no_pivot(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(19);
    for (int round = 0; round < 100; round++) {
        ulna_tree *tree = forest_tree(&rng, round % 2 ? FOREST_HUMAN : FOREST_LIMBS);
        const size_t n = (size_t)tree->n;
        double *rows = new_random(&rng, tree_size(tree)), *there = new_numbers(n);
        int missing = 0;
        for (size_t j = 0; j < n; j++) {
            there[j] = j == 0 || ulna_test_rng_uniform(&rng, 0, 1) < 0.7;
            missing += there[j] == 0;
        }
        double *H = tree_from_factors(tree, rows, there);
        check_factors(tree, H, 0, 0, missing);
        free(rows), free(there), free(H);
        ulna_test_pattern_free(tree);
    }
}

/* Every element, one after the other. */
static void numbers_that_are_not_finite_are_found(void **state)
{
    (void)state;
    const double odd[] = {NAN, INFINITY, -INFINITY};
    ulna_test_rng rng = ulna_test_rng_seed(17);
    ulna_tree *tree = forest_tree(&rng, FOREST_HUMAN);
    int negative;
    double *H = random_tree_matrix(&rng, tree, 0.2, &negative), *L = new_numbers(tree_size(tree));
    double *inverse = new_numbers((size_t)tree->n);
    kernel_list kernels;
    const int count = find_kernels(kernels);
    for (int j = 0; j < tree->n; j++) {
        for (int p = 0; p < tree->depth[j]; p++) {
            memcpy(L, H, tree_size(tree) * sizeof *L);
            L[tree->row[j] + (size_t)p] = odd[(j + p) % 3];
            assert_int_equal(kernels[(j + p) % count]->factor(tree, 0, L, inverse), 0);
        }
    }
    free(H), free(L), free(inverse);
    ulna_test_pattern_free(tree);
}

/* A matrix in other units is the same matrix. */
static void scale_does_not_matter(void **state)
{
    (void)state;
    const double scales[] = {1e-250, 1e-100, 1e100, 1e250};
    ulna_test_rng rng = ulna_test_rng_seed(18);
    ulna_tree *tree = forest_tree(&rng, FOREST_HUMAN);
    int negative;
    double *H = random_tree_matrix(&rng, tree, 0.2, &negative), *scaled = new_numbers(tree_size(tree));
    for (int k = 0; k < 4; k++) {
        for (size_t i = 0; i < tree_size(tree); i++)
            scaled[i] = H[i] * scales[k];
        check_factors(tree, scaled, 0, negative, 0);
    }
    free(H), free(scaled);
    ulna_test_pattern_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_factors_every_shape),
        cmocka_unit_test(missing_vectors_have_no_pivot),
        cmocka_unit_test(numbers_that_are_not_finite_are_found),
        cmocka_unit_test(scale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
