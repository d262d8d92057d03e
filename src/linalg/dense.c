/*
 * Dense operations on caller-owned scratch: the only file that knows LAPACK. A minimal build takes dense_minimal.c instead.
 *
 * LAPACKE's _work calls in column-major order neither allocate nor check for NaN (their namesakes without _work do
 * both), so finiteness is checked here. Its integers are C ints: an ILP64 library will not do.
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "linalg/linalg.h"
#include "math/math3.h"

#include <lapacke.h>
_Static_assert(sizeof(lapack_int) == sizeof(int), "LAPACK must be built with 32-bit integers");

/* Beyond this the sizes of LAPACK's workspaces no longer fit its own integers. */
#define DENSE_LIMIT 16384

/* 1 if the lower triangle of an n x n matrix is finite. */
static int lower_finite(int n, const double *A)
{
    int is_finite = 1;
    for (int j = 0; j < n && is_finite; j++)
        is_finite = ulna_all_finite(A + (size_t)j * ((size_t)n + 1), n - j);
    return is_finite;
}

/* Checks the size of a matrix; no need so far. */
static ulna_status begin_need(int m, int n, ulna_dense_need *need)
{
    if (!need)
        return ULNA_ERR_ARGUMENT;
    *need = (ulna_dense_need){0, 0};
    if (m < 0 || n < 0)
        return ULNA_ERR_ARGUMENT;
    return m > DENSE_LIMIT || n > DENSE_LIMIT ? ULNA_ERR_LIMIT : ULNA_OK;
}

static ulna_status check_work(ulna_dense_need need, const ulna_dense_work *work)
{
    if (need.reals == 0 && need.integers == 0)
        return ULNA_OK;
    if (!work || work->have.reals < need.reals || work->have.integers < need.integers)
        return ULNA_ERR_ARGUMENT;
    return (need.reals && !work->reals) || (need.integers && !work->integers) ? ULNA_ERR_ARGUMENT : ULNA_OK;
}

int ulna_dense_available(void)
{
    return 1;
}

/* ---- SVD ----------------------------------------------------------------------------------------------------- */

ulna_status ulna_dense_svd_need(int m, int n, ulna_dense_need *need)
{
    const ulna_status status = begin_need(m, n, need);
    const int k = m < n ? m : n;
    if (status != ULNA_OK || k == 0)
        return status;
    double reals = 0, dummy = 0;
    int integer = 0;
    if (LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', m, n, &dummy, m, &dummy, &dummy, m, &dummy, k, &reals, -1, &integer))
        return ULNA_ERR_LIMIT;
    if (reals > INT_MAX)
        return ULNA_ERR_LIMIT;
    *need = (ulna_dense_need){(size_t)reals, 8 * (size_t)k};
    return ULNA_OK;
}

ulna_status ulna_dense_svd(int m, int n, double *A, double *s, double *U, double *VT, const ulna_dense_work *work)
{
    ulna_dense_need need;
    const ulna_status status = ulna_dense_svd_need(m, n, &need);
    const int k = m < n ? m : n;
    if (status != ULNA_OK || k == 0)
        return status;
    if (!A || !s || !U || !VT || check_work(need, work))
        return ULNA_ERR_ARGUMENT;
    if (!ulna_all_finite(A, m * n))
        return ULNA_ERR_NUMBER;
    const int info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', m, n, A, m, s, U, m, VT, k, work->reals,
                                         (int)need.reals, work->integers);
    return info ? ULNA_ERR_CONVERGENCE : ULNA_OK;
}

/* ---- QR with column pivoting --------------------------------------------------------------------------------- */

ulna_status ulna_dense_qr_need(int m, int n, ulna_dense_need *need)
{
    const ulna_status status = begin_need(m, n, need);
    const int k = m < n ? m : n;
    if (status != ULNA_OK || k == 0)
        return status;
    double factor = 0, apply = 0, dummy = 0;
    int integer = 0;
    if (LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, m, n, &dummy, m, &integer, &dummy, &factor, -1))
        return ULNA_ERR_LIMIT;
    if (LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', m, 1, k, &dummy, m, &dummy, &dummy, m, &apply, -1))
        return ULNA_ERR_LIMIT;
    need->reals = (size_t)fmax(factor, apply);
    return ULNA_OK;
}

ulna_status ulna_dense_qr_factor(int m, int n, double *A, double tolerance, double *tau, int *column, int *rank,
                                 const ulna_dense_work *work)
{
    ulna_dense_need need;
    const ulna_status status = ulna_dense_qr_need(m, n, &need);
    if (status != ULNA_OK)
        return status;
    if ((n > 0 && !column) || !rank)
        return ULNA_ERR_ARGUMENT;
    *rank = 0;
    const int k = m < n ? m : n;
    if (k == 0) {
        for (int j = 0; j < n; j++)
            column[j] = j;
        return ULNA_OK;
    }
    if (!A || !tau || !(tolerance >= 0) || check_work(need, work))
        return ULNA_ERR_ARGUMENT;
    if (!ulna_all_finite(A, m * n))
        return ULNA_ERR_NUMBER;

    memset(column, 0, (size_t)n * sizeof *column); /* zero: every column is free to move */
    LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, m, n, A, m, column, tau, work->reals, (int)need.reals);
    for (int j = 0; j < n; j++)
        --column[j];
    const double least = fabs(A[0]) * tolerance;
    while (*rank < k && fabs(A[(size_t)*rank * ((size_t)m + 1)]) > least)
        ++*rank;
    return ULNA_OK;
}

ulna_status ulna_dense_qr_solve(int m, int n, double *A, const double *tau, const int *column, int rank, double *b,
                                double *x, double *residual, const ulna_dense_work *work)
{
    ulna_dense_need need;
    const ulna_status status = ulna_dense_qr_need(m, n, &need);
    if (status != ULNA_OK)
        return status;
    const int k = m < n ? m : n;
    if (rank < 0 || rank > k || (n > 0 && (!x || !column)) || (m > 0 && !b))
        return ULNA_ERR_ARGUMENT;
    if (k > 0 && (!A || !tau || check_work(need, work)))
        return ULNA_ERR_ARGUMENT;
    if (!ulna_all_finite(b, m))
        return ULNA_ERR_NUMBER;

    if (k > 0)
        LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', m, 1, k, A, m, tau, b, m, work->reals, (int)need.reals);
    if (rank > 0 && LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'U', 'N', 'N', rank, 1, A, m, b, m))
        return ULNA_ERR_SINGULAR;
    for (int j = 0; j < n; j++)
        x[column[j]] = j < rank ? b[j] : 0;
    if (residual) {
        *residual = 0;
        for (int i = rank; i < m; i++)
            *residual = hypot(*residual, b[i]);
    }
    return ULNA_OK;
}

/* ---- symmetric eigenvalues ----------------------------------------------------------------------------------- */

ulna_status ulna_dense_eigen_need(int n, ulna_dense_need *need)
{
    const ulna_status status = begin_need(n, n, need);
    if (status != ULNA_OK || n == 0)
        return status;
    double reals = 0, dummy = 0;
    int integers = 0;
    if (LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', n, &dummy, n, &dummy, &reals, -1, &integers, -1))
        return ULNA_ERR_LIMIT;
    *need = (ulna_dense_need){(size_t)reals, (size_t)integers};
    return ULNA_OK;
}

ulna_status ulna_dense_eigen(int n, double *A, int vectors, double *values, const ulna_dense_work *work)
{
    ulna_dense_need need;
    const ulna_status status = ulna_dense_eigen_need(n, &need);
    if (status != ULNA_OK || n == 0)
        return status;
    if (!A || !values || check_work(need, work))
        return ULNA_ERR_ARGUMENT;
    if (!lower_finite(n, A))
        return ULNA_ERR_NUMBER;
    const int info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', 'L', n, A, n, values, work->reals,
                                         (int)need.reals, work->integers, (int)need.integers);
    return info ? ULNA_ERR_CONVERGENCE : ULNA_OK;
}

/* ---- symmetric indefinite systems ------------------------------------------------------------------------------ */

ulna_status ulna_dense_symmetric_need(int n, ulna_dense_need *need)
{
    const ulna_status status = begin_need(n, n, need);
    if (status != ULNA_OK || n == 0)
        return status;
    double reals = 0, dummy = 0;
    int pivot = 0;
    if (LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'L', n, &dummy, n, &pivot, &reals, -1))
        return ULNA_ERR_LIMIT;
    need->reals = (size_t)reals;
    return ULNA_OK;
}

/* Negative eigenvalues of D: a block of two, which its pivots mark by a sign, has one of each. */
static int count_negative(int n, const double *A, const int *pivot)
{
    int count = 0;
    for (int j = 0; j < n; j++) {
        count += pivot[j] < 0 || A[(size_t)j * ((size_t)n + 1)] < 0;
        j += pivot[j] < 0;
    }
    return count;
}

ulna_status ulna_dense_symmetric_factor(int n, double *A, int *pivot, int *negative, const ulna_dense_work *work)
{
    ulna_dense_need need;
    const ulna_status status = ulna_dense_symmetric_need(n, &need);
    if (status != ULNA_OK)
        return status;
    if (!negative || (n > 0 && (!A || !pivot)) || check_work(need, work))
        return ULNA_ERR_ARGUMENT;
    *negative = 0;
    if (n == 0)
        return ULNA_OK;
    if (!lower_finite(n, A))
        return ULNA_ERR_NUMBER;
    if (LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'L', n, A, n, pivot, work->reals, (int)need.reals))
        return ULNA_ERR_SINGULAR;
    *negative = count_negative(n, A, pivot);
    return ULNA_OK;
}

ulna_status ulna_dense_symmetric_solve(int n, const double *A, const int *pivot, double *b)
{
    if (n < 0 || (n > 0 && (!A || !pivot || !b)))
        return ULNA_ERR_ARGUMENT;
    if (!ulna_all_finite(b, n))
        return ULNA_ERR_NUMBER;
    if (n > 0)
        LAPACKE_dsytrs_work(LAPACK_COL_MAJOR, 'L', n, 1, A, n, pivot, b, n);
    return ULNA_OK;
}

/* ---- nearest positive definite matrix ------------------------------------------------------------------------ */

/*
 * The nearest symmetric positive definite matrix.
 *
 * Source: N. J. Higham, "Computing a nearest symmetric positive semidefinite matrix", Linear Algebra Appl. 103, 1988,
 * theorem 2.1. With B = (A + AT) / 2 and its eigenpairs (l, v), the nearest semidefinite matrix in the Frobenius norm is
 * X = B - sum over l < 0 of l v vT. (Higham writes it with the polar factor of B.) Rounding can leave X a hair outside,
 * so its diagonal is then raised by machine epsilon times its norm, doubled until Cholesky succeeds.
 */
ulna_status ulna_nearest_spd_need(int n, ulna_dense_need *need)
{
    const ulna_status status = ulna_dense_eigen_need(n, need);
    if (status == ULNA_OK)
        need->reals += (2 * (size_t)n + 1) * (size_t)n;
    return status;
}

/* X, symmetric part of A. */
static void symmetrise(size_t n, const double *A, double *X)
{
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++)
            X[i + n * j] = A[i + n * j] / 2 + A[j + n * i] / 2;
    }
}

/* Raises the diagonal of X as little as Cholesky asks for; `copy` is n x n scratch. */
static ulna_status nudge(size_t n, double scale, double *X, double *copy)
{
    double step = fmax(DBL_EPSILON * scale, DBL_MIN), raised = 0;
    for (int attempt = 0; attempt < 64; attempt++, step *= 2) {
        memcpy(copy, X, n * n * sizeof *X);
        for (size_t j = 0; j < n; j++)
            copy[j + n * j] += raised;
        if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)n, copy, (int)n) == 0) {
            for (size_t j = 0; j < n; j++)
                X[j + n * j] += raised;
            return ULNA_OK;
        }
        raised = step;
    }
    return ULNA_ERR_CONVERGENCE;
}

ulna_status ulna_nearest_spd(int n, double *A, const ulna_dense_work *work)
{
    ulna_dense_need need, eigen_need;
    ulna_status status = ulna_nearest_spd_need(n, &need);
    if (status != ULNA_OK || n == 0)
        return status;
    if (!A || !work || !work->reals || work->have.reals < need.reals)
        return ULNA_ERR_ARGUMENT;
    const size_t size = (size_t)n;
    if (!ulna_all_finite(A, n * n))
        return ULNA_ERR_NUMBER;

    double *X = work->reals, *vectors = X + size * size, *values = vectors + size * size;
    ulna_dense_eigen_need(n, &eigen_need);
    const ulna_dense_work rest = {values + size, work->integers, {eigen_need.reals, work->have.integers}};
    symmetrise(size, A, X);
    memcpy(vectors, X, size * size * sizeof *X);
    status = ulna_dense_eigen(n, vectors, 1, values, &rest);
    if (status != ULNA_OK)
        return status;

    /* Lift what lies below zero; the eigenvalues ascend. */
    for (size_t k = 0; k < size && values[k] < 0; k++) {
        const double *v = vectors + size * k;
        for (size_t j = 0; j < size; j++) {
            for (size_t i = 0; i < size; i++)
                X[i + size * j] += -values[k] * (v[i] * v[j]);
        }
    }
    status = nudge(size, fmax(fabs(values[0]), fabs(values[size - 1])), X, vectors);
    if (status == ULNA_OK)
        memcpy(A, X, size * size * sizeof *A);
    return status;
}
