/* coleman_li.h (private): affine scaling towards the limits, and steps that are reflected by them. */
#ifndef ULNA_SRC_COLEMAN_LI_H
#define ULNA_SRC_COLEMAN_LI_H

#include "solve/solver.h"

/* Part of a method's state. Arrays are nv. Hatted vectors h stand for steps reach * h. */
typedef struct ulna_interior {
    double *reach; /* scale |v|^(1/2); 0 for DOFs that cannot move */
    double *bend;  /* C: curvature that the limits bring in; 1 for DOFs that cannot move */
    double *slope; /* gradient in hatted coordinates */
    double *reflected, *downhill, *product, *scratch;
    double theta; /* part of the way to a limit that a step may go */
} ulna_interior;

void ulna_interior_layout(const ulna_solver *s, ulna_interior *in, ulna_arena *arena);

/* Scaling at q: s->gradient must be known there. */
void ulna_interior_scale(const ulna_solver *s, ulna_interior *in);

/* g h + 1/2 h A h with the hatted matrix A, C included, that `apply` multiplies with; `product` receives A h. */
ulna_status ulna_interior_model(const ulna_solver *s, const ulna_interior *in, ulna_linear_map apply, void *context,
                                const double *h, double *product, double *value);

/*
 * The step inside the limits: from the solution p of the trust region problem (nv, hatted) the best of going along
 * it, along its reflection by the first limit that it meets, and down the scaled gradient. Into p, and as a step of
 * DOFs into s->step. `decrease` is that of the model.
 */
ulna_status ulna_interior_step(ulna_solver *s, ulna_interior *in, ulna_linear_map apply, void *context, double radius,
                               double *p, double *decrease);

#endif
