/* Line searches, and the methods that use them: bfgs, lbfgs, gradient, cg. */
#include "solve/line_search.h"
#include "support_problem.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const method_names[] = {"bfgs", "lbfgs", "gradient", "cg"};
enum { METHODS = 4 };

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static ulna_solver *solver_for(const ulna_problem *problem, const ulna_options *options)
{
    ulna_solver *solver;
    ulna_error error;
    ulna_error_clear(&error);
    if (ulna_solver_create(problem, options, NULL, &solver, &error) != ULNA_OK)
        fail_msg("no solver: %s", error.message);
    return solver;
}

/* ---- one dimension ----------------------------------------------------------------------------------------------- */

/* The six functions of J. J. More, D. J. Thuente, ACM Trans. Math. Softw. 20, 1994, section 5, and three that are hard
 * in other ways: a quadratic, one that is infinite beyond 3, one that falls for ever. */
typedef struct curve {
    int kind;
    double last; /* the last length that was asked for */
} curve;

static void yanai(double a, double b1, double b2, double *value, double *slope)
{
    double g1 = sqrt(1 + b1 * b1) - b1, g2 = sqrt(1 + b2 * b2) - b2;
    double r1 = sqrt((1 - a) * (1 - a) + b2 * b2), r2 = sqrt(a * a + b1 * b1);
    *value = g1 * r1 + g2 * r2;
    *slope = -g1 * (1 - a) / r1 + g2 * a / r2;
}

static void kinky(double a, double *value, double *slope)
{
    const double b = 0.01, l = 39, pi = 3.14159265358979323846;
    double flat = a <= 1 - b ? 1 - a : a >= 1 + b ? a - 1 : (a - 1) * (a - 1) / (2 * b) + b / 2;
    double rate = a <= 1 - b ? -1 : a >= 1 + b ? 1 : (a - 1) / b;
    *value = flat + 2 * (1 - b) / (l * pi) * sin(l * pi * a / 2);
    *slope = rate + (1 - b) * cos(l * pi * a / 2);
}

static ulna_status look_at_curve(void *context, int want_slope, ulna_line_point *p)
{
    curve *c = context;
    double a = p->length, value, slope;
    c->last = a;
    switch (c->kind) {
    case 0:
        value = -a / (a * a + 2);
        slope = (a * a - 2) / ((a * a + 2) * (a * a + 2));
        break;
    case 1: {
        double x = a + 0.004;
        value = x * x * x * x * x - 2 * x * x * x * x;
        slope = 5 * x * x * x * x - 8 * x * x * x;
        break;
    }
    case 2:
        kinky(a, &value, &slope);
        break;
    case 3:
        yanai(a, 0.001, 0.001, &value, &slope);
        break;
    case 4:
        yanai(a, 0.01, 0.001, &value, &slope);
        break;
    case 5:
        yanai(a, 0.001, 0.01, &value, &slope);
        break;
    case 6:
        value = (a - 2) * (a - 2);
        slope = 2 * (a - 2);
        break;
    case 7:
        value = a < 3 ? 1 / (3 - a) - a : (double)INFINITY;
        slope = 1 / ((3 - a) * (3 - a)) - 1;
        break;
    default:
        value = -a;
        slope = -1;
    }
    p->value = value;
    p->slope = want_slope ? slope : (double)NAN;
    return ULNA_OK;
}

static ulna_status look_at_curve_with_line(void *context, int want_slope, ulna_line_point *p)
{
    ulna_line_point zero = {.length = 0};
    look_at_curve(context, 1, &zero);
    p->linear = p->length * zero.slope;
    return look_at_curve(context, want_slope, p);
}

static void wolfe_conditions_hold_on_curves(void **state)
{
    (void)state;
    const double firsts[] = {1e-3, 1e-1, 1, 10, 1e3}, c2s[] = {0.9, 0.4, 0.1, 1.01e-4};
    for (int kind = 0; kind < 8; kind++)
        for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
            for (size_t k = 0; k < sizeof c2s / sizeof *c2s; k++) {
                curve c = {.kind = kind};
                ulna_line_point start = {.length = 0}, point;
                ulna_line_rule rule = {1e-4, c2s[k], firsts[i], 1e6, 0, 60};
                int found;
                look_at_curve(&c, 1, &start);
                assert_true(start.slope < 0);
                assert_int_equal(ulna_wolfe(look_at_curve_with_line, &c, &start, &rule, &point, &found), ULNA_OK);
                if (!found || !(point.value <= start.value + 1e-4 * point.length * start.slope) ||
                    !(fabs(point.slope) <= c2s[k] * fabs(start.slope)))
                    fail_msg("curve %d from %g, c2 %g: found %d, at %g: value %g, slope %g of %g", kind, firsts[i],
                             c2s[k], found, point.length, point.value, point.slope, start.slope);
                assert_true(c.last == point.length);
            }
}

static void backtracking_finds_enough_decrease(void **state)
{
    (void)state;
    const double firsts[] = {1e-3, 1, 10, 1e3};
    for (int kind = 0; kind < 8; kind++)
        for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
            curve c = {.kind = kind};
            ulna_line_point start = {.length = 0}, point;
            ulna_line_rule rule = {0.1, 0, firsts[i], 1e6, 0, 60};
            int found;
            look_at_curve(&c, 1, &start);
            assert_int_equal(ulna_wolfe(look_at_curve_with_line, &c, &start, &rule, &point, &found), ULNA_OK);
            assert_true(found && point.length <= firsts[i] && c.last == point.length);
            assert_true(point.value <= start.value + 0.1 * point.length * start.slope);
        }
}

static void a_search_without_end_ends(void **state)
{
    (void)state;
    curve c = {.kind = 8};
    ulna_line_point start = {.slope = -1}, point;
    ulna_line_rule rule = {1e-4, 0.9, 1, 50, 0, 60};
    int found;
    assert_int_equal(ulna_wolfe(look_at_curve_with_line, &c, &start, &rule, &point, &found), ULNA_OK);
    assert_true(found && point.length == 50); /* as far as allowed */
    rule.most = 1e300;
    rule.evaluations = 7;
    assert_int_equal(ulna_wolfe(look_at_curve_with_line, &c, &start, &rule, &point, &found), ULNA_OK);
    assert_true(!found && point.length > 1 && point.value < 0); /* the lowest point so far, and no claim */
}

/* ---- along directions of solvers --------------------------------------------------------------------------------- */

static ulna_line line_for(int nv)
{
    return (ulna_line){.step = ulna_test_numbers(nv), .gradient = ulna_test_numbers(nv)};
}

static void line_free(ulna_line *line)
{
    free(line->step);
    free(line->gradient);
}

/* A direction that leads down: the negative gradient, each component times a random positive number. */
static void downhill(ulna_test_rng *rng, const ulna_solver *s, double *d)
{
    double size = 0;
    for (int j = 0; j < s->nv; j++) {
        d[j] = -s->gradient[j] * ulna_test_rng_uniform(rng, 0.1, 3);
        size = fmax(size, fabs(d[j]));
    }
    for (int j = 0; j < s->nv && size > 0; j++)
        d[j] /= size;
}

static void strong_wolfe_holds_on_problems(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(61);
    int searched = 0;
    for (int round = 0; round < 400; round++) {
        ulna_test_bench b = ulna_test_bench_open(&rng, NULL, ULNA_TEST_ALL_TERMS, 6);
        ulna_options options = ulna_options_default();
        options.method = "bfgs";
        options.bounded = 0;
        ulna_solver *s = solver_for(b.problem, &options);
        double *d = ulna_test_numbers(b.nv), *old = ulna_test_numbers(b.nv);
        double c2 = round % 2 ? 0.9 : 0.1, f0, f;
        ulna_line line = line_for(b.nv);
        int found;
        assert_int_equal(ulna_solver_begin(s, b.q), ULNA_OK);
        memcpy(b.q, s->q, (size_t)b.nq * sizeof *b.q); /* rotation vectors may have been shortened */
        downhill(&rng, s, d);
        memcpy(old, s->gradient, (size_t)b.nv * sizeof *old);
        f0 = s->f;
        line.curvature = c2;
        assert_int_equal(ulna_line_walk(s, &line, d, ulna_test_rng_uniform(&rng, 0.01, 1), &found), ULNA_OK);
        if (dot(b.nv, old, d) < -1e-6 * f0) {
            assert_true(found);
            searched++;

            /* All of it seen from outside: f and gradient at the new q, by another work. */
            double slope = dot(b.nv, old, d), *g = ulna_test_numbers(b.nv), *q = ulna_test_numbers(b.nq);
            for (int j = 0; j < b.nv; j++)
                g[j] = line.length * d[j];
            ulna_model_integrate(b.model, b.q, g, q);
            ulna_test_assert_close(s->q, q, b.nq, 1e-14, "q along the path");
            assert_int_equal(ulna_work_evaluate(b.work, s->q, &f), ULNA_OK);
            assert_int_equal(ulna_work_gradient(b.work, g), ULNA_OK);
            assert_true(fabs(f - s->f) <= 1e-13 * f0 && s->gradient_known);
            ulna_test_assert_close(s->gradient, g, b.nv, 1e-12, "gradient");
            assert_true(f <= f0 + 1e-4 * line.length * slope + 1e-14 * f0);
            int is_longest = line.length * ulna_step_size(s, d) > 6.29;
            if (!is_longest && !(fabs(dot(b.nv, g, d)) <= c2 * fabs(slope) + 1e-12 * f0))
                fail_msg("round %d: slope %g after %g", round, dot(b.nv, g, d), slope);
            free(g);
            free(q);
        }
        line_free(&line);
        free(d);
        free(old);
        ulna_solver_destroy(s);
        ulna_test_bench_close(&b);
    }
    assert_true(searched > 300);
}

/* Limits so tight that most steps meet one, around q. */
static void tight_limits(ulna_test_rng *rng, const ulna_test_bench *b, double *lower, double *upper)
{
    for (int j = 0; j < b->nv; j++) {
        int c = ulna_model_dof_coordinate(b->model, j), sort = ulna_test_rng_index(rng, 10);
        double at = c < 0 ? 0 : b->q[c];
        lower[j] = sort == 0 || sort == 4 ? at
                   : sort == 1            ? -(double)INFINITY
                                          : at - ulna_test_rng_uniform(rng, 0, 0.3);
        upper[j] = sort == 2 || sort == 4 ? at : sort == 3 ? (double)INFINITY : at + ulna_test_rng_uniform(rng, 0, 0.3);
    }
}

static void assert_inside(const ulna_test_bench *b, const double *q, const double *lower, const double *upper,
                          int round)
{
    for (int j = 0; j < b->nv; j++) {
        int c = ulna_model_dof_coordinate(b->model, j);
        if (c >= 0 && !(q[c] >= lower[j] && q[c] <= upper[j]))
            fail_msg("round %d: degree of freedom %d is %.17g, limits %.17g %.17g", round, j, q[c], lower[j], upper[j]);
    }
}

static void projected_searches_stay_inside_and_go_down(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(62);
    int met = 0, searched = 0;
    for (int round = 0; round < 600; round++) {
        ulna_test_bench b = ulna_test_bench_open(&rng, NULL, ULNA_TEST_ALL_TERMS, 6);
        double *lower = ulna_test_numbers(b.nv), *upper = ulna_test_numbers(b.nv), *d = ulna_test_numbers(b.nv);
        double *old = ulna_test_numbers(b.nv), *moved = ulna_test_numbers(b.nv);
        ulna_options options = ulna_options_default();
        tight_limits(&rng, &b, lower, upper);
        options.method = "cg";
        options.lower = lower;
        options.upper = upper;
        options.line.rule = round % 2 ? ULNA_LINE_WOLFE : ULNA_LINE_BACKTRACKING;
        ulna_solver *s = solver_for(b.problem, &options);
        ulna_line line = line_for(b.nv);
        int found;
        assert_int_equal(ulna_solver_begin(s, b.q), ULNA_OK);
        memcpy(old, s->gradient, (size_t)b.nv * sizeof *old);
        double f0 = s->f;
        downhill(&rng, s, d);
        assert_int_equal(ulna_line_walk(s, &line, d, ulna_test_rng_uniform(&rng, 0.01, 1), &found), ULNA_OK);
        assert_inside(&b, s->q, lower, upper, round);
        if (found) {
            searched++;
            met += line.met;
            ulna_model_difference(b.model, b.q, s->q, moved);
            ulna_test_assert_close(line.step, moved, b.nv, 1e-12, "step");
            assert_true(s->f < f0 && s->f <= f0 + 1e-4 * dot(b.nv, old, line.step) + 1e-14 * f0);
        } else { /* everything that leads down is barred */
            assert_true(s->f == f0 && line.length == 0);
            assert_memory_equal(s->q, b.q, (size_t)b.nq * sizeof *b.q);
            assert_true(ulna_projected_gradient(s) <= 1e-7 * sqrt(f0 * s->curvature) || s->f < 1e-24);
        }
        line_free(&line);
        free(lower);
        free(upper);
        free(d);
        free(old);
        free(moved);
        ulna_solver_destroy(s);
        ulna_test_bench_close(&b);
    }
    assert_true(searched > 400 && met > 100);
}

static void directions_that_lead_nowhere_are_refused(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(68);
    for (int round = 0; round < 100; round++) {
        ulna_test_bench b = ulna_test_bench_open(&rng, NULL, ULNA_TEST_ALL_TERMS, 6);
        ulna_options options = ulna_options_default();
        options.method = "gradient";
        options.bounded = round % 2;
        ulna_solver *s = solver_for(b.problem, &options);
        double *d = ulna_test_numbers(b.nv), *q = ulna_test_numbers(b.nq);
        ulna_line line = line_for(b.nv);
        int found = 1;
        assert_int_equal(ulna_solver_begin(s, b.q), ULNA_OK);
        memcpy(q, s->q, (size_t)b.nq * sizeof *q);
        double f = s->f;
        for (int sort = 0; sort < 3; sort++) {
            for (int j = 0; j < b.nv; j++)
                d[j] = sort == 0 ? s->gradient[j] : sort == 1 ? 0 : (double)NAN;
            assert_int_equal(ulna_line_walk(s, &line, d, 1, &found), ULNA_OK);
            assert_true(!found && s->f == f && s->at_q && line.length == 0);
            assert_memory_equal(s->q, q, (size_t)b.nq * sizeof *q);
        }
        line_free(&line);
        free(d);
        free(q);
        ulna_solver_destroy(s);
        ulna_test_bench_close(&b);
    }
}

/* ---- methods ----------------------------------------------------------------------------------------------------- */

/* Step by step on random problems with tight limits, locked DOFs and strengths: inside, down, and true at the end. */
static void methods_keep_limits(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(67);
    int converged = 0, stalled = 0;
    for (int round = 0; round < 2000; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.max_bodies = 12;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, ULNA_TEST_ALL_TERMS, 5);
        double *lower = ulna_test_numbers(b.nv), *upper = ulna_test_numbers(b.nv), *strength = ulna_test_numbers(b.nv);
        double *q = ulna_test_numbers(b.nq), *moved = ulna_test_numbers(b.nv);
        unsigned char *locked = calloc((size_t)b.nv + 1, 1);
        ulna_options options = ulna_options_default();
        ulna_result result;
        ulna_stop stop = ULNA_STOP_NONE;
        tight_limits(&rng, &b, lower, upper);
        for (int j = 0; j < b.nv; j++) {
            int is_plain = ulna_model_dof_coordinate(b.model, j) >= 0; /* a part of a quaternion cannot stay behind */
            locked[j] = is_plain && ulna_test_rng_index(&rng, 8) == 0;
            strength[j] = is_plain && ulna_test_rng_index(&rng, 8) == 0 ? 0 : ulna_test_rng_uniform(&rng, 0.3, 2);
        }
        options.method = method_names[round % METHODS];
        options.lower = lower;
        options.upper = upper;
        options.locked = locked;
        options.strength = strength;
        options.iterations = 400;
        options.line.rule = round % 3 ? ULNA_LINE_WOLFE : ULNA_LINE_BACKTRACKING;
        ulna_solver *s = solver_for(b.problem, &options);
        assert_int_equal(ulna_solver_begin(s, b.q), ULNA_OK);
        double f = s->f;
        while (stop == ULNA_STOP_NONE) {
            stop = s->result.stop;
            if (stop == ULNA_STOP_NONE)
                assert_int_equal(ulna_solver_step(s, &stop), ULNA_OK);
            assert_inside(&b, ulna_solver_q(s), lower, upper, round);
            assert_true(s->f <= f);
            f = s->f;
        }
        assert_int_equal(ulna_solver_end(s, q, &result), ULNA_OK);
        ulna_model_difference(b.model, b.q, q, moved);
        for (int j = 0; j < b.nv; j++)
            assert_true(!(locked[j] || strength[j] == 0) || moved[j] == 0);
        assert_true(result.violation <= 0 && result.f <= result.first_f);
        converged += result.converged;
        stalled += result.stop == ULNA_STOP_STALLED;
        if (round % 10 < METHODS) { /* the same solver again: the same bits */
            double *again = ulna_test_numbers(b.nq);
            memcpy(again, b.q, (size_t)b.nq * sizeof *again);
            assert_int_equal(ulna_solve(s, again, NULL), ULNA_OK);
            assert_memory_equal(q, again, (size_t)b.nq * sizeof *q);
            free(again);
        }
        ulna_solver_destroy(s);
        free(lower);
        free(upper);
        free(strength);
        free(q);
        free(moved);
        free(locked);
        ulna_test_bench_close(&b);
    }
    assert_true(converged > 1900 && stalled == 0); /* the others: still at it, or on a slide that leads down for ever */
}

/* Points drawn to goals and a posture that makes the minimum a single one, inside limits of which many are met. */
static ulna_problem *convex_problem(ulna_test_rng *rng, const ulna_model *model)
{
    ulna_problem *problem;
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    for (int i = 0; i < 4; i++)
        ulna_test_add_term(rng, problem, ULNA_TERM_POINT);
    assert_int_equal(ulna_problem_add_posture(problem, NULL, NULL, 20, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    return problem;
}

static void bounded_methods_find_the_minimum_of_hybrid(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(69);
    int at_limits = 0, pressed = 0;
    for (int round = 0; round < 150; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.max_bodies = 12;
        tree.limits = 0;
        ulna_model *model = ulna_test_random_tree(&rng, &tree);
        ulna_problem *problem = convex_problem(&rng, model);
        int nv = ulna_model_dof_count(model), nq = ulna_model_coordinate_count(model);
        double *lower = ulna_test_numbers(nv), *upper = ulna_test_numbers(nv), *difference = ulna_test_numbers(nv);
        double *best = ulna_test_numbers(nq), *q = ulna_test_numbers(nq);
        ulna_options options = ulna_options_default();
        ulna_result expected, result;
        for (int j = 0; j < nv; j++) {
            int c = ulna_model_dof_coordinate(model, j);
            double at = c < 0 ? 0 : ulna_model_rest(model)[c];
            lower[j] = at - (ulna_test_rng_index(&rng, 2) ? 0.02 : 1);
            upper[j] = at + (ulna_test_rng_index(&rng, 2) ? 0.02 : 1);
        }
        options.lower = lower;
        options.upper = upper;
        options.decrease = 0;
        memcpy(best, ulna_model_rest(model), (size_t)nq * sizeof *best);
        assert_int_equal(ulna_solve_once(problem, &options, best, &expected, NULL), ULNA_OK);
        pressed += expected.at_limits;
        for (int m = 0; m < METHODS; m++) {
            options.method = method_names[m];
            options.line.rule = round % 4 ? ULNA_LINE_WOLFE : ULNA_LINE_BACKTRACKING;
            memcpy(q, ulna_model_rest(model), (size_t)nq * sizeof *q);
            assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
            ulna_model_difference(model, best, q, difference);
            if (!(fabs(result.f - expected.f) <= 1e-12 * expected.f) || !result.converged ||
                !(result.gradient <= 1e-5 * sqrt(result.f)) || !(ulna_test_largest(difference, nv) <= 1e-6))
                fail_msg("round %d, %s: f %.17g and not %.17g, gradient %g, q differs by %g, %d iterations, %s", round,
                         options.method, result.f, expected.f, result.gradient, ulna_test_largest(difference, nv),
                         result.iterations, ulna_stop_name(result.stop));
            at_limits += result.at_limits == expected.at_limits;
        }
        free(lower);
        free(upper);
        free(difference);
        free(best);
        free(q);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
    }
    assert_true(pressed > 300 && at_limits > 590);
}

static double *share_of_dof(const char *method, double weakness, int dof, int *nv)
{
    ulna_model *model;
    ulna_problem *problem;
    ulna_options options = ulna_options_default();
    ulna_result result;
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    int nq = ulna_model_coordinate_count(model), body = ulna_model_body_count(model) - 1;
    ulna_pose *pose;
    double goal[3], *strength, *q = ulna_test_numbers(nq), *moved;
    *nv = ulna_model_dof_count(model);
    strength = ulna_test_numbers(*nv);
    moved = ulna_test_numbers(*nv);
    for (int j = 0; j < *nv; j++)
        strength[j] = j == dof ? weakness : 1;
    memcpy(q, ulna_model_rest(model), (size_t)nq * sizeof *q);
    for (int c = 0; c < nq; c++)
        q[c] += 0.3; /* away from the straight arm */
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
    assert_int_equal(ulna_pose_point(pose, body, (const double[3]){0, 0, 0}, goal), ULNA_OK);
    goal[0] += 0.05;
    goal[1] -= 0.05;
    goal[2] += 0.05;
    assert_int_equal(ulna_problem_add_point(problem, body, NULL, goal, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    options.method = method;
    options.bounded = 0;
    options.strength = strength;
    double *start = ulna_test_numbers(nq);
    memcpy(start, q, (size_t)nq * sizeof *q);
    assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
    assert_true(result.f < 1e-18 && result.converged);
    ulna_model_difference(model, start, q, moved);
    ulna_pose_destroy(pose);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    free(strength);
    free(start);
    free(q);
    return moved;
}

static void weak_joints_move_less(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        int nv, most = 0;
        double *even = share_of_dof(method_names[m], 1, 0, &nv);
        for (int j = 1; j < nv; j++)
            if (fabs(even[j]) > fabs(even[most]))
                most = j;
        double *weak = share_of_dof(method_names[m], 0.1, most, &nv);
        double *still = share_of_dof(method_names[m], 0, most, &nv);
        if (!(fabs(weak[most]) < 0.2 * fabs(even[most])) || still[most] != 0)
            fail_msg("%s: joint %d moves by %g, weak by %g, without strength by %g", method_names[m], most, even[most],
                     weak[most], still[most]);
        free(even);
        free(weak);
        free(still);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wolfe_conditions_hold_on_curves),
        cmocka_unit_test(backtracking_finds_enough_decrease),
        cmocka_unit_test(a_search_without_end_ends),
        cmocka_unit_test(strong_wolfe_holds_on_problems),
        cmocka_unit_test(projected_searches_stay_inside_and_go_down),
        cmocka_unit_test(directions_that_lead_nowhere_are_refused),
        cmocka_unit_test(methods_keep_limits),
        cmocka_unit_test(bounded_methods_find_the_minimum_of_hybrid),
        cmocka_unit_test(weak_joints_move_less),
    };
    return cmocka_run_group_tests_name("solve_line_search", tests, NULL, NULL);
}
