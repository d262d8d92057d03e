/* The race and its certificate: on the oracle instances, on goals in and out of reach, and on input that is odd. */
#include "support.h"
#include "support_oracle.h"
#include "support_oracle_problem.h"
#include "support_task.h"
#include "ulna/global.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ulna_status solve_from(const ulna_problem *problem, const ulna_global_options *options, double *q,
                              ulna_global_result *result)
{
    ulna_global *global;
    ulna_error error;
    ulna_error_clear(&error);
    ulna_status status = ulna_global_create(problem, options, NULL, &global, &error);
    if (status == ULNA_OK)
        status = ulna_global_solve(global, q, result, &error);
    if (status != ULNA_OK)
        print_message("%s\n", error.message);
    ulna_global_destroy(global);
    return status;
}

static double *rest_of(const ulna_model *model)
{
    size_t count = (size_t)ulna_model_coordinate_count(model);
    double *q = malloc((count + !count) * sizeof *q);
    memcpy(q, ulna_model_rest(model), count * sizeof *q);
    return q;
}

/* What a result claims is true: of q, and of itself. */
static void check_claims(const ulna_problem *problem, const ulna_global_options *o, const double *q,
                         const ulna_global_result *r)
{
    ulna_work *work;
    double f;
    assert_int_equal(ulna_work_create(problem, NULL, &work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(work, q, &f), ULNA_OK);
    assert_true(fabs(f - r->f) <= 1e-12 * f);
    assert_true(r->bound >= 0 && fabs(r->gap - (r->f - r->bound)) <= 1e-15 * (1 + r->f));
    if (o->absolute > 0) {
        assert_int_equal(r->proven, r->gap <= o->gap * r->f + o->absolute);
        assert_int_equal(r->unreachable, r->bound > o->absolute);
    }
    assert_int_equal(r->proven, r->stop == ULNA_GLOBAL_PROVEN);
    assert_in_range((unsigned)r->starts, 1, (unsigned)o->starts);
    ulna_work_destroy(work);
}

/* Every instance: the best cost that anyone found, and no bound above it. */
static void oracle_instances_are_solved(void **state)
{
    (void)state;
    ulna_oracle *oracles;
    int count = ulna_oracles_load(&oracles), proven = 0, failures = 0;
    assert_int_equal(count, 160);
    for (int i = 0; i < count; i++) {
        const ulna_oracle *o = &oracles[i];
        ulna_model *model;
        ulna_problem *problem;
        ulna_global_options options = ulna_global_options_default();
        ulna_global_result result = {0};
        ulna_oracle_problem(o, &model, &problem);
        double *q = rest_of(model);
        assert_int_equal(solve_from(problem, &options, q, &result), ULNA_OK);
        check_claims(problem, &options, q, &result);
        proven += result.proven;
        /* F3's optimum is known for hands and bodies: where f is not proven before, the bound is as high. */
        int is_low = !isnan(o->bone_opt) && !result.proven && result.bound < o->bone_opt - 1e-3 * o->best - 1e-6;
        if (result.f > 1.001 * o->best + 1e-6 || result.bound > o->best + 1e-6 || is_low ||
            (result.proven && result.f > (1 + 2 * options.gap) * o->best + 1e-6)) {
            print_message("%s %d: f %.9g, best known %.9g, bound %.9g, %d starts\n", o->family, o->index, result.f,
                          o->best, result.bound, result.starts);
            failures++;
        }
        free(q);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
    }
    assert_int_equal(failures, 0);
    assert_true(proven >= 80); /* at least what can be reached: f is 0 there */
    free(oracles);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    for (int id = 0; id < ULNA_TASK_COUNT; id++) {
        if (id == ULNA_TASK_ROPE)
            continue;
        ulna_test_task task = ulna_test_task_make((ulna_test_task_id)id);
        size_t bytes = (size_t)ulna_model_coordinate_count(task.model) * sizeof(double);
        double *first = malloc(bytes), *q = malloc(bytes);
        ulna_global_result a = {0}, b = {0};
        ulna_global_options options = ulna_global_options_default();
        options.starts = 30;
        options.absolute = 1e-10;
        memcpy(first, task.start, bytes);
        memcpy(q, task.start, bytes);
        assert_int_equal(solve_from(task.problem, &options, first, &a), ULNA_OK);
        check_claims(task.problem, &options, first, &a);
        options.threads = 2;
        assert_int_equal(solve_from(task.problem, &options, q, &b), ULNA_OK);
        assert_memory_equal(first, q, bytes);
        assert_true(a.f == b.f && a.bound == b.bound && a.starts == b.starts && a.best_start == b.best_start);
        free(first);
        free(q);
        ulna_test_task_release(&task);
    }
}

/* An arm of about a metre, and a goal three metres away. */
static void far_goals_are_certified(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_problem *problem;
    ulna_global_result result = {0};
    ulna_global_options options = ulna_global_options_default();
    const double far[3] = {3, 0, 0.5}, near[3] = {0.4, 0.1, 0.4};
    int term;
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    int hand = ulna_model_find_body(model, "flange");
    assert_int_equal(ulna_problem_add_point(problem, hand, NULL, far, 1, &term, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    ulna_global *global;
    double *q = rest_of(model);
    options.absolute = 1e-10;
    assert_int_equal(ulna_global_create(problem, &options, NULL, &global, NULL), ULNA_OK);
    assert_int_equal(ulna_global_solve(global, q, &result, NULL), ULNA_OK);
    check_claims(problem, &options, q, &result);
    assert_true(result.unreachable && result.bound > 0.5);

    assert_int_equal(ulna_problem_set_goal(problem, term, near), ULNA_OK); /* the same one, another goal */
    assert_int_equal(ulna_global_solve(global, q, &result, NULL), ULNA_OK);
    check_claims(problem, &options, q, &result);
    assert_true(result.proven && !result.unreachable && result.f < 1e-10);

    assert_int_equal(ulna_problem_set_weight(problem, term, 0), ULNA_OK); /* and nothing to do at all */
    assert_int_equal(ulna_global_solve(global, q, &result, NULL), ULNA_OK);
    assert_true(result.proven && result.f == 0 && result.bound == 0);
    ulna_global_destroy(global);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    free(q);
}

static int stop_at_once(void *context, double f, double bound)
{
    (void)f;
    (void)bound;
    ++*(int *)context;
    return 1;
}

static void it_can_be_stopped(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_ARM_REACH);
    double *q = rest_of(task.model);
    ulna_global_options options = ulna_global_options_default();
    ulna_global_result result = {0};
    int asked = 0;
    options.cancel = stop_at_once;
    options.cancel_context = &asked;
    options.gap = 0;
    options.absolute = 1e-300;
    assert_int_equal(solve_from(task.problem, &options, q, &result), ULNA_OK);
    assert_true(asked == 1 ? result.stop == ULNA_GLOBAL_CANCELLED : result.proven);
    options.cancel = NULL;
    options.starts = 1;
    memcpy(q, task.start, (size_t)ulna_model_coordinate_count(task.model) * sizeof *q);
    assert_int_equal(solve_from(task.problem, &options, q, &result), ULNA_OK);
    assert_int_equal(result.starts, 1);
    options.starts = 1000000;
    options.seconds = 1e-3;
    assert_int_equal(solve_from(task.problem, &options, q, &result), ULNA_OK);
    assert_true(result.stop == ULNA_GLOBAL_TIME || result.proven);
    free(q);
    ulna_test_task_release(&task);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_ARM_REACH);
    ulna_global *global;
    ulna_global_result result = {0};
    ulna_global_options options = ulna_global_options_default();
    double *q = rest_of(task.model);
    assert_int_equal(ulna_global_create(NULL, NULL, NULL, &global, NULL), ULNA_ERR_ARGUMENT);
    assert_null(global);
    options.gap = -1;
    assert_int_equal(ulna_global_create(task.problem, &options, NULL, &global, NULL), ULNA_ERR_ARGUMENT);
    options = ulna_global_options_default();
    options.starts = 0;
    assert_int_equal(ulna_global_create(task.problem, &options, NULL, &global, NULL), ULNA_ERR_ARGUMENT);
    options = ulna_global_options_default();
    options.local.method = "magic";
    assert_int_equal(ulna_global_create(task.problem, &options, NULL, &global, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_global_create(task.problem, NULL, NULL, &global, NULL), ULNA_OK);
    q[0] = (double)NAN;
    assert_int_equal(ulna_global_solve(global, q, &result, NULL), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_global_solve(global, NULL, &result, NULL), ULNA_ERR_ARGUMENT);
    ulna_global_destroy(global);
    ulna_global_destroy(NULL);
    ulna_constraint pin = {.type = ULNA_KEEP_POINT, .goal = {0, 1, 0}};
    assert_int_equal(ulna_problem_add_constraint(task.problem, &pin, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(task.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_global_create(task.problem, NULL, NULL, &global, NULL), ULNA_ERR_UNSUPPORTED);
    free(q);
    ulna_test_task_release(&task);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_UNREACHABLE);
    double *q = rest_of(task.model);
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_global *global;
        ulna_global_result result = {0};
        ulna_status status = ulna_global_create(task.problem, NULL, &allocator, &global, NULL);
        if (status == ULNA_OK)
            status = ulna_global_solve(global, q, &result, NULL);
        ulna_global_destroy(global);
        ulna_test_memory_check(&memory);
        if (!memory.failed) {
            assert_int_equal(status, ULNA_OK);
            break;
        }
        assert_int_equal(status, ULNA_ERR_MEMORY);
    }
    free(q);
    ulna_test_task_release(&task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ulna_test_needs("../oracles/global-ik", cmocka_unit_test(oracle_instances_are_solved)),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(far_goals_are_certified),
        cmocka_unit_test(it_can_be_stopped),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests_name("global", tests, NULL, NULL);
}
