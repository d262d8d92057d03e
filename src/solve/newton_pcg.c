/*
 * newton-pcg: the exact Hessian as the paper uses it, in an interior-reflective trust region with conjugate gradients.
 *
 * Source: the exact-Hessian paper, section 6 (trust region [26]: Coleman and Li 1996, as in MATLAB's fmincon and
 * fminunc) and section 6.7 (conjugate gradients to epsilon = 0.1, banded preconditioner of width 24, at most M^2
 * inner iterations, the nearest positive semidefinite matrix after Higham 1988). Limits: coleman_li.c. Conjugate
 * gradients in the trust region: Steihaug 1983 (linalg/pcg.c).
 *
 *   H       exact Hessian, by products of O(DOF); never formed, unless options.pcg.nearest_spd asks for it
 *   A       D H D + C, the hatted matrix; band(A), shifted until it is positive definite, is the preconditioner
 *   radius  of the trust region, in hatted coordinates
 *   gain    (decrease of f - 1/2 h C h) over decrease of the model (Coleman and Li's rho)
 *
 * Changed: MATLAB solves the trust region problem in the plane of the conjugate gradient solution and the gradient;
 * we stop conjugate gradients at the sphere, or follow negative curvature to it, as Steihaug does. Near the end
 * epsilon falls with the root of the gradient, so that convergence is superlinear; options.pcg.fixed holds it, as the paper does.
 * Fails: a gradient of zero is the end, be it a saddle point (see result.verified). Slow where H is so indefinite
 * that most steps end at the first negative curvature.
 */
#include "math/math3.h"
#include "solve/coleman_li.h"

#include <limits.h>

#define RADIUS_LEAST 1e-15
#define RADIUS_MOST 1e8
#define TRACE 1e-9    /* of the largest diagonal element */
#define VISIBLE 1e-15 /* of f: a smaller gain is none */

typedef struct newton_pcg {
    ulna_interior in;
    double *h, *right, *moved; /* nv: hatted step; its right-hand side; scratch of products */
    double *pcg;               /* scratch of ulna_pcg */
    ulna_band band;
    double *dense; /* nv x nv with nearest_spd: S H S, or what is nearest to it */
    ulna_dense_work scratch;
    double radius;
    double first_slope; /* |slope| at the start */
    int is_prepared;    /* band and the rest are those of q */
} newton_pcg;

_Static_assert(sizeof(newton_pcg) <= ULNA_METHOD_STATE, "state too large");

/* What a product needs. */
typedef struct hatted {
    ulna_solver *s;
    newton_pcg *m;
} hatted;

static ulna_status layout_dense(ulna_solver *s, newton_pcg *m, ulna_arena *arena, ulna_error *error)
{
    size_t nv = (size_t)s->nv;
    ulna_status status = ulna_nearest_spd_need(s->nv, &m->scratch.have);
    if (status == ULNA_ERR_UNSUPPORTED)
        return ulna_fail(error, status, "option pcg.nearest_spd needs LAPACK, which this build does not have");
    if (status != ULNA_OK)
        return ulna_fail(error, status, "option pcg.nearest_spd: %d degrees of freedom are too many", s->nv);
    m->dense = ulna_arena_take(arena, nv, nv * sizeof(double));
    m->scratch.reals = ulna_arena_take(arena, m->scratch.have.reals, sizeof(double));
    m->scratch.integers = ulna_arena_take(arena, m->scratch.have.integers, sizeof(int));
    return ULNA_OK;
}

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    newton_pcg *m = state;
    size_t nv = (size_t)s->nv;
    int width = s->options.pcg.band_width < s->nv ? s->options.pcg.band_width : s->nv > 0 ? s->nv - 1 : 0;
    ulna_interior_layout(s, &m->in, arena);
    m->h = ulna_arena_take(arena, nv, sizeof(double));
    m->right = ulna_arena_take(arena, nv, sizeof(double));
    m->moved = ulna_arena_take(arena, nv, sizeof(double));
    m->pcg = ulna_arena_take(arena, ulna_pcg_size(s->nv), sizeof(double));
    m->band = (ulna_band){.n = s->nv, .width = width};
    m->band.entries = ulna_arena_take(arena, ulna_band_size(s->nv, width), sizeof(double));
    m->band.factor = ulna_arena_take(arena, ulna_band_size(s->nv, width), sizeof(double));
    return s->options.pcg.nearest_spd ? layout_dense(s, m, arena, error) : ULNA_OK;
}

static ulna_status begin(ulna_solver *s, void *state)
{
    newton_pcg *m = state;
    m->radius = s->options.newton.radius;
    m->first_slope = 0;
    m->is_prepared = 0;
    return ULNA_OK;
}

/* ---- the hatted matrix ------------------------------------------------------------------------------------------- */

/* y = A x */
static ulna_status apply(void *context, const double *x, double *y)
{
    const hatted *c = context;
    const ulna_solver *s = c->s;
    const ulna_interior *in = &c->m->in;
    double *moved = c->m->moved;
    ulna_status status = ULNA_OK;
    for (int j = 0; j < s->nv; j++)
        moved[j] = in->reach[j] * x[j];
    if (c->m->dense) {
        memset(y, 0, (size_t)s->nv * sizeof *y);
        for (int k = 0; k < s->nv; k++)
            for (int j = 0; j < s->nv && moved[k] != 0; j++)
                y[j] += c->m->dense[(size_t)k * (size_t)s->nv + (size_t)j] * moved[k];
    } else if (s->nv > 0) {
        status = ulna_work_hessian_multiply(s->work, 1, moved, y);
    }
    for (int j = 0; j < s->nv; j++)
        y[j] = in->reach[j] * y[j] + in->bend[j] * x[j];
    return status;
}

/* The Hessian, if it is indefinite replaced by what is nearest to it in scaled coordinates. */
static ulna_status fill_dense(ulna_solver *s, newton_pcg *m)
{
    size_t n = (size_t)s->nv;
    double *A = m->dense;
    int is_minimum;
    ulna_status status = ulna_is_minimum(s, &is_minimum);
    if (status == ULNA_OK)
        status = ulna_work_hessian_dense(s->work, 1, A);
    if (status != ULNA_OK || is_minimum)
        return status;
    s->now.negative = 1;
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++)
            A[k * n + j] *= s->locked[j] || s->locked[k] ? 0 : s->scale[j] * s->scale[k];
    status = ulna_nearest_spd(s->nv, A, &m->scratch);
    for (size_t k = 0; k < n; k++)
        for (size_t j = 0; j < n; j++)
            A[k * n + j] /= s->scale[j] * s->scale[k];
    return status;
}

/* The preconditioner: the band of A, and a trace more, since DOFs that no term sees have rows of zeros. */
static ulna_status fill_band(ulna_solver *s, newton_pcg *m)
{
    const ulna_interior *in = &m->in;
    ulna_band *band = &m->band;
    size_t n = (size_t)s->nv, stride = (size_t)band->width + 1;
    double largest = 0;
    ulna_status status = m->dense || n == 0 ? ULNA_OK : ulna_work_hessian_band(s->work, 1, band);
    if (status != ULNA_OK)
        return status;
    for (size_t j = 0; j < n; j++) {
        double *column = &band->entries[j * stride];
        for (size_t i = j; i < j + stride; i++)
            column[i - j] = i >= n ? 0 : in->reach[i] * in->reach[j] * (m->dense ? m->dense[j * n + i] : column[i - j]);
        column[0] += in->bend[j];
        largest = fmax(largest, column[0]);
    }
    for (size_t j = 0; j < n; j++)
        band->entries[j * stride] += TRACE * largest;
    return ulna_band_factor(band);
}

static ulna_status prepare(ulna_solver *s, newton_pcg *m)
{
    ulna_status status = ulna_gradient_here(s);
    if (status != ULNA_OK)
        return status;
    ulna_interior_scale(s, &m->in);
    if (m->dense)
        status = fill_dense(s, m);
    return status == ULNA_OK ? fill_band(s, m) : status;
}

/* ---- one iteration ----------------------------------------------------------------------------------------------- */

/* The solution of the trust region problem into m->h. `is_inside`: to the tolerance, and within the sphere. */
static ulna_status solve(ulna_solver *s, newton_pcg *m, hatted *context, int *is_inside)
{
    double size = 0;
    int nv = s->nv, limit = s->options.pcg.max_iterations;
    for (int j = 0; j < nv; j++) {
        m->right[j] = -m->in.slope[j];
        size += m->right[j] * m->right[j];
    }
    size = sqrt(size);
    m->first_slope = fmax(m->first_slope, size);
    double forced = m->first_slope > 0 ? sqrt(size / m->first_slope) : 1;
    double least = s->options.pcg.fixed ? s->options.pcg.tolerance : fmax(forced, 1e-10);
    ulna_pcg_options options = {.tolerance = fmin(s->options.pcg.tolerance, least),
                                .max_iterations = limit        ? limit
                                                  : nv < 46340 ? nv * nv
                                                               : INT_MAX,
                                .radius = m->radius};
    ulna_pcg_info info;
    ulna_status status =
        ulna_pcg(nv, apply, context, ulna_band_solve, &m->band, m->right, m->h, &options, m->pcg, &info);
    if (status == ULNA_ERR_INDEFINITE || status == ULNA_ERR_NUMBER) { /* rounding: the gradient will do */
        memcpy(m->h, m->right, (size_t)nv * sizeof *m->h);
        info.stop = ULNA_PCG_ITERATIONS;
        status = ULNA_OK;
    }
    *is_inside = info.stop == ULNA_PCG_CONVERGED;
    if (info.stop == ULNA_PCG_NEGATIVE)
        s->now.negative = 1;
    return status;
}

/* The end, if f can fall by no more than `left`. */
static ulna_status settle(ulna_solver *s, double left)
{
    ulna_status status = ulna_return(s);
    if (status == ULNA_OK)
        status = ulna_is_minimum(s, &s->minimum);
    if (status != ULNA_OK)
        return status;
    int is_little = s->minimum || left <= ulna_little(s);
    s->now.stop = ulna_is_flat(s) ? ULNA_STOP_GRADIENT : is_little ? ULNA_STOP_DECREASE : ULNA_STOP_STALLED;
    return ULNA_OK;
}

static double length_of(const ulna_solver *s, const double *h)
{
    return sqrt(ulna_inner(s->nv, h, h));
}

static void adapt_radius(newton_pcg *m, double gain, double length)
{
    if (gain < 0.25)
        m->radius = 0.25 * fmin(m->radius, length);
    else if (gain > 0.75 && length >= 0.9 * m->radius)
        m->radius = fmin(2 * m->radius, RADIUS_MOST);
}

/* The last step, predicted to gain next to nothing: it is taken if f does not rise. */
static ulna_status take_last(ulna_solver *s, double predicted)
{
    double f;
    ulna_status status = ulna_try(s, s->step, 1, &f);
    if (status == ULNA_OK && f <= s->f)
        ulna_accept(s, s->step, 1, f);
    return status == ULNA_OK ? settle(s, predicted) : status;
}

static ulna_status try_step(ulna_solver *s, newton_pcg *m, double predicted)
{
    double f, bent = 0, length = length_of(s, m->h);
    ulna_status status = ulna_try(s, s->step, 1, &f);
    if (status != ULNA_OK)
        return status;
    for (int j = 0; j < s->nv; j++)
        bent += 0.5 * m->in.bend[j] * m->h[j] * m->h[j];
    double decrease = s->f - f;
    adapt_radius(m, predicted > 0 ? (decrease - bent) / predicted : -1, length);
    if (f < s->f && decrease >= 1e-4 * predicted) {
        ulna_accept(s, s->step, 1, f);
        m->is_prepared = 0;
        return ULNA_OK;
    }
    if (predicted > VISIBLE * s->f && m->radius >= RADIUS_LEAST)
        return ULNA_OK;
    double longer = fmax(s->options.newton.radius / length, 1); /* what the model would gain in the first radius */
    return settle(s, predicted * longer * longer);
}

static ulna_status iterate(ulna_solver *s, void *state)
{
    newton_pcg *m = state;
    hatted context = {s, m};
    double value, predicted;
    int is_inside;
    s->now.damping = m->radius;
    s->now.exactness = 1;
    s->now.unsettled = 1; /* what counts is settle */
    ulna_status status = m->is_prepared ? ULNA_OK : prepare(s, m);
    m->is_prepared = status == ULNA_OK;
    if (status == ULNA_OK)
        status = solve(s, m, &context, &is_inside);
    if (status == ULNA_OK)
        status = ulna_interior_model(s, &m->in, apply, &context, m->h, m->in.product, &value);
    if (status == ULNA_OK)
        status = ulna_interior_step(s, &m->in, apply, &context, m->radius, m->h, &predicted);
    if (status != ULNA_OK)
        return status;
    int is_last = is_inside && (-value <= ulna_little(s) || ulna_is_flat(s));
    return is_last ? take_last(s, -value) : try_step(s, m, predicted);
}

const ulna_method ulna_method_newton_pcg = {
    .info = {.name = "newton-pcg",
             .summary = "exact Hessian in an interior-reflective trust region, by conjugate gradients",
             .source = "exact-Hessian paper, sections 6 and 6.7; Coleman and Li 1996; Steihaug 1983",
             .supports = "all terms, all joints",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE | ULNA_METHOD_HESSIAN,
             .iterations = 400},
    .predicts = 1,
    .patience = 1,
    .layout = layout,
    .begin = begin,
    .iterate = iterate,
};
