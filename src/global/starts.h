/* starts.h (private): poses to start local solves from, spread evenly over all poses. */
#ifndef ULNA_GLOBAL_STARTS_H
#define ULNA_GLOBAL_STARTS_H

#include <stdint.h>

#include "ulna/problem.h"

/*
 * The k-th start, k = 0, 1, ...: rotations over the whole range of their limits, or the whole circle; translations over
 * their limits, or where `q` has them; locked degrees of freedom (nv, NULL: none) stay, a quaternion if one of its three
 * does. `q`: nq, in and out. `step`: scratch, nv.
 */
void ulna_global_start(const ulna_model *model, const double *lower, const double *upper, const unsigned char *locked,
                       uint64_t seed, int k, double *step, double *q);

#endif
