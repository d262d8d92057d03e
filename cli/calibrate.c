/* ulna calibrate: from a recording to where its markers sit on the skeleton. */
#include "calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "progress.h"
#include "solve.h"

/* ---- the command line ------------------------------------------------------------------------------------------ */

static int read_axes(const cli *tool, calibrate_job *job)
{
    const char *axes = cli_value(tool, "axes"), *up = cli_value(tool, "up");
    if (axes && strcmp(axes, "auto") != 0) {
        if (!solve_read_axes(axes, job->axes))
            return cli_usage(tool, "--axes takes the recording's axes that are the skeleton's x, y and z, such as yzx");
        job->has_axes = 1;
    }
    if (up && (strlen(up) != 1 || !strchr("xyz", *up)))
        return cli_usage(tool, "--up takes x, y or z");
    if (up && job->has_axes)
        return cli_usage(tool, "--axes and --up say the same: give one of them");
    job->up = up ? *up : 0;
    return CLI_DONE;
}

static int read_options(const cli *tool, calibrate_job *job)
{
    job->skeleton_path = cli_value(tool, "skeleton");
    job->markers_path = cli_value(tool, "markers");
    job->reference_path = cli_value(tool, "reference");
    job->attach_path = cli_value(tool, "attach");
    job->average = cli_value(tool, "average") != NULL;
    job->options = ulna_calibrate_options_default();
    job->options.symmetric = cli_value(tool, "symmetric") != NULL;
    job->options.scale = job->options.symmetric || cli_value(tool, "scale");
    job->options.repair = cli_value(tool, "repair") != NULL;
    if (!job->skeleton_path || !job->markers_path)
        return cli_usage(tool, "--skeleton and --markers are needed");
    if (cli_value(tool, "model-out") && !job->options.scale)
        return cli_usage(tool, "--model-out writes the skeleton with new bone lengths: it needs --scale");
    if (job->average && !job->reference_path)
        return cli_usage(tool, "--average needs --reference");
    if (job->average && (job->options.scale || job->options.repair))
        return cli_usage(tool, "--average takes offsets as the reference has them: neither --scale nor --repair");
    int code = numbers_count(tool, "frames", 1, 100000, &job->options.frames);
    if (job->options.keys > job->options.frames)
        job->options.keys = job->options.frames;
    return code ? code : read_axes(tool, job);
}

/* ---- what is given ----------------------------------------------------------------------------------------------- */

static int in_common(const ulna_model *model, const ulna_recording *recording)
{
    int count = 0;
    for (int m = 0; m < ulna_model_marker_count(model); m++)
        count += ulna_recording_find(recording, ulna_model_marker_name(model, m)) != ULNA_NONE;
    return count;
}

/* Which bone: as the table says, as the skeleton's own markers, by names, and last by the reference alone. */
static int find_bones(json_t *object, calibrate_job *job, ulna_error *error)
{
    const ulna_model *model = job->skeleton.model;
    const ulna_recording *recording = &job->markers.recording;
    if (job->attach_path) {
        job->from = "the table";
        return files_attachment(job->attach_path, model, &job->set, error) ? files_fail(object, job->attach_path, error)
                                                                           : CLI_DONE;
    }
    if (2 * in_common(model, recording) > recording->marker_count) {
        job->from = "the skeleton's own markers";
        return ulna_marker_set_from_model(&job->set, model) ? files_fail(object, job->skeleton_path, error) : CLI_DONE;
    }
    job->from = "the markers' names";
    if (ulna_marker_set_from_names(model, recording, &job->set, NULL, error)) {
        if (!job->reference_path)
            return files_fail(object, job->markers_path, error);
        job->from = "the reference motion";
        ulna_error_clear(error);
    }
    return CLI_DONE;
}

static void note_unused(calibrate_job *job)
{
    char names[300] = "";
    int count = 0;
    for (int m = 0; m < job->markers.recording.marker_count; m++) {
        const char *name = job->markers.recording.names[m];
        size_t length = strlen(names), i = 0;
        while (i < job->set.count && ulna_recording_find(&job->markers.recording, job->set.items[i].marker) != m)
            i++;
        if (i < job->set.count)
            continue;
        count++;
        if (length < 240)
            snprintf(names + length, sizeof names - length, "%s%.40s", length ? ", " : "", name);
    }
    if (count)
        files_note_text(job->notes, "%d marker%s without a known bone, not used: %s%s", count, count == 1 ? "" : "s",
                        names, strlen(names) >= 240 ? ", ..." : "");
}

static ulna_status find_axes(calibrate_job *job, ulna_error *error)
{
    char up = job->up ? job->up : job->markers.source.up;
    if (job->has_axes)
        return ULNA_OK;
    /* Without bones there is nothing to align: what the files say, or as it is. */
    if (!job->set.count && !(up && job->skeleton.source.up)) {
        files_note_text(job->notes,
                        "which way is up is not known: axes are taken as they are; --up or --axes says otherwise");
        return solve_read_axes("xyz", job->axes) ? ULNA_OK : ULNA_ERR_ARGUMENT;
    }
    return ulna_recording_axes(job->skeleton.model, &job->set, &job->markers.recording, up, job->skeleton.source.up,
                               job->axes, error);
}

static int load(json_t *object, calibrate_job *job, ulna_error *error)
{
    if (files_skeleton(job->skeleton_path, &job->skeleton, error))
        return files_fail(object, job->skeleton_path, error);
    files_note(job->notes, job->skeleton_path, &job->skeleton.remarks);
    ulna_status status = files_markers(job->markers_path, &job->markers, error);
    files_note(job->notes, job->markers_path, &job->markers.remarks);
    if (status)
        return files_fail(object, job->markers_path, error);
    if (job->reference_path && files_motion(job->reference_path, &job->skeleton, &job->reference, job->notes, error))
        return files_fail(object, job->reference_path, error);
    int code = find_bones(object, job, error);
    if (code)
        return code;
    if (find_axes(job, error))
        return files_fail(object, job->markers_path, error);
    if (job->reference_path && ulna_marker_set_from_motion(job->skeleton.model, &job->reference,
                                                           &job->markers.recording, job->axes, &job->set, error))
        return files_fail(object, job->reference_path, error);
    note_unused(job);
    return CLI_DONE;
}

/* ---- the work ------------------------------------------------------------------------------------------------------ */

static int show(void *context, int done, int total)
{
    progress_show(context, (double)done / total, "calibrating");
    return 0;
}

/* The offsets as they are, with how far markers stray from them in the reference. */
static ulna_status average(calibrate_job *job, ulna_error *error)
{
    ulna_calibration *r = &job->result;
    const ulna_recording *recording = &job->markers.recording;
    ulna_pose *pose = NULL;
    ulna_status status = ulna_pose_create(job->skeleton.model, NULL, &pose, error);
    r->set = job->set;
    job->set = ulna_marker_set_empty(NULL);
    r->weak = -1;
    r->rms = r->rms_held_out = NAN;
    double squares = 0;
    long long seen = 0;
    int frames = job->reference.frame_count == recording->frame_count ? recording->frame_count : 0;
    for (int f = 0; f < frames && !status; f++) {
        status = ulna_pose_forward(pose, ulna_clip_frame(&job->reference, f));
        for (size_t i = 0; i < r->set.count && !status; i++) {
            int m = ulna_recording_find(recording, r->set.items[i].marker);
            double at[3], distance = 0;
            status = ulna_pose_point(pose, r->set.items[i].body, r->set.items[i].offset, at);
            for (int k = 0; k < 3 && m != ULNA_NONE; k++) {
                const double *x = ulna_recording_frame(recording, f) + 3 * (size_t)m, *a = job->axes + 3 * k;
                double d = a[0] * x[0] + a[1] * x[1] + a[2] * x[2] - at[k];
                distance += d * d;
            }
            if (m != ULNA_NONE && isfinite(distance)) {
                squares += distance;
                seen++;
            }
        }
    }
    if (seen)
        r->rms = sqrt(squares / (double)seen);
    r->frames_used = frames ? frames : job->reference.frame_count;
    ulna_pose_destroy(pose);
    return status;
}

static int run(const cli *tool, json_t *object, calibrate_job *job, ulna_error *error)
{
    progress bar;
    ulna_status status;
    progress_begin(&bar, tool);
    if (job->average)
        status = average(job, error);
    else {
        job->options.progress = show;
        job->options.progress_context = &bar;
        status = ulna_calibrate(job->skeleton.model, &job->set, &job->markers.recording, job->axes, &job->options,
                                &job->result, error);
    }
    progress_end(&bar);
    return status ? files_fail(object, job->markers_path, error) : CLI_DONE;
}

static ulna_status write_set(const calibrate_job *job, const char *path, ulna_error *error)
{
    ulna_output *output = NULL;
    ulna_status status = ulna_output_open(path, NULL, &output, error);
    if (status)
        return status;
    ulna_sink sink = ulna_output_sink(output);
    status = ulna_marker_set_write_csv(&job->result.set, job->skeleton.model, &sink, error);
    if (status && status != ULNA_ERR_IO)
        ulna_output_discard(output);
    else
        status = ulna_output_commit(output, error);
    return status;
}

static int write_files(const cli *tool, json_t *object, const calibrate_job *job, ulna_error *error)
{
    const char *path = cli_value(tool, "output"), *model = cli_value(tool, "model-out");
    if (path && write_set(job, path, error))
        return files_fail(object, path, error);
    if (path)
        json_object_set_new(object, "output", cli_json_text(path));
    if (model && ulna_model_save(job->result.model, model, error))
        return files_fail(object, model, error);
    if (model)
        json_object_set_new(object, "model", cli_json_text(model));
    return CLI_DONE;
}

static int calibrate(const cli *tool, json_t *object, calibrate_job *job)
{
    ulna_error error;
    ulna_error_clear(&error);
    int code = load(object, job, &error);
    if (!code)
        code = run(tool, object, job, &error);
    if (code)
        return code;
    calibrate_add_results(object, job);
    calibrate_print(tool, job);
    code = write_files(tool, object, job, &error);
    calibrate_print_files(tool, object);
    files_print_notes(tool, job->notes);
    return code;
}

int cli_calibrate(cli *tool)
{
    calibrate_job job = {.skeleton = ulna_content_empty(NULL),
                         .markers = ulna_content_empty(NULL),
                         .reference = ulna_clip_empty(NULL),
                         .set = ulna_marker_set_empty(NULL),
                         .result = ulna_calibration_empty(NULL)};
    int code = read_options(tool, &job);
    if (!code) {
        json_t *object = json_object();
        job.notes = json_array();
        code = calibrate(tool, object, &job);
        json_object_set_new(object, "notes", job.notes);
        cli_json_print(tool, object);
    }
    ulna_calibration_release(&job.result);
    ulna_marker_set_release(&job.set);
    ulna_clip_release(&job.reference);
    ulna_content_release(&job.markers);
    ulna_content_release(&job.skeleton);
    return code;
}
