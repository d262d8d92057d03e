/*
 * Banded Cholesky with a shift: the preconditioner of conjugate gradients.
 *
 * Source: J. Nocedal and S. J. Wright, "Numerical Optimization", 2nd ed., algorithm 3.3 (Cholesky with added multiple
 * of the identity). The factor G (A + shift I = G GT) has the shape of the band; its diagonal is stored inverted.
 * A pivot that falls below 64 machine epsilons of its diagonal element counts as not positive: a preconditioner that
 * wild would do harm.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "linalg/linalg.h"
#include "math/math3.h"

size_t ulna_band_size(int n, int width)
{
    if (n <= 0 || width < 0 || (size_t)width >= SIZE_MAX / sizeof(double) / (size_t)n)
        return 0;
    return (size_t)n * ((size_t)width + 1);
}

static ulna_status check_band(const ulna_band *band)
{
    if (!band || band->n < 0 || band->width < 0)
        return ULNA_ERR_ARGUMENT;
    if (band->n == 0)
        return ULNA_OK;
    if (!band->entries || !band->factor)
        return ULNA_ERR_ARGUMENT;
    return ulna_band_size(band->n, band->width) ? ULNA_OK : ULNA_ERR_LIMIT;
}

/* Elements of column j that exist. */
static int column_length(const ulna_band *band, int j)
{
    const int below = band->n - 1 - j;
    return 1 + (band->width < below ? band->width : below);
}

/* Cholesky of entries + shift I; 0 if a pivot is not positive. */
static int factor_shifted(const ulna_band *band, double shift)
{
    const size_t stride = (size_t)band->width + 1;
    memcpy(band->factor, band->entries, ulna_band_size(band->n, band->width) * sizeof *band->factor);
    for (int j = 0; j < band->n; j++)
        band->factor[(size_t)j * stride] += shift;
    for (int j = 0; j < band->n; j++) {
        double *column = band->factor + (size_t)j * stride;
        const double before = band->entries[(size_t)j * stride] + shift;
        if (!(column[0] > 64 * DBL_EPSILON * before) || !(column[0] > DBL_MIN))
            return 0;
        const double inverse = 1 / sqrt(column[0]);
        const int length = column_length(band, j);
        column[0] = inverse;
        for (int k = 1; k < length; k++)
            column[k] *= inverse;
        for (int k = 1; k < length; k++) {
            double *target = column + (size_t)k * stride;
            for (int i = k; i < length; i++)
                target[i - k] -= column[k] * column[i];
        }
    }
    return 1;
}

ulna_status ulna_band_factor(ulna_band *band)
{
    const ulna_status status = check_band(band);
    if (status != ULNA_OK)
        return status;
    band->shift = 0;
    if (band->n == 0)
        return ULNA_OK;
    const size_t stride = (size_t)band->width + 1;
    double least = band->entries[0], largest = 0;
    for (size_t j = 0; j < (size_t)band->n; j++) {
        const double *column = band->entries + j * stride;
        if (!ulna_all_finite(column, band->width + 1))
            return ULNA_ERR_NUMBER;
        least = fmin(least, column[0]);
        for (size_t k = 0; k < stride; k++)
            largest = fmax(largest, fabs(column[k]));
    }

    /* Doubling ends: once the shift exceeds the sum of a row, the matrix is diagonally dominant. */
    const double smallest_shift = largest > 0 ? 1e-3 * largest : 1;
    double shift = least > 0 ? 0 : smallest_shift - least;
    while (!factor_shifted(band, shift)) {
        shift = fmax(2 * shift, smallest_shift);
        if (!isfinite(shift + largest))
            return ULNA_ERR_NUMBER;
    }
    band->shift = shift;
    return ULNA_OK;
}

ulna_status ulna_band_solve(void *context, const double *rhs, double *x)
{
    const ulna_band *band = context;
    const ulna_status status = check_band(band);
    if (status != ULNA_OK || band->n == 0)
        return status;
    if (!rhs || !x)
        return ULNA_ERR_ARGUMENT;
    const size_t stride = (size_t)band->width + 1;
    if (x != rhs)
        memmove(x, rhs, (size_t)band->n * sizeof *x);
    for (int j = 0; j < band->n; j++) {
        const double *column = band->factor + (size_t)j * stride;
        const int length = column_length(band, j);
        const double value = x[j] * column[0];
        x[j] = value;
        for (int k = 1; k < length; k++)
            x[j + k] -= column[k] * value;
    }
    for (int j = band->n - 1; j >= 0; j--) {
        const double *column = band->factor + (size_t)j * stride;
        const int length = column_length(band, j);
        double value = x[j];
        for (int k = 1; k < length; k++)
            value -= column[k] * x[j + k];
        x[j] = value * column[0];
    }
    return ULNA_OK;
}
