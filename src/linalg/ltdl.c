/*
 * The tree factorisation around its kernels: arguments, shift and fixed rows, choice of kernel, very deep trees.
 * The algorithm and its source: ltdl_kernel.inc.
 */
#include "linalg/ltdl.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- choice of kernel ---------------------------------------------------------------------------------------- */

/* The factorisation takes about a microsecond, so the choice is made of inlined bit tests: no table, no calls. */
static inline const ulna_ltdl_kernel *avx2_if_supported(void)
{
#ifndef ULNA_NO_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &ulna_ltdl_kernel_avx2;
#endif
    return NULL;
}

static inline const ulna_ltdl_kernel *avx512_if_supported(void)
{
#ifndef ULNA_NO_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return &ulna_ltdl_kernel_avx512;
#endif
    return NULL;
}

static inline const ulna_ltdl_kernel *best_kernel(void)
{
    const ulna_ltdl_kernel *kernel = avx512_if_supported();
    if (!kernel)
        kernel = avx2_if_supported();
    return kernel ? kernel : &ulna_ltdl_kernel_portable;
}

const ulna_ltdl_kernel *ulna_ltdl_kernel_find(const char *name)
{
    return !name                       ? best_kernel()
           : !strcmp(name, "avx512")   ? avx512_if_supported()
           : !strcmp(name, "avx2")     ? avx2_if_supported()
           : !strcmp(name, "portable") ? &ulna_ltdl_kernel_portable
                                       : NULL;
}

/* ---- factor -------------------------------------------------------------------------------------------------- */

/*
 * Rows and columns of fixed DOFs become those of the identity. link[j] is the nearest fixed ancestor of j, so the cost
 * is that of the zeros to write; it borrows memory that the caller fills afterwards.
 */
static void clear_fixed(const ulna_tree *tree, const unsigned char *fixed, double *L, double *link)
{
    int above = -1; /* link of j, carried along a branch */
    for (int j = 0; j < tree->n; j++) {
        const int parent = tree->parent[j], depth = tree->depth[j];
        double *row = L + tree->row[j];
        if (parent != j - 1)
            above = parent < 0 ? -1 : (int)link[parent];
        if (parent >= 0 && fixed[parent])
            above = parent;
        link[j] = above;
        if (fixed[j]) {
            memset(row, 0, (size_t)(depth - 1) * sizeof *row);
            row[depth - 1] = 1;
            continue;
        }
        for (int i = above; i >= 0; i = (int)link[i])
            row[tree->depth[i] - 1] = 0;
    }
}

/* out = H + diag(shift), with fixed DOFs as rows and columns of the identity. scratch: n. */
static void prepare(const ulna_tree *tree, const double *H, const double *shift, const unsigned char *fixed,
                    double *out, double *scratch)
{
    memcpy(out, H, tree->row[tree->n] * sizeof *out);
    if (fixed)
        clear_fixed(tree, fixed, out, scratch);
    for (int j = 0; shift && j < tree->n; j++) {
        if (!(fixed && fixed[j]))
            out[tree->row[j] + (size_t)tree->depth[j] - 1] += shift[j];
    }
}

/* Signs of the pivots from `first` on; returns 0 if one is not finite. */
static int count_pivots(const double *inverse_pivots, int first, int n, ulna_inertia *inertia)
{
    int positive = 0, negative = 0, zero = 0;
    for (int j = first; j < n; j++) {
        positive += inverse_pivots[j] > 0;
        negative += inverse_pivots[j] < 0;
        zero += inverse_pivots[j] == 0;
    }
    *inertia = (ulna_inertia){positive, negative, zero};
    return positive + negative + zero == n - first;
}

ulna_status ulna_ltdl_factor_with(const ulna_ltdl_kernel *kernel, const ulna_tree *tree, const double *H,
                                  const double *shift, const unsigned char *fixed, ulna_ltdl_mode mode, double *L,
                                  double *inverse_pivots, ulna_inertia *inertia)
{
    if (!kernel || !tree || tree->n < 0 || (mode != ULNA_LTDL_ANY && mode != ULNA_LTDL_POSITIVE))
        return ULNA_ERR_ARGUMENT;
    if (tree->n > 0 && (!H || !L || H == L || !inverse_pivots))
        return ULNA_ERR_ARGUMENT;
    ulna_inertia counted = {0, 0, 0};
    if (inertia)
        *inertia = counted;
    if (tree->n == 0)
        return ULNA_OK;

    prepare(tree, H, shift, fixed, L, inverse_pivots);
    for (int j = 0; j < tree->n; j++) {
        const double least = ULNA_LTDL_PIVOT_TOLERANCE * fabs(L[tree->row[j] + (size_t)tree->depth[j] - 1]);
        inverse_pivots[j] = least > DBL_MIN ? least : DBL_MIN;
    }
    const int first = kernel->factor(tree, mode == ULNA_LTDL_POSITIVE, L, inverse_pivots);
    const int finite = count_pivots(inverse_pivots, first, tree->n, &counted);
    if (inertia)
        *inertia = counted;
    if (!finite)
        return ULNA_ERR_NUMBER;
    if (mode == ULNA_LTDL_POSITIVE && counted.positive < tree->n)
        return ULNA_ERR_INDEFINITE;
    return counted.zero ? ULNA_ERR_SINGULAR : ULNA_OK;
}

ulna_status ulna_ltdl_factor(const ulna_tree *tree, const double *H, const double *shift, const unsigned char *fixed,
                             ulna_ltdl_mode mode, double *L, double *inverse_pivots, ulna_inertia *inertia)
{
    return ulna_ltdl_factor_with(best_kernel(), tree, H, shift, fixed, mode, L, inverse_pivots, inertia);
}

/* ---- solve --------------------------------------------------------------------------------------------------- */

/* Paths of any depth, row by row. Where a path is a run of numbers, as in a rope, the loops run over plain arrays. */
static void solve_deep(const ulna_tree *tree, const double *L, const double *inverse_pivots, double *x)
{
    for (int j = tree->n - 1; j >= 0; j--) {
        const double *row = L + tree->row[j];
        const int *path = tree->path[j], above = tree->depth[j] - 1;
        const double y = x[j];
        if (path[above] - path[0] == above) {
            double *run = x + path[0];
            for (int p = 0; p < above; p++)
                run[p] -= row[p] * y;
        } else {
            for (int p = 0; p < above; p++)
                x[path[p]] -= row[p] * y;
        }
    }
    for (int j = 0; j < tree->n; j++) {
        const double *row = L + tree->row[j];
        const int *path = tree->path[j], above = tree->depth[j] - 1;
        double sum[4] = {0, 0, 0, 0};
        int p = 0;
        if (path[above] - path[0] == above) {
            const double *run = x + path[0];
            for (; p + 4 <= above; p += 4) {
                for (int lane = 0; lane < 4; lane++)
                    sum[lane] += row[p + lane] * run[p + lane];
            }
        }
        for (; p < above; p++)
            sum[0] += row[p] * x[path[p]];
        x[j] = x[j] * inverse_pivots[j] - ((sum[0] + sum[2]) + (sum[1] + sum[3]));
    }
}

ulna_status ulna_ltdl_solve_with(const ulna_ltdl_kernel *kernel, const ulna_tree *tree, const double *L,
                                 const double *inverse_pivots, const double *rhs, double *x)
{
    if (!kernel || !tree || tree->n < 0)
        return ULNA_ERR_ARGUMENT;
    if (tree->n == 0)
        return ULNA_OK;
    if (!L || !inverse_pivots || !rhs || !x)
        return ULNA_ERR_ARGUMENT;

    int deepest = 0;
    for (int j = 0; j < tree->n; j++)
        deepest = tree->depth[j] > deepest ? tree->depth[j] : deepest;
    if (x != rhs)
        memmove(x, rhs, (size_t)tree->n * sizeof *x);
    if (deepest <= ULNA_LTDL_KERNEL_DEPTH)
        kernel->solve(tree, deepest, L, inverse_pivots, x);
    else
        solve_deep(tree, L, inverse_pivots, x);
    return ULNA_OK;
}

ulna_status ulna_ltdl_solve(const ulna_tree *tree, const double *L, const double *inverse_pivots, const double *rhs,
                            double *x)
{
    return ulna_ltdl_solve_with(best_kernel(), tree, L, inverse_pivots, rhs, x);
}
