/*
 * support_task.h: a dozen inverse-kinematics problems with known answers, by name. The matrix of methods x problems, the
 * test for heap calls and others run through all of them.
 */
#ifndef ULNA_TESTS_SUPPORT_TASK_H
#define ULNA_TESTS_SUPPORT_TASK_H

#include "support.h"
#include "ulna/solve.h"

typedef enum ulna_test_task_id {
    ULNA_TASK_ARM_REACH = 0, /* 7-DOF arm, tool at a place it can reach */
    ULNA_TASK_HUMAN_WARM,    /* 41 markers, 3 degrees off */
    ULNA_TASK_HUMAN_COLD,    /* 41 markers, from rest */
    ULNA_TASK_HAND,          /* its markers, from rest, quaternion root */
    ULNA_TASK_CONFLICT,      /* two effectors that cannot both have their way */
    ULNA_TASK_UNREACHABLE,   /* a goal beyond a chain's length: f = 1/2 (distance - length)^2 */
    ULNA_TASK_AT_LIMIT,      /* the best point inside the limits is on one of them */
    ULNA_TASK_STRAIGHT,      /* a straight chain, its goal on its own line: the gradient is zero */
    ULNA_TASK_REDUNDANT,     /* 30 joints, one goal */
    ULNA_TASK_ROPE,          /* 1,000 joints */
    ULNA_TASK_ORIENTATION,   /* arm: tool at a place, turned as asked */
    ULNA_TASK_PRISMATIC,     /* a gantry with a wrist */
    ULNA_TASK_MOVING_ROOT,   /* a free body with a tail, far away and turned round */
    ULNA_TASK_COUNT
} ulna_test_task_id;

typedef struct ulna_test_task {
    const char *name;
    ulna_model *model;
    ulna_problem *problem;
    double *start; /* nq */
    double best;   /* lowest f there is inside the limits, m^2 */
} ulna_test_task;

const char *ulna_test_task_name(ulna_test_task_id id);
/* Fails the test if it cannot be made. */
ulna_test_task ulna_test_task_make(ulna_test_task_id id);
void ulna_test_task_release(ulna_test_task *task);

/* What must be true of every result, whatever the method: f is that of q, stops are what they say, limits are kept where
 * the method keeps them. `q` is the answer. */
void ulna_test_check_result(const ulna_test_task *task, const ulna_options *options, const double *q,
                            const ulna_result *result);

/* A copy, for free(). */
double *ulna_test_copy(const double *values, int count);
/* Each fails the test if it cannot. Solves from the task's start and checks the result as above. */
ulna_solver *ulna_test_solver(const ulna_problem *problem, const ulna_options *options);
ulna_result ulna_test_solve(const ulna_test_task *task, const ulna_options *options);

#endif
