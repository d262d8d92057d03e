/* base.h (private): reporting an error, and memory through the allocator hook. */
#ifndef ULNA_SRC_BASE_H
#define ULNA_SRC_BASE_H

#include "ulna/base.h"

/* Fills `error` (may be NULL) and returns `status`, so that `return ulna_fail(...)` reads well. */
ulna_status ulna_fail(ulna_error *error, ulna_status status, const char *format, ...) ULNA_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* which does not look into other files */
#define ulna_fail(error, status, ...) (ulna_fail(error, status, __VA_ARGS__), status)
#endif
/* Adds the path to an error that is filled already, if `status` is one; returns `status`. */
ulna_status ulna_fail_file(ulna_error *error, const char *path, ulna_status status);

/* Zeroed memory for count * size bytes, or NULL if that overflows or memory is out. */
void *ulna_allocate(const ulna_allocator *allocator, size_t count, size_t size);
/* The same for memory that is written before it is read: not zeroed, so that its pages are first touched where they are used. */
void *ulna_allocate_raw(const ulna_allocator *allocator, size_t count, size_t size);
void ulna_release(const ulna_allocator *allocator, void *memory, size_t count, size_t size);

/* The given allocator, or aligned_alloc and free of the C library for NULL or an incomplete one. */
ulna_allocator ulna_allocator_or_default(const ulna_allocator *allocator);

/*
 * One block, many arrays. Run the same list of `ulna_arena_take` calls twice: first on an arena
 * without memory, which only adds up sizes, then on one with memory, which hands out pieces.
 * Every piece is aligned to ULNA_ALIGNMENT. Overflow makes `failed` true.
 */
typedef struct ulna_arena {
    unsigned char *memory; /* NULL while counting */
    size_t used;
    int failed;
} ulna_arena;

void *ulna_arena_take(ulna_arena *arena, size_t count, size_t size);

/* Makes room for one more item in a growing array; on failure the array is as it was. */
ulna_status ulna_grow(const ulna_allocator *allocator, void **items, size_t *capacity, size_t needed, size_t size);

/* 1 if this build has kernels of that name ("portable", "avx2" or "avx512") and this CPU runs them. */
int ulna_cpu_runs(const char *kernel);

/* Seconds by a clock that only goes forward, where there is one. */
double ulna_seconds(void);

#endif
