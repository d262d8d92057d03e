/* Solves: known answers, what may move, restarts, mistakes; and hybrid's promises. The driver: test_solve_driver.c. */
#include "solve/solver.h"
#include "support_model.h"
#include "support_problem.h"
#include "support_task.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- known answers ------------------------------------------------------------------------------------------------- */

/* Two unit links: elbow angle acos(d^2/2 - 1), shoulder angle atan2(y, x) -+ half of it. */
static void two_links_have_a_closed_form(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(1);
    ulna_model *model;
    ulna_problem *problem;
    ulna_options options = ulna_options_default();
    assert_int_equal(ulna_sample_create("two-link", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_markers(problem, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    ulna_solver *solver = ulna_test_solver(problem, &options);
    for (int round = 0; round < 500; round++) {
        double d = ulna_test_rng_uniform(&rng, 0.05, 1.95), angle = ulna_test_rng_uniform(&rng, -3, 3);
        double goal[3] = {d * cos(angle), d * sin(angle), 0}, q[2] = {angle - 0.5, 0.7};
        ulna_result result;
        assert_int_equal(ulna_problem_set_goal(problem, 0, goal), ULNA_OK);
        assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
        double elbow = acos(d * d / 2 - 1), side = sin(q[1]) > 0 ? 1 : -1;
        assert_int_equal(result.stop, ULNA_STOP_OBJECTIVE);
        assert_true(fabs(cos(q[1]) - cos(elbow)) < 1e-10);
        assert_true(fabs(sin(q[0] - (angle - side * elbow / 2))) < 1e-9);
    }
    ulna_solver_destroy(solver);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

/* Goals made by forward kinematics on random trees of every joint type, from starts near by: f < 1e-20. */
static void check_nearby_starts(const char *method, int least_percent)
{
    ulna_test_rng rng = ulna_test_rng_seed(2);
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    ulna_options options = ulna_options_default();
    tree.markers = 12;
    options.method = method;
    int reached = 0, rounds = 1000, free_rounds = 0;
    for (int round = 0; round < rounds; round++) {
        ulna_test_scene scene = ulna_test_scene_open(&rng, &tree);
        ulna_problem *problem;
        ulna_result result;
        int first, count = ulna_model_marker_count(scene.model);
        assert_int_equal(ulna_problem_create(scene.model, NULL, &problem, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_add_markers(problem, &first, NULL), ULNA_OK);
        for (int m = 0; m < count; m++) {
            double local[3], goal[3];
            ulna_model_marker_position(scene.model, m, local);
            ulna_pose_point(scene.pose, ulna_model_marker_body(scene.model, m), local, goal);
            ulna_problem_set_goal(problem, first + m, goal);
        }
        assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
        double *step = ulna_test_numbers(scene.nv), *q = ulna_test_numbers(scene.nq);
        for (int j = 0; j < scene.nv; j++)
            step[j] = 0.01 * ulna_test_rng_normal(&rng) * (ulna_model_strength(scene.model)[j] > 0);
        ulna_model_integrate(scene.model, scene.q, step, q);
        options.bounded = round % 2;
        if (options.bounded)
            ulna_model_clamp(scene.model, q);
        assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
        reached += result.f < 1e-20;
        free_rounds += !options.bounded;
        if (!options.bounded && !(result.f < 1e-20) && least_percent == 100)
            fail_msg("%s: tree %d stays at f = %g (from %g, stop %s)", method, round, result.f, result.first_f,
                     ulna_stop_name(result.stop));
        free(step);
        free(q);
        ulna_problem_destroy(problem);
        ulna_test_scene_close(&scene);
    }
    assert_true(free_rounds == rounds / 2);
    /* A limit may cut a start off from its goal: a true minimum on the limit. That is rare. So are trees that are all but
     * singular, where newton's trust region needs more iterations than it has. */
    if (reached < rounds * 99 / 100)
        fail_msg("%s: only %d of %d random trees reached", method, reached, rounds);
}

static void hybrid_reaches_goals_made_by_forward_kinematics(void **state)
{
    (void)state;
    check_nearby_starts("hybrid", 100);
}

static void newton_reaches_goals_made_by_forward_kinematics(void **state)
{
    (void)state;
    check_nearby_starts("newton", 99);
}

/* Directions that nothing determines stay where they were, over a thousand frames. */
static void null_directions_do_not_drift(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_problem *problem;
    ulna_options options = ulna_options_default();
    ulna_result result;
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_markers(problem, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    int nq = ulna_model_coordinate_count(model), nv = ulna_model_dof_count(model);
    int count = ulna_model_marker_count(model), unseen = 0;
    double *q = ulna_test_copy(ulna_model_rest(model), nq), *way = ulna_test_numbers(nq),
           *goals = ulna_test_numbers(3 * count);
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    options.hybrid.keep_damping = 1;
    ulna_solver *solver = ulna_test_solver(problem, &options);
    for (int frame = 0; frame < 1000; frame++) {
        for (int j = 0; j < nv; j++) {
            int c = ulna_model_dof_coordinate(model, j);
            double amplitude = ulna_model_dof_is_translation(model, j) ? 0.3 : 0.1;
            way[c] = ulna_model_rest(model)[c] + amplitude * sin(0.02 * frame * (1 + j % 3) + j);
            way[c] = fmin(fmax(way[c], ulna_model_lower(model)[j]), ulna_model_upper(model)[j]);
        }
        assert_int_equal(ulna_pose_forward(pose, way), ULNA_OK);
        for (int m = 0; m < count; m++) {
            double local[3];
            ulna_model_marker_position(model, m, local);
            ulna_pose_point(pose, ulna_model_marker_body(model, m), local, goals + 3 * m);
        }
        assert_int_equal(ulna_problem_set_points(problem, 0, count, goals), ULNA_OK);
        assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
        assert_true(result.f < 1e-12);
    }
    for (int j = 0; j < nv; j++) {
        const char *body = ulna_model_body_name(model, ulna_model_dof_body(model, j));
        int c = ulna_model_dof_coordinate(model, j);
        if (strstr(body, "thumb")) { /* no marker sees them */
            unseen++;
            assert_true(fabs(q[c] - ulna_model_rest(model)[c]) < 1e-9);
        }
    }
    assert_true(unseen > 0);
    ulna_solver_destroy(solver);
    ulna_pose_destroy(pose);
    free(q);
    free(way);
    free(goals);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

/* ---- what may move ------------------------------------------------------------------------------------------------------ */

static int is_supported(const ulna_problem *problem, const char *method)
{
    ulna_options options = ulna_options_default();
    ulna_solver *solver;
    options.method = method;
    ulna_status status = ulna_solver_create(problem, &options, NULL, &solver, NULL);
    ulna_solver_destroy(solver);
    assert_true(status == ULNA_OK || status == ULNA_ERR_UNSUPPORTED);
    return status == ULNA_OK;
}

/* Random trees, random mixtures of terms, narrow limits, starts anywhere: every method, and the result is true. */
static void random_problems_stay_inside_their_limits(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(31);
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    tree.limits = 0.8;
    tree.max_bodies = 15;
    for (int round = 0; round < 300; round++) {
        unsigned types = round % 3 ? ULNA_TEST_ALL_TERMS : 1u << ULNA_TERM_POINT;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, types, 6);
        ulna_test_task task = {.name = "random", .model = b.model, .problem = b.problem, .start = b.q};
        for (int i = 0; i < ulna_method_count(); i++) {
            ulna_options options = ulna_options_default();
            ulna_result result;
            double *q = ulna_test_copy(b.q, b.nq);
            options.method = ulna_method_at(i)->name;
            options.iterations = 40;
            if (is_supported(b.problem, options.method)) {
                assert_int_equal(ulna_solve_once(b.problem, &options, q, &result, NULL), ULNA_OK);
                ulna_test_check_result(&task, &options, q, &result);
            }
            free(q);
        }
        ulna_test_bench_close(&b);
    }
}

static void relaxed_joints_stay_and_weak_ones_move_less(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_ARM_REACH);
    int nv = ulna_model_dof_count(task.model), nq = ulna_model_coordinate_count(task.model);
    for (int i = 0; i < ulna_method_count(); i++) {
        ulna_options options = ulna_options_default();
        unsigned char locked[7] = {0, 1, 0, 0, 1, 0, 0};
        const double full[7] = {1, 1, 1, 1, 1, 0, 1}, part[7] = {1, 1, 1, 0.1, 1, 0, 1};
        double even[7], weak[7];
        ulna_result result;
        assert_int_equal(nv, 7);
        options.method = ulna_method_at(i)->name;
        options.locked = locked;
        memcpy(even, task.start, (size_t)nq * sizeof *even);
        assert_int_equal(ulna_solve_once(task.problem, &options, even, &result, NULL), ULNA_OK);
        assert_true(even[1] == task.start[1] && even[4] == task.start[4]);
        assert_true(result.f < result.first_f);

        options.locked = NULL;
        options.iterations = 1;
        options.strength = full;
        memcpy(even, task.start, (size_t)nq * sizeof *even);
        assert_int_equal(ulna_solve_once(task.problem, &options, even, &result, NULL), ULNA_OK);
        options.strength = part;
        memcpy(weak, task.start, (size_t)nq * sizeof *weak);
        assert_int_equal(ulna_solve_once(task.problem, &options, weak, &result, NULL), ULNA_OK);
        assert_true(weak[5] == task.start[5]);
        if (fabs(weak[3] - task.start[3]) > fabs(even[3] - task.start[3]))
            fail_msg("%s: a weak joint moves by %g, an even one by %g", options.method, weak[3] - task.start[3],
                     even[3] - task.start[3]);
    }
    ulna_test_task_release(&task);
}

/* A start outside is moved onto the limits and counted; limits given in the options replace the model's. */
static void starts_outside_are_moved_inside(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_AT_LIMIT);
    double lower[2] = {-0.2, -0.1}, upper[2] = {0.2, 0.1}, q[2] = {3, -3};
    ulna_options options = ulna_options_default();
    ulna_result result;
    options.lower = lower;
    options.upper = upper;
    assert_int_equal(ulna_solve_once(task.problem, &options, q, &result, NULL), ULNA_OK);
    assert_int_equal(result.clamped, 2);
    assert_true(fabs(q[0]) <= 0.2 && fabs(q[1]) <= 0.1);
    assert_true(result.violation <= 0);
    options.bounded = 0;
    assert_int_equal(ulna_solve_once(task.problem, &options, q, &result, NULL), ULNA_OK);
    assert_true(result.f < 1e-20 && result.violation > 0);
    ulna_test_task_release(&task);
}

/* ---- restarts ----------------------------------------------------------------------------------------------------------- */

static void restarts_find_what_one_start_does_not(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(77);
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_HUMAN_COLD);
    int nq = ulna_model_coordinate_count(task.model), nv = ulna_model_dof_count(task.model);
    int count = ulna_model_marker_count(task.model), once = 0, all = 0, rounds = 100;
    double *target = ulna_test_numbers(nq), *step = ulna_test_numbers(nv), *goals = ulna_test_numbers(3 * count);
    ulna_pose *pose;
    ulna_options options = ulna_options_default(), with = options;
    with.restarts = 30;
    assert_int_equal(ulna_pose_create(task.model, NULL, &pose, NULL), ULNA_OK);
    ulna_solver *single = ulna_test_solver(task.problem, &options), *many = ulna_test_solver(task.problem, &with);
    for (int round = 0; round < rounds; round++) {
        for (int j = 0; j < nv; j++) /* any direction of the root */
            step[j] = (j < 3 ? 1 : j < 6 ? 2 : 0.35) * ulna_test_rng_normal(&rng);
        ulna_model_integrate(task.model, task.start, step, target);
        ulna_model_clamp(task.model, target);
        assert_int_equal(ulna_pose_forward(pose, target), ULNA_OK);
        for (int m = 0; m < count; m++) {
            double local[3];
            ulna_model_marker_position(task.model, m, local);
            ulna_pose_point(pose, ulna_model_marker_body(task.model, m), local, goals + 3 * m);
        }
        assert_int_equal(ulna_problem_set_points(task.problem, 0, count, goals), ULNA_OK);
        double *q = ulna_test_copy(task.start, nq), *again = ulna_test_copy(task.start, nq);
        ulna_result result, second;
        assert_int_equal(ulna_solve(single, q, &result), ULNA_OK);
        once += result.f < 1e-12;
        memcpy(q, task.start, (size_t)nq * sizeof *q);
        assert_int_equal(ulna_solve(many, q, &result), ULNA_OK);
        all += result.f < 1e-12;
        assert_true(result.attempts >= 1 && result.attempts <= 31 && result.best_attempt < result.attempts);
        ulna_test_check_result(&task, &options, q, &result);
        assert_int_equal(ulna_solve(many, again, &second), ULNA_OK); /* the same bits: seeded */
        assert_memory_equal(q, again, (size_t)nq * sizeof *q);
        free(q);
        free(again);
    }
    assert_true(once < rounds && once > rounds / 2);
    assert_int_equal(all, rounds);

    /* Out of reach: best of all, ended early by agreement. */
    ulna_test_task far = ulna_test_task_make(ULNA_TASK_UNREACHABLE);
    with.agreeing_restarts = 3;
    ulna_result result = ulna_test_solve(&far, &with);
    assert_true(result.attempts >= 3 && result.attempts < 31);
    assert_true(fabs(result.f - far.best) < 1e-6 * far.best);
    ulna_test_task_release(&far);
    ulna_solver_destroy(single);
    ulna_solver_destroy(many);
    ulna_pose_destroy(pose);
    free(target);
    free(step);
    free(goals);
    ulna_test_task_release(&task);
}

/* A rigid motion of all goals is found by the root alone. */
static void the_root_is_aligned_to_the_points(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(8);
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    const int roots[] = {ULNA_JOINT_FREE, ULNA_JOINT_FREE_EULER};
    tree.limits = 0;
    tree.markers = 8;
    tree.far_m = 100;
    for (int round = 0; round < 400; round++) {
        tree.root = roots[round % 2];
        ulna_test_scene scene = ulna_test_scene_open(&rng, &tree);
        ulna_problem *problem;
        ulna_work *work;
        double f, *q = ulna_test_copy(scene.q, scene.nq), *moved = ulna_test_copy(scene.q, scene.nq);
        int count, at;
        assert_int_equal(ulna_problem_create(scene.model, NULL, &problem, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_add_markers(problem, NULL, NULL), ULNA_OK);
        count = ulna_model_body_coordinates(scene.model, 0, &at);
        ulna_test_fill_q(&rng, scene.model, moved);
        memcpy(moved + at + count, scene.q + at + count, (size_t)(scene.nq - at - count) * sizeof *q);
        assert_int_equal(ulna_pose_forward(scene.pose, moved), ULNA_OK);
        for (int m = 0; m < ulna_model_marker_count(scene.model); m++) {
            double local[3], goal[3];
            ulna_model_marker_position(scene.model, m, local);
            ulna_pose_point(scene.pose, ulna_model_marker_body(scene.model, m), local, goal);
            assert_int_equal(ulna_problem_set_goal(problem, m, goal), ULNA_OK);
        }
        assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
        assert_int_equal(ulna_work_create(problem, NULL, &work, NULL), ULNA_OK);
        assert_int_equal(ulna_work_align_root(work, q), ULNA_OK);
        assert_int_equal(ulna_work_evaluate(work, q, &f), ULNA_OK);
        if (!(f < 1e-18))
            fail_msg("tree %d: f = %g after aligning", round, f);
        ulna_work_destroy(work);
        ulna_problem_destroy(problem);
        free(q);
        free(moved);
        ulna_test_scene_close(&scene);
    }
}

/* ---- mistakes ------------------------------------------------------------------------------------------------------------ */

static void mistakes_are_told(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_ARM_REACH);
    ulna_error error;
    ulna_solver *solver;
    ulna_options options = ulna_options_default();
    double q[7], bad[7] = {0, 0, (double)NAN, 0, 0, 0, 0}, before[7];

    assert_says(ulna_solver_create(NULL, NULL, NULL, &solver, &error), ULNA_ERR_ARGUMENT, "problem");
    options.method = "magic";
    assert_says(ulna_solver_create(task.problem, &options, NULL, &solver, &error), ULNA_ERR_ARGUMENT, "magic");
    assert_null(solver);
    options = ulna_options_default();
    options.decrease = (double)NAN;
    assert_says(ulna_solver_create(task.problem, &options, NULL, &solver, &error), ULNA_ERR_ARGUMENT, "decrease");
    options = ulna_options_default();
    options.seconds = -1;
    assert_says(ulna_solver_create(task.problem, &options, NULL, &solver, &error), ULNA_ERR_ARGUMENT, "seconds");
    options = ulna_options_default();
    options.trace_capacity = 5;
    assert_says(ulna_solver_create(task.problem, &options, NULL, &solver, &error), ULNA_ERR_ARGUMENT, "trace");
    options = ulna_options_default();
    options.lower = bad;
    assert_says(ulna_solver_create(task.problem, &options, NULL, &solver, &error), ULNA_ERR_ARGUMENT, "limits");
    options = ulna_options_default();
    options.strength = bad;
    assert_says(ulna_solver_create(task.problem, &options, NULL, &solver, &error), ULNA_ERR_ARGUMENT, "strength");

    /* NaN never gets in: not as a goal, not as a start. */
    const double nowhere[3] = {0, (double)NAN, 0};
    assert_int_equal(ulna_problem_set_goal(task.problem, 0, nowhere), ULNA_ERR_NUMBER);
    solver = ulna_test_solver(task.problem, NULL);
    memcpy(before, bad, sizeof bad);
    assert_int_equal(ulna_solve(solver, bad, NULL), ULNA_ERR_NUMBER);
    assert_memory_equal(bad, before, sizeof bad);
    bad[2] = (double)INFINITY;
    assert_int_equal(ulna_solve(solver, bad, NULL), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_solve(solver, NULL, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_solve(NULL, q, NULL), ULNA_ERR_ARGUMENT);

    /* Other options for the same solver; not another method. */
    options = ulna_options_default();
    options.method = "lm";
    assert_says(ulna_solver_set_options(solver, &options, &error), ULNA_ERR_ARGUMENT, "method");
    options = ulna_options_default();
    options.iterations = 1;
    assert_int_equal(ulna_solver_set_options(solver, &options, &error), ULNA_OK);
    memcpy(q, task.start, sizeof q);
    ulna_result result;
    assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
    assert_int_equal(result.iterations, 1);
    ulna_solver_destroy(solver);

    /* Terms added after the solver was made. */
    solver = ulna_test_solver(task.problem, NULL);
    assert_int_equal(ulna_problem_add_posture(task.problem, NULL, NULL, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_solve(solver, q, NULL), ULNA_ERR_STATE);
    assert_int_equal(ulna_problem_ready(task.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_solve(solver, q, NULL), ULNA_ERR_STATE);
    ulna_solver_destroy(solver);
    assert_string_equal(ulna_stop_name(ULNA_STOP_COUNT), "unknown");
    for (int stop = 0; stop < ULNA_STOP_COUNT; stop++)
        assert_true(strlen(ulna_stop_name((ulna_stop)stop)) > 0 && strlen(ulna_stop_text((ulna_stop)stop)) > 0);
    ulna_test_task_release(&task);
}

/* Every allocation fails in turn, for every method. */
static void running_out_of_memory_is_survived(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_HAND);
    for (int i = 0; i < ulna_method_count(); i++)
        for (long fail = 0;; fail++) {
            ulna_test_memory memory = {.fail_at = fail};
            ulna_allocator allocator = ulna_test_allocator(&memory);
            ulna_options options = ulna_options_default();
            ulna_solver *solver;
            options.method = ulna_method_at(i)->name;
            ulna_status status = ulna_solver_create(task.problem, &options, &allocator, &solver, NULL);
            if (status == ULNA_OK)
                ulna_solver_destroy(solver);
            ulna_test_memory_check(&memory);
            if (!memory.failed)
                break;
            assert_int_equal(status, ULNA_ERR_MEMORY);
            assert_null(solver);
        }
    ulna_test_task_release(&task);
}

/* Nothing to do: no terms, all locked. */
static void empty_problems_end_at_once(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_ARM_REACH);
    unsigned char all[7] = {1, 1, 1, 1, 1, 1, 1};
    ulna_problem *empty;
    assert_int_equal(ulna_problem_create(task.model, NULL, &empty, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(empty, NULL), ULNA_OK);
    for (int i = 0; i < ulna_method_count(); i++) {
        ulna_options options = ulna_options_default();
        ulna_result result;
        double q[7];
        options.method = ulna_method_at(i)->name;
        memcpy(q, task.start, sizeof q);
        assert_int_equal(ulna_solve_once(empty, &options, q, &result, NULL), ULNA_OK);
        assert_int_equal(result.stop, ULNA_STOP_OBJECTIVE);
        assert_memory_equal(q, task.start, sizeof q);
        options.locked = all;
        assert_int_equal(ulna_solve_once(task.problem, &options, q, &result, NULL), ULNA_OK);
        assert_memory_equal(q, task.start, sizeof q);
        assert_true(result.f == result.first_f);
    }
    ulna_problem_destroy(empty);
    ulna_test_task_release(&task);
}

/* Reached or not, and which goal is worst. */
static void reached_names_the_worst_goal(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_CONFLICT);
    int worst;
    double *q = ulna_test_copy(task.start, 3);
    assert_int_equal(ulna_problem_set_weight(task.problem, 0, 3), ULNA_OK);
    ulna_solver *solver = ulna_test_solver(task.problem, NULL);
    assert_int_equal(ulna_solve(solver, q, NULL), ULNA_OK);
    double off, other;
    assert_int_equal(ulna_work_term_error(ulna_solver_work(solver), 0, &other), ULNA_OK);
    assert_int_equal(ulna_work_term_error(ulna_solver_work(solver), 1, &off), ULNA_OK);
    assert_true(off > 2 * other);
    assert_false(ulna_solver_reached(solver, 0.99 * off, 0.1, &worst));
    assert_int_equal(worst, 1); /* the lighter one */
    assert_true(ulna_solver_reached(solver, 1.01 * off, 0.1, NULL));
    assert_int_equal(ulna_problem_set_weight(task.problem, 0, 1),
                     ULNA_OK); /* since then goals have changed: who knows? */
    assert_false(ulna_solver_reached(solver, 100, 100, NULL));
    ulna_solver_destroy(solver);
    free(q);
    ulna_test_task_release(&task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_links_have_a_closed_form),
        cmocka_unit_test(hybrid_reaches_goals_made_by_forward_kinematics),
        cmocka_unit_test(newton_reaches_goals_made_by_forward_kinematics),
        cmocka_unit_test(null_directions_do_not_drift),
        cmocka_unit_test(random_problems_stay_inside_their_limits),
        cmocka_unit_test(relaxed_joints_stay_and_weak_ones_move_less),
        cmocka_unit_test(starts_outside_are_moved_inside),
        cmocka_unit_test(restarts_find_what_one_start_does_not),
        cmocka_unit_test(the_root_is_aligned_to_the_points),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(running_out_of_memory_is_survived),
        cmocka_unit_test(empty_problems_end_at_once),
        cmocka_unit_test(reached_names_the_worst_goal),
    };
    return cmocka_run_group_tests_name("solve", tests, NULL, NULL);
}
