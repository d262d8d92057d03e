/*
 * Rotations as matrices, quaternions and rotation vectors, and the rotations between given directions.
 *
 * The logarithm goes through quaternions: the matrix becomes one by the largest of its four components
 * (Shepperd 1978), and the angle is 2 atan2(|v|, w), which is exact to rounding from 0 up to and including pi.
 */
#include "math/math3.h"

void ulna_rotation_about(int axis, double angle, double r[9])
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    double c = cos(angle), s = sin(angle);
    ulna_identity9(r);
    r[3 * i + i] = c;
    r[3 * i + j] = -s;
    r[3 * j + i] = s;
    r[3 * j + j] = c;
}

/* ---- quaternions ----------------------------------------------------------------------------------------- */

double ulna_quaternion_normalise(double q[4])
{
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++)
        q[i] /= length;
    return length;
}

void ulna_quaternion_to_rotation(const double q[4], double r[9])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double scale = 2 / (x * x + y * y + z * z + w * w);
    double sx = scale * x, sy = scale * y, sz = scale * z;
    double xx = sx * x, xy = sx * y, xz = sx * z, yy = sy * y, yz = sy * z, zz = sz * z;
    double wx = sx * w, wy = sy * w, wz = sz * w;
    r[0] = 1 - (yy + zz);
    r[1] = xy - wz;
    r[2] = xz + wy;
    r[3] = xy + wz;
    r[4] = 1 - (xx + zz);
    r[5] = yz - wx;
    r[6] = xz - wy;
    r[7] = yz + wx;
    r[8] = 1 - (xx + yy);
}

void ulna_rotation_to_quaternion(const double r[9], double q[4])
{
    double trace = r[0] + r[4] + r[8];
    if (trace > 0) {
        q[0] = r[7] - r[5];
        q[1] = r[2] - r[6];
        q[2] = r[3] - r[1];
        q[3] = 1 + trace;
    } else {
        int i = r[4] > r[0] ? 1 : 0;
        if (r[8] > r[4 * i])
            i = 2;
        int j = (i + 1) % 3, k = (i + 2) % 3;
        q[i] = 1 + r[4 * i] - r[4 * j] - r[4 * k];
        q[j] = r[3 * i + j] + r[3 * j + i];
        q[k] = r[3 * i + k] + r[3 * k + i];
        q[3] = r[3 * k + j] - r[3 * j + k];
    }
    ulna_quaternion_normalise(q);
    if (q[3] < 0)
        for (int i = 0; i < 4; i++)
            q[i] = -q[i];
}

void ulna_quaternion_multiply(const double a[4], const double b[4], double result[4])
{
    double product[4] = {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    };
    ulna_quaternion_normalise(product);
    memcpy(result, product, sizeof product);
}

void ulna_quaternion_exp(const double w[3], double q[4])
{
    double square = ulna_dot(w, w), angle = sqrt(square);
    double scale = square < 1e-8 ? 0.5 - square / 48 : sin(0.5 * angle) / angle;
    for (int i = 0; i < 3; i++)
        q[i] = scale * w[i];
    q[3] = cos(0.5 * angle);
}

void ulna_quaternion_log(const double q[4], double w[3])
{
    double sign = q[3] < 0 ? -1 : 1;
    double c = sign * q[3], s = ulna_norm(q);
    double ratio = s / (c > 0 ? c : 1);
    double scale = c > 0 && ratio < 1e-4 ? 2 / c * (1 - ratio * ratio / 3) : 2 * atan2(s, c) / s;
    for (int i = 0; i < 3; i++)
        w[i] = sign * scale * q[i];
}

void ulna_log(const double r[9], double w[3])
{
    double q[4];
    ulna_rotation_to_quaternion(r, q);
    ulna_quaternion_log(q, w);
}

/* ---- turns and frames from directions -------------------------------------------------------------------- */

/* A unit vector normal to the unit vector a: the coordinate axis that is least like it, made normal. */
static void any_normal(const double a[3], double n[3])
{
    int k = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(a[i]) < fabs(a[k]))
            k = i;
    for (int i = 0; i < 3; i++)
        n[i] = (i == k) - a[k] * a[i];
    double length = ulna_norm(n);
    for (int i = 0; i < 3; i++)
        n[i] /= length;
}

void ulna_shortest_rotation(const double a[3], const double b[3], double r[9])
{
    double v[3], n[3] = {0, 0, 0}, c = ulna_dot(a, b);
    ulna_cross(a, b, v);
    double s = ulna_norm(v), bend;

    if (c > 0) { /* I + [v] + [v]^2 / (1 + c) */
        ulna_copy3(v, n);
        bend = 1 / (1 + c);
        s = 1;
    } else { /* near a half-turn the normal decides: keep it exactly normal to a */
        if (s > 1e-300) {
            for (int i = 0; i < 3; i++)
                n[i] = v[i] / s;
            double along = ulna_dot(n, a);
            for (int i = 0; i < 3; i++)
                n[i] -= along * a[i];
            double length = ulna_norm(n);
            for (int i = 0; i < 3; i++)
                n[i] /= length;
        } else {
            any_normal(a, n);
        }
        bend = 1 - c;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r[3 * i + j] = bend * n[i] * n[j] + (i == j ? c : 0);
    r[1] -= s * n[2];
    r[2] += s * n[1];
    r[3] += s * n[2];
    r[5] -= s * n[0];
    r[6] -= s * n[1];
    r[7] += s * n[0];
}

void ulna_frame_around(const double z[3], double r[9])
{
    int k = 2;
    for (int i = 1; i >= 0; i--)
        if (fabs(z[i]) > fabs(z[k]))
            k = i;
    double sign = z[k] < 0 ? -1 : 1, axis[3] = {0, 0, 0}, turn[9];
    axis[k] = sign;
    ulna_shortest_rotation(axis, z, turn);

    /* columns: the turned successor of axis k, then z x that, then z */
    int i = (k + 1) % 3, j = (k + 2) % 3;
    for (int row = 0; row < 3; row++) {
        r[3 * row] = turn[3 * row + i];
        r[3 * row + 1] = sign * turn[3 * row + j];
        r[3 * row + 2] = z[row];
    }
}

/* ---- the nearest rotation -------------------------------------------------------------------------------- */

/* Inverse transpose: cofactors over the determinant, which is returned. */
static double cofactors(const double r[9], double c[9])
{
    ulna_cross(r + 3, r + 6, c);
    ulna_cross(r + 6, r, c + 3);
    ulna_cross(r, r + 3, c + 6);
    return ulna_dot(r, c);
}

/* Newton's iteration for the polar factor, R <- (R + R^-T) / 2 (Higham 1986). A matrix that is a rotation to
 * rounding is left alone, so that doing it twice changes nothing. */
double ulna_orthonormalise(double r[9])
{
    double start[9], c[9];
    if (!ulna_all_finite(r, 9))
        return INFINITY;
    ulna_copy9(r, start);
    for (int iteration = 0; iteration < 60; iteration++) {
        double determinant = cofactors(r, c), change = 0;
        if (!(determinant > 1e-12))
            return INFINITY;
        for (int i = 0; i < 9; i++)
            change = fmax(change, fabs(c[i] / determinant - r[i]));
        if (change < 2e-15)
            break;
        for (int i = 0; i < 9; i++)
            r[i] = 0.5 * (r[i] + c[i] / determinant);
    }
    double distance = 0;
    for (int i = 0; i < 9; i++)
        distance = fmax(distance, fabs(r[i] - start[i]));
    return distance;
}
