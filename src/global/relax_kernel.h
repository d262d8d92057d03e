/* relax_kernel.h (private): the loops that run at every iteration, one set per instruction set, chosen at run time. */
#ifndef ULNA_GLOBAL_RELAX_KERNEL_H
#define ULNA_GLOBAL_RELAX_KERNEL_H

#include "global/relax_tree.h"

typedef struct ulna_relax_kernel {
    const char *name;

    /* One group of edges in lanes; what they do is said at their dense twins in relax_tree.h. */
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

    /* Hessians from leaves to root, the controls of every edge eliminated. 0 if numbers broke down. */
    int (*sweep_factor)(ulna_relaxation *r);
    /* Gradients from leaves to root: r->gradient holds that of the cost on entry. The controls' go to k: as they are,
     * or with the eliminated ones taken out. */
    void (*sweep_up)(ulna_relaxation *r, int eliminate);
    /* Steps from root to leaves. */
    void (*sweep_down)(ulna_relaxation *r);
} ulna_relax_kernel;

extern const ulna_relax_kernel ulna_relax_kernel_portable;
#ifndef ULNA_NO_X86
extern const ulna_relax_kernel ulna_relax_kernel_avx2;
extern const ulna_relax_kernel ulna_relax_kernel_avx512;
#endif

/* By name, or the best that this CPU runs for NULL; NULL if unknown or not supported. */
const ulna_relax_kernel *ulna_relax_kernel_find(const char *name);

/* ulna_relaxation_create with a given kernel; lanes = 0: every edge by its own matrices, slow and plain. */
ulna_status ulna_relaxation_create_with(const ulna_reduced *tree, ulna_relax_kind kind, const ulna_relax_kernel *kernel,
                                        int lanes, const ulna_allocator *allocator, ulna_relaxation **relaxation,
                                        ulna_error *error);

#endif
