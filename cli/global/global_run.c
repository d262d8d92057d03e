/* The solving of `ulna global`: frame by frame, each also from where the last one ended. */
#include <math.h>
#include <string.h>

#include "cli/global/global.h"

double global_rms_of(const global_frame *frame, double f)
{
    return frame->turns || !frame->places ? (double)NAN : sqrt(2 * f / frame->weight);
}

/* How far each goal is, by our own count. */
static ulna_status measure(global_job *job, global_frame *frame, const double *q)
{
    double f, squares[2] = {0, 0}, least = INFINITY, most = 0;
    ulna_status status = ulna_work_evaluate(job->work, q, &f);
    for (int i = 0; i < job->goal_count && !status; i++) {
        status = ulna_work_term_error(job->work, i, &frame->errors[i]);
        double weight = job->goal[i].weight;
        if (status || isnan(frame->errors[i]) || !(weight > 0))
            continue;
        squares[job->goal[i].is_turn] += frame->errors[i] * frame->errors[i];
        if (job->goal[i].is_turn) {
            frame->turns++;
            continue;
        }
        frame->places++;
        frame->weight += weight;
        least = fmin(least, weight);
        most = fmax(most, weight);
    }
    frame->is_even = least == most;
    frame->rms_m = sqrt(squares[0] / frame->places); /* NaN if there are none */
    frame->rms_rad = sqrt(squares[1] / frame->turns);
    return status;
}

static ulna_status solve_frame(global_job *job, ulna_global *global, int number, ulna_error *error)
{
    global_frame *frame = &job->frames[number];
    double *q = ulna_clip_frame(&job->poses, number);
    const double *first = job->wanted.start ? job->wanted.start : ulna_model_rest(job->model);
    memcpy(q, number ? ulna_clip_frame(&job->poses, number - 1) : first,
           (size_t)job->poses.coordinate_count * sizeof *q);
    int seen = global_set_frame(job, number);
    if (seen < 0)
        return cli_fail(error, ULNA_ERR_NUMBER, "frame %d has a marker that is infinitely far", frame->number);
    if (seen == 0) { /* any pose will do: it stays */
        frame->found = (ulna_global_result){.stop = ULNA_GLOBAL_PROVEN, .proven = 1};
        return measure(job, frame, q);
    }
    ulna_error why;
    ulna_error_clear(&why);
    ulna_status status = ulna_global_solve(global, q, &frame->found, &why);
    if (!status)
        status = measure(job, frame, q);
    if (status == ULNA_ERR_NUMBER)
        return cli_fail(error, status, "the cost is not a finite number: the goals are too far away");
    if (status)
        return cli_fail(error, status, "%s", *why.message ? why.message : ulna_status_text(status));
    return ULNA_OK;
}

static void add_notes(global_job *job)
{
    const ulna_global_result *first = &job->frames[0].found;
    int empty = 0;
    for (int f = 0; f < job->frame_count; f++)
        empty += job->frames[f].places + job->frames[f].turns == 0;
    if (empty)
        files_note_text(job->notes, "%d frame%s no marker: the pose before stays", empty,
                        empty == 1 ? " has" : "s have");
    if (first->terms_left_out)
        files_note_text(job->notes, "the bound does not know of %d goals: it is true, but may be low",
                        first->terms_left_out);
    if (first->limits_left_out)
        files_note_text(job->notes, "the bound does not know of %d limits: it is true, but may be low",
                        first->limits_left_out);
}

ulna_status global_run(const cli *tool, global_job *job, ulna_error *error)
{
    ulna_global *global = NULL;
    progress bar;
    ulna_status status = ulna_global_create(job->problem, &job->options, NULL, &global, error);
    progress_begin(&bar, tool);
    for (int f = 0; f < job->frame_count && !status; f++) {
        status = solve_frame(job, global, f, error);
        progress_show(&bar, (f + 1.0) / job->frame_count, "frames");
    }
    progress_end(&bar);
    ulna_global_destroy(global);
    if (!status)
        add_notes(job);
    return status;
}
