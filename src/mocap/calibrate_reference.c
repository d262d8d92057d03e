/* Before a calibration: offsets from a motion that is known, and which way is up in a recording. */
#include <math.h>

#include "math/math3.h"
#include "mocap/calibrator.h"
#include "mocap/calibrator_places.h"

enum { MOTION_SAMPLES = 400, AXES_SAMPLES = 30 };
#define SETTLED 0.03 /* m: markers farther from their mean in the bone's frame count less and less */

/* ---- from a motion ------------------------------------------------------------------------------------------------- */

/* Frames that both have: by order if they are as many, else by number. */
typedef struct overlap {
    int clip_first, recording_first, count;
} overlap;

static overlap find_overlap(const ulna_clip *clip, const ulna_recording *recording)
{
    if (clip->frame_count == recording->frame_count)
        return (overlap){0, 0, clip->frame_count};
    int shift = recording->first_frame - clip->first_frame; /* the recording's frame 0 is the clip's frame `shift` */
    int first = shift > 0 ? shift : 0;
    int last = shift + recording->frame_count < clip->frame_count ? shift + recording->frame_count : clip->frame_count;
    return (overlap){first, first - shift, last > first ? last - first : 0};
}

static void gather_marker(const ulna_recording *recording, const double *axes, const overlap *frames, int marker,
                          ulna_places *places)
{
    for (int s = 0; s < places->samples; s++) {
        int frame = frames->recording_first + (int)((s + 0.5) * frames->count / places->samples);
        const double *x = ulna_recording_frame(recording, frame) + 3 * (size_t)marker;
        if (axes)
            ulna_rotate(axes, x, places->x + 3 * s);
        else
            ulna_copy3(x, places->x + 3 * s);
    }
}

static ulna_status place_bodies(const ulna_model *model, const ulna_clip *clip, const overlap *frames,
                                ulna_places *places)
{
    ulna_pose *pose;
    ulna_status status = ulna_pose_create(model, &places->allocator, &pose, NULL);
    for (int s = 0; s < places->samples && status == ULNA_OK; s++) {
        int frame = frames->clip_first + (int)((s + 0.5) * frames->count / places->samples);
        status = ulna_places_set(places, pose, s, ulna_clip_frame(clip, frame));
    }
    if (pose)
        ulna_pose_destroy(pose);
    return status;
}

/* Every marker that was seen, on the body in whose frame it moves least. */
static ulna_status attach_all(const ulna_recording *recording, const double *axes, const overlap *frames,
                              ulna_places *places, ulna_marker_set *set)
{
    ulna_status status = ULNA_OK;
    for (int m = 0; m < recording->marker_count && status == ULNA_OK; m++) {
        double offset[3];
        gather_marker(recording, axes, frames, m, places);
        int body = ulna_places_nearest(places, SETTLED, offset);
        if (body != ULNA_NONE)
            status = ulna_marker_set_add(set, recording->names[m], body, offset, 1);
    }
    return status;
}

static void find_offsets(const ulna_recording *recording, const double *axes, const overlap *frames,
                         ulna_places *places, ulna_marker_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        int m = ulna_recording_find(recording, set->items[i].marker);
        double offset[3];
        if (m == ULNA_NONE)
            continue;
        gather_marker(recording, axes, frames, m, places);
        if (isfinite(ulna_places_mean(places, set->items[i].body, SETTLED, offset)))
            ulna_copy3(offset, set->items[i].offset);
    }
}

ulna_status ulna_marker_set_from_motion(const ulna_model *model, const ulna_clip *clip, const ulna_recording *recording,
                                        const double *axes, ulna_marker_set *set, ulna_error *error)
{
    if (!model || !clip || !recording || !set)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a model, a motion of it, a recording and a marker set are needed");
    if (clip->coordinate_count != model->nq)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "the motion has %d coordinates, the skeleton %d",
                         clip->coordinate_count, model->nq);
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].body >= model->nb)
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "marker '%s' is on a body that the skeleton does not have",
                             set->items[i].marker);
    overlap frames = find_overlap(clip, recording);
    if (frames.count < 1)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "motion and recording have no frame in common: %d from %d on, and %d from %d on",
                         clip->frame_count, clip->first_frame, recording->frame_count, recording->first_frame);
    ulna_places places;
    int samples = frames.count < MOTION_SAMPLES ? frames.count : MOTION_SAMPLES;
    ulna_status status = ulna_places_create(model, samples, &set->allocator, &places);
    if (status == ULNA_OK) {
        status = place_bodies(model, clip, &frames, &places);
        if (status == ULNA_OK && set->count == 0)
            status = attach_all(recording, axes, &frames, &places, set);
        else if (status == ULNA_OK)
            find_offsets(recording, axes, &frames, &places, set);
        ulna_places_release(&places);
    }
    if (status != ULNA_OK)
        return ulna_fail(error, status, "offsets could not be taken from the motion: %s", ulna_status_text(status));
    return set->count ? ULNA_OK : ulna_fail(error, ULNA_ERR_ARGUMENT, "the recording has no marker that was seen");
}

/* ---- which way is up ---------------------------------------------------------------------------------------------------- */

static int axis_of(char letter)
{
    return letter >= 'x' && letter <= 'z' ? letter - 'x' : letter >= 'X' && letter <= 'Z' ? letter - 'X' : -1;
}

/* The skeleton's own up at rest, by letter or by its bones. */
static int up_of_model(const ulna_model *model, char letter, const ulna_pose *rest, double up[3])
{
    double directions[9];
    memset(up, 0, 3 * sizeof *up);
    if (axis_of(letter) >= 0) {
        up[axis_of(letter)] = 1;
        return 1;
    }
    if (!ulna_model_directions(model, rest, directions))
        return 0;
    ulna_copy3(directions + 3, up);
    return 1;
}

static ulna_status make_work(const ulna_model *model, const ulna_marker_set *set, ulna_problem **problem,
                             ulna_work **work, ulna_error *error)
{
    static const double nowhere[3] = {0, 0, 0};
    ulna_status status = ulna_problem_create(model, &set->allocator, problem, error);
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++)
        status = ulna_problem_add_point(*problem, set->items[i].body, set->items[i].offset, nowhere, 1, NULL, error);
    if (status == ULNA_OK)
        status = ulna_problem_ready(*problem, error);
    return status == ULNA_OK ? ulna_work_create(*problem, &set->allocator, work, error) : status;
}

/* Where the skeleton's up points in the recording, on average over frames, after a rigid alignment of the rest pose. */
static ulna_status look_up(ulna_problem *problem, ulna_work *work, const ulna_marker_set *set,
                           const ulna_recording *recording, const ulna_pose *rest, const double up[3], double *q,
                           double seen_up[3])
{
    const ulna_model *model = problem->model;
    double before[9], after[9], local[3], turned[3];
    memset(seen_up, 0, 3 * sizeof *seen_up);
    ulna_pose_body_relative(rest, 0, NULL, before);
    ulna_unrotate(before, up, local);
    ulna_status status = ULNA_OK;
    for (int s = 0; s < AXES_SAMPLES && status == ULNA_OK; s++) {
        int frame = (int)((s + 0.5) * recording->frame_count / AXES_SAMPLES);
        for (size_t i = 0; i < set->count && status == ULNA_OK; i++) {
            static const double missing[3] = {NAN, NAN, NAN};
            int m = ulna_recording_find(recording, set->items[i].marker);
            const double *x = m == ULNA_NONE ? missing : ulna_recording_frame(recording, frame) + 3 * (size_t)m;
            status = ulna_problem_set_points(problem, (int)i, 1, ulna_all_finite(x, 3) ? x : missing);
        }
        memcpy(q, model->rest, (size_t)model->nq * sizeof *q);
        if (status == ULNA_OK)
            status = ulna_work_align_root(work, q);
        if (status == ULNA_OK) {
            ulna_pose_body_relative(work->pose, 0, NULL, after);
            ulna_rotate(after, local, turned);
            for (int k = 0; k < 3; k++)
                seen_up[k] += turned[k];
        }
    }
    return status;
}

static ulna_status find_up(const ulna_model *model, const ulna_marker_set *set, const ulna_recording *recording,
                           const ulna_pose *rest, const double up[3], double seen_up[3], ulna_error *error)
{
    ulna_problem *problem = NULL;
    ulna_work *work = NULL;
    double *q = ulna_allocate(&set->allocator, (size_t)model->nq, sizeof *q);
    ulna_status status = q ? make_work(model, set, &problem, &work, error) : ULNA_ERR_MEMORY;
    if (status == ULNA_OK)
        status = look_up(problem, work, set, recording, rest, up, q, seen_up);
    ulna_work_destroy(work);
    ulna_problem_destroy(problem);
    ulna_release(&set->allocator, q, (size_t)model->nq, sizeof *q);
    return status;
}

/* Row k of the turn number `way` is the axis k + way of the recording. */
static void circle(int way, double axes[9])
{
    for (int k = 0; k < 9; k++)
        axes[k] = k % 3 == (k / 3 + way) % 3;
}

ulna_status ulna_recording_axes(const ulna_model *model, const ulna_marker_set *set, const ulna_recording *recording,
                                char up, char model_up, double axes[9], ulna_error *error)
{
    if (!model || !axes || (axis_of(up) < 0 && (!set || !set->count || !recording || recording->frame_count < 1)))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a model, a marker set and a recording with frames are needed");
    ulna_pose *rest;
    double own_up[3], seen_up[3] = {0}, best = -INFINITY;
    ulna_status status = ulna_pose_create(model, set ? &set->allocator : NULL, &rest, error);
    if (status != ULNA_OK)
        return status;
    status = ulna_pose_forward(rest, model->rest);
    if (status == ULNA_OK && !up_of_model(model, model_up, rest, own_up))
        status = ulna_fail(error, ULNA_ERR_MODEL,
                           "neither the file nor the names of its bones tell which way is up for the skeleton");
    else if (status == ULNA_OK && axis_of(up) >= 0)
        seen_up[axis_of(up)] = 1;
    else if (status == ULNA_OK)
        status = find_up(model, set, recording, rest, own_up, seen_up, error);
    ulna_pose_destroy(rest);
    if (status != ULNA_OK)
        return status;
    int chosen = 0;
    for (int way = 0; way < 3; way++) {
        double turned[3];
        circle(way, axes);
        ulna_rotate(axes, seen_up, turned);
        double upright = ulna_dot(turned, own_up);
        if (upright > best + 1e-9) {
            best = upright;
            chosen = way;
        }
    }
    circle(chosen, axes);
    return ULNA_OK;
}
