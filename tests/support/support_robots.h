/* support_robots.h: serial robots by their Denavit-Hartenberg parameters, known ones and random ones. */
#ifndef ULNA_TESTS_SUPPORT_ROBOTS_H
#define ULNA_TESTS_SUPPORT_ROBOTS_H

#include "ulna/model.h"

#include "support.h"

#define ULNA_TEST_ROBOT_JOINTS 12

typedef struct ulna_test_robot {
    const char *name;
    int joints;
    struct {
        int slides;                /* prismatic: its value is added to d */
        double a, alpha, d, theta; /* metres and radians */
        double lower, upper;
    } joint[ULNA_TEST_ROBOT_JOINTS];
} ulna_test_robot;

/* KUKA KR6 and iiwa 7, Franka Panda, UR5; SCARA, cylindrical, Stanford, gantry, a Panda and a UR5 on rails, and two arms whose last
 * joint is prismatic. */
extern const ulna_test_robot ulna_test_robots[];
extern const int ulna_test_robot_count;
enum { ULNA_TEST_ARMS = 4 }; /* the first ones, all revolute */

/* Limits of +-2.6 rad or 0 to 0.4 m, lengths up to 0.3 m; each joint is prismatic with the given probability. */
ulna_test_robot ulna_test_random_robot(ulna_test_rng *rng, int joints, double prismatic);

/* Bodies "link0" ... and last "tool", which is fixed to the last link. */
ulna_model *ulna_test_robot_model(const ulna_test_robot *robot);

#endif
