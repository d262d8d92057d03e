#include "support_reduced.h"

#include <math.h>
#include <stdlib.h>

#include "global/reduce.h"
#include "math/math3.h"
#include "support_tree.h"

typedef struct frame {
    double r[9], t[3];
} frame;

static frame moved(const frame *a, const double rotation[9], const double translation[3])
{
    frame result;
    ulna_compose(a->r, a->t, rotation, translation, result.r, result.t);
    return result;
}

/* The moving frame of a link after `count` of its segments. */
static frame after(const ulna_link *link, const frame *parent, const double *q, int count)
{
    frame at;
    double rotation[9], slide[3];
    const double *x = q + link->coordinate;
    for (int i = 0; i < 9; i++)
        rotation[i] = link->rotation[i % 3][i / 3];
    at = moved(parent, rotation, link->offset);
    for (int s = 0; s < count; s++) {
        ulna_segment_motion((ulna_segment)link->segment[s], link->sign, x, rotation, slide);
        at = moved(&at, rotation, slide);
        x += ulna_segment_coordinates((ulna_segment)link->segment[s]);
    }
    return at;
}

void ulna_test_reduced_pose(const ulna_reduced *reduced, const double *q, ulna_reduced_pose *pose)
{
    static const frame world = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    const ulna_reduction *to = reduced->reduction;
    const ulna_model *model = to->model;
    frame *links = calloc((size_t)model->nl, sizeof *links);
    assert_non_null(links);
    for (int l = 0; l < model->nl; l++) {
        const ulna_link *link = &model->link[l];
        links[l] = after(link, link->parent < 0 ? &world : &links[link->parent], q, link->segment_count);
    }
    for (int n = 0; n < reduced->count; n++) {
        const ulna_node *node = &reduced->nodes[n];
        if (node->edge == ULNA_EDGE_HINGE)
            pose->value[n] = q[model->dof_coordinate[node->dof]];
        else if (node->edge == ULNA_EDGE_TRANSLATION)
            pose->value[n] = q[model->dof_coordinate[node->dof]] / reduced->length;
    }
    for (int b = 0; b < to->ball_count; b++) {
        const ulna_ball *ball = &to->balls[b];
        const ulna_link *link = &model->link[ball->link];
        frame at =
            after(link, link->parent < 0 ? &world : &links[link->parent], q, ball->segment + ball->segment_count);
        double back[9], r[9], c[4];
        ulna_transpose9(ball->frame, back);
        ulna_multiply9(at.r, back, r);
        ulna_rotation_to_quaternion(r, c);
        memcpy(pose->quaternion[ball->node], (const double[4]){c[3], c[0], c[1], c[2]}, sizeof c);
        for (int i = 0; i < 3; i++)
            pose->place[ball->node][i] = (at.t[i] - reduced->origin[i] - reduced->centre[i]) / reduced->length;
    }
    free(links);
}

double ulna_test_reduced_f(const ulna_reduced *reduced, const double *q)
{
    ulna_reduced_pose pose;
    assert_int_equal(ulna_reduced_pose_create(reduced, NULL, &pose), ULNA_OK);
    ulna_test_reduced_pose(reduced, q, &pose);
    double f = reduced->unit * ulna_test_reduced_cost(reduced, &pose);
    ulna_reduced_pose_release(NULL, &pose);
    return f;
}

static void check_node(const ulna_reduced *r, int n)
{
    const ulna_node *node = &r->nodes[n];
    assert_in_range((unsigned)node->parent, 0, (unsigned)n - 1);
    ulna_edge above = r->nodes[node->parent].edge;
    assert_true(node->weight >= 0 && ulna_all_finite(node->goal, 3) && ulna_all_finite(node->rotation_cost, 9));
    switch (node->edge) {
    case ULNA_EDGE_FREE:
        assert_int_equal(node->parent, 0);
        break;
    case ULNA_EDGE_BONE:
        assert_true(ulna_norm(node->v) > 0 && ulna_all_finite(node->v, 3));
        assert_int_not_equal(above, ULNA_EDGE_BONE);
        assert_int_equal(node->has_rotation_cost, 0);
        break;
    case ULNA_EDGE_HINGE:
    case ULNA_EDGE_TRANSLATION:
        assert_true(fabs(ulna_norm(node->axis) - 1) < 1e-13);
        assert_true(node->lower < node->upper);
        assert_in_range((unsigned)node->dof, 0, (unsigned)r->reduction->model->nv - 1);
        assert_true(node->edge == ULNA_EDGE_HINGE || !node->has_rotation_cost);
        break;
    case ULNA_EDGE_BALL:
        break;
    case ULNA_EDGE_WORLD:
    default:
        fail_msg("node %d is a second world", n);
    }
    /* a point at a joint does not feel it: it is the parent's */
    if (node->edge == ULNA_EDGE_HINGE || node->edge == ULNA_EDGE_BALL)
        assert_true(node->weight == 0);
}

void ulna_test_check_reduced(const ulna_reduced *r)
{
    assert_true(r->count >= 1 && r->count <= r->capacity);
    assert_int_equal(r->nodes[0].edge, ULNA_EDGE_WORLD);
    assert_int_equal(r->nodes[0].parent, ULNA_NONE);
    assert_true(r->nodes[0].weight == 0 && !r->nodes[0].has_rotation_cost);
    assert_true(r->length > 0 && isfinite(r->length) && r->unit > 0 && isfinite(r->unit) && isfinite(r->constant));
    int nv = r->reduction->model->nv, *children = calloc((size_t)r->count, sizeof *children);
    unsigned char *seen = calloc((size_t)nv + 1, 1);
    assert_non_null(children);
    assert_non_null(seen);
    double largest = 0;
    for (int n = 1; n < r->count; n++) {
        const ulna_node *node = &r->nodes[n];
        check_node(r, n);
        children[node->parent]++;
        largest = fmax(largest, fmax(node->weight, ulna_test_largest(node->rotation_cost, 9)));
        if (node->dof != ULNA_NONE)
            assert_int_equal(seen[node->dof]++, 0);
    }
    for (int n = 1; n < r->count; n++) /* nothing hangs there for no goal */
        assert_true(children[n] || r->nodes[n].weight > 0 || r->nodes[n].has_rotation_cost);
    if (r->count > 1)
        assert_true(largest > 0.3 && largest < 1 + 1e-12); /* a turn is measured by all of its entries */
    free(children);
    free(seen);
}

double ulna_test_reduced_cost(const ulna_reduced *reduced, const ulna_reduced_pose *pose)
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
        if (!node->has_rotation_cost)
            continue;
        ulna_reduced_rotation(pose, n, r);
        for (int i = 0; i < 9; i++)
            cost += node->rotation_cost[i] * r[i];
    }
    return cost;
}
