/* hessian.h: what the experiments of the exact-Hessian paper share: its methods, one solve with its trace, frames of its kinds. */
#ifndef ULNA_CLI_PAPER_HESSIAN_H
#define ULNA_CLI_PAPER_HESSIAN_H

#include "cli/paper/paper.h"

/* A method as the paper's authors ran it, or one of Ulna's own. */
typedef struct rival {
    const char *name;                   /* in sheets and pictures */
    const char *method;                 /* of the library */
    void (*set)(ulna_options *options); /* may be NULL */
    int is_bounded;                     /* takes part where limits are kept */
} rival;

enum { RIVAL_QUASI_NEWTON, RIVAL_EXACT, RIVAL_LM, RIVAL_NEWTON, RIVAL_HYBRID, RIVALS, RIVAL_TEXTBOOK = RIVALS };
extern const rival rivals[RIVALS + 1]; /* the last one is for Table 4 alone */

enum { HESSIAN_MOST_ITERATIONS = 200, HESSIAN_MOST_FRAMES = 16 };
#define HESSIAN_STOP_CM2 1e-2 /* the paper's f < 1e-2 */

/*
 * The problem of a frame, and the f below which it counts as solved: 1e-2 cm^2 more than the least, which is 0 with offsets of the frame's own
 * pose, and with fixed ones where newton ends from that pose. NULL if no marker is seen.
 */
ulna_status hessian_open_frame(const paper_take *take, int frame, int is_fixed, int is_bounded, ulna_problem **problem,
                               double *solved_cm2, ulna_error *error);

/* How to solve one frame. */
typedef struct trial {
    const paper_take *take;
    const rival *by;
    int iterations;   /* k_max */
    double objective; /* cm^2; 0: none */
    int is_bounded;
} trial;

/* Options of the paper: only the iterations, and f if wanted, end a solve. */
ulna_options hessian_options(const trial *how);

/* What came of it. The trace has one row more than there are iterations. */
typedef struct trial_result {
    ulna_result result;
    ulna_trace_row rows[HESSIAN_MOST_ITERATIONS + 2];
    int row_count;
    long long added_calls; /* evaluations so far, added up over the iterations: 1 + 2 + ... */
} trial_result;

/* From q to the answer, in q. With `repeats` > 1, the time is the shortest of so many solves. */
ulna_status hessian_solve(const trial *how, ulna_problem *problem, int repeats, double *q, trial_result *found,
                          ulna_error *error);
/* All angles zero, the root in the middle of the markers. */
ulna_status hessian_zero_start(const paper_take *take, int frame, double *q, ulna_error *error);

/* Frames of one kind of motion, as indices of the take. */
typedef struct frame_choice {
    const char *kind; /* "walking" */
    int frames[HESSIAN_MOST_FRAMES];
    int count;
} frame_choice;

/* Those of Figs. 2-5: three kinds. The paper's own frames where the take is dg_03-02_01. */
ulna_status hessian_fight_frames(const paper_take *take, int most, frame_choice kinds[3], ulna_error *error);
/* Those of Figs. 6-7: jumping jack, skiing exercise, elbow to knee, squat; one frame each. */
ulna_status hessian_workout_frames(const paper_take *take, frame_choice kinds[4], ulna_error *error);

/* The takes of Figs. 3-5 and 8, and of Fig. 7, or what there is in their place. */
ulna_status hessian_fight_take(paper_job *job, paper_take **take, ulna_error *error);
ulna_status hessian_workout_take(paper_job *job, paper_take **take, ulna_error *error);

#endif
