/* starts.h (private): start poses for local solves, distributed evenly over all poses. */
#ifndef ULNA_GLOBAL_STARTS_H
#define ULNA_GLOBAL_STARTS_H

#include <stdint.h>

#include "ulna/problem.h"

/*
 * The k-th start, k = 0, 1, ...: rotations anywhere within their limits, or on the whole circle; translations anywhere
 * within their limits; those without limits stay as in `q`. Locked degrees of freedom (nv, NULL: none) do not move, nor
 * does a quaternion of which one DOF is locked. `q`: nq, in and out. `step`: scratch, nv.
 */
void ulna_global_start(const ulna_model *model, const double *lower, const double *upper, const unsigned char *locked,
                       uint64_t seed, int k, double *step, double *q);

#endif
