/* global.h (private): the object of a global solve, and its stages. */
#ifndef ULNA_GLOBAL_GLOBAL_H
#define ULNA_GLOBAL_GLOBAL_H

#include "global/relaxation.h"
#include "solve/solver.h"
#include "ulna/global.h"

/* Starts are solved in batches of this many, in parallel. Results are compared when the whole batch is finished, so they
 * do not depend on which start finishes first. */
enum { ULNA_GLOBAL_LANES = 8 };

typedef struct ulna_lane {
    ulna_solver *solver;
    double *q, *step; /* nq, nv */
    ulna_result result;
    ulna_status status;
    int aligned; /* 1: move the root to the goals before the solve */
} ulna_lane;

struct ulna_global {
    ulna_allocator allocator;
    const ulna_problem *problem;
    const ulna_model *model;
    ulna_global_options options;
    const ulna_method *method, *inner; /* as of ulna_solver_create_with */
    ulna_lane lane[ULNA_GLOBAL_LANES];
    const unsigned char *locked; /* nv, of the solvers: DOFs that do not move. NULL: none */
    double *best_q, *first_q;
    size_t bytes;

    /* For the terms whose weight was not 0 in the last solve. */
    int has_tree;
    ulna_reduced reduced;
    ulna_reduced_pose pose;
    ulna_relaxation *relaxation[2]; /* hull, bones; NULL until needed */
};

/* ulna_global_create with the methods that options->local names. */
ulna_status ulna_global_create_with(const ulna_problem *problem, const ulna_global_options *options,
                                    const ulna_method *method, const ulna_method *inner,
                                    const ulna_allocator *allocator, ulna_global **global, ulna_error *error);

/* Runs the stages (race.c). `q`: in and out. */
ulna_status ulna_global_race(ulna_global *g, double *q, ulna_global_result *result, ulna_error *error);

/* Checks that the bound is not above f by more than `rounding`. If it is, there is an internal error: the bound is replaced
 * by `otherwise` (from lengths alone), or by 0 if that is too high as well, and result->contradicted is set.
 * Returns 1 if the bound is consistent; it is then reduced to f if it was above. */
int ulna_global_check_bound(ulna_global_result *result, double rounding, double otherwise);

#endif
