/* Goals and weights: checked, put in canonical form, and written where the sweeps read them. */
#include "math/math3.h"
#include "objective/constraint.h"

/* ---- what may be given ------------------------------------------------------------------------------------- */

int ulna_weight_is_valid(double weight)
{
    return weight >= 0 && isfinite(weight);
}

int ulna_limits_are_valid(const double *lower, const double *upper, int n)
{
    for (int d = 0; d < n; d++)
        if (!(lower[d] <= upper[d]))
            return 0;
    return 1;
}

int ulna_unit_length(double x[3])
{
    double size = fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2])));
    if (!(size > 0) || isinf(size))
        return 0;
    for (int i = 0; i < 3; i++)
        x[i] /= size; /* first, so that the square neither overflows nor vanishes */
    size = ulna_norm(x);
    for (int i = 0; i < 3; i++)
        x[i] /= size;
    return 1;
}

ulna_status ulna_term_normalise(ulna_term *term, const char **fault)
{
    const ulna_term_kind *kind = ulna_term_kind_of(term->type);
    int numbers = term->values ? 0 : ulna_term_size(NULL, term, kind->goal_size);
    if (!ulna_all_finite(term->goal, numbers) || !ulna_all_finite(term->local, 6))
        return *fault = "a number is NaN or infinite", ULNA_ERR_NUMBER;
    double *unit[3] = {kind->canonical & ULNA_UNIT_GOAL ? term->goal : NULL,
                       kind->canonical & ULNA_UNIT_GOAL_AXIS ? term->goal + 3 : NULL,
                       kind->canonical & ULNA_UNIT_LOCAL_AXIS ? term->local + 3 : NULL};
    for (int k = 0; k < 3; k++)
        if (unit[k] && !ulna_unit_length(unit[k]))
            return *fault = "an axis, direction or normal has zero length", ULNA_ERR_ARGUMENT;
    if (kind->canonical & ULNA_GOAL_IS_ROTATION)
        if (!(ulna_orthonormalise(term->goal) < 1e-6))
            return *fault = "the goal is not a rotation", ULNA_ERR_ARGUMENT;
    return ULNA_OK;
}

/* ---- what the sweeps see ------------------------------------------------------------------------------------ */

int ulna_pulls_of(ulna_term_type type)
{
    return ulna_term_kind_of(type)->pulls;
}

double ulna_term_weight(const ulna_problem *problem, const ulna_term *term)
{
    if (term->sleeping)
        return 0;
    double weight = term->weight;
    return ulna_term_kind_of(term->type)->is_rotation ? weight * problem->length * problem->length : weight;
}

void ulna_term_refresh(ulna_problem *problem, const ulna_term *term)
{
    if (!problem->ready || !ulna_pulls_of(term->type))
        return;
    const ulna_body *body = &problem->model->body[term->body];
    int is_point = term->type == ULNA_TERM_POINT;
    double weight = ulna_term_weight(problem, term);
    for (int k = 0; k < ulna_pulls_of(term->type); k++) {
        double local[3], goal[3];
        if (term->type ==
            ULNA_TERM_ORIENTATION) { /* column k of both rotations; |R_goal - R|^2 counts twice the angle's */
            for (int i = 0; i < 3; i++) {
                local[i] = body->link_rotation[3 * i + k];
                goal[i] = term->goal[3 * i + k];
            }
        } else {
            ulna_rotate(body->link_rotation, is_point ? term->local : term->local + 3, local);
            for (int i = 0; i < 3; i++)
                local[i] += is_point ? body->link_position[i] : 0;
            ulna_copy3(term->goal, goal);
        }
        double share = term->type == ULNA_TERM_ORIENTATION ? 0.5 * weight : weight;
        problem->robust.inverse[term->slot + k] = term->loss_scale > 0 ? 1 / (term->loss_scale * term->loss_scale) : 0;
        problem->pull[term->slot + k] =
            (ulna_pull){.local = {local[0], local[1], local[2], is_point}, .goal = {goal[0], goal[1], goal[2], share}};
    }
}

/* ---- the length scale --------------------------------------------------------------------------------------- */

static int has_point(const ulna_term *term)
{
    return term->type == ULNA_TERM_POINT || term->type == ULNA_TERM_AIM || term->type == ULNA_TERM_PLANE ||
           term->type == ULNA_TERM_LINE;
}

/* Half of the longest way between two points of the terms and constraints, where all bodies are in one place; as the model measures markers. */
static double half_way_of_points(const ulna_problem *problem)
{
    double longest = 0, reach = 0;
    for (size_t i = 0; i < problem->term_count; i++) {
        double length = has_point(&problem->term[i]) ? ulna_norm(problem->term[i].local) : 0;
        longest = fmax(longest, reach + length);
        reach = fmax(reach, length);
    }
    for (size_t i = 0; i < 2 * problem->kept_count; i++) {
        double length = ulna_constraint_reach(&problem->kept[i / 2], (int)(i % 2));
        longest = fmax(longest, reach + length);
        reach = fmax(reach, length);
    }
    return longest / 2;
}

/* How far from zero a term on coordinates wants a translation. */
static double wanted_translation(const ulna_model *model, const ulna_term *term)
{
    double far = 0;
    for (int d = 0; d < model->nv; d++) {
        if (!ulna_segment_is_translation(model->dof_segment[d]))
            continue;
        if (term->type == ULNA_TERM_POSTURE)
            far = fmax(far, fabs(term->values[model->dof_coordinate[d]]));
        else if (term->type == ULNA_TERM_COUPLING && d == term->dof_b)
            far = fmax(far, fabs(term->goal[1]));
        else if (term->type == ULNA_TERM_LIMITS)
            for (int side = 0; side < 2; side++) {
                double limit = fabs(term->values[side * model->nv + d]);
                far = fmax(far, isfinite(limit) ? limit : 0);
            }
    }
    return far;
}

/* The farthest that a term wants a point to be from the root, or a translation from zero. */
static double farthest_goal(const ulna_problem *problem)
{
    double farthest = 0, away[3];
    for (size_t i = 0; i < problem->term_count; i++) {
        const ulna_term *term = &problem->term[i];
        if (!(ulna_term_weight(problem, term) > 0))
            continue;
        ulna_subtract3(term->goal, problem->model->body[0].placement_position, away);
        farthest = fmax(farthest, has_point(term) ? ulna_norm(away) : wanted_translation(problem->model, term));
    }
    return farthest;
}

double ulna_problem_length_scale(const ulna_problem *problem)
{
    if (problem->model->has_length)
        return problem->model->length_scale;
    double length = half_way_of_points(problem);
    if (!(length > 0))
        length = problem->length_given ? problem->length : farthest_goal(problem);
    return isnormal(length * length) ? length : 1;
}

void ulna_problem_measure(ulna_problem *problem)
{
    double nearest = ULNA_AIM_NEAREST * ulna_problem_length_scale(problem);
    if (!problem->model->has_length && !problem->length_given) {
        double length = half_way_of_points(problem);
        problem->length = length > 0 ? length : 1;
    }
    for (size_t i = 0; i < problem->term_count; i++)
        problem->term[i].nearest = nearest;
}

/* ---- asking and changing ------------------------------------------------------------------------------------ */

ulna_term *ulna_term_at(const ulna_problem *problem, int term)
{
    return problem && term >= 0 && (size_t)term < problem->term_count ? &problem->term[term] : NULL;
}

int ulna_problem_term_count(const ulna_problem *problem)
{
    return problem ? (int)problem->term_count : 0;
}

int ulna_problem_term_type(const ulna_problem *problem, int term)
{
    const ulna_term *t = ulna_term_at(problem, term);
    return t ? (int)t->type : -1;
}

int ulna_problem_term_body(const ulna_problem *problem, int term)
{
    const ulna_term *t = ulna_term_at(problem, term);
    return t ? t->body : ULNA_NONE;
}

void ulna_problem_set_units(ulna_problem *problem)
{
    for (int d = 0; d < problem->model->nv && problem->ready; d++) {
        int slides = ulna_segment_is_translation(problem->model->dof_segment[d]);
        problem->unit[d] = slides ? 1 : problem->length * problem->length;
    }
}

ulna_status ulna_problem_set_length(ulna_problem *problem, double length)
{
    if (!problem || !(length > 0) || isinf(length))
        return ULNA_ERR_ARGUMENT;
    problem->length = length;
    problem->length_given = 1;
    problem->changes++;
    ulna_problem_set_units(problem);
    ulna_constraints_refresh(problem);
    for (size_t i = 0; i < problem->term_count; i++)
        ulna_term_refresh(problem, &problem->term[i]);
    return ULNA_OK;
}

/* A term has changed: the sorted arrays follow, evaluations are out of date. */
static ulna_status changed(ulna_problem *problem, const ulna_term *term)
{
    problem->changes++;
    ulna_term_refresh(problem, term);
    return ULNA_OK;
}

ulna_status ulna_problem_set_goal(ulna_problem *problem, int term, const double *goal)
{
    ulna_term *old = ulna_term_at(problem, term);
    if (!old || !goal)
        return ULNA_ERR_ARGUMENT;
    const ulna_model *model = problem->model;
    if (old->type == ULNA_TERM_POSTURE) {
        if (ulna_model_check_q(model, goal, NULL) != ULNA_OK)
            return ULNA_ERR_NUMBER;
        memcpy(old->values, goal, (size_t)model->nq * sizeof *goal);
        return changed(problem, old);
    }
    if (old->type == ULNA_TERM_LIMITS) {
        if (!ulna_limits_are_valid(goal, goal + model->nv, model->nv))
            return ULNA_ERR_ARGUMENT;
        memcpy(old->values, goal, 2 * (size_t)model->nv * sizeof *goal);
        return changed(problem, old);
    }
    ulna_term next = *old;
    memcpy(next.goal, goal, (size_t)ulna_term_goal_size(model, old) * sizeof *goal);
    const char *fault;
    ulna_status status = ulna_term_normalise(&next, &fault);
    if (status != ULNA_OK)
        return status;
    next.sleeping = 0;
    *old = next;
    return changed(problem, old);
}

void ulna_problem_set_posture(ulna_problem *problem, int term, const double *reference, const double *factors)
{
    size_t nq = (size_t)problem->model->nq, nv = (size_t)problem->model->nv;
    memcpy(problem->term[term].values, reference, nq * sizeof *reference);
    memcpy(problem->term[term].values + nq, factors, nv * sizeof *factors);
    problem->changes++;
}

ulna_status ulna_problem_set_weight(ulna_problem *problem, int term, double weight)
{
    ulna_term *t = ulna_term_at(problem, term);
    if (!t || !ulna_weight_is_valid(weight))
        return ULNA_ERR_ARGUMENT;
    t->weight = weight;
    return changed(problem, t);
}

ulna_status ulna_problem_set_loss(ulna_problem *problem, int first, int count, ulna_loss loss, double scale)
{
    if (!problem || first < 0 || count < 0 || (size_t)first + (size_t)count > problem->term_count ||
        (unsigned)loss > ULNA_LOSS_HUBER || (loss && !(scale > 0)))
        return ULNA_ERR_ARGUMENT;
    for (int i = first; i < first + count; i++)
        if (problem->term[i].type != ULNA_TERM_POINT)
            return ULNA_ERR_ARGUMENT;
    problem->robust.loss = loss;
    problem->changes++;
    for (int i = first; i < first + count; i++) {
        problem->term[i].loss_scale = loss ? scale : 0;
        ulna_term_refresh(problem, &problem->term[i]);
    }
    return ULNA_OK;
}

ulna_status ulna_problem_goal(const ulna_problem *problem, int term, double *goal)
{
    const ulna_term *t = ulna_term_at(problem, term);
    if (!t || !goal)
        return ULNA_ERR_ARGUMENT;
    memcpy(goal, t->values ? t->values : t->goal, (size_t)ulna_term_goal_size(problem->model, t) * sizeof *goal);
    return ULNA_OK;
}

double ulna_problem_weight(const ulna_problem *problem, int term)
{
    const ulna_term *t = ulna_term_at(problem, term);
    return t ? t->weight : (double)NAN;
}

ulna_status ulna_problem_set_points(ulna_problem *problem, int first, int count, const double *goals)
{
    if (!problem || !goals || first < 0 || count < 0 || (size_t)first + (size_t)count > problem->term_count)
        return ULNA_ERR_ARGUMENT;
    for (int k = 0; k < count; k++) {
        const double *goal = goals + 3 * (size_t)k;
        if (problem->term[first + k].type != ULNA_TERM_POINT)
            return ULNA_ERR_ARGUMENT;
        if (isinf(goal[0]) || isinf(goal[1]) || isinf(goal[2]))
            return ULNA_ERR_NUMBER;
    }
    ulna_problem_put_points(problem, first, count, goals);
    return ULNA_OK;
}

void ulna_problem_put_points(ulna_problem *problem, int first, int count, const double *goals)
{
    ulna_term *term = problem->term + first;
    ulna_pull *const pulls = problem->ready ? problem->pull : NULL;
    problem->changes++;
    for (int k = 0; k < count; k++, term++) {
        const double *goal = goals + 3 * (size_t)k;
        double *pull = pulls ? (double *)&pulls[term->slot].goal : NULL;
        term->sleeping = isnan(goal[0] + goal[1] + goal[2]);
        if (!term->sleeping)
            ulna_copy3(goal, term->goal);
        if (!term->sleeping && pull) /* one number after the other: a vector made of them would wait for all */
            ulna_copy3(goal, pull);
        if (pull)
            pull[3] = term->sleeping ? 0 : term->weight;
    }
}

ulna_status ulna_problem_copy_goals(const ulna_problem *from, ulna_problem *to)
{
    if (from->term_count > to->term_count || from->model != to->model)
        return ULNA_ERR_STATE;
    to->length = from->length;
    to->length_given = from->length_given;
    ulna_problem_set_units(to);
    to->robust.loss = from->robust.loss;
    to->changes++;
    for (size_t i = 0; i < from->term_count; i++) {
        const ulna_term *source = &from->term[i];
        ulna_term *term = &to->term[i];
        if (source->type != term->type || source->value_count != term->value_count)
            return ULNA_ERR_STATE;
        double *values = term->values;
        int slot = term->slot;
        *term = *source;
        term->values = values;
        term->slot = slot;
        if (source->value_count)
            memcpy(values, source->values, source->value_count * sizeof *values);
        ulna_term_refresh(to, term);
    }
    return ulna_constraints_copy_goals(from, to);
}
