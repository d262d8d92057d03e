/* The explicit Jacobian by any route. Each route computes twists, in the axes of the world or of the body. */
#include <float.h>

#include "math/math3.h"
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
    if (status != ULNA_OK)
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

/* =============================================================================================================== */

/*
 * Central differences of the joint's own motion along q (+) h e_j. Everything below the joint is rigid, so only this joint
 * is moved. Its translation is subtracted before the arm is added, so that no digits of a rotation are lost below a
 * translation of 1e6 m. The relative error is about h^2 + 1e-16 / h = 1e-10.
 */

/* step: nv, moved: nq; scratch, in memory after the twists. */
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
    double motion[9], translation[3], rotated[9];
    ulna_joint_motion(&walk->plan, walk->joint_q, motion, translation);
    ulna_multiply9(motion, walk->rotation, rotated);
    ulna_unrotate(rotated, v, twist);
    ulna_unrotate(rotated, w, twist + 3);
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

/* =============================================================================================================== */

/*
 * The product of exponentials (recipe 1.2, eq. 7-10; Murray, Li and Sastry 1994): forward kinematics and the body
 * Jacobian from the twists of the zero pose alone.
 *
 *     g(q) = exp(z_1 q_1) ... exp(z_n q_n) g(0)                                           (7)
 *     column j of the body Jacobian = Ad^-1 of (exp(z_j q_j) ... exp(z_n q_n) g(0)) z_j    (10)
 *
 *   zero pose  every segment at zero (which for a swing-twist off its centre is not the rest pose)
 *   z_j        (o x a, a) for a rotation about axis a through o, (a, 0) for a translation
 *
 * The spatial frame is the effector's frame at the zero pose. Then g(0) = I, as the recipe advises below eq. 10, all twists
 * are local, and the product is extended from the effector to the root. The world transform is multiplied last.
 *
 * A ball, exponential map or swing has no constant twist per degree of freedom. It enters eq. 7 as one exponential
 * of its rotation vector about its axes at the zero pose, and eq. 10 with its effective axes in place of a.
 */

/* exp(z_j q_j) ... exp(z_n q_n), in the effector's frame at the zero pose */
typedef struct product {
    double rotation[9], position[3];
} product;

/* A joint at the zero pose, where all its segments have the same frame; its axes are the rows of `rows`. */
typedef struct zero_joint {
    double rows[9], origin[3];
} zero_joint;

static zero_joint joint_at_zero(const ulna_walk *walk)
{
    /* effector in the frame of the segments = post * (effector at the end of the joint); and the inverse */
    zero_joint zero;
    double position[3], away[3];
    ulna_multiply9(walk->plan.post, walk->rotation, zero.rows);
    ulna_rotate(walk->plan.post, walk->position, position);
    ulna_unrotate(zero.rows, position, away);
    for (int i = 0; i < 3; i++)
        zero.origin[i] = -away[i];
    return zero;
}

/* product <- exp(segment at q) * product */
static void multiply_segment(const zero_joint *zero, ulna_segment segment, int sign, const double *q, product *all)
{
    if (ulna_segment_is_translation(segment)) {
        for (int i = 0; i < 3; i++)
            all->position[i] += sign * q[0] * zero->rows[3 * ((int)segment - ULNA_SEGMENT_TX) + i];
        return;
    }

    /* The rotation vector, in the effector's axes; for a rotation about one axis it is along that axis. */
    double local[3] = {0, 0, 0}, w[3], r[9], arm[3], moved[3], rotated[9];
    if (segment <= ULNA_SEGMENT_RZ)
        local[segment] = q[0];
    else if (segment == ULNA_SEGMENT_BALL)
        ulna_quaternion_log(q, local);
    else
        memcpy(local, q, (size_t)ulna_segment_dofs(segment) * sizeof *local);
    for (int i = 0; i < 3; i++)
        local[i] *= sign;
    ulna_unrotate(zero->rows, local, w);
    ulna_exp(w, r);

    ulna_subtract3(all->position, zero->origin, arm);
    ulna_rotate(r, arm, moved);
    for (int i = 0; i < 3; i++)
        all->position[i] = zero->origin[i] + moved[i];
    ulna_multiply9(r, all->rotation, rotated);
    ulna_copy9(rotated, all->rotation);
}

/* Ad^-1 z (eq. 10), for a rotation about or a translation along `axis`, given in the axes of the joint at the zero pose. */
static void pull_back(const zero_joint *zero, ulna_segment segment, const double axis[3], const product *all,
                      double twist[6])
{
    double a[3];
    ulna_unrotate(zero->rows, axis, a);
    if (ulna_segment_is_translation(segment)) {
        ulna_unrotate(all->rotation, a, twist);
        memset(twist + 3, 0, 3 * sizeof *twist);
        return;
    }
    double arm[3], v[3];
    ulna_subtract3(all->position, zero->origin, arm);
    ulna_cross(a, arm, v);
    ulna_unrotate(all->rotation, v, twist);
    ulna_unrotate(all->rotation, a, twist + 3);
}

/* Loops from the effector to the root; fills twists unless NULL, the product, and g(0) in the world. */
static void exponentials(const ulna_model *model, const double *q, const ulna_effector *effector, double *twists,
                         product *all, product *start)
{
    ulna_identity9(all->rotation);
    memset(all->position, 0, sizeof all->position);

    ulna_walk walk;
    for (ulna_walk_start(&walk, model, NULL, effector); walk.body >= 0; ulna_walk_up(&walk)) {
        const ulna_joint_plan *plan = &walk.plan;
        zero_joint zero = joint_at_zero(&walk);
        int dof = model->body[walk.body].dof + plan->dof_count;
        int coordinate = model->body[walk.body].coordinate + plan->coordinate_count;

        for (int s = plan->segment_count - 1; s >= 0; s--) {
            ulna_segment segment = (ulna_segment)plan->segment[s];
            dof -= ulna_segment_dofs(segment);
            coordinate -= ulna_segment_coordinates(segment);
            multiply_segment(&zero, segment, plan->sign, q + coordinate, all);
            if (twists) {
                double axes[3][3];
                ulna_segment_axes(segment, plan->sign, q + coordinate, 0, axes);
                for (int k = 0; k < ulna_segment_dofs(segment); k++)
                    pull_back(&zero, segment, axes[k], all, twists + 6 * ((size_t)dof + (size_t)k));
            }
        }
    }
    ulna_copy9(walk.rotation, start->rotation);
    ulna_copy3(walk.position, start->position);
}

void ulna_jacobian_twists(const ulna_pose *pose, const ulna_effector *effector, double *twists)
{
    product all, start;
    exponentials(pose->model, pose->q, effector, twists, &all, &start);
}

ulna_status ulna_papers_product_of_exponentials(ulna_pose *pose, const double *q, const ulna_effector *effector,
                                                double position[3], double rotation[9])
{
    if (!pose || !q || !position || !rotation)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_effector_check(pose->model, effector);
    if (status == ULNA_OK)
        status = ulna_model_check_q(pose->model, q, NULL);
    if (status != ULNA_OK)
        return status;

    product all, start;
    exponentials(pose->model, q, effector, NULL, &all, &start);
    ulna_compose(start.rotation, start.position, all.rotation, all.position, rotation, position);
    return ULNA_OK;
}

/* =============================================================================================================== */

/*
 * The spatial frame. A rotation about axis a through o has the twist (o x a, a), a translation (a, 0): Ad of (13) times any body Jacobian
 * has these columns, whichever effector that one is of. So 41 effectors share one set of columns, where the routes above walk from
 * each of them to the root.
 */
ulna_status ulna_papers_spatial_jacobian(ulna_pose *pose, double *spatial)
{
    if (!pose || !spatial)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ULNA_OK;
    for (int d = 0; d < pose->model->nv && status == ULNA_OK; d++) {
        double axis[3], origin[3], *twist = spatial + 6 * (size_t)d;
        status = ulna_pose_dof_axis(pose, d, axis, origin);
        memset(twist, 0, 6 * sizeof *twist);
        if (ulna_dof_slides(pose->model, d))
            ulna_copy3(axis, twist);
        else {
            ulna_cross(origin, axis, twist);
            ulna_copy3(axis, twist + 3);
        }
    }
    return status;
}

ulna_status ulna_papers_jacobian_shared(ulna_pose *pose, int count, const ulna_effector *effectors, double *spatial,
                                        double *jacobian)
{
    const ulna_jacobian_options options = ulna_jacobian_options_default();
    ulna_status status = ulna_jacobian_check(pose, &options, count, effectors, jacobian);
    if (status == ULNA_OK)
        status = ulna_papers_spatial_jacobian(pose, spatial);
    if (status != ULNA_OK)
        return status;
    const ulna_model *model = pose->model;
    const size_t rows = 6 * (size_t)count;
    memset(jacobian, 0, rows * (size_t)model->nv * sizeof *jacobian);
    for (int e = 0; e < count && status == ULNA_OK; e++) {
        double p[3], across[3];
        status = ulna_pose_point(pose, effectors[e].body, effectors[e].point, p);
        for (int b = effectors[e].body; b >= 0; b = ulna_model_body_parent(model, b))
            for (int d = model->body[b].dof, end = d + model->body[b].dof_count; d < end; d++) {
                const double *twist = spatial + 6 * (size_t)d;
                double *column = jacobian + rows * (size_t)d + 6 * (size_t)e;
                ulna_cross(twist + 3, p, across);
                for (int i = 0; i < 3; i++) {
                    column[i] = twist[i] + across[i];
                    column[3 + i] = twist[3 + i];
                }
            }
    }
    return status;
}
