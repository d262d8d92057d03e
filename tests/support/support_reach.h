/* support_reach.h: tips on models, random configurations inside the limits, and a check of answers that does not use src/reach. */
#ifndef ULNA_TESTS_SUPPORT_REACH_H
#define ULNA_TESTS_SUPPORT_REACH_H

#include "support.h"
#include "ulna/reach.h"

enum { ULNA_TEST_REACH_Q = 128, ULNA_TEST_REACH_TIPS = 8 };

/* A reach with one work, and a pose for the checks. */
typedef struct ulna_test_reach {
    const ulna_model *model;
    int nq, nv, tip_count;
    ulna_reach_tip tip[ULNA_TEST_REACH_TIPS];
    ulna_reach *reach;
    ulna_reach_work *work;
    ulna_pose *pose;
} ulna_test_reach;

/* Fails the test if it cannot be made. `options` may be NULL. */
ulna_test_reach ulna_test_reach_make(const ulna_model *model, int tip_count, const ulna_reach_tip *tips,
                                     const ulna_reach_options *options);
void ulna_test_reach_release(ulna_test_reach *reach);

/* A configuration inside the limits: uniform; a turn to either side of rest where there are none, 0.5 m for translations. */
void ulna_test_reach_q(ulna_test_rng *rng, const ulna_model *model, double *q);
/* The goals that q reaches, by ulna_pose. */
void ulna_test_reach_goals(const ulna_test_reach *reach, const double *q, ulna_reach_goal *goals);
/* Largest distance and angle between the tips at q and their goals, of those whose axes all count; by quaternions of ulna_pose. */
void ulna_test_reach_errors(const ulna_test_reach *reach, const ulna_reach_goal *goals, const double *q,
                            double *position, double *rotation);
/* Is q inside the limits of the model? */
int ulna_test_reach_inside(const ulna_model *model, const double *q);

#endif
