/*
 * The step of an exact Newton method inside a trust region and inside the limits, by eliminations of O(DOF) alone.
 *
 * Source: J. J. More, D. C. Sorensen, "Computing a trust region step", SIAM J. Sci. Stat. Comput. 4, 1983; A. R.
 * Conn, N. I. M. Gould, P. L. Toint, "Trust-region methods", 2000, section 7.3. In the scaled coordinates y = step /
 * scale of solver.h, p minimises the model over |y| <= radius if and only if, for some sigma >= 0,
 *
 *     (H + sigma M) p = -g,   H + sigma M positive semidefinite,   sigma (radius - |y|) = 0,    M = 1 / scale^2.
 *
 *   sigma   found by Newton's method on 1 / |y(sigma)| - 1 / radius, which is almost a straight line, between bounds
 *           low and high. The derivative takes one more solve with the same factors.
 *   z       an approximation of the lowest eigenvector of the scaled H, by inverse iteration with these factors;
 *           -z H z is a lower bound of sigma, and rho = z (H + sigma M) z says how good z is.
 *   hard    where g has (almost) no component along z, |y(sigma)| stays below the radius until H + sigma M is singular.
 *           Then p + tau z, on the sphere, is as good to a tenth if tau^2 rho is small (More and Sorensen, lemma
 *           3.4). So saddle points are left, even where the gradient is zero.
 *
 * Changed: H is never there, only the verdict of eliminations; since these cannot tell semidefinite from slightly
 * indefinite, sigma starts from a floor just above rounding, which also keeps redundant skeletons from drifting. And
 * f >= 0: where H is indefinite, a model that promises more than f is wrong, as it usually is about directions that
 * hardly matter. So a step inside the sphere is good enough if it gains half of what the model, or f itself, has to
 * give. And where minima form a valley, as in redundant skeletons, its floor seems to bend down as long as one is not
 * on it. If the sphere was tried in vain, a step is preferred that gains anything at all without going far along z.
 *
 * Limits: DOFs on a limit that the gradient presses on are held; DOFs that the step would take past a limit become
 * prescribed displacements onto it, and the rest is solved again on that face, in what they leave of the radius. All
 * of them at once, as a rule. That may undo the gain: if less is left than the straight way to the first limit would
 * give, again with one at a time. Short steps are those of a projected gradient, so that there is always a radius
 * that works.
 */
#include "solve/trust_region.h"

#include <float.h>

#define FLOOR 1e-13    /* of the curvature scale */
#define SLACK 0.1      /* the radius is met to this part */
#define OPTIMALITY 0.1 /* in the hard case, the part of the decrease that may be missing */
#define ENOUGH 0.5     /* of what could be gained: see above */
#define WORTH 0.1      /* of what the straight way to the first limit gains: less, and limits are met one by one */
#define VISIBLE 1e-15  /* of f: a smaller gain is none */

enum { ROUNDS = 60, INVERSE_ITERATIONS = 2 };

void ulna_trust_layout(const ulna_solver *s, ulna_trust *t, ulna_arena *arena)
{
    t->eigen = ulna_arena_take(arena, (size_t)s->nv, sizeof(double));
    t->solved = ulna_arena_take(arena, (size_t)s->nv, sizeof(double));
}

void ulna_trust_begin(const ulna_solver *s, ulna_trust *t)
{
    memset(t->eigen, 0, (size_t)s->nv * sizeof *t->eigen);
    t->floor = t->sigma = FLOOR * s->curvature;
    t->lowest = 0;
    t->is_modest = t->is_negative = 0;
}

/* ---- on one face ------------------------------------------------------------------------------------------------- */

/* Where sigma is looked for. */
typedef struct search {
    double radius;    /* what the held DOFs leave of it */
    double sigma;     /* of the factors at hand */
    double low, high; /* sigma lies between: below `low` the matrix is indefinite or the step too long */
    double length;    /* |y| of the free DOFs */
    double decrease;  /* of the model with the shift, as ulna_work_step says */
    double rho, tau;  /* of the eigenvector; tau = 0: it is not added */
} search;

/* a.b in the scaled coordinates, over the free DOFs. */
static double product(const ulna_solver *s, const double *a, const double *b)
{
    double sum = 0;
    for (int j = 0; j < s->nv; j++)
        if (!s->held[j])
            sum += a[j] * b[j] * s->metric[j];
    return sum;
}

/* The step for this sigma; `definite` 0 if the matrix is not. */
static ulna_status shifted_step(ulna_solver *s, search *on, double sigma, int *definite)
{
    for (int j = 0; j < s->nv; j++)
        s->shift[j] = sigma * s->metric[j];
    ulna_step_options options = {.t = 1, .shift = s->shift, .locked = s->held, .displacement = s->displacement};
    s->result.factorisations++;
    ulna_status status = ulna_work_step(s->work, &options, s->step, &on->decrease, NULL);
    on->sigma = sigma;
    *definite = status == ULNA_OK;
    on->length = *definite ? sqrt(product(s, s->step, s->step)) : 0;
    return status == ULNA_ERR_INDEFINITE || status == ULNA_ERR_SINGULAR ? ULNA_OK : status;
}

/* x = (H + sigma M)^-1 M x: one inverse iteration. */
static ulna_status invert(ulna_solver *s, const double *x, double *solved)
{
    for (int j = 0; j < s->nv; j++)
        solved[j] = s->held[j] ? 0 : x[j] * s->metric[j];
    return ulna_work_step_solve(s->work, solved, solved);
}

/* Improves t->eigen and measures it: on->rho; INFINITY if there is none, for want of free DOFs. A trace of chance is
 * added, lest it be caught in a wrong eigenvector. */
static ulna_status lowest_eigenvector(ulna_solver *s, ulna_trust *t, search *on)
{
    double *z = t->eigen, *w = t->solved, known = sqrt(product(s, z, z)), chance = known > 0 ? 0.01 * known : 1;
    on->rho = (double)INFINITY;
    for (int j = 0; j < s->nv; j++)
        z[j] += chance / sqrt(s->nv) * (ulna_random_uniform(&s->random) - 0.5) * s->scale[j];
    for (int i = 0; i < (known > 0 ? INVERSE_ITERATIONS : 2 * INVERSE_ITERATIONS); i++) {
        ulna_status status = invert(s, z, w);
        double ww = product(s, w, w);
        if (status != ULNA_OK || !(ww > 0) || isinf(ww))
            return status;
        on->rho = product(s, w, z) / ww;
        for (int j = 0; j < s->nv; j++)
            z[j] = w[j] / sqrt(ww);
    }
    return ULNA_OK;
}

/* How much of z, or of -z, limits bar at once. */
static double barred(const ulna_solver *s, const double *z, int side)
{
    double sum = 0;
    for (int i = 0; i < s->limited_count; i++) {
        int j = s->limited[i], at = ulna_at_limit(s, s->q, j);
        sum += !s->held[j] && at * side * z[j] > 0 ? z[j] * z[j] * s->metric[j] : 0;
    }
    return sum;
}

/*
 * The step is too short though the matrix is barely definite: is it good enough with the eigenvector added up to the
 * sphere? Of the two ways the one that lowers the model more, which is where sigma y z tau > 0: along the step. If
 * there is none, the one that limits leave open.
 */
static int is_hard_case(const ulna_solver *s, const ulna_trust *t, search *on)
{
    if (isinf(on->rho))
        return 0;
    double along = product(s, s->step, t->eigen);
    double gap = (on->radius - on->length) * (on->radius + on->length);
    double tau = gap / (fabs(along) + sqrt(along * along + gap)), worth = 2 * on->decrease;
    int is_free = fabs(along) <= 1e-9 * on->radius;
    int side = is_free ? (barred(s, t->eigen, 1) <= barred(s, t->eigen, -1) ? 1 : -1) : along < 0 ? -1 : 1;
    if (tau * tau * on->rho > OPTIMALITY * (worth + on->sigma * on->radius * on->radius))
        return 0;
    on->tau = side * tau;
    return 1;
}

/* A step inside the sphere, where the matrix is indefinite: does it gain enough? */
static int is_enough(const ulna_solver *s, const ulna_trust *t, const search *on)
{
    double gained = on->decrease + 0.5 * on->sigma * on->length * on->length;
    double most = on->decrease + 0.5 * on->sigma * on->radius * on->radius;
    return gained >= ENOUGH * fmin(most, s->f) || (t->is_modest && gained > VISIBLE * s->f);
}

/* Newton's next sigma for |y| = radius. */
static ulna_status newton_sigma(ulna_solver *s, ulna_trust *t, const search *on, double *sigma)
{
    ulna_status status = invert(s, s->step, t->solved);
    double slope = product(s, s->step, t->solved); /* -1/2 d|y|^2 / d sigma */
    *sigma = on->sigma + (on->length - on->radius) / on->radius * (on->length * on->length) / slope;
    return status;
}

/* `sigma` if it lies well between the bounds, otherwise something in between. */
static double between(const ulna_solver *s, const search *on, double sigma)
{
    if (sigma > on->low && sigma < on->high)
        return sigma;
    if (isinf(on->high))
        return fmax(10 * on->low, 1e-4 * s->curvature);
    return fmax(sqrt(on->low * on->high), on->low + 0.01 * (on->high - on->low));
}

/* sigma where the matrix turned out not to be definite: first the floor is raised up to where that cannot be
 * rounding. */
static double after_indefinite(ulna_solver *s, ulna_trust *t, search *on)
{
    double semidefinite = ULNA_SEMIDEFINITE * s->curvature;
    if (on->sigma < semidefinite)
        return t->floor = fmin(32 * on->sigma, semidefinite);
    t->is_negative = 1;
    on->low = fmax(on->low, on->sigma);
    return between(s, on, 0);
}

/* After a definite matrix with a step that is too short: is it good all the same? */
static ulna_status after_short(ulna_solver *s, ulna_trust *t, search *on, int *done)
{
    on->high = on->sigma;
    *done = on->sigma <= t->floor;
    if (*done)
        return ULNA_OK;
    ulna_status status = lowest_eigenvector(s, t, on);
    if (status != ULNA_OK)
        return status;
    on->low = fmax(on->low, on->sigma - on->rho);
    t->is_negative |= on->low >= ULNA_SEMIDEFINITE * s->curvature;
    *done = t->is_negative && (is_enough(s, t, on) || is_hard_case(s, t, on));
    return ULNA_OK;
}

/* After a definite matrix: `done`, or another sigma. */
static ulna_status after_definite(ulna_solver *s, ulna_trust *t, search *on, double *sigma, int *done)
{
    ulna_status status = ULNA_OK;
    *done = fabs(on->length - on->radius) <= SLACK * on->radius;
    if (!*done && on->length < on->radius)
        status = after_short(s, t, on, done);
    else if (!*done)
        on->low = fmax(on->low, on->sigma);
    if (status != ULNA_OK || *done)
        return status;
    status = newton_sigma(s, t, on, sigma);
    *sigma = !t->is_negative && !(*sigma > t->floor) ? t->floor : between(s, on, *sigma);
    return status;
}

/* The best step with the DOFs that are not held, those that are moving by s->displacement. */
static ulna_status solve_face(ulna_solver *s, ulna_trust *t, search *on)
{
    double sigma = fmax(t->is_modest && t->is_negative ? 4 * t->lowest : t->sigma, t->floor);
    int definite = 0, done = 0;
    t->is_negative = 0;
    for (int round = 0; round < ROUNDS && !done; round++) {
        ulna_status status = shifted_step(s, on, sigma, &definite);
        if (status == ULNA_OK && definite)
            status = after_definite(s, t, on, &sigma, &done);
        else if (status == ULNA_OK)
            sigma = after_indefinite(s, t, on);
        if (status != ULNA_OK)
            return status;
    }
    if (!done) { /* bounds that rounding has brought together */
        if (isinf(on->high))
            return ULNA_ERR_INDEFINITE;
        ulna_status status = shifted_step(s, on, on->high, &definite);
        if (status != ULNA_OK || !definite)
            return status == ULNA_OK ? ULNA_ERR_INDEFINITE : status;
    }
    t->sigma = on->sigma;
    t->lowest = t->is_negative ? on->low : 0;
    t->is_inside = !t->is_negative && on->length <= on->radius && on->sigma <= t->floor;
    if (t->is_negative)
        t->floor = FLOOR * s->curvature;
    return ULNA_OK;
}

/* Adds the eigenvector, and fills in what the step is. */
static void finish_face(ulna_solver *s, ulna_trust *t, const search *on)
{
    double total = 0;
    t->predicted = on->decrease;
    for (int j = 0; j < s->nv; j++) /* ulna_work_step counts the shift in */
        t->predicted += 0.5 * s->shift[j] * s->step[j] * s->step[j];
    if (on->tau != 0) {
        double along = product(s, s->step, t->eigen);
        t->predicted += on->tau * on->sigma * along - 0.5 * on->tau * on->tau * (on->rho - on->sigma);
        for (int j = 0; j < s->nv; j++)
            s->step[j] += s->held[j] ? 0 : on->tau * t->eigen[j];
    }
    for (int j = 0; j < s->nv; j++)
        total += s->step[j] * s->step[j] * s->metric[j];
    t->length = sqrt(total);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* The part of the step that keeps a DOF inside its limits; at most 1. */
static double part_inside(const ulna_solver *s, int dof)
{
    double from = s->q[s->model->dof_coordinate[dof]], step = s->step[dof], to = from + step;
    if (s->held[dof] || (to >= s->lower[dof] && to <= s->upper[dof]))
        return 1;
    return fmin(fmax(((step < 0 ? s->lower[dof] : s->upper[dof]) - from) / step, 0), 1 - DBL_EPSILON);
}

/* The part of the whole step that is inside, 1 if all is. */
static double part_of_all(const ulna_solver *s)
{
    double least = 1;
    for (int i = 0; i < s->limited_count; i++)
        least = fmin(least, part_inside(s, s->limited[i]));
    return least;
}

/* Holds the DOFs that this part of the step, or less, brings to a limit, and prescribes their way onto it. */
static void hold_violators(ulna_solver *s, ulna_trust *t, double part)
{
    for (int i = 0; i < s->limited_count; i++) {
        int j = s->limited[i];
        double own = part_inside(s, j);
        if (own == 1 || own > part)
            continue;
        s->displacement[j] = (s->step[j] < 0 ? s->lower[j] : s->upper[j]) - s->q[s->model->dof_coordinate[j]];
        s->held[j] = 1;
        t->met += s->displacement[j] != 0;
    }
}

/* What the held DOFs leave of the radius; never nothing, or the others could not move around them. */
static double radius_left(const ulna_solver *s, double radius)
{
    double used = 0;
    for (int j = 0; j < s->nv; j++)
        used += s->displacement[j] * s->displacement[j] * s->metric[j];
    return sqrt(fmax(radius * radius - used, 0.01 * radius * radius));
}

/* Face after face until the step is inside; `one_by_one` 0: each holds all DOFs that would leave. `least` receives
 * what the straight way to the first limit would gain. */
static ulna_status solve_faces(ulna_solver *s, ulna_trust *t, double radius, int one_by_one, double *least)
{
    ulna_mark_held(s);
    memset(s->displacement, 0, (size_t)s->nv * sizeof *s->displacement);
    t->met = 0;
    for (int round = 0;; round++) {
        search on = {.radius = radius_left(s, radius), .high = (double)INFINITY};
        ulna_status status = solve_face(s, t, &on);
        if (status != ULNA_OK)
            return status;
        finish_face(s, t, &on);
        double part = part_of_all(s);
        if (round == 0) {
            double slope = ulna_slope_along(s, s->step);
            *least = -part * slope + part * part * (t->predicted + slope);
        }
        if (part == 1)
            return ULNA_OK;
        hold_violators(s, t, one_by_one ? part * (1 + 1e-9) : 1);
    }
}

ulna_status ulna_trust_step(ulna_solver *s, ulna_trust *t, double radius)
{
    double least;
    ulna_status status = ulna_gradient_here(s);
    if (status == ULNA_OK)
        status = solve_faces(s, t, radius, 0, &least);
    if (status == ULNA_OK && (t->predicted < WORTH * least || t->predicted <= 0))
        status = solve_faces(s, t, radius, 1, &least);
    return status;
}
