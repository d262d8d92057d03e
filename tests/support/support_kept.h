/*
 * support_kept.h: random constraints, and what must be true of a pose that a solver returns for a problem with constraints, by
 * plain code: frames by composition, errors by the words of constraint.h, derivatives by differences.
 */
#ifndef ULNA_TESTS_SUPPORT_KEPT_H
#define ULNA_TESTS_SUPPORT_KEPT_H

#include "support_problem.h"
#include "ulna/solve.h"

/* A constraint and the arrays that it points to. */
typedef struct ulna_test_constraint {
    ulna_constraint given;
    int dofs[3];
    double coefficients[3], corners[4][3];
} ulna_test_constraint;

/* Fills in a random constraint that the pose q keeps, with room to spare for inequalities. 0 if the model cannot have one of this
 * type. Fails the test for a type that it does not know. `c` must stay where it is. */
int ulna_test_random_constraint(ulna_test_rng *rng, const ulna_model *model, const double *q, ulna_constraint_type type,
                                ulna_test_constraint *c);
/* The same model with random masses. The old one is destroyed. */
ulna_model *ulna_test_with_masses(ulna_test_rng *rng, ulna_model *model);

/* How far q is from keeping it, as ulna_work_constraint_error says: metres, radians or units of the sum. */
double ulna_test_constraint_error(const ulna_model *model, const ulna_constraint *c, double length, const double *q);

/* Claims of a solve, recomputed. */
typedef struct ulna_test_claims {
    double f;
    double error;     /* largest of all constraints, plain: metres, rotations times the length */
    double violation; /* largest lack of a row */
    double limits;    /* largest violation of a limit */
    double kkt;       /* as ulna_result.kkt, from the multipliers of ulna_solver_constraint */
    double force;     /* sum of the multipliers' sizes: differences of rows are rounded in proportion */
    double slope; /* projected gradient of half the sum of squared lacks, over the largest lack and the length scale */
} ulna_test_claims;

ulna_test_claims ulna_test_recompute(ulna_solver *solver, const ulna_problem *problem, double length, int bounded,
                                     const double *q);

#endif
