/*
 * Dense Cholesky and LDLT by plain loops.
 *
 * LDLT: J. R. Bunch and B. N. Parlett, "Direct methods for solving symmetric indefinite systems of linear equations",
 * SIAM J. Numer. Anal. 8, 1971: diagonal pivoting with 1x1 and 2x2 blocks, the whole remainder searched. Changed: rows
 * of L are swapped along, so that P is a plain sequence of swaps. The search costs n^3 / 6 comparisons.
 */
#include "linalg/small.h"

#include <float.h>
#include <math.h>

int ulna_array_finite(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i]))
            return 0;
    }
    return 1;
}

int ulna_lower_finite(int n, const double *A)
{
    const size_t size = (size_t)n;
    for (size_t j = 0; j < size; j++) {
        if (!ulna_array_finite(A + j + size * j, size - j))
            return 0;
    }
    return 1;
}

/* ---- Cholesky ------------------------------------------------------------------------------------------------ */

ulna_status ulna_small_cholesky(int n, double *A)
{
    const size_t size = (size_t)n;
    for (size_t j = 0; j < size; j++) {
        double *column = A + size * j;
        if (!(column[j] > 0))
            return ULNA_ERR_INDEFINITE;
        column[j] = sqrt(column[j]);
        for (size_t i = j + 1; i < size; i++)
            column[i] /= column[j];
        for (size_t k = j + 1; k < size; k++) {
            for (size_t i = k; i < size; i++)
                A[i + size * k] -= column[i] * column[k];
        }
    }
    return ULNA_OK;
}

void ulna_small_cholesky_solve(int n, int columns, const double *A, double *B)
{
    const size_t size = (size_t)n;
    for (int column = 0; column < columns; column++, B += size) {
        for (size_t j = 0; j < size; j++) {
            B[j] /= A[j + size * j];
            for (size_t i = j + 1; i < size; i++)
                B[i] -= A[i + size * j] * B[j];
        }
        for (size_t j = size; j-- > 0;) {
            for (size_t i = j + 1; i < size; i++)
                B[j] -= A[i + size * j] * B[i];
            B[j] /= A[j + size * j];
        }
    }
}

/* ---- LDLT ---------------------------------------------------------------------------------------------------- */

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* Swaps rows and columns k < r of the symmetric matrix in the lower triangle, and of L to its left. */
static void swap_symmetric(size_t n, double *A, size_t k, size_t r)
{
    if (k == r)
        return;
    for (size_t j = 0; j < k; j++)
        swap(&A[k + n * j], &A[r + n * j]);
    for (size_t j = k + 1; j < r; j++)
        swap(&A[j + n * k], &A[r + n * j]);
    for (size_t j = r + 1; j < n; j++)
        swap(&A[j + n * k], &A[j + n * r]);
    swap(&A[k + n * k], &A[r + n * r]);
}

/* The largest elements of the remainder from k on: on the diagonal (r, r), and off it (p, q), p > q. */
typedef struct largest {
    size_t r, p, q;
    double diagonal, off;
} largest;

static largest find_largest(size_t n, const double *A, size_t k)
{
    largest found = {k, k, k, -1, -1};
    for (size_t j = k; j < n; j++) {
        if (fabs(A[j + n * j]) > found.diagonal) {
            found.diagonal = fabs(A[j + n * j]);
            found.r = j;
        }
        for (size_t i = j + 1; i < n; i++) {
            if (fabs(A[i + n * j]) > found.off) {
                found.off = fabs(A[i + n * j]);
                found.p = i;
                found.q = j;
            }
        }
    }
    return found;
}

static void eliminate_one(size_t n, double *A, size_t k)
{
    double *column = A + n * k;
    if (column[k] == 0) /* then all that remains is zero */
        return;
    for (size_t j = k + 1; j < n; j++) {
        const double factor = column[j] / column[k];
        for (size_t i = j; i < n; i++)
            A[i + n * j] -= column[i] * factor;
    }
    for (size_t j = k + 1; j < n; j++)
        column[j] /= column[k];
}

static void eliminate_two(size_t n, double *A, size_t k)
{
    double *first = A + n * k, *second = A + n * (k + 1);
    const double b = first[k + 1], a = first[k] / b, c = second[k + 1] / b;
    const double scale = 1 / (b * (a * c - 1));
    for (size_t j = k + 2; j < n; j++) {
        const double l1 = scale * (c * first[j] - second[j]), l2 = scale * (a * second[j] - first[j]);
        for (size_t i = j; i < n; i++)
            A[i + n * j] -= first[i] * l1 + second[i] * l2;
        first[j] = l1; /* row j of these columns is not read again: updates go to columns j and later */
        second[j] = l2;
    }
}

void ulna_small_ldlt(int n, double *A, int *pivot)
{
    const double alpha = 0.6403882032022076; /* (1 + sqrt 17) / 8 bounds the growth of the remainder */
    const size_t size = (size_t)n;
    for (size_t k = 0; k < size;) {
        const largest found = find_largest(size, A, k);
        if (found.diagonal >= alpha * found.off) {
            swap_symmetric(size, A, k, found.r);
            pivot[k] = (int)found.r;
            eliminate_one(size, A, k);
            k += 1;
        } else {
            swap_symmetric(size, A, k, found.q);
            swap_symmetric(size, A, k + 1, found.p); /* p > q >= k: the first swap has not moved it */
            pivot[k] = -1 - (int)found.q;
            pivot[k + 1] = -1 - (int)found.p;
            eliminate_two(size, A, k);
            k += 2;
        }
    }
}

static void solve_one_column(size_t n, const double *A, const int *pivot, double *x)
{
    for (size_t k = 0; k < n; k++)
        swap(&x[k], &x[pivot[k] < 0 ? -1 - pivot[k] : pivot[k]]);

    /* Forward with L, whose 2x2 blocks have a zero below the diagonal: D's element is stored there. */
    for (size_t k = 0; k < n; k++) {
        const int first_of_two = pivot[k] < 0 && k + 1 < n;
        if (first_of_two) {
            for (size_t i = k + 2; i < n; i++)
                x[i] -= A[i + n * k] * x[k] + A[i + n * (k + 1)] * x[k + 1];
            const double b = A[k + 1 + n * k], a = A[k + n * k] / b, c = A[k + 1 + n * (k + 1)] / b;
            const double scale = 1 / (b * (a * c - 1)), x1 = x[k], x2 = x[k + 1];
            x[k] = scale * (c * x1 - x2);
            x[k + 1] = scale * (a * x2 - x1);
            ++k;
        } else {
            for (size_t i = k + 1; i < n; i++)
                x[i] -= A[i + n * k] * x[k];
            x[k] /= A[k + n * k];
        }
    }

    /* Back with LT. */
    for (size_t k = n; k-- > 0;) {
        const size_t second = k;
        if (pivot[k] < 0)
            --k; /* both columns of the block start below it */
        for (size_t column = k; column <= second; column++) {
            for (size_t i = second + 1; i < n; i++)
                x[column] -= A[i + n * column] * x[i];
        }
    }
    for (size_t k = n; k-- > 0;)
        swap(&x[k], &x[pivot[k] < 0 ? -1 - pivot[k] : pivot[k]]);
}

void ulna_small_ldlt_solve(int n, int columns, const double *A, const int *pivot, double *B)
{
    for (int column = 0; column < columns; column++)
        solve_one_column((size_t)n, A, pivot, B + (size_t)n * (size_t)column);
}

/* ---- inertia ------------------------------------------------------------------------------------------------- */

/* Both eigenvalues of the block of D at k, or one twice; returns the size of the block. */
static int block_eigenvalues(int n, const double *A, const int *pivot, int k, double value[2])
{
    const size_t size = (size_t)n, at = (size_t)k;
    const double a = A[at + size * at];
    value[0] = value[1] = a;
    if (pivot[k] >= 0 || k + 1 >= n)
        return 1;
    const double b = A[at + 1 + size * at], c = A[at + 1 + size * (at + 1)];
    const double middle = a / 2 + c / 2, radius = hypot(a / 2 - c / 2, b);
    value[0] = middle >= 0 ? middle + radius : middle - radius; /* the larger one, without cancellation */
    value[1] = value[0] != 0 ? (a / value[0]) * c - (b / value[0]) * b : 0;
    return 2;
}

ulna_status ulna_ldlt_inertia(int n, const double *A, const int *pivot, ulna_inertia *inertia)
{
    double value[2], largest_value = 0;
    for (int k = 0; k < n; k += block_eigenvalues(n, A, pivot, k, value)) {
        block_eigenvalues(n, A, pivot, k, value);
        largest_value = fmax(largest_value, fmax(fabs(value[0]), fabs(value[1])));
    }
    const double least = fmax(n * DBL_EPSILON * largest_value, DBL_MIN);
    *inertia = (ulna_inertia){0, 0, 0};
    for (int k = 0; k < n;) {
        const int block = block_eigenvalues(n, A, pivot, k, value);
        for (int i = 0; i < block; i++) {
            if (value[i] > least)
                ++inertia->positive;
            else if (value[i] < -least)
                ++inertia->negative;
            else
                ++inertia->zero;
        }
        k += block;
    }
    return inertia->zero ? ULNA_ERR_SINGULAR : ULNA_OK;
}
