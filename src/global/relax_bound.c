/*
 * The bound. For any x^ and any X_b >= 0, and any feasible x, f being convex,
 *
 *   f(x) >= f(x^) + f'(x^)(x - x^) - sum <X_b, S_b(x)> = f(x^) - gap + residual (x - x^)
 *
 * with gap = sum <X_b, S_b(x^)> and residual = f'(x^) - E*(X). Nothing else is needed: x^ need not be optimal, nor X.
 * The last term is bounded edge by edge by |residual| (|x| + |x^|), where x is the best solution: moments of unit
 * quaternions are bounded by their traces, (relax_tree.h), and places by `reach`: the best solution costs no more than
 * any point, so every goal is at most sqrt(cost / weight) from its node, and nodes are at most the length of the bones
 * between them apart, in the mean square too, since N >= 0. What remains is rounding: of the cost, of the blocks, whose
 * matrices are computed to so many digits and no more, and of ranges that are not exact. An upper bound of each is
 * subtracted.
 */
#include <math.h>

#include "global/relax_tree.h"
#include "math/math3.h"

#define ROUNDING 1e-14 /* of sums of at most a hundred numbers */
#define SPREAD 30      /* from the mean square to any pose, over a few joints */

/* How far apart the ends of an edge can be, in the mean square. Where no goal feels the place, it may be fixed: as it
 * was to begin with. */
static double edge_reach(const ulna_relaxation *r, int node)
{
    const ulna_relax_edge *edge = &r->edges[node];
    switch (edge->edge) {
    case ULNA_EDGE_FREE:
        return r->frozen[node] ? r->reach[0] + 1 : INFINITY;
    case ULNA_EDGE_BONE:
        return edge->length;
    case ULNA_EDGE_SLIDE:
        return edge->limited ? edge->length : r->frozen[node] ? edge->length * sqrt(edge->square) : INFINITY;
    default:
        return 0;
    }
}

/* How far from the origin places of the best solution can be, in the mean square. known: a cost not below its own. */
void ulna_relax_find_reach(ulna_relaxation *r, double known)
{
    double least = -(double)r->count * r->posture;
    for (int i = 0; i < 9 * r->count; i++)
        least -= fabs(r->turn[i]);
    for (int n = 0; n < r->count; n++)
        r->reach[n] = r->weight[n] > 0 ? ulna_norm(r->goal + 3 * n) + sqrt((known - least) / r->weight[n]) : INFINITY;
    r->reach[0] = ulna_norm(r->state + 9);
    for (int n = r->count - 1; n > 0; n--) {
        const ulna_relax_edge *edge = &r->edges[n];
        double above = r->reach[n] + edge_reach(r, n);
        if (edge->edge == ULNA_EDGE_SLIDE && edge->skew < INFINITY)
            above = fmin(above, r->reach[0] + edge->skew * (r->reach[n] + r->reach[0]));
        r->reach[edge->parent] = fmin(r->reach[edge->parent], above);
    }
    for (int n = 1; n < r->count; n++)
        r->reach[n] = fmin(r->reach[n], r->reach[r->edges[n].parent] + edge_reach(r, n));
}

/* E |p|^2 of the current states, or |E p|^2 */
static double square_now(const ulna_relaxation *r, int node)
{
    const double *s = r->state + (size_t)node * (size_t)r->states;
    return r->kind == ULNA_RELAX_BONES ? s[12] + s[15] + s[17] : ulna_dot(s + 9, s + 9);
}

/*
 * An upper bound of |x| + |x^| for the controls of an edge. Hinges: c and b have norms of at most 2, e of 4. Bones: Q
 * has a norm of at most 1, D of sqrt(E |p|^2), e of twice that and the length; dense, their controls are a part of N
 * in an orthonormal basis, and N's norm is at most its trace. Slides: N again, with r of at most 1 if limited, and Y,
 * x^2.
 */
static double controls_size(const ulna_relaxation *r, int node)
{
    const ulna_relax_edge *edge = &r->edges[node];
    const double reach = r->reach[edge->parent], now = square_now(r, edge->parent), here = r->reach[node];
    double far;
    switch (edge->edge) {
    case ULNA_EDGE_FREE:
        return 4 + here + here * here + sqrt(square_now(r, node)) + square_now(r, node);
    case ULNA_EDGE_BONE:
        return edge->how == ULNA_RELAX_BONE_LANES ? 2 + 3 * (reach + sqrt(now)) + 2 * edge->length
                                                  : 4 + reach * reach + now;
    case ULNA_EDGE_SLIDE:
        far = edge->limited ? 0 : (here + reach) / edge->length;
        return 14 + reach * reach + now + far + far * far + (edge->limited ? 0 : 2 * (now + square_now(r, node)) + 2);
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

/* Of the entries of a block in full, for any pose that can be the best one. */
static double block_size(const ulna_relaxation *r, const ulna_relax_edge *edge, int node, int full)
{
    const double above = r->reach[edge->parent], here = r->reach[node];
    if (full != 7)
        return edge->edge == ULNA_EDGE_FREE && r->kind == ULNA_RELAX_BONES ? 2 + here * here : 2;
    const double far = edge->edge == ULNA_EDGE_SLIDE && !edge->limited ? (here + above) / edge->length : 1;
    return (1 + above * above + far * far) * edge->amplify;
}

/*
 * What <X, S> of a block can be off. S = phiT full phi is computed with an error of at most ROUNDING c_i c_k size in
 * entry i, k, c the sums of the columns of |phi|: large where the range is narrow. X being positive semidefinite,
 * |X_ik| <= sqrt(X_ii X_kk). The steps that are added to S have left as much of S itself.
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
        trace_S += block->S[i * (block->size + 1)];
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
        traces[1] += group->S[at];
    }
    for (int i = 0; i < 4 && edge->limited && group->size == 8; i++) {
        const int at = 5 * i * ULNA_RELAX_LANES + edge->lane;
        traces[2] += group->XV[at];
        traces[3] += group->SV[at];
    }
    const double size = group->size == 8 ? 2 : block_size(r, edge, node, 7);
    return traces[0] * (size + traces[1]) + traces[2] * (size + traces[3]);
}

static double rounding_of(const ulna_relaxation *r)
{
    double sum = 0;
    for (int n = 1; n < r->count; n++) {
        const ulna_relax_edge *edge = &r->edges[n];
        for (int b = 0; b < edge->block_count; b++)
            sum += dense_error(r, n, b);
        if (edge->how == ULNA_RELAX_HINGE_LANES || edge->how == ULNA_RELAX_BONE_LANES)
            sum += lane_error(r, edge, n);
    }
    return ROUNDING * sum;
}

/* Ranges leave out what moves by less than a few millionths: poses are that far from what the blocks hold. What it can
 * change of the cost of the best one, known to be at most `f`. */
static double loss_of_ranges(const ulna_relaxation *r, double f)
{
    double away = 0, lengths = 1, sum = 0;
    for (int n = 1; n < r->count; n++) {
        away += SPREAD * r->edges[n].dropped;
        lengths += r->edges[n].length;
    }
    if (away == 0)
        return 0;
    for (int n = 1; n < r->count; n++) {
        const double w = r->weight[n];
        for (int i = 0; i < 9; i++)
            sum += fabs(r->turn[9 * n + i]) * away;
        sum += 2 * sqrt(w * fmax(f, 0)) * away * lengths + w * away * lengths * away * lengths;
    }
    return sum;
}

double ulna_relax_prove(const ulna_relaxation *r, double f, double size, double gap)
{
    double loss = 0;
    for (int n = 1; n < r->count; n++) {
        const ulna_relax_edge *edge = &r->edges[n];
        const double residual = residual_of(r, edge);
        double most = residual != 0 ? residual * controls_size(r, n) : 0;
        if (most > 0.01 * gap && (edge->edge == ULNA_EDGE_FREE || edge->edge == ULNA_EDGE_BALL))
            most = fmin(most, ulna_relax_root_loss(r, n));
        loss += most;
    }
    const double bound = f - gap - loss - loss_of_ranges(r, f) - ROUNDING * (size + gap) - rounding_of(r);
    return bound == bound ? bound : -INFINITY;
}
