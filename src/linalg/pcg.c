/*
 * Preconditioned conjugate gradients that mind the model they minimise, m(x) = x A x / 2 - rhs x.
 *
 * Source: T. Steihaug, "The conjugate gradient method and trust regions in large scale optimization", SIAM J. Numer.
 * Anal. 20, 1983. Changed: the radius is Euclidean, as in M. A. Branch, T. F. Coleman, Y. Li, SIAM J. Sci. Comput. 21,
 * 1999, not in the norm of the preconditioner. The Euclidean norm need not grow from step to step then, so that the
 * first crossing is where we stop. Every step still lowers the model.
 *
 * Notation: r residual, z preconditioned residual, d direction, q = A d.
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "linalg/linalg.h"

size_t ulna_pcg_size(int n)
{
    return n < 0 || (size_t)n > SIZE_MAX / sizeof(double) / 4 ? 0 : 4 * (size_t)n;
}

static double dot(int n, const double *a, const double *b)
{
    double sum[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int lane = 0; lane < 4; lane++)
            sum[lane] += a[i + lane] * b[i + lane];
    }
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* y += factor * x */
static void add(int n, double factor, const double *x, double *y)
{
    for (int i = 0; i < n; i++)
        y[i] += factor * x[i];
}

/* The t > 0 with |x + t d| = radius, for |x| <= radius; `dd` = d d > 0. */
static double to_sphere(int n, const double *x, const double *d, double dd, double radius)
{
    const double xd = dot(n, x, d), gap = fmax((radius - sqrt(dot(n, x, x))) * (radius + sqrt(dot(n, x, x))), 0);
    const double root = sqrt(xd * xd + dd * gap);
    return xd > 0 ? gap / (xd + root) : (root - xd) / dd;
}

/* z = the preconditioner's answer to r, or r. */
static ulna_status precondition_residual(int n, ulna_linear_map precondition, void *context, const double *r, double *z)
{
    if (precondition)
        return precondition(context, r, z);
    memcpy(z, r, (size_t)n * sizeof *z);
    return ULNA_OK;
}

ulna_status ulna_pcg(int n, ulna_linear_map apply, void *apply_context, ulna_linear_map precondition,
                     void *precondition_context, const double *rhs, double *x, const ulna_pcg_options *options,
                     double *work, ulna_pcg_info *info)
{
    ulna_pcg_info unwanted;
    if (n < 0 || !apply || !options || (n > 0 && (!rhs || !x || !work || x == rhs)))
        return ULNA_ERR_ARGUMENT;
    if (!(options->tolerance >= 0) || options->max_iterations < 0 || !(options->radius >= 0))
        return ULNA_ERR_ARGUMENT;
    if (!info)
        info = &unwanted;
    *info = (ulna_pcg_info){ULNA_PCG_CONVERGED, 0, 0, 0};
    if (n == 0)
        return ULNA_OK;

    double *r = work, *z = r + n, *d = z + n, *q = d + n;
    memset(x, 0, (size_t)n * sizeof *x);
    memcpy(r, rhs, (size_t)n * sizeof *r);
    const double rhs_norm = sqrt(dot(n, rhs, rhs));
    if (!isfinite(rhs_norm))
        return ULNA_ERR_NUMBER;
    if (rhs_norm == 0)
        return ULNA_OK;
    info->residual = 1;

    ulna_status status = precondition_residual(n, precondition, precondition_context, r, z);
    if (status != ULNA_OK)
        return status;
    memcpy(d, z, (size_t)n * sizeof *d);
    double rz = dot(n, r, z);
    const int limit = options->max_iterations ? options->max_iterations : n > (INT_MAX - 10) / 2 ? INT_MAX : 2 * n + 10;
    while (info->iterations < limit) {
        if (!isfinite(rz))
            return ULNA_ERR_NUMBER;
        if (!(rz > 0))
            return ULNA_ERR_INDEFINITE; /* the preconditioner, that is */

        status = apply(apply_context, d, q);
        if (status != ULNA_OK)
            return status;
        ++info->iterations;
        const double dq = dot(n, d, q), dd = dot(n, d, d), qq = dot(n, q, q);
        if (!isfinite(dq) || !isfinite(dd) || !isfinite(qq))
            return ULNA_ERR_NUMBER;
        info->curvature = dq / dd;

        /* Downhill without end, or farther than allowed: go to the sphere. */
        const int negative = !(dq > DBL_EPSILON * sqrt(dd) * sqrt(qq));
        if (negative && options->radius == 0) {
            info->stop = ULNA_PCG_NEGATIVE;
            if (info->iterations == 1)
                memcpy(x, d, (size_t)n * sizeof *x);
            return ULNA_OK;
        }
        const double limit_step = options->radius > 0 ? to_sphere(n, x, d, dd, options->radius) : INFINITY;
        const int outside = negative || rz / dq >= limit_step;
        const double step = outside ? limit_step : rz / dq;
        add(n, step, d, x);
        add(n, -step, q, r);
        info->residual = sqrt(dot(n, r, r)) / rhs_norm;
        if (outside) {
            info->stop = negative ? ULNA_PCG_NEGATIVE : ULNA_PCG_RADIUS;
            return isfinite(info->residual) ? ULNA_OK : ULNA_ERR_NUMBER;
        }
        if (info->residual <= options->tolerance)
            return ULNA_OK;

        status = precondition_residual(n, precondition, precondition_context, r, z);
        if (status != ULNA_OK)
            return status;
        const double rz_before = rz;
        rz = dot(n, r, z);
        for (int i = 0; i < n; i++)
            d[i] = z[i] + rz / rz_before * d[i];
    }
    info->stop = ULNA_PCG_ITERATIONS;
    return ULNA_OK;
}
