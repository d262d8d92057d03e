/*
 * From moments to poses, from root to leaves. Given the parent's rotation q, the moments of a hinge (relax_tree.h) become
 * those of its angle: E[cos^2 (phi/2)] ~ qT A q, E[sin phi]/2 ~ qT B q, E[sin^2 (phi/2)] ~ qT C q.
 */
#include <math.h>
#include <string.h>

#include "base/algorithms.h"
#include "global/relax_tree.h"
#include "math/math3.h"

/* ---- quaternions --------------------------------------------------------------------------------------------- */

static double form(const double *A, int stride, const double q[4])
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            sum += q[i] * A[i * stride + k] * q[k];
    return sum;
}

static void matrix_of_state(const double *s, double Z[16])
{
    double t[10] = {1};
    memcpy(t + 1, s, 9 * sizeof *s);
    ulna_relax_matrix(t, Z);
}

/* The main eigenvector of a node's E[q qT]; or a quaternion drawn from the Gaussian with these moments. */
static void choose_rotation(const double *s, uint64_t *random, double q[4])
{
    double Z[16], values[4], vectors[16], norm = 0;
    matrix_of_state(s, Z);
    ulna_relax_eigen(4, Z, values, vectors);
    for (int i = 0; i < 4; i++)
        q[i] = vectors[4 * i];
    for (int i = 0; i < 4 && random; i++)
        q[i] = 0;
    for (int k = 0; k < 4 && random; k++) {
        const double x = sqrt(fmax(values[k], 1e-12)) * ulna_random_normal(random);
        for (int i = 0; i < 4; i++)
            q[i] += x * vectors[4 * i + k];
    }
    for (int i = 0; i < 4; i++)
        norm += q[i] * q[i];
    for (int i = 0; i < 4; i++)
        q[i] = norm > 0 ? q[i] / sqrt(norm) : i == 3;
}

/* ---- edges --------------------------------------------------------------------------------------------------- */

static double clip(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* The current W of a hinge, 8 x 8. */
static void hinge_block(const ulna_relaxation *r, const ulna_relax_edge *edge, double W[64])
{
    if (edge->how == ULNA_RELAX_DENSE) {
        ulna_relax_dense_full(edge, 0, W);
        return;
    }
    for (int i = 0; i < 64; i++)
        W[i] = r->groups[edge->group].S[i * ULNA_RELAX_LANES + edge->lane];
}

static double choose_angle(const ulna_relaxation *r, const ulna_relax_edge *edge, const double q[4], uint64_t *random)
{
    double W[64];
    hinge_block(r, edge, W);
    const double l = edge->lambda;
    const double a = form(W, 8, q), b = l * form(W + 4, 8, q), c = l * l * form(W + 36, 8, q);
    double phi = atan2(2 * b, a - c);
    if (random) {
        const double first = sqrt(fmax(a, 1e-14)), x = ulna_random_normal(random), y = ulna_random_normal(random);
        const double rest = sqrt(fmax(c - b / first * (b / first), 0));
        phi = 2 * atan2(b / first * x + rest * y, first * x);
        phi -= 2 * ULNA_PI * floor(phi / (2 * ULNA_PI) + 0.5);
    }
    return clip(edge->middle + phi, edge->lower, edge->upper);
}

/* E[travel] given the rotation; without two limits, the travel to the node's mean position. */
static double choose_travel(const ulna_relaxation *r, int node, const double q[4], uint64_t *random)
{
    const ulna_relax_edge *edge = &r->edges[node];
    double plus[16], minus[16], travel;
    if (edge->limited) {
        ulna_relax_dense_full(edge, 0, plus); /* Z + Y and Z - Y */
        ulna_relax_dense_full(edge, 1, minus);
        const double a = fmax(form(plus, 4, q), 0), b = fmax(form(minus, 4, q), 0);
        const double mean = a + b > 0 ? (a - b) / (a + b) : 0;
        travel =
            edge->middle +
            edge->half * (random ? clip(mean + 0.3 * sqrt(1 - mean * mean) * ulna_random_normal(random), -1, 1) : mean);
    } else {
        const double *here = r->state + (size_t)node * (size_t)r->states + 9;
        const double *above = r->state + (size_t)edge->parent * (size_t)r->states + 9;
        const double move[3] = {here[0] - above[0], here[1] - above[1], here[2] - above[2]};
        double R[9], axis[3];
        ulna_quaternion_to_rotation(q, R);
        ulna_rotate(R, edge->direction, axis);
        travel = ulna_dot(move, axis) + (random ? 0.1 * ulna_random_normal(random) : 0);
    }
    return clip(travel * r->unit, edge->lower, edge->upper);
}

/* Poses have w first. */
static void put_quaternion(const double q[4], double out[4])
{
    out[0] = q[3];
    memcpy(out + 1, q, 3 * sizeof *q);
}

static void get_quaternion(const double in[4], double q[4])
{
    memcpy(q, in + 1, 3 * sizeof *q);
    q[3] = in[0];
}

/* q times the quaternion of a rotation matrix */
static void rotate_by(const double q[4], const double R[9], double out[4])
{
    double other[4];
    ulna_rotation_to_quaternion(R, other);
    ulna_quaternion_multiply(q, other, out);
}

static void choose_edge(const ulna_relaxation *r, int n, uint64_t *random, ulna_reduced_pose *pose)
{
    const ulna_relax_edge *edge = &r->edges[n];
    const double *s = r->state + (size_t)n * (size_t)r->states;
    double above[4], q[4], other[4], angles[3];
    get_quaternion(pose->quaternion[edge->parent], above);
    memcpy(q, above, sizeof q);
    if (edge->edge == ULNA_EDGE_HINGE) {
        rotate_by(above, edge->base, q);
        pose->value[n] = choose_angle(r, edge, q, random);
        for (int i = 0; i < 3; i++)
            angles[i] = edge->base[3 * i] * pose->value[n];
        ulna_quaternion_exp(angles, other);
        ulna_quaternion_multiply(above, other, q);
    } else if (edge->edge == ULNA_EDGE_TRANSLATION) {
        rotate_by(above, r->edges[edge->parent].model, other);
        pose->value[n] = choose_travel(r, n, other, random);
    } else if (edge->edge == ULNA_EDGE_FREE || edge->edge == ULNA_EDGE_BALL)
        choose_rotation(s, random, q);
    put_quaternion(q, pose->quaternion[n]);
    for (int i = 0; i < 3 && edge->edge == ULNA_EDGE_FREE; i++)
        pose->place[n][i] = s[9 + i] * r->unit + r->origin[i];
}

void ulna_relaxation_round(const ulna_relaxation *r, uint64_t *random, ulna_reduced_pose *pose)
{
    static const double none[4] = {0, 0, 0, 1};
    put_quaternion(none, pose->quaternion[0]);
    for (int n = 1; n < r->count; n++)
        choose_edge(r, n, random, pose);
}
