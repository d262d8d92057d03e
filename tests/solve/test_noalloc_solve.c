/* No method touches the heap while it solves: every method on every task, with restarts and a trace. */
#include "support_constraints.h"
#include "support_heap.h"
#include "support_task.h"
#include "ulna/model.h"

#include <stdlib.h>
#include <string.h>

static void solve_all(const ulna_test_task *task)
{
    size_t bytes = (size_t)ulna_model_coordinate_count(task->model) * sizeof(double);
    double *q = malloc(bytes);
    ulna_trace_row rows[64];
    for (int i = 0; i < ulna_method_count(); i++) {
        ulna_options options = ulna_options_default();
        ulna_solver *solver;
        ulna_result result;
        options.method = ulna_method_at(i)->name;
        if (ulna_method_at(i)->flags & ULNA_METHOD_RELAXATION)
            continue; /* and says so */
        options.iterations = 20;
        options.restarts = 2;
        options.trace = rows;
        options.trace_capacity = 64;
        if (ulna_solver_create(task->problem, &options, NULL, &solver, NULL) == ULNA_ERR_UNSUPPORTED)
            continue;
        for (int frame = 0; frame < 2; frame++) {
            memcpy(q, task->start, bytes);
            counting = 1;
            heap_calls = 0;
            ulna_status status = ulna_problem_set_weight(task->problem, 0, 1 + frame);
            status = status == ULNA_OK ? ulna_solve(solver, q, &result) : status;
            int reached = status == ULNA_OK ? ulna_solver_reached(solver, 1, 1, NULL) : 0;
            counting = 0;
            assert_int_equal(status, ULNA_OK);
            assert_true(reached == 0 || reached == 1);
            if (heap_calls)
                fail_msg("%s on %s: %d heap calls", options.method, task->name, heap_calls);
        }
        ulna_solver_destroy(solver);
    }
    free(q);
}

static void no_method_allocates(void **state)
{
    (void)state;
    for (int id = 0; id < ULNA_TASK_COUNT; id++)
        if (id != ULNA_TASK_ROPE) { /* the same code, at length */
            ulna_test_task task = ulna_test_task_make((ulna_test_task_id)id);
            solve_all(&task);
            ulna_test_task_release(&task);
        }
}

static void no_method_allocates_for_constraints(void **state)
{
    (void)state;
    ulna_scene scenes[] = {ulna_scene_reach(), ulna_scene_wall(), ulna_scene_pinned(ULNA_SCENE_PINS_APART)};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        const ulna_test_task task = {"scene with constraints", scenes[i].model, scenes[i].problem, scenes[i].start, 0};
        solve_all(&task);
        ulna_scene_release(&scenes[i]);
    }
}

static void the_wrapping_works(void **state)
{
    (void)state;
    counting = 1;
    heap_calls = 0;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_ARM_REACH);
    counting = 0;
    assert_true(heap_calls > 2);
    ulna_test_task_release(&task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wrapping_works),
        cmocka_unit_test(no_method_allocates),
        cmocka_unit_test(no_method_allocates_for_constraints),
    };
    return cmocka_run_group_tests_name("noalloc_solve", tests, NULL, NULL);
}
