/* Affine functions and blocks: see paper_program.h. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "math/math3.h"
#include "papers/paper_program.h"

#define COMPLEMENT_MOST 16
#define ENTRIES_MOST ((size_t)1 << 26) /* a few GB: no general solver can handle more */

void ulna_program_begin(ulna_program *program, const ulna_allocator *allocator)
{
    *program = (ulna_program){.allocator = ulna_allocator_or_default(allocator)};
}

void ulna_program_end(ulna_program *program)
{
    ulna_release(&program->allocator, program->term, program->term_capacity, sizeof *program->term);
    ulna_release(&program->allocator, program->entry, program->entry_capacity, sizeof *program->entry);
    ulna_release(&program->allocator, program->size, program->size_capacity, sizeof *program->size);
    *program = (ulna_program){.status = ULNA_ERR_STATE};
}

/* Makes room for `needed` items in total; 0 if memory runs out, or ran out earlier. */
static int make_room(ulna_program *program, void **items, size_t *capacity, size_t needed, size_t size)
{
    if (program->status == ULNA_OK)
        program->status =
            needed > ENTRIES_MOST ? ULNA_ERR_LIMIT : ulna_grow(&program->allocator, items, capacity, needed, size);
    return program->status == ULNA_OK;
}

static int room_for_terms(ulna_program *program, size_t more)
{
    void *items = program->term;
    int has_room =
        make_room(program, &items, &program->term_capacity, program->term_count + more, sizeof *program->term);
    program->term = items;
    return has_room;
}

/* ---- affine functions -------------------------------------------------------------------------------------------- */

ulna_affine ulna_affine_constant(double constant)
{
    return (ulna_affine){.constant = constant};
}

ulna_affine ulna_program_variable(ulna_program *program)
{
    if (!room_for_terms(program, 1))
        return ulna_affine_constant(0);
    program->term[program->term_count] = (ulna_affine_term){program->variables++, 1};
    return (ulna_affine){.first = program->term_count++, .count = 1};
}

/* Sorts the terms by variable, adds those of the same variable, removes zeros; returns their number. */
static int gather(ulna_affine_term *term, int count)
{
    int kept = 0;
    for (int i = 0; i < count; i++) { /* insertion sort: the list is a few sorted runs */
        ulna_affine_term t = term[i];
        int at = kept;
        while (at > 0 && term[at - 1].variable > t.variable)
            at--;
        if (at > 0 && term[at - 1].variable == t.variable) {
            term[at - 1].factor += t.factor;
            continue;
        }
        memmove(term + at + 1, term + at, (size_t)(kept - at) * sizeof *term);
        term[at] = t;
        kept++;
    }
    count = kept;
    kept = 0;
    for (int i = 0; i < count; i++)
        if (term[i].factor != 0)
            term[kept++] = term[i];
    return kept;
}

ulna_affine ulna_affine_mix(ulna_program *program, double constant, int count, const double *factor,
                            const ulna_affine *part)
{
    ulna_affine sum = {.first = program->term_count, .constant = constant};
    int most = 0;
    for (int i = 0; i < count; i++)
        most += factor[i] != 0 ? part[i].count : 0;
    if (!room_for_terms(program, (size_t)most))
        return ulna_affine_constant(0);
    ulna_affine_term *term = program->term + sum.first;
    for (int i = 0; i < count; i++) {
        if (factor[i] == 0)
            continue;
        sum.constant += factor[i] * part[i].constant;
        for (int k = 0; k < part[i].count; k++) {
            term[sum.count] = program->term[part[i].first + (size_t)k];
            term[sum.count++].factor *= factor[i];
        }
    }
    sum.count = gather(term, sum.count);
    program->term_count += (size_t)sum.count;
    return sum;
}

double ulna_affine_value(const ulna_program *program, ulna_affine affine, const double *x)
{
    double value = affine.constant;
    for (int i = 0; i < affine.count; i++) {
        const ulna_affine_term *term = &program->term[affine.first + (size_t)i];
        value += term->factor * x[term->variable];
    }
    return value;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

int ulna_program_block(ulna_program *program, int size)
{
    void *items = program->size;
    int has_room =
        make_room(program, &items, &program->size_capacity, (size_t)program->blocks + 1, sizeof *program->size);
    program->size = items;
    if (!has_room)
        return 0;
    program->size[program->blocks] = size;
    return program->blocks++;
}

void ulna_program_set(ulna_program *program, int block, int row, int column, ulna_affine affine)
{
    void *items = program->entry;
    size_t needed = program->entry_count + (size_t)affine.count + 1;
    int has_room = make_room(program, &items, &program->entry_capacity, needed, sizeof *program->entry);
    program->entry = items;
    if (!has_room)
        return;
    ulna_program_entry e = {block, ULNA_CONSTANT, row > column ? row : column, row > column ? column : row,
                            affine.constant};
    if (e.value != 0)
        program->entry[program->entry_count++] = e;
    for (int i = 0; i < affine.count; i++) {
        const ulna_affine_term *term = &program->term[affine.first + (size_t)i];
        e.variable = term->variable;
        e.value = term->factor;
        program->entry[program->entry_count++] = e;
    }
}

void ulna_program_face(ulna_program *program, int n, const ulna_affine *M, int m, const double *V)
{
    int block = ulna_program_block(program, m);
    ulna_affine part[COMPLEMENT_MOST * COMPLEMENT_MOST] = {{0}};
    double factor[COMPLEMENT_MOST * COMPLEMENT_MOST] = {0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            part[n * i + k] = i >= k ? M[n * i + k] : M[n * k + i];
    for (int row = 0; row < m; row++)
        for (int column = 0; column <= row; column++) {
            for (int i = 0; i < n; i++)
                for (int k = 0; k < n; k++)
                    factor[n * i + k] = V[n * row + i] * V[n * column + k];
            ulna_program_set(program, block, row, column, ulna_affine_mix(program, 0, n * n, factor, part));
        }
}

static int compare_entries(const void *left, const void *right, const void *context)
{
    (void)context;
    const ulna_program_entry *a = left, *b = right;
    int keys[][2] = {{a->block, b->block}, {a->variable, b->variable}, {a->column, b->column}, {a->row, b->row}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

ulna_status ulna_program_close(ulna_program *program)
{
    if (program->status == ULNA_OK && program->entry_count)
        ulna_sort(program->entry, program->entry_count, sizeof *program->entry, compare_entries, NULL);
    return program->status;
}

/* ---- faces ------------------------------------------------------------------------------------------------------- */

/* Orthogonalises v to the columns, twice for accuracy, normalises it and appends it; 0 if it depends on them. */
static int add_column(int n, int count, double *columns, const double *v)
{
    double *x = columns + n * count;
    memcpy(x, v, (size_t)n * sizeof *x);
    for (int pass = 0; pass < 2; pass++)
        for (int c = 0; c < count; c++) {
            double along = ulna_inner(n, columns + n * c, x);
            for (int i = 0; i < n; i++)
                x[i] -= along * columns[n * c + i];
        }
    double after = ulna_inner(n, x, x);
    if (after <= 1e-18 * ulna_inner(n, v, v) || after == 0)
        return 0;
    for (int i = 0; i < n; i++)
        x[i] /= sqrt(after);
    return 1;
}

int ulna_complement(int n, int count, const double *vectors, double *basis)
{
    double columns[(COMPLEMENT_MOST + 1) * COMPLEMENT_MOST], left[COMPLEMENT_MOST] = {0};
    int rank = 0, found;
    for (int i = 0; i < count && rank < n; i++)
        rank += add_column(n, rank, columns, vectors + n * i);
    for (found = rank; found < n; found++) { /* the coordinate axis that is farthest from the span of the columns */
        int best = 0;
        for (int i = 0; i < n; i++) {
            left[i] = 1;
            for (int c = 0; c < found; c++)
                left[i] -= columns[n * c + i] * columns[n * c + i];
            best = left[i] > left[best] ? i : best;
        }
        double axis[COMPLEMENT_MOST] = {0};
        axis[best] = 1;
        add_column(n, found, columns, axis);
    }
    memcpy(basis, columns + n * rank, (size_t)(n * (n - rank)) * sizeof *basis);
    return n - rank;
}

/* =============================================================================================================== */

/*
 * A program as text in SDPA's sparse format (SDPA User's Manual, section 5; also read by CSDP, SDPLIB's tools and
 * MOSEK):
 *
 *     number of variables m / number of blocks / their sizes / the objective c
 *     then one entry a line: matrix 0 .. m, block, row <= column, value; all from 1
 *
 * for  min cT x  such that  F_1 x_1 + ... + F_m x_m - F_0 >= 0: F_0 has the opposite sign. The format has no
 * place for the constant of the objective; it is in the comment of the first line.
 */

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
