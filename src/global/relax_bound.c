/*
 * The bound. For any x^ and any X_b >= 0, f being convex and t its tangent at x^, t(x) = f(x^) + f'(x^)(x - x^), any
 * feasible x has
 *
 *   f(x) >= t(x) - sum <X_b, S_b(x)> = t(x0) - sum <X_b, S_b(x0)> + residual (x - x0),   residual = f'(x^) - E*(X).
 *
 * Nothing else is needed: neither x^ nor X has to be optimal, and x^ need not be feasible. The right-hand side is
 * evaluated at x0, the first point of the solve, and not at x^: the blocks of x^ are sums of steps. If steps lead to
 * positions a thousand times farther away than the goals, and back, their rounding errors remain in these sums. The
 * blocks of x0 are computed directly, from moments of about 1.
 *
 * The last term is bounded edge by edge by |residual| (|x| + |x0|), where x is the best solution: moments of unit
 * quaternions are bounded by their traces (relax_tree.h), and positions by `reach`: the cost of the best solution is at
 * most that of any other point, so every node is at most sqrt(cost / weight) from its goal, and the distance between two
 * nodes is at most the length of the bones between them, also in the mean square, since N >= 0. Finally an upper bound of
 * each rounding error is subtracted: of the cost, of the blocks, and of ranges that are not exact: a pose that is outside
 * a range by epsilon may have S_b < 0 by as much, which changes the bound by epsilon times X_b.
 */
#include <math.h>
#include <string.h>

#include "global/relax_tree.h"
#include "math/math3.h"

#define ROUNDING 1e-14 /* of sums of at most a hundred numbers */
#define SPREAD 30      /* largest distance of a pose / root mean square distance, over a few joints */

/* The largest root mean square distance between the ends of an edge. A position on which no goal depends is fixed at the
 * first point. */
static double edge_reach(const ulna_relaxation *r, int node)
{
    const ulna_relax_edge *edge = &r->edges[node];
    switch (edge->edge) {
    case ULNA_EDGE_FREE:
        return r->frozen[node] ? r->reach[0] + 1 : INFINITY;
    case ULNA_EDGE_BONE:
        return edge->length;
    case ULNA_EDGE_TRANSLATION:
        return edge->limited ? edge->length : r->frozen[node] ? edge->length * sqrt(edge->square) : INFINITY;
    default:
        return 0;
    }
}

/* The largest root mean square distance from the origin of each node in the best solution. known: an upper bound of the
 * lowest cost. */
void ulna_relax_find_reach(ulna_relaxation *r, double known)
{
    double least = -(double)r->count * r->posture;
    for (int i = 0; i < 9 * r->count; i++)
        least -= fabs(r->rotation_cost[i]);
    for (int n = 0; n < r->count; n++)
        r->reach[n] = r->weight[n] > 0 ? ulna_norm(r->goal + 3 * n) + sqrt((known - least) / r->weight[n]) : INFINITY;
    r->reach[0] = ulna_norm(r->state + 9);
    for (int n = r->count - 1; n > 0; n--) {
        const ulna_relax_edge *edge = &r->edges[n];
        double above = r->reach[n] + edge_reach(r, n);
        if (edge->edge == ULNA_EDGE_TRANSLATION && edge->skew < INFINITY)
            above = fmin(above, r->reach[0] + edge->skew * (r->reach[n] + r->reach[0]));
        r->reach[edge->parent] = fmin(r->reach[edge->parent], above);
    }
    for (int n = 1; n < r->count; n++)
        r->reach[n] = fmin(r->reach[n], r->reach[r->edges[n].parent] + edge_reach(r, n));
}

/* At the first point: E |p|^2 (F3) or |E p|^2 (F2) */
static double first_square(const ulna_relaxation *r, int node)
{
    const double *s = r->first + (size_t)node * (size_t)r->states;
    return r->kind == ULNA_RELAX_BONES ? s[12] + s[15] + s[17] : ulna_dot(s + 9, s + 9);
}

/*
 * An upper bound of |x| + |x0| for the controls of an edge. Hinges: c and b have norms of at most 2, e of 4. Bones: Q
 * has a norm of at most 1, D of sqrt(E |p|^2), e of twice that and the length; dense, their controls are a part of N
 * in an orthonormal basis, and N's norm is at most its trace. Slides: N again, with r of at most 1 if limited, and Y,
 * x^2.
 */
static double controls_size(const ulna_relaxation *r, int node)
{
    const ulna_relax_edge *edge = &r->edges[node];
    const double reach = r->reach[edge->parent], first = first_square(r, edge->parent), here = r->reach[node];
    double far;
    switch (edge->edge) {
    case ULNA_EDGE_FREE:
        return 4 + here + here * here + sqrt(first_square(r, node)) + first_square(r, node);
    case ULNA_EDGE_BONE:
        return edge->how == ULNA_RELAX_BONE_LANES ? 2 + 3 * (reach + sqrt(first)) + 2 * edge->length
                                                  : 4 + reach * reach + first;
    case ULNA_EDGE_TRANSLATION:
        far = edge->limited ? 0 : (here + reach) / edge->length;
        return 14 + reach * reach + first + far + far * far +
               (edge->limited ? 0 : 2 * (first + first_square(r, node)) + 2);
    default:
        return 10;
    }
}

static double residual_of(const ulna_relaxation *r, const ulna_relax_edge *edge)
{
    double sum = 0;
    if (edge->how == ULNA_RELAX_PASS)
        return 0;
    for (int i = 0; i < edge->controls; i++)
        sum += edge->k[i] * edge->k[i];
    if (edge->how != ULNA_RELAX_DENSE) {
        const ulna_relax_group *group = &r->groups[edge->group];
        for (int i = 0; i < group->privates; i++) {
            const double k = group->gradient[i * ULNA_RELAX_LANES + edge->lane];
            sum += k * k;
        }
    }
    return sqrt(sum);
}

/* ---- rounding ---------------------------------------------------------------------------------------------------- */

/* The largest entry of a block in full, of any pose that can be the best one. */
static double block_size(const ulna_relaxation *r, const ulna_relax_edge *edge, int node, int full)
{
    const double above = r->reach[edge->parent], here = r->reach[node];
    if (full != 7)
        return edge->edge == ULNA_EDGE_FREE && r->kind == ULNA_RELAX_BONES ? 2 + here * here : 2;
    const double far = edge->edge == ULNA_EDGE_TRANSLATION && !edge->limited ? (here + above) / edge->length : 1;
    return (1 + above * above + far * far) * edge->amplify;
}

/*
 * Rounding error of <X, S> of a block, divided by ROUNDING. Entry i, k of S = phiT full phi has an error of at most
 * ROUNDING c_i c_k size, with c the column sums of |phi|: large where the range is narrow. |X_ik| <= sqrt(X_ii X_kk),
 * since X is positive semidefinite. The last term is the rounding of the product itself.
 */
static double dense_error(const ulna_relaxation *r, int node, int which)
{
    const ulna_relax_edge *edge = &r->edges[node];
    const ulna_relax_block *block = &edge->block[which];
    double sum = 0, trace_X = 0, trace_S = 0;
    for (int i = 0; i < block->size; i++) {
        double column = 0;
        for (int k = 0; k < block->full; k++)
            column += fabs(block->phi[k * block->size + i]);
        trace_X += block->X[i * (block->size + 1)];
        trace_S += block->first[i * (block->size + 1)];
        sum += column * sqrt(fmax(block->X[i * (block->size + 1)], 0));
    }
    return sum * sum * block_size(r, edge, node, block->full) + trace_X * trace_S;
}

static double lane_error(const ulna_relaxation *r, const ulna_relax_edge *edge, int node)
{
    const ulna_relax_group *group = &r->groups[edge->group];
    double traces[4] = {0};
    for (int i = 0; i < group->size; i++) {
        const int at = i * (group->size + 1) * ULNA_RELAX_LANES + edge->lane;
        traces[0] += group->X[at];
        traces[1] += group->first[at];
    }
    for (int i = 0; i < 4 && edge->limited && group->size == 8; i++) {
        const int at = 5 * i * ULNA_RELAX_LANES + edge->lane;
        traces[2] += group->XV[at];
        traces[3] += group->firstV[at];
    }
    const double size = group->size == 8 ? 2 : block_size(r, edge, node, 7);
    return traces[0] * (size + traces[1]) + traces[2] * (size + traces[3]);
}

/* Rounding error of sum <X, S>, divided by ROUNDING. */
static double blocks_error(const ulna_relaxation *r)
{
    double sum = 0;
    for (int n = 1; n < r->count; n++) {
        const ulna_relax_edge *edge = &r->edges[n];
        for (int b = 0; b < edge->block_count; b++)
            sum += dense_error(r, n, b);
        if (edge->how == ULNA_RELAX_HINGE_LANES || edge->how == ULNA_RELAX_BONE_LANES)
            sum += lane_error(r, edge, n);
    }
    return sum;
}

/* F3: squares of positions are sums over the edges above, in which large numbers can cancel. The largest, times weights. */
static double squares_size(const ulna_relaxation *r)
{
    double largest = 0, weight = 0;
    for (int n = 0; n < r->count && r->kind == ULNA_RELAX_BONES; n++) {
        largest = fmax(largest, first_square(r, n));
        weight += r->weight[n];
    }
    return largest * weight;
}

/* The largest distance of poses from the ranges, which leave out directions of motion below a few millionths. */
static double out_of_range(const ulna_relaxation *r)
{
    double away = 0;
    for (int n = 1; n < r->count; n++)
        away += SPREAD * r->edges[n].dropped;
    return away;
}

/* How much this changes the cost of the best pose, which is at most `f`. */
static double loss_of_ranges(const ulna_relaxation *r, double f, double away)
{
    double lengths = 1, sum = 0;
    for (int n = 1; n < r->count && away > 0; n++)
        lengths += r->edges[n].length;
    for (int n = 1; n < r->count; n++) {
        const double w = r->weight[n];
        for (int i = 0; i < 9; i++)
            sum += fabs(r->rotation_cost[9 * n + i]) * away;
        sum += 2 * sqrt(w * fmax(f, 0)) * away * lengths + w * away * lengths * away * lengths;
    }
    return sum;
}

/* ---- the bound --------------------------------------------------------------------------------------------------- */

/* w (p - y)^2 of one coordinate; for F2 its tangent, w d (2 (p - y) - d) with d of x^. That is a lower bound for every d, so
 * rounding errors of d do not matter. */
static double place_tangent(const ulna_relaxation *r, int node, int i, const double *s, double *size)
{
    const double y = r->goal[3 * node + i], p = s[ULNA_RELAX_PLACE + i], w = r->weight[node];
    if (r->kind == ULNA_RELAX_BONES) {
        const double square = s[ULNA_RELAX_SQUARE + (i == 0 ? 0 : 1 + 2 * i)];
        *size += w * (square + y * y);
        return w * (square - 2 * y * p + y * y);
    }
    const double d = r->state[(size_t)node * (size_t)r->states + ULNA_RELAX_PLACE + (size_t)i] - y;
    *size += w * fabs(d) * (fabs(d) + 2 * fabs(p) + 2 * fabs(y));
    return w * d * (2 * (p - y) - d);
}

double ulna_relax_tangent(const ulna_relaxation *r, const double *states, double *size)
{
    double sum = 0;
    *size = 0;
    for (int n = 0; n < r->count; n++) {
        const double *s = states + (size_t)n * (size_t)r->states;
        for (int i = 0; i < 9; i++) {
            sum += r->rotation_cost[9 * n + i] * s[i];
            *size += fabs(r->rotation_cost[9 * n + i]);
        }
        for (int i = 0; i < 3 && r->weight[n] > 0; i++)
            sum += place_tangent(r, n, i, s, size);
        if (r->edges[n].edge == ULNA_EDGE_HINGE)
            *size += r->posture;
    }
    return sum;
}

/* The cost of posture at the first point, where C' = gamma Z. */
static double first_posture(const ulna_relaxation *r)
{
    double sum = 0;
    for (int n = 1; n < r->count && r->posture != 0; n++) {
        const ulna_relax_edge *edge = &r->edges[n];
        if (edge->edge == ULNA_EDGE_HINGE)
            sum += r->posture * (2 * edge->lambda * edge->lambda * edge->gamma - 1);
    }
    return sum;
}

/* Sum of <A, B> over the edges of a group; counts: 1 for each lane that counts, else 0 */
static double lanes_inner(int count, const double *A, const double *B, const double *counts)
{
    double sum[ULNA_RELAX_LANES] = {0}, all = 0;
    for (int i = 0; i < count; i++)
        for (int l = 0; l < ULNA_RELAX_LANES; l++)
            sum[l] += A[i * ULNA_RELAX_LANES + l] * B[i * ULNA_RELAX_LANES + l];
    for (int l = 0; l < ULNA_RELAX_LANES; l++)
        all += counts[l] * sum[l];
    return all;
}

/* sum <X_b, S_b(x0)> */
static double multipliers_at_first(const ulna_relaxation *r)
{
    double sum = 0;
    for (int n = 1; n < r->count; n++)
        for (int b = 0; b < r->edges[n].block_count; b++) {
            const ulna_relax_block *block = &r->edges[n].block[b];
            for (int i = 0; i < block->size * block->size; i++)
                sum += block->X[i] * block->first[i];
        }
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++) {
        const ulna_relax_group *group = &r->groups[g];
        sum += lanes_inner(group->size * group->size, group->X, group->first, group->live);
        if (group->size == 8)
            sum += lanes_inner(16, group->XV, group->firstV, group->limited);
    }
    return sum;
}

double ulna_relax_prove(const ulna_relaxation *r, double known, double gap)
{
    double loss = 0, size;
    for (int n = 1; n < r->count; n++) {
        const ulna_relax_edge *edge = &r->edges[n];
        const double residual = residual_of(r, edge);
        double most = residual != 0 ? residual * controls_size(r, n) : 0;
        if (most > 0.01 * gap && (edge->edge == ULNA_EDGE_FREE || edge->edge == ULNA_EDGE_BALL))
            most = fmin(most, ulna_relax_root_loss(r, n));
        loss += most;
    }
    const double away = out_of_range(r), product = multipliers_at_first(r);
    const double tangent = ulna_relax_tangent(r, r->first, &size) + first_posture(r);
    const double bound = tangent - product - loss - loss_of_ranges(r, known, away) -
                         ROUNDING * (size + product + squares_size(r)) - (ROUNDING + away) * blocks_error(r);
    return bound == bound ? bound : -INFINITY;
}

/* =============================================================================================================== */

/*
 * The first multipliers: in the interior of their cones, and such that the residual is 0, in closed form.
 *
 * From leaves to root, with g = (g_R, g_p, g_P) the gradient of the cost and of the edges below with respect to a node's
 * state. g_P is always a multiple of the identity, and G is the matrix with <G, Z> = g_R R.
 *   hinges        X_W = ([1 Ra]T G [1 Ra], scaled) + diag(xa, xc), X_V = xv, xc = lambda^2 (xa + 2 posture) + nu xv,
 *                 xa > 2 |G|. Their gradient with respect to the parent's Z is a multiple of its trace, which is
 *                 constant. g_p and g_P are added to the parent's.
 *   bones         X_D = l g_P, X_P = g_P / 2, X_Q large enough, since the trace of Q is constant. g_P / 2 and g_p are
 *                 added to the parent's, and l g_p dT to its g_R.
 *   translations  as bones for N; the multiplier of the trace is distributed to E[x^2] and Y, and Y to Z + Y and Z - Y.
 *   roots         take the rest.
 * For translations without limits below a root without goals there is no such point; the method then starts with a
 * residual.
 */

static const double room = 0.1;     /* distance from the border of the cones of rotations */
static const double constant = 0.3; /* entry of X for the entry 1 of the moments */

static void put_block(const ulna_relaxation *r, const ulna_relax_edge *edge, int which, const double *full)
{
    if (edge->how == ULNA_RELAX_DENSE) {
        const ulna_relax_block *block = &edge->block[which];
        ulna_relax_within(block->full, block->size, block->back, full, block->X);
        return;
    }
    const ulna_relax_group *group = &r->groups[edge->group];
    const int size = which ? 4 : group->size;
    for (int i = 0; i < size * size; i++)
        (which ? group->XV : group->X)[i * ULNA_RELAX_LANES + edge->lane] = full[i];
}

/* The matrix G with <G, Z> = g R; returns its norm. */
static double force_matrix(const double *g, double scale, double G[16])
{
    double t[10] = {0}, sum = 0;
    for (int i = 0; i < 9; i++)
        t[1 + i] = 4 * scale * g[i];
    ulna_relax_matrix(t, G);
    for (int i = 0; i < 16; i++)
        sum += G[i] * G[i];
    return sqrt(sum);
}

static void put_rotation(const ulna_relaxation *r, const ulna_relax_edge *edge, const double *g)
{
    double G[16];
    const double norm = force_matrix(g, 1, G);
    for (int i = 0; i < 4; i++)
        G[5 * i] += 2 * norm + room;
    put_block(r, edge, 0, G);
}

static void hinge_multipliers(const ulna_relaxation *r, const ulna_relax_edge *edge, const double *g)
{
    /* q i for q = (x, y, z, w) is (w, z, -y, -x) */
    static const int from[4] = {3, 2, 1, 0};
    static const double sign[4] = {1, 1, -1, -1};
    const double l = edge->lambda;
    double G[16], W[64], V[16] = {0};
    const double xa = 2 * force_matrix(g, 1, G) + room, xv = edge->limited ? 0.2 * xa : 0;
    const double xc = l * l * (xa + 2 * r->posture) + edge->nu * xv;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            /* Ra has its one of row i in column from[i] */
            W[8 * i + k] = G[4 * i + k] + (i == k ? xa : 0);
            W[8 * i + 4 + from[k]] = W[8 * (4 + from[k]) + i] = l * sign[k] * G[4 * i + k];
            W[8 * (4 + from[i]) + 4 + from[k]] = l * l * sign[i] * sign[k] * G[4 * i + k] + (i == k ? xc : 0);
        }
    for (int i = 0; i < 4; i++)
        V[5 * i] = edge->limited ? xv : 1;
    put_block(r, edge, 0, W);
    if (edge->limited || edge->how != ULNA_RELAX_DENSE)
        put_block(r, edge, 1, V);
}

/* X of N; returns the multiplier of the trace of Q. `gp` NULL unless E r is free. */
static double moment_multipliers(const ulna_relaxation *r, const ulna_relax_edge *edge, int which, double gP, double c,
                                 double xq, const double *gp)
{
    const double l = edge->length;
    double N[49] = {0};
    N[0] = constant;
    for (int i = 0; i < 3; i++) {
        N[8 * (1 + i)] = c;
        N[8 * (4 + i)] = xq;
        N[7 * (1 + i) + 4 + i] = N[7 * (4 + i) + 1 + i] = l * gP;
        if (gp)
            N[4 + i] = N[7 * (4 + i)] = l * gp[i] / 2;
        if (gp)
            N[0] += 2 * l * l * gp[i] * gp[i] / (4 * xq);
    }
    put_block(r, edge, which, N);
    return xq - l * l * gP;
}

static double take_square(double gP, double length, double *xq)
{
    const double c = 0.5 * fabs(gP) + 1e-3;
    *xq = 2 * length * length * gP * gP / c + 1e-3;
    return c;
}

static void translation_multipliers(const ulna_relaxation *r, const ulna_relax_edge *edge, const double *g, double *G)
{
    const int bones = r->kind == ULNA_RELAX_BONES;
    const double l = edge->length, middle = edge->middle / l, half = edge->half / l, *d = edge->direction;
    double xq, trace_cost = 0, force[9], K[16], plus[16], minus[16];
    const double c = take_square(bones ? g[12] : 0, l, &xq);
    if (bones) {
        if (!edge->limited)
            xq = fmax(l * l * g[12], 1e-3);
        trace_cost = moment_multipliers(r, edge, edge->limited ? 2 : 0, g[12], edge->limited ? c : 2 * g[12] + 1e-3, xq,
                                        edge->limited ? NULL : g + 9);
        G[12] -= edge->limited ? c : 2 * g[12] + 1e-3;
    }
    if (!edge->limited)
        return;
    for (int i = 0; i < 9; i++)
        force[i] = d[i / 3] * g[9 + i % 3];
    const double norm = force_matrix(force, edge->half, K), trace = 2 * middle * half * trace_cost;
    const double x = 0.5 * (norm + fabs(trace)) + room;
    for (int i = 0; i < 16; i++) {
        const double k = 0.5 * (K[i] - (i % 5 == 0 ? trace : 0));
        plus[i] = k + (i % 5 == 0 ? x : 0);
        minus[i] = -k + (i % 5 == 0 ? x : 0);
    }
    put_block(r, edge, 0, plus);
    put_block(r, edge, 1, minus);
    if (bones) {
        const double square[4] = {constant, 0, 0, room}, rest = half * half * trace_cost + room;
        put_block(r, edge, 3, square);
        put_block(r, edge, 4, &rest);
    }
    for (int i = 0; i < 9; i++)
        G[i] += edge->middle * force[i];
}

static void root_multipliers(const ulna_relaxation *r, const ulna_relax_edge *edge, const double *g)
{
    double P[16] = {0};
    put_rotation(r, edge, g);
    if (edge->edge != ULNA_EDGE_FREE || r->kind != ULNA_RELAX_BONES)
        return;
    const double gP = g[12] > 1e-9 ? g[12] : 1;
    P[0] = constant + ulna_dot(g + 9, g + 9) / (4 * gP);
    for (int i = 0; i < 3; i++) {
        P[5 * (1 + i)] = gP;
        P[1 + i] = P[4 * (1 + i)] = g[9 + i] / 2;
    }
    put_block(r, edge, 1, P);
}

void ulna_relax_first_multipliers(ulna_relaxation *r)
{
    const int ns = r->states;
    for (int n = r->count - 1; n > 0; n--) {
        const ulna_relax_edge *edge = &r->edges[n];
        const double *g = r->gradient + (size_t)n * (size_t)ns;
        double *G = r->gradient + (size_t)edge->parent * (size_t)ns, xq;
        const int rotates =
            edge->edge == ULNA_EDGE_HINGE || edge->edge == ULNA_EDGE_BALL || edge->edge == ULNA_EDGE_FREE;
        for (int i = rotates ? 9 : 0; i < ns; i++)
            G[i] += g[i];
        if (edge->edge == ULNA_EDGE_HINGE)
            hinge_multipliers(r, edge, g);
        else if (rotates)
            root_multipliers(r, edge, g);
        else if (edge->edge == ULNA_EDGE_TRANSLATION)
            translation_multipliers(r, edge, g, G);
        else {
            for (int i = 0; i < 9; i++)
                G[i] += edge->length * edge->direction[i / 3] * g[9 + i % 3];
            if (edge->how == ULNA_RELAX_PASS)
                continue;
            const double c = take_square(g[12], edge->length, &xq);
            moment_multipliers(r, edge, 0, g[12], c, xq, NULL);
            G[12] -= c;
        }
    }
}

/* ---- the residual of roots ----------------------------------------------------------------------------------- */

/* The least eigenvalue of X + more if it is negative, with the sign changed; else 0. */
static double shortfall(const ulna_relaxation *r, int node, int which, const double more[16])
{
    double S[64], X[64], values[4], vectors[16];
    ulna_relax_block_now(r, node, which, S, X);
    for (int i = 0; i < 16; i++)
        X[i] += more[i];
    ulna_relax_eigen(4, X, values, vectors);
    return fmax(0, -values[3]);
}

/*
 * The controls of roots are the entries of their blocks, so adding the residual, written as a matrix, to X makes it 0. That
 * lowers the bound by residual x0, and by the shortfall of X from being positive semidefinite times the block's trace.
 */
double ulna_relax_root_loss(const ulna_relaxation *r, int node)
{
    const ulna_relax_edge *edge = &r->edges[node];
    const double *k = edge->k, *s = r->first + (size_t)node * (size_t)r->states;
    const int place = edge->edge == ULNA_EDGE_FREE, bones = r->kind == ULNA_RELAX_BONES;
    double more[16], P[16] = {0}, loss = 0;
    if (place && !bones)
        return INFINITY; /* p of F2 has no block */
    force_matrix(k, 1, more);
    for (int i = 0; i < edge->controls; i++)
        loss += k[i] * s[i];
    loss += shortfall(r, node, 0, more);
    if (!place)
        return loss;
    for (int i = 0, at = 12; i < 3; i++) {
        P[1 + i] = P[4 * (1 + i)] = k[9 + i] / 2;
        for (int j = i; j < 3; j++, at++)
            P[4 * (1 + i) + 1 + j] = P[4 * (1 + j) + 1 + i] = i == j ? k[at] : k[at] / 2;
    }
    return loss + shortfall(r, node, 1, P) * (1 + r->reach[node] * r->reach[node]);
}
