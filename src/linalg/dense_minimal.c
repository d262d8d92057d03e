/* The dense operations of a build without LAPACK: there are none. Stands in for dense.c in a minimal build. */
#include "linalg/linalg.h"

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

ulna_status ulna_dense_symmetric_need(int n, ulna_dense_need *need)
{
    (void)n;
    return unsupported(need);
}

ulna_status ulna_dense_symmetric_factor(int n, double *A, int *pivot, int *negative, const ulna_dense_work *work)
{
    (void)n, (void)A, (void)pivot, (void)negative, (void)work;
    return ULNA_ERR_UNSUPPORTED;
}

ulna_status ulna_dense_symmetric_solve(int n, const double *A, const int *pivot, double *b)
{
    (void)n, (void)A, (void)pivot, (void)b;
    return ULNA_ERR_UNSUPPORTED;
}

ulna_status ulna_nearest_spd_need(int n, ulna_dense_need *need)
{
    (void)n;
    return unsupported(need);
}

ulna_status ulna_nearest_spd(int n, double *A, const ulna_dense_work *work)
{
    (void)n, (void)A, (void)work;
    return ULNA_ERR_UNSUPPORTED;
}
