/* A tracker: its options, its memory, and what it forgets. */
#include "mocap/anatomy.h"
#include "mocap/take.h"
#include "mocap/tracker.h"
#include "solve/solver.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/math3.h"
#include "model/model.h"

#define CONE_MARGIN 1e-9 /* rad: more than constraints are off when a solve ends */
#define GLOBAL_GAP 0.05  /* markers never fit exactly: that no pose is better by more will do */

ulna_track_options ulna_track_options_default(void)
{
    ulna_track_options o = {.solve = ulna_options_default(),
                            .fresh = ulna_options_default(),
                            .smooth = ULNA_AUTO,
                            .posture = ULNA_AUTO,
                            .curve = ULNA_AUTO,
                            .hold = ULNA_AUTO,
                            .limits = ULNA_AUTO,
                            .loss = ULNA_LOSS_GEMAN_MCCLURE,
                            .loss_scale = ULNA_AUTO,
                            .predict = 1,
                            .lost_factor = 3,
                            .lost_excess = ULNA_AUTO,
                            .overlap_frames = 20,
                            .threads = 1,
                            .fade = ULNA_AUTO,
                            .continuous = 1};
    o.solve.bounded = o.fresh.bounded = 0;
    o.solve.decrease = ULNA_AUTO;
    o.solve.iterations = 50;
    o.solve.hybrid.kappa = 0.1;
    o.solve.hybrid.keep_damping = 1;
    o.solve.hybrid.exact = 0;
    o.solve.hybrid.verify = 0;
    o.solve.hybrid.trust_last = 1;
    o.fresh.decrease = 1e-5;
    o.fresh.iterations = 100;
    o.fresh.restarts = 30;
    o.fresh.agreeing_restarts = 8;
    o.fresh.hybrid.verify = 0;
    return o;
}

/* Numbers for an adult: weights go with the square of the length. Plain least squares have no priors
 * but a trace of posture, for what no marker determines. */
void ulna_track_options_resolve(double length_scale, ulna_track_options *o)
{
    const double length = length_scale / ULNA_ADULT_LENGTH_SCALE, square = length * length;
    const int is_plain = o->loss == ULNA_LOSS_SQUARE;
    struct {
        double *option, automatic;
    } const options[] = {
        {&o->smooth, is_plain ? 0 : 4e-4 * square},
        {&o->curve, is_plain ? 0 : 3e-5 * square},
        {&o->posture, (is_plain ? 1e-7 : 1e-5) * square},
        {&o->hold, 1e-3 * square},
        {&o->limits, 5e-6 * square},
        {&o->loss_scale, 0.06 * length},
        {&o->lost_excess, 1e-4 * square},
        {&o->fade, 0.08},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (*options[i].option == ULNA_AUTO)
            *options[i].option = options[i].automatic;
    if (o->solve.decrease == ULNA_AUTO)
        o->solve.decrease = o->smooth > 0 ? 3e-2 : 3e-4;
}

/* ---- cones -------------------------------------------------------------------------------------------------------- */

/* Where the swing of a joint begins among its DOFs and coordinates (all have one each); ULNA_NONE without. */
static int find_swing(const ulna_joint_plan *plan)
{
    int at = 0;
    for (int i = 0; i < plan->segment_count; i++) {
        if (plan->segment[i] == ULNA_SEGMENT_SWING)
            return at;
        at += ulna_segment_dofs((ulna_segment)plan->segment[i]);
    }
    return ULNA_NONE;
}

/* The half-angle of the cone of a swing: the widest of its limits, or the rest pose if that is farther out. 0 without. */
static double cone_angle(const ulna_model *model, const ulna_options *o, int dof, int coordinate)
{
    const double *lower = o->lower ? o->lower : model->lower, *upper = o->upper ? o->upper : model->upper;
    const double *rest = model->rest + coordinate;
    double widest = sqrt(rest[0] * rest[0] + rest[1] * rest[1]);
    for (int d = dof; d < dof + 2; d++)
        widest = fmax(widest, fmax(fabs(lower[d]), fabs(upper[d])));
    return widest < ULNA_PI ? widest : 0; /* also where a side is open */
}

/* The same of a body's joint, and where its swing begins (*at); 0 without. */
static double find_cone(const ulna_model *model, const ulna_options *o, int body, ulna_joint_plan *plan, int *at)
{
    const ulna_body *b = &model->body[body];
    if (b->parent < 0 || model->joint[body].type != ULNA_JOINT_SWING_TWIST ||
        ulna_joint_resolve(&model->joint[body], plan, NULL) != ULNA_OK)
        return 0;
    *at = find_swing(plan);
    return fmax(0, cone_angle(model, o, b->dof + *at, b->coordinate + *at) - CONE_MARGIN);
}

/*
 * Limits of single DOFs hold a swing in a pyramid, in whose corners it is farther out than any of its limits. The cone cuts them off:
 * the bone, which is z of the joint's moving frame, is no farther from z of its fixed one than the widest limit.
 */
static int make_cone(const ulna_model *model, const ulna_options *o, int body, ulna_constraint *cone)
{
    static const double z[3] = {0, 0, 1};
    const ulna_body *b = &model->body[body];
    ulna_joint_plan plan;
    double axis[3];
    int at;
    *cone = (ulna_constraint){.type = ULNA_KEEP_ANGLE, .relation = ULNA_AT_MOST, .body = body, .other = b->parent};
    cone->goal[0] = find_cone(model, o, body, &plan, &at);
    if (!(cone->goal[0] > 0))
        return 0;
    ulna_unrotate(plan.post, z, axis);
    ulna_unrotate(b->offset_rotation, axis, cone->axis);
    ulna_rotate(plan.pre, z, axis);
    ulna_rotate(b->placement_rotation, axis, cone->other_axis);
    return 1;
}

int ulna_tracker_has_cones(const ulna_model *model, const ulna_options *o)
{
    ulna_constraint cone;
    int found = 0;
    for (int b = 0; b < model->nb && o->bounded && !found; b++)
        found = make_cone(model, o, b, &cone);
    return found && (!o->method || strcmp(o->method, ulna_method_hybrid.info.name) == 0);
}

/* After idle joints are known: these, and locked ones, are where they are. */
static ulna_status add_cones(ulna_tracker *t, ulna_error *error)
{
    const ulna_options *o = &t->options.solve;
    ulna_constraint cone;
    ulna_status status = ULNA_OK;
    if (t->options.global || !ulna_tracker_has_cones(t->model, o)) /* a global solve keeps no constraints */
        return ULNA_OK;
    for (int b = 0; b < t->model->nb && status == ULNA_OK; b++) {
        const ulna_body *body = &t->model->body[b];
        if (!memchr(t->idle + body->dof, 1, (size_t)body->dof_count) && make_cone(t->model, o, b, &cone))
            status = ulna_problem_add_constraint(t->problem, &cone, NULL, error);
    }
    return status;
}

void ulna_tracker_clamp(const ulna_tracker *t, double *q)
{
    const ulna_options *o = &t->options.solve;
    int has_cones = o->bounded && ulna_tracker_has_cones(t->model, o);
    if (o->bounded)
        ulna_solver_clamp(t->solver, q);
    for (int b = 0; b < t->model->nb && has_cones; b++) {
        ulna_joint_plan plan;
        int at = 0;
        double most = find_cone(t->model, o, b, &plan, &at), *swing = q + t->model->body[b].coordinate + at;
        double share = most > 0 ? most / hypot(swing[0], swing[1]) : 1;
        for (int k = 0; k < 2 && share < 1; k++)
            swing[k] *= share;
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void take_arrays(ulna_tracker *t, ulna_arena *arena)
{
    size_t nq = (size_t)t->nq, nv = (size_t)t->nv, nb = (size_t)t->model->nb, count = (size_t)t->count;
    double **per_coordinate[] = {&t->q1,   &t->q2,         &t->trial,   &t->start,     &t->kept,
                                 &t->good, &t->prior_goal, &t->hold_at, &t->far_below, &t->far_above};
    double **per_dof[] = {&t->velocity,         &t->to_rest,           &t->toward,      &t->prior_weight,
                          &t->prior.course,     &t->prior.rest,        &t->prior.whole, &t->prior.course_share,
                          &t->prior.rest_share, &t->prior.curve_share, &t->group_mean,  &t->group_share};
    unsigned char **per_body[] = {&t->anchored, &t->is_moved, &t->is_held};
    for (size_t i = 0; i < sizeof per_coordinate / sizeof *per_coordinate; i++)
        *per_coordinate[i] = ulna_arena_take(arena, nq, sizeof(double));
    for (size_t i = 0; i < sizeof per_dof / sizeof *per_dof; i++)
        *per_dof[i] = ulna_arena_take(arena, nv, sizeof(double));
    for (size_t i = 0; i < sizeof per_body / sizeof *per_body; i++)
        *per_body[i] = ulna_arena_take(arena, nb, 1);
    t->prior.group = ulna_arena_take(arena, nv, sizeof *t->prior.group);
    t->prior.grouped = ulna_arena_take(arena, nv, sizeof *t->prior.grouped);
    t->idle = ulna_arena_take(arena, nv, 1);
    t->is_idle = ulna_arena_take(arena, nb, 1);
    t->idle_at = ulna_arena_take(arena, nq, sizeof *t->idle_at);
    t->weight = ulna_arena_take(arena, count, sizeof(double));
    t->distance = ulna_arena_take(arena, count, sizeof(double));
    t->body = ulna_arena_take(arena, count, sizeof(int));
    t->outlier = ulna_arena_take(arena, count, sizeof(int));
    t->missing = ulna_arena_take(arena, count, 1);
    t->seen = ulna_arena_take(arena, 3 * count, sizeof(double));
    t->possible = ulna_arena_take(arena, 3 * count, sizeof(double));
}

static ulna_status make_problem(ulna_tracker *t, const ulna_marker_set *set, ulna_error *error)
{
    static const double nowhere[3] = {0, 0, 0};
    const ulna_track_options *o = &t->options;
    double square = t->length_scale * t->length_scale;
    ulna_status status = ulna_problem_create(t->model, &t->allocator, &t->problem, error);
    if (status == ULNA_OK)
        status = ulna_problem_set_length(t->problem, t->length_scale);
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++)
        status = ulna_problem_add_point(t->problem, set->items[i].body, set->items[i].offset, nowhere,
                                        set->items[i].weight, NULL, error);
    if (status == ULNA_OK && o->extend)
        status = o->extend(o->extend_context, t->problem, error);
    if (status == ULNA_OK) {
        ulna_tracker_rest_idle(t, set);
        ulna_tracker_set_far(t);
        status = add_cones(t, error);
    }
    t->prior.sum = o->smooth + o->posture + o->curve + o->hold;
    if (status == ULNA_OK && t->prior.sum > 0)
        status = ulna_problem_add_posture(t->problem, NULL, NULL, t->prior.sum / square, &t->prior_term, error);
    if (status == ULNA_OK && o->limits > 0)
        status = ulna_problem_add_limits(t->problem, NULL, NULL, o->limits / square, NULL, error);
    if (status == ULNA_OK)
        status = ulna_problem_ready(t->problem, error);
    return status;
}

static ulna_status make_solvers(ulna_tracker *t, ulna_error *error)
{
    if (ulna_problem_constraint_count(t->problem)) { /* kept exactly: the usual short cuts would leave micrometres */
        t->options.solve.hybrid.trust_last = 0;
        t->options.solve.hybrid.exact = 1;
        t->options.solve.iterations = t->options.solve.iterations ? 4 * t->options.solve.iterations : 0;
    }
    ulna_status status = ulna_solver_create(t->problem, &t->options.solve, &t->allocator, &t->solver, error);
    if (status == ULNA_OK)
        status = ulna_solver_create(t->problem, &t->options.fresh, &t->allocator, &t->fresh, error);
    if (status == ULNA_OK && t->options.global) {
        ulna_global_options options = ulna_global_options_default();
        options.local = t->options.fresh;
        options.gap = GLOBAL_GAP;
        options.seconds = t->options.budget;
        status = ulna_global_create(t->problem, &options, &t->allocator, &t->global, error);
    }
    return status;
}

/* What follows from the loss, so that a frame does not divide. */
static void set_loss(ulna_tracker *t)
{
    const double outliers[] = {INFINITY, 1, 3,
                               16}; /* (d / c)^2 at which ULNA_TRACKER_OUTLIER of a marker's weight is left */
    double square = t->options.loss_scale * t->options.loss_scale;
    t->inverse = 1 / square;
    t->outlier_square = outliers[t->options.loss] * square;
    int counting = 0;
    for (int i = 0; i < t->count; i++) {
        t->weights += t->weight[i];
        counting += t->weight[i] > 0;
    }
    t->mean_weight = counting ? t->weights / counting : 0;
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
    const double numbers[] = {o->smooth, o->posture,     o->curve,       o->hold,
                              o->limits, o->lost_factor, o->lost_excess, o->budget};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(numbers[i] >= 0) || isinf(numbers[i]))
            return ulna_fail(
                error, ULNA_ERR_ARGUMENT,
                "options: smooth, posture, curve, hold, limits, lost_factor, lost_excess and budget must be "
                "finite and 0 or above");
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
                           .length_scale = ulna_marker_set_length_scale(model, set),
                           .options = options ? *options : ulna_track_options_default(),
                           .count = (int)set->count,
                           .prior_term = ULNA_NONE,
                           .nq = model->nq,
                           .nv = model->nv};
    ulna_track_options_resolve(layout.length_scale, &layout.options);
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
    for (size_t i = 0; i < set->count; i++) {
        t->weight[i] = set->items[i].weight;
        t->body[i] = set->items[i].body;
        t->is_calibrated |= ulna_norm(set->items[i].deviation) > 0;
    }
    set_loss(t);
    status = make_problem(t, set, error);
    if (status == ULNA_OK)
        status = make_solvers(t, error);
    if (status == ULNA_OK && t->prior_term != ULNA_NONE) {
        status = ulna_tracker_set_priors(t, ulna_solver_work(t->solver));
        if (status != ULNA_OK)
            ulna_fail(error, status, "the joints' priors cannot be set up: %s", ulna_status_text(status));
    }
    if (status == ULNA_OK && t->options.loss) /* after the priors, which look at squares */
        status = ulna_problem_set_loss(t->problem, 0, t->count, t->options.loss, t->options.loss_scale);
    if (status != ULNA_OK) {
        ulna_tracker_destroy(t);
        return status;
    }
    t->may_loop = ulna_tracker_may_loop(t);
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
    t->history = t->age = t->was_lost = t->held = 0;
    t->usual = t->last_f = t->tolerated = 0;
    t->patience = t->rest_between = ULNA_TRACKER_PATIENCE;
    for (int i = 0; i < t->count; i++)
        t->distance[i] = (double)NAN;
    t->is_measured = 1;
    memset(t->is_held, 0, (size_t)t->model->nb);
    t->leap = t->frames = t->beyond = t->seen_if_whole = 0;
    memset(t->missing, 0, (size_t)t->count);
    memset(t->outlier, 0, (size_t)t->count * sizeof *t->outlier);
    t->kappa = t->options.solve.hybrid.kappa;
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
