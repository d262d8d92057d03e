/* names.h (private): a list of names that finds them again. */
#ifndef ULNA_SRC_NAMES_H
#define ULNA_SRC_NAMES_H

#include "ulna/model.h"

typedef struct ulna_names {
    ulna_allocator allocator;
    char *text; /* one after the other, each with its zero byte */
    size_t text_count, text_capacity;
    size_t *start; /* where each begins */
    size_t count, capacity;
    int *slot; /* open addressing: index + 1, 0 means free; the hash does not see letter case */
    size_t slot_count;
} ulna_names;

ulna_names ulna_names_empty(const ulna_allocator *allocator);
void ulna_names_release(ulna_names *names);
/* The n-th name gets index n. ULNA_ERR_MEMORY, ULNA_ERR_LIMIT. */
ulna_status ulna_names_add(ulna_names *names, const char *name);
static inline const char *ulna_names_at(const ulna_names *names, int index)
{
    return names->text + names->start[index];
}
static inline size_t ulna_names_length(const ulna_names *names, int index)
{
    size_t next = (size_t)index + 1;
    return (next < names->count ? names->start[next] : names->text_count) - names->start[index] - 1;
}
/* The first that is exactly so; ULNA_NONE (-1) if there is none. */
int ulna_names_find(const ulna_names *names, const char *name);
/* Failing that, the only one that differs by the case of ASCII letters. */
int ulna_names_find_like(const ulna_names *names, const char *name);

#define ULNA_BODY_NAME 256

/* `base` if no body has it yet and it is not too long; else base, mark and the first number from 2 on that is free. Returns 0
 * in the second case. */
int ulna_free_body_name(const ulna_builder *builder, const char *base, const char *mark, char name[ULNA_BODY_NAME]);

#endif
