/*
 * Goals as rows of a CSV file, for --each and --path: which column is which number of which tip, and one row after the other, so that
 * a file of any length needs no memory.
 */
#define _POSIX_C_SOURCE 200809L /* getc_unlocked */

#include "cli/reach/reach.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/algorithms.h"

enum { MOST_LINE = 1 << 16, SLOTS = REACH_GOAL_NUMBERS };
#define MOST_COPIED 4294967296.0 /* bytes of a pipe */

static const char *const slot_names[SLOTS] = {"x", "y", "z", "qx", "qy", "qz", "qw"};

/* ---- lines ------------------------------------------------------------------------------------------------------------------- */

static ulna_status fail_at(const reach_rows *rows, ulna_error *error)
{
    error->line = rows->number;
    return error->status;
}

/* The next line with something in it that is no comment; NULL at the end, and after an error. */
static char *read_line(reach_rows *rows, ulna_error *error)
{
    for (;;) {
        size_t length = 0;
        int c = getc_unlocked(rows->file);
        if (c == EOF) {
            if (ferror(rows->file))
                cli_fail(error, ULNA_ERR_IO, "cannot be read: %s", strerror(errno));
            return NULL;
        }
        for (rows->number++; c != EOF && c != '\n'; c = getc_unlocked(rows->file)) {
            if (c == 0)
                cli_fail(error, ULNA_ERR_PARSE, "the file is not text: it has a zero byte");
            else if (length + 1 == MOST_LINE)
                cli_fail(error, ULNA_ERR_LIMIT, "the line has more than %d bytes", MOST_LINE - 1);
            if (error->status != ULNA_OK) {
                fail_at(rows, error);
                return NULL;
            }
            rows->line[length++] = (char)c;
        }
        rows->line[length] = 0;
        char *text = rows->line;
        if (rows->number == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0)
            text += 3;
        while (length > 0 && (rows->line[length - 1] == '\r' || rows->line[length - 1] == ' '))
            rows->line[--length] = 0;
        text += strspn(text, " ");
        if (text[strspn(text, " \t")] && *text != '#')
            return text;
    }
}

/* Cuts a line into cells, without blanks and quotes around them; returns their number. */
static int cut(reach_rows *rows, char *line, char **cells, int most)
{
    const char separators[] = {rows->delimiter, 0};
    int count = fields_split(line, separators, cells, most);
    for (int i = 0; i < count && i < most; i++) {
        cells[i] = fields_trim(cells[i]);
        size_t length = strlen(cells[i]);
        if (length >= 2 && cells[i][0] == '"' && cells[i][length - 1] == '"') {
            cells[i][length - 1] = 0;
            cells[i] = fields_trim(cells[i] + 1);
        }
    }
    return count;
}

/* Blanks are made one, so that they divide like any other separator. */
static void choose_delimiter(reach_rows *rows, const char *line)
{
    rows->delimiter = strchr(line, ';') ? ';' : strchr(line, ',') ? ',' : strchr(line, '\t') ? '\t' : ' ';
}

static void join_blanks(char *line)
{
    char *to = line;
    for (const char *from = line; *from; from++)
        if (*from != ' ' || (to > line && to[-1] != ' '))
            *to++ = *from;
    *to = 0;
}

static int is_number(const char *cell)
{
    char *end;
    (void)strtod(cell, &end);
    return end != cell;
}

/* ---- columns ------------------------------------------------------------------------------------------------------------------ */

static int *column_of(reach_rows *rows, int tip, int slot)
{
    return &rows->column[tip * SLOTS + slot];
}

/* Without a heading columns go by their number: 3 or 7 for each tip, and perhaps the time of a path before them. */
static ulna_status number_columns(reach_rows *rows, ulna_error *error)
{
    int tips = rows->job->tip_count, count = rows->columns;
    int has_time = rows->is_path && (count == 3 * tips + 1 || count == SLOTS * tips + 1),
        each = (count - has_time) / tips;
    if (count - has_time != 3 * tips && count - has_time != SLOTS * tips)
        return cli_fail(
            error, ULNA_ERR_PARSE,
            "%d column%s: a row has x,y,z or x,y,z,qx,qy,qz,qw for %s%s; a first line with such names allows other orders",
            count, count == 1 ? "" : "s", tips == 1 ? "the tip" : "each tip, one tip after the other",
            rows->is_path ? ", and perhaps a time in seconds before them" : "");
    rows->time_column = has_time ? 0 : ULNA_NONE;
    for (int i = 0; i < each * tips; i++)
        *column_of(rows, i / each, i % each) = has_time + i;
    return ULNA_OK;
}

/* A name of ours, with the unit that it has here or without: "x" and "x_m". */
static int is_called(const char *name, const char *own, const char *unit)
{
    char whole[16];
    snprintf(whole, sizeof whole, "%s_%s", own, unit);
    return ulna_compare_names(name, own) == 0 || (*unit && ulna_compare_names(name, whole) == 0);
}

/* The slot of "x", and the tip of "tool:x" or "tool.x"; the first one that has no column yet for a name alone. */
static int find_slot(reach_rows *rows, const char *name, int *tip)
{
    const reach_job *job = rows->job;
    size_t length = strlen(name), head = length;
    while (head > 0 && name[head - 1] != ':' && name[head - 1] != '.')
        head--;
    for (int slot = 0; slot < SLOTS; slot++) {
        if (!is_called(name + head, slot_names[slot], slot < 3 ? "m" : ""))
            continue;
        for (*tip = 0; *tip < job->tip_count; ++*tip) {
            const char *own = job->tip[*tip].name;
            int is_it = head == 0 || (strlen(own) == head - 1 && strncmp(own, name, head - 1) == 0);
            if (is_it && *column_of(rows, *tip, slot) == ULNA_NONE)
                return slot;
        }
    }
    return ULNA_NONE;
}

/* The heading: columns by name, in any order. One without a name, as pandas writes its index, means nothing. */
static ulna_status name_columns(reach_rows *rows, char *const *cells, ulna_error *error)
{
    for (int i = 0; i < rows->columns; i++) {
        int tip, slot = find_slot(rows, cells[i], &tip);
        if (slot != ULNA_NONE)
            *column_of(rows, tip, slot) = i;
        else if (rows->time_column == ULNA_NONE &&
                 (is_called(cells[i], "time", "s") || ulna_compare_names(cells[i], "t") == 0))
            rows->time_column = i;
        else if (*cells[i])
            return cli_fail(
                error, ULNA_ERR_PARSE,
                "column %d, '%.60s', is unknown, or there twice: the columns are x,y,z (in metres) and qx,qy,qz,qw; those of "
                "one of several tips are %.60s:x and so on",
                i + 1, cells[i], rows->job->tip[0].name);
    }
    for (int t = 0; t < rows->job->tip_count; t++)
        for (int slot = 0; slot < SLOTS; slot++) {
            int first = slot < 3 ? 0 : 3, last = slot < 3 ? 3 : SLOTS, other = slot < 3 ? 3 : 0, is_begun = 0;
            for (int k = first; k < last; k++)
                is_begun |= *column_of(rows, t, k) != ULNA_NONE;
            int is_needed = is_begun || (first == 0 && *column_of(rows, t, other) == ULNA_NONE);
            if (is_needed && *column_of(rows, t, slot) == ULNA_NONE)
                return cli_fail(error, ULNA_ERR_PARSE, "there is no column %s for tip %.60s", slot_names[slot],
                                rows->job->tip[t].name);
        }
    return ULNA_OK;
}

/* Reads the heading, if there is one, and the number of columns. */
static ulna_status read_layout(reach_rows *rows, ulna_error *error)
{
    char *cells[REACH_MOST_COLUMNS + 1], *line = read_line(rows, error);
    if (!line)
        return error->status != ULNA_OK ? error->status
                                        : cli_fail(error, ULNA_ERR_PARSE, "the file is empty: it has no goals");
    choose_delimiter(rows, line);
    if (rows->delimiter == ' ')
        join_blanks(line);
    rows->columns = cut(rows, line, cells, REACH_MOST_COLUMNS);
    int numbers = 0;
    for (int i = 0; i < rows->columns && i < REACH_MOST_COLUMNS; i++)
        numbers += is_number(cells[i]);
    rows->has_heading = numbers == 0;
    ulna_status status = rows->columns > REACH_MOST_COLUMNS
                             ? cli_fail(error, ULNA_ERR_PARSE, "more than %d columns", REACH_MOST_COLUMNS)
                         : rows->has_heading ? name_columns(rows, cells, error)
                                             : number_columns(rows, error);
    return status == ULNA_OK ? ULNA_OK : fail_at(rows, error);
}

/* ---- rows --------------------------------------------------------------------------------------------------------------------- */

static ulna_status read_cell(const reach_rows *rows, char *const *cells, int column, double *number, ulna_error *error)
{
    char *cell = cells[column], *end;
    for (char *at = cell; rows->delimiter != ',' && *at; at++) /* decimal commas, as spreadsheets write them */
        if (*at == ',')
            *at = '.';
    *number = strtod(cell, &end);
    if (!*cell)
        return cli_fail(error, ULNA_ERR_PARSE, "column %d is empty: each goal needs all its numbers", column + 1);
    if (end == cell || *end || !isfinite(*number))
        return cli_fail(error, ULNA_ERR_PARSE, "column %d, '%.60s', is not a finite number", column + 1, cell);
    return ULNA_OK;
}

static ulna_status read_goal(reach_rows *rows, char *const *cells, int tip, ulna_reach_goal *target, ulna_error *error)
{
    double n[SLOTS] = {0, 0, 0, 0, 0, 0, 1};
    ulna_status status = ULNA_OK;
    for (int slot = 0; slot < SLOTS && status == ULNA_OK; slot++)
        if (*column_of(rows, tip, slot) != ULNA_NONE)
            status = read_cell(rows, cells, *column_of(rows, tip, slot), &n[slot], error);
    if (status == ULNA_OK && !(hypot(hypot(n[3], n[4]), hypot(n[5], n[6])) > 0))
        status = cli_fail(error, ULNA_ERR_PARSE, "the quaternion of tip %.60s is zero", rows->job->tip[tip].name);
    memcpy(target->position, n, sizeof target->position);
    memcpy(target->rotation, n + 3, sizeof target->rotation);
    return status;
}

ulna_status reach_rows_next(reach_rows *rows, ulna_reach_goal *targets, double *seconds, int *is_there,
                            ulna_error *error)
{
    char *cells[REACH_MOST_COLUMNS + 1], *line = read_line(rows, error);
    ulna_reach_error errors[REACH_MOST_TIPS];
    ulna_status status = ULNA_OK;
    *is_there = 0;
    if (!line)
        return error->status;
    if (rows->delimiter == ' ')
        join_blanks(line);
    int count = cut(rows, line, cells, REACH_MOST_COLUMNS);
    if (count != rows->columns)
        status = cli_fail(error, ULNA_ERR_PARSE, "%d column%s; the lines above have %d", count, count == 1 ? "" : "s",
                          rows->columns);
    for (int t = 0; t < rows->job->tip_count && status == ULNA_OK; t++)
        status = read_goal(rows, cells, t, &targets[t], error);
    if (status == ULNA_OK && rows->time_column != ULNA_NONE)
        status = read_cell(rows, cells, rows->time_column, seconds, error);
    if (status == ULNA_OK && ulna_reach_measure(rows->job->work, targets, rows->job->seed, errors) == ULNA_ERR_NUMBER)
        status = cli_fail(error, ULNA_ERR_PARSE, "a goal is too far away for this robot of about %.3g m",
                          ulna_model_length_scale(rows->job->model));
    *is_there = status == ULNA_OK;
    return status == ULNA_OK ? ULNA_OK : fail_at(rows, error);
}

/* ---- the file ------------------------------------------------------------------------------------------------------------------ */

/* A pipe is copied to a file without a name, which can be read twice. */
static ulna_status make_seekable(reach_rows *rows, ulna_error *error)
{
    char bytes[1 << 14];
    size_t length;
    if (fseek(rows->file, 0, SEEK_SET) == 0)
        return ULNA_OK;
    FILE *copy = tmpfile();
    if (!copy)
        return cli_fail(error, ULNA_ERR_IO, "there is no place for a copy of it: %s", strerror(errno));
    int is_written = 1;
    double copied = 0;
    while (is_written && copied <= MOST_COPIED && (length = fread(bytes, 1, sizeof bytes, rows->file)) > 0) {
        is_written = fwrite(bytes, 1, length, copy) == length;
        copied += (double)length;
    }
    int is_read = !ferror(rows->file);
    (void)fclose(rows->file);
    rows->file = copy;
    rewind(copy);
    if (copied > MOST_COPIED)
        return cli_fail(error, ULNA_ERR_LIMIT, "the pipe has more than 4 GiB: give the rows as a file");
    return is_read && is_written ? ULNA_OK : cli_fail(error, ULNA_ERR_IO, "it cannot be copied: %s", strerror(errno));
}

ulna_status reach_rows_open(reach_rows *rows, const reach_job *job, const char *path, int is_path, ulna_error *error)
{
    *rows = (reach_rows){.job = job, .is_path = is_path, .time_column = ULNA_NONE, .line = malloc(MOST_LINE)};
    for (int i = 0; i < REACH_MOST_TIPS * SLOTS; i++)
        rows->column[i] = ULNA_NONE;
    if (!rows->line)
        return cli_no_memory(error);
    rows->file = fopen(strcmp(path, "-") == 0 ? "/dev/stdin" : path, "rb");
    if (!rows->file)
        return cli_fail(error, ULNA_ERR_IO, "cannot be opened: %s", strerror(errno));
    ulna_status status = make_seekable(rows, error);
    if (status == ULNA_OK)
        status = read_layout(rows, error);
    return status == ULNA_OK ? reach_rows_restart(rows, error) : status;
}

ulna_status reach_rows_restart(reach_rows *rows, ulna_error *error)
{
    if (fseek(rows->file, 0, SEEK_SET) != 0)
        return cli_fail(error, ULNA_ERR_IO, "cannot be read again: %s", strerror(errno));
    clearerr(rows->file);
    rows->number = 0;
    if (rows->has_heading)
        (void)read_line(rows, error);
    return error->status;
}

int reach_rows_has(const reach_rows *rows, int tip, int slot)
{
    return rows->column[tip * SLOTS + slot] != ULNA_NONE;
}

void reach_rows_close(reach_rows *rows)
{
    if (rows->file)
        (void)fclose(rows->file);
    free(rows->line);
    *rows = (reach_rows){0};
}
