/*
 * The table of methods by name, and the functions that create solvers by the name of a method. A new method is one line
 * here and a file of its own.
 *
 * Only this file includes all methods: those of src/solve, and `sdp` of this folder. Lower layers are given the method
 * itself.
 */
#include "global/global.h"
#include "papers/papers.h"
#include "solve/solver.h"

// clang-format off
static const ulna_method *const methods[] = {
    &ulna_method_hybrid,
    &ulna_method_newton,
    &ulna_method_newton_pcg,
    &ulna_method_bfgs,
    &ulna_method_lbfgs,
    &ulna_method_lm,
    &ulna_method_lm_marquardt,
    &ulna_method_gauss_newton,
    &ulna_method_dls,
    &ulna_method_pinv,
    &ulna_method_qr,
    &ulna_method_transpose,
    &ulna_method_gradient,
    &ulna_method_cg,
    &ulna_method_ccd,
    &ulna_method_fabrik,
    &ulna_method_penalty,
    &ulna_method_lagrange,
    &ulna_method_virtual_work,
    &ulna_method_sdp,
    NULL,
};
// clang-format on

int ulna_method_count(void)
{
    int count = 0;
    while (methods[count])
        count++;
    return count;
}

const ulna_method_info *ulna_method_at(int index)
{
    return index >= 0 && index < ulna_method_count() ? &methods[index]->info : NULL;
}

static const ulna_method *entry(const char *name)
{
    for (int i = 0; name && methods[i]; i++)
        if (strcmp(methods[i]->info.name, name) == 0)
            return methods[i];
    return NULL;
}

const ulna_method_info *ulna_method_find(const char *name)
{
    const ulna_method *method = entry(name);
    return method ? &method->info : NULL;
}

ulna_status ulna_options_set(ulna_options *options, const char *name, const char *value, ulna_error *error)
{
    const ulna_method *method = entry(value);
    return ulna_options_put(options, name, value, method ? method->info.name : NULL, error);
}

/* ---- by name ----------------------------------------------------------------------------------------------------- */

/* The method of the options, and the one that `penalty` solves with; NULL where there is none of that name. */
static void choose(const ulna_options *options, const ulna_method **method, const ulna_method **inner)
{
    *method = entry(options && options->method ? options->method : "hybrid");
    *inner = entry(options && options->penalty.method ? options->penalty.method : "hybrid");
}

ulna_status ulna_solver_create(const ulna_problem *problem, const ulna_options *options,
                               const ulna_allocator *allocator, ulna_solver **solver, ulna_error *error)
{
    const ulna_method *method, *inner;
    choose(options, &method, &inner);
    return ulna_solver_create_with(problem, options, method, inner, allocator, solver, error);
}

ulna_status ulna_solve_once(const ulna_problem *problem, const ulna_options *options, double *q, ulna_result *result,
                            ulna_error *error)
{
    ulna_solver *solver;
    ulna_status status = ulna_solver_create(problem, options, NULL, &solver, error);
    if (status != ULNA_OK)
        return status;
    status = ulna_solve(solver, q, result);
    ulna_solver_destroy(solver);
    return status == ULNA_OK ? status : ulna_fail(error, status, "the solve failed: %s", ulna_status_text(status));
}

ulna_status ulna_global_create(const ulna_problem *problem, const ulna_global_options *options,
                               const ulna_allocator *allocator, ulna_global **global, ulna_error *error)
{
    const ulna_method *method, *inner;
    choose(options ? &options->local : NULL, &method, &inner);
    return ulna_global_create_with(problem, options, method, inner, allocator, global, error);
}
