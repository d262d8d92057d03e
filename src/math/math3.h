/*
 * math3.h: vectors, rotations and rigid transforms, as small inline functions on plain arrays.
 *
 * Vectors are double[3], rotations double[9] row by row, quaternions double[4] (x, y, z, w).
 * Outputs may not overlap inputs unless a comment says so.
 */
#ifndef ULNA_SRC_MATH3_H
#define ULNA_SRC_MATH3_H

#include <float.h>
#include <math.h>
#include <string.h>

#define ULNA_PI 3.14159265358979323846

static inline double ulna_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void ulna_cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double ulna_inner(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline double ulna_squared_distance(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (b[i] - a[i]) * (b[i] - a[i]);
    return sum;
}

static inline double ulna_norm(const double a[3])
{
    return sqrt(ulna_dot(a, a));
}

static inline void ulna_subtract3(const double a[3], const double b[3], double difference[3])
{
    for (int i = 0; i < 3; i++)
        difference[i] = a[i] - b[i];
}

/* sum += a */
static inline void ulna_accumulate3(const double a[3], double sum[3])
{
    for (int i = 0; i < 3; i++)
        sum[i] += a[i];
}

static inline void ulna_copy3(const double a[3], double b[3])
{
    memcpy(b, a, 3 * sizeof *b);
}

static inline void ulna_copy9(const double a[9], double b[9])
{
    memcpy(b, a, 9 * sizeof *b);
}

static inline void ulna_identity9(double r[9])
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    ulna_copy9(identity, r);
}

/* y = R x */
static inline void ulna_rotate(const double r[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = r[3 * i] * x[0] + r[3 * i + 1] * x[1] + r[3 * i + 2] * x[2];
}

/* y = Rt x */
static inline void ulna_unrotate(const double r[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = r[i] * x[0] + r[3 + i] * x[1] + r[6 + i] * x[2];
}

/* c = a b */
static inline void ulna_multiply9(const double a[9], const double b[9], double c[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

static inline void ulna_transpose9(const double a[9], double b[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            b[3 * i + j] = a[3 * j + i];
}

/* (c, z) = (a, x)(b, y): first b, then a */
static inline void ulna_compose(const double a[9], const double x[3], const double b[9], const double y[3], double c[9],
                                double z[3])
{
    ulna_multiply9(a, b, c);
    ulna_rotate(a, y, z);
    for (int i = 0; i < 3; i++)
        z[i] += x[i];
}

/* (b, y) = (a, x)^-1 */
static inline void ulna_invert(const double a[9], const double x[3], double b[9], double y[3])
{
    ulna_transpose9(a, b);
    ulna_rotate(b, x, y);
    for (int i = 0; i < 3; i++)
        y[i] = -y[i];
}

/* Negative if x is, or if it is -0; x is not NaN. Of many numbers: the bits of all, combined by `|`, are negative if one of them is. Compilers make such loops wide, also
 * for the oldest processors, where comparisons stay one by one. */
static inline long long ulna_sign_bits(double x)
{
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Is none larger than `most`, whatever its sign, or NaN? `most` is positive. The bits of positive numbers are in the order of these, with those of
 * NaN behind all. */
static inline int ulna_all_within(double most, const double *x, int n)
{
    long long signs = 0;
    for (int i = 0; i < n; i++)
        signs |= ulna_sign_bits(most) - ulna_sign_bits(fabs(x[i]));
    return signs >= 0;
}

static inline int ulna_all_finite(const double *x, int n)
{
    return ulna_all_within(DBL_MAX, x, n);
}

/* Rotation by `angle` about coordinate axis 0, 1 or 2. */
void ulna_rotation_about(int axis, double angle, double r[9]);
/* exp of a rotation vector, and its inverse with |w| <= pi. */
void ulna_exp(const double w[3], double r[9]);
void ulna_log(const double r[9], double w[3]);
/* Quaternion of any length but zero to rotation; rotation to unit quaternion with w >= 0. */
void ulna_quaternion_to_rotation(const double q[4], double r[9]);
void ulna_rotation_to_quaternion(const double r[9], double q[4]);
/* Gives it length 1; returns the length that it had. */
double ulna_quaternion_normalise(double q[4]);
/* result = a b (result may be a or b), normalised. */
void ulna_quaternion_multiply(const double a[4], const double b[4], double result[4]);
void ulna_quaternion_exp(const double w[3], double q[4]);
void ulna_quaternion_log(const double q[4], double w[3]);
/* Left Jacobian of exp: d exp(w) = (J dw)x exp(w). Row by row. */
void ulna_left_jacobian(const double w[3], double j[9]);
void ulna_left_jacobian_inverse(const double w[3], double j[9]);
/* d J_left / d w_k, row by row, for k = 0, 1, 2. */
void ulna_left_jacobian_derivative(const double w[3], int k, double dj[9]);
/* The shortest rotation that takes unit vector a to unit vector b (about any normal if they are opposite). */
void ulna_shortest_rotation(const double a[3], const double b[3], double r[9]);
/* A rotation whose third column is the unit vector z; the others are as near as can be to the coordinate axes,
 * exactly so when z is a coordinate axis. */
void ulna_frame_around(const double z[3], double r[9]);
/* Nearest rotation of a matrix that is nearly one; returns how far it was (max norm), or INFINITY if hopeless. */
double ulna_orthonormalise(double r[9]);

/* The angle, whole turns added, that is nearest to another. */
static inline double ulna_nearest_turn(double angle, double near)
{
    double way = near - angle;
    return fabs(way) < ULNA_PI ? angle : angle + 2 * ULNA_PI * round(way / (2 * ULNA_PI));
}

#endif
