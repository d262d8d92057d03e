/*
 * Names that markers of one body, or of neighbours, have from each other: LKNE for LANK, or left for right on the feet alone.
 *
 * The distance between two markers that are at most a joint apart hardly changes, and is about that on the skeleton, whatever the pose.
 * What contradicts that is a cost for each such pair, of 0 to 1. Names look exchanged if the pairs of two markers, or of all markers of
 * a limb from one on with those of the other side, cost much less the other way round. Markers of one body that are exchanged
 * among themselves do no harm once they are calibrated, and often cannot be told.
 *
 * The constants were chosen on HDM05, where placing differs most from what is expected on skeletons of the person (a gain of 0.04 without any
 * mistake). On skeletons of other people it is up to 0.10, of exchanged names mostly 0.15 to 1: a take that is refused for nothing is
 * worse than two names that are not found. docs/guide.md has what others show.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "mocap/anatomy.h"
#include "mocap/take.h"
#include "model/model.h"

#define PLACING 0.05   /* m on an adult: how far a distance may be from the expected one without a cost */
#define CHANGE 4.0     /* how much its spread costs, beside the error of its mean */
#define MUCH 0.06      /* a pair, on average: less says nothing */
#define GAIN 0.12      /* a pair, on average: names are wrong only then */
#define OF_BEFORE 0.5  /* the cost may be afterwards at most */
#define AS_GOOD 0.8    /* of the gain of a whole limb: two shoulders explain it as well as all that is beyond them */
#define MOST_RATIO 1.6 /* of sizes, by which distances on the skeleton are corrected */

enum {
    SAMPLES = 40, /* frames */
    FEWEST = 5,   /* of these, in which both are seen */
    FEWEST_PAIRS = 2,
    MOST_MARKERS = 300, /* the time goes with the cube of their number, and people wear a hundred */
    NEAR = 1            /* joints */
};

typedef struct naming {
    ulna_take *take;
    int count;
    double ratio, slack;   /* of sizes; m */
    double *points;        /* SAMPLES x count x 3 */
    double *rest;          /* count x 3 */
    double *mean, *spread; /* count x count, m; NaN: never seen together; mean -1: not measured yet */
    double *own;           /* count: the cost of its pairs, each */
    double *reach;         /* count, m */
    int *limb;             /* count: body */
    int *mirror;           /* nb: ulna_mirror_body */
    unsigned char *near;   /* count x count */
    int *partner;          /* count */
    int *other;            /* count: the marker in its place; itself but for what is tried */
    int *tried;            /* count: those that change, */
    int changes;           /* and how many */
    double gain;           /* of the best so far */
} naming;

/* ---- distances ------------------------------------------------------------------------------------------------------------- */

static double distance(const double *a, const double *b)
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return ulna_norm(d);
}

static void measure(const naming *n, int i, int k)
{
    double sum = 0, squares = 0;
    int seen = 0;
    for (int s = 0; s < SAMPLES; s++) {
        const double *x = n->points + 3 * (size_t)s * (size_t)n->count;
        double d = distance(x + 3 * i, x + 3 * k);
        if (isnan(d))
            continue;
        sum += d;
        squares += d * d;
        seen++;
    }
    double mean = seen < FEWEST ? (double)NAN : sum / seen, variance = squares / (seen ? seen : 1) - mean * mean;
    size_t at = (size_t)i * (size_t)n->count + (size_t)k, back = (size_t)k * (size_t)n->count + (size_t)i;
    n->mean[at] = n->mean[back] = mean;
    n->spread[at] = n->spread[back] = variance > 0 ? sqrt(variance) : 0;
}

/* What speaks against markers a and b in the places of i and k; NaN if they are never seen together. */
static double cost_of(const naming *n, int a, int b, int i, int k)
{
    size_t at = (size_t)a * (size_t)n->count + (size_t)b;
    if (n->mean[at] < 0)
        measure(n, a, b);
    double expected = n->ratio * distance(n->rest + 3 * i, n->rest + 3 * k), scale = 1 / (expected + n->slack);
    double off = fabs(n->mean[at] - expected) - n->slack, spread = n->spread[at] * scale;
    off = off < 0 ? 0 : off * scale;
    double cost = off * off + CHANGE * spread * spread;
    return cost > 1 ? 1 : cost;
}

static void find_own(const naming *n, int i)
{
    int pairs = 0;
    n->own[i] = 0;
    for (int k = 0; k < n->count; k++)
        if (n->near[(size_t)i * (size_t)n->count + (size_t)k]) {
            double cost = cost_of(n, i, k, i, k);
            n->own[i] += isnan(cost) ? 0 : cost;
            pairs += !isnan(cost);
        }
    n->own[i] /= pairs ? pairs : 1;
}

/* ---- other names ----------------------------------------------------------------------------------------------------------- */

static void exchange(naming *n, int a, int b)
{
    n->other[a] = b;
    n->other[b] = a;
    n->tried[n->changes++] = a;
    n->tried[n->changes++] = b;
}

/* What the pairs of marker i cost with those that stay: as it is, and as it is tried. */
static int add_costs(const naming *n, int i, double *before, double *after)
{
    int pairs = 0;
    for (int k = 0; k < n->count; k++) {
        if (!n->near[(size_t)i * (size_t)n->count + (size_t)k] || n->other[k] != k)
            continue;
        double now = cost_of(n, i, k, i, k), then = cost_of(n, n->other[i], k, i, k);
        if (isnan(now) || isnan(then))
            continue;
        *before += now;
        *after += then;
        pairs++;
    }
    return pairs;
}

/* How much less the pairs of what is tried cost in all, if that is much; else 0. None may lose by it: one that is far from everything is no
 * better anywhere. Takes it back. */
static double gain_of(naming *n)
{
    double before = 0, after = 0;
    int pairs = 0, is_worse = 0;
    for (int c = 0; c < n->changes; c++) {
        double now = 0, then = 0;
        int own = add_costs(n, n->tried[c], &now, &then);
        is_worse |= then - now > MUCH * own || (!own && n->changes == 2); /* nothing says that it may be there */
        before += now;
        after += then;
        pairs += own;
    }
    for (int c = 0; c < n->changes; c++)
        n->other[n->tried[c]] = n->tried[c];
    n->changes = 0;
    int is_better = before - after > GAIN * pairs && after < OF_BEFORE * before;
    return pairs >= FEWEST_PAIRS && is_better && !is_worse ? before - after : 0;
}

static void try_pairs(naming *n)
{
    for (int a = 0; a < n->count; a++)
        for (int b = a + 1; b < n->count; b++) {
            if (n->own[a] < MUCH / 2 && n->own[b] < MUCH / 2) /* then nothing is wrong with them */
                continue;
            exchange(n, a, b);
            double gain = gain_of(n), least = n->take->misnamed_beyond ? AS_GOOD * n->gain : n->gain;
            if (gain <= least)
                continue;
            n->gain = gain;
            n->take->misnamed[0] = a;
            n->take->misnamed[1] = b;
            n->take->misnamed_beyond = 0;
        }
}

/* The first body of its limb; ULNA_NONE on the midline. */
static int limb_of(const naming *n, int body)
{
    int limb = ULNA_NONE;
    for (; body != ULNA_NONE && n->mirror[body] != ULNA_NONE; body = n->take->model->body[body].parent)
        limb = body;
    return limb;
}

/* How far out on its limb a marker is, at rest; or -1 if it is on none, or has no partner there. */
static void find_reach(naming *n, const ulna_pose *rest)
{
    const ulna_model *model = n->take->model;
    const ulna_attachment *items = n->take->set.items;
    for (int b = 0; b < model->nb; b++)
        n->mirror[b] = ulna_mirror_body(model, b);
    for (int i = 0; i < n->count; i++) {
        double origin[3];
        int k = n->partner[i];
        int has_partner = k != ULNA_NONE && k != i && n->partner[k] == i; /* L_KNE and LKNE have one RKNE */
        n->limb[i] = has_partner ? limb_of(n, items[i].body) : ULNA_NONE;
        n->reach[i] = -1;
        if (n->limb[i] == ULNA_NONE || n->mirror[n->limb[i]] != limb_of(n, items[k].body))
            continue;
        ulna_pose_body(rest, n->limb[i], origin, NULL);
        n->reach[i] = distance(n->rest + 3 * i, origin);
    }
}

/* All markers of a limb from one on with those of the other side. */
static void try_limbs(naming *n)
{
    for (int i = 0; i < n->count; i++) {
        if (n->reach[i] < 0 || n->partner[i] < i)
            continue;
        for (int k = 0; k < n->count; k++)
            if (n->limb[k] == n->limb[i] && n->reach[k] >= n->reach[i])
                exchange(n, k, n->partner[k]);
        int beyond = n->changes / 2 - 1;
        double gain = gain_of(n);
        if (gain <= n->gain)
            continue;
        n->gain = gain;
        n->take->misnamed[0] = i;
        n->take->misnamed[1] = n->partner[i];
        n->take->misnamed_beyond = beyond;
    }
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------- */

static void take_arrays(naming *n, ulna_arena *arena)
{
    size_t count = (size_t)n->count;
    n->points = ulna_arena_take(arena, 3 * SAMPLES * count, sizeof(double));
    n->rest = ulna_arena_take(arena, 3 * count, sizeof(double));
    n->mean = ulna_arena_take(arena, count * count, sizeof(double));
    n->spread = ulna_arena_take(arena, count * count, sizeof(double));
    n->own = ulna_arena_take(arena, count, sizeof(double));
    n->reach = ulna_arena_take(arena, count, sizeof(double));
    n->limb = ulna_arena_take(arena, count, sizeof(int));
    n->mirror = ulna_arena_take(arena, (size_t)n->take->model->nb, sizeof(int));
    n->near = ulna_arena_take(arena, count * count, 1);
    n->partner = ulna_arena_take(arena, count, sizeof(int));
    n->other = ulna_arena_take(arena, count, sizeof(int));
    n->tried = ulna_arena_take(arena, count, sizeof(int));
}

static ulna_status prepare(naming *n)
{
    const ulna_take *take = n->take;
    ulna_pose *pose = NULL;
    ulna_status status = ulna_take_rest_positions(take, n->rest);
    if (status == ULNA_OK)
        status = ulna_pose_create(take->model, &take->allocator, &pose, NULL);
    if (status == ULNA_OK)
        status = ulna_pose_forward(pose, take->model->rest);
    for (int s = 0; s < SAMPLES; s++)
        ulna_take_positions(take, ulna_take_sample(take, s, SAMPLES), n->points + 3 * (size_t)(s * n->count));
    for (int i = 0; i < n->count; i++)
        for (int k = 0; k < n->count; k++) {
            size_t at = (size_t)i * (size_t)n->count + (size_t)k;
            n->mean[at] = -1;
            n->near[at] =
                i != k && ulna_joints_between(take->model, take->set.items[i].body, take->set.items[k].body) <= NEAR;
        }
    ulna_take_find_partners(take, n->partner);
    for (int i = 0; i < n->count; i++)
        n->other[i] = i;
    for (int i = 0; i < n->count; i++)
        find_own(n, i);
    if (status == ULNA_OK)
        find_reach(n, pose);
    ulna_pose_destroy(pose);
    return status;
}

ulna_status ulna_take_check_names(ulna_take *take)
{
    naming n = {.take = take, .count = (int)take->set.count};
    ulna_arena arena = {0};
    if (n.count > MOST_MARKERS)
        return ULNA_OK;
    double length = ulna_marker_set_length_scale(take->model, &take->set) / ULNA_ADULT_LENGTH_SCALE;
    n.ratio = fmin(MOST_RATIO, fmax(1 / MOST_RATIO, take->size_ratio));
    n.slack = PLACING * length;
    take_arrays(&n, &arena);
    size_t bytes = arena.used;
    void *memory = arena.failed ? NULL : ulna_allocate(&take->allocator, bytes, 1);
    if (!memory)
        return ULNA_ERR_MEMORY;
    arena = (ulna_arena){memory, 0, 0};
    take_arrays(&n, &arena);
    ulna_status status = prepare(&n);
    if (status == ULNA_OK) {
        try_limbs(&n);
        try_pairs(&n);
        take->doubts |= n.gain > 0 ? ULNA_DOUBT_NAMES : 0;
    }
    ulna_release(&take->allocator, memory, bytes, 1);
    return status;
}
