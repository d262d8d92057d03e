/* The driver: stopping, step by step, limits, used again, trace, truth. */
#include "math/math3.h"
#include "solve/solver.h"
#include "support_model.h"
#include "support_problem.h"
#include "support_task.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int stop_at(void *context, const ulna_trace_row *now)
{
    return now->iteration >= *(int *)context;
}

static void every_stopping_rule_stops(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_HUMAN_COLD);
    ulna_options strict = ulna_options_default(), options;
    strict.objective = strict.decrease = strict.gradient = strict.step = 0;

    options = ulna_options_default();
    options.objective = 1e-3;
    ulna_result result = ulna_test_solve(&task, &options);
    assert_int_equal(result.stop, ULNA_STOP_OBJECTIVE);
    assert_true(result.f <= 1e-3 && result.f > 1e-12 && result.converged);

    options = strict;
    options.iterations = 2;
    result = ulna_test_solve(&task, &options);
    assert_int_equal(result.stop, ULNA_STOP_ITERATIONS);
    assert_int_equal(result.iterations, 2);
    assert_false(result.converged);

    options = strict;
    options.evaluations = 3;
    result = ulna_test_solve(&task, &options);
    assert_int_equal(result.stop, ULNA_STOP_EVALUATIONS);
    assert_true(result.evaluations >= 3 && result.evaluations <= 5);

    options = strict;
    options.seconds = 1e-9;
    result = ulna_test_solve(&task, &options);
    assert_int_equal(result.stop, ULNA_STOP_TIME);

    int last = 3;
    options = strict;
    options.cancel = stop_at;
    options.cancel_context = &last;
    result = ulna_test_solve(&task, &options);
    assert_int_equal(result.stop, ULNA_STOP_CANCELLED);
    assert_int_equal(result.iterations, 3);

    ulna_test_task_release(&task);

    /* Already there. */
    task = ulna_test_task_make(ULNA_TASK_HUMAN_WARM);
    ulna_result first = ulna_test_solve(&task, &strict);
    options = ulna_options_default();
    options.objective = first.first_f;
    result = ulna_test_solve(&task, &options);
    assert_int_equal(result.stop, ULNA_STOP_OBJECTIVE);
    assert_int_equal(result.iterations, 0);
    ulna_test_task_release(&task);
}

/* The gradient and the step stop every method, at once if they are told to. */
static void every_method_heeds_gradient_and_step(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_HAND);
    for (int i = 0; i < ulna_method_count(); i++)
        for (int by_step = 0; by_step < 2; by_step++) {
            ulna_options options = ulna_options_default();
            options.objective = options.decrease = options.gradient = options.step = 0;
            options.method = ulna_method_at(i)->name;
            *(by_step ? &options.step : &options.gradient) = 1e9;
            ulna_result result = ulna_test_solve(&task, &options);
            if (result.stop != (by_step ? ULNA_STOP_STEP : ULNA_STOP_GRADIENT) || result.iterations > 2)
                fail_msg("%s goes on for %d iterations and stops by %s", options.method, result.iterations,
                         ulna_stop_name(result.stop));
        }
    ulna_test_task_release(&task);
}

/* ---- rotation vectors ---- */

/* Two bones on joints by rotation vectors, three points on each; the goals are where the points are at `goal`. */
static void make_vectors(const double *goal, ulna_model **model, ulna_problem **problem)
{
    ulna_builder *builder = ulna_test_builder();
    for (int b = 0; b < 2; b++) {
        int body = ulna_test_add(builder, b ? "lower" : "upper", b - 1);
        ulna_test_set_joint(builder, body, ulna_joint_expmap());
        if (b)
            assert_int_equal(ulna_builder_set_placement(builder, body, (const double[3]){0.3, 0, 0}, NULL, NULL),
                             ULNA_OK);
    }
    *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(*model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, goal), ULNA_OK);
    assert_int_equal(ulna_problem_create(*model, NULL, problem, NULL), ULNA_OK);
    for (int i = 0; i < 6; i++) {
        double point[3] = {0.2, 0, 0}, place[3];
        point[i % 3] += 0.1;
        assert_int_equal(ulna_pose_point(pose, i / 3, point, place), ULNA_OK);
        assert_int_equal(ulna_problem_add_point(*problem, i / 3, point, place, 1, NULL, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_problem_ready(*problem, NULL), ULNA_OK);
    ulna_pose_destroy(pose);
}

/* Started near a whole turn, where the derivative of a rotation vector has rank one, every method does what it does from the same pose near zero. */
static void whole_turns_do_no_harm(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(27);
    for (int round = 0; round < 4; round++) {
        double goal[6], wound[6], plain[6];
        for (int b = 0; b < 2; b++) {
            double axis[3], length = 0;
            for (int k = 0; k < 3; k++) {
                axis[k] = ulna_test_rng_normal(&rng);
                length += axis[k] * axis[k];
                goal[3 * b + k] = 0.3 * ulna_test_rng_normal(&rng);
            }
            for (int k = 0; k < 3; k++) {
                axis[k] /= sqrt(length);
                wound[3 * b + k] = (2 * ULNA_PI - 0.05) * axis[k];
            }
        }
        ulna_model *model;
        ulna_problem *problem;
        make_vectors(goal, &model, &problem);
        memcpy(plain, wound, sizeof plain);
        assert_int_equal(ulna_model_wrap(model, plain), 2);
        for (int i = 0; i < ulna_method_count(); i++) {
            ulna_options options = ulna_options_default();
            ulna_result far, near;
            double q[6], other[6];
            options.method = ulna_method_at(i)->name;
            memcpy(q, wound, sizeof q);
            memcpy(other, plain, sizeof other);
            ulna_status status = ulna_solve_once(problem, &options, q, &far, NULL);
            if (status == ULNA_ERR_UNSUPPORTED)
                continue;
            assert_int_equal(status, ULNA_OK);
            assert_int_equal(ulna_solve_once(problem, &options, other, &near, NULL), ULNA_OK);
            if (far.iterations != near.iterations || fabs(far.f - near.f) > 1e-15 || far.stop != near.stop)
                fail_msg("%s: %d iterations to %g from a whole turn, %d to %g from the same pose", options.method,
                         far.iterations, far.f, near.iterations, near.f);
            if (!(far.f < 1e-10))
                fail_msg("%s: f = %g", options.method, far.f);
        }
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
    }
}

/* On the way: from 1.4 pi the nearest way to the goal leads over a whole turn. */
static void whole_turns_are_passed(void **state)
{
    (void)state;
    double goal[6] = {0, 0, 2 * ULNA_PI + 0.4, 0.2, 0.1, 0};
    const double start[6] = {0.02, 0.01, 1.45 * ULNA_PI, 0.1, 0, 0};
    ulna_model *model;
    ulna_problem *problem;
    make_vectors(goal, &model, &problem);
    static const char *const names[] = {"hybrid", "newton",       "newton-pcg",   "bfgs", "lbfgs",
                                        "lm",     "lm-marquardt", "gauss-newton", "dls",  "cg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ulna_options options = ulna_options_default();
        ulna_result result;
        double q[6];
        options.method = names[i];
        memcpy(q, start, sizeof q);
        assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
        if (!(result.f < 1e-12))
            fail_msg("%s: f = %g after %d iterations", names[i], result.f, result.iterations);
        assert_true(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) < 1.5 * ULNA_PI + 1e-9);
    }

    /* What looks at the vector itself keeps it: a locked joint, and a posture that wants it so. */
    unsigned char locked[6] = {1, 1, 1, 0, 0, 0};
    ulna_options options = ulna_options_default();
    ulna_result result;
    double q[6];
    memcpy(q, goal, sizeof q);
    options.locked = locked;
    assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
    assert_memory_equal(q, goal, 3 * sizeof *q);
    options.locked = NULL;
    assert_int_equal(ulna_problem_add_posture(problem, goal, NULL, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    memcpy(q, goal, sizeof q);
    q[3] += 0.3;
    assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
    assert_true(fabs(q[2] - goal[2]) < 1e-6);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

/* An early end, options read back and given again, a start where f does not exist: the solver is as good as before. */
static void a_solver_can_be_used_again(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_UNREACHABLE);
    const double strength[5] = {1, 0.01, 1, 1, 1};
    ulna_options options = ulna_options_default();
    options.restarts = 3;
    options.strength = strength;
    ulna_solver *solver = ulna_test_solver(task.problem, &options);
    double *q = ulna_test_copy(task.start, 5), *again = ulna_test_copy(task.start, 5);
    ulna_result first, second;
    ulna_stop stop;
    assert_int_equal(ulna_solve(solver, q, &first), ULNA_OK);
    assert_int_equal(first.attempts, 4);
    assert_int_equal(ulna_solver_begin(solver, task.start), ULNA_OK);
    assert_int_equal(ulna_solver_step(solver, &stop), ULNA_OK);
    double *early = ulna_test_copy(task.start, 5);
    assert_int_equal(ulna_solver_end(solver, early, NULL), ULNA_OK);
    options = *ulna_solver_options(solver);
    assert_int_equal(ulna_solver_set_options(solver, &options, NULL), ULNA_OK);
    assert_int_equal(ulna_solve(solver, again, &second), ULNA_OK);
    assert_int_equal(second.attempts, 4);
    assert_memory_equal(q, again, 5 * sizeof *q);
    ulna_solver_destroy(solver);
    free(q);
    free(again);
    free(early);
    ulna_test_task_release(&task);
}

/* A term of one's own that is not a number beyond a distance: restarts that land there are dropped, not fatal. */
static void blow_up(const void *context, const double *goal, const double rotation[9], const double position[3],
                    ulna_custom_value *value)
{
    (void)context;
    (void)rotation;
    for (int k = 0; k < 3; k++) {
        value->residual[k] = position[0] < -0.2 ? (double)NAN : goal[k] - position[k];
        value->row[k][3 + k] = 1;
    }
}

static void restarts_where_f_does_not_exist_are_dropped(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_UNREACHABLE);
    const double far[3] = {2, 1, 0};
    ulna_custom custom = {.evaluate = blow_up, .goal_size = 3, .residual_count = 3};
    assert_int_equal(ulna_problem_add_custom(task.problem, 4, &custom, far, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(task.problem, NULL), ULNA_OK);
    ulna_options options = ulna_options_default();
    options.restarts = 50;
    ulna_result result = ulna_test_solve(&task, &options);
    assert_int_equal(result.attempts, 51);
    assert_true(result.converged);

    /* Attempts that end where they begin are no recursion. */
    unsigned char all[5] = {1, 1, 1, 1, 1};
    options.method = "lbfgs";
    options.locked = all;
    options.restarts = 200000;
    double *q = ulna_test_copy(task.start, 5);
    assert_int_equal(ulna_solve_once(task.problem, &options, q, &result, NULL), ULNA_OK);
    assert_int_equal(result.attempts, 200001);
    free(q);
    ulna_test_task_release(&task);
}

/* A gripper that is to point the other way: no direction leads down, to any order that derivatives see. */
static void a_flat_start_is_left(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_problem *problem;
    ulna_result result;
    const double down[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1};
    double q[7] = {0};
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_orientation(problem, ulna_model_find_body(model, "flange"), down, 1, NULL, NULL),
                     ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    assert_int_equal(ulna_solve_once(problem, NULL, q, &result, NULL), ULNA_OK);
    assert_int_equal(result.stop, ULNA_STOP_OBJECTIVE);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

/* Limits of any size are met to the last bit: the DOF is on them, held, and the solve has converged. */
static void limits_are_met_exactly(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(66);
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_AT_LIMIT);
    for (int i = 0; i < ulna_method_count(); i++) {
        if (!(ulna_method_at(i)->flags & ULNA_METHOD_BOUNDED))
            continue;
        for (int round = 0; round < 200; round++) {
            double lower[2] = {-3, 0.3}, upper[2] = {3, ulna_test_rng_uniform(&rng, 0.35, 0.6)};
            double q[2] = {ulna_test_rng_uniform(&rng, -0.3, 0.3), ulna_test_rng_uniform(&rng, 0.31, 0.34)};
            ulna_options options = ulna_options_default();
            ulna_result result;
            options.method = ulna_method_at(i)->name;
            options.lower = lower;
            options.upper = upper;
            ulna_solver *solver = ulna_test_solver(task.problem, &options);
            assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
            if (!result.converged || q[1] != upper[1] || result.at_limits != 1 || !ulna_solver_locked(solver)[1])
                fail_msg("%s: %.17g where the limit is %.17g, %d at limits, stop %s", options.method, q[1], upper[1],
                         result.at_limits, ulna_stop_name(result.stop));
            ulna_solver_destroy(solver);
        }
    }
    ulna_test_task_release(&task);
}

static void step_by_step_is_the_same(void **state)
{
    (void)state;
    for (int id = 0; id < ULNA_TASK_COUNT; id++) {
        ulna_test_task task = ulna_test_task_make((ulna_test_task_id)id);
        ulna_options options = ulna_options_default();
        int nq = ulna_model_coordinate_count(task.model), steps = 0;
        double *q = ulna_test_copy(task.start, nq), *again = ulna_test_copy(task.start, nq);
        ulna_result result, other;
        ulna_stop stop = ULNA_STOP_NONE;
        ulna_solver *solver = ulna_test_solver(task.problem, &options);
        assert_int_equal(ulna_solver_step(solver, &stop), ULNA_ERR_STATE);
        assert_int_equal(ulna_solver_end(solver, q, &result), ULNA_ERR_STATE);
        assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
        assert_int_equal(ulna_solver_begin(solver, again), ULNA_OK);
        for (; stop == ULNA_STOP_NONE; steps++)
            assert_int_equal(ulna_solver_step(solver, &stop), ULNA_OK);
        assert_int_equal(ulna_solver_step(solver, &stop), ULNA_OK); /* more steps change nothing */
        assert_int_equal(ulna_solver_end(solver, again, &other), ULNA_OK);
        assert_memory_equal(q, again, (size_t)nq * sizeof *q);
        assert_int_equal(steps, result.iterations);
        assert_int_equal(other.stop, result.stop);

        /* Ended early: the best so far, and true. */
        memcpy(again, task.start, (size_t)nq * sizeof *q);
        assert_int_equal(ulna_solver_begin(solver, again), ULNA_OK);
        assert_int_equal(ulna_solver_step(solver, &stop), ULNA_OK);
        assert_int_equal(ulna_solver_end(solver, again, &other), ULNA_OK);
        ulna_test_check_result(&task, &options, again, &other);

        /* Goals may not change in between. */
        assert_int_equal(ulna_solver_begin(solver, again), ULNA_OK);
        assert_int_equal(ulna_problem_set_weight(task.problem, 0, 2), ULNA_OK);
        assert_int_equal(ulna_solver_step(solver, &stop), ULNA_ERR_STATE);
        ulna_solver_destroy(solver);
        free(q);
        free(again);
        ulna_test_task_release(&task);
    }
}

static void the_trace_tells_every_iteration(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_HUMAN_COLD);
    for (int i = 0; i < ulna_method_count(); i++) {
        ulna_trace_row rows[16], full[4000];
        ulna_options options = ulna_options_default();
        options.method = ulna_method_at(i)->name;
        options.trace = full;
        options.trace_capacity = 4000;
        options.iterations = 60;
        double *q = ulna_test_copy(task.start, ulna_model_coordinate_count(task.model));
        ulna_result result, other;
        assert_int_equal(ulna_solve_once(task.problem, &options, q, &result, NULL), ULNA_OK);
        int monotone = (ulna_method_at(i)->flags & ULNA_METHOD_MONOTONE) != 0 && strcmp(options.method, "penalty") != 0;
        assert_int_equal(result.trace_count, result.iterations + 1);
        double lowest = full[0].f;
        for (int k = 1; k < result.trace_count; k++) {
            assert_int_equal(full[k].iteration, k);
            assert_true(full[k].evaluations >= full[k - 1].evaluations);
            assert_true(full[k].seconds >= full[k - 1].seconds);
            assert_true(isfinite(full[k].f) && isfinite(full[k].gradient) && full[k].step >= 0);
            if (monotone && full[k].f > full[k - 1].f)
                fail_msg("%s: f rises from %g to %g", options.method, full[k - 1].f, full[k].f);
            if (full[k].f < lowest)
                lowest = full[k].f;
        }
        if (strcmp(options.method, "penalty") != 0)
            assert_true(result.f == lowest); /* best so far */

        /* A short buffer is not overrun, and tracing changes nothing. */
        options.trace = rows;
        options.trace_capacity = 3;
        memset(rows, 0x5a, sizeof rows);
        double *again = ulna_test_copy(task.start, ulna_model_coordinate_count(task.model));
        assert_int_equal(ulna_solve_once(task.problem, &options, again, &other, NULL), ULNA_OK);
        assert_int_equal(other.trace_count, result.trace_count);
        for (size_t byte = 3 * sizeof *rows; byte < sizeof rows; byte++)
            assert_int_equal(((unsigned char *)rows)[byte], 0x5a);
        options.trace = NULL;
        options.trace_capacity = 0;
        memcpy(again, task.start, (size_t)ulna_model_coordinate_count(task.model) * sizeof *q);
        assert_int_equal(ulna_solve_once(task.problem, &options, again, &other, NULL), ULNA_OK);
        assert_memory_equal(q, again, (size_t)ulna_model_coordinate_count(task.model) * sizeof *q);
        free(q);
        free(again);
    }
    ulna_test_task_release(&task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stopping_rule_stops),  cmocka_unit_test(every_method_heeds_gradient_and_step),
        cmocka_unit_test(whole_turns_do_no_harm),     cmocka_unit_test(whole_turns_are_passed),
        cmocka_unit_test(a_solver_can_be_used_again), cmocka_unit_test(restarts_where_f_does_not_exist_are_dropped),
        cmocka_unit_test(a_flat_start_is_left),       cmocka_unit_test(limits_are_met_exactly),
        cmocka_unit_test(step_by_step_is_the_same),   cmocka_unit_test(the_trace_tells_every_iteration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
