/* support_pattern.h: tree patterns (linalg/linalg.h) that belong to no skeleton, and plain ways to use and check them. */
#ifndef ULNA_TESTS_SUPPORT_PATTERN_H
#define ULNA_TESTS_SUPPORT_PATTERN_H

#include "linalg/linalg.h"

/* The pattern of the forest given by `parent` (n; -1 for none, parent[j] < j). For ulna_test_pattern_free. */
ulna_tree *ulna_test_pattern(int n, const int *parent);
void ulna_test_pattern_free(ulna_tree *tree); /* NULL is allowed */

/* Fails unless every invariant that linalg.h states holds. */
void ulna_test_pattern_check(const ulna_tree *tree);

/* y = A x for the symmetric matrix in `values`. x and y do not overlap. */
void ulna_test_pattern_multiply(const ulna_tree *tree, const double *values, const double *x, double *y);

/* A: n x n, column-major, both triangles. */
void ulna_test_pattern_dense(const ulna_tree *tree, const double *values, double *A);

#endif
