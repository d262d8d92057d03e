/*
 * A Gauss-Newton step for many poses at once: what the kernel needs of a problem (kinematics/kernel_abreast.inc), lane by lane.
 *
 * Terms on coordinates come with each pose; points and the elimination go abreast.
 */
#include <math.h>
#include <string.h>

#include "objective/problem.h"

struct ulna_abreast {
    ulna_allocator allocator;
    size_t bytes;
    const ulna_problem *problem;
    ulna_abreast_arrays arrays;
    double *local, *inverse; /* 3, 1 for each point */
    double *weight;          /* of each point, if it is there */
    int *term;               /* of each point: the terms are in the caller's order, points sorted by link */
};

/* The position of the root is that of its slides, and no other link of its chain slides. */
static int has_plain_root(const ulna_model *model)
{
    const ulna_link *root = &model->link[0];
    for (int k = 1; k < root->segment_count; k++)
        if (ulna_segment_is_translation(root->segment[k]) && !ulna_segment_is_translation(root->segment[k - 1]))
            return 0;
    return model->reference == 0;
}

static int is_known(const ulna_problem *problem)
{
    const ulna_model *model = problem->model;
    int is_plain = problem->ready && !problem->extra_count && !problem->coupling_count && !problem->kept_count &&
                   (problem->robust.loss == ULNA_LOSS_SQUARE || problem->robust.loss == ULNA_LOSS_GEMAN_MCCLURE);
    for (int i = 0; i < problem->pull_count; i++)
        is_plain &= problem->pull[i].local[3] == 1; /* a point */
    return is_plain && !model->has_general && model->nq == model->nv && has_plain_root(model);
}

static void take_arrays(ulna_abreast *a, ulna_arena *arena)
{
    int count = a->problem->pull_count;
    a->local = ulna_arena_take(arena, 3 * (size_t)count, sizeof *a->local);
    a->inverse = ulna_arena_take(arena, (size_t)count, sizeof *a->inverse);
    a->weight = ulna_arena_take(arena, (size_t)count, sizeof *a->weight);
    a->term = ulna_arena_take(arena, (size_t)count, sizeof *a->term);
    ulna_abreast_take(&a->arrays, count, arena);
}

static void copy_points(ulna_abreast *a)
{
    const ulna_problem *problem = a->problem;
    for (int i = 0; i < problem->pull_count; i++) {
        for (int k = 0; k < 3; k++)
            a->local[3 * i + k] = problem->pull[i].local[k];
        a->inverse[i] = problem->robust.loss == ULNA_LOSS_SQUARE ? 0 : problem->robust.inverse[i];
    }
    for (size_t k = 0; k < problem->term_count; k++)
        if (problem->term[k].type == ULNA_TERM_POINT) {
            a->weight[problem->term[k].slot] = problem->term[k].weight;
            a->term[problem->term[k].slot] = (int)k;
        }
    a->arrays.local = a->local;
    a->arrays.inverse = a->inverse;
}

ulna_status ulna_abreast_create(const ulna_problem *problem, const double *metric, const unsigned char *locked,
                                const ulna_allocator *allocator, ulna_abreast **abreast)
{
    ulna_abreast layout = {
        .allocator = ulna_allocator_or_default(allocator),
        .problem = problem,
        .arrays = {.model = problem->model, .first = problem->pull_first, .metric = metric, .locked = locked}};
    ulna_arena arena = {NULL, sizeof layout, 0};
    *abreast = NULL;
    if (!is_known(problem))
        return ULNA_OK;
    take_arrays(&layout, &arena);
    void *memory = arena.failed ? NULL : ulna_allocate(&layout.allocator, arena.used, 1);
    if (!memory)
        return ULNA_ERR_MEMORY;
    layout.bytes = arena.used;
    arena = (ulna_arena){memory, sizeof layout, 0};
    take_arrays(&layout, &arena);
    copy_points(&layout);
    *abreast = memory;
    **abreast = layout;
    return ULNA_OK;
}

void ulna_abreast_destroy(ulna_abreast *abreast)
{
    if (abreast) {
        ulna_allocator allocator = abreast->allocator;
        ulna_release(&allocator, abreast, abreast->bytes, 1);
    }
}

static void find_origin(const ulna_model *model, const double *q, double origin[3])
{
    const ulna_link *root = &model->link[0];
    memcpy(origin, root->offset, 3 * sizeof *origin);
    for (int s = 0; s < root->segment_count && ulna_segment_is_translation(root->segment[s]); s++)
        for (int k = 0; k < 3; k++)
            origin[k] += q[root->coordinate + s] * root->rotation[root->segment[s] - ULNA_SEGMENT_TX][k];
}

void ulna_abreast_load(ulna_abreast *abreast, int lane, const ulna_work *work, const double *q, double cost,
                       const double *points)
{
    const ulna_abreast_arrays *a = &abreast->arrays;
    const size_t nv = (size_t)a->model->nv, count = (size_t)abreast->problem->pull_count;
    double *row = a->rows + (size_t)lane * a->items, *goal = row + 3 * nv, *weight = goal + 3 * count, origin[3];
    memcpy(row, q, nv * sizeof *row);
    memcpy(row + nv, work->slope, nv * sizeof *row);
    memcpy(row + 2 * nv, work->curve, nv * sizeof *row);
    find_origin(a->model, q, origin);
    for (size_t i = 0; i < count; i++) {
        const double *point = points + 3 * (size_t)abreast->term[i];
        int is_there = !isnan(point[0] + point[1] + point[2]);
        for (size_t k = 0; k < 3; k++)
            goal[3 * i + k] = is_there ? point[k] - origin[k] : 0;
        weight[i] = is_there ? abreast->weight[i] : 0;
    }
    weight[count] = cost;
}

void ulna_abreast_solve(ulna_abreast *abreast, const ulna_work *work, double kappa, double most_f, double least_lambda)
{
    work->pose->kernel->abreast(&abreast->arrays, kappa, most_f, least_lambda);
}

int ulna_abreast_step(const ulna_abreast *abreast, int lane, double *step)
{
    const ulna_abreast_arrays *a = &abreast->arrays;
    for (int d = 0; d < a->model->nv; d++)
        step[d] = a->step[d * ULNA_ABREAST + lane];
    return a->is_good[lane];
}
