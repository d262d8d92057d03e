/*
 * The protocol of the exact-Hessian paper (section 6): in every frame each marker's offset is what that frame's reference pose
 * says, so that f = 0 can be reached, and each frame starts from the solution of the last.
 *
 * Offsets are part of a problem, so every frame has a problem of its own; only the solving is timed. Where f stays above zero, the
 * track is in a trap: a fresh start follows, and the frame counts as recovered or lost.
 */
#include <string.h>

#include "base/base.h"
#include "mocap/track.h"
#include "model/model.h"
#include "solve/solver.h"

#define ZERO_F 1e-8 /* m^2: where a solution with f = 0 is found */
#define LOST_F 1e-6

static ulna_options options_of(const ulna_track_job *j)
{
    ulna_options o = ulna_options_default();
    const ulna_options *given = &j->options->solve;
    o.method = given->method;
    o.bounded = given->bounded;
    o.lower = given->lower;
    o.upper = given->upper;
    o.iterations = !o.method || strcmp(o.method, "hybrid") == 0 ? 200 : given->iterations;
    o.objective = 1e-14;
    o.decrease = 1e-6;
    o.stop_below = ZERO_F;
    return o;
}

/* `positions`: of the frame's markers; NaN: missing. */
static ulna_status make_problem(const ulna_track_job *j, const ulna_pose *pose, const double *positions,
                                ulna_problem **problem, ulna_error *error)
{
    ulna_status status = ulna_problem_create(j->take->model, &j->take->allocator, problem, error);
    for (size_t i = 0; i < j->used.count && status == ULNA_OK; i++) {
        const ulna_attachment *item = &j->used.items[i];
        const double *x = positions + 3 * i, nowhere[3] = {0, 0, 0};
        double origin[3], rotation[9], away[3], offset[3] = {0, 0, 0};
        int is_there = !isnan(x[0]);
        if (is_there) {
            ulna_pose_body(pose, item->body, origin, rotation);
            ulna_subtract3(x, origin, away);
            ulna_unrotate(rotation, away, offset);
        }
        status =
            ulna_problem_add_point(*problem, item->body, offset, is_there ? x : nowhere, item->weight, NULL, error);
        if (status == ULNA_OK && !is_there)
            status = ulna_problem_set_points(*problem, (int)i, 1, x);
    }
    return status == ULNA_OK ? ulna_problem_ready(*problem, error) : status;
}

static ulna_status measure(ulna_track_job *j, ulna_solver *solver, int frame)
{
    ulna_frame_report *r = &j->result->frames[frame];
    ulna_status status = ULNA_OK;
    double squares = 0, d;
    for (size_t i = 0; i < j->used.count && status == ULNA_OK; i++) {
        status = ulna_work_term_error(ulna_solver_work(solver), (int)i, &d);
        if (status != ULNA_OK || isnan(d)) /* NaN: a missing marker */
            continue;
        j->result->distances[(size_t)frame * j->take->set.count + (size_t)j->item[i]] = d;
        if (!(j->used.items[i].weight > 0))
            continue;
        r->seen++;
        r->sum += d;
        squares += d * d;
        r->f += 0.5 * j->used.items[i].weight * d * d;
        if (r->worst_marker == ULNA_NONE || d > r->worst) {
            r->worst = d;
            r->worst_marker = j->item[i];
        }
    }
    r->rms = r->seen ? sqrt(squares / r->seen) : 0;
    return status;
}

static ulna_status attempt(ulna_solver *solver, double *q, ulna_result *result, ulna_frame_report *r)
{
    ulna_status status = ulna_solve(solver, q, result);
    r->iterations += result->iterations;
    r->evaluations += result->evaluations;
    r->seconds += result->seconds;
    return status;
}

/* From `from`; then, if that ends in a trap, afresh: root moved to the markers, and restarts. */
static ulna_status solve_frame(ulna_track_job *j, ulna_problem *problem, int frame, const double *from, int is_first,
                               ulna_error *error)
{
    ulna_frame_report *r = &j->result->frames[frame];
    double *q = ulna_clip_frame(&j->result->clip, frame);
    size_t bytes = (size_t)j->take->model->nq * sizeof *q;
    ulna_solver *solver = NULL;
    ulna_options options = options_of(j);
    ulna_result result = {0};
    ulna_status status = ulna_solver_create(problem, &options, &j->take->allocator, &solver, error);
    if (status != ULNA_OK)
        return status;
    *r = (ulna_frame_report){.worst_marker = ULNA_NONE, .flags = is_first ? ULNA_TRACK_STARTED : 0};
    memcpy(q, from, bytes);
    if (is_first)
        status = ulna_work_align_root(ulna_solver_work(solver), q);
    if (status == ULNA_OK)
        status = attempt(solver, q, &result, r);
    if (status == ULNA_OK && result.f > ZERO_F) {
        options.restarts = 20;
        ulna_solver_set_options(solver, &options, NULL);
        memcpy(q, from, bytes);
        status = ulna_work_align_root(ulna_solver_work(solver), q);
        if (status == ULNA_OK)
            status = attempt(solver, q, &result, r);
        r->flags |= result.f <= ZERO_F && !is_first ? ULNA_TRACK_RECOVERED : 0;
        r->flags |= result.f > LOST_F ? ULNA_TRACK_LOST : 0;
    }
    r->stop = result.stop;
    if (status == ULNA_OK)
        status = measure(j, solver, frame);
    if (status != ULNA_OK)
        ulna_fail(error, status, "frame %lld could not be solved: %s", (long long)frame + j->take->first_frame,
                  ulna_status_text(status));
    ulna_solver_destroy(solver);
    return status;
}

/* A frame without markers is held: there is nothing that it could be solved for. */
static ulna_status one_frame(ulna_track_job *j, ulna_pose *pose, double *positions, int frame, ulna_error *error)
{
    const ulna_take *take = j->take;
    ulna_frame_report *frames = j->result->frames;
    int at = frame + take->reference_shift, seen = 0;
    if (at < 0 || at >= take->reference->frame_count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "the reference has no frame for frame %lld: leave it out of the take",
                         (long long)frame + take->first_frame);
    const double *from = frame               ? ulna_clip_frame(&j->result->clip, frame - 1)
                         : j->options->start ? j->options->start
                                             : take->model->rest;
    int is_first = !frame || frames[frame - 1].flags & ULNA_TRACK_EMPTY;
    ulna_track_gather(j, frame, positions);
    for (size_t i = 0; i < j->used.count; i++)
        seen += !isnan(positions[3 * i]);
    if (!seen) {
        memcpy(ulna_clip_frame(&j->result->clip, frame), from, (size_t)take->model->nq * sizeof *from);
        frames[frame] = (ulna_frame_report){.worst_marker = ULNA_NONE, .flags = ULNA_TRACK_EMPTY};
        return ULNA_OK;
    }
    ulna_status status = ulna_pose_forward(pose, ulna_clip_frame(take->reference, at));
    if (status != ULNA_OK)
        return ulna_fail(error, status, "frame %lld of the reference is not a valid pose",
                         (long long)at + take->reference->first_frame);
    ulna_problem *problem = NULL;
    status = make_problem(j, pose, positions, &problem, error);
    if (status == ULNA_OK)
        status = solve_frame(j, problem, frame, from, is_first, error);
    ulna_problem_destroy(problem);
    return status;
}

ulna_status ulna_track_oracle(ulna_track_job *j, ulna_error *error)
{
    const ulna_allocator *allocator = &j->take->allocator;
    ulna_pose *pose = NULL;
    size_t room = 3 * j->used.count;
    double *positions = ulna_allocate(allocator, room, sizeof *positions);
    ulna_status status = positions ? ulna_pose_create(j->take->model, allocator, &pose, error)
                                   : ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a frame");
    for (int f = 0; f < j->total && status == ULNA_OK && !atomic_load(&j->cancelled); f++) {
        status = one_frame(j, pose, positions, f, error);
        ulna_track_progress(j);
    }
    ulna_pose_destroy(pose);
    ulna_release(allocator, positions, room, sizeof *positions);
    return status;
}
