/*
 * ulna/papers.h: methods of the papers from end to end, to compare with.
 *
 * ulna_global_solve (global.h) has tighter bounds than the convex-IK paper's relaxation, and is a hundred times faster; `ulna paper` runs
 * both on the paper's experiments (docs/papers.md).
 *
 *     ulna_sdp_result result;
 *     status = ulna_sdp_solve(problem, NULL, q, &result, &error);
 *     if (status == ULNA_OK)
 *         printf("%g after projection, %g after refinement\n", result.rounded_f, result.f);
 */
#ifndef ULNA_PAPERS_H
#define ULNA_PAPERS_H

#include "ulna/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the convex-IK paper's own method -------------------------------------------------------------------- */

/* Relaxation (14), solved by DSDP; projection onto SO(3), extraction of angles, then refinement by a trust region
 * (section 4.2.2). ulna_global_solve has tighter bounds, and is a hundred times faster. Also the method "sdp" of
 * ulna_solve. */
typedef struct ulna_sdp_options {
    ulna_options local; /* of the refinement; its limits and locked degrees of freedom also apply to the relaxation */
    int iterations;     /* of DSDP, at most */
    double gap; /* at which DSDP ends, relative to 1 + |optimum| in units of its own, where lengths are about 1 */
    double *projected; /* nq: receives the pose of the projected relaxation, before refinement; NULL: not wanted */
} ulna_sdp_options;

/* newton, bounded; 200 iterations, gap 1e-8; the projected pose is not wanted. */
ULNA_API ulna_sdp_options ulna_sdp_options_default(void);

typedef struct ulna_sdp_result {
    double f;         /* m^2, at the returned q */
    double rounded_f; /* m^2, of the projected relaxation, before refinement */
    double optimum;   /* m^2: upper bound of the relaxation's minimum */
    double bound;     /* m^2: lower bound of it: no pose within the limits has a lower f, to DSDP's accuracy */
    double spread;  /* largest second eigenvalue of E[q qT] among the rotations: 0 if all have rank one; at most 1/2 */
    int iterations; /* of DSDP */
    int limits_left_out;  /* number of limits that the relaxation ignores */
    double relax_seconds; /* until q was rounded */
    double seconds;       /* in all */
    ulna_result local;
} ulna_sdp_result;

/*
 * Needs no starting pose: `q` (nq) is read only for joints that no goal depends on and for locked degrees of freedom,
 * and receives the answer. `options` NULL for the default; `result` and `error` may be NULL.
 *
 * Takes trees of revolute and ball joints below a free, prismatic or fixed root, with point, orientation and direction
 * goals. ULNA_ERR_UNSUPPORTED, with the reason in `error`: a prismatic joint below a revolute one, another type of term, or a
 * build without DSDP. ULNA_ERR_CONVERGENCE if DSDP found no answer, ULNA_ERR_STATE if there is no goal. q is then
 * unchanged. Allocates; DSDP runs in one thread at a time.
 */
ULNA_API ulna_status ulna_sdp_solve(const ulna_problem *problem, const ulna_sdp_options *options, double *q,
                                    ulna_sdp_result *result, ulna_error *error);

#ifdef __cplusplus
}
#endif
#endif
