/* calibrate.h: the parts of `ulna calibrate`: what it is given and finds, and how it tells. */
#ifndef ULNA_CLI_CALIBRATE_H
#define ULNA_CLI_CALIBRATE_H

#include "cli/files.h"
#include "ulna/calibrate.h"
#include "ulna/kinematics.h"

typedef struct calibrate_job {
    /* The command line. */
    const char *skeleton_path, *markers_path;
    const char *reference_path, *attach_path, *static_path; /* may be NULL */
    int average;                                            /* offsets as the reference has them, and no more */
    int has_axes;
    char up;
    ulna_calibrate_options options;

    /* What was read. */
    ulna_content skeleton, markers, still;
    ulna_clip reference;
    ulna_marker_set set;
    const char *from; /* where the bones are known from */
    double axes[9];   /* model = axes x recording */
    double axes_static[9];
    json_t *notes;

    ulna_calibration result;
    ulna_calibration lengths; /* of the static recording */
} calibrate_job;

/* calibrate_inputs.c: reads the files, and finds bones and axes. Returns the exit code. */
int calibrate_load(json_t *object, calibrate_job *job, ulna_error *error);

/* calibrate_result.c */
void calibrate_add_results(json_t *object, const calibrate_job *job);
void calibrate_print(const cli *tool, const calibrate_job *job);
void calibrate_print_files(const cli *tool, const json_t *object);

#endif
