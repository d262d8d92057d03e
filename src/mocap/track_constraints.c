/*
 * Constraints of a whole take, and feet that stand.
 *
 * The take has been tracked without them, and all other passes over it are done. Each frame in which a constraint holds is now
 * solved once more, from its tracked pose and with the same markers, loss and priors as in the sweeps (track_passes.c): it is held to
 * the tracked poses of its neighbours, not to what became of these. So a frame moves by what its constraints ask for and no
 * more, and does not carry on what others asked for. Multipliers start from the frame before.
 *
 * A foot that stands is a constraint on its ball, and while it is flat one on its rotation: goals are medians of the tracked places
 * and means of the tracked rotations over the stance. So that nothing steps where constraints on places and rotations begin and end, they fade: beside a range the goal is
 * the tracked motion, moved by a share of what separates it from the goal at the end of the range. The share falls smoothly from 1
 * to 0. Between two ranges that are close it goes from the one to the other.
 *
 * A frame whose constraints cannot be kept has the least violation nearby, and is doubtful. So is one whose solve did not converge.
 */
#include "mocap/track_constraints.h"

#include <limits.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "mocap/tracker.h"
#include "model/model.h"
#include "objective/problem.h"
#include "solve/solver.h"

#define DECREASE 1e-5 /* of f: an iteration that gains less is the last */
#define KEPT 1e-6     /* of the length, or radians: a larger error is a constraint that is not kept */

enum { TURN = 3, MOTION = 6 }; /* where the rotation begins in a difference, and its size */

/* A constraint in a range of frames. */
typedef struct hold {
    int number;                           /* of the constraint in the list */
    int first, last;                      /* frames */
    double goal[ULNA_CONSTRAINT_GOAL];    /* of POINT, ORIENTATION and FRAME */
    double before[MOTION], after[MOTION]; /* from the tracked motion to the goal, at the two ends */
} hold;

typedef struct keeper {
    ulna_track_job *j;
    const unsigned char *aside, *hidden;
    ulna_tracker *tracker;
    ulna_pose *pose;              /* of the tracked motion */
    ulna_clip tracked;            /* as it was */
    ulna_constraint *constraints; /* those of the options, then those of the feet */
    size_t count, room;
    int first_number; /* in the problem, of the first of these */
    hold *holds;      /* in the order of constraints, then of frames */
    size_t hold_count, hold_room;
    int fade_in, fade_out;   /* frames */
    double *to_sides, *step; /* nv */
    double *numbers;         /* total */
    double rise;             /* m: sum over the frames, RMS with constraints minus RMS as tracked */
    ulna_error *error;
} keeper;

/* ---- differences of places and rotations ---------------------------------------------------------------------------------- */

/* Where the numbers of a goal are; -1: there are none. */
static int place_of(ulna_constraint_type type)
{
    return type == ULNA_KEEP_POINT || type == ULNA_KEEP_FRAME ? 0 : -1;
}

static int rotation_of(ulna_constraint_type type)
{
    return type == ULNA_KEEP_ORIENTATION ? 0 : type == ULNA_KEEP_FRAME ? 3 : -1;
}

static int fades(ulna_constraint_type type)
{
    return place_of(type) >= 0 || rotation_of(type) >= 0;
}

/* What the goal would be for the pose as it is. */
static void value_of(const ulna_pose *pose, const ulna_constraint *c, double *value)
{
    if (place_of(c->type) >= 0)
        ulna_pose_point(pose, c->body, c->point, value + place_of(c->type));
    if (rotation_of(c->type) >= 0)
        ulna_pose_body(pose, c->body, NULL, value + rotation_of(c->type));
}

static void difference(ulna_constraint_type type, const double *from, const double *to, double motion[MOTION])
{
    memset(motion, 0, MOTION * sizeof *motion);
    if (place_of(type) >= 0)
        ulna_subtract3(to + place_of(type), from + place_of(type), motion);
    if (rotation_of(type) >= 0) {
        double back[9], rotation[9];
        ulna_transpose9(from + rotation_of(type), back);
        ulna_multiply9(to + rotation_of(type), back, rotation);
        ulna_log(rotation, motion + TURN);
    }
}

static void move(ulna_constraint_type type, const double motion[MOTION], double *value)
{
    if (place_of(type) >= 0)
        ulna_accumulate3(motion, value + place_of(type));
    if (rotation_of(type) >= 0) {
        double by[9], old[9];
        ulna_exp(motion + TURN, by);
        ulna_copy9(value + rotation_of(type), old);
        ulna_multiply9(by, old, value + rotation_of(type));
    }
}

/* 0 at 0, 1 at 1, without a slope at either. */
static double smooth(double x)
{
    return x * x * (3 - 2 * x);
}

/* ---- what holds when ------------------------------------------------------------------------------------------------------ */

static ulna_status pose_at(const keeper *k, int frame)
{
    return ulna_pose_forward(k->pose, ulna_clip_frame(&k->tracked, frame));
}

static ulna_status end_of_hold(const keeper *k, const hold *h, int frame, double motion[MOTION])
{
    const ulna_constraint *c = &k->constraints[h->number];
    double value[ULNA_CONSTRAINT_GOAL] = {0};
    ulna_status status = pose_at(k, frame);
    value_of(k->pose, c, value);
    difference(c->type, value, h->goal, motion);
    return status;
}

static ulna_status add_hold(keeper *k, const hold *what)
{
    hold h = *what;
    h.first = h.first < 0 ? 0 : h.first;
    h.last = h.last < k->j->total ? h.last : k->j->total - 1;
    if (h.first > h.last)
        return ULNA_OK;
    ulna_status status = ULNA_OK;
    if (fades(k->constraints[h.number].type)) {
        status = end_of_hold(k, &h, h.first, h.before);
        if (status == ULNA_OK)
            status = end_of_hold(k, &h, h.last, h.after);
    }
    void *holds = k->holds;
    if (status == ULNA_OK)
        status = ulna_grow(&k->j->take->allocator, &holds, &k->hold_room, k->hold_count + 1, sizeof *k->holds);
    k->holds = holds;
    if (status != ULNA_OK)
        return status;
    size_t at = k->hold_count++;
    for (; at > 0 && k->holds[at - 1].number == h.number && k->holds[at - 1].first > h.first; at--)
        k->holds[at] = k->holds[at - 1];
    k->holds[at] = h;
    return ULNA_OK;
}

/* The middle of the tracked motion over frames: medians for the place, the nearest rotation to the mean of the rotations. */
static ulna_status mean_goal(const keeper *k, const ulna_constraint *c, int first, int last, double *goal)
{
    double value[ULNA_CONSTRAINT_GOAL] = {0}, middle[9], sum[9] = {0};
    ulna_status status = ULNA_OK;
    int place = place_of(c->type), rotation = rotation_of(c->type);
    for (int axis = 0; axis < 3 && place >= 0; axis++) {
        for (int f = first; f <= last && status == ULNA_OK; f++) {
            status = pose_at(k, f);
            value_of(k->pose, c, value);
            k->numbers[f - first] = value[place + axis];
        }
        goal[place + axis] = ulna_quick_median(k->numbers, (size_t)last - (size_t)first + 1);
    }
    for (int f = first; f <= last && rotation >= 0 && status == ULNA_OK; f++) {
        status = pose_at(k, f);
        value_of(k->pose, c, value);
        for (int i = 0; i < 9; i++)
            sum[i] += value[rotation + i] / (last - first + 1);
        if (f == (first + last) / 2)
            ulna_copy9(value + rotation, middle);
    }
    if (rotation >= 0 && status == ULNA_OK)
        ulna_copy9(isfinite(ulna_orthonormalise(sum)) ? sum : middle, goal + rotation);
    return status;
}

/* The constraint of a foot, new or as it was added for an earlier stance. */
static ulna_status find_constraint(keeper *k, const ulna_stance *s, ulna_constraint_type type, int *number)
{
    ulna_constraint c = {.type = type, .body = s->body, .other = ULNA_NONE};
    ulna_copy3(s->point, c.point);
    c.goal[0] = c.goal[4] = c.goal[8] = type == ULNA_KEEP_ORIENTATION;
    for (size_t i = (size_t)k->j->options->constraint_count; i < k->count; i++)
        if (k->constraints[i].type == type && k->constraints[i].body == s->body &&
            memcmp(k->constraints[i].point, c.point, sizeof c.point) == 0) {
            *number = (int)i;
            return ULNA_OK;
        }
    void *list = k->constraints;
    ulna_status status = ulna_grow(&k->j->take->allocator, &list, &k->room, k->count + 1, sizeof *k->constraints);
    k->constraints = list;
    if (status == ULNA_OK) {
        *number = (int)k->count;
        k->constraints[k->count++] = c;
    }
    return status;
}

static ulna_status hold_foot(keeper *k, const ulna_stance *s, ulna_constraint_type type, int first, int last)
{
    hold h = {.first = first, .last = last};
    if (first > last)
        return ULNA_OK;
    ulna_status status = find_constraint(k, s, type, &h.number);
    if (status == ULNA_OK)
        status = mean_goal(k, &k->constraints[h.number], first, last, h.goal);
    return status == ULNA_OK ? add_hold(k, &h) : status;
}

static ulna_status plan_feet(keeper *k)
{
    const ulna_track_result *r = k->j->result;
    const ulna_constraint_type types[] = {ULNA_KEEP_POINT, ULNA_KEEP_ORIENTATION};
    ulna_status status = ULNA_OK;
    for (int type = 0; type < 2; type++)
        for (int i = 0; i < r->stance_count && status == ULNA_OK; i++) {
            const ulna_stance *s = &r->stances[i];
            status = hold_foot(k, s, types[type], type ? s->flat_first : s->first, type ? s->flat_last : s->last);
        }
    return status;
}

static ulna_status plan_constraints(keeper *k)
{
    const ulna_track_options *o = k->j->options;
    void *list = NULL;
    ulna_status status =
        ulna_grow(&k->j->take->allocator, &list, &k->room, (size_t)o->constraint_count + 1, sizeof *k->constraints);
    k->constraints = list;
    for (int i = 0; i < o->constraint_count && status == ULNA_OK; i++) {
        const ulna_track_constraint *c = &o->constraints[i];
        const ulna_frame_range always = {0, k->j->total - 1};
        k->constraints[k->count++] = c->constraint;
        hold h = {.number = i};
        memcpy(h.goal, c->constraint.goal, sizeof h.goal);
        for (int n = 0; n < (c->range_count ? c->range_count : 1) && status == ULNA_OK; n++) {
            const ulna_frame_range *range = c->range_count ? &c->ranges[n] : &always;
            h.first = range->first;
            h.last = range->last;
            status = add_hold(k, &h);
        }
    }
    return status;
}

/* ---- goals of a frame ---------------------------------------------------------------------------------------------------- */

typedef enum phase { OFF, FADING, HELD } phase;

/* The holds of a constraint that a frame is in, or else between. */
static phase find_holds(const keeper *k, int number, int frame, const hold **before, const hold **after)
{
    *before = *after = NULL;
    for (size_t i = 0; i < k->hold_count; i++) {
        const hold *h = &k->holds[i];
        if (h->number != number)
            continue;
        if (h->first <= frame && frame <= h->last) {
            *before = h;
            return HELD;
        }
        if (h->last < frame && (!*before || h->last > (*before)->last))
            *before = h;
        if (h->first > frame && (!*after || h->first < (*after)->first))
            *after = h;
    }
    return OFF;
}

/* What moves the tracked motion in a frame outside all ranges; 0 if nothing does. */
static int fade(const keeper *k, const hold *before, const hold *after, int frame, double motion[MOTION])
{
    double since = before ? frame - before->last : 0, until = after ? after->first - frame : 0, share[2] = {0, 0};
    if (before && after && since + until <= k->fade_in + k->fade_out && k->fade_in) {
        share[1] = smooth(since / (since + until));
        share[0] = 1 - share[1];
    } else {
        share[0] = before && since <= k->fade_out ? smooth(1 - since / (k->fade_out + 1)) : 0;
        share[1] = after && until <= k->fade_in ? smooth(1 - until / (k->fade_in + 1)) : 0;
    }
    for (int i = 0; i < MOTION; i++)
        motion[i] = (before ? share[0] * before->after[i] : 0) + (after ? share[1] * after->before[i] : 0);
    return share[0] > 0 || share[1] > 0;
}

/* k->pose has the tracked pose of the frame. */
static phase goal_of(const keeper *k, int number, int frame, double *goal)
{
    const hold *before, *after;
    const ulna_constraint *c = &k->constraints[number];
    double motion[MOTION];
    phase is = find_holds(k, number, frame, &before, &after);
    if (is == HELD)
        memcpy(goal, before->goal, sizeof before->goal);
    if (is == HELD || !fades(c->type) || !fade(k, before, after, frame, motion))
        return is;
    value_of(k->pose, c, goal);
    move(c->type, motion, goal);
    return FADING;
}

/* Whether the frame, as tracked, is outside of a cone of the tracker's: constraints after those of the list. */
static ulna_status leaves_cone(const keeper *k, int frame, int *leaves)
{
    const ulna_problem *problem = k->tracker->problem;
    int i = k->first_number + (int)k->count, count = ulna_problem_constraint_count(problem);
    ulna_work *work = ulna_solver_work(k->tracker->solver);
    double f, error;
    ulna_status status = i < count ? ulna_work_evaluate(work, ulna_clip_frame(&k->tracked, frame), &f) : ULNA_OK;
    for (*leaves = 0; i < count && !*leaves && status == ULNA_OK; i++) {
        status = ulna_work_constraint_error(work, i, &error);
        *leaves = status == ULNA_OK && error > 0;
    }
    return status;
}

/* Sets the goals of a frame, and switches constraints on and off. Returns how many are on, without cones that are kept. */
static ulna_status set_goals(keeper *k, int frame, int *on)
{
    ulna_problem *problem = k->tracker->problem;
    double goal[ULNA_CONSTRAINT_GOAL] = {0};
    ulna_status status = leaves_cone(k, frame, on);
    if (status == ULNA_OK)
        status = pose_at(k, frame);
    *on += k->first_number; /* those of options.extend always are */
    for (int i = 0; i < (int)k->count && status == ULNA_OK; i++) {
        phase is = goal_of(k, i, frame, goal);
        status = ulna_problem_switch_constraint(problem, k->first_number + i, is != OFF);
        if (status == ULNA_OK && is != OFF && fades(k->constraints[i].type))
            status = ulna_problem_set_constraint_goal(problem, k->first_number + i, goal);
        *on += is != OFF;
    }
    return status;
}

/* ---- a frame ------------------------------------------------------------------------------------------------------------ */

/* Markers and priors of the frame. */
static ulna_status set_terms(keeper *k, int frame, const double *q)
{
    ulna_tracker *t = k->tracker;
    const unsigned char *aside = k->aside ? k->aside + (size_t)frame * k->j->used.count : NULL;
    double sides = ulna_track_to_neighbours(k->j, &k->tracked, k->hidden, frame, q, k->step, k->to_sides);
    int is_empty = (k->j->result->frames[frame].flags & ULNA_TRACK_EMPTY) != 0;
    if (sides == 0 || is_empty) { /* then it is held to where it is */
        memset(k->to_sides, 0, (size_t)t->nv * sizeof *k->to_sides);
        sides = 2;
    }
    ulna_tracker_expect_neighbours(t, q, k->to_sides, sides,
                                   is_empty && !(t->options.smooth > 0) ? t->options.hold
                                                                        : ULNA_TRACK_SWEEP * t->options.smooth);
    ulna_track_gather(k->j, frame, t->seen);
    for (int i = 0; i < t->count && aside; i++)
        t->seen[3 * i] = aside[i] ? (double)NAN : t->seen[3 * i];
    return ulna_problem_set_points(t->problem, 0, t->count, t->seen);
}

/* Distances of all markers, also of those that are left out. */
static ulna_status measure(keeper *k, int frame, const double *q, ulna_frame_report *report)
{
    ulna_tracker *t = k->tracker;
    ulna_work *work = ulna_solver_work(t->solver);
    ulna_take_gather_recorded(k->j->take, frame, k->j->used.count, k->j->source, t->seen);
    ulna_status status = ulna_problem_set_points(t->problem, 0, t->count, t->seen);
    if (status == ULNA_OK)
        status = ulna_pose_forward(ulna_work_pose(work), q);
    if (status == ULNA_OK)
        status = ulna_point_errors(work, 0, t->count, 0, t->distance);
    ulna_tracker_report(t, report);
    return status;
}

/* The largest error, in the unit of the constraint, with which it is kept. */
static double most_error(const keeper *k, const ulna_constraint *c)
{
    double length = k->tracker->solver->length, most = 0;
    switch (c->type) {
    case ULNA_KEEP_ORIENTATION:
    case ULNA_KEEP_DIRECTION:
    case ULNA_KEEP_AIM:
    case ULNA_KEEP_ANGLE:
        return KEPT;
    case ULNA_KEEP_LINEAR: /* where the coordinate that counts most would be off by KEPT */
        for (int i = 0; i < c->dof_count; i++)
            most = fmax(most, fabs(c->coefficients[i]) *
                                  (ulna_model_dof_is_translation(k->j->take->model, c->dofs[i]) ? length : 1));
        return KEPT * most;
    default:
        return KEPT * length;
    }
}

/* How well the constraints are kept at q. Returns 0 through `kept` if a hard one is not. */
static ulna_status judge(keeper *k, int frame, const double *q, int *kept)
{
    ulna_work *work = ulna_solver_work(k->tracker->solver);
    double f, error;
    ulna_status status = ulna_work_evaluate(work, q, &f);
    *kept = 1;
    for (int i = 0; i < ulna_problem_constraint_count(k->tracker->problem) && status == ULNA_OK; i++) {
        const hold *before, *after;
        int number = i - k->first_number;
        status = ulna_work_constraint_error(work, i, &error);
        if (status != ULNA_OK || isnan(error))
            continue;
        const ulna_constraint *c = ulna_problem_constraint(k->tracker->problem, i);
        int is_broken = c->level == 0 && error > most_error(k, c);
        *kept &= !is_broken;
        if (number < 0 || number >= k->j->options->constraint_count ||
            find_holds(k, number, frame, &before, &after) != HELD)
            continue;
        ulna_constraint_report *r = &k->j->result->constraints[number];
        r->worst_frame = error > r->worst || !r->frames ? frame : r->worst_frame;
        r->worst = fmax(r->worst, error);
        r->infeasible += is_broken;
        r->frames++;
    }
    return status;
}

static ulna_status solve_frame(keeper *k, int frame)
{
    ulna_tracker *t = k->tracker;
    ulna_frame_report *report = &k->j->result->frames[frame], now = *report;
    double *q = ulna_clip_frame(&k->j->result->clip, frame), started = ulna_seconds();
    ulna_result result;
    int kept;
    ulna_status status = measure(k, frame, q, &now);
    double before = now.rms;
    if (status == ULNA_OK)
        status = set_terms(k, frame, q);
    if (status == ULNA_OK)
        status = ulna_solve(t->solver, q, &result);
    if (status == ULNA_OK)
        status = judge(k, frame, q, &kept);
    if (status == ULNA_OK)
        status = measure(k, frame, q, &now);
    if (status != ULNA_OK)
        return status;
    k->rise += now.rms - before;
    int is_sure = (kept && result.converged) || now.flags & ULNA_TRACK_EMPTY;
    now.flags |= is_sure ? 0u : (unsigned)ULNA_TRACK_DOUBTFUL;
    now.stop = result.stop;
    now.iterations += result.iterations;
    now.evaluations += result.evaluations;
    now.seconds += ulna_seconds() - started;
    if (!(now.flags & ULNA_TRACK_EMPTY)) {
        now.flags = now.outliers ? now.flags | ULNA_TRACK_OUTLIERS : now.flags & ~(unsigned)ULNA_TRACK_OUTLIERS;
        ulna_track_keep(k->j, t, frame, &now);
    }
    return ULNA_OK;
}

static ulna_status solve_frames(keeper *k)
{
    ulna_status status = ULNA_OK;
    k->tracker->solver->options.decrease = DECREASE;
    for (int f = 0; f < k->j->total && status == ULNA_OK && !atomic_load(&k->j->cancelled); f++) {
        int on;
        status = set_goals(k, f, &on);
        if (status == ULNA_OK && on)
            status = solve_frame(k, f);
        if (status != ULNA_OK)
            ulna_fail(k->error, status, "the constraints of frame %lld cannot be solved: %s",
                      (long long)f + k->j->take->first_frame, ulna_status_text(status));
        ulna_track_progress(k->j);
    }
    return status;
}

/* ---- stances -------------------------------------------------------------------------------------------------------------- */

ulna_status ulna_track_add_stance(const ulna_track_job *j, const ulna_stance *stance)
{
    ulna_track_result *r = j->result;
    void *list = r->stances;
    ulna_status status =
        ulna_grow(&j->take->allocator, &list, &r->stance_room, (size_t)r->stance_count + 1, sizeof *r->stances);
    r->stances = list;
    if (status != ULNA_OK)
        return status;
    int at = r->stance_count++;
    for (; at > 0 && r->stances[at - 1].first > stance->first; at--)
        r->stances[at] = r->stances[at - 1];
    r->stances[at] = *stance;
    return ULNA_OK;
}

/* Those of the options, inside the take. */
static ulna_status add_given(const keeper *k)
{
    const ulna_track_options *o = k->j->options;
    ulna_status status = ULNA_OK;
    for (int i = 0; i < o->stance_count && status == ULNA_OK; i++) {
        ulna_stance s = o->stances[i];
        int last = k->j->total - 1;
        s.first = s.first < 0 ? 0 : s.first;
        s.last = s.last < last ? s.last : last;
        if (isnan(s.point[0]))
            ulna_track_find_ball(k->j->take->model, k->pose, s.body, s.point);
        s.flat_first = s.flat_first < s.first ? s.first : s.flat_first;
        s.flat_last = s.flat_last < s.last ? s.flat_last : s.last;
        if (s.first <= s.last)
            status = ulna_track_add_stance(k->j, &s);
    }
    return status;
}

/* The horizontal path of the point that stands. */
static ulna_status find_path(const keeper *k, const ulna_clip *clip, const double up[3], const ulna_stance *s,
                             double *path)
{
    double last[3], now[3];
    ulna_status status = ULNA_OK;
    *path = 0;
    for (int f = s->first; f <= s->last && status == ULNA_OK; f++) {
        status = ulna_pose_forward(k->pose, ulna_clip_frame(clip, f));
        ulna_pose_point(k->pose, s->body, s->point, now);
        double rise = ulna_dot(up, now);
        for (int i = 0; i < 3; i++)
            now[i] -= rise * up[i];
        *path += f > s->first ? sqrt(ulna_squared_distance(last, now, 3)) : 0;
        ulna_copy3(now, last);
    }
    return status;
}

static ulna_status measure_skate(const keeper *k)
{
    ulna_track_result *r = k->j->result;
    double up[3];
    ulna_status status = ULNA_OK;
    ulna_track_find_up(k->j->take, k->pose, up);
    for (int i = 0; i < r->stance_count && status == ULNA_OK; i++) {
        status = find_path(k, &k->tracked, up, &r->stances[i], &r->stances[i].skate_before);
        if (status == ULNA_OK)
            status = find_path(k, &r->clip, up, &r->stances[i], &r->stances[i].skate);
    }
    return status;
}

/* ---- the pass ------------------------------------------------------------------------------------------------------------ */

int ulna_track_has_constraints(const ulna_track_job *j, const ulna_tracker *tracker)
{
    const ulna_track_options *o = j->options;
    return o->constraint_count > 0 || o->stance_count > 0 || o->plant_feet ||
           (!o->oracle && ulna_tracker_has_cones(j->take->model, &o->solve)) ||
           (tracker && ulna_problem_constraint_count(tracker->problem) > 0);
}

static int overlap(const ulna_stance *a, const ulna_stance *b)
{
    return a->body == b->body && a->first <= b->last && b->first <= a->last;
}

/* Ranges in order are compared with the one before only. */
static ulna_status check_ranges(const ulna_track_constraint *c, int number, ulna_error *error)
{
    int latest = INT_MIN;
    if (c->range_count < 0 || (c->range_count > 0 && !c->ranges))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "constraints[%d]: range_count is %d%s", number, c->range_count,
                         c->range_count < 0 ? ": it must not be negative" : ", but ranges is NULL");
    for (int i = 0; i < c->range_count; i++) {
        const ulna_frame_range *r = &c->ranges[i];
        for (int k = 0; k < i && r->first <= latest; k++)
            if (r->first <= c->ranges[k].last && c->ranges[k].first <= r->last)
                return ulna_fail(error, ULNA_ERR_ARGUMENT,
                                 "constraints[%d]: two ranges overlap: frames %d to %d and %d to %d", number,
                                 c->ranges[k].first, c->ranges[k].last, r->first, r->last);
        latest = r->last > latest ? r->last : latest;
    }
    return ULNA_OK;
}

static ulna_status check_lists(const ulna_track_options *o, ulna_error *error)
{
    if (o->constraint_count > 0 && !o->constraints)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "options: constraint_count is %d, but constraints is NULL",
                         o->constraint_count);
    if (o->stance_count > 0 && !o->stances)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "options: stance_count is %d, but stances is NULL", o->stance_count);
    ulna_status status = ULNA_OK;
    for (int i = 0; i < o->constraint_count && status == ULNA_OK; i++)
        status = check_ranges(&o->constraints[i], i, error);
    return status;
}

ulna_status ulna_track_check_constraints(const ulna_take *take, const ulna_track_options *o, ulna_error *error)
{
    if (o->constraint_count < 0 || o->stance_count < 0 || !(o->fade >= 0) || isinf(o->fade))
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "options: constraint_count, stance_count and fade must be finite and not negative");
    if (o->plant_feet && o->causal)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "feet that stand are found from the whole take: give their frames, or do not ask for causal");
    if (o->oracle && (o->constraint_count || o->stance_count || o->plant_feet))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "offsets for each frame are an experiment without constraints");
    ulna_status status = check_lists(o, error);
    if (status != ULNA_OK)
        return status;
    for (int i = 0; i < o->stance_count; i++) {
        if (o->stances[i].body < 0 || o->stances[i].body >= take->model->nb)
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "a stance is of body %d, which the model does not have",
                             o->stances[i].body);
        for (int k = 0; k < i; k++)
            if (overlap(&o->stances[i], &o->stances[k]))
                return ulna_fail(error, ULNA_ERR_ARGUMENT, "two stances of '%s' overlap: frames %d to %d and %d to %d",
                                 ulna_model_body_name(take->model, o->stances[i].body), o->stances[k].first,
                                 o->stances[k].last, o->stances[i].first, o->stances[i].last);
    }
    return ULNA_OK;
}

/* Called for the problem of the tracker, after the markers. */
static ulna_status extend(void *context, ulna_problem *problem, ulna_error *error)
{
    keeper *k = context;
    const ulna_track_options *o = k->j->options;
    ulna_status status = o->extend ? o->extend(o->extend_context, problem, error) : ULNA_OK;
    k->first_number = ulna_problem_constraint_count(problem);
    for (size_t i = 0; i < k->count && status == ULNA_OK; i++)
        status = ulna_problem_add_constraint(problem, &k->constraints[i], NULL, error);
    return status;
}

static ulna_status make_tracker(keeper *k)
{
    ulna_track_options o = *k->j->options;
    o.extend = extend;
    o.extend_context = k;
    o.global = 0;
    o.budget = 0;
    return ulna_tracker_create(k->j->take->model, &k->j->used, &o, &k->j->take->allocator, &k->tracker, k->error);
}

static ulna_status begin(keeper *k)
{
    const ulna_track_job *j = k->j;
    const ulna_allocator *allocator = &j->take->allocator;
    const ulna_clip *clip = &j->result->clip;
    size_t nv = (size_t)j->take->model->nv, total = (size_t)j->total;
    double frames = j->options->fade / (clip->frame_seconds > 0 ? clip->frame_seconds : 1 / 60.0);
    k->fade_out = (int)fmin(round(frames), j->total);
    k->fade_in = j->options->causal ? 0 : k->fade_out;
    k->tracked = ulna_clip_empty(allocator);
    k->step = ulna_allocate(allocator, 2 * nv + total, sizeof(double));
    ulna_status status =
        k->step ? ulna_clip_resize(&k->tracked, clip->coordinate_count, clip->frame_count) : ULNA_ERR_MEMORY;
    if (status != ULNA_OK)
        return status;
    k->to_sides = k->step + nv;
    k->numbers = k->to_sides + nv;
    for (int f = 0; f < j->total; f++)
        memcpy(ulna_clip_frame(&k->tracked, f), ulna_clip_frame(clip, f), (size_t)j->take->model->nq * sizeof(double));
    if (j->options->constraint_count) {
        j->result->constraints =
            ulna_allocate(allocator, (size_t)j->options->constraint_count, sizeof *j->result->constraints);
        j->result->constraint_count = j->result->constraints ? j->options->constraint_count : 0;
        status = j->result->constraints ? ULNA_OK : ULNA_ERR_MEMORY;
    }
    return status == ULNA_OK ? ulna_pose_create(j->take->model, allocator, &k->pose, k->error) : status;
}

static void end(keeper *k)
{
    const ulna_allocator *allocator = &k->j->take->allocator;
    ulna_tracker_destroy(k->tracker);
    ulna_pose_destroy(k->pose);
    ulna_clip_release(&k->tracked);
    ulna_release(allocator, k->step, 2 * (size_t)k->j->take->model->nv + (size_t)k->j->total, sizeof(double));
    ulna_release(allocator, k->holds, k->hold_room, sizeof *k->holds);
    ulna_release(allocator, k->constraints, k->room, sizeof *k->constraints);
}

ulna_status ulna_track_keep_constraints(ulna_track_job *j, const unsigned char *aside, const unsigned char *hidden,
                                        ulna_error *error)
{
    ulna_error own;
    ulna_error_clear(&own);
    keeper k = {.j = j, .aside = aside, .hidden = hidden, .error = &own};
    ulna_status status = begin(&k);
    if (status == ULNA_OK)
        status = add_given(&k);
    if (status == ULNA_OK && j->options->plant_feet)
        status = ulna_track_find_stances(j, k.error);
    if (status == ULNA_OK)
        status = plan_constraints(&k);
    if (status == ULNA_OK)
        status = plan_feet(&k);
    if (status == ULNA_OK)
        status = make_tracker(&k);
    if (status == ULNA_OK)
        status = solve_frames(&k);
    if (status == ULNA_OK)
        status = measure_skate(&k);
    j->result->unconstrained_rms -= k.rise; /* the rest follows with the mean */
    end(&k);
    if (status != ULNA_OK && own.status == ULNA_OK)
        ulna_fail(&own, status, "the constraints of the take cannot be solved: %s", ulna_status_text(status));
    if (status != ULNA_OK && error)
        *error = own;
    return status;
}
