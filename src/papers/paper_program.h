/*
 * paper_program.h (private): semidefinite programs, built one matrix entry at a time.
 *
 *     minimise  objective(x)   over x in R^n
 *     such that every block, a symmetric matrix whose entries are affine in x, is positive semidefinite
 *
 * There are no equations: a relaxation eliminates them, so that its unknowns are affine functions of x. This is the form
 * which SDPA calls primal and DSDP dual. Affine functions are immutable, and live as long as the program.
 *
 * If memory runs out, `status` is set and further calls do nothing; check `status` once, at the end.
 */
#ifndef ULNA_GLOBAL_PAPER_PROGRAM_H
#define ULNA_GLOBAL_PAPER_PROGRAM_H

#include <stddef.h>

#include "ulna/base.h"

/* constant + sum factor x[variable]: terms first .. first + count - 1 of the program's array, in order of variables. */
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
    ulna_status status; /* ULNA_OK, or the first error */
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
void ulna_program_end(ulna_program *program); /* releases the memory */

ulna_affine ulna_affine_constant(double constant);
ulna_affine ulna_program_variable(ulna_program *program); /* adds a variable */
/* constant + sum factor[i] part[i] */
ulna_affine ulna_affine_mix(ulna_program *program, double constant, int count, const double *factor,
                            const ulna_affine *part);
double ulna_affine_value(const ulna_program *program, ulna_affine affine, const double *x);

/* Adds a block of zeros; returns its number. Each entry of its lower triangle may be set once. */
int ulna_program_block(ulna_program *program, int size);
void ulna_program_set(ulna_program *program, int block, int row, int column, ulna_affine affine);
/* Adds the block VT M V: M is symmetric and affine, n x n (the lower triangle is read); V is n x m with orthonormal
 * columns. */
void ulna_program_face(ulna_program *program, int n, const ulna_affine *M, int m, const double *V);

/* Sorts the entries. Nothing may be added afterwards. */
ulna_status ulna_program_close(ulna_program *program);

/* An orthonormal basis, n x (n - rank), column after column, of the orthogonal complement of `count` vectors of length
 * n <= 16 (one after the other); returns n - rank. */
int ulna_complement(int n, int count, const double *vectors, double *basis);

/* ---- solving ----------------------------------------------------------------------------------------------------- */

#define ULNA_PROGRAM_MOST 1500 /* variables: each iteration factors a dense matrix of this many rows */

typedef struct ulna_program_options {
    int iterations; /* at most */
    double gap;     /* relative to 1 + |optimum| */
} ulna_program_options;

typedef struct ulna_program_result {
    double optimum; /* objective at x, which is feasible */
    double bound;   /* no x has a lower objective, as far as the solver's primal point is feasible */
    int iterations;
} ulna_program_result;

/*
 * Solves by DSDP. x: one number per variable. ULNA_ERR_UNSUPPORTED in a build without DSDP, ULNA_ERR_CONVERGENCE if it ended
 * without a solution, ULNA_ERR_MEMORY, ULNA_ERR_LIMIT beyond ULNA_PROGRAM_MOST. DSDP has static variables, so calls in
 * several threads wait for each other. Its memory is from malloc, not from the allocator; the allocator is only asked
 * whether it could provide as much. If malloc fails later nevertheless, DSDP 5.8 may crash, or print before it gives up.
 * Otherwise it prints nothing.
 */
ulna_status ulna_program_solve(const ulna_program *program, const ulna_program_options *options, double *x,
                               ulna_program_result *result, ulna_error *error);
int ulna_program_solvable(void); /* 1 if this build has DSDP */

/* The program in the sparse format of SDPA, for other solvers: `length` bytes and a zero, from the allocator (release
 * length + 1). For the C locale. */
ulna_status ulna_sdpa_write(const ulna_program *program, const ulna_allocator *allocator, char **text, size_t *length);

#endif
