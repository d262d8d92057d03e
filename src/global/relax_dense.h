/* relax_dense.h (private): the moments N of a bone or slide that stays in a range smaller than all of its seven
 * dimensions. */
#ifndef ULNA_GLOBAL_RELAX_DENSE_H
#define ULNA_GLOBAL_RELAX_DENSE_H

#include "global/relax_tree.h"

enum { ULNA_MOMENT_GIVEN = 14, ULNA_MOMENT_PAIRS = 28 };

/*
 * n (m x m, symmetric, as a vector with off-diagonals times sqrt 2) obeys linear conditions: the entries of N for 1,
 * p, r, P and the trace of Q are given. basis: orthonormal rows that span the conditions; n = basisT (lower^-1
 * given[picked]) + anything in the span of `rest`.
 */
typedef struct ulna_moment_map {
    int size, length, rank, rest_count;
    int picked[ULNA_MOMENT_GIVEN];
    double lower[ULNA_MOMENT_GIVEN][ULNA_MOMENT_GIVEN],
        basis[ULNA_MOMENT_PAIRS][ULNA_MOMENT_PAIRS]; /* the rest after the first `rank` rows */
} ulna_moment_map;

void ulna_map_moments(const ulna_relax_edge *edge, ulna_moment_map *map);
/* face n faceT from the vector of n */
void ulna_moments_from_pairs(const double *face, int m, const double *pairs, double N[49]);
/* N for given 1, p (3), r (3), P (6) and trace of Q, the rest of it 0. */
void ulna_moments_for(const ulna_relax_edge *edge, const ulna_moment_map *map, const double given[ULNA_MOMENT_GIVEN],
                      double N[49]);

#endif
