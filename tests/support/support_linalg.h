/*
 * support_linalg.h: numbers and dense matrices, for test_linalg_*.c and test_calibrate_kernels.c.
 * Dense matrices are column-major. Everything that returns a pointer is never NULL and is for free().
 */
#ifndef ULNA_TESTS_SUPPORT_LINALG_H
#define ULNA_TESTS_SUPPORT_LINALG_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "support.h"

/* ---- numbers ---- */

static inline double *new_numbers(size_t count)
{
    double *numbers = calloc(count + 1, sizeof *numbers);
    assert_non_null(numbers);
    return numbers;
}

static inline double *new_random(ulna_test_rng *rng, size_t count)
{
    double *numbers = new_numbers(count);
    ulna_test_rng_fill(rng, numbers, (int)count, -1, 1);
    return numbers;
}

static inline double largest_of(const double *a, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(a[i]));
    return largest;
}

/* Fails unless |a - b| <= tolerance * largest |b| everywhere. NaN is never close. */
static inline void assert_close(const double *a, const double *b, size_t count, double tolerance)
{
    const double scale = largest_of(b, count);
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(a[i] - b[i]) <= tolerance * scale))
            fail_msg("entry %zu of %zu: %.17g, not %.17g", i, count, a[i], b[i]);
    }
}

/* ---- matrices ---- */

/* y = A x for a dense symmetric A. */
static inline void dense_multiply(int n, const double *A, const double *x, double *y)
{
    const size_t size = (size_t)n;
    for (size_t i = 0; i < size; i++) {
        y[i] = 0;
        for (size_t j = 0; j < size; j++)
            y[i] += A[i + size * j] * x[j];
    }
}

/* Scratch of the given need; free() both members. */
static inline ulna_dense_work new_work(ulna_dense_need need)
{
    ulna_dense_work work = {new_numbers(need.reals), calloc(need.integers + 1, sizeof(int)), need};
    assert_non_null(work.integers);
    return work;
}

static inline void free_work(ulna_dense_work *work)
{
    free(work->reals);
    free(work->integers);
}

/* Eigenvalues of a symmetric matrix, ascending; `vectors` (may be NULL) becomes the eigenvectors. */
static inline double *new_eigenvalues(int n, const double *A, double *vectors)
{
    const size_t size = (size_t)n;
    ulna_dense_need need;
    assert_int_equal(ulna_dense_eigen_need(n, &need), ULNA_OK);
    ulna_dense_work work = new_work(need);
    double *values = new_numbers(size), *copy = new_numbers(size * size);
    memcpy(copy, A, size * size * sizeof *A);
    assert_int_equal(ulna_dense_eigen(n, copy, vectors != NULL, values, &work), ULNA_OK);
    if (vectors)
        memcpy(vectors, copy, size * size * sizeof *copy);
    free(copy);
    free_work(&work);
    return values;
}

#endif
