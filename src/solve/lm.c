/*
 * lm, lm-marquardt: Levenberg-Marquardt by elimination on the tree.
 *
 * Source: survey of techniques, section 7.4, eq. 26 (Levenberg 1944) and eq. 27 (Marquardt 1963), with the slips of
 * eq. 25-27 put right: f = 1/2 |r|^2, r = goals - values, and the step goes along +Jt r. The exact-Hessian paper
 * takes it as the rival to beat (section 6). One iteration solves, in O(DOF) and without J,
 *
 *     (JtJ + mu D) dq = Jt r = -g,      gain = (f - f(q + dq)) / (decrease of the model 1/2 |r - J dq|^2),
 *
 * takes the step if f falls, and adapts mu by the gain.
 *
 *   mu    damping: m^2 / rad^2 in lm, a plain factor in lm-marquardt
 *   D     lm: 1 / scale^2, that is, the identity in scaled coordinates (solver.h)
 *         lm-marquardt: diag(JtJ) / strength^2
 *   nu    by how much mu grows at the next failure (Nielsen)
 *
 * Rules for mu: Nielsen 1999; Marquardt's tenths (1963); Fletcher's quarters (1971), where a failure multiplies mu by
 * 2 to 10, as a parabola through the trial says.
 *
 * Changed. Limits are met inside the step (bounded_step.c), not by clamping. The first mu is a part of the largest
 * diagonal element of JtJ, as Nielsen has it. mu does not fall below a trace above rounding: in a direction that
 * nothing determines the gradient is noise, and noise over nothing would be drift. Fletcher's cut-off of mu to 0,
 * which needs the trace of an inverse, is left out. Marquardt's D undoes every scaling of the columns, strengths
 * included; these are therefore put back. Elements of D below 1e-3 of the largest (in units of solver.h) are raised
 * to that: a joint that moves no goal has none. D is that of the point: More's running maximum (1978) made no
 * difference on skeletons.
 *
 * Fails in local minima and saddle points, as descent does. Slow where residuals stay large: convergence is linear
 * there, and `hybrid` and `newton` have the second derivatives.
 */
#include "solve/least_squares.h"

#define FLOOR 1e-13 /* of the curvature scale: least mu */
#define MOST 1e12   /* times the largest diagonal element: nothing moves any more */
#define LEAST_DIAGONAL 1e-3

typedef struct levenberg {
    double mu, nu;
    double floor;   /* least mu */
    double largest; /* diagonal element of JtJ, in units */

    /* Of lm-marquardt alone; zero in lm. */
    int is_marquardt, diagonal_known;
    double *diagonal; /* nv: of JtJ at s->q */
    double *extra;    /* nv: mu D */
} levenberg;

_Static_assert(sizeof(levenberg) <= ULNA_METHOD_STATE, "state too large");

static ulna_status layout_marquardt(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    levenberg *h = state;
    (void)error;
    h->is_marquardt = 1;
    h->diagonal = ulna_arena_take(arena, (size_t)s->nv, sizeof *h->diagonal);
    h->extra = ulna_arena_take(arena, (size_t)s->nv, sizeof *h->extra);
    return ULNA_OK;
}

static ulna_status begin(ulna_solver *s, void *state)
{
    levenberg *h = state;
    ulna_status status = ulna_normal_diagonal(s, h->is_marquardt ? h->diagonal : s->shift, &h->largest);
    h->diagonal_known = 1;
    h->nu = 2;
    h->floor = h->is_marquardt ? FLOOR : FLOOR * s->curvature;
    h->mu = fmax(s->options.lm.damping * (h->is_marquardt ? 1 : h->largest), h->floor);
    return status;
}

static ulna_status damped_step(ulna_solver *s, levenberg *h, ulna_damped_step *step)
{
    step->lambda = h->is_marquardt ? 0 : h->mu;
    if (h->is_marquardt) {
        if (!h->diagonal_known) {
            ulna_status status = ulna_normal_diagonal(s, h->diagonal, &h->largest);
            if (status != ULNA_OK)
                return status;
            h->diagonal_known = 1;
        }
        for (int j = 0; j < s->nv; j++) {
            double unit = s->unit[j], strength = s->scale[j] / unit;
            double element = fmax(h->diagonal[j], LEAST_DIAGONAL * h->largest / (unit * unit));
            h->extra[j] = h->mu * element / (strength * strength);
        }
    }
    ulna_status status = ulna_damped_step_here(s, h->extra, step);
    if (!h->is_marquardt)
        h->mu = step->lambda;
    return status;
}

static void relax(const ulna_solver *s, levenberg *h, double gain)
{
    double odd = 2 * gain - 1;
    if (s->options.lm.rule == ULNA_DAMPING_NIELSEN)
        h->mu *= fmax(1.0 / 3, 1 - odd * odd * odd);
    else if (s->options.lm.rule == ULNA_DAMPING_CLASSIC)
        h->mu *= 0.1;
    else if (gain > 0.75)
        h->mu *= 0.5;
    else if (gain < 0.25)
        h->mu *= 2;
    h->nu = 2;
    h->mu = fmax(h->mu, h->floor);
}

/* `rise` of f at the trial. Fletcher: a parabola through the trial, with the slope of f at q, has its least point at
 * 1 / nu. */
static void tighten(const ulna_solver *s, levenberg *h, double rise, const ulna_damped_step *step)
{
    double slope = step->predicted - step->damped;
    switch (s->options.lm.rule) {
    case ULNA_DAMPING_CLASSIC:
        h->mu *= 10;
        break;
    case ULNA_DAMPING_QUARTERS:
        h->mu *= slope > 0 ? fmin(fmax(2 + rise / slope, 2), 10) : 10;
        break;
    case ULNA_DAMPING_NIELSEN:
    default:
        h->mu *= h->nu;
        h->nu *= 2;
        break;
    }
}

static ulna_status iterate(ulna_solver *s, void *state)
{
    levenberg *h = state;
    ulna_damped_step step;
    double f;
    ulna_status status = damped_step(s, h, &step);
    s->now.damping = h->mu;
    if (status != ULNA_OK)
        return status;
    int is_last = ulna_damped_step_is_last(s, &step);
    status = ulna_try(s, s->step, 1, &f);
    if (status != ULNA_OK)
        return status;
    if (f < s->f) {
        relax(s, h, step.predicted > 0 ? (s->f - f) / step.predicted : 1);
        ulna_accept(s, s->step, 1, f);
        h->diagonal_known = 0;
        s->now.unsettled = step.met > 0;
    } else {
        tighten(s, h, f - s->f, &step);
        double most = MOST * (h->is_marquardt ? 1 : fmax(h->largest, s->curvature));
        if (h->mu > most || ulna_step_size(s, s->step) < 1e-16)
            s->now.stop = ULNA_STOP_STALLED;
        is_last |= ulna_damped_step_is_lost(s, &step);
    }
    if (is_last)
        s->now.stop = ULNA_STOP_DECREASE;
    return ULNA_OK;
}

const ulna_method ulna_method_lm = {
    .info = {.name = "lm",
             .summary = "Levenberg-Marquardt with damping lambda I, by elimination on the tree",
             .source = "survey of IK techniques, eq. 26 (Levenberg 1944); Nielsen 1999",
             .supports = "all terms, all joints",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE,
             .iterations = 300},
    .patience = 5,
    .begin = begin,
    .iterate = iterate,
};

const ulna_method ulna_method_lm_marquardt = {
    .info = {.name = "lm-marquardt",
             .summary = "Levenberg-Marquardt with damping lambda diag(JtJ), by elimination on the tree",
             .source = "survey of IK techniques, eq. 27 (Marquardt 1963); Nielsen 1999",
             .supports = "all terms, all joints",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE,
             .iterations = 300},
    .patience = 5,
    .layout = layout_marquardt,
    .begin = begin,
    .iterate = iterate,
};
