/*
 * The solution nearest to a seed, and all solutions.
 *
 * 1. From the seed: slide along the solutions towards it (serial_slide.inc). What is found near the seed is taken.
 * 2. The table of cells gives candidates from all over the joint space. They converge plainly, and solutions inside the limits
 *    are collected, nearest first.
 * 3. A redundant chain slides from the nearest of them.
 * 4. If asked to be thorough, and solutions form curves: walks along each curve without limits, and slides from the nearest points
 *    that are inside. This crosses the gaps that limits cut into a curve.
 *
 * A slide keeps its best point that met the goal, not its last one: at corners of the limits it may go away again.
 */
#include "math/math3.h"
#include "reach/serial_kernel.h"

#include <math.h>
#include <string.h>

enum {
    CELLS = 32,       /* lanes of the table of cells */
    CANDIDATES = 32,  /* of them, if the nearest is asked for */
    ITERATIONS = 25,  /* of a slide, and of a candidate */
    LOOK_AFTER = 10,  /* iterations after which a candidate must be close to the goal */
    SLIDES = 8,       /* nearest solutions from which to slide */
    FULL_STEPS = 8,   /* of a slide; then the cap shrinks */
    CURVE_ROUNDS = 4, /* vectors of curves */
    CURVE_STEPS = 80, /* of one curve */
    ALL_ROUNDS = 4,   /* of CELLS starts, if all solutions are asked for; fewer if one finds nothing new */
    KEPT = 8,         /* points of curves from which to slide */
};

#define DAMPING 0.3         /* of slides and candidates */
#define CLOSE 1e-3          /* cost of a candidate that goes on */
#define ENOUGH 0.6          /* a solution found from the seed and nearer than this is taken for the nearest, rad */
#define SAME 0.1            /* solutions that differ by less in all joints are one */
#define SLIDE_CAP 0.4       /* rad */
#define SLIDE_STOP 2e-4     /* rad */
#define DISTANCE_SCORE 0.02 /* candidates: score lost per squared distance of the inner joints from the seed */
#define CURVE_STEP 0.5      /* rad */
#define CURVE_COST 0.02     /* of points that are near enough to the curve */
#define CURVE_SLACK 0.2     /* points of curves so far outside the limits may still lead inside, rad */
#define CURVE_APART 0.6     /* between points that are kept, rad */

/* Solutions, nearest first. */
typedef struct found {
    int count, capacity;
    double (*q)[ULNA_SERIAL_MAX];
    double *distance;
} found;

typedef struct search {
    const ulna_serial *chain;
    const ulna_serial_norm *norm;
    const double *seed;
    ulna_serial_target target;
    ulna_serial_lanes state;
    ulna_serial_slide slide;
    ulna_serial_result result;
    double best;
    double *q; /* where `best` is */
} search;

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

static void set_damping(ulna_serial_lanes *state)
{
    for (int l = 0; l < ULNA_SERIAL_LANES; l++)
        state->damping[l] = DAMPING;
}

/* Rows that a goal has. */
static int is_redundant(const ulna_serial *chain, const ulna_serial_target *target)
{
    static const int rows[] = {6, 5, 3, 3};
    return chain->freedoms > rows[target->aim] - (target->folded_spin ? 1 : 0);
}

static void begin_search(search *s, const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                         const ulna_serial_norm *norm, double *q)
{
    s->chain = chain, s->norm = norm, s->seed = seed, s->q = q, s->best = INFINITY;
    s->result = (ulna_serial_result){0};
    ulna_serial_target_set(chain, goal, &s->target);
    ulna_serial_lanes_set(chain, &s->target, &s->state);
    s->state.stop_at_first = 0;
    set_damping(&s->state);
    s->slide.stop_below = SLIDE_STOP;
    for (int i = 0; i < ULNA_SERIAL_MAX; i++) {
        const int used = i < chain->n;
        const double weight = used && norm ? fmax(norm->weight[i], 1e-3) * chain->unit[i] : used ? chain->unit[i] : 1;
        s->slide.seed[i] = used ? seed[i] / chain->unit[i] : 0;
        s->slide.weight[i] = weight * weight;
    }
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

/* Slides in the lanes `moving`, and keeps the best point of all. */
static void slide_lanes(search *s, unsigned moving)
{
    s->slide.moving = moving;
    s->slide.cap = SLIDE_CAP;
    s->result.starts++;
    for (int k = 0; k < ITERATIONS && s->slide.moving; k++) {
        double before[ULNA_SERIAL_MAX][ULNA_SERIAL_LANES];
        memcpy(before, s->state.q, (size_t)s->chain->n * sizeof before[0]);
        if (k >= FULL_STEPS)
            s->slide.cap *= 0.6;
        s->chain->kernel->slide(s->chain, &s->state, &s->slide);
        s->result.iterations++;
        const unsigned met = s->state.converged & s->slide.moving;
        for (int l = 0; met >> l; l++) {
            double q[ULNA_SERIAL_MAX];
            if (!(met >> l & 1))
                continue;
            if (ulna_serial_accept_at(s->chain, before, l, s->seed, q))
                keep_best(s, q);
            if (s->slide.length[l] < SLIDE_STOP)
                s->slide.moving &= ~(1u << l);
        }
    }
}

/* From several points, nearest first: q has `count` rows of ULNA_SERIAL_MAX. */
static void slide_from(search *s, double (*q)[ULNA_SERIAL_MAX], int count)
{
    const int lanes = s->chain->kernel->lanes;
    for (int first = 0; first < count; first += lanes) {
        const int used = count - first < lanes ? count - first : lanes;
        for (int l = 0; l < lanes; l++)
            set_lane(s, l, q[first + (l < used ? l : 0)]);
        slide_lanes(s, (1u << used) - 1);
    }
}

static void solve_from(search *s, const double *start)
{
    for (int l = 0; l < s->chain->kernel->lanes; l++)
        set_lane(s, l, start);
    if (is_redundant(s->chain, &s->target)) {
        slide_lanes(s, 1);
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

/* ---- candidates ------------------------------------------------------------------------------------------------------------ */

static int is_same(const ulna_serial *chain, const double *a, const double *b)
{
    for (int i = 0; i < chain->n; i++)
        if (fabs(a[i] - b[i]) > SAME * chain->unit[i])
            return 0;
    return 1;
}

/* Puts q in its place unless it is there already; the farthest go if there are too many. */
static void add_solution(const search *s, found *list, const double *q)
{
    const double distance = ulna_serial_distance(s->chain, s->norm, q, s->seed);
    for (int i = 0; i < list->count; i++)
        if (is_same(s->chain, list->q[i], q))
            return;
    if (list->count == list->capacity && list->distance[list->count - 1] <= distance)
        return;
    int at = list->count < list->capacity ? list->count++ : list->count - 1;
    for (; at > 0 && list->distance[at - 1] > distance; at--) {
        list->distance[at] = list->distance[at - 1];
        memcpy(list->q[at], list->q[at - 1], sizeof list->q[at]);
    }
    list->distance[at] = distance;
    memcpy(list->q[at], q, (size_t)s->chain->n * sizeof *q);
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

/* Starting points, the most promising first, from the table of cells or, without tables, from the low-discrepancy sequence. */
static void find_starts(const search *s, double (*start)[ULNA_SERIAL_MAX], int count)
{
    const ulna_serial *chain = s->chain;
    const ulna_serial_table *table = &chain->table[ULNA_SERIAL_CELLS];
    if (!s->target.uses_table) {
        sample_starts(chain, start, count, 1);
        return;
    }
    float score[CELLS];
    int sample[CELLS], ranked[CELLS];
    ulna_serial_lanes lanes;
    chain->kernel->scan(chain, table, &s->target, score, sample);
    for (int k = 0; k < CELLS; k++) {
        double sum = 0;
        for (int i = 1; i < chain->n - 1; i++) {
            const double way = (double)table->q[sample[k] * chain->n + i] - s->slide.seed[i];
            const double short_way = chain->free[i] ? ulna_serial_unturn(way, 0) : way;
            sum += short_way * short_way;
        }
        score[k] -= (float)(DISTANCE_SCORE * sum);
    }
    for (int k = 0; k < CELLS; k++) {
        int rank = 0;
        for (int j = 0; j < CELLS; j++)
            rank += (score[j] > score[k]) | ((score[j] == score[k]) & (j < k));
        ranked[rank] = sample[k];
    }
    ulna_serial_lanes_set(chain, &s->target, &lanes);
    for (int first = 0; first < count; first += chain->kernel->lanes) {
        chain->kernel->begin(chain, table, &s->target, ranked + first, &lanes);
        for (int l = 0; l < chain->kernel->lanes; l++)
            for (int i = 0; i < chain->n; i++)
                start[first + l][i] = lanes.q[i][l];
    }
}

typedef void (*solution_function)(search *s, int lane, void *context);

/* Converges all starts, with or without limits; lanes that are done take the next start. */
static void converge(search *s, double (*start)[ULNA_SERIAL_MAX], int count, int limited, solution_function take,
                     void *context)
{
    const ulna_serial *chain = s->chain;
    const int lanes = chain->kernel->lanes;
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
        chain->kernel->step(chain, &s->state);
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

/* ---- curves ------------------------------------------------------------------------------------------------------------------ */

typedef struct curves {
    int count;
    double q[CELLS][ULNA_SERIAL_MAX];
    unsigned char used[CELLS];
} curves;

static void take_anywhere(search *s, int lane, void *context)
{
    curves *c = context;
    for (int i = 0; i < s->chain->n; i++)
        c->q[c->count][i] = s->state.q[i][lane];
    c->used[c->count++] = 0;
}

/* Points of curves that are less than a step apart, whole turns taken off. */
static int is_passed(const ulna_serial *chain, double (*x)[ULNA_SERIAL_LANES], int lane, const double *q)
{
    const double most = 0.4 * CURVE_STEP * CURVE_STEP;
    double sum = 0;
    for (int i = 0; i < chain->n && sum < most; i++) {
        double way = x[i][lane] - q[i];
        if (!chain->slides[i])
            way = ulna_serial_unturn(way, 0);
        sum += way * way;
    }
    return sum < most;
}

/* The point in the turn nearest to the seed, and how far it is outside the limits. */
static double wrapped(const search *s, double (*scaled)[ULNA_SERIAL_LANES], int lane, double *q)
{
    double outside = 0;
    for (int i = 0; i < s->chain->n; i++) {
        double x = scaled[i][lane] * s->chain->unit[i];
        const double lower = s->chain->lower[i], upper = s->chain->upper[i];
        if (!s->chain->slides[i]) {
            const double near = s->chain->free[i] ? s->seed[i] : 0.5 * (lower + upper);
            x = ulna_serial_unturn(x, near);
        }
        const double beyond = (x < lower ? lower - x : x - upper) / s->chain->unit[i];
        outside = beyond > outside ? beyond : outside;
        q[i] = x;
    }
    return outside;
}

/* Keeps the nearest points that are apart from each other. */
static void keep_point(const search *s, found *kept, const double *q, double distance)
{
    int count = 0;
    for (int k = 0; k < kept->count; k++)
        if (sqrt(ulna_squared_distance(kept->q[k], q, s->chain->n)) < CURVE_APART && kept->distance[k] <= distance)
            return;
    for (int k = 0; k < kept->count; k++) { /* without those that q replaces */
        if (sqrt(ulna_squared_distance(kept->q[k], q, s->chain->n)) < CURVE_APART)
            continue;
        if (count < k) {
            kept->distance[count] = kept->distance[k];
            memcpy(kept->q[count], kept->q[k], sizeof kept->q[k]);
        }
        count++;
    }
    kept->count = count;
    if (count == kept->capacity && kept->distance[count - 1] <= distance)
        return;
    int at = count < kept->capacity ? kept->count++ : count - 1;
    for (; at > 0 && kept->distance[at - 1] > distance; at--) {
        kept->distance[at] = kept->distance[at - 1];
        memcpy(kept->q[at], kept->q[at - 1], sizeof kept->q[at]);
    }
    kept->distance[at] = distance;
    memcpy(kept->q[at], q, sizeof kept->q[at]);
}

/* At step k of a walk: keeps the point if it may lead to a solution inside the limits, and marks the solutions that the walk passes,
 * which are on the same curve. Returns 1 if the walk is back where it began. */
static int look_around(const search *s, curves *c, double (*x)[ULNA_SERIAL_LANES], int lane, int k, const double *begin,
                       found *kept)
{
    const ulna_serial *chain = s->chain;
    double q[ULNA_SERIAL_MAX] = {0};
    const double outside = wrapped(s, x, lane, q);
    if (s->state.cost[lane] < CURVE_COST && outside < CURVE_SLACK) {
        const double distance = ulna_serial_distance(chain, s->norm, q, s->seed);
        keep_point(s, kept, q, outside > 0 ? hypot(distance, outside) : distance);
    }
    for (int i = 0; i < c->count && k > 0; i++)
        if (!c->used[i] && is_passed(chain, x, lane, c->q[i]))
            c->used[i] = 1;
    return k > 4 && is_passed(chain, x, lane, begin);
}

/* Walks along the curves of as many solutions as there are lanes, until each is back where it began. */
static void walk(search *s, curves *c, found *kept)
{
    const ulna_serial *chain = s->chain;
    const int lanes = chain->kernel->lanes;
    const double *begin[ULNA_SERIAL_LANES] = {0};
    int used = 0;
    for (int k = 0; k < c->count && used < lanes; k++)
        if (!c->used[k]) {
            c->used[k] = 1;
            begin[used++] = c->q[k];
        }
    unsigned active = (1u << used) - 1;
    for (int i = 0; i < chain->n; i++)
        for (int l = 0; l < lanes; l++) {
            s->state.q[i][l] = begin[l < used ? l : 0][i];
            s->slide.direction[i][l] = i % 2 ? 1 : 0.7; /* any direction but a bad one */
        }
    s->slide.cap = CURVE_STEP;
    for (int k = 0; k < CURVE_STEPS && active; k++) {
        double before[ULNA_SERIAL_MAX][ULNA_SERIAL_LANES];
        memcpy(before, s->state.q, sizeof before);
        chain->kernel->trace(chain, &s->state, &s->slide);
        s->result.iterations++;
        for (int l = 0; l < used; l++)
            if (active >> l & 1 && look_around(s, c, before, l, k, begin[l], kept))
                active &= ~(1u << l);
    }
}

static void trace_curves(search *s, double (*start)[ULNA_SERIAL_MAX], int count)
{
    curves c = {.count = 0};
    double points[KEPT][ULNA_SERIAL_MAX], distances[KEPT];
    found kept = {.capacity = KEPT, .q = points, .distance = distances};
    converge(s, start, count, 0, take_anywhere, &c);
    for (int round = 0; round < CURVE_ROUNDS * (4 / s->chain->kernel->lanes + (s->chain->kernel->lanes > 4)); round++) {
        int left = 0;
        for (int k = 0; k < c.count; k++)
            left += !c.used[k];
        if (left == 0)
            break;
        walk(s, &c, &kept);
    }
    slide_from(s, kept.q, kept.count);
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
        slide_from(s, from, 1);
    }
    memcpy(s->slide.weight, base, sizeof base);
}

/* ---- calls --------------------------------------------------------------------------------------------------------------------- */

ulna_serial_result ulna_serial_solve_nearest(const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                                             const ulna_serial_norm *norm, int thorough, double *q)
{
    search s;
    begin_search(&s, chain, goal, seed, norm, q);
    const int redundant = is_redundant(chain, &s.target);
    solve_from(&s, seed);
    if (s.best < INFINITY && ulna_serial_distance(chain, NULL, q, seed) < ENOUGH) {
        if (redundant && norm && norm->is_largest)
            sharpen(&s);
        s.result.reached = 1;
        return s.result;
    }
    double start[CELLS][ULNA_SERIAL_MAX], solutions[CELLS][ULNA_SERIAL_MAX], distances[CELLS];
    find_starts(&s, start, CANDIDATES);
    if (redundant && thorough && chain->freedoms == 7 && s.target.aim == ULNA_SERIAL_POSE) {
        trace_curves(&s, start, CANDIDATES);
    } else {
        found list = {.capacity = CELLS, .q = solutions, .distance = distances};
        converge(&s, start, CANDIDATES, 1, take_inside, &list);
        if (list.count > 0)
            keep_best(&s, list.q[0]);
        if (redundant)
            slide_from(&s, list.q, list.count < SLIDES ? list.count : SLIDES);
    }
    s.result.reached = s.best < INFINITY;
    if (!s.result.reached) {
        double any[1][ULNA_SERIAL_MAX];
        const ulna_serial_result last = ulna_serial_solve_any(chain, goal, seed, any[0]);
        memcpy(q, any[0], (size_t)chain->n * sizeof *q);
        s.result.starts += last.starts;
        s.result.iterations += last.iterations;
        s.result.reached = last.reached;
        if (last.reached) {
            s.best = ulna_serial_distance(chain, norm, q, seed);
            if (redundant)
                slide_from(&s, any, 1);
        }
    }
    if (s.result.reached && redundant && norm && norm->is_largest)
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
    find_starts(&s, start, CELLS);
    for (int round = 0, before = -1; round < ALL_ROUNDS && into->count > before; round++) {
        before = into->count;
        if (round > 0)
            sample_starts(chain, start, CELLS, 1 + round * CELLS);
        converge(&s, start, CELLS, 1, take_inside, into);
    }
    for (int k = 0; k < list.count; k++) {
        s.best = INFINITY;
        slide_from(&s, &list.q[k], 1);
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
