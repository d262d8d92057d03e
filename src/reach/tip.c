/*
 * A tip: how far it is from its goal, and that goal as terms or constraints of a problem.
 *
 * Let G, g be the goal's rotation and position in the world, R, p those of the tip, and w, v the twist of a body at its origin. In the
 * axes of the goal
 *
 *     positions    d = GT (p - g)
 *     rotations    FULL   log(GT R);  SWING  (e x a) theta / sin theta, with a the tip's axis seen from the goal, e the same axis
 *                  of the goal, theta their angle;  TWIST  2 atan2(q_k, q_w) of the quaternion of GT R
 *
 * Their derivatives over w are functions of u = GT (w - w'), w' the rotation of the frame that the goal is relative to.
 */
#include "math/math3.h"
#include "reach/reach.h"

#include <math.h>
#include <string.h>

void ulna_tip_prepare(ulna_tip *tip, double length)
{
    const double *w = tip->given.weight;
    int rotations = 0, free_axis = 0, last_axis = 0;
    double most_position = fmax(fmax(w[0], w[1]), w[2]), most_rotation = fmax(fmax(w[3], w[4]), w[5]);
    tip->length = length;
    ulna_quaternion_to_rotation(tip->given.rotation, tip->rotation);
    tip->position_axes = 0;
    tip->equal_positions = tip->equal_rotations = 1;
    for (int k = 0; k < 6; k++) {
        tip->row[k].tip = tip;
        tip->row[k].axis = k;
        if (k < 3) {
            tip->position_axes += w[k] > 0;
            tip->equal_positions &= !(w[k] > 0) || w[k] == most_position;
        } else {
            rotations += w[k] > 0;
            *(w[k] > 0 ? &last_axis : &free_axis) = k - 3;
            tip->equal_rotations &= !(w[k] > 0) || w[k] == most_rotation;
        }
    }
    tip->kind = (ulna_tip_rotation)rotations;
    tip->axis = tip->kind == ULNA_TIP_TWIST ? last_axis : free_axis;
}

/* ---- errors ---------------------------------------------------------------------------------------------------------- */

/* The rotation errors from M = GT R, and their derivatives over u. */
static void full_error(const double m[9], double error[3], double derivative[9])
{
    ulna_log(m, error);
    if (derivative)
        ulna_left_jacobian_inverse(error, derivative);
}

static void swing_error(const double m[9], int k, double error[3], double derivative[9])
{
    double a[3] = {m[k], m[3 + k], m[6 + k]}, e[3] = {0}, normal[3], c = a[k];
    e[k] = 1;
    ulna_cross(e, a, normal);
    double s = ulna_norm(normal), theta = atan2(s, c);
    /* theta / sin theta and its derivative over c = cos theta, by their series where sin theta is small */
    double f = s > 1e-4 ? theta / s : 1 + theta * theta / 6;
    double df = s > 1e-4 ? -(s - theta * c) / (s * s * s) : -1.0 / 3;
    if (c < 0 && s <= 1e-4) { /* the opposite direction: any way round will do */
        normal[(k + 1) % 3] += 1e-4;
        f = theta / 1e-4;
        df = 0;
    }
    double slope[3];
    ulna_cross(a, e, slope); /* dc = u . (a x e) */
    for (int i = 0; i < 3; i++) {
        error[i] = f * normal[i];
        if (!derivative)
            continue;
        double unit[3] = {0}, across[3], turn[3];
        unit[i] = 1;
        ulna_cross(unit, e, across);
        ulna_cross(a, across, turn); /* unit . (e x (u x a)) = u . (a x (unit x e)) */
        for (int j = 0; j < 3; j++)
            derivative[3 * i + j] = f * turn[j] + normal[i] * df * slope[j];
    }
}

static void twist_error(const double m[9], int k, double error[3], double derivative[9])
{
    double q[4];
    ulna_rotation_to_quaternion(m, q);
    double z = q[k], w = q[3], size = z * z + w * w;
    memset(error, 0, 3 * sizeof *error);
    error[k] = 2 * atan2(z, w);
    if (!derivative)
        return;
    memset(derivative, 0, 9 * sizeof *derivative);
    if (size < 1e-20) /* half a turn of swing: no twist to speak of */
        return;
    /* dq = 1/2 (u, 0) q: d z = (w u_k + (u x q)_k) / 2, d w = -u . q / 2 */
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double dz[3] = {0};
    dz[k] = w;
    dz[i] = q[j];
    dz[j] = -q[i];
    for (int n = 0; n < 3; n++)
        derivative[3 * k + n] = (w * dz[n] + z * q[n]) / size;
}

void ulna_tip_error(const ulna_tip *tip, const ulna_target *target, const double rotation[2][9],
                    const double position[2][3], double error[6], double row[6][2][6])
{
    double arm[3], reach[3], p[3], R[9], G[9], g[3], off[3];
    ulna_rotate(rotation[0], tip->given.point, arm);
    ulna_multiply9(rotation[0], tip->rotation, R);
    ulna_rotate(rotation[1], target->position, reach); /* from the origin of the frame to the goal */
    ulna_multiply9(rotation[1], target->rotation, G);
    for (int i = 0; i < 3; i++) {
        p[i] = position[0][i] + arm[i];
        g[i] = position[1][i] + reach[i];
        off[i] = p[i] - g[i];
    }
    ulna_unrotate(G, off, error);

    double m[9], derivative[9], transposed[9], over_w[9];
    memset(error + 3, 0, 3 * sizeof *error);
    if (tip->kind != ULNA_TIP_FREE) {
        double *wanted = row ? derivative : NULL;
        ulna_transpose9(G, transposed);
        ulna_multiply9(transposed, R, m);
        if (tip->kind == ULNA_TIP_FULL)
            full_error(m, error + 3, wanted);
        else if (tip->kind == ULNA_TIP_SWING)
            swing_error(m, tip->axis, error + 3, wanted);
        else
            twist_error(m, tip->axis, error + 3, wanted);
    }
    if (row) {
        memset(row, 0, 6 * sizeof *row);
        for (int k = 0; k < 3; k++) {
            double axis[3] = {G[k], G[3 + k], G[6 + k]}, turn[3], moved[3], swept[3];
            ulna_cross(arm, axis, turn);    /* axis . (w x arm) */
            ulna_cross(axis, off, moved);   /* (w' x axis) . off */
            ulna_cross(reach, axis, swept); /* axis . (w' x reach) */
            for (int i = 0; i < 3; i++) {
                row[k][0][i] = turn[i];
                row[k][0][3 + i] = axis[i];
                row[k][1][i] = moved[i] - swept[i];
                row[k][1][3 + i] = -axis[i];
            }
        }
        if (tip->kind != ULNA_TIP_FREE) {
            ulna_multiply9(derivative, transposed, over_w);
            for (int i = 0; i < 9; i++) {
                row[3 + i / 3][0][i % 3] = over_w[i];
                row[3 + i / 3][1][i % 3] = -over_w[i];
            }
        }
    }
    for (int k = 0; k < 6; k++)
        if (!(tip->given.weight[k] > 0)) {
            error[k] = 0;
            if (row)
                memset(row[k], 0, sizeof row[k]);
        }
}

/* ---- callbacks: goals are 7 numbers, position and unit quaternion --------------------------------------------------------- */

static void unpack(const double *goal, ulna_target *target)
{
    ulna_copy3(goal, target->position);
    memcpy(target->quaternion, goal + 3, sizeof target->quaternion);
    ulna_quaternion_to_rotation(target->quaternion, target->rotation);
}

/* With second derivatives: where a goal is at the border of what can be reached, least squares alone creep. */
static void evaluate_positions(const void *context, const double *goal, const double rotation[9],
                               const double position[3], ulna_custom_value *value)
{
    const ulna_tip *tip = context;
    ulna_target target;
    double arm[3], off[3], error[3];
    unpack(goal, &target);
    ulna_rotate(rotation, tip->given.point, arm);
    for (int i = 0; i < 3; i++)
        off[i] = position[i] + arm[i] - target.position[i];
    ulna_unrotate(target.rotation, off, error);
    for (int k = 0; k < 3; k++) {
        double scale = sqrt(tip->given.weight[k]), axis[3];
        for (int i = 0; i < 3; i++)
            axis[i] = scale * target.rotation[3 * i + k];
        value->residual[k] = -scale * error[k];
        ulna_custom_point(value, k, arm, axis, NULL);
    }
}

/* A twist t = 2 atan2(z, w) has along exp(s u) the second derivative -t' n' / n, n = z^2 + w^2: q'' is along q. */
static void bend_twist(const ulna_tip *tip, const ulna_target *target, const double rotation[9],
                       ulna_custom_value *value)
{
    double body[9], transposed[9], m[9], q[4], growth[3], in_world[3];
    int k = tip->axis;
    ulna_multiply9(rotation, tip->rotation, body);
    ulna_transpose9(target->rotation, transposed);
    ulna_multiply9(transposed, body, m);
    ulna_rotation_to_quaternion(m, q);
    double z = q[k], w = q[3], size = z * z + w * w;
    if (size < 1e-20)
        return;
    for (int i = 0; i < 3; i++)
        growth[i] = i == k ? 0 : -w * q[i];
    growth[(k + 1) % 3] += z * q[(k + 2) % 3];
    growth[(k + 2) % 3] -= z * q[(k + 1) % 3];
    ulna_rotate(target->rotation, growth, in_world);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            value->bend[i][j] -= value->residual[k] * value->row[k][i] * in_world[j] / size;
}

static void evaluate_rotations(const void *context, const double *goal, const double rotation[9],
                               const double position[3], ulna_custom_value *value)
{
    const ulna_tip *tip = context;
    ulna_target target;
    double frames[2][9], origins[2][3] = {{0}}, error[6], row[6][2][6];
    ulna_copy9(rotation, frames[0]);
    ulna_identity9(frames[1]);
    ulna_copy3(position, origins[0]);
    unpack(goal, &target);
    ulna_tip_error(tip, &target, (const double(*)[9])frames, (const double(*)[3])origins, error, row);
    for (int k = 0; k < 3; k++) {
        double scale = sqrt(tip->given.weight[3 + k]) * tip->length;
        value->residual[k] = -scale * error[3 + k];
        for (int i = 0; i < 6; i++)
            value->row[k][i] = scale * row[3 + k][0][i];
    }
    if (tip->kind == ULNA_TIP_TWIST)
        bend_twist(tip, &target, rotation, value);
}

/* One axis as a constraint between two bodies. */
static void evaluate_row(const void *context, const double *goal, const double rotation[2][9],
                         const double position[2][3], ulna_constraint_value *value)
{
    const struct ulna_tip_row *row = context;
    ulna_target target;
    double error[6], rows[6][2][6], scale = row->axis < 3 ? 1 : row->tip->length;
    unpack(goal, &target);
    ulna_tip_error(row->tip, &target, rotation, position, error, rows);
    value->value = scale * error[row->axis];
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < 6; i++)
            value->row[part][i] = scale * rows[row->axis][part][i];
}

/* ---- terms and constraints -------------------------------------------------------------------------------------------------- */

static void goal_numbers(const ulna_target *target, double numbers[7])
{
    ulna_copy3(target->position, numbers);
    memcpy(numbers + 3, target->quaternion, sizeof target->quaternion);
}

/* The rotation that the body must have for the tip to have the goal's. */
static void body_rotation(const ulna_tip *tip, const ulna_target *target, double rotation[9])
{
    double back[9];
    ulna_transpose9(tip->rotation, back);
    ulna_multiply9(target->rotation, back, rotation);
}

static void column(const double r[9], int k, double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = r[3 * i + k];
}

static ulna_status add_terms(const ulna_tip *tip, ulna_problem *problem, ulna_tip_numbers *numbers, ulna_error *error)
{
    static const double origin[7] = {0, 0, 0, 0, 0, 0, 1}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double *w = tip->given.weight;
    double axis[3], most = fmax(fmax(w[3], w[4]), w[5]);
    int body = tip->given.body;
    ulna_custom positions = {.evaluate = evaluate_positions, .context = tip, .goal_size = 7, .residual_count = 3};
    ulna_custom rotations = {.evaluate = evaluate_rotations, .context = tip, .goal_size = 7, .residual_count = 3};
    ulna_status status = ULNA_OK;
    if (tip->position_axes == 3 && tip->equal_positions)
        status = ulna_problem_add_point(problem, body, tip->given.point, origin, w[0], &numbers->position, error);
    else if (tip->position_axes > 0)
        status = ulna_problem_add_custom(problem, body, &positions, origin, 1, &numbers->position, error);
    if (status != ULNA_OK || tip->kind == ULNA_TIP_FREE)
        return status;
    if (tip->kind == ULNA_TIP_FULL && tip->equal_rotations)
        return ulna_problem_add_orientation(problem, body, identity, most, &numbers->rotation, error);
    if (tip->kind == ULNA_TIP_SWING && tip->equal_rotations) {
        column(tip->rotation, tip->axis, axis);
        return ulna_problem_add_direction(problem, body, axis, identity, most, &numbers->rotation, error);
    }
    return ulna_problem_add_custom(problem, body, &rotations, origin, 1, &numbers->rotation, error);
}

/* A constraint of the library for the shapes that it has: their second derivatives are exact. */
static ulna_status add_constraint(const ulna_tip *tip, ulna_problem *problem, ulna_constraint_type type, int *number,
                                  ulna_error *error)
{
    ulna_constraint keep = {.type = type, .body = tip->given.body, .other = tip->given.relative_to};
    int turn = type == ULNA_KEEP_ORIENTATION ? 0 : 3;
    ulna_copy3(tip->given.point, keep.point);
    column(tip->rotation, tip->axis, keep.axis);
    if (type == ULNA_KEEP_DIRECTION)
        keep.goal[0] = 1;
    else if (type != ULNA_KEEP_POINT)
        ulna_identity9(keep.goal + turn);
    return ulna_problem_add_constraint(problem, &keep, number, error);
}

static ulna_status add_row(const ulna_tip *tip, ulna_problem *problem, int k, int *number, ulna_error *error)
{
    ulna_constraint keep = {
        .type = ULNA_KEEP_CUSTOM,
        .body = tip->given.body,
        .other = tip->given.relative_to,
        .goal = {0, 0, 0, 0, 0, 0, 1},
        .custom = {.evaluate = evaluate_row, .context = &tip->row[k], .goal_size = 7},
    };
    return ulna_problem_add_constraint(problem, &keep, number, error);
}

static ulna_status add_constraints(const ulna_tip *tip, ulna_problem *problem, ulna_tip_numbers *numbers,
                                   ulna_error *error)
{
    int in_world = tip->given.relative_to == ULNA_NONE, whole = tip->position_axes == 3;
    if (whole && tip->kind == ULNA_TIP_FULL)
        return add_constraint(tip, problem, in_world ? ULNA_KEEP_FRAME : ULNA_KEEP_RELATIVE, &numbers->position, error);
    ulna_status status = ULNA_OK;
    if (in_world && whole)
        status = add_constraint(tip, problem, ULNA_KEEP_POINT, &numbers->position, error);
    if (in_world && tip->kind == ULNA_TIP_FULL && status == ULNA_OK)
        status = add_constraint(tip, problem, ULNA_KEEP_ORIENTATION, &numbers->rotation, error);
    if (in_world && tip->kind == ULNA_TIP_SWING && status == ULNA_OK)
        status = add_constraint(tip, problem, ULNA_KEEP_DIRECTION, &numbers->rotation, error);
    for (int k = 0; k < 6 && status == ULNA_OK; k++)
        if (tip->given.weight[k] > 0 && (k < 3 ? numbers->position : numbers->rotation) == ULNA_NONE)
            status = add_row(tip, problem, k, &numbers->axis[k], error);
    return status;
}

ulna_status ulna_tip_add(const ulna_tip *tip, ulna_problem *problem, ulna_reach_form form, ulna_tip_numbers *numbers,
                         ulna_error *error)
{
    *numbers =
        (ulna_tip_numbers){ULNA_NONE, ULNA_NONE, {ULNA_NONE, ULNA_NONE, ULNA_NONE, ULNA_NONE, ULNA_NONE, ULNA_NONE}};
    return form == ULNA_REACH_SOFT ? add_terms(tip, problem, numbers, error)
                                   : add_constraints(tip, problem, numbers, error);
}

static ulna_status set_terms(const ulna_tip *tip, ulna_problem *problem, const ulna_tip_numbers *numbers,
                             const ulna_target *target)
{
    double seven[7], rotation[9], axis[3];
    const double *goal = seven;
    ulna_status status = ULNA_OK;
    goal_numbers(target, seven); /* a point's goal is the first three */
    if (numbers->position != ULNA_NONE)
        status = ulna_problem_set_goal(problem, numbers->position, seven);
    if (numbers->rotation == ULNA_NONE || status != ULNA_OK)
        return status;
    int type = ulna_problem_term_type(problem, numbers->rotation);
    if (type == ULNA_TERM_ORIENTATION) {
        body_rotation(tip, target, rotation);
        goal = rotation;
    } else if (type == ULNA_TERM_DIRECTION) {
        column(target->rotation, tip->axis, axis);
        goal = axis;
    }
    return ulna_problem_set_goal(problem, numbers->rotation, goal);
}

static ulna_status set_constraints(const ulna_tip *tip, ulna_problem *problem, const ulna_tip_numbers *numbers,
                                   const ulna_target *target)
{
    double seven[7], frame[12], axis[3];
    ulna_status status = ULNA_OK;
    goal_numbers(target, seven);
    ulna_copy3(target->position, frame);
    body_rotation(tip, target, frame + 3);
    if (numbers->position != ULNA_NONE)
        status = ulna_problem_set_constraint_goal(problem, numbers->position, frame);
    if (numbers->rotation != ULNA_NONE && status == ULNA_OK) {
        column(target->rotation, tip->axis, axis);
        status =
            ulna_problem_set_constraint_goal(problem, numbers->rotation, tip->kind == ULNA_TIP_FULL ? frame + 3 : axis);
    }
    for (int k = 0; k < 6 && status == ULNA_OK; k++)
        if (numbers->axis[k] != ULNA_NONE)
            status = ulna_problem_set_constraint_goal(problem, numbers->axis[k], seven);
    return status;
}

ulna_status ulna_tip_set_goal(const ulna_tip *tip, ulna_problem *problem, ulna_reach_form form,
                              const ulna_tip_numbers *numbers, const ulna_target *target)
{
    return form == ULNA_REACH_SOFT ? set_terms(tip, problem, numbers, target)
                                   : set_constraints(tip, problem, numbers, target);
}
