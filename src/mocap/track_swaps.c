/*
 * Labels that a recording gives to the wrong markers.
 *
 * Before the tracking: two markers that leap to each other's places in one frame have exchanged their names there, whatever they
 * are; no motion does that. They keep them until they leap back. Names that hold for most of the take are right; where they are
 * exchanged, the tracking exchanges them back. Without that, two markers of a wrist rotate it by half a turn, at hardly any error.
 * After the tracking: two outliers, each at the other's place, as after a gap in which names were exchanged.
 */
#include <string.h>

#include "base/base.h"
#include "math/math3.h"
#include "mocap/track.h"
#include "ulna/kinematics.h"

enum {
    MOST_EXCHANGES = 128,
    MOST_SWAPS = 64,
    PATIENCE = 30, /* frames: a swap goes on over so many in which one of the two is missing */
    FORGET = 5     /* frames: where a marker was seen so long ago says nothing of where it may be now */
};
#define AS_USUAL 2.0   /* times the RMS of frames without marks */
#define LEAST_LEAP 0.3 /* of the scale of the loss, away from where a marker was going */
#define NEAR 0.25      /* of the distance between two markers: so near to the place of the other one, */
#define NEAREST 0.5    /* and of the scale of the loss, at most */
#define MOST_LEAPS 0.5 /* of the markers: more, and the recording leaps as a whole */

/* ---- before the tracking --------------------------------------------------------------------------------------------- */

static double distance_between(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return ulna_norm(d);
}

/* Where markers are and where they were going, count x 3 each; and when they were seen last. */
typedef struct trails {
    ulna_track_job *j;
    double *now, *last, *velocity, *expected;
    int *seen;   /* count: frame, or ULNA_NONE */
    int *leaper; /* at most count, and one that is none */
    void *memory;
    size_t bytes;
} trails;

static void take_arrays(trails *t, ulna_arena *arena)
{
    size_t count = t->j->used.count;
    double **places[] = {&t->now, &t->last, &t->velocity, &t->expected};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        *places[i] = ulna_arena_take(arena, 3 * count, sizeof(double));
    t->seen = ulna_arena_take(arena, count, sizeof *t->seen);
    t->leaper = ulna_arena_take(arena, count + 1, sizeof *t->leaper);
}

static ulna_status open_trails(ulna_track_job *j, trails *t)
{
    ulna_arena arena = {0};
    *t = (trails){.j = j};
    take_arrays(t, &arena);
    t->bytes = arena.used;
    t->memory = arena.failed ? NULL : ulna_allocate(&j->take->allocator, t->bytes, 1);
    if (!t->memory)
        return ULNA_ERR_MEMORY;
    arena = (ulna_arena){t->memory, 0, 0};
    take_arrays(t, &arena);
    for (size_t i = 0; i < j->used.count; i++)
        t->seen[i] = ULNA_NONE;
    return ULNA_OK;
}

/* Is every marker seen, in this frame and in the one before? */
static int is_whole(const trails *t, int frame)
{
    const int count = (int)t->j->used.count;
    int missing = 0;
    for (int i = 0; i < count; i++)
        missing |= t->seen[i] != frame - 1;
    for (int i = 0; i < 3 * count; i += 3)
        missing |= isnan(t->now[i]);
    return frame > 0 && !missing;
}

/* Then it is simple: does none leap? What is remembered is as `remember` has it. */
static int go_on(trails *t, int frame)
{
    const double least = LEAST_LEAP * t->j->options->loss_scale, *restrict now = t->now;
    double *restrict last = t->last, *restrict velocity = t->velocity, *restrict expected = t->expected;
    const int count = (int)t->j->used.count;
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
    for (int i = 0; i < count; i++)
        t->seen[i] = frame;
    return 1;
}

/* Markers that are not where they were going: returns how many; 0 if it is most of those that are seen. */
static int find_leapers(trails *t, int frame)
{
    const double least = LEAST_LEAP * t->j->options->loss_scale, *now = t->now, *last = t->last,
                 *velocity = t->velocity;
    const int count = (int)t->j->used.count;
    int leaps = 0, seen = 0;
    for (int i = 0; i < count; i++, now += 3, last += 3, velocity += 3) {
        int frames = frame - t->seen[i];
        if (t->seen[i] == ULNA_NONE || frames > FORGET || isnan(now[0]))
            continue;
        double *to = t->expected + 3 * (size_t)i, square = 0;
        seen++;
        for (int k = 0; k < 3; k++) {
            to[k] = last[k] + frames * velocity[k];
            square += (now[k] - to[k]) * (now[k] - to[k]);
        }
        t->leaper[leaps] = i;
        leaps += square > least * least;
    }
    return leaps > MOST_LEAPS * seen ? 0 : leaps;
}

static int is_exchange(const trails *t, int a, int b)
{
    const double *at_a = t->expected + 3 * a, *at_b = t->expected + 3 * b;
    double near = fmin(NEAR * distance_between(at_a, at_b), NEAREST * t->j->options->loss_scale);
    return distance_between(t->now + 3 * a, at_b) < near && distance_between(t->now + 3 * b, at_a) < near;
}

static void swap_places(double *places, int a, int b)
{
    double kept[3];
    memcpy(kept, places + 3 * a, sizeof kept);
    memcpy(places + 3 * a, places + 3 * b, sizeof kept);
    memcpy(places + 3 * b, kept, sizeof kept);
}

static ulna_status add_exchange(ulna_track_job *j, int a, int b, int first)
{
    void *items = j->exchanges;
    ulna_status status =
        ulna_grow(&j->take->allocator, &items, &j->exchange_room, (size_t)j->exchange_count + 1, sizeof *j->exchanges);
    j->exchanges = items;
    if (status == ULNA_OK)
        j->exchanges[j->exchange_count++] = (ulna_exchange){a, b, first};
    return status;
}

/* All pairs of those that leap. */
static ulna_status find_exchanges_in(trails *t, int frame)
{
    ulna_status status = ULNA_OK;
    int leaps = find_leapers(t, frame);
    for (int i = 0; i < leaps; i++)
        for (int k = i + 1; k < leaps && status == ULNA_OK; k++) {
            int a = t->leaper[i], b = t->leaper[k];
            if (!is_exchange(t, a, b))
                continue;
            status = add_exchange(t->j, a, b, frame);
            swap_places(t->last, a, b);
            swap_places(t->expected, a, b);
        }
    return status;
}

static void remember(trails *t, int frame)
{
    const double *now = t->now;
    double *last = t->last, *velocity = t->velocity;
    const int count = (int)t->j->used.count;
    for (int i = 0; i < count; i++, now += 3, last += 3, velocity += 3) {
        if (isnan(now[0])) /* what is gathered is a position or missing */
            continue;
        int is_next = t->seen[i] == frame - 1;
        for (int k = 0; k < 3; k++) {
            velocity[k] = is_next ? now[k] - last[k] : 0;
            last[k] = now[k];
        }
        t->seen[i] = frame;
    }
}

/* Has the pair each other's names in the frame? */
static int is_pair_exchanged(const ulna_track_job *j, int a, int b, int frame)
{
    int is_exchanged = 0;
    for (int i = 0; i < j->exchange_count; i++)
        is_exchanged ^= j->exchanges[i].a == a && j->exchanges[i].b == b && frame >= j->exchanges[i].first;
    return is_exchanged;
}

int ulna_track_is_exchanged(const ulna_track_job *j, int frame)
{
    for (int i = 0; i < j->exchange_count; i++)
        if (is_pair_exchanged(j, j->exchanges[i].a, j->exchanges[i].b, frame))
            return 1;
    return 0;
}

/* The names of most frames are right. If those of the first frame are not, they are exchanged from there on, too. */
static ulna_status choose_names(ulna_track_job *j)
{
    ulna_status status = ULNA_OK;
    for (int i = 0; i < j->exchange_count && status == ULNA_OK; i++) {
        int a = j->exchanges[i].a, b = j->exchanges[i].b, frames = 0;
        for (int f = 0; f < j->total; f++)
            frames += is_pair_exchanged(j, a, b, f);
        if (2 * frames > j->total)
            status = add_exchange(j, a, b, 0);
    }
    return status;
}

ulna_status ulna_track_find_exchanges(ulna_track_job *j)
{
    trails t;
    ulna_status status = open_trails(j, &t);
    for (int f = 0; f < j->total && status == ULNA_OK && j->exchange_count <= MOST_EXCHANGES; f++) {
        ulna_track_gather_recorded(j, f, t.now);
        if (is_whole(&t, f) && go_on(&t, f))
            continue;
        status = find_exchanges_in(&t, f);
        remember(&t, f);
    }
    if (j->exchange_count > MOST_EXCHANGES) /* that is no recording of names that go wrong now and then */
        j->exchange_count = 0;
    if (status == ULNA_OK)
        status = choose_names(j);
    ulna_release(&j->take->allocator, t.memory, t.bytes, 1);
    return status;
}

/* ---- after the tracking ---------------------------------------------------------------------------------------------- */

static ulna_status add_swap(const ulna_track_job *j, int frame, int a, int b)
{
    ulna_track_result *r = j->result;
    for (int i = r->swap_count - 1; i >= 0; i--) {
        ulna_swap *s = &r->swaps[i];
        if (s->a == a && s->b == b && frame - s->last <= PATIENCE) {
            s->last = frame;
            s->frames++;
            return ULNA_OK;
        }
    }
    if (r->swap_count == MOST_SWAPS)
        return ULNA_OK;
    void *swaps = r->swaps;
    ulna_status status =
        ulna_grow(&j->take->allocator, &swaps, &r->swap_room, (size_t)r->swap_count + 1, sizeof *r->swaps);
    r->swaps = swaps;
    if (status == ULNA_OK)
        r->swaps[r->swap_count++] = (ulna_swap){a, b, frame, frame, 1};
    return status;
}

/* Have two markers of the take's set each other's names? */
static int is_exchanged_in(const ulna_track_job *j, size_t a, size_t b, int frame)
{
    for (int i = 0; i < j->exchange_count; i++) {
        const ulna_exchange *e = &j->exchanges[i];
        if (j->item[e->a] == (int)a && j->item[e->b] == (int)b)
            return is_pair_exchanged(j, e->a, e->b, frame);
    }
    return 0;
}

/*
 * Two outliers, each more than the scale of the loss from its place on the skeleton, are swapped where each stands within it of the
 * other's place: then a label went to the wrong marker, and exchanging the two in the recording mends it.
 */
static int is_swap(const ulna_track_job *j, const double *seen, const double *here, int frame, size_t a, size_t b)
{
    double scale = j->options->loss_scale;
    return ulna_track_distance(j, frame, a) > scale && ulna_track_distance(j, frame, b) > scale &&
           distance_between(seen + 3 * a, here + 3 * b) < scale && distance_between(seen + 3 * b, here + 3 * a) < scale;
}

/* A swap takes two markers that are off. */
static int may_be_swapped(const ulna_track_job *j, int frame)
{
    int off = 0;
    for (size_t i = 0; i < j->take->set.count; i++)
        off += ulna_track_distance(j, frame, i) > j->options->loss_scale;
    return off >= 2;
}

static ulna_status find_swaps_in(const ulna_track_job *j, ulna_pose *pose, double *seen, double *here, int frame)
{
    const ulna_marker_set *set = &j->take->set;
    ulna_status status = ulna_pose_forward(pose, ulna_clip_frame(&j->result->clip, frame));
    ulna_take_positions(j->take, frame, seen);
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++)
        status = ulna_pose_point(pose, set->items[i].body, set->items[i].offset, here + 3 * i);
    for (size_t a = 0; a < set->count; a++)
        for (size_t b = a + 1; b < set->count && status == ULNA_OK; b++)
            if (is_exchanged_in(j, a, b, frame) || is_swap(j, seen, here, frame, a, b))
                status = add_swap(j, frame, (int)a, (int)b);
    return status;
}

static int is_swapped(const ulna_track_job *j, int frame, size_t marker)
{
    for (int i = 0; i < j->result->swap_count; i++) {
        const ulna_swap *s = &j->result->swaps[i];
        if (frame >= s->first && frame <= s->last && (s->a == (int)marker || s->b == (int)marker))
            return 1;
    }
    return 0;
}

/* The RMS of a frame without markers that are swapped; NaN if none is. */
static double rms_without_swapped(const ulna_track_job *j, int frame)
{
    double sum = 0;
    int seen = 0, swapped = 0;
    for (size_t i = 0; i < j->take->set.count; i++) {
        double d = ulna_track_distance(j, frame, i);
        if (isnan(d))
            continue;
        int is_left_out = is_swapped(j, frame, i);
        swapped += is_left_out;
        seen += !is_left_out;
        sum += is_left_out ? 0 : d * d;
    }
    return swapped && seen ? sqrt(sum / seen) : (double)NAN;
}

/* A frame stands out by its markers; if these are two that are swapped, and the others fit as usual, the pose is no worse. */
static void forgive_swapped(const ulna_track_job *j)
{
    double usual = 0;
    int count = 0;
    for (int f = 0; f < j->total && j->result->swap_count; f++)
        if (!(j->result->frames[f].flags & ~(unsigned)ULNA_TRACK_STARTED)) {
            usual += j->result->frames[f].rms;
            count++;
        }
    for (int f = 0; f < j->total && count; f++)
        if (j->result->frames[f].flags & ULNA_TRACK_DOUBTFUL && rms_without_swapped(j, f) <= AS_USUAL * usual / count)
            j->result->frames[f].flags &= ~(unsigned)ULNA_TRACK_DOUBTFUL;
}

ulna_status ulna_track_find_swaps(const ulna_track_job *j)
{
    const ulna_allocator *allocator = &j->take->allocator;
    size_t count = 3 * j->take->set.count;
    ulna_pose *pose = NULL;
    double *memory = ulna_allocate(allocator, 2 * count, sizeof *memory);
    ulna_status status = memory ? ulna_pose_create(j->take->model, allocator, &pose, NULL) : ULNA_ERR_MEMORY;
    for (int f = 0; f < j->total && status == ULNA_OK; f++)
        if ((j->result->frames[f].flags & ULNA_TRACK_OUTLIERS && may_be_swapped(j, f)) || ulna_track_is_exchanged(j, f))
            status = find_swaps_in(j, pose, memory, memory + count, f);
    ulna_pose_destroy(pose);
    ulna_release(allocator, memory, 2 * count, sizeof *memory);
    forgive_swapped(j);
    return status;
}
