/* The files that `ulna solve` writes, each in the format that its name asks for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve/report.h"
#include "cli/solve/solve.h"
#include "ulna/kinematics.h"

int solve_check_outputs(const cli *tool, const solve_job *job)
{
    for (int i = 0; i < job->output_count; i++)
        if (!ulna_format_writes(ulna_format_of_name(job->outputs[i])))
            return cli_usage(tool, "'%s': the ending of a name tells what to write: .amc, .bvh, .csv, .mot, .glb, ...",
                             job->outputs[i]);
    return CLI_DONE;
}

/* ---- markers ------------------------------------------------------------------------------------------------- */

/*
 * The take as the set has it: its markers in its order, in the skeleton's axes. In the same memory, frame by frame, since a
 * long take hardly fits twice; only a set with more markers than the recording (two of the same name) needs more.
 */
static ulna_status turn_take(solve_job *job, ulna_error *error)
{
    size_t count = job->set.count, old = (size_t)job->take.marker_count;
    double *row = calloc(3 * count + 1, sizeof *row);
    ulna_recording fresh = ulna_recording_empty(NULL);
    if (!row || (count > old && ulna_recording_resize(&fresh, (int)count, job->take.frame_count))) {
        free(row);
        return cli_fail(error, ULNA_ERR_MEMORY, "no memory for %d frames of markers", job->take.frame_count);
    }
    double *to = count > old ? fresh.positions : job->take.positions;
    for (int f = 0; f < job->take.frame_count; f++, to += 3 * count) {
        for (size_t i = 0; i < count; i++)
            if (!solve_marker_at(job, f, job->source[i], row + 3 * i))
                row[3 * i] = row[3 * i + 1] = row[3 * i + 2] = NAN;
        memcpy(to, row, 3 * count * sizeof *row);
    }
    free(row);
    if (count > old) {
        ulna_recording_release(&job->markers.recording);
        fresh.first_frame = job->take.first_frame;
        fresh.frame_seconds = job->take.frame_seconds;
        job->markers.recording = job->take = fresh;
    }
    job->take.marker_count = (int)count;
    job->is_turned = 1;
    for (size_t i = 0; i < count; i++) {
        memcpy(job->take.names[i], job->set.items[i].marker, ULNA_MARKER_NAME);
        job->source[i] = (int)i;
    }
    return ULNA_OK;
}

/* Where the solved skeleton has its markers, in the recording's axes: in place of what was recorded. */
static ulna_status use_solved_markers(solve_job *job, ulna_error *error)
{
    ulna_pose *pose = NULL;
    ulna_status status = ulna_pose_create(job->model, NULL, &pose, error);
    for (int f = 0; f < job->take.frame_count && !status; f++) {
        double *to = ulna_recording_frame(&job->take, f), here[3];
        status = ulna_pose_forward(pose, ulna_clip_frame(&job->clip, f));
        for (size_t i = 0; i < job->set.count; i++) {
            ulna_pose_point(pose, job->set.items[i].body, job->set.items[i].offset, here);
            for (int k = 0; k < 3; k++)
                to[3 * i + (size_t)k] =
                    job->axes[k] * here[0] + job->axes[3 + k] * here[1] + job->axes[6 + k] * here[2];
        }
    }
    ulna_pose_destroy(pose);
    return status;
}

/* ---- one file ------------------------------------------------------------------------------------------------ */

/* Bytes on their way to a file, counted for the progress bar. */
typedef struct counter {
    ulna_sink to;
    progress *bar;
    double bytes, expected, frames, begun;
} counter;

static ulna_status count_bytes(void *context, const char *data, size_t bytes)
{
    counter *c = context;
    ulna_status status = c->to.write ? c->to.write(c->to.context, data, bytes) : ULNA_OK;
    char text[40];
    c->bytes += (double)bytes;
    if (c->bar && c->expected > 0) {
        double part = fmin(1, c->bytes / c->expected);
        snprintf(text, sizeof text, "writing, %.0f frames/s", part * c->frames / progress_seconds(c->bar));
        progress_show(c->bar, part, text);
    }
    return status;
}

/* How long the file will be, from its first frames. */
static double expect(ulna_format format, const ulna_model *model, const ulna_clip *clip, const ulna_recording *markers,
                     const ulna_write_options *options)
{
    enum { FEW = 64 };
    double bytes[2];
    int counts[2] = {1, FEW}, total = clip->frame_count;
    for (int i = 0; i < 2; i++) {
        ulna_clip part = *clip;
        ulna_recording some = *markers;
        counter c = {.expected = 0};
        ulna_sink sink = {count_bytes, &c};
        part.frame_count = total < counts[i] ? total : counts[i];
        some.frame_count = some.frame_count ? part.frame_count : 0;
        if (ulna_content_write(format, model, &part, &some, options, &sink, NULL, NULL))
            return 0;
        bytes[i] = c.bytes;
    }
    return bytes[0] + (total - 1) * (bytes[1] - bytes[0]) / (FEW - 1);
}

static ulna_status write_counted(solve_job *job, const char *path, const ulna_model *model, const ulna_clip *clip,
                                 const ulna_recording *markers, const ulna_write_options *options, ulna_error *error)
{
    enum { LONG = 10000 };
    ulna_format format = ulna_format_of_name(path);
    ulna_output *output = NULL;
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    ulna_status status = ulna_output_open(path, NULL, &output, error);
    if (status)
        return status;
    counter c = {.to = ulna_output_sink(output), .bar = job->bar, .frames = clip->frame_count};
    ulna_sink sink = {count_bytes, &c};
    if (job->bar && clip->frame_count > LONG) {
        c.expected = expect(format, model, clip, markers, options);
        progress_restart(job->bar);
    }
    status = ulna_content_write(format, model, clip, markers, options, &sink, &remarks, error);
    if (status && status != ULNA_ERR_IO)
        ulna_output_discard(output);
    else
        status = ulna_output_commit(output, error); /* which knows of every write that failed, and why */
    files_note(job->notes, path, &remarks);
    ulna_remarks_release(&remarks);
    return status;
}

/* Acclaim files go with the skeleton's own file: its joints and its units. Marker files get the solved markers, scenes
 * the recorded ones beside the skeleton. */
static ulna_status write_file(solve_job *job, const char *path, ulna_error *error)
{
    ulna_format format = ulna_format_of_name(path);
    ulna_write_options options = ulna_write_options_for(job->skeleton, format);
    const ulna_model *model = job->model;
    ulna_clip own = ulna_clip_empty(NULL);
    const ulna_clip *clip = &job->clip;
    const ulna_recording none = ulna_recording_empty(NULL);
    int is_acclaim = format == ULNA_FORMAT_AMC || format == ULNA_FORMAT_ASF;
    int has_markers = format == ULNA_FORMAT_C3D || format == ULNA_FORMAT_TRC || format == ULNA_FORMAT_GLB ||
                      format == ULNA_FORMAT_GLTF;
    ulna_status status = ULNA_OK;
    if (is_acclaim || format == job->skeleton->format) {
        model = job->skeleton->model;
        if (job->model != model) {
            status = ulna_clip_convert(job->model, &job->clip, model, &own, error);
            clip = &own;
        }
    }
    options.up = job->markers.source.up;
    if (!status)
        status = write_counted(job, path, model, clip, has_markers ? &job->take : &none, &options, error);
    ulna_clip_release(&own);
    return status;
}

/* ---- all of them --------------------------------------------------------------------------------------------- */

static int is_marker_file(const char *path)
{
    ulna_format format = ulna_format_of_name(path);
    return format == ULNA_FORMAT_C3D || format == ULNA_FORMAT_TRC;
}

static int write_row(solve_job *job, int index, json_t *row)
{
    ulna_error error;
    ulna_error_clear(&error);
    const char *path = job->outputs[index];
    json_object_set_new(row, "file", cli_json_text(path));
    if (write_file(job, path, &error)) {
        json_object_set_new(row, "result", json_string("failed"));
        return solve_fail(job, row, path, &error);
    }
    json_object_set_new(row, "result", json_string("written"));
    return CLI_DONE;
}

static int write_rows(solve_job *job, json_t *list, int are_marker_files)
{
    int code = CLI_DONE;
    for (int i = 0; i < job->output_count; i++) {
        if (is_marker_file(job->outputs[i]) != are_marker_files)
            continue;
        int failed = write_row(job, i, json_array_get(list, (size_t)i));
        code = failed > code ? failed : code;
    }
    return code;
}

static int write_report(solve_job *job)
{
    ulna_error error;
    ulna_error_clear(&error);
    if (!job->report_path)
        return CLI_DONE;
    if (report_write(job, job->report_path, &error))
        return solve_fail(job, job->object, job->report_path, &error);
    json_object_set_new(job->object, "report", cli_json_text(job->report_path));
    return CLI_DONE;
}

/* Marker files last: their markers take the place of the recording. */
int solve_write_outputs(solve_job *job)
{
    ulna_error error;
    int any = 0;
    json_t *list = json_array();
    ulna_error_clear(&error);
    for (int i = 0; i < job->output_count; i++) {
        json_array_append_new(list, json_object());
        any |= is_marker_file(job->outputs[i]);
    }
    json_object_set_new(job->object, "outputs", list);
    if (job->output_count && turn_take(job, &error))
        return solve_fail(job, job->object, job->markers_path, &error);
    int code = write_rows(job, list, 0), reported = write_report(job), later = CLI_DONE;
    if (any)
        later = use_solved_markers(job, &error) ? solve_fail(job, job->object, job->markers_path, &error)
                                                : write_rows(job, list, 1);
    code = reported > code ? reported : code;
    return later > code ? later : code;
}
