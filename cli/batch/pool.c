/*
 * Many pieces of work side by side. Isolated, each runs in a process of its own, a fork of this one, which sends its key and its
 * result through a pipe: it may crash, hang or use up its memory without harm to the others. Otherwise they run in threads.
 */
#define _GNU_SOURCE /* strsignal, prctl */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/mman.h>
#include <sys/prctl.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/batch/batch.h"

volatile sig_atomic_t pool_signal;

static void on_signal(int number)
{
    pool_signal = number;
}

/* Instead of those of guard.c: this process ends between takes, and tells how to go on. */
void pool_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old, own = {.sa_handler = on_signal};
        sigemptyset(&own.sa_mask);
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &own, NULL);
    }
}

int pool_workers(const cli *tool, int count)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = tool->threads > 0 ? tool->threads : processors > 0 ? (int)processors : 1;
    return threads < count ? threads : count > 0 ? count : 1;
}

/* ---- processes --------------------------------------------------------------------------------------------------------------- */

typedef struct worker {
    pid_t process; /* 0: none */
    int index, pipe, is_late;
    double begun;
    ulna_text text; /* received so far */
} worker;

/* A line through the pipe. */
static void send_text(int pipe, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t sent = write(pipe, text, left);
        if (sent < 0 && errno != EINTR)
            return; /* nobody reads it any more */
        text += sent > 0 ? sent : 0;
        left -= sent > 0 ? (size_t)sent : 0;
    }
}

static void send_key(void *context, const char *key)
{
    send_text(*(const int *)context, key);
    send_text(*(const int *)context, "\n");
}

/* Data, not address space: that of shared libraries is not the take's fault. Sanitizers need too much of it. */
static void set_limits(const batch_pool *pool)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    rlim_t bytes = (rlim_t)(pool->megabytes * 1e6);
    struct rlimit limit = {bytes, bytes};
    if (pool->megabytes > 0)
        (void)setrlimit(RLIMIT_DATA, &limit);
#else
    (void)pool;
#endif
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none); /* a crash is listed; its memory would fill the disk */
}

/*
 * A take fills a few large arrays once, and the process ends: of its time, a twentieth would go to the kernel's handing out pages of 4 kB
 * one by one. So all but the largest come from the heap, whose first part is in huge pages, as far as it is used at all; and what is
 * given back is used again.
 */
static void widen_heap(const batch_pool *pool)
{
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    enum { BLOCK = 16 << 20, PAD = 48 << 20 };
    if (pool->megabytes > 0 && pool->megabytes < 4 * 64)
        return;
    (void)mallopt(M_MMAP_THRESHOLD, 2 * BLOCK); /* the most that glibc takes */
    (void)mallopt(M_TRIM_THRESHOLD, 8 * BLOCK);
    (void)mallopt(M_TOP_PAD, PAD);
    void *block = malloc(BLOCK); /* the heap grows by it and what is beyond */
    if (block) {
        size_t page = (size_t)sysconf(_SC_PAGESIZE), before = page - (size_t)block % page;
        (void)madvise((char *)block + before, BLOCK + PAD - 2 * page, MADV_HUGEPAGE);
    }
    free(block);
    (void)mallopt(M_TOP_PAD, 128 << 10);
#else
    (void)pool;
#endif
}

/* The whole life of a child. */
static void work_apart(const batch_pool *pool, int index, int slot, int pipe)
{
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* without its parent nobody takes the result */
#endif
    cli_catch_signals();
    if (!freopen("/dev/null", "w", stderr)) /* the reasons are in the result */
        _exit(1);
    set_limits(pool);
    widen_heap(pool);
    json_t *result = pool->run(pool->context, index, slot, send_key, &pipe);
    char *text = json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(12));
    if (text)
        send_text(pipe, text);
    _exit(text ? 0 : 1);
}

/* 0 if there is no process to be had. */
static int start(const batch_pool *pool, worker *w, int slot, int index)
{
    int ends[2];
    if (pipe(ends))
        return 0;
    *w = (worker){.index = index, .pipe = ends[0], .begun = cli_seconds(), .text = ulna_text_empty(NULL)};
    fflush(stdout); /* or the child would print it again */
    w->process = fork();
    if (w->process == 0) {
        (void)close(ends[0]);
        work_apart(pool, index, slot, ends[1]);
    }
    (void)close(ends[1]);
    if (w->process < 0) {
        (void)close(ends[0]);
        w->process = 0;
        return 0;
    }
    return 1;
}

static json_t *reason_of(const batch_pool *pool, const worker *w, int state)
{
    if (w->is_late)
        return take_failed("stopped after %g s without an end (--time-limit)", pool->seconds);
    if (WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL)
        return take_failed("killed from outside (signal 9), perhaps because the machine ran out of memory");
    if (WIFSIGNALED(state))
        return take_failed("ended by signal %d (%s)%s", WTERMSIG(state), strsignal(WTERMSIG(state)),
                           WTERMSIG(state) == SIGABRT ? ", perhaps for lack of memory (--memory)" : "");
    return take_failed("ended without a result (exit code %d)", WEXITSTATUS(state));
}

/* The key is the first line, if it came. */
static int finish(const batch_pool *pool, worker *w, int slot)
{
    int state = 0;
    char key[32] = "", *text = w->text.data, *end = text ? strchr(text, '\n') : NULL;
    while (waitpid(w->process, &state, 0) < 0 && errno == EINTR)
        ;
    (void)close(w->pipe);
    if (end) {
        *end = 0;
        snprintf(key, sizeof key, "%s", text);
        text = end + 1;
    }
    int is_whole = WIFEXITED(state) && WEXITSTATUS(state) == 0 && !w->is_late;
    json_t *result = is_whole && text ? json_loads(text, 0, NULL) : NULL;
    if (!result)
        result = reason_of(pool, w, state);
    if (!json_object_get(result, "seconds"))
        put_number(result, "seconds", cli_seconds() - w->begun);
    ulna_text_release(&w->text);
    w->process = 0;
    if (pool_signal && WIFSIGNALED(state)) { /* it was asked to end as we were, and is done another time */
        json_decref(result);
        return 1;
    }
    return pool->settle(pool->context, w->index, slot, key, result);
}

/* Waits until some child has said something, a deadline has passed or a fraction of a second. 0: stop. */
static int attend(const batch_pool *pool, worker *workers, struct pollfd *polls)
{
    enum { PART_MS = 200 };
    int goes_on = 1, wait = PART_MS;
    double now = cli_seconds();
    for (int i = 0; i < pool->workers; i++) {
        double left = workers[i].begun + pool->seconds - now;
        polls[i] = (struct pollfd){.fd = workers[i].process ? workers[i].pipe : -1, .events = POLLIN};
        if (workers[i].process && pool->seconds > 0 && left < 1e-3 * wait)
            wait = left > 0 ? 1 + (int)(1e3 * left) : 0;
    }
    int found = poll(polls, (nfds_t)pool->workers, wait);
    for (int i = 0; i < pool->workers; i++) {
        char bytes[65536];
        worker *w = &workers[i];
        if (found > 0 && w->process && polls[i].revents) {
            ssize_t got = read(w->pipe, bytes, sizeof bytes);
            if (got > 0)
                (void)ulna_text_append(&w->text, bytes, (size_t)got);
            else if (got == 0 || errno != EINTR)
                goes_on &= finish(pool, w, i);
        }
        if (w->process && !w->is_late && pool->seconds > 0 && cli_seconds() - w->begun >= pool->seconds) {
            w->is_late = 1;
            (void)kill(w->process, SIGKILL);
        }
    }
    if (pool->tick)
        pool->tick(pool->context);
    return goes_on;
}

static void stop_all(const batch_pool *pool, const worker *workers)
{
    for (int i = 0; i < pool->workers; i++)
        if (workers[i].process)
            (void)kill(workers[i].process, SIGTERM); /* which waits until a file is whole or gone */
}

static int run_processes(const batch_pool *pool, int count)
{
    worker *workers = calloc((size_t)pool->workers, sizeof *workers);
    struct pollfd *polls = calloc((size_t)pool->workers, sizeof *polls);
    int next = 0, running = workers && polls ? 0 : -1, goes_on = running == 0, is_told = 0;
    while (running > 0 || (running == 0 && goes_on && next < count && !pool_signal)) {
        for (int i = 0; i < pool->workers && goes_on && next < count && !pool_signal; i++)
            if (!workers[i].process && start(pool, &workers[i], i, next))
                next++;
        if (pool_signal && !is_told) {
            stop_all(pool, workers);
            is_told = 1;
        }
        goes_on &= attend(pool, workers, polls);
        running = 0;
        for (int i = 0; i < pool->workers; i++)
            running += workers[i].process > 0;
    }
    if (running < 0)
        cli_complain("out of memory");
    free(workers);
    free(polls);
    return running < 0 ? 0 : next;
}

/* ---- threads ------------------------------------------------------------------------------------------------------------------- */

typedef struct crew {
    const batch_pool *pool;
    pthread_mutex_t lock;
    int count, next, slots, goes_on;
} crew;

static void keep_key(void *context, const char *key)
{
    snprintf(context, 32, "%s", key);
}

static void *work_along(void *context)
{
    crew *c = context;
    const batch_pool *pool = c->pool;
    pthread_mutex_lock(&c->lock);
    int slot = c->slots++;
    while (c->goes_on && c->next < c->count && !pool_signal) {
        char key[32] = "";
        int index = c->next++;
        pthread_mutex_unlock(&c->lock);
        json_t *result = pool->run(pool->context, index, slot, keep_key, key);
        pthread_mutex_lock(&c->lock);
        c->goes_on &= pool->settle(pool->context, index, slot, key, result);
        if (pool->tick)
            pool->tick(pool->context);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static int run_threads(const batch_pool *pool, int count)
{
    crew c = {.pool = pool, .count = count, .goes_on = 1};
    pthread_t *threads = calloc((size_t)pool->workers, sizeof *threads);
    int started = 0;
    pthread_mutex_init(&c.lock, NULL);
    while (threads && started < pool->workers && pthread_create(&threads[started], NULL, work_along, &c) == 0)
        started++;
    if (!started)
        (void)work_along(&c);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&c.lock);
    free(threads);
    return c.next;
}

int pool_run(const batch_pool *pool, int count)
{
    return pool->is_isolated ? run_processes(pool, count) : run_threads(pool, count);
}
