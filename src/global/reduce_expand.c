/* The first step of the reduction: links become parts (reduce.h). */
#include "global/reduce.h"
#include "math/math3.h"

/* ---- limits and what is locked ------------------------------------------------------------------------------------ */

static int all_held(const ulna_reducer *work, int dof, int count)
{
    for (int j = dof; j < dof + count; j++)
        if (!work->to->locked[j])
            return 0;
    return 1;
}

/* Does a turn lack some angle? */
static int is_limited_turn(const ulna_reducer *work, int dof)
{
    return work->to->upper[dof] - work->to->lower[dof] < 2 * ULNA_PI;
}

/* Rotation vectors of length pi reach every rotation. */
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

/* A part where the cursor is; the cursor moves onto it. */
static ulna_part *add_part(ulna_reducer *work, ulna_edge edge, int body, ulna_cursor *at)
{
    int number = work->part_count++;
    ulna_part *part = &work->parts[number];
    *part = (ulna_part){.edge = edge, .parent = at->part, .dof = ULNA_NONE, .body = body, .ball = ULNA_NONE};
    part->owner = edge == ULNA_EDGE_SLIDE ? work->parts[at->part].owner : number;
    ulna_copy3(at->offset, part->offset);
    ulna_copy9(at->frame, part->frame);
    work->parts[at->part].uses++;
    at->part = number;
    memset(at->offset, 0, sizeof at->offset);
    return part;
}

/* A hinge or slide about or along axis k of the moving frame. A reversed joint moves against its axis. */
static void add_single(ulna_reducer *work, const ulna_link *link, ulna_edge edge, int k, int dof, ulna_cursor *at)
{
    ulna_part *part = add_part(work, edge, link->body, at);
    for (int i = 0; i < 3; i++)
        part->axis[i] = link->sign * at->frame[3 * i + k];
    int free = edge == ULNA_EDGE_HINGE && !is_limited_turn(work, dof);
    part->lower = free ? -INFINITY : work->to->lower[dof];
    part->upper = free ? INFINITY : work->to->upper[dof];
    part->dof = dof;
}

/* ---- joints ------------------------------------------------------------------------------------------------------ */

/* A rotation vector with all components locked at zero but one is a turn: its component, or -1. */
static int single_turn(const ulna_reducer *work, ulna_segment segment, int dof, int coordinate)
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

/* Segments of three parameters: anything goes. What limits them is lost, and counted. */
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
                        .slide = {ULNA_NONE, ULNA_NONE, ULNA_NONE}};
    ulna_copy9(part->frame, ball->frame);
    for (int s = first, k = 0; s < first + count; s++) {
        ulna_segment segment = (ulna_segment)link->segment[s];
        for (int i = 0; i < ulna_segment_dofs(segment); i++, k++) {
            ball->dof[k] = dof + k;
            int limited = segment == ULNA_SEGMENT_BALL ? 0
                          : segment <= ULNA_SEGMENT_RZ ? is_limited_turn(work, dof + k)
                                                       : is_limited_vector(work, dof + k);
            work->limits_left_out += limited || work->to->locked[dof + k];
        }
    }
}

/* Segment s of a link; returns how many segments that settled: a swing takes its twist along. */
static int expand_segment(ulna_reducer *work, const ulna_link *link, int s, int dof, int coordinate, ulna_cursor *at)
{
    ulna_segment segment = (ulna_segment)link->segment[s];
    int count = ulna_segment_dofs(segment);
    int next_is_swing = s + 1 < link->segment_count && link->segment[s + 1] == ULNA_SEGMENT_SWING;
    if (next_is_swing && !all_held(work, dof + 1, 2) &&
        single_turn(work, ULNA_SEGMENT_SWING, dof + 1, coordinate + 1) < 0) { /* a reversed swing-twist */
        add_ball(work, link, s, 2, dof, coordinate, at);
        return 2;
    }
    if (all_held(work, dof, count)) {
        double rotation[9], translation[3];
        ulna_segment_motion(segment, link->sign, work->to->q + coordinate, rotation, translation);
        move_cursor(at, rotation, translation);
        return 1;
    }
    if (segment <= ULNA_SEGMENT_TZ) {
        add_single(work, link, ulna_segment_is_slide(segment) ? ULNA_EDGE_SLIDE : ULNA_EDGE_HINGE, (int)segment % 3,
                   dof, at);
        return 1;
    }
    int single = single_turn(work, segment, dof, coordinate);
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
                   at->frame); /* places count from the root's: far from the origin of the world that keeps digits */
    int dof = link->dof, coordinate = link->coordinate;
    for (int s = 0; s < link->segment_count;)
        for (int settled = expand_segment(work, link, s, dof, coordinate, at); settled > 0; settled--, s++) {
            dof += ulna_segment_dofs((ulna_segment)link->segment[s]);
            coordinate += ulna_segment_coordinates((ulna_segment)link->segment[s]);
        }
}

/* ---- terms ------------------------------------------------------------------------------------------------------- */

/* `node` and `turned` hold parts until nodes are made. */
static void attach_term(ulna_reducer *work, const ulna_term *term, ulna_reduced_term *to)
{
    const ulna_body *body = &work->model->body[term->body];
    ulna_cursor at = work->cursors[body->link];
    move_cursor(&at, body->link_rotation, body->link_position);
    ulna_copy9(at.frame, to->frame);
    if (term->type != ULNA_TERM_POINT) {
        to->node = to->turned = work->parts[at.part].owner;
        work->parts[to->turned].uses++;
        return;
    }
    double identity[9];
    ulna_identity9(identity);
    move_cursor(&at, identity, term->local);

    /* a point at a joint does not feel it */
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

int ulna_reduce_is_held_type(ulna_term_type type)
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
        *to = (ulna_reduced_term){.node = ULNA_NONE, .turned = ULNA_NONE};
        if (ulna_reduce_is_held_type(term->type) && ulna_term_weight(work->problem, term) > 0)
            attach_term(work, term, to);
    }
}
