/*
 * active_rows.h (private): constraints in dense form, for the methods lagrange and virtual-work.
 *
 * Both linearise the rows, solve for a step that keeps some of them as equations, and change which ones until no multiplier
 * pulls and no row is broken: the active set. Both judge a step by the exact penalty
 *
 *   phi = f + sum price_i |lack_i|,       lack = C of an equation, the negative part of C >= 0,
 *
 * whose prices follow the multipliers, at once upwards and slowly downwards. Limits are kept as in other methods: a degree of freedom that the step
 * would take beyond one is held on it.
 */
#ifndef ULNA_SRC_ACTIVE_ROWS_H
#define ULNA_SRC_ACTIVE_ROWS_H

#include "linalg/linalg.h"
#include "solve/constrained.h"

typedef struct ulna_active_rows {
    int capacity, count;
    double *jacobian; /* capacity x nv, column-major */
    double *gradient; /* nv: of f */
    double *value;    /* C; with slacks C - s^2 */
    double *price;
    double *trial; /* values at the trial */
    unsigned char *is_equation, *is_active;
    signed char *hold; /* nv: -1, 1: held on the lower, upper limit; ULNA_LOCKED; 0: free */
    /* Slacks s of the form C - s^2 = 0, or NULL: then rows C >= 0 are kept by the active set. */
    double *slack, *slack_step;
    /* What ulna_active_solver.solve fills in: */
    double *step;   /* nv */
    double *beta;   /* multipliers; 0 where not active */
    double *linear; /* C + J step */
    double *force;  /* nv: of the limit that holds a DOF */
    double *taken;  /* nv: how the last search moved q */
    double slope;   /* of phi along the step */
    double length;  /* of the step that the last search took, 1 also after a correction */
    double fell;    /* phi, by it */
    int is_quiet;   /* phi changed by no more than its rounding */
    int is_cut;     /* the first length that was tried was too long */
    double allowed; /* phi may rise by this: set by the method */
    /* Where the rows contradict each other: least violation by Levenberg-Marquardt. */
    int is_approaching, approaches, failures;
    double kappa;
    double *normal, *right; /* capacity x capacity, capacity */
    int *pivot;
    ulna_dense_work work;
} ulna_active_rows;

enum { ULNA_LOCKED = 2 };

typedef struct ulna_active_solver {
    /* Step, multipliers, linear and force for the rows that are active and the DOFs that are held. */
    ulna_status (*solve)(ulna_solver *s, ulna_active_rows *rows, void *context);
    /* Adds to `step` a short one that moves the active rows by -value. */
    ulna_status (*correct)(ulna_solver *s, ulna_active_rows *rows, void *context, const double *value, double *step);
    void *context;
} ulna_active_solver;

/* In the method's layout. Refuses problems with levels, which dense methods do not have, and with too many rows. */
ulna_status ulna_active_take(const ulna_solver *s, ulna_active_rows *rows, ulna_arena *arena, ulna_error *error);
/* At the start of an attempt: rows at q, no multipliers, nothing active. */
ulna_status ulna_active_begin(ulna_solver *s, ulna_active_rows *rows);
/* Rows and gradient of f at q. */
ulna_status ulna_active_here(ulna_solver *s, ulna_active_rows *rows);
/* How far a held DOF moves. */
double ulna_active_displacement(const ulna_solver *s, const ulna_active_rows *rows, int dof);
/* Fills linear from step. */
void ulna_active_linearise(ulna_active_rows *rows, int nv);
/* Calls solve until the active set is right. */
ulna_status ulna_active_solve(ulna_solver *s, ulna_active_rows *rows, const ulna_active_solver *solver);
/*
 * Multipliers that explain the gradient at q best: the forces against a short step down the gradient from where the rows hold.
 * `solver` is set up for such a step by the method: ulna_active_short says how short.
 */
ulna_status ulna_active_explain(ulna_solver *s, ulna_active_rows *rows, const ulna_active_solver *solver);
/* The length of the step -length metric^2 g that is too short to meet anything; `metric` nv, dq = metric y. */
double ulna_active_short(const ulna_solver *s, const ulna_active_rows *rows, const double *metric);
/* Sets the prices for `beta`, then goes along the step as far as phi falls, and accepts. `found` 0: it does not; back at q. */
ulna_status ulna_active_search(ulna_solver *s, ulna_active_rows *rows, const ulna_active_solver *solver,
                               const double *beta, int *found);
/* Multipliers of q become `beta`, and q is an end if the rows are kept and the KKT residual is below options.kkt. */
ulna_status ulna_active_settle(ulna_solver *s, const double *beta);
/* No lower point is to be found: stalled, or infeasible if the violation is stationary and not zero. */
ulna_status ulna_active_give_up(ulna_solver *s);
/* The one iteration of a skeleton without degrees of freedom. */
ulna_status ulna_active_stand(ulna_solver *s);
/*
 * After a search: if it failed, or the linearised rows leave most of the violation, for the second time in a row, and rows are far from kept, f is left alone from
 * now on (is_approaching), and the method calls ulna_active_approach for its iterations: steps that only reduce the violation,
 * until the rows are nearly kept, or until it is stationary and the solve ends as infeasible.
 */
void ulna_active_watch(ulna_solver *s, ulna_active_rows *rows, int found);
ulna_status ulna_active_approach(ulna_solver *s, ulna_active_rows *rows);

#endif
