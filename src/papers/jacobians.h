/*
 * jacobians.h (private): routes to the explicit Jacobian that only comparisons use. kinematics/jacobian.h defines "recipe",
 * "exact-Hessian" and twists.
 */
#ifndef ULNA_PAPERS_JACOBIANS_H
#define ULNA_PAPERS_JACOBIANS_H

#include "kinematics/jacobian.h"
#include "papers/papers.h"

/* ---- joints in their own frames ---------------------------------------------------------------------------------------- */

/*
 * Axes of a segment's DOFs: direction of a translation, axis of a rotation, at its coordinates; in the frame before the
 * segment or in the frame after it (equal for the six elementary segments). An exponential map has sign J_left(sign w) e_i
 * before and sign J_left(-sign w) e_i after. A ball steps by R <- exp(step) R: it has e_i before; if it is reversed, so
 * that R^T is the motion, -e_i after.
 */
void ulna_segment_axes(ulna_segment segment, int sign, const double *q, int after, double axes[3][3]);

/*
 * The loop of procedures 2 and 3: from an effector's body to the root, including the root ("while j has parent" in the
 * recipe's listings would leave out the root's own joint). It uses no positions in the world, so no digits are lost far
 * from the world's origin.
 */
typedef struct ulna_walk {
    const ulna_model *model;
    const double *q;      /* nq, or NULL for the zero pose: all segments at zero */
    int body;             /* the current joint, -1 above the root */
    ulna_joint_plan plan; /* of that joint */
    double joint_q[7];    /* its coordinates */
    /* The effector's frame (body axes, origin at the point), relative to the frame at the end of the joint: after the
     * joint's motion and before the body's fixed offset. Above the root: relative to the world. */
    double rotation[9], position[3];
} ulna_walk;

void ulna_walk_start(ulna_walk *walk, const ulna_model *model, const double *q, const ulna_effector *effector);
void ulna_walk_up(ulna_walk *walk);

/* ---- routes ------------------------------------------------------------------------------------------------- */

void ulna_jacobian_generic(const ulna_pose *pose, const ulna_effector *effector, double *twists);     /* body */
void ulna_jacobian_adjusted(const ulna_pose *pose, const ulna_effector *effector, double *twists);    /* body */
void ulna_jacobian_twists(const ulna_pose *pose, const ulna_effector *effector, double *twists);      /* body */
void ulna_jacobian_differences(const ulna_pose *pose, const ulna_effector *effector, double *twists); /* body */

/* The generic route at any q, without a pose. `rotation` (may be NULL): of the body in the world. */
void ulna_jacobian_generic_at(const ulna_model *model, const double *q, const ulna_effector *effector, double *twists,
                              double *rotation);

/* The time derivatives of the generic, adjusted or twists route (recipe 1.3) at `speed` (nv), in the given frame. `twists`
 * receives the twists of the route, in body axes. */
void ulna_jacobian_adjoint_rate(const ulna_pose *pose, const ulna_effector *effector, ulna_jacobian_route route,
                                ulna_frame frame, const double *speed, double *twists, double *rates);

#endif
