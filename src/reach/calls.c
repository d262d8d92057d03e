/* The calls: works, one problem, many, a path, all solutions. Goals and seeds are checked here, once. */
#include "base/parallel.h"
#include "kinematics/pose.h"
#include "math/math3.h"
#include "reach/chain.h"

#include <math.h>
#include <string.h>

/* ---- works -------------------------------------------------------------------------------------------------------------- */

static void take_arrays(ulna_reach_work *work, const ulna_reach *reach, ulna_arena *arena)
{
    size_t nq = (size_t)reach->nq, nv = (size_t)reach->nv, tips = (size_t)reach->tip_count;
    double **per_coordinate[] = {&work->seed, &work->trial, &work->best, &work->found, &work->slid};
    double **per_dof[] = {&work->step, &work->lower, &work->upper};
    for (size_t i = 0; i < sizeof per_coordinate / sizeof *per_coordinate; i++)
        *per_coordinate[i] = ulna_arena_take(arena, nq, sizeof(double));
    for (size_t i = 0; i < sizeof per_dof / sizeof *per_dof; i++)
        *per_dof[i] = ulna_arena_take(arena, nv, sizeof(double));
    work->target = ulna_arena_take(arena, tips, sizeof *work->target);
    work->error = ulna_arena_take(arena, tips, sizeof *work->error);
    if (reach->uses_rows)
        ulna_rows_take(work, arena);
    work->part = ulna_arena_take(arena, (size_t)reach->part_count, sizeof *work->part);
    size_t parts = (size_t)reach->part_count, numbers = 0;
    for (int i = 0; i < reach->part_count; i++)
        numbers += ULNA_PART_ALL * (size_t)reach->part[i].nq;
    work->part_all = ulna_arena_take(arena, numbers, sizeof *work->part_all);
    work->part_result = ulna_arena_take(arena, ULNA_PART_ALL * parts, sizeof *work->part_result);
    work->part_found = ulna_arena_take(arena, parts, sizeof *work->part_found);
    work->part_used = ulna_arena_take(arena, parts, sizeof *work->part_used);
    work->part_goal = ulna_arena_take(arena, tips, sizeof *work->part_goal);
    if (!reach->chain)
        return;
    work->chain = ulna_arena_take(arena, ulna_chain_scratch(reach->chain), 1);
    work->block.target = ulna_arena_take(arena, ULNA_REACH_BLOCK, sizeof *work->block.target);
    work->block.seed = ulna_arena_take(arena, ULNA_REACH_BLOCK * nq, sizeof(double));
    work->block.q = ulna_arena_take(arena, ULNA_REACH_BLOCK * nq, sizeof(double));
    work->block.result = ulna_arena_take(arena, ULNA_REACH_BLOCK, sizeof *work->block.result);
}

ulna_status ulna_reach_work_create(const ulna_reach *reach, const ulna_allocator *allocator, ulna_reach_work **result,
                                   ulna_error *error)
{
    if (result)
        *result = NULL;
    if (!reach || !result)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "ulna_reach_work_create needs a reach and a place for the result");
    ulna_reach_work counting = {.reach = reach}, *work;
    ulna_arena arena = {0};
    ulna_allocator chosen = ulna_allocator_or_default(allocator);
    ulna_arena_take(&arena, 1, sizeof counting);
    take_arrays(&counting, reach, &arena);
    size_t bytes = arena.used;
    unsigned char *memory = arena.failed ? NULL : ulna_allocate(&chosen, bytes, 1);
    if (!memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for the work of a reach, %zu bytes", bytes);
    arena = (ulna_arena){.memory = memory};
    work = ulna_arena_take(&arena, 1, sizeof *work);
    *work = (ulna_reach_work){.allocator = chosen, .bytes = bytes, .reach = reach};
    take_arrays(work, reach, &arena);
    ulna_status status = ulna_pose_create(reach->model, &chosen, &work->pose, error);
    if (status == ULNA_OK)
        status = reach->part_count > 0 ? ulna_parts_work_create(work, error) : ulna_tree_create(work, error);
    if (status != ULNA_OK) {
        ulna_reach_work_destroy(work);
        return status;
    }
    *result = work;
    return ULNA_OK;
}

void ulna_reach_work_destroy(ulna_reach_work *work)
{
    if (!work)
        return;
    ulna_parts_work_destroy(work);
    ulna_tree_destroy(work);
    ulna_pose_destroy(work->pose);
    ulna_allocator allocator = work->allocator;
    ulna_release(&allocator, work, work->bytes, 1);
}

/* ---- limits ---------------------------------------------------------------------------------------------------------------- */

/* Not by fmin and fmax: they are calls. */
static double clamped(double x, double lower, double upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

void ulna_reach_clamp(const ulna_reach *reach, const double *lower, const double *upper, double *q)
{
    const ulna_model *model = reach->model;
    for (int j = 0; j < reach->nv; j++) {
        int c = model->dof_coordinate[j];
        if (c >= 0)
            q[c] = clamped(q[c], lower[j], upper[j]);
    }
    ulna_model_couple(model, q);
    for (int i = 0; i < model->nc; i++) { /* the limits of masters keep these inside theirs, but for rounding */
        int j = model->coupling[i].dof, c = model->dof_coordinate[j];
        q[c] = clamped(q[c], lower[j], upper[j]);
    }
}

void ulna_reach_wrap(const ulna_reach *reach, const ulna_reach_query *query, double *q)
{
    for (int j = 0; j < reach->nv; j++) {
        int c = reach->model->dof_coordinate[j];
        if (c < 0)
            continue;
        double low = query->lower[j], high = query->upper[j];
        if (reach->turns[j] && !reach->locked[j] && high - low >= 2 * ULNA_PI) {
            double near = ulna_nearest_turn(q[c], query->seed[c]);
            near += near < low ? 2 * ULNA_PI : near > high ? -2 * ULNA_PI : 0;
            q[c] = near;
        }
    }
    ulna_reach_clamp(reach, query->lower, query->upper, q);
}

/* ---- checks of goals and seeds ---------------------------------------------------------------------------------------------- */

static ulna_status check_goals(const ulna_reach *reach, const ulna_reach_goal *goals, ulna_target *target)
{
    for (int i = 0; i < reach->tip_count; i++) {
        ulna_copy3(goals[i].position, target[i].position);
        memcpy(target[i].quaternion, goals[i].rotation, sizeof target[i].quaternion);
        for (int k = 0; k < 3; k++)
            if (!(fabs(target[i].position[k]) <= reach->far))
                return ULNA_ERR_NUMBER;
        if (!ulna_all_finite(target[i].quaternion, 4))
            return ULNA_ERR_NUMBER;
        double length = ulna_quaternion_normalise(target[i].quaternion);
        if (!(length > 0) || !isfinite(length))
            return ULNA_ERR_NUMBER;
        ulna_quaternion_to_rotation(target[i].quaternion, target[i].rotation);
    }
    return ULNA_OK;
}

/* Checks and copies the seed, and moves it into the limits. */
static ulna_status check_seed(ulna_reach_work *work, const double *seed)
{
    const ulna_reach *reach = work->reach;
    const double *from = seed ? seed : reach->model->rest;
    if (ulna_model_check_q(reach->model, from, NULL) != ULNA_OK)
        return ULNA_ERR_NUMBER;
    memmove(work->seed, from, (size_t)reach->nq * sizeof *from);
    ulna_reach_clamp(reach, reach->lower, reach->upper, work->seed);
    return ULNA_OK;
}

static ulna_reach_query query_of(const ulna_reach_work *work, ulna_reach_mode mode)
{
    const ulna_reach *reach = work->reach;
    return (ulna_reach_query){
        .mode = mode,
        .target = work->target,
        .seed = work->seed,
        .lower = reach->lower,
        .upper = reach->upper,
        .strength = reach->strength,
        .deadline = reach->options.seconds > 0 ? ulna_seconds() + reach->options.seconds : 0,
    };
}

static ulna_status solve_query(ulna_reach_work *work, const ulna_reach_query *query, double *q,
                               ulna_reach_result *result)
{
    const ulna_chain *chain = work->reach->chain;
    *result = (ulna_reach_result){0};
    if (chain && ulna_chain_solve(chain, work->chain, query, q, result))
        return ULNA_OK;
    return ulna_tree_solve(work, query, q, result);
}

/* ---- one problem, and many ----------------------------------------------------------------------------------------------------- */

/* Limits around where the robot is now. */
static void narrow_limits(ulna_reach_work *work, const double *max_step, ulna_reach_query *query)
{
    const ulna_reach *reach = work->reach;
    for (int j = 0; j < reach->nv; j++) {
        int c = reach->model->dof_coordinate[j];
        double at = c >= 0 ? work->seed[c] : 0;
        work->lower[j] = c >= 0 ? fmax(reach->lower[j], at - max_step[j]) : reach->lower[j];
        work->upper[j] = c >= 0 ? fmin(reach->upper[j], at + max_step[j]) : reach->upper[j];
    }
    ulna_model_limit_masters(reach->model, work->lower, work->upper);
    query->lower = work->lower;
    query->upper = work->upper;
    query->is_narrow = 1;
}

ulna_status ulna_reach_step(ulna_reach_work *work, ulna_reach_mode mode, const ulna_reach_goal *goals,
                            const double *seed, const double *max_step, double *q, ulna_reach_result *result)
{
    ulna_status status = check_goals(work->reach, goals, work->target);
    if (status == ULNA_OK)
        status = check_seed(work, seed);
    if (status != ULNA_OK)
        return status;
    ulna_reach_query query = query_of(work, mode);
    if (work->reach->part_count > 0)
        return ulna_parts_solve(work, &query, goals, max_step, q, result);
    if (max_step)
        narrow_limits(work, max_step, &query);
    return solve_query(work, &query, q, result);
}

ulna_status ulna_reach_solve(ulna_reach_work *work, const ulna_reach_goal *goals, const double *seed, double *q,
                             ulna_reach_result *result)
{
    if (!work || !goals || !q)
        return ULNA_ERR_ARGUMENT;
    ulna_reach_result own;
    ulna_status status = ulna_reach_step(work, work->reach->options.mode, goals, seed, NULL, q, &own);
    if (status == ULNA_OK && result)
        *result = own;
    return status;
}

typedef struct many {
    ulna_reach_work *const *works;
    int work_count, count;
    const ulna_reach_goal *goals;
    const double *seeds;
    double *q;
    ulna_reach_result *results;
    int *failed; /* one per work: its first problem that failed */
    ulna_status *status;
} many;

enum { MOST_WORKS = 256 }; /* as many threads as ulna_parallel_for starts */

static ulna_reach_result *result_of(const many *m, int i, ulna_reach_result *own)
{
    return m->results ? &m->results[i] : own;
}

static const double *seed_of(const many *m, const ulna_reach *reach, int i)
{
    return m->seeds ? m->seeds + (size_t)i * (size_t)reach->nq : NULL;
}

static void note(const many *m, int w, int i, ulna_status status)
{
    if (status != ULNA_OK && (m->status[w] == ULNA_OK || i < m->failed[w])) {
        m->status[w] = status;
        m->failed[w] = i;
    }
}

static void solve_single(const many *m, int w, int i)
{
    const ulna_reach *reach = m->works[w]->reach;
    ulna_reach_result own;
    note(m, w, i,
         ulna_reach_solve(m->works[w], m->goals + (size_t)i * (size_t)reach->tip_count, seed_of(m, reach, i),
                          m->q + (size_t)i * (size_t)reach->nq, result_of(m, i, &own)));
}

/* Problems `first` to `last`, at most ULNA_REACH_BLOCK, of one tip on a chain, which is the whole or its only part: side by side. */
static void solve_block(const many *m, int w, int first, int last)
{
    ulna_reach_work *work = m->works[w];
    const ulna_reach *reach = work->reach;
    const ulna_reach_part *part = reach->part_count == 1 ? &reach->part[0] : NULL;
    ulna_reach_work *leaf = part ? work->part[0] : work;
    ulna_reach_block *b = &leaf->block;
    size_t nq = (size_t)leaf->reach->nq;
    int count = 0;
    for (int i = first; i < last; i++) {
        ulna_status status = check_goals(leaf->reach, m->goals + i, &b->target[count]);
        if (status == ULNA_OK)
            status = check_seed(work, seed_of(m, reach, i));
        note(m, w, i, status);
        if (status != ULNA_OK)
            continue;
        for (size_t c = 0; c < nq; c++)
            b->seed[(size_t)count * nq + c] = work->seed[part ? (size_t)part->coordinate[c] : c];
        if (part) /* the joints of no tip */
            memcpy(m->q + (size_t)i * (size_t)reach->nq, work->seed, (size_t)reach->nq * sizeof *work->seed);
        b->number[count++] = i;
    }
    ulna_reach_query query = query_of(leaf, leaf->reach->options.mode), whole = query_of(work, query.mode);
    query.target = b->target;
    query.seed = b->seed;
    ulna_chain_solve_many(leaf->reach->chain, leaf->chain, &query, count, b->q, b->result, b->served);
    for (int k = 0; k < count; k++) {
        int i = b->number[k];
        double *q = m->q + (size_t)i * (size_t)reach->nq;
        if (!b->served[k]) {
            solve_single(m, w, i);
            continue;
        }
        const double *share = b->q + (size_t)k * nq;
        whole.target = &b->target[k];
        if (!part)
            memcpy(q, share, nq * sizeof *q);
        else if (part->is_followed)
            memcpy(work->seed, q, (size_t)reach->nq * sizeof *q);
        if (part)
            note(m, w, i, ulna_parts_place(work, &whole, share, q, &b->result[k]));
        if (m->results)
            m->results[i] = b->result[k];
    }
}

/* The share of each work: whole blocks, cut by the number of problems alone. The lanes of a kernel round differently with other
 * neighbours, so that blocks that go by the number of threads would show it. */
static void solve_share(const void *context, int first, int last)
{
    const many *m = context;
    for (int w = first; w < last; w++) {
        const ulna_reach_work *work = m->works[w];
        const ulna_reach *leaf = work->reach->part_count == 1 ? work->reach->part[0].reach : work->reach;
        int size = leaf->chain && !(leaf->options.seconds > 0) ? ULNA_REACH_BLOCK : 1;
        int blocks = (m->count - 1) / size + 1;
        int begin = size * (int)((long long)blocks * w / m->work_count);
        int end = size * (int)((long long)blocks * (w + 1) / m->work_count);
        for (int i = begin; i < end && i < m->count; i += size) {
            if (size == 1)
                solve_single(m, w, i);
            else
                solve_block(m, w, i, m->count - i < size ? m->count : i + size);
        }
    }
}

ulna_status ulna_reach_solve_many(ulna_reach_work *const *works, int work_count, int count,
                                  const ulna_reach_goal *goals, const double *seeds, double *q,
                                  ulna_reach_result *results, int *failed)
{
    int first[MOST_WORKS];
    ulna_status status[MOST_WORKS] = {ULNA_OK};
    if (failed)
        *failed = ULNA_NONE;
    if (!works || work_count < 1 || count < 0 || (count > 0 && (!goals || !q)))
        return ULNA_ERR_ARGUMENT;
    if (count == 0)
        return ULNA_OK;
    for (int w = 0; w < work_count; w++)
        if (!works[w] || works[w]->reach != works[0]->reach)
            return ULNA_ERR_ARGUMENT;
    int used = work_count < MOST_WORKS ? work_count : MOST_WORKS;
    many m = {works, used, count, goals, seeds, NULL, results, first, status};
    m.q = q;
    ulna_parallel_for(used, count * 5.0, used, 1, solve_share, &m);
    for (int w = 0; w < used; w++)
        if (status[w] != ULNA_OK) {
            if (failed)
                *failed = first[w];
            return status[w];
        }
    return ULNA_OK;
}

/* ---- several solutions ------------------------------------------------------------------------------------------------------------ */

ulna_status ulna_reach_all(ulna_reach_work *work, const ulna_reach_goal *goals, const double *seed, int capacity,
                           double *q, ulna_reach_result *results, int *count)
{
    if (!work || !goals || !q || !results || !count || capacity < 1)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = check_goals(work->reach, goals, work->target);
    if (status == ULNA_OK)
        status = check_seed(work, seed);
    if (status != ULNA_OK)
        return status;
    const ulna_chain *chain = work->reach->chain;
    ulna_reach_query query = query_of(work, ULNA_REACH_NEAREST);
    if (work->reach->part_count > 0)
        return ulna_parts_all(work, &query, goals, capacity, q, results, count);
    if (chain && ulna_chain_all(chain, work->chain, &query, capacity, q, results, count))
        return ULNA_OK;
    return ulna_tree_all(work, &query, capacity, q, results, count);
}

/* ---- a path ------------------------------------------------------------------------------------------------------------------------ */

static ulna_status check_steps(const ulna_reach *reach, const double *max_step)
{
    for (int j = 0; j < reach->nv && max_step; j++)
        if (!(max_step[j] > 0))
            return ULNA_ERR_ARGUMENT;
    return ULNA_OK;
}

ulna_status ulna_reach_path(ulna_reach_work *work, int count, const ulna_reach_goal *goals, const double *seed,
                            const double *max_step, double *q, ulna_reach_result *results, int *jumps, int *missed)
{
    if (!work || count < 0 || (count > 0 && (!goals || !q)))
        return ULNA_ERR_ARGUMENT;
    const ulna_reach *reach = work->reach;
    int jumped = 0, unreached = 0;
    ulna_status status = check_steps(reach, max_step);
    for (int i = 0; i < count && status == ULNA_OK; i++) { /* all goals first: a path is solved whole or not at all */
        status = check_goals(reach, goals + (size_t)i * (size_t)reach->tip_count, work->target);
    }
    for (int i = 0; i < count && status == ULNA_OK; i++) {
        ulna_reach_result own, *result = results ? &results[i] : &own;
        double *at = q + (size_t)i * (size_t)reach->nq;
        status = ulna_reach_step(work, i > 0 || max_step ? ULNA_REACH_NEAR : reach->options.mode,
                                 goals + (size_t)i * (size_t)reach->tip_count, i > 0 ? at - reach->nq : seed, max_step,
                                 at, result);
        if (status != ULNA_OK)
            break;
        jumped += i > 0 && result->jumped;
        unreached += !result->reached;
    }
    if (status == ULNA_OK && jumps)
        *jumps = jumped;
    if (status == ULNA_OK && missed)
        *missed = unreached;
    return status;
}

ulna_status ulna_reach_measure(ulna_reach_work *work, const ulna_reach_goal *goals, const double *q,
                               ulna_reach_error *errors)
{
    if (!work || !goals || !q || !errors)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = check_goals(work->reach, goals, work->target);
    return status == ULNA_OK ? ulna_reach_errors(work, work->target, q, errors) : status;
}
