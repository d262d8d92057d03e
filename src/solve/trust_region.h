/* trust_region.h (private): the step of an exact Newton method inside a trust region and inside the limits. */
#ifndef ULNA_SRC_TRUST_REGION_H
#define ULNA_SRC_TRUST_REGION_H

#include "solve/solver.h"

/* Part of a method's state. */
typedef struct ulna_trust {
    double *eigen;  /* nv: the lowest eigenvector as far as it is known, zero at first */
    double *solved; /* nv: scratch */
    double floor;   /* sigma is not below: a trace of damping above rounding */
    double lowest;  /* -lowest is about the lowest eigenvalue, if it is negative */
    int is_modest;  /* set it if a step from this q was refused: negative curvature is then not followed far */

    /* What the last step was. */
    double sigma;     /* multiplier of the trust region; at most `floor` if the region did not matter */
    double length;    /* |step / scale| */
    double predicted; /* decrease of the quadratic model */
    int is_inside;    /* the region did not matter: a pure Newton step */
    int is_negative;  /* the Hessian has an eigenvalue below zero, on the DOFs that were free at last */
    int met;          /* DOFs that the step brings onto a limit */
} ulna_trust;

/* In the method's layout, and in its begin. */
void ulna_trust_layout(const ulna_solver *s, ulna_trust *t, ulna_arena *arena);
void ulna_trust_begin(const ulna_solver *s, ulna_trust *t);

/*
 * The step from q that minimises g p + 1/2 p H p over |p / scale| <= radius, H exact, limits kept; into s->step, with
 * s->held and s->displacement as it was solved. The work stands at q. The radius is met to a tenth. Errors are those
 * of ulna_work_step; ULNA_ERR_INDEFINITE and ULNA_ERR_SINGULAR if no shift helps.
 */
ulna_status ulna_trust_step(ulna_solver *s, ulna_trust *t, double radius);

#endif
