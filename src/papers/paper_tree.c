/*
 * The tree of (9) and (14): positions by (6), observations, and checks of the input. ulna_paper_rules relax the rotations,
 * one set for each form. The cost sum w |y - p|^2 is sum t_k with the block [1, r; rT, t] >= 0, r = sqrt(w) (y - p).
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/math3.h"
#include "papers/paper.h"

static const ulna_paper_rules *const rules[] = {&ulna_paper_literal, &ulna_paper_reduced, &ulna_paper_hull};
static const char *const form_names[] = {"the paper's relaxation", "the paper's relaxation", "the hull relaxation"};

/* ---- unsupported input ------------------------------------------------------------------------------------------- */

/* A translation without a rotation above it is part of the translation t. */
static int is_above_rotations(const ulna_reduced *reduced, int n)
{
    while (reduced->nodes[n].edge == ULNA_EDGE_TRANSLATION || reduced->nodes[n].edge == ULNA_EDGE_BONE)
        n = reduced->nodes[n].parent;
    return n == 0;
}

static ulna_status check_translation(const ulna_reduced *reduced, int n, ulna_paper_form form, ulna_error *error)
{
    const ulna_node *node = &reduced->nodes[n];
    if (is_above_rotations(reduced, n))
        return ULNA_OK;
    if (!rules[form]->translation)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "%s does not cover translations below a rotation",
                         form_names[form]);
    if (!isfinite(node->lower) || !isfinite(node->upper))
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "%s needs both limits of a translation below a rotation",
                         form_names[form]);
    return ULNA_OK;
}

static ulna_status check_tree(const ulna_reduced *reduced, ulna_paper_form form, ulna_error *error)
{
    ulna_status status = ulna_reduced_check(reduced, error);
    int goals = 0, joints = 0;
    for (int n = 0; status == ULNA_OK && n < reduced->count; n++) {
        const ulna_node *node = &reduced->nodes[n];
        if (node->edge == ULNA_EDGE_TRANSLATION)
            status = check_translation(reduced, n, form, error);
        goals += node->weight > 0 || node->has_rotation_cost;
        joints += node->edge != ULNA_EDGE_WORLD && node->edge != ULNA_EDGE_BONE;
    }
    if (status == ULNA_OK && (!goals || !joints))
        return ulna_fail(error, ULNA_ERR_STATE, goals ? "nothing can move" : "there is no goal");
    return status;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* A translation on which no point goal depends is set to 0. */
static int has_points_below(const ulna_reduced *reduced, int root)
{
    for (int n = root; n < reduced->count; n++) {
        int at = n;
        if (!(reduced->nodes[n].weight > 0))
            continue;
        while (at > root)
            at = reduced->nodes[at].parent;
        if (at == root)
            return 1;
    }
    return 0;
}

static void place_free(ulna_paper *paper, int n)
{
    int is_used = has_points_below(paper->reduced, n);
    for (int i = 0; i < 3; i++)
        paper->place[n][i] = is_used ? ulna_program_variable(&paper->program) : ulna_affine_constant(0);
}

/* (6) */
static void place_bone(ulna_paper *paper, int n)
{
    const ulna_node *node = &paper->reduced->nodes[n];
    const ulna_affine *R = paper->rotation[node->parent], *p = paper->place[node->parent];
    const double factor[4] = {1, node->v[0], node->v[1], node->v[2]};
    for (int i = 0; i < 3; i++) {
        const ulna_affine part[4] = {p[i], R[3 * i], R[3 * i + 1], R[3 * i + 2]};
        paper->place[n][i] = ulna_affine_mix(&paper->program, 0, 4, factor, part);
    }
}

/* A translation along a fixed line of the world: exact. */
static void place_translation(ulna_paper *paper, int n)
{
    const ulna_node *node = &paper->reduced->nodes[n];
    ulna_program *program = &paper->program;
    const double plus = 1, minus = -1;
    ulna_affine travel = ulna_affine_constant(fmin(fmax(0, node->lower), node->upper));
    if (node->upper > node->lower && has_points_below(paper->reduced, n)) {
        travel = ulna_program_variable(program);
        if (isfinite(node->lower))
            ulna_program_set(program, ulna_program_block(program, 1), 0, 0,
                             ulna_affine_mix(program, -node->lower, 1, &plus, &travel));
        if (isfinite(node->upper))
            ulna_program_set(program, ulna_program_block(program, 1), 0, 0,
                             ulna_affine_mix(program, node->upper, 1, &minus, &travel));
    }
    for (int i = 0; i < 3; i++) {
        const ulna_affine part[2] = {paper->place[node->parent][i], travel};
        const double factor[2] = {1, node->axis[i]};
        paper->place[n][i] = ulna_affine_mix(program, 0, 2, factor, part);
    }
}

static void stand_in_world(ulna_paper *paper)
{
    for (int i = 0; i < 9; i++)
        paper->rotation[0][i] = ulna_affine_constant(i % 4 == 0);
    for (int i = 0; i < 3; i++)
        paper->place[0][i] = ulna_affine_constant(-paper->reduced->centre[i] / paper->reduced->length);
}

static void walk(ulna_paper *paper, const ulna_paper_rules *rule, int n)
{
    const ulna_node *node = &paper->reduced->nodes[n];
    if (n > 0) {
        memcpy(paper->rotation[n], paper->rotation[node->parent], sizeof paper->rotation[n]);
        memcpy(paper->place[n], paper->place[node->parent], sizeof paper->place[n]);
    }
    switch (node->edge) {
    case ULNA_EDGE_WORLD:
        stand_in_world(paper);
        break;
    case ULNA_EDGE_BONE:
        place_bone(paper, n);
        break;
    case ULNA_EDGE_FREE:
        place_free(paper, n);
        rule->rotation(paper, n);
        return;
    case ULNA_EDGE_BALL:
        rule->rotation(paper, n);
        return;
    case ULNA_EDGE_HINGE:
        rule->hinge(paper, n);
        return;
    case ULNA_EDGE_TRANSLATION:
        if (!is_above_rotations(paper->reduced, n)) {
            rule->translation(paper, n);
            return;
        }
        place_translation(paper, n);
        break;
    }
    if (rule->follow)
        rule->follow(paper, n);
}

/* ---- goals ------------------------------------------------------------------------------------------------------- */

/* A variable t with |sqrt(w) (y - p)|^2 <= t; or the cost itself if p is constant. */
static ulna_affine observe(ulna_paper *paper, int n)
{
    const ulna_node *node = &paper->reduced->nodes[n];
    ulna_program *program = &paper->program;
    double root = sqrt(node->weight), minus = -root, cost = 0;
    int terms = 0;
    for (int i = 0; i < 3; i++) {
        double off = node->goal[i] - paper->place[n][i].constant;
        cost += node->weight * off * off;
        terms += paper->place[n][i].count;
    }
    if (!terms)
        return ulna_affine_constant(cost);
    ulna_affine t = ulna_program_variable(program);
    int block = ulna_program_block(program, 4);
    for (int i = 0; i < 3; i++) {
        ulna_program_set(program, block, i, i, ulna_affine_constant(1));
        ulna_program_set(program, block, 3, i,
                         ulna_affine_mix(program, root * node->goal[i], 1, &minus, &paper->place[n][i]));
    }
    ulna_program_set(program, block, 3, 3, t);
    return t;
}

static void add_goals(ulna_paper *paper, int n)
{
    const ulna_node *node = &paper->reduced->nodes[n];
    ulna_affine part[11] = {paper->program.objective};
    double factor[11] = {1};
    int count = 1;
    if (node->weight > 0) {
        factor[count] = 1;
        part[count++] = observe(paper, n);
    }
    for (int i = 0; i < 9 && node->has_rotation_cost; i++) {
        factor[count] = node->rotation_cost[i];
        part[count++] = paper->rotation[n][i];
    }
    if (count > 1)
        paper->program.objective = ulna_affine_mix(&paper->program, 0, count, factor, part);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static ulna_status allocate(ulna_paper *paper, ulna_paper_form form)
{
    const ulna_allocator *allocator = &paper->program.allocator;
    size_t count = (size_t)paper->reduced->count;
    paper->rotation = ulna_allocate(allocator, count, sizeof *paper->rotation);
    paper->place = ulna_allocate(allocator, count, sizeof *paper->place);
    if (form == ULNA_PAPER_REDUCED)
        paper->known = ulna_allocate(allocator, count, sizeof *paper->known);
    if (form == ULNA_PAPER_HULL)
        paper->span = ulna_allocate(allocator, count, sizeof *paper->span);
    int is_complete = paper->rotation && paper->place && (form != ULNA_PAPER_REDUCED || paper->known) &&
                      (form != ULNA_PAPER_HULL || paper->span);
    return is_complete ? ULNA_OK : ULNA_ERR_MEMORY;
}

ulna_status ulna_paper_create(const ulna_reduced *reduced, ulna_paper_form form, const ulna_allocator *allocator,
                              ulna_paper *paper, ulna_error *error)
{
    if (!paper)
        return ULNA_ERR_ARGUMENT;
    *paper = (ulna_paper){0};
    if (!reduced || reduced->count < 1 || form < ULNA_PAPER_LITERAL || form > ULNA_PAPER_HULL)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no tree, or no such form of the relaxation");
    ulna_status status = check_tree(reduced, form, error);
    if (status != ULNA_OK)
        return status;
    ulna_program_begin(&paper->program, allocator);
    paper->reduced = reduced;
    status = allocate(paper, form);
    if (status == ULNA_OK) {
        paper->program.objective = ulna_affine_constant(reduced->constant);
        for (int n = 0; n < reduced->count; n++)
            walk(paper, rules[form], n);
        for (int n = 0; n < reduced->count; n++)
            add_goals(paper, n);
        status = ulna_program_close(&paper->program);
    }
    if (status != ULNA_OK) {
        ulna_paper_release(paper);
        return ulna_fail(error, status, "%s: %s", form_names[form], ulna_status_text(status));
    }
    return ULNA_OK;
}

void ulna_paper_release(ulna_paper *paper)
{
    if (!paper || !paper->reduced)
        return;
    ulna_allocator allocator = paper->program.allocator;
    size_t count = (size_t)paper->reduced->count;
    ulna_release(&allocator, paper->rotation, count, sizeof *paper->rotation);
    ulna_release(&allocator, paper->place, count, sizeof *paper->place);
    ulna_release(&allocator, paper->known, count, sizeof *paper->known);
    ulna_release(&allocator, paper->span, count, sizeof *paper->span);
    ulna_program_end(&paper->program);
    *paper = (ulna_paper){0};
}
