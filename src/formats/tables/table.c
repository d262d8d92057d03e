/* Cells of tables in text: see table.h. */
#include "formats/tables/table.h"

#include <stdint.h>
#include <string.h>

#include "base/base.h"

/* ---- cells -------------------------------------------------------------------------------------------------------- */

char ulna_table_delimiter(const ulna_scan *scan)
{
    size_t commas = 0, semicolons = 0;
    int is_quoted = 0;
    for (const char *at = scan->here; at < scan->end; at++) {
        is_quoted ^= *at == '"';
        if (is_quoted)
            continue;
        if (*at == '\t')
            return '\t';
        commas += *at == ',';
        semicolons += *at == ';';
    }
    return semicolons > commas ? ';' : commas ? ',' : ' ';
}

ulna_row ulna_row_start(const ulna_scan *scan, char delimiter)
{
    return (ulna_row){.here = scan->here, .end = scan->end, .delimiter = delimiter};
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f' || c == '\v';
}

static int next_word(ulna_row *row, ulna_word *cell)
{
    while (row->here < row->end && is_blank(*row->here))
        row->here++;
    const char *from = row->here;
    while (row->here < row->end && !is_blank(*row->here))
        row->here++;
    *cell = (ulna_word){from, (size_t)(row->here - from)};
    return cell->length > 0;
}

/* Behind the quote that ends a cell, whose first quote is at `from`; the end of the row if none does. */
static const char *behind_quotes(const char *from, const char *end)
{
    for (const char *at = from + 1; at < end; at++) {
        if (*at != '"')
            continue;
        if (at + 1 < end && at[1] == '"')
            at++;
        else
            return at + 1;
    }
    return end;
}

int ulna_row_next(ulna_row *row, ulna_word *cell)
{
    if (row->delimiter == ' ')
        return next_word(row, cell);
    if (row->is_done)
        return 0;
    const char *from = row->here, *to;
    while (from < row->end && *from != row->delimiter && is_blank(*from))
        from++;
    to = from < row->end && *from == '"' ? behind_quotes(from, row->end) : from;
    while (to < row->end && *to != row->delimiter)
        to++;
    row->here = to + 1;
    row->is_done = to >= row->end;
    if (row->is_done)
        row->here = row->end;
    while (to > from && is_blank(to[-1]))
        to--;
    if (to - from >= 2 && *from == '"' && to[-1] == '"') {
        from++;
        to--;
    }
    *cell = (ulna_word){from, (size_t)(to - from)};
    return 1;
}

int ulna_row_is_blank(const ulna_scan *scan, char delimiter)
{
    for (const char *at = scan->here; at < scan->end; at++)
        if (!is_blank(*at) && *at != delimiter)
            return 0;
    return 1;
}

size_t ulna_row_whole(const ulna_scan *scan, char delimiter, size_t columns)
{
    if (scan->end != scan->data + scan->length)
        return SIZE_MAX;
    ulna_row row = ulna_row_start(scan, delimiter);
    ulna_word cell, last = {scan->end, 0};
    size_t count = 0;
    double value;
    for (; ulna_row_next(&row, &cell); count++)
        last = cell;
    int is_odd = !ulna_cell_is_missing(last) && !ulna_cell_number(last, delimiter, &value);
    return count > 0 && (count < columns || is_odd) ? count - 1 : SIZE_MAX;
}

ulna_status ulna_cells_read(const ulna_scan *scan, char delimiter, const ulna_allocator *allocator, ulna_cells *cells)
{
    ulna_row row = ulna_row_start(scan, delimiter);
    ulna_word cell;
    *cells = (ulna_cells){.allocator = allocator};
    while (ulna_row_next(&row, &cell)) {
        void *items = cells->items;
        ulna_status status = ulna_grow(allocator, &items, &cells->capacity, cells->count + 1, sizeof cell);
        cells->items = items;
        if (status != ULNA_OK) {
            ulna_cells_release(cells);
            return status;
        }
        cells->items[cells->count++] = cell;
    }
    return ULNA_OK;
}

void ulna_cells_release(ulna_cells *cells)
{
    if (cells->allocator)
        ulna_release(cells->allocator, cells->items, cells->capacity, sizeof *cells->items);
    *cells = (ulna_cells){.allocator = cells->allocator};
}

/* ---- what a cell says --------------------------------------------------------------------------------------------- */

int ulna_cell_is_missing(ulna_word cell)
{
    static const char *const spellings[] = {"nan", "1.#qnan", "1.#snan", "1.#ind", "1.#nan", "na",
                                            "n/a", "null",    "none",    "#n/a",   "missing"};
    if (cell.length == 0)
        return 1;
    if (*cell.text == '-' || *cell.text == '+') {
        cell.text++;
        cell.length--;
    }
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (ulna_word_is_like(cell, spellings[i]))
            return 1;
    /* NaN(ind), and 1.#QNAN0 with digits behind it */
    ulna_word start = {cell.text, cell.length < 4 ? cell.length : 4},
              longer = {cell.text, cell.length < 6 ? cell.length : 6};
    return ulna_word_is_like(start, "nan(") || ulna_word_is_like(longer, "1.#qna") ||
           ulna_word_is_like(longer, "1.#ind");
}

int ulna_cell_number(ulna_word cell, char delimiter, double *value)
{
    enum { ROOM = 64 };
    if (ulna_word_number(cell, value))
        return 1;
    const char *comma =
        delimiter != ',' && cell.length && cell.length < ROOM ? memchr(cell.text, ',', cell.length) : NULL;
    if (!comma)
        return 0;
    char copy[ROOM];
    memcpy(copy, cell.text, cell.length);
    copy[comma - cell.text] = '.';
    return ulna_word_number((ulna_word){copy, cell.length}, value);
}

int ulna_cell_copy(ulna_word cell, char *text, size_t size)
{
    enum { ROOM = 1024 };
    char plain[ROOM];
    size_t used = 0, at = 0;
    for (; at < cell.length && used < ROOM; at++) {
        plain[used++] = cell.text[at];
        at += cell.text[at] == '"' && at + 1 < cell.length && cell.text[at + 1] == '"';
    }
    return ulna_word_copy((ulna_word){plain, used}, text, size) && at >= cell.length;
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

void ulna_put_cell(ulna_writer *writer, const char *text)
{
    size_t length = strlen(text);
    int is_plain =
        length > 0 && text[0] != ' ' && text[length - 1] != ' ' && text[0] != '#' && !strpbrk(text, ",;\t\"\r\n");
    if (is_plain) {
        ulna_put_bytes(writer, text, length);
        return;
    }
    ulna_put(writer, "\"");
    for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
        ulna_put_bytes(writer, text, (size_t)(quote - text));
        ulna_put(writer, "\"\"");
    }
    ulna_put(writer, text);
    ulna_put(writer, "\"");
}

void ulna_put_integer(ulna_writer *writer, long long value)
{
    char text[24], *at = text + sizeof text;
    unsigned long long left = value < 0 ? 0ULL - (unsigned long long)value : (unsigned long long)value;
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        *--at = '-';
    ulna_put_bytes(writer, at, (size_t)(text + sizeof text - at));
}
