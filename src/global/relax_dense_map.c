/*
 * Dense edges: the derivatives of their blocks and of the node's state with respect to controls and parent's state.
 *
 * Roots, balls and translations are dense, and so are edges whose moments do not have full rank: if the parent's
 * quaternion is always in the range of `face`, C' = face c faceT and so on, with c symmetric of the size of the rank; if
 * (1, p, r) is always in the range of moment_face, N = face n faceT. Each block is phiT (...) phi with phi a basis of the
 * range, chosen such that S = 1 at the first point. A translation with travel = middle + half x has Y = E[x q qT],
 * -Z <= Y <= Z; for F3, E[x^2] lies between (E x)^2 and 1 and gives the trace of Q. Without two limits, the hull allows
 * any vector E r (in the range of the axis).
 */
#include <math.h>
#include <string.h>

#include "global/relax_tree.h"

enum { STATE = ULNA_RELAX_STATE, GIVEN = 14, PAIRS = 28 };

/* ---- moments within their range: which entries are given by the parent's state, and which are free ------------- */

/*
 * n (m x m, symmetric, as a vector with off-diagonals times sqrt 2) satisfies linear conditions: the entries of N for 1,
 * p, r, P and the trace of Q are given. The first `rank` rows of `basis` are an orthonormal basis of the conditions;
 * n = basisT (lower^-1 given[picked]) + a linear combination of the other rows.
 */
typedef struct moment_map {
    int size, length, rank, rest_count;
    int picked[GIVEN];
    double lower[GIVEN][GIVEN], basis[PAIRS][PAIRS];
} moment_map;

/* K with <K, N> = given[which] */
static void condition(int which, double K[49])
{
    static const int place[6][2] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}};
    memset(K, 0, 49 * sizeof *K);
    if (which < 7)
        K[which] = K[7 * which] = which == 0 ? 1 : 0.5;
    else if (which < 13) {
        const int i = place[which - 7][0], k = place[which - 7][1];
        K[7 * i + k] = K[7 * k + i] = i == k ? 1 : 0.5;
    } else
        K[7 * 4 + 4] = K[7 * 5 + 5] = K[7 * 6 + 6] = 1;
}

/* faceT K face as a vector */
static void to_pairs(const double *face, int m, const double K[49], double *pairs)
{
    double Kf[49];
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < m; k++) {
            Kf[i * m + k] = 0;
            for (int l = 0; l < 7; l++)
                Kf[i * m + k] += K[7 * i + l] * face[l * m + k];
        }
    for (int i = 0; i < m; i++)
        for (int k = i; k < m; k++) {
            double sum = 0;
            for (int l = 0; l < 7; l++)
                sum += face[l * m + i] * Kf[l * m + k];
            *pairs++ = i == k ? sum : sum * sqrt(2);
        }
}

/* face n faceT from the vector of n */
static void moments_from_pairs(const double *face, int m, const double *pairs, double N[49])
{
    memset(N, 0, 49 * sizeof *N);
    for (int i = 0; i < m; i++)
        for (int k = i; k < m; k++) {
            const double x = *pairs++ * (i == k ? 0.5 : sqrt(0.5));
            for (int a = 0; a < 7; a++)
                for (int b = 0; b < 7; b++)
                    N[7 * a + b] += x * (face[a * m + i] * face[b * m + k] + face[a * m + k] * face[b * m + i]);
        }
}

/* Subtracts from v its projection on the first `rows` rows of the basis, twice; returns the norm of the rest. */
static double take_out(const moment_map *map, int rows, double *v, double *coefficients)
{
    double norm = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < rows; i++) {
            double dot = 0;
            for (int k = 0; k < map->length; k++)
                dot += map->basis[i][k] * v[k];
            for (int k = 0; k < map->length; k++)
                v[k] -= dot * map->basis[i][k];
            if (coefficients)
                coefficients[i] += dot;
        }
    for (int k = 0; k < map->length; k++)
        norm += v[k] * v[k];
    return sqrt(norm);
}

static void append_row(moment_map *map, int row, const double *v, double norm)
{
    for (int k = 0; k < map->length; k++)
        map->basis[row][k] = v[k] / norm;
}

/* The condition that is farthest from the span of those picked before, or -1 if all others are in the span. */
static int next_condition(const moment_map *map, double v[GIVEN][PAIRS], const double before[GIVEN])
{
    int next = -1;
    double largest = 1e-9;
    for (int which = 0; which < GIVEN; which++) {
        double norm = 0;
        for (int k = 0; k < map->length; k++)
            norm += v[which][k] * v[which][k];
        norm = sqrt(norm);
        if (norm > largest && norm > 1e-6 * before[which]) {
            next = which;
            largest = norm;
        }
    }
    return next;
}

/* Gram-Schmidt with reorthogonalisation, on the conditions and then on unit vectors. */
static void map_moments(const ulna_relax_edge *edge, moment_map *map)
{
    const int m = edge->moment_rank;
    double v[GIVEN][PAIRS], before[GIVEN], coefficients[GIVEN][GIVEN] = {{0}};
    *map = (moment_map){.size = m, .length = m * (m + 1) / 2};
    for (int which = 0; which < GIVEN; which++) {
        double K[49];
        condition(which, K);
        to_pairs(edge->moment_face, m, K, v[which]);
        before[which] = take_out(map, 0, v[which], NULL);
    }
    for (int next; map->rank < map->length && (next = next_condition(map, v, before)) >= 0; map->rank++) {
        const double norm = take_out(map, map->rank, v[next], coefficients[next]);
        coefficients[next][map->rank] = norm;
        memcpy(map->lower[map->rank], coefficients[next], sizeof coefficients[next]);
        map->picked[map->rank] = next;
        append_row(map, map->rank, v[next], norm);
        memset(v[next], 0, sizeof v[next]);
        for (int which = 0; which < GIVEN; which++) {
            double dot = 0;
            for (int k = 0; k < map->length; k++)
                dot += map->basis[map->rank][k] * v[which][k];
            for (int k = 0; k < map->length; k++)
                v[which][k] -= dot * map->basis[map->rank][k];
            coefficients[which][map->rank] = dot;
        }
    }
    for (int row = map->rank; row < map->length; row++) {
        double best[PAIRS], largest = 0;
        for (int unit = 0; unit < map->length; unit++) {
            double free[PAIRS] = {0};
            free[unit] = 1;
            const double norm = take_out(map, row, free, NULL);
            if (norm > largest * 1.000001) {
                largest = norm;
                memcpy(best, free, sizeof best);
            }
        }
        append_row(map, row, best, largest);
    }
    map->rest_count = map->length - map->rank;
}

/* N for given 1, p (3), r (3), P (6) and trace of Q; the free part is 0. */
static void moments_for(const ulna_relax_edge *edge, const moment_map *map, const double given[GIVEN], double N[49])
{
    double y[GIVEN], pairs[PAIRS] = {0};
    for (int i = 0; i < map->rank; i++) {
        y[i] = given[map->picked[i]];
        for (int k = 0; k < i; k++)
            y[i] -= map->lower[i][k] * y[k];
        y[i] /= map->lower[i][i];
        for (int k = 0; k < map->length; k++)
            pairs[k] += y[i] * map->basis[i][k];
    }
    moments_from_pairs(edge->moment_face, map->size, pairs, N);
}

/* ---- sizes --------------------------------------------------------------------------------------------------- */

static void add_block(ulna_relax_edge *edge, int full, int size)
{
    edge->block[edge->block_count].full = full;
    edge->block[edge->block_count++].size = size;
}

void ulna_relax_dense_size(const ulna_relaxation *r, ulna_relax_edge *edge)
{
    const int bones = r->kind == ULNA_RELAX_BONES, k = edge->rank, pairs = k * (k + 1) / 2;
    moment_map map;
    switch (edge->edge) {
    case ULNA_EDGE_FREE:
        edge->controls = r->states;
        add_block(edge, 4, 4);
        if (bones)
            add_block(edge, 4, 4);
        break;
    case ULNA_EDGE_BALL:
        edge->controls = 9;
        add_block(edge, 4, 4);
        break;
    case ULNA_EDGE_HINGE:
        edge->controls = 2 * pairs;
        add_block(edge, 8, 2 * k);
        if (edge->limited)
            add_block(edge, 4, k);
        break;
    case ULNA_EDGE_TRANSLATION:
        edge->controls = edge->limited ? pairs : edge->line_rank;
        if (edge->limited) {
            add_block(edge, 4, k);
            add_block(edge, 4, k);
        }
        if (!bones)
            break;
        map_moments(edge, &map);
        edge->controls += 1 + map.rest_count;
        add_block(edge, 7, edge->moment_rank);
        if (edge->limited) {
            add_block(edge, 2, 2);
            add_block(edge, 1, 1);
        }
        break;
    case ULNA_EDGE_BONE:
        map_moments(edge, &map);
        edge->controls = map.rest_count;
        add_block(edge, 7, edge->moment_rank);
        break;
    case ULNA_EDGE_WORLD:
        break;
    }
}

/* ---- one variable, and the matrices for it --------------------------------------------------------------------- */

/* The edge as a function of its variables: the derivative with respect to one variable, or the value. */
typedef struct column {
    double t[10], c[10], b[10]; /* hinges: in their own frame; others: t in the parent's frame */
    double y[10];               /* translations: Y */
    double square;              /* translations: E[x^2] */
    double one, place[3], P[6]; /* of the parent; of the node for FREE */
    double N[49], r[3];
    double child[STATE];
} column;

/* face (e_i e_kT + e_k e_iT) faceT, halved on the diagonal: number `pair` of a basis of the symmetric matrices in the range */
static void pair_in_face(const ulna_relax_edge *edge, int pair, double t[10])
{
    double Z[16];
    int i = 0, k;
    while (pair >= edge->rank - i)
        pair -= edge->rank - i++;
    k = i + pair;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            const double *fa = edge->face + a * edge->rank, *fb = edge->face + b * edge->rank;
            Z[4 * a + b] = i == k ? fa[i] * fb[i] : fa[i] * fb[k] + fa[k] * fb[i];
        }
    ulna_relax_vector(Z, t);
}

/* R times a vector, R in (tau, R) form */
static void rotate_vector(const double t[10], const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = t[1 + i] * v[0] + t[4 + i] * v[1] + t[7 + i] * v[2];
}

static void in_frame(const double F[9], const double R[9], double t[10])
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            t[1 + 3 * k + i] = R[i] * F[k] + R[3 + i] * F[3 + k] + R[6 + i] * F[6 + k];
}

/* Copies the parent's state (or a change of it, with one = 0) to the column. */
static void take_state(const ulna_relaxation *r, const ulna_relax_edge *edge, const double *s, double one, column *c)
{
    c->one = c->t[0] = one;
    if (edge->edge == ULNA_EDGE_HINGE)
        in_frame(edge->frame, s, c->t);
    else
        memcpy(c->t + 1, s, 9 * sizeof *s);
    memcpy(c->place, s + 9, 3 * sizeof *s);
    if (r->kind == ULNA_RELAX_BONES)
        memcpy(c->P, s + 12, 6 * sizeof *s);
    memcpy(c->child, s, (size_t)r->states * sizeof *s);
}

/* The numbers that N is given by: see condition. */
static void given_of(const ulna_relax_edge *edge, const column *c, double given[GIVEN])
{
    const double l = edge->length, middle = edge->middle / l, half = edge->half / l;
    given[0] = c->one;
    memcpy(given + 1, c->place, 3 * sizeof *given);
    memcpy(given + 4, c->r, 3 * sizeof *given);
    memcpy(given + 7, c->P, 6 * sizeof *given);
    if (edge->edge == ULNA_EDGE_BONE)
        given[13] = c->one;
    else if (edge->limited)
        given[13] = middle * middle * c->one + 2 * middle * half * c->y[0] + half * half * c->square;
    else
        given[13] = c->square;
}

/* The node's P and p from N. */
static void move_child(const ulna_relaxation *r, const ulna_relax_edge *edge, column *c)
{
    const double l = edge->length;
    for (int i = 0; i < 3; i++)
        c->child[9 + i] = c->place[i] + l * c->r[i];
    if (r->kind != ULNA_RELAX_BONES)
        return;
    double *P = c->child + 12;
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++)
            *P++ += l * (c->N[7 * (1 + i) + 4 + k] + c->N[7 * (1 + k) + 4 + i] + l * c->N[7 * (4 + i) + 4 + k]);
}

/* Y, E[x^2] and N of a translation, and the child's p and P (top of this file; relax_tree.h). */
static void translation_column(const ulna_relaxation *r, const ulna_relax_edge *edge, const moment_map *map,
                               int variable, column *c)
{
    const int first = edge->limited ? edge->rank * (edge->rank + 1) / 2 : edge->line_rank;
    const double l = edge->length;
    double rotated[3], moved[3], given[GIVEN] = {0};
    if (variable < first && edge->limited)
        pair_in_face(edge, variable, c->y);
    if (variable == first && r->kind == ULNA_RELAX_BONES && variable < edge->controls)
        c->square = 1;
    rotate_vector(c->t, edge->direction, rotated);
    rotate_vector(c->y, edge->direction, moved);
    for (int i = 0; i < 3; i++) {
        if (edge->limited)
            c->r[i] = (edge->middle * rotated[i] + edge->half * moved[i]) / l;
        else if (variable < first)
            c->r[i] = edge->line[i * edge->line_rank + variable];
    }
    if (r->kind == ULNA_RELAX_BONES) {
        given_of(edge, c, given);
        if (variable > first && variable < edge->controls)
            moments_from_pairs(edge->moment_face, map->size, map->basis[map->rank + variable - first - 1], c->N);
        else
            moments_for(edge, map, given, c->N);
    }
    move_child(r, edge, c);
}

/* N of a bone, and the child's p and P (relax_tree.h). */
static void bone_column(const ulna_relaxation *r, const ulna_relax_edge *edge, const moment_map *map, int variable,
                        column *c)
{
    double given[GIVEN];
    rotate_vector(c->t, edge->direction, c->r);
    given_of(edge, c, given);
    if (variable < edge->controls)
        moments_from_pairs(edge->moment_face, map->size, map->basis[map->rank + variable], c->N);
    else
        moments_for(edge, map, given, c->N);
    move_child(r, edge, c);
}

/* C', B' and the child's columns of a hinge (relax_tree.h). */
static void hinge_column(const ulna_relax_edge *edge, int variable, column *c)
{
    const int pairs = edge->rank * (edge->rank + 1) / 2;
    const double l = edge->lambda;
    if (variable < pairs)
        pair_in_face(edge, variable, c->c);
    else if (variable < 2 * pairs)
        pair_in_face(edge, variable - pairs, c->b);
    for (int i = 0; i < 3; i++) {
        c->child[i] = c->t[1 + i];
        c->child[3 + i] = c->t[4 + i] + 2 * l * (c->b[7 + i] - l * c->c[4 + i]);
        c->child[6 + i] = c->t[7 + i] + 2 * l * (-c->b[4 + i] - l * c->c[7 + i]);
    }
}

/* FREE and BALL: the controls are the node's state itself. */
static void root_column(const ulna_relaxation *r, const ulna_relax_edge *edge, int variable, column *c)
{
    const int taken = edge->edge == ULNA_EDGE_FREE ? r->states : 9;
    c->t[0] = c->one = 0;
    memset(c->child, 0, (size_t)taken * sizeof *c->child);
    memset(c->t, 0, sizeof c->t);
    if (edge->edge == ULNA_EDGE_FREE) {
        memset(c->place, 0, sizeof c->place);
        memset(c->P, 0, sizeof c->P);
    }
    if (variable >= edge->controls)
        return;
    c->child[variable] = 1;
    *(variable < 9 ? &c->t[1 + variable] : variable < 12 ? &c->place[variable - 9] : &c->P[variable - 12]) = 1;
}

/* ---- blocks -------------------------------------------------------------------------------------------------- */

static void combine(double x, const double *a, double y, const double *b, double *out)
{
    for (int i = 0; i < 10; i++)
        out[i] = x * a[i] + y * b[i];
}

static void place_block(const double Z[16], int row, int column_, double *W)
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            W[8 * (row + i) + column_ + k] = Z[4 * i + k];
}

static void square_block(const column *c, double *full)
{
    full[0] = c->one;
    for (int i = 0, at = 0; i < 3; i++) {
        full[1 + i] = full[4 * (1 + i)] = c->place[i];
        for (int k = i; k < 3; k++, at++)
            full[4 * (1 + i) + 1 + k] = full[4 * (1 + k) + 1 + i] = c->P[at];
    }
}

/* Number `which` of the edge's blocks, in full. */
static void full_block(const ulna_relax_edge *edge, int which, const column *c, double *full)
{
    const double l2 = edge->lambda * edge->lambda;
    double t[10], Z[16];
    if (edge->edge == ULNA_EDGE_HINGE && which == 0) {
        combine(1, c->t, -l2, c->c, t);
        ulna_relax_matrix(t, Z);
        place_block(Z, 0, 0, full);
        ulna_relax_matrix(c->b, Z);
        place_block(Z, 0, 4, full);
        place_block(Z, 4, 0, full);
        ulna_relax_matrix(c->c, Z);
        place_block(Z, 4, 4, full);
    } else if (edge->edge == ULNA_EDGE_HINGE) {
        combine(1, c->t, -edge->nu, c->c, t);
        ulna_relax_matrix(t, full);
    } else if (edge->edge == ULNA_EDGE_FREE || edge->edge == ULNA_EDGE_BALL) {
        if (which == 0)
            ulna_relax_matrix(c->t, full);
        else
            square_block(c, full);
    } else if (edge->edge == ULNA_EDGE_BONE || edge->block[which].full == 7) {
        memcpy(full, c->N, sizeof c->N);
    } else if (edge->block[which].full == 4) {
        combine(1, c->t, which == 0 ? 1 : -1, c->y, t);
        ulna_relax_matrix(t, full);
    } else if (edge->block[which].full == 2) {
        full[0] = c->one;
        full[1] = full[2] = c->y[0];
        full[3] = c->square;
    } else
        full[0] = c->one - c->square;
}

void ulna_relax_within(int full, int size, const double *phi, const double *A, double *out)
{
    double Ap[64];
    for (int i = 0; i < full; i++)
        for (int k = 0; k < size; k++) {
            Ap[i * size + k] = 0;
            for (int l = 0; l < full; l++)
                Ap[i * size + k] += A[i * full + l] * phi[l * size + k];
        }
    for (int i = 0; i < size; i++)
        for (int k = 0; k < size; k++) {
            out[i * size + k] = 0;
            for (int l = 0; l < full; l++)
                out[i * size + k] += phi[l * size + i] * Ap[l * size + k];
        }
}

/* An orthonormal basis of the block's range. */
static void basis_of(const ulna_relax_edge *edge, int which, double *basis)
{
    const ulna_relax_block *block = &edge->block[which];
    const int n = block->full, m = block->size;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            basis[i * m + k] = i == k;
    if (n == 7)
        memcpy(basis, edge->moment_face, (size_t)n * (size_t)m * sizeof *basis);
    else if (n == 4 && m < 4)
        memcpy(basis, edge->face, (size_t)n * (size_t)m * sizeof *basis);
    else if (n == 8 && m < 8) {
        memset(basis, 0, (size_t)n * (size_t)m * sizeof *basis);
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < m / 2; k++)
                basis[i * m + k] = basis[(4 + i) * m + m / 2 + k] = edge->face[i * (m / 2) + k];
    }
}

/* The edge at the first point; `shift` and `spread` are those of the root above it. */
static void begin_column(const ulna_relaxation *r, const ulna_relax_edge *edge, const double *parent,
                         const double *shift, double spread, column *c)
{
    *c = (column){.one = 1};
    take_state(r, edge, parent, 1, c);
    if (edge->edge == ULNA_EDGE_HINGE)
        combine(edge->gamma, c->t, 0, c->t, c->c);
    if (edge->edge == ULNA_EDGE_FREE || edge->edge == ULNA_EDGE_BALL) {
        const double any[10] = {1};
        memcpy(c->t, any, sizeof any);
    }
    if (edge->edge == ULNA_EDGE_FREE) {
        memcpy(c->place, shift, 3 * sizeof *shift);
        for (int i = 0, at = 0; i < 3; i++)
            for (int k = i; k < 3; k++)
                c->P[at++] = shift[i] * shift[k] + (i == k ? spread : 0);
    }
    if (edge->edge == ULNA_EDGE_TRANSLATION)
        c->square = edge->limited ? 1.0 / 3 : edge->square;
    if (edge->edge != ULNA_EDGE_TRANSLATION && edge->edge != ULNA_EDGE_BONE)
        return;
    rotate_vector(c->t, edge->direction, c->r);
    c->N[0] = 1;
    for (int i = 0, at = 0; i < 3; i++) {
        c->r[i] *= edge->mean;
        c->N[1 + i] = c->N[7 * (1 + i)] = c->place[i];
        c->N[4 + i] = c->N[7 * (4 + i)] = c->r[i];
        for (int k = i; k < 3; k++, at++) {
            c->N[7 * (1 + i) + 1 + k] = c->N[7 * (1 + k) + 1 + i] = c->P[at];
            c->N[7 * (4 + i) + 4 + k] = c->N[7 * (4 + k) + 4 + i] = edge->Q[at];
        }
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            c->N[7 * (1 + i) + 4 + k] = c->N[7 * (4 + k) + 1 + i] = edge->D[3 * i + k] + shift[i] * c->r[k];
}

/* phi = basis L^-T and back = basis L, with L LT = basisT S basis */
static void normalise(const ulna_relax_block *block, const double *basis, const double *S)
{
    const int n = block->full, m = block->size;
    double inside[64], L[64];
    ulna_relax_within(n, m, basis, S, inside);
    memcpy(block->phi, basis, (size_t)n * (size_t)m * sizeof *basis);
    memcpy(block->back, basis, (size_t)n * (size_t)m * sizeof *basis);
    if (!ulna_relax_cholesky(m, inside, L))
        return;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++) {
            block->back[i * m + k] = 0;
            for (int l = k; l < m; l++)
                block->back[i * m + k] += basis[i * m + l] * L[l * m + k];
            for (int l = 0; l < k; l++)
                block->phi[i * m + k] -= L[k * m + l] * block->phi[i * m + l];
            block->phi[i * m + k] /= L[k * (m + 1)];
        }
}

void ulna_relax_dense_map(const ulna_relaxation *r, ulna_relax_edge *edge)
{
    static const double nowhere[3] = {0};
    const int variables = edge->controls + r->states,
              moves = edge->edge == ULNA_EDGE_TRANSLATION || edge->edge == ULNA_EDGE_BONE;
    double full[64] = {0}, basis[64], parent[STATE];
    moment_map map = {0};
    column c;
    if (moves && r->kind == ULNA_RELAX_BONES)
        map_moments(edge, &map);
    edge->amplify = 1;
    for (int i = 0; i < map.rank; i++)
        edge->amplify = fmax(edge->amplify, 1 / map.lower[i][i]);
    memcpy(parent, r->start + (size_t)edge->parent * STATE, sizeof parent);
    for (int i = 12; i < STATE && edge->root; i += i == 12 ? 3 : 2)
        parent[i] += 1;
    begin_column(r, edge, parent, nowhere, 1, &c);
    for (int b = 0; b < edge->block_count; b++) {
        full_block(edge, b, &c, full);
        basis_of(edge, b, basis);
        normalise(&edge->block[b], basis, full);
    }
    for (int v = 0; v < variables; v++) {
        double s[STATE] = {0};
        c = (column){0};
        if (v >= edge->controls)
            s[v - edge->controls] = 1;
        take_state(r, edge, s, 0, &c);
        if (edge->edge == ULNA_EDGE_HINGE)
            hinge_column(edge, v, &c);
        else if (edge->edge == ULNA_EDGE_TRANSLATION)
            translation_column(r, edge, &map, v, &c);
        else if (edge->edge == ULNA_EDGE_BONE)
            bone_column(r, edge, &map, v, &c);
        else
            root_column(r, edge, v, &c);
        for (int i = 0; i < r->states; i++)
            edge->child[i * variables + v] = c.child[i];
        for (int b = 0; b < edge->block_count; b++) {
            ulna_relax_block *block = &edge->block[b];
            const int square = block->size * block->size;
            double *E = block->E + (size_t)v * (size_t)square, sum = 0;
            full_block(edge, b, &c, full);
            ulna_relax_within(block->full, block->size, block->phi, full, E);
            for (int i = 0; i < square; i++)
                sum += fabs(E[i]);
            if (sum > 0)
                block->used[block->used_count++] = v;
        }
    }
}

void ulna_relax_begin_blocks(const ulna_relaxation *r, int node, int count, double *const *full)
{
    const ulna_relax_edge *edge = &r->edges[node];
    column c;
    begin_column(r, edge, r->state + (size_t)edge->parent * (size_t)r->states, r->shift + 3 * (size_t)edge->root,
                 r->spread[edge->root], &c);
    for (int b = 0; b < count; b++)
        full_block(edge, b, &c, full[b]);
}

void ulna_relax_dense_begin(const ulna_relaxation *r, int node)
{
    const ulna_relax_edge *edge = &r->edges[node];
    double memory[ULNA_RELAX_BLOCKS][64] = {{0}}, *full[ULNA_RELAX_BLOCKS];
    for (int b = 0; b < ULNA_RELAX_BLOCKS; b++)
        full[b] = memory[b];
    ulna_relax_begin_blocks(r, node, edge->block_count, full);
    for (int b = 0; b < edge->block_count; b++) {
        const ulna_relax_block *block = &edge->block[b];
        ulna_relax_within(block->full, block->size, block->phi, full[b], block->S);
    }
}

void ulna_relax_without(int full, int size, const double *basis, const double *A, double *out)
{
    for (int i = 0; i < full; i++)
        for (int k = 0; k < full; k++) {
            double sum = 0;
            for (int a = 0; a < size; a++)
                for (int b = 0; b < size; b++)
                    sum += basis[i * size + a] * A[a * size + b] * basis[k * size + b];
            out[i * full + k] = sum;
        }
}

void ulna_relax_dense_full(const ulna_relax_edge *edge, int which, double *full)
{
    const ulna_relax_block *block = &edge->block[which];
    ulna_relax_without(block->full, block->size, block->back, block->S, full);
}
