/*
 * Every method on every problem, by name. Each cell of the table says what that method should make of that problem; a method
 * or a problem that the table does not know fails the test.
 *
 *   =  reaches the lowest f there is: to 1e-20 m^2 where that is 0, else to 1e-6 of it
 *   ~  comes near: a millimetre where the lowest f is 0, else within 1 % (slow, or damped for good)
 *   -  goes nine tenths of the way down, at least, but need not arrive: what the method is known for
 *   o  goes lower than the limits allow, since it takes no notice of them, and says by how much it is outside
 *   .  cannot move: the gradient is zero at the start, and it says so
 *   x  refuses the problem when the solver is made
 */
#include "support_task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ulna/model.h"

static const struct {
    const char *method;
    const char *cells; /* in the order of ulna_test_task_id */
} matrix[] = {
    /* clang-format off */
    /*                 +-------------- arm-reach */
    /*                 |+------------- human-warm */
    /*                 ||+------------ human-cold */
    /*                 |||+----------- hand */
    /*                 ||||+---------- conflict */
    /*                 |||||+--------- unreachable */
    /*                 ||||||+-------- at-limit */
    /*                 |||||||+------- straight */
    /*                 ||||||||+------ redundant-30 */
    /*                 |||||||||+----- rope-1000 */
    /*                 ||||||||||+---- orientation */
    /*                 |||||||||||+--- prismatic */
    /*                 ||||||||||||+-- moving-root */
    {"hybrid",        "============="},
    {"newton",        "============="},
    {"newton-pcg",    "=======.====="},
    {"bfgs",          "=======.====="},
    {"lbfgs",         "=~~====.====="},
    {"lm",            "=======.====="},
    {"lm-marquardt",  "=======.====="},
    {"gauss-newton",  "=====-=.====="},
    {"dls",           "=======.====="},
    {"pinv",          "=====-o.====="},
    {"qr",            "=====-o.====="},
    {"transpose",     "=---~=o.====="},
    {"gradient",      "=~~====.====="},
    {"cg",            "=======.====="},
    {"ccd",           "=--=========="},
    {"fabrik",        "=--=========="},
    {"penalty",       "======~======"},
    {"lagrange",      "============="}, /* without constraints it is newton */
    {"virtual-work",  "=~~====.====="}, /* gradient */
    {"sdp",           "=========x==="},
    /* clang-format on */
};

static const char *cells_of(const char *method)
{
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++)
        if (strcmp(matrix[i].method, method) == 0)
            return matrix[i].cells;
    return NULL;
}

static void check_cell(const ulna_test_task *task, const char *method, char cell, const ulna_result *result)
{
    double excess = result->f - task->best;
    int outside = result->violation > 0;
    int exact = task->best == 0;
    int reached = exact ? result->f <= 1e-20 : excess <= 1e-6 * task->best;
    int near = exact ? result->f <= 1e-6 : fabs(excess) <= 1e-2 * task->best;
    int moved = result->f < result->first_f, most = excess <= 0.1 * (result->first_f - task->best);
    int right = cell == '='   ? reached
                : cell == '~' ? near
                : cell == '-' ? most
                : cell == '.' ? !moved && result->gradient < 1e-12
                : cell == 'o' ? outside && excess < 0
                              : 0;
    if (!right)
        fail_msg("%s on %s: expected '%c', but f went from %g to %g (lowest: %g) in %d iterations, stop: %s", method,
                 task->name, cell, result->first_f, result->f, task->best, result->iterations,
                 ulna_stop_name(result->stop));
    if (cell == '=' && !result->converged)
        fail_msg("%s on %s: arrived, but says '%s'", method, task->name, ulna_stop_name(result->stop));
    if (excess < -1e-9 * task->best - 1e-28 && !outside)
        fail_msg("%s on %s: f = %.17g is below the lowest", method, task->name, result->f);
}

static void run_cell(const ulna_test_task *task, const char *method, char cell)
{
    ulna_options options = ulna_options_default();
    size_t bytes = (size_t)ulna_model_coordinate_count(task->model) * sizeof(double);
    double *q = malloc(bytes), *again = malloc(bytes);
    ulna_solver *solver;
    ulna_result result, second;
    options.method = method;
    ulna_status status = ulna_solver_create(task->problem, &options, NULL, &solver, NULL);
    if (status == ULNA_ERR_UNSUPPORTED && strcmp(method, "sdp") == 0) /* without DSDP it refuses everything */
        cell = 'x';
    if (cell == 'x') {
        assert_int_equal(status, ULNA_ERR_UNSUPPORTED);
        assert_null(solver);
    } else {
        assert_int_equal(status, ULNA_OK);
        memcpy(q, task->start, bytes);
        assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
        ulna_test_check_result(task, &options, q, &result);
        if (getenv("ULNA_MATRIX_SHOW"))
            printf("%-14s %-12s %c f %.2e -> %.2e (best %.2e) it %d ev %d %s %.0f us\n", method, task->name, cell,
                   result.first_f, result.f, task->best, result.iterations, result.evaluations,
                   ulna_stop_name(result.stop), 1e6 * result.seconds);
        else
            check_cell(task, method, cell, &result);

        /* The same solver again, and another one: the same bits. */
        memcpy(again, task->start, bytes);
        assert_int_equal(ulna_solve(solver, again, &second), ULNA_OK);
        if (memcmp(q, again, bytes) != 0)
            fail_msg("%s on %s: another answer the second time", method, task->name);
        assert_int_equal(result.iterations, second.iterations);
        assert_int_equal(result.evaluations, second.evaluations);
        ulna_solver_destroy(solver);
    }
    free(q);
    free(again);
}

static void run_task(ulna_test_task_id id)
{
    ulna_test_task task = ulna_test_task_make(id);
    for (int i = 0; i < ulna_method_count(); i++) {
        const char *method = ulna_method_at(i)->name, *cells = cells_of(method);
        if (!cells || strlen(cells) != ULNA_TASK_COUNT)
            fail_msg("method '%s' has no row, or no full row, in the matrix", method);
        else
            run_cell(&task, method, cells[id]);
    }
    ulna_test_task_release(&task);
}

#define TASK(function, id)                                                                                             \
    static void function(void **state)                                                                                 \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        run_task(id);                                                                                                  \
    }
TASK(arm_reach, ULNA_TASK_ARM_REACH)
TASK(human_warm, ULNA_TASK_HUMAN_WARM)
TASK(human_cold, ULNA_TASK_HUMAN_COLD)
TASK(hand, ULNA_TASK_HAND)
TASK(conflict, ULNA_TASK_CONFLICT)
TASK(unreachable, ULNA_TASK_UNREACHABLE)
TASK(at_limit, ULNA_TASK_AT_LIMIT)
TASK(straight, ULNA_TASK_STRAIGHT)
TASK(redundant, ULNA_TASK_REDUNDANT)
TASK(rope, ULNA_TASK_ROPE)
TASK(orientation, ULNA_TASK_ORIENTATION)
TASK(prismatic, ULNA_TASK_PRISMATIC)
TASK(moving_root, ULNA_TASK_MOVING_ROOT)

/* The registry and the table hold the same names, and nothing is said twice. */
static void every_method_has_a_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++) {
        if (!ulna_method_find(matrix[i].method))
            fail_msg("the matrix knows '%s', the registry does not", matrix[i].method);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(matrix[i].method, matrix[k].method);
    }
    assert_int_equal(ulna_method_count(), sizeof matrix / sizeof *matrix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_has_a_row),
        cmocka_unit_test(arm_reach),
        cmocka_unit_test(human_warm),
        cmocka_unit_test(human_cold),
        cmocka_unit_test(hand),
        cmocka_unit_test(conflict),
        cmocka_unit_test(unreachable),
        cmocka_unit_test(at_limit),
        cmocka_unit_test(straight),
        cmocka_unit_test(redundant),
        cmocka_unit_test(rope),
        cmocka_unit_test(orientation),
        cmocka_unit_test(prismatic),
        cmocka_unit_test(moving_root),
    };
    return cmocka_run_group_tests_name("solve_matrix", tests, NULL, NULL);
}
