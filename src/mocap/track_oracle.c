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

/* ---- one frame, for anybody ------------------------------------------------------------------------------------------- */

int ulna_take_idle_dofs(const ulna_take *take, unsigned char *locked)
{
    int idle = 0;
    for (int d = 0; take && locked && d < take->model->nv; d++) {
        locked[d] = 1;
        for (size_t i = 0; i < take->set.count && locked[d]; i++) {
            int b = take->set.items[i].weight > 0 && take->seen[i] ? take->set.items[i].body : ULNA_NONE;
            while (b != ULNA_NONE && b != ulna_model_dof_body(take->model, d))
                b = ulna_model_body_parent(take->model, b);
            locked[d] = b == ULNA_NONE;
        }
        idle += locked[d];
    }
    return idle;
}

static ulna_status add_markers(const ulna_take *take, int frame, const ulna_pose *pose, ulna_problem *problem,
                               ulna_error *error)
{
    ulna_status status = ULNA_OK;
    for (size_t i = 0; i < take->set.count && status == ULNA_OK; i++) {
        const ulna_attachment *item = &take->set.items[i];
        double x[3], origin[3], rotation[9], away[3], offset[3] = {0, 0, 0}, nowhere[3] = {0, 0, 0};
        int is_there = ulna_take_position(take, frame, (int)i, x);
        if (is_there) {
            ulna_pose_body(pose, item->body, origin, rotation);
            ulna_subtract3(x, origin, away);
            ulna_unrotate(rotation, away, offset);
        }
        status = ulna_problem_add_point(problem, item->body, offset, is_there ? x : nowhere, item->weight, NULL, error);
        if (status == ULNA_OK && !is_there)
            status = ulna_problem_set_points(problem, (int)i, 1, x);
    }
    return status;
}

ulna_status ulna_take_oracle_problem(const ulna_take *take, int frame, ulna_pose *pose, ulna_problem **problem,
                                     ulna_error *error)
{
    if (!take || !pose || !problem || frame < 0 || frame >= take->frame_count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "a frame of a take, a pose and a pointer for the problem are needed");
    *problem = NULL;
    int at = frame + take->reference_shift;
    if (!take->reference)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "offsets for each frame need a take with a reference motion");
    if (at < 0 || at >= take->reference->frame_count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "the reference has no frame for frame %lld: leave it out of the take",
                         (long long)frame + take->first_frame);
    ulna_status status = ulna_pose_forward(pose, ulna_clip_frame(take->reference, at));
    if (status != ULNA_OK)
        return ulna_fail(error, status, "frame %lld of the reference is not a valid pose",
                         (long long)at + take->reference->first_frame);
    status = ulna_problem_create(take->model, &take->allocator, problem, error);
    if (status == ULNA_OK)
        status = add_markers(take, frame, pose, *problem, error);
    if (status == ULNA_OK)
        status = ulna_problem_ready(*problem, error);
    if (status != ULNA_OK) {
        ulna_problem_destroy(*problem);
        *problem = NULL;
    }
    return status;
}

ulna_status ulna_take_zero_start(const ulna_take *take, int frame, ulna_pose *pose, double *q)
{
    if (!take || !pose || !q || frame < 0 || frame >= take->frame_count)
        return ULNA_ERR_ARGUMENT;
    double middle[3] = {0, 0, 0}, x[3], root[3] = {0}, axis[3], origin[3], away[3];
    int seen = 0;
    for (size_t i = 0; i < take->set.count; i++)
        if (ulna_take_position(take, frame, (int)i, x)) {
            for (int k = 0; k < 3; k++)
                middle[k] += x[k];
            seen++;
        }
    ulna_model_zero(take->model, q);
    ulna_status status = ulna_pose_forward(pose, q);
    if (status == ULNA_OK)
        status = ulna_pose_body(pose, 0, root, NULL);
    for (int k = 0; k < 3; k++)
        away[k] = seen ? middle[k] / seen - root[k] : 0;
    for (int d = 0; d < take->model->nv && status == ULNA_OK; d++) {
        int c = take->model->dof_coordinate[d];
        if (ulna_model_dof_body(take->model, d) != 0 || c < 0 || !ulna_model_dof_is_translation(take->model, d))
            continue;
        status = ulna_pose_dof_axis(pose, d, axis, origin);
        q[c] += ulna_dot(axis, away); /* its translations are at right angles */
    }
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------------------- */

typedef struct oracle {
    ulna_track_job *job;
    ulna_pose *pose;
    double *start;         /* nq */
    unsigned char *locked; /* nv */
    ulna_options options;
} oracle;

static ulna_status measure(ulna_track_job *j, ulna_solver *solver, int frame)
{
    ulna_frame_report *r = &j->result->frames[frame];
    ulna_status status = ULNA_OK;
    double squares = 0, d;
    for (size_t i = 0; i < j->take->set.count && status == ULNA_OK; i++) {
        status = ulna_work_term_error(ulna_solver_work(solver), (int)i, &d);
        if (status != ULNA_OK || isnan(d)) /* NaN: a missing marker */
            continue;
        j->result->distances[(size_t)frame * j->take->set.count + i] = d;
        if (!(j->take->set.items[i].weight > 0))
            continue;
        r->seen++;
        r->sum += d;
        squares += d * d;
        r->f += 0.5 * j->take->set.items[i].weight * d * d;
        if (r->worst_marker == ULNA_NONE || d > r->worst) {
            r->worst = d;
            r->worst_marker = (int)i;
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

/* Where the frame starts. `at`: its number in the reference. */
static ulna_status choose_start(oracle *o, int frame, int at)
{
    const ulna_track_job *j = o->job;
    const ulna_track_options *options = j->options;
    const ulna_clip *reference = j->take->reference;
    const double *from = ulna_clip_frame(reference, at > 0 ? at - 1 : at);
    if (options->oracle_start == ULNA_ORACLE_SOLUTION && frame)
        from = ulna_clip_frame(&j->result->clip, frame - 1);
    else if (options->oracle_start != ULNA_ORACLE_REFERENCE && options->start)
        from = options->start;
    else if (options->oracle_start == ULNA_ORACLE_ZERO)
        return ulna_take_zero_start(j->take, frame, o->pose, o->start);
    memcpy(o->start, from, (size_t)j->take->model->nq * sizeof *from);
    return ULNA_OK;
}

/* A frame without markers is held: there is nothing that it could be solved for. */
static ulna_status one_frame(oracle *o, int frame, ulna_error *error)
{
    ulna_track_job *j = o->job;
    const ulna_take *take = j->take;
    int at = frame + take->reference_shift, seen = 0;
    double x[3];
    ulna_problem *problem = NULL;
    ulna_status status = ulna_take_oracle_problem(take, frame, o->pose, &problem, error);
    if (status != ULNA_OK)
        return status;
    for (size_t i = 0; i < take->set.count; i++)
        seen += ulna_take_position(take, frame, (int)i, x);
    status = choose_start(o, frame, at);
    if (status != ULNA_OK)
        ulna_fail(error, status, "frame %lld has no start: %s", (long long)frame + take->first_frame,
                  ulna_status_text(status));
    else if (seen)
        status = solve_frame(o, problem, frame, error);
    else {
        memcpy(ulna_clip_frame(&j->result->clip, frame), o->start, (size_t)take->model->nq * sizeof *o->start);
        j->result->frames[frame] = (ulna_frame_report){.worst_marker = ULNA_NONE, .flags = ULNA_TRACK_EMPTY};
    }
    ulna_problem_destroy(problem);
    return status;
}

ulna_status ulna_track_oracle(ulna_track_job *j, ulna_error *error)
{
    const ulna_allocator *allocator = &j->take->allocator;
    const size_t nq = (size_t)j->take->model->nq, nv = (size_t)j->take->model->nv + 1;
    const unsigned char *given = j->options->solve.locked;
    oracle o = {.job = j, .options = j->options->solve};
    o.options.hybrid.trust_last = 0; /* distances are those of the answer, not of a prediction */
    o.start = ulna_allocate(allocator, nq, sizeof *o.start);
    o.options.locked = o.locked = ulna_allocate(allocator, nv, 1);
    ulna_status status = o.start && o.locked ? ulna_pose_create(j->take->model, allocator, &o.pose, error)
                                             : ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a frame");
    if (status == ULNA_OK)
        ulna_take_idle_dofs(j->take, o.locked);
    for (int d = 0; status == ULNA_OK && given && d < j->take->model->nv; d++)
        o.locked[d] |= given[d] != 0;
    for (int f = 0; f < j->total && status == ULNA_OK && !atomic_load(&j->cancelled); f++) {
        status = one_frame(&o, f, error);
        ulna_track_progress(j);
    }
    ulna_pose_destroy(o.pose);
    ulna_release(allocator, o.start, nq, sizeof *o.start);
    ulna_release(allocator, o.locked, nv, 1);
    return status;
}
