/*
 * MOT and STO: joint values over time, of OpenSim and of SIMM before it: a header that ends with "endheader", a line of names,
 * a line per frame.
 *
 *   angles   degrees if the header says inDegrees=yes, or nothing at all, as SIMM's; radians if it says no
 *   lengths  metres
 *   values   of a skeleton that is at hand: columns are matched to its degrees of freedom by name. A file whose columns are
 *            all positions, NAME_tx NAME_ty NAME_tz, is one of markers
 *
 * Written as OpenSim does: tabs, a time and a column per coordinate; degrees unless asked otherwise, metres.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/format.h"
#include "formats/tables/table.h"
#include "math/math3.h"

enum { LONGEST_KEY = 1000 }; /* a line of the header with "nRows = 73": those of tables are longer */

typedef struct mot_reader {
    ulna_scan scan;
    const ulna_read_options *options;
    ulna_content *content;
    ulna_error *error;
    double rows, columns; /* as told; NaN if not */
    int rows_line, columns_line;
    int degrees; /* -1: not told */
} mot_reader;

/* ---- the header --------------------------------------------------------------------------------------------------- */

/* "nRows=73", "nRows = 73" or "datarows 73": the word and the number. */
static int read_key(ulna_scan scan, const char *key, ulna_word *value)
{
    ulna_word word;
    return ulna_scan_word(&scan, "=", &word) && ulna_word_is_like(word, key) && ulna_scan_word(&scan, "=", value);
}

static int begins_with(ulna_word line, const char *text)
{
    size_t length = strlen(text);
    return line.length >= length && ulna_word_is_like((ulna_word){line.text, length}, text);
}

static void read_header_line(mot_reader *r)
{
    static const char *const yes[] = {"yes", "y", "true", "1"};
    const struct {
        const char *key;
        double *value;
        int *line;
    } counts[] = {{"nRows", &r->rows, &r->rows_line},
                  {"datarows", &r->rows, &r->rows_line},
                  {"nColumns", &r->columns, &r->columns_line},
                  {"datacolumns", &r->columns, &r->columns_line}};
    ulna_scan scan = r->scan;
    ulna_word value, line = ulna_scan_rest(&scan);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (read_key(r->scan, counts[i].key, &value)) {
            *counts[i].line = r->scan.line;
            if (!ulna_word_number(value, counts[i].value))
                ulna_remarks_add(&r->content->remarks, r->scan.line, -1, "%s is not a number", counts[i].key);
        }
    if (read_key(r->scan, "inDegrees", &value)) {
        r->degrees = 0;
        for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
            r->degrees |= ulna_word_is_like(value, yes[i]);
    } else if (r->degrees < 0 && begins_with(line, "Angles are in degrees"))
        r->degrees = 1;
    else if (r->degrees < 0 && begins_with(line, "Angles are in radians"))
        r->degrees = 0;
}

static int is_end(ulna_scan scan)
{
    ulna_word word;
    return ulna_scan_word(&scan, NULL, &word) && ulna_word_is_like(word, "endheader");
}

int ulna_mot_sniff(const char *data, size_t length)
{
    static const char *const keys[] = {"nRows", "nColumns", "datarows", "datacolumns", "version", "inDegrees"};
    ulna_scan scan = ulna_scan_start(data, length);
    ulna_word key, value;
    int is_told = 0;
    while (ulna_scan_line(&scan)) {
        if (is_end(scan))
            return is_told;
        if (scan.end - scan.here > LONGEST_KEY || !ulna_scan_word(&scan, "=", &key))
            continue;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            is_told |= ulna_word_is_like(key, keys[i]) && ulna_scan_word(&scan, "=", &value);
    }
    return 0;
}

static ulna_status read_header(mot_reader *r)
{
    while (ulna_scan_line(&r->scan)) {
        if (is_end(r->scan)) {
            while (ulna_scan_line(&r->scan))
                if (!ulna_row_is_blank(&r->scan, '\t'))
                    return ULNA_OK;
            return ulna_scan_fail(&r->scan, NULL, r->error, ULNA_ERR_PARSE,
                                  "the file ends before the names of its columns");
        }
        read_header_line(r);
    }
    return ulna_scan_fail(&r->scan, NULL, r->error, ULNA_ERR_PARSE,
                          "the header does not end: the line 'endheader' is missing");
}

/* ---- the table ---------------------------------------------------------------------------------------------------- */

static ulna_status read_markers(mot_reader *r, const ulna_cells *cells, char delimiter)
{
    double unit = r->options->unit_m > 0 ? r->options->unit_m : 1;
    ulna_marker_table table = {.scan = &r->scan,
                               .delimiter = delimiter,
                               .frame_column = ULNA_NONE,
                               .time_column = 0,
                               .markers = 1,
                               .unit_m = unit};
    ulna_status status = ulna_marker_columns_name(&r->scan, cells, 1, r->content, r->error);
    r->content->source = (ulna_source){.unit_m = unit, .text = "positions"};
    return status == ULNA_OK ? ulna_marker_table_read(&table, r->content, r->error) : status;
}

static ulna_status read_joints(mot_reader *r, const ulna_cells *cells, char delimiter)
{
    if (!r->options->model)
        return ulna_scan_fail(&r->scan, NULL, r->error, ULNA_ERR_STATE,
                              "this file holds joint values: reading it needs their skeleton");
    if (r->degrees < 0)
        ulna_remarks_add(&r->content->remarks, 0, -1, "the header has no inDegrees: degrees are assumed");
    ulna_joint_table table = {.scan = &r->scan,
                              .delimiter = delimiter,
                              .columns = cells,
                              .frame_column = ULNA_NONE,
                              .time_column = ULNA_NONE,
                              .unit_m = r->options->unit_m > 0 ? r->options->unit_m : 1,
                              .angle = r->degrees ? ULNA_PI / 180 : 1};
    for (size_t i = cells->count; i-- > 0;)
        if (ulna_is_time_column(cells->items[i]))
            table.time_column = (int)i;
    if (table.time_column == ULNA_NONE)
        ulna_remarks_add(&r->content->remarks, r->scan.line, -1, "there is no column 'time'; times are unknown");
    r->content->source = (ulna_source){.unit_m = table.unit_m, .degrees = r->degrees != 0};
    return ulna_joint_table_read(&table, r->options->model, r->content, r->error);
}

static void remark_on_counts(const mot_reader *r, size_t columns)
{
    int rows = r->content->clip.frame_count + r->content->recording.frame_count;
    if (r->rows_line && r->rows != rows)
        ulna_remarks_add(&r->content->remarks, r->rows_line, -1, "the header states %.0f rows, but there are %d%s",
                         r->rows, rows, r->rows > rows ? ": the file may have been cut off" : "");
    if (r->columns_line && r->columns != (double)columns)
        ulna_remarks_add(&r->content->remarks, r->columns_line, -1, "the header states %.0f columns, but %zu are named",
                         r->columns, columns);
}

ulna_status ulna_mot_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    mot_reader r = {.scan = ulna_scan_start(data, length),
                    .options = options,
                    .content = content,
                    .error = error,
                    .rows = (double)NAN,
                    .columns = (double)NAN,
                    .degrees = -1};
    ulna_cells cells;
    ulna_status status = read_header(&r);
    if (status != ULNA_OK)
        return status;
    char delimiter = ulna_table_delimiter(&r.scan);
    status = ulna_cells_read(&r.scan, delimiter, &content->remarks.allocator, &cells);
    if (status != ULNA_OK)
        return ulna_scan_fail(&r.scan, NULL, error, status, "no memory for the names of the columns");
    while (cells.count > 0 && cells.items[cells.count - 1].length == 0)
        cells.count--;
    /* Rows have no empty cells, so any blanks will do between numbers, however the names are separated. */
    char between = delimiter == '\t' ? ' ' : delimiter;
    int is_markers = cells.count && ulna_is_time_column(cells.items[0]) && ulna_marker_columns(&cells, 1);
    int has_joints = is_markers && options->model ? ulna_joint_columns(options->model, &cells, cells.allocator) : 0;
    if (cells.count == 0)
        status = ulna_scan_fail(&r.scan, NULL, error, ULNA_ERR_PARSE, "this line should name the columns");
    else if (has_joints < 0)
        status = ulna_scan_fail(&r.scan, NULL, error, ULNA_ERR_MEMORY, "no memory for the names of the columns");
    else if (is_markers && !has_joints)
        status = read_markers(&r, &cells, between);
    else
        status = read_joints(&r, &cells, between);
    if (status == ULNA_OK)
        remark_on_counts(&r, cells.count);
    ulna_cells_release(&cells);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------------------------------- */

static void put_header(ulna_writer *out, int rows, int columns, int degrees)
{
    ulna_put(out, "Coordinates\nversion=1\nnRows=");
    ulna_put_integer(out, rows);
    ulna_put(out, "\nnColumns=");
    ulna_put_integer(out, columns);
    ulna_put(out, degrees ? "\ninDegrees=yes\n\n" : "\ninDegrees=no\n\n");
    ulna_put(out, "Units are S.I. units (second, meters, Newtons, ...)\n");
    ulna_put(out, degrees ? "Angles are in degrees.\n\nendheader\n" : "Angles are in radians.\n\nendheader\n");
}

/* A blank would begin another column where files are read by words. Returns 1 if there was one. */
static int put_label(ulna_writer *out, const ulna_coordinates *coordinates, int c)
{
    char text[ULNA_COORDINATE_LABEL];
    int has_blank = 0;
    ulna_coordinate_label(coordinates, c, text);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == 127 || *at == '"') {
            *at = '_';
            has_blank = 1;
        }
    ulna_put(out, "\t");
    ulna_put(out, text);
    return has_blank;
}

static void put_table(ulna_writer *out, const ulna_writing *w, const ulna_coordinates *coordinates, double step,
                      double angle)
{
    const ulna_clip *clip = w->clip;
    int changed = 0;
    ulna_put(out, "time");
    for (int c = 0; c < clip->coordinate_count; c++)
        changed += put_label(out, coordinates, c);
    ulna_put(out, "\n");
    for (int f = 0; f < clip->frame_count && out->status == ULNA_OK; f++) {
        const double *q = ulna_clip_frame(clip, f);
        ulna_put_value(out, ulna_frame_time(step, (double)clip->first_frame + f), 1, 0);
        for (int c = 0; c < clip->coordinate_count; c++) {
            ulna_put(out, "\t");
            ulna_put_value(out, q[c], ulna_coordinate_is(coordinates, c) == ULNA_IS_ANGLE ? angle : 1,
                           w->options->digits);
        }
        ulna_put(out, "\n");
    }
    if (changed)
        ulna_remarks_add(w->remarks, 0, -1, "%d names have blanks, which are written as underscores", changed);
}

ulna_status ulna_mot_write(const ulna_writing *writing, ulna_error *error)
{
    if (!writing->clip)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "MOT holds the motion of a skeleton, but there is none to write");
    ulna_status status = ulna_joint_table_check(writing, "MOT", error);
    if (status != ULNA_OK)
        return status;
    int degrees = writing->options->degrees != 0;
    double step = ulna_sane_step(writing->clip->frame_seconds), used = step > 0 ? step : ULNA_UNKNOWN_FRAME_S;
    ulna_coordinates coordinates;
    status = ulna_coordinates_fill(&coordinates, writing->model, &writing->clip->allocator);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for the names of the columns");
    ulna_writer out;
    ulna_writer_start(&out, writing->sink);
    put_header(&out, writing->clip->frame_count, 1 + writing->clip->coordinate_count, degrees);
    put_table(&out, writing, &coordinates, used, degrees ? ULNA_PI / 180 : 1);
    ulna_coordinates_release(&coordinates, &writing->clip->allocator);
    status = ulna_writer_finish(&out);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "the MOT file could not be written: %s", ulna_status_text(status));
    if (step == 0)
        ulna_remarks_add(writing->remarks, 0, -1, "the frame rate is unknown; 120 per second is written");
    if (writing->options->unit_m > 0 && writing->options->unit_m != 1)
        ulna_remarks_add(writing->remarks, 0, -1, "lengths are written in metres: MOT has no other unit");
    if (writing->recording)
        ulna_remarks_add(writing->remarks, 0, -1, "MOT holds a motion only: the markers are left out");
    return ULNA_OK;
}
