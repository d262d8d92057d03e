/*
 * result.verified, attacked: thousands of random end points, with weights and strengths of very different size, and plain code
 * that knows nothing of the solver: differences of the gradient, and eigenvalues by Jacobi's rotations.
 */
#include "objective/problem.h"
#include "support_problem.h"
#include "ulna/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

/* The smallest eigenvalue of a symmetric matrix, which is lost. */
static double smallest_eigenvalue(double a[MOST][MOST], int n)
{
    for (int sweep = 0; sweep < 30; sweep++)
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                if (fabs(a[i][j]) < 1e-14)
                    continue;
                double theta = 0.5 * atan2(2 * a[i][j], a[j][j] - a[i][i]), c = cos(theta), d = sin(theta);
                for (int k = 0; k < n; k++) {
                    double x = a[k][i], y = a[k][j];
                    a[k][i] = c * x - d * y;
                    a[k][j] = d * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    double x = a[i][k], y = a[j][k];
                    a[i][k] = c * x - d * y;
                    a[j][k] = d * x + c * y;
                }
            }
    double least = (double)INFINITY;
    for (int i = 0; i < n; i++)
        least = fmin(least, a[i][i]);
    return least;
}

/* Column j of the Hessian by central differences of the gradient. */
static void difference_column(ulna_work *work, const double *q, int j, double h, double *column)
{
    const ulna_model *model = work->problem->model;
    int nv = ulna_model_dof_count(model);
    double f, *step = ulna_test_numbers(nv), *at = ulna_test_numbers(ulna_model_coordinate_count(model));
    double *back = ulna_test_numbers(nv);
    for (int side = 0; side < 2; side++) {
        step[j] = side ? h : -h;
        ulna_model_integrate(model, q, step, at);
        assert_int_equal(ulna_work_evaluate(work, at, &f), ULNA_OK);
        assert_int_equal(ulna_work_gradient(work, side ? column : back), ULNA_OK);
    }
    for (int i = 0; i < nv; i++)
        column[i] = (column[i] - back[i]) / (2 * h);
    free(step);
    free(at);
    free(back);
}

/* The smallest eigenvalue of the Hessian at q, each DOF measured by its own Gauss-Newton curvature, on those that are free and
 * whose differences can be trusted: not at the kink of a limits term, nor of a DOF that moves its goals only by rounding (a lever
 * of 1e-13 of the longest). */
static double lowest_curvature(const ulna_problem *problem, const double *q, const unsigned char *held)
{
    const ulna_model *model = ulna_problem_model(problem);
    int nv = ulna_model_dof_count(model), used[MOST], n = 0;
    static double rough[MOST][MOST], fine[MOST][MOST], small[MOST][MOST];
    double f, *normal = ulna_test_numbers(nv * nv), length = ulna_model_length_scale(model);
    ulna_work *work;
    double largest = 0;
    assert_true(nv <= MOST);
    assert_int_equal(ulna_work_create(problem, NULL, &work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(work, q, &f), ULNA_OK);
    assert_int_equal(ulna_work_hessian_dense(work, 0, normal), ULNA_OK);
    for (int j = 0; j < nv; j++) {
        double unit = ulna_model_dof_is_translation(model, j) ? length : 1;
        largest = fmax(largest, normal[j * nv + j] * unit * unit);
        difference_column(work, q, j, 4e-5 * unit, rough[j]);
        difference_column(work, q, j, 1e-5 * unit, fine[j]);
    }
    for (int j = 0; j < nv; j++) {
        double unit = ulna_model_dof_is_translation(model, j) ? length : 1;
        int trusted = !held[j] && normal[j * nv + j] * unit * unit > 1e-26 * largest;
        for (int i = 0; i < nv && trusted; i++) {
            double size = sqrt(normal[j * nv + j] * normal[i * nv + i]);
            trusted = held[i] || !(normal[i * nv + i] > 0) || fabs(rough[j][i] - fine[j][i]) <= 1e-5 * size;
        }
        if (trusted)
            used[n++] = j;
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            int i = used[a], j = used[b];
            small[a][b] = 0.5 * (fine[i][j] + fine[j][i]) / sqrt(normal[i * nv + i] * normal[j * nv + j]);
        }
    ulna_work_destroy(work);
    free(normal);
    return n ? smallest_eigenvalue(small, n) : 0;
}

/* A random scene with weights from 1e-6 to 1e6 and strengths from 1e-3 to 1e3. */
static void mix_scales(ulna_test_rng *rng, const ulna_test_bench *bench, double *strength)
{
    for (int i = 0; i < ulna_problem_term_count(bench->problem); i++)
        ulna_problem_set_weight(bench->problem, i, pow(10, ulna_test_rng_uniform(rng, -6, 6)));
    for (int j = 0; j < bench->nv; j++)
        strength[j] = pow(10, ulna_test_rng_uniform(rng, -3, 3));
}

static void verified_ends_have_no_negative_curvature(void **state)
{
    (void)state;
    int given = 0, ends = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        ulna_test_rng rng = ulna_test_rng_seed(seed);
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.max_bodies = 6;
        tree.limits = 0.4;
        ulna_test_bench bench =
            ulna_test_bench_open(&rng, &tree, ULNA_TEST_ALL_TERMS, 1 + ulna_test_rng_index(&rng, 4));
        double *strength = ulna_test_numbers(bench.nv), *q = ulna_test_numbers(bench.nq);
        ulna_options options = ulna_options_default();
        options.iterations = 200;
        if (seed % 2) {
            mix_scales(&rng, &bench, strength);
            options.strength = strength;
        }
        for (int m = 0; m < ulna_method_count() && bench.nv <= MOST; m++) {
            ulna_solver *solver;
            ulna_result result;
            if (!(ulna_method_at(m)->flags & ULNA_METHOD_HESSIAN) || ulna_method_at(m)->flags & ULNA_METHOD_RELAXATION)
                continue; /* the others never say so: test below */
            options.method = ulna_method_at(m)->name;
            memcpy(q, bench.q, (size_t)bench.nq * sizeof *q);
            assert_int_equal(ulna_solver_create(bench.problem, &options, NULL, &solver, NULL), ULNA_OK);
            assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
            ends++;
            given += result.verified;
            if (result.verified) {
                double least = lowest_curvature(bench.problem, q, ulna_solver_locked(solver));
                if (!(least > -1e-4))
                    fail_msg("%s, seed %d: verified, but the lowest curvature is %g (f %g)", options.method, (int)seed,
                             least, result.f);
            }
            ulna_solver_destroy(solver);
        }
        free(strength);
        free(q);
        ulna_test_bench_close(&bench);
    }
    print_message("[ verified ] %d of %d ends\n", given, ends);
    assert_true(given > ends / 4);
}

/*
 * Stationary points where the other terms alone make the Hessian positive, and one term has no second derivatives: a slide whose
 * aim is at its own goal; a hinge with a rotation goal that is half a turn away in every pose. Nothing is claimed there; it is
 * where that term is removed.
 */
static void nothing_is_claimed_without_derivatives(void **state)
{
    static const double goal[3] = {0.4, 0, 0}, beside[3] = {0.4, 1, 0}, axis[3] = {1, 0, 0};
    static const double half_turn[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1};
    (void)state;
    for (int is_hinge = 0; is_hinge < 2; is_hinge++) {
        ulna_builder *builder;
        ulna_model *model;
        ulna_problem *problem;
        ulna_joint joint = is_hinge ? ulna_joint_revolute(0, 1, 0) : ulna_joint_prismatic(1, 0, 0);
        ulna_result result;
        ulna_options options = ulna_options_default();
        int rough;
        assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
        assert_int_equal(ulna_builder_add_body(builder, "body", ULNA_NONE, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, 0, &joint, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
        if (is_hinge)
            assert_int_equal(ulna_problem_add_geodesic(problem, 0, half_turn, 1, &rough, NULL), ULNA_OK);
        else
            assert_int_equal(ulna_problem_add_aim(problem, 0, NULL, axis, goal, 1, &rough, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_add_point(problem, 0, is_hinge ? axis : NULL, beside, 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
        for (int m = 0; m < ulna_method_count(); m++)
            for (int is_there = 0; is_there < 2; is_there++) {
                double q[1] = {is_hinge ? 0 : 0.4};
                options.method = ulna_method_at(m)->name;
                if (!(ulna_method_at(m)->flags & ULNA_METHOD_HESSIAN) ||
                    ulna_method_at(m)->flags & ULNA_METHOD_RELAXATION)
                    continue;
                ulna_problem_set_weight(problem, rough, is_there);
                assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
                assert_true(fabs(q[0] - (is_hinge ? 0 : 0.4)) < 1e-15);
                assert_int_equal(result.verified, !is_there);
            }
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
        ulna_builder_destroy(builder);
    }
}

/*
 * The same for a ball whose posture is half a turn away. Points hold the ball where it is, one of them pulled aside so that the
 * gradient is zero: f falls on the other side of the half turn, although the Hessian on this side is positive definite.
 */
static void nothing_is_claimed_half_a_turn_from_a_posture(void **state)
{
    static const double arm[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, out_of_reach[3] = {0, 0, 1.5};
    static const double half_turn[4] = {1, 0, 0, 1e-10}; /* just on this side, so that rounding does not choose */
    const ulna_joint ball = ulna_joint_ball();
    ulna_builder *builder;
    ulna_model *model;
    ulna_problem *problem;
    ulna_work *work;
    ulna_result result;
    ulna_options options = ulna_options_default();
    double q[4] = {0, 0, 0, 1}, gradient[3], f;
    int posture, checked = 0;
    (void)state;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    assert_int_equal(ulna_builder_add_body(builder, "body", ULNA_NONE, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_joint(builder, 0, &ball, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ulna_problem_add_point(problem, 0, arm[i], i == 2 ? out_of_reach : arm[i], 100, NULL, NULL),
                         ULNA_OK);
    assert_int_equal(ulna_problem_add_posture(problem, half_turn, NULL, 1, &posture, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(problem, NULL, &work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(work, q, &f), ULNA_OK);
    assert_int_equal(ulna_work_gradient(work, gradient), ULNA_OK); /* of the posture alone */
    const double aside[3] = {0, 1, gradient[0] / 100};
    for (int m = 0; m < ulna_method_count(); m++)
        for (int is_there = 0; is_there < 2; is_there++) {
            if (!(ulna_method_at(m)->flags & ULNA_METHOD_HESSIAN) || ulna_method_at(m)->flags & ULNA_METHOD_RELAXATION)
                continue;
            options.method = ulna_method_at(m)->name;
            ulna_problem_set_weight(problem, posture, is_there);
            assert_int_equal(ulna_problem_set_goal(problem, 1, is_there ? aside : arm[1]), ULNA_OK);
            memcpy(q, ulna_model_rest(model), sizeof q);
            assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
            assert_true(fabs(q[0]) + fabs(q[1]) + fabs(q[2]) < 1e-14);
            assert_int_equal(result.verified, !is_there);
            checked++;
        }
    assert_true(checked > 0);
    ulna_work_destroy(work);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    ulna_builder_destroy(builder);
}

/* Limits as penalties: the method's minimum is one of another f, so nothing is claimed. Goals out of reach, so that it looks. */
static void penalty_claims_nothing(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(5);
    static const double far[3] = {30, 40, 50};
    int converged = 0;
    for (int round = 0; round < 50; round++) {
        ulna_test_bench bench = ulna_test_bench_open(&rng, NULL, 1u << ULNA_TERM_POINT, 3);
        ulna_options options = ulna_options_default();
        ulna_result result;
        options.method = "penalty";
        for (int i = 0; i < ulna_problem_term_count(bench.problem); i++)
            assert_int_equal(ulna_problem_set_goal(bench.problem, i, far), ULNA_OK);
        assert_int_equal(ulna_solve_once(bench.problem, &options, bench.q, &result, NULL), ULNA_OK);
        converged += result.converged && result.f > 1e-6;
        assert_false(result.verified);
        ulna_test_bench_close(&bench);
    }
    assert_true(converged > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(verified_ends_have_no_negative_curvature),
                                       cmocka_unit_test(nothing_is_claimed_without_derivatives),
                                       cmocka_unit_test(nothing_is_claimed_half_a_turn_from_a_posture),
                                       cmocka_unit_test(penalty_claims_nothing)};
    return cmocka_run_group_tests_name("solve_verified", tests, NULL, NULL);
}
