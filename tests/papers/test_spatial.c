/* The spatial Jacobian of the recipe, and effectors that share its columns: against the other routes, on random skeletons of all joints. */
#include "papers/papers.h"
#include "support_tree.h"
#include "ulna/kinematics.h"

#include <math.h>
#include <stdlib.h>

enum { EFFECTORS = 41 };

/* Ad of (13), with its translation, times the body Jacobian of an effector gives the columns of all degrees of freedom that move it. */
static void check_adjoint(ulna_pose *pose, const ulna_model *model, const ulna_effector *tip, const double *spatial,
                          double *body)
{
    double p[3], R[9];
    ulna_jacobian_options options = ulna_jacobian_options_default();
    options.frame = ULNA_FRAME_BODY;
    assert_int_equal(ulna_papers_jacobian(pose, ULNA_JACOBIAN_GENERIC, &options, 1, tip, body), ULNA_OK);
    assert_int_equal(ulna_pose_body(pose, tip->body, NULL, R), ULNA_OK);
    assert_int_equal(ulna_pose_point(pose, tip->body, tip->point, p), ULNA_OK);
    for (int j = 0; j < ulna_model_dof_count(model); j++) {
        const double *twist = body + 6 * j;
        double v[3], w[3], size = 0;
        for (int i = 0; i < 3; i++) {
            v[i] = R[3 * i] * twist[0] + R[3 * i + 1] * twist[1] + R[3 * i + 2] * twist[2];
            w[i] = R[3 * i] * twist[3] + R[3 * i + 1] * twist[4] + R[3 * i + 2] * twist[5];
            size += fabs(v[i]) + fabs(w[i]);
        }
        for (int i = 0; i < 3 && size > 0; i++) {
            double at_origin = v[i] + p[(i + 1) % 3] * w[(i + 2) % 3] - p[(i + 2) % 3] * w[(i + 1) % 3];
            assert_true(fabs(spatial[6 * j + i] - at_origin) < 1e-10);
            assert_true(fabs(spatial[6 * j + 3 + i] - w[i]) < 1e-11);
        }
    }
}

static void shared_columns_agree(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(77);
    for (int round = 0; round < 60; round++) {
        ulna_test_tree_options how = ulna_test_tree_options_default();
        ulna_model *model = ulna_test_random_tree(&rng, &how);
        ulna_pose *pose;
        int nv = ulna_model_dof_count(model), nq = ulna_model_coordinate_count(model);
        double *q = ulna_test_numbers(nq), *spatial = ulna_test_numbers(6 * nv), *body = ulna_test_numbers(6 * nv);
        double *shared = ulna_test_numbers(6 * EFFECTORS * nv), *direct = ulna_test_numbers(6 * EFFECTORS * nv);
        ulna_effector effectors[EFFECTORS];
        ulna_test_fill_q(&rng, model, q);
        for (int e = 0; e < EFFECTORS; e++) {
            effectors[e].body = ulna_test_rng_index(&rng, ulna_model_body_count(model));
            ulna_test_rng_fill(&rng, effectors[e].point, 3, -0.3, 0.3);
        }
        assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
        assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
        assert_int_equal(ulna_papers_jacobian_shared(pose, EFFECTORS, effectors, spatial, shared), ULNA_OK);
        ulna_jacobian_options options = ulna_jacobian_options_default();
        assert_int_equal(ulna_papers_jacobian(pose, ULNA_JACOBIAN_ADJUSTED, &options, EFFECTORS, effectors, direct),
                         ULNA_OK);
        ulna_test_assert_close(shared, direct, 6 * EFFECTORS * nv, 1e-10, "shared columns, and those of each effector");
        assert_int_equal(ulna_papers_jacobian(pose, ULNA_JACOBIAN_DIFFERENCES, &options, EFFECTORS, effectors, direct),
                         ULNA_OK);
        ulna_test_assert_close(shared, direct, 6 * EFFECTORS * nv, 1e-7, "shared columns, and differences");
        check_adjoint(pose, model, &effectors[round % EFFECTORS], spatial, body);
        assert_int_equal(ulna_papers_spatial_jacobian(pose, NULL), ULNA_ERR_ARGUMENT);
        free(q);
        free(spatial);
        free(body);
        free(shared);
        free(direct);
        ulna_pose_destroy(pose);
        ulna_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shared_columns_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
