/* test_reduce_support.h: skeletons by hand with goals, for the tests of the reduction. */
#ifndef ULNA_TEST_REDUCE_SUPPORT_H
#define ULNA_TEST_REDUCE_SUPPORT_H

#include <math.h>
#include <stdlib.h>

#include "global/reduce.h"
#include "math/math3.h"
#include "model/builder.h"
#include "support_model.h"
#include "support_problem.h"
#include "support_reduced.h"

typedef struct bench {
    ulna_builder *builder;
    ulna_model *model;
    ulna_problem *problem;
    ulna_work *work;
} bench;

/* A body with a joint, on the body before it. */
static inline int hang(bench *b, ulna_joint joint, double x, double y, double z)
{
    char name[32];
    int count = (int)b->builder->body_count;
    snprintf(name, sizeof name, "body%d", count);
    int body = ulna_test_add(b->builder, name, count - 1);
    assert_int_equal(ulna_builder_set_placement(b->builder, body, (const double[3]){x, y, z}, NULL, NULL), ULNA_OK);
    ulna_test_set_joint(b->builder, body, joint);
    return body;
}

static inline void limit(bench *b, int body, int k, double lower, double upper)
{
    assert_int_equal(ulna_builder_set_limits(b->builder, body, k, lower, upper, NULL), ULNA_OK);
}

static inline bench begin(void)
{
    return (bench){.builder = ulna_test_builder()};
}

static inline void build(bench *b)
{
    b->model = ulna_test_build(b->builder);
    ulna_builder_destroy(b->builder);
    assert_int_equal(ulna_problem_create(b->model, NULL, &b->problem, NULL), ULNA_OK);
}

static inline int pull(bench *b, int body, double x, double y, double z)
{
    int term;
    assert_int_equal(ulna_problem_add_point(b->problem, body, (const double[3]){x, y, z},
                                            (const double[3]){0.3, -0.2 * body, 0.7}, 1.5, &term, NULL),
                     ULNA_OK);
    return term;
}

static inline void turn(bench *b, int body)
{
    static const double goal[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
    assert_int_equal(ulna_problem_add_orientation(b->problem, body, goal, 0.7, NULL, NULL), ULNA_OK);
}

static inline void point_along(bench *b, int body, double x, double y, double z)
{
    assert_int_equal(ulna_problem_add_direction(b->problem, body, (const double[3]){x, y, z},
                                                (const double[3]){1, 2, -1}, 0.7, NULL, NULL),
                     ULNA_OK);
}

static inline void ready(bench *b)
{
    assert_int_equal(ulna_problem_ready(b->problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(b->problem, NULL, &b->work, NULL), ULNA_OK);
}

static inline void end(bench *b)
{
    ulna_work_destroy(b->work);
    ulna_problem_destroy(b->problem);
    ulna_model_destroy(b->model);
}

#endif
