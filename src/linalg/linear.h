/* linear.h (private): what the three ways to solve a Newton system share. One file each: linear_tree.c, ... */
#ifndef ULNA_SRC_LINEAR_H
#define ULNA_SRC_LINEAR_H

#include "base/base.h"
#include "ulna/linalg.h"

typedef enum linear_state {
    LINEAR_EMPTY = 0,
    LINEAR_SINGULAR, /* the inertia is known, solves are refused */
    LINEAR_READY,
} linear_state;

/*
 * The matrix as stored here: T + V S VT, where T are tree rows with shift and fixed DOFs worked in, the columns of V
 * are scaled by the square roots of the weights (rows of fixed DOFs zero), and S holds the signs of the weights.
 */
struct ulna_linear {
    ulna_allocator allocator;
    size_t bytes;
    ulna_linear_options options;
    const ulna_tree *tree;
    linear_state state;
    ulna_inertia inertia;

    double *values; /* row[n]: T */
    double *V;      /* n x max_rank */
    double *sign;   /* max_rank */
    int rank;       /* columns in use: those of weight zero are left out */
    double *rhs;    /* n: a copy, so that x may be rhs */

    struct {
        double *L, *inverse_pivots;    /* of T */
        double *Z;                     /* n x max_rank: inverse of T times V */
        double *schur, *small;         /* max_rank x max_rank, and max_rank */
        int *pivot;                    /* max_rank */
        double *residual, *correction; /* n each */
    } tree_way;
    struct {
        double *A; /* n x n */
        int *pivot;
        ulna_dense_work work;
    } dense_way;
    struct {
        ulna_band band;
        double *work;
        ulna_pcg_info info;
    } pcg_way;
};

typedef struct ulna_linear_way {
    const char *name;
    /* Takes its arrays from the arena; called twice (see ulna_arena). */
    ulna_status (*place)(ulna_linear *linear, ulna_arena *arena);
    /* From values, V, sign, rank to whatever solve needs, and the inertia. */
    ulna_status (*factor)(ulna_linear *linear);
    /* linear->rhs to x. */
    ulna_status (*solve)(ulna_linear *linear, double *x);
} ulna_linear_way;

extern const ulna_linear_way ulna_linear_way_tree, ulna_linear_way_dense, ulna_linear_way_pcg;

/* rows x columns doubles from the arena; overflow makes it fail. */
double *ulna_linear_take(ulna_arena *arena, int rows, int columns);

/* y = (T + V S VT) x; context: a ulna_linear. */
ulna_status ulna_linear_apply(void *context, const double *x, double *y);

#endif
