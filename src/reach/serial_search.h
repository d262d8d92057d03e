/* serial_search.h (private): a search for the solution nearest to a seed, between serial_nearest.c and serial_curves.c. */
#ifndef ULNA_REACH_SERIAL_SEARCH_H
#define ULNA_REACH_SERIAL_SEARCH_H

#include "reach/serial_kernel.h"

enum { ULNA_SERIAL_CELLS_FOUND = 32 }; /* candidates: one of each cell of the table of cells */

typedef struct ulna_serial_search {
    const ulna_serial *chain;
    const ulna_serial_goal *goal;
    const ulna_serial_norm *norm;
    const double *seed;
    ulna_serial_target target;
    ulna_serial_lanes state;
    ulna_serial_slide slide;
    ulna_serial_result result;
    double pace; /* the most that the distance changes with a slide by 1 */
    double best;
    double *q; /* where `best` is */
} ulna_serial_search;

/* Solutions, nearest first. */
typedef struct ulna_serial_found {
    int count, capacity;
    double (*q)[ULNA_SERIAL_MAX];
    double *distance;
} ulna_serial_found;

/* serial_nearest.c */
typedef void (*ulna_serial_take)(ulna_serial_search *s, int lane, void *context);

/* Puts q in its place; the farthest goes if there are too many. */
void ulna_serial_found_add(ulna_serial_found *list, const double *q, double distance);
/* Converges all starts, with or without limits, and calls `take` for each lane that has arrived; lanes that are done take the next start. */
void ulna_serial_converge(ulna_serial_search *s, double (*start)[ULNA_SERIAL_MAX], int count, int limited,
                          ulna_serial_take take, void *context);
/* Slides from several points, nearest first: q has `count` rows. */
void ulna_serial_slide_from(ulna_serial_search *s, double (*q)[ULNA_SERIAL_MAX], int count);

/* serial_curves.c */
/* Of even and odd joints: any direction but a bad one. */
extern const double ulna_serial_direction[2];
/* Follows the curves of solutions that the starts lead to, in steps of `step` radians, and slides from their nearest points. */
void ulna_serial_trace(ulna_serial_search *s, double (*start)[ULNA_SERIAL_MAX], int count, double step);

#endif
