/*
 * Writes the model file. Keys stand in a fixed order, a body is a group of lines and a marker is one line, so that
 * two versions of a skeleton compare well in any diff.
 */
#include <math.h>

#include "base/base.h"
#include "formats/json/model_json.h"
#include "formats/text/text_writer.h"
#include "math/math3.h"

static void put_numbers(ulna_writer *out, const double *values, int count)
{
    ulna_put(out, "[");
    for (int i = 0; i < count; i++)
        ulna_print(out, i ? ", %g" : "%g", values[i]);
    ulna_put(out, "]");
}

static void put_rows(ulna_writer *out, const double rotation[9])
{
    ulna_put(out, "[");
    for (int i = 0; i < 3; i++) {
        if (i)
            ulna_put(out, ", ");
        put_numbers(out, rotation + 3 * i, 3);
    }
    ulna_put(out, "]");
}

/* Starts the next member of a body: every one but the name, which comes first, is optional. */
static void put_key(ulna_writer *out, const char *key)
{
    ulna_print(out, ",\n      \"%s\": ", key);
}

static int all_equal(const double *values, int count, double value)
{
    for (int i = 0; i < count; i++)
        if (values[i] != value)
            return 0;
    return 1;
}

static int is_identity(const double rotation[9])
{
    return all_equal(rotation + 1, 3, 0) && all_equal(rotation + 5, 3, 0) && rotation[0] == 1 && rotation[4] == 1 &&
           rotation[8] == 1;
}

static void put_transform(ulna_writer *out, const char *key, const double position[3], const double rotation[9])
{
    int moved = !all_equal(position, 3, 0);
    int rotated = !is_identity(rotation);
    if (!moved && !rotated)
        return;
    put_key(out, key);
    ulna_put(out, "{");
    if (moved) {
        ulna_put(out, "\"position\": ");
        put_numbers(out, position, 3);
    }
    if (rotated) {
        ulna_put(out, moved ? ", \"rotation\": " : "\"rotation\": ");
        put_rows(out, rotation);
    }
    ulna_put(out, "}");
}

static void put_joint(ulna_writer *out, const ulna_joint *joint, const char *name)
{
    unsigned keys = ulna_joint_keys(joint->type);
    put_key(out, "joint");
    ulna_print(out, "{\"type\": \"%s\"", ulna_joint_type_name(joint->type));
    if (name) {
        ulna_put(out, ", \"name\": ");
        ulna_put_json_string(out, name);
    }
    if (keys & ULNA_JOINT_HAS_ORDER)
        ulna_print(out, ", \"order\": \"%s\"", joint->order);
    if (keys & ULNA_JOINT_HAS_AXIS) {
        ulna_put(out, ", \"axis\": ");
        put_numbers(out, joint->axis, 3);
    }
    if ((keys & ULNA_JOINT_HAS_CENTER) && memcmp(joint->center, joint->axis, sizeof joint->axis) != 0) {
        ulna_put(out, ", \"center\": ");
        put_numbers(out, joint->center, 3);
    }
    if ((keys & ULNA_JOINT_HAS_FRAME) && !is_identity(joint->frame)) {
        ulna_put(out, ", \"frame\": ");
        put_rows(out, joint->frame);
    }
    if ((keys & ULNA_JOINT_HAS_FRAME) && joint->reversed)
        ulna_put(out, ", \"reversed\": true");
    ulna_put(out, "}");
}

static void put_limits(ulna_writer *out, const double *lower, const double *upper, int count)
{
    int limited = 0;
    for (int i = 0; i < count; i++)
        limited |= isfinite(lower[i]) || isfinite(upper[i]);
    if (!limited)
        return;

    put_key(out, "limits");
    ulna_put(out, "[");
    for (int i = 0; i < count; i++) {
        if (i)
            ulna_put(out, ", ");
        if (!isfinite(lower[i]) && !isfinite(upper[i])) {
            ulna_put(out, "null");
            continue;
        }
        ulna_print(out, isfinite(lower[i]) ? "[%g, " : "[null, ", lower[i]);
        ulna_print(out, isfinite(upper[i]) ? "%g]" : "null]", upper[i]);
    }
    ulna_put(out, "]");
}

/* Is this what the builder assumes without being told? In doubt no: then it is written. */
static int rest_is_default(const ulna_joint *joint, const double *rest, int count)
{
    switch (joint->type) {
    case ULNA_JOINT_SWING_TWIST: /* its zero pose depends on the center */
        return 0;
    case ULNA_JOINT_BALL:
    case ULNA_JOINT_FREE:
        return !joint->reversed && all_equal(rest, count - 1, 0) && rest[count - 1] == 1;
    default:
        return all_equal(rest, count, 0);
    }
}

static void put_mass(ulna_writer *out, const ulna_mass *mass)
{
    if (mass->mass != 0) {
        put_key(out, "mass");
        ulna_put_number(out, mass->mass);
    }
    if (!all_equal(mass->center, 3, 0)) {
        put_key(out, "mass_center");
        put_numbers(out, mass->center, 3);
    }
    if (!all_equal(mass->inertia, 6, 0)) {
        put_key(out, "inertia");
        put_numbers(out, mass->inertia, 6);
    }
}

static void put_body(ulna_writer *out, const ulna_model *model, int body)
{
    double position[3], rotation[9];
    const ulna_joint *joint = ulna_model_body_joint(model, body);
    int parent = ulna_model_body_parent(model, body);

    ulna_put(out, "    {\n      \"name\": ");
    ulna_put_json_string(out, ulna_model_body_name(model, body));
    if (parent != ULNA_NONE) {
        put_key(out, "parent");
        ulna_put_json_string(out, ulna_model_body_name(model, parent));
    }
    ulna_model_body_placement(model, body, position, rotation);
    put_transform(out, "placement", position, rotation);
    const char *joint_name = ulna_model_joint_name(model, body);
    put_joint(out, joint, strcmp(joint_name, ulna_model_body_name(model, body)) == 0 ? NULL : joint_name);
    ulna_model_body_offset(model, body, position, rotation);
    put_transform(out, "offset", position, rotation);

    int first_dof, first_coordinate;
    int dofs = ulna_model_body_dofs(model, body, &first_dof);
    int coordinates = ulna_model_body_coordinates(model, body, &first_coordinate);
    const double *rest = ulna_model_rest(model) + first_coordinate;
    const double *strength = ulna_model_strength(model) + first_dof;
    put_limits(out, ulna_model_lower(model) + first_dof, ulna_model_upper(model) + first_dof, dofs);
    if (coordinates && !rest_is_default(joint, rest, coordinates)) {
        put_key(out, "rest");
        put_numbers(out, rest, coordinates);
    }
    if (!all_equal(strength, dofs, 1)) {
        put_key(out, "strength");
        put_numbers(out, strength, dofs);
    }
    put_mass(out, ulna_model_body_mass(model, body));
    ulna_put(out, "\n    }");
}

static void put_marker(ulna_writer *out, const ulna_model *model, int marker)
{
    double position[3];
    ulna_put(out, "    {\"name\": ");
    ulna_put_json_string(out, ulna_model_marker_name(model, marker));
    ulna_put(out, ", \"body\": ");
    ulna_put_json_string(out, ulna_model_body_name(model, ulna_model_marker_body(model, marker)));
    ulna_model_marker_position(model, marker, position);
    ulna_put(out, ", \"position\": ");
    put_numbers(out, position, 3);
    if (ulna_model_marker_weight(model, marker) != 1)
        ulna_print(out, ", \"weight\": %g", ulna_model_marker_weight(model, marker));
    ulna_put(out, "}");
}

/* A body and which of its degrees of freedom, unless that is the first. */
static void put_dof(ulna_writer *out, const ulna_model *model, int dof, const char *body_key, const char *dof_key)
{
    int body = ulna_model_dof_body(model, dof), first;
    ulna_model_body_dofs(model, body, &first);
    ulna_print(out, "\"%s\": ", body_key);
    ulna_put_json_string(out, ulna_model_body_name(model, body));
    if (dof > first)
        ulna_print(out, ", \"%s\": %d", dof_key, dof - first);
}

static void put_coupling(ulna_writer *out, const ulna_model *model, const ulna_coupling *coupling)
{
    ulna_put(out, "    {");
    put_dof(out, model, coupling->dof, "body", "dof");
    ulna_put(out, ", ");
    put_dof(out, model, coupling->master, "master", "master_dof");
    if (coupling->multiplier != 1)
        ulna_print(out, ", \"multiplier\": %g", coupling->multiplier);
    if (coupling->offset != 0)
        ulna_print(out, ", \"offset\": %g", coupling->offset);
    ulna_put(out, "}");
}

ulna_status ulna_model_write_json(const ulna_model *model, const ulna_sink *sink, ulna_error *error)
{
    if (!model || !sink || !sink->write)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a model and a sink are needed");

    ulna_writer out;
    ulna_writer_start(&out, sink);
    ulna_print(&out, "{\n  \"format\": \"" ULNA_MODEL_JSON_FORMAT "\",\n  \"version\": %d", ULNA_MODEL_JSON_VERSION);
    ulna_put(&out, ",\n  \"units\": {\"length\": \"m\", \"angle\": \"rad\", \"mass\": \"kg\"}");
    if (*ulna_model_name(model)) {
        ulna_put(&out, ",\n  \"name\": ");
        ulna_put_json_string(&out, ulna_model_name(model));
    }

    int bodies = ulna_model_body_count(model);
    ulna_put(&out, ",\n  \"bodies\": [\n");
    for (int i = 0; i < bodies; i++) {
        put_body(&out, model, i);
        ulna_put(&out, i + 1 < bodies ? ",\n" : "\n  ]");
    }

    int count;
    const ulna_coupling *couplings = ulna_model_couplings(model, &count);
    if (count)
        ulna_put(&out, ",\n  \"couplings\": [\n");
    for (int i = 0; i < count; i++) {
        put_coupling(&out, model, &couplings[i]);
        ulna_put(&out, i + 1 < count ? ",\n" : "\n  ]");
    }

    int markers = ulna_model_marker_count(model);
    if (markers)
        ulna_put(&out, ",\n  \"markers\": [\n");
    for (int i = 0; i < markers; i++) {
        put_marker(&out, model, i);
        ulna_put(&out, i + 1 < markers ? ",\n" : "\n  ]");
    }
    ulna_put(&out, "\n}\n");

    return ulna_writer_finish(&out, "the model", error);
}
