/*
 * reach_peers.h: what bench_reach compares the reach solver with.
 *
 * Orocos KDL reads the URDF by urdfdom, not by us, and multiplies its own chains: it also checks our forward kinematics. The
 * yardstick is a prototype outside of this repository; where it is missing, its rows are left out.
 */
#ifndef ULNA_BENCH_REACH_PEERS_H
#define ULNA_BENCH_REACH_PEERS_H

#include <stdint.h>

#include "support.h"
#include "ulna/reach.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the robots, and problems of the standard test ------------------------------------------------------------------- */

typedef struct reach_robot {
    const char *name, *file; /* in the folder of recorded data; NULL: the built-in skeleton of that name */
    const char *tip;         /* link */
} reach_robot;
/* The robots whose files are there (docs/test-data.md); without any, the built-in arm. Says which. At least one. */
const reach_robot *reach_robots(int *count);
ulna_model *reach_robot_load(const reach_robot *robot); /* NULL if it cannot be read */

/* N poses by forward kinematics of uniform joint values inside the limits (a turn where there are none), and a start for each:
 * uniform as well, or near, the true values + N(0, 0.1) clamped to the limits. */
typedef struct reach_problems {
    int count, nq;
    double *q, *start;                     /* count x nq */
    double (*position)[3], (*rotation)[9]; /* of the tip; rotations row by row */
} reach_problems;

int reach_problems_make(const ulna_model *model, int tip, int count, int is_near, uint64_t seed, reach_problems *made);
void reach_problems_release(reach_problems *problems);
/* The same pose as a goal of our solver. */
ulna_reach_goal reach_goal_of(const double position[3], const double rotation[9]);
/* Metres and radians between a pose and the goal. */
void reach_pose_error(const double position[3], const double rotation[9], const double goal_position[3],
                      const double goal_rotation[9], double *metres, double *radians);

/* ---- contests: rows of the report ------------------------------------------------------------------------------------- */

/* For each robot: any solution from random starts and near ones (any_*, near_*: success in %, mean, median and 99th percentile in us, jumps),
 * batches (batch_*), the share of nearest solutions that are the nearest of 2000 starts, slid, and of all curves (nearest_*), several solutions (all_*). */
void reach_standard(bench_report *report, int count);
/* For each robot: forward kinematics against KDL's (fk_minus_kdl_*, m), then the same problems by our solver and by KDL's, a block of each in turn:
 * success in %, mean microseconds, and the ratio (kdl_over_ulna_*; kdl_over_ulna for all robots together). Nothing without KDL. Returns 0 if a frame differs. */
int reach_contest_kdl(bench_report *report, int count);
/* For each robot of the prototypes, built from their own table of axes: our time over theirs, on the same problems in turns:
 * any_over_yardstick_*, near_over_yardstick_*, and for the solution nearest to the start, from near ones and from random ones,
 * nearest_over_yardstick_* and nearest_random_over_yardstick_*. Nothing without the prototypes. */
void reach_contest_yardstick(bench_report *report, int count);

/* ---- Orocos KDL: peers_kdl.cc ----------------------------------------------------------------------------------------- */

typedef struct peer_kdl peer_kdl;
typedef enum peer_kdl_method { PEER_KDL_LMA = 0, PEER_KDL_NR_JL } peer_kdl_method;

/* The chain from the root of the robot to a link; NULL if there is none. */
peer_kdl *peer_kdl_open(const char *path, const char *tip);
void peer_kdl_close(peer_kdl *kdl);
int peer_kdl_joint_count(const peer_kdl *kdl); /* that move */
const char *peer_kdl_joint_name(const peer_kdl *kdl, int joint);
void peer_kdl_set_limits(peer_kdl *kdl, const double *lower, const double *upper);
void peer_kdl_forward(peer_kdl *kdl, const double *q, double position[3], double rotation[9]);
/* From the start, then from random values inside the limits, at most 100 of these, until the pose is met to 1e-6 m and 1e-6 rad inside
 * the limits. Returns the number of starts; 0 if none did. */
int peer_kdl_solve(peer_kdl *kdl, peer_kdl_method method, const double position[3], const double rotation[9],
                   const double *start, uint64_t *random, double *q);

#ifdef __cplusplus
}
#endif
#endif
