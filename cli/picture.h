/*
 * picture.h: a drawing in the plane, written as SVG or PNG. What is drawn is kept as a list, later things on top, so
 * that one drawing gives any number of files that all show the same.
 *
 * Units are pixels of a screen, x to the right and y down; a PNG has two of its own to each. Colours are 0xRRGGBB. Once
 * memory is out, the rest is not recorded, and picture_write says so.
 */
#ifndef ULNA_CLI_PICTURE_H
#define ULNA_CLI_PICTURE_H

#include "ulna/base.h"
#include "ulna/formats.h"

typedef enum picture_kind {
    PICTURE_AREA,  /* a simple polygon */
    PICTURE_PATCH, /* the same, one of many that cover something without gaps */
    PICTURE_CELL,  /* an upright box, one of many; edges are not smoothed */
    PICTURE_LINE,  /* from point to point, with round ends */
    PICTURE_TEXT
} picture_kind;

/* How a text stands at its point, which is on its baseline. */
enum {
    PICTURE_MIDDLE = 1, /* centred; otherwise it begins at the point */
    PICTURE_END = 2,    /* ends there */
    PICTURE_BOLD = 4,
    PICTURE_UPWARDS = 8 /* turned to the left by a quarter */
};

typedef struct picture_point {
    double x, y;
} picture_point;

typedef struct picture_item {
    picture_kind kind;
    unsigned colour;
    double size;  /* width of a line, height of a text's letters and what hangs below them */
    size_t first; /* point */
    int count;    /* points; a cell has two corners, a text one */
    int style;    /* of a text */
    size_t text;  /* where it begins in `letters`, UTF-8 */
} picture_item;

typedef struct picture {
    double width, height;
    const char *title; /* for those who cannot see it; the caller's */
    picture_item *items;
    picture_point *points;
    char *letters;
    size_t item_count, point_count, letter_count; /* in use */
    size_t item_room, point_room, letter_room;
    int failed; /* memory is out */
} picture;

void picture_init(picture *paper, double width, double height, const char *title);
void picture_release(picture *paper);

void picture_area(picture *paper, unsigned colour, const picture_point *points, int count);
void picture_patch(picture *paper, unsigned colour, const picture_point *points, int count);
void picture_box(picture *paper, unsigned colour, double x, double y, double width, double height);
void picture_cell(picture *paper, unsigned colour, double left, double top, double right, double bottom);
void picture_line(picture *paper, unsigned colour, double width, const picture_point *points, int count);
void picture_segment(picture *paper, unsigned colour, double width, double x0, double y0, double x1, double y1);
void picture_frame(picture *paper, unsigned colour, double line, double x, double y, double width, double height);
void picture_text(picture *paper, unsigned colour, double size, int style, double x, double y, const char *format, ...)
    ULNA_PRINTF(7, 8);

/* The format that a file's name asks for. */
typedef enum picture_format { PICTURE_UNKNOWN, PICTURE_SVG, PICTURE_PNG } picture_format;
picture_format picture_format_of(const char *path);

/* Writes a file as ulna_output does: complete, or not at all. The format is that of the name. */
ulna_status picture_write(const picture *paper, const char *path, ulna_error *error);

/* ---- for the writers ---------------------------------------------------------------------------------- */

ulna_status picture_write_svg(const picture *paper, const ulna_sink *sink);
ulna_status picture_write_png(const picture *paper, const ulna_sink *sink);

/* Takes a character (a code point) off the front of UTF-8 text, which it moves on; U+FFFD for a byte that is none. */
unsigned picture_character(const char **text);
/* A name cut to `most` characters, the last of which is then an ellipsis; returns `text`. */
const char *picture_shorten(const char *name, int most, char *text, size_t size);

#endif
