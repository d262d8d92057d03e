/*
 * Reading the pose of one skeleton as coordinates of another: after re-rooting, after an edit of the connectivity, or
 * with another kind of joint. From the root to the leaves, each joint takes the motion that puts its body where the
 * other skeleton has the body of the same name, given where its parent is then. What one joint cannot follow
 * is corrected by those after it where they can.
 *
 * Of several answers (Euler angles have two, rotation vectors many) a joint takes the one nearest to where `to_pose` is
 * placed, so that a clip read frame by frame stays continuous, or to the rest pose if it is not placed yet. Only if
 * that one lies outside the joint's limits and another answer, which gives the same motion, lies inside, the other is
 * taken. A motion that the joint cannot make inside its limits is made outside them. A body that the other skeleton
 * lacks keeps its rest value.
 *
 * Not searched for an answer inside the limits: joints of four rotations or more, and the family of answers in gimbal lock.
 */
#include "kinematics/jacobian.h"
#include "math/math3.h"
#include "model/model.h"

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
    ulna_subtract3(a->position, b->position, apart);
    largest = ulna_norm(apart);
    for (int axis = 0; axis < 3; axis++) {
        double tip[3];
        for (int i = 0; i < 3; i++)
            tip[i] = apart[i] + a->rotation[3 * i + axis] - b->rotation[3 * i + axis];
        largest = fmax(largest, ulna_norm(tip));
    }
    return largest;
}

/* ---- the answer inside the limits ---- */

/* A coordinate that misses its limit by less is moved onto it, as the builder does with rest values. */
#define SLACK 1e-9

static void clamp(const ulna_model *model, const ulna_body *b, double *q)
{
    for (int j = b->dof; j < b->dof + b->dof_count; j++) {
        int c = model->dof_coordinate[j];
        if (c != ULNA_NONE)
            q[c - b->coordinate] = fmin(fmax(q[c - b->coordinate], model->lower[j]), model->upper[j]);
    }
}

/* The angle plus the fewest whole turns that bring it between two others, or as it is if none do. */
static double turn_between(double angle, double low, double high)
{
    double turned = angle;
    if (angle < low)
        turned += 2 * ULNA_PI * ceil((low - angle) / (2 * ULNA_PI));
    else if (angle > high)
        turned -= 2 * ULNA_PI * ceil((angle - high) / (2 * ULNA_PI));
    return turned >= low && turned <= high ? turned : angle;
}

/* Full turns of a rotation or rotation vector: along its direction, as far as the limits cut it there. */
static void turn_vector(int count, const double *lower, const double *upper, double *w)
{
    double direction[3] = {1, 0, 0}, length = sqrt(ulna_inner(count, w, w)), low = -INFINITY, high = INFINITY;
    for (int i = 0; i < count && i < 3; i++) {
        double u = direction[i] = length > 0 ? w[i] / length : direction[i];
        if (u != 0) {
            double one = (lower[i] - SLACK) / u, other = (upper[i] + SLACK) / u;
            low = fmax(low, fmin(one, other));
            high = fmin(high, fmax(one, other));
        }
    }
    double turned = turn_between(length, low, high);
    for (int i = 0; i < count && i < 3 && turned != length; i++)
        w[i] = turned * direction[i];
}

static void turn_segments(const ulna_model *model, const ulna_body *b, const ulna_joint_plan *plan, double *q)
{
    const double *lower = model->lower + b->dof, *upper = model->upper + b->dof;
    for (int s = 0; s < plan->segment_count; s++) {
        ulna_segment segment = (ulna_segment)plan->segment[s];
        int count = ulna_segment_dofs(segment);
        if (segment != ULNA_SEGMENT_BALL && !ulna_segment_is_translation(segment))
            turn_vector(count, lower, upper, q);
        q += ulna_segment_coordinates(segment);
        lower += count;
        upper += count;
    }
}

/* The other set of three rotations, near `near_q`; 0 for joints that have none. */
static int other_branch(const ulna_joint_plan *plan, const double *near_q, const double *q, double *other)
{
    int turn[3];
    if (!ulna_joint_three_turns(plan, turn) || !ulna_joint_other_family(plan, q, other))
        return 0;
    for (int n = 0; n < 3; n++)
        other[turn[n]] = turn_between(other[turn[n]], near_q[turn[n]] - ULNA_PI, near_q[turn[n]] + ULNA_PI);
    return 1;
}

/* Takes the nearest answer inside the limits, if there is one. */
static void enter_limits(const ulna_model *model, int body, const ulna_joint_plan *plan, const double *near_q,
                         double *q)
{
    const ulna_body *b = &model->body[body];
    if (!ulna_joint_is_inside(model, body, SLACK, q)) {
        double answer[2][7], distance[2] = {INFINITY, INFINITY};
        memcpy(answer[0], q, (size_t)plan->coordinate_count * sizeof *q);
        int count = other_branch(plan, near_q, q, answer[1]) ? 2 : 1;
        for (int n = 0; n < count; n++) {
            turn_segments(model, b, plan, answer[n]);
            if (ulna_joint_is_inside(model, body, SLACK, answer[n]))
                distance[n] = ulna_squared_distance(near_q, answer[n], plan->coordinate_count);
        }
        int best = distance[1] < distance[0];
        if (isinf(distance[best]))
            return;
        memcpy(q, answer[best], (size_t)plan->coordinate_count * sizeof *q);
    }
    clamp(model, b, q);
}

/* ---- body by body ---- */

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
        ulna_joint_resolve(&model->joint[body], &plan, NULL);
        int source = ulna_model_find_body(from->model, ulna_model_body_name(model, body));
        frame goal = {{0}, {0}};
        if (source >= 0) {
            frame back;
            ulna_pose_body_relative(from, source, goal.position, goal.rotation);
            ulna_invert(b->offset_rotation, b->offset_position, back.rotation, back.position);
            frame wanted = compose(&goal, back.rotation, back.position);
            frame motion = between(&start, &wanted);
            if (b->coordinate_count > 0) {
                const double *near_q = (to_pose->placed ? to_pose->q : model->rest) + b->coordinate;
                ulna_joint_fit(&plan, model->length_scale, motion.rotation, motion.position, near_q, q);
                enter_limits(model, body, &plan, near_q, q);
            }
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
    ulna_model_couple(model, to);
    return ulna_pose_forward(to_pose, to);
}
