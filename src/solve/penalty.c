/*
 * penalty: another method, with the limits as a term in place of bounds.
 *
 * Source: convex IK, section 5.1, eq. 16: f + lambda sum dist(q_i, [lower_i, upper_i])^2, lambda = 100. In the units
 * of problem.h the penalty is 1/2 lambda length^2 dist^2 for turns and 1/2 lambda dist^2 for slides, a term of type
 * limits.
 *
 * There is no iteration of its own. The driver solves a copy of the caller's problem that has the term, with the
 * method that options.penalty.method names (solver.c, make_penalty), and the result's f is that of the caller's
 * problem.
 * Fails to keep the limits exactly: the answer lies beyond them by the pull of the goals over lambda.
 * result.violation tells.
 */
#include "solve/registry.h"

const ulna_method ulna_method_penalty = {
    .info = {.name = "penalty",
             .summary = "any other method, with limits as penalties; they are kept to O(1 / weight)",
             .source = "convex IK, eq. 16",
             .supports = "what the inner method (penalty.method) does",
             .flags = ULNA_METHOD_SOFT,
             .iterations = 300},
    .patience = 1,
};
