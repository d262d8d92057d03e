/*
 * Leaving a saddle point, and knowing a minimum.
 *
 * Where the gradient vanishes, the exact Hessian H tells a minimum from a saddle point: a straight arm whose goal lies on its
 * own line is the everyday case. H itself is never formed. Elimination says whether H + sigma is positive definite, at
 * O(DOF); bisection brackets the most negative eigenvalue -sigma*; and inverse iteration with H + sigma, sigma a
 * little above sigma*, turns any vector into its eigenvector. All in the scaled coordinates of solver.h, on DOFs that
 * are free.
 */
#include "solve/least_squares.h"

#include "math/math3.h"

#include <string.h>

#define LEAST_OWN 1e-14 /* of the curvature of the DOF above: less is rounding */
#define ENOUGH 1e-3     /* of the shift that would do: a pivot is then still above rounding */
#define HALF_TURN 1e-6  /* radians: so near to half a turn an angle has no derivatives */

enum { BISECTIONS = 12, INVERSE_ITERATIONS = 4, HALVINGS = 12 };

/* Is the exact Hessian with s->shift positive definite on the free DOFs (s->held)? Its factors are then at hand. */
static ulna_status is_definite_shifted(ulna_solver *s, int *definite)
{
    ulna_step_options options = {.t = 1, .shift = s->shift, .locked = s->held};
    s->result.factorisations++;
    ulna_status status = ulna_work_step(s->work, &options, s->step, NULL, NULL);
    *definite = status == ULNA_OK;
    return status == ULNA_ERR_INDEFINITE || status == ULNA_ERR_SINGULAR ? ULNA_OK : status;
}

static ulna_status is_definite(ulna_solver *s, double sigma, int *definite)
{
    for (int j = 0; j < s->nv; j++)
        s->shift[j] = sigma * s->metric[j];
    return is_definite_shifted(s, definite);
}

/* Raises own[j], a lower bound of element j of diag(JtJ), to what this goal adds to it, for each DOF j that moves the goal and whose
 * own[j] is not enough yet. */
static void add_pull(const ulna_solver *s, int l, const ulna_pull *pull, double sigma, double *own)
{
    const ulna_pose *pose = s->work->pose;
    const double *frame = (const double *)(pose->frame + 4 * (size_t)l), *at = (const double *)&pull->local;
    double p[3], v[3], weight = ((const double *)&pull->goal)[3];
    for (int i = 0; i < 3; i++)
        p[i] = frame[i] * at[0] + frame[4 + i] * at[1] + frame[8 + i] * at[2] + frame[12 + i] * at[3];
    for (int j = s->model->link[l].dof + s->model->link[l].dof_count - 1; j >= 0; j = s->model->tree.parent[j]) {
        if (ULNA_VERIFIED * own[j] > ENOUGH * sigma * s->metric[j])
            continue;
        const double *motion = (const double *)(pose->motion + 2 * (size_t)j);
        ulna_cross(motion, p, v);
        for (int i = 0; i < 3; i++)
            v[i] += at[3] * motion[4 + i];
        own[j] = fmax(own[j], weight * ulna_dot(v, v));
    }
}

/*
 * The shift of ulna_verify. Every DOF is measured by its own curvature, so that a finger counts as much as a leg: diag(JtJ). A DOF
 * that moves no goal has none, but for rounding: below `least` of the next DOF above of its kind, it is measured by that.
 */
static void shift_by_own_curvature(ulna_solver *s, double least, double *own)
{
    for (int j = 0; j < s->nv; j++) {
        int above = s->model->tree.parent[j];
        while (above >= 0 && !ulna_is_same_kind(s->model, above, j))
            above = s->model->tree.parent[above];
        if (above >= 0 && own[j] < least * own[above])
            own[j] = own[above];
        s->shift[j] = ULNA_VERIFIED * own[j];
    }
}

/* A shift that proves both claims, that of ulna_is_minimum and that of ulna_verify: no element is above either of theirs. */
static void take_smaller_shift(ulna_solver *s, double sigma)
{
    const ulna_problem *problem = s->problem;
    double *own = s->displacement;
    int has_others = problem->extra_count || problem->coordinate_count || problem->coupling_count;
    memset(own, 0, (size_t)s->nv * sizeof *own);
    for (int l = s->model->nl - 1; l >= 0; l--)
        for (int i = problem->pull_first[l]; i < problem->pull_first[l + 1]; i++)
            add_pull(s, l, &problem->pull[i], sigma, own);
    /* An own[j] that stayed so small has seen every goal: it is the largest part of a sum, and the sum is small too. */
    shift_by_own_curvature(s, has_others ? 0 : LEAST_OWN / (1 + problem->pull_count), own);
    for (int j = 0; j < s->nv; j++)
        s->shift[j] = fmin(s->shift[j], sigma * s->metric[j]);
}

ulna_status ulna_is_minimum(ulna_solver *s, int *minimum)
{
    double sigma = ULNA_SEMIDEFINITE * s->curvature;
    ulna_status status = ulna_gradient_here(s);
    if (status != ULNA_OK)
        return status;
    ulna_mark_held(s);
    take_smaller_shift(s, sigma);
    status = is_definite_shifted(s, minimum);
    if (status == ULNA_OK && !*minimum)
        return is_definite(s, sigma, minimum);
    *minimum = *minimum ? ULNA_VERIFIED_MINIMUM : 0;
    return status;
}

/* Does every term have second derivatives at q? An aim has none at its own goal, an angle none at half a turn. */
static int is_smooth(const ulna_solver *s)
{
    double error, angle[3], p[3], to[3];
    if (s->problem->robust.loss) /* the Hessian has the weights of a robust loss, not their change */
        return 0;
    for (size_t i = 0; i < s->problem->term_count; i++) {
        const ulna_term *term = &s->problem->term[i];
        if (!(ulna_term_weight(s->problem, term) > 0))
            continue;
        if (term->type == ULNA_TERM_AIM) {
            ulna_body_place place;
            ulna_work_place(s->work, term->body, &place);
            ulna_term_point(term, &place, p, to);
            if (!(ulna_norm(to) > term->nearest))
                return 0;
        } else if (term->type == ULNA_TERM_GEODESIC) {
            if (ulna_work_term_error(s->work, (int)i, &error) != ULNA_OK || !(error < ULNA_PI - HALF_TURN))
                return 0;
        } else if (term->type == ULNA_TERM_POSTURE) {
            for (int j = 0; j < s->nv; j++) {
                int part = s->model->dof_part[j];
                if (s->model->dof_coordinate[j] >= 0)
                    continue;
                angle[part] = ulna_coordinate_error(s->work, term, j);
                if (part == 2 && !(ulna_norm(angle) < ULNA_PI - HALF_TURN))
                    return 0;
            }
        }
    }
    return 1;
}

ulna_status ulna_verify(ulna_solver *s, int minimum, int *verified)
{
    double largest, *own = s->displacement;
    ulna_status status = ulna_gradient_here(s);
    *verified = status == ULNA_OK && minimum && is_smooth(s);
    if (!*verified || minimum == ULNA_VERIFIED_MINIMUM)
        return status;
    *verified = 0;
    status = ulna_normal_diagonal(s, own, &largest);
    if (status != ULNA_OK)
        return status;
    ulna_mark_held(s);
    shift_by_own_curvature(s, LEAST_OWN, own);
    return is_definite_shifted(s, verified);
}

/* The direction of the most negative curvature into s->step, its largest component 1 unit. */
static ulna_status negative_direction(ulna_solver *s, int *found)
{
    double low = ULNA_SEMIDEFINITE * s->curvature, high = low;
    int definite = 0;
    *found = 0;
    for (int i = 0; i < 60 && !definite; i++) {
        low = high;
        high *= 16;
        ulna_status status = is_definite(s, high, &definite);
        if (status != ULNA_OK)
            return status;
    }
    for (int i = 0; i < BISECTIONS && definite; i++) {
        double middle = sqrt(low * high);
        int middle_definite;
        ulna_status status = is_definite(s, middle, &middle_definite);
        if (status != ULNA_OK)
            return status;
        *(middle_definite ? &high : &low) = middle;
    }
    ulna_status status = is_definite(s, high, &definite);
    if (status != ULNA_OK || !definite)
        return status;

    /* (S H S + sigma) y = r with step = S y: right-hand side r / scale, and r = y for the next round is step / scale. */
    double *x = s->step;
    for (int j = 0; j < s->nv; j++)
        x[j] = s->held[j] ? 0 : (0.5 + ulna_random_uniform(&s->random)) * (j % 2 ? 1 : -1) / s->scale[j];
    for (int i = 0; i < INVERSE_ITERATIONS; i++) {
        status = ulna_work_step_solve(s->work, x, x);
        double size = ulna_step_size(s, x);
        if (status != ULNA_OK || !(size > 0) || isinf(size))
            return status;
        for (int j = 0; j < s->nv; j++)
            x[j] /= i + 1 < INVERSE_ITERATIONS ? size * s->scale[j] * s->scale[j] : size;
    }
    *found = 1;
    return ULNA_OK;
}

ulna_status ulna_escape(ulna_solver *s, int *escaped)
{
    int found;
    double f;
    *escaped = 0;
    ulna_status status = negative_direction(s, &found);
    if (status != ULNA_OK || !found)
        return status;
    double length = ulna_slope_along(s, s->step) > 0 ? -0.5 : 0.5, start = s->f;
    for (int i = 0; i < HALVINGS; i++, length /= 2) /* both ways at each length: limits may bar one of them */
        for (int side = 0; side < 2; side++, length = -length) {
            status = ulna_try(s, s->step, length, &f);
            if (status != ULNA_OK)
                return status;
            if (f < start - 1e-12 * start) {
                ulna_accept(s, s->step, length, f);
                s->now.unsettled = 1;
                *escaped = 1;
                return ULNA_OK;
            }
        }
    return ulna_return(s);
}
