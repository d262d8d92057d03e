/*
 * What a whole take knows that a frame does not.
 *
 * The frames have been tracked forward. Then, unless options.causal forbids to look ahead:
 *   1. Stretches whose cost stands out from the whole take's (median and spread), and those that were lost, are tracked once more
 *      from behind: from the first good frame after them, back until both ways agree. The two are joined at the frame where the
 *      cost before, the cost behind and the step between them are least together.
 *   2. A limb that no marker shows goes on a cubic from where it was seen last to where it is seen next, with the velocities that
 *      it has there; so does the whole skeleton where no marker is seen at all.
 *   3. Two sweeps, back and forth: each frame takes one step, held to both its neighbours, so that jumps that the markers do not
 *      call for wear off.
 * All distances are measured again. Frames whose cost still stands out, or where the two ways met without agreeing, are doubtful.
 */
#include <math.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "math/math3.h"
#include "mocap/anatomy.h"
#include "mocap/track.h"
#include "mocap/tracker.h"
#include "model/model.h"
#include "objective/problem.h"
#include "solve/solver.h"

#define STANDS_OUT 6      /* spreads above the median */
#define LEAST_SPREAD 0.25 /* of the median */
#define LEAST_EXCESS 0.1  /* of the scale of the loss: less on every marker does not stand out */
#define NORMAL 1.4826     /* spreads a median absolute deviation, for a normal distribution */
#define SWEEP 3e-3        /* m^2/rad^2 for an adult: toward each neighbour */
#define DISAGREE 0.35     /* radians a frame of a joint, where two ways meet */
#define LEAP 2.5          /* radians from frame to frame: other angles for the same pose, not a motion */
#define FASTEST 3.0       /* times the way of a bridge: a velocity at its ends beyond that would overshoot */

enum {
    MARGIN = 10,  /* frames around a stretch */
    VELOCITY = 3, /* frames by which a velocity is measured */
    SWEEPS = 2
};

typedef struct passes {
    ulna_track_job *j;
    ulna_tracker *tracker;
    int nq, nv, total;
    double *positions;        /* of a frame */
    double *cost;             /* total */
    double *sorted;           /* total */
    unsigned char *suspect;   /* total */
    unsigned char *back_lost; /* total: the way back is lost there */
    unsigned char *hidden;    /* total x nb: no marker shows it */
    unsigned char *is_girdle; /* nb: between trunk and limb, with a marker at most (anatomy.h) */
    double *back;             /* nq a frame: the way back, its last frame first */
    size_t back_room;
    ulna_pose *pose[2];
    double *scratch;            /* nq */
    double *back_cost;          /* total */
    double *d0, *d1, *d2, *way; /* nv */
    double median, limit;
} passes;

/* ---- cost -------------------------------------------------------------------------------------------------------- */

static double *pose_of(const passes *p, int frame)
{
    return ulna_clip_frame(&p->j->result->clip, frame);
}

static unsigned *flags_of(const passes *p, int frame)
{
    return &p->j->result->frames[frame].flags;
}

static int is_empty(const passes *p, int frame)
{
    return (*flags_of(p, frame) & ULNA_TRACK_EMPTY) != 0;
}

/* Of the markers alone, a mean over those seen: frames with gaps compare with others. */
static double cost_of(const passes *p, const double *distances)
{
    const ulna_track_options *o = p->j->options;
    double inverse = 1 / (o->loss_scale * o->loss_scale), sum = 0, weights = 0;
    for (size_t i = 0; i < p->j->used.count; i++) {
        double d = distances[i], w = p->j->used.items[i].weight;
        if (isnan(d))
            continue;
        sum += w * ulna_loss_cost(o->loss, d * d, inverse);
        weights += w;
    }
    return weights > 0 ? sum / weights : 0;
}

/* What is usual in the whole take, and what stands out. */
static void find_limit(passes *p)
{
    size_t n = 0;
    for (int f = 0; f < p->total; f++)
        if (!is_empty(p, f))
            p->sorted[n++] = p->cost[f];
    p->median = n ? ulna_median(p->sorted, n) : 0;
    for (size_t i = 0; i < n; i++)
        p->sorted[i] = fabs(p->sorted[i] - p->median);
    double spread = fmax(NORMAL * ulna_median(p->sorted, n), LEAST_SPREAD * p->median);
    double least = LEAST_EXCESS * p->j->options->loss_scale;
    p->limit = p->median + fmax(STANDS_OUT * spread, 0.5 * least * least);
}

static void find_costs(passes *p)
{
    const ulna_track_job *j = p->j;
    for (int f = 0; f < p->total; f++) {
        const double *row = j->result->distances + (size_t)f * j->take->set.count;
        for (size_t i = 0; i < j->used.count; i++)
            p->positions[i] = row[j->item[i]];
        p->cost[f] = cost_of(p, p->positions);
    }
    find_limit(p);
}

/* ---- 1. from behind ---------------------------------------------------------------------------------------------- */

static void find_suspects(passes *p)
{
    const unsigned marks = ULNA_TRACK_LOST | ULNA_TRACK_RECOVERED;
    for (int f = 0; f < p->total; f++) {
        if (is_empty(p, f) || (p->cost[f] <= p->limit && !(*flags_of(p, f) & marks)))
            continue;
        for (int k = f - MARGIN > 0 ? f - MARGIN : 0; k <= f + MARGIN && k < p->total; k++)
            p->suspect[k] = 1;
    }
}

/* aT b: the rotation from a to b, as a sees it. */
static void between(const double a[9], const double b[9], double by[9])
{
    double back[9];
    ulna_transpose9(a, back);
    ulna_multiply9(back, b, by);
}

/* The largest rotation of a joint between two poses, in whatever angles. */
static double step_between(const passes *p, const double *a, const double *b)
{
    const ulna_model *model = p->j->take->model;
    double R[2][9], up[2][9], joint[2][9], by[9], w[3], most = 0;
    if (ulna_pose_forward(p->pose[0], a) != ULNA_OK || ulna_pose_forward(p->pose[1], b) != ULNA_OK)
        return (double)INFINITY;
    for (int i = 0; i < model->nb; i++) {
        if (!model->body[i].dof_count)
            continue;
        for (int k = 0; k < 2; k++) {
            ulna_pose_body(p->pose[k], i, NULL, R[k]);
            memcpy(joint[k], R[k], sizeof R[k]);
            if (model->body[i].parent >= 0) {
                ulna_pose_body(p->pose[k], model->body[i].parent, NULL, up[k]);
                between(up[k], R[k], joint[k]);
            }
        }
        between(joint[0], joint[1], by);
        ulna_log(by, w);
        most = fmax(most, ulna_norm(w));
    }
    return most;
}

static double *back_of(const passes *p, int last, int frame)
{
    return p->back + (size_t)(last - 1 - frame) * (size_t)p->nq;
}

/* Room for the way back to `frame`. */
static ulna_status grow_back(passes *p, int last, int frame)
{
    void *back = p->back;
    ulna_status status = ulna_grow(&p->j->take->allocator, &back, &p->back_room, (size_t)(last - frame) * (size_t)p->nq,
                                   sizeof *p->back);
    p->back = back;
    return status;
}

/* Tracks back from frame `last` - 1 down to `first`; where it starts from is the frame `last`, or nothing at the end. Goes on
 * beyond `first` until both ways agree. Returns the first frame done. */
static ulna_status track_back(passes *p, int first, int last, int *begun)
{
    ulna_track_job *j = p->j;
    ulna_status status = ULNA_OK;
    if (last < p->total)
        ulna_tracker_resume(p->tracker, pose_of(p, last), p->median * (double)p->j->counting);
    else
        ulna_tracker_reset(p->tracker, NULL);
    for (*begun = last; *begun > 0 && status == ULNA_OK && !atomic_load(&j->cancelled); --*begun) {
        int f = *begun - 1;
        ulna_frame_report report;
        status = grow_back(p, last, f);
        if (status != ULNA_OK)
            break;
        double *q = back_of(p, last, f);
        ulna_track_gather(j, f, p->positions);
        status = ulna_tracker_frame(p->tracker, p->positions, q, &report);
        if (status != ULNA_OK)
            break;
        p->back_cost[f] = cost_of(p, p->tracker->distance);
        p->back_lost[f] = (report.flags & ULNA_TRACK_LOST) != 0;
        if (f < first && (step_between(p, pose_of(p, f), q) < DISAGREE / 4 || !p->suspect[f]))
            break;
    }
    return status;
}

/* Frames from the best place on are those of the way back. */
static void join(passes *p, int first, int last)
{
    const double *weigh = p->cost;
    double best = INFINITY, before = 0, behind = 0;
    int at = last;
    double unit = fmax(p->median, 1e-12);
    for (int f = first; f < last; f++)
        behind += p->back_cost[f];
    for (int s = first; s <= last; s++) { /* s: the first frame of the way back; `last`: none */
        const double *here = s < last ? back_of(p, last, s) : last < p->total ? pose_of(p, last) : NULL;
        const double *there = s > 0 ? pose_of(p, s - 1) : NULL;
        double by = here && there ? step_between(p, there, here) / DISAGREE : 0;
        double sum = before + behind + unit * by * by;
        if (sum < best) {
            best = sum;
            at = s;
        }
        if (s < last) {
            before += weigh[s];
            behind -= p->back_cost[s];
        }
    }
    for (int f = at; f < last; f++) {
        memcpy(pose_of(p, f), back_of(p, last, f), (size_t)p->nq * sizeof(double));
        if (!p->back_lost[f] && *flags_of(p, f) & ULNA_TRACK_LOST)
            *flags_of(p, f) = (*flags_of(p, f) & ~(unsigned)ULNA_TRACK_LOST) | ULNA_TRACK_RECOVERED;
        p->cost[f] = p->back_cost[f];
    }
    const unsigned known = ULNA_TRACK_LOST | ULNA_TRACK_RECOVERED;
    if (at > 0 && at < p->total && !((*flags_of(p, at) | *flags_of(p, at - 1)) & known) &&
        step_between(p, pose_of(p, at - 1), pose_of(p, at)) > DISAGREE)
        for (int f = at - 1; f <= at; f++)
            *flags_of(p, f) |= ULNA_TRACK_DOUBTFUL;
}

static ulna_status mend_stretches(passes *p)
{
    ulna_status status = ULNA_OK;
    find_suspects(p);
    for (int last = p->total; last > 0 && status == ULNA_OK;) {
        int first, begun;
        if (!p->suspect[last - 1]) {
            last--;
            continue;
        }
        for (first = last - 1; first > 0 && p->suspect[first - 1];)
            first--;
        status = track_back(p, first, last, &begun);
        if (status == ULNA_OK && begun < last)
            join(p, begun, last);
        last = first;
    }
    return status;
}

/* ---- 2. bridges -------------------------------------------------------------------------------------------------- */

static unsigned char *hidden_of(const passes *p, int frame)
{
    return p->hidden + (size_t)frame * (size_t)p->j->take->model->nb;
}

/* A clavicle that one marker shows swings when the arm beyond it is gone, and takes the arm along: it goes with its limb. */
static void hide_girdles(const passes *p, unsigned char *hidden)
{
    const ulna_model *model = p->j->take->model;
    for (int b = 0; b < model->nb; b++)
        if (p->is_girdle[b] && !hidden[b]) {
            int c = b + 1;
            while (c < model->nb && !(model->body[c].parent == b && model->body[c].dof_count && !hidden[c]))
                c++;
            hidden[b] = c == model->nb;
        }
}

static void find_hidden(passes *p)
{
    const ulna_model *model = p->j->take->model;
    const ulna_marker_set *set = &p->j->take->set;
    for (int f = 0; f < p->total; f++) {
        const double *row = p->j->result->distances + (size_t)f * set->count;
        unsigned char *hidden = hidden_of(p, f);
        memset(hidden, 1, (size_t)model->nb);
        for (size_t i = 0; i < set->count; i++)
            for (int b = set->items[i].body; !isnan(row[i]) && b != ULNA_NONE && hidden[b]; b = model->body[b].parent)
                hidden[b] = 0;
        hide_girdles(p, hidden);
    }
}

/* The velocity of the seen frames up to, or from, `frame`; in d. */
static void velocity_at(const passes *p, int body, int frame, int direction, double *d)
{
    const ulna_model *model = p->j->take->model;
    int n = 0;
    while (n < VELOCITY && frame + direction * (n + 1) >= 0 && frame + direction * (n + 1) < p->total &&
           !hidden_of(p, frame + direction * (n + 1))[body])
        n++;
    memset(d, 0, (size_t)p->nv * sizeof *d);
    if (n)
        ulna_model_difference(model, pose_of(p, frame), pose_of(p, frame + direction * n), d);
    for (int k = 0; k < p->nv && n; k++)
        d[k] *= (double)direction / n;
}

/* The joint of `body` on a cubic (Hermite) between the frames `from` and `to`. */
static void bridge(passes *p, int body, int from, int to)
{
    const ulna_model *model = p->j->take->model;
    const ulna_body *b = &model->body[body];
    double span = to - from, *scratch = p->scratch; /* a pose of which the body's coordinates count */
    velocity_at(p, body, from, -1, p->d1);
    velocity_at(p, body, to, 1, p->d2);
    ulna_model_difference(model, pose_of(p, from), pose_of(p, to), p->d0);
    for (int f = from + 1; f < to; f++) {
        double s = (f - from) / span, s2 = s * s, s3 = s2 * s;
        memset(p->way, 0, (size_t)p->nv * sizeof *p->way);
        for (int d = b->dof; d < b->dof + b->dof_count; d++) {
            double way = p->d0[d], most = FASTEST * fabs(way) + 1e-9;
            double v0 = fmax(-most, fmin(most, span * p->d1[d])), v1 = fmax(-most, fmin(most, span * p->d2[d]));
            p->way[d] = way * (3 * s2 - 2 * s3) + v0 * (s3 - 2 * s2 + s) + v1 * (s3 - s2);
        }
        ulna_model_integrate(model, pose_of(p, from), p->way, scratch);
        memcpy(pose_of(p, f) + b->coordinate, scratch + b->coordinate, (size_t)b->coordinate_count * sizeof *scratch);
        if (!is_empty(p, f))
            *flags_of(p, f) |= ULNA_TRACK_BRIDGED;
    }
}

/* Before it is seen for the first time, or after the last: as it is then. */
static void hold(passes *p, int body, int seen, int first, int last)
{
    const ulna_body *b = &p->j->take->model->body[body];
    for (int f = first; f < last; f++)
        memcpy(pose_of(p, f) + b->coordinate, pose_of(p, seen) + b->coordinate,
               (size_t)b->coordinate_count * sizeof(double));
}

static void bridge_gaps(passes *p)
{
    const ulna_model *model = p->j->take->model;
    for (int b = 0; b < model->nb; b++) {
        int from = ULNA_NONE;
        for (int f = 0; f < p->total && model->body[b].dof_count; f++) {
            if (hidden_of(p, f)[b])
                continue;
            if (from == ULNA_NONE)
                hold(p, b, f, 0, f);
            else if (from < f - 1)
                bridge(p, b, from, f);
            from = f;
        }
        if (from != ULNA_NONE)
            hold(p, b, from, from + 1, p->total);
    }
}

/* ---- 3. sweeps --------------------------------------------------------------------------------------------------- */

/* Neither swept nor a good neighbour. */
static int has_no_pose(const passes *p, int frame)
{
    return (*flags_of(p, frame) & (ULNA_TRACK_EMPTY | ULNA_TRACK_LOST)) != 0;
}

static ulna_status sweep(passes *p, int frame)
{
    ulna_tracker *t = p->tracker;
    double *q = pose_of(p, frame), length = t->model->length_scale / 1.3;
    double weight = SWEEP * length * length / (t->model->length_scale * t->model->length_scale), sides = 0;
    if (has_no_pose(p, frame))
        return ULNA_OK;
    memset(p->d1, 0, (size_t)p->nv * sizeof *p->d1);
    for (int side = -1; side <= 1; side += 2) {
        if (frame + side < 0 || frame + side >= p->total || has_no_pose(p, frame + side))
            continue;
        sides++;
        ulna_model_difference(t->model, q, pose_of(p, frame + side), p->d0);
        for (int d = 0; d < p->nv; d++) /* where angles leap, as near gimbal lock, they hold nothing */
            p->d1[d] += ulna_segment_is_slide(t->model->dof_segment[d]) || fabs(p->d0[d]) < LEAP ? p->d0[d] : 0;
    }
    ulna_tracker_expect_neighbours(t, q, p->d1, sides, weight);
    ulna_track_gather(p->j, frame, t->seen);
    ulna_status status = ulna_problem_set_points(t->problem, 0, t->count, t->seen);
    if (status == ULNA_OK)
        status = ulna_tracker_step(t, q, t->trial);
    for (int b = 0; b < t->model->nb && status == ULNA_OK; b++) {
        const ulna_body *body = &t->model->body[b];
        if (!hidden_of(p, frame)[b])
            memcpy(q + body->coordinate, t->trial + body->coordinate, (size_t)body->coordinate_count * sizeof *q);
    }
    return status;
}

static ulna_status sweep_all(passes *p)
{
    ulna_status status = ULNA_OK;
    for (int n = 0; n < SWEEPS; n++)
        for (int i = 0; i < p->total && status == ULNA_OK && !atomic_load(&p->j->cancelled); i++)
            status = sweep(p, n % 2 ? i : p->total - 1 - i);
    return status;
}

/* ---- measuring again --------------------------------------------------------------------------------------------- */

static ulna_status measure_again(passes *p)
{
    ulna_track_job *j = p->j;
    ulna_tracker *t = p->tracker;
    ulna_work *work = ulna_solver_work(t->solver);
    ulna_status status = ULNA_OK;
    for (int f = 0; f < p->total && status == ULNA_OK; f++) {
        ulna_frame_report *r = &j->result->frames[f];
        if (is_empty(p, f))
            continue;
        ulna_track_gather(j, f, t->seen);
        status = ulna_problem_set_points(t->problem, 0, t->count, t->seen);
        if (status == ULNA_OK)
            status = ulna_pose_forward(ulna_work_pose(work), pose_of(p, f));
        if (status == ULNA_OK)
            status = ulna_point_errors(work, 0, t->count, 0, t->distance);
        if (status != ULNA_OK)
            break;
        ulna_frame_report now = *r;
        ulna_tracker_report(t, &now);
        now.flags = now.outliers ? now.flags | ULNA_TRACK_OUTLIERS : now.flags & ~(unsigned)ULNA_TRACK_OUTLIERS;
        p->cost[f] = cost_of(p, t->distance);
        ulna_track_keep(j, t, f, &now);
    }
    for (int f = 0; f < p->total; f++)
        if (!is_empty(p, f) && p->cost[f] > p->limit && !(*flags_of(p, f) & ULNA_TRACK_LOST))
            *flags_of(p, f) |= ULNA_TRACK_DOUBTFUL;
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void take_arrays(passes *p, ulna_arena *arena)
{
    const ulna_track_job *j = p->j;
    size_t total = (size_t)p->total, nv = (size_t)p->nv, nb = (size_t)j->take->model->nb;
    double **per_frame[] = {&p->cost, &p->sorted, &p->back_cost};
    double **per_dof[] = {&p->d0, &p->d1, &p->d2, &p->way};
    p->positions = ulna_arena_take(arena, 3 * j->used.count, sizeof(double));
    p->scratch = ulna_arena_take(arena, (size_t)p->nq, sizeof(double));
    for (size_t i = 0; i < sizeof per_frame / sizeof *per_frame; i++)
        *per_frame[i] = ulna_arena_take(arena, total, sizeof(double));
    for (size_t i = 0; i < sizeof per_dof / sizeof *per_dof; i++)
        *per_dof[i] = ulna_arena_take(arena, nv, sizeof(double));
    p->suspect = ulna_arena_take(arena, total, 1);
    p->back_lost = ulna_arena_take(arena, total, 1);
    p->hidden = ulna_arena_take(arena, total * nb, 1);
    p->is_girdle = ulna_arena_take(arena, nb, 1);
}

/* Clavicles and the like, by the shape of the skeleton. */
static ulna_status find_girdles(passes *p)
{
    const ulna_tracker *t = p->tracker;
    ulna_anatomy *anatomy;
    ulna_status status = ulna_anatomy_create(t->model, t->body, t->weight, t->count, &t->allocator, &anatomy);
    if (status == ULNA_OK)
        memcpy(p->is_girdle, anatomy->is_girdle, (size_t)t->model->nb);
    ulna_anatomy_destroy(anatomy);
    return status;
}

ulna_status ulna_track_look_back(ulna_track_job *j, ulna_error *error)
{
    const ulna_allocator *allocator = &j->take->allocator;
    passes p = {.j = j, .nq = j->take->model->nq, .nv = j->take->model->nv, .total = j->total};
    ulna_arena arena = {0};
    take_arrays(&p, &arena);
    size_t bytes = arena.used;
    void *memory = arena.failed ? NULL : ulna_allocate(allocator, bytes, 1);
    if (!memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory to look over %d frames again", j->total);
    arena = (ulna_arena){memory, 0, 0};
    take_arrays(&p, &arena);
    ulna_status status = ulna_tracker_create(j->take->model, &j->used, j->options, allocator, &p.tracker, error);
    for (int k = 0; k < 2 && status == ULNA_OK; k++)
        status = ulna_pose_create(j->take->model, allocator, &p.pose[k], error);
    if (status == ULNA_OK) {
        find_costs(&p);
        status = find_girdles(&p);
        find_hidden(&p);
        if (status == ULNA_OK)
            status = mend_stretches(&p);
        if (status == ULNA_OK && p.back &&
            !j->options->solve.bounded) /* the way back may have other angles for the same pose */
            status = ulna_clip_unwind(j->take->model, &j->result->clip);
        bridge_gaps(&p);
        if (status == ULNA_OK && j->options->smooth > 0)
            status = sweep_all(&p);
        bridge_gaps(&p); /* to where the frames at their ends are now */
        if (status == ULNA_OK)
            status = measure_again(&p);
        if (status != ULNA_OK)
            ulna_fail(error, status, "the take cannot be looked over again: %s", ulna_status_text(status));
    }
    for (int k = 0; k < 2; k++)
        ulna_pose_destroy(p.pose[k]);
    ulna_tracker_destroy(p.tracker);
    ulna_release(allocator, p.back, p.back_room, sizeof *p.back);
    ulna_release(allocator, memory, bytes, 1);
    return status;
}
