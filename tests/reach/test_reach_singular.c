/*
 * Goals at singular poses: stretched arms, aligned wrists, joints on their limits, with free axes and long tools on small robots. They are forward
 * kinematics of such poses, so all can be reached; a few may be missed where only a corner of the limits leads to them.
 */
#include "math/math3.h"
#include "support_model.h"
#include "support_reach.h"

#include <math.h>
#include <string.h>

enum { GOALS = 1500, MISSED = 2 };

static int chance(ulna_test_rng *rng, double probability)
{
    return ulna_test_rng_uniform(rng, 0, 1) < probability;
}

/* A straight arm of five to nine joints along z, or one with random offsets; a quarter of them is down to 10 micrometres long. */
static ulna_model *make_arm(ulna_test_rng *rng)
{
    static const double none[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    ulna_builder *builder = ulna_test_builder();
    int joints = 5 + ulna_test_rng_index(rng, 5), is_straight = chance(rng, 0.7), body = ULNA_NONE;
    double size = chance(rng, 0.25) ? pow(10, ulna_test_rng_uniform(rng, -5, -1)) : 1;
    for (int i = 0; i <= joints; i++) {
        double at[3] = {0, 0, chance(rng, 0.75) ? size * ulna_test_rng_uniform(rng, 0, 0.4) : 0}, axis[3] = {0};
        char name[16];
        snprintf(name, sizeof name, "link%d", i);
        body = ulna_test_add(builder, name, body);
        for (int k = 0; k < 2 && !is_straight; k++)
            at[k] = size * ulna_test_rng_uniform(rng, -0.2, 0.2);
        assert_int_equal(ulna_builder_set_placement(builder, body, at, none, NULL), ULNA_OK);
        if (i == joints)
            break;
        int slides = chance(rng, 0.12), limits = ulna_test_rng_index(rng, 3);
        double wide = slides ? 0.4 * size : 2.9;
        if (chance(rng, 0.7))
            axis[ulna_test_rng_index(rng, 3)] = 1;
        else
            ulna_test_rng_fill(rng, axis, 3, -1, 1);
        ulna_test_set_joint(builder, body,
                            slides ? ulna_joint_prismatic(axis[0], axis[1], axis[2])
                                   : ulna_joint_revolute(axis[0], axis[1], axis[2]));
        if (slides || limits > 0)
            assert_int_equal(ulna_builder_set_limits(builder, body, 0,
                                                     limits == 1 ? 0 : -ulna_test_rng_uniform(rng, 0.1, 1) * wide,
                                                     ulna_test_rng_uniform(rng, 0.1, 1) * wide, NULL),
                             ULNA_OK);
    }
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    return model;
}

/* All zero; right angles; some zero; limits. */
static void singular_pose(ulna_test_rng *rng, const ulna_model *model, double *q)
{
    const double *lower = ulna_model_lower(model), *upper = ulna_model_upper(model);
    double any[ULNA_TEST_REACH_Q];
    int kind = ulna_test_rng_index(rng, 4);
    ulna_test_reach_q(rng, model, any);
    for (int j = 0; j < ulna_model_dof_count(model); j++) {
        int which = ulna_test_rng_index(rng, 3);
        double x = 0;
        if (kind == 1)
            x = (which - 1) * 0.5 * ULNA_PI;
        else if (kind == 2)
            x = which ? 0 : any[j];
        else if (kind == 3 && which < 2 && isfinite(lower[j]))
            x = which ? lower[j] : upper[j];
        q[j] = fmin(fmax(x, lower[j]), upper[j]);
    }
}

static void goals_are_reached(void **state)
{
    (void)state;
    static const char *const axes[] = {"111111", "111110", "111101", "111000", "000111", "011111", "110111",
                                       "111100", "001000", "111010", "000110", "111001", "101011", "000100"};
    ulna_test_rng rng = ulna_test_rng_seed(2028);
    int missed = 0;
    for (int i = 0; i < GOALS; i++) {
        ulna_model *model = make_arm(&rng);
        ulna_reach_tip tip = ulna_reach_tip_default(ulna_model_body_count(model) - 1);
        ulna_reach_options options = ulna_reach_options_default();
        ulna_reach_goal goal;
        ulna_reach_result result;
        double truth[ULNA_TEST_REACH_Q], seed[ULNA_TEST_REACH_Q], q[ULNA_TEST_REACH_Q];
        for (int k = 0; k < 6; k++)
            tip.weight[k] = axes[i % 14][k] - '0';
        if (i % 2)
            ulna_test_rng_fill(&rng, tip.point, 3, -0.2, 0.2);
        options.mode = (ulna_reach_mode)ulna_test_rng_index(&rng, ULNA_REACH_MODE_COUNT);
        ulna_test_reach reach = ulna_test_reach_make(model, 1, &tip, &options);
        singular_pose(&rng, model, truth);
        ulna_test_reach_q(&rng, model, seed);
        ulna_test_reach_goals(&reach, truth, &goal);
        assert_int_equal(ulna_reach_solve(reach.work, &goal, i % 3 ? seed : NULL, q, &result), ULNA_OK);
        if (!result.reached)
            print_message("goal %d, axes %s: %g m, %g rad off\n", i, axes[i % 14], result.position_error,
                          result.rotation_error);
        missed += !result.reached;
        ulna_test_reach_release(&reach);
        ulna_model_destroy(model);
    }
    print_message("%d of %d goals missed\n", missed, GOALS);
    assert_true(missed <= MISSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(goals_are_reached)};
    return cmocka_run_group_tests_name("reach_singular", tests, NULL, NULL);
}
