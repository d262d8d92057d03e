/*
 * constrained.h (private): what methods that keep constraints share.
 *
 * A solver of a problem with constraints has one ulna_constrained: the rows at q and at the last trial, the multipliers, and
 * how much the rows are violated. L = f - beta . C is the Lagrangian; a row C >= 0 has beta >= 0.
 */
#ifndef ULNA_SRC_CONSTRAINED_H
#define ULNA_SRC_CONSTRAINED_H

#include "objective/border.h"
#include "solve/solver.h"

typedef struct ulna_constrained {
    int capacity;    /* rows of all constraints */
    int count;       /* of those that are switched on */
    ulna_row *rows;  /* at q */
    ulna_row *trial; /* at the last trial */
    double *beta;    /* multipliers that belong to q */
    int soft_from; /* rows of this level and above have a priced slack (levels.c): 1, or 0 where the hard ones cannot be kept */
    double *best_beta; /* of the best attempt that has ended */
    double *scratch;   /* a number for each row */
    int *place;        /* of each row that `beta` and other numbers of a method stand for, in all rows of the problem */
    int place_count;
    double best_violation;
    int best_infeasible;
    double violation; /* largest of the hard rows at q, metres */
    double excess;    /* the same, 0 if they are soft for now */
    int has_new_axes; /* the last ulna_rows_accept took the axes of rotations anew */
    int is_fresh;     /* rows are those of q with axes frozen there, if they have any */
    int infeasible;   /* the constraints contradict each other, or are out of reach: q has the least violation nearby */
} ulna_constrained;

/* What a row lacks: C of an equation, the negative part of C >= 0. */
static inline double ulna_row_lack(const ulna_row *row)
{
    return row->is_equation || row->value < 0 ? row->value : 0;
}

/* Rows that lack less, of the length scale, are nearly kept: it is too early to say that they contradict each other. */
#define ULNA_NEARLY_KEPT 5e-5
/* Rows that lack more, of the length scale, are far from kept. */
#define ULNA_FAR_FROM_KEPT 5e-4

static inline int ulna_row_is_soft(const ulna_constrained *c, const ulna_row *row)
{
    return row->level >= c->soft_from;
}

/* The largest weight of a term; 1 if there is none. */
double ulna_largest_weight(const ulna_problem *problem);
/* What a row adds to the merit at `value`: -beta C + rho/2 C^2; for C >= 0, rho/2 (max(0, beta/rho - C)^2 - (beta/rho)^2). */
static inline double ulna_row_share(const ulna_row *row, double value, double beta, double rho)
{
    if (row->is_equation)
        return value * (0.5 * rho * value - beta);
    double at = beta / rho, open = at > value ? at - value : 0;
    return 0.5 * rho * (open * open - at * at);
}

void ulna_constrained_take(ulna_constrained *c, const ulna_problem *problem, ulna_arena *arena);
/* Rows at s->q, where the work stands; axes of rotations are frozen there. Computes the violations. */
ulna_status ulna_rows_here(ulna_solver *s);
/* Numbers of the last solve, one for each of its rows, become numbers of the rows of now; 0 for rows that were switched on since. After
 * the last of them: ulna_rows_carried. */
void ulna_carry_numbers(ulna_constrained *c, double *numbers);
void ulna_rows_carried(ulna_constrained *c);
/* Rows at s->trial, where the work stands, with the axes of q. */
ulna_status ulna_rows_at_trial(ulna_solver *s);
/* After ulna_accept: the rows of the trial become those of q; axes of rotations that are no longer good there are frozen there. */
ulna_status ulna_rows_accept(ulna_solver *s);
/* After ulna_rows_accept: multipliers of q, and others of the same rows, are numbers about the old axes, and become those about the new ones. */
void ulna_rows_turn(ulna_solver *s, double *others);
/* Largest lack of the rows whose level is below this one, metres. */
double ulna_rows_violation(const ulna_constrained *c, const ulna_row *rows, int level);
/* Sum of the squares of what rows lack, m^2. */
double ulna_rows_squared_lack(const ulna_constrained *c, const ulna_row *rows);
/* Do the linearised hard rows leave more than half of their violation? Then they contradict each other here. */
int ulna_is_contradictory(const ulna_solver *s, const double *linear);
/* Takes JT beta off the gradient of f, which is then that of the Lagrangian. */
void ulna_take_off_multipliers(ulna_solver *s);
/* The KKT residual at q, m^2 / rad: projected gradient of L, multipliers of the wrong sign and products beta C of inequalities. */
ulna_status ulna_kkt_residual(ulna_solver *s, double *residual);
/* ---- for the driver ---------------------------------------------------------------------------------------------- */

/* Are all rows kept, of all levels, as options.violation has it? 1 without constraints. */
int ulna_is_kept(const ulna_solver *s);
/* Is this attempt better than the best before it: less violated, or kept as well and with a lower f? */
int ulna_is_better(const ulna_solver *s);
ulna_status ulna_keep_multipliers(ulna_solver *s); /* of the best attempt */
void ulna_restore_multipliers(ulna_solver *s);     /* to it */
/* Fills the result from the rows at q. */
ulna_status ulna_report_constraints(ulna_solver *s);

/* ---- for methods -------------------------------------------------------------------------------------------------- */

/* How far q is from a stationary point of the violation: the projected JT C over the largest C. */
double ulna_violation_slope(ulna_solver *s);

/* ---- the step (border_step.c) ----------------------------------------------------------------------------------- */

/*
 * min 1/2 dT M d + gT d,  C + J d = 0 or >= 0,  lower <= q + d <= upper,  M = H(t) - t sum z d2C + lambda / scale^2,
 * with each row relaxed: beta = centre - (C + J d) / give. give -> 0: a hard row; give = 1 / rho: a penalty rho about
 * its multiplier; give = 1 / price: a goal with a slack.
 */
typedef struct ulna_row_step {
    /* in */
    double lambda;
    int exact;            /* t = 1 */
    const double *give;   /* for each row, > 0 */
    const double *centre; /* for each row */
    const double *z;      /* multipliers of the curvature */
    /* out */
    double *beta;     /* for each row: its new multiplier */
    double *linear;   /* C + J d */
    double predicted; /* decrease of f - z . (curvature of C) by d, damping not counted */
    int met;          /* limits that the step ends on */
    int is_wrong;     /* exact and not a minimum on the tangent of the rows: wrong inertia */
} ulna_row_step;

/* Memory of the step. */
typedef struct ulna_row_stepper {
    ulna_border border;
    int capacity;    /* rows of the border: constraints, limits, couplings, bends */
    int count;       /* of this step */
    int *whose;      /* number of the row, or -1 - dof for a limit, or QUADRATIC (border_step.c) */
    ulna_row *extra; /* limits, couplings and bends */
    int extra_count, extra_capacity;
    int limit_capacity; /* of them, kept for limits */
    const ulna_row **row;
    double *c, *E, *centre, *beta;
    unsigned char *is_equation, *active, *is_bordered;
    double *scratch;
    double *load_y, *load_w;  /* of the rows in the elimination */
    unsigned char *is_active; /* rows of inequalities that were active in the last step: kept from frame to frame */
} ulna_row_stepper;

void ulna_row_stepper_take(ulna_row_stepper *t, const ulna_solver *s, ulna_arena *arena);
/* Into s->step. ULNA_ERR_SINGULAR: raise lambda. */
ulna_status ulna_take_row_step(ulna_solver *s, ulna_row_stepper *t, ulna_row_step *step);

/* ---- priorities (levels.c) ------------------------------------------------------------------------------------------ */

typedef struct ulna_levels {
    ulna_row_stepper stepper;
    double *give, *centre, *around, *z, *beta,
        *linear; /* for each row; `centre` e, `around` what the step relaxes about */
    double *slack, *next_slack, *price, *old_price;
    double base, top;     /* largest weight in f, and price of the highest level at the ratio of the moment */
    double ratio, target; /* of prices from level to level: of this stage, of the last one */
    int level_count;
    double kappa;      /* damping: a weight; lambda is kappa times length scale^2 */
    double growth;     /* of kappa, when a step is refused: doubles each time */
    double rho, stiff; /* as in proximal.c: of the merit, and of the hard rows in the step */
    double gain;       /* of the last step that was accepted */
    double residual;   /* KKT, the last one */
    int exact;
    int is_primal;      /* slacks are what rows lack, not what the step predicts */
    int refusals;       /* steps refused in a row while not primal */
    int lifts;          /* how often kappa was raised for the last step */
    int contradictions; /* steps in a row whose linearised hard rows contradict each other */
    int quiet;          /* steps within the rounding of the merit that let the KKT residual rise */
    int has_carried;    /* numbers of the last solve are there */
    int is_cold;        /* began with the first stage */
    int spent;          /* iterations since a warm start */
} ulna_levels;

/* Steps with the memory of `stepper`, which has been taken: whose method never steps at the same time. */
void ulna_levels_take(ulna_levels *p, const ulna_solver *s, const ulna_row_stepper *stepper, ulna_arena *arena);
/* The hard rows cannot be kept: from here on they are the highest level. Ends with ULNA_STOP_INFEASIBLE, or, if they can be kept after
 * all, with `kept` set and multipliers that belong to it. */
void ulna_levels_give_up(ulna_solver *s, ulna_levels *p);
ulna_status ulna_levels_iterate(ulna_solver *s, ulna_levels *p, int *kept);

#endif
