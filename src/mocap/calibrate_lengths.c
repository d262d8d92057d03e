/* Whether the skeleton has the person's bone lengths: a few frames calibrated with others. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "mocap/calibrator.h"

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
    result->set.has_other_lengths = t->are_others_better;
    return ULNA_OK;
}
