/*
 * ccd and fabrik: the best motion of one degree of freedom against brute force, a sweep against one that places the
 * skeleton anew after every motion, and what both promise: f never rises, limits and locked joints are kept,
 * statuses are true.
 */
#include "solve/solver.h"
#include "support_model.h"
#include "support_problem.h"
#include "ulna/sample.h"
#include "ulna/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))
#define PULLS (1u << ULNA_TERM_POINT | 1u << ULNA_TERM_ORIENTATION | 1u << ULNA_TERM_DIRECTION)

/* ---- one degree of freedom -------------------------------------------------------------------------------------- */

/* A random problem on a random tree, and a solver for which only some degrees of freedom are there. */
typedef struct scene {
    ulna_test_bench b;
    ulna_solver *solver;
    ulna_options options;
    double *step, *moved, *gradient, *strength;
    unsigned char *locked;
    double f; /* at b.q */
} scene;

static scene scene_open(ulna_test_rng *rng, const char *method, unsigned types, int bodies, unsigned joints)
{
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    int terms = 1 + ulna_test_rng_index(rng, 10);
    tree.max_bodies = bodies;
    if (joints)
        tree.joints = joints;
    scene s = {.b = ulna_test_bench_open(rng, &tree, types, terms), .options = ulna_options_default()};
    s.step = ulna_test_numbers(s.b.nv);
    s.moved = ulna_test_numbers(s.b.nq);
    s.gradient = ulna_test_numbers(s.b.nv);
    s.strength = ulna_test_numbers(s.b.nv);
    s.locked = calloc((size_t)s.b.nv + 1, 1);
    for (int j = 0; j < s.b.nv; j++)
        s.strength[j] = 1;
    s.options.method = method;
    s.options.locked = s.locked;
    s.options.strength = s.strength;
    s.options.objective = s.options.gradient = s.options.step = 0;
    assert_int_equal(ulna_solver_create(s.b.problem, &s.options, NULL, &s.solver, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(s.b.work, s.b.q, &s.f), ULNA_OK);
    return s;
}

static void scene_close(scene *s)
{
    ulna_solver_destroy(s->solver);
    ulna_test_bench_close(&s->b);
    free(s->step);
    free(s->moved);
    free(s->gradient);
    free(s->strength);
    free(s->locked);
}

static void only(scene *s, int dof)
{
    memset(s->locked, 1, (size_t)s->b.nv);
    s->locked[dof] = 0;
    assert_int_equal(ulna_solver_set_options(s->solver, &s->options, NULL), ULNA_OK);
}

/* One iteration from q; q and f receive what comes of it. */
static void iterate_once(scene *s, double *q, double *f)
{
    ulna_stop stop;
    ulna_result result;
    assert_int_equal(ulna_solver_begin(s->solver, q), ULNA_OK);
    assert_int_equal(ulna_solver_step(s->solver, &stop), ULNA_OK);
    assert_int_equal(ulna_solver_end(s->solver, q, &result), ULNA_OK);
    *f = result.f;
}

/* f with one degree of freedom moved. */
static double f_at(scene *s, const double *q, int dof, double t)
{
    double f;
    memset(s->step, 0, (size_t)s->b.nv * sizeof *s->step);
    s->step[dof] = t;
    ulna_model_integrate(s->b.model, q, s->step, s->moved);
    assert_int_equal(ulna_work_evaluate(s->b.work, s->moved, &f), ULNA_OK);
    return f;
}

/* The lowest of f on [low, high]: a fine grid, and golden sections around its best point. */
static double brute_force(scene *s, const double *q, int dof, double low, double high)
{
    const int cells = 400;
    const double golden = 0.6180339887498949;
    double best = INFINITY, at = 0, width = (high - low) / cells;
    for (int i = 0; i <= cells; i++) {
        double t = low + width * i, f = f_at(s, q, dof, t);
        if (f < best) {
            best = f;
            at = t;
        }
    }
    double a = fmax(at - width, low), b = fmin(at + width, high);
    for (int i = 0; i < 60; i++) {
        double x = b - golden * (b - a), y = a + golden * (b - a);
        if (f_at(s, q, dof, x) < f_at(s, q, dof, y))
            b = y;
        else
            a = x;
    }
    return fmin(best, f_at(s, q, dof, 0.5 * (a + b)));
}

/* How far the degree of freedom may go from q, inside `most` to either side. */
static void range_of(const scene *s, const double *q, int dof, double most, double *low, double *high)
{
    int c = ulna_model_dof_coordinate(s->b.model, dof);
    *low = c < 0 ? -most : fmax(-most, ulna_model_lower(s->b.model)[dof] - q[c]);
    *high = c < 0 ? most : fmin(most, ulna_model_upper(s->b.model)[dof] - q[c]);
}

/* `kind` 0: closed forms alone, but for rotation vectors; below 3: slides have one valley. */
static void check_dof(scene *s, int dof, int kind, int round)
{
    int is_slide = ulna_model_dof_is_translation(s->b.model, dof), is_convex = kind < 3;
    double low, high, f, slack = 1e-10 * s->f + 1e-13;
    double *q = ulna_test_numbers(s->b.nq);
    memcpy(q, s->b.q, (size_t)s->b.nq * sizeof *q);
    only(s, dof);
    iterate_once(s, q, &f);
    assert_true(f <= s->f);
    range_of(s, s->b.q, dof, is_slide ? 20 : PI, &low, &high);
    if (!is_slide || is_convex) {
        double best = brute_force(s, s->b.q, dof, low, high);
        if (kind > 0) /* two valleys between two samples look like one */
            slack += 1e-2 * (s->f - best);
        if (!(f <= best + slack))
            fail_msg("round %d, DOF %d: f = %.15g, but %.15g is possible", round, dof, f, best);
    } else if (f < f_at(s, s->b.q, dof, 1001 * ulna_model_length_scale(s->b.model)) &&
               f < f_at(s, s->b.q, dof, -1001 * ulna_model_length_scale(s->b.model))) {
        /* The valley that it was in, if it does not go down to infinity: nothing lower nearby. */
        range_of(s, q, dof, 1e-3, &low, &high);
        assert_true(f <= brute_force(s, q, dof, low, high) + slack);
    }

    /* Only this one moved. */
    ulna_model_difference(s->b.model, s->b.q, q, s->step);
    for (int j = 0; j < s->b.nv; j++)
        if (j != dof && ulna_model_dof_coordinate(s->b.model, j) >= 0)
            assert_true(s->step[j] == 0);
    free(q);
}

static void each_goes_to_its_lowest_point(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(61);
    unsigned kinds[4] = {PULLS, PULLS | 1u << ULNA_TERM_PLANE | 1u << ULNA_TERM_LINE,
                         PULLS | 1u << ULNA_TERM_POSTURE | 1u << ULNA_TERM_LIMITS | 1u << ULNA_TERM_COUPLING,
                         ULNA_TEST_ALL_TERMS};
    int checked = 0, slides = 0, balls = 0;
    for (int round = 0; checked < 2000; round++) {
        scene s = scene_open(&rng, "ccd", kinds[round % 4], 8, 0);
        for (int k = 0; k < 5 && s.b.nv; k++, checked++) {
            int dof = ulna_test_rng_index(&rng, s.b.nv);
            slides += ulna_model_dof_is_translation(s.b.model, dof);
            balls += ulna_model_dof_coordinate(s.b.model, dof) < 0;
            check_dof(&s, dof, round % 4, round);
        }
        scene_close(&s);
    }
    assert_true(slides > 200 && balls > 100);
}

/* ---- a sweep ---------------------------------------------------------------------------------------------------- */

/* Degree of freedom after degree of freedom by itself, the skeleton placed anew each time; then the pattern move. */
static double slow_iteration(scene *s, double *q)
{
    int nv = s->b.nv;
    double *start = ulna_test_numbers(s->b.nq), *before = ulna_test_numbers(s->b.nq), *way = ulna_test_numbers(nv);
    double f = s->f, longest = 0, ahead;
    size_t bytes = (size_t)s->b.nq * sizeof *q;
    memcpy(start, q, bytes);
    for (int dof = nv - 1; dof >= 0; dof--) {
        memcpy(before, q, bytes);
        only(s, dof);
        iterate_once(s, q, &f);
        ulna_model_difference(s->b.model, before, q, s->gradient);
        way[dof] = s->gradient[dof];
        double unit = ulna_model_dof_is_translation(s->b.model, dof) ? ulna_model_length_scale(s->b.model) : 1;
        longest = fmax(longest, fabs(way[dof]) / unit);
    }
    double length = fmin(1, 0.3 / longest);
    if (length >= 0.5) {
        for (int j = 0; j < nv; j++)
            way[j] *= length;
        ulna_model_integrate(s->b.model, q, way, before);
        ulna_model_clamp(s->b.model, before);
        assert_int_equal(ulna_work_evaluate(s->b.work, before, &ahead), ULNA_OK);
        if (ahead < f) {
            f = ahead;
            memcpy(q, before, bytes);
        }
    }
    free(start);
    free(before);
    free(way);
    return f;
}

static void a_sweep_equals_one_that_starts_anew_each_time(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(62);
    /* Aim and custom terms may have several valleys along a slide, and a pattern move may change from one to the
     * other. */
    const unsigned several = 1u << ULNA_TERM_AIM | 1u << ULNA_TERM_CUSTOM;
    const unsigned turning = 1u << ULNA_JOINT_REVOLUTE | 1u << ULNA_JOINT_EULER | 1u << ULNA_JOINT_BALL |
                             1u << ULNA_JOINT_EXPMAP | 1u << ULNA_JOINT_SWING_TWIST;
    const unsigned kinds[3] = {PULLS, ULNA_TEST_ALL_TERMS & ~several, ULNA_TEST_ALL_TERMS};
    for (int round = 0; round < 300; round++) {
        int kind = round % 3;
        scene s = scene_open(&rng, "ccd", kinds[kind], 10, kind == 2 ? turning : 0);
        double f, *fast = ulna_test_numbers(s.b.nq), *slow = ulna_test_numbers(s.b.nq);
        memcpy(fast, s.b.q, (size_t)s.b.nq * sizeof *fast);
        assert_int_equal(ulna_solver_begin(s.solver, s.b.q), ULNA_OK); /* which shortens rotation vectors */
        memcpy(slow, ulna_solver_q(s.solver), (size_t)s.b.nq * sizeof *slow);
        iterate_once(&s, fast, &f);
        double expected = slow_iteration(&s, slow);
        if (fabs(f - expected) > 1e-7 * s.f + 1e-13)
            fail_msg("round %d: f = %.15g, but %.15g by single motions; it was %.15g", round, f, expected, s.f);
        free(fast);
        free(slow);
        scene_close(&s);
    }
}

/* ---- promises --------------------------------------------------------------------------------------------------- */

/* Tight limits, some joints locked, some weak; step by step. */
static void check_run(ulna_test_rng *rng, const char *method, unsigned types, int iterations)
{
    scene s = scene_open(rng, method, types, 12, 0);
    int nv = s.b.nv;
    double *lower = ulna_test_numbers(nv), *upper = ulna_test_numbers(nv), last = INFINITY, f;
    ulna_stop stop = ULNA_STOP_NONE;
    for (int j = 0; j < nv; j++) {
        int c = ulna_model_dof_coordinate(s.b.model, j);
        double x = c < 0 ? 0 : s.b.q[c];
        lower[j] = ulna_test_rng_index(rng, 4) ? x - ulna_test_rng_uniform(rng, 0, 0.3) : -INFINITY;
        upper[j] = ulna_test_rng_index(rng, 4) ? x + ulna_test_rng_uniform(rng, 0, 0.3) : INFINITY;
        s.locked[j] = ulna_test_rng_index(rng, 5) == 0;
        s.strength[j] = ulna_test_rng_index(rng, 3) ? 1 : ulna_test_rng_uniform(rng, 0.1, 2);
    }
    s.options.lower = lower;
    s.options.upper = upper;
    assert_int_equal(ulna_solver_set_options(s.solver, &s.options, NULL), ULNA_OK);
    assert_int_equal(ulna_solver_begin(s.solver, s.b.q), ULNA_OK);
    for (int i = 0; i < iterations && stop == ULNA_STOP_NONE; i++) {
        assert_int_equal(ulna_solver_step(s.solver, &stop), ULNA_OK);
        const double *q = ulna_solver_q(s.solver);
        assert_int_equal(ulna_work_evaluate(s.b.work, q, &f), ULNA_OK);
        assert_true(f <= last);
        last = f;
        for (int j = 0; j < nv; j++) {
            int c = ulna_model_dof_coordinate(s.b.model, j);
            assert_true(c < 0 || (q[c] >= lower[j] && q[c] <= upper[j]));
            assert_true(c < 0 || !s.locked[j] || q[c] == s.b.q[c]);
        }
    }
    assert_true(last <= s.f);
    free(lower);
    free(upper);
    scene_close(&s);
}

static void f_never_rises_and_limits_hold(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(63);
    for (int round = 0; round < 300; round++) {
        check_run(&rng, "ccd", ULNA_TEST_ALL_TERMS, 12);
        check_run(&rng, "fabrik", PULLS, 30);
    }
}

/* ---- skeletons whose answers are known -------------------------------------------------------------------------- */

typedef struct chain {
    ulna_model *model;
    ulna_problem *problem;
    int nq;
    double *q;
} chain;

/* Bones of equal length, 1 m in all, along x; a marker at the tip. */
static chain chain_open(int count, ulna_joint joint)
{
    chain c = {0};
    ulna_builder *builder = ulna_test_builder();
    int body = ULNA_NONE;
    const double bone[3] = {1.0 / count, 0, 0}, nothing[3] = {0, 0, 0};
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        body = ulna_test_add(builder, name, body);
        assert_int_equal(ulna_builder_set_placement(builder, body, i ? bone : nothing, NULL, NULL), ULNA_OK);
        ulna_test_set_joint(builder, body, joint);
    }
    assert_int_equal(ulna_builder_add_marker(builder, "tip", body, bone, 1, NULL, NULL), ULNA_OK);
    c.model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    c.nq = ulna_model_coordinate_count(c.model);
    c.q = ulna_test_numbers(c.nq);
    memcpy(c.q, ulna_model_rest(c.model), (size_t)c.nq * sizeof *c.q);
    assert_int_equal(ulna_problem_create(c.model, NULL, &c.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_markers(c.problem, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(c.problem, NULL), ULNA_OK);
    return c;
}

static void chain_close(chain *c)
{
    ulna_problem_destroy(c->problem);
    ulna_model_destroy(c->model);
    free(c->q);
}

static ulna_result run(const ulna_problem *problem, const ulna_options *options, const char *method, double *q)
{
    ulna_options o = options ? *options : ulna_options_default();
    ulna_result result;
    o.method = method;
    assert_int_equal(ulna_solve_once(problem, &o, q, &result, NULL), ULNA_OK);
    assert_true(result.violation <= 0);
    return result;
}

static const char *const both[2] = {"ccd", "fabrik"};

static void limits_are_met_at_the_better_end(void **state)
{
    (void)state;
    chain c = chain_open(1, ulna_joint_revolute(0, 0, 1));
    double lower = -PI * 2 / 3, upper = PI / 2, goal[3] = {cos(PI * 5 / 6), sin(PI * 5 / 6), 0};
    ulna_options o = ulna_options_default();
    o.lower = &lower;
    o.upper = &upper;
    ulna_problem_set_goal(c.problem, 0, goal);
    for (int m = 0; m < 2; m++) { /* 90 degrees from the lower limit, 60 from the upper: it goes all the way */
        c.q[0] = lower;
        run(c.problem, &o, both[m], c.q);
        assert_true(c.q[0] == upper);
    }
    lower = -20;
    upper = 20;
    for (int m = 0; m < 2; m++) { /* of all turns that are right, the nearest */
        c.q[0] = 10;
        run(c.problem, &o, both[m], c.q);
        assert_near(c.q[0], PI * 5 / 6 + 2 * PI, 1e-12);
        lower = 9;
        c.q[0] = 9.5;
        run(c.problem, &o, both[m], c.q);
        assert_near(c.q[0], PI * 5 / 6 + 4 * PI, 1e-12);
        lower = -20;
    }
    chain_close(&c);
}

static void strength_is_the_part_of_the_way(void **state)
{
    (void)state;
    chain c = chain_open(1, ulna_joint_revolute(0, 0, 1));
    double strength = 0.5, goal[3] = {0, 2, 0};
    ulna_options o = ulna_options_default();
    o.strength = &strength;
    o.iterations = 1;
    o.decrease = 0;
    ulna_problem_set_goal(c.problem, 0, goal);
    for (int m = 0; m < 2; m++) { /* half of a quarter turn, which is too long to be stretched */
        c.q[0] = 0;
        run(c.problem, &o, both[m], c.q);
        assert_near(c.q[0], 0.5 * PI / 2, 1e-12);
    }
    strength = 0; /* not at all */
    for (int m = 0; m < 2; m++) {
        c.q[0] = 0;
        run(c.problem, &o, both[m], c.q);
        assert_true(c.q[0] == 0);
    }
    chain_close(&c);
}

/* The best is a straight chain towards the goal: f = 1/2 (distance - length)^2. */
static void goals_out_of_reach_stretch_the_chain(void **state)
{
    (void)state;
    const ulna_joint joints[] = {ulna_joint_revolute(0, 0, 1), ulna_joint_ball(), ulna_joint_expmap(),
                                 ulna_joint_euler("ZYX")};
    const double goal[3] = {1.2, -0.9, 0};
    for (int j = 0; j < 4; j++)
        for (int m = 0; m < 2; m++) {
            chain c = chain_open(6, joints[j]);
            ulna_test_rng rng = ulna_test_rng_seed(64);
            int nv = ulna_model_dof_count(c.model);
            double *step = ulna_test_numbers(nv);
            ulna_test_rng_fill(&rng, step, nv, -0.5, 0.5);
            ulna_model_integrate(c.model, ulna_model_rest(c.model), step, c.q);
            ulna_problem_set_goal(c.problem, 0, goal);
            ulna_result result = run(c.problem, NULL, both[m], c.q);
            assert_true(result.converged);
            assert_near(result.f, 0.125, 1e-8);
            free(step);
            chain_close(&c);
        }
}

/* No single motion leaves the line that chain and goal are on. */
static void a_straight_chain_bends(void **state)
{
    (void)state;
    const ulna_joint joints[] = {ulna_joint_revolute(0, 0, 1), ulna_joint_ball(), ulna_joint_expmap()};
    const double places[] = {0.5, 0.1, 0.97, -0.6};
    for (int j = 0; j < 3; j++)
        for (int m = 0; m < 2; m++)
            for (int k = 0; k < 4; k++) {
                chain c = chain_open(3, joints[j]);
                const double goal[3] = {places[k], 0, 0};
                ulna_problem_set_goal(c.problem, 0, goal);
                ulna_result result = run(c.problem, NULL, both[m], c.q);
                if (!(result.f < 1e-20))
                    fail_msg("%s, joint %d: x = %g ends at f = %g, %s", both[m], j, places[k], result.f,
                             ulna_stop_name(result.stop));
                chain_close(&c);
            }
}

/* A goal that the joint turns about cannot be come nearer to: that is a stationary point, and said so. */
static void where_nothing_helps_the_status_is_true(void **state)
{
    (void)state;
    const double goal[3] = {0, 0, 0.5};
    for (int m = 0; m < 2; m++) {
        chain c = chain_open(1, ulna_joint_revolute(0, 0, 1));
        ulna_problem_set_goal(c.problem, 0, goal);
        ulna_result result = run(c.problem, NULL, both[m], c.q);
        assert_int_equal(result.stop, ULNA_STOP_GRADIENT);
        assert_true(c.q[0] == 0);
        chain_close(&c);
    }
}

/* ---- trees and effectors that pull apart ------------------------------------------------------------------------ */

/* A spine of three balls with two arms of three; goals of the hands 6 m apart, or of one hand the other's weight. */
static void effectors_that_pull_apart_end_in_a_compromise(void **state)
{
    (void)state;
    ulna_builder *builder = ulna_test_builder();
    const double up[3] = {0, 0.3, 0};
    int body = ULNA_NONE, hands[2];
    for (int i = 0; i < 9; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        body = ulna_test_add(builder, name, i == 6 ? 2 : body); /* 0-1-2, 3-4-5 on 2, 6-7-8 on 2 */
        assert_int_equal(ulna_builder_set_placement(builder, body, up, NULL, NULL), ULNA_OK);
        ulna_test_set_joint(builder, body, i % 2 ? ulna_joint_ball() : ulna_joint_euler("ZYX"));
        if (i == 5 || i == 8)
            hands[i == 8] = body;
    }
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    for (int heavy = 0; heavy < 2; heavy++) {
        ulna_problem *problem;
        const double goals[2][3] = {{3, 1, 0.2}, {-3, 1.2, 0}};
        assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
        for (int k = 0; k < 2; k++)
            ulna_problem_add_point(problem, hands[k], up, goals[k], k == 0 && heavy ? 20 : 1, NULL, NULL);
        assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
        ulna_test_rng rng = ulna_test_rng_seed(65);
        int nq = ulna_model_coordinate_count(model), nv = ulna_model_dof_count(model);
        double *start = ulna_test_numbers(nq), *q = ulna_test_numbers(nq), *step = ulna_test_numbers(nv);
        ulna_test_rng_fill(&rng, step, nv, -0.3, 0.3);
        ulna_model_integrate(model, ulna_model_rest(model), step, start);
        memcpy(q, start, (size_t)nq * sizeof *q);
        ulna_result best = run(problem, NULL, "hybrid", q);
        for (int m = 0; m < 2; m++) {
            memcpy(q, start, (size_t)nq * sizeof *q);
            ulna_result result = run(problem, NULL, both[m], q);
            if (!(result.f <= best.f * (1 + 1e-5)))
                fail_msg("%s, heavy %d: f = %g, hybrid has %g", both[m], heavy, result.f, best.f);
            assert_true(result.converged);
        }
        free(start);
        free(q);
        free(step);
        ulna_problem_destroy(problem);
    }
    ulna_model_destroy(model);
}

/* ---- samples ---------------------------------------------------------------------------------------------------- */

/* Goals that a random pose near the rest pose reaches; from the rest pose. Returns the largest f. */
static double reach_samples(const char *sample, const char *method, int rounds, double spread, int oriented)
{
    ulna_test_rng rng = ulna_test_rng_seed(66);
    ulna_model *model;
    ulna_problem *problem;
    ulna_solver *solver;
    ulna_pose *pose;
    ulna_options o = ulna_options_default();
    int first, turn = -1;
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_int_equal(ulna_sample_create(sample, NULL, &model, NULL), ULNA_OK);
    int nm = ulna_model_marker_count(model), nq = ulna_model_coordinate_count(model), nv = ulna_model_dof_count(model);
    int last = ulna_model_marker_body(model, nm - 1);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_markers(problem, &first, NULL), ULNA_OK);
    if (oriented)
        assert_int_equal(ulna_problem_add_orientation(problem, last, identity, 1, &turn, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    o.method = method;
    assert_int_equal(ulna_solver_create(problem, &o, NULL, &solver, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    double *q = ulna_test_numbers(nq), *step = ulna_test_numbers(nv), *goals = ulna_test_numbers(3 * nm), worst = 0;
    for (int round = 0; round < rounds; round++) {
        double rotation[9];
        ulna_result result;
        ulna_test_rng_fill(&rng, step, nv, -spread, spread);
        ulna_model_integrate(model, ulna_model_rest(model), step, q);
        ulna_model_clamp(model, q);
        assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
        assert_int_equal(ulna_pose_markers(pose, goals), ULNA_OK);
        assert_int_equal(ulna_problem_set_points(problem, first, nm, goals), ULNA_OK);
        assert_int_equal(ulna_pose_body(pose, last, NULL, rotation), ULNA_OK);
        if (oriented)
            assert_int_equal(ulna_problem_set_goal(problem, turn, rotation), ULNA_OK);
        memcpy(q, ulna_model_rest(model), (size_t)nq * sizeof *q);
        assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
        assert_true(result.violation <= 0);
        worst = fmax(worst, result.f);
    }
    free(q);
    free(step);
    free(goals);
    ulna_pose_destroy(pose);
    ulna_solver_destroy(solver);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    return worst;
}

static void samples_are_reached(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        assert_true(reach_samples("arm", both[m], 50, 0.6, 0) < 1e-20);
        assert_true(reach_samples("arm", both[m], 20, 0.2, 1) < 1e-20);
        assert_true(reach_samples("hand", both[m], 5, 0.2, 0) < 1e-18); /* a free root */
        assert_true(reach_samples("all-joints", both[m], 20, 0.2, 0) < 1e-18);
        assert_true(reach_samples("human", both[m], 2, 0.05, 0) < 1e-3); /* 41 markers: down, but slowly */
    }
}

static void fabrik_says_what_it_cannot_take(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(67);
    ulna_options o = ulna_options_default();
    ulna_error error;
    o.method = "fabrik";
    for (int type = 0; type < ULNA_TERM_TYPE_COUNT; type++) {
        ulna_model *model;
        ulna_problem *problem;
        ulna_solver *solver;
        assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
        while (!ulna_test_add_term(&rng, problem, (ulna_term_type)type))
            continue;
        assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
        if (PULLS & 1u << type)
            assert_int_equal(ulna_solver_create(problem, &o, NULL, &solver, &error), ULNA_OK);
        else
            assert_says(ulna_solver_create(problem, &o, NULL, &solver, &error), ULNA_ERR_UNSUPPORTED, "fabrik",
                        ulna_term_type_name((ulna_term_type)type));
        ulna_solver_destroy(solver);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
    }
}

/* A joint all of whose DOFs are locked is stiff: the chain is then one of longer bones, and still reaches. */
static void stiff_joints_are_reached_around(void **state)
{
    (void)state;
    const double goal[3] = {0.3, 0.5, -0.2};
    for (int m = 0; m < 2; m++) {
        chain c = chain_open(8, ulna_joint_euler("ZYX"));
        unsigned char locked[24] = {0};
        double *start = ulna_test_numbers(c.nq);
        ulna_options o = ulna_options_default();
        ulna_test_rng rng = ulna_test_rng_seed(68);
        ulna_test_rng_fill(&rng, c.q, c.nq, -0.3, 0.3);
        memcpy(start, c.q, (size_t)c.nq * sizeof *start);
        for (int j = 0; j < 24; j++)
            locked[j] = j / 3 % 2 == 1 || j < 2;
        o.locked = locked;
        ulna_problem_set_goal(c.problem, 0, goal);
        assert_true(run(c.problem, &o, both[m], c.q).f < 1e-20);
        for (int j = 0; j < 24; j++)
            assert_true(!locked[j] || c.q[j] == start[j]);
        free(start);
        chain_close(&c);
    }
}

/* Missing markers and weights of zero have no say; all of them missing: nothing moves, and the goals are met. */
static void missing_markers_have_no_say(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        chain c = chain_open(5, ulna_joint_ball());
        const double goal[3] = {0.3, 0.4, 0.1}, missing[3] = {NAN, NAN, NAN};
        double before = c.q[0];
        assert_int_equal(ulna_problem_set_points(c.problem, 0, 1, missing), ULNA_OK);
        ulna_result result = run(c.problem, NULL, both[m], c.q);
        assert_int_equal(result.stop, ULNA_STOP_OBJECTIVE);
        assert_true(c.q[0] == before);
        assert_int_equal(ulna_problem_set_points(c.problem, 0, 1, goal), ULNA_OK);
        assert_true(run(c.problem, NULL, both[m], c.q).f < 1e-20);
        chain_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_goes_to_its_lowest_point),
        cmocka_unit_test(a_sweep_equals_one_that_starts_anew_each_time),
        cmocka_unit_test(f_never_rises_and_limits_hold),
        cmocka_unit_test(limits_are_met_at_the_better_end),
        cmocka_unit_test(strength_is_the_part_of_the_way),
        cmocka_unit_test(goals_out_of_reach_stretch_the_chain),
        cmocka_unit_test(a_straight_chain_bends),
        cmocka_unit_test(where_nothing_helps_the_status_is_true),
        cmocka_unit_test(effectors_that_pull_apart_end_in_a_compromise),
        cmocka_unit_test(samples_are_reached),
        cmocka_unit_test(fabrik_says_what_it_cannot_take),
        cmocka_unit_test(stiff_joints_are_reached_around),
        cmocka_unit_test(missing_markers_have_no_say),
    };
    return cmocka_run_group_tests_name("solve_heuristics", tests, NULL, NULL);
}
