/*
 * Line searches: strong Wolfe conditions, or backtracking; on a straight path, or on one projected onto the limits.
 *
 * Sources: J. Nocedal, S. J. Wright, "Numerical Optimization", 2nd edition 2006: algorithms 3.5 (bracket) and 3.6
 * (zoom), eq. 3.59 (cubic interpolation), 3.7 (the conditions). W. W. Hager, H. Zhang, SIAM J. Optim. 16, 2005: what
 * to ask for where f differs by rounding alone. M. Engell-Norregard, K. Erleben, "A projected back-tracking
 * line-search for constrained interactive inverse kinematics", Computers & Graphics 35, 2011: limits. D. P. Bertsekas,
 * SIAM J. Control Optim. 20, 1982: decrease along such a path.
 *
 *   phi(a)   f(P(q + a d)), P the nearest point inside the limits, q + a d meaning ulna_model_integrate
 *   c1, c2   phi(a) <= phi(0) + c1 g (q(a) - q);  |phi'(a)| <= c2 |phi'(0)|
 *   lo, hi   ends of the bracket: lo is the lowest point so far that satisfies c1, and phi falls from there towards hi
 *
 * The slope is phi'(a) = g(a) d over the DOFs that no limit has stopped. That holds for quaternions too: the path
 * exp(a d) q rotates about d, and d is the tangent of the path at every a.
 *
 * Changed: the curvature condition is not asked for at a point where a limit was met on the way, since phi has a kink
 * there and may have no point with a small slope; the next iteration has other free DOFs anyway. Fails if the direction
 * does not lead down, or leads down by less than the rounding of f.
 */
#include "solve/line_search.h"

#include <float.h>

#define NOISE (8 * DBL_EPSILON) /* relative rounding of residuals and sums */
#define VISIBLE 8               /* times the rounding of f: a decrease that a search should see */
#define ROTATION_MOST 6.3       /* radians in one step: a full turn changes nothing */
#define TRANSLATION_MOST 1e3    /* length scales */
#define STIFFNESS_LEAST 1e-2    /* of the stiffest DOF's */

enum { EVALUATIONS = 40 };

typedef struct search {
    ulna_line_function function;
    void *context;
    const ulna_line_rule *rule;
    const ulna_line_point *start;
    int left; /* evaluations */
} search;

/* ---- one dimension ----------------------------------------------------------------------------------------------- */

static ulna_status look(search *w, double length, ulna_line_point *point)
{
    *point = (ulna_line_point){.length = length};
    w->left--;
    return w->function(w->context, w->rule->curvature > 0, point);
}

/* The first condition; within the rounding of f, where it is a matter of luck, its equivalent in slopes. */
static int is_low(const search *w, const ulna_line_point *p)
{
    const ulna_line_point *start = w->start;
    double c1 = w->rule->sufficient, c2 = w->rule->curvature;
    if (p->linear < 0 && p->value <= start->value + c1 * p->linear && p->value < start->value)
        return 1;
    return c2 > 0 && !p->met && p->value <= start->value && p->value >= start->value - w->rule->noise &&
           p->slope >= c2 * start->slope && p->slope <= (2 * c1 - 1) * start->slope;
}

static int is_flat(const search *w, const ulna_line_point *p)
{
    return p->met || fabs(p->slope) <= w->rule->curvature * fabs(w->start->slope);
}

/* Where the cubic through both values and slopes is lowest; NAN if it is nowhere so. */
static double cubic(const ulna_line_point *a, const ulna_line_point *b)
{
    double width = b->length - a->length;
    double d1 = a->slope + b->slope - 3 * (b->value - a->value) / width;
    double d2 = copysign(sqrt(d1 * d1 - a->slope * b->slope), width);
    return b->length - width * (b->slope + d2 - d1) / (b->slope - a->slope + 2 * d2);
}

/* The same for the parabola through a's value and slope and b's value. */
static double parabola(const ulna_line_point *a, const ulna_line_point *b)
{
    double width = b->length - a->length;
    return a->length - 0.5 * a->slope * width * width / (b->value - a->value - a->slope * width);
}

/* Nearest to x within [low, high], which may come in either order; `otherwise` if x is not a number. */
static double between(double x, double low, double high, double otherwise)
{
    return isfinite(x) ? fmin(fmax(x, fmin(low, high)), fmax(low, high)) : otherwise;
}

/* Nocedal & Wright 3.6. A bracket that does not shrink by a third in two rounds is halved. */
static ulna_status zoom(search *w, ulna_line_point lo, ulna_line_point hi, ulna_line_point *point, int *found)
{
    double before = (double)INFINITY;
    *found = 0;
    for (int round = 0; w->left > 0; round++) {
        double width = hi.length - lo.length, middle = lo.length + 0.5 * width;
        if (round % 2 == 0 && fabs(width) > 0.66 * before)
            middle = (double)NAN;
        if (round % 2 == 0)
            before = fabs(width);
        if (fabs(width) * fabs(w->start->slope) <= w->rule->noise || fabs(width) <= 1e-15 * hi.length)
            break;
        double guess = isinf(hi.value)   ? lo.length + 0.1 * width
                       : isnan(hi.slope) ? parabola(&lo, &hi)
                                         : cubic(&lo, &hi);
        double at = isnan(middle) ? lo.length + 0.5 * width
                                  : between(guess, lo.length + 0.1 * width, hi.length - 0.1 * width, middle);
        ulna_line_point trial;
        ulna_status status = look(w, at, &trial);
        if (status != ULNA_OK)
            return status;
        if (!is_low(w, &trial) || trial.value > lo.value) {
            hi = trial;
            continue;
        }
        *point = trial;
        if (is_flat(w, &trial)) {
            *found = 1;
            return ULNA_OK;
        }
        if (trial.slope * width >= 0)
            hi = lo;
        lo = trial;
    }
    *point = lo;
    return ULNA_OK;
}

/* Armijo's rule: shorter and shorter, by interpolation, until the first condition holds. */
static ulna_status backtrack(search *w, ulna_line_point *point, int *found)
{
    double length = fmin(w->rule->first, w->rule->most);
    *found = 0;
    while (w->left > 0 && length * fabs(w->start->slope) > w->rule->noise * w->rule->sufficient) {
        ulna_line_point trial;
        ulna_status status = look(w, length, &trial);
        if (status != ULNA_OK)
            return status;
        if (is_low(w, &trial)) {
            *point = trial;
            *found = 1;
            return ULNA_OK;
        }
        length = between(isinf(trial.value) ? 0 : parabola(w->start, &trial), 0.1 * length, 0.5 * length, 0.5 * length);
    }
    *point = *w->start;
    return ULNA_OK;
}

ulna_status ulna_wolfe(ulna_line_function function, void *context, const ulna_line_point *start,
                       const ulna_line_rule *rule, ulna_line_point *point, int *found)
{
    search w = {function, context, rule, start, rule->evaluations};
    ulna_line_point before = *start, trial;
    *point = *start;
    *found = 0;
    if (!(rule->curvature > 0))
        return backtrack(&w, point, found);

    /* Nocedal & Wright 3.5: longer and longer until a bracket is found. */
    for (double length = fmin(rule->first, rule->most); w.left > 0;) {
        ulna_status status = look(&w, length, &trial);
        if (status != ULNA_OK)
            return status;
        if (!is_low(&w, &trial) || trial.value > before.value)
            return zoom(&w, before, trial, point, found);
        *point = trial;
        if (is_flat(&w, &trial) || (trial.slope < 0 && length >= rule->most)) {
            *found = 1;
            return ULNA_OK;
        }
        if (trial.slope >= 0)
            return zoom(&w, trial, before, point, found);
        double guess = cubic(&before, &trial);
        length =
            fmin(between(guess > length ? guess : (double)NAN, 1.5 * length, 5 * length, 2.5 * length), rule->most);
        before = trial;
    }
    return ULNA_OK;
}

/* ---- along a direction of a solver ------------------------------------------------------------------------------- */

typedef struct path {
    ulna_solver *s;
    ulna_line *line;
    const double *direction;
    double slope_length; /* where line->gradient was taken; -1: nowhere */
} path;

void ulna_line_layout(const ulna_solver *s, ulna_line *line, ulna_arena *arena)
{
    line->step = ulna_arena_take(arena, (size_t)s->nv, sizeof(double));
    line->gradient = ulna_arena_take(arena, (size_t)s->nv, sizeof(double));
}

/* Does the direction leave through a limit that the DOF is on? */
static int is_stopped(const ulna_solver *s, const double *direction, int dof)
{
    int at = s->bounded ? ulna_at_limit(s, s->q, dof) : 0;
    return at == 2 || at * direction[dof] > 0;
}

/* s->trial = P(q + length d), and line->step how q moved. Was a limit met on the way? */
static int project(const path *p, double length)
{
    ulna_solver *s = p->s;
    double *step = p->line->step;
    int met = 0;
    for (int j = 0; j < s->nv; j++)
        step[j] = length * p->direction[j];
    ulna_model_integrate(s->model, s->q, step, s->trial);
    for (int j = 0; s->bounded && j < s->nv; j++) {
        int c = s->model->dof_coordinate[j];
        if (c < 0 || (s->trial[c] >= s->lower[j] && s->trial[c] <= s->upper[j]))
            continue;
        s->trial[c] = s->trial[c] < s->lower[j] ? s->lower[j] : s->upper[j];
        step[j] = s->trial[c] - s->q[c];
        met |= step[j] != 0;
    }
    return met;
}

static ulna_status walk(void *context, int want_slope, ulna_line_point *point)
{
    path *p = context;
    ulna_solver *s = p->s;
    point->met = project(p, point->length);
    point->linear = ulna_slope_along(s, p->line->step);
    p->slope_length = -1;
    ulna_status status = ulna_try_q(s, &point->value);
    point->slope = (double)NAN;
    if (status != ULNA_OK || !want_slope || isinf(point->value))
        return status;
    status = ulna_work_gradient(s->work, p->line->gradient);
    s->result.gradients++;
    point->slope = 0;
    for (int j = 0; j < s->nv; j++)
        if (p->line->step[j] == point->length * p->direction[j])
            point->slope += p->line->gradient[j] * p->direction[j];
    p->slope_length = point->length;
    return status;
}

/* The longest step that makes sense. */
static double longest(const ulna_solver *s, const double *direction)
{
    double part = 0;
    for (int j = 0; j < s->nv; j++) {
        double most = ulna_model_dof_is_translation(s->model, j) ? TRANSLATION_MOST : ROTATION_MOST;
        part = fmax(part, fabs(direction[j]) / s->unit[j] / most);
    }
    return 1 / part;
}

/* Residuals r have the rounding of lengths, so f = r^2 / 2 has r times that. */
static double rounding(const ulna_solver *s)
{
    return NOISE * (s->f + sqrt(s->f * s->curvature));
}

ulna_status ulna_line_walk(ulna_solver *s, ulna_line *line, const double *direction, double first, int *found)
{
    const ulna_options *o = &s->options;
    path p = {s, line, direction, -1};
    ulna_line_point start = {.value = s->f}, point;
    int has_wolfe;
    for (int j = 0; j < s->nv; j++)
        if (!is_stopped(s, direction, j))
            start.slope += s->gradient[j] * direction[j];
    line->slope = start.slope;
    line->noise = rounding(s);
    line->length = line->met = 0;
    *found = 0;
    if (!(start.slope < 0) || !isfinite(start.slope) || !(first > 0))
        return ULNA_OK;

    ulna_line_rule rule = {.sufficient = o->line.sufficient,
                           .curvature = line->curvature != 0 ? line->curvature : o->line.curvature,
                           .first = first,
                           .most = longest(s, direction),
                           .noise = line->noise,
                           .evaluations = EVALUATIONS};
    if (o->line.rule == ULNA_LINE_BACKTRACKING)
        rule.curvature = 0;
    ulna_status status = ulna_wolfe(walk, &p, &start, &rule, &point, &has_wolfe);
    if (status == ULNA_OK && !has_wolfe && point.length > 0) /* the lowest point is not where the work stands */
        status = walk(&p, 0, &point);
    if (status != ULNA_OK)
        return status;
    if (!(point.length > 0))
        return ulna_return(s);
    ulna_accept(s, line->step, 1, point.value);
    if (p.slope_length == point.length) {
        memcpy(s->gradient, line->gradient, (size_t)s->nv * sizeof *s->gradient);
        s->gradient_known = 1;
    }
    line->length = s->now.damping = point.length;
    line->met = point.met;
    *found = 1;
    return ULNA_OK;
}

ulna_status ulna_line_leap(ulna_solver *s, ulna_line *line, const double *direction, double length, int *found)
{
    path p = {s, line, direction, -1};
    double f;
    line->met = project(&p, length);
    ulna_status status = ulna_try_q(s, &f);
    *found = status == ULNA_OK && !isinf(f);
    if (*found)
        ulna_accept(s, line->step, 1, f);
    s->now.damping = line->length = length;
    return status;
}

/* Curvature of f at q along s->step: Gauss-Newton's or the exact one, whichever is larger. */
static ulna_status curvature_along(ulna_solver *s, double *product, double *curvature)
{
    *curvature = 0;
    ulna_status status = ulna_return(s);
    for (int t = 0; t <= 1 && status == ULNA_OK; t++) {
        status = ulna_work_hessian_multiply(s->work, t, s->step, product);
        *curvature = fmax(*curvature, ulna_line_dot(s->nv, s->step, product));
    }
    return status;
}

ulna_status ulna_line_give_up(ulna_solver *s, const ulna_line *line, double predicted)
{
    double curvature, slope = ulna_line_dot(s->nv, s->gradient, s->step);
    ulna_status status = curvature_along(s, line->gradient, &curvature);
    int is_noise = 0.5 * slope * slope <= VISIBLE * line->noise * curvature;
    int is_little = predicted <= fmax(s->options.decrease * s->f, VISIBLE * line->noise);
    s->now.stop = is_noise || is_little ? ULNA_STOP_DECREASE : ULNA_STOP_STALLED;
    return status;
}

ulna_status ulna_line_metric(ulna_solver *s, double *metric, double *largest)
{
    ulna_band diagonal = {.n = s->nv, .width = 0, .entries = metric};
    *largest = 0;
    if (s->options.bfgs.start == ULNA_START_IDENTITY) {
        memcpy(metric, s->scale, (size_t)s->nv * sizeof *metric);
        return ULNA_OK;
    }
    ulna_status status = ulna_work_hessian_band(s->work, 0, &diagonal);
    for (int j = 0; j < s->nv && status == ULNA_OK; j++) {
        metric[j] *= s->unit[j] * s->unit[j];
        *largest = fmax(*largest, metric[j]);
    }
    for (int j = 0; j < s->nv; j++) {
        double part = *largest > 0 && isfinite(*largest) ? metric[j] / *largest : 1;
        metric[j] = s->scale[j] / sqrt(part + STIFFNESS_LEAST);
    }
    return status;
}
