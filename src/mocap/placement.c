/*
 * Whether the markers of a recording are where they were in others: by the distances between markers on the same bone, which no
 * movement changes but for the skin's. They come from the recordings alone.
 *
 * Of the recordings that are alike, each such distance has a range: from the lowest to the highest of their 5th and 95th percentiles.
 * In one whose markers were placed anew its median lies outside, farther from the middle than the whole range is wide, and by more than
 * SHIFT of a usual distance; and the middle of the range lies as far outside of what that recording shows. The second keeps short ones,
 * in which skin hardly moves, with the others.
 *
 * Chosen on the four takes of HDM05's actor dg: pieces of the same take differ by 2 mm at most, of others by 11 mm at least.
 */
#include <math.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "mocap/take.h"

enum { SAMPLES = 400, FEWEST = 10 }; /* frames that are looked at, and that a distance needs */
#define SHIFT 0.05                   /* of the median of all distances: 8 mm on an adult */
#define TAIL 0.05                    /* of the frames, at either end */

typedef struct range {
    double low, high;
} range;

/* As it is called; or, where a recording has other prefixes, the name behind the last colon. */
static int find_marker(const ulna_recording *recording, const char *name)
{
    int found = ulna_recording_find(recording, name);
    const char *colon = strrchr(name, ':'), *own = colon ? colon + 1 : name;
    for (int i = 0; i < recording->marker_count && found == ULNA_NONE; i++) {
        const char *other = strrchr(recording->names[i], ':');
        if (strcmp(other ? other + 1 : recording->names[i], own) == 0)
            found = i;
    }
    return found;
}

/* Zeros are how many systems write a marker that they do not see. */
static int is_seen(const double *x)
{
    return ulna_is_position(x) && !ulna_is_zero(x);
}

/* Squares of a distance in frames of all the recording. Returns how many, 0 if the two are not seen together often enough. */
static size_t measure(const ulna_recording *recording, const ulna_marker_distance *pair, double squares[SAMPLES])
{
    const int a = pair->a ? find_marker(recording, pair->a) : ULNA_NONE;
    const int b = pair->b ? find_marker(recording, pair->b) : ULNA_NONE;
    size_t count = 0;
    if (a == ULNA_NONE || b == ULNA_NONE || a == b)
        return 0;
    for (int i = 0; i < SAMPLES && i < recording->frame_count; i++) {
        int frame = recording->frame_count < SAMPLES ? i : (int)((i + 0.5) * recording->frame_count / SAMPLES);
        const double *row = ulna_recording_frame(recording, frame), *x = row + 3 * (size_t)a, *y = row + 3 * (size_t)b;
        if (is_seen(x) && is_seen(y))
            squares[count++] = ulna_squared_distance(x, y, 3);
    }
    return count < FEWEST ? 0 : count;
}

static double median_of(double *squares, size_t count)
{
    return sqrt(ulna_select_number(squares, count, count / 2));
}

/* Without the tails. */
static range range_of(double *squares, size_t count)
{
    size_t tail = (size_t)(TAIL * (double)count);
    return (range){sqrt(ulna_select_number(squares, count, tail)),
                   sqrt(ulna_select_number(squares, count, count - 1 - tail))};
}

static int is_known(const ulna_marker_distance *pair)
{
    return pair->low <= pair->high;
}

/* What is usual: the median of the middles; infinite if no range is known. */
static ulna_status find_usual(const ulna_allocator *allocator, const ulna_marker_distance *pairs, size_t count,
                              double *usual)
{
    size_t known = 0;
    double *middles = ulna_allocate(allocator, count, sizeof *middles);
    if (!middles)
        return ULNA_ERR_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (is_known(&pairs[i]))
            middles[known++] = 0.5 * (pairs[i].low + pairs[i].high);
    *usual = known ? ulna_quick_median(middles, known) : (double)INFINITY;
    ulna_release(allocator, middles, count, sizeof *middles);
    return ULNA_OK;
}

/* How far a number is outside. */
static double outside(double number, double low, double high)
{
    return fmax(0, fmax(number - high, low - number));
}

/* The range, which costs more than the median, is looked at only where the median is outside. */
static int is_elsewhere(const ulna_marker_distance *pair, double *squares, size_t count, double shift)
{
    const double middle = 0.5 * (pair->low + pair->high), most = fmax(0.5 * (pair->high - pair->low), shift);
    if (!(outside(median_of(squares, count), pair->low, pair->high) > most))
        return 0;
    const range found = range_of(squares, count);
    return outside(middle, found.low, found.high) > most;
}

ulna_status ulna_placement_compare(const ulna_recording *recording, int learn, ulna_marker_distance *pairs,
                                   size_t count, int *is_anew)
{
    double usual, squares[SAMPLES];
    size_t seen;
    if (!recording || !is_anew || (count && !pairs))
        return ULNA_ERR_ARGUMENT;
    *is_anew = 0;
    const ulna_allocator allocator = ulna_allocator_or_default(&recording->allocator);
    ulna_status status = find_usual(&allocator, pairs, count, &usual);
    for (size_t i = 0; i < count && status == ULNA_OK && !*is_anew; i++)
        if (is_known(&pairs[i]) && (seen = measure(recording, &pairs[i], squares)))
            *is_anew = is_elsewhere(&pairs[i], squares, seen, SHIFT * usual);
    for (size_t i = 0; i < count && status == ULNA_OK && learn && !*is_anew; i++)
        if ((seen = measure(recording, &pairs[i], squares))) {
            const range found = range_of(squares, seen);
            int had = is_known(&pairs[i]);
            pairs[i].low = had ? fmin(pairs[i].low, found.low) : found.low;
            pairs[i].high = had ? fmax(pairs[i].high, found.high) : found.high;
        }
    return status;
}
