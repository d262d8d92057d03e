/* The files that `ulna solve` writes, each in the format that its name asks for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/solve/report.h"
#include "cli/solve/solve.h"

int solve_check_outputs(const cli *tool, const solve_job *job)
{
    for (int i = 0; i < job->output_count; i++)
        if (solve_is_picture(job->outputs[i]) && !job->constraints_path)
            return cli_usage(tool,
                             "'%s' would be a picture of feet that stand: give --constraints a file with \"feet\"",
                             job->outputs[i]);
        else if (!solve_is_picture(job->outputs[i]) && !ulna_format_writes(ulna_format_of_name(job->outputs[i])))
            return cli_usage(tool,
                             "'%s': unknown extension, which decides the format: .amc, .bvh, .csv, .mot, .glb, ...",
                             job->outputs[i]);
    return CLI_DONE;
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

/* Counts the bytes for the progress bar. */
static ulna_status write_counted(solve_job *job, const char *path, const ulna_model *model, const ulna_clip *clip,
                                 const ulna_recording *markers, const ulna_write_options *options, ulna_error *error)
{
    enum { LONG = 10000 };
    ulna_format format = ulna_format_of_name(path);
    ulna_output *output = NULL;
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    ulna_status status = ulna_output_open(path, NULL, &output, error);
    if (status != ULNA_OK)
        return status;
    counter c = {.to = ulna_output_sink(output), .bar = job->bar, .frames = clip->frame_count};
    const ulna_clip *motion = solve_is_marker_file(path) ? NULL : clip; /* there the markers are the motion */
    ulna_sink sink = {count_bytes, &c};
    if (job->bar && clip->frame_count > LONG) {
        c.expected = expect(format, model, clip, markers, options);
        progress_restart(job->bar);
    }
    status = ulna_content_write(format, model, motion, markers, options, &sink, &remarks, error);
    status = ulna_output_commit(output, status, error);
    const char *slash = strrchr(path, '/'); /* without its folder, which is not where a batch leaves it */
    files_note(job->notes, slash ? slash + 1 : path, &remarks);
    ulna_remarks_release(&remarks);
    return status;
}

int solve_is_marker_file(const char *path)
{
    ulna_format format = ulna_format_of_name(path);
    return format == ULNA_FORMAT_C3D || format == ULNA_FORMAT_TRC;
}

/* The take's markers as they were recorded, in the skeleton's axes. */
static ulna_status recorded_markers(const ulna_take *take, ulna_recording *to, ulna_error *error)
{
    if (ulna_recording_resize(to, (int)take->set.count, take->frame_count))
        return cli_fail(error, ULNA_ERR_MEMORY, "no memory for %d frames of markers", take->frame_count);
    for (size_t i = 0; i < take->set.count; i++)
        memcpy(to->names[i], take->set.items[i].marker, ULNA_MARKER_NAME);
    for (int f = 0; f < take->frame_count; f++)
        for (int i = 0; i < to->marker_count; i++)
            ulna_take_position(take, f, i, ulna_recording_frame(to, f) + 3 * (size_t)i);
    to->first_frame = take->first_frame;
    to->frame_seconds = take->recording->frame_seconds;
    return ULNA_OK;
}

/* What the recording's C3D holds besides its markers, for another one: analog data, force plates, events. Standard input is read once. */
static ulna_status read_besides(const solve_job *job, const char *path, ulna_content *besides, ulna_error *error)
{
    ulna_read_options options = ulna_read_options_default();
    options.unit_m = job->markers_unit;
    options.extras = 1;
    if (ulna_format_of_name(path) != ULNA_FORMAT_C3D || job->markers.format != ULNA_FORMAT_C3D ||
        strcmp(job->markers_path, "-") == 0)
        return ULNA_OK;
    return files_read(job->markers_path, &options, besides, error);
}

/* Acclaim files go with the skeleton's own file: its joints and its units. Marker files get the solved markers, scenes
 * the recorded ones beside the skeleton, but a character is written as it is. */
static ulna_status write_file(solve_job *job, const char *path, ulna_error *error)
{
    ulna_format format = ulna_format_of_name(path);
    ulna_write_options options = ulna_write_options_for(job->skeleton, format);
    options.digits = job->write.digits;
    options.dof_channels = job->write.dof_channels;
    const ulna_model *model = job->model;
    ulna_clip own = ulna_clip_empty(NULL);
    const ulna_clip *clip = &job->result.clip;
    ulna_recording recorded = ulna_recording_empty(NULL);
    int is_acclaim = format == ULNA_FORMAT_AMC || format == ULNA_FORMAT_ASF;
    ulna_content besides = ulna_content_empty(NULL);
    ulna_status status = read_besides(job, path, &besides, error);
    if (besides.extras) {
        options.extras = besides.extras;
        options.other_points = 1;
    }
    if (status == ULNA_OK && (is_acclaim || format == job->skeleton->format) && !job->take->scaled) {
        model = job->skeleton->model;
        if (job->model != model) {
            status = ulna_clip_convert(job->model, clip, model, &own, error);
            clip = &own;
        }
    }
    options.up = job->markers.source.up;
    if (status == ULNA_OK && (format == ULNA_FORMAT_GLB || format == ULNA_FORMAT_GLTF) && !options.extras)
        status = recorded_markers(job->take, &recorded, error);
    if (status == ULNA_OK) {
        int is_counted = cli_writing_begin(path);
        status = write_counted(job, path, model, clip, solve_is_marker_file(path) ? &job->result.solved : &recorded,
                               &options, error);
        cli_writing_end(is_counted);
    }
    if (status == ULNA_OK && !job->take->scaled && !job->scaled.model)
        files_note_skeleton(job->notes, format, job->skeleton_path, job->skeleton, 0);
    ulna_content_release(&besides);
    ulna_recording_release(&recorded);
    ulna_clip_release(&own);
    return status;
}

/* ---- all of them --------------------------------------------------------------------------------------------- */

static ulna_status write_picture(const solve_job *job, const char *path, ulna_error *error)
{
    return job->result.stance_count
               ? solve_draw_feet(job, path, error)
               : cli_fail(error, ULNA_ERR_UNSUPPORTED,
                          "no foot was found that stands still, so there is nothing to draw: give the frames in "
                          "which feet do, in \"feet\" of %s",
                          job->constraints_path);
}

static int write_row(solve_job *job, int index, json_t *row)
{
    ulna_error error;
    ulna_error_clear(&error);
    const char *path = job->outputs[index];
    json_object_set_new(row, "file", cli_json_text(path));
    if (solve_is_picture(path) ? write_picture(job, path, &error) : write_file(job, path, &error)) {
        json_object_set_new(row, "result", json_string("failed"));
        return solve_fail(job, row, path, &error);
    }
    json_object_set_new(row, "result", json_string("written"));
    return CLI_DONE;
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

/* What a C3D from standard input holds besides its markers is gone when another one is written. */
static void note_besides(const solve_job *job)
{
    int is_c3d = 0;
    for (int i = 0; i < job->output_count; i++)
        is_c3d |= ulna_format_of_name(job->outputs[i]) == ULNA_FORMAT_C3D;
    if (is_c3d && job->markers.format == ULNA_FORMAT_C3D && strcmp(job->markers_path, "-") == 0)
        files_note_text(job->notes, "analog data, events, force plates and other parameters of standard input are not "
                                    "written: name the file instead");
}

/* A skeleton that was scaled to the person is in no file of the user's. */
static void note_scaled(const solve_job *job)
{
    const char *alone = NULL;
    int is_acclaim = 0;
    for (int i = 0; i < job->output_count; i++) {
        ulna_format format = ulna_format_of_name(job->outputs[i]);
        if (ulna_format_reads(format) & ULNA_HOLDS_SKELETON)
            return;
        if (ulna_format_reads(format) & ULNA_HOLDS_MOTION) {
            alone = job->outputs[i];
            is_acclaim |= format == ULNA_FORMAT_AMC;
        }
    }
    if (!alone || (!job->take->scaled && !job->scaled.model))
        return;
    const char *slash = strrchr(alone, '/'), *name = slash ? slash + 1 : alone, *dot = strrchr(name, '.');
    int length = (int)(dot && dot > name ? dot - name : (long)strlen(name));
    files_note_text(
        job->notes,
        "%.100s has joint values, and no skeleton, which was scaled to this person: -o %.*s.%s writes it too", name,
        length < 100 ? length : 100, name, is_acclaim ? "asf" : "json");
}

int solve_write_outputs(solve_job *job)
{
    json_t *list = put_list(job->object, "outputs");
    int code = CLI_DONE;
    note_besides(job);
    note_scaled(job);
    for (int i = 0; i < job->output_count; i++) {
        int failed = write_row(job, i, put_row(list));
        code = failed > code ? failed : code;
    }
    int reported = write_report(job);
    return reported > code ? reported : code;
}
