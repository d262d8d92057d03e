/*
 * Starts for several tips that hang on common joints, as the hands of a humanoid do on its torso: from the tables of their chains.
 *
 * For a few samples of the common joints each branch looks its goal up in its table (serial_table.c): the score says how near the best
 * sample of the branch comes. The common joints with the best sum of scores win, and each branch starts from the best of its candidates
 * after a few steps on its own. The wrists of a Unitree G1 (seventeen joints, two poses) then need 0.4 restarts on average, and 1.7 from
 * starts that do not know the goals (`ulna reach --bench`).
 */
#include "global/starts.h"
#include "math/math3.h"
#include "reach/reach.h"
#include "reach/serial_kernel.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 4, STORED = 16, STEPS = 6, SCORES = 16 };
#define DAMPING 0.1

struct ulna_branch {
    int base; /* the last body on the way to the tip that other tips hang on, too */
    ulna_serial *chain;
};

/* ---- set-up --------------------------------------------------------------------------------------------------------------------- */

/* ULNA_NONE: the tip shares no body, or others hang on the tip itself. */
static int base_of(const ulna_reach *reach, int tip)
{
    int body = reach->tip[tip].given.body;
    for (int at = body; at != ULNA_NONE; at = reach->model->body[at].parent)
        for (int i = 0; i < reach->tip_count; i++)
            if (i != tip && ulna_model_is_ancestor(reach->model, at, reach->tip[i].given.body))
                return at == body ? ULNA_NONE : at;
    return ULNA_NONE;
}

static int is_served(const ulna_reach *reach)
{
    int served = reach->tip_count > 1 && !reach->uses_rows && reach->options.constraint_count == 0;
    for (int i = 0; i < reach->tip_count; i++)
        served &=
            reach->tip[i].position_axes == 3 && reach->tip[i].kind == ULNA_TIP_FULL && base_of(reach, i) != ULNA_NONE;
    for (int j = 0; j < reach->nv; j++)
        served &= !reach->locked[j];
    return served;
}

/* Configurations, of which the common joints are used; and the room for one more. */
static ulna_status store_samples(ulna_reach *reach)
{
    size_t nq = (size_t)reach->nq, nv = (size_t)reach->nv;
    double *step = ulna_allocate(&reach->allocator, nv, sizeof *step);
    reach->sample = ulna_allocate(&reach->allocator, STORED * nq, sizeof *reach->sample);
    for (int k = 0; k < STORED && step && reach->sample; k++) {
        double *q = reach->sample + (size_t)k * nq;
        memcpy(q, reach->model->rest, nq * sizeof *q);
        ulna_global_start(reach->model, reach->lower, reach->upper, reach->locked, reach->options.seed, k, step, q);
    }
    ulna_status status = step && reach->sample ? ULNA_OK : ULNA_ERR_MEMORY;
    ulna_release(&reach->allocator, step, nv, sizeof *step);
    return status;
}

ulna_status ulna_branches_create(ulna_reach *reach, ulna_error *error)
{
    if (!is_served(reach))
        return ULNA_OK;
    struct ulna_branch *branch = ulna_allocate(&reach->allocator, (size_t)reach->tip_count, sizeof *branch);
    reach->branch = branch;
    if (!branch || store_samples(reach) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %d branches", reach->tip_count);
    for (int i = 0; i < reach->tip_count; i++) {
        branch[i].base = base_of(reach, i);
        ulna_status status = ulna_serial_create(reach->model, branch[i].base, reach->tip[i].given.body, reach->lower,
                                                reach->upper, &reach->allocator, &branch[i].chain, NULL);
        if (status == ULNA_OK && branch[i].chain->has_tables)
            continue;
        if (status == ULNA_OK || status == ULNA_ERR_UNSUPPORTED) { /* joints of another kind, or too few */
            ulna_branches_destroy(reach);
            return ULNA_OK;
        }
        return ulna_fail(error, status, "no memory for the tables of %d branches", reach->tip_count);
    }
    return ULNA_OK;
}

void ulna_branches_destroy(ulna_reach *reach)
{
    for (int i = 0; i < reach->tip_count && reach->branch; i++)
        ulna_serial_destroy(reach->branch[i].chain);
    ulna_release(&reach->allocator, reach->branch, (size_t)reach->tip_count, sizeof *reach->branch);
    ulna_release(&reach->allocator, reach->sample, STORED * (size_t)reach->nq, sizeof *reach->sample);
    reach->branch = NULL;
    reach->sample = NULL;
}

/* ---- starts ----------------------------------------------------------------------------------------------------------------------- */

/* The goal of a tip in the frame of the base of its branch, where the pose has it. */
static void aim_branch(const ulna_reach_work *work, const ulna_target *target, int tip, ulna_serial_target *aim)
{
    const ulna_tip *t = &work->reach->tip[tip];
    const struct ulna_branch *branch = &work->reach->branch[tip];
    double base[9], at[3], back[9], behind[3], turned[9], tool[9], rotation[9], position[3];
    ulna_pose_body(work->pose, branch->base, at, base);
    ulna_invert(base, at, back, behind);
    ulna_transpose9(t->rotation, tool);
    ulna_multiply9(target->rotation, tool, turned);
    ulna_compose(back, behind, turned, target->position, rotation, position);
    ulna_serial_goal goal = ulna_serial_goal_pose(position, rotation);
    ulna_copy3(t->given.point, goal.point);
    ulna_serial_target_set(branch->chain, &goal, aim);
}

/* The samples of the small table with the best scores, as many as a kernel has lanes, best first; returns the best score. */
static float look_up(const ulna_serial *chain, const ulna_serial_target *aim, int *sample)
{
    float score[SCORES];
    int found[SCORES];
    chain->kernel->scan(chain, &chain->table[ULNA_SERIAL_SMALL], aim, score, found);
    for (int rank = 0; rank < chain->kernel->lanes; rank++) {
        int best = rank;
        for (int i = rank + 1; i < SCORES; i++)
            best = score[i] > score[best] ? i : best;
        float high = score[best];
        sample[rank] = found[best];
        score[best] = score[rank];
        found[best] = found[rank];
        score[rank] = high;
    }
    return score[0];
}

/* A few steps of the best candidates; the joints of the lane that came nearest go into q. */
static void begin_branch(const ulna_reach_work *work, const ulna_target *target, int tip, const double *seed, double *q)
{
    const ulna_serial *chain = work->reach->branch[tip].chain;
    const int *coordinate = ulna_serial_coordinates(chain);
    ulna_serial_target aim;
    ulna_serial_lanes state;
    int sample[ULNA_SERIAL_LANES], best = 0;
    double near[ULNA_SERIAL_MAX], start[ULNA_SERIAL_MAX];
    aim_branch(work, target, tip, &aim);
    look_up(chain, &aim, sample);
    ulna_serial_lanes_set(chain, chain->kernel, &aim, &state);
    chain->kernel->begin(chain, &chain->table[ULNA_SERIAL_SMALL], &aim, sample, &state);
    for (int l = 0; l < ULNA_SERIAL_LANES; l++)
        state.damping[l] = DAMPING;
    state.stop_at_first = 0;
    for (int k = 0; k < STEPS; k++)
        chain->kernel->step(chain, &state);
    for (int l = 1; l < chain->kernel->lanes; l++)
        best = state.cost[l] < state.cost[best] ? l : best;
    for (int i = 0; i < chain->n; i++)
        near[i] = seed[coordinate[i]];
    if (ulna_serial_accept(chain, &state, best, near, start))
        for (int i = 0; i < chain->n; i++)
            q[coordinate[i]] = start[i];
}

ulna_status ulna_branches_start(ulna_reach_work *work, const ulna_reach_query *query, int k, double *q)
{
    const ulna_reach *reach = work->reach;
    size_t bytes = (size_t)reach->nq * sizeof *q;
    float most = -(float)INFINITY;
    ulna_status status = ULNA_OK;
    for (int i = 0; i < SAMPLES && status == ULNA_OK; i++) {
        float sum = 0;
        int sample[ULNA_SERIAL_LANES], number = SAMPLES * k + i;
        const double *start = number == 0 ? query->seed : reach->sample + (size_t)(number - 1) * (size_t)reach->nq;
        if (number > STORED) {
            memcpy(work->found, query->seed, bytes);
            ulna_global_start(reach->model, reach->lower, reach->upper, reach->locked, reach->options.seed, number - 1,
                              work->step, work->found);
            start = work->found;
        }
        status = ulna_pose_forward(work->pose, start);
        for (int tip = 0; tip < reach->tip_count && status == ULNA_OK; tip++) {
            ulna_serial_target aim;
            aim_branch(work, &query->target[tip], tip, &aim);
            sum += look_up(reach->branch[tip].chain, &aim, sample);
        }
        if (sum > most) {
            most = sum;
            memcpy(q, start, bytes);
        }
    }
    if (status == ULNA_OK)
        status = ulna_pose_forward(work->pose, q);
    for (int tip = 0; tip < reach->tip_count && status == ULNA_OK; tip++)
        begin_branch(work, &query->target[tip], tip, query->seed, q);
    return status;
}
