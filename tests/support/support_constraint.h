/* support_constraint.h: random constraints of every type. */
#ifndef ULNA_TESTS_SUPPORT_CONSTRAINT_H
#define ULNA_TESTS_SUPPORT_CONSTRAINT_H

#include "objective/constraint.h"
#include "support_problem.h"

/* Adds one random constraint of the given type, with a random relation where it has one; 0 if the model cannot have it (two
 * bodies, a coordinate, a mass). Fails the test for a type that it does not know, so that a new one cannot be forgotten. */
int ulna_test_add_constraint(ulna_test_rng *rng, ulna_problem *problem, ulna_constraint_type type);

/* The same constraint in another unit of length; a custom one as it is, since its units are not known. */
void ulna_test_add_scaled_constraint(ulna_problem *problem, const ulna_constraint *constraint, double factor);

/* A tree with masses, three terms, `count` random constraints of one type (ULNA_CONSTRAINT_TYPE_COUNT: of any), and a random q,
 * evaluated. */
ulna_test_bench ulna_test_constraint_bench(ulna_test_rng *rng, ulna_test_tree_options options,
                                           ulna_constraint_type type, int count);

#endif
