/* The files that `ulna global` writes: the pose as a motion of a frame, or the results as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/global/global.h"

static int is_output(const cli *tool, int i)
{
    return strcmp(tool->given[i]->name, "output") == 0;
}

static int is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    if (!b)
        return 0;
    return strcmp(a, b) == 0 ||
           (stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino);
}

/* No input is written over, and no output twice. */
static int check_name(const cli *tool, const global_job *job, int i)
{
    const char *path = tool->values[i];
    const char *const inputs[] = {job->skeleton_path,    job->goals_path,          job->take.markers_path,
                                  job->take.attach_path, job->take.reference_path, job->take.bounds_path};
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++)
        if (is_same_file(path, inputs[k]))
            return cli_usage(tool, "'%s' is read: write to another name", path);
    for (int k = 0; k < i; k++)
        if (is_output(tool, k) && is_same_file(path, tool->values[k]))
            return cli_usage(tool, "'%s' would be written twice", path);
    return CLI_DONE;
}

static int check_format(const cli *tool, const char *path)
{
    ulna_format format = ulna_format_of_name(path);
    if (format == ULNA_FORMAT_UNKNOWN)
        return cli_usage(tool, "'%s': the ending of a name tells what to write: .amc, .bvh, .csv, .mot, .glb or .json",
                         path);
    if (format != ULNA_FORMAT_MODEL_JSON && !(ulna_format_writes(format) & ULNA_HOLDS_MOTION))
        return cli_usage(tool, "'%s': %s holds no pose; .amc, .bvh, .csv, .mot and .glb do", path,
                         ulna_format_text(format));
    return CLI_DONE;
}

int global_check_outputs(const cli *tool, const global_job *job)
{
    int code = CLI_DONE;
    for (int i = 0; i < tool->given_count && !code; i++) {
        if (!is_output(tool, i))
            continue;
        code = check_name(tool, job, i);
        if (!code)
            code = check_format(tool, tool->values[i]);
    }
    return code;
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static ulna_status write_json(const char *path, const json_t *object, ulna_error *error)
{
    ulna_output *output = NULL;
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    if (!text)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    ulna_status status = ulna_output_open(path, NULL, &output, error);
    if (!status) {
        ulna_sink sink = ulna_output_sink(output);
        sink.write(sink.context, text, strlen(text));
        sink.write(sink.context, "\n", 1);
        status = ulna_output_commit(output, error); /* which knows of every write that failed, and why */
    }
    free(text);
    return status;
}

/* Where the goals are, to be seen beside the skeleton. */
static ulna_status goals_as_markers(const global_job *job, ulna_recording *result, ulna_error *error)
{
    int count = 0;
    for (int i = 0; i < job->goal_count; i++)
        count += !job->goal[i].is_turn;
    if (count == 0)
        return ULNA_OK;
    if (ulna_recording_resize(result, count, job->frame_count))
        return cli_fail(error, ULNA_ERR_MEMORY, "no memory for %d frames of goals", job->frame_count);
    result->first_frame = job->poses.first_frame;
    result->frame_seconds = job->poses.frame_seconds;
    for (int i = 0, at = 0; i < job->goal_count; i++) {
        if (job->goal[i].is_turn)
            continue;
        snprintf(result->names[at], ULNA_MARKER_NAME, "%.*s", ULNA_MARKER_NAME - 1, job->goal[i].name);
        for (int f = 0; f < job->frame_count; f++) {
            double *to = ulna_recording_frame(result, f) + 3 * (size_t)at;
            if (!global_place(job, f, i, to))
                to[0] = to[1] = to[2] = NAN;
        }
        at++;
    }
    return ULNA_OK;
}

/* Files of the skeleton's own kind, and Acclaim motions, go with its file: the same units. */
static ulna_status write_motion(global_job *job, const char *path, ulna_error *error)
{
    ulna_format format = ulna_format_of_name(path);
    ulna_write_options options = ulna_write_options_for(&job->skeleton.file, format);
    ulna_recording markers = ulna_recording_empty(NULL);
    ulna_status status = ULNA_OK;
    if (format == ULNA_FORMAT_GLB || format == ULNA_FORMAT_GLTF)
        status = goals_as_markers(job, &markers, error);
    if (!status)
        status = files_write(path, job->model, &job->poses, &markers, &options, job->notes, error);
    ulna_recording_release(&markers);
    return status;
}

int global_write_outputs(const cli *tool, json_t *object, global_job *job)
{
    int code = CLI_DONE;
    json_t *list = json_array();
    for (int i = 0; i < tool->given_count; i++) {
        const char *path = tool->values[i];
        ulna_error error;
        ulna_error_clear(&error);
        if (!is_output(tool, i))
            continue;
        json_t *row = json_object();
        json_array_append_new(list, row);
        int is_json = ulna_format_of_name(path) == ULNA_FORMAT_MODEL_JSON;
        if (is_json ? write_json(path, object, &error) : write_motion(job, path, &error)) {
            int failed = files_fail(row, path, &error);
            code = failed > code ? failed : code;
            json_object_set_new(row, "result", json_string("failed"));
            continue;
        }
        json_object_set_new(row, "file", cli_json_text(path));
        json_object_set_new(row, "result", json_string("written"));
        cli_say(tool, "  %-10s%s\n", "wrote", path);
    }
    json_object_set_new(object, "outputs", list);
    return code;
}
