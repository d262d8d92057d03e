/* The problems of `ulna compare`: goals that can be reached, and where to start from. */
#include "cli/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/algorithms.h"

/* Standard deviation from rest of the poses that goals are generated from: radians, and part of the length scale. */
static const double pose_angle = 0.35, pose_translation = 0.25;

/* ---- poses ---------------------------------------------------------------------------------------------- */

/* to = from (+) noise. A degree of freedom without strength stays: no method may move it. */
static void perturb(trials *set, const double *from, double angle, double translation, uint64_t *state, double *to)
{
    const double *strength = ulna_model_strength(set->model);
    for (int i = 0; i < ulna_model_dof_count(set->model); i++) {
        double noise = ulna_random_normal(state) * (ulna_model_dof_is_translation(set->model, i) ? translation : angle);
        set->step[i] = strength[i] > 0 ? noise : 0;
    }
    ulna_model_integrate(set->model, from, set->step, to);
}

/* Coordinates beyond a limit are reflected at it, so that poses do not accumulate there. */
static void reflect(const ulna_model *model, double *q)
{
    const double *lower = ulna_model_lower(model), *upper = ulna_model_upper(model);
    for (int i = 0; i < ulna_model_dof_count(model); i++) {
        int k = ulna_model_dof_coordinate(model, i);
        if (k == ULNA_NONE)
            continue;
        if (q[k] < lower[i])
            q[k] = 2 * lower[i] - q[k];
        else if (q[k] > upper[i])
            q[k] = 2 * upper[i] - q[k];
    }
    ulna_model_clamp(model, q);
}

/* ---- set-up --------------------------------------------------------------------------------------------- */

static int is_end(const ulna_model *model, int body)
{
    return ulna_model_subtree(model, body, NULL) == 1;
}

static ulna_status take_effectors(trials *set, int room, ulna_error *error)
{
    set->effectors = calloc((size_t)room + 1, sizeof *set->effectors);
    set->positions = calloc((size_t)room + 1, 3 * sizeof *set->positions);
    return set->effectors && set->positions ? ULNA_OK : cli_no_memory(error);
}

static ulna_status make_goals(trials *set, ulna_error *error)
{
    const ulna_model *model = set->model;
    int markers = ulna_model_marker_count(model), count = markers > 0 ? markers : ulna_model_body_count(model);
    set->is_made = 1;
    set->has_markers = markers > 0;
    ulna_status status = take_effectors(set, count, error);
    for (int i = 0; status == ULNA_OK && i < count; i++) {
        ulna_effector *next = &set->effectors[set->effector_count];
        double weight = 1;
        if (markers > 0) {
            next->body = ulna_model_marker_body(model, i);
            ulna_model_marker_position(model, i, next->point);
            weight = ulna_model_marker_weight(model, i);
        } else if (is_end(model, i))
            next->body = i;
        else
            continue;
        const double *anywhere = set->positions;
        set->effector_count++;
        status = ulna_problem_add_point(set->problem, next->body, next->point, anywhere, weight, NULL, error);
    }
    return status;
}

static ulna_status take_goals(trials *set, const goals *wanted, ulna_error *error)
{
    ulna_status status = take_effectors(set, wanted->count, error);
    for (int i = 0; status == ULNA_OK && i < wanted->count; i++) {
        const goal *next = &wanted->list[i];
        if (!(next->what & GOAL_POSITION))
            continue;
        ulna_effector *at = &set->effectors[set->effector_count];
        at->body = next->body;
        memcpy(at->point, next->point, sizeof at->point);
        memcpy(set->positions + 3 * (size_t)set->effector_count++, next->position, sizeof next->position);
    }
    return status != ULNA_OK ? status : goals_to_problem(wanted, set->problem, error);
}

static void count_goals(trials *set)
{
    for (int i = 0; i < ulna_problem_term_count(set->problem); i++) {
        double weight = ulna_problem_weight(set->problem, i);
        int is_point = ulna_problem_term_type(set->problem, i) == ULNA_TERM_POINT;
        set->points += weight > 0 && is_point;
        set->orientations += weight > 0 && !is_point;
        set->weight += weight;
    }
}

static ulna_status allocate(trials *set, const goals *wanted, ulna_error *error)
{
    size_t nq = (size_t)ulna_model_coordinate_count(set->model), nv = (size_t)ulna_model_dof_count(set->model);
    set->target = calloc(nq + 1, sizeof *set->target);
    set->begin = calloc(nq + 1, sizeof *set->begin);
    set->step = calloc(nv + 1, sizeof *set->step);
    if (!set->target || !set->begin || !set->step)
        return cli_no_memory(error);
    if (set->options.start == START_ZERO)
        ulna_model_zero(set->model, set->begin);
    else
        memcpy(set->begin, set->options.start == START_GIVEN ? wanted->start : ulna_model_rest(set->model),
               nq * sizeof *set->begin);
    return ULNA_OK;
}

static ulna_status add_constraints(trials *set, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    for (int i = 0; status == ULNA_OK && i < set->kept->count; i++)
        status = ulna_problem_add_constraint(set->problem, &set->kept->list[i].constraint, NULL, error);
    return status;
}

ulna_status trials_create(trials *set, const ulna_model *model, const goals *wanted, const constraint_file *kept,
                          const trial_options *options, ulna_error *error)
{
    *set = (trials){.model = model,
                    .kept = kept,
                    .options = *options,
                    .lower = ulna_model_lower(model),
                    .upper = ulna_model_upper(model)};
    if (ulna_model_dof_count(model) == 0)
        return cli_fail(error, ULNA_ERR_MODEL, "the skeleton has no degree of freedom: there is nothing to solve");
    ulna_status status = allocate(set, wanted, error);
    if (status == ULNA_OK)
        status = ulna_problem_create(model, NULL, &set->problem, error);
    if (status == ULNA_OK)
        status = wanted->count ? take_goals(set, wanted, error) : make_goals(set, error);
    if (status == ULNA_OK)
        status = add_constraints(set, error);
    if (status == ULNA_OK) {
        count_goals(set);
        if (set->points + set->orientations == 0)
            status = cli_fail(error, ULNA_ERR_MODEL, "all goals have weight 0: there is nothing to solve");
    }
    if (status == ULNA_OK)
        status = ulna_problem_ready(set->problem, error);
    return status != ULNA_OK ? status : ulna_work_create(set->problem, NULL, &set->work, error);
}

ulna_status trials_create_recorded(trials *set, const recorded *from, const trial_options *options, ulna_error *error)
{
    static const constraint_file none = {0};
    const ulna_take *take = from->job.take;
    const ulna_options *given = &from->job.options.solve;
    *set = (trials){.model = take->model,
                    .kept = &none,
                    .recorded = from,
                    .is_oracle = from->job.attach == ATTACH_ORACLE,
                    .options = *options,
                    .lower = given->lower ? given->lower : ulna_model_lower(take->model),
                    .upper = given->upper ? given->upper : ulna_model_upper(take->model)};
    set->options.frames = from->count;
    set->options.first = 0;
    ulna_status status = take_effectors(set, (int)take->set.count, error);
    for (size_t i = 0; status == ULNA_OK && i < take->set.count; i++) {
        ulna_effector *at = &set->effectors[set->effector_count++];
        at->body = take->set.items[i].body;
        memcpy(at->point, take->set.items[i].offset, sizeof at->point);
    }
    if (status == ULNA_OK)
        status = recorded_problem(from, 0, &set->problem, error);
    if (status == ULNA_OK)
        count_goals(set);
    return status != ULNA_OK ? status : ulna_work_create(set->problem, NULL, &set->work, error);
}

/* With oracle offsets a new problem, in which the goals are already. */
static ulna_status set_recorded(trials *set, int frame, double *start)
{
    size_t nq = (size_t)ulna_model_coordinate_count(set->model);
    memcpy(start, set->recorded->starts + nq * (size_t)frame, nq * sizeof *start);
    if (!set->is_oracle)
        return recorded_goals(set->recorded, frame, set->problem, set->positions);
    ulna_work_destroy(set->work);
    ulna_problem_destroy(set->problem);
    set->work = NULL;
    set->problem = NULL;
    ulna_status status = recorded_problem(set->recorded, frame, &set->problem, NULL);
    if (status == ULNA_OK)
        status = ulna_work_create(set->problem, NULL, &set->work, NULL);
    for (int i = 0; status == ULNA_OK && i < set->effector_count; i++)
        ulna_take_position(set->recorded->job.take, set->recorded->picked[frame], i, set->positions + 3 * (size_t)i);
    return status;
}

void trials_release(trials *set)
{
    ulna_work_destroy(set->work);
    ulna_problem_destroy(set->problem);
    free(set->effectors);
    free(set->positions);
    free(set->target);
    free(set->begin);
    free(set->step);
    *set = (trials){0};
}

/* ---- frames --------------------------------------------------------------------------------------------- */

/* Goals at the places that the points have in a random pose inside the limits. */
static ulna_status place_goals(trials *set, uint64_t *state)
{
    double scale = ulna_model_length_scale(set->model);
    ulna_pose *pose = ulna_work_pose(set->work);
    perturb(set, ulna_model_rest(set->model), pose_angle, pose_translation * scale, state, set->target);
    reflect(set->model, set->target);
    ulna_status status = ulna_pose_forward(pose, set->target);
    for (int i = 0; status == ULNA_OK && i < set->effector_count; i++)
        status = ulna_pose_point(pose, set->effectors[i].body, set->effectors[i].point, set->positions + 3 * (size_t)i);
    return status != ULNA_OK ? status : ulna_problem_set_points(set->problem, 0, set->effector_count, set->positions);
}

ulna_status trials_set_frame(trials *set, int frame, double *start)
{
    if (set->recorded)
        return set_recorded(set, frame, start);
    uint64_t state = set->options.seed;
    frame += set->options.first;
    state = ulna_random_bits(&state) + (uint64_t)frame;
    ulna_status status = set->is_made ? place_goals(set, &state) : ULNA_OK;
    const double *from = set->options.start == START_NEAR ? set->target : set->begin;
    double spread = set->options.spread;
    if (!set->is_made && frame == 0) /* the first start is the one that was asked for */
        spread = 0;
    perturb(set, from, spread, spread * ulna_model_length_scale(set->model), &state, start);
    if (set->options.bounded)
        ulna_model_clamp(set->model, start);
    return status;
}
