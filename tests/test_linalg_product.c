/* linalg: Newton systems whose matrix is only a product: conjugate gradients without rows of a tree. */
#include "test_linalg_scene.h"

typedef struct product_context {
    const ulna_tree *tree;
    const double *H;
    const unsigned char *fixed; /* may be NULL: DOFs that the product must not be asked to move */
    int calls, fail_at;         /* fail_at: the call, from 1, that fails; 0: none */
} product_context;

static ulna_status product_of_rows(void *context, const double *x, double *y)
{
    product_context *product = context;
    for (int j = 0; product->fixed && j < product->tree->n; j++)
        assert_true(!product->fixed[j] || x[j] == 0);
    if (++product->calls == product->fail_at)
        return ULNA_ERR_LIMIT;
    return ulna_tree_multiply(product->tree, product->H, x, y);
}

/* The band of the bare H; free() entries. */
static ulna_band new_band(const scene *s, int width)
{
    const size_t size = ulna_band_size(s->tree->n, width);
    ulna_band band = {.n = s->tree->n, .width = width, .entries = new_numbers(2 * size)};
    band.factor = band.entries + size;
    assert_int_equal(ulna_band_from_tree(&band, s->tree, s->H, NULL, NULL), ULNA_OK);
    band.factor = NULL; /* only the entries are asked for */
    return band;
}

/* A product gives what rows give, with and without a band, be that narrower or wider than there is room for. */
static void products_need_no_rows(void **state)
{
    (void)state;
    const int widths[] = {-1, 0, 5, 24, 70}; /* -1: no band */
    ulna_test_rng rng = ulna_test_rng_seed(59);
    for (int round = 0; round < 150; round++) {
        const int rank = ulna_test_rng_index(&rng, 4), width = widths[round % 5];
        scene s = open_scene(&rng, (forest_shape)(round % FOREST_SHAPE_COUNT), rank, 0, round / 5 % 2);
        const size_t n = (size_t)s.tree->n;
        double *expected = new_random(&rng, n), *b = new_numbers(n), *x = new_numbers(n);
        dense_multiply(s.tree->n, s.A, expected, b);
        product_context product = {.tree = s.tree, .H = s.H, .fixed = s.matrix.fixed};
        ulna_band band = width < 0 ? (ulna_band){0} : new_band(&s, width);
        ulna_linear_matrix matrix = s.matrix;
        matrix.H = NULL;
        matrix.product = product_of_rows;
        matrix.product_context = &product;
        matrix.band = width < 0 ? NULL : &band;

        ulna_linear_options options = ulna_linear_options_default();
        options.kind = ULNA_LINEAR_PCG;
        options.max_rank = rank;
        options.matrix_free = round % 3 != 0;
        options.pcg.tolerance = 1e-13;
        options.pcg.max_iterations = 4000;
        ulna_linear *linear;
        assert_int_equal(ulna_linear_create(s.tree, &options, NULL, &linear), ULNA_OK);
        if (!options.matrix_free) /* rows and products in turn */
            assert_int_equal(ulna_linear_factor(linear, &s.matrix), ULNA_OK);
        assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_OK);
        if (width >= 0)
            memset(band.entries, 0xff, ulna_band_size(s.tree->n, width) * sizeof *band.entries); /* it was copied */
        for (int again = 0; again < 2; again++) {
            assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_OK);
            assert_close(x, expected, n, 1e-10);
        }
        assert_true(n == 0 || product.calls > 0);
        const int calls = product.calls;
        if (!options.matrix_free) {
            assert_int_equal(ulna_linear_factor(linear, &s.matrix), ULNA_OK);
            assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_OK);
            assert_close(x, expected, n, 1e-10);
        } else if (n > 0) {
            assert_int_equal(ulna_linear_factor(linear, &s.matrix), ULNA_ERR_ARGUMENT); /* no room for rows */
            assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_ERR_STATE);
        }
        assert_int_equal(product.calls, calls);
        ulna_linear_destroy(linear);
        free(expected), free(b), free(x), free(band.entries);
        close_scene(&s);
    }
}

/* Second differences along a rope: its rows would take 16 MB. */
static ulna_status product_of_rope(void *context, const double *x, double *y)
{
    const int n = *(const int *)context;
    for (int j = 0; j < n; j++)
        y[j] = 2 * x[j] - (j > 0 ? x[j - 1] : 0) - (j + 1 < n ? x[j + 1] : 0);
    return ULNA_OK;
}

static void a_rope_takes_little_memory(void **state)
{
    (void)state;
    enum { ROPE = 2000, WIDTH = 4 };
    int n = ROPE, *parents = calloc(ROPE, sizeof *parents);
    double *entries = new_numbers(ROPE * (WIDTH + 1)), *b = new_numbers(ROPE), *x = new_numbers(ROPE);
    assert_non_null(parents);
    for (int j = 0; j < ROPE; j++) {
        parents[j] = j - 1;
        entries[j * (WIDTH + 1)] = 2;
        entries[j * (WIDTH + 1) + 1] = -1;
        b[j] = j % 7 - 3;
    }
    ulna_tree *tree;
    ulna_linear *linear;
    ulna_pcg_info info;
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    ulna_linear_options options = ulna_linear_options_default();
    options.kind = ULNA_LINEAR_PCG;
    options.band_width = WIDTH;
    options.matrix_free = 1;
    assert_int_equal(ulna_tree_create(ROPE, parents, NULL, &tree), ULNA_OK);
    assert_int_equal(ulna_linear_create(tree, &options, &allocator, &linear), ULNA_OK);
    assert_true(ulna_linear_bytes(linear) < ROPE * 20 * sizeof(double));
    const ulna_band band = {.n = ROPE, .width = WIDTH, .entries = entries};
    const ulna_linear_matrix matrix = {.product = product_of_rope, .product_context = &n, .band = &band};
    assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_OK);
    assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_OK);
    assert_int_equal(ulna_linear_pcg_info(linear, &info), ULNA_OK);
    assert_in_range(info.iterations, 1, 3); /* the band is the whole matrix */
    assert_int_equal(memory.calls, 1);
    product_of_rope(&n, x, entries);
    assert_close(entries, b, ROPE, 1e-9);
    ulna_linear_destroy(linear);
    ulna_test_memory_check(&memory);
    ulna_tree_destroy(tree);
    free(parents), free(entries), free(b), free(x);
}

static void products_are_checked(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(60);
    scene s = open_scene(&rng, FOREST_HUMAN, 2, 0, 1);
    const size_t n = (size_t)s.tree->n;
    double *b = new_random(&rng, n), *x = new_numbers(n), *expected = new_numbers(n);
    product_context product = {.tree = s.tree, .H = s.H};
    ulna_band band = new_band(&s, 6);
    ulna_linear_matrix matrix = s.matrix;
    matrix.product = product_of_rows;
    matrix.product_context = &product;

    /* The others want rows, and use them if they are there. */
    for (int kind = 0; kind < ULNA_LINEAR_PCG; kind++) {
        ulna_linear *linear = new_linear(s.tree, (ulna_linear_kind)kind, 2);
        matrix.H = NULL;
        assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_ERR_UNSUPPORTED);
        assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_ERR_STATE);
        matrix.H = s.H;
        assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_OK);
        assert_int_equal(ulna_linear_solve(linear, b, expected), ULNA_OK);
        assert_int_equal(product.calls, 0);
        ulna_linear_destroy(linear);
    }

    /* Bands that do not fit, numbers that are none; what nobody reads may be anything. */
    ulna_linear *linear = new_linear(s.tree, ULNA_LINEAR_PCG, 2);
    const ulna_band bad[] = {
        {.n = 59, .width = 6, .entries = band.entries},
        {.n = 60, .width = -1, .entries = band.entries},
        {.n = 60, .width = 6},
    };
    matrix.H = NULL;
    for (int k = 0; k < 3; k++) {
        matrix.band = &bad[k];
        assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_ERR_ARGUMENT);
    }
    matrix.band = &band;
    memset(s.fixed, 0, n);
    s.fixed[30] = 1;
    double *places[] = {&s.shift[29], &band.entries[29 * 7], &band.entries[29 * 7 + 2]};
    for (int k = 0; k < 3; k++) {
        const double kept = *places[k];
        *places[k] = k % 2 ? INFINITY : NAN;
        assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_ERR_NUMBER);
        *places[k] = kept;
    }
    s.shift[30] = band.entries[30 * 7] = band.entries[29 * 7 + 1] = band.entries[30 * 7 + 4] = NAN;
    band.entries[59 * 7 + 1] = band.entries[58 * 7 + 2] = INFINITY; /* beyond the last row */
    assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_OK);
    assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_OK);
    assert_true(fabs(x[30] - b[30]) <= 1e-12);

    /* What the product reports is passed on. */
    product.fail_at = product.calls + 2;
    assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_ERR_LIMIT);
    *diagonal_of(s.tree, s.H, 3) = NAN;
    assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_ERR_NUMBER);
    *diagonal_of(s.tree, s.H, 3) = -1e6;
    assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_ERR_INDEFINITE);
    ulna_linear_destroy(linear);
    free(b), free(x), free(expected), free(band.entries);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_need_no_rows),
        cmocka_unit_test(a_rope_takes_little_memory),
        cmocka_unit_test(products_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
