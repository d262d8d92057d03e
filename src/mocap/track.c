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

enum {
    MOST_AHEAD = 4,     /* frames of a step of the track */
    LEAST_PATIENCE = 4, /* half of the frames one by one, after something unusual; twice as many each time, */
    MOST_PATIENCE = 64  /* up to so many */
};
#define STEP_SECONDS 0.02 /* that a step lasts, at most: at 120 frames a second, two of them */
#define STRAIGHT 0.1      /* of the scale of the loss: markers so near to a line are on it */
#define SMALL_LEAP 0.2    /* of LEAP */
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
    for (size_t i = 0; i < j->take->set.count; i++)
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

typedef struct following {
    ulna_track_job *j;
    ulna_tracker *tracker;
    double *ahead;     /* stride x 3 used.count: positions of the frames up to the next one that is followed */
    double *behind;    /* 3 used.count: of the last frame that was followed */
    double *aside;     /* nq: for frames before the chunk's own */
    int first, last;   /* the chunk's own frames: first .. last - 1 */
    int stride;        /* frames of a step, where the track goes on well */
    int one_by_one;    /* frames that are followed so, before the next such step */
    int patience;      /* and how many after one that was taken back: more each time */
    ulna_error *error; /* may be NULL */
} following;

static double *ahead_of(const following *w, int k)
{
    return w->ahead + 3 * (size_t)k * w->j->used.count;
}

/* Are the markers of these positions those that were seen in the last frame? */
static int are_same_seen(const ulna_tracker *t, const double *positions)
{
    for (int i = 0; i < t->count; i++)
        if (ulna_is_position(positions + 3 * i) != (t->missing[i] != 1))
            return 0;
    return 1;
}

/* How many frames from `frame` on make one step of the track; w->ahead has their positions. More than one only where the track is going
 * on, and the same markers with it. */
static int gather_ahead(following *w, int frame)
{
    const ulna_tracker *t = w->tracker;
    int count = w->stride;
    if (t->history < 2 || t->was_lost || w->one_by_one > 0 || frame <= w->first || frame + count > w->last)
        count = 1;
    for (int k = 0; k < count; k++) {
        ulna_track_gather(w->j, frame + k, ahead_of(w, k));
        if (count > 1 && !are_same_seen(t, ahead_of(w, k)))
            count = 1;
    }
    w->one_by_one -= w->one_by_one > 0;
    return count;
}

/* Puts a frame between those before and after it that were followed, on the parabola through them and the one before. Returns 0 if a joint
 * rotates far. */
static int put_between(const following *w, int frame, int before, int after)
{
    const ulna_tracker *t = w->tracker;
    const ulna_clip *clip = &w->j->result->clip;
    const double part = (double)(frame - before) / (after - before), bend = 0.5 * part * (part - 1);
    const double *restrict last_step = t->velocity, *restrict leap = w->j->leap;
    double *restrict step = t->toward;
    int is_near = 1;
    ulna_model_difference(t->model, ulna_clip_frame(clip, before), ulna_clip_frame(clip, after), step);
    for (int d = 0; d < t->nv; d++) {
        is_near &= fabs(step[d]) < SMALL_LEAP * leap[d];
        step[d] = part * step[d] + (fabs(step[d]) < leap[d] ? bend * (step[d] - last_step[d]) : 0);
    }
    ulna_model_integrate(t->model, ulna_clip_frame(clip, before), step, ulna_clip_frame(clip, frame));
    return is_near;
}

/* Are its markers on the lines between those of the two frames? Then they are as far from the skeleton as these are, and need not be measured
 * before the sweeps. */
static int is_straight(const following *w, int frame, int before, int after)
{
    const double part = (double)(frame - before) / (after - before), most = STRAIGHT * w->j->options->loss_scale;
    const double *x = ahead_of(w, frame - before - 1), *a = w->behind, *b = ahead_of(w, after - before - 1);
    int bent = 0;
    for (size_t k = 0; k < 3 * w->j->used.count; k++)
        bent += fabs(x[k] - a[k] - part * (b[k] - a[k])) > most; /* not if it is missing, in all of them */
    return !bent;
}

/* Reports and distances between those of the two frames. */
static void keep_between(const following *w, int frame, int before, int after)
{
    const ulna_track_job *j = w->j;
    const double part = (double)(frame - before) / (after - before);
    const size_t count = j->take->set.count;
    double *distances = j->result->distances;
    for (size_t i = 0; i < count; i++) {
        double a = distances[(size_t)before * count + i], b = distances[(size_t)after * count + i];
        distances[(size_t)frame * count + i] = a + part * (b - a);
    }
    j->result->frames[frame] = j->result->frames[after];
    j->result->frames[frame].iterations = j->result->frames[frame].evaluations = 0;
}

/* The same for the positions that it has. Returns 0 if they are unusual. */
static int measure_between(const following *w, const ulna_tracker *mark, int frame, int before)
{
    ulna_track_job *j = w->j;
    ulna_frame_report report = {.stop = ULNA_STOP_DECREASE};
    double cost;
    ulna_status status = ulna_tracker_measure(w->tracker, ahead_of(w, frame - before - 1),
                                              ulna_clip_frame(&j->result->clip, frame), &report, &cost);
    ulna_track_keep(j, w->tracker, frame, &report);
    return status == ULNA_OK && ulna_tracker_is_as_usual(mark, cost, report.outliers);
}

static ulna_status follow_one(const following *w, int frame, const double *positions, ulna_frame_report *report)
{
    ulna_track_job *j = w->j;
    const int counts = frame >= w->first;
    ulna_status status =
        ulna_tracker_frame(w->tracker, positions, counts ? ulna_clip_frame(&j->result->clip, frame) : w->aside, report);
    if (status != ULNA_OK)
        ulna_fail(w->error, status, "frame %lld could not be solved: %s", (long long)frame + j->take->first_frame,
                  ulna_status_text(status));
    else if (counts)
        ulna_track_keep(j, w->tracker, frame, report);
    return status;
}

/* A step over `count` frames from `frame` on. Returns 0 if it meets with anything unusual: then they are to be followed one by one. */
static int step_over(following *w, int frame, int count)
{
    ulna_tracker *t = w->tracker, mark;
    const int last = frame + count - 1;
    const unsigned trouble = ULNA_TRACK_LOST | ULNA_TRACK_RECOVERED;
    ulna_frame_report report;
    ulna_tracker_mark(t, &mark);
    ulna_status status = follow_one(w, last, ahead_of(w, count - 1), &report);
    int is_usual =
        status == ULNA_OK && !(report.flags & trouble) && !t->has_jumped && report.outliers <= mark.had_outliers;
    for (int f = frame; f < last && is_usual; f++) {
        is_usual = put_between(w, f, frame - 1, last);
        if (is_usual && is_straight(w, f, frame - 1, last))
            keep_between(w, f, frame - 1, last);
        else if (is_usual)
            is_usual = measure_between(w, &mark, f, frame - 1);
    }
    w->patience = is_usual ? LEAST_PATIENCE : w->patience < MOST_PATIENCE ? 2 * w->patience : MOST_PATIENCE;
    if (is_usual)
        return 1;
    ulna_tracker_go_back(t, &mark);
    w->one_by_one = w->patience;
    return 0;
}

static ulna_status follow(following *w)
{
    ulna_track_job *j = w->j;
    int from = w->first - j->options->overlap_frames > 0 ? w->first - j->options->overlap_frames : 0, count = 1;
    ulna_status status = ULNA_OK;
    double started = ulna_seconds();
    for (int frame = from; frame < w->last && status == ULNA_OK && !atomic_load(&j->cancelled); frame += count) {
        ulna_frame_report report;
        count = gather_ahead(w, frame);
        ulna_tracker_set_ahead(w->tracker, count);
        if (count > 1)
            count = step_over(w, frame, count) ? count : 0;
        else
            status = follow_one(w, frame, w->ahead, &report);
        if (!count)
            continue;
        double now = ulna_seconds();
        for (int f = frame; f < frame + count && f >= w->first; f++) {
            j->result->frames[f].seconds = (now - started) / count;
            ulna_track_progress(j);
        }
        if (j->stride > 1)
            memcpy(w->behind, ahead_of(w, count - 1), 3 * j->used.count * sizeof *w->behind);
        started = now;
    }
    return status;
}

static ulna_status track_chunk(ulna_track_job *j, int index, ulna_error *error)
{
    const ulna_allocator *allocator = &j->take->allocator;
    int first = index * j->chunk, last = first + j->chunk < j->total ? first + j->chunk : j->total;
    size_t count = 3 * j->used.count, room = count * (size_t)(j->stride + 1) + (size_t)j->take->model->nq;
    following w = {.j = j, .first = first, .last = last, .patience = LEAST_PATIENCE, .error = error};
    w.ahead = ulna_allocate(allocator, room, sizeof *w.ahead);
    if (!w.ahead)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a frame");
    w.behind = w.ahead + count * (size_t)j->stride;
    w.aside = w.behind + count;
    ulna_status status = ulna_tracker_create(j->take->model, &j->used, j->options, allocator, &w.tracker, error);
    if (status == ULNA_OK) {
        w.stride = w.tracker->may_loop ? j->stride : 1; /* what a step changes in other solvers is not taken back */
        status = follow(&w);
        j->outcomes[index].usual = w.tracker->usual;
    }
    ulna_tracker_destroy(w.tracker);
    ulna_release(allocator, w.ahead, room, sizeof *w.ahead);
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

/* Frames that are swept later need not all be followed: where the track goes on well, those between two of them are a good start. */
static int find_stride(const ulna_take *take)
{
    double seconds = take->recording->frame_seconds;
    return seconds > 0 ? (int)fmax(1, fmin(MOST_AHEAD, floor(STEP_SECONDS / seconds + 1e-6))) : 1;
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
    const int is_loose = o->solve.decrease == ULNA_AUTO && o->loss && !o->causal && !o->solve.bounded;
    ulna_track_options_resolve(ulna_marker_set_length_scale(take->model, &take->set), o);
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
                        .stride = is_loose && o->smooth > 0 ? find_stride(take) : 1,
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
