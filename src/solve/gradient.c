/*
 * gradient, cg: downhill by first derivatives alone.
 *
 * Sources: gradient: IK-techniques survey, section 7.2 eq. 24, d = -g; exact-Hessian paper eq. 8. cg: convex-IK paper,
 * section 5.1 and Fig. 3 (GD, CG), and M. Engell-Norregard, K. Erleben, "A projected non-linear conjugate gradient
 * method for interactive inverse kinematics", MATHMOD 2009. How far: J. Barzilai, J. M. Borwein, IMA J. Numer. Anal. 8,
 * 1988, for gradient; W. W. Hager, H. Zhang, SIAM J. Optim. 16, 2005, and 23, 2013 (theta), for cg.
 *
 *   g, d     gradient and direction, both scaled: see `changed`
 *   s, y     last step, and the change of g over it, on the DOFs that may move
 *   beta     d = -g + beta d_last, beta = (y g - |y|^2 (d_last g) / (d_last y)) / (d_last y)
 *   theta    beta is not below theta (d_last g) / |d_last|^2
 *
 * Limits. DOFs on a limit that -g presses against stay; the path is projected; cg starts again from -g whenever the set
 * of these DOFs changes.
 *
 * Changed: the survey's fixed step length is replaced by a line search (line_search.c); options.alpha.gradient brings it back: then every
 * step is taken, better or not, until 50 in a row have found no lower point, and the driver keeps the best. For gradient it is
 * backtracking, whatever options.line.rule says, from |s|^2/(s y) and (s y)/|y|^2 in turn: these lengths do their work
 * where they are not the minimum along the line, and a Wolfe search doubles the iterations. For cg it begins with the
 * length that would bring the same decrease as the last one. Steepest is a matter of scale: it is that of solver.h over
 * the root of Gauss-Newton's diagonal at the start (ulna_line_metric), which saves most of the iterations on skeletons
 * with long and short bones.
 *
 * gradient needs a number of iterations in proportion to the condition of the Hessian, which for a body with fingers is
 * thousands; cg to its root. They are for comparison, for rough answers, and for goals that change faster than they can
 * be reached.
 */
#include "solve/least_squares.h"
#include "solve/line_search.h"

#define FIRST_STEP 0.3   /* the first step of all, and */
#define LONGEST_STEP 1.0 /* the longest to try at once: radians or length scales */
#define CG_CURVATURE 0.1 /* c2: conjugate directions want the minimum along the line more exactly */
#define THETA 0.4        /* of the lower bound on beta */

typedef struct descent {
    ulna_line line;
    double *metric;           /* nv: dq = metric * y */
    double *gradient, *old;   /* nv, scaled: here, and at the last point */
    double *direction;        /* nv, scaled: cg: of the last iteration */
    unsigned char *last_held; /* nv */
    double slope;             /* of the last search */
    int has_last;             /* line.step and the above are those of the last iteration */
    int was_short;            /* the last step was below options.step */
    int iteration;
    ulna_circling circling; /* gradient, with a fixed length */
} descent;

_Static_assert(sizeof(descent) <= ULNA_METHOD_STATE, "state too large");

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    (void)error;
    descent *m = state;
    double **arrays[] = {&m->metric, &m->gradient, &m->old, &m->direction};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = ulna_arena_take(arena, (size_t)s->nv, sizeof(double));
    m->last_held = ulna_arena_take(arena, (size_t)s->nv, 1);
    ulna_line_layout(s, &m->line, arena);
    return ULNA_OK;
}

static ulna_status begin(ulna_solver *s, void *state)
{
    descent *m = state;
    double largest;
    m->has_last = m->was_short = m->iteration = 0;
    m->circling = (ulna_circling){0};
    return ulna_line_metric(s, m->metric, &largest);
}

/* The gradient on the DOFs that may move; 0 on the others. */
static void look_around(ulna_solver *s, descent *m)
{
    ulna_mark_held(s);
    for (int j = 0; j < s->nv; j++)
        m->gradient[j] = s->held[j] ? 0 : s->gradient[j] * m->metric[j];
}

static double cap(const ulna_solver *s, double length, double longest)
{
    double size = ulna_step_size(s, s->step);
    return size > 0 ? fmin(length, longest / size) : length;
}

/* For a bare gradient: f cannot fall below 0. */
static double first_guess(const ulna_solver *s, const descent *m)
{
    double gg = ulna_line_dot(s->nv, m->gradient, m->gradient);
    return cap(s, gg > 0 ? 2 * s->f / gg : 1, FIRST_STEP);
}

static ulna_status search(ulna_solver *s, descent *m, double first, int *found)
{
    memcpy(m->last_held, s->held, (size_t)s->nv);
    memcpy(m->old, m->gradient, (size_t)s->nv * sizeof *m->old);
    ulna_status status = ulna_line_walk(s, &m->line, s->step, first, found);
    m->slope = m->line.slope;
    m->has_last = *found;
    m->iteration++;

    /* One short step is not the end: lengths go up and down. */
    int is_short = s->now.step <= s->options.step;
    s->now.unsettled = m->line.met || (is_short && !m->was_short);
    m->was_short = is_short;
    return status;
}

/* Down the gradient itself, at first by `first` times it; 0 if there is no idea. A first length that is too short to
 * show in f is no reason to give up. */
static ulna_status descend(ulna_solver *s, descent *m, double first)
{
    int found = 0;
    ulna_status status = ULNA_OK;
    for (int j = 0; j < s->nv; j++) {
        m->direction[j] = -m->gradient[j];
        s->step[j] = m->direction[j] * m->metric[j];
    }
    if (first > 0)
        status = search(s, m, cap(s, first, LONGEST_STEP), &found);
    if (status == ULNA_OK && !found)
        status = search(s, m, first_guess(s, m), &found);
    return found || status != ULNA_OK ? status : ulna_line_give_up(s, &m->line, (double)INFINITY);
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

/* Barzilai and Borwein's two lengths in turn; twice the last one where there is no curvature. */
static double secant_length(const ulna_solver *s, const descent *m)
{
    double ss = 0, sy = 0, yy = 0;
    for (int j = 0; j < s->nv; j++) {
        if (s->held[j] || m->last_held[j])
            continue;
        double step = m->line.step[j] / m->metric[j], change = m->gradient[j] - m->old[j];
        ss += step * step;
        sy += step * change;
        yy += change * change;
    }
    if (!(sy > 0))
        return 2 * m->line.length;
    return m->iteration % 2 ? ss / sy : sy / yy;
}

/* The survey's method as written: a step of a fixed length, whatever f does. */
static ulna_status leap(ulna_solver *s, descent *m)
{
    int found;
    for (int j = 0; j < s->nv; j++)
        s->step[j] = s->held[j] ? 0 : -s->scale[j] * s->scale[j] * s->gradient[j];
    ulna_status status = ulna_line_leap(s, &m->line, s->step, s->options.alpha.gradient, &found);
    if (status == ULNA_OK && !found)
        s->now.stop = ULNA_STOP_STALLED;
    else if (status == ULNA_OK)
        ulna_stop_circling(s, &m->circling);
    return status;
}

static ulna_status iterate_gradient(ulna_solver *s, void *state)
{
    descent *m = state;
    look_around(s, m);
    if (s->options.alpha.gradient > 0)
        return leap(s, m);
    m->line.curvature = -1;
    return descend(s, m, m->has_last ? secant_length(s, m) : 0);
}

/* ---- cg ---------------------------------------------------------------------------------------------------------- */

/* The conjugate direction into m->direction and s->step; 0 if it is better to begin afresh. */
static int conjugate(ulna_solver *s, descent *m)
{
    int n = s->nv;
    double yy = 0, yg = 0, dy = 0, dg = 0, dd = 0;
    if (!m->has_last || m->line.met || memcmp(m->last_held, s->held, (size_t)n) != 0)
        return 0;
    for (int j = 0; j < n; j++) {
        double y = m->gradient[j] - m->old[j], d = m->direction[j];
        yy += y * y;
        yg += y * m->gradient[j];
        dy += d * y;
        dg += d * m->gradient[j];
        dd += d * d;
    }
    double beta = fmax((yg - yy * dg / dy) / dy, THETA * dg / dd);
    if (!(dy > 0) || !isfinite(beta))
        return 0;
    double slope = 0, gg = 0;
    for (int j = 0; j < n; j++) {
        m->direction[j] = beta * m->direction[j] - m->gradient[j];
        s->step[j] = m->direction[j] * m->metric[j];
        slope += m->direction[j] * m->gradient[j];
        gg += m->gradient[j] * m->gradient[j];
    }
    return slope < -1e-3 * gg;
}

static ulna_status iterate_cg(ulna_solver *s, void *state)
{
    descent *m = state;
    int found = 0;
    ulna_status status = ULNA_OK;
    look_around(s, m);
    m->line.curvature = fmin(s->options.line.curvature, fmax(CG_CURVATURE, 2 * s->options.line.sufficient));
    double last = m->has_last ? m->line.length * m->slope : 0; /* what the last step was to gain, to first order */
    if (conjugate(s, m)) {
        double first = last / ulna_line_dot(s->nv, m->direction, m->gradient);
        status = search(s, m, cap(s, first, LONGEST_STEP), &found);
    }
    if (found || status != ULNA_OK)
        return status;
    return descend(s, m, -last / ulna_line_dot(s->nv, m->gradient, m->gradient));
}

const ulna_method ulna_method_gradient = {
    .info = {.name = "gradient",
             .summary = "steepest descent with a line search",
             .source = "IK-techniques survey, section 7.2 eq. 24; first lengths after Barzilai & Borwein 1988",
             .supports = "all terms, all joints",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE,
             .iterations = 20000},
    .uses_gradient = 1,
    .patience = 10,
    .layout = layout,
    .begin = begin,
    .iterate = iterate_gradient,
};

const ulna_method ulna_method_cg = {
    .info = {.name = "cg",
             .summary = "nonlinear conjugate gradients with a line search",
             .source = "convex-IK paper, section 5.1; Hager & Zhang 2005, 2013",
             .supports = "all terms, all joints",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE,
             .iterations = 5000},
    .uses_gradient = 1,
    .patience = 5,
    .layout = layout,
    .begin = begin,
    .iterate = iterate_cg,
};
