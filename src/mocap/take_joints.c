/*
 * Recordings of the skeleton's own joints, such as `ulna convert` makes of a motion: markers called after bones, at their origins.
 *
 * Names say what a marker may be, but key points and markers on the skin are called Head, LeftWrist or LeftKnee, too. Lengths say
 * whether it is: two joints at the ends of a stiff part of the skeleton are as far apart in every frame as they are there. Which parts
 * are stiff is found by bending the skeleton. All lengths of a recording in another unit are wrong by the same factor. Estimates of joints
 * have about the right lengths, too, but these change from frame to frame.
 */
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "kinematics/pose.h"
#include "mocap/take.h"
#include "model/model.h"

/* Of the lengths, together: people of the same height differ by more, and so do markers on their skin. */
#define AS_LONG 0.01
#define OTHER_UNIT 3.0 /* beyond this factor it is the unit, and not another person */
#define STIFF 1e-6     /* of the length scale */
#define BEND 0.7       /* radians, at most */

enum { FEWEST_LENGTHS = 3, BENDS = 2, SAMPLES = 200, MOST_COMPARISONS = 10000000 };

typedef struct joints_job {
    const ulna_take *take;
    int *marker;           /* nb: that has the bone's name; ULNA_NONE */
    int found;             /* how many have one */
    int named;             /* markers of the recording that have a name */
    double *rest, *place;  /* nb x 3: origins at rest, and bent */
    double *q, *step;      /* nq, nv */
    double *length, *seen; /* nb: of the part that ends at this joint, on the skeleton and in the recording; 0: none */
    double *numbers;       /* SAMPLES or nb */
} joints_job;

static void take_arrays(joints_job *job, ulna_arena *arena)
{
    const ulna_model *model = job->take->model;
    size_t nb = (size_t)model->nb;
    job->marker = ulna_arena_take(arena, nb, sizeof *job->marker);
    job->rest = ulna_arena_take(arena, 3 * nb, sizeof *job->rest);
    job->place = ulna_arena_take(arena, 3 * nb, sizeof *job->place);
    job->q = ulna_arena_take(arena, (size_t)model->nq, sizeof *job->q);
    job->step = ulna_arena_take(arena, (size_t)model->nv, sizeof *job->step);
    job->length = ulna_arena_take(arena, nb, sizeof *job->length);
    job->seen = ulna_arena_take(arena, nb, sizeof *job->seen);
    job->numbers = ulna_arena_take(arena, nb > SAMPLES ? nb : SAMPLES, sizeof *job->numbers);
}

/* ---- names ---------------------------------------------------------------------------------------------------------- */

/* The bone of exactly that name; failing that, of the same name without prefixes and in other letters. */
static int bone_named(const joints_job *job, const char *name)
{
    const ulna_model *model = job->take->model;
    int body = ulna_model_find_body(model, name);
    for (int b = 0; b < model->nb && body == ULNA_NONE; b++)
        if (ulna_compare_names(ulna_name_without_prefix(name),
                               ulna_name_without_prefix(ulna_model_body_name(model, b))) == 0)
            body = b;
    return body;
}

static void find_names(joints_job *job)
{
    const ulna_recording *recording = job->take->recording;
    for (int b = 0; b < job->take->model->nb; b++)
        job->marker[b] = ULNA_NONE;
    for (int m = 0; m < recording->marker_count; m++) {
        const char *name = ulna_marker_own_name(recording, m);
        int body = name ? bone_named(job, recording->names[m]) : ULNA_NONE;
        job->named += name != NULL;
        if (body == ULNA_NONE || job->marker[body] != ULNA_NONE)
            continue;
        job->marker[body] = m;
        job->found++;
    }
}

/* ---- lengths -------------------------------------------------------------------------------------------------------- */

static double distance(const double *a, const double *b)
{
    double d[3];
    ulna_subtract3(b, a, d);
    return ulna_norm(d);
}

/* The next joint above that has a marker. */
static int joint_above(const joints_job *job, int body)
{
    int up = job->take->model->body[body].parent;
    while (up != ULNA_NONE && job->marker[up] == ULNA_NONE)
        up = job->take->model->body[up].parent;
    return up;
}

/* How far the distance of two joints is from a length, the median in the take; 0 if they are never seen together. */
static double distance_from(const joints_job *job, int a, int b, double length)
{
    const ulna_take *take = job->take;
    size_t count = 0;
    for (int s = 0; s < SAMPLES && s < take->frame_count; s++) {
        int frame = take->frame_count > SAMPLES ? ulna_take_sample(take, s, SAMPLES) : s;
        const double *row = ulna_recording_frame(take->recording, take->skipped + frame);
        const double *x = row + 3 * (size_t)job->marker[a], *y = row + 3 * (size_t)job->marker[b];
        if (ulna_is_position(x) && ulna_is_position(y) && !ulna_is_zero(x) && !ulna_is_zero(y))
            job->numbers[count++] = fabs(distance(x, y) - length);
    }
    return count ? ulna_median(job->numbers, count) : 0;
}

/* Lengths that bending does not change. */
static ulna_status find_stiff_parts(joints_job *job)
{
    const ulna_model *model = job->take->model;
    uint64_t random = 1;
    ulna_pose *pose;
    ulna_status status = ulna_pose_create(model, &job->take->allocator, &pose, NULL);
    for (int bend = 0; bend <= BENDS && status == ULNA_OK; bend++) {
        double *place = bend ? job->place : job->rest;
        for (int d = 0; d < model->nv; d++) {
            double unit = ulna_segment_is_translation(model->dof_segment[d]) ? model->length_scale : 1;
            job->step[d] = bend ? BEND * unit * (2 * ulna_random_uniform(&random) - 1) : 0;
        }
        ulna_model_integrate(model, model->rest, job->step, job->q);
        status = ulna_pose_forward(pose, job->q);
        for (int b = 0; b < model->nb && status == ULNA_OK; b++)
            status = ulna_pose_body(pose, b, place + 3 * b, NULL);
        for (int b = 0; b < model->nb && status == ULNA_OK; b++) {
            int up = job->marker[b] == ULNA_NONE ? ULNA_NONE : joint_above(job, b);
            double length = up == ULNA_NONE ? 0 : distance(place + 3 * up, place + 3 * b);
            if (!bend)
                job->length[b] = length > STIFF * model->length_scale ? length : 0;
            else if (fabs(length - job->length[b]) > STIFF * model->length_scale)
                job->length[b] = 0;
        }
    }
    ulna_pose_destroy(pose);
    return status;
}

/* Whether the recording has the lengths of the skeleton. Where few can be compared, all names must be those of bones, too. */
static int are_joints(joints_job *job)
{
    int count = 0;
    double all = 0, off = 0;
    for (int b = 0; b < job->take->model->nb; b++)
        job->seen[b] = job->length[b] > 0 ? distance_from(job, joint_above(job, b), b, 0) : 0;
    for (int b = 0; b < job->take->model->nb; b++)
        if (job->seen[b] > 0)
            job->numbers[count++] = job->seen[b] / job->length[b];
    if (count < FEWEST_LENGTHS && job->found < job->named)
        return 0;
    if (!count)
        return 1;
    double ratio = ulna_median(job->numbers, (size_t)count);
    for (int b = 0; b < job->take->model->nb; b++)
        if (job->seen[b] > 0) {
            all += ratio * job->length[b];
            off += distance_from(job, joint_above(job, b), b, ratio * job->length[b]);
        }
    return off <= AS_LONG * all && (fabs(ratio - 1) <= AS_LONG || ratio > OTHER_UNIT || ratio < 1 / OTHER_UNIT);
}

/* ---- all of it ------------------------------------------------------------------------------------------------------ */

static ulna_status add_joints(const joints_job *job, ulna_marker_set *set)
{
    static const double origin[3] = {0, 0, 0};
    ulna_status status = ULNA_OK;
    for (int b = 0; b < job->take->model->nb && status == ULNA_OK; b++) {
        if (job->marker[b] == ULNA_NONE)
            continue;
        status = ulna_marker_set_add(set, job->take->recording->names[job->marker[b]], b, origin, 1);
        if (status == ULNA_OK)
            set->items[set->count - 1].is_joint = 1;
    }
    return status;
}

ulna_status ulna_take_find_joints(const ulna_take *take, ulna_marker_set *set, int *named)
{
    joints_job job = {.take = take};
    ulna_arena arena = {0};
    *named = 0;
    if ((double)take->recording->marker_count * take->model->nb > MOST_COMPARISONS)
        return ULNA_OK;
    take_arrays(&job, &arena);
    size_t bytes = arena.used;
    void *memory = arena.failed ? NULL : ulna_allocate(&take->allocator, bytes, 1);
    if (!memory)
        return ULNA_ERR_MEMORY;
    arena = (ulna_arena){memory, 0, 0};
    take_arrays(&job, &arena);
    find_names(&job);
    *named = job.named;
    ulna_status status = ULNA_OK;
    if (job.found) {
        status = find_stiff_parts(&job);
        if (status == ULNA_OK && are_joints(&job))
            status = add_joints(&job, set);
    }
    ulna_release(&take->allocator, memory, bytes, 1);
    return status;
}
