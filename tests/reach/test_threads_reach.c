/* One reach, several threads with a work each: no race, and the bits of a single thread. */
#include "support_reach.h"
#include "ulna/sample.h"

#include <pthread.h>
#include <string.h>

enum { GOALS = 60, THREADS = 3 };

typedef struct job {
    const ulna_reach *reach;
    const ulna_reach_goal *goals;
    int tip_count, nq, first, stride;
    double *answers;
    ulna_status status;
} job;

static void *run(void *context)
{
    job *j = context;
    ulna_reach_work *work;
    j->status = ulna_reach_work_create(j->reach, NULL, &work, NULL);
    for (int i = j->first; i < GOALS && j->status == ULNA_OK; i += j->stride)
        j->status =
            ulna_reach_solve(work, j->goals + i * j->tip_count, NULL, j->answers + (size_t)i * (size_t)j->nq, NULL);
    ulna_reach_work_destroy(work);
    return NULL;
}

static void share(const char *sample, int tip_count, const char *const *links, ulna_reach_mode mode)
{
    ulna_model *model;
    ulna_reach_tip tips[2];
    ulna_reach_options options = ulna_reach_options_default();
    static double alone[GOALS * ULNA_TEST_REACH_Q], together[GOALS * ULNA_TEST_REACH_Q];
    ulna_reach_goal goals[GOALS * 2];
    double truth[ULNA_TEST_REACH_Q];
    assert_int_equal(ulna_sample_create(sample, NULL, &model, NULL), ULNA_OK);
    for (int i = 0; i < tip_count; i++)
        tips[i] = ulna_reach_tip_default(ulna_model_find_body(model, links[i]));
    options.mode = mode;
    options.restarts = 10;
    ulna_test_reach t = ulna_test_reach_make(model, tip_count, tips, &options);
    ulna_test_rng rng = ulna_test_rng_seed(12);
    for (int i = 0; i < GOALS; i++) {
        ulna_test_reach_q(&rng, model, truth);
        ulna_test_reach_goals(&t, truth, goals + i * tip_count);
    }
    job single = {t.reach, goals, tip_count, t.nq, 0, 1, alone, ULNA_OK}, jobs[THREADS];
    pthread_t thread[THREADS];
    run(&single);
    assert_int_equal(single.status, ULNA_OK);
    for (int k = 0; k < THREADS; k++) {
        jobs[k] = (job){t.reach, goals, tip_count, t.nq, k, THREADS, together, ULNA_OK};
        assert_int_equal(pthread_create(&thread[k], NULL, run, &jobs[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(pthread_join(thread[k], NULL), 0);
        assert_int_equal(jobs[k].status, ULNA_OK);
    }
    assert_memory_equal(alone, together, (size_t)GOALS * (size_t)t.nq * sizeof *alone);
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

static void threads_share_a_reach(void **state)
{
    (void)state;
    static const char *const arm[] = {"flange"}, *const hand[] = {"thumb_distal", "index_distal"};
    for (int mode = 0; mode < ULNA_REACH_MODE_COUNT; mode++) {
        share("arm", 1, arm, (ulna_reach_mode)mode);
        share("hand", 2, hand, (ulna_reach_mode)mode);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_a_reach)};
    return cmocka_run_group_tests_name("threads_reach", tests, NULL, NULL);
}
