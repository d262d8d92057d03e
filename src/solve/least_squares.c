/*
 * gauss-newton, dls, transpose: least squares without damping, with damping by a fixed rule (both by elimination on the tree),
 * and down the gradient.
 *
 * gauss-newton. Source: survey of techniques, section 5, eq. 12-14, and section 7.3, eq. 25 (whose sign and J are put
 * right: r = goals - values, J of the values, and the step is +(JtJ)^-1 Jt r). One iteration:
 *
 *     JtJ dq = Jt r = -g,      q <- q (+) alpha dq,      alpha = 1, 1/2, 1/4, ... until f falls enough.
 *
 * Changed: the halving, without which it may diverge; a first alpha that rotates no joint by more than half a turn,
 * beyond which the linear model means nothing; limits met inside the step, with damping where they spoil it. The
 * survey holds that JtJ is always invertible: in a redundant skeleton, or where a joint moves no goal, it is not.
 * There the least shift that can be factored is added, from 1e-12 of the curvature scale upward, which gives the
 * shortest dq, or nearly so.
 * Fails near singularities, where dq is huge and alpha tiny; slow or stuck where residuals are large.
 *
 * dls. Source: the recipe, section 3.2, eq. 35, the singularity-robust inverse; survey, eq. 15-16 (with
 * +gamma I, where these have -gamma I):
 *
 *     dq = Jt (JJt + lambda I)^-1 r = (JtJ + lambda I)^-1 Jt r.
 *
 * The two forms are one by the push-through identity, and the second is O(DOF) here. lambda is constant (as it stands, or relative to JtJ), or c f:
 * large far away, none at the goal (Chan & Lawrence 1988; Sugihara 2011). As in the papers every step is taken,
 * better or not; the driver keeps the best point. Changed: limits met inside the step; a step to where f is not a
 * number is halved; it ends when 50 steps in a row have found no lower point.
 * Fails by running in circles where lambda is too small (goals out of reach), by crawling where it is too large: `lm`
 * adapts it.
 *
 * transpose, the Jacobian's transpose in place of its inverse. Source: the recipe, Fig. 8 (Jacobian Transpose); Wolovich & Elliott 1984; with the step length of Buss 2004:
 *
 *     dq = alpha Jt r,      alpha = <r, JJt r> / <JJt r, JJt r>,
 *
 * which minimises 1/2 |r - alpha JJt r|^2. With g = -Jt r that is alpha = |g|^2 / (g JtJ g): one gradient and one
 * product, O(DOF), and no J. In scaled coordinates (solver.h), g_y = scale g: with v = scale^2 g,
 *
 *     dq = -alpha v,      alpha = (g v) / (v JtJ v).
 *
 * or the fixed length options.alpha.transpose, as textbooks have it.
 * Changed: a step that moves a joint by more than dense.max_step is shortened, unless its length is fixed. Every step is taken, better or not,
 * until 50 in a row have found no lower point; the driver keeps the best. Limits are not looked at, as in the papers.
 * Fails by patience: it is steepest descent with the exact length for the linear model, and zigzags as that does. The
 * number of iterations grows with the ratio of the largest to the least curvature, thousands for a full body.
 */
#include "solve/least_squares.h"
#include "math/math3.h"

#include <float.h>

#define LEAST_SHIFT 1e-12 /* of the curvature scale */
#define BENT_SHIFT 1e-6   /* the same, where limits spoil the step */
#define SUFFICIENT 1e-4   /* part of the predicted decrease, as Armijo asks */
enum { HALVINGS = 40, CIRCLING = 50, PATIENCE = 10 };

/* ---- shared ------------------------------------------------------------------------------------------------------ */

ulna_status ulna_damped_step_here(ulna_solver *s, const double *extra, ulna_damped_step *step)
{
    double wanted = step->lambda;
    for (double raise = 0;; raise = raise > 0 ? 100 * raise : LEAST_SHIFT) {
        step->lambda = wanted + raise * s->curvature;
        ulna_status status = ulna_bounded_step(s, 0, extra, step);
        if ((status != ULNA_ERR_SINGULAR && status != ULNA_ERR_INDEFINITE) || raise >= 1)
            return status;
    }
}

int ulna_damped_step_is_last(const ulna_solver *s, const ulna_damped_step *step)
{
    return !step->met && step->predicted >= 0 && step->predicted <= ulna_little(s) && !ulna_is_short(step);
}

int ulna_damped_step_is_lost(const ulna_solver *s, const ulna_damped_step *step)
{
    return fabs(step->predicted) <= 64 * DBL_EPSILON * s->f;
}

void ulna_stop_circling(ulna_solver *s, ulna_circling *circling)
{
    if (circling->since == 0 || s->f < circling->best) {
        circling->best = s->f;
        circling->since = 1;
    } else if (circling->since++ >= CIRCLING) {
        s->now.stop = ULNA_STOP_STALLED;
    }
}

ulna_status ulna_normal_diagonal(ulna_solver *s, double *diagonal, double *largest)
{
    ulna_band band = {.n = s->nv, .width = 0, .entries = diagonal}; /* couplings are not in it */
    ulna_status status = ulna_work_hessian_band(s->work, 0, &band);
    if (status != ULNA_OK)
        return status;
    for (int k = 0; k < s->problem->coupling_count; k++) {
        const ulna_term *term = &s->problem->term[s->problem->coupling_term[k]];
        double weight = ulna_coupling_weight(s->problem, term), ratio = term->goal[0];
        diagonal[term->dof_b] += weight;
        diagonal[term->dof_a] += weight * ratio * ratio;
    }
    *largest = 0;
    for (int j = 0; j < s->nv; j++)
        if (!s->locked[j])
            *largest = fmax(*largest, diagonal[j] * s->unit[j] * s->unit[j]);
    return ULNA_OK;
}

/* ---- gauss-newton ------------------------------------------------------------------------------------------------ */

/* The undamped step. Limits that it meets are met one after the other, which may leave it without any decrease;
 * damping makes it short, and then it runs down the gradient. */
static ulna_status descending_step(ulna_solver *s, ulna_damped_step *step)
{
    for (double shift = 0;; shift = shift > 0 ? 10 * shift : BENT_SHIFT) {
        step->lambda = shift * s->curvature;
        ulna_status status = ulna_damped_step_here(s, NULL, step);
        if (status != ULNA_OK || step->predicted > 0 || !step->met || shift >= 1)
            return status;
    }
}

typedef struct undamped {
    int crawling; /* steps in a row that gained next to nothing of what they promised */
} undamped;

_Static_assert(sizeof(undamped) <= ULNA_METHOD_STATE, "state too large");

static ulna_status begin_gauss_newton(ulna_solver *s, void *state)
{
    (void)s;
    *(undamped *)state = (undamped){0};
    return ULNA_OK;
}

/* A step cut so short that f hardly falls, though much was promised, is no sign of a minimum. */
static void judge_length(ulna_solver *s, undamped *h, double predicted)
{
    int crawls = s->now.decrease <= 1e-3 * predicted && s->now.decrease <= s->options.decrease * s->f;
    h->crawling = crawls ? h->crawling + 1 : 0;
    s->now.unsettled |= crawls;
    if (h->crawling == PATIENCE)
        s->now.stop = ULNA_STOP_STALLED;
}

static ulna_status iterate_gauss_newton(ulna_solver *s, void *state)
{
    ulna_damped_step step;
    double f;
    ulna_status status = descending_step(s, &step);
    if (status != ULNA_OK)
        return status;
    s->now.damping = step.lambda;
    int is_last = ulna_damped_step_is_last(s, &step);

    /* The model is convex: it falls by at least alpha times what it falls by at 1. */
    double size = ulna_step_size(s, s->step), alpha = size > ULNA_PI ? ULNA_PI / size : 1;
    for (int i = 0; i < HALVINGS && alpha * size > 1e-16; i++, alpha /= 2) {
        status = ulna_try(s, s->step, alpha, &f);
        if (status != ULNA_OK)
            return status;
        if (f < s->f && s->f - f >= SUFFICIENT * alpha * step.predicted) {
            ulna_accept(s, s->step, alpha, f);
            s->now.unsettled = step.met > 0 && alpha == 1;
            judge_length(s, state, step.predicted);
            break;
        }
        if (is_last)
            break;
    }
    if (is_last || (!s->now.accepted && ulna_damped_step_is_lost(s, &step)))
        s->now.stop = ULNA_STOP_DECREASE;
    else if (!s->now.accepted)
        s->now.stop = ULNA_STOP_STALLED;
    return ULNA_OK;
}

const ulna_method ulna_method_gauss_newton = {
    .info = {.name = "gauss-newton",
             .summary = "undamped least squares by elimination on the tree, with halved steps where f does not fall",
             .source = "survey of IK techniques, eq. 12-14 and 25",
             .supports = "all terms, all joints",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE,
             .iterations = 300},
    .patience = PATIENCE,
    .begin = begin_gauss_newton,
    .iterate = iterate_gauss_newton,
};

/* ---- dls --------------------------------------------------------------------------------------------------------- */

typedef struct damped {
    double factor;   /* lambda over f */
    double constant; /* lambda, if it is constant */
    ulna_circling circling;
} damped;

_Static_assert(sizeof(damped) <= ULNA_METHOD_STATE, "state too large");

static ulna_status begin_dls(ulna_solver *s, void *state)
{
    damped *h = state;
    double damping = s->options.dls.damping, largest = 0;
    ulna_status status = ulna_normal_diagonal(s, s->shift, &largest);
    int is_absolute = s->options.dls.rule == ULNA_DLS_ABSOLUTE;
    *h = (damped){.factor = damping > 0 ? damping : 1,
                  .constant = (damping > 0 ? damping : 1e-3) * (is_absolute ? 1 : largest)};
    return status;
}

static ulna_status iterate_dls(ulna_solver *s, void *state)
{
    damped *h = state;
    ulna_damped_step step = {.lambda = s->options.dls.rule == ULNA_DLS_ERROR ? h->factor * s->f : h->constant};
    double f, alpha = 1;
    ulna_status status = ulna_damped_step_here(s, NULL, &step);
    if (status != ULNA_OK)
        return status;
    s->now.damping = step.lambda;
    int is_last = ulna_damped_step_is_last(s, &step);
    status = ulna_try_shorter(s, s->step, &alpha, &f);
    if (status != ULNA_OK)
        return status;
    if (!isinf(f) && (f < s->f || !is_last)) {
        ulna_accept(s, s->step, alpha, f);
        s->now.unsettled = step.met > 0;
        ulna_stop_circling(s, &h->circling);
    } else if (!is_last) {
        s->now.stop = ULNA_STOP_STALLED;
    }
    if (is_last)
        s->now.stop = ULNA_STOP_DECREASE;
    return ULNA_OK;
}

const ulna_method ulna_method_dls = {
    .info = {.name = "dls",
             .summary = "damped least squares: the singularity-robust inverse; accepts every step",
             .source = "recipe to cook the Jacobian, eq. 35; survey of IK techniques, eq. 15-16",
             .supports = "all terms, all joints",
             .flags = ULNA_METHOD_BOUNDED,
             .iterations = 1000},
    .patience = PATIENCE,
    .begin = begin_dls,
    .iterate = iterate_dls,
};

/* ---- transpose --------------------------------------------------------------------------------------------------- */

static ulna_status begin_transpose(ulna_solver *s, void *state)
{
    (void)s;
    *(ulna_circling *)state = (ulna_circling){0};
    return ULNA_OK;
}

static ulna_status iterate_transpose(ulna_solver *s, void *state)
{
    double *v = s->step, *product = s->shift, along = 0, curvature = 0, f;
    ulna_status status = ulna_gradient_here(s);
    if (status != ULNA_OK)
        return status;
    for (int j = 0; j < s->nv; j++) {
        v[j] = s->locked[j] ? 0 : s->scale[j] * s->scale[j] * s->gradient[j];
        along += s->gradient[j] * v[j];
    }
    double alpha = s->options.alpha.transpose;
    if (!(alpha > 0)) {
        status = ulna_work_hessian_multiply(s->work, 0, v, product);
        if (status != ULNA_OK)
            return status;
        for (int j = 0; j < s->nv; j++)
            curvature += v[j] * product[j];
        double size = ulna_step_size(s, v), most = s->options.dense.max_step;
        alpha = curvature > 0 ? along / curvature : (double)NAN;
        if (!isfinite(alpha)) {
            s->now.stop = ULNA_STOP_STALLED;
            return ULNA_OK;
        }
        if (most > 0 && alpha * size > most)
            alpha = most / size;
    }
    double length = -alpha;
    status = ulna_try_shorter(s, v, &length, &f);
    if (status != ULNA_OK)
        return status;
    s->now.damping = -length;
    if (isinf(f)) {
        s->now.stop = ULNA_STOP_STALLED;
        return ULNA_OK;
    }
    ulna_accept(s, v, length, f);
    ulna_stop_circling(s, state);
    return ULNA_OK;
}

const ulna_method ulna_method_transpose = {
    .info = {.name = "transpose",
             .summary = "steps along the transposed Jacobian, of the length that minimises the linear model",
             .source = "recipe to cook the Jacobian, Fig. 8; Buss 2004 (step length)",
             .supports = "all terms, all joints",
             .flags = 0,
             .iterations = 20000},
    .uses_gradient = 1,
    .patience = 20,
    .begin = begin_transpose,
    .iterate = iterate_transpose,
};
