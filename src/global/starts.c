/*
 * A low-discrepancy sequence over the degrees of freedom: the k-th point has the fractional part of s_d + k alpha_d in
 * dimension d, with alpha_d = g^-d and g the root of g^(n+1) = g + 1 (Roberts 2018, after Kronecker and Weyl). Unlike
 * random points, even the first few are far from one another. The seed gives the shifts s_d.
 */
#include "global/starts.h"

#include <math.h>
#include <string.h>

#include "base/algorithms.h"
#include "math/math3.h"
#include "model/model.h"

/* A random number in [0, 1). */
static double shift(uint64_t *state)
{
    return (double)(ulna_random_bits(state) >> 11) * 0x1p-53;
}

/* The root above 1 of g^(n+1) = g + 1, by Newton's method from above, where it is convex. */
static double generator(int n)
{
    double g = 2;
    for (int i = 0; i < 60; i++) {
        double power = pow(g, n), off = power * g - g - 1, slope = (n + 1) * power - 1;
        g -= off / slope;
        if (fabs(off) <= 1e-15 * slope * g)
            break;
    }
    return g;
}

/* A rotation vector, uniform over all rotations (Shoemake 1992), from three numbers in [0, 1), in place. */
static void any_rotation(double u[3])
{
    double a = sqrt(1 - u[0]), b = sqrt(u[0]);
    double v[3] = {a * sin(2 * ULNA_PI * u[1]), a * cos(2 * ULNA_PI * u[1]), b * sin(2 * ULNA_PI * u[2])};
    double sine = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), angle = 2 * atan2(sine, b * cos(2 * ULNA_PI * u[2]));
    for (int i = 0; i < 3; i++)
        u[i] = sine > 0 ? v[i] / sine * angle : 0;
}

/* Maps u of [0, 1) to the limits of a DOF; a rotation without limits to the circle, a translation without limits to `at`. */
static double spread(double lower, double upper, int rotates, double at, double u)
{
    if (isfinite(lower) && isfinite(upper))
        return rotates && upper - lower > 2 * ULNA_PI ? 0.5 * (lower + upper) + ULNA_PI * (2 * u - 1)
                                                      : lower + u * (upper - lower);
    if (!rotates)
        return fmin(fmax(at, lower), upper);
    if (isfinite(lower))
        return lower + u * 2 * ULNA_PI;
    return isfinite(upper) ? upper - u * 2 * ULNA_PI : ULNA_PI * (2 * u - 1);
}

static int is_locked(const unsigned char *locked, int dof, int count)
{
    for (int d = dof; locked && d < dof + count; d++)
        if (locked[d])
            return 1;
    return 0;
}

void ulna_global_start(const ulna_model *model, const double *lower, const double *upper, const unsigned char *locked,
                       uint64_t seed, int k, double *step, double *q)
{
    double g = generator(model->nv > 0 ? model->nv : 1), alpha = 1;
    for (int d = 0; d < model->nv; d++) {
        alpha /= g;
        double at = shift(&seed) + (k + 1) * alpha;
        step[d] = at - floor(at);
    }
    for (int d = 0; d < model->nv; d++) {
        int c = model->dof_coordinate[d];
        unsigned segment = model->dof_segment[d];
        int count = c >= 0 ? 1 : 3; /* the three of a quaternion */
        if (is_locked(locked, d, count))
            memset(step + d, 0, (size_t)count * sizeof *step);
        else if (c < 0)
            any_rotation(step + d);
        else
            step[d] = spread(lower[d], upper[d], !ulna_segment_is_translation(segment), q[c], step[d]) - q[c];
        d += count - 1;
    }
    ulna_model_integrate(model, q, step, q);
}
