/* Joint values in columns: see table.h. */
#include "formats/format.h"
#include "formats/tables/table.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/text/names.h"

/* As in marker_table.c: coordinates without a column must not take more memory than this times the file's length. */
enum { MOST_GROWTH = 64, FREE_BYTES = 1 << 24 };

/* ---- coordinates -------------------------------------------------------------------------------------------------- */

ulna_status ulna_coordinates_fill(ulna_coordinates *coordinates, const ulna_model *model,
                                  const ulna_allocator *allocator)
{
    size_t nq = (size_t)ulna_model_coordinate_count(model);
    *coordinates = (ulna_coordinates){model, ulna_allocate(allocator, nq, sizeof *coordinates->dof),
                                      ulna_allocate(allocator, nq, sizeof *coordinates->part)};
    if (!coordinates->dof || !coordinates->part) {
        ulna_coordinates_release(coordinates, allocator);
        return ULNA_ERR_MEMORY;
    }
    for (int b = 0; b < ulna_model_body_count(model); b++) {
        int first, dof, count = ulna_model_body_coordinates(model, b, &first),
                        dofs = ulna_model_body_dofs(model, b, &dof);
        for (int k = 0; k < count; k++)
            coordinates->dof[first + k] = -1 - b;
        for (int k = 0; k < dofs; k++)
            if (ulna_model_dof_coordinate(model, dof + k) != ULNA_NONE)
                coordinates->dof[ulna_model_dof_coordinate(model, dof + k)] = dof + k;
        for (int k = 0, part = 0; k < count; k++)
            if (coordinates->dof[first + k] < 0)
                coordinates->part[first + k] = part++;
    }
    return ULNA_OK;
}

void ulna_coordinates_release(ulna_coordinates *coordinates, const ulna_allocator *allocator)
{
    size_t nq = coordinates->model ? (size_t)ulna_model_coordinate_count(coordinates->model) : 0;
    ulna_release(allocator, coordinates->dof, nq, sizeof *coordinates->dof);
    ulna_release(allocator, coordinates->part, nq, sizeof *coordinates->part);
    *coordinates = (ulna_coordinates){0};
}

ulna_coordinate_kind ulna_coordinate_is(const ulna_coordinates *coordinates, int coordinate)
{
    int dof = coordinates->dof[coordinate];
    return dof < 0                                                  ? ULNA_IS_QUATERNION
           : ulna_model_dof_is_translation(coordinates->model, dof) ? ULNA_IS_LENGTH
                                                                    : ULNA_IS_ANGLE;
}

void ulna_coordinate_label(const ulna_coordinates *coordinates, int coordinate, char text[ULNA_COORDINATE_LABEL])
{
    static const char *const parts[] = {"qx", "qy", "qz", "qw"};
    int dof = coordinates->dof[coordinate];
    if (dof >= 0)
        ulna_model_dof_label(coordinates->model, dof, text, ULNA_COORDINATE_LABEL);
    else
        snprintf(text, ULNA_COORDINATE_LABEL, "%s.%s", ulna_model_body_name(coordinates->model, -1 - dof),
                 parts[coordinates->part[coordinate] & 3]);
}

/* ---- which column is which coordinate ------------------------------------------------------------------------------- */

typedef struct reader {
    const ulna_joint_table *table;
    const ulna_model *model;
    ulna_content *content;
    ulna_error *error;
    const ulna_allocator *allocator;
    ulna_coordinates coordinates;
    int *target;   /* per column: its coordinate, or ULNA_NONE */
    double *scale; /* per column */
    int *column;   /* per coordinate: its column, or ULNA_NONE */
    ulna_times times;
    ulna_frame_numbers numbers;
    int far_line;
    long long unnormal;
} reader;

/* Writers of MOT make blanks and quotes underlines. */
static void without_blanks(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || *text == 127 || *text == '"')
            *text = '_';
}

static ulna_status list_labels(const ulna_coordinates *coordinates, ulna_names *labels, ulna_names *plain)
{
    char text[ULNA_COORDINATE_LABEL];
    ulna_status status = ULNA_OK;
    for (int c = 0; c < ulna_model_coordinate_count(coordinates->model) && status == ULNA_OK; c++) {
        ulna_coordinate_label(coordinates, c, text);
        status = ulna_names_add(labels, text);
        without_blanks(text);
        if (status == ULNA_OK)
            status = ulna_names_add(plain, text);
    }
    return status;
}

/* By name; by name but for the case of letters; with blanks as underlines. OpenSim's states have a path around the name:
 * /jointset/hip_r/hip_flexion_r/value. */
static int find_label(const ulna_names *labels, const ulna_names *plain, ulna_word cell)
{
    char text[4 * ULNA_COORDINATE_LABEL], *name = text;
    if (!ulna_cell_copy(cell, text, sizeof text))
        return ULNA_NONE;
    int found = ulna_names_find_like(labels, name);
    size_t length = strlen(text);
    if (found == ULNA_NONE && text[0] == '/' && length > 6 && strcmp(text + length - 6, "/value") == 0) {
        text[length - 6] = 0;
        name = strrchr(text, '/') + 1;
        found = ulna_names_find_like(labels, name);
    }
    if (found != ULNA_NONE)
        return found;
    without_blanks(name);
    return ulna_names_find_like(plain, name);
}

/* Names for a remark, as many as fit. */
typedef struct name_list {
    char text[120];
    size_t count, shown;
} name_list;

static void list_name(name_list *list, ulna_word cell)
{
    char name[64];
    size_t used = strlen(list->text);
    ulna_cell_copy((ulna_word){cell.text, cell.length < 40 ? cell.length : 40}, name, sizeof name);
    if (list->shown == list->count && used + strlen(name) + 10 < sizeof list->text) {
        snprintf(list->text + used, sizeof list->text - used, "%s'%s'", list->count ? ", " : "", name);
        list->shown++;
    } else if (list->shown == list->count)
        snprintf(list->text + used, sizeof list->text - used, ", ...");
    list->count++;
}

/* A quaternion needs all four of its numbers. */
static void drop_partial_quaternions(reader *r)
{
    int nq = ulna_model_coordinate_count(r->model), i;
    for (int c = 0; c < nq; c += i) {
        int there = 0;
        for (i = 0; c + i < nq && i < 4 && r->coordinates.dof[c + i] < 0; i++)
            there += r->column[c + i] != ULNA_NONE;
        if (there > 0 && there < i) {
            for (int k = c; k < c + i; k++)
                if (r->column[k] != ULNA_NONE) {
                    r->target[r->column[k]] = ULNA_NONE;
                    r->column[k] = ULNA_NONE;
                }
            ulna_remarks_add(&r->content->remarks, r->table->scan->line, -1,
                             "the quaternion of '%s' lacks some of the columns .qx, .qy, .qz and .qw; it is left out",
                             ulna_model_body_name(r->model, -1 - r->coordinates.dof[c]));
        }
        i = i ? i : 1;
    }
}

static void match(reader *r, const ulna_names *labels, const ulna_names *plain)
{
    const ulna_joint_table *table = r->table;
    name_list unknown = {0}, twice = {0};
    for (size_t i = 0; i < table->columns->count; i++) {
        ulna_word cell = table->columns->items[i];
        r->target[i] = ULNA_NONE;
        if ((int)i == table->frame_column || (int)i == table->time_column)
            continue;
        int found = find_label(labels, plain, cell);
        if (found == ULNA_NONE)
            list_name(&unknown, cell);
        else if (r->column[found] != ULNA_NONE)
            list_name(&twice, cell);
        else {
            r->target[i] = found;
            r->column[found] = (int)i;
        }
    }
    if (unknown.count)
        ulna_remarks_add(&r->content->remarks, table->scan->line, -1,
                         "%zu columns do not name degrees of freedom of the skeleton and are left out: %s",
                         unknown.count, unknown.text);
    if (twice.count)
        ulna_remarks_add(&r->content->remarks, table->scan->line, -1, "%zu columns occur twice; the first is used: %s",
                         twice.count, twice.text);
    drop_partial_quaternions(r);
    for (size_t i = 0; i < table->columns->count; i++)
        if (r->target[i] != ULNA_NONE) {
            ulna_coordinate_kind kind = ulna_coordinate_is(&r->coordinates, r->target[i]);
            r->scale[i] = kind == ULNA_IS_ANGLE ? table->angle : kind == ULNA_IS_LENGTH ? table->unit_m : 1;
        }
}

static ulna_status check_match(const reader *r)
{
    int nq = ulna_model_coordinate_count(r->model), there = 0, absent = ULNA_NONE;
    char text[ULNA_COORDINATE_LABEL];
    for (int c = 0; c < nq; c++)
        if (r->column[c] != ULNA_NONE)
            there++;
        else if (absent == ULNA_NONE)
            absent = c;
    if (absent == ULNA_NONE)
        return ULNA_OK;
    ulna_coordinate_label(&r->coordinates, absent, text);
    if (there == 0)
        return ulna_scan_fail(r->table->scan, NULL, r->error, ULNA_ERR_PARSE,
                              "no column names a degree of freedom of the skeleton, such as '%.100s'", text);
    ulna_remarks_add(&r->content->remarks, r->table->scan->line, -1,
                     "%d of %d coordinates have no column and keep their rest value, such as '%.100s'", nq - there, nq,
                     text);
    return ULNA_OK;
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

static ulna_status fail_cell(const reader *r, ulna_word cell, const char *what)
{
    char text[100];
    ulna_cell_copy((ulna_word){cell.text, cell.length < 40 ? cell.length : 40}, text, sizeof text);
    return ulna_scan_fail(r->table->scan, &cell, r->error, ULNA_ERR_PARSE, "'%s' is not a %s", text, what);
}

static ulna_status add_frame(reader *r)
{
    ulna_clip *clip = &r->content->clip;
    size_t nq = (size_t)ulna_model_coordinate_count(r->model);
    double bytes = (double)nq * sizeof(double) * (clip->frame_count + 1.0);
    if (clip->frame_count == INT_MAX || bytes > (double)MOST_GROWTH * (double)r->table->scan->length + FREE_BYTES)
        return ulna_scan_fail(r->table->scan, NULL, r->error, ULNA_ERR_LIMIT,
                              "the skeleton has %zu coordinates, but most of them have no column", nq);
    ulna_status status = ulna_clip_resize(clip, (int)nq, clip->frame_count + 1);
    if (status != ULNA_OK)
        return ulna_scan_fail(r->table->scan, NULL, r->error, status, "no memory for frame %d", clip->frame_count + 1);
    memcpy(ulna_clip_frame(clip, clip->frame_count - 1), ulna_model_rest(r->model), nq * sizeof(double));
    return ULNA_OK;
}

static ulna_status read_time(reader *r, ulna_word cell)
{
    double value;
    if (!ulna_cell_number(cell, r->table->delimiter, &value))
        return fail_cell(r, cell, "time");
    ulna_status status = ulna_times_add(&r->times, value, r->table->scan->line);
    return status == ULNA_OK ? ULNA_OK : ulna_scan_fail(r->table->scan, NULL, r->error, status, "no memory for times");
}

static ulna_status read_number(reader *r, ulna_word cell)
{
    double value;
    int is_number = ulna_cell_number(cell, r->table->delimiter, &value) &&
                    ulna_frame_numbers_add(&r->numbers, r->content->clip.frame_count - 1, value, r->table->scan->line);
    return is_number ? ULNA_OK : fail_cell(r, cell, "frame number");
}

/* Columns that are none of the skeleton's may hold anything. */
static ulna_status read_value(reader *r, int column, ulna_word cell, double *q)
{
    if (column == r->table->time_column)
        return read_time(r, cell);
    if (column == r->table->frame_column)
        return read_number(r, cell);
    if (r->target[column] == ULNA_NONE)
        return ULNA_OK;
    double *value = &q[r->target[column]];
    if (!ulna_cell_value(cell, r->table->delimiter, r->scale[column], value))
        return fail_cell(r, cell, "number");
    return isfinite(*value) ? ULNA_OK : fail_cell(r, cell, "usable number: it is too large");
}

/* Quaternions of a file are of length 1 but for rounding. */
static ulna_status check_quaternions(reader *r, double *q)
{
    int nq = ulna_model_coordinate_count(r->model);
    for (int c = 0; c + 3 < nq; c++) {
        if (r->coordinates.dof[c] >= 0)
            continue;
        double length = sqrt(q[c] * q[c] + q[c + 1] * q[c + 1] + q[c + 2] * q[c + 2] + q[c + 3] * q[c + 3]);
        if (!(length > 1e-6) || !isfinite(length))
            return ulna_scan_fail(r->table->scan, NULL, r->error, ULNA_ERR_PARSE,
                                  "the quaternion of '%s' has length %g instead of 1",
                                  ulna_model_body_name(r->model, -1 - r->coordinates.dof[c]), length);
        if (fabs(length - 1) > 1e-6) {
            r->far_line = r->unnormal++ ? r->far_line : r->table->scan->line;
            for (int k = 0; k < 4; k++)
                q[c + k] /= length;
        }
        c += 3;
    }
    return ULNA_OK;
}

static ulna_status read_row(reader *r)
{
    const ulna_joint_table *table = r->table;
    const ulna_scan *scan = table->scan;
    size_t columns = table->columns->count, column = 0;
    if (ulna_row_whole(scan, table->delimiter, columns) != SIZE_MAX) {
        ulna_remarks_add(&r->content->remarks, scan->line, -1, "the file ends inside this row, which is left out");
        return ULNA_OK;
    }
    ulna_status status = add_frame(r);
    if (status != ULNA_OK)
        return status;
    ulna_row row = ulna_row_start(scan, table->delimiter);
    ulna_word cell;
    double *q = ulna_clip_frame(&r->content->clip, r->content->clip.frame_count - 1);
    for (; status == ULNA_OK && ulna_row_next(&row, &cell); column++)
        if (column < columns)
            status = read_value(r, (int)column, cell, q);
        else if (cell.length)
            return ulna_scan_fail(scan, &cell, r->error, ULNA_ERR_PARSE,
                                  "this row has more values than the %zu columns", columns);
    if (status != ULNA_OK)
        return status;
    if (column < columns)
        return ulna_scan_fail(scan, NULL, r->error, ULNA_ERR_PARSE,
                              "this row has %zu values, but %zu columns are named", column, columns);
    return check_quaternions(r, q);
}

static ulna_status read_rows(reader *r)
{
    ulna_scan *scan = r->table->scan;
    ulna_clip *clip = &r->content->clip;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && ulna_scan_line(scan))
        if (!ulna_row_is_blank(scan, r->table->delimiter) && *scan->here != '#')
            status = read_row(r);
    if (status == ULNA_OK && clip->frame_count == 0)
        status =
            ulna_scan_fail(scan, NULL, r->error, ULNA_ERR_PARSE, "columns are named, but no rows of values follow");
    if (status != ULNA_OK)
        return status;
    ulna_frame_numbers_remark(&r->numbers, &r->content->remarks);
    if (r->unnormal)
        ulna_remarks_add(&r->content->remarks, r->far_line, -1,
                         "%lld quaternions are not of length 1, the first one here; they are normalised", r->unnormal);
    ulna_times_judge(&r->times, r->table->rate, r->numbers.first, &r->content->remarks, &clip->frame_seconds,
                     &clip->first_frame);
    return ULNA_OK;
}

static ulna_status prepare(reader *r)
{
    size_t nq = (size_t)ulna_model_coordinate_count(r->model), columns = r->table->columns->count;
    ulna_names labels = ulna_names_empty(r->allocator), plain = ulna_names_empty(r->allocator);
    ulna_status status = ulna_coordinates_fill(&r->coordinates, r->model, r->allocator);
    r->target = ulna_allocate(r->allocator, columns, sizeof *r->target);
    r->scale = ulna_allocate(r->allocator, columns, sizeof *r->scale);
    r->column = ulna_allocate(r->allocator, nq, sizeof *r->column);
    if (status == ULNA_OK && (!r->target || !r->scale || !r->column))
        status = ULNA_ERR_MEMORY;
    if (status == ULNA_OK)
        status = list_labels(&r->coordinates, &labels, &plain);
    for (size_t c = 0; r->column && c < nq; c++)
        r->column[c] = ULNA_NONE;
    if (status == ULNA_OK)
        match(r, &labels, &plain);
    ulna_names_release(&labels);
    ulna_names_release(&plain);
    return status == ULNA_OK
               ? check_match(r)
               : ulna_scan_fail(r->table->scan, NULL, r->error, status, "no memory for the names of the columns");
}

ulna_status ulna_joint_table_read(const ulna_joint_table *table, const ulna_model *model, ulna_content *content,
                                  ulna_error *error)
{
    const ulna_allocator *allocator = &content->remarks.allocator;
    if (ulna_model_coordinate_count(model) == 0)
        return ulna_scan_fail(table->scan, NULL, error, ULNA_ERR_STATE, "the skeleton has no joints that move");
    reader r = {.table = table,
                .model = model,
                .content = content,
                .error = error,
                .allocator = allocator,
                .times = {.allocator = allocator},
                .numbers = {.first = ULNA_NO_FRAME}};
    ulna_status status = prepare(&r);
    if (status == ULNA_OK)
        status = read_rows(&r);
    ulna_times_release(&r.times);
    ulna_release(allocator, r.target, table->columns->count, sizeof *r.target);
    ulna_release(allocator, r.scale, table->columns->count, sizeof *r.scale);
    ulna_release(allocator, r.column, (size_t)ulna_model_coordinate_count(model), sizeof *r.column);
    ulna_coordinates_release(&r.coordinates, allocator);
    return status;
}

int ulna_joint_columns(const ulna_model *model, const ulna_cells *columns, const ulna_allocator *allocator)
{
    ulna_coordinates coordinates;
    ulna_names labels = ulna_names_empty(allocator), plain = ulna_names_empty(allocator);
    int found = 0;
    if (ulna_model_coordinate_count(model) == 0)
        return 0;
    ulna_status status = ulna_coordinates_fill(&coordinates, model, allocator);
    if (status == ULNA_OK)
        status = list_labels(&coordinates, &labels, &plain);
    for (size_t i = 0; status == ULNA_OK && !found && i < columns->count; i++)
        found = find_label(&labels, &plain, columns->items[i]) != ULNA_NONE;
    ulna_names_release(&labels);
    ulna_names_release(&plain);
    ulna_coordinates_release(&coordinates, allocator);
    return status == ULNA_OK ? found : -1;
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

ulna_status ulna_joint_table_check(const ulna_writing *writing, const char *format, ulna_error *error)
{
    if (!writing->model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "%s names degrees of freedom: writing it needs the skeleton",
                         format);
    const ulna_clip *clip = writing->clip;
    int nq = ulna_model_coordinate_count(writing->model);
    if (clip->coordinate_count != nq)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "the motion has %d coordinates per frame, but the skeleton has %d",
                         clip->coordinate_count, nq);
    for (int f = 0; f < clip->frame_count; f++)
        for (int c = 0; c < nq; c++)
            if (!(fabs(ulna_clip_frame(clip, f)[c]) < 1e300)) /* finite in degrees too */
                return ulna_fail(error, ULNA_ERR_NUMBER, "frame %d has a value that cannot be written", f + 1);
    if (nq == 0)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "the skeleton has no joints that move");
    if (nq != ulna_model_dof_count(writing->model))
        ulna_remarks_add(writing->remarks, 0, -1, "quaternions are written as columns .qx, .qy, .qz, .qw");
    return ULNA_OK;
}
