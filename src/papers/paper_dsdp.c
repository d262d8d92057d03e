/*
 * Solves a program by DSDP (Benson and Ye, "DSDP5: software for semidefinite programming", 2008): a dual-scaling
 * interior-point method. Its (D), max bT y such that C - sum y_i A_i >= 0, is ours with opposite signs.
 *
 * DSDP numbers entries of the lower triangle row by row, variables from 1 (0 is C), and does not copy its inputs. If few
 * variables occur in the same block, it uses its own sparse Cholesky factorisation, which prints, and exits the process
 * when memory runs out. So there is one more block, 1 + 1e-30 (x_1 + ... + x_n), with all variables: then it uses LAPACK.
 */
#include "papers/paper_program.h"

#include "base/base.h"

#ifndef ULNA_DSDP

int ulna_program_solvable(void)
{
    return 0;
}

ulna_status ulna_program_solve(const ulna_program *program, const ulna_program_options *options, double *x,
                               ulna_program_result *result, ulna_error *error)
{
    (void)program, (void)options, (void)x, (void)result;
    return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                     "sdp needs DSDP (Debian: libdsdp-dev), which this build does not have");
}

#else

#include <dsdp5.h>
#include <math.h>
#include <stdatomic.h>

#if !defined(__STDC_NO_THREADS__)
#include <threads.h>
#endif

#define MEETING 1e-30
#define LOOSEST 1e-3 /* largest gap of an accepted solution, relative to 1 + |optimum| */

/* DSDP has static variables: one solve at a time. This is the only state in the library that threads share. */
static atomic_flag is_busy = ATOMIC_FLAG_INIT;

static void enter(void)
{
    while (atomic_flag_test_and_set_explicit(&is_busy, memory_order_acquire)) {
#if !defined(__STDC_NO_THREADS__)
        thrd_yield();
#endif
    }
}

static void leave(void)
{
    atomic_flag_clear_explicit(&is_busy, memory_order_release);
}

int ulna_program_solvable(void)
{
    return 1;
}

/* The entries in the order of DSDP; they must exist as long as its object. */
typedef struct task {
    const ulna_program *program;
    DSDP dsdp;
    SDPCone cone;
    size_t count;  /* entry_count + 1 + variables, for the additional block */
    int *index;    /* count */
    double *value; /* count */
} task;

static int set_matrices(task *t)
{
    const ulna_program *p = t->program;
    int failed = 0;
    for (size_t first = 0, next; first < p->entry_count && !failed; first = next) {
        const ulna_program_entry *e = &p->entry[first];
        for (next = first; next < p->entry_count; next++) {
            const ulna_program_entry *f = &p->entry[next];
            if (f->block != e->block || f->variable != e->variable)
                break;
            t->index[next] = f->row * (f->row + 1) / 2 + f->column;
            t->value[next] = f->variable == ULNA_CONSTANT ? f->value : -f->value;
        }
        failed = SDPConeSetASparseVecMat(t->cone, e->block, e->variable + 1, p->size[e->block], 1.0, 0,
                                         t->index + first, t->value + first, (int)(next - first));
    }
    return failed;
}

static int set_meeting(task *t)
{
    const ulna_program *p = t->program;
    int failed = SDPConeSetBlockSize(t->cone, p->blocks, 1);
    for (int v = 0; v <= p->variables && !failed; v++) {
        size_t at = p->entry_count + (size_t)v;
        t->value[at] = v ? MEETING : 1;
        failed = SDPConeSetASparseVecMat(t->cone, p->blocks, v, 1, 1.0, 0, t->index + at, t->value + at, 1);
    }
    return failed;
}

static int set_up(task *t, const ulna_program_options *options)
{
    const ulna_program *p = t->program;
    int failed = DSDPCreate(p->variables, &t->dsdp);
    if (failed) {
        t->dsdp = NULL;
        return failed;
    }
    failed = DSDPCreateSDPCone(t->dsdp, p->blocks + 1, &t->cone);
    for (int b = 0; b < p->blocks && !failed; b++)
        failed = SDPConeSetBlockSize(t->cone, b, p->size[b]);
    for (int i = 0; i < p->objective.count && !failed; i++) {
        const ulna_affine_term *term = &p->term[p->objective.first + (size_t)i];
        failed = DSDPSetDualObjective(t->dsdp, term->variable + 1, -term->factor);
    }
    failed = failed || set_matrices(t) || set_meeting(t);
    failed = failed || DSDPUseLAPACKForSchur(t->dsdp, 1) || SDPConeUseLAPACKForDualMatrix(t->cone, 1);
    failed = failed || DSDPSetGapTolerance(t->dsdp, options->gap) || DSDPSetMaxIts(t->dsdp, options->iterations);
    return failed || DSDPSetup(t->dsdp);
}

/* Reads the solution; 1 if there is one. */
static int read_answer(const task *t, double *x, ulna_program_result *result)
{
    const ulna_program *p = t->program;
    double primal = -INFINITY, infeasible = INFINITY;
    int failed = DSDPGetY(t->dsdp, x, p->variables) || DSDPGetIts(t->dsdp, &result->iterations) ||
                 DSDPGetPObjective(t->dsdp, &primal) || DSDPGetR(t->dsdp, &infeasible);
    if (failed)
        return 0;
    result->optimum = ulna_affine_value(p, p->objective, x);
    result->bound = p->objective.constant - primal;
    double gap = result->optimum - result->bound, scale = 1 + fabs(result->optimum);
    return infeasible < 1e-6 && fabs(gap) <= LOOSEST * scale;
}

/* DSDP crashes if some calls of malloc fail, so the memory it needs at most is allocated beforehand, and released. */
static int has_memory(const ulna_program *p)
{
    size_t bytes = 1u << 20, square = (size_t)p->variables * (size_t)p->variables;
    for (int b = 0; b < p->blocks; b++)
        bytes += 100 * (size_t)p->size[b] * (size_t)p->size[b];
    bytes += 16 * square + 100 * p->entry_count;
    void *memory = ulna_allocate(&p->allocator, bytes, 1);
    ulna_release(&p->allocator, memory, bytes, 1);
    return memory != NULL;
}

static ulna_status run(task *t, const ulna_program_options *options, double *x, ulna_program_result *result,
                       ulna_error *error)
{
    if (set_up(t, options))
        return ulna_fail(error, ULNA_ERR_MEMORY, "DSDP could not be set up: it is out of memory");
    if (DSDPSolve(t->dsdp) || DSDPComputeX(t->dsdp))
        return ulna_fail(error, ULNA_ERR_CONVERGENCE, "DSDP failed with an internal error");
    if (!read_answer(t, x, result))
        return ulna_fail(error, ULNA_ERR_CONVERGENCE, "DSDP found no answer in %d iterations", result->iterations);
    return ULNA_OK;
}

ulna_status ulna_program_solve(const ulna_program *program, const ulna_program_options *options, double *x,
                               ulna_program_result *result, ulna_error *error)
{
    if (!program || !options || !x || !result || program->status != ULNA_OK || program->variables < 1)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no program, or nothing to be found");
    if (program->variables > ULNA_PROGRAM_MOST)
        return ulna_fail(error, ULNA_ERR_LIMIT, "%d unknowns are more than DSDP can take (%d)", program->variables,
                         ULNA_PROGRAM_MOST);
    ulna_status status = ULNA_ERR_MEMORY;
    task t = {.program = program, .count = program->entry_count + (size_t)program->variables + 1};
    *result = (ulna_program_result){0};
    t.index = ulna_allocate(&program->allocator, t.count, sizeof *t.index);
    t.value = ulna_allocate(&program->allocator, t.count, sizeof *t.value);
    if (t.index && t.value && has_memory(program)) {
        enter();
        status = run(&t, options, x, result, error);
        if (t.dsdp)
            DSDPDestroy(t.dsdp);
        leave();
    } else
        ulna_fail(error, status, "%s", ulna_status_text(status));
    ulna_release(&program->allocator, t.index, t.count, sizeof *t.index);
    ulna_release(&program->allocator, t.value, t.count, sizeof *t.value);
    return status;
}

#endif
