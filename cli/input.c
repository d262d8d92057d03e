/* What commands read and where they write: skeletons, motions, recordings, attachments, tables as text, folders. */
#include "cli/input.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"
#include "src/base/algorithms.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

int files_needs_skeleton(const char *path)
{
    char bytes[4096] = "";
    FILE *file = strcmp(path, "-") == 0 ? NULL : cli_open(path);
    size_t length = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    ulna_format format = ulna_format_sniff(bytes, length);
    if (file)
        (void)fclose(file);
    if (format == ULNA_FORMAT_UNKNOWN)
        format = ulna_format_of_name(path);
    unsigned parts = ulna_format_reads(format);
    return (parts & ULNA_HOLDS_MOTION) && !(parts & ULNA_HOLDS_SKELETON);
}

static ulna_status read_stdin(const ulna_read_options *options, ulna_content *content, ulna_error *error)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_format format;
    ulna_status status = ulna_stream_read_known(stdin, &text, &format, error);
    if (status == ULNA_OK)
        status = ulna_content_read(text.data, text.length, format, options, content, error);
    ulna_text_release(&text);
    return status;
}

ulna_status files_built_in(const char *name, ulna_content *content, ulna_error *error)
{
    ulna_status status = ulna_sample_create(name, NULL, &content->model, error);
    if (status == ULNA_OK) {
        content->format = ULNA_FORMAT_MODEL_JSON;
        content->source = (ulna_source){.unit_m = 1, .up = 'y'};
    }
    return status;
}

ulna_status files_read(const char *path, const ulna_read_options *options, ulna_content *content, ulna_error *error)
{
    if (strcmp(path, "-") == 0)
        return read_stdin(options, content, error);
    ulna_status status = access(path, F_OK) == 0 ? ULNA_ERR_ARGUMENT : files_built_in(path, content, error);
    return status == ULNA_ERR_ARGUMENT ? ulna_content_load(path, options, content, error) : status;
}

static ulna_status fail_kind(const char *wanted, const ulna_content *content, ulna_error *error)
{
    return cli_fail(error, ULNA_ERR_PARSE, "%s is needed, but this file (%s) has none", wanted,
                    ulna_format_text(content->format));
}

static ulna_status read_in_unit(const char *path, double unit_m, ulna_content *content, ulna_error *error)
{
    ulna_read_options options = ulna_read_options_default();
    options.unit_m = unit_m;
    options.extras = 1; /* of a character that is written again */
    return files_read(path, &options, content, error);
}

/* A name without an ending may be meant as that of a built-in skeleton. */
static ulna_status fail_sample(const char *path, ulna_error *error)
{
    char names[200] = "";
    ulna_error why = *error;
    for (int i = 0; ulna_sample_name(i); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", ulna_sample_name(i));
    if (strpbrk(path, "./"))
        return why.status;
    return cli_fail(error, why.status, "%.80s; nor is it a built-in skeleton (%s)", why.message, names);
}

ulna_status files_skeleton(const char *path, double unit_m, ulna_content *content, ulna_error *error)
{
    ulna_status status = read_in_unit(path, unit_m, content, error);
    if (status == ULNA_ERR_IO && access(path, F_OK) != 0)
        return fail_sample(path, error);
    if (status == ULNA_OK && !content->model && content->recording.marker_count)
        status = cli_fail(error, ULNA_ERR_PARSE,
                          "a skeleton is needed, but this file (%s) holds markers: are the two files exchanged?",
                          ulna_format_text(content->format));
    else if (status == ULNA_OK && !content->model)
        status = fail_kind("a skeleton", content, error);
    return status;
}

ulna_status cli_load_model(const char *name, ulna_model **model, ulna_error *error)
{
    ulna_content content = ulna_content_empty(NULL);
    ulna_status status = files_skeleton(name, 0, &content, error);
    *model = status != ULNA_OK ? NULL : content.model;
    if (status == ULNA_OK)
        content.model = NULL; /* the caller's now */
    ulna_content_release(&content);
    return status;
}

ulna_status files_adopt(ulna_content *own, const ulna_model *model, ulna_error *error)
{
    ulna_error why;
    ulna_error_clear(&why);
    ulna_status status = ulna_clip_convert(own->model, &own->clip, model, &own->clip, &why);
    return status != ULNA_OK
               ? cli_fail(
                     error, status,
                     "this is a motion of another skeleton: %.88s. Write it as markers and solve these: 'ulna convert MOTION "
                     "-o markers.c3d', then 'ulna solve -s SKELETON -m markers.c3d -o OUT'",
                     why.message)
               : ULNA_OK;
}

ulna_status files_motion(const char *path, const ulna_content *skeleton, ulna_clip *clip, json_t *notes,
                         ulna_error *error)
{
    ulna_content content = ulna_content_empty(NULL);
    ulna_read_options options = ulna_read_options_for(skeleton);
    ulna_status status = files_read(path, &options, &content, error);
    if (status == ULNA_OK && content.clip.frame_count < 1)
        status = fail_kind("a motion", &content, error);
    if (status == ULNA_OK && content.model)
        status = files_adopt(&content, skeleton->model, error);
    if (status == ULNA_OK && content.clip.coordinate_count != ulna_model_coordinate_count(skeleton->model))
        status = cli_fail(error, ULNA_ERR_PARSE, "this is a motion of another skeleton: %d coordinates, not %d",
                          content.clip.coordinate_count, ulna_model_coordinate_count(skeleton->model));
    files_note(notes, path, &content.remarks);
    if (status == ULNA_OK) {
        *clip = content.clip;
        content.clip = ulna_clip_empty(NULL);
    }
    ulna_content_release(&content);
    return status;
}

ulna_status files_markers(const char *path, double unit_m, ulna_content *content, ulna_error *error)
{
    ulna_status status = read_in_unit(path, unit_m, content, error);
    if (status == ULNA_ERR_STATE && ulna_format_of_name(path) == ULNA_FORMAT_AMC)
        return cli_fail(error, ULNA_ERR_PARSE,
                        "a recording of markers is needed, but this file (AMC) holds joint values: `ulna convert "
                        "SKELETON.asf %.100s -o joints.c3d` writes where the skeleton's markers or joints are",
                        path);
    if (status == ULNA_OK && content->recording.marker_count < 1 && content->clip.frame_count > 0 && content->model)
        return cli_fail(error, ULNA_ERR_PARSE,
                        "a recording of markers is needed, but this file (%s) is an animation: `ulna convert %.100s -o "
                        "joints.c3d` writes where its joints are, as markers",
                        ulna_format_text(content->format), path);
    if (status == ULNA_OK && (content->recording.marker_count < 1 || content->recording.frame_count < 1))
        status = content->recording.marker_count < 1
                     ? fail_kind("a recording of markers", content, error)
                     : cli_fail(error, ULNA_ERR_PARSE, "the recording has markers, but no frames");
    return status;
}

/* ---- a recording for several uses ---------------------------------------------------------------------------------- */

files_kept files_keep(const char *path)
{
    files_kept kept = {.path = path, .bytes = ulna_text_empty(NULL), .content = ulna_content_empty(NULL)};
    struct stat about;
    if (!path || stat(path, &about) != 0 || !S_ISREG(about.st_mode) ||
        ulna_file_read(path, SIZE_MAX / 4, &kept.bytes, NULL) != ULNA_OK)
        files_kept_release(&kept);
    return kept;
}

const ulna_text *files_kept_bytes(files_kept *kept, const char *path)
{
    return kept && kept->path && path && strcmp(kept->path, path) == 0 ? &kept->bytes : NULL;
}

const ulna_content *files_kept_markers(files_kept *kept)
{
    if (!kept->path)
        return NULL;
    ulna_format format = ulna_format_sniff(kept->bytes.data, kept->bytes.length);
    if (format == ULNA_FORMAT_UNKNOWN)
        format = ulna_format_of_name(kept->path);
    if (kept->content.format == ULNA_FORMAT_UNKNOWN &&
        ulna_content_read(kept->bytes.data, kept->bytes.length, format, NULL, &kept->content, NULL) != ULNA_OK)
        files_kept_release(kept);
    return kept->path && kept->content.recording.marker_count > 0 && kept->content.recording.frame_count > 0
               ? &kept->content
               : NULL;
}

int files_kept_take(files_kept *kept, const char *path, double unit_m, ulna_content *content)
{
    if (unit_m > 0 || !files_kept_bytes(kept, path) || !files_kept_markers(kept))
        return 0;
    *content = kept->content;
    kept->content = ulna_content_empty(NULL);
    files_kept_release(kept);
    return 1;
}

void files_kept_release(files_kept *kept)
{
    ulna_text_release(&kept->bytes);
    ulna_content_release(&kept->content);
    kept->path = NULL;
}

/* The take is used for nothing else, so one marker will do. */
ulna_take *files_people(const char *path, double unit_m, const ulna_content *skeleton, ulna_content *markers)
{
    const double nowhere[3] = {0, 0, 0};
    ulna_take *take = NULL;
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    if (strcmp(path, "-") == 0 || files_markers(path, unit_m, markers, NULL) || markers->recording.marker_count < 1)
        return NULL;
    ulna_take_options options = ulna_take_options_for(skeleton, markers);
    options.set = &set;
    if (!ulna_marker_set_add(&set, markers->recording.names[0], 0, nowhere, 1))
        (void)ulna_take_create(&options, &take, NULL);
    ulna_marker_set_release(&set);
    return take;
}

ulna_status files_markers_of(const ulna_model *model, const ulna_clip *clip, ulna_recording *recording,
                             ulna_error *error)
{
    int own = ulna_model_marker_count(model), count = own ? own : ulna_model_body_count(model);
    ulna_pose *pose = NULL;
    ulna_status status = ulna_recording_resize(recording, count, clip->frame_count);
    if (status == ULNA_OK)
        status = ulna_pose_create(model, NULL, &pose, error);
    for (int i = 0; i < count && status == ULNA_OK; i++)
        snprintf(recording->names[i], ULNA_MARKER_NAME, "%s",
                 own ? ulna_model_marker_name(model, i) : ulna_model_body_name(model, i));
    for (int f = 0; f < clip->frame_count && status == ULNA_OK; f++) {
        double *to = ulna_recording_frame(recording, f);
        status = ulna_pose_forward(pose, ulna_clip_frame(clip, f));
        if (status == ULNA_OK && own)
            status = ulna_pose_markers(pose, to);
        for (int b = 0; b < count && !own && status == ULNA_OK; b++)
            status = ulna_pose_body(pose, b, to + 3 * (size_t)b, NULL);
    }
    ulna_pose_destroy(pose);
    recording->first_frame = clip->first_frame;
    recording->frame_seconds = clip->frame_seconds;
    return status == ULNA_OK ? ULNA_OK
                             : cli_fail(error, status, "cannot compute the positions of %d markers: %s", count,
                                        ulna_status_text(status));
}

void files_limits_of(const ulna_model *model, const ulna_clip *clip, double *lower, double *upper)
{
    const double margin = 0.05;
    for (int d = 0; d < ulna_model_dof_count(model); d++) {
        int c = ulna_model_dof_coordinate(model, d);
        double low = INFINITY, high = -INFINITY;
        for (int f = 0; f < clip->frame_count && c != ULNA_NONE; f++) {
            low = fmin(low, ulna_clip_frame(clip, f)[c]);
            high = fmax(high, ulna_clip_frame(clip, f)[c]);
        }
        int is_free = c == ULNA_NONE || ulna_model_dof_body(model, d) == 0;
        lower[d] = is_free ? -INFINITY : low - margin * fabs(low);
        upper[d] = is_free ? INFINITY : high + margin * fabs(high);
    }
}

const char *files_marker_name(const ulna_marker_set *set, size_t marker)
{
    const char *name = set->items[marker].marker, *own = ulna_name_without_prefix(name);
    for (size_t i = 0; i < set->count && own != name; i++)
        if (i != marker && strcmp(ulna_name_without_prefix(set->items[i].marker), own) == 0)
            return name;
    return own;
}

int files_put_error(json_t *object, const char *path, const ulna_error *error)
{
    put_text(object, "file", path);
    json_object_set_new(object, "error", cli_json_error(error));
    return cli_exit_code(error->status);
}

int files_fail(json_t *object, const char *path, const ulna_error *error)
{
    int code = files_put_error(object, path, error);
    fflush(stdout); /* so that messages are in order where both go to one place */
    if (error->line > 0)
        cli_complain("%s:%d: %s", path, error->line, error->message);
    else if (error->byte >= 0)
        cli_complain("%s, byte %lld: %s", path, error->byte, error->message);
    else
        cli_complain("%s: %s", path, error->message);
    return code;
}

int files_is_name_wrong(int number)
{
    return number == ENAMETOOLONG || number == ENOTDIR || number == EISDIR || number == EEXIST || number == ENOTEMPTY;
}

/* ---- notes ------------------------------------------------------------------------------------------------ */

void files_note_text(json_t *notes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = cli_format(format, arguments);
    va_end(arguments);
    json_array_append_new(notes, cli_json_text(text));
    free(text);
}

/* How often the remark is made, and whether an earlier one says the same of another place. */
static size_t repeated(const ulna_remarks *remarks, size_t index, int *is_known)
{
    size_t count = 0;
    *is_known = 0;
    for (size_t i = 0; i < remarks->count; i++)
        if (strcmp(remarks->items[i].message, remarks->items[index].message) == 0) {
            *is_known |= i < index;
            count++;
        }
    return count;
}

void files_note(json_t *notes, const char *path, const ulna_remarks *remarks)
{
    enum { MOST = 12, MOST_STORED = 1000 /* by the library */ };
    if (remarks->dropped && remarks->count < MOST_STORED) /* for lack of memory */
        cli_out_of_memory();
    const char *file = path ? path : "";
    size_t shown = 0, told = 0, all = remarks->count + remarks->dropped;
    for (size_t i = 0; i < remarks->count && (!path || shown < MOST); i++) {
        const ulna_remark *remark = &remarks->items[i];
        char place[40] = "", again[48] = "";
        int is_known;
        size_t count = repeated(remarks, i, &is_known);
        if (is_known)
            continue;
        shown++;
        told += count;
        if (count > 1)
            snprintf(again, sizeof again, " (and %zu more such places)", count - 1);
        if (remark->line > 0)
            snprintf(place, sizeof place, path ? ":%d: " : "line %d: ", remark->line);
        else if (remark->byte >= 0)
            snprintf(place, sizeof place, path ? ", byte %lld: " : "byte %lld: ", remark->byte);
        else if (path)
            snprintf(place, sizeof place, ": ");
        files_note_text(notes, "%.200s%s%s%s", file, place, remark->message, again);
    }
    if (all > told)
        files_note_text(notes, "%.200s%sand %zu more remarks", file, path ? ": " : "", all - told);
}

void files_note_skeleton(json_t *notes, ulna_format format, const char *path, const ulna_content *skeleton,
                         int is_changed)
{
    if (format == ULNA_FORMAT_AMC && (skeleton->format != ULNA_FORMAT_ASF || is_changed))
        files_note_text(notes, "an AMC needs an ASF with the same joints: also convert %.200s to .asf%s", path,
                        is_changed ? ", with the same options" : "");
    else if (format == ULNA_FORMAT_MOT || format == ULNA_FORMAT_CSV)
        files_note_text(notes, "%s does not store the skeleton: to read it again, also give %.200s",
                        ulna_format_text(format), path);
}

void files_print_notes(const cli *tool, const json_t *notes)
{
    for (size_t i = 0; i < json_array_size(notes); i++)
        fact_text(tool, "note", "%s", json_string_value(json_array_get(notes, i)));
}

/* ---- writing ---------------------------------------------------------------------------------------------- */

ulna_status files_write(const char *path, const ulna_model *model, const ulna_clip *clip,
                        const ulna_recording *recording, const ulna_write_options *options, json_t *notes,
                        ulna_error *error)
{
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    int is_counted = cli_writing_begin(path);
    ulna_status status = ulna_content_save(path, model, clip, recording, options, &remarks, error);
    cli_writing_end(is_counted);
    files_note(notes, path, &remarks);
    ulna_remarks_release(&remarks);
    return status;
}

/* ==== options about recordings ==================================================================================== */

/* 0 if the text is no rotation. */
static int parse_axes(const char *text, double axes[9])
{
    memset(axes, 0, 9 * sizeof *axes);
    for (int row = 0; row < 3; row++) {
        double sign = *text == '-' ? -1 : 1;
        text += *text == '-' || *text == '+';
        const char *found = *text ? strchr("xyzXYZ", *text) : NULL;
        if (!found)
            return 0;
        axes[3 * row + (found - "xyzXYZ") % 3] = sign;
        text++;
    }
    double determinant = axes[0] * (axes[4] * axes[8] - axes[5] * axes[7]) -
                         axes[1] * (axes[3] * axes[8] - axes[5] * axes[6]) +
                         axes[2] * (axes[3] * axes[7] - axes[4] * axes[6]);
    return !*text && determinant > 0.5;
}

int axes_read(const cli *tool, axes_choice *choice)
{
    const char *axes = cli_value(tool, "axes"), *up = cli_value(tool, "up");
    if (axes && up)
        return cli_usage(tool, "--axes says which way is up: give one of --axes and --up");
    choice->is_given = axes && strcmp(axes, "auto") != 0;
    if (choice->is_given && !parse_axes(axes, choice->axes))
        return cli_usage(
            tool, "--axes takes three of x, y, z with signs, such as yzx or x-zy, that do not mirror, not '%s'", axes);
    choice->up = up ? (char)tolower((unsigned char)*up) : 0;
    if (up && (!choice->up || !strchr("xyz", choice->up) || up[1]))
        return cli_usage(tool, "--up takes x, y or z, not '%s'", up);
    return CLI_DONE;
}

void axes_apply(const axes_choice *choice, ulna_take_options *options)
{
    if (choice->is_given)
        options->axes = choice->axes;
    if (choice->up) {
        options->up = choice->up;
        options->trust_up = 1;
    }
}

void axes_note(const axes_choice *choice, const ulna_content *markers, json_t *notes)
{
    if (choice->up && markers->source.up && choice->up != markers->source.up)
        files_note_text(notes, "the recording states that %c is up; --up %c is used instead", markers->source.up,
                        choice->up);
}

void axes_text(const double axes[9], char text[8])
{
    size_t length = 0;
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 3; k++)
            if (fabs(axes[3 * row + k]) > 0.5) {
                if (axes[3 * row + k] < 0)
                    text[length++] = '-';
                text[length++] = "xyz"[k];
            }
    text[length] = 0;
}

/* ==== tables as text ============================================================================================== */

void fields_trim_end(char *text)
{
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        text[--length] = 0;
}

char *fields_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    fields_trim_end(text);
    return text;
}

char *fields_line(char **next, int *number)
{
    while (*next) {
        char *line = *next;
        *next = strchr(line, '\n');
        if (*next)
            *(*next)++ = 0;
        ++*number;
        line = fields_trim(line);
        if (*line && *line != '#')
            return line;
    }
    return NULL;
}

int fields_split(char *line, const char *separators, char **fields, int most)
{
    int count = 0;
    for (char *next = line; next; count++) {
        char *field = next;
        next = strpbrk(field, separators);
        if (count == most)
            return most + 1;
        if (next)
            *next++ = 0;
        fields[count] = fields_trim(field);
    }
    return count;
}

/* ==== folders ===================================================================================================== */

int folder_is(const char *path)
{
    struct stat about;
    size_t length = strlen(path);
    return (length && path[length - 1] == '/') || (stat(path, &about) == 0 && S_ISDIR(about.st_mode));
}

char *folder_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    int has_slash = *folder && folder[strlen(folder) - 1] == '/';
    if (!path)
        cli_out_of_memory();
    snprintf(path, size, "%s%s%s", folder, has_slash ? "" : "/", name);
    return path;
}

char *folder_file(const char *folder, const char *take, const char *person, const char *ending)
{
    const char *slash = strrchr(take, '/'), *base = slash ? slash + 1 : take;
    if (strcmp(take, "-") == 0)
        base = "take";
    const char *dot = strrchr(base, '.'), *who = person ? person : "";
    size_t stem = dot && dot > base ? (size_t)(dot - base) : strlen(base),
           room = stem + strlen(who) + strlen(ending) + 3;
    char *name = malloc(room);
    if (!name)
        cli_out_of_memory();
    int length = snprintf(name, room, "%.*s%s%s", (int)stem, base, *who ? "-" : "", who);
    for (char *at = name; *at; at++)
        *at = *at == '/' ? '_' : *at;
    snprintf(name + length, room - (size_t)length, ".%s", ending);
    char *path = folder_join(folder, name);
    free(name);
    return path;
}

/* mkdir -p. 0, or what went wrong, as errno has it. */
static int make_all(const char *folder)
{
    char *path = strdup(folder);
    if (!path)
        cli_out_of_memory();
    int failure = 0;
    for (char *at = path; *at && !failure; at++) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        char slash = *at;
        *at = 0;
        struct stat state;
        if (mkdir(path, 0777) && (errno != EEXIST || stat(path, &state) || !S_ISDIR(state.st_mode)))
            failure = errno == EEXIST ? ENOTDIR : errno;
        *at = slash;
        if (!slash)
            break;
    }
    free(path);
    return failure;
}

int folder_make(json_t *object, const char *folder)
{
    ulna_error error;
    int failure = make_all(folder);
    if (!failure)
        return CLI_DONE;
    cli_fail(&error, ULNA_ERR_IO, "cannot create the folder: %s", strerror(failure));
    return files_fail(object, folder, &error);
}

int folder_make_for(json_t *object, const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (!slash || slash == path)
        return CLI_DONE;
    char *folder = strndup(path, (size_t)(slash - path));
    int code = folder ? folder_make(object, folder) : cli_out_of_memory();
    free(folder);
    return code;
}
