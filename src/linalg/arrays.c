/* The other triangle of a symmetric matrix, tile by tile: whole cache lines are read and written. */
#include "linalg/linalg.h"

#include "base/parallel.h"

#define TILE 16

typedef struct mirror {
    int n;
    double *A;
} mirror;

/* Columns TILE * first .. TILE * last - 1, below the diagonal. */
static void mirror_tiles(const void *context, int first, int last)
{
    const mirror *m = context;
    size_t n = (size_t)m->n, end = (size_t)last * TILE < n ? (size_t)last * TILE : n;
    for (size_t left = (size_t)first * TILE; left < end; left += TILE) {
        size_t right = left + TILE < n ? left + TILE : n;
        for (size_t top = left; top < n; top += TILE) {
            size_t bottom = top + TILE < n ? top + TILE : n;
            for (size_t j = left; j < right; j++)
                for (size_t i = top > j ? top : j + 1; i < bottom; i++)
                    m->A[n * j + i] = m->A[n * i + j];
        }
    }
}

void ulna_mirror_upper(int n, double *A, int threads)
{
    mirror m = {.n = n};
    m.A = A;
    double entries = 0.5 * n * n;
    ulna_parallel_for(threads, 6e-4 * entries, (n + TILE - 1) / TILE, 1, mirror_tiles, &m);
}
