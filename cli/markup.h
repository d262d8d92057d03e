/*
 * markup.h: HTML pages, SVG pictures, lines for a shell, cells of CSV. A markup is text that grows and is written to a file at the end.
 *
 * Once memory is out, nothing more is kept, and markup_write reports it.
 */
#ifndef ULNA_CLI_MARKUP_H
#define ULNA_CLI_MARKUP_H

#include "cli/cli.h"

typedef struct markup {
    ulna_text text;
    ulna_status status;
    char path[160]; /* attributes of the SVG path that is still open; "" for none */
} markup;

void markup_init(markup *page);
void markup_release(markup *page);

/* Without change. */
void markup_put(markup *page, const char *text);
void markup_format(markup *page, const char *format, ...) ULNA_PRINTF(2, 3); /* up to 1000 bytes */
/* Any text, also one from a file: characters that HTML and XML reserve are escaped, those they forbid become '?'. */
void markup_escape(markup *page, const char *text);
/* For sh: in single quotes, each of which is written as '\''; a word only where it needs them, for sh or sbatch. */
int markup_is_word(const char *text);
void markup_put_quoted(markup *script, const char *text);
void markup_put_word(markup *script, const char *text);

/* A cell of CSV, `before` in front of it: in quotes (RFC 4180) if it has separators, quotes, a # or blanks at its ends. */
void markup_put_cell(markup *table, const char *before, const char *text);

/* A template with its parts: `{{name}}` in it is where the part of that name goes, which `put` writes. `parts` end with
 * a row without a name. */
typedef struct markup_part {
    const char *name;
    void (*put)(markup *page, const void *about);
} markup_part;
void markup_fill(markup *page, const char *template, const markup_part *parts, const void *about);

extern const char page_css[]; /* page.css: the style that all pages share */

/* Writes the file as ulna_output does: complete, or not at all. */
ulna_status markup_write(const markup *page, const char *path, ulna_error *error);

/* ---- SVG ---------------------------------------------------------------------------------------------- */

/* Units are those of the viewBox, x to the right and y down. Coordinates are rounded to hundredths. */
typedef struct svg_point {
    double x, y;
} svg_point;

/* Position of a text at its point, which is on its baseline. */
enum {
    SVG_MIDDLE = 1, /* centred; otherwise it begins at the point */
    SVG_END = 2,    /* ends there */
    SVG_UPWARDS = 4 /* rotated to the left by 90 degrees */
};

/* The start tag of an inline picture or a file. `attributes` are as XML has them, also below. */
void svg_begin(markup *page, double width, double height, const char *attributes);

/* Paths that follow each other with the same attributes become one element. Closed ones get the same orientation, so
 * that they may overlap. */
void svg_line(markup *page, const char *attributes, const svg_point *points, int count);
void svg_area(markup *page, const char *attributes, const svg_point *points, int count);
void svg_segment(markup *page, const char *attributes, double x0, double y0, double x1, double y1);
void svg_box(markup *page, const char *attributes, double left, double top, double right, double bottom);

/* The text is escaped. */
void svg_text(markup *page, int style, const char *attributes, double x, double y, const char *format, ...)
    ULNA_PRINTF(6, 7);

#endif
