/*
 * relax_tree.h (private): data of the relaxation: the tree, the variables and the blocks. Used by all relax*.c.
 *
 * Notation.
 *   (tau, R)   ten numbers that represent a symmetric 4x4 matrix, the second moments of a quaternion (x, y, z, w): tau
 *              is its trace, R = E[rotation matrix], three columns one after the other. See ulna_relax_matrix.
 *   state      of a node: R (9), its position p (3) and, for F3, P = E[p pT] (6: xx xy xz yy yz zz): 12 or 18 numbers.
 *              Lengths are in units of the relaxation, positions are relative to its origin.
 *   controls   of an edge: the variables that remain free once the parent's state is given.
 *   block      a symmetric matrix S, linear in controls and parent's state, that must be positive semidefinite; X is
 *              its multiplier, U = S^-1.
 *   first      the first point of a solve, from which the method starts: each joint uniform within its limits.
 *
 * The relaxation has its own frames: the frame of the node below a hinge has the hinge's axis as x, and is the one at
 * the middle of the limits. `frame` rotates the parent's frame into it, so that a hinge is always a rotation about x by
 * phi, |phi| <= alpha. With A, B, C = E[cos^2 q qT], E[cos sin q qT], E[sin^2 q qT] of phi/2 and the parent's q, the
 * hull is [A, B; B, C] >= 0 and tan^2(alpha/2) A - C >= 0: exact, since biquadratic forms with a two-dimensional factor
 * are sums of squares (A. P. Calderon, "A note on biquadratic forms", Linear Algebra Appl. 7, 1973). Here, with
 * lambda = min(tan(alpha/2), 1), nu = (lambda / sin(alpha/2))^2, C' = C / lambda^2, B' = B / lambda and Z = A + C:
 *
 *   W = [Z - lambda^2 C', B'; B', C'] >= 0,  V = Z - nu C' >= 0  (no V if the hinge has no limits),
 *   child's columns:  x,  y + 2 lambda e_y,  z + 2 lambda e_z  with  e_y = b_z - lambda c_y,  e_z = -b_y - lambda c_z,
 *
 * where c and b are the (tau, R) of C' and B': the same hull, in coordinates that stay well scaled for any alpha > 0.
 * A bone of length l along the unit vector d, r = R d, has the moments
 *
 *   N = E[(1, p, r)(1, p, r)T] = [1, p, r; ., P, D; ., ., Q] >= 0,  tr Q = 1,
 *   child's p = p + l r,  child's P = P + l e  with  e = D + DT + l Q.
 *
 * In both cases the child's state depends on six controls e only. The others are private to the edge, and are eliminated
 * first.
 */
#ifndef ULNA_GLOBAL_RELAX_TREE_H
#define ULNA_GLOBAL_RELAX_TREE_H

#include "base/base.h"
#include "global/relaxation.h"

enum {
    ULNA_RELAX_PLACE = 9,   /* index of p in the state */
    ULNA_RELAX_SQUARE = 12, /* index of P */
    ULNA_RELAX_STATE = 18,
    ULNA_RELAX_CONTROLS = 26, /* of an edge, at most */
    ULNA_RELAX_BLOCKS = 5,    /* of an edge, at most */
    ULNA_RELAX_SIZE = 8,      /* of the largest block */
    ULNA_RELAX_MOMENTS = 13,  /* (1, p, R) */
    ULNA_RELAX_SHARED = 6,    /* number of controls e of an edge in lanes */
    ULNA_RELAX_LANES = 4
};

/* How an edge is computed. */
typedef enum ulna_relax_how {
    ULNA_RELAX_PASS = 0,    /* no controls: bones of F2, and edges that cannot move */
    ULNA_RELAX_DENSE,       /* with its own matrices: roots, balls, translations, and edges whose range is not full */
    ULNA_RELAX_HINGE_LANES, /* four at a time */
    ULNA_RELAX_BONE_LANES
} ulna_relax_how;

/* A block of a dense edge. All matrices are size x size, row by row. */
typedef struct ulna_relax_block {
    int size, full;
    double *phi;           /* full x size: S = phiT (matrix of the notation above) phi */
    double *back;          /* full x size: that matrix = back S backT */
    double *E;             /* derivative of S: one matrix for each control and each number of the parent's state */
    int *used, used_count; /* the variables whose matrix E is not 0 */
    double *S, *X, *U, *dS, *dX, *T;
    double *first; /* S of the first point */
} ulna_relax_block;

typedef struct ulna_relax_edge {
    ulna_edge edge;
    int parent;
    ulna_relax_how how;
    double model[9];             /* the node's frame in the frame of the model: R_model = R modelT */
    double frame[9];             /* hinges: their axes in the parent's frame, as columns */
    double base[9];              /* hinges: the same in the parent's frame of the model */
    double direction[3], length; /* bones and translations: direction in the parent's frame; unit of r */
    double lower, upper;         /* hinges and translations: as in the tree */
    double middle, half;         /* of the limits; half may be infinite */
    int limited;
    double alpha, lambda, nu, gamma; /* hinges; at the first point C' = gamma Z */
    double mean, square;             /* translations: mean of travel / length and of its square at the first point */
    double skew;     /* translations without limits, directly below the world: |p_parent - p_0| <= skew |p - p_0| */
    double dropped;  /* root mean square distance of moments from face, moment_face and line, at most */
    double amplify;  /* dense: factor of rounding errors where conditions on N are nearly dependent */
    int rank;        /* of the range of the parent's quaternion: 1, 2 or 4 */
    double face[16]; /* its orthonormal basis, 4 x rank; for hinges in their own frame */
    int moment_rank; /* of the range of (1, p, r) */
    double moment_face[49]; /* 7 x moment_rank */
    int line_rank;          /* translations: of the range of R direction */
    double line[9];         /* 3 x line_rank */
    double D[9], Q[6];      /* of N at the first point, with a free root at the origin */
    int root;               /* the FREE edge above, or 0 */

    int group, lane; /* of edges in lanes */
    int controls, block_count;
    ulna_relax_block block[ULNA_RELAX_BLOCKS];
    double *child;          /* dense: states x (controls + states): derivative of the node's state */
    double *local;          /* dense: gradient of (controls, parent's state) */
    double *rows, *inverse; /* of the elimination of the controls: controls x (controls + states) */
    double *k, *u;          /* right-hand side and step of the controls */
} ulna_relax_edge;

/* Four edges of one kind side by side: number i of lane l at [4 i + l]. */
typedef struct ulna_relax_group {
    int edge[ULNA_RELAX_LANES];
    int size;               /* of the main block: 8 for hinges, 7 for bones */
    int privates, vars;     /* 14 of 29, or 8 of 26: privates, shared, then the parent's state */
    double *lambda, *nu;    /* hinges; bones: lambda is the length */
    double *live, *limited; /* 1 or 0; a lane that is not live has no edge */
    double *S, *X, *U, *dS, *dX, *T;
    double *SV, *XV, *UV, *dSV, *dXV, *TV; /* 4 x 4; hinges */
    double *first, *firstV;                /* S and SV of the first point */
    double *rows, *inverse;                /* of the elimination of the privates: row i holds columns i .. vars - 1 */
    double *corner;          /* the remaining matrix: (vars - privates) square, upper triangle, packed by rows */
    double *gradient, *step; /* vars */
} ulna_relax_group;

struct ulna_relax_kernel;

struct ulna_relaxation {
    ulna_allocator allocator;
    size_t bytes; /* of `memory`, which has all arrays except edges and start */
    void *memory;
    ulna_relax_kind kind;
    int count, states;
    const struct ulna_relax_kernel *kernel;
    double origin[3], unit; /* of the tree's lengths: p here = (p there - origin) / unit */
    ulna_relax_edge *edges;
    int hinge_groups, bone_groups;
    ulna_relax_group *groups; /* hinges first */
    int order;                /* sum of the sizes of all blocks */
    double *start;            /* states of the first point, with free roots at the origin */

    double cost_unit, posture; /* of this solve: the latter in these units */
    double *weight, *goal, *rotation_cost;
    double *shift, *spread; /* of free roots at the first point: mean of p (3) and variance (1), for each node */
    unsigned char *frozen;  /* FREE edges and translations without limits: no goal depends on the position */
    double *reach;          /* an upper bound of sqrt(E |p|^2) in the best solution */
    double *state, *step, *gradient, *hessian;
    double *first;      /* states of the first point */
    double *whole_step; /* before refinement */
    double *scratch;
};

/* ---- (tau, R) and matrices: relax_moments.c ------------------------------------------------------------------- */

void ulna_relax_matrix(const double t[10], double Z[16]);
void ulna_relax_vector(const double Z[16], double t[10]);
/* Eigenvalues (descending) and eigenvectors (columns) of a symmetric matrix, n <= 8, row by row. */
void ulna_relax_eigen(int n, const double *matrix, double *values, double *V);
/* Lower triangle; 0 if not positive definite. */
int ulna_relax_cholesky(int n, const double *A, double *L);

/* How a node moves (relax_moments.c): moments of (1, p, R) at the first point; mean, factor of the covariance of (p, R)
 * and factor of E[q qT] if every edge moves widely, whatever its limits. */
typedef struct ulna_relax_motion {
    double moments[ULNA_RELAX_MOMENTS * ULNA_RELAX_MOMENTS];
    double mean[12], F[12 * 12], G[4 * 4];
} ulna_relax_motion;

/* Fills the fields of the edges up to `root`, and `start`. scratch: one for each node. */
void ulna_relax_analyse(const ulna_reduced *tree, ulna_relaxation *r, ulna_relax_motion *scratch);

/* ---- goals and bounds of a solve: relaxation.c, relax_bound.c --------------------------------------------------- */

/* Checks that the tree has the edges of the relaxation, and finite numbers. */
ulna_status ulna_relax_check_goals(const ulna_relaxation *r, const ulna_reduced *tree);
void ulna_relax_load_goals(ulna_relaxation *r, const ulna_reduced *tree, double posture);
void ulna_relax_begin_states(ulna_relaxation *r);

/* Fills `reach`. known: an upper bound of the lowest cost. */
void ulna_relax_find_reach(ulna_relaxation *r, double known);
/* The cost without posture at the given states; for F2, which has squares of positions, its tangent plane at the current
 * states. `size`: the sum of the absolute values that were added. */
double ulna_relax_tangent(const ulna_relaxation *r, const double *states, double *size);
/* The lower bound that the current X proves, after gradients with Y = X and a sweep up. known: an upper bound of the
 * lowest cost. */
double ulna_relax_prove(const ulna_relaxation *r, double known, double gap);

/* ---- dense edges: relax_dense.c, relax_dense_map.c ---------------------------------------- */

/* Numbers of controls and sizes of blocks. */
void ulna_relax_dense_size(const ulna_relaxation *r, ulna_relax_edge *edge);
/* Their matrices: E, child, phi, back. */
void ulna_relax_dense_map(const ulna_relaxation *r, ulna_relax_edge *edge);
/* The first `count` blocks of any edge at the first point, from the states of the solve, in full. */
void ulna_relax_begin_blocks(const ulna_relaxation *r, int node, int count, double *const *full);
/* S of a dense edge at the first point. */
void ulna_relax_dense_begin(const ulna_relaxation *r, int node);
/* out = phiT A phi, phi: full x size */
void ulna_relax_within(int full, int size, const double *phi, const double *A, double *out);
/* out = basis A basisT, basis: full x size */
void ulna_relax_without(int full, int size, const double *basis, const double *A, double *out);
/* The current block number `which`, in full. */
void ulna_relax_dense_full(const ulna_relax_edge *edge, int which, double *full);

int ulna_relax_dense_factor(ulna_relax_edge *edge, double *gap);
void ulna_relax_dense_hessian(const ulna_relaxation *r, const ulna_relax_edge *edge, double *H);
/* Gradient of -<Y, S> with Y = X + sigma_mu dX (corrector < 0), 0 (corrector = 0), or sigma_mu U - T. */
void ulna_relax_dense_gradient(const ulna_relaxation *r, ulna_relax_edge *edge, int corrector, double sigma_mu);
void ulna_relax_dense_direction(const ulna_relaxation *r, ulna_relax_edge *edge, int corrector, double sigma_mu);
/* Adds the current step to dS, and the change of dX that follows from it. */
void ulna_relax_dense_refine(const ulna_relaxation *r, ulna_relax_edge *edge);
void ulna_relax_dense_steps(const ulna_relax_edge *edge, double *primal, double *dual);
void ulna_relax_dense_products(const ulna_relax_edge *edge, double products[3]);
void ulna_relax_dense_correct(ulna_relax_edge *edge);
void ulna_relax_dense_advance(ulna_relax_edge *edge, double primal, double dual);

/* ---- the first multipliers: relax_bound.c ----------------------------------------------------------------------- */

/* Reads the gradient of the cost from r->gradient, and overwrites it. */
void ulna_relax_first_multipliers(ulna_relaxation *r);
/* How much the residual k of a FREE or BALL edge reduces the bound if it is added to the edge's multipliers. */
double ulna_relax_root_loss(const ulna_relaxation *r, int node);

/* The current block number `which` of a node's edge, in the notation above and in full (W 8 x 8, V 4 x 4, N 7 x 7;
 * FREE: Z, then [1 p; p P]; translations: Z + Y, Z - Y, N, [1 x; x x^2], 1 - x^2, or N alone): S, and X such that <X, S>
 * is its part of the gap. Both are arrays of 64. Returns the number of rows, or 0 if there is no such block. For tests. */
int ulna_relax_block_now(const ulna_relaxation *r, int node, int which, double *S, double *X);

#endif
