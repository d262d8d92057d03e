/*
 * The protocol of the exact-Hessian paper (section 6): in every frame each marker's offset is what that frame's reference pose
 * says, so that f = 0 can be reached, and each frame starts from the solution of the last.
 *
 * As the authors' code has it, the first frame starts from the reference (the text says from zero), and nothing but the solver's own options
 * ends a frame: no alignment of the root, no second attempt. The paper leaves out both thumbs (58 DOF of 62): what moves no marker is locked.
 * Offsets are part of a problem, so every frame has a problem of its own; only the solving is timed.
 */
#include <string.h>

#include "base/base.h"
#include "mocap/track.h"
#include "model/model.h"
#include "solve/solver.h"

typedef struct oracle {
    ulna_track_job *job;
    ulna_pose *pose;       /* of the reference */
    double *positions;     /* 3 x used.count: of the frame's markers; NaN: missing */
    double *start;         /* nq */
    unsigned char *locked; /* nv */
    ulna_options options;
} oracle;

/* What the caller locks, and what moves no marker. */
static void lock_idle(oracle *o)
{
    const ulna_track_job *j = o->job;
    const ulna_model *model = j->take->model;
    const unsigned char *given = j->options->solve.locked;
    for (int d = 0; d < model->nv; d++) {
        o->locked[d] = 1;
        for (size_t i = 0; i < j->used.count; i++) {
            int b = j->used.items[i].weight > 0 ? j->used.items[i].body : ULNA_NONE;
            while (b != ULNA_NONE && b != ulna_model_dof_body(model, d))
                b = ulna_model_body_parent(model, b);
            if (b != ULNA_NONE)
                o->locked[d] = given && given[d];
        }
    }
    o->options.locked = o->locked;
}

static ulna_status make_problem(const oracle *o, ulna_problem **problem, ulna_error *error)
{
    const ulna_track_job *j = o->job;
    ulna_status status = ulna_problem_create(j->take->model, &j->take->allocator, problem, error);
    for (size_t i = 0; i < j->used.count && status == ULNA_OK; i++) {
        const ulna_attachment *item = &j->used.items[i];
        const double *x = o->positions + 3 * i, nowhere[3] = {0, 0, 0};
        double origin[3], rotation[9], away[3], offset[3] = {0, 0, 0};
        int is_there = !isnan(x[0]);
        if (is_there) {
            ulna_pose_body(o->pose, item->body, origin, rotation);
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

static ulna_status solve_frame(oracle *o, ulna_problem *problem, int frame, ulna_error *error)
{
    ulna_track_job *j = o->job;
    ulna_frame_report *r = &j->result->frames[frame];
    double *q = ulna_clip_frame(&j->result->clip, frame);
    ulna_solver *solver = NULL;
    ulna_result result = {0};
    ulna_status status = ulna_solver_create(problem, &o->options, &j->take->allocator, &solver, error);
    if (status != ULNA_OK)
        return status;
    memcpy(q, o->start, (size_t)j->take->model->nq * sizeof *q);
    status = ulna_solve(solver, q, &result);
    *r = (ulna_frame_report){.worst_marker = ULNA_NONE,
                             .flags = (frame ? 0 : ULNA_TRACK_STARTED) |
                                      (result.f > ulna_solver_options(solver)->objective ? ULNA_TRACK_LOST : 0),
                             .iterations = result.iterations,
                             .evaluations = result.evaluations,
                             .evaluations_added = result.evaluations_added,
                             .seconds = result.seconds,
                             .stop = result.stop};
    if (status == ULNA_OK)
        status = measure(j, solver, frame);
    if (status != ULNA_OK)
        ulna_fail(error, status, "frame %lld could not be solved: %s", (long long)frame + j->take->first_frame,
                  ulna_status_text(status));
    ulna_solver_destroy(solver);
    return status;
}

/* All angles zero, and the root where the markers are on average: along each of its translations as far as the mean is. */
static void start_at_zero(oracle *o)
{
    const ulna_track_job *j = o->job;
    const ulna_model *model = j->take->model;
    double away[3] = {0, 0, 0}, root[3], moved[3];
    int seen = 0;
    for (size_t i = 0; i < j->used.count; i++)
        for (int k = 0; k < 3 && !isnan(o->positions[3 * i]); k++) {
            away[k] += o->positions[3 * i + (size_t)k];
            seen += k == 0;
        }
    ulna_model_zero(model, o->start);
    ulna_pose_forward(o->pose, o->start);
    ulna_pose_body(o->pose, 0, root, NULL);
    for (int k = 0; k < 3; k++)
        away[k] = seen ? away[k] / seen - root[k] : 0;
    for (int d = 0; d < model->nv && ulna_model_dof_body(model, d) == 0; d++) {
        int c = model->dof_coordinate[d];
        if (c < 0 || !ulna_model_dof_is_translation(model, d))
            continue;
        double before = o->start[c];
        o->start[c] = before + 1;
        ulna_pose_forward(o->pose, o->start);
        ulna_pose_body(o->pose, 0, moved, NULL);
        double axis[3];
        ulna_subtract3(moved, root, axis);
        double along = ulna_dot(axis, away);
        o->start[c] = before + along;
        for (int k = 0; k < 3; k++) {
            away[k] -= along * axis[k];
            root[k] += along * axis[k];
        }
    }
}

/* Where the frame starts. `at`: its number in the reference. */
static void choose_start(oracle *o, int frame, int at)
{
    const ulna_track_job *j = o->job;
    const ulna_track_options *options = j->options;
    const ulna_clip *reference = j->take->reference;
    const double *from = ulna_clip_frame(reference, at > 0 ? at - 1 : at);
    if (options->oracle_start == ULNA_ORACLE_SOLUTION && frame)
        from = ulna_clip_frame(&j->result->clip, frame - 1);
    else if (options->oracle_start != ULNA_ORACLE_REFERENCE && options->start)
        from = options->start;
    else if (options->oracle_start == ULNA_ORACLE_ZERO) {
        start_at_zero(o);
        return;
    }
    memcpy(o->start, from, (size_t)j->take->model->nq * sizeof *from);
}

/* A frame without markers is held: there is nothing that it could be solved for. */
static ulna_status one_frame(oracle *o, int frame, ulna_error *error)
{
    ulna_track_job *j = o->job;
    const ulna_take *take = j->take;
    int at = frame + take->reference_shift, seen = 0;
    if (at < 0 || at >= take->reference->frame_count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "the reference has no frame for frame %lld: leave it out of the take",
                         (long long)frame + take->first_frame);
    ulna_track_gather(j, frame, o->positions);
    for (size_t i = 0; i < j->used.count; i++)
        seen += !isnan(o->positions[3 * i]);
    choose_start(o, frame, at);
    if (!seen) {
        memcpy(ulna_clip_frame(&j->result->clip, frame), o->start, (size_t)take->model->nq * sizeof *o->start);
        j->result->frames[frame] = (ulna_frame_report){.worst_marker = ULNA_NONE, .flags = ULNA_TRACK_EMPTY};
        return ULNA_OK;
    }
    ulna_status status = ulna_pose_forward(o->pose, ulna_clip_frame(take->reference, at));
    if (status != ULNA_OK)
        return ulna_fail(error, status, "frame %lld of the reference is not a valid pose",
                         (long long)at + take->reference->first_frame);
    ulna_problem *problem = NULL;
    status = make_problem(o, &problem, error);
    if (status == ULNA_OK)
        status = solve_frame(o, problem, frame, error);
    ulna_problem_destroy(problem);
    return status;
}

ulna_status ulna_track_oracle(ulna_track_job *j, ulna_error *error)
{
    const ulna_allocator *allocator = &j->take->allocator;
    const size_t room = 3 * j->used.count, nq = (size_t)j->take->model->nq, nv = (size_t)j->take->model->nv + 1;
    oracle o = {.job = j, .options = j->options->solve};
    o.options.hybrid.trust_last = 0; /* distances are those of the answer, not of a prediction */
    o.positions = ulna_allocate(allocator, room, sizeof *o.positions);
    o.start = ulna_allocate(allocator, nq, sizeof *o.start);
    o.locked = ulna_allocate(allocator, nv, 1);
    ulna_status status = o.positions && o.start && o.locked
                             ? ulna_pose_create(j->take->model, allocator, &o.pose, error)
                             : ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a frame");
    if (status == ULNA_OK)
        lock_idle(&o);
    for (int f = 0; f < j->total && status == ULNA_OK && !atomic_load(&j->cancelled); f++) {
        status = one_frame(&o, f, error);
        ulna_track_progress(j);
    }
    ulna_pose_destroy(o.pose);
    ulna_release(allocator, o.positions, room, sizeof *o.positions);
    ulna_release(allocator, o.start, nq, sizeof *o.start);
    ulna_release(allocator, o.locked, nv, 1);
    return status;
}
