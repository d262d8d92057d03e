/* A second motion of the take, the ghost: --compare-with, or else the reference. How far the solved joints are from it. */
#include <math.h>

#include "cli/output.h"
#include "cli/solve/solve.h"
#include "ulna/kinematics.h"

const char *solve_ghost_path(const solve_job *job)
{
    return job->compare_path ? job->compare_path : job->reference_path;
}

/* Which of its frames is frame 0 of the take: as for a reference, by number if their counts differ. */
static int shift_of(const solve_job *job, const ulna_clip *clip)
{
    const ulna_take *take = job->take;
    if (clip == &job->reference)
        return take->reference_shift;
    if (clip->frame_count == take->frame_count)
        return 0;
    return clip->frame_count == take->recording->frame_count ? take->skipped : take->first_frame - clip->first_frame;
}

const double *solve_ghost_frame(const solve_job *job, int frame)
{
    const ulna_clip *clip = job->compare_path ? &job->compared : &job->reference;
    long long at = (long long)frame + shift_of(job, clip);
    return at >= 0 && at < clip->frame_count ? ulna_clip_frame(clip, (int)at) : NULL;
}

typedef struct difference {
    double sum, largest;
    int frames, largest_frame;
} difference;

/* Metres between the joints of two poses. */
static void measure_frame(const solve_job *job, const ulna_pose *solved, const ulna_pose *ghost, int frame,
                          difference *d)
{
    int bodies = ulna_model_body_count(job->model);
    double sum = 0;
    for (int b = 0; b < bodies; b++) {
        double x[3], y[3];
        ulna_pose_body(solved, b, x, NULL);
        ulna_pose_body(ghost, b, y, NULL);
        double distance =
            sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) + (x[2] - y[2]) * (x[2] - y[2]));
        sum += distance / bodies;
        if (distance > d->largest) {
            d->largest = distance;
            d->largest_frame = frame;
        }
    }
    d->sum += sum;
    d->frames++;
}

void solve_add_ghost(solve_job *job)
{
    ulna_pose *solved = NULL, *ghost = NULL;
    difference d = {0};
    if (!solve_ghost_path(job))
        return;
    ulna_status status = ulna_pose_create(job->model, NULL, &solved, NULL);
    if (status == ULNA_OK)
        status = ulna_pose_create(job->model, NULL, &ghost, NULL);
    for (int f = 0; f < job->take->frame_count && status == ULNA_OK; f++) {
        const double *q = solve_ghost_frame(job, f);
        if (q && ulna_pose_forward(ghost, q) == ULNA_OK &&
            ulna_pose_forward(solved, ulna_clip_frame(&job->result.clip, f)) == ULNA_OK)
            measure_frame(job, solved, ghost, f, &d);
    }
    ulna_pose_destroy(solved);
    ulna_pose_destroy(ghost);
    if (!d.frames) {
        files_note_text(job->notes, "%s has no frame of this take: nothing is compared", solve_ghost_path(job));
        return;
    }
    json_t *object = put_object(job->object, "compared");
    json_object_set_new(object, "file", cli_json_text(solve_ghost_path(job)));
    put_count(object, "frames", d.frames);
    put_number(object, "joints_mm", 1e3 * d.sum / d.frames);
    put_number(object, "joints_max_mm", 1e3 * d.largest);
    put_count(object, "max_frame", (long long)d.largest_frame + job->take->first_frame);
}
