/* support_problem.h: random problems on random skeletons, every kind of term included. */
#ifndef ULNA_TESTS_SUPPORT_PROBLEM_H
#define ULNA_TESTS_SUPPORT_PROBLEM_H

#include "objective/problem.h"
#include "support_tree.h"

/* Adds one random term of the given type; 0 if the model cannot carry it (a coupling needs two coordinates). Fails the test
 * for a type that it does not know, so that a new kind of term cannot be forgotten. */
int ulna_test_add_term(ulna_test_rng *rng, ulna_problem *problem, ulna_term_type type);

typedef struct ulna_test_bench {
    ulna_model *model;
    ulna_problem *problem;
    ulna_work *work;
    double *q;
    int nv, nq;
} ulna_test_bench;

/* A random tree, `count` random terms of the types in the bit mask `types` (1u << type), and a random q, evaluated. */
ulna_test_bench ulna_test_bench_open(ulna_test_rng *rng, const ulna_test_tree_options *options, unsigned types,
                                     int count);
void ulna_test_bench_close(ulna_test_bench *bench);

#define ULNA_TEST_ALL_TERMS ((1u << ULNA_TERM_TYPE_COUNT) - 1)

#endif
