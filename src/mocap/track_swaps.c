/*
 * Labels that a recording gives to the wrong markers, in the result of a tracking: names that leapt, which the take has exchanged back
 * (take_exchanges.c), and two outliers, each at the other's place, as after a gap in which names were exchanged.
 */
#include <string.h>

#include "base/base.h"
#include "math/math3.h"
#include "mocap/track.h"
#include "ulna/kinematics.h"

enum {
    MOST_SWAPS = 64,
    PATIENCE = 30 /* frames: a swap goes on over so many in which one of the two is missing */
};
#define AS_USUAL 2.0 /* times the RMS of frames without marks */

static double distance_between(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return ulna_norm(d);
}

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
    const int *source = j->take->source, is_mended = !j->is_as_recorded;
    ulna_status status = ulna_pose_forward(pose, ulna_clip_frame(&j->result->clip, frame));
    ulna_take_gather_recorded(j->take, frame, set->count, source, seen);
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++)
        status = ulna_pose_point(pose, set->items[i].body, set->items[i].offset, here + 3 * i);
    for (size_t a = 0; a < set->count; a++)
        for (size_t b = a + 1; b < set->count && status == ULNA_OK; b++)
            if ((is_mended && ulna_take_is_pair_exchanged(j->take, source[a], source[b], frame)) ||
                is_swap(j, seen, here, frame, a, b))
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
        if ((j->result->frames[f].flags & ULNA_TRACK_OUTLIERS && may_be_swapped(j, f)) ||
            (!j->is_as_recorded && ulna_take_is_exchanged(j->take, f)))
            status = find_swaps_in(j, pose, memory, memory + count, f);
    ulna_pose_destroy(pose);
    ulna_release(allocator, memory, 2 * count, sizeof *memory);
    forgive_swapped(j);
    return status;
}
