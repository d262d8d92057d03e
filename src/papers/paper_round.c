/*
 * From a minimum of (14) to a pose, as in the paper (end of section 4.2.2): "we first project the obtained
 * matrices onto SO(3) by means of Singular Value Decomposition, and subsequently extract the joint angles directly".
 *
 *   nearest           the rotation Q with the largest tr(RT Q). For Q of the unit quaternion q this is qT (4 Z(R) - 1) q,
 *                     so q is the first eigenvector of Z(R): the same rotation as by the SVD
 *   angle             of the relative rotation Q = R_pT R_j about a: the largest tr(K(a, theta)T Q) is at
 *                     theta = atan2(a . vee(Q - QT), tr Q - a . Q a)
 * Changed: an angle outside the limits is set to the nearer limit on the circle. Relative rotations are relative to the
 * parent's projected rotation, not to the one that follows from the angles above it; the paper does not specify this.
 */
#include "papers/paper.h"

#include <math.h>
#include <string.h>

#include "global/relax_tree.h"
#include "math/math3.h"

double ulna_paper_nearest_rotation(const double R[9], double rotation[9])
{
    const double t[10] = {1, R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]}; /* columns */
    double Z[16], values[4], vectors[16];
    ulna_relax_matrix(t, Z);
    ulna_relax_eigen(4, Z, values, vectors);
    ulna_quaternion_to_rotation((const double[4]){vectors[0], vectors[4], vectors[8], vectors[12]}, rotation);
    return values[1];
}

double ulna_paper_angle(const double R[9], const double axis[3], double lower, double upper)
{
    const double twist[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    double along[3];
    ulna_rotate(R, axis, along);
    double angle = atan2(ulna_dot(axis, twist), R[0] + R[4] + R[8] - ulna_dot(axis, along));
    if (!(upper - lower < 2 * ULNA_PI) && !(lower > -ULNA_PI) && !(upper < ULNA_PI))
        return angle;
    if (!isfinite(lower) || !isfinite(upper)) /* one limit only: the least multiple of 2 pi that brings it inside */
        return isfinite(lower) ? angle + 2 * ULNA_PI * ceil((lower - angle) / (2 * ULNA_PI))
                               : angle + 2 * ULNA_PI * floor((upper - angle) / (2 * ULNA_PI));
    double middle = 0.5 * (lower + upper);
    angle = middle + remainder(angle - middle,
                               2 * ULNA_PI); /* nearest to the middle, so that the clamp chooses the nearer limit */
    return fmin(fmax(angle, lower), upper);
}

static void relative_of(const double parent[9], const double child[9], double relative[9])
{
    double inverse[9];
    ulna_transpose9(parent, inverse);
    ulna_multiply9(inverse, child, relative);
}

/* The travel for which a translation is nearest to its position in the relaxation. */
static double travel_of(const ulna_paper *paper, const double *x, const ulna_reduced_pose *pose, int n)
{
    const ulna_node *node = &paper->reduced->nodes[n];
    double R[9], along[3], travel = 0;
    ulna_reduced_rotation(pose, node->parent, R);
    ulna_rotate(R, node->axis, along);
    for (int i = 0; i < 3; i++)
        travel += along[i] * (ulna_affine_value(&paper->program, paper->place[n][i], x) -
                              ulna_affine_value(&paper->program, paper->place[node->parent][i], x));
    return fmin(fmax(travel, node->lower), node->upper);
}

/* A rotating edge: its rotation, and the angle of a hinge. Returns the second eigenvalue of Z(R). */
static double round_rotation(const ulna_paper *paper, const double *x, ulna_reduced_pose *pose, int n)
{
    const ulna_node *node = &paper->reduced->nodes[n];
    double R[9], rotation[9], q[4];
    for (int i = 0; i < 9; i++)
        R[i] = ulna_affine_value(&paper->program, paper->rotation[n][i], x);
    const double second = ulna_paper_nearest_rotation(R, rotation);
    if (node->edge == ULNA_EDGE_HINGE) {
        double parent[9], relative[9];
        ulna_reduced_rotation(pose, node->parent, parent);
        relative_of(parent, rotation, relative);
        pose->value[n] = ulna_paper_angle(relative, node->axis, node->lower, node->upper);
    }
    for (int i = 0; i < 3 && node->edge == ULNA_EDGE_FREE; i++)
        pose->place[n][i] = ulna_affine_value(&paper->program, paper->place[n][i], x);
    ulna_rotation_to_quaternion(rotation, q); /* x, y, z, w */
    memcpy(pose->quaternion[n], (const double[4]){q[3], q[0], q[1], q[2]}, sizeof q);
    return second;
}

double ulna_paper_round(const ulna_paper *paper, const double *x, ulna_reduced_pose *pose)
{
    const ulna_reduced *reduced = paper->reduced;
    double widest = 0;
    for (int n = 0; n < reduced->count; n++) {
        const ulna_node *node = &reduced->nodes[n];
        if (node->edge == ULNA_EDGE_WORLD || node->edge == ULNA_EDGE_BONE || node->edge == ULNA_EDGE_TRANSLATION) {
            if (node->edge == ULNA_EDGE_TRANSLATION)
                pose->value[n] = travel_of(paper, x, pose, n);
            memcpy(pose->quaternion[n], n ? pose->quaternion[node->parent] : (const double[4]){1, 0, 0, 0},
                   sizeof pose->quaternion[n]);
            continue;
        }
        widest = fmax(widest, round_rotation(paper, x, pose, n));
    }
    return widest;
}
