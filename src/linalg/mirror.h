/* mirror.h (private): the other triangle of a symmetric matrix. */
#ifndef ULNA_SRC_MIRROR_H
#define ULNA_SRC_MIRROR_H

/* Copies the upper triangle of a column-major n x n matrix, A[i + n * j] with i < j, to the lower one; `threads` as in
 * ulna_parallel_for. */
void ulna_mirror_upper(int n, double *A, int threads);

#endif
