/* Options by name: every one can be set, read back and refused; and the textbook forms of methods, against their formulas by hand. */
#include "solve/solver.h"
#include "support_task.h"
#include "support_tree.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- by name ------------------------------------------------------------------------------------------------------- */

static void says(const char *message, const char *part)
{
    if (!strstr(message, part))
        fail_msg("'%s' does not say '%s'", message, part);
}

/* A value that is valid and not the default. */
static void another_value(const ulna_option_info *o, const ulna_options *defaults, char *text, size_t size)
{
    char usual[64];
    ulna_option_text(o, defaults, usual, sizeof usual);
    const char *last = o->choices ? strrchr(o->choices, ' ') : NULL;
    if (o->type == ULNA_OPTION_CHOICE)
        snprintf(text, size, "%s", last + 1);
    else if (o->type == ULNA_OPTION_METHOD)
        snprintf(text, size, "newton");
    else if (o->type == ULNA_OPTION_FLAG)
        snprintf(text, size, "%d", strcmp(usual, "0") == 0);
    else if (o->type == ULNA_OPTION_REAL)
        snprintf(text, size, "0.125");
    else
        snprintf(text, size, "7");
    assert_string_not_equal(text, usual);
}

static void every_option_can_be_set(void **state)
{
    (void)state;
    const ulna_options defaults = ulna_options_default();
    const ulna_option_info *o;
    int count = 0;
    for (; (o = ulna_option_at(count)) != NULL; count++) {
        char value[64], text[64];
        ulna_options changed = defaults, again = defaults;
        ulna_error error;
        another_value(o, &defaults, value, sizeof value);
        if (ulna_options_set(&changed, o->name, value, &error) != ULNA_OK)
            fail_msg("%s=%s: %s", o->name, value, error.message);
        ulna_option_text(o, &changed, text, sizeof text);
        assert_string_equal(text, value);

        /* What is printed of a default is read as that default. */
        ulna_option_text(o, &defaults, text, sizeof text);
        assert_int_equal(ulna_options_set(&again, o->name, text, NULL), ULNA_OK);
        if (o->type != ULNA_OPTION_METHOD) /* which is another copy of the same name */
            assert_memory_equal(&again, &defaults, sizeof again);
        assert_true(strlen(o->meaning) > 10);
        for (const char *at = o->methods; at && *at; at += strcspn(at, " "), at += *at == ' ') {
            char name[32];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " "), at);
            if (!ulna_method_find(name))
                fail_msg("%s: there is no method %s", o->name, name);
        }
    }
    assert_true(count > 40);
    assert_null(ulna_option_at(-1));
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",    "nonsense", "nan", "inf",   "1e999",
        "1,5", " 1",       "1 ",  "0x10",  "--1",
        "1e",  "1e ",      ".",   "1.2.3", "11111111111111111111111111111111111111111111111111111111111111111111111"};
    const ulna_option_info *o;
    for (int i = 0; (o = ulna_option_at(i)) != NULL; i++) {
        ulna_options options = ulna_options_default(), before = options;
        ulna_error error;
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            if (ulna_options_set(&options, o->name, bad[k], &error) == ULNA_OK)
                fail_msg("%s takes '%s'", o->name, bad[k]);
            says(error.message, o->name);
        }
        if (o->least > -DBL_MAX && o->type != ULNA_OPTION_CHOICE && o->type != ULNA_OPTION_METHOD) {
            char below[64];
            snprintf(below, sizeof below, "%g", o->is_open ? o->least : o->least - 1);
            assert_int_equal(ulna_options_set(&options, o->name, below, &error), ULNA_ERR_ARGUMENT);
        }
        assert_memory_equal(&options, &before, sizeof options);
    }
    ulna_options options = ulna_options_default();
    ulna_error error;
    assert_int_equal(ulna_options_set(&options, "pcg.band_with", "8", &error), ULNA_ERR_ARGUMENT);
    says(error.message, "did you mean 'pcg.band_width'?");
    assert_int_equal(ulna_options_set(&options, "zzzzzzzzzz", "8", &error), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_options_set(&options, "levels.ratio", "0.6", &error), ULNA_ERR_ARGUMENT);
    says(error.message, "from 1e-06 to 0.5");
    assert_int_equal(ulna_options_set(&options, "line.memory", "2147483648", &error), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_options_set(&options, "iterations", "2147483647", &error), ULNA_OK);
    assert_int_equal(options.iterations, INT_MAX);
    assert_int_equal(ulna_options_set(&options, "seed", "18446744073709551615", &error), ULNA_OK);
    assert_true(options.seed == UINT64_MAX);
    assert_int_equal(ulna_options_set(&options, "objective", "-1.5e-3", &error), ULNA_OK);
    assert_true(options.objective == -1.5e-3);
    assert_int_equal(ulna_options_set(NULL, "objective", "1", &error), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_options_set(&options, NULL, "1", &error), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_options_set(&options, "objective", NULL, &error), ULNA_ERR_ARGUMENT);
}

/* ---- textbook forms ------------------------------------------------------------------------------------------------- */

typedef struct stage {
    ulna_test_task task;
    ulna_work *work;
    int nv, nq, m;
    double *g, *J, *r, *q; /* at the start: J is m x nv by columns */
    double *step;
} stage;

static stage open_stage(ulna_test_task_id id)
{
    stage s = {.task = ulna_test_task_make(id)};
    double f;
    s.nv = ulna_model_dof_count(s.task.model);
    s.nq = ulna_model_coordinate_count(s.task.model);
    assert_int_equal(ulna_work_create(s.task.problem, NULL, &s.work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(s.work, s.task.start, &f), ULNA_OK);
    s.m = ulna_work_residual_count(s.work);
    s.g = ulna_test_numbers(s.nv);
    s.J = ulna_test_numbers(s.m * s.nv);
    s.r = ulna_test_numbers(s.m);
    s.step = ulna_test_numbers(s.nv);
    s.q = ulna_test_copy(s.task.start, s.nq);
    assert_int_equal(ulna_work_gradient(s.work, s.g), ULNA_OK);
    assert_int_equal(ulna_work_residuals(s.work, s.r, s.J), ULNA_OK);
    return s;
}

static void close_stage(stage *s)
{
    ulna_work_destroy(s->work);
    ulna_test_task_release(&s->task);
    free(s->g);
    free(s->J);
    free(s->r);
    free(s->q);
    free(s->step);
}

/* One iteration from the start; the step into s->step. */
static void iterate_once(stage *s, const ulna_options *options)
{
    ulna_solver *solver = ulna_test_solver(s->task.problem, options);
    ulna_stop stop;
    assert_int_equal(ulna_solver_begin(solver, s->task.start), ULNA_OK);
    assert_int_equal(ulna_solver_step(solver, &stop), ULNA_OK);
    ulna_model_difference(s->task.model, s->task.start, ulna_solver_q(solver), s->step);
    ulna_solver_destroy(solver);
}

static void fixed_lengths_are_fixed(void **state)
{
    (void)state;
    static const char *const names[] = {"gradient", "transpose"};
    const double alpha = 0.037;
    stage s = open_stage(ULNA_TASK_REDUNDANT);
    for (int i = 0; i < 2; i++) {
        ulna_options o = ulna_options_default();
        o.method = names[i];
        o.alpha.gradient = o.alpha.transpose = alpha;
        iterate_once(&s, &o);
        for (int j = 0; j < s.nv; j++)
            assert_true(fabs(s.step[j] + alpha * s.g[j]) < 1e-12);

        /* Far too long: f rises, and the best pose is what comes back. */
        o.alpha.gradient = o.alpha.transpose = 1e3;
        o.iterations = 20;
        ulna_result result;
        double *q = ulna_test_copy(s.task.start, s.nq);
        assert_int_equal(ulna_solve_once(s.task.problem, &o, q, &result, NULL), ULNA_OK);
        assert_true(result.f <= result.first_f);
        assert_true(result.iterations == 20);
        ulna_test_check_result(&s.task, &o, q, &result);
        free(q);
    }
    close_stage(&s);
}

/* A step of a fixed length ends on a limit that it would pass. */
static void fixed_lengths_keep_limits(void **state)
{
    (void)state;
    stage s = open_stage(ULNA_TASK_AT_LIMIT);
    ulna_options o = ulna_options_default();
    o.method = "gradient";
    o.alpha.gradient = 0.5;
    o.iterations = 200;
    ulna_result result;
    assert_int_equal(ulna_solve_once(s.task.problem, &o, s.q, &result, NULL), ULNA_OK);
    assert_true(result.violation == 0);
    ulna_test_check_result(&s.task, &o, s.q, &result);
    close_stage(&s);
}

/* (JtJ + lambda I) dq = Jt r, with lambda as it was given: the arm has rotations only, so no unit of length comes in. */
static void absolute_damping_is_absolute(void **state)
{
    (void)state;
    const double lambda = 0.02;
    stage s = open_stage(ULNA_TASK_ARM_REACH);
    ulna_options o = ulna_options_default();
    o.method = "dls";
    o.dls.rule = ULNA_DLS_ABSOLUTE;
    o.dls.damping = lambda;
    o.bounded = 0;
    iterate_once(&s, &o);
    for (int i = 0; i < s.nv; i++) {
        double left = lambda * s.step[i], right = 0;
        for (int row = 0; row < s.m; row++) {
            double along = 0;
            for (int j = 0; j < s.nv; j++)
                along += s.J[(size_t)j * (size_t)s.m + (size_t)row] * s.step[j];
            left += s.J[(size_t)i * (size_t)s.m + (size_t)row] * along;
            right += s.J[(size_t)i * (size_t)s.m + (size_t)row] * s.r[row];
        }
        assert_true(fabs(left - right) < 1e-12);
    }
    close_stage(&s);
}

static void pseudoinverse_by_rows(void **state)
{
    (void)state;
    stage s = open_stage(ULNA_TASK_ARM_REACH);
    ulna_options o = ulna_options_default();
    o.method = "pinv";
    o.dense.max_step = 0;
    iterate_once(&s, &o);
    double *by_svd = ulna_test_copy(s.step, s.nv);
    o.pinv.form = ULNA_PINV_ROWS;
    iterate_once(&s, &o);
    for (int j = 0; j < s.nv; j++)
        assert_true(fabs(s.step[j] - by_svd[j]) < 1e-10);
    ulna_result result = ulna_test_solve(&s.task, &o);
    assert_true(result.f < 1e-20);
    free(by_svd);
    close_stage(&s);

    /* A straight chain with its goal ahead: two of three rows vanish. The singular values go on, the inverse does not exist. */
    s = open_stage(ULNA_TASK_STRAIGHT);
    result = ulna_test_solve(&s.task, &o);
    assert_int_equal(result.stop, ULNA_STOP_STALLED);
    close_stage(&s);

    /* More residuals than degrees of freedom: refused when the solver is made. */
    s = open_stage(ULNA_TASK_HUMAN_WARM);
    ulna_solver *solver;
    ulna_error error;
    assert_int_equal(ulna_solver_create(s.task.problem, &o, NULL, &solver, &error), ULNA_ERR_UNSUPPORTED);
    says(error.message, "123 residuals");
    close_stage(&s);
}

/* The first direction is that of -g; with the scaled start it is not. */
static void identity_starts_down_the_gradient(void **state)
{
    (void)state;
    static const char *const names[] = {"bfgs", "lbfgs", "cg", "gradient"};
    stage s = open_stage(ULNA_TASK_REDUNDANT);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int is_identity = 0; is_identity < 2; is_identity++) {
            ulna_options o = ulna_options_default();
            double gs = 0, gg = 0, ss = 0;
            o.method = names[i];
            o.bounded = 0;
            o.bfgs.start = is_identity ? ULNA_START_IDENTITY : ULNA_START_SCALED;
            iterate_once(&s, &o);
            for (int j = 0; j < s.nv; j++) {
                gs -= s.g[j] * s.step[j];
                gg += s.g[j] * s.g[j];
                ss += s.step[j] * s.step[j];
            }
            double cosine = gs / sqrt(gg * ss);
            assert_true(is_identity ? cosine > 1 - 1e-12 : cosine < 0.999);
        }
    close_stage(&s);
}

/* With the tolerance held, fewer inner iterations, and more outer ones to the same end. */
static void conjugate_gradients_with_a_fixed_tolerance(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_HUMAN_WARM);
    ulna_options o = ulna_options_default();
    o.method = "newton-pcg";
    ulna_result adaptive = ulna_test_solve(&task, &o);
    o.pcg.fixed = 1;
    ulna_result fixed = ulna_test_solve(&task, &o);
    assert_true(adaptive.f < 1e-18 && fixed.f < 1e-18);
    assert_true(fixed.iterations > adaptive.iterations);
    ulna_test_task_release(&task);
}

/* Both counts of evaluations: at the end, and added up over the rows of the trace. */
static void evaluations_are_added_up(void **state)
{
    (void)state;
    enum { ROWS = 2000 };
    ulna_trace_row *rows = malloc(ROWS * sizeof *rows);
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_HUMAN_WARM);
    for (int i = 0; i < 2; i++) {
        ulna_options o = ulna_options_default();
        long long sum = 0;
        o.method = i ? "bfgs" : "newton";
        o.trace = rows;
        o.trace_capacity = ROWS;
        ulna_result result = ulna_test_solve(&task, &o);
        assert_true(result.trace_count <= ROWS);
        for (int k = 0; k < result.trace_count; k++)
            sum += rows[k].evaluations;
        assert_true(result.evaluations_added == sum);
        assert_true(sum > result.evaluations);
    }
    ulna_test_task_release(&task);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_option_can_be_set),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(fixed_lengths_are_fixed),
        cmocka_unit_test(fixed_lengths_keep_limits),
        cmocka_unit_test(absolute_damping_is_absolute),
        cmocka_unit_test(pseudoinverse_by_rows),
        cmocka_unit_test(identity_starts_down_the_gradient),
        cmocka_unit_test(conjugate_gradients_with_a_fixed_tolerance),
        cmocka_unit_test(evaluations_are_added_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
