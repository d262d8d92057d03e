/*
 * One step of a problem with constraints, on the tree.
 *
 * Equations on one body join the elimination as weighted rows with shifted goals: that is the same step as with a border,
 * without the border. All other rows make up the border (objective/border.h): rows on two bodies, of the centre of mass, of
 * DOFs, inequalities, couplings among the terms, bends of rows on two bodies, and limits that the step would pass. A small dual problem
 * gives their multipliers. Inequalities that hold and had no multiplier are left out until the step breaks them; each
 * round adds what it found, without another factorisation.
 *
 * With a negative give, as a bend may have, M + JT E^-1 J > 0 if and only if S + E has as many negative pivots as M, and one
 * more for each such row (the inertia of the whole matrix, by either way of eliminating).
 */
#include "linalg/linalg.h"
#include "solve/constrained.h"

#include <float.h>

enum { LIMIT_ROWS = 48, ROUNDS = 12, QUADRATIC = INT32_MIN };

#define LIMIT_GIVE 1e-13 /* of the diagonal of S: limits are met exactly, and two rows may ask for the same one */

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Pieces of curvature between two bodies that ulna_row_couplings makes of the row of a constraint. */
static int most_pieces(const ulna_constraint *constraint)
{
    if (constraint->other < 0)
        return 0;
    switch (constraint->type) {
    case ULNA_KEEP_DISTANCE:
    case ULNA_KEEP_ANGLE:
        return 2;
    case ULNA_KEEP_CUSTOM:
        return ULNA_ROW_PIECES - ULNA_ROW_BENDS;
    default:
        return 0;
    }
}

static int most_bends(const ulna_problem *problem)
{
    int most = 0;
    for (int i = 0; i < ulna_problem_constraint_count(problem); i++)
        most += most_pieces(ulna_problem_constraint(problem, i));
    return most;
}

void ulna_row_stepper_take(ulna_row_stepper *t, const ulna_solver *s, ulna_arena *arena)
{
    size_t rows = (size_t)ulna_problem_row_count(s->problem);
    int limits = s->nv < LIMIT_ROWS ? s->nv : LIMIT_ROWS;
    int extra = limits + s->problem->coupling_count + most_bends(s->problem);
    t->capacity = (int)rows + extra;
    size_t all = (size_t)t->capacity;
    ulna_border_take(&t->border, s->model, t->capacity, arena);
    t->whose = ulna_arena_take(arena, all, sizeof *t->whose);
    t->extra = ulna_arena_take(arena, (size_t)extra, sizeof *t->extra);
    t->extra_capacity = extra;
    t->limit_capacity = limits;
    t->row = ulna_arena_take(arena, all, sizeof *t->row);
    double **numbers[] = {&t->c, &t->E, &t->centre, &t->beta};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = ulna_arena_take(arena, all, sizeof(double));
    unsigned char **flags[] = {&t->is_equation, &t->active};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        *flags[i] = ulna_arena_take(arena, all, 1);
    t->is_bordered = ulna_arena_take(arena, rows, 1);
    t->is_active = ulna_arena_take(arena, rows, 1);
    t->load_y = ulna_arena_take(arena, rows, sizeof(double));
    t->load_w = ulna_arena_take(arena, rows, sizeof(double));
    t->scratch = ulna_arena_take(arena, ulna_dual_size(t->capacity), sizeof(double));
}

/* ---- which rows go where ------------------------------------------------------------------------------------------ */

/* May it join the elimination? */
static int is_inside(const ulna_row *row)
{
    return row->is_equation && row->part_count == 1 && !row->has_centre && !row->dof_count;
}

static void push(ulna_row_stepper *t, const ulna_row *row, int whose, double c, double give, double centre)
{
    int i = t->count++;
    t->row[i] = row;
    t->whose[i] = whose;
    t->c[i] = c;
    t->E[i] = give;
    t->centre[i] = centre;
    t->is_equation[i] = (unsigned char)row->is_equation;
    t->active[i] = (unsigned char)(row->is_equation || whose < 0 || t->is_active[whose]);
}

static void push_constraint(ulna_row_stepper *t, const ulna_constrained *c, const ulna_row_step *step, int i)
{
    t->is_bordered[i] = 1;
    push(t, &c->rows[i], i, c->rows[i].value, step->give[i], step->centre[i]);
}

/* Terms and curvature that leave the pattern of the tree: 1/2 weight (row d)^2. */
static void push_quadratic(ulna_row_stepper *t, ulna_row *row, double weight)
{
    row->is_equation = 1;
    if (weight != 0 && t->extra_count < t->extra_capacity - t->limit_capacity) {
        push(t, row, QUADRATIC, 0, 1 / weight, 0);
        t->extra_count++;
    }
}

static void push_couplings(const ulna_solver *s, ulna_row_stepper *t)
{
    for (int k = 0; k < s->problem->coupling_count; k++) {
        double weight;
        ulna_row *row = &t->extra[t->extra_count];
        ulna_coupling_row(s->work, k, row, &weight);
        push_quadratic(t, row, weight);
    }
}

static void push_bends(const ulna_constrained *c, ulna_row_stepper *t, const ulna_row_step *step)
{
    ulna_row piece[ULNA_ROW_PIECES];
    double scale[ULNA_ROW_PIECES];
    for (int i = 0; i < c->count; i++) {
        int n = step->z[i] != 0 && c->rows[i].part_count == 2 ? ulna_row_couplings(&c->rows[i], piece, scale) : 0;
        for (int k = 0; k < n && t->extra_count < t->extra_capacity - t->limit_capacity; k++) {
            t->extra[t->extra_count] = piece[k];
            push_quadratic(t, &t->extra[t->extra_count], -step->z[i] * scale[k]);
        }
    }
}

/* The border of this step, and what joins the elimination. */
static ulna_status choose_rows(ulna_solver *s, ulna_row_stepper *t, const ulna_row_step *step)
{
    const ulna_constrained *c = s->constrained;
    t->count = t->extra_count = 0;
    for (int i = 0; i < c->count; i++) {
        double value = c->rows[i].value;
        t->load_w[i] = t->load_y[i] = 0;
        t->is_bordered[i] = 0;
        if (is_inside(&c->rows[i])) {
            t->load_w[i] = 1 / step->give[i];
            t->load_y[i] = step->centre[i] - value / step->give[i];
        } else if (c->rows[i].is_equation || t->is_active[i] || value <= 0 || step->centre[i] > 0) {
            push_constraint(t, c, step, i);
        }
    }
    push_couplings(s, t);
    if (step->exact)
        push_bends(c, t, step);
    return ulna_work_load_rows(s->work, c->rows, c->count, t->load_y, t->load_w, step->exact ? step->z : NULL);
}

/* ---- what the step breaks ------------------------------------------------------------------------------------------- */

static int add_broken_rows(ulna_solver *s, ulna_row_stepper *t, const ulna_row_step *step)
{
    const ulna_constrained *c = s->constrained;
    int added = 0;
    for (int i = 0; i < c->count; i++) {
        const ulna_row *row = &c->rows[i];
        if (t->is_bordered[i] || is_inside(row))
            continue;
        step->linear[i] = row->value + ulna_border_velocity(s->work, row, s->step);
        if (step->linear[i] < -row->noise && t->count < t->capacity) {
            push_constraint(t, c, step, i);
            t->active[t->count - 1] = 1;
            added++;
        }
    }
    return added;
}

static int has_limit_row(const ulna_row_stepper *t, int dof)
{
    for (int i = 0; i < t->count; i++)
        if (t->whose[i] == -1 - dof)
            return 1;
    return 0;
}

static int add_broken_limits(ulna_solver *s, ulna_row_stepper *t)
{
    static const double one = 1, minus_one = -1;
    int added = 0;
    for (int i = 0; i < s->limited_count; i++) {
        int dof = s->limited[i];
        double from = s->q[s->limited_at[i]], to = from + s->step[dof];
        double low = s->limited_low[i], high = s->limited_high[i];
        if (to >= low && to <= high)
            continue;
        double slack = 4 * DBL_EPSILON * (fabs(from) + fabs(to));
        int is_low = to<low - slack, is_high = to> high + slack;
        if ((!is_low && !is_high) || s->held[dof] || t->extra_count == t->extra_capacity || has_limit_row(t, dof))
            continue;
        ulna_row *row = &t->extra[t->extra_count++];
        ulna_row_clear(row);
        row->dof_count = 1;
        row->dof = &s->limited[i];
        row->coefficient = is_low ? &one : &minus_one;
        row->value = is_low ? from - low : high - from;
        push(t, row, -1 - dof, row->value, 0, 0);
        added++;
    }
    return added;
}

/* ---- solving --------------------------------------------------------------------------------------------------------- */

/* Rows from `first` on into the border; limits get their give, which is relative to S. */
static ulna_status border_rows(ulna_solver *s, ulna_row_stepper *t, int first)
{
    ulna_status status = ulna_border_add(s->work, &t->border, t->row + first, t->count - first);
    for (int i = first; i < t->count && status == ULNA_OK; i++) {
        if (t->whose[i] < 0 && t->whose[i] != QUADRATIC)
            t->E[i] = LIMIT_GIVE * fabs(t->border.schur[(size_t)i * (size_t)t->border.capacity + (size_t)i]);
        t->c[i] += t->border.drift[i];
    }
    return status;
}

/* Multipliers and step, until it breaks nothing. */
static ulna_status solve_dual(ulna_solver *s, ulna_row_stepper *t, ulna_row_step *step, int *negative)
{
    int done = 0;
    ulna_status status = ULNA_OK;
    for (int round = 0; status == ULNA_OK; round++) {
        status = border_rows(s, t, done);
        done = t->count;
        if (status == ULNA_OK)
            status = ulna_dual_solve(t->count, t->border.schur, t->border.capacity, t->c, t->E, t->centre,
                                     t->is_equation, t->active, t->beta, t->scratch, negative);
        if (status != ULNA_OK)
            return status;
        ulna_border_step(s->work, &t->border, t->beta, s->step);
        if (!(add_broken_rows(s, t, step) + add_broken_limits(s, t)))
            return ULNA_OK;
        if (round == ROUNDS) { /* what it still breaks is for the next step */
            t->count = done;
            return ULNA_OK;
        }
    }
    return status;
}

/* Negative curvature on the tangent of the rows, or a limit held against its sign because of it. */
static int has_wrong_inertia(const ulna_row_stepper *t, int negative)
{
    int wanted = t->border.negative;
    for (int i = 0; i < t->count; i++)
        wanted += t->active[i] && t->E[i] < 0;
    for (int i = 0; i < t->count; i++)
        if (t->whose[i] < 0 && t->whose[i] != QUADRATIC && t->active[i] &&
            t->border.schur[(size_t)i * (size_t)t->border.capacity + (size_t)i] < 0)
            return 1;
    return negative != wanted;
}

/*
 * What f - z . C, to second order in C, is predicted to fall by: -(g d + 1/2 dT H d). From M d = -gL + JT beta over the
 * border, with gL = g - sum y j and M = H + shift + sum w j jT over the rows inside, and gL d = -2 decrease - beta . J d0.
 */
static void predict(ulna_solver *s, const ulna_row_stepper *t, ulna_row_step *step)
{
    const ulna_constrained *c = s->constrained;
    double along = -2 * t->border.decrease, rest = 0, cost = 0;
    for (int i = 0; i < t->count; i++) {
        double velocity = t->c[i] - (t->whose[i] == QUADRATIC ? 0 : t->row[i]->value);
        along -= t->border.drift[i] * t->beta[i];
        for (int j = 0; j < t->count; j++)
            velocity += t->border.schur[(size_t)j * (size_t)t->border.capacity + (size_t)i] * t->beta[j];
        rest -= 0.5 * velocity * t->beta[i];
        if (t->whose[i] == QUADRATIC)
            rest -= 0.5 * velocity * velocity / t->E[i];
    }
    for (int i = 0; i < c->count; i++)
        if (t->load_w[i] != 0) {
            double velocity = step->linear[i] - c->rows[i].value;
            rest += velocity * (0.5 * t->load_w[i] * velocity - t->load_y[i]);
        }
    for (int j = 0; j < s->nv; j++)
        cost += 0.5 * s->shift[j] * s->step[j] * s->step[j];
    step->predicted = rest - 0.5 * along + cost;
}

/* Multipliers and linearised values of all rows. */
static void collect(ulna_solver *s, ulna_row_stepper *t, ulna_row_step *step)
{
    const ulna_constrained *c = s->constrained;
    for (int i = 0; i < c->count; i++) {
        if (t->is_bordered[i] || is_inside(&c->rows[i])) /* the others are known: the step was seen to keep them */
            step->linear[i] = c->rows[i].value + ulna_border_velocity(s->work, &c->rows[i], s->step);
        step->beta[i] = is_inside(&c->rows[i]) ? step->centre[i] - step->linear[i] / step->give[i] : 0;
        t->is_active[i] = 0;
    }
    step->met = 0;
    for (int i = 0; i < t->count; i++)
        if (t->whose[i] >= 0) {
            step->beta[t->whose[i]] = t->beta[i];
            t->is_active[t->whose[i]] = t->active[i];
        } else {
            step->met += t->whose[i] != QUADRATIC && t->active[i];
        }
}

/* Locked DOFs, and those that the gradient of the Lagrangian presses against a limit. */
static ulna_status hold_pressed(ulna_solver *s, int *holds)
{
    if (!ulna_is_on_limits(s)) {
        memcpy(s->held, s->locked, (size_t)s->nv);
        *holds = s->has_locked;
        return ULNA_OK;
    }
    ulna_status status = ulna_gradient_here(s);
    *holds = status == ULNA_OK ? ulna_mark_held(s) : 0;
    return status;
}

ulna_status ulna_take_row_step(ulna_solver *s, ulna_row_stepper *t, ulna_row_step *step)
{
    int negative = 0, holds = 0;
    ulna_status status = hold_pressed(s, &holds);
    if (status != ULNA_OK)
        return status;
    for (int j = 0; j < s->nv; j++)
        s->shift[j] = step->lambda * s->metric[j];
    status = choose_rows(s, t, step);
    if (status != ULNA_OK)
        return status;
    ulna_step_options options = {.t = step->exact, .shift = s->shift, .locked = holds ? s->held : NULL};
    s->result.factorisations++;
    status = ulna_border_factor(s->work, &options, &t->border);
    if (status == ULNA_OK)
        status = solve_dual(s, t, step, &negative);
    if (status != ULNA_OK)
        return status;
    step->is_wrong = step->exact && has_wrong_inertia(t, negative);
    collect(s, t, step);
    predict(s, t, step);
    return ULNA_OK;
}
