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
    ulna_table table;
    double rate, frames, markers; /* as stated; NaN if not */
    char unit[ULNA_MARKER_NAME];
    int value_line;
} trc_reader;

static ulna_status fail(const trc_reader *r, ulna_status status, const char *message)
{
    return ulna_scan_fail(&r->table.scan, NULL, r->table.error, status, "%s", message);
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
            ulna_remarks_add(&r->table.content->remarks, r->table.scan.line, ulna_scan_byte(&r->table.scan, value.text),
                             "%s is not a number", numbers[i].name);
    if (ulna_word_is_like(key, "Units"))
        ulna_marker_name(value.text, value.length, r->unit);
}

/* Lines two and three: names and values. Some files have more tabs in one than in the other: then what is not empty is
 * matched in order. */
static ulna_status read_values(trc_reader *r)
{
    ulna_table *t = &r->table;
    const ulna_allocator *allocator = t->columns.allocator;
    ulna_cells keys = {0}, values = {0};
    if (!ulna_table_line(t))
        return fail(r, ULNA_ERR_PARSE, "the file ends before the line with DataRate, NumFrames, ...");
    ulna_status status = ulna_cells_read(&t->scan, ulna_table_delimiter(&t->scan), allocator, &keys);
    if (status == ULNA_OK && !ulna_table_line(t)) {
        ulna_cells_release(&keys);
        return fail(r, ULNA_ERR_PARSE, "the file ends before the values of DataRate, NumFrames, ...");
    }
    r->value_line = t->scan.line;
    if (status == ULNA_OK)
        status = ulna_cells_read(&t->scan, ulna_table_delimiter(&t->scan), allocator, &values);
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

/* ---- names -------------------------------------------------------------------------------------------------------- */

/* Which marker a name in this column is of: by place if all names are three columns apart, else by order (-1). */
static int are_three_apart(const ulna_cells *cells)
{
    for (size_t i = 2; i < cells->count; i++)
        if (cells->items[i].length && (i - 2) % 3)
            return 0;
    return 1;
}

static ulna_status name_markers(trc_reader *r)
{
    ulna_cells *cells = &r->table.columns;
    int by_place = r->table.delimiter != ' ' && are_three_apart(cells);
    size_t count = 0;
    for (size_t i = 2; i < cells->count; i += by_place ? 3 : 1)
        if (by_place || cells->items[i].length)
            cells->items[count++] = cells->items[i];
    if (count == 0)
        ulna_remarks_add(&r->table.content->remarks, r->table.scan.line, -1, "no marker is named");
    if (r->markers != (double)count)
        ulna_remarks_add(&r->table.content->remarks, r->value_line, -1, "NumMarkers is %.0f, but %zu markers are named",
                         r->markers, count);
    return ulna_table_name_markers(&r->table, count, 0);
}

/* Line four. */
static ulna_status read_names(trc_reader *r)
{
    ulna_table *t = &r->table;
    if (!ulna_table_line(t))
        return fail(r, ULNA_ERR_PARSE, "the file ends before the names of the markers");
    ulna_status status = ulna_table_names(t);
    if (status != ULNA_OK)
        return status;
    const ulna_word *names = t->columns.items;
    if (t->columns.count < 2 || !(ulna_word_is_like(names[0], "Frame#") || ulna_word_is_like(names[0], "Frame")) ||
        !ulna_word_is_like(names[1], "Time"))
        return ulna_scan_fail(&t->scan, &names[0], t->error, ULNA_ERR_PARSE,
                              "this line should begin with Frame# and Time, and name the markers");
    return name_markers(r);
}

/* Line five: X1 Y1 Z1 X2 ... It is not always there. */
static void skip_axes(ulna_table *t)
{
    ulna_scan before = t->scan;
    ulna_word cell;
    while (ulna_scan_line(&t->scan)) {
        ulna_row row = ulna_row_start(&t->scan, t->delimiter);
        while (ulna_row_next(&row, &cell))
            if (cell.length) {
                if (*cell.text != 'X' && *cell.text != 'x')
                    t->scan = before;
                return;
            }
        before = t->scan;
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

static ulna_status read_table(trc_reader *r)
{
    ulna_table *t = &r->table;
    ulna_table_line(t);
    ulna_status status = read_values(r);
    if (status == ULNA_OK)
        status = read_names(r);
    if (status != ULNA_OK)
        return status;
    skip_axes(t);
    t->frame_column = 0;
    t->time_column = 1;
    t->first = 2;
    t->rate = r->rate > 0 ? r->rate : 0;
    t->unit_m = ulna_markers_unit(r->unit, t->options, r->value_line, &t->content->remarks);
    t->content->source = (ulna_source){.unit_m = t->unit_m};
    snprintf(t->content->source.text, sizeof t->content->source.text, "%s", r->unit);
    status = ulna_marker_table_read(t);
    int frames = t->content->recording.frame_count;
    if (status == ULNA_OK && r->frames > frames)
        t->content->recording.cut_frames = r->frames - frames < INT_MAX ? (int)(r->frames - frames) : INT_MAX;
    if (status == ULNA_OK && r->frames != frames)
        ulna_remarks_add(&t->content->remarks, r->value_line, -1, "NumFrames is %.0f, but there are %d rows%s",
                         r->frames, frames, r->frames > frames ? ": the file may have been cut off" : "");
    return status;
}

ulna_status ulna_trc_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    trc_reader r = {.table = ulna_table_start(data, length, options, content, error),
                    .rate = (double)NAN,
                    .frames = (double)NAN,
                    .markers = (double)NAN};
    if (!ulna_trc_sniff(data, length))
        return ulna_fail(error, ULNA_ERR_PARSE, "this is not a TRC file: its first word should be PathFileType");
    return ulna_table_end(&r.table, read_table(&r));
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

static void put_header(ulna_writer *out, const ulna_recording *r, double rate, double unit)
{
    ulna_put(out,
             "PathFileType\t4\t(X/Y/Z)\tmarkers.trc\n"
             "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n");
    ulna_print(out, "%g\t%g\t%d\t%d\t%s\t%g\t%d\t%d\n", rate, rate, r->frame_count, r->marker_count,
               ulna_length_unit_name(unit), rate, r->first_frame, r->frame_count);
}

static void name_of(const ulna_recording *r, int i, char name[ULNA_MARKER_NAME])
{
    ulna_marker_name_of(r, i, name);
    if (name[0] == '"') /* which a reader could take for the start of a cell in quotes */
        name[0] = '\'';
}

static void put_names(ulna_writer *out, const ulna_recording *r)
{
    char name[ULNA_MARKER_NAME];
    ulna_put(out, "Frame#\tTime");
    for (int m = 0; m < r->marker_count; m++) {
        name_of(r, m, name);
        ulna_print(out, m ? "\t\t\t%s" : "\t%s", name);
    }
    ulna_put(out, r->marker_count ? "\t\t\n\t" : "\n\t");
    for (int m = 1; m <= r->marker_count; m++)
        ulna_print(out, "\tX%d\tY%d\tZ%d", m, m, m);
    ulna_put(out, "\n\n");
}

ulna_status ulna_trc_write(const ulna_writing *writing, ulna_error *error)
{
    const ulna_recording *r = writing->recording;
    double unit;
    ulna_status status = ulna_named_unit(writing, "TRC", 1e-3, &unit, error);
    if (status != ULNA_OK)
        return status;
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
    ulna_put_marker_rows(&out, writing, "\t", "NaN", 1 / rate, unit); /* the step that the rate means */
    return ulna_writer_finish(&out, "the TRC file", error);
}
