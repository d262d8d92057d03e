/*
 * Whether a skeleton's own markers are where this person wears them, or have to be calibrated.
 *
 * Two errors are measured on the same few frames, each pose from a fresh start: e with the skeleton's own offsets, and c with offsets that were
 * calibrated on other frames of the take. Distances above the scale of the robust loss count as that, so that a stray marker decides nothing.
 *
 * A calibration always fits its own take better, since skin is not where it is in other takes. What c^2 has left is how skin moves within
 * the take. If it moves no more between takes, then offsets that were found in another take have at most e^2 = 3 c^2: what is left, and the mean
 * shift of skin in either take. (HDM05, actor dg: 2.5 c^2 with the offsets of another take of one session, 3.3 to 12 c^2 where markers were
 * placed anew, 37 c^2 with those of another person.) And where little moves, offsets fit that are wrong. So the skeleton's own are kept
 *   - if e^2 is at most the variance that the calibration expects of a marker on skin: nothing needs to be calibrated to know;
 *   - if e^2 is at most 3 c^2;
 *   - if the take hardly determines offsets, unless e is more than markers on skin are usually off.
 */
#include <math.h>

#include "base/base.h"
#include "math/math3.h"
#include "mocap/calibrator.h"
#include "model/model.h"

enum {
    JUDGED = 20, /* frames that the errors are measured on */
    TRIED = 60   /* frames that are calibrated on */
};

#define OTHER_TAKE 3.0 /* square of the error, beside that of a calibration: what offsets of another take may have */

/* Frames that the calibration does not use; if it uses all, any. */
static ulna_status choose_keys(ulna_calibrator *c)
{
    int *frames = c->held_count ? c->held : c->usable, count = c->held_count ? c->held_count : c->usable_count;
    int few[JUDGED], keys = count < JUDGED ? count : JUDGED;
    for (int k = 0; k < keys; k++)
        few[k] = frames[(int)((k + 0.5) * count / keys)];
    return keys ? ulna_calibrator_set_keys(c, keys, few) : ULNA_ERR_ARGUMENT;
}

static double mean_square(ulna_calibrator *c)
{
    double sum = 0, most = c->loss_scale * c->loss_scale, place[3], r[3], f;
    long long seen = 0;
    for (int k = 0; k < c->keys; k++) {
        ulna_key_place(c, k);
        if (ulna_work_evaluate(ulna_solver_work(c->solver), ulna_key_q(c, k), &f) != ULNA_OK)
            continue;
        for (int i = 0; i < c->count; i++) {
            if (isnan(ulna_key_goal(c, k)[3 * i]) || !(c->weight[i] > 0))
                continue;
            ulna_key_residual(c, i, place, r);
            double square = ulna_dot(r, r);
            sum += square < most ? square : most;
            seen++;
        }
    }
    return seen ? sum / (double)seen : NAN;
}

/* m^2, of the offsets of a set. `usual`: what is expected of a marker on skin. */
static ulna_status find_error(const ulna_take *take, const ulna_marker_set *set, const ulna_calibrate_options *options,
                              double *square, double *usual, ulna_error *error)
{
    ulna_calibrator *c = NULL;
    ulna_status status = ulna_calibrator_create(take, set, options, &c, error);
    if (status == ULNA_OK) {
        ulna_calibrator_choose_frames(c, 0, take->frame_count - 1);
        status = choose_keys(c);
    }
    if (status == ULNA_OK) {
        c->loss_scale = options->loss_scale;
        for (int k = 0; k < c->keys; k++)
            c->f[k] = ulna_key_start(c, k, 1, ulna_key_q(c, k));
        ulna_calibrator_rescue(c, 1);
        *square = mean_square(c);
        *usual = ulna_calibrator_frame_variance(c);
    }
    ulna_calibrator_destroy(c);
    return status;
}

/* The take by the markers' names alone, in the axes of `own`. */
static ulna_status create_named(const ulna_take_options *options, const double *axes, ulna_take **take)
{
    ulna_take_options o = *options;
    ulna_marker_set none = ulna_marker_set_empty(NULL);
    o.attach = ULNA_ATTACH_NAMES;
    o.set = &none;
    o.axes = axes ? axes : o.axes;
    ulna_status status = ulna_take_create(&o, take, NULL);
    return status == ULNA_ERR_MEMORY ? status : ULNA_OK;
}

/* The markers of `own` on the bodies and at the offsets that were found by their names. */
static ulna_status move_markers(const ulna_take *own, const ulna_take *named, const ulna_marker_set *found,
                                ulna_marker_set *moved)
{
    ulna_status status = ulna_marker_set_add_all(&own->set, moved);
    for (size_t i = 0; i < moved->count && status == ULNA_OK; i++)
        for (size_t j = 0; j < found->count; j++)
            if (named->source[j] == own->source[i]) {
                moved->items[i].body = found->items[j].body;
                ulna_copy3(found->items[j].offset, moved->items[i].offset);
            }
    return status;
}

/* With the same frames, markers and axes. */
static ulna_status compare(const ulna_take *own, const ulna_take *named, ulna_places_choice *choice, ulna_error *error)
{
    ulna_calibrate_options o = ulna_calibrate_options_default();
    ulna_calibration found = {0};
    ulna_marker_set moved = ulna_marker_set_empty(&own->allocator);
    double given = NAN, usual = 0, calibrated = NAN;
    o.frames = TRIED;
    o.try_lengths = 0;
    o = ulna_calibrate_resolve(own->model, &o);
    ulna_status status = find_error(own, &own->set, &o, &given, &usual, error);
    if (status == ULNA_OK && given > usual) {
        status = ulna_calibrate(named, &o, &found, error);
        if (status == ULNA_OK)
            status = move_markers(own, named, &found.set, &moved);
        if (status == ULNA_OK)
            status = find_error(own, &moved, &o, &calibrated, &usual, error);
    }
    choice->rms_own = sqrt(given);
    choice->rms_calibrated = sqrt(calibrated);
    double rough = ULNA_ROUGH_RMS * own->model->length_scale / ULNA_ADULT_LENGTH_SCALE;
    int is_known = !found.is_undetermined || sqrt(given) > rough;
    choice->is_calibration_needed = given > OTHER_TAKE * calibrated && is_known;
    ulna_marker_set_release(&moved);
    ulna_calibration_release(&found);
    return status == ULNA_ERR_MEMORY ? status : ULNA_OK; /* a comparison that fails otherwise says nothing */
}

ulna_status ulna_places_choose(const ulna_take_options *options, ulna_places_choice *choice, ulna_error *error)
{
    ulna_take *own = NULL, *named = NULL;
    ulna_error why;
    if (!options || !options->model || !options->recording || !choice)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a model, a recording and a pointer for the choice are needed");
    *choice = (ulna_places_choice){.rms_own = NAN, .rms_calibrated = NAN};
    ulna_take_options o = *options;
    o.attach = ULNA_ATTACH_KEYPOINTS;
    o.set = NULL;
    o.reference = NULL;
    o.reference_offsets = o.check = 0;
    ulna_error_clear(&why);
    ulna_status status = ulna_take_create(&o, &own, &why);
    if (status == ULNA_ERR_MEMORY)
        return ulna_fail(error, status, "%s", why.message);
    choice->is_calibration_needed = status == ULNA_ERR_MODEL; /* no markers of its own, no key points */
    int can_be_named = own ? !own->keypoints && !own->joints : status == ULNA_ERR_ARGUMENT;
    status = can_be_named ? create_named(&o, own ? own->axes : NULL, &named) : ULNA_OK;
    size_t known = named ? named->set.count : 0, has = own ? own->set.count : 0;
    if (status != ULNA_OK)
        ulna_fail(error, status, "no memory for a take");
    else if (2 * has < known)
        choice->is_calibration_needed = 1;
    else if (has && known >= has) /* else markers would be lost whose names nobody knows */
        status = compare(own, named, choice, error);
    ulna_take_destroy(named);
    ulna_take_destroy(own);
    return status;
}
