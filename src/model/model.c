/* What can be asked of a finished model. */
#include "model/model.h"

#include <stdio.h>

#include "base/base.h"
#include "math/math3.h"

void ulna_model_destroy(ulna_model *model)
{
    if (model) {
        ulna_allocator allocator = model->allocator;
        ulna_release(&allocator, model, 1, model->bytes);
    }
}

const char *ulna_model_name(const ulna_model *model)
{
    return model ? model->names : NULL;
}

int ulna_model_body_count(const ulna_model *model)
{
    return model ? model->nb : 0;
}

int ulna_model_dof_count(const ulna_model *model)
{
    return model ? model->nv : 0;
}

int ulna_model_coordinate_count(const ulna_model *model)
{
    return model ? model->nq : 0;
}

int ulna_model_marker_count(const ulna_model *model)
{
    return model ? model->nm : 0;
}

size_t ulna_model_bytes(const ulna_model *model)
{
    return model ? model->bytes : 0;
}

double ulna_model_length_scale(const ulna_model *model)
{
    return model ? model->length_scale : 0;
}

/* ---- bodies ------------------------------------------------------------------------------------------------- */

static const ulna_body *body_at(const ulna_model *model, int body)
{
    return model && body >= 0 && body < model->nb ? &model->body[body] : NULL;
}

/* Binary search in an index sorted by name; `offset` points at the first item's name. */
static int find_by_name(const ulna_model *model, const int *index, int count, const int *offset, size_t stride,
                        const char *name)
{
    int low = 0, high = name ? count : 0;
    while (low < high) {
        int middle = low + (high - low) / 2, item = index[middle];
        int order = strcmp(name, model->names + *(const int *)((const char *)offset + (size_t)item * stride));
        if (order == 0)
            return item;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return ULNA_NONE;
}

int ulna_model_find_body(const ulna_model *model, const char *name)
{
    if (!model)
        return ULNA_NONE;
    return find_by_name(model, model->body_by_name, model->nb, &model->body->name, sizeof *model->body, name);
}

int ulna_model_find_joint(const ulna_model *model, const char *name)
{
    if (!model)
        return ULNA_NONE;
    return find_by_name(model, model->joint_by_name, model->nj, &model->body->joint_name, sizeof *model->body, name);
}

const char *ulna_model_joint_name(const ulna_model *model, int body)
{
    const ulna_body *b = body_at(model, body);
    return b ? model->names + b->joint_name : NULL;
}

const char *ulna_model_body_name(const ulna_model *model, int body)
{
    const ulna_body *b = body_at(model, body);
    return b ? model->names + b->name : NULL;
}

int ulna_model_body_parent(const ulna_model *model, int body)
{
    const ulna_body *b = body_at(model, body);
    return b ? b->parent : ULNA_NONE;
}

const ulna_joint *ulna_model_body_joint(const ulna_model *model, int body)
{
    return body_at(model, body) ? &model->joint[body] : NULL;
}

void *ulna_model_body_user_data(const ulna_model *model, int body)
{
    const ulna_body *b = body_at(model, body);
    return b ? b->user_data : NULL;
}

const ulna_mass *ulna_model_body_mass(const ulna_model *model, int body)
{
    return body_at(model, body) ? &model->mass[body] : NULL;
}

/* Copies a frame; either pointer may be NULL. */
static ulna_status give(const double from_position[3], const double from_rotation[9], double *position,
                        double *rotation)
{
    if (position)
        ulna_copy3(from_position, position);
    if (rotation)
        ulna_copy9(from_rotation, rotation);
    return ULNA_OK;
}

ulna_status ulna_model_body_placement(const ulna_model *model, int body, double position[3], double rotation[9])
{
    const ulna_body *b = body_at(model, body);
    return b ? give(b->placement_position, b->placement_rotation, position, rotation) : ULNA_ERR_ARGUMENT;
}

ulna_status ulna_model_body_offset(const ulna_model *model, int body, double position[3], double rotation[9])
{
    const ulna_body *b = body_at(model, body);
    return b ? give(b->offset_position, b->offset_rotation, position, rotation) : ULNA_ERR_ARGUMENT;
}

int ulna_model_body_dofs(const ulna_model *model, int body, int *first)
{
    const ulna_body *b = body_at(model, body);
    if (first)
        *first = b ? b->dof : ULNA_NONE;
    return b ? b->dof_count : ULNA_NONE;
}

int ulna_model_body_coordinates(const ulna_model *model, int body, int *first)
{
    const ulna_body *b = body_at(model, body);
    if (first)
        *first = b ? b->coordinate : ULNA_NONE;
    return b ? b->coordinate_count : ULNA_NONE;
}

double ulna_model_bone_length(const ulna_model *model, int body)
{
    return body_at(model, body) ? ulna_norm(ulna_body_bone(model, body)) : 0;
}

/* ---- ancestry ----------------------------------------------------------------------------------------------- */

int ulna_model_is_ancestor(const ulna_model *model, int ancestor, int body)
{
    const ulna_body *a = body_at(model, ancestor), *b = body_at(model, body);
    return a && b && b->preorder >= a->preorder && b->preorder < a->preorder + a->subtree;
}

int ulna_model_body_depth(const ulna_model *model, int body)
{
    const ulna_body *b = body_at(model, body);
    return b ? b->depth : ULNA_NONE;
}

int ulna_model_subtree(const ulna_model *model, int body, int *bodies)
{
    const ulna_body *b = body_at(model, body);
    if (b && bodies)
        memcpy(bodies, model->preorder + b->preorder, (size_t)b->subtree * sizeof *bodies);
    return b ? b->subtree : ULNA_NONE;
}

/* ---- degrees of freedom -------------------------------------------------------------------------------------- */

static int is_dof(const ulna_model *model, int dof)
{
    return model && dof >= 0 && dof < model->nv;
}

int ulna_model_dof_body(const ulna_model *model, int dof)
{
    return is_dof(model, dof) ? model->dof_body[dof] : ULNA_NONE;
}

int ulna_model_dof_is_translation(const ulna_model *model, int dof)
{
    return is_dof(model, dof) && ulna_segment_is_translation(model->dof_segment[dof]);
}

int ulna_model_dof_coordinate(const ulna_model *model, int dof)
{
    return is_dof(model, dof) ? model->dof_coordinate[dof] : ULNA_NONE;
}

int ulna_model_dof_label(const ulna_model *model, int dof, char *text, size_t size)
{
    static const char *const steps[] = {"Rx", "Ry", "Rz", "Tx", "Ty", "Tz"};
    size = text ? size : 0;
    if (!is_dof(model, dof)) {
        if (size > 0)
            text[0] = 0;
        return ULNA_NONE;
    }
    const ulna_body *body = &model->body[model->dof_body[dof]];
    const char *name = model->names + body->joint_name;
    unsigned segment = model->dof_segment[dof];
    if (body->dof_count == 1)
        return snprintf(text, size, "%s", name);
    if (segment >= ULNA_SEGMENT_BALL)
        return snprintf(text, size, "%s.w%d", name, model->dof_part[dof]);

    /* ZYZ turns about z twice: Rz, then Rz2 */
    int repeats = 1;
    for (int j = body->dof; j < dof; j++)
        repeats += model->dof_segment[j] == segment;
    return repeats == 1 ? snprintf(text, size, "%s.%s", name, steps[segment])
                        : snprintf(text, size, "%s.%s%d", name, steps[segment], repeats);
}

const double *ulna_model_lower(const ulna_model *model)
{
    return model ? model->lower : NULL;
}

const double *ulna_model_upper(const ulna_model *model)
{
    return model ? model->upper : NULL;
}

const double *ulna_model_strength(const ulna_model *model)
{
    return model ? model->strength : NULL;
}

const double *ulna_model_rest(const ulna_model *model)
{
    return model ? model->rest : NULL;
}

/* ---- markers ------------------------------------------------------------------------------------------------- */

static const ulna_marker *marker_at(const ulna_model *model, int marker)
{
    return model && marker >= 0 && marker < model->nm ? &model->marker[marker] : NULL;
}

int ulna_model_find_marker(const ulna_model *model, const char *name)
{
    if (!model || model->nm == 0)
        return ULNA_NONE;
    return find_by_name(model, model->marker_by_name, model->nm, &model->marker->name, sizeof *model->marker, name);
}

const char *ulna_model_marker_name(const ulna_model *model, int marker)
{
    const ulna_marker *m = marker_at(model, marker);
    return m ? model->names + m->name : NULL;
}

int ulna_model_marker_body(const ulna_model *model, int marker)
{
    const ulna_marker *m = marker_at(model, marker);
    return m ? m->body : ULNA_NONE;
}

double ulna_model_marker_weight(const ulna_model *model, int marker)
{
    const ulna_marker *m = marker_at(model, marker);
    return m ? m->weight : 0;
}

ulna_status ulna_model_marker_position(const ulna_model *model, int marker, double position[3])
{
    const ulna_marker *m = marker_at(model, marker);
    if (!m || !position)
        return ULNA_ERR_ARGUMENT;
    ulna_copy3(m->position, position);
    return ULNA_OK;
}
