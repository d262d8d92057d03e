/*
 * One damped step by elimination that ends inside the limits.
 *
 * Clamping a finished step would spoil it: the other joints were solved for a motion that does not take place. Instead, a
 * DOF on its limit that the gradient pushes outwards is locked; the step is solved; a DOF that would pass its limit gets a
 * prescribed displacement, exactly onto the limit, and the others are solved again with it (docs/mathematics.md). Each round
 * adds at least one such DOF, so it ends; two rounds are usual.
 */
#include "solve/solver.h"

/* Does the step take a DOF past its limit? A quick look, since most steps do not. */
static int is_leaving(const ulna_solver *s)
{
    const int *at = s->limited_at, *dof = s->limited;
    const double *q = s->q, *step = s->step, *low = s->limited_low, *high = s->limited_high;
    int leaving = 0;
    for (int i = 0; i < s->limited_count; i++) {
        double to = q[at[i]] + step[dof[i]];
        leaving |= (to < low[i]) | (to > high[i]);
    }
    return leaving;
}

/* Holds the DOFs that the step takes past a limit; how many. */
static int hold_violators(ulna_solver *s)
{
    int found = 0;
    for (int i = 0; i < s->limited_count && (i || is_leaving(s)); i++) {
        int j = s->limited[i];
        double from = s->q[s->limited_at[i]], to = from + s->step[j];
        if (s->held[j] || (to >= s->limited_low[i] && to <= s->limited_high[i]))
            continue;
        s->displacement[j] = (to < s->limited_low[i] ? s->limited_low[i] : s->limited_high[i]) - from;
        s->held[j] = 1;
        found++;
    }
    return found;
}

int ulna_is_on_limits(const ulna_solver *s)
{
    const int *at = s->limited_at;
    const double *q = s->q, *low = s->limited_low, *high = s->limited_high;
    int on = 0;
    for (int i = 0; i < s->limited_count; i++)
        on |= (q[at[i]] <= low[i]) | (q[at[i]] >= high[i]);
    return on;
}

ulna_status ulna_bounded_step(ulna_solver *s, double t, const double *extra, ulna_damped_step *damped)
{
    int holds = 0;
    damped->met = 0;
    if (ulna_is_on_limits(s)) {
        ulna_status status = ulna_gradient_here(s);
        if (status != ULNA_OK)
            return status;
        holds = ulna_mark_held(s);
    } else {
        memcpy(s->held, s->locked, (size_t)s->nv);
        holds = s->has_locked;
    }
    double *shifts = s->shift;
    const double *metric = s->metric;
    for (int j = 0; j < s->nv; j++)
        shifts[j] = damped->lambda * metric[j];
    for (int j = 0; extra && j < s->nv; j++)
        s->shift[j] += extra[j];
    memset(s->displacement, 0, (size_t)s->nv * sizeof *s->displacement);

    ulna_step_options options = {.t = t, .shift = s->shift};
    for (;;) {
        options.locked = holds ? s->held : NULL;
        options.displacement = holds ? s->displacement : NULL;
        s->result.factorisations++;
        ulna_status status = ulna_work_step(s->work, &options, s->step, &damped->predicted, NULL);
        if (status != ULNA_OK)
            return status;
        int found = hold_violators(s);
        if (!found)
            break;
        holds += found;
        damped->met += found;
    }

    /* ulna_work_step counts the shift in; what f is predicted to fall by is without it. */
    const double *shift = s->shift, *step = s->step;
    double cost = 0;
    for (int j = 0; j < s->nv; j++)
        cost += 0.5 * shift[j] * step[j] * step[j];
    damped->predicted += cost;
    damped->damped = cost;
    return ULNA_OK;
}
