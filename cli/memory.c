/*
 * What the tool does without memory: it ends, as after any failure with a message and an exit code, and never with a part of its output.
 *
 * jansson's functions fail one by one, and an object that lacks some of its keys looks complete. So jansson allocates here, and its first
 * failure ends the program. The library reports ULNA_ERR_MEMORY, which ends where every status does.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/output.h"

static const cli *told; /* whether --json is on */
static void (*undo)(void *context);
static void *undone;

void cli_undo_without_memory(void (*what)(void *), void *context)
{
    undo = what;
    undone = context;
}

_Noreturn int cli_out_of_memory(void)
{
    static atomic_int is_ending;
    while (atomic_exchange(&is_ending, 1)) /* the program ends in another thread */
        pause();
    cli_writing_stop();
    if (undo)
        undo(undone);
    fputs("ulna: out of memory\n", stderr);
    if (told && (told->json || told->json_ahead))
        fputs("{\"error\": {\"status\": \"memory\", \"message\": \"out of memory\"}}\n", stdout);
    fflush(stdout);
    _exit(CLI_PARTLY);
}

void *cli_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        cli_out_of_memory();
    return memory;
}

static void *allocate_or_end(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory)
        cli_out_of_memory();
    return memory;
}

void cli_memory_begin(const cli *tool)
{
    told = tool;
    json_set_alloc_funcs(allocate_or_end, free);
}

FILE *cli_open(const char *path)
{
    errno = 0;
    FILE *file = fopen(path, "rb");
    if (!file && errno == ENOMEM)
        cli_out_of_memory();
    return file;
}

json_t *cli_load_json(const char *path)
{
    FILE *file = cli_open(path);
    json_t *object = file ? json_loadf(file, 0, NULL) : NULL;
    if (file)
        (void)fclose(file);
    return object;
}
