/* Goals of one and several tips: what is reached is reached, inside the limits, and what is not is said. */
#include "support_reach.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
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

static void leave_free(ulna_reach_tip *tip, const char *axes) /* six digits: 0 is free */
{
    for (int k = 0; k < 6; k++)
        tip->weight[k] = axes[k] - '0';
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
        if (result.reached != (position <= 1e-6 && rotation <= 1e-6))
            fail_msg("goal %d: reached is %d, but the tips are off by %g m and %g rad", i, result.reached, position,
                     rotation);
        reached += result.reached;
    }
    return reached;
}

static int solve_sample(const char *name, int count, const char *const *links, const char *axes, int goals)
{
    ulna_model *model = sample(name);
    ulna_reach_tip tips[ULNA_TEST_REACH_TIPS];
    for (int i = 0; i < count; i++) {
        tips[i] = tip_on(model, links[i]);
        leave_free(&tips[i], axes);
    }
    ulna_test_reach t = ulna_test_reach_make(model, count, tips, NULL);
    int reached = solve_random(&t, 7, goals);
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
    return reached;
}

/* ---- what is reached -------------------------------------------------------------------------------------------------------- */

static void one_arm(void **state)
{
    (void)state;
    static const char *const link[] = {"flange"};
    assert_int_equal(solve_sample("arm", 1, link, "111111", 10000), 10000);
}

static void partial_goals(void **state)
{
    (void)state;
    static const char *const link[] = {"flange"};
    static const char *const shapes[] = {"111000", "000111", "111110", "111011", "111001",
                                         "101111", "110000", "000010", "231465"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (solve_sample("arm", 1, link, shapes[i], 200) != 200)
            fail_msg("axes %s: not all reached", shapes[i]);
}

static void two_hands_and_a_foot(void **state)
{
    (void)state;
    static const char *const links[] = {"left_hand", "right_hand", "left_foot"};
    assert_int_equal(solve_sample("human", 3, links, "111111", 1000), 1000);
}

/* A torso of `torso` joints with two arms of seven: none of the robots that constants for several tips were tuned on. */
static ulna_model *two_arms(int torso)
{
    static const double axes[7][3] = {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 0, 1}, {0, 1, 0}, {1, 0, 0}};
    static const double lengths[7] = {0, 0, 0.12, 0.14, 0.13, 0.12, 0.05};
    ulna_builder *builder;
    ulna_model *model;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    for (int i = 0; i < torso + 14; i++) {
        const int in_torso = i < torso, k = in_torso ? 2 - i % 3 : (i - torso) % 7, is_left = i < torso + 7;
        const int first = !in_torso && k == 0;
        const double at[3] = {0, first ? (is_left ? 0.2 : -0.2) : 0, in_torso ? 0.15 : first ? 0.1 : -lengths[k]};
        const double *axis = in_torso ? axes[k == 2 ? 2 : k == 1 ? 0 : 1] : axes[k];
        const ulna_joint joint = ulna_joint_revolute(axis[0], axis[1], axis[2]);
        const double range = in_torso ? 0.8 : k == 3 ? 1.2 : 2;
        char name[16];
        snprintf(name, sizeof name, "%s%d", in_torso ? "torso" : is_left ? "left" : "right", k);
        assert_int_equal(ulna_builder_add_body(builder, name, first ? torso - 1 : i - 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_placement(builder, i, at, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, i, &joint, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_limits(builder, i, 0, -range - 0.1 * k, range, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

/* With one joint in the torso about one goal in a thousand needs more than the 100 restarts of the default. */
static void two_arms_on_a_torso(void **state)
{
    (void)state;
    ulna_reach_options options = ulna_reach_options_default();
    options.restarts = 400;
    for (int torso = 1; torso <= 3; torso++) {
        ulna_model *model = two_arms(torso);
        const ulna_reach_tip tips[2] = {tip_on(model, "left6"), tip_on(model, "right6")};
        ulna_test_reach t = ulna_test_reach_make(model, 2, tips, &options);
        assert_int_equal(solve_random(&t, 8, 300), 300);
        ulna_test_reach_release(&t);
        ulna_model_destroy(model);
    }
}

static void five_fingertips(void **state)
{
    (void)state;
    static const char *const links[] = {"thumb_distal", "index_distal", "middle_distal", "ring_distal",
                                        "little_distal"};
    assert_int_equal(solve_sample("hand", 5, links, "111111", 1000), 1000);
    assert_int_equal(solve_sample("hand", 5, links, "111000", 1000), 1000);
}

/* A rail, a lift and an arm: prismatic joints below revolute ones. */
static ulna_model *mobile_arm(void)
{
    static const struct {
        const char *name;
        ulna_joint_type type;
        double axis[3], at[3], lower, upper;
    } bodies[] = {
        {"rail", ULNA_JOINT_PRISMATIC, {1, 0, 0}, {0, 0, 0}, -1, 1},
        {"lift", ULNA_JOINT_PRISMATIC, {0, 0, 1}, {0, 0, 0.3}, 0, 0.8},
        {"shoulder", ULNA_JOINT_REVOLUTE, {0, 0, 1}, {0.1, 0, 0.1}, -3, 3},
        {"upper", ULNA_JOINT_REVOLUTE, {0, 1, 0}, {0, 0, 0.2}, -2, 2},
        {"lower", ULNA_JOINT_REVOLUTE, {0, 1, 0}, {0, 0, 0.4}, -2.5, 2.5},
        {"roll", ULNA_JOINT_REVOLUTE, {0, 0, 1}, {0, 0, 0.3}, -6, 6},
        {"wrist", ULNA_JOINT_REVOLUTE, {0, 1, 0}, {0, 0, 0.1}, -2, 2},
        {"hand", ULNA_JOINT_REVOLUTE, {0, 0, 1}, {0, 0, 0.1}, -(double)INFINITY, (double)INFINITY},
    };
    ulna_builder *builder;
    ulna_model *model;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    for (int i = 0; i < (int)(sizeof bodies / sizeof *bodies); i++) {
        ulna_joint joint = bodies[i].type == ULNA_JOINT_PRISMATIC
                               ? ulna_joint_prismatic(bodies[i].axis[0], bodies[i].axis[1], bodies[i].axis[2])
                               : ulna_joint_revolute(bodies[i].axis[0], bodies[i].axis[1], bodies[i].axis[2]);
        assert_int_equal(ulna_builder_add_body(builder, bodies[i].name, i - 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_placement(builder, i, bodies[i].at, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, i, &joint, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_limits(builder, i, 0, bodies[i].lower, bodies[i].upper, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

static void prismatic_joints(void **state)
{
    (void)state;
    ulna_model *model = mobile_arm();
    ulna_reach_tip tip = tip_on(model, "hand");
    ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, NULL);
    assert_int_equal(solve_random(&t, 3, 1000), 1000);
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

static void relative_goals(void **state)
{
    (void)state;
    static const struct {
        const char *sample, *link, *other, *axes;
    } cases[] = {
        {"arm", "flange", "shoulder_turn", "111111"}, {"arm", "flange", "upper_arm_turn", "111000"},
        {"human", "left_hand", "head", "111111"},     {"human", "left_hand", "right_hand", "111111"},
        {"human", "left_hand", "pelvis", "111110"},   {"hand", "thumb_distal", "index_distal", "111000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ulna_model *model = sample(cases[i].sample);
        ulna_reach_tip tip = tip_on(model, cases[i].link);
        tip.relative_to = ulna_model_find_body(model, cases[i].other);
        leave_free(&tip, cases[i].axes);
        ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, NULL);
        int reached = solve_random(&t, 5, 100);
        if (reached != 100)
            fail_msg("%s of %s from %s: %d of 100", cases[i].link, cases[i].sample, cases[i].other, reached);
        ulna_test_reach_release(&t);
        ulna_model_destroy(model);
    }
}

/* One tip in the world and one relative to it. */
static void mixed_goals(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_reach_tip tips[2] = {tip_on(model, "left_hand"), tip_on(model, "right_hand")};
    tips[1].relative_to = tips[0].body;
    ulna_test_reach t = ulna_test_reach_make(model, 2, tips, NULL);
    assert_int_equal(solve_random(&t, 11, 100), 100);
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

/* ---- hard goals ------------------------------------------------------------------------------------------------------------------ */

/* Straight arms, aligned wrists and joints on their limits. */
static void singular_and_at_limits(void **state)
{
    (void)state;
    ulna_model *model = sample("arm");
    ulna_reach_tip tip = tip_on(model, "flange");
    ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, NULL);
    const double *lower = ulna_model_lower(model), *upper = ulna_model_upper(model);
    ulna_test_rng rng = ulna_test_rng_seed(21);
    double truth[ULNA_TEST_REACH_Q], start[ULNA_TEST_REACH_Q], q[ULNA_TEST_REACH_Q], position, rotation;
    for (int i = 0; i < 600; i++) {
        ulna_reach_goal goal;
        ulna_reach_result result;
        ulna_test_reach_q(&rng, model, truth);
        ulna_test_reach_q(&rng, model, start);
        if (i % 3 == 0)
            truth[5] = 0; /* the wrist is aligned */
        else if (i % 3 == 1)
            truth[3] = 0; /* the elbow is straight */
        else
            for (int j = 0; j < 7; j++)
                if (ulna_test_rng_index(&rng, 3) == 0)
                    truth[j] = ulna_test_rng_index(&rng, 2) ? upper[j] : lower[j];
        ulna_model_clamp(model, truth);
        ulna_test_reach_goals(&t, truth, &goal);
        assert_int_equal(ulna_reach_solve(t.work, &goal, start, q, &result), ULNA_OK);
        ulna_test_reach_errors(&t, &goal, q, &position, &rotation);
        assert_true(ulna_test_reach_inside(model, q));
        if (!result.reached || position > 1e-6 || rotation > 1e-6)
            fail_msg("goal %d: %g m, %g rad", i, position, rotation);
    }
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

static void out_of_reach(void **state)
{
    (void)state;
    ulna_model *model = sample("two-link");
    ulna_reach_tip tip = tip_on(model, ulna_model_body_name(model, ulna_model_marker_body(model, 0)));
    leave_free(&tip, "111000");
    ulna_model_marker_position(model, 0, tip.point);
    ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, NULL);
    ulna_reach_goal goal = {{3, 4, 0}, {0, 0, 0, 1}};
    ulna_reach_result result;
    ulna_reach_error error;
    double q[2];
    assert_int_equal(ulna_reach_solve(t.work, &goal, NULL, q, &result), ULNA_OK);
    assert_false(result.reached);
    assert_true(fabs(result.position_error - 3) < 1e-9); /* two links of 1 m, straight towards the goal */
    assert_int_equal(ulna_reach_measure(t.work, &goal, q, &error), ULNA_OK);
    assert_true(fabs(error.axis[0] + 1.8) < 1e-6 && fabs(error.axis[1] + 2.4) < 1e-6 && !error.within);
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

/* ---- which solution ---------------------------------------------------------------------------------------------------------------- */

static void whole_turns_go_to_the_seed(void **state)
{
    (void)state;
    ulna_model *model = mobile_arm();
    ulna_reach_tip tip = tip_on(model, "hand");
    ulna_reach_options options = ulna_reach_options_default();
    options.mode = ULNA_REACH_NEAR;
    ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, &options);
    double truth[8] = {0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 20}, start[8], q[8];
    ulna_reach_goal goal;
    ulna_reach_result result;
    ulna_test_reach_goals(&t, truth, &goal);
    memcpy(start, truth, sizeof start);
    start[4] += 0.05;
    start[7] += 0.1;
    assert_int_equal(ulna_reach_solve(t.work, &goal, start, q, &result), ULNA_OK);
    assert_true(result.reached && !result.jumped && fabs(q[7] - 20) < 0.5);
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

static void nearest_is_not_farther(void **state)
{
    (void)state;
    ulna_model *model = sample("arm");
    ulna_reach_tip tip = tip_on(model, "flange");
    ulna_reach_options options = ulna_reach_options_default();
    ulna_test_reach t[3];
    for (int mode = 0; mode < 3; mode++) {
        options.mode = (ulna_reach_mode)mode;
        t[mode] = ulna_test_reach_make(model, 1, &tip, &options);
    }
    ulna_test_rng rng = ulna_test_rng_seed(9);
    double total[3] = {0};
    for (int i = 0; i < 60; i++) {
        double truth[7], start[7], q[7];
        ulna_reach_goal goal;
        ulna_reach_result result;
        ulna_test_reach_q(&rng, model, truth);
        ulna_test_reach_q(&rng, model, start);
        ulna_test_reach_goals(&t[0], truth, &goal);
        double way = 0;
        for (int j = 0; j < 7; j++)
            way += (truth[j] - start[j]) * (truth[j] - start[j]);
        for (int mode = 0; mode < 3; mode++) {
            assert_int_equal(ulna_reach_solve(t[mode].work, &goal, start, q, &result), ULNA_OK);
            assert_true(result.reached);
            total[mode] += result.distance;
        }
        assert_true(result.distance <= sqrt(way) + 0.3); /* the truth is a solution, too */
    }
    assert_true(total[2] < total[1] && total[2] < total[0]);
    for (int mode = 0; mode < 3; mode++)
        ulna_test_reach_release(&t[mode]);
    ulna_model_destroy(model);
}

static void posture_in_the_null_space(void **state)
{
    (void)state;
    ulna_model *model = sample("arm");
    ulna_reach_tip tip = tip_on(model, "flange");
    ulna_reach_options options = ulna_reach_options_default();
    const double posture[7] = {0.1, 0.7, -0.5, 1.2, 0.3, 0.9, -0.2};
    ulna_test_reach plain = ulna_test_reach_make(model, 1, &tip, &options);
    options.posture = posture;
    ulna_test_reach held = ulna_test_reach_make(model, 1, &tip, &options);
    ulna_test_rng rng = ulna_test_rng_seed(4);
    double with = 0, without = 0;
    for (int i = 0; i < 50; i++) {
        double truth[7], q[7];
        ulna_reach_goal goal;
        ulna_reach_result result;
        for (int j = 0; j < 7; j++)
            truth[j] = posture[j] + 0.4 * ulna_test_rng_normal(&rng);
        ulna_model_clamp(model, truth);
        ulna_test_reach_goals(&plain, truth, &goal);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(ulna_reach_solve(k ? held.work : plain.work, &goal, NULL, q, &result), ULNA_OK);
            assert_true(result.reached);
            for (int j = 0; j < 7; j++)
                *(k ? &with : &without) += (q[j] - posture[j]) * (q[j] - posture[j]);
        }
    }
    assert_true(with < 0.8 * without);
    ulna_test_reach_release(&plain);
    ulna_test_reach_release(&held);
    ulna_model_destroy(model);
}

static void locked_and_weighted_joints(void **state)
{
    (void)state;
    ulna_model *model = sample("arm");
    ulna_reach_tip tip = tip_on(model, "flange");
    leave_free(&tip, "111000");
    ulna_reach_options options = ulna_reach_options_default();
    const unsigned char locked[7] = {0, 0, 1, 0, 0, 0, 1};
    const double strength[7] = {1, 1, 1, 1, 0, 0.1, 1};
    options.locked = locked;
    options.strength = strength;
    ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, &options);
    const double start[7] = {0.1, 0.5, 0.2, 1.3, -0.3, 0.8, 0.4};
    ulna_reach_goal goal = {{0.4, 0.2, 0.5}, {0, 0, 0, 1}};
    ulna_reach_result result;
    double q[7];
    assert_int_equal(ulna_reach_solve(t.work, &goal, start, q, &result), ULNA_OK);
    assert_true(result.reached);
    assert_true(q[2] == start[2] && q[4] == start[4] && q[6] == start[6]);
    assert_true(fabs(q[5] - start[5]) < 0.1); /* it moves unwillingly */
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

/* How far joint `weak` moves on average from seeds near the goals, with its strength, and that nothing is lost by it. */
static double weak_moves(const ulna_model *model, const char *axes, ulna_reach_mode mode, int weak, double strength)
{
    enum { COUNT = 200, MOST = 8 };
    const int nv = ulna_model_dof_count(model);
    ulna_reach_tip tip = tip_on(model, ulna_model_body_name(model, ulna_model_body_count(model) - 1));
    leave_free(&tip, axes);
    double strengths[ULNA_TEST_REACH_Q], moved = 0;
    for (int j = 0; j < nv; j++)
        strengths[j] = j == weak ? strength : 1;
    ulna_reach_options options = ulna_reach_options_default();
    options.mode = mode;
    options.strength = strengths;
    ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, &options);
    static ulna_reach_goal goals[COUNT];
    static ulna_reach_result results[COUNT];
    static double seeds[COUNT * MOST], q[COUNT * MOST];
    double truth[MOST];
    ulna_test_rng rng = ulna_test_rng_seed(31);
    for (int i = 0; i < COUNT; i++) {
        ulna_test_reach_q(&rng, model, truth);
        ulna_test_reach_goals(&t, truth, &goals[i]);
        for (int j = 0; j < nv; j++) {
            const double away = truth[j] + ulna_test_rng_uniform(&rng, -0.2, 0.2);
            seeds[i * nv + j] = fmin(fmax(away, ulna_model_lower(model)[j]), ulna_model_upper(model)[j]);
        }
    }
    for (int together = 0; together < 2; together++) {
        if (together)
            assert_int_equal(ulna_reach_solve_many(&t.work, 1, COUNT, goals, seeds, q, results, NULL), ULNA_OK);
        double sum = 0;
        for (int i = 0; i < COUNT; i++) {
            ulna_reach_error error;
            if (!together)
                assert_int_equal(ulna_reach_solve(t.work, &goals[i], seeds + i * nv, q + i * nv, &results[i]), ULNA_OK);
            assert_int_equal(ulna_reach_measure(t.work, &goals[i], q + i * nv, &error), ULNA_OK);
            assert_true(results[i].reached && error.within && ulna_test_reach_inside(model, q + i * nv));
            assert_true(mode != ULNA_REACH_NEAR || !results[i].jumped);
            sum += fabs(q[i * nv + weak] - seeds[i * nv + weak]) / COUNT;
        }
        assert_true(!together || strength == 1 || fabs(sum - moved) < 0.02);
        moved = sum;
    }
    ulna_test_reach_release(&t);
    return moved;
}

/* A joint of small strength moves less where others can do it; in every mode, for all kinds of goals, rotations and translations. */
static void weak_joints_move_less(void **state)
{
    (void)state;
    static const struct {
        int is_mobile, weak;
        const char *axes;
        double most; /* of what it moves otherwise */
    } cases[] = {
        {0, 2, "111111", 0.5}, {0, 1, "111000", 0.2}, {0, 3, "000111", 0.1}, {0, 4, "111110", 0.6},
        {1, 0, "111111", 0.2}, {1, 5, "111111", 0.5}, {1, 0, "111000", 0.1}, {0, 1, "101000", 0.2},
    };
    ulna_model *models[2] = {sample("arm"), mobile_arm()};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int mode = 0; mode < ULNA_REACH_MODE_COUNT; mode++) {
            const ulna_model *model = models[cases[i].is_mobile];
            const double plain = weak_moves(model, cases[i].axes, (ulna_reach_mode)mode, cases[i].weak, 1);
            const double moved = weak_moves(model, cases[i].axes, (ulna_reach_mode)mode, cases[i].weak, 0.01);
            const double strong = weak_moves(model, cases[i].axes, (ulna_reach_mode)mode, cases[i].weak, 100);
            if (!(moved <= cases[i].most * plain) || !(strong >= moved))
                fail_msg("case %zu, mode %d: it moves by %g, with little strength by %g, with much by %g", i, mode,
                         plain, moved, strong);
            weak_moves(model, cases[i].axes, (ulna_reach_mode)mode, cases[i].weak, 1e-300);
            weak_moves(model, cases[i].axes, (ulna_reach_mode)mode, cases[i].weak, 1e300);
        }
    ulna_model_destroy(models[0]);
    ulna_model_destroy(models[1]);
}

/* Along a path, too, with and without a largest step; the nearest comes first among several; the same strength for all changes nothing. */
static void weak_joints_on_paths(void **state)
{
    (void)state;
    enum { SAMPLES = 100, WEAK = 4 };
    ulna_model *model = sample("arm");
    ulna_reach_tip tip = tip_on(model, "flange");
    double moved[3], q[3][SAMPLES * 7], step[7];
    for (int c = 0; c < 3; c++) { /* no strengths, one weak joint, all alike */
        const double weak[7] = {1, 1, 1, 1, 0.02, 1, 1}, alike[7] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
        const double seed[7] = {0.3, 0.5, 0.4, 1.3, 0.3, 0.8, 0.2};
        ulna_reach_options options = ulna_reach_options_default();
        options.strength = c == 1 ? weak : c == 2 ? alike : NULL;
        options.mode = ULNA_REACH_NEAR;
        ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, &options);
        ulna_reach_goal goals[SAMPLES];
        int jumps, missed, count;
        for (int i = 0; i < SAMPLES; i++)
            goals[i] = (ulna_reach_goal){{0.5, 0.2 - 0.4 * i / SAMPLES, 0.3}, {0.9, 0.4, 0, 0}};
        assert_int_equal(ulna_reach_path(t.work, SAMPLES, goals, seed, NULL, q[c], NULL, &jumps, &missed), ULNA_OK);
        assert_true(jumps == 0 && missed == 0);
        moved[c] = 0;
        for (int i = 1; i < SAMPLES; i++)
            moved[c] += fabs(q[c][7 * i + WEAK] - q[c][7 * i - 7 + WEAK]);
        for (int j = 0; j < 7; j++)
            step[j] = 0.02;
        ulna_reach_result results[16];
        double again[SAMPLES * 7];
        assert_int_equal(ulna_reach_path(t.work, SAMPLES, goals, q[c], step, again, NULL, &jumps, &missed), ULNA_OK);
        assert_true(jumps == 0 && missed == 0);
        for (int i = 1; i < SAMPLES; i++)
            for (int j = 0; j < 7; j++)
                assert_true(fabs(again[7 * i + j] - again[7 * i - 7 + j]) <= step[j] * (1 + 1e-12));
        assert_int_equal(ulna_reach_all(t.work, &goals[50], seed, 16, again, results, &count), ULNA_OK);
        for (int k = 0; k < count; k++) {
            double sum = 0;
            for (int j = 0; j < 7; j++)
                sum += pow((again[7 * k + j] - seed[j]) / (options.strength ? options.strength[j] : 1), 2);
            assert_true(fabs(results[k].distance - sqrt(sum)) <= 1e-9 * sqrt(sum));
            assert_true(k == 0 || results[k].distance >= results[k - 1].distance);
        }
        ulna_test_reach_release(&t);
    }
    assert_true(moved[0] > 0.02 && moved[1] < 0.1 * moved[0]);
    assert_memory_equal(q[0], q[2], sizeof q[0]);
    ulna_model_destroy(model);
}

/* Strengths times a power of two: the same bits in every mode, on a chain and by the general solve. Beyond numbers that are strengths: refused. */
static void ratios_of_strengths(void **state)
{
    (void)state;
    ulna_model *model = sample("arm");
    const ulna_reach_tip tip = tip_on(model, "flange");
    const double bad[] = {-1, (double)NAN, (double)INFINITY};
    for (int mode = 0; mode < ULNA_REACH_MODE_COUNT; mode++)
        for (int is_tree = 0; is_tree < 2; is_tree++) {
            double q[3][20][7];
            for (int k = 0; k < 3; k++) {
                const double scale = k == 0 ? 1 : k == 1 ? 0x1p-20 : 0x1p30;
                double strength[7] = {1, 0.3, 0.9, 0.2, 0.01, 0.7, 0.5};
                const unsigned char locked[7] = {0, 0, (unsigned char)is_tree, 0, 0, 0, 0};
                ulna_reach_options options = ulna_reach_options_default();
                for (int j = 0; j < 7; j++)
                    strength[j] *= scale;
                options.mode = (ulna_reach_mode)mode;
                options.strength = strength;
                options.locked = locked;
                ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, &options);
                assert_string_equal(ulna_reach_solver_name(t.reach), is_tree ? "tree" : "chain");
                ulna_test_rng rng = ulna_test_rng_seed(32);
                for (int i = 0; i < 20; i++) {
                    ulna_reach_goal goal;
                    ulna_reach_result result;
                    double truth[7], seed[7];
                    ulna_test_reach_q(&rng, model, truth);
                    ulna_test_reach_q(&rng, model, seed);
                    seed[2] = truth[2];
                    ulna_test_reach_goals(&t, truth, &goal);
                    assert_int_equal(ulna_reach_solve(t.work, &goal, seed, q[k][i], &result), ULNA_OK);
                    assert_true(result.reached);
                }
                ulna_test_reach_release(&t);
            }
            assert_memory_equal(q[0], q[1], sizeof q[0]);
            assert_memory_equal(q[0], q[2], sizeof q[0]);
        }
    for (int weak = 0; weak < 2; weak++) { /* without restarts, too, goals come before strengths */
        const double strength[7] = {1, 1, 1, weak ? 0.001 : 1, 1, 1, 1};
        const unsigned char locked[7] = {0, 0, 0, 0, 0, 0, 1};
        const ulna_reach_goal goal = {{0.4, 0.2, 0.5}, {1, 0, 0, 0}};
        ulna_reach_options options = ulna_reach_options_default();
        ulna_reach_result result;
        double q[7];
        options.restarts = 0;
        options.strength = strength;
        options.locked = locked;
        ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, &options);
        assert_int_equal(ulna_reach_solve(t.work, &goal, NULL, q, &result), ULNA_OK);
        assert_true(result.reached);
        ulna_test_reach_release(&t);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const double strength[7] = {1, 1, bad[i], 1, 1, 1, 1};
        ulna_reach_options options = ulna_reach_options_default();
        ulna_reach *reach;
        options.strength = strength;
        assert_int_equal(ulna_reach_create(model, 1, &tip, &options, NULL, &reach, NULL), ULNA_ERR_ARGUMENT);
    }
    ulna_model_destroy(model);
}

static void several_solutions(void **state)
{
    (void)state;
    enum { MOST = 16 };
    ulna_model *model = sample("arm");
    ulna_reach_tip tip = tip_on(model, "flange");
    ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, NULL);
    ulna_test_rng rng = ulna_test_rng_seed(2);
    int total = 0;
    for (int i = 0; i < 10; i++) {
        double truth[7], q[MOST * 7], position, rotation;
        ulna_reach_goal goal;
        ulna_reach_result results[MOST];
        int count;
        ulna_test_reach_q(&rng, model, truth);
        ulna_test_reach_goals(&t, truth, &goal);
        assert_int_equal(ulna_reach_all(t.work, &goal, NULL, MOST, q, results, &count), ULNA_OK);
        assert_true(count >= 1 && count <= MOST);
        total += count;
        for (int k = 0; k < count; k++) {
            ulna_test_reach_errors(&t, &goal, q + 7 * k, &position, &rotation);
            assert_true(results[k].reached && position <= 1e-6 && rotation <= 1e-6);
            assert_true(ulna_test_reach_inside(model, q + 7 * k));
            assert_true(k == 0 || results[k].distance >= results[k - 1].distance);
            for (int other = 0; other < k; other++) {
                double largest = 0;
                for (int j = 0; j < 7; j++)
                    largest = fmax(largest, fabs(q[7 * k + j] - q[7 * other + j]));
                assert_true(largest > 0.1);
            }
        }
        assert_int_equal(ulna_reach_all(t.work, &goal, NULL, 1, q, results, &count), ULNA_OK);
        assert_int_equal(count, 1);
    }
    assert_true(total >= 20);
    ulna_reach_goal far = {{5, 0, 0}, {0, 0, 0, 1}};
    ulna_reach_result result;
    double q[7];
    int count;
    assert_int_equal(ulna_reach_all(t.work, &far, NULL, 1, q, &result, &count), ULNA_OK);
    assert_true(count == 0 && !result.reached && result.position_error > 3);
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

/* ---- many, paths, parts ----------------------------------------------------------------------------------------------------------- */

static void many_are_as_one_by_one(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    ulna_model *model = sample("arm");
    ulna_reach_tip tip = tip_on(model, "flange");
    ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, NULL);
    ulna_reach_work *works[3];
    for (int w = 0; w < 3; w++)
        assert_int_equal(ulna_reach_work_create(t.reach, NULL, &works[w], NULL), ULNA_OK);
    ulna_test_rng rng = ulna_test_rng_seed(6);
    ulna_reach_goal goals[COUNT];
    ulna_reach_result alone[COUNT], together[COUNT];
    double seeds[COUNT * 7], truth[7], one[COUNT * 7], many[COUNT * 7];
    for (int i = 0; i < COUNT; i++) {
        ulna_test_reach_q(&rng, model, truth);
        ulna_test_reach_q(&rng, model, seeds + 7 * i);
        ulna_test_reach_goals(&t, truth, &goals[i]);
        assert_int_equal(ulna_reach_solve(works[0], &goals[i], seeds + 7 * i, one + 7 * i, &alone[i]), ULNA_OK);
    }
    double serial[COUNT * 7];
    for (int threads = 1; threads <= 3; threads++) {
        int failed;
        assert_int_equal(ulna_reach_solve_many(works, threads, COUNT, goals, seeds, many, together, &failed), ULNA_OK);
        if (threads == 1)
            memcpy(serial, many, sizeof serial);
        assert_memory_equal(serial, many, sizeof serial); /* the bits of one thread */
        assert_int_equal(failed, ULNA_NONE);
        for (int i = 0; i < COUNT; i++) {
            double position, rotation;
            assert_int_equal(together[i].reached, alone[i].reached);
            ulna_test_reach_errors(&t, &goals[i], many + 7 * i, &position, &rotation);
            assert_true(position <= 1e-6 && rotation <= 1e-6 && ulna_test_reach_inside(model, many + 7 * i));
        }
    }
    double again[COUNT * 7];
    int failed;
    goals[17].position[0] = (double)NAN;
    assert_int_equal(ulna_reach_solve_many(works, 2, COUNT, goals, seeds, again, together, &failed), ULNA_ERR_NUMBER);
    assert_int_equal(failed, 17);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < 7; j++) /* other neighbours in a vector may round differently */
            assert_true(i == 17 || fabs(again[7 * i + j] - many[7 * i + j]) < 1e-9);
    for (int w = 0; w < 3; w++)
        ulna_reach_work_destroy(works[w]);
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

static void paths(void **state)
{
    (void)state;
    enum { SAMPLES = 100 };
    ulna_model *model = sample("arm");
    ulna_reach_tip tip = tip_on(model, "flange");
    ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, NULL);
    ulna_reach_goal goals[SAMPLES];
    ulna_reach_result results[SAMPLES];
    double q[SAMPLES * 7], step[7], first[7], largest = 0;
    int jumps, missed;
    for (int i = 0; i < SAMPLES; i++)
        goals[i] = (ulna_reach_goal){{0.5, 0.2 - 0.4 * i / SAMPLES, 0.3}, {1, 0, 0, 0}};
    assert_int_equal(ulna_reach_path(t.work, SAMPLES, goals, NULL, NULL, q, results, &jumps, &missed), ULNA_OK);
    assert_true(jumps == 0 && missed == 0);
    for (int i = 1; i < SAMPLES; i++)
        for (int j = 0; j < 7; j++)
            largest = fmax(largest, fabs(q[7 * i + j] - q[7 * i + j - 7]));
    assert_true(largest < 0.1);
    memcpy(first, q, sizeof first);

    /* Slower than the path: late, but never a longer step. */
    for (int j = 0; j < 7; j++)
        step[j] = 0.3 * largest;
    assert_int_equal(ulna_reach_path(t.work, SAMPLES, goals, first, step, q, results, &jumps, &missed), ULNA_OK);
    assert_true(jumps == 0 && missed > 0 && missed < SAMPLES);
    for (int i = 0; i < SAMPLES; i++)
        for (int j = 0; j < 7; j++)
            assert_true(fabs(q[7 * i + j] - (i ? q[7 * i + j - 7] : first[j])) <= step[j] * (1 + 1e-12));
    step[3] = 0;
    assert_int_equal(ulna_reach_path(t.work, 1, goals, first, step, q, results, NULL, NULL), ULNA_ERR_ARGUMENT);
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

/* Fingers of a hand that is held are problems apart: the rest stays where it is. */
static void parts_are_apart(void **state)
{
    (void)state;
    ulna_model *model = sample("hand");
    static const char *const links[] = {"thumb_distal", "index_distal", "little_distal"};
    ulna_reach_tip tips[3];
    ulna_reach_options options = ulna_reach_options_default();
    unsigned char locked[64] = {0};
    int first, count = ulna_model_body_dofs(model, 0, &first), middle, nq = ulna_model_coordinate_count(model);
    for (int i = 0; i < 3; i++) {
        tips[i] = tip_on(model, links[i]);
        leave_free(&tips[i], "111000");
    }
    for (int j = first; j < first + count; j++)
        locked[j] = 1;
    ulna_model_body_dofs(model, ulna_model_find_body(model, "palm"), &first);
    count = ulna_model_body_dofs(model, ulna_model_find_body(model, "palm"), &first);
    for (int j = first; j < first + count; j++)
        locked[j] = 1;
    options.locked = locked;
    ulna_test_reach t = ulna_test_reach_make(model, 3, tips, &options);
    ulna_test_rng rng = ulna_test_rng_seed(8);
    ulna_model_body_coordinates(model, ulna_model_find_body(model, "middle_middle"), &middle);
    double truth[ULNA_TEST_REACH_Q], q[4 * ULNA_TEST_REACH_Q], position, rotation;
    for (int i = 0; i < 200; i++) {
        ulna_reach_goal goals[3];
        ulna_reach_result result[4];
        ulna_reach_error errors[3];
        ulna_test_reach_q(&rng, model, truth);
        memcpy(q, ulna_model_rest(model), (size_t)nq * sizeof *q);
        for (int body = 2; body < ulna_model_body_count(model); body++) { /* the fingers alone */
            int at, n = ulna_model_body_coordinates(model, body, &at);
            memcpy(q + at, truth + at, (size_t)n * sizeof *q);
        }
        ulna_test_reach_goals(&t, q, goals);
        assert_int_equal(ulna_reach_solve(t.work, goals, NULL, q, &result[0]), ULNA_OK);
        ulna_test_reach_errors(&t, goals, q, &position, &rotation);
        assert_true(result[0].reached && position <= 1e-6 && ulna_test_reach_inside(model, q));
        assert_true(q[middle] == ulna_model_rest(model)[middle]);
        assert_int_equal(ulna_reach_measure(t.work, goals, q, errors), ULNA_OK);
        assert_true(errors[0].within && errors[1].within && errors[2].within);
        goals[1].position[2] += 5; /* one out of reach: the others are reached all the same */
        assert_int_equal(ulna_reach_solve(t.work, goals, NULL, q, &result[0]), ULNA_OK);
        assert_true(!result[0].reached && result[0].worst == 1);
        assert_int_equal(ulna_reach_measure(t.work, goals, q, errors), ULNA_OK);
        assert_true(errors[0].within && !errors[1].within && errors[2].within);
        goals[1].position[2] -= 5;
        assert_int_equal(ulna_reach_all(t.work, goals, NULL, 4, q, result, &count), ULNA_OK);
        assert_true(count >= 1);
        for (int k = 0; k < count; k++) {
            ulna_test_reach_errors(&t, goals, q + (size_t)k * (size_t)nq, &position, &rotation);
            assert_true(result[k].reached && position <= 1e-6);
            assert_true(k == 0 || result[k].distance >= result[k - 1].distance);
        }
    }
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

/* ---- constraints ----------------------------------------------------------------------------------------------------------------- */

static void constraints_are_kept(void **state)
{
    (void)state;
    ulna_model *model = sample("arm");
    ulna_reach_tip tip = tip_on(model, "flange");
    leave_free(&tip, "111000");
    ulna_constraint wall = {.type = ULNA_KEEP_PLANE,
                            .relation = ULNA_AT_LEAST,
                            .body = ulna_model_find_body(model, "elbow"),
                            .goal = {0, 0.05, 0, 0, 1, 0}}; /* the elbow stays on one side */
    ulna_reach_options options = ulna_reach_options_default();
    options.constraints = &wall;
    options.constraint_count = 1;
    ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, &options);
    ulna_reach_goal goal = {{0.4, -0.2, 0.5}, {0, 0, 0, 1}};
    ulna_reach_result result;
    double q[7], place[3];
    assert_int_equal(ulna_reach_solve(t.work, &goal, NULL, q, &result), ULNA_OK);
    assert_true(result.reached);
    assert_int_equal(ulna_pose_forward(t.pose, q), ULNA_OK);
    ulna_pose_body(t.pose, wall.body, place, NULL);
    assert_true(place[1] >= 0.05 - 2e-6);
    ulna_test_reach_release(&t);

    ulna_reach *reach;
    ulna_error error;
    wall.level = 1;
    assert_int_equal(ulna_reach_create(model, 1, &tip, &options, NULL, &reach, &error), ULNA_ERR_UNSUPPORTED);
    ulna_model_destroy(model);
}

/* ---- hostile arguments ------------------------------------------------------------------------------------------------------------- */

static void refused(const ulna_model *model, int count, const ulna_reach_tip *tips, const ulna_reach_options *options,
                    const char *says)
{
    ulna_reach *reach = (ulna_reach *)&count;
    ulna_error error;
    ulna_error_clear(&error);
    assert_int_not_equal(ulna_reach_create(model, count, tips, options, NULL, &reach, &error), ULNA_OK);
    assert_null(reach);
    if (!strstr(error.message, says))
        fail_msg("'%s' does not say '%s'", error.message, says);
}

static void bad_arguments(void **state)
{
    (void)state;
    ulna_model *model = sample("arm");
    ulna_reach_tip good = tip_on(model, "flange"), tip = good;
    ulna_reach_options options = ulna_reach_options_default();
    double limits[7] = {9, 9, 9, 9, 9, 9, 9}, nan7[7] = {(double)NAN};
    refused(model, 0, &good, NULL, "0 tips");
    refused(NULL, 1, &good, NULL, "needs a model");
    tip.body = 99;
    refused(model, 1, &tip, NULL, "no body 99");
    tip = good;
    tip.relative_to = 99;
    refused(model, 1, &tip, NULL, "no body 99");
    tip = good;
    tip.relative_to = tip.body;
    refused(model, 1, &tip, NULL, "no joint is between");
    tip = good;
    tip.rotation[3] = 0;
    refused(model, 1, &tip, NULL, "unit quaternion");
    tip = good;
    tip.weight[2] = -1;
    refused(model, 1, &tip, NULL, "weight 2");
    tip = good;
    memset(tip.weight, 0, sizeof tip.weight);
    refused(model, 1, &tip, NULL, "all axes are free");
    tip = good;
    tip.tolerance[5] = 0;
    refused(model, 1, &tip, NULL, "tolerance 5");
    tip = good;
    tip.point[0] = (double)INFINITY;
    refused(model, 1, &tip, NULL, "not finite");
    options.lower = limits;
    refused(model, 1, &good, &options, "not a valid range");
    options = ulna_reach_options_default();
    options.mode = (ulna_reach_mode)7;
    refused(model, 1, &good, &options, "mode 7");
    options = ulna_reach_options_default();
    options.posture = nan7;
    refused(model, 1, &good, &options, "posture");
    options = ulna_reach_options_default();
    options.seconds = (double)NAN;
    refused(model, 1, &good, &options, "seconds");
    options = ulna_reach_options_default();
    options.constraint_count = 2;
    refused(model, 1, &good, &options, "no list");

    ulna_test_reach t = ulna_test_reach_make(model, 1, &good, NULL);
    ulna_reach_goal goal = {{0.4, 0.2, 0.5}, {0, 0, 0, 1}}, bad;
    ulna_reach_result result = {.iterations = -5};
    double q[7] = {1, 2, 3, 4, 5, 6, 7};
    const double bads[] = {(double)NAN, (double)INFINITY, 1e300};
    for (int i = 0; i < 3; i++) {
        bad = goal;
        bad.position[1] = bads[i];
        assert_int_equal(ulna_reach_solve(t.work, &bad, NULL, q, &result), ULNA_ERR_NUMBER);
        bad = goal;
        bad.rotation[1] = i < 2 ? bads[i] : 0;
        if (i == 2)
            memset(bad.rotation, 0, sizeof bad.rotation);
        assert_int_equal(ulna_reach_solve(t.work, &bad, NULL, q, &result), ULNA_ERR_NUMBER);
    }
    assert_int_equal(ulna_reach_solve(t.work, &goal, nan7, q, &result), ULNA_ERR_NUMBER);
    assert_true(q[0] == 1 && q[6] == 7 && result.iterations == -5); /* unchanged */
    assert_int_equal(ulna_reach_solve(NULL, &goal, NULL, q, &result), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_reach_solve(t.work, NULL, NULL, q, &result), ULNA_ERR_ARGUMENT);
    double huge[7] = {1e9, -1e9, 1e9, -1e9, 1e9, -1e9, 1e9}; /* moved into the limits */
    assert_int_equal(ulna_reach_solve(t.work, &goal, huge, q, &result), ULNA_OK);
    assert_true(ulna_test_reach_inside(model, q));
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

static void a_budget_of_time_ends_a_search(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_reach_tip tip = tip_on(model, "left_hand");
    ulna_reach_options options = ulna_reach_options_default();
    options.seconds = 1e-6;
    options.restarts = 1000000;
    ulna_test_reach t = ulna_test_reach_make(model, 1, &tip, &options);
    ulna_reach_goal goal = {{0.1, 300, 0.1}, {0, 0, 0, 1}};
    ulna_reach_result result;
    double q[ULNA_TEST_REACH_Q];
    ulna_reach_tip far = tip;
    (void)far;
    assert_int_equal(ulna_reach_solve(t.work, &goal, NULL, q, &result), ULNA_OK);
    assert_true(result.out_of_time || result.reached);
    assert_true(ulna_test_reach_inside(model, q));
    ulna_test_reach_release(&t);
    ulna_model_destroy(model);
}

static void allocation_may_fail(void **state)
{
    (void)state;
    ulna_model *model = sample("hand");
    ulna_reach_tip tips[2] = {tip_on(model, "thumb_distal"), tip_on(model, "index_distal")};
    unsigned char locked[64] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int parts = 0; parts < 2; parts++) {
        ulna_reach_options options = ulna_reach_options_default();
        options.locked = parts ? locked : NULL;
        for (long fail = 0;; fail++) {
            ulna_test_memory memory = {.fail_at = fail};
            ulna_allocator allocator = ulna_test_allocator(&memory);
            ulna_reach *reach = NULL;
            ulna_reach_work *work = NULL;
            ulna_error error;
            ulna_status status = ulna_reach_create(model, 2, tips, &options, &allocator, &reach, &error);
            if (status == ULNA_OK)
                status = ulna_reach_work_create(reach, &allocator, &work, &error);
            ulna_reach_work_destroy(work);
            ulna_reach_destroy(reach);
            ulna_test_memory_check(&memory);
            if (!memory.failed)
                break;
            assert_int_equal(status, ULNA_ERR_MEMORY);
        }
    }
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_arm),
        cmocka_unit_test(partial_goals),
        cmocka_unit_test(two_hands_and_a_foot),
        cmocka_unit_test(two_arms_on_a_torso),
        cmocka_unit_test(five_fingertips),
        cmocka_unit_test(prismatic_joints),
        cmocka_unit_test(relative_goals),
        cmocka_unit_test(mixed_goals),
        cmocka_unit_test(singular_and_at_limits),
        cmocka_unit_test(out_of_reach),
        cmocka_unit_test(whole_turns_go_to_the_seed),
        cmocka_unit_test(nearest_is_not_farther),
        cmocka_unit_test(posture_in_the_null_space),
        cmocka_unit_test(locked_and_weighted_joints),
        cmocka_unit_test(weak_joints_move_less),
        cmocka_unit_test(weak_joints_on_paths),
        cmocka_unit_test(ratios_of_strengths),
        cmocka_unit_test(several_solutions),
        cmocka_unit_test(many_are_as_one_by_one),
        cmocka_unit_test(paths),
        cmocka_unit_test(parts_are_apart),
        cmocka_unit_test(constraints_are_kept),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(a_budget_of_time_ends_a_search),
        cmocka_unit_test(allocation_may_fail),
    };
    return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
