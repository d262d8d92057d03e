/*
 * Forward kinematics of joints beyond elementary rotations and translations: quaternion ball, exponential map, swing, and
 * reversed joints.
 *
 * Source: Grassia, "Practical parameterization of rotations using the exponential map", 1998, and
 * docs/mathematics.md. With R = exp(w), dR = (J_left(w) dw) x R: the effective axes a_i = J_left(w) e_i serve first
 * derivatives and all pairs with other joints. Inside the joint the second derivative needs da_i/dw_j besides. For a
 * quaternion that steps by R <- exp(w) R, w = 0: a_i = e_i and da_i/dw_j = 1/2 e_j x e_i.
 *
 * A reversed segment moves by -q: exp(-w) = R(w)^T.
 */
#include "base/base.h"
#include "kinematics/kernel.h"
#include "math/math3.h"

static ulna_vec4 in_base(const ulna_vec4 frame[4], const double x[3])
{
    return frame[0] * x[0] + frame[1] * x[1] + frame[2] * x[2];
}

/* frame <- frame * r */
static void turn_frame(ulna_vec4 frame[4], const double r[9])
{
    ulna_vec4 column[3];
    for (int k = 0; k < 3; k++)
        column[k] = in_base(frame, (const double[3]){r[k], r[3 + k], r[6 + k]});
    for (int k = 0; k < 3; k++)
        frame[k] = column[k];
}

static void set_motion(ulna_vec4 pair[2], ulna_vec4 axis, ulna_vec4 origin)
{
    pair[0] = axis;
    pair[1] = origin;
}

static void elementary(int segment, double q, double sign, ulna_vec4 frame[4], ulna_vec4 motion[2])
{
    if (segment >= ULNA_SEGMENT_TX) {
        ulna_vec4 axis = frame[segment - ULNA_SEGMENT_TX] * sign;
        set_motion(motion, (ulna_vec4){0}, axis);
        frame[3] += axis * q;
        return;
    }
    double r[9];
    set_motion(motion, frame[segment] * sign, frame[3]);
    ulna_rotation_about(segment, sign * q, r);
    turn_frame(frame, r);
}

static void ball(const double q[4], double sign, ulna_vec4 frame[4], ulna_vec4 *motion, ulna_vec4 *bend)
{
    double r[9], turned[9];
    ulna_quaternion_to_rotation(q, r);
    if (sign < 0) {
        ulna_transpose9(r, turned);
        ulna_copy9(turned, r);
        turn_frame(frame, r); /* c <- exp(w) c turns R(c)^T about the columns of the moved frame */
    }
    for (int i = 0; i < 3; i++)
        set_motion(motion + 2 * i, frame[i] * sign, frame[3]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double half[3];
            ulna_cross((const double *)&motion[2 * j], (const double *)&motion[2 * i], half);
            set_motion(bend + 6 * i + 2 * j, (ulna_vec4){0.5 * half[0], 0.5 * half[1], 0.5 * half[2], 0}, frame[3]);
        }
    if (sign > 0)
        turn_frame(frame, r);
}

/* `n` is 3 for the exponential map, 2 for a swing in the plane of x and y. */
static void exponential(const double *q, int n, double sign, ulna_vec4 frame[4], ulna_vec4 *motion, ulna_vec4 *bend)
{
    double w[3] = {sign * q[0], sign * q[1], n == 3 ? sign * q[2] : 0}, r[9], left[9];
    ulna_exp(w, r);
    ulna_left_jacobian(w, left);
    for (int i = 0; i < n; i++) {
        double axis[3] = {sign * left[i], sign * left[3 + i], sign * left[6 + i]};
        set_motion(motion + 2 * i, in_base(frame, axis), frame[3]);
    }
    for (int j = 0; j < n; j++) {
        double dleft[9];
        ulna_left_jacobian_derivative(w, j, dleft);
        for (int i = 0; i < n; i++) {
            double axis[3] = {dleft[i], dleft[3 + i], dleft[6 + i]};
            set_motion(bend + 6 * i + 2 * j, in_base(frame, axis), frame[3]);
        }
    }
    turn_frame(frame, r);
}

void ulna_general_link(const ulna_link *link, const double *q, ulna_vec4 frame[4], ulna_vec4 *motion, ulna_vec4 *bend)
{
    double sign = link->sign;
    for (int k = 0; k < link->segment_count; k++) {
        int segment = link->segment[k], n = ulna_segment_dofs((ulna_segment)segment);
        for (int d = 0; d < 6 * n; d++)
            bend[d] = (ulna_vec4){0};
        if (segment == ULNA_SEGMENT_BALL)
            ball(q, sign, frame, motion, bend);
        else if (segment == ULNA_SEGMENT_EXPMAP || segment == ULNA_SEGMENT_SWING)
            exponential(q, n, sign, frame, motion, bend);
        else
            elementary(segment, q[0], sign, frame, motion);
        q += ulna_segment_coordinates((ulna_segment)segment);
        motion += 2 * n;
        bend += 6 * n;
    }
}
