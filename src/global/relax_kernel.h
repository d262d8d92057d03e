/* relax_kernel.h (private): the loops that run at every iteration, one set per instruction set, chosen at run time. */
#ifndef ULNA_GLOBAL_RELAX_KERNEL_H
#define ULNA_GLOBAL_RELAX_KERNEL_H

#include "global/relax_tree.h"

typedef struct ulna_relax_kernel {
    const char *name;

    /* For one group of edges in lanes; relax_tree.h describes the same functions for dense edges. */
    int (*factor)(ulna_relax_group *group, double *gap);
    void (*condense)(ulna_relax_group *group); /* Hessian, privates eliminated: rows, inverse, corner */
    void (*gradient)(ulna_relax_group *group, int corrector, double sigma_mu, double posture);
    void (*reduce)(ulna_relax_group *group); /* eliminates the privates from the gradient */
    void (*direction)(ulna_relax_group *group, int corrector, double sigma_mu);
    void (*refine)(ulna_relax_group *group); /* adds to the direction */
    void (*steps)(const ulna_relax_group *group, double *primal, double *dual);
    void (*products)(const ulna_relax_group *group, double products[3]);
    void (*correct)(ulna_relax_group *group);
    void (*advance)(ulna_relax_group *group, double primal, double dual);

    /* Hessians from leaves to root; eliminates the controls of every edge. 0 if a pivot is not positive. */
    int (*sweep_factor)(ulna_relaxation *r);
    /* Gradients from leaves to root: on entry, r->gradient is that of the cost. Those of the controls are written to k,
     * unchanged or, if `eliminate`, after elimination of the controls below. */
    void (*sweep_up)(ulna_relaxation *r, int eliminate);
    /* Steps from root to leaves. */
    void (*sweep_down)(ulna_relaxation *r);
} ulna_relax_kernel;

extern const ulna_relax_kernel ulna_relax_kernel_portable;
#ifndef ULNA_NO_X86
extern const ulna_relax_kernel ulna_relax_kernel_avx2;
extern const ulna_relax_kernel ulna_relax_kernel_avx512;
#endif

/* By name, or for NULL the fastest that this CPU supports; NULL if unknown or not supported. */
const ulna_relax_kernel *ulna_relax_kernel_find(const char *name);

/* ulna_relaxation_create with a given kernel. lanes = 0: all edges are dense; slow, a reference for tests. */
ulna_status ulna_relaxation_create_with(const ulna_reduced *tree, ulna_relax_kind kind, const ulna_relax_kernel *kernel,
                                        int lanes, const ulna_allocator *allocator, ulna_relaxation **relaxation,
                                        ulna_error *error);

#endif
