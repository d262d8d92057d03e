/*
 * A Gauss-Newton step for many poses at once, and the distances of their points: what the kernel needs of a problem (kinematics/kernel_abreast.inc), lane by lane.
 *
 * Of the problem only its points count, with goals that come with each pose. What holds coordinates is given apart, since it
 * is about the poses before and after.
 */
#include <math.h>
#include <string.h>

#include "objective/problem.h"

struct ulna_abreast {
    ulna_allocator allocator;
    size_t bytes;
    const ulna_problem *problem;
    ulna_abreast_arrays arrays;
    double *local, *inverse;                             /* 3, 1 for each point */
    double *hold_weight, *inverse_weight, *inverse_more; /* nv: what the arrays have */
    double *weight;                                      /* of each point, if it is there */
    int *term;            /* of each point: the terms are in the caller's order, points sorted by link */
    int *link, *bare_dof; /* what the arrays have */
    double *points;       /* ULNA_ABREAST x 4 for each point */
    double *nothing;      /* 4 for each point, or nv: zeros, for lanes that are not used */
};

/* Translations of the root come before its rotations, and goals are seen from it: it is the link near which coordinates are taken. */
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
    size_t count = (size_t)a->arrays.count, nv = (size_t)a->arrays.model->nv;
    a->local = ulna_arena_take(arena, 3 * count, sizeof *a->local);
    a->inverse = ulna_arena_take(arena, count, sizeof *a->inverse);
    a->weight = ulna_arena_take(arena, count, sizeof *a->weight);
    a->term = ulna_arena_take(arena, count, sizeof *a->term);
    a->link = ulna_arena_take(arena, (size_t)a->arrays.model->nl, sizeof *a->link);
    a->bare_dof = ulna_arena_take(arena, nv, sizeof *a->bare_dof);
    a->hold_weight = ulna_arena_take(arena, nv, sizeof *a->hold_weight);
    a->inverse_weight = ulna_arena_take(arena, nv, sizeof *a->inverse_weight);
    a->inverse_more = ulna_arena_take(arena, nv, sizeof *a->inverse_more);
    a->points = ulna_arena_take(arena, 4 * count * ULNA_ABREAST, sizeof *a->points);
    a->nothing = ulna_arena_take(arena, 4 * count > nv ? 4 * count : nv, sizeof *a->nothing);
    ulna_abreast_take(&a->arrays, arena);
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

/* From the leaves on: a link is loaded if it has points, or one of its children is. */
static void find_loaded(ulna_abreast *a)
{
    const ulna_model *model = a->arrays.model;
    int *is_loaded = a->link;
    for (int l = 0; l < model->nl; l++)
        is_loaded[l] = a->arrays.first[l + 1] > a->arrays.first[l];
    for (int l = model->nl - 1; l > 0; l--)
        is_loaded[model->link[l].parent] |= is_loaded[l];
    for (int l = 0; l < model->nl; l++) {
        const ulna_link *link = &model->link[l];
        if (is_loaded[l]) /* a place that has been read */
            a->link[a->arrays.loaded++] = l;
        else
            for (int d = link->dof; d < link->dof + link->dof_count; d++)
                a->bare_dof[a->arrays.bare++] = d;
    }
    a->arrays.link = a->link;
    a->arrays.bare_dof = a->bare_dof;
}

static void sum_weights(ulna_abreast *a)
{
    const ulna_abreast_hold *h = &a->arrays.hold;
    for (int d = 0; d < a->arrays.model->nv; d++) {
        double weight = h->side + h->rest_weight[d] + (h->grouped && h->group[d] >= 0 ? h->group_weight : 0);
        a->hold_weight[d] = weight;
        a->inverse_weight[d] = 1 / weight;
        a->inverse_more[d] = 1 / (weight + h->side) - 1 / weight;
    }
    a->arrays.weight = a->hold_weight;
    a->arrays.inverse_weight = a->inverse_weight;
    a->arrays.inverse_more = a->inverse_more;
}

static void empty_lane(ulna_abreast *a, int lane)
{
    a->arrays.row[lane] = a->arrays.before[lane] = a->arrays.after[lane] = a->arrays.points[lane] = a->nothing;
    a->arrays.sides[lane] = 1;
}

static void empty_lanes(ulna_abreast *abreast)
{
    for (int lane = 0; lane < ULNA_ABREAST; lane++)
        empty_lane(abreast, lane);
}

ulna_status ulna_abreast_create(const ulna_problem *problem, const double *metric, const unsigned char *locked,
                                const ulna_abreast_hold *hold, const ulna_allocator *allocator, ulna_abreast **abreast)
{
    ulna_abreast layout = {.allocator = ulna_allocator_or_default(allocator),
                           .problem = problem,
                           .arrays = {.model = problem->model,
                                      .first = problem->pull_first,
                                      .count = problem->pull_count,
                                      .metric = metric,
                                      .locked = locked,
                                      .hold = *hold}};
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
    find_loaded(&layout);
    sum_weights(&layout);
    empty_lanes(&layout);
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

/* A point that is missing has no weight, and is `missing` instead. */
static void load_pose(ulna_abreast *abreast, int lane, const double *q, const double *points, double missing)
{
    ulna_abreast_arrays *a = &abreast->arrays;
    double *row = abreast->points + 4 * (size_t)a->count * (size_t)lane, origin[3];
    a->points[lane] = row;
    a->row[lane] = q;
    find_origin(a->model, q, origin);
    for (int i = 0; i < a->count; i++, row += 4) {
        const double *point = points + 3 * (size_t)abreast->term[i];
        int is_there = !isnan(point[0] + point[1] + point[2]);
        for (int k = 0; k < 3; k++)
            row[k] = is_there ? point[k] - origin[k] : missing;
        row[3] = is_there ? abreast->weight[i] : 0;
    }
}

void ulna_abreast_load(ulna_abreast *abreast, int lane, const double *q, const double *before, const double *after,
                       const double *points)
{
    ulna_abreast_arrays *a = &abreast->arrays;
    load_pose(abreast, lane, q, points, 0);
    a->before[lane] = before ? before : q; /* no way to go */
    a->after[lane] = after ? after : q;
    a->sides[lane] = (before != NULL) + (after != NULL);
}

void ulna_abreast_solve(ulna_abreast *abreast, const ulna_work *work, double kappa, double most_f, double least_lambda)
{
    work->pose->kernel->abreast(&abreast->arrays, kappa, most_f, least_lambda);
    empty_lanes(abreast);
}

int ulna_abreast_step(const ulna_abreast *abreast, int lane, double *step)
{
    const ulna_abreast_arrays *a = &abreast->arrays;
    for (int d = 0; d < a->model->nv; d++)
        step[d] = a->step[d * ULNA_ABREAST + lane];
    return a->is_good[lane];
}

void ulna_abreast_load_measured(ulna_abreast *abreast, int lane, const double *q, const double *points)
{
    load_pose(abreast, lane, q, points, (double)NAN);
}

ulna_status ulna_abreast_measure(ulna_abreast *abreast, const ulna_work *work)
{
    int is_finite = work->pose->kernel->abreast_distances(&abreast->arrays);
    empty_lanes(abreast);
    return is_finite ? ULNA_OK : ULNA_ERR_NUMBER;
}

void ulna_abreast_distances(const ulna_abreast *abreast, int lane, double *distances)
{
    const ulna_abreast_arrays *a = &abreast->arrays;
    for (int i = 0; i < a->count; i++)
        distances[abreast->term[i]] = a->distance[i * ULNA_ABREAST + lane];
}
