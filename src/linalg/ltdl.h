/* ltdl.h (private): the kernels of the tree factorisation, one set per instruction set, chosen at run time. */
#ifndef ULNA_SRC_LTDL_H
#define ULNA_SRC_LTDL_H

#include "linalg/linalg.h"

/* Deeper trees go through plain loops: the kernels keep values along one path on the stack. */
#define ULNA_LTDL_KERNEL_DEPTH 512

/* A pivot below this times its diagonal element before elimination is zero. */
#define ULNA_LTDL_PIVOT_TOLERANCE (1024 * 2.220446049250313e-16)

typedef struct ulna_ltdl_kernel {
    const char *name;

    /* On entry L holds the matrix and inverse_pivots the size below which each pivot is zero. Returns the first DOF
     * that was reached: 0, or more if it stopped because `positive_only` and a pivot is not positive. An inverse is
     * NaN if its pivot is not finite, and 0 if it is zero. */
    int (*factor)(const ulna_tree *tree, int positive_only, double *L, double *inverse_pivots);

    /* In place. deepest: the largest depth, at most ULNA_LTDL_KERNEL_DEPTH. */
    void (*solve)(const ulna_tree *tree, int deepest, const double *L, const double *inverse_pivots, double *x);
} ulna_ltdl_kernel;

extern const ulna_ltdl_kernel ulna_ltdl_kernel_portable;
#ifndef ULNA_NO_X86
extern const ulna_ltdl_kernel ulna_ltdl_kernel_avx2;
extern const ulna_ltdl_kernel ulna_ltdl_kernel_avx512;
#endif

/* By name, or the best that this CPU runs for NULL (a few bit tests); NULL if unknown or not supported. The names and
 * what they ask of the CPU are those of src/kinematics/kernel.h, which chooses per pose: keep the two alike. */
const ulna_ltdl_kernel *ulna_ltdl_kernel_find(const char *name);

/* ulna_ltdl_factor and ulna_ltdl_solve with a given kernel. */
ulna_status ulna_ltdl_factor_with(const ulna_ltdl_kernel *kernel, const ulna_tree *tree, const double *H,
                                  const double *shift, const unsigned char *fixed, ulna_ltdl_mode mode, double *L,
                                  double *inverse_pivots, ulna_inertia *inertia);
ulna_status ulna_ltdl_solve_with(const ulna_ltdl_kernel *kernel, const ulna_tree *tree, const double *L,
                                 const double *inverse_pivots, const double *rhs, double *x);

#endif
