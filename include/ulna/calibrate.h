/*
 * ulna/calibrate.h: from a skeleton and one recording to where the markers are, and how long the bones are.
 *
 * Which bone a marker belongs to is known from its name, or from a marker set; no reference motion is needed. A low error is not
 * all: the result also has the error in blocks of the take that were not used, how far each offset and each joint may be off, how often
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

/* Expected places of markers, for names that are not known and for protocols of your own: see ulna_marker_template_load. */
typedef struct ulna_marker_template {
    ulna_marker_set set; /* bodies and offsets */
    double *spread;      /* set.count x 3: m, standard deviations to the left, up and forward at rest */
    size_t room;         /* that `spread` was taken for */
} ulna_marker_template;

/*
 * Reads a table: marker, bone, left, up, forward, spread left, spread up, spread forward. Millimetres, or the unit of
 * names such as left_cm, or of a line "# unit: cm", from the bone's joint, on the skeleton at rest. The directions are x, y and z where
 * the names of its bones do not say which way is left. One spread counts for all three directions; without a spread it is 20 mm. `markers` is overwritten, and empty after a failure.
 */
ULNA_API ulna_status ulna_marker_template_load(const char *path, const ulna_model *model, ulna_marker_template *markers,
                                               ulna_error *error);
ULNA_API void ulna_marker_template_release(ulna_marker_template *markers);

typedef struct ulna_calibrate_options {
    int first_frames;      /* frames of the first stages */
    int frames;            /* frames of the last stage */
    int held_out_blocks;   /* of the take that are not used, to measure the error there; 0: none */
    double held_out_share; /* of the take, all of them together */
    ulna_loss loss;        /* how distances count */
    double loss_scale;     /* m, of the last stage; twice and four times that before. ULNA_AUTO: 4 cm for an adult */
    /* What is expected besides the markers (docs/calibration.md); weights in m^2/rad^2 where a marker's is 1. ULNA_AUTO is the number
     * given here for an adult, and more or less for others in proportion. 0: none. */
    double posture; /* 1e-5: joints toward rest; more for trunk, clavicles, toes, fingers, and in the first stages */
    double limits;  /* 5e-5: joints toward their limits, where they are beyond them */
    double prior;   /* offsets toward their expected places, per frame, where 2 cm are usual on an adult */
    const ulna_marker_template *markers; /* expected places of markers, before those known by name. May be NULL */
    /* 1: the person stands still: joints are held ten times more where posture is ULNA_AUTO. Frames before and after that are not used;
     * ULNA_ERR_ARGUMENT if nine of ten markers stay within 3 cm (on an adult) for less than half a second, and not throughout */
    int is_static;
    int keep_near_set;  /* 1: offsets are held where the take has them, all alike, give or take 2 cm on an adult */
    int scale;          /* 1: bone lengths too */
    int symmetric;      /* 1: left and right by the same factor, paired by name */
    int shoulders;      /* 1: lengths of clavicles and upper arms, and no others, as if symmetric */
    double scale_prior; /* 1e-3: m^2 per unit of scale and frame; ten times that in the first stage. May be ULNA_AUTO */
    int repair;         /* 1: markers that look wrong are moved to the bone in whose frame they move least */
    double suspect_factor; /* a marker looks wrong if its RMS is above so many times the median */
    int evaluate_only;     /* 1: offsets stay as the take has them; only the error in its reference motion is found */
    int try_lengths; /* 1: a few frames are calibrated with other bone lengths too, to see whether the skeleton has the person's:
                      * ulna_calibration.lengths. Not if lengths are found anyway, nor with is_static or evaluate_only */
    /* Other takes of the session, with the same model and the same markers, which are calibrated together with this one: more frames,
     * and movements that one take lacks. Each is calibrated by itself, too, to compare. ULNA_ERR_ARGUMENT if two of them have frames in common,
     * or are copies: frames that are left out of one would be used in the other. */
    const ulna_take *const *other_takes;
    int other_take_count;
    /* The pose that the person takes throughout: 't' arms held out, 'n' hanging, 'a' halfway; 0: rest. */
    char static_arms;
    const double *static_pose; /* nq: that pose, if it is another one. May be NULL */
    unsigned long long seed;
    int (*progress)(void *context, int done, int total); /* not 0 cancels. May be NULL */
    void *progress_context;
} ulna_calibrate_options;

/* 40 and 200 frames, 5 blocks of together 10 %; Geman-McClure at 4 cm; posture and limits as above, prior 1e-2, scale prior 1e-3;
 * no scales, but a look at whether they would help (try_lengths); no repair, suspects above 3 medians. */
ULNA_API ulna_calibrate_options ulna_calibrate_options_default(void);

/* The same for a recording of someone who stands still, as the skeleton does at rest, or as `static_arms` or `static_pose` say: bone
 * lengths (scale is 1) so that markers have to move least on their bones (keep_near_set is 1, prior 1e-2). Poses are held ten times
 * more; no blocks, try_lengths is 0. Lengths are as good as the offsets of the set are. */
ULNA_API ulna_calibrate_options ulna_calibrate_options_static(void);

typedef struct ulna_calibrated_marker {
    double rms;          /* m, over the frames used in which it was seen and counted; NaN if in none */
    double rms_all;      /* m, outliers too; NaN if it was never seen */
    double deviation[3]; /* m, along x, y, z of the body: standard deviation of the offset; NaN if unknown */
    double undetermined; /* 0 .. 3: directions in which the expected place decides, not the take; -1 if unknown */
    int seen;            /* of the frames used */
    int outliers;        /* of these, those that the robust loss gives less than a quarter of their weight */
    int is_suspect;      /* rms_all above options.suspect_factor medians, and above 1 % of ulna_model_length_scale */
    int differs_between_takes; /* two takes by themselves put it farther apart than their deviations explain */
    int moved_from;            /* repair: the body that it was on before; ULNA_NONE if it was not moved */
} ulna_calibrated_marker;

/*
 * Whether the skeleton has the person's bone lengths: few frames, calibrated with its own lengths and with others. No offset makes up for a
 * wrong length where limbs bend, so the error shows it. RMS in m, outliers too, all of the same frames; NaN: not tried, or not found.
 */
typedef struct ulna_length_trial {
    int frames;            /* that were tried, 60 at most; 0: none (options.try_lengths) */
    double rms_given;      /* with the lengths of the skeleton */
    double rms_symmetric;  /* with all lengths found, left and right alike (options.symmetric) */
    double rms_shoulders;  /* with those of clavicles and upper arms (options.shoulders) */
    double *scale;         /* one factor per body of the skeleton: the lengths of rms_symmetric. NULL: not found */
    int are_others_better; /* 1: rms_given is above 1.2 rms_symmetric: the skeleton's are not the person's, it seems */
    int are_shoulders_better; /* 1: rms_given is above 1.2 rms_shoulders */
    /* The person beside the skeleton: by what factor its bones grow in `scale`, all together: 0.9 for a skeleton of 110 %. Bones that the
     * take hardly shows stay as they are, so the truth is rather farther from 1. NaN: not found */
    double size;
    int is_other_size; /* 1: size is more than 4 % from 1. Offsets make up for it, and the error may be small: angles are wrong */
} ulna_length_trial;

/* Arrays and the model belong to the result. {0} is an empty result, which may be released. */
typedef struct ulna_calibration {
    ulna_marker_set set;             /* the take's, with the offsets that were found: for a take to track */
    ulna_calibrated_marker *markers; /* set.count; NULL with options.evaluate_only */
    ulna_model *model;               /* with the new bone lengths, and the set's markers; NULL without options.scale */
    double *scale;                   /* one factor per body of the skeleton; NULL without options.scale */
    /* By what factor the bones grow in `scale`, all together, without those that no marker shows; NaN without options.scale. */
    double size;
    double *limit_violation; /* per body: share of its limited angles that are more than 5 degrees beyond them */
    double *deviation;       /* per body: m, standard deviation of its joint's place; 0 if it has none, NaN unknown */
    /* Per body: radians, standard deviation of its joint's rotation in a frame, about the axis that is determined least; 0 if it has
     * no DOF, NaN if no marker shows it or it is unknown. */
    double *rotation_deviation;
    int body_count;
    size_t room; /* that `markers` was taken for */

    double rms;          /* m, over the frames used, without outliers */
    double rms_held_out; /* m, over the blocks that were not used, likewise; NaN if there are none */
    double outliers;     /* share of the sightings in the frames used that are outliers */
    int first_frame,
        last_frame; /* indices in the take: those used are among these; with options.is_static, where the person stands still */
    int frames_used, frames_held_out; /* of the blocks, at most options.frames */
    int unmatched;                    /* markers of the input that the recording does not have */
    double undetermined; /* directions of offsets that the take does not determine: sum of the markers'; -1 unknown */
    int is_undetermined; /* 1: so many of them that the take hardly moves, or belongs to another skeleton */
    double rms_all;      /* m, over the frames used, outliers too */
    int bodies;          /* that carry markers */
    double violations;   /* share of all limited joint angles that are more than 5 degrees beyond their limits */
    int suspect_count, repaired;
    double *
        take_rms; /* 1 + options.other_take_count: m, of each take with offsets of its own; NULL if there is one take */
    int take_count;
    int differing_count; /* markers that differ between takes */
    /* 1: markers were placed anew between takes, so that one calibration does not fit all: the error is more than a tenth above those
     * of take_rms together, and there are markers that differ. */
    int is_placed_anew;
    /* `set.has_other_lengths` tells ulna_track, and the table that is written, if others are better, or the size is another. */
    ulna_length_trial lengths;
    int rounds;  /* steps of the outer iteration, but for `lengths` */
    int rescued; /* poses that were found again elsewhere */
    double seconds;
} ulna_calibration;

/*
 * Finds the offsets of the take's markers on their bodies. They are expected about where the take's set has them; one that is
 * 0, 0, 0 where markers of its name are usually worn, or if that is not known, in the middle of the bone. `options` may be NULL; `result` is
 * overwritten, and empty after a failure. A tenth of a second for a take with 41 markers, and two for options.try_lengths.
 * Deterministic; one thread.
 * ULNA_ERR_STATE if the progress function cancels; ULNA_ERR_MODEL for options.shoulders on a skeleton without clavicles.
 */
ULNA_API ulna_status ulna_calibrate(const ulna_take *take, const ulna_calibrate_options *options,
                                    ulna_calibration *result, ulna_error *error);
ULNA_API void ulna_calibration_release(ulna_calibration *result);

/* Where the markers of a recording are, if nobody says. */
typedef struct ulna_places_choice {
    int is_calibration_needed; /* 1: ulna_calibrate on a take with ULNA_ATTACH_NAMES finds them. 0: a take with ULNA_ATTACH_KEYPOINTS has
                                * them: the skeleton's own markers, or key points */
    double rms_own;        /* m: error of the skeleton's own markers on a few frames, where distances above the scale of
                            * the calibration's loss count as that; NaN: not measured */
    double rms_calibrated; /* the same for markers calibrated on other frames; NaN: not needed, or not found */
} ulna_places_choice;

/*
 * Whether a skeleton's own markers are where this person wears them. They are not if a calibration on the take makes the squared error
 * less than a third of what it is: offsets that were found in another take of the same session lose less. They are kept without a calibration if
 * they fit as well as markers on skin usually do (6.6 mm on an adult). They are also kept if the take hardly determines places, and the
 * error is below 1.5 cm. Nothing is measured where the numbers of markers decide: a skeleton that has fewer than half of those that are
 * known by name needs a calibration; one that has more than are known by name needs none. Looks at all frames that the options name;
 * their `set`, `attach` and `reference` do not count. About 0.2 s. ULNA_ERR_MEMORY or _ARGUMENT.
 */
ULNA_API ulna_status ulna_places_choose(const ulna_take_options *options, ulna_places_choice *choice,
                                        ulna_error *error);

#ifdef __cplusplus
}
#endif
#endif
