/*
 * Linked into build/tests/faults/ulna: the n-th allocation of the whole program fails, also inside the libraries that it calls.
 *
 * ULNA_MEMORY_FAULT is "17" for the 17th alone, "17-" for the 17th and all that follow, "count" for none; with "count", their number is
 * written to standard error at the end. Allocations count from main on: what libraries do as they are loaded is theirs.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sanitizers have their own malloc, which must stay; other C libraries have no second names for theirs. */
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NO_FAULTS
#elif defined(__has_feature) /* of clang */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define NO_FAULTS
#endif
#endif

#ifndef NO_FAULTS

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_long calls;
static long first, last = -1; /* of those that fail */

static int fails(void)
{
    const long call = atomic_fetch_add(&calls, 1) + 1;
    if (call < first || call > last)
        return 0;
    errno = ENOMEM;
    return 1;
}

static void tell_count(void)
{
    char text[32];
    const int length = snprintf(text, sizeof text, "%ld allocations\n", (long)calls);
    (void)!write(STDERR_FILENO, text, (size_t)length);
}

__attribute__((constructor(65535))) static void choose(void)
{
    const char *wanted = getenv("ULNA_MEMORY_FAULT");
    if (!wanted)
        return;
    calls = 0;
    first = strtol(wanted, NULL, 10);
    last = strchr(wanted, '-') ? 1L << 60 : first;
    if (strcmp(wanted, "count") == 0) {
        last = -1;
        (void)atexit(tell_count);
        calls = 0;
    }
}

void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return fails() ? NULL : __libc_realloc(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return fails() ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    void *made = fails() ? NULL : __libc_memalign(alignment, bytes);
    if (made)
        *memory = made;
    return made ? 0 : ENOMEM;
}

#else

/* For the test, which then skips itself. */
__attribute__((constructor)) static void refuse(void)
{
    if (getenv("ULNA_MEMORY_FAULT")) {
        (void)!write(STDERR_FILENO, "no allocations fail here\n", 25);
        _exit(77);
    }
}

#endif
