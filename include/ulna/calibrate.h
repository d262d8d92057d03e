/*
 * ulna/calibrate.h: from marker names, a skeleton and one recording to where the markers sit, and how long the bones are.
 *
 *     ulna_calibration result;
 *     ulna_marker_set_from_names(model, &recording, &set, NULL, &error);     // which body, by the names of common sets
 *     ulna_calibrate(model, &set, &recording, NULL, NULL, &result, &error);  // where on it: result.set, for ulna_track
 *     ulna_calibration_release(&result);
 *
 * No reference motion is needed; ulna_marker_set_from_motion starts from one if there is one. A low error is not all: the
 * result also tells the error on blocks of the take that were not used, which offsets the take does not determine, how often
 * joints were beyond their limits, and which markers may be on the wrong bone. docs/calibration.md says how to read that.
 */
#ifndef ULNA_CALIBRATE_H
#define ULNA_CALIBRATE_H

#include "ulna/mocap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- which bone ------------------------------------------------------------------------------------------------------ */

/*
 * Adds to `set` the markers of the recording whose names are those of a common marker set (Plug-in-Gait, CMU and HDM05:
 * LFHD, C7, LSHO, RWRA, LFWT or LASI, LKNE, ...; Helen Hayes and OpenSim's examples: R.Acromium, V.Sacral, L.Knee.Lat, ...;
 * letter case, points and a subject's prefix such as "Daniel:" do not count) on the bodies that the skeleton has for them, by
 * the names that ASF files, BVH files and Ulna's samples use (lfemur, LeftUpLeg, left_thigh, ...). Offsets are where such a
 * marker sits on an adult of 1.75 m at rest. Markers that the set has already stay as they are; names that are not known, or
 * whose bone is not there, are left out; `unknown` (may be NULL) tells how many. ULNA_ERR_MODEL if the set is empty then.
 */
ULNA_API ulna_status ulna_marker_set_from_names(const ulna_model *model, const ulna_recording *recording,
                                                ulna_marker_set *set, int *unknown, ulna_error *error);
/* The body for a marker of that name, or ULNA_NONE. */
ULNA_API int ulna_marker_body(const ulna_model *model, const char *marker);

/*
 * Offsets as they are in a motion of the skeleton that belongs to the recording, frame by frame (by number where the
 * counts differ): a robust mean in the frame of the bone. An empty set receives every marker of the recording, each on
 * the body in whose frame it moves least; else the set keeps its bodies and gets new offsets.
 */
ULNA_API ulna_status ulna_marker_set_from_motion(const ulna_model *model, const ulna_clip *clip,
                                                 const ulna_recording *recording, const double *axes,
                                                 ulna_marker_set *set, ulna_error *error);

/*
 * The turn (9 numbers, row by row) of the recording's axes into the skeleton's: x, y, z stay, or go round in a circle
 * (y z x, z x y). `up` and `model_up` are 'x', 'y', 'z' or 0 for unknown, as in ulna_source: if both are known, the turn
 * that brings one to the other; else the one in which the skeleton stands most upright in the recording, by a rigid
 * alignment of its rest pose with frames of it (ULNA_ERR_MODEL if the skeleton does not tell its own up either).
 */
ULNA_API ulna_status ulna_recording_axes(const ulna_model *model, const ulna_marker_set *set,
                                         const ulna_recording *recording, char up, char model_up, double axes[9],
                                         ulna_error *error);

/* ---- where on the bone ------------------------------------------------------------------------------------------------ */

typedef struct ulna_calibrate_options {
    int keys;             /* frames of the first stages */
    int frames;           /* frames of the last stage */
    int blocks;           /* of the take that are not used, to measure the error there; 0: none */
    double held_out;      /* their share of the take */
    ulna_loss loss;       /* how distances count */
    double loss_scale;    /* m, of the last stage; twice and four times that in the stages before */
    double posture;       /* m^2/rad^2 toward rest, each joint but the root; 30 and 10 times that in the first stages */
    double posture_loose; /* the same for bodies with two or more DOF and at most one marker of their own */
    double prior;         /* holds offsets where the stage began, per frame; ten times that in the first stage */
    int hold;             /* 1: holds them where the set has them, in every stage */
    int scale;            /* 1: bone lengths too */
    int symmetric;        /* 1: left and right by the same factor, paired by name */
    double scale_prior;   /* m^2 per unit of scale and frame; ten times that in the first stage */
    int repair;           /* 1: markers that look wrong are moved to the bone in whose frame they move least */
    double suspect;       /* a marker looks wrong if its RMS is above so many times the median */
    unsigned long long seed;
    int (*progress)(void *context, int done, int total); /* not 0 cancels. May be NULL */
    void *progress_context;
} ulna_calibrate_options;

/* 40 keys, 200 frames, 5 blocks of together 10 %; Geman-McClure at 4 cm; posture 3e-6 and 1e-5, prior 1e-3, scale prior 1e-3; no
 * scales, no repair, suspects above 3 medians. */
ULNA_API ulna_calibrate_options ulna_calibrate_options_default(void);

/* The same for a recording of someone who stands still about as the skeleton does at rest: bone lengths (scale is 1) so that
 * markers have to move least on their bones (hold is 1, prior 1e-2). Poses are held to rest ten times more; no blocks. Lengths
 * are as good as the offsets of the set are. */
ULNA_API ulna_calibrate_options ulna_calibrate_options_static(void);

typedef struct ulna_calibrated_marker {
    double rms;     /* m, over the frames used in which it was seen and counted; NaN if in none */
    double rms_all; /* m, outliers too; NaN if it was never seen */
    double freedom; /* 0 .. 3: directions in which the take does not determine the offset; -1 if unknown */
    int seen;       /* of the frames used */
    int outliers;   /* of these, those that the robust loss gives less than a quarter of their weight */
    int suspect;    /* rms_all above options.suspect medians, and above 1 % of ulna_model_length_scale */
    int moved_from; /* repair: the body that it was on before; ULNA_NONE if it was not moved */
} ulna_calibrated_marker;

typedef struct ulna_calibration {
    ulna_marker_set set; /* as ulna_track takes it: markers that the recording has, in the order of the input */
    ulna_calibrated_marker *markers; /* set.count */
    ulna_model *model;               /* with the new bone lengths; NULL without options.scale */
    double *scale;                   /* one factor per body of the skeleton; NULL without options.scale */
    double *beyond; /* per body: share of its limited angles that are more than 5 degrees beyond their limits */
    int body_count;
    size_t room; /* that `markers` was taken for */

    double rms;                       /* m, over the frames used, without outliers */
    double rms_held_out;              /* m, over the blocks that were not used, likewise; NaN if there are none */
    double outliers;                  /* share of the sightings in the frames used that are outliers */
    int frames_used, frames_held_out; /* of the blocks, at most options.frames */
    int unmatched;                    /* markers of the input that the recording does not have */
    double
        weak; /* directions of the offsets that the take does not determine: the sum of the markers' freedom; -1 unknown */
    double violations; /* share of all limited joint angles that are more than 5 degrees beyond their limits */
    int suspects, repaired;
    int rounds;  /* steps of the outer iteration */
    int rescued; /* poses that were found again elsewhere */
    double seconds;
} ulna_calibration;

ULNA_API ulna_calibration ulna_calibration_empty(const ulna_allocator *allocator);
ULNA_API void ulna_calibration_release(ulna_calibration *result);

/*
 * Finds the offsets of the set's markers on their bodies. The set's offsets are where it starts; one that is 0, 0, 0 starts
 * in the middle of the bone. `axes` as in ulna_track; `options` NULL for the default; `result` is empty before. A fifth of a
 * second for a take with 41 markers. Deterministic; one thread. ULNA_ERR_STATE if the progress function cancels.
 */
ULNA_API ulna_status ulna_calibrate(const ulna_model *model, const ulna_marker_set *set,
                                    const ulna_recording *recording, const double *axes,
                                    const ulna_calibrate_options *options, ulna_calibration *result, ulna_error *error);

#ifdef __cplusplus
}
#endif
#endif
