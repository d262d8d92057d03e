/*
 * paper.h (private): the relaxation of "Convex Optimisation for Inverse Kinematics" (Yenamandra, Bernard, Wang,
 * Mueller, Theobalt 2019; "the paper") in three forms: as written, without redundancy, and the tighter one that Ulna uses
 * instead. Numbers in parentheses are equations of the paper.
 *
 *   paper            here                       what it is
 *   J, joints        nodes of ulna_reduced      at most one degree of freedom each (section 3.1)
 *   t                place of a FREE node       translation of the root
 *   a_j, theta_j     node->axis, angle          (1), (2)
 *   v_j              node->v of a bone          a bone is a separate node; (6) has bone and rotation in one
 *   pi(j)            node->parent
 *   R_j, p_j         rotation[n], place[n]      (5), (6); affine functions of the program's variables
 *   R_j^rel          relative                   (7), S_j^T R_j^can S_j
 *   c_j, s_j         c, s                       cos and sin of theta_j
 *   L_j              ulna_paper_arc             (8) and the half-plane of the limits
 *   M                ulna_paper_product         (13) without its rank, a matrix of 9 x 9
 *   (R, R) in SO(3)  ulna_paper_lift            the lift of a rotation, 10 x 10
 *   y_j, J           node->goal, weight > 0     observations
 *
 * Three semidefinite programs. The minimum of each is a lower bound of the cost:
 *
 *   F0  ULNA_PAPER_LITERAL  (14) with its linear equations eliminated. It has no interior: (13) always has the null
 *                           vector (a, 0, -a), since R^rel a = a, and the lifts of R^rel and R^can have many. SDPA gets
 *                           within 0.2 % of the minimum, DSDP fails.
 *   F1  ULNA_PAPER_REDUCED  the same minimum as F0. R_j a = R_pi a is an explicit equation; (13) shrinks to 8 x 8, the
 *                           lift of R_j to the 4 x 4 matrix of its unit quaternion, the lifts of R^rel and R^can to the
 *                           disc (8).
 *   F2  ULNA_PAPER_HULL     the convex hull of a joint and its neighbour: its minimum is at least that of F1. See
 *                           paper_hull.c.
 *
 * Slips of the paper. (3) adds two points in homogeneous coordinates, so that the fourth coordinate becomes 2, and lists
 * the path from the joint to the root, where the product must be from the root to the joint ((4) uses another name for
 * it). The lift of a rotation has 10 x 10 entries, of which 54 are different and unknown, not 1 + 81 (section 2). (9) and
 * (14) require R_pi(1) = 1: the first block of M then also has the null vectors (x, -x, 0), and so, in part, have the
 * next ones. That is the usual case for robots; F1 takes care of it (ulna_known). (8) is stated as a constraint of (9),
 * where R^can in SO(3) makes it an equation. The half-plane is meaningless for a joint without limits, and is left out.
 * The paper has no translations except t. F0 and F1 accept translations above all rotations, which behave like t, and
 * refuse others. F2 accepts all.
 */
#ifndef ULNA_GLOBAL_PAPER_H
#define ULNA_GLOBAL_PAPER_H

#include "global/reduced.h"
#include "papers/paper_program.h"

typedef enum ulna_paper_form { ULNA_PAPER_LITERAL = 0, ULNA_PAPER_REDUCED, ULNA_PAPER_HULL } ulna_paper_form;

/* Radians: the least half-width of the limits of a hinge; narrower limits are widened to this, since solvers do not find the
 * interior of a thinner arc. The bound remains valid. */
#define ULNA_PAPER_NARROWEST 0.01

/* How many directions of a node's frame are fixed in the world: none, one (`body` is along `world`), or all three. */
typedef struct ulna_known {
    int count;
    double body[3], world[3];
} ulna_known;

/* Z = E[q qT] = basis moments basisT of a node's quaternion q (w first), where the `rank` columns of the basis span all
 * possible q. */
typedef struct ulna_span {
    int rank;
    double basis[16]; /* 4 x rank, column after column, orthonormal */
    ulna_affine moments[16];
} ulna_span;

typedef struct ulna_paper {
    ulna_program program;
    const ulna_reduced *reduced;
    ulna_affine (*rotation)[9]; /* count */
    ulna_affine (*place)[3];    /* count */
    ulna_known *known;          /* count, of F1 */
    ulna_span *span;            /* count, of F2 */
} ulna_paper;

/* The relaxation of each edge in one form: fills rotation[node], given the parent's. */
typedef struct ulna_paper_rules {
    void (*rotation)(ulna_paper *paper, int node); /* FREE and BALL */
    void (*hinge)(ulna_paper *paper, int node);
    void (*translation)(ulna_paper *paper, int node); /* below a rotation: also fills place[node]; NULL: refused */
    /* world, bones, translations above rotations: copies further data of the rotation from the parent; may be NULL */
    void (*follow)(ulna_paper *paper, int node);
} ulna_paper_rules;

extern const ulna_paper_rules ulna_paper_literal, ulna_paper_reduced, ulna_paper_hull;

/*
 * Writes the program; `reduced` must outlive it. ULNA_ERR_UNSUPPORTED for an edge that the form does not support (the
 * message names it), ULNA_ERR_NUMBER, ULNA_ERR_MEMORY, ULNA_ERR_LIMIT. ULNA_ERR_STATE if there is nothing to solve for: no
 * goal, or no joint on which a goal depends.
 */
ulna_status ulna_paper_create(const ulna_reduced *reduced, ulna_paper_form form, const ulna_allocator *allocator,
                              ulna_paper *paper, ulna_error *error);
void ulna_paper_release(ulna_paper *paper); /* does nothing to a zeroed struct */

/* ---- for the forms (paper_blocks.c) ------------------------------------------------------------------------------ */

/* The half-width of a hinge's limits, at least ULNA_PAPER_NARROWEST, and their middle; returns 1 if it has limits. */
int ulna_paper_range(const ulna_node *node, double *half, double *middle);
/* Adds two variables c, s in the disc (8) and, if the node has limits, in the half-plane of these; returns R^rel (2), (7). */
void ulna_paper_arc(ulna_program *program, const ulna_node *node, ulna_affine c_s[2], ulna_affine relative[9]);
/* (13) without its rank condition: 9 x 9, lower triangle, for parent, child and relative rotation. */
void ulna_paper_product(const ulna_affine parent[9], const ulna_affine child[9], const ulna_affine relative[9],
                        ulna_affine product[81]);
/* Adds the block Z(R) of a rotation, 4 x 4: it is positive semidefinite if and only if R is a mean of rotations. */
void ulna_paper_quaternion_block(ulna_program *program, const ulna_affine rotation[9]);
/* A rotation of nine new variables. */
void ulna_paper_new_rotation(ulna_program *program, ulna_affine rotation[9]);
/* C = A B. */
void ulna_paper_left(ulna_program *program, const double A[9], const ulna_affine B[9], ulna_affine C[9]);
/* Adds the lift of a rotation (paper_blocks.c): a block of 10 x 10 with 25 new variables. */
void ulna_paper_lift(ulna_program *program, const ulna_affine rotation[9]);

/* ---- from the minimum to an answer (paper_round.c) --------------------------------------------------------------- */

/*
 * Projects every rotation onto SO(3), as in section 4.2.2 of the paper. The angles are those of the projected matrices,
 * moved into the limits. `x`: the variables at the minimum. Returns the largest second eigenvalue of Z(R) among the nodes
 * that rotate: 0 if all matrices are rotations, 1/4 for the mean of all rotations, at most 1/2.
 */
double ulna_paper_round(const ulna_paper *paper, const double *x, ulna_reduced_pose *pose);
/* The rotation nearest to a matrix (row by row), in the Frobenius norm. Returns the second eigenvalue of its Z. */
double ulna_paper_nearest_rotation(const double R[9], double rotation[9]);
/* The angle in [lower, upper] for which the rotation about `axis` is nearest to R. */
double ulna_paper_angle(const double R[9], const double axis[3], double lower, double upper);

#endif
