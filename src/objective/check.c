/*
 * The derivative checker: every derivative that a problem gives, against central differences of the level below it.
 *
 * The step is h = eps^(1/3), scaled for translations by the model's length; the error of a central difference is of order h^2,
 * about 1e-10 relative for smooth terms. Differences are taken along q (+) step, so quaternions are covered; since the
 * gradient of a quaternion is taken in a basis that turns along, differences of it give the Hessian plus a commutator, which
 * is antisymmetric: inside a quaternion the mean of (i, j) and (j, i) is compared. Reports are relative to the largest entry
 * of what is checked, so that tiny entries of a large matrix raise no alarm. Rows of constraints are checked with the axes of
 * rotations frozen at q, and their second derivatives with multipliers that differ from row to row.
 */
#include "math/math3.h"
#include "objective/constraint.h"

#include <stdint.h>

typedef struct checker {
    ulna_work *work;
    const double *q;
    int nv, nq, m;
    double *memory;
    size_t count;
    double *g, *g_plus, *g_minus, *r, *r_plus, *r_minus, *step, *moved, *H, *H_rows, *D, *J, *tree;
} checker;

static ulna_status take(checker *c)
{
    const ulna_model *model = c->work->problem->model;
    size_t nv = (size_t)c->nv, nq = (size_t)c->nq, m = (size_t)c->m, rows = model->tree.row[c->nv];
    if (m > 1 && nv > SIZE_MAX / 64 / m)
        return ULNA_ERR_LIMIT;
    c->count = 4 * nv + nq + 3 * m + 3 * nv * nv + m * nv + rows;
    double *at = c->memory = ulna_allocate(&c->work->allocator, c->count, sizeof *c->memory);
    if (!at)
        return ULNA_ERR_MEMORY;
    c->tree = at, at += rows; /* first: rows want alignment */
    c->g = at, at += nv;
    c->g_plus = at, at += nv;
    c->g_minus = at, at += nv;
    c->step = at, at += nv;
    c->moved = at, at += nq;
    c->r = at, at += m;
    c->r_plus = at, at += m;
    c->r_minus = at, at += m;
    c->H = at, at += nv * nv;
    c->H_rows = at, at += nv * nv;
    c->D = at, at += nv * nv;
    c->J = at;
    return ULNA_OK;
}

/* Evaluates at q (+) h e_dof. */
static ulna_status at_offset(checker *c, int dof, double h, double *f, double *g, double *r)
{
    memset(c->step, 0, (size_t)c->nv * sizeof *c->step);
    if (dof >= 0)
        c->step[dof] = h;
    ulna_model_integrate(c->work->problem->model, c->q, c->step, c->moved);
    ulna_status status = ulna_work_evaluate(c->work, c->moved, f);
    if (status == ULNA_OK && g)
        status = ulna_work_gradient(c->work, g);
    if (status == ULNA_OK && r)
        status = ulna_work_residuals(c->work, r, NULL);
    return status;
}

static double worst(double seen, double error, double scale)
{
    double relative = scale > 0 ? error / scale : error;
    return relative > seen || isnan(relative) ? relative : seen;
}

static double largest(const double *x, size_t n)
{
    double size = 0;
    for (size_t i = 0; i < n; i++)
        size = fmax(size, fabs(x[i]));
    return size;
}

/* H column by column: products with unit vectors. */
static ulna_status dense_from_products(checker *c)
{
    ulna_status status = ULNA_OK;
    memset(c->step, 0, (size_t)c->nv * sizeof *c->step);
    for (int j = 0; j < c->nv && status == ULNA_OK; j++) {
        c->step[j] = 1;
        status = ulna_work_hessian_multiply(c->work, 1, c->step, c->H + (size_t)j * (size_t)c->nv);
        c->step[j] = 0;
    }
    return status;
}

/* Rows and couplings to a dense matrix, the slow way. */
static void dense_from_rows(checker *c)
{
    const ulna_tree *tree = &c->work->problem->model->tree;
    size_t nv = (size_t)c->nv;
    memset(c->H_rows, 0, nv * nv * sizeof *c->H_rows);
    for (int j = 0; j < c->nv; j++)
        for (int k = 0; k < tree->depth[j]; k++) {
            size_t i = (size_t)tree->path[j][k], col = (size_t)j;
            c->H_rows[i * nv + col] = c->H_rows[col * nv + i] = c->tree[tree->row[j] + (size_t)k];
        }
    for (int k = 0; k < c->work->problem->coupling_count; k++) {
        const ulna_term *term = &c->work->problem->term[c->work->problem->coupling_term[k]];
        double w = ulna_coupling_weight(c->work->problem, term);
        size_t dof[2] = {(size_t)term->dof_a, (size_t)term->dof_b};
        double v[2] = {-term->goal[0], 1};
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++)
                c->H_rows[dof[a] * nv + dof[b]] += w * v[a] * v[b];
    }
}

static int same_quaternion(const ulna_model *model, int i, int j)
{
    return model->dof_coordinate[i] < 0 && model->dof_coordinate[j] < 0 && model->dof_body[i] == model->dof_body[j];
}

static ulna_status check(checker *c, ulna_derivative_report *report)
{
    size_t nv = (size_t)c->nv, m = (size_t)c->m;
    double f, plus, minus;
    ulna_status status = at_offset(c, -1, 0, &f, c->g, c->r);
    if (status == ULNA_OK)
        status = ulna_work_residuals(c->work, NULL, c->J);
    if (status == ULNA_OK)
        status = dense_from_products(c);
    if (status == ULNA_OK)
        status = ulna_work_hessian_dense(c->work, 1, c->D); /* D is free until the differences */
    if (status == ULNA_OK)
        status = ulna_work_hessian(c->work, 1, NULL, c->tree, NULL);
    if (status != ULNA_OK)
        return status;

    dense_from_rows(c);
    double H_scale = largest(c->H, nv * nv), g_scale = fmax(largest(c->g, nv), H_scale * 1e-3);
    double J_scale = largest(c->J, m * nv);
    for (size_t i = 0; i < nv * nv; i++) {
        report->product = worst(report->product, fabs(c->H[i] - c->H_rows[i]), H_scale);
        report->product = worst(report->product, fabs(c->H[i] - c->D[i]), H_scale);
    }
    double sum = 0;
    for (size_t k = 0; k < m; k++)
        sum += 0.5 * c->r[k] * c->r[k];
    report->residuals = worst(0, fabs(sum - f), f);
    for (size_t j = 0; j < nv; j++) {
        double product = 0; /* g = -Jt r */
        for (size_t k = 0; k < m; k++)
            product -= c->J[j * m + k] * c->r[k];
        report->residuals = worst(report->residuals, fabs(product - c->g[j]), g_scale);
    }

    for (int j = 0; j < c->nv; j++) {
        int slides = ulna_model_dof_is_translation(c->work->problem->model, j);
        double h = 6e-6 * (slides ? c->work->problem->length : 1);
        status = at_offset(c, j, h, &plus, c->g_plus, c->r_plus);
        if (status == ULNA_OK)
            status = at_offset(c, j, -h, &minus, c->g_minus, c->r_minus);
        if (status != ULNA_OK)
            return status;
        report->gradient = worst(report->gradient, fabs((plus - minus) / (2 * h) - c->g[j]), g_scale);
        for (size_t i = 0; i < nv; i++)
            c->D[(size_t)j * nv + i] = (c->g_plus[i] - c->g_minus[i]) / (2 * h);
        for (size_t k = 0; k < m; k++) /* J = d value = -d residual */
            report->jacobian = worst(report->jacobian,
                                     fabs((c->r_minus[k] - c->r_plus[k]) / (2 * h) - c->J[(size_t)j * m + k]), J_scale);
    }
    for (int j = 0; j < c->nv; j++)
        for (int i = 0; i < c->nv; i++) {
            size_t ij = (size_t)j * nv + (size_t)i, ji = (size_t)i * nv + (size_t)j;
            double difference = same_quaternion(c->work->problem->model, i, j) ? 0.5 * (c->D[ij] + c->D[ji]) : c->D[ij];
            report->hessian = worst(report->hessian, fabs(difference - c->H[ij]), H_scale);
        }
    return at_offset(c, -1, 0, &f, NULL, NULL);
}

/* ---- constraints ------------------------------------------------------------------------------------------------- */

typedef struct row_checker {
    ulna_row *rows;
    double *numbers;
    size_t m, count;
    double *y, *J, *value_plus, *value_minus, *g_plus, *g_minus, *H, *D;
} row_checker;

static ulna_status take_rows(const checker *c, row_checker *r)
{
    size_t nv = (size_t)c->nv, m = r->m = (size_t)ulna_problem_row_count(c->work->problem);
    r->count = 3 * m + m * nv + 2 * nv + 2 * nv * nv;
    r->rows = ulna_allocate(&c->work->allocator, m, sizeof *r->rows);
    double *at = r->numbers = ulna_allocate(&c->work->allocator, r->count, sizeof *r->numbers);
    if (!r->rows || !at)
        return ULNA_ERR_MEMORY;
    r->y = at, at += m;
    r->value_plus = at, at += m;
    r->value_minus = at, at += m;
    r->J = at, at += m * nv;
    r->g_plus = at, at += nv;
    r->g_minus = at, at += nv;
    r->H = at, at += nv * nv;
    r->D = at;
    for (size_t i = 0; i < m; i++)
        r->y[i] = (i % 2 ? -1 : 1) * (0.5 + 0.37 * (double)(i % 4));
    return ULNA_OK;
}

/* Values and JT y beside q, with the axes that were frozen at q. */
static ulna_status rows_at_offset(checker *c, row_checker *r, int dof, double h, double *values, double *g)
{
    double f;
    int count;
    ulna_status status = at_offset(c, dof, h, &f, NULL, NULL);
    if (status == ULNA_OK)
        status = ulna_work_rows(c->work, 0, r->rows, &count);
    if (status != ULNA_OK)
        return status;
    for (int i = 0; i < count; i++)
        values[i] = r->rows[i].value;
    memset(g, 0, (size_t)c->nv * sizeof *g);
    ulna_rows_add_transposed(c->work, r->rows, count, r->y, g);
    return ULNA_OK;
}

/* J, and H = sum y d2C, at q. */
static ulna_status rows_at_q(checker *c, row_checker *r, int *count)
{
    double f;
    size_t nv = (size_t)c->nv;
    ulna_status status = at_offset(c, -1, 0, &f, NULL, NULL);
    if (status == ULNA_OK)
        status = ulna_work_rows(c->work, 1, r->rows, count);
    if (status == ULNA_OK)
        status = ulna_work_lagrangian_dense(c->work, 1, r->rows, *count, r->y, r->D);
    if (status == ULNA_OK)
        status = ulna_work_hessian_dense(c->work, 1, r->H);
    for (size_t i = 0; i < nv * nv && status == ULNA_OK; i++)
        r->H[i] -= r->D[i];
    if (status == ULNA_OK)
        ulna_rows_jacobian(c->work, r->rows, *count, r->m, r->J);
    return status;
}

static ulna_status check_rows(checker *c, row_checker *r, ulna_derivative_report *report)
{
    const ulna_model *model = c->work->problem->model;
    size_t nv = (size_t)c->nv;
    int count;
    ulna_status status = rows_at_q(c, r, &count);
    if (status != ULNA_OK)
        return status;
    double floor =
        1e-3 * c->work->problem->length; /* rows that nothing moves, as between bodies that are fixed together */
    double J_scale = fmax(largest(r->J, r->m * nv), floor), H_scale = fmax(largest(r->H, nv * nv), J_scale), f;
    for (int j = 0; j < c->nv; j++) {
        double h = 6e-6 * (ulna_model_dof_is_translation(model, j) ? c->work->problem->length : 1);
        status = rows_at_offset(c, r, j, h, r->value_plus, r->g_plus);
        if (status == ULNA_OK)
            status = rows_at_offset(c, r, j, -h, r->value_minus, r->g_minus);
        if (status != ULNA_OK)
            return status;
        for (int i = 0; i < count; i++) {
            double slope = (r->value_plus[i] - r->value_minus[i]) / (2 * h);
            report->rows = worst(report->rows, fabs(slope - r->J[(size_t)j * r->m + (size_t)i]), J_scale);
        }
        for (size_t i = 0; i < nv; i++)
            r->D[(size_t)j * nv + i] = (r->g_plus[i] - r->g_minus[i]) / (2 * h);
    }
    for (int j = 0; j < c->nv; j++)
        for (int i = 0; i < c->nv; i++) {
            size_t ij = (size_t)j * nv + (size_t)i, ji = (size_t)i * nv + (size_t)j;
            double difference = same_quaternion(model, i, j) ? 0.5 * (r->D[ij] + r->D[ji]) : r->D[ij];
            report->bends = worst(report->bends, fabs(difference - r->H[ij]), H_scale);
        }
    return at_offset(c, -1, 0, &f, NULL, NULL);
}

static ulna_status check_constraints(checker *c, ulna_derivative_report *report)
{
    row_checker r = {0};
    ulna_status status = take_rows(c, &r);
    if (status == ULNA_OK)
        status = check_rows(c, &r, report);
    ulna_release(&c->work->allocator, r.rows, r.m, sizeof *r.rows);
    ulna_release(&c->work->allocator, r.numbers, r.count, sizeof *r.numbers);
    return status;
}

ulna_status ulna_work_check_derivatives(ulna_work *work, const double *q, ulna_derivative_report *report,
                                        ulna_error *error)
{
    if (!work || !q || !report)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "derivative check: an argument is missing");
    *report = (ulna_derivative_report){0};
    const ulna_model *model = work->problem->model;
    checker c = {.work = work, .q = q, .nv = model->nv, .nq = model->nq, .m = work->problem->residual_count};
    ulna_status status = take(&c);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "derivative check: no memory for dense matrices of this size");
    status = check(&c, report);
    if (status == ULNA_OK && ulna_problem_row_count(work->problem))
        status = check_constraints(&c, report);
    ulna_release(&work->allocator, c.memory, c.count, sizeof *c.memory);
    return status == ULNA_OK ? status : ulna_fail(error, status, "derivative check: %s", ulna_status_text(status));
}
