/*
 * Whether a tracked take can be used as it is. All thresholds of the verdict are in this file, and in docs/guide.md ("How to read
 * the verdict"); what each frame is marked with besides comes from the tracking itself.
 *
 * A jump is a rotation of a joint, in SO(3) and so whatever its angles are, that no person makes: 30 degrees from one frame to the
 * next and 3000 degrees/s. Where the frame rate is not known, 30 degrees do. So is a frame in which the recording leaps as a whole. Limits of skeleton files are rough, often narrower
 * than people are: only angles far outside are marked. Frames that are lost say nothing about either.
 */
#include <string.h>

#include "base/base.h"
#include "math/math3.h"
#include "mocap/anatomy.h"
#include "mocap/track.h"
#include "model/model.h"
#include "ulna/kinematics.h"

#define DEGREE (ULNA_PI / 180)
#define JUMP (30 * DEGREE)            /* from one frame to the next */
#define JUMP_SPEED (3000 * DEGREE)    /* per second */
#define FAR_OUTSIDE (20 * DEGREE)     /* of a limit */
#define OFTEN_OUTSIDE 0.1             /* of the frames */
#define MOST_LOST 0.1                 /* of the frames */
#define MOST_UNSURE 0.5               /* of the frames */
#define MOST_MISPLACED 0.25           /* of the markers */
#define MOST_ANGLES_OUTSIDE 0.25      /* of those with limits */
#define MOST_WITH_OUTLIERS 0.5        /* of the frames */
#define MOST_UNMEASURED 0.25          /* of the degrees of freedom */
#define FEWEST_NUMBERS 0.75           /* that markers give, beside the degrees of freedom that move them */
#define POOR 0.03                     /* m on an adult: more than skin and soft tissue move */
#define ROTATION_PER_ANGLE 1.001      /* rotations one after the other add up at most; and rounding */
#define ROTATION_PER_COORDINATE 3.142 /* of others: a quaternion that moves by d rotates by 2 d to pi d */

/* ---- jumps ------------------------------------------------------------------------------------------------------------- */

static double rotation_per_coordinate(const ulna_model *model, const ulna_body *body)
{
    int has_angles = !body->dof_count || model->dof_segment[body->dof + body->dof_count - 1] < ULNA_SEGMENT_BALL;
    return has_angles ? ROTATION_PER_ANGLE : ROTATION_PER_COORDINATE;
}

/* No joint rotates by more than this from frame f - 1 to f. */
static double largest_rotation_bound(const ulna_model *model, const double *before, const double *now)
{
    double largest = 0;
    for (int b = 0; b < model->nb; b++) {
        const ulna_body *body = &model->body[b];
        double sum = 0;
        for (int i = body->coordinate; i < body->coordinate + body->coordinate_count; i++)
            sum += fabs(now[i] - before[i]);
        sum *= rotation_per_coordinate(model, body);
        largest = sum > largest ? sum : largest;
    }
    return largest;
}

/* nq: how far each coordinate may move so that, with those of its joint, the bound stays below the limit. */
static void find_slow_steps(const ulna_model *model, double limit, double *slow)
{
    for (int b = 0; b < model->nb; b++) {
        const ulna_body *body = &model->body[b];
        for (int i = body->coordinate; i < body->coordinate + body->coordinate_count; i++)
            slow[i] = limit / (body->coordinate_count * rotation_per_coordinate(model, body));
    }
}

/* As in most frames: then the bound need not be found. */
static int is_slow(int count, const double *slow, const double *before, const double *now)
{
    long long signs = 0;
    for (int i = 0; i < count; i++)
        signs |= ulna_sign_bits(slow[i] - fabs(now[i] - before[i]));
    return signs >= 0;
}

/* The rotation of each body relative to its parent. */
void ulna_joint_rotations(const ulna_model *model, const ulna_pose *pose, const unsigned char *which, double *rotations)
{
    for (int b = 0; b < model->nb; b++)
        ulna_pose_body(pose, b, NULL, rotations + 9 * (size_t)b);
    for (int b = model->nb - 1; b >= 0; b--) { /* those of parents come before */
        double *rotation = rotations + 9 * (size_t)b, own[9];
        if (model->body[b].parent == ULNA_NONE || (which && !which[b]))
            continue;
        const double *parent = rotations + 9 * (size_t)model->body[b].parent;
        memcpy(own, rotation, sizeof own);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                rotation[3 * i + k] = parent[i] * own[k] + parent[3 + i] * own[3 + k] + parent[6 + i] * own[6 + k];
    }
}

static double trace_between(const double a[9], const double b[9])
{
    double trace = 0;
    for (int i = 0; i < 9; i++)
        trace += a[i] * b[i];
    return trace;
}

/* Of a rotation with this trace, which is 1 + 2 cos of it; rounding may take the trace out of its range. */
static double angle_of(double trace)
{
    return acos(fmax(-1, fmin(1, 0.5 * (trace - 1))));
}

double ulna_track_rotation(const double a[9], const double b[9])
{
    return angle_of(trace_between(a, b));
}

double ulna_largest_rotation(int bodies, const unsigned char *which, const double *before, const double *now)
{
    double least = 3;
    for (int i = 0; i < bodies; i++)
        if (!which || which[i]) {
            double trace = trace_between(before + 9 * (size_t)i, now + 9 * (size_t)i);
            least = trace < least ? trace : least;
        }
    return angle_of(least);
}

static ulna_status mark_jumps(const ulna_track_job *j, ulna_pose *pose, double *rotations)
{
    const ulna_clip *clip = &j->result->clip;
    const ulna_frame_report *marks = j->result->frames;
    const ulna_model *model = j->take->model;
    double limit = fmax(JUMP, clip->frame_seconds > 0 ? JUMP_SPEED * clip->frame_seconds : 0);
    double *before = rotations, *now = before + 9 * (size_t)model->nb, *slow = now + 9 * (size_t)model->nb;
    ulna_status status = ULNA_OK;
    find_slow_steps(model, limit, slow);
    for (int f = 1; f < j->total && status == ULNA_OK; f++) {
        const double *q0 = ulna_clip_frame(clip, f - 1), *q1 = ulna_clip_frame(clip, f);
        if ((marks[f - 1].flags | marks[f].flags) & ULNA_TRACK_LOST || is_slow(model->nq, slow, q0, q1) ||
            largest_rotation_bound(model, q0, q1) <= limit)
            continue;
        status = ulna_pose_forward(pose, q0);
        if (status != ULNA_OK)
            break;
        ulna_joint_rotations(model, pose, NULL, before);
        status = ulna_pose_forward(pose, q1);
        if (status != ULNA_OK)
            break;
        ulna_joint_rotations(model, pose, NULL, now);
        if (ulna_largest_rotation(model->nb, NULL, before, now) > limit)
            j->result->frames[f].flags |= ULNA_TRACK_JUMP;
    }
    for (int i = 0; i < j->take->cut_count; i++) {
        int f = j->take->cuts[i];
        if (!((marks[f - 1].flags | marks[f].flags) & ULNA_TRACK_LOST))
            j->result->frames[f].flags |= ULNA_TRACK_JUMP;
    }
    return status;
}

/* ---- limits ------------------------------------------------------------------------------------------------------------ */

/* How far each coordinate may go, and how many frames have it beyond; all have nq numbers. */
typedef struct allowed {
    double *low, *high, *beyond;
} allowed;

static int is_lost(const ulna_track_job *j, int frame)
{
    return (j->result->frames[frame].flags & ULNA_TRACK_LOST) != 0;
}

static void find_allowed(const ulna_model *model, const allowed *a)
{
    for (int i = 0; i < model->nq; i++) {
        a->low[i] = -(double)INFINITY;
        a->high[i] = (double)INFINITY;
    }
    for (int d = 0; d < model->nv; d++) {
        int at = ulna_model_dof_coordinate(model, d);
        if (at == ULNA_NONE || ulna_model_dof_is_translation(model, d))
            continue;
        a->low[at] = model->lower[d] - FAR_OUTSIDE;
        a->high[at] = model->upper[d] + FAR_OUTSIDE;
    }
}

static int is_any_beyond(int count, const allowed *a, const double *q)
{
    const double *low = a->low, *high = a->high;
    long long signs = 0;
    for (int i = 0; i < count; i++)
        signs |= ulna_sign_bits(q[i] - low[i]) | ulna_sign_bits(high[i] - q[i]);
    return signs < 0;
}

/* Frame by frame, as they are in memory. */
static void count_beyond(const ulna_track_job *j, const allowed *a)
{
    const int nq = j->take->model->nq;
    for (int f = 0; f < j->total; f++) {
        const double *q = ulna_clip_frame(&j->result->clip, f);
        if (is_lost(j, f) || !is_any_beyond(nq, a, q))
            continue;
        for (int i = 0; i < nq; i++)
            a->beyond[i] += q[i] < a->low[i] || q[i] > a->high[i];
    }
}

static void mark_beyond(const ulna_track_job *j, const allowed *a, int at)
{
    for (int f = 0; f < j->total; f++) {
        double value = ulna_clip_frame(&j->result->clip, f)[at];
        if (!is_lost(j, f) && (value < a->low[at] || value > a->high[at]))
            j->result->frames[f].flags |= ULNA_TRACK_LIMITS;
    }
}

static ulna_status mark_limits(const ulna_track_job *j)
{
    const ulna_model *model = j->take->model;
    const size_t nq = (size_t)model->nq;
    double *numbers = ulna_allocate(&j->take->allocator, 3 * nq, sizeof *numbers);
    if (!numbers)
        return ULNA_ERR_MEMORY;
    allowed a = {numbers, numbers + nq, numbers + 2 * nq};
    find_allowed(model, &a);
    count_beyond(j, &a);
    for (int d = 0; d < model->nv; d++) {
        int at = ulna_model_dof_coordinate(model, d);
        double count = at == ULNA_NONE ? 0 : a.beyond[at];
        int is_often = count > OFTEN_OUTSIDE * j->total;
        j->result->dofs[d].is_outside = is_often;
        j->result->trust.angles_outside += is_often;
        if (count > 0 && !is_often)
            mark_beyond(j, &a, at);
    }
    ulna_release(&j->take->allocator, numbers, 3 * nq, sizeof *numbers);
    return ULNA_OK;
}

ulna_status ulna_track_mark_motion(const ulna_track_job *j)
{
    const ulna_allocator *allocator = &j->take->allocator;
    size_t room = 18 * (size_t)j->take->model->nb + (size_t)j->take->model->nq;
    ulna_pose *pose = NULL;
    double *rotations = ulna_allocate(allocator, room, sizeof *rotations);
    ulna_status status =
        rotations ? ulna_pose_create(j->take->model, allocator, &pose, NULL) : (ulna_status)ULNA_ERR_MEMORY;
    if (status == ULNA_OK)
        status = mark_jumps(j, pose, rotations);
    if (status == ULNA_OK)
        status = mark_limits(j);
    ulna_pose_destroy(pose);
    ulna_release(allocator, rotations, room, sizeof *rotations);
    return status;
}

/* ---- the verdict ------------------------------------------------------------------------------------------------------- */

static unsigned reasons_to_reject(const ulna_track_result *r, int is_rough)
{
    const unsigned unsure = ULNA_TRACK_LOST | ULNA_TRACK_DOUBTFUL | ULNA_TRACK_BRIDGED | ULNA_TRACK_EMPTY;
    const ulna_track_summary *s = &r->summary;
    int unsure_frames = 0;
    for (int f = 0; f < s->frames; f++)
        unsure_frames += (r->frames[f].flags & unsure) != 0;
    int is_guessed = 3 * s->markers_used < FEWEST_NUMBERS * r->trust.dofs_moved;
    int is_implausible = is_rough && r->trust.angles_outside > MOST_ANGLES_OUTSIDE * r->trust.motion.limited;
    return (r->trust.is_poor ? ULNA_REASON_POOR : 0u) | (is_guessed ? ULNA_REASON_UNDETERMINED : 0u) |
           (s->lost > MOST_LOST * s->frames ? ULNA_REASON_LOST : 0u) |
           (unsure_frames > MOST_UNSURE * s->frames ? ULNA_REASON_UNSURE : 0u) |
           (r->trust.misplaced > MOST_MISPLACED * s->markers_used ? ULNA_REASON_MISPLACED : 0u) |
           (is_implausible ? ULNA_REASON_IMPLAUSIBLE : 0u);
}

static unsigned reasons_to_look(const ulna_model *model, const ulna_track_result *r, int is_rough)
{
    const ulna_track_summary *s = &r->summary;
    int marked = s->lost + s->recovered + s->empty + s->doubtful + s->bridged + s->jumps + s->outside_limits;
    return (marked ? ULNA_REASON_FRAMES : 0u) | (r->swap_count || r->trust.misplaced ? ULNA_REASON_MARKERS : 0u) |
           (is_rough ? ULNA_REASON_ROUGH : 0u) |
           (s->with_outliers > MOST_WITH_OUTLIERS * s->frames ? ULNA_REASON_OUTLIERS : 0u) |
           (r->trust.angles_outside ? ULNA_REASON_LIMITS : 0u) |
           (r->trust.is_undetermined ? ULNA_REASON_UNDETERMINED : 0u) | (r->trust.cut_frames ? ULNA_REASON_CUT : 0u) |
           (r->shift_count ? ULNA_REASON_SHIFTED : 0u) |
           (r->trust.unmeasured > MOST_UNMEASURED * model->nv ? ULNA_REASON_UNMEASURED : 0u) |
           (r->trust.is_set_undetermined ? ULNA_REASON_OFFSETS : 0u) |
           (r->trust.has_other_lengths ? ULNA_REASON_LENGTHS : 0u);
}

void ulna_track_judge(const ulna_model *model, double length_scale, ulna_track_result *r)
{
    const double length = length_scale / ULNA_ADULT_LENGTH_SCALE;
    int is_rough = r->trust.typical_rms > ULNA_ROUGH_RMS * length;
    r->trust.is_poor = r->trust.typical_rms > POOR * length;
    unsigned rejecting = reasons_to_reject(r, is_rough);
    r->trust.reasons = rejecting | reasons_to_look(model, r, is_rough);
    r->trust.verdict = rejecting ? ULNA_VERDICT_REJECT : r->trust.reasons ? ULNA_VERDICT_LOOK : ULNA_VERDICT_TRUST;
}
