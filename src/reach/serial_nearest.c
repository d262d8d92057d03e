/*
 * The solution nearest to a seed, and all solutions.
 *
 * 1. From the seed: slide along the solutions towards it (serial_slide.inc). What is found near the seed is taken.
 * 2. The table of cells gives candidates from all over the joint space.
 * 3. A chain that has one joint more than the goal has rows: its solutions form curves, which candidates lead to (serial_curves.c).
 *    Others: candidates converge plainly, and solutions inside the limits are collected, nearest first; from the nearest of them
 *    a redundant chain slides.
 *
 * A slide keeps its best point that met the goal, not its last one: at corners of the limits it may go away again.
 */
#include "math/math3.h"
#include "reach/serial_search.h"

#include <math.h>
#include <string.h>

enum {
    CELLS = ULNA_SERIAL_CELLS_FOUND,
    ITERATIONS = 25, /* of a candidate */
    LOOK_AFTER = 10, /* iterations after which a candidate must be close to the goal */
    SLIDES = 8,      /* nearest solutions from which to slide */
    SPINS = 8,       /* angles of a free spin at which candidates are looked up */
    PATIENCE = 4,    /* steps after which a slide must be inside the limits */
    ALL_ROUNDS = 4,  /* of CELLS starts, if all solutions are asked for; fewer if one finds nothing new */
};

#define DAMPING 0.3         /* of slides and candidates */
#define CLOSE 1e-3          /* cost of a candidate that goes on */
#define ENOUGH 0.6          /* a solution found from the seed and nearer than this is taken for the nearest, rad */
#define SAME 0.1            /* solutions that differ by less in all joints are one */
#define SLIDE_CAP 0.4       /* rad */
#define SLIDE_STOP 2e-4     /* rad */
#define SLIDE_AHEAD 3       /* a slide gets no farther than this many times its next step */
#define SLIDE_FAR 0.6       /* nor by more than this, rad, as long as it has not met the goal */
#define BESIDE 0.07         /* from the seed to where other lanes start, rad */
#define DISTANCE_SCORE 0.02 /* candidates: score lost per squared distance of the inner joints from the seed */

/* Iterations of a slide, and how many of them before the cap shrinks: on surfaces, along curves. */
static const struct {
    int all, full;
} slide_steps[2] = {{50, 20}, {25, 8}};

/* How curves are followed: candidates that lead to them, and the step, rad. */
static const struct {
    int candidates;
    double step;
} efforts[] = {
    [ULNA_SERIAL_QUICK] = {24, 0.6},
    [ULNA_SERIAL_THOROUGH] = {32, 0.5},
    [ULNA_SERIAL_FINE] = {32, 0.15},
};

typedef ulna_serial_search search;
typedef ulna_serial_found found;

double ulna_serial_distance(const ulna_serial *chain, const ulna_serial_norm *norm, const double *a, const double *b)
{
    double sum = 0, largest = 0;
    for (int i = 0; i < chain->n; i++) {
        const double way = (norm ? norm->weight[i] : 1) * fabs(a[i] - b[i]);
        sum += way * way;
        largest = way > largest ? way : largest;
    }
    return norm && norm->is_largest ? largest : sqrt(sum);
}

static void keep_best(search *s, const double *q)
{
    const double distance = ulna_serial_distance(s->chain, s->norm, q, s->seed);
    if (distance < s->best) {
        s->best = distance;
        memcpy(s->q, q, (size_t)s->chain->n * sizeof *q);
    }
}

static void set_lanes(search *s, const ulna_serial_kernel *kernel)
{
    ulna_serial_lanes_set(s->chain, kernel, &s->target, &s->state);
    s->state.stop_at_first = 0;
    for (int l = 0; l < ULNA_SERIAL_LANES; l++)
        s->state.damping[l] = DAMPING;
}

/* Rows of a goal that the chain can change. */
static int rows_of(const ulna_serial *chain, const ulna_serial_target *target)
{
    static const int rows[] = {6, 5, 3, 3};
    return target->aim == ULNA_SERIAL_POSE ? chain->rank : rows[target->aim];
}

static int is_redundant(const ulna_serial *chain, const ulna_serial_target *target)
{
    return chain->freedoms > rows_of(chain, target) - (target->folded_spin ? 1 : 0);
}

/* The solutions form curves. If the goal leaves the last joint alone, that joint is one: it has no need to be followed. */
static int follows_curves(const search *s)
{
    return s->slide.is_single && !s->target.folded_spin;
}

static void begin_search(search *s, const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                         const ulna_serial_norm *norm, double *q)
{
    s->chain = chain, s->goal = goal, s->norm = norm, s->seed = seed, s->q = q, s->best = INFINITY;
    s->result = (ulna_serial_result){0};
    ulna_serial_target_set(chain, goal, &s->target);
    s->pace = 0;
    s->slide.stop_below = SLIDE_STOP;
    memset(s->slide.direction, 0, sizeof s->slide.direction); /* of padding, too, which does not move */
    for (int i = 0; i < ULNA_SERIAL_MAX; i++) {
        const int used = i < chain->n;
        const double weight = used && norm ? fmax(norm->weight[i], 1e-3) * chain->unit[i] : used ? chain->unit[i] : 1;
        s->slide.seed[i] = used ? seed[i] / chain->unit[i] : 0;
        s->slide.weight[i] = s->slide.share[i] = weight * weight;
        s->pace = fmax(s->pace, weight);
        s->slide.lower[i] = used ? chain->lower[i] / chain->unit[i] : 0;
        s->slide.upper[i] = used ? chain->upper[i] / chain->unit[i] : 0;
        s->slide.middle[i] = chain->free[i] ? s->slide.seed[i] : 0.5 * (s->slide.lower[i] + s->slide.upper[i]);
    }
    s->slide.is_largest = norm && norm->is_largest;
    s->slide.is_single = chain->freedoms == rows_of(chain, &s->target) + 1;
    for (int i = 0; i < chain->n; i++)
        if (chain->owner[i] != i)
            s->slide.weight[chain->owner[i]] += chain->ratio[i] * chain->ratio[i] * s->slide.weight[i];
}

/* ---- sliding ------------------------------------------------------------------------------------------------------------- */

static void set_lane(search *s, int lane, const double *q)
{
    for (int i = 0; i < s->chain->n; i++)
        s->state.q[i][lane] =
            ulna_serial_clamp(q[i] / s->chain->unit[i], s->chain->clamp_lower[i], s->chain->clamp_upper[i]);
}

/* After a step from `before`: keeps the best point of those that meet the goal. Returns the bits of lanes that have arrived, or cannot
 * become the best: they are too far away, or outside the limits and bound to stay there. */
static unsigned look_at(search *s, double (*before)[ULNA_SERIAL_LANES], int k)
{
    const unsigned met = s->state.converged, moving = s->slide.moving;
    unsigned done = k >= PATIENCE ? s->slide.stuck & ~met : 0;
    for (int l = 0; moving >> l; l++) {
        double q[ULNA_SERIAL_MAX];
        const int is_met = met >> l & 1;
        const double length = s->slide.length[l], most = s->best * (1 + 1e-9);
        if (!(moving >> l & 1))
            continue;
        if (is_met && s->slide.square[l] < most * most && ulna_serial_accept_at(s->chain, before, l, s->seed, q))
            keep_best(s, q);
        const double ahead = s->best + s->pace * (is_met ? SLIDE_AHEAD * length : SLIDE_FAR);
        done |= (unsigned)((is_met && length < SLIDE_STOP) || s->slide.square[l] > ahead * ahead) << l;
    }
    return done;
}

/* Slides in the lanes `moving`, and keeps the best point of all. */
static void slide_lanes(search *s, unsigned moving)
{
    s->slide.moving = moving;
    s->slide.cap = SLIDE_CAP;
    s->slide.stuck = 0;
    s->result.starts++;
    for (int i = 0; i < s->chain->n && s->slide.is_single; i++)
        for (int l = 0; l < ULNA_SERIAL_LANES; l++)
            s->slide.direction[i][l] = ulna_serial_direction[i % 2];
    for (int k = 0; k < slide_steps[s->slide.is_single].all && s->slide.moving; k++) {
        double before[ULNA_SERIAL_MAX][ULNA_SERIAL_LANES];
        memcpy(before, s->state.q, (size_t)s->chain->n * sizeof before[0]);
        if (k >= slide_steps[s->slide.is_single].full)
            s->slide.cap *= 0.6;
        s->state.kernel->slide(s->chain, &s->state, &s->slide);
        s->result.iterations++;
        s->slide.moving &= ~look_at(s, before, k);
    }
}

void ulna_serial_slide_from(search *s, double (*q)[ULNA_SERIAL_MAX], int count)
{
    const int lanes = s->state.kernel->lanes;
    for (int first = 0; first < count; first += lanes) {
        const int used = count - first < lanes ? count - first : lanes;
        for (int l = 0; l < lanes; l++)
            set_lane(s, l, q[first + (l < used ? l : 0)]);
        slide_lanes(s, (1u << used) - 1);
    }
}

/* What `start` leads to. The first lane slides from there, the others, which cost nothing, from beside it: near singular poses and
 * corners of the limits one of them may end at a nearer solution. */
static void solve_from(search *s, const double *start)
{
    const int lanes = s->chain->kernel->lanes;
    set_lanes(s, s->chain->kernel);
    for (int l = 0; l < lanes; l++) {
        double beside[ULNA_SERIAL_MAX];
        for (int i = 0; i < s->chain->n; i++)
            beside[i] = start[i] + (l == 0 ? 0 : i >> (l - 1) & 1 ? BESIDE : -BESIDE) * s->chain->unit[i];
        set_lane(s, l, beside);
    }
    if (is_redundant(s->chain, &s->target)) {
        slide_lanes(s, (1u << lanes) - 1);
        return;
    }
    s->result.starts++;
    for (int k = 0; k < ITERATIONS; k++) {
        double q[ULNA_SERIAL_MAX];
        s->chain->kernel->step(s->chain, &s->state);
        s->result.iterations++;
        if (!((s->state.converged | s->state.certified) & 1))
            continue;
        if (ulna_serial_accept(s->chain, &s->state, 0, s->seed, q))
            keep_best(s, q);
        return;
    }
}

/* What the seed leads to; 1 if that is so near that it is taken for the nearest: other solutions are farther away than ENOUGH by the
 * plain norm, as a rule, and so by any weights than ENOUGH times the least of them. Where curves are followed anyway, a slide that goes
 * farther away is given up. */
static int solve_from_seed(search *s)
{
    double least = s->norm ? INFINITY : 1;
    for (int i = 0; i < s->chain->n && s->norm; i++)
        least = fmin(least, s->norm->weight[i]);
    const double most = ENOUGH * s->pace;
    if (follows_curves(s))
        s->best = most;
    solve_from(s, s->seed);
    if (s->best == most)
        s->best = INFINITY;
    return s->best < ENOUGH * least && ulna_serial_distance(s->chain, NULL, s->q, s->seed) < ENOUGH;
}

/* ---- candidates ------------------------------------------------------------------------------------------------------------ */

static int is_same(const ulna_serial *chain, const double *a, const double *b)
{
    for (int i = 0; i < chain->n; i++)
        if (fabs(a[i] - b[i]) > SAME * chain->unit[i])
            return 0;
    return 1;
}

void ulna_serial_found_add(found *list, const double *q, double distance)
{
    if (!list->capacity || (list->count == list->capacity && list->distance[list->count - 1] <= distance))
        return;
    int at = list->count < list->capacity ? list->count++ : list->count - 1;
    for (; at > 0 && list->distance[at - 1] > distance; at--) {
        list->distance[at] = list->distance[at - 1];
        memcpy(list->q[at], list->q[at - 1], sizeof list->q[at]);
    }
    list->distance[at] = distance;
    memcpy(list->q[at], q, sizeof list->q[at]);
}

/* Puts q in its place unless it is there already. */
static void add_solution(const search *s, found *list, const double *q)
{
    for (int i = 0; i < list->count; i++)
        if (is_same(s->chain, list->q[i], q))
            return;
    ulna_serial_found_add(list, q, ulna_serial_distance(s->chain, s->norm, q, s->seed));
}

/* The low-discrepancy sequence over all joints, from number `first` on. */
static void sample_starts(const ulna_serial *chain, double (*start)[ULNA_SERIAL_MAX], int count, int first)
{
    for (int k = 0; k < count; k++)
        for (int i = 0; i < chain->n; i++) {
            const double u = 0.5 + chain->stride[i] * (first + k);
            start[k][i] = chain->sample_lower[i] + (u - floor(u)) * chain->sample_range[i];
        }
}

/* A sample of the table of cells as a candidate, for the pose at one angle of a free spin. */
typedef struct candidate {
    float score;
    int sample, spin;
} candidate;

/* The best sample of each cell for a pose, with scores that fall with the distance of the inner joints from the seed. */
static void score_cells(const search *s, const ulna_serial_target *pose, int spin, candidate *list)
{
    const ulna_serial *chain = s->chain;
    const ulna_serial_table *table = &chain->table[ULNA_SERIAL_CELLS];
    float score[CELLS];
    int sample[CELLS];
    chain->wide->scan(chain, table, pose, score, sample);
    for (int k = 0; k < CELLS; k++) {
        double sum = 0;
        for (int i = 1; i < chain->n - 1; i++) {
            const double way = (double)table->q[sample[k] * chain->n + i] - s->slide.seed[i];
            const double short_way = chain->free[i] ? ulna_serial_unturn(way, 0) : way;
            sum += short_way * short_way;
        }
        list[k] = (candidate){score[k] - (float)(DISTANCE_SCORE * sum), sample[k], spin};
    }
}

/* Puts candidates into a list of at most `capacity`, best first. */
static int merge_best(const candidate *from, candidate *list, int count, int capacity)
{
    for (int k = 0; k < CELLS; k++) {
        if (count == capacity && from[k].score <= list[count - 1].score)
            continue;
        int at = count < capacity ? count++ : count - 1;
        for (; at > 0 && list[at - 1].score < from[k].score; at--)
            list[at] = list[at - 1];
        list[at] = from[k];
    }
    return count;
}

/* The first and the last joint of the candidates of one spin in closed form. */
static void begin_candidates(const search *s, const ulna_serial_target *pose, int spin, const candidate *list,
                             int count, double (*start)[ULNA_SERIAL_MAX])
{
    const ulna_serial *chain = s->chain;
    const int most = chain->wide->lanes;
    int sample[ULNA_SERIAL_LANES], number[ULNA_SERIAL_LANES], size = 0;
    ulna_serial_lanes lanes;
    ulna_serial_lanes_set(chain, chain->wide, pose, &lanes);
    for (int k = 0; k <= count; k++) {
        if (k < count && list[k].spin == spin) {
            sample[size] = list[k].sample;
            number[size++] = k;
        }
        if (size < most && !(k == count && size > 0))
            continue;
        for (int l = size; l < most; l++)
            sample[l] = sample[0];
        chain->wide->begin(chain, &chain->table[ULNA_SERIAL_CELLS], pose, sample, &lanes);
        for (int l = 0; l < size; l++)
            for (int i = 0; i < chain->n; i++)
                start[number[l]][i] = lanes.q[i][l];
        size = 0;
    }
}

/* The poses that a goal with a free spin allows, at equal angles. */
static void spin_poses(const search *s, ulna_serial_target *poses)
{
    for (int k = 0; k < SPINS; k++) {
        ulna_serial_goal pose = *s->goal;
        double turn[9], vector[3];
        for (int r = 0; r < 3; r++)
            vector[r] = 2 * ULNA_PI * k / SPINS * s->goal->axis[r];
        ulna_exp(vector, turn);
        ulna_multiply9(s->goal->rotation, turn, pose.rotation);
        pose.aim = ULNA_SERIAL_POSE;
        ulna_serial_target_set(s->chain, &pose, &poses[k]);
    }
}

/* Starting points, the most promising first, from the table of cells or, without tables, from the low-discrepancy sequence. */
static void find_starts(const search *s, double (*start)[ULNA_SERIAL_MAX], int count)
{
    const int spins = s->target.aim == ULNA_SERIAL_SPIN && !s->target.folded_spin ? SPINS : 1;
    candidate cells[CELLS], best[CELLS];
    ulna_serial_target poses[SPINS];
    int found_count = 0;
    if (!s->target.uses_table && !(spins > 1 && s->chain->has_tables)) {
        sample_starts(s->chain, start, count, 1);
        return;
    }
    if (spins > 1)
        spin_poses(s, poses);
    else
        poses[0] = s->target;
    for (int k = 0; k < spins; k++) {
        score_cells(s, &poses[k], k, cells);
        found_count = merge_best(cells, best, found_count, count);
    }
    for (int k = 0; k < spins; k++)
        begin_candidates(s, &poses[k], k, best, count, start);
}

void ulna_serial_converge(search *s, double (*start)[ULNA_SERIAL_MAX], int count, int limited, ulna_serial_take take,
                          void *context)
{
    const ulna_serial *chain = s->chain;
    const int lanes = chain->wide->lanes;
    int next = 0, busy = 0, iterations[ULNA_SERIAL_LANES];
    unsigned active = 0;
    s->state.lower = limited ? chain->clamp_lower : chain->no_lower;
    s->state.upper = limited ? chain->clamp_upper : chain->no_upper;
    for (int l = 0; l < lanes; l++, next++, busy++) {
        for (int i = 0; i < chain->n; i++)
            s->state.q[i][l] = start[next][i];
        iterations[l] = 0;
        active |= 1u << l;
    }
    while (busy > 0) {
        chain->wide->step(chain, &s->state);
        s->result.iterations++;
        const unsigned done = s->state.converged | s->state.certified;
        for (int l = 0; l < lanes; l++) {
            if (!(active >> l & 1))
                continue;
            iterations[l]++;
            if (done >> l & 1)
                take(s, l, context);
            else if (iterations[l] < ITERATIONS && !(iterations[l] >= LOOK_AFTER && s->state.cost[l] > CLOSE))
                continue;
            if (next < count) {
                for (int i = 0; i < chain->n; i++)
                    s->state.q[i][l] = start[next][i];
                iterations[l] = 0;
                next++;
            } else {
                active &= ~(1u << l);
                busy--;
            }
        }
    }
    s->result.starts += (count + lanes - 1) / lanes;
    s->state.lower = chain->clamp_lower;
    s->state.upper = chain->clamp_upper;
}

static void take_inside(search *s, int lane, void *context)
{
    double q[ULNA_SERIAL_MAX];
    if (ulna_serial_accept(s->chain, &s->state, lane, s->seed, q))
        add_solution(s, context, q);
}

/* ---- the largest change -------------------------------------------------------------------------------------------------------- */

/*
 * For the norm of the largest change: slides again from the best point, with weights that grow with the changes themselves (iteratively
 * reweighted least squares: the weights |change|^(p-2) turn a sum of squares into a sum of p-th powers).
 */
static void sharpen(search *s)
{
    enum { ROUNDS = 6 };
    const double *weight = s->norm->weight;
    double base[ULNA_SERIAL_MAX], from[1][ULNA_SERIAL_MAX];
    memcpy(base, s->slide.weight, sizeof base);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(from[0], s->q, (size_t)s->chain->n * sizeof *s->q);
        for (int i = 0; i < s->chain->n; i++) {
            const double share = weight[i] * fabs(from[0][i] - s->seed[i]) / (s->best + 1e-12) + 0.05,
                         square = share * share;
            s->slide.weight[i] = base[i] * square * square;
        }
        ulna_serial_slide_from(s, from, 1);
    }
    memcpy(s->slide.weight, base, sizeof base);
}

/* ---- calls --------------------------------------------------------------------------------------------------------------------- */

/* Candidates inside the limits, and slides from the nearest of them. */
static void solve_from_candidates(search *s, int redundant)
{
    double start[CELLS][ULNA_SERIAL_MAX], solutions[CELLS][ULNA_SERIAL_MAX], distances[CELLS];
    found list = {.capacity = CELLS, .q = solutions, .distance = distances};
    find_starts(s, start, CELLS);
    ulna_serial_converge(s, start, CELLS, 1, take_inside, &list);
    if (list.count > 0)
        keep_best(s, list.q[0]);
    if (redundant)
        ulna_serial_slide_from(s, list.q, list.count < SLIDES ? list.count : SLIDES);
}

/* If nothing else has led to a solution. */
static void solve_from_any(search *s, const ulna_serial_goal *goal, int redundant)
{
    double any[1][ULNA_SERIAL_MAX];
    const ulna_serial_result last = ulna_serial_solve_any(s->chain, goal, s->seed, any[0]);
    s->result.starts += last.starts;
    s->result.iterations += last.iterations;
    memcpy(s->q, any[0], (size_t)s->chain->n * sizeof *s->q);
    if (!last.reached)
        return;
    keep_best(s, any[0]);
    if (redundant)
        ulna_serial_slide_from(s, any, 1);
}

ulna_serial_result ulna_serial_solve_nearest(const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                                             const ulna_serial_norm *norm, ulna_serial_effort effort, double *q)
{
    search s;
    begin_search(&s, chain, goal, seed, norm, q);
    const int redundant = is_redundant(chain, &s.target);
    if (!solve_from_seed(&s)) {
        set_lanes(&s, chain->wide);
        if (follows_curves(&s)) {
            double start[CELLS][ULNA_SERIAL_MAX];
            find_starts(&s, start, efforts[effort].candidates);
            ulna_serial_trace(&s, start, efforts[effort].candidates, efforts[effort].step);
        } else {
            solve_from_candidates(&s, redundant);
        }
        if (s.best == INFINITY)
            solve_from_any(&s, goal, redundant);
    }
    s.result.reached = s.best < INFINITY;
    if (s.result.reached && redundant && s.slide.is_largest && !s.slide.is_single)
        sharpen(&s);
    return s.result;
}

ulna_serial_result ulna_serial_solve_from(const ulna_serial *chain, const ulna_serial_goal *goal, const double *start,
                                          const double *seed, const ulna_serial_norm *norm, double *q)
{
    search s;
    begin_search(&s, chain, goal, seed, norm, q);
    solve_from(&s, start);
    s.result.reached = s.best < INFINITY;
    return s.result;
}

/* Starts until a round of them finds nothing new; a redundant chain slides from each solution, alone. */
int ulna_serial_solve_all(const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                          const ulna_serial_norm *norm, int capacity, double (*q)[ULNA_SERIAL_MAX],
                          ulna_serial_result *result)
{
    search s;
    double start[CELLS][ULNA_SERIAL_MAX], solutions[CELLS][ULNA_SERIAL_MAX], distances[CELLS], slid[ULNA_SERIAL_MAX];
    double best[ULNA_SERIAL_ALL];
    found list = {.capacity = CELLS, .q = solutions, .distance = distances};
    found all = {.capacity = capacity, .q = q, .distance = best};
    begin_search(&s, chain, goal, seed, norm, slid);
    const int redundant = is_redundant(chain, &s.target);
    solve_from(&s, seed);
    if (s.best < INFINITY)
        add_solution(&s, &all, slid);
    found *into = redundant ? &list : &all;
    set_lanes(&s, chain->wide);
    find_starts(&s, start, CELLS);
    for (int round = 0, before = -1; round < ALL_ROUNDS && into->count > before; round++) {
        before = into->count;
        if (round > 0)
            sample_starts(chain, start, CELLS, 1 + round * CELLS);
        ulna_serial_converge(&s, start, CELLS, 1, take_inside, into);
    }
    set_lanes(&s, chain->kernel); /* one at a time */
    for (int k = 0; k < list.count; k++) {
        s.best = INFINITY;
        ulna_serial_slide_from(&s, &list.q[k], 1);
        if (s.best < INFINITY)
            add_solution(&s, &all, slid);
    }
    if (all.count == 0) {
        const ulna_serial_result last = ulna_serial_solve_any(chain, goal, seed, q[0]);
        all.count = last.reached;
        s.result.starts += last.starts;
        s.result.iterations += last.iterations;
    }
    *result = s.result;
    result->reached = all.count > 0;
    return all.count;
}
