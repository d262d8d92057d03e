/*
 * Where markers sit, from a motion of the same take: a marker belongs to the body that sees it move least.
 *
 * In the frame of body b marker m is at x(f) = R_b(f)^T (p_m(f) - o_b(f)). Its offset there is a robust mean of x over the frames,
 * and how well b carries m is the variance. Of bodies that move as one, the nearest has it.
 */
#include <string.h>

#include "base/base.h"
#include "mocap/anatomy.h"
#include "mocap/take.h"
#include "model/model.h"

enum { MOTION_SAMPLES = 400, AXES_SAMPLES = 60, PASSES = 6 };
#define SETTLED 0.03 /* m on an adult: markers farther from their mean in the body's frame count less and less */
#define ALIKE 0.01   /* of the spread: bodies that move as one see the same */

static size_t frame_doubles(const ulna_places *p)
{
    return 12 * (size_t)p->samples * (size_t)p->bodies;
}

ulna_status ulna_places_create(const ulna_model *model, int samples, const ulna_allocator *allocator,
                               ulna_places *places)
{
    *places = (ulna_places){
        .allocator = *allocator, .model = model, .samples = samples, .bodies = ulna_model_body_count(model)};
    places->frames = ulna_allocate(allocator, frame_doubles(places), sizeof(double));
    places->x = ulna_allocate(allocator, 3 * (size_t)samples, sizeof(double));
    if (places->frames && places->x)
        return ULNA_OK;
    ulna_places_release(places);
    return ULNA_ERR_MEMORY;
}

void ulna_places_release(ulna_places *places)
{
    ulna_release(&places->allocator, places->frames, frame_doubles(places), sizeof(double));
    ulna_release(&places->allocator, places->x, 3 * (size_t)places->samples, sizeof(double));
    places->frames = places->x = NULL;
}

ulna_status ulna_places_set(ulna_places *places, ulna_pose *pose, int sample, const double *q)
{
    double *to = places->frames + 12 * (size_t)sample * (size_t)places->bodies;
    ulna_status status = ulna_pose_forward(pose, q);
    for (int b = 0; b < places->bodies && status == ULNA_OK; b++, to += 12)
        status = ulna_pose_body(pose, b, to + 9, to);
    return status;
}

static int local_place(const ulna_places *p, int sample, int body, double local[3])
{
    const double *x = p->x + 3 * (size_t)sample;
    const double *frame = p->frames + 12 * ((size_t)sample * (size_t)p->bodies + (size_t)body);
    double d[3] = {x[0] - frame[9], x[1] - frame[10], x[2] - frame[11]};
    ulna_unrotate(frame, d, local);
    return ulna_all_finite(x, 3);
}

/* Mean of the marker in places->x in the frame of a body, and its variance about that (m^2). Both are weighted by Geman-McClure's
 * loss, so that outliers do not move them: the first pass is a plain mean, the next ones weigh by the distance from the mean
 * before, with a scale that gets narrower. INFINITY if the marker was never seen. */
static double mean_place(const ulna_places *places, int body, double scale, double mean[3])
{
    double spread = INFINITY, local[3], off[3];
    memset(mean, 0, 3 * sizeof *mean);
    for (int pass = 0; pass <= PASSES; pass++) {
        double sum[3] = {0}, weight = 0, squares = 0, unit = scale * ldexp(1, pass < 4 ? 4 - pass : 0);
        int seen = 0;
        for (int s = 0; s < places->samples; s++) {
            if (!local_place(places, s, body, local))
                continue;
            ulna_subtract3(local, mean, off);
            double square = ulna_dot(off, off), r = unit * unit / (unit * unit + square), w = pass ? r * r : 1;
            for (int k = 0; k < 3; k++)
                sum[k] += w * local[k];
            weight += w;
            squares += w * square;
            seen++;
        }
        if (!seen || !(weight > 0))
            return INFINITY;
        spread = squares / weight * (seen / weight); /* few that agree are no body's marker */
        for (int k = 0; k < 3; k++)
            mean[k] = sum[k] / weight;
    }
    return spread;
}

static double settled(const ulna_places *places)
{
    return SETTLED * places->model->length_scale / ULNA_ADULT_LENGTH_SCALE;
}

int ulna_places_nearest(const ulna_places *places, double scale, double mean[3], double *spread)
{
    int best = ULNA_NONE;
    double least = INFINITY, here[3];
    for (int b = 0; b < places->bodies; b++) {
        if (b && !ulna_model_body_dofs(places->model, b, NULL)) /* it moves with its parent */
            continue;
        double found = mean_place(places, b, scale, here);
        int is_better = found < (1 - ALIKE) * least;
        int is_nearer = best != ULNA_NONE && found <= (1 + ALIKE) * least && ulna_norm(here) < ulna_norm(mean);
        if (isinf(found) || !(best == ULNA_NONE || is_better || is_nearer))
            continue;
        least = found;
        best = b;
        ulna_copy3(here, mean);
    }
    if (spread)
        *spread = least;
    return best;
}

/* ---- the motion ------------------------------------------------------------------------------------------------------- */

/* Frames of the take that the reference has, and samples of them. */
typedef struct stretch {
    int first, count;
} stretch;

static int sample_frame(const stretch *frames, int sample, int samples)
{
    return frames->first + (int)((sample + 0.5) * frames->count / samples);
}

static ulna_status place_bodies(const ulna_take *take, int most, stretch *frames, ulna_places *places,
                                ulna_error *error)
{
    int shift = take->reference_shift, end = take->reference->frame_count - shift;
    frames->first = shift < 0 ? -shift : 0;
    frames->count = (end < take->frame_count ? end : take->frame_count) - frames->first;
    ulna_pose *pose = NULL;
    int samples = frames->count < most ? frames->count : most;
    ulna_status status = ulna_places_create(take->model, samples, &take->allocator, places);
    if (status == ULNA_OK)
        status = ulna_pose_create(take->model, &take->allocator, &pose, NULL);
    if (status != ULNA_OK)
        ulna_fail(error, status, "no memory for %d poses of the reference", samples);
    for (int s = 0; s < samples && status == ULNA_OK; s++) {
        int frame = sample_frame(frames, s, samples) + shift;
        status = ulna_places_set(places, pose, s, ulna_clip_frame(take->reference, frame));
        if (status != ULNA_OK)
            ulna_fail(error, status, "frame %lld of the reference is not a valid pose",
                      (long long)frame + take->reference->first_frame);
    }
    ulna_pose_destroy(pose);
    if (status != ULNA_OK)
        ulna_places_release(places);
    return status;
}

static void gather(const ulna_take *take, const stretch *frames, int marker, ulna_places *places)
{
    for (int s = 0; s < places->samples; s++)
        ulna_take_marker(take, sample_frame(frames, s, places->samples), marker, places->x + 3 * (size_t)s);
}

/* Adds the markers of the recording that the set does not have. */
static ulna_status attach_all(const ulna_take *take, const stretch *frames, ulna_places *places, ulna_marker_set *set)
{
    const ulna_recording *recording = take->recording;
    size_t markers = (size_t)recording->marker_count;
    unsigned char *is_attached = ulna_allocate(&take->allocator, markers + 1, 1); /* there may be none */
    ulna_status status = is_attached ? ULNA_OK : ULNA_ERR_MEMORY;
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++) {
        int found = ulna_recording_find(recording, set->items[i].marker);
        if (found != ULNA_NONE)
            is_attached[found] = 1;
    }
    for (int m = 0; m < (int)markers && status == ULNA_OK; m++) {
        const char *name = is_attached[m] ? NULL : ulna_marker_own_name(recording, m);
        double offset[3];
        if (!name)
            continue;
        gather(take, frames, m, places);
        int body = ulna_places_nearest(places, settled(places), offset, NULL);
        if (body != ULNA_NONE)
            status = ulna_marker_set_add(set, name, body, offset, 1);
    }
    ulna_release(&take->allocator, is_attached, markers + 1, 1);
    return status;
}

static void find_offsets(const ulna_take *take, const stretch *frames, ulna_places *places, ulna_marker_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        int m = ulna_recording_find(take->recording, set->items[i].marker);
        double offset[3];
        if (m == ULNA_NONE)
            continue;
        gather(take, frames, m, places);
        if (isfinite(mean_place(places, set->items[i].body, settled(places), offset)))
            ulna_copy3(offset, set->items[i].offset);
    }
}

ulna_status ulna_marker_set_from_motion(const ulna_take *take, int all, ulna_marker_set *set, ulna_error *error)
{
    ulna_places places;
    stretch frames;
    ulna_status status = place_bodies(take, MOTION_SAMPLES, &frames, &places, error);
    if (status != ULNA_OK)
        return status;
    find_offsets(take, &frames, &places, set);
    if (all)
        status = attach_all(take, &frames, &places, set);
    ulna_places_release(&places);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "offsets cannot be computed from the motion: %s", ulna_status_text(status));
    return set->count ? ULNA_OK : ulna_fail(error, ULNA_ERR_ARGUMENT, "no marker of the recording is ever visible");
}

ulna_status ulna_take_marker_motion(ulna_take *take, double axes[3][9], double motion[3], ulna_error *error)
{
    ulna_places places;
    stretch frames;
    memset(motion, 0, 3 * sizeof *motion);
    ulna_status status = place_bodies(take, AXES_SAMPLES, &frames, &places, error);
    if (status != ULNA_OK)
        return status;
    for (int way = 0; way < 3; way++) {
        memcpy(take->axes, axes[way], sizeof take->axes);
        for (int m = 0; m < take->recording->marker_count; m++) {
            double mean[3], spread;
            if (!ulna_marker_own_name(take->recording, m))
                continue;
            gather(take, &frames, m, &places);
            if (ulna_places_nearest(&places, settled(&places), mean, &spread) != ULNA_NONE)
                motion[way] += spread;
        }
    }
    ulna_places_release(&places);
    return ULNA_OK;
}
