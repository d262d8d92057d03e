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

static void move_stretch(const ulna_joint_plan *plan, int coordinate, const double *home, ulna_clip *clip, int first,
                         int last, form *now)
{
    double other[MOST];
    path p[2] = {{.family = 0}, {.family = 1}};
    int families = 1 + ulna_joint_other_family(plan, ulna_clip_frame(clip, first) + coordinate, other);
    for (int family = 0; family < families; family++)
        for (int f = first; f < last; f++)
            step(plan, &p[family], ulna_clip_frame(clip, f) + coordinate, f == first);
    choose(plan, home, p, families, last - first, first == 0, now);
    path moved = {.family = now->family};
    for (int f = first; f < last; f++) {
        double *q = ulna_clip_frame(clip, f) + coordinate;
        step(plan, &moved, q, f == first);
        for (int s = 0; s < plan->segment_count; s++)
            q[s] = moved.last[s] + now->turns[s];
    }
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

static void move_joint(const ulna_model *model, int b, const ulna_joint_plan *plan, ulna_clip *clip)
{
    const ulna_body *body = &model->body[b];
    double home[MOST];
    for (int s = 0; s < plan->segment_count; s++) {
        double lower = model->lower[body->dof + s], upper = model->upper[body->dof + s];
        int limited = isfinite(lower) && isfinite(upper);
        home[s] = limited ? 0.5 * (lower + upper) : model->rest[body->coordinate + s];
    }
    form now = {0};
    for (int first = 0, f = 1; f <= clip->frame_count; f++)
        if (f == clip->frame_count ||
            jumps(plan, ulna_clip_frame(clip, f - 1) + body->coordinate, ulna_clip_frame(clip, f) + body->coordinate)) {
            move_stretch(plan, body->coordinate, home, clip, first, f, &now);
            first = f;
        }
}

ulna_status ulna_clip_home(const ulna_model *model, ulna_clip *clip)
{
    if (!model || !clip || (clip->frame_count && clip->coordinate_count != model->nq))
        return ULNA_ERR_ARGUMENT;
    for (int b = 0; b < model->nb; b++) {
        ulna_joint_plan plan;
        ulna_status status = ulna_joint_resolve(&model->joint[b], &plan, NULL);
        if (status != ULNA_OK)
            return status;
        if (is_elementary(&plan))
            move_joint(model, b, &plan, clip);
    }
    return ULNA_OK;
}

/* ---- what may be a mistake ------------------------------------------------------------------------------------------------ */

#define FAST_JUMP (ULNA_PI / 2)
#define ROUNDING 1e-6 /* of a limit: radians or length scales */

ulna_clip_findings ulna_clip_check(const ulna_model *model, const ulna_clip *clip)
{
    ulna_clip_findings found = {.farthest_dof = ULNA_NONE};
    for (int d = 0; d < ulna_model_dof_count(model); d++) {
        double lower = ulna_model_lower(model)[d], upper = ulna_model_upper(model)[d], farthest = 0;
        int at = ulna_model_dof_coordinate(model, d), is_angle = !ulna_model_dof_is_translation(model, d);
        if (at == ULNA_NONE)
            continue;
        for (int f = 0; f < clip->frame_count; f++) {
            double value = ulna_clip_frame(clip, f)[at];
            farthest = fmax(farthest, fmax(lower - value, value - upper));
            found.jumps += f && is_angle && fabs(value - ulna_clip_frame(clip, f - 1)[at]) > FAST_JUMP;
        }
        found.limited += isfinite(lower) || isfinite(upper);
        found.outside += farthest > ROUNDING * (is_angle ? 1 : ulna_model_length_scale(model));
        if (is_angle && farthest > found.farthest_outside) {
            found.farthest_outside = farthest;
            found.farthest_dof = d;
        }
    }
    return found;
}
