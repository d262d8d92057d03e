/*
 * The step by elimination, and couplings by Woodbury's identity.
 *
 * A coupling adds w v vT with v = (-ratio at a, 1 at b). Its DOFs may lie on different branches, so the tree cannot hold it;
 * but with u = (ratio, 1), w v vT = 2 w diag(ratio^2, 1) - w u uT: the diagonal goes into the elimination, M = H0 + shift +
 * diagonal, and what is left is of low rank and negative. So M is positive definite whenever the whole matrix is, and
 * nothing is refused in vain. With Z = M^-1 U sqrt(W), S = I - sqrt(W) UT Z, x0 = -M^-1 g and c = sqrt(W) UT x0:
 *   x = x0 + Z y,  S y = c,  and the decrease of the quadratic model grows by 1/2 c.y.
 * The whole is positive definite if and only if M and S are. Held DOFs are zero in Z and keep their displacement in x0.
 */
#include "math/math3.h"
#include "objective/problem.h"

#include <float.h>

ulna_step_options ulna_step_options_default(void)
{
    return (ulna_step_options){0};
}

/* u . x */
static double along(const ulna_term *term, const double *x)
{
    return x[term->dof_b] + term->goal[0] * x[term->dof_a];
}

static const ulna_term *coupling(const ulna_work *work, int k)
{
    return &work->problem->term[work->problem->coupling_term[k]];
}

/* The shift, with the couplings' part of the diagonal in it. */
static const double *shift_with_couplings(ulna_work *work, const double *shift)
{
    const ulna_problem *problem = work->problem;
    if (!problem->coupling_count)
        return shift;
    memcpy(work->shifted, shift, (size_t)problem->model->nv * sizeof *shift);
    for (int k = 0; k < problem->coupling_count; k++) {
        const ulna_term *term = coupling(work, k);
        double w = ulna_coupling_weight(problem, term), ratio = term->goal[0];
        work->shifted[term->dof_b] += 2 * w;
        work->shifted[term->dof_a] += 2 * w * ratio * ratio;
    }
    return work->shifted;
}

/* Z (nv x k), and the Cholesky factor of S (k x k). */
static ulna_status factor_couplings(ulna_work *work)
{
    int n = work->problem->coupling_count;
    size_t nv = (size_t)work->problem->model->nv;
    double *Z = work->coupled, *S = Z + (size_t)n * nv, noise = 64 * DBL_EPSILON * n; /* S starts from 1 */
    for (int k = 0; k < n; k++) {
        double *z = Z + (size_t)k * nv, root = sqrt(ulna_coupling_weight(work->problem, coupling(work, k)));
        memset(z, 0, nv * sizeof *z);
        z[coupling(work, k)->dof_b] = root;
        z[coupling(work, k)->dof_a] = root * coupling(work, k)->goal[0];
        work->pose->kernel->substitute(work->pose, work->locked, &work->sweep, z, z);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double root = sqrt(ulna_coupling_weight(work->problem, coupling(work, i)));
            double s = (i == j) - root * along(coupling(work, i), Z + (size_t)j * nv);
            for (int m = 0; m < j; m++)
                s -= S[i * n + m] * S[j * n + m];
            if (i == j && !(s > noise)) {
                work->sweep.failed_dof = coupling(work, i)->dof_b;
                return s < -noise ? ULNA_ERR_INDEFINITE : ULNA_ERR_SINGULAR;
            }
            S[i * n + j] = i == j ? sqrt(s) : s / S[j * n + j];
        }
    return ULNA_OK;
}

/* Corrects a solution of the system with M; returns c.y. */
static double apply_couplings(ulna_work *work, double *x)
{
    int n = work->problem->coupling_count;
    size_t nv = (size_t)work->problem->model->nv;
    const double *Z = work->coupled, *S = Z + (size_t)n * nv;
    double *y = work->coupled + (size_t)n * (nv + (size_t)n), *c = y + n, product = 0;
    for (int i = 0; i < n; i++) {
        c[i] = y[i] = sqrt(ulna_coupling_weight(work->problem, coupling(work, i))) * along(coupling(work, i), x);
        for (int m = 0; m < i; m++)
            y[i] -= S[i * n + m] * y[m];
        y[i] /= S[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int m = i + 1; m < n; m++)
            y[i] -= S[m * n + i] * y[m];
        y[i] /= S[i * n + i];
    }
    for (int i = 0; i < n; i++) {
        product += c[i] * y[i];
        for (size_t d = 0; d < nv; d++)
            x[d] += Z[(size_t)i * nv + d] * y[i];
    }
    return product;
}

ulna_status ulna_work_step(ulna_work *work, const ulna_step_options *options, double *step, double *decrease,
                           int *failed_dof)
{
    if (!work || !options || !step || !isfinite(options->t))
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_work_check(work);
    if (status != ULNA_OK)
        return status;
    work->composed = work->factored = 0;

    const double *shift = shift_with_couplings(work, options->shift ? options->shift : work->zeros);
    ulna_elimination how = {
        .t = options->t, .shift = shift, .locked = options->locked, .displacement = options->displacement};
    double fall = 0;
    status = work->pose->kernel->eliminate(work->pose, &work->targets, &work->extras, &work->diagonal, &how,
                                           &work->sweep, step, &fall);
    if (status != ULNA_OK) {
        if (failed_dof)
            *failed_dof = work->sweep.failed_dof;
        int finite = !options->shift || ulna_all_finite(options->shift, work->problem->model->nv);
        return finite ? status : ULNA_ERR_NUMBER;
    }
    if (!isfinite(fall)) /* a shift or displacement that is not a number ends up here */
        return ULNA_ERR_NUMBER;
    work->locked =
        options->locked ? memcpy(work->locked_copy, options->locked, (size_t)work->problem->model->nv) : NULL;
    if (work->problem->coupling_count) {
        status = factor_couplings(work);
        if (status != ULNA_OK) {
            if (failed_dof)
                *failed_dof = work->sweep.failed_dof;
            return status;
        }
        fall += 0.5 * apply_couplings(work, step);
    }
    if (failed_dof)
        *failed_dof = ULNA_NONE;
    if (decrease)
        *decrease = fall;
    work->factored = 1;
    return ULNA_OK;
}

ulna_status ulna_work_step_solve(ulna_work *work, const double *right, double *x)
{
    if (!work || !right || !x)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = work->factored ? ulna_work_check(work) : ULNA_ERR_STATE;
    if (status != ULNA_OK)
        return status;
    if (!ulna_all_finite(right, work->problem->model->nv))
        return ULNA_ERR_NUMBER;
    work->pose->kernel->substitute(work->pose, work->locked, &work->sweep, right, x);
    if (work->problem->coupling_count)
        apply_couplings(work, x);
    return ULNA_OK;
}
