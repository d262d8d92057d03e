/* Clips and recordings: memory and names. */
#include "ulna/motion.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "motion/convert.h"

/* Room for `frames` rows of `width` doubles. Growth is by half, so that one more frame is cheap. */
static ulna_status make_room(const ulna_allocator *allocator, double **values, size_t *capacity, size_t width,
                             size_t used_frames, size_t frames)
{
    if (width && frames > (size_t)PTRDIFF_MAX / sizeof **values / width)
        return ULNA_ERR_LIMIT;
    size_t used = used_frames * width, needed = frames * width;
    if (needed > *capacity) {
        size_t room = *capacity && needed < *capacity + *capacity / 2 ? *capacity + *capacity / 2 : needed;
        double *grown = ulna_allocate_raw(allocator, room, sizeof *grown);
        if (!grown)
            return ULNA_ERR_MEMORY;
        if (used)
            memcpy(grown, *values, (used < needed ? used : needed) * sizeof *grown);
        ulna_release(allocator, *values, *capacity, sizeof *grown);
        *values = grown;
        *capacity = room;
    }
    return ULNA_OK;
}

/* Rows of `width` doubles, from one frame to before another. */
static void fill_rows(double *values, int width, int from, int to, double value)
{
    for (size_t i = (size_t)from * (size_t)width; from < to && i < (size_t)to * (size_t)width; i++)
        values[i] = value;
}

ulna_clip ulna_clip_empty(const ulna_allocator *allocator)
{
    return (ulna_clip){.allocator = ulna_allocator_or_default(allocator), .first_frame = 1};
}

ulna_status ulna_clip_resize(ulna_clip *clip, int coordinate_count, int frame_count)
{
    if (!clip || coordinate_count < 0 || frame_count < 0 ||
        (clip->frame_count > 0 && coordinate_count != clip->coordinate_count))
        return ULNA_ERR_ARGUMENT;
    ulna_status status = make_room(&clip->allocator, &clip->q, &clip->capacity, (size_t)coordinate_count,
                                   (size_t)clip->frame_count, (size_t)frame_count);
    if (status != ULNA_OK)
        return status;
    fill_rows(clip->q, coordinate_count, clip->frame_count, frame_count, 0);
    clip->coordinate_count = coordinate_count;
    clip->frame_count = frame_count;
    return ULNA_OK;
}

void ulna_clip_release(ulna_clip *clip)
{
    if (clip) {
        ulna_release(&clip->allocator, clip->q, clip->capacity, sizeof *clip->q);
        *clip = ulna_clip_empty(&clip->allocator);
    }
}

ulna_recording ulna_recording_empty(const ulna_allocator *allocator)
{
    return (ulna_recording){.allocator = ulna_allocator_or_default(allocator), .first_frame = 1};
}

ulna_status ulna_recording_resize_raw(ulna_recording *recording, int marker_count, int frame_count)
{
    if (!recording || marker_count < 0 || frame_count < 0 ||
        (recording->marker_count > 0 && marker_count != recording->marker_count))
        return ULNA_ERR_ARGUMENT;
    if (marker_count > INT_MAX / 4)
        return ULNA_ERR_LIMIT;
    char(*names)[ULNA_MARKER_NAME] = recording->names;
    if (!names && marker_count) {
        names = ulna_allocate(&recording->allocator, (size_t)marker_count, sizeof *names);
        if (!names)
            return ULNA_ERR_MEMORY;
    }
    ulna_status status = make_room(&recording->allocator, &recording->positions, &recording->capacity,
                                   3 * (size_t)marker_count, (size_t)recording->frame_count, (size_t)frame_count);
    if (status != ULNA_OK) {
        if (!recording->names)
            ulna_release(&recording->allocator, names, (size_t)marker_count, sizeof *names);
        return status;
    }
    recording->names = names;
    recording->marker_count = marker_count;
    recording->frame_count = frame_count;
    return ULNA_OK;
}

ulna_status ulna_recording_resize(ulna_recording *recording, int marker_count, int frame_count)
{
    int before = recording ? recording->frame_count : 0;
    ulna_status status = ulna_recording_resize_raw(recording, marker_count, frame_count);
    if (status == ULNA_OK)
        fill_rows(recording->positions, 3 * marker_count, before, frame_count, (double)NAN);
    return status;
}

void ulna_recording_release(ulna_recording *recording)
{
    if (recording) {
        ulna_release(&recording->allocator, recording->names, (size_t)recording->marker_count,
                     sizeof *recording->names);
        ulna_release(&recording->allocator, recording->positions, recording->capacity, sizeof *recording->positions);
        *recording = ulna_recording_empty(&recording->allocator);
    }
}

int ulna_recording_find(const ulna_recording *recording, const char *name)
{
    if (!recording || !name)
        return ULNA_NONE;
    for (int i = 0; i < recording->marker_count; i++)
        if (strcmp(recording->names[i], name) == 0)
            return i;
    const char *own = ulna_name_without_prefix(name);
    for (int exact = 1; exact >= 0; exact--) {
        int found = ULNA_NONE, count = 0;
        for (int i = 0; i < recording->marker_count; i++) {
            const char *other = ulna_name_without_prefix(recording->names[i]);
            if ((exact ? strcmp(other, own) : ulna_compare_names(other, own)) == 0)
                found = count++ ? found : i;
        }
        if (count == 1 || (exact && count > 0))
            return found;
    }
    return ULNA_NONE;
}

long long ulna_recording_missing(const ulna_recording *recording)
{
    long long missing = 0;
    for (int f = 0; recording && f < recording->frame_count; f++)
        for (int m = 0; m < recording->marker_count; m++)
            missing += isnan(ulna_recording_frame(recording, f)[3 * m]);
    return missing;
}
