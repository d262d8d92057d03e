/*
 * The nearest symmetric positive definite matrix.
 *
 * Source: N. J. Higham, "Computing a nearest symmetric positive semidefinite matrix", Linear Algebra Appl. 103, 1988,
 * theorem 2.1. With B = (A + AT) / 2 and its eigenpairs (l, v), the nearest matrix in the Frobenius norm whose
 * eigenvalues are at least f is X = B + sum over l < f of (f - l) v vT. Higham writes it with the polar factor of B;
 * for f = 0 it is the same matrix. Rounding can leave X a hair outside, so its diagonal is then raised by
 * machine epsilon times its norm, doubled until Cholesky succeeds.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "linalg/small.h"

ulna_status ulna_nearest_spd_need(int n, ulna_dense_need *need)
{
    const ulna_status status = ulna_dense_eigen_need(n, need);
    if (!status)
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
        const ulna_status status = ulna_dense_cholesky((int)n, copy);
        if (status != ULNA_ERR_INDEFINITE) {
            for (size_t j = 0; j < n; j++)
                X[j + n * j] += raised;
            return status;
        }
        raised = step;
    }
    return ULNA_ERR_CONVERGENCE;
}

ulna_status ulna_nearest_spd(int n, double *A, double floor, double *distance, const ulna_dense_work *work)
{
    ulna_dense_need need, eigen_need;
    ulna_status status = ulna_nearest_spd_need(n, &need);
    if (!(floor >= 0) || isinf(floor))
        return status ? status : ULNA_ERR_ARGUMENT;
    if (distance)
        *distance = 0;
    if (status || n == 0)
        return status;
    if (!A || !work || !work->reals || work->have.reals < need.reals)
        return ULNA_ERR_ARGUMENT;
    const size_t size = (size_t)n;
    if (!ulna_array_finite(A, size * size))
        return ULNA_ERR_NUMBER;

    double *X = work->reals, *vectors = X + size * size, *values = vectors + size * size;
    ulna_dense_eigen_need(n, &eigen_need);
    const ulna_dense_work rest = {values + size, work->integers, {eigen_need.reals, work->have.integers}};
    symmetrise(size, A, X);
    memcpy(vectors, X, size * size * sizeof *X);
    status = ulna_dense_eigen(n, vectors, 1, values, &rest);
    if (status)
        return status;

    /* Lift what lies below the floor; the eigenvalues ascend. */
    for (size_t k = 0; k < size && values[k] < floor; k++) {
        const double *v = vectors + size * k, lift = floor - values[k];
        for (size_t j = 0; j < size; j++) {
            for (size_t i = 0; i < size; i++)
                X[i + size * j] += lift * (v[i] * v[j]);
        }
    }
    status = nudge(size, fmax(fmax(fabs(values[0]), fabs(values[size - 1])), floor), X, vectors);
    if (status)
        return status;
    if (distance) {
        for (size_t i = 0; i < size * size; i++)
            *distance = hypot(*distance, X[i] - A[i]);
    }
    memcpy(A, X, size * size * sizeof *A);
    return ULNA_OK;
}
