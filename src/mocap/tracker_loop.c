/*
 * The iterations of a frame: those of hybrid without exact steps (solve/hybrid.c), straight on the work.
 *
 * A frame takes one step and a third; what a solver does around them, for any method, limits and traces, would take as long as
 * the steps. Damping lambda = kappa f, kappa kept from frame to frame; the last step, predicted to gain next to nothing, is not
 * evaluated. Where the matrix is singular the solver takes over, which knows what to do.
 */
#include "mocap/tracker.h"
#include "solve/solver.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"
#include "objective/problem.h"

#define KAPPA_FIRST 0.1
#define KAPPA_LEAST 0.03
#define KAPPA_MOST 1e12
#define SLOW_SHARE 0.3 /* of f: where a step gains more, lambda falls with f fast enough, and kappa stays */
#define FLOOR 1e-13    /* of the curvature scale: damping above rounding */
#define LEAST_GAIN 1e-4
#define KAPPA_BEGIN 1.0 /* at most, at the beginning of a frame: steps that are short by damping look like the end */
#define NOTHING 1e-18   /* of the curvature scale: f of a distance of 1e-9 length scales */

int ulna_tracker_may_loop(const ulna_tracker *t)
{
    const ulna_options *o = &t->options.solve, usual = ulna_options_default();
    if (o->objective != usual.objective || o->gradient != usual.gradient || o->step != usual.step || o->restarts)
        return 0; /* stops that only the driver looks at */
    return t->solver->method == &ulna_method_hybrid && !o->bounded && !t->problem->coupling_count && !o->hybrid.exact &&
           !o->hybrid.verify && o->hybrid.trust_last && o->hybrid.keep_damping && !o->trace_capacity && !o->cancel &&
           !(o->seconds > 0) && !o->evaluations && (t->options.smooth > 0 || t->options.posture > 0);
}

ulna_status ulna_tracker_loop_begin(ulna_tracker *t, const double *q)
{
    ulna_solver *s = t->solver;
    memcpy(s->q, q, (size_t)t->nq * sizeof *q);
    return ulna_work_evaluate(s->work, s->q, &s->f);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The step's square by the shift, and its largest component in units of the solver. Two sums, so that none waits for the last. */
static double measure_step(const ulna_solver *s, const double *shift, const double *step, double *largest)
{
    const double *inverse_unit = s->inverse_unit;
    const int n = s->nv;
    double even = 0, odd = 0, most_even = 0, most_odd = 0;
    for (int d = 0; d + 1 < n; d += 2) {
        even += shift[d] * step[d] * step[d];
        odd += shift[d + 1] * step[d + 1] * step[d + 1];
        most_even = larger(fabs(step[d]) * inverse_unit[d], most_even);
        most_odd = larger(fabs(step[d + 1]) * inverse_unit[d + 1], most_odd);
    }
    if (n % 2) {
        even += shift[n - 1] * step[n - 1] * step[n - 1];
        most_even = larger(fabs(step[n - 1]) * inverse_unit[n - 1], most_even);
    }
    *largest = larger(most_even, most_odd);
    return even + odd;
}

static double damping(const ulna_tracker *t, double f, double curvature)
{
    return fmax(t->kappa * fmin(f, ULNA_FAR * curvature), FLOOR * curvature);
}

/* The damped step into s->step. */
static ulna_status find_step(ulna_tracker *t, double lambda, double *predicted)
{
    ulna_solver *s = t->solver;
    double *restrict shift = s->shift;
    const double *restrict metric = s->metric;
    for (int d = 0; d < t->nv; d++)
        shift[d] = lambda * metric[d];
    ulna_step_options options = {.shift = shift, .locked = t->has_locked ? s->locked : NULL};
    return ulna_work_step(s->work, &options, s->step, predicted, NULL);
}

/* The same, and q after it into s->trial. */
static ulna_status take_step(ulna_tracker *t, double lambda, double *predicted)
{
    ulna_solver *s = t->solver;
    ulna_status status = find_step(t, lambda, predicted);
    if (status != ULNA_OK)
        return status;
    *predicted += 0.5 * measure_step(s, s->shift, s->step, &t->last_step); /* ulna_work_step counts the shift in */
    ulna_model_integrate(t->model, s->q, s->step, s->trial);
    return ULNA_OK;
}

static double curvature_of(const ulna_tracker *t)
{
    return t->weights * t->length_scale * t->length_scale;
}

ulna_status ulna_tracker_loop_step(ulna_tracker *t, const double *q, double *result)
{
    ulna_solver *s = t->solver;
    double predicted;
    ulna_status status = ulna_work_evaluate(s->work, q, &s->f);
    t->kappa = fmin(t->kappa, KAPPA_BEGIN);
    if (status == ULNA_OK)
        status = find_step(t, damping(t, s->f, curvature_of(t)), &predicted);
    if (status == ULNA_OK)
        ulna_model_integrate(t->model, q, s->step, result);
    return status;
}

void ulna_tracker_loop_abreast(ulna_tracker *t, ulna_abreast *abreast)
{
    const double curvature = curvature_of(t);
    t->kappa = fmin(t->kappa, KAPPA_BEGIN);
    ulna_abreast_solve(abreast, t->solver->work, t->kappa, ULNA_FAR * curvature, FLOOR * curvature);
}

static void exchange(ulna_solver *s)
{
    double *q = s->q;
    s->q = s->trial;
    s->trial = q;
}

static void adapt_damping(ulna_tracker *t, double gain, double share)
{
    double least = share > SLOW_SHARE ? KAPPA_FIRST : KAPPA_LEAST;
    if (gain > 0.75 && t->kappa > least)
        t->kappa = fmax(0.2 * t->kappa, least);
    else if (gain < 0.25)
        t->kappa *= 4;
}

/* One iteration; s->f and s->q are where it ends. */
static ulna_status iterate(ulna_tracker *t, double curvature, ulna_result *result)
{
    ulna_solver *s = t->solver;
    double lambda = damping(t, s->f, curvature), predicted, f;
    ulna_status status = take_step(t, lambda, &predicted);
    if (status != ULNA_OK)
        return status;
    if (predicted <= s->options.decrease * s->f + NOTHING * curvature) {
        exchange(s);
        s->f -= predicted;
        result->predicted = 1;
        result->stop = ULNA_STOP_DECREASE;
        return ULNA_OK;
    }
    status = ulna_work_evaluate(s->work, s->trial, &f);
    result->evaluations++;
    double fell = s->f - f, gain = fell / predicted;
    if (status == ULNA_OK && gain > LEAST_GAIN) {
        exchange(s);
        result->stop = fell <= s->options.decrease * s->f ? ULNA_STOP_DECREASE : ULNA_STOP_NONE;
        adapt_damping(t, gain, fell / s->f);
        s->f = f;
        return ULNA_OK;
    }
    t->kappa *= 8;
    if (8 * lambda > KAPPA_MOST * curvature) {
        t->kappa = KAPPA_FIRST;
        result->stop = ULNA_STOP_STALLED;
    }
    result->evaluations++;
    return ulna_work_evaluate(s->work, s->q, &f);
}

ulna_status ulna_tracker_loop(ulna_tracker *t, double *q, ulna_result *result)
{
    ulna_solver *s = t->solver;
    const double curvature = curvature_of(t);
    ulna_status status = ULNA_OK;
    *result = (ulna_result){.stop = ULNA_STOP_NONE, .evaluations = 1};
    t->kappa = fmin(t->kappa, KAPPA_BEGIN);
    while (status == ULNA_OK && result->stop == ULNA_STOP_NONE) {
        status = iterate(t, curvature, result);
        result->iterations++;
        if (result->stop == ULNA_STOP_NONE && result->iterations >= t->options.solve.iterations)
            result->stop = ULNA_STOP_ITERATIONS;
        if (result->stop == ULNA_STOP_NONE && ulna_tracker_is_late(t))
            result->stop = ULNA_STOP_TIME;
    }
    result->f = s->f;
    result->converged = result->stop == ULNA_STOP_DECREASE;
    memcpy(q, s->q, (size_t)t->nq * sizeof *q);
    for (int i = 0; i < t->idle_count; i++) /* their priors hold them, but a soft limit might not */
        q[t->idle_at[i]] = t->q1[t->idle_at[i]];
    return status;
}
