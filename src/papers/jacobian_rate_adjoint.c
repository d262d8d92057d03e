/*
 * The time derivative of the adjoint routes and of the product of exponentials, as the recipe has it (1.3, eq. 14-15).
 *
 *   b     the effector's frame: axes of its body, origin at its point, so that eq. 12 has been done
 *   s     a frame of the joint at hand, in which its motion subspace S is known
 *   Ad    the adjoint of bE_s;  C = Ad S are columns of the Jacobian
 *   nu    (v, w), the spatial velocity of bE_s in b: (bE_s)' = nu^ bE_s
 *
 *     C' = Ad' S + Ad S' = ad(nu) C + Ad S',     ad(nu) = [w^, v^; 0, w^]                                      (14, 15)
 *
 * nu = Ad V_s - V_b, of the body twists V of both frames. What lies before s moves both alike and cancels; what is left
 * is -sum C_k qd_k over the degrees of freedom k behind s. These are the columns that a walk from b to the root has
 * met already: one walk does it all, from local quantities alone. Above the root nu is -V_b, and eq. 13 adds
 *
 *     d/dt (R C) = R (C' + w_b x C) = R (C' - nu_w x C)
 *
 * Where s stands, and so what changes in S, is up to the route:
 *
 *   generic    behind each segment: S is the body twist; for exponential maps and swings, the right Jacobian of exp
 *   twists     before each segment, as Ad^-1 of eq. 10 takes in the segment itself: S is z_j, the left Jacobian of exp
 *   adjusted   at the end of the whole joint: S is R* = MrT pR' (eq. 31), and pR', M and the arms all move
 *
 * In the first two, S of the elementary six is constant. A ball is followed along R(t) = exp(t w) R: its axes stand
 * still on the side it steps from, and turn on the other.
 *
 * Slips: v in eq. 14 is not the velocity p' of the origin of s but p' - w x p, that of the point of s which is passing
 * the origin of b; eq. 15 leaves out S', as if a joint's columns were the whole of Ad.
 */
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

/* nu once `count` more degrees of freedom lie behind s */
static void leave_behind(const double *columns, const double *speed, int count, double nu[6])
{
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 6; i++)
            nu[i] -= columns[6 * k + i] * speed[k];
}

/* ---- generic and twists: segment by segment ---- */

/* d/dt of what ulna_segment_axes gives, seen from the same frame. */
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

/* Speed, columns and rates are those of the joint's first degree of freedom. */
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
        leave_behind(columns + 6 * dof, speed + dof, parts, nu_before);

        double changes[3][3]; /* S': those of slides are zero */
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

/* An axis of pR' (eq. 30), the arm from it to the end of the joint, and how both change; in the frame before the joint.
 * While the joint is walked, `arm` is the origin of the axis. */
typedef struct adjusted_axis {
    double axis[3], axis_rate[3], arm[3], arm_rate[3];
    int slides;
} adjusted_axis;

/* Fills an axis per DOF, and the motion M and its angular velocity w at the end of the joint. */
static void adjusted_axes(const ulna_joint_plan *plan, const double *q, const double *speed, adjusted_axis *all,
                          double motion[9], double w[3])
{
    double r[9], x[3] = {0, 0, 0}, x_rate[3] = {0, 0, 0};
    int dof = 0;
    ulna_copy9(plan->pre, r);
    memset(w, 0, 3 * sizeof *w);
    for (int s = 0; s < plan->segment_count; s++) {
        ulna_segment segment = (ulna_segment)plan->segment[s];
        int parts = ulna_segment_dofs(segment), slides = ulna_segment_is_slide(segment);
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
    leave_behind(columns, speed, walk->plan.dof_count, nu);
}

/* ---- the walk ---- */

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

    const int *path;
    int depth = ulna_dof_path(model, effector->body, &path);
    for (int k = 0; k < depth; k++)
        for (size_t half = 0; half < 6; half += 3) /* c x nu_w is -(nu_w x c) */
            add_cross(twists + 6 * (size_t)path[k] + half, nu + 3, rates + 6 * (size_t)path[k] + half);
    ulna_jacobian_turn(model, effector->body, walk.rotation, 0, rates);
}
