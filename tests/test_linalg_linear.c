/* linalg: one front, three ways: they agree on solutions and inertia, with low-rank terms, shifts and fixed DOFs. */
#include "test_linalg_support.h"

typedef struct scene {
    ulna_tree *tree;
    double *H, *V, *weights, *shift, *A; /* A: the whole matrix, dense */
    unsigned char *fixed;
    ulna_linear_matrix matrix;
} scene;

/* A random system. negative: chance of a negative pivot and of a negative weight. */
static scene open_scene(ulna_test_rng *rng, forest_shape shape, int rank, double negative, int with)
{
    scene s = {.tree = forest_tree(rng, shape)};
    const size_t n = (size_t)s.tree->n, count = (size_t)rank;
    int unused;
    s.H = random_tree_matrix(rng, s.tree, negative, &unused);
    s.V = new_random(rng, n * count);
    s.weights = new_numbers(count);
    s.shift = new_numbers(n);
    s.A = new_numbers(n * n);
    s.fixed = calloc(n + 1, 1);
    assert_non_null(s.fixed);
    for (size_t k = 0; k < count; k++) {
        s.weights[k] = ulna_test_rng_uniform(rng, 0.2, 2) * (ulna_test_rng_uniform(rng, 0, 1) < negative ? -1 : 1);
        if (k % 5 == 4)
            s.weights[k] = 0;
    }
    for (size_t j = 0; j < n; j++) {
        s.shift[j] = ulna_test_rng_uniform(rng, 0, 0.3);
        s.fixed[j] = ulna_test_rng_index(rng, 4) == 0;
    }
    s.matrix = (ulna_linear_matrix){.H = s.H,
                                    .shift = with ? s.shift : NULL,
                                    .fixed = with ? s.fixed : NULL,
                                    .rank = rank,
                                    .V = rank ? s.V : NULL,
                                    .weights = rank ? s.weights : NULL};

    assert_int_equal(ulna_tree_to_dense(s.tree, s.H, s.A), ULNA_OK);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < count; k++)
                s.A[i + n * j] += s.weights[k] * s.V[i + n * k] * s.V[j + n * k];
        }
        s.A[j + n * j] += with ? s.shift[j] : 0;
    }
    for (size_t j = 0; with && j < n; j++) {
        for (size_t i = 0; s.fixed[j] && i < n; i++)
            s.A[i + n * j] = s.A[j + n * i] = i == j;
    }
    return s;
}

static void close_scene(scene *s)
{
    free(s->H), free(s->V), free(s->weights), free(s->shift), free(s->A), free(s->fixed);
    ulna_tree_destroy(s->tree);
}

static ulna_linear *new_linear(const ulna_tree *tree, ulna_linear_kind kind, int max_rank)
{
    ulna_linear_options options = ulna_linear_options_default();
    ulna_linear *linear;
    options.kind = kind;
    options.max_rank = max_rank;
    options.pcg.tolerance = 1e-13;
    options.pcg.max_iterations = 4000;
    assert_int_equal(ulna_linear_create(tree, &options, NULL, &linear), ULNA_OK);
    assert_true(ulna_linear_bytes(linear) > 0);
    return linear;
}

/* How close to singular: the smallest |eigenvalue|; and how many are negative. */
static double smallest_eigenvalue(const scene *s, int *negative)
{
    double *values = new_eigenvalues(s->tree->n, s->A, NULL), smallest = INFINITY;
    *negative = 0;
    for (int i = 0; i < s->tree->n; i++) {
        *negative += values[i] < 0;
        smallest = fmin(smallest, fabs(values[i]));
    }
    free(values);
    return smallest;
}

static void check_ways(ulna_test_rng *rng, const scene *s, int max_rank)
{
    const size_t n = (size_t)s->tree->n;
    double *expected = new_random(rng, n), *b = new_numbers(n), *x = new_numbers(n);
    int negative;
    const double smallest = smallest_eigenvalue(s, &negative);
    dense_multiply(s->tree->n, s->A, expected, b);
    for (int kind = 0; kind < ULNA_LINEAR_KIND_COUNT && smallest > 1e-3; kind++) {
        if (kind == ULNA_LINEAR_PCG && negative)
            continue;
        ulna_linear *linear = new_linear(s->tree, (ulna_linear_kind)kind, max_rank);
        ulna_inertia inertia;
        for (int round = 0; round < 2; round++) { /* the second time over what the first has left */
            assert_int_equal(ulna_linear_factor(linear, &s->matrix), ULNA_OK);
            assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_OK);
            assert_close(x, expected, n, 1e-10);
        }
        for (size_t j = 0; s->matrix.fixed && j < n; j++)
            assert_true(!s->fixed[j] || fabs(x[j] - b[j]) <= 1e-12);
        if (kind != ULNA_LINEAR_PCG) {
            assert_int_equal(ulna_linear_inertia(linear, &inertia), ULNA_OK);
            assert_inertia(inertia, s->tree->n - negative, negative, 0);
        }
        memcpy(x, b, n * sizeof *x);
        assert_int_equal(ulna_linear_solve(linear, x, x), ULNA_OK); /* in place */
        assert_close(x, expected, n, 1e-10);
        ulna_linear_destroy(linear);
    }
    free(expected), free(b), free(x);
}

static void the_ways_agree(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(50);
    for (int round = 0; round < 160; round++) {
        const int rank = round % 4 == 0 ? 0 : 1 + ulna_test_rng_index(&rng, 8);
        const forest_shape shape = (forest_shape)(round % FOREST_SHAPE_COUNT);
        scene s = open_scene(&rng, shape, rank, round % 3 ? 0 : 0.3, round / FOREST_SHAPE_COUNT % 2);
        check_ways(&rng, &s, rank + round % 2);
        close_scene(&s);
    }
}

/* Low-rank terms alone decide the signs: every mixture of signs, on a tree part of either sign. */
static void low_rank_inertia_is_exact(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(51);
    for (int round = 0; round < 200; round++) {
        const int rank = 1 + ulna_test_rng_index(&rng, 6);
        scene s = open_scene(&rng, FOREST_LIMBS, rank, 0.5, 0);
        const size_t n = (size_t)s.tree->n;
        for (int k = 0; k < rank; k++) { /* much larger than the tree part */
            for (size_t i = 0; i < n; i++) {
                for (size_t j = 0; j < n; j++)
                    s.A[i + n * j] += 99 * s.weights[k] * s.V[i + n * (size_t)k] * s.V[j + n * (size_t)k];
            }
        }
        for (int k = 0; k < rank; k++)
            s.weights[k] *= 100;
        int negative;
        if (smallest_eigenvalue(&s, &negative) > 1e-6) {
            ulna_linear *linear = new_linear(s.tree, ULNA_LINEAR_TREE, rank);
            ulna_inertia inertia;
            assert_int_equal(ulna_linear_factor(linear, &s.matrix), ULNA_OK);
            assert_int_equal(ulna_linear_inertia(linear, &inertia), ULNA_OK);
            assert_inertia(inertia, s.tree->n - negative, negative, 0);
            ulna_linear_destroy(linear);
        }
        close_scene(&s);
    }
}

/* The matrix is copied: what the caller does with its arrays afterwards is its own business. */
static void the_arrays_may_go(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(52);
    for (int kind = 0; kind < ULNA_LINEAR_KIND_COUNT; kind++) {
        scene s = open_scene(&rng, FOREST_HUMAN, 3, 0, 1);
        const size_t n = (size_t)s.tree->n;
        double *b = new_random(&rng, n), *before = new_numbers(n), *after = new_numbers(n);
        ulna_linear *linear = new_linear(s.tree, (ulna_linear_kind)kind, 3);
        assert_int_equal(ulna_linear_factor(linear, &s.matrix), ULNA_OK);
        assert_int_equal(ulna_linear_solve(linear, b, before), ULNA_OK);
        memset(s.H, 0xff, tree_size(s.tree) * sizeof *s.H);
        memset(s.V, 0xff, 3 * n * sizeof *s.V);
        memset(s.shift, 0xff, n * sizeof *s.shift);
        memset(s.fixed, 1, n);
        assert_int_equal(ulna_linear_solve(linear, b, after), ULNA_OK);
        assert_memory_equal(before, after, n * sizeof *after);
        ulna_linear_destroy(linear);
        free(b), free(before), free(after);
        close_scene(&s);
    }
}

static void pcg_tells_what_stopped_it(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(53);
    scene s = open_scene(&rng, FOREST_HUMAN, 2, 0, 0);
    double *b = new_random(&rng, (size_t)s.tree->n), *x = new_numbers((size_t)s.tree->n);
    ulna_linear_options options = ulna_linear_options_default();
    ulna_linear *linear;
    ulna_pcg_info info;
    ulna_inertia inertia;
    options.kind = ULNA_LINEAR_PCG;
    options.max_rank = 2;
    options.band_width = 0;
    options.pcg.max_iterations = 3;
    assert_int_equal(ulna_linear_create(s.tree, &options, NULL, &linear), ULNA_OK);
    assert_int_equal(ulna_linear_factor(linear, &s.matrix), ULNA_OK);
    assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_ERR_CONVERGENCE);
    assert_int_equal(ulna_linear_pcg_info(linear, &info), ULNA_OK);
    assert_int_equal(info.stop, ULNA_PCG_ITERATIONS);
    assert_int_equal(info.iterations, 3);
    assert_int_equal(ulna_linear_inertia(linear, &inertia), ULNA_ERR_UNSUPPORTED);

    *diagonal_of(s.tree, s.H, 20) = -50;
    assert_int_equal(ulna_linear_factor(linear, &s.matrix), ULNA_OK);
    assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_ERR_INDEFINITE);
    assert_int_equal(ulna_linear_pcg_info(linear, &info), ULNA_OK);
    assert_int_equal(info.stop, ULNA_PCG_NEGATIVE);
    ulna_linear_destroy(linear);
    free(b), free(x);
    close_scene(&s);
}

static void singular_matrices_are_refused(void **state)
{
    (void)state;
    const int parents[] = {-1, 0};
    const double H[8] = {[0] = 2, [4] = 2, [5] = 2}, zero[8] = {0}, V[4] = {1, 0, 0, 1}, weights[2] = {3, 3},
                 b[2] = {6, 3};
    ulna_tree *tree;
    assert_int_equal(ulna_tree_create(2, parents, NULL, &tree), ULNA_OK);
    for (int kind = 0; kind < 2; kind++) {
        ulna_linear *linear = new_linear(tree, (ulna_linear_kind)kind, 2);
        ulna_linear_matrix matrix = {.H = H};
        ulna_inertia inertia;
        double x[2];
        assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_ERR_SINGULAR);
        assert_int_equal(ulna_linear_inertia(linear, &inertia), ULNA_OK);
        assert_inertia(inertia, 1, 0, 1);
        assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_ERR_STATE);

        /* The tree part is zero, the sum is 3 times the identity. */
        matrix = (ulna_linear_matrix){.H = zero, .rank = 2, .V = V, .weights = weights};
        assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_OK);
        assert_int_equal(ulna_linear_inertia(linear, &inertia), ULNA_OK);
        assert_inertia(inertia, 2, 0, 0);
        assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_OK);
        assert_true(fabs(x[0] - 2) < 1e-14 && fabs(x[1] - 1) < 1e-14);

        /* One column is too few, whether it reaches one DOF or both. */
        const double both[2] = {1, -1};
        for (int reach = 0; reach < 2; reach++) {
            matrix = (ulna_linear_matrix){.H = zero, .rank = 1, .V = reach ? both : V, .weights = weights};
            assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_ERR_SINGULAR);
            const ulna_status told = ulna_linear_inertia(linear, &inertia);
            if (told == ULNA_OK)
                assert_inertia(inertia, 1, 0, 1);
            else
                assert_true(kind == ULNA_LINEAR_TREE && told == ULNA_ERR_SINGULAR);
            assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_ERR_STATE);
        }
        ulna_linear_destroy(linear);
    }

    /* The tree part is regular, the low-rank term takes it away again. */
    const double one[8] = {[0] = 1, [5] = 1}, minus[2] = {-1, 0};
    ulna_linear *linear = new_linear(tree, ULNA_LINEAR_TREE, 2);
    ulna_linear_matrix matrix = {.H = one, .rank = 2, .V = V, .weights = minus};
    ulna_inertia inertia;
    assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_ERR_SINGULAR);
    assert_int_equal(ulna_linear_inertia(linear, &inertia), ULNA_OK);
    assert_inertia(inertia, 1, 0, 1);
    ulna_linear_destroy(linear);
    ulna_tree_destroy(tree);
}

/* DOFs that H does not see, at the tips of a human: couplings to DOFs that it sees make the whole regular. From no
 * damping at all to plenty, the tree's way is as good as the dense one. */
static void couplings_carry_unseen_dofs(void **state)
{
    (void)state;
    const double damping[] = {0, 1e-300, 1e-16, 1e-13, 1e-11, 1e-9, 1e-7, 1e-4};
    enum { LEVELS = sizeof damping / sizeof damping[0] };
    ulna_test_rng rng = ulna_test_rng_seed(58);
    for (int round = 0; round < 40 * LEVELS; round++) {
        const int rank = 1 + ulna_test_rng_index(&rng, 6);
        scene s = open_scene(&rng, round % 2 ? FOREST_HUMAN : FOREST_HUMAN_BFS, rank, 0, 0);
        const size_t n = (size_t)s.tree->n;
        memset(s.V, 0, n * (size_t)rank * sizeof *s.V);
        for (int k = 0; k < rank; k++) {
            const int unseen = s.tree->n - 1 - k, seen = ulna_test_rng_index(&rng, 50);
            double *v = s.V + n * (size_t)k, *row = s.H + s.tree->row[unseen];
            for (int p = 0; p < s.tree->depth[unseen]; p++) /* all below is unseen already */
                row[p] = 0;
            v[unseen] = 1;
            v[seen] = -ulna_test_rng_uniform(&rng, 0.3, 1);
            s.weights[k] = ulna_test_rng_uniform(&rng, 0.2, 2) * (round % 5 ? 1 : -1);
        }
        for (size_t j = 0; j < n; j++)
            s.shift[j] = damping[round % LEVELS];
        s.matrix.shift = s.shift;

        ulna_linear *tree = new_linear(s.tree, ULNA_LINEAR_TREE, rank);
        ulna_linear *dense = new_linear(s.tree, ULNA_LINEAR_DENSE, rank);
        double *b = new_random(&rng, n), *x = new_numbers(n), *expected = new_numbers(n);
        ulna_inertia inertia, expected_inertia;
        assert_int_equal(ulna_linear_factor(tree, &s.matrix), ULNA_OK);
        assert_int_equal(ulna_linear_factor(dense, &s.matrix), ULNA_OK);
        assert_int_equal(ulna_linear_inertia(tree, &inertia), ULNA_OK);
        assert_int_equal(ulna_linear_inertia(dense, &expected_inertia), ULNA_OK);
        assert_inertia(inertia, expected_inertia.positive, expected_inertia.negative, 0);
        assert_int_equal(ulna_linear_solve(tree, b, x), ULNA_OK);
        assert_int_equal(ulna_linear_solve(dense, b, expected), ULNA_OK);
        assert_close(x, expected, n, 1e-11);
        ulna_linear_destroy(tree), ulna_linear_destroy(dense);
        free(b), free(x), free(expected);
        close_scene(&s);
    }
}

/* ---- matrices that are a product ---- */

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
    const ulna_band bad[] = {{.n = 59, .width = 6, .entries = band.entries},
                             {.n = 60, .width = -1, .entries = band.entries},
                             {.n = 60, .width = 6}};
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

static void odd_numbers_are_found(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(54);
    for (int kind = 0; kind < ULNA_LINEAR_KIND_COUNT; kind++) {
        scene s = open_scene(&rng, FOREST_HUMAN, 2, 0, 0);
        const size_t n = (size_t)s.tree->n;
        double *places[] = {&s.H[s.tree->row[40]], diagonal_of(s.tree, s.H, 3), &s.V[n + 7], &s.weights[1]};
        double *b = new_random(&rng, n), *x = new_numbers(n);
        ulna_linear *linear = new_linear(s.tree, (ulna_linear_kind)kind, 2);
        for (int k = 0; k < 4; k++) {
            const double kept = *places[k];
            *places[k] = k % 2 ? NAN : INFINITY;
            assert_int_equal(ulna_linear_factor(linear, &s.matrix), ULNA_ERR_NUMBER);
            assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_ERR_STATE);
            *places[k] = kept;
        }
        assert_int_equal(ulna_linear_factor(linear, &s.matrix), ULNA_OK);
        b[5] = NAN;
        assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_ERR_NUMBER);
        ulna_linear_destroy(linear);
        free(b), free(x);
        close_scene(&s);
    }
}

static void arguments_are_checked(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(55);
    scene s = open_scene(&rng, FOREST_CHAINS, 2, 0, 0);
    double x[FOREST_MAX] = {0};
    ulna_linear *linear;
    ulna_inertia inertia;
    ulna_pcg_info info;
    for (int fault = 0; fault < 6; fault++) {
        ulna_linear_options options = ulna_linear_options_default();
        if (fault == 0)
            options.kind = ULNA_LINEAR_KIND_COUNT;
        if (fault == 1)
            options.max_rank = -1;
        if (fault == 2)
            options.band_width = -1;
        if (fault == 3)
            options.pcg.tolerance = NAN;
        if (fault == 4)
            options.pcg.max_iterations = -1;
        if (fault == 5)
            options.pcg.radius = -1;
        linear = (ulna_linear *)1;
        assert_int_equal(ulna_linear_create(s.tree, &options, NULL, &linear), ULNA_ERR_ARGUMENT);
        assert_null(linear);
    }
    assert_int_equal(ulna_linear_create(NULL, NULL, NULL, &linear), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_linear_create(s.tree, NULL, NULL, NULL), ULNA_ERR_ARGUMENT);

    assert_int_equal(ulna_linear_create(s.tree, NULL, NULL, &linear), ULNA_OK); /* tree, rank 0 */
    assert_int_equal(ulna_linear_solve(linear, x, x), ULNA_ERR_STATE);
    assert_int_equal(ulna_linear_inertia(linear, &inertia), ULNA_ERR_STATE);
    assert_int_equal(ulna_linear_pcg_info(linear, &info), ULNA_ERR_UNSUPPORTED);
    assert_int_equal(ulna_linear_factor(linear, &s.matrix), ULNA_ERR_ARGUMENT); /* rank 2 */
    assert_int_equal(ulna_linear_factor(linear, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_linear_factor(NULL, &s.matrix), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_linear_factor(linear, &(ulna_linear_matrix){.rank = -1, .H = s.H}), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_linear_factor(linear, &(ulna_linear_matrix){.rank = 0}), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_linear_factor(linear, &(ulna_linear_matrix){.H = s.H}), ULNA_OK);
    assert_int_equal(ulna_linear_solve(linear, NULL, x), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_linear_solve(linear, x, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_linear_solve(NULL, x, x), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_linear_inertia(linear, NULL), ULNA_ERR_ARGUMENT);
    ulna_linear_destroy(linear);
    ulna_linear_destroy(NULL);
    assert_int_equal(ulna_linear_bytes(NULL), 0);
    close_scene(&s);
}

static void names_go_both_ways(void **state)
{
    (void)state;
    for (int kind = 0; kind < ULNA_LINEAR_KIND_COUNT; kind++)
        assert_int_equal(ulna_linear_kind_find(ulna_linear_kind_name((ulna_linear_kind)kind)), kind);
    assert_string_equal(ulna_linear_kind_name(ULNA_LINEAR_PCG), "pcg");
    assert_string_equal(ulna_linear_kind_name(ULNA_LINEAR_KIND_COUNT), "unknown");
    assert_int_equal(ulna_linear_kind_find("abacus"), -1);
    assert_int_equal(ulna_linear_kind_find(NULL), -1);
}

/* Memory is taken once, at creation; when it is refused, nothing stays behind. */
static void memory_is_taken_once(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(56);
    scene s = open_scene(&rng, FOREST_HUMAN, 3, 0, 1);
    double b[FOREST_MAX] = {1, 2, 3};
    for (int kind = 0; kind < ULNA_LINEAR_KIND_COUNT; kind++) {
        ulna_linear_options options = ulna_linear_options_default();
        options.kind = (ulna_linear_kind)kind;
        options.max_rank = 3;
        for (long fail = 0;; fail++) {
            ulna_test_memory memory = {.fail_at = fail};
            ulna_allocator allocator = ulna_test_allocator(&memory);
            ulna_linear *linear;
            const ulna_status status = ulna_linear_create(s.tree, &options, &allocator, &linear);
            const long calls = memory.calls;
            if (status == ULNA_OK) {
                assert_int_equal(memory.live_bytes, ulna_linear_bytes(linear));
                assert_int_equal(ulna_linear_factor(linear, &s.matrix), ULNA_OK);
                assert_int_equal(ulna_linear_solve(linear, b, b), ULNA_OK);
                assert_int_equal(memory.calls, calls);
                ulna_linear_destroy(linear);
            }
            ulna_test_memory_check(&memory);
            if (!memory.failed)
                break;
            assert_int_equal(status, ULNA_ERR_MEMORY);
            assert_null(linear);
        }
    }
    close_scene(&s);
}

static void absurd_sizes_are_refused(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(57);
    ulna_tree *tree = forest_tree(&rng, FOREST_SINGLE);
    ulna_linear_options options = ulna_linear_options_default();
    ulna_linear *linear;
    options.max_rank = 2147483647; /* the Schur complement alone would take 2^65 bytes */
    assert_int_equal(ulna_linear_create(tree, &options, NULL, &linear), ULNA_ERR_LIMIT);
    options.max_rank = 0;
    options.kind = ULNA_LINEAR_PCG;
    options.band_width = 2147483647; /* but a band is never wider than the matrix */
    assert_int_equal(ulna_linear_create(tree, &options, NULL, &linear), ULNA_OK);
    ulna_linear_destroy(linear);
    ulna_tree_destroy(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ways_agree),
        cmocka_unit_test(low_rank_inertia_is_exact),
        cmocka_unit_test(the_arrays_may_go),
        cmocka_unit_test(pcg_tells_what_stopped_it),
        cmocka_unit_test(singular_matrices_are_refused),
        cmocka_unit_test(couplings_carry_unseen_dofs),
        cmocka_unit_test(products_need_no_rows),
        cmocka_unit_test(a_rope_takes_little_memory),
        cmocka_unit_test(products_are_checked),
        cmocka_unit_test(odd_numbers_are_found),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(memory_is_taken_once),
        cmocka_unit_test(absurd_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
