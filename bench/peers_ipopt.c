/* IPOPT (Waechter, Biegler 2006) as a peer of bench_constraints, with exact derivatives, by its interface in C. */
#include "constraints.h"
#include "support.h"

#include <coin/IpStdCInterface.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static Bool value(Index n, Number *q, Bool is_new, Number *f, UserDataPtr context)
{
    (void)n, (void)is_new;
    *f = peer_value(context, q);
    return TRUE;
}

static Bool gradient(Index n, Number *q, Bool is_new, Number *g, UserDataPtr context)
{
    (void)n, (void)is_new;
    peer_slope(context, q, g);
    return TRUE;
}

static Bool rows(Index n, Number *q, Bool is_new, Index m, Number *values, UserDataPtr context)
{
    (void)n, (void)is_new, (void)m;
    peer_rows(context, q, values);
    return TRUE;
}

static Bool jacobian(Index n, Number *q, Bool is_new, Index m, Index count, Index *row, Index *column, Number *values,
                     UserDataPtr context)
{
    (void)is_new, (void)m;
    for (int k = 0; !values && k < count; k++) {
        row[k] = k / n;
        column[k] = k % n;
    }
    if (values)
        peer_rows_jacobian(context, q, values);
    return TRUE;
}

static Bool hessian(Index n, Number *q, Bool is_new, Number factor, Index m, Number *multipliers,
                    Bool is_new_multiplier, Index count, Index *row, Index *column, Number *values, UserDataPtr context)
{
    (void)is_new, (void)m, (void)is_new_multiplier, (void)count;
    const double *h = values ? peer_lagrangian(context, q, factor, multipliers) : NULL;
    for (int i = 0, k = 0; i < n; i++)
        for (int j = 0; j <= i; j++, k++) {
            if (values) {
                values[k] = h[(size_t)i * (size_t)n + (size_t)j];
            } else {
                row[k] = i;
                column[k] = j;
            }
        }
    return TRUE;
}

static int iterations; /* IPOPT gives them to a callback only */

static Bool watch(Index mode, Index iteration, Number f, Number primal, Number dual, Number mu, Number step,
                  Number shift, Number alpha_dual, Number alpha_primal, Index trials, UserDataPtr context)
{
    (void)mode, (void)f, (void)primal, (void)dual, (void)mu, (void)step, (void)shift, (void)alpha_dual;
    (void)alpha_primal, (void)trials, (void)context;
    iterations = iteration;
    return TRUE;
}

static double limited(double x, double none)
{
    return isfinite(x) ? x : none;
}

peer_answer peer_ipopt(peer_functions *p, double *q, int is_warm)
{
    enum { MOST = 256 };
    double lower[MOST], upper[MOST], row_lower[MOST] = {0}, row_upper[MOST];
    peer_answer answer = {.is_solved = 0};
    int n = p->nv, m = p->row_count;
    if (n > MOST || m > MOST)
        return answer;
    for (int d = 0; d < n; d++) {
        lower[d] = limited(p->lower[d], -2e19);
        upper[d] = limited(p->upper[d], 2e19);
    }
    for (int i = 0; i < m; i++)
        row_upper[i] = p->rows[i].is_equation ? 0 : 2e19;
    IpoptProblem problem = CreateIpoptProblem(n, lower, upper, m, row_lower, row_upper, n * m, n * (n + 1) / 2, 0,
                                              value, rows, gradient, jacobian, hessian);
    char level[] = "print_level", quiet[] = "sb", yes[] = "yes", tolerance[] = "tol", kept[] = "constr_viol_tol",
         most[] = "max_iter", mu[] = "mu_init";
    AddIpoptIntOption(problem, level, 0);
    AddIpoptStrOption(problem, quiet, yes);
    AddIpoptNumOption(problem, tolerance, 1e-9);
    AddIpoptNumOption(problem, kept, 1e-9);
    AddIpoptIntOption(problem, most, 500);
    if (is_warm)
        AddIpoptNumOption(problem, mu, 1e-6);
    SetIntermediateCallback(problem, watch);
    double f, start = bench_now();
    enum ApplicationReturnStatus status = IpoptSolve(problem, q, NULL, &f, NULL, NULL, NULL, p);
    answer.seconds = bench_now() - start;
    answer.is_solved = status == Solve_Succeeded || status == Solved_To_Acceptable_Level;
    answer.iterations = iterations;
    answer.f = peer_value(p, q);
    answer.violation = peer_violation(p, q);
    FreeIpoptProblem(problem);
    return answer;
}
