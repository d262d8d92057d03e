/*
 * glTF: nodes, their tree, and which of them are the skeleton.
 *
 * With skins it is their joints, what lies between them and their common root, and above that what moves. Without, every node
 * but those leaves that stand still and only carry a mesh, a camera or the like.
 */
#include <limits.h>
#include <string.h>

#include "base/base.h"
#include "formats/format.h"
#include "formats/gltf/gltf_read.h"

/* ---- transforms ------------------------------------------------------------------------------------------------- */

static ulna_status read_numbers(const ulna_json_node *node, const char *key, double *values, int count)
{
    ulna_json_node part;
    if (!ulna_json_find(node, key, &part))
        return ULNA_OK;
    ulna_status status = ulna_json_numbers(&part, values, count);
    for (int i = 0; i < count && status == ULNA_OK; i++)
        if (!(fabs(values[i]) <= 1e100)) /* so that products stay finite */
            return ulna_json_fail(&part, ULNA_ERR_NUMBER, "%g is too large", values[i]);
    return status;
}

/* S = N diag(stretch): see gltf_read.h. An even number of negative signs is a half turn; an odd one is that and -1. */
static void take_scale_apart(ulna_gltf_node *node, const double scale[3])
{
    int negative = (scale[0] < 0) + (scale[1] < 0) + (scale[2] < 0), sign = negative % 2 ? -1 : 1;
    double rotated[4] = {0, 0, 0, 1};
    for (int i = 0; i < 3; i++) {
        int is_kept = (scale[i] < 0) == (sign < 0); /* the axis of the half turn, if two others are not */
        node->stretch[i] = sign * fabs(scale[i]);
        if (is_kept && negative % 3) {
            memset(rotated, 0, sizeof rotated);
            rotated[i] = 1;
        }
    }
    memcpy(node->half_turn, rotated, sizeof rotated);
    ulna_quaternion_multiply(node->rotation, rotated, node->rotation);
}

static ulna_status read_matrix(ulna_gltf *g, const ulna_json_node *matrix, ulna_gltf_node *node, double scale[3])
{
    double m[16] = {0}, r[9];
    ulna_status status = read_numbers(matrix->parent, "matrix", m, 16);
    if (status != ULNA_OK)
        return status;
    if (m[3] != 0 || m[7] != 0 || m[11] != 0 || m[15] != 1)
        return ulna_json_fail(matrix, ULNA_ERR_MODEL, "the last row should be 0 0 0 1");
    ulna_copy3(m + 12, node->translation);
    for (int column = 0; column < 3; column++)
        scale[column] = ulna_norm(m + 4 * column);
    if (!(scale[0] > 0 && scale[1] > 0 && scale[2] > 0))
        return ulna_json_fail(matrix, ULNA_ERR_MODEL, "the matrix is singular");
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
            r[3 * row + column] = m[4 * column + row] / scale[column];
    double cross[3];
    ulna_cross(m, m + 4, cross);
    if (ulna_dot(cross, m + 8) < 0)
        for (int i = 0; i < 9; i++) {
            r[i] = -r[i];
            scale[i % 3] = -fabs(scale[i % 3]);
        }
    double off = ulna_orthonormalise(r);
    if (!(off < 0.1))
        return ulna_json_fail(matrix, ULNA_ERR_MODEL, "the matrix shears too much to be a rotation and a scale");
    if (off > 1e-4)
        ulna_remarks_add(&g->content->remarks, 0, -1, "the matrix of node %zu shears: the nearest rotation is used",
                         matrix->parent->index);
    ulna_rotation_to_quaternion(r, node->rotation);
    return ULNA_OK;
}

static ulna_status read_transform(ulna_gltf *g, const ulna_json_node *json, ulna_gltf_node *node)
{
    double scale[3] = {1, 1, 1};
    ulna_json_node matrix, rotation;
    ulna_status status = ULNA_OK;
    node->rotation[3] = 1;
    if (ulna_json_find(json, "matrix", &matrix))
        status = read_matrix(g, &matrix, node, scale);
    if (status == ULNA_OK)
        status = read_numbers(json, "translation", node->translation, 3);
    if (status == ULNA_OK)
        status = read_numbers(json, "scale", scale, 3);
    if (status == ULNA_OK)
        status = read_numbers(json, "rotation", node->rotation, 4);
    if (status == ULNA_OK && !(ulna_quaternion_normalise(node->rotation) > 0)) {
        ulna_json_find(json, "rotation", &rotation);
        return ulna_json_fail(&rotation, ULNA_ERR_MODEL, "the quaternion is zero");
    }
    for (int i = 0; i < 3; i++)
        if (fabs(fabs(scale[i]) - 1) < 1e-6) /* rounding of other programs */
            scale[i] = scale[i] < 0 ? -1 : 1;
    take_scale_apart(node, scale);
    return status;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static void read_extras(const ulna_json_node *json, ulna_gltf_node *node)
{
    const char *kind = json_string_value(json_object_get(json_object_get(json->value, "extras"), ULNA_GLTF_MARKER_KEY));
    if (kind && strcmp(kind, ULNA_GLTF_MARKER_BODY) == 0)
        node->flags |= ULNA_GLTF_MARKER;
    else if (kind && strcmp(kind, ULNA_GLTF_MARKER_RECORDING) == 0)
        node->flags |= ULNA_GLTF_RECORDED;
}

static ulna_status read_children(ulna_gltf *g, const ulna_json_node *json, int index)
{
    ulna_json_node list;
    ulna_status status = ulna_gltf_list(json, "children", "indices of nodes", &list);
    size_t count = json_array_size(list.value);
    for (size_t i = 0; i < count && status == ULNA_OK; i++) {
        ulna_json_node element = ulna_json_element(&list, i);
        int child = 0;
        status = ulna_gltf_index(&element, (size_t)g->node_count, &child);
        if (status == ULNA_OK && g->node[child].parent != ULNA_NONE)
            return ulna_json_fail(&element, ULNA_ERR_MODEL, "node %d has two parents, %d and %d", child,
                                  g->node[child].parent, index);
        if (status == ULNA_OK)
            g->node[child].parent = index;
    }
    if (count && status == ULNA_OK)
        g->node[index].flags |= ULNA_GLTF_PARENTAL;
    return status;
}

static ulna_status read_node(ulna_gltf *g, int index)
{
    ulna_json_node json = ulna_json_element(&g->nodes, (size_t)index);
    ulna_gltf_node *node = &g->node[index];
    ulna_status status = ulna_json_need_object(&json);
    if (json_object_get(json.value, "mesh") || json_object_get(json.value, "camera") ||
        json_object_get(json_object_get(json.value, "extensions"), "KHR_lights_punctual"))
        node->flags |= ULNA_GLTF_CARRIES;
    read_extras(&json, node);
    if (status == ULNA_OK)
        status = read_transform(g, &json, node);
    return status == ULNA_OK ? read_children(g, &json, index) : status;
}

/* Parents first: nodes are hung into lists of siblings, then taken out from the roots on. How many were reached; `first` and
 * `next` are zero for every node. */
static int order_nodes(ulna_gltf *g, int *first, int *next)
{
    int done = 0;
    for (int i = g->node_count - 1; i >= 0; i--) { /* number + 1, 0 for none */
        int parent = g->node[i].parent;
        if (parent >= 0) {
            next[i] = first[parent];
            first[parent] = i + 1;
        }
    }
    for (int i = 0; i < g->node_count; i++)
        if (g->node[i].parent < 0)
            g->order[done++] = i;
    for (int at = 0; at < done; at++)
        for (int child = first[g->order[at]]; child; child = next[child - 1])
            g->order[done++] = child - 1;
    return done;
}

/* What is never reached is part of a cycle, or hangs on one. */
static ulna_status fail_cycle(ulna_gltf *g, int done)
{
    for (int at = 0; at < done; at++)
        g->node[g->order[at]].below = 1;
    int lost = 0;
    while (g->node[lost].below)
        lost++;
    ulna_json_node json = ulna_json_element(&g->nodes, (size_t)lost);
    return ulna_json_fail(&json, ULNA_ERR_MODEL, "the node is its own ancestor");
}

static ulna_status sort_nodes(ulna_gltf *g)
{
    size_t count = (size_t)g->node_count + 1;
    int *first = ulna_allocate(g->allocator, count, sizeof *first);
    int *next = ulna_allocate(g->allocator, count, sizeof *next);
    ulna_status status = ULNA_OK;
    if (first && next) {
        int done = order_nodes(g, first, next);
        if (done < g->node_count)
            status = fail_cycle(g, done);
    } else
        status = ulna_fail(g->error, ULNA_ERR_MEMORY, "no memory for nodes");
    ulna_release(g->allocator, first, count, sizeof *first);
    ulna_release(g->allocator, next, count, sizeof *next);
    return status;
}

/* Where every node is at rest, and what scale its children live in. */
static void place_node(ulna_gltf *g, ulna_gltf_node *node)
{
    const ulna_gltf_node *parent = node->parent >= 0 ? &g->node[node->parent] : NULL;
    double above = parent ? parent->scale : g->content->source.unit_m, own[9], place[3];
    double mean = cbrt(fabs(node->stretch[0]) * fabs(node->stretch[1]) * fabs(node->stretch[2]));
    for (int i = 0; i < 3; i++) {
        place[i] = node->translation[i] * (parent ? parent->reach[i] : above);
        node->reach[i] = above * node->stretch[i];
    }
    int is_even = node->stretch[0] == node->stretch[1] && node->stretch[0] == node->stretch[2];
    node->scale = is_even ? node->reach[0] : above * (node->stretch[0] < 0 ? -mean : mean);
    ulna_quaternion_to_rotation(node->rotation, own);
    if (parent) {
        ulna_compose(parent->world_rotation, parent->world_place, own, place, node->world_rotation, node->world_place);
    } else {
        ulna_copy9(own, node->world_rotation);
        ulna_copy3(place, node->world_place);
    }
}

ulna_status ulna_gltf_read_nodes(ulna_gltf *g)
{
    size_t count = json_array_size(g->nodes.value);
    if (count > INT_MAX / 8)
        return ulna_fail(g->error, ULNA_ERR_LIMIT, "the file has too many nodes");
    g->node_count = (int)count;
    g->node = ulna_allocate(g->allocator, count + 1, sizeof *g->node);
    g->order = ulna_allocate(g->allocator, count + 1, sizeof *g->order);
    if (!g->node || !g->order)
        return ulna_fail(g->error, ULNA_ERR_MEMORY, "no memory for nodes");
    for (int i = 0; i < g->node_count; i++) {
        ulna_gltf_node *node = &g->node[i];
        node->parent = node->body = ULNA_NONE;
        for (int path = 0; path < ULNA_GLTF_PATHS; path++)
            node->track[path] = ULNA_NONE;
    }
    ulna_status status = ULNA_OK;
    for (int i = 0; i < g->node_count && status == ULNA_OK; i++)
        status = read_node(g, i);
    if (status == ULNA_OK)
        status = sort_nodes(g);
    for (int i = 0; i < g->node_count && status == ULNA_OK; i++) {
        ulna_gltf_node *node = &g->node[g->order[i]];
        place_node(g, node);
        if (!ulna_all_finite(node->world_place, 3) || !ulna_all_finite(node->reach, 3)) {
            ulna_json_node json = ulna_json_element(&g->nodes, (size_t)g->order[i]);
            return ulna_json_fail(&json, ULNA_ERR_NUMBER, "the node is too far away");
        }
    }
    return status;
}

/* ---- the skeleton ----------------------------------------------------------------------------------------------- */

static ulna_status mark_joints(ulna_gltf *g)
{
    size_t skins = json_array_size(g->skins.value);
    ulna_status status = ULNA_OK;
    for (size_t s = 0; s < skins && status == ULNA_OK; s++) {
        ulna_json_node skin = ulna_json_element(&g->skins, s), list;
        status = ulna_json_need_object(&skin);
        if (status == ULNA_OK)
            status = ulna_gltf_list(&skin, "joints", "indices of nodes", &list);
        for (size_t i = 0; status == ULNA_OK && i < json_array_size(list.value); i++) {
            ulna_json_node element = ulna_json_element(&list, i);
            int joint = 0;
            status = ulna_gltf_index(&element, (size_t)g->node_count, &joint);
            if (status == ULNA_OK) {
                g->node[joint].flags |= ULNA_GLTF_JOINT;
                g->has_joints = 1;
            }
        }
    }
    if (skins > 1)
        ulna_remarks_add(&g->content->remarks, 0, -1, "the file has %zu skins: their joints are taken together", skins);
    return status;
}

static int moves(const ulna_gltf_node *node)
{
    return node->track[ULNA_GLTF_TRANSLATION] >= 0 || node->track[ULNA_GLTF_ROTATION] >= 0;
}

/* Nodes with joints below, but for those above the common root that stand still and have nothing above them that moves. */
static void choose_joints(ulna_gltf *g)
{
    int total = 0, is_moving = 0;
    for (int i = g->node_count - 1; i >= 0; i--) {
        ulna_gltf_node *node = &g->node[g->order[i]];
        int own = (node->flags & ULNA_GLTF_JOINT) != 0;
        node->below += own;
        total += own;
        if (node->parent >= 0)
            g->node[node->parent].below += node->below;
    }
    for (int i = g->node_count - 1, inside = 1; i >= 0;
         i--) { /* a common root has all of them below, and so have those above */
        ulna_gltf_node *node = &g->node[g->order[i]];
        if (node->below == 0)
            continue;
        if (node->below < total || inside)
            node->flags |= ULNA_GLTF_CHOSEN;
        inside &= node->below < total;
    }
    for (int i = 0; i < g->node_count; i++) { /* from the top: below the first that moves all are needed */
        ulna_gltf_node *node = &g->node[g->order[i]];
        if (node->below < total || (node->flags & ULNA_GLTF_CHOSEN))
            continue;
        is_moving |= moves(node);
        if (is_moving)
            node->flags |= ULNA_GLTF_CHOSEN;
    }
}

/* Nodes that only hold markers together are none of it; `below` counts the children that are something else. */
static void choose_all(ulna_gltf *g)
{
    for (int i = g->node_count - 1; i >= 0; i--) {
        ulna_gltf_node *node = &g->node[g->order[i]];
        int is_parent = (node->flags & ULNA_GLTF_PARENTAL) != 0, is_group = is_parent && !node->below && !moves(node);
        if (is_group || (node->flags & (ULNA_GLTF_MARKER | ULNA_GLTF_RECORDED)))
            continue;
        if (node->parent >= 0)
            g->node[node->parent].below++;
        if (!(node->flags & ULNA_GLTF_CARRIES) || is_parent || moves(node))
            node->flags |= ULNA_GLTF_CHOSEN;
    }
}

static void remark_scales(ulna_gltf *g)
{
    int uneven = 0, example = 0;
    for (int i = g->node_count - 1; i >= 0; i--) {
        const ulna_gltf_node *node = &g->node[i];
        double size = fabs(node->stretch[0]);
        int is_even = fabs(node->stretch[1] - node->stretch[0]) <= 1e-5 * size &&
                      fabs(node->stretch[2] - node->stretch[0]) <= 1e-5 * size;
        if (is_even || !(node->flags & ULNA_GLTF_CHOSEN) || !(node->flags & ULNA_GLTF_PARENTAL))
            continue;
        uneven++;
        example = i;
    }
    if (uneven)
        ulna_remarks_add(
            &g->content->remarks, 0, -1,
            "%d nodes (the first is %d) have scales that differ by axis: the shear of child nodes that rotate is ignored",
            uneven, example);
}

ulna_status ulna_gltf_choose_nodes(ulna_gltf *g)
{
    const unsigned hiding = ULNA_GLTF_MARKER | ULNA_GLTF_RECORDED | ULNA_GLTF_HIDDEN;
    ulna_status status = mark_joints(g);
    if (status != ULNA_OK)
        return status;
    if (g->has_joints)
        choose_joints(g);
    else
        choose_all(g);
    for (int i = 0; i < g->node_count; i++) {
        ulna_gltf_node *node = &g->node[g->order[i]];
        if (node->parent >= 0 && (g->node[node->parent].flags & hiding))
            node->flags = ULNA_GLTF_HIDDEN;
        if (node->flags & hiding)
            node->flags &= ~(unsigned)ULNA_GLTF_CHOSEN;
        int is_chosen = (node->flags & ULNA_GLTF_CHOSEN) != 0;
        g->skeleton_count += is_chosen;
        g->recorded_count += (node->flags & ULNA_GLTF_RECORDED) != 0;
        g->root_count += is_chosen && (node->parent < 0 || !(g->node[node->parent].flags & ULNA_GLTF_CHOSEN));
    }
    remark_scales(g);
    return ULNA_OK;
}
