/*
 * The time derivative of the Jacobian (recipe 1.3) along a motion at the velocity qd of the degrees of freedom.
 *
 * Eq. 14-15 differentiate the adjoints; jacobian_rate_adjoint.c does that for the routes made of them. This file has
 * the same derivative in world vectors, for the simple and the unit-velocity route, and the numerical one. With (w, v)
 * the velocity of everything before DOF j, v taken at the reference point, a point o of its axis and the effector's p:
 *
 *     a'  = w x a + bend          o' = v + w x o          p' = v_e + w_e x p
 *     turn:   d/dt [a x (p - o)] = (w x a) x (p - o) + a x (p' - o') + bend x (p - pivot)
 *     slide:  d/dt [a] = w x a
 *
 * bend is the change of an axis within its own segment: for exponential maps and swings sum_k da_j/dq_k qd_k. A ball is
 * followed along R(t) = exp(t w) R: its axes are those of the frame before it and do not bend; reversed, they
 * are those of the frame behind it, and turn with it.
 *
 * In body axes, d/dt (R^T c) = R^T (c' - w_e x c).
 */
#include <float.h>

#include "math/math3.h"
#include "papers/jacobians.h"

/* sum += a x b */
static void add_cross(const double a[3], const double b[3], double sum[3])
{
    double c[3];
    ulna_cross(a, b, c);
    for (int i = 0; i < 3; i++)
        sum[i] += c[i];
}

/* ---- closed form ---- */

typedef struct screw {
    double w[3], v[3]; /* v at the reference point, pose->origin */
} screw;

static void add_dof(const ulna_pose *pose, int dof, double speed, screw *sum)
{
    double axis[3], origin[3], lever[3];
    ulna_pose_dof_relative(pose, dof, axis, origin);
    if (ulna_dof_slides(pose->model, dof)) {
        for (int i = 0; i < 3; i++)
            sum->v[i] += axis[i] * speed;
        return;
    }
    ulna_cross(origin, axis, lever);
    for (int i = 0; i < 3; i++) {
        sum->w[i] += axis[i] * speed;
        sum->v[i] += lever[i] * speed;
    }
}

/* bend of DOF j: how its axis changes while the others of its segment move */
static void bend_axis(const ulna_pose *pose, int j, const double *speed, double bend[3])
{
    const ulna_model *model = pose->model;
    const ulna_link *link = &model->link[model->dof_link[j]];
    double axis[3], origin[3];
    ulna_pose_dof_relative(pose, j, axis, origin);
    memset(bend, 0, 3 * sizeof *bend);

    for (int k = link->dof; k < link->dof + link->dof_count; k++) {
        double other[3], change[3] = {0, 0, 0};
        if (!ulna_same_segment(model, j, k))
            continue;
        ulna_pose_dof_relative(pose, k, other, origin);
        if (model->dof_segment[j] == ULNA_SEGMENT_BALL) {
            if (link->sign < 0)
                ulna_cross(other, axis, change);
        } else if (j <= k) {
            ulna_pose_axis_derivative(pose, j, k, change);
        } else { /* da_j/dq_k - da_k/dq_j = a_k x a_j for any parametrisation of a turn */
            ulna_pose_axis_derivative(pose, k, j, change);
            add_cross(other, axis, change);
        }
        for (int i = 0; i < 3; i++)
            bend[i] += change[i] * speed[k];
    }
}

/* Twists of the simple route, and their derivatives in world axes; `tip` is the effector's velocity. */
static void closed_form(const ulna_pose *pose, const ulna_effector *effector, const double *speed, double *twists,
                        double *rates, screw *tip)
{
    const ulna_model *model = pose->model;
    const int *path;
    int depth = ulna_dof_path(model, effector->body, &path);
    ulna_jacobian_simple(pose, effector, twists);

    memset(tip, 0, sizeof *tip);
    for (int k = 0; k < depth; k++)
        add_dof(pose, path[k], speed[path[k]], tip);
    double p[3], p_rate[3];
    ulna_pose_point_relative(pose, effector->body, effector->point, p);
    ulna_copy3(tip->v, p_rate);
    add_cross(tip->w, p, p_rate);

    screw before = {{0, 0, 0}, {0, 0, 0}}, segment_start = before;
    for (int k = 0; k < depth; k++) {
        int dof = path[k];
        double *rate = rates + 6 * (size_t)dof;
        double axis[3], origin[3], turned[3];
        if (k == 0 || !ulna_same_segment(model, path[k - 1], dof))
            segment_start = before;
        ulna_pose_dof_relative(pose, dof, axis, origin);
        ulna_cross(segment_start.w, axis, turned);
        memset(rate, 0, 6 * sizeof *rate);

        if (ulna_dof_slides(model, dof)) {
            ulna_copy3(turned, rate);
        } else {
            double arm[3], apart[3], o_rate[3];
            ulna_copy3(segment_start.v, o_rate);
            add_cross(segment_start.w, origin, o_rate);
            for (int i = 0; i < 3; i++) {
                arm[i] = p[i] - origin[i];
                apart[i] = p_rate[i] - o_rate[i];
            }
            ulna_cross(turned, arm, rate);
            add_cross(axis, apart, rate);
            ulna_copy3(turned, rate + 3);
        }
        if (model->dof_segment[dof] >= ULNA_SEGMENT_BALL) {
            double bend[3], pivot[3], arm[3];
            bend_axis(pose, dof, speed, bend);
            ulna_pose_pivot_relative(pose, dof, pivot);
            for (int i = 0; i < 3; i++) {
                arm[i] = p[i] - pivot[i];
                rate[3 + i] += bend[i];
            }
            add_cross(bend, arm, rate);
        }
        add_dof(pose, dof, speed[dof], &before);
    }
}

/* Rates in the axes asked for. */
static void closed_rate(ulna_pose *pose, const ulna_effector *effector, ulna_frame frame, const double *speed)
{
    const ulna_model *model = pose->model;
    double *rates = pose->scratch, *twists = pose->scratch + 6 * (size_t)model->nv;
    screw tip;
    closed_form(pose, effector, speed, twists, rates, &tip);
    if (frame == ULNA_FRAME_WORLD)
        return;

    const int *path;
    int depth = ulna_dof_path(model, effector->body, &path);
    for (int k = 0; k < depth; k++)
        for (size_t half = 0; half < 6; half += 3) /* c x w is -(w x c) */
            add_cross(twists + 6 * (size_t)path[k] + half, tip.w, rates + 6 * (size_t)path[k] + half);
    double rotation[9];
    ulna_pose_body_relative(pose, effector->body, NULL, rotation);
    ulna_jacobian_turn(model, effector->body, rotation, 1, rates);
}

/* ---- numerically: central differences of the generic route along the motion ---- */

static void difference_rate(ulna_pose *pose, const ulna_effector *effector, ulna_frame frame, const double *speed)
{
    const ulna_model *model = pose->model;
    size_t nv = (size_t)model->nv;
    double *rates = pose->scratch, *other = rates + 6 * nv, *step = other + 6 * nv, *moved = step + nv;
    const int *path;
    int depth = ulna_dof_path(model, effector->body, &path);

    double fastest = 0;
    for (int k = 0; k < depth; k++)
        fastest = fmax(fastest, fabs(speed[path[k]]));
    double h = cbrt(DBL_EPSILON) / (fastest > 0 ? fastest : 1);
    for (int side = 0; side < 2; side++) {
        double rotation[9];
        double *twists = side ? other : rates;
        for (size_t j = 0; j < nv; j++)
            step[j] = (side ? -h : h) * speed[j];
        ulna_model_integrate(model, pose->q, step, moved);
        ulna_jacobian_generic_at(model, moved, effector, twists, rotation);
        if (frame == ULNA_FRAME_WORLD)
            ulna_jacobian_turn(model, effector->body, rotation, 0, twists);
    }
    for (int k = 0; k < depth; k++)
        for (size_t i = 0; i < 6; i++) {
            size_t at = 6 * (size_t)path[k] + i;
            rates[at] = (rates[at] - other[at]) / (2 * h);
        }
}

ulna_status ulna_papers_jacobian_rate(ulna_pose *pose, ulna_jacobian_route route, const ulna_jacobian_options *options,
                                      const double *velocity, int count, const ulna_effector *effectors, double *rate)
{
    if ((unsigned)route >= ULNA_JACOBIAN_ROUTE_COUNT)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_jacobian_check(pose, options, count, effectors, rate);
    if (status)
        return status;
    if (pose->model->nv > 0 && !velocity)
        return ULNA_ERR_ARGUMENT;
    if (!ulna_all_finite(velocity, pose->model->nv))
        return ULNA_ERR_NUMBER;

    for (int e = 0; e < count; e++) {
        switch (route) {
        case ULNA_JACOBIAN_GENERIC:
        case ULNA_JACOBIAN_ADJUSTED:
        case ULNA_JACOBIAN_TWISTS:
            ulna_jacobian_adjoint_rate(pose, &effectors[e], route, options->frame, velocity,
                                       pose->scratch + 6 * (size_t)pose->model->nv, pose->scratch);
            break;
        case ULNA_JACOBIAN_DIFFERENCES:
            difference_rate(pose, &effectors[e], options->frame, velocity);
            break;
        default:
            closed_rate(pose, &effectors[e], options->frame, velocity);
            break;
        }
        ulna_jacobian_emit(pose, options, count, e, effectors[e].body, pose->scratch, rate);
    }
    return ULNA_OK;
}
