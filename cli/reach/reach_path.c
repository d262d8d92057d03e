/* A path of poses: following it, and what happened on the way. */
#include "cli/reach/reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SAMPLES = 1 << 24, MOST_LISTED = 20 };

/* ---- the poses ----------------------------------------------------------------------------------------------------------------- */

void reach_release_poses(reach_poses *poses)
{
    free(poses->goals);
    free(poses->times);
    poses->goals = NULL;
    poses->times = NULL;
}

static ulna_status make_room(reach_poses *poses, int tips, int has_time, int *room, ulna_error *error)
{
    if (poses->count < *room)
        return ULNA_OK;
    if (poses->count == MOST_SAMPLES)
        return cli_fail(error, ULNA_ERR_LIMIT, "a path has at most %d samples: divide the file", MOST_SAMPLES);
    int more = *room ? 2 * *room : 256;
    ulna_reach_goal *targets = realloc(poses->goals, (size_t)more * (size_t)tips * sizeof *targets);
    if (targets)
        poses->goals = targets;
    double *times = targets && has_time ? realloc(poses->times, (size_t)more * sizeof *times) : NULL;
    if (times)
        poses->times = times;
    *room = more;
    return !targets || (has_time && !times) ? cli_no_memory(error) : ULNA_OK;
}

static ulna_status read_poses(reach_job *job, ulna_error *error)
{
    reach_poses *poses = &job->poses;
    int tips = job->tip_count, has_time = job->rows.time_column != ULNA_NONE, room = 0, is_there = 1;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && is_there) {
        double seconds = 0;
        status = make_room(poses, tips, has_time, &room, error);
        if (status == ULNA_OK)
            status = reach_rows_next(&job->rows, poses->goals + (size_t)poses->count * (size_t)tips, &seconds,
                                     &is_there, error);
        if (status != ULNA_OK || !is_there)
            continue;
        if (has_time && poses->count > 0 && !(seconds > poses->times[poses->count - 1])) {
            error->line = job->rows.number;
            return cli_fail(error, ULNA_ERR_PARSE, "the time %g is not after the time before it", seconds);
        }
        if (has_time)
            poses->times[poses->count] = seconds;
        poses->count++;
    }
    if (status == ULNA_OK && poses->count == 0)
        status = cli_fail(error, ULNA_ERR_PARSE, "the path has no poses");
    return status;
}

/* ---- following it -------------------------------------------------------------------------------------------------------------- */

/* Of every joint and sample: the speed times the time between samples, or the speed itself if no time is known. */
static double *largest_steps(const reach_job *job)
{
    double *steps = calloc((size_t)job->nv + 1, sizeof *steps);
    const reach_poses *p = &job->poses;
    double between = job->rate > 0 ? 1 / job->rate : 1;
    if (p->times && p->count > 1 && !(job->rate > 0))
        between = (p->times[p->count - 1] - p->times[0]) / (p->count - 1);
    for (int j = 0; j < job->nv && steps; j++)
        steps[j] = job->max_speed * between;
    return steps;
}

/* The first ones; returns how many more there are. */
static int put_samples(json_t *list, const ulna_reach_result *results, int count, int jumped)
{
    int more = 0;
    for (int i = 0; i < count; i++) {
        if (jumped ? i == 0 || !results[i].jumped : results[i].reached)
            continue;
        if (json_array_size(list) < MOST_LISTED)
            json_array_append_new(list, json_integer(i + 1));
        else
            more++;
    }
    return more;
}

static void put_path(json_t *object, const reach_job *job, const ulna_reach_result *results, int jumps, int missed,
                     double seconds)
{
    int count = job->poses.count, iterations = 0, restarts = 0;
    double position = 0, rotation = 0;
    for (int i = 0; i < count; i++) {
        position = fmax(position, results[i].position_error);
        rotation = fmax(rotation, results[i].rotation_error);
        iterations += results[i].iterations;
        restarts += results[i].restarts;
    }
    put_count(object, "samples", count);
    put_flag(object, "reached", missed == 0);
    put_count(object, "reached_samples", count - missed);
    put_count(object, "missed", missed);
    put_count(object, "missed_more", put_samples(put_list(object, "missed_samples"), results, count, 0));
    put_count(object, "jumps", jumps);
    put_count(object, "jumps_more", put_samples(put_list(object, "jump_samples"), results, count, 1));
    put_number(object, "position_error_m", position);
    put_number(object, "rotation_error_rad", rotation);
    put_number(put_object(object, "us"), "mean", 1e6 * seconds / count);
    put_number(put_object(object, "iterations"), "mean", (double)iterations / count);
    put_number(put_object(object, "restarts"), "mean", (double)restarts / count);
}

static void print_path(const cli *tool, const json_t *object)
{
    fact_line(tool, object, "path", "{reached_samples} of {samples} sample{samples:/s} reached");
    fact_line(
        tool, object, "missed",
        "{missed?}sample{missed:/s} {missed_samples}[{missed_more?} and {missed_more} more: -o FILE.csv has all]");
    fact_line(
        tool, object, "jumps",
        "{jumps} jump{jumps:/s}[ {jumps?}at sample{jumps:/s} {jump_samples}][{jumps_more?} and {jumps_more} more: -o FILE.csv has all]");
    fact_line(tool, object, "errors", "at most {position_error_m%.3g} m and {rotation_error_rad%.3g} rad");
    reach_keep_print(tool, object);
    fact_line(
        tool, object, "effort",
        "{us.mean%us} a sample, {iterations.mean%.2f} iterations and {restarts.mean%.2g} restarts; solver: {solver}");
}

/* Judges every sample, by its constraints too; returns how many were missed. */
static int judge(json_t *object, const reach_job *job, const double *q, const ulna_reach_result *results,
                 reach_answer *answers)
{
    double largest[REACH_MOST_CONSTRAINTS] = {0}, errors[REACH_MOST_CONSTRAINTS];
    int missed = 0, not_kept[REACH_MOST_CONSTRAINTS] = {0};
    for (int i = 0; i < job->poses.count; i++) {
        answers[i] = reach_judge(job, job->keeper, q + (size_t)i * (size_t)job->nq, &results[i], i + 1, errors);
        answers[i].time = job->poses.times ? job->poses.times[i] : 0;
        missed += !results[i].reached;
        for (int c = 0; c < job->options.constraint_count; c++) {
            largest[c] = fmax(largest[c], errors[c]);
            not_kept[c] += !reach_is_kept(errors[c]);
        }
    }
    reach_keep_put(object, job, largest, not_kept);
    return missed;
}

static int follow(const cli *tool, json_t *object, reach_job *job)
{
    int count = job->poses.count, jumps = 0, code;
    ulna_error error;
    double *q = calloc((size_t)count * (size_t)job->nq + 1, sizeof *q);
    double *steps = job->max_speed > 0 ? largest_steps(job) : NULL;
    ulna_reach_result *results = calloc((size_t)count, sizeof *results);
    reach_answer *answers = calloc((size_t)count, sizeof *answers);
    ulna_error_clear(&error);
    if (!q || !results || !answers || (job->max_speed > 0 && !steps)) {
        cli_fail(&error, ULNA_ERR_MEMORY, "no memory for %d samples", count);
        code = files_fail(object, job->rows_path, &error);
    } else {
        double began = cli_seconds();
        ulna_status status =
            ulna_reach_path(job->work, count, job->poses.goals, job->seed, steps, q, results, &jumps, NULL);
        double seconds = cli_seconds() - began;
        if (status != ULNA_OK) {
            cli_fail(&error, cli_with_memory(status), "the path could not be followed: %s", ulna_status_text(status));
            code = files_fail(object, job->rows_path, &error);
        } else {
            int missed = judge(object, job, q, results, answers);
            put_path(object, job, results, jumps, missed, seconds);
            print_path(tool, object);
            code = reach_write_outputs(tool, object, job, REACH_SAMPLES, count, answers);
            if (!code && missed)
                code = CLI_PARTLY;
        }
    }
    free(q);
    free(steps);
    free(results);
    free(answers);
    return code;
}

int reach_follow(const cli *tool, json_t *object, reach_job *job)
{
    ulna_error error;
    ulna_error_clear(&error);
    return read_poses(job, &error) == ULNA_OK ? follow(tool, object, job) : files_fail(object, job->rows_path, &error);
}
