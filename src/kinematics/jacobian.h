/*
 * jacobian.h (private): what the routes to the explicit Jacobian share, here and in src/papers.
 *
 * Sources, cited in the files of this folder: "recipe" is Rabbani, A recipe to cook Jacobian (Ubisoft La Forge,
 * 2017); "exact-Hessian" is Erleben and Andrews, Solving inverse kinematics using exact Hessian matrices (2018), with
 * its supplementary notes.
 *
 * Every route fills twists: 6 x nv, columns (v, w) of the effector's point, in world or body axes as said below. Only
 * columns on the effector's path are written; nobody reads the others. jacobian.c rotates, selects and scales them.
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
    return ulna_segment_is_translation(model->dof_segment[dof]);
}

/* Whether two DOFs belong to one ball, exponential map or swing: then they share a pivot, and their axes bend. */
static inline int ulna_same_segment(const ulna_model *model, int i, int j)
{
    return model->dof_segment[i] >= ULNA_SEGMENT_BALL && model->dof_segment[i] == model->dof_segment[j] &&
           model->dof_link[i] == model->dof_link[j];
}

/* The point about which a ball, exponential map or swing rotates, relative to pose->origin. The origin that
 * ulna_pose_dof_relative gives is some point of the axis; a bent axis needs this one. */
void ulna_pose_pivot_relative(const ulna_pose *pose, int dof, double pivot[3]);

/* The twists of the simple route, in world axes. */
void ulna_jacobian_simple(const ulna_pose *pose, const ulna_effector *effector, double *twists);

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
