/* Makes the reduced tree of a problem: memory, limits, and the first of the steps that reduce.h lists. */
#include "global/reduce.h"
#include "math/math3.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */

typedef struct sizes {
    size_t links, dofs, coordinates, terms, parts, nodes;
} sizes;

static sizes sizes_of(const ulna_problem *problem)
{
    sizes n = {.links = (size_t)problem->model->nl,
               .dofs = (size_t)problem->model->nv,
               .coordinates = (size_t)problem->model->nq,
               .terms = problem->term_count};
    n.parts = n.dofs + 1;
    n.nodes = 2 * n.parts + n.terms; /* a bone before each part, and one for each goal */
    return n;
}

static void take_reduction(ulna_arena *arena, const sizes *n, ulna_reduction **to)
{
    ulna_reduction pieces = {0}, *place = ulna_arena_take(arena, 1, sizeof pieces);
    pieces.balls = ulna_arena_take(arena, n->dofs / 3 + 1, sizeof *pieces.balls);
    pieces.terms = ulna_arena_take(arena, n->terms, sizeof *pieces.terms);
    pieces.lower = ulna_arena_take(arena, n->dofs, sizeof *pieces.lower);
    pieces.upper = ulna_arena_take(arena, n->dofs, sizeof *pieces.upper);
    pieces.q = ulna_arena_take(arena, n->coordinates, sizeof *pieces.q);
    pieces.locked = ulna_arena_take(arena, n->dofs, sizeof *pieces.locked);
    pieces.mean = ulna_arena_take(arena, n->nodes, sizeof *pieces.mean);
    *to = place;
    if (place)
        *place = pieces;
}

static void take_scratch(ulna_arena *arena, const sizes *n, ulna_reducer *work)
{
    work->parts = ulna_arena_take(arena, n->parts, sizeof *work->parts);
    work->cursors = ulna_arena_take(arena, n->links, sizeof *work->cursors);
    work->needed = ulna_arena_take(arena, n->links, sizeof *work->needed);
    work->first_bone = ulna_arena_take(arena, n->nodes, sizeof *work->first_bone);
    work->next_bone = ulna_arena_take(arena, n->nodes, sizeof *work->next_bone);
    work->gathers = ulna_arena_take(arena, n->nodes, sizeof *work->gathers);
    work->reach = ulna_arena_take(arena, n->nodes, sizeof *work->reach);
}

void ulna_reduced_release(ulna_reduced *reduced)
{
    if (!reduced)
        return;
    if (reduced->nodes)
        ulna_release(&reduced->allocator, reduced->nodes, (size_t)reduced->capacity, sizeof *reduced->nodes);
    if (reduced->reduction)
        ulna_release(&reduced->allocator, reduced->reduction, reduced->reduction->bytes, 1);
    *reduced = (ulna_reduced){0};
}

/* ---- limits and locked degrees of freedom ------------------------------------------------------------------------ */

/* The largest of: size of the skeleton, distances of points from their bodies, distances between goals. */
static double size_of(const ulna_problem *problem)
{
    double size = ulna_problem_length_scale(problem);
    const double *first = NULL;
    for (size_t i = 0; i < problem->term_count; i++) {
        const ulna_term *term = &problem->term[i];
        if (term->type != ULNA_TERM_POINT || !(ulna_term_weight(problem, term) > 0))
            continue;
        first = first ? first : term->goal;
        const double apart[3] = {term->goal[0] - first[0], term->goal[1] - first[1], term->goal[2] - first[2]};
        size = fmax(size, fmax(ulna_norm(term->local), ulna_norm(apart)));
    }
    return size;
}

static ulna_status set_limits(const ulna_reducer *work, const ulna_reduce_options *options, ulna_error *error)
{
    ulna_reduction *to = work->to;
    const ulna_model *model = to->model;
    const double *lower = options->lower ? options->lower : model->lower;
    const double *upper = options->upper ? options->upper : model->upper;
    if (options->locked && (!options->q || ulna_model_check_q(model, options->q, NULL) != ULNA_OK))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "degrees of freedom are locked, but no valid q is given for them");
    if (options->bounded && !ulna_limits_are_valid(lower, upper, model->nv))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a lower limit is above the upper one, or is not a number");
    double held = 0, size = size_of(work->problem);
    for (int j = 0; j < model->nv && options->bounded; j++) {
        const double far = fmax(fabs(lower[j]), fabs(upper[j]));
        if (ulna_segment_is_translation(model->dof_segment[j]) && far < INFINITY)
            size = fmax(size, far);
    }
    memcpy(to->q, model->rest, (size_t)model->nq * sizeof *to->q);
    for (int j = 0; j < model->nv; j++) {
        int c = model->dof_coordinate[j], bounded = options->bounded && c != ULNA_NONE;
        to->lower[j] = bounded ? lower[j] : -INFINITY;
        to->upper[j] = bounded ? upper[j] : INFINITY;
        if (c != ULNA_NONE)
            to->q[c] = fmin(fmax(to->q[c], to->lower[j]), to->upper[j]);

        /* A rotation whose range is rounding is locked; so is a translation within a micrometre per metre, for which
         * ulna_reduced_bound lowers the bound. */
        const int moves = ulna_segment_is_translation(model->dof_segment[j]);
        const double width = to->upper[j] - to->lower[j];
        to->locked[j] = width < INFINITY && width <= (moves ? 1e-6 * size : 1e-15 * (1 + fabs(to->lower[j])));
        if (to->locked[j] && c != ULNA_NONE) {
            to->q[c] = fmin(fmax(to->lower[j] + 0.5 * width, to->lower[j]), to->upper[j]);
            held += moves && !(options->locked && options->locked[j]) ? 0.5 * width : 0;
        }
        if (options->locked && options->locked[j]) {
            to->locked[j] = 1;
            const ulna_body *body = &model->body[model->dof_body[j]];
            int at = c != ULNA_NONE ? c : body->coordinate + (j - model->dof_part[j] - body->dof);
            memcpy(to->q + at, options->q + at, (c != ULNA_NONE ? 1 : 4) * sizeof *to->q);
        }
    }
    to->held = held;
    return ULNA_OK;
}

/* Marks the links between root and goals, and counts the terms that are not supported. */
static ulna_status survey(ulna_reducer *work, ulna_reduced *r, ulna_error *error)
{
    int active = 0;
    for (size_t i = 0; i < work->problem->term_count; i++) {
        const ulna_term *term = &work->problem->term[i];
        if (!(ulna_term_weight(work->problem, term) > 0))
            continue;
        if (ulna_reduce_is_supported(term->type)) {
            work->needed[work->model->body[term->body].link] = 1;
            active++;
        }
    }
    for (int l = work->model->nl - 1; l > 0; l--)
        if (work->needed[l])
            work->needed[work->model->link[l].parent] = 1;
    ulna_reduce_count_left_out(r, work->problem);
    if (active)
        return ULNA_OK;
    return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                     "no goal that relaxations support: there is no point, orientation or direction term with a "
                     "weight above 0 (%d terms of other types)",
                     r->left_out);
}

/* ---- the whole reduction --------------------------------------------------------------------------------------------------- */

static ulna_status reduce(ulna_reducer *work, ulna_reduced *r, const ulna_reduce_options *options, ulna_error *error)
{
    ulna_status status = survey(work, r, error);
    if (status == ULNA_OK)
        status = set_limits(work, options, error);
    if (status != ULNA_OK)
        return status;
    do
        ulna_reduce_expand(work);
    while (ulna_reduce_simplify(work));
    ulna_reduce_find_free(work);
    r->limits_left_out = work->limits_left_out;
    ulna_reduce_emit(work, r, options->gather);
    return ulna_reduce_is_finite(r) ? ULNA_OK
                                    : ulna_fail(error, ULNA_ERR_NUMBER, "the goals or the weights are too large");
}

/* Memory of the result and of the scratch arrays. After a failure, the caller releases what was allocated. */
static ulna_status allocate(const ulna_problem *problem, ulna_reduced *r, ulna_reducer *work, ulna_arena *scratch)
{
    sizes n = sizes_of(problem);
    ulna_arena kept = {0};
    take_reduction(&kept, &n, &work->to);
    take_scratch(scratch, &n, work);
    size_t bytes = kept.used;
    void *block = kept.failed ? NULL : ulna_allocate(&r->allocator, bytes, 1);
    if (!block)
        return ULNA_ERR_MEMORY;
    kept = (ulna_arena){block, 0, 0};
    take_reduction(&kept, &n, &work->to);
    work->to->model = problem->model;
    work->to->bytes = bytes;
    work->to->term_count = (int)n.terms;
    r->reduction = work->to;

    r->nodes = ulna_allocate(&r->allocator, n.nodes, sizeof *r->nodes);
    r->capacity = (int)n.nodes;
    scratch->memory = scratch->failed ? NULL : ulna_allocate(&r->allocator, scratch->used, 1);
    if (!r->nodes || !scratch->memory)
        return ULNA_ERR_MEMORY;
    ulna_arena taken = {scratch->memory, 0, 0};
    take_scratch(&taken, &n, work);
    return ULNA_OK;
}

ulna_status ulna_reduced_create(const ulna_problem *problem, const ulna_reduce_options *options,
                                const ulna_allocator *allocator, ulna_reduced *out, ulna_error *error)
{
    const ulna_reduce_options usual = {.bounded = 1};
    if (!out)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the reduced tree given");
    *out = (ulna_reduced){0};
    if (!problem)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no problem given");
    if (!problem->ready)
        return ulna_fail(error, ULNA_ERR_STATE, "the problem is not ready");
    if (sizes_of(problem).nodes > 1000000000)
        return ulna_fail(error, ULNA_ERR_LIMIT, "too many terms");

    ulna_reduced r = {.allocator = ulna_allocator_or_default(allocator)};
    ulna_reducer work = {
        .problem = problem, .model = problem->model, .tiny = 1e-14 * ulna_problem_length_scale(problem)};
    ulna_arena scratch = {0};
    ulna_status status = allocate(problem, &r, &work, &scratch);
    if (status == ULNA_OK)
        status = reduce(&work, &r, options ? options : &usual, error);
    else
        ulna_fail(error, status, "no memory for %zu terms", problem->term_count);
    ulna_release(&r.allocator, scratch.memory, scratch.used, 1);
    if (status == ULNA_OK)
        *out = r;
    else
        ulna_reduced_release(&r);
    return status;
}

/* =============================================================================================================== */

/* The first step of the reduction: links become parts (reduce.h). */

/* ---- queries about degrees of freedom ----------------------------------------------------------------------------- */

static int all_locked(const ulna_reducer *work, int dof, int count)
{
    for (int j = dof; j < dof + count; j++)
        if (!work->to->locked[j])
            return 0;
    return 1;
}

/* Whether a rotation cannot reach every angle. */
static int is_limited_rotation(const ulna_reducer *work, int dof)
{
    return work->to->upper[dof] - work->to->lower[dof] < 2 * ULNA_PI;
}

/* Whether a rotation vector cannot reach every rotation: vectors up to length pi do. */
static int is_limited_vector(const ulna_reducer *work, int dof)
{
    return work->to->lower[dof] > -ULNA_PI || work->to->upper[dof] < ULNA_PI;
}

/* ---- the cursor -------------------------------------------------------------------------------------------------- */

static void move_cursor(ulna_cursor *at, const double rotation[9], const double translation[3])
{
    ulna_cursor next = {.part = at->part};
    ulna_compose(at->frame, at->offset, rotation, translation, next.frame, next.offset);
    *at = next;
}

/* Adds a part at the cursor, and moves the cursor to it. */
static ulna_part *add_part(ulna_reducer *work, ulna_edge edge, int body, ulna_cursor *at)
{
    int number = work->part_count++;
    ulna_part *part = &work->parts[number];
    *part = (ulna_part){.edge = edge, .parent = at->part, .dof = ULNA_NONE, .body = body, .ball = ULNA_NONE};
    part->owner = edge == ULNA_EDGE_TRANSLATION ? work->parts[at->part].owner : number;
    ulna_copy3(at->offset, part->offset);
    ulna_copy9(at->frame, part->frame);
    work->parts[at->part].uses++;
    at->part = number;
    memset(at->offset, 0, sizeof at->offset);
    return part;
}

/* Adds a rotation about, or a translation along, axis k of the moving frame. A reversed joint moves against its axis. */
static void add_single(ulna_reducer *work, const ulna_link *link, ulna_edge edge, int k, int dof, ulna_cursor *at)
{
    ulna_part *part = add_part(work, edge, link->body, at);
    for (int i = 0; i < 3; i++)
        part->axis[i] = link->sign * at->frame[3 * i + k];
    int free = edge == ULNA_EDGE_HINGE && !is_limited_rotation(work, dof);
    part->lower = free ? -INFINITY : work->to->lower[dof];
    part->upper = free ? INFINITY : work->to->upper[dof];
    part->dof = dof;
}

/* ---- joints ------------------------------------------------------------------------------------------------------ */

/* A rotation vector of which all components but one are locked at zero is a rotation about one axis: returns that
 * component, or -1. */
static int single_rotation(const ulna_reducer *work, ulna_segment segment, int dof, int coordinate)
{
    int single = -1;
    for (int k = 0; segment != ULNA_SEGMENT_BALL && k < ulna_segment_dofs(segment); k++) {
        if (work->to->locked[dof + k] && work->to->q[coordinate + k] == 0)
            continue;
        if (single >= 0 || work->to->locked[dof + k])
            return -1;
        single = k;
    }
    return single;
}

/* Adds a ball for segments of three parameters. Their limits are not part of the tree, and are counted. */
static void add_ball(ulna_reducer *work, const ulna_link *link, int first, int count, int dof, int coordinate,
                     ulna_cursor *at)
{
    ulna_part *part = add_part(work, ULNA_EDGE_BALL, link->body, at);
    part->ball = work->to->ball_count++;
    ulna_ball *ball = &work->to->balls[part->ball];
    *ball = (ulna_ball){.link = (int)(link - work->model->link),
                        .segment = first,
                        .segment_count = count,
                        .coordinate = coordinate,
                        .translation = {ULNA_NONE, ULNA_NONE, ULNA_NONE}};
    ulna_copy9(part->frame, ball->frame);
    for (int s = first, k = 0; s < first + count; s++) {
        ulna_segment segment = (ulna_segment)link->segment[s];
        for (int i = 0; i < ulna_segment_dofs(segment); i++, k++) {
            ball->dof[k] = dof + k;
            int limited = segment == ULNA_SEGMENT_BALL ? 0
                          : segment <= ULNA_SEGMENT_RZ ? is_limited_rotation(work, dof + k)
                                                       : is_limited_vector(work, dof + k);
            work->limits_left_out += limited || work->to->locked[dof + k];
        }
    }
}

/* Adds segment s of a link; returns how many segments that were: swing and twist are added together. */
static int expand_segment(ulna_reducer *work, const ulna_link *link, int s, int dof, int coordinate, ulna_cursor *at)
{
    ulna_segment segment = (ulna_segment)link->segment[s];
    int count = ulna_segment_dofs(segment);
    int next_is_swing = s + 1 < link->segment_count && link->segment[s + 1] == ULNA_SEGMENT_SWING;
    if (next_is_swing && !all_locked(work, dof + 1, 2) &&
        single_rotation(work, ULNA_SEGMENT_SWING, dof + 1, coordinate + 1) < 0) { /* a reversed swing-twist */
        add_ball(work, link, s, 2, dof, coordinate, at);
        return 2;
    }
    if (all_locked(work, dof, count)) {
        double rotation[9], translation[3];
        ulna_segment_motion(segment, link->sign, work->to->q + coordinate, rotation, translation);
        move_cursor(at, rotation, translation);
        return 1;
    }
    if (segment <= ULNA_SEGMENT_TZ) {
        add_single(work, link, ulna_segment_is_translation(segment) ? ULNA_EDGE_TRANSLATION : ULNA_EDGE_HINGE,
                   (int)segment % 3, dof, at);
        return 1;
    }
    int single = single_rotation(work, segment, dof, coordinate);
    if (single >= 0) {
        add_single(work, link, ULNA_EDGE_HINGE, single, dof + single, at);
        return 1;
    }
    int segments = segment == ULNA_SEGMENT_SWING ? 2 : 1;
    add_ball(work, link, s, segments, dof, coordinate, at);
    return segments;
}

static void expand_link(ulna_reducer *work, const ulna_link *link, ulna_cursor *at)
{
    double rotation[9];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            rotation[3 * i + k] = link->rotation[k][i];
    if (link->parent >= 0)
        move_cursor(at, rotation, link->offset);
    else
        ulna_copy9(rotation,
                   at->frame); /* positions are relative to the root: no digits are lost far from the world's origin */
    int dof = link->dof, coordinate = link->coordinate;
    for (int s = 0; s < link->segment_count;)
        for (int settled = expand_segment(work, link, s, dof, coordinate, at); settled > 0; settled--, s++) {
            dof += ulna_segment_dofs((ulna_segment)link->segment[s]);
            coordinate += ulna_segment_coordinates((ulna_segment)link->segment[s]);
        }
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

/* `node` and `rotation_node` are numbers of parts until nodes are made. */
static void attach_term(ulna_reducer *work, const ulna_term *term, ulna_reduced_term *to)
{
    const ulna_body *body = &work->model->body[term->body];
    ulna_cursor at = work->cursors[body->link];
    move_cursor(&at, body->link_rotation, body->link_position);
    ulna_copy9(at.frame, to->frame);
    if (term->type != ULNA_TERM_POINT) {
        to->node = to->rotation_node = work->parts[at.part].owner;
        work->parts[to->rotation_node].uses++;
        return;
    }
    double identity[9];
    ulna_identity9(identity);
    move_cursor(&at, identity, term->local);

    /* a point at the centre of a joint does not depend on it */
    const ulna_part *part = &work->parts[at.part];
    while ((part->edge == ULNA_EDGE_HINGE || part->edge == ULNA_EDGE_BALL) && ulna_norm(at.offset) <= work->tiny) {
        ulna_copy3(part->offset, at.offset);
        at.part = part->parent;
        part = &work->parts[at.part];
    }
    to->node = at.part;
    ulna_copy3(at.offset, to->offset);
    work->parts[at.part].uses++;
}

int ulna_reduce_is_supported(ulna_term_type type)
{
    return type == ULNA_TERM_POINT || type == ULNA_TERM_ORIENTATION || type == ULNA_TERM_DIRECTION;
}

void ulna_reduce_expand(ulna_reducer *work)
{
    work->part_count = 1;
    ulna_copy3(work->model->link[0].offset, work->to->home);
    work->parts[0] = (ulna_part){.parent = ULNA_NONE, .dof = ULNA_NONE, .body = ULNA_NONE, .ball = ULNA_NONE};
    work->to->ball_count = 0;
    work->limits_left_out = 0;
    for (int l = 0; l < work->model->nl; l++) {
        const ulna_link *link = &work->model->link[l];
        if (!work->needed[l])
            continue;
        if (link->parent >= 0)
            work->cursors[l] = work->cursors[link->parent];
        else
            work->cursors[l] = (ulna_cursor){.frame = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        expand_link(work, link, &work->cursors[l]);
    }
    for (size_t i = 0; i < work->problem->term_count; i++) {
        const ulna_term *term = &work->problem->term[i];
        ulna_reduced_term *to = &work->to->terms[i];
        *to = (ulna_reduced_term){.node = ULNA_NONE, .rotation_node = ULNA_NONE};
        if (ulna_reduce_is_supported(term->type) && ulna_term_weight(work->problem, term) > 0)
            attach_term(work, term, to);
    }
}
