/* What a relaxation must survive: hard and broken input, little memory; and what it promises of randomness and
 * stopping. */
#include "support_reduced.h"
#include "support_relaxation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/math3.h"

static const ulna_test_tree_kind any_kind = {.free_root = 1, .balls = 1, .slides = 1, .turns = 1};
static const ulna_test_tree_kind moored = {.free_root = 0, .slides = 1};

/* Solves, and sees to it that the numbers are numbers and the bound is below the cost of random poses. */
static ulna_relax_result survive(ulna_test_rng *rng, const ulna_reduced *tree, ulna_relax_kind kind, const char *what)
{
    ulna_relaxation *relaxation;
    ulna_relax_result result;
    ulna_relax_options options = ulna_relax_options_default();
    ulna_reduced_pose pose;
    if (ulna_relaxation_create(tree, kind, NULL, &relaxation, NULL) != ULNA_OK)
        fail_msg("%s: not created", what);
    assert_int_equal(ulna_reduced_pose_create(tree, NULL, &pose), ULNA_OK);
    assert_int_equal(ulna_relaxation_solve(relaxation, tree, &options, &result), ULNA_OK);
    if (isnan(result.primal) || isnan(result.bound) || result.iterations > 2 * options.iterations)
        fail_msg("%s: primal %g, bound %g, %d iterations", what, result.primal, result.bound, result.iterations);
    ulna_relaxation_round(relaxation, NULL, &pose);
    for (int i = 0; i < 10; i++) {
        uint64_t seed = (uint64_t)i;
        const double cost = ulna_test_reduced_cost(tree, &pose);
        if (!(cost >= result.bound - 1e-9 * fabs(cost)))
            fail_msg("%s: bound %.12g above the cost %.12g of a pose", what, result.bound, cost);
        for (int n = 0; n < tree->count; n++)
            if (tree->nodes[n].edge == ULNA_EDGE_HINGE || tree->nodes[n].edge == ULNA_EDGE_TRANSLATION)
                assert_true(pose.value[n] >= tree->nodes[n].lower && pose.value[n] <= tree->nodes[n].upper);
        if (i % 2)
            ulna_relaxation_round(relaxation, &seed, &pose);
        else
            ulna_test_random_pose(rng, tree, &pose);
    }
    ulna_reduced_pose_release(NULL, &pose);
    ulna_relaxation_destroy(relaxation);
    return result;
}

static void survive_both(ulna_test_rng *rng, const ulna_reduced *tree, const char *what)
{
    for (int kind = 0; kind < 2; kind++)
        survive(rng, tree, (ulna_relax_kind)kind, what);
}

/* ---- hard trees ---------------------------------------------------------------------------------------------- */

static void limits_of_any_width(void **state)
{
    (void)state;
    static const double widths[] = {
        0, 1e-300, 1e-12, 1e-9, 1e-6, 1e-4, 1e-2, ULNA_PI - 1e-9, ULNA_PI, 2 * ULNA_PI - 1e-12, 6.28, 7, 1e9};
    ulna_test_rng rng = ulna_test_rng_seed(21);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (int round = 0; round < 4; round++) {
            ulna_reduced tree = ulna_test_random_reduced(&rng, round % 2 ? any_kind : moored, 14, 0.1);
            char what[64];
            snprintf(what, sizeof what, "width %g, round %d", widths[w], round);
            for (int n = 1; n < tree.count; n++)
                if (tree.nodes[n].edge == ULNA_EDGE_HINGE || tree.nodes[n].edge == ULNA_EDGE_TRANSLATION) {
                    tree.nodes[n].lower = ulna_test_rng_uniform(&rng, -1, 1);
                    tree.nodes[n].upper = tree.nodes[n].lower + widths[w];
                }
            survive_both(&rng, &tree, what);
            ulna_test_tree_release(&tree);
        }
}

static void lengths_of_any_scale(void **state)
{
    (void)state;
    static const double scales[] = {1e-150, 1e-9, 1e-3, 1e3, 1e9, 1e100};
    ulna_test_rng rng = ulna_test_rng_seed(22);
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++)
        for (int what = 0; what < 4; what++) { /* everything, bones, goals, weights */
            ulna_reduced tree = ulna_test_random_reduced(&rng, what % 2 ? any_kind : moored, 14, 0.1);
            char text[64];
            snprintf(text, sizeof text, "scale %g of %d", scales[s], what);
            for (int n = 1; n < tree.count; n++)
                for (int i = 0; i < 3; i++) {
                    tree.nodes[n].v[i] *= what < 2 ? scales[s] : 1;
                    tree.nodes[n].goal[i] *= what == 0 || what == 2 ? scales[s] : 1;
                    tree.nodes[n].weight *= what == 3 && i == 0 ? scales[s] : 1;
                }
            survive_both(&rng, &tree, text);
            ulna_test_tree_release(&tree);
        }
}

static void few_and_coincident_goals(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(23);
    for (int round = 0; round < 12; round++) {
        ulna_reduced tree = ulna_test_random_reduced(&rng, round % 2 ? any_kind : moored, 12, 0);
        char what[64];
        snprintf(what, sizeof what, "round %d", round);
        for (int n = 1, left = round / 2; n < tree.count; n++) { /* 0, 1, 2 ... goals, all at one place or on a line */
            ulna_node *node = &tree.nodes[n];
            node->has_rotation_cost = round % 4 == 1;
            if (node->weight > 0 && left-- <= 0)
                node->weight = 0;
            for (int i = 0; i < 3; i++)
                node->goal[i] = round % 3 ? 0.5 : 0.3 * n * (i + 1);
        }
        survive_both(&rng, &tree, what);
        ulna_test_tree_release(&tree);
    }
}

/* A chain of hundreds of joints: linear in time, no recursion, no fixed sizes. */
static void long_chains(void **state)
{
    (void)state;
    enum { JOINTS = 300 };
    ulna_test_rng rng = ulna_test_rng_seed(24);
    ulna_reduced tree = {.count = 2 * JOINTS + 2, .capacity = 2 * JOINTS + 2, .length = 1, .unit = 1};
    tree.nodes = calloc((size_t)tree.count, sizeof *tree.nodes);
    assert_non_null(tree.nodes);
    tree.nodes[0] = (ulna_node){.edge = ULNA_EDGE_WORLD, .parent = ULNA_NONE};
    tree.nodes[1] = (ulna_node){.edge = ULNA_EDGE_FREE, .parent = 0};
    for (int n = 2; n < tree.count; n++) {
        ulna_node *node = &tree.nodes[n];
        *node =
            (ulna_node){.edge = n % 2 ? ULNA_EDGE_HINGE : ULNA_EDGE_BONE, .parent = n - 1, .lower = -0.5, .upper = 0.5};
        node->axis[n / 2 % 3] = 1;
        node->v[2] = 0.02;
        if (n % 10 == 0)
            node->weight = 1;
        for (int i = 0; i < 3; i++)
            node->goal[i] = i == 2 ? 0.01 * n : 0.02 * ulna_test_rng_normal(&rng);
    }
    for (int kind = 0; kind < 2; kind++) {
        const ulna_relax_result result = survive(&rng, &tree, (ulna_relax_kind)kind, "chain");
        assert_true(result.gap < 1e-4);
    }
    ulna_test_tree_release(&tree);
}

static void a_tree_of_the_world_alone(void **state)
{
    (void)state;
    ulna_node node = {.edge = ULNA_EDGE_WORLD, .parent = ULNA_NONE, .weight = 2, .goal = {1, 0, 0}};
    ulna_reduced tree = {.nodes = &node, .count = 1, .capacity = 1, .length = 1, .unit = 1};
    ulna_test_rng rng = ulna_test_rng_seed(25);
    for (int kind = 0; kind < 2; kind++) {
        const ulna_relax_result result = survive(&rng, &tree, (ulna_relax_kind)kind, "world");
        assert_true(fabs(result.primal - 2) < 1e-12 && fabs(result.bound - 2) < 1e-6);
    }
}

/* ---- broken input -------------------------------------------------------------------------------------------- */

static void broken_trees_are_refused(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(26);
    ulna_reduced tree = ulna_test_random_reduced(&rng, any_kind, 12, 0.1);
    ulna_relaxation *relaxation;
    ulna_relax_result result;
    const ulna_relax_options options = ulna_relax_options_default();
    ulna_error error;
    assert_int_equal(ulna_relaxation_create(NULL, ULNA_RELAX_HULL, NULL, &relaxation, &error), ULNA_ERR_ARGUMENT);
    assert_null(relaxation);
    const ulna_node good = tree.nodes[2];
    tree.nodes[2].parent = 5;
    assert_int_equal(ulna_relaxation_create(&tree, ULNA_RELAX_HULL, NULL, &relaxation, &error), ULNA_ERR_ARGUMENT);
    tree.nodes[2] = good;
    tree.nodes[2].v[1] = NAN;
    assert_int_equal(ulna_relaxation_create(&tree, ULNA_RELAX_HULL, NULL, &relaxation, &error), ULNA_ERR_NUMBER);
    tree.nodes[2] = good;
    assert_int_equal(ulna_relaxation_create(&tree, ULNA_RELAX_HULL, NULL, &relaxation, &error), ULNA_OK);
    assert_int_equal(ulna_relaxation_solve(relaxation, &tree, NULL, &result), ULNA_ERR_ARGUMENT);
    tree.nodes[2].weight = -1;
    assert_int_equal(ulna_relaxation_solve(relaxation, &tree, &options, &result), ULNA_ERR_NUMBER);
    tree.nodes[2].weight = 1;
    tree.nodes[2].goal[0] = INFINITY;
    assert_int_equal(ulna_relaxation_solve(relaxation, &tree, &options, &result), ULNA_ERR_NUMBER);
    tree.nodes[2] = good;
    tree.count--;
    assert_int_equal(ulna_relaxation_solve(relaxation, &tree, &options, &result), ULNA_ERR_ARGUMENT);
    ulna_relaxation_destroy(relaxation);
    ulna_relaxation_destroy(NULL);
    ulna_test_tree_release(&tree);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(27);
    ulna_reduced tree = ulna_test_random_reduced(&rng, any_kind, 12, 0.1);
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_relaxation *relaxation;
        const ulna_status status = ulna_relaxation_create(&tree, ULNA_RELAX_BONES, &allocator, &relaxation, NULL);
        if (status == ULNA_OK)
            ulna_relaxation_destroy(relaxation);
        ulna_test_memory_check(&memory);
        if (!memory.failed)
            break;
        assert_int_equal(status, ULNA_ERR_MEMORY);
        assert_null(relaxation);
    }
    ulna_test_tree_release(&tree);
}

/* ---- promises ------------------------------------------------------------------------------------------------ */

static void samples_follow_from_their_seed(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(28);
    ulna_reduced tree = ulna_test_random_reduced(&rng, any_kind, 16, 0.1);
    ulna_relaxation *relaxation;
    ulna_relax_result result;
    const ulna_relax_options options = ulna_relax_options_default();
    ulna_reduced_pose pose[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(ulna_reduced_pose_create(&tree, NULL, &pose[i]), ULNA_OK);
    assert_int_equal(ulna_relaxation_create(&tree, ULNA_RELAX_HULL, NULL, &relaxation, NULL), ULNA_OK);
    assert_int_equal(ulna_relaxation_solve(relaxation, &tree, &options, &result), ULNA_OK);
    uint64_t one = 5, same = 5;
    ulna_relaxation_round(relaxation, &one, &pose[0]);
    ulna_relaxation_round(relaxation, &same, &pose[1]);
    ulna_relaxation_round(relaxation, &one, &pose[2]);
    assert_memory_equal(pose[0].value, pose[1].value, (size_t)tree.count * sizeof(double));
    assert_memory_equal(pose[0].quaternion, pose[1].quaternion, (size_t)tree.count * sizeof *pose->quaternion);
    assert_memory_not_equal(pose[0].quaternion, pose[2].quaternion, (size_t)tree.count * sizeof *pose->quaternion);
    for (int i = 0; i < 3; i++)
        ulna_reduced_pose_release(NULL, &pose[i]);
    ulna_relaxation_destroy(relaxation);
    ulna_test_tree_release(&tree);
}

/* The same tree with other goals and back again: the same bits. */
static void a_relaxation_can_be_used_again(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(29);
    for (int kind = 0; kind < 2; kind++) {
        ulna_reduced tree = ulna_test_random_reduced(&rng, any_kind, 16, 0.1);
        ulna_relaxation *relaxation;
        ulna_relax_result first, other, again;
        const ulna_relax_options options = ulna_relax_options_default();
        assert_int_equal(ulna_relaxation_create(&tree, (ulna_relax_kind)kind, NULL, &relaxation, NULL), ULNA_OK);
        assert_int_equal(ulna_relaxation_solve(relaxation, &tree, &options, &first), ULNA_OK);
        tree.nodes[2].goal[1] += 2;
        tree.nodes[2].weight *= 3;
        assert_int_equal(ulna_relaxation_solve(relaxation, &tree, &options, &other), ULNA_OK);
        tree.nodes[2].goal[1] -= 2;
        tree.nodes[2].weight /= 3;
        assert_int_equal(ulna_relaxation_solve(relaxation, &tree, &options, &again), ULNA_OK);
        assert_true(fabs(other.primal - first.primal) > 1e-3);
        assert_true(fabs(again.primal - first.primal) <= 1e-9 + 1e-6 * fabs(first.primal));
        ulna_relaxation_destroy(relaxation);
        ulna_test_tree_release(&tree);
    }
}

static void it_stops_when_it_is_told_to(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(30);
    ulna_reduced tree = ulna_test_random_reduced(&rng, (ulna_test_tree_kind){.free_root = 1}, 16, 0.3);
    ulna_relaxation *relaxation;
    ulna_relax_result full, early;
    ulna_relax_options options = ulna_relax_options_default();
    assert_int_equal(ulna_relaxation_create(&tree, ULNA_RELAX_BONES, NULL, &relaxation, NULL), ULNA_OK);
    assert_int_equal(ulna_relaxation_solve(relaxation, &tree, &options, &full), ULNA_OK);
    assert_true(full.primal > 0.01);
    options.stop_above = 0.5 * full.primal;
    assert_int_equal(ulna_relaxation_solve(relaxation, &tree, &options, &early), ULNA_OK);
    assert_int_equal(early.end, ULNA_RELAX_ABOVE);
    assert_true(early.bound >= options.stop_above && early.iterations < full.iterations);
    options.stop_above = 2 * full.primal;
    assert_int_equal(ulna_relaxation_solve(relaxation, &tree, &options, &early), ULNA_OK);
    assert_int_equal(early.end, ULNA_RELAX_BELOW);
    options.stop_above = INFINITY;
    options.iterations = 3;
    assert_int_equal(ulna_relaxation_solve(relaxation, &tree, &options, &early), ULNA_OK);
    assert_int_equal(early.end, ULNA_RELAX_ITERATIONS);
    assert_int_equal(early.iterations, 3);
    assert_true(early.bound <= full.primal && early.primal >= full.bound);
    ulna_relaxation_destroy(relaxation);
    ulna_test_tree_release(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_of_any_width),
        cmocka_unit_test(lengths_of_any_scale),
        cmocka_unit_test(few_and_coincident_goals),
        cmocka_unit_test(long_chains),
        cmocka_unit_test(a_tree_of_the_world_alone),
        cmocka_unit_test(broken_trees_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(samples_follow_from_their_seed),
        cmocka_unit_test(a_relaxation_can_be_used_again),
        cmocka_unit_test(it_stops_when_it_is_told_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
