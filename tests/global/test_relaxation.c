/* The relaxations on instances with known answers, and on random trees: their optima, their bounds, what they round to. */
#include "support_oracle.h"
#include "support_reduced.h"
#include "support_relaxation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct answer {
    ulna_relax_result result;
    double rounded; /* cost of the rounded pose */
    double purity;  /* the least of the largest eigenvalues of Z over all nodes: 1 for a pose */
} answer;

static answer solve_tree(const ulna_reduced *tree, ulna_relax_kind kind, const char *kernel)
{
    ulna_relaxation *relaxation;
    ulna_reduced_pose pose;
    ulna_relax_options options = ulna_relax_options_default();
    answer a = {.purity = 1};
    options.relative = 1e-6;
    options.absolute = 1e-6;
    assert_int_equal(
        ulna_relaxation_create_with(tree, kind, ulna_relax_kernel_find(kernel), 1, NULL, &relaxation, NULL), ULNA_OK);
    assert_int_equal(ulna_reduced_pose_create(tree, NULL, &pose), ULNA_OK);
    assert_int_equal(ulna_relaxation_solve(relaxation, tree, &options, &a.result), ULNA_OK);
    ulna_relaxation_round(relaxation, NULL, &pose);
    a.rounded = ulna_test_reduced_cost(tree, &pose);
    for (int n = 1; n < tree->count; n++) {
        double Z[16], place[3], values[4], vectors[16];
        ulna_test_relaxation_moments(relaxation, n, Z, place);
        ulna_relax_eigen(4, Z, values, vectors);
        a.purity = fmin(a.purity, values[0]);
        if (tree->nodes[n].edge == ULNA_EDGE_HINGE)
            assert_true(pose.value[n] >= tree->nodes[n].lower && pose.value[n] <= tree->nodes[n].upper);
    }
    ulna_reduced_pose_release(NULL, &pose);
    ulna_relaxation_destroy(relaxation);
    return a;
}

static answer solve(const ulna_oracle *oracle, ulna_relax_kind kind, const char *kernel)
{
    ulna_reduced tree;
    ulna_oracle_reduced(oracle, &tree);
    answer a = solve_tree(&tree, kind, kernel);
    free(tree.nodes);
    return a;
}

static void check_optimum(const ulna_oracle *o, const char *name, double expected, const ulna_relax_result *result)
{
    if (result->end != ULNA_RELAX_CONVERGED && result->end != ULNA_RELAX_STALLED)
        fail_msg("%s %d %s ended with %d after %d iterations", o->family, o->index, name, (int)result->end,
                 result->iterations);
    if (!(result->gap <= 1e-6 * fabs(result->primal) + 1.1e-6))
        fail_msg("%s %d %s: gap %g", o->family, o->index, name, result->gap);
    /* The expected values are primal ones with gaps of up to 1e-6. */
    if (isfinite(expected) && !(fabs(result->primal - expected) <= fmax(1e-5 * expected, 3e-6)))
        fail_msg("%s %d %s: %.9g, expected %.9g", o->family, o->index, name, result->primal, expected);
    if (!(result->bound <= o->best + 1e-9 * fmax(1, o->best)))
        fail_msg("%s %d %s: bound %.9g above the best known cost %.9g", o->family, o->index, name, result->bound,
                 o->best);
}

static void optima_and_bounds_are_those_of_the_oracles(void **state)
{
    (void)state;
    ulna_oracle *oracles;
    const int count = ulna_oracles_load(&oracles);
    assert_int_equal(count, 160);
    for (int i = 0; i < count; i++) {
        const ulna_oracle *o = &oracles[i];
        const answer hull = solve(o, ULNA_RELAX_HULL, NULL), bones = solve(o, ULNA_RELAX_BONES, NULL);
        check_optimum(o, "hull", o->hull_opt, &hull.result);
        check_optimum(o, "bones", o->bone_opt, &bones.result);
        /* F3 has all constraints of F2. */
        if (!(bones.result.primal >= hull.result.bound - 1e-9))
            fail_msg("%s %d: F3 %.9g is below F2 %.9g", o->family, o->index, bones.result.primal, hull.result.bound);
    }
    free(oracles);
}

/* With every joint observed and no noise, F3 has one answer, and it is a pose: the one that the points came from. */
static void clean_poses_are_found_whole(void **state)
{
    (void)state;
    ulna_oracle *oracles;
    const int count = ulna_oracles_load(&oracles);
    int looked_at = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(oracles[i].family, "hand_all_clean") != 0) /* the others have joints that no point feels */
            continue;
        const answer bones = solve(&oracles[i], ULNA_RELAX_BONES, NULL);
        if (!(bones.rounded < 2e-6))
            fail_msg("%s %d: rounded to a cost of %g", oracles[i].family, oracles[i].index, bones.rounded);
        if (!(bones.purity > 0.999))
            fail_msg("%s %d: a rotation is spread, %g", oracles[i].family, oracles[i].index, bones.purity);
        looked_at++;
    }
    assert_int_equal(looked_at, 10);
    free(oracles);
}

static const char *const kernels[] = {"portable", "avx2", "avx512"};

/* Within the gap, by each kernel that this processor has. */
static void check_kernels(const ulna_reduced *tree, ulna_relax_kind kind)
{
    const answer best = solve_tree(tree, kind, NULL);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        if (!ulna_relax_kernel_find(kernels[k]))
            continue;
        const answer other = solve_tree(tree, kind, kernels[k]);
        const double scale = fabs(best.result.primal) + 1e-6;
        assert_true(fabs(other.result.primal - best.result.primal) <= best.result.gap + 1e-6 * scale);
    }
}

static void every_kernel_gives_the_same_answer(void **state)
{
    (void)state;
    ulna_oracle *oracles;
    const int count = ulna_oracles_load(&oracles);
    assert_null(ulna_relax_kernel_find("none"));
    for (int i = 0; i < count; i += 7)
        for (int kind = 0; kind < 2; kind++) {
            ulna_reduced tree;
            ulna_oracle_reduced(&oracles[i], &tree);
            check_kernels(&tree, (ulna_relax_kind)kind);
            free(tree.nodes);
        }
    free(oracles);
}

/* No bound is above what a pose costs, F3 is not below F2, and goals that a pose meets cost nothing; by every kernel. */
static void random_trees_are_bounded(void **state)
{
    (void)state;
    static const ulna_test_tree_kind kinds[] = {
        {.free_root = 1}, {.balls = 1}, {.balls = 1, .slides = 1}, {.turns = 1}};
    ulna_test_rng rng = ulna_test_rng_seed(77);
    for (int i = 0; i < 40; i++) {
        double noise = i % 2 ? 0.1 : 0;
        ulna_reduced tree = ulna_test_random_reduced(&rng, kinds[i % 4], 4 + i % 9, noise);
        const answer hull = solve_tree(&tree, ULNA_RELAX_HULL, NULL), bones = solve_tree(&tree, ULNA_RELAX_BONES, NULL);
        double least = fmin(hull.rounded, bones.rounded), enough = 1e-6 * fabs(least) + 2e-6;
        if (!(hull.result.bound <= least + enough && bones.result.bound <= least + enough))
            fail_msg("tree %d: bounds %.9g and %.9g, but a pose costs %.9g", i, hull.result.bound, bones.result.bound,
                     least);
        if (!(hull.result.gap <= enough && bones.result.gap <= enough))
            fail_msg("tree %d: gaps %g and %g", i, hull.result.gap, bones.result.gap);
        assert_true(bones.result.primal >= hull.result.bound - 1e-9);
        if (noise == 0 && !(hull.result.primal < 1e-5 && bones.result.primal < 1e-5))
            fail_msg("tree %d: %g and %g, where a pose costs nothing", i, hull.result.primal, bones.result.primal);
        check_kernels(&tree, (ulna_relax_kind)(i % 3 == 0));
        ulna_test_tree_release(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees_are_bounded),
        ulna_test_needs("../oracles/global-ik", cmocka_unit_test(optima_and_bounds_are_those_of_the_oracles)),
        ulna_test_needs("../oracles/global-ik", cmocka_unit_test(clean_poses_are_found_whole)),
        ulna_test_needs("../oracles/global-ik", cmocka_unit_test(every_kernel_gives_the_same_answer)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
