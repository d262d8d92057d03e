/* A tracker: its options, its memory, and what it forgets. */
#include "mocap/tracker.h"
#include "solve/solver.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "model/model.h"

#define GLOBAL_GAP 0.05 /* markers never fit exactly: that no pose is better by more will do */

ulna_track_options ulna_track_options_default(void)
{
    ulna_track_options o = {.solve = ulna_options_default(),
                            .fresh = ulna_options_default(),
                            .posture = 1e-7,
                            .limits = 3e-6,
                            .smooth_order = 2,
                            .predict = 1,
                            .lost_factor = 3,
                            .lost_excess = 1e-4,
                            .loss_scale = 0.06,
                            .overlap_frames = 20,
                            .threads = 1,
                            .continuous = 1};
    o.solve.bounded = o.fresh.bounded = 0;
    o.solve.decrease = 3e-4;
    o.solve.iterations = 50;
    o.solve.hybrid.kappa = 0.1;
    o.solve.hybrid.keep_damping = 1;
    o.solve.hybrid.exact = 0;
    o.solve.hybrid.verify = 0;
    o.solve.hybrid.trust_last = 1;
    o.fresh.decrease = 1e-5;
    o.fresh.iterations = 100;
    o.fresh.restarts = 30;
    o.fresh.agreeing_restarts = 0;
    o.fresh.hybrid.verify = 0;
    return o;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void take_arrays(ulna_tracker *t, ulna_arena *arena)
{
    double **per_coordinate[] = {&t->q1, &t->q2, &t->trial, &t->start, &t->kept, &t->good, &t->prior};
    for (size_t i = 0; i < sizeof per_coordinate / sizeof *per_coordinate; i++)
        *per_coordinate[i] = ulna_arena_take(arena, (size_t)t->nq, sizeof(double));
    t->step = ulna_arena_take(arena, (size_t)t->nv, sizeof(double));
    t->weight = ulna_arena_take(arena, (size_t)t->count, sizeof(double));
    t->distance = ulna_arena_take(arena, (size_t)t->count, sizeof(double));
    t->body = ulna_arena_take(arena, (size_t)t->count, sizeof(int));
    t->outlier = ulna_arena_take(arena, (size_t)t->count, sizeof(int));
    t->idle = ulna_arena_take(arena, (size_t)t->nv, 1);
    t->anchored = ulna_arena_take(arena, (size_t)t->model->nb, 1);
    t->carries = ulna_arena_take(arena, (size_t)t->model->nb, 1);
    t->is_held = ulna_arena_take(arena, (size_t)t->model->nb, 1);
    double **per_place[] = {&t->offset, &t->seen, &t->m1, &t->m2};
    for (size_t i = 0; i < sizeof per_place / sizeof *per_place; i++)
        *per_place[i] = ulna_arena_take(arena, 3 * (size_t)t->count, sizeof(double));
}

static ulna_status make_problem(ulna_tracker *t, const ulna_marker_set *set, ulna_error *error)
{
    static const double nowhere[3] = {0, 0, 0};
    ulna_status status = ulna_problem_create(t->model, &t->allocator, &t->problem, error);
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++)
        status = ulna_problem_add_point(t->problem, set->items[i].body, set->items[i].offset, nowhere,
                                        set->items[i].weight, NULL, error);
    if (status == ULNA_OK && t->options.extend)
        status = t->options.extend(t->options.extend_context, t->problem, error);
    if (status == ULNA_OK)
        ulna_tracker_rest_idle(t, set);
    if (status == ULNA_OK && t->options.posture > 0)
        status = ulna_problem_add_posture(t->problem, NULL, NULL, t->options.posture, &t->posture_term, error);
    if (status == ULNA_OK && t->options.limits > 0)
        status = ulna_problem_add_limits(t->problem, NULL, NULL, t->options.limits, NULL, error);
    if (status == ULNA_OK && t->options.smooth > 0)
        status = ulna_problem_add_posture(t->problem, NULL, NULL, t->options.smooth, &t->smooth_term, error);
    if (status == ULNA_OK)
        status = ulna_problem_ready(t->problem, error);
    if (status == ULNA_OK)
        status = ulna_solver_create(t->problem, &t->options.solve, &t->allocator, &t->solver, error);
    if (status == ULNA_OK)
        status = ulna_solver_create(t->problem, &t->options.fresh, &t->allocator, &t->fresh, error);
    if (status == ULNA_OK && t->options.global) {
        ulna_global_options options = ulna_global_options_default();
        options.local = t->options.fresh;
        options.gap = GLOBAL_GAP;
        status = ulna_global_create(t->problem, &options, &t->allocator, &t->global, error);
    }
    return status;
}

static ulna_status check_set(const ulna_model *model, const ulna_marker_set *set, ulna_error *error)
{
    if (!model || !set || set->count == 0)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a tracker needs a model and a marker set with markers");
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].body < 0 || set->items[i].body >= model->nb)
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "marker '%s' is on body %d, which the model does not have",
                             set->items[i].marker, set->items[i].body);
    return ULNA_OK;
}

static ulna_status check_options(const ulna_track_options *o, const ulna_model *model, ulna_error *error)
{
    const double numbers[] = {o->posture, o->limits, o->smooth, o->lost_factor, o->lost_excess};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(numbers[i] >= 0) || isinf(numbers[i]))
            return ulna_fail(
                error, ULNA_ERR_ARGUMENT,
                "options: posture, limits, smooth, lost_factor and lost_excess must be finite and 0 or above");
    if (o->smooth > 0 && o->smooth_order != 1 && o->smooth_order != 2)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "smooth_order must be 1 (velocity) or 2 (acceleration)");
    if ((unsigned)o->loss > ULNA_LOSS_HUBER || (o->loss && (!(o->loss_scale > 0) || isinf(o->loss_scale))))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "the robust loss needs a scale above 0");
    if (o->start && ulna_model_check_q(model, o->start, NULL) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_NUMBER, "the start of the tracking is not a valid pose");
    return ULNA_OK;
}

ulna_status ulna_tracker_create(const ulna_model *model, const ulna_marker_set *set, const ulna_track_options *options,
                                const ulna_allocator *allocator, ulna_tracker **tracker, ulna_error *error)
{
    if (!tracker)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the tracker given");
    *tracker = NULL;
    ulna_status status = check_set(model, set, error);
    if (status != ULNA_OK)
        return status;
    ulna_tracker layout = {.allocator = ulna_allocator_or_default(allocator),
                           .model = model,
                           .options = options ? *options : ulna_track_options_default(),
                           .count = (int)set->count,
                           .posture_term = ULNA_NONE,
                           .smooth_term = ULNA_NONE,
                           .nq = model->nq,
                           .nv = model->nv};
    if (layout.options.loss) /* weights come from the distances at the answer, and where it is they decide */
        layout.options.solve.hybrid.trust_last = 0;
    status = check_options(&layout.options, model, error);
    if (status != ULNA_OK)
        return status;
    ulna_arena arena = {NULL, sizeof layout, 0};
    take_arrays(&layout, &arena);
    void *memory = arena.failed ? NULL : ulna_allocate(&layout.allocator, arena.used, 1);
    if (!memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a tracker");
    layout.bytes = arena.used;
    arena = (ulna_arena){memory, sizeof layout, 0};
    take_arrays(&layout, &arena);
    ulna_tracker *t = memory;
    *t = layout;
    status = make_problem(t, set, error);
    if (status != ULNA_OK) {
        ulna_tracker_destroy(t);
        return status;
    }
    for (size_t i = 0; i < set->count; i++) {
        t->weight[i] = set->items[i].weight;
        t->body[i] = set->items[i].body;
        memcpy(t->offset + 3 * i, set->items[i].offset, sizeof set->items[i].offset);
    }
    t->work = ulna_solver_work(t->solver);
    ulna_tracker_reset(t, NULL);
    *tracker = t;
    return ULNA_OK;
}

void ulna_tracker_destroy(ulna_tracker *t)
{
    if (t) {
        ulna_allocator allocator = t->allocator;
        ulna_solver_destroy(t->solver);
        ulna_solver_destroy(t->fresh);
        ulna_global_destroy(t->global);
        ulna_problem_destroy(t->problem);
        ulna_release(&allocator, t, t->bytes, 1);
    }
}

void ulna_tracker_reset(ulna_tracker *t, const double *q)
{
    if (!t)
        return;
    const double *from = q ? q : t->options.start ? t->options.start : t->model->rest;
    memcpy(t->start, from, (size_t)t->nq * sizeof *from);
    memcpy(t->q1, from, (size_t)t->nq * sizeof *from);
    memcpy(t->good, from, (size_t)t->nq * sizeof *from);
    t->history = t->age = t->was_lost = 0;
    t->usual = t->last_f = t->tolerated = 0;
    for (int i = 0; i < t->count; i++)
        t->distance[i] = (double)NAN;
    t->is_measured = 1;
    ulna_tracker_hold_nothing(t);
    memset(t->outlier, 0, (size_t)t->count * sizeof *t->outlier);
    ulna_solver_forget(t->solver);
    ulna_solver_forget(t->fresh);
}

void ulna_tracker_resume(ulna_tracker *t, const double *q, double usual)
{
    ulna_tracker_reset(t, NULL);
    memcpy(t->q1, q, (size_t)t->nq * sizeof *q);
    memcpy(t->good, q, (size_t)t->nq * sizeof *q);
    t->history = t->age = 1;
    t->usual = usual;
}
