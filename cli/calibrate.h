/* calibrate.h: the parts of `ulna calibrate`: what it is given and finds, and how it tells. */
#ifndef ULNA_CLI_CALIBRATE_H
#define ULNA_CLI_CALIBRATE_H

#include "files.h"
#include "ulna/calibrate.h"
#include "ulna/kinematics.h"

typedef struct calibrate_job {
    /* The command line. */
    const char *skeleton_path, *markers_path;
    const char *reference_path, *attach_path; /* may be NULL */
    int average;                              /* offsets as the reference has them, and no more */
    int has_axes;
    char up;
    ulna_calibrate_options options;

    /* What was read. */
    ulna_content skeleton, markers;
    ulna_clip reference;
    ulna_marker_set set;
    const char *from; /* where the bones are known from */
    double axes[9];   /* model = axes x recording */
    json_t *notes;

    ulna_calibration result;
} calibrate_job;

/* calibrate_result.c */
void calibrate_add_results(json_t *object, const calibrate_job *job);
void calibrate_print(const cli *tool, const calibrate_job *job);
void calibrate_print_files(const cli *tool, const json_t *object);

#endif
