/* ulna calibrate: finds where the markers of a recording are on the skeleton. */
#include "cli/calibrate/calibrate.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/solve/solve.h"

/* ---- the command line ------------------------------------------------------------------------------------------ */

static int is_skeleton_name(const char *path)
{
    static const ulna_format formats[] = {ULNA_FORMAT_MODEL_JSON, ULNA_FORMAT_ASF, ULNA_FORMAT_BVH, ULNA_FORMAT_GLTF,
                                          ULNA_FORMAT_GLB};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (ulna_format_of_name(path) == formats[i])
            return 1;
    return 0;
}

/* How many, or with a colon, which of them. */
static int read_frames(const cli *tool, calibrate_job *job)
{
    const char *frames = cli_value(tool, "frames");
    job->first = INT_MIN;
    job->last = INT_MAX;
    if (frames && strchr(frames, ':'))
        return numbers_range(tool, "frames", "numbers of frames in the file", &job->first, &job->last);
    int code = numbers_count(tool, "frames", 1, 100000, &job->options.frames);
    if (job->options.first_frames > job->options.frames)
        job->options.first_frames = job->options.frames;
    return code;
}

static int read_options(const cli *tool, calibrate_job *job)
{
    job->skeleton_path = cli_value(tool, "skeleton");
    job->markers_path = cli_value(tool, "markers");
    job->reference_path = cli_value(tool, "reference");
    job->attach_path = cli_value(tool, "attach");
    job->static_path = cli_value(tool, "static");
    job->static_pose = cli_value(tool, "static-pose");
    job->template_path = cli_value(tool, "template");
    job->more_paths = tool->operands;
    job->more_count = tool->operand_count;
    job->subject = cli_value(tool, "subject");
    job->output_path = cli_value(tool, "output");
    job->model_path = cli_value(tool, "model-out");
    job->is_forced = cli_value(tool, "no-checks") != NULL;
    job->options = ulna_calibrate_options_default();
    job->options.evaluate_only = cli_value(tool, "average") != NULL;
    job->options.symmetric = cli_value(tool, "symmetric") != NULL;
    job->options.shoulders = cli_value(tool, "shoulders") != NULL;
    job->options.scale =
        job->options.symmetric || job->options.shoulders || cli_value(tool, "scale") || job->static_path;
    job->options.repair = cli_value(tool, "repair") != NULL;
    if (!job->markers_path)
        return cli_usage(tool, "--markers FILE is needed: the recording to calibrate with");
    job->is_unnamed = !job->skeleton_path;
    if (job->is_unnamed && (job->attach_path || job->reference_path || cli_value(tool, "skeleton-unit")))
        return cli_usage(tool, "--%s is about a skeleton: give that too, with --skeleton",
                         job->attach_path      ? "attach"
                         : job->reference_path ? "reference"
                                               : "skeleton-unit");
    if (job->is_unnamed) {
        job->skeleton_path = SOLVE_UNNAMED;
        job->options.symmetric |= !job->options.scale || job->static_path;
        job->options.scale = 1;
    }
    if (job->static_pose && !job->static_path)
        return cli_usage(tool, "--static-pose says how the person stands in the recording of --static: give that too");
    if (job->more_count && (job->static_path || job->reference_path))
        return cli_usage(tool, "--static and --reference are for a single take: give one recording");
    if (job->model_path && !job->options.scale)
        return cli_usage(
            tool,
            "--model-out writes the skeleton with new bone lengths: it needs --scale, --symmetric, --shoulders or --static");
    if (job->options.shoulders && (job->options.symmetric || cli_value(tool, "scale") || job->static_path))
        return cli_usage(tool,
                         "--shoulders finds two lengths, --scale, --symmetric and --static all: give one of them");
    if (job->model_path && !folder_is(job->model_path) && !is_skeleton_name(job->model_path))
        return cli_usage(tool, "--model-out '%s': the ending is that of a skeleton: .json, .asf, .bvh, .gltf or .glb",
                         job->model_path);
    if (job->options.evaluate_only && !job->reference_path)
        return cli_usage(tool, "--average needs --reference");
    if (job->options.evaluate_only && (job->options.scale || job->options.repair))
        return cli_usage(tool, "--average takes offsets as the reference has them: no lengths and no --repair");
    int code = read_frames(tool, job);
    if (!code)
        code = numbers_unit(tool, "input-unit", &job->markers_unit);
    if (!code)
        code = numbers_unit(tool, "skeleton-unit", &job->skeleton_unit);
    return code ? code : axes_read(tool, &job->axes);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static ulna_status add_all(const ulna_marker_set *from, ulna_marker_set *to)
{
    ulna_status status = ULNA_OK;
    for (size_t i = 0; i < from->count && status == ULNA_OK; i++) {
        const ulna_attachment *item = &from->items[i];
        status = ulna_marker_set_add(to, item->marker, item->body, item->offset, item->weight);
        if (status == ULNA_OK)
            to->items[to->count - 1].is_joint = item->is_joint;
    }
    return status;
}

/* Its markers are on the bones that it says, unless --attach says otherwise. */
static ulna_status read_template(calibrate_job *job, ulna_error *error)
{
    ulna_status status = ulna_marker_template_load(job->template_path, job->skeleton.model, &job->expected, error);
    if (status == ULNA_OK && !job->attach_path)
        status = add_all(&job->expected.set, &job->set);
    job->options.markers = &job->expected;
    return status;
}

/* t, n, a, or the first frame of a motion. */
static ulna_status read_static_pose(calibrate_job *job, ulna_error *error)
{
    size_t count = (size_t)ulna_model_coordinate_count(job->skeleton.model);
    ulna_clip clip = ulna_clip_empty(NULL);
    if (strlen(job->static_pose) == 1 && strchr("tnaTNA", *job->static_pose)) {
        job->standing = (char)(*job->static_pose | 0x20);
        return ULNA_OK;
    }
    job->shown = calloc(count, sizeof *job->shown);
    if (!job->shown)
        return cli_fail(error, ULNA_ERR_MEMORY, "no room for a pose");
    ulna_status status = files_motion(job->static_pose, &job->skeleton, &clip, job->notes, error);
    if (status == ULNA_OK && clip.frame_count)
        memcpy(job->shown, ulna_clip_frame(&clip, 0), count * sizeof *job->shown);
    ulna_clip_release(&clip);
    return status;
}

static ulna_status load_skeleton(const calibrate_job *job, ulna_content *skeleton, ulna_error *error)
{
    return job->is_unnamed ? files_built_in(SOLVE_UNNAMED, skeleton, error)
                           : files_skeleton(job->skeleton_path, job->skeleton_unit, skeleton, error);
}

static int read_files(json_t *object, calibrate_job *job, ulna_error *error)
{
    if (load_skeleton(job, &job->skeleton, error))
        return files_fail(object, job->skeleton_path, error);
    files_note(job->notes, job->skeleton_path, &job->skeleton.remarks);
    ulna_status status = files_markers(job->markers_path, job->markers_unit, &job->markers, error);
    files_note(job->notes, job->markers_path, &job->markers.remarks);
    if (status != ULNA_OK)
        return files_fail(object, job->markers_path, error);
    if (job->static_path && files_markers(job->static_path, job->markers_unit, &job->still, error))
        return files_fail(object, job->static_path, error);
    files_note(job->notes, job->static_path ? job->static_path : "", &job->still.remarks);
    if (job->reference_path && files_motion(job->reference_path, &job->skeleton, &job->reference, job->notes, error))
        return files_fail(object, job->reference_path, error);
    if (job->attach_path && ulna_marker_set_load(job->attach_path, job->skeleton.model, &job->set, error))
        return files_fail(object, job->attach_path, error);
    if (job->template_path && read_template(job, error))
        return files_fail(object, job->template_path, error);
    if (job->static_pose && read_static_pose(job, error))
        return files_fail(object, job->static_pose, error);
    for (int i = 0; i < job->more_count; i++) {
        status = files_markers(job->more_paths[i], job->markers_unit, &job->more[i], error);
        files_note(job->notes, job->more_paths[i], &job->more[i].remarks);
        if (status != ULNA_OK)
            return files_fail(object, job->more_paths[i], error);
    }
    return CLI_DONE;
}

/* ---- takes ------------------------------------------------------------------------------------------------------- */

/* What the options say of a recording; markers of job->set, and others by their names unless there is a table. */
static ulna_take_options take_options(const calibrate_job *job, const ulna_content *markers)
{
    ulna_take_options o = ulna_take_options_for(&job->skeleton, markers);
    o.set = job->set.count || job->is_unnamed ? &job->set : NULL; /* the built-in human has another person's markers */
    o.attach = job->attach_path ? ULNA_ATTACH_SET : ULNA_ATTACH_NAMES;
    o.check = 1;
    axes_apply(&job->axes, &o);
    o.subject = job->subject;
    if (markers != &job->still) {
        o.first_frame = job->first;
        o.last_frame = job->last;
    }
    return o;
}

static const char *bones_from(const calibrate_job *job)
{
    const ulna_take *take = job->take;
    return job->attach_path                        ? "the table"
           : take->attach == ULNA_ATTACH_REFERENCE ? "the reference motion"
           : take->joints                          ? "the names of its bones: the markers are joints"
           : !take->named                          ? "the skeleton's own markers"
           : (size_t)take->named < take->set.count ? "the skeleton's own markers, the rest by their names"
                                                   : "the markers' names";
}

static void note_template(const calibrate_job *job)
{
    char names[300] = "";
    int count = 0;
    for (size_t i = 0; i < job->expected.set.count; i++) {
        const char *marker = job->expected.set.items[i].marker;
        if (ulna_recording_find(&job->markers.recording, marker) != ULNA_NONE)
            continue;
        if (strlen(names) < 240)
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.40s", count ? ", " : "", marker);
        count++;
    }
    if (count)
        files_note_text(job->notes, "%d marker%s of the template %s not in the recording: %s%s", count,
                        count == 1 ? "" : "s", count == 1 ? "is" : "are", names, strlen(names) >= 240 ? ", ..." : "");
}

static void note_take(const calibrate_job *job)
{
    const ulna_take *take = job->take;
    char names[300] = "";
    for (int i = 0; i < take->unused_count && strlen(names) < 240; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.40s", i ? ", " : "",
                 take->recording->names[take->unused[i]]);
    if (take->unused_count)
        files_note_text(job->notes, "%d marker%s without a known bone, not used: %s%s; --attach can name one",
                        take->unused_count, take->unused_count == 1 ? "" : "s", names,
                        strlen(names) >= 240 ? ", ..." : "");
    if (!take->doubts &&
        (take->size_ratio < 0.4 || take->size_ratio > 2.5)) /* people are about as large as their skeletons */
        files_note_text(job->notes,
                        "the markers are %.2g times as far apart as on the skeleton: is the unit of the recording, or "
                        "of the skeleton, right? --input-unit changes it",
                        take->size_ratio);
}

/* Whether a recording can be right: the first one, or another, whose file the notes name. */
static ulna_status check_take(const calibrate_job *job, const ulna_take *take, const ulna_content *markers,
                              const char *path, json_t *object, ulna_error *error)
{
    const doubt_advice advice = {.subjects = "--subject NAME calibrates for one of them, --all-subjects for each",
                                 .skeleton = &job->skeleton,
                                 .markers = markers,
                                 .is_markers_unit_given = job->markers_unit > 0,
                                 .is_skeleton_unit_given = job->skeleton_unit > 0,
                                 .finds_lengths = job->options.scale,
                                 .is_forced = job->is_forced};
    if (markers == &job->markers)
        return doubts_check(take, &advice, object, job->notes, error);
    json_t *own = json_object(), *notes = json_array(), *note;
    size_t i;
    ulna_status status = doubts_check(take, &advice, own, notes, error);
    json_array_foreach(notes, i, note)
    {
        files_note_text(job->notes, "%.200s: %s", path, json_string_value(note));
    }
    json_decref(notes);
    json_decref(own);
    return status;
}

static int make_take(json_t *object, calibrate_job *job, ulna_error *error)
{
    ulna_take_options o = take_options(job, &job->markers);
    axes_note(&job->axes, &job->markers, job->notes);
    o.reference = job->reference_path ? &job->reference : NULL;
    o.reference_offsets = job->reference_path != NULL;
    if (ulna_take_create(&o, &job->take, error)) {
        ulna_error why = *error;
        if (why.status == ULNA_ERR_MODEL)
            cli_fail(error, why.status, "%.200s: --attach takes such a table", why.message);
        return files_fail(object, job->markers_path, error);
    }
    job->from = bones_from(job);
    note_take(job);
    note_template(job);
    if (check_take(job, job->take, &job->markers, job->markers_path, object, error))
        return files_fail(object, job->markers_path, error);
    for (int i = 0; i < job->more_count; i++) {
        ulna_take_options more = take_options(job, &job->more[i]);
        if (ulna_take_create(&more, &job->more_takes[i], error) ||
            check_take(job, job->more_takes[i], &job->more[i], job->more_paths[i], object, error))
            return files_fail(object, job->more_paths[i], error);
    }
    return CLI_DONE;
}

/* Bone lengths of the person who stands still; the take is made anew with these, and begins with the offsets found here. */
static ulna_status find_lengths(calibrate_job *job, json_t *object, ulna_error *error)
{
    ulna_take *still = NULL;
    ulna_calibrate_options options = ulna_calibrate_options_static();
    options.symmetric = job->options.symmetric;
    options.static_pose = job->shown;
    options.static_arms = job->standing;
    ulna_marker_set_release(&job->set);
    if (add_all(&job->take->set, &job->set) || add_all(&job->take->absent, &job->set))
        return cli_fail(error, ULNA_ERR_MEMORY, "no room for the markers");
    ulna_take_options o = take_options(job, &job->still);
    ulna_status status = ulna_take_create(&o, &still, error);
    if (status == ULNA_OK)
        status = check_take(job, still, &job->still, job->static_path, object, error);
    if (status == ULNA_OK)
        status = ulna_calibrate(still, &options, &job->lengths, error);
    if (status == ULNA_OK && job->lengths.last_frame - job->lengths.first_frame + 1 < still->frame_count)
        files_note_text(job->notes, "%s: the person stands still in frames %d to %d, and these are used",
                        job->static_path, still->first_frame + job->lengths.first_frame,
                        still->first_frame + job->lengths.last_frame);
    ulna_take_destroy(still);
    for (size_t i = 0; i < job->set.count && status == ULNA_OK; i++)
        for (size_t j = 0; j < job->lengths.set.count; j++)
            if (strcmp(job->set.items[i].marker, job->lengths.set.items[j].marker) == 0)
                memcpy(job->set.items[i].offset, job->lengths.set.items[j].offset, sizeof job->set.items[i].offset);
    if (status != ULNA_OK)
        return status;
    ulna_take *before = job->take;
    o = take_options(job, &job->markers);
    o.model = job->lengths.model;
    o.attach = ULNA_ATTACH_SET;
    o.axes = before->axes;
    o.check = 0; /* it was */
    status = ulna_take_create(&o, &job->take, error);
    ulna_take_destroy(before);
    return status;
}

/* ---- the work ------------------------------------------------------------------------------------------------------ */

static int show(void *context, int done, int total)
{
    progress_show(context, (double)done / total, "calibrating");
    return 0;
}

/* The model with the markers of the set where the set has them. */
static ulna_status put_markers(const ulna_model *model, const ulna_marker_set *set, ulna_model **marked,
                               ulna_error *error)
{
    ulna_builder *builder = NULL;
    ulna_status status = ulna_builder_from_model(model, NULL, &builder, error);
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++) {
        const ulna_attachment *item = &set->items[i];
        int m = 0;
        while (m < ulna_model_marker_count(model) && strcmp(ulna_model_marker_name(model, m), item->marker) != 0)
            m++;
        status =
            m < ulna_model_marker_count(model)
                ? ulna_builder_set_marker(builder, m, item->body, item->offset, item->weight, error)
                : ulna_builder_add_marker(builder, item->marker, item->body, item->offset, item->weight, NULL, error);
    }
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, NULL, marked, error);
    ulna_builder_destroy(builder);
    return status;
}

static int run(const cli *tool, json_t *object, calibrate_job *job, ulna_error *error)
{
    progress bar;
    ulna_calibrate_options options = job->options;
    ulna_status status = ULNA_OK;
    const char *about = job->static_path;
    progress_begin(&bar, tool);
    options.progress = show;
    options.progress_context = &bar;
    if (job->static_path) {
        status = find_lengths(job, object, error);
        options.scale = options.symmetric = options.try_lengths = 0;
    }
    if (status == ULNA_OK) {
        about = job->markers_path;
        options.other_takes = (const ulna_take *const *)job->more_takes;
        options.other_take_count = job->more_count;
        status = ulna_calibrate(job->take, &options, &job->result, error);
    }
    if (status == ULNA_OK && job->static_path) { /* the lengths as if they were the take's */
        status = put_markers(job->lengths.model, &job->result.set, &job->result.model, error);
        job->result.scale = job->lengths.scale;
        job->lengths.scale = NULL;
    }
    progress_end(&bar);
    return status != ULNA_OK ? files_fail(object, about, error) : CLI_DONE;
}

/* In the format of its ending; an ASF with the unit of the skeleton's own. */
static ulna_status write_model(const calibrate_job *job, ulna_error *error)
{
    ulna_write_options options = ulna_write_options_for(&job->skeleton, ulna_format_of_name(job->model_path));
    return files_write(job->model_path, job->result.model, NULL, NULL, &options, job->notes, error);
}

static ulna_status write_set(const calibrate_job *job, ulna_error *error)
{
    int is_counted = cli_writing_begin(job->output_path);
    ulna_status status = ulna_marker_set_save(&job->result.set, job->skeleton.model, job->output_path, error);
    cli_writing_end(is_counted);
    return status;
}

static int write_files(json_t *object, const calibrate_job *job, ulna_error *error)
{
    if (!job->output_path && !job->model_path)
        files_note_text(job->notes, "nothing is written: -o FILE writes the table for 'ulna solve --attach'");
    if (job->is_unnamed && job->output_path && !job->model_path)
        files_note_text(job->notes,
                        "the table is for the built-in human scaled to this person: --model-out FILE writes "
                        "that skeleton, for 'ulna solve --skeleton'");
    for (int is_model = 0; is_model < 2; is_model++) {
        const char *path = is_model ? job->model_path : job->output_path;
        if (!path)
            continue;
        if (is_model ? write_model(job, error) : write_set(job, error))
            return files_fail(object, path, error);
        json_object_set_new(object, is_model ? "model" : "output", cli_json_text(path));
    }
    return CLI_DONE;
}

static int calibrate(const cli *tool, json_t *object, calibrate_job *job)
{
    ulna_error error;
    ulna_error_clear(&error);
    int code = read_files(object, job, &error);
    if (!code)
        code = make_take(object, job, &error);
    if (!code)
        code = folder_make_for(object, job->output_path);
    if (!code)
        code = folder_make_for(object, job->model_path);
    if (!code)
        code = run(tool, object, job, &error);
    if (code)
        return code;
    calibrate_add_results(object, job);
    calibrate_print(tool, object, job);
    code = calibrate_check(&job->result, job->is_forced, &error) ? files_fail(object, job->markers_path, &error)
                                                                 : write_files(object, job, &error);
    fact_line(tool, object, "wrote", "{output}");
    fact_line(tool, object, "wrote", "{model}");
    files_print_notes(tool, job->notes);
    return !code && job->result.is_placed_anew ? CLI_PARTLY : code;
}

/* One person: what the options say, and nothing read yet. */
static int calibrate_one(const cli *tool, json_t *object, const calibrate_job *pattern)
{
    calibrate_job job = *pattern;
    job.skeleton = job.markers = job.still = ulna_content_empty(NULL);
    job.reference = ulna_clip_empty(NULL);
    job.set = ulna_marker_set_empty(NULL);
    job.more = calloc((size_t)job.more_count + 1, sizeof *job.more);
    job.more_takes = calloc((size_t)job.more_count + 1, sizeof(ulna_take *));
    job.notes = json_array();
    for (int i = 0; i < job.more_count && job.more; i++)
        job.more[i] = ulna_content_empty(NULL);
    int has_memory = job.more && job.more_takes;
    int code = has_memory ? calibrate(tool, object, &job) : cli_out_of_memory();
    json_object_set_new(object, "notes", job.notes);
    ulna_calibration_release(&job.result);
    for (int i = 0; i < job.more_count && has_memory; i++) {
        ulna_take_destroy(job.more_takes[i]);
        ulna_content_release(&job.more[i]);
    }
    free(job.more_takes);
    free(job.more);
    free(job.shown);
    ulna_marker_template_release(&job.expected);
    ulna_take_destroy(job.take);
    ulna_calibration_release(&job.lengths);
    ulna_marker_set_release(&job.set);
    ulna_clip_release(&job.reference);
    ulna_content_release(&job.still);
    ulna_content_release(&job.markers);
    ulna_content_release(&job.skeleton);
    return code;
}

/* ---- several people ---------------------------------------------------------------------------------------------- */

/* One of them, into files of its own; NULL for the only one. */
static int calibrate_person(const cli *tool, json_t *object, const calibrate_job *pattern, const char *person)
{
    calibrate_job job = *pattern;
    char *output = NULL, *model = NULL;
    if (job.output_path)
        job.output_path = output = folder_file(pattern->output_path, job.markers_path, person, "csv");
    if (job.model_path)
        job.model_path = model = folder_file(pattern->model_path, job.markers_path, person, "json");
    job.subject = person;
    if (person)
        json_object_set_new(object, "subject", cli_json_text(person));
    int is_named = (!pattern->output_path || output) && (!pattern->model_path || model);
    int code = is_named ? calibrate_one(tool, object, &job) : cli_out_of_memory();
    free(output);
    free(model);
    return code;
}

/* No file of theirs is an input, nor another's. */
static int check_files(const cli *tool, const calibrate_job *pattern, const ulna_take *take)
{
    int count = 0, people = take ? take->subject_count : 0, rows = people ? people : 1;
    char **names = calloc(2 * (size_t)rows, sizeof *names);
    int is_named = names != NULL;
    for (int s = 0; s < rows && is_named; s++) {
        const char *person = people ? take->subjects[s] : NULL;
        if (pattern->output_path)
            is_named &=
                (names[count++] = folder_file(pattern->output_path, pattern->markers_path, person, "csv")) != NULL;
        if (pattern->model_path)
            is_named &=
                (names[count++] = folder_file(pattern->model_path, pattern->markers_path, person, "json")) != NULL;
    }
    int code = is_named ? cli_check_outputs(tool, (const char *const *)names, count) : cli_out_of_memory();
    for (int i = 0; i < count && names; i++)
        free(names[i]);
    free(names);
    return code;
}

/* The people of the first recording, one after the other: 1 if some failed, and the highest code if all of them did. */
static int calibrate_people(const cli *tool, json_t *object, const calibrate_job *pattern)
{
    ulna_content skeleton = ulna_content_empty(NULL), markers = ulna_content_empty(NULL);
    ulna_error error;
    if (load_skeleton(pattern, &skeleton, &error))
        return files_fail(object, pattern->skeleton_path, &error);
    ulna_take *take = files_people(pattern->markers_path, pattern->markers_unit, &skeleton, &markers);
    int highest = check_files(tool, pattern, take), count = take && !highest ? take->subject_count : 0, done = 0;
    if (!count && !highest)
        highest = calibrate_person(tool, object, pattern, NULL);
    json_t *people = count ? put_list(object, "people") : NULL;
    for (int s = 0; s < count; s++) {
        int code = calibrate_person(tool, put_row(people), pattern, take->subjects[s]);
        highest = code > highest ? code : highest;
        done += !code;
    }
    ulna_take_destroy(take);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    return done && highest ? CLI_PARTLY : highest;
}

/* -o and --model-out name folders. */
static int check_folders(const cli *tool, json_t *object, const calibrate_job *job)
{
    const char *const places[] = {job->output_path, job->model_path};
    if (job->subject)
        return cli_usage(tool,
                         "--subject names one person, --all-subjects calibrates for all of them: give one of these");
    if (job->reference_path)
        return cli_usage(tool,
                         "--reference is the motion of one person: give --subject NAME instead of --all-subjects");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i] && !folder_is(places[i]))
            return cli_usage(tool, "'%s': with --all-subjects this names a folder: '%s/'", places[i], places[i]);
    int code = CLI_DONE;
    for (size_t i = 0; i < sizeof places / sizeof *places && !code; i++)
        code = places[i] ? folder_make(object, places[i]) : CLI_DONE;
    return code;
}

int calibrate_run(const cli *tool, json_t *object)
{
    calibrate_job pattern = {0};
    int code = read_options(tool, &pattern), is_all = cli_value(tool, "all-subjects") != NULL;
    if (!code && is_all)
        code = check_folders(tool, object, &pattern);
    if (!code)
        code = is_all ? calibrate_people(tool, object, &pattern) : calibrate_one(tool, object, &pattern);
    return code;
}

static int calibrate_main(cli *tool)
{
    json_t *object = json_object();
    int code = calibrate_run(tool, object);
    if (code == CLI_USAGE) /* which is in JSON already */
        json_decref(object);
    else
        cli_json_print(tool, object);
    return code;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"skeleton", 's', "FILE",
     "Skeleton: an ASF, BVH, glTF, URDF or model file, or the name of a built-in skeleton. Default: the built-in human, with --symmetric "
     "unless another option says how lengths are found."},
    {"markers", 'm', "FILE", "Recording: C3D, TRC or CSV. Further recordings of the same session may follow it."},
    {"attach", 'a', "FILE",
     "The bone of each marker, and the offset to start from: a CSV table of marker, bone, x, y, z; 0, 0, 0 starts in the middle of "
     "the bone. Default: the markers of the skeleton, and others by the names of common marker sets."},
    {"template", 0, "FILE",
     "Expected places of markers with names of your own: a CSV table of marker, bone, left, up, forward from the joint of the bone, "
     "and the standard deviation of each, in millimetres on the skeleton at rest."},
    {"reference", 0, "FILE",
     "A motion of the same take, such as the AMC file of a C3D file. Offsets start from it, and bones are found by it if no marker "
     "has a known one."},
    {"average", 0, NULL, "Do not calibrate: use the mean offsets in the reference motion."},
    {"scale", 0, NULL, "Find bone lengths too."},
    {"symmetric", 0, NULL, "Find bone lengths too, the same on the left and on the right."},
    {"shoulders", 0, NULL,
     "Find the lengths of clavicles and upper arms too, the same on the left and on the right: if shoulders are far off while the "
     "arms are raised."},
    {"static", 0, "FILE",
     "Find bone lengths in this recording of the same person standing still, instead of in the take. The pose is that of the "
     "skeleton at rest, or --static-pose."},
    {"static-pose", 0, "POSE",
     "Pose of the person in the recording of --static: t (arms to the sides), n (arms down), a (halfway), or a motion file whose "
     "first frame shows the pose."},
    {"repair", 0, NULL,
     "Move each marker whose error is more than three times the median to the bone on which it moves least, and calibrate again."},
    {"frames", 0, "N",
     "Number of frames to use, spread evenly over the take. Default: 200. A:B: use only frames A to B, by the numbers of the file."},
    CLI_RECORDING_OPTIONS,
    {"all-subjects", 0, NULL,
     "Calibrate for each person of the recording separately. --output and --model-out then name folders; files are named after the "
     "take and the person."},
    {"output", 'o', "FILE",
     "Write a CSV table of marker, bone, offset in metres and weight, for `ulna solve --attach`."},
    {"model-out", 0, "FILE",
     "Write the skeleton with the new bone lengths, in the format of the extension: .json (a model file), .asf, .bvh, .gltf or "
     ".glb. Model files and glTF hold the markers that were found, too."},
    {0},
};

const cli_command calibrate_command = {
    .name = "calibrate",
    .operands = "[--skeleton S] --markers M [M ...]",
    .operand = "a recording",
    .least = 0,
    .most = -1,
    .summary = "find where the markers are on the skeleton",
    .text =
        "Finds the offset of each marker from its bone, and with --scale the lengths of the bones, from the take itself: the "
        "offsets and poses that together fit the recording best, with markers about where people wear them, and left and right "
        "alike. No reference motion is needed. Gaps, outliers and swapped markers do little harm. Several recordings of one "
        "session give one calibration.\n\n"
        "A small error does not prove that a calibration is right. The summary therefore also lists the error in parts of the take "
        "that were not used, how uncertain offsets and joints are, markers that fit far worse than the others and may be on the "
        "wrong bone, and how many joint angles exceed their limits.",
    .options = options,
    .reads = "skeleton markers attach template reference static static-pose OPERANDS",
    .writes = "output model-out",
    .examples = "ulna calibrate -s s.asf -m t.c3d -o a.csv\tbones by the names of the markers\n"
                "ulna solve -s s.asf -m t.c3d -a a.csv -o t.amc\tsolve the take with the result\n"
                "ulna calibrate -s s.asf -m t1.c3d t2.c3d -o a.csv\tone calibration for two takes of a session\n"
                "ulna calibrate -s s.asf -m t.c3d --symmetric --model-out s.json -o a.csv\tbone lengths too\n"
                "ulna calibrate -m t.c3d --model-out s.json -o a.csv\tthe built-in human, scaled",
    .run = calibrate_main,
};
