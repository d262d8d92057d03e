/*
 * The standard test: goals made by forward kinematics of uniform joint values inside the limits, solved from random starts or from
 * starts near the truth. An answer is a success if plain forward kinematics puts every tip within tolerance, inside the limits.
 */
#include "cli/reach/reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/algorithms.h"
#include "ulna/kinematics.h"

#define PI 3.14159265358979323846
#define FAR 1e9  /* limits of so many turns or length scales stand for none */
#define NEAR 0.1 /* radians, or this much of the length scale: standard deviation of near starts */

enum { PASSES = 3 };

typedef struct bench {
    reach_job *job;
    ulna_pose *pose;
    int count;
    ulna_reach_goal *goals; /* count x tips */
    double *seeds, *q;      /* count x nq */
    double *us;             /* count: the shortest of all passes */
    ulna_reach_result *results;
    double batch_us;                        /* per goal, all at once */
    int successes, outside, jumps, falsely; /* falsely: said to be reached, but it is not */
} bench;

static ulna_status make_room(bench *b, ulna_error *error)
{
    size_t count = (size_t)b->count, nq = (size_t)b->job->nq;
    b->goals = calloc(count * (size_t)b->job->tip_count, sizeof *b->goals);
    b->seeds = calloc(count * nq + 1, sizeof *b->seeds);
    b->q = calloc(count * nq + 1, sizeof *b->q);
    b->us = calloc(count, sizeof *b->us);
    b->results = calloc(count, sizeof *b->results);
    return b->goals && b->seeds && b->q && b->us && b->results
               ? ULNA_OK
               : cli_fail(error, ULNA_ERR_MEMORY, "no memory for %d goals", b->count);
}

static void release(bench *b)
{
    ulna_pose_destroy(b->pose);
    free(b->goals);
    free(b->seeds);
    free(b->q);
    free(b->us);
    free(b->results);
}

/* Uniform inside the limits; a turn to either side, or the length scale, where there is none. Locked joints stay. */
static void random_configuration(const reach_job *job, uint64_t *state, double *step, double *q)
{
    const double *lower = ulna_model_lower(job->model), *upper = ulna_model_upper(job->model);
    for (int j = 0; j < job->nv; j++) {
        int c = ulna_model_dof_coordinate(job->model, j);
        double wide = ulna_model_dof_is_translation(job->model, j) ? ulna_model_length_scale(job->model) : PI;
        double low = fabs(lower[j]) <= FAR * wide ? lower[j] : fmin(-wide, upper[j]),
               high = fabs(upper[j]) <= FAR * wide ? upper[j] : fmax(wide, low);
        double u = ulna_random_uniform(state);
        step[j] = c >= 0 ? low + u * (high - low) - job->seed[c] : PI * (2 * u - 1);
        step[j] = job->locked[j] ? 0 : step[j];
    }
    ulna_model_integrate(job->model, job->seed, step, q);
    ulna_model_clamp(job->model, q);
}

/* The truth, moved a little. */
static void near_configuration(const reach_job *job, const double *truth, uint64_t *state, double *step, double *q)
{
    for (int j = 0; j < job->nv; j++) {
        double unit = ulna_model_dof_is_translation(job->model, j) ? ulna_model_length_scale(job->model) : 1;
        double normal = ulna_random_normal(state);
        step[j] = job->locked[j] ? 0 : NEAR * unit * normal;
    }
    ulna_model_integrate(job->model, truth, step, q);
    ulna_model_clamp(job->model, q);
}

/* Of the four squares of a unit quaternion the largest is taken from the diagonal, the others follow from it. */
static void to_quaternion(const double r[9], double q[4])
{
    const double four[4] = {1 + r[0] - r[4] - r[8], 1 - r[0] + r[4] - r[8], 1 - r[0] - r[4] + r[8],
                            1 + r[0] + r[4] + r[8]};
    const double off[3] = {r[7] - r[5], r[2] - r[6], r[3] - r[1]};
    int k = 0;
    for (int i = 1; i < 4; i++)
        k = four[i] > four[k] ? i : k;
    double s = 2 * sqrt(four[k]);
    for (int i = 0; i < 3; i++)
        q[i] = k == 3 ? off[i] / s : (r[3 * i + k] + r[3 * k + i]) / s;
    q[3] = k == 3 ? 0 : off[k] / s;
    q[k] = s / 4;
}

/* c = a b, as (x, y, z, w). */
static void multiply(const double a[4], const double b[4], double c[4])
{
    c[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
    c[1] = a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2];
    c[2] = a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0];
    c[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

/* Where a tip is by plain forward kinematics, seen from what its goals are relative to. */
static void tip_pose(const bench *b, int number, double position[3], double rotation[4])
{
    const ulna_reach_tip *tip = &b->job->tip[number].tip;
    double r[9], body[4];
    ulna_pose_body(b->pose, tip->body, NULL, r);
    ulna_pose_point(b->pose, tip->body, tip->point, position);
    to_quaternion(r, body);
    multiply(body, tip->rotation, rotation);
    if (tip->relative_to == ULNA_NONE)
        return;
    double p[3], off[3], other[4];
    ulna_pose_body(b->pose, tip->relative_to, p, r);
    to_quaternion(r, other);
    for (int i = 0; i < 3; i++)
        off[i] = position[i] - p[i];
    for (int i = 0; i < 3; i++) {
        position[i] = r[i] * off[0] + r[3 + i] * off[1] + r[6 + i] * off[2];
        other[i] = -other[i];
    }
    memcpy(body, rotation, sizeof body);
    multiply(other, body, rotation);
}

static void make_problems(bench *b, double *truth, double *step)
{
    const reach_job *job = b->job;
    uint64_t state = job->options.seed;
    for (int i = 0; i < b->count; i++) {
        double *seed = b->seeds + (size_t)i * (size_t)job->nq;
        random_configuration(job, &state, step, truth);
        ulna_pose_forward(b->pose, truth);
        for (int t = 0; t < job->tip_count; t++) {
            ulna_reach_goal *target = &b->goals[(size_t)i * (size_t)job->tip_count + (size_t)t];
            tip_pose(b, t, target->position, target->rotation);
        }
        if (job->near)
            near_configuration(job, truth, &state, step, seed);
        else
            random_configuration(job, &state, step, seed);
    }
}

/* Each goal alone, several times, and the shortest time; then all in one call. */
static ulna_status solve(const cli *tool, bench *b)
{
    const reach_job *job = b->job;
    progress bar;
    ulna_status status = ULNA_OK;
    progress_begin(&bar, tool);
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < b->count && status == ULNA_OK; i++) {
            size_t at = (size_t)i * (size_t)job->nq;
            double began = cli_seconds();
            status = ulna_reach_solve(job->work, b->goals + (size_t)i * (size_t)job->tip_count, b->seeds + at,
                                      b->q + at, &b->results[i]);
            double us = 1e6 * (cli_seconds() - began);
            b->us[i] = pass == 0 ? us : fmin(us, b->us[i]);
            progress_show(&bar, (pass + (i + 1.0) / b->count) / PASSES, "goals");
        }
    progress_end(&bar);
    ulna_reach_work *work = job->work;
    for (int pass = 0; pass < PASSES && status == ULNA_OK; pass++) {
        clock_t began =
            clock(); /* of the processor: nothing is repeated here that would leave out other work on the machine */
        status = ulna_reach_solve_many(&work, 1, b->count, b->goals, b->seeds, b->q, b->results, NULL);
        double us = 1e6 * (double)(clock() - began) / CLOCKS_PER_SEC / b->count;
        b->batch_us = pass == 0 ? us : fmin(us, b->batch_us);
    }
    return status;
}

/* By plain forward kinematics where all axes count; else by the errors of the axes that do. Constraints are kept, too. */
static int is_success(const bench *b, int number)
{
    const reach_job *job = b->job;
    const ulna_reach_goal *targets = b->goals + (size_t)number * (size_t)job->tip_count;
    const double *q = b->q + (size_t)number * (size_t)job->nq;
    ulna_reach_error errors[REACH_MOST_TIPS];
    double largest;
    int within = ulna_reach_measure(job->work, targets, q, errors) == ULNA_OK && !ulna_pose_forward(b->pose, q) &&
                 reach_keep_measure(job, job->keeper, q, NULL, &largest) == ULNA_NONE;
    for (int t = 0; t < job->tip_count && within; t++) {
        const double *w = job->tip[t].tip.weight, *tolerance = job->tip[t].tip.tolerance;
        double position[3], rotation[4],
            back[4] = {-targets[t].rotation[0], -targets[t].rotation[1], -targets[t].rotation[2],
                       targets[t].rotation[3]},
            off[4];
        within &= errors[t].within;
        tip_pose(b, t, position, rotation);
        multiply(back, rotation, off);
        double way = 0, angle = 2 * atan2(hypot(hypot(off[0], off[1]), off[2]), fabs(off[3]));
        for (int i = 0; i < 3; i++)
            way = hypot(way, position[i] - targets[t].position[i]);
        if (w[0] > 0 && w[1] > 0 && w[2] > 0)
            within &= way <= fmax(fmax(tolerance[0], tolerance[1]), tolerance[2]);
        if (w[3] > 0 && w[4] > 0 && w[5] > 0)
            within &= angle <= fmax(fmax(tolerance[3], tolerance[4]), tolerance[5]);
    }
    return within;
}

static int is_outside(const reach_job *job, const double *q)
{
    const double *lower = ulna_model_lower(job->model), *upper = ulna_model_upper(job->model);
    for (int j = 0; j < job->nv; j++) {
        int c = ulna_model_dof_coordinate(job->model, j);
        if (c >= 0 && !(q[c] >= lower[j] && q[c] <= upper[j]))
            return 1;
    }
    return 0;
}

static void count_results(bench *b, json_t *object)
{
    const reach_job *job = b->job;
    double sum = 0, iterations = 0, restarts = 0;
    for (int i = 0; i < b->count; i++) {
        int outside = is_outside(job, b->q + (size_t)i * (size_t)job->nq), success = !outside && is_success(b, i);
        b->outside += outside;
        b->successes += success;
        b->falsely += b->results[i].reached && !success;
        b->jumps += job->near && b->results[i].jumped;
        sum += b->us[i];
        iterations += b->results[i].iterations;
        restarts += b->results[i].restarts;
    }
    ulna_sort_numbers(b->us, (size_t)b->count);
    put_count(object, "goals", b->count);
    put_text(object, "start", job->near ? "near" : "random");
    put_number(object, "success_percent", 100.0 * b->successes / b->count);
    json_t *us = put_object(object, "us");
    put_number(us, "mean", sum / b->count);
    put_number(us, "median", b->us[b->count / 2]);
    put_number(us, "p99", b->us[(int)(0.99 * (b->count - 1))]);
    put_number(us, "batch", b->batch_us);
    put_number(put_object(object, "iterations"), "mean", iterations / b->count);
    put_number(put_object(object, "restarts"), "mean", restarts / b->count);
    if (job->near)
        put_count(object, "jumps", b->jumps);
    put_count(object, "out_of_limits", b->outside);
    put_count(object, "false_successes", b->falsely);
}

static void print(const cli *tool, const json_t *object)
{
    fact_line(tool, object, "success",
              "{success_percent%.4g} % of {goals} goals from {start} starts, {out_of_limits} outside the limits, "
              "{false_successes} said to be reached that are not");
    fact_line(
        tool, object, "time",
        "mean {us.mean%.3g} µs, median {us.median%.3g}, 99 % below {us.p99%.3g}; many in one call: {us.batch%.3g} each");
    fact_line(tool, object, "effort",
              "{iterations.mean%.2f} iterations, {restarts.mean%.3g} restarts on average; solver: {solver}");
    fact_line(tool, object, "jumps", "{jumps}");
}

int reach_run_bench(const cli *tool, json_t *object, reach_job *job)
{
    bench b = {.job = job, .count = job->bench};
    ulna_error error;
    double *truth = calloc((size_t)job->nq + 1, sizeof *truth), *step = calloc((size_t)job->nv + 1, sizeof *step);
    ulna_error_clear(&error);
    ulna_status status = truth && step ? ULNA_OK : cli_no_memory(&error);
    if (status == ULNA_OK)
        status = make_room(&b, &error);
    if (status == ULNA_OK)
        status = ulna_pose_create(job->model, NULL, &b.pose, &error);
    if (status == ULNA_OK) {
        make_problems(&b, truth, step);
        status = solve(tool, &b);
        if (status != ULNA_OK)
            cli_fail(&error, status, "a goal could not be solved: %s", ulna_status_text(status));
    }
    int code = CLI_DONE;
    if (status != ULNA_OK)
        code = files_fail(object, job->robot, &error);
    else {
        count_results(&b, object);
        print(tool, object);
        code = b.successes == b.count ? CLI_DONE : CLI_PARTLY;
    }
    free(truth);
    free(step);
    release(&b);
    return code;
}
