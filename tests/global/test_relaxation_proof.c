/*
 * The relaxations against their definition, on random trees with every kind of edge: what comes out is feasible, its
 * multipliers are a proof of the bound, and the two are near each other. Only the definition of the blocks for a single
 * pose is used (support_relaxation.c), not how the method computes them.
 */
#include "support_reduced.h"
#include "support_relaxation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/math3.h"

typedef struct bench {
    ulna_reduced tree;
    ulna_relaxation *relaxation;
    ulna_relax_result result;
} bench;

static const ulna_test_tree_kind kinds[] = {
    {.free_root = 1},
    {.free_root = 0},
    {.free_root = 1, .balls = 1, .turns = 1},
    {.free_root = 0, .balls = 1, .slides = 1, .turns = 1},
    {.free_root = 1, .slides = 1},
    {.free_root = 0, .planar = 1, .slides = 1},
    {.free_root = 0, .slides = 1, .unlimited_slides = 1},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bench open_bench(ulna_test_rng *rng, ulna_test_tree_kind what, ulna_relax_kind kind, int lanes)
{
    bench b = {.tree = ulna_test_random_reduced(rng, what, 6 + ulna_test_rng_index(rng, 12), 0.1)};
    ulna_relax_options options = ulna_relax_options_default();
    options.relative = 1e-6;
    options.absolute = 1e-6;
    assert_int_equal(
        ulna_relaxation_create_with(&b.tree, kind, ulna_relax_kernel_find(NULL), lanes, NULL, &b.relaxation, NULL),
        ULNA_OK);
    assert_int_equal(ulna_relaxation_solve(b.relaxation, &b.tree, &options, &b.result), ULNA_OK);
    return b;
}

static void close_bench(bench *b)
{
    ulna_relaxation_destroy(b->relaxation);
    ulna_test_tree_release(&b->tree);
}

/* f of a pose in the tree's units; for F2 its tangent at the mean places of the relaxation. */
static double tangent_cost(const bench *b, const ulna_reduced_pose *pose)
{
    double sum = 0;
    for (int n = 0; n < b->tree.count; n++) {
        const ulna_node *node = &b->tree.nodes[n];
        double R[9], Z[16], mean[3];
        ulna_reduced_rotation(pose, n, R);
        ulna_test_relaxation_moments(b->relaxation, n, Z, mean);
        for (int i = 0; i < 9 && node->has_rotation_cost; i++)
            sum += node->rotation_cost[i] * R[i];
        for (int i = 0; i < 3; i++) {
            const double p = pose->place[n][i], away = mean[i] - node->goal[i];
            sum += node->weight * (b->relaxation->kind == ULNA_RELAX_BONES ? (p - node->goal[i]) * (p - node->goal[i])
                                                                           : away * away + 2 * away * (p - mean[i]));
        }
    }
    return sum;
}

/* sum <X, S(pose)> in the tree's units, after a look at X. */
static double slack_of(const bench *b, const ulna_reduced_pose *pose)
{
    double sum = 0;
    for (int n = 1; n < b->tree.count; n++)
        for (int which = 0;; which++) {
            double S[64], X[64], now[64], values[8], vectors[64];
            const int size = ulna_relax_block_now(b->relaxation, n, which, now, X);
            assert_int_equal(ulna_test_block_of_pose(b->relaxation, &b->tree, pose, n, which, S), size);
            if (size == 0)
                break;
            ulna_relax_eigen(size, X, values, vectors);
            assert_true(values[size - 1] >= -1e-13 * values[0]);
            for (int i = 0; i < size * size; i++)
                sum += X[i] * S[i];
        }
    return sum * b->relaxation->cost_unit;
}

/*
 * The Lagrangian f - sum <X, S> is the same at every pose (nothing pulls at any variable), and equals the bound: with
 * X >= 0 and S >= 0 that is the proof, since f is then at least the bound at every pose.
 */
static void check_proof(ulna_test_rng *rng, const bench *b, double tolerance, const char *what)
{
    ulna_reduced_pose pose;
    assert_int_equal(ulna_reduced_pose_create(&b->tree, NULL, &pose), ULNA_OK);
    for (int i = 0; i < 20; i++) {
        ulna_test_random_pose(rng, &b->tree, &pose);
        const double lagrangian = tangent_cost(b, &pose) - slack_of(b, &pose);
        double size = 1; /* what is left pulls more at poses far away */
        for (int n = 0; n < b->tree.count; n++)
            size = fmax(size, ulna_dot(pose.place[n], pose.place[n]));
        if (!(fabs(lagrangian - b->result.bound) <= tolerance * size))
            fail_msg("%s: Lagrangian %.9g, bound %.9g (primal %.9g, end %d)", what, lagrangian, b->result.bound,
                     b->result.primal, (int)b->result.end);
        assert_true(ulna_test_reduced_cost(&b->tree, &pose) >= b->result.bound);
    }
    ulna_reduced_pose_release(NULL, &pose);
}

/* ---- feasible moments ---------------------------------------------------------------------------------------- */

/* R (row by row) of second moments of a quaternion x y z w, by definition. */
static void rotation_of(const double *Z, int stride, double R[9])
{
    const double xx = Z[0], yy = Z[stride + 1], zz = Z[2 * stride + 2], ww = Z[3 * stride + 3];
    const double xy = Z[1], xz = Z[2], xw = Z[3], yz = Z[stride + 2], yw = Z[stride + 3], zw = Z[2 * stride + 3];
    const double out[9] = {xx - yy - zz + ww, 2 * (xy - zw), 2 * (xz + yw), 2 * (xy + zw),    yy - xx - zz + ww,
                           2 * (yz - xw),     2 * (xz - yw), 2 * (yz + xw), zz - xx - yy + ww};
    memcpy(R, out, sizeof out);
}

static void near(const double *a, const double *b, int count, const char *what, int node)
{
    for (int i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) < 1e-9))
            fail_msg("node %d, %s: %.12g is not %.12g", node, what, a[i], b[i]);
}

/* E[R] of a node in the model's frame. */
static void mean_rotation(const bench *b, int node, double R[9])
{
    double Z[16], place[3];
    ulna_test_relaxation_moments(b->relaxation, node, Z, place);
    assert_true(fabs(Z[0] + Z[5] + Z[10] + Z[15] - 1) < 1e-12);
    rotation_of(Z, 4, R);
}

/* Parent and child of a hinge are E[R] and E[R Rot(axis, angle)] of the same W. */
static void check_hinge(const bench *b, int node)
{
    const ulna_relax_edge *edge = &b->relaxation->edges[node];
    double W[64], X[64], V[64], Z[16], above[9], here[9], R[9], turned[9], A[16], B[16], C[16], expected[9], back[9];
    assert_int_equal(ulna_relax_block_now(b->relaxation, node, 0, W, X), 8);
    const double l = edge->lambda;
    for (int i = 0; i < 16; i++) {
        const int at = i / 4 * 8 + i % 4;
        A[i] = W[at];
        B[i] = l * W[at + 4];
        C[i] = l * l * W[at + 36];
        Z[i] = A[i] + C[i];
        assert_true(fabs(W[at + 4] - W[at + 32]) < 1e-12);
    }
    mean_rotation(b, b->tree.nodes[node].parent, above);
    rotation_of(Z, 4, R);
    ulna_multiply9(above, edge->base, expected);
    near(R, expected, 9, "parent's rotation", node);
    /* E[Rot q] with cos phi = cos^2 - sin^2, sin phi = 2 sin cos of half of it: columns x, cos y + sin z, cos z - sin
     * y */
    double Rc[9], Rs[9], K[16], S[16];
    for (int i = 0; i < 16; i++) {
        K[i] = A[i] - C[i];
        S[i] = 2 * B[i];
    }
    rotation_of(K, 4, Rc);
    rotation_of(S, 4, Rs);
    for (int i = 0; i < 3; i++) {
        turned[3 * i] = R[3 * i];
        turned[3 * i + 1] = Rc[3 * i + 1] + Rs[3 * i + 2];
        turned[3 * i + 2] = Rc[3 * i + 2] - Rs[3 * i + 1];
    }
    mean_rotation(b, node, here);
    ulna_transpose9(edge->model, back);
    ulna_multiply9(turned, back, expected);
    near(here, expected, 9, "rotation", node);
    if (ulna_relax_block_now(b->relaxation, node, 1, V, X))
        for (int i = 0; i < 16; i++) { /* A - C / tan^2(alpha/2) >= 0 */
            const double t = tan(edge->alpha / 2);
            assert_true(fabs(V[i] - (A[i] - C[i] / (t * t))) < 1e-9);
        }
}

static void check_bone(const bench *b, int node)
{
    const ulna_node *n = &b->tree.nodes[node];
    double N[64], X[64], R[9], move[3], Z[16], above[3], here[3];
    mean_rotation(b, n->parent, R);
    ulna_rotate(R, n->v, move);
    ulna_test_relaxation_moments(b->relaxation, n->parent, Z, above);
    ulna_test_relaxation_moments(b->relaxation, node, Z, here);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(here[i] - above[i] - move[i]) < 1e-9);
    if (!ulna_relax_block_now(b->relaxation, node, 0, N, X))
        return;
    assert_true(fabs(N[0] - 1) < 1e-9);
    assert_true(fabs(N[32] + N[40] + N[48] - 1) < 1e-9);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(N[1 + i] - (above[i] - b->relaxation->origin[i]) / b->relaxation->unit) < 1e-9);
        assert_true(fabs(N[4 + i] - move[i] / ulna_norm(n->v)) < 1e-9);
    }
}

static void check_feasible(const bench *b)
{
    double sum = 0;
    const ulna_relaxation *r = b->relaxation;
    for (int n = 0; n < b->tree.count; n++) {
        const ulna_node *node = &b->tree.nodes[n];
        double R[9], Z[16], mean[3];
        for (int which = 0; n > 0; which++) {
            double S[64], X[64], values[8], vectors[64];
            const int size = ulna_relax_block_now(r, n, which, S, X);
            if (size == 0)
                break;
            ulna_relax_eigen(size, S, values, vectors);
            assert_true(values[size - 1] >= -1e-12 * values[0]);
        }
        if (node->edge == ULNA_EDGE_HINGE)
            check_hinge(b, n);
        if (node->edge == ULNA_EDGE_BONE)
            check_bone(b, n);
        mean_rotation(b, n, R);
        ulna_test_relaxation_moments(r, n, Z, mean);
        for (int i = 0; i < 9 && node->has_rotation_cost; i++)
            sum += node->rotation_cost[i] * R[i];
        const double *P = r->state + (size_t)n * (size_t)r->states + 12;
        for (int i = 0; i < 3; i++) {
            const double away = mean[i] - node->goal[i], square = P[i == 0 ? 0 : i == 1 ? 3 : 5] * r->unit * r->unit;
            const double p = mean[i] - r->origin[i];
            sum += node->weight * (away * away + (r->kind == ULNA_RELAX_BONES ? square - p * p : 0));
        }
    }
    assert_true(fabs(sum - b->result.primal) < 1e-8 * fmax(1, fabs(sum)));
}

static void random_trees_are_solved_and_proven(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(2), poses = ulna_test_rng_seed(8); /* trees do not depend on what is found */
    int proven = 0;
    for (int round = 0; round < 60; round++)
        for (int kind = 0; kind < 2; kind++) {
            char what[64];
            const int which = round % KINDS;
            snprintf(what, sizeof what, "round %d, tree kind %d, F%d", round, which, kind + 2);
            /* Unlimited slides leave the multipliers no interior, and so less precision. */
            const double tolerance = kinds[which].unlimited_slides ? 1e-5 : 2e-6;
            bench b = open_bench(&rng, kinds[which], (ulna_relax_kind)kind, round % 3 != 0);
            if (!(b.result.gap <= 1e-6 * fabs(b.result.primal) + tolerance))
                fail_msg("%s: primal %g, bound %g, end %d, %d iterations", what, b.result.primal, b.result.bound,
                         (int)b.result.end, b.result.iterations);
            check_feasible(&b);
            if (b.result.end == ULNA_RELAX_CONVERGED) { /* else the best bound came before the last multipliers */
                check_proof(&poses, &b, tolerance, what);
                proven++;
            }
            close_bench(&b);
        }
    print_message("%d of 120 to full precision\n", proven);
    assert_true(proven >= 110);
}

/* Edges in lanes and edges by their own matrices: the same problem, so the same answer. */
static void lanes_change_nothing(void **state)
{
    (void)state;
    for (int round = 0; round < 28; round++) {
        double primal[2], gap[2];
        for (int lanes = 0; lanes < 2; lanes++) {
            ulna_test_rng rng = ulna_test_rng_seed(100 + (uint64_t)round);
            bench b = open_bench(&rng, kinds[round % KINDS], round % 2 ? ULNA_RELAX_BONES : ULNA_RELAX_HULL, lanes);
            primal[lanes] = b.result.primal;
            gap[lanes] = b.result.gap;
            close_bench(&b);
        }
        if (!(fabs(primal[0] - primal[1]) <= gap[0] + gap[1]))
            fail_msg("round %d: %.9g by matrices, %.9g in lanes", round, primal[0], primal[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees_are_solved_and_proven),
        cmocka_unit_test(lanes_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
