/*
 * ulna/solve.h: finds the joint parameters that a problem asks for.
 *
 * A solver joins a problem, a method and all the memory it needs. Make it once; then, for each frame, change goals and
 * call ulna_solve: nothing allocates.
 *
 *     ulna_options options = ulna_options_default();
 *     ulna_solver_create(problem, &options, NULL, &solver, &error);
 *     ulna_result result;
 *     ulna_solve(solver, q, &result);  // q: where to start, and the answer
 *
 * The status of the call says whether it could do its work; result.stop says why the iteration ended, and is true of the
 * q that comes back. A goal out of reach is not a failure: q is then the best that was found.
 *
 * Bounds: methods marked `bounded` never return a q outside the limits. A start outside is first moved onto them. The
 * others take no notice of limits, as in the papers that they come from, and result.violation tells.
 *
 * Units: steps, damping and default tolerances are measured in the model's length scale (ulna_model_length_scale). In
 * millimetres, metres or kilometres a solve takes the same iterations; if the ratio of the units is a power of two, bit for bit.
 * Where goals are so far away that f cannot show whether the joints are right, `stop` is stalled and not one that says converged.
 *
 * Threads: one solver per thread. Same start, same options, same machine: the same bits, unless `seconds` cuts it short
 * or hybrid.carry lets one solve learn from the last.
 */
#ifndef ULNA_SOLVE_H
#define ULNA_SOLVE_H

#include <stdint.h>

#include "ulna/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- methods ------------------------------------------------------------------------------------------------- */

enum {
    ULNA_METHOD_BOUNDED = 1,    /* keeps joint limits itself */
    ULNA_METHOD_MONOTONE = 2,   /* f never rises from one iteration to the next */
    ULNA_METHOD_JACOBIAN = 4,   /* forms the dense Jacobian, residuals x nv: memory, and O(nv^2 residuals) time */
    ULNA_METHOD_HESSIAN = 8,    /* uses second derivatives */
    ULNA_METHOD_LAPACK = 16,    /* not in a minimal build */
    ULNA_METHOD_POSITIONS = 32, /* takes only terms that it can see as points to be reached: see its text */
    ULNA_METHOD_SOFT = 64,      /* limits are penalties: kept nearly, not exactly */
    /* Begins with a relaxation of all postures (global.h), wherever the start is: that allocates in ulna_solve and takes up to
     * seconds, and threads take turns. */
    ULNA_METHOD_RELAXATION = 128
};

typedef struct ulna_method_info {
    const char *name;     /* as options.method takes it */
    const char *summary;  /* a line */
    const char *source;   /* paper and equations */
    const char *supports; /* which terms and joints, in words */
    unsigned flags;       /* ULNA_METHOD_... */
    int iterations;       /* the default limit of iterations */
} ulna_method_info;

/* The methods, 0 .. count - 1, the default first. NULL for other numbers. */
ULNA_API int ulna_method_count(void);
ULNA_API const ulna_method_info *ulna_method_at(int index);
ULNA_API const ulna_method_info *ulna_method_find(const char *name); /* NULL if there is none */

/* ---- why an iteration ended ------------------------------------------------------------------------------------ */

typedef enum ulna_stop {
    ULNA_STOP_NONE = 0,    /* it goes on (step by step only) */
    ULNA_STOP_OBJECTIVE,   /* f <= options.objective: the goals are met */
    ULNA_STOP_GRADIENT,    /* the projected gradient is below options.gradient: a stationary point */
    ULNA_STOP_DECREASE,    /* f can no longer, or no longer does, fall by more than options.decrease of itself */
    ULNA_STOP_STEP,        /* the last step was shorter than options.step */
    ULNA_STOP_STALLED,     /* the method found no lower point, though none of the above holds */
    ULNA_STOP_ITERATIONS,  /* the limit of iterations */
    ULNA_STOP_EVALUATIONS, /* the limit of evaluations of f */
    ULNA_STOP_TIME,        /* the limit of seconds */
    ULNA_STOP_CANCELLED,   /* the caller's function said so */
    ULNA_STOP_COUNT
} ulna_stop;

ULNA_API const char *ulna_stop_name(ulna_stop stop); /* "objective", "gradient", ...; never NULL */
ULNA_API const char *ulna_stop_text(ulna_stop stop); /* a sentence */

/* One iteration. Row 0 is the start. */
typedef struct ulna_trace_row {
    int attempt;     /* 0, or the number of the restart */
    int iteration;   /* within the attempt */
    int evaluations; /* of f, so far, in all attempts */
    int accepted;    /* 0: the step was refused, and q is where it was */
    int negative;    /* negative eigenvalues of the matrix that was met: -1 unknown, 1 also for "at least one" */
    double f;        /* m^2; of `penalty`, with its penalties */
    double gradient; /* projected, as result.gradient */
    double step;     /* largest change of a DOF: radians, or metres / length scale */
    /* lambda in m^2 / rad^2 (lm-marquardt: a plain factor); of trust regions the radius, of line searches and transpose the
     * step length */
    double damping;
    double exactness; /* 0 Gauss-Newton ... 1 exact; 0 for methods without */
    double seconds;   /* since the beginning */
} ulna_trace_row;

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* How lm and lm-marquardt adapt lambda to the gain: the decrease of f over the one predicted. */
typedef enum ulna_damping_rule {
    ULNA_DAMPING_NIELSEN = 0, /* Nielsen 1999: smoothly, down to a third; times 2, 4, 8, ... on failure */
    ULNA_DAMPING_CLASSIC,     /* Marquardt 1963: a tenth on success, times 10 on failure */
    ULNA_DAMPING_QUARTERS     /* Fletcher 1971: a half above 3/4, times 2 below 1/4, times 2 to 10 on failure */
} ulna_damping_rule;

typedef enum ulna_dls_rule {
    ULNA_DLS_ERROR = 0, /* damping in proportion to f: large far away, none at the goal (Chan & Lawrence 1988) */
    ULNA_DLS_FIXED      /* the recipe's eq. 35 with a constant */
} ulna_dls_rule;

typedef enum ulna_line_search { ULNA_LINE_WOLFE = 0, ULNA_LINE_BACKTRACKING } ulna_line_search;

typedef struct ulna_options {
    const char *method; /* NULL: "hybrid" */

    /* What may move, and how far. The arrays are copied. */
    int bounded;                 /* 1: keep the limits, in methods that can; 0: ignore them */
    const double *lower, *upper; /* nv each; NULL: the model's. Infinite for none */
    const unsigned char *locked; /* nv: not 0 takes a DOF out of the solution; it stays where it is. NULL: none. Of a
                                     quaternion relax all three or none: two of its turns can make up the third */
    const double *strength;      /* nv, >= 0: how willingly a DOF moves (scales its column); NULL: the model's */

    /* When to stop. 0 switches a rule off, but for iterations: there it is the method's own limit. Methods that predict what is
     * left to gain end with `decrease` at the rounding of f, 1e-15 of it, even so. `evaluations` and `seconds` are looked at
     * after each iteration, which may take several. */
    double objective; /* f at which the goals are met: m^2, or if negative a multiple of the length scale squared */
    double decrease;  /* relative decrease of f */
    double gradient;  /* largest component of the projected gradient, over length scale^2 */
    double step;      /* largest component of the step: radians, or metres / length scale */
    int iterations;   /* for each attempt */
    int evaluations;  /* in all */
    double seconds;   /* in all */
    int (*cancel)(void *context, const ulna_trace_row *now); /* after each iteration; not 0 stops. NULL: never */
    void *cancel_context;

    /* Starting again from elsewhere while f > stop_below: best of all attempts comes back. Attempts end early once `agreeing_restarts` of
     * them have found the best f, to 1 %. */
    int restarts;          /* at most; 0 for none */
    int agreeing_restarts; /* 0: never end early */
    double stop_below;     /* as `objective` */
    uint64_t seed;

    /* Where to write the iterations; rows beyond the capacity are counted, not written. */
    ulna_trace_row *trace;
    int trace_capacity;

    /* Of single methods. */
    struct {
        double kappa;     /* first damping over f; a tenth of it where goals are near */
        int keep_damping; /* 1: start with the damping that the last solve ended with, as in tracking */
        int exact;        /* 1: the exact Hessian where it pays; 0: Gauss-Newton throughout */
        int verify;       /* 1: make sure that the end is a minimum; leave saddle points along negative curvature */
        int trust_last;   /* 1: take the last step, predicted to gain less than `decrease`, without evaluating it */
    } hybrid;
    struct {
        int line_search; /* 0: trust region; 1: Wolfe line search (eq. 10) */
        double radius;   /* first trust radius of newton and newton-pcg, radians */
    } newton;
    struct {
        double tolerance;   /* of the inner solve: epsilon = 0.1 */
        int band_width;     /* of the preconditioner: b = 24 */
        int max_iterations; /* of the inner solve; 0: nv^2 */
        int nearest_spd;    /* 1: project indefinite Hessians (Higham 1988); dense, O(nv^3) */
    } pcg;
    struct {
        ulna_damping_rule rule;
        double damping; /* first lambda: of lm over the largest diagonal element of JtJ, of lm-marquardt as it is */
    } lm;
    struct {
        ulna_dls_rule rule;
        double damping; /* error: lambda / f; fixed: lambda over the largest diagonal element of JtJ at the start.
                           0: the rule's own, 1 or 1e-3 */
    } dls;
    struct {              /* of pinv, qr and transpose */
        double tolerance; /* singular values below this times the largest are dropped (pinv); pivots likewise (qr) */
        double max_step;  /* largest component of a step, radians or metres / length scale: longer ones are shortened;
                             0: not */
    } dense;
    struct {
        /* Of bfgs, lbfgs, cg and newton (gradient always backtracks). With limits the path is projected onto them, and a
         * step that meets one need only satisfy the first condition. */
        ulna_line_search rule;
        double sufficient; /* c1 */
        double curvature;  /* c2 (Wolfe) */
        int memory;        /* pairs that lbfgs keeps */
    } line;
    struct {
        const char *method; /* that solves with the penalties in place of the limits; NULL: "hybrid" */
        double weight;      /* lambda of eq. 16 */
    } penalty;
} ulna_options;

/*
 * hybrid, bounded; objective 1e-24 length scale^2, decrease 1e-9, gradient 1e-13, step 1e-14, no other limits; no restarts,
 * stop_below 1e-12 length scale^2, seed 1.
 */
ULNA_API ulna_options ulna_options_default(void);

/* ---- results ----------------------------------------------------------------------------------------------------- */

typedef struct ulna_result {
    ulna_stop stop;
    int converged; /* 1 if stop is objective, gradient, decrease or step. Of `penalty`: of f with its penalties */
    /* 1 if q was seen to be no saddle point: the exact Hessian of f at q is positive semidefinite on the DOFs that are neither
     * locked nor pressed against a limit by the gradient. To a tolerance: H + 1e-8 D is positive definite, D the diagonal of
     * JtJ (for a DOF that moves no goal, that of the next one above). 0 also if nobody looked: hybrid, newton and newton-pcg
     * do, unless f <= objective; if that cannot be told from rounding; where a term has no second derivatives (an aim at its own
     * goal, an angle of half a turn); with `penalty`; and if f is a prediction. The curvature of custom terms is taken on trust. */
    int verified;
    double f, first_f; /* m^2: at the q that came back, and at the start */
    int predicted;     /* 1 if f is a prediction (hybrid.trust_last) */
    double
        gradient; /* largest component of the projected gradient: m^2 / rad, for slides times the length scale. NaN if f
                           is a prediction */
    double violation;   /* largest violation of a limit, radians or metres; 0 for bounded methods */
    int at_limits;      /* DOFs that are on a limit, or beyond it */
    int clamped;        /* coordinates of the start that were outside and were moved onto their limits */
    int iterations;     /* of all attempts */
    int evaluations;    /* of f */
    int gradients;      /* separate sweeps for the gradient */
    int factorisations; /* of matrices, or eliminations on the tree */
    int attempts;       /* 1 + restarts made */
    int best_attempt;   /* which of them gave q */
    int trace_count;    /* rows that there are; may be beyond the capacity */
    double seconds;
} ulna_result;

/* ---- solving ----------------------------------------------------------------------------------------------------- */

typedef struct ulna_solver ulna_solver;

/*
 * Takes all memory at once; the problem must be ready and outlive the solver. `options` NULL for the default. Errors:
 * an unknown method, options that make no sense, a method that cannot take these terms (ULNA_ERR_UNSUPPORTED).
 */
ULNA_API ulna_status ulna_solver_create(const ulna_problem *problem, const ulna_options *options,
                                        const ulna_allocator *allocator, ulna_solver **solver, ulna_error *error);
ULNA_API void ulna_solver_destroy(ulna_solver *solver); /* NULL is allowed */

/* From q (nq) to the answer, in place. ULNA_ERR_NUMBER if q holds NaN or infinity, or f does not exist there (a term of one's
 * own that is NaN, goals that overflow); q and `result` are then left alone. */
ULNA_API ulna_status ulna_solve(ulna_solver *solver, double *q, ulna_result *result);

/* The same step by step, for visualisers: begin, step until `stop` is not ULNA_STOP_NONE (or as long as you like), end.
 * Goals may not change between begin and end (ULNA_ERR_STATE). */
ULNA_API ulna_status ulna_solver_begin(ulna_solver *solver, const double *q);
ULNA_API ulna_status ulna_solver_step(ulna_solver *solver, ulna_stop *stop);
ULNA_API const double *ulna_solver_q(const ulna_solver *solver); /* where it is now, nq */
ULNA_API ulna_status ulna_solver_end(ulna_solver *solver, double *q, ulna_result *result);

/* The work that the solver evaluates with; after a solve it stands at the answer: for term errors, pose, sensitivity. Not so
 * after hybrid.trust_last: evaluate it first. That of `penalty` knows the goals as they were at the last solve. */
ULNA_API ulna_work *ulna_solver_work(ulna_solver *solver);
/* After a solve: nv, 1 for DOFs that are locked or at a limit that the gradient presses on: `locked` of ulna_work_step. */
ULNA_API const unsigned char *ulna_solver_locked(const ulna_solver *solver);
/* After a solve: 1 if every term on a body with a positive weight is met to `metres` or `radians`; `worst` (may be NULL) is
 * the term farthest from that, ULNA_NONE if there is none. */
ULNA_API int ulna_solver_reached(ulna_solver *solver, double metres, double radians, int *worst);

/* Create, solve, destroy: for a single problem. Allocates. */
ULNA_API ulna_status ulna_solve_once(const ulna_problem *problem, const ulna_options *options, double *q,
                                     ulna_result *result, ulna_error *error);

/*
 * A better place to start from: moves the root joint so that the problem's points, on the skeleton as q poses it, lie as
 * near to their goals as a rigid motion can bring them (Kabsch 1976). For roots that move freely; others come as near as
 * their joint allows. Fewer than three points that are awake, or points on a line, leave a part of the motion open: it is
 * then the smallest. Nothing changes if there is no such point or the root is fixed. `work` is a work of the problem;
 * it is evaluated at the new q. Limits are kept.
 */
ULNA_API ulna_status ulna_work_align_root(ulna_work *work, double *q);

#ifdef __cplusplus
}
#endif
#endif
