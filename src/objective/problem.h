/* problem.h (private): terms as users gave them, and sorted for the sweeps. */
#ifndef ULNA_SRC_PROBLEM_H
#define ULNA_SRC_PROBLEM_H

#include "base/base.h"
#include "kinematics/kernel.h"
#include "ulna/problem.h"

/* What changes with every frame comes first and close together: of a point, type to goal are 56 bytes. */
typedef struct ulna_term {
    ulna_term_type type;
    int body;     /* or ULNA_NONE */
    int slot;     /* first pull (points, directions), or number among the extras, or ULNA_NONE */
    int row;      /* its first residual */
    int sleeping; /* a missing marker */
    double weight;
    double goal[9];    /* as set: place, direction, rotation, point and normal, (ratio, offset) */
    double loss_scale; /* c of the robust loss; 0: it counts by its square */
    double local[6];   /* point and axis, body frame */
    double nearest;    /* m: closer to its goal than this an aim has no derivatives */
    int dof_a, dof_b;
    ulna_custom custom;
    double *values; /* posture: nq reference, nv factors; limits: nv lower, nv upper */
    size_t value_count;
} ulna_term;

struct ulna_problem {
    ulna_allocator allocator;
    const ulna_model *model;
    int ready;
    unsigned structure; /* counts sortings: a work made for another one is refused */
    unsigned changes;   /* counts changes of goals and weights: derivatives are those of the last evaluation */
    double length;
    int length_given; /* by the caller; otherwise ready finds it */
    double *unit;     /* nv: length^2 for rotations, 1 for translations: of terms on coordinates */
    ulna_term *term;
    size_t term_count, term_capacity;
    int pull_count;     /* points and directions, which the sweeps know (kernel.h) */
    int *pull_first;    /* nl + 1 */
    int *pull_link;     /* pull_count: whose it is */
    ulna_pull *pull;    /* pull_count, sorted by link */
    ulna_robust robust; /* of the pulls */
    int extra_count;    /* terms evaluated one by one */
    int *extra_term;    /* extra_count: their numbers, sorted by link */
    int extra_links;    /* links that have extras */
    int *extra_of;      /* nl: number of the link among those, or -1 */
    int coupling_count;
    int *coupling_term;   /* coupling_count */
    int coordinate_count; /* posture and limit terms */
    int *coordinate_term;
    int residual_count;
    struct ulna_kept *kept; /* constraints: constraint.h */
    size_t kept_count, kept_capacity;
    int row_count;       /* of all constraints */
    int has_centre;      /* a constraint is on the centre of mass */
    int has_frozen_rows; /* rows of a constraint have frozen axes */
    size_t ready_bytes;  /* of the block behind the sorted arrays */
    void *ready_block;
};

#define ULNA_TERM_ROWS 3 /* most residuals that a term on a body has */

/* Part of the model's length scale: nearer to its goal than this an aim means nothing, and its derivatives overflow. */
#define ULNA_AIM_NEAREST 1e-9

/*
 * A term on a body, evaluated at one place of it. With the body moved by a small twist (w, v) about the pose's
 * origin: value -> value + row (w, v) + 1/2 (w, v) B_k (w, v), and `bend` = sum over k of residual_k B_k, symmetric.
 * Weights are in: residuals and rows by their root, bend in full.
 */
typedef struct ulna_term_value {
    int count;
    double residual[ULNA_TERM_ROWS]; /* goal - value */
    double row[ULNA_TERM_ROWS][6];
    double bend[6][6];
} ulna_term_value;

/* Where a body is, relative to the pose's origin. */
typedef struct ulna_body_place {
    double rotation[9], position[3];
    const double *origin; /* world */
} ulna_body_place;

/* dF/dgoal: one spatial force (torque, force) about the pose's origin for each number of the goal. */
typedef double ulna_goal_forces[9][6];

/* Sizes in the table that depend on the model or on the term: ulna_term_size. */
enum {
    ULNA_SIZE_NQ = -1,
    ULNA_SIZE_NV = -2,
    ULNA_SIZE_TWICE_NV = -3,
    ULNA_SIZE_CUSTOM_GOAL = -4,
    ULNA_SIZE_CUSTOM_ROWS = -5,
};

/* What is brought into canonical form when a goal is set. */
enum {
    ULNA_UNIT_GOAL = 1,        /* the first three numbers of the goal are a unit vector */
    ULNA_UNIT_GOAL_AXIS = 2,   /* the next three are */
    ULNA_UNIT_LOCAL_AXIS = 4,  /* the axis in the body's frame is */
    ULNA_GOAL_IS_ROTATION = 8, /* the goal is a rotation matrix */
};

/* All about a type of term: one row of the table in terms.c. */
typedef struct ulna_term_kind {
    const char *name;
    int goal_size;      /* numbers of the goal */
    int residual_count; /* rows in ulna_work_residuals */
    int pulls;       /* that the sweeps evaluate (kernel.h): 1 for a point or direction, 3 for an orientation, else 0 */
    int is_rotation; /* its weight is multiplied by the square of the length */
    unsigned canonical; /* ULNA_UNIT_..., ULNA_GOAL_IS_ROTATION */
    /* NULL for terms that the sweeps evaluate and for terms on coordinates. */
    void (*evaluate)(const ulna_term *term, double weight, const ulna_body_place *place, ulna_term_value *value);
    /* How far the term is from its goal, unweighted: ulna_work_term_error. */
    double (*error)(const ulna_work *work, const ulna_term *term);
    int columns; /* of ulna_work_sensitivity */
    /* dF/dgoal of terms on bodies; NULL for terms on coordinates: ulna_coordinate_goal_slope. */
    void (*slope)(const ulna_term *term, double weight, const ulna_body_place *place, ulna_goal_forces slope);
} ulna_term_kind;

/* A size of the table for this term; `model` may be NULL where the size does not depend on it. */
int ulna_term_size(const ulna_model *model, const ulna_term *term, int size);
const ulna_term_kind *ulna_term_kind_of(ulna_term_type type);

/* From twists at a body's origin, p, to twists at the pose's: a row, and the symmetric part of a bend (custom.c). */
void ulna_shift_row(const double row[6], const double p[3], double scale, double shifted[6]);
void ulna_shift_bend(double bend[6][6], const double p[3], double scale, double shifted[6][6]);
void ulna_evaluate_custom(const ulna_term *term, double weight, const ulna_body_place *place, ulna_term_value *value);

/* Points and directions x of a body under a small twist (w, v): x -> x + (w x x + v) + ..., without v for directions.
 * For a covector c the first two add the row of c.x, times `scale`, and the second derivative of c.x; a function h(x)
 * with the gradient c and second derivatives C has all three. */
void ulna_row_of(const double c[3], const double x[3], double scale, int is_point, double row[6]);
void ulna_bend_of(const double c[3], const double x[3], int is_point, double bend[6][6]);
void ulna_bend_of_curvature(const double C[9], const double x[3], int is_point, double bend[6][6]);

/* 0 .. pi */
double ulna_angle_between(const double a[3], const double b[3]);
/* The rotation vector from g to d, rotations row by row. */
void ulna_rotation_between(const double d[9], const double g[9], double w[3]);
/* The term's point, relative to the pose's origin, and the vector r from it to the place in its goal. */
void ulna_term_point(const ulna_term *term, const ulna_body_place *place, double p[3], double r[3]);

/* Adding a term, when it is complete but for its weight. */
ulna_status ulna_term_add(ulna_problem *problem, ulna_term *term, double weight, int *number, ulna_error *error);
/* Puts goal (and what else it holds) in canonical form; if that cannot be done, `fault` says why. */
ulna_status ulna_term_normalise(ulna_term *term, const char **fault);
int ulna_term_goal_size(const ulna_model *model, const ulna_term *term);
int ulna_weight_is_valid(double weight);
/* Brings a vector to unit length; 0 if it has none. */
int ulna_unit_length(double x[3]);
int ulna_limits_are_valid(const double *lower, const double *upper, int n);
/* Pulls (kernel.h) that a term of this type becomes. */
int ulna_pulls_of(ulna_term_type type);
/* The term of that number, or NULL. */
ulna_term *ulna_term_at(const ulna_problem *problem, int term);

/* The length by which everything scales that is measured in metres: the model's length scale. A skeleton that is one point has
 * none, and the terms give it: half of the longest way between two of their points, as if these were markers; else the length that
 * the caller gave; else the distance of the farthest goal from the root. 1 if all of these are zero. O(1), or O(terms). */
double ulna_problem_length_scale(const ulna_problem *problem);
/* Finds what depends on the length scale: the weight of rotations, if the caller gave none, and the least distance of an aim. */
void ulna_problem_measure(ulna_problem *problem);
/* Something was added: it must be sorted again, and works made before are refused. */
void ulna_problem_drop_ready(ulna_problem *problem);
/* Fills problem->unit, if the problem is ready. */
void ulna_problem_set_units(ulna_problem *problem);
/* As ulna_problem_set_points, for terms and goals that are known to be right. */
void ulna_problem_put_points(ulna_problem *problem, int first, int count, const double *goals);
/* The points first .. first + count - 1 count by a robust loss of the scale c, metres (INFINITY: by their squares); all of a
 * problem that do have the same kind of loss. */
ulna_status ulna_problem_set_loss(ulna_problem *problem, int first, int count, ulna_loss loss, double scale);

/* Reference (nq) and factors (nv) of a posture term at once; the caller has checked them. */
void ulna_problem_set_posture(ulna_problem *problem, int term, const double *reference, const double *factors);

/* Weight in f of a term's residuals: its weight, times length^2 for rotations; 0 while asleep. */
double ulna_term_weight(const ulna_problem *problem, const ulna_term *term);
/* Writes a term's goal and weight into the sorted arrays. */
void ulna_term_refresh(ulna_problem *problem, const ulna_term *term);
/* Goals, weights and lengths of a problem into another one that begins with the same terms: a clone, perhaps with
 * more. */
ulna_status ulna_problem_copy_goals(const ulna_problem *from, ulna_problem *to);

struct ulna_work {
    ulna_allocator allocator;
    size_t bytes;
    const ulna_problem *problem;
    ulna_pose *pose;
    ulna_sweep sweep;
    ulna_targets targets;
    ulna_extras extras;
    ulna_diagonal diagonal; /* points to the three below */

    unsigned structure, changes; /* of the problem when the work was made, and when it was last evaluated */
    unsigned placements;         /* of the pose then */
    int evaluated, composed, factored;
    double *slope, *curve;          /* terms on coordinates: gradient and diagonal */
    double *couple, *couple_second; /* inside quaternions; NULL if there is no such term */
    double *zeros;                  /* nv: stays so */
    double *shifted; /* nv if there are couplings: shift of the last step and their part of the diagonal */
    ulna_pair *extra_curvature, *extra_second;
    ulna_vec4 *extra_moment;
    unsigned char *locked_copy;  /* nv */
    const unsigned char *locked; /* locked_copy, or NULL if the last step locked none */
    double *coupled;             /* Woodbury: nv x k solutions, then k x k factor, then 2 k */
    int *coupling_dof;           /* 2 for each coupling, of ulna_coupling_row, and their coefficients */
    double *coupling_coefficient;
    int has_centre_velocity; /* of the last ulna_border_step */
    double centre_velocity[4];

    /* Constraints: NULL without any. */
    ulna_pair *loaded_curvature, *loaded_second; /* extras of the terms, and of rows that were loaded (constraint.h) */
    ulna_vec4 *loaded_moment;
    double *frozen;          /* 9 for each constraint: axes of its rotation rows */
    unsigned char *has_axes; /* for each constraint: whether they are set */
    int has_bends;           /* loaded_second is not zero */
    unsigned char *is_flat;  /* nl: only loaded_moment is not zero */
    int *loaded_of;          /* nl: which of these a link has, -1 for none */
    unsigned char *
        has_old_axes; /* for each constraint: whether its frozen axes are no longer good where rows were last evaluated */
    ulna_vec4 *mass_moment; /* nl, scratch for constraints on the centre of mass: sums over subtrees */
};

/* Where a body was put by the last evaluation. */
void ulna_work_place(const ulna_work *work, int body, ulna_body_place *place);
/* What a spatial row does to each DOF on the path of a body: row . S_j into column j of J (m rows), at row `at`. */
void ulna_spread_row(const ulna_work *work, int body, const double row[6], size_t at, size_t m, double *jacobian);

/* Value and residual of a point, relative to the pose's origin, or of a direction. The sweeps keep their sums alone. */
void ulna_pull_value(const ulna_work *work, const ulna_term *term, const ulna_pull *pull, double p[3], double r[3]);

/* ULNA_OK if the derivatives at hand are those of the problem as it is; ULNA_ERR_STATE if it must be evaluated (again). */
ulna_status ulna_work_check(const ulna_work *work);

/*
 * The exact Hessian in tree rows (model->tree: tree.row[nv] numbers), H(t) = JtJ - t S: t = 0 Gauss-Newton, t = 1
 * exact. `gradient` may be NULL. With `second` given, `rows` receives JtJ and `second` S, and t is not used. Coupling
 * terms are not in the rows, since they leave the pattern. O(DOF x depth).
 */
ulna_status ulna_work_hessian(ulna_work *work, double t, double *gradient, double *rows, double *second);

/* The band of H(t) around the diagonal, couplings left out, without forming H: for the preconditioner of ulna_pcg on deep
 * skeletons. Fills band->entries for the n and width that the caller set; ulna_band_factor is the next call. O(DOF x width). */
ulna_status ulna_work_hessian_band(ulna_work *work, double t, ulna_band *band);

/* x = (H(t) + shift)^-1 right with the factors of the last ulna_work_step, ulna_work_sensitivity or ulna_work_covariance;
 * locked DOFs give 0. x may be `right`. Factors are gone (ULNA_ERR_STATE) after an evaluation, a step that failed, and
 * products: ulna_work_hessian_multiply and _band. */
ulna_status ulna_work_step_solve(ulna_work *work, const double *right, double *x);

/* Terms on coordinates at work->pose->q: adds to f, fills slope, curve and couple. */
double ulna_coordinate_terms(ulna_work *work);
/* Rows of coordinate and coupling terms for ulna_work_residuals; J is m x nv from row `at` on. Returns the rows written. */
int ulna_coordinate_residuals(const ulna_work *work, const ulna_term *term, int at, int m, double *residuals,
                              double *jacobian);
/* Distances of the point terms first .. first + count - 1 where the pose stands, evaluated or only placed; NaN if asleep. With
 * `is_stepped`: after the last ulna_work_step, to first order: its twist moves a point by w x p + v. Not beside couplings. */
ulna_status ulna_point_errors(const ulna_work *work, int first, int count, int is_stepped, double *errors);
/* How far one DOF is from a posture, or beyond its limits; unweighted. */
double ulna_coordinate_error(const ulna_work *work, const ulna_term *term, int dof);
/* Residual of a coupling: q_b - ratio q_a - offset, with its sign as goal - value. */
double ulna_coupling_residual(const ulna_work *work, const ulna_term *term);
double ulna_coupling_weight(const ulna_problem *problem, const ulna_term *term);
/* Adds -d(gradient)/d(goal) of number `column` of the goal (problem.h: ulna_work_sensitivity) to `right` (nv). */
void ulna_coordinate_goal_slope(const ulna_work *work, const ulna_term *term, int column, double *right);

/* ---- abreast.c: a damped Gauss-Newton step for ULNA_ABREAST poses at once, each with goals and weights of its own ------------ */

typedef struct ulna_abreast ulna_abreast;

/* *abreast is NULL if the skeleton or its terms are of a kind that only single steps know (kernel_abreast.inc): quaternions, say. Of the
 * problem only points count; `hold` is what is said of coordinates. `metric` (nv), `locked` (nv, or NULL) and the arrays of `hold` stay
 * the caller's: damping of a DOF is lambda times its metric. */
ulna_status ulna_abreast_create(const ulna_problem *problem, const double *metric, const unsigned char *locked,
                                const ulna_abreast_hold *hold, const ulna_allocator *allocator, ulna_abreast **abreast);
void ulna_abreast_destroy(ulna_abreast *abreast);
/* Puts a pose into a lane, until the next solve: q, the poses that hold it, of which one may be NULL, and where the points, the
 * first terms of the problem, should be (3 each; NaN: missing). q, before and after must stay until then. */
void ulna_abreast_load(ulna_abreast *abreast, int lane, const double *q, const double *before, const double *after,
                       const double *points);
/* All steps, damped by lambda = kappa f: f counts as `most_f` at most, and lambda is `least_lambda` at least. */
void ulna_abreast_solve(ulna_abreast *abreast, const ulna_work *work, double kappa, double most_f, double least_lambda);
/* The step of a lane (nv); 0 if there is none, as its matrix is not positive definite. */
int ulna_abreast_step(const ulna_abreast *abreast, int lane, double *step);
/* The same for distances of points from where they should be: a pose into a lane; all of them (ULNA_ERR_NUMBER if a q is not finite); those
 * of a lane (NaN: missing). The points must be the first terms of the problem: one number for each, in their order. */
void ulna_abreast_load_measured(ulna_abreast *abreast, int lane, const double *q, const double *points);
ulna_status ulna_abreast_measure(ulna_abreast *abreast, const ulna_work *work);
void ulna_abreast_distances(const ulna_abreast *abreast, int lane, double *distances);

#endif
