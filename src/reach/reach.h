/*
 * reach.h (private): what a reach and its work hold, and who does what.
 *
 *   reach.c    checks of tips and options; making and destroying
 *   tip.c      errors of a tip and their derivatives; its goal as terms and constraints of a problem
 *   tree.c     the general solve: starts, attempts by the solver on the tree, which answer is best
 *   calls.c    the public calls: one problem, many, a path, all solutions; wrapping, limits, the flag `reached`
 *   chain*.c   the fast solve of one tip on a serial chain (chain.h)
 */
#ifndef ULNA_SRC_REACH_H
#define ULNA_SRC_REACH_H

#include "base/base.h"
#include "model/model.h"
#include "ulna/reach.h"
#include "ulna/solve.h"

struct ulna_chain; /* chain.h */

/* A goal, checked and in canonical form: unit quaternion, its rotation row by row. */
typedef struct ulna_target {
    double position[3], quaternion[4], rotation[9];
} ulna_target;

/* How the rotation axes of a tip count. */
typedef enum ulna_tip_rotation {
    ULNA_TIP_FREE = 0, /* not at all */
    ULNA_TIP_TWIST,    /* about `axis` alone */
    ULNA_TIP_SWING,    /* all but about `axis`, which points along that of the goal */
    ULNA_TIP_FULL
} ulna_tip_rotation;

typedef struct ulna_tip {
    ulna_reach_tip given;
    double rotation[9]; /* of given.rotation */
    double length;      /* metres that a radian weighs */
    int position_axes;  /* how many count */
    ulna_tip_rotation kind;
    int axis;                             /* of TWIST and SWING: 0, 1, 2 */
    int equal_positions, equal_rotations; /* all axes that count have the same weight */
    struct ulna_tip_row {                 /* for the callbacks of its constraints */
        const struct ulna_tip *tip;
        int axis;
    } row[6];
} ulna_tip;

/* The two ways to pose the same problem to the solver. */
typedef enum ulna_reach_form {
    ULNA_REACH_SOFT = 0, /* goals are terms: finds the closest configuration. Not for goals relative to a link */
    ULNA_REACH_HARD, /* goals are constraints, and the term is a posture: finds the nearest solution of a neighbourhood */
    ULNA_REACH_FORMS
} ulna_reach_form;

/* Where a tip's goal is in a problem: numbers of terms or constraints; ULNA_NONE for those that it has not. */
typedef struct ulna_tip_numbers {
    int position, rotation; /* terms, or constraints; a whole pose is in `position` */
    int axis[6];            /* constraints of single axes */
} ulna_tip_numbers;

struct ulna_reach {
    ulna_allocator allocator;
    size_t bytes;
    const ulna_model *model;
    int nv, nq, tip_count;
    ulna_tip *tip;              /* tip_count */
    ulna_reach_options options; /* its arrays are the reach's own; all but `posture` are always there */
    double *lower, *upper, *strength, *distance_weight, *posture_weight, *posture;
    unsigned char *locked;                   /* nv: also those of strength 0 */
    double *unit;                            /* nv: 1 for rotations, the length scale for translations */
    unsigned char *turns;                    /* nv: 1 for rotations that are the same pose after a whole turn */
    double far;                              /* goals farther away than this are refused */
    double objective;                        /* m^2: f of the soft form from which on every tip is within tolerance */
    int root_moves;                          /* no DOF of the root is locked, and it has some */
    ulna_problem *problem[ULNA_REACH_FORMS]; /* SOFT is NULL where a goal is relative to a link */
    ulna_tip_numbers *numbers[ULNA_REACH_FORMS];
    int posture_term,
        first_constraint;     /* numbers; that of the first constraint of the options is the same in both forms */
    struct ulna_chain *chain; /* NULL: the general solve serves */
};

/* What one solve is about. All arrays are those of the work or of the reach. */
typedef struct ulna_reach_query {
    ulna_reach_mode mode;
    const ulna_target *target;   /* one per tip */
    const double *seed;          /* nq, inside the limits below */
    const double *lower, *upper; /* nv: in force; within a path they may be narrower than those of the reach */
    int is_narrow;               /* 1: they are */
    double deadline;             /* of ulna_seconds; 0: none */
} ulna_reach_query;

struct ulna_reach_work {
    ulna_allocator allocator;
    size_t bytes;
    const ulna_reach *reach;
    ulna_pose *pose;
    ulna_problem *problem[ULNA_REACH_FORMS];
    ulna_solver *solver[ULNA_REACH_FORMS];
    ulna_target *target;                        /* tip_count */
    ulna_reach_error *error;                    /* tip_count */
    double *seed, *trial, *best, *found, *slid; /* nq */
    double *step, *lower, *upper;               /* nv */
    void *chain;                                /* scratch of the chain solve */
};

/* ---- tip.c ----------------------------------------------------------------------------------------------------------- */

/* Fills what follows from tip->given, which was checked. */
void ulna_tip_prepare(ulna_tip *tip, const ulna_model *model);
/* Errors of the tip along and about the axes of its goal; 0 for those that are free. Frames: of the body, then of the link
 * that the goal is relative to (identity for the world). `row` (may be NULL): derivatives over twists (w, v) of both frames. */
void ulna_tip_error(const ulna_tip *tip, const ulna_target *target, const double rotation[2][9],
                    const double position[2][3], double error[6], double row[6][2][6]);
ulna_status ulna_tip_add(const ulna_tip *tip, ulna_problem *problem, ulna_reach_form form, ulna_tip_numbers *numbers,
                         ulna_error *error);
ulna_status ulna_tip_set_goal(const ulna_tip *tip, ulna_problem *problem, ulna_reach_form form,
                              const ulna_tip_numbers *numbers, const ulna_target *target);

/* ---- calls.c: shared by both solves ------------------------------------------------------------------------------------- */

/* Errors of all tips by forward kinematics at q. */
ulna_status ulna_reach_errors(ulna_reach_work *work, const ulna_target *target, const double *q,
                              ulna_reach_error *errors);
/* Adds whole turns so that q is near the seed, inside the limits; moves rounding beyond limits onto them. */
void ulna_reach_wrap(const ulna_reach *reach, const ulna_reach_query *query, double *q);
/* Distance from the seed and whether a joint jumped. */
double ulna_reach_distance(const ulna_reach *reach, const double *from, const double *q, double *step, int *jumped);
/* Fills all of `result` that follows from q: errors, flag, limits, distance. Constraints: `kept`. */
ulna_status ulna_reach_judge(ulna_reach_work *work, const ulna_reach_query *query, const double *q, int kept,
                             ulna_reach_result *result);

/* ---- tree.c ---------------------------------------------------------------------------------------------------------- */

/* How the solver of a form is to solve. */
ulna_options ulna_tree_options(const ulna_reach *reach, ulna_reach_form form);
ulna_status ulna_tree_create(ulna_reach_work *work, ulna_error *error);
void ulna_tree_destroy(ulna_reach_work *work);
ulna_status ulna_tree_solve(ulna_reach_work *work, const ulna_reach_query *query, double *q, ulna_reach_result *result);
/* As ulna_reach_all; `results` has room for `capacity`. */
ulna_status ulna_tree_all(ulna_reach_work *work, const ulna_reach_query *query, int capacity, double *q,
                          ulna_reach_result *results, int *count);

#endif
