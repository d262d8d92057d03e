/*
 * The general solve: any tree, any number of tips, by the solver `hybrid` (solve.h) from one start after the other.
 *
 * Soft form: goals are terms, so an attempt ends at the goals or at a configuration that is closest among its neighbours. Hard form:
 * goals are constraints and the posture is the term, so an attempt slides along the solutions to the one nearest to the posture, or
 * the seed. Goals relative to a link have the hard form only: the tree's elimination has no terms between two bodies.
 *
 * Starts: the seed; points around it, farther and farther away; then the whole joint space by a low-discrepancy sequence
 * (global/starts.h), with a root that is free to move brought to the goals first. No random numbers, no clock.
 */
#include "global/starts.h"
#include "math/math3.h"
#include "reach/reach.h"
#include "solve/solver.h"

#include <math.h>
#include <string.h>

#define SAME 0.1   /* radians: solutions that differ by less in every joint are the same */
#define CLOSE 0.5  /* of options.jump: a solution as near as this to the seed need not be compared with others */
#define POLISH 300 /* iterations for the closest configuration, and again while they halve the error's square */

enum {
    AROUND = 8,
    NARROW_AROUND = 2,
    CANDIDATES = 24,
    FOR_ALL = 100,
    BRANCHES = 4,
    BRANCH_ITERATIONS = 20,
    POLISHES = 10
};

/* ---- solvers --------------------------------------------------------------------------------------------------------------- */

ulna_options ulna_tree_options(const ulna_reach *reach, ulna_reach_form form)
{
    ulna_options options = ulna_options_default();
    options.lower = reach->lower;
    options.upper = reach->upper;
    options.locked = reach->locked;
    options.strength = reach->strength;
    options.iterations = reach->options.iterations;
    if (form == ULNA_REACH_SOFT) {
        options.objective = reach->objective;
        options.hybrid.verify = 0;
    }
    return options;
}

ulna_status ulna_tree_create(ulna_reach_work *work, ulna_error *error)
{
    const ulna_reach *reach = work->reach;
    ulna_status status = ULNA_OK;
    for (int form = 0; form < ULNA_REACH_FORMS && status == ULNA_OK; form++) {
        if (!reach->problem[form])
            continue;
        ulna_options options = ulna_tree_options(reach, (ulna_reach_form)form);
        status = ulna_problem_clone(reach->problem[form], &work->allocator, &work->problem[form], error);
        if (status == ULNA_OK)
            status = ulna_solver_create_with(work->problem[form], &options, &ulna_method_hybrid, NULL, &work->allocator,
                                             &work->solver[form], error);
    }
    return status;
}

void ulna_tree_destroy(ulna_reach_work *work)
{
    for (int form = 0; form < ULNA_REACH_FORMS; form++) {
        ulna_solver_destroy(work->solver[form]);
        ulna_problem_destroy(work->problem[form]);
    }
}

/* ---- one attempt ------------------------------------------------------------------------------------------------------------- */

typedef struct search {
    ulna_reach_work *work;
    const ulna_reach_query *query;
    ulna_reach_result best; /* of work->best */
    double best_cost;       /* weighted squares of its errors, m^2; its distance counts where it is reached */
    int limit;              /* of iterations, for each attempt */
    int attempts, iterations;
    int out_of_time;
    int is_sliding;       /* the attempt is that of slide() */
    ulna_reach_query own; /* of weighted joints, whose strengths change from start to start */
} search;

/* Options that change from call to call: limits of a path, time left. */
static ulna_status set_options(search *s, ulna_reach_form form, int polish)
{
    const ulna_reach_query *query = s->query;
    ulna_options options = ulna_tree_options(s->work->reach, form);
    options.lower = query->lower;
    options.upper = query->upper;
    options.strength = query->strength;
    if (query->deadline > 0)
        options.seconds = fmax(query->deadline - ulna_seconds(), 1e-9);
    if (polish) {
        options.hybrid.verify = 1;
    }
    return ulna_solver_set_options(s->work->solver[form], &options, NULL);
}

/* Steps without strengths, too, in turns: weak joints may be what a goal needs, or what avoids a jump. */
static ulna_status set_strengths(search *s, int plain)
{
    const ulna_reach *reach = s->work->reach;
    ulna_status status = ULNA_OK;
    if (!reach->is_weighted)
        return ULNA_OK;
    s->own = *s->query;
    s->own.strength = plain ? reach->even : reach->strength;
    s->query = &s->own;
    for (int form = 0; form < ULNA_REACH_FORMS && status == ULNA_OK; form++)
        if (s->work->solver[form])
            status = set_options(s, (ulna_reach_form)form, 0);
    return status;
}

static int has_ended(search *s)
{
    if (s->query->deadline > 0 && ulna_seconds() >= s->query->deadline)
        s->out_of_time = 1;
    return s->out_of_time;
}

static ulna_status set_goals(search *s)
{
    ulna_reach_work *work = s->work;
    const ulna_reach *reach = work->reach;
    ulna_status status = ULNA_OK;
    for (int form = 0; form < ULNA_REACH_FORMS; form++) {
        if (!work->solver[form])
            continue;
        for (int i = 0; i < reach->tip_count && status == ULNA_OK; i++)
            status = ulna_tip_set_goal(&reach->tip[i], work->problem[form], (ulna_reach_form)form,
                                       &reach->numbers[form][i], &s->query->target[i]);
        if (status == ULNA_OK && (s->query->is_narrow || s->query->deadline > 0))
            status = set_options(s, (ulna_reach_form)form, 0);
    }
    if (status == ULNA_OK)
        status = ulna_problem_set_goal(work->problem[ULNA_REACH_HARD], reach->posture_term,
                                       reach->posture ? reach->posture : s->query->seed);
    return status;
}

/* What goals are first solved by, the other one slides. */
static ulna_reach_form first_form(const search *s)
{
    return s->work->solver[ULNA_REACH_SOFT] ? ULNA_REACH_SOFT : ULNA_REACH_HARD;
}

/* Solves from q and judges the answer. A start at which f is not finite counts as one that led nowhere. */
static ulna_status attempt(search *s, ulna_reach_form form, double *q, ulna_reach_result *result, double *cost)
{
    ulna_reach_work *work = s->work;
    const ulna_reach *reach = work->reach;
    ulna_result solved = {0};
    ulna_status status = ULNA_OK;
    double violation = 0;
    int by_rows = reach->uses_rows && !s->is_sliding;
    *result = (ulna_reach_result){0};
    *cost = (double)INFINITY;
    s->attempts++;
    if (by_rows)
        status = ulna_rows_solve(work, s->query, s->limit, q, &s->iterations);
    work->solver[form]->options.iterations = s->limit;
    if (status == ULNA_OK && (!by_rows || reach->options.constraint_count > 0)) {
        status = ulna_solve(work->solver[form], q, &solved);
        s->iterations += solved.iterations;
        s->out_of_time |= solved.stop == ULNA_STOP_TIME;
    }
    if (status == ULNA_ERR_NUMBER)
        return ULNA_OK;
    if (status != ULNA_OK)
        return status;
    ulna_reach_wrap(reach, s->query, q);
    status = ulna_reach_judge(work, s->query, q, result, &violation);
    *cost = violation * violation;
    for (int i = 0; i < reach->tip_count; i++)
        for (int k = 0; k < 6; k++) {
            double off = work->error[i].axis[k] * (k < 3 ? 1 : reach->tip[i].length);
            *cost += reach->tip[i].given.weight[k] * off * off;
        }
    return status;
}

/* Is the first better: reached rather than not, then nearer to the seed (or the posture) if that counts, else closer to the goals? */
static int is_better(const search *s, const ulna_reach_result *a, double a_cost, const ulna_reach_result *b,
                     double b_cost)
{
    if (a->reached != b->reached)
        return a->reached;
    if (!a->reached)
        return a_cost < b_cost;
    if (a->jumped != b->jumped && s->query->mode != ULNA_REACH_ANY)
        return !a->jumped;
    return a->distance < b->distance;
}

static void keep_if_better(search *s, const double *q, const ulna_reach_result *result, double cost)
{
    if (s->best_cost < (double)INFINITY && !is_better(s, result, cost, &s->best, s->best_cost))
        return;
    memcpy(s->work->best, q, (size_t)s->work->reach->nq * sizeof *q);
    s->best = *result;
    s->best_cost = cost;
}

/* Slides a solution to the nearest one of its neighbourhood. It stays if that fails. */
static ulna_status slide(search *s, double *q, ulna_reach_result *result, double *cost)
{
    ulna_reach_work *work = s->work;
    size_t bytes = (size_t)work->reach->nq * sizeof *q;
    ulna_reach_result slid;
    double slid_cost;
    int jumped;
    const double *to = work->reach->posture ? work->reach->posture : s->query->seed;
    memcpy(work->slid, q, bytes);
    s->is_sliding = 1;
    ulna_status status = attempt(s, ULNA_REACH_HARD, work->slid, &slid, &slid_cost);
    s->is_sliding = 0;
    s->attempts--;
    if (status != ULNA_OK || !slid.reached)
        return status;
    double before = ulna_reach_distance(work->reach, to, q, work->step, &jumped);
    double after = ulna_reach_distance(work->reach, to, work->slid, work->step, &jumped);
    if (after < before) {
        memcpy(q, work->slid, bytes);
        *result = slid;
        *cost = slid_cost;
    }
    return ULNA_OK;
}

static int wants_slide(const search *s)
{
    return (first_form(s) == ULNA_REACH_SOFT || s->work->reach->uses_rows) &&
           (s->query->mode == ULNA_REACH_NEAREST || s->work->reach->posture);
}

/* An attempt from work->trial; work->best is updated. */
static ulna_status try_start(search *s)
{
    ulna_reach_result result;
    double cost;
    ulna_status status = attempt(s, first_form(s), s->work->trial, &result, &cost);
    if (status == ULNA_OK && result.reached && wants_slide(s))
        status = slide(s, s->work->trial, &result, &cost);
    if (status == ULNA_OK)
        keep_if_better(s, s->work->trial, &result, cost);
    return status;
}

/* ---- starts -------------------------------------------------------------------------------------------------------------------- */

static void from_seed(search *s)
{
    memcpy(s->work->trial, s->query->seed, (size_t)s->work->reach->nq * sizeof *s->work->trial);
}

/* Around the seed, k = 0, 1, ...: 0.15 to 0.6 radians to either side. */
static void around_seed(search *s, int k)
{
    ulna_reach_work *work = s->work;
    const ulna_reach *reach = work->reach;
    uint64_t state = reach->options.seed + 0x9e3779b97f4a7c15u * (uint64_t)(k + 1);
    double width = 0.15 * (1 + 3.0 * (k % AROUND) / (AROUND - 1));
    for (int j = 0; j < reach->nv; j++) {
        double u = 2 * ulna_random_uniform(&state) - 1;
        work->step[j] = reach->locked[j] ? 0 : width * u * reach->unit[j];
    }
    ulna_model_integrate(reach->model, s->query->seed, work->step, work->trial);
    ulna_reach_wrap(reach, s->query, work->trial);
}

/* Anywhere, k = 0, 1, ...: in turns from the tables of branches, if there are some, and by the sequence. */
static ulna_status anywhere(search *s, int k)
{
    ulna_reach_work *work = s->work;
    const ulna_reach *reach = work->reach;
    if (reach->branch && (k < BRANCHES || k % 2)) {
        s->limit = k < BRANCHES ? BRANCH_ITERATIONS : reach->options.iterations;
        ulna_status status = ulna_branches_start(work, s->query, k, work->trial);
        ulna_reach_wrap(reach, s->query, work->trial);
        return status;
    }
    s->limit = reach->options.iterations;
    from_seed(s);
    ulna_global_start(reach->model, s->query->lower, s->query->upper, reach->locked, reach->options.seed, k, work->step,
                      work->trial);
    ulna_status status = ULNA_OK;
    if (reach->root_moves && work->solver[ULNA_REACH_SOFT])
        status = ulna_work_align_root(ulna_solver_work(work->solver[ULNA_REACH_SOFT]), work->trial);
    ulna_reach_wrap(reach, s->query, work->trial);
    return status == ULNA_ERR_NUMBER ? ULNA_OK : status;
}

/* ---- policies -------------------------------------------------------------------------------------------------------------------- */

/* Is the best answer so far good enough to stop? */
static int is_enough(search *s)
{
    const ulna_reach *reach = s->work->reach;
    return s->best.reached && (s->query->mode == ULNA_REACH_ANY || !s->best.jumped) &&
           (s->query->mode != ULNA_REACH_NEAREST || s->best.distance * reach->strongest <= CLOSE * reach->options.jump);
}

static ulna_status run_starts(search *s)
{
    const ulna_reach *reach = s->work->reach;
    const ulna_reach_options *o = &reach->options;
    int near = s->query->mode != ULNA_REACH_ANY;
    int around = s->query->is_narrow ? NARROW_AROUND : near ? AROUND : 0;
    int most = s->query->is_narrow && o->restarts > NARROW_AROUND ? NARROW_AROUND : o->restarts;
    /* Any solution: tables know better than the seed, but not which joints are to move less. */
    int at_seed = near || !reach->branch || reach->is_weighted;
    ulna_status status = ULNA_OK;
    if (at_seed) {
        from_seed(s);
        status = try_start(s);
    }
    most += !at_seed || reach->is_weighted; /* from the seed without strengths: no further start */
    for (int k = 0; k < most && status == ULNA_OK && !is_enough(s) && !has_ended(s); k++) {
        status = set_strengths(s, k % 4 < 2);
        if (k == 0 && reach->is_weighted)
            from_seed(s);
        else if (k < around)
            around_seed(s, k);
        else if (near && s->best.reached && k >= around + CANDIDATES)
            break;
        else if (status == ULNA_OK)
            status = anywhere(s, k - around);
        if (status == ULNA_OK)
            status = try_start(s);
    }
    return status;
}

/* No start led to the goals: the closest configuration, to all digits. */
static ulna_status polish(search *s)
{
    ulna_reach_form form = first_form(s);
    ulna_reach_work *work = s->work;
    ulna_reach_result result;
    double cost;
    ulna_status status = set_options(s, form, 1);
    s->limit = work->reach->options.iterations > POLISH ? work->reach->options.iterations : POLISH;
    memcpy(work->trial, work->best, (size_t)work->reach->nq * sizeof *work->trial);
    if (status == ULNA_OK)
        status = attempt(s, form, work->trial, &result, &cost);
    s->attempts--;
    if (status == ULNA_OK)
        keep_if_better(s, work->trial, &result, cost);
    ulna_status restored = set_options(s, form, 0);
    return status == ULNA_OK ? restored : status;
}

/* At singular solutions the error falls as slowly as a power of the number of iterations, but it falls. */
static ulna_status polish_while_it_falls(search *s)
{
    ulna_status status = ULNA_OK;
    double before = (double)INFINITY;
    for (int k = 0; k < POLISHES && status == ULNA_OK && !s->best.reached && !has_ended(s); k++) {
        if (!(s->best_cost < 0.5 * before))
            break;
        before = s->best_cost;
        status = polish(s);
    }
    return status;
}

/* The options of the solvers are again those of the reach. */
static ulna_status restore(const search *s, ulna_status status)
{
    ulna_reach_work *work = s->work;
    int changed = s->query->is_narrow || s->query->deadline > 0 || s->query->strength != work->reach->strength;
    for (int form = 0; form < ULNA_REACH_FORMS && changed; form++)
        if (work->solver[form]) {
            ulna_options options = ulna_tree_options(work->reach, (ulna_reach_form)form);
            ulna_status set = ulna_solver_set_options(work->solver[form], &options, NULL);
            status = status == ULNA_OK ? set : status;
        }
    return status;
}

ulna_status ulna_tree_solve(ulna_reach_work *work, const ulna_reach_query *query, double *q, ulna_reach_result *result)
{
    search s = {.work = work, .query = query, .best_cost = (double)INFINITY, .limit = work->reach->options.iterations};
    ulna_status status = set_goals(&s);
    if (status == ULNA_OK)
        status = run_starts(&s);
    if (status == ULNA_OK && s.best_cost < (double)INFINITY)
        status = polish_while_it_falls(&s);
    status = restore(&s, status);
    if (status == ULNA_OK && !(s.best_cost < (double)INFINITY))
        status = ULNA_ERR_NUMBER;
    if (status != ULNA_OK)
        return status;
    memcpy(q, work->best, (size_t)work->reach->nq * sizeof *q);
    *result = s.best;
    result->iterations = s.iterations;
    result->restarts = s.attempts - 1;
    result->out_of_time = s.out_of_time;
    return ULNA_OK;
}

/* ---- several solutions ------------------------------------------------------------------------------------------------------------ */

/* The list is kept sorted by distance; an answer that is the same as one of the list replaces it if it is nearer. */
static void insert(const search *s, int capacity, double *q, ulna_reach_result *results, int *count)
{
    const ulna_reach *reach = s->work->reach;
    size_t nq = (size_t)reach->nq, bytes = nq * sizeof *q;
    int at;
    for (int i = 0; i < *count; i++) {
        double largest = 0;
        ulna_model_difference(reach->model, q + (size_t)i * nq, s->work->best, s->work->step);
        for (int j = 0; j < reach->nv; j++)
            largest = fmax(largest, fabs(s->work->step[j]) / reach->unit[j]);
        if (largest > SAME)
            continue;
        if (results[i].distance <= s->best.distance)
            return;
        memmove(q + (size_t)i * nq, q + (size_t)(i + 1) * nq, (size_t)(*count - i - 1) * bytes);
        memmove(results + i, results + i + 1, (size_t)(*count - i - 1) * sizeof *results);
        --*count;
        i--;
    }
    for (at = 0; at < *count && results[at].distance <= s->best.distance;)
        at++;
    if (at == capacity)
        return;
    int kept = *count < capacity ? *count : capacity - 1;
    memmove(q + (size_t)(at + 1) * nq, q + (size_t)at * nq, (size_t)(kept - at) * bytes);
    memmove(results + at + 1, results + at, (size_t)(kept - at) * sizeof *results);
    memcpy(q + (size_t)at * nq, s->work->best, bytes);
    results[at] = s->best;
    *count = kept + 1;
}

ulna_status ulna_tree_all(ulna_reach_work *work, const ulna_reach_query *query, int capacity, double *q,
                          ulna_reach_result *results, int *count)
{
    search s = {.work = work, .query = query, .limit = work->reach->options.iterations};
    int most = work->reach->options.restarts > FOR_ALL ? work->reach->options.restarts : FOR_ALL;
    ulna_status status = set_goals(&s);
    *count = 0;
    for (int k = -1; k < most && status == ULNA_OK && !has_ended(&s); k++) {
        s.best_cost = (double)INFINITY;
        if (k < 0)
            from_seed(&s);
        else
            status = anywhere(&s, k);
        if (status == ULNA_OK)
            status = try_start(&s);
        s.best.iterations = s.iterations;
        s.best.restarts = s.attempts - 1;
        if (status == ULNA_OK && s.best.reached)
            insert(&s, capacity, q, results, count);
    }
    status = restore(&s, status);
    if (status != ULNA_OK || *count > 0)
        return status;
    status = ulna_tree_solve(work, query, q, results);
    *count = status == ULNA_OK && results[0].reached;
    return status;
}
