/*
 * papers.h (private): procedures of the papers as published, for comparison with the library's own.
 *
 * No solver needs them: ulna_pose_jacobian, ulna_work_hessian and ulna_global_solve give the same results faster, or
 * better ones. "recipe" is Rabbani, A recipe to cook Jacobian (2017); "exact-Hessian" is Erleben and
 * Andrews, Solving inverse kinematics using exact Hessian matrices (2018); "convex IK" is Yenamandra and
 * others, Convex Optimisation for Inverse Kinematics (2019), whose relaxation (14) ulna_sdp_solve solves.
 */
#ifndef ULNA_SRC_PAPERS_H
#define ULNA_SRC_PAPERS_H

#include "ulna/kinematics.h"
#include "ulna/solve.h"

/* ---- Jacobians by every route ------------------------------------------------------------------------------ */

typedef enum ulna_jacobian_route {
    ULNA_JACOBIAN_SIMPLE = 0,  /* cross products in the world frame (recipe, procedure 1; exact-Hessian Table 1) */
    ULNA_JACOBIAN_GENERIC,     /* adjoint blocks times each joint's motion in its own frame (procedure 2) */
    ULNA_JACOBIAN_ADJUSTED,    /* adjoint blocks with the Euler adjustment R* (procedure 3) */
    ULNA_JACOBIAN_TWISTS,      /* product of exponentials from the zero pose (eq. 7-10) */
    ULNA_JACOBIAN_DIFFERENCES, /* central differences of forward kinematics: a reference, to about 1e-9 */
    ULNA_JACOBIAN_ROUTE_COUNT
} ulna_jacobian_route;

/* The Jacobian of ulna_pose_jacobian, by the route `which`: all agree to rounding, DIFFERENCES to about 1e-9. */
ulna_status ulna_papers_jacobian(ulna_pose *pose, ulna_jacobian_route which, const ulna_jacobian_options *options,
                                 int count, const ulna_effector *effectors, double *jacobian);

/* Its time derivative when the degrees of freedom move at `velocity` (nv) (recipe 1.3). GENERIC, ADJUSTED and
 * TWISTS differentiate their adjoints (eq. 14-15) and motion subspaces; SIMPLE has a closed form in world vectors: all
 * four agree to rounding. DIFFERENCES differentiates numerically along the motion, to about 1e-9. */
ulna_status ulna_papers_jacobian_rate(ulna_pose *pose, ulna_jacobian_route route, const ulna_jacobian_options *options,
                                      const double *velocity, int count, const ulna_effector *effectors, double *rate);

/* Adjoint blocks (procedure 2, untrimmed): 6 x 6 per body, 6 rows, 6 * body_count columns: the effector's twist (v, w)
 * in its body frame caused by a twist of each body's joint, taken in the frame at the end of that joint. Off-path blocks are zero. */
ulna_status ulna_papers_adjoint_blocks(ulna_pose *pose, const ulna_effector *effector, double *blocks);

/* ---- second derivatives, dense ---------------------------------------------------------------------------- */

/* K (exact-Hessian eq. 22, Table 2): 3 x nv x nv, K[:, i, j] = d2 p / dq_i dq_j. Symmetric in i and j. For quaternion
 * joints the derivative is along q (+) step. */
ulna_status ulna_papers_tensor(ulna_pose *pose, const ulna_effector *effector, double *tensor);

/* Algorithm 4: the dense Hessian of f = 1/2 sum w |goal - p|^2, nv x nv, both triangles filled, H = JtJ - t K:r.
 * goals: 3 x count; weights: count or NULL for 1. O(nv^2 count): readable, slow; the reference for ulna_work_hessian. */
ulna_status ulna_papers_dense_hessian(ulna_pose *pose, int count, const ulna_effector *effectors, const double *goals,
                                      const double *weights, double t, double *hessian);

/* Product of exponentials (eq. 7): the effector's body frame at q from the twists of the zero pose alone.
 * `q` as in forward; the pose is not changed. Position and rotation (row by row) of the effector point. */
ulna_status ulna_papers_product_of_exponentials(ulna_pose *pose, const double *q, const ulna_effector *effector,
                                                double position[3], double rotation[9]);

/* ---- the convex-IK paper's own method -------------------------------------------------------------------- */

/* Relaxation (14), solved by DSDP; projection onto SO(3), extraction of angles, then refinement by a trust region
 * (section 4.2.2). ulna_global_solve has tighter bounds, and is a hundred times faster. Also the method "sdp" of
 * ulna_solve. */
typedef struct ulna_sdp_options {
    ulna_options local; /* of the refinement; its limits and locked degrees of freedom also apply to the relaxation */
    int iterations;     /* of DSDP, at most */
    double gap; /* at which DSDP ends, relative to 1 + |optimum| in units of its own, where lengths are about 1 */
} ulna_sdp_options;

/* newton, bounded; 200 iterations, gap 1e-8. */
ulna_sdp_options ulna_sdp_options_default(void);

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
ulna_status ulna_sdp_solve(const ulna_problem *problem, const ulna_sdp_options *options, double *q,
                           ulna_sdp_result *result, ulna_error *error);

extern const struct ulna_method ulna_method_sdp; /* the same as a method of ulna_solve */

#endif
