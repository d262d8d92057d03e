/*
 * TRC: markers over time in text, as Motion Analysis made it and OpenSim uses it.
 *
 *     PathFileType  4  (X/Y/Z)  name.trc
 *     DataRate  CameraRate  NumFrames  NumMarkers  Units  OrigDataRate  OrigDataStartFrame  OrigNumFrames
 *     120       120         3          2           mm     120           1                   3
 *     Frame#  Time  LASI              RASI
 *                   X1    Y1    Z1    X2    Y2    Z2
 *
 *     1       0     ...
 *
 * Programs differ in what they put between cells (tabs, commas, blanks), how far apart they put the names of markers (three
 * columns, or two), and whether their counts are right: names and rows are believed. Written as OpenSim reads it: tabs, names
 * three columns apart, NaN for what is missing; millimetres unless asked otherwise.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/base.h"
#include "formats/format.h"
#include "formats/markers.h"
#include "formats/tables/table.h"

typedef struct trc_reader {
    ulna_scan scan;
    const ulna_read_options *options;
    ulna_content *content;
    ulna_error *error;
    double rate, frames, markers; /* as told; NaN if not */
    char unit[ULNA_MARKER_NAME];
    int value_line, name_line;
    char delimiter;
} trc_reader;

static ulna_status fail(const trc_reader *r, ulna_status status, const char *message)
{
    return ulna_scan_fail(&r->scan, NULL, r->error, status, "%s", message);
}

/* The next line that is not empty. */
static int next_line(trc_reader *r)
{
    while (ulna_scan_line(&r->scan))
        if (!ulna_row_is_blank(&r->scan, ','))
            return 1;
    return 0;
}

/* ---- counts and units --------------------------------------------------------------------------------------------- */

static void drop_empty(ulna_cells *cells)
{
    size_t kept = 0;
    for (size_t i = 0; i < cells->count; i++)
        if (cells->items[i].length)
            cells->items[kept++] = cells->items[i];
    cells->count = kept;
}

static void take_value(trc_reader *r, ulna_word key, ulna_word value)
{
    const struct {
        const char *name;
        double *slot;
    } numbers[] = {{"DataRate", &r->rate}, {"NumFrames", &r->frames}, {"NumMarkers", &r->markers}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (ulna_word_is_like(key, numbers[i].name) && !ulna_cell_number(value, '\t', numbers[i].slot))
            ulna_remarks_add(&r->content->remarks, r->scan.line, ulna_scan_byte(&r->scan, value.text),
                             "%s is not a number", numbers[i].name);
    if (ulna_word_is_like(key, "Units"))
        ulna_marker_name(value.text, value.length, r->unit);
}

/* Lines two and three: names and values. Some files have more tabs in one than in the other: then what is not empty is
 * matched in order. */
static ulna_status read_values(trc_reader *r)
{
    const ulna_allocator *allocator = &r->content->remarks.allocator;
    ulna_cells keys = {0}, values = {0};
    if (!next_line(r))
        return fail(r, ULNA_ERR_PARSE, "the file ends before the line with DataRate, NumFrames, ...");
    ulna_status status = ulna_cells_read(&r->scan, ulna_table_delimiter(&r->scan), allocator, &keys);
    if (status == ULNA_OK && !next_line(r)) {
        ulna_cells_release(&keys);
        return fail(r, ULNA_ERR_PARSE, "the file ends before the values of DataRate, NumFrames, ...");
    }
    r->value_line = r->scan.line;
    if (status == ULNA_OK)
        status = ulna_cells_read(&r->scan, ulna_table_delimiter(&r->scan), allocator, &values);
    if (status == ULNA_OK && keys.count != values.count) {
        drop_empty(&keys);
        drop_empty(&values);
    }
    for (size_t i = 0; status == ULNA_OK && i < keys.count && i < values.count; i++)
        take_value(r, keys.items[i], values.items[i]);
    ulna_cells_release(&keys);
    ulna_cells_release(&values);
    return status == ULNA_OK ? ULNA_OK : fail(r, status, "no memory for the header");
}

static double unit_of(trc_reader *r)
{
    double known = ulna_unit_metres(r->unit);
    if (r->options->unit_m > 0 || known > 0)
        return r->options->unit_m > 0 ? r->options->unit_m : known;
    if (r->unit[0])
        ulna_remarks_add(&r->content->remarks, r->value_line, -1,
                         "unit of length '%s' is unknown; millimetres are assumed", r->unit);
    else
        ulna_remarks_add(&r->content->remarks, r->value_line, -1,
                         "no unit of length is given; millimetres are assumed");
    return 1e-3;
}

/* ---- names -------------------------------------------------------------------------------------------------------- */

/* Which marker a name in this column is of: by place if all names are three columns apart, else by order (-1). */
static int are_three_apart(const ulna_cells *cells)
{
    for (size_t i = 2; i < cells->count; i++)
        if (cells->items[i].length && (i - 2) % 3)
            return 0;
    return 1;
}

static ulna_status name_markers(trc_reader *r, const ulna_cells *cells)
{
    ulna_recording *recording = &r->content->recording;
    int by_place = r->delimiter != ' ' && are_three_apart(cells), cut = 0;
    size_t count = 0;
    for (size_t i = 2; i < cells->count; i++)
        if (cells->items[i].length)
            count = by_place ? (i - 2) / 3 + 1 : count + 1;
    if (count > INT_MAX / 4)
        return fail(r, ULNA_ERR_LIMIT, "too many markers");
    ulna_status status = ulna_recording_resize(recording, (int)count, 0);
    if (status != ULNA_OK)
        return fail(r, status, "no memory for the names of the markers");
    size_t next = 0;
    for (size_t i = 2; i < cells->count; i++) {
        if (!cells->items[i].length)
            continue;
        size_t m = by_place ? (i - 2) / 3 : next++;
        cut += !ulna_marker_name(cells->items[i].text, cells->items[i].length, recording->names[m]);
    }
    if (cut)
        ulna_remarks_add(&r->content->remarks, r->scan.line, -1, "%d names are longer than %d characters and were cut",
                         cut, ULNA_MARKER_NAME - 1);
    if (count == 0)
        ulna_remarks_add(&r->content->remarks, r->scan.line, -1, "no marker is named");
    if (r->markers != (double)count)
        ulna_remarks_add(&r->content->remarks, r->value_line, -1, "NumMarkers is %.0f, but %zu markers are named",
                         r->markers, count);
    status = ulna_markers_finish(recording, &r->content->remarks);
    return status == ULNA_OK ? ULNA_OK : fail(r, status, "no memory for the names of the markers");
}

/* Line four. */
static ulna_status read_names(trc_reader *r)
{
    ulna_cells cells = {0};
    if (!next_line(r))
        return fail(r, ULNA_ERR_PARSE, "the file ends before the names of the markers");
    r->delimiter = ulna_table_delimiter(&r->scan);
    r->name_line = r->scan.line;
    ulna_status status = ulna_cells_read(&r->scan, r->delimiter, &r->content->remarks.allocator, &cells);
    if (status != ULNA_OK)
        return fail(r, status, "no memory for the names of the markers");
    if (cells.count < 2 ||
        !(ulna_word_is_like(cells.items[0], "Frame#") || ulna_word_is_like(cells.items[0], "Frame")) ||
        !ulna_word_is_like(cells.items[1], "Time"))
        status = ulna_scan_fail(&r->scan, &cells.items[0], r->error, ULNA_ERR_PARSE,
                                "this line should begin with Frame# and Time, and name the markers");
    else
        status = name_markers(r, &cells);
    ulna_cells_release(&cells);
    return status;
}

/* Line five: X1 Y1 Z1 X2 ... It is not always there. */
static void skip_axes(trc_reader *r)
{
    ulna_scan before = r->scan;
    ulna_word cell;
    while (ulna_scan_line(&r->scan)) {
        ulna_row row = ulna_row_start(&r->scan, r->delimiter);
        while (ulna_row_next(&row, &cell))
            if (cell.length) {
                if (*cell.text != 'X' && *cell.text != 'x')
                    r->scan = before;
                return;
            }
        before = r->scan;
    }
}

/* ---- the reader --------------------------------------------------------------------------------------------------- */

int ulna_trc_sniff(const char *data, size_t length)
{
    static const char start[] = "PathFileType";
    ulna_scan scan = ulna_scan_start(data, length);
    while (ulna_scan_line(&scan)) {
        ulna_word rest = ulna_scan_rest(&scan);
        if (!rest.length)
            continue;
        rest.text += *rest.text == '"';
        rest.length = sizeof start - 1;
        return (size_t)(scan.end - rest.text) >= rest.length && ulna_word_is_like(rest, start);
    }
    return 0;
}

static void remark_on_frames(trc_reader *r)
{
    int frames = r->content->recording.frame_count;
    if (r->frames == frames)
        return;
    if (r->frames > frames)
        ulna_remarks_add(&r->content->remarks, r->value_line, -1,
                         "NumFrames is %.0f, but there are %d rows: the file may have been cut off", r->frames, frames);
    else
        ulna_remarks_add(&r->content->remarks, r->value_line, -1, "NumFrames is %.0f, but there are %d rows", r->frames,
                         frames);
}

ulna_status ulna_trc_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    trc_reader r = {.scan = ulna_scan_start(data, length),
                    .options = options,
                    .content = content,
                    .error = error,
                    .rate = (double)NAN,
                    .frames = (double)NAN,
                    .markers = (double)NAN};
    if (!ulna_trc_sniff(data, length))
        return ulna_fail(error, ULNA_ERR_PARSE, "this is not a TRC file: its first word should be PathFileType");
    next_line(&r);
    ulna_status status = read_values(&r);
    if (status == ULNA_OK)
        status = read_names(&r);
    if (status != ULNA_OK)
        return status;
    skip_axes(&r);
    content->source = (ulna_source){.unit_m = unit_of(&r)};
    snprintf(content->source.text, sizeof content->source.text, "%s", r.unit);
    ulna_marker_table table = {.scan = &r.scan,
                               .delimiter = r.delimiter,
                               .frame_column = 0,
                               .time_column = 1,
                               .markers = 2,
                               .unit_m = content->source.unit_m,
                               .rate = r.rate > 0 ? r.rate : 0};
    status = ulna_marker_table_read(&table, content, error);
    if (status == ULNA_OK && content->recording.frame_count == 0)
        status = ulna_fail(error, ULNA_ERR_PARSE, "the file names %d markers, but has no frames",
                           content->recording.marker_count);
    if (status == ULNA_OK)
        remark_on_frames(&r);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------------------------------- */

static void put_header(ulna_writer *out, const ulna_recording *r, double rate, double unit)
{
    ulna_put(out,
             "PathFileType\t4\t(X/Y/Z)\tmarkers.trc\n"
             "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n");
    for (int i = 0; i < 2; i++) {
        ulna_put_number(out, rate);
        ulna_put(out, "\t");
    }
    ulna_put_integer(out, r->frame_count);
    ulna_put(out, "\t");
    ulna_put_integer(out, r->marker_count);
    ulna_put(out, "\t");
    ulna_put(out, ulna_length_unit_name(unit));
    ulna_put(out, "\t");
    ulna_put_number(out, rate);
    ulna_put(out, "\t");
    ulna_put_integer(out, r->first_frame);
    ulna_put(out, "\t");
    ulna_put_integer(out, r->frame_count);
    ulna_put(out, "\n");
}

static void name_of(const ulna_recording *r, int i, char name[ULNA_MARKER_NAME])
{
    ulna_marker_name_of(r, i, name);
    if (name[0] == '"') /* which a reader could take for the start of a cell in quotes */
        name[0] = '\'';
}

static void put_names(ulna_writer *out, const ulna_recording *r)
{
    static const char *const axes[] = {"\tX", "\tY", "\tZ"};
    char name[ULNA_MARKER_NAME];
    ulna_put(out, "Frame#\tTime");
    for (int m = 0; m < r->marker_count; m++) {
        name_of(r, m, name);
        ulna_put(out, m ? "\t\t\t" : "\t");
        ulna_put(out, name);
    }
    ulna_put(out, r->marker_count ? "\t\t\n\t" : "\n\t");
    for (int m = 0; m < r->marker_count; m++)
        for (int k = 0; k < 3; k++) {
            ulna_put(out, axes[k]);
            ulna_put_integer(out, m + 1);
        }
    ulna_put(out, "\n\n");
}

/* Returns how many positions cannot be written in this unit. */
static long long put_frames(ulna_writer *out, const ulna_recording *r, double step, double unit, int digits)
{
    long long far = 0;
    for (int f = 0; f < r->frame_count && out->status == ULNA_OK; f++) {
        const double *x = r->marker_count ? ulna_recording_frame(r, f) : NULL;
        ulna_put_integer(out, (long long)r->first_frame + f);
        ulna_put(out, "\t");
        ulna_put_value(out, ulna_frame_time(step, (double)r->first_frame + f), 1, 0);
        for (int m = 0; m < r->marker_count; m++, x += 3) {
            int is_missing = isnan(x[0]) || isnan(x[1]) || isnan(x[2]);
            int is_far = !isfinite(x[0] / unit) || !isfinite(x[1] / unit) || !isfinite(x[2] / unit);
            far += is_far && !is_missing;
            for (int k = 0; k < 3; k++) {
                ulna_put(out, "\t");
                if (is_far)
                    ulna_put(out, "NaN");
                else
                    ulna_put_value(out, x[k], unit, digits);
            }
        }
        ulna_put(out, "\n");
    }
    return far;
}

ulna_status ulna_trc_write(const ulna_writing *writing, ulna_error *error)
{
    const ulna_recording *r = writing->recording;
    double unit = writing->options->unit_m > 0 ? writing->options->unit_m : 1e-3;
    if (!r)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "TRC holds markers, but there are none to write");
    if (!ulna_length_unit_name(unit))
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                         "a TRC file states its unit of length by name, but a unit of %g m has no name", unit);
    double step = ulna_sane_step(r->frame_seconds);
    if (step == 0) {
        step = ULNA_UNKNOWN_FRAME_S;
        ulna_remarks_add(writing->remarks, 0, -1, "the frame rate is unknown; 120 per second is written");
    }
    double rate = ulna_frame_rate(step);
    ulna_writer out;
    ulna_writer_start(&out, writing->sink);
    put_header(&out, r, rate, unit);
    put_names(&out, r);
    ulna_markers_renamed(r, name_of, writing->remarks);
    long long far = put_frames(&out, r, 1 / rate, unit, writing->options->digits); /* the step that the rate tells */
    ulna_status status = ulna_writer_finish(&out);
    if (far)
        ulna_remarks_add(writing->remarks, 0, -1, "%lld positions are too far away and are written as missing", far);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "the TRC file could not be written: %s", ulna_status_text(status));
    return ULNA_OK;
}
