/*
 * The interior-point method.
 *
 * Source: S. Mehrotra's predictor-corrector in the HKM direction (C. Helmberg, F. Rendl, R. Vanderbei, H. Wolkowicz,
 * "An interior-point method for semidefinite programming", SIAM J. Optim. 6(2), 1996), on the tree:
 *
 *   minimise f(x) subject to S_b(x) >= 0: x are the controls of all edges, f is linear (F3) or has squares of places
 *   (F2)
 *   Newton:  (f'' + sum E (X_b . U_b) E) dx = -f' + E(sigma mu U - T),   dX = sigma mu U - X - X dS U - T
 *   with T = dX dS U of the predictor, all products symmetric. One Hessian per iteration, two right-hand sides.
 *
 * Bounds and their proof: relax_bound.c.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "global/relax_kernel.h"
#include "global/relax_tree.h"
#include "math/math3.h"

#define SUMMED 1e-14 /* of the largest `size` of all iterations: rounding error of states, which are sums of steps */

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

/* f of the current states; `size`: the sum of the absolute values that were added. */
static double cost(const ulna_relaxation *r, double *size)
{
    double sum = ulna_relax_tangent(r, r->state, size);
    for (int n = 1; n < r->count && r->posture != 0; n++) {
        const double l = r->edges[n].lambda;
        if (r->edges[n].edge == ULNA_EDGE_HINGE)
            sum += r->posture * (2 * l * l * trace_of_C(r, &r->edges[n]) - 1);
    }
    return sum;
}

/* f' with respect to the states, at state + ahead * step. */
static void cost_gradient(ulna_relaxation *r, double ahead)
{
    for (int n = 0; n < r->count; n++) {
        const double *s = r->state + (size_t)n * (size_t)r->states, *y = r->goal + 3 * n, w = r->weight[n];
        const double *ds = r->step + (size_t)n * (size_t)r->states;
        double *g = r->gradient + (size_t)n * (size_t)r->states;
        memcpy(g, r->rotation_cost + 9 * n, 9 * sizeof *g);
        for (int i = 0; i < 3; i++)
            g[9 + i] = r->kind == ULNA_RELAX_BONES ? -2 * w * y[i] : 2 * w * (s[9 + i] + ahead * ds[9 + i] - y[i]);
        for (int i = 12; i < r->states; i++)
            g[i] = i == 12 || i == 15 || i == 17 ? w : 0;
    }
}

/* Gradients of cost and blocks; arguments as of ulna_relax_dense_gradient. */
static void gradients(ulna_relaxation *r, int corrector, double sigma_mu)
{
    cost_gradient(r, corrector < 0 ? sigma_mu : 0);
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_DENSE)
            ulna_relax_dense_gradient(r, &r->edges[n], corrector, sigma_mu);
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        r->kernel->gradient(&r->groups[g], corrector, sigma_mu, r->posture);
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

/* Iterative refinement: solves again for the residual that the direction leaves, since the factors are inexact near the
 * end. */
static void refine_direction(ulna_relaxation *r)
{
    const int groups = r->hinge_groups + r->bone_groups;
    const size_t bytes = (size_t)r->count * (size_t)r->states * sizeof *r->step;
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

/* ---- the first point ------------------------------------------------------------------------------------------- */

enum { LANES = ULNA_RELAX_LANES };

static void put(double *group_matrix, int size, int lane, const double *matrix)
{
    for (int i = 0; i < size * size; i++)
        group_matrix[i * LANES + lane] = matrix[i];
}

static void begin_group(const ulna_relaxation *r, ulna_relax_group *group)
{
    const int hinges = group->size == 8;
    for (int lane = 0; lane < LANES; lane++) {
        const int node = group->edge[lane], limited = node != ULNA_NONE && hinges && r->edges[node].limited;
        double main_block[64], limits_block[16], *const full[2] = {main_block, limits_block};
        for (int i = 0; i < 64; i++)
            main_block[i] = i % (group->size + 1) == 0;
        for (int i = 0; i < 16; i++)
            limits_block[i] = i % 5 == 0;
        if (node != ULNA_NONE)
            ulna_relax_begin_blocks(r, node, 1 + limited, full);
        put(group->S, group->size, lane, main_block);
        if (hinges)
            put(group->SV, 4, lane, limits_block);
    }
}

/* Bounds are computed at the first point: relax_bound.c. */
static void keep_first_point(ulna_relaxation *r)
{
    memcpy(r->first, r->state, (size_t)r->count * (size_t)r->states * sizeof *r->first);
    for (int n = 1; n < r->count; n++)
        for (int b = 0; b < r->edges[n].block_count; b++) {
            const ulna_relax_block *block = &r->edges[n].block[b];
            memcpy(block->first, block->S, (size_t)(block->size * block->size) * sizeof *block->first);
        }
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++) {
        const ulna_relax_group *group = &r->groups[g];
        memcpy(group->first, group->S, (size_t)(group->size * group->size * LANES) * sizeof *group->first);
        if (group->size == 8)
            memcpy(group->firstV, group->SV, 16 * LANES * sizeof *group->firstV);
    }
}

/* X = mu U */
static void set_multipliers(ulna_relax_group *group, double mu)
{
    for (int i = 0; i < group->size * group->size * LANES; i++)
        group->X[i] = mu * group->U[i];
    for (int i = 0; i < 16 * LANES && group->size == 8; i++)
        group->XV[i] = mu * group->UV[i];
}

/* ---- the method ------------------------------------------------------------------------------------------------ */

/* Sets the first point. central: X = mu U, as on the central path, but with a residual; otherwise X without residual
 * (relax_bound.c). */
static int begin(ulna_relaxation *r, int central, double mu)
{
    double gap;
    ulna_relax_begin_states(r);
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_DENSE)
            ulna_relax_dense_begin(r, n);
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        begin_group(r, &r->groups[g]);
    keep_first_point(r);
    if (!factor_blocks(r, &gap))
        return 0;
    for (int n = 1; n < r->count; n++) {
        const ulna_relax_edge *edge = &r->edges[n];
        for (int b = 0; b < edge->block_count; b++)
            for (int i = 0; i < edge->block[b].size * edge->block[b].size; i++)
                edge->block[b].X[i] = mu * edge->block[b].U[i];
    }
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        set_multipliers(&r->groups[g], mu);
    if (!central) {
        cost_gradient(r, 0);
        ulna_relax_first_multipliers(r);
    }
    return 1;
}

/* One predictor and corrector step; 0 if it is not longer than `least`. loss: by how much the residual lowers the bound. */
static int iterate(ulna_relaxation *r, double gap, double loss, double least)
{
    const double mu = gap / r->order;
    double primal, dual;
    if (!factor_newton(r))
        return 0;
    find_direction(r, 0, 0);
    find_steps(r, 1, &primal, &dual);
    /* Centring sigma and the fraction `near` of the way to the border: chosen by experiments on the test problems. F3, with
     * separate primal and dual steps, needs more centring and stays farther from the border. */
    const int bones = r->kind == ULNA_RELAX_BONES;
    const double ratio = gap_after(r, gap, primal, dual) / gap, near = bones ? 0.95 : 0.98;
    double sigma = fmin(fmax(ratio * ratio * (bones ? 1 : ratio), 1e-3), 0.5);
    if (fmin(primal, dual) < 0.1)
        sigma = 0.5;
    if (gap < 0.01 && loss > 10 * gap) /* the residual must become 0 before the gap does */
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

/* Iterates from the first point. Near the end rounding makes the residual grow again: it stops when bounds have not become
 * better for three iterations. */
static void run(ulna_relaxation *r, const ulna_relax_options *options, double first_step, ulna_relax_result *result)
{
    double known = INFINITY, best = -INFINITY, largest = 0, gap, size;
    int idle = 0;
    for (;; result->iterations++) {
        if (!factor_blocks(r, &gap))
            return;
        const double f = cost(r, &size);
        largest = fmax(largest, size);
        known = fmin(known, f + SUMMED * largest);
        ulna_relax_find_reach(r, known);
        gradients(r, -1, 0);
        r->kernel->sweep_up(r, 0);
        const double bound = ulna_relax_prove(r, known, gap) * r->cost_unit;
        idle = bound > best || gap > 1e-3 ? 0 : idle + 1;
        best = fmax(best, bound);
        result->bound = fmax(result->bound, bound);
        if (finished(r, options, f, result))
            return;
        const int late = options->deadline > 0 && ulna_seconds() >= options->deadline;
        result->end = late || result->iterations >= options->iterations ? ULNA_RELAX_ITERATIONS : ULNA_RELAX_STALLED;
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
    const ulna_status status = ulna_relax_check_goals(r, tree);
    if (status != ULNA_OK)
        return status;
    ulna_relax_load_goals(r, tree, options->posture);
    *result = (ulna_relax_result){.bound = -INFINITY, .primal = INFINITY, .gap = INFINITY, .end = ULNA_RELAX_STALLED};
    /* F3 starts without residual. F2, whose gradient depends on the positions, converges better from the central path. So
     * does F3 if some joint can hardly move and no step is possible: X without residual is then far from the path. */
    int central = r->kind == ULNA_RELAX_HULL;
    if (begin(r, central, 0.05))
        run(r, options, central ? 1e-7 : 0.02, result);
    if (!central && result->end == ULNA_RELAX_STALLED && !(result->gap < 0.01 * r->cost_unit) && begin(r, 1, 0.05))
        run(r, options, 1e-7, result);
    return ULNA_OK;
}

/* ---- current blocks -------------------------------------------------------------------------------------------- */

int ulna_relax_block_now(const ulna_relaxation *r, int node, int which, double *S, double *X)
{
    const ulna_relax_edge *edge = &r->edges[node];
    if (edge->how == ULNA_RELAX_HINGE_LANES || edge->how == ULNA_RELAX_BONE_LANES) {
        const ulna_relax_group *group = &r->groups[edge->group];
        const int hinge = edge->how == ULNA_RELAX_HINGE_LANES, size = which ? 4 : group->size;
        if (which > (hinge && edge->limited))
            return 0;
        for (int i = 0; i < size * size; i++) {
            S[i] = (which ? group->SV : group->S)[i * LANES + edge->lane];
            X[i] = (which ? group->XV : group->X)[i * LANES + edge->lane];
        }
        return size;
    }
    if (which >= edge->block_count)
        return 0;
    const ulna_relax_block *block = &edge->block[which];
    ulna_relax_dense_full(edge, which, S);
    ulna_relax_without(block->full, block->size, block->phi, block->X, X);
    return block->full;
}
