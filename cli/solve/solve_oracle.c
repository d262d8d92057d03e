/*
 * The protocol of the exact-Hessian paper (section 6): in every frame each marker's offset is what that frame's
 * reference pose says, so that f = 0 can be reached, and each frame starts from the solution of the last.
 *
 * Offsets are part of a problem, so every frame has a problem of its own; only the solving is timed. Where f stays
 * above zero, the track is in a trap: a fresh start follows, and the frame counts as recovered or lost.
 */
#include <math.h>
#include <string.h>

#include "cli/solve/solve.h"
#include "ulna/kinematics.h"

#define ZERO_F 1e-8 /* m2: where a solution with f = 0 is found */
#define LOST_F 1e-6

static void options_of(const solve_job *job, ulna_options *o)
{
    *o = ulna_options_default();
    o->method = job->options.solve.method;
    o->bounded = job->options.solve.bounded;
    o->lower = job->options.solve.lower;
    o->upper = job->options.solve.upper;
    o->iterations = job->options.solve.iterations;
    if (!o->method || strcmp(o->method, "hybrid") == 0)
        o->iterations = 200;
    o->objective = 1e-14;
    o->decrease = 1e-6;
    o->stop_below = ZERO_F;
}

static ulna_status make_problem(const solve_job *job, ulna_pose *pose, int frame, ulna_problem **problem,
                                ulna_error *error)
{
    ulna_status status = ulna_problem_create(job->model, NULL, problem, error);
    for (size_t i = 0; i < job->set.count && !status; i++) {
        const ulna_attachment *item = &job->set.items[i];
        double origin[3], rotation[9], place[3] = {0, 0, 0}, offset[3] = {0, 0, 0};
        const double missing[3] = {NAN, NAN, NAN};
        int is_there = solve_marker_at(job, frame, job->source[i], place);
        if (is_there) {
            ulna_pose_body(pose, item->body, origin, rotation);
            for (int k = 0; k < 3; k++)
                for (int j = 0; j < 3; j++)
                    offset[k] += rotation[3 * j + k] * (place[j] - origin[j]);
        }
        status = ulna_problem_add_point(*problem, item->body, offset, place, item->weight, NULL, error);
        if (!status && !is_there)
            status = ulna_problem_set_points(*problem, (int)i, 1, missing);
    }
    return status ? status : ulna_problem_ready(*problem, error);
}

static void measure(solve_job *job, ulna_solver *solver, int frame, ulna_frame_report *r)
{
    double squares = 0;
    for (size_t i = 0; i < job->set.count; i++) {
        double d;
        if (ulna_work_term_error(ulna_solver_work(solver), (int)i, &d) || isnan(d))
            continue;
        solve_add_residual(job, frame, i, d);
        r->seen++;
        r->sum += d;
        squares += d * d;
        r->f += 0.5 * job->set.items[i].weight * d * d;
        if (r->worst_marker == ULNA_NONE || d > r->worst) {
            r->worst = d;
            r->worst_marker = (int)i;
        }
    }
    r->rms = r->seen ? sqrt(squares / r->seen) : 0;
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
static ulna_status solve_frame(solve_job *job, ulna_problem *problem, int frame, const double *from, int is_first,
                               ulna_error *error)
{
    ulna_frame_report *r = &job->frames[frame];
    double *q = ulna_clip_frame(&job->clip, frame);
    size_t bytes = (size_t)job->clip.coordinate_count * sizeof *q;
    ulna_solver *solver = NULL;
    ulna_options options;
    ulna_result result = {0};
    options_of(job, &options);
    ulna_status status = ulna_solver_create(problem, &options, NULL, &solver, error);
    *r = (ulna_frame_report){.worst_marker = ULNA_NONE, .flags = is_first ? ULNA_TRACK_STARTED : 0};
    memcpy(q, from, bytes);
    if (!status && is_first)
        status = ulna_work_align_root(ulna_solver_work(solver), q);
    if (!status)
        status = attempt(solver, q, &result, r);
    if (!status && result.f > ZERO_F) {
        options.restarts = 20;
        ulna_solver_set_options(solver, &options, NULL);
        memcpy(q, from, bytes);
        status = ulna_work_align_root(ulna_solver_work(solver), q);
        if (!status)
            status = attempt(solver, q, &result, r);
        r->flags |= result.f <= ZERO_F && !is_first ? ULNA_TRACK_RECOVERED : 0;
        r->flags |= result.f > LOST_F ? ULNA_TRACK_LOST : 0;
    }
    if (!status) {
        measure(job, solver, frame, r);
        job->stops[result.stop]++;
    } else if (!error->status)
        cli_fail(error, status, "frame %d could not be solved: %s", frame + job->take.first_frame,
                 ulna_status_text(status));
    ulna_solver_destroy(solver);
    return status;
}

static int is_seen(const solve_job *job, int frame)
{
    double position[3];
    int seen = 0;
    for (size_t i = 0; i < job->set.count && !seen; i++)
        seen = solve_marker_at(job, frame, job->source[i], position);
    return seen;
}

/* A frame without markers is held: there is nothing that it could be solved for. */
static ulna_status one_frame(solve_job *job, ulna_pose *pose, int frame, ulna_error *error)
{
    int at = frame + job->reference_shift;
    if (at < 0 || at >= job->reference.frame_count)
        return cli_fail(error, ULNA_ERR_ARGUMENT, "the reference has no frame for frame %d; --frames cuts the take",
                        frame + job->take.first_frame);
    const double *from = frame        ? ulna_clip_frame(&job->clip, frame - 1)
                         : job->start ? job->start
                                      : ulna_model_rest(job->model);
    int is_first = !frame || job->frames[frame - 1].flags & ULNA_TRACK_EMPTY;
    ulna_problem *problem = NULL;
    if (!is_seen(job, frame)) {
        memcpy(ulna_clip_frame(&job->clip, frame), from, (size_t)job->clip.coordinate_count * sizeof *from);
        job->frames[frame] = (ulna_frame_report){.worst_marker = ULNA_NONE, .flags = ULNA_TRACK_EMPTY};
        return ULNA_OK;
    }
    ulna_status status = ulna_pose_forward(pose, ulna_clip_frame(&job->reference, at));
    if (status)
        return cli_fail(error, status, "frame %d of the reference is not a pose", at + job->reference.first_frame);
    status = make_problem(job, pose, frame, &problem, error);
    if (!status)
        status = solve_frame(job, problem, frame, from, is_first, error);
    ulna_problem_destroy(problem);
    return status;
}

static void sum_up(solve_job *job)
{
    ulna_track_summary *s = &job->summary;
    int count = job->take.frame_count, solved = 0;
    *s = (ulna_track_summary){.frames = count, .markers_used = (int)job->set.count};
    for (int f = 0; f < count; f++)
        solved += !(job->frames[f].flags & ULNA_TRACK_EMPTY);
    s->empty = count - solved;
    for (int f = 0; f < count; f++) {
        const ulna_frame_report *r = &job->frames[f];
        s->recovered += (r->flags & ULNA_TRACK_RECOVERED) != 0;
        s->lost += (r->flags & ULNA_TRACK_LOST) != 0;
        s->missing += (long long)job->set.count - r->seen;
        if (r->flags & ULNA_TRACK_EMPTY)
            continue;
        s->rms_mean += r->rms / solved;
        s->sum_mean += r->sum / solved;
        s->f_mean += r->f / solved;
        s->iterations_mean += (double)r->iterations / solved;
        s->evaluations_mean += (double)r->evaluations / solved;
        s->us_mean += 1e6 * r->seconds / solved;
        s->seconds += r->seconds;
        s->rms_max = fmax(s->rms_max, r->rms);
        s->sum_max = fmax(s->sum_max, r->sum);
        s->f_max = fmax(s->f_max, r->f);
        s->us_max = fmax(s->us_max, 1e6 * r->seconds);
        s->iterations_max = r->iterations > s->iterations_max ? r->iterations : s->iterations_max;
    }
}

ulna_status solve_oracle(solve_job *job, ulna_error *error)
{
    ulna_pose *pose = NULL;
    int count = job->take.frame_count;
    ulna_status status = ulna_pose_create(job->model, NULL, &pose, error);
    if (!status && ulna_clip_resize(&job->clip, ulna_model_coordinate_count(job->model), count))
        status = cli_fail(error, ULNA_ERR_MEMORY, "no memory for %d frames", count);
    for (int f = 0; f < count && !status; f++) {
        status = one_frame(job, pose, f, error);
        if (job->options.progress)
            job->options.progress(job->options.progress_context, f + 1, count);
    }
    ulna_pose_destroy(pose);
    if (status)
        return status;
    job->clip.frame_seconds = job->take.frame_seconds;
    job->clip.first_frame = job->take.first_frame;
    sum_up(job);
    return ULNA_OK;
}
