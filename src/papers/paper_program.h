/*
 * paper_program.h (private): semidefinite programs, written down one matrix entry at a time.
 *
 *     minimise  objective(x)   over x in R^n
 *     such that every block, a symmetric matrix whose entries are affine in x, is positive semidefinite
 *
 * x is free: what a relaxation knows of its unknowns it says by making them affine functions of fewer. That is the form
 * which SDPA calls primal and DSDP dual. Affine functions are values: made once, never changed, never freed one by one.
 *
 * Memory: when it runs out, the program remembers and goes on doing nothing; ask `status` once, at the end.
 */
#ifndef ULNA_GLOBAL_PAPER_PROGRAM_H
#define ULNA_GLOBAL_PAPER_PROGRAM_H

#include <stddef.h>

#include "ulna/base.h"

/* constant + sum factor x[variable]: terms first .. first + count - 1 of the program's pool, by rising variable. */
typedef struct ulna_affine {
    size_t first;
    int count;
    double constant;
} ulna_affine;

typedef struct ulna_affine_term {
    int variable;
    double factor;
} ulna_affine_term;

/* value x[variable], or the value itself for variable ULNA_CONSTANT, in the lower triangle (column <= row) of a
 * block. */
typedef struct ulna_program_entry {
    int block, variable, row, column;
    double value;
} ulna_program_entry;

#define ULNA_CONSTANT (-1)

typedef struct ulna_program {
    ulna_allocator allocator;
    ulna_status status; /* ULNA_OK, or what went wrong while it was written */
    int variables, blocks;
    ulna_affine objective;
    ulna_affine_term *term;
    size_t term_count, term_capacity;
    ulna_program_entry *entry; /* sorted by block, variable, column, row once it is closed */
    size_t entry_count, entry_capacity;
    int *size; /* of each block */
    size_t size_capacity;
} ulna_program;

void ulna_program_begin(ulna_program *program, const ulna_allocator *allocator);
void ulna_program_end(ulna_program *program); /* gives the memory back */

ulna_affine ulna_affine_constant(double constant);
ulna_affine ulna_program_variable(ulna_program *program); /* a new one */
/* constant + sum factor[i] part[i] */
ulna_affine ulna_affine_mix(ulna_program *program, double constant, int count, const double *factor,
                            const ulna_affine *part);
double ulna_affine_value(const ulna_program *program, ulna_affine affine, const double *x);

/* A new block, of zeros; its number. Each entry of its lower triangle is set at most once. */
int ulna_program_block(ulna_program *program, int size);
void ulna_program_set(ulna_program *program, int block, int row, int column, ulna_affine affine);
/* A new block VT M V: M symmetric and affine, n x n, of which the lower triangle is read; V n x m, orthonormal
 * columns. */
void ulna_program_face(ulna_program *program, int n, const ulna_affine *M, int m, const double *V);

/* Sorts the entries. No more is to be added. */
ulna_status ulna_program_close(ulna_program *program);

/* An orthonormal basis, n x (n - rank) by columns, of what is perpendicular to the `count` vectors of length n <= 16
 * (one after the other); returns n - rank. */
int ulna_complement(int n, int count, const double *vectors, double *basis);

/* ---- solving ----------------------------------------------------------------------------------------------------- */

#define ULNA_PROGRAM_MOST 1500 /* variables: each iteration factors a dense matrix of as many rows */

typedef struct ulna_program_options {
    int iterations; /* at most */
    double gap;     /* relative to 1 + |optimum| */
} ulna_program_options;

typedef struct ulna_program_result {
    double optimum; /* objective at x, which is feasible */
    double bound;   /* that no x can go below, as far as the solver's primal is feasible */
    int iterations;
} ulna_program_result;

/*
 * By DSDP, into x (as many as there are variables). ULNA_ERR_UNSUPPORTED in a build without, ULNA_ERR_CONVERGENCE if it
 * ended without an answer, ULNA_ERR_MEMORY, ULNA_ERR_LIMIT beyond ULNA_PROGRAM_MOST. DSDP keeps static variables, so
 * calls in several threads take turns. Its memory comes from malloc, not from the allocator, which is only asked
 * whether there would be as much: should malloc fail later all the same, DSDP 5.8 may crash, or print before it gives
 * up. Otherwise it prints nothing.
 */
ulna_status ulna_program_solve(const ulna_program *program, const ulna_program_options *options, double *x,
                               ulna_program_result *result, ulna_error *error);
int ulna_program_solvable(void); /* 1 if this build has DSDP */

/* The program in the sparse format of SDPA, to be checked with other solvers: `length` bytes and a zero, from the
 * allocator (release length + 1). For the C locale. */
ulna_status ulna_sdpa_write(const ulna_program *program, const ulna_allocator *allocator, char **text, size_t *length);

#endif
