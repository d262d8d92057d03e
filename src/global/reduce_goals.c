/*
 * Goals and weights of the reduced tree.
 *
 * Point terms, f = w/2 |y_i - p_i|^2, on one rigid part with p_i = p + R v_i: with W the sum of the weights and means
 * weighted by them,
 *
 *   sum w_i/2 |y_i - p_i|^2 = W/2 |mean y - (p + R mean v)|^2 - <sum w_i (y_i - mean y)(v_i - mean v)T, R>
 *                             + sum w_i/2 (|y_i - mean y|^2 + |v_i - mean v|^2),
 *
 * that is one point goal, a rotation cost and a constant. Points at the same position are the case v_i = mean v.
 * Orientations, f = w/4 |G - R B|_F^2 = w/2 (3 - <G BT, R>), and directions, f = w/2 |g - R a|^2 = w (1 - <g aT, R>), are
 * rotation costs as well.
 */
#include "global/reduce.h"
#include "math/math3.h"

void ulna_reduce_average(double mean[4], double weight, const double x[3])
{
    mean[3] += weight;
    for (int i = 0; i < 3 && mean[3] > 0; i++) /* 0: weights so small that they underflow in these units */
        mean[i] += (x[i] - mean[i]) * (weight / mean[3]);
}

void ulna_reduce_count_left_out(ulna_reduced *reduced, const ulna_problem *problem)
{
    reduced->left_out = 0;
    reduced->left_out_types = 0;
    for (size_t i = 0; i < problem->term_count; i++) {
        const ulna_term *term = &problem->term[i];
        if (ulna_reduce_is_supported(term->type) || !(ulna_term_weight(problem, term) > 0))
            continue;
        reduced->left_out++;
        reduced->left_out_types |= 1u << term->type;
    }
}

int ulna_reduce_is_finite(const ulna_reduced *reduced)
{
    const double scales[3] = {reduced->length, reduced->unit, reduced->constant};
    double p[3];
    for (int i = 0; i < 3; i++)
        p[i] = reduced->centre[i] / reduced->length;
    int finite = ulna_all_finite(scales, 3) && isfinite(ulna_dot(p, p)) && reduced->length > 0;
    for (int n = 0; n < reduced->count && finite; n++) {
        const ulna_node *node = &reduced->nodes[n];
        finite = isfinite(node->weight) && isfinite(ulna_dot(node->goal, node->goal)) &&
                 ulna_all_finite(node->rotation_cost, 9) && ulna_all_finite(node->v, 3);
    }
    return finite;
}

/* A position relative to `from`, in metres, in the units of the tree. */
static void to_units(const ulna_reduced *reduced, const double place[3], const double from[3], double result[3])
{
    for (int i = 0; i < 3; i++)
        result[i] = ((place[i] - from[i]) - reduced->reduction->node0[i] - reduced->centre[i]) / reduced->length;
}

static double point_weight(const ulna_reduced *reduced, const ulna_problem *problem, const ulna_term *term)
{
    return 0.5 * ulna_term_weight(problem, term) * reduced->length * reduced->length / reduced->unit;
}

static void add_constant(ulna_reduced *reduced, double cost)
{
    reduced->constant += cost;
    reduced->summed += fabs(cost);
}

/* Adds a point term to weight and goal of its node, and to the centroid of its points. */
static void add_to_mean(ulna_reduced *reduced, const ulna_problem *problem, const ulna_term *term,
                        const ulna_reduced_term *at)
{
    ulna_node *node = &reduced->nodes[at->node];
    double mean[4] = {node->goal[0], node->goal[1], node->goal[2], node->weight}, goal[3];
    double weight = point_weight(reduced, problem, term);
    if (at->node == 0)
        return;
    to_units(reduced, term->goal, reduced->reduction->home, goal);
    ulna_reduce_average(mean, weight, goal);
    ulna_copy3(mean, node->goal);
    node->weight = mean[3];
    ulna_reduce_average(reduced->reduction->mean[at->node], weight, at->offset);
}

/* Adds the other parts of a point term: constant and rotation cost. */
static void add_rest(ulna_reduced *reduced, const ulna_problem *problem, const ulna_term *term,
                     const ulna_reduced_term *at)
{
    double weight = point_weight(reduced, problem, term), goal[3], mean[3], from_goal[3], from_point[3] = {0, 0, 0};
    const double none[3] = {0, 0, 0};
    to_units(reduced, term->goal, reduced->reduction->home, goal);
    if (at->node == 0)
        to_units(reduced, at->offset, none, mean);
    else
        ulna_copy3(reduced->nodes[at->node].goal, mean);
    for (int i = 0; i < 3; i++) {
        from_goal[i] = goal[i] - mean[i];
        if (at->gathered)
            from_point[i] = (at->offset[i] - reduced->reduction->mean[at->node][i]) / reduced->length;
    }
    add_constant(reduced, weight * (ulna_dot(from_goal, from_goal) + ulna_dot(from_point, from_point)));
    if (!at->gathered)
        return;
    ulna_node *rotated = &reduced->nodes[at->rotation_node];
    rotated->has_rotation_cost = 1;
    for (int i = 0; i < 9; i++)
        rotated->rotation_cost[i] -= 2 * weight * from_goal[i / 3] * from_point[i % 3];
}

/* Adds an orientation or direction term. */
static void add_rotation_cost(ulna_reduced *reduced, const ulna_problem *problem, const ulna_term *term,
                              const ulna_reduced_term *at)
{
    ulna_node *node = &reduced->nodes[at->rotation_node];
    double weight = ulna_term_weight(problem, term) / reduced->unit;
    node->has_rotation_cost = 1;
    if (term->type == ULNA_TERM_DIRECTION) {
        double axis[3];
        ulna_rotate(at->frame, term->local + 3, axis);
        for (int i = 0; i < 9; i++)
            node->rotation_cost[i] -= weight * term->goal[i / 3] * axis[i % 3];
        add_constant(reduced, 0.5 * weight * (ulna_dot(term->goal, term->goal) + ulna_dot(axis, axis)));
    } else {
        double back[9], product[9];
        ulna_transpose9(at->frame, back);
        ulna_multiply9(term->goal, back, product);
        for (int i = 0; i < 9; i++)
            node->rotation_cost[i] -= 0.5 * weight * product[i];
        add_constant(reduced, 1.5 * weight);
    }
}

/* Node 0 does not rotate: its rotation cost is constant. */
static void settle_world(ulna_reduced *reduced)
{
    ulna_node *world = &reduced->nodes[0];
    for (int i = 0; i < 9; i += 4)
        add_constant(reduced, world->rotation_cost[i]);
    memset(world->rotation_cost, 0, sizeof world->rotation_cost);
    world->has_rotation_cost = 0;
}

void ulna_reduce_fill(ulna_reduced *reduced, const ulna_problem *problem)
{
    ulna_reduction *to = reduced->reduction;
    reduced->constant = reduced->summed = to->point_weight = 0;
    for (int n = 0; n < reduced->count; n++) {
        ulna_node *node = &reduced->nodes[n];
        node->weight = 0;
        node->has_rotation_cost = 0;
        memset(node->goal, 0, sizeof node->goal);
        memset(node->rotation_cost, 0, sizeof node->rotation_cost);
        memset(to->mean[n], 0, sizeof to->mean[n]);
    }
    for (int i = 0; i < to->term_count; i++)
        if (to->terms[i].node != ULNA_NONE && problem->term[i].type == ULNA_TERM_POINT)
            add_to_mean(reduced, problem, &problem->term[i], &to->terms[i]);
    for (int i = 0; i < to->term_count; i++) {
        const ulna_reduced_term *at = &to->terms[i];
        if (at->node == ULNA_NONE)
            continue;
        if (problem->term[i].type == ULNA_TERM_POINT) {
            add_rest(reduced, problem, &problem->term[i], at);
            to->point_weight += 0.5 * ulna_term_weight(problem, &problem->term[i]);
        } else
            add_rotation_cost(reduced, problem, &problem->term[i], at);
        if (at->gathered && reduced->nodes[at->node].edge == ULNA_EDGE_BONE)
            for (int k = 0; k < 3; k++)
                reduced->nodes[at->node].v[k] = to->mean[at->node][k] / reduced->length;
    }
    settle_world(reduced);
}

/* f = |residuals|^2, and each point is at most `held` away from its position in the tree, so |residuals| differs by at most
 * `held` times the square root of the weights. */
double ulna_reduced_bound(const ulna_reduced *reduced, double cost)
{
    const ulna_reduction *to = reduced->reduction;
    if (!(cost > 0))
        return 0;
    const double off = to->held * sqrt(to->point_weight), left = sqrt(reduced->unit * cost) - off;
    return off == 0 ? reduced->unit * cost : left > 0 ? left * left * (1 - 1e-15) : 0;
}

/* Whether, with the new weights, exactly those centroids of gathered points are off their node for which the tree has a
 * bone. */
static int centroids_fit(const ulna_reduced *reduced, const ulna_problem *problem)
{
    const ulna_reduction *to = reduced->reduction;
    const double tiny = 1e-14 * ulna_problem_length_scale(problem);
    for (int n = 0; n < reduced->count; n++)
        memset(to->mean[n], 0, sizeof to->mean[n]);
    for (int i = 0; i < to->term_count; i++)
        if (to->terms[i].gathered)
            ulna_reduce_average(to->mean[to->terms[i].node], ulna_term_weight(problem, &problem->term[i]),
                                to->terms[i].offset);
    for (int i = 0; i < to->term_count; i++)
        if (to->terms[i].gathered) {
            int n = to->terms[i].node, has_bone = reduced->nodes[n].edge == ULNA_EDGE_BONE;
            if ((ulna_norm(to->mean[n]) > tiny) != has_bone)
                return 0;
        }
    return 1;
}

ulna_status ulna_reduced_refresh(ulna_reduced *reduced, const ulna_problem *problem)
{
    if (!reduced || !reduced->reduction || !problem)
        return ULNA_ERR_ARGUMENT;
    const ulna_reduction *to = reduced->reduction;
    if (!problem->ready || problem->model != to->model || problem->term_count != (size_t)to->term_count)
        return ULNA_ERR_STATE;
    for (int i = 0; i < to->term_count; i++) {
        const ulna_term *term = &problem->term[i];
        int active = ulna_reduce_is_supported(term->type) && ulna_term_weight(problem, term) > 0;
        if (active != (to->terms[i].node != ULNA_NONE))
            return ULNA_ERR_STATE;
    }
    if (!centroids_fit(reduced, problem))
        return ULNA_ERR_STATE;
    ulna_reduce_count_left_out(reduced, problem);
    ulna_reduce_fill(reduced, problem);
    return ulna_reduce_is_finite(reduced) ? ULNA_OK : ULNA_ERR_NUMBER;
}

int ulna_reduced_is_centred(const ulna_reduced *reduced)
{
    double mean[4] = {0};
    for (int n = 0; n < reduced->count; n++)
        if (reduced->nodes[n].weight > 0)
            ulna_reduce_average(mean, reduced->nodes[n].weight, reduced->nodes[n].goal);
    return ulna_norm(mean) <= 10;
}
