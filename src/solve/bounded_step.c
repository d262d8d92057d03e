/*
 * One damped step by elimination that ends inside the limits.
 *
 * Clamping a finished step spoils it: the other joints were solved for a motion that does not take place. Instead (notes on
 * tracking): a DOF on its limit that the gradient presses against it is held; the step is solved; a DOF that would pass
 * its limit becomes a prescribed displacement, exactly onto the limit, and the others are solved again around it. Each
 * round holds at least one DOF more, so it ends; two rounds are usual.
 */
#include "solve/solver.h"

/* Holds the DOFs that the step takes past a limit; how many. */
static int hold_violators(ulna_solver *s)
{
    int found = 0;
    for (int i = 0; i < s->limited_count; i++) {
        int j = s->limited[i], c = s->model->dof_coordinate[j];
        if (s->held[j])
            continue;
        double to = s->q[c] + s->step[j];
        if (to >= s->lower[j] && to <= s->upper[j])
            continue;
        s->displacement[j] = (to < s->lower[j] ? s->lower[j] : s->upper[j]) - s->q[c];
        s->held[j] = 1;
        found++;
    }
    return found;
}

static int is_on_limits(const ulna_solver *s)
{
    for (int i = 0; i < s->limited_count; i++) {
        int j = s->limited[i], c = s->model->dof_coordinate[j];
        if (s->q[c] <= s->lower[j] || s->q[c] >= s->upper[j])
            return 1;
    }
    return 0;
}

ulna_status ulna_bounded_step(ulna_solver *s, double t, double lambda, const double *extra, double *decrease,
                              double *damped, int *met)
{
    int holds = 0;
    *met = 0;
    if (is_on_limits(s)) {
        ulna_status status = ulna_gradient_here(s);
        if (status != ULNA_OK)
            return status;
        holds = ulna_mark_held(s, s->held);
    } else {
        memcpy(s->held, s->relaxed, (size_t)s->nv);
        holds = s->has_relaxed;
    }
    for (int j = 0; j < s->nv; j++)
        s->shift[j] = lambda * s->metric[j];
    for (int j = 0; extra && j < s->nv; j++)
        s->shift[j] += extra[j];
    memset(s->displacement, 0, (size_t)s->nv * sizeof *s->displacement);

    ulna_step_options options = {.t = t, .shift = s->shift};
    for (;;) {
        options.held = holds ? s->held : NULL;
        options.displacement = holds ? s->displacement : NULL;
        s->result.factorisations++;
        ulna_status status = ulna_step(s->work, &options, s->step, decrease, NULL);
        if (status != ULNA_OK)
            return status;
        int found = hold_violators(s);
        if (!found)
            break;
        holds += found;
        *met += found;
    }

    /* ulna_step counts the shift in; what f is predicted to fall by is without it. */
    double cost = 0;
    for (int j = 0; j < s->nv; j++)
        cost += 0.5 * s->shift[j] * s->step[j] * s->step[j];
    *decrease += cost;
    if (damped)
        *damped = cost;
    return ULNA_OK;
}
