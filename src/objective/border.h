/*
 * border.h (private): a step on the tree with rows beside it that leave its pattern.
 *
 * The system is
 *     [ M   -JT ] [ d    ]   [ -g ]        M = H(t) + shift, factored on the tree (ulna_border_factor),
 *     [ J    E  ] [ beta ] = [ -c ]        J the rows of the border, E a diagonal,
 * and with d0 = -M^-1 g it is  d = d0 + M^-1 JT beta,  (S + E) beta = -(c + J d0),  S = J M^-1 JT. M may be indefinite.
 * Each row goes up the paths of the links that it touches, four at a time: at a DOF u = S . P (+ its coefficient),
 * P -= K u, P is added to the parent's; then S = sum over DOFs of u uT / D, and J d0 = - sum of u u0 / D, plus u times the displacement of held
 * DOFs. One sweep down gives d.
 */
#ifndef ULNA_SRC_BORDER_H
#define ULNA_SRC_BORDER_H

#include "objective/constraint.h"

typedef struct ulna_border {
    int capacity;    /* most rows, a multiple of four */
    int count;       /* rows so far */
    int negative;    /* negative pivots of M */
    double decrease; /* of the quadratic model by d0, shift counted: 1/2 g M^-1 g */
    double *schur;   /* capacity x capacity: S, both triangles, leading dimension `capacity` */
    double *drift;   /* capacity: J d0 */
    /* private */
    ulna_lanes *lanes; /* of four rows each, and one for scratch */
    uint64_t *massive; /* links with mass, and those above them */
    double *beta;      /* capacity: multipliers, then zeros */
} ulna_border;

/* Takes the arrays of a border from an arena (base.h). */
void ulna_border_take(ulna_border *border, const ulna_model *model, int capacity, ulna_arena *arena);

/* Factors M with the rows loaded by ulna_work_load_rows in it, and forgets the rows of the border. Negative pivots are counted, not
 * refused; ULNA_ERR_SINGULAR if one is zero to rounding. Couplings (ULNA_TERM_COUPLING) are not in M, though their gradient is in g:
 * add them to the border as rows with E = 1 / weight (ulna_coupling_row). */
ulna_status ulna_border_factor(ulna_work *work, const ulna_step_options *options, ulna_border *border);
/* Adds rows: fills S and J d0 for them. The rows are read here only. ULNA_ERR_LIMIT beyond the capacity. */
ulna_status ulna_border_add(ulna_work *work, ulna_border *border, const ulna_row *const *rows, int count);
/* d for these multipliers (count numbers). May be called any number of times. Leaves the twists of all links for ulna_border_velocity. */
void ulna_border_step(ulna_work *work, const ulna_border *border, const double *beta, double *step);
/* Row . d from the twists that the last ulna_border_step left, without its Jacobian. */
double ulna_border_velocity(ulna_work *work, const ulna_row *row, const double *step);

/* A row q_b - ratio q_a for the soft coupling number k of the problem, value 0; `weight` is that in f. The row is valid until the
 * next call with the same k. */
void ulna_coupling_row(const ulna_work *work, int k, ulna_row *row, double *weight);

#endif
