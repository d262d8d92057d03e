/*
 * hybrid, with priorities: every level is a set of rows with a priced slack, all in one proximal SQP.
 *
 *   min f + sum over levels of price/2 |s|^2,   C + s = 0 (or >= 0),   hard rows kept, limits kept,
 *
 * with prices that fall by the factor options.levels.ratio from level to level, the lowest far above f. The slack is eliminated: a
 * row gives way by 1 / price, its multiplier is beta = e - price C. It differs from weights in f in that beta, which enters the
 * Hessian and the merit, is the linear prediction of the step and not -price C(q): this follows curved valleys. Nothing
 * has to decide whether a level can be met, so nothing chatters when it moves out of reach and back.
 *
 *   primal        s = -C after every step: plain weights. From far away.
 *   primal-dual   s as the step predicts it: near the end, and from one frame to the next.
 *   stages        a cold start begins with the ratio 0.1 and tightens it.
 *   centres e     set after a solve for the next one: e = beta min(1, most price / |beta|) over a level. A level that can be
 *                 met is then met, as by an exact penalty, and one that cannot keeps its minimisers.
 *
 * The Hessian is exact from the first warm step on. Where it is not positive on the tangent of the hard rows, or a step is
 * refused, the damping rises; Gauss-Newton does not converge where a level cannot be met.
 */
#include "solve/constrained.h"

#define FIRST_RATIO 0.1
#define LOWEST_OVER_F 100 /* the lowest price is this times the largest weight in f, over the ratio */
#define LEAST_WEIGHT 1e-8 /* of the largest of its level */
#define KAPPA_FIRST 0.03  /* of the highest price */
#define KAPPA_LEAST 1e-12 /* of the largest weight in f, as the next two */
#define KAPPA_RAISED 1e-2
#define FLOOR 1e-10
#define MERIT 1e2             /* rho of the merit near the end, of the largest weight in f */
#define STIFF_MOST 1e3        /* of the highest price */
#define KAPPA_MOST 1e16       /* of the highest price */
#define FAR_OFF 1e-2          /* of the length scale: hard rows that a step may violate by */
#define STEP_MOST 0.5         /* radians, of an SQP step */
#define INFEASIBLE_RATIO 1e-5 /* for the least violation of hard rows */
#define STATIONARY 1e-3       /* slope of the violation: it cannot fall; levels below the hard rows pull at it */
#define KEPT 1e-6             /* of the length scale: with less than this violated they can be kept after all */
#define PRICES_MOST 1e12      /* the highest price over the lowest */
#define NOISES 64             /* of the merit's rounding */
#define STAGE_TOLERANCE 1e-5  /* of stages before the last: rows of the length scale, the KKT residual of its scale */
#define LAST_TOLERANCE 1e4 /* of options.kkt: prices are that much above the weights in f, and round so much coarser */
#define TRIES 60           /* of one step, with more damping each */
enum { QUIET_MOST = 12 };  /* steps within the rounding of the merit that let the KKT residual rise */
#define PATIENCE 40        /* warm iterations before it starts again from stage 1 */

_Static_assert(sizeof(ulna_levels) <= ULNA_METHOD_STATE, "state too large");

void ulna_levels_take(ulna_levels *p, const ulna_solver *s, const ulna_row_stepper *stepper, ulna_arena *arena)
{
    size_t n = (size_t)ulna_problem_row_count(s->problem);
    p->stepper = *stepper;
    double **numbers[] = {&p->give,   &p->centre, &p->around,     &p->z,     &p->beta,
                          &p->linear, &p->slack,  &p->next_slack, &p->price, &p->old_price};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = ulna_arena_take(arena, n, sizeof(double));
}

/* ---- prices ---------------------------------------------------------------------------------------------------------- */

/* 1 is the highest; 0 for a hard row. */
static int level_of(const ulna_constrained *c, int i)
{
    return c->rows[i].level + 1 - c->soft_from;
}

/* Of a row; hard ones have none, even where they have become a level. */
static double weight_of(const ulna_row *row)
{
    return row->level > 0 ? row->weight : 1;
}

/* The ratio, or for many levels what numbers allow: prices of the highest and of the lowest level are a factor of PRICES_MOST apart. */
static double tightest(const ulna_constrained *c, double ratio)
{
    int count = 1;
    for (int i = 0; i < c->count; i++)
        count = level_of(c, i) > count ? level_of(c, i) : count;
    return fmax(ratio, pow(PRICES_MOST, -1.0 / count));
}

/* Weights count within a level: there the largest stands for 1. */
static void set_prices(ulna_solver *s, ulna_levels *p, double ratio)
{
    const ulna_constrained *c = s->constrained;
    double largest[ULNA_LEVELS_MOST + 1] = {0};
    p->ratio = ratio;
    p->level_count = 0;
    for (int i = 0; i < c->count; i++)
        p->level_count = level_of(c, i) > p->level_count ? level_of(c, i) : p->level_count;
    for (int i = 0; i < c->count; i++)
        largest[c->rows[i].level] = fmax(largest[c->rows[i].level], weight_of(&c->rows[i]));
    p->base = ulna_largest_weight(s->problem);
    p->top = p->base * LOWEST_OVER_F / pow(ratio, p->level_count);
    for (int i = 0; i < c->count; i++) {
        double weight = fmax(weight_of(&c->rows[i]) / largest[c->rows[i].level], LEAST_WEIGHT);
        p->price[i] = level_of(c, i) ? weight * p->top * pow(ratio, level_of(c, i) - 1) : 0;
    }
}

/* Largest error of the rows of a level, metres. */
static double level_error(const ulna_constrained *c, int level)
{
    double most = 0;
    for (int i = 0; i < c->count; i++)
        if (level_of(c, i) == level)
            most = fmax(most, fabs(ulna_row_lack(&c->rows[i])));
    return most;
}

/* The next stage: prices change, and with them the multipliers. A level that is met keeps its force, as seen from the levels below
 * it; one that is not keeps its residual. */
static void tighten(ulna_solver *s, ulna_levels *p)
{
    ulna_constrained *c = s->constrained;
    double before = p->ratio, ratio = fmax(0.1 * before, p->target), unmet = 1e-2 * s->length;
    int first_unmet = p->level_count;
    double old_top = p->top;
    for (int l = p->level_count; l > 0; l--)
        if (level_error(c, l) > unmet)
            first_unmet = l - 1;
    for (int i = 0; i < c->count; i++)
        p->old_price[i] = p->price[i];
    set_prices(s, p, ratio);
    p->residual = (double)INFINITY;
    double rise = p->top / old_top, fall = ratio / before;
    for (int i = 0; i < c->count; i++) {
        int l = level_of(c, i);
        if (l == 0)
            c->beta[i] *= rise * pow(fall, first_unmet);
        else if (level_error(c, l) > unmet)
            c->beta[i] *= p->price[i] / p->old_price[i];
        else {
            c->beta[i] *= rise * pow(fall, l);
            p->slack[i] = c->beta[i] / p->price[i];
        }
    }
    s->gradient_known = 0;
}

/* Slacks of the primal way: what is missing. */
static void make_primal(ulna_solver *s, ulna_levels *p)
{
    ulna_constrained *c = s->constrained;
    for (int i = 0; i < c->count; i++)
        if (level_of(c, i)) {
            p->slack[i] = -ulna_row_lack(&c->rows[i]);
            c->beta[i] = p->price[i] * p->slack[i] + p->centre[i];
        }
    p->is_primal = 1;
    s->gradient_known = 0;
}

static void begin_cold(ulna_solver *s, ulna_levels *p)
{
    p->contradictions = p->quiet = 0;
    p->residual = (double)INFINITY;
    p->growth = 4;
    p->refusals = 0;
    ulna_constrained *c = s->constrained;
    memset(c->beta, 0, (size_t)c->capacity * sizeof *c->beta);
    memset(p->centre, 0, (size_t)c->capacity * sizeof *p->centre);
    memset(p->stepper.is_active, 0, (size_t)c->capacity);
    set_prices(s, p, fmax(FIRST_RATIO, p->target));
    p->kappa = KAPPA_FIRST * p->top;
    p->rho = p->stiff = 0.1 * p->top;
    p->is_cold = 1;
    p->exact = 0;
    make_primal(s, p);
}

static ulna_status begin(ulna_solver *s, void *state)
{
    ulna_levels *p = state;
    ulna_constrained *c = s->constrained;
    ulna_status status = ulna_rows_here(s);
    int is_warm = s->options.hybrid.keep_damping && p->has_carried && !s->forget && s->attempt == 0;
    c->infeasible = 0;
    c->soft_from = 1;
    p->target = tightest(c, s->options.levels.ratio);
    p->growth = 4;
    p->refusals = p->spent = p->quiet = 0;
    p->residual = (double)INFINITY;
    if (is_warm) {
        double *carried[] = {c->beta, p->centre, p->slack};
        for (int k = 0; k < 3; k++)
            ulna_carry_numbers(c, carried[k]);
        for (int i = 0; i < c->count; i++)
            p->stepper.is_active[i] = c->beta[i] > 0;
        set_prices(s, p, p->target);
        p->is_cold = 0;
        p->is_primal = 0;
        p->exact = p->stiff >= STIFF_MOST * p->top && s->options.hybrid.exact;
        p->kappa = fmin(p->kappa, p->top);
        if (!p->exact)
            make_primal(s, p);
    } else {
        begin_cold(s, p);
    }
    ulna_rows_carried(c);
    p->has_carried = 1;
    s->forget = 0;
    return status;
}

void ulna_levels_give_up(ulna_solver *s, ulna_levels *p)
{
    ulna_constrained *c = s->constrained;
    c->soft_from = 0;
    c->excess = 0;
    p->target = tightest(c, INFEASIBLE_RATIO);
    begin_cold(s, p);
}

/* ---- merit ------------------------------------------------------------------------------------------------------------- */

static double slack_cost(const ulna_constrained *c, const ulna_levels *p, const double *slack)
{
    double sum = 0;
    for (int i = 0; i < c->count; i++)
        if (level_of(c, i))
            sum += slack[i] * (0.5 * p->price[i] * slack[i] + p->centre[i]);
    return sum;
}

static double rows_cost(const ulna_constrained *c, const ulna_row *rows, const double *slack, const double *beta,
                        double rho)
{
    double sum = 0;
    for (int i = 0; i < c->count; i++)
        sum += ulna_row_share(&rows[i], rows[i].value + (level_of(c, i) ? slack[i] : 0), beta[i], rho);
    return sum;
}

/* ---- the step ------------------------------------------------------------------------------------------------------------ */

static int is_sqp(const ulna_levels *p)
{
    return p->stiff > p->rho;
}

static ulna_status find_step(ulna_solver *s, ulna_levels *p, ulna_row_step *step)
{
    const ulna_constrained *c = s->constrained;
    p->rho = fmin(p->rho, 0.1 * STIFF_MOST * p->top);
    p->stiff = fmax(p->stiff, p->rho);
    p->lifts = 0;
    for (int tries = 0;; tries++) {
        for (int i = 0; i < c->count; i++) {
            int soft = level_of(c, i);
            p->give[i] = soft ? 1 / p->price[i] : 1 / p->stiff;
            p->around[i] = soft ? p->centre[i] : c->beta[i];
            p->z[i] = c->beta[i];
            if (!soft && !is_sqp(p))
                p->z[i] = c->beta[i] - p->stiff * ulna_row_lack(&c->rows[i]);
        }
        *step = (ulna_row_step){.lambda = (p->kappa + FLOOR * p->base) * s->length2,
                                .exact = p->exact,
                                .give = p->give,
                                .centre = p->around,
                                .z = p->z,
                                .beta = p->beta,
                                .linear = p->linear};
        ulna_status status = ulna_take_row_step(s, &p->stepper, step);
        int is_bad = status == ULNA_ERR_SINGULAR || status == ULNA_ERR_CONVERGENCE || status == ULNA_ERR_INDEFINITE ||
                     (status == ULNA_OK && step->is_wrong);
        if (!is_bad || tries == TRIES)
            return status;
        if (step->exact)
            s->now.negative = 1;
        p->lifts++;
        p->growth *= 2;
        p->kappa = fmax(p->kappa * p->growth, KAPPA_RAISED * p->base);
    }
}

/* ---- one iteration -------------------------------------------------------------------------------------------------------- */

typedef struct trial {
    double f, phi, predicted, fell, size, rho, noise;
    int is_sqp, is_quiet;
} trial;

static ulna_status try_step(ulna_solver *s, ulna_levels *p, const ulna_row_step *step, trial *t)
{
    const ulna_constrained *c = s->constrained;
    const double *beta = t->is_sqp ? p->beta : c->beta;
    for (int i = 0; i < c->count; i++)
        p->next_slack[i] = level_of(c, i) ? (p->beta[i] - p->centre[i]) / p->price[i] : 0;
    double phi = s->f + slack_cost(c, p, p->slack) + rows_cost(c, c->rows, p->slack, beta, t->rho);
    double model = s->f - step->predicted + slack_cost(c, p, p->next_slack);
    t->noise = 4e-16 * (fabs(phi) + s->f);
    for (int i = 0; i < c->count; i++) {
        double linear = p->linear[i] + p->next_slack[i];
        model += ulna_row_share(&c->rows[i], linear, beta[i], t->rho);
        t->noise += fabs(beta[i]) * c->rows[i].noise;
    }
    t->predicted = phi - model;
    ulna_status status = ulna_try(s, s->step, 1, &t->f);
    if (status == ULNA_OK && isfinite(t->f))
        status = ulna_rows_at_trial(s);
    if (status == ULNA_ERR_NUMBER) {
        t->f = (double)INFINITY;
        status = ULNA_OK;
    }
    if (status != ULNA_OK || !isfinite(t->f)) {
        t->fell = -(double)INFINITY;
        return status;
    }
    for (int i = 0; i < c->count && p->is_primal; i++)
        if (level_of(c, i))
            p->next_slack[i] = -ulna_row_lack(&c->trial[i]);
    t->phi = t->f + slack_cost(c, p, p->next_slack) + rows_cost(c, c->trial, p->next_slack, beta, t->rho);
    t->fell = phi - t->phi;
    t->is_quiet = fabs(t->fell) <= NOISES * t->noise && fabs(t->predicted) <= NOISES * t->noise;
    return ULNA_OK;
}

static int is_good(const ulna_solver *s, const trial *t)
{
    const ulna_constrained *c = s->constrained;
    if (!(t->fell > 1e-4 * t->predicted || t->is_quiet) || t->predicted < -NOISES * t->noise)
        return 0;
    double after = c->soft_from > 0 ? ulna_rows_violation(c, c->trial, 1) : 0;
    return !t->is_sqp || (t->size <= STEP_MOST && !(after > 2 * c->excess && after > FAR_OFF * s->length));
}

static void refuse(ulna_solver *s, ulna_levels *p)
{
    p->growth *= 2;
    p->kappa = fmax(p->kappa * p->growth, KAPPA_RAISED * p->base);
    if (p->kappa > KAPPA_MOST * p->top)
        s->now.stop = ULNA_STOP_STALLED;
    if (!p->is_primal && ++p->refusals > 2) {
        make_primal(s, p);
        p->kappa = fmin(p->kappa, 0.1 * p->base);
    }
}

static void adapt(ulna_solver *s, ulna_levels *p, const trial *t, double before)
{
    ulna_constrained *c = s->constrained;
    if (p->gain > 0.75 && !(t->is_quiet && c->soft_from == 0))
        p->kappa = fmax(p->kappa * (p->lifts ? 0.5 : 0.1), KAPPA_LEAST * p->base);
    else if (p->gain < 0.25)
        p->kappa *= 4;
    p->growth = 4;
    p->refusals = 0;
    int is_kept = c->excess <= 0.25 * before || c->excess <= s->options.violation * s->length;
    for (int i = 0; i < c->count; i++)
        if (!(p->is_primal && level_of(c, i)) && (level_of(c, i) || t->is_sqp || is_kept))
            c->beta[i] = p->beta[i];
    if (p->is_primal)
        make_primal(s, p);
    s->gradient_known = 0;
    if (p->gain > 0.6 && t->size < 0.25 && c->excess <= 1.01 * before + 1e-12 * s->length)
        p->stiff = fmin(100 * fmax(p->stiff, p->rho), STIFF_MOST * p->top);
    if (p->is_primal && p->gain > 0.5 && t->size < 0.1 && c->excess < FAR_OFF * s->length)
        p->is_primal = 0;
    p->exact = s->options.hybrid.exact && (p->exact || (p->gain > 0.5 && t->size < 0.1));
}

/* For the next solve: what a level that can be met needs to be met exactly. */
static void set_centres(ulna_solver *s, ulna_levels *p)
{
    ulna_constrained *c = s->constrained;
    double most = s->options.levels.centre * s->length; /* error that a centre stands for */
    for (int l = 1; l <= p->level_count; l++) {
        double square = 0, price = 0;
        for (int i = 0; i < c->count; i++)
            if (level_of(c, i) == l) {
                square += c->beta[i] * c->beta[i];
                price = fmax(price, p->price[i]);
            }
        double part = square > 0 ? fmin(1, most * price / sqrt(square)) : 0;
        for (int i = 0; i < c->count; i++)
            if (level_of(c, i) == l) {
                p->centre[i] = part * c->beta[i];
                p->slack[i] = (1 - part) * c->beta[i] / p->price[i];
            }
    }
}

/* A step within the rounding of the merit: the KKT residual says whether the damping is right. */
static void adapt_quietly(ulna_solver *s, ulna_levels *p, double residual)
{
    if (residual > 2 * p->residual) {
        p->kappa = fmax(8 * p->kappa, KAPPA_RAISED * p->base);
        p->quiet++;
    } else {
        p->kappa = fmax(0.1 * p->kappa, KAPPA_LEAST * p->base);
    }
    if (p->quiet >= QUIET_MOST)
        s->now.stop = ULNA_STOP_STALLED;
}

/* All levels are as good as they get. */
static void finish(ulna_solver *s, ulna_levels *p, int *kept)
{
    ulna_constrained *c = s->constrained;
    if (c->soft_from > 0) {
        s->now.stop = ULNA_STOP_GRADIENT;
        set_centres(s, p);
        return;
    }
    double slope = ulna_violation_slope(s);
    if (c->violation <= KEPT * s->length || slope > STATIONARY * (p->level_count > 1 ? 10 : 1)) {
        c->soft_from = 1;
        c->excess = c->violation;
        *kept = 1;
    } else {
        s->now.stop = ULNA_STOP_INFEASIBLE;
        c->infeasible = 1;
    }
}

static ulna_status settle(ulna_solver *s, ulna_levels *p, int is_quiet, int *kept)
{
    const ulna_constrained *c = s->constrained;
    double residual, largest = 0, off = 0, length = s->length;
    int is_last = p->ratio <= 1.01 * p->target;
    double enough = is_last ? s->options.violation : fmax(s->options.violation, STAGE_TOLERANCE);
    if (c->excess > enough * length)
        return ULNA_OK;
    ulna_status status = ulna_kkt_residual(s, &residual);
    if (status == ULNA_OK && is_quiet && c->soft_from == 0)
        adapt_quietly(s, p, residual);
    p->residual = residual;
    for (int i = 0; i < c->count; i++) {
        largest = fmax(largest, fabs(c->beta[i]));
        if (level_of(c, i))
            off = fmax(off, fabs(ulna_row_lack(&c->rows[i]) + p->slack[i]) +
                                fabs(p->slack[i] - (c->beta[i] - p->centre[i]) / p->price[i]));
    }
    double tolerance = is_last ? LAST_TOLERANCE * s->options.kkt : STAGE_TOLERANCE * pow(p->ratio, p->level_count);
    if (status != ULNA_OK ||
        residual > fmax(tolerance * (is_last ? p->base : p->top) * s->length2, 2e-15 * largest * length) ||
        off > enough * length)
        return status;
    if (!is_last) {
        tighten(s, p);
        p->exact = s->options.hybrid.exact;
    } else {
        finish(s, p, kept);
    }
    return ULNA_OK;
}

ulna_status ulna_levels_iterate(ulna_solver *s, ulna_levels *p, int *kept)
{
    ulna_constrained *c = s->constrained;
    ulna_row_step step;
    s->now.unsettled = 1;
    if (!p->is_cold && ++p->spent > PATIENCE)
        begin_cold(s, p);
    ulna_status status = find_step(s, p, &step);
    s->now.damping = step.lambda;
    s->now.exactness = p->exact;
    if (status != ULNA_OK)
        return status;
    int is_stiff = p->stiff >= STIFF_MOST * p->top;
    p->contradictions = is_stiff && ulna_is_contradictory(s, p->linear) ? p->contradictions + 1 : 0;
    if (p->contradictions > 3 && c->soft_from > 0) {
        ulna_levels_give_up(s, p);
        return ULNA_OK;
    }
    trial t = {.is_sqp = is_sqp(p), .size = ulna_step_size(s, s->step)};
    t.rho = !p->is_primal && t.is_sqp ? MERIT * p->base : p->rho;
    status = try_step(s, p, &step, &t);
    if (status != ULNA_OK)
        return status;
    if (!is_good(s, &t)) {
        refuse(s, p);
        return ulna_return(s);
    }
    double before = c->excess, *slack = p->slack;
    p->slack = p->next_slack;
    p->next_slack = slack;
    ulna_accept(s, s->step, 1, t.f);
    /* Multipliers are not turned with the axes of rotations: slacks and centres, which belong to them, are numbers about the old axes
     * as well. Near the end the axes stand still. */
    status = ulna_rows_accept(s);
    if (status != ULNA_OK)
        return status;
    p->gain = t.is_quiet || !(t.predicted > 0) ? 1 : t.fell / t.predicted;
    adapt(s, p, &t, before);
    return settle(s, p, t.is_quiet, kept);
}

static ulna_status iterate(ulna_solver *s, void *state)
{
    ulna_levels *p = state;
    int kept = 0;
    ulna_status status = ulna_levels_iterate(s, p, &kept);
    if (kept) { /* the hard rows can be kept after all: from here, with them */
        p->target = tightest(s->constrained, s->options.levels.ratio);
        begin_cold(s, p);
    }
    return status;
}

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    ulna_row_stepper stepper = {0};
    (void)error;
    ulna_row_stepper_take(&stepper, s, arena);
    ulna_levels_take(state, s, &stepper, arena);
    return ULNA_OK;
}

const ulna_method ulna_method_hybrid_levels = {
    .info = {.name = "hybrid",
             .summary = "proximal SQP on the tree, with priorities as priced slack",
             .source = "",
             .supports = "all terms, all joints, all constraints",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE | ULNA_METHOD_HESSIAN,
             .iterations = 500},
    .predicts = 1,
    .patience = 1,
    .layout = layout,
    .begin = begin,
    .iterate = iterate,
};
