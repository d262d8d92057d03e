/* A pose of the reduced tree: where its nodes are, and what that costs. Slow and readable: the reference of the rest.
 * */
#include "base/base.h"
#include "global/reduced.h"
#include "math/math3.h"

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

/* The parent's quaternion times (cos angle/2, axis sin angle/2), of unit length again so that long chains stay sharp.
 * */
static void turn_on(const double parent[4], const double axis[3], double angle, double q[4])
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
            turn_on(pose->quaternion[node->parent], node->axis, pose->value[n], q);
            continue;
        }
        double far = node->edge == ULNA_EDGE_SLIDE ? pose->value[n] : 1;
        memcpy(q, pose->quaternion[node->parent], 4 * sizeof *q);
        ulna_reduced_rotation(pose, n, r);
        ulna_rotate(r, node->edge == ULNA_EDGE_SLIDE ? node->axis : node->v, step);
        for (int i = 0; i < 3; i++)
            p[i] += far * step[i];
    }
}

double ulna_reduced_cost(const ulna_reduced *reduced, const ulna_reduced_pose *pose)
{
    ulna_reduced_place(reduced, pose);
    double cost = reduced->constant;
    for (int n = 0; n < reduced->count; n++) {
        const ulna_node *node = &reduced->nodes[n];
        double off[3], r[9];
        for (int i = 0; i < 3 && node->weight > 0; i++) {
            off[i] = node->goal[i] - pose->place[n][i];
            cost += node->weight * off[i] * off[i];
        }
        if (!node->has_turn)
            continue;
        ulna_reduced_rotation(pose, n, r);
        for (int i = 0; i < 9; i++)
            cost += node->turn[i] * r[i];
    }
    return cost;
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
        else if (node->edge == ULNA_EDGE_SLIDE)
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
