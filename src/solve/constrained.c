/* Rows at q and at trials, violations, the KKT residual: what methods that keep constraints share. */
#include "solve/constrained.h"

#include <limits.h>

void ulna_constrained_take(ulna_constrained *c, const ulna_problem *problem, ulna_arena *arena)
{
    size_t n = (size_t)ulna_problem_row_count(problem);
    c->capacity = (int)n;
    c->place = ulna_arena_take(arena, n, sizeof *c->place);
    c->rows = ulna_arena_take(arena, n, sizeof *c->rows);
    c->trial = ulna_arena_take(arena, n, sizeof *c->trial);
    double **numbers[] = {&c->beta, &c->best_beta, &c->scratch};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = ulna_arena_take(arena, n, sizeof(double));
}

double ulna_largest_weight(const ulna_problem *problem)
{
    double most = 0;
    for (size_t i = 0; i < problem->term_count; i++)
        most = fmax(most, problem->term[i].weight);
    return most > 0 ? most : 1;
}

double ulna_rows_violation(const ulna_constrained *c, const ulna_row *rows, int level)
{
    double most = 0;
    for (int i = 0; i < c->count; i++) {
        double lack = fabs(ulna_row_lack(&rows[i]));
        if (rows[i].level < level && lack > most)
            most = lack;
    }
    return most;
}

double ulna_rows_squared_lack(const ulna_constrained *c, const ulna_row *rows)
{
    double sum = 0;
    for (int i = 0; i < c->count; i++) {
        double lack = ulna_row_lack(&rows[i]);
        sum += lack * lack;
    }
    return sum;
}

int ulna_is_contradictory(const ulna_solver *s, const double *linear)
{
    const ulna_constrained *c = s->constrained;
    double left = 0;
    if (c->excess <= ULNA_NEARLY_KEPT * s->length)
        return 0;
    for (int i = 0; i < c->count; i++)
        if (!ulna_row_is_soft(c, &c->rows[i]))
            left = fmax(left, fabs(c->rows[i].is_equation ? linear[i] : fmin(0, linear[i])));
    return left > 0.5 * c->excess;
}

static void measure(ulna_constrained *c)
{
    c->violation = ulna_rows_violation(c, c->rows, 1);
    c->excess = c->soft_from > 0 ? c->violation : 0;
}

ulna_status ulna_rows_here(ulna_solver *s)
{
    ulna_constrained *c = s->constrained;
    ulna_status status = ulna_return(s);
    if (status == ULNA_OK)
        status = ulna_work_rows(s->work, 1, c->rows, &c->count);
    if (status == ULNA_OK)
        measure(c);
    c->is_fresh = status == ULNA_OK;
    return status;
}

void ulna_carry_numbers(ulna_constrained *c, double *numbers)
{
    memset(c->scratch, 0, (size_t)c->capacity * sizeof *c->scratch);
    for (int i = 0; i < c->place_count; i++)
        c->scratch[c->place[i]] = numbers[i];
    for (int i = 0; i < c->count; i++)
        numbers[i] = c->scratch[c->rows[i].place];
}

void ulna_rows_carried(ulna_constrained *c)
{
    for (int i = 0; i < c->count; i++)
        c->place[i] = c->rows[i].place;
    c->place_count = c->count;
}

ulna_status ulna_rows_at_trial(ulna_solver *s)
{
    int count;
    return ulna_work_rows(s->work, 0, s->constrained->trial, &count);
}

ulna_status ulna_rows_accept(ulna_solver *s)
{
    ulna_constrained *c = s->constrained;
    int has_axes = ulna_problem_has_frozen_rows(s->problem);
    c->has_new_axes = has_axes && ulna_work_has_old_axes(s->work);
    if (c->has_new_axes)
        return ulna_rows_here(s);
    ulna_row *rows = c->rows;
    c->rows = c->trial;
    c->trial = rows;
    c->is_fresh = !has_axes;
    measure(c);
    return ULNA_OK;
}

/* The rows of the trial are those of this pose with the old axes. */
void ulna_rows_turn(ulna_solver *s, double *others)
{
    ulna_constrained *c = s->constrained;
    if (!c->has_new_axes)
        return;
    ulna_rows_turn_multipliers(s->problem, c->trial, c->rows, c->count, c->beta);
    ulna_rows_turn_multipliers(s->problem, c->trial, c->rows, c->count, others);
}

void ulna_take_off_multipliers(ulna_solver *s)
{
    const ulna_constrained *c = s->constrained;
    double *minus = c->scratch;
    for (int i = 0; i < c->count; i++)
        minus[i] = -c->beta[i];
    ulna_rows_add_transposed(s->work, c->rows, c->count, minus, s->gradient);
}

ulna_status ulna_kkt_residual(ulna_solver *s, double *residual)
{
    const ulna_constrained *c = s->constrained;
    s->gradient_known = 0; /* the multipliers may have changed */
    ulna_status status = ulna_gradient_here(s);
    if (status != ULNA_OK)
        return status;
    double most = ulna_projected_gradient(s), length = s->length;
    for (int i = 0; i < c->count; i++) {
        if (!c->rows[i].is_equation)
            most = fmax(most, fmax(-c->beta[i] * length, fabs(c->beta[i]) * fmax(c->rows[i].value, 0)));
    }
    *residual = most;
    return ULNA_OK;
}

double ulna_violation_slope(ulna_solver *s)
{
    const ulna_constrained *c = s->constrained;
    double *lack = c->scratch, most = 0, length = s->length;
    for (int i = 0; i < c->count; i++) {
        lack[i] = c->rows[i].level == 0 ? ulna_row_lack(&c->rows[i]) : 0;
        most = fmax(most, fabs(lack[i]));
    }
    memset(s->gradient, 0, (size_t)s->nv * sizeof *s->gradient);
    ulna_rows_add_transposed(s->work, c->rows, c->count, lack, s->gradient);
    s->gradient_known = 0;
    return most > 0 ? ulna_projected_gradient(s) / (most * length) : 0;
}

/* ---- for the driver ----------------------------------------------------------------------------------------------- */

int ulna_is_kept(const ulna_solver *s)
{
    const ulna_constrained *c = s->constrained;
    return !c || ulna_rows_violation(c, c->rows, INT_MAX) <= s->options.violation * s->length;
}

int ulna_is_better(const ulna_solver *s)
{
    const ulna_constrained *c = s->constrained;
    if (!c)
        return s->f < s->best_f;
    double enough = s->options.violation * s->length;
    double now = fmax(c->violation, enough), best = fmax(c->best_violation, enough);
    return now < best || (now == best && s->f < s->best_f);
}

/* Multipliers stand beside rows whose axes are frozen at q. */
static ulna_status refresh(ulna_solver *s)
{
    ulna_constrained *c = s->constrained;
    ulna_row *rows = c->rows;
    if (c->is_fresh || s->predicted)
        return ULNA_OK;
    c->rows = c->trial;
    c->trial = rows;
    ulna_status status = ulna_rows_here(s);
    if (status == ULNA_OK)
        ulna_rows_turn_multipliers(s->problem, c->trial, c->rows, c->count, c->beta);
    s->gradient_known = 0;
    return status;
}

ulna_status ulna_keep_multipliers(ulna_solver *s)
{
    ulna_constrained *c = s->constrained;
    if (!c)
        return ULNA_OK;
    ulna_status status = refresh(s);
    memcpy(c->best_beta, c->beta, (size_t)c->capacity * sizeof *c->beta);
    c->best_violation = c->violation;
    c->best_infeasible = c->infeasible;
    return status;
}

void ulna_restore_multipliers(ulna_solver *s)
{
    ulna_constrained *c = s->constrained;
    if (!c)
        return;
    memcpy(c->beta, c->best_beta, (size_t)c->capacity * sizeof *c->beta);
    c->infeasible = c->best_infeasible;
    c->is_fresh = 0;
}

/* Where the goals are met and the rows kept, no force is needed: those of the way there would be taken for forces that act. */
static ulna_status drop_multipliers(ulna_solver *s, double *kkt)
{
    ulna_constrained *c = s->constrained;
    double without;
    memset(c->beta, 0, (size_t)c->capacity * sizeof *c->beta);
    ulna_status status = ulna_kkt_residual(s, &without);
    if (status != ULNA_OK)
        return status;
    if (without <= *kkt) {
        *kkt = without;
        return ULNA_OK;
    }
    memcpy(c->beta, c->best_beta, (size_t)c->capacity * sizeof *c->beta);
    return ulna_kkt_residual(s, kkt);
}

ulna_status ulna_report_constraints(ulna_solver *s)
{
    ulna_constrained *c = s->constrained;
    ulna_result *r = &s->result;
    ulna_status status = s->predicted || c->is_fresh ? ULNA_OK : ulna_rows_here(s);
    r->kkt = (double)NAN;
    if (status == ULNA_OK && !s->predicted)
        status = ulna_kkt_residual(s, &r->kkt);
    if (status == ULNA_OK && r->stop == ULNA_STOP_OBJECTIVE)
        status = drop_multipliers(s, &r->kkt);
    r->constraint_violation = c->violation;
    r->infeasible = c->infeasible;
    r->active_constraints = 0;
    for (int i = 0; i < c->count; i++)
        r->active_constraints += !c->rows[i].is_equation && c->beta[i] > 0;
    return status;
}

/* A violation below this part of the largest is not in anybody's way. */
#define CONFLICTING 1e-3

ulna_status ulna_solver_constraint(ulna_solver *s, int number, ulna_constraint_state *state)
{
    if (!s || !state || number < 0 || number >= ulna_problem_constraint_count(s->given))
        return ULNA_ERR_ARGUMENT;
    const ulna_constrained *c = s->constrained;
    if (!c || !s->result.attempts || s->running)
        return ULNA_ERR_STATE;
    *state = (ulna_constraint_state){0};
    ulna_status status = ulna_work_constraint_error(s->work, number, &state->error);
    for (int i = 0; i < c->count; i++) {
        const ulna_row *row = &c->rows[i];
        if (row->constraint != number)
            continue;
        state->multiplier[state->row_count++] = c->beta[i];
        state->active |= row->is_equation || c->beta[i] > 0;
        state->conflicting |= c->infeasible && row->level == 0 && fabs(ulna_row_lack(row)) > CONFLICTING * c->violation;
    }
    if (state->row_count == 0)
        state->error = 0;
    return status;
}
