/*
 * What a whole take knows that a frame does not.
 *
 * The frames have been tracked forward. Then, unless options.causal forbids to look ahead:
 *   1. Stretches whose cost stands out from the whole take's (median and spread), and those that were lost, are tracked once more
 *      from behind (track_behind.c).
 *   2. Markers that go astray while those around them fit are left out (track_astray.c).
 *   3. Limbs that no marker shows are bridged (track_bridges.c).
 *   4. Two sweeps, back and forth (track_sweeps.c).
 *   5. Constraints and planted feet are kept (track_constraints.c), last, so that nothing breaks them.
 * All distances are measured again. Frames are doubtful if their cost still stands out, if a marker that is not left out is far
 * off, or if the two ways met there without agreeing.
 */
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "mocap/anatomy.h"
#include "mocap/track_passes.h"
#include "objective/problem.h"
#include "solve/solver.h"

#define STANDS_OUT 6      /* spreads above the median */
#define NO_SURPRISE 2     /* spreads above the median */
#define LEAST_SPREAD 0.25 /* of the median */
#define LEAST_EXCESS 0.1  /* of the scale of the loss: less on every marker does not stand out */
#define NORMAL 1.4826     /* spreads a median absolute deviation, for a normal distribution */

/* ---- cost -------------------------------------------------------------------------------------------------------- */

/* The positions of a frame, without markers that are set aside. */
void ulna_pass_gather(const ulna_passes *p, int frame, double *positions)
{
    const unsigned char *aside = ulna_pass_aside(p, frame);
    ulna_track_gather(p->j, frame, positions);
    for (size_t i = 0; i < p->j->used.count && p->has_aside[frame]; i++)
        positions[3 * i] = aside[i] ? (double)NAN : positions[3 * i];
}

/* Of the markers alone, a mean over those seen: frames with gaps compare with others. */
double ulna_pass_cost(const ulna_passes *p, const double *distances)
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

double ulna_median_and_spread(double *numbers, size_t count, double *spread)
{
    double median = count ? ulna_quick_median(numbers, count) : 0;
    for (size_t i = 0; i < count; i++)
        numbers[i] = fabs(numbers[i] - median);
    *spread = fmax(count ? NORMAL * ulna_quick_median(numbers, count) : 0, LEAST_SPREAD * median);
    return median;
}

void ulna_pass_resume(ulna_passes *p, int frame)
{
    if (frame >= 0 && frame < p->total)
        ulna_tracker_resume(p->tracker, ulna_pass_pose(p, frame), p->median * p->tracker->weights);
    else
        ulna_tracker_reset(p->tracker, NULL);
}

/* What is usual in the whole take, and what stands out. */
static void find_limit(ulna_passes *p)
{
    double least = LEAST_EXCESS * p->j->options->loss_scale, spread;
    size_t n = 0;
    for (int f = 0; f < p->total; f++)
        if (!ulna_pass_is_empty(p, f))
            p->sorted[n++] = p->cost[f];
    p->median = ulna_median_and_spread(p->sorted, n, &spread);
    p->limit = p->median + fmax(STANDS_OUT * spread, 0.5 * least * least);
}

/* The same of each marker's distance, in `distances`, which are in another order afterwards. */
static void find_marker_limit(ulna_passes *p, size_t i, double *distances, size_t count)
{
    double spread, median = ulna_median_and_spread(distances, count, &spread);
    p->usual[i] = fmax(median + NO_SURPRISE * spread, LEAST_EXCESS * p->j->options->loss_scale);
    p->astray[i] = p->j->used.items[i].weight > 0 ? fmax(median + STANDS_OUT * spread, p->j->options->loss_scale)
                                                  : (double)INFINITY;
}

/* Two markers at a time: the numbers of a frame are side by side in memory, those of a marker are not. */
static void find_marker_limits(ulna_passes *p)
{
    double *of[2] = {p->sorted, p->back_cost};
    for (size_t i = 0; i < p->j->used.count; i += 2) {
        size_t n[2] = {0, 0}, next = i + 1 < p->j->used.count ? i + 1 : i;
        for (int f = 0; f < p->total; f++) {
            double a = ulna_pass_distance(p, f, i), b = ulna_pass_distance(p, f, next);
            of[0][n[0]] = a;
            of[1][n[1]] = b;
            n[0] += (size_t)!isnan(a);
            n[1] += (size_t)!isnan(b);
        }
        find_marker_limit(p, i, of[0], n[0]);
        if (next > i)
            find_marker_limit(p, next, of[1], n[1]);
    }
}

static void find_costs(ulna_passes *p)
{
    const ulna_track_job *j = p->j;
    for (int f = 0; f < p->total; f++) {
        for (size_t i = 0; i < j->used.count; i++) {
            double d = ulna_pass_distance(p, f, i);
            p->positions[i] = d;
            p->farthest[i] = d > p->farthest[i] ? d : p->farthest[i];
        }
        p->cost[f] = ulna_pass_cost(p, p->positions);
    }
    find_limit(p);
    find_marker_limits(p);
}

/* ---- measuring ---------------------------------------------------------------------------------------------------*/

/* What follows from the distances in the tracker. */
static void keep_measured(ulna_passes *p, int frame, const ulna_frame_report *report, double cost)
{
    const ulna_tracker *t = p->tracker;
    p->cost[frame] = report->seen == p->j->counting ? cost / t->weights : ulna_pass_cost(p, t->distance);
    ulna_track_keep(p->j, t, frame, report);
}

/* For the positions in tracker->seen. */
static ulna_status measure(ulna_passes *p, int frame)
{
    ulna_tracker *t = p->tracker;
    ulna_frame_report now = p->j->result->frames[frame];
    double cost;
    ulna_status status = ulna_tracker_measure(t, t->seen, ulna_pass_pose(p, frame), &now, &cost);
    if (status == ULNA_OK)
        keep_measured(p, frame, &now, cost);
    return status;
}

ulna_status ulna_pass_measure(ulna_passes *p, int frame)
{
    ulna_track_gather(p->j, frame, p->tracker->seen);
    return ulna_pass_is_empty(p, frame) ? ULNA_OK : measure(p, frame);
}

void ulna_pass_copy(const ulna_passes *p, const unsigned char *marks, int mark, const double *from, double *to)
{
    const ulna_model *model = p->j->take->model;
    if (!memchr(marks, !mark, (size_t)model->nb)) { /* as in most frames, where nothing is hidden */
        memcpy(to, from, (size_t)model->nq * sizeof *to);
        return;
    }
    for (int c = 0; c < model->nq; c++) /* no branches: joints have few coordinates each */
        to[c] = marks[p->body_of[c]] == mark ? from[c] : to[c];
}

/* ---- measuring again --------------------------------------------------------------------------------------------- */

/* As ulna_pass_measure, for the frames first .. last - 1, as many as there are lanes. */
static ulna_status measure_abreast(ulna_passes *p, int first, int last)
{
    ulna_tracker *t = p->tracker;
    for (int f = first; f < last; f++) {
        ulna_track_gather(p->j, f, t->seen);
        ulna_abreast_load_measured(p->abreast, f - first, ulna_pass_pose(p, f), t->seen);
    }
    ulna_status status = ulna_abreast_measure(p->abreast, ulna_solver_work(t->solver));
    for (int f = first; f < last && status == ULNA_OK; f++) {
        ulna_frame_report now = p->j->result->frames[f];
        if (ulna_pass_is_empty(p, f))
            continue;
        ulna_abreast_distances(p->abreast, f - first, t->distance);
        double cost = ulna_tracker_report_again(t, &now);
        keep_measured(p, f, &now, cost);
    }
    return status;
}

static ulna_status measure_frames(ulna_passes *p, int first, int last)
{
    ulna_status status = ULNA_OK;
    if (p->abreast)
        return measure_abreast(p, first, last);
    for (int f = first; f < last && status == ULNA_OK; f++)
        status = ulna_pass_measure(p, f);
    return status;
}

/* A frame that has been measured without exchanged names: its doubts. Then report and distances are those of the markers as they were
 * recorded. */
static ulna_status finish_frame(ulna_passes *p, int frame)
{
    if ((p->cost[frame] > p->limit || ulna_pass_is_contradicted(p, frame)) &&
        !(*ulna_pass_flags(p, frame) & (ULNA_TRACK_EMPTY | ULNA_TRACK_LOST)))
        *ulna_pass_flags(p, frame) |= ULNA_TRACK_DOUBTFUL;
    if (p->j->is_as_recorded || !ulna_take_is_exchanged(p->j->take, frame))
        return ULNA_OK;
    ulna_take_gather_recorded(p->j->take, frame, p->j->used.count, p->j->source, p->tracker->seen);
    return measure(p, frame);
}

static ulna_status measure_again(ulna_passes *p)
{
    ulna_status status = ULNA_OK;
    for (int first = 0; first < p->total && status == ULNA_OK && !atomic_load(&p->j->cancelled);
         first += ULNA_ABREAST) {
        int last = first + ULNA_ABREAST < p->total ? first + ULNA_ABREAST : p->total;
        status = measure_frames(p, first, last);
        for (int f = first; f < last && status == ULNA_OK; f++) {
            status = finish_frame(p, f);
            ulna_track_progress(p->j);
        }
    }
    return status;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void take_arrays(ulna_passes *p, ulna_arena *arena)
{
    const ulna_track_job *j = p->j;
    size_t total = (size_t)p->total, nv = (size_t)p->nv, nb = (size_t)j->take->model->nb;
    double **per_frame[] = {&p->cost, &p->sorted, &p->back_cost}; /* and one: a number may be written behind the last */
    double **per_dof[] = {&p->d0, &p->d1, &p->d2, &p->way};
    p->positions = ulna_arena_take(arena, 3 * j->used.count, sizeof(double));
    p->scratch = ulna_arena_take(arena, (size_t)p->nq, sizeof(double));
    for (size_t i = 0; i < sizeof per_frame / sizeof *per_frame; i++)
        *per_frame[i] = ulna_arena_take(arena, total + 1, sizeof(double));
    for (size_t i = 0; i < sizeof per_dof / sizeof *per_dof; i++)
        *per_dof[i] = ulna_arena_take(arena, nv, sizeof(double));
    for (int i = 0; i < 4; i++)
        p->joints[i].rotations = ulna_arena_take(arena, 9 * nb, sizeof(double));
    p->steps = ulna_arena_take(arena, total + 1, sizeof *p->steps);
    p->usual = ulna_arena_take(arena, j->used.count, sizeof(double));
    p->astray = ulna_arena_take(arena, j->used.count, sizeof(double));
    p->farthest = ulna_arena_take(arena, j->used.count, sizeof(double));
    p->aside = ulna_arena_take(arena, total * j->used.count, 1);
    p->has_aside = ulna_arena_take(arena, total, 1);
    p->suspect = ulna_arena_take(arena, total, 1);
    p->back_lost = ulna_arena_take(arena, total, 1);
    p->hidden = ulna_arena_take(arena, total * nb, 1);
    p->is_hidden_at_times = ulna_arena_take(arena, nb, 1);
    p->body_of = ulna_arena_take(arena, (size_t)p->nq, sizeof *p->body_of);
    p->is_shown = ulna_arena_take(arena, j->used.count, 1);
    p->is_girdle = ulna_arena_take(arena, nb, 1);
    p->is_mended = ulna_arena_take(arena, nb, 1);
}

static ulna_status run(ulna_passes *p)
{
    ulna_track_job *j = p->j;
    for (int b = 0; b < j->take->model->nb; b++)
        for (int c = 0; c < j->take->model->body[b].coordinate_count; c++)
            p->body_of[j->take->model->body[b].coordinate + c] = b;
    find_costs(p);
    ulna_pass_find_suspects(p);
    if (j->options->loss) /* plain least squares weigh every marker in full */
        ulna_pass_suspect_astray(p);
    ulna_status status = ulna_pass_mend_all(p);
    if (status == ULNA_OK && j->options->loss)
        status = ulna_pass_leave_out_astray(p);
    if (status == ULNA_OK && p->back && !j->options->solve.bounded)
        status = ulna_clip_unwind(j->take->model, &j->result->clip); /* the way back may have other angles for a pose */
    if (status == ULNA_OK)
        status = ulna_pass_find_hidden(p);
    if (status == ULNA_OK)
        ulna_pass_bridge(p);
    if (status == ULNA_OK && j->options->smooth > 0)
        status = ulna_tracker_abreast(p->tracker, j->leap, ulna_pass_sweep_weight(p), &p->abreast);
    if (status == ULNA_OK && j->options->smooth > 0)
        status = ulna_pass_sweep(p);
    if (status == ULNA_OK)
        ulna_pass_blend(p);
    if (status == ULNA_OK)
        ulna_pass_bridge(p); /* to where the frames at their ends are now */
    if (status == ULNA_OK && ulna_track_has_constraints(j, p->tracker)) {
        status = ulna_track_keep_constraints(j, p->aside, p->hidden, p->error);
        p->is_explained = status != ULNA_OK;
    }
    return status == ULNA_OK ? measure_again(p) : status;
}

ulna_status ulna_track_look_back(ulna_track_job *j, ulna_error *error)
{
    const ulna_allocator *allocator = &j->take->allocator;
    ulna_passes p = {.j = j, .error = error, .nq = j->take->model->nq, .nv = j->take->model->nv, .total = j->total};
    ulna_arena arena = {0};
    take_arrays(&p, &arena);
    size_t bytes = arena.used;
    void *memory = arena.failed ? NULL : ulna_allocate(allocator, bytes, 1);
    if (!memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory to look over %d frames again", j->total);
    arena = (ulna_arena){memory, 0, 0};
    take_arrays(&p, &arena);
    ulna_status status = ulna_tracker_create(j->take->model, &j->used, j->options, allocator, &p.tracker, error);
    if (status == ULNA_OK)
        status = ulna_pose_create(j->take->model, allocator, &p.pose, error);
    if (status == ULNA_OK) {
        j->passes += ulna_track_has_constraints(j, p.tracker) - ulna_track_has_constraints(j, NULL);
        status = run(&p);
        if (status != ULNA_OK && !p.is_explained)
            ulna_fail(error, status, "the take cannot be looked over again: %s", ulna_status_text(status));
    }
    ulna_pose_destroy(p.pose);
    ulna_abreast_destroy(p.abreast);
    ulna_tracker_destroy(p.tracker);
    ulna_release(allocator, p.back, p.back_room, sizeof *p.back);
    ulna_release(allocator, p.former, p.former_room, sizeof *p.former);
    ulna_release(allocator, p.former_flags, p.former_flags_room, sizeof *p.former_flags);
    ulna_release(allocator, memory, bytes, 1);
    return status;
}
