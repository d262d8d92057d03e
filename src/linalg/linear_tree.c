/*
 * Newton systems by the tree factorisation, low-rank terms by the formula of Sherman, Morrison and Woodbury.
 *
 * With A = T + V S VT, S = diag(+-1), Z = T^-1 V and the Schur complement C = S + VT Z:
 *     A^-1 b     = y - Z C^-1 VT y, y = T^-1 b                               (S^-1 = S)
 *     inertia(A) = inertia(T) + inertia(-C) - inertia(-S)
 * The second line is E. V. Haynsworth, "Determination of the inertia of a partitioned Hermitian matrix", Linear Algebra
 * Appl. 1, 1968, applied both ways to the matrix [T V; VT -S]. One step of iterative refinement makes up for what the
 * formula loses where T is nearly singular while A is not; if T is singular outright, this way is closed.
 */
#include "linalg/linear.h"
#include "linalg/ltdl.h"
#include "linalg/small.h"

#include <string.h>

static ulna_status place_tree(ulna_linear *linear, ulna_arena *arena)
{
    const ulna_tree *tree = linear->tree;
    const int n = tree->n, max_rank = linear->options.max_rank;
    linear->tree_way.L = ulna_arena_take(arena, n ? tree->row[n] : 0, sizeof(double));
    linear->tree_way.inverse_pivots = ulna_linear_take(arena, n, 1);
    linear->tree_way.Z = ulna_linear_take(arena, n, max_rank);
    linear->tree_way.schur = ulna_linear_take(arena, max_rank, max_rank);
    linear->tree_way.small = ulna_linear_take(arena, max_rank, 1);
    linear->tree_way.pivot = ulna_arena_take(arena, (size_t)max_rank, sizeof(int));
    linear->tree_way.residual = ulna_linear_take(arena, n, 1);
    linear->tree_way.correction = ulna_linear_take(arena, n, 1);
    return ULNA_OK;
}

static void solve_T(const ulna_linear *linear, const double *rhs, double *x)
{
    ulna_ltdl_solve(linear->tree, linear->tree_way.L, linear->tree_way.inverse_pivots, rhs, x);
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static ulna_status factor_schur(ulna_linear *linear)
{
    const size_t n = (size_t)linear->tree->n, rank = (size_t)linear->rank;
    double *C = linear->tree_way.schur;
    int minus = 0;
    for (size_t k = 0; k < rank; k++) {
        double *z = linear->tree_way.Z + n * k;
        solve_T(linear, linear->V + n * k, z);
        for (size_t i = k; i < rank; i++)
            C[i + rank * k] = dot(n, linear->V + n * i, z);
        C[k + rank * k] += linear->sign[k];
        minus += linear->sign[k] < 0;
    }
    if (!ulna_lower_finite(linear->rank, C))
        return ULNA_ERR_NUMBER;
    ulna_inertia of_C;
    ulna_small_ldlt(linear->rank, C, linear->tree_way.pivot);
    const ulna_status status = ulna_ldlt_inertia(linear->rank, C, linear->tree_way.pivot, &of_C);
    linear->inertia.positive += of_C.negative - minus;
    linear->inertia.negative += of_C.positive - (linear->rank - minus);
    linear->inertia.zero += of_C.zero;
    return status;
}

static ulna_status factor_tree(ulna_linear *linear)
{
    const ulna_status status = ulna_ltdl_factor(linear->tree, linear->values, NULL, NULL, ULNA_LTDL_ANY,
                                                linear->tree_way.L, linear->tree_way.inverse_pivots, &linear->inertia);
    if (status == ULNA_ERR_SINGULAR && linear->rank > 0)
        linear->inertia = (ulna_inertia){0, 0, 0}; /* that of T says nothing about A */
    return status || linear->rank == 0 ? status : factor_schur(linear);
}

/* x = A^-1 rhs by the formula; x is not rhs. */
static void solve_woodbury(ulna_linear *linear, const double *rhs, double *x)
{
    const size_t n = (size_t)linear->tree->n, rank = (size_t)linear->rank;
    double *small = linear->tree_way.small;
    solve_T(linear, rhs, x);
    for (size_t k = 0; k < rank; k++)
        small[k] = dot(n, linear->V + n * k, x);
    ulna_small_ldlt_solve(linear->rank, 1, linear->tree_way.schur, linear->tree_way.pivot, small);
    for (size_t k = 0; k < rank; k++) {
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
    return ulna_all_finite(x, n) ? ULNA_OK : ULNA_ERR_NUMBER;
}

const ulna_linear_way ulna_linear_way_tree = {"tree", place_tree, factor_tree, solve_tree};
