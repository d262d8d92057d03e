/* support.h: what several tests share: random numbers, the data folder, an allocator that counts and fails. */
#ifndef ULNA_TESTS_SUPPORT_H
#define ULNA_TESTS_SUPPORT_H

/* cmocka.h wants these five before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "ulna/base.h"

/* Random numbers that are the same everywhere: xoshiro256**, seeded through splitmix64. One per test, no globals. */
typedef struct ulna_test_rng {
    uint64_t state[4];
} ulna_test_rng;

ulna_test_rng ulna_test_rng_seed(uint64_t seed);
uint64_t ulna_test_rng_next(ulna_test_rng *rng);
double ulna_test_rng_uniform(ulna_test_rng *rng, double low, double high); /* low <= x < high */
double ulna_test_rng_normal(ulna_test_rng *rng);                           /* mean 0, variance 1 */
int ulna_test_rng_index(ulna_test_rng *rng, int count);                    /* 0 <= i < count; count > 0 */
void ulna_test_rng_fill(ulna_test_rng *rng, double *values, int count, double low, double high);

/*
 * A test that reads recorded data names the folders that it needs, in the table of its program:
 *
 *     ulna_test_needs("hdm05 cmu", cmocka_unit_test(a_walk_is_solved)),
 *
 * Where one is missing it is skipped with the reason, and the program's exit code is 77, which CTest shows as skipped; with
 * ULNA_REQUIRE_DATA=1 it fails instead. CTest runs such tests apart from the others of their program, as test_<module>_data
 * (ULNA_TEST_PART=data, or rest). Programs that have no others are called test_data_*.
 */
#define ulna_test_needs(folders, ...) ulna_test_needs_of(folders, __VA_ARGS__)
#define ulna_test_needs_of(folders, name, ...) name ": needs " folders, __VA_ARGS__

/* The folder of recorded data: ULNA_DATA, or ../shared/data beside the source tree (docs/test-data.md). Fails a test that
 * does not name what it needs. */
const char *ulna_test_data_dir(void);

/* Runs the part of the tests that ULNA_TEST_PART names, by default all. Returns 0, 1 or, for tests that were skipped, 77. */
int ulna_test_run(const char *group, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
                  CMFixtureFunction teardown);
#undef cmocka_run_group_tests
#undef cmocka_run_group_tests_name
#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run_group_tests_name(#tests, tests, setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                                      \
    ulna_test_run(name, tests, sizeof(tests) / sizeof *(tests), setup, teardown)

/* Joins folder and name into `path` (size bytes) and returns it; fails the test if it does not fit. */
char *ulna_test_path(char *path, size_t size, const char *folder, const char *name);

/* The whole file, followed by a zero byte that `size` does not count; fails the test if it cannot be read. free() it. */
char *ulna_test_read_file(const char *path, size_t *size);

/*
 * An allocator that counts and can fail. To see every failure path of a set-up call:
 *
 *     for (long fail = 0;; fail++) {
 *         ulna_test_memory memory = {.fail_at = fail};
 *         ulna_allocator allocator = ulna_test_allocator(&memory);
 *         status = ulna_thing_create(&allocator, &thing);
 *         if (status == ULNA_OK) ulna_thing_destroy(thing);
 *         ulna_test_memory_check(&memory);
 *         if (!memory.failed) break;
 *         assert_int_equal(status, ULNA_ERR_MEMORY);
 *     }
 *
 * Not for several threads at once.
 */
typedef struct ulna_test_memory {
    long fail_at; /* the allocation, counted from 0, that fails, and all after it; negative: none */
    long calls;   /* allocations asked for so far */
    int failed;   /* an allocation was refused */
    long live_blocks;
    size_t live_bytes;
    size_t peak_bytes;
    int wrong_release; /* a size that differs from what was asked for, an unknown block or a torn edge */
} ulna_test_memory;

ulna_allocator ulna_test_allocator(ulna_test_memory *memory);

/* Fails the test if blocks are still alive or one was released wrongly. */
void ulna_test_memory_check(const ulna_test_memory *memory);

#endif
