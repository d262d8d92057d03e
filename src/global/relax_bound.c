/*
 * The bound. For any x^ and any X_b >= 0, and any feasible x, f being convex,
 *
 *   f(x) >= f(x^) + f'(x^)(x - x^) - sum <X_b, S_b(x)> = f(x^) - gap + residual (x - x^)
 *
 * with gap = sum <X_b, S_b(x^)> and residual = f'(x^) - E*(X). Nothing else is needed: x^ need not be optimal, nor X.
 * The last term is bounded edge by edge by |residual| (|x| + |x^|), where x is the best solution: moments of unit
 * quaternions are bounded by their traces, (relax_tree.h), and places by `reach`: the best solution costs no more than
 * any point, so every goal is at most sqrt(cost / weight) from its node, and nodes are at most the length of the bones
 * between them apart, in the mean square too, since N >= 0. What remains is rounding, and 1e-14 of all that was summed
 * is subtracted for it.
 */
#include <math.h>

#include "global/relax_tree.h"
#include "math/math3.h"

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

static double trace_of_X(const ulna_relaxation *r)
{
    double sum = 0;
    for (int n = 1; n < r->count; n++) {
        const ulna_relax_edge *edge = &r->edges[n];
        for (int b = 0; b < edge->block_count; b++)
            for (int i = 0; i < edge->block[b].size; i++)
                sum += edge->block[b].X[i * (edge->block[b].size + 1)];
    }
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++) {
        const ulna_relax_group *group = &r->groups[g];
        for (int i = 0; i < group->size * ULNA_RELAX_LANES; i++)
            sum += group->X[(i / ULNA_RELAX_LANES) * (group->size + 1) * ULNA_RELAX_LANES + i % ULNA_RELAX_LANES];
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
    const double bound = f - gap - loss - 1e-14 * (size + gap + trace_of_X(r));
    return bound == bound ? bound : -INFINITY;
}
