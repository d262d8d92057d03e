/* What follows from a tracked take: sums, how far each marker is off, and how far to trust it. */
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "mocap/track.h"
#include "model/model.h"
#include "motion/convert.h"

enum {
    LONG_GAP = 12, /* frames: shorter ones are bridged by motion */
    NUMBERS = 3    /* that a marker gives */
};
#define FEWEST_UNMARKED 0.25 /* of the frames, to judge the take by them */
#define MOST_FRAMES 0.5      /* of those in which a marker is seen: then it is not the marker that is wrong */

ulna_status ulna_track_result_begin(const ulna_take *take, ulna_track_result *r, ulna_error *error)
{
    const ulna_allocator *allocator = &take->allocator;
    size_t frames = (size_t)take->frame_count, markers = take->set.count;
    r->clip = ulna_clip_empty(allocator);
    r->solved = ulna_recording_empty(allocator);
    r->frame_room = frames;
    r->marker_room = markers;
    r->dof_room = (size_t)take->model->nv;
    r->frames = ulna_allocate(allocator, frames, sizeof *r->frames);
    r->distances = ulna_allocate_raw(allocator, frames * markers, sizeof *r->distances);
    r->markers = ulna_allocate(allocator, markers, sizeof *r->markers);
    r->dofs = ulna_allocate(allocator, r->dof_room, sizeof *r->dofs);
    if (!r->frames || !r->distances || !r->markers || !r->dofs ||
        ulna_clip_resize(&r->clip, take->model->nq, take->frame_count))
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %d frames", take->frame_count);
    for (size_t i = 0; i < frames * markers; i++)
        r->distances[i] = (double)NAN;
    r->clip.frame_seconds = take->recording->frame_seconds;
    r->clip.first_frame = take->first_frame;
    return ULNA_OK;
}

void ulna_track_result_release(ulna_track_result *r)
{
    if (r && r->clip.allocator.allocate) {
        const ulna_allocator allocator = r->clip.allocator;
        ulna_release(&allocator, r->frames, r->frame_room, sizeof *r->frames);
        ulna_release(&allocator, r->distances, r->frame_room * r->marker_room, sizeof *r->distances);
        ulna_release(&allocator, r->markers, r->marker_room, sizeof *r->markers);
        ulna_release(&allocator, r->dofs, r->dof_room, sizeof *r->dofs);
        ulna_release(&allocator, r->goals, (size_t)r->goal_count, sizeof *r->goals);
        ulna_release(&allocator, r->constraints, (size_t)r->constraint_count, sizeof *r->constraints);
        ulna_release(&allocator, r->stances, r->stance_room, sizeof *r->stances);
        ulna_release(&allocator, r->swaps, r->swap_room, sizeof *r->swaps);
        ulna_release(&allocator, r->shifts, r->shift_room, sizeof *r->shifts);
        ulna_release(&allocator, r->gaps, r->gap_room, sizeof *r->gaps);
        ulna_recording_release(&r->solved);
        ulna_clip_release(&r->clip);
        *r = (ulna_track_result){.goal_count = 0};
    }
}

/* ---- sums ------------------------------------------------------------------------------------------------------------- */

static ulna_status find_median(const ulna_track_job *j, ulna_track_summary *s)
{
    size_t count = 0, room = (size_t)j->total;
    double *times = ulna_allocate(&j->take->allocator, room, sizeof *times);
    if (!times)
        return ULNA_ERR_MEMORY;
    for (int f = 0; f < j->total; f++)
        if (!(j->result->frames[f].flags & ULNA_TRACK_EMPTY))
            times[count++] = 1e6 * j->result->frames[f].seconds;
    s->us_median = count ? ulna_quick_median(times, count) : 0;
    ulna_release(&j->take->allocator, times, room, sizeof *times);
    return ULNA_OK;
}

static void sum_up(const ulna_track_job *j, ulna_track_summary *s)
{
    int solved = 0;
    s->frames = j->total;
    s->markers_used = (int)j->used.count;
    s->markers_unmatched = (int)(j->take->set.count + j->take->absent.count - j->used.count);
    for (int f = 0; f < j->total; f++) {
        const ulna_frame_report *r = &j->result->frames[f];
        s->empty += (r->flags & ULNA_TRACK_EMPTY) != 0;
        s->recovered += (r->flags & ULNA_TRACK_RECOVERED) != 0;
        s->lost += (r->flags & ULNA_TRACK_LOST) != 0;
        s->with_outliers += (r->flags & ULNA_TRACK_OUTLIERS) != 0;
        s->doubtful += (r->flags & ULNA_TRACK_DOUBTFUL) != 0;
        s->bridged += (r->flags & ULNA_TRACK_BRIDGED) != 0;
        s->jumps += (r->flags & ULNA_TRACK_JUMP) != 0;
        s->outside_limits += (r->flags & ULNA_TRACK_LIMITS) != 0;
        s->missing += j->counting - r->seen;
        if (r->flags & ULNA_TRACK_EMPTY)
            continue;
        solved++;
        s->rms_mean += r->rms;
        s->sum_mean += r->sum;
        s->f_mean += r->f;
        s->iterations_mean += r->iterations;
        s->evaluations_mean += r->evaluations;
        s->evaluations_added_mean += (double)r->evaluations_added;
        s->us_mean += 1e6 * r->seconds;
        s->rms_max_frame = r->rms > s->rms_max ? f : s->rms_max_frame;
        s->rms_max = fmax(s->rms_max, r->rms);
        s->sum_max = fmax(s->sum_max, r->sum);
        s->f_max = fmax(s->f_max, r->f);
        s->us_max = fmax(s->us_max, 1e6 * r->seconds);
        s->iterations_max = r->iterations > s->iterations_max ? r->iterations : s->iterations_max;
    }
    s->seconds = s->us_mean / 1e6;
    double *means[] = {&s->rms_mean,        &s->sum_mean,         &s->f_mean,
                       &s->iterations_mean, &s->evaluations_mean, &s->evaluations_added_mean,
                       &s->us_mean};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        *means[i] = solved ? *means[i] / solved : 0;
    j->result->unconstrained_rms = s->rms_mean + (solved ? j->result->unconstrained_rms / solved : 0);
}

/* ---- markers ----------------------------------------------------------------------------------------------------------- */

/* Most of its frames have it far off, of those in which it has its own name. */
static int is_misplaced(const ulna_track_job *j, size_t marker)
{
    const ulna_marker_report *m = &j->result->markers[marker];
    int seen = m->seen, outliers = m->outliers;
    for (int f = 0; f < j->total && j->take->exchange_count; f++) {
        double d = ulna_track_distance(j, f, marker);
        if (isnan(d) || !ulna_track_is_renamed(j, f, marker))
            continue;
        seen--;
        outliers -= j->result->frames[f].flags & ULNA_TRACK_OUTLIERS && d > j->options->loss_scale;
    }
    return outliers > MOST_FRAMES * seen;
}

static void measure_markers(const ulna_track_job *j)
{
    for (int f = 0; f < j->total; f++) {
        int has_outliers = (j->result->frames[f].flags & ULNA_TRACK_OUTLIERS) != 0;
        for (size_t i = 0; i < j->take->set.count; i++) {
            ulna_marker_report *m = &j->result->markers[i];
            double d = ulna_track_distance(j, f, i);
            if (isnan(d))
                continue;
            if (d > m->worst || !m->seen) {
                m->worst = d;
                m->worst_frame = f;
            }
            m->seen++;
            m->mean += d;
            m->rms += d * d;
            m->outliers += has_outliers && d > j->options->loss_scale;
        }
    }
    for (size_t i = 0; i < j->take->set.count; i++) {
        ulna_marker_report *m = &j->result->markers[i];
        if (!m->seen)
            continue;
        m->mean /= m->seen;
        m->rms = sqrt(m->rms / m->seen);
        m->misplaced = is_misplaced(j, i);
        j->result->trust.misplaced += m->misplaced;
    }
}

/* ---- limbs that are not seen for a while ---------------------------------------------------------------------------------- */

/* Are the same markers seen as in the frame before? */
static int is_as_before(const ulna_track_job *j, int frame)
{
    const size_t count = j->take->set.count;
    const double *now = j->result->distances + (size_t)frame * count, *before = now - count;
    int changes = frame <= 0;
    for (size_t i = 0; i < count && frame > 0; i++)
        changes |= !isnan(now[i]) != !isnan(before[i]);
    return !changes;
}

/* Bodies on the way to a marker that is seen in the frame; or, with frame < 0, in any. `visible` has those of the frame before. */
static void find_visible(const ulna_track_job *j, int frame, unsigned char *visible)
{
    const ulna_model *model = j->take->model;
    if (is_as_before(j, frame))
        return;
    memset(visible, 0, (size_t)model->nb);
    for (size_t i = 0; i < j->take->set.count; i++)
        if (j->take->set.items[i].weight > 0 &&
            (frame < 0 ? j->result->markers[i].seen > 0 : !isnan(ulna_track_distance(j, frame, i))))
            for (int b = j->take->set.items[i].body; b != ULNA_NONE && !visible[b]; b = model->body[b].parent)
                visible[b] = 1;
}

static ulna_status add_gap(const ulna_track_job *j, int body, int first, int last)
{
    ulna_track_result *r = j->result;
    void *gaps = r->gaps;
    ulna_status status = ulna_grow(&j->take->allocator, &gaps, &r->gap_room, (size_t)r->gap_count + 1, sizeof *r->gaps);
    r->gaps = gaps;
    if (status != ULNA_OK)
        return status;
    int at = r->gap_count++;
    for (; at > 0 && r->gaps[at - 1].first > first; at--) /* in the order of their beginning */
        r->gaps[at] = r->gaps[at - 1];
    r->gaps[at] = (ulna_gap){body, first, last};
    return status;
}

static void mark_gap(const ulna_track_job *j, int first, int last)
{
    for (int f = first; f <= last; f++)
        if (!(j->result->frames[f].flags & ULNA_TRACK_EMPTY))
            j->result->frames[f].flags |= ULNA_TRACK_BRIDGED;
}

/* A gap counts for the body nearest to the root alone; of a whole frame, the frame is called empty. While what carries the body is hidden
 * too, the gap goes on. `shown`: nb, frames of the gap in which what carries the body is seen. */
static ulna_status find_gaps(const ulna_track_job *j, unsigned char *ever, unsigned char *now, int *since, int *shown)
{
    const ulna_model *model = j->take->model;
    ulna_status status = ULNA_OK;
    find_visible(j, -1, ever);
    for (int b = 0; b < model->nb; b++)
        since[b] = -1;
    for (int f = 0; f <= j->total && status == ULNA_OK; f++) {
        if (f < j->total)
            find_visible(j, f, now);
        else
            memset(now, 1, (size_t)model->nb);
        for (int b = 1; b < model->nb && status == ULNA_OK; b++) {
            int is_gap = ever[b] && !now[b];
            if (is_gap) {
                shown[b] = (since[b] < 0 ? 0 : shown[b]) + now[model->body[b].parent];
                since[b] = since[b] < 0 ? f : since[b];
            }
            if (is_gap || since[b] < 0)
                continue;
            if (f - since[b] >= LONG_GAP)
                mark_gap(j, since[b], f - 1);
            if (shown[b] >= LONG_GAP)
                status = add_gap(j, b, since[b], f - 1);
            since[b] = -1;
        }
    }
    return status;
}

/* Gaps, and which joints move a marker at all. */
static ulna_status find_limbs(const ulna_track_job *j)
{
    const ulna_model *model = j->take->model;
    const ulna_allocator *allocator = &j->take->allocator;
    size_t bodies = (size_t)model->nb;
    unsigned char *marks = ulna_allocate(allocator, 2 * bodies, 1);
    int *since = ulna_allocate(allocator, 2 * bodies, sizeof *since);
    ulna_status status = marks && since ? find_gaps(j, marks, marks + bodies, since, since + bodies) : ULNA_ERR_MEMORY;
    for (int b = 0; b < model->nb && status == ULNA_OK; b++)
        j->result->trust.dofs_moved += marks[b] ? model->body[b].dof_count : 0;
    if (status == ULNA_OK)
        status = ulna_track_find_measured(j, marks);
    ulna_release(allocator, marks, 2 * bodies, 1);
    ulna_release(allocator, since, 2 * bodies, sizeof *since);
    return status;
}

/* ---- limits --------------------------------------------------------------------------------------------------------------- */

#define COUPLED_ROUNDING 1e-12 /* rad, m: a coupled value is computed from another, which has its limits */

static void find_violation(const ulna_track_job *j, ulna_track_summary *s)
{
    const ulna_model *model = j->take->model;
    const ulna_options *o = &j->options->solve;
    const double *lower = o->lower ? o->lower : model->lower, *upper = o->upper ? o->upper : model->upper;
    s->violated_dof = ULNA_NONE;
    for (int d = 0; d < model->nv && o->bounded; d++) {
        double most = 0;
        int c = model->dof_coordinate[d], is_coupled = 0;
        for (int i = 0; i < model->nc; i++)
            is_coupled |= model->coupling[i].dof == d;
        for (int f = 0; f < j->total && c >= 0; f++) {
            double x = ulna_clip_frame(&j->result->clip, f)[c];
            most = fmax(most, fmax(lower[d] - x, x - upper[d]));
        }
        if (most > s->violation && !(is_coupled && most < COUPLED_ROUNDING)) {
            s->violation = most;
            s->violated_dof = d;
        }
    }
}

/* ---- trust ----------------------------------------------------------------------------------------------------------------- */

/* The RMS of a frame, if no distance counts more than the scale of the loss: markers that the loss leaves out do not hide how well
 * the others fit, nor do they vanish. Those with another's name were solved by their own. */
static double bounded_rms(const ulna_track_job *j, int frame)
{
    double sum = 0, scale = j->options->loss_scale;
    int seen = 0;
    for (size_t i = 0; i < j->take->set.count; i++) {
        double d = ulna_track_distance(j, frame, i);
        if (isnan(d) || ulna_track_is_renamed(j, frame, i))
            continue;
        d = scale > 0 ? fmin(d, scale) : d; /* not with options.oracle */
        sum += d * d;
        seen++;
    }
    return seen ? sqrt(sum / seen) : (double)NAN;
}

static double mean_bounded_rms(const ulna_track_job *j)
{
    double sum = 0;
    int count = 0;
    for (int f = 0; f < j->total; f++) {
        double rms = bounded_rms(j, f);
        sum += isnan(rms) ? 0 : rms;
        count += !isnan(rms);
    }
    return count ? sum / count : 0;
}

static void find_unmarked(const ulna_track_job *j, ulna_trust *trust)
{
    double sum = 0;
    for (int f = 0; f < j->total; f++)
        if (!(j->result->frames[f].flags & ~(unsigned)ULNA_TRACK_STARTED)) {
            sum += j->result->frames[f].rms;
            trust->unmarked++;
        }
    trust->unmarked_rms = trust->unmarked ? sum / trust->unmarked : (double)NAN;
    trust->typical_rms =
        trust->unmarked >= FEWEST_UNMARKED * j->total && trust->unmarked ? trust->unmarked_rms : mean_bounded_rms(j);
}

static void find_trust(const ulna_track_job *j)
{
    ulna_trust *trust = &j->result->trust;
    int seen = 0;
    find_unmarked(j, trust);
    for (size_t i = 0; i < j->take->set.count; i++)
        seen += j->result->markers[i].seen > 0 && j->take->set.items[i].weight > 0;
    trust->is_undetermined = NUMBERS * seen < trust->dofs_moved;
    trust->motion = ulna_clip_check(j->take->model, &j->result->clip);
    if (j->take->skipped + j->take->frame_count == j->take->recording->frame_count)
        trust->cut_frames = j->take->recording->cut_frames;
    trust->is_set_undetermined = j->take->set.is_undetermined;
    trust->has_other_lengths = j->take->set.has_other_lengths;
}

/* ---- terms of the caller's own ---------------------------------------------------------------------------------------------- */

static ulna_status measure_goals_in(const ulna_track_job *j, ulna_work *work, int frame)
{
    double f, d;
    ulna_status status = ulna_work_evaluate(work, ulna_clip_frame(&j->result->clip, frame), &f);
    for (int i = 0; i < j->result->goal_count && status == ULNA_OK; i++) {
        ulna_goal_report *goal = &j->result->goals[i];
        status = ulna_work_term_error(work, i, &d);
        if (status != ULNA_OK || isnan(d)) /* NaN: a point without a goal */
            continue;
        goal->rms += d * d / j->total;
        if (d > goal->worst) {
            goal->worst = d;
            goal->worst_frame = frame;
        }
    }
    return status;
}

static ulna_status measure_goals(const ulna_track_job *j, ulna_error *error)
{
    const ulna_allocator *allocator = &j->take->allocator;
    ulna_track_result *r = j->result;
    ulna_problem *problem = NULL;
    ulna_work *work = NULL;
    if (!j->options->extend || j->options->oracle)
        return ULNA_OK;
    ulna_status status = ulna_problem_create(j->take->model, allocator, &problem, error);
    if (status == ULNA_OK)
        status = j->options->extend(j->options->extend_context, problem, error);
    int count = status == ULNA_OK ? ulna_problem_term_count(problem) : 0;
    if (count) {
        status = ulna_problem_ready(problem, error);
        if (status == ULNA_OK)
            status = ulna_work_create(problem, allocator, &work, error);
        r->goals = status == ULNA_OK ? ulna_allocate(allocator, (size_t)count, sizeof *r->goals) : NULL;
        r->goal_count = r->goals ? count : 0;
        if (status == ULNA_OK && !r->goals)
            status = ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %d goals", count);
    }
    for (int f = 0; f < j->total && count && status == ULNA_OK; f++) {
        status = measure_goals_in(j, work, f);
        if (status != ULNA_OK)
            ulna_fail(error, status, "the goals cannot be measured in frame %lld: %s",
                      (long long)f + j->take->first_frame, ulna_status_text(status));
    }
    for (int i = 0; i < r->goal_count; i++)
        r->goals[i].rms = sqrt(r->goals[i].rms);
    ulna_work_destroy(work);
    ulna_problem_destroy(problem);
    return status;
}

/* ---- the skeleton's markers -------------------------------------------------------------------------------------------------- */

static ulna_status place_solved(const ulna_track_job *j)
{
    const ulna_take *take = j->take;
    ulna_recording *to = &j->result->solved;
    ulna_pose *pose = NULL;
    if (!j->options->solved_markers)
        return ULNA_OK;
    ulna_status status = ulna_recording_resize(to, (int)take->set.count, take->frame_count);
    if (status == ULNA_OK)
        status = ulna_pose_create(take->model, &take->allocator, &pose, NULL);
    for (size_t i = 0; i < take->set.count && status == ULNA_OK; i++)
        memcpy(to->names[i], take->set.items[i].marker, sizeof to->names[i]);
    for (int f = 0; f < take->frame_count && status == ULNA_OK; f++) {
        double *x = ulna_recording_frame(to, f), here[3];
        status = ulna_pose_forward(pose, ulna_clip_frame(&j->result->clip, f));
        for (size_t i = 0; i < take->set.count && status == ULNA_OK; i++, x += 3) {
            status = ulna_pose_point(pose, take->set.items[i].body, take->set.items[i].offset, here);
            ulna_unrotate(take->axes, here, x);
        }
    }
    to->frame_seconds = take->recording->frame_seconds;
    to->first_frame = take->first_frame;
    ulna_pose_destroy(pose);
    return status;
}

ulna_status ulna_track_result_finish(ulna_track_job *j, double started, ulna_error *error)
{
    ulna_track_result *r = j->result;
    const ulna_model *model = j->take->model;
    const double length_scale = ulna_marker_set_length_scale(model, &j->take->set);
    ulna_status status = ULNA_OK;
    if (j->options->continuous && !j->options->solve.bounded) {
        status = ulna_clip_unwind(model, &r->clip);
        if (status == ULNA_OK)
            status = ulna_clip_home(model, &r->clip);
    }
    if (status == ULNA_OK)
        status = ulna_track_mark_motion(j);
    measure_markers(j);
    if (status == ULNA_OK)
        status = find_limbs(j);
    if (status == ULNA_OK)
        status = ulna_track_find_swaps(j);
    /* Not with offsets of each frame, points without skin, or bones whose lengths make markers shift as joints bend. */
    if (status == ULNA_OK && !j->options->oracle && !j->take->keypoints && !j->take->set.has_other_lengths)
        status = ulna_track_find_shifts(j, length_scale);
    sum_up(j, &r->summary);
    find_violation(j, &r->summary);
    if (!j->options->oracle) /* which times the solving alone */
        r->summary.seconds = ulna_seconds() - started;
    if (status == ULNA_OK)
        status = find_median(j, &r->summary);
    if (status == ULNA_OK) {
        find_trust(j);
        ulna_track_judge(model, length_scale, r);
        ulna_track_add_findings(j->take, r);
    }
    if (status == ULNA_OK)
        status = place_solved(j);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "the result of %d frames cannot be stored: %s", j->total,
                         ulna_status_text(status));
    return measure_goals(j, error);
}
