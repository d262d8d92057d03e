/* penalty: limits as a term, with every other method inside; against the answer of a problem that can be solved by
 * hand. */
#include "solve/solver.h"
#include "support_model.h"
#include "support_task.h"

#include <math.h>
#include <stdlib.h>

/*
 * One hinge of one metre, limited to half a radian, its tip wanted at `angle`: f = w (1 - cos(angle - q)). With the
 * penalty 1/2 lambda (q - limit)^2 the answer solves w sin(angle - q) = lambda (q - limit).
 */
#define LIMIT 0.5

typedef struct hinge {
    ulna_model *model;
    ulna_problem *problem;
    int term;
} hinge;

static void place(double angle, double goal[3])
{
    goal[0] = cos(angle);
    goal[1] = sin(angle);
    goal[2] = 0;
}

static hinge hinge_open(double angle)
{
    hinge h;
    const double tip[3] = {1, 0, 0};
    double goal[3];
    ulna_builder *builder = ulna_test_builder();
    ulna_test_set_joint(builder, ulna_test_add(builder, "arm", ULNA_NONE), ulna_joint_revolute(0, 0, 1));
    assert_int_equal(ulna_builder_set_limits(builder, 0, 0, -LIMIT, LIMIT, NULL), ULNA_OK);
    h.model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    place(angle, goal);
    assert_int_equal(ulna_problem_create(h.model, NULL, &h.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_set_length(h.problem, 1), ULNA_OK); /* a radian weighs a metre */
    assert_int_equal(ulna_problem_add_point(h.problem, 0, tip, goal, 1, &h.term, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(h.problem, NULL), ULNA_OK);
    return h;
}

static void hinge_close(hinge *h)
{
    ulna_problem_destroy(h->problem);
    ulna_model_destroy(h->model);
}

/* The answer by bisection. */
static double answer(double angle, double weight, double lambda, double limit)
{
    double low = limit, high = angle;
    for (int i = 0; i < 200 && angle > limit; i++) {
        double q = 0.5 * (low + high);
        *(weight * sin(angle - q) > lambda * (q - limit) ? &low : &high) = q;
    }
    return angle > limit ? low : angle;
}

static void assert_answer(const char *method, double q, const ulna_result *r, double angle, double weight,
                          double lambda)
{
    double wanted = answer(angle, weight, lambda, LIMIT), beyond = fmax(wanted - LIMIT, 0);
    if (!(fabs(q - wanted) <= 1e-5 * beyond + 1e-7))
        fail_msg("%s, weight %g: q = %.12g, not %.12g (%s)", method, lambda, q, wanted, ulna_stop_name(r->stop));
    assert_true(fabs(r->violation - fmax(q - LIMIT, 0)) <= 1e-15);
    assert_true(fabs(r->f - weight * (1 - cos(angle - q))) <= 1e-15); /* without the penalty */
    assert_int_equal(r->at_limits, q >= LIMIT);
}

/* Beyond the limit by the pull over the weight, whatever the method inside. */
static void violation_falls_with_the_weight(void **state)
{
    (void)state;
    hinge h = hinge_open(1);
    int tried = 0;
    for (int i = 0; i < ulna_method_count(); i++) {
        ulna_options o = ulna_options_default();
        o.method = "penalty";
        o.penalty.method = ulna_method_at(i)->name;
        if (strcmp(o.penalty.method, "penalty") == 0)
            continue;
        for (o.penalty.weight = 1; o.penalty.weight < 1e7; o.penalty.weight *= 100) {
            ulna_result result;
            double q = -0.3;
            ulna_status status = ulna_solve_once(h.problem, &o, &q, &result, NULL);
            if (status == ULNA_ERR_UNSUPPORTED)
                continue;
            assert_int_equal(status, ULNA_OK);
            assert_answer(o.penalty.method, q, &result, 1, 1, o.penalty.weight);
            if (o.penalty.weight > 10)
                assert_true(fabs(result.violation * o.penalty.weight - sin(1 - LIMIT)) < 1 / o.penalty.weight + 1e-5);
            tried++;
        }
    }
    assert_true(tried >= 4 * 8);
    hinge_close(&h);
}

/* One solver, frame after frame: goals, weights, then options change; no memory is asked for. */
static void follows_the_caller(void **state)
{
    (void)state;
    static const struct {
        double angle, weight;
    } frames[] = {{1, 1}, {0.2, 1}, {1.3, 3}, {0.9, 0.5}, {-0.4, 2}};
    hinge h = hinge_open(1);
    for (int i = 0; i < ulna_method_count(); i++) {
        ulna_test_memory memory = {.fail_at = -1};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_options o = ulna_options_default();
        ulna_solver *solver;
        ulna_result result;
        double q = 0.1, goal[3], lower = -1, upper = 0.3;
        o.method = "penalty";
        o.penalty.method = ulna_method_at(i)->name;
        if (strcmp(o.penalty.method, "penalty") == 0 ||
            ulna_solver_create(h.problem, &o, &allocator, &solver, NULL) == ULNA_ERR_UNSUPPORTED)
            continue;
        long calls = memory.calls;
        for (size_t k = 0; k < sizeof frames / sizeof *frames; k++) {
            place(frames[k].angle, goal);
            assert_int_equal(ulna_problem_set_goal(h.problem, h.term, goal), ULNA_OK);
            assert_int_equal(ulna_problem_set_weight(h.problem, h.term, frames[k].weight), ULNA_OK);
            assert_int_equal(ulna_solve(solver, &q, &result), ULNA_OK);
            assert_answer(o.penalty.method, q, &result, frames[k].angle, frames[k].weight, o.penalty.weight);
        }

        /* Other limits, another weight. */
        o.lower = &lower;
        o.upper = &upper;
        o.penalty.weight = 1000;
        place(1, goal);
        assert_int_equal(ulna_problem_set_goal(h.problem, h.term, goal), ULNA_OK);
        assert_int_equal(ulna_solver_set_options(solver, &o, NULL), ULNA_OK);
        assert_int_equal(ulna_solve(solver, &q, &result), ULNA_OK);
        double wanted = answer(1, 2, 1000, upper);
        assert_true(fabs(q - wanted) <= 1e-5 * (wanted - upper));
        assert_true(fabs(result.violation - (q - upper)) <= 1e-15);
        assert_int_equal(memory.calls, calls);
        ulna_solver_destroy(solver);
        ulna_test_memory_check(&memory);
        assert_int_equal(ulna_problem_set_weight(h.problem, h.term, 1), ULNA_OK);
    }
    hinge_close(&h);
}

/* A full body: goals inside the limits are met, and the limits with them. */
static void full_body(void **state)
{
    (void)state;
    static const char *const inner[] = {"hybrid", "lm", "lm-marquardt", "dls", "pinv", "qr"};
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_HUMAN_COLD);
    size_t bytes = (size_t)ulna_model_coordinate_count(task.model) * sizeof(double);
    double *q = malloc(bytes);
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        ulna_options o = ulna_options_default();
        ulna_result result;
        o.method = "penalty";
        o.penalty.method = inner[i];
        memcpy(q, task.start, bytes);
        ulna_status status = ulna_solve_once(task.problem, &o, q, &result, NULL);
        if (status == ULNA_ERR_UNSUPPORTED)
            continue;
        assert_int_equal(status, ULNA_OK);
        if (!(result.f <= 1e-20 && result.violation <= 1e-9))
            fail_msg("penalty with %s: f %g, violation %g", inner[i], result.f, result.violation);
    }
    free(q);
    ulna_test_task_release(&task);
}

static void misuse(void **state)
{
    (void)state;
    hinge h = hinge_open(1);
    ulna_options o = ulna_options_default();
    ulna_solver *solver;
    ulna_error error;
    double q = 0, goal[3] = {0, 1, 0};
    o.method = "penalty";
    o.penalty.method = "penalty";
    assert_says(ulna_solver_create(h.problem, &o, NULL, &solver, &error), ULNA_ERR_ARGUMENT, "penalty.method");
    assert_null(solver);
    o.penalty.method = "abacus";
    assert_says(ulna_solver_create(h.problem, &o, NULL, &solver, &error), ULNA_ERR_ARGUMENT, "abacus");
    o.penalty.method = "lm";
    o.penalty.weight = 0;
    assert_says(ulna_solver_create(h.problem, &o, NULL, &solver, &error), ULNA_ERR_ARGUMENT, "penalty.weight");
    o.penalty.weight = 100;
    assert_int_equal(ulna_solver_create(h.problem, &o, NULL, &solver, NULL), ULNA_OK);
    o.penalty.method = "dls";
    assert_int_equal(ulna_solver_set_options(solver, &o, NULL), ULNA_ERR_ARGUMENT);

    /* Terms that came later are not in the copy. */
    assert_int_equal(ulna_problem_add_point(h.problem, 0, NULL, goal, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(h.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_solve(solver, &q, NULL), ULNA_ERR_STATE);
    assert_true(q == 0);
    ulna_solver_destroy(solver);
    hinge_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(violation_falls_with_the_weight),
        cmocka_unit_test(follows_the_caller),
        cmocka_unit_test(full_body),
        cmocka_unit_test(misuse),
    };
    return cmocka_run_group_tests_name("solve_penalty", tests, NULL, NULL);
}
