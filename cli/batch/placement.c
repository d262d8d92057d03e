/*
 * Whether the markers of a take are where they were when its group was calibrated: by the distances between markers on the same bone,
 * which no movement changes but for the skin's. They come from the recordings alone.
 *
 * Of the takes of a calibration, each such distance has a range: from the lowest to the highest of their 5th and 95th percentiles. In a
 * take whose markers were placed anew its median lies outside, farther from the middle than the whole range is wide, and by more than
 * SHIFT of a usual distance; and the middle of the range lies as far outside of what that take shows. The second keeps short takes, in
 * which skin hardly moves, with the others.
 *
 * Chosen on the four takes of HDM05's actor dg: pieces of the same take differ by 2 mm at most, of others by 11 mm at least.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/batch.h"
#include "src/base/algorithms.h"

enum { SAMPLES = 400, FEWEST = 10 }; /* frames that are looked at, and that a distance needs */
#define SHIFT 0.05                   /* of the median of all distances: 8 mm on an adult */
#define TAIL 0.05                    /* of the frames, at either end */

typedef struct spread {
    double low, median, high;
} spread;

/* As the calibration has it; or, where a recording has other prefixes, the name behind the last colon. */
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
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]) && (x[0] != 0 || x[1] != 0 || x[2] != 0);
}

/* 0 if the two are not seen together often enough. */
static int measure(const ulna_recording *recording, const char *a, const char *b, spread *found)
{
    double numbers[SAMPLES];
    int at[2] = {find_marker(recording, a), find_marker(recording, b)};
    size_t count = 0;
    if (at[0] == ULNA_NONE || at[1] == ULNA_NONE || at[0] == at[1])
        return 0;
    for (int i = 0; i < SAMPLES && i < recording->frame_count; i++) {
        int step = recording->frame_count < SAMPLES ? i : (int)((i + 0.5) * recording->frame_count / SAMPLES);
        const double *frame = recording->positions + 3 * (size_t)recording->marker_count * (size_t)step;
        const double *x = frame + 3 * (size_t)at[0], *y = frame + 3 * (size_t)at[1];
        if (is_seen(x) && is_seen(y))
            numbers[count++] = hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]);
    }
    if (count < FEWEST)
        return 0;
    ulna_sort_numbers(numbers, count);
    size_t tail = (size_t)(TAIL * (double)count);
    *found = (spread){numbers[tail], numbers[count / 2], numbers[count - 1 - tail]};
    return 1;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void widen(json_t *row, const spread *by)
{
    const json_t *low = json_object_get(row, "low"), *high = json_object_get(row, "high");
    put_number(row, "low", low ? fmin(json_number_value(low), by->low) : by->low);
    put_number(row, "high", high ? fmax(json_number_value(high), by->high) : by->high);
}

static void list_pairs(const ulna_take *take, json_t *pairs)
{
    const ulna_marker_set *set = &take->set;
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = i + 1; k < set->count; k++)
            if (set->items[i].body == set->items[k].body) {
                json_t *row = put_row(pairs);
                put_text(row, "a", set->items[i].marker);
                put_text(row, "b", set->items[k].marker);
            }
}

json_t *placement_pairs(const char *skeleton_path, const char *path)
{
    ulna_content skeleton = ulna_content_empty(NULL), markers = ulna_content_empty(NULL);
    ulna_take *take = NULL;
    json_t *pairs = json_array();
    if (files_skeleton(skeleton_path, 0, &skeleton, NULL) == ULNA_OK &&
        files_markers(path, 0, &markers, NULL) == ULNA_OK) {
        ulna_take_options options = ulna_take_options_for(&skeleton, &markers);
        options.attach = ULNA_ATTACH_NAMES;
        if (ulna_take_create(&options, &take, NULL) == ULNA_OK)
            list_pairs(take, pairs);
    }
    ulna_take_destroy(take);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    return pairs;
}

int placement_learn(json_t *pairs, const char *path)
{
    ulna_content markers = ulna_content_empty(NULL);
    int is_read = files_markers(path, 0, &markers, NULL) == ULNA_OK;
    for (size_t i = 0; i < json_array_size(pairs) && is_read; i++) {
        json_t *row = json_array_get(pairs, i);
        spread found;
        if (measure(&markers.recording, text_of(row, "a"), text_of(row, "b"), &found))
            widen(row, &found);
    }
    int frames = is_read ? markers.recording.frame_count : 0;
    ulna_content_release(&markers);
    return frames;
}

/* How far a number is outside. */
static double outside(double number, double low, double high)
{
    return fmax(0, fmax(number - high, low - number));
}

/* What is usual: the median of the middles. */
static double usual_distance(const json_t *pairs)
{
    size_t count = 0, i;
    const json_t *row;
    double *middles = malloc((json_array_size(pairs) + 1) * sizeof *middles);
    for (i = 0; i < json_array_size(pairs) && middles; i++) {
        row = json_array_get(pairs, i);
        if (json_object_get(row, "low"))
            middles[count++] = 0.5 * (json_number_value(json_object_get(row, "low")) +
                                      json_number_value(json_object_get(row, "high")));
    }
    double usual = count ? ulna_median(middles, count) : (double)INFINITY;
    free(middles);
    return usual;
}

int placement_is_known(const json_t *pairs)
{
    return isfinite(usual_distance(pairs));
}

int placement_differs(const json_t *pairs, const char *path)
{
    ulna_content markers = ulna_content_empty(NULL);
    double shift = SHIFT * usual_distance(pairs);
    int differs = 0;
    if (!json_array_size(pairs) || files_markers(path, 0, &markers, NULL) != ULNA_OK) {
        ulna_content_release(&markers); /* who solves it says what is wrong */
        return 0;
    }
    for (size_t i = 0; i < json_array_size(pairs) && !differs; i++) {
        const json_t *row = json_array_get(pairs, i);
        double low = json_number_value(json_object_get(row, "low"));
        double high = json_number_value(json_object_get(row, "high"));
        spread found;
        if (!json_object_get(row, "low") || !measure(&markers.recording, text_of(row, "a"), text_of(row, "b"), &found))
            continue;
        double away = fmin(outside(found.median, low, high), outside(0.5 * (low + high), found.low, found.high));
        differs = away > fmax(0.5 * (high - low), shift);
    }
    ulna_content_release(&markers);
    return differs;
}
