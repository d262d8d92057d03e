/*
 * Linked into build/tests/faults/ulna, a tool for tests of `ulna batch`: takes that crash or hang, as no recording should be able to do.
 *
 * With "hang NAME", "crash NAME" or "memory NAME" in ULNA_BATCH_FAULT, a list with ";" between its items, the take of this name hangs,
 * aborts or uses up its memory. "again NAME" aborts unless it is the first of its process; "moved NAME" kills the batch when its files
 * are in their place, before the journal has its line.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void batch_stage(const char *stage, const char *take);

static const char *fault_of(const char *faults, const char *name)
{
    const size_t length = strlen(name);
    while (faults && *faults) {
        const char *end = faults + strcspn(faults, ";"), *own = strchr(faults, ' ');
        if (own && (size_t)(end - own) == length + 1 && strncmp(own + 1, name, length) == 0)
            return faults;
        faults = *end ? end + 1 : end;
    }
    return "";
}

static void use_up_memory(void)
{
    for (size_t size = (size_t)1 << 24;; size += size / 2) {
        volatile char *block = malloc(size);
        if (!block)
            abort();
        for (size_t i = 0; i < size; i += 4096)
            block[i] = 1;
    }
}

void batch_stage(const char *stage, const char *take)
{
    const char *faults = getenv("ULNA_BATCH_FAULT"), *fault = fault_of(faults, take);
    static int takes; /* of this process */
    const int is_moved = strcmp(stage, "moved") == 0;
    const int is_first = faults && strncmp(faults, "again", 5) == 0 && !is_moved && takes++ == 0;
    if (strncmp(fault, "moved", 5) == 0 && is_moved)
        (void)raise(SIGKILL);
    if (!*fault || is_moved || strncmp(fault, "moved", 5) == 0)
        return;
    if (strncmp(fault, "hang", 4) == 0)
        for (;;)
            pause();
    if (strncmp(fault, "again", 5) == 0 && is_first)
        return;
    if (strncmp(fault, "memory", 6) == 0)
        use_up_memory();
    abort();
}
