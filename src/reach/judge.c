/*
 * What an answer may claim. Answers of the general solve and of several parts are judged here, at the q that is returned, by a forward pass over
 * all of it. An answer of the fast solve of chains ends with a forward pass of its own (chain.c), and is held to the same limits and mimics.
 */
#include "math/math3.h"
#include "reach/reach.h"

#include <math.h>

#define COUPLED 1e-9 /* of 1 and its value: a follower that is off by no more follows; limits may round it */

ulna_status ulna_reach_errors(ulna_reach_work *work, const ulna_target *target, const double *q,
                              ulna_reach_error *errors)
{
    const ulna_reach *reach = work->reach;
    ulna_status status = ulna_pose_forward(work->pose, q);
    for (int i = 0; i < reach->tip_count && status == ULNA_OK; i++) {
        const ulna_reach_tip *tip = &reach->tip[i].given;
        ulna_reach_error *e = &errors[i];
        double rotation[2][9], position[2][3] = {{0}}, off[2] = {0}, sum[2] = {0};
        ulna_identity9(rotation[1]);
        ulna_pose_body(work->pose, tip->body, position[0], rotation[0]);
        if (tip->relative_to != ULNA_NONE)
            ulna_pose_body(work->pose, tip->relative_to, position[1], rotation[1]);
        ulna_tip_error(&reach->tip[i], &target[i], (const double(*)[9])rotation, (const double(*)[3])position, e->axis,
                       NULL);
        for (int k = 0; k < 6; k++) {
            double share = e->axis[k] / tip->tolerance[k];
            sum[k / 3] += e->axis[k] * e->axis[k];
            off[k / 3] += share * share;
        }
        e->position = sqrt(sum[0]);
        e->rotation = sqrt(sum[1]);
        e->within = off[0] <= 1 && off[1] <= 1;
    }
    return status;
}

double ulna_reach_distance(const ulna_reach *reach, const double *from, const double *q, double *step, int *jumped)
{
    const ulna_model *model = reach->model;
    double sum = 0, largest = 0;
    *jumped = 0;
    ulna_model_difference(model, from, q, step);
    for (int j = 0; j < reach->nv; j++) {
        double way = reach->distance_weight[j] * step[j] / reach->unit[j], turn = step[j];
        sum += way * way;
        largest = fmax(largest, fabs(way));
        if (ulna_segment_is_translation(model->dof_segment[j]))
            continue;
        if (reach->turns[j])
            turn = ulna_nearest_turn(turn, 0);
        else if (model->dof_segment[j] == ULNA_SEGMENT_BALL && model->dof_part[j] == 0)
            turn = ulna_norm(step + j);
        *jumped |= fabs(turn) > reach->options.jump;
    }
    return reach->options.norm == ULNA_REACH_NORM_LARGEST ? largest : sqrt(sum);
}

int ulna_reach_allows(const ulna_reach *reach, const double *q, int *at_limits)
{
    const ulna_model *model = reach->model;
    int allowed = 1;
    *at_limits = 0;
    for (int j = 0; j < reach->nv; j++) {
        int c = model->dof_coordinate[j];
        if (c < 0)
            continue;
        *at_limits += !reach->idle[j] && (q[c] <= reach->lower[j] || q[c] >= reach->upper[j]);
        allowed &= q[c] >= reach->lower[j] && q[c] <= reach->upper[j];
    }
    for (int i = 0; i < model->nc; i++) {
        const ulna_coupling *coupling = &model->coupling[i];
        double wanted = coupling->multiplier * q[model->dof_coordinate[coupling->master]] + coupling->offset;
        allowed &= fabs(q[model->dof_coordinate[coupling->dof]] - wanted) <= COUPLED * (1 + fabs(wanted));
    }
    return allowed;
}

/* The largest error of a constraint at q; 0 if there are none. */
static ulna_status find_violation(ulna_reach_work *work, const double *q, double *most)
{
    const ulna_reach *reach = work->reach;
    double f;
    *most = 0;
    if (reach->options.constraint_count == 0)
        return ULNA_OK;
    ulna_work *at = ulna_solver_work(work->solver[ULNA_REACH_HARD]);
    ulna_status status = ulna_work_evaluate(at, q, &f);
    for (int i = 0; i < reach->options.constraint_count && status == ULNA_OK; i++) {
        double error;
        status = ulna_work_constraint_error(at, reach->first_constraint + i, &error);
        *most = status == ULNA_OK ? fmax(*most, error) : *most;
    }
    if (status == ULNA_ERR_NUMBER) { /* it has no error there, so it is not kept */
        *most = (double)INFINITY;
        status = ULNA_OK;
    }
    return status;
}

ulna_status ulna_reach_judge(ulna_reach_work *work, const ulna_reach_query *query, const double *q,
                             ulna_reach_result *result, double *violation)
{
    const ulna_reach *reach = work->reach;
    double farthest = -1, most;
    ulna_status status = find_violation(work, q, &most);
    if (status == ULNA_OK)
        status = ulna_reach_errors(work, query->target, q, work->error);
    if (status != ULNA_OK)
        return status;
    if (violation)
        *violation = most;
    result->reached = ulna_reach_allows(reach, q, &result->at_limits) && most <= ULNA_REACH_KEPT;
    result->position_error = result->rotation_error = 0;
    for (int i = 0; i < reach->tip_count; i++) {
        const ulna_reach_error *e = &work->error[i];
        const double *tolerance = reach->tip[i].given.tolerance;
        double off = 0;
        for (int k = 0; k < 6; k++)
            off = fmax(off, fabs(e->axis[k]) / tolerance[k]);
        result->position_error = fmax(result->position_error, e->position);
        result->rotation_error = fmax(result->rotation_error, e->rotation);
        result->reached &= e->within;
        if (off > farthest) {
            farthest = off;
            result->worst = i;
        }
    }
    result->distance = ulna_reach_distance(reach, query->seed, q, work->step, &result->jumped);
    return ULNA_OK;
}
