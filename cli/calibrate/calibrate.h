/* calibrate.h: the parts of `ulna calibrate`: what it is given and finds, and what it shows. */
#ifndef ULNA_CLI_CALIBRATE_H
#define ULNA_CLI_CALIBRATE_H

#include "cli/input.h"
#include "cli/output.h"
#include "ulna/calibrate.h"

typedef struct calibrate_job {
    /* The command line. */
    int is_unnamed; /* no skeleton was given: the built-in human */
    const char *skeleton_path, *markers_path;
    const char *reference_path, *attach_path, *static_path; /* may be NULL */
    const char *template_path, *static_pose;                /* may be NULL */
    const char *const *more_paths;                          /* other takes of the session */
    int more_count;
    axes_choice axes;
    const char *subject;                  /* NULL: not chosen */
    const char *output_path, *model_path; /* may be NULL */
    int first, last;                      /* frames of the recordings to use */
    int is_forced;                        /* --no-checks */
    double markers_unit, skeleton_unit;   /* metres; 0: as the files say */
    ulna_calibrate_options options;

    /* What was read. */
    ulna_content skeleton, markers, still;
    ulna_content *more; /* more_count */
    ulna_marker_template expected;
    char standing; /* the pose of the static recording, 0: rest */
    double *shown; /* or this one. May be NULL */
    ulna_clip reference;
    ulna_marker_set set; /* of attach_path; later what the static recording found */
    ulna_take *take;
    ulna_take **more_takes; /* more_count */
    const char *from;       /* where the bones are known from */
    json_t *notes;

    ulna_calibration result;
    ulna_calibration lengths; /* of the static recording */
} calibrate_job;

/* `ulna calibrate` of a parsed command line. `object` receives what --json shows, but for a wrong command line. Returns the
 * exit code. */
int calibrate_run(const cli *tool, json_t *object);

/* calibrate_result.c */
void calibrate_add_results(json_t *object, const calibrate_job *job);
void calibrate_print(const cli *tool, const json_t *object, const calibrate_job *job);
/* ULNA_ERR_ARGUMENT, and what to look at, if the result means nothing; --no-checks forces it. */
ulna_status calibrate_check(const ulna_calibration *result, int is_forced, ulna_error *error);

#endif
