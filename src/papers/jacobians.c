/* The explicit Jacobian by any route: each fills twists, in the axes of the world or of the body. */
#include "papers/jacobians.h"

typedef struct route {
    void (*fill)(const ulna_pose *pose, const ulna_effector *effector, double *twists);
    ulna_frame frame;
} route;

static const route routes[ULNA_JACOBIAN_ROUTE_COUNT] = {
    [ULNA_JACOBIAN_SIMPLE] = {ulna_jacobian_simple, ULNA_FRAME_WORLD},
    [ULNA_JACOBIAN_GENERIC] = {ulna_jacobian_generic, ULNA_FRAME_BODY},
    [ULNA_JACOBIAN_ADJUSTED] = {ulna_jacobian_adjusted, ULNA_FRAME_BODY},
    [ULNA_JACOBIAN_TWISTS] = {ulna_jacobian_twists, ULNA_FRAME_BODY},
    [ULNA_JACOBIAN_UNIT_VELOCITY] = {ulna_jacobian_unit_velocity, ULNA_FRAME_WORLD},
    [ULNA_JACOBIAN_DIFFERENCES] = {ulna_jacobian_differences, ULNA_FRAME_BODY},
};

ulna_status ulna_papers_jacobian(ulna_pose *pose, ulna_jacobian_route which, const ulna_jacobian_options *options,
                                 int count, const ulna_effector *effectors, double *jacobian)
{
    if ((unsigned)which >= ULNA_JACOBIAN_ROUTE_COUNT)
        return ULNA_ERR_ARGUMENT;
    if (which == ULNA_JACOBIAN_SIMPLE)
        return ulna_pose_jacobian(pose, options, count, effectors, jacobian);
    ulna_status status = ulna_jacobian_check(pose, options, count, effectors, jacobian);
    if (status)
        return status;
    const route *chosen = &routes[which];
    for (int e = 0; e < count; e++) {
        int body = effectors[e].body;
        chosen->fill(pose, &effectors[e], pose->scratch);
        if (chosen->frame != options->frame) {
            double rotation[9];
            ulna_pose_body_relative(pose, body, NULL, rotation);
            ulna_jacobian_turn(pose->model, body, rotation, options->frame == ULNA_FRAME_BODY, pose->scratch);
        }
        ulna_jacobian_emit(pose, options, count, e, body, pose->scratch, jacobian);
    }
    return ULNA_OK;
}
