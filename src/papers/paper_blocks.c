/* The constraints of (14): see paper.h. */
#include <math.h>
#include <string.h>

#include "math/math3.h"
#include "papers/paper.h"

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

/* Rodrigues' formula (2), R^rel = a aT + c (1 - a aT) + s [a]x. It equals S^T R^can S (7) for any S that rotates a to x. */
static void rotation_about(ulna_program *program, const double a[3], const ulna_affine c_s[2], ulna_affine relative[9])
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
    rotation_about(program, node->axis, c_s, relative);
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

/* Z_ik = sum over m of weight[m] R_m, plus 1/4 on the diagonal: R(q) = R(-q) is quadratic in q, so q qT is linear in
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

/* =============================================================================================================== */

/*
 * The lift of a rotation (section 4.2.2 of the paper; Briales and Gonzalez-Jimenez 2017): with r = vec(R), the block
 *
 *     [ 1  rT ]
 *     [ r  Y  ]  >= 0,   where Y replaces r rT,
 *
 * and every equation that is linear in r and Y and holds for rotations:
 *     R^T R = 1, R R^T = 1   6 + 6, of which one follows from the others (both imply tr = 3)
 *     the cross products     9: column 1 x column 2 = column 3 and so on; those of the rows are the same equations
 * 20 in all. The paper states half of them and recommends the redundant ones; there are no more, since products of two
 * elements of R span 1 + 9 + 25 functions on SO(3) and Y has 45 entries. The equations are solved for 20 entries of Y;
 * the other 25 are new variables.
 */

enum { EQUATIONS = 21, PRODUCTS = 45, KNOWN = 10, WIDTH = PRODUCTS + KNOWN }; /* KNOWN: 1 and the elements of R */

/* Index of the product of elements i and k of R among the 45. */
static int product_of(int i, int k)
{
    return i > k ? i * (i + 1) / 2 + k : k * (k + 1) / 2 + i;
}

/* One equation per row: sum of products (columns 0 .. 44) = sum of 1 and elements of R (columns 45 .. 54). */
static void write_equations(double rows[EQUATIONS][WIDTH])
{
    int at = 0;
    memset(rows, 0, EQUATIONS * sizeof *rows);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k <= i; k++, at += 2) {
            for (int m = 0; m < 3; m++) {
                rows[at][product_of(3 * m + i, 3 * m + k)] += 1;
                rows[at + 1][product_of(3 * i + m, 3 * k + m)] += 1;
            }
            rows[at][PRODUCTS] = rows[at + 1][PRODUCTS] = i == k;
        }
    for (int c = 0; c < 3; c++) /* column c + 1 x column c + 2 = column c */
        for (int r = 0; r < 3; r++, at++) {
            int c1 = (c + 1) % 3, c2 = (c + 2) % 3, r1 = (r + 1) % 3, r2 = (r + 2) % 3;
            rows[at][product_of(3 * r1 + c1, 3 * r2 + c2)] += 1;
            rows[at][product_of(3 * r2 + c1, 3 * r1 + c2)] -= 1;
            rows[at][PRODUCTS + 1 + 3 * r + c] = 1;
        }
}

/* Gauss-Jordan elimination. pivot[p]: the row that gives product p, or -1 for a free one. */
static void solve_equations(double rows[EQUATIONS][WIDTH], int pivot[PRODUCTS])
{
    int used = 0;
    for (int p = 0; p < PRODUCTS; p++) {
        int best = used;
        for (int r = used; r < EQUATIONS; r++)
            best = fabs(rows[r][p]) > fabs(rows[best][p]) ? r : best;
        pivot[p] = -1;
        if (used == EQUATIONS || fabs(rows[best][p]) < 1e-9)
            continue;
        for (int k = 0; k < WIDTH; k++) {
            double other = rows[used][k];
            rows[used][k] = rows[best][k];
            rows[best][k] = other;
        }
        double scale = rows[used][p];
        for (int k = 0; k < WIDTH; k++)
            rows[used][k] /= scale;
        for (int r = 0; r < EQUATIONS; r++) {
            double factor = rows[r][p];
            for (int k = 0; k < WIDTH && r != used && factor != 0; k++)
                rows[r][k] -= factor * rows[used][k];
        }
        pivot[p] = used++;
    }
}

void ulna_paper_lift(ulna_program *program, const ulna_affine rotation[9])
{
    double rows[EQUATIONS][WIDTH], factor[PRODUCTS + 9];
    int pivot[PRODUCTS];
    ulna_affine entry[PRODUCTS + 9];
    write_equations(rows);
    solve_equations(rows, pivot);
    for (int p = 0; p < PRODUCTS; p++)
        entry[p] = pivot[p] < 0 ? ulna_program_variable(program) : ulna_affine_constant(0);
    memcpy(entry + PRODUCTS, rotation, 9 * sizeof *rotation);

    int block = ulna_program_block(program, 10);
    ulna_program_set(program, block, 0, 0, ulna_affine_constant(1));
    for (int i = 0; i < 9; i++)
        ulna_program_set(program, block, 1 + i, 0, rotation[i]);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k <= i; k++) {
            int p = product_of(i, k);
            if (pivot[p] < 0) {
                ulna_program_set(program, block, 1 + i, 1 + k, entry[p]);
                continue;
            }
            const double *row = rows[pivot[p]];
            for (int m = 0; m < PRODUCTS; m++)
                factor[m] = pivot[m] < 0 ? -row[m] : 0;
            memcpy(factor + PRODUCTS, row + PRODUCTS + 1, 9 * sizeof *factor);
            ulna_program_set(program, block, 1 + i, 1 + k,
                             ulna_affine_mix(program, row[PRODUCTS], PRODUCTS + 9, factor, entry));
        }
}

/* =============================================================================================================== */

/*
 * F0: relaxation (14) exactly as in the paper.
 *
 * Every joint has one degree of freedom: a free root and a ball are three hinges without limits (section 3.1), so R_j,
 * R^rel and R^can are lifted for each of them. R^rel = S^T R^can S and the equations of the lifts are linear; they are
 * eliminated, which does not change the feasible set. It has no interior (paper.h). For inspection with ulna_sdpa_write,
 * not for solving: F1 has the same minimum.
 */

/* R^can of (7). */
static void canonical(ulna_program *program, const ulna_affine c_s[2], ulna_affine R[9])
{
    const double minus = -1;
    for (int i = 0; i < 9; i++)
        R[i] = ulna_affine_constant(i == 0);
    R[4] = R[8] = c_s[0];
    R[7] = c_s[1];
    R[5] = ulna_affine_mix(program, 0, 1, &minus, &c_s[1]);
}

/* The constraints of one joint of (14), from `parent` to a new rotation; both may be the same array. */
static void joint(ulna_program *program, const ulna_node *node, const ulna_affine parent[9], ulna_affine rotation[9])
{
    ulna_affine c_s[2], relative[9], canon[9], child[9], product[81];
    ulna_paper_arc(program, node, c_s, relative);
    canonical(program, c_s, canon);
    ulna_paper_new_rotation(program, child);

    ulna_paper_product(parent, child, relative, product);
    int block = ulna_program_block(program, 9);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k <= i; k++)
            ulna_program_set(program, block, i, k, product[9 * i + k]);

    ulna_paper_lift(program, child);
    ulna_paper_lift(program, relative);
    ulna_paper_lift(program, canon);
    memcpy(rotation, child, sizeof child);
}

static void hinge(ulna_paper *paper, int n)
{
    const ulna_node *node = &paper->reduced->nodes[n];
    joint(&paper->program, node, paper->rotation[node->parent], paper->rotation[n]);
}

static void three_hinges(ulna_paper *paper, int n)
{
    for (int i = 0; i < 3; i++) {
        ulna_node node = {.edge = ULNA_EDGE_HINGE, .lower = -ULNA_PI, .upper = ULNA_PI};
        node.axis[i] = 1;
        joint(&paper->program, &node, paper->rotation[n], paper->rotation[n]);
    }
}

const ulna_paper_rules ulna_paper_literal = {.rotation = three_hinges, .hinge = hinge};
