/* Tables and wrapped texts on the screen. */
#include "cli/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NARROWEST = 16 }; /* of what is wrapped */

void table_init(table *t, const char *align, int indent)
{
    *t = (table){.columns = (int)strlen(align), .align = align, .indent = indent};
}

void table_release(table *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->cells[i]);
    free(t->cells);
    t->cells = NULL;
    t->count = t->room = 0;
}

static char *format_text(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

static void add(table *t, char *text)
{
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 64;
        char **cells = realloc(t->cells, room * sizeof *cells);
        if (cells) {
            t->cells = cells;
            t->room = room;
        }
    }
    if (t->count < t->room)
        t->cells[t->count++] = text;
    else {
        t->failed = 1;
        free(text);
    }
}

void table_cell(table *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    t->failed |= !text;
    add(t, text);
}

void table_span(table *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_text(format, arguments);
    va_end(arguments);
    t->failed |= !text;
    add(t, text);
    while (!t->failed && t->count % (size_t)t->columns)
        add(t, NULL);
}

/* ---- showing it --------------------------------------------------------------------------------------- */

static void say(const cli *tool, int strong, int width, const char *text, int bytes)
{
    if (strong)
        cli_title(tool, "%*s%.*s", width, "", bytes, text);
    else
        cli_say(tool, "%*s%.*s", width, "", bytes, text);
}

/* Columns that the first bytes of a text take. */
static int width_of(const char *text, int bytes)
{
    int width = 0;
    for (int i = 0; i < bytes; i++)
        width += ((unsigned char)text[i] & 0xC0) != 0x80;
    return width;
}

void table_wrap(const cli *tool, int strong, int indent, int column, const char *text)
{
    int last = tool->columns - 1;
    if (last - indent < NARROWEST) /* better too long than a word a line */
        last = indent + NARROWEST;
    int is_first = 1;
    while (*text) {
        int bytes = (int)strcspn(text, " "), width = width_of(text, bytes);
        if (!is_first && column + 1 + width > last) {
            cli_say(tool, "\n");
            column = 0;
            is_first = 1;
        }
        int blanks = is_first ? (column < indent ? indent - column : 0) : 1;
        say(tool, strong, blanks, text, bytes);
        column += blanks + width;
        is_first = 0;
        text += bytes;
        text += strspn(text, " ");
    }
    cli_say(tool, "\n");
}

static int is_spanning(const table *t, char *const *row, int column)
{
    return column + 1 < t->columns && !row[column + 1];
}

static int column_width(const table *t, int column)
{
    int widest = 0;
    for (size_t at = 0; at + (size_t)t->columns <= t->count; at += (size_t)t->columns) {
        char *const *row = t->cells + at;
        int width = row[column] && !is_spanning(t, row, column) ? cli_width(row[column]) : 0;
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void print_row(const cli *tool, const table *t, char *const *row, const int *widths, int gap, int strong)
{
    int column = t->indent;
    cli_say(tool, "%*s", t->indent, "");
    for (int k = 0; k < t->columns; k++) {
        if (k + 1 == t->columns || is_spanning(t, row, k)) {
            table_wrap(tool, strong, column, column, row[k]);
            return;
        }
        int bytes = (int)strlen(row[k]), pad = widths[k] - cli_width(row[k]);
        int is_right = t->align[k] == 'r';
        say(tool, strong, is_right ? pad : 0, row[k], bytes);
        cli_say(tool, "%*s", gap + (is_right ? 0 : pad), "");
        column += widths[k] + gap;
    }
}

void table_print(const cli *tool, const table *t, int strong)
{
    int *widths = t->failed ? NULL : calloc((size_t)t->columns, sizeof *widths);
    if (!widths) {
        cli_complain("out of memory");
        return;
    }
    int last = t->columns - 1, used = t->indent, row = 0;
    for (int k = 0; k < t->columns; k++)
        widths[k] = column_width(t, k);
    for (int k = 0; k < last; k++)
        used += widths[k] + 2;
    int needed = widths[last] < NARROWEST ? widths[last] : NARROWEST;
    int gap = used + needed < tool->columns ? 2 : 1;
    for (size_t at = 0; at + (size_t)t->columns <= t->count; at += (size_t)t->columns, row++)
        print_row(tool, t, t->cells + at, widths, gap, row == 0 || row == strong);
    free(widths);
}

void table_fact(const cli *tool, int column, const char *label, const char *format, ...)
{
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_say(tool, "  %-*s", column - 2, label);
    table_wrap(tool, 0, column, column, text);
}
