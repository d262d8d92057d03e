/* support_serial.h: chains of src/reach, goals and seeds for them, and a check of answers by the library's own forward kinematics. */
#ifndef ULNA_TESTS_SUPPORT_SERIAL_H
#define ULNA_TESTS_SUPPORT_SERIAL_H

#include "reach/serial_kernel.h"
#include "support_robots.h"
#include "ulna/kinematics.h"

enum { ULNA_TEST_SERIAL_KERNELS = 4 };
extern const char *const ulna_test_serial_kernels[ULNA_TEST_SERIAL_KERNELS]; /* names */

/* A model, its pose and the chain from a base to a tip. */
typedef struct ulna_test_serial {
    ulna_model *model;
    ulna_pose *pose;
    ulna_serial *chain;
    int n, base, tip;
    double q[32]; /* of the model */
} ulna_test_serial;

/* Takes the model; fails the test if the chain cannot be made. `kernel` NULL: the fastest. */
ulna_test_serial ulna_test_serial_make(ulna_model *model, int base, int tip, const char *kernel);
/* From the world to the robot's tool. */
ulna_test_serial ulna_test_serial_robot(const ulna_test_robot *robot, const char *kernel);
void ulna_test_serial_release(ulna_test_serial *s);

/* Position of a point of the tip and its rotation, in the base's frame, by ulna_pose. */
void ulna_test_serial_place(ulna_test_serial *s, const double *q, const double point[3], double position[3],
                            double rotation[9]);
/* The pose that q reaches. */
ulna_serial_goal ulna_test_serial_goal_at(ulna_test_serial *s, const double *q);
/* A goal that q reaches, but for a whole pose of a random point, and with a random axis. */
ulna_serial_goal ulna_test_serial_goal(ulna_test_serial *s, ulna_test_rng *rng, ulna_serial_aim aim, const double *q);
/* How far the tip at q is from the goal, by ulna_pose. */
void ulna_test_serial_errors(ulna_test_serial *s, const ulna_serial_goal *goal, const double *q, double *position,
                             double *rotation);
/* Fails the test unless q is inside the limits and meets the goal within its tolerances. */
void ulna_test_serial_assert_solution(ulna_test_serial *s, const ulna_serial_goal *goal, const double *q);

/* Inside the limits: uniform, and with a deviation of 0.1 from q. */
void ulna_test_serial_q(const ulna_test_serial *s, ulna_test_rng *rng, double *q);
void ulna_test_serial_near(const ulna_test_serial *s, ulna_test_rng *rng, const double *q, double *seed);

#endif
