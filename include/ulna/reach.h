/*
 * ulna/reach.h: joint values that bring links of a robot to given poses, inside the joint limits.
 *
 * A tip is a frame on a link that is to reach a goal: a position, a rotation, both, or only some of their axes. An ulna_reach holds a
 * model, its tips and the options; it is made once, never changes, and may be shared by any number of threads. Each thread has an
 * ulna_reach_work, the memory of a solve. Then each solve takes goals and a seed, and allocates nothing.
 *
 *     ulna_reach_tip tip = ulna_reach_tip_default(ulna_model_find_body(model, "hand"));
 *     ulna_reach_goal goal = {{0.4, 0.1, 0.5}, {0, 0, 0, 1}};
 *     ulna_reach *reach;
 *     ulna_reach_work *at_work;
 *     ulna_reach_result result;
 *     ulna_reach_create(model, 1, &tip, NULL, NULL, &reach, &error);
 *     ulna_reach_work_create(reach, NULL, &at_work, &error);
 *     ulna_reach_solve(at_work, &goal, NULL, q, &result); // from rest; q: nq numbers
 *     if (!result.reached)
 *         printf("closest: %g m and %g rad away\n", result.position_error, result.rotation_error);
 *     ulna_reach_work_destroy(at_work);
 *     ulna_reach_destroy(reach);
 *
 * result.reached is 1 only if q is inside the limits and every tip is within its tolerances. A goal out of reach is no error: q is then
 * the closest configuration that was found, and `reached` is 0.
 *
 * One tip on a serial chain takes about a microsecond; several tips, trees, and what the fast solve of chains does not know take the
 * general solver (solve.h) on the whole tree. Both give the same kind of answer.
 *
 * The same input gives the same bits on the same machine, for every number of threads, unless a time limit (`seconds`) ends a solve.
 */
#ifndef ULNA_REACH_H
#define ULNA_REACH_H

#include <stdint.h>

#include "ulna/constraint.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tips and goals -------------------------------------------------------------------------------------------------- */

/*
 * The frame that is to reach a goal: `point` and `rotation` in the frame of `body`. The six axes of an error are those of the goal's
 * frame: along its x, y, z, then about its x, y, z. An axis of weight 0 is free. What the rotations are:
 *   none free      the rotation vector from the goal to the tip
 *   one free       the rotation that brings that axis of the tip onto the same axis of the goal: the tip may spin about it
 *   two free       the rotation about the third axis alone (the twist of a swing and a twist)
 * A tip has reached its goal if sqrt(sum (error / tolerance)^2) <= 1 over its position axes, and over its rotation axes. The solve may
 * stop as soon as that holds. Weights say what counts more where not all can be met.
 */
typedef struct ulna_reach_tip {
    int body;
    int relative_to; /* the link in whose frame goals are given; ULNA_NONE (not 0) is the world */
    double point[3];
    double rotation[4]; /* unit quaternion (x, y, z, w) */
    /* >= 0; not all 0. A rotation by one radian weighs as much as the model's length scale in metres, or as the longest `point` of a
     * tip if that is longer. */
    double weight[6];
    double tolerance[6]; /* > 0: metres, radians */
} ulna_reach_tip;

/* The frame of the body itself; goals in the world; all weights 1; tolerances 1e-6 m and 1e-6 rad. */
ULNA_API ulna_reach_tip ulna_reach_tip_default(int body);

/* Where a tip should be. The quaternion (x, y, z, w) may have any length but 0; it also gives the axes of a goal whose rotation is
 * free. */
typedef struct ulna_reach_goal {
    double position[3];
    double rotation[4];
} ulna_reach_goal;

/* ---- options ---------------------------------------------------------------------------------------------------------- */

typedef enum ulna_reach_mode {
    ULNA_REACH_ANY = 0, /* any solution, as soon as possible; if strengths differ, one for which weak DOFs move less */
    ULNA_REACH_NEAR,    /* the one that the seed leads to; another, near the seed if there is one, only if that fails */
    ULNA_REACH_NEAREST, /* of all solutions that are found the one nearest to the seed (see `distance`); takes longer */
    ULNA_REACH_MODE_COUNT
} ulna_reach_mode;

typedef enum ulna_reach_norm {
    ULNA_REACH_NORM_SQUARES = 0, /* root of the sum of squares */
    ULNA_REACH_NORM_LARGEST      /* the largest change of a joint */
} ulna_reach_norm;

/*
 * Arrays are copied. A change of a translation counts as metres / length scale of the model.
 *
 * Strengths: where the goals leave a choice, DOFs of small strength move less, in every mode. A change counts as change / strength: in the
 * distance of ULNA_REACH_NEAREST, of ulna_reach_all and of the posture, and in the steps from the seed. Only ratios count for what is
 * found; less than 1e-4 of the largest counts as that. Goals come first: some starts are made without strengths, and ULNA_REACH_NEAR
 * does not jump for their sake. A DOF that follows another one has the strength of that one.
 */
typedef struct ulna_reach_options {
    ulna_reach_mode mode;
    const double *lower, *upper; /* nv each: limits; +-INFINITY for none. NULL: those of the model */
    const unsigned char *locked; /* nv: non-zero keeps a DOF where the seed has it. NULL: none is locked */
    const double *strength;      /* nv, >= 0: how willingly each DOF moves (below); 0 locks it. NULL: the model's */
    const double *
        distance_weight; /* nv, >= 0: of the changes in the distance from the seed, which are divided by the strengths. NULL: 1 */
    ulna_reach_norm norm;  /* of that distance */
    const double *posture; /* nq: a configuration to be near to as far as the goals leave a choice. NULL: none. With
                                      ULNA_REACH_NEAREST it takes the place of the seed */
    int constraint_count;  /* what q must keep besides (constraint.h); only level 0 */
    const ulna_constraint *constraints; /* NULL if there are none */
    int iterations;                     /* limit for each start; 0: 60 */
    int restarts;                       /* further starts at most */
    double seconds; /* limit of a call; 0: none, and then no clock is looked at. It may end an iteration later */
    uint64_t seed;  /* chooses the starts of restarts */
    double jump;    /* radians: a joint that differs by more from the seed, whole turns not counted, has jumped */
} ulna_reach_options;

/* Any solution, the model's limits, no posture; 60 iterations, 100 restarts, no time limit, seed 1, jump 1 rad. */
ULNA_API ulna_reach_options ulna_reach_options_default(void);

/* ---- set-up ----------------------------------------------------------------------------------------------------------- */

typedef struct ulna_reach ulna_reach;
typedef struct ulna_reach_work ulna_reach_work;

/* Checks and prepares everything; for a serial chain this also fills tables, which takes about a millisecond. The model must outlive
 * it. `options` NULL: the default. Errors: no tip, an unknown body, weights or tolerances that mean nothing, limits the wrong way
 * round, a constraint of level 1 or above. */
ULNA_API ulna_status ulna_reach_create(const ulna_model *model, int tip_count, const ulna_reach_tip *tips,
                                       const ulna_reach_options *options, const ulna_allocator *allocator,
                                       ulna_reach **reach, ulna_error *error);
ULNA_API void ulna_reach_destroy(ulna_reach *reach); /* NULL is allowed */
/* "chain" if the fast solve of serial chains serves these tips and options, "tree" if the general solver does, "chain and tree" if tips
 * that share no joint are solved by one and the other. */
ULNA_API const char *ulna_reach_solver_name(const ulna_reach *reach);

/* One for each thread. The reach must outlive it. */
ULNA_API ulna_status ulna_reach_work_create(const ulna_reach *reach, const ulna_allocator *allocator,
                                            ulna_reach_work **work, ulna_error *error);
ULNA_API void ulna_reach_work_destroy(ulna_reach_work *work); /* NULL is allowed */

/* ---- solving ---------------------------------------------------------------------------------------------------------- */

/* Metres, radians: a constraint with no larger error is kept. */
#define ULNA_REACH_KEPT 1e-6

typedef struct ulna_reach_result {
    int reached; /* 1: inside the limits, all tips within tolerance, constraints kept. Shown by forward kinematics at q */
    double position_error; /* m: the largest of all tips, free axes not counted */
    double rotation_error; /* rad: likewise */
    int worst;             /* the tip that is farthest from its goal, in tolerances */
    int iterations;        /* in all starts */
    int restarts;          /* starts after the first */
    int at_limits;         /* DOFs on a limit */
    double distance;       /* of q from the seed, by options.norm, distance_weight and strength */
    int jumped;      /* 1: some rotation differs from the seed by more than options.jump, whole turns not counted */
    int out_of_time; /* 1: ended by options.seconds */
} ulna_reach_result;

/*
 * From `seed` (nq; coordinates outside their limits are first moved onto them; NULL: the model's rest) to q (nq; may be the seed
 * itself), for one goal per tip. Rotations that may turn by more than a whole turn come back as the representative nearest to the seed
 * inside the limits. `result` may be NULL. ULNA_ERR_NUMBER if a goal or the seed holds NaN or infinity, if a quaternion is zero, or if a
 * goal is farther away than 1e9 lengths of the model; q and `result` are then unchanged.
 */
ULNA_API ulna_status ulna_reach_solve(ulna_reach_work *work, const ulna_reach_goal *goals, const double *seed,
                                      double *q, ulna_reach_result *result);

/*
 * The same for `count` problems at once: goals count x tips, seeds and q count x nq, `results` count or NULL; `seeds` may be NULL: rest for all.
 * Chains go through vector lanes, several problems at a time. Each work is one thread; the answers do not depend on how many there are.
 * On ULNA_ERR_NUMBER the others are solved all the same; `failed` (may be NULL) receives the first problem that was not, or ULNA_NONE.
 */
ULNA_API ulna_status ulna_reach_solve_many(ulna_reach_work *const *works, int work_count, int count,
                                           const ulna_reach_goal *goals, const double *seeds, double *q,
                                           ulna_reach_result *results, int *failed);

/*
 * Several solutions, nearest to `seed` (NULL: rest) first: at most `capacity`, q capacity x nq, results capacity. They differ by more than 0.1 rad
 * in some joint. Where the robot can move with its tips at the goals, each is the nearest to the seed of its neighbourhood. `count`
 * receives how many were found; if none was, it is 0 and the first q and result are those of the closest configuration.
 */
ULNA_API ulna_status ulna_reach_all(ulna_reach_work *work, const ulna_reach_goal *goals, const double *seed,
                                    int capacity, double *q, ulna_reach_result *results, int *count);

/*
 * A path: sample i starts from the answer of sample i - 1, sample 0 from `seed` (NULL: rest); in one pass, as a controller does it. The first sample
 * is solved by options.mode, the others as by ULNA_REACH_NEAR, and `jumped` and `distance` of a result are about the step from the
 * sample before (for the first: from the seed). Goals count x tips, q count x nq, `results` count or NULL. `max_step` (nv, > 0; NULL: no
 * limit; not for the DOFs of quaternions): no joint moves by more from one sample to the next, nor from the seed to the first; where a goal is then out of reach, q
 * follows it as closely as it can. `jumps` and `missed` (may be NULL) receive how many samples after the first jumped, and how many were not reached.
 */
ULNA_API ulna_status ulna_reach_path(ulna_reach_work *work, int count, const ulna_reach_goal *goals, const double *seed,
                                     const double *max_step, double *q, ulna_reach_result *results, int *jumps,
                                     int *missed);

/* How far a tip is from its goal, by forward kinematics at q. */
typedef struct ulna_reach_error {
    double axis[6];            /* errors along and about the axes of the goal's frame, m and rad; 0 for free axes */
    double position, rotation; /* their lengths */
    int within;                /* 1: within tolerance */
} ulna_reach_error;

/* errors: one per tip. */
ULNA_API ulna_status ulna_reach_measure(ulna_reach_work *work, const ulna_reach_goal *goals, const double *q,
                                        ulna_reach_error *errors);

#ifdef __cplusplus
}
#endif
#endif
