/*
 * Parts: tips that share no joint are independent problems, and joints that move no tip are none at all.
 *
 * A hand with a fixed palm is five chains; the arms and a leg of a robot that stands are two problems; the fingers of a gripper do not
 * matter to the arm that carries it. Each part is a reach of its own on a model with only the bodies that matter, so a part that is a
 * serial chain takes the fast solve, and starts that suit one part need not suit the others at the same time. The norms of the distance
 * from the seed split into parts, too, so the nearest solutions of all parts are the nearest of all.
 */
#include "reach/reach.h"

#include <math.h>
#include <string.h>

/* ---- which tips belong together -------------------------------------------------------------------------------------------- */

/* For setting up. group[i] leads to the first tip of the group that tip i is in. */
typedef struct plan {
    const ulna_reach *reach;
    const ulna_reach_tip *tips;
    int *group;          /* tips */
    int *owner, *master; /* nv: a tip that the DOF moves, or ULNA_NONE; the DOF that decides about it */
    unsigned char *keep; /* nb: of one part */
    int *small;          /* nb: number of the body in the part */
    /* Arguments of the part's reach. */
    ulna_reach_tip *tip;
    double *lower, *upper, *strength, *distance_weight, *posture;
    unsigned char *locked;
} plan;

static void take_arrays(plan *p, ulna_arena *arena)
{
    const ulna_model *model = p->reach->model;
    size_t nv = (size_t)model->nv, nb = (size_t)model->nb, tips = (size_t)p->reach->tip_count;
    p->group = ulna_arena_take(arena, tips, sizeof *p->group);
    p->owner = ulna_arena_take(arena, nv, sizeof *p->owner);
    p->master = ulna_arena_take(arena, nv, sizeof *p->master);
    p->keep = ulna_arena_take(arena, nb, 1);
    p->small = ulna_arena_take(arena, nb, sizeof *p->small);
    p->tip = ulna_arena_take(arena, tips, sizeof *p->tip);
    p->lower = ulna_arena_take(arena, nv, sizeof *p->lower);
    p->upper = ulna_arena_take(arena, nv, sizeof *p->upper);
    p->strength = ulna_arena_take(arena, nv, sizeof *p->strength);
    p->distance_weight = ulna_arena_take(arena, nv, sizeof *p->distance_weight);
    p->posture = ulna_arena_take(arena, (size_t)model->nq, sizeof *p->posture);
    p->locked = ulna_arena_take(arena, nv, 1);
}

static int find_group(const plan *p, int tip)
{
    while (p->group[tip] != tip)
        tip = p->group[tip];
    return tip;
}

static int is_above(const ulna_model *model, int ancestor, int body)
{
    return body != ULNA_NONE && ulna_model_is_ancestor(model, ancestor, body);
}

/* Joins tips that a free DOF moves both of. What moves tip and goal alike does not count. */
static void join_groups(const plan *p)
{
    const ulna_model *model = p->reach->model;
    for (int j = 0; j < model->nv; j++) {
        p->owner[j] = ULNA_NONE;
        p->master[j] = j;
    }
    for (int i = 0; i < model->nc; i++)
        p->master[model->coupling[i].dof] = model->coupling[i].master;
    for (int i = 0; i < p->reach->tip_count; i++)
        p->group[i] = i;
    for (int i = 0; i < p->reach->tip_count; i++)
        for (int j = 0; j < model->nv; j++) {
            int body = model->dof_body[j], master = p->master[j];
            if (p->reach->locked[master] ||
                is_above(model, body, p->tips[i].body) == is_above(model, body, p->tips[i].relative_to))
                continue;
            if (p->owner[master] == ULNA_NONE)
                p->owner[master] = i;
            int a = find_group(p, i), b = find_group(p, p->owner[master]);
            p->group[a > b ? a : b] = a > b ? b : a;
        }
}

static void keep_chain(const plan *p, int body)
{
    const ulna_model *model = p->reach->model;
    for (; body != ULNA_NONE && !p->keep[body]; body = model->body[body].parent)
        p->keep[body] = 1;
}

/* Does the DOF decide about the tips of a group? */
static int is_owned(const plan *p, int group, int dof)
{
    int owner = p->owner[p->master[dof]];
    return owner != ULNA_NONE && find_group(p, owner) == group;
}

/* A coordinate of its DOF; those of a quaternion belong together. */
static int owns_coordinate(const plan *p, int group, int body, int coordinate)
{
    const ulna_model *model = p->reach->model;
    for (int k = 0; k < model->body[body].dof_count; k++) {
        int dof = model->body[body].dof + k, c = model->dof_coordinate[dof];
        if ((c < 0 || c == coordinate) && is_owned(p, group, dof))
            return 1;
    }
    return 0;
}

/* Marks the bodies of a group: from the root to its tips, and those of masters. Returns how many DOFs they have. */
static int keep_bodies(const plan *p, int group)
{
    const ulna_model *model = p->reach->model;
    int dofs = 0;
    memset(p->keep, 0, (size_t)model->nb);
    for (int i = 0; i < p->reach->tip_count; i++)
        if (find_group(p, i) == group) {
            keep_chain(p, p->tips[i].body);
            keep_chain(p, p->tips[i].relative_to);
        }
    for (int i = 0; i < model->nc; i++) /* no master is itself coupled */
        if (p->keep[model->dof_body[model->coupling[i].dof]])
            keep_chain(p, model->dof_body[model->coupling[i].master]);
    for (int j = 0; j < model->nv; j++)
        dofs += p->keep[model->dof_body[j]];
    return dofs;
}

/* ---- the model of a part ------------------------------------------------------------------------------------------------------- */

static ulna_status copy_body(const plan *p, ulna_builder *builder, int body, ulna_error *error)
{
    const ulna_model *model = p->reach->model;
    const ulna_body *from = &model->body[body];
    int parent = from->parent == ULNA_NONE ? ULNA_NONE : p->small[from->parent], made;
    ulna_status status = ulna_builder_add_body(builder, ulna_model_body_name(model, body), parent, &made, error);
    if (status != ULNA_OK)
        return status;
    p->small[body] = made;
    status = ulna_builder_set_placement(builder, made, from->placement_position, from->placement_rotation, error);
    if (status == ULNA_OK)
        status = ulna_builder_set_offset(builder, made, from->offset_position, from->offset_rotation, error);
    if (status == ULNA_OK)
        status = ulna_builder_set_joint(builder, made, &model->joint[body], error);
    for (int k = 0; k < from->dof_count && status == ULNA_OK; k++) {
        int j = from->dof + k;
        if (model->dof_coordinate[j] >= 0)
            status = ulna_builder_set_limits(builder, made, k, model->lower[j], model->upper[j], error);
        if (status == ULNA_OK)
            status = ulna_builder_set_strength(builder, made, k, model->strength[j], error);
    }
    if (status == ULNA_OK && from->coordinate_count)
        status = ulna_builder_set_rest(builder, made, model->rest + from->coordinate, from->coordinate_count, error);
    return status;
}

static ulna_status copy_model(const plan *p, ulna_model **result, ulna_error *error)
{
    const ulna_model *model = p->reach->model;
    ulna_builder *builder = NULL;
    ulna_status status = ulna_builder_create(&p->reach->allocator, &builder);
    for (int body = 0; body < model->nb && status == ULNA_OK; body++)
        if (p->keep[body])
            status = copy_body(p, builder, body, error);
    for (int i = 0; i < model->nc && status == ULNA_OK; i++) {
        const ulna_coupling *c = &model->coupling[i];
        int body = model->dof_body[c->dof], master = model->dof_body[c->master];
        if (p->keep[body])
            status = ulna_builder_couple(builder, p->small[body], c->dof - model->body[body].dof, p->small[master],
                                         c->master - model->body[master].dof, c->multiplier, c->offset, error);
    }
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, &p->reach->allocator, result, error);
    ulna_builder_destroy(builder);
    return status;
}

/* ---- one part -------------------------------------------------------------------------------------------------------------------- */

/* Which numbers of the whole belong to the part; its arrays in one block. */
static ulna_status number_part(const plan *p, int group, ulna_reach_part *part)
{
    const ulna_model *model = p->reach->model;
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        int tips = 0, dofs = 0, coordinates = 0, own = 0;
        for (int i = 0; i < p->reach->tip_count; i++)
            if (find_group(p, i) == group) {
                if (pass)
                    part->tip[tips] = i;
                tips++;
            }
        for (int body = 0; body < model->nb; body++) {
            const ulna_body *from = &model->body[body];
            for (int k = 0; k < from->dof_count && p->keep[body]; k++, dofs++)
                if (pass)
                    part->dof[dofs] = from->dof + k;
            for (int k = 0; k < from->coordinate_count && p->keep[body]; k++, coordinates++) {
                int is_own = owns_coordinate(p, group, body, from->coordinate + k);
                if (pass)
                    part->coordinate[coordinates] = from->coordinate + k;
                if (pass && is_own)
                    part->own[own] = coordinates;
                own += is_own;
            }
        }
        if (pass)
            break;
        part->tip_count = tips;
        part->nv = dofs;
        part->nq = coordinates;
        part->own_count = own;
        part->bytes = ((size_t)tips + (size_t)dofs + (size_t)coordinates + (size_t)own) * sizeof(int);
        part->tip = ulna_allocate(&p->reach->allocator, part->bytes, 1);
        if (!part->tip)
            return ULNA_ERR_MEMORY;
        part->dof = part->tip + tips;
        part->coordinate = part->dof + dofs;
        part->own = part->coordinate + coordinates;
    }
    return ULNA_OK;
}

/* Joints outside the part that follow one of it move with that one, and count in the distance. */
static void weigh_followers(const plan *p, const ulna_reach_options *given, const ulna_reach_part *part)
{
    const ulna_reach *reach = p->reach;
    const ulna_model *model = reach->model;
    for (int i = 0; i < model->nc; i++)
        for (int j = 0; j < part->nv && !p->keep[model->dof_body[model->coupling[i].dof]]; j++) {
            const int dof = model->coupling[i].dof;
            if (part->dof[j] != model->coupling[i].master)
                continue;
            const double own = given->distance_weight ? given->distance_weight[dof] : 1;
            const double more =
                own * fabs(model->coupling[i].multiplier) * reach->unit[part->dof[j]] / reach->unit[dof];
            double *weight = &p->distance_weight[j];
            *weight = given->norm == ULNA_REACH_NORM_LARGEST ? fmax(*weight, more) : hypot(*weight, more);
        }
}

/* What moves a tip of the part and what its goal is relative to alike is locked in the part. */
static ulna_status make_part(const plan *p, const ulna_reach_options *given, int part_count, int group,
                             ulna_reach_part *part, ulna_error *error)
{
    const ulna_reach *reach = p->reach;
    ulna_reach_options options = *given;
    for (int i = 0; i < reach->model->nc; i++)
        part->is_followed |= is_owned(p, group, reach->model->coupling[i].master);
    ulna_status status = copy_model(p, &part->model, error);
    if (status != ULNA_OK)
        return status;
    for (int i = 0; i < part->tip_count; i++) {
        ulna_reach_tip *tip = &p->tip[i];
        *tip = p->tips[part->tip[i]];
        tip->body = p->small[tip->body];
        tip->relative_to = tip->relative_to == ULNA_NONE ? ULNA_NONE : p->small[tip->relative_to];
    }
    for (int j = 0; j < part->nv; j++) {
        p->lower[j] = reach->lower[part->dof[j]];
        p->upper[j] = reach->upper[part->dof[j]];
        p->strength[j] = (given->strength ? given->strength : reach->model->strength)[part->dof[j]];
        p->distance_weight[j] = given->distance_weight ? given->distance_weight[part->dof[j]] : 1;
        p->locked[j] = !is_owned(p, group, part->dof[j]);
    }
    weigh_followers(p, given, part);
    for (int c = 0; c < part->nq && reach->posture; c++)
        p->posture[c] = reach->posture[part->coordinate[c]];
    options.lower = p->lower;
    options.upper = p->upper;
    options.strength = p->strength;
    options.distance_weight = p->distance_weight;
    options.locked = p->locked;
    options.posture = reach->posture ? p->posture : NULL;
    options.seconds = given->seconds / part_count;
    return ulna_reach_create_scaled(part->model, part->tip_count, p->tip, &options, reach->length, &reach->allocator,
                                    &part->reach, error);
}

static ulna_status make_parts(plan *p, ulna_reach *reach, const ulna_reach_options *given, ulna_error *error)
{
    int groups = 0, dofs = 0;
    ulna_status status = ULNA_OK;
    join_groups(p);
    for (int i = 0; i < reach->tip_count; i++)
        if (p->group[i] == i) {
            dofs = keep_bodies(p, i);
            groups++;
        }
    if (groups == 1 && dofs == reach->nv)
        return ULNA_OK;
    memset(reach->idle, 1, (size_t)reach->nv);
    for (int i = 0; i < reach->tip_count && status == ULNA_OK; i++) {
        if (p->group[i] != i)
            continue;
        ulna_reach_part *part = &reach->part[reach->part_count++];
        keep_bodies(p, i);
        for (int j = 0; j < reach->nv; j++)
            reach->idle[j] &= !p->keep[reach->model->dof_body[j]];
        status = number_part(p, i, part);
        if (status == ULNA_OK)
            status = make_part(p, given, groups, i, part, error);
    }
    return status;
}

ulna_status ulna_parts_create(ulna_reach *reach, const ulna_reach_tip *tips, const ulna_reach_options *given,
                              ulna_error *error)
{
    plan p = {.reach = reach, .tips = tips};
    ulna_arena arena = {0};
    take_arrays(&p, &arena);
    size_t bytes = arena.used;
    void *memory = arena.failed ? NULL : ulna_allocate(&reach->allocator, bytes, 1);
    if (!memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory to prepare a reach");
    arena = (ulna_arena){.memory = memory};
    take_arrays(&p, &arena);
    ulna_status status = make_parts(&p, reach, given, error);
    ulna_release(&reach->allocator, memory, bytes, 1);
    return status;
}

void ulna_parts_destroy(ulna_reach *reach)
{
    for (int i = 0; i < reach->part_count; i++) {
        ulna_reach_destroy(reach->part[i].reach);
        ulna_model_destroy(reach->part[i].model);
        ulna_release(&reach->allocator, reach->part[i].tip, reach->part[i].bytes, 1);
    }
}

/* ---- solving ---------------------------------------------------------------------------------------------------------------------- */

ulna_status ulna_parts_work_create(ulna_reach_work *work, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    for (int i = 0; i < work->reach->part_count && status == ULNA_OK; i++)
        status = ulna_reach_work_create(work->reach->part[i].reach, &work->allocator, &work->part[i], error);
    return status;
}

void ulna_parts_work_destroy(ulna_reach_work *work)
{
    for (int i = 0; i < work->reach->part_count; i++)
        ulna_reach_work_destroy(work->part[i]);
}

/* Goals of a part, and its share of numbers. */
static const ulna_reach_goal *part_goals(ulna_reach_work *work, const ulna_reach_part *part,
                                         const ulna_reach_goal *goals)
{
    for (int i = 0; i < part->tip_count; i++)
        work->part_goal[i] = goals[part->tip[i]];
    return work->part_goal;
}

static const double *part_numbers(const int *index, int count, const double *whole, double *share)
{
    for (int i = 0; i < count; i++)
        share[i] = whole[index[i]];
    return share;
}

static void write_own(const ulna_reach_part *part, const double *share, double *q)
{
    for (int i = 0; i < part->own_count; i++)
        q[part->coordinate[part->own[i]]] = share[part->own[i]];
}

/* What a search of one part adds to that of the whole. */
static void add_effort(const ulna_reach_result *from, ulna_reach_result *to)
{
    to->iterations += from->iterations;
    to->restarts += from->restarts;
    to->out_of_time |= from->out_of_time;
}

/* Is q, in which followers have come to their masters since, what the only part was judged at? */
static int is_as_judged(const ulna_reach *reach, const double *share, const double *q)
{
    const ulna_reach_part *part = &reach->part[0];
    for (int c = 0; c < part->nq; c++)
        if (q[part->coordinate[c]] != share[c])
            return 0;
    return 1;
}

ulna_status ulna_parts_place(ulna_reach_work *work, const ulna_reach_query *query, const double *share, double *q,
                             ulna_reach_result *result)
{
    const ulna_reach *reach = work->reach;
    write_own(&reach->part[0], share, q);
    result->worst = reach->part[0].tip[result->worst];
    if (!reach->part[0].is_followed)
        return ULNA_OK;
    ulna_reach_clamp(reach, reach->lower, reach->upper, q);
    return is_as_judged(reach, share, q) ? ULNA_OK : ulna_reach_judge(work, query, q, result, NULL);
}

/* One part is judged by its own forward pass, which all that counts goes into; several by one over all. */
ulna_status ulna_parts_solve(ulna_reach_work *work, const ulna_reach_query *query, const ulna_reach_goal *goals,
                             const double *max_step, double *q, ulna_reach_result *result)
{
    const ulna_reach *reach = work->reach;
    ulna_reach_result own, sum = {0};
    ulna_status status = ULNA_OK;
    memcpy(work->best, work->seed, (size_t)reach->nq * sizeof *q);
    for (int i = 0; i < reach->part_count && status == ULNA_OK; i++) {
        const ulna_reach_part *part = &reach->part[i];
        const double *steps = max_step ? part_numbers(part->dof, part->nv, max_step, work->step) : NULL;
        part_numbers(part->coordinate, part->nq, work->seed, work->trial);
        status = ulna_reach_step(work->part[i], query->mode, part_goals(work, part, goals), work->trial, steps,
                                 work->trial, &own);
        if (status != ULNA_OK)
            break;
        add_effort(&own, &sum);
        write_own(part, work->trial, work->best);
    }
    if (status != ULNA_OK)
        return status;
    if (reach->part_count == 1) {
        status = ulna_parts_place(work, query, work->trial, work->best, &own);
        sum = own;
    } else {
        ulna_reach_clamp(reach, reach->lower, reach->upper, work->best);
        status = ulna_reach_judge(work, query, work->best, &sum, NULL);
    }
    if (status == ULNA_OK) {
        memcpy(q, work->best, (size_t)reach->nq * sizeof *q);
        *result = sum;
    }
    return status;
}

/* ---- several solutions -------------------------------------------------------------------------------------------------------------- */

/* Solutions of part i: the first of its numbers. */
static double *all_of(ulna_reach_work *work, int number)
{
    double *at = work->part_all;
    for (int i = 0; i < number; i++)
        at += ULNA_PART_ALL * (size_t)work->reach->part[i].nq;
    return at;
}

/* How many solutions of each part are combined: as many as fit, the one that adds the least distance first. */
static int choose_used(ulna_reach_work *work, int capacity)
{
    const ulna_reach *reach = work->reach;
    int product = 1;
    for (int i = 0; i < reach->part_count; i++)
        work->part_used[i] = 1;
    for (;;) {
        int best = ULNA_NONE;
        double least = (double)INFINITY;
        for (int i = 0; i < reach->part_count; i++) {
            const ulna_reach_result *own = work->part_result + ULNA_PART_ALL * (size_t)i;
            int used = work->part_used[i];
            if (used >= work->part_found[i] || product / used > capacity / (used + 1))
                continue;
            double more = own[used].distance - own[0].distance;
            if (more < least) {
                least = more;
                best = i;
            }
        }
        if (best == ULNA_NONE)
            return product;
        product = product / work->part_used[best] * (work->part_used[best] + 1);
        work->part_used[best]++;
    }
}

/* Combination `number`, counted with the used solutions as digits. */
static ulna_status combine(ulna_reach_work *work, const ulna_reach_query *query, int number, double *q,
                           ulna_reach_result *result)
{
    const ulna_reach *reach = work->reach;
    memcpy(q, work->seed, (size_t)reach->nq * sizeof *q);
    *result = (ulna_reach_result){0};
    for (int i = 0; i < reach->part_count; i++) {
        const ulna_reach_part *part = &reach->part[i];
        int digit = number % work->part_used[i];
        number /= work->part_used[i];
        add_effort(&work->part_result[ULNA_PART_ALL * (size_t)i + (size_t)digit], result);
        write_own(part, all_of(work, i) + (size_t)digit * (size_t)part->nq, q);
    }
    ulna_reach_clamp(reach, reach->lower, reach->upper, q);
    return ulna_reach_judge(work, query, q, result, NULL);
}

static void sort_by_distance(ulna_reach_work *work, int count, double *q, ulna_reach_result *results)
{
    size_t nq = (size_t)work->reach->nq, bytes = nq * sizeof *q;
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && results[k].distance < results[k - 1].distance; k--) {
            ulna_reach_result other = results[k];
            double *a = q + (size_t)k * nq, *b = a - nq;
            results[k] = results[k - 1];
            results[k - 1] = other;
            memcpy(work->best, a, bytes);
            memcpy(a, b, bytes);
            memcpy(b, work->best, bytes);
        }
}

/* Those that are reached, nearest first; if there are none, the first combination. */
static ulna_status combine_all(ulna_reach_work *work, const ulna_reach_query *query, int capacity, double *q,
                               ulna_reach_result *results, int *count)
{
    ulna_status status = ULNA_OK;
    int rows = choose_used(work, capacity), found = 0;
    size_t nq = (size_t)work->reach->nq;
    for (int i = 0; i < rows && status == ULNA_OK; i++) {
        status = combine(work, query, i, q + (size_t)found * nq, &results[found]);
        found += status == ULNA_OK && results[found].reached;
    }
    if (status == ULNA_OK && found == 0)
        return combine(work, query, 0, q, results);
    sort_by_distance(work, found, q, results);
    *count = found;
    return status;
}

/* The only part fills the list itself: its rows are then spread, the last first. */
static ulna_status spread_all(ulna_reach_work *work, const ulna_reach_query *query, double *q,
                              ulna_reach_result *results, int *count)
{
    const size_t nq = (size_t)work->reach->nq, share = (size_t)work->reach->part[0].nq;
    ulna_status status = ULNA_OK;
    int kept = 0;
    for (int i = *count > 0 ? *count - 1 : 0; i >= 0 && status == ULNA_OK; i--) {
        memcpy(work->trial, q + (size_t)i * share, share * sizeof *q);
        memcpy(q + (size_t)i * nq, work->seed, nq * sizeof *q);
        status = ulna_parts_place(work, query, work->trial, q + (size_t)i * nq, &results[i]);
    }
    for (int i = 0; i < *count && status == ULNA_OK; i++) {
        if (!results[i].reached)
            continue;
        memmove(q + (size_t)kept * nq, q + (size_t)i * nq, nq * sizeof *q);
        results[kept++] = results[i];
    }
    *count = kept;
    return status;
}

/* A part that reaches nothing has its closest configuration alone. */
ulna_status ulna_parts_all(ulna_reach_work *work, const ulna_reach_query *query, const ulna_reach_goal *goals,
                           int capacity, double *q, ulna_reach_result *results, int *count)
{
    const ulna_reach *reach = work->reach;
    int alone = reach->part_count == 1, room = capacity < ULNA_PART_ALL ? capacity : ULNA_PART_ALL;
    *count = 0;
    for (int i = 0; i < reach->part_count; i++) {
        const ulna_reach_part *part = &reach->part[i];
        part_numbers(part->coordinate, part->nq, work->seed, work->trial);
        ulna_status status =
            ulna_reach_all(work->part[i], part_goals(work, part, goals), work->trial, alone ? capacity : room,
                           alone ? q : all_of(work, i), alone ? results : work->part_result + ULNA_PART_ALL * (size_t)i,
                           alone ? count : &work->part_found[i]);
        if (status != ULNA_OK)
            return status;
    }
    return alone ? spread_all(work, query, q, results, count) : combine_all(work, query, capacity, q, results, count);
}
