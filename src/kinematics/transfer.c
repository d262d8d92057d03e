/*
 * Reading the pose of one skeleton as coordinates of another: after re-rooting, after an edit of the connectivity, or
 * with another kind of joint. From the root to the leaves, each joint takes the motion that puts its body where the
 * other skeleton has the body of the same name, given where its parent has come to stand. What one joint cannot follow
 * is thus made up for by those behind it where they can.
 *
 * Of several answers (Euler angles have two, rotation vectors many) a joint takes the one nearest to where `to_pose` is
 * placed, so that a clip read frame by frame stays continuous, or to the rest pose if it is not placed yet. A body
 * that the other skeleton lacks keeps its rest value. Limits are not looked at.
 */
#include "kinematics/jacobian.h"
#include "math/math3.h"

typedef struct frame {
    double rotation[9], position[3]; /* position relative to the origin of the pose that is read */
} frame;

static frame compose(const frame *a, const double rotation[9], const double position[3])
{
    frame result;
    ulna_compose(a->rotation, a->position, rotation, position, result.rotation, result.position);
    return result;
}

/* a^-1 b */
static frame between(const frame *a, const frame *b)
{
    frame inverse;
    ulna_invert(a->rotation, a->position, inverse.rotation, inverse.position);
    return compose(&inverse, b->rotation, b->position);
}

/* The largest distance between the origins, or between the tips of unit axes. */
static double frame_distance(const frame *a, const frame *b)
{
    double apart[3], largest;
    for (int i = 0; i < 3; i++)
        apart[i] = a->position[i] - b->position[i];
    largest = ulna_norm(apart);
    for (int axis = 0; axis < 3; axis++) {
        double tip[3];
        for (int i = 0; i < 3; i++)
            tip[i] = apart[i] + a->rotation[3 * i + axis] - b->rotation[3 * i + axis];
        largest = fmax(largest, ulna_norm(tip));
    }
    return largest;
}

ulna_status ulna_pose_transfer(const ulna_pose *from, ulna_pose *to_pose, double *to, double *error_m)
{
    if (!from || !to_pose || !to)
        return ULNA_ERR_ARGUMENT;
    if (!from->placed)
        return ULNA_ERR_STATE;

    const ulna_model *model = to_pose->model;
    frame *placed = (frame *)(void *)to_pose->scratch; /* nb of 12 doubles */
    double largest = 0;
    int matched = 0;
    for (int body = 0; body < model->nb; body++) {
        const ulna_body *b = &model->body[body];
        size_t coordinates = (size_t)b->coordinate_count * sizeof *to;
        double *q = to + b->coordinate;

        /* Where the joint starts. The world, seen from the origin of the pose that is read: */
        frame start;
        ulna_identity9(start.rotation);
        for (int i = 0; i < 3; i++)
            start.position[i] = -from->origin[i];
        if (b->parent >= 0)
            start = placed[b->parent];
        start = compose(&start, b->placement_rotation, b->placement_position);

        /* Where it should end. */
        ulna_joint_plan plan;
        ulna_joint_resolve(&model->joint[b->joint_index], &plan, NULL);
        int source = ulna_model_find_body(from->model, ulna_model_body_name(model, body));
        frame goal = {{0}, {0}};
        if (source >= 0) {
            frame back;
            ulna_pose_body_relative(from, source, goal.position, goal.rotation);
            ulna_invert(b->offset_rotation, b->offset_position, back.rotation, back.position);
            frame wanted = compose(&goal, back.rotation, back.position);
            frame motion = between(&start, &wanted);
            const double *near_q = to_pose->placed ? to_pose->q : model->rest;
            if (b->coordinate_count > 0)
                ulna_joint_fit(&plan, motion.rotation, motion.position, near_q + b->coordinate, q);
        } else if (b->coordinate_count > 0) {
            memcpy(q, model->rest + b->coordinate, coordinates);
        }

        /* Where it does end. */
        frame motion;
        double nothing[7] = {0};
        ulna_joint_motion(&plan, b->coordinate_count > 0 ? q : nothing, motion.rotation, motion.position);
        start = compose(&start, motion.rotation, motion.position);
        placed[body] = compose(&start, b->offset_rotation, b->offset_position);
        matched += source >= 0;
        if (source >= 0)
            largest = fmax(largest, frame_distance(&placed[body], &goal));
    }
    if (!matched)
        return ULNA_ERR_MODEL;
    if (error_m)
        *error_m = largest;
    return ulna_pose_forward(to_pose, to);
}
