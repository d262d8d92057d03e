/*
 * sweep.h: the exact Hessian over two degrees of freedom of a skeleton, the others held at rest, swept over a range of
 * each: where is it positive definite, where not? This is Appendix A of the exact-Hessian paper.
 *
 * The objective is f = 1/2 |goal - point|^2 + 1/2 W |q - rest|^2, in square metres; W, the posture weight, is 0 unless
 * somebody asks for it. Radians and metres throughout.
 */
#ifndef ULNA_CLI_SWEEP_H
#define ULNA_CLI_SWEEP_H

#include "ulna/problem.h"

/* An eigenvalue counts as zero if it is this small beside the other one. */
#define SWEEP_TOLERANCE 1e-9

typedef enum sweep_region {
    SWEEP_POSITIVE, /* both eigenvalues above zero */
    SWEEP_INDEFINITE,
    SWEEP_NEGATIVE,
    SWEEP_SEMIDEFINITE, /* at least one is zero */
    SWEEP_REGION_COUNT
} sweep_region;

typedef struct sweep_range {
    double low, high;
} sweep_range;

typedef struct sweep {
    int dof[2], coordinate[2];
    ulna_problem *problem;
    ulna_work *work;
    int point, posture; /* terms */
    double zero;        /* eigenvalues no larger than this are rounding noise */
    double *q;          /* nq */
    double *unit;       /* nv, zeros */
    double *column;     /* nv */
} sweep;

/* What the sweep tells of one place. */
typedef struct sweep_sample {
    double f;
    double low, high; /* eigenvalues */
    double hessian[3] /* xx, xy, yy */, gradient[2];
} sweep_sample;

/* What it tells of a whole range. */
typedef struct sweep_tally {
    long cells[SWEEP_REGION_COUNT];
    double condition_median, condition_most; /* over positive definite cells; NaN if there are none */
    double lowest;                           /* eigenvalue */
    double f_low, f_high;                    /* of the cells */

    /* The lowest f inside the range, found from the lowest cell on. */
    double minimum[2], minimum_f;
    double minimum_distance;  /* from point to goal, m */
    double minimum_condition; /* infinite where the Hessian is singular */
} sweep_tally;

/* The degrees of freedom must have a coordinate each. A point of a body, in the body's frame. */
ulna_status sweep_create(const ulna_model *model, const int dofs[2], int body, const double point[3], sweep *over,
                         ulna_error *error);
void sweep_release(sweep *over);

ulna_status sweep_aim(sweep *over, const double goal[3], double posture_weight);
ulna_status sweep_at(sweep *over, const double place[2], sweep_sample *sample);
sweep_region sweep_classify(const sweep *over, const sweep_sample *sample);

/* Samples the middles of size x size cells. `regions` (may be NULL): one byte a cell, x fastest, y upwards. */
ulna_status sweep_over(sweep *over, const sweep_range ranges[2], int size, unsigned char *regions, sweep_tally *tally);

#endif
