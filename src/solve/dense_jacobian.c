/*
 * pinv, qr: least squares on the stacked dense Jacobian, by LAPACK.
 *
 * Source: survey of techniques, section 4, eq. 8; the recipe, section 3.2, eq. 33-34 and Fig. 8 (SVD, QR
 * factorisation), with its practical notes (section 3.3): several effectors are stacked rows, a locked joint is a
 * column of zeros, a strength a factor of its column. One iteration, in the scaled coordinates of solver.h:
 *
 *     A = J diag(scale),      pinv: y = V S^+ Ut r  with A = U S Vt,      qr: A P = Q R,  R z = Qt r,  y = P z,
 *     dq = scale y, shortened if it moves a joint by more than dense.max_step.
 *
 *   J, r   m x nv and m, of all terms: goals, posture, limits, couplings; r = sqrt(weight) (goal - value)
 *   S^+    1 / s where s > tolerance s_1, else 0. The recipe's (34), Jt (JJt)^-1, is the case of full row rank;
 *          options.pinv.form rows computes it as it is written, by the m x m matrix
 *   P      column pivoting; pivots below tolerance times the first end the rank, and y is 0 in the other columns: the
 *          basic solution, which leaves as many joints as it can where they are
 *
 * Every step is taken, better or not; the driver keeps the best point. Limits are not looked at, as in the papers.
 * Changed: the limit on the step (Buss 2004 limits the error instead); a step to where f is not a number is halved; it
 * ends where the linear model has nothing left to gain, or when 50 steps in a row have found no lower point.
 * Fails near singularities, where a small s above the tolerance makes long steps that the next iteration takes
 * back: `dls` damps them. Goals out of reach make it run in circles. qr also fails where a limb is straight: of
 * joints that do the same it moves one, the limb stays straight, and what bending would reach is not reached.
 * Cost: O(m nv min(m, nv)) a step, and m x nv numbers; pinv two to three times that.
 */
#include "solve/least_squares.h"

#include <float.h>

typedef struct dense {
    int is_qr, is_rows;
    int m, k;       /* residuals; min(m, nv) */
    double *A;      /* m x nv */
    double *r;      /* m */
    double *y;      /* nv */
    double *U;      /* m x k (pinv) */
    double *VT;     /* k x nv (pinv) */
    double *s;      /* k: singular values, or tau of QR */
    double *copy;   /* m (qr, rows) */
    double *normal; /* m x m (rows): A At, then its factors */
    int *pivot;     /* m (rows) */
    int *column;    /* nv (qr) */
    ulna_dense_work work;
    ulna_circling circling;
} dense;

_Static_assert(sizeof(dense) <= ULNA_METHOD_STATE, "state too large");

/* What a least-squares step promises: the decrease of 1/2 |r - A y|^2, and what dropped directions would have added. */
typedef struct promise {
    double decrease, dropped;
} promise;

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    dense *h = state;
    h->m = ulna_work_residual_count(s->work);
    h->k = h->m < s->nv ? h->m : s->nv;
    h->is_qr = s->method == &ulna_method_qr;
    h->is_rows = !h->is_qr && s->options.pinv.form == ULNA_PINV_ROWS;
    if (h->is_rows && h->m > s->nv)
        return ulna_fail(
            error, ULNA_ERR_UNSUPPORTED,
            "option pinv.form rows: %d residuals of %d degrees of freedom are never independent, so JJt has no "
            "inverse; use svd",
            h->m, s->nv);
    ulna_status status = h->is_qr     ? ulna_dense_qr_need(h->m, s->nv, &h->work.have)
                         : h->is_rows ? ulna_dense_symmetric_need(h->m, &h->work.have)
                                      : ulna_dense_svd_need(h->m, s->nv, &h->work.have);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "%d residuals and %d degrees of freedom are too many for method '%s'", h->m,
                         s->nv, s->method->info.name);
    size_t m = (size_t)h->m, nv = (size_t)s->nv, k = (size_t)h->k;
    h->A = ulna_arena_take(arena, m, nv * sizeof *h->A);
    h->r = ulna_arena_take(arena, m, sizeof *h->r);
    h->y = ulna_arena_take(arena, nv, sizeof *h->y);
    h->s = ulna_arena_take(arena, k, sizeof *h->s);
    h->work.reals = ulna_arena_take(arena, h->work.have.reals, sizeof *h->work.reals);
    h->work.integers = ulna_arena_take(arena, h->work.have.integers, sizeof *h->work.integers);
    if (h->is_rows) {
        h->normal = ulna_arena_take(arena, m, m * sizeof *h->normal);
        h->copy = ulna_arena_take(arena, m, sizeof *h->copy);
        h->pivot = ulna_arena_take(arena, m, sizeof *h->pivot);
    } else if (h->is_qr) {
        h->copy = ulna_arena_take(arena, m, sizeof *h->copy);
        h->column = ulna_arena_take(arena, nv, sizeof *h->column);
    } else {
        h->U = ulna_arena_take(arena, m, k * sizeof *h->U);
        h->VT = ulna_arena_take(arena, nv, k * sizeof *h->VT);
    }
    return ULNA_OK;
}

/* ---- the step in y ----------------------------------------------------------------------------------------------- */

static ulna_status form_rows(ulna_solver *s, dense *h)
{
    ulna_status status = ulna_work_residuals(s->work, h->r, h->A);
    size_t m = (size_t)h->m;
    for (int j = 0; j < s->nv && status == ULNA_OK; j++) {
        double *column = h->A + (size_t)j * m, factor = s->locked[j] ? 0 : s->scale[j];
        for (size_t i = 0; i < m; i++)
            column[i] *= factor;
    }
    return status;
}

/* Singular values and pivots that are zero to rounding, over the largest. */
static double rounding(const ulna_solver *s, const dense *h)
{
    return DBL_EPSILON * (h->m > s->nv ? h->m : s->nv);
}

static ulna_status solve_pinv(ulna_solver *s, dense *h, promise *gives)
{
    ulna_status status = ulna_dense_svd(h->m, s->nv, h->A, h->s, h->U, h->VT, &h->work);
    double noise = rounding(s, h), least = fmax(s->options.dense.tolerance, noise);
    memset(h->y, 0, (size_t)s->nv * sizeof *h->y);
    for (int i = 0; i < h->k && status == ULNA_OK && h->s[i] > noise * h->s[0]; i++) {
        const double *u = h->U + (size_t)i * (size_t)h->m;
        double along = 0;
        for (int row = 0; row < h->m; row++)
            along += u[row] * h->r[row];
        int is_kept = h->s[i] > least * h->s[0];
        *(is_kept ? &gives->decrease : &gives->dropped) += 0.5 * along * along;
        for (int j = 0; j < s->nv && is_kept; j++)
            h->y[j] += h->VT[(size_t)j * (size_t)h->k + (size_t)i] * along / h->s[i];
    }
    return status;
}

/* y = At (AAt)^-1 r, as the recipe writes it. Rows that depend on each other have no inverse, which a pivot of zero, or of rounding,
 * shows as a negative eigenvalue or as a step that does not meet the linear goals. */
static ulna_status solve_rows(ulna_solver *s, dense *h, promise *gives)
{
    size_t m = (size_t)h->m;
    int negative = 0;
    for (size_t a = 0; a < m; a++)
        for (size_t b = a; b < m; b++) {
            double sum = 0;
            for (int j = 0; j < s->nv; j++)
                sum += h->A[(size_t)j * m + a] * h->A[(size_t)j * m + b];
            h->normal[a * m + b] = h->normal[b * m + a] = sum;
        }
    ulna_status status = ulna_dense_symmetric_factor(h->m, h->normal, h->pivot, &negative, &h->work);
    if (status == ULNA_OK && negative)
        status = ULNA_ERR_SINGULAR;
    memcpy(h->copy, h->r, m * sizeof *h->r);
    if (status == ULNA_OK)
        status = ulna_dense_symmetric_solve(h->m, h->normal, h->pivot, h->copy);
    for (int j = 0; j < s->nv && status == ULNA_OK; j++) {
        h->y[j] = 0;
        for (size_t a = 0; a < m; a++)
            h->y[j] += h->A[(size_t)j * m + a] * h->copy[a];
    }
    gives->decrease = s->f; /* the linear model meets every goal */
    return status;
}

/* y with the first `rank` pivots, and 1/2 |r - A y|^2. */
static ulna_status solve_rank(ulna_solver *s, dense *h, int rank, double *left)
{
    double residual = 0;
    memcpy(h->copy, h->r, (size_t)h->m * sizeof *h->r);
    ulna_status status =
        ulna_dense_qr_solve(h->m, s->nv, h->A, h->s, h->column, rank, h->copy, h->y, &residual, &h->work);
    *left = 0.5 * residual * residual;
    return status;
}

static ulna_status solve_qr(ulna_solver *s, dense *h, promise *gives)
{
    double most = 0, left = 0;
    int full = 0, rank = 0;
    ulna_status status = ulna_dense_qr_factor(h->m, s->nv, h->A, rounding(s, h), h->s, h->column, &full, &h->work);
    while (rank < full && fabs(h->A[(size_t)rank * ((size_t)h->m + 1)]) > s->options.dense.tolerance * fabs(h->A[0]))
        rank++;
    if (status == ULNA_OK)
        status = solve_rank(s, h, full, &most);
    if (status == ULNA_OK)
        status = solve_rank(s, h, rank, &left);
    gives->decrease = fmax(s->f - left, 0);
    gives->dropped = fmax(left - most, 0);
    return status;
}

/* ---- the iteration ----------------------------------------------------------------------------------------------- */

static ulna_status begin(ulna_solver *s, void *state)
{
    (void)s;
    ((dense *)state)->circling = (ulna_circling){0};
    return ULNA_OK;
}

static ulna_status take_step(ulna_solver *s, dense *h, int is_last)
{
    double f, most = s->options.dense.max_step;
    for (int j = 0; j < s->nv; j++)
        s->step[j] = s->locked[j] ? 0 : s->scale[j] * h->y[j]; /* the SVD leaves rounding there */
    double size = ulna_step_size(s, s->step), length = most > 0 && size > most ? most / size : 1;
    ulna_status status = ulna_try_shorter(s, s->step, &length, &f);
    if (status != ULNA_OK)
        return status;
    if (!isinf(f) && (f < s->f || !is_last)) {
        ulna_accept(s, s->step, length, f);
        ulna_stop_circling(s, &h->circling);
    } else if (!is_last) {
        s->now.stop = ULNA_STOP_STALLED;
    }
    return ULNA_OK;
}

static ulna_status iterate(ulna_solver *s, void *state)
{
    dense *h = state;
    promise gives = {0, 0};
    ulna_status status = form_rows(s, h);
    if (status == ULNA_OK)
        status = h->is_qr ? solve_qr(s, h, &gives) : h->is_rows ? solve_rows(s, h, &gives) : solve_pinv(s, h, &gives);
    s->result.factorisations++;
    if (status != ULNA_OK) /* LAPACK does not converge: numbers beyond all bounds */
        return status == ULNA_ERR_CONVERGENCE ? ULNA_ERR_NUMBER : status;
    double little = ulna_little(s);
    int is_last = gives.decrease <= little;
    status = take_step(s, h, is_last);
    if (is_last) /* what the tolerance dropped might still help: then this is not the bottom */
        s->now.stop = gives.dropped > little ? ULNA_STOP_STALLED : ULNA_STOP_DECREASE;
    return status;
}

const ulna_method ulna_method_pinv = {
    .info = {.name = "pinv",
             .summary = "the pseudoinverse of the stacked Jacobian, by singular values",
             .source = "survey of IK techniques, eq. 8; recipe to cook the Jacobian, eq. 33-34",
             .supports = "all terms, all joints; limits are not kept",
             .flags = ULNA_METHOD_JACOBIAN | ULNA_METHOD_LAPACK,
             .iterations = 500},
    .patience = 10,
    .layout = layout,
    .begin = begin,
    .iterate = iterate,
};

const ulna_method ulna_method_qr = {
    .info = {.name = "qr",
             .summary = "least squares by QR with column pivoting on the stacked Jacobian; moves few joints",
             .source = "recipe to cook the Jacobian, Fig. 8",
             .supports = "all terms, all joints; limits are not kept",
             .flags = ULNA_METHOD_JACOBIAN | ULNA_METHOD_LAPACK,
             .iterations = 500},
    .patience = 10,
    .layout = layout,
    .begin = begin,
    .iterate = iterate,
};
