/*
 * constraints.h: what the files of bench_constraints share: a problem with constraints as plain functions of q, for solvers of
 * other projects, and these solvers.
 *
 * The functions are the library's own, derivatives exact, so that no peer loses by slow callbacks. Axes of rotation rows are
 * frozen at the start, where the feet are in place: fixed smooth functions.
 */
#ifndef ULNA_BENCH_CONSTRAINTS_H
#define ULNA_BENCH_CONSTRAINTS_H

#include "objective/constraint.h"
#include "support_constraints.h"

typedef struct peer_functions {
    ulna_work *work;
    ulna_row *rows;
    int nv, row_count, equation_count;
    const double *lower, *upper; /* nv */
    double *q;                   /* of the last evaluation */
    double f;
    double *columns, *z, *hessian; /* scratch: rows x nv, rows, nv x nv */
} peer_functions;

/* For a scene in which each DOF has a coordinate of its own. */
void peer_functions_open(peer_functions *p, const ulna_scene *scene, const double *start);
void peer_functions_close(peer_functions *p);
double peer_value(peer_functions *p, const double *q);
void peer_slope(peer_functions *p, const double *q, double *gradient);
void peer_rows(peer_functions *p, const double *q, double *values);
void peer_rows_jacobian(peer_functions *p, const double *q, double *jacobian); /* row by row */
/* factor H(f) + sum multiplier d2C, nv x nv. */
const double *peer_lagrangian(peer_functions *p, const double *q, double factor, const double *multipliers);
double peer_violation(peer_functions *p, const double *q);

typedef struct peer_answer {
    double f, violation, seconds;
    int iterations; /* evaluations, for SLSQP */
    int is_solved;  /* as the peer says */
} peer_answer;

/* From q, which becomes the answer. Only those that the build found are there. */
peer_answer peer_ipopt(peer_functions *p, double *q, int is_warm);
peer_answer peer_slsqp(peer_functions *p, double *q);

#endif
