/*
 * The product of exponentials (recipe 1.2, eq. 7-10; Murray, Li and Sastry 1994): forward kinematics and the body
 * Jacobian from the twists of the zero pose alone.
 *
 *     g(q) = exp(z_1 q_1) ... exp(z_n q_n) g(0)                                           (7)
 *     column j of the body Jacobian = Ad^-1 of (exp(z_j q_j) ... exp(z_n q_n) g(0)) z_j    (10)
 *
 *   zero pose  every segment at zero (which for a swing-twist off its centre is not the rest pose)
 *   z_j        (o x a, a) for a turn about axis a through o, (a, 0) for a slide
 *
 * The spatial frame is the effector's own at the zero pose. Then g(0) = I, as the recipe advises below eq. 10, all
 * twists are local, and the product grows from tip to root as the path is walked. The world comes in front at the end.
 *
 * A ball, exponential map or swing has no constant twist per degree of freedom. It enters eq. 7 as one exponential
 * of its rotation vector about its axes at the zero pose, and eq. 10 with its effective axes in place of a.
 */
#include "math/math3.h"
#include "papers/jacobians.h"

/* exp(z_j q_j) ... exp(z_n q_n), in the effector's frame at the zero pose */
typedef struct product {
    double rotation[9], position[3];
} product;

/* A joint at the zero pose: its segments all share one frame there, whose axes are the rows of `rows`. */
typedef struct zero_joint {
    double rows[9], origin[3];
} zero_joint;

static zero_joint joint_at_zero(const ulna_walk *walk)
{
    /* effector in the frame of the segments = post * (effector at the end of the joint); and back */
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
    if (ulna_segment_is_slide(segment)) {
        for (int i = 0; i < 3; i++)
            all->position[i] += sign * q[0] * zero->rows[3 * ((int)segment - ULNA_SEGMENT_TX) + i];
        return;
    }

    /* The rotation vector, in the effector's axes; a turn about one axis is the vector along it. */
    double local[3] = {0, 0, 0}, w[3], r[9], arm[3], moved[3], turned[9];
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

    for (int i = 0; i < 3; i++)
        arm[i] = all->position[i] - zero->origin[i];
    ulna_rotate(r, arm, moved);
    for (int i = 0; i < 3; i++)
        all->position[i] = zero->origin[i] + moved[i];
    ulna_multiply9(r, all->rotation, turned);
    ulna_copy9(turned, all->rotation);
}

/* Ad^-1 z (eq. 10), for a turn or a slide along `axis`, given in the axes of the joint at the zero pose. */
static void pull_back(const zero_joint *zero, ulna_segment segment, const double axis[3], const product *all,
                      double twist[6])
{
    double a[3];
    ulna_unrotate(zero->rows, axis, a);
    if (ulna_segment_is_slide(segment)) {
        ulna_unrotate(all->rotation, a, twist);
        memset(twist + 3, 0, 3 * sizeof *twist);
        return;
    }
    double arm[3], v[3];
    for (int i = 0; i < 3; i++)
        arm[i] = all->position[i] - zero->origin[i];
    ulna_cross(a, arm, v);
    ulna_unrotate(all->rotation, v, twist);
    ulna_unrotate(all->rotation, a, twist + 3);
}

/* Walks to the root; fills twists unless NULL, the product, and g(0) in the world. */
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
    if (!status)
        status = ulna_model_check_q(pose->model, q, NULL);
    if (status)
        return status;

    product all, start;
    exponentials(pose->model, q, effector, NULL, &all, &start);
    ulna_compose(start.rotation, start.position, all.rotation, all.position, rotation, position);
    return ULNA_OK;
}
