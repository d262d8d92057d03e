/*
 * Newton systems by the tree factorisation, low-rank terms by the formula of Sherman, Morrison and Woodbury.
 *
 * With A = T + V S VT, S = diag(+-1), Z = T^-1 V and the Schur complement K = S + VT Z:
 *     A^-1 b     = y - Z K^-1 VT y, y = T^-1 b                               (S^-1 = S)
 *     inertia(A) = inertia(T) + inertia(-K) - inertia(-S)
 * The second line is E. V. Haynsworth, "Determination of the inertia of a partitioned Hermitian matrix", Linear Algebra
 * Appl. 1, 1968, applied both ways to the matrix [T V; VT -S].
 *
 * Where T is singular or nearly so while A is not, as when a DOF is seen by nothing but a coupling, VT Z swamps S. With
 * T = LT D L and U = L^-T V, it is the sum over the DOFs j of U_j UT_j / D_j (U_j: row j of U), which shows the pivots
 * to blame. These weak DOFs, no more than V has columns, are left out of the sum: their inverse pivots become 0, T^-1
 * now being a generalised inverse, and they join K, with W = L^-1 (their columns) and D their pivots, zero or not:
 *     K = [ S + VT Z   -VT W ]     A^-1 b = y - [Z -W] K^-1 [VT y; -WT b]
 *         [ -WT V      -D    ]
 * (the block LDLT of [T V; VT -S], weak DOFs last). In the formula of the inertia, T loses its weak pivots. If T has more
 * zero pivots than V has columns, or V does not reach one, A is singular. One step of iterative refinement makes up for
 * what rounding costs below the threshold.
 */
#include "linalg/linear.h"
#include "linalg/small.h"

#include <math.h>
#include <string.h>

/* Pivots are weak if they make an element of VT Z larger than this, beside the 1 of S. */
#define SWAMPED 1e8

static ulna_status place_tree(ulna_linear *linear, ulna_arena *arena)
{
    const ulna_tree *tree = linear->tree;
    const int n = tree->n, max_rank = linear->options.max_rank, size = 2 * max_rank;
    linear->tree_way.kernel = ulna_ltdl_kernel_find(NULL);
    linear->tree_way.L = ulna_arena_take(arena, n ? tree->row[n] : 0, sizeof(double));
    linear->tree_way.inverse_pivots = ulna_linear_take(arena, n, 1);
    linear->tree_way.weak = ulna_arena_take(arena, (size_t)max_rank, sizeof(int));
    linear->tree_way.Z = ulna_linear_take(arena, n, size);
    linear->tree_way.K = ulna_linear_take(arena, size, size);
    linear->tree_way.small = ulna_linear_take(arena, size, 1);
    linear->tree_way.scale = ulna_linear_take(arena, size, 1);
    linear->tree_way.pivot = ulna_arena_take(arena, (size_t)size, sizeof(int));
    linear->tree_way.residual = ulna_linear_take(arena, n, 1);
    linear->tree_way.correction = ulna_linear_take(arena, n, 1);
    return ULNA_OK;
}

static void solve_T(const ulna_linear *linear, const double *rhs, double *x)
{
    ulna_ltdl_solve_with(linear->tree_way.kernel, linear->tree, linear->tree_way.L, linear->tree_way.inverse_pivots,
                         rhs, x);
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* ---- weak pivots --------------------------------------------------------------------------------------------- */

/* U = L^-T V, over Z. */
static const double *transform_V(ulna_linear *linear)
{
    const ulna_tree *tree = linear->tree;
    const size_t n = (size_t)tree->n;
    double *U = linear->tree_way.Z;
    memcpy(U, linear->V, n * (size_t)linear->rank * sizeof *U);
    for (int k = 0; k < linear->rank; k++) {
        double *u = U + n * (size_t)k;
        for (int j = tree->n - 1; j >= 0; j--) {
            const double *row = linear->tree_way.L + tree->row[j];
            for (int p = 0; p < tree->depth[j] - 1; p++)
                u[tree->path[j][p]] -= row[p] * u[j];
        }
    }
    return U;
}

/* Whether V reaches the direction of pivot j: if that is zero, this decides between regular and singular. */
static int low_rank_reaches(const ulna_linear *linear, const double *U, int j)
{
    const ulna_tree *tree = linear->tree;
    const double diagonal = linear->values[tree->row[j] + (size_t)tree->depth[j] - 1];
    double square = 0;
    for (int k = 0; k < linear->rank; k++) {
        const double u = U[(size_t)j + (size_t)tree->n * (size_t)k];
        square += u * u;
    }
    return square > ULNA_LTDL_PIVOT_TOLERANCE * fabs(diagonal);
}

/* The pivot leaves T for K; D and its sign are kept there. */
static void weaken(ulna_linear *linear, int j)
{
    const int rank = linear->rank, at = rank + linear->tree_way.weak_count++;
    double *inverse = &linear->tree_way.inverse_pivots[j];
    linear->tree_way.weak[at - rank] = j;
    linear->tree_way.scale[at] = *inverse != 0 ? 1 / *inverse : 0;
    linear->inertia.positive -= *inverse > 0;
    linear->inertia.negative -= *inverse < 0;
    linear->inertia.zero -= *inverse == 0;
    *inverse = 0;
}

/* All zero pivots are weak. ULNA_ERR_SINGULAR if V cannot make up for them. */
static ulna_status weaken_zeros(ulna_linear *linear)
{
    const double *U = transform_V(linear);
    if (linear->inertia.zero > linear->rank)
        return ULNA_ERR_SINGULAR;
    for (int j = 0; j < linear->tree->n; j++) {
        if (linear->tree_way.inverse_pivots[j] != 0)
            continue;
        if (!low_rank_reaches(linear, U, j))
            return ULNA_ERR_SINGULAR;
        weaken(linear, j);
    }
    return ULNA_OK;
}

/* For each column the pivot that swamps it most becomes weak, as long as there is room. Returns how many did. */
static int weaken_worst(ulna_linear *linear)
{
    const int n = linear->tree->n, before = linear->tree_way.weak_count;
    const double *inverse = linear->tree_way.inverse_pivots, *U = transform_V(linear);
    for (int k = 0; k < linear->rank && linear->tree_way.weak_count < linear->rank; k++) {
        const double *u = U + (size_t)n * (size_t)k;
        double worst = 0;
        int where = 0;
        for (int j = 0; j < n; j++) {
            const double part = fabs(u[j] * inverse[j] * u[j]);
            if (part > worst) {
                worst = part;
                where = j;
            }
        }
        if (worst * n > SWAMPED)
            weaken(linear, where);
    }
    return linear->tree_way.weak_count - before;
}

/* -W: columns of weak DOFs of -L^-1. */
static void solve_weak_columns(ulna_linear *linear)
{
    const ulna_tree *tree = linear->tree;
    const size_t n = (size_t)tree->n;
    for (int i = 0; i < linear->tree_way.weak_count; i++) {
        double *w = linear->tree_way.Z + n * (size_t)(linear->rank + i);
        const int first = linear->tree_way.weak[i];
        memset(w, 0, n * sizeof *w);
        w[first] = -1;
        for (int j = first + 1; j < tree->n; j++) {
            const double *row = linear->tree_way.L + tree->row[j];
            for (int p = 0; p < tree->depth[j] - 1; p++)
                w[j] -= row[p] * w[tree->path[j][p]];
        }
    }
}

/* ---- factor -------------------------------------------------------------------------------------------------- */

/* Z and VT Z (lower triangle, `size` rows to a column). Returns 1 if S would drown in it. */
static int fill_strong(ulna_linear *linear, size_t size)
{
    const size_t n = (size_t)linear->tree->n, rank = (size_t)linear->rank;
    double *K = linear->tree_way.K;
    int swamped = 0;
    for (size_t k = 0; k < rank; k++) {
        double *z = linear->tree_way.Z + n * k;
        solve_T(linear, linear->V + n * k, z);
        for (size_t i = k; i < rank; i++)
            K[i + size * k] = dot(n, linear->V + n * i, z);
        swamped |= fabs(K[k + size * k]) > SWAMPED;
    }
    return swamped;
}

/* The rest of K. Weak pivots are waiting in `scale`. */
static void fill_weak(ulna_linear *linear, size_t size)
{
    const size_t n = (size_t)linear->tree->n, rank = (size_t)linear->rank;
    double *K = linear->tree_way.K;
    solve_weak_columns(linear);
    for (size_t i = rank; i < size; i++) {
        for (size_t k = 0; k < rank; k++)
            K[i + size * k] = dot(n, linear->V + n * k, linear->tree_way.Z + n * i);
        for (size_t k = rank; k < i; k++)
            K[i + size * k] = 0;
        K[i + size * i] = -linear->tree_way.scale[i];
    }
}

/* Rows and columns of K to elements of about 1, so that its rank can be told. Those of V are only made smaller: beside
 * the 1 of S, less is less. */
static void equilibrate(ulna_linear *linear, size_t size)
{
    double *K = linear->tree_way.K, *scale = linear->tree_way.scale;
    for (size_t i = 0; i < size; i++) {
        double largest = sqrt(fabs(K[i + size * i]));
        if (i < (size_t)linear->rank)
            largest = fmax(largest, 1);
        for (size_t k = 0; i >= (size_t)linear->rank && k < i; k++)
            largest = fmax(largest, fabs(K[i + size * k]) * scale[k]);
        scale[i] = largest > 0 ? 1 / largest : 1;
    }
    for (size_t k = 0; k < size; k++) {
        for (size_t i = k; i < size; i++)
            K[i + size * k] *= scale[i] * scale[k];
    }
}

static ulna_status factor_K(ulna_linear *linear, int size)
{
    double *K = linear->tree_way.K;
    int minus = 0;
    for (int k = 0; k < linear->rank; k++) {
        K[(size_t)k * ((size_t)size + 1)] += linear->sign[k];
        minus += linear->sign[k] < 0;
    }
    if (!ulna_lower_finite(size, K))
        return ULNA_ERR_NUMBER;
    equilibrate(linear, (size_t)size);
    ulna_inertia of_K;
    ulna_small_ldlt(size, K, linear->tree_way.pivot);
    const ulna_status status = ulna_ldlt_inertia(size, K, linear->tree_way.pivot, &of_K);
    linear->inertia.positive += of_K.negative - minus;
    linear->inertia.negative += of_K.positive - (linear->rank - minus);
    linear->inertia.zero += of_K.zero;
    return status;
}

static ulna_status factor_tree(ulna_linear *linear)
{
    linear->tree_way.weak_count = 0;
    ulna_status status =
        ulna_ltdl_factor_with(linear->tree_way.kernel, linear->tree, linear->values, NULL, NULL, ULNA_LTDL_ANY,
                              linear->tree_way.L, linear->tree_way.inverse_pivots, &linear->inertia);
    if (linear->rank == 0 || (status && status != ULNA_ERR_SINGULAR))
        return status;
    if (status == ULNA_ERR_SINGULAR && weaken_zeros(linear)) {
        linear->inertia = (ulna_inertia){0, 0, 0}; /* that of T says nothing about A */
        return status;
    }
    while (fill_strong(linear, (size_t)linear->rank) && weaken_worst(linear))
        ;
    const int size = linear->rank + linear->tree_way.weak_count;
    if (size > linear->rank) {
        fill_strong(linear, (size_t)size);
        fill_weak(linear, (size_t)size);
    }
    return factor_K(linear, size);
}

/* ---- solve --------------------------------------------------------------------------------------------------- */

/* x = A^-1 rhs by the formula; x is not rhs. */
static void solve_woodbury(ulna_linear *linear, const double *rhs, double *x)
{
    const int size = linear->rank + linear->tree_way.weak_count;
    const size_t n = (size_t)linear->tree->n;
    const double *scale = linear->tree_way.scale;
    double *small = linear->tree_way.small;
    solve_T(linear, rhs, x);
    for (int k = 0; k < size; k++) {
        const double *z = linear->tree_way.Z + n * (size_t)k, *v = linear->V + n * (size_t)k;
        small[k] = scale[k] * (k < linear->rank ? dot(n, v, x) : dot(n, z, rhs));
    }
    ulna_small_ldlt_solve(size, 1, linear->tree_way.K, linear->tree_way.pivot, small);
    for (int k = 0; k < size; k++) {
        const double *z = linear->tree_way.Z + n * (size_t)k, part = small[k] * scale[k];
        for (size_t i = 0; i < n; i++)
            x[i] -= z[i] * part;
    }
}

static ulna_status solve_tree(ulna_linear *linear, double *x)
{
    const size_t n = (size_t)linear->tree->n;
    if (linear->rank == 0) {
        solve_T(linear, linear->rhs, x);
    } else {
        double *residual = linear->tree_way.residual, *correction = linear->tree_way.correction;
        solve_woodbury(linear, linear->rhs, x);
        ulna_linear_apply(linear, x, residual);
        for (size_t i = 0; i < n; i++)
            residual[i] = linear->rhs[i] - residual[i];
        solve_woodbury(linear, residual, correction);
        for (size_t i = 0; i < n; i++)
            x[i] += correction[i];
    }
    return ulna_array_finite(x, n) ? ULNA_OK : ULNA_ERR_NUMBER;
}

const ulna_linear_way ulna_linear_way_tree = {"tree", place_tree, factor_tree, solve_tree};
