/* Poses: their memory, forward kinematics, and where bodies, points and axes are. */
#include "base/base.h"
#include "base/parallel.h"
#include "kinematics/jacobian.h"
#include "kinematics/kernel.h"
#include "math/math3.h"

#include <stdint.h>

static void take_arrays(ulna_pose *pose, ulna_arena *arena)
{
    const ulna_model *model = pose->model;
    size_t nq = ((size_t)model->nq + 7) & ~(size_t)7, nv = (size_t)model->nv, nl = (size_t)model->nl;
    pose->q = ulna_arena_take(arena, nq, sizeof *pose->q);
    pose->sine = ulna_arena_take(arena, nq, sizeof *pose->sine);
    pose->cosine = ulna_arena_take(arena, nq, sizeof *pose->cosine);
    pose->frame = ulna_arena_take(arena, 4 * nl, sizeof *pose->frame);
    pose->motion = ulna_arena_take(arena, 2 * nv, sizeof *pose->motion);
    pose->bend = model->has_general ? ulna_arena_take(arena, 6 * nv, sizeof *pose->bend) : NULL;
    pose->scratch_count = ulna_jacobian_scratch(model);
    pose->scratch = ulna_arena_take(arena, pose->scratch_count, sizeof *pose->scratch);
}

ulna_status ulna_pose_create(const ulna_model *model, const ulna_allocator *allocator, ulna_pose **pose,
                             ulna_error *error)
{
    if (!pose)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the pose given");
    *pose = NULL;
    if (!model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a pose needs a model");

    ulna_pose layout = {.allocator = ulna_allocator_or_default(allocator), .model = model, .threads = 1};
    ulna_arena arena = {NULL, sizeof layout, 0};
    take_arrays(&layout, &arena);
    if (arena.failed)
        return ulna_fail(error, ULNA_ERR_LIMIT, "the pose of this skeleton does not fit in memory");
    void *memory = ulna_allocate(&layout.allocator, arena.used, 1);
    if (!memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a pose of %zu bytes", arena.used);

    layout.bytes = arena.used;
    arena = (ulna_arena){memory, sizeof layout, 0};
    take_arrays(&layout, &arena);
    layout.kernel = ulna_kernel_find(NULL);
    *pose = memory;
    **pose = layout;
    return ULNA_OK;
}

void ulna_pose_destroy(ulna_pose *pose)
{
    if (pose) {
        ulna_allocator allocator = pose->allocator;
        ulna_release(&allocator, pose, pose->bytes, 1);
    }
}

ulna_status ulna_pose_set_kernel(ulna_pose *pose, const char *name)
{
    const ulna_kernel *kernel = ulna_kernel_find(name);
    if (!pose)
        return ULNA_ERR_ARGUMENT;
    if (!kernel)
        return ULNA_ERR_UNSUPPORTED;
    pose->kernel = kernel;
    return ULNA_OK;
}

const char *ulna_pose_kernel(const ulna_pose *pose)
{
    return pose ? pose->kernel->name : NULL;
}

ulna_status ulna_pose_set_threads(ulna_pose *pose, int threads)
{
    if (!pose || threads < 0)
        return ULNA_ERR_ARGUMENT;
    if (threads != 1 && !ulna_parallel_supported())
        return ULNA_ERR_UNSUPPORTED;
    pose->threads = threads;
    return ULNA_OK;
}

ulna_status ulna_pose_forward(ulna_pose *pose, const double *q)
{
    if (!pose || !q)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_model_check_q(pose->model, q, NULL);
    if (status != ULNA_OK)
        return status;
    if (pose->model->nc) { /* the scratch holds nq and more, and forward does not use it */
        memcpy(pose->scratch, q, (size_t)pose->model->nq * sizeof *q);
        ulna_model_couple(pose->model, pose->scratch);
        q = pose->scratch;
    }
    pose->kernel->forward(pose, q, NULL);
    pose->placed = 1;
    pose->placements++;
    return ULNA_OK;
}

static ulna_status check_body(const ulna_pose *pose, int body)
{
    if (!pose || body < 0 || body >= pose->model->nb)
        return ULNA_ERR_ARGUMENT;
    return pose->placed ? ULNA_OK : ULNA_ERR_STATE;
}

void ulna_pose_body_relative(const ulna_pose *pose, int body, double position[3], double rotation[9])
{
    const ulna_body *b = &pose->model->body[body];
    const ulna_vec4 *frame = pose->frame + 4 * (size_t)b->link;
    double link[9], origin[3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            link[3 * i + k] = frame[k][i];
        origin[i] = frame[3][i];
    }
    if (position) {
        ulna_rotate(link, b->link_position, position);
        ulna_accumulate3(origin, position);
    }
    if (rotation)
        ulna_multiply9(link, b->link_rotation, rotation);
}

void ulna_pose_point_relative(const ulna_pose *pose, int body, const double point[3], double position[3])
{
    double rotation[9], origin[3];
    ulna_pose_body_relative(pose, body, origin, rotation);
    ulna_rotate(rotation, point, position);
    ulna_accumulate3(origin, position);
}

void ulna_pose_dof_relative(const ulna_pose *pose, int dof, double axis[3], double origin[3])
{
    const double *motion = (const double *)(pose->motion + 2 * (size_t)dof);
    const double *turn = motion, *slide = motion + 4;
    if (ulna_segment_is_translation(pose->model->dof_segment[dof])) {
        ulna_copy3(slide, axis);
        if (origin)
            ulna_copy3((const double *)&pose->frame[4 * (size_t)pose->model->dof_link[dof] + 3], origin);
        return;
    }
    ulna_copy3(turn, axis);
    if (origin) { /* the point of the axis nearest to the reference: any point of it turns alike */
        double square = ulna_dot(turn, turn);
        ulna_cross(turn, slide, origin);
        for (int i = 0; i < 3; i++)
            origin[i] = square > 0 ? origin[i] / square : 0;
    }
}

void ulna_pose_axis_derivative(const ulna_pose *pose, int i, int j, double derivative[3])
{
    const ulna_model *model = pose->model;
    derivative[0] = derivative[1] = derivative[2] = 0;
    int same = model->dof_link[i] == model->dof_link[j] && model->dof_segment[i] == model->dof_segment[j] &&
               i - model->dof_part[i] == j - model->dof_part[j];
    if (same && model->dof_segment[i] >= ULNA_SEGMENT_BALL)
        ulna_copy3((const double *)&pose->bend[6 * (size_t)i + 2 * (size_t)model->dof_part[j]], derivative);
}

ulna_status ulna_pose_body(const ulna_pose *pose, int body, double position[3], double rotation[9])
{
    ulna_status status = check_body(pose, body);
    if (status != ULNA_OK)
        return status;
    ulna_pose_body_relative(pose, body, position, rotation);
    if (position)
        ulna_accumulate3(pose->origin, position);
    return ULNA_OK;
}

ulna_status ulna_pose_point(const ulna_pose *pose, int body, const double point[3], double position[3])
{
    ulna_status status = check_body(pose, body);
    if (status != ULNA_OK || !point || !position)
        return status != ULNA_OK ? status : ULNA_ERR_ARGUMENT;
    ulna_pose_point_relative(pose, body, point, position);
    ulna_accumulate3(pose->origin, position);
    return ULNA_OK;
}

ulna_status ulna_pose_markers(const ulna_pose *pose, double *positions)
{
    ulna_status status = check_body(pose, 0);
    if (status != ULNA_OK || !positions)
        return status != ULNA_OK ? status : ULNA_ERR_ARGUMENT;
    for (int m = 0; m < pose->model->nm; m++) {
        const ulna_marker *marker = &pose->model->marker[m];
        ulna_pose_point(pose, marker->body, marker->position, positions + 3 * (size_t)m);
    }
    return ULNA_OK;
}

ulna_status ulna_pose_dof_axis(const ulna_pose *pose, int dof, double axis[3], double origin[3])
{
    if (!pose || dof < 0 || dof >= pose->model->nv || !axis)
        return ULNA_ERR_ARGUMENT;
    if (!pose->placed)
        return ULNA_ERR_STATE;
    double at[3];
    ulna_pose_dof_relative(pose, dof, axis, at);
    if (origin && !ulna_model_dof_is_translation(pose->model, dof))
        for (int i = 0; i < 3; i++)
            origin[i] = at[i] + pose->origin[i];
    return ULNA_OK;
}

/* ---- bone lengths ---------------------------------------------------------------------------------------------------- */

/*
 * How a point moves when a bone grows. A bone is a body's placement, or its offset if the joint is reversed (model.h).
 * Growing it shifts the body and all that hangs on it along the bone, without any turn. So the column is the bone's
 * direction in the world: a placement is given in the axes of the parent, an offset in those at the end of the joint. It
 * does not depend on the point.
 */
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
    if (status != ULNA_OK)
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
