/* Constraints: adding, checking, goals, switching, copies. Their rows: constraint_rows.c. */
#include "math/math3.h"
#include "objective/constraint.h"

/* ---- what may be given ------------------------------------------------------------------------------------------ */

static int goal_size(const ulna_constraint *given)
{
    int size = ulna_constraint_kind_of(given->type)->goal_size;
    return size < 0 ? given->custom.goal_size : size;
}

/* Every corner on the inner side of every edge, which is axis x edge: then they are in order, once around. */
static ulna_status check_polygon(const double axis[3], int count, const double *corners, const char **fault)
{
    if (!ulna_all_finite(corners, 3 * count))
        return *fault = "a corner is NaN or infinite", ULNA_ERR_NUMBER;
    int outside = 0, inside = 0;
    for (int k = 0; k < count; k++) {
        const double *from = corners + 3 * (size_t)k, *to = corners + 3 * (size_t)((k + 1) % count);
        double edge[3], inward[3], offset[3];
        ulna_subtract3(to, from, edge);
        ulna_cross(axis, edge, inward);
        double width = ulna_norm(inward);
        if (!(width > 0))
            return *fault = "two neighbouring corners are one above the other: leave one out", ULNA_ERR_ARGUMENT;
        for (int j = 0; j < count; j++) {
            ulna_subtract3(corners + 3 * (size_t)j, from, offset);
            double side = ulna_dot(inward, offset) / width, small = 1e-9 * (width + ulna_norm(offset));
            inside += side > small;
            outside += side < -small;
        }
    }
    if (!inside && outside)
        return *fault = "the corners run clockwise: list them counterclockwise as seen from where `axis` points to",
               ULNA_ERR_ARGUMENT;
    if (outside)
        return *fault = "the polygon is not convex: list the corners of its convex hull", ULNA_ERR_ARGUMENT;
    if (!inside)
        return *fault = "the corners lie on one line", ULNA_ERR_ARGUMENT;
    return ULNA_OK;
}

static ulna_status check_box(const double goal[6], const char **fault)
{
    for (int i = 0; i < 3; i++)
        if (!(goal[i] <= goal[3 + i]) || goal[i] == (double)INFINITY || goal[3 + i] == -(double)INFINITY)
            return *fault = "the box is empty: its lower corner is not below its upper one", ULNA_ERR_ARGUMENT;
    return ULNA_OK;
}

/* Brings the goal and the axes into canonical form: unit vectors, a clean rotation. */
static ulna_status check_goal(ulna_constraint *given, const char **fault)
{
    unsigned flags = ulna_constraint_kind_of(given->type)->flags;
    double *goal = given->goal;
    if (given->type == ULNA_KEEP_SUPPORT)
        return check_polygon(given->axis, given->corner_count, given->corners, fault);
    for (int i = 0; i < goal_size(given); i++)
        if (isnan(goal[i]) || (isinf(goal[i]) && !(flags & ULNA_KEEPS_OPEN_SIDES)))
            return *fault = "a number of the goal is NaN or infinite", ULNA_ERR_NUMBER;
    if (flags & ULNA_KEEPS_OPEN_SIDES)
        return check_box(goal, fault);
    if (((flags & ULNA_KEEPS_GOAL_AXIS) && !ulna_unit_length(goal)) ||
        ((flags & ULNA_KEEPS_NORMAL) && !ulna_unit_length(goal + 3)))
        return *fault = "the direction or normal in its goal has zero length", ULNA_ERR_ARGUMENT;
    if (flags & (ULNA_KEEPS_ROTATION | ULNA_KEEPS_ROTATION_3)) {
        if (!(ulna_orthonormalise(flags & ULNA_KEEPS_ROTATION ? goal : goal + 3) < 1e-6))
            return *fault = "the matrix in its goal is not a rotation: it takes nine numbers, row by row",
                   ULNA_ERR_ARGUMENT;
    }
    double last = goal_size(given) ? goal[goal_size(given) - 1] : 0;
    if ((flags & ULNA_KEEPS_DISTANCE) && !(last > 0)) /* at 0 the row has a kink where it is kept */
        return *fault = given->type == ULNA_KEEP_SPHERE
                            ? "the radius must be > 0; to hold a point at a place use a point constraint"
                            : "the distance must be > 0; to bring two points together use a together constraint",
               ULNA_ERR_ARGUMENT;
    if (given->type == ULNA_KEEP_ANGLE && !(last > 0 && last < ULNA_PI))
        return *fault =
                   "the angle must be > 0 and < pi; to bring two axes together use a direction or relative constraint",
               ULNA_ERR_ARGUMENT;
    return ULNA_OK;
}

static ulna_status check_places(ulna_constraint *given, unsigned flags, const char **fault)
{
    if (((flags & ULNA_KEEPS_BODY) && !ulna_all_finite(given->point, 3)) ||
        ((flags & ULNA_KEEPS_OTHER) && !ulna_all_finite(given->other_point, 3)))
        return *fault = "its point is NaN or infinite", ULNA_ERR_NUMBER;
    if (((flags & ULNA_KEEPS_AXIS) && !ulna_unit_length(given->axis)) ||
        ((flags & ULNA_KEEPS_OTHER_AXIS) && !ulna_unit_length(given->other_axis)))
        return *fault = "its axis has zero length, or is not finite", ULNA_ERR_ARGUMENT;
    if (given->type == ULNA_KEEP_SUPPORT &&
        (given->corner_count < 3 || given->corner_count > ULNA_CONSTRAINT_CORNERS || !given->corners))
        return *fault = "it takes 3 to 16 corners", ULNA_ERR_ARGUMENT;
    if (given->type == ULNA_KEEP_CUSTOM && !given->custom.evaluate)
        return *fault = "it has no function: fill in custom.evaluate", ULNA_ERR_ARGUMENT;
    if (given->type == ULNA_KEEP_CUSTOM &&
        (given->custom.goal_size < 0 || given->custom.goal_size > ULNA_CONSTRAINT_GOAL))
        return *fault = "custom.goal_size must be 0 to 12", ULNA_ERR_ARGUMENT;
    return check_goal(given, fault);
}

#define COEFFICIENT_MOST 1e100 /* sums of coefficients and their reciprocals are finite */

static ulna_status check_dofs(const ulna_model *model, const ulna_constraint *given, ulna_error *error)
{
    if (given->dof_count < 1 || !given->dofs || !given->coefficients)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "linear constraint: it needs degrees of freedom, and a coefficient for each");
    int is_zero = 1;
    for (int k = 0; k < given->dof_count; k++) {
        int d = given->dofs[k];
        if (d < 0 || d >= model->nv)
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "linear constraint: there is no degree of freedom %d", d);
        if (model->dof_coordinate[d] < 0)
            return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                             "linear constraint: degree of freedom %d belongs to a quaternion and has no coordinate",
                             d);
        if (!(fabs(given->coefficients[k]) <= COEFFICIENT_MOST))
            return ulna_fail(error, ULNA_ERR_NUMBER, "linear constraint: coefficient %d is NaN, infinite or too large",
                             k);
        for (int i = 0; i < k; i++)
            if (given->dofs[i] == d)
                return ulna_fail(error, ULNA_ERR_ARGUMENT,
                                 "linear constraint: degree of freedom %d is listed twice: add its coefficients up", d);
        is_zero &= fabs(given->coefficients[k]) < 1 / COEFFICIENT_MOST;
    }
    return is_zero ? ulna_fail(error, ULNA_ERR_ARGUMENT, "linear constraint: all coefficients are 0, or too small")
                   : ULNA_OK;
}

static ulna_status check_bodies(const ulna_model *model, const ulna_constraint *given, const ulna_constraint_kind *kind,
                                ulna_error *error)
{
    if ((kind->flags & ULNA_KEEPS_BODY) && (given->body < 0 || given->body >= model->nb))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "%s constraint: there is no body %d", kind->name, given->body);
    if (kind->flags & ULNA_KEEPS_OTHER) {
        if (given->other < ULNA_NONE || given->other >= model->nb)
            return ulna_fail(error, ULNA_ERR_ARGUMENT,
                             "%s constraint: there is no other body %d; %d stands for the world", kind->name,
                             given->other, ULNA_NONE);
        if (given->other == given->body)
            return ulna_fail(error, ULNA_ERR_ARGUMENT,
                             "%s constraint: both bodies are \"%s\": the other one must be another body or the world",
                             kind->name, ulna_model_body_name(model, given->other));
    }
    double mass = 0;
    for (int b = 0; b < model->nb; b++)
        mass += model->mass[b].mass;
    if ((kind->flags & ULNA_KEEPS_MASS) && !(mass > 0))
        return ulna_fail(
            error, ULNA_ERR_ARGUMENT,
            "%s constraint: no body has a mass: give masses in the model file, or by ulna_builder_set_mass",
            kind->name);
    return ULNA_OK;
}

static ulna_status check(const ulna_model *model, ulna_constraint *given, ulna_error *error)
{
    const ulna_constraint_kind *kind = ulna_constraint_kind_of(given->type);
    if (!kind)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "constraint: there is no type %d", (int)given->type);
    if ((unsigned)given->relation > ULNA_AT_MOST)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "%s constraint: there is no relation %d", kind->name,
                         (int)given->relation);
    if (given->relation != ULNA_EQUAL && !(kind->flags & ULNA_KEEPS_RELATION))
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "%s constraint: this type has no \"at least\" or \"at most\": leave out the relation",
                         kind->name);
    if (given->level < 0 || given->level > ULNA_LEVELS_MOST)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "%s constraint: the level must be 0 (hard) to 8, not %d", kind->name,
                         given->level);
    if (!ulna_weight_is_valid(given->weight))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "%s constraint: the weight must be a number >= 0 (0 stands for 1)",
                         kind->name);
    ulna_status status = check_bodies(model, given, kind, error);
    if (status == ULNA_OK && given->type == ULNA_KEEP_LINEAR)
        status = check_dofs(model, given, error);
    if (status != ULNA_OK)
        return status;
    const char *fault = "";
    status = check_places(given, kind->flags, &fault);
    return status == ULNA_OK ? status : ulna_fail(error, status, "%s constraint: %s", kind->name, fault);
}

/* ---- adding and releasing --------------------------------------------------------------------------------------- */

/* The coefficients of the row, such that the largest is 1, or the length for rotations. */
static void refresh(const ulna_problem *problem, ulna_kept *kept)
{
    const ulna_constraint *given = &kept->given;
    kept->nearest = ULNA_AIM_NEAREST * ulna_problem_length_scale(problem);
    if (given->type != ULNA_KEEP_LINEAR)
        return;
    size_t n = (size_t)given->dof_count;
    double largest = 0;
    for (size_t k = 0; k < n; k++) {
        int is_translation = ulna_segment_is_translation(problem->model->dof_segment[kept->dofs[k]]);
        largest = fmax(largest, fabs(kept->numbers[k]) / (is_translation ? 1 : problem->length));
    }
    kept->scale = 1 / largest;
    for (size_t k = 0; k < n; k++)
        kept->numbers[n + k] = (given->relation == ULNA_AT_MOST ? -1 : 1) * kept->scale * kept->numbers[k];
}

void ulna_constraints_refresh(ulna_problem *problem)
{
    for (size_t i = 0; i < problem->kept_count; i++)
        refresh(problem, &problem->kept[i]);
}

static void drop(const ulna_allocator *allocator, ulna_kept *kept)
{
    ulna_release(allocator, kept->dofs, (size_t)kept->given.dof_count, sizeof *kept->dofs);
    ulna_release(allocator, kept->numbers, kept->number_count, sizeof *kept->numbers);
}

void ulna_constraints_drop(ulna_problem *problem)
{
    for (size_t i = 0; i < problem->kept_count; i++)
        drop(&problem->allocator, &problem->kept[i]);
    ulna_release(&problem->allocator, problem->kept, problem->kept_capacity, sizeof *problem->kept);
}

/* A copy with arrays of its own, appended to the problem. */
static ulna_status append(ulna_problem *problem, const ulna_constraint *given, int is_off)
{
    ulna_status status = ulna_grow(&problem->allocator, (void **)&problem->kept, &problem->kept_capacity,
                                   problem->kept_count + 1, sizeof *problem->kept);
    if (status != ULNA_OK)
        return status;
    ulna_kept made = {.given = *given, .is_off = is_off};
    int is_linear = given->type == ULNA_KEEP_LINEAR, is_support = given->type == ULNA_KEEP_SUPPORT;
    size_t dofs = is_linear ? (size_t)given->dof_count : 0, corners = is_support ? 3 * (size_t)given->corner_count : 0;
    made.given.dof_count = (int)dofs;
    made.given.corner_count = (int)(corners / 3);
    made.number_count = 2 * dofs + corners;
    if (dofs)
        made.dofs = ulna_allocate(&problem->allocator, dofs, sizeof *made.dofs);
    if (dofs || corners)
        made.numbers = ulna_allocate(&problem->allocator, made.number_count, sizeof *made.numbers);
    if ((dofs && !made.dofs) || ((dofs || corners) && !made.numbers)) {
        drop(&problem->allocator, &made);
        return ULNA_ERR_MEMORY;
    }
    if (dofs) {
        memcpy(made.dofs, given->dofs, dofs * sizeof *made.dofs);
        memcpy(made.numbers, given->coefficients, dofs * sizeof *made.numbers);
    }
    if (corners)
        memcpy(made.numbers, given->corners, corners * sizeof *made.numbers);
    made.given.dofs = made.dofs;
    made.given.coefficients = is_linear ? made.numbers : NULL;
    made.given.corners = is_support ? made.numbers : NULL;
    refresh(problem, &made);
    problem->kept[problem->kept_count++] = made;
    return ULNA_OK;
}

ulna_status ulna_problem_add_constraint(ulna_problem *problem, const ulna_constraint *constraint, int *number,
                                        ulna_error *error)
{
    if (!problem || !constraint)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "constraint: an argument is missing");
    ulna_constraint given = *constraint;
    ulna_status status = check(problem->model, &given, error);
    if (status != ULNA_OK)
        return status;
    if (given.weight == 0)
        given.weight = 1;
    if (append(problem, &given, 0) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for one more constraint");
    ulna_problem_drop_ready(problem);
    if (number)
        *number = (int)problem->kept_count - 1;
    return ULNA_OK;
}

/* Those of the model (model.h), as the first constraints: coordinate - multiplier x master = offset. */
ulna_status ulna_constraints_add_couplings(ulna_problem *problem)
{
    ulna_status status = ULNA_OK;
    for (int i = 0; i < problem->model->nc && status == ULNA_OK; i++) {
        const ulna_coupling *c = &problem->model->coupling[i];
        const int dofs[2] = {c->dof, c->master};
        const double coefficients[2] = {1, -c->multiplier};
        ulna_constraint row = {.type = ULNA_KEEP_LINEAR, .body = ULNA_NONE, .other = ULNA_NONE, .weight = 1};
        row.dof_count = c->multiplier == 0 ? 1 : 2;
        row.dofs = dofs;
        row.coefficients = coefficients;
        row.goal[0] = c->offset;
        status = append(problem, &row, 0);
    }
    return status;
}

/* ---- asking and changing ---------------------------------------------------------------------------------------- */

static ulna_kept *kept_at(const ulna_problem *problem, int number)
{
    return problem && number >= 0 && (size_t)number < problem->kept_count ? &problem->kept[number] : NULL;
}

/* One that may be changed: those of the model may not. */
static ulna_kept *changeable_at(const ulna_problem *problem, int number)
{
    return problem && number < problem->model->nc ? NULL : kept_at(problem, number);
}

int ulna_problem_constraint_count(const ulna_problem *problem)
{
    return problem ? (int)problem->kept_count : 0;
}

const ulna_constraint *ulna_problem_constraint(const ulna_problem *problem, int number)
{
    const ulna_kept *kept = kept_at(problem, number);
    return kept ? &kept->given : NULL;
}

ulna_status ulna_problem_set_constraint_goal(ulna_problem *problem, int number, const double *goal)
{
    ulna_kept *kept = changeable_at(problem, number);
    if (!kept)
        return ULNA_ERR_ARGUMENT;
    ulna_constraint next = kept->given;
    int is_support = next.type == ULNA_KEEP_SUPPORT;
    if (!goal && (is_support || goal_size(&next)))
        return ULNA_ERR_ARGUMENT;
    if (is_support)
        next.corners = goal;
    else if (goal)
        memcpy(next.goal, goal, (size_t)goal_size(&next) * sizeof *goal);
    const char *fault;
    ulna_status status = check_goal(&next, &fault);
    if (status != ULNA_OK)
        return status;
    if (is_support)
        memcpy(kept->numbers, goal, kept->number_count * sizeof *goal);
    else
        kept->given = next;
    problem->changes++;
    return ULNA_OK;
}

ulna_status ulna_problem_switch_constraint(ulna_problem *problem, int number, int on)
{
    ulna_kept *kept = changeable_at(problem, number);
    if (!kept)
        return ULNA_ERR_ARGUMENT;
    kept->is_off = !on;
    problem->changes++;
    return ULNA_OK;
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

ulna_status ulna_constraints_clone(const ulna_problem *from, ulna_problem *to)
{
    ulna_status status = ULNA_OK;
    for (size_t i = to->kept_count; i < from->kept_count && status == ULNA_OK; i++) /* couplings are there already */
        status = append(to, &from->kept[i].given, from->kept[i].is_off);
    return status;
}

ulna_status ulna_constraints_copy_goals(const ulna_problem *from, ulna_problem *to)
{
    if (from->kept_count > to->kept_count)
        return ULNA_ERR_STATE;
    for (size_t i = 0; i < from->kept_count; i++) {
        const ulna_kept *source = &from->kept[i];
        ulna_kept *kept = &to->kept[i];
        if (source->given.type != kept->given.type || source->number_count != kept->number_count)
            return ULNA_ERR_STATE;
        memcpy(kept->given.goal, source->given.goal, sizeof kept->given.goal);
        if (kept->number_count)
            memcpy(kept->numbers, source->numbers, kept->number_count * sizeof *kept->numbers);
        kept->is_off = source->is_off;
    }
    ulna_constraints_refresh(to);
    return ULNA_OK;
}

double ulna_constraint_reach(const ulna_kept *kept, int which)
{
    const ulna_constraint *given = &kept->given;
    unsigned flags = ulna_constraint_kind_of(given->type)->flags;
    if (which)
        return flags & ULNA_KEEPS_OTHER && given->other >= 0 ? ulna_norm(given->other_point) : 0;
    return flags & ULNA_KEEPS_BODY ? ulna_norm(given->point) : 0;
}

/* ---- sorting ----------------------------------------------------------------------------------------------------- */

int ulna_problem_row_count(const ulna_problem *problem)
{
    return problem->row_count;
}

int ulna_problem_has_frozen_rows(const ulna_problem *problem)
{
    return problem->has_frozen_rows;
}

static int keeps_centre(const ulna_problem *problem)
{
    for (size_t i = 0; i < problem->kept_count; i++)
        if (ulna_constraint_kind_of(problem->kept[i].given.type)->flags & ULNA_KEEPS_MASS)
            return 1;
    return 0;
}

void ulna_constraints_sort(ulna_problem *problem)
{
    problem->row_count = 0;
    problem->has_frozen_rows = 0;
    for (size_t i = 0; i < problem->kept_count; i++) {
        problem->kept[i].first_row = problem->row_count;
        problem->row_count += ulna_kept_row_count(&problem->kept[i]);
        problem->has_frozen_rows |= ulna_constraint_kind_of(problem->kept[i].given.type)->frozen_rows > 0;
    }
    problem->has_centre = keeps_centre(problem);
}

void ulna_constraints_mark_links(const ulna_problem *problem, int *is_touched)
{
    const ulna_model *model = problem->model;
    for (size_t i = 0; i < problem->kept_count; i++) {
        const ulna_constraint *given = &problem->kept[i].given;
        unsigned flags = ulna_constraint_kind_of(given->type)->flags;
        if (flags & ULNA_KEEPS_BODY)
            is_touched[model->body[given->body].link] = 1;
        if ((flags & ULNA_KEEPS_OTHER) && given->other >= 0)
            is_touched[model->body[given->other].link] = 1;
    }
    for (int l = 0; problem->has_centre && l < model->nl; l++)
        is_touched[l] |= model->link_mass[l][3] != 0;
}
