/*
 * support_heap.h: counts heap calls. For test_noalloc*.c alone, which are linked with --wrap for the malloc family: include
 * it in one file of the program, since it defines the wrappers.
 */
#ifndef ULNA_TESTS_SUPPORT_HEAP_H
#define ULNA_TESTS_SUPPORT_HEAP_H

#include <stddef.h>

/* While `counting` is 1, every call adds to `heap_calls`. */
static int counting, heap_calls;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t size)
{
    heap_calls += counting;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    heap_calls += counting;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    heap_calls += counting;
    return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    heap_calls += counting;
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
    heap_calls += counting;
    return __real_posix_memalign(memory, alignment, size);
}

void __wrap_free(void *memory)
{
    heap_calls += counting;
    __real_free(memory);
}

#endif
