/*
 * Stretches that stand out are tracked from behind: from the first good frame after them to the last one before. The two ways are
 * joined at the frame where the costs of the frames before it and behind it, and the steps from frame to frame, are least
 * together.
 *
 * Where only some joints are solved again, the poses that then arise are compared with those that were there, over the stretch as a whole:
 * a few bad frames in a long stretch that is better otherwise may stay, and are doubtful by their cost.
 */
#include <string.h>

#include "base/base.h"
#include "math/math3.h"
#include "mocap/track_passes.h"

#define DISAGREE 0.35 /* radians a frame of a joint, where two ways meet */
#define NO_WORSE 1.2  /* times the cost that a stretch had before */
#define NOTHING 1e-12 /* of the length scale squared: least cost of a frame, where markers fit exactly */
enum {
    AGREEING = 3
}; /* restarts, at the end of a take that is not lost there: what is wrong with it shows in other frames, too */
#define STEP 5 /* median costs of a frame: what a step by DISAGREE counts, where two ways are weighed */

/* Joints far beyond their limits: in most of the take, and it is the limits that are wrong. */
static int is_beyond(const ulna_passes *p, int frame)
{
    return p->j->options->loss && ulna_tracker_is_far_beyond(p->tracker, ulna_pass_pose(p, frame));
}

void ulna_pass_find_suspects(ulna_passes *p)
{
    const unsigned marks = ULNA_TRACK_LOST | ULNA_TRACK_RECOVERED;
    int beyond = 0;
    for (int f = 0; f < p->total; f++)
        beyond += is_beyond(p, f);
    for (int f = 0; f < p->total; f++) {
        int stands_out = p->cost[f] > p->limit || *ulna_pass_flags(p, f) & marks ||
                         (beyond && 2 * beyond < p->total && is_beyond(p, f));
        if (ulna_pass_is_empty(p, f) || !stands_out)
            continue;
        for (int k = f - ULNA_PASS_MARGIN > 0 ? f - ULNA_PASS_MARGIN : 0; k <= f + ULNA_PASS_MARGIN && k < p->total;
             k++)
            p->suspect[k] = 1;
    }
}

/* The joints of a pose that are solved again; NULL: beyond the take. */
static void find_joints(const ulna_passes *p, const double *q, ulna_pass_joints *joints)
{
    joints->is_there = q != NULL;
    joints->is_known = q && ulna_pose_forward(p->pose, q) == ULNA_OK;
    if (joints->is_known)
        ulna_joint_rotations(p->j->take->model, p->pose, p->is_mended, joints->rotations);
}

/* The largest rotation of a joint between two poses, in whatever angles. */
static double step_between(const ulna_passes *p, const ulna_pass_joints *a, const ulna_pass_joints *b)
{
    if (!a->is_known || !b->is_known)
        return (double)INFINITY;
    return ulna_largest_rotation(p->j->take->model->nb, p->is_mended, a->rotations, b->rotations);
}

static double *back_of(const ulna_passes *p, int last, int frame)
{
    return p->back + (size_t)(last - 1 - frame) * (size_t)p->nq;
}

/* ---- some joints of the body ------------------------------------------------------------------------------------------- */

/* Of the markers that are not set aside, a sum over frames. */
static double sum_costs(const ulna_passes *p, int first, int last)
{
    double sum = 0;
    for (int f = first; f < last; f++) {
        const unsigned char *aside = ulna_pass_aside(p, f);
        for (size_t i = 0; i < p->j->used.count; i++)
            p->positions[i] = aside[i] ? (double)NAN : ulna_pass_distance(p, f, i);
        sum += ulna_pass_cost(p, p->positions);
    }
    return sum;
}

static ulna_status measure_all(ulna_passes *p, int first, int last)
{
    ulna_status status = ULNA_OK;
    for (int f = first; f < last && status == ULNA_OK; f++)
        status = ulna_pass_measure(p, f);
    return status;
}

ulna_status ulna_pass_keep_former(ulna_passes *p, int first, int last, double *cost)
{
    const ulna_allocator *allocator = &p->j->take->allocator;
    void *former = p->former, *flags = p->former_flags;
    size_t frames = (size_t)(last - first), count = frames * (size_t)p->nq;
    ulna_status status = ulna_grow(allocator, &former, &p->former_room, count, sizeof *p->former);
    if (status == ULNA_OK)
        status = ulna_grow(allocator, &flags, &p->former_flags_room, frames, sizeof *p->former_flags);
    p->former = former;
    p->former_flags = flags;
    if (status != ULNA_OK)
        return status;
    memcpy(p->former, ulna_pass_pose(p, first), count * sizeof *p->former);
    for (int f = first; f < last; f++)
        p->former_flags[f - first] = *ulna_pass_flags(p, f);
    *cost = sum_costs(p, first, last);
    return ULNA_OK;
}

ulna_status ulna_pass_compare_former(ulna_passes *p, int first, int last, double cost)
{
    double least = NOTHING * p->tracker->length_scale * p->tracker->length_scale * (last - first);
    ulna_status status = measure_all(p, first, last);
    if (status != ULNA_OK || sum_costs(p, first, last) <= NO_WORSE * cost + least)
        return status;
    memcpy(ulna_pass_pose(p, first), p->former, (size_t)(last - first) * (size_t)p->nq * sizeof *p->former);
    for (int f = first; f < last; f++)
        *ulna_pass_flags(p, f) = p->former_flags[f - first];
    return measure_all(p, first, last);
}

/* ---- from behind ------------------------------------------------------------------------------------------------------ */

/* Room for the way back to `frame`. */
static ulna_status grow_back(ulna_passes *p, int last, int frame)
{
    void *back = p->back;
    ulna_status status = ulna_grow(&p->j->take->allocator, &back, &p->back_room, (size_t)(last - frame) * (size_t)p->nq,
                                   sizeof *p->back);
    p->back = back;
    return status;
}

/* Tracks back from frame `last` - 1 to `first`; where it starts from is the frame `last`, or nothing at the end. */
static ulna_status track_back(ulna_passes *p, int first, int last)
{
    ulna_status status = grow_back(p, last, first);
    if (status == ULNA_OK)
        ulna_pass_resume(p, last);
    int *agreeing = &p->tracker->options.fresh.agreeing_restarts, all = *agreeing,
        is_lost = (*ulna_pass_flags(p, last - 1) & ULNA_TRACK_LOST) != 0;
    for (int f = last - 1; f >= first && status == ULNA_OK; f--) {
        ulna_frame_report report;
        *agreeing = f == last - 1 && !is_lost && all > AGREEING ? AGREEING : all;
        ulna_pass_gather(p, f, p->positions);
        status = ulna_tracker_frame(p->tracker, p->positions, back_of(p, last, f), &report);
        p->back_cost[f] = ulna_pass_cost(p, p->tracker->distance);
        p->back_lost[f] = (report.flags & ULNA_TRACK_LOST) != 0;
    }
    *agreeing = all;
    return status;
}

/* What a step from one pose to the next counts; either may be beyond the take. */
static double step_cost(const ulna_passes *p, const ulna_pass_joints *a, const ulna_pass_joints *b)
{
    double by = a->is_there && b->is_there ? step_between(p, a, b) / DISAGREE : 0, length = p->tracker->length_scale;
    return STEP * fmax(p->median, NOTHING * length * length) * by * by;
}

/* A frame of the way from before; NULL: there is none. */
static const double *before(const ulna_passes *p, int frame)
{
    return frame >= 0 ? ulna_pass_pose(p, frame) : NULL;
}

/* A frame of the way back, which ends in frame `last`. */
static const double *behind(const ulna_passes *p, int last, int frame)
{
    return frame < last ? back_of(p, last, frame) : frame < p->total ? ulna_pass_pose(p, frame) : NULL;
}

static void exchange(ulna_pass_joints *a, ulna_pass_joints *b)
{
    ulna_pass_joints kept = *a;
    *a = *b;
    *b = kept;
}

/* What the steps from frame to frame count, on each way and across from the one to the other. The joints of each pose are found once. */
static void weigh_steps(ulna_passes *p, int first, int last)
{
    ulna_pass_joints *from = &p->joints[0], *to = &p->joints[1], *here = &p->joints[2], *next = &p->joints[3];
    find_joints(p, before(p, first - 1), from);
    find_joints(p, behind(p, last, first), here);
    for (int f = first; f <= last; f++) {
        ulna_pass_steps *steps = &p->steps[f];
        steps->across = step_cost(p, from, here);
        if (f == last)
            break;
        find_joints(p, before(p, f), to);
        find_joints(p, behind(p, last, f + 1), next);
        steps->before = step_cost(p, from, to);
        steps->behind = step_cost(p, here, next);
        exchange(from, to);
        exchange(here, next);
    }
}

/* The first frame of the way back, from which on it is better: `last` if it never is. */
static int find_join(const ulna_passes *p, int first, int last)
{
    double best = INFINITY, rest = 0, done = 0;
    int at = last;
    for (int f = first; f < last; f++)
        rest += p->back_cost[f] + p->steps[f].behind;
    for (int f = first; f <= last; f++) {
        double sum = done + p->steps[f].across + rest;
        if (sum < best) {
            best = sum;
            at = f;
        }
        if (f < last) {
            done += p->cost[f] + p->steps[f].before;
            rest -= p->back_cost[f] + p->steps[f].behind;
        }
    }
    return at;
}

/* Do the poses of two frames differ by more than a step from frame to frame? */
static int is_leap(ulna_passes *p, int frame)
{
    find_joints(p, ulna_pass_pose(p, frame - 1), &p->joints[0]);
    find_joints(p, ulna_pass_pose(p, frame), &p->joints[1]);
    return step_between(p, &p->joints[0], &p->joints[1]) > DISAGREE;
}

/* Frames from the best place on are those of the way back. */
static void join(ulna_passes *p, int first, int last)
{
    weigh_steps(p, first, last);
    int at = find_join(p, first, last);
    for (int f = at; f < last; f++) {
        ulna_pass_copy(p, p->is_mended, 1, back_of(p, last, f), ulna_pass_pose(p, f));
        if (!p->back_lost[f] && *ulna_pass_flags(p, f) & ULNA_TRACK_LOST)
            *ulna_pass_flags(p, f) = (*ulna_pass_flags(p, f) & ~(unsigned)ULNA_TRACK_LOST) | ULNA_TRACK_RECOVERED;
        p->cost[f] = p->back_cost[f];
    }
    const unsigned known = ULNA_TRACK_LOST | ULNA_TRACK_RECOVERED;
    if (at > 0 && at < p->total && !((*ulna_pass_flags(p, at) | *ulna_pass_flags(p, at - 1)) & known) && is_leap(p, at))
        for (int f = at - 1; f <= at; f++)
            *ulna_pass_flags(p, f) |= ULNA_TRACK_DOUBTFUL;
}

ulna_status ulna_pass_mend(ulna_passes *p, int first, int last)
{
    ulna_status status = track_back(p, first, last);
    if (status == ULNA_OK)
        join(p, first, last);
    return status;
}

/* Once all of a body is solved, the two ways are weighed; of joints that are put into a pose, only the whole tells. Leaves all distances
 * measured. */
static ulna_status mend_suspects(ulna_passes *p, int first, int last)
{
    double cost = 0;
    ulna_pass_choose_suspects(p, first, last);
    int is_all = !memchr(p->is_mended, 0, (size_t)p->j->take->model->nb);
    ulna_status status = is_all ? ULNA_OK : ulna_pass_keep_former(p, first, last, &cost);
    if (status == ULNA_OK)
        status = ulna_pass_mend(p, first, last);
    if (status != ULNA_OK)
        return status;
    return is_all ? measure_all(p, first, last) : ulna_pass_compare_former(p, first, last, cost);
}

ulna_status ulna_pass_mend_all(ulna_passes *p)
{
    ulna_status status = ULNA_OK;
    for (int last = p->total, first; last > 0 && status == ULNA_OK; last = first - 1) {
        for (first = last; first > 0 && p->suspect[first - 1];)
            first--;
        if (first < last)
            status = mend_suspects(p, first, last);
    }
    for (int f = 0; f < p->total && status == ULNA_OK; f++)
        for (size_t i = 0; i < p->j->used.count && p->suspect[f]; i++) {
            double d = ulna_pass_distance(p, f, i);
            p->farthest[i] = d > p->farthest[i] ? d : p->farthest[i];
        }
    return status;
}
