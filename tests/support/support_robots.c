/* Serial robots: parameters from their data sheets. */
#include "support_robots.h"

#include "math/math3.h"
#include "support_model.h"

#include <math.h>

#define PI ULNA_PI
#define H (0.5 * ULNA_PI)
#define DEGREES (ULNA_PI / 180)

// clang-format off
#define KR6 {0, 0.025, -H, 0.183, 0, -170 * DEGREES, 170 * DEGREES}, {0, -0.315, 0, 0, 0, -190 * DEGREES, 45 * DEGREES}
#define PANDA \
    {0, 0, -H, 0.333, 0, -2.8973, 2.8973}, {0, 0, H, 0, 0, -1.7628, 1.7628}, {0, 0.0825, H, 0.316, 0, -2.8973, 2.8973}, \
    {0, -0.0825, -H, 0, 0, -3.0718, -0.0698}, {0, 0, H, 0.384, 0, -2.8973, 2.8973}, {0, 0.088, H, 0, 0, -0.0175, 3.7525}, \
    {0, 0, 0, 0.107, 0, -2.8973, 2.8973}
#define UR5 \
    {0, 0, H, 0.089159, 0, -2 * PI, 2 * PI}, {0, -0.425, 0, 0, 0, -2 * PI, 2 * PI}, {0, -0.39225, 0, 0, 0, -PI, PI}, \
    {0, 0, H, 0.10915, 0, -2 * PI, 2 * PI}, {0, 0, -H, 0.09465, 0, -2 * PI, 2 * PI}, {0, 0, 0, 0.0823, 0, -2 * PI, 2 * PI}
#define KR6_ELBOW {0, -0.035, H, 0, 0, -120 * DEGREES, 156 * DEGREES}
#define KR6_WRIST {0, 0, -H, 0.365, 0, -185 * DEGREES, 185 * DEGREES}, {0, 0, H, 0, 0, -120 * DEGREES, 120 * DEGREES}

const ulna_test_robot ulna_test_robots[] = {
    {"KR6", 6, {KR6, KR6_ELBOW, KR6_WRIST, {0, 0, 0, 0.08, 0, -350 * DEGREES, 350 * DEGREES}}},
    {"iiwa7", 7, {{0, 0, -H, 0.34, 0, -170 * DEGREES, 170 * DEGREES}, {0, 0, H, 0, 0, -120 * DEGREES, 120 * DEGREES},
                  {0, 0, H, 0.4, 0, -170 * DEGREES, 170 * DEGREES}, {0, 0, -H, 0, 0, -120 * DEGREES, 120 * DEGREES},
                  {0, 0, -H, 0.4, 0, -170 * DEGREES, 170 * DEGREES}, {0, 0, H, 0, 0, -120 * DEGREES, 120 * DEGREES},
                  {0, 0, 0, 0.126, 0, -175 * DEGREES, 175 * DEGREES}}},
    {"Panda", 7, {PANDA}},
    {"UR5", 6, {UR5}},
    {"SCARA", 4, {{0, 0.35, 0, 0.3, 0, -2.4, 2.4}, {0, 0.3, PI, 0, 0, -2.6, 2.6}, {1, 0, 0, 0, 0, 0, 0.4},
                  {0, 0, 0, 0.05, 0, -6.2, 6.2}}},
    {"cylindrical", 6, {{0, 0, 0, 0.2, 0, -2.8, 2.8}, {1, 0, -H, 0.2, 0, 0, 0.8}, {1, 0, 0, 0.2, 0, 0, 0.7},
                        {0, 0, -H, 0, 0, -3, 3}, {0, 0, H, 0, 0, -2, 2}, {0, 0, 0, 0.1, 0, -3, 3}}},
    {"Stanford", 6, {{0, 0, -H, 0.4, 0, -2.8, 2.8}, {0, 0, H, 0.15, 0, -2.2, 2.2}, {1, 0, 0, 0.3, 0, 0, 0.6},
                     {0, 0, -H, 0, 0, -3, 3}, {0, 0, H, 0, 0, -1.9, 1.9}, {0, 0, 0, 0.1, 0, -3, 3}}},
    {"gantry", 6, {{1, 0, -H, 0, -H, 0, 2}, {1, 0, -H, 0, -H, 0, 1.5}, {1, 0, 0, 0, 0, 0, 0.8},
                   {0, 0, -H, 0.1, 0, -3, 3}, {0, 0, H, 0, 0, -1.9, 1.9}, {0, 0, 0, 0.1, 0, -3, 3}}},
    {"Panda on a rail", 8, {{1, 0, H, 0, 0, -1.5, 1.5}, PANDA}},
    {"UR5 on a rail", 7, {{1, 0, H, 0, 0, -1.5, 1.5}, UR5}},
    {"RRRRRP", 6, {KR6, KR6_ELBOW, KR6_WRIST, {1, 0, 0, 0.05, 0, 0, 0.3}}},
    {"RRRRRRP", 7, {KR6, {0, 0.1, H, 0.1, 0, -2.5, 2.5}, KR6_ELBOW, KR6_WRIST, {1, 0, 0, 0.05, 0, 0, 0.3}}},
};
// clang-format on
const int ulna_test_robot_count = sizeof ulna_test_robots / sizeof ulna_test_robots[0];

ulna_test_robot ulna_test_random_robot(ulna_test_rng *rng, int joints, double prismatic)
{
    ulna_test_robot robot = {.name = "random", .joints = joints};
    for (int i = 0; i < joints; i++) {
        robot.joint[i].slides = ulna_test_rng_uniform(rng, 0, 1) < prismatic;
        robot.joint[i].a = ulna_test_rng_uniform(rng, -0.3, 0.3);
        robot.joint[i].alpha = ulna_test_rng_uniform(rng, -1.5, 1.5);
        robot.joint[i].d = ulna_test_rng_uniform(rng, -0.3, 0.3);
        robot.joint[i].theta = ulna_test_rng_uniform(rng, -1.5, 1.5);
        robot.joint[i].lower = robot.joint[i].slides ? 0 : -2.6;
        robot.joint[i].upper = robot.joint[i].slides ? 0.4 : 2.6;
    }
    return robot;
}

ulna_model *ulna_test_robot_model(const ulna_test_robot *robot)
{
    ulna_builder *builder = ulna_test_builder();
    ulna_error error;
    double rotation[9], position[3] = {0};
    ulna_identity9(rotation);
    int body = ULNA_NONE;
    for (int i = 0; i <= robot->joints; i++) {
        char name[16];
        snprintf(name, sizeof name, i < robot->joints ? "link%d" : "tool", i);
        body = ulna_test_add(builder, name, body);
        assert_int_equal(ulna_builder_set_placement(builder, body, position, rotation, &error), ULNA_OK);
        if (i == robot->joints)
            break;
        ulna_test_set_joint(builder, body,
                            robot->joint[i].slides ? ulna_joint_prismatic(0, 0, 1) : ulna_joint_revolute(0, 0, 1));
        assert_int_equal(
            ulna_builder_set_limits(builder, body, 0, robot->joint[i].lower, robot->joint[i].upper, &error), ULNA_OK);
        double turn[9], tilt[9];
        ulna_rotation_about(2, robot->joint[i].theta, turn);
        ulna_rotation_about(0, robot->joint[i].alpha, tilt);
        ulna_multiply9(turn, tilt, rotation);
        position[0] = robot->joint[i].a * cos(robot->joint[i].theta);
        position[1] = robot->joint[i].a * sin(robot->joint[i].theta);
        position[2] = robot->joint[i].d;
    }
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    return model;
}
