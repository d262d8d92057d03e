/* Instances of global inverse kinematics (support_oracle.h) as models and problems. */
#ifndef ULNA_TEST_SUPPORT_ORACLE_PROBLEM_H
#define ULNA_TEST_SUPPORT_ORACLE_PROBLEM_H

#include "support_oracle.h"
#include "ulna/problem.h"

/* A model and a ready problem to be destroyed; every point weighs 2, so that f = sum |y - p|^2. Joint j of the
 * instance is the body "joint<j>". */
void ulna_oracle_problem(const ulna_oracle *o, ulna_model **model, ulna_problem **problem);
/* The pose that the points were made from: nq numbers. */
void ulna_oracle_true_q(const ulna_oracle *o, const ulna_model *model, double *q);

#endif
