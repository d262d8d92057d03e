/*
 * ulna/constraint.h: what the skeleton must do, exactly.
 *
 * The terms of a problem (problem.h) are wishes: their sum is made small. A constraint is kept: C(q) = 0 or C(q) >= 0, as
 * far as that is possible, and the terms come second. A constraint of level 0, the default, is hard. One of level 1, 2, ...
 * is a goal with a strict priority: it is met as well as limits, hard constraints and all lower levels allow, before
 * anything of a higher level counts; the terms of the problem count last.
 *
 * The couplings of the model (model.h: mimic joints) are constraints of every problem: LINEAR ones of level 0, which come
 * first, numbers 0, 1, ... They cannot be changed or switched off.
 *
 * Constraints are part of the problem. Add them, call ulna_problem_ready, create a solver; from then on goals may
 * change every frame, and constraints may be switched on and off, and nothing allocates. The default method, `hybrid`, keeps
 * them all; `lagrange` and `virtual-work` keep those of level 0 and refuse levels; others refuse the problem.
 *
 *     int foot;
 *     ulna_constraint planted = {.type = ULNA_KEEP_FRAME, .body = body, .goal = {0.1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}};
 *     ulna_problem_create(model, NULL, &problem, &error);
 *     ulna_problem_add_posture(problem, NULL, NULL, 1e-4, NULL, &error);
 *     ulna_problem_add_constraint(problem, &planted, &foot, &error); // the origin of that body at (0.1, 0, 0), not rotated
 *     ulna_problem_ready(problem, &error);
 */
#ifndef ULNA_CONSTRAINT_H
#define ULNA_CONSTRAINT_H

#include "ulna/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What is kept. `point` and `axis` are in the frame of `body`, `other_point` and `other_axis` in that of `other`, or in the
 * world if that is ULNA_NONE. Where a relation is named, C is =, >= or <= the goal; BOX and SUPPORT are inequalities, all
 * others equations.
 * Numbers of the goal, in this order:
 */
typedef enum ulna_constraint_type {
    ULNA_KEEP_POINT = 0,   /* the point at a place: x, y, z */
    ULNA_KEEP_ORIENTATION, /* the body's rotation: 9, row by row */
    ULNA_KEEP_FRAME,       /* both: place of the point, 3, then rotation, 9 */
    ULNA_KEEP_DIRECTION,   /* the axis along a direction of the world: 3 */
    ULNA_KEEP_AIM,         /* the axis, from the point, towards a place: 3 */
    ULNA_KEEP_LINE,        /* the point on a line: a point of it, 3, and its direction, 3 */
    ULNA_KEEP_PLANE,       /* relation; height of the point over a plane: a point of it, 3, and its normal, 3 */
    ULNA_KEEP_SPHERE, /* relation; distance of the point from a centre, 3, and the radius, > 0 (0: POINT): at most is inside */
    ULNA_KEEP_BOX, /* the point inside a box: lower corner, 3, upper corner, 3; world axes; infinite sides are open */
    ULNA_KEEP_DISTANCE, /* relation; distance of point and other_point: 1, > 0 (0: TOGETHER) */
    ULNA_KEEP_TOGETHER, /* point and other_point at the same place: a closed loop; no goal */
    ULNA_KEEP_RELATIVE, /* the pose of `body` relative to `other`: where other's frame sees `point`, 3, then rotation, 9 */
    ULNA_KEEP_ANGLE,    /* relation; angle between axis and other_axis: 1, radians, 0 < angle < pi */
    ULNA_KEEP_LINEAR, /* relation; sum of coefficient x coordinate over `dofs`: 1. Couplings, bounds on combinations */
    ULNA_KEEP_CENTRE, /* relation; height of the centre of mass over a plane: as for PLANE */
    ULNA_KEEP_SUPPORT, /* centre of mass over a polygon: its corners, 3 each, convex, counterclockwise seen from `axis` (up) */
    ULNA_KEEP_CUSTOM, /* relation; what you write: see ulna_custom_constraint */
    ULNA_CONSTRAINT_TYPE_COUNT
} ulna_constraint_type;

typedef enum ulna_relation { ULNA_EQUAL = 0, ULNA_AT_LEAST, ULNA_AT_MOST } ulna_relation;

/* What the callback of a constraint of your own fills in; it comes zeroed. Twists as in ulna_custom_value: part 0 is about
 * `body`, part 1 about `other`. value -> value + sum row_p twist_p + 1/2 sum twist_p bend_p twist_p + twist_0 cross twist_1. */
typedef struct ulna_constraint_value {
    double value; /* C, in metres; with the relation: C = 0, C >= 0 or C <= 0 */
    double row[2][6];
    double bend[2][6][6]; /* symmetric; zero: convergence is not quadratic */
    double cross[6][6];
} ulna_constraint_value;

/* A pure function, as ulna_custom.evaluate; frames of `body` and `other` (rotations row by row, positions of the origins). */
typedef struct ulna_custom_constraint {
    void (*evaluate)(const void *context, const double *goal, const double rotation[2][9], const double position[2][3],
                     ulna_constraint_value *value);
    const void *context; /* yours; may be NULL */
    int goal_size;       /* 0 .. 12 */
} ulna_custom_constraint;

enum { ULNA_CONSTRAINT_GOAL = 12, ULNA_CONSTRAINT_CORNERS = 16 };

typedef struct ulna_constraint {
    ulna_constraint_type type;
    ulna_relation relation;
    int body,
        other; /* `other` counts for DISTANCE, TOGETHER, RELATIVE, ANGLE and CUSTOM; ULNA_NONE (not 0) is the world */
    double point[3], axis[3], other_point[3], other_axis[3];
    double goal[ULNA_CONSTRAINT_GOAL];
    /* LINEAR: which DOFs (with a coordinate of their own), and the factor of each; copied. */
    int dof_count;
    const int *dofs;
    const double *coefficients;
    /* SUPPORT: 3 to 16 corners, 3 numbers each; copied. */
    int corner_count;
    const double *corners;
    ulna_custom_constraint custom;
    int level;     /* 0: hard; 1, 2, ... at most 8: priorities, 1 first */
    double weight; /* within its level, > 0; 0 stands for 1. Means nothing for level 0 */
} ulna_constraint;

ULNA_API const char *ulna_constraint_type_name(
    ulna_constraint_type type); /* "point", "orientation", ...; NULL if unknown */

/* Adds a constraint and gives its number through `number` (may be NULL). Axes and normals need not be unit vectors. Works
 * and solvers made before are refused afterwards (ULNA_ERR_STATE). */
ULNA_API ulna_status ulna_problem_add_constraint(ulna_problem *problem, const ulna_constraint *constraint, int *number,
                                                 ulna_error *error);
ULNA_API int ulna_problem_constraint_count(const ulna_problem *problem);
/* As added, with the goal of now; NULL if there is none of that number. The pointers in it are the problem's. */
ULNA_API const ulna_constraint *ulna_problem_constraint(const ulna_problem *problem, int number);

/* Changing goals: no allocation, before or after ready. As many numbers as the type has; SUPPORT: 3 for each of its
 * corners. NaN is refused. */
ULNA_API ulna_status ulna_problem_set_constraint_goal(ulna_problem *problem, int number, const double *goal);
/* 0: it does not count until it is switched on again, as a foot that is lifted. */
ULNA_API ulna_status ulna_problem_switch_constraint(ulna_problem *problem, int number, int on);

/*
 * How far the pose of the last evaluation is from keeping it: metres, radians for ORIENTATION, DIRECTION, AIM and ANGLE, the larger
 * of metres and radians x length for FRAME and RELATIVE, units of the sum for LINEAR; 0 if it is kept. NaN while it is switched off.
 */
ULNA_API ulna_status ulna_work_constraint_error(ulna_work *work, int number, double *error);

#ifdef __cplusplus
}
#endif
#endif
