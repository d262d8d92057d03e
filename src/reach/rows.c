/*
 * Damped least squares on the rows of the tips: for goals relative to a link, whose terms would join two branches of the tree, and for
 * models with coupled joints, which the elimination on the tree would keep as constraints. Here both are plain columns of a Jacobian.
 *
 *     (J D JT + lambda I) y = e,   step = -D JT y,   lambda = kappa f + floor,   f = 1/2 |e|^2
 *
 * (Chan & Lawrence 1988, as in serial_kernel.inc). e are the weighted errors of all tips, D the squares of the units of the joints: 0 for
 * joints that are locked, follow another, or are on a limit that the step would leave. A joint that would pass its limit goes to it, and the
 * others are solved for again with what that leaves of the error. O(rows^2 nv) an iteration: for a few tips.
 * Fails as other local methods do, in a minimum that is not the lowest; slow at minima with a large error, since it is Gauss-Newton.
 */
#include "reach/reach.h"

#include "math/math3.h"

#include <math.h>
#include <string.h>

#define KAPPA 0.1
#define KAPPA_LEAST 1e-3
#define KAPPA_MOST 1e12
#define FLOOR 1e-13 /* of the largest element of J D JT */
#define LITTLE 1e-9 /* of f: a step that gains less is the last */

enum { CLAMPS = 4 };

void ulna_rows_take(ulna_reach_work *work, ulna_arena *arena)
{
    const ulna_reach *reach = work->reach;
    size_t nv = (size_t)reach->nv, rows = 6 * (size_t)reach->tip_count;
    ulna_rows *r = &work->rows;
    r->jacobian = ulna_arena_take(arena, rows * nv, sizeof(double));
    r->body = ulna_arena_take(arena, 6 * nv, sizeof(double));
    r->matrix = ulna_arena_take(arena, rows * rows, sizeof(double));
    r->error = ulna_arena_take(arena, rows, sizeof(double));
    r->rest = ulna_arena_take(arena, rows, sizeof(double));
    r->solution = ulna_arena_take(arena, rows, sizeof(double));
    r->metric = ulna_arena_take(arena, nv, sizeof(double));
    r->step = ulna_arena_take(arena, nv, sizeof(double));
    r->trial = ulna_arena_take(arena, (size_t)reach->nq, sizeof(double));
}

/* ---- errors and their Jacobian ----------------------------------------------------------------------------------------------- */

static void frames_of(const ulna_reach_work *work, const ulna_reach_tip *tip, double rotation[2][9],
                      double position[2][3])
{
    ulna_identity9(rotation[1]);
    memset(position[1], 0, sizeof position[1]);
    ulna_pose_body(work->pose, tip->body, position[0], rotation[0]);
    if (tip->relative_to != ULNA_NONE)
        ulna_pose_body(work->pose, tip->relative_to, position[1], rotation[1]);
}

static double scale_of(const ulna_tip *tip, int axis)
{
    return sqrt(tip->given.weight[axis]) * (axis < 3 ? 1 : tip->length);
}

/* Adds what one of the two bodies of a tip does to its rows: over twists (w, v) at the body's origin. */
static ulna_status add_columns(ulna_reach_work *work, int number, int part, double row[6][2][6])
{
    const ulna_tip *tip = &work->reach->tip[number];
    ulna_rows *r = &work->rows;
    int nv = work->reach->nv;
    ulna_effector origin = {.body = part ? tip->given.relative_to : tip->given.body};
    ulna_jacobian_options options = ulna_jacobian_options_default();
    ulna_status status = ulna_pose_jacobian(work->pose, &options, 1, &origin, r->body);
    for (int j = 0; j < nv && status == ULNA_OK; j++) {
        const double *velocity = r->body + 6 * (size_t)j, *turn = velocity + 3;
        double *column = r->jacobian + (size_t)j * (size_t)r->count + 6 * (size_t)number;
        for (int k = 0; k < 6; k++)
            column[k] += scale_of(tip, k) * (ulna_dot(row[k][part], turn) + ulna_dot(row[k][part] + 3, velocity));
    }
    return status;
}

/* f at q; with `with_rows` also the Jacobian. */
static ulna_status evaluate(ulna_reach_work *work, const ulna_target *target, const double *q, int with_rows, double *f)
{
    const ulna_reach *reach = work->reach;
    ulna_rows *r = &work->rows;
    ulna_status status = ulna_pose_forward(work->pose, q);
    double sum = 0;
    if (with_rows)
        memset(r->jacobian, 0, (size_t)r->count * (size_t)reach->nv * sizeof *r->jacobian);
    for (int i = 0; i < reach->tip_count && status == ULNA_OK; i++) {
        const ulna_tip *tip = &reach->tip[i];
        double rotation[2][9], position[2][3], row[6][2][6], error[6];
        frames_of(work, &tip->given, rotation, position);
        ulna_tip_error(tip, &target[i], (const double(*)[9])rotation, (const double(*)[3])position, error,
                       with_rows ? row : NULL);
        for (int k = 0; k < 6; k++) {
            double off = scale_of(tip, k) * error[k];
            sum += off * off;
            if (with_rows)
                r->error[6 * i + k] = off;
        }
        for (int part = 0; part < 2 && with_rows && status == ULNA_OK; part++)
            if (part == 0 || tip->given.relative_to != ULNA_NONE)
                status = add_columns(work, i, part, row);
    }
    *f = 0.5 * sum;
    return status;
}

/* ---- one step ------------------------------------------------------------------------------------------------------------------- */

/* D: the squares of the units of joints that may move. */
static void set_metric(ulna_reach_work *work, const ulna_reach_query *query, const double *q)
{
    const ulna_reach *reach = work->reach;
    ulna_rows *r = &work->rows;
    for (int j = 0; j < reach->nv; j++) {
        int c = reach->model->dof_coordinate[j];
        double unit = query->strength[j] * reach->unit[j];
        double slope = ulna_inner(r->count, r->jacobian + (size_t)j * (size_t)r->count, r->error);
        int held = reach->locked[j] || (c >= 0 && slope > 0 && q[c] <= query->lower[j]) ||
                   (c >= 0 && slope < 0 && q[c] >= query->upper[j]);
        r->metric[j] = held ? 0 : unit * unit;
        r->step[j] = 0;
    }
    for (int i = 0; i < reach->model->nc; i++)
        r->metric[reach->model->coupling[i].dof] = 0;
}

/* (A + lambda I) y = b by Cholesky, in place; A symmetric, its lower triangle is used. 0: not positive definite. */
static int solve_damped(int n, double *A, double lambda, double *y)
{
    for (int i = 0; i < n; i++)
        A[(size_t)i * (size_t)n + (size_t)i] += lambda;
    for (int j = 0; j < n; j++) {
        double *row = A + (size_t)j * (size_t)n;
        for (int i = 0; i <= j; i++) {
            const double *other = A + (size_t)i * (size_t)n;
            double left = row[i] - ulna_inner(i, row, other);
            if (i < j)
                row[i] = left / other[i];
            else if (!(left > 0))
                return 0;
            else
                row[j] = sqrt(left);
        }
        y[j] = (y[j] - ulna_inner(j, row, y)) / row[j];
    }
    for (int j = n - 1; j >= 0; j--) {
        y[j] /= A[(size_t)j * (size_t)n + (size_t)j];
        for (int i = 0; i < j; i++)
            y[i] -= A[(size_t)j * (size_t)n + (size_t)i] * y[j];
    }
    return 1;
}

/* The step for `rest`, the part of the error that is left to the joints that may move. */
static int damped_step(ulna_reach_work *work, double lambda)
{
    ulna_rows *r = &work->rows;
    int m = r->count;
    double largest = 0;
    memset(r->matrix, 0, (size_t)m * (size_t)m * sizeof *r->matrix);
    for (int j = 0; j < work->reach->nv; j++) {
        const double *column = r->jacobian + (size_t)j * (size_t)m;
        for (int a = 0; a < m && r->metric[j] > 0; a++) {
            double scaled = r->metric[j] * column[a], *row = r->matrix + (size_t)a * (size_t)m;
            for (int b = 0; b <= a && scaled != 0; b++)
                row[b] += scaled * column[b];
        }
    }
    for (int a = 0; a < m; a++)
        largest = fmax(largest, r->matrix[(size_t)a * (size_t)m + (size_t)a]);
    memcpy(r->solution, r->rest, (size_t)m * sizeof *r->rest);
    if (!(largest > 0) || !solve_damped(m, r->matrix, lambda + FLOOR * largest, r->solution))
        return 0;
    for (int j = 0; j < work->reach->nv; j++)
        if (r->metric[j] > 0)
            r->step[j] = -r->metric[j] * ulna_inner(m, r->jacobian + (size_t)j * (size_t)m, r->solution);
    return 1;
}

/* Joints that would pass a limit go to it, and move no further; `rest` is what they leave. How many there are. */
static int meet_limits(ulna_reach_work *work, const ulna_reach_query *query, const double *q)
{
    const ulna_reach *reach = work->reach;
    ulna_rows *r = &work->rows;
    int met = 0;
    for (int j = 0; j < reach->nv; j++) {
        int c = reach->model->dof_coordinate[j];
        if (c < 0 || !(r->metric[j] > 0))
            continue;
        double low = query->lower[j] - q[c], high = query->upper[j] - q[c];
        if (r->step[j] >= low && r->step[j] <= high)
            continue;
        r->step[j] = r->step[j] < low ? low : high;
        r->metric[j] = 0;
        for (int a = 0; a < r->count; a++)
            r->rest[a] += r->step[j] * r->jacobian[(size_t)j * (size_t)r->count + (size_t)a];
        met++;
    }
    return met;
}

/* ---- the iteration ----------------------------------------------------------------------------------------------------------------- */

ulna_status ulna_rows_solve(ulna_reach_work *work, const ulna_reach_query *query, int iterations, double *q,
                            int *iterations_made)
{
    const ulna_reach *reach = work->reach;
    ulna_rows *r = &work->rows;
    double f, next, kappa = KAPPA;
    int has_rows = 0;
    r->count = 6 * reach->tip_count;
    ulna_status status = evaluate(work, query->target, q, 0, &f);
    for (int i = 0; i < iterations && status == ULNA_OK && f > reach->objective; i++) {
        if (!has_rows)
            status = evaluate(work, query->target, q, 1, &f);
        if (status != ULNA_OK)
            break;
        has_rows = 1;
        ++*iterations_made;
        set_metric(work, query, q);
        memcpy(r->rest, r->error, (size_t)r->count * sizeof *r->rest);
        int solved = damped_step(work, kappa * f);
        for (int k = 0; k < CLAMPS && solved && meet_limits(work, query, q) > 0; k++)
            solved = damped_step(work, kappa * f);
        if (!solved)
            break;
        ulna_model_integrate(reach->model, q, r->step, r->trial);
        ulna_reach_clamp(reach, query->lower, query->upper, r->trial);
        status = evaluate(work, query->target, r->trial, 0, &next);
        if (status == ULNA_OK && next < f) {
            double gain = f - next;
            memcpy(q, r->trial, (size_t)reach->nq * sizeof *q);
            kappa = gain > 0.5 * f ? kappa : fmax(0.5 * kappa, KAPPA_LEAST);
            has_rows = 0;
            f = next;
            if (gain <= LITTLE * next)
                break;
        } else {
            kappa *= 8;
            if (kappa > KAPPA_MOST)
                break;
        }
        if (query->deadline > 0 && ulna_seconds() >= query->deadline)
            break;
    }
    return status;
}
