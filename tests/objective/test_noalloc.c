/* After set-up nothing touches the heap: malloc and its kin are wrapped by the linker and counted. */
#include "objective/problem.h"
#include "papers/papers.h"
#include "support_constraint.h"
#include "support_heap.h"
#include "ulna/sample.h"

#include <stdlib.h>
#include <string.h>

static void the_wrapping_works(void **state)
{
    (void)state;
    ulna_model *model;
    counting = 1;
    heap_calls = 0;
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    ulna_model_destroy(model);
    counting = 0;
    assert_true(heap_calls > 2);
}

/* Everything that a frame of a solve may call. */
static void nothing_allocates_after_set_up(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(41);
    for (int round = 0; round < 200; round++) {
        ulna_test_bench b = ulna_test_bench_open(&rng, NULL, ULNA_TEST_ALL_TERMS, 12);
        const ulna_tree *tree = &b.model->tree;
        size_t rows = tree->row[b.nv];
        int m = ulna_work_residual_count(b.work), nb = ulna_model_body_count(b.model);
        double *H = aligned_alloc(64, (rows * sizeof *H + 127) & ~(size_t)63);
        double *L = aligned_alloc(64, (rows * sizeof *L + 127) & ~(size_t)63);
        double *dense = ulna_test_numbers(b.nv * b.nv), *J = ulna_test_numbers(m * b.nv), *r = ulna_test_numbers(m);
        double *g = ulna_test_numbers(b.nv), *shift = ulna_test_numbers(b.nv), *step = ulna_test_numbers(b.nv);
        double *moved = ulna_test_numbers(b.nq), *K = ulna_test_numbers(3 * b.nv * b.nv + 6 * b.nv),
               *blocks = ulna_test_numbers(36 * nb);
        double f, position[3], rotation[9];
        unsigned char *held = calloc((size_t)b.nv + 1, 1);
        double *goal = ulna_test_numbers(2 * b.nq + 9);
        int band_size = (int)ulna_band_size(b.nv, 6);
        ulna_band band = {b.nv, 6, ulna_test_numbers(band_size), ulna_test_numbers(band_size), 0};
        ulna_pose *pose, *other;
        ulna_effector e = ulna_test_random_effector(&rng, b.model);
        assert_int_equal(ulna_pose_create(b.model, NULL, &pose, NULL), ULNA_OK);
        assert_int_equal(ulna_pose_create(b.model, NULL, &other, NULL), ULNA_OK);
        for (int d = 0; d < b.nv; d++) {
            shift[d] = 3;
            held[d] = (unsigned char)(d % 3 == 0);
        }
        ulna_status bad = ULNA_OK; /* statuses are joined: assertions may allocate */
#define OK(call) (bad = (bad) ? (bad) : (call))
        heap_calls = 0;
        counting = 1;
        for (int t = 0; t < ulna_problem_term_count(b.problem); t++)
            OK(ulna_problem_set_weight(b.problem, t, 0.5));
        for (int t = 0; t < ulna_problem_term_count(b.problem); t++) {
            OK(ulna_problem_goal(b.problem, t, goal));
            OK(ulna_problem_set_goal(b.problem, t, goal));
            if (ulna_problem_term_type(b.problem, t) == ULNA_TERM_POINT)
                OK(ulna_problem_set_points(b.problem, t, 1, goal));
        }
        OK(ulna_problem_set_length(b.problem, 0.8));
        OK(ulna_work_evaluate(b.work, b.q, &f));
        for (int t = 0; t < ulna_problem_term_count(b.problem); t++) {
            double error;
            OK(ulna_work_term_error(b.work, t, &error));
        }
        OK(ulna_work_gradient(b.work, g));
        OK(ulna_work_hessian(b.work, 1, g, H, NULL));
        OK(ulna_work_hessian(b.work, 1, g, H, L));
        OK(ulna_work_hessian_dense(b.work, 0.5, dense));
        OK(ulna_work_hessian_multiply(b.work, 1, g, step));
        OK(ulna_work_residuals(b.work, r, J));
        OK(ulna_work_hessian_band(b.work, 1, &band));
        OK(ulna_band_factor(&band));
        OK(ulna_band_solve(&band, g, step));
        for (int k = 0; k < 4; k++) {
            ulna_step_options options = {.t = 0, .shift = shift, .locked = k % 2 ? held : NULL};
            OK(ulna_work_step(b.work, &options, step, &f, NULL));
            OK(ulna_work_step_solve(b.work, g, step));
        }
        ulna_model_integrate(b.model, b.q, step, moved);
        ulna_model_difference(b.model, b.q, moved, step);
        OK(ulna_pose_forward(pose, b.q));
        OK(ulna_pose_body(pose, e.body, position, rotation));
        OK(ulna_pose_transfer(pose, other, moved, &f));
        OK(ulna_papers_tensor(pose, &e, K));
        OK(ulna_papers_adjoint_blocks(pose, &e, blocks));
        OK(ulna_pose_length_jacobian(pose, &e, blocks));
        OK(ulna_papers_product_of_exponentials(pose, b.q, &e, position, rotation));
        OK(ulna_papers_dense_hessian(pose, 1, &e, position, NULL, 1, dense));
        for (int route = 0; route < ULNA_JACOBIAN_ROUTE_COUNT; route++) {
            ulna_jacobian_options options = ulna_jacobian_options_default();
            OK(ulna_papers_jacobian(pose, (ulna_jacobian_route)route, &options, 1, &e, K));
            OK(ulna_papers_jacobian_rate(pose, (ulna_jacobian_route)route, &options, g, 1, &e, K));
        }
        counting = 0;
        assert_int_equal(bad, ULNA_OK);
        assert_int_equal(heap_calls, 0);
        ulna_pose_destroy(pose);
        ulna_pose_destroy(other);
        double *arrays[] = {goal, band.entries, band.factor, H, L, dense, J, r, g, shift, step, moved, K, blocks};
        for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
            free(arrays[i]);
        free(held);
        ulna_test_bench_close(&b);
    }
}

/* Likewise with constraints: goals, switching, rows, loads, dense matrices. */
static void constraints_do_not_allocate_after_set_up(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(42);
    for (int round = 0; round < 100; round++) {
        ulna_test_bench b =
            ulna_test_constraint_bench(&rng, ulna_test_tree_options_default(), ULNA_CONSTRAINT_TYPE_COUNT, 6);
        int most = ulna_problem_row_count(b.problem), count = 0;
        ulna_row *rows = calloc((size_t)most + 1, sizeof *rows), *pieces = calloc(ULNA_ROW_PIECES, sizeof *pieces);
        double *z = ulna_test_numbers(most), *dense = ulna_test_numbers(b.nv * b.nv), *v = ulna_test_numbers(b.nv), f;
        double scale[ULNA_ROW_PIECES], error;
        ulna_status bad = ULNA_OK;
        heap_calls = 0;
        counting = 1;
        for (int i = 0; i < ulna_problem_constraint_count(b.problem); i++) {
            const ulna_constraint *c = ulna_problem_constraint(b.problem, i);
            OK(ulna_problem_set_constraint_goal(b.problem, i, c->corners ? c->corners : c->goal));
            OK(ulna_problem_switch_constraint(b.problem, i, 0));
            OK(ulna_problem_switch_constraint(b.problem, i, 1));
        }
        OK(ulna_work_evaluate(b.work, b.q, &f));
        OK(ulna_work_rows(b.work, 1, rows, &count));
        OK(ulna_work_rows(b.work, 0, rows, &count));
        OK(ulna_work_load_rows(b.work, rows, count, NULL, NULL, z));
        OK(ulna_work_lagrangian_dense(b.work, 1, rows, count, z, dense));
        ulna_rows_add_transposed(b.work, rows, count, z, v);
        for (int i = 0; i < count; i++)
            ulna_row_couplings(&rows[i], pieces, scale);
        for (int i = 0; i < ulna_problem_constraint_count(b.problem); i++)
            OK(ulna_work_constraint_error(b.work, i, &error));
        counting = 0;
        assert_int_equal(bad, ULNA_OK);
        assert_int_equal(heap_calls, 0);
        free(rows);
        free(pieces);
        free(z);
        free(dense);
        free(v);
        ulna_test_bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wrapping_works),
        cmocka_unit_test(nothing_allocates_after_set_up),
        cmocka_unit_test(constraints_do_not_allocate_after_set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
