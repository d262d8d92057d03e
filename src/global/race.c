/*
 * The stages of a global solve:
 *
 *   0. Lengths: goals that are farther away than the bones are long give a first bound.
 *   1. Local solves from the guess, from the rest pose, and from poses distributed over all poses: some ten microseconds
 *      each. If the goals can be reached, this is often the last stage: f is nearly 0, which proves it.
 *   2. Relaxation F2 (hull), with a small cost of posture, which prefers the middle of the limits, so that its minimum is
 *      unique. Local solves from the pose to which it is rounded, and from samples around that.
 *   3. Relaxation F3 (bones) without the cost of posture, for the bound. It runs to the end, since even a bound that does
 *      not prove f tells how good f is, and may prove that the goals cannot be reached. If it stalls, F2 again, for its
 *      bound. Local solves as in stage 2.
 *   4. More local solves from distributed poses.
 *
 * It ends when the best f is proven, or the starts or the time are used up. Starts are solved in batches; the lowest f
 * wins, and of equal ones the first, so the result does not depend on the number of threads.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/parallel.h"
#include "global/global.h"
#include "global/starts.h"
#include "math/math3.h"
#include "model/model.h"
#include "objective/problem.h"

#define POSTURE 1e-4   /* of stage 2, in units of the tree's cost */
#define ROUNDING 1e-12 /* relative rounding error of f and of the bound, of the sum of absolute values */
#define STALLED 0.05   /* of f: if F3 ends with a larger gap, F2 is solved as well */

typedef struct race {
    ulna_global *g;
    ulna_global_result *result;
    double began;
    int ended;
    int spread;           /* starts of the sequence used */
    int batch;            /* starts of a stage at most */
    double open;          /* m^2: gap of the last relaxation, between its cost and the bound */
    double open_f;        /* the best f at that time */
    double solve_s;       /* seconds of all local solves so far; decides whether threads are worthwhile */
    double lengths_bound; /* m^2: the bound from lengths alone */
    uint64_t state;       /* of the samples */
} race;

/* ---- bounds above the cost: an internal error -------------------------------------------------------------------- */

/* An upper bound of the rounding errors of f and of a bound. f adds squares of differences of positions in the world. */
static double rounding_of(const ulna_global *g, double f)
{
    const ulna_reduced *tree = &g->reduced;
    double weight = 0, far = ulna_problem_length_scale(g->problem), sum = f;
    for (size_t i = 0; i < g->problem->term_count; i++) {
        const ulna_term *term = &g->problem->term[i];
        if (term->type != ULNA_TERM_POINT || !(ulna_term_weight(g->problem, term) > 0))
            continue;
        weight += ulna_term_weight(g->problem, term);
        far = fmax(far, ulna_norm(term->goal));
    }
    if (g->has_tree) {
        sum += tree->unit * tree->summed;
        far = fmax(far, ulna_norm(tree->origin) + ulna_norm(tree->centre) + tree->length);
    }
    const double off = 1e-14 * far * sqrt(weight);
    return ROUNDING * sum + 2 * off * sqrt(fmax(f, 0)) + off * off;
}

int ulna_global_check_bound(ulna_global_result *result, double rounding, double otherwise)
{
    if (!(result->bound > result->f + rounding)) {
        result->bound = fmin(result->bound, result->f);
        return 1;
    }
    result->contradicted = 1;
    result->bound = otherwise <= result->f + rounding ? fmin(otherwise, result->f) : 0;
    return 0;
}

/* To be called after every change of f or of the bound. After a wrong bound, later bounds of relaxations are ignored. */
static void check_bound(race *r)
{
    const double rounding = isfinite(r->result->f) ? rounding_of(r->g, r->result->f) : INFINITY;
    if (r->result->bound > 0 && !ulna_global_check_bound(r->result, rounding, r->lengths_bound))
        r->lengths_bound = fmin(r->lengths_bound, r->result->bound);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static int is_proven(const race *r)
{
    const ulna_global_options *o = &r->g->options;
    return isfinite(r->result->f) && !r->result->contradicted &&
           r->result->f - r->result->bound <= o->gap * r->result->f + o->absolute;
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
    check_bound(r);
    if (is_proven(r))
        finish(r, ULNA_GLOBAL_PROVEN);
    else if (o->seconds > 0 && ulna_seconds() - r->began >= o->seconds)
        finish(r, ULNA_GLOBAL_TIME);
    else if (o->cancel && o->cancel(o->cancel_context, r->result->f, r->result->bound))
        finish(r, ULNA_GLOBAL_CANCELLED);
    return r->ended;
}

/* ---- starts ------------------------------------------------------------------------------------------------------ */

static void solve_lanes(const void *context, int first, int last)
{
    const race *r = context;
    for (int i = first; i < last; i++) {
        ulna_lane *lane = &r->g->lane[i];
        lane->status = ULNA_OK;
        if (lane->aligned)
            lane->status = ulna_work_align_root(ulna_solver_work(lane->solver), lane->q);
        if (lane->status == ULNA_OK)
            lane->status = ulna_solve(lane->solver, lane->q, &lane->result);
        if (lane->status == ULNA_OK && lane->result.predicted)
            lane->status = ulna_work_evaluate(ulna_solver_work(lane->solver), lane->q, &lane->result.f);
    }
}

/* Gives local solves the remaining time. */
static void limit_time(const race *r, int count)
{
    const ulna_global_options *o = &r->g->options;
    double left = fmax(o->seconds - (ulna_seconds() - r->began), 1e-6);
    for (int i = 0; i < count && o->seconds > 0; i++) {
        ulna_options local = *ulna_solver_options(r->g->lane[i].solver);
        local.seconds = o->local.seconds > 0 ? fmin(o->local.seconds, left) : left;
        ulna_solver_set_options(r->g->lane[i].solver, &local, NULL);
    }
}

/* A start at which f is not finite is skipped. */
static ulna_status solve_batch(race *r, int count, int from_relaxation)
{
    ulna_global *g = r->g;
    double cost_us = r->result->starts ? 1e6 * r->solve_s / r->result->starts * count : 0;
    limit_time(r, count);
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
    return left < r->batch ? left : r->batch;
}

static int root_moves(const ulna_global *g)
{
    const ulna_body *root = &g->model->body[0];
    for (int d = root->dof; d < root->dof + root->dof_count && g->locked; d++)
        if (g->locked[d])
            return 0;
    return 1;
}

/* The rest pose, except for locked coordinates; quaternions stay if anything is locked. */
static void rest_lane(const ulna_global *g, ulna_lane *lane)
{
    const ulna_model *model = g->model;
    if (!g->locked)
        memcpy(lane->q, model->rest, (size_t)model->nq * sizeof *lane->q);
    for (int d = 0; d < model->nv && g->locked; d++)
        if (!g->locked[d] && model->dof_coordinate[d] >= 0)
            lane->q[model->dof_coordinate[d]] = model->rest[model->dof_coordinate[d]];
}

/* Start number 0 is the guess, number 1 the rest pose. In every second start the root is moved to the goals first. */
static void spread_lane(race *r, ulna_lane *lane, int number)
{
    ulna_global *g = r->g;
    const ulna_options *o = ulna_solver_options(lane->solver);
    memcpy(lane->q, g->first_q, (size_t)g->model->nq * sizeof *lane->q);
    lane->aligned = number % 2 == 1 && root_moves(g);
    if (number == 1)
        rest_lane(g, lane);
    else if (number > 1)
        ulna_global_start(g->model, o->lower, o->upper, g->locked, g->options.seed, r->spread++, lane->step, lane->q);
}

static ulna_status spread_starts(race *r)
{
    int count = room(r);
    for (int i = 0; i < count; i++)
        spread_lane(r, &r->g->lane[i], r->result->starts + i);
    return solve_batch(r, count, 0);
}

/* ---- relaxations ------------------------------------------------------------------------------------------------- */

/* Poses that are not finite are skipped: the relaxation may have failed. */
static ulna_status round_and_sample(race *r, const ulna_relaxation *relaxation)
{
    ulna_global *g = r->g;
    int count = 0;
    for (int i = 0, most = room(r); i < most; i++) {
        ulna_relaxation_round(relaxation, i == 0 ? NULL : &r->state, &g->pose);
        g->lane[count].aligned = 0;
        ulna_status status = ulna_reduced_to_q(&g->reduced, g->problem, &g->pose, g->first_q, g->lane[count].q);
        if (status != ULNA_OK && status != ULNA_ERR_NUMBER)
            return status;
        count += status == ULNA_OK;
    }
    return solve_batch(r, count, 1);
}

/* Solves a relaxation, and updates the bound. With `posture` above 0 the cost is another one, so the bound is not used. */
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
    how.deadline = g->options.seconds > 0 ? r->began + g->options.seconds : 0;
    if (posture ==
        0) { /* to a tenth of the gap that proves f; relative to f, since the tree's cost can be far larger */
        how.relative = 0;
        how.absolute = 0.1 * (g->options.gap * r->result->f + g->options.absolute) / tree->unit;
    }
    status = ulna_relaxation_solve(*relaxation, tree, &how, &found);
    r->result->relaxations++;
    r->result->iterations += status == ULNA_OK ? found.iterations : 0;
    if (status == ULNA_OK && posture == 0 && !r->result->contradicted) {
        double slack = ROUNDING * (fabs(found.bound) + tree->summed);
        r->result->bound = fmax(r->result->bound, ulna_reduced_bound(tree, found.bound + tree->constant - slack));
        r->open = tree->unit * found.gap;
        r->open_f = r->result->f;
    }
    r->result->relax_seconds += ulna_seconds() - started;
    return status;
}

/* Stage 2. */
static ulna_status point(race *r, ulna_error *error)
{
    ulna_status status = relax(r, ULNA_RELAX_HULL, POSTURE, error);
    if (status != ULNA_OK || has_ended(r))
        return status;
    return round_and_sample(r, r->g->relaxation[ULNA_RELAX_HULL]);
}

/* Stage 3. */
static ulna_status prove(race *r, ulna_error *error)
{
    ulna_relax_kind kind = r->g->options.relax == 2 ? ULNA_RELAX_BONES : ULNA_RELAX_HULL;
    ulna_status status = relax(r, kind, 0, error);
    if (status == ULNA_OK && kind == ULNA_RELAX_BONES && !(r->open <= STALLED * r->result->f) && !has_ended(r)) {
        kind = ULNA_RELAX_HULL;
        status = relax(r, kind, 0, error);
    }
    if (status != ULNA_OK || has_ended(r))
        return status;
    return round_and_sample(r, r->g->relaxation[kind]);
}

/* Whether f has decreased so much that the last relaxation, solved to a tolerance relative to f, was too inaccurate. */
static int is_coarse(const race *r)
{
    const ulna_global_options *o = &r->g->options;
    return !r->result->contradicted && r->result->f < 0.5 * r->open_f && r->open > o->gap * r->result->f + o->absolute;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* If there are few starts, they are divided among the stages. Stage 3 runs even if none are left. */
static ulna_status run(race *r, ulna_error *error)
{
    const ulna_global *g = r->g;
    const int relaxes = g->has_tree && g->reduced.count > 1, quarter = g->options.starts / 4;
    r->batch = !relaxes || quarter > ULNA_GLOBAL_LANES ? ULNA_GLOBAL_LANES : quarter > 0 ? quarter : 1;
    ulna_status status = spread_starts(r);
    if (status == ULNA_OK && relaxes && !has_ended(r) && room(r) > 0)
        status = point(r, error);
    if (status == ULNA_OK && relaxes && !has_ended(r))
        status = prove(r, error);
    r->batch = ULNA_GLOBAL_LANES;
    while (status == ULNA_OK && !has_ended(r)) {
        if (relaxes && is_coarse(r))
            status = prove(r, error);
        else if (room(r) > 0)
            status = spread_starts(r);
        else
            finish(r, ULNA_GLOBAL_STARTS);
    }
    return status;
}

/* The bound without a relaxation: from lengths, and from goals on bodies that cannot move. */
static double first_bound(const ulna_global *g)
{
    const ulna_reduced *tree = &g->reduced;
    if (!g->has_tree)
        return 0;
    double still = tree->count == 1 ? tree->constant - ROUNDING * tree->summed : 0;
    return ulna_reduced_bound(tree, fmax(still, ulna_reduced_far(tree, g->pose.value)));
}

ulna_status ulna_global_race(ulna_global *g, double *q, ulna_global_result *result, ulna_error *error)
{
    *result = (ulna_global_result){.f = INFINITY,
                                   .bound = first_bound(g),
                                   .terms_left_out = g->reduced.left_out,
                                   .limits_left_out = g->reduced.limits_left_out};
    race r = {
        .g = g, .result = result, .began = ulna_seconds(), .lengths_bound = result->bound, .state = g->options.seed};
    memcpy(g->first_q, q, (size_t)g->model->nq * sizeof *q);
    ulna_status status = run(&r, error);
    if (status == ULNA_OK && isinf(result->f))
        status = ulna_fail(error, ULNA_ERR_NUMBER, "f is not finite at any of %d starts", result->starts);
    if (status != ULNA_OK)
        return status;
    memcpy(q, g->best_q, (size_t)g->model->nq * sizeof *q);
    check_bound(&r);
    result->gap = result->f - result->bound;
    result->proven = is_proven(&r);
    result->unreachable = result->bound > g->options.absolute;
    result->seconds = ulna_seconds() - r.began;
    return ULNA_OK;
}
