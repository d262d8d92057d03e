/* linalg: tree patterns: making, checking, products and dense copies. */
#include "test_linalg_support.h"

static void every_shape_keeps_the_invariants(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(1);
    for (int round = 0; round < 20; round++) {
        for (int shape = 0; shape < FOREST_SHAPE_COUNT; shape++) {
            int parents[FOREST_MAX];
            ulna_tree *tree;
            const int n = forest_fill(&rng, (forest_shape)shape, parents);
            assert_int_equal(ulna_tree_create(n, parents, NULL, &tree), ULNA_OK);
            assert_int_equal(tree->n, n);
            assert_int_equal(ulna_tree_check(tree), ULNA_OK);
            for (int j = 0; j < n; j++) {
                int depth = 0;
                assert_int_equal(tree->parent[j], parents[j]);
                for (int up = j; up >= 0; up = parents[up])
                    depth++;
                assert_int_equal(tree->depth[j], depth);
                for (int up = j, p = depth - 1; up >= 0; up = parents[up], p--)
                    assert_int_equal(tree->path[j][p], up);
                assert_int_equal(tree->row[j] % 4, 0);
                assert_true(tree->row[j + 1] - tree->row[j] >= (size_t)depth);
                assert_true(tree->row[j + 1] - tree->row[j] < (size_t)depth + 4);
            }
            ulna_tree_destroy(tree);
        }
    }
}

static void paths_of_a_branch_share_one_list(void **state)
{
    (void)state;
    const int parents[] = {-1, 0, 1, 1, 3};
    ulna_tree *tree;
    assert_int_equal(ulna_tree_create(5, parents, NULL, &tree), ULNA_OK);
    assert_ptr_equal(tree->path[0], tree->path[1]);
    assert_ptr_equal(tree->path[1], tree->path[2]);
    assert_ptr_not_equal(tree->path[2], tree->path[3]);
    assert_ptr_equal(tree->path[3], tree->path[4]);
    ulna_tree_destroy(tree);
}

static void bad_parents_are_refused(void **state)
{
    (void)state;
    const int later[] = {-1, 2, 0}, itself[] = {0}, below[] = {-2};
    ulna_tree *tree = (ulna_tree *)1;
    assert_int_equal(ulna_tree_create(3, later, NULL, &tree), ULNA_ERR_ARGUMENT);
    assert_null(tree);
    assert_int_equal(ulna_tree_create(1, itself, NULL, &tree), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_tree_create(1, below, NULL, &tree), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_tree_create(1, NULL, NULL, &tree), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_tree_create(-1, later, NULL, &tree), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_tree_create(1, below, NULL, NULL), ULNA_ERR_ARGUMENT);
    ulna_tree_destroy(NULL);
}

/* Each invariant, broken alone. */
static void check_finds_what_is_wrong(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(2);
    ulna_tree *good = forest_tree(&rng, FOREST_HUMAN);
    int parent[FOREST_MAX], depth[FOREST_MAX], wrong_path[FOREST_MAX];
    size_t row[FOREST_MAX + 1];
    const int *path[FOREST_MAX];
    const size_t n = (size_t)good->n;
    for (int fault = 0; fault < 8; fault++) {
        memcpy(parent, good->parent, n * sizeof *parent);
        memcpy(depth, good->depth, n * sizeof *depth);
        memcpy(row, good->row, (n + 1) * sizeof *row);
        memcpy(path, good->path, n * sizeof *path);
        memcpy(wrong_path, good->path[20], (size_t)depth[20] * sizeof *wrong_path);
        ulna_tree tree = {good->n, parent, depth, row, path};
        assert_int_equal(ulna_tree_check(&tree), ULNA_OK);
        switch (fault) {
        case 0:
            parent[10] = 10;
            break;
        case 1:
            parent[10] = -2;
            break;
        case 2:
            depth[10] += 1;
            break;
        case 3:
            row[0] = 4;
            break;
        case 4:
            row[n] += 1;
            break;
        case 5:
            row[30] = row[29];
            break;
        case 6:
            path[20] = wrong_path;
            wrong_path[3] += 1;
            break;
        default:
            path[20] = good->path[22];
            break;
        }
        assert_int_equal(ulna_tree_check(&tree), ULNA_ERR_MODEL);
    }
    ulna_tree missing = *good;
    missing.path = NULL;
    assert_int_equal(ulna_tree_check(&missing), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_tree_check(NULL), ULNA_ERR_ARGUMENT);
    ulna_tree_destroy(good);
}

static void products_agree_with_dense(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(3);
    for (int round = 0; round < 10; round++) {
        for (int shape = 0; shape < FOREST_SHAPE_COUNT; shape++) {
            ulna_tree *tree = forest_tree(&rng, (forest_shape)shape);
            const size_t n = (size_t)tree->n;
            double *H = new_random(&rng, tree_size(tree)), *A = new_random(&rng, n * n);
            double *x = new_random(&rng, n), *y = new_random(&rng, n), *expected = new_numbers(n);
            assert_int_equal(ulna_tree_to_dense(tree, H, A), ULNA_OK);
            for (size_t i = 0; i < n; i++) {
                assert_true(A[i + n * i] == *diagonal_of(tree, H, (int)i));
                for (size_t j = 0; j < i; j++)
                    assert_true(A[i + n * j] == A[j + n * i]);
            }
            dense_multiply(tree->n, A, x, expected);
            assert_int_equal(ulna_tree_multiply(tree, H, x, y), ULNA_OK);
            assert_close(y, expected, n, 1e-14);
            free(H), free(A), free(x), free(y), free(expected);
            ulna_tree_destroy(tree);
        }
    }
}

static void products_want_their_arguments(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(4);
    ulna_tree *tree = forest_tree(&rng, FOREST_CHAINS);
    double *H = new_numbers(tree_size(tree)), x[FOREST_MAX] = {0}, y[FOREST_MAX];
    assert_int_equal(ulna_tree_multiply(NULL, H, x, y), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_tree_multiply(tree, NULL, x, y), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_tree_multiply(tree, H, NULL, y), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_tree_multiply(tree, H, x, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_tree_multiply(tree, H, x, x), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_tree_to_dense(tree, H, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_tree_to_dense(tree, NULL, x), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_tree_to_dense(NULL, H, x), ULNA_ERR_ARGUMENT);
    free(H);
    ulna_tree_destroy(tree);
}

static void failed_allocations_leak_nothing(void **state)
{
    (void)state;
    const int parents[] = {-1, 0, 1, 0};
    long fail = 0;
    for (;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_tree *tree;
        const ulna_status status = ulna_tree_create(4, parents, &allocator, &tree);
        if (status == ULNA_OK)
            ulna_tree_destroy(tree);
        ulna_test_memory_check(&memory);
        if (!memory.failed)
            break;
        assert_int_equal(status, ULNA_ERR_MEMORY);
        assert_null(tree);
    }
    assert_int_equal(fail, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_keeps_the_invariants), cmocka_unit_test(paths_of_a_branch_share_one_list),
        cmocka_unit_test(bad_parents_are_refused),          cmocka_unit_test(check_finds_what_is_wrong),
        cmocka_unit_test(products_agree_with_dense),        cmocka_unit_test(products_want_their_arguments),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
