/*
 * ulna/solve.h: finds the joint values that meet the goals of a problem (problem.h) best.
 *
 * A solver is a problem, a method, and all the memory that they need. Create it once; for each frame, change the goals and call
 * ulna_solve, which allocates nothing.
 *
 *     ulna_options options = ulna_options_default();
 *     ulna_result result;
 *     ulna_solver_create(problem, &options, NULL, &solver, &error);
 *     ulna_solve(solver, q, &result); // q (nq numbers) is the start, and afterwards the answer
 *     ulna_solver_destroy(solver);
 *
 * A single problem takes one call:
 *
 *     ulna_result result;
 *     ulna_solve_once(problem, NULL, q, &result, &error);
 *
 * The status that a call returns says whether it could do its work; result.stop says why the iteration ended. A goal out of reach is
 * not an error: q is then the best that was found. All of `result` describes the q that is returned.
 *
 * Limits: methods with the flag ULNA_METHOD_BOUNDED never return a q outside the limits; a start outside is first moved onto them.
 * The other methods ignore limits, as the papers that they come from do; result.violation says by how much.
 *
 * Rotation vectors (expmap, swing-twist) longer than 1.5 pi are replaced by the same rotation within pi, at the start and on the way, unless f
 * would rise, or limits, locked DOFs or sums of coordinates look at the vector itself.
 *
 * Units: steps, damping and default tolerances are relative to the model's length scale (ulna_model_length_scale), so a solve takes the
 * same iterations in millimetres, metres or kilometres; bit for bit if the ratio of the units is a power of two. If all joints are in
 * one place, the points of the terms give the length scale instead; or ulna_problem_set_length; or the farthest goal. Where goals are so far
 * away that f is too coarse to show whether the joints are right, `stop` is `stalled` and not one that counts as converged.
 *
 * Threads: one solver per thread. The same start and options on the same machine give the same bits, unless the time limit `seconds`
 * ends a solve or hybrid.keep_damping lets a solve depend on the one before.
 */
#ifndef ULNA_SOLVE_H
#define ULNA_SOLVE_H

#include <stdint.h>

#include "ulna/constraint.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- methods ------------------------------------------------------------------------------------------------- */

enum {
    ULNA_METHOD_BOUNDED = 1,    /* keeps joint limits */
    ULNA_METHOD_MONOTONE = 2,   /* f never rises from one iteration to the next, unless to keep constraints */
    ULNA_METHOD_JACOBIAN = 4,   /* forms the dense Jacobian: residuals x nv numbers, O(nv^2 residuals) time */
    ULNA_METHOD_HESSIAN = 8,    /* uses second derivatives */
    ULNA_METHOD_LAPACK = 16,    /* not in a minimal build */
    ULNA_METHOD_POSITIONS = 32, /* supports only terms that pull points: see `supports` */
    ULNA_METHOD_SOFT = 64,      /* limits are penalties: kept approximately */
    /* Begins with a convex relaxation (global.h) and ignores the start: ulna_solve then allocates, may take seconds, and only one
     * thread at a time runs it. */
    ULNA_METHOD_RELAXATION = 128,
    ULNA_METHOD_CONSTRAINED = 256 /* keeps constraints (constraint.h) */
};

typedef struct ulna_method_info {
    const char *name;     /* for options.method */
    const char *summary;  /* one line */
    const char *source;   /* paper and equations */
    const char *supports; /* which terms and joints it supports, in words */
    unsigned flags;       /* ULNA_METHOD_... */
    int iterations;       /* its default limit of iterations */
} ulna_method_info;

/* The methods, numbered 0 to count - 1, the default first. NULL for other numbers. */
ULNA_API int ulna_method_count(void);
ULNA_API const ulna_method_info *ulna_method_at(int index);
ULNA_API const ulna_method_info *ulna_method_find(const char *name); /* NULL if no method has that name */

/* ---- why an iteration ended ------------------------------------------------------------------------------------ */

typedef enum ulna_stop {
    ULNA_STOP_NONE = 0,  /* not ended yet (ulna_solver_step only) */
    ULNA_STOP_OBJECTIVE, /* f <= options.objective: the goals are met */
    ULNA_STOP_GRADIENT,  /* the projected gradient is below options.gradient: a stationary point */
    ULNA_STOP_DECREASE,  /* f fell, or is predicted to fall, by no more than options.decrease times f */
    ULNA_STOP_STEP,      /* the last step was shorter than options.step */
    ULNA_STOP_STALLED,   /* the method found no lower f, and none of the above holds */
    ULNA_STOP_INFEASIBLE, /* the constraints contradict each other or are out of reach, as far as q shows: it has the least violation nearby */
    ULNA_STOP_ITERATIONS,  /* the limit of iterations */
    ULNA_STOP_EVALUATIONS, /* the limit of evaluations of f */
    ULNA_STOP_TIME,        /* the limit of seconds */
    ULNA_STOP_CANCELLED,   /* options.cancel returned non-zero, or ulna_solver_end was called early */
    ULNA_STOP_COUNT
} ulna_stop;

ULNA_API const char *ulna_stop_name(ulna_stop stop); /* "objective", "gradient", ...; never NULL */
ULNA_API const char *ulna_stop_text(ulna_stop stop); /* a short explanation */

/* A row of the trace: one iteration. Row 0 is the start. */
typedef struct ulna_trace_row {
    int attempt;     /* 0 for the first, then the number of the restart */
    int iteration;   /* within the attempt */
    int evaluations; /* evaluations of f so far, in all attempts */
    int accepted;    /* 0: the step was rejected and q did not change */
    int negative;    /* 1: the method's matrix had a negative eigenvalue; 0: none; -1: unknown */
    double f;        /* m^2; for `penalty`, including the penalties */
    double gradient; /* largest component of the projected gradient, as in ulna_result */
    double step;     /* largest change of a DOF: radians, or metres / length scale */
    /* Damping lambda in m^2 / rad^2 (lm-marquardt: a plain factor). Trust-region methods: the radius. Line searches and transpose: the
     * step length. */
    double damping;
    double exactness; /* of the Hessian: 0 Gauss-Newton, 1 exact */
    double seconds;   /* since the start of the solve */
} ulna_trace_row;

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* How lm and lm-marquardt change lambda after a step, by its gain: actual decrease of f / predicted decrease. */
typedef enum ulna_damping_rule {
    ULNA_DAMPING_NIELSEN = 0, /* Nielsen 1999: a smooth function of the gain, down to 1/3; x 2, 4, 8, ... if f rises */
    ULNA_DAMPING_CLASSIC,     /* Marquardt 1963: / 10 if f falls, x 10 if it rises */
    ULNA_DAMPING_QUARTERS     /* Fletcher 1971: / 2 if the gain is above 3/4, x 2 below 1/4, x 2 to 10 if f rises */
} ulna_damping_rule;

typedef enum ulna_dls_rule {
    ULNA_DLS_ERROR = 0, /* damping proportional to f: strong far from the goals, zero at them (Chan & Lawrence 1988) */
    ULNA_DLS_FIXED,     /* constant damping, relative to JtJ at the start */
    ULNA_DLS_ABSOLUTE   /* constant damping: lambda of eq. 35 of the recipe as it stands, m^2 / rad^2 */
} ulna_dls_rule;

/* The metric in which bfgs, lbfgs, cg and gradient begin. */
typedef enum ulna_first_metric {
    ULNA_START_SCALED = 0, /* Gauss-Newton's diagonal at the start */
    ULNA_START_IDENTITY    /* the identity, over radians and length scales: as in textbooks and in MATLAB's fminunc */
} ulna_first_metric;

typedef enum ulna_pinv_form {
    ULNA_PINV_SVD = 0, /* by singular values: exists at every pose */
    ULNA_PINV_ROWS /* Jt (JJt)^-1, eq. 34 of the recipe, by the residuals x residuals matrix: exists only where all residuals are
                          independent, and stops as `stalled` elsewhere */
} ulna_pinv_form;

typedef enum ulna_line_search { ULNA_LINE_WOLFE = 0, ULNA_LINE_BACKTRACKING } ulna_line_search;

/* The step that virtual-work takes as if there were no constraints. */
typedef enum ulna_virtual_step {
    ULNA_VIRTUAL_GRADIENT = 0, /* down the gradient: ends where the KKT conditions hold */
    ULNA_VIRTUAL_GAUSS_NEWTON /* damped Gauss-Newton: comes to rest at a point that is not a minimum, and says `stalled` */
} ulna_virtual_step;

typedef struct ulna_options {
    const char *method; /* name of the method; NULL: "hybrid" */

    /* What may move, and how far. The solver copies the arrays. */
    int bounded;                 /* 1: keep the limits, if the method can; 0: ignore them */
    const double *lower, *upper; /* nv each: limits; +-INFINITY for none. NULL: those of the model */
    const unsigned char
        *locked; /* nv: non-zero keeps a DOF at its start value. NULL: none is locked. Lock all three DOFs of a
                                     quaternion or none: two of its rotations can produce the third */
    const double *strength; /* nv, >= 0: scale of the steps of each DOF; 0 locks it. NULL: the model's */

    /* When to stop. 0 disables a rule, except `iterations`, where it means the method's default. `evaluations` and `seconds` are checked
     * after each iteration, and one iteration may take several evaluations. Methods that predict the decrease also stop with `decrease`
     * when it is below 1e-15 f, which is rounding. */
    double objective; /* stop once f is at or below this: m^2, or if negative, a multiple of the length scale squared */
    double decrease;  /* stop once an iteration decreases f by less than this times f */
    double gradient;  /* stop once no component of the projected gradient / length scale^2 is larger */
    double step;      /* stop once no component of the step is larger: radians, or metres / length scale */
    /* With constraints (constraint.h) an end is only an end if no row is violated by more than `violation` times the length scale; and
     * hybrid goes on until the KKT residual is below `kkt` times the largest weight times length scale^2, unless hybrid.verify is 0; or, where
     * rounding lets it fall no further, below 1e3 times that, with `decrease`. With levels the bound is 1e4 times that, or the rounding of
     * the largest multiplier. lagrange and virtual-work end as `stalled` where it is not. */
    double violation, kkt;
    int iterations;  /* limit for each attempt */
    int evaluations; /* limit for all attempts together */
    double seconds;  /* limit for all attempts together */
    int (*cancel)(void *context,
                  const ulna_trace_row *now); /* called after each iteration; non-zero stops. May be NULL */
    void *cancel_context;                     /* passed to `cancel` */

    /* Restarts: while f > stop_below, try again from another start. The best attempt is returned. */
    int restarts;          /* at most this many; 0 for none */
    int agreeing_restarts; /* stop once this many attempts ended within 1 % of the best f; 0: make all restarts */
    double stop_below;     /* f that is good enough; unit as for `objective` */
    uint64_t seed;         /* of the random numbers that choose the starts */

    /* Trace: one row per iteration is written to `trace`. Rows beyond the capacity are counted in result.trace_count, not written. */
    ulna_trace_row *trace;
    int trace_capacity;

    /* Options of single methods. */
    struct {
        double kappa; /* initial damping / f; a tenth of it is used if the goals are near */
        int keep_damping; /* 1: start with the final damping and multipliers of the last solve, unless that failed (for tracking) */
        int exact;  /* 1: use the exact Hessian where it speeds up convergence; 0: Gauss-Newton only */
        int verify; /* 1: check that the end is a minimum, and leave saddle points along negative curvature */
        int trust_last; /* 1: take the last step, predicted to decrease f by less than `decrease`, without evaluating f there */
    } hybrid;
    struct { /* hybrid on a problem with levels of constraints (constraint.h) */
        double
            ratio; /* price of a level over that of the one above it, 1e-6 to 0.5: 1e-2 for real time, 1e-3 strict. For n > 4 levels
                      no less than 1e-12^(1/n), which is what numbers allow */
        double
            centre; /* of the length scale: errors up to this of a level that can be met are removed exactly from one frame to the next */
    } levels;
    struct {
        int line_search; /* newton: 0: trust region; 1: line search (eq. 10 of the exact-Hessian paper) */
        double radius;   /* newton and newton-pcg: initial trust-region radius, radians */
    } newton;
    struct {                /* newton-pcg: the inner conjugate gradients */
        double tolerance;   /* relative residual at which they stop (the paper's epsilon) */
        int band_width;     /* of the banded preconditioner (the paper's b) */
        int max_iterations; /* 0: nv^2 */
        int fixed;       /* 1: the tolerance stays as it is; 0: it becomes smaller near the end, for fast convergence */
        int nearest_spd; /* 1: replace an indefinite Hessian by the nearest semidefinite one (Higham 1988); dense, O(nv^3) */
    } pcg;
    struct { /* lm and lm-marquardt */
        ulna_damping_rule rule;
        double damping; /* initial lambda; lm: relative to the largest diagonal element of JtJ */
    } lm;
    struct {
        ulna_dls_rule rule;
        double
            damping; /* ULNA_DLS_ERROR: lambda / f; ULNA_DLS_FIXED: lambda / largest diagonal element of JtJ at the start.
                        ULNA_DLS_ABSOLUTE: lambda, m^2 / rad^2. 0: the default of the rule: 1, 1e-3, 1e-3 */
    } dls;
    struct {
        ulna_pinv_form form;
    } pinv;
    struct { /* pinv, qr, transpose and virtual-work */
        double
            tolerance; /* pinv, virtual-work: singular values below this times the largest count as 0; qr: likewise pivots */
        double
            max_step; /* longer steps are shortened to this largest component, radians or metres / length scale; 0: never */
    } dense;
    struct { /* bfgs, lbfgs, cg and gradient */
        ulna_first_metric start;
    } bfgs;
    /* A fixed step length, as the survey has it: dq = -alpha g, rad^2 / m^2 (translations: times the length scale squared). Every step is
     * taken, whether f falls or not, and the best point is returned. 0: a length that the method finds itself. */
    struct {
        double gradient, transpose; /* by name: gradient.alpha, transpose.alpha */
    } alpha;
    struct { /* line searches of bfgs, lbfgs, cg and newton (gradient always uses backtracking) */
        ulna_line_search
            rule; /* with limits, the search path is projected onto them, and a step that meets one need only satisfy
                                  the `sufficient` condition */
        double sufficient; /* c1 of the Wolfe conditions: sufficient decrease */
        double curvature;  /* c2 of the Wolfe conditions */
        int memory;        /* lbfgs: number of pairs kept */
    } line;
    struct {
        const char *method; /* method that solves the problem with penalties in place of limits; NULL: "hybrid" */
        double weight;      /* of the penalties (lambda of eq. 16 of the convex-IK paper) */
        double
            length; /* m: the penalty of an angle is 1/2 weight length^2 (angle beyond its limit)^2. 0: the problem's length scale. 1: the
                          weight is in m^2 / rad^2, which is eq. 16 with lengths in metres; 0.01: in centimetres, and so on */
    } penalty;
    struct {
        ulna_virtual_step step;
    } virtual_work;
    struct {
        int exact; /* 1: Hessian of the Lagrangian where it is positive definite on the constraints; 0: Gauss-Newton only */
        int slack; /* 1: inequalities C >= 0 as C - s^2 = 0 (eq. 30 of the survey). Comes to rest where s = 0, though the multiplier
                      pulls, and says `stalled`; 0: by an active set */
    } lagrange;
} ulna_options;

/*
 * Method hybrid, limits kept; objective 1e-24 length scale^2, decrease 1e-9, gradient 1e-13, step 1e-14, violation and kkt 1e-10; no limit
 * of evaluations or seconds; no restarts, stop_below 1e-12 length scale^2, seed 1.
 */
ULNA_API ulna_options ulna_options_default(void);

/* ---- options by name --------------------------------------------------------------------------------------------- */

typedef enum ulna_option_type {
    ULNA_OPTION_REAL,   /* double */
    ULNA_OPTION_COUNT,  /* int */
    ULNA_OPTION_FLAG,   /* int: 0 or 1; also no and yes */
    ULNA_OPTION_CHOICE, /* an enum, by one of the words in `choices` */
    ULNA_OPTION_METHOD, /* the name of a method */
    ULNA_OPTION_SEED    /* uint64_t */
} ulna_option_type;

/* A number or word of ulna_options. Arrays, functions and the trace have no names. */
typedef struct ulna_option_info {
    const char *
        name; /* as in C: "objective", "pcg.band_width"; but "gradient.alpha" for alpha.gradient, and "transpose.alpha" */
    ulna_option_type type;
    double least, most;  /* range of a number */
    int is_open;         /* 1: `least` itself is not allowed */
    const char *choices; /* words, separated by blanks, for the values 0, 1, ... of an enum */
    const char *methods; /* which use it: names, separated by blanks; NULL: all */
    const char *meaning; /* one or two sentences */
    size_t offset;       /* in ulna_options */
} ulna_option_info;

ULNA_API const ulna_option_info *ulna_option_at(int index); /* NULL past the last */
/* Sets an option by its name to a value that is written as text. Errors (ULNA_ERR_ARGUMENT) have the nearest names, or the range. */
ULNA_API ulna_status ulna_options_set(ulna_options *options, const char *name, const char *value, ulna_error *error);
/* The value that `options` has, as text that ulna_options_set reads. */
ULNA_API void ulna_option_text(const ulna_option_info *option, const ulna_options *options, char *text, size_t size);

/* ---- results ----------------------------------------------------------------------------------------------------- */

typedef struct ulna_result {
    ulna_stop stop; /* why the iteration ended */
    int converged; /* 1 if stop is objective, gradient, decrease or step. For `penalty` this is about f with the penalties */
    /*
     * 1 if q was checked and is not a saddle point: the exact Hessian H of f at q is positive semidefinite on the DOFs that are neither
     * locked nor pressed against a limit by the gradient. The test is that H + 1e-8 D is positive definite, where D is the diagonal of
     * JtJ (for a DOF that moves no goal: the element of the next DOF of its kind above it). The curvature that custom terms report is
     * not checked. 0 means "not shown": the check failed or was not made. Only hybrid (with hybrid.verify), newton and newton-pcg make
     * it, and not if f <= objective, nor where a term has no second derivatives (an aim term whose point is at its goal, a rotation
     * error of half a turn), nor for `penalty`, nor if f is a prediction.
     */
    int verified;
    double f, first_f; /* m^2: at the q returned, and at the start */
    int predicted;     /* 1: f is a prediction (hybrid.trust_last) */
    /* Largest component of the projected gradient: m^2 / rad; for translations times the length scale. NaN if f is a prediction. With
     * constraints that of the Lagrangian f - sum multiplier C. */
    double gradient;
    /* With constraints; else 0. The largest violation of a hard constraint (level 0): metres, rotations times the problem's length; a prediction
     * if f is one. The KKT residual: `gradient`, or if larger a multiplier of the wrong sign, or a product of multiplier and distance
     * of an inequality; NaN if f is a prediction. How many inequalities are active. 1 if the
     * constraints were found to contradict each other, or to be out of reach: ulna_solver_constraint says which. */
    double constraint_violation, kkt;
    int active_constraints, infeasible;
    double violation; /* largest violation of a limit, radians or metres; 0 for bounded methods */
    int at_limits;    /* number of DOFs on or beyond a limit */
    int clamped;      /* number of coordinates of the start that were outside their limits and moved onto them */
    int iterations;   /* in all attempts, as are the next three */
    int evaluations;  /* of f */
    /* The same count added up over the iterations: the sum, over the rows of a trace, of the evaluations up to each. "Calls" in the tables of
     * the exact-Hessian paper seem to be counted so. */
    long long evaluations_added;
    int gradients;      /* of the gradient, where it was computed separately */
    int factorisations; /* of matrices, or eliminations on the tree */
    int attempts;       /* 1 + restarts made */
    int best_attempt;   /* the attempt that gave q */
    int trace_count;    /* rows of the trace, including those beyond its capacity */
    double seconds;     /* wall-clock time of the solve */
} ulna_result;

/* ---- solving ----------------------------------------------------------------------------------------------------- */

typedef struct ulna_solver ulna_solver;

/*
 * Allocates all memory at once. The problem must be ready (ulna_problem_ready) and outlive the solver. `options` NULL: the default.
 * Errors: an unknown method, invalid options, a method that does not support these terms (ULNA_ERR_UNSUPPORTED).
 */
ULNA_API ulna_status ulna_solver_create(const ulna_problem *problem, const ulna_options *options,
                                        const ulna_allocator *allocator, ulna_solver **solver, ulna_error *error);

/* Changes the options without allocating. ULNA_ERR_ARGUMENT if the method, or an option that memory depends on (line.memory,
 * pcg.band_width, pcg.nearest_spd, pinv.form, penalty.method, virtual_work.step, lagrange.slack), would change. */
ULNA_API ulna_status ulna_solver_set_options(ulna_solver *solver, const ulna_options *options, ulna_error *error);
ULNA_API void ulna_solver_destroy(ulna_solver *solver); /* NULL is allowed */

/* Solves from the start q (nq) and replaces q by the answer; `result` may be NULL. ULNA_ERR_NUMBER if q holds NaN or infinity, or f is
 * not finite there (a custom term that returns NaN, goals that overflow); q and `result` are then unchanged. */
ULNA_API ulna_status ulna_solve(ulna_solver *solver, double *q, ulna_result *result);

/* Creates a solver, solves, destroys it: for a single problem. `options` and `result` may be NULL. Allocates. */
ULNA_API ulna_status ulna_solve_once(const ulna_problem *problem, const ulna_options *options, double *q,
                                     ulna_result *result, ulna_error *error);

/* The same one iteration at a time, for example to draw each: begin, then step until `stop` is not ULNA_STOP_NONE (or until you have
 * seen enough), then end, which returns the best q so far; its `result` may be NULL. Goals must not change in between (ULNA_ERR_STATE). */
ULNA_API ulna_status ulna_solver_begin(ulna_solver *solver, const double *q);
ULNA_API ulna_status ulna_solver_step(ulna_solver *solver, ulna_stop *stop);
ULNA_API const double *ulna_solver_q(const ulna_solver *solver); /* the current q, nq */
ULNA_API ulna_status ulna_solver_end(ulna_solver *solver, double *q, ulna_result *result);

/* What became of a constraint, after a solve. */
typedef struct ulna_constraint_state {
    /* How far it is from being kept: as ulna_work_constraint_error. After a prediction (result.predicted): before the last step. */
    double error;
    /* Of its rows, m^2 of f per metre of the row: a force; >= 0 for inequalities. Those of a box are its sides in the order of the goal,
     * without sides that are open (infinite): row_count says how many are left. */
    double multiplier[ULNA_CONSTRAINT_CORNERS];
    int row_count;
    int active;      /* 1: an equation, or an inequality that is at its bound and presses */
    int conflicting; /* 1: it is hard and violated, and the others are in its way (result.infeasible) */
} ulna_constraint_state;

/* ULNA_ERR_STATE before the first solve, ULNA_ERR_ARGUMENT if there is no such constraint. All zero while it is switched off. */
ULNA_API ulna_status ulna_solver_constraint(ulna_solver *solver, int number, ulna_constraint_state *state);

/* The work that the solver evaluates with. After a solve it is evaluated at the answer, ready for term errors, pose and sensitivity;
 * except after a prediction (result.predicted), where you evaluate it first. With `penalty` it has the goals of the last solve. */
ULNA_API ulna_work *ulna_solver_work(ulna_solver *solver);
/* After a solve: nv, 1 for DOFs that are locked or that the gradient presses against a limit. For `locked` of ulna_step_options. */
ULNA_API const unsigned char *ulna_solver_locked(const ulna_solver *solver);
/* After a solve: 1 if the error of every term on a body with a positive weight is at most `metres`, or `radians` for rotations. `worst`
 * (may be NULL) receives the term with the largest error relative to that, ULNA_NONE if there is no such term. */
ULNA_API int ulna_solver_reached(ulna_solver *solver, double metres, double radians, int *worst);

/*
 * A better start: moves the root joint so that the points of the problem, on the skeleton posed by q, are as near to their goals as a
 * rigid motion can bring them (Kabsch 1976). A root that cannot move freely comes as near as its joint and limits allow. Fewer than
 * three points with a positive weight, or points on one line, leave part of the motion open: the smallest motion is then chosen. q does
 * not change if there are no such points, if the root cannot move, or if f would rise. `work` is a work of the problem; it is evaluated
 * at the new q.
 */
ULNA_API ulna_status ulna_work_align_root(ulna_work *work, double *q);

#ifdef __cplusplus
}
#endif
#endif
