/*
 * table.h: a table on the screen. Columns are as wide as what stands in them; the last one takes the rest of the line
 * and is wrapped there. Cells are filled from left to right, row by row.
 */
#ifndef ULNA_CLI_TABLE_H
#define ULNA_CLI_TABLE_H

#include "cli/cli.h"

typedef struct table {
    int columns;
    const char *align; /* a letter for each column: l or r; the caller's */
    int indent;        /* blanks before a line */
    char **cells;      /* a row after the other, the titles first; NULL where a row was filled by a spanning text */
    size_t count, room;
    int failed; /* memory is out: nothing more is kept, and nothing is shown */
} table;

void table_init(table *t, const char *align, int indent);
void table_release(table *t);

/* The next cell; those of the first row are the titles. */
void table_cell(table *t, const char *format, ...) ULNA_PRINTF(2, 3);
/* A text over all that is left of the row, wrapped. */
void table_span(table *t, const char *format, ...) ULNA_PRINTF(2, 3);

/* `strong`: the row in bold, 0 for the titles, -1 for none. */
void table_print(const cli *tool, const table *t, int strong);

/* A text with words wrapped at the terminal's width. The line stands at `column` already; further ones begin at
 * `indent`. Ends the line. */
void table_wrap(const cli *tool, int strong, int indent, int column, const char *text);
/* A line of a summary, "  label     text", wrapped under itself; `label` takes what is left of the first `column` characters. */
void table_fact(const cli *tool, int column, const char *label, const char *format, ...) ULNA_PRINTF(4, 5);

#endif
