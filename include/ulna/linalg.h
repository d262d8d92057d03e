/*
 * ulna/linalg.h: the linear algebra under the solvers.
 *
 *   tree      symmetric matrices with the sparsity of a kinematic tree, and their factorisation without fill-in
 *   dense     SVD, pivoted QR, eigenvalues, Cholesky and LDLT on caller-owned scratch (LAPACK underneath)
 *   band      banded Cholesky, the preconditioner of pcg
 *   pcg       conjugate gradients that stop at negative curvature or at a trust radius
 *   linear    one front for the three ways (tree, dense, pcg) to solve a Newton system
 *
 * Nothing here allocates except the functions named _create. Every call is safe from several threads as long as
 * they do not share what is written. Unless a comment says otherwise: sizes may be 0, a pointer that is needed but
 * NULL gives ULNA_ERR_ARGUMENT, and NaN or infinity in the numbers gives ULNA_ERR_NUMBER.
 */
#ifndef ULNA_LINALG_H
#define ULNA_LINALG_H

#include <stddef.h>

#include "ulna/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many eigenvalues are positive, negative and (numerically) zero. */
typedef struct ulna_inertia {
    int positive, negative, zero;
} ulna_inertia;

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

/* The pattern of the forest given by `parent` (copied), in one block of memory. O(n + total length of paths). */
ULNA_API ulna_status ulna_tree_create(int n, const int *parent, const ulna_allocator *allocator, ulna_tree **tree);
ULNA_API void ulna_tree_destroy(ulna_tree *tree); /* NULL is allowed. Only for trees from ulna_tree_create */

/* ULNA_OK if every invariant above holds. O(total length of paths); the other functions trust the tree. */
ULNA_API ulna_status ulna_tree_check(const ulna_tree *tree);

/* y = A x for the symmetric matrix in `values`. x and y do not overlap. */
ULNA_API ulna_status ulna_tree_multiply(const ulna_tree *tree, const double *values, const double *x, double *y);

/* A: n x n, column-major, both triangles. */
ULNA_API ulna_status ulna_tree_to_dense(const ulna_tree *tree, const double *values, double *A);

/* ---- LTDL on the tree ---------------------------------------------------------------------------------------- */

typedef enum ulna_ltdl_mode {
    ULNA_LTDL_ANY = 0,  /* factor whatever the signs of the pivots are */
    ULNA_LTDL_POSITIVE, /* give up at the first pivot that is not positive: ULNA_ERR_INDEFINITE */
} ulna_ltdl_mode;

/*
 * H + diag(shift) = LT D L, from the leaves to the root, without fill-in.
 *   H                row[n] values; not changed
 *   shift            n, or NULL for none
 *   fixed            n, or NULL: a DOF whose byte is not 0 becomes a row and column of the identity, whatever
 *                    its numbers and its shift are; it counts as a positive pivot
 *   L                row[n] values, out: unit lower triangular, the diagonal of ones stored, padding undefined.
 *                    It may not be H
 *   inverse_pivots   n, out: 1 / D
 *   inertia          may be NULL: the signs of D, which are those of the eigenvalues
 * A pivot counts as zero if it is below 1024 machine epsilons times its diagonal element before elimination. Its row of
 * L and its inverse are then set to zero and elimination goes on; the result is ULNA_ERR_SINGULAR.
 * Semidefinite matrices, such as JTJ with a null space: ulna_ltdl_solve gives a solution if there is one, and LT D L is
 * the matrix, to rounding or, where a pivot just below the limit was dropped, to 1e-6 of the diagonal elements. The
 * inertia is less sure: no pivot that is clearly positive is counted otherwise, but one that ought to be zero may come
 * out as rounding noise of either sign, since there is no pivoting (seen in every sixth JTJ of random trees). To tell
 * semidefinite from indefinite, shift by 1e-10 of the diagonal, and by anything where that is 0: semidefinite is then
 * positive definite. For the rank there is ulna_dense_eigen.
 * After ULNA_ERR_INDEFINITE or ULNA_ERR_NUMBER the outputs mean nothing. ULNA_LTDL_POSITIVE may give up before it gets
 * to a number that is not finite.
 * Cost: sum of depth[j]^2 / 2 multiply-adds; 1.3 microseconds for a human of 60 DOF with AVX2.
 */
ULNA_API ulna_status ulna_ltdl_factor(const ulna_tree *tree, const double *H, const double *shift,
                                      const unsigned char *fixed, ulna_ltdl_mode mode, double *L,
                                      double *inverse_pivots, ulna_inertia *inertia);

/* Solves LT D L x = rhs; x may be rhs. A fixed DOF gets x = rhs. The numbers are not checked. */
ULNA_API ulna_status ulna_ltdl_solve(const ulna_tree *tree, const double *L, const double *inverse_pivots,
                                     const double *rhs, double *x);

/* ---- dense matrices ------------------------------------------------------------------------------------------ */

/*
 * Matrices are column-major and packed: element (i, j) of an m x n matrix is A[i + m * j].
 * Each operation has a twin that tells the scratch it needs; join the needs of several with ulna_dense_need_join and
 * give them all the same scratch. In a build without LAPACK (ULNA_MINIMAL) everything but Cholesky and LDLT returns
 * ULNA_ERR_UNSUPPORTED, twins included. An iteration that fails inside LAPACK gives ULNA_ERR_CONVERGENCE, more than
 * 16384 rows or columns ULNA_ERR_LIMIT. OpenBLAS running several threads allocates a little for itself from about 100
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
ULNA_API int ulna_dense_available(void);

/* Raises each member of `need` to that of `other`. */
ULNA_API void ulna_dense_need_join(ulna_dense_need *need, ulna_dense_need other);

/*
 * A = U diag(s) VT, singular values descending, k = min(m, n) of them.
 * A: m x n, destroyed. s: k. U: m x k and VT: k x n, or both NULL for the values alone.
 */
ULNA_API ulna_status ulna_dense_svd_need(int m, int n, ulna_dense_need *need);
ULNA_API ulna_status ulna_dense_svd(int m, int n, double *A, double *s, double *U, double *VT,
                                    const ulna_dense_work *work);

/*
 * QR with column pivoting, and least squares with it. Factor: A (m x n) becomes R over the Householder vectors,
 * tau: min(m, n), column: n, the (0-based) columns of A in the order of R. `rank`: diagonal elements of R above
 * tolerance times the first; pass tolerance <= 0 for max(m, n) machine epsilons.
 * Solve: the basic solution x (n) of min |A x - b| (b: m, destroyed): columns beyond the rank get 0. A is as before
 * afterwards, but LAPACK scribbles in it meanwhile: no two threads may solve with one factor.
 * `residual` (may be NULL) is |A x - b|.
 */
ULNA_API ulna_status ulna_dense_qr_need(int m, int n, ulna_dense_need *need);
ULNA_API ulna_status ulna_dense_qr_factor(int m, int n, double *A, double tolerance, double *tau, int *column,
                                          int *rank, const ulna_dense_work *work);
ULNA_API ulna_status ulna_dense_qr_solve(int m, int n, double *A, const double *tau, const int *column, int rank,
                                         double *b, double *x, double *residual, const ulna_dense_work *work);

/* Symmetric A (n x n, lower triangle read): eigenvalues ascending; A becomes the eigenvectors (columns) if
 * `vectors` is not 0, and is destroyed otherwise. */
ULNA_API ulna_status ulna_dense_eigen_need(int n, ulna_dense_need *need);
ULNA_API ulna_status ulna_dense_eigen(int n, double *A, int vectors, double *values, const ulna_dense_work *work);

/* A = L LT in the lower triangle (the upper is left alone); ULNA_ERR_INDEFINITE if there is none. The solve
 * overwrites B, n x columns. */
ULNA_API ulna_status ulna_dense_cholesky(int n, double *A);
ULNA_API ulna_status ulna_dense_cholesky_solve(int n, int columns, const double *A, double *B);

/*
 * Symmetric indefinite A (lower triangle read) = P L D LT PT with 1x1 and 2x2 pivots; pivot: n integers of the
 * factorisation. `inertia` may be NULL. ULNA_ERR_SINGULAR if D is numerically singular: an eigenvalue of a block below
 * n machine epsilons times the largest; inertia is set even then.
 */
ULNA_API ulna_status ulna_dense_ldlt_need(int n, ulna_dense_need *need);
ULNA_API ulna_status ulna_dense_ldlt(int n, double *A, int *pivot, ulna_inertia *inertia, const ulna_dense_work *work);
ULNA_API ulna_status ulna_dense_ldlt_solve(int n, int columns, const double *A, const int *pivot, double *B);

/*
 * The symmetric matrix nearest to A in the Frobenius norm among those with no eigenvalue below `floor` (>= 0), and
 * nudged up by rounding's worth until Cholesky succeeds. A: n x n, both triangles read and written.
 * `distance` (may be NULL): Frobenius norm of the change. Not in ULNA_MINIMAL.
 */
ULNA_API ulna_status ulna_nearest_spd_need(int n, ulna_dense_need *need);
ULNA_API ulna_status ulna_nearest_spd(int n, double *A, double floor, double *distance, const ulna_dense_work *work);

/* ---- banded preconditioner ----------------------------------------------------------------------------------- */

/*
 * The band of a symmetric matrix and its Cholesky factor. Column j holds the elements (j, j) ... (j + width, j) at
 * entries[j * (width + 1)]; elements beyond the last row are zero. Width 0 is the diagonal.
 */
typedef struct ulna_band {
    int n, width;
    double *entries; /* n * (width + 1), set by the caller or ulna_band_from_* */
    double *factor;  /* n * (width + 1), out */
    double shift;    /* out: what was added to the diagonal to make it positive definite, 0 if nothing */
} ulna_band;

/* Doubles that `entries` and `factor` need each; 0 if that overflows or an argument is negative. */
ULNA_API size_t ulna_band_size(int n, int width);

/* Cuts the band out of H + diag(shift), with fixed rows, as ulna_ltdl_factor takes them. Any width will do. */
ULNA_API ulna_status ulna_band_from_tree(ulna_band *band, const ulna_tree *tree, const double *H, const double *shift,
                                         const unsigned char *fixed);

/* Fills the band by asking for each element (i, j), j <= i <= j + width. */
ULNA_API ulna_status ulna_band_from_function(ulna_band *band, double (*element)(void *context, int i, int j),
                                             void *context);

/* Cholesky of the band, with the diagonal raised by growing shifts until it exists. n * width^2 operations a try. */
ULNA_API ulna_status ulna_band_factor(ulna_band *band);

/* Solves with the factor; x may be rhs. */
ULNA_API ulna_status ulna_band_solve(const ulna_band *band, const double *rhs, double *x);

/* The same with the signature of a map, `context` being a const ulna_band *: for ulna_pcg. */
ULNA_API ulna_status ulna_band_precondition(void *band, const double *rhs, double *x);

/* ---- preconditioned conjugate gradients ---------------------------------------------------------------------- */

typedef struct ulna_pcg_options {
    double tolerance;   /* stop at |rhs - A x| <= tolerance * |rhs| */
    int max_iterations; /* 0: 2 n + 10 */
    double radius;      /* trust radius in the Euclidean norm of x; 0 for none */
} ulna_pcg_options;

ULNA_API ulna_pcg_options ulna_pcg_options_default(void); /* 1e-10, 0, 0 */

typedef enum ulna_pcg_stop {
    ULNA_PCG_CONVERGED = 0,
    ULNA_PCG_RADIUS,     /* x lies on the sphere of the trust radius */
    ULNA_PCG_NEGATIVE,   /* met a direction d with d A d <= 0. With a radius, x went along it to the sphere; without,
                            x is the last iterate, or d itself if that was the first direction */
    ULNA_PCG_ITERATIONS, /* the limit; x is the last iterate */
    ULNA_PCG_STOP_COUNT
} ulna_pcg_stop;

ULNA_API const char *ulna_pcg_stop_text(ulna_pcg_stop stop); /* never NULL */

typedef struct ulna_pcg_info {
    ulna_pcg_stop stop;
    int iterations;   /* products with A */
    double residual;  /* |rhs - A x| / |rhs| by the recurrence; 0 if rhs is */
    double curvature; /* the last d A d / d d */
} ulna_pcg_info;

/* Doubles of scratch: 4 n; 0 if n is negative. */
ULNA_API size_t ulna_pcg_size(int n);

/*
 * Solves A x = rhs for a symmetric A given by its product, from x = 0. `precondition` applies the inverse of a
 * positive definite approximation of A; NULL for none. `options` may be NULL for the default; x may not be rhs.
 * However it stops, the result is ULNA_OK and `info` (may be NULL) tells; errors are those of the maps, and
 * ULNA_ERR_NUMBER, and ULNA_ERR_INDEFINITE if the preconditioner turns out not to be positive definite.
 */
ULNA_API ulna_status ulna_pcg(int n, ulna_linear_map apply, void *apply_context, ulna_linear_map precondition,
                              void *precondition_context, const double *rhs, double *x, const ulna_pcg_options *options,
                              double *work, ulna_pcg_info *info);

/* ---- one front for Newton systems ---------------------------------------------------------------------------- */

typedef enum ulna_linear_kind {
    ULNA_LINEAR_TREE = 0, /* LTDL on the tree; low-rank terms by Woodbury's formula */
    ULNA_LINEAR_DENSE,    /* dense LDLT: the reference, and for many coupling terms */
    ULNA_LINEAR_PCG,      /* conjugate gradients with a banded preconditioner: for very deep trees; needs no matrix */
    ULNA_LINEAR_KIND_COUNT
} ulna_linear_kind;

/* "tree", "dense", "pcg"; "unknown" for any other number. And back: -1 for an unknown name. */
ULNA_API const char *ulna_linear_kind_name(ulna_linear_kind kind);
ULNA_API int ulna_linear_kind_find(const char *name);

typedef struct ulna_linear_options {
    ulna_linear_kind kind;
    int max_rank;         /* largest number of low-rank columns that will come */
    int band_width;       /* of the preconditioner (PCG) */
    ulna_pcg_options pcg; /* PCG */
    int matrix_free; /* PCG: not 0 if every matrix will be a product, so that no room is taken for rows of a tree */
} ulna_linear_options;

ULNA_API ulna_linear_options ulna_linear_options_default(void); /* tree, rank 0, band 24, not matrix-free */

/*
 * The matrix H + diag(shift) + V diag(weights) VT; of a fixed DOF, row and column are those of the identity.
 * V carries the terms that couple two branches; weights may have any sign.
 */
typedef struct ulna_linear_matrix {
    const double *H;            /* row[n] values of the tree, or see `product` */
    const double *shift;        /* n, or NULL */
    const unsigned char *fixed; /* n, or NULL */
    int rank;                   /* <= max_rank */
    const double *V;            /* n x rank, column-major */
    const double *weights;      /* rank */

    /* H as a product, for PCG: it is used if given, and then H may be NULL. Shift, fixed DOFs and low-rank terms are
     * applied around it, so it must not contain them. Solves call it until the next factor. */
    ulna_linear_map product; /* y = H x, or NULL */
    void *product_context;
    const ulna_band *band; /* with a product: band of H for the preconditioner (n, width, entries); what is wider than
                              band_width is left out. NULL for no preconditioner */
} ulna_linear_matrix;

typedef struct ulna_linear ulna_linear;

/* Takes all memory at once. The tree must outlive the solver. */
ULNA_API ulna_status ulna_linear_create(const ulna_tree *tree, const ulna_linear_options *options,
                                        const ulna_allocator *allocator, ulna_linear **linear);
ULNA_API void ulna_linear_destroy(ulna_linear *linear); /* NULL is allowed */
ULNA_API size_t ulna_linear_bytes(const ulna_linear *linear);

/*
 * Prepares to solve; the arrays are not needed afterwards. Indefinite is no error: see the inertia (PCG finds out in
 * the solve). ULNA_ERR_SINGULAR if the matrix is: solves are refused then. H + diag(shift) alone may be singular if the
 * low-rank terms make up for it. ULNA_ERR_UNSUPPORTED if there is a product and no H, except for PCG.
 */
ULNA_API ulna_status ulna_linear_factor(ulna_linear *linear, const ulna_linear_matrix *matrix);

/*
 * x may be rhs. A fixed DOF gets x = rhs. PCG: ULNA_ERR_INDEFINITE at negative curvature and ULNA_ERR_CONVERGENCE at
 * the iteration limit, with x as far as it got; errors of the product are passed on. ULNA_ERR_STATE before a successful
 * factor.
 */
ULNA_API ulna_status ulna_linear_solve(ulna_linear *linear, const double *rhs, double *x);

/* Inertia of the whole matrix, low-rank terms included. ULNA_ERR_UNSUPPORTED for PCG, ULNA_ERR_SINGULAR where TREE
 * cannot tell because the matrix is singular. */
ULNA_API ulna_status ulna_linear_inertia(const ulna_linear *linear, ulna_inertia *inertia);

/* What PCG did in the last solve; ULNA_ERR_UNSUPPORTED for the others. */
ULNA_API ulna_status ulna_linear_pcg_info(const ulna_linear *linear, ulna_pcg_info *info);

#ifdef __cplusplus
}
#endif
#endif
