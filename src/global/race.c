/*
 * The stages of a global solve:
 *
 *   1. starts from the guess, from rest, and from places spread over all poses: a few dozen microseconds each. Where goals can
 *      be reached, that is often the end: f is next to 0, and no bound is higher;
 *   2. the hull (F2), with a slight preference for the middle of the limits, which tells equals apart; the pose that it points
 *      at, and samples around it;
 *   3. the bones (F3) without that preference, for the bound: until it proves the best f, or shows that it never will. Its
 *      pose and samples;
 *   4. more starts.
 *
 * It ends when the best f is proven, or the starts or the time are used up. Starts are solved in batches, and the lowest f
 * counts, of equals the earliest: so threads do not matter.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/parallel.h"
#include "global/global.h"
#include "global/starts.h"
#include "model/model.h"

#define POSTURE 1e-4     /* of stage 2, in units of the tree's cost */
#define ROUNDING 1e-12   /* of f: what the arithmetic of f and of the bound may be off */
#define WORTH_A_LOOK 0.5 /* of the absolute gap, for the relaxation's accuracy */

typedef struct race {
    ulna_global *g;
    ulna_global_result *result;
    double began;
    int ended;
    int spread;     /* starts of the sequence used */
    double solve_s; /* all local solves so far: whether threads pay. The first batch is done by one */
    uint64_t state; /* of the samples */
} race;

/* ---- the end ----------------------------------------------------------------------------------------------------------- */

static int is_proven(const race *r)
{
    const ulna_global_options *o = &r->g->options;
    return r->result->f - r->result->bound <= o->gap * r->result->f + o->absolute;
}

static void finish(race *r, ulna_global_stop stop)
{
    r->result->stop = stop;
    r->ended = 1;
}

/* After every stage. */
static int has_ended(race *r)
{
    const ulna_global_options *o = &r->g->options;
    if (r->ended)
        return 1;
    if (r->result->starts && is_proven(r))
        finish(r, ULNA_GLOBAL_PROVEN);
    else if (r->result->starts >= o->starts)
        finish(r, ULNA_GLOBAL_STARTS);
    else if (o->seconds > 0 && ulna_seconds() - r->began >= o->seconds)
        finish(r, ULNA_GLOBAL_TIME);
    else if (o->cancel && o->cancel(o->cancel_context, r->result->f, r->result->bound))
        finish(r, ULNA_GLOBAL_CANCELLED);
    return r->ended;
}

/* ---- starts ------------------------------------------------------------------------------------------------------------ */

static void solve_lanes(const void *context, int first, int last)
{
    const race *r = context;
    for (int i = first; i < last; i++) {
        ulna_lane *lane = &r->g->lane[i];
        lane->status = ULNA_OK;
        if (lane->aligned)
            lane->status = ulna_align_root(ulna_solver_work(lane->solver), lane->q);
        if (lane->status == ULNA_OK)
            lane->status = ulna_solve(lane->solver, lane->q, &lane->result);
    }
}

/* A start where f does not exist is no failure of the others. */
static ulna_status solve_batch(race *r, int count, int from_relaxation)
{
    ulna_global *g = r->g;
    double cost_us = r->result->starts ? 1e6 * r->solve_s / r->result->starts * count : 0;
    ulna_parallel_for(g->options.threads, cost_us, count, 1, solve_lanes, r);
    for (int i = 0; i < count; i++) {
        const ulna_lane *lane = &g->lane[i];
        r->solve_s += lane->status == ULNA_OK ? lane->result.seconds : 0;
        if (lane->status != ULNA_OK && lane->status != ULNA_ERR_NUMBER)
            return lane->status;
        if (lane->status == ULNA_OK && lane->result.f < r->result->f) {
            r->result->f = lane->result.f;
            r->result->best_start = r->result->starts + i;
            r->result->from_relaxation = from_relaxation;
            r->result->local = lane->result;
            memcpy(g->best_q, lane->q, (size_t)g->model->nq * sizeof *lane->q);
        }
    }
    r->result->starts += count;
    return ULNA_OK;
}

static int room(const race *r)
{
    int left = r->g->options.starts - r->result->starts;
    return left < ULNA_GLOBAL_LANES ? left : ULNA_GLOBAL_LANES;
}

static int root_moves(const ulna_global *g)
{
    const ulna_body *root = &g->model->body[0];
    for (int d = root->dof; d < root->dof + root->dof_count && g->options.local.relaxed; d++)
        if (g->options.local.relaxed[d])
            return 0;
    return 1;
}

/* Coordinates at rest, but for those that may not move; quaternions that may stay, too. */
static void rest_lane(const ulna_global *g, ulna_lane *lane)
{
    const ulna_model *model = g->model;
    if (!g->options.local.relaxed)
        memcpy(lane->q, model->rest, (size_t)model->nq * sizeof *lane->q);
    for (int d = 0; d < model->nv && g->options.local.relaxed; d++)
        if (!g->options.local.relaxed[d] && model->dof_coordinate[d] >= 0)
            lane->q[model->dof_coordinate[d]] = model->rest[model->dof_coordinate[d]];
}

/* Every other one has its root moved to the goals; the very first two are the guess and the rest pose. */
static void spread_lane(race *r, ulna_lane *lane, int number)
{
    ulna_global *g = r->g;
    const ulna_options *o = ulna_solver_options(lane->solver);
    memcpy(lane->q, g->first_q, (size_t)g->model->nq * sizeof *lane->q);
    lane->aligned = number % 2 == 1 && root_moves(g);
    if (number == 1)
        rest_lane(g, lane);
    else if (number > 1)
        ulna_global_start(g->model, o->lower, o->upper, g->options.local.relaxed, g->options.seed, r->spread++,
                          lane->step, lane->q);
}

static ulna_status spread_starts(race *r)
{
    int count = room(r);
    for (int i = 0; i < count; i++)
        spread_lane(r, &r->g->lane[i], r->result->starts + i);
    return solve_batch(r, count, 0);
}

/* ---- relaxations ------------------------------------------------------------------------------------------------------- */

static ulna_status round_and_sample(race *r, const ulna_relaxation *relaxation)
{
    ulna_global *g = r->g;
    ulna_status status = ULNA_OK;
    int count = room(r);
    for (int i = 0; i < count && status == ULNA_OK; i++) {
        if (i == 0)
            ulna_relaxation_round(relaxation, &g->pose);
        else
            ulna_relaxation_sample(relaxation, &r->state, &g->pose);
        g->lane[i].aligned = 0;
        status = ulna_reduced_to_q(&g->reduced, g->problem, &g->pose, g->first_q, g->lane[i].q);
    }
    return status == ULNA_OK ? solve_batch(r, count, 1) : status;
}

/* With `posture` the minimum is moved, and its bound says nothing. */
static ulna_status relax(race *r, ulna_relax_kind kind, double posture, ulna_error *error)
{
    ulna_global *g = r->g;
    ulna_relaxation **relaxation = &g->relaxation[kind];
    const ulna_reduced *tree = &g->reduced;
    double started = ulna_seconds();
    ulna_status status = ULNA_OK;
    if (!*relaxation)
        status = ulna_relaxation_create(tree, kind, &g->allocator, relaxation, error);
    if (status != ULNA_OK)
        return status;
    ulna_relax_options how = ulna_relax_options_default();
    ulna_relax_result found;
    how.posture = posture;
    if (posture == 0) {
        double wanted = r->result->f - g->options.gap * r->result->f - WORTH_A_LOOK * g->options.absolute;
        how.stop_above = wanted / tree->unit - tree->constant;
        how.relative = 0.1 * g->options.gap;
        how.absolute = 0.1 * g->options.absolute / tree->unit;
    }
    status = ulna_relaxation_solve(*relaxation, tree, &how, &found);
    r->result->relaxations++;
    r->result->iterations += status == ULNA_OK ? found.iterations : 0;
    if (status == ULNA_OK && posture == 0) {
        double bound = tree->unit * (found.bound + tree->constant);
        double slack = ROUNDING * tree->unit * (fabs(found.bound) + fabs(tree->constant));
        r->result->bound = fmax(r->result->bound, bound - slack);
    }
    r->result->relax_seconds += ulna_seconds() - started;
    return status;
}

static ulna_status point_at(race *r, ulna_relax_kind kind, double posture, ulna_error *error)
{
    ulna_status status = relax(r, kind, posture, error);
    if (status != ULNA_OK || has_ended(r))
        return status;
    return round_and_sample(r, r->g->relaxation[kind]);
}

/* ---- the whole ---------------------------------------------------------------------------------------------------------- */

static ulna_status run(race *r, ulna_error *error)
{
    const ulna_global *g = r->g;
    ulna_status status = spread_starts(r);
    int relaxes = g->has_tree && g->reduced.count > 1;
    if (status == ULNA_OK && !has_ended(r) && relaxes)
        status = point_at(r, ULNA_RELAX_HULL, POSTURE, error);
    if (status == ULNA_OK && !has_ended(r) && relaxes)
        status = point_at(r, g->options.relax == 2 ? ULNA_RELAX_BONES : ULNA_RELAX_HULL, 0, error);
    while (status == ULNA_OK && !has_ended(r))
        status = spread_starts(r);
    return status;
}

ulna_status ulna_global_race(ulna_global *g, double *q, ulna_global_result *result, ulna_error *error)
{
    *result = (ulna_global_result){.f = INFINITY,
                                   .terms_left_out = g->has_tree ? g->reduced.left_out : 0,
                                   .limits_left_out = g->has_tree ? g->reduced.limits_left_out : 0};
    race r = {.g = g, .result = result, .began = ulna_seconds(), .state = g->options.seed};
    memcpy(g->first_q, q, (size_t)g->model->nq * sizeof *q);
    if (g->has_tree && g->reduced.count == 1) /* nothing moves what the goals look at */
        result->bound = fmax(0, g->reduced.unit * g->reduced.constant * (1 - ROUNDING));
    ulna_status status = run(&r, error);
    if (status == ULNA_OK && isinf(result->f))
        status = ulna_fail(error, ULNA_ERR_NUMBER, "f does not exist at any of %d starts", result->starts);
    if (status != ULNA_OK)
        return status;
    memcpy(q, g->best_q, (size_t)g->model->nq * sizeof *q);
    result->gap = result->f - result->bound;
    result->proven = is_proven(&r);
    result->unreachable = result->bound > g->options.absolute;
    result->seconds = ulna_seconds() - r.began;
    return ULNA_OK;
}
