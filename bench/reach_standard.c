/*
 * The standard test of reach_peers.h on the recorded robots: any solution and near ones, batches, the nearest, all solutions. Timed
 * through the public interface; the reference of nearest solutions is made with the private one.
 */
#include "reach_peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/algorithms.h"
#include "reach/serial.h"
#include "ulna/kinematics.h"

#define PI 3.14159265358979323846

/* One robot, and a reach for each mode. */
typedef struct standard {
    const reach_robot *robot;
    bench_report *report;
    ulna_model *model;
    ulna_pose *pose;
    int tip, nq;
    ulna_reach *reach[ULNA_REACH_MODE_COUNT];
    ulna_reach_work *work[ULNA_REACH_MODE_COUNT];
    reach_problems problems[2]; /* random starts, near starts */
    ulna_reach_goal *goals[2];
    ulna_reach_result *results;
    double *q, *us;
} standard;

static void add(standard *s, const char *what, double value, const char *note)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s", what, s->robot->name);
    bench_add(s->report, name, value, note);
}

/* Inside the limits, 1e-6 m and 1e-6 rad by plain forward kinematics. `jumps` counts joints more than 1 rad from the start. */
static int is_solved(standard *s, const reach_problems *p, int i, const double *q, int *jumps)
{
    double position[3], rotation[9], metres, radians, largest = 0;
    for (int d = 0; d < ulna_model_dof_count(s->model); d++) {
        const int c = ulna_model_dof_coordinate(s->model, d);
        if (!(q[c] >= ulna_model_lower(s->model)[d] && q[c] <= ulna_model_upper(s->model)[d]))
            return 0;
        if (!ulna_model_dof_is_translation(s->model, d))
            largest = fmax(largest, fabs(remainder(q[c] - p->start[(size_t)i * (size_t)s->nq + (size_t)c], 2 * PI)));
    }
    *jumps += largest > 1;
    ulna_pose_forward(s->pose, q);
    ulna_pose_body(s->pose, s->tip, position, rotation);
    reach_pose_error(position, rotation, p->position[i], p->rotation[i], &metres, &radians);
    return metres <= 1e-6 && radians <= 1e-6;
}

/* What looking at the clock costs. */
static double clock_us(void)
{
    double least = INFINITY;
    for (int k = 0; k < 1000; k++) {
        const double begun = bench_now();
        least = fmin(least, 1e6 * (bench_now() - begun));
    }
    return least;
}

/* ---- one at a time, and batches --------------------------------------------------------------------------------------- */

static void measure_single(standard *s, int is_near)
{
    enum { PASSES = 3 };
    const reach_problems *p = &s->problems[is_near];
    ulna_reach_work *work = s->work[is_near ? ULNA_REACH_NEAR : ULNA_REACH_ANY];
    const double idle = clock_us();
    double mean = INFINITY;
    int solved = 0, jumps = 0;
    for (int i = 0; i < p->count; i++) {
        ulna_reach_solve(work, &s->goals[is_near][i], p->start + (size_t)i * (size_t)s->nq, s->q, &s->results[i]);
        solved += s->results[i].reached && is_solved(s, p, i, s->q, &jumps);
        s->us[i] = INFINITY;
    }
    for (int pass = 0; pass < PASSES; pass++) {
        double begun = bench_now();
        for (int i = 0; i < p->count; i++)
            ulna_reach_solve(work, &s->goals[is_near][i], p->start + (size_t)i * (size_t)s->nq, s->q, &s->results[i]);
        mean = fmin(mean, 1e6 * (bench_now() - begun) / p->count);
        for (int i = 0; i < p->count; i++) {
            begun = bench_now();
            ulna_reach_solve(work, &s->goals[is_near][i], p->start + (size_t)i * (size_t)s->nq, s->q, &s->results[i]);
            s->us[i] = fmin(s->us[i], 1e6 * (bench_now() - begun) - idle);
        }
    }
    ulna_sort_numbers(s->us, (size_t)p->count);
    add(s, is_near ? "near_percent" : "any_percent", 100.0 * solved / p->count, "solved inside the limits, %");
    add(s, is_near ? "near_us" : "any_us", mean, "mean us");
    add(s, is_near ? "near_median_us" : "any_median_us", s->us[p->count / 2], "median us");
    add(s, is_near ? "near_p99_us" : "any_p99_us", s->us[p->count * 99 / 100], "99 % are faster, us");
    if (is_near)
        add(s, "near_jumps", jumps, "solutions with a joint more than 1 rad from its start");
}

static void measure_batch(standard *s, int is_near)
{
    const reach_problems *p = &s->problems[is_near];
    ulna_reach_work *work = s->work[is_near ? ULNA_REACH_NEAR : ULNA_REACH_ANY];
    double best = INFINITY;
    for (int k = 0; k < 20; k++) {
        const double begun = bench_now();
        ulna_reach_solve_many(&work, 1, p->count, s->goals[is_near], p->start, s->q, s->results, NULL);
        best = fmin(best, bench_now() - begun);
    }
    add(s, is_near ? "batch_near_us" : "batch_any_us", 1e6 * best / p->count, "a batch on one thread, us per problem");
}

/* ---- nearest -------------------------------------------------------------------------------------------------------------- */

typedef struct reference {
    ulna_serial *chain;
    ulna_serial_goal *goal; /* count */
    double *seed, *least;   /* count x n, count */
    int n, count;
    const ulna_serial_norm *norm;
} reference;

/* The least distance by `starts` starts, half of them uniform and half around the seed, each slid, and by following all curves in
 * small steps; and the truth. */
static void find_reference(standard *s, const reach_problems *p, int count, int starts, reference *r)
{
    const int *coordinate = ulna_serial_coordinates(r->chain);
    uint64_t random = 3;
    for (int i = 0; i < count; i++) {
        double *seed = r->seed + i * r->n, truth[ULNA_SERIAL_MAX], q[ULNA_SERIAL_MAX], start[ULNA_SERIAL_MAX];
        for (int c = 0; c < r->n; c++) {
            seed[c] = p->start[i * s->nq + coordinate[c]];
            truth[c] = p->q[i * s->nq + coordinate[c]];
        }
        r->goal[i] = ulna_serial_goal_pose(p->position[i], p->rotation[i]);
        r->least[i] = ulna_serial_distance(r->chain, r->norm, truth, seed);
        if (ulna_serial_solve_nearest(r->chain, &r->goal[i], seed, r->norm, ULNA_SERIAL_FINE, q).reached)
            r->least[i] = fmin(r->least[i], ulna_serial_distance(r->chain, r->norm, q, seed));
        for (int k = 0; k < starts; k++) {
            for (int c = 0; c < r->n; c++) {
                const double low = fmax(ulna_serial_lower(r->chain)[c], -2 * PI),
                             high = fmin(ulna_serial_upper(r->chain)[c], 2 * PI);
                const double u = ulna_random_uniform(&random);
                start[c] = k % 2 ? low + u * (high - low) : fmin(fmax(seed[c] + 2 * u - 1, low), high);
            }
            if (ulna_serial_solve_from(r->chain, &r->goal[i], start, seed, r->norm, q).reached)
                r->least[i] = fmin(r->least[i], ulna_serial_distance(r->chain, r->norm, q, seed));
        }
    }
}

/* How often one effort finds the nearest, and its time. */
static void measure_effort(standard *s, const reference *r, ulna_serial_effort effort, const char *how)
{
    double best = INFINITY, q[ULNA_SERIAL_MAX];
    int nearest = 0;
    char what[48];
    for (int i = 0; i < r->count; i++)
        if (ulna_serial_solve_nearest(r->chain, &r->goal[i], r->seed + i * r->n, r->norm, effort, q).reached)
            nearest += ulna_serial_distance(r->chain, r->norm, q, r->seed + i * r->n) < r->least[i] + 1e-3;
    for (int pass = 0; pass < 5; pass++) {
        const double begun = bench_now();
        for (int i = 0; i < r->count; i++)
            ulna_serial_solve_nearest(r->chain, &r->goal[i], r->seed + i * r->n, r->norm, effort, q);
        best = fmin(best, bench_now() - begun);
    }
    snprintf(what, sizeof what, "nearest_%s_percent", how);
    add(s, what, 100.0 * nearest / r->count,
        "within 1e-3 rad of the nearest of 2000 starts, slid, and of all curves, %");
    snprintf(what, sizeof what, "nearest_%s_us", how);
    add(s, what, 1e6 * best / r->count, "mean us");
}

/* `traced`, as ulna_reach_solve does it: more candidates, smaller steps. `largest`: the largest change of a joint is what counts. */
static void measure_nearest(standard *s, int is_near, int is_largest, int count, int starts)
{
    const reach_problems *p = &s->problems[is_near];
    ulna_serial_norm norm = {.is_largest = is_largest};
    reference r = {.count = count, .norm = is_largest ? &norm : NULL};
    if (ulna_serial_create(s->model, ULNA_NONE, s->tip, NULL, NULL, NULL, &r.chain, NULL) != ULNA_OK)
        return;
    r.n = ulna_serial_count(r.chain);
    for (int i = 0; i < r.n; i++)
        norm.weight[i] = 1;
    r.goal = calloc((size_t)count, sizeof *r.goal);
    r.seed = calloc((size_t)count * (size_t)r.n, sizeof *r.seed);
    r.least = calloc((size_t)count, sizeof *r.least);
    if (r.goal && r.seed && r.least && (r.n == 7 || !is_largest)) {
        static const char *const names[2][2] = {{"random", "near"}, {"largest_random", "largest_near"}};
        find_reference(s, p, count, starts, &r);
        measure_effort(s, &r, is_near ? ULNA_SERIAL_THOROUGH : ULNA_SERIAL_QUICK, names[is_largest][is_near]);
        if (!is_near && r.n == 7)
            measure_effort(s, &r, ULNA_SERIAL_THOROUGH, is_largest ? "largest_traced" : "traced");
    }
    free(r.goal);
    free(r.seed);
    free(r.least);
    ulna_serial_destroy(r.chain);
}

/* ---- all solutions ---------------------------------------------------------------------------------------------------------- */

static void measure_all(standard *s, int count)
{
    enum { MOST = 16 };
    const reach_problems *p = &s->problems[0];
    ulna_reach_result results[MOST];
    double *q = calloc(MOST * (size_t)s->nq, sizeof *q), best = INFINITY;
    long found = 0;
    for (int pass = 0; pass < 3 && q; pass++) {
        const double begun = bench_now();
        found = 0;
        for (int i = 0; i < count; i++) {
            int number = 0;
            ulna_reach_all(s->work[ULNA_REACH_ANY], &s->goals[0][i], p->start + (size_t)i * (size_t)s->nq, MOST, q,
                           results, &number);
            found += number;
        }
        best = fmin(best, bench_now() - begun);
    }
    free(q);
    add(s, "all_us", 1e6 * best / count, "several solutions, mean us");
    add(s, "all_count", (double)found / count, "how many, mean");
}

/* ---- one robot ---------------------------------------------------------------------------------------------------------------- */

static int open_robot(standard *s, int count)
{
    s->model = reach_robot_load(s->robot);
    if (!s->model)
        return 0;
    s->tip = ulna_model_find_body(s->model, s->robot->tip);
    s->nq = ulna_model_coordinate_count(s->model);
    const ulna_reach_tip tip = ulna_reach_tip_default(s->tip);
    ulna_reach_options options = ulna_reach_options_default();
    for (int mode = 0; mode < ULNA_REACH_MODE_COUNT; mode++) {
        options.mode = (ulna_reach_mode)mode;
        if (ulna_reach_create(s->model, 1, &tip, &options, NULL, &s->reach[mode], NULL) != ULNA_OK ||
            ulna_reach_work_create(s->reach[mode], NULL, &s->work[mode], NULL) != ULNA_OK)
            return 0;
    }
    s->results = calloc((size_t)count, sizeof *s->results);
    s->q = calloc((size_t)count * (size_t)s->nq, sizeof *s->q);
    s->us = calloc((size_t)count, sizeof *s->us);
    if (!s->results || !s->q || !s->us || ulna_pose_create(s->model, NULL, &s->pose, NULL) != ULNA_OK)
        return 0;
    for (int near = 0; near < 2; near++) {
        s->goals[near] = calloc((size_t)count, sizeof *s->goals[near]);
        if (!s->goals[near] || !reach_problems_make(s->model, s->tip, count, near, 21, &s->problems[near]))
            return 0;
        for (int i = 0; i < count; i++)
            s->goals[near][i] = reach_goal_of(s->problems[near].position[i], s->problems[near].rotation[i]);
    }
    return 1;
}

static void close_robot(standard *s)
{
    for (int mode = 0; mode < ULNA_REACH_MODE_COUNT; mode++) {
        ulna_reach_work_destroy(s->work[mode]);
        ulna_reach_destroy(s->reach[mode]);
    }
    for (int near = 0; near < 2; near++) {
        free(s->goals[near]);
        reach_problems_release(&s->problems[near]);
    }
    free(s->results);
    free(s->q);
    free(s->us);
    ulna_pose_destroy(s->pose);
    ulna_model_destroy(s->model);
}

void reach_standard(bench_report *report, int count)
{
    enum { NEAREST = 200, STARTS = 2000, ALL = 300 };
    int robots;
    const reach_robot *robot = reach_robots(&robots);
    printf("bench_reach: %s\n", bench_data_text());
    for (int i = 0; i < robots; i++) {
        standard s = {.robot = &robot[i], .report = report};
        if (open_robot(&s, count)) {
            for (int near = 0; near < 2; near++) {
                measure_single(&s, near);
                measure_batch(&s, near);
                for (int largest = 0; largest < 2; largest++)
                    measure_nearest(&s, near, largest, count < NEAREST ? count : NEAREST, STARTS);
            }
            measure_all(&s, count < ALL ? count : ALL);
        } else {
            printf("%s is left out of the standard test: it cannot be opened\n", robot[i].name);
        }
        close_robot(&s);
    }
}
