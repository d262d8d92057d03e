/* support_calibrate.h: a calibration that has to succeed, and a marker that has to be on its bone. */
#ifndef ULNA_TESTS_SUPPORT_CALIBRATE_H
#define ULNA_TESTS_SUPPORT_CALIBRATE_H

#include <string.h>

#include "mocap/take.h"
#include "support.h"
#include "support_mocap.h"

static inline ulna_calibration calibrate(const ulna_model *model, const ulna_marker_set *set,
                                         const ulna_recording *recording, const double *axes,
                                         const ulna_calibrate_options *options)
{
    ulna_calibration result = {0};
    ulna_error error;
    ulna_error_clear(&error);
    if (ulna_test_calibrate(model, set, recording, axes, options, &result, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    return result;
}

static inline void assert_on(const ulna_model *model, const char *marker, const char *bone)
{
    int body = ulna_marker_body(model, marker);
    if (!bone)
        assert_int_equal(body, ULNA_NONE);
    else if (body == ULNA_NONE || strcmp(ulna_model_body_name(model, body), bone) != 0)
        fail_msg("%s is on %s, not on %s", marker, body == ULNA_NONE ? "nothing" : ulna_model_body_name(model, body),
                 bone);
}

#endif
