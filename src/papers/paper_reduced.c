/*
 * F1: relaxation (14) of the paper with its redundancy removed. The minimum is that of (14), and there is an interior.
 *
 * A hinge about a from R_p to R_j, with R^rel = R^rel(c, s):
 *   - R^rel a = a, so (a, 0, -a) is a null vector of M's matrix for every c and s. A positive semidefinite matrix M
 *     with a null vector n has M n = 0: its middle row gives R_p a = R_j a. R_j is written such that this holds, with six
 *     new variables instead of nine, and the 8 x 8 block perpendicular to n remains.
 *   - The projection of the lift of R_j with all its 20 equations is the convex hull of SO(3), that is Z(R_j) >= 0
 *     (Saunderson, Parrilo, Willsky 2015): for a quaternion, q0^2 = q0^2 |q|^2 = sum (q0 q_i)^2 is a sum of squares of
 *     affine functions of R, and so is every other (m.q)^2. The lifts of R^rel and R^can add nothing to (8).
 *
 * Below a fixed base some directions are constant: R_p b = u with constant b, u (ulna_known). Then (b, -u, 0) is a null
 * vector, too, and uT R_j = bT R^rel.
 *   all three known   R_j = R_p R^rel, without further variables; a is known afterwards
 *   b known, b = +-a  R_j also rotates about u: R_j = u bT + C (...) + S (...), two variables; b remains known
 *   b known, b != a   R_j = R_p a aT + u bT R^rel (1 - a aT) + four variables; nothing is known afterwards
 *   nothing known     R_j = R_p a aT + six variables
 * In each case the mean of all poses is an interior point. Axes that are parallel to 1e-6 count as parallel.
 */
#include "papers/paper.h"

#include <math.h>

#include "math/math3.h"

#define PARALLEL 1e-6

static void free_rotation(ulna_paper *paper, int n)
{
    ulna_paper_new_rotation(&paper->program, paper->rotation[n]);
    ulna_paper_quaternion_block(&paper->program, paper->rotation[n]);
}

static void follow(ulna_paper *paper, int n)
{
    paper->known[n] = n == 0 ? (ulna_known){.count = 3} : paper->known[paper->reduced->nodes[n].parent];
}

/* Two unit vectors perpendicular to a unit vector: side[0] x side[1] = v. */
static void sides_of(const double v[3], double side[2][3])
{
    double frame[9];
    ulna_frame_around(v, frame);
    for (int i = 0; i < 3; i++) {
        side[0][i] = frame[3 * i];
        side[1][i] = frame[3 * i + 1];
    }
}

/* M restricted to the complement of its null vectors (a, 0, -a) and, if b is known, (b, -u, 0). */
static void product_block(ulna_paper *paper, int n, const ulna_affine relative[9])
{
    const ulna_node *node = &paper->reduced->nodes[n];
    const ulna_known *known = &paper->known[node->parent];
    ulna_affine product[81];
    double null[2 * 9] = {0}, face[81];
    for (int i = 0; i < 3; i++) {
        null[i] = node->axis[i];
        null[6 + i] = -node->axis[i];
        null[9 + i] = known->body[i];
        null[12 + i] = -known->world[i];
    }
    ulna_paper_product(paper->rotation[node->parent], paper->rotation[n], relative, product);
    int size = ulna_complement(9, 1 + (known->count > 0), null, face);
    ulna_program_face(&paper->program, 9, product, size, face);
}

/* ---- the four cases of R_j --------------------------------------------------------------------------------------- */

static void below_known(ulna_paper *paper, int n, const ulna_affine relative[9])
{
    const ulna_node *node = &paper->reduced->nodes[n];
    double parent[9];
    for (int i = 0; i < 9; i++)
        parent[i] = paper->rotation[node->parent][i].constant;
    ulna_paper_left(&paper->program, parent, relative, paper->rotation[n]);
    paper->known[n].count = 1;
    ulna_copy3(node->axis, paper->known[n].body);
    ulna_rotate(parent, node->axis, paper->known[n].world);
}

static void about_known_axis(ulna_paper *paper, int n)
{
    const ulna_known *known = &paper->known[paper->reduced->nodes[n].parent];
    double b[2][3], u[2][3];
    sides_of(known->body, b);
    sides_of(known->world, u);
    const ulna_affine c_s[2] = {ulna_program_variable(&paper->program), ulna_program_variable(&paper->program)};
    for (int i = 0; i < 9; i++) {
        int r = i / 3, k = i % 3;
        const double factor[2] = {u[0][r] * b[0][k] + u[1][r] * b[1][k], u[1][r] * b[0][k] - u[0][r] * b[1][k]};
        paper->rotation[n][i] = ulna_affine_mix(&paper->program, known->world[r] * known->body[k], 2, factor, c_s);
    }
    paper->known[n] = *known;
}

/* R_p a aT + u bT R^rel (1 - a aT) + sum x_mk e_m side_kT, where e_m are perpendicular to u (three axes if there is
 * no u). */
static void anywhere_else(ulna_paper *paper, int n, const ulna_affine relative[9])
{
    const ulna_node *node = &paper->reduced->nodes[n];
    const ulna_known *known = &paper->known[node->parent];
    const ulna_affine *parent = paper->rotation[node->parent];
    const double *a = node->axis, *b = known->body, *u = known->world;
    int has_known = known->count > 0, rows = has_known ? 2 : 3;
    double side[2][3], across[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    ulna_affine x[6];
    sides_of(a, side);
    if (has_known)
        sides_of(u, across);
    for (int i = 0; i < 2 * rows; i++)
        x[i] = ulna_program_variable(&paper->program);
    for (int i = 0; i < 9; i++) {
        int r = i / 3, k = i % 3, count = 0;
        double factor[3 + 9 + 6];
        ulna_affine part[3 + 9 + 6];
        for (int m = 0; m < 3; m++, count++) {
            factor[count] = a[m] * a[k];
            part[count] = parent[3 * r + m];
        }
        for (int m = 0; m < 9 && has_known; m++, count++) {
            factor[count] = u[r] * b[m / 3] * ((m % 3 == k) - a[m % 3] * a[k]);
            part[count] = relative[m];
        }
        for (int m = 0; m < 2 * rows; m++, count++) {
            factor[count] = across[m / 2][r] * side[m % 2][k];
            part[count] = x[m];
        }
        paper->rotation[n][i] = ulna_affine_mix(&paper->program, 0, count, factor, part);
    }
}

static void hinge(ulna_paper *paper, int n)
{
    const ulna_node *node = &paper->reduced->nodes[n];
    const ulna_known *known = &paper->known[node->parent];
    ulna_affine c_s[2], relative[9];
    double across[3];
    ulna_paper_arc(&paper->program, node, c_s, relative);
    ulna_cross(known->body, node->axis, across);
    if (known->count == 3) {
        below_known(paper, n, relative);
        return;
    }
    if (known->count == 1 && ulna_norm(across) < PARALLEL)
        about_known_axis(paper, n);
    else {
        anywhere_else(paper, n, relative);
        ulna_paper_quaternion_block(&paper->program, paper->rotation[n]);
    }
    product_block(paper, n, relative);
}

const ulna_paper_rules ulna_paper_reduced = {.rotation = free_rotation, .hinge = hinge, .follow = follow};
