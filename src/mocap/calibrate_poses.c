/*
 * The poses of the key frames at the present offsets: warm, cold, and rescued.
 *
 * With a robust loss a pose is solved by reweighting: weights from the distances at the start, a solve, and so on; f is then
 * the loss itself, so that poses and offsets descend on the same function. Rescue does most of the work of a calibration:
 * a pose in a wrong minimum bends all offsets.
 */
#include <math.h>

#include "math/math3.h"
#include "mocap/calibrator.h"
#include "solve/solver.h"

#define SPREAD 0.3         /* radians: of restarts */
#define LOST_FACTOR 3.0    /* of the median: a pose above it is tried from elsewhere */
#define CLEARLY_BETTER 0.9 /* of f: what is worth moving a pose for */

/* ---- one pose ---------------------------------------------------------------------------------------------------------- */

double ulna_calibrator_loss(const ulna_calibrator *c, double square, double *loss)
{
    double unit = c->loss_scale * c->loss_scale, r;
    *loss = 0.5 * square;
    if (!(unit > 0))
        return 1;
    switch (c->options.loss) {
    case ULNA_LOSS_GEMAN_MCCLURE:
        r = unit / (unit + square);
        *loss *= r;
        return r * r;
    case ULNA_LOSS_CAUCHY:
        *loss = 0.5 * unit * log1p(square / unit);
        return unit / (unit + square);
    case ULNA_LOSS_HUBER:
        if (square <= unit)
            return 1;
        r = sqrt(square);
        *loss = c->loss_scale * (r - 0.5 * c->loss_scale);
        return c->loss_scale / r;
    default:
        return 1;
    }
}

/* Writes the terms themselves: one change of the problem for all markers. */
void ulna_key_place(ulna_calibrator *c, int k)
{
    const double *goal = ulna_key_goal(c, k), *pull = ulna_key_pull(c, k);
    for (int i = 0; i < c->count; i++) {
        ulna_term *term = &c->problem->term[i];
        ulna_copy3(ulna_offset(c, i), term->local);
        term->sleeping = isnan(goal[3 * i]);
        if (!term->sleeping)
            ulna_copy3(goal + 3 * i, term->goal);
        term->weight = pull[i];
        ulna_term_refresh(c->problem, term);
    }
    c->problem->changes++;
}

void ulna_key_residual(const ulna_calibrator *c, int i, double place[3], double residual[3])
{
    const ulna_term *term = &c->problem->term[i];
    const ulna_pull *pull = &c->problem->pull[term->slot];
    const ulna_pose *pose = ulna_solver_work(c->solver)->pose;
    const ulna_vec4 *frame = pose->frame + 4 * (size_t)c->problem->model->body[term->body].link;
    ulna_vec4 at = frame[3];
    for (int k = 0; k < 3; k++) {
        double x = pull->local[k];
        at += frame[k] * (ulna_vec4){x, x, x, x};
    }
    for (int k = 0; k < 3; k++) {
        place[k] = at[k];
        residual[k] = pull->goal[k] - pose->origin[k] - at[k];
    }
}

/* Weights by the distances as the work stands, into the key; and what the robust loss adds to f = 1/2 sum w r^2. */
static double reweigh(ulna_calibrator *c, int k)
{
    const double *goal = ulna_key_goal(c, k);
    double *pull = ulna_key_pull(c, k), place[3], r[3], loss, excess = 0;
    for (int i = 0; i < c->count; i++) {
        if (isnan(goal[3 * i]))
            continue;
        ulna_key_residual(c, i, place, r);
        double square = ulna_dot(r, r), factor = ulna_calibrator_loss(c, square, &loss);
        excess += c->weight[i] * loss - 0.5 * pull[i] * square;
        pull[i] = c->weight[i] * factor;
    }
    return excess;
}

static void use(ulna_calibrator *c, int cold)
{
    if (cold != c->is_cold)
        ulna_solver_set_options(c->solver, cold ? &c->cold : &c->warm, NULL);
    c->is_cold = cold;
}

double ulna_key_solve(ulna_calibrator *c, int k, double *q, int cold, int rounds)
{
    ulna_work *work = ulna_solver_work(c->solver);
    ulna_result result = {0};
    double f = 0;
    use(c, cold);
    for (int round = 0; round < rounds; round++) {
        if (c->loss_scale > 0 && round == 0 && !c->keeps_weights) {
            ulna_key_place(c, k);
            if (ulna_work_evaluate(work, q, &f) != ULNA_OK)
                return INFINITY;
            reweigh(c, k);
        }
        ulna_key_place(c, k);
        if (ulna_solve(c->solver, q, &result) != ULNA_OK)
            return INFINITY;
        f = result.f;
        if (result.predicted && ulna_work_evaluate(work, q, &f) != ULNA_OK)
            return INFINITY;
        if (c->loss_scale > 0)
            f += reweigh(c, k);
    }
    return f;
}

/* ---- starting afresh ------------------------------------------------------------------------------------------------ */

static void forget_weights(ulna_calibrator *c, int k)
{
    for (int i = 0; i < c->count; i++)
        ulna_key_pull(c, k)[i] = isnan(ulna_key_goal(c, k)[3 * i]) ? 0 : c->weight[i];
}

/* Rest, its root where the trunk's markers put it: the limbs' may be anywhere. */
static void align(ulna_calibrator *c, int k, double *q)
{
    double *pull = ulna_key_pull(c, k);
    int seen = 0;
    for (int i = 0; i < c->count; i++)
        seen += c->trunk[i] && pull[i] > 0;
    for (int i = 0; i < c->count && seen >= 3; i++)
        if (!c->trunk[i])
            pull[i] = 0;
    ulna_key_place(c, k);
    memcpy(q, c->rest, (size_t)c->nq * sizeof *q);
    ulna_work_align_root(ulna_solver_work(c->solver), q);
    forget_weights(c, k);
}

static void scatter(ulna_calibrator *c, double *q)
{
    for (int d = 0; d < c->nv; d++)
        c->slope[d] = c->base->dof_body[d] == 0 ? 0
                      : ulna_model_dof_is_translation(c->base, d)
                          ? 0.1 * SPREAD * c->unit * ulna_random_normal(&c->random)
                          : SPREAD * ulna_random_normal(&c->random);
    ulna_model_integrate(c->base, q, c->slope, q);
}

double ulna_key_start(ulna_calibrator *c, int k, int restarts, double *q)
{
    double best = INFINITY, scale = c->loss_scale;
    for (int r = 0; r <= restarts; r++) {
        align(c, k, c->trial);
        if (r)
            scatter(c, c->trial);
        c->loss_scale = 0;
        double f = ulna_key_solve(c, k, c->trial, 1, 1);
        c->loss_scale = scale;
        if (f < best) {
            best = f;
            memcpy(q, c->trial, (size_t)c->nq * sizeof *q);
        }
    }
    return scale > 0 ? ulna_key_solve(c, k, q, 1, 3) : best;
}

/* ---- all of them ------------------------------------------------------------------------------------------------------ */

double ulna_calibrator_objective(const ulna_calibrator *c)
{
    double sum = c->prior * ulna_calibrator_expectation(c);
    for (int g = 0; g < c->groups; g++)
        sum += 0.5 * c->scale_prior * c->z[g] * c->z[g];
    for (int k = 0; k < c->keys; k++)
        sum += c->f[k];
    return sum;
}

ulna_status ulna_calibrator_solve_all(ulna_calibrator *c, int keep_weights, double *objective)
{
    ulna_status status = ulna_calibrator_apply(c);
    if (status != ULNA_OK)
        return status;
    c->keeps_weights = keep_weights;
    for (int k = 0; k < c->keys; k++)
        c->f[k] = ulna_key_solve(c, k, ulna_key_q(c, k), 0, 1);
    c->keeps_weights = 0;
    *objective = ulna_calibrator_objective(c);
    return ULNA_OK;
}

int ulna_calibrator_rescue(ulna_calibrator *c, int restarts)
{
    size_t bytes = (size_t)c->nq * sizeof *c->q;
    double *sorted = c->saved_q; /* keys x nq: room enough */
    memcpy(sorted, c->f, (size_t)c->keys * sizeof *sorted);
    double limit = LOST_FACTOR * ulna_median(sorted, (size_t)c->keys);
    int found = 0;
    for (int k = 0; k < c->keys; k++) {
        if (!(c->f[k] > limit))
            continue;
        double best = c->f[k];
        int better = 0;
        for (int near = -2; near <= 2; near++) {
            int j = k + near;
            if (!near || j < 0 || j >= c->keys || c->f[j] > limit)
                continue;
            forget_weights(c, k);
            memcpy(c->trial, ulna_key_q(c, j), bytes);
            double f = ulna_key_solve(c, k, c->trial, 0, c->loss_scale > 0 ? 2 : 1);
            if (f < CLEARLY_BETTER * best) {
                best = f;
                better = 1;
                memcpy(c->best, c->trial, bytes);
            }
        }
        if (best > limit) {
            double *q = c->saved_q;
            forget_weights(c, k);
            double f = ulna_key_start(c, k, restarts, q);
            if (f < CLEARLY_BETTER * best) {
                better = 1;
                memcpy(c->best, q, bytes);
            }
        }
        forget_weights(c, k);
        if (better) {
            memcpy(ulna_key_q(c, k), c->best, bytes);
            found++;
        }
        c->f[k] = ulna_key_solve(c, k, ulna_key_q(c, k), 0, 1);
    }
    c->rescued += found;
    return found;
}
