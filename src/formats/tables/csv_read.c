/*
 * Reads CSV: markers if the columns are NAME.x, NAME.y, NAME.z (or _x, X, ...), else joint values of a skeleton that is at
 * hand. Cells are separated by commas, semicolons (then decimal commas are read too, as spreadsheets in many countries
 * write them) or tabs. What the file does not say is assumed: metres and degrees.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/markers.h"
#include "formats/tables/csv.h"
#include "formats/tables/joint_table.h"
#include "formats/tables/marker_table.h"
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
        r->unit = ulna_length_unit(text);
        if (r->unit <= 0)
            ulna_remarks_add(&r->content->remarks, r->scan.line, -1, "unit of length '%s' is unknown", text);
    } else if (ulna_word_is_like(key, "angles") || ulna_word_is_like(key, "angle")) {
        int is_degrees = ulna_word_is_like(value, "degrees") || ulna_word_is_like(value, "deg");
        if (is_degrees || ulna_word_is_like(value, "radians") || ulna_word_is_like(value, "rad"))
            r->degrees = is_degrees;
        else
            ulna_remarks_add(&r->content->remarks, r->scan.line, -1, "unit of angles '%s' is unknown", text);
    } else if (ulna_word_is_like(key, "rate") && (!ulna_word_number(value, &r->rate) || !(r->rate > 0))) {
        ulna_remarks_add(&r->content->remarks, r->scan.line, -1, "the rate '%s' is no positive number", text);
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
        status = ulna_scan_fail(&r->scan, NULL, r->error, ULNA_ERR_PARSE, "columns are named, but no row follows");
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
            "these columns are no markers (NAME.x, NAME.y, NAME.z); if they are values of joints, the "
            "skeleton that they belong to is needed");
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
