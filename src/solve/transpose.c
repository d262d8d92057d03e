/*
 * transpose: the Jacobian's transpose in place of its inverse.
 *
 * Source: the recipe, Fig. 8 (Jacobian Transpose); Wolovich & Elliott 1984; with the step length of Buss 2004:
 *
 *     dq = alpha Jt r,      alpha = <r, JJt r> / <JJt r, JJt r>,
 *
 * which minimises 1/2 |r - alpha JJt r|^2. With g = -Jt r that is alpha = |g|^2 / (g JtJ g): one gradient and one
 * product, O(DOF), and no J. In scaled coordinates (solver.h), g_y = scale g: with v = scale^2 g,
 *
 *     dq = -alpha v,      alpha = (g v) / (v JtJ v).
 *
 * Changed: a step that turns a joint by more than dense.max_step is shortened. Every step is taken, better or not,
 * until 50 in a row have found no lower point; the driver keeps the best. Limits are not looked at, as in the papers.
 * Fails by patience: it is steepest descent with the exact length for the linear model, and zigzags as that does. The
 * number of iterations grows with the ratio of the largest to the least curvature, thousands for a full body.
 */
#include "solve/least_squares.h"
#include "solve/registry.h"

enum { HALVINGS = 40 };

static ulna_status begin(ulna_solver *s, void *state)
{
    (void)s;
    *(ulna_circling *)state = (ulna_circling){0};
    return ULNA_OK;
}

static ulna_status iterate(ulna_solver *s, void *state)
{
    double *v = s->step, *product = s->shift, along = 0, curvature = 0, f;
    ulna_status status = ulna_gradient_here(s);
    if (status != ULNA_OK)
        return status;
    for (int j = 0; j < s->nv; j++) {
        v[j] = s->locked[j] ? 0 : s->scale[j] * s->scale[j] * s->gradient[j];
        along += s->gradient[j] * v[j];
    }
    status = ulna_work_hessian_multiply(s->work, 0, v, product);
    if (status != ULNA_OK)
        return status;
    for (int j = 0; j < s->nv; j++)
        curvature += v[j] * product[j];
    double alpha = along / curvature, size = ulna_step_size(s, v), most = s->options.dense.max_step;
    if (!(curvature > 0) || !isfinite(alpha)) {
        s->now.stop = ULNA_STOP_STALLED;
        return ULNA_OK;
    }
    if (most > 0 && alpha * size > most)
        alpha = most / size;
    status = ulna_try(s, v, -alpha, &f);
    for (int i = 0; status == ULNA_OK && isinf(f) && i < HALVINGS; i++)
        status = ulna_try(s, v, -(alpha /= 2), &f);
    if (status != ULNA_OK)
        return status;
    s->now.damping = alpha;
    if (isinf(f)) {
        s->now.stop = ULNA_STOP_STALLED;
        return ULNA_OK;
    }
    ulna_accept(s, v, -alpha, f);
    ulna_stop_circling(s, state);
    return ULNA_OK;
}

const ulna_method ulna_method_transpose = {
    .info = {.name = "transpose",
             .summary = "along the Jacobian's transpose, with the length that is best for the linear model",
             .source = "recipe to cook the Jacobian, Fig. 8; Buss 2004 (step length)",
             .supports = "all terms, all joints",
             .flags = 0,
             .iterations = 20000},
    .uses_gradient = 1,
    .patience = 20,
    .begin = begin,
    .iterate = iterate,
};
