/*
 * The time derivative of the Jacobian (recipe 1.3) along a motion at the velocity qd of the degrees of freedom.
 *
 * Eq. 14-15 differentiate the adjoints; the second part of this file does that for the adjoint routes. The first part has
 * the same derivative in world vectors, for the simple and the unit-velocity route, and the numerical one. With (w, v)
 * the velocity of the frame before DOF j, v taken at the reference point, o a point of its axis and p the effector's point:
 *
 *     a'  = w x a + bend          o' = v + w x o          p' = v_e + w_e x p
 *     rotation:     d/dt [a x (p - o)] = (w x a) x (p - o) + a x (p' - o') + bend x (p - pivot)
 *     translation:  d/dt [a] = w x a
 *
 * bend is the change of an axis within its own segment: for exponential maps and swings sum_k da_j/dq_k qd_k. A ball moves
 * by R(t) = exp(t w) R: its axes are those of the frame before it and do not bend; if it is reversed, they are those of
 * the frame after it, and rotate with it.
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
    ulna_accumulate3(c, sum);
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
        } else { /* da_j/dq_k - da_k/dq_j = a_k x a_j for any parametrisation of a rotation */
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

/* Rates of twists in axes that rotate at w relative to the given ones. `back`: as of ulna_jacobian_turn. */
static void change_axes(const ulna_model *model, int body, const double *twists, const double w[3],
                        const double rotation[9], int back, double *rates)
{
    const int *path;
    int depth = ulna_dof_path(model, body, &path);
    for (int k = 0; k < depth; k++)
        for (size_t half = 0; half < 6; half += 3) /* c x w is -(w x c) */
            add_cross(twists + 6 * (size_t)path[k] + half, w, rates + 6 * (size_t)path[k] + half);
    ulna_jacobian_turn(model, body, rotation, back, rates);
}

/* Rates in the axes of `frame`. */
static void closed_rate(ulna_pose *pose, const ulna_effector *effector, ulna_frame frame, const double *speed)
{
    const ulna_model *model = pose->model;
    double *rates = pose->scratch, *twists = pose->scratch + 6 * (size_t)model->nv;
    screw tip;
    closed_form(pose, effector, speed, twists, rates, &tip);
    if (frame == ULNA_FRAME_WORLD)
        return;

    double rotation[9];
    ulna_pose_body_relative(pose, effector->body, NULL, rotation);
    change_axes(model, effector->body, twists, tip.w, rotation, 1, rates);
}

/* ---- central differences of the generic route along the motion ---- */

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
    if (status != ULNA_OK)
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

/* =============================================================================================================== */

/*
 * The time derivative of the adjoint routes and of the product of exponentials, as in the recipe (1.3, eq. 14-15).
 *
 *   b     the effector's frame: axes of its body, origin at its point, so eq. 12 is not needed
 *   s     a frame of the current joint, in which its motion subspace S is known
 *   Ad    the adjoint of bE_s;  C = Ad S are columns of the Jacobian
 *   nu    (v, w), the spatial velocity of bE_s in b: (bE_s)' = nu^ bE_s
 *
 *     C' = Ad' S + Ad S' = ad(nu) C + Ad S',     ad(nu) = [w^, v^; 0, w^]                                      (14, 15)
 *
 * nu = Ad V_s - V_b, with the body twists V of both frames. Joints before s move both frames alike and cancel; what remains
 * is -sum C_k qd_k over the degrees of freedom k between s and b. A loop from b to the root has already computed these
 * columns, so one loop is enough, and it needs local quantities only. Above the root nu is -V_b, and eq. 13 adds
 *
 *     d/dt (R C) = R (C' + w_b x C) = R (C' - nu_w x C)
 *
 * The frame s, and therefore S', depends on the route:
 *
 *   generic    after each segment: S is the body twist; for exponential maps and swings, the right Jacobian of exp
 *   twists     before each segment, as Ad^-1 of eq. 10 includes the segment itself: S is z_j, the left Jacobian of exp
 *   adjusted   at the end of the whole joint: S is R* = MrT pR' (eq. 31), and pR', M and the arms all change
 *
 * In the first two, S of the six elementary segments is constant. A ball moves by R(t) = exp(t w) R: its axes are constant
 * in the frame before it, and rotate in the frame after it; if it is reversed, the other way round.
 *
 * Slips: v in eq. 14 is not the velocity p' of the origin of s but p' - w x p, the velocity of the point of s that is at
 * the origin of b; eq. 15 leaves out S', as if the columns of a joint were Ad itself.
 */

/* sum += a factor */
static void add_scaled(const double a[3], double factor, double sum[3])
{
    for (int i = 0; i < 3; i++)
        sum[i] += a[i] * factor;
}

/* ---- twists ---- */

/* rate = ad(nu) column */
static void bracket(const double nu[6], const double column[6], double rate[6])
{
    ulna_cross(nu + 3, column, rate);
    add_cross(nu, column + 3, rate);
    ulna_cross(nu + 3, column + 3, rate + 3);
}

/* sum += Ad twist, by the inverse sE_b = (r, x) of bE_s */
static void add_adjoint(const double r[9], const double x[3], const double twist[6], double sum[6])
{
    double moved[3], v[3], w[3];
    ulna_copy3(twist, moved);
    add_cross(twist + 3, x, moved);
    ulna_unrotate(r, moved, v);
    ulna_unrotate(r, twist + 3, w);
    for (int i = 0; i < 3; i++) {
        sum[i] += v[i];
        sum[3 + i] += w[i];
    }
}

/* Updates nu when s moves past `count` more degrees of freedom towards the root. */
static void move_past(const double *columns, const double *speed, int count, double nu[6])
{
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 6; i++)
            nu[i] -= columns[6 * k + i] * speed[k];
}

/* ---- generic and twists: segment by segment ---- */

/* d/dt of the axes of ulna_segment_axes, in the same frame. */
static void axis_rates(ulna_segment segment, int sign, const double *q, int after, const double *speed,
                       double rates[3][3])
{
    memset(rates, 0, 9 * sizeof rates[0][0]);
    if (segment < ULNA_SEGMENT_BALL)
        return;

    int parts = ulna_segment_dofs(segment);
    if (segment == ULNA_SEGMENT_BALL) {
        if (after == (sign < 0))
            return;
        double axes[3][3], own[3] = {0, 0, 0};
        ulna_segment_axes(segment, sign, q, after, axes);
        for (int k = 0; k < parts; k++)
            add_scaled(axes[k], after ? -speed[k] : speed[k], own);
        for (int k = 0; k < parts; k++)
            ulna_cross(own, axes[k], rates[k]);
        return;
    }

    /* The axes are sign J_left(side w) e_k. */
    int side = after ? -sign : sign;
    double w[3] = {side * q[0], side * q[1], segment == ULNA_SEGMENT_SWING ? 0 : side * q[2]};
    for (int m = 0; m < parts; m++) {
        double change[9];
        ulna_left_jacobian_derivative(w, m, change);
        for (int k = 0; k < parts; k++)
            for (int i = 0; i < 3; i++)
                rates[k][i] += sign * side * change[3 * i + k] * speed[m];
    }
}

/* `speed`, `columns` and `rates` point to those of the joint's first degree of freedom. */
static void rates_by_segment(const ulna_walk *walk, int after, const double *speed, const double *columns,
                             double *rates, double nu[6])
{
    const ulna_joint_plan *plan = &walk->plan;
    double r[9], x[3]; /* sE_b */
    int dof = plan->dof_count;
    const double *q = walk->joint_q + plan->coordinate_count;
    ulna_multiply9(plan->post, walk->rotation, r);
    ulna_rotate(plan->post, walk->position, x);

    for (int s = plan->segment_count - 1; s >= 0; s--) {
        ulna_segment segment = (ulna_segment)plan->segment[s];
        int parts = ulna_segment_dofs(segment);
        dof -= parts;
        q -= ulna_segment_coordinates(segment);

        double step[9], slide[3], before[9], origin[3], nu_before[6];
        ulna_segment_motion(segment, plan->sign, q, step, slide);
        ulna_compose(step, slide, r, x, before, origin);
        memcpy(nu_before, nu, sizeof nu_before);
        move_past(columns + 6 * dof, speed + dof, parts, nu_before);

        double changes[3][3]; /* S': 0 for translations */
        axis_rates(segment, plan->sign, q, after, speed + dof, changes);
        for (int k = 0; k < parts; k++) {
            double twist[6] = {0, 0, 0, changes[k][0], changes[k][1], changes[k][2]};
            double *rate = rates + 6 * (dof + k);
            bracket(after ? nu : nu_before, columns + 6 * (dof + k), rate);
            add_adjoint(after ? r : before, after ? x : origin, twist, rate);
        }

        ulna_copy9(before, r);
        ulna_copy3(origin, x);
        memcpy(nu, nu_before, sizeof nu_before);
    }
}

/* ---- adjusted: joint by joint ---- */

/* An axis of pR' (eq. 30), the arm from it to the end of the joint, and their rates; in the frame before the joint.
 * Until the end of the joint is known, `arm` is the origin of the axis. */
typedef struct adjusted_axis {
    double axis[3], axis_rate[3], arm[3], arm_rate[3];
    int slides;
} adjusted_axis;

/* Fills one axis per DOF, the motion M, and its angular velocity w at the end of the joint. */
static void adjusted_axes(const ulna_joint_plan *plan, const double *q, const double *speed, adjusted_axis *all,
                          double motion[9], double w[3])
{
    double r[9], x[3] = {0, 0, 0}, x_rate[3] = {0, 0, 0};
    int dof = 0;
    ulna_copy9(plan->pre, r);
    memset(w, 0, 3 * sizeof *w);
    for (int s = 0; s < plan->segment_count; s++) {
        ulna_segment segment = (ulna_segment)plan->segment[s];
        int parts = ulna_segment_dofs(segment), slides = ulna_segment_is_translation(segment);
        double axes[3][3], changes[3][3], step[9], slide[3], shift[3], whole[9];
        ulna_segment_axes(segment, plan->sign, q, 0, axes);
        axis_rates(segment, plan->sign, q, 0, speed + dof, changes);
        for (int k = 0; k < parts; k++) {
            adjusted_axis *one = &all[dof + k];
            one->slides = slides;
            ulna_rotate(r, axes[k], one->axis);
            ulna_rotate(r, changes[k], one->axis_rate);
            add_cross(w, one->axis, one->axis_rate);
            ulna_copy3(x, one->arm);
            ulna_copy3(x_rate, one->arm_rate);
        }

        ulna_segment_motion(segment, plan->sign, q, step, slide);
        ulna_rotate(r, slide, shift);
        add_scaled(shift, 1, x);
        add_cross(w, shift, x_rate);
        for (int k = 0; k < parts; k++)
            add_scaled(all[dof + k].axis, speed[dof + k], slides ? x_rate : w);
        ulna_multiply9(r, step, whole);
        ulna_copy9(whole, r);
        dof += parts;
        q += ulna_segment_coordinates(segment);
    }

    ulna_multiply9(r, plan->post, motion);
    for (int k = 0; k < dof; k++)
        for (int i = 0; i < 3; i++) {
            all[k].arm[i] = x[i] - all[k].arm[i];
            all[k].arm_rate[i] = x_rate[i] - all[k].arm_rate[i];
        }
}

/* d/dt (Mt c) = Mt (c' - w x c) */
static void unrotated_rate(const double motion[9], const double w[3], const double c[3], const double c_rate[3],
                           double rate[3])
{
    double still[3];
    ulna_copy3(c_rate, still);
    add_cross(c, w, still);
    ulna_unrotate(motion, still, rate);
}

static void rates_by_joint(const ulna_walk *walk, const double *speed, const double *columns, double *rates,
                           double nu[6])
{
    adjusted_axis all[6] = {0};
    double motion[9], w[3];
    adjusted_axes(&walk->plan, walk->joint_q, speed, all, motion, w);

    for (int k = 0; k < walk->plan.dof_count; k++) {
        const adjusted_axis *one = &all[k];
        double twist[6] = {0}; /* S' */
        if (one->slides) {
            unrotated_rate(motion, w, one->axis, one->axis_rate, twist);
        } else {
            double v[3], v_rate[3];
            ulna_cross(one->axis, one->arm, v);
            ulna_cross(one->axis_rate, one->arm, v_rate);
            add_cross(one->axis, one->arm_rate, v_rate);
            unrotated_rate(motion, w, v, v_rate, twist);
            unrotated_rate(motion, w, one->axis, one->axis_rate, twist + 3);
        }
        bracket(nu, columns + 6 * k, rates + 6 * k);
        add_adjoint(walk->rotation, walk->position, twist, rates + 6 * k);
    }
    move_past(columns, speed, walk->plan.dof_count, nu);
}

/* ---- the loop from effector to root ---- */

void ulna_jacobian_adjoint_rate(const ulna_pose *pose, const ulna_effector *effector, ulna_jacobian_route route,
                                ulna_frame frame, const double *speed, double *twists, double *rates)
{
    const ulna_model *model = pose->model;
    if (route == ULNA_JACOBIAN_GENERIC)
        ulna_jacobian_generic(pose, effector, twists);
    else if (route == ULNA_JACOBIAN_ADJUSTED)
        ulna_jacobian_adjusted(pose, effector, twists);
    else
        ulna_jacobian_twists(pose, effector, twists);

    double nu[6] = {0};
    ulna_walk walk;
    for (ulna_walk_start(&walk, model, pose->q, effector); walk.body >= 0; ulna_walk_up(&walk)) {
        if (walk.plan.dof_count == 0)
            continue;
        size_t dof = (size_t)model->body[walk.body].dof;
        if (route == ULNA_JACOBIAN_ADJUSTED)
            rates_by_joint(&walk, speed + dof, twists + 6 * dof, rates + 6 * dof, nu);
        else
            rates_by_segment(&walk, route == ULNA_JACOBIAN_GENERIC, speed + dof, twists + 6 * dof, rates + 6 * dof, nu);
    }
    if (frame == ULNA_FRAME_BODY)
        return;
    change_axes(model, effector->body, twists, nu + 3, walk.rotation, 0, rates);
}
