/*
 * lagrange: Newton's method on the Lagrangian, by dense factorisation.
 *
 * Source: the survey of techniques, section 7.5, eq. 28-31: L = f - beta C (28) is stationary where f is least with C = 0.
 * One iteration solves the KKT system of L linearised at q,
 *
 *   [ H + lambda D   -JT ] [ d     ]   [ -g ]        H   Hessian of L: f's and -beta times the rows'; or Gauss-Newton's
 *   [ J               E  ] [ beta+ ] = [ E beta - C ]   D   1 / scale^2 (solver.h);  E  tiny: rows may repeat each other
 *
 * as a symmetric system, L D LT by Bunch and Kaufman. It is used with H exact if it has as many negative eigenvalues as rows: then H is
 * positive definite where the rows hold. Otherwise with Gauss-Newton's, for which that is always so.
 *
 * Inequalities C >= 0 and limits: by an active set (active_rows.h). With lagrange.slack as in eq. 30, L = f - beta (C - s^2), with
 * a variable s for each inequality:
 *
 *   2 beta ds + 2 s beta+ = 0,   J d - 2 s ds = s^2 - C.
 *
 * That form is for comparison. Where s = 0 it follows that ds = 0: the row is kept as an equation from then on, whatever the
 * sign of beta. A solve that starts on a constraint, or meets it, stays there, though f is lower inside: L is stationary, but beta < 0
 * violates the KKT conditions that the survey refers to. Such an end is `stalled`.
 *
 * Changed: the survey says only that L is to be minimised (a stationary point of L is a saddle, not a minimum). Damping lambda in
 * proportion to f, and an exact penalty with a correction for the curvature of the rows (Maratos), lead there from far away.
 * Fails where linearised rows contradict each other at a start that is far off: it stalls; hybrid goes on. Without constraints
 * it is `newton`.
 * Cost: O((nv + rows)^3) for each change of the active set; hybrid does the same on the tree.
 */
#include "solve/active_rows.h"

#define KAPPA_FIRST 0.03
#define KAPPA_LEAST 1e-12
#define KAPPA_MOST 1e14
#define KAPPA_CUT 1e3 /* at most after steps that were cut; more only after steps that failed */
#define FLOOR 1e-13   /* of the curvature scale */
#define REGULAR 1e-9  /* E over the mean diagonal of J H^-1 JT, roughly */
#define FLAT 1e-5     /* derivatives of rows below this, of the length scale, count as this much for E */
#define REASON 1e4    /* multipliers beyond this, over weight times length scale, are not believed */
#define QUIET_MOST 5  /* iterations in a row in which phi changes by its rounding only */

typedef struct lagrange {
    ulna_active_rows rows;
    int size;           /* of the system: nv, slacks, rows */
    double *hessian;    /* nv x nv */
    double *system;     /* size x size, factored */
    double *right;      /* size */
    double *zeros;      /* rows */
    int *pivot, *place; /* size; rows: where a row stands in the system, or ULNA_NONE */
    int used;           /* rows and columns of the system with the rows that are active */
    double kappa, lambda, give;
    int exact, quiet;
    ulna_dense_work work;
} lagrange;

_Static_assert(sizeof(lagrange) <= ULNA_METHOD_STATE, "state too large");

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    lagrange *l = state;
    int rows = ulna_problem_row_count(s->problem);
    if (!rows)
        return ulna_method_newton.layout(s, state, arena, error);
    ulna_status status = ulna_active_take(s, &l->rows, arena, error);
    if (status != ULNA_OK)
        return status;
    size_t m = (size_t)rows, nv = (size_t)s->nv, n = nv + (s->options.lagrange.slack ? 2 : 1) * m;
    if (n > 16384 || ulna_dense_symmetric_need((int)n, &l->work.have) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_LIMIT,
                         "%d degrees of freedom and %d rows of constraints are too many for method 'lagrange'", s->nv,
                         rows);
    l->size = (int)n;
    l->hessian = ulna_arena_take(arena, nv, nv * sizeof *l->hessian);
    l->system = ulna_arena_take(arena, n, n * sizeof *l->system);
    l->right = ulna_arena_take(arena, n, sizeof *l->right);
    l->zeros = ulna_arena_take(arena, m, sizeof *l->zeros);
    l->pivot = ulna_arena_take(arena, n, sizeof *l->pivot);
    l->place = ulna_arena_take(arena, m, sizeof *l->place);
    l->work.reals = ulna_arena_take(arena, l->work.have.reals, sizeof *l->work.reals);
    if (s->options.lagrange.slack) {
        l->rows.slack = ulna_arena_take(arena, m, sizeof(double));
        l->rows.slack_step = ulna_arena_take(arena, m, sizeof(double));
    }
    return ULNA_OK;
}

static ulna_status begin(ulna_solver *s, void *state)
{
    lagrange *l = state;
    if (!s->constrained)
        return ulna_method_newton.begin(s, state);
    l->kappa = KAPPA_FIRST;
    l->quiet = 0;
    memset(l->zeros, 0, (size_t)l->rows.capacity * sizeof *l->zeros);
    ulna_status status = ulna_active_begin(s, &l->rows);
    for (int i = 0; l->rows.slack && i < s->constrained->count; i++) {
        l->rows.slack[i] = s->constrained->rows[i].is_equation ? 0 : sqrt(fmax(0, s->constrained->rows[i].value));
        l->rows.slack_step[i] = 0;
    }
    return status;
}

/* ---- the system ------------------------------------------------------------------------------------------------------- */

static double *at(const lagrange *l, int row, int column)
{
    return &l->system[(size_t)column * (size_t)l->used + (size_t)row];
}

/* Places of the active rows behind the DOFs and slacks; the size of the system. */
static void place_rows(const ulna_solver *s, const ulna_active_rows *rows, lagrange *l)
{
    l->used = s->nv + (rows->slack ? rows->count : 0);
    for (int i = 0; i < rows->count; i++)
        l->place[i] = rows->is_active[i] ? l->used++ : ULNA_NONE;
}

/* Free DOFs: H + lambda D. Held ones: a unit column, their displacement is on the right. */
static void fill_dofs(const ulna_solver *s, const ulna_active_rows *rows, lagrange *l)
{
    for (int j = 0; j < s->nv; j++) {
        double moved = rows->hold[j] ? ulna_active_displacement(s, rows, j) : 0;
        const double *column = l->hessian + (size_t)j * (size_t)s->nv;
        for (int i = 0; i < s->nv; i++) {
            if (!rows->hold[j] && !rows->hold[i] && i >= j)
                *at(l, i, j) = column[i] + (i == j ? l->lambda * s->metric[j] : 0);
            if (rows->hold[j] && !rows->hold[i])
                l->right[i] -= column[i] * moved;
        }
        if (rows->hold[j]) {
            *at(l, j, j) = 1;
            l->right[j] = moved;
        } else {
            l->right[j] -= rows->gradient[j];
        }
    }
}

/* The rows, with -beta as their unknowns; and slacks. */
static void fill_rows(const ulna_solver *s, const ulna_active_rows *rows, lagrange *l)
{
    const ulna_constrained *c = s->constrained;
    for (int i = 0; i < rows->count; i++) {
        int place = l->place[i], slack = s->nv + i;
        if (rows->slack) {
            double curve = 2 * c->beta[i], damping = l->lambda / s->length;
            *at(l, slack, slack) = c->rows[i].is_equation ? 1 : (l->exact ? curve : fmax(curve, 0)) + damping;
        }
        if (place == ULNA_NONE)
            continue;
        *at(l, place, place) = -l->give;
        l->right[place] = l->give * c->beta[i] - rows->value[i];
        if (rows->slack && !c->rows[i].is_equation)
            *at(l, place, slack) = -2 * rows->slack[i];
        for (int j = 0; j < s->nv; j++) {
            double entry = rows->jacobian[(size_t)j * (size_t)rows->capacity + (size_t)i];
            if (rows->hold[j])
                l->right[place] -= entry * l->right[j];
            else
                *at(l, place, j) = entry;
        }
    }
}

/* Unknown i over the one of the scaled system, where all are lengths: pivots do not depend on the unit of length. Those that are
 * given, held DOFs and slacks of equations, stand alone. */
static double scaling(const ulna_solver *s, const ulna_active_rows *rows, int i)
{
    int row = i - s->nv;
    if (row < 0)
        return rows->hold[i] ? 1 : s->unit[i] / s->length;
    return rows->slack && row < rows->count && !s->constrained->rows[row].is_equation ? 1 / sqrt(s->length) : 1;
}

static void scale_system(const ulna_solver *s, const ulna_active_rows *rows, lagrange *l)
{
    for (int j = 0; j < l->used; j++)
        for (int i = j; i < l->used; i++)
            *at(l, i, j) *= scaling(s, rows, i) * scaling(s, rows, j);
}

/* The right-hand side becomes the solution. */
static ulna_status solve_system(const ulna_solver *s, const ulna_active_rows *rows, lagrange *l)
{
    for (int i = 0; i < l->used; i++)
        l->right[i] *= scaling(s, rows, i);
    ulna_status status = ulna_dense_symmetric_solve(l->used, l->system, l->pivot, l->right);
    for (int i = 0; i < l->used; i++)
        l->right[i] *= scaling(s, rows, i);
    return status;
}

/* ULNA_ERR_INDEFINITE: H is not positive definite where the rows hold. */
static ulna_status factor(ulna_solver *s, const ulna_active_rows *rows, lagrange *l)
{
    int negative, active = 0;
    place_rows(s, rows, l);
    memset(l->system, 0, (size_t)l->used * (size_t)l->used * sizeof *l->system);
    memset(l->right, 0, (size_t)l->used * sizeof *l->right);
    fill_dofs(s, rows, l);
    fill_rows(s, rows, l);
    scale_system(s, rows, l);
    for (int i = 0; i < rows->count; i++)
        active += l->place[i] != ULNA_NONE;
    s->result.factorisations++;
    ulna_status status = ulna_dense_symmetric_factor(l->used, l->system, l->pivot, &negative, &l->work);
    return status == ULNA_OK && negative != active ? ULNA_ERR_INDEFINITE : status;
}

/* What holds each DOF on its limit: (H + lambda D) d + g - JT beta. */
static void find_forces(const ulna_solver *s, ulna_active_rows *rows, const lagrange *l)
{
    for (int j = 0; j < s->nv; j++) {
        rows->force[j] = 0;
        if (!rows->hold[j] || rows->hold[j] == ULNA_LOCKED)
            continue;
        double force = rows->gradient[j] + l->lambda * s->metric[j] * rows->step[j];
        for (int i = 0; i < s->nv; i++)
            force += l->hessian[(size_t)j * (size_t)s->nv + (size_t)i] * rows->step[i];
        for (int i = 0; i < rows->count; i++)
            force -= rows->jacobian[(size_t)j * (size_t)rows->capacity + (size_t)i] * rows->beta[i];
        rows->force[j] = force;
    }
}

static ulna_status solve(ulna_solver *s, ulna_active_rows *rows, void *context)
{
    lagrange *l = context;
    ulna_status status = factor(s, rows, l);
    if (status == ULNA_OK)
        status = solve_system(s, rows, l);
    if (status != ULNA_OK)
        return status;
    for (int j = 0; j < s->nv; j++)
        rows->step[j] = rows->hold[j] ? ulna_active_displacement(s, rows, j) : l->right[j];
    for (int i = 0; i < rows->count; i++) {
        rows->beta[i] = l->place[i] == ULNA_NONE ? 0 : -l->right[l->place[i]];
        if (rows->slack)
            rows->slack_step[i] = s->constrained->rows[i].is_equation ? 0 : l->right[s->nv + i];
    }
    ulna_active_linearise(rows, s->nv);
    for (int i = 0; rows->slack && i < rows->count; i++)
        rows->linear[i] -= 2 * rows->slack[i] * rows->slack_step[i];
    find_forces(s, rows, l);
    return ULNA_OK;
}

static ulna_status correct(ulna_solver *s, ulna_active_rows *rows, void *context, const double *value, double *step)
{
    lagrange *l = context;
    memset(l->right, 0, (size_t)l->used * sizeof *l->right);
    for (int i = 0; i < rows->count; i++)
        if (l->place[i] != ULNA_NONE)
            l->right[l->place[i]] = -value[i];
    ulna_status status = solve_system(s, rows, l);
    for (int j = 0; j < s->nv; j++)
        step[j] += rows->hold[j] ? 0 : l->right[j];
    return status;
}

/* ---- the step ------------------------------------------------------------------------------------------------------------ */

/* E for the rows, in proportion to J M^-1 JT. */
static void set_give(const ulna_solver *s, lagrange *l)
{
    const ulna_active_rows *rows = &l->rows;
    double schur = 0;
    for (int j = 0; j < s->nv; j++) {
        double curve = fabs(l->hessian[(size_t)j * (size_t)s->nv + (size_t)j]) + l->lambda * s->metric[j];
        double least = FLAT * s->length * s->inverse_unit[j];
        for (int i = 0; i < rows->count; i++) {
            double entry = rows->jacobian[(size_t)j * (size_t)rows->capacity + (size_t)i];
            schur += (entry * entry + least * least) / (curve * rows->count);
        }
    }
    l->give = REGULAR * schur;
}

static void set_damping(const ulna_solver *s, lagrange *l)
{
    const ulna_constrained *c = s->constrained;
    double off = s->f + ulna_largest_weight(s->problem) * 0.5 * ulna_rows_squared_lack(c, c->rows);
    l->lambda = fmax(l->kappa * off, FLOOR * s->curvature);
    set_give(s, l);
}

/* Multipliers at q, by a step with H = 0: those of the last step may be far off where the linearised rows hardly agree. */
static ulna_status explain(ulna_solver *s, lagrange *l, const ulna_active_solver *solver)
{
    memset(l->hessian, 0, (size_t)s->nv * (size_t)s->nv * sizeof *l->hessian);
    l->lambda = 1 / ulna_active_short(s, &l->rows, s->scale);
    set_give(s, l);
    return ulna_active_explain(s, &l->rows, solver);
}

/* Exact where that is a minimum on the rows, else Gauss-Newton, damped until it can be factored. */
static ulna_status find_step(ulna_solver *s, lagrange *l, const ulna_active_solver *solver)
{
    const ulna_constrained *c = s->constrained;
    ulna_status status = ULNA_OK;
    for (int tries = 0; tries < 30; tries++) {
        l->exact = s->options.lagrange.exact && tries == 0;
        status =
            ulna_work_lagrangian_dense(s->work, l->exact, c->rows, c->count, l->exact ? c->beta : l->zeros, l->hessian);
        if (status != ULNA_OK)
            return status;
        if (tries > 1)
            l->kappa = fmax(10 * l->kappa, 1e-6);
        set_damping(s, l);
        status = ulna_active_solve(s, &l->rows, solver);
        if (l->exact)
            s->now.negative = status == ULNA_ERR_INDEFINITE;
        if (status != ULNA_ERR_INDEFINITE && status != ULNA_ERR_SINGULAR)
            break;
    }
    s->now.damping = l->lambda;
    s->now.exactness = l->exact;
    return status;
}

/*
 * The multipliers go as far as the step did, unless they are beyond reason, as where linearised rows hardly agree: then, and
 * with `is_last`, they are found from the gradient. Is this the end?
 */
static ulna_status settle(ulna_solver *s, lagrange *l, const ulna_active_solver *solver, int is_last)
{
    ulna_active_rows *rows = &l->rows;
    double reason = REASON * ulna_largest_weight(s->problem) * s->length;
    for (int i = 0; i < rows->count && !is_last; i++) {
        rows->beta[i] = s->constrained->beta[i] + rows->length * (rows->beta[i] - s->constrained->beta[i]);
        is_last |= !rows->slack && !(fabs(rows->beta[i]) <= reason);
    }
    ulna_status status = ULNA_OK;
    if (is_last && !rows->slack) {
        status = ulna_active_here(s, rows);
        if (status == ULNA_OK)
            status = explain(s, l, solver);
    }
    return status == ULNA_OK ? ulna_active_settle(s, rows->beta) : status;
}

static ulna_status give_up(ulna_solver *s, lagrange *l, const ulna_active_solver *solver)
{
    ulna_status status = ulna_return(s);
    if (status == ULNA_OK)
        status = settle(s, l, solver, 1);
    return status == ULNA_OK && s->now.stop == ULNA_STOP_NONE ? ulna_active_give_up(s) : status;
}

/* The step is in l->rows; goes along it. */
static ulna_status search(ulna_solver *s, lagrange *l, const ulna_active_solver *solver)
{
    ulna_active_rows *rows = &l->rows;
    int found;
    ulna_status status = ulna_active_search(s, rows, solver, rows->beta, &found);
    if (status != ULNA_OK)
        return status;
    ulna_active_watch(s, rows, found);
    if (rows->is_approaching) {
        l->kappa = KAPPA_FIRST;
        return ULNA_OK;
    }
    if (!found) {
        l->kappa = fmax(10 * l->kappa, 1e-3);
        return l->kappa > KAPPA_MOST ? give_up(s, l, solver) : ULNA_OK;
    }
    if (rows->is_cut)
        l->kappa = fmin(4 * l->kappa, fmax(l->kappa, KAPPA_CUT));
    else if (rows->is_quiet || rows->length < 1 || rows->fell > -0.4 * rows->slope)
        l->kappa = fmax(0.1 * l->kappa, KAPPA_LEAST);
    l->quiet = rows->is_quiet ? l->quiet + 1 : 0;
    return l->quiet > QUIET_MOST ? give_up(s, l, solver) : settle(s, l, solver, 0);
}

static ulna_status iterate(ulna_solver *s, void *state)
{
    lagrange *l = state;
    if (!s->constrained)
        return ulna_method_newton.iterate(s, state);
    ulna_active_solver solver = {solve, correct, l};
    s->now.unsettled = 1; /* the KKT residual decides */
    if (s->nv == 0)
        return ulna_active_stand(s);
    if (l->rows.is_approaching)
        return ulna_active_approach(s, &l->rows);
    ulna_status status = ulna_active_here(s, &l->rows);
    if (status == ULNA_OK)
        status = find_step(s, l, &solver);
    return status == ULNA_OK ? search(s, l, &solver) : status;
}

const ulna_method ulna_method_lagrange = {
    .info = {.name = "lagrange",
             .summary = "Newton on the Lagrangian, dense, with an active set; lagrange.slack: inequalities by s^2",
             .source = "IK-techniques survey, section 7.5 eq. 28-31",
             .supports =
                 "all terms, all joints, hard constraints; without constraints it is `newton`. With lagrange.slack it "
                 "comes to rest on an inequality that it starts on or meets (s = 0), though f is lower inside, "
                 "and the solve ends as stalled",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE | ULNA_METHOD_HESSIAN | ULNA_METHOD_LAPACK |
                      ULNA_METHOD_CONSTRAINED,
             .iterations = 300},
    .checks_kkt = 1,
    .predicts = 1,
    .patience = 1,
    .layout = layout,
    .begin = begin,
    .iterate = iterate,
};
