/* Problems and works: what they refuse, changing goals, missing markers, failing memory, large skeletons. */
#include "objective/problem.h"
#include "support_problem.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double origin[3] = {0, 0, 0}, up[3] = {0, 1, 0}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static ulna_model *sample(const char *name)
{
    ulna_model *model;
    assert_int_equal(ulna_sample_create(name, NULL, &model, NULL), ULNA_OK);
    return model;
}

static void assert_refused(ulna_status status, ulna_status expected, ulna_error *error, const char *words)
{
    assert_int_equal(status, expected);
    if (!strstr(error->message, words))
        fail_msg("message \"%s\" does not say \"%s\"", error->message, words);
    ulna_error_clear(error);
}

static void terms_that_make_no_sense(void **state)
{
    (void)state;
    ulna_model *model = sample("hand");
    ulna_problem *p;
    ulna_error e;
    const double nan3[3] = {0, NAN, 0}, far3[3] = {0, INFINITY, 0}, skew[9] = {1, 1, 0, 0, 1, 0, 0, 0, 1};
    const double mirror[9] = {-1, 0, 0, 0, 1, 0, 0, 0, 1};
    ulna_error_clear(&e);
    assert_refused(ulna_problem_create(NULL, NULL, &p, &e), ULNA_ERR_ARGUMENT, &e, "needs a model");
    assert_int_equal(ulna_problem_create(model, NULL, &p, &e), ULNA_OK);
    assert_refused(ulna_problem_add_point(p, 999, origin, origin, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "no body 999");
    assert_refused(ulna_problem_add_point(p, -1, origin, origin, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "no body -1");
    assert_refused(ulna_problem_add_point(p, 0, origin, nan3, 1, NULL, &e), ULNA_ERR_NUMBER, &e, "NaN");
    assert_refused(ulna_problem_add_point(p, 0, far3, origin, 1, NULL, &e), ULNA_ERR_NUMBER, &e, "infinite");
    assert_refused(ulna_problem_add_point(p, 0, origin, origin, -1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "weight");
    assert_refused(ulna_problem_add_point(p, 0, origin, origin, NAN, NULL, &e), ULNA_ERR_ARGUMENT, &e, "weight");
    assert_refused(ulna_problem_add_point(p, 0, origin, NULL, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "missing");
    assert_refused(ulna_problem_add_orientation(p, 0, skew, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "not a rotation");
    assert_refused(ulna_problem_add_geodesic(p, 0, mirror, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "not a rotation");
    assert_refused(ulna_problem_add_direction(p, 0, origin, up, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "zero length");
    assert_refused(ulna_problem_add_direction(p, 0, up, origin, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "zero length");
    assert_refused(ulna_problem_add_aim(p, 0, origin, origin, up, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "zero length");
    assert_refused(ulna_problem_add_plane(p, 0, origin, up, origin, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "zero length");
    assert_refused(ulna_problem_add_line(p, 0, origin, up, origin, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "zero length");
    assert_refused(ulna_problem_add_coupling(p, 6, 6, 1, 0, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "itself");
    assert_refused(ulna_problem_add_coupling(p, 6, 4444, 1, 0, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "4444");
    assert_refused(ulna_problem_add_coupling(p, 4, 8, 1, 0, 1, NULL, &e), ULNA_ERR_UNSUPPORTED, &e, "quaternion");
    assert_refused(ulna_problem_add_coupling(p, 6, 8, NAN, 0, 1, NULL, &e), ULNA_ERR_NUMBER, &e, "NaN");
    double *bad = ulna_test_numbers(200);
    bad[0] = NAN;
    assert_refused(ulna_problem_add_posture(p, bad, NULL, 1, NULL, &e), ULNA_ERR_NUMBER, &e, "NaN");
    assert_refused(ulna_problem_add_posture(p, NULL, bad, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "DOF 0");
    assert_refused(ulna_problem_add_limits(p, bad, NULL, 1, NULL, &e), ULNA_ERR_ARGUMENT, &e, "lower limit");
    free(bad);
    assert_int_equal(ulna_problem_term_count(p), 0);
    assert_int_equal(ulna_problem_set_goal(p, 0, origin), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_set_length(p, 0), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_set_length(p, NAN), ULNA_ERR_ARGUMENT);

    ulna_work *work;
    assert_refused(ulna_work_create(p, NULL, &work, &e), ULNA_ERR_STATE, &e, "ulna_problem_ready");
    assert_null(work);
    ulna_problem_destroy(p);
    ulna_model_destroy(model);
    ulna_problem_destroy(NULL);
    ulna_work_destroy(NULL);
}

/* Calls in the wrong order, and numbers that are not. */
static void states_and_numbers(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_problem *p;
    ulna_work *w;
    int nv = ulna_model_dof_count(model), nq = ulna_model_coordinate_count(model);
    double *q = ulna_test_numbers(nq), *g = ulna_test_numbers(nv), f;
    ulna_step_options options = ulna_step_options_default();
    assert_int_equal(ulna_problem_create(model, NULL, &p, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_markers(p, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(p, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(p, NULL, &w, NULL), ULNA_OK);
    assert_int_equal(ulna_work_gradient(w, g), ULNA_ERR_STATE);
    assert_int_equal(ulna_work_step(w, &options, g, NULL, NULL), ULNA_ERR_STATE);
    memcpy(q, ulna_model_rest(model), (size_t)nq * sizeof *q);
    for (int k = 0; k < nq; k++) { /* any coordinate, wherever it is */
        double keep = q[k];
        q[k] = k % 2 ? NAN : INFINITY;
        assert_int_equal(ulna_work_evaluate(w, q, &f), ULNA_ERR_NUMBER);
        assert_int_equal(ulna_work_gradient(w, g), ULNA_ERR_STATE);
        q[k] = keep;
    }
    assert_int_equal(ulna_work_evaluate(w, q, &f), ULNA_OK);
    assert_true(f < 1e-28); /* goals are the markers at rest */
    assert_int_equal(ulna_work_evaluate(w, NULL, &f), ULNA_ERR_ARGUMENT);
    options.t = NAN;
    assert_int_equal(ulna_work_evaluate(w, q, &f), ULNA_OK);
    assert_int_equal(ulna_work_step(w, &options, g, NULL, NULL), ULNA_ERR_ARGUMENT);

    /* Angles beyond the fast sine's range are still right. */
    double f0, f1;
    q[8] += 0.3;
    assert_int_equal(ulna_work_evaluate(w, q, &f0), ULNA_OK);
    q[8] += 2 * 3.14159265358979323846 * 1e6;
    assert_int_equal(ulna_work_evaluate(w, q, &f1), ULNA_OK);
    assert_true(fabs(f1 - f0) < 1e-7 * f0);
    free(q);
    free(g);
    ulna_work_destroy(w);
    ulna_problem_destroy(p);
    ulna_model_destroy(model);
}

/* A marker without a goal sleeps; it pulls again when it has one. Weights and strengths multiply. */
static void goals_change_per_frame(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_problem *p;
    ulna_work *w;
    int first, markers = ulna_model_marker_count(model);
    double *goals = ulna_test_numbers(3 * markers), f0, f1, f2;
    const double *rest = ulna_model_rest(model);
    assert_int_equal(ulna_problem_create(model, NULL, &p, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_markers(p, &first, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(p, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(p, NULL, &w, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(w, rest, &f0), ULNA_OK);
    assert_int_equal(ulna_pose_markers(ulna_work_pose(w), goals), ULNA_OK);
    for (int m = 0; m < markers; m++)
        goals[3 * m] += 0.1; /* each 10 cm off: f = markers * 1/2 * 0.01 */
    assert_int_equal(ulna_problem_set_points(p, first, markers, goals), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(w, rest, &f1), ULNA_OK);
    assert_true(fabs(f1 - markers * 0.005) < 1e-12);
    goals[3 * 7 + 1] = NAN;
    assert_int_equal(ulna_problem_set_points(p, first, markers, goals), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(w, rest, &f2), ULNA_OK);
    assert_true(fabs(f1 - f2 - 0.005) < 1e-12);
    double error;
    assert_int_equal(ulna_work_term_error(w, first + 7, &error), ULNA_OK);
    assert_true(isnan(error)); /* a missing marker has none */
    goals[3 * 7 + 1] = INFINITY;
    assert_int_equal(ulna_problem_set_points(p, first, markers, goals), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_problem_set_points(p, first, markers + 1, goals), ULNA_ERR_ARGUMENT);
    double back[3];
    assert_int_equal(ulna_pose_point(ulna_work_pose(w), ulna_model_marker_body(model, 7), origin, back), ULNA_OK);
    double position[3], place[3];
    assert_int_equal(ulna_model_marker_position(model, 7, position), ULNA_OK);
    assert_int_equal(ulna_pose_point(ulna_work_pose(w), ulna_model_marker_body(model, 7), position, place), ULNA_OK);
    place[0] += 0.1;
    assert_int_equal(ulna_problem_set_goal(p, first + 7, place), ULNA_OK); /* awake again */
    assert_int_equal(ulna_work_evaluate(w, rest, &f2), ULNA_OK);
    assert_true(fabs(f1 - f2) < 1e-12);
    assert_int_equal(ulna_problem_set_weight(p, first, 6), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(w, rest, &f2), ULNA_OK);
    assert_true(fabs(f2 - f1 - 5 * 0.005) < 1e-12);
    assert_int_equal(ulna_work_term_error(w, first, &error), ULNA_OK);
    assert_true(fabs(error - 0.1) < 1e-12);
    assert_int_equal(ulna_problem_set_goal(p, first, (const double[3]){NAN, 0, 0}), ULNA_ERR_NUMBER);
    free(goals);
    ulna_work_destroy(w);
    ulna_problem_destroy(p);
    ulna_model_destroy(model);
}

/* Derivatives are those of the last evaluation: after a change they are refused, and so is a work of other terms. */
static void changes_ask_for_an_evaluation(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(6);
    for (int type = 0; type < ULNA_TERM_TYPE_COUNT; type++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.min_bodies = 5;
        tree.fixed = 0;
        tree.joints = 1u << ULNA_JOINT_EULER;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, 1u << type, 2);
        if (ulna_problem_term_count(b.problem) == 0) { /* a coupling of a DOF with itself was drawn, twice */
            ulna_test_bench_close(&b);
            continue;
        }
        double *g = ulna_test_numbers(b.nv), *H = ulna_test_numbers(b.nv * b.nv),
               *goal = ulna_test_numbers(2 * b.nq + 9), f;
        ulna_step_options options = ulna_step_options_default();
        assert_int_equal(ulna_work_gradient(b.work, g), ULNA_OK);
        for (int change = 0; change < 3; change++) {
            assert_int_equal(ulna_problem_goal(b.problem, 0, goal), ULNA_OK);
            assert_int_equal(change == 0   ? ulna_problem_set_weight(b.problem, 0, 0.7)
                             : change == 1 ? ulna_problem_set_length(b.problem, 1.5)
                                           : ulna_problem_set_goal(b.problem, 0, goal),
                             ULNA_OK);
            assert_int_equal(ulna_work_gradient(b.work, g), ULNA_ERR_STATE);
            assert_int_equal(ulna_work_hessian_dense(b.work, 1, H), ULNA_ERR_STATE);
            assert_int_equal(ulna_work_step(b.work, &options, g, NULL, NULL), ULNA_ERR_STATE);
            assert_int_equal(ulna_work_residuals(b.work, NULL, NULL), ULNA_ERR_STATE);
            assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
            assert_int_equal(ulna_work_gradient(b.work, g), ULNA_OK);
        }
        assert_true(ulna_problem_weight(b.problem, 0) == 0.7);
        assert_true(isnan(ulna_problem_weight(b.problem, 99)));
        assert_int_equal(ulna_problem_add_point(b.problem, 0, NULL, origin, 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_work_gradient(b.work, g), ULNA_ERR_STATE);
        assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_ERR_STATE);
        assert_int_equal(ulna_problem_ready(b.problem, NULL), ULNA_OK);
        assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_ERR_STATE); /* the work was made for fewer terms */
        free(g);
        free(H);
        free(goal);
        ulna_test_bench_close(&b);
    }
}

/* A copy gives the same numbers and a life of its own. */
static void a_copy_is_its_own(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(7);
    for (int round = 0; round < 50; round++) {
        ulna_test_bench b = ulna_test_bench_open(&rng, NULL, ULNA_TEST_ALL_TERMS, 12);
        ulna_problem *copy;
        ulna_work *work;
        double f, g, h;
        assert_int_equal(ulna_problem_clone(b.problem, NULL, &copy, NULL), ULNA_OK);
        assert_int_equal(ulna_work_create(copy, NULL, &work, NULL), ULNA_OK);
        assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
        assert_int_equal(ulna_work_evaluate(work, b.q, &g), ULNA_OK);
        assert_true(f == g);
        for (int t = 0; t < ulna_problem_term_count(copy); t++)
            assert_int_equal(ulna_problem_set_weight(copy, t, 0), ULNA_OK);
        assert_int_equal(ulna_work_evaluate(b.work, b.q, &h), ULNA_OK);
        assert_int_equal(ulna_work_evaluate(work, b.q, &g), ULNA_OK);
        assert_true(g == 0 && h == f);
        ulna_work_destroy(work);
        ulna_problem_destroy(copy);
        ulna_test_bench_close(&b);
    }
}

/* The pose of a work may be asked, and moved, but then derivatives are not those of the pose. */
static void the_pose_of_a_work(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(8);
    ulna_test_bench b = ulna_test_bench_open(&rng, NULL, 1u << ULNA_TERM_POINT, 3);
    ulna_effector e = ulna_test_random_effector(&rng, b.model);
    ulna_jacobian_options options = ulna_jacobian_options_default();
    double *J = ulna_test_numbers(6 * b.nv), *g = ulna_test_numbers(b.nv);
    assert_int_equal(ulna_pose_jacobian(ulna_work_pose(b.work), &options, 1, &e, J), ULNA_OK);
    assert_int_equal(ulna_work_gradient(b.work, g), ULNA_OK);
    assert_int_equal(ulna_pose_forward(ulna_work_pose(b.work), ulna_model_rest(b.model)), ULNA_OK);
    assert_int_equal(ulna_work_gradient(b.work, g), ULNA_ERR_STATE);
    free(J);
    free(g);
    ulna_test_bench_close(&b);
}

/* NaN in is an error out, in every argument of a step. */
static void numbers_of_a_step(void **state)
{
    (void)state;
    ulna_model *model = sample("arm");
    ulna_problem *p;
    ulna_work *w;
    double shift[7], displacement[7] = {0}, x[7], y[7], q[7], f;
    unsigned char held[7] = {0, 0, 1, 0, 0, 0, 0};
    for (int d = 0; d < 7; d++) {
        shift[d] = 1;
        q[d] = ulna_model_rest(model)[d] + 0.2;
    }
    assert_int_equal(ulna_problem_create(model, NULL, &p, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_markers(p, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(p, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(p, NULL, &w, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(w, q, &f), ULNA_OK);
    ulna_step_options options = {.shift = shift, .locked = held, .displacement = displacement};
    assert_int_equal(ulna_work_step(w, &options, x, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_work_gradient(w, y), ULNA_OK); /* leaves the factors alone */
    assert_int_equal(ulna_work_step_solve(w, y, x), ULNA_OK);
    y[3] = NAN;
    assert_int_equal(ulna_work_step_solve(w, y, x), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_work_hessian_multiply(w, 1, y, x), ULNA_ERR_NUMBER);
    displacement[2] = NAN;
    assert_int_equal(ulna_work_step(w, &options, x, NULL, NULL), ULNA_ERR_NUMBER);
    displacement[2] = INFINITY;
    assert_int_equal(ulna_work_step(w, &options, x, NULL, NULL), ULNA_ERR_NUMBER);
    displacement[2] = 0.1;
    for (int d = 0; d < 7; d++) {
        shift[d] = NAN;
        assert_int_equal(ulna_work_step(w, &options, x, NULL, NULL), ULNA_ERR_NUMBER);
        shift[d] = 1;
    }
    ulna_work_destroy(w);
    ulna_problem_destroy(p);
    ulna_model_destroy(model);
}

/* A rotation of a small angle weighs the same by chord and by angle, and as the length says. */
static void rotations_weigh_by_length(void **state)
{
    (void)state;
    ulna_model *model = sample("two-link");
    double f[3], c = cos(1e-3), s = sin(1e-3), goal[9] = {c, -s, 0, s, c, 0, 0, 0, 1}, direction[3] = {c, s, 0};
    const double x[3] = {1, 0, 0}, *rest = ulna_model_rest(model);
    for (int kind = 0; kind < 3; kind++) {
        ulna_problem *p;
        ulna_work *w;
        assert_int_equal(ulna_problem_create(model, NULL, &p, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_set_length(p, 0.5), ULNA_OK);
        assert_int_equal(kind == 0   ? ulna_problem_add_orientation(p, 1, goal, 2, NULL, NULL)
                         : kind == 1 ? ulna_problem_add_geodesic(p, 1, goal, 2, NULL, NULL)
                                     : ulna_problem_add_direction(p, 1, x, direction, 2, NULL, NULL),
                         ULNA_OK);
        assert_int_equal(ulna_problem_ready(p, NULL), ULNA_OK);
        assert_int_equal(ulna_work_create(p, NULL, &w, NULL), ULNA_OK);
        assert_int_equal(ulna_work_evaluate(w, rest, &f[kind]), ULNA_OK);
        double expected = 0.5 * 2 * 0.25 * 1e-6, error; /* 1/2 weight length^2 angle^2 */
        assert_true(fabs(f[kind] - expected) < 1e-6 * expected);
        assert_int_equal(ulna_work_term_error(w, 0, &error), ULNA_OK);
        assert_true(fabs(error - 1e-3) < 1e-12);
        ulna_work_destroy(w);
        ulna_problem_destroy(p);
    }
    ulna_model_destroy(model);
}

/* A rigid body: its points give the length, else the caller, else the farthest goal. */
static void length_of_a_single_body(void **state)
{
    (void)state;
    ulna_builder *builder;
    ulna_model *model;
    ulna_problem *p;
    const double place[3] = {7, 0, 0}, goal[3] = {7, 3, 4}, near[3] = {0, 0, 1}, far[3] = {0, 3, 0};
    const ulna_joint joint = ulna_joint_free();
    int term;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    assert_int_equal(ulna_builder_add_body(builder, "body", ULNA_NONE, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_joint(builder, 0, &joint, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_placement(builder, 0, place, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    assert_int_equal(ulna_problem_create(model, NULL, &p, NULL), ULNA_OK);
    assert_true(ulna_problem_length_scale(p) == 1); /* nothing says how large anything is */
    assert_int_equal(ulna_problem_add_point(p, 0, NULL, goal, 1, &term, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(p, NULL), ULNA_OK);
    assert_true(ulna_problem_length_scale(p) == 5 && p->length == 1);
    assert_int_equal(ulna_problem_set_weight(p, term, 0), ULNA_OK);
    assert_true(ulna_problem_length_scale(p) == 1);
    assert_int_equal(ulna_problem_add_point(p, 0, near, goal, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(p, 0, far, goal, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(p, NULL), ULNA_OK);
    assert_true(ulna_problem_length_scale(p) == 2 && p->length == 2);
    assert_int_equal(ulna_problem_set_length(p, 9), ULNA_OK);
    assert_true(ulna_problem_length_scale(p) == 2 && p->length == 9);
    ulna_problem_destroy(p);
    assert_int_equal(ulna_problem_create(model, NULL, &p, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(p, 0, NULL, goal, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_set_length(p, 9), ULNA_OK);
    assert_true(ulna_problem_length_scale(p) == 9);
    ulna_problem_destroy(p);
    ulna_model_destroy(model);
}

/* Every allocation failing in turn: a clean status, no leak, nothing half made. */
static void failing_memory(void **state)
{
    (void)state;
    ulna_model *model = sample("all-joints");
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_problem *p = NULL, *copy = NULL;
        ulna_work *w = NULL;
        ulna_pose *pose = NULL;
        ulna_derivative_report report;
        ulna_status status = ulna_problem_create(model, &allocator, &p, NULL);
        if (status == ULNA_OK)
            status = ulna_problem_add_markers(p, NULL, NULL);
        for (int i = 0; status == ULNA_OK && i < 20; i++)
            status = ulna_problem_add_plane(p, 1, origin, up, up, 1, NULL, NULL);
        if (status == ULNA_OK)
            status = ulna_problem_add_posture(p, NULL, NULL, 1, NULL, NULL);
        if (status == ULNA_OK)
            status = ulna_problem_add_limits(p, NULL, NULL, 1, NULL, NULL);
        if (status == ULNA_OK)
            status = ulna_problem_ready(p, NULL);
        if (status == ULNA_OK)
            status = ulna_problem_add_orientation(p, 2, identity, 1, NULL, NULL); /* readies anew */
        if (status == ULNA_OK)
            status = ulna_problem_ready(p, NULL);
        if (status == ULNA_OK)
            status = ulna_problem_clone(p, &allocator, &copy, NULL);
        if (status == ULNA_OK)
            status = ulna_work_create(p, &allocator, &w, NULL);
        if (status == ULNA_OK)
            status = ulna_pose_create(model, &allocator, &pose, NULL);
        if (status == ULNA_OK)
            status = ulna_work_check_derivatives(w, ulna_model_rest(model), &report, NULL);
        ulna_pose_destroy(pose);
        ulna_work_destroy(w);
        ulna_problem_destroy(copy);
        ulna_problem_destroy(p);
        ulna_test_memory_check(&memory);
        if (!memory.failed) {
            assert_int_equal(status, ULNA_OK);
            assert_true(fail > 8);
            break;
        }
        assert_int_equal(status, ULNA_ERR_MEMORY);
    }
    ulna_model_destroy(model);
}

/* Ten thousand bones: as a chain, where the step is O(DOF), and as a bush. */
static void ten_thousand_bones(void **state)
{
    (void)state;
    for (int bush = 0; bush < 2; bush++) {
        enum { BONES = 10000 };
        ulna_builder *builder;
        ulna_model *model;
        ulna_problem *p;
        ulna_work *w;
        ulna_joint joint = ulna_joint_euler("ZYX");
        const double along[3] = {0.01, 0, 0}, goal[3] = {1, 2, 3};
        assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
        for (int b = 0; b < BONES; b++) {
            char name[16];
            snprintf(name, sizeof name, "b%d", b);
            assert_int_equal(ulna_builder_add_body(builder, name,
                                                   b == 0 ? ULNA_NONE
                                                   : bush ? (b - 1) / 2
                                                          : b - 1,
                                                   NULL, NULL),
                             ULNA_OK);
            assert_int_equal(ulna_builder_set_placement(builder, b, along, NULL, NULL), ULNA_OK);
            assert_int_equal(ulna_builder_set_joint(builder, b, &joint, NULL), ULNA_OK);
        }
        assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_create(model, NULL, &p, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_add_point(p, BONES - 1, origin, goal, 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_ready(p, NULL), ULNA_OK);
        assert_int_equal(ulna_work_create(p, NULL, &w, NULL), ULNA_OK);
        int nv = ulna_model_dof_count(model);
        assert_int_equal(nv, 3 * BONES);
        double *q = ulna_test_numbers(nv), *shift = ulna_test_numbers(nv), *step = ulna_test_numbers(nv);
        double *product = ulna_test_numbers(nv), *g = ulna_test_numbers(nv), f, decrease;
        for (int d = 0; d < nv; d++) {
            shift[d] = 1;
            q[d] = 0.3 * sin(d);
        }
        ulna_step_options options = {.shift = shift};
        assert_int_equal(ulna_work_evaluate(w, q, &f), ULNA_OK);
        assert_int_equal(ulna_work_step(w, &options, step, &decrease, NULL), ULNA_OK);
        assert_int_equal(ulna_work_gradient(w, g), ULNA_OK);
        assert_int_equal(ulna_work_hessian_multiply(w, 0, step, product), ULNA_OK);
        double off = 0, size = ulna_test_largest(g, nv);
        for (int d = 0; d < nv; d++)
            off = fmax(off, fabs(product[d] + shift[d] * step[d] + g[d]));
        assert_true(off < 1e-8 * size);
        free(q);
        free(shift);
        free(step);
        free(product);
        free(g);
        ulna_work_destroy(w);
        ulna_problem_destroy(p);
        ulna_model_destroy(model);
        ulna_builder_destroy(builder);
    }
}

/* Sums of eigenvalues and of their squares are those of the matrix; scales and zeros in them; failing memory. */
static void eigenvalues_of_the_hessian(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    for (long fail = -1; fail < 8; fail++) {
        ulna_test_memory memory = {.fail_at = -1};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        int nv = ulna_model_dof_count(model), count = -1;
        ulna_problem *p;
        ulna_work *w;
        double f, sum = 0, squares = 0, *values = ulna_test_numbers(nv), *scale = ulna_test_numbers(nv);
        double *h = ulna_test_numbers(nv * nv), *q = ulna_test_numbers(ulna_model_coordinate_count(model));
        assert_int_equal(ulna_problem_create(model, &allocator, &p, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_add_markers(p, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_ready(p, NULL), ULNA_OK);
        assert_int_equal(ulna_work_create(p, &allocator, &w, NULL), ULNA_OK);
        for (int i = 0; i < ulna_model_coordinate_count(model); i++)
            q[i] = ulna_model_rest(model)[i] + 0.2 * sin(i);
        for (int i = 0; i < nv; i++)
            scale[i] = i % 5 ? 0.5 + 0.01 * i : 0;
        assert_int_equal(ulna_work_evaluate(w, q, &f), ULNA_OK);
        assert_int_equal(ulna_work_hessian_dense(w, 1, h), ULNA_OK);
        for (int i = 0; i < nv; i++)
            for (int j = 0; j < nv; j++) {
                double entry = scale[i] * h[j * nv + i] * scale[j];
                sum += i == j ? entry : 0;
                squares += entry * entry;
            }
        memory.fail_at = fail < 0 ? -1 : memory.calls + fail;
        ulna_status status = ulna_work_hessian_eigenvalues(w, 1, scale, values, &count, NULL);
        memory.fail_at = -1;
        if (fail >= 3 || fail < 0) {
            assert_int_equal(status, ULNA_OK);
            assert_int_equal(count, nv - (nv + 4) / 5);
            for (int i = 0; i < count; i++) {
                assert_true(i == 0 || values[i] >= values[i - 1]);
                sum -= values[i];
                squares -= values[i] * values[i];
            }
            assert_true(fabs(sum) < 1e-9 && fabs(squares) < 1e-9);
            assert_int_equal(ulna_work_hessian_eigenvalues(w, 1, NULL, values, &count, NULL), ULNA_OK);
            assert_int_equal(count, nv);
        } else {
            assert_int_equal(status, ULNA_ERR_MEMORY);
            assert_int_equal(count, 0);
        }
        assert_int_equal(ulna_work_hessian_eigenvalues(w, 1, NULL, NULL, NULL, NULL), ULNA_ERR_ARGUMENT);
        free(values);
        free(scale);
        free(h);
        free(q);
        ulna_work_destroy(w);
        ulna_problem_destroy(p);
        ulna_test_memory_check(&memory);
    }
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_that_make_no_sense), cmocka_unit_test(states_and_numbers),
        cmocka_unit_test(goals_change_per_frame),   cmocka_unit_test(changes_ask_for_an_evaluation),
        cmocka_unit_test(a_copy_is_its_own),        cmocka_unit_test(the_pose_of_a_work),
        cmocka_unit_test(numbers_of_a_step),        cmocka_unit_test(rotations_weigh_by_length),
        cmocka_unit_test(failing_memory),           cmocka_unit_test(ten_thousand_bones),
        cmocka_unit_test(length_of_a_single_body),  cmocka_unit_test(eigenvalues_of_the_hessian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
