/* One model, one problem, two threads with a work each: no race (run under TSan by `make check`) and the same bits. */
#include "support_problem.h"
#include "ulna/sample.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, FRAMES = 300 };

typedef struct job {
    const ulna_problem *problem;
    double *result; /* FRAMES x nv */
    ulna_status status;
} job;

/* A few damped steps per frame, from a start that depends on the frame alone. */
static void *run(void *context)
{
    job *j = context;
    const ulna_model *model = ulna_problem_model(j->problem);
    int nv = ulna_model_dof_count(model), nq = ulna_model_coordinate_count(model);
    double *q = ulna_test_numbers(nq), *shift = ulna_test_numbers(nv), *step = ulna_test_numbers(nv), f;
    ulna_work *work = NULL;
    j->status = ulna_work_create(j->problem, NULL, &work, NULL);
    for (int d = 0; d < nv; d++)
        shift[d] = 0.1;
    for (int frame = 0; frame < FRAMES && j->status == ULNA_OK; frame++) {
        memcpy(q, ulna_model_rest(model), (size_t)nq * sizeof *q);
        for (int k = 0; k < nq; k++)
            q[k] += 1e-3 * (frame % 17) * (k % 5);
        for (int i = 0; i < 3 && j->status == ULNA_OK; i++) {
            ulna_step_options options = {.shift = shift};
            j->status = ulna_work_evaluate(work, q, &f);
            if (j->status == ULNA_OK)
                j->status = ulna_work_step(work, &options, step, NULL, NULL);
            ulna_model_integrate(model, q, step, q);
        }
        memcpy(j->result + (size_t)frame * (size_t)nv, step, (size_t)nv * sizeof *step);
    }
    ulna_work_destroy(work);
    free(q);
    free(shift);
    free(step);
    return NULL;
}

static void threads_share_a_model(void **state)
{
    (void)state;
    const char *const names[] = {"human", "hand", "all-joints"};
    for (int sample = 0; sample < 3; sample++) {
        ulna_model *model;
        ulna_problem *problem;
        pthread_t thread[THREADS];
        job jobs[THREADS + 1];
        assert_int_equal(ulna_sample_create(names[sample], NULL, &model, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_add_markers(problem, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_add_posture(problem, NULL, NULL, 1e-3, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
        int size = FRAMES * ulna_model_dof_count(model);
        for (int t = 0; t <= THREADS; t++)
            jobs[t] = (job){problem, ulna_test_numbers(size), ULNA_OK};
        for (int t = 0; t < THREADS; t++)
            assert_int_equal(pthread_create(&thread[t], NULL, run, &jobs[t]), 0);
        for (int t = 0; t < THREADS; t++)
            assert_int_equal(pthread_join(thread[t], NULL), 0);
        run(&jobs[THREADS]); /* alone */
        for (int t = 0; t <= THREADS; t++)
            assert_int_equal(jobs[t].status, ULNA_OK);
        for (int t = 0; t < THREADS; t++)
            assert_memory_equal(jobs[t].result, jobs[THREADS].result, (size_t)size * sizeof(double));
        for (int t = 0; t <= THREADS; t++)
            free(jobs[t].result);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_a_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
