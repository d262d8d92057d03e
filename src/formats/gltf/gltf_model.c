/*
 * glTF: from nodes and tracks to a model, its clip and its recording.
 *
 * A node becomes a body that rests where the node does: its placement is T R of the node, and the joint moves from there,
 *
 *     translation = Rt (T(t) - T),   rotation = Rt R(t)        (R with the half turn of a mirroring scale: gltf_read.h)
 *
 * by a ball, or freely for the root and for nodes whose translation changes.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/format.h"
#include "formats/gltf/gltf_read.h"
#include "formats/markers.h"
#include "formats/text/names.h"
#include "model/builder.h"

enum { NAME = 256, LOOKED_AT = 64 };

static const ulna_gltf_track *track_of(const ulna_gltf *g, const ulna_gltf_node *node, int path)
{
    return node->track[path] >= 0 ? &g->track[node->track[path]] : NULL;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

static ulna_status choose_name(const ulna_gltf *g, const ulna_json_node *json, char name[NAME])
{
    const char *given = "";
    char number[32];
    ulna_status status = ulna_json_find_string(json, "name", &given);
    if (status != ULNA_OK)
        return status;
    snprintf(number, sizeof number, "node%zu", json->index);
    int is_free = ulna_free_body_name(g->builder, *given ? given : number, "_", name);
    if (!*given)
        ulna_remarks_add(&g->content->remarks, 0, -1, "node %zu has no name: it is called '%s'", json->index, name);
    else if (!is_free)
        ulna_remarks_add(&g->content->remarks, 0, -1,
                         "node %zu: the name '%.60s' is used twice or too long: it is renamed to '%.80s'", json->index,
                         given, name);
    return ULNA_OK;
}

/* ---- bodies ----------------------------------------------------------------------------------------------------- */

/* In metres, in the frame of the parent node. */
static void place_of(const ulna_gltf *g, const ulna_gltf_node *node, const double translation[3], double place[3])
{
    for (int i = 0; i < 3; i++)
        place[i] = translation[i] * (node->parent >= 0 ? g->node[node->parent].reach[i] : g->content->source.unit_m);
}

static ulna_status find_slides(const ulna_gltf *g, const ulna_gltf_grid *grid)
{
    ulna_status status = ULNA_OK;
    for (int n = 0; n < g->node_count && status == ULNA_OK; n++) {
        ulna_gltf_node *node = &g->node[n];
        const ulna_gltf_track *track = track_of(g, node, ULNA_GLTF_TRANSLATION);
        double rest[3], value[4], place[3];
        if (!(node->flags & ULNA_GLTF_CHOSEN) || !track)
            continue;
        place_of(g, node, node->translation, rest);
        for (int f = 0; f < grid->frames && status == ULNA_OK && !(node->flags & ULNA_GLTF_TRANSLATES); f++) {
            status = ulna_gltf_sample(g, track, grid, f, value);
            place_of(g, node, value, place);
            if (status == ULNA_OK && ulna_gltf_translates(place, rest))
                node->flags |= ULNA_GLTF_TRANSLATES;
        }
    }
    return status;
}

static int is_root(const ulna_gltf *g, const ulna_gltf_node *node)
{
    return node->parent < 0 || !(g->node[node->parent].flags & ULNA_GLTF_CHOSEN);
}

static ulna_status add_body(const ulna_gltf *g, int index)
{
    ulna_gltf_node *node = &g->node[index];
    ulna_json_node json = ulna_json_element(&g->nodes, (size_t)index);
    char name[NAME];
    double place[3], rotation[9];
    int is_free = is_root(g, node) || (node->flags & ULNA_GLTF_TRANSLATES);
    ulna_status status = choose_name(g, &json, name);
    if (status == ULNA_OK)
        status = ulna_builder_add_body(g->builder, name, ULNA_NONE, &node->body, g->error);
    if (is_root(g, node)) { /* what is above stands still */
        ulna_copy3(node->world_place, place);
        ulna_copy9(node->world_rotation, rotation);
    } else {
        place_of(g, node, node->translation, place);
        ulna_quaternion_to_rotation(node->rotation, rotation);
    }
    ulna_joint joint = is_free ? ulna_joint_free() : ulna_joint_ball();
    if (status == ULNA_OK)
        status = ulna_builder_set_placement(g->builder, node->body, place, rotation, g->error);
    if (status == ULNA_OK)
        status = ulna_builder_set_joint(g->builder, node->body, &joint, g->error);
    return ulna_json_locate(&json, status);
}

static ulna_status add_world(const ulna_gltf *g, int *world)
{
    *world = ULNA_NONE;
    if (g->root_count < 2)
        return ULNA_OK;
    ulna_remarks_add(&g->content->remarks, 0, -1,
                     "the file has %d skeletons: they become children of the fixed body 'world'", g->root_count);
    return ulna_builder_add_body(g->builder, "world", ULNA_NONE, world, g->error);
}

/* ---- markers of the model --------------------------------------------------------------------------------------- */

static ulna_status add_marker(const ulna_gltf *g, int index)
{
    const ulna_gltf_node *node = &g->node[index];
    ulna_json_node json = ulna_json_element(&g->nodes, (size_t)index);
    const ulna_gltf_node *above = node->parent >= 0 ? &g->node[node->parent] : NULL;
    int is_direct = above && (above->flags & ULNA_GLTF_CHOSEN);
    double place[3], weight = 1;
    const char *name = "";
    ulna_status status = ulna_json_find_string(&json, "name", &name);
    if (status != ULNA_OK)
        return status;
    if (!is_direct || !*name || strlen(name) >= NAME || ulna_builder_find_marker(g->builder, name) != ULNA_NONE) {
        ulna_remarks_add(&g->content->remarks, 0, -1,
                         "node %d is a marker without a body or without a unique name: it is left out", index);
        return ULNA_OK;
    }
    place_of(g, node, node->translation, place);
    json_t *given = json_object_get(json_object_get(json.value, "extras"), ULNA_GLTF_WEIGHT_KEY);
    if (json_is_number(given) && json_number_value(given) >= 0)
        weight = json_number_value(given);
    status = ulna_builder_add_marker(g->builder, name, above->body, place, weight, NULL, g->error);
    return ulna_json_locate(&json, status);
}

/* ---- the clip --------------------------------------------------------------------------------------------------- */

static void conjugate_times(const double a[4], const double b[4], double result[4])
{
    const double back[4] = {-a[0], -a[1], -a[2], a[3]};
    ulna_quaternion_multiply(back, b, result);
}

/* Coordinates of a body in a frame; `before` are those of the frame before, or NULL. */
static ulna_status fill_body(const ulna_gltf *g, const ulna_gltf_node *node, const ulna_gltf_grid *grid, int frame,
                             const double *before, int translations, double *q)
{
    const ulna_gltf_track *rotations = track_of(g, node, ULNA_GLTF_ROTATION),
                          *moves = translations ? track_of(g, node, ULNA_GLTF_TRANSLATION) : NULL;
    double value[4], place[3], rest[3], way[3], rotation[9];
    double *quaternion = q + (translations ? 3 : 0);
    ulna_status status = ULNA_OK;
    if (moves)
        status = ulna_gltf_sample(g, moves, grid, frame, value);
    if (moves && status == ULNA_OK) {
        place_of(g, node, value, place);
        place_of(g, node, node->translation, rest);
        ulna_subtract3(place, rest, way);
        ulna_quaternion_to_rotation(node->rotation, rotation);
        ulna_unrotate(rotation, way, q);
    }
    quaternion[3] = 1;
    if (!rotations || status != ULNA_OK)
        return status;
    status = ulna_gltf_sample(g, rotations, grid, frame, value);
    if (status != ULNA_OK)
        return status;
    ulna_quaternion_multiply(value, node->half_turn, value);
    conjugate_times(node->rotation, value, quaternion);
    const double upright[4] = {0, 0, 0, 1}, *near = before ? before + (translations ? 3 : 0) : upright;
    double sign = ulna_inner(4, near, quaternion);
    for (int i = 0; i < 4 && sign < 0; i++)
        quaternion[i] = -quaternion[i];
    return ULNA_OK;
}

/* What the animation itself says of its frames, if it agrees with its times. */
static void read_timing(const ulna_gltf *g, const char *key, const ulna_gltf_grid *grid, double *frame_seconds,
                        int *first_frame)
{
    json_t *list = json_object_get(json_object_get(json_array_get(g->animations.value, 0), "extras"), key);
    double seconds = json_number_value(json_array_get(list, 0)), first = json_number_value(json_array_get(list, 1));
    *frame_seconds = grid->step_s;
    *first_frame = 1;
    if (json_array_size(list) != 2)
        return;
    if (seconds > 0 && isfinite(seconds) && (grid->frames == 1 || fabs(seconds - grid->step_s) <= 1e-4 * grid->step_s))
        *frame_seconds = seconds;
    if (fabs(first) < 1e9 && first == floor(first))
        *first_frame = (int)first;
}

static ulna_status fill_clip(const ulna_gltf *g, const ulna_gltf_grid *grid)
{
    const ulna_model *model = g->content->model;
    ulna_clip *clip = &g->content->clip;
    ulna_status status = ulna_clip_resize(clip, model->nq, grid->frames);
    if (status != ULNA_OK)
        return ulna_fail(g->error, status, "no memory for %d frames", grid->frames);
    read_timing(g, ULNA_GLTF_CLIP_KEY, grid, &clip->frame_seconds, &clip->first_frame);
    for (int n = 0; n < g->node_count && status == ULNA_OK; n++) {
        const ulna_gltf_node *node = &g->node[n];
        if (node->body < 0)
            continue;
        const ulna_body *body =
            &model->body[ulna_model_find_body(model, ulna_builder_body_name(g->builder, node->body))];
        for (int f = 0; f < grid->frames && status == ULNA_OK; f++) {
            double *q = ulna_clip_frame(clip, f) + body->coordinate;
            status =
                fill_body(g, node, grid, f, f > 0 ? q - clip->coordinate_count : NULL, body->coordinate_count == 7, q);
            if (status == ULNA_OK && !ulna_all_finite(q, body->coordinate_count))
                status = ulna_fail(g->error, ULNA_ERR_NUMBER, "frame %d of node %d is too far away", f, n);
        }
    }
    return status;
}

/* ---- the recording ---------------------------------------------------------------------------------------------- */

static ulna_status fill_marker(const ulna_gltf *g, const ulna_gltf_grid *grid, const ulna_gltf_node *node, int marker)
{
    const ulna_gltf_track *moves = track_of(g, node, ULNA_GLTF_TRANSLATION),
                          *shows = track_of(g, node, ULNA_GLTF_SCALE);
    const ulna_gltf_node *parent = node->parent >= 0 ? &g->node[node->parent] : NULL;
    ulna_recording *recording = &g->content->recording;
    ulna_status status = ULNA_OK;
    for (int f = 0; f < recording->frame_count && status == ULNA_OK; f++) {
        double value[4], scale[4], place[3], *at = ulna_recording_frame(recording, f) + 3 * marker;
        ulna_copy3(node->translation, value);
        ulna_copy3(node->stretch, scale);
        if (moves)
            status = ulna_gltf_sample(g, moves, grid, f, value);
        if (shows && status == ULNA_OK)
            status = ulna_gltf_sample(g, shows, grid, f, scale);
        if (status != ULNA_OK || (scale[0] == 0 && scale[1] == 0 && scale[2] == 0))
            continue;
        place_of(g, node, value, place);
        ulna_copy3(place, at);
        if (parent) {
            ulna_rotate(parent->world_rotation, place, at);
            ulna_accumulate3(parent->world_place, at);
        }
        if (!ulna_all_finite(at, 3))
            status = ulna_fail(g->error, ULNA_ERR_NUMBER, "frame %d of marker %d is too far away", f, marker);
    }
    return status;
}

static ulna_status fill_recording(ulna_gltf *g)
{
    ulna_recording *recording = &g->content->recording;
    ulna_gltf_grid grid;
    int marker = 0;
    ulna_status status = ulna_gltf_choose_grid(g, ULNA_GLTF_RECORDED, 3 * (size_t)g->recorded_count, &grid);
    if (status != ULNA_OK)
        return status;
    if (grid.frames == 0) /* nothing moves: one frame */
        grid.frames = 1;
    status = ulna_recording_resize(recording, g->recorded_count, grid.frames);
    if (status != ULNA_OK)
        return ulna_fail(g->error, status, "no memory for %d frames of markers", grid.frames);
    read_timing(g, ULNA_GLTF_RECORDING_KEY, &grid, &recording->frame_seconds, &recording->first_frame);
    for (int n = 0; n < g->node_count && status == ULNA_OK; n++) {
        if (!(g->node[n].flags & ULNA_GLTF_RECORDED))
            continue;
        ulna_json_node json = ulna_json_element(&g->nodes, (size_t)n);
        const char *name = "";
        status = ulna_json_find_string(&json, "name", &name);
        if (status == ULNA_OK) {
            ulna_marker_name(name, strlen(name), recording->names[marker]);
            status = fill_marker(g, &grid, &g->node[n], marker++);
        }
    }
    if (status == ULNA_OK) {
        status = ulna_markers_finish(recording, &g->content->remarks);
        if (status != ULNA_OK)
            ulna_fail(g->error, status, "no memory for the names of markers");
    }
    return status;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

/* A few values are enough to see whether a scale changes: many tracks may share them. */
static int scale_changes(const ulna_gltf_track *track)
{
    size_t count = track->values.count, step = count > LOOKED_AT ? count / LOOKED_AT : 1;
    size_t each = track->interpolation == ULNA_GLTF_CUBIC ? 3 : 1, first = each == 3;
    for (size_t k = first; k < count; k += step * each)
        for (int i = 0; i < 3; i++) {
            double start = ulna_gltf_value(&track->values, first, i);
            if (!(fabs(ulna_gltf_value(&track->values, k, i) - start) <= 1e-4 * fabs(start)))
                return 1;
        }
    return 0;
}

static void remark_ignored(const ulna_gltf *g)
{
    int scaled = 0, others = 0;
    for (int n = 0; n < g->node_count; n++) {
        const ulna_gltf_node *node = &g->node[n];
        const ulna_gltf_track *scale = track_of(g, node, ULNA_GLTF_SCALE);
        if (node->flags & ULNA_GLTF_CHOSEN)
            scaled += scale && scale_changes(scale);
        else if (!(node->flags & ULNA_GLTF_RECORDED))
            others += node->track[ULNA_GLTF_TRANSLATION] >= 0 || node->track[ULNA_GLTF_ROTATION] >= 0;
    }
    if (scaled)
        ulna_remarks_add(&g->content->remarks, 0, -1, "%d nodes change their scale: their scale at rest is used",
                         scaled);
    if (others)
        ulna_remarks_add(&g->content->remarks, 0, -1,
                         "%d nodes that move are not part of the skeleton and are left out", others);
}

static ulna_status build_model(ulna_gltf *g, const ulna_gltf_grid *grid)
{
    int world;
    const char *name = "";
    ulna_status status = ulna_builder_create(g->allocator, &g->builder);
    if (status != ULNA_OK)
        return ulna_fail(g->error, status, "no memory for a skeleton");
    if (g->has_joints) {
        ulna_json_node skin = ulna_json_element(&g->skins, 0);
        status = ulna_json_find_string(&skin, "name", &name);
    }
    if (status == ULNA_OK && strlen(name) < NAME)
        status = ulna_builder_set_name(g->builder, name, g->error);
    if (status == ULNA_OK)
        status = find_slides(g, grid);
    if (status == ULNA_OK)
        status = add_world(g, &world);
    for (int i = 0; i < g->node_count && status == ULNA_OK;
         i++) /* in the order of the file, which may have parents last */
        if (g->node[i].flags & ULNA_GLTF_CHOSEN)
            status = add_body(g, i);
    for (int i = 0; i < g->node_count && status == ULNA_OK; i++) {
        const ulna_gltf_node *node = &g->node[i];
        if (node->flags & ULNA_GLTF_CHOSEN)
            status = ulna_builder_set_parent(g->builder, node->body,
                                             is_root(g, node) ? world : g->node[node->parent].body, g->error);
    }
    for (int i = 0; i < g->node_count && status == ULNA_OK; i++)
        if (g->node[i].flags & ULNA_GLTF_MARKER)
            status = add_marker(g, i);
    return status == ULNA_OK ? ulna_builder_build(g->builder, g->allocator, &g->content->model, g->error) : status;
}

ulna_status ulna_gltf_build(ulna_gltf *g)
{
    ulna_gltf_grid grid = {0};
    ulna_status status = ULNA_OK;
    if (!g->skeleton_count && !g->recorded_count)
        return ulna_fail(g->error, ULNA_ERR_MODEL,
                         "the file has no skeleton: no joints of a skin, no nodes that move "
                         "or have children");
    if (g->skeleton_count) {
        status = ulna_gltf_choose_grid(g, ULNA_GLTF_CHOSEN, 7 * (size_t)g->skeleton_count, &grid);
        if (status == ULNA_OK)
            status = build_model(g, &grid);
        if (status == ULNA_OK && grid.frames)
            status = fill_clip(g, &grid);
    }
    if (status == ULNA_OK && g->recorded_count)
        status = fill_recording(g);
    if (status == ULNA_OK)
        remark_ignored(g);
    return status;
}
