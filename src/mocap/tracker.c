/*
 * A tracker: one frame after the other, each from the ones before.
 *
 * With q1, q2 the last two frames:
 *   1. start from the prediction 2 q1 - q2, if f there is at most 1.2 times the last frame's, or not above that of q1;
 *   2. solve (hybrid, damping carried over);
 *   3. with a robust loss: weigh markers by their distance and solve again, while weights change;
 *   4. if the cost is far above what is usual, the track is lost: solve again from the last good pose and from fresh
 *      starts, keep the best.
 * The cost is f, or with a robust loss sum w rho(r): f of the weighed markers would be low exactly where most are given
 * up. Beside terms of the caller's own it is the markers' f alone: those may be out of reach for good.
 *
 * A search costs as much as hundreds of frames. One that found nothing is not made again for a while, unless the cost has
 * changed: then the markers have, as after a bad frame.
 */
#include "mocap/tracker.h"
#include "solve/solver.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "mocap/track.h"
#include "model/model.h"
#include "objective/problem.h"

enum {
    ROBUST_ROUNDS = 6,
    SECOND_THOUGHTS = 5, /* frames */
    FEW_OUTLIERS = 3,
    MANY_OUTLIERS = 3, /* one in so many: not the markers are wrong, but the pose */
    YOUNG = 20,        /* frames: what is usual is not known well */
    PATIENCE = 30      /* frames until what could not be found is looked for again, were its cost not to change */
};
#define PREDICTION_MARGIN 1.2
#define WORSE 1.2         /* times what the last search ended with: search again */
#define MUCH_BETTER 0.5   /* of that: search again as well */
#define BETTER 0.9        /* of the cost: then a search has found the track */
#define FAR 5             /* times the scale of the loss */
#define USUAL_MEMORY 0.95 /* of the running mean of the cost */
#define IMPLAUSIBLE 0.1   /* times the skeleton's length scale: an rms error that is no pose, where none is usual yet */

/* ---- solving ----------------------------------------------------------------------------------------------------- */

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

/* From `start`, or from another pose if f is lower there; that is only looked at if the start is suspect. */
static ulna_status begin_where_best(ulna_tracker *t, const double *start, ulna_frame_report *report)
{
    ulna_solver *s = t->solver;
    ulna_status status = ulna_solver_begin(s, start);
    double f = ulna_solver_f(s);
    const double *other = t->was_lost ? t->good : start == t->trial && f > PREDICTION_MARGIN * t->last_f ? t->q1 : NULL;
    if (status != ULNA_OK || !other)
        return status;
    status = ulna_solver_begin(s, other);
    report->evaluations++;
    if (status == ULNA_OK && ulna_solver_f(s) > f) {
        status = ulna_solver_begin(s, start);
        report->evaluations++;
    } else
        t->has_jumped = other == t->good;
    return status;
}

/* From where the last two frames were going. */
static ulna_status follow(ulna_tracker *t, double *q, ulna_result *result, ulna_frame_report *report)
{
    const double *course = t->q1;
    if (t->history == 2) {
        ulna_model_difference(t->model, t->q2, t->q1, t->step);
        ulna_model_integrate(t->model, t->q1, t->step, t->trial);
        course = t->trial;
    }
    if (t->smooth_term != ULNA_NONE)
        ulna_problem_set_goal(t->problem, t->smooth_term, t->options.smooth_order == 1 ? t->q1 : course);
    if (t->options.loss && t->history == 2)
        ulna_tracker_weigh_by_course(t);
    ulna_status status = begin_where_best(t, t->options.predict ? course : t->q1, report);
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

/* From `start` with its root moved to the markers, and from elsewhere, until f is below `stop_below`. */
static ulna_status start_afresh(ulna_tracker *t, const double *start, double stop_below, double *q, ulna_result *result,
                                ulna_frame_report *report)
{
    ulna_options options = t->options.fresh;
    options.stop_below = stop_below;
    if (t->options.loss)
        ulna_tracker_weigh_possible(t);
    ulna_status status = ulna_solver_set_options(t->fresh, &options, NULL);
    memcpy(q, start, (size_t)t->nq * sizeof *start);
    if (status == ULNA_OK)
        status = ulna_work_align_root(ulna_solver_work(t->fresh), q);
    if (status == ULNA_OK && t->global)
        status = search_globally(t, q, result);
    else if (status == ULNA_OK)
        status = ulna_solve(t->fresh, q, result);
    if (t->history)
        ulna_nearest_turns(t->model, &t->options.fresh, t->good, q); /* a lost one may be wound up */
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
        report->outliers += t->options.loss && ulna_robust_factor(&t->options, d) < ULNA_TRACKER_OUTLIER;
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
        if (ulna_tracker_weigh(t) == 0)
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
        ulna_status measured = t->options.extend ? measure(t, q, report) : ULNA_OK;
        *cost = t->options.extend ? report->f : result->f;
        return measured;
    }
    ulna_status status = weigh_down(t, q, result, report);
    *cost = 0;
    for (int i = 0; i < t->count; i++)
        if (!isnan(t->distance[i]))
            *cost += t->weight[i] * ulna_robust_cost(&t->options, t->distance[i]);
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
    ulna_status status = start_afresh(t, start, limit, q, &result, report);
    return status == ULNA_OK ? choose(t, q, &result, best, cost, report) : status;
}

/* A marker that has been an outlier for a while gets its weight back for once: if the skeleton can follow, it was right. */
static ulna_status think_again(ulna_tracker *t, double *q, ulna_result *best, double *cost, ulna_frame_report *report)
{
    int doubts = 0;
    for (int i = 0; i < t->count; i++)
        if (t->outlier[i] && t->outlier[i] % SECOND_THOUGHTS == 0 && !isnan(t->distance[i])) {
            ulna_problem_set_confidence(t->problem, i, 1);
            doubts++;
        }
    if (!doubts)
        return ULNA_OK;
    ulna_tracker_hold_unseen(t);
    ulna_result result;
    memcpy(t->kept, q, (size_t)t->nq * sizeof *q);
    ulna_status status = ulna_solver_begin(t->solver, q);
    if (status == ULNA_OK)
        status = run(t, q, &result, report);
    return status == ULNA_OK ? choose(t, q, &result, best, cost, report) : status;
}

/* ---- losing the track, and finding it again ---------------------------------------------------------------------- */

/* Above this cost the track is in doubt. */
static double usual_limit(const ulna_tracker *t)
{
    return t->options.lost_factor * t->usual + t->options.lost_excess;
}

/* As long as nothing is usual: what is out of the question. */
static double plausible_limit(const ulna_tracker *t)
{
    double rms = IMPLAUSIBLE * t->model->length_scale, weights = 0;
    for (int i = 0; i < t->count; i++)
        weights += isnan(t->seen[3 * i]) ? 0 : t->weight[i];
    return 0.5 * weights * rms * rms;
}

/* Above this cost it is lost. With a robust loss a few outliers do not make a doubt. */
static double lost_limit(const ulna_tracker *t)
{
    const ulna_track_options *o = &t->options;
    double outliers = o->loss ? FEW_OUTLIERS * ulna_robust_cost(o, FAR * o->loss_scale) : 0;
    return (t->age ? usual_limit(t) : plausible_limit(t)) + outliers;
}

/* No search for a while. */
static void postpone_search(ulna_tracker *t, double cost)
{
    t->tolerated = WORSE * cost;
    t->patience = PATIENCE;
}

/* From the last good pose, then from the start. */
static ulna_status find_again(ulna_tracker *t, double stop_below, double *q, ulna_result *result, double *cost,
                              ulna_frame_report *report)
{
    double before = *cost;
    ulna_status status = search_from(t, t->good, stop_below, q, result, cost, report);
    if (status == ULNA_OK && *cost > stop_below)
        status = search_from(t, t->start, stop_below, q, result, cost, report);
    if (*cost < BETTER * before)
        report->flags |= ULNA_TRACK_RECOVERED; /* unless it stays lost */
    t->has_jumped |= *cost < before;
    postpone_search(t, *cost);
    return status;
}

/*
 * Whether a search may pay. After a lost frame also at a cost below the limit, if that is not a usual one: the pose comes
 * from the lost one, and may be a trap that looks like a few outliers.
 */
static int is_in_doubt(ulna_tracker *t, double cost, double limit)
{
    if (t->tolerated == 0)
        return cost > limit;
    if (cost <= limit && !t->was_lost)
        return 0;
    if (cost <= limit && t->age)
        return cost > usual_limit(t);
    return cost > t->tolerated || WORSE * cost < MUCH_BETTER * t->tolerated || t->patience-- <= 0;
}

/* Outliers that a robust loss has set apart make a cost too, but no lost track, unless they are many. */
static int is_lost(const ulna_tracker *t, double cost, double limit, const ulna_result *result,
                   const ulna_frame_report *report)
{
    if (!t->options.loss)
        return cost > limit;
    int many = report->outliers * MANY_OUTLIERS > report->seen;
    int misfits = result->f > limit && !t->options.extend;
    return (cost > limit && (misfits || many)) || (many && !t->age);
}

static ulna_status begin_track(ulna_tracker *t, double *q, ulna_result *result, double *cost, ulna_frame_report *report)
{
    report->flags |= ULNA_TRACK_STARTED;
    ulna_status status = start_afresh(t, t->start, 0, q, result, report);
    t->has_jumped = 1;
    return status == ULNA_OK ? settle(t, q, result, report, cost) : status;
}

static ulna_status continue_track(ulna_tracker *t, double limit, double *q, ulna_result *result, double *cost,
                                  ulna_frame_report *report)
{
    ulna_status status = follow(t, q, result, report);
    if (status == ULNA_OK)
        status = settle(t, q, result, report, cost);
    if (status == ULNA_OK && t->options.loss)
        status = think_again(t, q, result, cost, report);
    if (status != ULNA_OK || t->options.lost_factor == 0)
        return status;
    return is_in_doubt(t, *cost, limit) ? find_again(t, t->age ? usual_limit(t) : 0, q, result, cost, report) : status;
}

static ulna_status solve_frame(ulna_tracker *t, double *q, ulna_result *result, double *cost, ulna_frame_report *report)
{
    double limit = lost_limit(t);
    int begins = t->history == 0;
    *result = (ulna_result){0};
    t->has_jumped = 0;
    ulna_status status =
        begins ? begin_track(t, q, result, cost, report) : continue_track(t, limit, q, result, cost, report);
    if (status != ULNA_OK || t->options.lost_factor == 0)
        return status;
    int is_lost_now = is_lost(t, *cost, limit, result, report);
    if (!is_lost_now && *cost <= limit)
        t->tolerated = 0;
    else if (t->tolerated == 0)
        postpone_search(t, *cost);
    if (is_lost_now)
        report->flags = (report->flags & ~(unsigned)ULNA_TRACK_RECOVERED) | ULNA_TRACK_LOST;
    else if (t->was_lost)
        report->flags |= ULNA_TRACK_RECOVERED;
    t->was_lost = is_lost_now;
    return status;
}

/* ---- a frame ----------------------------------------------------------------------------------------------------- */

/* A first frame may be off, and then nothing would look lost beside it: what is usual falls to better ones at once. */
static void learn_usual(ulna_tracker *t, double cost)
{
    if (t->age == 0 || (t->age < YOUNG && cost < MUCH_BETTER * t->usual))
        t->usual = cost;
    else
        t->usual = USUAL_MEMORY * t->usual + (1 - USUAL_MEMORY) * cost;
    t->age += t->age < YOUNG;
}

/* What the next frame starts from. */
static ulna_status remember(ulna_tracker *t, const double *q, const ulna_result *result, double cost, unsigned flags)
{
    double *swap = t->q2;
    t->q2 = t->q1;
    t->q1 = swap;
    memcpy(t->q1, q, (size_t)t->nq * sizeof *q);
    t->history = t->has_jumped ? 1 : t->history < 2 ? t->history + 1 : 2;
    t->last_f = result->f;
    if (!(flags & ULNA_TRACK_LOST)) {
        memcpy(t->good, q, (size_t)t->nq * sizeof *q);
        learn_usual(t, cost);
    }
    if (!t->options.loss)
        return ULNA_OK;
    swap = t->m2;
    t->m2 = t->m1;
    t->m1 = swap;
    ulna_status status = ULNA_OK;
    for (int i = 0; i < t->count && status == ULNA_OK; i++) {
        int out = ulna_robust_factor(&t->options, t->distance[i]) < ULNA_TRACKER_OUTLIER;
        t->outlier[i] = out ? t->outlier[i] + 1 : 0;
        status = ulna_pose_point(ulna_work_pose(t->work), t->body[i], t->offset + 3 * i, t->m1 + 3 * i);
    }
    return status;
}

/* What can be a position; the rest counts as missing. Returns how many markers count. */
static int take_positions(ulna_tracker *t, const double *positions)
{
    int seen = 0;
    for (int i = 0; i < t->count; i++) {
        double *to = t->seen + 3 * i;
        int is_there = ulna_is_position(positions + 3 * i);
        for (int k = 0; k < 3; k++)
            to[k] = is_there ? positions[3 * i + k] : (double)NAN;
        seen += is_there && t->weight[i] > 0;
    }
    return seen;
}

/* Holds still; what comes next is followed from here, without a velocity. */
static void stay(ulna_tracker *t, double *q, ulna_frame_report *report)
{
    memcpy(q, t->q1, (size_t)t->nq * sizeof *q);
    report->flags = ULNA_TRACK_EMPTY;
    t->history = t->history > 1 ? 1 : t->history;
    for (int i = 0; i < t->count; i++)
        t->distance[i] = (double)NAN;
    t->is_measured = 1;
}

static ulna_status solve_and_measure(ulna_tracker *t, double *q, int is_reported, ulna_frame_report *r)
{
    ulna_result result;
    double cost;
    t->is_measured = 0;
    ulna_tracker_weigh_evenly(t);
    ulna_status status = solve_frame(t, q, &result, &cost, r);
    if (status == ULNA_OK && (is_reported || t->options.loss)) {
        status = measure(t, q, r);
        t->is_measured = status == ULNA_OK;
    }
    if (r->outliers)
        r->flags |= ULNA_TRACK_OUTLIERS;
    if (status == ULNA_OK)
        status = remember(t, q, &result, cost, r->flags);
    r->stop = result.stop;
    return status;
}

ulna_status ulna_tracker_frame(ulna_tracker *t, const double *positions, double *q, ulna_frame_report *report)
{
    ulna_frame_report own, *r = report ? report : &own;
    if (!t || !positions || !q)
        return ULNA_ERR_ARGUMENT;
    *r = (ulna_frame_report){.worst_marker = ULNA_NONE};
    double started = ulna_seconds();
    int seen = take_positions(t, positions);
    ulna_status status = ulna_problem_set_points(t->problem, 0, t->count, t->seen);
    if (status == ULNA_OK && seen)
        status = solve_and_measure(t, q, report != NULL, r);
    else if (status == ULNA_OK)
        stay(t, q, r);
    r->seconds = ulna_seconds() - started;
    return status;
}

ulna_status ulna_tracker_residuals(ulna_tracker *t, double *distances)
{
    ulna_frame_report aside;
    if (!t || !distances)
        return ULNA_ERR_ARGUMENT;
    if (!t->is_measured) {
        ulna_status status = measure(t, t->q1, &aside);
        if (status != ULNA_OK)
            return status;
        t->is_measured = 1;
    }
    memcpy(distances, t->distance, (size_t)t->count * sizeof *distances);
    return ULNA_OK;
}
