/*
 * The driver: start, iterations, stopping, restarts, trace, and a result that is true of the q that comes back.
 *
 * Methods only make iterations (solver.h). Whether an iteration was the last is decided here, in judge(), by the same
 * rules for all of them.
 */
#include "math/math3.h"
#include "solve/constrained.h"

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
        .exactness = s->now.exactness,
        .seconds = ulna_seconds() - s->started,
    };
    return ULNA_OK;
}

/* ---- stopping -------------------------------------------------------------------------------------------------- */

/* Is the gradient looked at after every iteration? Always, if the caller asks for more than the default is about. */
static int checks_gradient(const ulna_solver *s)
{
    return s->method->uses_gradient || s->options.gradient > ULNA_DEFAULT_GRADIENT;
}

static ulna_stop judge(ulna_solver *s)
{
    const ulna_options *o = &s->options;
    int limit = o->iterations ? o->iterations : s->method->info.iterations;
    int is_kept = ulna_is_kept(s);
    if (s->f <= o->objective && !s->predicted && is_kept)
        return ULNA_STOP_OBJECTIVE;
    if (s->now.stop != ULNA_STOP_NONE)
        return s->now.stop;
    if (is_kept && checks_gradient(s) && (s->iteration > 0 || s->method->uses_gradient) && s->gradient_known &&
        ulna_is_flat(s))
        return ULNA_STOP_GRADIENT;
    if (is_kept && s->iteration > 0 && s->now.accepted) {
        int is_lean = !s->now.unsettled && s->now.decrease <= o->decrease * (s->f + s->now.decrease);
        s->lean = is_lean ? s->lean + 1 : 0;
        if (o->decrease > 0 && s->lean >= s->method->patience)
            return ULNA_STOP_DECREASE;
        if (o->step > 0 && s->now.step <= o->step && (!s->now.unsettled || o->step > ULNA_DEFAULT_STEP))
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

/*
 * What the steepest way down would gain, by the quadratic model: 1/2 (g.g)^2 / g.H g in scaled coordinates, on DOFs that may
 * move. A method that says there is hardly anything left to gain, though this finds much more, is jammed or runs
 * in circles: it has stalled.
 */
static ulna_status gain_of_descent(ulna_solver *s, double *gain)
{
    double slope = 0, curve = 0, *way = s->step, *product = s->displacement;
    ulna_status status = ULNA_OK;
    for (int j = 0; j < s->nv; j++) {
        int c = s->model->dof_coordinate[j], is_near = 0;
        if (s->bounded && c >= 0)
            is_near = (s->gradient[j] > 0 ? s->q[c] - s->lower[j] : s->upper[j] - s->q[c]) < 1e-6 * s->unit[j];
        way[j] = s->held[j] || is_near ? 0 : s->gradient[j] / s->metric[j];
        slope += way[j] * s->gradient[j];
    }
    for (int t = 0; t < 2 && slope > 0 && status == ULNA_OK; t++) { /* the stiffer of Gauss-Newton and exact */
        status = ulna_work_hessian_multiply(s->work, t, way, product);
        if (status == ULNA_OK)
            curve = fmax(curve, ulna_inner(s->nv, way, product));
    }
    *gain = curve > 0 ? 0.5 * slope * slope / curve : 0;
    return status;
}

/*
 * The same for each DOF alone; the largest. Where goals are much farther away than the model is long, damping against wild
 * rotations keeps a translation that could go all the way from moving at all.
 */
static ulna_status gain_of_one_dof(ulna_solver *s, double *gain)
{
    double *gauss_newton = s->step, *exact = s->displacement;
    ulna_band bands[2] = {{.n = s->nv, .entries = gauss_newton}, {.n = s->nv, .entries = exact}};
    ulna_status status = ulna_work_hessian_band(s->work, 0, &bands[0]);
    if (status == ULNA_OK)
        status = ulna_work_hessian_band(s->work, 1, &bands[1]);
    *gain = 0;
    for (int j = 0; j < s->nv && status == ULNA_OK; j++) {
        double slope = fabs(s->gradient[j]), curve = fmax(gauss_newton[j], exact[j]), way = slope / curve;
        int c = s->model->dof_coordinate[j];
        if (s->held[j] || !(curve > 0))
            continue;
        if (s->bounded && c >= 0)
            way = fmin(way, s->gradient[j] > 0 ? s->q[c] - s->lower[j] : s->upper[j] - s->q[c]);
        *gain = fmax(*gain, way * (slope - 0.5 * curve * way));
    }
    return status;
}

/* Methods that predict by their own, better, model are believed, unless goals are far away. */
static ulna_status check_claim(ulna_solver *s, ulna_stop *stop)
{
    int is_far = s->f > ULNA_FAR * s->curvature;
    double descent = 0, one_dof = 0;
    if (s->predicted || (*stop != ULNA_STOP_DECREASE && !(is_far && *stop == ULNA_STOP_STEP)) ||
        (s->method->predicts && !is_far))
        return ULNA_OK;
    ulna_status status = ulna_gradient_here(s);
    if (status != ULNA_OK)
        return status;
    ulna_mark_held(s);
    if (!s->method->predicts)
        status = gain_of_descent(s, &descent);
    if (status == ULNA_OK && is_far)
        status = gain_of_one_dof(s, &one_dof);
    if (fmax(descent, one_dof) > 1000 * ulna_little(s) + 10 * s->options.objective)
        *stop = ULNA_STOP_STALLED;
    return status;
}

/* Dense methods for constraints may come to rest where the KKT conditions do not hold: then they have stalled. */
static ulna_status check_kkt(ulna_solver *s, ulna_stop *stop)
{
    double residual;
    if (*stop < ULNA_STOP_GRADIENT || *stop > ULNA_STOP_STEP)
        return ULNA_OK;
    ulna_status status = ulna_kkt_residual(s, &residual);
    if (status == ULNA_OK && residual > s->options.kkt * ulna_largest_weight(s->problem) * s->length2)
        *stop = ULNA_STOP_STALLED;
    return status;
}

/* The best point of methods that may climb. */
static void keep_best(ulna_solver *s)
{
    if (s->f < s->attempt_f && !s->monotone) {
        s->attempt_f = s->f;
        memcpy(s->attempt_q, s->q, (size_t)s->nq * sizeof *s->q);
    }
}

/* A method that climbed at the end goes back to its best point, and what is said is said of that one. */
static ulna_status go_to_best(ulna_solver *s, ulna_stop *stop)
{
    if (s->monotone || !(s->attempt_f < s->f))
        return ULNA_OK;
    double risen = s->f - s->attempt_f;
    memcpy(s->q, s->attempt_q, (size_t)s->nq * sizeof *s->q);
    s->f = s->attempt_f;
    s->at_q = s->gradient_known = 0;
    s->minimum = s->minimum > 0;
    ulna_status status = s->constrained ? ulna_rows_here(s) : ULNA_OK;
    if (status == ULNA_OK)
        status = ulna_gradient_here(s);
    if (*stop == ULNA_STOP_GRADIENT || *stop == ULNA_STOP_STEP ||
        (*stop == ULNA_STOP_DECREASE && risen > s->options.decrease * s->f))
        *stop = s->gradient_known && ulna_is_flat(s) ? ULNA_STOP_GRADIENT : ULNA_STOP_STALLED;
    return status;
}

/* ---- attempts -------------------------------------------------------------------------------------------------- */

static int is_final(ulna_stop stop)
{
    return stop == ULNA_STOP_EVALUATIONS || stop == ULNA_STOP_TIME || stop == ULNA_STOP_CANCELLED;
}

/* Is this the end, or is another attempt wanted? */
static void close_attempt(ulna_solver *s, ulna_stop stop, int may_go_on)
{
    ulna_result *r = &s->result;
    const ulna_options *o = &s->options;
    r->attempts = s->attempt + 1;
    int is_kept = !s->constrained || !s->constrained->best_infeasible;
    int is_enough = (is_kept && (s->best_f <= o->stop_below || s->best_f <= o->objective)) ||
                    (o->agreeing_restarts > 0 && s->agreed >= o->agreeing_restarts);
    s->again = may_go_on && !is_final(stop) && !is_enough && s->attempt < o->restarts;
    if (!s->again)
        r->stop = is_final(stop) && s->best_stop != ULNA_STOP_OBJECTIVE ? stop : s->best_stop;
}

/* Keeps the attempt if it is the best. */
static ulna_status end_attempt(ulna_solver *s, ulna_stop stop, int may_go_on)
{
    ulna_status status = s->constrained && s->method->checks_kkt ? check_kkt(s, &stop) : check_claim(s, &stop);
    if (status == ULNA_OK)
        status = go_to_best(s, &stop);
    if (status != ULNA_OK)
        return status;
    int is_first = s->attempt == 0, is_better = is_first || ulna_is_better(s);
    if (!is_first && fabs(s->f - s->best_f) <= 0.01 * fmin(s->f, s->best_f) + s->options.objective)
        s->agreed++;
    else if (is_better)
        s->agreed = 1;
    if (is_better) {
        s->best_f = s->f;
        s->best_stop = stop;
        s->best_minimum = s->minimum;
        s->best_predicted = s->predicted;
        s->result.best_attempt = s->attempt;
        memcpy(s->best_q, s->q, (size_t)s->nq * sizeof *s->q);
        status = ulna_keep_multipliers(s);
    }
    close_attempt(s, stop, may_go_on);
    return status;
}

static ulna_status after_iteration(ulna_solver *s)
{
    ulna_status status = ULNA_OK;
    if (!s->predicted && (checks_gradient(s) || is_watched(s)))
        status = ulna_gradient_here(s);
    if (status != ULNA_OK)
        return status;
    keep_best(s);
    s->result.evaluations_added += s->result.evaluations;
    ulna_stop stop = judge(s);
    if (is_watched(s)) {
        ulna_trace_row row = {0};
        status = describe(s, &row);
        write_trace(s, &row);
        if (s->options.cancel && s->options.cancel(s->options.cancel_context, &row) && stop != ULNA_STOP_OBJECTIVE)
            stop = ULNA_STOP_CANCELLED;
    }
    if (status != ULNA_OK || stop == ULNA_STOP_NONE)
        return status;
    return end_attempt(s, stop, 1);
}

/* ---- rotation vectors ------------------------------------------------------------------------------------------ */

/* May q become s->trial, the same pose by other rotation vectors? Not where a limit, a locked DOF or a sum of coordinates looks at the vector
 * itself. */
static int may_wrap(const ulna_solver *s)
{
    for (int i = 0; i < s->limited_count; i++)
        if (s->trial[s->limited_at[i]] != s->q[s->limited_at[i]])
            return 0;
    for (int j = 0; j < s->nv && s->has_locked; j++) {
        int c = s->model->dof_coordinate[j];
        if (s->locked[j] && c >= 0 && s->trial[c] != s->q[c])
            return 0;
    }
    for (int i = 0; i < ulna_problem_constraint_count(s->problem); i++) {
        ulna_constraint_type type = ulna_problem_constraint(s->problem, i)->type;
        if (type == ULNA_KEEP_LINEAR || type == ULNA_KEEP_CUSTOM)
            return 0;
    }
    return 1;
}

/*
 * Rotation vectors have no derivatives of full rank at a whole turn: methods crawl there, or stop at a minimum that is none. Vectors longer
 * than 1.5 pi are replaced by the same rotation within pi (ulna_model_wrap), unless f would rise, as a posture term may have it.
 */
static ulna_status wrap(ulna_solver *s, int *is_wrapped)
{
    double f;
    *is_wrapped = 0;
    if (!s->has_vectors || s->predicted)
        return ULNA_OK;
    memcpy(s->trial, s->q, (size_t)s->nq * sizeof *s->q);
    if (!ulna_model_wrap(s->model, s->trial) || !may_wrap(s))
        return ULNA_OK;
    ulna_status status = ulna_try_q(s, &f);
    if (status != ULNA_OK || f > s->f * (1 + 1e-9) + 1e-24 * s->length2)
        return status == ULNA_OK ? ulna_return(s) : status;
    memcpy(s->q, s->trial, (size_t)s->nq * sizeof *s->q);
    s->f = f;
    s->at_q = *is_wrapped = 1;
    s->gradient_known = s->minimum = 0;
    return ULNA_OK;
}

static ulna_status begin_attempt(ulna_solver *s)
{
    s->at_q = s->gradient_known = s->predicted = s->minimum = 0;
    s->iteration = s->lean = 0;
    s->now = (ulna_iteration){.negative = -1};
    ulna_status status = ulna_work_evaluate(s->work, s->q, &s->f);
    s->result.evaluations++;
    if (status == ULNA_ERR_NUMBER && s->attempt > 0) { /* f does not exist there: not this start, then */
        close_attempt(s, ULNA_STOP_NONE, 1);
        return ULNA_OK;
    }
    if (status != ULNA_OK)
        return status;
    int is_wrapped;
    s->at_q = 1;
    s->attempt_f = (double)INFINITY;
    if (s->attempt == 0 && !s->own)
        s->result.first_f = s->f;
    status = wrap(s, &is_wrapped);
    if (status == ULNA_OK && s->method->begin)
        status = s->method->begin(s, s->state);
    return status == ULNA_OK ? after_iteration(s) : status;
}

/* Attempts that end where they begin are followed by the next one at once. */
static ulna_status begin_others(ulna_solver *s, ulna_status status)
{
    while (status == ULNA_OK && s->again) {
        s->again = 0;
        s->attempt++;
        status = ulna_start_again(s);
        if (status == ULNA_OK)
            status = begin_attempt(s);
    }
    return status;
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
    ulna_model_couple(s->model, q);
    return moved;
}

/* What a diagonal element of the Hessian may be, roughly: all weights at the distance of the length scale. */
static double curvature_scale(const ulna_solver *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->problem->term_count; i++) {
        const ulna_term *term = &s->problem->term[i];
        sum += ulna_term_weight(s->problem, term) * (ulna_term_kind_of(term->type)->is_rotation ? 1 : s->length2);
    }
    return sum;
}

/* Is what the last solve ended with a start for the next one? Not if it failed, or was cut short while its rows were far from kept: multipliers
 * that pull at what cannot be kept, and the damping against them, would spoil that one, too. */
static int may_carry(const ulna_solver *s)
{
    const ulna_result *last = &s->result;
    int is_short = last->stop == ULNA_STOP_ITERATIONS || is_final(last->stop);
    return last->converged || (is_short && last->constraint_violation <= ULNA_FAR_FROM_KEPT * s->length);
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
    ulna_solver_measure(s);
    s->forget |= !may_carry(s);
    s->result = (ulna_result){.stop = ULNA_STOP_NONE};
    s->started = ulna_seconds();
    s->changes = s->given->changes;
    s->attempt = s->agreed = s->again = 0;
    s->random = s->options.seed;
    memcpy(s->q, q, (size_t)s->nq * sizeof *q);
    s->result.clamped = ulna_solver_clamp(s, s->q);
    memcpy(s->start_q, s->q, (size_t)s->nq * sizeof *q);
    if (s->own)
        status = ulna_solver_first_f(s);
    s->curvature = curvature_scale(s);
    if (status == ULNA_OK)
        status = begin_attempt(s);
    status = begin_others(s, status);
    s->running = status == ULNA_OK;
    return status;
}

/* f exists at q, but the method's numbers overflow, or its matrix cannot be factored with any damping. */
static int is_stall(ulna_status status)
{
    return status == ULNA_ERR_NUMBER || status == ULNA_ERR_INDEFINITE || status == ULNA_ERR_SINGULAR;
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
        if (is_stall(status)) {
            s->now.stop = ULNA_STOP_STALLED;
            status = ULNA_OK;
        }
        s->iteration++;
        s->result.iterations++;
        int is_wrapped = 0;
        if (status == ULNA_OK && s->now.accepted && s->now.stop == ULNA_STOP_NONE)
            status = wrap(s, &is_wrapped);
        if (status == ULNA_OK && is_wrapped && s->method->begin) /* what it has learnt is about other coordinates */
            status = s->method->begin(s, s->state);
        if (status == ULNA_OK)
            status = begin_others(s, after_iteration(s));
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
        if (c < 0 || (s->q[c] > s->lower[j] && s->q[c] < s->upper[j]))
            continue;
        r->at_limits++;
        r->violation = fmax(r->violation, fmax(s->lower[j] - s->q[c], s->q[c] - s->upper[j]));
    }
}

/* Couplings are constraints, kept to a tolerance: now to the bit, and what is said is said of that q. */
static ulna_status couple(ulna_solver *s)
{
    size_t bytes = (size_t)s->nq * sizeof *s->q;
    memcpy(s->trial, s->q, bytes);
    ulna_model_couple(s->model, s->trial);
    if (memcmp(s->trial, s->q, bytes) == 0)
        return ULNA_OK;
    memcpy(s->q, s->trial, bytes);
    s->gradient_known = 0;
    if (s->constrained)
        s->constrained->is_fresh = 0;
    if (s->predicted)
        return ULNA_OK;
    s->result.evaluations++;
    s->at_q = 1;
    return ulna_work_evaluate(s->work, s->q, &s->f);
}

ulna_status ulna_solver_end(ulna_solver *s, double *q, ulna_result *result)
{
    if (!s || !q)
        return ULNA_ERR_ARGUMENT;
    if (!s->running || s->changes != s->given->changes)
        return ULNA_ERR_STATE;
    ulna_status status = ULNA_OK;
    if (s->result.stop == ULNA_STOP_NONE) /* the caller ends it */
        status = end_attempt(s, ULNA_STOP_CANCELLED, 0);
    s->running = 0;

    /* The work stands at the answer, and the gradient is that of the answer. */
    ulna_result *r = &s->result;
    if (s->best_f != s->f || r->best_attempt != s->attempt) {
        memcpy(s->q, s->best_q, (size_t)s->nq * sizeof *s->q);
        s->f = s->best_f;
        s->predicted = s->best_predicted;
        s->at_q = s->gradient_known = 0;
        ulna_restore_multipliers(s);
    }
    if (status == ULNA_OK && s->model->nc > 0)
        status = couple(s);
    if (status == ULNA_OK && s->constrained)
        status = ulna_report_constraints(s);
    if (status == ULNA_OK && s->own)
        status = ulna_solver_drop_penalty(s);
    if (status == ULNA_OK && !s->predicted) {
        status = ulna_gradient_here(s);
        ulna_mark_held(s);
    }
    r->verified = 0;
    if (status == ULNA_OK && !s->predicted && !s->own && !s->constrained)
        status = ulna_verify(s, s->best_minimum, &r->verified);
    if (status != ULNA_OK)
        return status;
    if (s->predicted) /* nobody shall take the work for one that stands at q */
        s->work->evaluated = 0;
    r->gradient = s->predicted ? (double)NAN : ulna_projected_gradient(s);
    r->f = s->f;
    r->predicted = s->predicted;
    r->converged = r->stop >= ULNA_STOP_OBJECTIVE && r->stop <= ULNA_STOP_STEP &&
                   !(s->constrained && s->constrained->violation > s->options.violation * s->length);
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
