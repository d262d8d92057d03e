/*
 * linalg.h (private): the linear algebra under the solvers.
 *
 *   tree      symmetric matrices with the sparsity of a kinematic tree: their storage
 *   dense     SVD, pivoted QR, eigenvalues, symmetric indefinite systems, nearest positive definite matrix on caller-owned
 *             scratch (dense.c, LAPACK)
 *   band      banded Cholesky, the preconditioner of pcg (band.c)
 *   pcg       conjugate gradients that stop at negative curvature or at a trust radius (pcg.c)
 *   dual      the small quadratic program of constraints, in their multipliers (dual.c)
 *
 * Nothing here allocates. Every call is safe from several threads as long as they do not share what is written. Unless a
 * comment says otherwise: sizes may be 0, a pointer that is needed but NULL gives ULNA_ERR_ARGUMENT, and NaN or infinity
 * in the numbers gives ULNA_ERR_NUMBER.
 */
#ifndef ULNA_SRC_LINALG_H
#define ULNA_SRC_LINALG_H

#include <stddef.h>

#include "ulna/base.h"

/* y = A x for some square matrix A; x and y do not overlap. Any status but ULNA_OK ends the caller's work. */
typedef ulna_status (*ulna_linear_map)(void *context, const double *x, double *y);

/* ---- tree patterns ------------------------------------------------------------------------------------------- */

/*
 * The sparsity of a matrix whose entry (j, i) can be non-zero only if one of i, j is the other's ancestor.
 * A matrix of this pattern is an array `values` of row[n] doubles. Row j starts at values[row[j]] and holds depth[j]
 * entries, those of path[j]: root first, the diagonal last. What is left up to row[j + 1] is padding, which whoever
 * writes the matrix keeps zero. Every row[j] is a multiple of 4: rows are aligned to 32 bytes if `values` is.
 */
typedef struct ulna_tree {
    int n;                  /* rows, one per degree of freedom */
    const int *parent;      /* n: parent DOF, -1 for none; parent[j] < j. Several roots are allowed */
    const int *depth;       /* n: DOFs from the root down to j, j included (>= 1) */
    const size_t *row;      /* n + 1 */
    const int *const *path; /* n: path[j][0 .. depth[j]-1], ancestors of j, root first, j last; lists may be shared */
} ulna_tree;

/* ---- dense matrices ------------------------------------------------------------------------------------------ */

/*
 * Matrices are column-major and packed: element (i, j) of an m x n matrix is A[i + m * j].
 * The functions ..._need say how much scratch an operation needs. In a minimal build, which has no LAPACK, everything
 * returns ULNA_ERR_UNSUPPORTED (dense_minimal.c). An iteration that fails inside LAPACK gives ULNA_ERR_CONVERGENCE, more
 * than 16384 rows or columns ULNA_ERR_LIMIT. OpenBLAS running several threads allocates a little for itself from about 100
 * rows on, and its rounding depends on the number of threads; with OPENBLAS_NUM_THREADS=1 it does neither.
 */
typedef struct ulna_dense_need {
    size_t reals, integers;
} ulna_dense_need;

/* Caller-owned scratch: `have` says how long the arrays are. Too little gives ULNA_ERR_ARGUMENT. */
typedef struct ulna_dense_work {
    double *reals;
    int *integers;
    ulna_dense_need have;
} ulna_dense_work;

/* 1 if this build has LAPACK. */
int ulna_dense_available(void);

/*
 * A = U diag(s) VT, singular values descending, k = min(m, n) of them.
 * A: m x n, destroyed. s: k. U: m x k. VT: k x n.
 */
ulna_status ulna_dense_svd_need(int m, int n, ulna_dense_need *need);
ulna_status ulna_dense_svd(int m, int n, double *A, double *s, double *U, double *VT, const ulna_dense_work *work);

/*
 * QR with column pivoting, and least squares with it. Factor: A (m x n) becomes R over the Householder vectors,
 * tau: min(m, n), column: n, the (0-based) columns of A in the order of R. `rank`: diagonal elements of R above
 * tolerance times the first.
 * Solve: the basic solution x (n) of min |A x - b| (b: m, destroyed): columns beyond the rank get 0. A is as before
 * afterwards, but LAPACK scribbles in it meanwhile: no two threads may solve with one factor.
 * `residual` (may be NULL) is |A x - b|.
 */
ulna_status ulna_dense_qr_need(int m, int n, ulna_dense_need *need);
ulna_status ulna_dense_qr_factor(int m, int n, double *A, double tolerance, double *tau, int *column, int *rank,
                                 const ulna_dense_work *work);
ulna_status ulna_dense_qr_solve(int m, int n, double *A, const double *tau, const int *column, int rank, double *b,
                                double *x, double *residual, const ulna_dense_work *work);

/* Symmetric A (n x n, lower triangle read): eigenvalues ascending; A becomes the eigenvectors (columns) if
 * `vectors` is not 0, and is destroyed otherwise. */
ulna_status ulna_dense_eigen_need(int n, ulna_dense_need *need);
ulna_status ulna_dense_eigen(int n, double *A, int vectors, double *values, const ulna_dense_work *work);

/*
 * Symmetric systems A x = b that need not be definite (Bunch and Kaufman 1977). Factor: A (n x n, lower triangle read) becomes
 * its factor L D LT, pivot: n; `negative` receives the number of its negative eigenvalues. ULNA_ERR_SINGULAR if D is. Solve: b
 * (n) becomes x; any number of times.
 */
ulna_status ulna_dense_symmetric_need(int n, ulna_dense_need *need);
ulna_status ulna_dense_symmetric_factor(int n, double *A, int *pivot, int *negative, const ulna_dense_work *work);
ulna_status ulna_dense_symmetric_solve(int n, const double *A, const int *pivot, double *b);

/* The symmetric positive semidefinite matrix nearest to A in the Frobenius norm, with its diagonal raised by rounding's
 * worth until Cholesky succeeds. A: n x n, both triangles read and written. */
ulna_status ulna_nearest_spd_need(int n, ulna_dense_need *need);
ulna_status ulna_nearest_spd(int n, double *A, const ulna_dense_work *work);

/* ---- banded preconditioner ----------------------------------------------------------------------------------- */

/*
 * The band of a symmetric matrix and its Cholesky factor. Column j holds the elements (j, j) ... (j + width, j) at
 * entries[j * (width + 1)]; elements beyond the last row are zero. Width 0 is the diagonal.
 */
typedef struct ulna_band {
    int n, width;
    double *entries; /* n * (width + 1), set by the caller */
    double *factor;  /* n * (width + 1), out */
    double shift;    /* out: what was added to the diagonal to make it positive definite, 0 if nothing */
} ulna_band;

/* Doubles that `entries` and `factor` need each; 0 if that overflows or an argument is negative. */
size_t ulna_band_size(int n, int width);

/* Cholesky of the band, with the diagonal raised by growing shifts until it exists. n * width^2 operations a try. */
ulna_status ulna_band_factor(ulna_band *band);

/* Solves with the factor of `context`, an ulna_band *; x may be rhs. It has the signature of a map, for ulna_pcg. */
ulna_status ulna_band_solve(void *context, const double *rhs, double *x);

/* ---- preconditioned conjugate gradients ---------------------------------------------------------------------- */

typedef struct ulna_pcg_options {
    double tolerance;   /* stop at |rhs - A x| <= tolerance * |rhs| */
    int max_iterations; /* 0: 2 n + 10 */
    double radius;      /* trust radius in the Euclidean norm of x; 0 for none */
} ulna_pcg_options;

typedef enum ulna_pcg_stop {
    ULNA_PCG_CONVERGED = 0,
    ULNA_PCG_RADIUS,     /* x lies on the sphere of the trust radius */
    ULNA_PCG_NEGATIVE,   /* met a direction d with d A d <= 0. With a radius, x went along it to the sphere; without,
                            x is the last iterate, or d itself if that was the first direction */
    ULNA_PCG_ITERATIONS, /* the limit; x is the last iterate */
} ulna_pcg_stop;

typedef struct ulna_pcg_info {
    ulna_pcg_stop stop;
    int iterations;   /* products with A */
    double residual;  /* |rhs - A x| / |rhs| by the recurrence; 0 if rhs is */
    double curvature; /* the last d A d / d d */
} ulna_pcg_info;

/* Doubles of scratch: 4 n; 0 if n is negative. */
size_t ulna_pcg_size(int n);

/*
 * Solves A x = rhs for a symmetric A given by its product, from x = 0. `precondition` applies the inverse of a
 * positive definite approximation of A; NULL for none. x may not be rhs.
 * However it stops, the result is ULNA_OK and `info` (may be NULL) says how; errors are those of the maps, and
 * ULNA_ERR_NUMBER, and ULNA_ERR_INDEFINITE if the preconditioner turns out not to be positive definite.
 */
ulna_status ulna_pcg(int n, ulna_linear_map apply, void *apply_context, ulna_linear_map precondition,
                     void *precondition_context, const double *rhs, double *x, const ulna_pcg_options *options,
                     double *work, ulna_pcg_info *info);

/* ---- multipliers of constraints --------------------------------------------------------------------------- */

/* Doubles of scratch for n rows; 0 if n is negative. */
size_t ulna_dual_size(int n);

/*
 * Multipliers beta (n) of equations and inequalities. With w = c + S beta + E (beta - centre):
 *   w = 0 for equations; beta >= 0, w >= 0, beta w = 0 for the others.
 * S (n x n, symmetric, both triangles, `leading` doubles from one row to the next) may be indefinite; E >= 0 and centre have n
 * numbers. `active` (n): which rows have w = 0; the search starts from it and leaves it as it ends. `negative` (may be NULL):
 * negative pivots of S + E, which is what Sylvester counts, in the rows that are active at the end.
 *
 * One row changes at a time, the most violated first; after 3 n + 20 changes the one of least index (Murty), which ends
 * if S + E is positive definite. ULNA_ERR_SINGULAR if a pivot is zero to rounding: redundant rows need E > 0.
 * ULNA_ERR_CONVERGENCE if the search does not end, as it may for an indefinite S. After an error beta means nothing.
 */
ulna_status ulna_dual_solve(int n, const double *S, int leading, const double *c, const double *E, const double *centre,
                            const unsigned char *is_equation, unsigned char *active, double *beta, double *scratch,
                            int *negative);

/* Copies the upper triangle of a column-major n x n matrix, A[i + n * j] with i < j, to the lower one; `threads` as in
 * ulna_parallel_for. */
void ulna_mirror_upper(int n, double *A, int threads);

#endif
