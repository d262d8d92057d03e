/* From what an ASF file says to a skeleton: tree, places, joints, limits, free ends. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/acclaim/asf_read.h"
#include "math/math3.h"

/* Every bone must lead to the root. */
static ulna_status check_tree(ulna_asf_reader *r)
{
    for (int b = 1; b < (int)r->bone_count; b++) {
        int at = b;
        while (at > 0 && !r->bone[at].mark) {
            r->bone[at].mark = b;
            at = r->builder->body[at].parent;
        }
        if (at == ULNA_NONE || (at > 0 && r->bone[at].mark == b)) {
            ulna_fail(r->error, ULNA_ERR_MODEL, "bone '%.60s' does not hang on the root", ulna_names_at(&r->names, b));
            return ulna_asf_fail_earlier(r, r->bone[b].line, ULNA_ERR_MODEL);
        }
    }
    return ULNA_OK;
}

/* Which of the bone's listed degrees of freedom is the joint's k-th: slides along x, y, z, then turns, last applied
 * first. */
static int joint_order(const ulna_asf_bone *bone, int order[ULNA_ASF_DOFS])
{
    int count = 0;
    for (int axis = 'x'; axis <= 'z'; axis++)
        for (int i = 0; i < bone->dof_count; i++)
            if (bone->dof[i][0] == 't' && bone->dof[i][1] == axis)
                order[count++] = i;
    for (int i = bone->dof_count - 1; i >= 0; i--)
        if (bone->dof[i][0] == 'r')
            order[count++] = i;
    return count;
}

/* The turns come in another order than the letters of `axis`. That is as it should be, but programs differ there. */
static int is_reordered(const ulna_asf_bone *bone)
{
    const char *last = bone->axis_order;
    for (int i = 0; i < bone->dof_count; i++)
        if (bone->dof[i][0] == 'r') {
            const char *at = strchr(bone->axis_order, bone->dof[i][1] - 'x' + 'X');
            if (at < last)
                return 1;
            last = at;
        }
    return 0;
}

static ulna_status set_limits(ulna_asf_reader *r, int body, const int order[ULNA_ASF_DOFS], int count)
{
    const ulna_asf_bone *bone = &r->bone[body];
    ulna_status status = ULNA_OK;
    for (int k = 0; k < count && status == ULNA_OK; k++) {
        if (bone->limit_count <= 2 * order[k])
            continue;
        double scale = bone->dof[order[k]][0] == 't' ? r->unit : r->angle;
        double low = bone->limit[2 * order[k]] * scale, high = bone->limit[2 * order[k] + 1] * scale;
        if (low > high && !r->swapped++)
            r->swapped_line = bone->line;
        status = ulna_builder_set_limits(r->builder, body, k, fmin(low, high), fmax(low, high), r->error);
    }
    return status;
}

static ulna_status set_joint(ulna_asf_reader *r, int body)
{
    const ulna_asf_bone *bone = &r->bone[body];
    int order[ULNA_ASF_DOFS], count = joint_order(bone, order), slides = 0;
    if (count == 0)
        return ULNA_OK;
    char text[2 * ULNA_ASF_DOFS + 1] = "", turns[4] = "";
    for (int k = 0; k < count; k++) {
        char kind = bone->dof[order[k]][0], axis = bone->dof[order[k]][1];
        text[2 * k] = kind == 't' ? 'T' : 'R';
        text[2 * k + 1] = axis;
        slides += kind == 't';
        if (kind == 'r')
            turns[k - slides] = (char)(axis - 'x' + 'X');
    }
    ulna_joint joint = count == 6 ? ulna_joint_free_euler(turns)
                       : slides   ? ulna_joint_sequence(text)
                                  : ulna_joint_euler(turns);
    if (body > 0) {
        double angles[3] = {bone->axis[0] * r->angle, bone->axis[1] * r->angle, bone->axis[2] * r->angle};
        ulna_acclaim_axis(angles, bone->axis_order, joint.frame);
    }
    if (is_reordered(bone) && !r->reordered++)
        r->reordered_line = bone->line;
    ulna_status status = ulna_builder_set_joint(r->builder, body, &joint, r->error);
    return status == ULNA_OK ? set_limits(r, body, order, count) : status;
}

static ulna_status place_bone(ulna_asf_reader *r, int body)
{
    const ulna_asf_bone *bone = &r->bone[body];
    double at[3] = {0, 0, 0}, rotation[9];
    if (body > 0) {
        int parent = r->builder->body[body].parent;
        ulna_acclaim_tip(r->bone[parent].direction, r->bone[parent].length, r->unit, at);
        return ulna_builder_set_placement(r->builder, body, at, NULL, r->error);
    }
    double angles[3] = {bone->axis[0] * r->angle, bone->axis[1] * r->angle, bone->axis[2] * r->angle};
    for (int k = 0; k < 3; k++)
        at[k] = r->position[k] * r->unit;
    ulna_acclaim_axis(angles, bone->axis_order, rotation);
    return ulna_builder_set_placement(r->builder, body, at, rotation, r->error);
}

/* The free end of a bone, so that a leaf has a length. */
static ulna_status add_end(ulna_asf_reader *r, int body)
{
    char stem[ULNA_ASF_NAME + 8], name[ULNA_ASF_NAME];
    double tip[3];
    int end;
    ulna_acclaim_tip(r->bone[body].direction, r->bone[body].length, r->unit, tip);
    snprintf(stem, sizeof stem, "%s_end", ulna_names_at(&r->names, body));
    if ((tip[0] == 0 && tip[1] == 0 && tip[2] == 0) || !ulna_acclaim_free_name(&r->names, stem, name))
        return ULNA_OK;
    ulna_status status = ulna_names_add(&r->names, name);
    if (status != ULNA_OK)
        return ulna_fail(r->error, status, "no memory for the end of a bone");
    status = ulna_builder_add_body(r->builder, name, body, &end, r->error);
    return status == ULNA_OK ? ulna_builder_set_placement(r->builder, end, tip, NULL, r->error) : status;
}

/* Which coordinate each listed degree of freedom became. */
static ulna_status list_channels(ulna_asf_reader *r)
{
    ulna_content *c = r->content;
    int total = 0;
    for (size_t b = 0; b < r->bone_count; b++)
        total += r->bone[b].dof_count;
    c->channels = ulna_allocate(&c->remarks.allocator, (size_t)total, sizeof *c->channels);
    if (total && !c->channels)
        return ulna_fail(r->error, ULNA_ERR_MEMORY, "no memory for %d channels", total);
    c->channel_count = total;
    for (size_t b = 0, at = 0; b < r->bone_count; b++) {
        int order[ULNA_ASF_DOFS], count = joint_order(&r->bone[b], order), first;
        int body = ulna_model_find_body(c->model, ulna_names_at(&r->names, (int)b));
        ulna_model_body_coordinates(c->model, body, &first);
        for (int k = 0; k < count; k++)
            c->channels[at + (size_t)order[k]] = first + k;
        at += (size_t)count;
    }
    return ULNA_OK;
}

static void remark_oddities(ulna_asf_reader *r)
{
    ulna_remarks *remarks = &r->content->remarks;
    if (!r->has_unit && !(r->options->unit_m > 0))
        ulna_remarks_add(remarks, 0, -1, "the unit of length is not told; 1/0.45 inch is taken, as is usual");
    if (!r->has_order)
        ulna_remarks_add(remarks, r->bone[0].line, -1, "the root has no order; TX TY TZ RX RY RZ is taken");
    if (r->swapped)
        ulna_remarks_add(remarks, r->swapped_line, -1, "limits are the wrong way round and are swapped (%d times)",
                         r->swapped);
    if (r->reordered)
        ulna_remarks_add(remarks, r->reordered_line, -1,
                         "turns are listed in another order than in `axis` (%d times); they are applied as listed",
                         r->reordered);
    if (r->ignored)
        ulna_remarks_add(remarks, 0, -1, "%d lines with other keywords were passed over", r->ignored);
}

ulna_status ulna_asf_make_skeleton(ulna_asf_reader *r)
{
    static const char custom[ULNA_ASF_DOFS][2] = {"tx", "ty", "tz", "rx", "ry", "rz"};
    if (!r->has_order) {
        memcpy(r->bone[0].dof, custom, sizeof custom);
        r->bone[0].dof_count = ULNA_ASF_DOFS;
    }
    if (r->options->unit_m > 0)
        r->unit = r->options->unit_m;
    ulna_status status = check_tree(r);
    if (status != ULNA_OK)
        return status;
    for (int b = 0, count = (int)r->bone_count; b < count; b++) {
        status = place_bone(r, b);
        if (status == ULNA_OK)
            status = set_joint(r, b);
        if (status == ULNA_OK && b > 0 && !r->bone[b].has_children)
            status = add_end(r, b);
        if (status != ULNA_OK)
            return ulna_asf_fail_earlier(r, r->bone[b].line, status);
    }
    status = ulna_builder_build(r->builder, &r->content->remarks.allocator, &r->content->model, r->error);
    if (status != ULNA_OK)
        return status;
    remark_oddities(r);
    return list_channels(r);
}
