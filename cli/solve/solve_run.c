/* The solving of a take, and what there is to say about it afterwards. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve/solve.h"
#include "ulna/kinematics.h"

/* ---- afterwards ---------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static ulna_status find_median(solve_job *job, ulna_error *error)
{
    size_t count = 0;
    double *times = calloc((size_t)job->take.frame_count + 1, sizeof *times);
    if (!times)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    for (int f = 0; f < job->take.frame_count; f++)
        if (!(job->frames[f].flags & ULNA_TRACK_EMPTY))
            times[count++] = 1e6 * job->frames[f].seconds;
    qsort(times, count, sizeof *times, by_size);
    job->us_median = count ? 0.5 * (times[(count - 1) / 2] + times[count / 2]) : 0;
    free(times);
    return ULNA_OK;
}

void solve_add_residual(solve_job *job, int frame, size_t marker, double distance)
{
    solve_marker *m = &job->marker[marker];
    m->seen++;
    m->mean += distance;
    m->rms += distance * distance;
    if (distance > m->worst || m->seen == 1) {
        m->worst = distance;
        m->worst_frame = frame;
    }
}

static void find_worst(solve_job *job)
{
    int worst = 0;
    for (int f = 1; f < job->take.frame_count; f++)
        worst = job->frames[f].rms > job->frames[worst].rms ? f : worst;
    job->worst_frame = worst + job->take.first_frame;
}

static void finish_markers(solve_job *job)
{
    for (size_t i = 0; i < job->set.count; i++)
        if (job->marker[i].seen) {
            job->marker[i].mean /= job->marker[i].seen;
            job->marker[i].rms = sqrt(job->marker[i].rms / job->marker[i].seen);
        }
}

static double distance_of(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* Each marker on the skeleton against the recording. */
static void measure_frame(solve_job *job, const ulna_pose *pose, int frame, double *seen, double *here)
{
    for (size_t i = 0; i < job->set.count; i++) {
        double *at = seen + 3 * i;
        ulna_pose_point(pose, job->set.items[i].body, job->set.items[i].offset, here + 3 * i);
        if (solve_marker_at(job, frame, job->source[i], at))
            solve_add_residual(job, frame, i, distance_of(at, here + 3 * i));
        else
            at[0] = at[1] = at[2] = NAN;
    }
    if (job->frames[frame].flags & ULNA_TRACK_OUTLIERS)
        solve_look_at_outliers(job, frame, seen, here);
}

static ulna_status measure_markers(solve_job *job, ulna_error *error)
{
    ulna_pose *pose = NULL;
    double *seen = calloc(6 * job->set.count + 1, sizeof *seen);
    if (!seen)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    ulna_status status = ulna_pose_create(job->model, NULL, &pose, error);
    for (int f = 0; f < job->take.frame_count && !status; f++) {
        status = ulna_pose_forward(pose, ulna_clip_frame(&job->clip, f));
        if (status)
            cli_fail(error, status, "frame %d is not a pose", f + job->take.first_frame);
        else
            measure_frame(job, pose, f, seen, seen + 3 * job->set.count);
        if (!status)
            solve_measure_constraints(job, pose, f);
    }
    solve_finish_constraints(job);
    free(seen);
    ulna_pose_destroy(pose);
    return status;
}

ulna_status solve_run(solve_job *job, ulna_error *error)
{
    job->frames = calloc((size_t)job->take.frame_count + 1, sizeof *job->frames);
    job->marker = calloc(job->set.count + 1, sizeof *job->marker);
    if (!job->frames || !job->marker)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    ulna_status status = job->attach == ATTACH_ORACLE
                             ? solve_oracle(job, error)
                             : ulna_track(job->model, &job->set, &job->take, job->axes, &job->options, &job->clip,
                                          job->frames, &job->summary, error);
    if (!status && !job->bounded && /* the same poses, without jumps, and with angles where one looks for them */
        (ulna_clip_unwind(job->model, &job->clip) || ulna_clip_home(job->model, &job->clip)))
        status = cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    if (!status && job->attach != ATTACH_ORACLE)
        status = measure_markers(job, error);
    if (status)
        return status;
    finish_markers(job);
    find_worst(job);
    solve_note_trust(job);
    return find_median(job, error);
}
