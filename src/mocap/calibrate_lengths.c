/*
 * Whether the skeleton has the person's bone lengths: a few frames calibrated with others.
 *
 * Two signs. The error falls: some bones are wrong, and no offset makes up for that where limbs bend. Or all bones shrink or grow alike: where
 * limbs bend little, offsets make up for a skeleton of another size, and the error says nothing (3.3 mm instead of 3.0 on a walk of CMU's
 * with a skeleton of 110 %), but the lengths that fit best do.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "mocap/calibrator.h"
#include "model/model.h"

enum { FEW = 60 };
#define MATTER 1.2 /* times the error that other lengths give: less may be the freedom that they add */

/* The error with these options; NaN if there is none. `scale` receives the factors, if it is not NULL and there are some. */
static ulna_status try_options(const ulna_take *take, const ulna_calibrate_options *options, double *rms,
                               double **scale)
{
    ulna_calibration trial = {0};
    ulna_status status = ulna_calibrate(take, options, &trial, NULL);
    *rms = status == ULNA_OK ? trial.rms_all : NAN;
    if (scale) {
        *scale = trial.scale;
        trial.scale = NULL;
    }
    ulna_calibration_release(&trial);
    return status == ULNA_ERR_MEMORY ? status : ULNA_OK;
}

/* Bones that no marker shows have a factor of exactly 1, and say nothing. */
double ulna_calibrate_size(const ulna_model *model, const double *scale)
{
    double given = 0, found = 0;
    for (int b = 0; scale && b < model->nb; b++)
        if (scale[b] != 1) {
            double length = ulna_model_bone_length(model, b);
            given += length;
            found += scale[b] * length;
        }
    return given > 0 ? found / given : NAN;
}

ulna_status ulna_calibrate_try_lengths(const ulna_take *take, const ulna_calibrate_options *options,
                                       ulna_calibration *result, ulna_error *error)
{
    ulna_length_trial *t = &result->lengths;
    ulna_calibrate_options o = *options;
    o.try_lengths = o.repair = 0;
    o.progress = NULL;
    o.frames = o.frames < FEW ? o.frames : FEW;
    t->frames = result->frames_used < o.frames ? result->frames_used : o.frames;
    ulna_status status = try_options(take, &o, &t->rms_given, NULL); /* the same frames: a bad one says nothing */
    o.scale = o.symmetric = 1;
    if (status == ULNA_OK)
        status = try_options(take, &o, &t->rms_symmetric, &t->scale);
    o.shoulders = 1;
    if (status == ULNA_OK)
        status = try_options(take, &o, &t->rms_shoulders, NULL);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory to try other bone lengths");
    t->are_others_better = t->rms_given > MATTER * t->rms_symmetric;
    t->are_shoulders_better = t->rms_given > MATTER * t->rms_shoulders;
    t->size = ulna_calibrate_size(take->model, t->scale);
    t->is_other_size = fabs(t->size - 1) > ULNA_OTHER_SIZE;
    result->set.has_other_lengths = t->are_others_better || t->is_other_size;
    return ULNA_OK;
}
