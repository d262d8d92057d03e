/*
 * Where chunks meet, and where nothing was seen.
 *
 * Two chunks may follow different poses that fit alike: a spine with few markers has many. So the earlier chunk is
 * tracked on past its end, over the frames of the later one, until both agree, and its frames are taken so far; unless
 * it fits much worse than the later one, which then has found a track that was lost. This goes from seam to seam in
 * order, once all chunks are done, and so does not depend on the number of threads either.
 *
 * Then whole turns are taken off, or onto, the later chunk, and where limits do not bind the other family of three Euler
 * angles is left. Frames without any marker are interpolated between their neighbours, or held at the ends.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/math3.h"
#include "mocap/track.h"
#include "mocap/tracker.h"
#include "model/model.h"
#include "ulna/kinematics.h"

#define SAME_PLACE 0.01 /* of the length scale: bodies so near, and turned by as little, are where they were */
#define MUCH_WORSE 2    /* times the later chunk's f */

static int is_empty(const ulna_track_job *j, int frame)
{
    return (j->result->frames[frame].flags & ULNA_TRACK_EMPTY) != 0;
}

void ulna_nearest_turns(const ulna_model *model, const ulna_options *options, const double *near, double *q)
{
    const double *lower = options->lower ? options->lower : model->lower;
    const double *upper = options->upper ? options->upper : model->upper;
    for (int d = 0; d < model->nv; d++) {
        int c = model->dof_coordinate[d], limited = isfinite(lower[d]) || isfinite(upper[d]);
        if (c >= 0 && model->dof_segment[d] <= ULNA_SEGMENT_RZ && !(limited && options->bounded))
            q[c] = ulna_nearest_turn(q[c], near[c]);
    }
}

/* ---- seams ------------------------------------------------------------------------------------------------------- */

typedef struct seam {
    ulna_tracker *tracker;
    ulna_pose *pose[2];
    double *positions, *q; /* of a frame */
    double *turns;         /* nq */
    size_t room;
} seam;

static ulna_status open_seam(const ulna_track_job *j, seam *s, ulna_error *error)
{
    const ulna_allocator *allocator = &j->take->allocator;
    size_t positions = 3 * j->used.count, nq = (size_t)j->take->model->nq;
    s->room = positions + 2 * nq;
    s->positions = ulna_allocate(allocator, s->room, sizeof *s->positions);
    if (!s->positions)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a frame");
    s->q = s->positions + positions;
    s->turns = s->q + nq;
    ulna_status status = ulna_tracker_create(j->take->model, &j->used, j->options, allocator, &s->tracker, error);
    for (int i = 0; i < 2 && status == ULNA_OK; i++)
        status = ulna_pose_create(j->take->model, allocator, &s->pose[i], error);
    return status;
}

static void close_seam(const ulna_track_job *j, seam *s)
{
    for (int i = 0; i < 2; i++)
        ulna_pose_destroy(s->pose[i]);
    ulna_tracker_destroy(s->tracker);
    ulna_release(&j->take->allocator, s->positions, s->room, sizeof *s->positions);
}

/* The same pose, in whatever angles. */
static int is_same(const ulna_track_job *j, const seam *s, const double *a, const double *b)
{
    double place[2][3], rotation[2][9], scale = ulna_marker_set_length_scale(j->take->model, &j->take->set);
    if (ulna_pose_forward(s->pose[0], a) != ULNA_OK || ulna_pose_forward(s->pose[1], b) != ULNA_OK)
        return 0;
    for (int i = 0; i < j->take->model->nb; i++) {
        for (int k = 0; k < 2; k++)
            ulna_pose_body(s->pose[k], i, place[k], rotation[k]);
        double away = 0;
        for (int k = 0; k < 3; k++)
            away = fmax(away, fabs(place[0][k] - place[1][k]) / scale);
        for (int k = 0; k < 9; k++)
            away = fmax(away, fabs(rotation[0][k] - rotation[1][k]));
        if (!(away < SAME_PLACE))
            return 0;
    }
    return 1;
}

/* Tracks on from frame `first` - 1, up to where the later chunk does the same; returns that frame. */
static ulna_status track_on(ulna_track_job *j, seam *s, int first, int last, double usual, int *met)
{
    ulna_status status = ULNA_OK;
    ulna_tracker_resume(s->tracker, ulna_clip_frame(&j->result->clip, first - 1), usual);
    for (*met = first; *met < last && status == ULNA_OK && !atomic_load(&j->cancelled); ++*met) {
        ulna_frame_report report;
        double *there = ulna_clip_frame(&j->result->clip, *met);
        ulna_track_gather(j, *met, s->positions);
        status = ulna_tracker_frame(s->tracker, s->positions, s->q, &report);
        if (status != ULNA_OK || is_same(j, s, s->q, there))
            break;
        double excess = j->options->lost_excess * s->tracker->mean_weight;
        int is_worse = report.f > MUCH_WORSE * j->result->frames[*met].f + excess;
        if (is_worse || report.flags & (ULNA_TRACK_LOST | ULNA_TRACK_RECOVERED)) {
            j->result->frames[*met].flags |= j->result->frames[*met].flags & ULNA_TRACK_LOST ? 0 : ULNA_TRACK_RECOVERED;
            break;
        }
        memcpy(there, s->q, (size_t)j->take->model->nq * sizeof *there);
        ulna_track_keep(j, s->tracker, *met, &report);
        if ((*met & 31) == 0)
            ulna_track_progress(j);
    }
    return status;
}

/* Whole turns, so that frames from `from` on go on where those before ended. Later frames of a chunk went on from its
 * first one, without such jumps: they take the same turns. */
static void turn(const ulna_track_job *j, seam *s, int before, int from, int last)
{
    size_t nq = (size_t)j->take->model->nq;
    const double *here = ulna_clip_frame(&j->result->clip, from);
    memcpy(s->turns, here, nq * sizeof *s->turns);
    ulna_nearest_turns(j->take->model, &j->options->solve, ulna_clip_frame(&j->result->clip, before), s->turns);
    for (size_t c = 0; c < nq; c++)
        s->turns[c] -= here[c];
    for (int f = from; f < last; f++)
        for (size_t c = 0; c < nq; c++)
            ulna_clip_frame(&j->result->clip, f)[c] += s->turns[c];
}

/* Frames without markers have no pose of their own yet: there is nothing to go on from. */
static ulna_status join_chunk(ulna_track_job *j, seam *s, int chunk)
{
    int first = chunk * j->chunk, last = first + j->chunk < j->total ? first + j->chunk : j->total;
    int from = first, before = first - 1;
    ulna_status status = ULNA_OK;
    while (from < last && is_empty(j, from))
        from++;
    while (before >= 0 && is_empty(j, before))
        before--;
    if (from == last || before < 0)
        return ULNA_OK;
    if (from == first && before == first - 1 && !(j->result->frames[before].flags & ULNA_TRACK_LOST)) {
        status = track_on(j, s, first, last, j->outcomes[chunk - 1].usual, &from);
        before = from - 1;
        if (from == last)
            j->outcomes[chunk].usual = s->tracker->usual;
    }
    if (status == ULNA_OK && from < last)
        turn(j, s, before, from, last);
    return status;
}

static ulna_status join_chunks(ulna_track_job *j, ulna_error *error)
{
    seam s = {0};
    ulna_status status = open_seam(j, &s, error);
    for (int c = 1; c < j->chunks && status == ULNA_OK; c++) {
        status = join_chunk(j, &s, c);
        if (status != ULNA_OK)
            ulna_fail(error, status, "the chunks cannot be joined at frame %lld: %s",
                      (long long)c * j->chunk + j->take->first_frame, ulna_status_text(status));
    }
    close_seam(j, &s);
    return status;
}

/* ---- gaps -------------------------------------------------------------------------------------------------------- */

/* Frames without a marker: as the last one before; before the first one seen, as that one. */
static void hold_gaps(const ulna_track_job *j)
{
    size_t bytes = (size_t)j->take->model->nq * sizeof(double);
    int seen = 0;
    while (seen < j->total && is_empty(j, seen))
        seen++;
    for (int f = 0; f < j->total && seen < j->total; f++)
        if (is_empty(j, f))
            memcpy(ulna_clip_frame(&j->result->clip, f), ulna_clip_frame(&j->result->clip, f < seen ? seen : f - 1),
                   bytes);
}

ulna_status ulna_track_stitch(ulna_track_job *j, ulna_error *error)
{
    ulna_status status = j->chunks > 1 ? join_chunks(j, error) : ULNA_OK;
    if (status != ULNA_OK)
        return status;
    hold_gaps(j);
    if (j->chunks > 1 && !j->options->solve.bounded)
        status = ulna_clip_unwind(j->take->model, &j->result->clip);
    return status == ULNA_OK ? status : ulna_fail(error, status, "no memory to join %d frames", j->total);
}
