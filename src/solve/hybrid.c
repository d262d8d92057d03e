/*
 * hybrid: damped steps by elimination on the tree, from Gauss-Newton to exact.
 *
 * Source: the future work of the exact-Hessian paper (section 7: combine the low cost of Levenberg-Marquardt with the exact
 * Hessian). One iteration solves, in O(DOF) and without J or H,
 *
 *     (JtJ - t S + lambda M) dq = -g,     lambda = kappa f,     M = 1 / scale^2,
 *
 * with limits met inside the step (bounded_step.c).
 *
 *   t       0 Gauss-Newton, 1 exact. It is raised to 1 where Gauss-Newton's steps are good but progress is slow, as with
 *           large residuals, and lowered where the exact matrix is indefinite.
 *   kappa   damping over objective: lambda vanishes with the residual, so convergence to zero residual is quadratic, and
 *           directions that nothing determines do not move at all.
 *   floor   a trace of damping above rounding: in a null direction the gradient is rounding noise, and noise over
 *           nothing would be drift.
 *
 * Unless options.hybrid.verify is off, as in tracking, "predicted <= decrease f" must also hold for a step that is not short
 * merely because it was damped, and the exact Hessian is checked at the end: saddle points are left along negative
 * curvature (negative_curvature.c), and where f is flat at the start itself a few points around it are tried. Kappa only falls below
 * its first value where a step gains less than SLOW_SHARE of f; exact steps may reduce it to zero.
 * Fails where every local method does: in a minimum that is not the lowest. Restarts are for that.
 */
#include "solve/solver.h"

#define KAPPA_LEAST 0.03 /* for Gauss-Newton; exact steps may do with less */
#define SLOW_SHARE 0.3   /* of f: where a step gains more, lambda falls with f fast enough, and kappa stays */
#define NEAR 0.01        /* of the curvature scale: goals are off by less than a seventh of the length scale, */
#define NEAR_KAPPA 0.1   /* so less damping will do */
#define KAPPA_MOST 1e12
#define LOOK_RADIUS 0.3      /* radians */
#define FLOOR 1e-13          /* of the curvature scale */
#define SINGULAR_FLOOR 1e-12 /* of the diagonal */

enum { LOOKS = 8 };

typedef struct hybrid {
    double kappa, first_kappa;
    double *floor;        /* nv: for a singular matrix, a part of its diagonal */
    int raised;           /* how often, in this iteration */
    double last_decrease; /* of the last accepted step */
    int slow;             /* accepted steps in a row that gained not much less than the one before */
    int exactness;        /* 0 or 1 */
    int wait, patience;   /* iterations until exact is tried again, and how many next time */
    int refused;          /* the last step was */
    int looked;           /* around, since nothing had moved */
    double first_f;
    int escapes;
    int has_carried;
} hybrid;

_Static_assert(sizeof(hybrid) <= ULNA_METHOD_STATE, "state too large");

static ulna_status begin(ulna_solver *s, void *state)
{
    hybrid *h = state;
    double *floor = h->floor;
    double first = s->options.hybrid.kappa * (s->f < NEAR * s->curvature ? NEAR_KAPPA : 1);
    double kappa = s->options.hybrid.keep_damping && h->has_carried && !s->forget ? h->kappa : first;
    *h = (hybrid){
        .kappa = kappa, .first_kappa = first, .floor = floor, .patience = 1, .has_carried = 1, .first_f = s->f};
    s->forget = 0;
    return ULNA_OK;
}

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    (void)error;
    ((hybrid *)state)->floor = ulna_arena_take(arena, (size_t)s->nv, sizeof(double));
    return ULNA_OK;
}

/* The matrix is semidefinite, and lambda is below its rounding: a part of its own diagonal as well, for this step. Where a
 * DOF moves nothing but by rounding, as a flange that rotates about its tool, the diagonal of the DOF above is the scale
 * of that rounding; and if that does not help, the scale of all. */
static ulna_status raise_floor(ulna_solver *s, hybrid *h)
{
    double *floor = h->floor;
    if (h->raised++ > 0) {
        for (int j = 0; j < s->nv; j++)
            floor[j] = 8 * floor[j] + (h->raised > 6 ? FLOOR * s->curvature * s->metric[j] : 0);
        return ULNA_OK;
    }
    ulna_band diagonal = {.n = s->nv, .width = 0, .entries = floor};
    ulna_status status = ulna_work_hessian_band(s->work, 0, &diagonal);
    for (int j = s->nv - 1; j >= 0; j--) {
        int above = s->model->tree.parent[j];
        double size = above >= 0 && ulna_is_same_kind(s->model, above, j) ? fmax(floor[j], floor[above]) : floor[j];
        floor[j] = SINGULAR_FLOOR * size;
    }
    return status;
}

/* The step at the exactness of the moment; if the exact matrix is indefinite, with Gauss-Newton. */
static ulna_status damped_step(ulna_solver *s, hybrid *h, ulna_damped_step *step)
{
    h->raised = 0;
    for (int tries = 0;; tries++) {
        step->lambda = fmax(h->kappa * fmin(s->f, ULNA_FAR * s->curvature), FLOOR * s->curvature);
        ulna_status status = ulna_bounded_step(s, h->exactness, h->raised ? h->floor : NULL, step);
        if (status == ULNA_OK || (status != ULNA_ERR_INDEFINITE && status != ULNA_ERR_SINGULAR) || tries == 60)
            return status;
        if (h->exactness) {
            s->now.negative = 1;
            h->exactness = 0;
            h->kappa = fmax(h->kappa, KAPPA_LEAST);
            h->wait = h->patience;
            h->patience = h->patience < 16 ? 2 * h->patience : 16;
        } else {
            status = raise_floor(s, h);
            if (status != ULNA_OK)
                return status;
        }
    }
}

/* Good steps and slow progress: Gauss-Newton lacks curvature here. */
static void choose_exactness(const ulna_solver *s, hybrid *h, double gain, double decrease)
{
    int is_slow = gain > 0.25 && decrease > 0.1 * h->last_decrease && h->last_decrease > 0;
    h->slow = is_slow ? h->slow + 1 : 0;
    h->last_decrease = decrease;
    if (h->wait > 0)
        h->wait--;
    else if (!h->exactness && s->options.hybrid.exact && h->slow >= 2)
        h->exactness = 1;
}

static void adapt_damping(hybrid *h, double gain, double share)
{
    double least = share > SLOW_SHARE ? h->first_kappa : h->exactness ? 1e-9 : KAPPA_LEAST;
    if (gain > 0.75 && h->kappa > least)
        h->kappa = fmax(0.2 * h->kappa, least);
    else if (gain < 0.25)
        h->kappa *= 4;
}

/* Nothing has moved since the start: perhaps f is flat there, to second order and beyond, as for a gripper that is to point
 * the other way. A look around: a lower point may be near. */
static ulna_status look_around(ulna_solver *s, hybrid *h, int *found)
{
    h->looked = 1;
    for (int i = 0; i < LOOKS; i++) {
        double f;
        for (int j = 0; j < s->nv; j++)
            s->step[j] = s->held[j] ? 0 : LOOK_RADIUS * ulna_random_normal(&s->random) * s->unit[j];
        ulna_status status = ulna_try(s, s->step, 1, &f);
        if (status != ULNA_OK)
            return status;
        if (f < s->f - 1e-9 * s->f) {
            ulna_accept(s, s->step, 1, f);
            s->now.unsettled = *found = 1;
            return ULNA_OK;
        }
    }
    return ulna_return(s);
}

/* f cannot fall by much more: is this a minimum? If not, go on from a lower point. */
static ulna_status settle(ulna_solver *s, hybrid *h)
{
    int minimum = 0, escaped = 0;
    s->now.stop = ULNA_STOP_DECREASE;
    if (!s->options.hybrid.verify || s->f <= s->options.objective)
        return ULNA_OK;
    ulna_status status = ulna_is_minimum(s, &minimum);
    s->minimum = minimum;
    if (status == ULNA_OK && minimum && !h->looked && s->f >= (1 - 1e-6) * h->first_f)
        status = look_around(s, h, &escaped);
    if (status != ULNA_OK || (minimum && !escaped) || h->escapes++ >= 8)
        return status;
    if (!minimum) {
        s->now.negative = 1;
        status = ulna_escape(s, &escaped);
    }
    if (escaped) {
        s->now.stop = ULNA_STOP_NONE;
        h->kappa = fmax(h->kappa, KAPPA_LEAST);
    }
    return status;
}

/* The last step: predicted to gain next to nothing. */
static ulna_status take_last(ulna_solver *s, hybrid *h, double predicted)
{
    double f;
    if (s->options.hybrid.trust_last) {
        ulna_model_integrate(s->model, s->q, s->step, s->trial);
        ulna_accept(s, s->step, 1, s->f - predicted);
        s->at_q = 0;
        s->predicted = 1;
        s->now.stop = ULNA_STOP_DECREASE;
        return ULNA_OK;
    }
    ulna_status status = ulna_try(s, s->step, 1, &f);
    if (status == ULNA_OK && f < s->f)
        ulna_accept(s, s->step, 1, f);
    else if (status == ULNA_OK)
        status = ulna_return(s);
    return status == ULNA_OK ? settle(s, h) : status;
}

/* Next to nothing is predicted, but of a step that the damping made short: with less and less of it, does that hold? If not,
 * the step at hand is the longer one. */
static ulna_status lengthen(ulna_solver *s, hybrid *h, double little, ulna_damped_step *step)
{
    double kappa = h->kappa;
    ulna_status status = ULNA_OK;
    h->exactness |= s->options.hybrid.exact; /* the truer of the two, where it is definite */
    for (int i = 0; i < 12 && status == ULNA_OK && step->predicted <= little && ulna_is_short(step); i++) {
        if (step->lambda <= FLOOR * s->curvature)
            break;
        h->kappa *= 0.1;
        status = damped_step(s, h, step);
    }
    if (step->predicted <= little)
        h->kappa = kappa;
    return status;
}

static ulna_status iterate(ulna_solver *s, void *state)
{
    hybrid *h = state;
    ulna_damped_step step;
    double f, little = ulna_little(s);
    ulna_status status = damped_step(s, h, &step);
    if (status == ULNA_OK && step.predicted <= little && !step.met && s->options.hybrid.verify && !h->refused)
        status = lengthen(s, h, little, &step);
    s->now.damping = step.lambda;
    s->now.exactness = h->exactness;
    if (status != ULNA_OK)
        return status;

    double predicted = step.predicted;
    if (predicted <= little && predicted >= 0 && !step.met)
        return take_last(s, h, predicted);

    status = ulna_try(s, s->step, 1, &f);
    if (status != ULNA_OK)
        return status;
    double gain = predicted > 0 ? (s->f - f) / predicted : -1;
    if (gain > 1e-4 && f < s->f) {
        double decrease = s->f - f;
        ulna_accept(s, s->step, 1, f);
        h->refused = 0;
        s->now.unsettled = step.met > 0 || ulna_is_short(&step);
        adapt_damping(h, gain, decrease / (f + decrease));
        choose_exactness(s, h, gain, decrease);
        return !s->now.unsettled && decrease <= s->options.decrease * (f + decrease) ? settle(s, h) : ULNA_OK;
    }
    h->refused = 1;
    h->kappa *= 8;
    if (8 * step.lambda > KAPPA_MOST * s->curvature || ulna_step_size(s, s->step) < 1e-16) {
        s->now.stop = ULNA_STOP_STALLED;
        h->kappa = h->first_kappa;
    }
    return ULNA_OK;
}

const ulna_method ulna_method_hybrid = {
    .info = {.name = "hybrid",
             .summary =
                 "damped steps by elimination on the tree, blended from Gauss-Newton to exact Newton where that helps",
             .source = "exact-Hessian paper, section 7 (future work); damping lambda = kappa f",
             .supports = "all terms, all joints",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE | ULNA_METHOD_HESSIAN | ULNA_METHOD_CONSTRAINED,
             .iterations = 300},
    .predicts = 1,
    .patience = 1,
    .layout = layout,
    .begin = begin,
    .iterate = iterate,
};
