/*
 * The adjoint routes: procedures 2 (generic) and 3 (adjusted) of the recipe, eq. 4-6, 11 and 27-32.
 *
 *   b     the effector's frame: axes of its body, origin at its point
 *   j     the frame at the end of an ancestor's joint, before the body's fixed offset
 *   p     (superscript) the frame before that joint; M = pE_j is the joint's motion
 *   Ad    [R, p^ R; 0, R] from j to b, with (R, p) = bE_j (eq. 5)
 *
 * Generic: the columns of a joint are Ad times its motion subspace in its own frame, the body twist M^-1 dM/dq.
 * Adjusted: the same adjoints, but the subspace is built from the axes in the frame before the joint, each rotated
 * only by the degrees of freedom before it (eq. 22-26, 30), and transformed to j by R* = MrT pR' (eq. 31, 32).
 *
 * Slips: "while j has parent" leaves out the root, whose joint moves everything, and starting from the parent of b
 * leaves out b's own joint; R* is not a rotation, as the axes of pR' are not orthogonal: it is the identity only
 * if no earlier degree of freedom has rotated; in eq. 25 the order should be R_z R_y R_x. Procedure 3 also assumes that
 * the axes of a joint meet in the origin of j. After a translation that follows a rotation they do not: then the arm from
 * axis to origin is added.
 */
#include "math/math3.h"
#include "papers/jacobians.h"

/* ---- segments ---- */

void ulna_segment_axes(ulna_segment segment, int sign, const double *q, int after, double axes[3][3])
{
    memset(axes, 0, 9 * sizeof axes[0][0]);
    if (segment <= ULNA_SEGMENT_TZ) {
        axes[0][segment % 3] = sign;
        return;
    }

    /* The columns of `matrix` are the axes, except for the sign. */
    double matrix[9];
    if (segment == ULNA_SEGMENT_BALL) {
        /* A ball rotates about axes that are fixed in the frame before it, or, if reversed, in the frame after it. */
        double rotation[9], nothing[3];
        ulna_segment_motion(segment, 1, q, rotation, nothing);
        if (after == (sign < 0))
            ulna_identity9(matrix);
        else
            ulna_transpose9(rotation, matrix);
    } else {
        double side = after ? -sign : sign;
        double w[3] = {side * q[0], side * q[1], segment == ULNA_SEGMENT_SWING ? 0 : side * q[2]};
        ulna_left_jacobian(w, matrix);
    }
    for (int k = 0; k < ulna_segment_dofs(segment); k++)
        for (int i = 0; i < 3; i++)
            axes[k][i] = sign * matrix[3 * i + k];
}

/* ---- the walk from effector to root ---- */

static void enter_body(ulna_walk *walk, int body)
{
    const ulna_body *b = &walk->model->body[body];
    walk->body = body;
    ulna_joint_resolve(&walk->model->joint[body], &walk->plan, NULL);
    if (walk->q) {
        memcpy(walk->joint_q, walk->q + b->coordinate, (size_t)b->coordinate_count * sizeof *walk->joint_q);
        return;
    }
    memset(walk->joint_q, 0, sizeof walk->joint_q);
    for (int s = 0, at = 0; s < walk->plan.segment_count; s++) {
        ulna_segment segment = (ulna_segment)walk->plan.segment[s];
        at += ulna_segment_coordinates(segment);
        if (segment == ULNA_SEGMENT_BALL)
            walk->joint_q[at - 1] = 1;
    }
}

void ulna_walk_start(ulna_walk *walk, const ulna_model *model, const double *q, const ulna_effector *effector)
{
    const ulna_body *b = &model->body[effector->body];
    walk->model = model;
    walk->q = q;
    ulna_copy9(b->offset_rotation, walk->rotation);
    ulna_rotate(b->offset_rotation, effector->point, walk->position);
    ulna_accumulate3(b->offset_position, walk->position);
    enter_body(walk, effector->body);
}

void ulna_walk_up(ulna_walk *walk)
{
    const ulna_body *b = &walk->model->body[walk->body];
    double motion[9], slide[3], r[9], x[3];
    ulna_joint_motion(&walk->plan, walk->joint_q, motion, slide);
    ulna_compose(motion, slide, walk->rotation, walk->position, r, x);
    ulna_compose(b->placement_rotation, b->placement_position, r, x, walk->rotation, walk->position);
    if (b->parent < 0) {
        walk->body = -1;
        return;
    }

    const ulna_body *parent = &walk->model->body[b->parent];
    ulna_copy9(walk->rotation, r);
    ulna_copy3(walk->position, x);
    ulna_compose(parent->offset_rotation, parent->offset_position, r, x, walk->rotation, walk->position);
    enter_body(walk, b->parent);
}

/* ---- procedures 2 and 3 ---- */

/* bE_j, whose adjoint takes twists of j to b, from the walk's jE_b (line 7 of both procedures). */
static void frame_of_joint(const ulna_walk *walk, double r[9], double p[3])
{
    ulna_invert(walk->rotation, walk->position, r, p);
}

/* (v, w) <- Ad (v, w) */
static void apply_adjoint(const double r[9], const double p[3], double twist[6])
{
    double v[3], w[3], lever[3];
    ulna_rotate(r, twist, v);
    ulna_rotate(r, twist + 3, w);
    ulna_cross(p, w, lever);
    for (int i = 0; i < 3; i++) {
        twist[i] = v[i] + lever[i];
        twist[3 + i] = w[i];
    }
}

/* M^-1 dM: the twist of each DOF in the frame at the end of the joint, from the last segment to the first. */
static void body_subspace(const ulna_joint_plan *plan, const double *q, double *twists)
{
    double tail[9], arm[3] = {0, 0, 0}; /* the end of the joint, relative to the frame after the current segment */
    int dof = plan->dof_count, coordinate = plan->coordinate_count;
    ulna_copy9(plan->post, tail);

    for (int s = plan->segment_count - 1; s >= 0; s--) {
        ulna_segment segment = (ulna_segment)plan->segment[s];
        int parts = ulna_segment_dofs(segment);
        dof -= parts;
        coordinate -= ulna_segment_coordinates(segment);

        double axes[3][3];
        ulna_segment_axes(segment, plan->sign, q + coordinate, 1, axes);
        for (int k = 0; k < parts; k++) {
            double *twist = twists + 6 * (dof + k);
            if (ulna_segment_is_translation(segment)) {
                ulna_unrotate(tail, axes[k], twist);
                memset(twist + 3, 0, 3 * sizeof *twist);
            } else {
                double v[3];
                ulna_cross(axes[k], arm, v);
                ulna_unrotate(tail, v, twist);
                ulna_unrotate(tail, axes[k], twist + 3);
            }
        }

        double r[9], x[3], whole[9], sum[3];
        ulna_segment_motion(segment, plan->sign, q + coordinate, r, x);
        ulna_compose(r, x, tail, arm, whole, sum);
        ulna_copy9(whole, tail);
        ulna_copy3(sum, arm);
    }
}

/* The same twists from the axes before the joint: pR' (eq. 30), then R* = MrT pR' (eq. 31). */
static void adjusted_subspace(const ulna_joint_plan *plan, const double *q, double *twists)
{
    double r[9], x[3] = {0, 0, 0};
    double origins[6][3] = {{0}}; /* of each DOF, before the joint */
    int dof = 0;
    ulna_copy9(plan->pre, r);
    for (int s = 0; s < plan->segment_count; s++) {
        ulna_segment segment = (ulna_segment)plan->segment[s];
        double axes[3][3], step[9], slide[3], whole[9], sum[3];
        ulna_segment_axes(segment, plan->sign, q, 0, axes);
        for (int k = 0; k < ulna_segment_dofs(segment); k++, dof++) {
            ulna_rotate(r, axes[k], twists + 6 * dof + 3); /* a column of pR' */
            ulna_copy3(x, origins[dof]);
        }
        ulna_segment_motion(segment, plan->sign, q, step, slide);
        ulna_compose(r, x, step, slide, whole, sum);
        ulna_copy9(whole, r);
        ulna_copy3(sum, x);
        q += ulna_segment_coordinates(segment);
    }

    double motion[9];
    ulna_multiply9(r, plan->post, motion);
    dof = 0;
    for (int s = 0; s < plan->segment_count; s++) {
        ulna_segment segment = (ulna_segment)plan->segment[s];
        for (int k = 0; k < ulna_segment_dofs(segment); k++, dof++) {
            double *twist = twists + 6 * dof;
            double axis[3];
            ulna_unrotate(motion, twist + 3, axis); /* a column of R* */
            if (ulna_segment_is_translation(segment)) {
                ulna_copy3(axis, twist);
                memset(twist + 3, 0, 3 * sizeof *twist);
            } else {
                double arm[3], local[3];
                for (int i = 0; i < 3; i++)
                    arm[i] = x[i] - origins[dof][i];
                ulna_unrotate(motion, arm, local);
                ulna_cross(axis, local, twist);
                ulna_copy3(axis, twist + 3);
            }
        }
    }
}

static void fill(const ulna_model *model, const double *q, const ulna_effector *effector, double *twists,
                 void (*subspace)(const ulna_joint_plan *, const double *, double *), double *rotation)
{
    ulna_walk walk;
    for (ulna_walk_start(&walk, model, q, effector); walk.body >= 0; ulna_walk_up(&walk)) {
        if (walk.plan.dof_count == 0)
            continue;
        double r[9], p[3];
        double *own = twists + 6 * (size_t)model->body[walk.body].dof;
        frame_of_joint(&walk, r, p);
        subspace(&walk.plan, walk.joint_q, own);
        for (int k = 0; k < walk.plan.dof_count; k++)
            apply_adjoint(r, p, own + 6 * k);
    }
    if (rotation)
        ulna_copy9(walk.rotation, rotation);
}

void ulna_jacobian_generic(const ulna_pose *pose, const ulna_effector *effector, double *twists)
{
    fill(pose->model, pose->q, effector, twists, body_subspace, NULL);
}

void ulna_jacobian_adjusted(const ulna_pose *pose, const ulna_effector *effector, double *twists)
{
    fill(pose->model, pose->q, effector, twists, adjusted_subspace, NULL);
}

void ulna_jacobian_generic_at(const ulna_model *model, const double *q, const ulna_effector *effector, double *twists,
                              double *rotation)
{
    fill(model, q, effector, twists, body_subspace, rotation);
}

/* ---- the blocks themselves (eq. 11) ---- */

ulna_status ulna_papers_adjoint_blocks(ulna_pose *pose, const ulna_effector *effector, double *blocks)
{
    if (!pose || !blocks)
        return ULNA_ERR_ARGUMENT;
    const ulna_model *model = pose->model;
    ulna_status status = ulna_effector_check(model, effector);
    if (status != ULNA_OK)
        return status;
    if (!pose->placed)
        return ULNA_ERR_STATE;

    memset(blocks, 0, 36 * (size_t)model->nb * sizeof *blocks);
    ulna_walk walk;
    for (ulna_walk_start(&walk, model, pose->q, effector); walk.body >= 0; ulna_walk_up(&walk)) {
        double r[9], p[3];
        frame_of_joint(&walk, r, p);
        for (int column = 0; column < 6; column++) {
            double *unit = blocks + 36 * (size_t)walk.body + 6 * column;
            unit[column] = 1;
            apply_adjoint(r, p, unit);
        }
    }
    return ULNA_OK;
}
