/* The object ulna_relaxation: checks, memory, choice of kernel, goals. For the method see relax_tree.h, relax_solve.c. */
#include <math.h>
#include <string.h>

#include "global/relax_kernel.h"
#include "global/relax_tree.h"
#include "global/relaxation.h"
#include "math/math3.h"

/* ---- choice of kernel ---------------------------------------------------------------------------------------- */

const ulna_relax_kernel *ulna_relax_kernel_find(const char *name)
{
#ifndef ULNA_NO_X86
    if (ulna_cpu_runs("avx512") && (!name || !strcmp(name, "avx512")))
        return &ulna_relax_kernel_avx512;
    if (ulna_cpu_runs("avx2") && (!name || !strcmp(name, "avx2")))
        return &ulna_relax_kernel_avx2;
#endif
    return !name || !strcmp(name, "portable") ? &ulna_relax_kernel_portable : NULL;
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

static double *take(ulna_arena *arena, size_t count)
{
    return ulna_arena_take(arena, count, sizeof(double));
}

static void lay_out_dense(ulna_arena *arena, int states, ulna_relax_edge *edge)
{
    const size_t variables = (size_t)edge->controls + (size_t)states;
    edge->child = take(arena, (size_t)states * variables);
    edge->local = take(arena, variables);
    for (int b = 0; b < edge->block_count; b++) {
        ulna_relax_block *block = &edge->block[b];
        const size_t square = (size_t)block->size * (size_t)block->size;
        double **const matrices[] = {&block->S, &block->X, &block->U, &block->dS, &block->dX, &block->T, &block->first};
        block->phi = take(arena, (size_t)block->full * (size_t)block->size);
        block->back = take(arena, (size_t)block->full * (size_t)block->size);
        block->E = take(arena, variables * square);
        block->used = ulna_arena_take(arena, variables, sizeof *block->used);
        for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
            *matrices[i] = take(arena, square);
    }
}

static void lay_out_group(ulna_arena *arena, ulna_relax_group *group, int hinges)
{
    const size_t lanes = ULNA_RELAX_LANES;
    double **const scalars[] = {&group->lambda, &group->nu, &group->live, &group->limited};
    double **const main_block[] = {&group->S, &group->X, &group->U, &group->dS, &group->dX, &group->T, &group->first};
    double **const limits_block[] = {&group->SV,  &group->XV, &group->UV,    &group->dSV,
                                     &group->dXV, &group->TV, &group->firstV};
    group->size = hinges ? 8 : 7;
    group->privates = hinges ? 14 : 8;
    group->vars = hinges ? 29 : 26;
    const size_t square = (size_t)group->size * (size_t)group->size, vars = (size_t)group->vars;
    const size_t privates = (size_t)group->privates, rest = vars - privates;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        *scalars[i] = take(arena, lanes);
    for (size_t i = 0; i < sizeof main_block / sizeof *main_block; i++)
        *main_block[i] = take(arena, square * lanes);
    for (size_t i = 0; hinges && i < sizeof limits_block / sizeof *limits_block; i++)
        *limits_block[i] = take(arena, 16 * lanes);
    group->rows = take(arena, vars * (vars + 1) / 2 * lanes);
    group->corner = group->rows ? group->rows + (vars * (vars + 1) / 2 - rest * (rest + 1) / 2) * lanes : NULL;
    group->inverse = take(arena, privates * lanes);
    group->gradient = take(arena, vars * lanes);
    group->step = take(arena, vars * lanes);
}

static void lay_out(ulna_arena *arena, ulna_relaxation *r)
{
    const size_t count = (size_t)r->count, states = (size_t)r->states;
    const int groups = r->hinge_groups + r->bone_groups;
    const size_t most = ULNA_RELAX_CONTROLS + ULNA_RELAX_STATE;
    r->groups = ulna_arena_take(arena, (size_t)groups, sizeof *r->groups);
    r->weight = take(arena, count);
    r->goal = take(arena, 3 * count);
    r->rotation_cost = take(arena, 9 * count);
    r->shift = take(arena, 3 * count);
    r->spread = take(arena, count);
    r->reach = take(arena, count);
    r->frozen = ulna_arena_take(arena, count, sizeof *r->frozen);
    r->state = take(arena, states * count);
    r->first = take(arena, states * count);
    r->step = take(arena, states * count);
    r->whole_step = take(arena, states * count);
    r->gradient = take(arena, states * count);
    r->hessian = take(arena, states * states * count);
    r->scratch = take(arena, most * most + ULNA_RELAX_STATE * most);
    for (int n = 1; n < r->count; n++) {
        ulna_relax_edge *edge = &r->edges[n];
        const size_t controls = (size_t)edge->controls;
        if (edge->how == ULNA_RELAX_PASS)
            continue;
        edge->rows = take(arena, controls * (controls + states));
        edge->inverse = take(arena, controls);
        edge->k = take(arena, controls);
        edge->u = take(arena, controls);
        if (edge->how == ULNA_RELAX_DENSE)
            lay_out_dense(arena, r->states, edge);
    }
    for (int g = 0; g < groups && arena->memory; g++)
        lay_out_group(arena, &r->groups[g], g < r->hinge_groups);
    for (int g = 0; g < groups && !arena->memory; g++) {
        ulna_relax_group nothing = {0};
        lay_out_group(arena, &nothing, g < r->hinge_groups);
    }
}

/* ---- create and destroy ---------------------------------------------------------------------------------------- */

/* Chooses how each edge is computed, and its lane. */
static void choose_ways(ulna_relaxation *r, int lanes)
{
    int hinges = 0, bones = 0;
    for (int n = 1; n < r->count; n++) {
        ulna_relax_edge *edge = &r->edges[n];
        const int hinge = edge->edge == ULNA_EDGE_HINGE, bone = edge->edge == ULNA_EDGE_BONE;
        if (bone && (r->kind == ULNA_RELAX_HULL || edge->moment_rank == 1 || edge->length == 0)) {
            edge->how = ULNA_RELAX_PASS;
        } else if (lanes && ((hinge && edge->rank == 4) || (bone && edge->moment_rank == 7))) {
            int *const at = hinge ? &hinges : &bones;
            edge->how = hinge ? ULNA_RELAX_HINGE_LANES : ULNA_RELAX_BONE_LANES;
            edge->controls = ULNA_RELAX_SHARED;
            edge->group = *at / ULNA_RELAX_LANES;
            edge->lane = (*at)++ % ULNA_RELAX_LANES;
            r->order += hinge ? (edge->limited ? 12 : 8) : 7;
        } else {
            edge->how = ULNA_RELAX_DENSE;
            ulna_relax_dense_size(r, edge);
            for (int b = 0; b < edge->block_count; b++)
                r->order += edge->block[b].size;
        }
    }
    r->hinge_groups = (hinges + ULNA_RELAX_LANES - 1) / ULNA_RELAX_LANES;
    r->bone_groups = (bones + ULNA_RELAX_LANES - 1) / ULNA_RELAX_LANES;
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_BONE_LANES)
            r->edges[n].group += r->hinge_groups;
}

static void fill_groups(ulna_relaxation *r)
{
    for (int g = 0; g < r->hinge_groups + r->bone_groups; g++)
        for (int l = 0; l < ULNA_RELAX_LANES; l++)
            r->groups[g].edge[l] = ULNA_NONE;
    for (int n = 1; n < r->count; n++) {
        const ulna_relax_edge *edge = &r->edges[n];
        if (edge->how != ULNA_RELAX_HINGE_LANES && edge->how != ULNA_RELAX_BONE_LANES)
            continue;
        ulna_relax_group *group = &r->groups[edge->group];
        const int hinge = edge->how == ULNA_RELAX_HINGE_LANES;
        group->edge[edge->lane] = n;
        group->lambda[edge->lane] = hinge ? edge->lambda : edge->length;
        group->nu[edge->lane] = edge->nu;
        group->live[edge->lane] = 1;
        group->limited[edge->lane] = hinge && edge->limited;
    }
}

static ulna_status build(const ulna_reduced *tree, int lanes, ulna_relaxation *r, ulna_error *error)
{
    const size_t count = (size_t)r->count;
    ulna_arena arena = {0};
    r->edges = ulna_allocate(&r->allocator, count, sizeof *r->edges);
    r->start = ulna_allocate(&r->allocator, count, ULNA_RELAX_STATE * sizeof *r->start);
    ulna_relax_motion *scratch = ulna_allocate(&r->allocator, count, sizeof *scratch);
    if (r->edges && r->start && scratch) {
        ulna_relax_analyse(tree, r, scratch);
        choose_ways(r, lanes);
        lay_out(&arena, r);
        r->bytes = arena.used;
        r->memory = arena.failed ? NULL : ulna_allocate(&r->allocator, 1, r->bytes);
    }
    ulna_release(&r->allocator, scratch, count, sizeof *scratch);
    if (!r->memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a relaxation of %d nodes", r->count);
    arena = (ulna_arena){.memory = r->memory};
    lay_out(&arena, r);
    fill_groups(r);
    for (int n = 1; n < r->count; n++)
        if (r->edges[n].how == ULNA_RELAX_DENSE)
            ulna_relax_dense_map(r, &r->edges[n]);
    return ULNA_OK;
}

ulna_status ulna_relaxation_create_with(const ulna_reduced *tree, ulna_relax_kind kind, const ulna_relax_kernel *kernel,
                                        int lanes, const ulna_allocator *allocator, ulna_relaxation **relaxation,
                                        ulna_error *error)
{
    if (!relaxation || !kernel)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the relaxation given");
    *relaxation = NULL;
    ulna_status status = ulna_reduced_check(tree, error);
    if (status != ULNA_OK)
        return status;
    const ulna_allocator memory = ulna_allocator_or_default(allocator);
    ulna_relaxation *r = ulna_allocate(&memory, 1, sizeof *r);
    if (!r)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a relaxation");
    r->allocator = memory;
    r->kind = kind;
    r->kernel = kernel;
    r->count = tree->count;
    r->states = kind == ULNA_RELAX_BONES ? 18 : 12;
    status = build(tree, lanes, r, error);
    if (status != ULNA_OK) {
        ulna_relaxation_destroy(r);
        return status;
    }
    *relaxation = r;
    return ULNA_OK;
}

ulna_status ulna_relaxation_create(const ulna_reduced *tree, ulna_relax_kind kind, const ulna_allocator *allocator,
                                   ulna_relaxation **relaxation, ulna_error *error)
{
    return ulna_relaxation_create_with(tree, kind, ulna_relax_kernel_find(NULL), 1, allocator, relaxation, error);
}

void ulna_relaxation_destroy(ulna_relaxation *r)
{
    if (!r)
        return;
    const ulna_allocator allocator = r->allocator;
    const size_t count = (size_t)r->count;
    ulna_release(&allocator, r->edges, count, sizeof *r->edges);
    ulna_release(&allocator, r->start, count, ULNA_RELAX_STATE * sizeof *r->start);
    ulna_release(&allocator, r->memory, 1, r->bytes);
    ulna_release(&allocator, r, 1, sizeof *r);
}

ulna_relax_options ulna_relax_options_default(void)
{
    return (ulna_relax_options){.relative = 1e-6, .absolute = 1e-6, .iterations = 60, .stop_above = INFINITY};
}

/* =============================================================================================================== */

/* Goals of a solve, in units and frames of the relaxation, and the first point for them. */

ulna_status ulna_relax_check_goals(const ulna_relaxation *r, const ulna_reduced *tree)
{
    if (!tree || !tree->nodes || tree->count != r->count)
        return ULNA_ERR_ARGUMENT;
    for (int n = 0; n < r->count; n++) {
        const ulna_node *node = &tree->nodes[n];
        if (node->edge != r->edges[n].edge || (n > 0 && node->parent != r->edges[n].parent))
            return ULNA_ERR_ARGUMENT;
        if (!(node->weight >= 0 && node->weight < INFINITY) || (node->weight > 0 && !ulna_all_finite(node->goal, 3)) ||
            (node->has_rotation_cost && !ulna_all_finite(node->rotation_cost, 9)))
            return ULNA_ERR_NUMBER;
    }
    return ULNA_OK;
}

static double choose_cost_unit(const ulna_relaxation *r, const ulna_reduced *tree, double posture)
{
    double weight = 0, rotation = 0;
    for (int n = 0; n < r->count; n++) {
        weight = fmax(weight, tree->nodes[n].weight);
        for (int i = 0; i < 9 && tree->nodes[n].has_rotation_cost; i++)
            rotation = fmax(rotation, fabs(tree->nodes[n].rotation_cost[i]));
    }
    const double unit = fmax(weight * r->unit * r->unit, rotation);
    return unit > 0 && unit < INFINITY ? unit : posture > 0 ? posture : 1;
}

/* Goals, weights and rotation costs in units and frames of the relaxation. */
static void load(ulna_relaxation *r, const ulna_reduced *tree, double posture)
{
    r->cost_unit = choose_cost_unit(r, tree, posture);
    r->posture = posture / r->cost_unit;
    for (int n = 0; n < r->count; n++) {
        const ulna_node *node = &tree->nodes[n];
        double rotated[9] = {0};
        r->weight[n] = node->weight / r->cost_unit * r->unit * r->unit;
        for (int i = 0; i < 3; i++)
            r->goal[3 * n + i] = node->weight > 0 ? (node->goal[i] - r->origin[i]) / r->unit : 0;
        if (node->has_rotation_cost)
            ulna_multiply9(node->rotation_cost, r->edges[n].model, rotated);
        for (int i = 0; i < 9; i++)
            r->rotation_cost[9 * n + i] = rotated[3 * (i % 3) + i / 3] / r->cost_unit;
    }
}

/* Finds positions on which no goal depends; they do not move. `reach` is used for sums of weights. */
static void find_frozen(ulna_relaxation *r)
{
    for (int n = 0; n < r->count; n++)
        r->reach[n] = r->weight[n];
    for (int n = r->count - 1; n > 0; n--)
        r->reach[r->edges[n].parent] += r->reach[n];
    for (int n = 1; n < r->count; n++) {
        const ulna_relax_edge *edge = &r->edges[n];
        const int loose = edge->edge == ULNA_EDGE_FREE || (edge->edge == ULNA_EDGE_TRANSLATION && !edge->limited);
        r->frozen[n] = loose && !(r->reach[n] > 0);
    }
}

/* At the first point, free roots are at the weighted mean of their goals. */
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

/* Reads goals, weights and rotation costs for a solve. */
void ulna_relax_load_goals(ulna_relaxation *r, const ulna_reduced *tree, double posture)
{
    load(r, tree, posture);
    find_frozen(r);
    place_roots(r);
}
