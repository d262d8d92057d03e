/*
 * Two slow routes that derive the Jacobian from as little theory as possible: what the others are locked against.
 *
 * Unit velocity: one sweep of velocities from the root to the tip per degree of freedom, with that one moving at
 * speed 1 and all others still. It runs on the model's links, but not on the kernels' frames and motions.
 *
 * Differences: central differences of the joint's own motion along q (+) h e_j. Everything behind the joint is rigid,
 * so only the joint at hand is moved; a joint's translation is subtracted before the arm is added, so that a slide of
 * 1e6 m does not swallow the digits of a turn behind it. The error is about h^2 + 1e-16 / h = 1e-10 relative.
 */
#include <float.h>

#include "math/math3.h"
#include "papers/jacobians.h"

/* ---- unit velocity ---- */

typedef struct moving_frame {
    double rotation[9];
    double v[3], w[3]; /* of the frame's origin, and of the frame, in the world */
} moving_frame;

/* To a frame fixed in this one: v + w x step. */
static void carry(moving_frame *frame, const double rotation[9], const double translation[3])
{
    double step[3], swept[3], turned[9];
    ulna_rotate(frame->rotation, translation, step);
    ulna_cross(frame->w, step, swept);
    for (int i = 0; i < 3; i++)
        frame->v[i] += swept[i];
    ulna_multiply9(frame->rotation, rotation, turned);
    ulna_copy9(turned, frame->rotation);
}

/* Through a link: its fixed base, then its segments, of which the DOF number `moving` moves at unit speed. */
static void sweep_link(const ulna_link *link, const double *q, int moving, moving_frame *frame)
{
    double base[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            base[3 * i + j] = link->rotation[j][i];
    carry(frame, base, link->offset);

    q += link->coordinate;
    int dof = link->dof;
    for (int s = 0; s < link->segment_count; s++) {
        ulna_segment segment = (ulna_segment)link->segment[s];
        int parts = ulna_segment_dofs(segment);
        double rotation[9], translation[3];
        if (moving >= dof && moving < dof + parts) {
            double axes[3][3], axis[3];
            ulna_segment_axes(segment, link->sign, q, 0, axes);
            ulna_rotate(frame->rotation, axes[moving - dof], axis);
            double *speed = ulna_segment_is_slide(segment) ? frame->v : frame->w;
            for (int i = 0; i < 3; i++)
                speed[i] += axis[i];
        }
        ulna_segment_motion(segment, link->sign, q, rotation, translation);
        carry(frame, rotation, translation);
        dof += parts;
        q += ulna_segment_coordinates(segment);
    }
}

void ulna_jacobian_unit_velocity(const ulna_pose *pose, const ulna_effector *effector, double *twists)
{
    const ulna_model *model = pose->model;
    const ulna_body *body = &model->body[effector->body];
    const int *path;
    int depth = ulna_dof_path(model, effector->body, &path);
    double identity[9];
    ulna_identity9(identity);

    for (int k = 0; k < depth; k++) {
        moving_frame frame = {.v = {0, 0, 0}, .w = {0, 0, 0}};
        ulna_identity9(frame.rotation);
        int last = -1;
        if (model->link[0].dof_count == 0)
            sweep_link(&model->link[last = 0], pose->q, path[k], &frame);
        for (int i = 0; i < depth; i++)
            if (model->dof_link[path[i]] != last)
                sweep_link(&model->link[last = model->dof_link[path[i]]], pose->q, path[k], &frame);
        carry(&frame, body->link_rotation, body->link_position);
        carry(&frame, identity, effector->point);
        ulna_copy3(frame.v, twists + 6 * (size_t)path[k]);
        ulna_copy3(frame.w, twists + 6 * (size_t)path[k] + 3);
    }
}

/* ---- differences ---- */

/* Scratch behind the twists: a step of nv and a q of nq. */
static void difference_column(const ulna_pose *pose, const ulna_walk *walk, int dof, double *step, double *moved,
                              double twist[6])
{
    const ulna_model *model = pose->model;
    int coordinate = model->body[walk->body].coordinate;
    double h = cbrt(DBL_EPSILON);
    if (ulna_dof_slides(model, dof))
        h *= fmax(1, fabs(pose->q[model->dof_coordinate[dof]]));

    double r[2][9], x[2][3];
    for (int side = 0; side < 2; side++) {
        step[dof] = side ? -h : h;
        ulna_model_integrate(model, pose->q, step, moved);
        ulna_joint_motion(&walk->plan, moved + coordinate, r[side], x[side]);
    }
    step[dof] = 0;

    /* v = dx + dR arm;  w = log(R+ R-^T) / 2h: both before the joint */
    double change[9], arm[3], back[9], between[9], w[3], v[3];
    for (int i = 0; i < 9; i++)
        change[i] = r[0][i] - r[1][i];
    ulna_rotate(change, walk->position, arm);
    for (int i = 0; i < 3; i++)
        v[i] = (x[0][i] - x[1][i] + arm[i]) / (2 * h);
    ulna_transpose9(r[1], back);
    ulna_multiply9(r[0], back, between);
    ulna_log(between, w);
    for (int i = 0; i < 3; i++)
        w[i] /= 2 * h;

    /* then in the effector's axes */
    double motion[9], slide[3], turned[9];
    ulna_joint_motion(&walk->plan, walk->joint_q, motion, slide);
    ulna_multiply9(motion, walk->rotation, turned);
    ulna_unrotate(turned, v, twist);
    ulna_unrotate(turned, w, twist + 3);
}

void ulna_jacobian_differences(const ulna_pose *pose, const ulna_effector *effector, double *twists)
{
    const ulna_model *model = pose->model;
    double *step = pose->scratch + 12 * (size_t)model->nv;
    double *moved = step + model->nv;
    memset(step, 0, (size_t)model->nv * sizeof *step);

    ulna_walk walk;
    for (ulna_walk_start(&walk, model, pose->q, effector); walk.body >= 0; ulna_walk_up(&walk))
        for (int k = 0; k < walk.plan.dof_count; k++) {
            int dof = model->body[walk.body].dof + k;
            difference_column(pose, &walk, dof, step, moved, twists + 6 * (size_t)dof);
        }
}
