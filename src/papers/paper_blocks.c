/* The pieces that (14) is made of: see paper.h. */
#include "papers/paper.h"

#include <math.h>

#include "math/math3.h"

int ulna_paper_range(const ulna_node *node, double *half, double *middle)
{
    if (!(node->upper - node->lower < 2 * ULNA_PI)) {
        *half = ULNA_PI;
        *middle = 0;
        return 0;
    }
    *half = fmax(0.5 * (node->upper - node->lower), ULNA_PAPER_NARROWEST);
    *middle = 0.5 * (node->upper + node->lower);
    return *half < ULNA_PI;
}

/* Rodrigues' formula (2), R^rel = a aT + c (1 - a aT) + s [a]x: what S^T R^can S comes to for any S that takes a to
 * x. */
static void turn_about(ulna_program *program, const double a[3], const ulna_affine c_s[2], ulna_affine relative[9])
{
    const double cross[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
    for (int i = 0; i < 9; i++) {
        double along = a[i / 3] * a[i % 3], factor[2] = {(i % 4 == 0) - along, cross[i]};
        relative[i] = ulna_affine_mix(program, along, 2, factor, c_s);
    }
}

void ulna_paper_arc(ulna_program *program, const ulna_node *node, ulna_affine c_s[2], ulna_affine relative[9])
{
    double half, middle;
    const double plus = 1, minus = -1;
    c_s[0] = ulna_program_variable(program);
    c_s[1] = ulna_program_variable(program);

    /* (8): c^2 + s^2 <= 1 */
    int disc = ulna_program_block(program, 2);
    ulna_program_set(program, disc, 0, 0, ulna_affine_mix(program, 1, 1, &plus, &c_s[0]));
    ulna_program_set(program, disc, 1, 0, c_s[1]);
    ulna_program_set(program, disc, 1, 1, ulna_affine_mix(program, 1, 1, &minus, &c_s[0]));

    /* The line through the two limits: cos(theta - middle) >= cos(half). */
    if (ulna_paper_range(node, &half, &middle)) {
        const double normal[2] = {cos(middle), sin(middle)};
        int chord = ulna_program_block(program, 1);
        ulna_program_set(program, chord, 0, 0, ulna_affine_mix(program, -cos(half), 2, normal, c_s));
    }
    turn_about(program, node->axis, c_s, relative);
}

void ulna_paper_product(const ulna_affine parent[9], const ulna_affine child[9], const ulna_affine relative[9],
                        ulna_affine product[81])
{
    for (int i = 0; i < 81; i++)
        product[i] = ulna_affine_constant(i % 10 == 0);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            product[9 * (3 + i) + k] = parent[3 * i + k];
            product[9 * (6 + i) + k] = relative[3 * k + i];
            product[9 * (6 + i) + 3 + k] = child[3 * k + i];
        }
}

/* Z_ik = sum over m of weight[m] R_m, and 1/4 on the diagonal: with R(q) = R(-q) quadratic in q, q qT is linear in
 * R(q). */
static void quaternion_entry(int i, int k, double weight[9])
{
    /* off the diagonal: the two elements of R, and the sign of the second */
    static const int pair[4][4][3] = {
        [1] = {{7, 5, -1}}, [2] = {{2, 6, -1}, {1, 3, 1}}, [3] = {{3, 1, -1}, {2, 6, 1}, {5, 7, 1}}};
    for (int m = 0; m < 9; m++)
        weight[m] = 0;
    if (i != k) {
        weight[pair[i][k][0]] = 0.25;
        weight[pair[i][k][1]] = 0.25 * pair[i][k][2];
        return;
    }
    for (int m = 0; m < 3; m++)
        weight[4 * m] = i == 0 || m == i - 1 ? 0.25 : -0.25;
}

void ulna_paper_quaternion_block(ulna_program *program, const ulna_affine rotation[9])
{
    double weight[9];
    int block = ulna_program_block(program, 4);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k <= i; k++) {
            quaternion_entry(i, k, weight);
            ulna_program_set(program, block, i, k, ulna_affine_mix(program, i == k ? 0.25 : 0, 9, weight, rotation));
        }
}

void ulna_paper_quaternion_moments(const double rotation[9], double Z[16])
{
    double weight[9];
    for (int i = 0; i < 4; i++)
        for (int k = 0; k <= i; k++) {
            double sum = i == k ? 0.25 : 0;
            quaternion_entry(i, k, weight);
            for (int m = 0; m < 9; m++)
                sum += weight[m] * rotation[m];
            Z[4 * i + k] = Z[4 * k + i] = sum;
        }
}

void ulna_paper_new_rotation(ulna_program *program, ulna_affine rotation[9])
{
    for (int i = 0; i < 9; i++)
        rotation[i] = ulna_program_variable(program);
}

void ulna_paper_left(ulna_program *program, const double A[9], const ulna_affine B[9], ulna_affine C[9])
{
    ulna_affine product[9];
    for (int i = 0; i < 9; i++) {
        const ulna_affine part[3] = {B[i % 3], B[3 + i % 3], B[6 + i % 3]};
        product[i] = ulna_affine_mix(program, 0, 3, A + 3 * (i / 3), part);
    }
    memcpy(C, product, sizeof product);
}

void ulna_paper_right(ulna_program *program, const ulna_affine A[9], const double B[9], ulna_affine C[9])
{
    ulna_affine product[9];
    for (int i = 0; i < 9; i++) {
        const double factor[3] = {B[i % 3], B[3 + i % 3], B[6 + i % 3]};
        product[i] = ulna_affine_mix(program, 0, 3, factor, A + 3 * (i / 3));
    }
    memcpy(C, product, sizeof product);
}
