/* Cells of tables in text: see table.h. */
#include "formats/tables/table.h"
#include "formats/format.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "formats/text/numbers.h"
#include "math/math3.h"

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

/* Behind the quote that ends a cell, whose first quote is at `from`; the end of the row if none does. Between tabs cells end with
 * the tab: `from` itself, since the quote is a letter of the cell then. */
static const char *behind_quotes(const char *from, const char *end, char delimiter)
{
    for (const char *at = from + 1; at < end && !(*at == '\t' && delimiter == '\t'); at++) {
        if (*at != '"')
            continue;
        if (at + 1 < end && at[1] == '"')
            at++;
        else
            return at + 1;
    }
    return delimiter == '\t' ? from : end;
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
    to = from < row->end && *from == '"' ? behind_quotes(from, row->end, row->delimiter) : from;
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

int ulna_row_is_blank(const ulna_scan *scan)
{
    for (const char *at = scan->here; at < scan->end; at++)
        if (!is_blank(*at) && *at != ',' && *at != ';')
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
    if (cell.length == 0)
        return 1;
    if (*cell.text == '-' || *cell.text == '+') {
        cell.text++;
        cell.length--;
    }
    if (ulna_word_is_listed(cell, "nan 1.#qnan 1.#snan 1.#ind 1.#nan na n/a null none #n/a missing"))
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

double ulna_cell_cut_unit(ulna_word *name, int *is_angle)
{
    char unit[32];
    size_t end = name->length, from;
    const char close = end ? name->text[end - 1] : 0, open = close == ']' ? '[' : close == ')' ? '(' : '_';
    end -= open != '_';
    for (from = end; from > 0 && name->text[from - 1] != open; from--)
        ;
    if (from < 2 || !ulna_word_copy((ulna_word){name->text + from, end - from}, unit, sizeof unit))
        return 0;
    const ulna_word word = {unit, strlen(unit)};
    const int is_degrees = ulna_word_is_listed(word, "deg degrees");
    *is_angle = is_degrees || ulna_word_is_listed(word, "rad radians");
    const double scale = is_degrees ? ULNA_PI / 180 : *is_angle ? 1 : ulna_unit_metres(unit);
    for (from--; scale > 0 && from > 0 && is_blank(name->text[from - 1]);)
        from--;
    if (scale > 0)
        name->length = from;
    return name->length ? scale : 0;
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

void ulna_put_cell(ulna_writer *writer, const char *text)
{
    size_t length = strlen(text);
    int is_plain = length > 0 && (unsigned char)text[0] > ' ' && (unsigned char)text[length - 1] > ' ' &&
                   text[0] != '#' && !strpbrk(text, ",;\t\"\r\n");
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

/* ---- numbers in a unit that is a power of ten of ours --------------------------------------------------------------- */

/*
 * The same digits with another exponent, so nothing is rounded twice, and what a person wrote is what is written again. Other
 * units are those of numbers.h.
 */
enum { NO_POWER = 1000, MOST_DIGITS = 240 };

static int power_of(double scale)
{
    return scale == 1      ? 0
           : scale == 1e-3 ? -3
           : scale == 1e-2 ? -2
           : scale == 0.1  ? -1
           : scale == 1e-6 ? -6
           : scale == 1e3  ? 3
                           : NO_POWER;
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

/* The text with `power` added to its exponent. */
static int shifted_number(ulna_word word, int power, double *value)
{
    char text[MOST_DIGITS + 40];
    size_t used = 0;
    while (used < word.length && word.text[used] != 'e' && word.text[used] != 'E')
        used++;
    int exponent = 0;
    if (used > MOST_DIGITS)
        return 0;
    if (used < word.length) {
        ulna_word behind = {word.text + used + 1, word.length - used - 1};
        if (memchr(behind.text, '.', behind.length) || !ulna_word_integer(behind, &exponent) || abs(exponent) > 100000)
            return 0;
    }
    memcpy(text, word.text, used);
    used += (size_t)snprintf(text + used, sizeof text - used, "e%d", exponent + power);
    double shifted;
    if (!ulna_word_number((ulna_word){text, used}, &shifted))
        return 0;
    *value = shifted;
    return 1;
}

/* Up to 15 digits and a point, as most cells have it: one division or product of exact numbers is rounded once. */
static int short_number(ulna_word word, int power, double *value)
{
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *at = word.text, *end = at + word.length, *point = NULL;
    long long digits = 0;
    int count = 0, is_negative = at < end && *at == '-';
    for (at += at < end && (*at == '-' || *at == '+'); at < end; at++)
        if (*at >= '0' && *at <= '9') {
            digits = 10 * digits + (*at - '0');
            if (++count > 15)
                return 0;
        } else if (*at == '.' && !point)
            point = at;
        else
            return 0;
    power -= point ? (int)(end - point) - 1 : 0;
    if (count == 0 || power < -15 || power > 15)
        return 0;
    double x = power < 0 ? (double)digits / tens[-power] : (double)digits * tens[power];
    *value = is_negative ? -x : x;
    return 1;
}

int ulna_cell_value(ulna_word cell, char delimiter, double scale, double *value)
{
    int power = power_of(scale);
    if (power != NO_POWER && (short_number(cell, power, value) || (power && shifted_number(cell, power, value))))
        return 1;
    double plain;
    if (!ulna_cell_number(cell, delimiter, &plain))
        return 0;
    *value = plain * scale;
    if (power != NO_POWER && power) { /* a decimal comma, or a number that is no longer finite */
        char text[ULNA_NUMBER_SIZE];
        int length = ulna_format_number(plain, text);
        shifted_number((ulna_word){text, (size_t)length}, power, value);
    }
    return 1;
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

/* The digits of a whole number with a point before the last `decimals` of them, without zeros at the end. */
static void put_decimal(ulna_writer *writer, int is_negative, uint64_t digits, int decimals)
{
    char text[48], *at = text + sizeof text;
    for (; decimals > 0 && digits % 10 == 0; decimals--)
        digits /= 10;
    for (int placed = 0; digits || placed <= decimals; placed++) {
        if (placed == decimals && placed > 0)
            *--at = '.';
        *--at = (char)('0' + digits % 10);
        digits /= 10;
    }
    if (is_negative)
        *--at = '-';
    ulna_put_bytes(writer, at, (size_t)(text + sizeof text - at));
}

/* Up to 15 digits that are the value: no search is needed, and no rounding can spoil them. */
static int put_short(ulna_writer *writer, double value, int power)
{
    double steps = round(value * 1e12);
    if (!(fabs(steps) < 1e15) || steps == 0 || steps / 1e12 != value)
        return 0;
    put_decimal(writer, steps < 0, (uint64_t)fabs(steps), 12 + power);
    return 1;
}

static void put_shifted(ulna_writer *writer, double value, int power)
{
    int unused, count = 0;
    ulna_decimal number = ulna_decimal_shortest(fabs(value), &unused);
    uint64_t digits = number.digits;
    int exponent = number.exponent - power;
    for (uint64_t left = digits; left; left /= 10)
        count++;
    if (exponent <= 0 && exponent >= -20)
        put_decimal(writer, value < 0, digits, -exponent);
    else if (exponent > 0 && count + exponent <= 17) {
        for (; exponent > 0; exponent--)
            digits *= 10;
        put_decimal(writer, value < 0, digits, 0);
    } else {
        put_decimal(writer, value < 0, digits, count - 1);
        ulna_print(writer, "e%d", exponent + count - 1);
    }
}

void ulna_put_value(ulna_writer *writer, double value, double scale, int digits)
{
    int power = power_of(scale);
    if (digits > 0 || power == NO_POWER)
        ulna_put_scaled(writer, value, scale, digits);
    else if (value == 0)
        ulna_put(writer, "0");
    else if (!put_short(writer, value, power))
        put_shifted(writer, value, power);
}
