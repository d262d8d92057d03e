/* linalg: the banded preconditioner and conjugate gradients, against the direct way. */
#include "support_linalg.h"

/* A dense symmetric matrix as a map. */
typedef struct dense_map {
    int n;
    const double *A;
    int calls, fail_at; /* fail_at: the call, counted from 1, that fails; 0 for none */
} dense_map;

static ulna_status apply_dense(void *context, const double *x, double *y)
{
    dense_map *map = context;
    if (++map->calls == map->fail_at)
        return ULNA_ERR_STATE;
    dense_multiply(map->n, map->A, x, y);
    return ULNA_OK;
}

static ulna_band new_band(int n, int width)
{
    const size_t size = ulna_band_size(n, width);
    return (ulna_band){n, width, new_numbers(size), new_numbers(size), -1};
}

/* The band of a dense matrix. */
static void fill_band(ulna_band *band, const double *A)
{
    const int n = band->n, length = band->width + 1;
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < length; k++)
            band->entries[(size_t)j * (size_t)length + (size_t)k] = j + k < n ? A[j + k + n * j] : 0;
    }
}

static void free_band(ulna_band *band)
{
    free(band->entries);
    free(band->factor);
}

/* Symmetric positive definite, falling off from the diagonal, badly scaled along it. */
static double *new_stiff(ulna_test_rng *rng, int n)
{
    double *A = new_numbers((size_t)n * (size_t)n);
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            const double size = exp(-0.7 * (i - j)) * pow(10, 3.0 * (i + j) / (2.0 * n));
            A[i + n * j] = A[j + n * i] = i == j ? 2.5 * size : 0.4 * size * ulna_test_rng_uniform(rng, -1, 1);
        }
    }
    return A;
}

static const ulna_pcg_options usual = {.tolerance = 1e-10};

/* ---- band ---- */

/* With the full width the band is the matrix, so that the factor must solve it. */
static void band_of_full_width_solves(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(40);
    for (int n = 1; n < 40; n += 3) {
        for (int extra = -1; extra < 3; extra++) {
            double *A = new_stiff(&rng, n), *x = new_random(&rng, (size_t)n), *b = new_numbers((size_t)n);
            ulna_band band = new_band(n, n + extra);
            dense_multiply(n, A, x, b);
            fill_band(&band, A);
            assert_int_equal(ulna_band_factor(&band), ULNA_OK);
            assert_true(band.shift == 0);
            assert_int_equal(ulna_band_solve(&band, b, b), ULNA_OK);
            assert_close(b, x, (size_t)n, 1e-10);
            free(A), free(x), free(b);
            free_band(&band);
        }
    }
}

static void indefinite_bands_are_shifted(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(42);
    for (int round = 0; round < 50; round++) {
        const int n = 1 + ulna_test_rng_index(&rng, 30), width = ulna_test_rng_index(&rng, 6);
        ulna_band band = new_band(n, width);
        const double scale = pow(10, ulna_test_rng_uniform(&rng, -200, 200));
        const int length = width + 1;
        for (int j = 0; j < n; j++) {
            for (int k = 0; k <= width && j + k < n; k++)
                band.entries[j * length + k] = scale * ulna_test_rng_uniform(&rng, -1, 1);
        }
        if (round == 0)
            memset(band.entries, 0, ulna_band_size(n, width) * sizeof(double));
        assert_int_equal(ulna_band_factor(&band), ULNA_OK);
        if (round == 0)
            assert_true(band.shift == 1);
        else
            assert_true(band.shift >= 0 && band.shift <= 10 * (2 * width + 1) * scale);

        /* factor * factorT = entries + shift, so that solving undoes the product. */
        double *x = new_random(&rng, (size_t)n), *b = new_numbers((size_t)n);
        for (int j = 0; j < n; j++) {
            for (int k = 0; k <= width && j + k < n; k++) {
                const double a = band.entries[j * length + k] + (k == 0 ? band.shift : 0);
                b[j + k] += a * x[j];
                b[j] += k > 0 ? a * x[j + k] : 0;
            }
        }
        assert_int_equal(ulna_band_solve(&band, b, b), ULNA_OK);
        assert_close(b, x, (size_t)n, 1e-7);
        free(x), free(b);
        free_band(&band);
    }
}

static void band_arguments_are_checked(void **state)
{
    (void)state;
    double entries[2] = {1, NAN}, factor[2], x[2] = {1, 1};
    ulna_band band = {2, 0, entries, factor, 0}, negative = {-1, 0, entries, factor, 0}, none = {2, 0, NULL, factor, 0};
    ulna_band huge = {2147483647, 2147483647, entries, factor, 0}, empty = {0, 3, NULL, NULL, 1};
    assert_int_equal(ulna_band_factor(&band), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_band_factor(&negative), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_band_factor(&none), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_band_factor(NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_band_factor(&huge), ULNA_ERR_LIMIT);
    assert_int_equal(ulna_band_size(2147483647, 2147483647), 0);
    assert_int_equal(ulna_band_size(-1, 2), 0);
    assert_int_equal(ulna_band_size(3, -1), 0);
    assert_int_equal(ulna_band_solve(&band, NULL, x), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_band_factor(&empty), ULNA_OK);
    assert_true(empty.shift == 0);
    assert_int_equal(ulna_band_solve(&empty, NULL, NULL), ULNA_OK);
}

/* ---- conjugate gradients ---- */

static void pcg_agrees_with_the_direct_way(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(43);
    for (int n = 0; n < 40; n += 3) {
        double *A = new_stiff(&rng, n), *expected = new_random(&rng, (size_t)n), *b = new_numbers((size_t)n);
        double *x = new_random(&rng, (size_t)n), *work = new_numbers(ulna_pcg_size(n));
        dense_map map = {n, A, 0, 0};
        ulna_pcg_options options = {.tolerance = 1e-14, .max_iterations = 1000};
        ulna_pcg_info info;
        dense_multiply(n, A, expected, b);
        assert_int_equal(ulna_pcg(n, apply_dense, &map, NULL, NULL, b, x, &options, work, &info), ULNA_OK);
        assert_int_equal(info.stop, ULNA_PCG_CONVERGED);
        assert_int_equal(info.iterations, map.calls);
        assert_true(info.residual <= options.tolerance);
        assert_close(x, expected, (size_t)n, 1e-9);
        free(A), free(expected), free(b), free(x), free(work);
    }
}

/* The wider the band, the fewer the iterations; the full band needs one. */
static void a_preconditioner_saves_iterations(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(44);
    const int n = 80, widths[] = {0, 2, 8, 79};
    double *A = new_stiff(&rng, n), *b = new_random(&rng, (size_t)n), *x = new_numbers((size_t)n);
    double *work = new_numbers(ulna_pcg_size(n));
    dense_map map = {n, A, 0, 0};
    ulna_pcg_info info;
    assert_int_equal(ulna_pcg(n, apply_dense, &map, NULL, NULL, b, x, &usual, work, &info), ULNA_OK);
    int before = info.iterations;
    assert_true(before > 40);
    for (int k = 0; k < 4; k++) {
        ulna_band band = new_band(n, widths[k]);
        fill_band(&band, A);
        assert_int_equal(ulna_band_factor(&band), ULNA_OK);
        assert_int_equal(ulna_pcg(n, apply_dense, &map, ulna_band_solve, &band, b, x, &usual, work, &info), ULNA_OK);
        assert_int_equal(info.stop, ULNA_PCG_CONVERGED);
        assert_true(info.iterations < before);
        before = info.iterations;
        free_band(&band);
    }
    assert_int_equal(before, 1);
    free(A), free(b), free(x), free(work);
}

/* m(x) = x A x / 2 - b x */
static double model_of(int n, const double *A, const double *b, const double *x)
{
    double *Ax = new_numbers((size_t)n), value = 0;
    dense_multiply(n, A, x, Ax);
    for (int i = 0; i < n; i++)
        value += x[i] * (Ax[i] / 2 - b[i]);
    free(Ax);
    return value;
}

static double norm_of(int n, const double *x)
{
    double norm = 0;
    for (int i = 0; i < n; i++)
        norm = hypot(norm, x[i]);
    return norm;
}

static void negative_curvature_is_found(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(45);
    for (int round = 0; round < 40; round++) {
        const int n = 2 + ulna_test_rng_index(&rng, 30), at = ulna_test_rng_index(&rng, n);
        double *A = new_stiff(&rng, n), *b = new_random(&rng, (size_t)n), *x = new_numbers((size_t)n);
        double *work = new_numbers(ulna_pcg_size(n));
        dense_map map = {n, A, 0, 0};
        ulna_band diagonal = new_band(n, 0);
        ulna_pcg_options options = usual;
        ulna_pcg_info info;
        fill_band(&diagonal, A);
        assert_int_equal(ulna_band_factor(&diagonal), ULNA_OK);
        A[at + n * at] -= 10 * fabs(A[at + n * at]);

        options.radius = 3;
        assert_int_equal(ulna_pcg(n, apply_dense, &map, ulna_band_solve, &diagonal, b, x, &options, work, &info),
                         ULNA_OK);
        assert_true(info.stop == ULNA_PCG_NEGATIVE || info.stop == ULNA_PCG_RADIUS);
        assert_true(info.stop != ULNA_PCG_NEGATIVE || info.curvature <= 0);
        assert_true(fabs(norm_of(n, x) - 3) < 1e-12);
        assert_true(model_of(n, A, b, x) < 0);

        options.radius = 0;
        assert_int_equal(ulna_pcg(n, apply_dense, &map, ulna_band_solve, &diagonal, b, x, &options, work, &info),
                         ULNA_OK);
        assert_int_equal(info.stop, ULNA_PCG_NEGATIVE);
        assert_true(info.curvature <= 0);
        assert_true(model_of(n, A, b, x) < 0);
        free(A), free(b), free(x), free(work);
        free_band(&diagonal);
    }
}

static void the_first_direction_may_be_negative(void **state)
{
    (void)state;
    const double A[4] = {-1, 0, 0, -2}, b[2] = {3, 4};
    double x[2], work[8];
    dense_map map = {2, A, 0, 0};
    ulna_pcg_options options = {.tolerance = 1e-10, .radius = 10};
    ulna_pcg_info info;
    assert_int_equal(ulna_pcg(2, apply_dense, &map, NULL, NULL, b, x, &usual, work, &info), ULNA_OK);
    assert_int_equal(info.stop, ULNA_PCG_NEGATIVE);
    assert_true(x[0] == 3 && x[1] == 4);
    assert_int_equal(ulna_pcg(2, apply_dense, &map, NULL, NULL, b, x, &options, work, &info), ULNA_OK);
    assert_true(fabs(x[0] - 6) < 1e-14 && fabs(x[1] - 8) < 1e-14);
}

static void the_radius_is_kept(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(46);
    const int n = 25;
    double *A = new_stiff(&rng, n), *b = new_random(&rng, (size_t)n), *x = new_numbers((size_t)n);
    double *work = new_numbers(ulna_pcg_size(n)), before = 0;
    dense_map map = {n, A, 0, 0};
    ulna_pcg_info info;
    assert_int_equal(ulna_pcg(n, apply_dense, &map, NULL, NULL, b, x, &usual, work, &info), ULNA_OK);
    const double whole = norm_of(n, x);
    for (int k = 1; k <= 12; k++) {
        ulna_pcg_options options = usual;
        options.radius = whole * k / 10.5;
        assert_int_equal(ulna_pcg(n, apply_dense, &map, NULL, NULL, b, x, &options, work, &info), ULNA_OK);
        assert_int_equal(info.stop, k < 11 ? ULNA_PCG_RADIUS : ULNA_PCG_CONVERGED);
        assert_true(fabs(norm_of(n, x) - fmin(options.radius, whole)) < 1e-7 * whole);
        const double value = model_of(n, A, b, x);
        assert_true(k < 12 ? value < before : fabs(value - before) <= 1e-9 * fabs(before));
        before = value;
    }
    free(A), free(b), free(x), free(work);
}

static void limits_and_failures_are_reported(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(47);
    const int n = 30;
    double *A = new_stiff(&rng, n), *b = new_random(&rng, (size_t)n), *x = new_numbers((size_t)n);
    double *work = new_numbers(ulna_pcg_size(n)), zero[30] = {0}, residual = 2;
    dense_map map = {n, A, 0, 0};
    ulna_pcg_info info;
    for (int limit = 1; limit < 20; limit += 6) {
        ulna_pcg_options options = {.tolerance = 1e-30, .max_iterations = limit};
        assert_int_equal(ulna_pcg(n, apply_dense, &map, NULL, NULL, b, x, &options, work, &info), ULNA_OK);
        assert_int_equal(info.stop, ULNA_PCG_ITERATIONS);
        assert_int_equal(info.iterations, limit);
        assert_true(info.residual < residual);
    }
    map = (dense_map){n, A, 0, 3};
    assert_int_equal(ulna_pcg(n, apply_dense, &map, NULL, NULL, b, x, &usual, work, &info), ULNA_ERR_STATE);
    assert_int_equal(ulna_pcg(n, apply_dense, &map, NULL, NULL, zero, x, &usual, work, &info), ULNA_OK);
    assert_int_equal(info.stop, ULNA_PCG_CONVERGED);
    assert_true(largest_of(x, (size_t)n) == 0 && info.iterations == 0 && info.residual == 0);

    /* A preconditioner must be positive definite. */
    dense_map minus = {n, A, 0, 0};
    for (int i = 0; i < n * n; i++)
        A[i] = -A[i];
    assert_int_equal(ulna_pcg(n, apply_dense, &map, apply_dense, &minus, b, x, &usual, work, &info),
                     ULNA_ERR_INDEFINITE);

    A[7] = NAN;
    assert_int_equal(ulna_pcg(n, apply_dense, &map, NULL, NULL, b, x, &usual, work, &info), ULNA_ERR_NUMBER);
    b[3] = INFINITY;
    assert_int_equal(ulna_pcg(n, apply_dense, &map, NULL, NULL, b, x, &usual, work, &info), ULNA_ERR_NUMBER);
    free(A), free(b), free(x), free(work);
}

static void pcg_arguments_are_checked(void **state)
{
    (void)state;
    const double A[1] = {1}, b[1] = {1};
    double x[1], work[4];
    dense_map map = {1, A, 0, 0};
    const ulna_pcg_options bad[] = {
        {.tolerance = -1}, {.tolerance = NAN}, {.radius = -1}, {.radius = NAN}, {.max_iterations = -1},
    };
    for (int k = 0; k < 5; k++)
        assert_int_equal(ulna_pcg(1, apply_dense, &map, NULL, NULL, b, x, &bad[k], work, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pcg(1, NULL, &map, NULL, NULL, b, x, &usual, work, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pcg(1, apply_dense, &map, NULL, NULL, NULL, x, &usual, work, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pcg(1, apply_dense, &map, NULL, NULL, b, NULL, &usual, work, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pcg(1, apply_dense, &map, NULL, NULL, b, x, &usual, NULL, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pcg(1, apply_dense, &map, NULL, NULL, x, x, &usual, work, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pcg(-1, apply_dense, &map, NULL, NULL, b, x, &usual, work, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pcg(1, apply_dense, &map, NULL, NULL, b, x, &usual, work, NULL), ULNA_OK);
    assert_int_equal(ulna_pcg(0, apply_dense, &map, NULL, NULL, NULL, NULL, &usual, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_pcg_size(-1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(band_of_full_width_solves),           cmocka_unit_test(indefinite_bands_are_shifted),
        cmocka_unit_test(band_arguments_are_checked),          cmocka_unit_test(pcg_agrees_with_the_direct_way),
        cmocka_unit_test(a_preconditioner_saves_iterations),   cmocka_unit_test(negative_curvature_is_found),
        cmocka_unit_test(the_first_direction_may_be_negative), cmocka_unit_test(the_radius_is_kept),
        cmocka_unit_test(limits_and_failures_are_reported),    cmocka_unit_test(pcg_arguments_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
