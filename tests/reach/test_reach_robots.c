/* Robots by their data sheets and robots of URDF files: random goals, all reached, and every success checked by forward kinematics. */
#include "math/math3.h"
#include "support_reach.h"
#include "support_robots.h"
#include "ulna/formats.h"

#include <math.h>
#include <string.h>

enum { GOALS = 10000 };

typedef struct robot {
    const char *file;
    int tip_count;
    const char *links[5], *axes; /* axes: six digits, 0 is free */
    const char *relative_to;     /* of the last tip, or NULL */
} robot;

static const robot robots[] = {
    {"panda.urdf", 1, {"panda_hand"}, "111111", NULL},
    {"panda.urdf", 2, {"panda_hand", "panda_leftfinger"}, "111000", NULL}, /* mimic joints behind the arm */
    {"kuka_iiwa_bullet.urdf", 1, {"lbr_iiwa_link_7"}, "111111", NULL},
    {"ur5_robot.urdf", 1, {"ee_link"}, "111111", NULL},
    {"kinova_jaco.urdf", 1, {"j2s6s200_end_effector"}, "111111", NULL},
    {"stretch_SE3.urdf", 1, {"link_gripper_s3_body"}, "111111", NULL}, /* prismatic joints */
    {"double_pendulum_continuous.urdf", 1, {NULL}, "111111", NULL},    /* its only end */
    {"unitree_g1_29dof.urdf", 2, {"left_wrist_yaw_link", "right_wrist_yaw_link"}, "111111", NULL},
    {"unitree_g1_29dof.urdf",
     3,
     {"left_wrist_yaw_link", "right_wrist_yaw_link", "left_ankle_roll_link"},
     "111111",
     NULL},
    {"unitree_g1_29dof.urdf", 1, {"left_wrist_yaw_link"}, "111111", "right_wrist_yaw_link"},
    {"nao.urdf", 2, {"l_wrist", "r_wrist"}, "111111", NULL},
    {"nao.urdf", 1, {"LFinger13_link"}, "111000", NULL}, /* a chain of mimic joints */
    {"allegro_right_hand.urdf", 4, {"link_3.0_tip", "link_7.0_tip", "link_11.0_tip", "link_15.0_tip"}, "111000", NULL},
};

static int only_end(const ulna_model *model)
{
    int end = ULNA_NONE;
    for (int b = 0; b < ulna_model_body_count(model); b++)
        if (ulna_model_subtree(model, b, NULL) == 1) {
            assert_int_equal(end, ULNA_NONE);
            end = b;
        }
    return end;
}

static void solve(const char *name, const ulna_model *model, int tip_count, const ulna_reach_tip *tips, int count)
{
    ulna_test_reach t = ulna_test_reach_make(model, tip_count, tips, NULL);
    ulna_test_rng rng = ulna_test_rng_seed(2026);
    int missed = 0;
    for (int i = 0; i < count; i++) {
        double truth[ULNA_TEST_REACH_Q], start[ULNA_TEST_REACH_Q], q[ULNA_TEST_REACH_Q], position, rotation;
        ulna_reach_goal goals[5];
        ulna_reach_result result;
        ulna_test_reach_q(&rng, model, truth);
        ulna_test_reach_q(&rng, model, start);
        ulna_model_couple(model, truth);
        ulna_test_reach_goals(&t, truth, goals);
        assert_int_equal(ulna_reach_solve(t.work, goals, start, q, &result), ULNA_OK);
        ulna_test_reach_errors(&t, goals, q, &position, &rotation);
        if (!ulna_test_reach_inside(model, q))
            fail_msg("%s: goal %d: outside the limits", name, i);
        if (result.reached != (position <= 1e-6 && rotation <= 1e-6))
            fail_msg("%s: goal %d: reached is %d, but off by %g m and %g rad", name, i, result.reached, position,
                     rotation);
        missed += !result.reached;
    }
    if (missed)
        fail_msg("%s, %d tips: %d of %d goals not reached", name, tip_count, missed, count);
    ulna_test_reach_release(&t);
}

static void solve_file(const robot *r)
{
    char folder[512], path[600];
    ulna_error error = {0};
    ulna_model *model;
    ulna_reach_tip tips[5];
    ulna_test_path(folder, sizeof folder, ulna_test_data_dir(), "urdf");
    if (ulna_model_load(ulna_test_path(path, sizeof path, folder, r->file), NULL, &model, &error))
        fail_msg("%s: %s", r->file, error.message);
    for (int i = 0; i < r->tip_count; i++) {
        int body = r->links[i] ? ulna_model_find_body(model, r->links[i]) : only_end(model);
        tips[i] = ulna_reach_tip_default(body);
        if (i == r->tip_count - 1 && r->relative_to)
            tips[i].relative_to = ulna_model_find_body(model, r->relative_to);
        for (int k = 0; k < 6; k++)
            tips[i].weight[k] = r->axes[k] - '0';
    }
    solve(r->file, model, r->tip_count, tips, GOALS);
    ulna_model_destroy(model);
}

static void robots_of_data_sheets(void **state)
{
    (void)state;
    for (int i = 0; i < ulna_test_robot_count; i++) {
        ulna_model *model = ulna_test_robot_model(&ulna_test_robots[i]);
        ulna_reach_tip tip = ulna_reach_tip_default(ulna_model_find_body(model, "tool"));
        solve(ulna_test_robots[i].name, model, 1, &tip, GOALS);
        ulna_model_destroy(model);
    }
}

static void robots_of_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof robots / sizeof *robots; i++)
        solve_file(&robots[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(robots_of_data_sheets),
        ulna_test_needs("urdf", cmocka_unit_test(robots_of_files)),
    };
    return cmocka_run_group_tests_name("reach_robots", tests, NULL, NULL);
}
