/*
 * CSV: a table of markers or of joint values, a line of names and a line per frame.
 *
 *     # lengths: m                          # angles: degrees
 *     # rate: 120                           # lengths: m
 *     frame,time,LASI.x,LASI.y,LASI.z       # rate: 120
 *     1,0,0.1,0.2,0.3                       time,pelvis.Tx,hip.Rz,knee
 *                                           0,0.5,12.5,40
 *
 * Read as markers if the columns are NAME.x, NAME.y, NAME.z (or _x, X, ...), else as joint values of a skeleton that is at
 * hand. Cells are separated by commas, semicolons (then decimal commas are read too, as spreadsheets in many countries write
 * them) or tabs. What the file does not state is assumed: metres and degrees.
 *
 * Written with joint values if there are any, else with markers; degrees and metres unless asked otherwise; commas, decimal
 * points, quotes where a name needs them (RFC 4180), an empty cell for a marker that is missing.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/format.h"
#include "formats/markers.h"
#include "formats/tables/table.h"
#include "math/math3.h"

typedef struct csv_reader {
    ulna_scan scan;
    const ulna_read_options *options;
    ulna_content *content;
    ulna_error *error;
    double unit, rate; /* 0: not told */
    int degrees;       /* -1: not told */
} csv_reader;

/* ---- comments ----------------------------------------------------------------------------------------------------- */

/* "# lengths: mm", "# angles: radians", "# rate: 120 Hz". Other comments are none of ours. */
static void read_comment(csv_reader *r)
{
    ulna_scan scan = r->scan;
    ulna_word key, value;
    if (!ulna_scan_word(&scan, "#:\",;", &key) || !ulna_scan_word(&scan, "#:\",;", &value))
        return;
    char text[ULNA_MARKER_NAME];
    ulna_marker_name(value.text, value.length, text);
    if (ulna_word_is_like(key, "lengths") || ulna_word_is_like(key, "length")) {
        r->unit = ulna_unit_metres(text);
        if (r->unit <= 0)
            ulna_remarks_add(&r->content->remarks, r->scan.line, -1, "unit of length '%s' is unknown", text);
    } else if (ulna_word_is_like(key, "angles") || ulna_word_is_like(key, "angle")) {
        int is_degrees = ulna_word_is_like(value, "degrees") || ulna_word_is_like(value, "deg");
        if (is_degrees || ulna_word_is_like(value, "radians") || ulna_word_is_like(value, "rad"))
            r->degrees = is_degrees;
        else
            ulna_remarks_add(&r->content->remarks, r->scan.line, -1, "unit of angles '%s' is unknown", text);
    } else if (ulna_word_is_like(key, "rate") && (!ulna_word_number(value, &r->rate) || !(r->rate > 0))) {
        ulna_remarks_add(&r->content->remarks, r->scan.line, -1, "the rate '%s' is not a positive number", text);
        r->rate = 0;
    }
}

/* A spreadsheet may have put quotes around a comment, or delimiters behind it. */
static int is_comment(const ulna_scan *scan)
{
    return scan->here < scan->end &&
           (*scan->here == '#' || (scan->end - scan->here > 1 && scan->here[0] == '"' && scan->here[1] == '#'));
}

static int next_line(ulna_scan *scan)
{
    while (ulna_scan_line(scan))
        if (!ulna_row_is_blank(scan, ',') && !ulna_row_is_blank(scan, ';'))
            return 1;
    return 0;
}

int ulna_csv_sniff(const char *data, size_t length)
{
    ulna_scan scan = ulna_scan_start(data, length);
    ulna_word first, second;
    while (next_line(&scan)) {
        if (is_comment(&scan))
            continue;
        char delimiter = ulna_table_delimiter(&scan);
        ulna_row row = ulna_row_start(&scan, delimiter);
        return delimiter != ' ' && ulna_row_next(&row, &first) && ulna_row_next(&row, &second) && second.length > 0 &&
               (ulna_is_frame_column(first) || ulna_is_time_column(first)) && !memchr(data, 0, length);
    }
    return 0;
}

/* ---- tables ------------------------------------------------------------------------------------------------------- */

typedef struct csv_columns {
    ulna_cells cells;
    char delimiter;
    int frame, time; /* columns, or ULNA_NONE */
    size_t first;    /* column behind them */
} csv_columns;

static double unit_of(const csv_reader *r, int is_assumed)
{
    if (r->options->unit_m > 0 || r->unit > 0)
        return r->options->unit_m > 0 ? r->options->unit_m : r->unit;
    if (is_assumed)
        ulna_remarks_add(&r->content->remarks, 0, -1,
                         "no unit of length is given (a line such as '# lengths: mm'); metres are assumed");
    return 1;
}

static ulna_status read_markers(csv_reader *r, const csv_columns *columns)
{
    ulna_status status = ulna_marker_columns_name(&r->scan, &columns->cells, columns->first, r->content, r->error);
    if (status != ULNA_OK)
        return status;
    r->content->source = (ulna_source){.unit_m = unit_of(r, 1), .text = "markers"};
    ulna_marker_table table = {.scan = &r->scan,
                               .delimiter = columns->delimiter,
                               .frame_column = columns->frame,
                               .time_column = columns->time,
                               .markers = (int)columns->first,
                               .unit_m = r->content->source.unit_m,
                               .rate = r->rate};
    status = ulna_marker_table_read(&table, r->content, r->error);
    if (status == ULNA_OK && r->content->recording.frame_count == 0)
        status =
            ulna_scan_fail(&r->scan, NULL, r->error, ULNA_ERR_PARSE, "columns are named, but no rows of values follow");
    return status;
}

/* How many coordinates there are whose unit matters. */
static void count_kinds(const ulna_model *model, int *lengths, int *angles)
{
    *lengths = *angles = 0;
    for (int dof = 0; dof < ulna_model_dof_count(model); dof++)
        if (ulna_model_dof_coordinate(model, dof) != ULNA_NONE) {
            int is_length = ulna_model_dof_is_translation(model, dof);
            *lengths += is_length;
            *angles += !is_length;
        }
}

static ulna_status read_joints(csv_reader *r, const csv_columns *columns)
{
    const ulna_model *model = r->options->model;
    int lengths, angles;
    if (!model)
        return ulna_scan_fail(
            &r->scan, NULL, r->error, ULNA_ERR_STATE,
            "these columns are not markers (NAME.x, NAME.y, NAME.z); if they are joint values, give their skeleton");
    count_kinds(model, &lengths, &angles);
    if (angles && r->degrees < 0)
        ulna_remarks_add(&r->content->remarks, 0, -1,
                         "no unit of angles is given (a line such as '# angles: radians'); degrees are assumed");
    ulna_joint_table table = {.scan = &r->scan,
                              .delimiter = columns->delimiter,
                              .columns = &columns->cells,
                              .frame_column = columns->frame,
                              .time_column = columns->time,
                              .unit_m = unit_of(r, lengths),
                              .angle = r->degrees ? ULNA_PI / 180 : 1,
                              .rate = r->rate};
    r->content->source = (ulna_source){.unit_m = table.unit_m, .degrees = r->degrees != 0, .text = "joint values"};
    return ulna_joint_table_read(&table, model, r->content, r->error);
}

/* ---- the reader --------------------------------------------------------------------------------------------------- */

/* Frame and time may be the first two columns, in any order. */
static void find_columns(csv_columns *columns)
{
    columns->frame = columns->time = ULNA_NONE;
    while (columns->cells.count && columns->cells.items[columns->cells.count - 1].length == 0)
        columns->cells.count--;
    for (size_t i = 0; i < 2 && i < columns->cells.count; i++, columns->first++) {
        if (columns->frame == ULNA_NONE && ulna_is_frame_column(columns->cells.items[i]))
            columns->frame = (int)i;
        else if (columns->time == ULNA_NONE && ulna_is_time_column(columns->cells.items[i]))
            columns->time = (int)i;
        else
            break;
    }
}

static ulna_status read_table(csv_reader *r, csv_columns *columns)
{
    double number;
    find_columns(columns);
    const ulna_cells *cells = &columns->cells;
    if (cells->count <= columns->first || ulna_cell_number(cells->items[0], columns->delimiter, &number))
        return ulna_scan_fail(&r->scan, NULL, r->error, ULNA_ERR_PARSE,
                              "this line should name the columns: time or frame, and markers or degrees of freedom");
    int is_markers = ulna_marker_columns(cells, columns->first);
    int has_joints =
        is_markers && r->options->model ? ulna_joint_columns(r->options->model, cells, cells->allocator) : 0;
    if (has_joints < 0)
        return ulna_scan_fail(&r->scan, NULL, r->error, ULNA_ERR_MEMORY, "no memory for the names of the columns");
    return is_markers && !has_joints ? read_markers(r, columns) : read_joints(r, columns);
}

ulna_status ulna_csv_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    csv_reader r = {
        .scan = ulna_scan_start(data, length), .options = options, .content = content, .error = error, .degrees = -1};
    int is_there;
    while ((is_there = next_line(&r.scan)) && is_comment(&r.scan))
        read_comment(&r);
    if (!is_there)
        return ulna_scan_fail(&r.scan, NULL, error, ULNA_ERR_PARSE, "the file has no line that names its columns");
    csv_columns columns = {.delimiter = ulna_table_delimiter(&r.scan)};
    ulna_status status = ulna_cells_read(&r.scan, columns.delimiter, &content->remarks.allocator, &columns.cells);
    if (status != ULNA_OK)
        return ulna_scan_fail(&r.scan, NULL, error, status, "no memory for the names of the columns");
    status = read_table(&r, &columns);
    ulna_cells_release(&columns.cells);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------------------------------- */

static void put_units(ulna_writer *out, const char *angles, double unit, double rate)
{
    if (angles) {
        ulna_put(out, "# angles: ");
        ulna_put(out, angles);
        ulna_put(out, "\n");
    }
    ulna_put(out, "# lengths: ");
    ulna_put(out, ulna_length_unit_name(unit));
    ulna_put(out, "\n");
    if (rate > 0) {
        ulna_put(out, "# rate: ");
        ulna_put_number(out, rate);
        ulna_put(out, "\n");
    }
}

/* ---- markers ------------------------------------------------------------------------------------------------------ */

static void put_marker_names(ulna_writer *out, const ulna_recording *r, int has_time)
{
    static const char axes[] = "xyz";
    char name[ULNA_MARKER_NAME], column[ULNA_MARKER_NAME + 4];
    ulna_put(out, has_time ? "frame,time" : "frame");
    for (int m = 0; m < r->marker_count; m++) {
        ulna_marker_name_of(r, m, name);
        for (int k = 0; k < 3; k++) {
            snprintf(column, sizeof column, "%s.%c", name, axes[k]);
            ulna_put(out, ",");
            ulna_put_cell(out, column);
        }
    }
    ulna_put(out, "\n");
}

static long long put_marker_rows(ulna_writer *out, const ulna_recording *r, double step, double unit, int digits)
{
    long long far = 0;
    for (int f = 0; f < r->frame_count && out->status == ULNA_OK; f++) {
        const double *x = ulna_recording_frame(r, f);
        ulna_put_integer(out, (long long)r->first_frame + f);
        if (step > 0) {
            ulna_put(out, ",");
            ulna_put_value(out, ulna_frame_time(step, (double)r->first_frame + f), 1, 0);
        }
        for (int m = 0; m < r->marker_count; m++, x += 3) {
            int is_missing = isnan(x[0]) || isnan(x[1]) || isnan(x[2]);
            int is_far = !isfinite(x[0] / unit) || !isfinite(x[1] / unit) || !isfinite(x[2] / unit);
            far += is_far && !is_missing;
            for (int k = 0; k < 3; k++) {
                ulna_put(out, ",");
                if (!is_far)
                    ulna_put_value(out, x[k], unit, digits);
            }
        }
        ulna_put(out, "\n");
    }
    return far;
}

static ulna_status write_markers(const ulna_writing *w, ulna_writer *out, double unit, ulna_error *error)
{
    const ulna_recording *r = w->recording;
    if (r->marker_count == 0)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "there are frames, but no markers to write");
    double rate = ulna_sane_step(r->frame_seconds) > 0 ? ulna_frame_rate(r->frame_seconds) : 0;
    put_units(out, NULL, unit, rate);
    put_marker_names(out, r, rate > 0);
    ulna_markers_renamed(r, ulna_marker_name_of, w->remarks);
    long long far = put_marker_rows(out, r, rate > 0 ? 1 / rate : 0, unit, w->options->digits);
    if (far)
        ulna_remarks_add(w->remarks, 0, -1, "%lld positions are too far away and are written as missing", far);
    return ULNA_OK;
}

/* ---- joint values ------------------------------------------------------------------------------------------------- */

/* Control characters cannot be in a line. */
static void put_label(ulna_writer *out, const ulna_coordinates *coordinates, int c)
{
    char text[ULNA_COORDINATE_LABEL];
    ulna_coordinate_label(coordinates, c, text);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '_';
    ulna_put(out, ",");
    ulna_put_cell(out, text);
}

static void put_joint_rows(ulna_writer *out, const ulna_writing *w, const ulna_coordinates *coordinates, double step,
                           double angle, double unit)
{
    const ulna_clip *clip = w->clip;
    for (int f = 0; f < clip->frame_count && out->status == ULNA_OK; f++) {
        const double *q = ulna_clip_frame(clip, f);
        if (step > 0)
            ulna_put_value(out, ulna_frame_time(step, (double)clip->first_frame + f), 1, 0);
        else
            ulna_put_integer(out, (long long)clip->first_frame + f);
        for (int c = 0; c < clip->coordinate_count; c++) {
            ulna_coordinate_kind kind = ulna_coordinate_is(coordinates, c);
            ulna_put(out, ",");
            ulna_put_value(out, q[c],
                           kind == ULNA_IS_ANGLE    ? angle
                           : kind == ULNA_IS_LENGTH ? unit
                                                    : 1,
                           w->options->digits);
        }
        ulna_put(out, "\n");
    }
}

static ulna_status write_joints(const ulna_writing *w, ulna_writer *out, double unit, ulna_error *error)
{
    const ulna_clip *clip = w->clip;
    ulna_coordinates coordinates;
    ulna_status status = ulna_joint_table_check(w, "CSV", error);
    if (status != ULNA_OK)
        return status;
    status = ulna_coordinates_fill(&coordinates, w->model, &clip->allocator);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for the names of the columns");
    int degrees = w->options->degrees != 0;
    double rate = ulna_sane_step(clip->frame_seconds) > 0 ? ulna_frame_rate(clip->frame_seconds) : 0;
    put_units(out, degrees ? "degrees" : "radians", unit, rate);
    ulna_put(out, rate > 0 ? "time" : "frame");
    for (int c = 0; c < clip->coordinate_count; c++)
        put_label(out, &coordinates, c);
    ulna_put(out, "\n");
    put_joint_rows(out, w, &coordinates, rate > 0 ? 1 / rate : 0, degrees ? ULNA_PI / 180 : 1, unit);
    ulna_coordinates_release(&coordinates, &clip->allocator);
    if (w->recording)
        ulna_remarks_add(w->remarks, 0, -1, "a CSV file holds one table: the markers are left out");
    return ULNA_OK;
}

ulna_status ulna_csv_write(const ulna_writing *writing, ulna_error *error)
{
    double unit = writing->options->unit_m > 0 ? writing->options->unit_m : 1;
    if (!writing->clip && !writing->recording)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "CSV holds a motion or markers, but there are none to write");
    if (!ulna_length_unit_name(unit))
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                         "a CSV file states its unit of length by name, but a unit of %g m has no name", unit);
    ulna_writer out;
    ulna_writer_start(&out, writing->sink);
    ulna_status status =
        writing->clip ? write_joints(writing, &out, unit, error) : write_markers(writing, &out, unit, error);
    if (status != ULNA_OK)
        return status;
    status = ulna_writer_finish(&out);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "the CSV file could not be written: %s", ulna_status_text(status));
    return ULNA_OK;
}
