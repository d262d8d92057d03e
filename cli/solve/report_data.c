/*
 * What the report's script draws: places of bodies and markers, and values over time, as 16-bit numbers in base64.
 *
 * D has, besides: marks of frames; names; a map of markers over time, one byte each; bands of uncertainty at some frames; and the
 * bodies of a second motion. A point is 6 bytes a frame. Takes of more than MOST_FRAMES frames are thinned out for the player; of errors,
 * iterations and marks the largest of the frames in between is kept, so that nothing bad hides between two.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve/report.h"
#include "ulna/kinematics.h"

enum { MOST_FRAMES = 2000, MOST_COLUMNS = 1200, MOST_BANDS = 50, MISSING = -32768 };
enum { MAP_GAP = 255, MAP_MOST = 254 }; /* values of the map */
#define MAP_UNIT_MM 0.4
#define MARGIN 1.0 /* metres around the skeleton in which markers are shown */
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
    double *ghost;                /* as `body`; NULL: there is none */
    double low[3], high[3];       /* the box of the bodies */
} places;

static void release_places(places *p)
{
    free(p->body);
    free(p->fitted);
    free(p->seen);
    free(p->ghost);
    p->body = p->fitted = p->seen = p->ghost = NULL;
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

/* NaN where it has no such frame, or is not near the skeleton. */
static void fill_ghost_frame(const solve_job *job, ulna_pose *pose, places *p, int k)
{
    const double *q = solve_ghost_frame(job, k * p->stride);
    int is_there = q && ulna_pose_forward(pose, q) == ULNA_OK;
    for (int b = 0; b < p->bodies; b++) {
        double *at = p->ghost + 3 * ((size_t)k * (size_t)p->bodies + (size_t)b);
        at[0] = at[1] = at[2] = NAN;
        if (is_there)
            ulna_pose_body(pose, b, at, NULL);
        for (int i = 0; i < 3; i++)
            if (at[i] < p->low[i] - MARGIN || at[i] > p->high[i] + MARGIN)
                at[0] = NAN;
    }
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
    if (status == ULNA_OK && json_object_get(job->object, "compared")) {
        p->ghost = calloc(points * (size_t)p->bodies + 1, sizeof *p->ghost);
        status = p->ghost ? ULNA_OK : ULNA_ERR_MEMORY;
    }
    for (int k = 0; k < p->frames && p->ghost; k++)
        fill_ghost_frame(job, pose, p, k);
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

/* How far the bodies of a frame are apart along an axis, in the frame where that is most: for the camera. */
static double extent_of(const places *p, int axis)
{
    double most = 0;
    for (int k = 0; k < p->frames; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int b = 0; b < p->bodies; b++) {
            double x = p->body[3 * ((size_t)k * (size_t)p->bodies + (size_t)b) + (size_t)axis];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        most = fmax(most, high - low);
    }
    return most;
}

static void put_places(const solve_job *job, const places *p, markup *page)
{
    double center[3], unit = 0;
    int up = (job->skeleton->source.up ? job->skeleton->source.up : 'y') - 'x';
    for (int i = 0; i < 3; i++) {
        center[i] = 0.5 * (p->low[i] + p->high[i]);
        unit = fmax(unit, (0.5 * (p->high[i] - p->low[i]) + MARGIN) / 32767);
    }
    double height = fmax(extent_of(p, up), 0.5 * ulna_model_length_scale(job->model));
    double size = fmax(height, 0.9 * fmax(extent_of(p, (up + 1) % 3), extent_of(p, (up + 2) % 3)));
    markup_format(page, "\"up\":%d,\"center\":[%.6f,%.6f,%.6f],\"unit\":%.9g,\"floor\":%.6f,\"height\":%.6f,", up,
                  center[0], center[1], center[2], unit, p->low[up], height);
    markup_format(page, "\"size\":%.6f,\n", size);
    size_t frames = (size_t)p->frames * 3;
    put_points(page, "bodies", p->body, frames * (size_t)p->bodies, center, unit);
    put_points(page, "seen", p->seen, frames * (size_t)p->markers, center, unit);
    put_points(page, "fitted", p->fitted, frames * (size_t)p->markers, center, unit);
    if (p->ghost)
        put_points(page, "ghost", p->ghost, frames * (size_t)p->bodies, center, unit);
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
        put_short(&e, flags);
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

/* Values of a coordinate in the frames of the page, of the motion that was solved or of the ghost. */
static int gather(const solve_job *job, int coordinate, double unit, int is_ghost, double *values)
{
    int stride = report_stride(job), count = 0;
    for (int f = 0; f < job->take->frame_count; f += stride) {
        const double *q = is_ghost ? solve_ghost_frame(job, f) : ulna_clip_frame(&job->result.clip, f);
        values[count++] = q ? q[coordinate] / unit : (double)NAN;
    }
    return count;
}

/* Where the bands of uncertainty are known. */
typedef struct bands {
    int step, count; /* frames */
    double *values;  /* nv x count; NULL: not known */
} bands;

static bands find_bands(const solve_job *job)
{
    bands b = {.step = (job->take->frame_count + MOST_BANDS - 1) / MOST_BANDS};
    b.count = (job->take->frame_count + b.step - 1) / b.step + 1;
    b.values = cli_allocate((size_t)ulna_model_dof_count(job->model) * (size_t)b.count + 1, sizeof *b.values);
    if (cli_with_memory(report_bands(job, b.step, b.count, b.values)) != ULNA_OK) {
        free(b.values);
        b.values = NULL;
    }
    return b;
}

static void put_dof(const solve_job *job, int d, const bands *b, double *memory, markup *page)
{
    int nv = ulna_model_dof_count(job->model), c = ulna_model_dof_coordinate(job->model, d);
    const double *lower = job->limits ? job->limits : ulna_model_lower(job->model);
    const double *upper = job->limits ? job->limits + nv : ulna_model_upper(job->model);
    double unit = ulna_model_dof_is_translation(job->model, d) ? 1 : DEGREE;
    char label[300];
    ulna_model_dof_label(job->model, d, label, sizeof label);
    markup_put(page, "\n{\"n\":");
    put_string(page, label);
    markup_format(page, ",\"body\":%d,\"u\":\"%s\",", ulna_model_dof_body(job->model, d), unit == 1 ? "m" : "°");
    put_limit(page, "lo", lower[d] / unit);
    put_limit(page, "hi", upper[d] / unit);
    if (b->values) {
        for (int k = 0; k < b->count; k++)
            memory[k] = b->values[(size_t)d * (size_t)b->count + (size_t)k] / unit;
        markup_put(page, "\"band\":{");
        put_series(page, memory, b->count);
        markup_put(page, "},");
    }
    if (json_object_get(job->object, "compared")) {
        markup_put(page, "\"ghost\":{");
        put_series(page, memory, gather(job, c, unit, 1, memory));
        markup_put(page, "},");
    }
    put_series(page, memory, gather(job, c, unit, 0, memory));
    markup_put(page, "}");
}

/* How a degree of freedom moves its body at rest: the axis of a rotation, or the direction of a translation; world axes. */
static void find_axis(const ulna_model *model, ulna_pose *pose, double *q, int d, double axis[3])
{
    const double step = 1e-4;
    double before[9], after[9], from[3], to[3];
    int body = ulna_model_dof_body(model, d), c = ulna_model_dof_coordinate(model, d);
    memcpy(q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    ulna_pose_forward(pose, q);
    ulna_pose_body(pose, body, from, before);
    q[c] += step;
    ulna_pose_forward(pose, q);
    ulna_pose_body(pose, body, to, after);
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3; /* after times before', its antisymmetric part */
        double turn = 0;
        for (int k = 0; k < 3; k++)
            turn += after[3 * b + k] * before[3 * a + k] - after[3 * a + k] * before[3 * b + k];
        axis[i] = ulna_model_dof_is_translation(model, d) ? (to[i] - from[i]) / step : 0.5 * turn / step;
    }
}

/* The skeleton at rest tells left from right, and which way the joints of both sides move: places of bodies, axes of the degrees of
 * freedom. */
static void put_rest(const solve_job *job, markup *page)
{
    const ulna_model *model = job->model;
    double *q = calloc((size_t)ulna_model_coordinate_count(model) + 1, sizeof *q), x[3];
    ulna_pose *pose = NULL;
    if (!q || ulna_pose_create(model, NULL, &pose, NULL) != ULNA_OK)
        cli_out_of_memory();
    int is_known = !ulna_pose_forward(pose, ulna_model_rest(model));
    markup_put(page, "\"rest\":[");
    for (int b = 0; b < ulna_model_body_count(model) && is_known; b++) {
        ulna_pose_body(pose, b, x, NULL);
        markup_format(page, "%s[%.4g,%.4g,%.4g]", b ? "," : "", x[0], x[1], x[2]);
    }
    markup_put(page, "],\n\"axes\":[");
    for (int d = 0, n = 0; d < ulna_model_dof_count(model) && is_known; d++) {
        if (ulna_model_dof_coordinate(model, d) == ULNA_NONE)
            continue;
        find_axis(model, pose, q, d, x);
        markup_format(page, "%s[%.4g,%.4g,%.4g]", n++ ? "," : "", x[0], x[1], x[2]);
    }
    markup_put(page, "],\n");
    ulna_pose_destroy(pose);
    free(q);
}

/* Quaternions have no values that are worth a chart. */
static void put_dofs(const solve_job *job, double *memory, markup *page)
{
    bands b = find_bands(job);
    int is_first = 1;
    markup_format(page, "\"band_step\":%.9g,\"band_offsets\":%d,\"dofs\":[", (double)b.step / report_stride(job),
                  report_knows_offsets(job));
    for (int d = 0; d < ulna_model_dof_count(job->model); d++)
        if (ulna_model_dof_coordinate(job->model, d) != ULNA_NONE) {
            markup_put(page, is_first ? "" : ",");
            put_dof(job, d, &b, memory, page);
            is_first = 0;
        }
    markup_put(page, "],\n");
    free(b.values);
}

/* ---- the map of markers over time ------------------------------------------------------------------------------- */

/* The largest distance of a marker in some frames; a gap if it is missing in half of them. */
static unsigned map_cell(const solve_job *job, int marker, int first, int last)
{
    double largest = 0;
    int missing = 0;
    for (int f = first; f <= last; f++) {
        double d = job->result.distances[(size_t)f * job->take->set.count + (size_t)marker];
        missing += isnan(d);
        largest = fmax(largest, isnan(d) ? 0 : d);
    }
    return 2 * missing > last - first ? MAP_GAP : (unsigned)fmin(MAP_MOST, 1e3 * largest / MAP_UNIT_MM);
}

/* Red begins at the distance that hardly counts, or at what the worst markers usually have. */
static double full_red_mm(const solve_job *job)
{
    double largest = 0;
    for (size_t i = 0; i < job->take->set.count; i++)
        largest = fmax(largest, 1e3 * job->result.markers[i].rms);
    return fmax(5, fmin(MAP_MOST * MAP_UNIT_MM, 2 * largest));
}

static void put_map(const solve_job *job, markup *page)
{
    encoder e = {.page = page};
    int frames = job->take->frame_count, columns = frames < MOST_COLUMNS ? frames : MOST_COLUMNS;
    markup_format(page, "\"map\":{\"columns\":%d,\"unit\":%g,\"full\":%.6g,\"d\":\"", columns, MAP_UNIT_MM,
                  full_red_mm(job));
    for (int m = 0; m < (int)job->take->set.count; m++)
        for (int c = 0; c < columns; c++) {
            int first = (int)((long long)c * frames / columns), next = (int)((long long)(c + 1) * frames / columns);
            put_byte(&e, map_cell(job, m, first, next - 1));
        }
    end_encoding(&e);
    markup_put(page, "\"},\n");
}

/* ---- all of it ----------------------------------------------------------------------------------------------- */

static void put_numbers_of(markup *page, const char *name, const solve_job *job, int count,
                           int (*number)(const solve_job *, int))
{
    markup_format(page, "\"%s\":[", name);
    for (int i = 0; i < count; i++)
        markup_format(page, "%s%d", i ? "," : "", number(job, i));
    markup_put(page, "],\n");
}

static int body_of_marker(const solve_job *job, int marker)
{
    return job->take->set.items[marker].body;
}

static int parent_of(const solve_job *job, int body)
{
    return ulna_model_body_parent(job->model, body);
}

static void put_names(const solve_job *job, markup *page)
{
    int bodies = ulna_model_body_count(job->model), markers = (int)job->take->set.count;
    markup_put(page, "\"markers\":[");
    for (int i = 0; i < markers; i++) {
        markup_put(page, i ? "," : "");
        put_string(page, job->take->set.items[i].marker);
    }
    markup_put(page, "],\n\"body_names\":[");
    for (int b = 0; b < bodies; b++) {
        markup_put(page, b ? "," : "");
        put_string(page, ulna_model_body_name(job->model, b));
    }
    markup_put(page, "],\n");
    put_numbers_of(page, "on", job, markers, body_of_marker);
    put_numbers_of(page, "parents", job, bodies, parent_of);
}

static void put_marks(markup *page)
{
    markup_put(page, "\"marks\":[");
    for (const solve_mark *mark = solve_marks; mark->flag; mark++)
        markup_format(page, "%s{\"flag\":%u,\"label\":\"%s\",\"colour\":\"%s\",\"isQuiet\":%s}",
                      mark == solve_marks ? "" : ",", mark->flag, mark->label, mark->colour,
                      mark->flag == ULNA_TRACK_OUTLIERS ? "true" : "false");
    markup_put(page, "]\n");
}

void report_data(markup *page, const void *about)
{
    const solve_job *job = about;
    places p = {0};
    ulna_status status = find_places(job, &p);
    double *memory = calloc((size_t)p.frames + MOST_BANDS + 2, sizeof *memory);
    if (status == ULNA_OK && memory) {
        double seconds = job->take->recording->frame_seconds;
        markup_format(page, "const D = {\"frames\":%d,\"stride\":%d,\"first\":%d,\"last\":%d,\"rate\":%.9g,", p.frames,
                      p.stride, job->take->first_frame, job->take->first_frame + job->take->frame_count - 1,
                      seconds > 0 ? 1 / seconds : 0.0);
        markup_format(page, "\"body_count\":%d,\"marker_count\":%d,\n", p.bodies, p.markers);
        put_places(job, &p, page);
        release_places(&p);
        put_frames(job, "rms", rms_of, memory, page);
        put_frames(job, "iterations", iterations_of, memory, page);
        put_frames(job, "missing", missing_of, memory, page);
        put_flags(job, page);
        put_rest(job, page);
        put_dofs(job, memory, page);
        put_map(job, page);
        put_names(job, page);
        put_marks(page);
        markup_put(page, "};\n");
    } else
        page->status = status != ULNA_OK ? status : ULNA_ERR_MEMORY;
    free(memory);
    release_places(&p);
}
