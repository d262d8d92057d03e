/*
 * raster.h: a picture as pixels, band by band, so that memory does not grow with the picture. Each pixel is the mean of
 * 4 x 4 samples; each sample takes the colour of the last thing drawn over it. So neighbours meet without a seam.
 */
#ifndef ULNA_CLI_RASTER_H
#define ULNA_CLI_RASTER_H

#include "cli/picture.h"

enum { RASTER_ROWS = 16 }; /* of a band */

typedef struct raster {
    const picture *paper;
    int width, height;     /* pixels */
    double factor;         /* samples to a unit of the picture */
    picture_point *points; /* of the picture, in samples from its top left */

    /* The band at hand, in samples. */
    int samples, first, rows; /* in a row; the first row; rows */
    unsigned char *canvas;    /* samples x rows x 3 */
    double *crossings;        /* room for those of one row with any polygon */
} raster;

/* `scale`: pixels to a unit of the picture. */
ulna_status raster_create(const picture *paper, double scale, raster *grid);
void raster_release(raster *grid);

/* The pixels of rows `top` to `top` + RASTER_ROWS - 1, as far as they exist: 3 bytes each, red first. */
void raster_band(raster *grid, int top, unsigned char *pixels);

/* ---- letters ------------------------------------------------------------------------------------------ */

/* The strokes of a character as lines of points. Letters stand on y = 0 with y up, 10 high and a stroke wide apart. */
enum { LETTER_POINTS = 96 }; /* most points of a stroke */

/* How far the next letter is. */
double letter_advance(unsigned code);
/* Stroke number `stroke` of a character: its points, and how many; 0 past the last one. */
int letter_stroke(unsigned code, int stroke, picture_point *points);

#endif
