/*
 * newton: the exact Hessian, alone.
 *
 * Source: the exact-Hessian paper, section 3, H p = -g (eq. 10) with H = JtJ - K : r (eq. 14); trust region after
 * More and Sorensen 1983 and Conn, Gould and Toint 2000 (trust_region.c), or a line search, as the text after eq. 10
 * has it.
 *
 *   radius   of the trust region, in the scaled coordinates of solver.h
 *   gain     what f fell by over what the quadratic model said: below 1/4 the radius shrinks to a quarter of the step,
 *            above 3/4 it doubles if it was in the way and the step before was not refused
 *   sigma    of the line search: H + sigma M is positive definite
 *
 * Near a minimum the region does not matter and convergence is quadratic, also where residuals remain. Where H is
 * indefinite the step makes use of negative curvature, and a saddle point is left even if the gradient is zero there.
 * At the end result.verified says whether H is positive semidefinite there.
 *
 * Changed: each system is solved by elimination on the tree in O(DOF), limits included; the paper's H is dense. How H
 * is made positive definite for the line search the paper leaves open; we shift it.
 * Fails where every local method does: in a minimum that is not the lowest. In redundant skeletons it takes many more
 * iterations than Gauss-Newton, since far from the goal, curvature of directions that do not matter is as often
 * negative.
 */
#include "solve/line_search.h"
#include "solve/trust_region.h"

#define RADIUS_LEAST 1e-15
#define RADIUS_MOST 1e8
#define SIGMA_MOST 1e6 /* of the curvature scale */
#define ROUNDING 1e-14 /* of f: differences below mean nothing */

typedef struct newton {
    ulna_trust trust; /* first: tests look at it */
    double radius;
    int was_refused;
    ulna_line line;
    double sigma, least_sigma; /* that it took last time; and that it takes at least, since less was in vain */
    int escapes;
} newton;

_Static_assert(sizeof(newton) <= ULNA_METHOD_STATE, "state too large");

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    newton *n = state;
    (void)error;
    ulna_trust_layout(s, &n->trust, arena);
    ulna_line_layout(s, &n->line, arena);
    return ULNA_OK;
}

static ulna_status begin(ulna_solver *s, void *state)
{
    newton *n = state;
    ulna_trust_begin(s, &n->trust);
    n->radius = s->options.newton.radius;
    n->sigma = n->least_sigma = 0;
    n->was_refused = n->escapes = 0;
    return ULNA_OK;
}

/* f cannot fall by much more: is it a minimum? If it is not, `is_end` says whether that is the end all the same. */
static ulna_status settle(ulna_solver *s, int is_end)
{
    ulna_status status = ulna_return(s);
    if (status == ULNA_OK)
        status = ulna_is_minimum(s, &s->minimum);
    if (status == ULNA_OK && (s->minimum || is_end))
        s->now.stop = ulna_is_flat(s) ? ULNA_STOP_GRADIENT : ULNA_STOP_DECREASE;
    return status;
}

/* ---- trust region ------------------------------------------------------------------------------------------------ */

/* The last step, predicted to gain next to nothing: it is taken if f does not rise, for the sake of the gradient.
 * Where the gain is below the rounding of f, other lengths, nearly as good, may have more luck. */
static ulna_status polish(ulna_solver *s, int is_end)
{
    static const double lengths[] = {1, 0.9, 1.1};
    double f;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ulna_status status = ulna_try(s, s->step, lengths[i], &f);
        if (status != ULNA_OK)
            return status;
        if (f <= s->f) {
            ulna_accept(s, s->step, lengths[i], f);
            break;
        }
    }
    return settle(s, is_end);
}

/* No lower point is to be found along negative curvature, or it is too slight to be seen. In a valley of minima it
 * vanishes with the gradient. */
static ulna_status give_up(ulna_solver *s, const newton *n)
{
    double least = 0.5 * n->trust.lowest * s->options.newton.radius * s->options.newton.radius;
    ulna_damped_step step = {.lambda = fmax(4 * n->trust.lowest, n->trust.floor)};
    ulna_status status = ulna_return(s);
    if (status == ULNA_OK)
        status = ulna_bounded_step(s, 1, NULL, &step);
    if (status == ULNA_OK)
        status = polish(s, 0);
    if (s->now.stop == ULNA_STOP_NONE)
        s->now.stop =
            status == ULNA_OK && step.predicted + least <= ulna_little(s) ? ULNA_STOP_DECREASE : ULNA_STOP_STALLED;
    return status;
}

static void adapt_radius(newton *n, double gain, int is_refused)
{
    if (gain < 0.25)
        n->radius = 0.25 * fmin(n->radius, n->trust.length);
    else if (gain > 0.75 && n->trust.length >= 0.8 * n->radius && !n->was_refused)
        n->radius = fmin(2 * n->radius, RADIUS_MOST);
    n->was_refused = n->trust.is_modest = is_refused;
}

static ulna_status try_step(ulna_solver *s, newton *n)
{
    const ulna_trust *t = &n->trust;
    int is_newton = t->is_inside && !t->met;
    double f;
    if (is_newton && (t->predicted <= ulna_little(s) || ulna_is_flat(s)))
        return polish(s, 1); /* not even limits let the model gain more */
    ulna_status status = ulna_try(s, s->step, 1, &f);
    if (status != ULNA_OK)
        return status;
    double decrease = s->f - f, gain = t->predicted > 0 ? decrease / t->predicted : -1;
    int is_refused = !(gain > 1e-4 && f < s->f);
    adapt_radius(n, gain, is_refused);
    if (!is_refused) {
        ulna_accept(s, s->step, 1, f);
        return is_newton && decrease <= ulna_little(s) ? settle(s, 0) : ULNA_OK;
    }
    if (is_newton && t->predicted <= ROUNDING * s->f && fabs(decrease) <= ROUNDING * s->f)
        return settle(s, 1);
    if ((t->predicted > 0 && t->predicted <= 1e-15 * s->f) || n->radius < RADIUS_LEAST)
        return give_up(s, n);
    return ULNA_OK;
}

/* ---- line search ------------------------------------------------------------------------------------------------- */

/* The direction into s->step, from the first of a series of shifts that makes H positive definite and leads down. */
static ulna_status find_direction(ulna_solver *s, newton *n, ulna_damped_step *step, int *is_newton)
{
    double semidefinite = ULNA_SEMIDEFINITE * s->curvature, before = n->sigma;
    double sigma = fmax(1e-3 * semidefinite, n->least_sigma);
    for (int tries = 0; tries < 60; tries++) {
        step->lambda = n->sigma = sigma;
        ulna_status status = ulna_bounded_step(s, 1, NULL, step);
        double slope = status == ULNA_OK ? ulna_slope_along(s, s->step) : 0;
        *is_newton = sigma <= semidefinite && !step->met;
        if (status == ULNA_OK && sigma <= semidefinite)
            s->now.negative = 0;
        if (status == ULNA_OK && (slope < 0 || *is_newton || ulna_is_flat(s)))
            return ULNA_OK;
        if (status != ULNA_OK && status != ULNA_ERR_INDEFINITE && status != ULNA_ERR_SINGULAR)
            return status;
        if (status != ULNA_OK && sigma >= semidefinite)
            s->now.negative = 1;
        sigma = sigma < semidefinite ? fmin(32 * sigma, semidefinite) : fmax(10 * sigma, before / 10);
    }
    return ULNA_ERR_INDEFINITE;
}

/* As settle; but a search along directions that lead down cannot leave a saddle point by itself. */
static ulna_status settle_or_escape(ulna_solver *s, newton *n)
{
    int escaped = 0;
    ulna_status status = settle(s, 0);
    if (status != ULNA_OK || s->minimum)
        return status;
    s->now.negative = 1;
    if (n->escapes++ < 8)
        status = ulna_escape(s, &escaped);
    if (!escaped)
        s->now.stop = ulna_is_flat(s) ? ULNA_STOP_GRADIENT : ULNA_STOP_DECREASE;
    return status;
}

static ulna_status search_line(ulna_solver *s, newton *n)
{
    ulna_damped_step step;
    int is_newton, found;
    ulna_status status = ulna_gradient_here(s);
    if (status == ULNA_OK)
        status = find_direction(s, n, &step, &is_newton);
    if (status != ULNA_OK)
        return status;
    int is_last = is_newton && step.predicted <= ulna_little(s);
    status = ulna_line_walk(s, &n->line, s->step, 1, &found);
    s->now.damping = n->line.length;
    if (status != ULNA_OK || s->f <= s->options.objective)
        return status;
    status = ulna_gradient_here(s);
    if (status != ULNA_OK)
        return status;
    if (is_last || ulna_is_flat(s) || (found && is_newton && !n->line.met && s->now.decrease <= ulna_little(s)))
        return settle_or_escape(s, n);
    n->least_sigma = found ? 0 : fmax(10 * n->sigma, 1e-3 * s->curvature);
    if (!found && step.predicted <= ROUNDING * s->f)
        status = polish(s, 0);
    if (s->now.stop == ULNA_STOP_NONE && n->least_sigma > SIGMA_MOST * s->curvature)
        s->now.stop = ULNA_STOP_STALLED;
    return status;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static ulna_status iterate(ulna_solver *s, void *state)
{
    newton *n = state;
    ulna_status status;
    s->now.exactness = 1;
    s->now.unsettled = 1; /* what counts is settle */
    if (s->options.newton.line_search) {
        status = search_line(s, n);
    } else {
        status = ulna_trust_step(s, &n->trust, n->radius);
        s->now.damping = n->radius;
        s->now.negative = n->trust.is_negative ? 1 : n->trust.is_inside ? 0 : -1;
        if (status == ULNA_OK)
            status = try_step(s, n);
    }
    return status;
}

const ulna_method ulna_method_newton = {
    .info = {.name = "newton",
             .summary = "exact Hessian in a trust region, by elimination on the tree",
             .source = "exact-Hessian paper, section 3, eq. 10 and 14; More and Sorensen 1983",
             .supports = "all terms, all joints",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE | ULNA_METHOD_HESSIAN,
             .iterations = 200},
    .predicts = 1,
    .patience = 1,
    .layout = layout,
    .begin = begin,
    .iterate = iterate,
};
