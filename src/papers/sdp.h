/*
 * sdp.h (private): the convex-IK paper's method from end to end: relaxation (14), projection onto SO(3), angles, and a
 * trust region from there ("SDP-IK", section 4.2.2).
 */
#ifndef ULNA_PAPERS_SDP_H
#define ULNA_PAPERS_SDP_H

#include "global/reduced.h"
#include "papers/papers.h"
#include "solve/solver.h"

/* The part before the refinement: relaxation and rounding. Fills q and the members of `result` up to relax_seconds, but
 * for f and rounded_f. */
ulna_status ulna_sdp_start(const ulna_problem *problem, const ulna_sdp_options *options,
                           const ulna_reduce_options *reduce, double *q, ulna_sdp_result *result, ulna_error *error);
/* The tree that a solver's limits and locked freedoms ask for; these stay where q has them. */
ulna_reduce_options ulna_sdp_reduce(const ulna_solver *solver, const double *q);

/* ULNA_OK if ulna_sdp_start would take the problem as it is. */
ulna_status ulna_sdp_check(const ulna_problem *problem, const ulna_reduce_options *reduce, ulna_error *error);

extern const ulna_method ulna_method_sdp;

#endif
