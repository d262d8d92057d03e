/*
 * Many goals at once, one in each lane of a vector. A lane that is done takes the next goal; goals that do not converge from their
 * seed or from the first candidates of the table are solved alone, as serial_solve.c does. Errors of solutions are measured in lanes too.
 */
#include "math/math3.h"
#include "reach/serial_kernel.h"

#include <string.h>

enum { ITERATIONS = 12, CANDIDATES = ULNA_SERIAL_LANES };

/* What a lane works on. */
typedef struct slot {
    int problem; /* ULNA_NONE: nothing */
    int iterations, candidate, candidates;
    double start[CANDIDATES][ULNA_SERIAL_MAX];
} slot;

typedef struct batch {
    const ulna_serial *chain;
    int is_near, count, next;
    const ulna_serial_goal *goals;
    const double *seeds;
    double *q;
    ulna_serial_result *results;
    ulna_serial_lanes state;
    ulna_serial_target target; /* aim, point, axis and tolerances of all */
    slot slot[ULNA_SERIAL_LANES];
    ulna_serial_lanes solved; /* solutions whose errors are not measured yet */
    int solved_count, solved_problem[ULNA_SERIAL_LANES];
} batch;

static void start_candidate(batch *b, int lane)
{
    slot *s = &b->slot[lane];
    s->iterations = 0;
    for (int i = 0; i < b->chain->n; i++)
        b->state.q[i][lane] = s->start[s->candidate][i];
}

/* The first candidates of the small table. */
static int find_candidates(const ulna_serial *chain, const ulna_serial_target *target, slot *s)
{
    int sample[ULNA_SERIAL_BEST];
    ulna_serial_lanes found;
    ulna_serial_find_samples(chain, &chain->table[ULNA_SERIAL_SMALL], target, sample);
    ulna_serial_lanes_set(chain, chain->wide, target, &found);
    chain->wide->begin(chain, &chain->table[ULNA_SERIAL_SMALL], target, sample, &found);
    for (int l = 0; l < chain->wide->lanes; l++)
        for (int i = 0; i < chain->n; i++)
            s->start[l][i] = found.q[i][l];
    return chain->wide->lanes;
}

/* The next goal into a lane; 0 if there is none left. */
static int take_problem(batch *b, int lane)
{
    slot *s = &b->slot[lane];
    s->problem = ULNA_NONE;
    if (b->next == b->count)
        return 0;
    s->problem = b->next++;
    s->candidate = 0;
    const double *seed = b->seeds + (size_t)s->problem * (size_t)b->chain->n;
    ulna_serial_target_move(b->chain, &b->goals[s->problem], &b->target);
    for (int k = 0; k < 12; k++)
        b->state.target[k][lane] = b->target.column[k / 3][k % 3];
    if (!b->is_near && b->target.uses_table) {
        s->candidates = find_candidates(b->chain, &b->target, s);
    } else {
        s->candidates = 1;
        ulna_serial_scale_seed(b->chain, seed, s->start[0]);
    }
    start_candidate(b, lane);
    return 1;
}

static void measure_solved(batch *b)
{
    double position[ULNA_SERIAL_LANES], rotation[ULNA_SERIAL_LANES];
    ulna_serial_measure(b->chain, &b->solved, b->solved_count, position, rotation);
    for (int i = 0; i < b->solved_count; i++) {
        b->results[b->solved_problem[i]].position_error = position[i];
        b->results[b->solved_problem[i]].rotation_error = rotation[i];
    }
    b->solved_count = 0;
}

/* Keeps the solution of a lane's problem until all lanes are full. */
static void add_solved(batch *b, int lane, const double *q)
{
    const int to = b->solved_count++;
    b->solved_problem[to] = b->slot[lane].problem;
    ulna_serial_set_lane(b->chain, q, to, &b->solved);
    for (int k = 0; k < 12; k++)
        b->solved.target[k][to] = b->state.target[k][lane];
    if (b->solved_count == b->chain->wide->lanes)
        measure_solved(b);
}

/* After a step: 1 if the lane's problem has been dealt with. */
static int look_at(batch *b, int lane)
{
    slot *s = &b->slot[lane];
    const size_t at = (size_t)s->problem * (size_t)b->chain->n;
    ulna_serial_result *result = &b->results[s->problem];
    const int done = (b->state.converged | b->state.certified) >> lane & 1;
    s->iterations++;
    if (done && ulna_serial_accept(b->chain, &b->state, lane, b->seeds + at, b->q + at)) {
        *result = (ulna_serial_result){
            .reached = 1, .starts = s->candidate + 1, .iterations = s->candidate * ITERATIONS + s->iterations};
        add_solved(b, lane, b->q + at);
        return 1;
    }
    if (!done && s->iterations < ITERATIONS)
        return 0;
    if (++s->candidate < s->candidates) {
        start_candidate(b, lane);
        return 0;
    }
    const ulna_serial_goal *goal = &b->goals[s->problem];
    *result = b->is_near ? ulna_serial_solve_near(b->chain, goal, b->seeds + at, b->q + at)
                         : ulna_serial_solve_any(b->chain, goal, b->seeds + at, b->q + at);
    return 1;
}

void ulna_serial_solve_many(const ulna_serial *chain, int is_near, int count, const ulna_serial_goal *goals,
                            const double *seeds, double *q, ulna_serial_result *results)
{
    if (count < 1)
        return;
    batch b = {.chain = chain, .is_near = is_near, .count = count, .goals = goals, .seeds = seeds, .results = results};
    b.q = q;
    ulna_serial_target_set(chain, &goals[0], &b.target);
    ulna_serial_lanes_set(chain, chain->wide, &b.target, &b.state);
    for (int l = 0; l < ULNA_SERIAL_LANES; l++)
        b.state.damping[l] = is_near ? ULNA_SERIAL_DAMPING_NEAR : ULNA_SERIAL_DAMPING_ANY;
    b.state.is_shared = 1;
    ulna_serial_lanes_set(chain, chain->wide, &b.target, &b.solved);
    const int lanes = chain->wide->lanes;
    int busy = 0;
    for (int l = 0; l < lanes; l++)
        busy += take_problem(&b, l);
    while (busy > 0) {
        chain->wide->step(chain, &b.state);
        for (int l = 0; l < lanes; l++)
            if (b.slot[l].problem != ULNA_NONE && look_at(&b, l))
                busy -= !take_problem(&b, l);
    }
    measure_solved(&b);
}
