/*
 * F2: the exact convex hull of (parent's rotation, limited hinge, child's rotation), as a program for a general solver.
 * A reference for relaxation.c on small trees, written to be readable.
 *
 *   q        unit quaternion (w, x, y, z) of a rotation; R(q) is linear in Z = E[q qT], a 4 x 4 matrix >= 0 of trace 1
 *   hinge    about a by middle + phi, |phi| <= alpha. M: right multiplication by the quaternion of the middle, Ra: by
 *            (0, a). q_j = (cos(phi/2) + sin(phi/2) Ra) q' with q' = M q_p. For h = (cos(phi/2), sin(phi/2)), the
 *            moments W_ik = E[h_i h_k q' q'T] are
 *              W = [A, B; B, C] >= 0, A, B, C symmetric      A + C = M Z_p MT
 *              (1 - cos alpha) A - (1 + cos alpha) C >= 0    Z_j = A + B RaT + Ra B + Ra C RaT
 *            Exact: forms that are quadratic in h and in q and nowhere negative are sums of squares if h has two
 *            dimensions.
 *   translation  along a by d, lower <= d <= upper: Y = E[d q qT], lower Z <= Y <= upper Z, p = p_p + R(Y) a. Exact.
 *
 * Below a fixed base q is restricted to a subspace of 1, 2 or 4 dimensions (ulna_span). All matrices are written in a basis
 * of it; otherwise there would be no interior.
 */
#include "papers/paper.h"

#include <math.h>
#include <string.h>

#include "math/math3.h"

/* Right multiplication by the quaternion (w, v), row by row: the product p (w, v) = matrix p. */
static void right_multiplication(double w, const double v[3], double matrix[16])
{
    const double m[16] = {w, -v[0], -v[1], -v[2], v[0], w, v[2], -v[1], v[1], -v[2], w, v[0], v[2], v[1], -v[0], w};
    memcpy(matrix, m, sizeof m);
}

/* A symmetric r x r matrix of new variables; with trace 1 if has_trace. */
static void new_symmetric(ulna_program *program, int r, int has_trace, ulna_affine *S)
{
    const double minus[4] = {-1, -1, -1, -1};
    ulna_affine diagonal[4] = {{0}};
    for (int i = 0; i < r; i++)
        for (int k = 0; k <= i; k++) {
            int is_last = has_trace && i == r - 1 && k == i;
            S[r * i + k] =
                is_last ? ulna_affine_mix(program, 1, r - 1, minus, diagonal) : ulna_program_variable(program);
            S[r * k + i] = S[r * i + k];
            diagonal[i] = S[r * i + i];
        }
}

/* Adds the block left A + right B. */
static void block_of_sum(ulna_program *program, int r, double left, const ulna_affine *A, double right,
                         const ulna_affine *B)
{
    const double factor[2] = {left, right};
    int block = ulna_program_block(program, r);
    for (int i = 0; i < r; i++)
        for (int k = 0; k <= i; k++) {
            const ulna_affine part[2] = {A[r * i + k], B[r * i + k]};
            ulna_program_set(program, block, i, k, ulna_affine_mix(program, 0, 2, factor, part));
        }
}

/* out = G S GT, for G m x n (row by row, row length n) and S n x n, symmetric. */
static void congruence(ulna_program *program, int m, int n, const double *G, const ulna_affine *S, ulna_affine *out)
{
    double factor[64] = {0};
    for (int i = 0; i < m; i++)
        for (int k = 0; k <= i; k++) {
            for (int e = 0; e < n * n; e++)
                factor[e] = G[n * i + e / n] * G[n * k + e % n];
            out[m * i + k] = out[m * k + i] = ulna_affine_mix(program, 0, n * n, factor, S);
        }
}

/* R(Z), for Z = basis moments basisT. */
static void rotation_of(ulna_program *program, const ulna_span *span, const ulna_affine *moments, ulna_affine R[9])
{
    /* sign, row, column of Z: four for each element on R's diagonal, two (times 2) for the others */
    static const int diagonal[3][4] = {{1, 1, -1, -1}, {1, -1, 1, -1}, {1, -1, -1, 1}};
    static const int pair[9][5] = {[1] = {1, 2, 0, 3, -1}, [2] = {1, 3, 0, 2, 1},  [3] = {1, 2, 0, 3, 1},
                                   [5] = {2, 3, 0, 1, -1}, [6] = {1, 3, 0, 2, -1}, [7] = {2, 3, 0, 1, 1}};
    ulna_affine Z[16] = {{0}};
    double rows[16] = {0};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < span->rank; k++)
            rows[span->rank * i + k] = span->basis[4 * k + i];
    congruence(program, 4, span->rank, rows, moments, Z);
    for (int e = 0; e < 9; e++) {
        if (e % 4 == 0) {
            const int *sign = diagonal[e / 4];
            const double factor[4] = {sign[0], sign[1], sign[2], sign[3]};
            const ulna_affine part[4] = {Z[0], Z[5], Z[10], Z[15]};
            R[e] = ulna_affine_mix(program, 0, 4, factor, part);
        } else {
            const double factor[2] = {2, 2 * pair[e][4]};
            const ulna_affine part[2] = {Z[4 * pair[e][0] + pair[e][1]], Z[4 * pair[e][2] + pair[e][3]]};
            R[e] = ulna_affine_mix(program, 0, 2, factor, part);
        }
    }
}

static void follow(ulna_paper *paper, int n)
{
    paper->span[n] = n ? paper->span[paper->reduced->nodes[n].parent]
                       : (ulna_span){.rank = 1, .basis = {1, 0, 0, 0}, .moments = {{.constant = 1}}};
}

static void free_rotation(ulna_paper *paper, int n)
{
    ulna_span *span = &paper->span[n];
    *span = (ulna_span){.rank = 4, .basis = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};
    new_symmetric(&paper->program, 4, 1, span->moments);
    block_of_sum(&paper->program, 4, 1, span->moments, 0, span->moments);
    rotation_of(&paper->program, span, span->moments, paper->rotation[n]);
}

/* An orthonormal basis of the span of `count` vectors of length 4: the complement of their complement. */
static int span_of(int count, const double *vectors, double basis[16])
{
    double across[16];
    int left = ulna_complement(4, count, vectors, across);
    return ulna_complement(4, left, across, basis);
}

/* The directions of M q_p and of Ra M q_p, one after the other: 2 x rank vectors of length 4. */
static void directions(const ulna_node *node, double middle, const ulna_span *parent, double *vectors)
{
    double M[16], Ra[16], axis[3];
    for (int i = 0; i < 3; i++)
        axis[i] = sin(0.5 * middle) * node->axis[i];
    right_multiplication(cos(0.5 * middle), axis, M);
    right_multiplication(0, node->axis, Ra);
    for (int k = 0; k < parent->rank; k++) {
        double *near = vectors + 4 * k, *far = vectors + 4 * (parent->rank + k);
        for (int i = 0; i < 4; i++) {
            near[i] = 0;
            for (int m = 0; m < 4; m++)
                near[i] += M[4 * i + m] * parent->basis[4 * k + m];
        }
        for (int i = 0; i < 4; i++) {
            far[i] = 0;
            for (int m = 0; m < 4; m++)
                far[i] += Ra[4 * i + m] * near[m];
        }
    }
}

/* W of a hinge whose parent has `span`: 2r x 2r; adds its two blocks. */
static void hinge_moments(ulna_program *program, const ulna_node *node, const ulna_span *span, double *middle,
                          ulna_affine *W)
{
    int r = span->rank, is_limited;
    double half;
    const double one_less[2] = {1, -1};
    ulna_affine A[16] = {{0}}, B[16] = {{0}}, C[16] = {{0}};
    is_limited = ulna_paper_range(node, &half, middle);
    new_symmetric(program, r, 0, A);
    new_symmetric(program, r, 0, B);
    for (int i = 0; i < r * r; i++) {
        const ulna_affine part[2] = {span->moments[i], A[i]};
        C[i] = ulna_affine_mix(program, 0, 2, one_less, part);
    }
    int block = ulna_program_block(program, 2 * r);
    for (int i = 0; i < 2 * r; i++)
        for (int k = 0; k < 2 * r; k++) {
            const ulna_affine *part = i < r && k < r ? A : i >= r && k >= r ? C : B;
            W[2 * r * i + k] = part[r * (i % r) + k % r];
            if (k <= i)
                ulna_program_set(program, block, i, k, W[2 * r * i + k]);
        }
    if (is_limited)
        block_of_sum(program, r, 1 - cos(half), A, -(1 + cos(half)), C);
}

static void hinge(ulna_paper *paper, int n)
{
    const ulna_node *node = &paper->reduced->nodes[n];
    const ulna_span *parent = &paper->span[node->parent];
    ulna_span *child = &paper->span[n];
    ulna_affine W[64] = {{0}};
    double middle, vectors[32] = {0}, G[32] = {0};
    hinge_moments(&paper->program, node, parent, &middle, W);
    directions(node, middle, parent, vectors);
    child->rank = span_of(2 * parent->rank, vectors, child->basis);
    for (int i = 0; i < child->rank; i++)
        for (int k = 0; k < 2 * parent->rank; k++) {
            double sum = 0;
            for (int m = 0; m < 4; m++)
                sum += child->basis[4 * i + m] * vectors[4 * k + m];
            G[2 * parent->rank * i + k] = sum;
        }
    congruence(&paper->program, child->rank, 2 * parent->rank, G, W, child->moments);
    rotation_of(&paper->program, child, child->moments, paper->rotation[n]);
}

static void translation(ulna_paper *paper, int n)
{
    const ulna_node *node = &paper->reduced->nodes[n];
    ulna_program *program = &paper->program;
    ulna_affine Y[16] = {{0}}, R[9];
    follow(paper, n);
    const ulna_span *span = &paper->span[n];
    if (node->upper > node->lower) {
        new_symmetric(program, span->rank, 0, Y);
        block_of_sum(program, span->rank, 1, Y, -node->lower, span->moments);
        block_of_sum(program, span->rank, -1, Y, node->upper, span->moments);
    } else
        for (int i = 0; i < span->rank * span->rank; i++)
            Y[i] = ulna_affine_mix(program, 0, 1, &node->lower, &span->moments[i]);
    rotation_of(program, span, Y, R);
    const double factor[4] = {1, node->axis[0], node->axis[1], node->axis[2]};
    for (int i = 0; i < 3; i++) {
        const ulna_affine part[4] = {paper->place[node->parent][i], R[3 * i], R[3 * i + 1], R[3 * i + 2]};
        paper->place[n][i] = ulna_affine_mix(program, 0, 4, factor, part);
    }
}

const ulna_paper_rules ulna_paper_hull = {
    .rotation = free_rotation, .hinge = hinge, .translation = translation, .follow = follow};
