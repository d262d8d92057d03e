/* Loops in several threads: the one file that knows OpenMP. */
#include "base/parallel.h"

#ifdef _OPENMP

#include <omp.h>

enum { MOST_THREADS = 256 };

/* Measured: a loop costs 3 microseconds more with threads that still spin after the last one, 20 to 40 if they have to be
 * woken. From here on both pay, with two threads. */
#define PAYS_FROM_US 100

typedef struct loop {
    int count, chunk;
    ulna_loop_body body;
    const void *context;
} loop;

/*
 * OpenMP's locks see to it that threads see what the caller wrote before the loop, and the caller what they wrote in it.
 * ThreadSanitizer cannot look into them: it does not watch the hand-over itself, and is told about it.
 */
#ifdef __SANITIZE_THREAD__
void __tsan_acquire(const void *address);
void __tsan_release(const void *address);
#define SEE(loop) __tsan_acquire(loop)
#define SHOW(loop) __tsan_release(loop)
#else
#define SEE(loop) (void)(loop)
#define SHOW(loop) (void)(loop)
#endif
#define UNWATCHED __attribute__((no_sanitize("thread")))

static void run_chunk(const loop *l, int first)
{
    l->body(l->context, first, l->count - first > l->chunk ? first + l->chunk : l->count);
}

/* What each thread of the team does: one chunk after the other, whichever is next. */
UNWATCHED static void take_share(const loop *l)
{
    SEE(l);
#pragma omp for schedule(dynamic) nowait
    for (int first = 0; first < l->count; first += l->chunk)
        run_chunk(l, first);
    SHOW(l);
}

UNWATCHED static void run_team(int threads, const loop *l)
{
    SHOW(l);
#pragma omp parallel num_threads(threads)
    take_share(l);
    SEE(l);
}

/* No more threads than chunks, and no more than MOST_THREADS: OpenMP ends the process if it cannot start one. */
static int useful_threads(int threads, int count, int chunk)
{
    int chunks = (count - 1) / chunk + 1, wanted = threads > 0 ? threads : omp_get_max_threads();
    int most = chunks < MOST_THREADS ? chunks : MOST_THREADS;
    return wanted < most ? wanted : most;
}

int ulna_parallel_supported(void)
{
    return 1;
}

void ulna_parallel_for(int threads, double cost_us, int count, int chunk, ulna_loop_body body, const void *context)
{
    const loop l = {count, chunk, body, context};
    if (threads == 1 || cost_us < PAYS_FROM_US || count <= chunk)
        body(context, 0, count);
    else
        run_team(useful_threads(threads, count, chunk), &l);
}

#else

int ulna_parallel_supported(void)
{
    return 0;
}

void ulna_parallel_for(int threads, double cost_us, int count, int chunk, ulna_loop_body body, const void *context)
{
    (void)threads, (void)cost_us, (void)chunk;
    body(context, 0, count);
}

#endif
