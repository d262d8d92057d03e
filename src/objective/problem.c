/* Building a problem: adding terms and sorting them by link. Goals and weights: goals.c. */
#include "math/math3.h"
#include "objective/constraint.h"

/* ---- create and destroy ------------------------------------------------------------------------------------ */

ulna_status ulna_problem_create(const ulna_model *model, const ulna_allocator *allocator, ulna_problem **problem,
                                ulna_error *error)
{
    if (!problem)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the problem given");
    *problem = NULL;
    if (!model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a problem needs a model");
    ulna_allocator memory = ulna_allocator_or_default(allocator);
    ulna_problem *made = ulna_allocate(&memory, 1, sizeof *made);
    if (!made)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a problem");
    made->allocator = memory;
    made->model = model;
    made->length = model->length_scale;
    ulna_status status = ulna_constraints_add_couplings(made);
    if (status != ULNA_OK) {
        ulna_problem_destroy(made);
        return ulna_fail(error, status, "no memory for the %d couplings of the model", model->nc);
    }
    *problem = made;
    return ULNA_OK;
}

void ulna_problem_drop_ready(ulna_problem *problem)
{
    ulna_release(&problem->allocator, problem->ready_block, problem->ready_bytes, 1);
    problem->ready_block = NULL;
    problem->ready = 0;
    problem->structure++;
}

void ulna_problem_destroy(ulna_problem *problem)
{
    if (!problem)
        return;
    ulna_allocator allocator = problem->allocator;
    ulna_problem_drop_ready(problem);
    for (size_t i = 0; i < problem->term_count; i++)
        ulna_release(&allocator, problem->term[i].values, problem->term[i].value_count, sizeof(double));
    ulna_release(&allocator, problem->term, problem->term_capacity, sizeof *problem->term);
    ulna_constraints_drop(problem);
    ulna_release(&allocator, problem, 1, sizeof *problem);
}

ulna_status ulna_problem_clone(const ulna_problem *problem, const ulna_allocator *allocator, ulna_problem **copy,
                               ulna_error *error)
{
    if (!copy)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the problem given");
    *copy = NULL;
    if (!problem)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no problem given");
    ulna_problem *made = NULL;
    ulna_status status = ulna_problem_create(problem->model, allocator, &made, error);
    if (!made)
        return status;
    made->length = problem->length;
    made->length_given = problem->length_given;
    made->robust.loss = problem->robust.loss;
    status = ulna_grow(&made->allocator, (void **)&made->term, &made->term_capacity, problem->term_count,
                       sizeof *made->term);
    for (size_t i = 0; i < problem->term_count && status == ULNA_OK; i++) {
        ulna_term term = problem->term[i];
        if (term.values) {
            term.values = ulna_allocate(&made->allocator, term.value_count, sizeof *term.values);
            if (!term.values) {
                status = ULNA_ERR_MEMORY;
                break;
            }
            memcpy(term.values, problem->term[i].values, term.value_count * sizeof *term.values);
        }
        made->term[made->term_count++] = term;
    }
    if (status == ULNA_OK)
        status = ulna_constraints_clone(problem, made);
    status = status == ULNA_OK ? ulna_problem_ready(made, error)
                               : ulna_fail(error, status, "no memory for a copy of %zu terms", problem->term_count);
    if (status != ULNA_OK)
        ulna_problem_destroy(made);
    else
        *copy = made;
    return status;
}

const ulna_model *ulna_problem_model(const ulna_problem *problem)
{
    return problem ? problem->model : NULL;
}

/* ---- adding terms ------------------------------------------------------------------------------------------ */

ulna_status ulna_term_add(ulna_problem *problem, ulna_term *term, double weight, int *number, ulna_error *error)
{
    const ulna_term_kind *kind = ulna_term_kind_of(term->type);
    if (!ulna_weight_is_valid(weight))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "%s term: the weight must be a number >= 0", kind->name);
    int on_body = kind->evaluate || ulna_pulls_of(term->type);
    if (on_body && (term->body < 0 || term->body >= problem->model->nb))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "%s term: there is no body %d", kind->name, term->body);
    const char *fault;
    ulna_status status = ulna_term_normalise(term, &fault);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "%s term: %s", kind->name, fault);
    status = ulna_grow(&problem->allocator, (void **)&problem->term, &problem->term_capacity, problem->term_count + 1,
                       sizeof *problem->term);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for one more term");
    ulna_problem_drop_ready(problem);
    term->weight = weight;
    term->slot = ULNA_NONE;
    problem->term[problem->term_count] = *term;
    if (number)
        *number = (int)problem->term_count;
    problem->term_count++;
    return ULNA_OK;
}

static ulna_status add_on_body(ulna_problem *problem, ulna_term_type type, int body, const double *point,
                               const double *axis, const double *goal, int goal_size, const double *more, double weight,
                               int *number, ulna_error *error)
{
    if (!problem || !goal)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "%s term: an argument is missing", ulna_term_type_name(type));
    ulna_term term = {.type = type, .body = body};
    if (point)
        ulna_copy3(point, term.local);
    if (axis)
        ulna_copy3(axis, term.local + 3);
    memcpy(term.goal, goal, (size_t)goal_size * sizeof *goal);
    if (more)
        ulna_copy3(more, term.goal + goal_size);
    return ulna_term_add(problem, &term, weight, number, error);
}

ulna_status ulna_problem_add_point(ulna_problem *problem, int body, const double point[3], const double goal[3],
                                   double weight, int *term, ulna_error *error)
{
    return add_on_body(problem, ULNA_TERM_POINT, body, point, NULL, goal, 3, NULL, weight, term, error);
}

ulna_status ulna_problem_add_orientation(ulna_problem *problem, int body, const double goal[9], double weight,
                                         int *term, ulna_error *error)
{
    return add_on_body(problem, ULNA_TERM_ORIENTATION, body, NULL, NULL, goal, 9, NULL, weight, term, error);
}

ulna_status ulna_problem_add_geodesic(ulna_problem *problem, int body, const double goal[9], double weight, int *term,
                                      ulna_error *error)
{
    return add_on_body(problem, ULNA_TERM_GEODESIC, body, NULL, NULL, goal, 9, NULL, weight, term, error);
}

ulna_status ulna_problem_add_direction(ulna_problem *problem, int body, const double axis[3], const double goal[3],
                                       double weight, int *term, ulna_error *error)
{
    return add_on_body(problem, ULNA_TERM_DIRECTION, body, NULL, axis, goal, 3, NULL, weight, term, error);
}

ulna_status ulna_problem_add_aim(ulna_problem *problem, int body, const double point[3], const double axis[3],
                                 const double goal[3], double weight, int *term, ulna_error *error)
{
    return add_on_body(problem, ULNA_TERM_AIM, body, point, axis, goal, 3, NULL, weight, term, error);
}

ulna_status ulna_problem_add_plane(ulna_problem *problem, int body, const double point[3], const double on_plane[3],
                                   const double normal[3], double weight, int *term, ulna_error *error)
{
    return add_on_body(problem, ULNA_TERM_PLANE, body, point, NULL, on_plane, 3, normal, weight, term, error);
}

ulna_status ulna_problem_add_line(ulna_problem *problem, int body, const double point[3], const double on_line[3],
                                  const double direction[3], double weight, int *term, ulna_error *error)
{
    return add_on_body(problem, ULNA_TERM_LINE, body, point, NULL, on_line, 3, direction, weight, term, error);
}

/* A term on coordinates with two arrays of its own. */
static ulna_status add_on_coordinates(ulna_problem *problem, ulna_term_type type, const double *first,
                                      size_t first_count, const double *second, size_t second_count, double weight,
                                      int *number, ulna_error *error)
{
    ulna_term term = {.type = type, .body = ULNA_NONE, .value_count = first_count + second_count};
    term.values = ulna_allocate(&problem->allocator, term.value_count, sizeof *term.values);
    if (!term.values)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a %s term", ulna_term_type_name(type));
    memcpy(term.values, first, first_count * sizeof *first);
    for (size_t i = 0; i < second_count; i++)
        term.values[first_count + i] = second ? second[i] : 1;
    ulna_status status = ulna_term_add(problem, &term, weight, number, error);
    if (status != ULNA_OK)
        ulna_release(&problem->allocator, term.values, term.value_count, sizeof *term.values);
    return status;
}

ulna_status ulna_problem_add_posture(ulna_problem *problem, const double *reference, const double *dof_weights,
                                     double weight, int *term, ulna_error *error)
{
    if (!problem)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "posture term: an argument is missing");
    const ulna_model *model = problem->model;
    const double *q = reference ? reference : model->rest;
    if (ulna_model_check_q(model, q, NULL) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_NUMBER,
                         "posture term: the reference holds NaN, infinity or a zero quaternion");
    for (int d = 0; dof_weights && d < model->nv; d++)
        if (!ulna_weight_is_valid(dof_weights[d]))
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "posture term: DOF %d: the weight must be a number >= 0", d);
    return add_on_coordinates(problem, ULNA_TERM_POSTURE, q, (size_t)model->nq, dof_weights, (size_t)model->nv, weight,
                              term, error);
}

ulna_status ulna_problem_add_limits(ulna_problem *problem, const double *lower, const double *upper, double weight,
                                    int *term, ulna_error *error)
{
    if (!problem)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "limits term: an argument is missing");
    const ulna_model *model = problem->model;
    const double *low = lower ? lower : model->lower, *high = upper ? upper : model->upper;
    if (!ulna_limits_are_valid(low, high, model->nv))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "limits term: a lower limit is NaN or exceeds the upper one");
    return add_on_coordinates(problem, ULNA_TERM_LIMITS, low, (size_t)model->nv, high, (size_t)model->nv, weight, term,
                              error);
}

ulna_status ulna_problem_add_coupling(ulna_problem *problem, int dof_a, int dof_b, double ratio, double offset,
                                      double weight, int *term, ulna_error *error)
{
    if (!problem)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "coupling term: an argument is missing");
    const ulna_model *model = problem->model;
    int dofs[2] = {dof_a, dof_b};
    for (int k = 0; k < 2; k++) {
        if (dofs[k] < 0 || dofs[k] >= model->nv)
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "coupling term: there is no degree of freedom %d", dofs[k]);
        if (model->dof_coordinate[dofs[k]] < 0)
            return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                             "coupling term: degree of freedom %d belongs to a quaternion and has no coordinate",
                             dofs[k]);
    }
    if (dof_a == dof_b)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "coupling term: degree of freedom %d cannot follow itself", dof_a);
    ulna_term made = {.type = ULNA_TERM_COUPLING, .body = ULNA_NONE, .dof_a = dof_a, .dof_b = dof_b};
    made.goal[0] = ratio;
    made.goal[1] = offset;
    return ulna_term_add(problem, &made, weight, term, error);
}

ulna_status ulna_problem_add_markers(ulna_problem *problem, int *first_term, ulna_error *error)
{
    if (!problem)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "markers: an argument is missing");
    const ulna_model *model = problem->model;
    ulna_pose *pose = NULL;
    ulna_status status = ulna_pose_create(model, &problem->allocator, &pose, error);
    if (status != ULNA_OK)
        return status;
    status = ulna_pose_forward(pose, model->rest);
    size_t before = problem->term_count;
    for (int m = 0; status == ULNA_OK && m < model->nm; m++) {
        const ulna_marker *marker = &model->marker[m];
        double goal[3];
        status = ulna_pose_point(pose, marker->body, marker->position, goal);
        if (status == ULNA_OK)
            status = ulna_problem_add_point(problem, marker->body, marker->position, goal, marker->weight, NULL, error);
    }
    ulna_pose_destroy(pose);
    if (status != ULNA_OK)
        problem->term_count = before; /* all or none */
    else if (first_term)
        *first_term = (int)before;
    return status;
}

/* ---- sorting ------------------------------------------------------------------------------------------------ */

static int is_extra(const ulna_term *term)
{
    return ulna_term_kind_of(term->type)->evaluate != NULL;
}

static int is_on_coordinates(const ulna_term *term)
{
    return term->type == ULNA_TERM_POSTURE || term->type == ULNA_TERM_LIMITS;
}

static int residuals_of(const ulna_model *model, const ulna_term *term)
{
    return ulna_term_size(model, term, ulna_term_kind_of(term->type)->residual_count);
}

static int link_of(const ulna_problem *problem, const ulna_term *term)
{
    return problem->model->body[term->body].link;
}

static void take_sorted(ulna_problem *problem, ulna_arena *arena)
{
    int nl = problem->model->nl;
    problem->pull_first = ulna_arena_take(arena, (size_t)nl + 1, sizeof *problem->pull_first);
    problem->pull_link = ulna_arena_take(arena, (size_t)problem->pull_count, sizeof *problem->pull_link);
    problem->pull = ulna_arena_take(arena, (size_t)problem->pull_count, sizeof *problem->pull);
    problem->unit = ulna_arena_take(arena, (size_t)problem->model->nv, sizeof *problem->unit);
    problem->robust.inverse =
        ulna_arena_take(arena, ulna_padded((size_t)problem->pull_count), sizeof *problem->robust.inverse);
    problem->extra_term = ulna_arena_take(arena, (size_t)problem->extra_count, sizeof *problem->extra_term);
    int has_extras = problem->extra_count || problem->kept_count;
    problem->extra_of = has_extras ? ulna_arena_take(arena, (size_t)nl, sizeof *problem->extra_of) : NULL;
    problem->coupling_term = ulna_arena_take(arena, (size_t)problem->coupling_count, sizeof *problem->coupling_term);
    problem->coordinate_term =
        ulna_arena_take(arena, (size_t)problem->coordinate_count, sizeof *problem->coordinate_term);
}

/* Counting sort by link: `first` ends as the index, slots keep the order of addition inside a link. */
static void sort_pulls(ulna_problem *problem)
{
    int nl = problem->model->nl, *first = problem->pull_first;
    memset(first, 0, ((size_t)nl + 1) * sizeof *first);
    for (size_t i = 0; i < problem->term_count; i++)
        if (ulna_pulls_of(problem->term[i].type))
            first[link_of(problem, &problem->term[i]) + 1] += ulna_pulls_of(problem->term[i].type);
    for (int l = 0; l < nl; l++)
        first[l + 1] += first[l];
    for (size_t i = 0; i < problem->term_count; i++) {
        ulna_term *term = &problem->term[i];
        int n = ulna_pulls_of(term->type);
        if (n) {
            term->slot = first[link_of(problem, term)];
            first[link_of(problem, term)] += n;
        }
    }
    for (int l = nl; l > 0; l--) /* the loop above moved each start to the next link's */
        first[l] = first[l - 1];
    first[0] = 0;
    for (int l = 0; l < nl; l++)
        for (int i = first[l]; i < first[l + 1]; i++)
            problem->pull_link[i] = l;
}

static void sort_extras(ulna_problem *problem)
{
    if (!problem->extra_of)
        return;
    int nl = problem->model->nl, made = 0;
    for (int l = 0; l < nl; l++)
        problem->extra_of[l] = 0;
    for (size_t i = 0; i < problem->term_count; i++)
        if (is_extra(&problem->term[i]))
            problem->extra_of[link_of(problem, &problem->term[i])] = 1;
    ulna_constraints_mark_links(problem, problem->extra_of);
    for (int l = 0; l < nl; l++)
        problem->extra_of[l] = problem->extra_of[l] ? made++ : -1;
    problem->extra_links = made;
    int at = 0;
    for (size_t i = 0; i < problem->term_count; i++)
        if (is_extra(&problem->term[i])) {
            problem->term[i].slot = at;
            problem->extra_term[at++] = (int)i;
        }
}

ulna_status ulna_problem_ready(ulna_problem *problem, ulna_error *error)
{
    if (!problem)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no problem given");
    if (problem->ready)
        return ULNA_OK;

    problem->pull_count = problem->extra_count = problem->extra_links = 0;
    problem->coupling_count = problem->coordinate_count = 0;
    long long residuals = 0;
    for (size_t i = 0; i < problem->term_count; i++) {
        const ulna_term *term = &problem->term[i];
        problem->pull_count += ulna_pulls_of(term->type);
        problem->extra_count += is_extra(term);
        problem->coupling_count += term->type == ULNA_TERM_COUPLING;
        problem->coordinate_count += is_on_coordinates(term);
        residuals += residuals_of(problem->model, term);
    }
    if (residuals > 2000000000)
        return ulna_fail(error, ULNA_ERR_LIMIT, "too many terms");
    problem->residual_count = (int)residuals;

    ulna_arena arena = {0};
    take_sorted(problem, &arena);
    void *block = arena.failed ? NULL : ulna_allocate(&problem->allocator, arena.used, 1);
    if (!block)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %zu terms", problem->term_count);
    problem->ready_block = block;
    problem->ready_bytes = arena.used;
    arena = (ulna_arena){block, 0, 0};
    take_sorted(problem, &arena);

    ulna_constraints_sort(problem);
    sort_pulls(problem);
    sort_extras(problem);
    int couplings = 0, coordinates = 0, row = 0;
    for (size_t i = 0; i < problem->term_count; i++) {
        problem->term[i].row = row;
        row += residuals_of(problem->model, &problem->term[i]);
        if (problem->term[i].type == ULNA_TERM_COUPLING)
            problem->coupling_term[couplings++] = (int)i;
        if (is_on_coordinates(&problem->term[i]))
            problem->coordinate_term[coordinates++] = (int)i;
    }
    problem->ready = 1;
    ulna_problem_measure(problem);
    ulna_problem_set_units(problem);
    ulna_constraints_refresh(problem);
    for (size_t i = 0; i < problem->term_count; i++)
        ulna_term_refresh(problem, &problem->term[i]);
    return ULNA_OK;
}
