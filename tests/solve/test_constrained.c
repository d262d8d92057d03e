/* Problems with constraints, solved by hybrid: the scenes of support_constraints.h and what is known about their answers. */
#include "support_constraints.h"
#include "support_kept.h"
#include "support_task.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARM_MOST 40
#define PI 3.14159265358979323846

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

typedef struct run {
    ulna_scene scene;
    ulna_solver *solver;
    double *q;
    ulna_result result;
} run;

static run begin(ulna_scene scene, const ulna_options *options)
{
    run r = {.scene = scene, .solver = ulna_scene_solver(&scene, options), .q = ulna_test_numbers(scene.nq)};
    memcpy(r.q, scene.start, (size_t)scene.nq * sizeof *r.q);
    return r;
}

static void solve(run *r)
{
    assert_int_equal(ulna_solve(r->solver, r->q, &r->result), ULNA_OK);
}

static run solved(ulna_scene scene, const ulna_options *options)
{
    run r = begin(scene, options);
    solve(&r);
    return r;
}

static void end(run *r)
{
    ulna_solver_destroy(r->solver);
    free(r->q);
    ulna_scene_release(&r->scene);
}

static ulna_constraint_state state_of(const run *r, int number)
{
    ulna_constraint_state state;
    assert_int_equal(ulna_solver_constraint(r->solver, number, &state), ULNA_OK);
    return state;
}

/* What the result says is so, by plain code; rows are kept and the KKT conditions hold. */
static void assert_kept(run *r, double kkt)
{
    ulna_test_claims claims = ulna_test_recompute(r->solver, r->scene.problem, 1, 1, r->q);
    assert_true(r->result.converged);
    assert_false(r->result.infeasible);
    assert_near(claims.f, r->result.f, 1e-14 * (1 + claims.f));
    assert_true(claims.error < 1e-9);
    assert_true(claims.limits <= 0);
    assert_true(r->result.kkt < kkt);
    assert_true(claims.kkt < r->result.kkt + 1e-10);
}

static void four_bar_makes_a_full_turn(void **state)
{
    (void)state;
    const unsigned char locked[3] = {1, 0, 0};
    ulna_options options = ulna_options_default();
    options.locked = locked;
    run r = begin(ulna_scene_four_bar(), &options);
    int iterations = 0;
    for (int step = 0; step <= 360; step++) {
        r.q[0] = step * PI / 180;
        assert_int_equal(ulna_problem_set_goal(r.scene.problem, r.scene.posture, r.q), ULNA_OK);
        solve(&r);
        iterations += r.result.iterations;
        assert_true(r.result.converged);
        assert_true(r.result.constraint_violation < 1e-10);
        const ulna_constraint *loop = ulna_problem_constraint(r.scene.problem, 0);
        assert_true(ulna_test_constraint_error(r.scene.model, loop, 1, r.q) < 1e-10);
        assert_near(r.q[0], step * PI / 180, 0);
    }
    print_message("four bars: %.2f iterations a step\n", iterations / 361.0);
    assert_true(fabs(r.q[1] + 5.142164) < 1e-3 && fabs(r.q[2] - 2.000572) < 1e-3); /* the branch that it began on */
    end(&r);
}

static ulna_options warm(void)
{
    ulna_options options = ulna_options_default();
    options.hybrid.keep_damping = 1;
    return options;
}

static void human_reaches_for_the_floor(void **state)
{
    (void)state;
    const ulna_options options = warm();
    run r = solved(ulna_scene_reach(), &options);
    print_message("reach: %d iterations, f %.6e, kkt %.1e\n", r.result.iterations, r.result.f, r.result.kkt);
    assert_kept(&r, 1e-8);
    assert_near(r.result.f, 3.018953e-4, 1e-6);
    int iterations = 0;
    for (int frame = 1; frame <= 100; frame++) {
        ulna_scene_move_reach(&r.scene, frame);
        solve(&r);
        iterations += r.result.iterations;
        assert_kept(&r, 1e-8);
    }
    print_message("reach, warm: %.2f iterations a frame\n", iterations / 100.0);
    assert_near(r.result.f, 2.990258e-4, 1e-6);
    end(&r);
}

/* Multipliers that pull at what cannot be kept, and the damping against them, are no start for the next frame; nor where a limit of iterations
 * ends a frame. Two frames ask for feet that are a metre or three apart. */
static void an_infeasible_frame_spoils_no_other(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        ulna_options options = warm();
        options.iterations = k % 2 ? 30 : 0;
        run r = solved(ulna_scene_reach(), &options);
        double kept[12], torn[12];
        memcpy(kept, ulna_problem_constraint(r.scene.problem, 0)->goal, sizeof kept);
        memcpy(torn, kept, sizeof torn);
        torn[0] += k < 2 ? 1 : 3;
        int failed = 0, iterations = 0;
        for (int frame = 1; frame <= 45; frame++) {
            int is_torn = frame == 5 || frame == 6;
            ulna_scene_move_reach(&r.scene, frame);
            assert_int_equal(ulna_problem_set_constraint_goal(r.scene.problem, 0, is_torn ? torn : kept), ULNA_OK);
            solve(&r);
            if (is_torn)
                assert_false(r.result.converged && !r.result.infeasible);
            failed += !is_torn && !r.result.converged;
            iterations += is_torn ? 0 : r.result.iterations;
        }
        print_message("torn: %d of 43 other frames fail, %d iterations\n", failed, iterations);
        assert_true(failed <= k % 2 && iterations < 400);
        end(&r);
    }
}

static void hands_hold_a_bar(void **state)
{
    (void)state;
    run r = solved(ulna_scene_bar(), NULL);
    print_message("bar: %d iterations, f %.6e, kkt %.1e\n", r.result.iterations, r.result.f, r.result.kkt);
    assert_kept(&r, 1e-8);
    assert_true(state_of(&r, 0).multiplier[0] != 0);
    end(&r);
}

static void goal_is_behind_a_wall(void **state)
{
    (void)state;
    run r = solved(ulna_scene_wall(), NULL);
    print_message("wall: %d iterations, f %.6e, kkt %.1e, %d active\n", r.result.iterations, r.result.f, r.result.kkt,
                  r.result.active_constraints);
    assert_kept(&r, 1e-8);
    assert_near(r.result.f, 2.483105e-2, 1e-5);
    int touching = 0;
    for (int c = 3; c < 8; c++) {
        ulna_constraint_state s = state_of(&r, c);
        assert_true(s.multiplier[0] >= 0 && s.row_count == 1);
        touching += s.active;
    }
    assert_true(touching >= 1);
    end(&r);
}

/* Rows on two bodies and couplings among the terms are outside of the tree: a small skeleton has room for them as well. */
static void an_arm_keeps_distances(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_problem *problem;
    ulna_solver *solver;
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_posture(problem, NULL, NULL, 1e-3, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_coupling(problem, 1, 3, -1, 0.5, 1, NULL, NULL), ULNA_OK);
    int last = ulna_model_body_count(model) - 1, number;
    ulna_constraint apart = {.type = ULNA_KEEP_DISTANCE, .body = last, .other = 1, .goal = {0.5}};
    assert_int_equal(ulna_problem_add_constraint(problem, &apart, &number, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    assert_int_equal(ulna_solver_create(problem, NULL, NULL, &solver, NULL), ULNA_OK);
    int iterations = 0, most = 0, nq = ulna_model_coordinate_count(model);
    double *q = ulna_test_numbers(nq);
    for (int k = 0; k < 20; k++) {
        ulna_result result;
        const double distance = 0.35 + 0.02 * k;
        assert_int_equal(ulna_problem_set_constraint_goal(problem, number, &distance), ULNA_OK);
        for (int i = 0; i < nq; i++)
            q[i] = 0.3 + 0.1 * i;
        assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
        assert_true(result.converged && result.constraint_violation < 1e-9 && result.kkt < 1e-9);
        iterations += result.iterations;
        most = result.iterations > most ? result.iterations : most;
    }
    print_message("arm: %.1f iterations, %d at most\n", iterations / 20.0, most);
    assert_true(most <= ARM_MOST);
    free(q);
    ulna_solver_destroy(solver);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

/* No term, and a table above which the tip comes to be: no force acts there, and nothing is active. */
static void a_row_that_holds_nothing_is_not_active(void **state)
{
    (void)state;
    for (int k = 0; k < 40; k++) {
        ulna_scene scene = {.start = ulna_test_numbers(1), .nq = 1, .nv = 1};
        ulna_builder *builder;
        const ulna_joint slide = ulna_joint_prismatic(0, 0, 1);
        ulna_constraint table = {
            .type = ULNA_KEEP_SPHERE, .relation = ULNA_AT_LEAST, .goal = {0, 0, 0, 0.1 + 0.05 * k}};
        scene.start[0] = 0.01 * (k % 7) + 1e-3;
        assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
        assert_int_equal(ulna_builder_add_body(builder, "slide", ULNA_NONE, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, 0, &slide, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_build(builder, NULL, &scene.model, NULL), ULNA_OK);
        ulna_builder_destroy(builder);
        assert_int_equal(ulna_problem_create(scene.model, NULL, &scene.problem, NULL), ULNA_OK);
        table.point[0] = 0.05;
        assert_int_equal(ulna_problem_add_constraint(scene.problem, &table, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_ready(scene.problem, NULL), ULNA_OK);
        run r = solved(scene, NULL);
        ulna_constraint_state s = state_of(&r, 0);
        assert_int_equal(r.result.stop, ULNA_STOP_OBJECTIVE);
        assert_true(s.error == 0 && s.multiplier[0] == 0 && !s.active);
        assert_true(r.result.kkt == 0 && r.result.gradient == 0 && r.result.active_constraints == 0);
        end(&r);
    }
}

/* ---- angles that start at 0 or 180 degrees ----------------------------------------------------------------------- */

/* Two bodies in a row, both with this joint. */
static ulna_model *two_bodies(ulna_joint joint)
{
    ulna_builder *builder;
    ulna_model *model;
    const double at[3] = {0.5, 0, 0};
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    for (int b = 0; b < 2; b++) {
        assert_int_equal(ulna_builder_add_body(builder, b ? "lower" : "upper", b - 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_placement(builder, b, at, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, b, &joint, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

/* From the rest pose, where the axes are exactly parallel or opposite. */
static void solve_angle(ulna_joint joint, ulna_constraint angle)
{
    ulna_model *model = two_bodies(joint);
    ulna_problem *problem;
    ulna_solver *solver;
    ulna_result result;
    ulna_constraint_state kept;
    double q[8];
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_posture(problem, NULL, NULL, 1e-3, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_constraint(problem, &angle, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    assert_int_equal(ulna_solver_create(problem, NULL, NULL, &solver, NULL), ULNA_OK);
    memcpy(q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
    assert_int_equal(ulna_solver_constraint(solver, 0, &kept), ULNA_OK);
    if (!result.converged || result.infeasible || !(kept.error < 1e-9) || result.iterations > 40)
        fail_msg("angle %g: stop %d after %d iterations, %g rad off, infeasible %d", angle.goal[0], (int)result.stop,
                 result.iterations, kept.error, result.infeasible);
    ulna_solver_destroy(solver);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

static void angles_leave_parallel_axes(void **state)
{
    (void)state;
    const struct {
        ulna_relation relation;
        double side, goal; /* side -1: the axes are opposite */
    } angles[] = {{ULNA_AT_LEAST, 1, 1}, {ULNA_EQUAL, 1, 3},    {ULNA_EQUAL, 1, 0.02},
                  {ULNA_AT_MOST, -1, 1}, {ULNA_EQUAL, -1, 0.2}, {ULNA_EQUAL, -1, 3.1}};
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++)
        for (int k = 0; k < 3; k++) /* hinges about x, y and z: axes across them */
            for (int other = ULNA_NONE; other < 1; other++) {
                ulna_constraint angle = {.type = ULNA_KEEP_ANGLE, .body = 1, .other = other, .goal = {angles[i].goal}};
                angle.relation = angles[i].relation;
                angle.axis[(k + 1) % 3] = 1;
                angle.other_axis[(k + 1) % 3] = angles[i].side;
                solve_angle(ulna_joint_revolute(k == 0, k == 1, k == 2), angle);
                solve_angle(ulna_joint_ball(), angle);
            }
}

/* ---- rotations: nothing ends half a turn away -------------------------------------------------------------------- */

/* Counts right ends, and those that are turned by more than 90 degrees. */
static void count_turned(ulna_scene (*make)(int seed), const char *name, int least)
{
    int right = 0, turned = 0, told = 0, iterations = 0;
    for (int seed = 0; seed < 100; seed++) {
        run r = solved(make(seed), NULL);
        const ulna_constraint *c = ulna_problem_constraint(r.scene.problem, 0);
        double error = ulna_test_constraint_error(r.scene.model, c, 1, r.q);
        right += r.result.converged && error < 1e-8 && r.result.kkt < 1e-8;
        turned += error > PI / 2;
        told += r.result.infeasible;
        iterations += r.result.iterations;
        assert_true(!r.result.converged || error < 1e-8);
        end(&r);
    }
    print_message("%s: %d of 100 right, %d turned round, %d told infeasible, %.1f iterations\n", name, right, turned,
                  told, iterations / 100.0);
    assert_true(right >= least);
    assert_int_equal(turned, 0);
}

static void relative_poses_are_right(void **state)
{
    (void)state;
    count_turned(ulna_scene_hands, "relative pose", 98);
}

static void frames_are_right(void **state)
{
    (void)state;
    count_turned(ulna_scene_turned, "frame pin", 98);
}

/* ---- pins that repeat, contradict, are out of reach ------------------------------------------------------------- */

static void a_pin_may_be_given_twice(void **state)
{
    (void)state;
    run r = solved(ulna_scene_pinned(ULNA_SCENE_PIN_TWICE), NULL);
    print_message("pin twice: %d iterations\n", r.result.iterations);
    assert_kept(&r, 1e-8);
    end(&r);
}

static void contradicting_pins_are_named(void **state)
{
    (void)state;
    run r = solved(ulna_scene_pinned(ULNA_SCENE_PINS_APART), NULL);
    double hand[3];
    const ulna_constraint *pin = ulna_problem_constraint(r.scene.problem, 2);
    ulna_pose *pose = ulna_work_pose(ulna_solver_work(r.solver));
    print_message("pins apart: %d iterations, violation %.9f\n", r.result.iterations, r.result.constraint_violation);
    assert_true(r.result.infeasible);
    assert_int_equal(r.result.stop, ULNA_STOP_INFEASIBLE);
    assert_false(r.result.converged);
    assert_int_equal(ulna_pose_point(pose, pin->body, pin->point, hand), ULNA_OK);
    assert_near(hand[0], 0.4, 1e-6);
    assert_near(hand[1], 1.3, 1e-6); /* half-way */
    assert_near(hand[2], 0.3, 1e-6);
    assert_near(r.result.constraint_violation, 0.1, 1e-6);
    for (int c = 0; c < 4; c++)
        assert_int_equal(state_of(&r, c).conflicting, c >= 2);
    assert_true(state_of(&r, 0).error < 1e-5 && state_of(&r, 1).error < 1e-5);
    end(&r);
}

/* Half the least sum of squared violations by terms alone, and what it is at q. */
static double least_violation(const double *q, double *here)
{
    ulna_options options = ulna_options_default();
    options.decrease = 1e-15;
    options.iterations = 3000;
    run r = begin(ulna_scene_soft_pin(), &options);
    double least;
    assert_int_equal(ulna_work_evaluate(ulna_solver_work(r.solver), q, here), ULNA_OK);
    solve(&r);
    least = r.result.f;
    memcpy(r.q, q, (size_t)r.scene.nq * sizeof *q);
    solve(&r);
    least = fmin(least, r.result.f);
    end(&r);
    return least;
}

static void a_pin_out_of_reach_is_named(void **state)
{
    (void)state;
    run r = solved(ulna_scene_pinned(ULNA_SCENE_PIN_OUT_OF_REACH), NULL);
    double here, least = least_violation(r.q, &here);
    print_message("out of reach: %d iterations, violation %.9f, least %.9f\n", r.result.iterations, sqrt(2 * here),
                  sqrt(2 * least));
    assert_true(r.result.infeasible);
    assert_int_equal(r.result.stop, ULNA_STOP_INFEASIBLE);
    assert_true(state_of(&r, 2).conflicting);
    assert_true(sqrt(here) < sqrt(least) + 1e-6);
    end(&r);
}

/* ---- priorities -------------------------------------------------------------------------------------------------- */

/* The left hand should be in two places, 0.2 m apart, by level. Weights count within a level, which has one goal each. */
static run in_two_places(double first_weight, double second_weight)
{
    const double weights[2] = {first_weight, second_weight};
    ulna_scene scene = ulna_scene_reach();
    for (int i = 0; i < 2; i++) {
        ulna_constraint pin = {.type = ULNA_KEEP_POINT,
                               .body = ulna_model_find_body(scene.model, "left_hand"),
                               .goal = {0.3, 1.1 + 0.2 * i, 0.2},
                               .level = 1 + i,
                               .weight = weights[i]};
        assert_int_equal(ulna_problem_add_constraint(scene.problem, &pin, NULL, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_problem_ready(scene.problem, NULL), ULNA_OK);
    return solved(scene, NULL);
}

static void weights_count_within_a_level(void **state)
{
    (void)state;
    run equal = in_two_places(1, 1), contrary = in_two_places(1e-12, 1e12);
    for (int level = 1; level <= 2; level++) {
        double error = state_of(&equal, 2 + level).error;
        print_message("level %d: %.6f m\n", level, error);
        assert_true(level == 1 ? error < 3e-3 : error > 0.19);
        assert_near(state_of(&contrary, 2 + level).error, error, 1e-9);
    }
    end(&equal);
    end(&contrary);
}

/* ---- tracking ---------------------------------------------------------------------------------------------------- */

/* From where the last two frames point to. */
static void solve_predicted(run *r, double *before)
{
    for (int k = 0; k < r->scene.nq; k++) {
        double now = r->q[k];
        r->q[k] = 2 * now - before[k];
        before[k] = now;
    }
    solve(r);
}

static void markers_with_planted_feet(void **state)
{
    (void)state;
    const ulna_options options = warm();
    int iterations[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        run r = begin(ulna_scene_track(k ? 12 : 0, 1200), &options);
        double *before = ulna_test_copy(r.q, r.scene.nq);
        for (int frame = 0; frame < 1200; frame++) {
            ulna_scene_set_frame(&r.scene, frame);
            solve_predicted(&r, before);
            assert_true(r.result.converged);
            assert_true(r.result.constraint_violation < 1e-9);
            assert_true(r.result.kkt < 1e-8);
            assert_near(r.result.violation, 0, 0);
            iterations[k] += frame > 0 ? r.result.iterations : 0;
            for (int c = 0; c < 2 * k && frame % 100 == 0; c++) {
                const ulna_constraint *foot = ulna_problem_constraint(r.scene.problem, c);
                assert_true(ulna_test_constraint_error(r.scene.model, foot, 1, r.q) < 1e-9);
            }
        }
        free(before);
        end(&r);
    }
    print_message("1,199 frames: %.2f iterations with feet, %.2f without\n", iterations[1] / 1199.0,
                  iterations[0] / 1199.0);
}

/* 1 if the start led to the right pose; every claim of convergence must be true. */
static int is_found(run *r, int seed)
{
    ulna_scene_set_cold(&r->scene, seed);
    memcpy(r->q, r->scene.start, (size_t)r->scene.nq * sizeof *r->q);
    solve(r);
    assert_true(!r->result.converged || r->result.constraint_violation < 1e-9);
    return r->result.converged && r->result.f < ULNA_SCENE_COLD_F;
}

static void cold_starts_with_planted_feet(void **state)
{
    (void)state;
    int found[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        run r = begin(ulna_scene_track(k ? 12 : 0, 1), NULL);
        for (int seed = 0; seed < 200; seed++)
            found[k] += is_found(&r, seed);
        end(&r);
    }
    print_message("cold starts: %d of 200 with feet, %d without\n", found[1], found[0]);
    assert_true(found[1] >= 175 && found[1] >= found[0] - 10);
}

/* ---- limits as constraints --------------------------------------------------------------------------------------- */

static void limits_as_rows_are_limits(void **state)
{
    (void)state;
    ulna_options options = ulna_options_default(), free_options = options;
    options.decrease = 0;
    free_options.bounded = 0;
    run a = solved(ulna_scene_limits(0), &options), b = begin(ulna_scene_limits(1), &free_options);
    for (int k = 0; k < a.scene.nq; k++)
        b.q[k] = a.q[k] + 0.05 * (k % 3 - 1);
    solve(&b);
    const ulna_model *model = a.scene.model;
    double *gradient = ulna_test_numbers(a.scene.nv);
    int held = 0, number = 0;
    print_message("limits: %d iterations as limits, %d as rows, %d on a limit\n", a.result.iterations,
                  b.result.iterations, a.result.at_limits);
    assert_true(a.result.converged && b.result.converged && a.result.at_limits >= 5);
    assert_near(a.result.f, b.result.f, 1e-9);
    assert_int_equal(ulna_work_gradient(ulna_solver_work(a.solver), gradient), ULNA_OK);
    for (int d = 0; d < a.scene.nv; d++) {
        assert_near(a.q[d], b.q[d], 1e-7);
        if (!isfinite(ulna_model_lower(model)[d]) || !isfinite(ulna_model_upper(model)[d]))
            continue;
        double below = state_of(&b, number).multiplier[0], above = state_of(&b, number + 1).multiplier[0];
        int is_held = a.q[d] <= ulna_model_lower(model)[d] || a.q[d] >= ulna_model_upper(model)[d];
        assert_true(below >= 0 && above >= 0);
        assert_near(below - above, is_held ? gradient[d] : 0, 1e-7);
        held += is_held;
        number += 2;
    }
    assert_true(held >= 5);
    free(gradient);
    end(&a);
    end(&b);
}

/* ---- one for each type ------------------------------------------------------------------------------------------- */

static void solve_type(ulna_constraint_type type, uint64_t seed, int *kept, int *all)
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    ulna_scene scene = ulna_scene_track(0, 240);
    double *q = ulna_test_numbers(scene.nq);
    ulna_test_constraint c;
    memcpy(q, scene.start, (size_t)scene.nq * sizeof *q);
    for (int k = 6; k < scene.nq; k++)
        q[k] += 0.15 * ulna_test_rng_normal(&rng);
    ulna_model_clamp(scene.model, q);
    while (!ulna_test_random_constraint(&rng, scene.model, q, type, &c))
        ;
    ulna_error error;
    ulna_error_clear(&error);
    if (ulna_problem_add_constraint(scene.problem, &c.given, NULL, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    assert_int_equal(ulna_problem_ready(scene.problem, NULL), ULNA_OK);
    ulna_scene_set_frame(&scene, (int)(seed % 240));
    run r = solved(scene, NULL);
    (*all)++;
    *kept += r.result.converged && r.result.kkt < 1e-8;
    if (r.result.converged)
        assert_kept(&r, 1e-8);
    else
        print_message("%s, seed %d: stop %d, violation %.1e, kkt %.1e\n", ulna_constraint_type_name(type), (int)seed,
                      (int)r.result.stop, r.result.constraint_violation, r.result.kkt);
    free(q);
    end(&r);
}

static void every_type_is_kept(void **state)
{
    (void)state;
    for (int type = 0; type < ULNA_CONSTRAINT_TYPE_COUNT; type++) {
        int kept = 0, all = 0;
        for (uint64_t seed = 1; seed <= 5; seed++)
            solve_type((ulna_constraint_type)type, 17 * seed, &kept, &all);
        print_message("%s: %d of %d\n", ulna_constraint_type_name((ulna_constraint_type)type), kept, all);
        assert_true(kept == all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_bar_makes_a_full_turn),
        cmocka_unit_test(human_reaches_for_the_floor),
        cmocka_unit_test(an_infeasible_frame_spoils_no_other),
        cmocka_unit_test(hands_hold_a_bar),
        cmocka_unit_test(goal_is_behind_a_wall),
        cmocka_unit_test(an_arm_keeps_distances),
        cmocka_unit_test(a_row_that_holds_nothing_is_not_active),
        cmocka_unit_test(angles_leave_parallel_axes),
        cmocka_unit_test(relative_poses_are_right),
        cmocka_unit_test(frames_are_right),
        cmocka_unit_test(a_pin_may_be_given_twice),
        cmocka_unit_test(contradicting_pins_are_named),
        cmocka_unit_test(a_pin_out_of_reach_is_named),
        cmocka_unit_test(weights_count_within_a_level),
        cmocka_unit_test(markers_with_planted_feet),
        cmocka_unit_test(cold_starts_with_planted_feet),
        cmocka_unit_test(limits_as_rows_are_limits),
        cmocka_unit_test(every_type_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
