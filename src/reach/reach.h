/*
 * reach.h (private): what a reach and its work hold, and who does what.
 *
 *   reach.c    checks of tips and options; making and destroying
 *   tip.c      errors of a tip and their derivatives; its goal as terms and constraints of a problem
 *   parts.c    tips that share no joint are solved apart, each on a model with only the bodies that matter
 *   tree.c     the general solve: starts, attempts by the solver on the tree, which answer is best
 *   branches.c starts for tips on common joints, from the tables of their chains
 *   rows.c     least squares on the rows of the tips, where the elimination on the tree does not serve
 *   calls.c    the public calls: one problem, many, a path, all solutions; wrapping, limits
 *   judge.c    what an answer may claim: errors, limits, mimics, constraints, by one forward pass at the q that is returned
 *   chain*.c   the fast solve of one tip on a serial chain (chain.h)
 */
#ifndef ULNA_SRC_REACH_H
#define ULNA_SRC_REACH_H

#include "base/base.h"
#include "model/model.h"
#include "ulna/reach.h"
#include "ulna/solve.h"

struct ulna_chain;  /* chain.h */
struct ulna_branch; /* branches.c */

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

enum { ULNA_PART_ALL = 8 };

/* Tips that share joints, as a reach of its own. */
typedef struct ulna_reach_part {
    ulna_model *model;
    struct ulna_reach *reach;
    int tip_count, nv, nq;
    int *tip, *dof, *coordinate; /* their numbers in the whole; one block, at `tip` */
    int own_count,
        *own; /* those of its coordinates that it decides about; the others are another part's, or nobody's */
    size_t bytes;
    int is_followed; /* 1: joints follow one of it */
} ulna_reach_part;

/* With parts, only the first three groups of members are used: the parts have the rest. */
struct ulna_reach {
    ulna_allocator allocator;
    size_t bytes;
    const ulna_model *model;
    int nv, nq, tip_count;
    double length; /* the model's length scale; in a part, that of the whole */
    /* Metres that a radian weighs: the same, or the lever of a tip that is longer. Less would make a narrow valley of the errors. */
    double radian;

    int part_count; /* 0: it is solved as a whole */
    ulna_reach_part *part;

    ulna_reach_options options; /* its arrays are the reach's own; all but `posture` are always there */
    double *lower, *upper, *posture_weight, *posture;
    double *strength;        /* nv: in units of the strongest that may move */
    double *distance_weight; /* nv: as given / strength as given */
    double strongest;        /* as given */
    unsigned char *locked;   /* nv: also those of strength 0 */
    int is_weighted;         /* joints that may move differ in strength */
    double *even;            /* nv: ones, for steps without strengths */
    double *unit;            /* nv: 1 for rotations, `length` for translations */
    unsigned char *turns;    /* nv: 1 for rotations that are the same pose after a whole turn */
    unsigned char *idle;     /* nv: 1 for joints that are on the way to no tip */

    ulna_tip *tip;                           /* tip_count */
    double far;                              /* goals farther away than this are refused */
    double objective;                        /* m^2: f of the soft form from which on every tip is within tolerance */
    int uses_rows;                           /* goals relative to a link, or couplings without other constraints */
    int root_moves;                          /* no DOF of the root is locked, and it has some */
    ulna_problem *problem[ULNA_REACH_FORMS]; /* SOFT is NULL where a goal is relative to a link */
    ulna_tip_numbers *numbers[ULNA_REACH_FORMS];
    int posture_term,
        first_constraint;       /* numbers; that of the first constraint of the options is the same in both forms */
    struct ulna_branch *branch; /* tip_count; NULL: starts are chosen without tables */
    double *sample;             /* of branches.c: configurations, for the joints that tips share */
    struct ulna_chain *chain;   /* NULL: the general solve serves */
};

/* What one solve is about. All arrays are those of the work or of the reach. */
typedef struct ulna_reach_query {
    ulna_reach_mode mode;
    const ulna_target *target;   /* one per tip */
    const double *seed;          /* nq, inside the limits below */
    const double *lower, *upper; /* nv: in force; within a path they may be narrower than those of the reach */
    int is_narrow;               /* 1: they are */
    const double *strength;      /* nv: in force */
    double deadline;             /* of ulna_seconds; 0: none */
} ulna_reach_query;

/* Memory of rows.c: for 6 rows a tip. */
typedef struct ulna_rows {
    int count;                       /* rows */
    double *jacobian, *body;         /* rows x nv, 6 x nv: column-major */
    double *matrix;                  /* rows x rows */
    double *error, *rest, *solution; /* rows */
    double *metric, *step;           /* nv */
    double *trial;                   /* nq */
} ulna_rows;

/* Problems of a chain that are solved side by side. */
enum { ULNA_REACH_BLOCK = 64 };
typedef struct ulna_reach_block {
    ulna_target *target; /* ULNA_REACH_BLOCK */
    double *seed, *q;    /* x nq */
    ulna_reach_result *result;
    int number[ULNA_REACH_BLOCK];
    unsigned char served[ULNA_REACH_BLOCK];
} ulna_reach_block;

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
    ulna_rows rows;                             /* where the reach uses rows */
    void *chain;                                /* scratch of the chain solve */
    ulna_reach_block block;                     /* where there is a chain */
    ulna_reach_work **part;                     /* part_count */
    ulna_reach_goal *part_goal;                 /* tip_count */
    /* Several solutions of each part: ULNA_PART_ALL each, one part behind the other. */
    double *part_all;
    ulna_reach_result *part_result;
    int *part_found, *part_used; /* part_count */
};

/* ---- tip.c ----------------------------------------------------------------------------------------------------------- */

/* Fills what follows from tip->given, which was checked. */
void ulna_tip_prepare(ulna_tip *tip, double length);
/* Errors of the tip along and about the axes of its goal; 0 for those that are free. Frames: of the body, then of the link
 * that the goal is relative to (identity for the world). `row` (may be NULL): derivatives over twists (w, v) of both frames. */
void ulna_tip_error(const ulna_tip *tip, const ulna_target *target, const double rotation[2][9],
                    const double position[2][3], double error[6], double row[6][2][6]);
ulna_status ulna_tip_add(const ulna_tip *tip, ulna_problem *problem, ulna_reach_form form, ulna_tip_numbers *numbers,
                         ulna_error *error);
ulna_status ulna_tip_set_goal(const ulna_tip *tip, ulna_problem *problem, ulna_reach_form form,
                              const ulna_tip_numbers *numbers, const ulna_target *target);

/* ---- reach.c --------------------------------------------------------------------------------------------------------- */

/* ulna_reach_create for a model whose length scale counts as `length` metres. */
ulna_status ulna_reach_create_scaled(const ulna_model *model, int tip_count, const ulna_reach_tip *tips,
                                     const ulna_reach_options *options, double length, const ulna_allocator *allocator,
                                     ulna_reach **result, ulna_error *error);

/* ---- parts.c --------------------------------------------------------------------------------------------------------- */

/* Leaves part_count 0 where all joints and tips belong together. */
ulna_status ulna_parts_create(ulna_reach *reach, const ulna_reach_tip *tips, const ulna_reach_options *given,
                              ulna_error *error);
void ulna_parts_destroy(ulna_reach *reach);
ulna_status ulna_parts_work_create(ulna_reach_work *work, ulna_error *error);
void ulna_parts_work_destroy(ulna_reach_work *work);
/* As ulna_reach_step, from query->seed, which is that of the work. */
ulna_status ulna_parts_solve(ulna_reach_work *work, const ulna_reach_query *query, const ulna_reach_goal *goals,
                             const double *max_step, double *q, ulna_reach_result *result);
/* The answer of the only part, its coordinates in `share`, as one of the whole, over q, which is the seed. */
ulna_status ulna_parts_place(ulna_reach_work *work, const ulna_reach_query *query, const double *share, double *q,
                             ulna_reach_result *result);
ulna_status ulna_parts_all(ulna_reach_work *work, const ulna_reach_query *query, const ulna_reach_goal *goals,
                           int capacity, double *q, ulna_reach_result *results, int *count);

/* ---- calls.c: shared by both solves ------------------------------------------------------------------------------------- */

/* One solve, with all checks. max_step as of ulna_reach_path, or NULL. q may be the seed. */
ulna_status ulna_reach_step(ulna_reach_work *work, ulna_reach_mode mode, const ulna_reach_goal *goals,
                            const double *seed, const double *max_step, double *q, ulna_reach_result *result);
/* Adds whole turns so that q is near the seed, inside the limits; moves rounding beyond limits onto them. */
void ulna_reach_wrap(const ulna_reach *reach, const ulna_reach_query *query, double *q);
/* Moves coordinates into the limits; coupled ones follow their masters. */
void ulna_reach_clamp(const ulna_reach *reach, const double *lower, const double *upper, double *q);

/* ---- judge.c ----------------------------------------------------------------------------------------------------------- */

/* Errors of all tips by forward kinematics at q. */
ulna_status ulna_reach_errors(ulna_reach_work *work, const ulna_target *target, const double *q,
                              ulna_reach_error *errors);
/* Distance from the seed and whether a joint jumped. */
double ulna_reach_distance(const ulna_reach *reach, const double *from, const double *q, double *step, int *jumped);
/* Is q inside the limits, with followers where their masters have them? Counts the DOFs on a limit. */
int ulna_reach_allows(const ulna_reach *reach, const double *q, int *at_limits);
/* Fills all of `result` that follows from q, by a forward pass over the whole of it: errors, flag, limits, distance. `violation` (may be NULL): the
 * largest error of a constraint, m or rad. */
ulna_status ulna_reach_judge(ulna_reach_work *work, const ulna_reach_query *query, const double *q,
                             ulna_reach_result *result, double *violation);

/* ---- branches.c ------------------------------------------------------------------------------------------------------ */

/* Leaves reach->branch NULL where tips, joints or options are not for it. */
ulna_status ulna_branches_create(ulna_reach *reach, ulna_error *error);
void ulna_branches_destroy(ulna_reach *reach);
/* Start number k = 0, 1, ... */
ulna_status ulna_branches_start(ulna_reach_work *work, const ulna_reach_query *query, int k, double *q);

/* ---- rows.c ---------------------------------------------------------------------------------------------------------- */

void ulna_rows_take(ulna_reach_work *work, ulna_arena *arena);
/* From q, inside the limits, to the closest configuration near it; adds to the number of iterations. */
ulna_status ulna_rows_solve(ulna_reach_work *work, const ulna_reach_query *query, int iterations, double *q,
                            int *iterations_made);

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
