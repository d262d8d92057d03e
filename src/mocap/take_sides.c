/*
 * Left and right of a take: mirrored axes, exchanged names, exchanged names of one pair of limbs.
 *
 * A mirror image is found by fits: the skeleton is fitted to a few frames as they are, to their mirror image, and to the frames
 * with the markers of left and right exchanged. People are nearly their own mirror image: mirrored axes look like exchanged
 * names. Where one of the two explains the recording better, it is named; else both are. An alarm needs a fit whose
 * error is less than three quarters of that of the recording as it is, in the median over the frames.
 *
 * Exchanged legs or arms may fit well, since hips and shoulders are close to each other and a calibration moves the markers. They
 * are found by directions: from right to left is the same direction on pelvis, legs, shoulders and head, whatever the offsets are.
 */
#include <math.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "mocap/marker_names.h"
#include "mocap/take.h"
#include "mocap/tracker.h"
#include "model/model.h"

enum {
    FIT_FRAMES = 5,
    FIT_PROBES = 12, /* frames of which the one with most markers is fitted */
    RESTARTS = 2,
    FEWEST_PAIRED = 6, /* markers of a pelvis alone do not tell */
    MOSTLY_PAIRED = 4, /* one marker in so many may have no partner */
    WAYS = 3,
    PART_SAMPLES = 40, /* frames */
    MOST_PARTS = 12
};
#define GOOD_FIT 0.02    /* of the skeleton's length: 3 cm for an adult. No need to try the mirror image */
#define PLAIN_FIT 0.5    /* of that: no need of another start either */
#define MUCH_BETTER 0.75 /* RMS of the mirror image, beside that of the take as it is */
#define BETTER 0.75      /* RMS of one explanation, beside that of the other */
#define OPPOSED                                                                                                        \
    (-0.4) /* cosine of the angle between the directions of two parts, over all frames: below, one is wrong */
#define CLEAR_AT_REST 0.5 /* cosine of that angle at rest, or its negative: below, it says nothing */

/* ---- mirror images --------------------------------------------------------------------------------------------------------- */

size_t ulna_take_find_partners(const ulna_take *take, int *partner)
{
    size_t found = 0;
    for (size_t i = 0; i < take->set.count; i++) {
        partner[i] = ulna_marker_partner(&take->set, i);
        if (partner[i] == ULNA_NONE && ulna_mirror_body(take->model, take->set.items[i].body) == ULNA_NONE)
            partner[i] = (int)i;
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
            int frame = ulna_take_sample(f->take, k * FIT_PROBES + p, FIT_FRAMES * FIT_PROBES), seen = 0;
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

/* The median RMS of the frames, as they are (0), mirrored (1), or with sides exchanged (2). If most of them are below `enough`, so is the
 * median, and the others need not be fitted. */
static ulna_status fit(const fitting *f, int way, double enough, double *rms)
{
    double all[FIT_FRAMES];
    size_t count = 0, good = 0;
    ulna_status status = ULNA_OK;
    f->tracker->enough = enough > 0 ? 0.5 * f->tracker->weights * PLAIN_FIT * PLAIN_FIT * enough * enough : 0;
    for (int k = 0; k < FIT_FRAMES && good <= FIT_FRAMES / 2 && status == ULNA_OK; k++) {
        ulna_frame_report report;
        ulna_take_positions(f->take, f->frames[k], f->points);
        change(f, way);
        ulna_tracker_reset(f->tracker, NULL);
        status = ulna_tracker_frame(f->tracker, f->changed, f->q, &report);
        if (status == ULNA_OK && report.seen) {
            good += report.rms <= enough;
            all[count++] = report.rms;
        }
    }
    *rms = ulna_quick_median(all, count);
    return status;
}

static ulna_status fit_all(ulna_take *take, fitting *f)
{
    choose_frames(f);
    double enough = GOOD_FIT * ulna_model_length_scale(take->model);
    ulna_status status = fit(f, 0, enough, &take->fit[0]);
    if (!(take->fit[0] > enough))
        return status;
    size_t paired = ulna_take_find_partners(take, f->partner), alone = 0;
    for (size_t i = 0; i < take->set.count; i++)
        alone += f->partner[i] == ULNA_NONE;
    int has_sides =
        paired >= FEWEST_PAIRED && alone * MOSTLY_PAIRED <= take->set.count; /* those left out fit no worse */
    for (int way = 1; way < WAYS && status == ULNA_OK && (way < 2 || has_sides); way++)
        status = fit(f, way, -1, &take->fit[way]);
    double mirrored = take->fit[1], exchanged = take->fit[2];
    if (!(fmin(mirrored, exchanged) < MUCH_BETTER * take->fit[0]))
        return status;
    int is_mirrored = isnan(exchanged) || mirrored < BETTER * exchanged;
    int is_exchanged = !is_mirrored && (exchanged < BETTER * mirrored || has_other_side(take));
    take->doubts |= is_exchanged ? 0 : ULNA_DOUBT_MIRRORED;
    take->doubts |= is_mirrored ? 0 : ULNA_DOUBT_SIDES;
    return status;
}

ulna_status ulna_take_check_sides(ulna_take *take, ulna_error *error)
{
    size_t count = take->set.count, room = 6 * count + (size_t)take->model->nq;
    ulna_track_options options = ulna_track_options_default();
    fitting f = {.take = take};
    options.fresh.restarts = RESTARTS;
    options.solve.bounded = options.fresh.bounded =
        take->keypoints != NULL; /* joints alone: which way they bend tells */
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

/* ---- parts of the body ----------------------------------------------------------------------------------------------------- */

/* Markers of left and right on a pair of limbs, or on one body of the midline. */
typedef struct part {
    int body;                  /* of the midline; or the first body of the limb, the side that comes first */
    double at_rest[3], now[3]; /* from one side to the other: by the skeleton, in a frame */
} part;

typedef struct parts {
    const ulna_take *take;
    part items[MOST_PARTS];
    int count;
    int *mirror;                                                      /* nb: ulna_mirror_body */
    int *partner;                                                     /* set.count */
    double *rest, *points;                                            /* set.count x 3 */
    double dot[MOST_PARTS][MOST_PARTS], size[MOST_PARTS][MOST_PARTS]; /* sums over frames */
} parts;

/* The first body of a limb; the body itself on the midline. `steps`: how far it is. */
static int limb_of(const parts *p, int body, int *steps)
{
    for (*steps = 0; p->mirror[body] != ULNA_NONE; body = p->take->model->body[body].parent, ++*steps) {
        int parent = p->take->model->body[body].parent;
        if (parent == ULNA_NONE || p->mirror[parent] == ULNA_NONE)
            break;
    }
    return body;
}

static part *find_part(parts *p, int body)
{
    for (int k = 0; k < p->count; k++)
        if (p->items[k].body == body)
            return &p->items[k];
    if (p->count == MOST_PARTS)
        return NULL;
    p->items[p->count] = (part){.body = body};
    return &p->items[p->count++];
}

/* The part that markers i and its partner show, if they are on mirrored bodies, i on the first one, or on one body of the midline.
 * `weight`: markers far out on a limb say little about its side, since feet and hands cross. */
static part *part_of(parts *p, size_t i, double *weight)
{
    int j = p->partner[i], steps;
    if (j == ULNA_NONE || j == (int)i)
        return NULL;
    int a = p->take->set.items[i].body, b = p->take->set.items[j].body;
    int is_left = ulna_names_are_mirrored(p->take->set.items[i].marker, p->take->set.items[j].marker);
    int is_middle = a == b && p->mirror[a] == ULNA_NONE && is_left;
    if (!is_middle && p->mirror[a] != b)
        return NULL;
    int limb = limb_of(p, a, &steps);
    *weight = ldexp(1, -steps);
    return is_middle || limb < limb_of(p, b, &steps) ? find_part(p, limb) : NULL;
}

/* Directions only: a marker that is far off counts no more than others. */
static void add_direction(double to[3], const double *points, size_t i, int j, double weight)
{
    double d[3];
    for (int k = 0; k < 3; k++)
        d[k] = points[3 * i + (size_t)k] - points[3 * j + k];
    double length = ulna_norm(d);
    for (int k = 0; k < 3 && length > 0; k++) /* not if it is NaN */
        to[k] += weight / length * d[k];
}

/* Limbs by where their bodies are, so that offsets cannot hide an exchange. */
static void limbs_at_rest(parts *p, const ulna_pose *rest)
{
    int steps;
    double a[3], b[3];
    for (int body = 0; body < p->take->model->nb; body++)
        for (int k = 0; k < p->count; k++) {
            if (p->mirror[body] == ULNA_NONE || limb_of(p, body, &steps) != p->items[k].body)
                continue;
            ulna_pose_body(rest, body, a, NULL);
            ulna_pose_body(rest, p->mirror[body], b, NULL);
            for (int c = 0; c < 3; c++)
                p->items[k].at_rest[c] += a[c] - b[c];
        }
}

static ulna_status parts_at_rest(parts *p)
{
    double weight;
    ulna_pose *pose = NULL;
    ulna_status status = ulna_take_rest_positions(p->take, p->rest);
    for (size_t i = 0; i < p->take->set.count && status == ULNA_OK; i++) {
        part *shown = part_of(p, i, &weight);
        if (shown && p->mirror[shown->body] == ULNA_NONE)
            add_direction(shown->at_rest, p->rest, i, p->partner[i], 1);
    }
    if (status == ULNA_OK)
        status = ulna_pose_create(p->take->model, &p->take->allocator, &pose, NULL);
    if (status == ULNA_OK)
        status = ulna_pose_forward(pose, p->take->model->rest);
    if (status == ULNA_OK)
        limbs_at_rest(p, pose);
    ulna_pose_destroy(pose);
    return status;
}

static void add_frame(parts *p, int frame)
{
    double weight;
    ulna_take_positions(p->take, frame, p->points);
    for (int k = 0; k < p->count; k++)
        memset(p->items[k].now, 0, sizeof p->items[k].now);
    for (size_t i = 0; i < p->take->set.count; i++) {
        part *shown = part_of(p, i, &weight);
        if (shown)
            add_direction(shown->now, p->points, i, p->partner[i], weight);
    }
    for (int k = 0; k < p->count; k++)
        for (int m = 0; m < k; m++) {
            p->dot[k][m] += ulna_dot(p->items[k].now, p->items[m].now);
            p->size[k][m] += ulna_norm(p->items[k].now) * ulna_norm(p->items[m].now);
        }
}

static int are_opposed(const parts *p, int k, int m)
{
    if (m > k)
        return are_opposed(p, m, k);
    const double *a = p->items[k].at_rest, *b = p->items[m].at_rest;
    double at_rest = ulna_dot(a, b) / (ulna_norm(a) * ulna_norm(b)), now = p->dot[k][m] / p->size[k][m];
    return k != m && fabs(at_rest) > CLEAR_AT_REST && copysign(now, now * at_rest) < OPPOSED;
}

/* The part that contradicts most others, and one of these. */
static void name_opposed(const parts *p, ulna_take *take)
{
    int most = 0;
    for (int k = 0; k < p->count; k++) {
        int others = 0, first = ULNA_NONE;
        for (int m = p->count - 1; m >= 0; m--)
            if (are_opposed(p, k, m)) {
                others++;
                first = m;
            }
        if (others <= most)
            continue;
        most = others;
        take->exchanged[0] = p->items[k].body;
        take->exchanged[1] = p->items[first].body;
        take->doubts |= ULNA_DOUBT_PART;
    }
}

ulna_status ulna_take_check_parts(ulna_take *take)
{
    size_t count = take->set.count, bodies = (size_t)take->model->nb;
    parts p = {.take = take};
    p.mirror = ulna_allocate(&take->allocator, bodies, sizeof *p.mirror);
    p.partner = ulna_allocate(&take->allocator, count, sizeof *p.partner);
    p.rest = ulna_allocate(&take->allocator, 6 * count, sizeof *p.rest);
    ulna_status status = p.mirror && p.partner && p.rest ? ULNA_OK : ULNA_ERR_MEMORY;
    if (status == ULNA_OK) {
        p.points = p.rest + 3 * count;
        for (int b = 0; b < take->model->nb; b++)
            p.mirror[b] = ulna_mirror_body(take->model, b);
        ulna_take_find_partners(take, p.partner);
        status = parts_at_rest(&p);
    }
    for (int s = 0; s < PART_SAMPLES && status == ULNA_OK && p.count > 1; s++)
        add_frame(&p, ulna_take_sample(take, s, PART_SAMPLES));
    if (status == ULNA_OK)
        name_opposed(&p, take);
    ulna_release(&take->allocator, p.rest, 6 * count, sizeof *p.rest);
    ulna_release(&take->allocator, p.partner, count, sizeof *p.partner);
    ulna_release(&take->allocator, p.mirror, bodies, sizeof *p.mirror);
    return status;
}
