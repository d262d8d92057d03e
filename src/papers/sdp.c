/*
 * sdp: the convex-IK paper from end to end.
 *
 * Source: section 4.2.2. Relaxation (14) in its reduced form F1 (paper.h), solved by DSDP (the paper: MOSEK); rounding
 * (paper_round.c); then ulna_solve, by default the exact-Hessian trust region (the paper: Manopt's).
 * Changed: the refinement keeps the limits exactly; the paper uses a penalty (16).
 * Fails if the relaxation is loose: with few observations its minimum is the mean of many poses, and refinement from a
 * rounded mean may end in a local minimum. result.spread is then large.
 */
#include "base/base.h"
#include "global/starts.h"
#include "papers/paper.h"
#include "papers/papers.h"
#include "solve/solver.h"
#include "ulna/global.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ulna_sdp_options ulna_sdp_options_default(void)
{
    ulna_sdp_options options = {.local = ulna_options_default(), .iterations = 200, .gap = 1e-8};
    options.local.method = "newton";
    return options;
}

/* ---- unsupported input ------------------------------------------------------------------------------------------- */

static ulna_status check_terms(const ulna_reduced *reduced, ulna_error *error)
{
    for (int type = 0; type < ULNA_TERM_TYPE_COUNT; type++)
        if (reduced->left_out_types & (1u << type))
            return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                             "sdp takes point, orientation and direction terms: there is one of type %s",
                             ulna_term_type_name((ulna_term_type)type));
    return ULNA_OK;
}

/* Refuses programs with too many variables. Before the program is written, `count` is a lower estimate: two per rotation. */
static ulna_status check_size(int count, ulna_error *error)
{
    if (count <= ULNA_PROGRAM_MOST)
        return ULNA_OK;
    return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                     "the skeleton is too large for sdp: at least %d unknowns, at most %d are possible", count,
                     ULNA_PROGRAM_MOST);
}

/* Makes the tree and its program; the caller releases both, also after a failure. */
static ulna_status write_down(const ulna_problem *problem, const ulna_reduce_options *reduce, ulna_reduced *reduced,
                              ulna_paper *paper, ulna_error *error)
{
    int turns = 0;
    ulna_program_result none;
    *reduced = (ulna_reduced){0};
    *paper = (ulna_paper){0};
    if (!ulna_program_solvable())
        return ulna_program_solve(NULL, NULL, NULL, &none, error);
    ulna_status status = ulna_reduced_create(problem, reduce, NULL, reduced, error);
    if (status == ULNA_OK)
        status = check_terms(reduced, error);
    for (int n = 0; n < reduced->count; n++)
        turns += reduced->nodes[n].edge == ULNA_EDGE_HINGE || reduced->nodes[n].edge == ULNA_EDGE_BALL;
    if (status == ULNA_OK)
        status = check_size(2 * turns, error);
    if (status == ULNA_OK)
        status = ulna_paper_create(reduced, ULNA_PAPER_REDUCED, NULL, paper, error);
    return status == ULNA_OK ? check_size(paper->program.variables, error) : status;
}

/* ULNA_OK if the problem is supported. */
static ulna_status check_problem(const ulna_problem *problem, const ulna_reduce_options *reduce, ulna_error *error)
{
    ulna_reduced reduced;
    ulna_paper paper;
    ulna_status status = write_down(problem, reduce, &reduced, &paper, error);
    ulna_paper_release(&paper);
    ulna_reduced_release(&reduced);
    return status;
}

/* ---- the relaxation ---------------------------------------------------------------------------------------------- */

static ulna_status solve_and_round(const ulna_paper *paper, const ulna_reduced *reduced,
                                   const ulna_sdp_options *options, double *x, ulna_reduced_pose *pose,
                                   ulna_sdp_result *result, ulna_error *error)
{
    const ulna_program_options limits = {options->iterations, options->gap};
    ulna_program_result solved;
    ulna_status status = ulna_program_solve(&paper->program, &limits, x, &solved, error);
    if (status != ULNA_OK)
        return status;
    result->optimum = solved.optimum * reduced->unit;
    result->bound = solved.bound * reduced->unit;
    result->iterations = solved.iterations;
    result->limits_left_out = reduced->limits_left_out;
    result->spread = ulna_paper_round(paper, x, pose);
    return ULNA_OK;
}

/* Relaxation and rounding, before the refinement. Fills q and the members of `result` up to relax_seconds, except f and
 * rounded_f. */
static ulna_status relax_and_round(const ulna_problem *problem, const ulna_sdp_options *options,
                                   const ulna_reduce_options *reduce, double *q, ulna_sdp_result *result,
                                   ulna_error *error)
{
    ulna_reduced reduced;
    ulna_paper paper;
    ulna_reduced_pose pose = {0};
    double *x = NULL, started = ulna_seconds();
    size_t count = 0;
    ulna_allocator memory = ulna_allocator_or_default(NULL);
    ulna_status status = write_down(problem, reduce, &reduced, &paper, error);
    if (status == ULNA_OK) {
        count = (size_t)paper.program.variables;
        x = ulna_allocate(&memory, count, sizeof *x);
        status = x ? ulna_reduced_pose_create(&reduced, NULL, &pose) : ULNA_ERR_MEMORY;
        if (status != ULNA_OK)
            ulna_fail(error, status, "%s", ulna_status_text(status));
    }
    if (status == ULNA_OK)
        status = solve_and_round(&paper, &reduced, options, x, &pose, result, error);
    if (status == ULNA_OK)
        status = ulna_reduced_to_q(&reduced, problem, &pose, q, q);
    ulna_reduced_pose_release(NULL, &pose);
    ulna_release(&memory, x, count, sizeof *x);
    ulna_paper_release(&paper);
    ulna_reduced_release(&reduced);
    result->relax_seconds = ulna_seconds() - started;
    return status;
}

/* The options of the tree for a solver's limits and locked degrees of freedom; the latter do not move from q. */
static ulna_reduce_options tree_options(const ulna_solver *solver, const double *q)
{
    return (ulna_reduce_options){.bounded = solver->options.bounded,
                                 .lower = solver->lower,
                                 .upper = solver->upper,
                                 .locked = solver->has_locked ? solver->locked : NULL,
                                 .q = q};
}

/* ---- the whole solve --------------------------------------------------------------------------------------------------- */

static ulna_status check_options(const ulna_sdp_options *options, ulna_error *error)
{
    if (options->iterations < 1 || !(options->gap > 0))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "sdp needs at least one iteration, and a gap above 0");
    return ULNA_OK;
}

ulna_status ulna_sdp_solve(const ulna_problem *problem, const ulna_sdp_options *options, double *q,
                           ulna_sdp_result *result, ulna_error *error)
{
    ulna_sdp_options wanted = options ? *options : ulna_sdp_options_default();
    ulna_sdp_result own = {0};
    double started = ulna_seconds();
    ulna_solver *solver = NULL;
    if (!problem || !q)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "sdp needs a problem and a q");
    ulna_status status = ulna_model_check_q(ulna_problem_model(problem), q, NULL);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "q holds a number that is not finite, or a quaternion of length 0");
    status = check_options(&wanted, error);
    if (status == ULNA_OK)
        status = ulna_solver_create(problem, &wanted.local, NULL, &solver, error);
    if (status == ULNA_OK) {
        ulna_reduce_options reduce = tree_options(solver, q);
        status = relax_and_round(problem, &wanted, &reduce, q, &own, error);
        if (status == ULNA_OK && wanted.projected)
            memcpy(wanted.projected, q, (size_t)solver->nq * sizeof *q);
    }
    if (status == ULNA_OK)
        status = ulna_solve(solver, q, &own.local);
    ulna_solver_destroy(solver);
    if (status != ULNA_OK)
        return status;
    own.f = own.local.f;
    own.rounded_f = own.local.first_f;
    own.seconds = ulna_seconds() - started;
    if (result)
        *result = own;
    return ULNA_OK;
}

/* =============================================================================================================== */

/*
 * sdp as a method of ulna_solve: the first iteration moves to the rounded relaxation, wherever the start is; the others are
 * those of newton. Restarts are newton only, since the relaxation would give the same result again.
 *
 * The start matters for joints on which no goal depends, and because the best point of all iterations is returned, which
 * may be the start. Unlike other methods it allocates in ulna_solve, and threads wait for each other in DSDP.
 */

/* ULNA_ERR_STATE is no error here: no goal depends on a joint. */
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
        ulna_status status = check_problem(s->problem, &reduce, error);
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
    ulna_reduce_options reduce = tree_options(s, s->q);
    memcpy(s->trial, s->q, (size_t)s->nq * sizeof *s->q);
    ulna_status status = relax_and_round(s->problem, &options, &reduce, s->trial, &result, NULL);
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
    .info =
        {.name = "sdp",
         .summary = "semidefinite relaxation of all postures, solved by DSDP; then newton",
         .source = "convex IK, eq. 14 and section 4.2.2",
         .supports =
             "point, orientation and direction terms; revolute and ball joints, free roots; no translations below them",
         .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_HESSIAN | ULNA_METHOD_LAPACK | ULNA_METHOD_RELAXATION,
         .iterations = 200},
    .predicts = 1,
    .patience = 1,
    .layout = layout,
    .begin = begin,
    .iterate = iterate,
};

/* ---- the program, for others ----------------------------------------------------------------------------------------- */

/* The text of the program below a line that says what its objective means. */
static ulna_status write_text(const ulna_reduced *reduced, const ulna_paper *paper, char **text, size_t *length)
{
    char heading[200], *program = NULL;
    size_t size = 0;
    ulna_allocator memory = ulna_allocator_or_default(NULL);
    ulna_status status = ulna_sdpa_write(&paper->program, NULL, &program, &size);
    if (status != ULNA_OK)
        return status;
    int head = snprintf(heading, sizeof heading, "\"f in m2 = %.17g (objective + %.17g)\n", reduced->unit,
                        paper->program.objective.constant);
    *text = malloc((size_t)head + size + 1);
    if (*text) {
        memcpy(*text, heading, (size_t)head);
        memcpy(*text + head, program, size + 1);
        *length = (size_t)head + size;
    }
    ulna_release(&memory, program, size + 1, 1);
    return *text ? ULNA_OK : ULNA_ERR_MEMORY;
}

ulna_status ulna_problem_sdpa(const ulna_problem *problem, ulna_sdpa_form form, const ulna_options *options,
                              char **text, size_t *length, ulna_error *error)
{
    static const ulna_paper_form forms[] = {ULNA_PAPER_LITERAL, ULNA_PAPER_REDUCED, ULNA_PAPER_HULL};
    if (!problem || !text || !length || (unsigned)form > ULNA_SDPA_HULL)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "a problem, one of the three forms and a place for the text are needed");
    *text = NULL;
    *length = 0;
    ulna_reduce_options reduce = {.bounded = options ? options->bounded : 1,
                                  .lower = options ? options->lower : NULL,
                                  .upper = options ? options->upper : NULL};
    ulna_reduced reduced = {0};
    ulna_paper paper = {0};
    ulna_status status = ulna_reduced_create(problem, &reduce, NULL, &reduced, error);
    if (status == ULNA_OK)
        status = ulna_paper_create(&reduced, forms[form], NULL, &paper, error);
    if (status == ULNA_OK) {
        status = write_text(&reduced, &paper, text, length);
        if (status != ULNA_OK)
            ulna_fail(error, status, "no memory for the text of the program");
    }
    ulna_paper_release(&paper);
    ulna_reduced_release(&reduced);
    return status;
}

/* ---- starts ------------------------------------------------------------------------------------------------------ */

void ulna_papers_random_pose(const ulna_model *model, const double *lower, const double *upper, const double root[3],
                             uint64_t seed, double *step, double *q)
{
    memcpy(q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    for (int d = 0, placed = 0; d < ulna_model_dof_count(model) && placed < 3; d++)
        if (ulna_model_dof_is_translation(model, d))
            q[ulna_model_dof_coordinate(model, d)] = root[placed++];
    ulna_global_start(model, lower, upper, NULL, seed, 0, step, q);
}
