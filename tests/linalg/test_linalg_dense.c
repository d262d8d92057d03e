/* linalg: dense operations: each factorisation multiplied out again, rank, inertia, scratch and error paths. */
#include "math/math3.h"
#include "support_linalg.h"

#include <lapacke.h>
#undef I

/* C = op(A) op(B), op(A) being m x k; a leading 'T' transposes. */
static double *new_dense_product(char op_a, char op_b, int m, int n, int k, const double *A, const double *B)
{
    double *C = new_numbers((size_t)m * (size_t)n);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            for (int l = 0; l < k; l++)
                C[i + m * j] +=
                    (op_a == 'T' ? A[l + k * i] : A[i + m * l]) * (op_b == 'T' ? B[j + n * l] : B[l + k * j]);
        }
    }
    return C;
}

static double *new_identity(int n)
{
    double *I = new_numbers((size_t)n * (size_t)n);
    for (int i = 0; i < n; i++)
        I[i + n * i] = 1;
    return I;
}

static double *new_copy(const double *A, int count)
{
    double *copy = new_numbers((size_t)count);
    memcpy(copy, A, (size_t)count * sizeof *A);
    return copy;
}

static double *new_symmetric(ulna_test_rng *rng, int n)
{
    double *A = new_random(rng, (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            A[j + n * i] = A[i + n * j];
    }
    return A;
}

static const int shapes[][2] = {{1, 1}, {5, 5}, {12, 4}, {4, 12}, {30, 7}, {7, 30}, {60, 60}, {1, 9}, {9, 1}};
#define SHAPES ((int)(sizeof shapes / sizeof shapes[0]))

static void svd_multiplies_out(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(30);
    for (int shape = 0; shape < SHAPES; shape++) {
        const int m = shapes[shape][0], n = shapes[shape][1], k = m < n ? m : n;
        ulna_dense_need need;
        assert_int_equal(ulna_dense_svd_need(m, n, &need), ULNA_OK);
        ulna_dense_work work = new_work(need);
        double *A = new_random(&rng, (size_t)m * (size_t)n), *copy = new_copy(A, m * n);
        double *s = new_numbers((size_t)k), *U = new_numbers((size_t)m * (size_t)k),
               *VT = new_numbers((size_t)k * (size_t)n);
        assert_int_equal(ulna_dense_svd(m, n, copy, s, U, VT, &work), ULNA_OK);

        double *UU = new_dense_product('T', 'N', k, k, m, U, U), *VV = new_dense_product('N', 'T', k, k, n, VT, VT);
        double *I = new_identity(k);
        assert_close(UU, I, (size_t)k * (size_t)k, 1e-13);
        assert_close(VV, I, (size_t)k * (size_t)k, 1e-13);
        for (int j = 0; j < k; j++) {
            assert_true(s[j] >= 0 && (j == 0 || s[j] <= s[j - 1]));
            for (int i = 0; i < m; i++)
                U[i + m * j] *= s[j];
        }
        double *product = new_dense_product('N', 'N', m, n, k, U, VT);
        assert_close(product, A, (size_t)m * (size_t)n, 1e-13);

        memcpy(copy, A, (size_t)m * (size_t)n * sizeof *A);
        free(A), free(copy), free(s), free(U), free(VT), free(UU), free(VV), free(I), free(product);
        free_work(&work);
    }
}

/* min |A x - b| with A of the given rank; the normal equations decide. */
static void check_least_squares(ulna_test_rng *rng, int m, int n, int rank)
{
    ulna_dense_need need;
    assert_int_equal(ulna_dense_qr_need(m, n, &need), ULNA_OK);
    ulna_dense_work work = new_work(need);
    const int k = m < n ? m : n;
    double *left = new_random(rng, (size_t)m * (size_t)rank), *right = new_random(rng, (size_t)rank * (size_t)n);
    double *A = new_dense_product('N', 'N', m, n, rank, left, right), *copy = new_copy(A, m * n);
    double *b = new_random(rng, (size_t)m), *destroyed = new_copy(b, m), *x = new_random(rng, (size_t)n);
    double *tau = new_numbers((size_t)k), residual = -1;
    int column[96], found = -1, zeros = 0;
    assert_int_equal(ulna_dense_qr_factor(m, n, copy, DBL_EPSILON * (m > n ? m : n), tau, column, &found, &work),
                     ULNA_OK);
    assert_int_equal(found, rank);
    assert_int_equal(ulna_dense_qr_solve(m, n, copy, tau, column, found, destroyed, x, &residual, &work), ULNA_OK);

    double *Ax = new_dense_product('N', 'N', m, 1, n, A, x);
    double norm = 0;
    for (int i = 0; i < m; i++) {
        Ax[i] -= b[i];
        norm = hypot(norm, Ax[i]);
    }
    assert_true(fabs(norm - residual) <= 1e-11 * (1 + norm));
    double *gradient = new_dense_product('T', 'N', n, 1, m, A, Ax);
    assert_true(largest_of(gradient, (size_t)n) < 1e-11 * (1 + largest_of(A, (size_t)m * (size_t)n)));
    for (int j = 0; j < n; j++)
        zeros += x[j] == 0;
    assert_int_equal(zeros, n - rank);
    free(left), free(right), free(A), free(copy), free(b), free(destroyed), free(x), free(tau), free(Ax),
        free(gradient);
    free_work(&work);
}

static void least_squares_finds_rank_and_minimum(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(31);
    for (int shape = 0; shape < SHAPES; shape++) {
        const int m = shapes[shape][0], n = shapes[shape][1], k = m < n ? m : n;
        check_least_squares(&rng, m, n, k);
        check_least_squares(&rng, m, n, (k + 1) / 2);
        check_least_squares(&rng, m, n, 0);
    }
}

static void a_given_tolerance_cuts_the_rank(void **state)
{
    (void)state;
    ulna_dense_need need;
    assert_int_equal(ulna_dense_qr_need(3, 3, &need), ULNA_OK);
    ulna_dense_work work = new_work(need);
    const double tolerances[] = {3 * DBL_EPSILON, 1e-7, 1e-3}, A[9] = {[0] = 1e-9, [4] = 1, [8] = 1e-5};
    for (int t = 0; t < 3; t++) {
        double copy[9], tau[3];
        int column[3], rank;
        memcpy(copy, A, sizeof A);
        assert_int_equal(ulna_dense_qr_factor(3, 3, copy, tolerances[t], tau, column, &rank, &work), ULNA_OK);
        assert_int_equal(rank, 3 - t);
        assert_int_equal(column[0], 1);
        assert_int_equal(column[1], 2);
        assert_int_equal(column[2], 0);
    }
    free_work(&work);
}

static void eigenvectors_multiply_out(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(32);
    for (int n = 1; n < 40; n += 6) {
        double *A = new_symmetric(&rng, n), *V = new_numbers((size_t)n * (size_t)n);
        double *values = new_eigenvalues(n, A, V), *alone = new_eigenvalues(n, A, NULL);
        double *AV = new_dense_product('N', 'N', n, n, n, A, V), *VV = new_dense_product('T', 'N', n, n, n, V, V);
        double *I = new_identity(n);
        assert_close(alone, values, (size_t)n, 1e-13);
        assert_close(VV, I, (size_t)n * (size_t)n, 1e-13);
        for (int j = 0; j < n; j++) {
            assert_true(j == 0 || values[j] >= values[j - 1]);
            for (int i = 0; i < n; i++)
                assert_true(fabs(AV[i + n * j] - values[j] * V[i + n * j]) < 1e-12 * (1 + fabs(values[n - 1])));
        }
        free(A), free(V), free(values), free(alone), free(AV), free(VV), free(I);
    }
}

/* Cholesky succeeds. */
static int is_definite(int n, double *A)
{
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, A, n) == 0;
}

/* ---- nearest SPD ---- */

/* The Frobenius norm of A - B. */
static double distance_between(int count, const double *A, const double *B)
{
    double distance = 0;
    for (int i = 0; i < count; i++)
        distance = hypot(distance, A[i] - B[i]);
    return distance;
}

/* A x = b, and as many negative eigenvalues as there are. */
static void symmetric_systems_are_solved(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(35);
    for (int n = 1; n < 40; n += 3) {
        size_t size = (size_t)n;
        double *A = new_symmetric(&rng, n), *x = new_random(&rng, size), *b = new_numbers(size);
        double *values = new_eigenvalues(n, A, NULL), *factor = new_numbers(size * size);
        int *pivot = calloc(size, sizeof *pivot), negative, expected = 0;
        ulna_dense_work work = {0};
        assert_non_null(pivot);
        assert_int_equal(ulna_dense_symmetric_need(n, &work.have), ULNA_OK);
        work.reals = new_numbers(work.have.reals);
        memcpy(factor, A, size * size * sizeof *A);
        dense_multiply(n, A, x, b);
        for (int i = 0; i < n; i++)
            expected += values[i] < 0;
        assert_int_equal(ulna_dense_symmetric_factor(n, factor, pivot, &negative, &work), ULNA_OK);
        assert_int_equal(negative, expected);
        assert_int_equal(ulna_dense_symmetric_solve(n, factor, pivot, b), ULNA_OK);
        assert_close(b, x, size, 1e-9);
        memset(factor, 0, size * size * sizeof *factor);
        assert_int_equal(ulna_dense_symmetric_factor(n, factor, pivot, &negative, &work), ULNA_ERR_SINGULAR);
        factor[0] = (double)NAN;
        assert_int_equal(ulna_dense_symmetric_factor(n, factor, pivot, &negative, &work), ULNA_ERR_NUMBER);
        work.have.reals = 0;
        assert_int_equal(ulna_dense_symmetric_factor(n, A, pivot, &negative, &work), ULNA_ERR_ARGUMENT);
        free(A), free(x), free(b), free(values), free(factor), free(pivot), free(work.reals);
    }
}

static void nearest_spd_is_near_and_definite(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(36);
    for (int round = 0; round < 60; round++) {
        const int n = 1 + ulna_test_rng_index(&rng, 25), size = n * n;
        ulna_dense_need need;
        assert_int_equal(ulna_nearest_spd_need(n, &need), ULNA_OK);
        ulna_dense_work work = new_work(need);
        double *A = new_random(&rng, (size_t)size), *X = new_copy(A, size), *again, expected = 0;
        assert_int_equal(ulna_nearest_spd(n, X, &work), ULNA_OK);
        double distance = distance_between(size, A, X);

        /* Theorem 2.1: distance^2 = |skew part|^2 + sum over negative eigenvalues l of l^2. */
        double *symmetric = new_numbers((size_t)size);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                symmetric[i + n * j] = (A[i + n * j] + A[j + n * i]) / 2;
                expected += pow((A[i + n * j] - A[j + n * i]) / 2, 2);
                assert_true(X[i + n * j] == X[j + n * i]);
            }
        }
        double *values = new_eigenvalues(n, symmetric, NULL), *result = new_eigenvalues(n, X, NULL);
        for (int i = 0; i < n; i++)
            expected += values[i] < 0 ? pow(values[i], 2) : 0;
        assert_true(fabs(distance - sqrt(expected)) < 1e-12 * (1 + distance));
        assert_true(result[0] > -1e-12);
        double *G = new_copy(X, size);
        assert_true(is_definite(n, G));

        /* What is inside already stays as it is. */
        again = new_copy(X, size);
        assert_int_equal(ulna_nearest_spd(n, again, &work), ULNA_OK);
        assert_true(distance_between(size, X, again) < 1e-14 * (1 + largest_of(X, (size_t)size)));
        free(A), free(X), free(again), free(symmetric), free(values), free(result), free(G);
        free_work(&work);
    }
}

static void nearest_spd_of_nothing_much(void **state)
{
    (void)state;
    ulna_dense_need need;
    assert_int_equal(ulna_nearest_spd_need(2, &need), ULNA_OK);
    ulna_dense_work work = new_work(need), little = work;
    double zero[4] = {0}, flat[4] = {1, 1, 1, 1}, odd[4] = {1, NAN, 0, 1};
    const double before[4] = {1, 1, 1, 1};
    assert_int_equal(ulna_nearest_spd(2, zero, &work), ULNA_OK);
    assert_true(zero[0] > 0 && zero[0] < 1e-300);
    assert_int_equal(ulna_nearest_spd(2, flat, &work), ULNA_OK);
    assert_true(distance_between(4, flat, before) < 1e-14);
    assert_true(is_definite(2, flat));
    assert_int_equal(ulna_nearest_spd(2, odd, &work), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_nearest_spd(2, NULL, &work), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_nearest_spd(2, zero, NULL), ULNA_ERR_ARGUMENT);
    little.have.reals--;
    assert_int_equal(ulna_nearest_spd(2, zero, &little), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_nearest_spd(0, NULL, NULL), ULNA_OK);
    free_work(&work);
}

/* ---- arguments ---- */

static void sizes_are_checked(void **state)
{
    (void)state;
    ulna_dense_need need = {1, 1};
    assert_int_equal(ulna_dense_available(), 1);
    assert_int_equal(ulna_dense_svd_need(-1, 2, &need), ULNA_ERR_ARGUMENT);
    assert_int_equal(need.reals, 0);
    assert_int_equal(ulna_dense_qr_need(2, -1, &need), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dense_eigen_need(-1, &need), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_nearest_spd_need(-1, &need), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dense_svd_need(2, 2, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dense_svd_need(1 << 30, 1 << 30, &need), ULNA_ERR_LIMIT);
    assert_int_equal(ulna_dense_eigen_need(1 << 20, &need), ULNA_ERR_LIMIT);
}

static void nothing_is_a_fine_matrix(void **state)
{
    (void)state;
    double b[3] = {3, 4, 12}, x[2] = {7, 7}, residual;
    int column[2], rank = 5;
    assert_int_equal(ulna_dense_svd(0, 4, NULL, NULL, NULL, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_dense_eigen(0, NULL, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_dense_qr_factor(0, 2, NULL, 0, NULL, column, &rank, NULL), ULNA_OK);
    assert_int_equal(rank, 0);
    assert_int_equal(ulna_dense_qr_solve(0, 2, NULL, NULL, column, 0, NULL, x, &residual, NULL), ULNA_OK);
    assert_true(x[0] == 0 && x[1] == 0 && residual == 0);
    assert_int_equal(ulna_dense_qr_factor(3, 0, NULL, 0, NULL, NULL, &rank, NULL), ULNA_OK);
    assert_int_equal(ulna_dense_qr_solve(3, 0, NULL, NULL, NULL, 0, b, NULL, &residual, NULL), ULNA_OK);
    assert_true(fabs(residual - 13) < 1e-14);
}

static void missing_scratch_and_odd_numbers_are_found(void **state)
{
    (void)state;
    ulna_dense_need svd, qr, eigen;
    assert_int_equal(ulna_dense_svd_need(2, 2, &svd), ULNA_OK);
    assert_int_equal(ulna_dense_qr_need(2, 2, &qr), ULNA_OK);
    assert_int_equal(ulna_dense_eigen_need(2, &eigen), ULNA_OK);
    const ulna_dense_need need = {svd.reals + qr.reals + eigen.reals, svd.integers + qr.integers + eigen.integers};
    ulna_dense_work work = new_work(need), none = {work.reals, work.integers, {0, 0}};
    double odd[4] = {1, NAN, NAN, 1}, good[4] = {2, 1, 1, 2}, s[2], U[4], VT[4], tau[2], b[2] = {1, INFINITY}, x[2];
    int column[2], rank;
    assert_int_equal(ulna_dense_svd(2, 2, odd, s, U, VT, &work), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_dense_svd(2, 2, good, s, U, NULL, &work), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dense_svd(2, 2, good, s, U, VT, &none), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dense_svd(2, 2, good, s, U, VT, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dense_qr_factor(2, 2, odd, 0, tau, column, &rank, &work), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_dense_qr_factor(2, 2, good, NAN, tau, column, &rank, &work), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dense_qr_factor(2, 2, good, 0, tau, column, NULL, &work), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dense_qr_factor(2, 2, good, 0, tau, column, &rank, &none), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dense_qr_factor(2, 2, good, 0, tau, column, &rank, &work), ULNA_OK);
    assert_int_equal(ulna_dense_qr_solve(2, 2, good, tau, column, 3, b, x, NULL, &work), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dense_qr_solve(2, 2, good, tau, column, rank, b, x, NULL, &work), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_dense_eigen(2, odd, 1, s, &work), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_dense_eigen(2, good, 1, NULL, &work), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_dense_eigen(2, good, 1, s, &none), ULNA_ERR_ARGUMENT);
    free_work(&work);
}

static void numbers_that_are_not_finite_are_found(void **state)
{
    (void)state;
    const double odd[] = {0, -DBL_MAX, DBL_MIN, NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 6; k++) {
        for (int at = 0; at < 9; at++) {
            double x[9] = {0};
            x[at] = odd[k];
            assert_int_equal(ulna_all_finite(x, 9), k < 3);
        }
    }
    assert_true(ulna_all_finite(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svd_multiplies_out),
        cmocka_unit_test(least_squares_finds_rank_and_minimum),
        cmocka_unit_test(a_given_tolerance_cuts_the_rank),
        cmocka_unit_test(eigenvectors_multiply_out),
        cmocka_unit_test(symmetric_systems_are_solved),
        cmocka_unit_test(nearest_spd_is_near_and_definite),
        cmocka_unit_test(nearest_spd_of_nothing_much),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(nothing_is_a_fine_matrix),
        cmocka_unit_test(missing_scratch_and_odd_numbers_are_found),
        cmocka_unit_test(numbers_that_are_not_finite_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
