/* What commands read and where they write: skeletons, motions, recordings, attachments, tables as text, folders. */
#include "cli/input.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"
#include "ulna/sample.h"

int files_needs_skeleton(const char *path)
{
    char bytes[4096] = "";
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rb");
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

ulna_status files_read(const char *path, const ulna_read_options *options, ulna_content *content, ulna_error *error)
{
    return strcmp(path, "-") == 0 ? read_stdin(options, content, error)
                                  : ulna_content_load(path, options, content, error);
}

static int is_sample(const char *name)
{
    for (int i = 0; ulna_sample_name(i); i++)
        if (strcmp(ulna_sample_name(i), name) == 0)
            return 1;
    return 0;
}

static ulna_status fail_kind(const char *wanted, const ulna_content *content, ulna_error *error)
{
    return cli_fail(error, ULNA_ERR_PARSE, "%s is needed, but this file (%s) has none", wanted,
                    ulna_format_text(content->format));
}

ulna_status files_skeleton(const char *path, ulna_content *content, ulna_error *error)
{
    if (is_sample(path) && access(path, F_OK) != 0) {
        content->format = ULNA_FORMAT_MODEL_JSON;
        content->source = (ulna_source){.unit_m = 1, .up = 'y'};
        return ulna_sample_create(path, NULL, &content->model, error);
    }
    ulna_status status = files_read(path, NULL, content, error);
    if (status == ULNA_OK && !content->model)
        status = fail_kind("a skeleton", content, error);
    return status;
}

ulna_status cli_load_model(const char *name, ulna_model **model, ulna_error *error)
{
    ulna_content content = ulna_content_empty(NULL);
    ulna_status status = files_skeleton(name, &content, error);
    *model = status != ULNA_OK ? NULL : content.model;
    if (status == ULNA_OK)
        content.model = NULL; /* the caller's now */
    ulna_content_release(&content);
    return status;
}

/* A motion with a skeleton of its own, in the coordinates of the other one. */
static ulna_status adopt(ulna_content *own, const ulna_model *model, ulna_error *error)
{
    ulna_error why;
    ulna_error_clear(&why);
    ulna_status status = ulna_clip_convert(own->model, &own->clip, model, &own->clip, &why);
    return status != ULNA_OK ? cli_fail(error, status, "this is a motion of another skeleton: %.200s", why.message)
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
        status = adopt(&content, skeleton->model, error);
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

ulna_status files_markers(const char *path, ulna_content *content, ulna_error *error)
{
    ulna_status status = files_read(path, NULL, content, error);
    if (status == ULNA_OK && (content->recording.marker_count < 1 || content->recording.frame_count < 1))
        status = content->recording.marker_count < 1
                     ? fail_kind("a recording of markers", content, error)
                     : cli_fail(error, ULNA_ERR_PARSE, "the recording has markers, but no frames");
    return status;
}

ulna_status files_attachment(const char *path, const ulna_model *model, ulna_marker_set *set, ulna_error *error)
{
    return ulna_marker_set_load(path, model, set, error);
}

int files_fail(json_t *object, const char *path, const ulna_error *error)
{
    json_t *told = cli_json_error(error);
    json_object_set_new(object, "file", cli_json_text(path));
    json_object_set_new(object, "error", told);
    fflush(stdout); /* so that messages stand in order where both go to one place */
    if (error->line > 0 || error->byte < 0)
        return cli_complain_file(path, error);
    json_object_set_new(told, "byte", json_integer(error->byte));
    cli_complain("%s, byte %lld: %s", path, error->byte, error->message);
    return cli_exit_code(error->status);
}

/* ---- notes ------------------------------------------------------------------------------------------------ */

void files_note_text(json_t *notes, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_array_append_new(notes, cli_json_text(text));
}

void files_note(json_t *notes, const char *path, const ulna_remarks *remarks)
{
    enum { SHOWN = 12 };
    for (size_t i = 0; i < remarks->count && i < SHOWN; i++) {
        const ulna_remark *remark = &remarks->items[i];
        if (remark->line > 0)
            files_note_text(notes, "%.200s:%d: %s", path, remark->line, remark->message);
        else if (remark->byte >= 0)
            files_note_text(notes, "%.200s, byte %lld: %s", path, remark->byte, remark->message);
        else
            files_note_text(notes, "%.200s: %s", path, remark->message);
    }
    size_t all = remarks->count + remarks->dropped;
    if (all > SHOWN)
        files_note_text(notes, "%.200s: and %zu more remarks", path, all - SHOWN);
}

void files_print_notes(const cli *tool, const json_t *notes)
{
    enum { COLUMN = 12 };
    for (size_t i = 0; i < json_array_size(notes); i++) {
        cli_say(tool, "  %-*s", COLUMN - 2, "note");
        table_wrap(tool, 0, COLUMN, COLUMN, json_string_value(json_array_get(notes, i)));
    }
}

/* ---- writing ---------------------------------------------------------------------------------------------- */

ulna_status files_write(const char *path, const ulna_model *model, const ulna_clip *clip,
                        const ulna_recording *recording, const ulna_write_options *options, json_t *notes,
                        ulna_error *error)
{
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    cli_writing_begin();
    ulna_status status = ulna_content_save(path, model, clip, recording, options, &remarks, error);
    cli_writing_end();
    files_note(notes, path, &remarks);
    ulna_remarks_release(&remarks);
    return status;
}

/* ==== tables as text ============================================================================================== */

char *fields_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        text[--length] = 0;
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

char *folder_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    int has_slash = *folder && folder[strlen(folder) - 1] == '/';
    if (path)
        snprintf(path, size, "%s%s%s", folder, has_slash ? "" : "/", name);
    return path;
}

int folder_make(const char *folder)
{
    char *path = strdup(folder);
    if (!path)
        return ENOMEM;
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
