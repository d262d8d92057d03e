/*
 * Names that markers exchange in the middle of a take, before anything is solved.
 *
 * Two markers that leap to each other's places in one frame have exchanged their names there, whatever they are; no motion does that.
 * They keep them until they leap back. So the names of the whole take are known but for one choice: which of the two is right. Both are
 * fitted to a few frames, together for all pairs that leap at the same time, as those of a limb may. If the skeleton fits one way
 * clearly better, that is right, for however few frames the recording has it so; else the names of most frames are. The take's markers are then
 * read with the others exchanged back, by calibrations and tracking alike: else two markers of a wrist rotate it by half a turn, at
 * hardly any error, and offsets are of two markers at once.
 *
 * Where most markers leap at once the recording was cut, or put together. Nothing is said of names there.
 *
 * CLEARLY was chosen on HDM05's dg 01-03_01 and CMU's 02_01, with all pairs of neighbours and of sides: exchanged, calibrated offsets fit 1.7 to
 * 16 times worse (cost, in each of nine frames), those of names alone 1.05 times or more, or do not tell: 0.96 to 1.04, the markers of a wrist.
 */
#include <string.h>

#include "base/base.h"
#include "mocap/take.h"
#include "mocap/tracker.h"
#include "model/model.h"

enum {
    MOST_EXCHANGES = 128,
    MOST_CUTS = 64,
    FORGET = 5,    /* frames: where a marker was seen so long ago says nothing of where it may be now */
    FITS = 9,      /* frames that are fitted, */
    MOST_FITS = 8, /* of them: so many must agree */
    PROBES = 12,   /* frames of which the first with all markers that leap is fitted */
    RESTARTS = 2
};
#define LEAST_LEAP 0.3 /* of the scale of the loss, away from where a marker was going */
#define NEAR 0.25      /* of the distance between two markers: so near to the place of the other one, */
#define NEAREST 1.5    /* and of the scale of the loss, at most, */
#define AFTER_GAP 0.5  /* or this where one was missing in the frame before */
#define MOST_LEAPS 0.5 /* of the markers: more that leap by the scale of the loss, and the recording leaps as a whole */
#define CLEARLY 0.95   /* of the cost of the other way */

/* ---- names as they should be ------------------------------------------------------------------------------------------ */

/* First those that begin with the take, which say what its names are; then the leaps, in the order of time. */
int ulna_take_named(const ulna_take *take, int frame, int marker)
{
    for (int is_leap = 0; is_leap < 2; is_leap++)
        for (int i = 0; i < take->exchange_count; i++) {
            const ulna_exchange *e = &take->exchanges[i];
            if (frame >= e->first && (e->first > 0) == is_leap)
                marker = marker == e->a ? e->b : marker == e->b ? e->a : marker;
        }
    return marker;
}

int ulna_take_is_pair_exchanged(const ulna_take *take, int a, int b, int frame)
{
    int is_exchanged = 0;
    for (int i = 0; i < take->exchange_count; i++) {
        const ulna_exchange *e = &take->exchanges[i];
        is_exchanged ^= ((e->a == a && e->b == b) || (e->a == b && e->b == a)) && frame >= e->first;
    }
    return is_exchanged;
}

int ulna_take_is_exchanged(const ulna_take *take, int frame)
{
    for (int i = 0; i < take->exchange_count; i++) {
        const ulna_exchange *e = &take->exchanges[i];
        if (ulna_take_named(take, frame, e->a) != e->a || ulna_take_named(take, frame, e->b) != e->b)
            return 1;
    }
    return 0;
}

static ulna_status add_exchange(ulna_take *take, int a, int b, int first)
{
    void *items = take->exchanges;
    ulna_status status = ulna_grow(&take->allocator, &items, &take->exchange_room, (size_t)take->exchange_count + 1,
                                   sizeof *take->exchanges);
    take->exchanges = items;
    if (status == ULNA_OK)
        take->exchanges[take->exchange_count++] = (ulna_exchange){.a = a, .b = b, .first = first};
    return status;
}

/* ---- leaps ------------------------------------------------------------------------------------------------------------- */

static double distance_between(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return ulna_norm(d);
}

/* Where markers are and where they were going, count x 3 each; and when they were seen last. */
typedef struct trails {
    ulna_take *take;
    double scale; /* of the loss */
    size_t count; /* markers that are seen somewhere */
    int *column;  /* count: their numbers in the recording */
    double *now, *last, *velocity, *expected;
    int *seen;    /* count: frame, or ULNA_NONE */
    int all_seen; /* frame in which all were, which `seen` may not have yet (note_all_seen); or ULNA_NONE */
    int *leaper;  /* at most count, and one that is none */
    double *next; /* count x 3: places in the next frame */
    void *memory;
    size_t bytes;
} trails;

static void take_arrays(trails *t, ulna_arena *arena)
{
    size_t count = t->take->set.count;
    double **places[] = {&t->now, &t->last, &t->velocity, &t->expected, &t->next};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        *places[i] = ulna_arena_take(arena, 3 * count, sizeof(double));
    t->column = ulna_arena_take(arena, count, sizeof *t->column);
    t->seen = ulna_arena_take(arena, count, sizeof *t->seen);
    t->leaper = ulna_arena_take(arena, count + 1, sizeof *t->leaper);
}

static ulna_status open_trails(ulna_take *take, double scale, trails *t)
{
    ulna_arena arena = {0};
    *t = (trails){.take = take, .scale = scale, .all_seen = ULNA_NONE};
    take_arrays(t, &arena);
    t->bytes = arena.used;
    t->memory = arena.failed ? NULL : ulna_allocate(&take->allocator, t->bytes, 1);
    if (!t->memory)
        return ULNA_ERR_MEMORY;
    arena = (ulna_arena){t->memory, 0, 0};
    take_arrays(t, &arena);
    for (size_t i = 0; i < take->set.count; i++)
        if (take->seen[i]) {
            t->seen[t->count] = ULNA_NONE;
            t->column[t->count++] = take->source[i];
        }
    return ULNA_OK;
}

/* Is it seen, and was it so not long ago? */
static int was_seen(const trails *t, size_t i, int frame)
{
    return t->seen[i] != ULNA_NONE && frame - t->seen[i] <= FORGET && !isnan(t->now[3 * i]);
}

/* Is every marker seen, in this frame and in the one before? */
static int is_whole(const trails *t, int frame)
{
    int missing = 0;
    for (size_t i = 0; i < t->count && !t->take->is_whole; i++)
        missing |= isnan(t->now[3 * i]);
    return frame > 0 && t->all_seen == frame - 1 && !missing;
}

/* Then it is simple: does none leap? What is remembered is as `remember` has it. */
static int go_on(trails *t, int frame)
{
    const double least = LEAST_LEAP * t->scale, *restrict now = t->now;
    double *restrict last = t->last, *restrict velocity = t->velocity, *restrict expected = t->expected;
    const int count = (int)t->count;
    double most = 0;
    for (int k = 0; k < 3 * count; k++) {
        double off = now[k] - (last[k] + velocity[k]);
        expected[k] = off * off;
    }
    for (int k = 0; k < 3 * count; k += 3) {
        double square = expected[k] + expected[k + 1] + expected[k + 2];
        most = square > most ? square : most;
    }
    if (most > least * least)
        return 0;
    for (int k = 0; k < 3 * count; k++) {
        velocity[k] = now[k] - last[k];
        last[k] = now[k];
    }
    t->all_seen = frame;
    return 1;
}

static void note_all_seen(trails *t)
{
    for (size_t i = 0; i < t->count && t->all_seen != ULNA_NONE; i++)
        t->seen[i] = t->all_seen;
    t->all_seen = ULNA_NONE;
}

/* Most markers leap. Is the recording cut there? Not if they go on like that in the next frame: nothing is expected at the beginning of a recording,
 * and a film of 30 Hz has a runner 10 cm ahead in its second frame. */
static int is_torn(trails *t, int frame, double most)
{
    int far = 0;
    if (frame + 1 >= t->take->frame_count)
        return 1;
    ulna_take_gather_recorded(t->take, frame + 1, t->count, t->column, t->next);
    for (size_t i = 0; i < t->count; i++) {
        double change[3];
        for (size_t k = 3 * i; k < 3 * i + 3; k++)
            change[k - 3 * i] = (t->next[k] - t->now[k]) - (t->now[k] - t->last[k]) / (frame - t->seen[i]);
        far += was_seen(t, i, frame) && !(ulna_norm(change) <= t->scale);
    }
    return far > most;
}

/* Markers that are not where they were going: returns how many. *is_cut: most of those that are seen leap. *is_fast: most do so a little, at least. */
static int find_leapers(trails *t, int frame, int *is_cut, int *is_fast)
{
    const double least = LEAST_LEAP * t->scale, *now = t->now, *last = t->last, *velocity = t->velocity;
    const int count = (int)t->count;
    int leaps = 0, far = 0, seen = 0;
    for (int i = 0; i < count; i++, now += 3, last += 3, velocity += 3) {
        int frames = frame - t->seen[i];
        if (!was_seen(t, (size_t)i, frame))
            continue;
        double *to = t->expected + 3 * (size_t)i, square = 0;
        seen++;
        for (int k = 0; k < 3; k++) {
            to[k] = last[k] + frames * velocity[k];
            square += (now[k] - to[k]) * (now[k] - to[k]);
        }
        t->leaper[leaps] = i;
        leaps += square > least * least;
        far += square > t->scale * t->scale;
    }
    double most = MOST_LEAPS * (2 * seen > count ? seen : count);
    *is_cut = far > most && is_torn(t, frame, most);
    *is_fast = leaps > most;
    return leaps;
}

/* How far both are from the other's place, together; INFINITY if that is too far. */
static double exchange_cost(const trails *t, int a, int b, int frame)
{
    int is_next = t->seen[a] == frame - 1 && t->seen[b] == frame - 1;
    const double *at_a = t->expected + 3 * a, *at_b = t->expected + 3 * b;
    double near = fmin(NEAR * distance_between(at_a, at_b), (is_next ? NEAREST : AFTER_GAP) * t->scale);
    double from_b = distance_between(t->now + 3 * a, at_b), from_a = distance_between(t->now + 3 * b, at_a);
    return from_a < near && from_b < near ? from_a + from_b : (double)INFINITY;
}

/* The pair of those that leap that comes nearest to each other's places: 0 if none is near. */
static int nearest_exchange(const trails *t, int leaps, int frame, int pair[2])
{
    double least = INFINITY;
    pair[0] = pair[1] = 0;
    for (int i = 0; i < leaps; i++)
        for (int k = i + 1; k < leaps; k++) {
            double cost = exchange_cost(t, t->leaper[i], t->leaper[k], frame);
            if (cost < least) {
                least = cost;
                pair[0] = t->leaper[i];
                pair[1] = t->leaper[k];
            }
        }
    return !isinf(least);
}

static void swap_places(double *places, int a, int b)
{
    double kept[3];
    memcpy(kept, places + 3 * a, sizeof kept);
    memcpy(places + 3 * a, places + 3 * b, sizeof kept);
    memcpy(places + 3 * b, kept, sizeof kept);
}

/* All pairs of those that leap, one after the other: those of one wrist are near each other. */
static ulna_status find_exchanges_in(trails *t, int leaps, int frame)
{
    ulna_status status = ULNA_OK;
    for (int n = 0, pair[2]; n < leaps && status == ULNA_OK && nearest_exchange(t, leaps, frame, pair); n++) {
        status = add_exchange(t->take, t->column[pair[0]], t->column[pair[1]], frame);
        swap_places(t->last, pair[0], pair[1]);
        swap_places(t->expected, pair[0], pair[1]);
    }
    return status;
}

/* A marker that has leapt, and not to where another one was going, may be back soon: it counts as missing for as long as that. */
static int is_stray(const trails *t, int i, int frame)
{
    return t->seen[i] != ULNA_NONE && frame - t->seen[i] <= FORGET &&
           distance_between(t->now + 3 * i, t->expected + 3 * i) > t->scale;
}

static void remember(trails *t, int frame, int is_cut, int is_fast)
{
    const double *now = t->now;
    double *last = t->last, *velocity = t->velocity;
    const int count = (int)t->count;
    int seen = 0;
    for (int i = 0; i < count; i++, now += 3, last += 3, velocity += 3) {
        if (isnan(now[0]) || (!is_fast && is_stray(t, i, frame))) /* what is gathered is a position or missing */
            continue;
        int frames = frame - t->seen[i], goes_on = t->seen[i] != ULNA_NONE && frames <= FORGET && !is_cut;
        for (int k = 0; k < 3; k++) {
            velocity[k] = goes_on ? (now[k] - last[k]) / frames : 0;
            last[k] = now[k];
        }
        t->seen[i] = frame;
        seen++;
    }
    t->all_seen = seen == count ? frame : ULNA_NONE;
}

static ulna_status add_cut(ulna_take *take, int frame)
{
    void *items = take->cuts;
    ulna_status status =
        ulna_grow(&take->allocator, &items, &take->cut_room, (size_t)take->cut_count + 1, sizeof *take->cuts);
    take->cuts = items;
    if (status == ULNA_OK)
        take->cuts[take->cut_count++] = frame;
    return status;
}

int ulna_take_has_cut(const ulna_take *take, int first, int last)
{
    for (int i = 0; i < take->cut_count; i++)
        if (take->cuts[i] >= first && take->cuts[i] <= last)
            return 1;
    return 0;
}

static ulna_status find_leaps(trails *t)
{
    ulna_take *take = t->take;
    ulna_status status = ULNA_OK;
    for (int f = 0; f < take->frame_count && status == ULNA_OK && take->exchange_count <= MOST_EXCHANGES; f++) {
        ulna_take_gather_recorded(take, f, t->count, t->column, t->now);
        if (is_whole(t, f) && go_on(t, f))
            continue;
        note_all_seen(t);
        int is_cut, is_fast, leaps = find_leapers(t, f, &is_cut, &is_fast);
        if (!is_cut)
            status = find_exchanges_in(t, leaps, f);
        else if (take->cut_count <= MOST_CUTS)
            status = add_cut(take, f);
        remember(t, f, is_cut, is_fast);
    }
    if (take->cut_count > MOST_CUTS)
        take->cut_count = 0;
    if (take->exchange_count > MOST_EXCHANGES) /* that is no recording of names that go wrong now and then */
        take->exchange_count = 0;
    return status;
}

/* ---- which names are right ------------------------------------------------------------------------------------------------ */

typedef struct naming {
    ulna_take *take;
    int leaps;                 /* exchanges that were found; those behind them begin with the take */
    int group[MOST_EXCHANGES]; /* of these: the first one that it is to be chosen with */
    ulna_tracker *tracker;
    double *points, *q; /* set.count x 3, nq */
} naming;

static int is_same_pair(const ulna_exchange *a, const ulna_exchange *b)
{
    return (a->a == b->a && a->b == b->b) || (a->a == b->b && a->b == b->a);
}

/* Exchanges of one pair, and those of one frame, belong together; and so on from these. */
static void find_groups(naming *n)
{
    const ulna_exchange *e = n->take->exchanges;
    for (int i = 0; i < n->leaps; i++) {
        n->group[i] = i;
        for (int k = 0; k < i; k++) {
            int from = n->group[i], to = n->group[k];
            if (!is_same_pair(&e[i], &e[k]) && e[i].first != e[k].first)
                continue;
            for (int m = 0; m <= i; m++)
                n->group[m] = n->group[m] == from ? to : n->group[m];
        }
    }
}

/* Is it the first of its pair? */
static int is_first(const naming *n, int i)
{
    int k = 0;
    while (!is_same_pair(&n->take->exchanges[k], &n->take->exchanges[i]))
        k++;
    return k == i;
}

/* The names of most frames. If those of the first frame are not among them, they are exchanged from there on, too. */
static ulna_status choose_most(naming *n)
{
    ulna_take *take = n->take;
    ulna_status status = ULNA_OK;
    for (int i = 0; i < n->leaps && status == ULNA_OK; i++) {
        int a = take->exchanges[i].a, b = take->exchanges[i].b, frames = 0;
        for (int f = 0; f < take->frame_count; f++)
            frames += ulna_take_is_pair_exchanged(take, a, b, f);
        if (2 * frames > take->frame_count)
            status = add_exchange(take, a, b, 0);
    }
    return status;
}

/* The other names, of all pairs of a group. Twice, and all is as before: the list is cut to `count`. */
static ulna_status exchange_group(naming *n, int group)
{
    ulna_status status = ULNA_OK;
    for (int i = 0; i < n->leaps && status == ULNA_OK; i++)
        if (n->group[i] == group && is_first(n, i))
            status = add_exchange(n->take, n->take->exchanges[i].a, n->take->exchanges[i].b, 0);
    return status;
}

static int is_group_seen(const naming *n, int group, int frame)
{
    double x[3];
    for (int i = 0; i < n->leaps; i++)
        if (n->group[i] == group && !(ulna_take_marker(n->take, frame, n->take->exchanges[i].a, x) &&
                                      ulna_take_marker(n->take, frame, n->take->exchanges[i].b, x)))
            return 0;
    return 1;
}

/* The first frame of a part of the take in which all that leap are seen, or just the first. */
static int frame_to_fit(const naming *n, int group, int part)
{
    for (int p = 0; p < PROBES; p++) {
        int frame = ulna_take_sample(n->take, part * PROBES + p, FITS * PROBES);
        if (is_group_seen(n, group, frame))
            return frame;
    }
    return ulna_take_sample(n->take, part * PROBES, FITS * PROBES);
}

static ulna_status fit(const naming *n, int group, double cost[FITS])
{
    ulna_status status = ULNA_OK;
    for (int k = 0; k < FITS && status == ULNA_OK; k++) {
        ulna_frame_report report;
        ulna_take_positions(n->take, frame_to_fit(n, group, k), n->points);
        ulna_tracker_reset(n->tracker, NULL);
        status = ulna_tracker_frame(n->tracker, n->points, n->q, &report);
        cost[k] = ulna_tracker_report(n->tracker, &report);
    }
    return status;
}

static int is_clearly_better(const double a[FITS], const double b[FITS])
{
    double sum_a = 0, sum_b = 0;
    int frames = 0;
    for (int k = 0; k < FITS; k++) {
        sum_a += a[k];
        sum_b += b[k];
        frames += a[k] < b[k];
    }
    return frames >= MOST_FITS && sum_a < CLEARLY * sum_b;
}

/* Keeps the other names of a group if they fit clearly better. */
static ulna_status choose_better(naming *n, int group)
{
    double as_it_is[FITS], otherwise[FITS];
    int count = n->take->exchange_count;
    ulna_status status = fit(n, group, as_it_is);
    if (status == ULNA_OK)
        status = exchange_group(n, group);
    if (status == ULNA_OK)
        status = fit(n, group, otherwise);
    int is_better = status == ULNA_OK && is_clearly_better(otherwise, as_it_is);
    int is_sure = is_better || (status == ULNA_OK && is_clearly_better(as_it_is, otherwise));
    if (!is_better)
        n->take->exchange_count = count;
    for (int i = 0; i < n->leaps && !is_sure; i++)
        n->take->exchanges[i].is_by_majority |= n->group[i] == group;
    return status;
}

static ulna_status choose_names(naming *n, const ulna_track_options *options)
{
    ulna_take *take = n->take;
    size_t points = 3 * take->set.count, room = points + (size_t)take->model->nq;
    double *memory = ulna_allocate(&take->allocator, room, sizeof *memory);
    ulna_status status = memory ? ULNA_OK : ULNA_ERR_MEMORY;
    find_groups(n);
    if (status == ULNA_OK)
        status = choose_most(n);
    if (status == ULNA_OK)
        status = ulna_tracker_create(take->model, &take->set, options, &take->allocator, &n->tracker, NULL);
    n->points = memory;
    n->q = memory ? memory + points : NULL;
    for (int i = 0; i < n->leaps && status == ULNA_OK; i++)
        if (n->group[i] == i)
            status = choose_better(n, i);
    ulna_tracker_destroy(n->tracker);
    ulna_release(&take->allocator, memory, room, sizeof *memory);
    return status;
}

ulna_status ulna_take_find_exchanges(ulna_take *take, ulna_error *error)
{
    ulna_track_options options = ulna_track_options_default();
    trails t;
    options.fresh.restarts = RESTARTS;
    ulna_track_options_resolve(ulna_marker_set_length_scale(take->model, &take->set), &options);
    ulna_status status = open_trails(take, options.loss_scale, &t);
    if (status == ULNA_OK)
        status = find_leaps(&t);
    ulna_release(&take->allocator, t.memory, t.bytes, 1);
    if (status == ULNA_OK && take->exchange_count) {
        naming n = {.take = take, .leaps = take->exchange_count};
        status = choose_names(&n, &options);
        if (status != ULNA_ERR_MEMORY) /* where nothing can be fitted, the names of most frames are right */
            status = ULNA_OK;
    }
    return status == ULNA_OK ? ULNA_OK
                             : ulna_fail(error, status, "exchanged names cannot be looked for in %d frames: %s",
                                         take->frame_count, ulna_status_text(status));
}
