/*
 * A whole recording: matched by name, cut into chunks, tracked, stitched, and its gaps filled.
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

/* ---- matching ---------------------------------------------------------------------------------------------------- */

static void release_matching(ulna_track_matching *m, const ulna_allocator *allocator)
{
    ulna_marker_set_release(&m->used);
    ulna_release(allocator, m->source, m->room, sizeof *m->source);
}

/* In some frame. One that never is leaves its joints to the start, as one that is not there. */
static int is_seen(const ulna_recording *recording, int marker)
{
    for (int f = 0; f < recording->frame_count; f++)
        if (ulna_is_position(ulna_recording_frame(recording, f) + 3 * (size_t)marker))
            return 1;
    return 0;
}

static ulna_status match(const ulna_marker_set *set, const ulna_recording *recording, ulna_track_matching *m,
                         ulna_error *error)
{
    const ulna_allocator *allocator = &set->allocator;
    m->used = ulna_marker_set_empty(allocator);
    m->room = set->count;
    m->source = ulna_allocate(allocator, m->room, sizeof *m->source);
    if (!m->source)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %zu markers", set->count);
    int known = 0;
    for (size_t i = 0; i < set->count; i++) {
        const ulna_attachment *item = &set->items[i];
        int found = ulna_recording_find(recording, item->marker);
        known += found != ULNA_NONE;
        if (found == ULNA_NONE || !is_seen(recording, found)) {
            m->unmatched++;
            continue;
        }
        ulna_status status = ulna_marker_set_add(&m->used, item->marker, item->body, item->offset, item->weight);
        if (status != ULNA_OK)
            return ulna_fail(error, status, "no memory for %zu markers", set->count);
        m->source[m->used.count - 1] = found;
        m->counting += item->weight > 0;
    }
    if (m->counting)
        return ULNA_OK;
    if (m->used.count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no marker that is seen has a weight above 0");
    if (known)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "none of the %d markers that the set and the recording "
                         "share is ever seen",
                         known);
    return ulna_fail(error, ULNA_ERR_ARGUMENT,
                     "no marker of the set is in the recording: the set has "
                     "'%s', the recording '%s'",
                     set->items[0].marker, recording->marker_count ? recording->names[0] : "none");
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

void ulna_track_gather(const ulna_track_job *j, int frame, double *positions)
{
    const double *from = ulna_recording_frame(j->recording, frame);
    for (size_t i = 0; i < j->matching->used.count; i++) {
        const double *x = from + 3 * (size_t)j->matching->source[i];
        if (j->axes)
            ulna_rotate(j->axes, x, positions + 3 * i);
        else
            ulna_copy3(x, positions + 3 * i);
    }
}

/* One thread tells; others do not wait for it. */
void ulna_track_tell(ulna_track_job *j)
{
    if (!j->options->progress || atomic_flag_test_and_set(&j->telling))
        return;
    if (j->options->progress(j->options->progress_context, atomic_load(&j->done), j->total))
        atomic_store(&j->cancelled, 1);
    atomic_flag_clear(&j->telling);
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
        ulna_frame_report aside;
        ulna_track_gather(j, frame, positions);
        status = ulna_tracker_frame(tracker, positions, counts ? ulna_clip_frame(j->clip, frame) : q,
                                    counts ? &j->frames[frame] : &aside);
        if (status != ULNA_OK)
            ulna_fail(error, status, "frame %d could not be solved: %s", frame + j->recording->first_frame,
                      ulna_status_text(status));
        if (counts)
            atomic_fetch_add(&j->done, 1);
        if (counts && ((frame & 31) == 0 || frame == last - 1))
            ulna_track_tell(j);
    }
    return status;
}

static ulna_status track_chunk(ulna_track_job *j, int index, ulna_error *error)
{
    const ulna_allocator *allocator = &j->clip->allocator;
    size_t count = 3 * j->matching->used.count, room = count + (size_t)j->model->nq;
    ulna_tracker *tracker = NULL;
    double *positions = ulna_allocate(allocator, room, sizeof *positions);
    if (!positions) {
        ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a frame");
        return ULNA_ERR_MEMORY;
    }
    ulna_status status = ulna_tracker_create(j->model, &j->matching->used, j->options, allocator, &tracker, error);
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

/* The earliest failure is told, however the threads ran. */
static ulna_status track_chunks(ulna_track_job *j, ulna_error *error)
{
    enum { FRAME_US = 10 };
    ulna_parallel_for(j->options->threads, FRAME_US * (double)j->total, j->chunks, 1, run_chunks, &j);
    for (int c = 0; c < j->chunks; c++)
        if (j->outcomes[c].status != ULNA_OK) {
            if (error)
                *error = j->outcomes[c].error;
            return j->outcomes[c].status;
        }
    return ULNA_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void sum_up(const ulna_track_job *j, ulna_track_summary *s)
{
    int solved = 0;
    for (int f = 0; f < j->total; f++) {
        const ulna_frame_report *r = &j->frames[f];
        s->empty += (r->flags & ULNA_TRACK_EMPTY) != 0;
        s->recovered += (r->flags & ULNA_TRACK_RECOVERED) != 0;
        s->lost += (r->flags & ULNA_TRACK_LOST) != 0;
        s->with_outliers += (r->flags & ULNA_TRACK_OUTLIERS) != 0;
        s->missing += j->matching->counting - r->seen;
        if (r->flags & ULNA_TRACK_EMPTY)
            continue;
        solved++;
        s->rms_mean += r->rms;
        s->sum_mean += r->sum;
        s->f_mean += r->f;
        s->iterations_mean += r->iterations;
        s->evaluations_mean += r->evaluations;
        s->us_mean += 1e6 * r->seconds;
        s->rms_max = fmax(s->rms_max, r->rms);
        s->sum_max = fmax(s->sum_max, r->sum);
        s->f_max = fmax(s->f_max, r->f);
        s->us_max = fmax(s->us_max, 1e6 * r->seconds);
        s->iterations_max = r->iterations > s->iterations_max ? r->iterations : s->iterations_max;
    }
    double *means[] = {&s->rms_mean, &s->sum_mean, &s->f_mean, &s->iterations_mean, &s->evaluations_mean, &s->us_mean};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        *means[i] = solved ? *means[i] / solved : 0;
}

static ulna_status check(const ulna_model *model, const ulna_marker_set *set, const ulna_recording *recording,
                         const ulna_track_options *o, const ulna_clip *clip, ulna_error *error)
{
    if (!model || !set || !set->count || !recording || !clip || clip->frame_count) {
        ulna_fail(error, ULNA_ERR_ARGUMENT, "a model, a marker set, a recording and an empty clip are needed");
        return ULNA_ERR_ARGUMENT;
    }
    if (recording->frame_count < 1)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "the recording has no frames");
    if (o->chunk_frames < 0 || o->overlap_frames < 0 || o->threads < 0)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "chunk_frames, overlap_frames and threads are not below 0");
    return ULNA_OK;
}

static ulna_status take_memory(ulna_track_job *j, ulna_error *error)
{
    ulna_status status = ulna_clip_resize(j->clip, j->model->nq, j->total);
    j->outcomes = ulna_allocate(&j->clip->allocator, (size_t)j->chunks, sizeof *j->outcomes);
    if (!j->frames)
        j->frames = ulna_allocate(&j->clip->allocator, (size_t)j->total, sizeof *j->frames);
    if (status == ULNA_OK && j->outcomes && j->frames)
        return ULNA_OK;
    ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %d frames", j->total);
    return ULNA_ERR_MEMORY;
}

ulna_status ulna_track(const ulna_model *model, const ulna_marker_set *set, const ulna_recording *recording,
                       const double *axes, const ulna_track_options *options, ulna_clip *clip,
                       ulna_frame_report *frames, ulna_track_summary *summary, ulna_error *error)
{
    const ulna_track_options defaults = ulna_track_options_default(), *o = options ? options : &defaults;
    ulna_status status = check(model, set, recording, o, clip, error);
    if (status != ULNA_OK)
        return status;
    double started = ulna_seconds();
    int total = recording->frame_count;
    ulna_track_matching found = {0};
    ulna_track_job j = {.model = model,
                        .recording = recording,
                        .matching = &found,
                        .axes = axes,
                        .options = o,
                        .clip = clip,
                        .frames = frames,
                        .chunk = o->chunk_frames > 0 && o->chunk_frames < total ? o->chunk_frames : total,
                        .total = total};
    j.chunks = (total - 1) / j.chunk + 1;
    status = match(set, recording, &found, error);
    if (status == ULNA_OK)
        status = take_memory(&j, error);
    if (status == ULNA_OK)
        status = track_chunks(&j, error);
    if (status == ULNA_OK && !atomic_load(&j.cancelled))
        status = ulna_track_stitch(&j, error);
    if (status == ULNA_OK && atomic_load(&j.cancelled))
        status = ulna_fail(error, ULNA_ERR_STATE, "cancelled");
    clip->frame_seconds = recording->frame_seconds;
    clip->first_frame = recording->first_frame;
    if (summary) {
        *summary = (ulna_track_summary){
            .frames = total, .markers_used = (int)found.used.count, .markers_unmatched = found.unmatched};
        if (status == ULNA_OK)
            sum_up(&j, summary);
        summary->seconds = ulna_seconds() - started;
    }
    ulna_release(&clip->allocator, j.outcomes, (size_t)j.chunks, sizeof *j.outcomes);
    if (!frames)
        ulna_release(&clip->allocator, j.frames, (size_t)total, sizeof *frames);
    release_matching(&found, &set->allocator);
    if (status != ULNA_OK)
        ulna_clip_release(clip);
    return status;
}
