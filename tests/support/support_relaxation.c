#include "support_relaxation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/math3.h"

/* ---- random trees -------------------------------------------------------------------------------------------- */

static void random_unit(ulna_test_rng *rng, double v[3])
{
    double norm = 0;
    while (!(norm > 0.1)) {
        for (int i = 0; i < 3; i++)
            v[i] = ulna_test_rng_normal(rng);
        norm = ulna_norm(v);
    }
    for (int i = 0; i < 3; i++)
        v[i] /= norm;
}

static void random_limits(ulna_test_rng *rng, double reach, ulna_node *node)
{
    const double middle = ulna_test_rng_uniform(rng, -reach, reach), half = ulna_test_rng_uniform(rng, 0.05, 1.5);
    node->lower = middle - half * reach;
    node->upper = middle + half * reach;
}

static ulna_node random_node(ulna_test_rng *rng, ulna_test_tree_kind kind, int n)
{
    ulna_node node = {.parent = n - 1 - ulna_test_rng_index(rng, n < 3 ? 1 : 2), .dof = ULNA_NONE, .body = ULNA_NONE};
    const int draw = ulna_test_rng_index(rng, 20);
    random_unit(rng, node.axis);
    if (kind.planar) {
        const double z[3] = {0, 0, 1};
        memcpy(node.axis, z, sizeof z);
    }
    random_unit(rng, node.v);
    for (int i = 0; i < 3; i++)
        node.v[i] *= ulna_test_rng_uniform(rng, 0.2, 0.6);
    node.edge = draw < 9 ? ULNA_EDGE_HINGE : ULNA_EDGE_BONE;
    if (n == 1)
        node.edge = kind.free_root ? ULNA_EDGE_FREE : ULNA_EDGE_HINGE;
    else if (n == 2)
        node.edge = ULNA_EDGE_BONE;
    else if (draw >= 18 && kind.balls)
        node.edge = ULNA_EDGE_BALL;
    else if (draw >= 16 && kind.slides)
        node.edge = ULNA_EDGE_TRANSLATION;
    if (node.parent == 0 && n > 1)
        node.parent = 1;
    random_limits(rng, node.edge == ULNA_EDGE_TRANSLATION ? 0.3 : 1, &node);
    if (node.edge == ULNA_EDGE_HINGE && draw == 0) {
        node.lower = -INFINITY;
        node.upper = INFINITY;
    }
    if (node.edge == ULNA_EDGE_TRANSLATION && kind.unlimited_slides) {
        node.upper = INFINITY;
        node.lower = draw == 16 ? -INFINITY : node.lower;
    }
    return node;
}

void ulna_test_random_pose(ulna_test_rng *rng, const ulna_reduced *tree, ulna_reduced_pose *pose)
{
    for (int n = 0; n < tree->count; n++) {
        const ulna_node *node = &tree->nodes[n];
        double norm = 0;
        const double low = fmax(node->lower, -3), high = fmin(node->upper, 3);
        pose->value[n] = low <= high ? ulna_test_rng_uniform(rng, low, high) : fmax(node->lower, -3);
        for (int i = 0; i < 4; i++) {
            pose->quaternion[n][i] = ulna_test_rng_normal(rng);
            norm += pose->quaternion[n][i] * pose->quaternion[n][i];
        }
        for (int i = 0; i < 4; i++)
            pose->quaternion[n][i] /= sqrt(norm);
        for (int i = 0; i < 3; i++)
            pose->place[n][i] = ulna_test_rng_normal(rng);
    }
    ulna_reduced_place(tree, pose);
}

ulna_reduced ulna_test_random_reduced(ulna_test_rng *rng, ulna_test_tree_kind kind, int count, double noise)
{
    ulna_reduced tree = {.count = count, .capacity = count, .length = 1, .unit = 1, .centre = {0.1, -0.2, 0.3}};
    ulna_reduced_pose pose;
    tree.nodes = calloc((size_t)count, sizeof *tree.nodes);
    assert_non_null(tree.nodes);
    tree.nodes[0] = (ulna_node){.edge = ULNA_EDGE_WORLD, .parent = ULNA_NONE, .dof = ULNA_NONE, .body = ULNA_NONE};
    for (int n = 1; n < count; n++)
        tree.nodes[n] = random_node(rng, kind, n);
    assert_int_equal(ulna_reduced_pose_create(&tree, NULL, &pose), ULNA_OK);
    ulna_test_random_pose(rng, &tree, &pose);
    for (int n = 1; n < count; n++) {
        ulna_node *node = &tree.nodes[n];
        if (node->edge == ULNA_EDGE_BONE && (n == count - 1 || ulna_test_rng_index(rng, 2)))
            node->weight = ulna_test_rng_uniform(rng, 0.5, 2);
        if (n == 2)
            node->weight = 1;
        for (int i = 0; i < 3; i++)
            node->goal[i] = pose.place[n][i] + noise * ulna_test_rng_normal(rng);
        node->has_rotation_cost = kind.turns && ulna_test_rng_index(rng, 4) == 0;
        for (int i = 0; i < 9; i++)
            node->rotation_cost[i] = 0.1 * ulna_test_rng_normal(rng);
    }
    ulna_reduced_pose_release(NULL, &pose);
    return tree;
}

void ulna_test_tree_release(ulna_reduced *tree)
{
    free(tree->nodes);
    tree->nodes = NULL;
}

/* ---- blocks of a pose ---------------------------------------------------------------------------------------- */

/* x y z w, of the rotation R F */
static void quaternion_of(const double R[9], const double F[9], double q[4])
{
    double RF[9];
    ulna_multiply9(R, F, RF);
    ulna_rotation_to_quaternion(RF, q);
}

static int outer(int n, const double *v, double scale, double *S)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            S[i * n + k] = scale * v[i] * v[k];
    return n;
}

static int bone_block(const ulna_relaxation *r, const double *p, const double *move, double *S)
{
    double h[7] = {1};
    for (int i = 0; i < 3; i++) {
        h[1 + i] = (p[i] - r->origin[i]) / r->unit;
        h[4 + i] = move[i];
    }
    return outer(7, h, 1, S);
}

static int slide_block(const ulna_relaxation *r, const ulna_relax_edge *edge, const double *p, const double R[9],
                       const double axis[3], const double q[4], double travel, int which, double *S)
{
    const double x = (travel / r->unit - edge->middle) / edge->half, h[2] = {1, x};
    double move[3];
    ulna_rotate(R, axis, move);
    for (int i = 0; i < 3; i++)
        move[i] *= travel / r->unit / edge->length;
    const int bones = r->kind == ULNA_RELAX_BONES;
    if (!edge->limited)
        return bones && which == 0 ? bone_block(r, p, move, S) : 0;
    if (which < 2)
        return outer(4, q, which ? 1 - x : 1 + x, S);
    if (!bones || which > 4)
        return 0;
    if (which == 2)
        return bone_block(r, p, move, S);
    S[0] = 1 - x * x;
    return which == 3 ? outer(2, h, 1, S) : 1;
}

static int hinge_block(const ulna_relax_edge *edge, const double q[4], double angle, int which, double *S)
{
    const double phi = angle - edge->middle, c = cos(phi / 2), s = sin(phi / 2) / edge->lambda;
    double h[8];
    for (int i = 0; i < 4; i++) {
        h[i] = c * q[i];
        h[4 + i] = s * q[i];
    }
    return which == 0 ? outer(8, h, 1, S) : which == 1 && edge->limited ? outer(4, q, 1 - edge->nu * s * s, S) : 0;
}

int ulna_test_block_of_pose(const ulna_relaxation *r, const ulna_reduced *tree, const ulna_reduced_pose *pose, int node,
                            int which, double *S)
{
    const ulna_relax_edge *edge = &r->edges[node];
    const ulna_node *n = &tree->nodes[node];
    const int parent = n->parent;
    static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double R[9], above[9], q[4], move[3];
    if (edge->how == ULNA_RELAX_PASS)
        return 0;
    ulna_reduced_rotation(pose, node, R);
    ulna_reduced_rotation(pose, parent, above);
    switch (n->edge) {
    case ULNA_EDGE_HINGE:
        quaternion_of(above, edge->base, q);
        return hinge_block(edge, q, pose->value[node], which, S);
    case ULNA_EDGE_TRANSLATION:
        quaternion_of(above, r->edges[parent].model, q);
        return slide_block(r, edge, pose->place[parent], above, n->axis, q, pose->value[node], which, S);
    case ULNA_EDGE_BONE:
        ulna_rotate(above, n->v, move);
        for (int i = 0; i < 3; i++)
            move[i] /= ulna_norm(n->v);
        return which == 0 ? bone_block(r, pose->place[parent], move, S) : 0;
    default:
        quaternion_of(R, same, q);
        if (which == 0)
            return outer(4, q, 1, S);
        if (which > 1 || n->edge != ULNA_EDGE_FREE || r->kind != ULNA_RELAX_BONES)
            return 0;
        double h[4] = {1};
        for (int i = 0; i < 3; i++)
            h[1 + i] = (pose->place[node][i] - r->origin[i]) / r->unit;
        return outer(4, h, 1, S);
    }
}

void ulna_test_relaxation_moments(const ulna_relaxation *r, int node, double Z[16], double place[3])
{
    const double *s = r->state + (size_t)node * (size_t)r->states, *C = r->edges[node].model;
    double t[10] = {1};
    for (int row = 0; row < 3; row++) /* R_model = R modelT */
        for (int k = 0; k < 3; k++)
            t[1 + 3 * k + row] = s[row] * C[3 * k] + s[3 + row] * C[3 * k + 1] + s[6 + row] * C[3 * k + 2];
    ulna_relax_matrix(t, Z);
    for (int i = 0; i < 3; i++)
        place[i] = s[9 + i] * r->unit + r->origin[i];
}
