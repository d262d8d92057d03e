/*
 * support_constraints.h: problems with constraints, shared by tests and by bench_constraints: nothing here needs cmocka. A call
 * that fails prints why and ends the program.
 *
 * Most are about the human sample. The length of its problems is 1, so that posture weights are per square radian.
 */
#ifndef ULNA_TESTS_SUPPORT_CONSTRAINTS_H
#define ULNA_TESTS_SUPPORT_CONSTRAINTS_H

#include "ulna/solve.h"

typedef struct ulna_scene {
    ulna_model *model;
    ulna_problem *problem;
    double *start; /* nq */
    int nv, nq;
    int posture;                  /* term */
    int first_point, point_count; /* terms that pull points */
    double *goals;                /* of the points, frame by frame: 3 x point_count each; NULL if there is one frame */
    int frame_count;
} ulna_scene;

void ulna_scene_release(ulna_scene *scene);
_Noreturn void ulna_scene_end(ulna_status status, const char *what);
static inline void ulna_scene_expect(ulna_status status, const char *what)
{
    if (status != ULNA_OK)
        ulna_scene_end(status, what);
}
ulna_solver *ulna_scene_solver(const ulna_scene *scene, const ulna_options *options);

/* Four bars of 1, 3, 3 and 3.5 m, whose crank makes full turns. Constraint 0 closes the loop, DOF 0 is the crank. */
ulna_scene ulna_scene_four_bar(void);

/* Feet planted (constraints 0 and 1), centre of mass over them (2), fingers reach for the floor. */
ulna_scene ulna_scene_reach(void);
void ulna_scene_move_reach(ulna_scene *scene, int frame); /* frames 1, 2, ...: moves the goals by some 4 mm */
/* The same feet; the goal of the left fingers is behind a wall, which five points must not pass (constraints 3 .. 7). */
ulna_scene ulna_scene_wall(void);
/* 41 markers with noise of 5 mm; the hands are 0.45 m apart (constraint 0). */
ulna_scene ulna_scene_bar(void);
/* 41 markers with noise; the left hand has a given pose relative to the right one (constraint 0), rotated at random. */
ulna_scene ulna_scene_hands(int seed);
/* The left hand has a given frame (constraint 0), taken from a random pose. */
ulna_scene ulna_scene_turned(int seed);

/* Feet planted (0 and 1), and one or two pins of the left hand (2 and 3). */
typedef enum ulna_scene_pins {
    ULNA_SCENE_PIN_TWICE = 0,
    ULNA_SCENE_PINS_APART,      /* 0.2 m */
    ULNA_SCENE_PIN_OUT_OF_REACH /* half a metre */
} ulna_scene_pins;

ulna_scene ulna_scene_pinned(ulna_scene_pins pins);
/* The pin out of reach as a sum of terms of weight 1, feet as points and orientations: 2 f is the sum of squared violations. */
ulna_scene ulna_scene_soft_pin(void);

/*
 * 41 markers of a motion at 120 Hz (squats, arms), in which the feet stand still: 6 mm of skin motion, 0.5 mm of noise. `rows`:
 * 0, 1 (height of the left sole), 4 (place of the left sole, height of the right one), 6 (frame of the left sole), 12 (both) or
 * 16 (both, and the centre of mass over them).
 */
ulna_scene ulna_scene_track(int rows, int frames);
void ulna_scene_set_frame(ulna_scene *scene, int frame);
/* Markers of that motion at another time, with noise of 5 mm; fills `start` with a random pose. For 0 or 12 rows. */
void ulna_scene_set_cold(ulna_scene *scene, int seed);
#define ULNA_SCENE_COLD_F 6e-3 /* f below this: the right pose was found */

/* Markers of a pose that is beyond the limits. `as_rows`: limits are linear constraints too, two for each limited DOF. */
ulna_scene ulna_scene_limits(int as_rows);

/* ---- priorities -------------------------------------------------------------------------------------------------- */

enum { ULNA_SCENE_LEVELS = 7 };
extern const char *const ulna_scene_level_names[ULNA_SCENE_LEVELS];

typedef struct ulna_scene_aims {
    int count;
    int number[8], level[8]; /* constraint, its level */
    double goal[8][3], drift[8][3];
    int is_direction[8];
} ulna_scene_aims;

/* Feet planted, then fingers and head as levels 1, 2 and 3, then posture: seven cases, and any number of random ones. */
ulna_scene ulna_scene_levels(int which, ulna_scene_aims *aims);
void ulna_scene_move_levels(ulna_scene *scene, ulna_scene_aims *aims, int which, int frame);
ulna_scene ulna_scene_random_levels(int seed, ulna_scene_aims *aims);
void ulna_scene_move_random_levels(ulna_scene *scene, ulna_scene_aims *aims, int frame);
/* Distance of a level from its goals at q, metres (radians for directions): root of the sum of squares. */
double ulna_scene_level_error(const ulna_scene *scene, const ulna_scene_aims *aims, const double *q, int level);

#endif
