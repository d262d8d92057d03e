/*
 * paper.h (private): the relaxation of "Convex Optimisation for Inverse Kinematics" (Yenamandra, Bernard, Wang,
 * Mueller, Theobalt 2019; "the paper"), as written, as small as it can be made, and the tighter one that Ulna uses
 * instead.
 *
 *   paper            here                       what it is
 *   J, joints        nodes of ulna_reduced      at most one freedom each (section 3.1)
 *   t                place of a FREE node       translation of the root
 *   a_j, theta_j     node->axis, angle          (1), (2)
 *   v_j              node->v of a bone          a bone is a node of its own: (6) has bone and turn in one
 *   pi(j)            node->parent
 *   R_j, p_j         rotation[n], place[n]      (5), (6); affine functions of the program's variables
 *   R_j^rel          relative                   (7), S_j^T R_j^can S_j
 *   c_j, s_j         c, s                       cos and sin of theta_j
 *   L_j              ulna_paper_arc             (8) and the half-plane of the limits
 *   M                ulna_paper_product         (13) without its rank, a matrix of 9 x 9
 *   (R, R) in SO(3)  ulna_paper_lift            the lift of a rotation, 10 x 10
 *   y_j, J           node->goal, weight > 0     observations
 *
 * Three programs of the same minimum, or a higher one (all are lower bounds of the cost):
 *
 *   F0  ULNA_PAPER_LITERAL  (14), its equations solved for. It has no interior: (13) always has the null vector (a, 0,
 *                           -a), since R^rel a = a, and the lifts of R^rel and R^can have many. SDPA comes to
 *                           within 0.2 % of the minimum, DSDP fails.
 *   F1  ULNA_PAPER_REDUCED  the same minimum: R_j a = R_pi a is said outright, (13) shrinks to 8 x 8, the lift of R_j
 *                           to the 4 x 4 matrix of its unit quaternion, the lifts of R^rel and R^can to the disc (8).
 *   F2  ULNA_PAPER_HULL     the convex hull of what two neighbours can do: never lower than F1. See paper_hull.c.
 *
 * Slips of the paper. (3) adds two points in homogeneous coordinates, whose fourth then says 2, and lists the path from
 * the joint to the root where the product must run from the root to the joint ((4) has yet another name for it). A
 * lifted rotation has 10 x 10 entries, 54 of them different and not given, not 1 + 81 (section 2). (9) and (14) ask
 * R_pi(1) = 1: the first block of M then has the null vectors (x, -x, 0), too, and so have the next ones in part. That
 * is the usual case of a robot, and F1 follows it (ulna_known). (8) reads as a constraint of (9), where R^can in SO(3)
 * makes it an equation. The half-plane means nothing for a joint that may turn all the way round: it is left out then.
 * Translational freedoms are left open in the paper, but for t: F0 and F1 take slides above all turns, which are as
 * harmless, and refuse those below one. F2 has them.
 */
#ifndef ULNA_GLOBAL_PAPER_H
#define ULNA_GLOBAL_PAPER_H

#include "global/reduced.h"
#include "papers/paper_program.h"

typedef enum ulna_paper_form { ULNA_PAPER_LITERAL = 0, ULNA_PAPER_REDUCED, ULNA_PAPER_HULL } ulna_paper_form;

/* A hinge that may turn by less than this to either side is taken to turn by this: a thinner arc has no interior that a
 * solver could find. The bound stays true. */
#define ULNA_PAPER_NARROWEST 0.01

/* Which directions of a node's frame are settled in the world: none, one (`body` lies along `world`), or all three. */
typedef struct ulna_known {
    int count;
    double body[3], world[3];
} ulna_known;

/* Z = E[q qT] of a node's quaternion (w first) as basis moments basisT, where `rank` columns span all that q can be. */
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

/* What a form makes of turning edges: fills rotation[node], given the parent's. */
typedef struct ulna_paper_rules {
    void (*turn)(ulna_paper *paper, int node); /* FREE and BALL */
    void (*hinge)(ulna_paper *paper, int node);
    void (*slide)(ulna_paper *paper, int node); /* below a turn: fills place[node], too; NULL: refused */
    void (*carry)(ulna_paper *paper,
                  int node); /* world, bones, slides above turns: what else goes with the rotation; may be NULL */
} ulna_paper_rules;

extern const ulna_paper_rules ulna_paper_literal, ulna_paper_reduced, ulna_paper_hull;

/*
 * Writes the program; `reduced` must outlive it. ULNA_ERR_UNSUPPORTED for an edge that the form does not know (by
 * name), ULNA_ERR_NUMBER, ULNA_ERR_MEMORY, ULNA_ERR_LIMIT. ULNA_ERR_STATE if there is nothing to be found: no goal, or
 * no turn or slide that a goal could feel.
 */
ulna_status ulna_paper_create(const ulna_reduced *reduced, ulna_paper_form form, const ulna_allocator *allocator,
                              ulna_paper *paper, ulna_error *error);
void ulna_paper_release(ulna_paper *paper); /* harmless on a zeroed one */

/* ---- for the forms (paper_blocks.c) ------------------------------------------------------------------------------ */

/* The half-width of a hinge's range, at least ULNA_PAPER_NARROWEST, and its middle; 1 if it is limited at all. */
int ulna_paper_range(const ulna_node *node, double *half, double *middle);
/* Two new variables c, s in the disc (8), and on the right side of the chord if the node is limited; R^rel of them. */
void ulna_paper_arc(ulna_program *program, const ulna_node *node, ulna_affine c_s[2], ulna_affine relative[9]);
/* (13) without rank: 9 x 9, lower triangle, for parent, child and relative rotation. */
void ulna_paper_product(const ulna_affine parent[9], const ulna_affine child[9], const ulna_affine relative[9],
                        ulna_affine product[81]);
/* The block Z(R) of a rotation, 4 x 4: it is positive semidefinite if and only if R is a mean of rotations. */
void ulna_paper_quaternion_block(ulna_program *program, const ulna_affine rotation[9]);
/* A rotation of nine new variables. */
void ulna_paper_new_rotation(ulna_program *program, ulna_affine rotation[9]);
/* C = A B. */
void ulna_paper_left(ulna_program *program, const double A[9], const ulna_affine B[9], ulna_affine C[9]);
/* The lift of a rotation (paper_blocks.c): a block of 10 x 10 with 25 new variables. */
void ulna_paper_lift(ulna_program *program, const ulna_affine rotation[9]);

/* ---- from the minimum to an answer (paper_round.c) --------------------------------------------------------------- */

/*
 * Every rotation is projected onto SO(3), as in the paper's section 4.2.2, and the angles are those of the projected
 * matrices, moved into the limits. `x`: the variables at the minimum. Returns the largest second eigenvalue of Z(R)
 * among the nodes that rotate; 0 if all rotations are rotations, 1/4 if one is anything.
 */
double ulna_paper_round(const ulna_paper *paper, const double *x, ulna_reduced_pose *pose);
/* The rotation nearest to a matrix (row by row), in the Frobenius norm. Returns the second eigenvalue of its Z. */
double ulna_paper_nearest_rotation(const double matrix[9], double rotation[9]);
/* The angle in [lower, upper] about `axis` whose turn is nearest to the rotation R. */
double ulna_paper_angle(const double R[9], const double axis[3], double lower, double upper);

#endif
