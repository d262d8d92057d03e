/* ulna convert IN... OUT: a skeleton, a motion or markers in another format. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "cli/output.h"

#define QUARTER_TURN 1.57079632679489662

typedef struct conversion {
    ulna_ball ball;
    double rate;      /* frames per second to write; 0: as the files say */
    double read_unit; /* metres; 0: as the files say */
    ulna_write_options write;
    ulna_content skeleton; /* the first file that has one, with its own motion and markers */
    ulna_clip clip;        /* of the skeleton */
    ulna_recording recording;
    ulna_content besides;      /* the markers: what a C3D holds for another one */
    int keeps_extras;          /* the output is a C3D */
    const char *skeleton_path; /* NULL: there is none */
    json_t *notes;
} conversion;

/* ---- the command line ---------------------------------------------------------------------------------------- */

static int read_options(const cli *tool, conversion *c)
{
    static const char *const balls[] = {"euler", "quaternion", "expmap", "swing-twist", NULL};
    const char *ball = cli_value(tool, "ball"), *out = tool->operands[tool->operand_count - 1];
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
    if (ulna_format_of_name(out) == ULNA_FORMAT_UNKNOWN)
        return cli_usage(tool,
                         "'%s': unknown extension, which decides the format: .json, .asf, .amc, .bvh, .c3d, .trc, "
                         ".mot, .csv, .gltf or .glb",
                         out);
    c->keeps_extras = ulna_format_of_name(out) == ULNA_FORMAT_C3D;
    return CLI_DONE;
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

static ulna_status take_clip(conversion *c, ulna_content *content, ulna_error *error)
{
    if (c->clip.frame_count)
        return cli_fail(error, ULNA_ERR_ARGUMENT, "a second motion: only one can be converted at a time");
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
        c->besides.extras = content->extras;
        content->extras = NULL;
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
    options.extras = c->keeps_extras;
    ulna_status status = files_read(path, &options, &content, error);
    files_note(c->notes, path, &content.remarks);
    ulna_remarks_release(&content.remarks);
    if (content.source.analog && !c->keeps_extras)
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
        for (int i = 0; i + 1 < tool->operand_count; i++) {
            const char *path = tool->operands[i];
            ulna_error error;
            ulna_error_clear(&error);
            if (files_needs_skeleton(path) != pass)
                continue;
            progress_wait *wait = progress_wait_begin(tool, "reading", path);
            ulna_status status = read_file(c, path, &error);
            progress_wait_end(wait);
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
    ulna_status status = files_markers_of(model, &c->clip, &c->recording, error);
    c->write.up = c->skeleton.source.up;
    if (status == ULNA_OK)
        files_note_text(c->notes, "no recorded markers: the positions of the skeleton's %d %s are written",
                        c->recording.marker_count, ulna_model_marker_count(model) ? "markers" : "joints");
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

static int write_file(const cli *tool, json_t *object, conversion *c)
{
    const char *path = tool->operands[tool->operand_count - 1];
    ulna_format format = ulna_format_of_name(path);
    ulna_error error;
    ulna_error_clear(&error);
    if (c->rate > 0)
        c->clip.frame_seconds = c->recording.frame_seconds = 1 / c->rate;
    if (format == ULNA_FORMAT_ASF || format == ULNA_FORMAT_AMC) { /* so that both go together */
        ulna_write_options asked = c->write;
        c->write = ulna_write_options_for(&c->skeleton, format);
        c->write.unit_m = asked.unit_m > 0 ? asked.unit_m : c->write.unit_m;
        c->write.digits = asked.digits;
        if (c->ball != ULNA_BALL_EULER)
            c->write.channels = NULL; /* of other joints */
    }
    int is_markers = format == ULNA_FORMAT_C3D || format == ULNA_FORMAT_TRC;
    int is_made = is_markers && c->clip.frame_count && !c->recording.frame_count;
    if (is_made && make_recording(c, &error))
        return files_fail(object, path, &error);
    unwind(c, format);
    c->write.extras = c->besides.extras;
    progress_wait *wait = progress_wait_begin(tool, "writing", path);
    ulna_status status =
        files_write(path, c->skeleton.model, is_made ? NULL : &c->clip, &c->recording, &c->write, c->notes, &error);
    progress_wait_end(wait);
    int is_unsolved = c->recording.frame_count && !c->clip.frame_count;
    if (status == ULNA_ERR_UNSUPPORTED && (!c->skeleton.model || is_unsolved)) {
        size_t length = strlen(error.message);
        snprintf(error.message + length, sizeof error.message - length,
                 "; 'ulna solve' computes the motion of a skeleton from markers");
    }
    if (status != ULNA_OK)
        return files_fail(object, path, &error);
    int is_changed = c->ball != ULNA_BALL_EULER || c->write.unit_m != c->skeleton.source.unit_m;
    if (c->clip.frame_count && c->skeleton_path)
        files_note_skeleton(c->notes, format, c->skeleton_path, &c->skeleton, is_changed);
    return CLI_DONE;
}

static void show(const cli *tool, json_t *object, const conversion *c)
{
    const char *path = tool->operands[tool->operand_count - 1];
    ulna_format format = ulna_format_of_name(path);
    put_text(object, "output", path);
    put_text(object, "format", ulna_format_name(format));
    put_count(object, "bodies", c->skeleton.model ? ulna_model_body_count(c->skeleton.model) : 0);
    put_count(object, "frames", c->clip.frame_count ? c->clip.frame_count : c->recording.frame_count);
    put_count(object, "motion_frames", c->clip.frame_count);
    put_count(object, "markers", c->recording.marker_count);
    cli_title(tool, "%s", path);
    cli_say(tool, ": %s", ulna_format_text(format));
    fact_line(tool, object, NULL,
              "[{bodies?}, from a skeleton of {bodies} bodies][{motion_frames?}, a motion of {frames} "
              "frames][{markers?}, {markers} markers in {frames} frames]");
    files_print_notes(tool, c->notes);
}

static int convert_main(cli *tool)
{
    conversion c = {.skeleton = ulna_content_empty(NULL),
                    .clip = ulna_clip_empty(NULL),
                    .recording = ulna_recording_empty(NULL),
                    .besides = ulna_content_empty(NULL)};
    int code = read_options(tool, &c);
    if (code)
        return code;
    json_t *object = json_object();
    c.notes = json_array();
    code = read_files(tool, object, &c);
    if (!code)
        code = convert_balls(object, &c, tool->operands[0]);
    if (!code)
        code = folder_make_for(object, tool->operands[tool->operand_count - 1]);
    if (!code)
        code = write_file(tool, object, &c);
    if (!code)
        show(tool, object, &c);
    json_object_set_new(object, "notes", c.notes);
    cli_json_print(tool, object);
    ulna_clip_release(&c.clip);
    ulna_recording_release(&c.recording);
    ulna_content_release(&c.besides);
    ulna_content_release(&c.skeleton);
    return code;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
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
    .operands = "IN... OUT",
    .operand = "a file name",
    .least = 2,
    .most = -1,
    .summary = "convert a skeleton, motion or recording to another format",
    .text =
        "Reads all files but the last, whose formats are detected from their contents, and writes the last, in the "
        "format of its extension. A motion without a skeleton (AMC, MOT, CSV) needs a skeleton among the inputs. A "
        "motion with its own skeleton is transferred to the first skeleton given, which must have the same bones. "
        "Angles are recomputed in the order that the format requires, without jumps where possible. What the format "
        "cannot store is left out, and listed.",
    .options = options,
    .reads = "OPERANDS",
    .writes = "LAST",
    .examples = "ulna convert s.asf t.amc t.bvh\tskeleton and motion in one file\n"
                "ulna convert t.bvh t.asf\tthe skeleton alone\n"
                "ulna convert t.c3d t.trc\tmarkers\n"
                "ulna convert s.asf t.amc --rate 120 t.mot\tset the rate, which AMC does not state",
    .run = convert_main,
};
