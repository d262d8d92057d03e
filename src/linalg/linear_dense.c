/* Newton systems by a dense LDLT (Bunch and Kaufman's pivoting): O(n^3), sure and slow. */
#include "linalg/linear.h"
#include "linalg/small.h"

#include <string.h>

static ulna_status place_dense(ulna_linear *linear, ulna_arena *arena)
{
    const int n = linear->tree->n;
    ulna_dense_need need;
    const ulna_status status = ulna_dense_ldlt_need(n, &need);
    linear->dense_way.A = ulna_linear_take(arena, n, n);
    linear->dense_way.pivot = ulna_arena_take(arena, (size_t)n, sizeof(int));
    linear->dense_way.work.reals = ulna_arena_take(arena, need.reals, sizeof(double));
    linear->dense_way.work.integers = ulna_arena_take(arena, need.integers, sizeof(int));
    linear->dense_way.work.have = need;
    return status;
}

static ulna_status factor_dense(ulna_linear *linear)
{
    const size_t n = (size_t)linear->tree->n;
    double *A = linear->dense_way.A;
    ulna_tree_to_dense(linear->tree, linear->values, A);
    for (int k = 0; k < linear->rank; k++) {
        const double *v = linear->V + n * (size_t)k;
        for (size_t j = 0; j < n; j++) {
            const double scale = linear->sign[k] * v[j];
            for (size_t i = j; i < n; i++)
                A[i + n * j] += scale * v[i];
        }
    }
    return ulna_dense_ldlt((int)n, A, linear->dense_way.pivot, &linear->inertia, &linear->dense_way.work);
}

static ulna_status solve_dense(ulna_linear *linear, double *x)
{
    const size_t n = (size_t)linear->tree->n;
    memcpy(x, linear->rhs, n * sizeof *x);
    ulna_dense_ldlt_solve((int)n, 1, linear->dense_way.A, linear->dense_way.pivot, x);
    return ulna_array_finite(x, n) ? ULNA_OK : ULNA_ERR_NUMBER;
}

const ulna_linear_way ulna_linear_way_dense = {"dense", place_dense, factor_dense, solve_dense};
