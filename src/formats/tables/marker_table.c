/* Rows of marker positions: see table.h. */
#include "formats/format.h"
#include "formats/tables/table.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "formats/markers.h"

/* A file can have many names and rows that are too short to have cells for them: missing markers must not take more memory
 * than this times its length. */
enum { MOST_GROWTH = 64, FREE_BYTES = 1 << 20 };

typedef struct reader {
    const ulna_marker_table *table;
    ulna_content *content;
    ulna_error *error;
    ulna_times times;
    int has_times; /* no row lacks its time */
    ulna_frame_numbers numbers;
    int shorts, short_line; /* rows that are too short */
    long long nameless, halves;
} reader;

static ulna_status fail_cell(const reader *r, ulna_word cell, const char *what)
{
    ulna_word shown = {cell.text, cell.length < 40 ? cell.length : 40};
    char text[100];
    ulna_word_copy(shown, text, sizeof text);
    return ulna_scan_fail(r->table->scan, &cell, r->error, ULNA_ERR_PARSE, "'%s' is not a %s", text, what);
}

static ulna_status add_frame(reader *r)
{
    ulna_recording *recording = &r->content->recording;
    int frames = recording->frame_count;
    double bytes = 24.0 * recording->marker_count * (frames + 1.0);
    if (frames == INT_MAX || bytes > (double)MOST_GROWTH * (double)r->table->scan->length + FREE_BYTES)
        return ulna_scan_fail(r->table->scan, NULL, r->error, ULNA_ERR_LIMIT,
                              "%d markers are named, but most rows have no cells for them", recording->marker_count);
    ulna_status status = ulna_recording_resize(recording, recording->marker_count, frames + 1);
    if (status != ULNA_OK)
        return ulna_scan_fail(r->table->scan, NULL, r->error, status, "no memory for frame %d", frames + 1);
    return ULNA_OK;
}

static ulna_status read_number(reader *r, ulna_word cell)
{
    double value;
    int is_number =
        ulna_cell_number(cell, r->table->delimiter, &value) &&
        ulna_frame_numbers_add(&r->numbers, r->content->recording.frame_count - 1, value, r->table->scan->line);
    return is_number ? ULNA_OK : fail_cell(r, cell, "frame number");
}

static void miss_time(reader *r)
{
    if (r->has_times)
        ulna_remarks_add(&r->content->remarks, r->table->scan->line, -1, "this row has no time; times are left out");
    r->has_times = 0;
}

static ulna_status read_time(reader *r, ulna_word cell)
{
    double value;
    if (ulna_cell_is_missing(cell))
        return ULNA_OK;
    if (!ulna_cell_number(cell, r->table->delimiter, &value))
        return fail_cell(r, cell, "time");
    ulna_status status = ulna_times_add(&r->times, value, r->table->scan->line);
    return status == ULNA_OK ? ULNA_OK : ulna_scan_fail(r->table->scan, NULL, r->error, status, "no memory for times");
}

/* A marker with one coordinate missing is missing. */
static void finish_marker(reader *r, double *x)
{
    int known = !isnan(x[0]) + !isnan(x[1]) + !isnan(x[2]);
    if (known == 1 || known == 2) {
        r->halves++;
        x[0] = x[1] = x[2] = (double)NAN;
    }
}

static ulna_status read_position(reader *r, ulna_word cell, double *x)
{
    if (cell.length == 0)
        return ULNA_OK;
    if (!ulna_cell_value(cell, r->table->delimiter, r->table->unit_m, x))
        return ulna_cell_is_missing(cell) ? ULNA_OK : fail_cell(r, cell, "position");
    return isfinite(*x) ? ULNA_OK : fail_cell(r, cell, "usable position: it is too far away");
}

static ulna_status read_cells(reader *r, size_t whole, double *out, int *read)
{
    const ulna_marker_table *table = r->table;
    ulna_row row = ulna_row_start(table->scan, table->delimiter);
    ulna_word cell;
    int values = 3 * r->content->recording.marker_count;
    ulna_status status = ULNA_OK;
    for (size_t column = 0; column < whole && status == ULNA_OK && ulna_row_next(&row, &cell); column++) {
        if (column == (size_t)table->frame_column)
            status = read_number(r, cell);
        else if (column == (size_t)table->time_column)
            status = read_time(r, cell);
        else if (out && column >= (size_t)table->markers && column - (size_t)table->markers < (size_t)values) {
            *read = (int)(column - (size_t)table->markers) + 1;
            status = read_position(r, cell, &out[*read - 1]);
        } else
            r->nameless += column >= (size_t)table->markers && !ulna_cell_is_missing(cell);
    }
    return status;
}

static ulna_status read_row(reader *r)
{
    const ulna_marker_table *table = r->table;
    ulna_recording *recording = &r->content->recording;
    int values = 3 * recording->marker_count, read = 0;
    size_t whole = ulna_row_whole(table->scan, table->delimiter, (size_t)table->markers + (size_t)values);
    if (whole != SIZE_MAX)
        ulna_remarks_add(&r->content->remarks, table->scan->line, (long long)table->scan->length,
                         whole > (size_t)table->markers ? "the file ends inside this row; its last number is left out"
                                                        : "the file ends inside this row, which is left out");
    if (whole <= (size_t)table->markers && values > 0)
        return ULNA_OK;
    ulna_status status = add_frame(r);
    if (status != ULNA_OK)
        return status;
    double *out = values ? ulna_recording_frame(recording, recording->frame_count - 1) : NULL;
    size_t times = r->times.count;
    status = read_cells(r, whole, out, &read);
    if (r->times.count == times)
        miss_time(r);
    if (read < values && whole == SIZE_MAX)
        r->short_line = r->shorts++ ? r->short_line : table->scan->line;
    for (int m = 0; out && 3 * m < read; m++)
        finish_marker(r, out + 3 * (size_t)m);
    return status;
}

static void remark(const reader *r)
{
    ulna_remarks *remarks = &r->content->remarks;
    ulna_frame_numbers_remark(&r->numbers, remarks);
    if (r->shorts)
        ulna_remarks_add(remarks, r->short_line, -1,
                         "%d rows have too few cells, the first one here; markers without cells are missing",
                         r->shorts);
    if (r->nameless)
        ulna_remarks_add(remarks, 0, -1, "%lld values are in columns without a marker name and are left out",
                         r->nameless);
    if (r->halves)
        ulna_remarks_add(remarks, 0, -1, "%lld positions have only one or two coordinates; they count as missing",
                         r->halves);
}

ulna_status ulna_marker_table_read(const ulna_marker_table *table, ulna_content *content, ulna_error *error)
{
    reader r = {.table = table,
                .content = content,
                .error = error,
                .times = {.allocator = &content->remarks.allocator},
                .has_times = table->time_column >= 0,
                .numbers = {.first = ULNA_NO_FRAME}};
    ulna_recording *recording = &content->recording;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && ulna_scan_line(table->scan))
        if (!ulna_row_is_blank(table->scan, table->delimiter) && *table->scan->here != '#')
            status = read_row(&r);
    if (status == ULNA_OK) {
        remark(&r);
        if (!r.has_times)
            r.times.count = 0;
        ulna_times_judge(&r.times, table->rate, r.numbers.first, &content->remarks, &recording->frame_seconds,
                         &recording->first_frame);
        status = ulna_markers_zeros(recording, &content->remarks);
        if (status != ULNA_OK)
            ulna_fail(error, status, "no memory to look at the positions");
    }
    ulna_times_release(&r.times);
    return status;
}

/* ---- names of columns --------------------------------------------------------------------------------------------- */

int ulna_is_frame_column(ulna_word cell)
{
    static const char *const names[] = {"frame", "frame#", "frames", "frame_number", "frame number", "field", "index"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ulna_word_is_like(cell, names[i]))
            return 1;
    return 0;
}

int ulna_is_time_column(ulna_word cell)
{
    static const char *const names[] = {"time",   "t",     "time (s)", "time(s)",        "time [s]",   "time[s]",
                                        "time_s", "times", "seconds",  "time (seconds)", "time (sec)", "timestamp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (ulna_word_is_like(cell, names[i]))
            return 1;
    return 0;
}

/* Which coordinate (0, 1, 2) a column is of, and the name of its marker; -1 if it is of none. */
static int coordinate_of(ulna_word cell, ulna_word *marker)
{
    if (cell.length < 2)
        return -1;
    char last = cell.text[--cell.length];
    int axis = last >= 'x' && last <= 'z' ? last - 'x' : last >= 'X' && last <= 'Z' ? last - 'X' : -1;
    char before = cell.text[cell.length - 1];
    if (axis < 0)
        return -1;
    if ((before == 't' || before == 'T') && cell.length >= 3 && strchr("._-: ", cell.text[cell.length - 2]))
        before = cell.text[--cell.length - 1];
    if (strchr("._-: ", before))
        cell.length--;
    else if (last > 'Z' || before < '0' || (before >= 'A' && before <= 'Z'))
        return -1; /* wristX is of wrist, but POX and box are names of their own */
    *marker = cell;
    return cell.length ? axis : -1;
}

int ulna_marker_columns(const ulna_cells *cells, size_t first)
{
    if (cells->count <= first || (cells->count - first) % 3 != 0)
        return 0;
    ulna_word marker = {NULL, 0}, here;
    for (size_t i = first; i < cells->count; i++) {
        int axis = (int)((i - first) % 3);
        if (coordinate_of(cells->items[i], &here) != axis)
            return 0;
        if (axis && (here.length != marker.length || memcmp(here.text, marker.text, here.length) != 0))
            return 0;
        marker = here;
    }
    return 1;
}

ulna_status ulna_marker_columns_name(const ulna_scan *scan, const ulna_cells *cells, size_t first,
                                     ulna_content *content, ulna_error *error)
{
    ulna_recording *recording = &content->recording;
    size_t count = (cells->count - first) / 3;
    int cut = 0;
    ulna_status status = count > INT_MAX / 4 ? ULNA_ERR_LIMIT : ulna_recording_resize(recording, (int)count, 0);
    for (size_t m = 0; status == ULNA_OK && m < count; m++) {
        ulna_word marker = {NULL, 0};
        char name[4 * ULNA_MARKER_NAME];
        coordinate_of(cells->items[first + 3 * m], &marker);
        int is_whole = ulna_cell_copy(marker, name, sizeof name);
        cut += !(ulna_marker_name(name, strlen(name), recording->names[m]) && is_whole);
    }
    if (cut)
        ulna_remarks_add(&content->remarks, scan->line, -1, "%d names are longer than %d characters and were cut", cut,
                         ULNA_MARKER_NAME - 1);
    if (status == ULNA_OK)
        status = ulna_markers_finish(recording, &content->remarks);
    return status == ULNA_OK
               ? ULNA_OK
               : ulna_scan_fail(scan, NULL, error, status, "no memory for the names of %zu markers", count);
}
