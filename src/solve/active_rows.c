/* Constraints in dense form: the active set, the exact penalty, and the search along a step. See active_rows.h. */
#include "solve/active_rows.h"

#include "math/math3.h"

#define FLIP_ALL 8     /* rounds that change everything that is wrong; after them one row at a time, the least index */
#define ROUNDING 1e-13 /* of the largest multiplier; of the length scale */
#define PRICE_LEAST 1e-2 /* of weight times length scale */
#define PRICE_DECAY 0.2  /* of a price that is too high, from step to step */
#define PRICE_FACTOR 1.5 /* over a multiplier */
#define SUFFICIENT 1e-4
#define STEP_MOST 0.5 /* radians or length scales */
#define TRIALS 40
#define STATIONARY 1e-3 /* slope of the violation that counts as none */

static ulna_status check_levels(const ulna_solver *s, ulna_error *error)
{
    for (int i = 0; i < ulna_problem_constraint_count(s->problem); i++)
        if (ulna_problem_constraint(s->problem, i)->level > 0)
            return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                             "constraint %d has level %d, and method '%s' has no levels: use hybrid", i,
                             ulna_problem_constraint(s->problem, i)->level, s->method->info.name);
    return ULNA_OK;
}

ulna_status ulna_active_take(const ulna_solver *s, ulna_active_rows *rows, ulna_arena *arena, ulna_error *error)
{
    ulna_status status = check_levels(s, error);
    if (status != ULNA_OK)
        return status;
    if (ulna_dense_symmetric_need(ulna_problem_row_count(s->problem), &rows->work.have) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_LIMIT, "%d rows of constraints are too many for method '%s'",
                         ulna_problem_row_count(s->problem), s->method->info.name);
    size_t nv = (size_t)s->nv, m = (size_t)ulna_problem_row_count(s->problem);
    double **per_dof[] = {&rows->gradient, &rows->step, &rows->force, &rows->taken};
    double **per_row[] = {&rows->value, &rows->price, &rows->trial, &rows->beta, &rows->linear, &rows->right};
    rows->capacity = (int)m;
    rows->jacobian = ulna_arena_take(arena, m, nv * sizeof *rows->jacobian);
    for (size_t i = 0; i < sizeof per_dof / sizeof *per_dof; i++)
        *per_dof[i] = ulna_arena_take(arena, nv, sizeof(double));
    for (size_t i = 0; i < sizeof per_row / sizeof *per_row; i++)
        *per_row[i] = ulna_arena_take(arena, m, sizeof(double));
    rows->is_equation = ulna_arena_take(arena, m, 1);
    rows->is_active = ulna_arena_take(arena, m, 1);
    rows->hold = ulna_arena_take(arena, nv, 1);
    rows->slack = rows->slack_step = NULL;
    rows->normal = ulna_arena_take(arena, m, m * sizeof *rows->normal);
    rows->pivot = ulna_arena_take(arena, m, sizeof *rows->pivot);
    rows->work.reals = ulna_arena_take(arena, rows->work.have.reals, sizeof *rows->work.reals);
    return ULNA_OK;
}

ulna_status ulna_active_begin(ulna_solver *s, ulna_active_rows *rows)
{
    ulna_constrained *c = s->constrained;
    memset(rows->is_active, 0, (size_t)rows->capacity);
    memset(rows->hold, 0, (size_t)s->nv);
    memset(rows->price, 0, (size_t)rows->capacity * sizeof *rows->price);
    memset(rows->beta, 0, (size_t)rows->capacity * sizeof *rows->beta);
    memset(c->beta, 0, (size_t)c->capacity * sizeof *c->beta);
    c->soft_from = 1;
    rows->is_approaching = rows->approaches = rows->failures = 0;
    rows->allowed = 0;
    c->infeasible = 0;
    return ulna_rows_here(s);
}

/* ---- at q ---------------------------------------------------------------------------------------------------------- */

/* C, or C - s^2 for a slack that has gone `length` of its step. */
static double value_of(const ulna_active_rows *rows, const ulna_row *row, int i, double length)
{
    if (!rows->slack || row->is_equation)
        return row->value;
    double slack = rows->slack[i] + length * rows->slack_step[i];
    return row->value - slack * slack;
}

/* A derivative that is rounding alone, as that of a point on an axis, would ask for a force without bounds. */
static void clear_rounding(const ulna_solver *s, ulna_active_rows *rows)
{
    const ulna_constrained *c = s->constrained;
    for (int j = 0; j < s->nv; j++)
        for (int i = 0; i < c->count; i++) {
            double *entry = &rows->jacobian[(size_t)j * (size_t)rows->capacity + (size_t)i];
            if (fabs(*entry) * s->unit[j] <= 4 * c->rows[i].noise)
                *entry = 0;
        }
}

ulna_status ulna_active_here(ulna_solver *s, ulna_active_rows *rows)
{
    const ulna_constrained *c = s->constrained;
    ulna_status status = ulna_return(s);
    if (status == ULNA_OK)
        status = ulna_work_gradient(s->work, rows->gradient);
    if (status != ULNA_OK)
        return status;
    rows->count = c->count;
    ulna_rows_jacobian(s->work, c->rows, c->count, (size_t)rows->capacity, rows->jacobian);
    clear_rounding(s, rows);
    for (int i = 0; i < c->count; i++) {
        rows->is_equation[i] = c->rows[i].is_equation || rows->slack;
        rows->value[i] = value_of(rows, &c->rows[i], i, 0);
        rows->is_active[i] |= rows->is_equation[i] || rows->value[i] < 0;
    }
    for (int j = 0; j < s->nv; j++) {
        int at = s->bounded ? ulna_at_limit(s, s->q, j) : 0;
        if (s->locked[j] || at == 2)
            rows->hold[j] = ULNA_LOCKED;
        else if (rows->hold[j] != at)
            rows->hold[j] = 0;
    }
    return ULNA_OK;
}

double ulna_active_displacement(const ulna_solver *s, const ulna_active_rows *rows, int dof)
{
    const int c = s->model->dof_coordinate[dof];
    const signed char hold = rows->hold[dof];
    return hold == ULNA_LOCKED || !hold ? 0 : (hold < 0 ? s->lower[dof] : s->upper[dof]) - s->q[c];
}

void ulna_active_linearise(ulna_active_rows *rows, int nv)
{
    memcpy(rows->linear, rows->value, (size_t)rows->count * sizeof *rows->linear);
    for (int j = 0; j < nv; j++)
        for (int i = 0; i < rows->count; i++)
            rows->linear[i] += rows->jacobian[(size_t)j * (size_t)rows->capacity + (size_t)i] * rows->step[j];
}

/* ---- the active set -------------------------------------------------------------------------------------------------- */

static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* Changes whether a row is active, if that is wrong. */
static int flip_row(ulna_active_rows *rows, int i, double pull, double broken)
{
    int is_wrong = rows->is_active[i] ? rows->beta[i] < -pull : rows->linear[i] < -broken;
    if (rows->is_equation[i] || !is_wrong)
        return 0;
    rows->is_active[i] ^= 1;
    return 1;
}

static int flip_dof(const ulna_solver *s, ulna_active_rows *rows, int j, double pull)
{
    const int c = s->model->dof_coordinate[j];
    const signed char hold = rows->hold[j];
    if (c < 0 || !s->bounded || hold == ULNA_LOCKED)
        return 0;
    double to = s->q[c] + rows->step[j], rounding = ROUNDING * s->unit[j];
    if (hold)
        rows->hold[j] = (signed char)(hold * rows->force[j] > pull ? 0 : hold);
    else
        rows->hold[j] = (signed char)(to < s->lower[j] - rounding ? -1 : to > s->upper[j] + rounding);
    return rows->hold[j] != hold;
}

ulna_status ulna_active_solve(ulna_solver *s, ulna_active_rows *rows, const ulna_active_solver *solver)
{
    double broken = ROUNDING * s->length;
    int most = FLIP_ALL + 3 * (rows->count + s->limited_count) + 20;
    for (int round = 0; round < most; round++) {
        ulna_status status = solver->solve(s, rows, solver->context);
        if (status != ULNA_OK)
            return status;
        double pull = ROUNDING * largest(rows->beta, rows->count);
        double push = ROUNDING * largest(rows->force, s->nv);
        int flips = 0, is_single = round >= FLIP_ALL;
        for (int i = 0; i < rows->count && !(is_single && flips); i++)
            flips += flip_row(rows, i, pull, broken);
        for (int j = 0; j < s->nv && !(is_single && flips); j++)
            flips += flip_dof(s, rows, j, push);
        if (!flips)
            return ULNA_OK;
    }
    return solver->solve(s, rows, solver->context); /* rows that contradict each other: the penalty judges the step */
}

#define SHORT_STEP 1e-7 /* radians or length scales */
#define NEAR 1e-9       /* of the length scale: an inequality that may press */

double ulna_active_short(const ulna_solver *s, const ulna_active_rows *rows, const double *metric)
{
    double most = 0;
    for (int j = 0; j < s->nv; j++)
        most = fmax(most, fabs(rows->gradient[j]) * metric[j] * metric[j] * s->inverse_unit[j]);
    return most > 0 ? SHORT_STEP / most : 1;
}

ulna_status ulna_active_explain(ulna_solver *s, ulna_active_rows *rows, const ulna_active_solver *solver)
{
    double near = NEAR * s->length;
    for (int i = 0; i < rows->count; i++)
        if (rows->is_equation[i] || rows->value[i] < near)
            rows->value[i] = 0;
        else
            rows->is_active[i] = 0;
    ulna_status status = ulna_active_solve(s, rows, solver);
    for (int i = 0; i < rows->count; i++)
        rows->value[i] = value_of(rows, &s->constrained->rows[i], i, 0);
    return status;
}

/* ---- the penalty ------------------------------------------------------------------------------------------------------ */

/* 1 if all are where they should be; 0 while some still come down. */
static int set_prices(const ulna_solver *s, ulna_active_rows *rows, const double *beta)
{
    int is_settled = 1;
    double least = PRICE_LEAST * ulna_largest_weight(s->problem) * s->length;
    for (int i = 0; i < rows->count; i++) {
        double wanted = fmax(PRICE_FACTOR * fabs(beta[i]), least);
        rows->price[i] = fmax(wanted, PRICE_DECAY * rows->price[i]);
        is_settled &= rows->price[i] <= 10 * wanted;
    }
    return is_settled;
}

static double penalty_of(const ulna_active_rows *rows, const double *value)
{
    double sum = 0;
    for (int i = 0; i < rows->count; i++)
        sum += rows->price[i] * (rows->is_equation[i] ? fabs(value[i]) : fmax(0, -value[i]));
    return sum;
}

/* Rounding of phi: of its sums, and of positions times prices. */
static double noise_of(const ulna_solver *s, const ulna_active_rows *rows)
{
    double noise = 4e-16 * s->f;
    for (int i = 0; i < rows->count; i++)
        noise += rows->price[i] * fmax(s->constrained->rows[i].noise, 4e-16 * s->length);
    return noise;
}

/* phi at q + length step, and the values of the rows there. */
static ulna_status try_phi(ulna_solver *s, ulna_active_rows *rows, const double *step, double length, double *f,
                           double *phi)
{
    ulna_status status = ulna_try(s, step, length, f);
    if (status == ULNA_OK && isfinite(*f))
        status = ulna_rows_at_trial(s);
    *phi = (double)INFINITY;
    if (status == ULNA_ERR_NUMBER) {
        *f = (double)INFINITY;
        return ULNA_OK;
    }
    if (status != ULNA_OK || !isfinite(*f))
        return status;
    for (int i = 0; i < rows->count; i++)
        rows->trial[i] = value_of(rows, &s->constrained->trial[i], i, length);
    *phi = *f + penalty_of(rows, rows->trial);
    return ULNA_OK;
}

/* Where all goals are met no constraint presses. */
static void drop_multipliers(ulna_solver *s)
{
    ulna_constrained *c = s->constrained;
    if (s->f <= s->options.objective && ulna_is_kept(s))
        memset(c->beta, 0, (size_t)c->count * sizeof *c->beta);
}

static ulna_status accept(ulna_solver *s, ulna_active_rows *rows, const double *step, double length, double f)
{
    for (int j = 0; j < s->nv; j++)
        rows->taken[j] = length * step[j];
    for (int i = 0; rows->slack && i < rows->count; i++)
        rows->slack[i] += length * rows->slack_step[i];
    rows->length = step == rows->step ? length : 1;
    ulna_accept(s, rows->taken, 1, f);
    ulna_status status = ulna_rows_accept(s);
    if (status == ULNA_OK)
        ulna_rows_turn(s, rows->beta);
    drop_multipliers(s);
    return status;
}

/* The first trial broke rows that the step keeps to first order: the same step with that taken back. */
static ulna_status try_corrected(ulna_solver *s, ulna_active_rows *rows, const ulna_active_solver *solver,
                                 double length, double *f, double *phi)
{
    for (int j = 0; j < s->nv; j++)
        rows->taken[j] = length * rows->step[j];
    for (int i = 0; i < rows->count; i++) /* what the step was to leave stays */
        rows->trial[i] -= (1 - length) * rows->value[i] + length * rows->linear[i];
    ulna_status status = solver->correct(s, rows, solver->context, rows->trial, rows->taken);
    return status == ULNA_OK ? try_phi(s, rows, rows->taken, 1, f, phi) : status;
}

ulna_status ulna_active_search(ulna_solver *s, ulna_active_rows *rows, const ulna_active_solver *solver,
                               const double *beta, int *found)
{
    int is_settled = set_prices(s, rows, beta);
    double size = ulna_step_size(s, rows->step), length = size > STEP_MOST ? STEP_MOST / size : 1, f, phi;
    double before = penalty_of(rows, rows->value), here = s->f + before, noise = 8 * noise_of(s, rows);
    rows->slope = ulna_inner(s->nv, rows->gradient, rows->step) + penalty_of(rows, rows->linear) - before;
    *found = 0;
    for (int i = 0; i < TRIALS && rows->slope < noise + rows->allowed; i++, length *= 0.5) {
        ulna_status status = try_phi(s, rows, rows->step, length, &f, &phi);
        const double *way = rows->step;
        if (status == ULNA_OK && i == 0 && !rows->slack &&
            phi - here > SUFFICIENT * length * rows->slope + rows->allowed && isfinite(phi) &&
            penalty_of(rows, rows->trial) > before) {
            status = try_corrected(s, rows, solver, length, &f, &phi);
            way = rows->taken;
        }
        if (status != ULNA_OK)
            return status;
        rows->fell = here - phi;
        rows->is_quiet = fabs(rows->fell) <= noise && fabs(length * rows->slope) <= noise;
        if (-rows->fell <= SUFFICIENT * length * rows->slope + rows->allowed || rows->is_quiet) {
            *found = 1;
            rows->is_quiet &= is_settled;
            rows->is_cut = i > 0;
            return accept(s, rows, way, way == rows->step ? length : 1, f);
        }
    }
    return ulna_return(s);
}

/* ---- the end ------------------------------------------------------------------------------------------------------------ */

ulna_status ulna_active_settle(ulna_solver *s, const double *beta)
{
    ulna_constrained *c = s->constrained;
    double residual, enough = s->options.kkt * ulna_largest_weight(s->problem) * s->length2;
    if (!ulna_all_finite(beta, c->count))
        return ULNA_ERR_NUMBER;
    memmove(c->beta, beta, (size_t)c->count * sizeof *beta);
    drop_multipliers(s);
    ulna_status status = ulna_kkt_residual(s, &residual);
    if (status == ULNA_OK && ulna_is_kept(s) && residual <= enough)
        s->now.stop = ULNA_STOP_GRADIENT;
    return status;
}

ulna_status ulna_active_give_up(ulna_solver *s)
{
    ulna_status status = ulna_return(s);
    s->now.stop = ULNA_STOP_STALLED;
    if (status == ULNA_OK && !ulna_is_kept(s) && ulna_violation_slope(s) <= STATIONARY) {
        s->constrained->infeasible = 1;
        s->now.stop = ULNA_STOP_INFEASIBLE;
    }
    return status;
}

ulna_status ulna_active_stand(ulna_solver *s)
{
    ulna_status status = ulna_active_settle(s, s->constrained->beta);
    return status == ULNA_OK && s->now.stop == ULNA_STOP_NONE ? ulna_active_give_up(s) : status;
}

/* ---- contradictions ------------------------------------------------------------------------------------------------------- */

#define FAR_OFF 1e-5    /* of the length scale: rows that lack less are nearly kept */
#define APPROACHES 3    /* at most, in an attempt */
#define KAPPA_FIRST 0.1 /* damping over the squared violation */
#define KAPPA_MOST 1e12
#define FLOOR 1e-14 /* of the length scale squared */

void ulna_active_watch(ulna_solver *s, ulna_active_rows *rows, int found)
{
    ulna_constrained *c = s->constrained;
    int is_far = c->violation > FAR_OFF * s->length;
    rows->failures = is_far && (!found || ulna_is_contradictory(s, rows->linear)) ? rows->failures + 1 : 0;
    if (rows->failures < 2 || rows->approaches >= APPROACHES)
        return;
    rows->is_approaching = 1;
    rows->approaches++;
    rows->kappa = KAPPA_FIRST;
    memset(c->beta, 0, (size_t)c->count * sizeof *c->beta);
    s->gradient_known = 0;
}

/* A AT + lambda over the free DOFs, A the rows that lack something, scaled; and what they lack after held DOFs have moved. */
static void fill_normal(const ulna_solver *s, ulna_active_rows *rows, double lambda)
{
    const ulna_constrained *c = s->constrained;
    for (int a = 0; a < rows->count; a++) {
        double *column = rows->normal + (size_t)a * (size_t)rows->count;
        int is_lacking = ulna_row_lack(&c->rows[a]) != 0;
        memset(column, 0, (size_t)rows->count * sizeof *column);
        column[a] = lambda;
        rows->right[a] = -ulna_row_lack(&c->rows[a]);
        for (int j = 0; j < s->nv && is_lacking; j++) {
            const double *entries = rows->jacobian + (size_t)j * (size_t)rows->capacity;
            if (rows->hold[j])
                rows->right[a] -= entries[a] * rows->step[j];
            for (int b = a; b < rows->count && !rows->hold[j]; b++)
                column[b] += ulna_row_lack(&c->rows[b]) != 0 ? entries[a] * entries[b] / s->metric[j] : 0;
        }
    }
}

/* DOFs that the step takes beyond a limit end on it; how many. */
static int hold_leaving(const ulna_solver *s, ulna_active_rows *rows)
{
    int count = 0;
    for (int j = 0; j < s->nv; j++)
        if (!rows->hold[j] && flip_dof(s, rows, j, 0)) {
            rows->step[j] = ulna_active_displacement(s, rows, j);
            count++;
        }
    return count;
}

/* The damped step that reduces the violation, inside the limits. */
static ulna_status violation_step(ulna_solver *s, ulna_active_rows *rows, double lambda)
{
    int negative;
    for (int j = 0; j < s->nv; j++) {
        rows->hold[j] = (signed char)(rows->hold[j] == ULNA_LOCKED ? ULNA_LOCKED : 0);
        rows->step[j] = 0;
    }
    do {
        fill_normal(s, rows, lambda);
        s->result.factorisations++;
        ulna_status status =
            ulna_dense_symmetric_factor(rows->count, rows->normal, rows->pivot, &negative, &rows->work);
        if (status == ULNA_OK)
            status = ulna_dense_symmetric_solve(rows->count, rows->normal, rows->pivot, rows->right);
        if (status != ULNA_OK)
            return status;
        for (int j = 0; j < s->nv; j++)
            if (!rows->hold[j])
                rows->step[j] =
                    ulna_inner(rows->count, rows->jacobian + (size_t)j * (size_t)rows->capacity, rows->right) /
                    s->metric[j];
    } while (hold_leaving(s, rows));
    return ULNA_OK;
}

ulna_status ulna_active_approach(ulna_solver *s, ulna_active_rows *rows)
{
    ulna_constrained *c = s->constrained;
    double f = (double)INFINITY, before = ulna_rows_squared_lack(c, c->rows), after = (double)INFINITY;
    ulna_status status = ulna_active_here(s, rows);
    s->now.damping = fmax(rows->kappa * before, FLOOR * s->length2);
    if (status == ULNA_OK)
        status = violation_step(s, rows, s->now.damping);
    if (status == ULNA_OK)
        status = ulna_try(s, rows->step, 1, &f);
    if (status == ULNA_OK && isfinite(f))
        status = ulna_rows_at_trial(s);
    if (status != ULNA_OK && status != ULNA_ERR_NUMBER)
        return status;
    if (status == ULNA_OK && isfinite(f))
        after = ulna_rows_squared_lack(c, c->trial);
    if (!(after < before)) {
        rows->kappa *= 8;
        return rows->kappa > KAPPA_MOST ? ulna_active_give_up(s) : ulna_return(s);
    }
    rows->kappa = fmax(0.2 * rows->kappa, 1e-12);
    status = accept(s, rows, rows->step, 1, f);
    if (status == ULNA_OK && c->violation <= FAR_OFF * s->length) {
        rows->is_approaching = rows->failures = 0;
        memset(rows->price, 0, (size_t)rows->capacity * sizeof *rows->price);
    } else if (status == ULNA_OK && before - after <= 1e-12 * before) {
        status = ulna_active_give_up(s);
    }
    return status;
}
