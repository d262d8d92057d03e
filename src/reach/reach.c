/* Making a reach: defaults, checks with messages, and all that can be prepared before goals are known. */
#include "reach/reach.h"

#include "math/math3.h"
#include "reach/chain.h"
#include "solve/solver.h"

#include <math.h>
#include <string.h>

#define FAR 1e9      /* lengths of the model: beyond it nothing is left of the digits of a tolerance */
#define POSTURE 1e-2 /* weight of the posture in the hard form: what counts is that it is there */

#define WEAKEST 1e-4 /* of the largest strength: weaker joints count as this, since they may be needed all the same */
#define LARGE 1e100  /* strengths beyond this, or its inverse, count as this: squares stay in the range of numbers */

ulna_reach_tip ulna_reach_tip_default(int body)
{
    return (ulna_reach_tip){
        .body = body,
        .relative_to = ULNA_NONE,
        .rotation = {0, 0, 0, 1},
        .weight = {1, 1, 1, 1, 1, 1},
        .tolerance = {1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6},
    };
}

ulna_reach_options ulna_reach_options_default(void)
{
    return (ulna_reach_options){.iterations = 60, .restarts = 100, .seed = 1, .jump = 1};
}

/* ---- checks ----------------------------------------------------------------------------------------------------------- */

static ulna_status check_tip(const ulna_model *model, int number, const ulna_reach_tip *tip, ulna_error *error)
{
    double length = 0, total = 0;
    if (tip->body < 0 || tip->body >= model->nb)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "tip %d: there is no body %d; the model has bodies 0 to %d", number,
                         tip->body, model->nb - 1);
    if (tip->relative_to != ULNA_NONE && (tip->relative_to < 0 || tip->relative_to >= model->nb))
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "tip %d: there is no body %d that goals could be relative to; ULNA_NONE stands for the world",
                         number, tip->relative_to);
    if (model->body[tip->body].link == (tip->relative_to == ULNA_NONE ? -1 : model->body[tip->relative_to].link))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "tip %d: no joint is between %s and %s", number,
                         ulna_model_body_name(model, tip->body), ulna_model_body_name(model, tip->relative_to));
    if (!ulna_all_finite(tip->point, 3))
        return ulna_fail(error, ULNA_ERR_NUMBER, "tip %d: its point is not finite", number);
    for (int i = 0; i < 4; i++)
        length += tip->rotation[i] * tip->rotation[i];
    if (!(fabs(length - 1) < 1e-6))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "tip %d: its rotation is not a unit quaternion", number);
    for (int k = 0; k < 6; k++) {
        if (!(tip->weight[k] >= 0) || !isfinite(tip->weight[k]))
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "tip %d: weight %d is %g: it must be finite and 0 or above",
                             number, k, tip->weight[k]);
        if (!(tip->tolerance[k] > 0) || !isfinite(tip->tolerance[k]))
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "tip %d: tolerance %d is %g: it must be finite and above 0",
                             number, k, tip->tolerance[k]);
        total += tip->weight[k];
    }
    if (!(total > 0))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "tip %d: all axes are free, so it has no goal", number);
    return ULNA_OK;
}

static ulna_status check_options(const ulna_reach_options *options, const ulna_model *model, ulna_error *error)
{
    if ((int)options->mode < 0 || options->mode >= ULNA_REACH_MODE_COUNT)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "mode %d is not one of ulna_reach_mode", (int)options->mode);
    if (options->norm != ULNA_REACH_NORM_SQUARES && options->norm != ULNA_REACH_NORM_LARGEST)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "norm %d is not one of ulna_reach_norm", (int)options->norm);
    if (options->iterations < 0 || options->restarts < 0)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "iterations and restarts must be 0 or above");
    if (!(options->seconds >= 0) || !isfinite(options->seconds))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "seconds is %g: it must be finite and 0 or above", options->seconds);
    if (!(options->jump > 0))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "jump is %g: it must be above 0", options->jump);
    for (int j = 0; j < model->nv && options->distance_weight; j++)
        if (!(options->distance_weight[j] >= 0) || !isfinite(options->distance_weight[j]))
            return ulna_fail(error, ULNA_ERR_ARGUMENT,
                             "distance weight of degree of freedom %d is %g: it must be finite and 0 or above", j,
                             options->distance_weight[j]);
    if (options->posture && ulna_model_check_q(model, options->posture, NULL) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_NUMBER, "the posture holds NaN, infinity or a zero quaternion");
    if (options->constraint_count < 0 || (options->constraint_count > 0 && !options->constraints))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "%d constraints, but no list of them", options->constraint_count);
    for (int i = 0; i < options->constraint_count; i++)
        if (options->constraints[i].level != 0)
            return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                             "constraint %d has level %d: goals are reached with hard ones, level 0", i,
                             options->constraints[i].level);
    return ULNA_OK;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------ */

static void take_arrays(ulna_reach *reach, ulna_arena *arena, int has_posture)
{
    size_t nv = (size_t)reach->nv, tips = (size_t)reach->tip_count;
    double **per_dof[] = {&reach->lower,          &reach->upper, &reach->strength, &reach->distance_weight,
                          &reach->posture_weight, &reach->unit,  &reach->even};
    for (size_t i = 0; i < sizeof per_dof / sizeof *per_dof; i++)
        *per_dof[i] = ulna_arena_take(arena, nv, sizeof(double));
    reach->locked = ulna_arena_take(arena, nv, 1);
    reach->turns = ulna_arena_take(arena, nv, 1);
    reach->idle = ulna_arena_take(arena, nv, 1);
    reach->posture = has_posture ? ulna_arena_take(arena, (size_t)reach->nq, sizeof(double)) : NULL;
    reach->tip = ulna_arena_take(arena, tips, sizeof *reach->tip);
    reach->part = ulna_arena_take(arena, tips, sizeof *reach->part);
    for (int form = 0; form < ULNA_REACH_FORMS; form++)
        reach->numbers[form] = ulna_arena_take(arena, tips, sizeof *reach->numbers[form]);
}

static ulna_status allocate(const ulna_model *model, int tip_count, int has_posture, const ulna_allocator *allocator,
                            ulna_reach **result)
{
    ulna_reach *reach = NULL;
    ulna_reach counting = {.nv = model->nv, .nq = model->nq, .tip_count = tip_count};
    ulna_arena arena = {0};
    ulna_allocator chosen = ulna_allocator_or_default(allocator);
    ulna_arena_take(&arena, 1, sizeof counting);
    take_arrays(&counting, &arena, has_posture);
    size_t bytes = arena.used;
    unsigned char *memory = arena.failed ? NULL : ulna_allocate(&chosen, bytes, 1);
    if (!memory)
        return ULNA_ERR_MEMORY;
    arena = (ulna_arena){.memory = memory};
    reach = ulna_arena_take(&arena, 1, sizeof *reach);
    *reach = (ulna_reach){
        .allocator = chosen, .bytes = bytes, .model = model, .nv = model->nv, .nq = model->nq, .tip_count = tip_count};
    take_arrays(reach, &arena, has_posture);
    *result = reach;
    return ULNA_OK;
}

void ulna_reach_destroy(ulna_reach *reach)
{
    if (!reach)
        return;
    ulna_parts_destroy(reach);
    ulna_branches_destroy(reach);
    ulna_chain_destroy(reach->chain);
    for (int form = 0; form < ULNA_REACH_FORMS; form++)
        ulna_problem_destroy(reach->problem[form]);
    ulna_allocator allocator = reach->allocator;
    ulna_release(&allocator, reach, reach->bytes, 1);
}

/* ---- set-up ------------------------------------------------------------------------------------------------------------ */

/* Joints that follow another one move as willingly as that does, and all are locked if one of them is. */
static void follow_masters(ulna_reach *reach)
{
    const ulna_model *model = reach->model;
    for (int i = 0; i < model->nc; i++)
        reach->locked[model->coupling[i].master] |= reach->locked[model->coupling[i].dof];
    for (int i = 0; i < model->nc; i++) {
        int dof = model->coupling[i].dof, master = model->coupling[i].master;
        reach->locked[dof] = reach->locked[master];
        if (reach->strength[dof] > 0) /* else it is 0, or still to be refused */
            reach->strength[dof] = reach->strength[master];
        reach->turns[dof] = reach->turns[master] = 0; /* a turn of a master is no whole turn of what follows it */
    }
}

/* Weak joints are to move less: the distance counts changes / strength. For steps only ratios count, to the strongest joint. */
static void weigh_joints(ulna_reach *reach, const ulna_reach_options *given)
{
    reach->strongest = 1 / LARGE;
    for (int j = 0; j < reach->nv; j++)
        if (!reach->locked[j])
            reach->strongest = fmin(fmax(reach->strongest, reach->strength[j]), LARGE);
    reach->is_weighted = 0;
    for (int j = 0; j < reach->nv; j++) {
        reach->distance_weight[j] = given->distance_weight ? given->distance_weight[j] : 1;
        if (reach->locked[j] || !isfinite(reach->strength[j])) /* still to be refused */
            continue;
        const double own = fmin(fmax(reach->strength[j], WEAKEST * reach->strongest), reach->strongest);
        reach->distance_weight[j] /= own;
        reach->strength[j] = own / reach->strongest;
        reach->is_weighted |= own < reach->strongest;
    }
}

/* A limit of a translation that is farther away than any goal stands for none, as 1e16 does in files. Chains are scaled by their limits. */
static void drop_far_limits(ulna_reach *reach)
{
    for (int j = 0; j < reach->nv; j++)
        if (ulna_segment_is_translation(reach->model->dof_segment[j])) {
            reach->lower[j] = reach->lower[j] < -reach->far ? -(double)INFINITY : reach->lower[j];
            reach->upper[j] = reach->upper[j] > reach->far ? (double)INFINITY : reach->upper[j];
        }
}

static void copy_options(ulna_reach *reach, const ulna_reach_options *given)
{
    const ulna_model *model = reach->model;
    ulna_reach_options *o = &reach->options;
    *o = *given;
    o->iterations = given->iterations ? given->iterations : ulna_reach_options_default().iterations;
    for (int j = 0; j < reach->nv; j++) {
        unsigned segment = model->dof_segment[j];
        reach->lower[j] = given->lower ? given->lower[j] : model->lower[j];
        reach->upper[j] = given->upper ? given->upper[j] : model->upper[j];
        reach->strength[j] = given->strength ? given->strength[j] : model->strength[j];
        reach->locked[j] = (given->locked && given->locked[j]) || !(reach->strength[j] > 0);
        reach->even[j] = 1;
        reach->idle[j] = 0;
        reach->unit[j] = ulna_segment_is_translation(segment) ? reach->length : 1;
        reach->turns[j] = segment <= ULNA_SEGMENT_RZ;
    }
    ulna_model_limit_masters(model, reach->lower, reach->upper);
    drop_far_limits(reach);
    follow_masters(reach);
    weigh_joints(reach, given);
    if (given->posture)
        memcpy(reach->posture, given->posture, (size_t)reach->nq * sizeof *reach->posture);
    o->lower = reach->lower;
    o->upper = reach->upper;
    o->strength = reach->strength;
    o->distance_weight = reach->distance_weight;
    o->locked = reach->locked;
    o->posture = reach->posture;
    o->constraints = NULL; /* the problems have them */

    const ulna_body *root = &model->body[0];
    reach->root_moves = root->dof_count > 0;
    for (int j = root->dof; j < root->dof + root->dof_count; j++)
        reach->root_moves &= !reach->locked[j];
}

/* Every tip is within tolerance if f is no more than half of the least weight x tolerance^2. A chord is shorter than its angle, by
 * up to 5 % at one radian: hence half of that again. */
static double met_objective(const ulna_reach *reach)
{
    double least = (double)INFINITY;
    for (int i = 0; i < reach->tip_count; i++)
        for (int k = 0; k < 6; k++) {
            const ulna_tip *tip = &reach->tip[i];
            double off = k < 3 ? tip->given.tolerance[k] : fmin(tip->given.tolerance[k], 1) * tip->length;
            if (tip->given.weight[k] > 0)
                least = fmin(least, tip->given.weight[k] * off * off);
        }
    return 0.25 * least;
}

/* The posture's weights: those of the distance, squared. If all are 0, the posture still has to choose: 1. */
static ulna_status add_posture(ulna_reach *reach, ulna_problem *problem, ulna_error *error)
{
    double total = 0;
    for (int j = 0; j < reach->nv; j++) {
        double weight = reach->distance_weight[j] * (reach->locked[j] ? 1 : reach->strongest);
        reach->posture_weight[j] = weight * weight;
        total += reach->posture_weight[j];
    }
    return ulna_problem_add_posture(problem, reach->posture, total > 0 ? reach->posture_weight : NULL, POSTURE,
                                    &reach->posture_term, error);
}

static ulna_status make_problem(ulna_reach *reach, ulna_reach_form form, const ulna_reach_options *given,
                                ulna_error *error)
{
    ulna_status status = ulna_problem_create(reach->model, &reach->allocator, &reach->problem[form], error);
    ulna_problem *problem = reach->problem[form];
    if (status == ULNA_OK)
        status = ulna_problem_set_length(problem, reach->radian);
    for (int i = 0; i < given->constraint_count && status == ULNA_OK; i++)
        status =
            ulna_problem_add_constraint(problem, &given->constraints[i], i ? NULL : &reach->first_constraint, error);
    for (int i = 0; i < reach->tip_count && status == ULNA_OK; i++)
        status = ulna_tip_add(&reach->tip[i], problem, form, &reach->numbers[form][i], error);
    if (form == ULNA_REACH_HARD && status == ULNA_OK)
        status = add_posture(reach, problem, error);
    return status == ULNA_OK ? ulna_problem_ready(problem, error) : status;
}

static ulna_status prepare(ulna_reach *reach, const ulna_reach_tip *tips, const ulna_reach_options *given,
                           ulna_error *error)
{
    int relative = 0;
    reach->far = FAR * reach->length;
    copy_options(reach, given);
    reach->radian = reach->length;
    for (int i = 0; i < reach->tip_count; i++) {
        reach->tip[i].given = tips[i];
        reach->radian = fmax(reach->radian, ulna_norm(tips[i].point));
        relative |= tips[i].relative_to != ULNA_NONE;
    }
    for (int i = 0; i < reach->tip_count; i++)
        ulna_tip_prepare(&reach->tip[i], reach->radian);
    reach->objective = met_objective(reach);
    ulna_options solving = ulna_tree_options(reach, ULNA_REACH_SOFT);
    ulna_status status = ulna_options_check(&solving, reach->model, error); /* limits, strengths */
    if (status == ULNA_OK && given->constraint_count == 0)
        status = ulna_parts_create(reach, tips, given, error);
    if (status != ULNA_OK || reach->part_count > 0)
        return status;
    reach->uses_rows = relative || (reach->model->nc > 0 && given->constraint_count == 0);
    if (!relative)
        status = make_problem(reach, ULNA_REACH_SOFT, given, error);
    if (status == ULNA_OK)
        status = make_problem(reach, ULNA_REACH_HARD, given, error);
    if (status == ULNA_OK)
        status = ulna_branches_create(reach, error);
    return status == ULNA_OK ? ulna_chain_create(reach, &reach->chain, error) : status;
}

ulna_status ulna_reach_create(const ulna_model *model, int tip_count, const ulna_reach_tip *tips,
                              const ulna_reach_options *options, const ulna_allocator *allocator, ulna_reach **result,
                              ulna_error *error)
{
    if (result)
        *result = NULL;
    if (!model || !tips || !result)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "ulna_reach_create needs a model, tips and a place for the result");
    if (tip_count < 1 || tip_count > model->nb)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "%d tips: there must be 1 to %d, no more than bodies", tip_count,
                         model->nb);
    return ulna_reach_create_scaled(model, tip_count, tips, options, model->length_scale, allocator, result, error);
}

ulna_status ulna_reach_create_scaled(const ulna_model *model, int tip_count, const ulna_reach_tip *tips,
                                     const ulna_reach_options *options, double length, const ulna_allocator *allocator,
                                     ulna_reach **result, ulna_error *error)
{
    *result = NULL;
    ulna_reach_options standard = ulna_reach_options_default();
    const ulna_reach_options *given = options ? options : &standard;
    ulna_status status = check_options(given, model, error);
    for (int i = 0; i < tip_count && status == ULNA_OK; i++)
        status = check_tip(model, i, &tips[i], error);
    if (status != ULNA_OK)
        return status;
    ulna_reach *reach = NULL;
    status = allocate(model, tip_count, given->posture != NULL, allocator, &reach);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for a reach of %d tips", tip_count);
    reach->length = length;
    status = prepare(reach, tips, given, error);
    if (status != ULNA_OK) {
        ulna_reach_destroy(reach);
        return status;
    }
    *result = reach;
    return ULNA_OK;
}

const char *ulna_reach_solver_name(const ulna_reach *reach)
{
    int chains = 0;
    if (!reach)
        return NULL;
    for (int i = 0; i < reach->part_count; i++)
        chains += reach->part[i].reach->chain != NULL;
    if (reach->part_count == 0)
        return reach->chain ? "chain" : "tree";
    return chains == reach->part_count ? "chain" : chains == 0 ? "tree" : "chain and tree";
}
