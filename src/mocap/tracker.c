/*
 * A tracker: one frame after the other, each from the ones before.
 *
 * Source: our notes on tracking. With q1, q2 the last two frames:
 *   1. start from the prediction 2 q1 - q2, if f there is at most 1.2 times the last frame's, or not above that of q1;
 *   2. solve (hybrid, damping carried over);
 *   3. with a robust loss: weigh markers by their distance and solve again, while weights change;
 *   4. if the cost is far above what is usual, the track is lost: solve again from q1 and from fresh starts, keep the best.
 * The cost is f, or with a robust loss sum w rho(r): f of the weighed markers would be low exactly where most are given up.
 *
 * With a robust loss, markers are weighed before the first step already, by how far they are from where the motion of the
 * last two poses would have brought them: a limb with a single marker would follow it anywhere. That is done with places, not
 * with joint values, which jump where a joint is near its singularity.
 *
 * A posture term of next to no weight keeps directions that no marker determines from winding up.
 */
#include "ulna/mocap.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/math3.h"
#include "mocap/track.h"
#include "model/model.h"
#include "objective/problem.h"
#include "ulna/global.h"

enum {
    ROBUST_ROUNDS = 6,
    SECOND_THOUGHTS = 5, /* frames */
    FEW_OUTLIERS = 3,
    MANY_OUTLIERS = 3, /* one in so many: not the markers are wrong, but the pose */
    PATIENCE = 30 /* frames until a track that could not be found again is looked for again, were it not to get worse */
};
#define PREDICTION_MARGIN 1.2
#define WORSE 1.2       /* times what the last search ended with: search again */
#define MUCH_BETTER 0.5 /* of the cost: then the track had been lost */
#define FAR 5           /* times the scale of the loss */
#define GLOBAL_GAP 0.05 /* markers never fit exactly: that no pose is better by more will do */
#define LEAST_WEIGHT 0.02
#define OUTLIER 0.25       /* less weight makes one */
#define WEIGHT_CHANGE 0.05 /* of a marker: less is none */
#define USUAL_MEMORY 0.95  /* of the running mean of f */

struct ulna_tracker {
    ulna_allocator allocator;
    const ulna_model *model;
    ulna_track_options options;
    ulna_problem *problem;
    ulna_solver *solver, *fresh;
    ulna_global *global; /* NULL: not asked for */
    int count;           /* markers: terms 0 .. count - 1 */
    int posture_term, smooth_term;
    int nq, nv;
    double *q1, *q2, *trial, *start, *kept; /* nq */
    double *step;                           /* nv */
    double *weight, *distance;              /* count */
    int *body, *outlier;                    /* count: whose it is; frames in a row that it has been an outlier */
    unsigned char *idle, *carries; /* nv: no marker ever moves it; nb: a marker sits on the body, or beyond it */
    double *offset, *seen;         /* count x 3: on the body; this frame's positions */
    double *m1, *m2;               /* count x 3: where the markers of the poses q1, q2 are; with a robust loss */
    size_t bytes;
    int history;      /* frames that q1, q2 hold: 0, 1, 2 */
    double usual;     /* running mean of the cost; 0 before the first frame */
    double last_f;    /* that of q1, posture and all */
    double tolerated; /* cost up to which no new search pays: the last one ended there. 0: none */
    int patience;     /* frames that it is still believed */
    ulna_work *work;  /* that stands at the last answer, if `placed` */
    int placed;
};

ulna_track_options ulna_track_options_default(void)
{
    ulna_track_options o = {.solve = ulna_options_default(),
                            .fresh = ulna_options_default(),
                            .posture = 1e-7,
                            .limits = 3e-6,
                            .smooth_order = 2,
                            .predict = 1,
                            .lost_factor = 3,
                            .lost_excess = 1e-4,
                            .loss_scale = 0.06,
                            .overlap_frames = 20,
                            .threads = 1};
    o.solve.bounded = o.fresh.bounded = 0;
    o.solve.decrease = 3e-4;
    o.solve.iterations = 50;
    o.solve.hybrid.kappa = 0.1;
    o.solve.hybrid.carry = 1;
    o.solve.hybrid.exact = 0;
    o.solve.hybrid.verify = 0;
    o.solve.hybrid.trust_last = 1;
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
    double **per_coordinate[] = {&t->q1, &t->q2, &t->trial, &t->start, &t->kept};
    for (size_t i = 0; i < sizeof per_coordinate / sizeof *per_coordinate; i++)
        *per_coordinate[i] = ulna_arena_take(arena, (size_t)t->nq, sizeof(double));
    t->step = ulna_arena_take(arena, (size_t)t->nv, sizeof(double));
    t->weight = ulna_arena_take(arena, (size_t)t->count, sizeof(double));
    t->distance = ulna_arena_take(arena, (size_t)t->count, sizeof(double));
    t->body = ulna_arena_take(arena, (size_t)t->count, sizeof(int));
    t->outlier = ulna_arena_take(arena, (size_t)t->count, sizeof(int));
    t->idle = ulna_arena_take(arena, (size_t)t->nv, 1);
    t->carries = ulna_arena_take(arena, (size_t)t->model->nb, 1);
    double **per_place[] = {&t->offset, &t->seen, &t->m1, &t->m2};
    for (size_t i = 0; i < sizeof per_place / sizeof *per_place; i++)
        *per_place[i] = ulna_arena_take(arena, 3 * (size_t)t->count, sizeof(double));
}

/* Joints that no marker of the set can see stay as the start has them, whatever a fresh start tries: a posture term would need
 * many frames to bring them back. */
static void rest_idle(ulna_tracker *t, const ulna_marker_set *set)
{
    const ulna_model *model = t->model;
    ulna_options *options[] = {&t->options.solve, &t->options.fresh};
    memset(t->carries, 0, (size_t)model->nb);
    for (size_t i = 0; i < set->count; i++)
        t->carries[set->items[i].body] |= set->items[i].weight > 0;
    for (int b = model->nb - 1; b >= 0; b--) {
        const ulna_body *body = &model->body[b];
        if (t->carries[b] && body->parent >= 0)
            t->carries[body->parent] = 1;
        memset(t->idle + body->dof, !t->carries[b], (size_t)body->dof_count);
    }
    for (int d = 0; d < t->nv && t->options.solve.relaxed; d++)
        t->idle[d] |= t->options.solve.relaxed[d] != 0;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        options[i]->relaxed = t->idle;
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
    if (status == ULNA_OK && t->options.limits > 0)
        status = ulna_problem_add_limits(t->problem, NULL, NULL, t->options.limits, NULL, error);
    if (status == ULNA_OK && t->options.smooth > 0)
        status = ulna_problem_add_posture(t->problem, NULL, NULL, t->options.smooth, &t->smooth_term, error);
    if (status == ULNA_OK)
        status = ulna_problem_ready(t->problem, error);
    if (status == ULNA_OK)
        status = ulna_solver_create(t->problem, &t->options.solve, &t->allocator, &t->solver, error);
    if (status == ULNA_OK)
        status = ulna_solver_create(t->problem, &t->options.fresh, &t->allocator, &t->fresh, error);
    if (status == ULNA_OK && t->options.global) {
        ulna_global_options options = ulna_global_options_default();
        options.local = t->options.fresh;
        options.gap = GLOBAL_GAP;
        status = ulna_global_create(t->problem, &options, &t->allocator, &t->global, error);
    }
    return status;
}

static ulna_status check_options(const ulna_track_options *o, const ulna_model *model, ulna_error *error)
{
    const double numbers[] = {o->posture, o->limits, o->smooth, o->lost_factor, o->lost_excess};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(numbers[i] >= 0) || isinf(numbers[i]))
            return ulna_fail(error, ULNA_ERR_ARGUMENT,
                             "posture, limits, smooth, lost_factor and lost_excess are numbers from 0 on");
    if (o->smooth > 0 && o->smooth_order != 1 && o->smooth_order != 2)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "smooth_order is 1 (velocity) or 2 (acceleration)");
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
    if (layout.options.loss) /* weights come from the distances at the answer, and where it is they decide */
        layout.options.solve.hybrid.trust_last = 0;
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
    rest_idle(t, set);
    status = make_problem(t, set, error);
    if (status != ULNA_OK) {
        ulna_tracker_destroy(t);
        return status;
    }
    for (size_t i = 0; i < set->count; i++) {
        t->weight[i] = set->items[i].weight;
        t->body[i] = set->items[i].body;
        memcpy(t->offset + 3 * i, set->items[i].offset, sizeof set->items[i].offset);
    }
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
        ulna_global_destroy(t->global);
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
    t->usual = t->last_f = t->tolerated = 0;
    memset(t->outlier, 0, (size_t)t->count * sizeof *t->outlier);
    ulna_solver_forget(t->solver);
    ulna_solver_forget(t->fresh);
}

void ulna_nearest_turns(const ulna_model *model, int bounded, const double *near, double *q)
{
    for (int d = 0; d < model->nv; d++) {
        int c = model->dof_coordinate[d], limited = isfinite(model->lower[d]) || isfinite(model->upper[d]);
        if (c >= 0 && model->dof_segment[d] <= ULNA_SEGMENT_RZ && !(limited && bounded))
            q[c] += 2 * ULNA_PI * round((near[c] - q[c]) / (2 * ULNA_PI));
    }
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

/* rho(r), whose derivative is r times the factor above. */
static double robust_cost(const ulna_track_options *o, double r)
{
    double c2 = o->loss_scale * o->loss_scale, u = r / o->loss_scale;
    if (o->loss == ULNA_LOSS_GEMAN_MCCLURE)
        return 0.5 * r * r / (1 + u * u);
    if (o->loss == ULNA_LOSS_CAUCHY)
        return 0.5 * c2 * log1p(u * u);
    return o->loss == ULNA_LOSS_HUBER && u > 1 ? c2 * (u - 0.5) : 0.5 * r * r;
}

/* Weighs markers by t->distance; returns the largest change of a weight. Nothing is touched if that is small. */
static double weigh(ulna_tracker *t)
{
    double change = 0;
    for (int i = 0; i < t->count; i++) {
        double factor = isnan(t->distance[i]) ? 1 : robust_factor(&t->options, t->distance[i]);
        change = fmax(change, fabs(factor - ulna_problem_strength(t->problem, i)));
    }
    for (int i = 0; i < t->count && change >= WEIGHT_CHANGE; i++)
        ulna_problem_set_strength(t->problem, i,
                                  isnan(t->distance[i]) ? 1 : robust_factor(&t->options, t->distance[i]));
    return change;
}

static void weigh_evenly(ulna_tracker *t)
{
    for (int i = 0; t->options.loss && i < t->count; i++)
        ulna_problem_set_strength(t->problem, i, 1);
}

/* Before the first step: by the distance from where the markers were going. If many are far, the pose is not to be trusted. */
static void weigh_by_course(ulna_tracker *t)
{
    int far = 0, seen = 0;
    for (int i = 0; i < t->count; i++) {
        double square = 0;
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            double away = t->seen[k] - (2 * t->m1[k] - t->m2[k]);
            square += away * away;
        }
        t->distance[i] = sqrt(square);
        seen += !isnan(square);
        far += t->distance[i] > t->options.loss_scale;
    }
    if (far * MANY_OUTLIERS < seen)
        weigh(t);
}

/* From the prediction or from q1, whichever is lower; q1 is only looked at if the prediction is suspect. */
static ulna_status follow(ulna_tracker *t, double *q, ulna_result *result, ulna_frame_report *report)
{
    ulna_solver *s = t->solver;
    const double *course = t->q1;
    if (t->history == 2) {
        ulna_model_difference(t->model, t->q2, t->q1, t->step);
        ulna_model_integrate(t->model, t->q1, t->step, t->trial);
        course = t->trial;
    }
    const double *start = t->options.predict ? course : t->q1;
    if (t->smooth_term != ULNA_NONE)
        ulna_problem_set_goal(t->problem, t->smooth_term, t->options.smooth_order == 1 ? t->q1 : course);
    if (t->options.loss && t->history == 2)
        weigh_by_course(t);
    ulna_status status = ulna_solver_begin(s, start);
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

static ulna_status search_globally(ulna_tracker *t, double *q, ulna_result *result)
{
    ulna_global_result found;
    ulna_status status = ulna_global_solve(t->global, q, &found, NULL);
    if (status == ULNA_OK)
        *result = found.local;
    return status;
}

/* From `start` with its root moved to the markers, and from elsewhere, until f is `enough`. */
static ulna_status start_afresh(ulna_tracker *t, const double *start, double enough, double *q, ulna_result *result,
                                ulna_frame_report *report)
{
    ulna_options options = t->options.fresh;
    options.enough = enough;
    ulna_status status = ulna_solver_set_options(t->fresh, &options, NULL);
    memcpy(q, start, (size_t)t->nq * sizeof *start);
    if (status == ULNA_OK)
        status = ulna_align_root(ulna_solver_work(t->fresh), q);
    if (status == ULNA_OK && t->global)
        status = search_globally(t, q, result);
    else if (status == ULNA_OK)
        status = ulna_solve(t->fresh, q, result);
    if (t->history)
        ulna_nearest_turns(t->model, t->options.fresh.bounded, t->q1, q);
    count_effort(result, report);
    t->work = ulna_solver_work(t->fresh);
    t->placed = status == ULNA_OK && !result->predicted && !t->global;
    return status;
}

static ulna_status measure(ulna_tracker *t, const double *q, ulna_frame_report *report)
{
    double squares = 0;
    ulna_status status = t->placed ? ULNA_OK : ulna_pose_forward(ulna_work_pose(t->work), q);
    if (status == ULNA_OK)
        status = ulna_point_errors(t->work, 0, t->count, t->distance);
    report->sum = report->worst = report->f = 0;
    report->seen = report->outliers = 0;
    report->worst_marker = ULNA_NONE;
    for (int i = 0; i < t->count && status == ULNA_OK; i++) {
        double d = t->distance[i];
        if (isnan(d) || !(t->weight[i] > 0))
            continue;
        report->seen++;
        report->outliers += t->options.loss && robust_factor(&t->options, d) < OUTLIER;
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
        if (weigh(t) < WEIGHT_CHANGE)
            break;
        status = ulna_solver_begin(t->solver, q);
        if (status == ULNA_OK)
            status = run(t, q, result, report);
        if (status == ULNA_OK)
            status = measure(t, q, report);
    }
    return status;
}

/* Weighs the markers if they are to be weighed; then the cost by which poses of a frame are compared. */
static ulna_status settle(ulna_tracker *t, double *q, ulna_result *result, ulna_frame_report *report, double *cost)
{
    if (!t->options.loss) {
        *cost = result->f;
        return ULNA_OK;
    }
    ulna_status status = weigh_down(t, q, result, report);
    *cost = 0;
    for (int i = 0; i < t->count; i++)
        if (!isnan(t->distance[i]))
            *cost += t->weight[i] * robust_cost(&t->options, t->distance[i]);
    return status;
}

/* Another pose for the frame, solved already, against the kept one; the better one is in q afterwards. */
static ulna_status choose(ulna_tracker *t, double *q, const ulna_result *result, ulna_result *best, double *cost,
                          ulna_frame_report *report)
{
    ulna_result settled = *result;
    double found;
    ulna_status status = settle(t, q, &settled, report, &found);
    if (status == ULNA_OK && found < *cost) {
        *cost = found;
        *best = settled;
    } else {
        memcpy(q, t->kept, (size_t)t->nq * sizeof *q);
        t->placed = 0;
    }
    return status;
}

static ulna_status search_from(ulna_tracker *t, const double *start, double limit, double *q, ulna_result *best,
                               double *cost, ulna_frame_report *report)
{
    ulna_result result;
    memcpy(t->kept, q, (size_t)t->nq * sizeof *q);
    weigh_evenly(t);
    ulna_status status = start_afresh(t, start, limit, q, &result, report);
    return status == ULNA_OK ? choose(t, q, &result, best, cost, report) : status;
}

/* A marker that has been an outlier for a while gets its weight back for once: if the skeleton can follow, it was right. */
static ulna_status think_again(ulna_tracker *t, double *q, ulna_result *best, double *cost, ulna_frame_report *report)
{
    int doubts = 0;
    for (int i = 0; i < t->count; i++)
        if (t->outlier[i] && t->outlier[i] % SECOND_THOUGHTS == 0 && !isnan(t->distance[i])) {
            ulna_problem_set_strength(t->problem, i, 1);
            doubts++;
        }
    if (!doubts)
        return ULNA_OK;
    ulna_result result;
    memcpy(t->kept, q, (size_t)t->nq * sizeof *q);
    ulna_status status = ulna_solver_begin(t->solver, q);
    if (status == ULNA_OK)
        status = run(t, q, &result, report);
    return status == ULNA_OK ? choose(t, q, &result, best, cost, report) : status;
}

/* Far above the usual cost: from the last pose, then from the start. What could not be bettered is borne for a while. */
static ulna_status find_again(ulna_tracker *t, double limit, double *q, ulna_result *result, double *cost,
                              ulna_frame_report *report)
{
    double before = *cost;
    ulna_status status = search_from(t, t->q1, limit, q, result, cost, report);
    if (status == ULNA_OK && *cost > limit)
        status = search_from(t, t->start, limit, q, result, cost, report);
    if (*cost < MUCH_BETTER * before)
        report->flags |= ULNA_FRAME_RECOVERED;
    t->tolerated = *cost > limit ? WORSE * *cost : 0;
    t->patience = PATIENCE;
    return status;
}

/* Outliers that a robust loss has set apart make a cost too, but no lost track, unless they are many. */
static int is_lost(const ulna_tracker *t, double cost, double limit, const ulna_result *result,
                   const ulna_frame_report *report)
{
    if (!t->options.loss)
        return cost > limit;
    return result->f > limit || report->outliers * MANY_OUTLIERS > report->seen;
}

/* Above this cost the track is in doubt. With a robust loss a few outliers do not make a doubt. */
static double usual_limit(const ulna_tracker *t)
{
    const ulna_track_options *o = &t->options;
    double outliers = o->loss ? FEW_OUTLIERS * robust_cost(o, FAR * o->loss_scale) : 0;
    return o->lost_factor * t->usual + o->lost_excess + outliers;
}

static ulna_status solve_frame(ulna_tracker *t, double *q, ulna_result *result, double *cost, ulna_frame_report *report)
{
    const ulna_track_options *o = &t->options;
    *result = (ulna_result){0};
    if (t->history == 0) {
        report->flags |= ULNA_FRAME_STARTED;
        ulna_status status = start_afresh(t, t->start, 0, q, result, report);
        return status == ULNA_OK ? settle(t, q, result, report, cost) : status;
    }
    double limit = usual_limit(t);
    ulna_status status = follow(t, q, result, report);
    if (status == ULNA_OK)
        status = settle(t, q, result, report, cost);
    if (status == ULNA_OK && o->loss)
        status = think_again(t, q, result, cost, report);
    if (status != ULNA_OK || o->lost_factor == 0)
        return status;
    if (*cost <= limit)
        t->tolerated = 0;
    else if (*cost > t->tolerated || t->patience-- <= 0)
        status = find_again(t, limit, q, result, cost, report);
    if (*cost > limit && is_lost(t, *cost, limit, result, report))
        report->flags |= ULNA_FRAME_LOST;
    return status;
}

/* What the next frame starts from. */
static ulna_status remember(ulna_tracker *t, const double *q, const ulna_result *result, double cost, unsigned flags)
{
    double *swap = t->q2;
    t->q2 = t->q1;
    t->q1 = swap;
    memcpy(t->q1, q, (size_t)t->nq * sizeof *q);
    t->history = flags & (ULNA_FRAME_STARTED | ULNA_FRAME_RECOVERED) ? 1 : t->history < 2 ? t->history + 1 : 2;
    t->last_f = result->f;
    if (!(flags & ULNA_FRAME_LOST))
        t->usual = t->usual > 0 ? USUAL_MEMORY * t->usual + (1 - USUAL_MEMORY) * cost : cost;
    if (!t->options.loss)
        return ULNA_OK;
    swap = t->m2;
    t->m2 = t->m1;
    t->m1 = swap;
    ulna_status status = ULNA_OK;
    for (int i = 0; i < t->count && status == ULNA_OK; i++) {
        int out = robust_factor(&t->options, t->distance[i]) < OUTLIER;
        t->outlier[i] = out ? t->outlier[i] + 1 : 0;
        status = ulna_pose_point(ulna_work_pose(t->work), t->body[i], t->offset + 3 * i, t->m1 + 3 * i);
    }
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
    memcpy(t->seen, positions, 3 * (size_t)t->count * sizeof *positions);
    weigh_evenly(t);

    ulna_result result;
    double cost;
    status = solve_frame(t, q, &result, &cost, r);
    if (status == ULNA_OK && (report || t->options.loss))
        status = measure(t, q, r);
    if (r->outliers)
        r->flags |= ULNA_FRAME_OUTLIERS;
    if (status == ULNA_OK)
        status = remember(t, q, &result, cost, r->flags);
    r->stop = result.stop;
    r->seconds = ulna_seconds() - started;
    return status;
}

ulna_status ulna_tracker_residuals(ulna_tracker *t, double *distances)
{
    if (!t || !distances)
        return ULNA_ERR_ARGUMENT;
    memcpy(distances, t->distance, (size_t)t->count * sizeof *distances);
    return ULNA_OK;
}
