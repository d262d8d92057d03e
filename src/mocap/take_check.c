/*
 * What cannot be right in a take, though a solver would fit it: a wrong unit, positions in one plane, too few markers, markers that
 * stand at the origin because they were not seen. Mirror images and exchanged sides: take_sides.c; names of neighbours: take_names.c.
 */
#include <math.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "mocap/marker_names.h"
#include "mocap/take.h"
#include "model/model.h"

enum {
    SIZE_SAMPLES = 20, /* frames */
    SIZE_STEPS = 12,   /* partners of a marker */
    NEIGHBOURS = 4,
    MOSTLY_KNOWN = 4, /* one offset in so many may be 0 */
    STRAYS = 8        /* one sample in so many may be far off, at either end */
};
#define SIZE_MARGIN 2.0 /* distances to neighbours, and sizes beside a power of ten, differ by less */
#define WRONG_PERSON                                                                                                   \
    1.6            /* a size_ratio above, or its inverse, where bones have the names of people's: not that person's */
#define STEADY 1.5 /* largest distance beside the least one, of markers that are on one body or on its neighbour */
#define ONE_PLACE 1e-5     /* a size_ratio below: no unit is that far off */
#define ONE_PLANE 1e-3     /* range of a coordinate over all frames, beside those of the others */
#define FEWEST_NUMBERS 0.5 /* of markers in one frame, for each degree of freedom: priors cannot give more than half */

/* ---- rest pose ------------------------------------------------------------------------------------------------------------- */

ulna_status ulna_take_rest_positions(const ulna_take *take, double *points)
{
    ulna_pose *pose = NULL;
    ulna_status status = ulna_pose_create(take->model, &take->allocator, &pose, NULL);
    if (status == ULNA_OK)
        status = ulna_pose_forward(pose, take->model->rest);
    for (size_t i = 0; i < take->set.count && status == ULNA_OK; i++)
        status = ulna_pose_point(pose, take->set.items[i].body, take->set.items[i].offset, points + 3 * i);
    ulna_pose_destroy(pose);
    return status;
}

static double distance(const double *points, size_t i, size_t j)
{
    const double *a = points + 3 * i, *b = points + 3 * j;
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return ulna_norm(d);
}

int ulna_take_sample(const ulna_take *take, int sample, int samples)
{
    return (int)((sample + 0.5) * take->frame_count / samples);
}

/* ---- markers at the origin --------------------------------------------------------------------------------------------------- */

/* The nearest ones at rest, of those that are seen; returns how many. */
static int neighbours_at_rest(const ulna_take *take, const double *rest, size_t marker, size_t nearest[NEIGHBOURS])
{
    int count = 0;
    for (size_t i = 0; i < take->set.count; i++) {
        if (i == marker || !take->seen[i])
            continue;
        int at = count < NEIGHBOURS ? count++ : NEIGHBOURS;
        for (; at > 0 && distance(rest, i, marker) < distance(rest, nearest[at - 1], marker); at--)
            if (at < NEIGHBOURS)
                nearest[at] = nearest[at - 1];
        if (at < NEIGHBOURS)
            nearest[at] = i;
    }
    return count;
}

/* A marker of the recording is as far from the origin as `expected`, and stays so: people walk past the origin. */
static int keeps_its_distance(const ulna_take *take, int source, double expected)
{
    double all[SIZE_SAMPLES];
    size_t seen = 0;
    for (int s = 0; s < SIZE_SAMPLES; s++) {
        const double *frame =
            ulna_recording_frame(take->recording, take->skipped + ulna_take_sample(take, s, SIZE_SAMPLES));
        const double *x = frame + 3 * (size_t)source;
        if (ulna_is_position(x) && !ulna_is_zero(x))
            all[seen++] = ulna_norm(x);
    }
    if (!seen)
        return 0;
    ulna_sort_numbers(all, seen);
    double low = all[seen / STRAYS], high = all[seen - 1 - seen / STRAYS], middle = all[seen / 2];
    return middle < SIZE_MARGIN * expected && SIZE_MARGIN * middle > expected && high < STEADY * low;
}

/* As far from its neighbours as on the skeleton, mostly. Axes are not known yet, and do not matter. */
static int belongs_at_origin(const ulna_take *take, const double *rest, size_t marker)
{
    size_t nearest[NEIGHBOURS];
    int count = neighbours_at_rest(take, rest, marker, nearest), kept = 0;
    for (int k = 0; k < count; k++)
        kept += keeps_its_distance(take, take->source[nearest[k]], distance(rest, nearest[k], marker));
    return 2 * kept > count;
}

static long long count_zeros(const ulna_take *take, int source)
{
    long long zeros = 0;
    for (int f = 0; f < take->frame_count; f++)
        zeros += ulna_is_zero(ulna_recording_frame(take->recording, take->skipped + f) + 3 * (size_t)source);
    return zeros;
}

ulna_status ulna_take_check_origin(ulna_take *take)
{
    size_t count = take->set.count;
    double *rest = NULL;
    ulna_status status = ULNA_OK;
    take->at_zero = 0;
    for (size_t i = 0; i < count && status == ULNA_OK; i++) {
        if (!take->is_zero_missing[take->source[i]])
            continue;
        long long zeros = count_zeros(take, take->source[i]);
        if (!rest) {
            rest = ulna_allocate(&take->allocator, 3 * count, sizeof *rest);
            status = rest ? ulna_take_rest_positions(take, rest) : ULNA_ERR_MEMORY;
        }
        if (status == ULNA_OK && zeros == take->frame_count && belongs_at_origin(take, rest, i)) {
            take->is_zero_missing[take->source[i]] = 0;
            take->seen[i] = take->frame_count;
        } else
            take->at_zero += zeros;
    }
    ulna_release(&take->allocator, rest, 3 * count, sizeof *rest);
    return status;
}

/* ---- size -------------------------------------------------------------------------------------------------------------- */

/* Recorded distances beside those at rest, of pairs of markers: `ratios` receives them, their number is returned. */
static size_t pair_ratios(const double *rest, const double *points, size_t count, double *ratios)
{
    size_t found = 0;
    for (size_t step = 1; step <= SIZE_STEPS && step < count; step++)
        for (size_t i = 0; i < count; i++) {
            size_t j = (i + step) % count;
            double expected = distance(rest, i, j), ratio = distance(points, i, j) / expected;
            if (expected > 0 && isfinite(ratio))
                ratios[found++] = ratio;
        }
    return found;
}

/* The median over pairs of markers, then over frames: strays, gaps and bent limbs do not count much. `stretched`: of the frames in
 * which they are farthest apart, since a person may crouch, but hardly throughout. */
static ulna_status compare_sizes(ulna_take *take, double *stretched)
{
    size_t count = take->set.count, room = 6 * count + SIZE_STEPS * count, found = 0;
    double *rest = ulna_allocate(&take->allocator, room, sizeof *rest), frames[SIZE_SAMPLES];
    ulna_status status = rest ? ulna_take_rest_positions(take, rest) : ULNA_ERR_MEMORY;
    for (int s = 0; s < SIZE_SAMPLES && status == ULNA_OK; s++) {
        double *points = rest + 3 * count, *ratios = points + 3 * count;
        ulna_take_positions(take, ulna_take_sample(take, s, SIZE_SAMPLES), points);
        double ratio = ulna_quick_median(ratios, pair_ratios(rest, points, count, ratios));
        if (!isnan(ratio))
            frames[found++] = ratio;
    }
    ulna_sort_numbers(frames, found);
    *stretched = found ? frames[found - 1 - found / STRAYS] : (double)NAN;
    take->size_ratio = ulna_quick_median(frames, found);
    ulna_release(&take->allocator, rest, room, sizeof *rest);
    return status;
}

/* Their rest pose is upright, limbs stretched out. */
static int has_legs(const ulna_model *model)
{
    return ulna_bone_find(model, ULNA_BONES_THIGH, 'l') != ULNA_NONE &&
           ulna_bone_find(model, ULNA_BONES_SHANK, 'l') != ULNA_NONE;
}

/* A table may leave offsets to a calibration: 0, 0, 0. */
static int has_offsets(const ulna_marker_set *set)
{
    size_t unknown = 0;
    for (size_t i = 0; i < set->count; i++)
        unknown += (size_t)ulna_is_zero(set->items[i].offset);
    return unknown <= set->count / MOSTLY_KNOWN;
}

static void check_size(ulna_take *take, double stretched)
{
    double most = has_legs(take->model) && has_offsets(&take->set) ? WRONG_PERSON : ULNA_OTHER_PERSON;
    take->size_factor = 1;
    if (take->size_ratio < ONE_PLACE) {
        take->doubts |= ULNA_DOUBT_SIZE;
        return;
    }
    if (take->set.count <= 2 || !(take->size_ratio > most || stretched < 1 / most))
        return;
    double nearest = pow(10, round(log10(take->size_ratio))), off = take->size_ratio / nearest;
    int is_power = nearest != 1 && off > 1 / SIZE_MARGIN && off < SIZE_MARGIN;
    take->size_factor = is_power ? nearest : take->size_ratio;
    take->doubts |= ULNA_DOUBT_SIZE;
}

/* ---- one plane ------------------------------------------------------------------------------------------------------------ */

/* Key points of one camera have two coordinates, and a third that stays the same. Other skeletons may move in a plane. */
static void check_planes(ulna_take *take)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int s = 0; s < SIZE_SAMPLES; s++) {
        const double *frame =
            ulna_recording_frame(take->recording, take->skipped + ulna_take_sample(take, s, SIZE_SAMPLES));
        for (size_t i = 0; i < take->set.count; i++) {
            const double *x = frame + 3 * (size_t)take->source[i];
            for (int k = 0; k < 3 && ulna_is_position(x) && !ulna_is_zero(x); k++) {
                low[k] = fmin(low[k], x[k]);
                high[k] = fmax(high[k], x[k]);
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        double others = fmin(high[(k + 1) % 3] - low[(k + 1) % 3], high[(k + 2) % 3] - low[(k + 2) % 3]);
        if ((has_legs(take->model) || take->keypoints) && high[k] - low[k] < ONE_PLANE * others)
            take->doubts |= ULNA_DOUBT_FLAT;
    }
}

/* ---- markers ------------------------------------------------------------------------------------------------------------ */

/* Names that are cut to four letters, as in many C3D files, give a few such too. */
static int count_doubled(const ulna_take *take)
{
    const ulna_recording *recording = take->recording;
    int doubled = 0;
    for (size_t i = 0; i < take->set.count; i++) {
        int m = take->source[i] + 1;
        while (m < recording->marker_count && strcmp(recording->names[m], recording->names[take->source[i]]) != 0)
            m++;
        doubled += m < recording->marker_count;
    }
    return doubled;
}

/* Degrees of freedom that move a marker of the set. */
static int count_shown_dofs(const ulna_take *take)
{
    int count = 0;
    for (int b = 0; b < take->model->nb; b++) {
        size_t i = 0;
        while (i < take->set.count && !ulna_model_is_ancestor(take->model, b, take->set.items[i].body))
            i++;
        count += i < take->set.count ? take->model->body[b].dof_count : 0;
    }
    return count;
}

static void check_markers(ulna_take *take)
{
    enum { FREE = 6, ENOUGH = 3, NUMBERS = 3 };
    double x[3];
    take->most_seen = 0;
    for (int f = 0; f < take->frame_count && take->most_seen < (int)take->set.count; f++) {
        int seen = 0;
        for (size_t i = 0; i < take->set.count; i++)
            seen += take->set.items[i].weight > 0 && ulna_take_marker(take, f, take->source[i], x);
        take->most_seen = seen > take->most_seen ? seen : take->most_seen;
    }
    take->shown_dofs = count_shown_dofs(take);
    int is_free = take->model->nb && take->model->body[0].dof_count >= FREE;
    if (is_free && (take->most_seen < ENOUGH || FEWEST_NUMBERS * take->shown_dofs > NUMBERS * take->most_seen))
        take->doubts |= ULNA_DOUBT_FEW;
    take->doubled = count_doubled(take);
    if (take->doubled >= ENOUGH && 2 * (size_t)take->doubled >= take->set.count)
        take->doubts |= ULNA_DOUBT_DOUBLED;
}

/* ---- all of it -------------------------------------------------------------------------------------------------------------- */

ulna_status ulna_take_find_doubts(ulna_take *take, int is_thorough, ulna_error *error)
{
    double stretched;
    take->fit[0] = take->fit[1] = take->fit[2] = (double)NAN;
    take->exchanged[0] = take->exchanged[1] = take->misnamed[0] = take->misnamed[1] = ULNA_NONE;
    if (compare_sizes(take, &stretched) != ULNA_OK || ulna_take_check_parts(take) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %zu markers", take->set.count);
    check_size(take, stretched);
    check_planes(take);
    check_markers(take);
    int is_from_reference =
        take->attach == ULNA_ATTACH_REFERENCE; /* offsets that follow the recording, whatever it is */
    int can_be_fitted = take->size_ratio < ULNA_OTHER_PERSON && take->size_ratio > 1 / ULNA_OTHER_PERSON;
    ulna_status status = ULNA_OK;
    if (!is_from_reference && !take->doubts && has_offsets(&take->set) && ulna_take_check_names(take) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %zu markers", take->set.count);
    if (is_thorough && !is_from_reference && can_be_fitted && !(take->doubts & ~(unsigned)ULNA_DOUBT_SIZE))
        status = ulna_take_check_sides(take, error);
    ulna_take_add_findings(take);
    return status;
}

ulna_status ulna_take_check_numbers(const ulna_take *take, const ulna_clip *clip, ulna_error *error)
{
    for (int f = 0; f < clip->frame_count; f++) {
        const double *q = ulna_clip_frame(clip, f);
        int c = 0;
        if (ulna_all_finite(q, clip->coordinate_count))
            continue;
        while (isfinite(q[c]))
            c++;
        return ulna_fail(error, ULNA_ERR_NUMBER,
                         "coordinate %d of frame %lld came out as NaN or infinite, so nothing is returned: "
                         "look for extreme offsets, weights or positions",
                         c, (long long)take->first_frame + f);
    }
    return ULNA_OK;
}
