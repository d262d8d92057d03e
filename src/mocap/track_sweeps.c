/*
 * Sweeps over a whole take, back and forth: each frame takes one step, held to both its neighbours, so that jumps that the
 * markers do not call for wear off.
 *
 * The take is cut into stretches, by its number of frames alone, and all stretches are swept at once, a frame of each at a time: these
 * frames are no neighbours, so that their steps can be made abreast, one in each lane of a register (objective/abreast.c). At the
 * seams a frame is held to where its neighbour was before the sweep; the next sweep, from the other side, has its seams elsewhere.
 */
#include <math.h>
#include <string.h>

#include "mocap/track_passes.h"
#include "objective/problem.h"
#include "solve/solver.h"

enum { LEAST_STRETCH = 32 }; /* frames: with fewer, much of the take would be seams */

/* Neither swept nor a good neighbour. */
static int has_no_pose(const ulna_track_job *j, int frame)
{
    return (j->result->frames[frame].flags & (ULNA_TRACK_EMPTY | ULNA_TRACK_LOST)) != 0;
}

/* A bridge holds nothing. */
static void stay_hidden(const ulna_model *model, const unsigned char *hidden, double *step)
{
    if (!memchr(hidden, 1, (size_t)model->nb)) /* as in most frames */
        return;
    for (int b = 0; b < model->nb; b++)
        for (int k = 0; hidden[b] && k < model->body[b].dof_count; k++)
            step[model->body[b].dof + k] = 0;
}

double ulna_track_to_neighbours(const ulna_track_job *j, const ulna_clip *clip, const unsigned char *hidden, int frame,
                                const double *q, double *step, double *to_sides)
{
    const ulna_model *model = j->take->model;
    const double *leap = j->leap;
    double sides = 0;
    memset(to_sides, 0, (size_t)model->nv * sizeof *to_sides);
    for (int near = frame - 1; near <= frame + (j->options->causal ? 0 : 1); near += 2) {
        if (near < 0 || near >= j->total || has_no_pose(j, near))
            continue;
        sides++;
        ulna_model_difference(model, q, ulna_clip_frame(clip, near), step);
        if (hidden)
            stay_hidden(model, hidden + (size_t)near * (size_t)model->nb, step);
        for (int d = 0; d < model->nv; d++)
            to_sides[d] += fabs(step[d]) < leap[d] ? step[d] : 0;
    }
    return sides;
}

/* What no marker shows stays on its bridge. */
static void move_to(ulna_passes *p, int frame, const double *q)
{
    ulna_pass_copy(p, ulna_pass_hidden(p, frame), 0, q, ulna_pass_pose(p, frame));
}

double ulna_pass_sweep_weight(const ulna_passes *p)
{
    return ULNA_TRACK_SWEEP * p->tracker->options.smooth;
}

static ulna_status sweep_one(ulna_passes *p, int frame)
{
    ulna_tracker *t = p->tracker;
    const double *q = ulna_pass_pose(p, frame);
    if (has_no_pose(p->j, frame))
        return ULNA_OK;
    double sides = ulna_track_to_neighbours(p->j, &p->j->result->clip, p->hidden, frame, q, p->d0, p->d1);
    ulna_tracker_expect_neighbours(t, q, p->d1, sides, ulna_pass_sweep_weight(p));
    ulna_pass_gather(p, frame, t->seen);
    ulna_problem_put_points(t->problem, 0, t->count, t->seen); /* which are positions or missing */
    ulna_status status = ulna_tracker_step(t, q, t->trial);
    if (status == ULNA_OK)
        move_to(p, frame, t->trial);
    return status;
}

/* ---- abreast ------------------------------------------------------------------------------------------------------- */

typedef struct sweeping {
    ulna_passes *p;
    double *spare;                   /* 2 ULNA_ABREAST x nq: neighbours, where some of their joints are hidden */
    int frames[ULNA_ABREAST], count; /* at hand: no two of them are neighbours */
    int direction;                   /* 1, or -1: back */
} sweeping;

/* The pose `near` that holds a frame; NULL: none. Joints that are hidden there are put where those of the frame are, so that they hold
 * nothing. Those that no marker ever shows are there in all frames. */
static const double *neighbour(const sweeping *s, int near, int frame, double *spare)
{
    const ulna_passes *p = s->p;
    if (near < 0 || near >= p->total || has_no_pose(p->j, near))
        return NULL;
    const double *pose = ulna_pass_pose(p, near), *q = ulna_pass_pose(p, frame);
    const unsigned char *hidden = ulna_pass_hidden(p, near);
    if (!memcmp(hidden, p->tracker->is_idle, (size_t)p->j->take->model->nb))
        return pose;
    memcpy(spare, pose, (size_t)p->nq * sizeof *spare);
    ulna_pass_copy(p, hidden, 1, q, spare);
    return spare;
}

/* 0 if the frame is to be swept by itself: nothing holds it, so that its matrix may be singular. */
static int load(const sweeping *s, int lane)
{
    const ulna_passes *p = s->p;
    const int frame = s->frames[lane];
    const double *q = ulna_pass_pose(p, frame);
    double *spare = s->spare + 2 * (size_t)lane * (size_t)p->nq;
    const double *before = neighbour(s, frame - 1, frame, spare);
    const double *after = neighbour(s, frame + 1, frame, spare + p->nq);
    if (has_no_pose(p->j, frame) || (!before && !after))
        return 0;
    ulna_pass_gather(p, frame, p->tracker->seen);
    ulna_take_prefetch(p->j->take, frame + s->direction);
    ulna_abreast_load(p->abreast, lane, q, before, after, p->tracker->seen);
    return 1;
}

static ulna_status sweep_frames(const sweeping *s)
{
    ulna_passes *p = s->p;
    ulna_status status = ULNA_OK;
    unsigned char is_loaded[ULNA_ABREAST] = {0};
    for (int k = 0; k < s->count && p->abreast; k++)
        is_loaded[k] = (unsigned char)load(s, k);
    if (p->abreast)
        ulna_tracker_loop_abreast(p->tracker, p->abreast);
    for (int k = 0; k < s->count && status == ULNA_OK; k++) {
        if (is_loaded[k] && ulna_abreast_step(p->abreast, k, p->d0)) {
            ulna_model_integrate(p->j->take->model, ulna_pass_pose(p, s->frames[k]), p->d0, p->tracker->trial);
            move_to(p, s->frames[k], p->tracker->trial);
        } else {
            status = sweep_one(p, s->frames[k]);
        }
        ulna_track_progress(p->j);
    }
    return status;
}

/* The frame in which stretch k of `count` begins. */
static int begins(const ulna_passes *p, int k, int count)
{
    return (int)((long long)p->total * k / count);
}

/* The way forth has its seams in the middle of the stretches of the way back: a stretch that leaves the take at its end goes on at its
 * beginning. */
static ulna_status sweep(sweeping *s, int is_back)
{
    const ulna_passes *p = s->p;
    int count = p->total / LEAST_STRETCH;
    count = count > ULNA_ABREAST ? ULNA_ABREAST : count < 1 ? 1 : count;
    int longest = (p->total + count - 1) / count, shift = count > 1 ? longest / 2 : 0;
    s->direction = is_back ? -1 : 1;
    ulna_status status = ULNA_OK;
    for (int i = 0; i < longest && status == ULNA_OK && !atomic_load(&p->j->cancelled); i++) {
        s->count = 0;
        for (int k = 0; k < count; k++) {
            int first = begins(p, k, count), last = begins(p, k + 1, count);
            if (i < last - first)
                s->frames[s->count++] = is_back ? last - 1 - i : (int)(((long long)first + i + shift) % p->total);
        }
        status = sweep_frames(s);
    }
    return status;
}

ulna_status ulna_pass_sweep(ulna_passes *p)
{
    const ulna_allocator *allocator = &p->j->take->allocator;
    sweeping s = {.p = p};
    size_t room = 2 * ULNA_ABREAST * (size_t)p->nq;
    s.spare = ulna_allocate(allocator, room, sizeof *s.spare);
    ulna_status status = s.spare ? ULNA_OK : ULNA_ERR_MEMORY;
    for (int n = 0; n < ULNA_TRACK_SWEEPS && status == ULNA_OK; n++)
        status = sweep(&s, n % 2 == 0);
    ulna_release(allocator, s.spare, room, sizeof *s.spare);
    return status;
}
