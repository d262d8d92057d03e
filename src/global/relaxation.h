/*
 * relaxation.h (private): convex relaxations of inverse kinematics on a reduced tree, and what they are good for: a
 * lower bound of the cost over all poses, and poses near the best one.
 *
 * ULNA_RELAX_HULL is F2: rotations become their second moments Z = E[q qT], every limited hinge the exact convex hull
 * of (parent's rotation, angle, child's rotation). ULNA_RELAX_BONES is F3: second moments of the places at both ends
 * of every bone besides; slower by a factor of two to three, and far tighter where goals contradict each other.
 *
 * A relaxation belongs to one tree: edges, axes, limits and bones are read once, by ulna_relaxation_create. Goals,
 * weights and rotation costs are read anew by every solve, from a tree with the same edges. One thread at a time per
 * relaxation.
 */
#ifndef ULNA_GLOBAL_RELAXATION_H
#define ULNA_GLOBAL_RELAXATION_H

#include <stdint.h>

#include "global/reduced.h"

typedef enum ulna_relax_kind { ULNA_RELAX_HULL = 0, ULNA_RELAX_BONES } ulna_relax_kind;

typedef enum ulna_relax_end {
    ULNA_RELAX_CONVERGED = 0, /* primal - bound <= absolute + relative |primal| */
    ULNA_RELAX_ABOVE,         /* the bound reached stop_above */
    ULNA_RELAX_BELOW,         /* the relaxation's own optimum is below stop_above: this bound will never reach it */
    ULNA_RELAX_ITERATIONS,    /* or the deadline */
    ULNA_RELAX_STALLED        /* numbers too small for further progress; what is returned is true nevertheless */
} ulna_relax_end;

typedef struct ulna_relax_options {
    double relative, absolute; /* the latter in the units of the tree's cost; both 0 or more */
    int iterations;            /* at most */
    double deadline;           /* by ulna_seconds(); 0: none */
    double posture;            /* adds -posture cos(angle - middle of its limits) for every hinge; 0 for bounds */
    double stop_above; /* ends as soon as the bound is at least this, or provably never will be; INFINITY: never */
} ulna_relax_options;

typedef struct ulna_relax_result {
    double primal; /* cost of the moments found: not below the relaxation's optimum (and not that of a pose) */
    double bound;  /* no pose costs less (with the posture cost, if there is one); -INFINITY if nothing is proven */
    double gap;    /* primal - bound */
    int iterations;
    ulna_relax_end end;
} ulna_relax_result;

typedef struct ulna_relaxation ulna_relaxation;

/* 1e-6 relative, 1e-6 absolute, 60 iterations, no posture, no early stop. */
ulna_relax_options ulna_relax_options_default(void);

/* All memory is taken here. `tree` is read, not kept. */
ulna_status ulna_relaxation_create(const ulna_reduced *tree, ulna_relax_kind kind, const ulna_allocator *allocator,
                                   ulna_relaxation **relaxation, ulna_error *error);
void ulna_relaxation_destroy(ulna_relaxation *r);

/* `tree`: the edges of create, with any goals, weights (0 or more) and rotation costs. No heap call. A result is given
 * whenever the status is ULNA_OK; ULNA_ERR_ARGUMENT or ULNA_ERR_NUMBER for a tree that is not the same or not finite.
 * */
ulna_status ulna_relaxation_solve(ulna_relaxation *r, const ulna_reduced *tree, const ulna_relax_options *options,
                                  ulna_relax_result *result);

/* After a solve: the pose that the moments point at, from root to leaves, each edge given its parent's rotation; within
 * the limits. Poses are those of reduced.h (rotations in the world, w first), placed or not: see ulna_reduced_place.
 * `random` not NULL: a pose drawn around it, from Gaussians with the same moments; the state moves on. */
void ulna_relaxation_round(const ulna_relaxation *r, uint64_t *random, ulna_reduced_pose *pose);

#endif
