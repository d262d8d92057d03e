/*
 * The same skeleton with other joints, and its motion in the coordinates of those.
 *
 * A joint is replaced where it stands: same placement, offset, frame and direction (`reversed`), so that the motions it
 * can make are the same and every pose has an answer. Coordinates are found joint by joint: the motion of the old joint is
 * fitted by the new one (model/joint_fit.c), near the frame before, and of the answers that give the same motion the
 * nearest one is taken (branch.c). So Euler angles go on past half a turn instead of jumping, and do not change families.
 */
#include "motion/convert.h"

#include "math/math3.h"
#include "model/model.h"
#include "motion/branch.h"

/* ---- which joint instead -------------------------------------------------------------------------------------------- */

typedef enum turning { NO_BALL, BALL, BALL_AND_SLIDES } turning;

/* Three rotations at the end of a sequence, after no translations or after one along each axis. */
static turning sequence_turning(const char *order)
{
    size_t steps = strlen(order) / 2, slides = steps < 3 ? 0 : steps - 3;
    unsigned axes = 0;
    for (size_t i = 0; i < steps; i++) {
        if ((order[2 * i] == 'T') != (i < slides))
            return NO_BALL;
        if (i > slides && order[2 * i + 1] == order[2 * i - 1])
            return NO_BALL;
        if (i < slides)
            axes |= 1u << (order[2 * i + 1] - 'x');
    }
    return steps == 3 ? BALL : steps == 6 && axes == 7 ? BALL_AND_SLIDES : NO_BALL;
}

static turning joint_turning(const ulna_joint *joint)
{
    switch (joint->type) {
    case ULNA_JOINT_EULER:
        return strlen(joint->order) == 3 ? BALL : NO_BALL;
    case ULNA_JOINT_BALL:
    case ULNA_JOINT_EXPMAP:
    case ULNA_JOINT_SWING_TWIST:
        return BALL;
    case ULNA_JOINT_FREE:
    case ULNA_JOINT_FREE_EULER:
        return BALL_AND_SLIDES;
    case ULNA_JOINT_SEQUENCE:
        return sequence_turning(joint->order);
    case ULNA_JOINT_FIXED:
    case ULNA_JOINT_REVOLUTE:
    case ULNA_JOINT_PRISMATIC:
    case ULNA_JOINT_PLANAR:
    case ULNA_JOINT_TYPE_COUNT:
        break;
    }
    return NO_BALL;
}

#define NO_BONE 1e-9 /* of the length scale: a shorter bone has no direction */

/* The bone of a body: to the first child that is not where the body is, in the axes of the joint. */
static void bone_direction(const ulna_model *model, int body, double direction[3])
{
    const ulna_body *b = &model->body[body];
    double way[3];
    ulna_copy3(b->offset_position, way);
    for (int at = b->preorder + 1; at < b->preorder + b->subtree;) {
        const ulna_body *child = &model->body[model->preorder[at]];
        if (ulna_norm(child->placement_position) > NO_BONE * model->length_scale) {
            ulna_rotate(b->offset_rotation, child->placement_position, way);
            ulna_accumulate3(b->offset_position, way);
            break;
        }
        at += child->subtree;
    }
    memcpy(direction, (double[]){0, 0, 1}, 3 * sizeof *direction);
    if (ulna_norm(way) > NO_BONE * model->length_scale)
        ulna_unrotate(model->joint[body].frame, way, direction);
}

/* A coupling is of coordinates: another kind of joint does not have them. */
static int is_coupled(const ulna_model *model, int body)
{
    for (int i = 0; i < model->nc; i++)
        if (model->dof_body[model->coupling[i].dof] == body || model->dof_body[model->coupling[i].master] == body)
            return 1;
    return 0;
}

/* 0 if the joint stays. */
static int other_joint(const ulna_model *model, int body, ulna_ball ball, ulna_joint *joint)
{
    const ulna_joint *old = &model->joint[body];
    turning turns = joint_turning(old);
    if (turns == NO_BALL || is_coupled(model, body))
        return 0;
    int has_letters =
        old->type == ULNA_JOINT_EULER || old->type == ULNA_JOINT_FREE_EULER || old->type == ULNA_JOINT_SEQUENCE;
    if (ball == ULNA_BALL_EULER) {
        if (has_letters)
            return 0;
        *joint = turns == BALL ? ulna_joint_euler("ZYX") : ulna_joint_free_euler("ZYX");
    } else if (turns == BALL_AND_SLIDES) { /* no joint has translations and a rotation vector */
        *joint = ulna_joint_free();
    } else if (ball == ULNA_BALL_QUATERNION) {
        *joint = ulna_joint_ball();
    } else if (ball == ULNA_BALL_EXPMAP) {
        *joint = ulna_joint_expmap();
    } else {
        double axis[3];
        bone_direction(model, body, axis);
        *joint = ulna_joint_swing_twist(axis, NULL);
    }
    ulna_copy9(old->frame, joint->frame);
    joint->reversed = old->reversed;
    return joint->type != old->type;
}

/* ---- another joint in place of one ------------------------------------------------------------------------------------ */

static int is_same9(const double a[9], const double b[9])
{
    int count = 0;
    while (count < 9 && a[count] == b[count])
        count++;
    return count == 9;
}

/* Do both joints move alike for the same coordinates, to the bit? */
static int plans_are_same(const ulna_joint_plan *a, const ulna_joint_plan *b)
{
    return a->segment_count == b->segment_count && a->sign == b->sign &&
           memcmp(a->segment, b->segment, (size_t)a->segment_count) == 0 && is_same9(a->pre, b->pre) &&
           is_same9(a->post, b->post);
}

static int count_limits(const ulna_builder_body *body)
{
    int count = 0;
    for (int k = 0; k < body->plan.dof_count; k++)
        count += isfinite(body->lower[k]) || isfinite(body->upper[k]);
    return count;
}

/* The strength of new rotations is the mean of the old ones. */
static double mean_strength(const ulna_builder_body *body)
{
    double sum = 0;
    int count = 0;
    for (int s = 0, k = 0; s < body->plan.segment_count; s++)
        for (int d = ulna_segment_dofs((ulna_segment)body->plan.segment[s]); d > 0; d--, k++)
            if (!ulna_segment_is_translation(body->plan.segment[s])) {
                sum += body->strength[k];
                count++;
            }
    return count ? sum / count : 1;
}

ulna_status ulna_builder_replace_joint(ulna_builder *builder, const ulna_model *model, int body,
                                       const ulna_joint *joint, const int from[6], int sign, int *dropped,
                                       ulna_error *error)
{
    const ulna_builder_body old = builder->body[body];
    double turning_strength = mean_strength(&old), rotation[9], translation[3], rest[7];
    ulna_joint_motion(&old.plan, model->rest + model->body[body].coordinate, rotation, translation);
    ulna_status status = ulna_builder_set_joint(builder, body, joint, error);
    if (status != ULNA_OK)
        return status;

    ulna_builder_body *fresh = &builder->body[body];
    for (int k = 0; k < fresh->plan.dof_count; k++) {
        fresh->strength[k] = from[k] == ULNA_NONE ? turning_strength : old.strength[from[k]];
        if (from[k] != ULNA_NONE) {
            fresh->lower[k] = sign < 0 ? -old.upper[from[k]] : old.lower[from[k]];
            fresh->upper[k] = sign < 0 ? -old.lower[from[k]] : old.upper[from[k]];
        }
    }
    if (dropped)
        *dropped += count_limits(&old) - count_limits(fresh);
    if (fresh->plan.coordinate_count == 0)
        return ULNA_OK;
    ulna_joint_fit(&fresh->plan, model->length_scale, rotation, translation, fresh->plan.zero, rest);
    for (int k = 0; k < fresh->plan.dof_count; k++) /* what is taken over stays exact, and so inside its limits */
        if (from[k] != ULNA_NONE && fresh->plan.coordinate_count == fresh->plan.dof_count &&
            old.plan.coordinate_count == old.plan.dof_count)
            rest[k] = sign * model->rest[model->body[body].coordinate + from[k]];
    return ulna_builder_set_rest(builder, body, rest, fresh->plan.coordinate_count, error);
}

/* Translations take over from those along the same axis; rotations are new. */
static void match_slides(const ulna_joint_plan *old, const ulna_joint_plan *fresh, int from[6])
{
    for (int s = 0, k = 0; s < fresh->segment_count; s++) {
        int found = ULNA_NONE;
        for (int o = 0, at = 0; ulna_segment_is_translation(fresh->segment[s]) && o < old->segment_count; o++) {
            found = old->segment[o] == fresh->segment[s] ? at : found;
            at += ulna_segment_dofs((ulna_segment)old->segment[o]);
        }
        for (int d = ulna_segment_dofs((ulna_segment)fresh->segment[s]); d > 0; d--)
            from[k++] = found;
    }
}

/* ---- limits of three angles as limits of a swing and a twist -------------------------------------------------------------- */

/* The axis of the rotation about coordinate axis `a` of a joint, at its zero pose. */
static void axis_of(const ulna_joint_plan *plan, int a, double axis[3])
{
    for (int i = 0; i < 3; i++)
        axis[i] = plan->pre[3 * i + a];
}

static double along(const ulna_joint_plan *old, int turn, const ulna_joint_plan *fresh, int a)
{
    double x[3], y[3];
    axis_of(old, old->segment[turn], x);
    axis_of(fresh, a, y);
    return ulna_dot(x, y);
}

/* The angle whose axis is nearest to the bone: its twist. */
static int twist_turn(const ulna_joint_plan *old, const ulna_joint_plan *fresh)
{
    int best = 0;
    for (int k = 1; k < 3; k++)
        best = fabs(along(old, k, fresh, 2)) > fabs(along(old, best, fresh, 2)) ? k : best;
    return best;
}

/* Where the bone lies along an axis of the angles, each angle's range; else that of the wider of the two swings, for both. Trackers add the cone. */
static void map_limits(const ulna_builder_body *old, int twist, const ulna_joint_plan *fresh, double lower[3],
                       double upper[3])
{
    const double aligned = 1 - 1e-9, near = 0.7;
    double widest = 0;
    int is_aligned = fabs(along(&old->plan, twist, fresh, 2)) > aligned;
    for (int k = 0; k < 3; k++)
        widest = k == twist ? widest : fmax(widest, fmax(fabs(old->lower[k]), fabs(old->upper[k])));
    for (int a = 0; a < 3; a++) {
        lower[a] = -(double)INFINITY;
        upper[a] = (double)INFINITY;
        if (a < 2 && !is_aligned && widest < ULNA_PI) {
            lower[a] = -widest;
            upper[a] = widest;
        }
        for (int k = 0; k < 3; k++) {
            double part = along(&old->plan, k, fresh, a);
            if (fabs(part) > aligned || (a == 2 && k == twist && fabs(part) > near)) {
                lower[a] = part > 0 ? old->lower[k] : -old->upper[k];
                upper[a] = part > 0 ? old->upper[k] : -old->lower[k];
            }
        }
    }
}

/* The rest pose stays, and so is inside. Returns the number of limits that the new joint has. */
static int take_over_limits(const ulna_builder_body *old, ulna_builder_body *fresh)
{
    double lower[3], upper[3];
    int count = 0, turns = old->plan.segment_count == 3 && old->plan.sign > 0 && fresh->plan.sign > 0;
    for (int s = 0; s < 3 && turns; s++)
        turns = old->plan.segment[s] <= ULNA_SEGMENT_RZ;
    if (!turns)
        return 0;
    map_limits(old, twist_turn(&old->plan, &fresh->plan), &fresh->plan, lower, upper);
    for (int k = 0; k < 3; k++) {
        fresh->lower[k] = fmin(lower[k], fresh->rest[k]);
        fresh->upper[k] = fmax(upper[k], fresh->rest[k]);
        count += isfinite(fresh->lower[k]) || isfinite(fresh->upper[k]);
    }
    return count;
}

ulna_status ulna_model_with_balls(const ulna_model *model, ulna_ball ball, const ulna_allocator *allocator,
                                  ulna_model **result, int *limits_dropped, ulna_error *error)
{
    if (limits_dropped)
        *limits_dropped = 0;
    if (!result)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the model given");
    *result = NULL;
    if (!model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no model given");
    if ((unsigned)ball > ULNA_BALL_SWING_TWIST)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "there is no ball joint of kind %d", (int)ball);
    ulna_builder *builder;
    ulna_status status = ulna_builder_from_model(model, allocator, &builder, error);
    if (status != ULNA_OK)
        return status;
    for (int b = 0; b < model->nb && status == ULNA_OK; b++) {
        ulna_joint joint;
        ulna_joint_plan plan;
        int from[6] = {0};
        if (!other_joint(model, b, ball, &joint))
            continue;
        status = ulna_joint_resolve(&joint, &plan, error);
        if (status == ULNA_OK) {
            const ulna_builder_body old = builder->body[b];
            match_slides(&builder->body[b].plan, &plan, from);
            status = ulna_builder_replace_joint(builder, model, b, &joint, from, 1, limits_dropped, error);
            int kept = status == ULNA_OK && joint.type == ULNA_JOINT_SWING_TWIST
                           ? take_over_limits(&old, &builder->body[b])
                           : 0;
            if (limits_dropped)
                *limits_dropped -= kept < count_limits(&old) ? kept : count_limits(&old);
        }
    }
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, allocator, result, error);
    ulna_builder_destroy(builder);
    return status;
}

/* ---- clips ------------------------------------------------------------------------------------------------------------ */

typedef struct joint_pair {
    ulna_joint_plan from, to;
    int is_same;
} joint_pair;

typedef struct conversion {
    const ulna_model *from, *to;
    joint_pair *pair; /* by body */
} conversion;

#define ALLOWED 1e-9 /* difference of two placements: entries of a rotation, or length scales */

/* The bodies and where their joints sit; joints are what may differ. */
static ulna_status check_skeletons(const ulna_model *from, const ulna_model *to, ulna_error *error)
{
    if (from->nb != to->nb)
        return ulna_fail(error, ULNA_ERR_MODEL, "one skeleton has %d bodies, the other %d", from->nb, to->nb);
    const double length = from->length_scale;
    for (int i = 0; i < from->nb; i++) {
        const ulna_body *a = &from->body[i], *b = &to->body[i];
        if (a->parent != b->parent || strcmp(from->names + a->name, to->names + b->name) != 0)
            return ulna_fail(error, ULNA_ERR_MODEL, "body %d differs in name or parent: \"%.80s\" and \"%.80s\"", i,
                             from->names + a->name, to->names + b->name);
        if (ulna_motion_distance(a->placement_rotation, a->placement_position, b->placement_rotation,
                                 b->placement_position, length) > ALLOWED ||
            ulna_motion_distance(a->offset_rotation, a->offset_position, b->offset_rotation, b->offset_position,
                                 length) > ALLOWED)
            return ulna_fail(error, ULNA_ERR_MODEL,
                             "body \"%.80s\" has another position or orientation on its parent in the other skeleton",
                             from->names + a->name);
    }
    return ULNA_OK;
}

/* Coordinates of one joint in one frame. `near_q` is those of the frame before, or the rest pose. 0 if the joint cannot
 * make the motion. */
static int convert_joint(const joint_pair *pair, double length, const double *from_q, const double *near_q,
                         double *to_q)
{
    double rotation[9], translation[3], reached[9], place[3];
    ulna_joint_motion(&pair->from, from_q, rotation, translation);
    if (pair->to.coordinate_count > 0) {
        ulna_joint_fit(&pair->to, length, rotation, translation, near_q, to_q);
        ulna_joint_settle(&pair->to, near_q, to_q);
    }
    ulna_joint_motion(&pair->to, to_q, reached, place);
    return ulna_motion_distance(rotation, translation, reached, place, length + ulna_norm(translation)) <= 1e-8;
}

/* The first frame begins in the family of angles that the limits allow, if only the other one does. */
static void enter_limits(const ulna_model *to, int body, const ulna_joint_plan *plan, const double *near_q, double *q)
{
    double other[7];
    if (ulna_joint_is_inside(to, body, 0, q) || !ulna_joint_other_family(plan, q, other))
        return;
    for (int s = 0; s < plan->segment_count; s++)
        if (!ulna_segment_is_translation(plan->segment[s]))
            other[s] = ulna_nearest_turn(other[s], near_q[s]);
    if (ulna_joint_is_inside(to, body, 0, other))
        memcpy(q, other, (size_t)plan->coordinate_count * sizeof *q);
}

static ulna_status convert_frame(const conversion *c, const ulna_clip *clip, ulna_clip *result, int frame,
                                 ulna_error *error)
{
    double nothing[7] = {0}; /* in place of the numbers that a joint or a whole skeleton does not have */
    const double *from_q = c->from->nq ? ulna_clip_frame(clip, frame) : nothing;
    long long number = (long long)clip->first_frame + frame;
    int wrong;
    if (ulna_model_check_q(c->from, from_q, &wrong) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_NUMBER, "frame %lld: coordinate %d is not a valid number", number, wrong);
    for (int b = 0; b < c->to->nb; b++) {
        const joint_pair *pair = &c->pair[b];
        int at = c->to->body[b].coordinate, moves = pair->to.coordinate_count > 0;
        const double *source = pair->from.coordinate_count ? from_q + c->from->body[b].coordinate : nothing;
        const double *near_q = !moves ? nothing : frame ? ulna_clip_frame(result, frame - 1) + at : c->to->rest + at;
        double *target = moves ? ulna_clip_frame(result, frame) + at : nothing;
        if (pair->is_same) {
            memcpy(target, source, (size_t)pair->to.coordinate_count * sizeof *target);
        } else if (!convert_joint(pair, c->to->length_scale, source, near_q, target)) {
            return ulna_fail(error, ULNA_ERR_MODEL,
                             "frame %lld: the new joint of \"%.80s\" cannot represent its motion", number,
                             c->to->names + c->to->body[b].name);
        } else if (frame == 0 && moves) {
            enter_limits(c->to, b, &pair->to, near_q, target);
        }
    }
    return ULNA_OK;
}

static ulna_status convert_clip(conversion *c, const ulna_clip *clip, ulna_clip *result, ulna_error *error)
{
    ulna_status status = ulna_clip_resize(result, c->to->nq, clip->frame_count);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for %d frames", clip->frame_count);
    for (int b = 0; b < c->to->nb; b++) {
        joint_pair *pair = &c->pair[b];
        ulna_joint_resolve(&c->from->joint[b], &pair->from, NULL);
        ulna_joint_resolve(&c->to->joint[b], &pair->to, NULL);
        pair->is_same = plans_are_same(&pair->from, &pair->to);
    }
    for (int f = 0; status == ULNA_OK && f < clip->frame_count; f++)
        status = convert_frame(c, clip, result, f, error);
    return status;
}

ulna_status ulna_clip_convert(const ulna_model *from, const ulna_clip *clip, const ulna_model *to, ulna_clip *result,
                              ulna_error *error)
{
    if (!from || !clip || !to || !result)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "two models, a clip and a pointer for the new clip are needed");
    if (clip->frame_count > 0 && clip->coordinate_count != from->nq)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "the clip has %d coordinates per frame, but its skeleton has %d",
                         clip->coordinate_count, from->nq);
    ulna_status status = check_skeletons(from, to, error);
    if (status != ULNA_OK)
        return status;
    ulna_clip fresh = ulna_clip_empty(&result->allocator);
    conversion c = {from, to, ulna_allocate(&fresh.allocator, (size_t)to->nb, sizeof *c.pair)};
    status = c.pair ? convert_clip(&c, clip, &fresh, error)
                    : ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %d joints", to->nb);
    ulna_release(&fresh.allocator, c.pair, (size_t)to->nb, sizeof *c.pair);
    if (status != ULNA_OK) {
        ulna_clip_release(&fresh);
        return status;
    }
    fresh.first_frame = clip->first_frame;
    fresh.frame_seconds = clip->frame_seconds;
    ulna_clip_release(result); /* which may be `clip` */
    *result = fresh;
    return ULNA_OK;
}

/* The joint of a body in frame f, nearest to the frame before. */
static void unwind_joint(const ulna_model *model, int b, const ulna_joint_plan *plan, ulna_clip *clip, int f)
{
    int at = model->body[b].coordinate;
    size_t bytes = (size_t)plan->coordinate_count * sizeof(double);
    double *q = ulna_clip_frame(clip, f) + at, settled[7];
    memcpy(settled, q, bytes);
    if (!ulna_joint_settle(plan, ulna_clip_frame(clip, f - 1) + at, settled))
        return;
    if (ulna_joint_is_inside(model, b, 0, settled) || !ulna_joint_is_inside(model, b, 0, q))
        memcpy(q, settled, bytes);
}

/* Whether a frame has to be looked at: in most, every rotation is near that of the frame before. */
static int may_be_wound(int count, const ulna_settled *within, const double *before, const double *now)
{
    const double *step = within->step, *least = within->least, *most = within->most;
    long long signs = 0;
    for (int i = 0; i < count; i++) {
        double by = fabs(now[i] - before[i]), off = fabs(fabs(now[i]) - 0.5 * ULNA_PI);
        signs |= ulna_sign_bits(step[i] - by) | ulna_sign_bits(off - least[i]) | ulna_sign_bits(most[i] - off);
    }
    return signs < 0;
}

ulna_status ulna_clip_unwind(const ulna_model *model, ulna_clip *clip)
{
    if (!model || !clip || (clip->frame_count > 0 && clip->coordinate_count != model->nq))
        return ULNA_ERR_ARGUMENT;
    size_t count = (size_t)model->nb, nq = (size_t)model->nq;
    ulna_joint_plan *plans = ulna_allocate(&model->allocator, count, sizeof *plans);
    double *bounds = ulna_allocate(&model->allocator, 3 * nq, sizeof *bounds);
    ulna_settled within = {bounds, bounds + nq, bounds + 2 * nq};
    ulna_status status = plans && bounds ? ULNA_OK : ULNA_ERR_MEMORY;
    for (int b = 0; b < model->nb && status == ULNA_OK; b++) {
        ulna_joint_resolve(&model->joint[b], &plans[b], NULL);
        ulna_joint_settled_within(&plans[b], model->body[b].coordinate, &within);
    }
    for (int f = 1; f < clip->frame_count && status == ULNA_OK; f++) { /* memory is read in its order */
        if (!may_be_wound(model->nq, &within, ulna_clip_frame(clip, f - 1), ulna_clip_frame(clip, f)))
            continue;
        for (int b = 0; b < model->nb; b++)
            if (plans[b].coordinate_count > 0)
                unwind_joint(model, b, &plans[b], clip, f);
    }
    ulna_release(&model->allocator, plans, count, sizeof *plans);
    ulna_release(&model->allocator, bounds, 3 * nq, sizeof *bounds);
    return status;
}
