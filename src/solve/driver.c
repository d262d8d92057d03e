/*
 * The driver: start, iterations, stopping, restarts, trace, and a result that is true of the q that comes back.
 *
 * Methods only make iterations (solver.h). Whether an iteration was the last is decided here, in judge(), by the same
 * rules for all of them.
 */
#include "solve/solver.h"

/* ---- the record ------------------------------------------------------------------------------------------------ */

static void write_trace(ulna_solver *s, const ulna_trace_row *row)
{
    if (s->result.trace_count < s->options.trace_capacity)
        s->options.trace[s->result.trace_count] = *row;
    s->result.trace_count++;
}

static int is_watched(const ulna_solver *s)
{
    return s->options.trace_capacity > 0 || s->options.cancel;
}

static ulna_status describe(ulna_solver *s, ulna_trace_row *row)
{
    ulna_status status = s->predicted ? ULNA_OK : ulna_gradient_here(s);
    if (status != ULNA_OK)
        return status;
    *row = (ulna_trace_row){
        .attempt = s->attempt,
        .iteration = s->iteration,
        .evaluations = s->result.evaluations,
        .accepted = s->iteration == 0 || s->now.accepted,
        .negative = s->now.negative,
        .f = s->f,
        .gradient = s->predicted ? (double)NAN : ulna_projected_gradient(s),
        .step = s->now.step,
        .damping = s->now.damping,
        .dial = s->now.dial,
        .seconds = ulna_seconds() - s->started,
    };
    return ULNA_OK;
}

/* ---- stopping -------------------------------------------------------------------------------------------------- */

static int is_flat(const ulna_solver *s)
{
    return s->gradient_known && ulna_projected_gradient(s) <= s->options.gradient * s->length2;
}

static ulna_stop judge(ulna_solver *s)
{
    const ulna_options *o = &s->options;
    int limit = o->iterations ? o->iterations : s->method->info.iterations;
    if (s->f <= o->objective)
        return ULNA_STOP_OBJECTIVE;
    if (s->now.stop != ULNA_STOP_NONE)
        return s->now.stop;
    if (s->method->uses_gradient && is_flat(s))
        return ULNA_STOP_GRADIENT;
    if (s->iteration > 0 && s->now.accepted) {
        int is_lean = !s->now.unsettled && s->now.decrease <= o->decrease * (s->f + s->now.decrease);
        s->lean = is_lean ? s->lean + 1 : 0;
        if (o->decrease > 0 && s->lean >= s->method->patience)
            return ULNA_STOP_DECREASE;
        if (s->now.step <= o->step && !s->now.unsettled)
            return ULNA_STOP_STEP;
    }
    if (s->iteration >= limit)
        return ULNA_STOP_ITERATIONS;
    if (o->evaluations && s->result.evaluations >= o->evaluations)
        return ULNA_STOP_EVALUATIONS;
    if (o->seconds > 0 && ulna_seconds() - s->started >= o->seconds)
        return ULNA_STOP_TIME;
    return ULNA_STOP_NONE;
}

/* The best point of methods that may climb. */
static void keep_best(ulna_solver *s)
{
    if (s->f < s->attempt_f && !(s->method->info.flags & ULNA_METHOD_MONOTONE)) {
        s->attempt_f = s->f;
        memcpy(s->attempt_q, s->q, (size_t)s->nq * sizeof *s->q);
    }
}

/* A method that climbed at the end goes back to its best point, and what is said is said of that one. */
static ulna_status go_to_best(ulna_solver *s, ulna_stop *stop)
{
    if ((s->method->info.flags & ULNA_METHOD_MONOTONE) || !(s->attempt_f < s->f))
        return ULNA_OK;
    double risen = s->f - s->attempt_f;
    memcpy(s->q, s->attempt_q, (size_t)s->nq * sizeof *s->q);
    s->f = s->attempt_f;
    s->at_q = s->gradient_known = 0;
    ulna_status status = ulna_gradient_here(s);
    if (*stop == ULNA_STOP_GRADIENT || *stop == ULNA_STOP_STEP ||
        (*stop == ULNA_STOP_DECREASE && risen > s->options.decrease * s->f))
        *stop = is_flat(s) ? ULNA_STOP_GRADIENT : ULNA_STOP_STALLED;
    return status;
}

/* ---- attempts -------------------------------------------------------------------------------------------------- */

static ulna_status after_iteration(ulna_solver *s);

static ulna_status begin_attempt(ulna_solver *s)
{
    s->at_q = s->gradient_known = s->predicted = s->verified = 0;
    s->iteration = s->lean = 0;
    s->now = (ulna_iteration){.negative = -1};
    ulna_status status = ulna_evaluate(s->work, s->q, &s->f);
    s->result.evaluations++;
    if (status != ULNA_OK)
        return status;
    s->at_q = 1;
    if (s->attempt == 0)
        s->result.first_f = s->f - ulna_solver_penalty(s);
    s->attempt_f = (double)INFINITY;
    if (s->method->begin)
        status = s->method->begin(s, s->state);
    return status == ULNA_OK ? after_iteration(s) : status;
}

static int is_final(ulna_stop stop)
{
    return stop == ULNA_STOP_EVALUATIONS || stop == ULNA_STOP_TIME || stop == ULNA_STOP_CANCELLED;
}

/* Keeps the attempt if it is the best, and begins another one if that is wanted. */
static ulna_status end_attempt(ulna_solver *s, ulna_stop stop)
{
    ulna_status status = go_to_best(s, &stop);
    if (status != ULNA_OK)
        return status;
    ulna_result *r = &s->result;
    const ulna_options *o = &s->options;
    int is_first = s->attempt == 0, is_better = is_first || s->f < s->best_f;
    if (!is_first && fabs(s->f - s->best_f) <= 0.01 * fmin(s->f, s->best_f) + o->objective)
        s->agreed++;
    else if (is_better)
        s->agreed = 1;
    if (is_better) {
        s->best_f = s->f;
        s->best_stop = stop;
        s->best_verified = s->verified;
        s->best_predicted = s->predicted;
        r->best_attempt = s->attempt;
        memcpy(s->best_q, s->q, (size_t)s->nq * sizeof *s->q);
    }
    r->attempts = s->attempt + 1;
    int is_enough = s->best_f <= o->enough || s->best_f <= o->objective || (o->agree > 0 && s->agreed >= o->agree);
    if (is_final(stop) || is_enough || s->attempt >= o->restarts) {
        r->stop = is_final(stop) && s->best_stop != ULNA_STOP_OBJECTIVE ? stop : s->best_stop;
        return ULNA_OK;
    }
    s->attempt++;
    status = ulna_start_again(s);
    return status == ULNA_OK ? begin_attempt(s) : status;
}

static ulna_status after_iteration(ulna_solver *s)
{
    ulna_status status = ULNA_OK;
    ulna_trace_row row;
    if ((s->method->uses_gradient && !s->predicted) || is_watched(s))
        status = s->predicted ? ULNA_OK : ulna_gradient_here(s);
    if (status != ULNA_OK)
        return status;
    keep_best(s);
    ulna_stop stop = judge(s);
    if (is_watched(s)) {
        status = describe(s, &row);
        write_trace(s, &row);
        if (s->options.cancel && s->options.cancel(s->options.cancel_context, &row) && stop != ULNA_STOP_OBJECTIVE)
            stop = ULNA_STOP_CANCELLED;
    }
    if (status != ULNA_OK || stop == ULNA_STOP_NONE)
        return status;
    return end_attempt(s, stop);
}

/* ---- the public calls ------------------------------------------------------------------------------------------ */

int ulna_solver_clamp(const ulna_solver *s, double *q)
{
    const int *at = s->limited_at;
    const double *low = s->limited_low, *high = s->limited_high;
    int moved = 0;
    for (int i = 0; i < s->limited_count; i++) {
        double x = q[at[i]], inside = x < low[i] ? low[i] : x;
        inside = inside > high[i] ? high[i] : inside;
        moved += inside != x;
        q[at[i]] = inside;
    }
    return moved;
}

/* What a diagonal element of the Hessian may be, roughly: all weights at the distance of the length scale. */
static double curvature_scale(const ulna_solver *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->problem->term_count; i++) {
        const ulna_term *term = &s->problem->term[i];
        int is_length = term->type == ULNA_TERM_POINT || term->type == ULNA_TERM_PLANE || term->type == ULNA_TERM_LINE;
        sum += ulna_term_weight(s->problem, term) * (is_length ? s->length2 : 1);
    }
    return sum;
}

ulna_status ulna_solver_begin(ulna_solver *s, const double *q)
{
    if (!s || !q)
        return ULNA_ERR_ARGUMENT;
    s->running = 0;
    ulna_status status = ulna_model_check_q(s->model, q, NULL);
    if (status == ULNA_OK && s->own)
        status = ulna_solver_copy_goals(s);
    if (status != ULNA_OK)
        return status;
    s->result = (ulna_result){.stop = ULNA_STOP_NONE};
    s->started = ulna_seconds();
    s->changes = s->given->changes;
    s->attempt = s->agreed = 0;
    s->random = s->options.seed;
    s->curvature = curvature_scale(s);
    memcpy(s->q, q, (size_t)s->nq * sizeof *q);
    s->result.clamped = ulna_solver_clamp(s, s->q);
    memcpy(s->start_q, s->q, (size_t)s->nq * sizeof *q);
    status = begin_attempt(s);
    s->running = status == ULNA_OK;
    return status;
}

ulna_status ulna_solver_step(ulna_solver *s, ulna_stop *stop)
{
    if (!s || !stop)
        return ULNA_ERR_ARGUMENT;
    if (!s->running || s->changes != s->given->changes)
        return ULNA_ERR_STATE;
    ulna_status status = ULNA_OK;
    if (s->result.stop == ULNA_STOP_NONE) {
        s->now = (ulna_iteration){.negative = -1};
        status = ulna_return(s);
        if (status == ULNA_OK)
            status = s->method->iterate(s, s->state);
        s->iteration++;
        s->result.iterations++;
        if (status == ULNA_OK)
            status = after_iteration(s);
    }
    if (status != ULNA_OK)
        s->running = 0;
    *stop = s->result.stop;
    return status;
}

static void measure_limits(ulna_solver *s)
{
    ulna_result *r = &s->result;
    r->violation = 0;
    r->at_limits = 0;
    for (int j = 0; j < s->nv; j++) {
        int c = s->model->dof_coordinate[j];
        if (c < 0 || !ulna_at_limit(s, s->q, j))
            continue;
        r->at_limits++;
        r->violation = fmax(r->violation, fmax(s->lower[j] - s->q[c], s->q[c] - s->upper[j]));
    }
}

ulna_status ulna_solver_end(ulna_solver *s, double *q, ulna_result *result)
{
    if (!s || !q)
        return ULNA_ERR_ARGUMENT;
    if (!s->running)
        return ULNA_ERR_STATE;
    ulna_status status = ULNA_OK;
    if (s->result.stop == ULNA_STOP_NONE) { /* the caller ends it */
        s->options.restarts = 0;
        status = end_attempt(s, ULNA_STOP_CANCELLED);
    }
    s->running = 0;

    /* The work stands at the answer, and the gradient is that of the answer. */
    ulna_result *r = &s->result;
    if (s->best_f != s->f || r->best_attempt != s->attempt) {
        memcpy(s->q, s->best_q, (size_t)s->nq * sizeof *s->q);
        s->f = s->best_f;
        s->predicted = s->best_predicted;
        s->at_q = s->gradient_known = 0;
    }
    if (status == ULNA_OK && s->own)
        status = ulna_solver_drop_penalty(s);
    if (status == ULNA_OK && !s->predicted) {
        status = ulna_gradient_here(s);
        ulna_mark_held(s, s->held);
    }
    if (status != ULNA_OK)
        return status;
    r->gradient = s->predicted ? (double)NAN : ulna_projected_gradient(s);
    r->f = s->f;
    r->predicted = s->predicted;
    r->verified = s->best_verified;
    r->converged = r->stop >= ULNA_STOP_OBJECTIVE && r->stop <= ULNA_STOP_STEP;
    measure_limits(s);
    r->seconds = ulna_seconds() - s->started;
    memcpy(q, s->q, (size_t)s->nq * sizeof *q);
    if (result)
        *result = *r;
    return ULNA_OK;
}

ulna_status ulna_solve(ulna_solver *s, double *q, ulna_result *result)
{
    ulna_stop stop = ULNA_STOP_NONE;
    ulna_status status = ulna_solver_begin(s, q);
    while (status == ULNA_OK && stop == ULNA_STOP_NONE) {
        stop = s->result.stop;
        if (stop == ULNA_STOP_NONE)
            status = ulna_solver_step(s, &stop);
    }
    return status == ULNA_OK ? ulna_solver_end(s, q, result) : status;
}

ulna_status ulna_solve_once(const ulna_problem *problem, const ulna_options *options, double *q, ulna_result *result,
                            ulna_error *error)
{
    ulna_solver *solver;
    ulna_status status = ulna_solver_create(problem, options, NULL, &solver, error);
    if (status != ULNA_OK)
        return status;
    status = ulna_solve(solver, q, result);
    ulna_solver_destroy(solver);
    return status == ULNA_OK ? status : ulna_fail(error, status, "the solve failed: %s", ulna_status_text(status));
}
