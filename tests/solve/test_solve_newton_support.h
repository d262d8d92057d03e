/* test_solve_newton_support.h: what the tests of newton and newton-pcg share. */
#ifndef ULNA_TESTS_SOLVE_NEWTON_SUPPORT_H
#define ULNA_TESTS_SOLVE_NEWTON_SUPPORT_H

#include <stdlib.h>
#include <string.h>

#include "solve/solver.h"
#include "support_problem.h"
#include "ulna/sample.h"

static inline ulna_solver *solver_for(const ulna_problem *problem, const ulna_options *options)
{
    ulna_solver *solver;
    ulna_error error;
    ulna_error_clear(&error);
    if (ulna_solver_create(problem, options, NULL, &solver, &error) != ULNA_OK)
        fail_msg("no solver: %s", error.message);
    return solver;
}

/* A slide along x carries a straight chain along x; all goals lie on x too. */
static inline ulna_model *straight_chain(int joints, int has_slide)
{
    ulna_builder *builder;
    ulna_model *model;
    const double link[3] = {1.0 / joints, 0, 0};
    ulna_joint slide = ulna_joint_prismatic(1, 0, 0), fixed = ulna_joint_fixed(), hinge = ulna_joint_revolute(0, 0, 1);
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    for (int i = 0; i <= joints; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        assert_int_equal(ulna_builder_add_body(builder, name, i - 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, i, i ? &hinge : has_slide ? &slide : &fixed, NULL), ULNA_OK);
        if (i > 1)
            assert_int_equal(ulna_builder_set_placement(builder, i, link, NULL, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

/* The tip at (x, y, 0); the first DOF is kept at its rest with this weight. */
static inline ulna_problem *one_point(const ulna_model *model, double x, double y, double weight)
{
    ulna_problem *problem;
    int joints = ulna_model_body_count(model) - 1;
    const double tip[3] = {1.0 / joints, 0, 0}, goal[3] = {x, y, 0};
    double *factors = ulna_test_numbers(ulna_model_dof_count(model));
    factors[0] = 1;
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(problem, joints, tip, goal, 1, NULL, NULL), ULNA_OK);
    if (weight > 0)
        assert_int_equal(ulna_problem_add_posture(problem, ulna_model_rest(model), factors, weight, NULL, NULL),
                         ULNA_OK);
    free(factors);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    return problem;
}

/* Limits around q so tight that most steps meet some: a few without width, a few that q is on, a few on one side
 * only. */
static inline void tight_limits(ulna_test_rng *rng, const ulna_test_bench *b, double *lower, double *upper)
{
    for (int j = 0; j < b->nv; j++) {
        int c = ulna_model_dof_coordinate(b->model, j), kind = ulna_test_rng_index(rng, 10);
        double x = c >= 0 ? b->q[c] : 0, width = ulna_test_rng_index(rng, 2) ? 0.3 : 0.03;
        lower[j] = kind == 0 || kind == 1 ? x
                   : kind == 2            ? -(double)INFINITY
                                          : x - ulna_test_rng_uniform(rng, 0, width);
        upper[j] = kind == 0 || kind == 3 ? x : kind == 4 ? (double)INFINITY : x + ulna_test_rng_uniform(rng, 0, width);
    }
}

/* Step by step: never outside, never higher; locked DOFs do not move; what it says at the end is true. */
static inline void check_run(ulna_solver *s, const ulna_test_bench *b, int stops[ULNA_STOP_COUNT])
{
    double *q = ulna_test_numbers(b->nq), f = (double)INFINITY, at;
    ulna_stop stop = ULNA_STOP_NONE;
    ulna_result result;
    assert_int_equal(ulna_solver_begin(s, b->q), ULNA_OK);
    for (;;) {
        assert_true(s->f <= f);
        f = s->f;
        for (int j = 0; j < b->nv; j++) {
            int c = ulna_model_dof_coordinate(b->model, j);
            assert_true(c < 0 || (s->q[c] >= s->lower[j] && s->q[c] <= s->upper[j]));
            assert_true(c < 0 || !s->locked[j] || s->q[c] == b->q[c]);
        }
        if (s->result.stop != ULNA_STOP_NONE)
            break;
        assert_int_equal(ulna_solver_step(s, &stop), ULNA_OK);
    }
    assert_int_equal(ulna_solver_end(s, q, &result), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(b->work, q, &at), ULNA_OK);
    assert_true(fabs(at - result.f) <= 1e-12 * result.f);
    assert_true(result.stop != ULNA_STOP_GRADIENT || result.gradient <= s->options.gradient * s->length2);
    assert_true(result.stop != ULNA_STOP_OBJECTIVE || result.f <= s->options.objective);
    assert_true(result.violation <= 0);
    if (result.verified) {
        int minimum;
        assert_int_equal(ulna_is_minimum(s, &minimum), ULNA_OK);
        assert_true(minimum);
    }
    stops[result.stop]++;
    free(q);
}

/* The human, markers that do not fit (5 cm of noise), and a posture: a minimum with large residuals. */
static inline ulna_problem *noisy_human(ulna_test_rng *rng, ulna_model **model, double **start)
{
    ulna_problem *problem;
    ulna_pose *pose;
    int first;
    assert_int_equal(ulna_sample_create("human", NULL, model, NULL), ULNA_OK);
    int nv = ulna_model_dof_count(*model), count = ulna_model_marker_count(*model);
    double *step = ulna_test_numbers(nv), *goals = ulna_test_numbers(3 * count);
    *start = ulna_test_numbers(ulna_model_coordinate_count(*model));
    for (int j = 0; j < nv; j++)
        step[j] = 0.2 * ulna_test_rng_normal(rng);
    ulna_model_integrate(*model, ulna_model_rest(*model), step, *start);
    ulna_model_clamp(*model, *start);
    assert_int_equal(ulna_pose_create(*model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, *start), ULNA_OK);
    for (int m = 0; m < count; m++) {
        double local[3];
        ulna_model_marker_position(*model, m, local);
        ulna_pose_point(pose, ulna_model_marker_body(*model, m), local, goals + 3 * m);
        for (int k = 0; k < 3; k++)
            goals[3 * m + k] += 0.05 * ulna_test_rng_normal(rng);
    }
    assert_int_equal(ulna_problem_create(*model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_markers(problem, &first, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_posture(problem, *start, NULL, 0.1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_set_points(problem, first, count, goals), ULNA_OK);
    ulna_pose_destroy(pose);
    free(step);
    free(goals);
    return problem;
}

#endif
