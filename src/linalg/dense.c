/*
 * Dense operations on caller-owned scratch: the only file that knows LAPACK.
 *
 * LAPACKE's _work calls in column-major order neither allocate nor check for NaN (their namesakes without _work do
 * both), so finiteness is checked here. Its integers are C ints: an ILP64 library will not do.
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "linalg/small.h"

#ifndef ULNA_MINIMAL
#include <lapacke.h>
_Static_assert(sizeof(lapack_int) == sizeof(int), "LAPACK must be built with 32-bit integers");
#endif

/* Beyond this the sizes of LAPACK's workspaces no longer fit its own integers. */
#define DENSE_LIMIT 16384

void ulna_dense_need_join(ulna_dense_need *need, ulna_dense_need other)
{
    if (!need)
        return;
    need->reals = need->reals > other.reals ? need->reals : other.reals;
    need->integers = need->integers > other.integers ? need->integers : other.integers;
}

static ulna_status check_size(int m, int n)
{
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

/* ---- Cholesky: in every build -------------------------------------------------------------------------------- */

ulna_status ulna_dense_cholesky(int n, double *A)
{
    const ulna_status status = check_size(n, n);
    if (status || n == 0)
        return status;
    if (!A)
        return ULNA_ERR_ARGUMENT;
    if (!ulna_lower_finite(n, A))
        return ULNA_ERR_NUMBER;
#ifdef ULNA_MINIMAL
    return ulna_small_cholesky(n, A);
#else
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, A, n) == 0 ? ULNA_OK : ULNA_ERR_INDEFINITE;
#endif
}

ulna_status ulna_dense_cholesky_solve(int n, int columns, const double *A, double *B)
{
    const ulna_status status = check_size(n, n);
    if (status || columns < 0)
        return status ? status : ULNA_ERR_ARGUMENT;
    if (n == 0 || columns == 0)
        return ULNA_OK;
    if (!A || !B)
        return ULNA_ERR_ARGUMENT;
#ifdef ULNA_MINIMAL
    ulna_small_cholesky_solve(n, columns, A, B);
#else
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', n, columns, A, n, B, n);
#endif
    return ULNA_OK;
}

/* ---- LDLT: in every build ------------------------------------------------------------------------------------ */

ulna_status ulna_dense_ldlt_need(int n, ulna_dense_need *need)
{
    if (!need)
        return ULNA_ERR_ARGUMENT;
    *need = (ulna_dense_need){0, 0};
    const ulna_status status = check_size(n, n);
    if (status || n == 0)
        return status;
#ifndef ULNA_MINIMAL
    double size = 0, dummy = 0;
    int pivot = 0;
    if (LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'L', n, &dummy, n, &pivot, &size, -1) != 0)
        return ULNA_ERR_LIMIT;
    need->reals = (size_t)size;
#endif
    return ULNA_OK;
}

ulna_status ulna_dense_ldlt(int n, double *A, int *pivot, ulna_inertia *inertia, const ulna_dense_work *work)
{
    ulna_dense_need need;
    ulna_inertia counted = {0, 0, 0};
    if (inertia)
        *inertia = counted;
    ulna_status status = ulna_dense_ldlt_need(n, &need);
    if (status || n == 0)
        return status;
    if (!A || !pivot || check_work(need, work))
        return ULNA_ERR_ARGUMENT;
    if (!ulna_lower_finite(n, A))
        return ULNA_ERR_NUMBER;
#ifdef ULNA_MINIMAL
    ulna_small_ldlt(n, A, pivot);
#else
    LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'L', n, A, n, pivot, work->reals, (int)need.reals); /* zeros show below */
#endif
    if (!ulna_lower_finite(n, A))
        return ULNA_ERR_NUMBER;
    status = ulna_ldlt_inertia(n, A, pivot, &counted);
    if (inertia)
        *inertia = counted;
    return status;
}

ulna_status ulna_dense_ldlt_solve(int n, int columns, const double *A, const int *pivot, double *B)
{
    const ulna_status status = check_size(n, n);
    if (status || columns < 0)
        return status ? status : ULNA_ERR_ARGUMENT;
    if (n == 0 || columns == 0)
        return ULNA_OK;
    if (!A || !pivot || !B)
        return ULNA_ERR_ARGUMENT;
#ifdef ULNA_MINIMAL
    ulna_small_ldlt_solve(n, columns, A, pivot, B);
#else
    LAPACKE_dsytrs_work(LAPACK_COL_MAJOR, 'L', n, columns, A, n, pivot, B, n);
#endif
    return ULNA_OK;
}

#ifdef ULNA_MINIMAL
/* ---- what a build without LAPACK has not got ----------------------------------------------------------------- */

static ulna_status unsupported(ulna_dense_need *need)
{
    if (need)
        *need = (ulna_dense_need){0, 0};
    return ULNA_ERR_UNSUPPORTED;
}

int ulna_dense_available(void)
{
    return 0;
}

ulna_status ulna_dense_svd_need(int m, int n, ulna_dense_need *need)
{
    (void)m, (void)n;
    return unsupported(need);
}

ulna_status ulna_dense_svd(int m, int n, double *A, double *s, double *U, double *VT, const ulna_dense_work *work)
{
    (void)m, (void)n, (void)A, (void)s, (void)U, (void)VT, (void)work;
    return ULNA_ERR_UNSUPPORTED;
}

ulna_status ulna_dense_qr_need(int m, int n, ulna_dense_need *need)
{
    (void)m, (void)n;
    return unsupported(need);
}

ulna_status ulna_dense_qr_factor(int m, int n, double *A, double tolerance, double *tau, int *column, int *rank,
                                 const ulna_dense_work *work)
{
    (void)m, (void)n, (void)A, (void)tolerance, (void)tau, (void)column, (void)rank, (void)work;
    return ULNA_ERR_UNSUPPORTED;
}

ulna_status ulna_dense_qr_solve(int m, int n, double *A, const double *tau, const int *column, int rank, double *b,
                                double *x, double *residual, const ulna_dense_work *work)
{
    (void)m, (void)n, (void)A, (void)tau, (void)column, (void)rank, (void)b, (void)x, (void)residual, (void)work;
    return ULNA_ERR_UNSUPPORTED;
}

ulna_status ulna_dense_eigen_need(int n, ulna_dense_need *need)
{
    (void)n;
    return unsupported(need);
}

ulna_status ulna_dense_eigen(int n, double *A, int vectors, double *values, const ulna_dense_work *work)
{
    (void)n, (void)A, (void)vectors, (void)values, (void)work;
    return ULNA_ERR_UNSUPPORTED;
}

#else

int ulna_dense_available(void)
{
    return 1;
}

/* ---- SVD ----------------------------------------------------------------------------------------------------- */

ulna_status ulna_dense_svd_need(int m, int n, ulna_dense_need *need)
{
    if (!need)
        return ULNA_ERR_ARGUMENT;
    *need = (ulna_dense_need){0, 0};
    const ulna_status status = check_size(m, n);
    const int k = m < n ? m : n;
    if (status || k == 0)
        return status;
    double with = 0, without = 0, dummy = 0;
    int integer = 0;
    if (LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', m, n, &dummy, m, &dummy, &dummy, m, &dummy, k, &with, -1, &integer))
        return ULNA_ERR_LIMIT;
    if (LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'N', m, n, &dummy, m, &dummy, &dummy, m, &dummy, k, &without, -1,
                            &integer))
        return ULNA_ERR_LIMIT;
    const double most = fmax(with, without);
    if (most > INT_MAX)
        return ULNA_ERR_LIMIT;
    *need = (ulna_dense_need){(size_t)most, 8 * (size_t)k};
    return ULNA_OK;
}

ulna_status ulna_dense_svd(int m, int n, double *A, double *s, double *U, double *VT, const ulna_dense_work *work)
{
    ulna_dense_need need;
    const ulna_status status = ulna_dense_svd_need(m, n, &need);
    const int k = m < n ? m : n;
    if (status || k == 0)
        return status;
    if (!A || !s || !U != !VT || check_work(need, work))
        return ULNA_ERR_ARGUMENT;
    if (!ulna_array_finite(A, (size_t)m * (size_t)n))
        return ULNA_ERR_NUMBER;
    double unused = 0;
    const int info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, U ? 'S' : 'N', m, n, A, m, s, U ? U : &unused, m,
                                         VT ? VT : &unused, k, work->reals, (int)need.reals, work->integers);
    return info ? ULNA_ERR_CONVERGENCE : ULNA_OK;
}

/* ---- QR with column pivoting --------------------------------------------------------------------------------- */

ulna_status ulna_dense_qr_need(int m, int n, ulna_dense_need *need)
{
    if (!need)
        return ULNA_ERR_ARGUMENT;
    *need = (ulna_dense_need){0, 0};
    const ulna_status status = check_size(m, n);
    const int k = m < n ? m : n;
    if (status || k == 0)
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
    if (status)
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
    if (!A || !tau || isnan(tolerance) || check_work(need, work))
        return ULNA_ERR_ARGUMENT;
    if (!ulna_array_finite(A, (size_t)m * (size_t)n))
        return ULNA_ERR_NUMBER;

    memset(column, 0, (size_t)n * sizeof *column); /* zero: every column is free to move */
    LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, m, n, A, m, column, tau, work->reals, (int)need.reals);
    for (int j = 0; j < n; j++)
        --column[j];
    const double least = fabs(A[0]) * (tolerance > 0 ? tolerance : DBL_EPSILON * (m > n ? m : n));
    while (*rank < k && fabs(A[(size_t)*rank * ((size_t)m + 1)]) > least)
        ++*rank;
    return ULNA_OK;
}

ulna_status ulna_dense_qr_solve(int m, int n, double *A, const double *tau, const int *column, int rank, double *b,
                                double *x, double *residual, const ulna_dense_work *work)
{
    ulna_dense_need need;
    const ulna_status status = ulna_dense_qr_need(m, n, &need);
    if (status)
        return status;
    const int k = m < n ? m : n;
    if (rank < 0 || rank > k || (n > 0 && (!x || !column)) || (m > 0 && !b))
        return ULNA_ERR_ARGUMENT;
    if (k > 0 && (!A || !tau || check_work(need, work)))
        return ULNA_ERR_ARGUMENT;
    if (!ulna_array_finite(b, (size_t)m))
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
    if (!need)
        return ULNA_ERR_ARGUMENT;
    *need = (ulna_dense_need){0, 0};
    const ulna_status status = check_size(n, n);
    if (status || n == 0)
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
    if (status || n == 0)
        return status;
    if (!A || !values || check_work(need, work))
        return ULNA_ERR_ARGUMENT;
    if (!ulna_lower_finite(n, A))
        return ULNA_ERR_NUMBER;
    const int info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, vectors ? 'V' : 'N', 'L', n, A, n, values, work->reals,
                                         (int)need.reals, work->integers, (int)need.integers);
    return info ? ULNA_ERR_CONVERGENCE : ULNA_OK;
}
#endif
