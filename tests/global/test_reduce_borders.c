/* Where the reduction ends: refusals, memory, depth, numbers out of range, and coordinates inside their limits. */
#include "test_reduce_support.h"

static void test_refusals(void **state)
{
    (void)state;
    ulna_error error;
    ulna_reduced reduced;
    bench b = begin();
    hang(&b, ulna_joint_revolute(0, 0, 1), 0, 0, 0);
    build(&b);
    assert_int_equal(ulna_problem_add_posture(b.problem, NULL, NULL, 1, NULL, NULL), ULNA_OK);
    assert_says(ulna_reduced_create(b.problem, NULL, NULL, &reduced, &error), ULNA_ERR_STATE, "not ready");
    ready(&b);
    assert_says(ulna_reduced_create(b.problem, NULL, NULL, &reduced, &error), ULNA_ERR_UNSUPPORTED,
                "no goal that relaxations support", "1 terms of other types");
    int term = pull(&b, 0, 1, 0, 0);
    assert_int_equal(ulna_problem_ready(b.problem, NULL), ULNA_OK);
    const unsigned char fixed[1] = {1};
    const double crossed[2] = {1, -1};
    const ulna_reduce_options wrong = {.bounded = 1, .lower = crossed, .upper = crossed + 1};
    assert_says(
        ulna_reduced_create(b.problem, &(ulna_reduce_options){.bounded = 1, .locked = fixed}, NULL, &reduced, &error),
        ULNA_ERR_ARGUMENT, "locked");
    assert_says(ulna_reduced_create(b.problem, &wrong, NULL, &reduced, &error), ULNA_ERR_ARGUMENT, "limit");
    assert_int_equal(ulna_problem_set_goal(b.problem, term, (const double[3]){1e200, 0, 0}), ULNA_OK);
    assert_says(ulna_reduced_create(b.problem, NULL, NULL, &reduced, &error), ULNA_ERR_NUMBER, "too large");
    assert_int_equal(ulna_problem_set_weight(b.problem, term, 0), ULNA_OK);
    assert_says(ulna_reduced_create(b.problem, NULL, NULL, &reduced, &error), ULNA_ERR_UNSUPPORTED, "no goal");
    ulna_reduced_release(&reduced);
    ulna_reduced_release(NULL);
    end(&b);
}

/* Weights that vanish beside others are no goals, and no NaN. */
static void test_tiny_weights(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        bench b = begin();
        hang(&b, ulna_joint_ball(), 0, 0, 0);
        build(&b);
        for (int i = 0; i < 3; i++)
            assert_int_equal(ulna_problem_set_weight(b.problem, pull(&b, 0, i, 1, 0), i == 2 && !both ? 1e10 : 5e-324),
                             ULNA_OK);
        ready(&b);
        for (int gather = 0; gather < 3; gather++) {
            ulna_reduced reduced;
            const ulna_reduce_options options = {.gather = (ulna_gather)gather};
            assert_int_equal(ulna_reduced_create(b.problem, &options, NULL, &reduced, NULL), ULNA_OK);
            assert_true(isfinite(ulna_test_reduced_f(&reduced, (const double[4]){0.5, 0.5, 0.5, 0.5})));
            ulna_reduced_release(&reduced);
        }
        end(&b);
    }
}

static void test_memory(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(6);
    ulna_test_bench b = ulna_test_bench_open(&rng, NULL, 1u << ULNA_TERM_POINT, 4);
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_reduced reduced;
        ulna_reduced_pose pose = {0};
        ulna_status status = ulna_reduced_create(b.problem, NULL, &allocator, &reduced, NULL);
        if (status == ULNA_OK)
            status = ulna_reduced_pose_create(&reduced, &allocator, &pose);
        ulna_reduced_pose_release(&allocator, &pose);
        ulna_reduced_release(&reduced);
        ulna_test_memory_check(&memory);
        if (!memory.failed)
            break;
        assert_int_equal(status, ULNA_ERR_MEMORY);
    }
    ulna_test_bench_close(&b);
}

static void test_deep_chain(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(8);
    bench b = begin();
    for (int i = 0; i < 10000; i++) {
        int body = hang(&b, ulna_joint_revolute(i % 3 == 0, i % 3 == 1, i % 3 == 2), 0, 0.01, 0.003);
        limit(&b, body, 0, -1, 1);
    }
    build(&b);
    for (int i = 99; i < 10000; i += 100)
        pull(&b, i, 0.1, 0.1, 0);
    ready(&b);
    ulna_reduced reduced;
    assert_int_equal(ulna_reduced_create(b.problem, NULL, NULL, &reduced, NULL), ULNA_OK);
    ulna_test_check_reduced(&reduced);
    assert_int_equal(reduced.count, 1 + 10000 + 9999 + 100);
    double *q = ulna_test_random_q(&rng, b.model), *back = ulna_test_numbers(10000), f, again;
    ulna_reduced_pose pose;
    assert_int_equal(ulna_reduced_pose_create(&reduced, NULL, &pose), ULNA_OK);
    ulna_test_reduced_pose(&reduced, q, &pose);
    assert_int_equal(ulna_work_evaluate(b.work, q, &f), ULNA_OK);
    assert_true(fabs(reduced.unit * ulna_test_reduced_cost(&reduced, &pose) - f) <= 1e-12 * f);
    assert_int_equal(ulna_reduced_to_q(&reduced, b.problem, &pose, NULL, back), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(b.work, back, &again), ULNA_OK);
    assert_true(fabs(again - f) <= 1e-12 * f);
    ulna_reduced_pose_release(NULL, &pose);
    ulna_reduced_release(&reduced);
    free(q);
    free(back);
    end(&b);
}

/* Angles a few turns away, and out of the limits, come back inside: to the same place or to the nearer limit. */
static void test_angles_inside(void **state)
{
    (void)state;
    bench b = begin();
    hang(&b, ulna_joint_revolute(0, 0, 1), 0, 0, 0);
    limit(&b, 0, 0, -1, 2);
    build(&b);
    pull(&b, 0, 1, 0, 0);
    ready(&b);
    ulna_reduced reduced;
    ulna_reduced_pose pose;
    assert_int_equal(ulna_reduced_create(b.problem, NULL, NULL, &reduced, NULL), ULNA_OK);
    assert_int_equal(ulna_reduced_pose_create(&reduced, NULL, &pose), ULNA_OK);
    const double given[] = {0.5, 0.5 + 6 * ULNA_PI, -1 - 2 * ULNA_PI, 2.1, -1.2, 2.1 - 2 * ULNA_PI, 5.2, 3.6, 3.7};
    const double expected[] = {0.5, 0.5, -1, 2, -1, 2, -1, 2, -1};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        double q;
        pose.value[1] = given[i];
        assert_int_equal(ulna_reduced_to_q(&reduced, b.problem, &pose, NULL, &q), ULNA_OK);
        assert_true(q >= -1 && q <= 2 && fabs(q - expected[i]) < 1e-14);
    }
    double q = 0.125;
    pose.value[1] = NAN;
    assert_int_equal(ulna_reduced_to_q(&reduced, b.problem, &pose, NULL, &q), ULNA_ERR_NUMBER);
    assert_true(q == 0.125);
    ulna_reduced_pose_release(NULL, &pose);
    ulna_reduced_release(&reduced);
    end(&b);
}

static void test_vectors_inside(void **state)
{
    (void)state;
    bench b = begin();
    hang(&b, ulna_joint_expmap(), 0, 0, 0);
    for (int k = 0; k < 3; k++)
        limit(&b, 0, k, -0.5, 2.5);
    hang(&b, ulna_joint_revolute(1, 0, 0), 1, 0, 0); /* cut off */
    limit(&b, 1, 0, -1, 1);
    build(&b);
    pull(&b, 0, 1, 0, 0);
    turn(&b, 0);
    ready(&b);
    ulna_reduced reduced;
    ulna_reduced_pose pose;
    assert_int_equal(ulna_reduced_create(b.problem, NULL, NULL, &reduced, NULL), ULNA_OK);
    assert_int_equal(ulna_reduced_pose_create(&reduced, NULL, &pose), ULNA_OK);
    const double given[4] = {2.4, 2.3, 2.2, 0}, near_q[4] = {0.1, 0.1, 0.1, -7}; /* more than half a turn */
    double q[4];
    ulna_test_reduced_pose(&reduced, given, &pose);
    assert_int_equal(ulna_reduced_to_q(&reduced, b.problem, &pose, near_q, q), ULNA_OK);
    assert_true(ulna_test_difference(q, given, 3) < 1e-12);
    assert_true(q[3] == -1);

    /* a rotation that the limits do not have */
    memcpy(pose.quaternion[1], (const double[4]){0.8, -0.6, 0, 0}, 4 * sizeof(double));
    assert_int_equal(ulna_reduced_to_q(&reduced, b.problem, &pose, NULL, q), ULNA_OK);
    assert_true(q[0] == -0.5 && fabs(q[1]) < 1e-15 && fabs(q[2]) < 1e-15);
    ulna_reduced_release(&reduced);

    /* a component that stands still, elsewhere than at rest, and one that others' limits hold there */
    const double lower[4] = {-9, 0.25, -9, -1}, upper[4] = {9, 0.25, 9, 1};
    const ulna_reduce_options held = {
        .bounded = 1, .lower = lower, .upper = upper, .locked = (const unsigned char[4]){1, 0, 0, 0}, .q = given};
    assert_int_equal(ulna_reduced_create(b.problem, &held, NULL, &reduced, NULL), ULNA_OK);
    assert_int_equal(reduced.limits_left_out, 2);
    assert_int_equal(ulna_reduced_to_q(&reduced, b.problem, &pose, NULL, q), ULNA_OK);
    assert_true(q[0] == given[0] && q[1] == 0.25);
    ulna_reduced_pose_release(NULL, &pose);
    ulna_reduced_release(&reduced);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_tiny_weights),  cmocka_unit_test(test_memory),
        cmocka_unit_test(test_deep_chain), cmocka_unit_test(test_angles_inside), cmocka_unit_test(test_vectors_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
