/* What moves when one degree of freedom does: its axis, the pulls beyond it and their sums. The formulas are in
 * one_dof.h. */
#include "solve/one_dof.h"

#include <float.h>

#include "math/math3.h"

/* ---- vectors of four lanes -------------------------------------------------------------------------------------- */

static double dot(ulna_vec4 a, ulna_vec4 b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static ulna_vec4 cross(ulna_vec4 a, ulna_vec4 b)
{
    return (ulna_vec4){a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 0};
}

/* ---- rigid motions ---------------------------------------------------------------------------------------------- */

/* The turn less the identity is W = sin t [a]x + (1 - cos t) [a]x^2, and through the point o: x -> x + W (x - o). */
static void move_turn(ulna_vec4 a, ulna_vec4 o, double t, ulna_move *move)
{
    double s = sin(t), half = sin(0.5 * t), c = 2 * half * half;
    for (int k = 0; k < 3; k++) {
        ulna_vec4 e = {k == 0, k == 1, k == 2, 0};
        move->column[k] = s * cross(a, e) + c * (a * a[k] - e);
    }
    move->column[3] = -(move->column[0] * o[0] + move->column[1] * o[1] + move->column[2] * o[2]);
}

/* By `turn` (row by row) in the axes of the frame, about its origin. */
static void move_in_frame(const ulna_vec4 frame[4], const double turn[9], ulna_move *move)
{
    ulna_vec4 turned[3], o = frame[3];
    for (int k = 0; k < 3; k++) /* frame (turn - 1) */
        turned[k] =
            frame[0] * (turn[k] - (k == 0)) + frame[1] * (turn[3 + k] - (k == 1)) + frame[2] * (turn[6 + k] - (k == 2));
    for (int k = 0; k < 3; k++)
        move->column[k] = turned[0] * frame[0][k] + turned[1] * frame[1][k] + turned[2] * frame[2][k];
    move->column[3] = -(move->column[0] * o[0] + move->column[1] * o[1] + move->column[2] * o[2]);
}

void ulna_move_append(ulna_move *move, const ulna_move *next)
{
    for (int k = 0; k < 4; k++) {
        ulna_vec4 x = move->column[k];
        move->column[k] =
            x + next->column[k] + (next->column[0] * x[0] + next->column[1] * x[1] + next->column[2] * x[2]);
    }
}

/* ---- the degrees of freedom of one link ------------------------------------------------------------------------- */

/* Goes back from the end of the joint to where its rotation vector or swing begins. */
static void read_base(const ulna_pose *pose, const ulna_link *link, int place, ulna_vec4 base[4])
{
    const double *end = pose->q + link->coordinate;
    for (int k = 0; k < link->segment_count; k++)
        end += ulna_segment_coordinates((ulna_segment)link->segment[k]);
    memcpy(base, pose->frame + 4 * (link - pose->model->link), 4 * sizeof *base);
    for (int k = link->segment_count - 1; k >= place; k--) {
        double r[9], t[3], back[9], slide[3];
        end -= ulna_segment_coordinates((ulna_segment)link->segment[k]);
        ulna_segment_motion((ulna_segment)link->segment[k], link->sign, end, r, t);
        ulna_invert(r, t, back, slide);
        ulna_vec4 x = base[0], y = base[1], z = base[2];
        base[3] += x * slide[0] + y * slide[1] + z * slide[2];
        for (int c = 0; c < 3; c++)
            base[c] = x * back[c] + y * back[3 + c] + z * back[6 + c];
    }
}

static ulna_pair twist_of(ulna_vec4 axis, ulna_vec4 through)
{
    return (ulna_pair){axis, cross(through, axis)};
}

/* The rotation vector w that DOF i belongs to, that DOF moved by t. */
static void vector_of(const ulna_axes *axes, int i, const double *q, double t, double w[3])
{
    double sign = axes->link->sign;
    q += axes->coordinate[i];
    w[2] = 0;
    for (int k = 0; k < ulna_segment_dofs((ulna_segment)axes->segment[i]); k++)
        w[k] = sign * (q[k] + (k == axes->part[i] ? t : 0));
}

static void set_back(ulna_axes *axes, int i, const double *q)
{
    double w[3], r[9];
    vector_of(axes, i, q, 0, w);
    ulna_exp(w, r);
    ulna_transpose9(r, axes->back);
}

/* R(w) -> R(w + t e_i): the turn exp(w + t e) exp(-w) in the frame where the rotation vector begins. */
static void move_curved(const ulna_axes *axes, int i, const double *q, double t, ulna_move *move, ulna_pair *twist)
{
    double w[3], r[9], turn[9], left[9], sign = axes->link->sign;
    int part = axes->part[i];
    vector_of(axes, i, q, t, w);
    ulna_exp(w, r);
    ulna_multiply9(r, axes->back, turn);
    move_in_frame(axes->base, turn, move);
    if (twist) {
        ulna_left_jacobian(w, left);
        ulna_vec4 axis =
            sign * (axes->base[0] * left[part] + axes->base[1] * left[3 + part] + axes->base[2] * left[6 + part]);
        *twist = twist_of(axis, axes->base[3]);
    }
}

void ulna_axes_read(const ulna_pose *pose, const ulna_link *link, ulna_axes *axes)
{
    int coordinate = 0, i = 0;
    axes->link = link;
    axes->count = link->dof_count;
    for (int k = 0; k < link->segment_count; k++) {
        ulna_segment segment = (ulna_segment)link->segment[k];
        for (int part = 0; part < ulna_segment_dofs(segment); part++, i++) {
            const ulna_vec4 *motion = pose->motion + 2 * (size_t)(link->dof + i);
            axes->segment[i] = (unsigned char)segment;
            axes->place[i] = (unsigned char)k;
            axes->part[i] = (unsigned char)part;
            axes->coordinate[i] = (unsigned char)coordinate;
            axes->axis[i] = ulna_segment_is_slide(segment) ? motion[1] : motion[0];
            axes->through[i] = cross(motion[0], motion[1]); /* of a unit axis, the point nearest to the origin */
            axes->through[i][3] = 1;
        }
        if (segment > ULNA_SEGMENT_BALL) {
            read_base(pose, link, k, axes->base);
            set_back(axes, i - 1, pose->q + link->coordinate);
        }
        coordinate += ulna_segment_coordinates(segment);
    }
}

void ulna_axes_move(const ulna_axes *axes, int i, const double *q, double t, ulna_move *move, ulna_pair *twist)
{
    if (ulna_axes_is_curved(axes, i)) {
        move_curved(axes, i, q, t, move, twist);
    } else if (ulna_segment_is_slide(axes->segment[i])) {
        *move = (ulna_move){.column[3] = axes->axis[i] * t};
        if (twist)
            *twist = (ulna_pair){{0}, axes->axis[i]};
    } else {
        move_turn(axes->axis[i], axes->through[i], t, move);
        if (twist)
            *twist = twist_of(axes->axis[i], axes->through[i]);
    }
}

static void follow(ulna_axes *axes, int j, const ulna_move *move)
{
    axes->axis[j] = ulna_moved(move, axes->axis[j]);
    axes->through[j] = ulna_moved(move, axes->through[j]);
    if (!ulna_axes_is_curved(axes, j) || axes->part[j])
        return;
    axes->base[3][3] = 1;
    for (int k = 0; k < 4; k++)
        axes->base[k] = ulna_moved(move, axes->base[k]);
    axes->base[3][3] = 0;
}

void ulna_axes_carry(ulna_axes *axes, const ulna_move *move)
{
    for (int j = 0; j < axes->count; j++)
        follow(axes, j, move);
}

void ulna_axes_step(ulna_axes *axes, int i, double t, const ulna_move *move, double *q)
{
    double *at = q + axes->coordinate[i];
    int is_ball = axes->segment[i] == ULNA_SEGMENT_BALL;
    if (is_ball) {
        double w[3] = {0, 0, 0}, turn[4];
        w[axes->part[i]] = t;
        ulna_quaternion_exp(w, turn);
        ulna_quaternion_multiply(turn, at, at);
    } else {
        at[axes->part[i]] += t;
    }
    if (ulna_axes_is_curved(axes, i))
        set_back(axes, i, q);

    /* The axes of a reversed ball are those of its moved frame: they follow the ball's own turns. */
    int first = is_ball && axes->link->sign < 0 ? axes->place[i] : axes->place[i] + 1;
    for (int j = 0; j < axes->count; j++)
        if (axes->place[j] >= first)
            follow(axes, j, move);
}

/* ---- sums of pulls ---------------------------------------------------------------------------------------------- */

void ulna_sums_add(ulna_pull_sums *sums, const ulna_pull_sums *other)
{
    for (int k = 0; k < 4; k++)
        sums->square[k] += other->square[k];
    for (int k = 0; k < 3; k++)
        sums->moment[k] += other->moment[k];
}

void ulna_sums_scale(ulna_pull_sums *sums, double factor)
{
    for (int k = 0; k < 4; k++)
        sums->square[k] *= factor;
    for (int k = 0; k < 3; k++)
        sums->moment[k] *= factor;
}

void ulna_sums_add_pull(ulna_pull_sums *sums, double weight, ulna_vec4 h, ulna_vec4 residual)
{
    for (int k = 0; k < 4; k++)
        sums->square[k] += weight * h[k] * h;
    for (int k = 0; k < 3; k++)
        sums->moment[k] += weight * residual[k] * h;
}

/* Columns of Q DT. */
static void swept(const ulna_pull_sums *sums, const ulna_move *move, ulna_vec4 column[3])
{
    for (int k = 0; k < 3; k++)
        column[k] = (sums->square[0] * move->column[0][k] + sums->square[1] * move->column[1][k]) +
                    (sums->square[2] * move->column[2][k] + sums->square[3] * move->column[3][k]);
}

void ulna_sums_move(ulna_pull_sums *sums, const ulna_move *move)
{
    ulna_vec4 column[3];
    swept(sums, move, column);
    for (int k = 0; k < 3; k++) {
        sums->moment[k] = ulna_moved(move, sums->moment[k] - column[k]);
        sums->square[k] = ulna_moved(move, sums->square[k] + column[k]);
    }
    sums->square[3] = ulna_moved(move, sums->square[3]);
}

double ulna_sums_change(const ulna_pull_sums *sums, const ulna_move *move)
{
    ulna_vec4 column[3];
    double change = 0;
    swept(sums, move, column);
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 4; m++)
            change += move->column[m][k] * (0.5 * column[k][m] - sums->moment[k][m]);
    return change;
}

/* sum w r over points, and sum w h x r. */
static ulna_vec4 force(const ulna_pull_sums *sums)
{
    return (ulna_vec4){sums->moment[0][3], sums->moment[1][3], sums->moment[2][3], 0};
}

static ulna_vec4 torque(const ulna_pull_sums *sums)
{
    const ulna_vec4 *m = sums->moment;
    return (ulna_vec4){m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], 0};
}

double ulna_sums_slope(const ulna_pull_sums *sums, const ulna_pair *twist)
{
    return -dot(twist->angular, torque(sums)) - dot(twist->linear, force(sums));
}

void ulna_sums_along(const ulna_pull_sums *sums, const ulna_axes *axes, int i, double f, double *g, double *h)
{
    const ulna_vec4 *Q = sums->square, *M = sums->moment;
    ulna_vec4 a = axes->axis[i], o = axes->through[i], s = Q[3];
    double n = s[3];
    if (ulna_segment_is_slide(axes->segment[i])) {
        *g = -dot(a, force(sums));
        *h = n;
        return;
    }

    /* h = sum w |a x p + v|^2 - r . a x (a x p + v), v = o x a */
    ulna_vec4 v = cross(o, a), Qa = Q[0] * a[0] + Q[1] * a[1] + Q[2] * a[2];
    ulna_vec4 Ma = M[0] * a[0] + M[1] * a[1] + M[2] * a[2];
    double spread = Q[0][0] + Q[1][1] + Q[2][2], work = M[0][0] + M[1][1] + M[2][2];
    *g = -dot(a, torque(sums)) - dot(v, force(sums));
    *h = spread - dot(a, Qa) + 2 * dot(v, cross(a, s)) + n * dot(v, v) - dot(a, Ma) + work +
         dot(a, cross(force(sums), v));

    double size = spread + n * dot(o, o), noise = 32 * DBL_EPSILON * (size + sqrt(2 * f * size));
    if (hypot(*g, *h) <= noise)
        *g = *h = 0;
}

double ulna_sums_curve(const ulna_pull_sums *sums, const ulna_axes *axes, int i, const double *q, double t,
                       double *slope)
{
    ulna_move move;
    ulna_pair twist;
    ulna_pull_sums moved = *sums;
    ulna_axes_move(axes, i, q, t, &move, &twist);
    double change = ulna_sums_change(sums, &move);
    ulna_sums_move(&moved, &move);
    *slope += ulna_sums_slope(&moved, &twist);
    return change;
}
