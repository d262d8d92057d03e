/*
 * The interior-point method, and the proof of its bounds.
 *
 * Source: S. Mehrotra's predictor-corrector in the HKM direction (C. Helmberg, F. Rendl, R. Vanderbei, H. Wolkowicz,
 * "An interior-point method for semidefinite programming", SIAM J. Optim. 6(2), 1996), on the tree:
 *
 *   minimise f(x) subject to S_b(x) >= 0: x are the controls of all edges, f is linear (F3) or has squares of places (F2)
 *   Newton:  (f'' + sum E (X_b . U_b) E) dx = -f' + E(sigma mu U - T),   dX = sigma mu U - X - X dS U - T
 *   with T = dX dS U of the predictor, all products symmetric. One Hessian per iteration, two right-hand sides.
 *
 * The bound. For any x^ and any X_b >= 0, and any feasible x, f being convex,
 *
 *   f(x) >= f(x^) + f'(x^)(x - x^) - sum <X_b, S_b(x)> = f(x^) - gap + residual (x - x^)
 *
 * with gap = sum <X_b, S_b(x^)> and residual = f'(x^) - E*(X). Nothing else is needed: x^ need not be optimal, nor X. The
 * last term is bounded edge by edge by |residual| (|x| + |x^|), where x is the best solution: moments of unit quaternions
 * are bounded by their traces, (relax_tree.h), and places by `reach`: the best solution costs no more than any
 * point, so every goal is at most sqrt(cost / weight) from its node, and nodes are at most the length of the bones between
 * them apart, in the mean square too, since N >= 0. What remains is rounding, and 1e-14 of all that was summed is
 * subtracted for it.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "global/relax_kernel.h"
#include "math/math3.h"

/* ---- the problem of this solve --------------------------------------------------------------------------------- */

static ulna_status check_goals(const ulna_relaxation *r, const ulna_reduced *tree)
{
    if (!tree || !tree->nodes || tree->count != r->count)
        return ULNA_ERR_ARGUMENT;
    for (int n = 0; n < r->count; n++) {
        const ulna_node *node = &tree->nodes[n];
        if (node->edge != r->edges[n].edge || (n > 0 && node->parent != r->edges[n].parent))
            return ULNA_ERR_ARGUMENT;
        if (!(node->weight >= 0 && node->weight < INFINITY) || (node->weight > 0 && !ulna_all_finite(node->goal, 3)) ||
            (node->has_turn && !ulna_all_finite(node->turn, 9)))
            return ULNA_ERR_NUMBER;
    }
    return ULNA_OK;
}

static double choose_cost_unit(const ulna_relaxation *r, const ulna_reduced *tree, double posture)
{
    double weight = 0, turn = 0;
    for (int n = 0; n < r->count; n++) {
        weight = fmax(weight, tree->nodes[n].weight);
        for (int i = 0; i < 9 && tree->nodes[n].has_turn; i++)
            turn = fmax(turn, fabs(tree->nodes[n].turn[i]));
    }
    const double unit = fmax(weight * r->unit * r->unit, turn);
    return unit > 0 && unit < INFINITY ? unit : posture > 0 ? posture : 1;
}

/* Goals, weights and rotation costs in units and frames of the relaxation. */
static void load_goals(ulna_relaxation *r, const ulna_reduced *tree, double posture)
{
    r->cost_unit = choose_cost_unit(r, tree, posture);
    r->posture = posture / r->cost_unit;
    for (int n = 0; n < r->count; n++) {
        const ulna_node *node = &tree->nodes[n];
        double turned[9] = {0};
        r->weight[n] = node->weight / r->cost_unit * r->unit * r->unit;
        for (int i = 0; i < 3; i++)
            r->goal[3 * n + i] = node->weight > 0 ? (node->goal[i] - r->origin[i]) / r->unit : 0;
        if (node->has_turn)
            ulna_multiply9(node->turn, r->edges[n].model, turned);
        for (int i = 0; i < 9; i++)
            r->turn[9 * n + i] = turned[3 * (i % 3) + i / 3] / r->cost_unit;
    }
}

/* Whether no goal feels the place of a node: then free places are left where they are. reach serves as a counter. */
static void find_frozen(ulna_relaxation *r)
{
    for (int n = 0; n < r->count; n++)
        r->reach[n] = r->weight[n];
    for (int n = r->count - 1; n > 0; n--)
        r->reach[r->edges[n].parent] += r->reach[n];
    for (int n = 1; n < r->count; n++) {
        const ulna_relax_edge *edge = &r->edges[n];
        const int loose = edge->edge == ULNA_EDGE_FREE || (edge->edge == ULNA_EDGE_SLIDE && !edge->limited);
        r->frozen[n] = loose && !(r->reach[n] > 0);
    }
}

/* Free roots begin amid their goals. */
static void place_roots(ulna_relaxation *r)
{
    memset(r->shift, 0, 3 * (size_t)r->count * sizeof *r->shift);
    memset(r->spread, 0, (size_t)r->count * sizeof *r->spread);
    for (int n = 1; n < r->count; n++) { /* reach[root] is still the sum of the weights */
        const int root = r->edges[n].root;
        for (int i = 0; i < 3 && root && r->weight[n] > 0; i++)
            r->shift[3 * root + i] += r->weight[n] * r->goal[3 * n + i] / r->reach[root];
    }
    for (int n = 1; n < r->count; n++) {
        const int root = r->edges[n].root;
        double square = 0;
        for (int i = 0; i < 3; i++) {
            const double away = r->goal[3 * n + i] - r->shift[3 * root + i];
            square += away * away;
        }
        if (root && r->weight[n] > 0)
            r->spread[root] = fmax(r->spread[root], square / 3);
        if (root == n)
            r->spread[root] = fmax(r->spread[root], 0.01);
    }
}

static void begin_states(ulna_relaxation *r)
{
    for (int n = 0; n < r->count; n++) {
        const double *start = r->start + (size_t)n * ULNA_RELAX_STATE;
        const int root = r->edges[n].root;
        const double *shift = r->shift + 3 * root;
        double *state = r->state + (size_t)(n * r->states);
        memcpy(state, start, (size_t)r->states * sizeof *state);
        for (int i = 0, at = 12; i < 3; i++) {
            state[9 + i] += shift[i];
            for (int k = i; k < 3 && r->states == ULNA_RELAX_STATE; k++, at++)
                state[at] += start[9 + i] * shift[k] + shift[i] * start[9 + k] + shift[i] * shift[k] +
                             (i == k ? r->spread[root] : 0);
        }
    }
}

/* ---- cost ---------------------------------------------------------------------------------------------------- */

static double trace_of_C(const ulna_relaxation *r, const ulna_relax_edge *edge)
{
    double sum = 0, W[64];
    if (edge->how == ULNA_RELAX_HINGE_LANES) {
        const double *S = r->groups[edge->group].S + edge->lane;
        for (int i = 4; i < 8; i++)
            sum += S[(size_t)(9 * i) * ULNA_RELAX_LANES];
        return sum;
    }
    ulna_relax_dense_full(edge, 0, W);
    return W[36] + W[45] + W[54] + W[63];
}

/* f of the current states; `size` is the sum of what was added, without signs. */
static double cost(const ulna_relaxation *r, double *size)
{
    double sum = 0;
    *size = 0;
    for (int n = 0; n < r->count; n++) {
        const double *s = r->state + (size_t)(n * r->states), *y = r->goal + 3 * n, w = r->weight[n];
        for (int i = 0; i < 9; i++) {
            sum += r->turn[9 * n + i] * s[i];
            *size += fabs(r->turn[9 * n + i]);
        }
        for (int i = 0; i < 3 && w > 0; i++) {
            const double square = r->kind == ULNA_RELAX_BONES ? s[i == 0 ? 12 : 13 + 2 * i] : s[9 + i] * s[9 + i];
            const double away = s[9 + i] - y[i];
            sum += r->kind == ULNA_RELAX_BONES ? w * (square - 2 * y[i] * s[9 + i] + y[i] * y[i]) : w * away * away;
            *size += w * (square + y[i] * y[i]);
        }
        if (r->posture != 0 && r->edges[n].edge == ULNA_EDGE_HINGE) {
            const double l = r->edges[n].lambda;
            sum += r->posture * (2 * l * l * trace_of_C(r, &r->edges[n]) - 1);
            *size += r->posture;
        }
    }
    return sum;
}

/* f' over the states, after the step times `ahead`. */
static void cost_gradient(ulna_relaxation *r, double ahead)
{
    for (int n = 0; n < r->count; n++) {
        const double *s = r->state + (size_t)(n * r->states), *y = r->goal + 3 * n, w = r->weight[n];
        const double *ds = r->step + (size_t)(n * r->states);
        double *g = r->gradient + (size_t)(n * r->states);
        memcpy(g, r->turn + 9 * n, 9 * sizeof *g);
        for (int i = 0; i < 3; i++)
            g[9 + i] = r->kind == ULNA_RELAX_BONES ? -2 * w * y[i] : 2 * w * (s[9 + i] + ahead * ds[9 + i] - y[i]);
        for (int i = 12; i < r->states; i++)
            g[i] = i == 12 || i == 15 || i == 17 ? w : 0;
    }
}

/* ---- bound --------------------------------------------------------------------------------------------------- */

/* How far apart the ends of an edge can be, in the mean square. Where no goal feels the place, it may be fixed: as it was to
 * begin with. */
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
static void find_reach(ulna_relaxation *r, double known)
{
    double least = -(double)r->count * r->posture;
    for (int i = 0; i < 9 * r->count; i++)
        least -= fabs(r->turn[i]);
    for (int n = 0; n < r->count; n++)
        r->reach[n] = r->weight[n] > 0 ? ulna_norm(r->goal + 3 * n) + sqrt((known - least) / r->weight[n]) : INFINITY;
    r->reach[0] = ulna_norm(r->state + 9);
    for (int n = r->count - 1; n > 0; n--)
        r->reach[r->edges[n].parent] = fmin(r->reach[r->edges[n].parent], r->reach[n] + edge_reach(r, n));
    for (int n = 1; n < r->count; n++)
        r->reach[n] = fmin(r->reach[n], r->reach[r->edges[n].parent] + edge_reach(r, n));
}

/* E |p|^2 of the current states, or |E p|^2 */
static double square_now(const ulna_relaxation *r, int node)
{
    const double *s = r->state + (size_t)(node * r->states);
    return r->kind == ULNA_RELAX_BONES ? s[12] + s[15] + s[17] : ulna_dot(s + 9, s + 9);
}

/*
 * An upper bound of |x| + |x^| for the controls of an edge. Hinges: c and b have norms of at most 2, e of 4. Bones: Q has a
 * norm of at most 1, D of sqrt(E |p|^2), e of twice that and the length; dense, their controls are a part of N in an
 * orthonormal basis, and N's norm is at most its trace. Slides: N again, with r of at most 1 if limited, and Y, x^2.
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

/* Of the cost and the blocks, as ulna_relax_dense_gradient says. */
static void gradients(ulna_relaxation *r, int corrector, double sigma_mu)
{
    cost_gradient(r, corrector < 0 ? sigma_mu : 0);
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_DENSE)
            ulna_relax_dense_gradient(r, &r->edges[n], corrector, sigma_mu);
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        r->kernel->gradient(&r->groups[g], corrector, sigma_mu, r->posture);
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

/* The bound that the current X proves: see the head of this file. */
static double prove(ulna_relaxation *r, double f, double size, double gap)
{
    double loss = 0;
    gradients(r, -1, 0);
    r->kernel->sweep_up(r, 0);
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

/* ---- blocks of all edges --------------------------------------------------------------------------------------- */

static int factor_blocks(ulna_relaxation *r, double *gap)
{
    *gap = 0;
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_DENSE && !ulna_relax_dense_factor(&r->edges[n], gap))
            return 0;
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        if (!r->kernel->factor(&r->groups[g], gap))
            return 0;
    return *gap < INFINITY;
}

static int factor_newton(ulna_relaxation *r)
{
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        r->kernel->condense(&r->groups[g]);
    return r->kernel->sweep_factor(r);
}

static void find_direction(ulna_relaxation *r, int corrector, double sigma_mu)
{
    const int groups = r->hinge_groups + r->bone_groups;
    gradients(r, corrector, sigma_mu);
    for (int g = 0; g < groups; g++)
        r->kernel->reduce(&r->groups[g]);
    r->kernel->sweep_up(r, 1);
    r->kernel->sweep_down(r);
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_DENSE)
            ulna_relax_dense_direction(r, &r->edges[n], corrector, sigma_mu);
    for (int g = 0; g < groups; g++)
        r->kernel->direction(&r->groups[g], corrector, sigma_mu);
}

/* What the direction leaves of the residual, for it is solved with factors that are inexact near the end. */
static void refine_direction(ulna_relaxation *r)
{
    const int groups = r->hinge_groups + r->bone_groups;
    const size_t bytes = (size_t)(r->count * r->states) * sizeof *r->step;
    gradients(r, -1, 1);
    memcpy(r->whole_step, r->step, bytes);
    for (int g = 0; g < groups; g++)
        r->kernel->reduce(&r->groups[g]);
    r->kernel->sweep_up(r, 1);
    r->kernel->sweep_down(r);
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_DENSE)
            ulna_relax_dense_refine(r, &r->edges[n]);
    for (int g = 0; g < groups; g++)
        r->kernel->refine(&r->groups[g]);
    for (int i = 0; i < r->count * r->states; i++)
        r->step[i] += r->whole_step[i];
}

static void find_steps(const ulna_relaxation *r, double longest, double *primal, double *dual)
{
    *primal = *dual = longest;
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_DENSE)
            ulna_relax_dense_steps(&r->edges[n], primal, dual);
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        r->kernel->steps(&r->groups[g], primal, dual);
    if (r->kind == ULNA_RELAX_HULL) /* f'' ties the two together */
        *primal = *dual = fmin(*primal, *dual);
}

/* The gap after such steps. */
static double gap_after(const ulna_relaxation *r, double gap, double primal, double dual)
{
    double products[3] = {0};
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_DENSE)
            ulna_relax_dense_products(&r->edges[n], products);
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        r->kernel->products(&r->groups[g], products);
    return gap + primal * products[0] + dual * products[1] + primal * dual * products[2];
}

static void correct(ulna_relaxation *r)
{
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_DENSE)
            ulna_relax_dense_correct(&r->edges[n]);
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        r->kernel->correct(&r->groups[g]);
}

static void advance(ulna_relaxation *r, double primal, double dual)
{
    for (int i = r->states; i < r->count * r->states; i++)
        r->state[i] += primal * r->step[i];
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_DENSE)
            ulna_relax_dense_advance(&r->edges[n], primal, dual);
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        r->kernel->advance(&r->groups[g], primal, dual);
}

/* ---- the method ------------------------------------------------------------------------------------------------ */

/* The first point, with X = mu U, on the central path but for the residual; or X without residual (relax_dual.c). */
static int begin(ulna_relaxation *r, int central, double mu)
{
    double gap;
    begin_states(r);
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_DENSE)
            ulna_relax_dense_begin(r, n);
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        ulna_relax_group_begin(r, &r->groups[g]);
    if (!factor_blocks(r, &gap))
        return 0;
    for (int n = 1; n < r->count; n++) {
        const ulna_relax_edge *edge = &r->edges[n];
        for (int b = 0; b < edge->block_count; b++)
            for (int i = 0; i < edge->block[b].size * edge->block[b].size; i++)
                edge->block[b].X[i] = mu * edge->block[b].U[i];
    }
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        ulna_relax_group_multipliers(&r->groups[g], mu);
    if (!central) {
        cost_gradient(r, 0);
        ulna_relax_first_multipliers(r);
    }
    return 1;
}

/* One predictor and corrector; 0 if no step is longer than `least`. loss: what the residual takes from the bound. */
static int iterate(ulna_relaxation *r, double gap, double loss, double least)
{
    const double mu = gap / r->order;
    double primal, dual;
    if (!factor_newton(r))
        return 0;
    find_direction(r, 0, 0);
    find_steps(r, 1, &primal, &dual);
    /* How much centring, and how near to the border: measured on the oracles. With steps of their own for primal and dual,
     * F3 likes more of both. */
    const int bones = r->kind == ULNA_RELAX_BONES;
    const double ratio = gap_after(r, gap, primal, dual) / gap, near = bones ? 0.95 : 0.98;
    double sigma = fmin(fmax(ratio * ratio * (bones ? 1 : ratio), 1e-3), 0.5);
    if (fmin(primal, dual) < 0.1)
        sigma = 0.5;
    if (gap < 0.01 && loss > 10 * gap) /* the gap must not close before the residual is gone */
        sigma = fmax(sigma, 0.3);
    correct(r);
    find_direction(r, 1, sigma * mu);
    if (gap < 1e-4)
        refine_direction(r);
    find_steps(r, 1 / near, &primal, &dual);
    primal = fmin(near * primal, 1);
    dual = fmin(near * dual, 1);
    if (!(primal > least || dual > least))
        return 0;
    advance(r, primal, dual);
    return 1;
}

static int finished(const ulna_relaxation *r, const ulna_relax_options *o, double f, ulna_relax_result *result)
{
    result->primal = f * r->cost_unit;
    result->gap = result->primal - result->bound;
    if (result->bound >= o->stop_above)
        result->end = ULNA_RELAX_ABOVE;
    else if (result->primal < o->stop_above && o->stop_above < INFINITY)
        result->end = ULNA_RELAX_BELOW;
    else if (result->gap <= o->absolute + o->relative * fabs(result->primal))
        result->end = ULNA_RELAX_CONVERGED;
    else
        return 0;
    return 1;
}

/* Iterates from the first point. The residual grows again where numbers become too small: then bounds no longer do. */
static void run(ulna_relaxation *r, const ulna_relax_options *options, double first_step, ulna_relax_result *result)
{
    double least = INFINITY, best = -INFINITY, gap, size;
    int idle = 0;
    for (;; result->iterations++) {
        if (!factor_blocks(r, &gap))
            return;
        const double f = cost(r, &size);
        least = fmin(least, f);
        find_reach(r, least);
        const double bound = prove(r, f, size, gap) * r->cost_unit;
        idle = bound > best || gap > 1e-3 ? 0 : idle + 1;
        best = fmax(best, bound);
        result->bound = fmax(result->bound, bound);
        if (finished(r, options, f, result))
            return;
        result->end = result->iterations >= options->iterations ? ULNA_RELAX_ITERATIONS : ULNA_RELAX_STALLED;
        if (result->end == ULNA_RELAX_ITERATIONS || idle > 2 ||
            !iterate(r, gap, f - gap - bound / r->cost_unit, result->iterations ? 1e-7 : first_step))
            return;
    }
}

ulna_status ulna_relaxation_solve(ulna_relaxation *r, const ulna_reduced *tree, const ulna_relax_options *options,
                                  ulna_relax_result *result)
{
    if (!r || !options || !result)
        return ULNA_ERR_ARGUMENT;
    if (!(options->absolute >= 0 && options->relative >= 0 && options->posture >= 0 && options->posture < INFINITY))
        return ULNA_ERR_ARGUMENT;
    const ulna_status status = check_goals(r, tree);
    if (status != ULNA_OK)
        return status;
    load_goals(r, tree, options->posture);
    find_frozen(r);
    place_roots(r);
    *result = (ulna_relax_result){.bound = -INFINITY, .primal = INFINITY, .gap = INFINITY, .end = ULNA_RELAX_STALLED};
    /* F3 begins without residual. F2, whose gradient moves with the places, is better off on the central path, and so is what
     * cannot step at all because some part can hardly move: then X without residual can be far from it. */
    int central = r->kind == ULNA_RELAX_HULL;
    if (begin(r, central, 0.05))
        run(r, options, central ? 1e-7 : 0.02, result);
    if (!central && result->end == ULNA_RELAX_STALLED && !(result->gap < 0.01 * r->cost_unit) && begin(r, 1, 0.05))
        run(r, options, 1e-7, result);
    return ULNA_OK;
}
