/*
 * sdp among the methods: its first iteration goes to the rounded relaxation (sdp.c), wherever the start is; the others
 * are newton's. Restarts are newton's alone, since the relaxation would say the same again.
 *
 * The start matters only for what no goal feels, and as an answer that may turn out to be better: as with every method
 * that may climb, the best point seen comes back. Unlike the other methods it allocates in ulna_solve, and threads take
 * turns in DSDP.
 */
#include "papers/sdp.h"
#include "solve/registry.h"

/* Nothing to relax is no fault: no goal feels a joint. */
static int is_refused(ulna_status status)
{
    return status != ULNA_OK && status != ULNA_ERR_STATE;
}

static int has_goals(const ulna_problem *problem)
{
    for (size_t i = 0; i < problem->term_count; i++)
        if (ulna_term_weight(problem, &problem->term[i]) > 0)
            return 1;
    return 0;
}

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    if (!arena->memory && has_goals(s->problem)) {
        ulna_reduce_options reduce = {.bounded = s->options.bounded};
        ulna_status status = ulna_sdp_check(s->problem, &reduce, error);
        if (is_refused(status))
            return status;
    }
    return ulna_method_newton.layout(s, state, arena, error);
}

static ulna_status begin(ulna_solver *s, void *state)
{
    return ulna_method_newton.begin(s, state);
}

static ulna_status jump(ulna_solver *s, void *state)
{
    ulna_sdp_options options = ulna_sdp_options_default();
    ulna_sdp_result result;
    double f;
    ulna_reduce_options reduce = ulna_sdp_reduce(s, s->q);
    memcpy(s->trial, s->q, (size_t)s->nq * sizeof *s->q);
    ulna_status status = ulna_sdp_start(s->problem, &options, &reduce, s->trial, &result, NULL);
    if (is_refused(status))
        return status;
    ulna_solver_clamp(s, s->trial);
    status = ulna_try_q(s, &f);
    if (status != ULNA_OK || !isfinite(f))
        return status;
    ulna_model_difference(s->model, s->q, s->trial, s->step);
    ulna_accept(s, s->step, 1, f);
    s->now.unsettled = 1;
    return ulna_method_newton.begin(s, state);
}

static ulna_status iterate(ulna_solver *s, void *state)
{
    return s->attempt == 0 && s->iteration == 0 ? jump(s, state) : ulna_method_newton.iterate(s, state);
}

const ulna_method ulna_method_sdp = {
    .info = {.name = "sdp",
             .summary = "semidefinite relaxation of all postures, solved by DSDP; then newton",
             .source = "convex IK, eq. 14 and section 4.2.2",
             .supports = "point, orientation and direction terms; hinges, balls, free roots; no slides below them",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_HESSIAN | ULNA_METHOD_LAPACK | ULNA_METHOD_RELAXATION,
             .iterations = 200},
    .predicts = 1,
    .patience = 1,
    .layout = layout,
    .begin = begin,
    .iterate = iterate,
};
