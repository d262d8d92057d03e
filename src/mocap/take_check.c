/*
 * What cannot be right in a take, though a solver would fit it: a wrong unit, a mirror image, exchanged sides, too few markers,
 * markers that stand at the origin because they were not seen.
 *
 * A mirror image is found by fits: the skeleton is fitted to a few frames as they are, to their mirror image, and to the frames
 * with the markers of left and right exchanged. People are nearly their own mirror image: mirrored axes look like exchanged
 * names. Where one of the two explains the recording better, it is named; else both are. An alarm needs a fit whose
 * error is less than three quarters of that of the recording as it is, in the median over the frames.
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
    STRAYS = 8, /* one sample in so many may be far off, at either end */
    FIT_FRAMES = 5,
    FIT_PROBES = 12, /* frames of which the one with most markers is fitted */
    RESTARTS = 2,
    FEWEST_PAIRED = 6, /* markers of a pelvis alone do not tell */
    MOSTLY_PAIRED = 4, /* one marker in so many may have no partner */
    WAYS = 3
};
#define SIZE_MARGIN 2.0 /* people and their skeletons differ by less */
#define WRONG_SIZE 5.0  /* a size_ratio above, or its inverse: no skeleton of that person */
#define STEADY 1.5      /* largest distance beside the least one, of markers that are on one body or on its neighbour */
#define ONE_PLACE 1e-5  /* a size_ratio below: no unit is that far off */
#define FEWEST_NUMBERS 0.5 /* of markers in one frame, for each degree of freedom: priors cannot give more than half */
#define GOOD_FIT 0.02      /* of the skeleton's length: 3 cm for an adult. No need to try the mirror image */
#define MUCH_BETTER 0.75   /* RMS of the mirror image, beside that of the take as it is */
#define BETTER 0.75        /* RMS of one explanation, beside that of the other */

/* ---- rest pose ------------------------------------------------------------------------------------------------------------- */

/* The set's markers on the skeleton at rest, count x 3. */
static ulna_status rest_positions(const ulna_take *take, double *points)
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

static int sample_frame(const ulna_take *take, int sample, int samples)
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
            ulna_recording_frame(take->recording, take->skipped + sample_frame(take, s, SIZE_SAMPLES));
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
            status = rest ? rest_positions(take, rest) : ULNA_ERR_MEMORY;
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

/* The median over pairs of markers, then over frames: strays, gaps and bent limbs do not count much. */
static ulna_status compare_sizes(ulna_take *take)
{
    size_t count = take->set.count, room = 6 * count + SIZE_STEPS * count, found = 0;
    double *rest = ulna_allocate(&take->allocator, room, sizeof *rest), frames[SIZE_SAMPLES];
    ulna_status status = rest ? rest_positions(take, rest) : ULNA_ERR_MEMORY;
    for (int s = 0; s < SIZE_SAMPLES && status == ULNA_OK; s++) {
        double *points = rest + 3 * count, *ratios = points + 3 * count;
        ulna_take_positions(take, sample_frame(take, s, SIZE_SAMPLES), points);
        double ratio = ulna_median(ratios, pair_ratios(rest, points, count, ratios));
        if (!isnan(ratio))
            frames[found++] = ratio;
    }
    take->size_ratio = ulna_median(frames, found);
    ulna_release(&take->allocator, rest, room, sizeof *rest);
    return status;
}

static void check_size(ulna_take *take)
{
    take->size_factor = 1;
    if (take->size_ratio < ONE_PLACE) {
        take->doubts |= ULNA_DOUBT_SIZE;
        return;
    }
    if (take->set.count <= 2 || !(take->size_ratio > WRONG_SIZE || take->size_ratio < 1 / WRONG_SIZE))
        return;
    double nearest = pow(10, round(log10(take->size_ratio))), off = take->size_ratio / nearest;
    take->size_factor = off > 1 / SIZE_MARGIN && off < SIZE_MARGIN ? nearest : take->size_ratio;
    take->doubts |= ULNA_DOUBT_SIZE;
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

/* ---- mirror images --------------------------------------------------------------------------------------------------------- */

/* partner[i]: the marker on the other side; itself on a body of the midline; else ULNA_NONE. Returns how many have one. */
static size_t find_partners(const ulna_take *take, int *partner)
{
    size_t found = 0;
    for (size_t i = 0; i < take->set.count; i++) {
        int has_side = ulna_mirror_body(take->model, take->set.items[i].body) != ULNA_NONE;
        partner[i] = has_side ? ULNA_NONE : (int)i;
        for (size_t j = 0; j < take->set.count; j++)
            if (j != i && ulna_names_are_partners(take->set.items[i].marker, take->set.items[j].marker))
                partner[i] = (int)j;
        found += partner[i] != ULNA_NONE && partner[i] != (int)i;
    }
    return found;
}

/* A marker of the set that is not in the recording, which has one of the other side instead: names were exchanged. */
static int has_other_side(const ulna_take *take)
{
    for (size_t i = 0; i < take->absent.count; i++)
        for (int k = 0; k < take->unused_count; k++) {
            const char *name = take->recording->names[take->unused[k]];
            if (ulna_names_are_partners(take->absent.items[i].marker, name))
                return 1;
        }
    return 0;
}

typedef struct fitting {
    const ulna_take *take;
    ulna_tracker *tracker;
    int frames[FIT_FRAMES];
    int *partner;                 /* set.count */
    double *points, *changed, *q; /* set.count x 3, the same, nq */
} fitting;

/* Frames of all parts of the take, with as many markers as there are thereabouts. */
static void choose_frames(fitting *f)
{
    for (int k = 0; k < FIT_FRAMES; k++) {
        int most = -1;
        for (int p = 0; p < FIT_PROBES; p++) {
            int frame = sample_frame(f->take, k * FIT_PROBES + p, FIT_FRAMES * FIT_PROBES), seen = 0;
            ulna_take_positions(f->take, frame, f->points);
            for (size_t i = 0; i < f->take->set.count; i++)
                seen += !isnan(f->points[3 * i]);
            if (seen > most) {
                most = seen;
                f->frames[k] = frame;
            }
        }
    }
}

static void change(const fitting *f, int way)
{
    for (size_t i = 0; i < f->take->set.count; i++) {
        int from = way == 2 ? f->partner[i] : (int)i;
        for (int k = 0; k < 3; k++)
            f->changed[3 * i + (size_t)k] = from == ULNA_NONE ? (double)NAN : f->points[3 * from + k];
        if (way == 1)
            f->changed[3 * i] = -f->changed[3 * i];
    }
}

/* The median RMS of the frames, as they are (0), mirrored (1), or with sides exchanged (2). */
static ulna_status fit(const fitting *f, int way, double *rms)
{
    double all[FIT_FRAMES];
    size_t count = 0;
    ulna_status status = ULNA_OK;
    for (int k = 0; k < FIT_FRAMES && status == ULNA_OK; k++) {
        ulna_frame_report report;
        ulna_take_positions(f->take, f->frames[k], f->points);
        change(f, way);
        ulna_tracker_reset(f->tracker, NULL);
        status = ulna_tracker_frame(f->tracker, f->changed, f->q, &report);
        if (status == ULNA_OK && report.seen)
            all[count++] = report.rms;
    }
    *rms = ulna_median(all, count);
    return status;
}

static ulna_status fit_all(ulna_take *take, fitting *f)
{
    choose_frames(f);
    size_t paired = find_partners(take, f->partner), alone = 0;
    for (size_t i = 0; i < take->set.count; i++)
        alone += f->partner[i] == ULNA_NONE;
    int has_sides =
        paired >= FEWEST_PAIRED && alone * MOSTLY_PAIRED <= take->set.count; /* those left out fit no worse */
    ulna_status status = fit(f, 0, &take->fit[0]);
    if (!(take->fit[0] > GOOD_FIT * ulna_model_length_scale(take->model)))
        return status;
    for (int way = 1; way < WAYS && status == ULNA_OK && (way < 2 || has_sides); way++)
        status = fit(f, way, &take->fit[way]);
    double mirrored = take->fit[1], exchanged = take->fit[2];
    if (!(fmin(mirrored, exchanged) < MUCH_BETTER * take->fit[0]))
        return status;
    int is_mirrored = isnan(exchanged) || mirrored < BETTER * exchanged;
    int is_exchanged = !is_mirrored && (exchanged < BETTER * mirrored || has_other_side(take));
    take->doubts |= is_exchanged ? 0 : ULNA_DOUBT_MIRRORED;
    take->doubts |= is_mirrored ? 0 : ULNA_DOUBT_SIDES;
    return status;
}

static ulna_status check_sides(ulna_take *take, ulna_error *error)
{
    size_t count = take->set.count, room = 6 * count + (size_t)take->model->nq;
    ulna_track_options options = ulna_track_options_default();
    fitting f = {.take = take};
    options.fresh.restarts = RESTARTS;
    double *memory = ulna_allocate(&take->allocator, room, sizeof *memory);
    f.partner = ulna_allocate(&take->allocator, count, sizeof *f.partner);
    ulna_status status = memory && f.partner ? ULNA_OK : ULNA_ERR_MEMORY;
    if (status != ULNA_OK)
        ulna_fail(error, status, "no memory for a frame");
    else
        status = ulna_tracker_create(take->model, &take->set, &options, &take->allocator, &f.tracker, error);
    if (status == ULNA_OK) {
        f.points = memory;
        f.changed = memory + 3 * count;
        f.q = memory + 6 * count;
        status = fit_all(take, &f);
        if (status != ULNA_OK)
            ulna_fail(error, status, "the take cannot be checked: %s", ulna_status_text(status));
    }
    ulna_tracker_destroy(f.tracker);
    ulna_release(&take->allocator, f.partner, count, sizeof *f.partner);
    ulna_release(&take->allocator, memory, room, sizeof *memory);
    return status;
}

/* ---- all of it -------------------------------------------------------------------------------------------------------------- */

ulna_status ulna_take_find_doubts(ulna_take *take, int is_thorough, ulna_error *error)
{
    take->fit[0] = take->fit[1] = take->fit[2] = (double)NAN;
    if (compare_sizes(take) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %zu markers", take->set.count);
    check_size(take);
    check_markers(take);
    int is_from_reference =
        take->attach == ULNA_ATTACH_REFERENCE; /* offsets that follow the recording, whatever it is */
    ulna_status status =
        is_thorough && !take->doubts && !is_from_reference && take->most_seen ? check_sides(take, error) : ULNA_OK;
    ulna_take_add_findings(take);
    return status;
}

ulna_status ulna_take_check_numbers(const ulna_take *take, const ulna_clip *clip, ulna_error *error)
{
    for (int f = 0; f < clip->frame_count; f++)
        for (int c = 0; c < clip->coordinate_count; c++)
            if (!isfinite(ulna_clip_frame(clip, f)[c]))
                return ulna_fail(error, ULNA_ERR_NUMBER,
                                 "coordinate %d of frame %lld came out as NaN or infinite, so nothing is returned: "
                                 "look for extreme offsets, weights or positions",
                                 c, (long long)take->first_frame + f);
    return ULNA_OK;
}
