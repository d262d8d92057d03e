/*
 * jacobian.h (private): what the routes to the explicit Jacobian share.
 *
 * Sources, cited in the files of this folder: "recipe" is Rabbani, A recipe to cook Jacobian (Ubisoft La Forge,
 * 2017); "exact-Hessian" is Erleben and Andrews, Solving inverse kinematics using exact Hessian matrices (2018), with
 * its supplementary notes.
 *
 * Every route fills twists: 6 x nv, columns (v, w) of the effector's point, in world or body axes as said below. Only
 * columns on the effector's path are written; nobody reads the others. jacobian.c turns, picks, trims and scales them.
 */
#ifndef ULNA_SRC_JACOBIAN_H
#define ULNA_SRC_JACOBIAN_H

#include "kinematics/pose.h"

/* Doubles that pose->scratch must hold: two sets of twists (12 nv), a step (nv) and a q (nq), in this order, for the
 * Jacobians; or a frame per body (12 nb) for ulna_pose_transfer. */
size_t ulna_jacobian_scratch(const ulna_model *model);

/* ---- paths ------------------------------------------------------------------------------------------------ */

/* Degrees of freedom that move a body, root first. Returns how many. */
static inline int ulna_dof_path(const ulna_model *model, int body, const int **dofs)
{
    while (body >= 0 && model->body[body].dof_count == 0)
        body = model->body[body].parent;
    *dofs = NULL;
    if (body < 0)
        return 0;
    int last = model->body[body].dof + model->body[body].dof_count - 1;
    *dofs = model->tree.path[last];
    return model->tree.depth[last];
}

static inline int ulna_dof_slides(const ulna_model *model, int dof)
{
    return ulna_segment_is_slide(model->dof_segment[dof]);
}

/* Whether two DOFs belong to one ball, exponential map or swing: then they share a pivot, and their axes bend. */
static inline int ulna_same_segment(const ulna_model *model, int i, int j)
{
    return model->dof_segment[i] >= ULNA_SEGMENT_BALL && model->dof_segment[i] == model->dof_segment[j] &&
           model->dof_link[i] == model->dof_link[j];
}

/* The point about which a ball, exponential map or swing turns, relative to pose->origin. The origin that
 * ulna_pose_dof_relative gives is some point of the axis; a bent axis needs this one. */
void ulna_pose_pivot_relative(const ulna_pose *pose, int dof, double pivot[3]);

/* ---- joints, locally ---------------------------------------------------------------------------------------- */

/*
 * Unit velocities of a segment's DOFs: directions of a slide, axes of a turn, at its coordinates; in the frame before the
 * segment, or in the frame after it (the same for the elementary six). An exponential map has sign J_left(sign w) e_i
 * before and sign J_left(-sign w) e_i after. A ball steps by R <- exp(step) R: it has e_i before, and if reversed, so
 * that R^T is the motion, -e_i after.
 */
void ulna_segment_axes(ulna_segment segment, int sign, const double *q, int after, double axes[3][3]);

/*
 * The walk of procedures 2 and 3: from an effector's body up to the root, root included ("while j has parent" in the
 * recipe's listings would leave out the root's own joint). No world quantity takes part, so that distance
 * from the world's origin costs no digits.
 */
typedef struct ulna_walk {
    const ulna_model *model;
    const double *q;      /* nq, or NULL for the zero pose: all segments at zero */
    int body;             /* the joint at hand, -1 above the root */
    ulna_joint_plan plan; /* of that joint */
    double joint_q[7];    /* its coordinates */
    /* The effector's frame (body axes, origin at the point), seen from the end of the joint: between the joint's
     * motion and the body's fixed offset. Above the root: seen from the world. */
    double rotation[9], position[3];
} ulna_walk;

void ulna_walk_start(ulna_walk *walk, const ulna_model *model, const double *q, const ulna_effector *effector);
void ulna_walk_up(ulna_walk *walk);

/* ---- routes ------------------------------------------------------------------------------------------------- */

void ulna_jacobian_simple(const ulna_pose *pose, const ulna_effector *effector, double *twists);        /* world */
void ulna_jacobian_generic(const ulna_pose *pose, const ulna_effector *effector, double *twists);       /* body */
void ulna_jacobian_adjusted(const ulna_pose *pose, const ulna_effector *effector, double *twists);      /* body */
void ulna_jacobian_twists(const ulna_pose *pose, const ulna_effector *effector, double *twists);        /* body */
void ulna_jacobian_unit_velocity(const ulna_pose *pose, const ulna_effector *effector, double *twists); /* world */
void ulna_jacobian_differences(const ulna_pose *pose, const ulna_effector *effector, double *twists);   /* body */

/* The generic route at any q, pose or no pose. `rotation` (may be NULL) receives that of the body in the world. */
void ulna_jacobian_generic_at(const ulna_model *model, const double *q, const ulna_effector *effector, double *twists,
                              double *rotation);

/* The time derivatives of the generic, adjusted or twists route (recipe 1.3) at `speed` (nv), in the frame asked for.
 * `twists` receives the route's own, in body axes. */
void ulna_jacobian_adjoint_rate(const ulna_pose *pose, const ulna_effector *effector, ulna_jacobian_route route,
                                ulna_frame frame, const double *speed, double *twists, double *rates);

/* ---- shared by the entry points ------------------------------------------------------------------------------ */

/* Placed, sane options, effectors on bodies with finite points, room for the result. */
ulna_status ulna_jacobian_check(const ulna_pose *pose, const ulna_jacobian_options *options, int count,
                                const ulna_effector *effectors, const double *result);
ulna_status ulna_effector_check(const ulna_model *model, const ulna_effector *effector);

/* Turns the on-path twists of a body by R, or by its transpose if `back`. */
void ulna_jacobian_turn(const ulna_model *model, int body, const double rotation[9], int back, double *twists);

/* Writes the rows of effector number `index`: picked, trimmed and scaled columns of `twists`. */
void ulna_jacobian_emit(const ulna_pose *pose, const ulna_jacobian_options *options, int count, int index, int body,
                        const double *twists, double *result);

#endif
