/*
 * F0: relaxation (14) of the paper to the letter.
 *
 * Every joint has one freedom: a free root and a ball are three hinges without limits (section 3.1), so R_j, R^rel and
 * R^can are lifted for each of them. R^rel = S^T R^can S and the equations of the lifts are linear: they are solved
 * for, which leaves the feasible set as it is. It has no interior (paper.h). To be written with ulna_sdpa_write and
 * looked at, not to be solved in earnest: F1 has the same minimum.
 */
#include "papers/paper.h"

#include <math.h>
#include <string.h>

#include "math/math3.h"

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

/* The joint of (14) from `parent` to a new rotation, which may be where `parent` is. */
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

const ulna_paper_rules ulna_paper_literal = {.turn = three_hinges, .hinge = hinge};
