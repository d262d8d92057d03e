/* test_linalg_scene.h: random Newton systems, with low-rank terms, shifts and fixed DOFs, for tests of ulna_linear. */
#ifndef ULNA_TESTS_LINALG_SCENE_H
#define ULNA_TESTS_LINALG_SCENE_H

#include "test_linalg_support.h"

typedef struct scene {
    ulna_tree *tree;
    double *H, *V, *weights, *shift, *A; /* A: the whole matrix, dense */
    unsigned char *fixed;
    ulna_linear_matrix matrix;
} scene;

/* A random system. negative: chance of a negative pivot and of a negative weight. */
static inline scene open_scene(ulna_test_rng *rng, forest_shape shape, int rank, double negative, int with)
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

static inline void close_scene(scene *s)
{
    free(s->H), free(s->V), free(s->weights), free(s->shift), free(s->A), free(s->fixed);
    ulna_tree_destroy(s->tree);
}

static inline ulna_linear *new_linear(const ulna_tree *tree, ulna_linear_kind kind, int max_rank)
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

#endif
