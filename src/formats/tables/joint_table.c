/* Joint values in columns, as MOT and CSV have them: see table.h. */
#include "formats/format.h"
#include "formats/tables/table.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/markers.h"
#include "formats/text/names.h"
#include "math/math3.h"

/* ---- coordinates -------------------------------------------------------------------------------------------------- */

enum { LABEL = 288 /* a body's name, a suffix, a unit, a zero byte */ };

/* What each coordinate is, for its label and its unit. */
typedef struct coordinates {
    const ulna_model *model;
    int *dof;  /* nq; for a quaternion -1 - body */
    int *part; /* nq; 0 to 3 in a quaternion */
} coordinates;

static void release_coordinates(coordinates *list, const ulna_allocator *allocator)
{
    size_t nq = (size_t)ulna_model_coordinate_count(list->model);
    ulna_release(allocator, list->dof, nq, sizeof *list->dof);
    ulna_release(allocator, list->part, nq, sizeof *list->part);
}

/* Release it in any case. */
static ulna_status fill_coordinates(coordinates *list, const ulna_model *model, const ulna_allocator *allocator)
{
    size_t nq = (size_t)ulna_model_coordinate_count(model);
    *list = (coordinates){model, ulna_allocate(allocator, nq, sizeof *list->dof),
                          ulna_allocate(allocator, nq, sizeof *list->part)};
    if (!list->dof || !list->part)
        return ULNA_ERR_MEMORY;
    for (int b = 0; b < ulna_model_body_count(model); b++) {
        int first, dof, count = ulna_model_body_coordinates(model, b, &first),
                        dofs = ulna_model_body_dofs(model, b, &dof);
        for (int k = 0; k < count; k++)
            list->dof[first + k] = -1 - b;
        for (int k = 0; k < dofs; k++)
            if (ulna_model_dof_coordinate(model, dof + k) != ULNA_NONE)
                list->dof[ulna_model_dof_coordinate(model, dof + k)] = dof + k;
        for (int k = 0, part = 0; k < count; k++)
            if (list->dof[first + k] < 0)
                list->part[first + k] = part++;
    }
    return ULNA_OK;
}

/* How many metres or radians a unit of the file is for this coordinate. */
static double scale_of(const coordinates *list, int c, double unit_m, double angle)
{
    int dof = list->dof[c];
    return dof < 0 ? 1 : ulna_model_dof_is_translation(list->model, dof) ? unit_m : angle;
}

static const char *unit_of(const coordinates *list, int c, double unit_m, int degrees)
{
    int dof = list->dof[c];
    return dof < 0                                           ? ""
           : ulna_model_dof_is_translation(list->model, dof) ? ulna_length_unit_name(unit_m)
           : degrees                                         ? "deg"
                                                             : "rad";
}

static void put_label(const coordinates *list, int c, char text[LABEL])
{
    static const char *const parts[] = {"qx", "qy", "qz", "qw"};
    int dof = list->dof[c];
    if (dof >= 0)
        ulna_model_dof_label(list->model, dof, text, LABEL);
    else
        snprintf(text, LABEL, "%s.%s", ulna_model_body_name(list->model, -1 - dof), parts[list->part[c] & 3]);
}

/* ---- which column is which coordinate ------------------------------------------------------------------------------- */

typedef struct reader {
    ulna_table *table;
    const ulna_model *model;
    coordinates coordinates;
    int *target;   /* per column: its coordinate, or ULNA_NONE */
    double *scale; /* per column */
    int *column;   /* per coordinate: its column, or ULNA_NONE */
    int far_line;
    long long unnormal;
} reader;

/* Every coordinate by its label, as it is and as MOT has it. */
typedef struct labels {
    ulna_names exact, plain;
} labels;

/* Writers of MOT replace blanks and quotes with underscores. Returns 1 if there were any. */
static int without_blanks(char *text)
{
    int is_changed = 0;
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || *text == 127 || *text == '"') {
            *text = '_';
            is_changed = 1;
        }
    return is_changed;
}

/* Release it in any case. */
static ulna_status list_labels(const coordinates *list, const ulna_allocator *allocator, labels *all)
{
    char text[LABEL];
    ulna_status status = ULNA_OK;
    *all = (labels){ulna_names_empty(allocator), ulna_names_empty(allocator)};
    for (int c = 0; c < ulna_model_coordinate_count(list->model) && status == ULNA_OK; c++) {
        put_label(list, c, text);
        status = ulna_names_add(&all->exact, text);
        without_blanks(text);
        if (status == ULNA_OK)
            status = ulna_names_add(&all->plain, text);
    }
    return status;
}

static void release_labels(labels *all)
{
    ulna_names_release(&all->exact);
    ulna_names_release(&all->plain);
}

/* By name; by name but for the case of letters; with blanks as underscores. OpenSim's states have a path around the name:
 * /jointset/hip_r/hip_flexion_r/value. */
static int find_label(const labels *all, ulna_word cell)
{
    char text[4 * LABEL], *name = text;
    if (!ulna_cell_copy(cell, text, sizeof text))
        return ULNA_NONE;
    int found = ulna_names_find_like(&all->exact, name);
    size_t length = strlen(text);
    if (found == ULNA_NONE && text[0] == '/' && length > 6 && strcmp(text + length - 6, "/value") == 0) {
        text[length - 6] = 0;
        name = strrchr(text, '/') + 1;
        found = ulna_names_find_like(&all->exact, name);
    }
    if (found != ULNA_NONE)
        return found;
    without_blanks(name);
    return ulna_names_find_like(&all->plain, name);
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
            ulna_remarks_add(&r->table->content->remarks, r->table->scan.line, -1,
                             "the quaternion of '%s' lacks some of the columns .qx, .qy, .qz and .qw; it is left out",
                             ulna_model_body_name(r->model, -1 - r->coordinates.dof[c]));
        }
        i = i ? i : 1;
    }
}

static void match(reader *r, const labels *all)
{
    const ulna_table *table = r->table;
    ulna_remarks *remarks = &table->content->remarks;
    name_list unknown = {0}, twice = {0};
    for (size_t i = 0; i < table->columns.count; i++) {
        ulna_word cell = table->columns.items[i];
        r->target[i] = ULNA_NONE;
        if ((int)i == table->frame_column || (int)i == table->time_column || (table->is_answers && i < table->first))
            continue;
        int found = find_label(all, cell);
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
        ulna_remarks_add(remarks, table->scan.line, -1,
                         "%zu columns do not name degrees of freedom of the skeleton and are left out: %s",
                         unknown.count, unknown.text);
    if (twice.count)
        ulna_remarks_add(remarks, table->scan.line, -1, "%zu columns occur twice; the first is used: %s", twice.count,
                         twice.text);
    drop_partial_quaternions(r);
    for (size_t i = 0; i < table->columns.count; i++)
        if (r->target[i] != ULNA_NONE)
            r->scale[i] = scale_of(&r->coordinates, r->target[i], table->unit_m, table->degrees ? ULNA_PI / 180 : 1);
}

static ulna_status fail_names(const ulna_table *table, ulna_status status)
{
    return ulna_scan_fail(&table->scan, NULL, table->error, status, "no memory for the names of the columns");
}

static ulna_status check_match(const reader *r)
{
    int nq = ulna_model_coordinate_count(r->model), there = 0, absent = ULNA_NONE;
    char text[LABEL];
    for (int c = 0; c < nq; c++)
        if (r->column[c] != ULNA_NONE)
            there++;
        else if (absent == ULNA_NONE)
            absent = c;
    if (absent == ULNA_NONE)
        return ULNA_OK;
    put_label(&r->coordinates, absent, text);
    if (there == 0)
        return ulna_scan_fail(&r->table->scan, NULL, r->table->error, ULNA_ERR_PARSE,
                              "no column names a degree of freedom of the skeleton, such as '%.100s'", text);
    ulna_remarks_add(&r->table->content->remarks, r->table->scan.line, -1,
                     "%d of %d coordinates have no column and keep their rest value, such as '%.100s'", nq - there, nq,
                     text);
    return ULNA_OK;
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

static ulna_status add_frame(reader *r)
{
    ulna_clip *clip = &r->table->content->clip;
    size_t nq = (size_t)ulna_model_coordinate_count(r->model);
    if (!ulna_table_has_room(r->table, nq, clip->frame_count, 1 << 24))
        return ulna_scan_fail(&r->table->scan, NULL, r->table->error, ULNA_ERR_LIMIT,
                              "the skeleton has %zu coordinates, but most of them have no column", nq);
    ulna_status status = ulna_clip_resize(clip, (int)nq, clip->frame_count + 1);
    if (status != ULNA_OK)
        return ulna_scan_fail(&r->table->scan, NULL, r->table->error, status, "no memory for frame %d",
                              clip->frame_count + 1);
    memcpy(ulna_clip_frame(clip, clip->frame_count - 1), ulna_model_rest(r->model), nq * sizeof(double));
    return ULNA_OK;
}

/* Columns that are none of the skeleton's may hold anything. */
static ulna_status read_value(reader *r, size_t column, ulna_word cell, int frame, double *q)
{
    ulna_table *table = r->table;
    int is_value;
    if (column == (size_t)table->time_column && ulna_cell_is_missing(cell))
        return ulna_table_fail_cell(table, cell, "time");
    ulna_status status = ulna_table_read_time(table, column, cell, frame, &is_value);
    if (!is_value || r->target[column] == ULNA_NONE)
        return status;
    double *value = &q[r->target[column]];
    if (!ulna_cell_value(cell, table->delimiter, r->scale[column], value))
        return ulna_table_fail_cell(table, cell, "number");
    return isfinite(*value) ? ULNA_OK : ulna_table_fail_cell(table, cell, "usable number: it is too large");
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
            return ulna_scan_fail(&r->table->scan, NULL, r->table->error, ULNA_ERR_PARSE,
                                  "the quaternion of '%s' has length %g instead of 1",
                                  ulna_model_body_name(r->model, -1 - r->coordinates.dof[c]), length);
        if (fabs(length - 1) > 1e-6) {
            r->far_line = r->unnormal++ ? r->far_line : r->table->scan.line;
            for (int k = 0; k < 4; k++)
                q[c + k] /= length;
        }
        c += 3;
    }
    return ULNA_OK;
}

static ulna_status read_row(reader *r)
{
    const ulna_table *table = r->table;
    const ulna_scan *scan = &table->scan;
    ulna_clip *clip = &table->content->clip;
    size_t columns = table->columns.count, column = 0;
    if (ulna_row_whole(scan, table->delimiter, columns) != SIZE_MAX) {
        ulna_remarks_add(&table->content->remarks, scan->line, -1, "the file ends inside this row, which is left out");
        return ULNA_OK;
    }
    ulna_status status = add_frame(r);
    if (status != ULNA_OK)
        return status;
    ulna_row row = ulna_row_start(scan, table->delimiter);
    ulna_word cell;
    double *q = ulna_clip_frame(clip, clip->frame_count - 1);
    for (; status == ULNA_OK && ulna_row_next(&row, &cell); column++)
        if (column < columns)
            status = read_value(r, column, cell, clip->frame_count - 1, q);
        else if (cell.length)
            return ulna_scan_fail(scan, &cell, table->error, ULNA_ERR_PARSE,
                                  "this row has more values than the %zu columns", columns);
    if (status != ULNA_OK)
        return status;
    if (column < columns)
        return ulna_scan_fail(scan, NULL, table->error, ULNA_ERR_PARSE,
                              "this row has %zu values, but %zu columns are named", column, columns);
    return check_quaternions(r, q);
}

static ulna_status read_rows(reader *r)
{
    ulna_clip *clip = &r->table->content->clip;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && ulna_table_row(r->table))
        status = read_row(r);
    if (status == ULNA_OK && r->unnormal)
        ulna_remarks_add(&r->table->content->remarks, r->far_line, -1,
                         "%lld quaternions are not of length 1, the first one here; they are normalised", r->unnormal);
    return status == ULNA_OK ? ulna_table_finish(r->table, clip->frame_count, &clip->frame_seconds, &clip->first_frame)
                             : status;
}

static ulna_status prepare(reader *r)
{
    const ulna_allocator *allocator = r->table->columns.allocator;
    size_t nq = (size_t)ulna_model_coordinate_count(r->model), columns = r->table->columns.count;
    labels all = {0};
    ulna_status status = fill_coordinates(&r->coordinates, r->model, allocator);
    r->target = ulna_allocate(allocator, columns, sizeof *r->target);
    r->scale = ulna_allocate(allocator, columns, sizeof *r->scale);
    r->column = ulna_allocate(allocator, nq, sizeof *r->column);
    if (status == ULNA_OK && (!r->target || !r->scale || !r->column))
        status = ULNA_ERR_MEMORY;
    if (status == ULNA_OK)
        status = list_labels(&r->coordinates, allocator, &all);
    for (size_t c = 0; status == ULNA_OK && c < nq; c++)
        r->column[c] = ULNA_NONE;
    if (status == ULNA_OK)
        match(r, &all);
    release_labels(&all);
    return status == ULNA_OK ? check_match(r) : fail_names(r->table, status);
}

ulna_status ulna_joint_table_read(ulna_table *table)
{
    const ulna_allocator *allocator = table->columns.allocator;
    reader r = {.table = table, .model = table->options->model};
    size_t columns = table->columns.count, nq = (size_t)ulna_model_coordinate_count(r.model);
    if (nq == 0)
        return ulna_scan_fail(&table->scan, NULL, table->error, ULNA_ERR_STATE, "the skeleton has no joints that move");
    ulna_status status = prepare(&r);
    if (status == ULNA_OK)
        status = read_rows(&r);
    ulna_release(allocator, r.target, columns, sizeof *r.target);
    ulna_release(allocator, r.scale, columns, sizeof *r.scale);
    ulna_release(allocator, r.column, nq, sizeof *r.column);
    release_coordinates(&r.coordinates, allocator);
    return status;
}

ulna_status ulna_joint_columns(const ulna_table *table, int *is_found)
{
    const ulna_allocator *allocator = table->columns.allocator;
    coordinates list;
    labels all = {0};
    *is_found = 0;
    if (ulna_model_coordinate_count(table->options->model) == 0)
        return ULNA_OK;
    ulna_status status = fill_coordinates(&list, table->options->model, allocator);
    if (status == ULNA_OK)
        status = list_labels(&list, allocator, &all);
    for (size_t i = 0; status == ULNA_OK && !*is_found && i < table->columns.count; i++)
        *is_found = find_label(&all, table->columns.items[i]) != ULNA_NONE;
    release_labels(&all);
    release_coordinates(&list, allocator);
    return status == ULNA_OK ? ULNA_OK : fail_names(table, status);
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

ulna_status ulna_joint_table_check(const ulna_writing *writing, ulna_error *error)
{
    const ulna_clip *clip = writing->clip;
    int nq = ulna_model_coordinate_count(writing->model);
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

/* In a line there are no control characters, and between tabs no blanks: they would begin another column where files are read
 * by words. Returns 1 if the name had to be changed for that. Between commas, the unit ends the name. */
static int put_name(ulna_writer *out, char delimiter, char text[LABEL], const char *unit)
{
    int is_changed = delimiter == '\t' && without_blanks(text);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '_';
    ulna_print(out, "%c", delimiter);
    if (delimiter == '\t')
        ulna_put(out, text);
    else {
        size_t length = strlen(text);
        snprintf(text + length, LABEL - length, "%s%s", *unit ? "_" : "", unit);
        ulna_put_cell(out, text);
    }
    return is_changed;
}

ulna_status ulna_put_joint_table(ulna_writer *out, const ulna_writing *writing, char delimiter, double step,
                                 double unit, ulna_error *error)
{
    const ulna_clip *clip = writing->clip;
    const double angle = writing->options->degrees != 0 ? ULNA_PI / 180 : 1;
    coordinates list;
    char text[LABEL];
    int changed = 0;
    ulna_status status = fill_coordinates(&list, writing->model, &clip->allocator);
    ulna_put(out, step <= 0 ? "frame" : delimiter == ',' ? "time_s" : "time");
    for (int c = 0; c < clip->coordinate_count && status == ULNA_OK; c++) {
        put_label(&list, c, text);
        changed += put_name(out, delimiter, text, unit_of(&list, c, unit, writing->options->degrees));
    }
    for (int f = 0; f < clip->frame_count && status == ULNA_OK && out->status == ULNA_OK; f++) {
        const double *q = ulna_clip_frame(clip, f);
        ulna_put(out, "\n");
        if (step > 0)
            ulna_put_value(out, ulna_frame_time(step, (double)clip->first_frame + f), 1, 0);
        else
            ulna_print(out, "%lld", (long long)clip->first_frame + f);
        for (int c = 0; c < clip->coordinate_count; c++) {
            ulna_put_bytes(out, &delimiter, 1);
            ulna_put_value(out, q[c], scale_of(&list, c, unit, angle), writing->options->digits);
        }
    }
    ulna_put(out, "\n");
    release_coordinates(&list, &clip->allocator);
    if (changed)
        ulna_remarks_add(writing->remarks, 0, -1, "%d names have blanks, which are written as underscores", changed);
    return status == ULNA_OK ? ULNA_OK : ulna_fail(error, status, "no memory for the names of the columns");
}
