/*
 * ulna/calibrate.h: from a skeleton and one recording to where the markers sit, and how long the bones are.
 *
 * Which bone a marker belongs to is known from its name, or from a marker set; no reference motion is needed. A low error is not
 * all: the result also has the error in blocks of the take that were not used, which offsets the take does not determine, how often
 * joints were beyond their limits, and which markers may be on the wrong bone. docs/calibration.md says how to read that.
 *
 *     ulna_take_options options = ulna_take_options_default();
 *     ulna_take *take;
 *     ulna_calibration found = {0};
 *     options.model = model;
 *     options.recording = &recording;
 *     options.attach = ULNA_ATTACH_NAMES; // bones by the markers' names
 *     status = ulna_take_create(&options, &take, &error);
 *     if (status == ULNA_OK)
 *         status = ulna_calibrate(take, NULL, &found, &error); // found.set: for a take to track
 *
 * End with ulna_calibration_release and ulna_take_destroy. examples/calibrate.c goes from files to files.
 */
#ifndef ULNA_CALIBRATE_H
#define ULNA_CALIBRATE_H

#include "ulna/mocap.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    int average;          /* 1: offsets stay as the take has them; only the error in its reference motion is found */
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

/* Arrays and the model belong to the result. {0} is an empty result, which may be released. */
typedef struct ulna_calibration {
    ulna_marker_set set;             /* the take's, with the offsets that were found: for a take to track */
    ulna_calibrated_marker *markers; /* set.count; NULL with options.average */
    ulna_model *model;               /* with the new bone lengths; NULL without options.scale */
    double *scale;                   /* one factor per body of the skeleton; NULL without options.scale */
    double *beyond;  /* per body: share of its limited angles that are more than 5 degrees beyond their limits */
    double *freedom; /* per body: sum of its markers' freedom */
    int body_count;
    size_t room; /* that `markers` was taken for */

    double rms;                       /* m, over the frames used, without outliers */
    double rms_held_out;              /* m, over the blocks that were not used, likewise; NaN if there are none */
    double outliers;                  /* share of the sightings in the frames used that are outliers */
    int frames_used, frames_held_out; /* of the blocks, at most options.frames */
    int unmatched;                    /* markers of the input that the recording does not have */
    double
        weak; /* directions of the offsets that the take does not determine: the sum of the markers' freedom; -1 unknown */
    int is_weak;       /* 1: so many of them that the take hardly moves, or belongs to another skeleton */
    double rms_all;    /* m, over the frames used, outliers too */
    int bodies;        /* that carry markers */
    double violations; /* share of all limited joint angles that are more than 5 degrees beyond their limits */
    int suspects, repaired;
    int rounds;  /* steps of the outer iteration */
    int rescued; /* poses that were found again elsewhere */
    double seconds;
} ulna_calibration;

/*
 * Finds the offsets of the take's markers on their bodies. It starts from the offsets that the take has; one that is 0, 0, 0
 * starts in the middle of the bone. `options` may be NULL; `result` is overwritten, and empty after a failure. A fifth of a second
 * for a take with 41 markers. Deterministic; one thread. ULNA_ERR_STATE if the progress function cancels.
 */
ULNA_API ulna_status ulna_calibrate(const ulna_take *take, const ulna_calibrate_options *options,
                                    ulna_calibration *result, ulna_error *error);
ULNA_API void ulna_calibration_release(ulna_calibration *result);

#ifdef __cplusplus
}
#endif
#endif
