/* One problem, two threads with a solver each, different starts: no race, and the bits of a single thread. */
#include "support_constraints.h"
#include "support_task.h"
#include "support_tree.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 20 };

typedef struct job {
    const ulna_test_task *task;
    const char *method;
    int first, stride;
    double *answers; /* STARTS x nq */
    ulna_status status;
} job;

static void *run(void *context)
{
    job *j = context;
    int nq = ulna_model_coordinate_count(j->task->model);
    ulna_options options = ulna_options_default();
    ulna_solver *solver;
    options.method = j->method;
    options.iterations = 10;
    options.restarts = 1;
    j->status = ulna_solver_create(j->task->problem, &options, NULL, &solver, NULL);
    for (int i = j->first; i < STARTS && j->status == ULNA_OK; i += j->stride) {
        double *q = j->answers + (size_t)i * (size_t)nq;
        memcpy(q, j->task->start, (size_t)nq * sizeof *q);
        q[0] += 0.01 * i;
        j->status = ulna_solve(solver, q, NULL);
    }
    ulna_solver_destroy(solver);
    return NULL;
}

static void share(const ulna_test_task *task)
{
    int nq = ulna_model_coordinate_count(task->model);
    size_t bytes = (size_t)STARTS * (size_t)nq * sizeof(double);
    double *together = malloc(bytes), *alone = malloc(bytes);
    for (int i = 0; i < ulna_method_count(); i++) {
        const char *method = ulna_method_at(i)->name;
        if (ulna_method_at(i)->flags & ULNA_METHOD_RELAXATION)
            continue; /* a second each: test_threads_sdp.c */
        job jobs[2] = {{task, method, 0, 2, together, ULNA_OK}, {task, method, 1, 2, together, ULNA_OK}};
        job single = {task, method, 0, 1, alone, ULNA_OK};
        pthread_t thread[2];
        for (int t = 0; t < 2; t++)
            assert_int_equal(pthread_create(&thread[t], NULL, run, &jobs[t]), 0);
        for (int t = 0; t < 2; t++)
            assert_int_equal(pthread_join(thread[t], NULL), 0);
        run(&single);
        assert_true(jobs[0].status == single.status && jobs[1].status == single.status);
        if (single.status == ULNA_OK && memcmp(together, alone, bytes) != 0)
            fail_msg("%s: two threads give other bits than one", method);
    }
    free(together);
    free(alone);
}

static void threads_share_a_problem(void **state)
{
    (void)state;
    ulna_test_task task = ulna_test_task_make(ULNA_TASK_HUMAN_WARM);
    share(&task);
    ulna_test_task_release(&task);
}

/* Methods that keep none refuse it, on all threads. */
static void threads_share_constraints(void **state)
{
    (void)state;
    ulna_scene scene = ulna_scene_reach();
    const ulna_test_task task = {"reach", scene.model, scene.problem, scene.start, 0};
    share(&task);
    ulna_scene_release(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_a_problem),
        cmocka_unit_test(threads_share_constraints),
    };
    return cmocka_run_group_tests_name("threads_solve", tests, NULL, NULL);
}
