/* Goals of one and several tips: what is reached is reached, inside the limits, and what is not is said. */
#include "support_reach.h"
#include "ulna/sample.h"

#include <math.h>
#include <string.h>

static ulna_model *sample(const char *name)
{
    ulna_model *model;
    assert_int_equal(ulna_sample_create(name, NULL, &model, NULL), ULNA_OK);
    return model;
}

static ulna_reach_tip tip_on(const ulna_model *model, const char *body)
{
    int number = ulna_model_find_body(model, body);
    assert_true(number >= 0);
    return ulna_reach_tip_default(number);
}

/* `count` goals made by forward kinematics, each from another random start. Returns how many were reached; each answer is checked. */
static int solve_random(const ulna_test_reach *t, uint64_t seed, int count)
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    double truth[ULNA_TEST_REACH_Q], start[ULNA_TEST_REACH_Q], q[ULNA_TEST_REACH_Q], position, rotation;
    ulna_reach_goal goals[ULNA_TEST_REACH_TIPS];
    int reached = 0;
    for (int i = 0; i < count; i++) {
        ulna_reach_result result;
        ulna_test_reach_q(&rng, t->model, truth);
        ulna_test_reach_q(&rng, t->model, start);
        ulna_test_reach_goals(t, truth, goals);
        assert_int_equal(ulna_reach_solve(t->work, goals, start, q, &result), ULNA_OK);
        ulna_test_reach_errors(t, goals, q, &position, &rotation);
        assert_true(ulna_test_reach_inside(t->model, q));
        assert_int_equal(result.reached, position <= 1e-6 && rotation <= 1e-6);
        reached += result.reached;
    }
    return reached;
}

static void one_arm(void **state)
{
    (void)state;
    ulna_model *arm = sample("arm");
    ulna_reach_tip tip = tip_on(arm, "flange");
    ulna_test_reach t = ulna_test_reach_make(arm, 1, &tip, NULL);
    assert_int_equal(solve_random(&t, 1, 1000), 1000);
    ulna_test_reach_release(&t);
    ulna_model_destroy(arm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_arm),
    };
    return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
