/* Sheets: tables as CSV files, written and read back. */
#include "cli/paper/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing --------------------------------------------------------------------------------------------------------- */

static void append(sheet *table, const char *text)
{
    if (!table->status)
        table->status = ulna_text_append(&table->text, text, strlen(text));
}

void sheet_begin(sheet *table, const char *headings)
{
    *table = (sheet){.text = ulna_text_empty(NULL)};
    append(table, headings);
    append(table, "\n");
}

/* A cell that is no number is a dash, not "nan" or "-nan"; names that have these letters in them stay. */
static void replace_nan(char *line)
{
    for (char *cell = line; *cell;) {
        size_t length = strcspn(cell, ",");
        size_t sign = *cell == '-';
        if (length == sign + 3 && strncmp(cell + sign, "nan", 3) == 0) {
            *cell = '-';
            memmove(cell + 1, cell + length, strlen(cell + length) + 1);
            length = 1;
        }
        cell += length + (cell[length] == ',');
    }
}

void sheet_row(sheet *table, const char *format, ...)
{
    char line[1001];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    replace_nan(line);
    append(table, line);
    append(table, "\n");
}

void sheet_release(sheet *table)
{
    ulna_text_release(&table->text);
    free(table->cells);
    *table = (sheet){.text = ulna_text_empty(NULL)};
}

/* ---- reading --------------------------------------------------------------------------------------------------------- */

/* Cuts one cell off, whose quotes are taken away in place. Returns what ended it: a comma, a newline or 0. */
static char cut_cell(char **next, char **cell)
{
    char *from = *next, *to = *next;
    int is_quoted = *from == '"';
    *cell = to;
    from += is_quoted;
    while (*from && (is_quoted || (*from != ',' && *from != '\n'))) {
        if (is_quoted && *from == '"') {
            if (from[1] != '"') {
                from++;
                break;
            }
            from++;
        }
        *to++ = *from++;
    }
    char end = *from;
    *to = 0;
    *next = end ? from + 1 : from;
    return end;
}

static int count_cells(const char *text)
{
    int count = 1;
    for (; *text; text++)
        count += *text == ',' || *text == '\n';
    return count;
}

static ulna_status parse(sheet *table, ulna_error *error)
{
    char *next = table->text.data, end = '\n';
    int count = 0, in_row = 0;
    if (table->status || !next)
        return cli_no_memory(error);
    table->cells = calloc((size_t)count_cells(next), sizeof *table->cells);
    if (!table->cells)
        return cli_no_memory(error);
    while (*next) {
        end = cut_cell(&next, &table->cells[count++]);
        in_row++;
        if (end == ',' && *next)
            continue;
        if (table->rows == 0)
            table->columns = in_row;
        if (in_row != table->columns)
            return cli_fail(error, ULNA_ERR_PARSE, "row %d has %d cells, where the headings have %d", table->rows,
                            in_row, table->columns);
        table->rows++;
        in_row = 0;
    }
    return ULNA_OK;
}

ulna_status sheet_load(sheet *table, const char *path, ulna_error *error)
{
    *table = (sheet){.text = ulna_text_empty(NULL)};
    ulna_status status = ulna_file_read(path, ULNA_MAX_INPUT_BYTES, &table->text, error);
    return status != ULNA_OK ? status : parse(table, error);
}

int sheet_count(const sheet *table)
{
    return table->rows > 0 ? table->rows - 1 : 0;
}

int sheet_column(const sheet *table, const char *name)
{
    for (int i = 0; i < table->columns; i++)
        if (strcmp(table->cells[i], name) == 0)
            return i;
    return -1;
}

const char *sheet_cell(const sheet *table, int row, int column)
{
    return column < 0 ? "" : table->cells[(size_t)(row + 1) * (size_t)table->columns + (size_t)column];
}

double sheet_number(const sheet *table, int row, int column)
{
    const char *text = sheet_cell(table, row, column);
    char *end;
    double value = strtod(text, &end);
    return end == text || *end ? (double)NAN : value;
}

int sheet_kinds(const sheet *table, int column, const char **kinds, int most)
{
    int count = 0;
    for (int row = 0; row < sheet_count(table); row++) {
        const char *text = sheet_cell(table, row, column);
        int k = 0;
        while (k < count && strcmp(kinds[k], text) != 0)
            k++;
        if (k == count && count < most)
            kinds[count++] = text;
    }
    return count;
}

/* ---- facts ------------------------------------------------------------------------------------------------------------- */

void sheet_put_facts(sheet *table, const char *prefix, const json_t *facts)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)facts, key, value)
    {
        char name[200];
        snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", key);
        if (json_is_object(value))
            sheet_put_facts(table, name, value);
        else if (json_is_string(value))
            sheet_row(table, "%s,%s", name, json_string_value(value));
        else if (json_is_integer(value))
            sheet_row(table, "%s,%lld", name, (long long)json_integer_value(value));
        else
            sheet_row(table, "%s,%.12g", name, json_is_real(value) ? json_real_value(value) : (double)NAN);
    }
}

static json_t *value_of(const char *text)
{
    char *end;
    long long count = strtoll(text, &end, 10);
    if (*text && !*end)
        return json_integer(count);
    double number = strtod(text, &end);
    if (*text && !*end)
        return json_real(number);
    return strcmp(text, "-") == 0 ? json_null() : cli_json_text(text);
}

json_t *sheet_facts(const sheet *table)
{
    json_t *facts = json_object();
    for (int row = 0; row < sheet_count(table); row++) {
        json_t *at = facts;
        const char *name = sheet_cell(table, row, 0);
        for (const char *dot; (dot = strchr(name, '.')) != NULL; name = dot + 1) {
            char part[200];
            snprintf(part, sizeof part, "%.*s", (int)(dot - name), name);
            json_t *inside = json_object_get(at, part);
            at = inside ? inside : put_object(at, part);
        }
        json_object_set_new(at, name, value_of(sheet_cell(table, row, 1)));
    }
    return facts;
}
