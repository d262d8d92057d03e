/*
 * What the report's script draws: places of bodies and markers, and values over time, as 16-bit numbers in base64.
 *
 * A point is 6 bytes a frame. Takes of more than MOST_FRAMES frames are thinned out for the player; of errors,
 * iterations and marks the largest of the frames in between is kept, so that nothing bad hides between two.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve/report.h"
#include "ulna/kinematics.h"

enum { MOST_FRAMES = 2000, MISSING = -32768 };
#define DEGREE (3.14159265358979323846 / 180)

int report_stride(const solve_job *job)
{
    return (job->take->frame_count + MOST_FRAMES - 1) / MOST_FRAMES;
}

/* ---- base64 -------------------------------------------------------------------------------------------------- */

typedef struct encoder {
    markup *page;
    unsigned char bytes[3];
    int count;
    char text[256];
    size_t length;
} encoder;

static void put_group(encoder *e)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned group = (unsigned)e->bytes[0] << 16 | (unsigned)e->bytes[1] << 8 | e->bytes[2];
    for (int k = 0; k < 4; k++)
        e->text[e->length++] = k <= e->count ? digits[group >> (18 - 6 * k) & 63] : '=';
    e->count = 0;
    memset(e->bytes, 0, sizeof e->bytes);
    if (e->length + 5 > sizeof e->text) {
        e->text[e->length] = 0;
        markup_put(e->page, e->text);
        e->length = 0;
    }
}

static void put_byte(encoder *e, unsigned byte)
{
    e->bytes[e->count++] = (unsigned char)byte;
    if (e->count == 3)
        put_group(e);
}

static void put_short(encoder *e, double value)
{
    int rounded = isnan(value) ? MISSING : (int)lround(fmax(-32767, fmin(32767, value)));
    put_byte(e, (unsigned)rounded & 0xFF);
    put_byte(e, (unsigned)rounded >> 8 & 0xFF);
}

static void end_encoding(encoder *e)
{
    if (e->count)
        put_group(e);
    e->text[e->length] = 0;
    markup_put(e->page, e->text);
    e->length = 0;
}

/* {"o":..,"s":..,"d":"..."}: value = o + s x number. */
static void put_series(markup *page, const double *values, int count)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < count; i++) {
        low = isnan(values[i]) ? low : fmin(low, values[i]);
        high = isnan(values[i]) ? high : fmax(high, values[i]);
    }
    double middle = low <= high ? 0.5 * (low + high) : 0, step = low < high ? (high - low) / 65000 : 1;
    encoder e = {.page = page};
    markup_format(page, "\"o\":%.9g,\"s\":%.9g,\"d\":\"", middle, step);
    for (int i = 0; i < count; i++)
        put_short(&e, (values[i] - middle) / step);
    end_encoding(&e);
    markup_put(page, "\"");
}

/* ---- names: as JSON, and safe inside a script element -------------------------------------------------------- */

static void put_string(markup *page, const char *text)
{
    json_t *value = cli_json_text(text);
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    for (const char *at = dump ? dump : "\"\""; *at; at++)
        if (*at == '<' || *at == '>' || *at == '&')
            markup_format(page, "\\u%04x", (unsigned)*at);
        else
            markup_format(page, "%c", *at);
    free(dump);
    json_decref(value);
}

/* ---- places -------------------------------------------------------------------------------------------------- */

typedef struct places {
    int frames, stride, bodies, markers;
    double *body, *fitted, *seen; /* frames x bodies x 3, frames x markers x 3 */
    double low[3], high[3];       /* the box of the bodies */
} places;

static void release_places(places *p)
{
    free(p->body);
    free(p->fitted);
    free(p->seen);
}

static ulna_status fill_frame(const solve_job *job, ulna_pose *pose, places *p, int k)
{
    int frame = k * p->stride;
    ulna_status status = ulna_pose_forward(pose, ulna_clip_frame(&job->result.clip, frame));
    for (int b = 0; b < p->bodies && status == ULNA_OK; b++) {
        double *at = p->body + 3 * ((size_t)k * (size_t)p->bodies + (size_t)b);
        ulna_pose_body(pose, b, at, NULL);
        for (int i = 0; i < 3; i++) {
            p->low[i] = fmin(p->low[i], at[i]);
            p->high[i] = fmax(p->high[i], at[i]);
        }
    }
    for (int m = 0; m < p->markers && status == ULNA_OK; m++) {
        size_t at = 3 * ((size_t)k * (size_t)p->markers + (size_t)m);
        ulna_pose_point(pose, job->take->set.items[m].body, job->take->set.items[m].offset, p->fitted + at);
        ulna_take_position(job->take, frame, m, p->seen + at);
        if (job->attach == ATTACH_ORACLE) /* the offset is the frame's own, and there is no place between frames */
            for (int i = 0; i < 3; i++)
                p->fitted[at + (size_t)i] = NAN;
    }
    return status;
}

static ulna_status find_places(const solve_job *job, places *p)
{
    p->stride = report_stride(job);
    p->frames = (job->take->frame_count + p->stride - 1) / p->stride;
    p->bodies = ulna_model_body_count(job->model);
    p->markers = (int)job->take->set.count;
    size_t points = (size_t)p->frames * 3;
    p->body = calloc(points * (size_t)p->bodies + 1, sizeof *p->body);
    p->fitted = calloc(points * (size_t)p->markers + 1, sizeof *p->fitted);
    p->seen = calloc(points * (size_t)p->markers + 1, sizeof *p->seen);
    ulna_pose *pose = NULL;
    if (!p->body || !p->fitted || !p->seen)
        return ULNA_ERR_MEMORY;
    ulna_status status = ulna_pose_create(job->model, NULL, &pose, NULL);
    for (int i = 0; i < 3; i++) {
        p->low[i] = INFINITY;
        p->high[i] = -INFINITY;
    }
    for (int k = 0; k < p->frames && status == ULNA_OK; k++)
        status = fill_frame(job, pose, p, k);
    ulna_pose_destroy(pose);
    return status;
}

static void put_points(markup *page, const char *name, const double *points, size_t count, const double center[3],
                       double unit)
{
    encoder e = {.page = page};
    markup_format(page, "\"%s\":\"", name);
    for (size_t i = 0; i < count; i++)
        put_short(&e, (points[i] - center[i % 3]) / unit);
    end_encoding(&e);
    markup_put(page, "\",\n");
}

/* The tallest of the frames, for the camera. */
static double height_of(const places *p, int up)
{
    double tallest = 0;
    for (int k = 0; k < p->frames; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int b = 0; b < p->bodies; b++) {
            double x = p->body[3 * ((size_t)k * (size_t)p->bodies + (size_t)b) + (size_t)up];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        tallest = fmax(tallest, high - low);
    }
    return tallest;
}

static void put_places(const solve_job *job, const places *p, markup *page)
{
    const double margin = 1; /* metres around the skeleton in which markers are shown */
    double center[3], unit = 0;
    int up = (job->skeleton->source.up ? job->skeleton->source.up : 'y') - 'x';
    for (int i = 0; i < 3; i++) {
        center[i] = 0.5 * (p->low[i] + p->high[i]);
        unit = fmax(unit, (0.5 * (p->high[i] - p->low[i]) + margin) / 32767);
    }
    double height = fmax(height_of(p, up), 0.5 * ulna_model_length_scale(job->model));
    markup_format(page, "\"up\":%d,\"center\":[%.6f,%.6f,%.6f],\"unit\":%.9g,\"floor\":%.6f,\"height\":%.6f,\n", up,
                  center[0], center[1], center[2], unit, p->low[up], height);
    size_t frames = (size_t)p->frames * 3;
    put_points(page, "bodies", p->body, frames * (size_t)p->bodies, center, unit);
    put_points(page, "seen", p->seen, frames * (size_t)p->markers, center, unit);
    put_points(page, "fitted", p->fitted, frames * (size_t)p->markers, center, unit);
}

/* ---- values over time ---------------------------------------------------------------------------------------- */

typedef double frame_value(const solve_job *job, const ulna_frame_report *report);

static double rms_of(const solve_job *job, const ulna_frame_report *report)
{
    (void)job;
    return report->flags & ULNA_TRACK_EMPTY ? NAN : 1e3 * report->rms;
}

static double iterations_of(const solve_job *job, const ulna_frame_report *report)
{
    (void)job;
    return report->iterations;
}

static double missing_of(const solve_job *job, const ulna_frame_report *report)
{
    return (double)job->take->set.count - report->seen;
}

/* The largest of each group of frames. */
static void put_frames(const solve_job *job, const char *name, frame_value *value, double *memory, markup *page)
{
    int stride = report_stride(job), count = 0;
    for (int f = 0; f < job->take->frame_count; f += stride, count++) {
        memory[count] = NAN;
        for (int i = f; i < f + stride && i < job->take->frame_count; i++)
            memory[count] = fmax(memory[count], value(job, &job->result.frames[i]));
    }
    markup_format(page, "\"%s\":{", name);
    put_series(page, memory, count);
    markup_put(page, "},\n");
}

static void put_flags(const solve_job *job, markup *page)
{
    encoder e = {.page = page};
    int stride = report_stride(job);
    markup_put(page, "\"flags\":\"");
    for (int f = 0; f < job->take->frame_count; f += stride) {
        unsigned flags = 0;
        for (int i = f; i < f + stride && i < job->take->frame_count; i++)
            flags |= job->result.frames[i].flags;
        put_byte(&e, flags & 0xFF);
    }
    end_encoding(&e);
    markup_put(page, "\",\n");
}

static void put_limit(markup *page, const char *name, double value)
{
    if (isfinite(value))
        markup_format(page, "\"%s\":%.6g,", name, value);
    else
        markup_format(page, "\"%s\":null,", name);
}

/* Quaternions have no values that are worth a chart. */
static void put_dofs(const solve_job *job, double *memory, markup *page)
{
    int stride = report_stride(job), nv = ulna_model_dof_count(job->model), is_first = 1;
    const double *lower = job->limits ? job->limits : ulna_model_lower(job->model);
    const double *upper = job->limits ? job->limits + nv : ulna_model_upper(job->model);
    markup_put(page, "\"dofs\":[");
    for (int d = 0; d < nv; d++) {
        int c = ulna_model_dof_coordinate(job->model, d), count = 0;
        double unit = ulna_model_dof_is_translation(job->model, d) ? 1 : DEGREE;
        char label[300];
        if (c == ULNA_NONE)
            continue;
        for (int f = 0; f < job->take->frame_count; f += stride)
            memory[count++] = ulna_clip_frame(&job->result.clip, f)[c] / unit;
        ulna_model_dof_label(job->model, d, label, sizeof label);
        markup_put(page, is_first ? "\n{\"n\":" : ",\n{\"n\":");
        put_string(page, label);
        markup_format(page, ",\"u\":\"%s\",", unit == 1 ? "m" : "°");
        put_limit(page, "lo", lower[d] / unit);
        put_limit(page, "hi", upper[d] / unit);
        put_series(page, memory, count);
        markup_put(page, "}");
        is_first = 0;
    }
    markup_put(page, "],\n");
}

/* ---- all of it ----------------------------------------------------------------------------------------------- */

static void put_names(const solve_job *job, markup *page)
{
    markup_put(page, "\"markers\":[");
    for (size_t i = 0; i < job->take->set.count; i++) {
        markup_put(page, i ? "," : "");
        put_string(page, job->take->set.items[i].marker);
    }
    markup_put(page, "],\n\"on\":[");
    for (size_t i = 0; i < job->take->set.count; i++)
        markup_format(page, "%s%d", i ? "," : "", job->take->set.items[i].body);
    markup_put(page, "],\n\"parents\":[");
    for (int b = 0; b < ulna_model_body_count(job->model); b++)
        markup_format(page, "%s%d", b ? "," : "", ulna_model_body_parent(job->model, b));
    markup_put(page, "]\n");
}

void report_data(markup *page, const void *about)
{
    const solve_job *job = about;
    places p = {0};
    ulna_status status = find_places(job, &p);
    double *memory = calloc((size_t)p.frames + 1, sizeof *memory);
    if (status == ULNA_OK && memory) {
        double seconds = job->take->recording->frame_seconds;
        markup_format(page, "const D = {\"frames\":%d,\"stride\":%d,\"first\":%d,\"rate\":%.9g,", p.frames, p.stride,
                      job->take->first_frame, seconds > 0 ? 1 / seconds : 0.0);
        markup_format(page, "\"body_count\":%d,\"marker_count\":%d,\n", p.bodies, p.markers);
        put_places(job, &p, page);
        put_frames(job, "rms", rms_of, memory, page);
        put_frames(job, "iterations", iterations_of, memory, page);
        put_frames(job, "missing", missing_of, memory, page);
        put_flags(job, page);
        put_dofs(job, memory, page);
        put_names(job, page);
        markup_put(page, "};\n");
    } else
        page->status = status != ULNA_OK ? status : ULNA_ERR_MEMORY;
    free(memory);
    release_places(&p);
}
