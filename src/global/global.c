/* A global solve: options, memory, and the data kept between solves. The stages are in race.c. */
#include "global/global.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/parallel.h"
#include "global/reduce.h"
#include "model/model.h"
#include "objective/problem.h"

#define DEFAULT_ABSOLUTE 1e-12 /* of the length scale, squared */

const char *ulna_global_stop_name(ulna_global_stop stop)
{
    static const char *const names[ULNA_GLOBAL_STOP_COUNT] = {"proven", "starts", "time", "cancelled"};
    return (unsigned)stop < ULNA_GLOBAL_STOP_COUNT ? names[stop] : "unknown";
}

ulna_global_options ulna_global_options_default(void)
{
    ulna_global_options o = {
        .local = ulna_options_default(), .gap = 1e-3, .starts = 64, .relax = 2, .seed = 1, .threads = 1};
    return o;
}

static ulna_status check(const ulna_problem *problem, const ulna_global_options *o, ulna_error *error)
{
    if (!problem)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no problem given");
    /* Couplings are constraints of every problem of their model: local solves keep them, and without them the bound still holds. */
    if (ulna_problem_constraint_count(problem) > ulna_problem_model(problem)->nc)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                         "a global solve keeps no constraints, and the problem has some: use a solver with restarts");
    const double numbers[] = {o->gap, o->absolute, o->seconds};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(numbers[i] >= 0) || isinf(numbers[i]))
            return ulna_fail(error, ULNA_ERR_ARGUMENT,
                             "options gap, absolute and seconds must be 0 or above, and finite");
    if (o->starts < 1 || o->relax < 0 || o->relax > 2 || o->threads < 0)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "options: starts must be at least 1, relax 0, 1 or 2, threads at least 0");
    return ULNA_OK;
}

static void take_arrays(ulna_global *g, ulna_arena *arena)
{
    size_t nq = (size_t)g->model->nq, nv = (size_t)g->model->nv;
    g->best_q = ulna_arena_take(arena, nq, sizeof(double));
    g->first_q = ulna_arena_take(arena, nq, sizeof(double));
    for (int i = 0; i < ULNA_GLOBAL_LANES; i++) {
        g->lane[i].q = ulna_arena_take(arena, nq, sizeof(double));
        g->lane[i].step = ulna_arena_take(arena, nv, sizeof(double));
    }
}

static ulna_status make_solvers(ulna_global *g, ulna_error *error)
{
    ulna_options local = g->options.local;
    local.restarts = 0;
    local.trace = NULL;
    local.trace_capacity = 0;
    const double length = ulna_problem_length_scale(g->problem);
    if (local.objective < 0) /* a multiple of the length scale squared */
        local.objective *= -length * length;
    local.objective = fmin(local.objective, g->options.absolute);
    ulna_status status = ULNA_OK;
    for (int i = 0; i < ULNA_GLOBAL_LANES && status == ULNA_OK; i++)
        status =
            ulna_solver_create_with(g->problem, &local, g->method, g->inner, &g->allocator, &g->lane[i].solver, error);
    return status;
}

/* The DOFs that the options lock, or whose strength is 0. The solvers' copy is used, since the caller's may be gone later. */
static void find_locked(ulna_global *g)
{
    const unsigned char *locked = ulna_solver_options(g->lane[0].solver)->locked;
    for (int d = 0; d < g->model->nv && !g->locked; d++)
        if (locked[d])
            g->locked = locked;
}

ulna_status ulna_global_create_with(const ulna_problem *problem, const ulna_global_options *options,
                                    const ulna_method *method, const ulna_method *inner,
                                    const ulna_allocator *allocator, ulna_global **global, ulna_error *error)
{
    if (!global)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the global solver given");
    *global = NULL;
    ulna_global layout = {.allocator = ulna_allocator_or_default(allocator),
                          .problem = problem,
                          .method = method,
                          .inner = inner,
                          .options = options ? *options : ulna_global_options_default()};
    ulna_status status = check(problem, &layout.options, error);
    if (status != ULNA_OK)
        return status;
    layout.model = problem->model;
    const double length = ulna_problem_length_scale(problem);
    if (layout.options.absolute == 0)
        layout.options.absolute = DEFAULT_ABSOLUTE * length * length;
    ulna_arena arena = {NULL, sizeof layout, 0};
    take_arrays(&layout, &arena);
    void *memory = arena.failed ? NULL : ulna_allocate(&layout.allocator, arena.used, 1);
    if (!memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a global solver");
    layout.bytes = arena.used;
    arena = (ulna_arena){memory, sizeof layout, 0};
    take_arrays(&layout, &arena);
    ulna_global *g = memory;
    *g = layout;
    status = make_solvers(g, error);
    if (status != ULNA_OK) {
        ulna_global_destroy(g);
        return status;
    }
    find_locked(g);
    *global = g;
    return ULNA_OK;
}

static void forget_tree(ulna_global *g)
{
    for (int i = 0; i < 2; i++) {
        ulna_relaxation_destroy(g->relaxation[i]);
        g->relaxation[i] = NULL;
    }
    ulna_reduced_pose_release(&g->allocator, &g->pose);
    ulna_reduced_release(&g->reduced);
    g->pose = (ulna_reduced_pose){0};
    g->reduced = (ulna_reduced){0};
    g->has_tree = 0;
}

void ulna_global_destroy(ulna_global *g)
{
    if (!g)
        return;
    ulna_allocator allocator = g->allocator;
    forget_tree(g);
    for (int i = 0; i < ULNA_GLOBAL_LANES; i++)
        ulna_solver_destroy(g->lane[i].solver);
    ulna_release(&allocator, g, g->bytes, 1);
}

/* Locked degrees of freedom become part of the bones, at their values in the guess, so a tree with such DOFs is made again
 * for every solve. */
static ulna_status make_tree(ulna_global *g, const double *q, ulna_error *error)
{
    const ulna_options *o = ulna_solver_options(g->lane[0].solver);
    if (g->has_tree && !g->locked && ulna_reduced_refresh(&g->reduced, g->problem) == ULNA_OK &&
        ulna_reduced_is_centred(&g->reduced))
        return ULNA_OK;
    forget_tree(g);
    /* Methods without limits find poses outside them, and the bound must hold for those poses, too. */
    const int keeps_limits = o->bounded && g->method->info.flags & ULNA_METHOD_BOUNDED;
    const ulna_reduce_options how = {.bounded = keeps_limits,
                                     .lower = o->lower,
                                     .upper = o->upper,
                                     .locked = g->locked,
                                     .q = q,
                                     .gather = g->options.relax == 2 ? ULNA_GATHER_LOOSE : ULNA_GATHER_ALL};
    ulna_status status = ulna_reduced_create(g->problem, &how, &g->allocator, &g->reduced, error);
    if (status == ULNA_OK)
        status = ulna_reduced_pose_create(&g->reduced, &g->allocator, &g->pose);
    g->has_tree = status == ULNA_OK;
    /* No term is supported by relaxations: the bound is 0, and only the starts are used. */
    if (status == ULNA_ERR_UNSUPPORTED) {
        ulna_reduce_count_left_out(&g->reduced, g->problem);
        status = ULNA_OK;
    }
    return status;
}

ulna_status ulna_global_solve(ulna_global *g, double *q, ulna_global_result *result, ulna_error *error)
{
    if (!g || !q || !result)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a global solver, q and result must be given");
    ulna_status status = ulna_model_check_q(g->model, q, NULL);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "the guess is not a pose: it contains NaN or infinity");
    (void)ulna_solver_clamp(g->lane[0].solver, q); /* as the starts do: the bound is for where locked joints are then */
    if (g->options.relax)
        status = make_tree(g, q, error);
    return status == ULNA_OK ? ulna_global_race(g, q, result, error) : status;
}
