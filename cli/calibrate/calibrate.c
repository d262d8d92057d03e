/* ulna calibrate: from a recording to where its markers sit on the skeleton. */
#include "cli/calibrate/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/numbers.h"
#include "cli/progress.h"
#include "cli/solve/solve.h"

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
    job->static_path = cli_value(tool, "static");
    job->average = cli_value(tool, "average") != NULL;
    job->options = ulna_calibrate_options_default();
    job->options.symmetric = cli_value(tool, "symmetric") != NULL;
    job->options.scale = job->options.symmetric || cli_value(tool, "scale") || job->static_path;
    job->options.repair = cli_value(tool, "repair") != NULL;
    if (!job->skeleton_path || !job->markers_path)
        return cli_usage(tool, "--skeleton and --markers are needed");
    if (cli_value(tool, "model-out") && !job->options.scale)
        return cli_usage(
            tool, "--model-out writes the skeleton with new bone lengths: it needs --scale, --symmetric or --static");
    if (job->average && !job->reference_path)
        return cli_usage(tool, "--average needs --reference");
    if (job->average && (job->options.scale || job->options.repair))
        return cli_usage(tool, "--average takes offsets as the reference has them: no lengths and no --repair");
    int code = numbers_count(tool, "frames", 1, 100000, &job->options.frames);
    if (job->options.keys > job->options.frames)
        job->options.keys = job->options.frames;
    return code ? code : read_axes(tool, job);
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

/* Bone lengths of the person who stands still; offsets there are where the take's begin. */
static ulna_status find_lengths(calibrate_job *job, ulna_error *error)
{
    ulna_calibrate_options options = ulna_calibrate_options_static();
    options.symmetric = job->options.symmetric;
    ulna_status status = ulna_calibrate(job->skeleton.model, &job->set, &job->still.recording, job->axes_static,
                                        &options, &job->lengths, error);
    for (size_t i = 0; i < job->set.count && !status; i++)
        for (size_t j = 0; j < job->lengths.set.count; j++)
            if (strcmp(job->set.items[i].marker, job->lengths.set.items[j].marker) == 0)
                memcpy(job->set.items[i].offset, job->lengths.set.items[j].offset, sizeof job->set.items[i].offset);
    return status;
}

/* The lengths as if the take had told them. */
static void take_over(ulna_calibration *from, ulna_calibration *to)
{
    to->model = from->model;
    to->scale = from->scale;
    from->model = NULL;
    from->scale = NULL;
}

static int run(const cli *tool, json_t *object, calibrate_job *job, ulna_error *error)
{
    progress bar;
    ulna_status status = ULNA_OK, still = ULNA_OK;
    const ulna_model *model = job->skeleton.model;
    progress_begin(&bar, tool);
    if (job->average)
        status = average(job, error);
    else {
        ulna_calibrate_options options = job->options;
        options.progress = show;
        options.progress_context = &bar;
        if (job->static_path) {
            still = find_lengths(job, error);
            model = still ? model : job->lengths.model;
            options.scale = options.symmetric = 0;
        }
        if (!still)
            status =
                ulna_calibrate(model, &job->set, &job->markers.recording, job->axes, &options, &job->result, error);
        if (!still && !status && job->static_path)
            take_over(&job->lengths, &job->result);
    }
    progress_end(&bar);
    if (still)
        return files_fail(object, job->static_path, error);
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
    int code = calibrate_load(object, job, &error);
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

static int calibrate_main(cli *tool)
{
    calibrate_job job = {.skeleton = ulna_content_empty(NULL),
                         .markers = ulna_content_empty(NULL),
                         .still = ulna_content_empty(NULL),
                         .reference = ulna_clip_empty(NULL),
                         .set = ulna_marker_set_empty(NULL),
                         .result = ulna_calibration_empty(NULL),
                         .lengths = ulna_calibration_empty(NULL)};
    int code = read_options(tool, &job);
    if (!code) {
        json_t *object = json_object();
        job.notes = json_array();
        code = calibrate(tool, object, &job);
        json_object_set_new(object, "notes", job.notes);
        cli_json_print(tool, object);
    }
    ulna_calibration_release(&job.lengths);
    ulna_calibration_release(&job.result);
    ulna_marker_set_release(&job.set);
    ulna_clip_release(&job.reference);
    ulna_content_release(&job.still);
    ulna_content_release(&job.markers);
    ulna_content_release(&job.skeleton);
    return code;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"skeleton", 's', "FILE", "The skeleton: ASF, BVH, glTF or a model file, or the name of a built-in one."},
    {"markers", 'm', "FILE", "The recording: C3D, TRC or CSV."},
    {"attach", 'a', "FILE",
     "Which bone each marker is on, and where to start: a CSV file of marker, bone, x, y, z; 0, 0, 0 starts in the "
     "middle of the bone. By default as the skeleton's own markers, and by the names of common marker sets."},
    {"reference", 0, "FILE",
     "A motion of the same take, such as the AMC beside a C3D, to start from. It also tells the bones, if nothing else "
     "does."},
    {"average", 0, NULL, "Take the offsets as they are on average in the reference, and no more."},
    {"scale", 0, NULL, "Find bone lengths too."},
    {"symmetric", 0, NULL, "The same, left and right alike."},
    {"static", 0, "FILE",
     "Find bone lengths not in the take but in this recording of the same person, who stands still about as the "
     "skeleton does at rest."},
    {"repair", 0, NULL,
     "Put markers whose error is more than three times the median on the bone that carries them best, and calibrate "
     "again."},
    {"frames", 0, "N", "Use so many frames of the take, spread evenly; 200 by default."},
    {"axes", 0, "ABC",
     "Which axes of the recording are the skeleton's x, y and z, such as yzx. By default, or with auto, found from "
     "what the files say is up, or by how the skeleton stands in the recording."},
    {"up", 0, "AXIS", "Which axis of the recording points up: x, y or z. The rest follows."},
    {"output", 'o', "FILE", "Write marker, bone, offset in metres and weight, a CSV file for `ulna solve --attach`."},
    {"model-out", 0, "FILE", "With new bone lengths, write the skeleton that has them, as a model file."},
    {0},
};

const cli_command calibrate_command = {
    .name = "calibrate",
    .operands = "--skeleton S --markers M",
    .operand = "an option",
    .least = 0,
    .most = 0,
    .summary = "find where the markers sit on the skeleton",
    .text = "Finds the offset of each marker from its bone, and with --scale the lengths of the bones, from the take "
            "itself: offsets and poses that together fit the recording best. No reference motion is needed. Gaps, "
            "stray "
            "and swapped markers are weighed down.\n\n"
            "A low error is not all. Beside the error on the frames that were used stands that on blocks of the take "
            "that "
            "were not; markers whose offsets the take does not determine are named, and those that fit far worse than "
            "the others, which may be on the wrong bone; and how many joint angles are beyond their limits.",
    .options = options,
    .reads = "skeleton markers attach reference static",
    .writes = "output model-out",
    .examples = "ulna calibrate -s s.asf -m t.c3d -o a.csv\tbones by the markers' names\n"
                "ulna solve -s s.asf -m t.c3d -a a.csv -o t.amc\tand what it is for\n"
                "ulna calibrate -s s.asf -m t.c3d --symmetric --model-out s.json -o a.csv\tlengths too",
    .run = calibrate_main,
};
