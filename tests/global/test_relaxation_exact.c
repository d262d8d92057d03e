/* Small problems whose best cost is known in closed form or by a scan, since the hull of one joint is exact. */
#include "support_reduced.h"
#include "support_relaxation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/math3.h"

enum { MOST = 8 };

static ulna_reduced world(ulna_node *nodes)
{
    memset(nodes, 0, MOST * sizeof *nodes);
    nodes[0] = (ulna_node){.edge = ULNA_EDGE_WORLD, .parent = ULNA_NONE};
    return (ulna_reduced){.nodes = nodes, .count = 1, .capacity = MOST, .length = 1, .unit = 1};
}

static ulna_node *add(ulna_reduced *tree, ulna_edge edge, int parent)
{
    ulna_node *node = &tree->nodes[tree->count++];
    *node = (ulna_node){.edge = edge, .parent = parent, .dof = ULNA_NONE, .body = ULNA_NONE};
    return node;
}

static void set3(double *v, double x, double y, double z)
{
    v[0] = x;
    v[1] = y;
    v[2] = z;
}

static void set_goal(ulna_node *node, double weight, double x, double y, double z)
{
    node->weight = weight;
    set3(node->goal, x, y, z);
}

/* Primal and bound enclose `expected`, tightly; the rounded pose reaches it if it is to. */
static void expect(const ulna_reduced *tree, ulna_relax_kind kind, double expected, double tolerance, int reached,
                   ulna_reduced_pose *pose)
{
    ulna_relaxation *relaxation;
    ulna_relax_result result;
    ulna_relax_options options = ulna_relax_options_default();
    options.relative = 1e-8;
    options.absolute = tolerance / 4;
    assert_int_equal(ulna_relaxation_create(tree, kind, NULL, &relaxation, NULL), ULNA_OK);
    assert_int_equal(ulna_relaxation_solve(relaxation, tree, &options, &result), ULNA_OK);
    ulna_relaxation_round(relaxation, NULL, pose);
    const double cost = ulna_test_reduced_cost(tree, pose);
    if (!(fabs(result.primal - expected) <= tolerance && result.bound <= expected + 1e-10 &&
          result.bound >= expected - tolerance && (!reached || fabs(cost - expected) <= 10 * tolerance)))
        fail_msg("F%d: primal %.10g, bound %.10g, rounded %.10g, expected %.10g (end %d)", (int)kind + 2, result.primal,
                 result.bound, cost, expected, (int)result.end);
    ulna_relaxation_destroy(relaxation);
}

static void expect_both(const ulna_reduced *tree, double expected, double tolerance)
{
    ulna_reduced_pose pose;
    assert_int_equal(ulna_reduced_pose_create(tree, NULL, &pose), ULNA_OK);
    for (int kind = 0; kind < 2; kind++)
        expect(tree, (ulna_relax_kind)kind, expected, tolerance, 1, &pose);
    ulna_reduced_pose_release(NULL, &pose);
}

/* ---- rotations ----------------------------------------------------------------------------------------------- */

/* <turn, R> over a limited hinge: a linear cost, for which the hull is exact. The best angle by a fine scan. */
static void one_hinge_with_a_rotation_cost_is_exact(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(3);
    for (int round = 0; round < 40; round++) {
        ulna_node nodes[MOST];
        ulna_reduced tree = world(nodes);
        ulna_node *hinge = add(&tree, ULNA_EDGE_HINGE, 0);
        static const double halves[] = {0.05, 0.5, 1.5, 3, 3.1415, 4};
        const double middle = ulna_test_rng_uniform(&rng, -3, 3), half = halves[round % 6];
        double turn[9], axis[3] = {0.6, 0, 0.8}, best = INFINITY;
        set3(hinge->axis, axis[0], axis[1], axis[2]);
        hinge->lower = middle - half;
        hinge->upper = middle + half;
        hinge->has_rotation_cost = 1;
        for (int i = 0; i < 9; i++)
            turn[i] = hinge->rotation_cost[i] = ulna_test_rng_normal(&rng);
        for (int i = 0; i <= 20000; i++) {
            const double angle = hinge->lower + (hinge->upper - hinge->lower) * i / 20000;
            const double w[3] = {axis[0] * angle, axis[1] * angle, axis[2] * angle};
            double R[9], cost = 0;
            ulna_exp(w, R);
            for (int k = 0; k < 9; k++)
                cost += turn[k] * R[k];
            best = fmin(best, cost);
        }
        expect_both(&tree, best, 3e-6);
    }
}

/* Wahba's problem: the least <turn, R> over all rotations is -(s1 + s2 +- s3), here with singular values known. */
static void a_ball_with_a_rotation_cost_is_exact(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(5);
    for (int round = 0; round < 20; round++) {
        ulna_node nodes[MOST];
        ulna_reduced tree = world(nodes);
        ulna_node *ball = add(&tree, ULNA_EDGE_BALL, 0);
        double a[3], b[3], A[9], B[9], D[9] = {0}, AD[9], s[3];
        for (int i = 0; i < 3; i++) {
            a[i] = ulna_test_rng_uniform(&rng, -2, 2);
            b[i] = ulna_test_rng_uniform(&rng, -2, 2);
            s[i] = ulna_test_rng_uniform(&rng, 0.2, 1) + (2 - i);
            D[4 * i] = i == 2 && round % 2 ? -s[i] : s[i];
        }
        ulna_exp(a, A);
        ulna_exp(b, B);
        ulna_multiply9(A, D, AD);
        ulna_multiply9(AD, B, ball->rotation_cost);
        ball->has_rotation_cost = 1;
        /* <A D B, R> is least at R = -A B where that is a rotation: with det = -1 the smallest singular value changes
         * sign */
        expect_both(&tree, -(s[0] + s[1] + (round % 2 ? 1 : -1) * s[2]), 1e-6);
    }
}

/* ---- places -------------------------------------------------------------------------------------------------- */

/* A ball and a bone: the sphere's distance from the goal. From outside, both relaxations know it. */
static void a_goal_beyond_reach_of_a_ball_is_exact(void **state)
{
    (void)state;
    ulna_node nodes[MOST];
    ulna_reduced tree = world(nodes);
    add(&tree, ULNA_EDGE_BALL, 0);
    ulna_node *bone = add(&tree, ULNA_EDGE_BONE, 1);
    set3(bone->v, 0, 0.5, 0);
    set_goal(bone, 3, 1, 1, 0.5);
    expect_both(&tree, 3 * pow(1.5 - 0.5, 2), 1e-6);
}

/* From inside only F3 does: the hull of the sphere contains the goal, its moments do not. */
static void a_goal_within_a_sphere_needs_bone_moments(void **state)
{
    (void)state;
    ulna_node nodes[MOST];
    ulna_reduced tree = world(nodes);
    ulna_reduced_pose pose;
    add(&tree, ULNA_EDGE_BALL, 0);
    ulna_node *bone = add(&tree, ULNA_EDGE_BONE, 1);
    set3(bone->v, 0, 0, 2);
    set_goal(bone, 1, 0.5, 0, 0);
    assert_int_equal(ulna_reduced_pose_create(&tree, NULL, &pose), ULNA_OK);
    expect(&tree, ULNA_RELAX_HULL, 0, 1e-6, 0, &pose);
    expect(&tree, ULNA_RELAX_BONES, 2.25, 3e-6, 0, &pose);
    ulna_reduced_pose_release(NULL, &pose);
}

static void a_slide_in_the_world_is_exact(void **state)
{
    (void)state;
    static const double limits[][2] = {
        {-1, 1}, {0.2, 0.3}, {-INFINITY, 0.4}, {0.1, INFINITY}, {-INFINITY, INFINITY}, {2, 5},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        ulna_node nodes[MOST];
        ulna_reduced tree = world(nodes);
        ulna_node *slide = add(&tree, ULNA_EDGE_TRANSLATION, 0);
        set3(slide->axis, 0, 1, 0);
        slide->lower = limits[i][0];
        slide->upper = limits[i][1];
        set_goal(slide, 2, 0.3, 0.7, -0.1);
        double travel = 0.7;
        if (isfinite(limits[i][0]) && isfinite(limits[i][1])) /* one limit alone is not part of the hull */
            travel = fmin(fmax(0.7, limits[i][0]), limits[i][1]);
        ulna_reduced_pose pose;
        assert_int_equal(ulna_reduced_pose_create(&tree, NULL, &pose), ULNA_OK);
        for (int kind = 0; kind < 2; kind++) {
            expect(&tree, (ulna_relax_kind)kind, 2 * (0.09 + 0.01 + pow(0.7 - travel, 2)), 3e-6, 0, &pose);
            assert_true(fabs(pose.value[1] - travel) < 0.01 || limits[i][1] == 0.4);
            assert_true(pose.value[1] <= slide->upper && pose.value[1] >= slide->lower);
        }
        ulna_reduced_pose_release(NULL, &pose);
    }
}

/* Two trees below the world, and a bone that stands still: costs add. */
static void independent_trees_add(void **state)
{
    (void)state;
    ulna_node nodes[MOST];
    ulna_reduced tree = world(nodes);
    set_goal(add(&tree, ULNA_EDGE_BONE, 0), 1, 0, 0, 3);
    set3(tree.nodes[1].v, 0, 0, 1);
    add(&tree, ULNA_EDGE_BALL, 1);
    set_goal(add(&tree, ULNA_EDGE_BONE, 2), 2, 0, 0, 5);
    set3(tree.nodes[3].v, 1, 0, 0);
    add(&tree, ULNA_EDGE_FREE, 0);
    set_goal(add(&tree, ULNA_EDGE_BONE, 4), 1, 7, 1, 0);
    set3(tree.nodes[5].v, 0, 1, 0);
    set_goal(add(&tree, ULNA_EDGE_BONE, 4), 1, 10, 1, 0);
    set3(tree.nodes[6].v, 0, -1, 0);
    /* 4 from the bone, 2 (5 - 2)^2 from the ball's, and 3 - 2 to share for the free pair: 2 (1/2)^2 */
    ulna_reduced_pose pose;
    assert_int_equal(ulna_reduced_pose_create(&tree, NULL, &pose), ULNA_OK);
    for (int kind = 0; kind < 2; kind++)
        expect(&tree, (ulna_relax_kind)kind, 4 + 18 + 0.5, 1e-5, 1, &pose);
    ulna_reduced_pose_release(NULL, &pose);
}

/* The posture cost decides among poses that cost the same: angles go to the middle of their limits. */
static void posture_prefers_the_middle(void **state)
{
    (void)state;
    ulna_node nodes[MOST];
    ulna_reduced tree = world(nodes);
    ulna_node *hinge = add(&tree, ULNA_EDGE_HINGE, 0);
    set3(hinge->axis, 0, 0, 1);
    hinge->lower = -0.5;
    hinge->upper = 1.5;
    ulna_reduced_pose pose;
    assert_int_equal(ulna_reduced_pose_create(&tree, NULL, &pose), ULNA_OK);
    for (int kind = 0; kind < 2; kind++) {
        ulna_relaxation *relaxation;
        ulna_relax_result result;
        ulna_relax_options options = ulna_relax_options_default();
        options.posture = 1e-3;
        assert_int_equal(ulna_relaxation_create(&tree, (ulna_relax_kind)kind, NULL, &relaxation, NULL), ULNA_OK);
        assert_int_equal(ulna_relaxation_solve(relaxation, &tree, &options, &result), ULNA_OK);
        ulna_relaxation_round(relaxation, NULL, &pose);
        assert_true(fabs(pose.value[1] - 0.5) < 1e-3);
        assert_true(fabs(result.primal + 1e-3) < 1e-6);
        ulna_relaxation_destroy(relaxation);
    }
    ulna_reduced_pose_release(NULL, &pose);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_hinge_with_a_rotation_cost_is_exact),
        cmocka_unit_test(a_ball_with_a_rotation_cost_is_exact),
        cmocka_unit_test(a_goal_beyond_reach_of_a_ball_is_exact),
        cmocka_unit_test(a_goal_within_a_sphere_needs_bone_moments),
        cmocka_unit_test(a_slide_in_the_world_is_exact),
        cmocka_unit_test(independent_trees_add),
        cmocka_unit_test(posture_prefers_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
