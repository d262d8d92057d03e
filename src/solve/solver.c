/* Solvers: their memory and options, and the small services that methods share. */
#include "solve/constrained.h"

#include <float.h>
#include <stdlib.h>

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static ulna_status take_arrays(ulna_solver *s, ulna_arena *arena, ulna_error *error)
{
    size_t nv = (size_t)s->nv, nq = (size_t)s->nq;
    double **per_dof[] = {&s->lower,        &s->upper,    &s->unit,        &s->scale,        &s->metric,
                          &s->inverse_unit, &s->strength, &s->limited_low, &s->limited_high, &s->displacement,
                          &s->shift,        &s->step,     &s->gradient};
    double **per_coordinate[] = {&s->q, &s->trial, &s->best_q, &s->start_q, &s->attempt_q};
    for (size_t i = 0; i < sizeof per_dof / sizeof *per_dof; i++)
        *per_dof[i] = ulna_arena_take(arena, nv, sizeof(double));
    for (size_t i = 0; i < sizeof per_coordinate / sizeof *per_coordinate; i++)
        *per_coordinate[i] = ulna_arena_take(arena, nq, sizeof(double));
    s->limited = ulna_arena_take(arena, nv, sizeof *s->limited);
    s->limited_at = ulna_arena_take(arena, nv, sizeof *s->limited_at);
    s->locked = ulna_arena_take(arena, nv, 1);
    s->held = ulna_arena_take(arena, nv, 1);
    s->constrained = NULL;
    if (ulna_problem_row_count(s->problem)) {
        s->constrained = ulna_arena_take(arena, 1, sizeof *s->constrained);
        ulna_constrained_take(arena->memory ? s->constrained : &(ulna_constrained){0}, s->problem, arena);
    }
    return s->method->layout ? s->method->layout(s, s->state, arena, error) : ULNA_OK;
}

/* ---- penalty ------------------------------------------------------------------------------------------------------ */

/*
 * penalty: another method, with the limits as a term in place of bounds.
 *
 * Source: convex IK, section 5.1, eq. 16: f + lambda sum dist(q_i, [lower_i, upper_i])^2, lambda = 100, where f is twice that of
 * problem.h. The penalty is 1/2 lambda length^2 dist^2 for rotations, a term of type limits; length is the problem's, which makes lambda
 * a plain number, or options.penalty.length. The paper does not say in which unit its lambda is.
 *
 * There is no iteration of its own. The driver solves a copy of the caller's problem that has the term, with the method that
 * options.penalty.method names, and the result's f is that of the caller's problem.
 * Fails to keep the limits exactly: the answer lies beyond them by the pull of the goals over lambda (result.violation).
 */
const ulna_method ulna_method_penalty = {
    .info = {.name = "penalty",
             .summary = "any other method, with limits as penalties; they are kept to O(1 / weight)",
             .source = "convex IK, eq. 16",
             .supports = "what the inner method (penalty.method) does",
             .flags = ULNA_METHOD_SOFT,
             .iterations = 300},
    .patience = 1,
};

/* Weight of the term: its unit of length for angles is options.penalty.length in place of the problem's. */
static double penalty_weight(const ulna_solver *s)
{
    double length = s->options.penalty.length, ratio = length > 0 ? length / s->given->length : 1;
    return s->options.penalty.weight * ratio * ratio;
}

/* For `penalty`: the problem with its limits as a term, and the method that solves it. */
static ulna_status make_penalty(ulna_solver *s, const ulna_method *inner, ulna_error *error)
{
    const ulna_options *o = &s->options;
    const char *name = o->penalty.method ? o->penalty.method : "hybrid";
    if (!inner || inner == s->method)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "option penalty.method: there is no method '%.64s' that it could use", name);
    s->method = inner;
    s->options.penalty.method = inner->info.name;
    s->bounded = 0;
    ulna_status status = ulna_problem_clone(s->given, &s->allocator, &s->own, error);
    if (status != ULNA_OK)
        return status;
    const double *low = o->lower ? o->lower : s->model->lower, *high = o->upper ? o->upper : s->model->upper;
    status = ulna_problem_add_limits(s->own, low, high, penalty_weight(s), &s->penalty_term, error);
    if (status == ULNA_OK)
        status = ulna_problem_ready(s->own, error);
    s->problem = s->own;
    return status;
}

ulna_status ulna_solver_copy_goals(ulna_solver *s)
{
    if (s->given->structure != s->given_structure)
        return ULNA_ERR_STATE; /* terms were added since */
    return ulna_problem_copy_goals(s->given, s->own);
}

ulna_status ulna_solver_first_f(ulna_solver *s)
{
    ulna_status status = ulna_problem_set_weight(s->own, s->penalty_term, 0);
    if (status == ULNA_OK)
        status = ulna_work_evaluate(s->work, s->q, &s->result.first_f);
    s->result.evaluations++;
    if (status == ULNA_OK)
        status = ulna_problem_set_weight(s->own, s->penalty_term, s->options.bounded ? penalty_weight(s) : 0);
    return status;
}

ulna_status ulna_solver_drop_penalty(ulna_solver *s)
{
    ulna_problem_set_weight(s->own, s->penalty_term, 0);
    s->predicted = s->gradient_known = 0;
    s->result.evaluations++;
    ulna_status status = ulna_work_evaluate(s->work, s->q, &s->f);
    s->at_q = status == ULNA_OK;
    return status;
}

/* ---- options in force and creation ------------------------------------------------------------------------------ */

/* A strength below this is none: its square would leave the range of numbers. */
#define WEAKEST 1e-100

/* A threshold for f as it is given: m^2, or if negative a multiple of the length scale squared. */
static double in_metres2(const ulna_solver *s, double threshold)
{
    return threshold < 0 ? -threshold * s->length2 : threshold;
}

/* What is measured by the length scale: units of DOFs, and thresholds. */
static void set_length(ulna_solver *s)
{
    s->length2 = s->length * s->length;
    for (int j = 0; j < s->nv; j++) {
        s->unit[j] = ulna_model_dof_is_translation(s->model, j) ? s->length : 1;
        s->inverse_unit[j] = 1 / s->unit[j];
        s->scale[j] = s->unit[j] * (s->strength[j] > WEAKEST ? s->strength[j] : 1);
        s->metric[j] = 1 / (s->scale[j] * s->scale[j]);
    }
    s->options.objective = in_metres2(s, s->objective);
    s->options.stop_below = in_metres2(s, s->stop_below);
}

void ulna_solver_measure(ulna_solver *s)
{
    if (s->model->has_length)
        return;
    s->length = ulna_problem_length_scale(s->problem);
    set_length(s);
}

/* Coupled DOFs (model.h) have no limits of their own: two limits and an equation for one motion would be one too many. What
 * the options ask of them is asked of their masters; if one is locked, so are all that move with it. */
static void set_couplings(ulna_solver *s)
{
    const ulna_model *model = s->model;
    for (int i = 0; i < model->nc; i++) {
        const ulna_coupling *c = &model->coupling[i];
        double m = c->multiplier, a = (s->lower[c->dof] - c->offset) / m, b = (s->upper[c->dof] - c->offset) / m;
        if (m != 0 && (s->options.lower || s->options.upper)) { /* the model's own are cut already */
            double low = fmax(s->lower[c->master], fmin(a, b)), high = fmin(s->upper[c->master], fmax(a, b));
            s->lower[c->master] = fmin(low, s->upper[c->master]);
            s->upper[c->master] = fmax(high, s->lower[c->master]);
        }
        s->lower[c->dof] = -(double)INFINITY;
        s->upper[c->dof] = (double)INFINITY;
        s->locked[c->master] |= s->locked[c->dof];
    }
    for (int i = 0; i < model->nc; i++)
        s->locked[model->coupling[i].dof] |= s->locked[model->coupling[i].master];
}

/* Everything that the options say about DOFs, and thresholds in the problem's own unit. */
static void set_arrays(ulna_solver *s)
{
    const ulna_options *o = &s->options;
    const ulna_model *model = s->model;
    s->has_locked = s->has_vectors = s->limited_count = 0;
    for (int j = 0; j < s->nv; j++) {
        s->has_vectors |= model->dof_segment[j] > ULNA_SEGMENT_BALL;
        double strength = o->strength ? o->strength[j] : model->strength[j];
        int has_coordinate = model->dof_coordinate[j] >= 0;
        s->lower[j] = !has_coordinate ? -(double)INFINITY : o->lower ? o->lower[j] : model->lower[j];
        s->upper[j] = !has_coordinate ? (double)INFINITY : o->upper ? o->upper[j] : model->upper[j];
        s->strength[j] = strength;
        s->locked[j] = (o->locked && o->locked[j]) || !(strength > WEAKEST);
    }
    set_couplings(s);
    for (int j = 0; j < s->nv; j++) {
        s->has_locked |= s->locked[j];
        if (s->bounded && (s->lower[j] > -(double)INFINITY || s->upper[j] < (double)INFINITY)) {
            int i = s->limited_count++;
            s->limited[i] = j;
            s->limited_at[i] = model->dof_coordinate[j];
            s->limited_low[i] = s->lower[j];
            s->limited_high[i] = s->upper[j];
        }
    }
    s->monotone = (s->method->info.flags & ULNA_METHOD_MONOTONE) &&
                  !(s->method == &ulna_method_gradient && o->alpha.gradient > 0);
    s->objective = o->objective;
    s->stop_below = o->stop_below;
    set_length(s);
    s->options.lower = s->lower;
    s->options.upper = s->upper;
    s->options.locked = s->locked;
    s->options.strength = s->strength;
}

/* OpenBLAS takes 128 MB of address space at its first call. Where there is none (ulimit -v) it tries for ever. */
static int has_room_for_lapack(void)
{
    void *volatile room = malloc((size_t)160 << 20); /* only asked for, not touched */
    free(room);
    return room != NULL;
}

static int has_levels(const ulna_problem *problem)
{
    for (int i = 0; i < ulna_problem_constraint_count(problem); i++)
        if (ulna_problem_constraint(problem, i)->level > 0)
            return 1;
    return 0;
}

/* A problem with constraints is for methods that keep them. */
static ulna_status choose_for_constraints(ulna_solver *s, ulna_error *error)
{
    if (!ulna_problem_row_count(s->problem))
        return ULNA_OK;
    if (s->method == &ulna_method_hybrid)
        s->method = has_levels(s->problem) ? &ulna_method_hybrid_levels : &ulna_method_hybrid_constrained;
    if (s->method == &ulna_method_hybrid_constrained || s->method == &ulna_method_hybrid_levels ||
        s->method->info.flags & ULNA_METHOD_CONSTRAINED)
        return ULNA_OK;
    if (ulna_problem_constraint_count(s->problem) == s->model->nc)
        return ulna_fail(
            error, ULNA_ERR_UNSUPPORTED,
            "method '%s' does not keep couplings, and joints of the model follow others (mimic joints): use hybrid, lagrange or virtual-work",
            s->method->info.name);
    return ulna_fail(
        error, ULNA_ERR_UNSUPPORTED,
        "method '%s' does not keep constraints, and the problem has some: use hybrid, lagrange or virtual-work",
        s->method->info.name);
}

static ulna_status prepare(ulna_solver *layout, const ulna_problem *problem, const ulna_options *options,
                           const ulna_method *method, const ulna_method *inner, ulna_error *error)
{
    ulna_status status = ulna_options_check(options, problem->model, error);
    if (status != ULNA_OK)
        return status;
    layout->options = *options;
    if (!layout->options.method)
        layout->options.method = "hybrid";
    layout->method = method;
    if (!layout->method)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "there is no method '%.64s'", layout->options.method);
    layout->options.method = layout->method->info.name;
    status = choose_for_constraints(layout, error);
    if (status != ULNA_OK)
        return status;
    layout->bounded = options->bounded && (layout->method->info.flags & ULNA_METHOD_BOUNDED);
    if (!layout->method->iterate) /* penalty */
        status = make_penalty(layout, inner, error);
    if (status == ULNA_OK && (layout->method->info.flags & ULNA_METHOD_LAPACK) && !ulna_dense_available())
        status = ulna_fail(error, ULNA_ERR_UNSUPPORTED, "method '%s' needs LAPACK, which this build does not have",
                           layout->method->info.name);
    if (status == ULNA_OK && (layout->method->info.flags & ULNA_METHOD_LAPACK) && !has_room_for_lapack())
        status = ulna_fail(error, ULNA_ERR_MEMORY, "method '%s' needs LAPACK, and there is no memory for its buffers",
                           layout->method->info.name);
    if (status == ULNA_OK)
        status = ulna_work_create(layout->problem, &layout->allocator, &layout->work, error);
    return status;
}

ulna_status ulna_solver_create_with(const ulna_problem *problem, const ulna_options *options, const ulna_method *method,
                                    const ulna_method *inner, const ulna_allocator *allocator, ulna_solver **solver,
                                    ulna_error *error)
{
    if (!solver)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the solver given");
    *solver = NULL;
    if (!problem)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a solver needs a problem");
    if (!problem->ready)
        return ulna_fail(error, ULNA_ERR_STATE, "call ulna_problem_ready after adding terms");

    ulna_options defaults = ulna_options_default();
    ulna_solver layout = {.allocator = ulna_allocator_or_default(allocator),
                          .problem = problem,
                          .given = problem,
                          .given_structure = problem->structure,
                          .model = problem->model,
                          .nv = problem->model->nv,
                          .nq = problem->model->nq,
                          .length = ulna_problem_length_scale(problem),
                          .penalty_term = ULNA_NONE};
    void *memory = NULL;
    ulna_arena arena = {NULL, sizeof layout, 0};
    ulna_status status = prepare(&layout, problem, options ? options : &defaults, method, inner, error);
    if (status == ULNA_OK)
        status = take_arrays(&layout, &arena, error);
    if (status == ULNA_OK && arena.failed)
        status = ulna_fail(error, ULNA_ERR_LIMIT, "the solver for this problem does not fit in memory");
    if (status == ULNA_OK) {
        memory = ulna_allocate(&layout.allocator, arena.used, 1);
        if (!memory)
            status = ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a solver of %zu bytes", arena.used);
    }
    if (status != ULNA_OK || !memory) {
        ulna_work_destroy(layout.work);
        ulna_problem_destroy(layout.own);
        return status;
    }
    layout.bytes = arena.used;
    arena = (ulna_arena){memory, sizeof layout, 0};
    take_arrays(&layout, &arena, NULL);
    *solver = memory;
    **solver = layout;
    set_arrays(*solver);
    return ULNA_OK;
}

void ulna_solver_destroy(ulna_solver *s)
{
    if (s) {
        ulna_allocator allocator = s->allocator;
        ulna_work_destroy(s->work);
        ulna_problem_destroy(s->own);
        ulna_release(&allocator, s, s->bytes, 1);
    }
}

ulna_status ulna_solver_set_options(ulna_solver *s, const ulna_options *options, ulna_error *error)
{
    if (!s || !options)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no solver or no options given");
    ulna_status status = ulna_options_check(options, s->model, error);
    if (status != ULNA_OK)
        return status;
    const ulna_options *old = &s->options;
    const char *name = options->method ? options->method : "hybrid";
    const char *inner = options->penalty.method ? options->penalty.method : "hybrid";
    if (strcmp(name, old->method) != 0 || (s->own && strcmp(inner, s->method->info.name) != 0) ||
        options->line.memory != old->line.memory || options->pcg.band_width != old->pcg.band_width ||
        options->pcg.nearest_spd != old->pcg.nearest_spd || options->pinv.form != old->pinv.form ||
        options->virtual_work.step != old->virtual_work.step || !options->lagrange.slack != !old->lagrange.slack)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "the method and the options that set memory sizes cannot change: create another solver");
    name = old->method; /* outlives the caller's */
    s->running = 0;
    s->options = *options;
    s->options.method = name;
    if (s->own)
        s->options.penalty.method = s->method->info.name;
    s->bounded = !s->own && options->bounded && (s->method->info.flags & ULNA_METHOD_BOUNDED);
    set_arrays(s);
    if (s->own) {
        memcpy(s->own->term[s->penalty_term].values, s->lower, (size_t)s->nv * sizeof *s->lower);
        memcpy(s->own->term[s->penalty_term].values + s->nv, s->upper, (size_t)s->nv * sizeof *s->upper);
    }
    return ULNA_OK;
}

void ulna_solver_forget(ulna_solver *s)
{
    if (s)
        s->forget = 1;
}

/* ---- looking --------------------------------------------------------------------------------------------------- */

const ulna_options *ulna_solver_options(const ulna_solver *s)
{
    return s ? &s->options : NULL;
}

const double *ulna_solver_q(const ulna_solver *s)
{
    return s ? s->q : NULL;
}

double ulna_solver_f(const ulna_solver *s)
{
    return s ? s->f : (double)NAN;
}

ulna_work *ulna_solver_work(ulna_solver *s)
{
    return s ? s->work : NULL;
}

const unsigned char *ulna_solver_locked(const ulna_solver *s)
{
    return s ? s->held : NULL;
}

int ulna_solver_reached(ulna_solver *s, double metres, double radians, int *worst)
{
    double most = -1;
    if (worst)
        *worst = ULNA_NONE;
    if (!s || s->running || s->changes != s->given->changes || !s->result.attempts)
        return 0;
    for (size_t i = 0; i < s->given->term_count; i++) {
        const ulna_term *term = &s->given->term[i];
        double error, tolerance = ulna_term_kind_of(term->type)->is_rotation ? radians : metres;
        if (term->body < 0 || !(ulna_term_weight(s->given, term) > 0))
            continue;
        if (ulna_work_term_error(s->work, (int)i, &error) != ULNA_OK) { /* not solved, or goals have changed since */
            if (worst)
                *worst = (int)i;
            return 0;
        }
        double excess = tolerance > 0 ? error / tolerance : error > 0 ? (double)INFINITY : 0;
        if (excess > most) {
            most = excess;
            if (worst)
                *worst = (int)i;
        }
    }
    return most <= 1;
}

/* ---- for methods ------------------------------------------------------------------------------------------------ */

ulna_status ulna_try_q(ulna_solver *s, double *f)
{
    ulna_status status = ulna_work_evaluate(s->work, s->trial, f);
    s->result.evaluations++;
    s->at_q = 0;
    if (status == ULNA_ERR_NUMBER) { /* overflow: no place to go to */
        *f = (double)INFINITY;
        status = ULNA_OK;
    }
    return status;
}

/* Inside the limits, and exactly on one that the step was to end on: q + (limit - q) may miss it by rounding. */
void ulna_solver_land(ulna_solver *s)
{
    const int *at = s->limited_at;
    const double *low = s->limited_low, *high = s->limited_high, *q = s->q;
    double *x = s->trial;
    for (int i = 0; i < s->limited_count; i++) {
        double slack = 4 * DBL_EPSILON * (fabs(q[at[i]]) + fabs(x[at[i]])), to = x[at[i]];
        to = to < low[i] + slack ? low[i] : to;
        x[at[i]] = to > high[i] - slack ? high[i] : to;
    }
}

ulna_status ulna_try(ulna_solver *s, const double *step, double length, double *f)
{
    const double *along = step;
    if (length != 1) {
        for (int j = 0; j < s->nv; j++)
            s->displacement[j] = length * step[j];
        along = s->displacement;
    }
    ulna_model_integrate(s->model, s->q, along, s->trial);
    ulna_solver_land(s);
    return ulna_try_q(s, f);
}

ulna_status ulna_try_shorter(ulna_solver *s, const double *step, double *length, double *f)
{
    ulna_status status = ulna_try(s, step, *length, f);
    for (int i = 0; status == ULNA_OK && isinf(*f) && i < 40; i++)
        status = ulna_try(s, step, *length /= 2, f);
    return status;
}

void ulna_accept(ulna_solver *s, const double *step, double length, double f)
{
    double *old = s->q;
    s->now.accepted = 1;
    s->now.decrease = s->f - f;
    s->now.step = fabs(length) * ulna_step_size(s, step);
    s->q = s->trial;
    s->trial = old;
    s->f = f;
    s->at_q = 1;
    s->gradient_known = 0;
    s->minimum = s->minimum > 0;
}

ulna_status ulna_return(ulna_solver *s)
{
    if (s->at_q)
        return ULNA_OK;
    double f;
    ulna_status status = ulna_work_evaluate(s->work, s->q, &f);
    s->result.evaluations++;
    s->at_q = status == ULNA_OK;
    return status;
}

ulna_status ulna_gradient_here(ulna_solver *s)
{
    if (s->gradient_known)
        return ULNA_OK;
    ulna_status status = ulna_return(s);
    if (status == ULNA_OK && s->constrained) /* rows of the last step are in the work */
        status = ulna_work_load_rows(s->work, NULL, 0, NULL, NULL, NULL);
    if (status == ULNA_OK)
        status = ulna_work_gradient(s->work, s->gradient);
    if (status == ULNA_OK && s->constrained) /* of the Lagrangian */
        ulna_take_off_multipliers(s);
    s->result.gradients++;
    s->gradient_known = status == ULNA_OK;
    return status;
}

double ulna_step_size(const ulna_solver *s, const double *step)
{
    double most = 0;
    for (int j = 0; j < s->nv; j++) {
        double size = fabs(step[j]) * s->inverse_unit[j];
        most = size > most ? size : most;
    }
    return most;
}

int ulna_at_limit(const ulna_solver *s, const double *q, int dof)
{
    int c = s->model->dof_coordinate[dof];
    if (c < 0)
        return 0;
    int low = q[c] <= s->lower[dof], high = q[c] >= s->upper[dof];
    return low && high ? 2 : high - low;
}

/* Would the negative gradient leave through a limit, or is the DOF not to move at all? */
static int is_barred(const ulna_solver *s, int dof)
{
    if (s->locked[dof])
        return 1;
    if (!s->bounded)
        return 0;
    int at = ulna_at_limit(s, s->q, dof);
    return at == 2 || (at < 0 && s->gradient[dof] > 0) || (at > 0 && s->gradient[dof] < 0);
}

double ulna_projected_gradient(const ulna_solver *s)
{
    double most = 0;
    for (int j = 0; j < s->nv; j++) {
        double size = fabs(s->gradient[j]) * s->unit[j];
        if (size > most && !is_barred(s, j))
            most = size;
    }
    return most;
}

int ulna_mark_held(ulna_solver *s)
{
    int count = 0;
    for (int j = 0; j < s->nv; j++)
        count += s->held[j] = (unsigned char)is_barred(s, j);
    return count;
}
