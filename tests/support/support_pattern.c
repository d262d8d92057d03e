/* Tree patterns for tests: see support_pattern.h. */
#include "support_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "support.h"

static void *new_array(size_t count, size_t size)
{
    void *array = calloc(count + 1, size);
    assert_non_null(array);
    return array;
}

ulna_tree *ulna_test_pattern(int n, const int *parent)
{
    size_t count = (size_t)n, *row = new_array(count + 1, sizeof *row);
    int *parents = new_array(count, sizeof *parents), *depth = new_array(count, sizeof *depth);
    int **path = new_array(count, sizeof *path);
    for (int j = 0; j < n; j++) {
        int up = parents[j] = parent[j];
        assert_true(up >= -1 && up < j);
        depth[j] = up < 0 ? 1 : depth[up] + 1;
        row[j + 1] = row[j] + (((size_t)depth[j] + 3) & ~(size_t)3);
        path[j] = new_array((size_t)depth[j], sizeof **path);
        if (up >= 0)
            memcpy(path[j], path[up], (size_t)depth[up] * sizeof **path);
        path[j][depth[j] - 1] = j;
    }
    ulna_tree *tree = new_array(1, sizeof *tree);
    *tree = (ulna_tree){n, parents, depth, row, (const int *const *)path};
    return tree;
}

void ulna_test_pattern_free(ulna_tree *tree)
{
    for (int j = 0; tree && j < tree->n; j++)
        free((void *)tree->path[j]);
    if (tree) {
        free((void *)tree->parent);
        free((void *)tree->depth);
        free((void *)tree->row);
        free((void *)tree->path);
    }
    free(tree);
}

void ulna_test_pattern_check(const ulna_tree *tree)
{
    assert_int_equal(tree->row[0], 0);
    for (int j = 0; j < tree->n; j++) {
        int parent = tree->parent[j], depth = tree->depth[j];
        const int *path = tree->path[j];
        assert_true(parent >= -1 && parent < j);
        assert_int_equal(depth, parent < 0 ? 1 : tree->depth[parent] + 1);
        assert_int_equal(tree->row[j + 1] % 4, 0);
        assert_true(tree->row[j + 1] >= tree->row[j] + (size_t)depth);
        assert_int_equal(path[depth - 1], j);
        if (depth > 1)
            assert_memory_equal(path, tree->path[parent], (size_t)(depth - 1) * sizeof *path);
    }
}

void ulna_test_pattern_multiply(const ulna_tree *tree, const double *values, const double *x, double *y)
{
    for (int j = 0; j < tree->n; j++)
        y[j] = 0;
    for (int j = 0; j < tree->n; j++) {
        const double *row = values + tree->row[j];
        for (int p = 0; p < tree->depth[j]; p++) {
            int i = tree->path[j][p];
            y[j] += row[p] * x[i];
            y[i] += i != j ? row[p] * x[j] : 0;
        }
    }
}

void ulna_test_pattern_dense(const ulna_tree *tree, const double *values, double *A)
{
    size_t n = (size_t)tree->n;
    for (size_t i = 0; i < n * n; i++)
        A[i] = 0;
    for (size_t j = 0; j < n; j++)
        for (int p = 0; p < tree->depth[j]; p++) {
            size_t i = (size_t)tree->path[j][p];
            A[i + n * j] = A[j + n * i] = values[tree->row[j] + (size_t)p];
        }
}
