/* A path of poses: following it, and what happened on the way. */
#include "cli/reach/reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SAMPLES = 1 << 24, MOST_LISTED = 20, PIECE = 100 /* samples */ };

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
    double *steps = cli_allocate((size_t)job->nv + 1, sizeof *steps);
    const reach_poses *p = &job->poses;
    double between = job->rate > 0 ? 1 / job->rate : 1;
    if (p->times && p->count > 1 && !(job->rate > 0))
        between = (p->times[p->count - 1] - p->times[0]) / (p->count - 1);
    for (int j = 0; j < job->nv; j++)
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

static void put_path(json_t *object, const reach_job *job, const ulna_reach_result *results, int missed, double seconds)
{
    int count = job->poses.count, iterations = 0, restarts = 0, jumps = 0;
    double position = 0, rotation = 0;
    for (int i = 0; i < count; i++) {
        position = fmax(position, results[i].position_error);
        rotation = fmax(rotation, results[i].rotation_error);
        iterations += results[i].iterations;
        restarts += results[i].restarts;
        jumps += i > 0 && results[i].jumped;
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

/* In pieces, so that a bar moves and an interrupt is seen; the first is one sample. `done` receives how many samples were solved. */
static ulna_status follow_pieces(const cli *tool, const reach_job *job, const double *steps, double *q,
                                 ulna_reach_result *results, int *done, ulna_error *error)
{
    ulna_reach *reach = NULL;
    ulna_reach_work *follower = NULL;
    ulna_reach_options options = job->options;
    options.mode =
        ULNA_REACH_NEAR; /* --any and --nearest are about the first sample alone, whatever piece another one is in */
    ulna_status status = reach_make(job, &options, &reach, &follower, error);
    progress bar;
    progress_begin(&bar, tool);
    for (*done = 0; *done < job->poses.count && status == ULNA_OK && !cli_is_stopping();) {
        const size_t from = (size_t)*done, nq = (size_t)job->nq;
        const int left = job->poses.count - *done, size = from == 0 ? 1 : left < PIECE ? left : PIECE;
        status =
            ulna_reach_path(from ? follower : job->work, size, job->poses.goals + from * (size_t)job->tip_count,
                            from ? q + (from - 1) * nq : job->seed, steps, q + from * nq, results + from, NULL, NULL);
        if (status != ULNA_OK)
            cli_fail(error, cli_with_memory(status), "the path could not be followed: %s", ulna_status_text(status));
        *done += size;
        progress_show(&bar, (double)*done / job->poses.count, "samples");
    }
    progress_end(&bar);
    ulna_reach_work_destroy(follower);
    ulna_reach_destroy(reach);
    return status;
}

/* What follows until an interrupt is written; the signal then ends the program. */
static int follow(const cli *tool, json_t *object, reach_job *job)
{
    const int total = job->poses.count, is_counted = cli_writing_begin("");
    ulna_error error;
    double *q = cli_allocate((size_t)total * (size_t)job->nq + 1, sizeof *q);
    double *steps = job->max_speed > 0 ? largest_steps(job) : NULL;
    ulna_reach_result *results = cli_allocate((size_t)total, sizeof *results);
    reach_answer *answers = cli_allocate((size_t)total, sizeof *answers);
    ulna_error_clear(&error);
    double began = cli_seconds();
    int count, code = CLI_DONE;
    ulna_status status = follow_pieces(tool, job, steps, q, results, &count, &error);
    double seconds = cli_seconds() - began;
    job->poses.count = count;
    if (status != ULNA_OK) {
        code = files_fail(object, job->rows_path, &error);
    } else if (count > 0) {
        int missed = judge(object, job, q, results, answers);
        put_path(object, job, results, missed, seconds);
        if (count < total) {
            put_count(object, "samples_left", total - count);
            put_flag(object, "reached", 0);
        }
        print_path(tool, object);
        code = reach_write_outputs(tool, object, job, REACH_SAMPLES, count, answers);
        if (!code && (missed || count < total))
            code = CLI_PARTLY;
    }
    if (status == ULNA_OK && cli_is_stopping())
        cli_complain("interrupted: %d of %d samples are done%s", count, total,
                     count > 0 && cli_value(tool, "output") ? " and written" : "");
    cli_writing_end(is_counted);
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
