/* ulna convert IN... -o OUT: a skeleton, a motion or markers in other formats. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/input.h"
#include "cli/markup.h"
#include "cli/output.h"

#define QUARTER_TURN 1.57079632679489662

typedef struct conversion {
    const char **outputs; /* names of files */
    int output_count, input_count;
    ulna_ball ball;
    double rate;      /* frames per second to write; 0: as the files say */
    double read_unit; /* metres; 0: as the files say */
    ulna_write_options write;
    ulna_content skeleton; /* the first file that has one, with its own motion and markers */
    ulna_clip clip;        /* of the skeleton */
    ulna_recording recording;
    ulna_recording made;       /* where the motion takes the markers or joints of the skeleton, once it was asked for */
    ulna_content besides;      /* the markers: what a C3D holds for another one */
    int keeps_analog;          /* an output is a C3D */
    const char *skeleton_path; /* NULL: there is none */
    json_t *notes;
} conversion;

/* ---- the command line ---------------------------------------------------------------------------------------- */

/* Without --output the last operand is the output, but a file that is there is more likely an input: convert *.bvh */
static int check_last(const cli *tool)
{
    const char *last = tool->operands[tool->operand_count - 1];
    struct stat about;
    if (stat(last, &about) != 0 || !S_ISREG(about.st_mode))
        return CLI_DONE;
    markup line;
    markup_init(&line);
    for (int i = 0; i < tool->given_count; i++) {
        markup_format(&line, " --%s=", tool->given[i]->name);
        markup_put_word(&line, tool->values[i]);
    }
    for (int i = 0; i < tool->operand_count; i++) {
        markup_put(&line, i + 1 < tool->operand_count ? " " : " -o ");
        markup_put_word(&line, tool->operands[i]);
    }
    int code = line.status == ULNA_OK
                   ? cli_usage(tool, "'%s' exists already. To replace it, type: ulna convert%s", last, line.text.data)
                   : cli_out_of_memory();
    markup_release(&line);
    return code;
}

static int read_outputs(const cli *tool, conversion *c)
{
    c->outputs = cli_allocate((size_t)tool->given_count + 1, sizeof *c->outputs);
    for (int i = 0; i < tool->given_count; i++)
        if (strcmp(tool->given[i]->name, "output") == 0)
            c->outputs[c->output_count++] = tool->values[i];
    c->input_count = tool->operand_count - !c->output_count;
    if (c->input_count < 1)
        return cli_usage(tool, "missing argument: give a file to read, and one to write: ulna convert IN... -o OUT");
    int code = c->output_count ? CLI_DONE : check_last(tool);
    if (!c->output_count)
        c->outputs[c->output_count++] = tool->operands[c->input_count];
    for (int i = 0; i < c->output_count && !code; i++) {
        ulna_format format = ulna_format_of_name(c->outputs[i]);
        c->keeps_analog |= format == ULNA_FORMAT_C3D;
        if (format == ULNA_FORMAT_UNKNOWN)
            code = cli_usage(tool,
                             "'%s': unknown extension, which decides the format: .json, .asf, .amc, .bvh, .c3d, .trc, "
                             ".mot, .csv, .gltf or .glb",
                             c->outputs[i]);
    }
    return code;
}

static int read_options(const cli *tool, conversion *c)
{
    static const char *const balls[] = {"euler", "quaternion", "expmap", "swing-twist", NULL};
    const char *ball = cli_value(tool, "ball");
    int found = 0;
    c->write = ulna_write_options_default();
    while (ball && balls[found] && strcmp(balls[found], ball) != 0)
        found++;
    if (!balls[found])
        return cli_usage(tool, "--ball takes euler, quaternion, expmap or swing-twist, not '%s'", ball);
    c->ball = (ulna_ball)found;
    int code;
    if ((code = numbers_unit(tool, "unit", &c->write.unit_m)) ||
        (code = numbers_unit(tool, "input-unit", &c->read_unit)) ||
        (code = numbers_real(tool, "rate", 1e-6, 1e6, " Hz", &c->rate)) ||
        (code = cli_read_writing_options(tool, CLI_ALL_DIGITS, &c->write)))
        return code;
    return read_outputs(tool, c);
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

static ulna_status take_clip(conversion *c, ulna_content *content, ulna_error *error)
{
    if (c->clip.frame_count)
        return cli_fail(error, ULNA_ERR_ARGUMENT,
                        "a second motion: only one can be converted at a time; call `ulna convert` for each file");
    ulna_status status = content->model ? files_adopt(content, c->skeleton.model, error) : ULNA_OK;
    if (status == ULNA_OK) {
        c->clip = content->clip;
        content->clip = ulna_clip_empty(NULL);
    }
    return status;
}

static ulna_status take(conversion *c, const char *path, ulna_content *content, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    if (content->recording.frame_count && c->recording.frame_count)
        return cli_fail(error, ULNA_ERR_ARGUMENT, "a second recording: only one can be converted at a time");
    if (content->recording.frame_count) {
        c->write.up = content->source.up;
        c->recording = content->recording;
        content->recording = ulna_recording_empty(NULL);
        if (content->format == ULNA_FORMAT_C3D) {
            c->besides.extras = content->extras;
            content->extras = NULL;
        }
    }
    if (content->model && !c->skeleton.model) {
        c->skeleton = *content;
        c->skeleton_path = path;
        *content = ulna_content_empty(NULL);
        c->clip = c->skeleton.clip;
        c->skeleton.clip = ulna_clip_empty(NULL);
    } else if (content->clip.frame_count)
        status = take_clip(c, content, error);
    return status;
}

static ulna_status read_file(conversion *c, const char *path, ulna_error *error)
{
    ulna_content content = ulna_content_empty(NULL);
    ulna_read_options options = ulna_read_options_for(c->skeleton.model ? &c->skeleton : NULL);
    options.unit_m = c->read_unit;
    options.extras = 1;
    ulna_status status = files_read(path, &options, &content, error);
    files_note(c->notes, path, &content.remarks);
    ulna_remarks_release(&content.remarks);
    if (content.source.analog && !c->keeps_analog)
        files_note_text(c->notes, "%.200s: the analog data (%d samples per frame) is not converted", path,
                        content.source.analog);
    if (status == ULNA_OK)
        status = take(c, path, &content, error);
    ulna_content_release(&content);
    return status;
}

/* Files that hold a skeleton come first, in whatever order they were named. */
static int read_files(const cli *tool, json_t *object, conversion *c)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < c->input_count; i++) {
            const char *path = tool->operands[i];
            ulna_error error;
            ulna_error_clear(&error);
            if (files_needs_skeleton(path) != pass)
                continue;
            progress_wait *wait = progress_wait_begin(tool, "reading", path);
            ulna_status status = read_file(c, path, &error);
            progress_wait_end(wait);
            if (status == ULNA_ERR_STATE && !c->skeleton.model) {
                size_t length = strlen(error.message);
                snprintf(error.message + length, sizeof error.message - length,
                         ", as in `ulna convert SKELETON.asf %.100s -o %.40s`", path, c->outputs[0]);
            }
            if (status != ULNA_OK)
                return files_fail(object, path, &error);
        }
    return CLI_DONE;
}

/* ---- what is made of it ---------------------------------------------------------------------------------------- */

/* Steps of more than 90 degrees from one frame to the next. */
static long long count_jumps(const ulna_clip *clip)
{
    long long count = 0;
    size_t width = (size_t)clip->coordinate_count, total = width * (size_t)clip->frame_count;
    for (size_t i = width; i < total; i++)
        count += fabs(clip->q[i] - clip->q[i - width]) > QUARTER_TURN;
    return count;
}

/* The same poses by angles that go on from frame to frame, where these are written. */
static void unwind(conversion *c, ulna_format format)
{
    int has_angles = format == ULNA_FORMAT_AMC || format == ULNA_FORMAT_BVH || format == ULNA_FORMAT_MOT ||
                     format == ULNA_FORMAT_CSV;
    if (!has_angles || !c->skeleton.model || !c->clip.frame_count)
        return;
    long long before = count_jumps(&c->clip);
    ulna_clip_unwind(c->skeleton.model, &c->clip);
    long long jumps = before - count_jumps(&c->clip);
    if (jumps > 0)
        files_note_text(c->notes, "%lld jump%s of angles between frames %s removed; the poses are the same", jumps,
                        jumps == 1 ? "" : "s", jumps == 1 ? "was" : "were");
}

/* For formats that hold only markers. */
static ulna_status make_recording(conversion *c, ulna_error *error)
{
    const ulna_model *model = c->skeleton.model;
    ulna_status status = c->made.frame_count ? ULNA_OK : files_markers_of(model, &c->clip, &c->made, error);
    if (status == ULNA_OK)
        files_note_text(c->notes, "no recorded markers: the positions of the skeleton's %d %s are written",
                        c->made.marker_count, ulna_model_marker_count(model) ? "markers" : "joints");
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

static int convert_balls(json_t *object, conversion *c, const char *path)
{
    ulna_model *fresh = NULL;
    ulna_error error;
    int dropped = 0;
    ulna_error_clear(&error);
    if (c->ball == ULNA_BALL_EULER || !c->skeleton.model)
        return CLI_DONE;
    ulna_status status = ulna_model_with_balls(c->skeleton.model, c->ball, NULL, &fresh, &dropped, &error);
    if (status == ULNA_OK && c->clip.frame_count)
        status = ulna_clip_convert(c->skeleton.model, &c->clip, fresh, &c->clip, &error);
    if (status != ULNA_OK) {
        ulna_model_destroy(fresh);
        return files_fail(object, path, &error);
    }
    ulna_model_destroy(c->skeleton.model);
    c->skeleton.model = fresh;
    if (dropped)
        files_note_text(c->notes, "limits of %d angles cannot be expressed by the other kind of joint and are left out",
                        dropped);
    return CLI_DONE;
}

/* A file of the skeleton's own format has its unit; an ASF and its AMC go together. */
static ulna_write_options options_for(const conversion *c, ulna_format format)
{
    ulna_write_options options = c->write;
    ulna_write_options own = ulna_write_options_for(&c->skeleton, format);
    options.unit_m = options.unit_m > 0 ? options.unit_m : own.unit_m;
    options.degrees = own.degrees;
    if (c->ball == ULNA_BALL_EULER) { /* else they are those of other joints */
        options.channels = own.channels;
        options.channel_count = own.channel_count;
    }
    options.extras = format == ULNA_FORMAT_C3D ? c->besides.extras : own.extras;
    return options;
}

static int write_file(const cli *tool, json_t *object, conversion *c, const char *path)
{
    ulna_format format = ulna_format_of_name(path);
    ulna_write_options options = options_for(c, format);
    ulna_error error;
    ulna_error_clear(&error);
    int is_markers = format == ULNA_FORMAT_C3D || format == ULNA_FORMAT_TRC;
    int is_made = is_markers && c->clip.frame_count && !c->recording.frame_count;
    if (is_made && make_recording(c, &error))
        return files_fail(object, path, &error);
    if (is_made)
        options.up = c->skeleton.source.up;
    unwind(c, format);
    progress_wait *wait = progress_wait_begin(tool, "writing", path);
    ulna_status status = files_write(path, c->skeleton.model, is_made ? NULL : &c->clip,
                                     is_made ? &c->made : &c->recording, &options, c->notes, &error);
    progress_wait_end(wait);
    int is_unsolved = c->recording.frame_count && !c->clip.frame_count;
    if (status == ULNA_ERR_UNSUPPORTED && (!c->skeleton.model || is_unsolved)) {
        size_t length = strlen(error.message);
        snprintf(error.message + length, sizeof error.message - length,
                 "; 'ulna solve' computes the motion of a skeleton from markers");
    }
    if (status != ULNA_OK)
        return files_fail(object, path, &error);
    int is_changed = c->ball != ULNA_BALL_EULER || options.unit_m != c->skeleton.source.unit_m;
    int has_skeleton = 0;
    for (int i = 0; i < c->output_count; i++)
        has_skeleton |= format == ULNA_FORMAT_AMC && ulna_format_of_name(c->outputs[i]) == ULNA_FORMAT_ASF;
    if (c->clip.frame_count && c->skeleton_path && !has_skeleton)
        files_note_skeleton(c->notes, format, c->skeleton_path, &c->skeleton, is_changed);
    return CLI_DONE;
}

static int write_files(const cli *tool, json_t *object, conversion *c)
{
    int code = CLI_DONE;
    if (c->rate > 0)
        c->clip.frame_seconds = c->recording.frame_seconds = 1 / c->rate;
    for (int i = 0; i < c->output_count && !code; i++) {
        code = folder_make_for(object, c->outputs[i]);
        if (!code)
            code = write_file(tool, object, c, c->outputs[i]);
    }
    return code;
}

static void show(const cli *tool, json_t *object, const conversion *c)
{
    json_t *list = json_array();
    put_text(object, "output", c->outputs[0]);
    put_text(object, "format", ulna_format_name(ulna_format_of_name(c->outputs[0])));
    json_object_set_new(object, "outputs", list);
    put_count(object, "bodies", c->skeleton.model ? ulna_model_body_count(c->skeleton.model) : 0);
    put_count(object, "frames", c->clip.frame_count ? c->clip.frame_count : c->recording.frame_count);
    put_count(object, "motion_frames", c->clip.frame_count);
    put_count(object, "markers", c->recording.frame_count ? c->recording.marker_count : c->made.marker_count);
    for (int i = 0; i < c->output_count; i++) {
        ulna_format format = ulna_format_of_name(c->outputs[i]);
        json_t *row = put_row(list);
        put_text(row, "file", c->outputs[i]);
        put_text(row, "format", ulna_format_name(format));
        cli_title(tool, "%s", c->outputs[i]);
        char text[300];
        snprintf(text, sizeof text,
                 ": %s[{bodies?}, from a skeleton of {bodies} bodies][{motion_frames?}, a motion of {frames} "
                 "frames][{markers?}, {markers} markers in {frames} frames]",
                 ulna_format_text(format));
        char *filled = tool->json || tool->quiet ? NULL : fact_fill(tool, object, text);
        if (filled)
            table_wrap(tool, 0, 2, (int)strlen(c->outputs[i]), filled);
        free(filled);
    }
    files_print_notes(tool, c->notes);
}

static int convert_main(cli *tool)
{
    conversion c = {.skeleton = ulna_content_empty(NULL),
                    .clip = ulna_clip_empty(NULL),
                    .recording = ulna_recording_empty(NULL),
                    .made = ulna_recording_empty(NULL),
                    .besides = ulna_content_empty(NULL)};
    int code = read_options(tool, &c);
    if (code) {
        free(c.outputs);
        return code;
    }
    json_t *object = json_object();
    c.notes = json_array();
    code = read_files(tool, object, &c);
    if (!code)
        code = convert_balls(object, &c, tool->operands[0]);
    if (!code)
        code = write_files(tool, object, &c);
    if (!code)
        show(tool, object, &c);
    json_object_set_new(object, "notes", c.notes);
    cli_json_print(tool, object);
    ulna_clip_release(&c.clip);
    ulna_recording_release(&c.recording);
    ulna_recording_release(&c.made);
    ulna_content_release(&c.besides);
    ulna_content_release(&c.skeleton);
    free(c.outputs);
    return code;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"output", 'o', "FILE",
     "Write this file, in the format of its extension; a file of that name is replaced, unless it is an input. May be repeated."},
    {"ball", 0, "KIND",
     "Representation of joints with three rotations: euler (unchanged, the default), quaternion, expmap or swing-twist, "
     "if the format supports it."},
    {"unit", 0, "UNIT",
     "Unit of length of the output: m, cm, mm, in, ft or a number of metres. Default: the usual one of the format."},
    {"input-unit", 0, "UNIT", "Unit of length of the inputs, if it differs from what they state."},
    {"rate", 0, "HZ",
     "Frame rate to write, if it differs from what the inputs state (AMC states none). Frames are not resampled."},
    CLI_WRITING_OPTIONS,
    {0},
};

const cli_command convert_command = {
    .name = "convert",
    .operands = "IN... -o OUT",
    .operand = "a file name",
    .least = 0,
    .most = -1,
    .summary = "convert a skeleton, motion or recording to another format",
    .text =
        "Reads all files, whose formats are detected from their contents, and writes those that -o names, each in the "
        "format of its extension. Without -o the last file is the one to write, if there is no such file yet.\n\n"
        "A motion without a skeleton (AMC, MOT, CSV) needs a skeleton among the inputs. A motion with its own skeleton "
        "is transferred to the first skeleton given, which must have the same bones. Angles are recomputed in the order "
        "that the format requires, without jumps where possible. What the format cannot store is left out, and listed.",
    .options = options,
    .reads = "OPERANDS",
    .writes = "output LAST",
    .examples = "ulna convert s.asf t.amc -o t.bvh\tskeleton and motion in one file\n"
                "ulna convert s.asf t.amc -o t.bvh -o t.glb\tin two formats\n"
                "ulna convert t.bvh -o t.asf\tthe skeleton alone\n"
                "ulna convert t.c3d -o t.trc\tmarkers\n"
                "ulna convert s.asf t.amc --rate 120 -o t.mot\tset the rate, which AMC does not state",
    .run = convert_main,
};
