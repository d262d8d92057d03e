/* A solve touches the heap in no mode, for no kind of goal, whether it is reached or not. */
#include "support_heap.h"
#include "support_reach.h"
#include "ulna/sample.h"

#include <string.h>

enum { GOALS = 10, MOST = 4 };

static void solve(const ulna_model *model, int tip_count, const ulna_reach_tip *tips, const ulna_reach_options *options)
{
    ulna_test_reach t = ulna_test_reach_make(model, tip_count, tips, options);
    ulna_test_rng rng = ulna_test_rng_seed(3);
    static double q[GOALS * MOST * ULNA_TEST_REACH_Q];
    double truth[ULNA_TEST_REACH_Q], step[ULNA_TEST_REACH_Q];
    ulna_reach_goal goals[GOALS * ULNA_TEST_REACH_TIPS];
    ulna_reach_result results[GOALS];
    ulna_reach_error errors[ULNA_TEST_REACH_TIPS];
    int count;
    for (int i = 0; i < GOALS; i++) {
        ulna_test_reach_q(&rng, model, truth);
        ulna_test_reach_goals(&t, truth, goals + i * tip_count);
    }
    goals[tip_count * (GOALS - 1)].position[0] += 50; /* out of reach */
    for (int j = 0; j < ULNA_TEST_REACH_Q; j++)
        step[j] = 0.1;
    ulna_status status = ULNA_OK;
    heap_calls = 0;
    counting = 1;
    for (int i = 0; i < GOALS && status == ULNA_OK; i++)
        status = ulna_reach_solve(t.work, goals + i * tip_count, NULL, q, results);
    if (status == ULNA_OK)
        status = ulna_reach_solve_many(&t.work, 1, GOALS, goals, NULL, q, results, NULL);
    if (status == ULNA_OK)
        status = ulna_reach_path(t.work, GOALS, goals, NULL, NULL, q, results, NULL, NULL);
    if (status == ULNA_OK)
        status = ulna_reach_path(t.work, GOALS, goals, NULL, step, q, results, NULL, NULL);
    if (status == ULNA_OK)
        status = ulna_reach_all(t.work, goals, NULL, MOST, q, results, &count);
    if (status == ULNA_OK)
        status = ulna_reach_measure(t.work, goals, truth, errors);
    counting = 0;
    assert_int_equal(status, ULNA_OK);
    assert_int_equal(heap_calls, 0);
    ulna_test_reach_release(&t);
}

static void no_solve_allocates(void **state)
{
    (void)state;
    ulna_model *arm, *hand, *human;
    assert_int_equal(ulna_sample_create("arm", NULL, &arm, NULL), ULNA_OK);
    assert_int_equal(ulna_sample_create("hand", NULL, &hand, NULL), ULNA_OK);
    assert_int_equal(ulna_sample_create("human", NULL, &human, NULL), ULNA_OK);
    ulna_reach_tip flange = ulna_reach_tip_default(ulna_model_find_body(arm, "flange"));
    ulna_reach_tip fingers[2] = {ulna_reach_tip_default(ulna_model_find_body(hand, "thumb_distal")),
                                 ulna_reach_tip_default(ulna_model_find_body(hand, "index_distal"))};
    ulna_reach_tip hands[2] = {ulna_reach_tip_default(ulna_model_find_body(human, "left_hand")),
                               ulna_reach_tip_default(ulna_model_find_body(human, "right_hand"))};
    unsigned char locked[64] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int mode = 0; mode < ULNA_REACH_MODE_COUNT; mode++) {
        ulna_reach_options options = ulna_reach_options_default();
        options.mode = (ulna_reach_mode)mode;
        options.restarts = 5;
        options.seconds = mode == 1 ? 10 : 0;
        solve(arm, 1, &flange, &options);
        solve(hand, 2, fingers, &options);
        options.locked = locked;
        solve(hand, 2, fingers, &options);
        options.locked = NULL;
        options.posture = ulna_model_rest(human);
        solve(human, 2, hands, &options);
        hands[1].relative_to = hands[0].body;
        solve(human, 2, hands, &options);
        hands[1].relative_to = ULNA_NONE;
    }
    ulna_model_destroy(arm);
    ulna_model_destroy(hand);
    ulna_model_destroy(human);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_solve_allocates)};
    return cmocka_run_group_tests_name("noalloc_reach", tests, NULL, NULL);
}
