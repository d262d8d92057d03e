/*
 * Newton systems by the tree factorisation, low-rank terms by the formula of Sherman, Morrison and Woodbury.
 *
 * With A = T + V S VT, S = diag(+-1), Z = T^-1 V and the Schur complement C = S + VT Z:
 *     A^-1 b     = y - Z C^-1 VT y, y = T^-1 b                               (S^-1 = S)
 *     inertia(A) = inertia(T) + inertia(-C) - inertia(-S)
 * The second line is E. V. Haynsworth, "Determination of the inertia of a partitioned Hermitian matrix", Linear Algebra
 * Appl. 1, 1968, applied both ways to the matrix [T V; VT -S].
 *
 * Where T is singular or nearly so while A is not, as when a DOF is seen by nothing but a coupling, Z swamps S in C. With
 * T = LT D L and U = L^-T V, VT Z is the sum over the DOFs j of U_j UT_j / D_j (U_j: row j of U), which shows the pivots
 * to blame. Such a pivot is lifted: T gains |U_j|^2 on the diagonal there, and A keeps its value by one more column of
 * weight -1, sqrt(|U_j|^2) e_j. A is singular if T has more zero pivots than V has columns, so there are never more
 * lifts to make than columns. One step of iterative refinement makes up for what is lost below that.
 */
#include "linalg/linear.h"
#include "linalg/small.h"

#include <math.h>
#include <string.h>

/* A pivot is lifted if it makes an element of VT Z larger than this, beside the 1 of S. */
#define SWAMPED 1e8

static ulna_status place_tree(ulna_linear *linear, ulna_arena *arena)
{
    const ulna_tree *tree = linear->tree;
    const int n = tree->n, max_rank = linear->options.max_rank, columns = 2 * max_rank;
    linear->tree_way.kernel = ulna_ltdl_kernel_find(NULL);
    linear->tree_way.lift = ulna_linear_take(arena, n, 1);
    linear->tree_way.lifted_dof = ulna_arena_take(arena, (size_t)max_rank, sizeof(int));
    linear->tree_way.L = ulna_arena_take(arena, n ? tree->row[n] : 0, sizeof(double));
    linear->tree_way.inverse_pivots = ulna_linear_take(arena, n, 1);
    linear->tree_way.Z = ulna_linear_take(arena, n, columns);
    linear->tree_way.schur = ulna_linear_take(arena, columns, columns);
    linear->tree_way.small = ulna_linear_take(arena, columns, 1);
    linear->tree_way.pivot = ulna_arena_take(arena, (size_t)columns, sizeof(int));
    linear->tree_way.residual = ulna_linear_take(arena, n, 1);
    linear->tree_way.correction = ulna_linear_take(arena, n, 1);
    return ULNA_OK;
}

static ulna_status factor_T(ulna_linear *linear)
{
    const double *lift = linear->tree_way.lifted ? linear->tree_way.lift : NULL;
    return ulna_ltdl_factor_with(linear->tree_way.kernel, linear->tree, linear->values, lift, NULL, ULNA_LTDL_ANY,
                                 linear->tree_way.L, linear->tree_way.inverse_pivots, &linear->inertia);
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

/* ---- lifting pivots ------------------------------------------------------------------------------------------ */

/* U = L^-T V, where Z will be. */
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

/* 0 if there is no room for another lift, or if V has nothing to offer at DOF j. */
static int lift_pivot(ulna_linear *linear, const double *U, int j)
{
    const ulna_tree *tree = linear->tree;
    const double diagonal = linear->values[tree->row[j] + (size_t)tree->depth[j] - 1];
    double *lift = linear->tree_way.lift, square = 0;
    for (int k = 0; k < linear->rank; k++) {
        const double u = U[(size_t)j + (size_t)tree->n * (size_t)k];
        square += u * u;
    }
    if (linear->tree_way.lifted == linear->options.max_rank || lift[j] > 0)
        return 0;
    if (!(square > ULNA_LTDL_PIVOT_TOLERANCE * fabs(diagonal)))
        return 0;
    lift[j] = square;
    linear->tree_way.lifted_dof[linear->tree_way.lifted++] = j;
    return 1;
}

/* Lifts all zero pivots, and for each column the one that swamps it most. Returns how many; 0 if one that is zero
 * cannot be lifted, for then A is singular. */
static int lift_pivots(ulna_linear *linear)
{
    const int n = linear->tree->n, before = linear->tree_way.lifted;
    const double *inverse = linear->tree_way.inverse_pivots, *U = transform_V(linear);
    for (int j = 0; j < n; j++) {
        if (inverse[j] == 0 && !lift_pivot(linear, U, j))
            return 0;
    }
    for (int k = 0; k < linear->rank; k++) {
        const double *u = U + (size_t)n * (size_t)k;
        int worst = 0;
        for (int j = 1; j < n; j++) {
            if (fabs(u[j] * u[j] * inverse[j]) > fabs(u[worst] * u[worst] * inverse[worst]))
                worst = j;
        }
        if (fabs(u[worst] * u[worst] * inverse[worst]) * n > SWAMPED)
            lift_pivot(linear, U, worst);
    }
    return linear->tree_way.lifted - before;
}

/* ---- factor -------------------------------------------------------------------------------------------------- */

/* Z and the lower triangle of C for the first `columns` columns of V. Returns 1 if S drowns in one of them. */
static int fill_schur(ulna_linear *linear, int columns)
{
    const size_t n = (size_t)linear->tree->n, size = (size_t)columns;
    double *C = linear->tree_way.schur;
    int swamped = 0;
    for (size_t k = 0; k < size; k++) {
        double *z = linear->tree_way.Z + n * k;
        solve_T(linear, linear->V + n * k, z);
        for (size_t i = k; i < size; i++)
            C[i + size * k] = dot(n, linear->V + n * i, z);
        swamped |= fabs(C[k + size * k]) > SWAMPED;
        C[k + size * k] += linear->sign[k];
    }
    return swamped;
}

static ulna_status factor_schur(ulna_linear *linear, int columns)
{
    double *C = linear->tree_way.schur;
    int minus = 0;
    for (int k = 0; k < columns; k++)
        minus += linear->sign[k] < 0;
    if (!ulna_lower_finite(columns, C))
        return ULNA_ERR_NUMBER;
    ulna_inertia of_C;
    ulna_small_ldlt(columns, C, linear->tree_way.pivot);
    const ulna_status status = ulna_ldlt_inertia(columns, C, linear->tree_way.pivot, &of_C);
    linear->inertia.positive += of_C.negative - minus;
    linear->inertia.negative += of_C.positive - (columns - minus);
    linear->inertia.zero += of_C.zero;
    return status;
}

/* The columns that take the lifts back. */
static void add_lift_columns(ulna_linear *linear)
{
    const size_t n = (size_t)linear->tree->n;
    for (int i = 0; i < linear->tree_way.lifted; i++) {
        const int column = linear->rank + i, j = linear->tree_way.lifted_dof[i];
        double *v = linear->V + n * (size_t)column;
        memset(v, 0, n * sizeof *v);
        v[j] = sqrt(linear->tree_way.lift[j]);
        linear->sign[column] = -1;
    }
}

static ulna_status factor_tree(ulna_linear *linear)
{
    linear->tree_way.lifted = 0;
    ulna_status status = factor_T(linear);
    if (linear->rank == 0 || (status && status != ULNA_ERR_SINGULAR))
        return status;
    memset(linear->tree_way.lift, 0, (size_t)linear->tree->n * sizeof *linear->tree_way.lift);
    int swamped = status || fill_schur(linear, linear->rank);
    const int refill = swamped;
    while (swamped && lift_pivots(linear)) {
        status = factor_T(linear);
        swamped = status || fill_schur(linear, linear->rank);
    }
    if (status) {
        linear->inertia = (ulna_inertia){0, 0, 0}; /* that of T says nothing about A */
        return status;
    }
    const int columns = linear->rank + linear->tree_way.lifted;
    if (refill) {
        add_lift_columns(linear);
        fill_schur(linear, columns);
    }
    return factor_schur(linear, columns);
}

/* ---- solve --------------------------------------------------------------------------------------------------- */

/* x = A^-1 rhs by the formula; x is not rhs. */
static void solve_woodbury(ulna_linear *linear, const double *rhs, double *x)
{
    const int columns = linear->rank + linear->tree_way.lifted;
    const size_t n = (size_t)linear->tree->n, size = (size_t)columns;
    double *small = linear->tree_way.small;
    solve_T(linear, rhs, x);
    for (size_t k = 0; k < size; k++)
        small[k] = dot(n, linear->V + n * k, x);
    ulna_small_ldlt_solve(columns, 1, linear->tree_way.schur, linear->tree_way.pivot, small);
    for (size_t k = 0; k < size; k++) {
        const double *z = linear->tree_way.Z + n * k;
        for (size_t i = 0; i < n; i++)
            x[i] -= z[i] * small[k];
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
