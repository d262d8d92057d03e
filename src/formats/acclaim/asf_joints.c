/*
 * Joints as Acclaim can say them: slides, then turns, each about or along another axis of one frame. Any other joint is
 * replaced by the nearest such one that makes all its motions:
 *
 *   quaternion, rotation vector, swing-twist     turns z y x
 *   the same axis twice (ZXZ, RxTyRx)            turns z y x
 *   slides after turns                           slides along all three axes
 *   reversed                                     the same turns, by the angles with the other sign
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/acclaim/acclaim.h"
#include "math/math3.h"
#include "motion/convert.h"

typedef struct saying {
    char turns[4], slides[4];            /* "ZYX", "xyz" */
    int has_same_turns, has_same_slides; /* each is one of the old joint */
    int is_general;                      /* the old joint has no such parts at all */
} saying;

static saying say_joint(const ulna_joint_plan *plan)
{
    saying s = {.has_same_turns = 1, .has_same_slides = 1};
    unsigned turned = 0, slid = 0;
    int turns = 0, slides = 0;
    for (int i = 0; i < plan->segment_count; i++) {
        unsigned segment = plan->segment[i];
        if (ulna_segment_is_slide(segment)) {
            unsigned bit = 1u << (segment - ULNA_SEGMENT_TX);
            s.has_same_slides = s.has_same_slides && !turns && !s.is_general && !(slid & bit);
            slid |= bit;
        } else if (segment >= ULNA_SEGMENT_BALL || turned & 1u << segment) {
            s.is_general |= segment >= ULNA_SEGMENT_BALL;
            s.has_same_turns = 0;
        } else {
            turned |= 1u << segment;
            s.turns[turns++] = (char)('X' + segment);
        }
    }
    if (!s.has_same_turns)
        memcpy(s.turns, "ZYX", 4);
    for (unsigned axis = 0; axis < 3 && slid; axis++)
        if (!s.has_same_slides || slid & 1u << axis)
            s.slides[slides++] = (char)('x' + axis);
    return s;
}

static ulna_joint make_joint(const ulna_model *model, int body, const ulna_joint_plan *plan, const saying *s)
{
    char order[16] = "";
    size_t used = 0;
    for (const char *c = s->slides; *c; c++)
        used += (size_t)snprintf(order + used, sizeof order - used, "T%c", *c);
    for (const char *c = s->turns; *c; c++)
        used += (size_t)snprintf(order + used, sizeof order - used, "R%c", *c - 'X' + 'x');
    int is_free = strlen(s->slides) == 3 && strlen(s->turns) == 3;
    ulna_joint joint = is_free        ? ulna_joint_free_euler(s->turns)
                       : s->slides[0] ? ulna_joint_sequence(order)
                                      : ulna_joint_euler(s->turns);
    if (is_free && body == 0) /* about the axes of the world: readers do not agree on what `orientation` means */
        ulna_transpose9(model->body[0].placement_rotation, joint.frame);
    else
        ulna_copy9(s->is_general ? model->joint[body].frame : plan->pre, joint.frame);
    return joint;
}

/* Which old degree of freedom a new one is. Those that stay stand before all that have no single number. */
static void match_dofs(const ulna_joint_plan *old, const ulna_joint_plan *fresh, const saying *s, int from[6])
{
    double turned = 0;
    for (int i = 0; i < 9; i++)
        turned = fmax(turned, fabs(old->pre[i] - fresh->pre[i]));
    for (int i = 0; i < fresh->segment_count; i++) {
        int stays =
            turned < 1e-12 && (ulna_segment_is_slide(fresh->segment[i]) ? s->has_same_slides : s->has_same_turns);
        from[i] = ULNA_NONE;
        for (int o = 0; o < old->segment_count && stays; o++)
            if (old->segment[o] == fresh->segment[i])
                from[i] = o;
    }
}

static ulna_status replace_joint(const ulna_model *model, ulna_builder *builder, int body, int *dropped,
                                 ulna_error *error)
{
    const ulna_joint_plan old = builder->body[body].plan;
    saying s = say_joint(&old);
    ulna_joint joint = make_joint(model, body, &old, &s);
    ulna_joint_plan fresh;
    int from[6];
    ulna_status status = ulna_joint_resolve(&joint, &fresh, error);
    if (status != ULNA_OK)
        return status;
    match_dofs(&old, &fresh, &s, from);
    return ulna_builder_replace_joint(builder, model, body, &joint, from, old.sign, dropped, error);
}

static void remark_changes(const ulna_model *model, int changed, int first, int dropped, ulna_remarks *remarks)
{
    ulna_remarks_add(remarks, 0, -1, "%d joint%s written as angles, which is what such a file knows: '%.60s' (%s%s)%s",
                     changed, changed > 1 ? "s are" : " is", ulna_model_body_name(model, first),
                     model->joint[first].reversed ? "reversed " : "", ulna_joint_type_name(model->joint[first].type),
                     changed > 1 ? " and others" : "");
    if (dropped)
        ulna_remarks_add(remarks, 0, -1, "limits of %d degree%s of freedom are lost with that", dropped,
                         dropped > 1 ? "s" : "");
}

ulna_status ulna_acclaim_model(const ulna_model *model, const ulna_allocator *allocator, ulna_model **result,
                               ulna_remarks *remarks, ulna_error *error)
{
    ulna_builder *builder = NULL;
    ulna_status status = ULNA_OK;
    int changed = 0, first = 0, dropped = 0;
    *result = NULL;
    for (int b = 0; b < model->nb && status == ULNA_OK; b++) {
        ulna_acclaim_channels channels;
        ulna_joint_plan plan;
        ulna_joint_resolve(&model->joint[b], &plan, NULL);
        if (ulna_acclaim_channels_of(&plan, &channels))
            continue;
        first = changed++ ? first : b;
        if (!builder)
            status = ulna_builder_from_model(model, allocator, &builder, error);
        if (status == ULNA_OK)
            status = replace_joint(model, builder, b, &dropped, error);
    }
    if (status == ULNA_OK && builder)
        status = ulna_builder_build(builder, allocator, result, error);
    ulna_builder_destroy(builder);
    if (status == ULNA_OK && changed)
        remark_changes(model, changed, first, dropped, remarks);
    return status;
}
