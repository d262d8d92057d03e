/* Goals of a solve: in units and frames of the relaxation, and where to begin for them. */
#include <math.h>
#include <string.h>

#include "global/relax_tree.h"
#include "math/math3.h"

ulna_status ulna_relax_check_goals(const ulna_relaxation *r, const ulna_reduced *tree)
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
static void load(ulna_relaxation *r, const ulna_reduced *tree, double posture)
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

void ulna_relax_begin_states(ulna_relaxation *r)
{
    for (int n = 0; n < r->count; n++) {
        const double *start = r->start + (size_t)n * ULNA_RELAX_STATE;
        const int root = r->edges[n].root;
        const double *shift = r->shift + 3 * root;
        double *state = r->state + (size_t)n * (size_t)r->states;
        memcpy(state, start, (size_t)r->states * sizeof *state);
        for (int i = 0, at = 12; i < 3; i++) {
            state[9 + i] += shift[i];
            for (int k = i; k < 3 && r->states == ULNA_RELAX_STATE; k++, at++)
                state[at] += start[9 + i] * shift[k] + shift[i] * start[9 + k] + shift[i] * shift[k] +
                             (i == k ? r->spread[root] : 0);
        }
    }
}

/* Everything about the goals that a solve needs. */
void ulna_relax_load_goals(ulna_relaxation *r, const ulna_reduced *tree, double posture)
{
    load(r, tree, posture);
    find_frozen(r);
    place_roots(r);
}
