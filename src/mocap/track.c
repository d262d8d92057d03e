/*
 * A whole take: cut into chunks, tracked, stitched, and its gaps filled.
 *
 * Chunks are cut by frame count alone, and each is tracked from a fresh start a few frames before its own: so the
 * result does not depend on how many threads work on them. What happens at the seams, and to frames without markers, is
 * in track_seams.c.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/parallel.h"
#include "math/math3.h"
#include "mocap/track.h"
#include "mocap/tracker.h"
#include "model/model.h"

#define LEAP 2.5 /* radians from frame to frame: other angles for the same pose, as near gimbal lock, and no motion */

/* ---- markers ----------------------------------------------------------------------------------------------------- */

/* A marker that is never seen leaves its joints to the start, as one that is not there. */
static ulna_status choose_markers(ulna_track_job *j, ulna_error *error)
{
    const ulna_take *take = j->take;
    j->used = ulna_marker_set_empty(&take->allocator);
    j->item = ulna_allocate(&take->allocator, take->set.count, sizeof *j->item);
    j->source = ulna_allocate(&take->allocator, take->set.count, sizeof *j->source);
    j->leap = ulna_allocate(&take->allocator, (size_t)take->model->nv, sizeof *j->leap);
    ulna_status status = j->item && j->source && j->leap ? ULNA_OK : ULNA_ERR_MEMORY;
    for (int d = 0; d < take->model->nv && status == ULNA_OK; d++)
        j->leap[d] = ulna_segment_is_translation(take->model->dof_segment[d]) ? (double)INFINITY : LEAP;
    for (size_t i = 0; i < take->set.count && status == ULNA_OK; i++) {
        const ulna_attachment *item = &take->set.items[i];
        if (!take->seen[i])
            continue;
        status = ulna_marker_set_append(&j->used, item);
        if (status == ULNA_OK) {
            j->item[j->used.count - 1] = (int)i;
            j->source[j->used.count - 1] = take->source[i];
        }
        j->counting += item->weight > 0;
    }
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for %zu markers", take->set.count);
    if (!j->used.count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "none of the %zu markers that set and recording have in common is ever visible",
                         take->set.count);
    return j->counting ? ULNA_OK : ulna_fail(error, ULNA_ERR_ARGUMENT, "no visible marker has a weight above 0");
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

void ulna_track_gather(const ulna_track_job *j, int frame, double *positions)
{
    if (j->is_as_recorded)
        ulna_take_gather_recorded(j->take, frame, j->used.count, j->source, positions);
    else
        ulna_take_gather(j->take, frame, j->used.count, j->source, positions);
}

void ulna_track_keep(const ulna_track_job *j, const ulna_tracker *tracker, int frame, const ulna_frame_report *report)
{
    ulna_frame_report *to = &j->result->frames[frame];
    double *distances = j->result->distances + (size_t)frame * j->take->set.count;
    *to = *report;
    if (report->worst_marker != ULNA_NONE)
        to->worst_marker = j->item[report->worst_marker];
    for (size_t i = 0; i < j->take->set.count && j->used.count < j->take->set.count; i++)
        distances[i] = (double)NAN;
    for (size_t i = 0; i < j->used.count; i++)
        distances[j->item[i]] = tracker->distance[i];
}

void ulna_track_progress(ulna_track_job *j)
{
    long long done = atomic_fetch_add(&j->done, 1) + 1, all = (long long)j->passes * j->total;
    if (!j->options->progress || (done % 32 && done != all) || atomic_flag_test_and_set(&j->in_progress))
        return;
    if (j->options->progress(j->options->progress_context, (int)(done / j->passes), j->total))
        atomic_store(&j->cancelled, 1);
    atomic_flag_clear(&j->in_progress);
}

/* `q`: for the frames before the chunk's own. */
static ulna_status follow(ulna_track_job *j, ulna_tracker *tracker, int index, double *positions, double *q,
                          ulna_error *error)
{
    int first = index * j->chunk, last = first + j->chunk < j->total ? first + j->chunk : j->total;
    int from = first - j->options->overlap_frames > 0 ? first - j->options->overlap_frames : 0;
    ulna_status status = ULNA_OK;
    for (int frame = from; frame < last && status == ULNA_OK && !atomic_load(&j->cancelled); frame++) {
        int counts = frame >= first;
        ulna_frame_report report;
        ulna_track_gather(j, frame, positions);
        ulna_take_prefetch(j->take, frame + 1);
        status = ulna_tracker_frame(tracker, positions, counts ? ulna_clip_frame(&j->result->clip, frame) : q, &report);
        if (status != ULNA_OK)
            ulna_fail(error, status, "frame %lld could not be solved: %s", (long long)frame + j->take->first_frame,
                      ulna_status_text(status));
        if (!counts)
            continue;
        ulna_track_keep(j, tracker, frame, &report);
        ulna_track_progress(j);
    }
    return status;
}

static ulna_status track_chunk(ulna_track_job *j, int index, ulna_error *error)
{
    const ulna_allocator *allocator = &j->take->allocator;
    size_t count = 3 * j->used.count, room = count + (size_t)j->take->model->nq;
    ulna_tracker *tracker = NULL;
    double *positions = ulna_allocate(allocator, room, sizeof *positions);
    if (!positions)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a frame");
    ulna_status status = ulna_tracker_create(j->take->model, &j->used, j->options, allocator, &tracker, error);
    if (status == ULNA_OK) {
        status = follow(j, tracker, index, positions, positions + count, error);
        j->outcomes[index].usual = tracker->usual;
    }
    ulna_tracker_destroy(tracker);
    ulna_release(allocator, positions, room, sizeof *positions);
    return status;
}

static void run_chunks(const void *context, int first, int last)
{
    ulna_track_job *j = *(ulna_track_job *const *)context;
    for (int c = first; c < last; c++)
        if (!atomic_load(&j->cancelled)) {
            j->outcomes[c].status = track_chunk(j, c, &j->outcomes[c].error);
            if (j->outcomes[c].status != ULNA_OK)
                atomic_store(&j->cancelled, 1);
        }
}

/* Returns the failure of the first chunk that has one. After a failure no chunk begins, so with several threads it may be another. */
static ulna_status track_chunks(ulna_track_job *j, ulna_error *error)
{
    enum { FRAME_US = 10 };
    int threads = j->options->threads < j->chunks ? j->options->threads : j->chunks;
    ulna_parallel_for(threads, FRAME_US * (double)j->total, j->chunks, 1, run_chunks, &j);
    for (int c = 0; c < j->chunks; c++)
        if (j->outcomes[c].status != ULNA_OK) {
            if (error)
                *error = j->outcomes[c].error;
            return j->outcomes[c].status;
        }
    return ULNA_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static ulna_status check(const ulna_take *take, const ulna_track_options *o, ulna_error *error)
{
    if (o->chunk_frames < 0 || o->overlap_frames < 0 || o->threads < 0)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "options: chunk_frames, overlap_frames and threads must not be negative");
    if (o->oracle && !take->reference)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "offsets for each frame need a take with a reference motion");
    if ((unsigned)o->oracle_start > ULNA_ORACLE_ZERO)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "options: oracle_start is not one of its values");
    return ulna_track_check_constraints(take, o, error);
}

static ulna_status track_in_chunks(ulna_track_job *j, ulna_error *error)
{
    j->outcomes = ulna_allocate(&j->take->allocator, (size_t)j->chunks, sizeof *j->outcomes);
    ulna_status status =
        j->outcomes ? track_chunks(j, error) : ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %d chunks", j->chunks);
    if (status == ULNA_OK && !atomic_load(&j->cancelled))
        status = ulna_track_stitch(j, error);
    ulna_release(&j->take->allocator, j->outcomes, (size_t)j->chunks, sizeof *j->outcomes);
    return status;
}

/* Joints of the skeleton have no skin that moves: what is expected besides the markers counts a hundredth then. */
static void resolve(const ulna_take *take, ulna_track_options *o)
{
    double *const weights[] = {&o->smooth, &o->curve, &o->posture, &o->hold, &o->limits};
    enum { COUNT = sizeof weights / sizeof *weights };
    int is_automatic[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        is_automatic[i] = *weights[i] == ULNA_AUTO;
    ulna_track_options_resolve(ulna_marker_set_length_scale(take->model, &take->set), o);
    for (size_t i = 0; i < COUNT && take->joints == (int)take->set.count; i++)
        *weights[i] *= is_automatic[i] ? 0.01 : 1;
}

ulna_status ulna_track(const ulna_take *take, const ulna_track_options *options, ulna_track_result *result,
                       ulna_error *error)
{
    ulna_track_options resolved = options ? *options : ulna_track_options_default(), *o = &resolved;
    if (result)
        *result = (ulna_track_result){.goal_count = 0};
    if (!take || !result)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a take and a pointer for the result are needed");
    if (o->oracle && o->solve.decrease == ULNA_AUTO) /* which is about tracking */
        o->solve.decrease = ulna_options_default().decrease;
    resolve(take, o);
    ulna_status status = check(take, o, error);
    if (status != ULNA_OK)
        return status;
    double started = ulna_seconds();
    int total = take->frame_count;
    ulna_track_job j = {.take = take,
                        .options = o,
                        .result = result,
                        .chunk = o->chunk_frames > 0 && o->chunk_frames < total ? o->chunk_frames : total,
                        .total = total,
                        .is_as_recorded = !o->loss || o->oracle || o->causal, /* plain least squares, too */
                        .passes = o->oracle || o->causal ? 1 : 2 + (o->smooth > 0 ? ULNA_TRACK_SWEEPS : 0)};
    j.chunks = (total - 1) / j.chunk + 1;
    j.passes += ulna_track_has_constraints(&j, NULL);
    status = ulna_track_result_begin(take, result, error);
    if (status == ULNA_OK)
        status = choose_markers(&j, error);
    if (status == ULNA_OK)
        status = o->oracle ? ulna_track_oracle(&j, error) : track_in_chunks(&j, error);
    if (status == ULNA_OK && !o->oracle && !o->causal && !atomic_load(&j.cancelled))
        status = ulna_track_look_back(&j, error);
    if (status == ULNA_OK && o->causal && ulna_track_has_constraints(&j, NULL) && !atomic_load(&j.cancelled))
        status = ulna_track_keep_constraints(&j, NULL, NULL, error);
    if (status == ULNA_OK && atomic_load(&j.cancelled))
        status = ulna_fail(error, ULNA_ERR_STATE, "cancelled");
    if (status == ULNA_OK)
        status = ulna_track_result_finish(&j, started, error);
    if (status == ULNA_OK)
        status = ulna_take_check_numbers(take, &result->clip, error);
    ulna_release(&take->allocator, j.item, take->set.count, sizeof *j.item);
    ulna_release(&take->allocator, j.source, take->set.count, sizeof *j.source);
    ulna_release(&take->allocator, j.leap, (size_t)take->model->nv, sizeof *j.leap);
    ulna_marker_set_release(&j.used);
    if (status != ULNA_OK)
        ulna_track_result_release(result);
    return status;
}
