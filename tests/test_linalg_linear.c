/* linalg: one front, three ways: they agree on solutions and inertia, with low-rank terms, shifts and fixed DOFs. */
#include "test_linalg_scene.h"

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

/* Two DOFs with the same motion; a coupling of the third does not tell them apart, but for rounding. */
static void out_of_reach_is_singular(void **state)
{
    (void)state;
    const int parents[] = {-1, 0, 1};
    const double V[3] = {0, 0, 1}, weight = 0.7;
    ulna_test_rng rng = ulna_test_rng_seed(62);
    ulna_tree *tree;
    assert_int_equal(ulna_tree_create(3, parents, NULL, &tree), ULNA_OK);
    ulna_linear *linear = new_linear(tree, ULNA_LINEAR_TREE, 1);
    for (int round = 0; round < 200; round++) {
        double J[9];
        ulna_test_rng_fill(&rng, J, 9, -1, 1);
        memcpy(J + 3, J, 3 * sizeof *J);
        double *H = tree_gram(tree, 3, J);
        const ulna_linear_matrix matrix = {.H = H, .rank = 1, .V = V, .weights = &weight};
        assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_ERR_SINGULAR);
        free(H);
    }
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

/* The same with DOFs that H sees, but not all of their motions: JTJ of too few markers, and couplings anywhere. Whenever
 * the whole is regular, it is solved and the inertia is right. */
static void couplings_fill_null_spaces(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(61);
    int compared = 0;
    for (int round = 0; round < 600; round++) {
        const int rank = 1 + ulna_test_rng_index(&rng, 12), markers = 5 + ulna_test_rng_index(&rng, 25);
        scene s = open_scene(&rng, (forest_shape)(FOREST_CHAIN + round % (FOREST_SHAPE_COUNT - FOREST_CHAIN)), 0, 0, 0);
        const size_t n = (size_t)s.tree->n;
        double *J = new_jacobian(&rng, s.tree, markers), *H = tree_gram(s.tree, 3 * markers, J);
        double *V = new_numbers(n * (size_t)rank), *weights = new_numbers((size_t)rank);
        for (int k = 0; k < rank; k++) {
            V[n * (size_t)k + (size_t)ulna_test_rng_index(&rng, s.tree->n)] += 1;
            V[n * (size_t)k + (size_t)ulna_test_rng_index(&rng, s.tree->n)] -= ulna_test_rng_uniform(&rng, 0.2, 0.9);
            weights[k] = ulna_test_rng_uniform(&rng, 0.1, 2) * (round % 2 && k % 2 ? -1 : 1);
        }
        const double damping = round % 3 ? pow(10, ulna_test_rng_uniform(&rng, -18, -3)) : 0;
        ulna_tree_to_dense(s.tree, H, s.A);
        for (size_t j = 0; j < n; j++) {
            s.shift[j] = damping;
            s.A[j + n * j] += damping;
            for (size_t i = 0; i < n; i++) {
                for (size_t k = 0; k < (size_t)rank; k++)
                    s.A[i + n * j] += weights[k] * V[i + n * k] * V[j + n * k];
            }
        }
        int negative;
        const double smallest = smallest_eigenvalue(&s, &negative), largest = largest_of(s.A, n * n);
        if (smallest > 1e-10 * largest) {
            const ulna_linear_matrix matrix = {.H = H, .shift = s.shift, .rank = rank, .V = V, .weights = weights};
            ulna_linear *linear = new_linear(s.tree, ULNA_LINEAR_TREE, rank);
            double *b = new_random(&rng, n), *x = new_numbers(n), *y = new_numbers(n);
            ulna_inertia inertia;
            assert_int_equal(ulna_linear_factor(linear, &matrix), ULNA_OK);
            assert_int_equal(ulna_linear_inertia(linear, &inertia), ULNA_OK);
            assert_inertia(inertia, s.tree->n - negative, negative, 0);
            assert_int_equal(ulna_linear_solve(linear, b, x), ULNA_OK);
            dense_multiply(s.tree->n, s.A, x, y);
            for (size_t i = 0; i < n; i++)
                assert_true(fabs(y[i] - b[i]) <= 1e-9 * (1 + largest * largest_of(x, n)));
            ulna_linear_destroy(linear);
            free(b), free(x), free(y);
            ++compared;
        }
        free(J), free(H), free(V), free(weights);
        close_scene(&s);
    }
    assert_true(compared > 200);
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
        cmocka_unit_test(out_of_reach_is_singular),
        cmocka_unit_test(couplings_carry_unseen_dofs),
        cmocka_unit_test(couplings_fill_null_spaces),
        cmocka_unit_test(odd_numbers_are_found),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(memory_is_taken_once),
        cmocka_unit_test(absurd_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
