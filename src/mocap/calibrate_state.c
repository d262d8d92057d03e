/* The memory of a calibration: markers matched and sorted, groups of bones, key frames, the skeleton at the present scales. */
#include <math.h>

#include "math/math3.h"
#include "mocap/calibrator.h"

#define NO_BONE 1e-6          /* of the length scale: a shorter bone is none */
#define TRUNK_SHARE (1.0 / 3) /* of the markers: a body that carries more is part of the trunk */

/* ---- markers ------------------------------------------------------------------------------------------------------ */

typedef struct place {
    int preorder, item, source;
} place;

static int by_preorder(const void *a, const void *b, const void *context)
{
    (void)context;
    const place *x = a, *y = b;
    return x->preorder != y->preorder ? (x->preorder > y->preorder) - (x->preorder < y->preorder)
                                      : (x->item > y->item) - (x->item < y->item);
}

static void sort_markers(ulna_calibrator *c, const ulna_marker_set *set, place *places)
{
    int count = 0;
    for (size_t i = 0; i < set->count; i++)
        places[count++] = (place){c->base->body[set->items[i].body].preorder, (int)i, c->take->source[i]};
    ulna_sort(places, (size_t)count, sizeof *places, by_preorder, NULL);
    for (int i = 0; i < count; i++) {
        const ulna_attachment *item = &set->items[places[i].item];
        c->item[i] = places[i].item;
        c->source[i] = places[i].source;
        c->body[i] = item->body;
        c->weight[i] = item->weight;
    }
}

static int is_below(const ulna_model *model, int body, int top)
{
    int p = model->body[body].preorder, first = model->body[top].preorder;
    return p >= first && p < first + model->body[top].subtree;
}

static void find_trunk(ulna_calibrator *c)
{
    int awake = 0;
    for (int i = 0; i < c->count; i++) {
        int carried = 0;
        for (int j = 0; j < c->count; j++)
            carried += is_below(c->base, c->body[j], c->body[i]);
        c->trunk[i] = carried > TRUNK_SHARE * c->count;
        awake += c->trunk[i];
    }
    for (int i = 0; i < c->count && awake < 3; i++)
        c->trunk[i] = 1;
}

/* Columns that the DOFs move: markers on bodies of the subtree are neighbours. */
static void find_columns(ulna_calibrator *c)
{
    for (int d = 0; d < c->nv; d++) {
        int first = c->count, last = 0;
        for (int i = 0; i < c->count; i++)
            if (is_below(c->base, c->body[i], c->base->dof_body[d])) {
                first = i < first ? i : first;
                last = i + 1;
            }
        c->first[d] = 1 + c->groups + 3 * (first < last ? first : 0);
        c->last[d] = 1 + c->groups + 3 * last;
    }
}

/* ---- bones --------------------------------------------------------------------------------------------------------- */

static int carries_marker(const ulna_model *model, const int *body, int count, int top)
{
    for (int i = 0; i < count; i++)
        if (is_below(model, body[i], top))
            return 1;
    return 0;
}

/* Is the bone that ends at b a clavicle, or the upper arm that hangs on one? */
static int is_of_shoulder(const ulna_anatomy *anatomy, const ulna_model *model, int b)
{
    int parent = ulna_moving_parent(model, b),
        before = parent == ULNA_NONE ? ULNA_NONE : ulna_moving_parent(model, parent);
    return (parent != ULNA_NONE && anatomy->is_girdle[parent]) || (before != ULNA_NONE && anatomy->is_girdle[before]);
}

/* A group per bone that has a length and moves a marker; with `symmetric`, one for both sides. `shoulders`: NULL for all bones. */
static int group_bones(const ulna_model *model, const int *body, int count, int symmetric,
                       const ulna_anatomy *shoulders, int *group)
{
    const double least = NO_BONE * model->length_scale;
    int groups = 0;
    for (int b = 0; b < model->nb; b++)
        group[b] = -1;
    for (int b = 1; b < model->nb; b++) {
        if (group[b] >= 0 || !(ulna_norm(ulna_body_bone(model, b)) > least) || !carries_marker(model, body, count, b) ||
            (shoulders && !is_of_shoulder(shoulders, model, b)))
            continue;
        int other = symmetric ? ulna_mirror_body(model, b) : ULNA_NONE;
        if (other > 0 && ulna_norm(ulna_body_bone(model, other)) > least)
            group[other] = groups;
        group[b] = groups++;
    }
    return groups;
}

/* Into `group` (nb), for `count` markers on the bodies `body`; how many there are. */
static ulna_status find_groups(const ulna_calibrator *c, const int *body, const double *weight, int *group, int *groups)
{
    ulna_anatomy *shoulders = NULL;
    ulna_status status = ULNA_OK;
    if (c->options.shoulders)
        status = ulna_anatomy_create(c->base, body, weight, c->count, &c->allocator, &shoulders);
    if (status == ULNA_OK)
        *groups = group_bones(c->base, body, c->count, c->options.symmetric, shoulders, group);
    ulna_anatomy_destroy(shoulders);
    return status;
}

static void find_paths(ulna_calibrator *c)
{
    size_t groups = (size_t)c->groups;
    for (int b = 1; b < c->nb; b++) {
        int parent = c->base->body[b].parent, count = c->path_count[parent], known = 0;
        int *path = c->path + (size_t)b * groups;
        memcpy(path, c->path + (size_t)parent * groups, (size_t)count * sizeof *path);
        for (int i = 0; i < count; i++)
            known |= path[i] == c->group[b];
        if (c->group[b] >= 0 && !known)
            path[count++] = c->group[b];
        c->path_count[b] = count;
    }
}

/* The rest of the body's own bone ends, on average, where its children begin. */
static void middle_of_bone(const ulna_model *model, int body, double middle[3])
{
    int children = 0;
    memset(middle, 0, 3 * sizeof *middle);
    for (int b = body + 1; b < model->nb; b++)
        if (model->body[b].parent == body) {
            children++;
            for (int k = 0; k < 3; k++)
                middle[k] += 0.5 * model->body[b].placement_position[k];
        }
    for (int k = 0; k < 3 && children; k++)
        middle[k] /= children;
}

/* ---- memory --------------------------------------------------------------------------------------------------------- */

static void take_arrays(ulna_calibrator *c, ulna_arena *arena)
{
    size_t nz = (size_t)c->nz, nv = (size_t)c->nv, nq = (size_t)c->nq, nb = (size_t)c->nb, count = (size_t)c->count;
    size_t groups = (size_t)c->groups;
    int **integers[] = {&c->source, &c->item, &c->body};
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        *integers[i] = ulna_arena_take(arena, count, sizeof(int));
    c->weight = ulna_arena_take(arena, count, sizeof(double));
    c->trunk = ulna_arena_take(arena, count, 1);
    c->expected = ulna_arena_take(arena, count, sizeof *c->expected);
    c->pairs = ulna_arena_take(arena, count, sizeof *c->pairs);
    c->group = ulna_arena_take(arena, nb, sizeof(int));
    c->usable = ulna_arena_take(arena, (size_t)c->take->frame_count, sizeof(int));
    c->held = ulna_arena_take(arena, (size_t)c->take->frame_count, sizeof(int));
    double **unknowns[] = {&c->z, &c->saved, &c->step, &c->gradient, &c->diagonal};
    for (size_t i = 0; i < sizeof unknowns / sizeof *unknowns; i++)
        *unknowns[i] = ulna_arena_take(arena, nz, sizeof(double));
    c->matrix = ulna_arena_take(arena, nz * nz, sizeof(double));
    c->factor = ulna_arena_take(arena, nz * nz, sizeof(double));
    c->scaled_at = ulna_arena_take(arena, groups, sizeof(double));
    double **dofs[] = {&c->dof_posture, &c->pivot, &c->slope};
    for (size_t i = 0; i < sizeof dofs / sizeof *dofs; i++)
        *dofs[i] = ulna_arena_take(arena, nv, sizeof(double));
    c->follow = ulna_arena_take(arena, 3 * nv, sizeof(double));
    c->trial = ulna_arena_take(arena, nq, sizeof(double));
    c->rest = ulna_arena_take(arena, nq, sizeof(double));
    c->best = ulna_arena_take(arena, nq, sizeof(double));
    c->first = ulna_arena_take(arena, nv, sizeof(int));
    c->last = ulna_arena_take(arena, nv, sizeof(int));
    c->W = ulna_arena_take(arena, nv * c->stride, sizeof(double));
    c->rows = ulna_arena_take(arena, c->base->tree.row[nv], sizeof(double));
    c->rotation = ulna_arena_take(arena, 9 * nb, sizeof(double));
    c->drift = ulna_arena_take(arena, 3 * nb * groups, sizeof(double));
    c->wrench = ulna_arena_take(arena, 6 * nb * groups, sizeof(double));
    c->path = ulna_arena_take(arena, nb * groups, sizeof(int));
    c->path_count = ulna_arena_take(arena, nb, sizeof(int));
    c->mass = ulna_arena_take(arena, 7 * nb, sizeof(double));
    c->panel = ulna_arena_take(arena, nb, sizeof *c->panel);
    c->square = ulna_arena_take(arena, nb, sizeof *c->square);
    c->panel_rows = ulna_arena_take(arena, nb, sizeof(int));
    c->panel_width = ulna_arena_take(arena, nb, sizeof(int));
}

static void take_panels(ulna_calibrator *c, ulna_arena *arena)
{
    for (int b = 0; b < c->nb; b++) {
        if (!c->base->body[b].dof_count)
            continue;
        int d = c->base->body[b].dof, width = (1 + c->groups + c->last[d] - c->first[d] + 7) / 8 * 8;
        c->panel_width[b] = width;
        c->panel[b] = ulna_arena_take(arena, (size_t)ULNA_PANEL_ROWS * (size_t)width, sizeof(double));
        c->square[b] = ulna_arena_take(arena, (size_t)width * (size_t)width, sizeof(double));
    }
}

static const ulna_reduce_kernel *find_kernel(void)
{
#ifndef ULNA_NO_X86
    if (ulna_cpu_runs("avx2"))
        return &ulna_reduce_avx2;
#endif
    return &ulna_reduce_portable;
}

static void set_options(ulna_calibrator *c)
{
    ulna_options o = ulna_options_default();
    o.bounded = 0;
    o.hybrid.exact = o.hybrid.verify = 0;
    o.hybrid.trust_last = 1;
    c->warm = c->cold = o;
    c->warm.decrease = 1e-3;
    c->warm.iterations = 20;
    c->warm.hybrid.kappa = 0.03;
    c->cold.decrease = 1e-4;
    c->cold.iterations = 60;
    c->cold.hybrid.kappa = 1;
}

static void set_start(ulna_calibrator *c, const ulna_marker_set *set)
{
    for (int i = 0; i < c->count; i++) {
        const ulna_attachment *item = &set->items[c->item[i]];
        const double *offset = item->offset;
        ulna_copy3(offset, ulna_offset(c, i));
        if (!item->is_joint && offset[0] == 0 && offset[1] == 0 && offset[2] == 0)
            middle_of_bone(c->base, c->body[i], ulna_offset(c, i));
    }
}

/* Fills a calibrator that knows how many markers there are. */
static ulna_status fill(ulna_calibrator *c, const ulna_marker_set *set, place *places, ulna_error *error)
{
    ulna_arena arena = {NULL, 0, 0};
    take_arrays(c, &arena);
    c->bytes = arena.used;
    c->memory = arena.failed ? NULL : ulna_allocate(&c->allocator, c->bytes, 1);
    if (!c->memory)
        return ULNA_ERR_MEMORY;
    arena = (ulna_arena){c->memory, 0, 0};
    take_arrays(c, &arena);
    sort_markers(c, set, places);
    int groups;
    ulna_status status = find_groups(c, c->body, c->weight, c->group, &groups);
    if (status != ULNA_OK)
        return status;
    for (int b = 0; b < c->nb && !c->options.scale; b++)
        c->group[b] = -1;
    find_paths(c);
    find_trunk(c);
    find_columns(c);
    set_start(c, set);
    memcpy(c->rest, c->options.static_pose ? c->options.static_pose : c->base->rest, (size_t)c->nq * sizeof *c->rest);
    if (c->options.static_arms && !c->options.static_pose)
        status = ulna_standing_pose(c->base, c->options.static_arms, &c->allocator, c->rest, error);
    if (status == ULNA_OK)
        status = ulna_calibrator_expect(c, set);
    if (status != ULNA_OK)
        return status;

    arena = (ulna_arena){NULL, 0, 0};
    take_panels(c, &arena);
    c->panel_bytes = arena.used;
    c->panel_memory = arena.failed ? NULL : ulna_allocate(&c->allocator, c->panel_bytes, 1);
    if (!c->panel_memory && c->panel_bytes)
        return ULNA_ERR_MEMORY;
    arena = (ulna_arena){c->panel_memory, 0, 0};
    take_panels(c, &arena);
    return ulna_calibrator_apply(c);
}

/* Groups are counted before there is memory for them. */
static ulna_status count_groups(ulna_calibrator *c, const ulna_marker_set *set, ulna_error *error)
{
    size_t nb = (size_t)c->nb, count = set->count;
    int *scratch = ulna_allocate(&c->allocator, nb + count, sizeof *scratch);
    double *weight = ulna_allocate(&c->allocator, count, sizeof *weight);
    ulna_status status = scratch && weight ? ULNA_OK : ULNA_ERR_MEMORY;
    for (size_t i = 0; i < count && status == ULNA_OK; i++) {
        scratch[nb + i] = set->items[i].body;
        weight[i] = set->items[i].weight;
    }
    if (status == ULNA_OK && c->options.scale)
        status = find_groups(c, scratch + nb, weight, scratch, &c->groups);
    ulna_release(&c->allocator, scratch, nb + count, sizeof *scratch);
    ulna_release(&c->allocator, weight, count, sizeof *weight);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for a calibration");
    if (c->options.shoulders && !c->groups)
        return ulna_fail(error, ULNA_ERR_MODEL,
                         "the skeleton has no clavicles, with one marker each at most, between its spine and its arms: "
                         "find all lengths instead");
    return ULNA_OK;
}

ulna_status ulna_calibrator_create(const ulna_take *take, const ulna_marker_set *set,
                                   const ulna_calibrate_options *options, ulna_calibrator **calibrator,
                                   ulna_error *error)
{
    ulna_allocator allocator = take->allocator;
    ulna_calibrator *c = ulna_allocate(&allocator, 1, sizeof *c);
    place *places = ulna_allocate(&allocator, set->count, sizeof *places);
    *calibrator = c;
    if (c)
        c->allocator = allocator;
    if (!c || !places) {
        ulna_release(&allocator, places, set->count, sizeof *places);
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a calibration");
    }
    *c = (ulna_calibrator){.allocator = allocator,
                           .base = take->model,
                           .take = take,
                           .options = *options,
                           .kernel = find_kernel(),
                           .nv = take->model->nv,
                           .nq = take->model->nq,
                           .nb = take->model->nb,
                           .count = (int)set->count,
                           .random = options->seed,
                           .unit = take->model->length_scale / ULNA_ADULT_LENGTH_SCALE,
                           .posture = options->posture};
    set_options(c);
    ulna_status status = count_groups(c, set, error);
    c->nz = c->groups + 3 * c->count;
    c->stride = (size_t)(1 + c->nz + 1 + 7) / 8 * 8; /* a zero may follow the last column */
    if (status == ULNA_OK) {
        status = fill(c, set, places, error);
        if (status == ULNA_ERR_MEMORY)
            ulna_fail(error, status, "the calibration of %d markers could not be set up: %s", c->count,
                      ulna_status_text(status));
    }
    ulna_release(&allocator, places, set->count, sizeof *places);
    return status;
}

static void release_rig(ulna_calibrator *c)
{
    ulna_solver_destroy(c->solver);
    ulna_problem_destroy(c->problem);
    ulna_model_destroy(c->scaled);
    c->solver = NULL;
    c->problem = NULL;
    c->scaled = NULL;
}

static void release_keys(ulna_calibrator *c)
{
    size_t n = c->key_room, nq = (size_t)c->nq, count = (size_t)c->count;
    ulna_release(&c->allocator, c->frame, n, sizeof *c->frame);
    ulna_release(&c->allocator, c->f, n, sizeof *c->f);
    ulna_release(&c->allocator, c->q, n * nq, sizeof *c->q);
    ulna_release(&c->allocator, c->saved_q, n * nq, sizeof *c->saved_q);
    ulna_release(&c->allocator, c->goal, 3 * n * count, sizeof *c->goal);
    ulna_release(&c->allocator, c->pull, n * count, sizeof *c->pull);
    c->frame = NULL;
    c->f = c->q = c->saved_q = c->goal = c->pull = NULL;
    c->keys = 0;
    c->key_room = 0;
}

void ulna_calibrator_destroy(ulna_calibrator *c)
{
    if (c) {
        ulna_allocator allocator = c->allocator;
        release_rig(c);
        release_keys(c);
        ulna_release(&allocator, c->panel_memory, c->panel_bytes, 1);
        ulna_release(&allocator, c->memory, c->bytes, 1);
        ulna_release(&allocator, c, 1, sizeof *c);
    }
}

/* ---- key frames ------------------------------------------------------------------------------------------------------- */

void ulna_calibrator_gather(const ulna_calibrator *c, int frame, double *goal)
{
    for (int i = 0; i < c->count; i++)
        ulna_take_marker(c->take, frame, c->source[i], goal + 3 * i);
}

ulna_status ulna_calibrator_set_keys(ulna_calibrator *c, int keys, const int *frames)
{
    size_t n = (size_t)keys, nq = (size_t)c->nq, count = (size_t)c->count;
    release_keys(c);
    c->key_room = n;
    c->keys = keys;
    c->frame = ulna_allocate(&c->allocator, n, sizeof *c->frame);
    c->f = ulna_allocate(&c->allocator, n, sizeof *c->f);
    c->q = ulna_allocate(&c->allocator, n * nq, sizeof *c->q);
    c->saved_q = ulna_allocate(&c->allocator, n * nq, sizeof *c->saved_q);
    c->goal = ulna_allocate(&c->allocator, 3 * n * count, sizeof *c->goal);
    c->pull = ulna_allocate(&c->allocator, n * count, sizeof *c->pull);
    if (!c->frame || !c->f || !c->q || !c->saved_q || !c->goal || !c->pull)
        return ULNA_ERR_MEMORY;
    for (int k = 0; k < keys; k++) {
        c->frame[k] = frames[k];
        ulna_calibrator_gather(c, frames[k], ulna_key_goal(c, k));
        for (int i = 0; i < c->count; i++)
            ulna_key_pull(c, k)[i] = isnan(ulna_key_goal(c, k)[3 * i]) ? 0 : c->weight[i];
        memcpy(ulna_key_q(c, k), c->rest, nq * sizeof *c->q);
    }
    return ULNA_OK;
}

/* ---- the skeleton at the present scales ------------------------------------------------------------------------------- */

static ulna_status scale_model(ulna_calibrator *c)
{
    double *lengths = ulna_allocate(&c->allocator, (size_t)c->nb, sizeof *lengths);
    if (!lengths)
        return ULNA_ERR_MEMORY;
    for (int b = 0; b < c->nb; b++)
        lengths[b] = ulna_model_bone_length(c->base, b) * (c->group[b] >= 0 ? 1 + c->z[c->group[b]] : 1);
    ulna_status status = ulna_model_with_lengths(c->base, lengths, &c->allocator, &c->scaled, NULL);
    ulna_release(&c->allocator, lengths, (size_t)c->nb, sizeof *lengths);
    return status;
}

static ulna_status make_rig(ulna_calibrator *c)
{
    static const double nowhere[3] = {0, 0, 0};
    const ulna_model *model = c->scaled ? c->scaled : c->base;
    const double square = c->unit * c->unit;
    ulna_status status = ulna_problem_create(model, &c->allocator, &c->problem, NULL);
    if (status == ULNA_OK) /* weights are in m^2/rad^2, whatever the scales of bones are */
        status = ulna_problem_set_length(c->problem, c->unit);
    for (int i = 0; i < c->count && status == ULNA_OK; i++)
        status = ulna_problem_add_point(c->problem, c->body[i], ulna_offset(c, i), nowhere, c->weight[i], NULL, NULL);
    if (status == ULNA_OK && c->options.posture > 0)
        status = ulna_problem_add_posture(c->problem, c->rest, c->dof_posture, c->posture / square, NULL, NULL);
    if (status == ULNA_OK && c->options.limits > 0)
        status = ulna_problem_add_limits(c->problem, NULL, NULL, c->options.limits / square, NULL, NULL);
    if (status == ULNA_OK)
        status = ulna_problem_ready(c->problem, NULL);
    c->is_cold = 0;
    return status == ULNA_OK ? ulna_solver_create(c->problem, &c->warm, &c->allocator, &c->solver, NULL) : status;
}

void ulna_calibrator_set_posture(ulna_calibrator *c, double posture)
{
    c->posture = posture;
    if (c->problem && c->options.posture > 0)
        ulna_problem_set_weight(c->problem, c->count, posture / (c->unit * c->unit));
}

ulna_status ulna_calibrator_apply(ulna_calibrator *c)
{
    size_t bytes = (size_t)c->groups * sizeof *c->z;
    if (c->solver && (!c->groups || memcmp(c->z, c->scaled_at, bytes) == 0))
        return ULNA_OK;
    release_rig(c);
    ulna_status status = c->groups ? scale_model(c) : ULNA_OK;
    memcpy(c->scaled_at, c->z, bytes);
    return status == ULNA_OK ? make_rig(c) : status;
}
