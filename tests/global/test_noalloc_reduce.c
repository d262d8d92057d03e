/* New goals for a reduced tree, its cost, and the way back to coordinates do not touch the heap: test_noalloc.c says how. */
#include "support_heap.h"

#include <stdlib.h>

#include "global/reduced.h"
#include "support_problem.h"
#include "support_reduced.h"

static void frames_do_not_allocate(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(51);
    for (int round = 0; round < 200; round++) {
        const unsigned types = 1u << ULNA_TERM_POINT | 1u << ULNA_TERM_ORIENTATION | 1u << ULNA_TERM_DIRECTION;
        ulna_test_bench b = ulna_test_bench_open(&rng, NULL, types, 8);
        const ulna_reduce_options options = {.bounded = 1, .gather = round % 2};
        ulna_reduced reduced;
        ulna_reduced_pose pose;
        heap_calls = 0;
        counting = 1;
        ulna_status made = ulna_reduced_create(b.problem, &options, NULL, &reduced, NULL);
        counting = 0;
        assert_int_equal(made, ULNA_OK);
        assert_true(heap_calls >= 3); /* the wrapping works */
        assert_int_equal(ulna_reduced_pose_create(&reduced, NULL, &pose), ULNA_OK);
        ulna_test_reduced_pose(&reduced, b.q, &pose);

        heap_calls = 0;
        counting = 1;
        ulna_status fresh = ulna_reduced_refresh(&reduced, b.problem);
        double cost = ulna_test_reduced_cost(&reduced, &pose);
        ulna_status back = ulna_reduced_to_q(&reduced, b.problem, &pose, NULL, b.q);
        counting = 0;
        assert_int_equal(heap_calls, 0);
        assert_int_equal(fresh, ULNA_OK);
        assert_int_equal(back, ULNA_OK);
        assert_true(cost > 0);
        ulna_reduced_pose_release(NULL, &pose);
        ulna_reduced_release(&reduced);
        ulna_test_bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_do_not_allocate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
