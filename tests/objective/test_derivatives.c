/* Every term on every joint, and random mixtures on random trees, against central differences and slow references. */
#include "papers/papers.h"
#include "support_pattern.h"
#include "support_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Differences of a function of third derivative c have an error of h^2 c / 6 and one of eps f / h: with h = 6e-6 some 1e-9
 * of the largest entry; 1e-6 is what the issue asks for. */
#define DIFFERENCE_TOLERANCE 1e-6

static void assert_report(const ulna_derivative_report *report, const char *term, const char *joint)
{
    int good = report->gradient < DIFFERENCE_TOLERANCE && report->hessian < DIFFERENCE_TOLERANCE &&
               report->jacobian < DIFFERENCE_TOLERANCE && report->product < 1e-11 && report->residuals < 1e-10;
    if (!good)
        fail_msg("%s on %s: gradient %.2g, Hessian %.2g, residual Jacobian %.2g, rows against products %.2g, "
                 "residuals %.2g",
                 term, joint, report->gradient, report->hessian, report->jacobian, report->product, report->residuals);
}

/* Within a difference's reach of a limit: the penalty's second derivative jumps there. */
static int is_at_a_limit(const ulna_test_bench *bench, int term)
{
    double *bounds = ulna_test_numbers(2 * bench->nv);
    int near = 0;
    assert_int_equal(ulna_problem_goal(bench->problem, term, bounds), ULNA_OK);
    for (int d = 0; d < bench->nv; d++) {
        int c = ulna_model_dof_coordinate(bench->model, d);
        if (c >= 0 && (fabs(bench->q[c] - bounds[d]) < 1e-4 || fabs(bench->q[c] - bounds[bench->nv + d]) < 1e-4))
            near = 1;
    }
    free(bounds);
    return near;
}

/* Where derivatives do not exist differences mean nothing: at a limit, and half a turn from a geodesic goal. Draw again. */
static int is_near_kink(const ulna_test_bench *bench)
{
    for (int i = 0; i < ulna_problem_term_count(bench->problem); i++) {
        int type = ulna_problem_term_type(bench->problem, i);
        double error;
        assert_int_equal(ulna_work_term_error(bench->work, i, &error), ULNA_OK);
        if (type == ULNA_TERM_LIMITS ? is_at_a_limit(bench, i) : type == ULNA_TERM_GEODESIC && error > 2.9)
            return 1;
    }
    return 0;
}

static ulna_test_bench open_smooth(ulna_test_rng *rng, const ulna_test_tree_options *options, unsigned types, int count)
{
    ulna_test_bench bench = ulna_test_bench_open(rng, options, types, count);
    while (is_near_kink(&bench)) {
        ulna_test_bench_close(&bench);
        bench = ulna_test_bench_open(rng, options, types, count);
    }
    return bench;
}

static void every_term_on_every_joint(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(11);
    for (int type = 0; type < ULNA_TERM_TYPE_COUNT; type++)
        for (int joint = 0; joint < ULNA_JOINT_TYPE_COUNT; joint++)
            for (int round = 0; round < 12; round++) {
                ulna_test_tree_options options = ulna_test_tree_options_default();
                options.max_bodies = 8;
                options.joints = 1u << joint;
                options.root = round % 2 ? joint : -1;
                ulna_test_bench bench = open_smooth(&rng, &options, 1u << type, 3);
                ulna_derivative_report report;
                assert_int_equal(ulna_work_check_derivatives(bench.work, bench.q, &report, NULL), ULNA_OK);
                assert_report(&report, ulna_term_type_name((ulna_term_type)type),
                              ulna_joint_type_name((ulna_joint_type)joint));
                ulna_test_bench_close(&bench);
            }
}

static void mixtures_on_random_trees(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(12);
    for (int round = 0; round < 2000; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.max_bodies = 14;
        ulna_test_bench bench = open_smooth(&rng, &options, ULNA_TEST_ALL_TERMS, 1 + ulna_test_rng_index(&rng, 12));
        ulna_derivative_report report;
        assert_int_equal(ulna_work_check_derivatives(bench.work, bench.q, &report, NULL), ULNA_OK);
        assert_report(&report, "a mixture", "a random tree");
        ulna_test_bench_close(&bench);
    }
}

/* The checker must be able to fail. Exactly at a limit the penalty's second derivative jumps, so no Hessian can agree with
 * differences there; half a turn away from a geodesic goal, no gradient can. */
static void checker_sees_what_is_wrong(void **state)
{
    (void)state;
    ulna_builder *builder;
    ulna_model *model;
    ulna_problem *problem;
    ulna_work *work;
    ulna_derivative_report report;
    ulna_joint hinge = ulna_joint_revolute(0, 0, 1);
    double lower = -1, upper = 0.5, q = upper, half_turn[9] = {-1, 0, 0, 0, -1, 0, 0, 0, 1};
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    assert_int_equal(ulna_builder_add_body(builder, "bone", ULNA_NONE, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_joint(builder, 0, &hinge, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    for (int geodesic = 0; geodesic < 2; geodesic++) {
        assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
        if (geodesic)
            assert_int_equal(ulna_problem_add_geodesic(problem, 0, half_turn, 1, NULL, NULL), ULNA_OK);
        else
            assert_int_equal(ulna_problem_add_limits(problem, &lower, &upper, 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
        assert_int_equal(ulna_work_create(problem, NULL, &work, NULL), ULNA_OK);
        q = geodesic ? 0 : upper;
        assert_int_equal(ulna_work_check_derivatives(work, &q, &report, NULL), ULNA_OK);
        assert_true(geodesic ? report.gradient > 0.1 : report.hessian > 0.1);
        q = 0.6;
        assert_int_equal(ulna_work_check_derivatives(work, &q, &report, NULL), ULNA_OK);
        assert_report(&report, "away from the kink", "a hinge");
        ulna_work_destroy(work);
        ulna_problem_destroy(problem);
    }
    ulna_model_destroy(model);
    ulna_builder_destroy(builder);
}

/* Tree rows against the dense Algorithm 4 of the paper, points only: 1e-11. */
static void rows_against_algorithm_4(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(14);
    for (int round = 0; round < 2000; round++) {
        ulna_model *model = ulna_test_random_tree(&rng, NULL);
        int nv = ulna_model_dof_count(model), count = 1 + ulna_test_rng_index(&rng, 10);
        const ulna_tree *tree = &model->tree;
        double *q = ulna_test_random_q(&rng, model), goals[30], weights[10], f;
        ulna_effector effectors[10];
        ulna_problem *problem;
        ulna_work *work;
        ulna_pose *pose;
        assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
        for (int i = 0; i < count; i++) {
            effectors[i] = ulna_test_random_effector(&rng, model);
            ulna_test_rng_fill(&rng, goals + 3 * i, 3, -1, 1);
            weights[i] = ulna_test_rng_uniform(&rng, 0, 2);
            assert_int_equal(ulna_problem_add_point(problem, effectors[i].body, effectors[i].point, goals + 3 * i,
                                                    weights[i], NULL, NULL),
                             ULNA_OK);
        }
        assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
        assert_int_equal(ulna_work_create(problem, NULL, &work, NULL), ULNA_OK);
        assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
        assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
        assert_int_equal(ulna_work_evaluate(work, q, &f), ULNA_OK);

        double *rows = aligned_alloc(64, (tree->row[nv] * sizeof(double) + 64) & ~(size_t)63);
        double *second = aligned_alloc(64, (tree->row[nv] * sizeof(double) + 64) & ~(size_t)63);
        double *fast = ulna_test_numbers(nv * nv), *slow = ulna_test_numbers(nv * nv);
        double *other = ulna_test_numbers(nv * nv);
        for (int k = 0; k < 3; k++) {
            double t = 0.5 * k;
            assert_int_equal(ulna_work_hessian(work, t, NULL, rows, NULL), ULNA_OK);
            ulna_test_pattern_dense(tree, rows, fast);
            assert_int_equal(ulna_papers_dense_hessian(pose, count, effectors, goals, weights, t, slow), ULNA_OK);
            ulna_test_assert_close(fast, slow, nv * nv, 1e-11, "rows against Algorithm 4");
            /* The two parts apart: JtJ - t S. */
            assert_int_equal(ulna_work_hessian(work, t, NULL, rows, second), ULNA_OK);
            for (size_t i = 0; i < tree->row[nv]; i++)
                rows[i] -= t * second[i];
            ulna_test_pattern_dense(tree, rows, other);
            ulna_test_assert_close(other, slow, nv * nv, 1e-11, "parts against Algorithm 4");
        }
        free(rows);
        free(second);
        free(fast);
        free(slow);
        free(other);
        ulna_pose_destroy(pose);
        ulna_work_destroy(work);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
        free(q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_term_on_every_joint),
        cmocka_unit_test(mixtures_on_random_trees),
        cmocka_unit_test(checker_sees_what_is_wrong),
        cmocka_unit_test(rows_against_algorithm_4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
