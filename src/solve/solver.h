/*
 * solver.h (private): what the driver offers to methods, and what a method is.
 *
 * Division of labour. The driver (driver.c) owns options, start, stopping, restarts, trace, best-so-far and the result. A
 * method owns one iteration: from a point where the work stands evaluated, it tries steps and accepts one, or says why it
 * cannot. All memory is laid out when the solver is made.
 *
 * Scaling. A DOF's step is dq_j = scale_j y_j with scale = strength x (1 for rotations, the model's length scale for translations).
 * Methods that need a metric (damping, trust regions, gradients, least norms) measure y: then metres and radians are
 * comparable, and a DOF of larger strength moves more. Damping lambda |y|^2 is a shift lambda / scale_j^2.
 */
#ifndef ULNA_SRC_SOLVER_H
#define ULNA_SRC_SOLVER_H

#include "base/algorithms.h"
#include "base/base.h"
#include "model/model.h"
#include "objective/problem.h"
#include "ulna/solve.h"

#include <math.h>
#include <string.h>

#define ULNA_METHOD_STATE 1024 /* bytes that a method's own struct may have */

typedef struct ulna_method {
    ulna_method_info info;
    int uses_gradient; /* the driver has the gradient ready before each iteration, and may stop by it */
    int checks_kkt;    /* with constraints an end counts as converged only if the KKT residual is below options.kkt */
    int predicts;      /* ends with `decrease` by a model of its own that is as good as Gauss-Newton's */
    int patience; /* iterations in a row with too little decrease before it counts as the end: 1 for fast methods */
    /* Takes the method's arrays from the arena and keeps the pointers in its state; runs twice (base.h). May refuse the
     * problem. Any member may be NULL. */
    ulna_status (*layout)(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error);
    ulna_status (*begin)(ulna_solver *s, void *state); /* at the start of each attempt; the work stands at s->q */
    /* One iteration: see ulna_iteration. For ULNA_ERR_NUMBER, _INDEFINITE and _SINGULAR the driver stops as stalled. */
    ulna_status (*iterate)(ulna_solver *s, void *state);
} ulna_method;

/* ulna_solver_create, given the methods of the names in the options: `method`, and `inner`, by which `penalty` solves. NULL:
 * there is none of that name. */
ulna_status ulna_solver_create_with(const ulna_problem *problem, const ulna_options *options, const ulna_method *method,
                                    const ulna_method *inner, const ulna_allocator *allocator, ulna_solver **solver,
                                    ulna_error *error);

/* What an iteration reports to the driver, besides the new s->q and s->f. Zeroed before; negative = -1. */
typedef struct ulna_iteration {
    ulna_stop stop;  /* not NONE: the method ends here, and it is true of s->q */
    int accepted;    /* set by ulna_accept */
    int unsettled;   /* do not stop for a small decrease or step: a bound was just met, the damping was strong */
    int negative;    /* as in the trace */
    double decrease; /* of f, set by ulna_accept */
    double step;     /* largest component, in units; set by ulna_accept */
    double damping, exactness;
} ulna_iteration;

struct ulna_constrained; /* constrained.h */

struct ulna_solver {
    ulna_allocator allocator;
    size_t bytes;
    const ulna_problem *problem; /* that is solved: the caller's, or for `penalty` a copy with limits as a term */
    const ulna_problem *given;   /* the caller's */
    ulna_problem *own;           /* the copy, or NULL */
    int penalty_term;            /* its number in the copy */
    unsigned given_structure;    /* when the copy was made */
    const ulna_model *model;
    const ulna_method *method;
    ulna_work *work;
    ulna_options options;
    int nv, nq;
    int bounded;  /* limits are kept by this method and wanted */
    int monotone; /* f never rises: the method's flag, unless an option takes every step */

    double *lower, *upper;              /* nv: wanted limits; infinite for quaternions */
    double *unit, *scale;               /* nv: 1 or length scale; and times strength */
    double *metric;                     /* nv: 1 / scale^2 */
    int limited_count;                  /* DOFs with a limit, if limits are kept */
    int *limited, *limited_at;          /* limited_count: which, and their coordinates */
    double *limited_low, *limited_high; /* limited_count */
    double *inverse_unit, *strength;    /* nv */
    int has_locked;
    int has_vectors;                                  /* joints by rotation vectors: expmap, swing-twist */
    unsigned char *locked;                            /* nv: locked by the user or of no strength */
    unsigned char *held;                              /* nv: for steps, and what ulna_solver_locked gives */
    double *displacement, *shift, *step;              /* nv: scratch for steps */
    double *gradient;                                 /* nv: at q, if gradient_known */
    double *q, *trial, *best_q, *start_q, *attempt_q; /* nq */
    double length, length2;                           /* length scale of the problem, and its square */
    double objective, stop_below;                     /* as the caller gave them: negative in units of length2 */
    double curvature;                                 /* a scale for diagonal elements of the Hessian, m^2 / rad^2 */

    double f;
    int gradient_known;
    int at_q;      /* the work stands at q (and not at a trial) */
    int predicted; /* f is a prediction: q was not evaluated */
    int minimum; /* set by a method: what ulna_is_minimum said; 1 at most if that was at an earlier q. See ulna_verify */

    struct ulna_constrained *constrained; /* NULL for a problem without constraints */

    double best_f; /* of the attempts that have ended */
    ulna_stop best_stop;
    int best_minimum, best_predicted;
    double attempt_f; /* of this attempt, for methods that may climb; with attempt_q */

    ulna_iteration now;
    ulna_result result;
    int running;
    int again;                    /* another attempt is wanted */
    int forget;                   /* the next attempt does not use the last damping */
    int attempt, iteration, lean; /* lean: iterations in a row with too little decrease */
    int agreed;                   /* attempts that found the best f */
    unsigned changes;             /* of the caller's problem at begin */
    double started;
    uint64_t random;

    _Alignas(16) unsigned char state[ULNA_METHOD_STATE];
};

/* Defaults of options.gradient and options.step: so small that hardly any method need look after every iteration. */
#define ULNA_DEFAULT_GRADIENT 1e-13
#define ULNA_DEFAULT_STEP 1e-14
/* f over the curvature scale above which goals are far away: more than a hundred length scales. */
#define ULNA_FAR 1e4
/* A relative decrease below this is rounding. */
#define ULNA_LEAST_DECREASE 1e-15

/* ---- for methods ------------------------------------------------------------------------------------------------ */

/* f at q (+) length * step, with rounding beyond limits removed; the trial is s->trial. INFINITY where f is not a number.
 * Returns errors other than that. */
ulna_status ulna_try(ulna_solver *s, const double *step, double length, double *f);
/* Removes rounding beyond limits from s->trial: inside, and exactly on a limit that the step was to end on. */
void ulna_solver_land(ulna_solver *s);
/* The same for a q that the caller has put into s->trial. */
ulna_status ulna_try_q(ulna_solver *s, double *f);
/* The same at `length`, a half, a quarter, ... of it until f exists; INFINITY if it does not at 2^-40 either. */
ulna_status ulna_try_shorter(ulna_solver *s, const double *step, double *length, double *f);
/* The last trial becomes q: the work must still stand there. Fills s->now. `step` and `length` as tried, for its size. */
void ulna_accept(ulna_solver *s, const double *step, double length, double f);
/* Back to q after trials: evaluates again if the work is elsewhere. */
ulna_status ulna_return(ulna_solver *s);
/* s->gradient at q, once per point. Calls ulna_return. */
ulna_status ulna_gradient_here(ulna_solver *s);
/* Largest component of a step in units; of s->gradient, leaving out what bounds or relaxing forbid, in m^2/rad. */
double ulna_step_size(const ulna_solver *s, const double *step);
double ulna_projected_gradient(const ulna_solver *s);
/* The slope of f along a step, by s->gradient, which must be known. */
static inline double ulna_slope_along(const ulna_solver *s, const double *step)
{
    double slope = 0;
    for (int j = 0; j < s->nv; j++)
        slope += s->gradient[j] * step[j];
    return slope;
}
/* Are both DOFs rotations, or both translations? Equal units do not say so: the length scale may be 1. */
static inline int ulna_is_same_kind(const ulna_model *model, int a, int b)
{
    return !ulna_segment_is_translation(model->dof_segment[a]) == !ulna_segment_is_translation(model->dof_segment[b]);
}
/* Does the gradient, which must be known, vanish as options.gradient has it? */
static inline int ulna_is_flat(const ulna_solver *s)
{
    return ulna_projected_gradient(s) <= s->options.gradient * s->length2;
}
/* A decrease of f up to this is next to nothing: options.decrease of f, but not below rounding. */
static inline double ulna_little(const ulna_solver *s)
{
    return fmax(s->options.decrease, ULNA_LEAST_DECREASE) * s->f;
}
/* Marks in s->held locked DOFs, and those on a limit that the negative gradient points out of (s->gradient must be known).
 * Returns the number marked. */
int ulna_mark_held(ulna_solver *s);
/* Is any DOF on a limit that is kept? */
int ulna_is_on_limits(const ulna_solver *s);
/* On or beyond its limits: -1 lower, 1 upper, 2 both, 0 inside or without coordinate. */
int ulna_at_limit(const ulna_solver *s, const double *q, int dof);

typedef struct ulna_damped_step {
    double lambda;    /* in */
    double predicted; /* decrease of f, damping not counted */
    double damped;    /* what the damping costs: 1/2 step.shift.step */
    int met;          /* DOFs that newly ran into a limit */
} ulna_damped_step;

/*
 * The damped step inside the limits (bounded_step.c): (H(t) + lambda / scale^2 + extra) step = -g with bounds met as
 * prescribed displacements. `extra` (nv) may be NULL. Into s->step, with s->held as it was solved. Statuses as
 * ulna_work_step.
 */
ulna_status ulna_bounded_step(ulna_solver *s, double t, const double *extra, ulna_damped_step *damped);
/* Is the step short merely because it was damped? With (H + D) x = -g the prediction is 1/2 x H x + x D x; the damping
 * counts as small if 1/2 x D x is no more than 1/2 x H x, that is, a third of the prediction. */
static inline int ulna_is_short(const ulna_damped_step *step)
{
    return 3 * step->damped > step->predicted;
}

/* Below this part of s->curvature a negative eigenvalue of the Hessian counts as zero. */
#define ULNA_SEMIDEFINITE 1e-10
/* Is the exact Hessian positive semidefinite at q on the DOFs that are free? 0 if not, 1 if it is, ULNA_VERIFIED_MINIMUM
 * if the test held with a shift so small that ulna_verify need not test again (negative_curvature.c). */
enum { ULNA_VERIFIED_MINIMUM = 2 };
ulna_status ulna_is_minimum(ulna_solver *s, int *minimum);
/* For result.verified, at q: is the exact Hessian with ULNA_VERIFIED times the diagonal of JtJ positive definite on the free
 * DOFs, and has every term second derivatives? `minimum` is what ulna_is_minimum said of q. Leaves the work without factors. */
#define ULNA_VERIFIED 1e-8
ulna_status ulna_verify(ulna_solver *s, int minimum, int *verified);
/* If not (call it after ulna_is_minimum said so): goes down along negative curvature and accepts a lower point. */
ulna_status ulna_escape(ulna_solver *s, int *escaped);

/* ---- for the driver -------------------------------------------------------------------------------------------- */

ulna_status ulna_options_check(const ulna_options *options, const ulna_model *model, ulna_error *error);
/* Every number by the range that the table of options gives (option_table.c). */
ulna_status ulna_options_check_numbers(const ulna_options *options, ulna_error *error);
/* ulna_options_set, given the method of the name `value` if there is one: the names are known to a higher layer. */
ulna_status ulna_options_put(ulna_options *options, const char *name, const char *value, const char *method,
                             ulna_error *error);
/* `penalty`: goals of the caller's problem into the copy; f at the start, and at the end, without the penalties. */
ulna_status ulna_solver_copy_goals(ulna_solver *s);
ulna_status ulna_solver_first_f(ulna_solver *s);
ulna_status ulna_solver_drop_penalty(ulna_solver *s);
/* The length scale, if only the goals give it; and all that follows from it. */
void ulna_solver_measure(ulna_solver *s);
/* Moves coordinates onto the wanted limits, if they are kept; how many were outside. */
int ulna_solver_clamp(const ulna_solver *s, double *q);
/* Puts the start of attempt s->attempt > 0 into s->q (restarts.c). */
ulna_status ulna_start_again(ulna_solver *s);

/* The options in force: arrays and names are the solver's own, limits and strengths always there, thresholds in m^2. */
const ulna_options *ulna_solver_options(const ulna_solver *solver);
double ulna_solver_f(const ulna_solver *solver); /* the current f of a solve step by step */
/* The next solve does not start with the damping that hybrid.keep_damping kept. */
void ulna_solver_forget(ulna_solver *solver);

/* ---- the methods of this folder, each in the file of its family (by name: src/papers/methods.c) -------------------- */

extern const ulna_method ulna_method_hybrid;
extern const ulna_method ulna_method_hybrid_levels;      /* with priorities */
extern const ulna_method ulna_method_hybrid_constrained; /* what hybrid is for a problem with constraints */
extern const ulna_method ulna_method_bfgs;
extern const ulna_method ulna_method_lbfgs;
extern const ulna_method ulna_method_gradient;
extern const ulna_method ulna_method_cg;
extern const ulna_method ulna_method_newton;
extern const ulna_method ulna_method_newton_pcg;
extern const ulna_method ulna_method_lm;
extern const ulna_method ulna_method_lm_marquardt;
extern const ulna_method ulna_method_gauss_newton;
extern const ulna_method ulna_method_dls;
extern const ulna_method ulna_method_pinv;
extern const ulna_method ulna_method_qr;
extern const ulna_method ulna_method_transpose;
extern const ulna_method ulna_method_ccd;
extern const ulna_method ulna_method_fabrik;
extern const ulna_method ulna_method_penalty;
extern const ulna_method ulna_method_virtual_work;
extern const ulna_method ulna_method_lagrange;

#endif
