/* linear.h (private): what the three ways to solve a Newton system share. One file each: linear_tree.c, ... */
#ifndef ULNA_SRC_LINEAR_H
#define ULNA_SRC_LINEAR_H

#include "base/base.h"
#include "linalg/ltdl.h"

typedef enum linear_state {
    LINEAR_EMPTY = 0,
    LINEAR_SINGULAR, /* the inertia is known, solves are refused */
    LINEAR_READY,
} linear_state;

/*
 * The matrix as stored here: T + V S VT, where T are tree rows with shift and fixed DOFs worked in (or, for PCG, a
 * product around which they are worked in), the columns of V are scaled by the square roots of the weights (rows of
 * fixed DOFs zero), and S holds the signs of the weights.
 */
struct ulna_linear {
    ulna_allocator allocator;
    size_t bytes;
    ulna_linear_options options;
    const ulna_tree *tree;
    linear_state state;
    ulna_inertia inertia;

    double *values; /* row[n]: T; NULL if matrix_free */
    double *V;      /* n x max_rank */
    double *sign;   /* max_rank */
    int rank;       /* columns in use: those of weight zero are left out */
    double *rhs;    /* n: a copy, so that x may be rhs */

    struct {
        const ulna_ltdl_kernel *kernel;
        double *L, *inverse_pivots;    /* of T */
        int *weak, weak_count;         /* max_rank: DOFs whose pivots are left to K, see linear_tree.c */
        double *Z;                     /* n x 2 max_rank */
        double *K, *small, *scale;     /* 2 max_rank x 2 max_rank, and 2 max_rank each */
        int *pivot;                    /* 2 max_rank */
        double *residual, *correction; /* n each */
    } tree_way;
    struct {
        double *A; /* n x n */
        int *pivot;
        ulna_dense_work work;
    } dense_way;
    struct {
        ulna_linear_map product; /* NULL: T is in `values` */
        void *product_context;
        double *shift, *masked; /* n each: of the free DOFs; what the product is given */
        unsigned char *fixed;   /* n */
        ulna_band band;
        int room, banded; /* widest band that fits; whether there is one */
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

/* y = (T + V S VT) x for T in `values`; context: a ulna_linear. */
ulna_status ulna_linear_apply(void *context, const double *x, double *y);

/* y += V S VT x */
void ulna_linear_add_low_rank(const ulna_linear *linear, const double *x, double *y);

/* PCG: T is given by matrix->product. Copies what belongs to it. */
ulna_status ulna_linear_set_product(ulna_linear *linear, const ulna_linear_matrix *matrix);

#endif
