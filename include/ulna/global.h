/*
 * ulna/global.h: the best pose of all, with a proof where there is one.
 *
 * A local solver ends in the local minimum that its start leads to. Here a convex relaxation of the whole problem, solved
 * in milliseconds, gives a lower bound of f over all poses, and poses to start from; local solves from there, and from
 * many other starts, give an upper bound. Where the two meet, the answer is proven; where the lower bound is above 0, the
 * goals are proven to be out of reach.
 *
 *     ulna_global *global;
 *     ulna_global_result result;
 *     ulna_global_create(problem, NULL, NULL, &global, &error);
 *     ulna_global_solve(global, q, &result, &error);  // q: a guess, and the answer
 *     if (result.proven)
 *         printf("no pose has a cost below %g, this one has %g\n", result.bound, result.f);
 *     ulna_global_destroy(global);
 *
 * The bound knows point, orientation and direction goals, all joints, and the limits of rotations and translations, if
 * the local method keeps limits. Other terms are never negative, so the bound holds with them, but it does not know them
 * (result.terms_left_out). Rounding is accounted for: the bound is lowered by what the arithmetic can be off at the scale
 * of the data, at least 1e-12 of what f is the sum of. Translations with limits less than a millionth of the skeleton
 * apart are held in the relaxation, and the bound is lowered by what they can contribute. The bound may be 0 where two
 * unlimited translations have a rotation between them and no point goal there (except in a free root), and for chains of
 * hundreds of joints, where only their length is used.
 */
#ifndef ULNA_GLOBAL_H
#define ULNA_GLOBAL_H

#include "ulna/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ulna_global_stop {
    ULNA_GLOBAL_PROVEN = 0, /* the bound proves the answer */
    ULNA_GLOBAL_STARTS,     /* all starts were used */
    ULNA_GLOBAL_TIME,       /* the budget of seconds */
    ULNA_GLOBAL_CANCELLED,
    ULNA_GLOBAL_STOP_COUNT
} ulna_global_stop;

ULNA_API const char *ulna_global_stop_name(ulna_global_stop stop); /* "proven", "starts", "time", "cancelled" */

typedef struct ulna_global_options {
    /* Of every local solve: method, limits (bounded), locked degrees of freedom. Its restarts are not used. */
    ulna_options local;
    double gap;      /* proven if f - bound <= gap f + absolute */
    double absolute; /* m^2. 0: 1e-12 of the skeleton's length, squared */
    int starts;      /* local solves at most; there is a bound even with 1 */
    int relax;       /* 0: only starts, and the bound is 0; 1: the quick relaxation; 2: then the tight one, too */
    double seconds;  /* 0: no limit. With one, the answer depends on the machine; it may end an iteration later */
    uint64_t seed;
    int threads; /* for the local solves; the answer does not depend on it. 0: one per processor */
    int (*cancel)(void *context, double f, double bound); /* between the stages; not 0 stops. NULL: never */
    void *cancel_context;
} ulna_global_options;

/* hybrid, bounded; gap 1e-3, 64 starts, both relaxations, seed 1, one thread. */
ULNA_API ulna_global_options ulna_global_options_default(void);

typedef struct ulna_global_result {
    ulna_global_stop stop;
    double f;         /* m^2, at the q that came back */
    double bound;     /* m^2: no pose within the limits has a lower f. Not below 0 */
    double gap;       /* f - bound */
    int proven;       /* 1 if gap <= options.gap f + options.absolute, and not contradicted */
    int contradicted; /* 1: an internal error. A bound was above the cost of a pose; it was withdrawn: proven is 0, and
                            `bound` is what lengths alone give. Please report the scene */
    int unreachable;  /* 1 if bound > options.absolute: no pose meets the goals */
    int starts;       /* local solves made */
    int best_start;   /* which of them gave q, from 0 */
    int from_relaxation; /* 1 if that one started where the relaxation pointed */
    int terms_left_out;  /* terms that the bound does not know */
    int limits_left_out; /* limits that it does not know */
    int relaxations;     /* solved */
    int iterations;      /* of the interior-point method, in all */
    double relax_seconds, seconds;
    ulna_result local; /* of the solve that gave q */
} ulna_global_result;

typedef struct ulna_global ulna_global;

/* The problem must be ready and must outlive it. `options` NULL: the default. Goals and weights may change between solves. ULNA_ERR_UNSUPPORTED for one with
 * constraints (constraint.h). Couplings of the model are kept; the bound does not know them, and holds all the same. */
ULNA_API ulna_status ulna_global_create(const ulna_problem *problem, const ulna_global_options *options,
                                        const ulna_allocator *allocator, ulna_global **global, ulna_error *error);
ULNA_API void ulna_global_destroy(ulna_global *global);

/* From q (nq), which is tried first, to the best pose found. ULNA_ERR_NUMBER if q holds NaN or infinity, or goals or weights are
 * so large that f does not exist. Allocates where a relaxation is needed for the first time, and again if the set of terms
 * with weight has changed since, if the goals have gone far away, and each time if degrees of freedom are locked (local.locked,
 * or strength 0). */
ULNA_API ulna_status ulna_global_solve(ulna_global *global, double *q, ulna_global_result *result, ulna_error *error);

/* ---- for other solvers ------------------------------------------------------------------------------------------------- */

/* The semidefinite programs of the convex-IK paper (docs/global.md). The minimum of each, in m^2, is at most that of f over all poses. */
typedef enum ulna_sdpa_form {
    ULNA_SDPA_LITERAL =
        0, /* F0: (14) as written, without its linear equations. It has no interior: few solvers get near its minimum */
    ULNA_SDPA_REDUCED, /* F1: the same minimum, with an interior */
    ULNA_SDPA_HULL     /* F2: Ulna's, at least as tight */
} ulna_sdpa_form;

/* The program of a problem in the sparse format of SDPA: `length` bytes and a zero, to be freed with free(). A comment in its first line says
 * how f follows from the objective. `options` (its limits and whether they count) may be NULL. ULNA_ERR_UNSUPPORTED where the form does not
 * take a joint or no term is known to it, ULNA_ERR_STATE if there is nothing to solve for. */
ULNA_API ulna_status ulna_problem_sdpa(const ulna_problem *problem, ulna_sdpa_form form, const ulna_options *options,
                                       char **text, size_t *length, ulna_error *error);

#ifdef __cplusplus
}
#endif
#endif
