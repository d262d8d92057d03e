/*
 * lagrange and virtual-work, the dense methods for constraints: they find what hybrid finds, and where they come to rest at a
 * wrong point, as the survey's formulas do, they do not call it converged.
 */
#include "support_constraints.h"
#include "support_kept.h"
#include "support_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    ulna_result result;
    ulna_test_claims claims;
    double multiplier; /* first of constraint 0 */
    double *q;
} run;

/* Solves from the scene's start; whatever the result says is so. */
static run solve(const ulna_scene *scene, const ulna_options *options)
{
    run r = {.q = ulna_test_numbers(scene->nq)};
    ulna_constraint_state state;
    ulna_solver *solver = ulna_scene_solver(scene, options);
    memcpy(r.q, scene->start, (size_t)scene->nq * sizeof *r.q);
    assert_int_equal(ulna_solve(solver, r.q, &r.result), ULNA_OK);
    r.claims = ulna_test_recompute(solver, scene->problem, 1, 1, r.q);
    assert_int_equal(ulna_solver_constraint(solver, 0, &state), ULNA_OK);
    r.multiplier = state.multiplier[0];
    ulna_solver_destroy(solver);
    assert_true(fabs(r.claims.f - r.result.f) <= 1e-12 * (1 + r.result.f));
    assert_true(fabs(r.claims.violation - r.result.constraint_violation) <= 1e-12);
    assert_true(r.claims.limits <= 0);
    if (r.result.converged && !(options && options->locked)) { /* claims do not know about locks */
        assert_false(r.result.infeasible);
        assert_true(r.claims.error < 1e-9);
        assert_true(r.claims.kkt <= r.result.kkt + 1e-7);
    }
    return r;
}

static ulna_options options_of(const char *method)
{
    ulna_options options = ulna_options_default();
    options.method = method;
    return options;
}

/* The same f as hybrid, and converged. `is_near`: from a start near that answer, where several are in reach. */
static void agree(const char *name, ulna_scene scene, const ulna_options *options, int is_near)
{
    run expected = solve(&scene, NULL);
    for (int k = 0; is_near && k < scene.nq; k++)
        scene.start[k] = expected.q[k] + 0.02 * sin(k);
    run found = solve(&scene, options);
    print_message("%s, %s: %d iterations, f %.9e, kkt %.1e; hybrid: %d, %.9e, %.1e\n", name, options->method,
                  found.result.iterations, found.result.f, found.result.kkt, expected.result.iterations,
                  expected.result.f, expected.result.kkt);
    assert_true(expected.result.converged && found.result.converged);
    assert_true(fabs(found.result.f - expected.result.f) <= 1e-6 * expected.result.f);
    assert_true(found.result.kkt <=
                options->kkt * ulna_model_length_scale(scene.model) * ulna_model_length_scale(scene.model));
    free(expected.q);
    free(found.q);
    ulna_scene_release(&scene);
}

static void lagrange_finds_what_hybrid_finds(void **state)
{
    (void)state;
    ulna_options options = options_of("lagrange");
    for (int exact = 1; exact >= 0; exact--) {
        options.lagrange.exact = exact;
        options.iterations = exact ? 0 : 5000;
        agree("four bars", ulna_scene_four_bar(), &options, 0);
        agree("reach", ulna_scene_reach(), &options, 0);
        agree("pin twice", ulna_scene_pinned(ULNA_SCENE_PIN_TWICE), &options, 0);
    }
    options = options_of("lagrange");
    agree("wall", ulna_scene_wall(), &options, 0);
    agree("limits as rows", ulna_scene_limits(1), &options, 1);
    agree("bar", ulna_scene_bar(), &options, 1);
}

static void virtual_work_finds_what_hybrid_finds(void **state)
{
    (void)state;
    ulna_options options = options_of("virtual-work");
    agree("four bars", ulna_scene_four_bar(), &options, 0);
    agree("pin twice", ulna_scene_pinned(ULNA_SCENE_PIN_TWICE), &options, 0);
    options.kkt = 1e-8;
    options.iterations = 60000;
    agree("reach", ulna_scene_reach(), &options, 0);
}

/*
 * With a Gauss-Newton step virtual work ends where M^-1 g is a combination of the rows: the feet stand, the hands stay half a
 * metre from where they could be.
 */
static void a_gauss_newton_step_comes_to_rest_at_a_wrong_point(void **state)
{
    (void)state;
    ulna_scene scene = ulna_scene_reach();
    ulna_options options = options_of("virtual-work");
    options.virtual_work.step = ULNA_VIRTUAL_GAUSS_NEWTON;
    run right = solve(&scene, NULL), wrong = solve(&scene, &options);
    print_message(
        "virtual work on a Gauss-Newton step: f %.3e after %d iterations (%.3e is right), violation %.1e, kkt %.1e, %s\n",
        wrong.result.f, wrong.result.iterations, right.result.f, wrong.result.constraint_violation, wrong.result.kkt,
        ulna_stop_name(wrong.result.stop));
    assert_true(wrong.result.f > 100 * right.result.f);
    assert_true(wrong.result.constraint_violation < 1e-9);
    assert_true(wrong.result.kkt > 1e-2);
    assert_int_equal(wrong.result.stop, ULNA_STOP_STALLED);
    assert_false(wrong.result.converged);
    free(right.q);
    free(wrong.q);
    ulna_scene_release(&scene);
}

/* Two bones of 1 m in a plane; the tip must not be below y = 0, starts there, and is pulled to (1.2, 0.9). */
static ulna_scene arm_above_a_table(double start)
{
    ulna_builder *builder = ulna_test_builder();
    const double bone[3] = {1, 0, 0}, goal[3] = {1.2, 0.9, 0};
    for (int i = 0; i < 2; i++) {
        int body = ulna_test_add(builder, i ? "forearm" : "upper_arm", i - 1);
        ulna_test_set_joint(builder, body, ulna_joint_revolute(0, 0, 1));
        if (i)
            assert_int_equal(ulna_builder_set_placement(builder, body, bone, NULL, NULL), ULNA_OK);
    }
    ulna_scene scene = {.model = ulna_test_build(builder), .nv = 2, .nq = 2, .start = ulna_test_numbers(2)};
    ulna_builder_destroy(builder);
    ulna_constraint table = {
        .type = ULNA_KEEP_PLANE, .relation = ULNA_AT_LEAST, .body = 1, .point = {1, 0, 0}, .goal = {0, 0, 0, 0, 1, 0}};
    scene.start[0] = start;
    scene.start[1] = -1;
    table.goal[1] = sin(start) + sin(start - 1); /* the height of the tip at the start */
    assert_int_equal(ulna_problem_create(scene.model, NULL, &scene.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(scene.problem, 1, bone, goal, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_constraint(scene.problem, &table, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(scene.problem, NULL), ULNA_OK);
    return scene;
}

static void slacks_have_a_false_stationary_point(void **state)
{
    (void)state;
    ulna_scene scene = arm_above_a_table(0.5);
    ulna_options options = options_of("lagrange");
    run right = solve(&scene, &options);
    options.lagrange.slack = 1;
    run wrong = solve(&scene, &options);
    print_message(
        "C - s^2 = 0 from s = 0: f %.3e, multiplier %.3e, kkt %.1e, %s; by an active set f %.1e, multiplier %g\n",
        wrong.result.f, wrong.multiplier, wrong.result.kkt, ulna_stop_name(wrong.result.stop), right.result.f,
        right.multiplier);
    assert_true(right.result.converged && right.result.f < 1e-20);
    assert_true(wrong.result.f > 0.1);
    assert_true(wrong.multiplier < -0.1 && wrong.result.kkt > 0.1); /* it pulls the tip onto the table */
    assert_true(wrong.result.constraint_violation < 1e-10);
    assert_int_equal(wrong.result.stop, ULNA_STOP_STALLED);
    assert_false(wrong.result.converged);
    free(right.q);
    free(wrong.q);

    scene.start[0] = 0.8; /* above the table: s > 0 */
    run again = solve(&scene, &options);
    assert_true(again.result.converged && again.result.f < 1e-20);
    free(again.q);
    ulna_scene_release(&scene);
}

static void slacks_find_active_inequalities_too(void **state)
{
    (void)state;
    ulna_options options = options_of("lagrange");
    options.lagrange.slack = 1;
    agree("reach, slacks", ulna_scene_reach(), &options, 0);
}

static void contradictions_are_not_called_converged(void **state)
{
    (void)state;
    static const char *const methods[] = {"lagrange", "virtual-work"};
    for (int i = 0; i < 2; i++) {
        ulna_scene scene = ulna_scene_pinned(ULNA_SCENE_PINS_APART);
        ulna_options options = options_of(methods[i]);
        run r = solve(&scene, &options);
        assert_int_equal(r.result.stop, ULNA_STOP_INFEASIBLE);
        assert_true(r.result.infeasible && !r.result.converged);
        assert_true(r.claims.slope <= 2e-3);
        assert_true(fabs(r.result.constraint_violation - 0.1) < 1e-3); /* half-way between the pins */
        free(r.q);
        ulna_scene_release(&scene);
        scene = ulna_scene_pinned(ULNA_SCENE_PIN_OUT_OF_REACH);
        options.iterations = 300;
        r = solve(&scene, &options);
        assert_false(r.result.converged);
        assert_true(r.result.constraint_violation > 0.4);
        free(r.q);
        ulna_scene_release(&scene);
    }
}

static void a_skeleton_that_cannot_move_stands(void **state)
{
    (void)state;
    static const char *const methods[] = {"lagrange", "virtual-work"};
    for (int i = 0; i < 4; i++) {
        ulna_scene scene = arm_above_a_table(0.5);
        const unsigned char locked[2] = {1, 1};
        ulna_options options = options_of(methods[i % 2]);
        options.locked = locked;
        scene.start[0] += i < 2 ? 0 : -0.3; /* below the table */
        run r = solve(&scene, &options);
        assert_int_equal(r.result.converged, i < 2);
        assert_true(r.q[0] == scene.start[0] && r.q[1] == scene.start[1]);
        assert_true(i < 2 || r.result.constraint_violation > 0.1);
        free(r.q);
        ulna_scene_release(&scene);
    }
}

/* A point on the axis of the shoulder does not move: planes through it hold to rounding, and derivatives of heights are rounding. */
static void rows_that_nothing_moves_need_no_force(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(12);
    static const char *const methods[] = {"lagrange", "virtual-work"};
    for (int i = 0; i < 100; i++) {
        ulna_scene scene = {.start = ulna_test_numbers(2), .nv = 2, .nq = 2};
        ulna_builder *builder = ulna_test_builder();
        ulna_constraint plane = {.type = ULNA_KEEP_PLANE, .relation = ULNA_AT_LEAST};
        double bone[3] = {1, 0, 0}, goal[3], axis[3], place[3];
        for (int k = 0; k < 3; k++) {
            goal[k] = ulna_test_rng_uniform(&rng, -1, 1);
            axis[k] = ulna_test_rng_uniform(&rng, -1, 1);
            place[k] = ulna_test_rng_uniform(&rng, -1, 1);
            plane.point[k] = 0.3 * axis[k];
            plane.goal[k] = place[k] + plane.point[k];
            plane.goal[3 + k] = ulna_test_rng_uniform(&rng, -1, 1);
        }
        for (int b = 0; b < 2; b++) {
            int body = ulna_test_add(builder, b ? "forearm" : "upper_arm", b - 1);
            ulna_test_set_joint(builder, body, ulna_joint_revolute(axis[b], axis[1 - b], axis[2]));
            assert_int_equal(ulna_builder_set_placement(builder, body, b ? bone : place, NULL, NULL), ULNA_OK);
        }
        scene.model = ulna_test_build(builder);
        ulna_builder_destroy(builder);
        assert_int_equal(ulna_problem_create(scene.model, NULL, &scene.problem, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_add_point(scene.problem, 1, bone, goal, 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_add_constraint(scene.problem, &plane, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_ready(scene.problem, NULL), ULNA_OK);
        ulna_options options = options_of(methods[i % 2]);
        run r = solve(&scene, &options);
        assert_true(r.result.converged);
        assert_true(fabs(r.multiplier) < 1e5); /* beside derivatives of 1e-17 */
        free(r.q);
        ulna_scene_release(&scene);
    }
}

static void what_they_do_not_have_is_refused(void **state)
{
    (void)state;
    ulna_scene_aims aims;
    ulna_scene levels = ulna_scene_levels(0, &aims), arm = arm_above_a_table(0.5);
    ulna_options options = options_of("lagrange");
    ulna_solver *solver;
    ulna_error error;
    assert_says(ulna_solver_create(levels.problem, &options, NULL, &solver, &error), ULNA_ERR_UNSUPPORTED, "level",
                "lagrange", "hybrid");
    options.method = "virtual-work";
    assert_says(ulna_solver_create(levels.problem, &options, NULL, &solver, &error), ULNA_ERR_UNSUPPORTED, "level",
                "virtual-work", "hybrid");
    options.virtual_work.step = (ulna_virtual_step)2;
    assert_says(ulna_solver_create(arm.problem, &options, NULL, &solver, &error), ULNA_ERR_ARGUMENT,
                "virtual_work.step");

    options.virtual_work.step = ULNA_VIRTUAL_GRADIENT;
    solver = ulna_scene_solver(&arm, &options);
    options.virtual_work.step = ULNA_VIRTUAL_GAUSS_NEWTON;
    assert_says(ulna_solver_set_options(solver, &options, &error), ULNA_ERR_ARGUMENT, "cannot change");
    ulna_solver_destroy(solver);
    options = options_of("lagrange");
    solver = ulna_scene_solver(&arm, &options);
    options.lagrange.slack = 1;
    assert_says(ulna_solver_set_options(solver, &options, &error), ULNA_ERR_ARGUMENT, "cannot change");
    ulna_solver_destroy(solver);
    ulna_scene_release(&levels);
    ulna_scene_release(&arm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lagrange_finds_what_hybrid_finds),
        cmocka_unit_test(virtual_work_finds_what_hybrid_finds),
        cmocka_unit_test(a_gauss_newton_step_comes_to_rest_at_a_wrong_point),
        cmocka_unit_test(slacks_have_a_false_stationary_point),
        cmocka_unit_test(slacks_find_active_inequalities_too),
        cmocka_unit_test(contradictions_are_not_called_converged),
        cmocka_unit_test(a_skeleton_that_cannot_move_stands),
        cmocka_unit_test(rows_that_nothing_moves_need_no_force),
        cmocka_unit_test(what_they_do_not_have_is_refused),
    };
    return cmocka_run_group_tests_name("constrained_dense", tests, NULL, NULL);
}
