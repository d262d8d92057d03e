/*
 * serial.h (private): goals for the tip of a serial chain of revolute and prismatic joints, in about a microsecond.
 *
 * A chain is built once from a model, a base and a tip. It is constant: any number of threads may solve with it. A solve
 * allocates nothing, reads no clock and gives the same result for the same input.
 *
 * Coordinates q are those of the chain, n of them, from base to tip, in radians and metres; `ulna_serial_coordinates` says
 * which coordinates of the model they are. No solver returns a q outside the limits, and `reached` is only 1 if the goal
 * is met within its tolerances at q.
 *
 * The iteration is damped least squares on the pose, four or eight candidates at once, one in each lane of a vector
 * (serial_kernel.inc). Candidates come from a table of low-discrepancy samples of the inner joints: the first and the last
 * joint are found in closed form (serial_table.c). What is done with candidates is in serial_solve.c, serial_nearest.c,
 * serial_closest.c and serial_batch.c.
 */
#ifndef ULNA_REACH_SERIAL_H
#define ULNA_REACH_SERIAL_H

#include "ulna/model.h"

#define ULNA_SERIAL_MAX 12 /* joints */

typedef struct ulna_serial ulna_serial;

/* What must be met at the tip. */
typedef enum ulna_serial_aim {
    ULNA_SERIAL_POSE = 0,    /* position and rotation */
    ULNA_SERIAL_SPIN,        /* position, and rotation but for a free spin about `axis` */
    ULNA_SERIAL_POSITION,    /* position alone */
    ULNA_SERIAL_ORIENTATION, /* rotation alone */
} ulna_serial_aim;

typedef struct ulna_serial_goal {
    ulna_serial_aim aim;
    double position[3]; /* where `point` must be, in the frame of the base (of the world, if there is no base) */
    double rotation[9]; /* of the tip in the same frame, row by row */
    double point[3];    /* in the tip's frame */
    double axis[3];     /* ULNA_SERIAL_SPIN: the free axis in the tip's frame, of length 1 */
    double position_tolerance, rotation_tolerance; /* metres and radians, > 0 */
} ulna_serial_goal;

/* A pose of the tip's origin with tolerances of 1e-6 m and 1e-6 rad. */
ulna_serial_goal ulna_serial_goal_pose(const double position[3], const double rotation[9]);

typedef struct ulna_serial_result {
    int reached;
    int starts;     /* starting points tried, those of one vector counted as one */
    int iterations; /* steps of one vector of candidates */
    /* Of any, near and many, if reached: how far the tip at q is from the goal, as by ulna_serial_error; metres and radians. */
    double position_error, rotation_error;
} ulna_serial_result;

/*
 * The chain from `base` (a body, or ULNA_NONE for the world) to `tip`. The base need not be an ancestor of the tip.
 * Limits are `lower` and `upper`, one for each DOF of the model; NULL: the model's own. A joint whose limits are equal is fixed.
 * ULNA_ERR_UNSUPPORTED if a joint on the way has a quaternion, a rotation vector or a swing, or if there are no joints or
 * more than ULNA_SERIAL_MAX. Takes about a millisecond.
 */
ulna_status ulna_serial_create(const ulna_model *model, int base, int tip, const double *lower, const double *upper,
                               const ulna_allocator *allocator, ulna_serial **chain, ulna_error *error);
void ulna_serial_destroy(ulna_serial *chain);

int ulna_serial_count(const ulna_serial *chain);              /* n */
const int *ulna_serial_coordinates(const ulna_serial *chain); /* n: the model's coordinate of each */
const int *ulna_serial_dofs(const ulna_serial *chain);        /* n */
const double *ulna_serial_lower(const ulna_serial *chain);    /* n; -INFINITY if none */
const double *ulna_serial_upper(const ulna_serial *chain);    /* n */

/* How far the tip at q is from the goal: metres, and radians. By forward kinematics. */
void ulna_serial_error(const ulna_serial *chain, const ulna_serial_goal *goal, const double *q, double *position,
                       double *rotation);

/* Any solution. Joints that can make a whole turn come out as near to `seed` as the limits allow. If none is found, q is the
 * seed, moved into the limits. */
ulna_serial_result ulna_serial_solve_any(const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                                         double *q);
/* The solution to which the iteration goes from the seed; if there is none, one near the seed; if there is none, any.
 * For goals that move a little from call to call. */
ulna_serial_result ulna_serial_solve_near(const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                                          double *q);

/* A distance between coordinates: of weight * difference, in radians and metres. */
typedef struct ulna_serial_norm {
    double weight[ULNA_SERIAL_MAX]; /* n, >= 0 */
    int is_largest;                 /* 1: the largest; 0: the root of the sum of squares */
} ulna_serial_norm;

double ulna_serial_distance(const ulna_serial *chain, const ulna_serial_norm *norm, const double *a, const double *b);

/* How many curves of solutions are followed, and in what steps, where solutions form curves: FINE is for comparisons. */
typedef enum ulna_serial_effort { ULNA_SERIAL_QUICK = 0, ULNA_SERIAL_THOROUGH, ULNA_SERIAL_FINE } ulna_serial_effort;

/* Of all solutions that are found the one nearest to the seed. norm NULL: weights of 1, sum of squares. */
ulna_serial_result ulna_serial_solve_nearest(const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                                             const ulna_serial_norm *norm, ulna_serial_effort effort, double *q);

/* The solution to which `start` leads, and of its neighbourhood the one nearest to the seed. q is untouched if it leads to none. */
ulna_serial_result ulna_serial_solve_from(const ulna_serial *chain, const ulna_serial_goal *goal, const double *start,
                                          const double *seed, const ulna_serial_norm *norm, double *q);

/* The configuration inside the limits with the least sum of squares of position error and rotation_length * 2 sin(angle / 2), the
 * rotation error, of 16 starts and the seed. For goals that are out of reach. */
ulna_serial_result ulna_serial_solve_closest(const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                                             double rotation_length, double *q);

#define ULNA_SERIAL_ALL 32

/* Several solutions, nearest first, at most `capacity` and ULNA_SERIAL_ALL; returns how many were found. They differ by more than 0.1
 * in some joint (radians, or lengths of the chain). A redundant chain gives the nearest of each neighbourhood. */
int ulna_serial_solve_all(const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                          const ulna_serial_norm *norm, int capacity, double (*q)[ULNA_SERIAL_MAX],
                          ulna_serial_result *result);

/* `count` goals, all of one aim, point, axis and tolerances, in vector lanes: as by ulna_serial_solve_near, or by ulna_serial_solve_any.
 * seeds and q: count x n. */
void ulna_serial_solve_many(const ulna_serial *chain, int is_near, int count, const ulna_serial_goal *goals,
                            const double *seeds, double *q, ulna_serial_result *results);

#endif
