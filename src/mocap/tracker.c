/*
 * A tracker: one frame after the other, each from the ones before.
 *
 * A frame minimises sum w rho(r) over its markers, rho a robust loss, plus what is expected of a pose (tracker_priors.c). With
 * q1, q2 the last two frames:
 *   1. start from the prediction 2 q1 - q2, if f there is at most 1.2 times the last frame's, or not above that of q1;
 *   2. solve (hybrid, damping kept from frame to frame). The priors make the matrix well conditioned, so one step is enough where
 *      the start is as good as the last frame's; elsewhere the stop is a hundred times stricter;
 *   3. markers that have been outliers for a while, or that have just returned, count in full for once: if the skeleton can
 *      follow them, they were right;
 *   4. if the cost is far above what is usual, the track is lost: solve again from the last good pose and from fresh
 *      starts, keep the best.
 * The cost is sum w rho(r) of the markers alone: priors, and terms of the caller's own, may be out of reach for good.
 *
 * A search costs as much as hundreds of frames. One that found nothing is not made again for a while, each time for longer, unless
 * the cost has changed: then the markers have, as after a bad frame. options.budget limits what a frame spends on it, and on its
 * iterations.
 */
#include "mocap/tracker.h"
#include "solve/solver.h"

#include <math.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "mocap/track.h"
#include "model/model.h"
#include "objective/problem.h"

enum {
    SECOND_THOUGHTS = 5, /* frames, then twice as many, and so on */
    FEW_OUTLIERS = 3,
    MANY_OUTLIERS = 3, /* one in so many: not the markers are wrong, but the pose */
    MANY_LEAPS = 2,    /* one in so many: the recording leaps */
    BRIEF = 20,        /* iterations of an attempt to bring joints back: most that succeed take fewer */
    YOUNG = 20,        /* frames: what is usual is not known well */
    MOST_PATIENCE = 480
};
#define PREDICTION_MARGIN 1.2
#define STRICT 0.01      /* of options.solve.decrease: where the start is worse than that margin */
#define ONE_STEP 1e30    /* of f: any decrease is little */
#define WORSE 1.2        /* times what the last search ended with: search again */
#define MUCH_BETTER 0.5  /* of that: search again as well */
#define BETTER 0.9       /* of the cost: then a search has found the track */
#define FOLLOWED 0.5     /* of the cost of outliers: so much is gone, then the skeleton has followed them */
#define SET_APART 0.02   /* of a marker's weight: less, and it does not move the pose */
#define FAR 20           /* times the scale of the loss: as far off as an outlier may be */
#define USUAL_RATE 0.01  /* a frame: what is usual follows the cost's median slowly, so that no drift takes it along; */
#define SQUARE_RATE 0.05 /* faster for squares, where a single marker can make the cost */
#define IMPLAUSIBLE 0.1  /* times the skeleton's length scale: an rms error that is no pose, where none is usual yet */
#define OUT_OF_REACH 3   /* length scales: the longest way along the skeleton is two */
#define FIRST_ORDER 0.05 /* radians: below that the last step's twists give distances, to 0.1 % of a bone */

/* ---- solving ----------------------------------------------------------------------------------------------------- */

static void count_effort(const ulna_result *result, ulna_frame_report *report)
{
    report->iterations += result->iterations;
    report->evaluations += result->evaluations;
}

static double cost_of(const ulna_tracker *t, double distance)
{
    return ulna_loss_cost(t->options.loss, distance * distance, t->inverse);
}

/* Of its weight, what a marker so far off is left with. */
static double factor_of(const ulna_tracker *t, double distance)
{
    return ulna_loss_factor(t->options.loss, distance * distance, t->inverse);
}

static int is_outlier(const ulna_tracker *t, double distance)
{
    return distance * distance > t->outlier_square;
}

double ulna_tracker_report(const ulna_tracker *t, ulna_frame_report *report)
{
    const double *distance = t->distance, *weight = t->weight, inverse = t->inverse, far = t->outlier_square;
    const int count = t->count, is_default = t->options.loss == ULNA_LOSS_GEMAN_MCCLURE;
    double squares = 0, sum = 0, f = 0, cost = 0, worst = -1;
    int seen = 0, outliers = 0, worst_marker = ULNA_NONE;
    for (int i = 0; i < count; i++) {
        double d = distance[i], w = weight[i], square = d * d, half = 0.5 * w * square;
        if (!(w > 0) || isnan(d))
            continue;
        seen++;
        outliers += square > far;
        cost += is_default ? half / (1 + square * inverse) : w * ulna_loss_cost(t->options.loss, square, inverse);
        sum += d;
        squares += square;
        f += half;
        if (d > worst) {
            worst_marker = i;
            worst = d;
        }
    }
    report->seen = seen;
    report->outliers = outliers;
    report->sum = sum;
    report->f = f;
    report->worst = seen ? worst : 0;
    report->worst_marker = worst_marker;
    report->rms = seen ? sqrt(squares / seen) : 0;
    return cost;
}

double ulna_tracker_report_again(const ulna_tracker *t, ulna_frame_report *report)
{
    double cost = ulna_tracker_report(t, report);
    report->flags &= ~(unsigned)ULNA_TRACK_OUTLIERS;
    report->flags |= report->outliers ? ULNA_TRACK_OUTLIERS : 0;
    return cost;
}

ulna_status ulna_tracker_measure(ulna_tracker *t, const double *positions, const double *q, ulna_frame_report *report,
                                 double *cost)
{
    ulna_work *work = ulna_solver_work(t->solver);
    ulna_problem_put_points(t->problem, 0, t->count, positions);
    ulna_status status = ulna_pose_forward(ulna_work_pose(work), q);
    if (status == ULNA_OK)
        status = ulna_point_errors(work, 0, t->count, 0, t->distance);
    *cost = ulna_tracker_report_again(t, report);
    return status;
}

/* The distances at the answer q of the solver, and what follows from them. */
static ulna_status measure(ulna_tracker *t, const double *q, const ulna_result *result, ulna_frame_report *report,
                           double *cost)
{
    ulna_work *work = ulna_solver_work(t->solver);
    int is_stepped = result->predicted && t->last_step < FIRST_ORDER && t->may_loop;
    ulna_status status = result->predicted && !is_stepped ? ulna_pose_forward(ulna_work_pose(work), q) : ULNA_OK;
    if (status == ULNA_OK)
        status = ulna_point_errors(work, 0, t->count, is_stepped, t->distance);
    *cost = ulna_tracker_report(t, report);
    return status;
}

int ulna_tracker_is_late(const ulna_tracker *t)
{
    return !isinf(t->deadline) && ulna_seconds() >= t->deadline;
}

/* What is left until then, for a solver; 0: no limit. */
static double seconds_left(const ulna_tracker *t)
{
    return isinf(t->deadline) ? 0 : fmax(t->deadline - ulna_seconds(), 1e-9);
}

static ulna_status begin(ulna_tracker *t, const double *q)
{
    t->solver->options.seconds = seconds_left(t);
    return t->may_loop ? ulna_tracker_loop_begin(t, q) : ulna_solver_begin(t->solver, q);
}

static ulna_status run_solver(ulna_tracker *t, double *q, ulna_result *result)
{
    ulna_stop stop = t->solver->result.stop;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && stop == ULNA_STOP_NONE)
        status = ulna_solver_step(t->solver, &stop);
    return status == ULNA_OK ? ulna_solver_end(t->solver, q, result) : status;
}

/* To the end from where it has begun. */
static ulna_status solve(ulna_tracker *t, double *q, ulna_result *result)
{
    ulna_status status = t->may_loop ? ulna_tracker_loop(t, q, result) : run_solver(t, q, result);
    if (t->may_loop && (status == ULNA_ERR_SINGULAR || status == ULNA_ERR_INDEFINITE)) {
        t->last_step = (double)INFINITY;
        status = ulna_solver_begin(t->solver, q);
        if (status == ULNA_OK)
            status = run_solver(t, q, result);
    }
    return status;
}

/* The same, and the distances. */
static ulna_status run(ulna_tracker *t, double *q, ulna_result *result, ulna_frame_report *report, double *cost)
{
    ulna_status status = solve(t, q, result);
    count_effort(result, report);
    return status == ULNA_OK ? measure(t, q, result, report, cost) : status;
}

static void set_stop(ulna_tracker *t, int is_strict)
{
    t->solver->options.decrease = (is_strict ? STRICT : 1) * t->options.solve.decrease;
}

/* Solves strictly from q. */
static ulna_status refine(ulna_tracker *t, double *q, ulna_result *result, ulna_frame_report *report, double *cost)
{
    set_stop(t, 1);
    ulna_status status = begin(t, q);
    return status == ULNA_OK ? run(t, q, result, report, cost) : status;
}

/* The same in a few iterations, for an attempt that will be made again later if it fails. */
static ulna_status refine_briefly(ulna_tracker *t, double *q, ulna_result *result, ulna_frame_report *report,
                                  double *cost)
{
    const int most = t->options.solve.iterations, few = most < BRIEF ? most : BRIEF;
    t->options.solve.iterations = t->solver->options.iterations = few;
    ulna_status status = refine(t, q, result, report, cost);
    t->options.solve.iterations = t->solver->options.iterations = most;
    return status;
}

/* From `start`, or from another pose if f is lower there; that is only looked at if the start is suspect. */
static ulna_status begin_where_best(ulna_tracker *t, const double *start, ulna_frame_report *report)
{
    ulna_solver *s = t->solver;
    set_stop(t, 0);
    ulna_status status = begin(t, start);
    double f = ulna_solver_f(s);
    int is_worse = f > PREDICTION_MARGIN * t->last_f;
    const double *other = t->was_lost ? t->good : start == t->trial && is_worse ? t->q1 : NULL;
    set_stop(t, is_worse && t->options.smooth > 0);
    if (status != ULNA_OK || !other)
        return status;
    status = begin(t, other);
    report->evaluations++;
    if (status == ULNA_OK && ulna_solver_f(s) > f) {
        status = begin(t, start);
        report->evaluations++;
    } else
        t->has_jumped = other == t->good;
    return status;
}

/* From where the last two frames were going. */
static ulna_status follow(ulna_tracker *t, double *q, ulna_result *result, ulna_frame_report *report, double *cost)
{
    const double *course = t->q1;
    if (t->history == 2) {
        ulna_model_difference(t->model, t->q2, t->q1, t->velocity);
        ulna_model_integrate(t->model, t->q1, t->velocity, t->trial);
        course = t->trial;
    }
    ulna_tracker_expect_course(t);
    ulna_status status = begin_where_best(t, t->options.predict ? course : t->q1, report);
    return status == ULNA_OK ? run(t, q, result, report, cost) : status;
}

ulna_status ulna_tracker_step(ulna_tracker *t, const double *q, double *result)
{
    ulna_result aside;
    ulna_status status = t->may_loop ? ulna_tracker_loop_step(t, q, result) : ULNA_ERR_SINGULAR;
    if (status != ULNA_ERR_SINGULAR && status != ULNA_ERR_INDEFINITE)
        return status;
    t->solver->options.decrease = ONE_STEP; /* the solver, which knows what to do then */
    memcpy(result, q, (size_t)t->nq * sizeof *q);
    status = begin(t, q);
    return status == ULNA_OK ? solve(t, result, &aside) : status;
}

/* ---- fresh starts ------------------------------------------------------------------------------------------------ */

/* A fresh start knows no course and counts squares: what is too far from the other markers to be on the same skeleton is left
 * out. The centre is a middle value, no mean of two: of two markers far apart, one stays. */
static ulna_status count_possible(ulna_tracker *t)
{
    double reach = OUT_OF_REACH * t->length_scale, centre[3];
    for (int k = 0; k < 3; k++) {
        size_t count = 0;
        for (int i = 0; i < t->count; i++)
            if (t->weight[i] > 0 && !isnan(t->seen[3 * i + k]))
                t->distance[count++] = t->seen[3 * i + k];
        ulna_sort_numbers(t->distance, count);
        centre[k] = count ? t->distance[(count - 1) / 2] : (double)NAN;
    }
    for (int i = 0; i < t->count; i++) {
        const double *x = t->seen + 3 * i;
        int is_possible = 1;
        for (int k = 0; k < 3; k++)
            is_possible &= !(fabs(x[k] - centre[k]) > reach);
        for (int k = 0; k < 3; k++)
            t->possible[3 * i + k] = is_possible ? x[k] : (double)NAN;
    }
    ulna_problem_set_loss(t->problem, 0, t->count, ULNA_LOSS_SQUARE, 0);
    return ulna_problem_set_points(t->problem, 0, t->count, t->possible);
}

static ulna_status count_robustly(ulna_tracker *t)
{
    if (t->options.loss)
        ulna_problem_set_loss(t->problem, 0, t->count, t->options.loss, t->options.loss_scale);
    return ulna_problem_set_points(t->problem, 0, t->count, t->seen);
}

static ulna_status search_globally(ulna_tracker *t, double *q, ulna_result *result)
{
    ulna_global_result found;
    ulna_status status = ulna_global_solve(t->global, q, &found, NULL);
    if (status == ULNA_OK)
        *result = found.local;
    return status;
}

/* From `start` with its root moved to the markers, and from elsewhere, until f is below `stop_below`; then with the loss. */
static ulna_status start_afresh(ulna_tracker *t, const double *start, double stop_below, double *q, ulna_result *result,
                                ulna_frame_report *report, double *cost)
{
    ulna_options options = t->options.fresh;
    options.stop_below = stop_below;
    if (!isinf(t->deadline))
        options.seconds = seconds_left(t);
    ulna_tracker_expect_rest(t);
    ulna_status status = count_possible(t);
    if (status == ULNA_OK)
        status = ulna_solver_set_options(t->fresh, &options, NULL);
    memcpy(q, start, (size_t)t->nq * sizeof *start);
    if (status == ULNA_OK)
        status = ulna_work_align_root(ulna_solver_work(t->fresh), q);
    if (status == ULNA_OK)
        status = t->global ? search_globally(t, q, result) : ulna_solve(t->fresh, q, result);
    if (t->history)
        ulna_nearest_turns(t->model, &t->options.fresh, t->good, q); /* a lost one may be wound up */
    count_effort(result, report);
    if (status == ULNA_OK)
        status = count_robustly(t);
    return status == ULNA_OK ? refine(t, q, result, report, cost) : status;
}

/* ---- candidates for the pose of a frame -------------------------------------------------------------------------- */

/* The answer so far. */
typedef struct candidate {
    ulna_result result;
    ulna_frame_report report;
    double cost;
} candidate;

/* Before another one is tried; its pose is in q. */
static void keep(ulna_tracker *t, const double *q)
{
    memcpy(t->kept, q, (size_t)t->nq * sizeof *q);
}

/* `other`, whose pose is in q, if it is better than the one kept; the pose of that one is there afterwards. */
static void choose(ulna_tracker *t, double *q, candidate *best, const candidate *other, int is_better)
{
    int iterations = other->report.iterations, evaluations = other->report.evaluations;
    if (is_better)
        *best = *other;
    else {
        memcpy(q, t->kept, (size_t)t->nq * sizeof *q);
        t->is_measured = 0;
    }
    best->report.iterations = iterations;
    best->report.evaluations = evaluations;
}

/* Has a marker been an outlier for 1 (if it has returned), 5, 10, 20, 40 ... frames? */
static int is_due(const ulna_tracker *t, int i)
{
    int frames = t->outlier[i] + 1, ratio = frames / SECOND_THOUGHTS;
    if (isnan(t->distance[i]) || !(t->weight[i] > 0) || !is_outlier(t, t->distance[i]))
        return 0;
    return t->missing[i] == 2 || (frames % SECOND_THOUGHTS == 0 && (ratio & (ratio - 1)) == 0);
}

/* Outliers count in full for once. If the skeleton can follow them, their cost is gone; if that only makes others outliers in their
 * place, the pose stays: two poses that fit alike would take turns. */
static ulna_status reconsider_outliers(ulna_tracker *t, double *q, candidate *best)
{
    double cost = 0;
    if (!best->report.outliers || ulna_tracker_is_late(t))
        return ULNA_OK;
    for (int i = 0; i < t->count; i++)
        if (is_due(t, i)) {
            ulna_problem_set_loss(t->problem, i, 1, t->options.loss, (double)INFINITY);
            cost += t->weight[i] * cost_of(t, t->distance[i]);
        }
    if (cost == 0)
        return ULNA_OK;
    candidate other = *best;
    keep(t, q);
    ulna_status status = refine(t, q, &other.result, &other.report, &other.cost);
    if (status == ULNA_OK)
        status = count_robustly(t);
    if (status == ULNA_OK)
        status = refine(t, q, &other.result, &other.report, &other.cost);
    if (status == ULNA_OK)
        choose(t, q, best, &other, other.cost < best->cost - FOLLOWED * cost);
    return status;
}

/*
 * A joint that one marker shows fits it in two ways, and a marker that drifted and came back may have left it in the wrong one, far
 * beyond its limits. So such joints start from rest for once: if the markers fit as well, they stay within their limits.
 */
static ulna_status reconsider_joints(ulna_tracker *t, double *q, candidate *best)
{
    if (!t->options.loss || ++t->frames % SECOND_THOUGHTS || !ulna_tracker_is_far_beyond(t, q))
        return ULNA_OK; /* plain least squares expect nothing of a pose */
    t->beyond++;
    if (t->beyond & (t->beyond - 1) || ulna_tracker_is_late(t))
        return ULNA_OK;
    candidate other = *best;
    keep(t, q);
    ulna_tracker_put_back(t, t->kept, q);
    ulna_tracker_expect_rest(t);
    ulna_status status = refine_briefly(t, q, &other.result, &other.report, &other.cost);
    if (status != ULNA_OK)
        return status;
    int is_better = other.cost <= best->cost && !ulna_tracker_is_far_beyond(t, q);
    choose(t, q, best, &other, is_better);
    if (is_better) {
        best->report.flags |= ULNA_TRACK_RECOVERED;
        t->has_jumped = 1;
    }
    return ULNA_OK;
}

/* ---- losing the track, and finding it again ---------------------------------------------------------------------- */

/* Above this cost the track is in doubt. */
static double usual_limit(const ulna_tracker *t)
{
    return t->options.lost_factor * t->usual + t->options.lost_excess * t->mean_weight;
}

/* As long as nothing is usual: what is out of the question. */
static double plausible_limit(const ulna_tracker *t)
{
    double rms = IMPLAUSIBLE * t->length_scale, weights = 0;
    for (int i = 0; i < t->count; i++)
        weights += isnan(t->seen[3 * i]) ? 0 : t->weight[i];
    return weights * cost_of(t, rms);
}

/* Above this cost it is lost. With a robust loss a few outliers do not make a doubt. */
static double lost_limit(const ulna_tracker *t)
{
    const ulna_track_options *o = &t->options;
    double outliers = o->loss ? FEW_OUTLIERS * t->mean_weight * cost_of(t, FAR * o->loss_scale) : 0;
    return (t->age ? usual_limit(t) : plausible_limit(t)) + outliers;
}

/* No search for a while. */
static void postpone_search(ulna_tracker *t, double cost)
{
    t->tolerated = WORSE * cost;
    t->patience = t->rest_between;
    t->rest_between = t->rest_between < MOST_PATIENCE ? 2 * t->rest_between : MOST_PATIENCE;
}

/* From the last good pose, then from the start. */
static ulna_status find_again(ulna_tracker *t, double stop_below, double *q, candidate *best)
{
    const double *starts[] = {t->good, t->start};
    double before = best->cost;
    ulna_status status = ULNA_OK;
    for (int i = 0; i < 2 && status == ULNA_OK; i++) {
        candidate other = *best;
        if ((i && best->cost <= stop_below) || ulna_tracker_is_late(t))
            break;
        keep(t, q);
        status = start_afresh(t, starts[i], stop_below, q, &other.result, &other.report, &other.cost);
        if (status == ULNA_OK)
            choose(t, q, best, &other, other.cost < best->cost);
    }
    if (best->cost < BETTER * before)
        best->report.flags |= ULNA_TRACK_RECOVERED; /* unless it stays lost */
    t->has_jumped |= best->cost < before;
    postpone_search(t, best->cost);
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
    if (t->leap == 1) /* the cost of a lost track may not show it: a robust loss has given up all the same */
        return 1;
    return cost > t->tolerated || WORSE * cost < MUCH_BETTER * t->tolerated || t->patience-- <= 0;
}

/* Outliers that a robust loss has set apart make a cost too, but no lost track, unless they are many. */
static int is_too_high(const ulna_tracker *t, const candidate *best, double limit)
{
    double fitted = 0;
    int many = best->report.outliers * MANY_OUTLIERS > best->report.seen;
    if (!(best->cost > limit))
        return 0;
    if (!t->options.loss || many || !t->age)
        return 1;
    for (int i = 0; i < t->count; i++) {
        double d = t->distance[i], factor = isnan(d) ? 0 : factor_of(t, d);
        fitted += factor < SET_APART ? 0 : 0.5 * t->weight[i] * factor * d * d;
    }
    return fitted > usual_limit(t);
}

static ulna_status begin_track(ulna_tracker *t, double *q, candidate *best)
{
    best->report.flags |= ULNA_TRACK_STARTED;
    t->has_jumped = 1;
    t->rest_between = ULNA_TRACKER_PATIENCE;
    return start_afresh(t, t->start, t->enough, q, &best->result, &best->report, &best->cost);
}

static ulna_status continue_track(ulna_tracker *t, double limit, double *q, candidate *best)
{
    ulna_status status = follow(t, q, &best->result, &best->report, &best->cost);
    if (status == ULNA_OK)
        status = reconsider_outliers(t, q, best);
    if (status == ULNA_OK)
        status = reconsider_joints(t, q, best);
    if (status != ULNA_OK || t->options.lost_factor == 0 || !is_in_doubt(t, best->cost, limit))
        return status;
    return find_again(t, t->age ? usual_limit(t) : 0, q, best);
}

/* The distances may be those of a pose that was not chosen. */
static ulna_status measure_chosen(ulna_tracker *t, const double *q)
{
    ulna_work *work = ulna_solver_work(t->solver);
    ulna_status status = t->is_measured ? ULNA_OK : ulna_pose_forward(ulna_work_pose(work), q);
    if (status == ULNA_OK && !t->is_measured)
        status = ulna_point_errors(work, 0, t->count, 0, t->distance);
    t->is_measured = 1;
    return status;
}

static ulna_status solve_frame(ulna_tracker *t, double *q, candidate *best)
{
    double limit = lost_limit(t);
    t->has_jumped = 0;
    t->is_measured = 1;
    ulna_status status = t->history == 0 ? begin_track(t, q, best) : continue_track(t, limit, q, best);
    if (status == ULNA_OK)
        status = measure_chosen(t, q);
    if (status != ULNA_OK || t->options.lost_factor == 0)
        return status;
    int is_lost = is_too_high(t, best, limit);
    if (!is_lost)
        t->tolerated = 0;
    else if (t->tolerated == 0)
        postpone_search(t, best->cost);
    if (is_lost)
        best->report.flags = (best->report.flags & ~(unsigned)ULNA_TRACK_RECOVERED) | ULNA_TRACK_LOST;
    else if (t->was_lost)
        best->report.flags |= ULNA_TRACK_RECOVERED;
    t->was_lost = is_lost;
    return status;
}

/* ---- a frame ----------------------------------------------------------------------------------------------------- */

/* A first frame may be off, and then nothing would look lost beside it: what is usual falls to better ones at once. */
static void learn_usual(ulna_tracker *t, double cost)
{
    if (t->age == 0 || (t->age < YOUNG && cost < MUCH_BETTER * t->usual))
        t->usual = cost;
    else if (t->age < YOUNG)
        t->usual += (cost - t->usual) / (t->age + 1);
    else
        t->usual *= 1 + (cost > t->usual ? 1 : -1) * (t->options.loss ? USUAL_RATE : SQUARE_RATE);
    t->age += t->age < YOUNG;
    if (cost <= usual_limit(t))
        t->rest_between = ULNA_TRACKER_PATIENCE;
}

/* What the next frame starts from. */
static void remember(ulna_tracker *t, const double *q, const candidate *best)
{
    double *swap = t->q2;
    t->q2 = t->q1;
    t->q1 = swap;
    memcpy(t->q1, q, (size_t)t->nq * sizeof *q);
    t->history = t->has_jumped ? 1 : t->history < 2 ? t->history + 1 : 2;
    t->last_f = best->result.f;
    if (!(best->report.flags & ULNA_TRACK_LOST)) {
        memcpy(t->good, q, (size_t)t->nq * sizeof *q);
        learn_usual(t, best->cost);
    }
    for (int i = 0; i < t->count && (best->report.outliers || t->had_outliers); i++)
        t->outlier[i] = !isnan(t->distance[i]) && is_outlier(t, t->distance[i]) ? t->outlier[i] + 1 : 0;
    t->had_outliers = best->report.outliers;
}

/* Do most markers leap, after frames in which they did not? */
static void find_leap(ulna_tracker *t, const double *positions)
{
    double far = t->options.loss_scale * t->options.loss_scale;
    int leaps = 0, seen = 0;
    for (int i = 0; i < t->count; i++) {
        double way = 0;
        for (int k = 3 * i; k < 3 * i + 3; k++)
            way += (positions[k] - t->seen[k]) * (positions[k] - t->seen[k]);
        leaps += way > far;
        seen += !isnan(way);
    }
    t->leap = leaps * MANY_LEAPS > seen ? t->leap + 1 : 0;
}

/* What can be a position; the rest counts as missing. Returns how many markers count. */
static int take_positions(ulna_tracker *t, const double *positions)
{
    int seen = 0, changes = 0, marks = 0;
    if (t->was_lost)
        find_leap(t, positions);
    if (t->seen_if_whole && ulna_all_within(ULNA_FARTHEST_MARKER, positions, 3 * t->count)) {
        memcpy(t->seen, positions, 3 * (size_t)t->count * sizeof *positions);
        return t->seen_if_whole;
    }
    for (int i = 0; i < t->count; i++) {
        const double *x = positions + 3 * i;
        double *to = t->seen + 3 * i;
        int is_there = ulna_is_position(x), was_missing = t->missing[i] == 1;
        to[0] = is_there ? x[0] : (double)NAN;
        to[1] = x[1];
        to[2] = x[2];
        t->missing[i] = (unsigned char)(!is_there + 2 * (is_there & was_missing));
        changes += was_missing == is_there;
        marks |= t->missing[i];
        seen += is_there && t->weight[i] > 0;
    }
    t->seen_if_whole = marks ? 0 : seen;
    if (changes && seen)
        ulna_tracker_find_unseen(t);
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

ulna_status ulna_tracker_frame(ulna_tracker *t, const double *positions, double *q, ulna_frame_report *report)
{
    if (!t || !positions || !q)
        return ULNA_ERR_ARGUMENT;
    candidate best = {.report = {.worst_marker = ULNA_NONE}};
    double started = ulna_seconds();
    t->deadline = t->options.budget > 0 ? started + t->options.budget : (double)INFINITY;
    int seen = take_positions(t, positions);
    ulna_problem_put_points(t->problem, 0, t->count, t->seen);
    ulna_status status = ULNA_OK;
    if (seen) {
        status = solve_frame(t, q, &best);
        if (status == ULNA_OK)
            remember(t, q, &best);
        best.report.flags |= best.report.outliers ? ULNA_TRACK_OUTLIERS : 0;
        best.report.stop = best.result.stop;
    } else
        stay(t, q, &best.report);
    best.report.seconds = ulna_seconds() - started;
    if (report)
        *report = best.report;
    return status;
}

ulna_status ulna_tracker_residuals(ulna_tracker *t, double *distances)
{
    if (!t || !distances)
        return ULNA_ERR_ARGUMENT;
    memcpy(distances, t->distance, (size_t)t->count * sizeof *distances);
    return ULNA_OK;
}
