/* DSDP works in static variables: threads that call method sdp take turns, and get what one alone gets, to the bit. */
#include <pthread.h>
#include <string.h>

#include "papers/paper_program.h"
#include "papers/papers.h"
#include "support.h"

enum { THREADS = 3, PROBLEMS = 6 };

typedef struct job {
    const ulna_model *model;
    int first, every;
    double (*q)[3];
    ulna_status status;
} job;

static void *run(void *context)
{
    job *j = context;
    for (int i = j->first; i < PROBLEMS && j->status == ULNA_OK; i += j->every) {
        const double point[3] = {1, 0, 0}, goal[3] = {1 + 0.2 * i, 1 - 0.1 * i, 0.5};
        ulna_problem *problem = NULL;
        memset(j->q[i], 0, sizeof j->q[i]);
        j->status = ulna_problem_create(j->model, NULL, &problem, NULL);
        if (j->status == ULNA_OK)
            j->status = ulna_problem_add_point(problem, 2, point, goal, 1, NULL, NULL);
        if (j->status == ULNA_OK)
            j->status = ulna_problem_ready(problem, NULL);
        if (j->status == ULNA_OK)
            j->status = ulna_sdp_solve(problem, NULL, j->q[i], NULL, NULL);
        ulna_problem_destroy(problem);
    }
    return NULL;
}

static ulna_model *arm(void)
{
    static const char *const names[] = {"turn", "upper", "lower"};
    static const double along[3] = {1, 0, 0};
    ulna_builder *builder;
    ulna_model *model;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    for (int i = 0; i < 3; i++) {
        ulna_joint joint = ulna_joint_revolute(0, i > 0, i == 0);
        assert_int_equal(ulna_builder_add_body(builder, names[i], i - 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, i, &joint, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_limits(builder, i, 0, -2, 2, NULL), ULNA_OK);
        if (i > 0)
            assert_int_equal(ulna_builder_set_placement(builder, i, along, NULL, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

static void threads_take_turns(void **state)
{
    (void)state;
    double together[PROBLEMS][3], alone[PROBLEMS][3];
    ulna_model *model = arm();
    job jobs[THREADS], single = {model, 0, 1, alone, ULNA_OK};
    pthread_t thread[THREADS];
    for (int t = 0; t < THREADS; t++) {
        jobs[t] = (job){model, t, THREADS, together, ULNA_OK};
        assert_int_equal(pthread_create(&thread[t], NULL, run, &jobs[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_join(thread[t], NULL), 0);
    run(&single);
    assert_int_equal(single.status, ulna_program_solvable() ? ULNA_OK : ULNA_ERR_UNSUPPORTED);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(jobs[t].status, single.status);
    if (single.status == ULNA_OK)
        assert_memory_equal(together, alone, sizeof alone);
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_take_turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
