/* contour.h: where a function on a grid passes through zero, and which part of a small polygon lies above it. */
#ifndef ULNA_CLI_CONTOUR_H
#define ULNA_CLI_CONTOUR_H

#include "cli/picture.h"

/* Takes a line of `count` points in units of the grid: (0, 0) is the first node, (1, 0) the next one. */
typedef void (*contour_line)(void *context, const picture_point *points, int count);

/*
 * Finds the lines where `values` (columns x rows, x fastest) changes its sign, by linear interpolation along the edges
 * of the grid. Squares with four nodes whose byte in `silent` is not 0 are left out. Returns 0 if memory is out.
 */
int contour_trace(const double *values, const unsigned char *silent, int columns, int rows, contour_line line,
                  void *context);

/*
 * The part of a polygon (at most CONTOUR_MOST corners) where `values`, linear along each side, is positive: its
 * corners, and how many. `zeros` receives the points of the sides where it is zero, `zero_count` of them.
 */
enum { CONTOUR_MOST = 4 };
int contour_clip(const picture_point *corners, const double *values, int count, picture_point *part,
                 picture_point *zeros, int *zero_count);

#endif
