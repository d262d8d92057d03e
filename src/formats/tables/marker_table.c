/* Rows of marker positions, as TRC and CSV have them: see table.h. */
#include "formats/format.h"
#include "formats/tables/table.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "formats/markers.h"

typedef struct reader {
    ulna_table *table;
    int has_times;          /* no row lacks its time */
    int shorts, short_line; /* rows that are too short */
    long long nameless, halves, hidden;
} reader;

enum { AXES = 3, WITH_VISIBILITY = 4 };
#define LEAST_VISIBLE 0.5 /* below: a system's guess, which counts as missing */

static ulna_status add_frame(const ulna_table *table)
{
    ulna_recording *recording = &table->content->recording;
    int frames = recording->frame_count;
    if (!ulna_table_has_room(table, 3 * (size_t)recording->marker_count, frames, 1 << 20))
        return ulna_scan_fail(&table->scan, NULL, table->error, ULNA_ERR_LIMIT,
                              "%d markers are named, but most rows have no cells for them", recording->marker_count);
    ulna_status status = ulna_recording_resize(recording, recording->marker_count, frames + 1);
    if (status != ULNA_OK)
        return ulna_scan_fail(&table->scan, NULL, table->error, status, "no memory for frame %d", frames + 1);
    return ULNA_OK;
}

static void miss_time(reader *r)
{
    if (r->has_times)
        ulna_remarks_add(&r->table->content->remarks, r->table->scan.line, -1,
                         "this row has no time; times are left out");
    r->has_times = 0;
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

static ulna_status read_position(const ulna_table *table, ulna_word cell, double *x)
{
    if (cell.length == 0)
        return ULNA_OK;
    if (!ulna_cell_value(cell, table->delimiter, table->unit_m, x))
        return ulna_cell_is_missing(cell) ? ULNA_OK : ulna_table_fail_cell(table, cell, "position");
    return isfinite(*x) ? ULNA_OK : ulna_table_fail_cell(table, cell, "usable position: it is too far away");
}

/* How visible the point is, 0 .. 1, or how sure its system. */
static ulna_status read_visibility(reader *r, ulna_word cell, double x[AXES])
{
    double visibility = 1;
    if (!ulna_cell_number(cell, r->table->delimiter, &visibility) && !ulna_cell_is_missing(cell))
        return ulna_table_fail_cell(r->table, cell, "number");
    if (visibility >= LEAST_VISIBLE)
        return ULNA_OK;
    r->hidden += !isnan(x[0]);
    x[0] = x[1] = x[2] = (double)NAN;
    return ULNA_OK;
}

static ulna_status read_cells(reader *r, size_t whole, double *out, int *read)
{
    ulna_table *table = r->table;
    ulna_row row = ulna_row_start(&table->scan, table->delimiter);
    ulna_word cell;
    size_t values = table->each * (size_t)table->content->recording.marker_count, first = table->first;
    int frame = table->content->recording.frame_count - 1, is_value;
    ulna_status status = ULNA_OK;
    for (size_t column = 0; column < whole && status == ULNA_OK && ulna_row_next(&row, &cell); column++) {
        status = ulna_table_read_time(table, column, cell, frame, &is_value);
        if (!is_value || column < first)
            continue;
        size_t marker = (column - first) / table->each, k = (column - first) % table->each;
        if (column - first < values && k == AXES) {
            status = read_visibility(r, cell, out + AXES * marker);
        } else if (column - first < values) {
            *read = (int)(AXES * marker + k) + 1;
            status = read_position(table, cell, &out[*read - 1]);
        } else
            r->nameless += !ulna_cell_is_missing(cell);
    }
    return status;
}

static ulna_status read_row(reader *r)
{
    ulna_table *table = r->table;
    ulna_recording *recording = &table->content->recording;
    int values = 3 * recording->marker_count, read = 0;
    size_t cells = table->first + table->each * (size_t)recording->marker_count;
    size_t whole = ulna_row_whole(&table->scan, table->delimiter, cells);
    if (whole != SIZE_MAX)
        ulna_remarks_add(&table->content->remarks, table->scan.line, (long long)table->scan.length,
                         whole > table->first ? "the file ends inside this row; its last number is left out"
                                              : "the file ends inside this row, which is left out");
    if (whole <= table->first && values > 0)
        return ULNA_OK;
    ulna_status status = add_frame(table);
    if (status != ULNA_OK)
        return status;
    double none[3] = {0}, *out = values ? ulna_recording_frame(recording, recording->frame_count - 1) : none;
    size_t times = table->times.count;
    status = read_cells(r, whole, out, &read);
    if (table->times.count == times)
        miss_time(r);
    if (read < values && whole == SIZE_MAX)
        r->short_line = r->shorts++ ? r->short_line : table->scan.line;
    for (int m = 0; 3 * m < read; m++)
        finish_marker(r, out + 3 * (size_t)m);
    return status;
}

static void remark(const reader *r)
{
    ulna_remarks *remarks = &r->table->content->remarks;
    if (r->shorts)
        ulna_remarks_add(remarks, r->short_line, -1,
                         "%d rows have too few cells, the first one here; markers without cells are missing",
                         r->shorts);
    if (r->nameless)
        ulna_remarks_add(remarks, 0, -1, "%lld values are in columns without a marker name and are left out",
                         r->nameless);
    if (r->hidden)
        ulna_remarks_add(remarks, 0, -1, "%lld positions have a visibility below %g; they count as missing", r->hidden,
                         LEAST_VISIBLE);
    if (r->halves)
        ulna_remarks_add(remarks, 0, -1, "%lld positions have only one or two coordinates; they count as missing",
                         r->halves);
}

ulna_status ulna_marker_table_read(ulna_table *table)
{
    reader r = {.table = table, .has_times = table->time_column >= 0};
    ulna_recording *recording = &table->content->recording;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && ulna_table_row(table))
        status = read_row(&r);
    if (!r.has_times)
        table->times.count = 0;
    if (status == ULNA_OK)
        status = ulna_table_finish(table, recording->frame_count, &recording->frame_seconds, &recording->first_frame);
    if (status != ULNA_OK)
        return status;
    remark(&r);
    status = ulna_markers_zeros(recording, &table->content->remarks);
    return status == ULNA_OK ? ULNA_OK : ulna_fail(table->error, status, "no memory to examine the positions");
}

/* ---- names of columns --------------------------------------------------------------------------------------------- */

/* A blank counts as an underscore. */
static int is_named(ulna_word cell, const char *names)
{
    char text[32];
    if (cell.length >= sizeof text)
        return 0;
    for (size_t i = 0; i < cell.length; i++)
        text[i] = (char)(cell.text[i] == ' ' ? '_' : cell.text[i]);
    return ulna_word_is_listed((ulna_word){text, cell.length}, names);
}

int ulna_is_frame_column(ulna_word cell)
{
    return is_named(cell, "frame frame# frames frame_number field index");
}

int ulna_is_time_column(ulna_word cell)
{
    return is_named(cell, "time t time_(s) time(s) time_[s] time[s] time_s times seconds time_(seconds) time_(sec) "
                          "timestamp");
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

/* NAME_visibility and the like, behind the coordinates of NAME. */
static int is_visibility_of(ulna_word cell, ulna_word marker)
{
    if (cell.length < marker.length + 2 || memcmp(cell.text, marker.text, marker.length) != 0 ||
        !strchr("._-: ", cell.text[marker.length]))
        return 0;
    ulna_word rest = {cell.text + marker.length + 1, cell.length - marker.length - 1};
    return ulna_word_is_listed(rest, "visibility confidence conf score likelihood presence v c");
}

static int are_markers(const ulna_cells *cells, size_t first, size_t each)
{
    if (cells->count <= first || (cells->count - first) % each != 0)
        return 0;
    ulna_word marker = {NULL, 0}, here;
    for (size_t i = first; i < cells->count; i++) {
        int axis = (int)((i - first) % each);
        if (axis == AXES && !is_visibility_of(cells->items[i], marker))
            return 0;
        if (axis == AXES)
            continue;
        if (coordinate_of(cells->items[i], &here) != axis)
            return 0;
        if (axis && (here.length != marker.length || memcmp(here.text, marker.text, here.length) != 0))
            return 0;
        marker = here;
    }
    return 1;
}

ulna_status ulna_table_has_markers(ulna_table *table, int *has_markers)
{
    int is_joint = 0;
    table->each = are_markers(&table->columns, table->first, WITH_VISIBILITY) ? WITH_VISIBILITY : AXES;
    *has_markers = table->each == WITH_VISIBILITY || are_markers(&table->columns, table->first, AXES);
    ulna_status status = *has_markers && table->options->model ? ulna_joint_columns(table, &is_joint) : ULNA_OK;
    *has_markers &= !is_joint;
    return status;
}

ulna_status ulna_table_name_markers(ulna_table *table, size_t count, int has_quotes)
{
    ulna_recording *recording = &table->content->recording;
    int cut = 0;
    ulna_status status = count > INT_MAX / 4 ? ULNA_ERR_LIMIT : ulna_recording_resize(recording, (int)count, 0);
    for (size_t m = 0; status == ULNA_OK && m < count; m++) {
        char plain[4 * ULNA_MARKER_NAME];
        ulna_word name = table->columns.items[m];
        int is_whole = !has_quotes || ulna_cell_copy(name, plain, sizeof plain);
        if (has_quotes)
            name = (ulna_word){plain, strlen(plain)};
        cut += !(ulna_marker_name(name.text, name.length, recording->names[m]) && is_whole);
    }
    if (cut)
        ulna_remarks_add(&table->content->remarks, table->scan.line, -1,
                         "%d names are longer than %d characters and were cut", cut, ULNA_MARKER_NAME - 1);
    if (status == ULNA_OK)
        status = ulna_markers_finish(recording, &table->content->remarks);
    return status == ULNA_OK ? ULNA_OK
                             : ulna_scan_fail(&table->scan, NULL, table->error, status,
                                              "no memory for the names of %zu markers", count);
}

ulna_status ulna_marker_columns_name(ulna_table *table)
{
    ulna_word *names = table->columns.items;
    size_t count = (table->columns.count - table->first) / table->each;
    for (size_t m = 0; m < count; m++) {
        ulna_word column = names[table->first + table->each * m];
        coordinate_of(column, &names[m]);
    }
    return ulna_table_name_markers(table, count, 1);
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

void ulna_put_marker_rows(ulna_writer *out, const ulna_writing *writing, const char *delimiter, const char *missing,
                          double step, double unit)
{
    const ulna_recording *r = writing->recording;
    long long far = 0;
    for (int f = 0; f < r->frame_count && out->status == ULNA_OK; f++) {
        const double *x = r->marker_count ? ulna_recording_frame(r, f) : NULL;
        ulna_print(out, "%lld", (long long)r->first_frame + f);
        if (step > 0) {
            ulna_put(out, delimiter);
            ulna_put_value(out, ulna_frame_time(step, (double)r->first_frame + f), 1, 0);
        }
        for (int m = 0; m < r->marker_count; m++, x += 3) {
            int is_missing = isnan(x[0]) || isnan(x[1]) || isnan(x[2]);
            int is_far = !isfinite(x[0] / unit) || !isfinite(x[1] / unit) || !isfinite(x[2] / unit);
            far += is_far && !is_missing;
            for (int k = 0; k < 3; k++) {
                ulna_put(out, delimiter);
                if (is_far)
                    ulna_put(out, missing);
                else
                    ulna_put_value(out, x[k], unit, writing->options->digits);
            }
        }
        ulna_put(out, "\n");
    }
    if (far)
        ulna_remarks_add(writing->remarks, 0, -1, "%lld positions are too far away and are written as missing", far);
}
