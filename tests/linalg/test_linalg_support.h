/*
 * test_linalg_support.h: forests of many shapes, matrices with their pattern, dense comparisons, for test_linalg_*.c.
 * Dense matrices are column-major. Everything that returns a pointer is never NULL and is for free().
 */
#ifndef ULNA_TESTS_LINALG_SUPPORT_H
#define ULNA_TESTS_LINALG_SUPPORT_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
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
static inline int forest_run(int *parents, int *n, int parent, int count)
{
    for (int i = 0; i < count; i++) {
        parents[*n] = parent;
        parent = (*n)++;
    }
    return parent;
}

static inline int forest_human(int *parents, int breadth_first)
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
static inline int forest_fill(ulna_test_rng *rng, forest_shape shape, int *parents)
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

static inline ulna_tree *forest_tree(ulna_test_rng *rng, forest_shape shape)
{
    int parents[FOREST_MAX];
    ulna_tree *tree;
    const int n = forest_fill(rng, shape, parents);
    tree = ulna_test_pattern(n, parents);
    return tree;
}

/* ---- numbers ---- */

static inline double *new_numbers(size_t count)
{
    double *numbers = calloc(count + 1, sizeof *numbers);
    assert_non_null(numbers);
    return numbers;
}

static inline double *new_random(ulna_test_rng *rng, size_t count)
{
    double *numbers = new_numbers(count);
    ulna_test_rng_fill(rng, numbers, (int)count, -1, 1);
    return numbers;
}

static inline double largest_of(const double *a, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(a[i]));
    return largest;
}

/* Fails unless |a - b| <= tolerance * largest |b| everywhere. NaN is never close. */
static inline void assert_close(const double *a, const double *b, size_t count, double tolerance)
{
    const double scale = largest_of(b, count);
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(a[i] - b[i]) <= tolerance * scale))
            fail_msg("entry %zu of %zu: %.17g, not %.17g", i, count, a[i], b[i]);
    }
}

static inline void assert_inertia(ulna_inertia inertia, int positive, int negative, int zero)
{
    assert_int_equal(inertia.positive, positive);
    assert_int_equal(inertia.negative, negative);
    assert_int_equal(inertia.zero, zero);
}

/* ---- matrices ---- */

static inline size_t tree_size(const ulna_tree *tree)
{
    return tree->n ? tree->row[tree->n] : 0;
}

static inline double *diagonal_of(const ulna_tree *tree, double *values, int j)
{
    return &values[tree->row[j] + (size_t)tree->depth[j] - 1];
}

/* LT D L in tree rows, for L in tree rows (its diagonal taken as 1): what the factorisation undoes. */
static inline double *tree_from_factors(const ulna_tree *tree, const double *L, const double *D)
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
static inline double *random_tree_matrix(ulna_test_rng *rng, const ulna_tree *tree, double negative, int *count)
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

/* J of turning DOFs at random places (three at each) and markers at random DOFs; 3 * markers x n. */
static inline double *new_jacobian(ulna_test_rng *rng, const ulna_tree *tree, int markers)
{
    const size_t m = 3 * (size_t)markers;
    double *J = new_numbers(m * (size_t)tree->n), axis[FOREST_MAX][3], place[FOREST_MAX][3];
    for (int j = 0; j < tree->n; j++) {
        for (int k = 0; k < 3; k++) {
            const double above = tree->parent[j] < 0 ? 0 : place[tree->parent[j]][k];
            axis[j][k] = ulna_test_rng_normal(rng);
            place[j][k] = above + (j % 3 ? 0 : ulna_test_rng_uniform(rng, -0.3, 0.3));
        }
    }
    for (size_t marker = 0; marker < (size_t)markers; marker++) {
        const int body = ulna_test_rng_index(rng, tree->n);
        double offset[3];
        ulna_test_rng_fill(rng, offset, 3, -0.1, 0.1);
        for (int p = 0; p < tree->depth[body]; p++) {
            const int j = tree->path[body][p];
            double arm[3];
            for (int k = 0; k < 3; k++)
                arm[k] = place[body][k] + offset[k] - place[j][k];
            for (size_t k = 0; k < 3; k++) {
                const size_t a = (k + 1) % 3, b = (k + 2) % 3;
                J[3 * marker + k + m * (size_t)j] = axis[j][a] * arm[b] - axis[j][b] * arm[a];
            }
        }
    }
    return J;
}

/* JTJ in tree rows, for J (m x n) whose rows each belong to one path. */
static inline double *tree_gram(const ulna_tree *tree, int m, const double *J)
{
    double *H = new_numbers(tree_size(tree));
    for (int j = 0; j < tree->n; j++) {
        const double *column = J + (size_t)m * (size_t)j;
        for (int p = 0; p < tree->depth[j]; p++) {
            const double *other = J + (size_t)m * (size_t)tree->path[j][p];
            for (int i = 0; i < m; i++)
                H[tree->row[j] + (size_t)p] += column[i] * other[i];
        }
    }
    return H;
}

/* y = A x for a dense symmetric A. */
static inline void dense_multiply(int n, const double *A, const double *x, double *y)
{
    const size_t size = (size_t)n;
    for (size_t i = 0; i < size; i++) {
        y[i] = 0;
        for (size_t j = 0; j < size; j++)
            y[i] += A[i + size * j] * x[j];
    }
}

/* Scratch of the given need; free() both members. */
static inline ulna_dense_work new_work(ulna_dense_need need)
{
    ulna_dense_work work = {new_numbers(need.reals), calloc(need.integers + 1, sizeof(int)), need};
    assert_non_null(work.integers);
    return work;
}

static inline void free_work(ulna_dense_work *work)
{
    free(work->reals);
    free(work->integers);
}

/* Eigenvalues of a symmetric matrix, ascending; `vectors` (may be NULL) becomes the eigenvectors. */
static inline double *new_eigenvalues(int n, const double *A, double *vectors)
{
    const size_t size = (size_t)n;
    ulna_dense_need need;
    assert_int_equal(ulna_dense_eigen_need(n, &need), ULNA_OK);
    ulna_dense_work work = new_work(need);
    double *values = new_numbers(size), *copy = new_numbers(size * size);
    memcpy(copy, A, size * size * sizeof *A);
    assert_int_equal(ulna_dense_eigen(n, copy, vectors != NULL, values, &work), ULNA_OK);
    if (vectors)
        memcpy(vectors, copy, size * size * sizeof *copy);
    free(copy);
    free_work(&work);
    return values;
}

#endif
