/* Status texts, error reports, the default allocator, the two-pass arena, growing arrays, what the CPU runs, time, version. */
#if defined(__unix__) || defined(__APPLE__)
#define _POSIX_C_SOURCE 199309L
#endif
#include "base/base.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/algorithms.h"
#include "ulna/version.h"

static const char *const status_texts[ULNA_STATUS_COUNT] = {
    [ULNA_OK] = "ok",
    [ULNA_ERR_ARGUMENT] = "invalid argument",
    [ULNA_ERR_MEMORY] = "out of memory",
    [ULNA_ERR_NUMBER] = "not a finite number",
    [ULNA_ERR_MODEL] = "inconsistent skeleton",
    [ULNA_ERR_STATE] = "called in the wrong order",
    [ULNA_ERR_INDEFINITE] = "matrix is not positive definite",
    [ULNA_ERR_SINGULAR] = "matrix is singular",
    [ULNA_ERR_CONVERGENCE] = "iteration limit reached",
    [ULNA_ERR_PARSE] = "cannot be understood",
    [ULNA_ERR_IO] = "cannot be read or written",
    [ULNA_ERR_LIMIT] = "too large",
    [ULNA_ERR_UNSUPPORTED] = "not supported",
    [ULNA_ERR_FORMAT] = "unknown file format",
};

const char *ulna_status_text(ulna_status status)
{
    unsigned index = (unsigned)status;
    return index < ULNA_STATUS_COUNT ? status_texts[index] : "unknown status";
}

void ulna_error_clear(ulna_error *error)
{
    if (!error)
        return;
    memset(error, 0, sizeof *error);
    error->byte = -1;
}

ulna_status(ulna_fail)(ulna_error *error, ulna_status status, const char *format, ...)
{
    if (error) {
        va_list arguments;
        ulna_error_clear(error); /* a position of an earlier error is none of this one */
        error->status = status;
        va_start(arguments, format);
        if (vsnprintf(error->message, sizeof error->message, format, arguments) >= (int)sizeof error->message)
            ulna_end_at_word(error->message, sizeof error->message);
        va_end(arguments);
    }
    return status;
}

ulna_status ulna_fail_file(ulna_error *error, const char *path, ulna_status status)
{
    if (status != ULNA_OK && error && path)
        snprintf(error->path, sizeof error->path, "%s", path);
    return status;
}

static size_t round_up(size_t bytes)
{
    return (bytes + (ULNA_ALIGNMENT - 1)) & ~(size_t)(ULNA_ALIGNMENT - 1);
}

static void *default_allocate(void *context, size_t bytes)
{
    (void)context;
    return bytes > SIZE_MAX - ULNA_ALIGNMENT ? NULL : aligned_alloc(ULNA_ALIGNMENT, round_up(bytes));
}

static void default_release(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

ulna_allocator ulna_allocator_or_default(const ulna_allocator *allocator)
{
    return allocator && allocator->allocate && allocator->release
               ? *allocator
               : (ulna_allocator){default_allocate, default_release, NULL};
}

void *ulna_allocate_raw(const ulna_allocator *allocator, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    size_t bytes = count * size > 0 ? count * size : 1;
    void *memory = allocator->allocate(allocator->context, bytes);
    if (memory && (uintptr_t)memory % ULNA_ALIGNMENT != 0) { /* a hook that does not keep its promise */
        allocator->release(allocator->context, memory, bytes);
        return NULL;
    }
    return memory;
}

void *ulna_allocate(const ulna_allocator *allocator, size_t count, size_t size)
{
    void *memory = ulna_allocate_raw(allocator, count, size);
    if (memory)
        memset(memory, 0, count * size);
    return memory;
}

void ulna_release(const ulna_allocator *allocator, void *memory, size_t count, size_t size)
{
    if (memory)
        allocator->release(allocator->context, memory, count * size > 0 ? count * size : 1);
}

void *ulna_arena_take(ulna_arena *arena, size_t count, size_t size)
{
    size_t start = round_up(arena->used);
    if (arena->failed || start < arena->used || (size && count > (SIZE_MAX - start) / size)) {
        arena->failed = 1;
        return NULL;
    }
    arena->used = start + count * size;
    return arena->memory ? arena->memory + start : NULL;
}

ulna_status ulna_grow(const ulna_allocator *allocator, void **items, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return ULNA_OK;
    size_t wanted = *capacity ? *capacity : 8;
    while (wanted < needed) {
        if (wanted > SIZE_MAX / 2)
            return ULNA_ERR_LIMIT;
        wanted *= 2;
    }
    void *larger = ulna_allocate(allocator, wanted, size);
    if (!larger)
        return ULNA_ERR_MEMORY;
    if (*items)
        memcpy(larger, *items, *capacity * size);
    ulna_release(allocator, *items, *capacity, size);
    *items = larger;
    *capacity = wanted;
    return ULNA_OK;
}

int ulna_cpu_runs(const char *kernel)
{
#ifndef ULNA_NO_X86
    if (!strcmp(kernel, "avx2"))
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (!strcmp(kernel, "avx512"))
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq");
#endif
    return !strcmp(kernel, "portable");
}

double ulna_seconds(void)
{
    struct timespec now;
#if defined(CLOCK_MONOTONIC)
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
#else
    if (timespec_get(&now, TIME_UTC) != TIME_UTC)
        return 0;
#endif
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *ulna_version(void)
{
    return ULNA_VERSION_STRING;
}
