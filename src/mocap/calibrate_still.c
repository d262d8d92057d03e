/*
 * Where somebody stands still. A static trial shows one pose, which the calibration holds to rest: if the person walks in
 * it, lengths and offsets make up for the steps. People sway by a centimetre or two; markers of somebody who walks leave
 * their places within 0.1 s. Frames with few markers do not tell: those of a foot on the ground stay where they are.
 */
#include <math.h>

#include "base/algorithms.h"
#include "mocap/anatomy.h"
#include "mocap/calibrator.h"
#include "model/model.h"

#define NEAR 0.03  /* m on an adult: so near to its place, */
#define MOSTLY 0.9 /* of the markers are, */
#define LONG 0.5   /* s: for so long at least, or throughout */

enum { ANCHORS = 24, UNKNOWN_LONG = 15 }; /* frames that the others are compared with; where the rate is not known */

typedef enum likeness { ALIKE, UNLIKE, NOT_KNOWN } likeness;

typedef struct search {
    const ulna_take *take;
    double near; /* m */
    int enough;  /* markers that two frames must have in common */
} search;

static int seen_in(const ulna_take *take, int frame)
{
    double x[3];
    int seen = 0;
    for (size_t i = 0; i < take->set.count; i++)
        seen += ulna_take_marker(take, frame, take->source[i], x);
    return seen;
}

/* Are the markers of a frame where they are in another one? Markers that are missing in one of them do not tell. */
static likeness compare(const search *s, int frame, int other)
{
    const ulna_take *take = s->take;
    int seen = 0, moved = 0;
    for (size_t i = 0; i < take->set.count; i++) {
        double x[3], y[3], d[3];
        if (!ulna_take_marker(take, frame, take->source[i], x) || !ulna_take_marker(take, other, take->source[i], y))
            continue;
        ulna_subtract3(x, y, d);
        seen++;
        moved += ulna_norm(d) > s->near;
    }
    return seen < s->enough ? NOT_KNOWN : moved <= (1 - MOSTLY) * seen ? ALIKE : UNLIKE;
}

/* m: how far the marker that moves as much as half of them do gets from its place in a frame. */
static double moved_from(const ulna_take *take, int anchor, double *numbers)
{
    size_t count = 0;
    for (size_t i = 0; i < take->set.count; i++) {
        double x[3], y[3], d[3], most = 0;
        if (!ulna_take_marker(take, anchor, take->source[i], x))
            continue;
        for (int f = 0; f < take->frame_count; f++)
            if (ulna_take_marker(take, f, take->source[i], y)) {
                ulna_subtract3(y, x, d);
                most = fmax(most, ulna_norm(d));
            }
        numbers[count++] = most;
    }
    return count ? ulna_median(numbers, count) : 0;
}

/* The last frame on this side of the anchor, up to which none is unlike it. */
static int farthest_alike(const search *s, int anchor, int way)
{
    int farthest = anchor;
    for (int f = anchor + way; f >= 0 && f < s->take->frame_count; f += way) {
        likeness it = compare(s, f, anchor);
        if (it == UNLIKE)
            break;
        farthest = it == ALIKE ? f : farthest;
    }
    return farthest;
}

/* The frame that shows the most markers; and how many show any. */
static int fullest_frame(const ulna_take *take, int *most, int *shown)
{
    int fullest = 0;
    *most = *shown = 0;
    for (int f = 0; f < take->frame_count; f++) {
        int seen = seen_in(take, f);
        *shown += seen > 0;
        if (seen > *most) {
            *most = seen;
            fullest = f;
        }
    }
    return fullest;
}

ulna_status ulna_take_find_still(const ulna_take *take, int *first, int *last, ulna_error *error)
{
    double seconds = take->recording->frame_seconds;
    int most, shown, anchor = fullest_frame(take, &most, &shown), fullest = anchor;
    search s = {take, NEAR * take->model->length_scale / ULNA_ADULT_LENGTH_SCALE, (most + 1) / 2};
    int needed = seconds > 0 ? (int)fmin(LONG / seconds, take->frame_count) : UNKNOWN_LONG;
    needed = needed < shown ? needed : shown;
    *first = 0;
    *last = -1;
    for (int a = 0; a <= ANCHORS && *last - *first + 1 < take->frame_count; a++) {
        int at = a < ANCHORS ? ulna_take_sample(take, a, ANCHORS) : fullest;
        if ((at >= *first && at <= *last) || seen_in(take, at) < s.enough)
            continue;
        int from = farthest_alike(&s, at, -1), to = farthest_alike(&s, at, 1);
        if (to - from > *last - *first) {
            *first = from;
            *last = to;
            anchor = at;
        }
    }
    if (*last - *first + 1 >= needed)
        return ULNA_OK;
    double *numbers = ulna_allocate(&take->allocator, take->set.count, sizeof *numbers);
    if (!numbers)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %zu markers", take->set.count);
    double moved = moved_from(take, anchor, numbers);
    ulna_release(&take->allocator, numbers, take->set.count, sizeof *numbers);
    return ulna_fail(
        error, ULNA_ERR_ARGUMENT,
        "nobody stands still in this static trial: half of the markers move by %.0f cm or more, and for half a "
        "second, or %d frames, they must stay within %.0f cm. Record the person standing still, or do without",
        100 * moved, needed, 100 * s.near);
}
