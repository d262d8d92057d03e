/*
 * The lift of a rotation (section 4.2.2 of the paper; Briales and Gonzalez-Jimenez 2017): with r = vec(R), the block
 *
 *     [ 1  rT ]
 *     [ r  Y  ]  >= 0,   Y standing for r rT,
 *
 * and every equation that is linear in r and Y and holds for rotations:
 *     R^T R = 1, R R^T = 1   6 + 6, of which one follows from the others (both say tr = 3)
 *     the cross products     9: column 1 x column 2 = column 3 and so on; those of the rows are the same equations
 * 20 in all. The paper states half of them and recommends the redundant ones; there are no more, since products of two
 * elements of R span 1 + 9 + 25 functions on SO(3) and Y has 45 entries. The equations are solved for 20 entries of Y;
 * the other 25 are new variables.
 */
#include "papers/paper.h"

#include <math.h>
#include <string.h>

enum { EQUATIONS = 21, PRODUCTS = 45, KNOWN = 10, WIDTH = PRODUCTS + KNOWN }; /* KNOWN: 1 and the elements of R */

/* Where the product of elements i and k of R stands among the 45. */
static int product_of(int i, int k)
{
    return i > k ? i * (i + 1) / 2 + k : k * (k + 1) / 2 + i;
}

/* Row by row: sum of products = sum of what is known. Columns 45 .. 54 are the right side: 1, R. */
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

/* Gauss and Jordan. pivot[p]: the row that gives product p, or -1 for a free one. */
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
