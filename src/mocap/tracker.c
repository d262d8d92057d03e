/*
 * A tracker: one frame after the other, each from the ones before.
 *
 * Source: our notes on tracking. With q1, q2 the last two frames:
 *   1. start from the prediction 2 q1 - q2, if f there is at most 1.2 times the last frame's, or not above that of q1;
 *   2. solve (hybrid, damping carried over);
 *   3. if f is far above what is usual, the track is lost: solve again from q1 and from fresh starts, keep the best;
 *   4. with a robust loss: weigh markers by their distance and solve again, while weights change.
 * A posture term of next to no weight keeps directions that no marker determines from winding up.
 */
#include "ulna/mocap.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"

enum { ROBUST_ROUNDS = 6 };
#define PREDICTION_MARGIN 1.2
#define LEAST_WEIGHT 0.02
#define WEIGHT_CHANGE 0.05 /* of a marker: less is none */
#define USUAL_MEMORY 0.95  /* of the running mean of f */

struct ulna_tracker {
    ulna_allocator allocator;
    const ulna_model *model;
    ulna_track_options options;
    ulna_problem *problem;
    ulna_solver *solver, *fresh;
    int count; /* markers: terms 0 .. count - 1 */
    int posture_term, smooth_term;
    int nq, nv;
    double *q1, *q2, *trial, *start; /* nq */
    double *step;                    /* nv */
    double *weight, *distance;       /* count */
    size_t bytes;
    int history;     /* frames that q1, q2 hold: 0, 1, 2 */
    double usual;    /* running mean of f; 0 before the first frame */
    double last_f;   /* that of q1, posture and all */
    ulna_work *work; /* that stands at the last answer, if `placed` */
    int placed;
};

ulna_track_options ulna_track_options_default(void)
{
    ulna_track_options o = {.solve = ulna_options_default(),
                            .fresh = ulna_options_default(),
                            .posture = 1e-7,
                            .predict = 1,
                            .lost_factor = 3,
                            .lost_excess = 1e-4,
                            .loss_scale = 0.04,
                            .overlap_frames = 20,
                            .threads = 1};
    o.solve.bounded = o.fresh.bounded = 0;
    o.solve.decrease = 3e-4;
    o.solve.iterations = 50;
    o.solve.hybrid.kappa = 0.1;
    o.solve.hybrid.carry = 1;
    o.solve.hybrid.exact = 0;
    o.solve.hybrid.verify = 0;
    o.fresh.decrease = 1e-5;
    o.fresh.iterations = 100;
    o.fresh.restarts = 30;
    o.fresh.agree = 0;
    o.fresh.hybrid.verify = 0;
    return o;
}

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

static void take_arrays(ulna_tracker *t, ulna_arena *arena)
{
    double **per_coordinate[] = {&t->q1, &t->q2, &t->trial, &t->start};
    for (size_t i = 0; i < sizeof per_coordinate / sizeof *per_coordinate; i++)
        *per_coordinate[i] = ulna_arena_take(arena, (size_t)t->nq, sizeof(double));
    t->step = ulna_arena_take(arena, (size_t)t->nv, sizeof(double));
    t->weight = ulna_arena_take(arena, (size_t)t->count, sizeof(double));
    t->distance = ulna_arena_take(arena, (size_t)t->count, sizeof(double));
}

static ulna_status make_problem(ulna_tracker *t, const ulna_marker_set *set, ulna_error *error)
{
    static const double nowhere[3] = {0, 0, 0};
    ulna_status status = ulna_problem_create(t->model, &t->allocator, &t->problem, error);
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++)
        status = ulna_problem_add_point(t->problem, set->items[i].body, set->items[i].offset, nowhere,
                                        set->items[i].weight, NULL, error);
    if (status == ULNA_OK && t->options.posture > 0)
        status = ulna_problem_add_posture(t->problem, NULL, NULL, t->options.posture, &t->posture_term, error);
    if (status == ULNA_OK && t->options.smooth > 0)
        status = ulna_problem_add_posture(t->problem, NULL, NULL, t->options.smooth, &t->smooth_term, error);
    if (status == ULNA_OK)
        status = ulna_problem_ready(t->problem, error);
    if (status == ULNA_OK)
        status = ulna_solver_create(t->problem, &t->options.solve, &t->allocator, &t->solver, error);
    if (status == ULNA_OK)
        status = ulna_solver_create(t->problem, &t->options.fresh, &t->allocator, &t->fresh, error);
    return status;
}

static ulna_status check_options(const ulna_track_options *o, const ulna_model *model, ulna_error *error)
{
    const double numbers[] = {o->posture, o->smooth, o->lost_factor, o->lost_excess};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(numbers[i] >= 0) || isinf(numbers[i]))
            return ulna_fail(error, ULNA_ERR_ARGUMENT,
                             "posture, smooth, lost_factor and lost_excess are numbers from 0 on");
    if ((unsigned)o->loss > ULNA_LOSS_HUBER || (o->loss && (!(o->loss_scale > 0) || isinf(o->loss_scale))))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "the robust loss needs a scale above 0");
    if (o->start && ulna_model_check_q(model, o->start, NULL) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_NUMBER, "the start of the tracking is not a pose");
    return ULNA_OK;
}

ulna_status ulna_tracker_create(const ulna_model *model, const ulna_marker_set *set, const ulna_track_options *options,
                                const ulna_allocator *allocator, ulna_tracker **tracker, ulna_error *error)
{
    if (!tracker)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no place to put the tracker");
    *tracker = NULL;
    if (!model || !set || set->count == 0)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a tracker needs a model and a marker set with markers");
    ulna_tracker layout = {.allocator = ulna_allocator_or_default(allocator),
                           .model = model,
                           .options = options ? *options : ulna_track_options_default(),
                           .count = (int)set->count,
                           .posture_term = ULNA_NONE,
                           .smooth_term = ULNA_NONE,
                           .nq = model->nq,
                           .nv = model->nv};
    ulna_status status = check_options(&layout.options, model, error);
    if (status != ULNA_OK)
        return status;
    ulna_arena arena = {NULL, sizeof layout, 0};
    take_arrays(&layout, &arena);
    void *memory = arena.failed ? NULL : ulna_allocate(&layout.allocator, arena.used, 1);
    if (!memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a tracker");
    layout.bytes = arena.used;
    arena = (ulna_arena){memory, sizeof layout, 0};
    take_arrays(&layout, &arena);
    ulna_tracker *t = memory;
    *t = layout;
    status = make_problem(t, set, error);
    if (status != ULNA_OK) {
        ulna_tracker_destroy(t);
        return status;
    }
    for (size_t i = 0; i < set->count; i++)
        t->weight[i] = set->items[i].weight;
    t->work = ulna_solver_work(t->solver);
    ulna_tracker_reset(t, NULL);
    *tracker = t;
    return ULNA_OK;
}

void ulna_tracker_destroy(ulna_tracker *t)
{
    if (t) {
        ulna_allocator allocator = t->allocator;
        ulna_solver_destroy(t->solver);
        ulna_solver_destroy(t->fresh);
        ulna_problem_destroy(t->problem);
        ulna_release(&allocator, t, t->bytes, 1);
    }
}

void ulna_tracker_reset(ulna_tracker *t, const double *q)
{
    if (!t)
        return;
    const double *from = q ? q : t->options.start ? t->options.start : t->model->rest;
    memcpy(t->start, from, (size_t)t->nq * sizeof *from);
    memcpy(t->q1, from, (size_t)t->nq * sizeof *from);
    t->history = 0;
    t->usual = t->last_f = 0;
    ulna_solver_forget(t->solver);
    ulna_solver_forget(t->fresh);
}

/* ---- one frame --------------------------------------------------------------------------------------------------------- */

static void count_effort(const ulna_result *result, ulna_frame_report *report)
{
    report->iterations += result->iterations;
    report->evaluations += result->evaluations;
}

static ulna_status run(ulna_tracker *t, double *q, ulna_result *result, ulna_frame_report *report)
{
    ulna_stop stop = ULNA_STOP_NONE;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && stop == ULNA_STOP_NONE)
        status = ulna_solver_step(t->solver, &stop);
    if (status == ULNA_OK)
        status = ulna_solver_end(t->solver, q, result);
    count_effort(result, report);
    t->work = ulna_solver_work(t->solver);
    t->placed = status == ULNA_OK && !result->predicted;
    return status;
}

/* Below LEAST_WEIGHT a marker is out: were it the only one of a limb, even a trace of weight would draw the limb along. */
static double robust_factor(const ulna_track_options *o, double r)
{
    double u = r / o->loss_scale, v = 1 + u * u, factor = 1;
    if (o->loss == ULNA_LOSS_GEMAN_MCCLURE)
        factor = 1 / (v * v);
    else if (o->loss == ULNA_LOSS_CAUCHY)
        factor = 1 / v;
    else if (o->loss == ULNA_LOSS_HUBER && u > 1)
        factor = 1 / u;
    return factor < LEAST_WEIGHT ? 0 : factor;
}

/* Distances at q into t->distance, without the report. */
static ulna_status look(ulna_tracker *t, ulna_work *work, const double *q)
{
    double f;
    ulna_status status = ulna_evaluate(work, q, &f);
    for (int i = 0; i < t->count && status == ULNA_OK; i++)
        status = ulna_term_error(work, i, &t->distance[i]);
    return status;
}

/* Weighs markers by t->distance; returns the largest change of a weight. Nothing is touched if that is small. */
static double weigh(ulna_tracker *t, int *outliers)
{
    double change = 0;
    *outliers = 0;
    for (int i = 0; i < t->count; i++) {
        double factor = isnan(t->distance[i]) ? 1 : robust_factor(&t->options, t->distance[i]);
        change = fmax(change, fabs(factor - ulna_problem_strength(t->problem, i)));
        *outliers += factor < 0.25;
    }
    for (int i = 0; i < t->count && change >= WEIGHT_CHANGE; i++)
        ulna_problem_set_strength(t->problem, i,
                                  isnan(t->distance[i]) ? 1 : robust_factor(&t->options, t->distance[i]));
    return change;
}

/* From the prediction or from q1, whichever is lower; q1 is only looked at if the prediction is suspect. */
static ulna_status follow(ulna_tracker *t, double *q, ulna_result *result, ulna_frame_report *report)
{
    ulna_solver *s = t->solver;
    const double *start = t->q1;
    if (t->options.predict && t->history == 2) {
        ulna_model_difference(t->model, t->q2, t->q1, t->step);
        ulna_model_integrate(t->model, t->q1, t->step, t->trial);
        start = t->trial;
    }
    if (t->smooth_term != ULNA_NONE)
        ulna_problem_set_goal(t->problem, t->smooth_term, start);
    ulna_status status = ULNA_OK;
    if (t->options.loss) { /* a marker that is not where the motion would bring it, before a limb can follow it */
        status = look(t, ulna_solver_work(s), start);
        weigh(t, &report->outliers);
        report->evaluations++;
    }
    if (status == ULNA_OK)
        status = ulna_solver_begin(s, start);
    double predicted = ulna_solver_f(s);
    if (status == ULNA_OK && start == t->trial && predicted > PREDICTION_MARGIN * t->last_f) {
        status = ulna_solver_begin(s, t->q1);
        report->evaluations++;
        if (status == ULNA_OK && ulna_solver_f(s) > predicted) {
            status = ulna_solver_begin(s, t->trial);
            report->evaluations++;
        }
    }
    return status == ULNA_OK ? run(t, q, result, report) : status;
}

/* From `start` with its root moved to the markers, and from elsewhere; the best of all into q if it is better than f. */
static ulna_status start_afresh(ulna_tracker *t, const double *start, double enough, double *q, ulna_result *best,
                                ulna_frame_report *report)
{
    ulna_result result;
    ulna_options options = t->options.fresh;
    options.enough = enough;
    ulna_status status = ulna_solver_set_options(t->fresh, &options, NULL);
    memcpy(t->trial, start, (size_t)t->nq * sizeof *start);
    if (status == ULNA_OK)
        status = ulna_align_root(ulna_solver_work(t->fresh), t->trial);
    if (status == ULNA_OK)
        status = ulna_solve(t->fresh, t->trial, &result);
    if (status != ULNA_OK)
        return status;
    count_effort(&result, report);
    if (!best->attempts || result.f < best->f) {
        *best = result;
        memcpy(q, t->trial, (size_t)t->nq * sizeof *q);
        t->work = ulna_solver_work(t->fresh);
        t->placed = !result.predicted;
    } else if (t->work == ulna_solver_work(t->fresh))
        t->placed = 0;
    return ULNA_OK;
}

static ulna_status measure(ulna_tracker *t, const double *q, ulna_frame_report *report)
{
    double f, squares = 0;
    ulna_status status = t->placed ? ULNA_OK : ulna_evaluate(t->work, q, &f);
    report->sum = report->worst = report->f = 0;
    report->seen = 0;
    report->worst_marker = ULNA_NONE;
    for (int i = 0; i < t->count && status == ULNA_OK; i++) {
        status = ulna_term_error(t->work, i, &t->distance[i]);
        double d = t->distance[i];
        if (isnan(d) || !(t->weight[i] > 0))
            continue;
        report->seen++;
        report->sum += d;
        squares += d * d;
        report->f += 0.5 * t->weight[i] * d * d;
        if (d > report->worst || report->worst_marker == ULNA_NONE) {
            report->worst = d;
            report->worst_marker = i;
        }
    }
    report->rms = report->seen ? sqrt(squares / report->seen) : 0;
    return status;
}

/* Weighs markers by their distance and solves again, while that changes something. */
static ulna_status weigh_down(ulna_tracker *t, double *q, ulna_result *result, ulna_frame_report *report)
{
    ulna_status status = measure(t, q, report);
    for (int round = 0; round < ROBUST_ROUNDS && status == ULNA_OK; round++) {
        if (weigh(t, &report->outliers) < WEIGHT_CHANGE)
            break;
        status = ulna_solver_begin(t->solver, q);
        if (status == ULNA_OK)
            status = run(t, q, result, report);
        if (status == ULNA_OK)
            status = measure(t, q, report);
    }
    if (report->outliers)
        report->flags |= ULNA_FRAME_OUTLIERS;
    return status;
}

/* What f means for "lost": with a robust loss, of the markers as they are weighed. */
static ulna_status settle(ulna_tracker *t, double *q, ulna_result *result, ulna_frame_report *report)
{
    return t->options.loss ? weigh_down(t, q, result, report) : ULNA_OK;
}

static ulna_status solve_frame(ulna_tracker *t, double *q, ulna_result *result, ulna_frame_report *report)
{
    const ulna_track_options *o = &t->options;
    double limit = o->lost_factor * t->usual + o->lost_excess;
    ulna_status status;
    *result = (ulna_result){0};
    if (t->history == 0) {
        report->flags |= ULNA_FRAME_STARTED;
        status = start_afresh(t, t->start, 0, q, result, report);
        return status == ULNA_OK ? settle(t, q, result, report) : status;
    }
    status = follow(t, q, result, report);
    if (status == ULNA_OK)
        status = settle(t, q, result, report);
    if (status != ULNA_OK || o->lost_factor == 0 || result->f <= limit)
        return status;

    /* Lost? From the last pose, then from the start. */
    double before = result->f;
    status = start_afresh(t, t->q1, limit, q, result, report);
    if (status == ULNA_OK && result->f > limit)
        status = start_afresh(t, t->start, limit, q, result, report);
    if (status == ULNA_OK)
        status = settle(t, q, result, report);
    if (result->f < 0.5 * before)
        report->flags |= ULNA_FRAME_RECOVERED;
    if (result->f > limit)
        report->flags |= ULNA_FRAME_LOST;
    return status;
}

ulna_status ulna_tracker_frame(ulna_tracker *t, const double *positions, double *q, ulna_frame_report *report)
{
    ulna_frame_report own, *r = report ? report : &own;
    if (!t || !positions || !q)
        return ULNA_ERR_ARGUMENT;
    *r = (ulna_frame_report){.worst_marker = ULNA_NONE};
    double started = ulna_seconds();
    ulna_status status = ulna_problem_set_points(t->problem, 0, t->count, positions);
    int seen = 0;
    for (int i = 0; i < t->count; i++)
        seen += !isnan(positions[3 * i] + positions[3 * i + 1] + positions[3 * i + 2]) && t->weight[i] > 0;
    if (status != ULNA_OK)
        return status;
    if (!seen) { /* hold still; what comes next is followed from here, without a velocity */
        memcpy(q, t->q1, (size_t)t->nq * sizeof *q);
        r->flags = ULNA_FRAME_EMPTY;
        t->history = t->history > 1 ? 1 : t->history;
        r->seconds = ulna_seconds() - started;
        return ULNA_OK;
    }
    for (int i = 0; t->options.loss && i < t->count; i++)
        ulna_problem_set_strength(t->problem, i, 1);

    ulna_result result;
    status = solve_frame(t, q, &result, r);
    if (status == ULNA_OK && report)
        status = measure(t, q, r);
    if (status != ULNA_OK)
        return status;

    double *swap = t->q2;
    t->q2 = t->q1;
    t->q1 = swap;
    memcpy(t->q1, q, (size_t)t->nq * sizeof *q);
    t->history = r->flags & (ULNA_FRAME_STARTED | ULNA_FRAME_RECOVERED) ? 1 : t->history < 2 ? t->history + 1 : 2;
    t->last_f = result.f;
    if (!(r->flags & ULNA_FRAME_LOST))
        t->usual = t->usual > 0 ? USUAL_MEMORY * t->usual + (1 - USUAL_MEMORY) * result.f : result.f;
    r->seconds = ulna_seconds() - started;
    return ULNA_OK;
}

ulna_status ulna_tracker_residuals(ulna_tracker *t, double *distances)
{
    if (!t || !distances)
        return ULNA_ERR_ARGUMENT;
    memcpy(distances, t->distance, (size_t)t->count * sizeof *distances);
    return ULNA_OK;
}
