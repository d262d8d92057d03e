/*
 * The exponential map and its left Jacobian (Grassia 1998; Barfoot, State Estimation for Robotics, 7.1.5).
 *
 * With s = |w|^2 and W = [w]x:
 *     exp(w) = I + a(s) W + b(s) W^2        a = sin t / t          t = |w|
 *     J(w)   = I + b(s) W + c(s) W^2        b = (1 - cos t) / s
 *     J^-1   = I - W/2    + e(s) W^2        c = (t - sin t) / t^3,  e = (1 - t/2 cot t/2) / s
 * Derivatives by s: b' = (a - 2b) / 2s, c' = (b - 3c) / 2s. Below s = 1 all are power series, as the closed
 * forms cancel. J is singular at full turns; its inverse is infinite there.
 */
#include "math/math3.h"

typedef struct coefficients {
    double a, b, c, db, dc;
} coefficients;

/* sum over k of (-s)^k / (2k + first)!, and its derivative by s. */
static void series(double s, int first, double *value, double *derivative)
{
    double term = 1, power = 1;
    for (int i = 2; i <= first; i++)
        term /= i;
    *value = term;
    *derivative = 0;
    for (int k = 1; k < 11; k++) {
        term /= -(double)(2 * k + first - 1) * (2 * k + first);
        *derivative += k * term * power;
        power *= s;
        *value += term * power;
    }
}

static coefficients coefficients_of(double s)
{
    coefficients k;
    if (s < 1) {
        double unused;
        series(s, 1, &k.a, &unused);
        series(s, 2, &k.b, &k.db);
        series(s, 3, &k.c, &k.dc);
        return k;
    }
    double t = sqrt(s), half = sin(0.5 * t);
    k.a = sin(t) / t;
    k.b = 2 * half * half / s;
    k.c = (1 - k.a) / s;
    k.db = (k.a - 2 * k.b) / (2 * s);
    k.dc = (k.b - 3 * k.c) / (2 * s);
    return k;
}

/* r = I + first [w]x + second [w]x^2 */
static void polynomial(const double w[3], double first, double second, double r[9])
{
    double s = ulna_dot(w, w);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r[3 * i + j] = second * w[i] * w[j];
    for (int i = 0; i < 3; i++)
        r[4 * i] = 1 - second * (s - w[i] * w[i]);
    r[1] -= first * w[2];
    r[2] += first * w[1];
    r[3] += first * w[2];
    r[5] -= first * w[0];
    r[6] -= first * w[1];
    r[7] += first * w[0];
}

void ulna_exp(const double w[3], double r[9])
{
    coefficients k = coefficients_of(ulna_dot(w, w));
    polynomial(w, k.a, k.b, r);
}

void ulna_left_jacobian(const double w[3], double j[9])
{
    coefficients k = coefficients_of(ulna_dot(w, w));
    polynomial(w, k.b, k.c, j);
}

void ulna_left_jacobian_inverse(const double w[3], double j[9])
{
    double s = ulna_dot(w, w), second;
    if (s < 0.01) {
        second = 1.0 / 12 + s * (1.0 / 720 + s * (1.0 / 30240 + s * (1.0 / 1209600 + s / 47900160)));
    } else {
        double half = 0.5 * sqrt(s);
        second = (1 - half * cos(half) / sin(half)) / s;
    }
    polynomial(w, -0.5, second, j);
}

void ulna_left_jacobian_derivative(const double w[3], int k, double dj[9])
{
    /* b' terms: 2 w_k b' [w]x + 2 w_k c' (w wt - s I) */
    double s = ulna_dot(w, w);
    coefficients f = coefficients_of(s);
    polynomial(w, 2 * w[k] * f.db, 2 * w[k] * f.dc, dj);
    for (int i = 0; i < 3; i++)
        dj[4 * i] -= 1;

    /* b [e_k]x + c (e_k wt + w e_kt - 2 w_k I) */
    int i = (k + 1) % 3, j = (k + 2) % 3;
    dj[3 * i + j] -= f.b;
    dj[3 * j + i] += f.b;
    for (int n = 0; n < 3; n++) {
        dj[3 * k + n] += f.c * w[n];
        dj[3 * n + k] += f.c * w[n];
        dj[4 * n] -= 2 * f.c * w[k];
    }
}
