/*
 * hybrid, with constraints: a proximal SQP on the tree.
 *
 * Each iteration solves the step of border_step.c: an exact or Gauss-Newton model of f - beta . C, rows linearised, limits
 * inside. Two weights govern it (both relative to the largest weight of a term):
 *
 *   rho   of the merit, phi = f - beta C + rho/2 |C|^2; for C >= 0: f + rho/2 (max(0, beta/rho - C)^2 - (beta/rho)^2).
 *   stiff >= rho, of the step: a row gives way by 1 / stiff about its multiplier.
 *
 * With stiff = rho it is Levenberg-Marquardt on phi with the old multipliers, which is safe anywhere. With stiff > rho it is
 * SQP, and phi is taken with the new multipliers at both ends: then the step descends for any rho, and there is no Maratos
 * effect. It starts soft, and grows stiff where steps are short and good. Where a step is refused, the rows are blamed as long as
 * they are far from kept, and the damping lambda otherwise.
 *
 * If the linearised rows contradict each other twice, they become goals with a priced slack (levels.c): that finds the least
 * violation. If it is zero, the iteration goes on here; if not, the set is infeasible, as far as q shows.
 *
 * Fails where every local method does: a set that can be kept elsewhere may be called infeasible here. Restarts are for that.
 */
#include "solve/constrained.h"

#define KAPPA_LEAST 1e-12
#define KAPPA_LEAST_GAUSS_NEWTON 0.1 /* with 0.03 tracking refuses a step in each frame; goals with more noise agree */
#define KAPPA_MOST 1e14
#define KAPPA_QUIET 1e-6 /* at least, where a step within the rounding of phi did not reduce the KKT residual */
#define LOWER 0.2        /* kappa, after a good step, by this factor */
#define LOWER_GAUSS_NEWTON 0.45
#define FLOOR 1e-13   /* of the curvature scale */
#define RHO_FIRST 0.1 /* rho and stiff: of the largest weight */
#define STIFF_MOST 1e5
#define RHO_MOST 1e8
#define STEP_MOST 0.5 /* radians, of an SQP step */

#define SUFFICIENT 1e-4     /* phi must fall by this part of what is predicted */
#define STIFFEN_GAIN 0.6    /* rows grow stiff after steps as good as this, */
#define STIFFEN_STEP 0.25   /* as short, radians, */
#define STIFFEN_EXCESS 1.01 /* and that let the violation rise by no more than rounding may */
#define STIFFER 100         /* by this factor */
#define STIFFEN_AGAIN                                                                                                  \
    0.3              /* where such a step was refused far from the rows: once the violation has fallen to this part */
#define RHO_SCHUR 30 /* rho over 1 / S, where phi bends across the rows more than f does */
#define RHO_SCHUR_MOST 1e6 /* of the largest weight */
#define LAST_TOLERANCE 1e3 /* of options.kkt: enough where rounding lets the KKT residual fall no further */

enum {
    QUIET_MOST = 6,
    TRIES = 60,               /* of one step: with Gauss-Newton and more damping, and softer rows */
    CONTRADICTIONS_MOST = 20, /* of linearised rows, in an attempt */
    RETURNS_MOST = 2          /* from levels, in an attempt: then rows are not given up any more */
};

typedef struct proximal {
    ulna_row_stepper stepper;
    ulna_levels levels;                        /* where the rows cannot be kept */
    double *give, *centre, *z, *beta, *linear; /* for each row */
    double weight;                             /* the largest of a term */
    double kappa, rho, stiff;
    double reference;          /* violation when the multipliers were last set */
    int has_given_up, returns; /* to here, from there */
    int exact, good;           /* steps in a row that justify it */
    double residual;           /* KKT, the last one */
    int quiet;                 /* steps in the rounding of phi that did not reduce it */
    int contradictions, stalls;
    int has_carried;
    double gain;    /* of the last step that was accepted */
    double too_far; /* violation where a step with stiff rows was last refused */
} proximal;

_Static_assert(sizeof(proximal) <= ULNA_METHOD_STATE, "state too large");

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    proximal *p = state;
    size_t n = (size_t)ulna_problem_row_count(s->problem);
    (void)error;
    ulna_row_stepper_take(&p->stepper, s, arena);
    ulna_levels_take(&p->levels, s, &p->stepper, arena);
    double **numbers[] = {&p->give, &p->centre, &p->z, &p->beta, &p->linear};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = ulna_arena_take(arena, n, sizeof(double));
    return ULNA_OK;
}

static ulna_status begin(ulna_solver *s, void *state)
{
    proximal *p = state;
    ulna_constrained *c = s->constrained;
    c->soft_from = 1;
    ulna_status status = ulna_rows_here(s);
    int is_warm = s->options.hybrid.keep_damping && p->has_carried && !s->forget && s->attempt == 0;
    p->weight = ulna_largest_weight(s->problem);
    if (!is_warm) {
        memset(c->beta, 0, (size_t)c->capacity * sizeof *c->beta);
        memset(p->stepper.is_active, 0, (size_t)c->capacity);
        p->kappa = s->options.hybrid.kappa;
        p->rho = p->stiff = RHO_FIRST * p->weight;
    } else {
        ulna_carry_numbers(c, c->beta);
        for (int i = 0; i < c->count; i++)
            p->stepper.is_active[i] = c->beta[i] > 0;
    }
    ulna_rows_carried(c);
    c->infeasible = 0;
    c->excess = c->violation;
    p->kappa = fmin(p->kappa, 1);
    p->reference = fmax(c->violation, 1e-6 * s->length);
    p->has_given_up = p->returns = 0;
    p->exact = p->good = p->contradictions = p->stalls = p->quiet = 0;
    p->residual = p->too_far = (double)INFINITY;
    p->has_carried = 1;
    s->forget = 0;
    return status;
}

/* A step, and what came of it. */
typedef struct trial {
    double f, phi, predicted, fell, size;
    double here; /* what the rows add to phi at q */
    int is_sqp, is_quiet;
} trial;

/* ---- merit ----------------------------------------------------------------------------------------------------------- */

static double shares(const ulna_constrained *c, const ulna_row *rows, const double *beta, double rho)
{
    double sum = 0;
    for (int i = 0; i < c->count; i++)
        sum += ulna_row_share(&rows[i], rows[i].value, beta[i], rho);
    return sum;
}

/* Rounding of phi: of its sums, and of positions times the multipliers. */
static double noise_of(const ulna_constrained *c, double f, double phi, const double *beta)
{
    double noise = 4e-16 * (fabs(phi) + f + fabs(phi - f));
    for (int i = 0; i < c->count; i++)
        noise += fabs(beta[i]) * c->rows[i].noise;
    return noise;
}

/* ---- the step ---------------------------------------------------------------------------------------------------------- */

static int is_sqp(const proximal *p)
{
    return p->stiff > p->rho;
}

static void set_rows(const ulna_solver *s, proximal *p)
{
    const ulna_constrained *c = s->constrained;
    for (int i = 0; i < c->count; i++) {
        double value = c->rows[i].value;
        p->give[i] = 1 / p->stiff;
        p->centre[i] = c->beta[i];
        p->z[i] = c->beta[i];
        if (!is_sqp(p)) /* the multiplier that the penalty stands for */
            p->z[i] = c->rows[i].is_equation ? c->beta[i] - p->stiff * value : fmax(0, c->beta[i] - p->stiff * value);
    }
}

/* Mean diagonal of S over the rows of constraints in the border; 0 if there are none. */
static double mean_schur(const ulna_row_stepper *t)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < t->count; i++)
        if (t->whose[i] >= 0) {
            sum += fabs(t->border.schur[(size_t)i * (size_t)t->border.capacity + (size_t)i]);
            count++;
        }
    return count ? sum / count : 0;
}

/* The step with the exactness and damping that lead to one. */
static ulna_status find_step(ulna_solver *s, proximal *p, ulna_row_step *step)
{
    for (int tries = 0;; tries++) {
        const ulna_constrained *c = s->constrained;
        double off = s->f + 0.5 * fmin(p->rho, p->weight) * ulna_rows_squared_lack(c, c->rows);
        set_rows(s, p);
        *step = (ulna_row_step){.lambda = fmax(p->kappa * off, FLOOR * s->curvature),
                                .exact = p->exact,
                                .give = p->give,
                                .centre = p->centre,
                                .z = p->z,
                                .beta = p->beta,
                                .linear = p->linear};
        ulna_status status = ulna_take_row_step(s, &p->stepper, step);
        if (tries == TRIES || (status != ULNA_OK && status != ULNA_ERR_SINGULAR && status != ULNA_ERR_INDEFINITE &&
                               status != ULNA_ERR_CONVERGENCE))
            return status;
        if (status != ULNA_OK || step->is_wrong) {
            if (step->exact)
                s->now.negative = 1;
            else
                p->kappa *= 10;
            p->exact = 0;
        } else if (p->returns < RETURNS_MOST && is_sqp(p) && ulna_is_contradictory(s, p->linear) &&
                   p->contradictions < CONTRADICTIONS_MOST) {
            p->stiff = p->rho = fmin(10 * p->rho, RHO_MOST * p->weight);
            p->has_given_up = ++p->contradictions >= 2;
            if (p->has_given_up)
                return ULNA_OK;
        } else {
            return ULNA_OK;
        }
    }
}

/* ---- after the step ---------------------------------------------------------------------------------------------------- */

/* Where the damping is to blame, the Hessian stays exact: Gauss-Newton creeps along curved valleys of long arms. */
static void refuse(ulna_solver *s, proximal *p, double size)
{
    if (is_sqp(p) && s->constrained->excess > ULNA_FAR_FROM_KEPT * s->length) {
        p->too_far = s->constrained->excess;
        p->stiff = size > STEP_MOST ? p->rho : fmax(p->rho, 1e-2 * p->stiff);
        if (p->good)
            p->kappa = fmax(2 * p->kappa, 1e-6);
        p->exact = 0;
    } else {
        p->kappa = fmax(8 * p->kappa, 1e-2);
    }
    p->good = 0;
    if (p->kappa > KAPPA_MOST)
        s->now.stop = ULNA_STOP_STALLED;
}

static void adapt_damping(const ulna_solver *s, proximal *p, double gain)
{
    double least = s->options.hybrid.exact ? KAPPA_LEAST : KAPPA_LEAST_GAUSS_NEWTON;
    if (gain > 0.75)
        p->kappa = fmax((p->exact ? LOWER : LOWER_GAUSS_NEWTON) * p->kappa, least);
    else if (gain < 0.25)
        p->kappa *= 4;
}

static void set_multipliers(ulna_solver *s, proximal *p)
{
    memcpy(s->constrained->beta, p->beta, (size_t)s->constrained->count * sizeof *p->beta);
    p->reference = fmax(s->constrained->excess, 1e-15 * s->length);
    s->gradient_known = 0;
}

/* As priorities have it, until the rows are kept after all. */
static ulna_status go_on_as_levels(ulna_solver *s, proximal *p)
{
    int kept = 0;
    ulna_status status = ulna_levels_iterate(s, &p->levels, &kept);
    if (kept) {
        p->has_given_up = p->contradictions = p->stalls = 0;
        p->returns++;
        p->rho = p->weight;
        p->stiff = STIFFER * p->rho;
        p->kappa = s->options.hybrid.kappa;
        p->reference = s->constrained->excess;
        p->exact = p->good = 0;
    }
    return status;
}

/* Multipliers: always after an SQP step; after a damped one if the violation fell, or if phi has nothing left to give. */
static void adapt_rows(ulna_solver *s, proximal *p, const trial *t, double before)
{
    ulna_constrained *c = s->constrained;
    double length = s->length;
    if (t->is_sqp || c->excess <= 0.25 * p->reference || c->excess <= s->options.violation * length) {
        set_multipliers(s, p);
    } else if (t->predicted <= 0.1 * 0.5 * p->rho * ulna_rows_squared_lack(c, c->rows)) {
        p->stalls += c->excess > 0.8 * p->reference && c->excess > ULNA_NEARLY_KEPT * length;
        set_multipliers(s, p);
        p->rho = fmin(10 * p->rho, RHO_MOST * p->weight);
        p->stiff = fmax(p->stiff, p->rho);
        if (p->stalls >= 3 && p->returns < RETURNS_MOST) {
            p->has_given_up = 1;
            ulna_levels_give_up(s, &p->levels);
            return;
        }
    }
    int is_near = c->excess <= ULNA_FAR_FROM_KEPT * length || c->excess <= STIFFEN_AGAIN * p->too_far;
    if (is_near && p->gain > STIFFEN_GAIN && t->size < STIFFEN_STEP &&
        c->excess <= STIFFEN_EXCESS * before + 1e-12 * length) {
        double schur = t->is_sqp && c->excess <= 0.3 * before ? mean_schur(&p->stepper) : 0;
        if (schur > 0)
            p->rho = fmax(p->rho, fmin(RHO_SCHUR / schur, RHO_SCHUR_MOST * p->weight));
        p->stiff = fmin(STIFFER * fmax(p->stiff, p->rho), fmax(STIFF_MOST * p->weight, p->rho));
    }
}

static void adapt_quietly(ulna_solver *s, proximal *p, double residual)
{
    if (residual < 0.3 * p->residual) {
        p->kappa = fmax(0.2 * p->kappa, KAPPA_LEAST);
        p->quiet = 0;
    } else if (residual > 0.9 * p->residual) {
        p->kappa = fmax(8 * p->kappa, KAPPA_QUIET);
        p->quiet++;
    }
    if (p->quiet >= QUIET_MOST)
        s->now.stop = residual <= LAST_TOLERANCE * s->options.kkt * p->weight * s->length2 ? ULNA_STOP_DECREASE
                                                                                           : ULNA_STOP_STALLED;
}

/* Is this the end? Rows are kept, and the KKT residual is small; or, where that is enough, f does not fall. */
static ulna_status settle(ulna_solver *s, proximal *p, double fell, int is_quiet)
{
    const ulna_constrained *c = s->constrained;
    double residual;
    if (c->excess > s->options.violation * s->length)
        return ULNA_OK;
    if (!s->options.hybrid.verify && !is_quiet) { /* as in tracking: no residual is asked for */
        if (fell <= s->options.decrease * s->f && p->gain > 0.5)
            s->now.stop = ULNA_STOP_DECREASE;
        return ULNA_OK;
    }
    ulna_status status = ulna_kkt_residual(s, &residual);
    if (status == ULNA_OK && is_quiet) /* phi says nothing any more: does the residual fall? */
        adapt_quietly(s, p, residual);
    p->residual = residual;
    if (status == ULNA_OK && residual <= s->options.kkt * p->weight * s->length2)
        s->now.stop = ULNA_STOP_GRADIENT;
    return status;
}

/* ---- one iteration ------------------------------------------------------------------------------------------------------- */

/* The multipliers that phi is taken with. */
static const double *beta_of(const ulna_constrained *c, const proximal *p, const trial *t)
{
    return t->is_sqp ? p->beta : c->beta;
}

static void predict(const ulna_constrained *c, const proximal *p, const ulna_row_step *step, trial *t)
{
    const double *beta = beta_of(c, p, t);
    t->here = shares(c, c->rows, beta, p->rho);
    t->predicted = step->predicted + t->here;
    for (int i = 0; i < c->count; i++)
        t->predicted -= ulna_row_share(&c->rows[i], p->linear[i], beta[i], p->rho);
}

/* The last step of a frame, so short that its second-order error violates nothing, is not evaluated. */
static int may_trust(const ulna_solver *s, const ulna_row_step *step, const trial *t)
{
    return s->options.hybrid.trust_last && !s->options.hybrid.verify && t->is_sqp && !step->met &&
           t->predicted <= s->options.decrease * s->f && t->size * t->size <= s->options.violation;
}

static void trust(ulna_solver *s, proximal *p, const ulna_row_step *step)
{
    ulna_constrained *c = s->constrained;
    ulna_model_integrate(s->model, s->q, s->step, s->trial);
    ulna_solver_land(s);
    ulna_accept(s, s->step, 1, s->f - step->predicted);
    s->at_q = 0;
    s->predicted = 1;
    s->now.stop = ULNA_STOP_DECREASE;
    set_multipliers(s, p);
    c->violation = 0;
    for (int i = 0; i < c->count; i++)
        c->violation = fmax(c->violation, c->rows[i].is_equation ? fabs(p->linear[i]) : -p->linear[i]);
}

static ulna_status try_step(ulna_solver *s, proximal *p, trial *t)
{
    const ulna_constrained *c = s->constrained;
    const double *beta = beta_of(c, p, t);
    ulna_status status = ulna_try(s, s->step, 1, &t->f);
    if (status == ULNA_OK && isfinite(t->f))
        status = ulna_rows_at_trial(s);
    if (status == ULNA_ERR_NUMBER) {
        t->f = (double)INFINITY;
        status = ULNA_OK;
    }
    if (status != ULNA_OK)
        return status;
    double phi = s->f + t->here, noise = noise_of(c, s->f, phi, beta);
    t->phi = isfinite(t->f) ? t->f + shares(c, c->trial, beta, p->rho) : (double)INFINITY;
    t->fell = phi - t->phi;
    t->is_quiet = fabs(t->fell) <= 8 * noise && fabs(t->predicted) <= 8 * noise;
    return ULNA_OK;
}

static int is_good(const ulna_solver *s, const trial *t)
{
    const ulna_constrained *c = s->constrained;
    if (!(t->fell > SUFFICIENT * t->predicted || t->is_quiet))
        return 0;
    double after = ulna_rows_violation(c, c->trial, 1);
    return !t->is_sqp || (t->size <= STEP_MOST && !(after > 2 * c->excess && after > ULNA_FAR_FROM_KEPT * s->length));
}

/* With the axes of rotations taken anew: what counts for the damping, or steps could run in circles. */
static double gain_here(const ulna_constrained *c, const proximal *p, const trial *t)
{
    double phi = c->has_new_axes ? t->f + shares(c, c->rows, beta_of(c, p, t), p->rho) : t->phi;
    return t->predicted > 0 ? fmin(t->fell, t->fell + t->phi - phi) / t->predicted : 1;
}

/* The step is found: what it is predicted to do, with a merit that it descends. */
static trial judge_step(const ulna_solver *s, proximal *p, const ulna_row_step *step)
{
    const ulna_constrained *c = s->constrained;
    trial t = {.is_sqp = is_sqp(p), .size = ulna_step_size(s, s->step)};
    predict(c, p, step, &t);
    while (t.is_sqp && !(t.predicted > 0) && 10 * p->rho < p->stiff) {
        p->rho *= 10; /* negative curvature across the rows: phi must rise there */
        predict(c, p, step, &t);
    }
    return t;
}

static ulna_status accept(ulna_solver *s, proximal *p, const trial *t)
{
    ulna_constrained *c = s->constrained;
    double before = c->excess;
    ulna_accept(s, s->step, 1, t->f);
    ulna_status status = ulna_rows_accept(s);
    if (status != ULNA_OK)
        return status;
    ulna_rows_turn(s, p->beta);
    p->gain = t->is_quiet || !(t->predicted > 0) ? 1 : t->fell / t->predicted;
    if (!t->is_quiet)
        adapt_damping(s, p, gain_here(c, p, t));
    adapt_rows(s, p, t, before);
    if (p->has_given_up)
        return ULNA_OK;
    status = settle(s, p, t->fell, t->is_quiet);
    p->exact = s->options.hybrid.exact && p->gain > 0.5 && t->size < 0.1;
    p->good = p->exact ? p->good + 1 : 0;
    return status;
}

static ulna_status iterate(ulna_solver *s, void *state)
{
    proximal *p = state;
    ulna_row_step step;
    s->now.unsettled = 1;
    if (p->has_given_up)
        return go_on_as_levels(s, p);
    ulna_status status = find_step(s, p, &step);
    s->now.damping = step.lambda;
    s->now.exactness = p->exact;
    if (status != ULNA_OK)
        return status;
    if (p->has_given_up) {
        ulna_levels_give_up(s, &p->levels);
        return ULNA_OK;
    }
    trial t = judge_step(s, p, &step);
    if (may_trust(s, &step, &t)) {
        trust(s, p, &step);
        return ULNA_OK;
    }
    status = try_step(s, p, &t);
    if (status != ULNA_OK)
        return status;
    if (!is_good(s, &t)) {
        refuse(s, p, t.size);
        return ulna_return(s);
    }
    return accept(s, p, &t);
}

const ulna_method ulna_method_hybrid_constrained = {
    .info = {.name = "hybrid",
             .summary = "proximal SQP on the tree",
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
