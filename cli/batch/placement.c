/*
 * Whether the markers of a take are where they were when its group was calibrated: what the library measures, kept in the record of a
 * calibration.
 */
#include <math.h>
#include <stdlib.h>

#include "cli/batch/batch.h"

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
    if (batch_load_skeleton(skeleton_path, 0, &skeleton) == ULNA_OK &&
        cli_with_memory(files_markers(path, 0, &markers, NULL)) == ULNA_OK) {
        ulna_take_options options = ulna_take_options_for(&skeleton, &markers);
        options.attach = ULNA_ATTACH_NAMES;
        if (cli_with_memory(ulna_take_create(&options, &take, NULL)) == ULNA_OK)
            list_pairs(take, pairs);
    }
    ulna_take_destroy(take);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    return pairs;
}

static double number_of(const json_t *row, const char *key)
{
    const json_t *number = json_object_get(row, key);
    return number ? json_number_value(number) : (double)NAN;
}

int placement_is_known(const json_t *pairs)
{
    for (size_t i = 0; i < json_array_size(pairs); i++)
        if (json_object_get(json_array_get(pairs, i), "low"))
            return 1;
    return 0;
}

static void keep_ranges(const ulna_marker_distance *distances, json_t *pairs)
{
    for (size_t i = 0; i < json_array_size(pairs); i++)
        if (distances[i].low <= distances[i].high) {
            put_number(json_array_get(pairs, i), "low", distances[i].low);
            put_number(json_array_get(pairs, i), "high", distances[i].high);
        }
}

/* Where it cannot be said, they are where they were: who solves it says what is wrong. */
int placement_differs(json_t *pairs, files_kept *kept, int *frames)
{
    size_t count = json_array_size(pairs);
    const ulna_content *markers = count || frames ? files_kept_markers(kept) : NULL;
    ulna_marker_distance *distances = malloc((count + 1) * sizeof *distances);
    int differs = 0;
    for (size_t i = 0; i < count && distances; i++) {
        const json_t *row = json_array_get(pairs, i);
        distances[i] = (ulna_marker_distance){json_string_value(json_object_get(row, "a")),
                                              json_string_value(json_object_get(row, "b")), number_of(row, "low"),
                                              number_of(row, "high")};
    }
    if (distances && markers) {
        ulna_status status = ulna_placement_compare(&markers->recording, frames != NULL, distances, count, &differs);
        if (frames)
            *frames = markers->recording.frame_count;
        if (frames && !differs && status == ULNA_OK)
            keep_ranges(distances, pairs);
    }
    free(distances);
    return differs;
}
