/*
 * relaxation.h (private): convex relaxations of inverse kinematics on a reduced tree. They give a lower bound of the cost
 * over all poses, and poses near the best one.
 *
 * ULNA_RELAX_HULL is F2: rotations are replaced by their second moments Z = E[q qT], and every hinge with limits by the
 * exact convex hull of (parent's rotation, angle, child's rotation). ULNA_RELAX_BONES is F3: it adds second moments of
 * the positions at both ends of every bone. It is two to three times slower, and far tighter where goals contradict each
 * other.
 *
 * ulna_relaxation_create reads edges, axes, limits and bones of one tree. Every solve reads goals, weights and rotation
 * costs, from a tree with the same edges. Only one thread may use a relaxation at a time.
 */
#ifndef ULNA_GLOBAL_RELAXATION_H
#define ULNA_GLOBAL_RELAXATION_H

#include <stdint.h>

#include "global/reduced.h"

typedef enum ulna_relax_kind { ULNA_RELAX_HULL = 0, ULNA_RELAX_BONES } ulna_relax_kind;

typedef enum ulna_relax_end {
    ULNA_RELAX_CONVERGED = 0, /* primal - bound <= absolute + relative |primal| */
    ULNA_RELAX_ABOVE,         /* the bound reached stop_above */
    ULNA_RELAX_BELOW,         /* the optimum of the relaxation is below stop_above, so the bound cannot reach it */
    ULNA_RELAX_ITERATIONS,    /* the iterations are used up, or the deadline has passed */
    ULNA_RELAX_STALLED        /* rounding prevents further progress; the bound is valid nevertheless */
} ulna_relax_end;

typedef struct ulna_relax_options {
    double relative, absolute; /* tolerances of the gap, 0 or more; `absolute` in the units of the tree's cost */
    int iterations;            /* at most */
    double deadline;           /* in terms of ulna_seconds(); 0: none */
    double posture; /* adds -posture cos(angle - middle of the limits) for every hinge; must be 0 for bounds */
    double
        stop_above; /* stop as soon as the bound is at least this, or it is certain that it never will; INFINITY: never */
} ulna_relax_options;

typedef struct ulna_relax_result {
    double primal; /* cost of the moments found: not below the optimum of the relaxation, but not the cost of a pose */
    double bound;  /* no pose has a lower cost (including `posture`); -INFINITY if nothing is proven */
    double gap;    /* primal - bound */
    int iterations;
    ulna_relax_end end;
} ulna_relax_result;

typedef struct ulna_relaxation ulna_relaxation;

/* 1e-6 relative, 1e-6 absolute, 60 iterations, no posture, no early stop. */
ulna_relax_options ulna_relax_options_default(void);

/* Allocates all memory. Does not keep a pointer to `tree`. */
ulna_status ulna_relaxation_create(const ulna_reduced *tree, ulna_relax_kind kind, const ulna_allocator *allocator,
                                   ulna_relaxation **relaxation, ulna_error *error);
void ulna_relaxation_destroy(ulna_relaxation *r);

/* `tree`: the edges of create, with any goals, weights (0 or more) and rotation costs. Does not allocate.
 * ULNA_ERR_ARGUMENT if the edges differ from those of create, ULNA_ERR_NUMBER if a number is not finite. */
ulna_status ulna_relaxation_solve(ulna_relaxation *r, const ulna_reduced *tree, const ulna_relax_options *options,
                                  ulna_relax_result *result);

/* After a solve: rounds the moments to a pose within the limits, from root to leaves, each edge given its parent's
 * rotation. Fills the inputs of ulna_reduced_pose (reduced.h). `random` NULL: the pose nearest to the moments; otherwise
 * the state of a random generator: a pose drawn from Gaussians with these moments. */
void ulna_relaxation_round(const ulna_relaxation *r, uint64_t *random, ulna_reduced_pose *pose);

#endif
