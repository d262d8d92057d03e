/*
 * Reads the model file (docs/model-file.md) into a builder. What the builder refuses is reported at the key or the
 * element that it came from; what only shows when all is read (roots, cycles) is checked here, for the same reason.
 */
#include "formats/format.h"
#include "model/model.h"
#include "ulna/formats.h"

#include "base/base.h"

#include <limits.h>
#include <string.h>

#include "formats/json/json_reader.h"
#include "formats/json/model_json.h"
#include "math/math3.h"

typedef struct reader {
    ulna_allocator allocator;
    ulna_builder *builder;
    ulna_error *error;
    int body_count;
    int *parent; /* of each body, in the order of the file */
    int *seen;   /* 0, or the walk (counted from 1) that came by this body */
} reader;

typedef struct range {
    double lower, upper;
} range;

/* ---- the parts of a body ------------------------------------------------------------------------------ */

static ulna_status read_transform(reader *in, const ulna_json_node *body_node, const char *key, int body)
{
    ulna_json_node node;
    if (!ulna_json_find(body_node, key, &node))
        return ULNA_OK;
    double position[3] = {0, 0, 0}, rotation[9];
    ulna_identity9(rotation);
    ulna_status status = ulna_json_check_object(&node, "position, rotation");
    if (status == ULNA_OK)
        status = ulna_json_find_numbers(&node, "position", position, 3);
    if (status == ULNA_OK)
        status = ulna_json_find_rotation(&node, "rotation", rotation);
    if (status != ULNA_OK)
        return status;
    status = strcmp(key, "offset") == 0 ? ulna_builder_set_offset(in->builder, body, position, rotation, in->error)
                                        : ulna_builder_set_placement(in->builder, body, position, rotation, in->error);
    return ulna_json_locate(&node, status);
}

/* Fills those fields of the joint that its type has; other keys are a mistake. */
static ulna_status read_joint_fields(const ulna_json_node *node, ulna_joint *joint)
{
    static const struct {
        const char *key;
        unsigned flag;
        int is_required;
    } fields[] = {{"axis", ULNA_JOINT_HAS_AXIS, 1},
                  {"center", ULNA_JOINT_HAS_CENTER, 0},
                  {"order", ULNA_JOINT_HAS_ORDER, 1},
                  {"frame", ULNA_JOINT_HAS_FRAME, 0},
                  {"reversed", ULNA_JOINT_HAS_FRAME, 0}};
    unsigned keys = ulna_joint_keys(joint->type);
    const char *order = "";
    ulna_json_node part;
    ulna_status status = ULNA_OK;
    for (size_t i = 0; i < sizeof fields / sizeof *fields && status == ULNA_OK; i++)
        if (keys & fields[i].flag)
            status = fields[i].is_required ? ulna_json_need(node, fields[i].key, &part) : ULNA_OK;
        else if (ulna_json_find(node, fields[i].key, &part))
            return ulna_json_fail(&part, ULNA_ERR_PARSE, "a joint of type \"%s\" has no such key",
                                  ulna_joint_type_name(joint->type));
    if (status == ULNA_OK)
        status = ulna_json_find_numbers(node, "axis", joint->axis, 3);
    if (keys & ULNA_JOINT_HAS_AXIS)
        ulna_copy3(joint->axis, joint->center);
    if (status == ULNA_OK)
        status = ulna_json_find_numbers(node, "center", joint->center, 3);
    if (status == ULNA_OK)
        status = ulna_json_find_string(node, "order", &order);
    if (status == ULNA_OK && strlen(order) >= sizeof joint->order) {
        ulna_json_find(node, "order", &part);
        return ulna_json_fail(&part, ULNA_ERR_PARSE, "\"%.40s\" is too long", order);
    }
    memcpy(joint->order, order, strlen(order) + 1);
    if (status == ULNA_OK)
        status = ulna_json_find_rotation(node, "frame", joint->frame);
    if (status == ULNA_OK)
        status = ulna_json_find_bool(node, "reversed", &joint->reversed);
    return status;
}

static ulna_status read_joint(reader *in, const ulna_json_node *body_node, int body, ulna_joint *joint)
{
    ulna_json_node node, type_node, name_node;
    const char *name = NULL;
    *joint = ulna_joint_fixed();
    if (!ulna_json_find(body_node, "joint", &node))
        return ULNA_OK;
    ulna_status status = ulna_json_check_object(&node, "type, name, axis, center, order, frame, reversed");
    if (status == ULNA_OK)
        status = ulna_json_need_string(&node, "type", &type_node, &name);
    if (status != ULNA_OK)
        return status;
    int type = ulna_joint_type_find(name);
    if (type < 0)
        return ulna_json_fail(
            &type_node, ULNA_ERR_PARSE,
            "unknown joint type \"%.40s\"; known types: fixed, revolute, prismatic, euler, ball, expmap, swing-twist, planar, free-euler, free, sequence",
            name);
    joint->type = (ulna_joint_type)type;
    status = read_joint_fields(&node, joint);
    if (status == ULNA_OK)
        status = ulna_json_locate(&node, ulna_builder_set_joint(in->builder, body, joint, in->error));
    if (status != ULNA_OK || !ulna_json_find(&node, "name", &name_node))
        return status;
    status = ulna_json_string(&name_node, &name);
    if (status == ULNA_OK)
        status = ulna_json_locate(&name_node, ulna_builder_set_joint_name(in->builder, body, name, in->error));
    return status;
}

/* A list with one entry per degree of freedom (or per coordinate). */
static ulna_status check_count(const ulna_json_node *node, int count, const char *per_what)
{
    if (!json_is_array(node->value))
        return ulna_json_fail(node, ULNA_ERR_PARSE, "should be a list with an entry per %s", per_what);
    if (json_array_size(node->value) != (size_t)count)
        return ulna_json_fail(node, ULNA_ERR_PARSE, "has %zu entries instead of %d, one per %s",
                              json_array_size(node->value), count, per_what);
    return ULNA_OK;
}

/* null, or [lower, upper] with null for none. */
static ulna_status read_limit(const ulna_json_node *node, range *limit)
{
    *limit = (range){-INFINITY, INFINITY};
    if (json_is_null(node->value))
        return ULNA_OK;
    if (json_array_size(node->value) != 2)
        return ulna_json_fail(node, ULNA_ERR_PARSE, "should be [lower, upper] or null");
    ulna_json_node lower = ulna_json_element(node, 0), upper = ulna_json_element(node, 1);
    ulna_status status = json_is_null(lower.value) ? ULNA_OK : ulna_json_number(&lower, &limit->lower);
    if (status == ULNA_OK && !json_is_null(upper.value))
        status = ulna_json_number(&upper, &limit->upper);
    if (status == ULNA_OK && limit->lower > limit->upper)
        status = ulna_json_fail(node, ULNA_ERR_MODEL, "lower %g exceeds upper %g", limit->lower, limit->upper);
    return status;
}

static ulna_status read_limits(reader *in, const ulna_json_node *body_node, int body, int dofs, range *limits)
{
    ulna_json_node node;
    if (!ulna_json_find(body_node, "limits", &node))
        return ULNA_OK;
    ulna_status status = check_count(&node, dofs, "degree of freedom");
    for (int k = 0; k < dofs && status == ULNA_OK; k++) {
        ulna_json_node element = ulna_json_element(&node, (size_t)k);
        status = read_limit(&element, &limits[k]);
        if (status == ULNA_OK)
            status = ulna_json_locate(
                &element, ulna_builder_set_limits(in->builder, body, k, limits[k].lower, limits[k].upper, in->error));
    }
    return status;
}

static ulna_status read_rest(reader *in, const ulna_json_node *body_node, int body, const ulna_joint *joint, int dofs,
                             const range *limits)
{
    ulna_json_node node;
    if (!ulna_json_find(body_node, "rest", &node))
        return ULNA_OK;
    double rest[7] = {0};
    int count = ulna_joint_coordinate_count(joint, NULL);
    ulna_status status = check_count(&node, count, "coordinate");
    if (status == ULNA_OK)
        status = ulna_json_numbers(&node, rest, count);
    if (status == ULNA_OK)
        status = ulna_json_locate(&node, ulna_builder_set_rest(in->builder, body, rest, count, in->error));

    /* A quaternion, which has no limits, stands behind the translations, or before them if the joint is reversed. */
    for (int k = 0; k < dofs && status == ULNA_OK; k++) {
        int at = k + (count > dofs && joint->reversed);
        ulna_json_node element = ulna_json_element(&node, (size_t)at);
        if (rest[at] < limits[k].lower - 1e-9 || rest[at] > limits[k].upper + 1e-9)
            status = ulna_json_fail(&element, ULNA_ERR_MODEL, "%g is outside the limits %g to %g", rest[at],
                                    limits[k].lower, limits[k].upper);
    }
    return status;
}

static ulna_status read_strength(reader *in, const ulna_json_node *body_node, int body, int dofs)
{
    ulna_json_node node;
    if (!ulna_json_find(body_node, "strength", &node))
        return ULNA_OK;
    double strength[6] = {0};
    ulna_status status = check_count(&node, dofs, "degree of freedom");
    if (status == ULNA_OK)
        status = ulna_json_numbers(&node, strength, dofs);
    for (int k = 0; k < dofs && status == ULNA_OK; k++) {
        ulna_json_node element = ulna_json_element(&node, (size_t)k);
        status = ulna_json_locate(&element, ulna_builder_set_strength(in->builder, body, k, strength[k], in->error));
    }
    return status;
}

static ulna_status read_mass(reader *in, const ulna_json_node *body_node, int body)
{
    ulna_json_node node;
    ulna_mass mass = {0};
    ulna_status status = ulna_json_find_numbers(body_node, "inertia", mass.inertia, 6);
    if (status == ULNA_OK)
        status = ulna_json_find_numbers(body_node, "mass_center", mass.center, 3);
    if (status == ULNA_OK)
        status = ulna_json_find_number(body_node, "mass", &mass.mass);
    if (status != ULNA_OK)
        return status;
    status = ulna_builder_set_mass(in->builder, body, &mass, in->error);
    return ulna_json_locate(mass.mass < 0 && ulna_json_find(body_node, "mass", &node) ? &node : body_node, status);
}

/* ---- bodies ------------------------------------------------------------------------------------------- */

/* Checks the keys of an element and reads its name, by which messages call it from here on. */
static ulna_status read_name(ulna_json_node *node, const char *kind, const char *keys)
{
    ulna_json_node name_node;
    const char *name = json_string_value(json_object_get(node->value, "name"));
    if (name) {
        node->kind = kind;
        node->name = name;
    }
    ulna_status status = ulna_json_check_object(node, keys);
    return status != ULNA_OK ? status : ulna_json_need_string(node, "name", &name_node, &name);
}

static ulna_status read_body_name(ulna_json_node *node)
{
    return read_name(node, "body",
                     "name, parent, placement, joint, offset, limits, rest, strength, mass, mass_center, inertia");
}

/* First pass: names, so that parents may stand behind their children. */
static ulna_status add_bodies(reader *in, const ulna_json_node *bodies)
{
    for (int i = 0; i < in->body_count; i++) {
        ulna_json_node node = ulna_json_element(bodies, (size_t)i);
        ulna_status status = read_body_name(&node);
        if (status != ULNA_OK)
            return status;
        int other = ulna_builder_find_body(in->builder, node.name);
        if (other != ULNA_NONE) {
            ulna_json_node first = ulna_json_element(bodies, (size_t)other);
            return ulna_json_fail(&node, ULNA_ERR_MODEL, "line %d already has a body of this name",
                                  ulna_json_line(&first));
        }
        status = ulna_builder_add_body(in->builder, node.name, ULNA_NONE, NULL, in->error);
        if (status != ULNA_OK)
            return ulna_json_locate(&node, status);
    }
    return ULNA_OK;
}

static ulna_status read_parent(reader *in, const ulna_json_node *body_node, int body)
{
    ulna_json_node node;
    const char *name = NULL;
    in->parent[body] = ULNA_NONE;
    if (!ulna_json_find(body_node, "parent", &node))
        return ULNA_OK;
    ulna_status status = ulna_json_string(&node, &name);
    if (status != ULNA_OK)
        return status;
    int parent = ulna_builder_find_body(in->builder, name);
    if (parent == ULNA_NONE)
        return ulna_json_fail(&node, ULNA_ERR_MODEL, "there is no body \"%.80s\"", name);
    in->parent[body] = parent;
    return ulna_json_locate(&node, ulna_builder_set_parent(in->builder, body, parent, in->error));
}

static ulna_status read_body(reader *in, ulna_json_node *node, int body)
{
    ulna_joint joint;
    range limits[6];
    for (int k = 0; k < 6; k++)
        limits[k] = (range){-INFINITY, INFINITY};
    ulna_status status = read_body_name(node);
    if (status == ULNA_OK)
        status = read_parent(in, node, body);
    if (status == ULNA_OK)
        status = read_transform(in, node, "placement", body);
    if (status == ULNA_OK)
        status = read_transform(in, node, "offset", body);
    if (status == ULNA_OK)
        status = read_joint(in, node, body, &joint);
    if (status != ULNA_OK)
        return status;

    int dofs = ulna_joint_dof_count(&joint, NULL);
    status = read_limits(in, node, body, dofs, limits);
    if (status == ULNA_OK)
        status = read_rest(in, node, body, &joint, dofs, limits);
    if (status == ULNA_OK)
        status = read_strength(in, node, body, dofs);
    if (status == ULNA_OK)
        status = read_mass(in, node, body);
    return status;
}

static ulna_json_node named_body(const ulna_json_node *bodies, int body)
{
    ulna_json_node node = ulna_json_element(bodies, (size_t)body);
    node.kind = "body";
    node.name = json_string_value(json_object_get(node.value, "name"));
    return node;
}

/* One root, and every way up ends there. Each body is walked past once: O(bodies). */
static ulna_status check_tree(reader *in, const ulna_json_node *bodies)
{
    int root = ULNA_NONE;
    for (int i = 0; i < in->body_count; i++) {
        if (in->parent[i] != ULNA_NONE)
            continue;
        ulna_json_node node = named_body(bodies, i);
        if (root != ULNA_NONE) {
            ulna_json_node first = named_body(bodies, root);
            return ulna_json_fail(&node, ULNA_ERR_MODEL, "has no parent, but the root is \"%.80s\" in line %d",
                                  first.name, ulna_json_line(&first));
        }
        root = i;
    }
    for (int i = 0; i < in->body_count; i++) {
        int at = i;
        while (at != ULNA_NONE && !in->seen[at]) {
            in->seen[at] = i + 1;
            at = in->parent[at];
        }
        if (at != ULNA_NONE && in->seen[at] == i + 1) {
            ulna_json_node node = named_body(bodies, at);
            return ulna_json_fail(&node, ULNA_ERR_MODEL, "is its own ancestor");
        }
    }
    return ULNA_OK;
}

static ulna_status read_bodies(reader *in, const ulna_json_node *bodies)
{
    in->body_count = (int)json_array_size(bodies->value);
    in->parent = ulna_allocate(&in->allocator, (size_t)in->body_count, sizeof *in->parent);
    in->seen = ulna_allocate(&in->allocator, (size_t)in->body_count, sizeof *in->seen);
    if (!in->parent || !in->seen)
        return ulna_fail(in->error, ULNA_ERR_MEMORY, "no memory left for %d bodies", in->body_count);
    ulna_status status = add_bodies(in, bodies);
    for (int i = 0; i < in->body_count && status == ULNA_OK; i++) {
        ulna_json_node node = ulna_json_element(bodies, (size_t)i);
        status = read_body(in, &node, i);
    }
    return status != ULNA_OK ? status : check_tree(in, bodies);
}

/* ---- markers ------------------------------------------------------------------------------------------ */

static ulna_status read_marker(reader *in, ulna_json_node *node)
{
    ulna_json_node part;
    const char *body_name = NULL;
    double position[3] = {0, 0, 0}, weight = 1;
    ulna_status status = read_name(node, "marker", "name, body, position, weight");
    if (status == ULNA_OK)
        status = ulna_json_need_string(node, "body", &part, &body_name);
    if (status != ULNA_OK)
        return status;
    int body = ulna_builder_find_body(in->builder, body_name);
    if (body == ULNA_NONE)
        return ulna_json_fail(&part, ULNA_ERR_MODEL, "there is no body \"%.80s\"", body_name);

    status = ulna_json_find_numbers(node, "position", position, 3);
    if (status == ULNA_OK)
        status = ulna_json_find_number(node, "weight", &weight);
    if (status != ULNA_OK)
        return status;
    status = ulna_builder_add_marker(in->builder, node->name, body, position, weight, NULL, in->error);
    return ulna_json_locate(node, status);
}

static ulna_status read_markers(reader *in, const ulna_json_node *markers)
{
    ulna_status status = ulna_json_check_list(markers, "markers");
    size_t count = json_array_size(markers->value);
    for (size_t i = 0; i < count && status == ULNA_OK; i++) {
        ulna_json_node node = ulna_json_element(markers, i);
        status = read_marker(in, &node);
    }
    return status;
}

/* ---- couplings ---------------------------------------------------------------------------------------- */

/* A degree of freedom by the keys for its body and for its index there, 0 by default. */
static ulna_status read_coupled_dof(reader *in, const ulna_json_node *node, const char *body_key, const char *dof_key,
                                    int *body, int *dof)
{
    ulna_json_node part;
    const char *name = NULL;
    double index = 0;
    ulna_status status = ulna_json_need_string(node, body_key, &part, &name);
    if (status != ULNA_OK)
        return status;
    *body = ulna_builder_find_body(in->builder, name);
    if (*body == ULNA_NONE)
        return ulna_json_fail(&part, ULNA_ERR_MODEL, "there is no body \"%.80s\"", name);
    status = ulna_json_find_number(node, dof_key, &index);
    if (status == ULNA_OK && !(index >= 0 && index < 6 && index == (int)index)) {
        ulna_json_find(node, dof_key, &part);
        return ulna_json_fail(&part, ULNA_ERR_PARSE, "should be a whole number from 0 to 5");
    }
    *dof = (int)index;
    return status;
}

static ulna_status read_coupling(reader *in, const ulna_json_node *node)
{
    int body = ULNA_NONE, dof = 0, master = ULNA_NONE, master_dof = 0;
    double multiplier = 1, offset = 0;
    ulna_status status = ulna_json_check_object(node, "body, dof, master, master_dof, multiplier, offset");
    if (status == ULNA_OK)
        status = read_coupled_dof(in, node, "body", "dof", &body, &dof);
    if (status == ULNA_OK)
        status = read_coupled_dof(in, node, "master", "master_dof", &master, &master_dof);
    if (status == ULNA_OK)
        status = ulna_json_find_number(node, "multiplier", &multiplier);
    if (status == ULNA_OK)
        status = ulna_json_find_number(node, "offset", &offset);
    if (status != ULNA_OK)
        return status;
    return ulna_json_locate(
        node, ulna_builder_couple(in->builder, body, dof, master, master_dof, multiplier, offset, in->error));
}

static ulna_status read_couplings(reader *in, const ulna_json_node *couplings)
{
    ulna_status status = ulna_json_check_list(couplings, "couplings");
    size_t count = json_array_size(couplings->value);
    for (size_t i = 0; i < count && status == ULNA_OK; i++) {
        ulna_json_node node = ulna_json_element(couplings, i);
        status = read_coupling(in, &node);
    }
    return status;
}

/* ---- the document ------------------------------------------------------------------------------------- */

static ulna_status read_header(reader *in, const ulna_json_node *root)
{
    ulna_json_node node;
    const char *format = NULL, *name = NULL;
    double version = 0;
    if (!json_is_object(root->value) || !ulna_json_find(root, "format", &node))
        return ulna_json_fail(root, ULNA_ERR_PARSE,
                              "this JSON is not an Ulna model: it does not say \"format\": \"%s\"",
                              ULNA_MODEL_JSON_FORMAT);
    ulna_status status = ulna_json_string(&node, &format);
    if (status == ULNA_OK && strcmp(format, ULNA_MODEL_JSON_FORMAT) != 0)
        status = ulna_json_fail(&node, ULNA_ERR_PARSE, "\"%.80s\" instead of \"%s\"", format, ULNA_MODEL_JSON_FORMAT);
    if (status == ULNA_OK)
        status = ulna_json_need_number(root, "version", &node, &version);
    if (status == ULNA_OK && version != ULNA_MODEL_JSON_VERSION)
        status = ulna_json_fail(&node, ULNA_ERR_UNSUPPORTED, "the file has version %g, this program reads version %d",
                                version, ULNA_MODEL_JSON_VERSION);
    if (status == ULNA_OK)
        status = ulna_json_check_object(root, "format, version, units, name, bodies, couplings, markers");
    if (status == ULNA_OK && ulna_json_find(root, "name", &node)) {
        status = ulna_json_string(&node, &name);
        if (status == ULNA_OK)
            status = ulna_json_locate(&node, ulna_builder_set_name(in->builder, name, in->error));
    }
    return status;
}

/* Units are stated for the human reader. There is one choice of each, and another one must not pass unnoticed. */
static ulna_status read_units(const ulna_json_node *root)
{
    static const char *const units[][2] = {{"length", "m"}, {"angle", "rad"}, {"mass", "kg"}};
    ulna_json_node node, part;
    if (!ulna_json_find(root, "units", &node))
        return ULNA_OK;
    ulna_status status = ulna_json_check_object(&node, "length, angle, mass");
    for (size_t i = 0; i < sizeof units / sizeof *units && status == ULNA_OK; i++) {
        const char *unit = NULL;
        if (!ulna_json_find(&node, units[i][0], &part))
            continue;
        status = ulna_json_string(&part, &unit);
        if (status == ULNA_OK && strcmp(unit, units[i][1]) != 0)
            status = ulna_json_fail(&part, ULNA_ERR_PARSE, "\"%.40s\" is not supported; a model file must have \"%s\"",
                                    unit, units[i][1]);
    }
    return status;
}

static ulna_status read_document(reader *in, const ulna_json_node *root, ulna_model **model)
{
    ulna_json_node bodies, couplings, markers;
    ulna_status status = read_header(in, root);
    if (status == ULNA_OK)
        status = read_units(root);
    if (status == ULNA_OK)
        status = ulna_json_need(root, "bodies", &bodies);
    if (status == ULNA_OK)
        status = ulna_json_check_list(&bodies, "bodies");
    if (status == ULNA_OK && json_array_size(bodies.value) == 0)
        status = ulna_json_fail(&bodies, ULNA_ERR_MODEL, "a model needs at least one body");
    if (status == ULNA_OK && json_array_size(bodies.value) > INT_MAX)
        status = ulna_json_fail(&bodies, ULNA_ERR_LIMIT, "too many bodies");
    if (status == ULNA_OK)
        status = read_bodies(in, &bodies);
    int has_couplings = status == ULNA_OK && ulna_json_find(root, "couplings", &couplings);
    if (has_couplings)
        status = read_couplings(in, &couplings);
    if (status == ULNA_OK && ulna_json_find(root, "markers", &markers))
        status = read_markers(in, &markers);
    if (status != ULNA_OK)
        return status;
    return ulna_json_locate(has_couplings ? &couplings : &bodies,
                            ulna_builder_build(in->builder, &in->allocator, model, in->error));
}

ulna_status ulna_model_read_json(const char *text, size_t length, const ulna_allocator *allocator, ulna_model **model,
                                 ulna_error *error)
{
    if (model)
        *model = NULL;
    if (!model || (!text && length))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a text and a pointer for the model are needed");

    reader in = {.allocator = ulna_allocator_or_default(allocator), .error = error};
    ulna_json document;
    ulna_status status = ulna_json_open(&document, text ? text : "", length, error);
    if (status == ULNA_OK && ulna_builder_create(&in.allocator, &in.builder))
        status = ulna_fail(error, ULNA_ERR_MEMORY, "no memory left to build the model");
    if (status == ULNA_OK) {
        ulna_json_node root = ulna_json_root(&document);
        status = read_document(&in, &root, model);
    }
    ulna_release(&in.allocator, in.parent, (size_t)in.body_count, sizeof *in.parent);
    ulna_release(&in.allocator, in.seen, (size_t)in.body_count, sizeof *in.seen);
    ulna_builder_destroy(in.builder);
    ulna_json_close(&document);
    return status;
}
