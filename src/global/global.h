/* global.h (private): what the stages of a global solve share. */
#ifndef ULNA_GLOBAL_GLOBAL_H
#define ULNA_GLOBAL_GLOBAL_H

#include "global/relaxation.h"
#include "solve/solver.h"
#include "ulna/global.h"

/* Starts are solved in batches of this many, side by side, and looked at when all are done: so the answer does not depend on
 * who was first. */
enum { ULNA_GLOBAL_LANES = 8 };

typedef struct ulna_lane {
    ulna_solver *solver;
    double *q, *step; /* nq, nv */
    ulna_result result;
    ulna_status status;
    int aligned; /* 1: the root is to be moved to the goals first */
} ulna_lane;

struct ulna_global {
    ulna_allocator allocator;
    const ulna_problem *problem;
    const ulna_model *model;
    ulna_global_options options;
    const ulna_method *method, *inner; /* as of ulna_solver_create_with */
    ulna_lane lane[ULNA_GLOBAL_LANES];
    const unsigned char *locked; /* nv, of the solvers: what may not move. NULL: nothing */
    double *best_q, *first_q;
    size_t bytes;

    /* Made for the terms that had weight at the last solve. */
    int has_tree;
    ulna_reduced reduced;
    ulna_reduced_pose pose;
    ulna_relaxation *relaxation[2]; /* hull, bones; NULL until needed */
};

/* ulna_global_create, given the methods of the names in options->local. */
ulna_status ulna_global_create_with(const ulna_problem *problem, const ulna_global_options *options,
                                    const ulna_method *method, const ulna_method *inner,
                                    const ulna_allocator *allocator, ulna_global **global, ulna_error *error);

/* race.c: the stages. `q` in and out. */
ulna_status ulna_global_race(ulna_global *g, double *q, ulna_global_result *result, ulna_error *error);

/* No bound is above the cost of a pose by more than rounding. If one is, something is wrong in here: it is replaced by
 * `otherwise` (a bound from lengths alone), or by 0 if that is too high as well, and result->contradicted is set.
 * Returns 1 if the bound was good; it is then at most f. */
int ulna_global_check_bound(ulna_global_result *result, double rounding, double otherwise);

#endif
