/* A path of poses: the CSV file, following it, and what happened on the way. */
#include "cli/reach/reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 28, MOST_LISTED = 20 };

/* ---- the file ---------------------------------------------------------------------------------------------------------------- */

void reach_release_poses(reach_poses *poses)
{
    free(poses->goals);
    free(poses->times);
    poses->goals = NULL;
    poses->times = NULL;
}

static int is_heading(const char *line)
{
    char *end;
    (void)strtod(line, &end);
    return end == line;
}

/* Finds what columns mean by their number: 3 or 7 for each tip, and perhaps the time before them. */
static ulna_status read_layout(reach_poses *poses, int columns, int tips, int *has_time, ulna_error *error)
{
    *has_time = columns == 3 * tips + 1 || columns == 7 * tips + 1;
    poses->has_rotations = columns - *has_time == 7 * tips;
    if (columns - *has_time == 3 * tips || poses->has_rotations)
        return ULNA_OK;
    return cli_fail(error, ULNA_ERR_PARSE,
                    "%d numbers: a line has x,y,z or x,y,z,qx,qy,qz,qw for each of the %d tips, and perhaps a time in "
                    "seconds before them",
                    columns, tips);
}

static ulna_status add_line(reach_poses *poses, const double *numbers, int columns, int tips, int has_time, int *room,
                            ulna_error *error)
{
    if (poses->count == *room) {
        int more = *room ? 2 * *room : 256;
        ulna_reach_goal *targets = realloc(poses->goals, (size_t)more * (size_t)tips * sizeof *targets);
        if (targets)
            poses->goals = targets;
        double *times = targets && has_time ? realloc(poses->times, (size_t)more * sizeof *times) : NULL;
        if (times)
            poses->times = times;
        if (!targets || (has_time && !times))
            return cli_no_memory(error);
        *room = more;
    }
    int each = (columns - has_time) / tips;
    for (int t = 0; t < tips; t++) {
        ulna_reach_goal *target = &poses->goals[(size_t)poses->count * (size_t)tips + (size_t)t];
        const double *n = numbers + has_time + t * each;
        *target = (ulna_reach_goal){{n[0], n[1], n[2]}, {0, 0, 0, 1}};
        if (each == 7)
            memcpy(target->rotation, n + 3, sizeof target->rotation);
        if (each == 7 && !(hypot(hypot(n[3], n[4]), hypot(n[5], n[6])) > 0))
            return cli_fail(error, ULNA_ERR_PARSE, "the quaternion of tip %d is zero", t + 1);
    }
    if (has_time && poses->count > 0 && !(numbers[0] > poses->times[poses->count - 1]))
        return cli_fail(error, ULNA_ERR_PARSE, "the time %g is not after the time before it", numbers[0]);
    if (has_time)
        poses->times[poses->count] = numbers[0];
    poses->count++;
    return ULNA_OK;
}

static ulna_status read_lines(reach_poses *poses, char *text, int tips, ulna_error *error)
{
    double numbers[7 * REACH_MOST_TIPS + 1];
    int number = 0, columns = 0, has_time = 0, room = 0;
    ulna_status status = ULNA_OK;
    for (char *next = text, *line; status == ULNA_OK && (line = fields_line(&next, &number));) {
        if (poses->count == 0 && columns == 0 && is_heading(line)) {
            columns = -1; /* no second one */
            continue;
        }
        int count = reach_numbers(line, numbers, 7 * REACH_MOST_TIPS + 1);
        if (count < 0)
            status = cli_fail(error, ULNA_ERR_PARSE,
                              "a line of the path has numbers, separated by commas; this has '%.60s'", line);
        else if (columns <= 0)
            status = read_layout(poses, columns = count, tips, &has_time, error);
        else if (count != columns)
            status = cli_fail(error, ULNA_ERR_PARSE, "%d numbers; the lines above have %d", count, columns);
        if (status == ULNA_OK)
            status = add_line(poses, numbers, columns, tips, has_time, &room, error);
        if (status != ULNA_OK)
            error->line = number;
    }
    if (status == ULNA_OK && poses->count == 0)
        status = cli_fail(error, ULNA_ERR_PARSE, "the path has no poses");
    return status;
}

ulna_status reach_read_poses(reach_poses *poses, const char *path, int tip_count, ulna_error *error)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_status status = ulna_file_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, MOST_BYTES, &text, error);
    if (status == ULNA_OK)
        status = ulna_text_append(&text, "", 1) == ULNA_OK ? ULNA_OK : cli_no_memory(error);
    if (status == ULNA_OK && strlen(text.data) + 1 != text.length)
        status = cli_fail(error, ULNA_ERR_PARSE, "the file is not text: it has a zero byte");
    if (status == ULNA_OK)
        status = read_lines(poses, text.data, tip_count, error);
    ulna_text_release(&text);
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

static void put_samples(json_t *list, const ulna_reach_result *results, int count, int jumped)
{
    for (int i = 0, listed = 0; i < count && listed < MOST_LISTED; i++)
        if (jumped ? i > 0 && results[i].jumped : !results[i].reached) {
            json_array_append_new(list, json_integer(i + 1));
            listed++;
        }
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
    put_samples(put_list(object, "missed_samples"), results, count, 0);
    put_count(object, "jumps", jumps);
    put_samples(put_list(object, "jump_samples"), results, count, 1);
    put_number(object, "position_error_m", position);
    put_number(object, "rotation_error_rad", rotation);
    put_number(put_object(object, "us"), "mean", 1e6 * seconds / count);
    put_number(put_object(object, "iterations"), "mean", (double)iterations / count);
    put_number(put_object(object, "restarts"), "mean", (double)restarts / count);
}

static void print_path(const cli *tool, const json_t *object)
{
    fact_line(tool, object, "path", "{reached_samples} of {samples} sample{samples:/s} reached");
    fact_line(tool, object, "missed", "{missed?}sample{missed:/s} {missed_samples}");
    fact_line(tool, object, "jumps", "{jumps} jump{jumps:/s}[ {jumps?}at sample{jumps:/s} {jump_samples}]");
    fact_line(tool, object, "errors", "at most {position_error_m%.3g} m and {rotation_error_rad%.3g} rad");
    fact_line(
        tool, object, "effort",
        "{us.mean%.3g} µs, {iterations.mean%.2f} iterations and {restarts.mean%.2g} restarts a sample; solver: {solver}");
}

int reach_follow(const cli *tool, json_t *object, reach_job *job)
{
    int count = job->poses.count, jumps = 0, missed = 0, code = CLI_DONE;
    ulna_error error;
    double *q = calloc((size_t)count * (size_t)job->nq + 1, sizeof *q);
    double *steps = job->max_speed > 0 ? largest_steps(job) : NULL;
    ulna_reach_result *results = calloc((size_t)count, sizeof *results);
    ulna_error_clear(&error);
    if (!q || !results || (job->max_speed > 0 && !steps)) {
        cli_fail(&error, ULNA_ERR_MEMORY, "no memory for %d samples", count);
        code = files_fail(object, job->poses.path, &error);
    } else {
        double began = cli_seconds();
        ulna_status status =
            ulna_reach_path(job->work, count, job->poses.goals, job->seed, steps, q, results, &jumps, &missed);
        double seconds = cli_seconds() - began;
        if (status != ULNA_OK) {
            cli_fail(&error, cli_with_memory(status), "a pose is too far away to be a goal, or no finite number");
            code = files_fail(object, job->poses.path, &error);
        } else {
            put_path(object, job, results, jumps, missed, seconds);
            print_path(tool, object);
            code = reach_write_outputs(tool, object, job, count, q);
            if (!code && missed)
                code = CLI_PARTLY;
        }
    }
    free(q);
    free(steps);
    free(results);
    return code;
}
