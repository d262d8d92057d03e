/* global_contest.h: the ways to a global optimum that bench_global compares, on one pose at a time. */
#ifndef ULNA_BENCH_GLOBAL_CONTEST_H
#define ULNA_BENCH_GLOBAL_CONTEST_H

#include "global_scene.h"

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
void global_try(const global_skeleton *skeleton, global_view view, int noisy, int i, int with_sdp, global_trial *trial);

/* CPU milliseconds of a relaxation alone on pose i, all joints seen, with noise. */
typedef enum global_relax {
    GLOBAL_F2 = 0,      /* as the race solves it: posture 1e-4, to 1e-6 */
    GLOBAL_F2_AS_THERE, /* as the yardstick does: the same posture, to 1e-4 in units of f */
    GLOBAL_F3_AS_THERE  /* as the yardstick does: to 1e-5 in units of f */
} global_relax;

double global_relax_ms(const global_skeleton *skeleton, int i, global_relax which);

/* Ends the program with a line if `failed`. */
void global_stop_if(int failed, const char *what);

#endif
