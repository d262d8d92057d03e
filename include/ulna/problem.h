/*
 * ulna/problem.h: what the skeleton should do, and how far it is from it.
 *
 * A problem is a sum of terms, f = sum 1/2 weight |goal - value|^2. Terms on bodies pull points, directions
 * and frames; terms on coordinates hold a posture, keep to limits, couple two joints; others you write yourself. A
 * work holds the scratch to evaluate a problem: f, gradient, Hessian, step; and how the solution answers a change of
 * the goals. Add terms, call ulna_problem_ready, create a work; from then on goals and weights may change every frame
 * and nothing allocates. After a change, evaluate again: derivatives are those of the last evaluation, and calls for
 * them say ULNA_ERR_STATE until then.
 *
 * Threads: a problem that does not change may be shared by works in several threads (say, to start from many poses).
 * Goals live in the problem, so threads that solve different frames need a problem each (ulna_problem_clone); the model
 * is shared by all.
 *
 * Units: f is in square metres. A rotation counts as a length: one radian weighs as much as `length` metres
 * (ulna_problem_set_length; by default the model's length scale). All weights are then plain numbers. A skeleton whose joints are all in
 * one place has no length scale; then half of the longest way between two points of the terms is used, or 1 if there is none either.
 *
 *     double f;
 *     ulna_problem_create(model, NULL, &problem, &error);
 *     ulna_problem_add_point(problem, body, NULL, goal, 1, NULL, &error); // the origin of that body should be at the goal
 *     ulna_problem_ready(problem, &error);
 *     ulna_work_create(problem, NULL, &work, &error);
 *     ulna_work_evaluate(work, q, &f);
 */
#ifndef ULNA_PROBLEM_H
#define ULNA_PROBLEM_H

#include "ulna/kinematics.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ulna_problem ulna_problem;
typedef struct ulna_work ulna_work;

/* ---- terms --------------------------------------------------------------------------------------------- */

typedef enum ulna_term_type {
    ULNA_TERM_POINT = 0, /* a point of a body at a place */
    ULNA_TERM_ORIENTATION, /* a body's frame with a given rotation: chordal distance |R_goal - R|_F / sqrt 2, the angle if small */
    ULNA_TERM_GEODESIC,  /* the same by angle: |log(R_goal R^T)|; degenerate at 180 degrees */
    ULNA_TERM_DIRECTION, /* an axis of a body along a direction of the world */
    ULNA_TERM_AIM, /* an axis of a body, from a point of it, towards a place ("look at"); no effect at the place itself */
    ULNA_TERM_PLANE,    /* a point of a body on a plane */
    ULNA_TERM_LINE,     /* a point of a body on a line */
    ULNA_TERM_POSTURE,  /* coordinates near a reference */
    ULNA_TERM_LIMITS,   /* coordinates inside limits: a penalty beyond them */
    ULNA_TERM_COUPLING, /* one coordinate follows another: q_b = ratio q_a + offset */
    ULNA_TERM_CUSTOM,   /* what you write: a function of one body's place, see ulna_custom */
    ULNA_TERM_TYPE_COUNT
} ulna_term_type;

ULNA_API const char *ulna_term_type_name(ulna_term_type type); /* "point", "orientation", ... */

ULNA_API ulna_status ulna_problem_create(const ulna_model *model, const ulna_allocator *allocator,
                                         ulna_problem **problem, ulna_error *error);
/* The same terms on the same model, ready; for another thread that solves other frames. */
ULNA_API ulna_status ulna_problem_clone(const ulna_problem *problem, const ulna_allocator *allocator,
                                        ulna_problem **copy, ulna_error *error);
ULNA_API void ulna_problem_destroy(ulna_problem *problem);
ULNA_API const ulna_model *ulna_problem_model(const ulna_problem *problem);

/* Metres that one radian weighs; > 0. Acts on terms already there as well. */
ULNA_API ulna_status ulna_problem_set_length(ulna_problem *problem, double length);

/* Each adds one term and gives its number through `term` (may be NULL). `point` (NULL: the body's origin) and axes are in
 * the body's frame, goals in the world; axes and normals need not be unit vectors; rotations are 3x3 row by row.
 * Weight >= 0. Works made before are refused afterwards (ULNA_ERR_STATE): make new ones after ulna_problem_ready. */
ULNA_API ulna_status ulna_problem_add_point(ulna_problem *problem, int body, const double point[3],
                                            const double goal[3], double weight, int *term, ulna_error *error);
ULNA_API ulna_status ulna_problem_add_orientation(ulna_problem *problem, int body, const double goal[9], double weight,
                                                  int *term, ulna_error *error);
ULNA_API ulna_status ulna_problem_add_geodesic(ulna_problem *problem, int body, const double goal[9], double weight,
                                               int *term, ulna_error *error);
ULNA_API ulna_status ulna_problem_add_direction(ulna_problem *problem, int body, const double axis[3],
                                                const double goal[3], double weight, int *term, ulna_error *error);
ULNA_API ulna_status ulna_problem_add_aim(ulna_problem *problem, int body, const double point[3], const double axis[3],
                                          const double goal[3], double weight, int *term, ulna_error *error);
ULNA_API ulna_status ulna_problem_add_plane(ulna_problem *problem, int body, const double point[3],
                                            const double on_plane[3], const double normal[3], double weight, int *term,
                                            ulna_error *error);
ULNA_API ulna_status ulna_problem_add_line(ulna_problem *problem, int body, const double point[3],
                                           const double on_line[3], const double direction[3], double weight, int *term,
                                           ulna_error *error);
/* `reference`: nq coordinates, NULL for the model's rest; `dof_weights`: nv factors, NULL for 1. A quaternion is held
 * by its angle to the reference, with the mean of its three factors. */
ULNA_API ulna_status ulna_problem_add_posture(ulna_problem *problem, const double *reference, const double *dof_weights,
                                              double weight, int *term, ulna_error *error);
/* `lower`, `upper`: nv, NULL for the model's. Infinite limits and quaternions are free. */
ULNA_API ulna_status ulna_problem_add_limits(ulna_problem *problem, const double *lower, const double *upper,
                                             double weight, int *term, ulna_error *error);
/* Degrees of freedom that have a coordinate of their own (not a quaternion's). They may lie on different branches. */
ULNA_API ulna_status ulna_problem_add_coupling(ulna_problem *problem, int dof_a, int dof_b, double ratio, double offset,
                                               double weight, int *term, ulna_error *error);
/* One point term per marker of the model, goal = its place at rest, weight = the marker's. `first_term` (may be NULL): the first one's number. */
ULNA_API ulna_status ulna_problem_add_markers(ulna_problem *problem, int *first_term, ulna_error *error);

/* Call after the last add and before ulna_work_create: sorts the terms for the sweeps. */
ULNA_API ulna_status ulna_problem_ready(ulna_problem *problem, ulna_error *error);

ULNA_API int ulna_problem_term_count(const ulna_problem *problem);
ULNA_API int ulna_problem_term_type(const ulna_problem *problem, int term); /* -1 if out of range */
ULNA_API int ulna_problem_term_body(const ulna_problem *problem, int term); /* ULNA_NONE for terms on coordinates */

/* Changing goals: no allocation, before or after ready. Sizes by type: point, direction, aim 3; orientation, geodesic 9;
 * plane 6 (point on it, normal); line 6 (point on it, direction); posture nq; limits 2 nv (lower, then upper);
 * coupling 2 (ratio, offset); custom its goal_size. NaN is refused: to drop a term for a frame, set its weight to 0. */
ULNA_API ulna_status ulna_problem_set_goal(ulna_problem *problem, int term, const double *goal);
ULNA_API ulna_status ulna_problem_set_weight(ulna_problem *problem, int term, double weight);
/* What was set (goals in canonical form: unit vectors, clean rotations); sizes as above. NaN for a wrong number. */
ULNA_API ulna_status ulna_problem_goal(const ulna_problem *problem, int term, double *goal);
ULNA_API double ulna_problem_weight(const ulna_problem *problem, int term);
/* Goals of the `count` point terms from `first` on: 3 x count. A goal with a NaN is a missing marker: the term is
 * ignored until it is given a number again. Infinity is refused. */
ULNA_API ulna_status ulna_problem_set_points(ulna_problem *problem, int first, int count, const double *goals);

/* ---- terms of your own -------------------------------------------------------------------------------- */

/*
 * What the callback of a custom term fills in; it comes zeroed. The body moves by a small twist (w, v) taken at its
 * origin: it rotates by w about its own origin, which moves by v, both in world axes. The motion is the exponential of
 * the twist,
 *   rotation -> exp(w) rotation,   position + a -> position + a + (w x a + v) + 1/2 w x (w x a + v) + ...
 * Then value_k -> value_k + row_k (w, v) + 1/2 (w, v) B_k (w, v) + ...
 * ulna_custom_point and ulna_custom_direction do that arithmetic for functions of a point or an axis of the body.
 */
typedef struct ulna_custom_value {
    double residual[3]; /* goal - value, unweighted; the first residual_count are read, here and in `row` */
    double row[3][6];   /* d value_k / d(w, v) */
    double bend[6][6];  /* sum over k of residual_k B_k, of which the symmetric part counts. Left zero, the term brings
                           its Gauss-Newton curvature alone: still a right step, but no quadratic convergence */
} ulna_custom_value;

/*
 * A kind of term: f gains 1/2 weight |residual|^2, so residuals in metres weigh as points do. `evaluate`
 * gets the goal (goal_size numbers) and where the body is in the world: rotation row by row, position of its origin.
 *
 * It must be a pure function of its arguments and of what `context` points to: same input, same numbers. It is called
 * by ulna_work_evaluate, ulna_work_residuals, ulna_work_term_error and ulna_work_sensitivity, and by all that calls these, any number of
 * times, in the caller's thread: in several at once where works share a problem or its clones. It may not call
 * anything on that work or problem, nor change what `context` points to, which must outlive the problem and its
 * clones. It has no status: a NaN or infinite number makes ulna_work_evaluate say ULNA_ERR_NUMBER. While the weight is 0
 * it is not called.
 *
 * Far from the world's origin the position is rounded as any double is (1e-11 m at 100 km); rows and bend, being taken
 * at the body, lose nothing. Try new terms with ulna_work_check_derivatives: `jacobian` shows a wrong row, `hessian` a wrong
 * or missing bend.
 */
typedef struct ulna_custom {
    void (*evaluate)(const void *context, const double *goal, const double rotation[9], const double position[3],
                     ulna_custom_value *value);
    const void *context; /* yours; may be NULL */
    int goal_size;       /* 0 .. 9 numbers that ulna_problem_set_goal may change */
    int residual_count;  /* 1 .. 3 */
} ulna_custom;

/* `custom` is copied; `goal` has goal_size numbers and may be NULL if that is 0. `term` (may be NULL) and the rest as in the other terms. */
ULNA_API ulna_status ulna_problem_add_custom(ulna_problem *problem, int body, const ulna_custom *custom,
                                             const double *goal, double weight, int *term, ulna_error *error);

/*
 * For callbacks: value_k is a function h of a point of the body, `arm` = rotation * (point in the body's frame),
 * world axes. Adds to row k, and to `bend` residual_k times the second derivative, from the gradient of h (3) and its
 * second derivatives (3x3, NULL for none). Set residual_k before. The second is for functions of a direction of the
 * body, `arm` being the direction. A value of both calls both, if it is a sum of the two.
 */
ULNA_API void ulna_custom_point(ulna_custom_value *value, int k, const double arm[3], const double gradient[3],
                                const double *curvature);
ULNA_API void ulna_custom_direction(ulna_custom_value *value, int k, const double arm[3], const double gradient[3],
                                    const double *curvature);

/* ---- work ---------------------------------------------------------------------------------------------- */

/* The problem must be ready and must outlive the work. */
ULNA_API ulna_status ulna_work_create(const ulna_problem *problem, const ulna_allocator *allocator, ulna_work **work,
                                      ulna_error *error);
ULNA_API void ulna_work_destroy(ulna_work *work);
/* Where the last evaluation put the bodies, for Jacobians and positions. Placing it elsewhere asks for a new evaluation. */
ULNA_API ulna_pose *ulna_work_pose(ulna_work *work);
/*
 * How many threads fill dense matrices: ulna_work_hessian_dense, the Jacobian of ulna_work_residuals, and
 * ulna_pose_jacobian on ulna_work_pose. 1 by default; 0: OpenMP's own choice, one per processor or OMP_NUM_THREADS. Only
 * large matrices are filled by several threads, from about 0.1 ms of work on. The result has the same bits for any number.
 * OpenMP starts the threads, with memory from the heap, at the first matrix that is large enough, and keeps them. Here as
 * in every option `threads` of the library, any number from 0 on is allowed: no more are started than there are pieces of
 * work, and never more than 256. ULNA_ERR_UNSUPPORTED, unless for 1, in a build without OpenMP; ULNA_ERR_ARGUMENT below 0.
 */
ULNA_API ulna_status ulna_work_set_threads(ulna_work *work, int threads);

/* f at q: forward kinematics and residuals, O(bodies + terms). The calls below are about the q of the last evaluation.
 * ULNA_ERR_NUMBER if q holds NaN or infinity. */
ULNA_API ulna_status ulna_work_evaluate(ulna_work *work, const double *q, double *f);

/* Gradient, nv. O(DOF). */
ULNA_API ulna_status ulna_work_gradient(ulna_work *work, double *gradient);

/* product = H(t) x with the Hessian H(t) = JtJ - t S: t = 0 Gauss-Newton, t = 1 exact. H is not formed. O(DOF). */
ULNA_API ulna_status ulna_work_hessian_multiply(ulna_work *work, double t, const double *x, double *product);

/* H(t) as a dense matrix, nv x nv, both triangles. O(DOF x depth), and nv^2 numbers. */
ULNA_API ulna_status ulna_work_hessian_dense(ulna_work *work, double t, double *hessian);
/* Eigenvalues of D H(t) D, ascending, where D is the diagonal matrix of `scale` (nv; NULL: 1): H in other units of the degrees of freedom.
 * Those with scale 0 are left out. `values` has room for nv, `count` (may be NULL) receives how many there are. Largest over least is
 * the condition number. Allocates; O(nv^3). ULNA_ERR_UNSUPPORTED in a minimal build. */
ULNA_API ulna_status ulna_work_hessian_eigenvalues(ulna_work *work, double t, const double *scale, double *values,
                                                   int *count, ulna_error *error);

/* ---- one step by elimination ---------------------------------------------------------------------------- */

typedef struct ulna_step_options {
    double t;                    /* 0 Gauss-Newton ... 1 exact */
    const double *shift;         /* nv, added to the diagonal (damping); NULL for none */
    const unsigned char *locked; /* nv: 1 = the DOF moves by `displacement` only; NULL: all free */
    const double *displacement;  /* nv; NULL: locked DOFs do not move */
} ulna_step_options;

ULNA_API ulna_step_options ulna_step_options_default(void); /* t = 0, no shift, all free */

/*
 * Solves (H(t) + shift) step = -gradient on the tree in O(DOF), without J or H. `decrease` (may be NULL) receives that of
 * the quadratic model, shift included. ULNA_ERR_INDEFINITE if a pivot is negative, ULNA_ERR_SINGULAR if it is zero to
 * rounding, as in a redundant chain without damping; `failed_dof` (may be NULL) then says where. Raise the shift or lower
 * t. ULNA_ERR_NUMBER if a shift or displacement is NaN or infinite. Limits and strengths of the model are not looked at:
 * that is for solvers, or for `locked`.
 */
ULNA_API ulna_status ulna_work_step(ulna_work *work, const ulna_step_options *options, double *step, double *decrease,
                                    int *failed_dof);

/* ---- rows for dense methods ----------------------------------------------------------------------------- */

/* Number of residuals m; f = 1/2 |r|^2. */
ULNA_API int ulna_work_residual_count(const ulna_work *work);
/* r (m) = sqrt(weight) (goal - value), and J (m x nv, column-major) = d value / dq times sqrt(weight); `residuals` and `jacobian` may be NULL. */
ULNA_API ulna_status ulna_work_residuals(ulna_work *work, double *residuals, double *jacobian);
/* How far one term is from its goal, unweighted: metres for points, planes and lines; radians for orientations, directions
 * and aim; for terms on coordinates and custom ones the root of the sum of squares. NaN for a missing marker;
 * ULNA_ERR_NUMBER if the function of a custom term gives none. */
ULNA_API ulna_status ulna_work_term_error(ulna_work *work, int term, double *error);

/* ---- at the solution: how the joints answer --------------------------------------------------------------- */

/*
 * dq/dgoal: how the solution moves when a goal does, by the implicit function theorem with the exact Hessian:
 *   (H + shift) dq = -d(gradient)/d(goal).
 * The work is evaluated at the solution. `dq` is nv x columns, column-major; each column is a step, as
 * ulna_model_integrate takes it, per unit of one number of the goal. Columns by type:
 *   point, aim 3      the place
 *   direction 3       the direction, which is brought back to unit length: moving it along itself does nothing
 *   orientation 3     a rotation vector, world axes: R_goal -> exp(x) R_goal
 *   geodesic 3        the same
 *   plane, line 6     the point on it; then its normal or direction, brought back to unit length
 *   posture nv        a step of the reference: reference (+) x
 *   limits 2 nv       lower, then upper; 0 for limits that q is not beyond
 *   coupling 2        ratio, offset
 *   custom goal_size  by central differences over the goal, of 6e-6 times the larger of 1 and the number: to some 1e-9
 * `locked` (nv or NULL): degrees of freedom that do not move, as those at a limit; their rows are 0. Lock all three of a
 * quaternion or none. `shift` (nv or NULL) is added to the diagonal: without it a redundant skeleton has no single
 * answer (ULNA_ERR_SINGULAR), with a small one it is the least change of the joints. Better: a weak posture term in
 * the problem. Where the gradient of a free degree of freedom is not zero, dq is how the point of that gradient
 * moves. A missing marker and weight 0 give zeros. Statuses as ulna_work_step; ULNA_ERR_INDEFINITE says that this is no
 * minimum; ULNA_ERR_NUMBER also if a custom term fails beside its goal.
 * O(DOF x columns); does not allocate.
 */
ULNA_API ulna_status ulna_work_sensitivity(ulna_work *work, const unsigned char *locked, const double *shift, int term,
                                           double *dq);

/* Points that may sit elsewhere on their bodies, as markers whose offsets were calibrated do. */
typedef struct ulna_unsure_points {
    int first, count;        /* terms, all of type point */
    const double *deviation; /* count x 3: m, standard deviations along x, y, z of the body, independent; 0: sure */
} ulna_unsure_points;

/*
 * How sure the joints are: the covariance of q, nv x nv, if every residual has independent noise of standard
 * deviation sigma / sqrt(weight), the weight being that in f: times length^2 for rotations. In other
 * words, if weights are inverse variances, up to a common factor: sigma >= 0 is the noise, in metres, of a point of
 * weight 1. To first order in the noise the covariance is sigma^2 H^-1 JtJ H^-1 with the exact H; where residuals
 * vanish, sigma^2 (JtJ)^-1. Posture terms count as measurements too. From the data themselves, sigma is about
 * sqrt(2 f / (residuals - free degrees of freedom)). `locked` and `shift` (each may be NULL) and statuses as above: rows and columns of locked
 * degrees of freedom are 0; with a shift, H + shift is inverted; ULNA_ERR_SINGULAR if the shift is so small that
 * nothing is left of the numbers (1e-6 of the largest diagonal element is ample). `points` (may be NULL) adds what these do, to
 * first order, and without what residuals that are not 0 add. O(nv^2); does not allocate.
 */
ULNA_API ulna_status ulna_work_covariance(ulna_work *work, const unsigned char *locked, const double *shift,
                                          double sigma, const ulna_unsure_points *points, double *covariance);

/* ---- derivative checker --------------------------------------------------------------------------------- */

/* Largest differences between what the library computes and central differences, relative to the largest entry. */
typedef struct ulna_derivative_report {
    double gradient;  /* gradient against differences of f */
    double hessian;   /* exact Hessian against differences of the gradient */
    double product;   /* products against rows and against the dense matrix */
    double residuals; /* f and gradient against the residuals and their Jacobian */
    double jacobian;  /* residual Jacobian against differences of the residuals */
    /* Derivatives of the constraints that are switched on (constraint.h) against differences of their values. */
    double rows;
    double bends; /* second derivatives of a sum of them against differences of its gradient */
} ulna_derivative_report;

/* Allocates; for tests and for those who write new terms or constraints. Leaves the work evaluated at q. */
ULNA_API ulna_status ulna_work_check_derivatives(ulna_work *work, const double *q, ulna_derivative_report *report,
                                                 ulna_error *error);

#ifdef __cplusplus
}
#endif
#endif
