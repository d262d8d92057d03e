/*
 * Any solution, and the one near a seed.
 *
 * Any: candidates of the small table, then of the large one, then low-discrepancy samples of all joints, in turns inside
 * the limits and without them: a solution without limits may be inside them after whole turns, and limits alone left a few
 * goals in ten thousand unsolved. The first candidate that is inside the limits wins.
 *
 * Near: from the seed with more damping, so that the iteration does not leave the neighbourhood; then from points around
 * the seed, and only then from anywhere.
 *
 * Dampings, counts and radii were found on a KUKA KR6 and iiwa7, a Franka Panda and a UR5, and confirmed on others: see
 * docs/reach.md.
 */
#include "math/math3.h"
#include "reach/serial_kernel.h"

#include <math.h>
#include <string.h>

enum {
    ITERATIONS = 12,    /* from a table's candidate, or from the seed */
    FIRST_SAMPLES = 32, /* low-discrepancy samples with twice as many iterations; later ones have five times as many */
    ROUNDS = 400,       /* of one vector of candidates */
    NEAR_ROUNDS = 8,    /* around the seed */
};

/* Solutions with some joint farther from the seed are not near: radians, or lengths of the chain. */
#define NEAR 1.0

/* ---- starting points ------------------------------------------------------------------------------------------------ */

void ulna_serial_lanes_set(const ulna_serial *chain, const ulna_serial_kernel *kernel, const ulna_serial_target *target,
                           ulna_serial_lanes *state)
{
    kernel->aim(chain, target, state);
    state->kernel = kernel;
    state->lower = chain->clamp_lower;
    state->upper = chain->clamp_upper;
    state->goal = target;
    state->is_shared = 0;
}

static void set_damping(ulna_serial_lanes *state, double damping)
{
    for (int l = 0; l < ULNA_SERIAL_LANES; l++)
        state->damping[l] = damping;
}

static double clamped(const ulna_serial *chain, int i, double x)
{
    return ulna_serial_clamp(x, chain->clamp_lower[i], chain->clamp_upper[i]);
}

void ulna_serial_scale_seed(const ulna_serial *chain, const double *seed, double *scaled)
{
    for (int i = 0; i < chain->n; i++)
        scaled[i] = chain->free[i] ? ulna_serial_unturn(seed[i], 0) : clamped(chain, i, seed[i] / chain->unit[i]);
}

static double sequence(const ulna_serial *chain, int i, int k)
{
    const double u = 0.5 + chain->stride[i] * k;
    return u - floor(u);
}

void ulna_serial_begin_anywhere(const ulna_serial *chain, int first, ulna_serial_lanes *state)
{
    for (int i = 0; i < chain->n; i++)
        for (int l = 0; l < chain->kernel->lanes; l++)
            state->q[i][l] = chain->sample_lower[i] + sequence(chain, i, first + l) * chain->sample_range[i];
}

/* Samples of a cube around the seed. */
static void begin_around(const ulna_serial *chain, const double *scaled, double radius, int first,
                         ulna_serial_lanes *state)
{
    for (int i = 0; i < chain->n; i++)
        for (int l = 0; l < chain->kernel->lanes; l++)
            state->q[i][l] = clamped(chain, i, scaled[i] + radius * (2 * sequence(chain, i, first + l) - 1));
}

void ulna_serial_find_samples(const ulna_serial *chain, const ulna_serial_table *table,
                              const ulna_serial_target *target, int *sample)
{
    float score[ULNA_SERIAL_BEST];
    int found[ULNA_SERIAL_BEST], rank[ULNA_SERIAL_BEST] = {0};
    chain->kernel->scan(chain, table, target, score, found);
    /* Each goes to its rank: no branches, and in vectors over k. */
    for (int i = 0; i < ULNA_SERIAL_BEST; i++)
        for (int k = 0; k < ULNA_SERIAL_BEST; k++)
            rank[k] += (score[i] > score[k]) | ((score[i] == score[k]) & (i < k));
    for (int k = 0; k < ULNA_SERIAL_BEST; k++)
        sample[rank[k]] = found[k];
}

/* ---- any -------------------------------------------------------------------------------------------------------------- */

/* Iterates until a lane has a solution inside the limits. */
static int first_solution(const ulna_serial *chain, ulna_serial_lanes *state, int iterations, const double *seed,
                          double *q, ulna_serial_result *result)
{
    state->stop_at_first = 1;
    result->starts++;
    for (int k = 0; k < iterations; k++) {
        chain->kernel->step(chain, state);
        result->iterations++;
        const unsigned done = state->converged | state->certified;
        for (int l = 0; done >> l; l++)
            if (done >> l & 1 && ulna_serial_accept(chain, state, l, seed, q))
                return 1;
        if (state->converged)
            state->stop_at_first = 0; /* that one is outside: the others go on */
    }
    return 0;
}

static int solve_from_tables(const ulna_serial *chain, const ulna_serial_target *target, ulna_serial_lanes *state,
                             const double *seed, double *q, ulna_serial_result *result)
{
    set_damping(state, ULNA_SERIAL_DAMPING_ANY);
    for (int t = ULNA_SERIAL_SMALL; t <= ULNA_SERIAL_LARGE; t++) {
        const ulna_serial_table *table = &chain->table[t];
        int sample[ULNA_SERIAL_BEST];
        ulna_serial_find_samples(chain, table, target, sample);
        for (int first = 0; first < ULNA_SERIAL_BEST; first += chain->kernel->lanes) {
            chain->kernel->begin(chain, table, target, sample + first, state);
            if (first_solution(chain, state, ITERATIONS, seed, q, result))
                return 1;
        }
    }
    return 0;
}

/* Rounds in turns: with limits and little damping, without limits, with limits and much damping, without limits. */
static int solve_from_anywhere(const ulna_serial *chain, ulna_serial_lanes *state, const double *seed, double *q,
                               ulna_serial_result *result)
{
    for (int round = 0, sample = 1; round < ROUNDS; round++, sample += chain->kernel->lanes) {
        const int limited = round % 2 == 0;
        set_damping(state, !limited ? ULNA_SERIAL_DAMPING_ANY : round % 4 ? 1.0 : 0.02);
        state->lower = limited ? chain->clamp_lower : chain->no_lower;
        state->upper = limited ? chain->clamp_upper : chain->no_upper;
        ulna_serial_begin_anywhere(chain, sample, state);
        if (first_solution(chain, state, (sample <= FIRST_SAMPLES ? 2 : 5) * ITERATIONS, seed, q, result))
            return 1;
    }
    return 0;
}

/* Beyond the chain's length: no joint is farther from the last frame than `reach`. */
static int is_too_far(const ulna_serial *chain, const ulna_serial_target *target)
{
    return target->aim != ULNA_SERIAL_ORIENTATION &&
           ulna_norm(target->column[3]) > chain->reach + ulna_norm(target->point) + sqrt(2 * target->met_position) * 2;
}

static int solve_any(const ulna_serial *chain, const ulna_serial_target *target, ulna_serial_lanes *state,
                     const double *seed, double *q, ulna_serial_result *result)
{
    if (is_too_far(chain, target))
        return 0;
    return (target->uses_table && solve_from_tables(chain, target, state, seed, q, result)) ||
           solve_from_anywhere(chain, state, seed, q, result);
}

/* The errors of a solution; without one, q is the seed. */
static void finish(const ulna_serial *chain, ulna_serial_lanes *state, const double *seed, double *q,
                   ulna_serial_result *result)
{
    if (result->reached) {
        ulna_serial_set_lane(chain, q, 0, state);
        ulna_serial_measure(chain, state, 1, &result->position_error, &result->rotation_error);
        return;
    }
    for (int i = 0; i < chain->n; i++)
        q[i] = ulna_serial_clamp(seed[i], chain->lower[i], chain->upper[i]);
}

ulna_serial_result ulna_serial_solve_any(const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                                         double *q)
{
    ulna_serial_result result = {0};
    ulna_serial_target target;
    ulna_serial_lanes state;
    ulna_serial_target_set(chain, goal, &target);
    ulna_serial_lanes_set(chain, chain->kernel, &target, &state);
    result.reached = solve_any(chain, &target, &state, seed, q, &result);
    finish(chain, &state, seed, q, &result);
    return result;
}

/* ---- near --------------------------------------------------------------------------------------------------------------- */

static double largest_difference(const ulna_serial *chain, const double *a, const double *b)
{
    double largest = 0;
    for (int i = 0; i < chain->n; i++)
        largest = fmax(largest, fabs(a[i] - b[i]) / chain->unit[i]);
    return largest;
}

/* From points around the seed: the solution nearest to it, if that is near. */
static int solve_around(const ulna_serial *chain, ulna_serial_lanes *state, const double *scaled, const double *seed,
                        double *q, ulna_serial_result *result)
{
    const unsigned all = (1u << chain->kernel->lanes) - 1;
    double best = NEAR;
    for (int round = 0; round < NEAR_ROUNDS; round++) {
        set_damping(state, round % 2 ? ULNA_SERIAL_DAMPING_ANY : ULNA_SERIAL_DAMPING_NEAR);
        begin_around(chain, scaled, 0.15 * (1 + round % 4), 1 + round * chain->kernel->lanes, state);
        result->starts++;
        unsigned done = 0;
        for (int k = 0; k < (round < 2 ? 16 : 40) && done != all && !(k > 8 && best < NEAR); k++) {
            chain->kernel->step(chain, state);
            result->iterations++;
            const unsigned new = (state->converged | state->certified) & ~done;
            done |= new;
            for (int l = 0; new >> l; l++) {
                double found[ULNA_SERIAL_MAX];
                if (!(new >> l & 1) || !ulna_serial_accept(chain, state, l, seed, found))
                    continue;
                const double distance = largest_difference(chain, found, seed);
                if (distance < best) {
                    best = distance;
                    memcpy(q, found, (size_t)chain->n * sizeof *q);
                }
            }
        }
        if (best < NEAR)
            return 1;
    }
    return 0;
}

ulna_serial_result ulna_serial_solve_near(const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                                          double *q)
{
    ulna_serial_result result = {0};
    ulna_serial_target target;
    ulna_serial_lanes state;
    double scaled[ULNA_SERIAL_MAX] = {0};
    ulna_serial_target_set(chain, goal, &target);
    ulna_serial_lanes_set(chain, chain->kernel, &target, &state);
    ulna_serial_scale_seed(chain, seed, scaled);
    for (int i = 0; i < chain->n; i++)
        for (int l = 0; l < chain->kernel->lanes; l++)
            state.q[i][l] = scaled[i];
    set_damping(&state, ULNA_SERIAL_DAMPING_NEAR);
    result.reached = first_solution(chain, &state, ITERATIONS, seed, q, &result);
    if (!result.reached) {
        state.stop_at_first = 0;
        result.reached = solve_around(chain, &state, scaled, seed, q, &result) ||
                         solve_any(chain, &target, &state, seed, q, &result);
    }
    finish(chain, &state, seed, q, &result);
    return result;
}
