/*
 * Any skeleton as the joints of a BVH file.
 *
 * BVH has offsets and rotations about coordinate axes, but no rotated frames. So every body gets new axes, those of the
 * world in the zero pose. With G the rotation of a body there, P and O the rotations of placement and offset, and J
 * that of the joint,
 *
 *     B = G_parent P,   G = B O,   BVH's rotation = B J Bt,   OFFSET = G_parent * position of the placement
 *
 * Rotations about coordinate axes of the new frames are written as they are, all others as three rotations, in the joint's
 * own order or else Z X Y, nearest to the frame before. A joint whose body has its origin elsewhere (an offset behind
 * a rotation) becomes two, NAME_joint and NAME. Fixed bodies have three rotations of zero, and joints of fewer than three
 * rotations get the others, which stay zero: Blender refuses joints of one or two rotations. The write option
 * `dof_channels` leaves these others out.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/bvh/bvh.h"
#include "math/math3.h"

enum { MOST = ULNA_JOINT_MAX_SEGMENTS, BLOCK = ULNA_ANGLE_LANES };

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static void add_channel(ulna_bvh_node *node, int segment, int sign, int coordinate)
{
    node->channel[node->count++] = (ulna_bvh_channel){(unsigned char)segment, (signed char)sign, coordinate};
    node->is_fitted |= coordinate < 0;
}

static int is_rotation(unsigned segment)
{
    return segment <= ULNA_SEGMENT_RZ;
}

/* The coordinate axis of the new frame along which axis k of the joint lies, and which way; -1 if it is none. */
static int axis_along(const double rotated[9], int k, int *sign)
{
    for (int a = 0; a < 3; a++)
        if (fabs(rotated[3 * ((a + 1) % 3) + k]) <= 1e-15 && fabs(rotated[3 * ((a + 2) % 3) + k]) <= 1e-15) {
            *sign = rotated[3 * a + k] > 0 ? 1 : -1;
            return a;
        }
    return -1;
}

/* Translations before the first rotation, along different axes of the new frame, are channels as they are; all others need
 * three. */
static void add_positions(ulna_bvh_node *node, const double rotated[9], int coordinate)
{
    const ulna_joint_plan *plan = &node->plan;
    int at[3] = {-1, -1, -1}, way[3] = {1, 1, 1}, translations = 0, rotations = 0, is_direct = 1;
    for (int i = 0, c = coordinate; i < plan->segment_count; i++) {
        unsigned segment = plan->segment[i];
        if (ulna_segment_is_translation(segment)) {
            int sign = 1, axis = axis_along(rotated, (int)segment - ULNA_SEGMENT_TX, &sign);
            is_direct &= !rotations && axis >= 0 && at[axis] < 0;
            translations++;
            if (is_direct) {
                at[axis] = c;
                way[axis] = sign * plan->sign;
            }
        } else
            rotations++;
        c += ulna_segment_coordinates((ulna_segment)segment);
    }
    for (int axis = 0; axis < 3 && translations; axis++)
        if (!is_direct || at[axis] >= 0)
            add_channel(node, ULNA_SEGMENT_TX + axis, way[axis], is_direct ? at[axis] : -1);
}

/* Rotations of zero about the axes that a joint does not have, behind its own. */
static void add_missing_rotations(ulna_bvh_node *node)
{
    static const unsigned char zxy[3] = {ULNA_SEGMENT_RZ, ULNA_SEGMENT_RX, ULNA_SEGMENT_RY};
    int used = 0, was_fitted = node->is_fitted;
    for (int i = 0; i < node->count; i++)
        used |= 1 << node->channel[i].segment;
    for (int i = 0; i < 3; i++)
        if (!(used & 1 << zxy[i]))
            add_channel(node, zxy[i], 1, -1);
    node->is_fitted = was_fitted;
}

/* B J Bt for a joint of up to three rotations. */
static void prepare_change(ulna_bvh_node *node)
{
    const ulna_joint_plan *plan = &node->plan;
    double left[9], right[9], transpose[9];
    node->is_rotating = plan->segment_count <= 3;
    for (int i = 0; i < plan->segment_count; i++)
        node->is_rotating &= is_rotation(plan->segment[i]);
    if (!node->is_rotating)
        return;
    ulna_transpose9(node->base, transpose);
    ulna_multiply9(node->base, plan->pre, left);
    ulna_multiply9(plan->post, transpose, right);
    ulna_angle_change_set(&node->change, left, right, node->rotations.segment);
    node->change.count = plan->segment_count;
    memcpy(node->change.axis, plan->segment, sizeof node->change.axis);
}

/* The same for up to three rotations about different axes. */
static ulna_status add_rotations(ulna_bvh_nodes *w, ulna_bvh_node *node, const double rotated[9], int coordinate,
                                 ulna_error *error)
{
    const ulna_joint_plan *plan = &node->plan;
    int rotations = 0, used = 0, is_direct = 1, has_order = 1, at[MOST], axis[MOST], way[MOST];
    char order[4] = "ZXY";
    for (int i = 0, c = coordinate; i < plan->segment_count; i++) {
        unsigned segment = plan->segment[i];
        if (!ulna_segment_is_translation(segment)) {
            int sign = 1, own = is_rotation(segment) ? (int)segment : 0;
            at[rotations] = c;
            axis[rotations] = axis_along(rotated, own, &sign);
            way[rotations] = sign * plan->sign;
            has_order &= is_rotation(segment) && !(used & 1 << own);
            is_direct &= has_order && axis[rotations] >= 0;
            used |= 1 << own;
            rotations++;
        }
        c += ulna_segment_coordinates((ulna_segment)segment);
    }
    for (int i = 0; i < rotations && is_direct; i++)
        add_channel(node, axis[i], way[i], at[i]);
    if (is_direct && !w->dof_channels)
        add_missing_rotations(node);
    if (is_direct)
        return ULNA_OK;
    for (int i = 0, k = 0; i < plan->segment_count && has_order && rotations == 3; i++)
        if (is_rotation(plan->segment[i]))
            order[k++] = (char)('X' + plan->segment[i]);
    for (int i = 0; i < 3; i++)
        add_channel(node, order[i] - 'X', 1, -1);
    w->fitted++;
    ulna_joint euler = ulna_joint_euler(order);
    ulna_status status = ulna_joint_resolve(&euler, &node->rotations, error);
    if (status == ULNA_OK)
        prepare_change(node);
    return status;
}

static void add_zeros(ulna_bvh_nodes *w, ulna_bvh_node *node)
{
    for (int axis = 0; axis < 3 && node->parent < 0; axis++) /* many programs want six channels there */
        add_channel(node, ULNA_SEGMENT_TX + axis, 1, -1);
    add_missing_rotations(node);
    node->is_fitted = 0;
    w->fixed++;
}

/* A fixed leaf by the name that the reader gives to the next End Site of its parent. */
static int is_end(const ulna_bvh_nodes *w, const ulna_body *body, const ulna_bvh_node *parent)
{
    const char *name = w->model->names + body->name, *above = ulna_model_body_name(w->model, parent->body);
    char number[16] = "";
    size_t length = strlen(above);
    if (parent->ends)
        snprintf(number, sizeof number, "%d", parent->ends + 1);
    return body->subtree == 1 && strncmp(name, above, length) == 0 && strncmp(name + length, "_end", 4) == 0 &&
           strcmp(name + length + 4, number) == 0;
}

static ulna_bvh_node *add_node(ulna_bvh_nodes *w, int body, int parent)
{
    ulna_bvh_node *node = &w->node[w->count++];
    *node = (ulna_bvh_node){.body = body, .parent = parent, .level = parent < 0 ? 0 : w->node[parent].level + 1};
    ulna_identity9(node->base);
    return node;
}

/* The origin of a body, away from its joint. */
static void split_node(ulna_bvh_nodes *w, ulna_bvh_node *joint, const double arm[3])
{
    joint->is_joint = 1;
    ulna_bvh_node *node = add_node(w, joint->body, w->count - 1);
    node->first = joint->first + joint->count;
    ulna_copy3(arm, node->start);
    add_zeros(w, node);
    w->fixed--;
    w->split++;
}

static ulna_status add_body(ulna_bvh_nodes *w, int index, ulna_error *error)
{
    const ulna_body *body = &w->model->body[index];
    double above[9], rotated[9], arm[3];
    ulna_identity9(above);
    if (body->parent >= 0)
        ulna_copy9(w->ref[body->parent], above);
    ulna_bvh_node *node = add_node(w, index, body->parent < 0 ? -1 : w->node_of[body->parent]);
    ulna_status status = ulna_joint_resolve(&w->model->joint[index], &node->plan, error);
    if (status != ULNA_OK)
        return status;
    node->first = w->channels;
    ulna_multiply9(above, body->placement_rotation, node->base);
    ulna_multiply9(node->base, body->offset_rotation, w->ref[index]);
    ulna_rotate(above, body->placement_position, node->start);
    ulna_rotate(node->base, body->offset_position, arm);
    ulna_multiply9(node->base, node->plan.pre, rotated);

    if (node->plan.segment_count == 0 && node->parent >= 0 && is_end(w, body, &w->node[node->parent])) {
        node->is_end = 1;
        w->node[node->parent].ends++;
    } else if (node->plan.segment_count == 0) {
        add_zeros(w, node);
    } else {
        add_positions(node, rotated, body->coordinate);
        status = add_rotations(w, node, rotated, body->coordinate, error);
    }
    int does_rotate = 0;
    for (int i = 0; i < node->plan.segment_count; i++)
        does_rotate |= !ulna_segment_is_translation(node->plan.segment[i]);
    if (does_rotate && (arm[0] != 0 || arm[1] != 0 || arm[2] != 0))
        split_node(w, node, arm);
    else
        ulna_accumulate3(arm, node->start);
    w->node_of[index] = w->count - 1;
    const ulna_bvh_node *last = &w->node[w->count - 1];
    w->channels = last->first + last->count;
    return status;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* The angles `of` three rotations about different axes, or their other triple (a + pi, pi - b, c + pi), with whole turns: what is
 * nearest to `near`. */
static void put_nearest(const double of[3], const double near[3], double angle[3])
{
    const double small = ULNA_PI / 4;
    double other[3], distance = 0, other_distance = 0;
    memcpy(angle, of, 3 * sizeof *angle);
    if (fabs(of[0] - near[0]) < small && fabs(of[1] - near[1]) < small && fabs(of[2] - near[2]) < small)
        return; /* as nearly always: the other triple is half a turn away in two of them */
    for (int n = 0; n < 3; n++) {
        other[n] = ulna_nearest_turn(n == 1 ? ULNA_PI - of[n] : of[n] + ULNA_PI, near[n]);
        angle[n] = ulna_nearest_turn(of[n], near[n]);
        distance += (angle[n] - near[n]) * (angle[n] - near[n]);
        other_distance += (other[n] - near[n]) * (other[n] - near[n]);
    }
    if (other_distance < distance)
        memcpy(angle, other, sizeof other);
}

/* Near gimbal lock, where the first and the last angle cannot be told apart. */
static int is_locked(double cosine)
{
    return cosine < 1e-3;
}

/* The angles of BVH's rotation half Bt, half = B J, nearest to `near`. */
static void fit_angles(const ulna_bvh_nodes *w, const ulna_bvh_node *node, const double half[9], const double near[3],
                       double angle[3])
{
    const double nowhere[3] = {0, 0, 0};
    double transpose[9], rotation[9], cosine[BLOCK];
    ulna_angle_change change;
    ulna_angle_lanes nothing, found;
    ulna_transpose9(node->base, transpose);
    ulna_angle_change_set(&change, half, transpose, node->rotations.segment);
    w->change_angles(&change, 1, &nothing, &found, cosine);
    if (is_locked(cosine[0])) {
        ulna_multiply9(half, transpose, rotation);
        ulna_joint_fit(&node->rotations, 1, rotation, nowhere, near, angle);
    } else {
        const double of[3] = {found.of[0][0], found.of[1][0], found.of[2][0]};
        put_nearest(of, near, angle);
    }
}

/* Of the channels that show the motion: where it goes, and its rotations nearest to `near`. */
static void fit_motion(const ulna_bvh_nodes *w, const ulna_bvh_node *node, const double *q, const double *near,
                       double *value)
{
    double rotation[9], half[9], translation[3], moved[3], angle[3] = {0, 0, 0}, start[3] = {0, 0, 0};
    int rotations = 0;
    ulna_joint_motion(&node->plan, q, rotation, translation);
    ulna_rotate(node->base, translation, moved);
    ulna_multiply9(node->base, rotation, half);
    for (int i = 0; i < node->count; i++)
        if (is_rotation(node->channel[i].segment) && near)
            start[rotations++] = near[i];
    if (node->rotations.segment_count)
        fit_angles(w, node, half, start, angle);
    rotations = 0;
    for (int i = 0; i < node->count; i++) {
        const ulna_bvh_channel *channel = &node->channel[i];
        int is_angle = is_rotation(channel->segment), k = rotations;
        rotations += is_angle;
        if (channel->coordinate < 0)
            value[i] = is_angle ? angle[k] : moved[channel->segment - ULNA_SEGMENT_TX];
    }
}

/* Up to BLOCK frames, one after the other. */
typedef struct bvh_block {
    int count;
    const double *q;      /* count x nq */
    const double *before; /* values of the frame before, or NULL */
    double *value;        /* count x channels */
} bvh_block;

/* A joint of rotations, in all frames of a block. */
static void fit_rotations(const ulna_bvh_nodes *w, const ulna_bvh_node *node, const bvh_block *block)
{
    static const double zero[3] = {0, 0, 0};
    const size_t nq = (size_t)w->model->nq, width = (size_t)w->channels;
    const double *q = block->q + w->model->body[node->body].coordinate;
    const double *near = block->before ? block->before + node->first : zero;
    double *value = block->value + node->first, cosine[BLOCK];
    ulna_angle_lanes from, to;
    for (int f = 0; f < BLOCK; f++) {
        const double *row = q + (size_t)(f < block->count ? f : 0) * nq;
        for (int n = 0; n < node->change.count; n++)
            from.of[n][f] = node->plan.sign * row[n];
    }
    w->change_angles(&node->change, block->count, &from, &to, cosine);
    for (int f = 0; f < block->count; f++, near = value, value += width) {
        const double of[3] = {to.of[0][f], to.of[1][f], to.of[2][f]};
        if (is_locked(cosine[f]))
            fit_motion(w, node, q + (size_t)f * nq, near, value);
        else
            put_nearest(of, near, value);
    }
}

static void fill_block(const ulna_bvh_nodes *w, const bvh_block *block)
{
    const size_t nq = (size_t)w->model->nq, width = (size_t)w->channels;
    for (int n = 0; n < w->count; n++) {
        const ulna_bvh_node *node = &w->node[n];
        if (node->is_rotating) {
            fit_rotations(w, node, block);
            continue;
        }
        const double *q = block->q, *before = block->before;
        double *value = block->value;
        for (int f = 0; f < block->count; f++, before = value, q += nq, value += width) {
            if (node->is_fitted)
                fit_motion(w, node, q + w->model->body[node->body].coordinate, before ? before + node->first : NULL,
                           value + node->first);
            for (int i = 0; i < node->count; i++)
                if (node->channel[i].coordinate >= 0)
                    value[node->first + i] = node->channel[i].sign * q[node->channel[i].coordinate];
        }
    }
}

ulna_status ulna_bvh_nodes_row(ulna_bvh_nodes *w, int frame, const double **row, ulna_error *error)
{
    size_t width = (size_t)w->channels;
    double *to = w->value + (size_t)(frame % w->rows) * width;
    *row = to;
    if (w->is_filled || frame % BLOCK != 0)
        return ULNA_OK;
    bvh_block block = {.count = w->frames - frame < BLOCK ? w->frames - frame : BLOCK,
                       .q = w->clip && w->model->nq ? ulna_clip_frame(w->clip, frame) : w->model->rest,
                       .before = frame ? w->value + (size_t)((frame - 1) % w->rows) * width : NULL,
                       .value = to};
    for (int f = 0; f < block.count; f++) {
        int wrong;
        if (ulna_model_check_q(w->model, block.q + (size_t)f * (size_t)w->model->nq, &wrong) != ULNA_OK)
            return ulna_fail(error, ULNA_ERR_NUMBER, "frame %d: coordinate %d is not a finite number", frame + f + 1,
                             wrong);
    }
    fill_block(w, &block);
    return ULNA_OK;
}

/* Have joints below the root positions? */
static int has_positions(const ulna_bvh_nodes *w)
{
    for (int n = 1; n < w->count; n++)
        for (int i = 0; i < w->node[n].count; i++)
            if (!is_rotation(w->node[n].channel[i].segment))
                return 1;
    return 0;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

ulna_status ulna_bvh_nodes_fill(ulna_bvh_nodes *w, const ulna_model *model, const ulna_clip *clip, int dof_channels,
                                ulna_error *error)
{
    const ulna_allocator *allocator = &model->allocator;
    size_t bodies = (size_t)model->nb;
    *w = (ulna_bvh_nodes){
        .model = model, .clip = clip, .frames = clip ? clip->frame_count : 1, .dof_channels = dof_channels};
    w->node = ulna_allocate(allocator, 2 * bodies, sizeof *w->node);
    w->node_of = ulna_allocate(allocator, bodies, sizeof *w->node_of);
    w->ref = ulna_allocate(allocator, bodies, sizeof *w->ref);
    if (!w->node || !w->node_of || !w->ref)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %d bodies", model->nb);
    for (int i = 0; i < model->nb; i++) {
        ulna_status status = add_body(w, model->preorder[i], error);
        if (status != ULNA_OK)
            return status;
    }
    size_t width = (size_t)w->channels;
    w->rows = has_positions(w) && w->frames > 2 * BLOCK ? w->frames : 2 * BLOCK;
    w->rest = ulna_allocate(allocator, width, sizeof *w->rest);
    w->value = ulna_allocate(allocator, (size_t)w->rows, width * sizeof *w->value);
    if (!w->value || !w->rest)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %d frames of %d values", w->rows, w->channels);
    w->change_angles = ulna_change_angles_find();
    fill_block(w, &(bvh_block){.count = 1, .q = model->rest, .value = w->rest});
    ulna_status status = ULNA_OK;
    const double *row;
    for (int f = 0; f < w->frames && w->rows >= w->frames && status == ULNA_OK; f++)
        status = ulna_bvh_nodes_row(w, f, &row, error);
    w->is_filled = w->rows >= w->frames;
    return status;
}

void ulna_bvh_nodes_release(ulna_bvh_nodes *w)
{
    const ulna_allocator *allocator = &w->model->allocator;
    size_t bodies = (size_t)w->model->nb, width = (size_t)w->channels;
    ulna_release(allocator, w->node, 2 * bodies, sizeof *w->node);
    ulna_release(allocator, w->node_of, bodies, sizeof *w->node_of);
    ulna_release(allocator, w->ref, bodies, sizeof *w->ref);
    ulna_release(allocator, w->rest, width, sizeof *w->rest);
    ulna_release(allocator, w->value, (size_t)w->rows, width * sizeof *w->value);
}
