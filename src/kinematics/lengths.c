/*
 * How a point moves when a bone grows. A bone is a body's placement; growing it shifts the body and all that hangs
 * on it along the placement's direction, in the parent's axes, without any turn. So the column is that direction in the
 * world. It does not depend on the point.
 */
#include "kinematics/jacobian.h"
#include "math/math3.h"

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
        const ulna_body *b = &model->body[body];
        double length = ulna_norm(b->placement_position);
        if (length == 0)
            continue;
        double direction[3], *column = jacobian + 3 * (size_t)body;
        for (int i = 0; i < 3; i++)
            direction[i] = b->placement_position[i] / length;
        if (b->parent < 0) {
            ulna_copy3(direction, column);
        } else {
            double rotation[9];
            ulna_pose_body_relative(pose, b->parent, NULL, rotation);
            ulna_rotate(rotation, direction, column);
        }
    }
    return ULNA_OK;
}
