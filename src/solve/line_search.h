/*
 * line_search.h (private): how far to go along a direction.
 *
 * ulna_wolfe is the one-dimensional search alone; ulna_line_walk walks a solver along a direction with it, or by plain
 * backtracking, as options.line says. With limits the path is projected onto them: q(length) = P(q + length d).
 */
#ifndef ULNA_SRC_LINE_SEARCH_H
#define ULNA_SRC_LINE_SEARCH_H

#include "solve/solver.h"

/* In four lanes, so that it runs as fast as the processor adds; the same bits everywhere. */
static inline double ulna_line_dot(int n, const double *a, const double *b)
{
    double sum[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int lane = 0; lane < 4; lane++)
            sum[lane] += a[i + lane] * b[i + lane];
    for (; i < n; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* ---- one dimension ----------------------------------------------------------------------------------------------- */

typedef struct ulna_line_point {
    double length; /* alpha */
    double value;  /* phi(alpha); INFINITY where there is none */
    double slope;  /* phi'(alpha) */
    double linear; /* what the slope at 0 makes of it: alpha phi'(0), or on a projected path g (q(alpha) - q) */
    int met;       /* a limit was met on the way: the curvature condition is not asked for */
} ulna_line_point;

/* Fills value, linear and met for point->length; slope as well if `want_slope` and value is finite. */
typedef ulna_status (*ulna_line_function)(void *context, int want_slope, ulna_line_point *point);

typedef struct ulna_line_rule {
    double sufficient; /* c1: value <= start + c1 linear */
    double curvature;  /* c2: |slope| <= c2 |slope at 0|; 0: not asked for (backtracking) */
    double first;      /* the first length to try */
    double most;       /* and the longest */
    double noise;      /* differences of values below this are rounding */
    int evaluations;   /* at most */
} ulna_line_rule;

/*
 * A point that meets the conditions, from `start` (length 0, with slope < 0). It is the last one that was evaluated.
 * `found` 0: none within the evaluations; the point is then the lowest that satisfies the first condition, not
 * necessarily the last, or `start` if none did. Never a point above start->value.
 */
ulna_status ulna_wolfe(ulna_line_function function, void *context, const ulna_line_point *start,
                       const ulna_line_rule *rule, ulna_line_point *point, int *found);

/* ---- along a direction of a solver ------------------------------------------------------------------------------- */

/* Part of a method's state. */
typedef struct ulna_line {
    double *step;     /* nv: how q moved, limits included; after a search that found a point */
    double *gradient; /* nv: scratch */
    double
        curvature; /* c2 in place of the option's; 0: the option's; negative: backtracking. Set it before the search */
    double length; /* alpha of the last search, */
    double slope;  /* the slope it began with, g d over the DOFs that are not stopped, */
    int met;       /* whether it met a limit, */
    double noise;  /* and the rounding of f where it began */
} ulna_line;

/* In the method's layout. */
void ulna_line_layout(const ulna_solver *s, ulna_line *line, ulna_arena *arena);

/*
 * Goes from q along `direction` (nv, in DOFs, not scaled; may be s->step; zero for DOFs that are not to move), first by
 * `first` times it, and accepts a lower point: s->q, s->f, s->now, and s->gradient if it is known there. s->gradient
 * must be known at q; keep a copy if the old one is still needed. `found` 0: there was no lower point, or the direction
 * does not lead down; the solver is back at q. s->displacement is overwritten.
 */
ulna_status ulna_line_walk(ulna_solver *s, ulna_line *line, const double *direction, double first, int *found);

/* Goes along it by `length`, projected in the same way, whether f falls or not. `found` 0: f is not a number there. */
ulna_status ulna_line_leap(ulna_solver *s, ulna_line *line, const double *direction, double length, int *found);

/*
 * After a search down the gradient (s->step, still there) that found nothing: sets s->now.stop. That is `decrease` if f
 * could not fall by more than its rounding there, by the curvature along the way, or if the method's own model says
 * that next to nothing was left: `predicted`, INFINITY for methods without. Otherwise `stalled`.
 */
ulna_status ulna_line_give_up(ulna_solver *s, const ulna_line *line, double predicted);

/*
 * Scales for methods that learn slowly how stiff each DOF is: s->scale over the root of Gauss-Newton's diagonal at q,
 * which is made relative to its largest element (returned, m^2 / rad^2) and not let below a small part of it. The work
 * must stand at q. With options.bfgs.start identity: s->scale alone, and 0.
 */
ulna_status ulna_line_metric(ulna_solver *s, double *metric, double *largest);

#endif
