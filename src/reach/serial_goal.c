/*
 * Goals in the canonical form of serial_kernel.h, and how far a configuration is from one.
 *
 * When is a step certified? Let s be the sum of |d[i]| over a step d, in scaled units. The second derivative of the last
 * frame's origin with respect to joints i <= j is axis(i) x (column j), not longer than `reach`, so that after the step
 * the position error is at most |e - J d| + reach s^2 / 2. The rotation after the step differs from exp(J d) by an angle of
 * at most s^2 / 2: products of rotations by small vectors a[i] differ from the rotation by their sum by at most
 * the sum of |a[i] x a[j]| / 2 over i < j. The error e differs from the rotation vector by |e|^3 / 24, and |e| <= s + |e - J d|;
 * where the bound is small enough to certify, this is below s^2 / 100. A free spin adds as much again, as the axis to align
 * is rotated by what is not seen. Errors that the tool's lever adds to the position are in `certified_below`. Tolerances are
 * halved before any of this, which leaves room for rounding and for moving a value onto its limit.
 */
#include "math/math3.h"
#include "reach/serial_kernel.h"

#include <math.h>
#include <string.h>

ulna_serial_goal ulna_serial_goal_pose(const double position[3], const double rotation[9])
{
    ulna_serial_goal goal = {.aim = ULNA_SERIAL_POSE, .position_tolerance = 1e-6, .rotation_tolerance = 1e-6};
    ulna_copy3(position, goal.position);
    ulna_copy9(rotation, goal.rotation);
    return goal;
}

/* column[k][r] = entry (r, k) of R, and column[3] = x * scale. */
static void set_columns(double column[4][3], const double *R, const double *x, double scale)
{
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++)
            column[k][r] = R[3 * r + k];
        column[3][r] = x[r] * scale;
    }
}

/* The free axis is the last joint's own: it does not matter then, and the goal may be for the last frame's origin. */
static int is_last_axis(const ulna_serial_target *target)
{
    return hypot(target->point[0], target->point[1]) < 1e-12 && hypot(target->axis[0], target->axis[1]) < 1e-12;
}

static void fold_spin(ulna_serial_target *target)
{
    target->folded_sign = target->axis[2];
    target->lever = fabs(target->point[2]);
    target->arm[2] = target->point[2];
    target->point[2] = 0;
    target->axis[0] = target->axis[1] = 0, target->axis[2] = 1;
    target->folded_spin = 1;
}

void ulna_serial_target_move(const ulna_serial *chain, const ulna_serial_goal *goal, ulna_serial_target *target)
{
    const double *base = chain->base, *tool = chain->tool, inverse = 1 / chain->length;
    double from_base[3], rotation[9], position[3], way[3];
    ulna_subtract3(goal->position, base + 9, from_base);
    ulna_unrotate(base, from_base, position);
    /* rotation = base^-1 goal */
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++)
            rotation[3 * r + k] =
                base[r] * goal->rotation[k] + base[3 + r] * goal->rotation[3 + k] + base[6 + r] * goal->rotation[6 + k];
    if (goal->aim == ULNA_SERIAL_POSE || goal->aim == ULNA_SERIAL_ORIENTATION) {
        double last[9];
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                last[3 * r + k] = rotation[3 * r] * tool[3 * k] + rotation[3 * r + 1] * tool[3 * k + 1] +
                                  rotation[3 * r + 2] * tool[3 * k + 2];
        set_columns(target->column, last, position, inverse);
        ulna_rotate(last, target->arm, way);
        for (int r = 0; r < 3; r++)
            target->column[3][r] -= way[r];
        return;
    }
    set_columns(target->column, rotation, position, inverse);
    ulna_rotate(rotation, goal->axis, target->column[2]);
    for (int r = 0; r < 3 && target->folded_spin; r++) {
        target->column[2][r] *= target->folded_sign;
        target->column[3][r] -= target->arm[2] * target->column[2][r];
    }
}

void ulna_serial_target_set(const ulna_serial *chain, const ulna_serial_goal *goal, ulna_serial_target *target)
{
    const double *tool = chain->tool; /* rotation row by row, then position */
    double point[3], reach = chain->reach;
    ulna_rotate(tool, goal->point, point);
    ulna_accumulate3(tool + 9, point);
    for (int r = 0; r < 3; r++)
        point[r] /= chain->length;
    target->aim = goal->aim;
    target->lever = 0;
    target->folded_spin = 0;
    memset(target->point, 0, sizeof target->point);
    memset(target->arm, 0, sizeof target->arm);
    target->axis[0] = target->axis[1] = 0, target->axis[2] = 1;
    target->bend = goal->aim == ULNA_SERIAL_SPIN ? 1.1 : 0.55;
    if (goal->aim == ULNA_SERIAL_POSE || goal->aim == ULNA_SERIAL_ORIENTATION) {
        ulna_copy3(point, target->arm);
        target->lever = goal->aim == ULNA_SERIAL_POSE ? ulna_norm(target->arm) : 0;
    } else {
        if (goal->aim == ULNA_SERIAL_SPIN)
            ulna_rotate(tool, goal->axis, target->axis);
        ulna_copy3(point, target->point);
        reach += ulna_norm(point);
        if (goal->aim == ULNA_SERIAL_SPIN && is_last_axis(target))
            fold_spin(target);
    }
    ulna_serial_target_move(chain, goal, target);
    const double position_tolerance = 0.5 * goal->position_tolerance / chain->length,
                 rotation_tolerance = 0.5 * goal->rotation_tolerance;
    target->met_position =
        goal->aim == ULNA_SERIAL_ORIENTATION ? INFINITY : 0.5 * position_tolerance * position_tolerance;
    target->met_rotation = goal->aim == ULNA_SERIAL_POSITION ? INFINITY : rotation_tolerance * rotation_tolerance;
    target->certified_below =
        fmin(goal->aim == ULNA_SERIAL_POSITION ? INFINITY : rotation_tolerance,
             goal->aim == ULNA_SERIAL_ORIENTATION ? INFINITY : position_tolerance / (fmax(reach, 1) + target->lever));
    target->uses_table = chain->has_tables && (goal->aim == ULNA_SERIAL_POSE || target->folded_spin);
}

/* Errors of solutions are small: below 1e-3 the series is as good as atan2, to 13 digits. */
static double angle_of(double sine, double cosine)
{
    return cosine > 0 && sine < 1e-3 ? sine + sine * sine * sine / 6 : atan2(sine, cosine);
}

/* Metres: of the point of the last frame f that the goal is for, with `arm` from there to where the goal was given. */
static double position_error(const ulna_serial *chain, const ulna_serial_target *goal, const double *f, const double *t)
{
    double way[3];
    for (int r = 0; r < 3; r++) {
        way[r] = f[9 + r] - t[9 + r];
        for (int k = 0; k < 3; k++)
            way[r] += f[3 * k + r] * (goal->point[k] + goal->arm[k]) - t[3 * k + r] * goal->arm[k];
    }
    return chain->length * ulna_norm(way);
}

static double rotation_error(const ulna_serial_target *goal, const double *f, const double *t)
{
    double c[3];
    if (goal->aim == ULNA_SERIAL_SPIN) {
        double axis[3];
        for (int r = 0; r < 3; r++)
            axis[r] = f[r] * goal->axis[0] + f[3 + r] * goal->axis[1] + f[6 + r] * goal->axis[2];
        ulna_cross(t + 6, axis, c);
        return angle_of(ulna_norm(c), ulna_dot(t + 6, axis));
    }
    /* F T' = rotation by the error: its trace is 1 + 2 cos, the sum of cross products of columns 2 sin times its axis. */
    double sum[3] = {0}, trace = 0;
    for (int k = 0; k < 9; k += 3) {
        ulna_cross(t + k, f + k, c);
        ulna_accumulate3(c, sum);
        trace += ulna_dot(t + k, f + k);
    }
    return angle_of(0.5 * ulna_norm(sum), 0.5 * (trace - 1));
}

void ulna_serial_set_lane(const ulna_serial *chain, const double *q, int lane, ulna_serial_lanes *state)
{
    for (int i = 0; i < chain->n; i++)
        state->q[i][lane] = chain->slides[i] ? q[i] / chain->length : q[i];
}

void ulna_serial_measure(const ulna_serial *chain, ulna_serial_lanes *state, int count, double *position,
                         double *rotation)
{
    const ulna_serial_target *goal = state->goal;
    double last[12][ULNA_SERIAL_LANES];
    state->kernel->forward(chain, state->q, last);
    for (int l = 0; l < count; l++) {
        double f[12], t[12];
        for (int k = 0; k < 12; k++) {
            f[k] = last[k][l];
            t[k] = state->target[k][l];
        }
        position[l] = goal->aim == ULNA_SERIAL_ORIENTATION ? 0 : position_error(chain, goal, f, t);
        rotation[l] = goal->aim == ULNA_SERIAL_POSITION ? 0 : rotation_error(goal, f, t);
    }
}

void ulna_serial_error(const ulna_serial *chain, const ulna_serial_goal *goal, const double *q, double *position,
                       double *rotation)
{
    ulna_serial_target target;
    ulna_serial_lanes state = {0};
    ulna_serial_target_set(chain, goal, &target);
    ulna_serial_lanes_set(chain, chain->kernel, &target, &state);
    ulna_serial_set_lane(chain, q, 0, &state);
    ulna_serial_measure(chain, &state, 1, position, rotation);
}
