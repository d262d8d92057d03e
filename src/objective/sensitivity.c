/*
 * How the solution answers a change of a goal, and how sure it is.
 *
 * At a solution gradient(q, goal) = 0 on the free DOFs, so that dq/dgoal = -H^-1 d(gradient)/d(goal) with the exact
 * Hessian. A term on a body pulls with the spatial force F = sum r_k row_k, and gradient_j = -S_j . F: what is needed
 * is dF/dgoal at a body that stays where it is, one force for each number of the goal: `slope` in the table of terms.c.
 *
 * Where H is singular there is no answer, where it is indefinite q was no minimum: the elimination reports both.
 * Noise beyond the first order, and goals that switch terms on and off (limits), are not seen.
 */
#include "math/math3.h"
#include "objective/problem.h"

/* -d(gradient)/d(goal), nv x columns. */
static void right_sides(const ulna_work *work, const ulna_term *term, int columns, double *right)
{
    size_t nv = (size_t)work->problem->model->nv;
    double w = ulna_term_weight(work->problem, term);
    memset(right, 0, nv * (size_t)columns * sizeof *right);
    if (!(w > 0))
        return;
    ulna_body_place place;
    ulna_goal_forces slope = {{0}};
    const ulna_term_kind *kind = ulna_term_kind_of(term->type);
    if (kind->slope) {
        ulna_work_place(work, term->body, &place);
        kind->slope(term, w, &place, slope);
    }
    for (int k = 0; k < columns; k++) {
        double *column = right + (size_t)k * nv;
        if (kind->slope)
            ulna_spread_row(work, term->body, slope[k], 0, 1, column);
        else
            ulna_coordinate_goal_slope(work, term, k, column);
    }
}

/* Factors H + shift; the step itself goes where nothing is kept. */
static ulna_status factor(ulna_work *work, const unsigned char *locked, const double *shift)
{
    ulna_step_options options = {.t = 1, .shift = shift, .locked = locked};
    return ulna_work_step(work, &options, work->sweep.right, NULL, NULL);
}

static ulna_status solve_columns(ulna_work *work, int columns, double *x)
{
    ulna_status status = ULNA_OK;
    for (int k = 0; k < columns && status == ULNA_OK; k++) {
        double *column = x + (size_t)k * (size_t)work->problem->model->nv;
        status = ulna_work_step_solve(work, column, column);
    }
    return status;
}

ulna_status ulna_work_sensitivity(ulna_work *work, const unsigned char *locked, const double *shift, int term,
                                  double *dq)
{
    const ulna_term *t = work && dq ? ulna_term_at(work->problem, term) : NULL;
    if (!t)
        return ULNA_ERR_ARGUMENT;
    int columns = ulna_term_size(work->problem->model, t, ulna_term_kind_of(t->type)->columns);
    ulna_status status = factor(work, locked, shift);
    if (status != ULNA_OK)
        return status;
    right_sides(work, t, columns, dq);
    return solve_columns(work, columns, dq);
}

/* ---- covariance ---------------------------------------------------------------------------------------------- */

static void transpose(double *A, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++) {
            double keep = A[j * n + i];
            A[j * n + i] = A[i * n + j];
            A[i * n + j] = keep;
        }
}

/* A covariance is symmetric and positive semidefinite. Where H is all but singular, H^-1 JtJ H^-1 cancels, and what is left
 * is neither: then no number in it can be trusted. */
static int is_spoilt(const double *covariance, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i <= j; i++) {
            double a = covariance[i * n + i], b = covariance[j * n + j], upper = covariance[j * n + i];
            double bound = a * b, off = upper - covariance[i * n + j];
            if (!(a >= 0) || !(b >= 0) || off * off > 1e-8 * bound || upper * upper > (1 + 1e-6) * bound + 1e-300)
                return 1;
        }
    return 0;
}

/* A += column column', where the column is what the force does to each DOF on the path of the body. */
static void add_square(const ulna_work *work, int body, const double force[6], double *A)
{
    size_t n = (size_t)work->problem->model->nv;
    double *column = work->sweep.right;
    memset(column, 0, n * sizeof *column);
    ulna_spread_row(work, body, force, 0, 1, column);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n && column[j] != 0; i++)
            A[j * n + i] += column[i] * column[j];
}

/* An offset that is off by d moves the point by R d, which pulls as a goal does that is off by -R d. */
static void add_offset(const ulna_work *work, const ulna_term *term, const double deviation[3], double *A)
{
    double w = ulna_term_weight(work->problem, term);
    ulna_body_place place;
    ulna_goal_forces slope = {{0}};
    if (!(w > 0))
        return;
    ulna_work_place(work, term->body, &place);
    ulna_term_kind_of(term->type)->slope(term, w, &place, slope);
    for (int axis = 0; axis < 3; axis++) {
        double force[6] = {0};
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 6; i++)
                force[i] += deviation[axis] * place.rotation[3 * k + axis] * slope[k][i];
        add_square(work, term->body, force, A);
    }
}

/*
 * Noise e of unit variance in the weighted residuals moves the solution by dq = H^-1 Jt e, so its covariance is
 * H^-1 JtJ H^-1; offsets add to JtJ. In place: A = JtJ; A <- H^-1 A by columns, transpose, and once more, since both are
 * symmetric.
 */
ulna_status ulna_work_covariance(ulna_work *work, const unsigned char *locked, const double *shift, double sigma,
                                 const ulna_unsure_points *points, double *covariance)
{
    int count = points ? points->count : 0;
    if (!work || !covariance || !(sigma >= 0) || isinf(sigma) || count < 0 || (count && !points->deviation))
        return ULNA_ERR_ARGUMENT;
    for (int i = 0; i < 3 * count; i++) {
        const ulna_term *term = ulna_term_at(work->problem, points->first + i / 3);
        if (!term || term->type != ULNA_TERM_POINT)
            return ULNA_ERR_ARGUMENT;
        if (!(points->deviation[i] >= 0) || isinf(points->deviation[i]))
            return ULNA_ERR_NUMBER;
    }
    size_t n = (size_t)work->problem->model->nv;
    ulna_status status = ulna_work_hessian_dense(work, 0, covariance);
    for (size_t i = 0; i < n * n && status == ULNA_OK; i++)
        covariance[i] *= sigma * sigma;
    for (int i = 0; i < count && status == ULNA_OK; i++)
        add_offset(work, ulna_term_at(work->problem, points->first + i), points->deviation + 3 * (size_t)i, covariance);
    if (status == ULNA_OK)
        status = factor(work, locked, shift);
    if (status == ULNA_OK)
        status = solve_columns(work, (int)n, covariance);
    if (status != ULNA_OK)
        return status;
    transpose(covariance, n);
    status = solve_columns(work, (int)n, covariance);
    if (status == ULNA_OK && is_spoilt(covariance, n))
        return ULNA_ERR_SINGULAR;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i <= j; i++)
            covariance[j * n + i] = covariance[i * n + j] = 0.5 * (covariance[j * n + i] + covariance[i * n + j]);
    return status;
}
