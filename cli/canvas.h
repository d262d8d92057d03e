/*
 * canvas.h: pictures made of text. A canvas is a grid of characters of the Unicode braille block, each with 2 x 4 dots,
 * so that lines look like lines in any terminal and in any text file; in ASCII each becomes the sign most like it.
 */
#ifndef ULNA_CLI_CANVAS_H
#define ULNA_CLI_CANVAS_H

#include <stddef.h>

typedef struct canvas {
    int columns, rows;   /* characters */
    unsigned char *dots; /* columns x rows; a bit per dot */
} canvas;

/* Returns 0 if memory is out. */
int canvas_create(canvas *paper, int columns, int rows);
void canvas_release(canvas *paper);

/* In dots: 2 x columns wide, 4 x rows high, (0, 0) is the top left one. What lies outside is not drawn. */
void canvas_dot(canvas *paper, int x, int y);
void canvas_line(canvas *paper, double x0, double y0, double x1, double y1);

/* One row as UTF-8, blanks at its end included: up to 3 bytes a character, and a zero byte. */
void canvas_row(const canvas *paper, int row, int is_ascii, char *text);

#endif
