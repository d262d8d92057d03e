/*
 * Marker calibration: offsets (and bone scales) from one take, without a reference motion.
 *
 * docs/calibration.md says what is solved. Few frames first, more later; a robust loss that narrows; priors that loosen:
 *   1. keys (40) spread over the take, each pose from rest: root by the trunk's markers, one restart, posture thirty times the
 *      final one;
 *   2. offsets with a prior ten times the final one, loss at 4 c, posture three times the final one, to 3 %; rescue of poses;
 *   3. prior three times the final one, loss at 2 c, posture twice the final one, to 1 %; rescue;
 *   4. frames (200) from the poses of the nearest keys, loss at c, to 0.1 %; rescue, and again at most three times.
 * The prior is about expected places (calibrate_prior.c), the same in all stages. What we changed: the posture that loosens. With
 * the weak one from the start, offsets and poses settle in one of several minima, by chance.
 * Blocks of the take are left out throughout, to measure the error on frames that were not used.
 */
#include "ulna/calibrate.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "math/math3.h"
#include "mocap/calibrator.h"

enum { MOST_ROUNDS = 30, MOST_REPAIRS = 3, FEWEST_FRAMES_FOR_BLOCKS = 100 };

ulna_calibrate_options ulna_calibrate_options_default(void)
{
    return (ulna_calibrate_options){.first_frames = 40,
                                    .frames = 200,
                                    .held_out_blocks = 5,
                                    .held_out_share = 0.1,
                                    .loss = ULNA_LOSS_GEMAN_MCCLURE,
                                    .loss_scale = ULNA_AUTO,
                                    .posture = ULNA_AUTO,
                                    .limits = ULNA_AUTO,
                                    .prior = 1e-2,
                                    .scale_prior = ULNA_AUTO,
                                    .suspect_factor = 3,
                                    .try_lengths = 1,
                                    .seed = 1};
}

ulna_calibrate_options ulna_calibrate_options_static(void)
{
    ulna_calibrate_options o = ulna_calibrate_options_default();
    o.scale = 1;
    o.is_static = 1;
    o.keep_near_set = 1;
    o.held_out_blocks = 0;
    o.try_lengths = 0;
    o.prior = 1e-2;
    return o;
}

ulna_calibrate_options ulna_calibrate_resolve(const ulna_model *model, const ulna_calibrate_options *given)
{
    const double length = model->length_scale / ULNA_ADULT_LENGTH_SCALE, square = length * length;
    ulna_calibrate_options o = *given;
    if (o.loss_scale == ULNA_AUTO)
        o.loss_scale = 0.04 * length;
    if (o.posture == ULNA_AUTO)
        o.posture = (o.is_static ? 1e-4 : 1e-5) * square;
    if (o.limits == ULNA_AUTO)
        o.limits = 5e-5 * square;
    if (o.scale_prior == ULNA_AUTO)
        o.scale_prior = 1e-3 * square;
    if (o.shoulders)
        o.scale = o.symmetric = 1;
    return o;
}

static ulna_calibration empty_result(const ulna_allocator *allocator)
{
    return (ulna_calibration){.set = ulna_marker_set_empty(allocator),
                              .lengths = {.rms_given = NAN, .rms_symmetric = NAN, .rms_shoulders = NAN, .size = NAN}};
}

void ulna_calibration_release(ulna_calibration *result)
{
    if (result && result->set.allocator.allocate) {
        const ulna_allocator allocator = result->set.allocator;
        ulna_release(&allocator, result->markers, result->room, sizeof *result->markers);
        ulna_release(&allocator, result->scale, (size_t)result->body_count, sizeof *result->scale);
        ulna_release(&allocator, result->limit_violation, (size_t)result->body_count, sizeof *result->limit_violation);
        ulna_release(&allocator, result->deviation, (size_t)result->body_count, sizeof *result->deviation);
        ulna_release(&allocator, result->rotation_deviation, (size_t)result->body_count,
                     sizeof *result->rotation_deviation);
        ulna_release(&allocator, result->take_rms, (size_t)result->take_count, sizeof *result->take_rms);
        ulna_release(&allocator, result->lengths.scale, (size_t)result->body_count, sizeof *result->lengths.scale);
        ulna_model_destroy(result->model);
        ulna_marker_set_release(&result->set);
        *result = empty_result(&allocator);
    }
}

static ulna_status check(const ulna_take *take, const ulna_calibrate_options *o, ulna_error *error)
{
    const double numbers[] = {o->posture, o->limits, o->prior, o->scale_prior, o->held_out_share, o->suspect_factor};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(numbers[i] >= 0) || isinf(numbers[i]))
            return ulna_fail(
                error, ULNA_ERR_ARGUMENT,
                "options: posture, limits, priors, held_out_share and suspect_factor must be finite and 0 or above");
    if ((unsigned)o->loss > ULNA_LOSS_HUBER)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "options: loss is %d, which is no ulna_loss", (int)o->loss);
    for (int i = 0; o->static_pose && i < take->model->nq; i++)
        if (!isfinite(o->static_pose[i]))
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "options: coordinate %d of static_pose is NaN or infinite", i);
    if (o->first_frames < 1 || o->frames < 1 || o->held_out_blocks < 0 || o->held_out_share > 0.5 ||
        (o->loss && (!(o->loss_scale > 0) || isinf(o->loss_scale))))
        return ulna_fail(
            error, ULNA_ERR_ARGUMENT,
            "options: first_frames and frames must be at least 1, held_out_blocks at least 0, held_out_share at most 0.5, and "
            "a loss needs a scale above 0");
    if (o->other_take_count < 0 || (o->other_take_count && !o->other_takes))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "options: other_take_count takes are needed in other_takes");
    if (o->evaluate_only && !take->reference)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "offsets from a reference need a take with a reference motion");
    return ULNA_OK;
}

/* ---- which frames --------------------------------------------------------------------------------------------------- */

static int is_held(const ulna_calibrate_options *o, int frame, int frames)
{
    if (!o->held_out_blocks || !(o->held_out_share > 0) || frames < FEWEST_FRAMES_FOR_BLOCKS)
        return 0;
    double at = (frame + 0.5) / frames * o->held_out_blocks, middle = floor(at) + 0.5;
    return fabs(at - middle) < 0.5 * o->held_out_share;
}

static int markers_seen(const ulna_calibrator *c, int frame)
{
    int seen = 0;
    double x[3];
    for (int i = 0; i < c->count; i++)
        seen += ulna_take_marker(c->take, frame, c->source[i], x);
    return seen;
}

/* At most so many of them, evenly. */
static int thin_out(int *frames, int count, int most)
{
    for (int k = 0; k < most && most < count; k++)
        frames[k] = frames[(int)((k + 0.5) * count / most)];
    return most < count ? most : count;
}

void ulna_calibrator_choose_frames(ulna_calibrator *c, int first, int last)
{
    int frames = c->take->frame_count, most = 0;
    for (int f = 0; f < frames; f++) {
        int seen = markers_seen(c, f);
        most = seen > most ? seen : most;
    }
    for (int f = first; f <= last; f++) {
        if (!most || 2 * markers_seen(c, f) < most)
            continue;
        if (is_held(&c->options, f, frames))
            c->held[c->held_count++] = f;
        else
            c->usable[c->usable_count++] = f;
    }
    c->held_count = thin_out(c->held, c->held_count, c->options.frames);
}

/* So many keys, evenly. */
static ulna_status set_keys(ulna_calibrator *c, int keys)
{
    int count = keys < c->usable_count ? keys : c->usable_count;
    int *frames = ulna_allocate(&c->allocator, (size_t)count, sizeof *frames);
    if (!frames)
        return ULNA_ERR_MEMORY;
    for (int k = 0; k < count; k++)
        frames[k] = c->usable[(int)((k + 0.5) * c->usable_count / count)];
    ulna_status status = ulna_calibrator_set_keys(c, count, frames);
    ulna_release(&c->allocator, frames, (size_t)count, sizeof *frames);
    return status;
}

/* ---- stages ------------------------------------------------------------------------------------------------------------ */

static void set_stage(ulna_calibrator *c, double widen, double loss, double stiff)
{
    ulna_calibrator_set_posture(c, stiff * c->options.posture);
    c->loss_scale = c->options.loss ? loss * c->options.loss_scale : 0;
    c->prior = widen * ulna_calibrator_prior(c) * c->keys;
    c->scale_prior = widen * c->options.scale_prior * c->keys;
}

static ulna_status first_stages(ulna_calibrator *c)
{
    c->loss_scale = 0;
    ulna_calibrator_set_posture(c, 30 * c->options.posture);
    for (int k = 0; k < c->keys; k++)
        c->f[k] = ulna_key_start(c, k, 1, ulna_key_q(c, k));
    set_stage(c, 10, 4, 3);
    ulna_status status = ulna_calibrator_search(c, 3e-2, MOST_ROUNDS, 0);
    if (status != ULNA_OK)
        return status;
    ulna_calibrator_rescue(c, 3);
    set_stage(c, 3, 2, 2);
    ulna_calibrator_weigh_expectations(c);
    status = ulna_calibrator_search(c, 1e-2, MOST_ROUNDS, 0);
    if (status == ULNA_OK)
        ulna_calibrator_rescue(c, 3);
    return status;
}

/* The pose of the nearest old key that gives a good start; the next nearest if it does not. */
static void start_from_keys(ulna_calibrator *c, int k, int old, const int *frame, const double *q, const double *f)
{
    size_t nq = (size_t)c->nq;
    int near = 0;
    for (int j = 1; j < old; j++)
        if (abs(frame[j] - c->frame[k]) < abs(frame[near] - c->frame[k]))
            near = j;
    int next = near + (c->frame[k] > frame[near] ? 1 : -1);
    next = next < 0 || next >= old ? near : next;
    double best = INFINITY;
    for (int way = 0; way < 2; way++) {
        memcpy(c->trial, q + (size_t)(way ? next : near) * nq, nq * sizeof *q);
        double value = ulna_key_solve(c, k, c->trial, 0, 1);
        if (value < best) {
            best = value;
            memcpy(ulna_key_q(c, k), c->trial, nq * sizeof *q);
        }
        if (value < 2 * f[near] + 1e-4 * c->unit * c->unit)
            break;
    }
    c->f[k] = best;
}

static ulna_status more_frames(ulna_calibrator *c)
{
    size_t old = (size_t)c->keys, nq = (size_t)c->nq;
    int *frame = ulna_allocate(&c->allocator, old, sizeof *frame);
    double *q = ulna_allocate(&c->allocator, old * (nq + 1), sizeof *q), *f = q + old * nq;
    ulna_status status = frame && q ? ULNA_OK : ULNA_ERR_MEMORY;
    if (status == ULNA_OK) {
        memcpy(frame, c->frame, old * sizeof *frame);
        memcpy(q, c->q, old * nq * sizeof *q);
        memcpy(f, c->f, old * sizeof *f);
        status = set_keys(c, c->options.frames);
        c->loss_scale = 0;
        for (int k = 0; k < c->keys && status == ULNA_OK; k++)
            start_from_keys(c, k, (int)old, frame, q, f);
    }
    ulna_release(&c->allocator, frame, old, sizeof *frame);
    ulna_release(&c->allocator, q, old * (nq + 1), sizeof *q);
    return status;
}

static ulna_status last_stage(ulna_calibrator *c)
{
    double objective;
    ulna_status status = c->options.frames > c->keys ? more_frames(c) : ULNA_OK;
    if (status != ULNA_OK)
        return status;
    set_stage(c, 1, 1, 1);
    status = ulna_calibrator_solve_all(c, 0, &objective);
    for (int round = 0; round < 3 && status == ULNA_OK; round++) {
        if (!ulna_calibrator_rescue(c, 3) && round > 1)
            break;
        ulna_calibrator_weigh_expectations(c);
        status = ulna_calibrator_search(c, 1e-4, MOST_ROUNDS, 1);
    }
    return status;
}

static ulna_status calibrate_once(const ulna_take *take, const ulna_marker_set *set,
                                  const ulna_calibrate_options *options, ulna_calibrator **made,
                                  ulna_calibration *result, ulna_error *error)
{
    ulna_status status = ulna_calibrator_create(take, set, options, made, error);
    if (status != ULNA_OK)
        return status;
    ulna_calibrator *c = *made;
    int first = 0, last = take->frame_count - 1;
    if (options->is_static)
        status = ulna_take_find_still(take, &first, &last, error);
    if (status != ULNA_OK)
        return status;
    ulna_calibrator_choose_frames(c, first, last);
    if (!c->usable_count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no frame of the recording has any of the markers");
    status = set_keys(c, options->first_frames);
    if (status == ULNA_OK)
        status = first_stages(c);
    if (status == ULNA_OK)
        status = last_stage(c);
    if (status == ULNA_OK)
        status = ulna_calibrator_report(c, set, result, error);
    result->first_frame = first;
    result->last_frame = last;
    if (status == ULNA_ERR_STATE)
        ulna_fail(error, status, "cancelled");
    else if (status != ULNA_OK)
        ulna_fail(error, status, "the calibration failed: %s", ulna_status_text(status));
    return status;
}

/* ---- repair ----------------------------------------------------------------------------------------------------------- */

/* Suspects to the body in whose frame they move least; how many changed. */
static int move_suspects(ulna_calibrator *c, const ulna_calibration *result, ulna_marker_set *set)
{
    int moved = 0;
    for (int i = 0; i < c->count; i++) {
        double offset[3];
        size_t number = 0;
        ulna_attachment *item = &set->items[c->item[i]];
        while (strcmp(result->set.items[number].marker, item->marker) != 0)
            number++;
        if (!result->markers[number].is_suspect)
            continue;
        int body = ulna_calibrator_nearest_body(c, i, offset);
        if (body == ULNA_NONE || body == item->body)
            continue;
        item->body = body;
        ulna_copy3(offset, item->offset);
        moved++;
    }
    return moved;
}

static void note_moves(const ulna_marker_set *before, ulna_calibration *result)
{
    result->repaired = 0;
    for (size_t i = 0; i < result->set.count; i++)
        for (size_t j = 0; j < before->count; j++)
            if (strcmp(before->items[j].marker, result->set.items[i].marker) == 0 &&
                before->items[j].body != result->set.items[i].body) {
                result->markers[i].moved_from = before->items[j].body;
                result->repaired++;
            }
}

/* ---- offsets as they are ---------------------------------------------------------------------------------------------- */

/* How far markers stray from their offsets in the reference motion. */
static ulna_status evaluate(const ulna_take *take, ulna_calibration *result, ulna_error *error)
{
    ulna_pose *pose = NULL;
    double squares = 0, x[3], at[3];
    long long seen = 0;
    ulna_status status = ulna_marker_set_add_all(&take->set, &result->set);
    if (status == ULNA_OK)
        status = ulna_pose_create(take->model, &take->allocator, &pose, NULL);
    for (int f = 0; f < take->frame_count && status == ULNA_OK; f++) {
        int there = f + take->reference_shift;
        if (there < 0 || there >= take->reference->frame_count)
            continue;
        status = ulna_pose_forward(pose, ulna_clip_frame(take->reference, there));
        for (size_t i = 0; i < take->set.count && status == ULNA_OK; i++) {
            const ulna_attachment *item = &take->set.items[i];
            status = ulna_pose_point(pose, item->body, item->offset, at);
            if (!ulna_take_marker(take, f, take->source[i], x))
                continue;
            for (int k = 0; k < 3; k++)
                squares += (x[k] - at[k]) * (x[k] - at[k]);
            seen++;
        }
        result->frames_used++;
    }
    result->undetermined = -1;
    result->rms_held_out = NAN;
    result->rms = seen ? sqrt(squares / (double)seen) : NAN;
    result->unmatched = (int)take->absent.count;
    ulna_pose_destroy(pose);
    return status == ULNA_OK ? status
                             : ulna_fail(error, status, "the reference cannot be used: %s", ulna_status_text(status));
}

/* ---- all of it --------------------------------------------------------------------------------------------------------- */

static ulna_status calibrate(const ulna_take *take, const ulna_calibrate_options *o, ulna_calibration *result,
                             ulna_error *error)
{
    ulna_marker_set now = ulna_marker_set_empty(&take->allocator);
    ulna_status status = ulna_marker_set_add_all(&take->set, &now);
    if (status != ULNA_OK)
        ulna_fail(error, status, "no memory for %zu markers", take->set.count);
    int rounds = 0, rescued = 0;
    for (int attempt = 0; attempt <= MOST_REPAIRS && status == ULNA_OK; attempt++) {
        ulna_calibrator *c = NULL;
        ulna_calibration_release(result);
        status = calibrate_once(take, &now, o, &c, result, error);
        int again = status == ULNA_OK && o->repair && result->suspect_count && attempt < MOST_REPAIRS &&
                    move_suspects(c, result, &now);
        if (status == ULNA_OK && !again && ulna_calibrator_measure_held_out(c, result) != ULNA_OK)
            status = ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %d frames", c->held_count);
        rounds += c ? c->rounds : 0;
        rescued += c ? c->rescued : 0;
        ulna_calibrator_destroy(c);
        if (!again)
            break;
    }
    if (status == ULNA_OK)
        note_moves(&take->set, result);
    result->rounds = rounds;
    result->rescued = rescued;
    ulna_marker_set_release(&now);
    return status;
}

/* ---- people of another size ------------------------------------------------------------------------------------------- */

/* The take on its skeleton scaled as a whole, and its offsets with it; the model is the caller's. */
static ulna_status resize(const ulna_take *take, double size, ulna_take *resized, ulna_model **model)
{
    size_t nb = (size_t)take->model->nb;
    double *lengths = ulna_allocate(&take->allocator, nb, sizeof *lengths);
    *resized = *take;
    resized->set = ulna_marker_set_empty(&take->allocator);
    if (!lengths)
        return ULNA_ERR_MEMORY;
    for (int b = 0; b < take->model->nb; b++)
        lengths[b] = size * ulna_model_bone_length(take->model, b);
    ulna_status status = ulna_model_with_lengths(take->model, lengths, &take->allocator, model, NULL);
    ulna_release(&take->allocator, lengths, nb, sizeof *lengths);
    if (status == ULNA_OK)
        status = ulna_marker_set_add_all(&take->set, &resized->set);
    for (size_t i = 0; i < resized->set.count; i++)
        for (int k = 0; k < 3; k++)
            resized->set.items[i].offset[k] *= size;
    resized->model = *model;
    return status;
}

/*
 * Lengths are expected near those of the skeleton, and offsets where people of its size wear markers. For a child on an adult's skeleton
 * both are wrong, and hold the lengths half-way. So the skeleton is scaled to the size that was found, and calibrated again, until the
 * size stays. Nothing changes for people of about its size, nor where a take shows no lengths.
 */
static ulna_status calibrate_resized(const ulna_take *take, const ulna_calibrate_options *given,
                                     ulna_calibration *result, ulna_error *error)
{
    enum { MOST = 5 };
    double size = 1;
    ulna_calibrate_options options = ulna_calibrate_resolve(take->model, given);
    ulna_status status = calibrate(take, &options, result, error);
    int is_sized = options.scale && !options.shoulders && !options.is_static && !options.keep_near_set;
    for (int again = 0; again < MOST && is_sized && status == ULNA_OK; again++) {
        double more = ulna_calibrate_size(take->model, result->scale) / size;
        ulna_take resized;
        ulna_model *model = NULL;
        if (!(fabs(more - 1) > ULNA_OTHER_SIZE))
            break;
        size *= more;
        int rounds = result->rounds;
        ulna_calibration_release(result);
        status = resize(take, size, &resized, &model);
        if (status != ULNA_OK)
            ulna_fail(error, status, "no memory for a skeleton of another size");
        if (status == ULNA_OK) {
            options = ulna_calibrate_resolve(model, given);
            status = calibrate(&resized, &options, result, error);
        }
        for (int b = 0; b < take->model->nb && status == ULNA_OK; b++)
            result->scale[b] *= size;
        result->rounds += rounds;
        ulna_marker_set_release(&resized.set);
        ulna_model_destroy(model);
    }
    return status;
}

/* That carry markers. */
static int count_bodies(const ulna_marker_set *set)
{
    int count = 0;
    for (size_t i = 0; i < set->count; i++) {
        size_t j = 0;
        while (set->items[j].body != set->items[i].body)
            j++;
        count += j == i;
    }
    return count;
}

/* The markers of the model that was found are those of the set. */
static ulna_status put_markers(ulna_calibration *result, ulna_error *error)
{
    ulna_model *marked = NULL;
    if (!result->model)
        return ULNA_OK;
    ulna_status status = ulna_model_with_markers(result->model, &result->set, &result->set.allocator, &marked, error);
    if (status == ULNA_OK) {
        ulna_model_destroy(result->model);
        result->model = marked;
    }
    return status;
}

ulna_status ulna_calibrate(const ulna_take *take, const ulna_calibrate_options *options, ulna_calibration *result,
                           ulna_error *error)
{
    const ulna_calibrate_options defaults = ulna_calibrate_options_default();
    ulna_calibrate_options resolved = options ? *options : defaults;
    const ulna_calibrate_options *o = &resolved;
    double started = ulna_seconds();
    if (result)
        *result = empty_result(take ? &take->allocator : NULL);
    if (!take || !result)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a take and a pointer for the result are needed");
    resolved = ulna_calibrate_resolve(take->model, &resolved);
    ulna_status status = check(take, o, error);
    if (status != ULNA_OK)
        return status;
    status = o->evaluate_only      ? evaluate(take, result, error)
             : o->other_take_count ? ulna_calibrate_takes(take, o, result, error)
                                   : calibrate_resized(take, options ? options : &defaults, result, error);
    if (status == ULNA_OK && o->try_lengths && !o->scale && !o->evaluate_only && !o->is_static && !o->other_take_count)
        status = ulna_calibrate_try_lengths(take, o, result, error);
    if (status == ULNA_OK)
        status = put_markers(result, error);
    if (status != ULNA_OK) {
        ulna_calibration_release(result);
        return status;
    }
    result->size = ulna_calibrate_size(take->model, result->scale);
    if (o->progress)
        o->progress(o->progress_context, 100, 100);
    result->bodies = count_bodies(&result->set);
    result->seconds = ulna_seconds() - started;
    return ULNA_OK;
}
