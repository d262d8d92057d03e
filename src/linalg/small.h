/*
 * small.h (private): dense factorisations by plain loops. They serve matrices too small for LAPACK to pay, such as the
 * Schur complement of a few low-rank terms, and all of Cholesky and LDLT in builds without LAPACK.
 * Storage as in ulna/linalg.h: column-major, lower triangle. Arguments are not checked.
 */
#ifndef ULNA_SRC_SMALL_H
#define ULNA_SRC_SMALL_H

#include "ulna/linalg.h"

/* 1 if all numbers are finite; the second looks at the lower triangle of an n x n matrix. */
int ulna_array_finite(const double *x, size_t count);
int ulna_lower_finite(int n, const double *A);

/* A = L LT. ULNA_ERR_INDEFINITE if a pivot is not positive. */
ulna_status ulna_small_cholesky(int n, double *A);
void ulna_small_cholesky_solve(int n, int columns, const double *A, double *B);

/* PT A P = L D LT. pivot[k] >= 0: a 1x1 pivot, swapped with that row; below 0: half of a 2x2 pivot, -1 - row. */
void ulna_small_ldlt(int n, double *A, int *pivot);
void ulna_small_ldlt_solve(int n, int columns, const double *A, const int *pivot, double *B);

/* Signs of the blocks of D, a negative pivot[k] marking each half of a 2x2 block: true for LAPACK's pivots, too.
 * ULNA_ERR_SINGULAR if an eigenvalue of a block is below n machine epsilons times the largest. */
ulna_status ulna_ldlt_inertia(int n, const double *A, const int *pivot, ulna_inertia *inertia);

#endif
