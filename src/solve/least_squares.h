/* least_squares.h (private): what the damped least-squares methods share. */
#ifndef ULNA_SRC_LEAST_SQUARES_H
#define ULNA_SRC_LEAST_SQUARES_H

#include "solve/solver.h"

/* (JtJ + lambda / scale^2 + extra) step = -g inside the limits, into s->step. Where that cannot be factored lambda is
 * raised as little as it takes, by 1e-12, 1e-10, ... of s->curvature; step->lambda is then what was
 * used. Gives up, with the status of ulna_work_step, at 1 of it. */
ulna_status ulna_damped_step_here(ulna_solver *s, const double *extra, ulna_damped_step *step);

/* Is it the last step worth taking: predicted to lower f by next to nothing, and not merely because it was damped? */
int ulna_damped_step_is_last(const ulna_solver *s, const ulna_damped_step *step);
/* And after it was refused: was there nothing to gain that the rounding of f would not hide? */
int ulna_damped_step_is_lost(const ulna_solver *s, const ulna_damped_step *step);

/* For methods that take every step: after each accepted one, ends the iteration (stalled) once 50 in a row have found
 * no lower point, as in a cycle between two poses. Zero the struct at the beginning. */
typedef struct ulna_circling {
    double best;
    int since;
} ulna_circling;

void ulna_stop_circling(ulna_solver *s, ulna_circling *circling);

/* The diagonal of JtJ at q (nv), couplings included, and its largest element in units (m^2 / rad^2) among DOFs that
 * are not locked. O(DOF). */
ulna_status ulna_normal_diagonal(ulna_solver *s, double *diagonal, double *largest);

#endif
