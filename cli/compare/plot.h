/*
 * plot.h: log10 f over iterations or time, a line per method, as inline SVG.
 *
 * Colours come from the page: --c0 ... --c7 for lines, --ink, --faint, --grid and --paper for the rest. Lines of number
 * n have the class "s<n>", so that the page can hide them.
 */
#ifndef ULNA_CLI_PLOT_H
#define ULNA_CLI_PLOT_H

#include "cli/markup.h"

enum { PLOT_COLOURS = 8 }; /* then they come again, dashed */

typedef struct plot_line {
    const char *name;
    int style; /* number of the colour, dash and mark */
    int count;
    const double *x, *y;
} plot_line;

typedef struct plot {
    const char *title;
    const char *x_title;
    int is_time;      /* x is in microseconds, on a logarithmic axis; otherwise it counts from 0 */
    double low, high; /* of log10 f: the axis goes to whole numbers around these */
    double weight;    /* of all goals: for an axis of root mean squares beside f; 0 for none */
    const plot_line *lines;
    int line_count;
} plot;

void plot_write(const plot *chart, markup *page);
/* A short piece of a line of that style, for legends. */
void plot_write_key(int style, markup *page);

#endif
