/* Works: their memory, and f, gradient, Hessian and products at one q. */
#include "math/math3.h"
#include "objective/constraint.h"

/* ---- memory ------------------------------------------------------------------------------------------------- */

static int needs_couple(const ulna_problem *problem)
{
    int has_ball = 0;
    for (int d = 0; d < problem->model->nv; d++)
        has_ball |= problem->model->dof_coordinate[d] < 0;
    return has_ball && problem->coordinate_count > 0;
}

static void take_arrays(ulna_work *work, ulna_arena *arena)
{
    const ulna_problem *problem = work->problem;
    size_t nv = (size_t)problem->model->nv, links = (size_t)problem->extra_links;
    size_t k = (size_t)problem->coupling_count;
    ulna_sweep_take(&work->sweep, problem->model, arena);
    size_t summed = problem->pull_count ? (size_t)problem->model->nl : 0;
    work->targets = (ulna_targets){.count = problem->pull_count,
                                   .first = problem->pull_first,
                                   .pull = problem->pull,
                                   .link = problem->pull_link,
                                   .robust = &problem->robust};
    work->targets.values = ulna_arena_take(arena, 2 * (size_t)problem->pull_count, sizeof *work->targets.values);
    work->targets.squares = ulna_arena_take(arena, ulna_padded((size_t)problem->pull_count), sizeof(double));
    work->targets.weights = ulna_arena_take(arena, ulna_padded((size_t)problem->pull_count), sizeof(double));
    work->targets.sums = ulna_arena_take(arena, summed, sizeof *work->targets.sums);
    work->slope = ulna_arena_take(arena, nv, sizeof *work->slope);
    work->curve = ulna_arena_take(arena, nv, sizeof *work->curve);
    work->zeros = ulna_arena_take(arena, nv, sizeof *work->zeros);
    work->shifted = ulna_arena_take(arena, k ? nv : 0, sizeof *work->shifted);
    work->locked_copy = ulna_arena_take(arena, nv, sizeof *work->locked_copy);
    work->couple = work->couple_second = NULL;
    if (needs_couple(problem)) {
        work->couple = ulna_arena_take(arena, 3 * nv, sizeof *work->couple);
        work->couple_second = ulna_arena_take(arena, 3 * nv, sizeof *work->couple_second);
    }
    work->extra_curvature = ulna_arena_take(arena, 6 * links, sizeof *work->extra_curvature);
    work->extra_second = ulna_arena_take(arena, 6 * links, sizeof *work->extra_second);
    work->extra_moment = ulna_arena_take(arena, 4 * links, sizeof *work->extra_moment);
    work->coupled = ulna_arena_take(arena, k * (nv + k + 2), sizeof *work->coupled);
    work->coupling_dof = ulna_arena_take(arena, 2 * k, sizeof *work->coupling_dof);
    work->coupling_coefficient = ulna_arena_take(arena, 2 * k, sizeof *work->coupling_coefficient);
    ulna_constraint_work_take(work, arena);
}

ulna_status ulna_work_create(const ulna_problem *problem, const ulna_allocator *allocator, ulna_work **work,
                             ulna_error *error)
{
    if (!work)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the work given");
    *work = NULL;
    if (!problem)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a work needs a problem");
    if (!problem->ready)
        return ulna_fail(error, ULNA_ERR_STATE, "call ulna_problem_ready after adding terms");

    ulna_work layout = {
        .allocator = ulna_allocator_or_default(allocator), .problem = problem, .structure = problem->structure};
    ulna_arena arena = {NULL, sizeof layout, 0};
    take_arrays(&layout, &arena);
    if (arena.failed)
        return ulna_fail(error, ULNA_ERR_LIMIT, "the work for this problem does not fit in memory");
    ulna_status status = ulna_pose_create(problem->model, &layout.allocator, &layout.pose, error);
    if (status != ULNA_OK)
        return status;
    void *memory = ulna_allocate(&layout.allocator, arena.used, 1);
    if (!memory) {
        ulna_pose_destroy(layout.pose);
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a work of %zu bytes", arena.used);
    }
    layout.bytes = arena.used;
    arena = (ulna_arena){memory, sizeof layout, 0};
    take_arrays(&layout, &arena);
    ulna_work_unload_rows(&layout);
    layout.diagonal = (ulna_diagonal){layout.curve, layout.slope, layout.couple, layout.couple_second};
    *work = memory;
    **work = layout;
    return ULNA_OK;
}

void ulna_work_destroy(ulna_work *work)
{
    if (work) {
        ulna_allocator allocator = work->allocator;
        ulna_pose_destroy(work->pose);
        ulna_release(&allocator, work, work->bytes, 1);
    }
}

ulna_pose *ulna_work_pose(ulna_work *work)
{
    return work ? work->pose : NULL;
}

ulna_status ulna_work_set_threads(ulna_work *work, int threads)
{
    return work ? ulna_pose_set_threads(work->pose, threads) : ULNA_ERR_ARGUMENT;
}

/* ---- extras: terms evaluated one by one ------------------------------------------------------------------- */

void ulna_work_place(const ulna_work *work, int body, ulna_body_place *place)
{
    ulna_pose_body_relative(work->pose, body, place->position, place->rotation);
    place->origin = work->pose->origin;
}

/*
 * Adds one term to the sums of its link. With F = sum r_k row_k = (torque, g), the second-order form
 *   S_ij = S_i B S_j + 1/2 F . (S_i x S_j)
 * is split into what the moments hold, M = -1/2 [torque]x and g, and the symmetric rest E = B with 1/2 [g]x added to
 * its angular-linear block (docs/mathematics.md).
 */
static void add_extra(const ulna_term_value *value, ulna_pair curvature[6], ulna_pair second[6], ulna_vec4 moment[4])
{
    double force[6] = {0};
    for (int k = 0; k < value->count; k++)
        for (int i = 0; i < 6; i++)
            force[i] += value->residual[k] * value->row[k][i];
    const double *g = force + 3;
    const double hat[3][3] = {{0, -g[2], g[1]}, {g[2], 0, -g[0]}, {-g[1], g[0], 0}};
    for (int j = 0; j < 6; j++) {
        double column[6] = {0}, bend[6];
        for (int i = 0; i < 6; i++) {
            for (int k = 0; k < value->count; k++)
                column[i] += value->row[k][i] * value->row[k][j];
            bend[i] = value->bend[i][j];
            if (i < 3 && j >= 3)
                bend[i] += 0.5 * hat[i][j - 3];
            if (i >= 3 && j < 3)
                bend[i] += 0.5 * hat[j][i - 3];
        }
        curvature[j].angular += (ulna_vec4){column[0], column[1], column[2], -force[j]};
        curvature[j].linear += (ulna_vec4){column[3], column[4], column[5], 0};
        second[j].angular += (ulna_vec4){bend[0], bend[1], bend[2], 0};
        second[j].linear += (ulna_vec4){bend[3], bend[4], bend[5], 0};
    }
    moment[0] += (ulna_vec4){g[0], g[1], g[2], 0};
    moment[1] += (ulna_vec4){0, -0.5 * force[2], 0.5 * force[1], 0};
    moment[2] += (ulna_vec4){0.5 * force[2], 0, -0.5 * force[0], 0};
    moment[3] += (ulna_vec4){-0.5 * force[1], 0.5 * force[0], 0, 0};
}

static double evaluate_extras(ulna_work *work)
{
    const ulna_problem *problem = work->problem;
    size_t links = (size_t)problem->extra_links;
    if (!links)
        return 0;
    memset(work->extra_curvature, 0, 6 * links * sizeof *work->extra_curvature);
    memset(work->extra_second, 0, 6 * links * sizeof *work->extra_second);
    memset(work->extra_moment, 0, 4 * links * sizeof *work->extra_moment);
    double f = 0;
    for (int e = 0; e < problem->extra_count; e++) {
        const ulna_term *term = &problem->term[problem->extra_term[e]];
        double weight = ulna_term_weight(problem, term);
        if (!(weight > 0))
            continue;
        ulna_body_place place;
        ulna_term_value value = {0};
        ulna_work_place(work, term->body, &place);
        ulna_term_kind_of(term->type)->evaluate(term, weight, &place, &value);
        for (int k = 0; k < value.count; k++)
            f += 0.5 * value.residual[k] * value.residual[k];
        size_t at = (size_t)problem->extra_of[problem->model->body[term->body].link];
        add_extra(&value, work->extra_curvature + 6 * at, work->extra_second + 6 * at, work->extra_moment + 4 * at);
    }
    return f;
}

/* ---- f, gradient, Hessian ---------------------------------------------------------------------------------- */

ulna_status ulna_work_evaluate(ulna_work *work, const double *q, double *f)
{
    if (!work || !q || !f)
        return ULNA_ERR_ARGUMENT;
    ulna_pose *pose = work->pose;
    const ulna_model *model = pose->model;
    work->evaluated = work->composed = work->factored = pose->placed = 0;
    if (work->problem->kept_count)
        ulna_work_unload_rows(work);
    if (work->structure != work->problem->structure) /* terms were added: this work is too small for them */
        return ULNA_ERR_STATE;
    if (model->has_general && ulna_model_check_q(model, q, NULL) != ULNA_OK) /* a zero quaternion, say */
        return ULNA_ERR_NUMBER;
    double sum = pose->kernel->forward(pose, q, &work->targets);
    if (work->problem->extra_count)
        sum += evaluate_extras(work);
    sum += ulna_coordinate_terms(work);
    if (!isfinite(sum))
        return ULNA_ERR_NUMBER;
    pose->placed = work->evaluated = 1;
    work->changes = work->problem->changes;
    work->placements = ++pose->placements;
    *f = sum;
    return ULNA_OK;
}

ulna_status ulna_work_check(const ulna_work *work)
{
    const ulna_problem *problem = work->problem;
    int same = work->structure == problem->structure && work->changes == problem->changes &&
               work->placements == work->pose->placements;
    return work->evaluated && same ? ULNA_OK : ULNA_ERR_STATE;
}

ulna_status ulna_work_gradient(ulna_work *work, double *gradient)
{
    if (!work || !gradient)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_work_check(work);
    if (status != ULNA_OK)
        return status;
    work->pose->kernel->gradient(work->pose, &work->targets, &work->extras, &work->diagonal, &work->sweep, gradient);
    return ULNA_OK;
}

static void compose(ulna_work *work)
{
    if (!work->composed)
        work->pose->kernel->compose(work->pose, &work->targets, &work->extras, &work->sweep);
    work->composed = 1;
}

ulna_status ulna_work_hessian(ulna_work *work, double t, double *gradient, double *rows, double *second)
{
    if (!work || !rows || !isfinite(t))
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_work_check(work);
    if (status != ULNA_OK)
        return status;
    compose(work);
    work->pose->kernel->rows(work->pose, &work->diagonal, second ? 0 : t, &work->sweep, gradient, rows, second);
    return ULNA_OK;
}

ulna_status ulna_work_hessian_multiply(ulna_work *work, double t, const double *x, double *product)
{
    if (!work || !x || !product || x == product || !isfinite(t))
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_work_check(work);
    if (status != ULNA_OK)
        return status;
    if (!ulna_all_finite(x, work->problem->model->nv))
        return ULNA_ERR_NUMBER;
    compose(work);
    work->factored = 0; /* the product uses the room of the factors */
    work->pose->kernel->multiply(work->pose, &work->diagonal, t, &work->sweep, x, product);
    for (int k = 0; k < work->problem->coupling_count; k++) {
        const ulna_term *term = &work->problem->term[work->problem->coupling_term[k]];
        double along = x[term->dof_b] - term->goal[0] * x[term->dof_a];
        double pull = ulna_coupling_weight(work->problem, term) * along;
        product[term->dof_b] += pull;
        product[term->dof_a] -= term->goal[0] * pull;
    }
    return ULNA_OK;
}
