/* The exact Hessian over two degrees of freedom: at a place, over a range, and where f is lowest. */
#include "cli/definiteness/definiteness.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/algorithms.h"

/* ---- the problem -------------------------------------------------------------------------------------- */

static ulna_status make_problem(const ulna_model *model, int body, const double point[3], sweep *over,
                                ulna_error *error)
{
    const double nowhere[3] = {0, 0, 0};
    ulna_status status = ulna_problem_create(model, NULL, &over->problem, error);
    if (status == ULNA_OK) /* so that posture weights are in square metres per square radian */
        status = ulna_problem_set_length(over->problem, 1);
    if (status == ULNA_OK)
        status = ulna_problem_add_point(over->problem, body, point, nowhere, 1, &over->point, error);
    if (status == ULNA_OK)
        status = ulna_problem_add_posture(over->problem, NULL, NULL, 0, &over->posture, error);
    if (status == ULNA_OK)
        status = ulna_problem_ready(over->problem, error);
    return status != ULNA_OK ? status : ulna_work_create(over->problem, NULL, &over->work, error);
}

ulna_status sweep_create(const request *wish, sweep *over, ulna_error *error)
{
    *over = (sweep){0};
    for (int k = 0; k < 2; k++) {
        over->dof[k] = wish->axes[k].dof;
        over->coordinate[k] = ulna_model_dof_coordinate(wish->model, over->dof[k]);
    }
    ulna_status status = make_problem(wish->model, wish->body, wish->point, over, error);
    size_t nq = (size_t)ulna_model_coordinate_count(wish->model), nv = (size_t)ulna_model_dof_count(wish->model);
    over->q = calloc(nq, sizeof *over->q);
    over->unit = calloc(nv, sizeof *over->unit);
    over->column = calloc(nv, sizeof *over->column);
    over->over = wish->over;
    over->values = calloc(nv, sizeof *over->values);
    if (status == ULNA_OK && (!over->q || !over->unit || !over->column || !over->values)) {
        status = ULNA_ERR_MEMORY;
        cli_fail(error, status, "out of memory");
    }
    if (status != ULNA_OK)
        sweep_release(over);
    else
        memcpy(over->q, ulna_model_rest(wish->model), nq * sizeof *over->q);
    return status;
}

void sweep_release(sweep *over)
{
    ulna_work_destroy(over->work);
    ulna_problem_destroy(over->problem);
    free(over->q);
    free(over->unit);
    free(over->column);
    free(over->values);
    *over = (sweep){0};
}

ulna_status sweep_aim(sweep *over, const double goal[3], double posture_weight)
{
    double reach = ulna_model_length_scale(ulna_problem_model(over->problem));
    double far = hypot(hypot(goal[0], goal[1]), goal[2]);
    over->zero = 64 * DBL_EPSILON * reach * (reach + far);
    ulna_status status = ulna_problem_set_goal(over->problem, over->point, goal);
    return status != ULNA_OK ? status : ulna_problem_set_weight(over->problem, over->posture, posture_weight);
}

/* ---- one place ---------------------------------------------------------------------------------------- */

/* Eigenvalues of [a b; b c]. The smaller one in size comes from the determinant, so that it keeps its digits. */
static void eigenvalues(double a, double b, double c, double *low, double *high)
{
    double mean = (a + c) / 2, radius = hypot((a - c) / 2, b);
    double large = mean < 0 ? mean - radius : mean + radius;
    double small = large == 0 ? 0 : (a * c - b * b) / large;
    *low = fmin(large, small);
    *high = fmax(large, small);
}

/* Over all degrees of freedom that were chosen. */
static ulna_status all_eigenvalues(sweep *over, sweep_sample *sample)
{
    int count = 0;
    ulna_status status = ulna_work_hessian_eigenvalues(over->work, 1, over->over, over->values, &count, NULL);
    if (status != ULNA_OK || count == 0)
        return status;
    sample->low = over->values[0];
    sample->high = over->values[count - 1];
    sample->least = INFINITY;
    for (int i = 0; i < count; i++)
        sample->least = fmin(sample->least, fabs(over->values[i]));
    sample->most = fmax(fabs(sample->low), fabs(sample->high));
    return ULNA_OK;
}

ulna_status sweep_at(sweep *over, const double place[2], sweep_sample *sample)
{
    for (int k = 0; k < 2; k++)
        over->q[over->coordinate[k]] = place[k];
    ulna_status status = ulna_work_evaluate(over->work, over->q, &sample->f);
    for (int k = 0; k < 2 && status == ULNA_OK; k++) {
        over->unit[over->dof[k]] = 1;
        status = ulna_work_hessian_multiply(over->work, 1, over->unit, over->column);
        over->unit[over->dof[k]] = 0;
        sample->hessian[k] = over->column[over->dof[0]];
        sample->hessian[k + 1] = over->column[over->dof[1]];
    }
    eigenvalues(sample->hessian[0], sample->hessian[1], sample->hessian[2], &sample->low, &sample->high);
    sample->least = fmin(fabs(sample->low), fabs(sample->high));
    sample->most = fmax(fabs(sample->low), fabs(sample->high));
    if (status == ULNA_OK && over->over)
        status = all_eigenvalues(over, sample);
    if (status == ULNA_OK)
        status = ulna_work_gradient(over->work, over->column);
    for (int k = 0; k < 2; k++)
        sample->gradient[k] = over->column[over->dof[k]];
    return status;
}

static double condition(const sweep *over, const sweep_sample *sample)
{
    double large = sample->most, small = sample->least;
    return large <= over->zero || small <= SWEEP_TOLERANCE * large ? INFINITY : large / small;
}

sweep_region sweep_classify(const sweep *over, const sweep_sample *sample)
{
    if (isinf(condition(over, sample)))
        return SWEEP_SEMIDEFINITE;
    return sample->low > 0 ? SWEEP_POSITIVE : sample->high < 0 ? SWEEP_NEGATIVE : SWEEP_INDEFINITE;
}

/* ---- the minimum -------------------------------------------------------------------------------------- */

/* Newton's step with the eigenvalues made positive; a coordinate on a limit that it would cross stays there. */
static void choose_step(const sweep *over, const sweep_sample *at, const double place[2], const sweep_range ranges[2],
                        double step[2])
{
    int held[2];
    double a = at->hessian[0], b = at->hessian[1], c = at->hessian[2];
    for (int k = 0; k < 2; k++)
        held[k] =
            (place[k] <= ranges[k].low && at->gradient[k] > 0) || (place[k] >= ranges[k].high && at->gradient[k] < 0);
    step[0] = step[1] = 0;
    if (held[0] || held[1]) {
        for (int k = 0; k < 2; k++)
            if (!held[k])
                step[k] = -at->gradient[k] / fmax(fabs(k ? c : a), over->zero);
        return;
    }
    double pair[2];
    eigenvalues(a, b, c, &pair[0], &pair[1]);
    for (int k = 0; k < 2; k++) {
        double value = pair[k];
        double x = b, y = value - a; /* an eigenvector, by whichever row of H - value I is longer */
        if (fabs(value - c) > fabs(y)) {
            x = value - c;
            y = b;
        }
        double length = hypot(x, y);
        x = length > 0 ? x / length : k == 0;
        y = length > 0 ? y / length : k == 1;
        double along = -(x * at->gradient[0] + y * at->gradient[1]) / fmax(fabs(value), over->zero);
        step[0] += along * x;
        step[1] += along * y;
    }
}

static void clamped_add(const double place[2], double factor, const double step[2], const sweep_range ranges[2],
                        double result[2])
{
    for (int k = 0; k < 2; k++)
        result[k] = fmin(fmax(place[k] + factor * step[k], ranges[k].low), ranges[k].high);
}

/* Goes down from the lowest cell while f falls. Where the minimum is flat, as for a goal that the stretched arm just
 * reaches, steps shrink by a third each; a hundred of them are plenty. */
static ulna_status find_minimum(sweep *over, const sweep_range ranges[2], double place[2], sweep_sample *at)
{
    enum { STEPS = 100, HALVINGS = 40 };
    ulna_status status = sweep_at(over, place, at);
    for (int i = 0; i < STEPS && status == ULNA_OK; i++) {
        double step[2], next[2], factor = 1;
        sweep_sample there = {0};
        choose_step(over, at, place, ranges, step);
        int falls = 0;
        for (int k = 0; k < HALVINGS && !falls && status == ULNA_OK; k++, factor /= 2) {
            clamped_add(place, factor, step, ranges, next);
            status = sweep_at(over, next, &there);
            falls = there.f < at->f;
        }
        if (!falls)
            break;
        memcpy(place, next, sizeof next);
        *at = there;
    }
    return status;
}

/* ---- a range ------------------------------------------------------------------------------------------ */

/* The middle of a cell; symmetric to rounding about the middle of the range. */
static double cell_middle(const sweep_range *range, int cell, int size)
{
    return (range->low + range->high) / 2 + (2 * cell + 1 - size) * (range->high - range->low) / (2.0 * size);
}

/* Visits the cells; `minimum` of the tally becomes the lowest one, `conditions` those of positive definite cells. */
static ulna_status visit_cells(sweep *over, const sweep_range ranges[2], int size, unsigned char *regions,
                               sweep_tally *tally, int counts[SWEEP_REGION_COUNT], double *conditions)
{
    double f_low = INFINITY;
    *tally = (sweep_tally){.lowest = INFINITY, .f_high = -INFINITY};
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++) {
            const double place[2] = {cell_middle(&ranges[0], i, size), cell_middle(&ranges[1], j, size)};
            sweep_sample sample;
            ulna_status status = sweep_at(over, place, &sample);
            if (status != ULNA_OK)
                return status;
            sweep_region region = sweep_classify(over, &sample);
            if (region == SWEEP_POSITIVE)
                conditions[counts[SWEEP_POSITIVE]] = condition(over, &sample);
            counts[region]++;
            tally->lowest = fmin(tally->lowest, sample.low);
            tally->f_high = fmax(tally->f_high, sample.f);
            if (sample.f < f_low) {
                f_low = sample.f;
                memcpy(tally->minimum, place, sizeof place);
            }
            if (regions)
                regions[(size_t)j * (size_t)size + (size_t)i] = (unsigned char)region;
        }
    return ULNA_OK;
}

ulna_status sweep_over(sweep *over, const sweep_range ranges[2], int size, unsigned char *regions, sweep_tally *tally)
{
    int counts[SWEEP_REGION_COUNT] = {0};
    double *conditions = malloc((size_t)size * (size_t)size * sizeof *conditions);
    if (!conditions)
        return ULNA_ERR_MEMORY;
    ulna_status status = visit_cells(over, ranges, size, regions, tally, counts, conditions);
    int positive = counts[SWEEP_POSITIVE];
    tally->condition_median = ulna_median(conditions, (size_t)positive); /* sorts */
    tally->condition_most = positive ? conditions[positive - 1] : NAN;
    free(conditions);
    for (int region = 0; region < SWEEP_REGION_COUNT; region++)
        tally->percent[region] = 100.0 * counts[region] / ((double)size * size);
    if (status != ULNA_OK)
        return status;

    sweep_sample at;
    status = find_minimum(over, ranges, tally->minimum, &at);
    if (status == ULNA_OK) {
        tally->minimum_f = at.f;
        tally->minimum_condition = condition(over, &at);
        status = sweep_at(over, tally->minimum, &at);
    }
    return status != ULNA_OK ? status : ulna_work_term_error(over->work, over->point, &tally->minimum_distance);
}
