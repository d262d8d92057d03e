/*
 * Writes C3D: PC, floats, millimetres unless asked otherwise. Analog channels and other parameters come from the file that the
 * recording was read from (c3d_extras.c), if it is given.
 *
 * The parameter section is built in memory first, since its length decides where the data begin. Labels beyond 255 go on in
 * LABELS2, LABELS3, ... Frame numbers beyond 65535 are only in TRIAL:ACTUAL_START_FIELD and ACTUAL_END_FIELD; the header
 * then counts from 1. More than 65535 frames: header and POINT:FRAMES say 65535, TRIAL and POINT:LONG_FRAMES tell the
 * truth, as other programs do it.
 */
#include <float.h>
#include <stdio.h>

#include "base/base.h"
#include "formats/c3d/c3d.h"
#include "formats/format.h"
#include "formats/markers.h"
#include "formats/text/scan.h"

enum {
    POINT = ULNA_C3D_POINT,
    TRIAL = ULNA_C3D_TRIAL,
    ANALOG = ULNA_C3D_ANALOG,
    WORD_LIMIT = 65535,
    MOST_BLOCKS = 255
};

/* ---- bytes -------------------------------------------------------------------------------------------------------- */

typedef struct c3d_bytes {
    ulna_text text;
    ulna_status status; /* of the first append that failed */
} c3d_bytes;

static void put(c3d_bytes *b, const void *data, size_t length)
{
    if (b->status == ULNA_OK && length)
        b->status = ulna_text_append(&b->text, data, length);
}

static void put_byte(c3d_bytes *b, int value)
{
    unsigned char byte = (unsigned char)value;
    put(b, &byte, 1);
}

static void put_word(c3d_bytes *b, uint32_t value)
{
    unsigned char bytes[2];
    ulna_c3d_store_word(value, bytes);
    put(b, bytes, 2);
}

static void put_float(c3d_bytes *b, double value)
{
    unsigned char bytes[4];
    ulna_c3d_store_float((float)value, bytes);
    put(b, bytes, 4);
}

static void pad_block(c3d_bytes *b)
{
    while (b->status == ULNA_OK && b->text.length % ULNA_C3D_BLOCK)
        put_byte(b, 0);
}

/* ---- parameters --------------------------------------------------------------------------------------------------- */

static void put_group(c3d_bytes *b, int id, const char *name)
{
    put_byte(b, (int)strlen(name));
    put_byte(b, -id);
    put(b, name, strlen(name));
    put_word(b, 3); /* to the next entry: this word and an empty description */
    put_byte(b, 0);
}

/* Name, link, type and dimensions; the data follow, `bytes` of them, and then put_byte(b, 0) for no description. */
static void put_name(c3d_bytes *b, int group, const char *name, int type, int dimensions, const int *size, size_t bytes)
{
    put_byte(b, (int)strlen(name));
    put_byte(b, group);
    put(b, name, strlen(name));
    put_word(b, (uint32_t)(2 + 2 + (size_t)dimensions + bytes + 1));
    put_byte(b, type);
    put_byte(b, dimensions);
    for (int d = 0; d < dimensions; d++)
        put_byte(b, size[d]);
}

static void put_word_parameter(c3d_bytes *b, int group, const char *name, uint32_t value)
{
    put_name(b, group, name, 2, 0, NULL, 2);
    put_word(b, value);
    put_byte(b, 0);
}

static void put_float_parameter(c3d_bytes *b, int group, const char *name, double value)
{
    put_name(b, group, name, 4, 0, NULL, 4);
    put_float(b, value);
    put_byte(b, 0);
}

static void put_field(c3d_bytes *b, const char *name, uint32_t value)
{
    const int two = 2;
    put_name(b, TRIAL, name, 2, 1, &two, 4);
    put_word(b, value & WORD_LIMIT);
    put_word(b, value >> 16);
    put_byte(b, 0);
}

static void put_text(c3d_bytes *b, int group, const char *name, const char *text)
{
    const int size = (int)strlen(text);
    put_name(b, group, name, -1, 1, &size, (size_t)size);
    put(b, text, (size_t)size);
    put_byte(b, 0);
}

/* Labels of markers [first, first + count), all padded to the longest. */
static void put_labels(c3d_bytes *b, const char *name, const ulna_recording *recording, int first, int count)
{
    char label[ULNA_MARKER_NAME];
    size_t longest = 1;
    for (int i = first; i < first + count; i++) {
        ulna_marker_name_of(recording, i, label);
        size_t length = strlen(label);
        longest = length > longest ? length : longest;
    }
    const int size[2] = {(int)longest, count};
    put_name(b, POINT, name, -1, 2, size, longest * (size_t)count);
    for (int i = first; i < first + count; i++) {
        ulna_marker_name_of(recording, i, label);
        size_t length = strlen(label);
        put(b, label, length);
        for (; length < longest; length++)
            put(b, " ", 1);
    }
    put_byte(b, 0);
}

static void put_label_lists(c3d_bytes *b, const ulna_recording *recording)
{
    char name[24] = "LABELS";
    for (int first = 0, part = 1; first < recording->marker_count; first += ULNA_C3D_MOST_LABELS) {
        int left = recording->marker_count - first;
        put_labels(b, name, recording, first, left < ULNA_C3D_MOST_LABELS ? left : ULNA_C3D_MOST_LABELS);
        snprintf(name, sizeof name, "LABELS%d", ++part);
    }
}

typedef struct c3d_job {
    const ulna_recording *recording;
    double unit, rate, scale;
    uint32_t first, frames; /* number of the first frame, and how many */
    uint32_t data_block;
    char up;                       /* 0: not said */
    const ulna_c3d_extras *extras; /* NULL: none */
    int other_points;              /* what they say of points does not hold */
    uint32_t channels, samples;    /* analog: how many, and samples of each per frame */
    double analog_rate;
    int left_out;     /* parameters for which there was no room */
    int force_plates; /* number of their group; 0: none */
} c3d_job;

/* As on a screen that is looked at from the front: which way is right, which way is up. */
static void put_screen(c3d_bytes *b, char up)
{
    const char y[3] = {'+', (char)(up - 'x' + 'X'), 0};
    put_text(b, POINT, "X_SCREEN", up == 'x' ? "+Y" : "+X");
    put_text(b, POINT, "Y_SCREEN", y);
}

static void put_groups(c3d_bytes *b, const ulna_c3d_extras *extras)
{
    static const char *const names[ULNA_C3D_OWN_GROUPS] = {"", "POINT", "TRIAL", "ANALOG"};
    for (int g = POINT; g < ULNA_C3D_OWN_GROUPS; g++)
        if (!extras || !extras->has_group[g])
            put_group(b, g, names[g]);
    if (extras)
        put(b, extras->groups.data, extras->groups.length);
}

/* Whether a parameter of another file no longer holds: the axes of its screen, texts about its markers. */
static int is_outdated(const c3d_job *job, int group, ulna_word name)
{
    if (group != POINT)
        return 0;
    if (ulna_word_is_like(name, "X_SCREEN") || ulna_word_is_like(name, "Y_SCREEN"))
        return job->up != 0;
    if (job->other_points)
        return 1;
    return job->extras->points != job->recording->marker_count && name.length >= 12 &&
           ulna_word_is_like((ulna_word){name.text, 12}, "DESCRIPTIONS");
}

/* The letters of the name with which an entry of a parameter section begins. Their number is negative, as a signed byte, if it is locked. */
static ulna_word name_of(const char *entry)
{
    unsigned char letters = (unsigned char)*entry;
    return (ulna_word){entry + 2, letters < 128 ? letters : 256u - letters};
}

/* Where the entry after this one begins. */
static size_t next_entry(const char *data, size_t at)
{
    size_t link = at + 2 + name_of(data + at).length;
    return link + (size_t)ulna_c3d_word((const unsigned char *)data + link, ULNA_C3D_PC);
}

/* Where the force plates' group is among those that are kept: its number, 0 without. */
static int find_force_plates(const ulna_c3d_extras *x)
{
    for (size_t at = 0; at < x->groups.length; at = next_entry(x->groups.data, at))
        if (ulna_word_is_like(name_of(x->groups.data + at), "FORCE_PLATFORM"))
            return -(signed char)x->groups.data[at + 1];
    return 0;
}

/* How many floats of a parameter are lengths in the unit of the points, and where: corners and origins of force plates. */
static size_t find_lengths(const c3d_job *job, const char *entry, size_t length, size_t *first)
{
    ulna_word name = name_of(entry);
    size_t at = 2 + name.length + 2, count = 1; /* type, dimensions, sizes, values */
    if (job->unit == job->extras->unit_m || (signed char)entry[1] != job->force_plates ||
        !(ulna_word_is_like(name, "CORNERS") || ulna_word_is_like(name, "ORIGIN")) || at + 2 > length ||
        entry[at] != (char)sizeof(float))
        return 0;
    size_t dimensions = (unsigned char)entry[at + 1];
    for (size_t i = 0; i < dimensions && at + 2 + i < length; i++)
        count *= (unsigned char)entry[at + 2 + i];
    *first = at + 2 + dimensions;
    return *first + count * sizeof(float) <= length ? count : 0;
}

static void put_kept_parameter(c3d_bytes *b, const c3d_job *job, const char *entry, size_t length)
{
    size_t first = 0, count = find_lengths(job, entry, length, &first), last = first + count * sizeof(float);
    put(b, entry, first);
    for (size_t at = first; at < last; at += sizeof(float))
        put_float(b, ulna_c3d_float((const unsigned char *)entry + at, ULNA_C3D_PC) * job->extras->unit_m / job->unit);
    put(b, entry + last, length - last);
}

/* As many parameters of the other file as there is room for. */
static void put_kept_parameters(c3d_bytes *b, c3d_job *job)
{
    const char *data = job->extras->parameters.data;
    size_t length = job->extras->parameters.length;
    job->left_out = 0;
    for (size_t at = 0, next; at < length; at = next) {
        next = next_entry(data, at);
        if (is_outdated(job, (signed char)data[at + 1], name_of(data + at)))
            continue;
        if (b->text.length + (next - at) > (size_t)MOST_BLOCKS * ULNA_C3D_BLOCK)
            job->left_out++;
        else
            put_kept_parameter(b, job, data + at, next - at);
    }
}

static void put_parameters(c3d_bytes *b, c3d_job *job)
{
    put_byte(b, 1);
    put_byte(b, ULNA_C3D_MAGIC);
    put_byte(b, 0); /* number of blocks: filled in when known */
    put_byte(b, ULNA_C3D_PC);
    put_groups(b, job->extras);
    put_word_parameter(b, POINT, "USED", (uint32_t)job->recording->marker_count);
    put_float_parameter(b, POINT, "SCALE", job->scale);
    put_float_parameter(b, POINT, "RATE", job->rate);
    put_word_parameter(b, POINT, "DATA_START", job->data_block);
    put_word_parameter(b, POINT, "FRAMES", job->frames > WORD_LIMIT ? WORD_LIMIT : job->frames);
    if (job->frames > WORD_LIMIT)
        put_float_parameter(b, POINT, "LONG_FRAMES", job->frames);
    put_text(b, POINT, "UNITS", ulna_length_unit_name(job->unit));
    put_label_lists(b, job->recording);
    put_field(b, "ACTUAL_START_FIELD", job->first);
    put_field(b, "ACTUAL_END_FIELD", job->first + job->frames - 1);
    put_word_parameter(b, ANALOG, "USED", job->channels);
    put_float_parameter(b, ANALOG, "RATE", job->analog_rate);
    if (job->up >= 'x' && job->up <= 'z') /* from here on as in the other file, so that a second pass changes nothing */
        put_screen(b, job->up);
    if (!job->extras || !job->extras->has_gen_scale)
        put_float_parameter(b, ANALOG, "GEN_SCALE", 1);
    if (job->extras)
        put_kept_parameters(b, job);
    pad_block(b);
}

static void put_header(c3d_bytes *b, const c3d_job *job)
{
    uint32_t first = job->first, last = first + job->frames - 1;
    if (last > WORD_LIMIT) { /* what 16 bits can hold: TRIAL tells more */
        first = 1;
        last = job->frames > WORD_LIMIT ? WORD_LIMIT : job->frames;
    }
    put_byte(b, 2); /* block of the parameters */
    put_byte(b, ULNA_C3D_MAGIC);
    put_word(b, (uint32_t)job->recording->marker_count);
    uint32_t per_frame = job->channels * job->samples;
    put_word(b, per_frame > WORD_LIMIT ? WORD_LIMIT : per_frame);
    put_word(b, first);
    put_word(b, last);
    put_word(b, job->extras && !job->other_points ? (uint32_t)job->extras->longest_gap : 0);
    put_float(b, job->scale);
    put_word(b, job->data_block);
    put_word(b, job->samples); /* ANALOG:RATE / POINT:RATE */
    put_float(b, job->rate);
    pad_block(b);
    if (job->extras && b->status == ULNA_OK)
        memcpy(b->text.data + ULNA_C3D_AT_EVENTS, job->extras->events, sizeof job->extras->events);
}

/* ---- frames ------------------------------------------------------------------------------------------------------- */

static int is_there(const double *x)
{
    return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]);
}

static int is_far(const double *x, double unit)
{
    int is_near = 1;
    for (int k = 0; k < 3; k++)
        is_near &= fabs(x[k] / unit) <= (double)FLT_MAX;
    return !is_near;
}

/* Negative, since points are floats. Its size is that which integers would need, as the guide wants it. */
static double scale_of(const ulna_recording *r, double unit)
{
    double largest = 0;
    for (size_t i = 0; i < (size_t)r->frame_count * (size_t)r->marker_count; i++) {
        const double *x = r->positions + 3 * i;
        for (int k = 0; k < 3 && is_there(x) && !is_far(x, unit); k++)
            largest = fmax(largest, fabs((double)(float)(x[k] / unit)));
    }
    return largest >= 1e-30 ? -largest / 32000 : -1;
}

/* Residual and cameras of a point of the other file, or 0. */
static float word_of(const c3d_job *job, int frame, int marker)
{
    const ulna_c3d_extras *x = job->other_points ? NULL : job->extras;
    long long at = x ? (long long)job->recording->first_frame - x->first_frame + frame : -1;
    int is_known = x && x->words && x->points == job->recording->marker_count && at >= 0 && at < x->frames;
    float word = is_known ? x->words[(size_t)at * (size_t)x->points + (size_t)marker] : 0;
    return word > 0 ? word : 0; /* also of NaN, and of a point that was filled in */
}

/* X, Y, Z and `word`, or -1 for a marker that is missing. Returns 1 if the position is too far away for a float. */
static int store_point(const double *x, double unit, float word, unsigned char out[16])
{
    int is_known = is_there(x), too_far = is_known && is_far(x, unit);
    for (int k = 0; k < 3; k++)
        ulna_c3d_store_float(is_known && !too_far ? (float)(x[k] / unit) : 0, out + 4 * k);
    ulna_c3d_store_float(is_known && !too_far ? word : -1, out + 12);
    return too_far;
}

/* Bytes on their way to the sink, in larger pieces. */
typedef struct frame_buffer {
    const ulna_sink *sink;
    ulna_status status;
    size_t used, total;
    unsigned char bytes[4096];
} frame_buffer;

static void flush(frame_buffer *b)
{
    if (b->status == ULNA_OK && b->used)
        b->status = b->sink->write(b->sink->context, (const char *)b->bytes, b->used);
    b->total += b->used;
    b->used = 0;
}

/* Room for `size` bytes, at most 16. */
static unsigned char *take_bytes(frame_buffer *b, size_t size)
{
    if (b->used + size > sizeof b->bytes)
        flush(b);
    b->used += size;
    return b->bytes + b->used - size;
}

/* The samples of a frame; zeros for a frame that the other file does not have. Returns 1 for such a frame. */
static int put_samples(frame_buffer *b, const c3d_job *job, int frame)
{
    const ulna_c3d_extras *x = job->extras;
    size_t width = (size_t)job->channels * job->samples;
    long long at = (long long)job->recording->first_frame - x->first_frame + frame;
    int is_known = at >= 0 && at < x->frames;
    for (size_t i = 0; i < width; i++)
        ulna_c3d_store_float(is_known ? x->samples[(size_t)at * width + i] : 0, take_bytes(b, 4));
    return !is_known;
}

static ulna_status write_frames(const ulna_writing *w, const c3d_job *job)
{
    static const char zeros[ULNA_C3D_BLOCK] = {0};
    frame_buffer b = {.sink = w->sink};
    const ulna_recording *r = w->recording;
    long long far = 0;
    int unknown = 0;
    for (int f = 0; f < r->frame_count && b.status == ULNA_OK; f++) {
        for (int m = 0; m < r->marker_count; m++)
            far += store_point(ulna_recording_frame(r, f) + 3 * (size_t)m, job->unit, word_of(job, f, m),
                               take_bytes(&b, 16));
        if (job->channels)
            unknown += put_samples(&b, job, f);
    }
    flush(&b);
    size_t over = b.total % ULNA_C3D_BLOCK;
    if (b.status == ULNA_OK && over)
        b.status = w->sink->write(w->sink->context, zeros, ULNA_C3D_BLOCK - over);
    if (far)
        ulna_remarks_add(w->remarks, 0, -1, "%lld positions are too far away for C3D and are written as missing", far);
    if (unknown)
        ulna_remarks_add(w->remarks, 0, -1, "analog samples of %d frames are not there and are written as 0", unknown);
    return b.status;
}

/* ---- the writer --------------------------------------------------------------------------------------------------- */

static ulna_status check(const ulna_writing *w, ulna_error *error)
{
    const ulna_recording *r = w->recording;
    const ulna_c3d_extras *extras = ulna_c3d_extras_of(w->options->extras);
    if (r->marker_count == 0 && !(extras && extras->per_frame))
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "C3D holds markers, but there are none to write");
    if (r->marker_count > WORD_LIMIT)
        return ulna_fail(error, ULNA_ERR_LIMIT, "C3D holds at most %d markers", WORD_LIMIT);
    if (r->first_frame < 1)
        ulna_remarks_add(w->remarks, 0, -1, "C3D numbers frames from 1: the number of the first frame, %d, is not kept",
                         r->first_frame);
    if (!(r->frame_seconds > 0))
        ulna_remarks_add(w->remarks, 0, -1, "the frame rate is unknown and is written as 0");
    ulna_markers_renamed(r, ulna_marker_name_of, w->remarks);
    return ULNA_OK;
}

static ulna_status put_all(c3d_job *job, c3d_bytes *header, c3d_bytes *parameters, ulna_error *error)
{
    put_parameters(parameters, job);
    size_t blocks = parameters->text.length / ULNA_C3D_BLOCK;
    if (parameters->status == ULNA_OK && blocks > MOST_BLOCKS)
        return ulna_fail(error, ULNA_ERR_LIMIT,
                         "the names of markers and groups are too long for the parameter section of C3D");
    if (parameters->status == ULNA_OK) { /* again, now that the place of the data is known */
        parameters->text.length = 0;
        job->data_block = (uint32_t)(2 + blocks);
        put_parameters(parameters, job);
        parameters->text.data[2] = (char)blocks;
        put_header(header, job);
    }
    if (header->status != ULNA_OK || parameters->status != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for the parameters of a C3D file");
    return ULNA_OK;
}

/* Analog channels, if the words of the header can count them. */
static void set_analog(const ulna_writing *w, c3d_job *job)
{
    const ulna_c3d_extras *x = job->extras;
    job->samples = 1;
    job->analog_rate = job->rate;
    if (!x || !x->per_frame)
        return;
    if (x->channels > WORD_LIMIT || x->per_frame / x->channels > WORD_LIMIT) {
        ulna_remarks_add(w->remarks, 0, -1,
                         "%d analog samples per frame are more than C3D can count: they are left out", x->per_frame);
        return;
    }
    job->channels = (uint32_t)x->channels;
    job->samples = (uint32_t)(x->per_frame / x->channels);
    job->analog_rate = job->rate * job->samples;
    if (job->recording->frame_seconds == x->frame_seconds && isfinite(x->analog_rate))
        job->analog_rate = x->analog_rate;
}

static c3d_job job_of(const ulna_writing *w, double unit)
{
    const ulna_recording *r = w->recording;
    const ulna_c3d_extras *x = ulna_c3d_extras_of(w->options->extras);
    char up = w->options->up;
    c3d_job job = {.recording = r,
                   .unit = unit,
                   .rate = r->frame_seconds > 0 ? 1 / r->frame_seconds : 0,
                   .up = x && x->has_screen && up == x->up ? 0 : up,
                   .extras = x,
                   .other_points = w->options->other_points};
    job.force_plates = x ? find_force_plates(x) : 0;
    job.first = (uint32_t)(r->first_frame > 0 ? r->first_frame : 1);
    job.frames = (uint32_t)r->frame_count;
    job.scale =
        x && x->words && !job.other_points ? -x->scale * x->unit_m / unit : scale_of(r, unit); /* residuals are in it */
    set_analog(w, &job);
    return job;
}

static void remark_on_extras(const ulna_writing *w, const c3d_job *job)
{
    if (job->left_out)
        ulna_remarks_add(w->remarks, 0, -1, "there is no room for %d parameters of the other file: they are left out",
                         job->left_out);
    if (job->extras && job->extras->words && job->other_points)
        ulna_remarks_add(w->remarks, 0, -1,
                         "residuals, cameras and texts are those of the recorded points: they are left out");
    if (job->extras && job->unit != job->extras->unit_m)
        ulna_remarks_add(w->remarks, 0, -1,
                         "corners and origins of force plates are converted too; lengths in other parameters, such as "
                         "calibration matrices, stay in a unit of %g m",
                         job->extras->unit_m);
}

ulna_status ulna_c3d_write(const ulna_writing *writing, ulna_error *error)
{
    const ulna_recording *r = writing->recording;
    const ulna_c3d_extras *extras = ulna_c3d_extras_of(writing->options->extras);
    double unit, usual = extras && ulna_length_unit_name(extras->unit_m) ? extras->unit_m : 1e-3;
    ulna_status status = ulna_named_unit(writing, "C3D", usual, &unit, error);
    if (status == ULNA_OK)
        status = check(writing, error);
    if (status != ULNA_OK)
        return status;
    c3d_job job = job_of(writing, unit);
    c3d_bytes header = {.text = ulna_text_empty(&r->allocator)}, parameters = {.text = ulna_text_empty(&r->allocator)};
    status = put_all(&job, &header, &parameters, error);
    if (status == ULNA_OK) {
        status = writing->sink->write(writing->sink->context, header.text.data, header.text.length);
        if (status == ULNA_OK)
            status = writing->sink->write(writing->sink->context, parameters.text.data, parameters.text.length);
        if (status == ULNA_OK)
            status = write_frames(writing, &job);
        if (status != ULNA_OK)
            ulna_fail(error, status, "the C3D file cannot be written: %s", ulna_status_text(status));
    }
    if (status == ULNA_OK)
        remark_on_extras(writing, &job);
    ulna_text_release(&header.text);
    ulna_text_release(&parameters.text);
    return status;
}
