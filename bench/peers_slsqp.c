/* NLopt's SLSQP (Kraft 1988) as a peer of bench_constraints. */
#include "constraints.h"
#include "support.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

static double value(unsigned n, const double *q, double *gradient, void *context)
{
    (void)n;
    if (gradient)
        peer_slope(context, q, gradient);
    return peer_value(context, q);
}

/* Those rows that are equations, or those that are not, which NLopt wants as <= 0. */
static void some_rows(peer_functions *p, int equations, const double *q, double *values, double *jacobian)
{
    size_t n = (size_t)p->nv;
    double sign = equations ? 1 : -1, *all = calloc((size_t)p->row_count * n + 1, sizeof *all);
    ulna_scene_expect(all ? ULNA_OK : ULNA_ERR_MEMORY, "memory");
    if (jacobian)
        peer_rows_jacobian(p, q, all);
    else
        peer_value(p, q);
    for (int i = 0, k = 0; i < p->row_count; i++) {
        if (p->rows[i].is_equation != equations)
            continue;
        values[k] = sign * p->rows[i].value;
        for (size_t d = 0; jacobian && d < n; d++)
            jacobian[(size_t)k * n + d] = sign * all[(size_t)i * n + d];
        k++;
    }
    free(all);
}

static void equations(unsigned m, double *values, unsigned n, const double *q, double *jacobian, void *context)
{
    (void)m, (void)n;
    some_rows(context, 1, q, values, jacobian);
}

static void inequalities(unsigned m, double *values, unsigned n, const double *q, double *jacobian, void *context)
{
    (void)m, (void)n;
    some_rows(context, 0, q, values, jacobian);
}

peer_answer peer_slsqp(peer_functions *p, double *q)
{
    enum { MOST = 256 };
    double tolerance[MOST], f;
    unsigned equal = (unsigned)p->equation_count, unequal = (unsigned)(p->row_count - p->equation_count);
    peer_answer answer = {.is_solved = 0};
    if (p->row_count > MOST)
        return answer;
    for (int i = 0; i < MOST; i++)
        tolerance[i] = 1e-9;
    for (int d = 0; d < p->nv; d++)
        q[d] = fmin(fmax(q[d], p->lower[d]), p->upper[d]);
    nlopt_opt solver = nlopt_create(NLOPT_LD_SLSQP, (unsigned)p->nv);
    nlopt_set_min_objective(solver, value, p);
    nlopt_set_lower_bounds(solver, p->lower);
    nlopt_set_upper_bounds(solver, p->upper);
    if (equal)
        nlopt_add_equality_mconstraint(solver, equal, equations, p, tolerance);
    if (unequal)
        nlopt_add_inequality_mconstraint(solver, unequal, inequalities, p, tolerance);
    nlopt_set_ftol_rel(solver, 1e-10);
    nlopt_set_xtol_rel(solver, 1e-9);
    nlopt_set_maxeval(solver, 2000);
    double start = bench_now();
    nlopt_result status = nlopt_optimize(solver, q, &f);
    answer.seconds = bench_now() - start;
    answer.is_solved = status > 0 && status != NLOPT_MAXEVAL_REACHED;
    answer.iterations = nlopt_get_numevals(solver);
    answer.f = peer_value(p, q);
    answer.violation = peer_violation(p, q);
    nlopt_destroy(solver);
    return answer;
}
