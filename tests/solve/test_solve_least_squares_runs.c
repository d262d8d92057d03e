/* lm, lm-marquardt, gauss-newton, dls, pinv, qr, transpose as whole solves: rules and options, limits, strengths,
 * refusals. */
#include "support_problem.h"
#include "support_task.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const family[] = {"lm", "lm-marquardt", "gauss-newton", "dls", "pinv", "qr", "transpose"};
enum { FAMILY = sizeof family / sizeof *family };

static int is_dense(const char *method)
{
    return (ulna_method_find(method)->flags & ULNA_METHOD_LAPACK) != 0;
}

static int can_run(const char *method)
{
    return ulna_dense_available() || !is_dense(method);
}

/* Small singular values: dropped by a coarse tolerance, and the end is then not called the bottom. */
static void tolerance_drops_directions(void **state)
{
    (void)state;
    if (!can_run("pinv"))
        skip();
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_HUMAN_WARM);
    for (int k = 0; k < 2; k++) {
        ulna_options o = ulna_options_default();
        ulna_result fine, coarse;
        double *q = ulna_test_numbers(ulna_model_coordinate_count(task.model));
        size_t bytes = (size_t)ulna_model_coordinate_count(task.model) * sizeof *q;
        o.method = k ? "qr" : "pinv";
        assert_int_equal(ulna_solve_once(task.problem, &o, memcpy(q, task.start, bytes), &fine, NULL), ULNA_OK);
        o.dense.tolerance = 0.05;
        assert_int_equal(ulna_solve_once(task.problem, &o, memcpy(q, task.start, bytes), &coarse, NULL), ULNA_OK);
        assert_int_equal(fine.stop, ULNA_STOP_OBJECTIVE);
        assert_int_equal(coarse.stop, ULNA_STOP_STALLED);
        assert_true(coarse.f > 1e-6 && coarse.f < coarse.first_f);
        free(q);
    }
    ulna_test_task_release(&task);
}

static ulna_result solve_task(const ulna_test_task *task, const ulna_options *options)
{
    ulna_result result;
    int nq = ulna_model_coordinate_count(task->model);
    double *q = ulna_test_numbers(nq);
    memcpy(q, task->start, (size_t)nq * sizeof *q);
    assert_int_equal(ulna_solve_once(task->problem, options, q, &result, NULL), ULNA_OK);
    ulna_test_check_result(task, options, q, &result);
    free(q);
    return result;
}

/* How the damping went on after an iteration, by each rule. */
static void check_damping(ulna_damping_rule rule, const ulna_trace_row *row, int failures)
{
    double ratio = row[1].damping / row[0].damping;
    int is_right = 0;
    switch (rule) {
    case ULNA_DAMPING_NIELSEN:
        is_right = row[0].accepted ? ratio > 0.333 && ratio < 2.001 : fabs(ratio / ldexp(1, failures) - 1) < 1e-9;
        break;
    case ULNA_DAMPING_CLASSIC:
        is_right = fabs(ratio - (row[0].accepted ? 0.1 : 10)) < 1e-9;
        break;
    case ULNA_DAMPING_QUARTERS:
        is_right = row[0].accepted ? ratio == 0.5 || ratio == 1 || ratio == 2 : ratio > 1.999 && ratio < 10.001;
        break;
    }
    if (!is_right)
        fail_msg("rule %d, after %s step: damping %g, then %g", (int)rule, row[0].accepted ? "a good" : "a bad",
                 row[0].damping, row[1].damping);
}

/* Each rule for the damping arrives; they are not the same; and no iteration climbs. */
static void every_rule_arrives(void **state)
{
    (void)state;
    const ulna_test_task_id ids[] = {ULNA_TASK_HUMAN_COLD, ULNA_TASK_HAND, ULNA_TASK_UNREACHABLE, ULNA_TASK_AT_LIMIT};
    int refused = 0, interpolated = 0;
    for (int k = 0; k < 8; k++) {
        ulna_test_task task = ulna_test_task_make(ids[k / 2]);
        int iterations[3];
        for (int rule = 0; rule < 3; rule++) {
            ulna_trace_row rows[400];
            ulna_options o = ulna_options_default();
            o.method = family[k % 2];
            o.lm.rule = (ulna_damping_rule)rule;
            o.trace = rows;
            o.trace_capacity = 400;
            ulna_result result = solve_task(&task, &o);
            if (!(result.f - task.best <= fmax(1e-6 * task.best, 1e-20)) || !result.converged)
                fail_msg("%s, rule %d, on %s: f %g, %s", o.method, rule, task.name, result.f,
                         ulna_stop_name(result.stop));
            for (int i = 1, failures = 0; i < result.trace_count; i++) {
                assert_true(rows[i].accepted ? rows[i].f < rows[i - 1].f : rows[i].f == rows[i - 1].f);
                failures = rows[i].accepted ? 0 : failures + 1;
                refused += failures > 0;
                if (i + 1 == result.trace_count)
                    break;
                check_damping(o.lm.rule, &rows[i], failures);
                double ratio = rows[i + 1].damping / rows[i].damping;
                interpolated += rule == ULNA_DAMPING_QUARTERS && failures && ratio > 2.001 && ratio < 9.999;
            }
            iterations[rule] = result.iterations;
        }
        assert_true(k > 1 || (iterations[1] != iterations[0] && iterations[2] != iterations[0]));
        ulna_test_task_release(&task);
    }
    assert_true(refused > 20 && interpolated > 5);
}

/* dls: damping that fades arrives quadratically; constant damping comes near, the nearer the smaller it is. */
static void constant_damping_is_slow(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_HUMAN_WARM);
    ulna_options o = ulna_options_default();
    double last = INFINITY;
    o.method = "dls";
    assert_true(solve_task(&task, &o).f <= 1e-24);
    o.dls.rule = ULNA_DLS_FIXED;
    o.iterations = 100;
    for (o.dls.damping = 0.1; o.dls.damping > 1e-5; o.dls.damping /= 10) {
        ulna_result result = solve_task(&task, &o);
        assert_true(result.f < last && result.f > 1e-20);
        last = result.f;
    }
    ulna_test_task_release(&task);
}

/* Whether q keeps to what the options say, locked DOFs where they were at the start. */
static void check_place(const ulna_test_bench *b, const ulna_options *o, const double *q, int bounded)
{
    for (int j = 0; j < b->nv; j++) {
        int c = ulna_model_dof_coordinate(b->model, j);
        assert_true(c < 0 || !o->locked[j] || q[c] == b->q[c]);
        assert_true(c < 0 || !bounded || (q[c] >= o->lower[j] && q[c] <= o->upper[j]));
    }
}

static void run_random(const ulna_test_bench *b, const ulna_options *o)
{
    int bounded = (ulna_method_find(o->method)->flags & ULNA_METHOD_BOUNDED) != 0;
    double *q = ulna_test_numbers(b->nq), f, first;
    ulna_solver *solver;
    ulna_result result;
    ulna_stop stop = ULNA_STOP_NONE;
    assert_int_equal(ulna_work_evaluate(b->work, b->q, &first), ULNA_OK);
    assert_int_equal(ulna_solver_create(b->problem, o, NULL, &solver, NULL), ULNA_OK);
    assert_int_equal(ulna_solver_begin(solver, b->q), ULNA_OK);
    while (stop == ULNA_STOP_NONE) {
        assert_int_equal(ulna_solver_step(solver, &stop), ULNA_OK);
        check_place(b, o, ulna_solver_q(solver), bounded);
    }
    assert_int_equal(ulna_solver_end(solver, q, &result), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(b->work, q, &f), ULNA_OK);
    assert_true(result.f == f && f <= first && result.first_f == first);
    assert_true(!bounded || result.violation == 0);
    ulna_solver_destroy(solver);
    free(q);
}

/* All terms, tight limits: those that keep limits do at every step, locked DOFs stay, and nothing ends higher than
 * it began. */
static void random_problems(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(109);
    for (int round = 0; round < 210; round++) {
        ulna_test_bench b = ulna_test_bench_open(&rng, NULL, ULNA_TEST_ALL_TERMS, 6);
        ulna_options o = ulna_options_default();
        double *lower = ulna_test_numbers(b.nv), *upper = ulna_test_numbers(b.nv), *strength = ulna_test_numbers(b.nv);
        unsigned char *locked = calloc((size_t)b.nv + 1, 1);
        for (int j = 0; j < b.nv; j++) {
            int c = ulna_model_dof_coordinate(b.model, j);
            lower[j] = (c < 0 ? 0 : b.q[c]) - ulna_test_rng_uniform(&rng, 0, 0.2);
            upper[j] = (c < 0 ? 0 : b.q[c]) + ulna_test_rng_uniform(&rng, 0, 0.2);
            strength[j] = exp(ulna_test_rng_uniform(&rng, -1, 1));
            locked[j] = ulna_test_rng_index(&rng, 6) == 0;
        }
        o.method = family[round % FAMILY];
        o.lower = lower;
        o.upper = upper;
        o.locked = locked;
        o.strength = strength;
        o.iterations = 40;
        if (can_run(o.method))
            run_random(&b, &o);
        free(lower);
        free(upper);
        free(strength);
        free(locked);
        ulna_test_bench_close(&b);
    }
}

/* A joint that moves no goal stays where it is, though JtJ has no inverse then. */
static void unobserved_joints_stay(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_problem *problem;
    const double goal[3] = {0.35, 0.1, 0.45};
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    int nv = ulna_model_dof_count(model), body = ulna_model_dof_body(model, 3);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(problem, body, (double[3]){0, 0, 0.2}, goal, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    for (int k = 0; k < FAMILY; k++) {
        ulna_options o = ulna_options_default();
        ulna_result result;
        double *q = ulna_test_numbers(nv), *start = ulna_test_numbers(nv);
        o.method = family[k];
        for (int j = 0; j < nv; j++)
            q[j] = start[j] = 0.3 + 0.02 * j;
        ulna_model_clamp(model, q);
        memcpy(start, q, (size_t)nv * sizeof *q);
        if (can_run(family[k])) {
            assert_int_equal(ulna_solve_once(problem, &o, q, &result, NULL), ULNA_OK);
            assert_true(result.f < 1e-3 * result.first_f);
            for (int j = 4; j < nv; j++)
                assert_true(fabs(q[j] - start[j]) < 1e-12);
        }
        free(q);
        free(start);
    }
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

/* A stronger joint does more of the work in every method; one of no strength does none. */
static void strength_counts(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_REDUNDANT);
    int nv = ulna_model_dof_count(task.model), nq = ulna_model_coordinate_count(task.model);
    double *strength = ulna_test_numbers(nv), *q = ulna_test_numbers(nq);
    for (int k = 0; k < FAMILY; k++) {
        double share[3];
        if (!can_run(family[k]))
            continue;
        for (int weak = 0; weak < 3; weak++) {
            ulna_options o = ulna_options_default();
            ulna_result result;
            double sum = 0, first = 0;
            for (int j = 0; j < nv; j++)
                strength[j] = j >= nv / 2 || weak == 0 ? 1 : weak == 1 ? 0.1 : 0;
            o.method = family[k];
            o.strength = strength;
            memcpy(q, task.start, (size_t)nq * sizeof *q);
            assert_int_equal(ulna_solve_once(task.problem, &o, q, &result, NULL), ULNA_OK);
            for (int j = 0; j < nq; j++) {
                sum += fabs(q[j] - task.start[j]);
                first += j < nv / 2 ? fabs(q[j] - task.start[j]) : 0;
            }
            share[weak] = first / sum;
        }
        assert_true(share[2] == 0);
        if (!(share[1] < 0.5 * share[0]))
            fail_msg("%s: weak joints do %g of the work, %g before", family[k], share[1], share[0]);
    }
    free(strength);
    free(q);
    ulna_test_task_release(&task);
}

/* More rows than LAPACK's integers are good for: refused when the solver is made, with the numbers in the message. */
static void too_large_for_dense(void **state)
{
    (void)state;
    if (!ulna_dense_available())
        skip();
    ulna_model *model;
    ulna_problem *problem;
    ulna_error error;
    const double goal[3] = {0.3, 0.2, 0.4};
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    for (int i = 0; i < 5462; i++)
        assert_int_equal(ulna_problem_add_point(problem, 3, NULL, goal, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    for (int k = 0; k < FAMILY; k++) {
        ulna_options o = ulna_options_default();
        ulna_solver *solver;
        o.method = family[k];
        ulna_error_clear(&error);
        ulna_status status = ulna_solver_create(problem, &o, NULL, &solver, &error);
        assert_int_equal(status, is_dense(family[k]) ? ULNA_ERR_LIMIT : ULNA_OK);
        assert_true(!is_dense(family[k]) || strstr(error.message, "16386 residuals"));
        ulna_solver_destroy(solver);
    }
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tolerance_drops_directions), cmocka_unit_test(every_rule_arrives),
        cmocka_unit_test(constant_damping_is_slow),   cmocka_unit_test(random_problems),
        cmocka_unit_test(unobserved_joints_stay),     cmocka_unit_test(strength_counts),
        cmocka_unit_test(too_large_for_dense),
    };
    return cmocka_run_group_tests_name("solve_least_squares_runs", tests, NULL, NULL);
}
