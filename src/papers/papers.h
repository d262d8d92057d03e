/*
 * papers.h (private): procedures of the papers as published, for comparison with the library's own.
 *
 * No solver needs them: ulna_pose_jacobian, ulna_work_hessian and ulna_global_solve give the same results faster, or
 * better ones. "recipe" is Rabbani, A recipe to cook Jacobian (2017); "exact-Hessian" is Erleben and
 * Andrews, Solving inverse kinematics using exact Hessian matrices (2018); "convex IK" is Yenamandra and
 * others, Convex Optimisation for Inverse Kinematics (2019): see ulna/papers.h.
 */
#ifndef ULNA_SRC_PAPERS_H
#define ULNA_SRC_PAPERS_H

#include <stdint.h>

#include "ulna/kinematics.h"
#include "ulna/papers.h"

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

/* The spatial Jacobian (recipe eq. 13, 29 with the whole adjoint): 6 x nv, column by column, the twist (v, w) of each degree of freedom in the
 * world frame, v being the velocity at the world's origin. It does not depend on an effector: those that a degree of freedom moves share its
 * column. */
ulna_status ulna_papers_spatial_jacobian(ulna_pose *pose, double *spatial);
/* The Jacobian of ulna_pose_jacobian with its default options (6 rows each, world axes), by these shared columns: each effector at p moves
 * with v + w x p. `spatial` (6 x nv): scratch. O(nv) for all effectors together, and then the non-zero entries. Loses digits far from the
 * world's origin. */
ulna_status ulna_papers_jacobian_shared(ulna_pose *pose, int count, const ulna_effector *effectors, double *spatial,
                                        double *jacobian);

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

/* ---- random poses ------------------------------------------------------------------------------------------ */

/* A start of convex IK, section 5: drawn evenly within the limits (lower, upper: nv), rotations without limits over a whole turn. Of the first
 * three translations, those without limits are at `root`. q: nq; step: scratch, nv. */
void ulna_papers_random_pose(const ulna_model *model, const double *lower, const double *upper, const double root[3],
                             uint64_t seed, double *step, double *q);

extern const struct ulna_method ulna_method_sdp; /* ulna_sdp_solve as a method of ulna_solve */

#endif
