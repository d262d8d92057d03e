/*
 * constraint.h (private): constraints as users gave them, and as rows.
 *
 * A row is one scalar function C(q), = 0 or >= 0, in metres: rotations are multiplied by the problem's length, and a linear
 * combination by what makes its largest coefficient 1 (rotations: the length). So rows are comparable, and results do not
 * depend on the unit of length. At most is stored negated: every inequality is C >= 0. At one pose a row knows its value, its
 * derivative, and its second derivatives:
 *
 *   dC = sum over parts of wrench . twist(link) + sum of coefficient dq + centre . d(centre of mass),
 *
 * and with a body moved by a small twist as in ulna_custom_value: linear functions n . x of points and directions x of a
 * body, sum x nT = `moment` and sum n over points = `force`, whose second derivatives these two hold (as the sums of pulls do,
 * kernel.h), plus, for each bend, scale u uT with u = wrenches on both parts added: C gains 1/2 scale (u . twist)^2.
 *
 * Rotations (ORIENTATION, FRAME, RELATIVE) are rows with frozen axes: 1/2 sum_j E_j x (d_j - g_j), d the axes of the body, g
 * those of the goal, and E the axes of the goal turned towards d, where they were last frozen: half the angle, and from 60
 * degrees on to 30 degrees before d. The rows are linear in d and g. Their value is 2 sin(angle / 2) times the axis of the
 * rotation up to 60 degrees, and at least 1 beyond, and their derivative along the axis is at least 0.87: nothing
 * vanishes at 180 degrees, as sin(angle) does. DIRECTION and AIM: n . (d - g) along two axes n that are turned likewise.
 */
#ifndef ULNA_SRC_CONSTRAINT_H
#define ULNA_SRC_CONSTRAINT_H

#include "objective/problem.h"
#include "ulna/constraint.h"

enum { ULNA_ROW_BENDS = 5, ULNA_ROW_PIECES = 12 }; /* most of a row: an angle, and a callback between two bodies */

enum { ULNA_LEVELS_MOST = 8 };

typedef struct ulna_row_part {
    int link;
    double moment[9]; /* sum x nT, row by row (x the row), relative to the pose's origin */
    double force[3];  /* sum n over points */
    double wrench[6]; /* torque = sum x cross n, force: what the two amount to */
} ulna_row_part;

typedef struct ulna_row_bend {
    int part; /* 0 or 1: it touches that one only; ULNA_NONE: both */
    double scale;
    double wrench[2][6]; /* on the parts; undefined for a part that it does not touch */
} ulna_row_bend;

/* Second derivatives of a callback beside what moment and force hold. */
typedef struct ulna_row_own {
    double bend[2][6][6]; /* symmetric, of each part */
    double cross[6][6];   /* twist_0 cross twist_1, if there are two */
} ulna_row_own;

typedef struct ulna_row {
    int constraint; /* its number, ULNA_NONE for rows that a solver makes */
    int place; /* which of all rows of the problem, 0 .. ulna_problem_row_count - 1: the same in every evaluation */
    int is_equation;
    double value;
    double noise; /* rounding of the value: some 1e-16 of the numbers that it is the difference of */
    int part_count;
    ulna_row_part part[2];
    int bend_count;
    int is_own; /* `own` in place of `bend` */
    union {
        ulna_row_bend bend[ULNA_ROW_BENDS];
        ulna_row_own own;
    };
    int has_centre;
    double centre[3];
    int dof_count;
    const int *dof;
    const double *coefficient;
    double weight; /* within its level, > 0 */
    int level;
} ulna_row;

/* An inequality 0 >= 0 that touches nothing; numbers of parts and bends that it does not have stay undefined. */
void ulna_row_clear(ulna_row *row);

/* Rows of all constraints, also of those that are switched off; the place of each constraint's first row is fixed by
 * ulna_problem_ready. */
int ulna_problem_row_count(const ulna_problem *problem);
/* Whether a type of its constraints has rows with frozen axes; after ulna_problem_ready. */
int ulna_problem_has_frozen_rows(const ulna_problem *problem);

/*
 * Evaluates the rows of all constraints that are switched on where the work's pose stands. `rows` has room for
 * ulna_problem_row_count; `count` receives how many were written, in the order of the constraints; open sides of a box are
 * left out. With `freeze`, the axes of rotations are taken anew at this pose; else they are those of the last call with
 * `freeze`. ULNA_ERR_NUMBER if one is not finite. The pointers in rows are the problem's. No allocation.
 */
ulna_status ulna_work_rows(ulna_work *work, int freeze, ulna_row *rows, int *count);

/* Whether axes that are frozen should be taken anew where the rows were last evaluated: not while body and goal are near them. */
int ulna_work_has_old_axes(const ulna_work *work);

/* Their derivatives, count x nv, column-major with leading dimension `rows_of`. */
void ulna_rows_jacobian(const ulna_work *work, const ulna_row *rows, int count, size_t rows_of, double *jacobian);

/* Adds JT y to `gradient`. */
void ulna_rows_add_transposed(const ulna_work *work, const ulna_row *rows, int count, const double *y,
                              double *gradient);

/*
 * Multipliers when axes are frozen anew: `from` and `to` are rows of the same pose with the old and the new axes, and `y`, of
 * the first, becomes what gives the same torques by the second. So JT y does not change, and the Lagrangian's gradient with it.
 */
void ulna_rows_turn_multipliers(const ulna_problem *problem, const ulna_row *from, const ulna_row *to, int count,
                                double *y);

/*
 * Puts the rows into the matrix and gradient that the sweeps see, from now until the next load or evaluation: with
 * multipliers y and weights w (each `count` numbers, or NULL for 0) the gradient gains - sum y_i dC_i, the Gauss-Newton matrix
 * sum w_i dC_iT dC_i, and the exact matrix (t = 1) also - sum z_i d2C_i, z the multipliers of the curvature. What leaves the
 * pattern of the tree is not put there: bends that couple two bodies (ulna_row_couplings), and w_i dC_iT dC_i of rows on two
 * bodies, of the centre or of DOFs, for which w must be 0 (ULNA_ERR_ARGUMENT). y must be 0 for rows of DOFs. count 0 takes
 * everything out again. ulna_work_step and what it leaves see y, w and z; ulna_work_gradient sees z: it gives the
 * gradient of f - sum z_i C_i, without the rows of DOFs. ulna_work_residuals sees nothing of it.
 */
ulna_status ulna_work_load_rows(ulna_work *work, const ulna_row *rows, int count, const double *y, const double *w,
                                const double *z);

/* The part of d2C that ulna_work_load_rows leaves out: rank-one pieces scale u uT. Returns how many (at most ULNA_ROW_PIECES),
 * with `piece` filled (u is its derivative; value 0, no second derivatives) and `scale`. */
int ulna_row_couplings(const ulna_row *row, ulna_row *piece, double *scale);

/* H of the Lagrangian, dense, nv x nv, both triangles: H(f) at exactness t, minus sum z_i d2C_i in full. Takes loaded rows
 * out. For tests and dense methods. */
ulna_status ulna_work_lagrangian_dense(ulna_work *work, double t, const ulna_row *rows, int count, const double *z,
                                       double *hessian);

/* ---- inside objective/ ------------------------------------------------------------------------------------------ */

/* A constraint as it is kept: brought into canonical form, with arrays of its own. */
typedef struct ulna_kept {
    ulna_constraint given; /* points to the arrays below */
    int is_off;
    int first_row;
    int *dofs;
    double *numbers; /* LINEAR: coefficients, then as in rows: scaled, and negated for at most; SUPPORT: corners */
    size_t number_count;
    double scale;   /* LINEAR: what its sum is multiplied by */
    double nearest; /* m: distances are not divided by less */
} ulna_kept;

/* Where a constraint is evaluated: constraint_rows.h. */
typedef struct ulna_constraint_site ulna_constraint_site;

enum {
    ULNA_KEEPS_BODY = 1,
    ULNA_KEEPS_OTHER = 2,
    ULNA_KEEPS_MASS = 4,
    ULNA_KEEPS_RELATION = 8,
    ULNA_KEEPS_INSIDE = 16, /* rows are inequalities whatever the relation */
    ULNA_KEEPS_AXIS = 32,   /* `axis` is a direction */
    ULNA_KEEPS_OTHER_AXIS = 64,
    ULNA_KEEPS_GOAL_AXIS = 128,   /* the goal begins with a direction */
    ULNA_KEEPS_NORMAL = 256,      /* numbers 3, 4, 5 of the goal are one */
    ULNA_KEEPS_ROTATION = 512,    /* the goal is a rotation */
    ULNA_KEEPS_ROTATION_3 = 1024, /* from its fourth number on */
    ULNA_KEEPS_DISTANCE = 2048,   /* the last number of the goal is a distance */
    ULNA_KEEPS_OPEN_SIDES = 4096, /* infinity is a number */
};

/* All about a type of constraint: one row of the table in constraint_rows.c. */
typedef struct ulna_constraint_kind {
    const char *name;
    int goal_size;   /* -1: that of the callback */
    int row_count;   /* most rows; -1: one for each corner */
    int frozen_rows; /* how many of them, the last ones, have frozen axes */
    unsigned flags;
    /* Writes the rows, with value, parts, bends and noise; they come empty. Returns how many; `which` of the constraint's rows
     * each is, is in its `place`. */
    int (*evaluate)(const ulna_constraint_site *site, ulna_row *rows);
    /* How far it is from being kept, relations left aside: metres or radians. NULL: the length of its rows. */
    double (*error)(const ulna_constraint_site *site);
} ulna_constraint_kind;

const ulna_constraint_kind *ulna_constraint_kind_of(ulna_constraint_type type);
int ulna_kept_row_count(const ulna_kept *kept);

/* Parts of the functions of ulna_problem in problem.c and goals.c. */
ulna_status ulna_constraints_add_couplings(ulna_problem *problem); /* to a problem that has none yet */
ulna_status ulna_constraints_clone(const ulna_problem *from, ulna_problem *to);
ulna_status ulna_constraints_copy_goals(const ulna_problem *from, ulna_problem *to);
void ulna_constraints_drop(ulna_problem *problem);
void ulna_constraints_refresh(ulna_problem *problem); /* the length has changed */
/* How far its point on `body` (0) or on `other` (1) is from the body's origin; 0 if it has none. */
double ulna_constraint_reach(const ulna_kept *kept, int which);
void ulna_constraints_sort(ulna_problem *problem);
/* Sets is_touched of each link that rows put something on. */
void ulna_constraints_mark_links(const ulna_problem *problem, int *is_touched);

/* Arrays of a work. */
void ulna_constraint_work_take(ulna_work *work, ulna_arena *arena);
/* What the sweeps see is the terms alone. */
void ulna_work_unload_rows(ulna_work *work);

#endif
