/* global.h: the parts of bench_global: skeletons and goals, the ways that are compared, figures, prototype. */
#ifndef ULNA_BENCH_GLOBAL_H
#define ULNA_BENCH_GLOBAL_H

#include "ulna/problem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- skeletons, poses and goals (global_scene.c) ------------------------------------------------------------------ */

enum { GLOBAL_JOINTS = 64, GLOBAL_POINTS = 64 };

/* An instance of oracles/global-ik: type 0 is a free root, 1 a hinge, 2 an end site, 3 a base that stands still. */
typedef struct global_oracle {
    int joints, points;
    int parent[GLOBAL_JOINTS], type[GLOBAL_JOINTS], point_joint[GLOBAL_POINTS];
    double axis[GLOBAL_JOINTS][3], lower[GLOBAL_JOINTS], upper[GLOBAL_JOINTS], v[GLOBAL_JOINTS][3];
    double point[GLOBAL_POINTS][3];
} global_oracle;

/* What is looked at: all joints, or the root and the ends. */
typedef enum global_view { GLOBAL_ALL = 0, GLOBAL_ENDS, GLOBAL_VIEWS } global_view;

typedef struct global_skeleton {
    const char *name;
    ulna_model *model;
    ulna_problem
        *problem[GLOBAL_VIEWS]; /* the points of a view, weight 2: f = sum |y - p|^2. The first is the root's */
    int points[GLOBAL_VIEWS], body[GLOBAL_VIEWS][GLOBAL_POINTS];
    global_oracle oracle[GLOBAL_VIEWS]; /* for other programs; only of hand and body */
    int is_take;                        /* its poses are frames of takes: they may be out of its limits */
    int poses;
    double *q;                      /* poses x nq: what the goals are made from */
    double *goals[GLOBAL_VIEWS][2]; /* poses x points x 3: clean, noisy */
} global_skeleton;

/* "hand" or "body" of the oracle files with poses drawn evenly within the limits, or "real": HDM_dg in frames spread over its takes. What
 * takes their places where there are no files: "sample_hand" (in decimetres) and "sample_human", built in, and "sample_walk", the human in
 * frames of the built-in take. 0 if the files are not there. */
int global_skeleton_load(const char *name, int poses, global_skeleton *s);
void global_skeleton_free(global_skeleton *s);

/* The instances of a file such as "chain3_all_noisy", at most `most`; how many there were. */
int global_oracle_read(const char *name, int most, global_oracle *oracles);
/* A chain of so many hinges, all of which are seen, with noise: such as those of these files. */
void global_oracle_chain(int hinges, uint64_t seed, global_oracle *oracle);
/* Its model and problem, to be destroyed; f as above. 0 if there is no memory. */
int global_oracle_problem(const global_oracle *o, ulna_model **model, ulna_problem **problem);

/* Even in [0, 1); the state moves on. */
double global_uniform(uint64_t *state);
/* A pose drawn evenly within the limits and over all turns of the root, which stands at `place`; q: nq. */
void global_random_pose(const ulna_model *model, uint64_t seed, const double place[3], double *q);

/* ---- the ways to a global optimum (global_contest.c) -------------------------------------------------------------- */

enum { GLOBAL_RANDOM = 20, GLOBAL_REFERENCE = 200, GLOBAL_SAMPLES = 10 };

typedef enum global_way {
    GLOBAL_ROUNDING = 0, /* F2, its rounding, refined */
    GLOBAL_SAMPLED,      /* the same and 10 samples, refined */
    GLOBAL_ONE,          /* one random start */
    GLOBAL_TWENTY,       /* the best of 20 random starts */
    GLOBAL_RACE,         /* ulna_global_solve */
    GLOBAL_SDP,          /* ulna_sdp_solve */
    GLOBAL_WAYS
} global_way;

/* What came of a pose: f (= sum |y - p|^2) and milliseconds of each way; NaN where it was not tried. */
typedef struct global_trial {
    double f[GLOBAL_WAYS], ms[GLOBAL_WAYS]; /* GLOBAL_ONE: of the first of the twenty */
    double one_f[GLOBAL_RANDOM], one_ms[GLOBAL_RANDOM];
    double best;         /* of all ways, of 200 random starts, and of a start at the true pose */
    double f2_ms, f3_ms; /* the relaxations alone: F2 as the race solves it, F3 to 1e-4 of the best cost */
    double f2_iterations, f3_iterations;
    double f3_bound;
    double bound; /* this and below: of the race */
    int proven, unreachable, starts;
} global_trial;

/* Tries all ways on pose `i` of a view; `with_sdp`: that one, too. Ends the program on a failure. */
void global_try(const global_skeleton *s, global_view view, int noisy, int i, int with_sdp, global_trial *trial);

/* CPU milliseconds of a relaxation alone on pose i, all joints seen, with noise. */
typedef enum global_relax {
    GLOBAL_F2 = 0,      /* as the race solves it: posture 1e-4, to 1e-6 */
    GLOBAL_F2_AS_THERE, /* as the yardstick does: the same posture, to 1e-4 in units of f */
    GLOBAL_F3_AS_THERE  /* as the yardstick does: to 1e-5 in units of f */
} global_relax;

double global_relax_ms(const global_skeleton *s, int i, global_relax which);

/* Ends the program with a line if `failed`. */
static inline void global_stop_if(int failed, const char *what)
{
    if (failed) {
        fprintf(stderr, "bench_global: %s failed\n", what);
        exit(1);
    }
}

/* ---- the convex-IK paper's relaxation, solved by libraries, beside ours (global_paper.c) -------------------------- */

/* CPU milliseconds that DSDP takes for F1 of pose `i`, all joints seen, with noise, to a gap of 1e-6 relative to
 * 1 + |optimum|. NaN if it failed or is not in this build. */
double global_dsdp_ms(const global_skeleton *s, int i);

/* F1 (DSDP) against the literal (14) (SDPA) on chains of three and five joints with noise. */
typedef struct global_literal {
    int compared; /* instances: 0 if the program sdpa or DSDP is not there */
    double worst; /* largest |F0 - F1| / F1 */
} global_literal;

global_literal global_compare_literal(void);

/* ---- the figures: some hundred names with a note each (global_report.c) ------------------------------------------- */

typedef struct global_figures {
    struct {
        char name[64], note[128];
        double value;
    } row[640];
    int count;
} global_figures;

/* Joins `who` and `what` by an underscore. NaN is left out. */
void global_add(global_figures *figures, const char *who, const char *what, double value, const char *note);
/* 0, or 1 if the file could not be written. */
int global_write(const global_figures *figures, const char *path);

/* All that is to be said of a family such as "hand_all_noisy"; prints most of it. */
void global_report_family(global_figures *figures, const char *family, const global_trial *trials, int count);

/* The value below which `share` of the numbers lie; sorts them, NaN last and not counted. NaN if there are none. */
double global_quantile(double *numbers, int count, double share);

/* ---- the prototype of global IK, outside of this repository, run on the same poses (global_yardstick.c) ----------- */

/* Medians in milliseconds over the same poses (all joints seen, with noise), to the same accuracy: the lowest of a few
 * rounds in turns. */
typedef struct global_yardstick {
    double f2_ms, f3_ms;         /* the prototype's */
    double our_f2_ms, our_f3_ms; /* ours */
} global_yardstick;

/* Builds it into a new folder where ../shared/prototypes (or $ULNA_PROTOTYPES) is. 0 if there is none. */
int global_yardstick_build(char folder[64]);
/* On the first `count` poses. 0 if it does not say what is expected. */
int global_yardstick_run(const char *folder, const global_skeleton *s, int count, global_yardstick *y);
void global_yardstick_remove(const char *folder);

#endif
