/* Whatever a file holds: reading and writing by the table of formats; remarks. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/acclaim/acclaim.h"
#include "formats/format.h"

enum { MOST_REMARKS = 1000 };

/* ---- remarks ------------------------------------------------------------------------------------------------- */

ulna_remarks ulna_remarks_empty(const ulna_allocator *allocator)
{
    return (ulna_remarks){.allocator = ulna_allocator_or_default(allocator)};
}

ulna_remark *ulna_remarks_add(ulna_remarks *remarks, int line, long long byte, const char *format, ...)
{
    if (!remarks)
        return NULL;
    void *items = remarks->items;
    if (remarks->count >= MOST_REMARKS || ulna_grow(&remarks->allocator, &items, &remarks->capacity, remarks->count + 1,
                                                    sizeof *remarks->items) != ULNA_OK) {
        remarks->dropped++;
        return NULL;
    }
    remarks->items = items;
    ulna_remark *remark = &remarks->items[remarks->count++];
    *remark = (ulna_remark){.line = line, .byte = byte, .body = ULNA_NONE};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(remark->message, sizeof remark->message, format, arguments);
    va_end(arguments);
    return remark;
}

void ulna_remarks_release(ulna_remarks *remarks)
{
    if (remarks) {
        ulna_release(&remarks->allocator, remarks->items, remarks->capacity, sizeof *remarks->items);
        *remarks = ulna_remarks_empty(&remarks->allocator);
    }
}

/* ---- contents ------------------------------------------------------------------------------------------------ */

ulna_content ulna_content_empty(const ulna_allocator *allocator)
{
    return (ulna_content){.clip = ulna_clip_empty(allocator),
                          .recording = ulna_recording_empty(allocator),
                          .remarks = ulna_remarks_empty(allocator)};
}

static void release_channels(ulna_content *content)
{
    ulna_release(&content->remarks.allocator, content->channels, (size_t)content->channel_count,
                 sizeof *content->channels);
    content->channels = NULL;
    content->channel_count = 0;
}

static void release_parts(ulna_content *content)
{
    ulna_model_destroy(content->model);
    content->model = NULL;
    ulna_clip_release(&content->clip);
    ulna_recording_release(&content->recording);
    release_channels(content);
    if (content->extras)
        content->extras->release(content->extras);
    content->extras = NULL;
}

void ulna_content_release(ulna_content *content)
{
    if (content) {
        release_parts(content);
        ulna_remarks_release(&content->remarks);
        content->format = ULNA_FORMAT_UNKNOWN;
        content->source = (ulna_source){0};
    }
}

ulna_read_options ulna_read_options_default(void)
{
    return (ulna_read_options){0};
}

ulna_write_options ulna_write_options_default(void)
{
    return (ulna_write_options){.degrees = -1};
}

ulna_read_options ulna_read_options_for(const ulna_content *skeleton)
{
    ulna_read_options options = ulna_read_options_default();
    if (skeleton) {
        options.model = skeleton->model;
        options.channels = skeleton->channels;
        options.channel_count = skeleton->channel_count;
        options.skeleton_unit_m = skeleton->format == ULNA_FORMAT_ASF ? skeleton->source.unit_m : 0;
    }
    return options;
}

ulna_write_options ulna_write_options_for(const ulna_content *skeleton, ulna_format format)
{
    ulna_write_options options = ulna_write_options_default();
    if (!skeleton)
        return options;
    int is_acclaim = format == ULNA_FORMAT_ASF || format == ULNA_FORMAT_AMC;
    if (is_acclaim && skeleton->format != ULNA_FORMAT_ASF)
        options.unit_m = ULNA_ACCLAIM_UNIT;
    else if (is_acclaim || format == skeleton->format)
        options.unit_m = skeleton->source.unit_m;
    if (is_acclaim && skeleton->format == ULNA_FORMAT_ASF) {
        options.degrees = skeleton->source.degrees;
        options.channels = skeleton->channels;
        options.channel_count = skeleton->channel_count;
    }
    if (skeleton->extras && skeleton->extras->format == ULNA_FORMAT_GLTF &&
        (format == ULNA_FORMAT_GLTF || format == ULNA_FORMAT_GLB))
        options.extras = skeleton->extras;
    options.up = skeleton->source.up;
    return options;
}

static ulna_status check_unit(const char *name, double unit_m, ulna_error *error)
{
    return unit_m == 0 || ulna_is_unit(unit_m)
               ? ULNA_OK
               : ulna_fail(error, ULNA_ERR_ARGUMENT, "%s is %g; it must be 1e-9 to 1e9 metres, or 0 for the default",
                           name, unit_m);
}

static ulna_status check_reading(const ulna_read_options *options, ulna_error *error)
{
    ulna_status status = check_unit("unit_m", options->unit_m, error);
    if (status == ULNA_OK)
        status = check_unit("skeleton_unit_m", options->skeleton_unit_m, error);
    if (status == ULNA_OK && (options->ball < ULNA_BALL_EULER || options->ball > ULNA_BALL_SWING_TWIST))
        status = ulna_fail(error, ULNA_ERR_ARGUMENT, "ball is %d, which is not a kind of joint", (int)options->ball);
    return status;
}

static ulna_status check_writing(const ulna_write_options *options, ulna_error *error)
{
    if (options->degrees < -1 || options->degrees > 1)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "degrees is %d; it must be -1, 0 or 1", options->degrees);
    if (options->digits < 0 || options->digits > 17)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "digits is %d; it must be 0 to 17", options->digits);
    if (options->up && !strchr("xyz", options->up))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "up must be 'x', 'y', 'z' or 0");
    return check_unit("unit_m", options->unit_m, error);
}

/* The skeleton of a file, and its clip, with the kind of ball joints that is asked for. */
static ulna_status convert_balls(ulna_content *content, ulna_ball ball, ulna_error *error)
{
    ulna_model *fresh;
    int dropped;
    if (ball == ULNA_BALL_EULER || !content->model)
        return ULNA_OK;
    ulna_status status =
        ulna_model_with_balls(content->model, ball, &content->remarks.allocator, &fresh, &dropped, error);
    if (status == ULNA_OK && content->clip.frame_count > 0)
        status = ulna_clip_convert(content->model, &content->clip, fresh, &content->clip, error);
    if (status != ULNA_OK) {
        ulna_model_destroy(fresh);
        return status;
    }
    ulna_model_destroy(content->model);
    content->model = fresh;
    release_channels(content); /* they count other coordinates */
    if (dropped)
        ulna_remarks_add(&content->remarks, 0, -1,
                         "limits of %d angles do not fit the other kind of joint and are lost", dropped);
    return ULNA_OK;
}

ulna_status ulna_content_read(const char *data, size_t length, ulna_format format, const ulna_read_options *options,
                              ulna_content *content, ulna_error *error)
{
    const ulna_read_options defaults = ulna_read_options_default();
    if ((!data && length) || !content)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "bytes and a pointer for their content are needed");
    if (length == 0)
        return ulna_fail(error, ULNA_ERR_PARSE, "the file is empty");
    if (length > ULNA_MAX_INPUT_BYTES)
        return ulna_fail(error, ULNA_ERR_LIMIT, "the file is longer than %zu bytes", (size_t)ULNA_MAX_INPUT_BYTES);
    if (format == ULNA_FORMAT_UNKNOWN)
        format = ulna_format_sniff(data, length);
    const ulna_format_row *row = ulna_format_row_of(format);
    if (!row->read)
        return ulna_format_fail(data, length, ~0u, error);
    if (!options)
        options = &defaults;
    ulna_status status = check_reading(options, error);
    if (status != ULNA_OK)
        return status;
    content->format = format;
    status = row->read(data, length, options, content, error);
    if (status == ULNA_OK)
        status = convert_balls(content, options->ball, error);
    if (status != ULNA_OK) {
        release_parts(content);
        content->format = ULNA_FORMAT_UNKNOWN;
        content->source = (ulna_source){0};
    }
    return status;
}

ulna_status ulna_content_load(const char *path, const ulna_read_options *options, ulna_content *content,
                              ulna_error *error)
{
    if (!path || !content)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a path and a pointer for its content are needed");
    ulna_text text = ulna_text_empty(&content->remarks.allocator);
    ulna_format format;
    ulna_status status = ulna_file_read_known(path, &text, &format, error);
    if (status == ULNA_OK && format == ULNA_FORMAT_UNKNOWN && text.length > 0) {
        format = ulna_format_of_name(path); /* a table of numbers looks like any other: then the name decides */
        if (format != ULNA_FORMAT_UNKNOWN) {
            ulna_text_release(&text);
            status = ulna_file_read(path, ULNA_MAX_INPUT_BYTES, &text, error);
        }
    }
    if (status == ULNA_OK)
        status = ulna_content_read(text.data, text.length, format, options, content, error);
    ulna_text_release(&text);
    return ulna_fail_file(error, path, status);
}

/* "a skeleton, a motion and markers" */
static const char *parts_text(unsigned parts, char text[64])
{
    static const char *const names[] = {"a skeleton", "a motion", "markers"};
    size_t used = 0;
    text[0] = 0;
    for (unsigned i = 0; i < 3; i++) {
        unsigned later = parts >> (i + 1);
        if (parts & 1u << i)
            used += (size_t)snprintf(text + used, 64 - used, "%s%s", names[i],
                                     !later                  ? ""
                                     : (later & (later - 1)) ? ", "
                                                             : " and ");
    }
    return used ? text : "nothing";
}

static void remark_losses(const ulna_format_row *row, const ulna_writing *w)
{
    if (w->clip && !(row->writes & ULNA_HOLDS_MOTION))
        ulna_remarks_add(w->remarks, 0, -1, "%s holds no motion: %d frames are left out", row->text,
                         w->clip->frame_count);
    if (w->recording && !(row->writes & ULNA_HOLDS_MARKERS))
        ulna_remarks_add(w->remarks, 0, -1, "%s holds no markers: the %d of the recording are left out", row->text,
                         w->recording->marker_count);
}

ulna_status ulna_content_write(ulna_format format, const ulna_model *model, const ulna_clip *clip,
                               const ulna_recording *recording, const ulna_write_options *options,
                               const ulna_sink *sink, ulna_remarks *remarks, ulna_error *error)
{
    const ulna_write_options defaults = ulna_write_options_default();
    const ulna_format_row *row = ulna_format_row_of(format);
    if (!sink)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a sink to write to is needed");
    if (format == ULNA_FORMAT_UNKNOWN)
        return ulna_fail(error, ULNA_ERR_FORMAT, "unknown file format");
    if (!row->write)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "Ulna does not write %s", row->text);
    if (!options)
        options = &defaults;
    ulna_status status = check_writing(options, error);
    if (status != ULNA_OK)
        return status;
    ulna_writing writing = {.model = model,
                            .clip = clip && clip->frame_count > 0 ? clip : NULL,
                            .recording = recording && recording->frame_count > 0 ? recording : NULL,
                            .options = options,
                            .sink = sink,
                            .remarks = remarks};
    unsigned has = (model ? ULNA_HOLDS_SKELETON : 0u) | (writing.clip ? ULNA_HOLDS_MOTION : 0u) |
                   (writing.recording ? ULNA_HOLDS_MARKERS : 0u);
    if (!(has & row->writes)) {
        char wanted[64], there[64];
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "%s holds %s, but only %s is given", row->text,
                         parts_text(row->writes, wanted), parts_text(has, there));
    }
    if (writing.clip && row->writes & ULNA_HOLDS_MOTION) {
        int nq = model ? ulna_model_coordinate_count(model) : 0;
        if (!model)
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "writing a motion needs its skeleton");
        if (clip->coordinate_count != nq)
            return ulna_fail(error, ULNA_ERR_ARGUMENT,
                             "the motion has %d coordinates per frame, but the skeleton has %d", clip->coordinate_count,
                             nq);
    }
    status = row->write(&writing, error);
    if (status == ULNA_OK)
        remark_losses(row, &writing);
    return status;
}

ulna_status ulna_content_save(const char *path, const ulna_model *model, const ulna_clip *clip,
                              const ulna_recording *recording, const ulna_write_options *options, ulna_remarks *remarks,
                              ulna_error *error)
{
    ulna_output *output;
    ulna_format format = ulna_format_of_name(path);
    ulna_status status = path && format == ULNA_FORMAT_UNKNOWN
                             ? ulna_fail(error, ULNA_ERR_FORMAT,
                                         "the file name does not end like that of a known format (.bvh, .amc, ...)")
                             : ulna_output_open(path, NULL, &output, error);
    if (status == ULNA_OK) {
        ulna_sink sink = ulna_output_sink(output);
        status = ulna_content_write(format, model, clip, recording, options, &sink, remarks, error);
        status = ulna_output_commit(output, status, error);
    }
    return ulna_fail_file(error, path, status);
}
