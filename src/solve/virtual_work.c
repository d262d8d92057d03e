/*
 * virtual-work: an unconstrained step, and constraint forces that take back what would break the constraints.
 *
 * Source: the survey of techniques, section 6, eq. 17-21, after C. Welman, "Inverse kinematics and geometric constraints
 * for articulated figure manipulation", 1989:
 *
 *   Jc d = 0 (17),   d = d_a + d_c (18),   d_c = JcT beta (virtual work),   beta = -(Jc JcT)^-1 Jc d_a (21).
 *
 *   d_a    what would be done without constraints: virtual_work.step, the gradient step (24) or the damped Gauss-Newton
 *          step (16, 26)
 *   Jc     derivatives of the rows C; all in scaled coordinates, dq = metric y
 *   beta   forces of the constraints; over the length of the gradient step they are the multipliers of f - beta C
 *
 * Changed. (Jc JcT)^-1 is a pseudo-inverse by the SVD of Jc, singular values below dense.tolerance left out, as the survey
 * advises. The survey starts where C = 0 and drifts off; here beta = -(Jc JcT)^+ (Jc d_a + C) also brings C to zero, from any
 * start. Inequalities C >= 0 and limits, which the survey leaves out, belong to the rows while they press (active_rows.h).
 * How far to go is decided by an exact penalty, with one correction for the curvature of the rows, so it cannot diverge; the
 * length of the gradient step is Barzilai and Borwein's, with the gradient of the Lagrangian.
 *
 * Where it stops at a wrong point. The method stops where d = 0, that is, where d_a is a combination of the rows of Jc. With
 * the gradient step that is g = JcT beta, the KKT condition. With a Gauss-Newton step d_a = -M^-1 g it is M^-1 g = JcT beta,
 * which is another condition: the constraints hold, nothing moves, and f is not at its minimum (the right force is M^-1 JcT beta: that is
 * method lagrange). The solver finds the multipliers that explain g best and stops as `stalled`, not converged.
 * With the gradient step it needs thousands of iterations, as `gradient` does. Where constraints contradict each other, it comes
 * to rest where the violation is least nearby, or stalls. Without constraints it is `gradient`, or `gauss-newton`.
 * Cost: O(rows^2 nv) for each change of the active set.
 */
#include "solve/active_rows.h"
#include "solve/line_search.h"

#define KAPPA 0.03         /* damping of the Gauss-Newton step over f */
#define FLOOR 1e-13        /* and at least, of the curvature scale */
#define FIRST_STEP 0.3     /* the first gradient step, radians or length scales */
#define LENGTH_LEAST 1e-12 /* of the first length; and 1 over it, most */
#define ALIKE 0.8          /* ratio of the two lengths of a gradient step */
#define SHORTS 6
#define AT_REST 1e-13  /* a step this short is the last */
#define QUIET_MOST 200 /* iterations in a row in which phi changes by its rounding only */

typedef struct virtual_work {
    ulna_active_rows rows;
    double *metric;  /* nv: dq = metric y */
    double *applied; /* nv: d_a */
    double *last;    /* nv: gradient of the Lagrangian at the last point */
    double *beta;    /* rows: multipliers at q */
    double *A;       /* rows x nv: Jc, active rows and free DOFs, scaled */
    double *U, *VT, *sigma;
    double *right;  /* rows */
    double *forces; /* rows: of the constraints, beside those carried over */
    int *which;     /* rows: numbers of the active ones */
    int active, rank;
    double length;  /* of the gradient step */
    double carried; /* the part of the multipliers that is put on beforehand: the length, 0 for other steps */
    double shorts[SHORTS];
    double first_f; /* where the attempt began */
    int has_last, quiet, failures, iteration;
    ulna_dense_work work;
} virtual_work;

_Static_assert(sizeof(virtual_work) <= ULNA_METHOD_STATE, "state too large");

/* Without constraints. */
static const ulna_method *plain(const ulna_solver *s)
{
    return s->options.virtual_work.step == ULNA_VIRTUAL_GAUSS_NEWTON ? &ulna_method_gauss_newton
                                                                     : &ulna_method_gradient;
}

/* Scratch for any number of active rows: LAPACK does not always need more for more rows. */
static ulna_status need_for_svd(const ulna_solver *s, int rows, ulna_dense_need *most, ulna_error *error)
{
    *most = (ulna_dense_need){0, 0};
    for (int active = 1; active <= rows; active++) {
        ulna_dense_need need;
        if (ulna_dense_svd_need(active, s->nv, &need) != ULNA_OK)
            return ulna_fail(error, ULNA_ERR_LIMIT, "%d rows of constraints are too many for method 'virtual-work'",
                             rows);
        most->reals = need.reals > most->reals ? need.reals : most->reals;
        most->integers = need.integers > most->integers ? need.integers : most->integers;
    }
    return ULNA_OK;
}

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    virtual_work *v = state;
    int rows = ulna_problem_row_count(s->problem);
    size_t m = (size_t)rows, nv = (size_t)s->nv, k = m < nv ? m : nv;
    if (!rows)
        return plain(s)->layout(s, state, arena, error);
    ulna_status status = ulna_active_take(s, &v->rows, arena, error);
    if (status != ULNA_OK)
        return status;
    status = need_for_svd(s, rows, &v->work.have, error);
    if (status != ULNA_OK)
        return status;
    double **per_dof[] = {&v->metric, &v->applied, &v->last},
           **per_row[] = {&v->beta, &v->right, &v->forces, &v->sigma};
    for (size_t i = 0; i < sizeof per_dof / sizeof *per_dof; i++)
        *per_dof[i] = ulna_arena_take(arena, nv, sizeof(double));
    for (size_t i = 0; i < sizeof per_row / sizeof *per_row; i++)
        *per_row[i] = ulna_arena_take(arena, m, sizeof(double));
    v->A = ulna_arena_take(arena, m, nv * sizeof *v->A);
    v->U = ulna_arena_take(arena, m, k * sizeof *v->U);
    v->VT = ulna_arena_take(arena, nv, k * sizeof *v->VT);
    v->which = ulna_arena_take(arena, m, sizeof *v->which);
    v->work.reals = ulna_arena_take(arena, v->work.have.reals, sizeof *v->work.reals);
    v->work.integers = ulna_arena_take(arena, v->work.have.integers, sizeof *v->work.integers);
    return ULNA_OK;
}

static ulna_status begin(ulna_solver *s, void *state)
{
    virtual_work *v = state;
    double most;
    if (!s->constrained)
        return plain(s)->begin ? plain(s)->begin(s, state) : ULNA_OK;
    v->has_last = v->quiet = v->failures = v->iteration = 0;
    v->first_f = s->f;
    for (int i = 0; i < SHORTS; i++)
        v->shorts[i] = (double)INFINITY;
    ulna_status status = ulna_active_begin(s, &v->rows);
    return status == ULNA_OK ? ulna_line_metric(s, v->metric, &most) : status;
}

/* ---- constraint forces: eq. 17-21 ----------------------------------------------------------------------------------- */

static double entry(const ulna_active_rows *rows, int i, int j)
{
    return rows->jacobian[(size_t)j * (size_t)rows->capacity + (size_t)i];
}

/* -(Jc JcT)^+ of `right` (active rows) into the multipliers `beta`, the others 0. */
static void solve_forces(const ulna_active_rows *rows, const virtual_work *v, double *beta)
{
    memset(beta, 0, (size_t)rows->count * sizeof *beta);
    for (int k = 0; k < v->rank; k++) {
        const double *u = v->U + (size_t)k * (size_t)v->active;
        double along = 0;
        for (int i = 0; i < v->active; i++)
            along += u[i] * v->right[i];
        along /= v->sigma[k] * v->sigma[k];
        for (int i = 0; i < v->active; i++)
            beta[v->which[i]] -= along * u[i];
    }
}

/* Metric^2 JcT forces: what the forces do to a DOF. */
static double pushed(const ulna_active_rows *rows, const virtual_work *v, const double *forces, int j)
{
    double sum = 0;
    for (int i = 0; i < rows->count; i++)
        sum += entry(rows, i, j) * forces[i];
    return v->metric[j] * v->metric[j] * sum;
}

/* Jc by its singular values, for the rows that are active and the DOFs that are free. */
static ulna_status factor(ulna_solver *s, const ulna_active_rows *rows, virtual_work *v)
{
    v->active = v->rank = 0;
    for (int i = 0; i < rows->count; i++)
        if (rows->is_active[i])
            v->which[v->active++] = i;
    for (int j = 0; j < s->nv; j++)
        for (int i = 0; i < v->active; i++)
            v->A[(size_t)j * (size_t)v->active + (size_t)i] =
                rows->hold[j] ? 0 : entry(rows, v->which[i], j) * v->metric[j];
    s->result.factorisations++;
    ulna_status status = ulna_dense_svd(v->active, s->nv, v->A, v->sigma, v->U, v->VT, &v->work);
    int most = v->active < s->nv ? v->active : s->nv;
    double least = fmax(s->options.dense.tolerance, 1e-15);
    while (status == ULNA_OK && v->rank < most && v->sigma[v->rank] > least * v->sigma[0])
        v->rank++;
    return status;
}

/* The forces of the last multipliers are put on beforehand: what is left to solve for is small, and so is its rounding. */
static ulna_status solve(ulna_solver *s, ulna_active_rows *rows, void *context)
{
    virtual_work *v = context;
    ulna_status status = factor(s, rows, v);
    if (status != ULNA_OK)
        return status;
    for (int i = 0; i < rows->count; i++)
        rows->beta[i] = rows->is_active[i] ? v->carried * s->constrained->beta[i] : 0;
    for (int j = 0; j < s->nv; j++)
        rows->step[j] =
            rows->hold[j] ? ulna_active_displacement(s, rows, j) : v->applied[j] + pushed(rows, v, rows->beta, j);
    ulna_active_linearise(rows, s->nv);
    for (int i = 0; i < v->active; i++)
        v->right[i] = rows->linear[v->which[i]];
    solve_forces(rows, v, v->forces);
    for (int i = 0; i < rows->count; i++)
        rows->beta[i] += v->forces[i];
    for (int j = 0; j < s->nv; j++) {
        double metric2 = v->metric[j] * v->metric[j];
        rows->force[j] = 0;
        if (!rows->hold[j])
            rows->step[j] += pushed(rows, v, v->forces, j);
        else if (rows->hold[j] != ULNA_LOCKED)
            rows->force[j] = (rows->step[j] - v->applied[j] - pushed(rows, v, rows->beta, j)) / metric2;
    }
    ulna_active_linearise(rows, s->nv);
    return ULNA_OK;
}

static ulna_status correct(ulna_solver *s, ulna_active_rows *rows, void *context, const double *value, double *step)
{
    virtual_work *v = context;
    for (int i = 0; i < v->active; i++)
        v->right[i] = value[v->which[i]];
    solve_forces(rows, v, v->forces);
    for (int j = 0; j < s->nv; j++)
        step[j] += rows->hold[j] ? 0 : pushed(rows, v, v->forces, j);
    return ULNA_OK;
}

/* ---- the applied step ------------------------------------------------------------------------------------------------ */

/* d_a = -length metric^2 g, without the DOFs that cannot move. */
static void apply_gradient(const ulna_solver *s, virtual_work *v, double length)
{
    v->carried = length;
    for (int j = 0; j < s->nv; j++)
        v->applied[j] = s->locked[j] ? 0 : -length * v->metric[j] * v->metric[j] * v->rows.gradient[j];
}

/* Before there is a last step: what would bring f to 0, but no more than FIRST_STEP. */
static double first_length(const ulna_solver *s, const virtual_work *v)
{
    double gg = 0, most = 0;
    for (int j = 0; j < s->nv; j++) {
        double m = v->metric[j], g = s->locked[j] ? 0 : v->rows.gradient[j] * m;
        gg += g * g;
        most = fmax(most, fabs(g * m) * s->inverse_unit[j]);
    }
    return gg > 0 ? fmin(2 * s->f / gg, FIRST_STEP / most) : 1;
}

/* Barzilai and Borwein's lengths with the Lagrangian: the longer one if both agree, else the least of the last short ones. */
static double gradient_length(const ulna_solver *s, virtual_work *v)
{
    double ss = 0, sy = 0, yy = 0;
    if (!v->has_last)
        return first_length(s, v);
    for (int j = 0; j < s->nv; j++) {
        if (v->rows.hold[j])
            continue;
        double step = v->rows.taken[j] / v->metric[j], change = (s->gradient[j] - v->last[j]) * v->metric[j];
        ss += step * step;
        sy += step * change;
        yy += change * change;
    }
    if (!(sy > 0))
        return 2 * v->length;
    double shortest = v->shorts[v->iteration % SHORTS] = sy / yy;
    if (sy * sy > ALIKE * ss * yy)
        return ss / sy;
    for (int i = 0; i < SHORTS; i++)
        shortest = fmin(shortest, v->shorts[i]);
    return shortest;
}

static ulna_status apply_gauss_newton(ulna_solver *s, virtual_work *v)
{
    double lambda = fmax(KAPPA * s->f, FLOOR * s->curvature);
    ulna_step_options options = {.t = 0, .shift = s->shift, .locked = s->has_locked ? s->locked : NULL};
    for (int j = 0; j < s->nv; j++)
        s->shift[j] = lambda * s->metric[j];
    v->carried = 0;
    s->now.damping = lambda;
    s->result.factorisations++;
    return ulna_work_step(s->work, &options, v->applied, NULL, NULL);
}

static ulna_status explain(ulna_solver *s, virtual_work *v, const ulna_active_solver *solver)
{
    double length = ulna_active_short(s, &v->rows, v->metric);
    apply_gradient(s, v, length);
    ulna_status status = ulna_active_explain(s, &v->rows, solver);
    for (int i = 0; i < v->rows.count; i++)
        v->beta[i] = v->rows.beta[i] / length;
    return status;
}

/* d, and the multipliers at q. */
static ulna_status find_step(ulna_solver *s, virtual_work *v, const ulna_active_solver *solver)
{
    ulna_active_rows *rows = &v->rows;
    ulna_status status;
    if (s->options.virtual_work.step == ULNA_VIRTUAL_GAUSS_NEWTON) {
        status = explain(s, v, solver);
        rows->allowed = fmax(0, v->first_f - s->f); /* it need not lead down: it goes to where it comes to rest */
        if (status == ULNA_OK)
            status = apply_gauss_newton(s, v);
        return status == ULNA_OK ? ulna_active_solve(s, rows, solver) : status;
    }
    double usual = first_length(s, v);
    v->length = gradient_length(s, v);
    if (!(v->length >= LENGTH_LEAST * usual && v->length * LENGTH_LEAST <= usual))
        v->length = usual;
    s->now.damping = v->length;
    apply_gradient(s, v, v->length);
    status = ulna_active_solve(s, rows, solver);
    for (int i = 0; i < rows->count; i++)
        v->beta[i] = rows->beta[i] / v->length;
    return status;
}

/* ---- one iteration ---------------------------------------------------------------------------------------------------- */

static ulna_status iterate(ulna_solver *s, void *state)
{
    virtual_work *v = state;
    if (!s->constrained)
        return plain(s)->iterate(s, state);
    ulna_active_solver solver = {solve, correct, v};
    int found;
    s->now.unsettled = 1; /* the KKT residual decides */
    if (s->nv == 0)
        return ulna_active_stand(s);
    if (v->rows.is_approaching) {
        v->has_last = v->failures = 0;
        return ulna_active_approach(s, &v->rows);
    }
    ulna_status status = ulna_active_here(s, &v->rows);
    if (status == ULNA_OK)
        status = find_step(s, v, &solver);
    if (status == ULNA_OK)
        status = ulna_active_settle(s, v->beta);
    if (status != ULNA_OK || s->now.stop != ULNA_STOP_NONE)
        return status;
    memcpy(v->last, s->gradient, (size_t)s->nv * sizeof *v->last);
    status = ulna_active_search(s, &v->rows, &solver, v->beta, &found);
    if (status != ULNA_OK)
        return status;
    v->quiet = found && v->rows.is_quiet ? v->quiet + 1 : 0;
    v->failures = found ? 0 : v->failures + 1;
    v->has_last = found;
    v->iteration++;
    ulna_active_watch(s, &v->rows, found);
    int is_at_rest = found && s->now.step <= AT_REST;
    if (v->rows.is_approaching)
        return ULNA_OK;
    if (v->failures > 1 || v->quiet > QUIET_MOST || is_at_rest)
        return ulna_active_give_up(s);
    return status;
}

const ulna_method ulna_method_virtual_work = {
    .info = {.name = "virtual-work",
             .summary =
                 "gradient steps with forces that keep the constraints; slow, and wrong with a Gauss-Newton step",
             .source = "IK-techniques survey, section 6 eq. 17-21, after Welman 1989",
             .supports =
                 "all terms, all joints, hard constraints; without constraints it is `gradient`. With "
                 "virtual_work.step = gauss-newton it comes to rest where M^-1 g, and not g, is a combination of "
                 "the constraints' rows: f is not at its minimum there, and the solve ends as stalled",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE | ULNA_METHOD_LAPACK | ULNA_METHOD_CONSTRAINED,
             .iterations = 20000},
    .uses_gradient = 1,
    .checks_kkt = 1,
    .patience = 10,
    .layout = layout,
    .begin = begin,
    .iterate = iterate,
};
