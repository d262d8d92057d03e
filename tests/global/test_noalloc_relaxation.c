/* A relaxation takes its memory when it is created: solving, rounding and sampling do not touch the heap. */
#include "support_heap.h"
#include "support_relaxation.h"

static void nothing_allocates_after_create(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(11);
    for (int round = 0; round < 8; round++) {
        const ulna_test_tree_kind kind = {.free_root = round % 2, .balls = 1, .slides = 1, .turns = 1};
        ulna_reduced tree = ulna_test_random_reduced(&rng, kind, 16, 0.1);
        ulna_relaxation *relaxation;
        ulna_reduced_pose pose;
        ulna_relax_result result;
        const ulna_relax_options options = ulna_relax_options_default();
        uint64_t random = 1;
        counting = 1;
        heap_calls = 0;
        ulna_status status = ulna_relaxation_create(&tree, (ulna_relax_kind)(round / 2 % 2), NULL, &relaxation, NULL);
        counting = 0;
        assert_int_equal(status, ULNA_OK);
        assert_true(heap_calls > 2);
        assert_int_equal(ulna_reduced_pose_create(&tree, NULL, &pose), ULNA_OK);
        counting = 1;
        heap_calls = 0;
        status = ulna_relaxation_solve(relaxation, &tree, &options, &result);
        ulna_relaxation_round(relaxation, NULL, &pose);
        ulna_relaxation_round(relaxation, &random, &pose);
        counting = 0;
        assert_int_equal(status, ULNA_OK);
        assert_int_equal(heap_calls, 0);
        ulna_reduced_pose_release(NULL, &pose);
        ulna_relaxation_destroy(relaxation);
        ulna_test_tree_release(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_allocates_after_create)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
