/*
 * parallel.h (private): a loop over independent pieces, in several threads if that is asked for and pays.
 *
 * Whoever calls this sees to it that piece i writes what no other piece touches, and that its numbers do not depend on
 * the others: then the result is the same bits for any number of threads, and on any schedule.
 */
#ifndef ULNA_SRC_PARALLEL_H
#define ULNA_SRC_PARALLEL_H

/* Does the pieces first .. last - 1. */
typedef void (*ulna_loop_body)(const void *context, int first, int last);

/* Whether this build has threads (OpenMP). */
int ulna_parallel_supported(void);

/*
 * Runs `body` over the pieces 0 .. count - 1, at most `chunk` at a time, in up to `threads` threads (0: as many as OpenMP
 * takes by itself); never more than there are chunks, nor more than 256, so that any number is allowed. `cost_us` is
 * roughly what the whole loop takes in one thread; if waking the others would take about as long, the caller runs all of
 * it, without OpenMP. Returns when all is done.
 */
void ulna_parallel_for(int threads, double cost_us, int count, int chunk, ulna_loop_body body, const void *context);

#endif
