/*
 * Problems that the fast solve of serial chains serves (serial.h): one tip, reached through joints that are rotations and translations
 * along fixed axes, none of them locked; all three axes of its position or none, and all axes of its rotation, all but one, or
 * none; no posture, no constraints.
 *
 * Strengths. Any solution is then the nearest one by changes / strength. Near a seed, what the plain solve finds from the seed is slid along the solutions to where the sum of squares of changes / strength is least,
 * so that goals are reached as they are without strengths. Where that would be a jump, or beyond the step that a path allows, strengths that
 * differ less are tried: their roots.
 */
#include "reach/chain.h"

#include "math/math3.h"
#include "reach/serial.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 64,   /* problems that go through the lanes together */
    SOFTENED = 4, /* strengths as they are, and three times the roots of those before */
};

struct ulna_chain {
    ulna_allocator allocator;
    const ulna_reach *reach;
    ulna_serial *serial;
    int n;
    ulna_serial_goal goal;           /* aim, point, axis, tolerances */
    ulna_serial_norm norm;           /* of distances */
    ulna_serial_norm search;         /* the same but for a factor: weights near 1 */
    int is_weighted;                 /* joints differ in strength */
    ulna_serial_norm cost[SOFTENED]; /* of changes, if they do */
    double body_rotation[9];         /* the body's frame in that of the tip */
};

typedef struct scratch {
    ulna_serial_goal goal[BLOCK];
    ulna_serial_result result[BLOCK];
    double seed[BLOCK * ULNA_SERIAL_MAX], q[BLOCK * ULNA_SERIAL_MAX];
} scratch;

/* ---- which problems ------------------------------------------------------------------------------------------------------ */

/* The aim of a tip; 0 if there is none for it. */
static int find_aim(const ulna_tip *tip, ulna_serial_aim *aim)
{
    if (tip->position_axes == 3 && tip->kind == ULNA_TIP_FULL)
        *aim = ULNA_SERIAL_POSE;
    else if (tip->position_axes == 3 && tip->kind == ULNA_TIP_SWING)
        *aim = ULNA_SERIAL_SPIN;
    else if (tip->position_axes == 3 && tip->kind == ULNA_TIP_FREE)
        *aim = ULNA_SERIAL_POSITION;
    else if (tip->position_axes == 0 && tip->kind == ULNA_TIP_FULL)
        *aim = ULNA_SERIAL_ORIENTATION;
    else
        return 0;
    return 1;
}

/* What does not depend on the goal. Tolerances: the smallest of all axes meets those of each. */
static void set_tip(ulna_chain *chain, const ulna_tip *tip, ulna_serial_aim aim)
{
    ulna_serial_goal *goal = &chain->goal;
    goal->aim = aim;
    ulna_copy3(tip->given.point, goal->point);
    ulna_transpose9(tip->rotation, chain->body_rotation);
    for (int r = 0; r < 3; r++)
        goal->axis[r] = aim == ULNA_SERIAL_SPIN ? tip->rotation[3 * r + tip->axis] : 0;
    goal->position_tolerance = goal->rotation_tolerance = INFINITY;
    for (int k = 0; k < 3; k++) {
        goal->position_tolerance = fmin(goal->position_tolerance, tip->given.tolerance[k]);
        if (aim != ULNA_SERIAL_SPIN || k != tip->axis)
            goal->rotation_tolerance = fmin(goal->rotation_tolerance, tip->given.tolerance[3 + k]);
    }
}

static int is_locked(const ulna_reach *reach, const ulna_serial *serial)
{
    for (int i = 0; i < ulna_serial_count(serial); i++)
        if (reach->locked[ulna_serial_dofs(serial)[i]])
            return 1;
    return 0;
}

static int find_joint(const ulna_chain *chain, int dof)
{
    for (int i = 0; i < chain->n; i++)
        if (ulna_serial_dofs(chain->serial)[i] == dof)
            return i;
    return ULNA_NONE;
}

/* Weights of changes in the distance. A master that is not on the chain moves with the first joint that follows it. */
static void set_norm(ulna_chain *chain)
{
    const ulna_reach *reach = chain->reach;
    const double *weight = reach->distance_weight, *unit = reach->unit;
    chain->norm.is_largest = reach->options.norm == ULNA_REACH_NORM_LARGEST;
    for (int i = 0; i < chain->n; i++) {
        const int dof = ulna_serial_dofs(chain->serial)[i];
        chain->norm.weight[i] = weight[dof] / unit[dof];
    }
    for (int master = 0; master < reach->nv; master++) {
        int count, first = ULNA_NONE;
        const ulna_coupling *coupling = ulna_model_couplings(reach->model, &count);
        for (int k = 0; k < count && find_joint(chain, master) == ULNA_NONE && first == ULNA_NONE; k++) {
            if (coupling[k].master == master)
                first = find_joint(chain, coupling[k].dof);
            if (first == ULNA_NONE)
                continue;
            const double more = weight[master] / unit[master] / fabs(coupling[k].multiplier);
            double *own = &chain->norm.weight[first];
            *own = chain->norm.is_largest ? fmax(*own, more) : hypot(*own, more);
        }
    }
}

static void set_costs(ulna_chain *chain)
{
    const ulna_reach *reach = chain->reach;
    const int *dof = ulna_serial_dofs(chain->serial);
    chain->search = chain->norm;
    for (int i = 0; i < chain->n; i++) {
        double cost = 1 / reach->strength[dof[i]];
        chain->search.weight[i] *= reach->strongest;
        chain->is_weighted |= reach->strength[dof[i]] != reach->strength[dof[0]];
        for (int k = 0; k < SOFTENED; k++, cost = sqrt(cost))
            chain->cost[k].weight[i] = cost / reach->unit[dof[i]];
    }
}

ulna_status ulna_chain_create(const ulna_reach *reach, ulna_chain **result, ulna_error *error)
{
    ulna_serial_aim aim;
    ulna_serial *serial;
    *result = NULL;
    if (reach->tip_count != 1 || reach->posture || reach->options.constraint_count > 0 ||
        !find_aim(&reach->tip[0], &aim))
        return ULNA_OK;
    ulna_status status = ulna_serial_create(reach->model, reach->tip[0].given.relative_to, reach->tip[0].given.body,
                                            reach->lower, reach->upper, &reach->allocator, &serial, error);
    if (status == ULNA_ERR_UNSUPPORTED)
        return ULNA_OK;
    if (status != ULNA_OK)
        return status;
    ulna_chain *chain = is_locked(reach, serial) ? NULL : ulna_allocate(&reach->allocator, 1, sizeof *chain);
    if (!chain) {
        status = is_locked(reach, serial) ? ULNA_OK : ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a serial chain");
        ulna_serial_destroy(serial);
        return status;
    }
    *chain =
        (ulna_chain){.allocator = reach->allocator, .reach = reach, .serial = serial, .n = ulna_serial_count(serial)};
    set_tip(chain, &reach->tip[0], aim);
    set_norm(chain);
    set_costs(chain);
    *result = chain;
    return ULNA_OK;
}

void ulna_chain_destroy(ulna_chain *chain)
{
    if (!chain)
        return;
    const ulna_allocator allocator = chain->allocator;
    ulna_serial_destroy(chain->serial);
    ulna_release(&allocator, chain, 1, sizeof *chain);
}

size_t ulna_chain_scratch(const ulna_chain *chain)
{
    (void)chain;
    return sizeof(scratch);
}

/* ---- there and back --------------------------------------------------------------------------------------------------------- */

/* A goal of the tip as one of its body. */
static void set_goal(const ulna_chain *chain, const ulna_target *target, ulna_serial_goal *goal)
{
    *goal = chain->goal;
    ulna_copy3(target->position, goal->position);
    ulna_multiply9(target->rotation, chain->body_rotation, goal->rotation);
}

static void gather(const ulna_chain *chain, const double *q, double *x)
{
    const int *coordinate = ulna_serial_coordinates(chain->serial);
    for (int i = 0; i < chain->n; i++)
        x[i] = q[coordinate[i]];
}

static int differs(const ulna_chain *chain, const double *q, const double *x)
{
    const int *coordinate = ulna_serial_coordinates(chain->serial);
    for (int i = 0; i < chain->n; i++)
        if (q[coordinate[i]] != x[i])
            return 1;
    return 0;
}

/* Masters of coupled joints of the chain that are not on it themselves. */
static void move_masters(const ulna_chain *chain, const double *x, double *q)
{
    const ulna_reach *reach = chain->reach;
    int count;
    const ulna_coupling *coupling = ulna_model_couplings(reach->model, &count);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < chain->n; i++)
            if (ulna_serial_dofs(chain->serial)[i] == coupling[k].dof) {
                const int master = coupling[k].master;
                const double value = (x[i] - coupling[k].offset) / coupling[k].multiplier;
                q[reach->model->dof_coordinate[master]] = fmin(fmax(value, reach->lower[master]), reach->upper[master]);
            }
}

/* All coordinates: those of the chain from x, the others from the seed. */
static void scatter(const ulna_chain *chain, const double *seed, const double *x, double *q)
{
    const int *coordinate = ulna_serial_coordinates(chain->serial);
    if (q != seed)
        memcpy(q, seed, (size_t)chain->reach->nq * sizeof *q);
    for (int i = 0; i < chain->n; i++)
        q[coordinate[i]] = x[i];
    if (chain->reach->model->nc == 0)
        return;
    move_masters(chain, x, q);
    ulna_reach_clamp(chain->reach, chain->reach->lower, chain->reach->upper, q);
}

/* Masters are seldom on the chain themselves, and have limits, too. */
static int masters_are_outside(const ulna_chain *chain, const ulna_reach_query *query, const double *q)
{
    const ulna_model *model = chain->reach->model;
    for (int k = 0; k < model->nc; k++) {
        const int master = model->coupling[k].master, c = model->dof_coordinate[master];
        if (q[c] < query->lower[master] || q[c] > query->upper[master])
            return 1;
    }
    return 0;
}

static int has_jumped(const ulna_chain *chain, const double *seed, const double *x)
{
    const ulna_reach *reach = chain->reach;
    const int *dof = ulna_serial_dofs(chain->serial);
    for (int i = 0; i < chain->n; i++) {
        const double way = x[i] - seed[i], jump = reach->options.jump;
        if (fabs(way) > jump && !ulna_segment_is_translation(reach->model->dof_segment[dof[i]]) &&
            fabs(ulna_nearest_turn(way, 0)) > jump)
            return 1;
    }
    return 0;
}

static void measure(const ulna_chain *chain, const ulna_serial_goal *goal, const double *x, ulna_serial_result *solved)
{
    ulna_serial_error(chain->serial, goal, x, &solved->position_error, &solved->rotation_error);
}

/*
 * The answer from x, whose errors are those of a forward pass at x. Joints that follow others may be rounded in q: then they are measured
 * again. `reached` is what these errors, the limits and the mimics say.
 */
static void answer(const ulna_chain *chain, const ulna_serial_goal *goal, ulna_serial_result *solved,
                   const double *from, const double *seed, double *x, double *q, ulna_reach_result *result)
{
    const ulna_reach *reach = chain->reach;
    scatter(chain, from, x, q);
    if (reach->model->nc > 0 && differs(chain, q, x)) {
        gather(chain, q, x);
        measure(chain, goal, x, solved);
    }
    *result = (ulna_reach_result){
        .position_error = solved->position_error,
        .rotation_error = solved->rotation_error,
        .iterations = solved->iterations,
    };
    result->restarts = solved->starts > 0 ? solved->starts - 1 : 0;
    result->reached = ulna_reach_allows(reach, q, &result->at_limits) &&
                      solved->position_error <= goal->position_tolerance &&
                      solved->rotation_error <= goal->rotation_tolerance;
    result->distance = ulna_serial_distance(chain->serial, &chain->norm, x, seed);
    result->jumped = has_jumped(chain, seed, x);
}

/* Joints of the chain alone. */
static int is_inside(const ulna_chain *chain, const ulna_reach_query *query, const double *x)
{
    const int *dof = ulna_serial_dofs(chain->serial);
    for (int i = 0; i < chain->n; i++)
        if (x[i] < query->lower[dof[i]] || x[i] > query->upper[dof[i]])
            return 0;
    return 1;
}

/* Out of reach: the closest configuration, if all axes that count have the same weight. */
static int find_closest(const ulna_chain *chain, const ulna_serial_goal *goal, const double *seed, double *x,
                        ulna_serial_result *solved)
{
    const ulna_tip *tip = &chain->reach->tip[0];
    double position = 0, rotation = 0;
    if (!tip->equal_positions || !tip->equal_rotations)
        return 0;
    for (int k = 0; k < 3; k++) {
        position = fmax(position, tip->given.weight[k]);
        rotation = fmax(rotation, tip->given.weight[3 + k]);
    }
    const int both = position > 0 && rotation > 0;
    const ulna_serial_result closest = ulna_serial_solve_closest(
        chain->serial, goal, seed, both ? tip->length * sqrt(rotation / position) : tip->length, x);
    solved->reached = closest.reached;
    solved->starts += closest.starts;
    solved->iterations += closest.iterations;
    measure(chain, goal, x, solved);
    return 1;
}

/* Slides a solution to where weak joints move less. */
static void spare_weak(const ulna_chain *chain, const ulna_reach_query *query, const ulna_serial_goal *goal,
                       const double *seed, double *x, ulna_serial_result *solved)
{
    const int may_jump = has_jumped(chain, seed, x);
    for (int k = 0; k < SOFTENED; k++) {
        double slid[ULNA_SERIAL_MAX];
        const ulna_serial_result found = ulna_serial_solve_from(chain->serial, goal, x, seed, &chain->cost[k], slid);
        solved->starts += found.starts;
        solved->iterations += found.iterations;
        if (!found.reached || !is_inside(chain, query, slid) || (!may_jump && has_jumped(chain, seed, slid)))
            continue;
        if (ulna_serial_distance(chain->serial, &chain->cost[0], slid, seed) <
            ulna_serial_distance(chain->serial, &chain->cost[0], x, seed)) {
            memcpy(x, slid, (size_t)chain->n * sizeof *x);
            measure(chain, goal, x, solved);
        }
        return;
    }
}

/* ---- calls -------------------------------------------------------------------------------------------------------------------- */

/* Any solution will do, but not if weak joints are to move less. */
static int is_by_distance(const ulna_chain *chain, const ulna_reach_query *query)
{
    return query->mode == ULNA_REACH_NEAREST || (query->mode == ULNA_REACH_ANY && chain->is_weighted);
}

int ulna_chain_solve(const ulna_chain *chain, void *memory, const ulna_reach_query *query, double *q,
                     ulna_reach_result *result)
{
    (void)memory;
    ulna_serial_goal goal;
    ulna_serial_result solved;
    double seed[ULNA_SERIAL_MAX], x[ULNA_SERIAL_MAX];
    set_goal(chain, query->target, &goal);
    gather(chain, query->seed, seed);
    if (is_by_distance(chain, query)) {
        solved = ulna_serial_solve_nearest(chain->serial, &goal, seed, &chain->search, ULNA_SERIAL_THOROUGH, x);
        if (solved.reached)
            measure(chain, &goal, x, &solved);
    } else if (query->mode == ULNA_REACH_NEAR) {
        solved = ulna_serial_solve_near(chain->serial, &goal, seed, x);
    } else {
        solved = ulna_serial_solve_any(chain->serial, &goal, seed, x);
    }
    if (chain->is_weighted && solved.reached && query->mode == ULNA_REACH_NEAR)
        spare_weak(chain, query, &goal, seed, x, &solved);
    if (query->is_narrow && !(solved.reached && is_inside(chain, query, x)))
        return 0;
    if (!solved.reached && !find_closest(chain, &goal, seed, x, &solved))
        return 0;
    answer(chain, &goal, &solved, query->seed, seed, x, q, result);
    return (result->reached || !solved.reached) && !(query->is_narrow && masters_are_outside(chain, query, q));
}

void ulna_chain_solve_many(const ulna_chain *chain, void *memory, const ulna_reach_query *query, int count, double *q,
                           ulna_reach_result *results, unsigned char *served)
{
    scratch *s = memory;
    const int nq = chain->reach->nq, n = chain->n;
    for (int i = 0; i < count && is_by_distance(chain, query); i++) { /* one at a time: each fills the lanes */
        ulna_reach_query single = *query;
        single.target += i;
        single.seed += (size_t)i * (size_t)nq;
        served[i] = (unsigned char)ulna_chain_solve(chain, memory, &single, q + (size_t)i * (size_t)nq, &results[i]);
    }
    if (is_by_distance(chain, query))
        return;
    for (int first = 0; first < count; first += BLOCK) {
        const int size = count - first < BLOCK ? count - first : BLOCK;
        for (int i = 0; i < size; i++) {
            set_goal(chain, &query->target[first + i], &s->goal[i]);
            gather(chain, query->seed + (size_t)(first + i) * (size_t)nq, s->seed + i * n);
        }
        ulna_serial_solve_many(chain->serial, query->mode == ULNA_REACH_NEAR, size, s->goal, s->seed, s->q, s->result);
        for (int i = 0; i < size; i++) {
            const size_t at = (size_t)(first + i) * (size_t)nq;
            served[first + i] = s->result[i].reached != 0;
            if (!s->result[i].reached)
                continue;
            if (chain->is_weighted)
                spare_weak(chain, query, &s->goal[i], s->seed + i * n, s->q + i * n, &s->result[i]);
            answer(chain, &s->goal[i], &s->result[i], query->seed + at, s->seed + i * n, s->q + i * n, q + at,
                   &results[first + i]);
            served[first + i] = results[first + i].reached != 0;
        }
    }
}

int ulna_chain_all(const ulna_chain *chain, void *memory, const ulna_reach_query *query, int capacity, double *q,
                   ulna_reach_result *results, int *count)
{
    (void)memory;
    ulna_serial_goal goal;
    double seed[ULNA_SERIAL_MAX], x[ULNA_SERIAL_ALL][ULNA_SERIAL_MAX];
    set_goal(chain, query->target, &goal);
    gather(chain, query->seed, seed);
    ulna_serial_result solved;
    const int found = ulna_serial_solve_all(chain->serial, &goal, seed, &chain->search,
                                            capacity < ULNA_SERIAL_ALL ? capacity : ULNA_SERIAL_ALL, x, &solved);
    *count = 0;
    for (int k = 0; k < found; k++) {
        measure(chain, &goal, x[k], &solved);
        answer(chain, &goal, &solved, query->seed, seed, x[k], q + (size_t)*count * (size_t)chain->reach->nq,
               &results[*count]);
        *count += results[*count].reached;
    }
    return *count > 0;
}
