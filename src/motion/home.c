/*
 * Angles where one expects them: of all that give the same motion of a joint, those nearest to the middle of the limits.
 *
 * A solver that follows a motion past the singularity of three rotations may come out in their other set, or a whole turn
 * further, and stays there. Each joint is cut where it jumps anyway, and each stretch in between is moved as a whole: so
 * nothing that is continuous is broken.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/math3.h"
#include "model/model.h"
#include "motion/convert.h"
#include "ulna/motion.h"

#define JUMP (ULNA_PI / 3)              /* from one frame to the next: no joint rotates so fast */
#define MUCH_NEARER (ULNA_PI * ULNA_PI) /* rad^2, mean over the stretch: worth a jump */
#define PLAINLY 1e-6                    /* rad^2, and of the distance: more than rounding */
enum { MOST = ULNA_JOINT_MAX_SEGMENTS };

typedef struct path {
    int family; /* 0: as it is, 1: the other one */
    double last[MOST];
    double sum[MOST], squares[MOST];
} path;

/* The next frame of a stretch, in the path's family, with the whole turns of the frame before. */
static void step(const ulna_joint_plan *plan, path *p, const double *q, int is_first)
{
    double next[MOST];
    memcpy(next, q, (size_t)plan->segment_count * sizeof *q);
    if (p->family)
        ulna_joint_other_family(plan, q, next);
    for (int s = 0; s < plan->segment_count; s++) {
        int turns = !ulna_segment_is_translation(plan->segment[s]);
        p->last[s] = turns && !is_first ? ulna_nearest_turn(next[s], p->last[s]) : next[s];
        p->sum[s] += p->last[s];
        p->squares[s] += p->last[s] * p->last[s];
    }
}

/* Whole turns that bring the mean of a stretch home. */
static void turns_home(const ulna_joint_plan *plan, const path *p, const double *home, int count, double *turns)
{
    for (int s = 0; s < plan->segment_count; s++)
        turns[s] = ulna_segment_is_translation(plan->segment[s])
                       ? 0
                       : 2 * ULNA_PI * round((home[s] - p->sum[s] / count) / (2 * ULNA_PI));
}

/* Mean square distance from home, with these turns added. */
static double distance(const ulna_joint_plan *plan, const path *p, const double *home, int count, const double *turns)
{
    double cost = 0;
    for (int s = 0; s < plan->segment_count; s++) {
        double off = turns[s] - home[s];
        if (!ulna_segment_is_translation(plan->segment[s]))
            cost += (p->squares[s] + 2 * off * p->sum[s]) / count + off * off;
    }
    return cost;
}

/* How a stretch is written: the other set of angles or not, and full turns besides. */
typedef struct form {
    int family;
    double turns[MOST];
} form;

/* As the stretch before, unless another form is much nearer: `now` in and out. */
static void choose(const ulna_joint_plan *plan, const double *home, const path p[2], int families, int count,
                   int is_first, form *now)
{
    double least = INFINITY;
    form best = *now;
    for (int family = 0; family < families; family++) {
        form trial = {.family = family};
        turns_home(plan, &p[family], home, count, trial.turns);
        double found = distance(plan, &p[family], home, count, trial.turns);
        if (found < least) {
            least = found;
            best = trial;
        }
    }
    if (is_first || now->family >= families ||
        least + MUCH_NEARER < distance(plan, &p[now->family], home, count, now->turns))
        *now = best;
}

/* `q`: the joint's own coordinates, a frame after the other. Returns 1 if they are others afterwards. */
static int move_stretch(const ulna_joint_plan *plan, const double *home, double *q, int first, int last, form *now)
{
    double other[MOST];
    size_t width = (size_t)plan->segment_count;
    path p[2] = {{.family = 0}, {.family = 1}};
    int families = 1 + ulna_joint_other_family(plan, q + (size_t)first * width, other), is_moved = 0;
    for (int family = 0; family < families; family++)
        for (int f = first; f < last; f++)
            step(plan, &p[family], q + (size_t)f * width, f == first);
    choose(plan, home, p, families, last - first, first == 0, now);
    path moved = {.family = now->family};
    for (int f = first; f < last; f++) {
        double *to = q + (size_t)f * width;
        step(plan, &moved, to, f == first);
        for (size_t s = 0; s < width; s++) {
            double value = moved.last[s] + now->turns[s];
            is_moved |= value != to[s];
            to[s] = value;
        }
    }
    return is_moved;
}

static int jumps(const ulna_joint_plan *plan, const double *before, const double *q)
{
    for (int s = 0; s < plan->segment_count; s++)
        if (!ulna_segment_is_translation(plan->segment[s]) && fabs(q[s] - before[s]) > JUMP)
            return 1;
    return 0;
}

/* A rotation and a translation have a coordinate each; joints with other segments have no such choice. */
static int is_elementary(const ulna_joint_plan *plan)
{
    for (int s = 0; s < plan->segment_count; s++)
        if (plan->segment[s] >= ULNA_SEGMENT_BALL)
            return 0;
    return plan->segment_count > 0;
}

/* A joint's coordinates of all frames, out of the clip or back to it: the passes over them do not read the others along. */
static void copy_joint(const ulna_clip *clip, int coordinate, size_t width, int is_back, double *q)
{
    for (int f = 0; f < clip->frame_count; f++, q += width) {
        double *there = ulna_clip_frame(clip, f) + coordinate;
        memcpy(is_back ? there : q, is_back ? q : there, width * sizeof *q);
    }
}

static void find_home(const ulna_model *model, int b, const ulna_joint_plan *plan, double home[MOST])
{
    const ulna_body *body = &model->body[b];
    for (int s = 0; s < plan->segment_count; s++) {
        double lower = model->lower[body->dof + s], upper = model->upper[body->dof + s];
        int limited = isfinite(lower) && isfinite(upper);
        home[s] = limited ? 0.5 * (lower + upper) : model->rest[body->coordinate + s];
    }
}

/* `q`: room for the joint's coordinates of all frames. */
static void move_joint(const ulna_model *model, int b, const ulna_joint_plan *plan, const double *home, ulna_clip *clip,
                       double *q)
{
    const ulna_body *body = &model->body[b];
    size_t width = (size_t)plan->segment_count;
    form now = {0};
    int is_moved = 0;
    copy_joint(clip, body->coordinate, width, 0, q);
    for (int first = 0, f = 1; f <= clip->frame_count; f++)
        if (f == clip->frame_count || jumps(plan, q + (size_t)(f - 1) * width, q + (size_t)f * width)) {
            is_moved |= move_stretch(plan, home, q, first, f, &now);
            first = f;
        }
    if (is_moved)
        copy_joint(clip, body->coordinate, width, 1, q);
}

/* Of each coordinate over all frames: nq each. */
typedef struct course {
    double *sum, *squares, *largest; /* step from frame to frame */
} course;

static void follow_clip(const ulna_clip *clip, const course *all)
{
    double *restrict sum = all->sum, *restrict squares = all->squares, *restrict largest = all->largest;
    for (int f = 0; f < clip->frame_count; f++) {
        const double *q = ulna_clip_frame(clip, f), *before = f ? ulna_clip_frame(clip, f - 1) : q;
        for (int i = 0; i < clip->coordinate_count; i++) {
            double by = fabs(q[i] - before[i]);
            sum[i] += q[i];
            squares[i] += q[i] * q[i];
            largest[i] = by > largest[i] ? by : largest[i];
        }
    }
}

/* The other set of three rotations, from the sums of the one: as ulna_joint_other_family. */
static void mirror_path(const ulna_joint_plan *plan, const int turn[3], int count, const path *p, path *other)
{
    double second = plan->segment[turn[0]] == plan->segment[turn[2]] ? 0 : ULNA_PI;
    *other = *p;
    for (int k = 0; k < 3; k++) {
        int s = turn[k];
        double shift = k == 1 ? second : ULNA_PI, sign = k == 1 ? -1 : 1;
        other->sum[s] = sign * p->sum[s] + count * shift;
        other->squares[s] = p->squares[s] + 2 * sign * shift * p->sum[s] + count * shift * shift;
    }
}

/* Is the joint plainly at home, without a jump? Then it stays; most do, and need no pass of their own. */
static int is_at_home(const ulna_joint_plan *plan, const double *home, int count, const course *all, int at)
{
    double turns[MOST];
    path p = {.family = 0}, other;
    int turn[3];
    for (int s = 0; s < plan->segment_count; s++) {
        int slides = ulna_segment_is_translation(plan->segment[s]);
        if (!slides && !(all->largest[at + s] <= JUMP))
            return 0;
        p.sum[s] = all->sum[at + s];
        p.squares[s] = all->squares[at + s];
    }
    turns_home(plan, &p, home, count, turns);
    for (int s = 0; s < plan->segment_count; s++)
        if (turns[s] != 0)
            return 0;
    double found = distance(plan, &p, home, count, turns);
    if (!ulna_joint_three_turns(plan, turn))
        return isfinite(found);
    mirror_path(plan, turn, count, &p, &other);
    turns_home(plan, &other, home, count, turns);
    return distance(plan, &other, home, count, turns) > found * (1 + PLAINLY) + PLAINLY;
}

ulna_status ulna_clip_home(const ulna_model *model, ulna_clip *clip)
{
    if (!model || !clip || (clip->frame_count && clip->coordinate_count != model->nq))
        return ULNA_ERR_ARGUMENT;
    const ulna_allocator *allocator = &model->allocator;
    size_t frames = (size_t)clip->frame_count, nq = (size_t)model->nq, room = 3 * nq + frames * MOST;
    double *memory = frames ? ulna_allocate(allocator, room, sizeof *memory) : NULL;
    ulna_status status = memory || !frames ? ULNA_OK : ULNA_ERR_MEMORY;
    course all = {memory, memory + nq, memory + 2 * nq};
    if (memory)
        follow_clip(clip, &all);
    for (int b = 0; b < model->nb && memory && status == ULNA_OK; b++) {
        ulna_joint_plan plan;
        double home[MOST];
        status = ulna_joint_resolve(&model->joint[b], &plan, NULL);
        if (status != ULNA_OK || !is_elementary(&plan))
            continue;
        find_home(model, b, &plan, home);
        if (!is_at_home(&plan, home, clip->frame_count, &all, model->body[b].coordinate))
            move_joint(model, b, &plan, home, clip, memory + 3 * nq);
    }
    ulna_release(allocator, memory, room, sizeof *memory);
    return status;
}

/* ---- what may be a mistake ------------------------------------------------------------------------------------------------ */

#define FAST_JUMP (ULNA_PI / 2)
#define ROUNDING 1e-6 /* of a limit: radians or length scales */

/* Degrees of freedom that are looked at together: each frame is read once for all of them. */
enum { TOGETHER = 16 };

typedef struct ranges {
    int dof[TOGETHER], at[TOGETHER]; /* `at`: one after the other, from the first on */
    double lower[TOGETHER], upper[TOGETHER], farthest[TOGETHER];
    double step[TOGETHER]; /* from frame to frame: a larger one is a jump */
    int count;
} ranges;

static void add_range(const ulna_model *model, int d, ranges *r)
{
    int i = r->count++;
    r->dof[i] = d;
    r->at[i] = ulna_model_dof_coordinate(model, d);
    r->lower[i] = ulna_model_lower(model)[d];
    r->upper[i] = ulna_model_upper(model)[d];
    r->farthest[i] = 0;
    r->step[i] = ulna_model_dof_is_translation(model, d) ? (double)INFINITY : FAST_JUMP;
}

static int may_join(const ulna_model *model, int d, const ranges *r)
{
    return r->count < TOGETHER && (!r->count || ulna_model_dof_coordinate(model, d) == r->at[r->count - 1] + 1);
}

static int count_jumps(const ranges *r, const double *q, const double *before)
{
    int jumps = 0;
    for (int i = 0; i < r->count; i++)
        jumps += fabs(q[i] - before[i]) > r->step[i];
    return jumps;
}

static void check_frames(const ulna_clip *clip, ranges *r, ulna_clip_findings *found)
{
    for (int f = 0; f < clip->frame_count; f++) {
        const double *q = ulna_clip_frame(clip, f) + r->at[0], *before = f ? q - clip->coordinate_count : q;
        long long signs = 0;
        for (int i = 0; i < r->count; i++) {
            double below = r->lower[i] - q[i], above = q[i] - r->upper[i], away = below > above ? below : above;
            r->farthest[i] = away > r->farthest[i] ? away : r->farthest[i];
            signs |= ulna_sign_bits(r->step[i] - fabs(q[i] - before[i]));
        }
        found->jumps += signs < 0 ? count_jumps(r, q, before) : 0;
    }
}

ulna_clip_findings ulna_clip_check(const ulna_model *model, const ulna_clip *clip)
{
    ulna_clip_findings found = {.farthest_dof = ULNA_NONE};
    for (int d = 0, count = clip ? ulna_model_dof_count(model) : 0; d < count;) {
        ranges r = {.count = 0};
        for (; d < count && ulna_model_dof_coordinate(model, d) == ULNA_NONE; d++)
            ;
        for (; d < count && may_join(model, d, &r); d++)
            add_range(model, d, &r);
        if (r.count)
            check_frames(clip, &r, &found);
        for (int i = 0; i < r.count; i++) {
            int is_angle = !ulna_model_dof_is_translation(model, r.dof[i]);
            found.limited += isfinite(r.lower[i]) || isfinite(r.upper[i]);
            found.outside += r.farthest[i] > ROUNDING * (is_angle ? 1 : ulna_model_length_scale(model));
            if (is_angle && r.farthest[i] > found.farthest_outside) {
                found.farthest_outside = r.farthest[i];
                found.farthest_dof = r.dof[i];
            }
        }
    }
    return found;
}
