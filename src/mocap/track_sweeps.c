/*
 * Sweeps over a whole take, back and forth: each frame takes one step, held to both its neighbours, so that jumps that the
 * markers do not call for wear off.
 *
 * The take is cut into stretches, by its number of frames alone, and all stretches are swept at once, a frame of each at a time: these
 * frames are no neighbours, so that their steps can be made abreast, one in each lane of a register (objective/abreast.c). At the
 * seams a frame is held to where its neighbour was before the sweep; the next sweep, from the other side, knows better.
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

/* The way to the neighbours of a frame into p->d1; returns how many there are. */
static double find_neighbours(ulna_passes *p, int frame)
{
    return ulna_track_to_neighbours(p->j, &p->j->result->clip, p->hidden, frame, ulna_pass_pose(p, frame), p->d0,
                                    p->d1);
}

static double sweep_weight(const ulna_tracker *t)
{
    return ULNA_TRACK_SWEEP * t->options.smooth;
}

/* What no marker shows stays on its bridge. */
static void move_to(ulna_passes *p, int frame, const double *q)
{
    ulna_pass_copy(p, ulna_pass_hidden(p, frame), 0, q, ulna_pass_pose(p, frame));
}

static ulna_status sweep_one(ulna_passes *p, int frame)
{
    ulna_tracker *t = p->tracker;
    const double *q = ulna_pass_pose(p, frame);
    if (has_no_pose(p->j, frame))
        return ULNA_OK;
    ulna_tracker_expect_neighbours(t, q, p->d1, find_neighbours(p, frame), sweep_weight(t));
    ulna_pass_gather(p, frame, t->seen);
    ulna_problem_put_points(t->problem, 0, t->count, t->seen); /* which are positions or missing */
    ulna_status status = ulna_tracker_step(t, q, t->trial);
    if (status == ULNA_OK)
        move_to(p, frame, t->trial);
    return status;
}

/* 0 if the frame is to be swept by itself: nothing holds it, so that its matrix may be singular. */
static int load(ulna_passes *p, ulna_abreast *abreast, int lane, int frame)
{
    ulna_tracker *t = p->tracker;
    const double *q = ulna_pass_pose(p, frame);
    double sides = has_no_pose(p->j, frame) ? 0 : find_neighbours(p, frame);
    if (!(sides > 0))
        return 0;
    ulna_pass_gather(p, frame, t->seen);
    double cost = ulna_tracker_neighbour_terms(t, q, p->d1, sides, sweep_weight(t));
    ulna_abreast_load(abreast, lane, t->solver->work, q, cost, t->seen);
    return 1;
}

/* One frame of each stretch; none of them is the neighbour of another. */
static ulna_status sweep_abreast(ulna_passes *p, ulna_abreast *abreast, const int *frames, int count)
{
    ulna_tracker *t = p->tracker;
    ulna_status status = ULNA_OK;
    unsigned char is_loaded[ULNA_ABREAST] = {0};
    for (int k = 0; k < count; k++)
        is_loaded[k] = (unsigned char)load(p, abreast, k, frames[k]);
    ulna_tracker_loop_abreast(t, abreast);
    for (int k = 0; k < count && status == ULNA_OK; k++) {
        if (is_loaded[k] && ulna_abreast_step(abreast, k, p->d0)) {
            ulna_model_integrate(t->model, ulna_pass_pose(p, frames[k]), p->d0, t->trial);
            move_to(p, frames[k], t->trial);
        } else {
            status = sweep_one(p, frames[k]);
        }
    }
    return status;
}

/* The frame in which stretch k of `count` begins. */
static int begins(const ulna_passes *p, int k, int count)
{
    return (int)((long long)p->total * k / count);
}

static ulna_status sweep(ulna_passes *p, ulna_abreast *abreast, int is_back)
{
    int count = p->total / LEAST_STRETCH, longest, frames[ULNA_ABREAST];
    count = count < 1 ? 1 : count > ULNA_ABREAST ? ULNA_ABREAST : count;
    longest = (p->total + count - 1) / count;
    ulna_status status = ULNA_OK;
    for (int i = 0; i < longest && status == ULNA_OK && !atomic_load(&p->j->cancelled); i++) {
        int n = 0;
        for (int k = 0; k < count; k++) {
            int first = begins(p, k, count), last = begins(p, k + 1, count);
            if (i < last - first)
                frames[n++] = is_back ? last - 1 - i : first + i;
        }
        if (abreast)
            status = sweep_abreast(p, abreast, frames, n);
        for (int k = 0; k < n; k++) {
            if (!abreast && status == ULNA_OK)
                status = sweep_one(p, frames[k]);
            ulna_track_progress(p->j);
        }
    }
    return status;
}

ulna_status ulna_pass_sweep(ulna_passes *p)
{
    ulna_abreast *abreast;
    ulna_status status = ulna_tracker_abreast(p->tracker, &abreast);
    for (int n = 0; n < ULNA_TRACK_SWEEPS && status == ULNA_OK; n++)
        status = sweep(p, abreast, n % 2 == 0);
    ulna_abreast_destroy(abreast);
    return status;
}
