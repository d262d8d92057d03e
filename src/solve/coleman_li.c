/*
 * Limits the interior-reflective way.
 *
 * Sources: T. F. Coleman, Y. Li, "An interior trust region approach for nonlinear minimization subject to bounds",
 * SIAM J. Optim. 6, 1996 (the exact-Hessian paper's reference 26) and "On the convergence of reflective Newton
 * methods", Math. Program. 67, 1994; the choice among three steps after M. A. Branch, T. F. Coleman, Y. Li, SIAM J.
 * Sci. Comput. 21, 1999.
 *
 *   v       how far it is to the limit that -g points to, in the scaled coordinates of solver.h; 1 if there is none
 *   D       |v|^(1/2). At a solution D^2 g = 0: either the gradient vanishes or the limit is reached
 *   C       |g| where v is a distance, 0 elsewhere: from Newton's method for D^2 g = 0
 *   h       hatted step, D h = y. The model is (D g) h + 1/2 h (D H D + C) h over |h| <= radius
 *   theta   steps that a limit cuts short end at this part of the way
 *
 * A path that meets a limit goes on reflected, as light by a mirror; of the path before and after, and of the way
 * straight down the scaled gradient, the lowest point of the model is taken.
 *
 * Changed: DOFs that are on a limit, or that a step brings within rounding of it, stay there as long as the gradient
 * presses on it (D = 0), instead of being kept inside. So starts on limits and limits without width are no special
 * case, and an answer on a limit is on it.
 */
#include "solve/coleman_li.h"

#include "math/math3.h"

#define THETA 0.995
#define SNAP 1e-10 /* radians or length scales: nearer to a limit is on it */

void ulna_interior_layout(const ulna_solver *s, ulna_interior *in, ulna_arena *arena)
{
    double **arrays[] = {&in->reach, &in->bend, &in->slope, &in->reflected, &in->downhill, &in->product, &in->scratch};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = ulna_arena_take(arena, (size_t)s->nv, sizeof(double));
}

void ulna_interior_scale(const ulna_solver *s, ulna_interior *in)
{
    double most = 0, stuck = s->curvature > 0 ? s->curvature : s->length2; /* any curvature that is not zero will do */
    for (int j = 0; j < s->nv; j++) {
        in->reach[j] = s->locked[j] ? 0 : s->scale[j];
        in->bend[j] = s->locked[j] ? stuck : 0;
    }
    for (int i = 0; i < s->limited_count; i++) {
        int j = s->limited[i], c = s->model->dof_coordinate[j];
        double v = (s->gradient[j] < 0 ? s->upper[j] - s->q[c] : s->q[c] - s->lower[j]) / s->scale[j];
        if (s->locked[j] || isinf(v))
            continue;
        int is_stuck = !(v > 0) || s->lower[j] == s->upper[j];
        in->reach[j] = is_stuck ? 0 : s->scale[j] * sqrt(v);
        in->bend[j] = is_stuck ? stuck : fabs(s->gradient[j]) * s->scale[j];
    }
    for (int j = 0; j < s->nv; j++) {
        in->slope[j] = in->reach[j] * s->gradient[j];
        most = fmax(most, fabs(in->slope[j]));
    }
    in->theta = fmax(THETA, 1 - most / s->curvature);
}

ulna_status ulna_interior_model(const ulna_solver *s, const ulna_interior *in, ulna_linear_map apply, void *context,
                                const double *h, double *product, double *value)
{
    ulna_status status = apply(context, h, product);
    *value = ulna_inner(s->nv, in->slope, h) + 0.5 * ulna_inner(s->nv, h, product);
    return status;
}

/* How many times h, from `part` of p on (NULL: from q), fits until a limit; which DOF meets it, -1 for none. */
static double way_to_limit(const ulna_solver *s, const ulna_interior *in, const double *p, double part, const double *h,
                           int *dof)
{
    double least = (double)INFINITY;
    *dof = -1;
    for (int i = 0; i < s->limited_count; i++) {
        int j = s->limited[i], c = s->model->dof_coordinate[j];
        double step = in->reach[j] * h[j], from = s->q[c] + (p ? part * in->reach[j] * p[j] : 0);
        if (step == 0)
            continue;
        double way = fmax(((step > 0 ? s->upper[j] : s->lower[j]) - from) / step, 0);
        if (way < least) {
            least = way;
            *dof = j;
        }
    }
    return least;
}

/* How many times h fits into the sphere from p on, given the products p p, p h and h h. */
static double way_to_sphere(double pp, double ph, double hh, double radius)
{
    double gap = fmax(radius * radius - pp, 0), root = sqrt(ph * ph + hh * gap);
    return !(hh > 0) ? 0 : ph > 0 ? gap / (ph + root) : (root - ph) / hh;
}

/* Where slope x + 1/2 curvature x^2 is lowest within [low, high]. */
static double lowest(double slope, double curvature, double low, double high)
{
    double at = curvature > 0 ? fmin(fmax(-slope / curvature, low), high) : high;
    return slope * at + 0.5 * curvature * at * at <= slope * low + 0.5 * curvature * low * low ? at : low;
}

/* Cuts h short at the lowest point within `most` times h; `product` is A h. Returns its value. */
static double go_along(const ulna_solver *s, const ulna_interior *in, const double *product, double most, double *h)
{
    double slope = ulna_inner(s->nv, in->slope, h), curvature = ulna_inner(s->nv, h, product),
           at = lowest(slope, curvature, 0, most);
    for (int j = 0; j < s->nv; j++)
        h[j] *= at;
    return at * (slope + 0.5 * curvature * at);
}

/*
 * The reflected path: `part` of p leads to the limit of DOF `hit`; from there it goes on as r, which is p with the
 * sign of that DOF reversed, at least so far that the limit is left behind as far as theta says. Into in->reflected;
 * `product` is A p.
 */
static ulna_status go_reflected(const ulna_solver *s, ulna_interior *in, ulna_linear_map apply, void *context,
                                double radius, const double *p, double part, int hit, double *value)
{
    double *r = in->reflected, unused;
    int n = s->nv, next;
    memcpy(r, p, (size_t)n * sizeof *r);
    r[hit] = -r[hit];
    double slope = ulna_inner(n, in->slope, r) + part * ulna_inner(n, r, in->product);
    double corner = part * (ulna_inner(n, in->slope, p) + 0.5 * part * ulna_inner(n, p, in->product));
    ulna_status status = ulna_interior_model(s, in, apply, context, r, in->scratch, &unused);
    double curvature = ulna_inner(n, r, in->scratch), pp = ulna_inner(n, p, p), low = (1 - in->theta) * part;
    double high = fmin(in->theta * way_to_limit(s, in, p, part, r, &next),
                       way_to_sphere(part * part * pp, part * ulna_inner(n, p, r), pp, radius));
    *value = (double)INFINITY;
    if (status != ULNA_OK || !(low <= high))
        return status;
    double at = lowest(slope, curvature, low, high);
    *value = corner + at * (slope + 0.5 * curvature * at);
    for (int j = 0; j < n; j++)
        r[j] = part * p[j] + at * r[j];
    return ULNA_OK;
}

/* Straight down the scaled gradient, into in->downhill. */
static ulna_status go_downhill(const ulna_solver *s, ulna_interior *in, ulna_linear_map apply, void *context,
                               double radius, double *value)
{
    double *a = in->downhill;
    int hit;
    for (int j = 0; j < s->nv; j++)
        a[j] = -in->slope[j];
    ulna_status status = apply(context, a, in->scratch);
    double most =
        fmin(in->theta * way_to_limit(s, in, NULL, 0, a, &hit), way_to_sphere(0, 0, ulna_inner(s->nv, a, a), radius));
    *value = go_along(s, in, in->scratch, most, a);
    return status;
}

/* s->step from h; a DOF that comes within rounding of a limit is put on it. */
static void take(ulna_solver *s, const ulna_interior *in, const double *h)
{
    for (int j = 0; j < s->nv; j++)
        s->step[j] = in->reach[j] * h[j];
    for (int i = 0; i < s->limited_count; i++) {
        int j = s->limited[i], c = s->model->dof_coordinate[j];
        double limit = s->step[j] > 0 ? s->upper[j] : s->lower[j];
        if (s->step[j] != 0 && fabs(limit - (s->q[c] + s->step[j])) <= SNAP * s->unit[j])
            s->step[j] = limit - s->q[c];
    }
}

ulna_status ulna_interior_step(ulna_solver *s, ulna_interior *in, ulna_linear_map apply, void *context, double radius,
                               double *p, double *decrease)
{
    double value, other;
    int hit;
    ulna_status status = ulna_interior_model(s, in, apply, context, p, in->product, &value);
    double part = way_to_limit(s, in, NULL, 0, p, &hit);
    if (status == ULNA_OK && !(part > 1)) {
        status = go_reflected(s, in, apply, context, radius, p, part, hit, &other);
        value = go_along(s, in, in->product, in->theta * part, p);
        if (status == ULNA_OK && other < value) {
            value = other;
            memcpy(p, in->reflected, (size_t)s->nv * sizeof *p);
        }
        if (status == ULNA_OK)
            status = go_downhill(s, in, apply, context, radius, &other);
        if (status == ULNA_OK && other < value) {
            value = other;
            memcpy(p, in->downhill, (size_t)s->nv * sizeof *p);
        }
    }
    if (status != ULNA_OK)
        return status;
    *decrease = -value;
    take(s, in, p);
    return ULNA_OK;
}
