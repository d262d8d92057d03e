/*
 * ulna/global.h: the best pose of all, with a proof where there is one.
 *
 * A local solver ends in the valley it starts in. Here a convex relaxation of the whole problem, solved in milliseconds, says
 * how low f can be at all and points at poses to start from; local solves from there, and from many other places, say how low
 * it is. Where the two meet, the answer is proven; where the relaxation's bound is above what was wanted, the goals are
 * proven to be out of reach.
 *
 *     ulna_global *global;
 *     ulna_global_result result;
 *     ulna_global_create(problem, NULL, NULL, &global, &error);
 *     ulna_global_solve(global, q, &result, &error);  // q: a guess, and the answer
 *     if (result.proven)
 *         puts("no pose is better by more than the gap");
 *     ulna_global_destroy(global);
 *
 * The bound holds point, orientation and direction goals, all joints, and limits of turns and slides, if the local method keeps
 * limits. Other terms never lower f below the bound, so it stays true, but it does not know of them (result.terms_left_out).
 * It is true to 1e-12 of what f is the sum of; limits less than 1e-12 apart count as equal. It may be 0 where two slides without
 * limits have a turn between them and no point goal there (but a free root is no such thing), and for chains of hundreds of
 * joints, of which only the length is known then.
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
    ulna_options local; /* of every local solve: method, limits (bounded), what may move. Its restarts are not used */
    double gap;         /* proven if f - bound <= gap f + absolute */
    double absolute;    /* m^2. 0: 1e-12 of the skeleton's length, squared */
    int starts;         /* local solves at most; with 1 there is a bound, too */
    int relax;          /* 0: only starts, and the bound is 0; 1: the quick relaxation; 2: then the tight one, too */
    double seconds;     /* 0: no limit. With one, the answer depends on the machine; it may end an iteration later */
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
    int terms_left_out;  /* terms that the bound does not know of */
    int limits_left_out; /* limits that it does not know of */
    int relaxations;     /* solved */
    int iterations;      /* of the interior-point method, in all */
    double relax_seconds, seconds;
    ulna_result local; /* of the solve that gave q */
} ulna_global_result;

typedef struct ulna_global ulna_global;

/* The problem must be ready and must outlive it. Goals and weights may change between solves. */
ULNA_API ulna_status ulna_global_create(const ulna_problem *problem, const ulna_global_options *options,
                                        const ulna_allocator *allocator, ulna_global **global, ulna_error *error);
ULNA_API void ulna_global_destroy(ulna_global *global);

/* From q (nq), which is tried first, to the best pose found. ULNA_ERR_NUMBER if q holds NaN or infinity, or goals or weights are
 * so large that f does not exist. Allocates where a relaxation is needed for the first time, and again if the set of terms
 * with weight has changed since, if the goals have gone far away, and each time if something may not move (local.locked, or
 * no strength). */
ULNA_API ulna_status ulna_global_solve(ulna_global *global, double *q, ulna_global_result *result, ulna_error *error);

/* ---- the convex-IK paper's own method --------------------------------------------------------------------------------- */

/* Relaxation (14), solved by DSDP; projection onto SO(3), angles, and a trust region from there (section 4.2.2). For comparison:
 * ulna_global_solve is tighter, and a hundred times faster. Also as the method "sdp" of ulna_solve. */
typedef struct ulna_sdp_options {
    ulna_options local; /* of the refinement; limits (bounded, lower, upper) and what may move hold for all of it */
    int iterations;     /* of DSDP, at most */
    double gap; /* at which DSDP ends, relative to 1 + |optimum| in units of its own, where lengths are about 1 */
} ulna_sdp_options;

/* newton, bounded; 200 iterations, gap 1e-8. */
ULNA_API ulna_sdp_options ulna_sdp_options_default(void);

typedef struct ulna_sdp_result {
    double f;            /* m^2, at the q that came back */
    double rounded_f;    /* m^2, of the projected relaxation, before refinement */
    double optimum;      /* m^2, of the relaxation, from above */
    double bound;        /* m^2, the same from below: no pose within the limits has a lower f, to DSDP's accuracy */
    double spread;       /* largest second eigenvalue of E[q qT] among the turns: 0 if all have rank one; at most 1/2 */
    int iterations;      /* of DSDP */
    int limits_left_out; /* limits that the relaxation does not know of */
    double relax_seconds; /* until q was rounded */
    double seconds;       /* in all */
    ulna_result local;
} ulna_sdp_result;

/*
 * From nothing to an answer. `q` (nq) comes in only for what no goal feels (and for `locked` freedoms), and goes out
 * as the answer. `options` NULL for the default; `result` and `error` may be NULL.
 *
 * Takes trees of hinges and balls below a free, sliding or fixed root with point, orientation and direction goals.
 * ULNA_ERR_UNSUPPORTED, and `error` names it: a slide below a turn, another kind of term, or a build without DSDP.
 * ULNA_ERR_CONVERGENCE if DSDP came to no answer, ULNA_ERR_STATE if there is no goal. Then q is as it was. Allocates;
 * several threads take turns.
 */
ULNA_API ulna_status ulna_sdp_solve(const ulna_problem *problem, const ulna_sdp_options *options, double *q,
                                    ulna_sdp_result *result, ulna_error *error);

#ifdef __cplusplus
}
#endif
#endif
