/* Poses of a reduced tree: check of a tree, memory, forward kinematics, the bound from lengths, coordinates of the model. */
#include "base/base.h"
#include "global/reduce.h"
#include "global/reduced.h"
#include "math/math3.h"

static ulna_status check_node(const ulna_node *node, int n, ulna_error *error)
{
    const int has_axis = node->edge == ULNA_EDGE_HINGE || node->edge == ULNA_EDGE_TRANSLATION;
    if (n == 0 ? node->edge != ULNA_EDGE_WORLD : node->edge <= ULNA_EDGE_WORLD || node->edge > ULNA_EDGE_BONE)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "node %d of the reduced tree: wrong edge", n);
    if (n > 0 && (node->parent < 0 || node->parent >= n || (node->edge == ULNA_EDGE_FREE && node->parent != 0)))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "node %d of the reduced tree: wrong parent", n);
    if (has_axis && !(fabs(ulna_norm(node->axis) - 1) < 1e-6))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "node %d of the reduced tree: the axis is not a unit vector", n);
    if ((has_axis && !(node->lower <= node->upper)) || node->weight < 0)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "node %d of the reduced tree: wrong limits or weight", n);
    if (!ulna_all_finite(node->v, 3) || !ulna_all_finite(node->rotation_cost, 9) || !ulna_all_finite(node->goal, 3) ||
        !isfinite(node->weight))
        return ulna_fail(error, ULNA_ERR_NUMBER, "node %d of the reduced tree is not finite", n);
    return ULNA_OK;
}

ulna_status ulna_reduced_check(const ulna_reduced *reduced, ulna_error *error)
{
    if (!reduced || !reduced->nodes || reduced->count < 1)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a relaxation needs a reduced tree");
    if (!ulna_all_finite(reduced->centre, 3) || !(reduced->length > 0))
        return ulna_fail(error, ULNA_ERR_NUMBER, "units of the reduced tree are not finite");
    ulna_status status = ULNA_OK;
    for (int n = 0; n < reduced->count && status == ULNA_OK; n++)
        status = check_node(&reduced->nodes[n], n, error);
    return status;
}

ulna_status ulna_reduced_pose_create(const ulna_reduced *reduced, const ulna_allocator *allocator,
                                     ulna_reduced_pose *pose)
{
    if (!pose)
        return ULNA_ERR_ARGUMENT;
    *pose = (ulna_reduced_pose){0};
    if (!reduced || reduced->count < 1)
        return ULNA_ERR_ARGUMENT;
    ulna_allocator memory = ulna_allocator_or_default(allocator);
    size_t n = (size_t)reduced->count;
    double *block = ulna_allocate(&memory, 8 * n, sizeof *block);
    if (!block)
        return ULNA_ERR_MEMORY;
    *pose = (ulna_reduced_pose){block, (double(*)[4])(void *)(block + n), (double(*)[3])(void *)(block + 5 * n), n};
    for (size_t i = 0; i < n; i++)
        pose->quaternion[i][0] = 1;
    return ULNA_OK;
}

void ulna_reduced_pose_release(const ulna_allocator *allocator, ulna_reduced_pose *pose)
{
    if (!pose)
        return;
    ulna_allocator memory = ulna_allocator_or_default(allocator);
    ulna_release(&memory, pose->value, 8 * pose->count, sizeof *pose->value);
    *pose = (ulna_reduced_pose){0};
}

void ulna_reduced_rotation(const ulna_reduced_pose *pose, int node, double r[9])
{
    const double *q = pose->quaternion[node];
    ulna_quaternion_to_rotation((const double[4]){q[1], q[2], q[3], q[0]}, r);
}

/* The parent's quaternion times (cos angle/2, axis sin angle/2), normalised, so that errors do not grow along chains. */
static void rotate_about(const double parent[4], const double axis[3], double angle, double q[4])
{
    double c = cos(0.5 * angle), s = sin(0.5 * angle), across[3];
    ulna_cross(parent + 1, axis, across);
    q[0] = c * parent[0] - s * ulna_dot(parent + 1, axis);
    for (int i = 0; i < 3; i++)
        q[1 + i] = c * parent[1 + i] + s * (parent[0] * axis[i] + across[i]);
    double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++)
        q[i] /= length;
}

void ulna_reduced_place(const ulna_reduced *reduced, const ulna_reduced_pose *pose)
{
    for (int n = 0; n < reduced->count; n++) {
        const ulna_node *node = &reduced->nodes[n];
        double *q = pose->quaternion[n], *p = pose->place[n], r[9], step[3];
        if (node->edge == ULNA_EDGE_WORLD) {
            memcpy(q, (const double[4]){1, 0, 0, 0}, 4 * sizeof *q);
            for (int i = 0; i < 3; i++)
                p[i] = -reduced->centre[i] / reduced->length;
            continue;
        }
        if (node->edge == ULNA_EDGE_FREE)
            continue;
        ulna_copy3(pose->place[node->parent], p);
        if (node->edge == ULNA_EDGE_BALL)
            continue;
        if (node->edge == ULNA_EDGE_HINGE) {
            rotate_about(pose->quaternion[node->parent], node->axis, pose->value[n], q);
            continue;
        }
        double far = node->edge == ULNA_EDGE_TRANSLATION ? pose->value[n] : 1;
        memcpy(q, pose->quaternion[node->parent], 4 * sizeof *q);
        ulna_reduced_rotation(pose, n, r);
        ulna_rotate(r, node->edge == ULNA_EDGE_TRANSLATION ? node->axis : node->v, step);
        for (int i = 0; i < 3; i++)
            p[i] += far * step[i];
    }
}

double ulna_reduced_far(const ulna_reduced *reduced, double *reach)
{
    double sum = 0, rounding = 1e-15 * (1000.0 + reduced->count);
    for (int n = 0; n < reduced->count; n++) {
        const ulna_node *node = &reduced->nodes[n];
        double away[3];
        reach[n] = n > 0 ? reach[node->parent] : 0;
        if (node->edge == ULNA_EDGE_FREE)
            reach[n] = INFINITY;
        else if (node->edge == ULNA_EDGE_TRANSLATION)
            reach[n] += fmax(fabs(node->lower), fabs(node->upper));
        else if (node->edge == ULNA_EDGE_BONE)
            reach[n] += ulna_norm(node->v);
        for (int i = 0; i < 3; i++)
            away[i] = node->goal[i] + reduced->centre[i] / reduced->length;
        double far = ulna_norm(away), beyond = far - reach[n] - rounding * (far + reach[n]);
        if (node->weight > 0 && beyond > 0)
            sum += node->weight * beyond * beyond;
    }
    return sum * (1 - rounding);
}

/* =============================================================================================================== */

/*
 * From a pose of the reduced tree back to the coordinates of the model.
 *
 * Angles and travels are coordinates of the model, after multiples of 2 pi are added and limits applied. A ball is a
 * rotation M = R_parentT R. If it was made of segments of a link, M = C J CT, and ulna_joint_fit finds the coordinates of
 * J. If it was made of three rotations about a, b, c, with b perpendicular to a and c, then c = Rot(b, beta) a, and
 *
 *   M Rot(b, beta) = Rot(a, x) Rot(b, y + beta) Rot(a, z),      Euler angles in a frame with a and b for axes.
 */

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* The angle plus the smallest multiple of 2 pi that brings it inside the limits; if none does, just beyond one of them. */
static double moved_inside(double angle, double lower, double upper)
{
    if (angle < lower)
        return angle + 2 * ULNA_PI * ceil((lower - angle) / (2 * ULNA_PI));
    if (angle > upper)
        return angle - 2 * ULNA_PI * ceil((angle - upper) / (2 * ULNA_PI));
    return angle;
}

/* The same, but nearest to angle `near`; the nearer limit if no multiple of 2 pi brings it inside. */
static double angle_inside(double angle, double near, double lower, double upper)
{
    angle = moved_inside(ulna_nearest_turn(angle, near), lower, upper);
    if (angle >= lower && angle <= upper)
        return angle;
    double above = angle > upper ? angle : angle + 2 * ULNA_PI, below = above - 2 * ULNA_PI;
    return above - upper <= lower - below ? upper : lower;
}

static int is_inside(const ulna_reduction *to, const int dof[3], const double *q)
{
    for (int k = 0; k < 3; k++) {
        int c = to->model->dof_coordinate[dof[k]];
        if (c != ULNA_NONE && (q[c] < to->lower[dof[k]] || q[c] > to->upper[dof[k]]))
            return 0;
    }
    return 1;
}

static void clamp(const ulna_reduction *to, int dof, double *q)
{
    int c = to->model->dof_coordinate[dof];
    if (c != ULNA_NONE)
        q[c] = fmin(fmax(q[c], to->lower[dof]), to->upper[dof]);
}

/* ---- balls ------------------------------------------------------------------------------------------------------- */

static ulna_joint_plan plan_of(int count, const unsigned char *segment, int sign)
{
    ulna_joint_plan plan = {.segment_count = count, .sign = sign};
    for (int s = 0; s < count; s++) {
        plan.segment[s] = segment[s];
        plan.dof_count += ulna_segment_dofs((ulna_segment)segment[s]);
        plan.coordinate_count += ulna_segment_coordinates((ulna_segment)segment[s]);
    }
    ulna_identity9(plan.pre);
    ulna_identity9(plan.post);
    return plan;
}

static void fit_rotations(const ulna_reduction *to, const ulna_ball *ball, const double rotation[9], double *q)
{
    static const unsigned char order[3] = {ULNA_SEGMENT_RZ, ULNA_SEGMENT_RX, ULNA_SEGMENT_RZ};
    const ulna_joint_plan plan = plan_of(3, order, 1);
    const double *a = ball->axis[0], *b = ball->axis[1], *c = ball->axis[2], none[3] = {0, 0, 0};

    /* columns b, a x b, a: so that b is x and a is z */
    double frame[9], back[9], side[3], half[9], w[3], wanted[9], product[9], angle[3];
    ulna_cross(a, b, side);
    for (int i = 0; i < 3; i++) {
        frame[3 * i] = b[i];
        frame[3 * i + 1] = side[i];
        frame[3 * i + 2] = a[i];
    }
    ulna_orthonormalise(frame); /* the axes may be only nearly perpendicular */

    /* Rot(b, -90 degrees) rotates a to a x b */
    double beta = atan2(-ulna_dot(c, side), ulna_dot(c, a));
    for (int i = 0; i < 3; i++)
        w[i] = beta * frame[3 * i];
    ulna_exp(w, half);
    ulna_multiply9(rotation, half, product);
    ulna_transpose9(frame, back);
    ulna_multiply9(back, product, half);
    ulna_multiply9(half, frame, wanted);

    const int *dof = ball->dof, *at = to->model->dof_coordinate;
    for (int k = 0; k < 3; k++)
        angle[k] = q[at[dof[k]]] + (k == 1 ? beta : 0);
    ulna_joint_fit(&plan, 1, wanted, none, angle, angle);
    angle[1] -= beta;
    for (int k = 0; k < 3; k++)
        q[at[dof[k]]] = moved_inside(angle[k], to->lower[dof[k]], to->upper[dof[k]]);
    for (int k = 0; k < 3; k++)
        clamp(to, dof[k], q); /* against rounding: their limits are 2 pi apart, or more */
}

/* The coordinates nearest to `near`; a twist is brought inside its limits by multiples of 2 pi. */
static void fit_near(const ulna_reduction *to, const ulna_ball *ball, const ulna_joint_plan *plan,
                     const double wanted[9], const double *near, double *at)
{
    static const double none[3] = {0, 0, 0};
    ulna_joint_fit(plan, 1, wanted, none, near, at);
    for (int s = 0, k = 0; s < plan->segment_count; k += ulna_segment_dofs((ulna_segment)plan->segment[s++]))
        if (plan->segment[s] == ULNA_SEGMENT_RZ)
            at[k] = moved_inside(at[k], to->lower[ball->dof[k]], to->upper[ball->dof[k]]);
}

/* Chooses among the rotation vectors of the same rotation: the nearest to the old one; if that is outside the limits, the
 * shortest; if that is outside as well, the one in the opposite direction. */
static void fit_branches(const ulna_reduction *to, const ulna_ball *ball, const ulna_joint_plan *plan,
                         const double wanted[9], double *q)
{
    double *at = q + ball->coordinate, other[4] = {0, 0, 0, 1};
    fit_near(to, ball, plan, wanted, at, at);
    if (plan->segment[0] == ULNA_SEGMENT_BALL || is_inside(to, ball->dof, q))
        return;
    fit_near(to, ball, plan, wanted, other, at);
    if (is_inside(to, ball->dof, q))
        return;
    int first = plan->segment[0] == ULNA_SEGMENT_RZ, count = plan->segment[0] == ULNA_SEGMENT_EXPMAP ? 3 : 2;
    double length = 0, kept[3] = {at[0], at[1], at[2]};
    memcpy(other, at, 3 * sizeof *other);
    for (int i = first; i < first + count; i++)
        length = hypot(length, at[i]);
    for (int i = first; i < first + count && length > 0; i++)
        other[i] *= 1 - 2 * ULNA_PI / length;
    fit_near(to, ball, plan, wanted, other, at);
    if (!is_inside(to, ball->dof, q))
        ulna_copy3(kept, at);
}

/* Coordinates outside the limits are set to the limit: the relaxation does not have these limits. */
static void fit_segments(const ulna_reduction *to, const ulna_ball *ball, const double rotation[9], double *q)
{
    const ulna_link *link = &to->model->link[ball->link];
    const ulna_joint_plan plan = plan_of(ball->segment_count, link->segment + ball->segment, link->sign);
    double back[9], half[9], wanted[9];
    ulna_transpose9(ball->frame, back);
    ulna_multiply9(back, rotation, half);
    ulna_multiply9(half, ball->frame, wanted);
    fit_branches(to, ball, &plan, wanted, q);
    for (int k = 0; k < 3; k++) {
        int c = to->model->dof_coordinate[ball->dof[k]];
        clamp(to, ball->dof[k], q);
        if (c != ULNA_NONE && to->locked[ball->dof[k]])
            q[c] = to->q[c];
    }
}

/* Solves base + sum along[k] travel[k] = place by Cramer's rule: the directions are independent. */
static void fit_translations(const ulna_reduced *reduced, const ulna_ball *ball, const double place[3], double *q)
{
    double far[3], normal[3];
    for (int i = 0; i < 3; i++)
        far[i] = reduced->reduction->node0[i] + reduced->centre[i] - ball->base[i] + reduced->length * place[i];
    for (int k = 0; k < 3; k++) {
        ulna_cross(ball->along[(k + 1) % 3], ball->along[(k + 2) % 3], normal);
        q[reduced->reduction->model->dof_coordinate[ball->translation[k]]] =
            ulna_dot(normal, far) / ulna_dot(normal, ball->along[k]);
    }
}

static void fit_ball(const ulna_reduced *reduced, const ulna_reduced_pose *pose, const ulna_ball *ball, double *q)
{
    double above[9], back[9], r[9], rotation[9];
    ulna_reduced_rotation(pose, reduced->nodes[ball->node].parent, above);
    ulna_reduced_rotation(pose, ball->node, r);
    ulna_transpose9(above, back);
    ulna_multiply9(back, r, rotation);
    if (ball->of_rotations)
        fit_rotations(reduced->reduction, ball, rotation, q);
    else
        fit_segments(reduced->reduction, ball, rotation, q);
    if (ball->translation[0] != ULNA_NONE)
        fit_translations(reduced, ball, pose->place[ball->node], q);
}

/* ---- all coordinates --------------------------------------------------------------------------------------------------- */

/* Initial values, for coordinates that are not part of the pose. */
static void begin(const ulna_reduction *to, const double *near_q, double *q)
{
    const ulna_model *model = to->model;
    if (q != near_q)
        memcpy(q, near_q ? near_q : to->q, (size_t)model->nq * sizeof *q);
    for (int j = 0; j < model->nv; j++) {
        int c = model->dof_coordinate[j];
        clamp(to, j, q);
        if (!to->locked[j])
            continue;
        const ulna_body *body = &model->body[model->dof_body[j]];
        int at = c != ULNA_NONE ? c : body->coordinate + (j - model->dof_part[j] - body->dof);
        memcpy(q + at, to->q + at, (c != ULNA_NONE ? 1 : 4) * sizeof *q);
    }
}

/* Must be checked first, since joint fits return finite numbers for any input. */
static int is_finite(const ulna_reduced *reduced, const ulna_reduced_pose *pose)
{
    int finite = 1;
    for (int n = 0; n < reduced->count && finite; n++)
        finite = ulna_all_finite(pose->quaternion[n], 4) && ulna_all_finite(pose->place[n], 3);
    return finite;
}

ulna_status ulna_reduced_to_q(const ulna_reduced *reduced, const ulna_problem *problem, const ulna_reduced_pose *pose,
                              const double *near_q, double *q)
{
    if (!reduced || !reduced->reduction || !problem || !pose || !q || problem->model != reduced->reduction->model)
        return ULNA_ERR_ARGUMENT;
    const ulna_reduction *to = reduced->reduction;
    if (near_q && ulna_model_check_q(to->model, near_q, NULL) != ULNA_OK)
        return ULNA_ERR_NUMBER;
    ulna_reduced_place(reduced, pose);
    if (!is_finite(reduced, pose))
        return ULNA_ERR_NUMBER;
    begin(to, near_q, q);
    for (int n = 1; n < reduced->count; n++) {
        const ulna_node *node = &reduced->nodes[n];
        if (node->edge != ULNA_EDGE_HINGE && node->edge != ULNA_EDGE_TRANSLATION)
            continue;
        double *at = &q[to->model->dof_coordinate[node->dof]];
        if (node->edge == ULNA_EDGE_HINGE)
            *at = angle_inside(pose->value[n], *at, to->lower[node->dof], to->upper[node->dof]);
        else
            *at = reduced->length * (node->middle + pose->value[n]);
        clamp(to, node->dof, q);
    }
    for (int b = 0; b < to->ball_count; b++)
        fit_ball(reduced, pose, &to->balls[b], q);
    return ulna_model_check_q(to->model, q, NULL);
}
