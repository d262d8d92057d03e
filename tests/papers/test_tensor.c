/*
 * The K tensor and the dense Hessian, against differences of Jacobians and gradients on random trees.
 *
 * Along q (+) step, a column of a quaternion joint differentiated by another of the same joint is not symmetric; the
 * second derivative of the point is the mean of both orders. Everywhere else both orders agree, and are tested apart.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/papers.h"
#include "support_tree.h"

enum { EFFECTORS = 3 };

/* Linear rows of the effectors at q (+) h e_dof: 3 * count x nv. */
static void jacobian_at(ulna_test_scene *s, int count, const ulna_effector *e, int dof, double h, double *jacobian)
{
    double *step = ulna_test_numbers(s->nv), *q = ulna_test_numbers(s->nq);
    ulna_jacobian_options o = ulna_jacobian_options_default();
    o.rows = ULNA_ROWS_LINEAR;
    if (s->nv > 0)
        step[dof] = h;
    ulna_model_integrate(s->model, s->q, step, q);
    assert_int_equal(ulna_pose_forward(s->pose, q), ULNA_OK);
    assert_int_equal(ulna_pose_jacobian(s->pose, &o, count, e, jacobian), ULNA_OK);
    free(step);
    free(q);
}

/* g = -J^T W r at q (+) h e_dof */
static void gradient_at(ulna_test_scene *s, const ulna_effector *e, const double *goals, const double *weights, int dof,
                        double h, double *gradient)
{
    double *jacobian = ulna_test_numbers(3 * EFFECTORS * s->nv);
    jacobian_at(s, EFFECTORS, e, dof, h, jacobian);
    memset(gradient, 0, (size_t)s->nv * sizeof *gradient);
    for (int k = 0; k < EFFECTORS; k++) {
        double p[3];
        assert_int_equal(ulna_pose_point(s->pose, e[k].body, e[k].point, p), ULNA_OK);
        for (int i = 0; i < s->nv; i++)
            for (int r = 0; r < 3; r++)
                gradient[i] -= weights[k] * jacobian[(i * EFFECTORS + k) * 3 + r] * (goals[3 * k + r] - p[r]);
    }
    free(jacobian);
}

static int in_one_quaternion(const ulna_model *model, int i, int j)
{
    return ulna_model_dof_body(model, i) == ulna_model_dof_body(model, j) &&
           ulna_model_dof_coordinate(model, i) == ULNA_NONE && ulna_model_dof_coordinate(model, j) == ULNA_NONE;
}

static void tensor_is_the_derivative_of_the_jacobian(void **state)
{
    (void)state;
    const double h = 1e-5;
    ulna_test_rng rng = ulna_test_rng_seed(201);
    for (int round = 0; round < 2000; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.max_bodies = round % 20 ? 12 : 40;
        ulna_test_scene s = ulna_test_scene_open(&rng, &options);
        ulna_effector e = ulna_test_random_effector(&rng, s.model);
        int nv = s.nv, size = 3 * nv * nv;
        double *tensor = ulna_test_numbers(size), *plus = ulna_test_numbers(3 * nv);
        double *minus = ulna_test_numbers(3 * nv), *numeric = ulna_test_numbers(size);
        assert_int_equal(ulna_papers_tensor(s.pose, &e, tensor), ULNA_OK);

        for (int j = 0; j < nv; j++) { /* numeric[:, i, j] = d column i / d q_j */
            jacobian_at(&s, 1, &e, j, h, plus);
            jacobian_at(&s, 1, &e, j, -h, minus);
            for (int i = 0; i < 3 * nv; i++)
                numeric[3 * nv * j + i] = (plus[i] - minus[i]) / (2 * h);
        }
        for (int j = 0; j < nv; j++)
            for (int i = 0; i < j; i++)
                for (int r = 0; in_one_quaternion(s.model, i, j) && r < 3; r++) {
                    double *a = &numeric[3 * (nv * j + i) + r], *b = &numeric[3 * (nv * i + j) + r];
                    *a = *b = 0.5 * (*a + *b);
                }
        ulna_test_assert_close(tensor, numeric, size, 2e-9, "K");

        /* Symmetric to the bit; zero off the path, between branches and for two slides. */
        for (int j = 0; j < nv; j++)
            for (int i = 0; i <= j; i++) {
                const double *a = tensor + 3 * (nv * j + i), *b = tensor + 3 * (nv * i + j);
                assert_memory_equal(a, b, 3 * sizeof *a);
                int bi = ulna_model_dof_body(s.model, i), bj = ulna_model_dof_body(s.model, j);
                int on_path =
                    ulna_model_is_ancestor(s.model, bi, e.body) && ulna_model_is_ancestor(s.model, bj, e.body);
                int slides = ulna_model_dof_is_translation(s.model, i) && ulna_model_dof_is_translation(s.model, j);
                if (!on_path || slides)
                    assert_true(ulna_test_largest(a, 3) == 0);
            }
        free(tensor);
        free(plus);
        free(minus);
        free(numeric);
        ulna_test_scene_close(&s);
    }
}

static void random_goals(ulna_test_rng *rng, ulna_test_scene *s, ulna_effector *e, double *goals, double *weights)
{
    for (int k = 0; k < EFFECTORS; k++) {
        e[k] = ulna_test_random_effector(rng, s->model);
        assert_int_equal(ulna_pose_point(s->pose, e[k].body, e[k].point, goals + 3 * k), ULNA_OK);
        for (int r = 0; r < 3; r++)
            goals[3 * k + r] += ulna_test_rng_uniform(rng, -1, 1);
        weights[k] = ulna_test_rng_uniform(rng, 0.1, 3);
    }
}

static void hessian_is_the_derivative_of_the_gradient(void **state)
{
    (void)state;
    const double h = 1e-5;
    ulna_test_rng rng = ulna_test_rng_seed(202);
    for (int round = 0; round < 2000; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.max_bodies = round % 20 ? 12 : 40;
        ulna_test_scene s = ulna_test_scene_open(&rng, &options);
        ulna_effector e[EFFECTORS];
        double goals[3 * EFFECTORS], weights[EFFECTORS];
        random_goals(&rng, &s, e, goals, weights);
        int nv = s.nv;
        double *hessian = ulna_test_numbers(nv * nv), *numeric = ulna_test_numbers(nv * nv);
        double *plus = ulna_test_numbers(nv), *minus = ulna_test_numbers(nv), *mean = ulna_test_numbers(nv * nv);
        assert_int_equal(ulna_papers_dense_hessian(s.pose, EFFECTORS, e, goals, weights, 1, hessian), ULNA_OK);
        for (int j = 0; j < nv; j++) {
            gradient_at(&s, e, goals, weights, j, h, plus);
            gradient_at(&s, e, goals, weights, j, -h, minus);
            for (int i = 0; i < nv; i++)
                numeric[nv * j + i] = (plus[i] - minus[i]) / (2 * h);
        }
        for (int j = 0; j < nv; j++)
            for (int i = 0; i < nv; i++)
                mean[nv * j + i] = 0.5 * (numeric[nv * j + i] + numeric[nv * i + j]);
        ulna_test_assert_close(hessian, mean, nv * nv, 1e-8, "H");
        for (int j = 0; j < nv; j++)
            for (int i = 0; i < nv; i++)
                assert_true(hessian[nv * j + i] == hessian[nv * i + j]);
        free(hessian);
        free(numeric);
        free(plus);
        free(minus);
        free(mean);
        ulna_test_scene_close(&s);
    }
}

/* H(0) = J^T W J from the stacked matrix; H(t) = H(0) + t (H(1) - H(0)); weights default to 1; K : r is the rest. */
static void hessian_is_gauss_newton_minus_the_tensor(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(203);
    for (int round = 0; round < 300; round++) {
        ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
        ulna_effector e[EFFECTORS];
        double goals[3 * EFFECTORS], weights[EFFECTORS];
        random_goals(&rng, &s, e, goals, weights);
        int nv = s.nv, height = 3 * EFFECTORS;
        double *J = ulna_test_numbers(height * nv), *expected = ulna_test_numbers(nv * nv);
        double *hessian = ulna_test_numbers(nv * nv), *tensor = ulna_test_numbers(3 * nv * nv);
        ulna_jacobian_options o = ulna_jacobian_options_default();
        o.rows = ULNA_ROWS_LINEAR;
        double t = ulna_test_rng_uniform(&rng, 0, 1);
        const double *used = round % 2 ? weights : NULL;
        assert_int_equal(ulna_pose_jacobian(s.pose, &o, EFFECTORS, e, J), ULNA_OK);
        for (int k = 0; k < EFFECTORS; k++) {
            double p[3], w = used ? used[k] : 1;
            ulna_pose_point(s.pose, e[k].body, e[k].point, p);
            assert_int_equal(ulna_papers_tensor(s.pose, &e[k], tensor), ULNA_OK);
            for (int j = 0; j < nv; j++)
                for (int i = 0; i < nv; i++)
                    for (int r = 0; r < 3; r++)
                        expected[nv * j + i] += w * (J[height * i + 3 * k + r] * J[height * j + 3 * k + r] -
                                                     t * tensor[3 * (nv * j + i) + r] * (goals[3 * k + r] - p[r]));
        }
        assert_int_equal(ulna_papers_dense_hessian(s.pose, EFFECTORS, e, goals, used, t, hessian), ULNA_OK);
        ulna_test_assert_close(hessian, expected, nv * nv, 1e-12, "H(t)");
        free(J);
        free(expected);
        free(hessian);
        free(tensor);
        ulna_test_scene_close(&s);
    }
}

/* A free root on its own, by hand: the translation block is sum w I, and its coupling to the turn is not the zero of
 * eq. 35b. With one point p = (1, 2, 3) of weight 2 at the zero pose, goal = p, H is 2 J^T J for J = [I, -[p]x]. */
static void moving_root_by_hand(void **state)
{
    (void)state;
    ulna_builder *builder;
    ulna_model *model;
    ulna_pose *pose;
    ulna_joint root = ulna_joint_free();
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    ulna_builder_add_body(builder, "root", ULNA_NONE, NULL, NULL);
    ulna_builder_set_joint(builder, 0, &root, NULL);
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    const double q[7] = {0, 0, 0, 0, 0, 0, 1}, goal[3] = {1, 2, 3}, weight = 2;
    const ulna_effector point = {0, {1, 2, 3}};
    static const double expected[36] = {
        2, 0,  0, 0,  6,  -4, 0, 2, 0,  -6, 0,  2,   0,  0, 2, 4,  -2,  0,
        0, -6, 4, 26, -4, -6, 6, 0, -2, -4, 20, -12, -4, 2, 0, -6, -12, 10,
    };
    double hessian[36];
    assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
    assert_int_equal(ulna_papers_dense_hessian(pose, 1, &point, goal, &weight, 1, hessian), ULNA_OK);
    ulna_test_assert_close(hessian, expected, 36, 1e-14, "moving root");
    ulna_pose_destroy(pose);
    ulna_model_destroy(model);
    ulna_builder_destroy(builder);
}

/* r = goal - p must not lose its digits a thousand kilometres away. */
static void far_away_keeps_its_digits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        ulna_test_scene s[2];
        double *hessian[2], *tensor[2];
        for (int far = 0; far < 2; far++) {
            ulna_test_tree_options options = ulna_test_tree_options_default();
            options.root = ULNA_JOINT_BALL;
            options.joints &= ~(1u << ULNA_JOINT_PRISMATIC | 1u << ULNA_JOINT_PLANAR | 1u << ULNA_JOINT_SEQUENCE |
                                1u << ULNA_JOINT_FREE | 1u << ULNA_JOINT_FREE_EULER);
            options.far_m = far ? 1e6 : 0;
            ulna_test_rng rng = ulna_test_rng_seed(seed);
            s[far] = ulna_test_scene_open(&rng, &options);
            ulna_effector e[EFFECTORS];
            double goals[3 * EFFECTORS], weights[EFFECTORS];
            random_goals(&rng, &s[far], e, goals, weights);
            hessian[far] = ulna_test_numbers(s[far].nv * s[far].nv);
            tensor[far] = ulna_test_numbers(3 * s[far].nv * s[far].nv);
            ulna_papers_dense_hessian(s[far].pose, EFFECTORS, e, goals, weights, 1, hessian[far]);
            ulna_papers_tensor(s[far].pose, &e[0], tensor[far]);
        }
        /* The goal itself is rounded to 1e-10 m there. */
        ulna_test_assert_close(hessian[1], hessian[0], s[0].nv * s[0].nv, 1e-9, "H far away");
        ulna_test_assert_close(tensor[1], tensor[0], 3 * s[0].nv * s[0].nv, 1e-12, "K far away");
        for (int far = 0; far < 2; far++) {
            free(hessian[far]);
            free(tensor[far]);
            ulna_test_scene_close(&s[far]);
        }
    }
}

static void errors(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(204);
    ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
    ulna_pose *unplaced;
    assert_int_equal(ulna_pose_create(s.model, NULL, &unplaced, NULL), ULNA_OK);
    const ulna_effector e = {.body = 0}, stray = {.body = s.nb}, nowhere = {0, {INFINITY, 0, 0}};
    const double goal[3] = {0, 0, 0}, missing[3] = {0, NAN, 0}, bad = NAN;
    double *values = ulna_test_numbers(3 * s.nv * s.nv);

    assert_int_equal(ulna_papers_tensor(unplaced, &e, values), ULNA_ERR_STATE);
    assert_int_equal(ulna_papers_tensor(NULL, &e, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_tensor(s.pose, NULL, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_tensor(s.pose, &e, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_tensor(s.pose, &stray, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_tensor(s.pose, &nowhere, values), ULNA_ERR_NUMBER);

    assert_int_equal(ulna_papers_dense_hessian(unplaced, 1, &e, goal, NULL, 1, values), ULNA_ERR_STATE);
    assert_int_equal(ulna_papers_dense_hessian(NULL, 1, &e, goal, NULL, 1, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_dense_hessian(s.pose, -1, &e, goal, NULL, 1, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_dense_hessian(s.pose, 1, NULL, goal, NULL, 1, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_dense_hessian(s.pose, 1, &e, NULL, NULL, 1, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_dense_hessian(s.pose, 1, &e, goal, NULL, 1, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_dense_hessian(s.pose, 1, &stray, goal, NULL, 1, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_dense_hessian(s.pose, 1, &e, missing, NULL, 1, values), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_papers_dense_hessian(s.pose, 1, &e, goal, &bad, 1, values), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_papers_dense_hessian(s.pose, 1, &e, goal, NULL, NAN, values), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_papers_dense_hessian(s.pose, 0, NULL, NULL, NULL, 1, values), ULNA_OK);
    assert_true(ulna_test_largest(values, s.nv * s.nv) == 0);
    free(values);
    ulna_pose_destroy(unplaced);
    ulna_test_scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensor_is_the_derivative_of_the_jacobian),
        cmocka_unit_test(hessian_is_the_derivative_of_the_gradient),
        cmocka_unit_test(hessian_is_gauss_newton_minus_the_tensor),
        cmocka_unit_test(moving_root_by_hand),
        cmocka_unit_test(far_away_keeps_its_digits),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
