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

/* The folder of recorded data: ULNA_DATA, or ../shared/data beside the source tree. Not checked for existence. */
const char *ulna_test_data_dir(void);

/* Call first in a test that reads recorded data (or give as its set-up function): skips with a message where the
 * folder is absent, but fails if ULNA_REQUIRE_DATA=1, so that CI cannot pass by skipping. Returns 0. */
int ulna_test_need_data(void **state);

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
