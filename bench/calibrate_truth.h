/* calibrate_truth.h: how far calibrations are from the truth where it is known, and from each other where it is not. */
#ifndef ULNA_BENCH_CALIBRATE_TRUTH_H
#define ULNA_BENCH_CALIBRATE_TRUTH_H

#include "support.h"
#include "ulna/calibrate.h"

enum { CALIBRATE_MARKERS = 64 };

/* Offsets found in the two halves of a take, against each other: mm. */
typedef struct calibrate_halves {
    double median, most;
    double all[CALIBRATE_MARKERS]; /* marker_count: sorted */
    int marker_count;
    char worst[ULNA_MARKER_NAME];
} calibrate_halves;

/* Means over takes and seeds. */
typedef struct calibrate_truth {
    double orientation_deg,
        position_mm;  /* of bones and joints, tracked, against the motion that the markers were made from */
    double joints_mm; /* of all joints with DOFs against the person's, whose bones may have other lengths */
    double offset_mm, offset_most_mm;
    /* Percent: errors of offsets, of joints' places and of their rotations within twice the deviation that was reported. */
    double covered, joints_covered, rotations_covered;
    double error_over_deviation;  /* root mean square */
    double size_least, size_most; /* percent: the person beside the skeleton as ulna_calibration.lengths has it */
    double size_told;             /* percent of the runs: is_other_size */
} calibrate_truth;

/* 0 if it cannot be read. */
int calibrate_measure_halves(const bench_take *from, calibrate_halves *halves);

/* A take brought to another size, percent: the size that was found, or 0 if it cannot be read. */
double calibrate_measure_size(const bench_take *from, double size);

/* Markers made from a reference motion: true offsets, skin that moves with the pose, 1 mm of noise. */
typedef struct calibrate_truth_case {
    int rule;    /* 0: offsets as the reference has them; 1: expected places give or take 2 cm in each coordinate */
    double skin; /* m, root mean square */
    int first_seed, seeds;
    int has_other_shoulders; /* the person's clavicles are 80 % of the skeleton's, the upper arms 112 % */
    int finds_shoulders;     /* options.shoulders */
    double size;             /* of the person beside the skeleton; 0: 1, and not looked for */
    int is_others;           /* motions of people and takes that no constant was chosen with; rule 1 only */
} calibrate_truth_case;

int calibrate_measure_truth(const calibrate_truth_case *wanted, calibrate_truth *truth);

#endif
