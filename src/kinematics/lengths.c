/*
 * How a point moves when a bone grows. A bone is a body's placement, or its offset if the joint is reversed (model.h).
 * Growing it shifts the body and all that hangs on it along the bone, without any turn. So the column is the bone's
 * direction in the world: a placement is given in the axes of the parent, an offset in those at the end of the joint. It
 * does not depend on the point.
 */
#include "kinematics/jacobian.h"
#include "math/math3.h"

/* The rotation of the frame that the bone is given in. */
static void axes_of_bone(const ulna_pose *pose, int body, double rotation[9])
{
    const ulna_body *b = &pose->model->body[body];
    if (pose->model->joint[body].reversed) {
        double after[9], back[9];
        ulna_pose_body_relative(pose, body, NULL, after);
        ulna_transpose9(b->offset_rotation, back);
        ulna_multiply9(after, back, rotation);
    } else if (b->parent >= 0) {
        ulna_pose_body_relative(pose, b->parent, NULL, rotation);
    } else {
        ulna_identity9(rotation);
    }
}

ulna_status ulna_pose_length_jacobian(const ulna_pose *pose, const ulna_effector *effector, double *jacobian)
{
    if (!pose || !jacobian)
        return ULNA_ERR_ARGUMENT;
    const ulna_model *model = pose->model;
    ulna_status status = ulna_effector_check(model, effector);
    if (status)
        return status;
    if (!pose->placed)
        return ULNA_ERR_STATE;

    memset(jacobian, 0, 3 * (size_t)model->nb * sizeof *jacobian);
    for (int body = effector->body; body >= 0; body = model->body[body].parent) {
        const double *bone = ulna_body_bone(model, body);
        double length = ulna_norm(bone), rotation[9];
        if (length == 0)
            continue;
        double direction[3], *column = jacobian + 3 * (size_t)body;
        for (int i = 0; i < 3; i++)
            direction[i] = bone[i] / length;
        axes_of_bone(pose, body, rotation);
        ulna_rotate(rotation, direction, column);
    }
    return ULNA_OK;
}
