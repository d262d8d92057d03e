/*
 * A program as text in SDPA's sparse format (SDPA User's Manual, section 5; also read by CSDP, SDPLIB's tools and
 * MOSEK):
 *
 *     number of variables m / number of blocks / their sizes / the objective c
 *     then one entry a line: matrix 0 .. m, block, row <= column, value; all from 1
 *
 * for  min cT x  such that  F_1 x_1 + ... + F_m x_m - F_0 >= 0: F_0 has the sign turned. The objective's constant has
 * no place in it and stands in the comment of the first line.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "papers/paper_program.h"

typedef struct writer {
    const ulna_allocator *allocator;
    ulna_status status;
    void *bytes;
    size_t length, capacity;
} writer;

static void put(writer *t, const char *format, ...) ULNA_PRINTF(2, 3);

static void put(writer *t, const char *format, ...)
{
    enum { LONGEST = 128 };
    if (t->status == ULNA_OK)
        t->status = ulna_grow(t->allocator, &t->bytes, &t->capacity, t->length + LONGEST, 1);
    if (t->status != ULNA_OK)
        return;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf((char *)t->bytes + t->length, LONGEST, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= LONGEST)
        t->status = ULNA_ERR_LIMIT;
    else
        t->length += (size_t)length;
}

static void put_head(writer *t, const ulna_program *p)
{
    put(t, "\"add %.17g to the objective\n%d\n%d\n", p->objective.constant, p->variables, p->blocks);
    for (int b = 0; b < p->blocks; b++)
        put(t, b ? " %d" : "%d", p->size[b]);
    put(t, "\n");
    for (int v = 0, i = 0; v < p->variables; v++) {
        const ulna_affine_term *term = p->term + p->objective.first + i;
        int is_there = i < p->objective.count && term->variable == v;
        put(t, v ? " %.17g" : "%.17g", is_there ? term->factor : 0.0);
        i += is_there;
    }
    put(t, "\n");
}

ulna_status ulna_sdpa_write(const ulna_program *program, const ulna_allocator *allocator, char **text, size_t *length)
{
    if (!text || !length)
        return ULNA_ERR_ARGUMENT;
    *text = NULL;
    *length = 0;
    if (!program || program->status != ULNA_OK)
        return ULNA_ERR_ARGUMENT;
    ulna_allocator memory = ulna_allocator_or_default(allocator);
    writer t = {.allocator = &memory};
    put_head(&t, program);
    for (size_t i = 0; i < program->entry_count && t.status == ULNA_OK; i++) {
        const ulna_program_entry *e = &program->entry[i];
        double value = e->variable == ULNA_CONSTANT ? -e->value : e->value;
        put(&t, "%d %d %d %d %.17g\n", e->variable + 1, e->block + 1, e->column + 1, e->row + 1, value);
    }
    char *exact = t.status == ULNA_OK ? ulna_allocate(&memory, t.length + 1, 1) : NULL;
    if (exact) {
        memcpy(exact, t.bytes, t.length);
        *text = exact;
        *length = t.length;
    }
    ulna_release(&memory, t.bytes, t.capacity, 1);
    return t.status != ULNA_OK ? t.status : exact ? ULNA_OK : ULNA_ERR_MEMORY;
}
