/*
 * Many pieces of work side by side. Isolated, each runs in a process apart, a fork of this one that works on nothing else meanwhile, and
 * sends its key and its result through a pipe: it may crash, hang or use up its memory without harm to the others. Otherwise they run
 * in threads.
 *
 * With `is_reused`, a process whose work ended well takes the next piece: its memory is there already, which saves a short take a tenth of its
 * time. One that has needed much memory ends. What fails in a process that has done others is done again in a new one, so that no failure
 * is another one's fault.
 */
#define _GNU_SOURCE /* strsignal, prctl */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
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
static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

static void on_signal(int number)
{
    pool_signal = number;
}

/* Instead of those of guard.c: this process ends between takes, and tells how to go on. */
void pool_catch_signals(void)
{
    for (size_t i = 0; i < sizeof stop_signals / sizeof *stop_signals; i++) {
        struct sigaction old, own = {.sa_handler = on_signal};
        sigemptyset(&own.sa_mask);
        if (sigaction(stop_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(stop_signals[i], &own, NULL);
    }
}

/* Those that this process may use. */
static int count_processors(void)
{
#ifdef __linux__
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0)
        return CPU_COUNT(&allowed);
#endif
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 ? (int)processors : 1;
}

int pool_workers(const cli *tool, int count)
{
    int threads = tool->threads > 0 ? tool->threads : count_processors();
    return threads < count ? threads : count > 0 ? count : 1;
}

/* ---- processes --------------------------------------------------------------------------------------------------------------- */

enum { MOST_DONE = 256 };   /* pieces of work of a process */
#define MUCH_MEMORY 256     /* MB: after a piece that needed more, a process gives all of it back by its end */
#define PART_OF_MEMORY 0.25 /* of the limit: the same */
enum { MOST_KILLS = 3 };    /* of one piece of work, by signals from outside, until it counts as failed */
enum { MOST_TRIES = 25 };   /* to start a process, a fifth of a second apart, where none works */

typedef struct worker {
    pid_t process;    /* 0: none */
    int index;        /* that it works on; -1: none */
    int again;        /* that it is to do in a new process; -1: none */
    int pipe, orders; /* from it and to it */
    int done, is_late;
    int kills; /* how often its processes were killed from outside while they worked on `again` */
    double begun;
    ulna_text text; /* received so far: a line 'k' with the key, if it came, and one 'r' with the result */
} worker;

static void send_bytes(int pipe, const char *text, size_t left)
{
    while (left > 0) {
        ssize_t sent = write(pipe, text, left);
        if (sent < 0 && errno != EINTR)
            return; /* nobody reads it any more */
        text += sent > 0 ? sent : 0;
        left -= sent > 0 ? (size_t)sent : 0;
    }
}

/* A line through the pipe. */
static void send_line(int pipe, const char *kind, const char *text)
{
    send_bytes(pipe, kind, 1);
    send_bytes(pipe, text, strlen(text));
    send_bytes(pipe, "\n", 1);
}

static void send_key(void *context, const char *key)
{
    send_line(*(const int *)context, "k", key);
}

/* The number of the next piece of work; -1: none. */
static int receive_order(int orders)
{
    int index;
    ssize_t got;
    do
        got = read(orders, &index, sizeof index);
    while (got < 0 && errno == EINTR);
    return got == sizeof index ? index : -1;
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
 * A take fills a few large arrays once: of its time, a twentieth would go to the kernel's handing out pages of 4 kB
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

/* Has this process needed more memory than it should keep? */
static int is_large(const batch_pool *pool)
{
    struct rusage usage;
    double most = pool->megabytes > 0 ? fmin(MUCH_MEMORY, PART_OF_MEMORY * pool->megabytes) : MUCH_MEMORY;
    return getrusage(RUSAGE_SELF, &usage) != 0 || (double)usage.ru_maxrss > 1e3 * most; /* kB */
}

/* The whole life of a child. */
static void work_apart(const batch_pool *pool, int slot, int orders, int pipe)
{
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* without its parent nobody takes the result */
#endif
    cli_memory_begin(NULL);                 /* the parent says so */
    if (!freopen("/dev/null", "w", stderr)) /* the reasons are in the result */
        cli_out_of_memory();
    set_limits(pool);
    widen_heap(pool);
    for (int index; (index = receive_order(orders)) >= 0;) {
        json_t *result = pool->run(pool->context, index, slot, send_key, &pipe);
        char *text = json_dumps(result, JSON_COMPACT | JSON_REAL_PRECISION(12));
        send_line(pipe, "r", text);
        free(text);
        json_decref(result);
        if (is_large(pool))
            break;
    }
    _exit(0);
}

/* Ends of the pipes of all workers: a child that kept them would keep others waiting for an end. */
static void close_pipes(const batch_pool *pool, const worker *workers)
{
    for (int i = 0; i < pool->workers; i++)
        if (workers[i].process > 0) {
            (void)close(workers[i].pipe);
            (void)close(workers[i].orders);
        }
}

/* 0 if no process can be started: errno says why. */
static int start(const batch_pool *pool, worker *workers, int slot)
{
    int up[2], down[2];
    if (pipe(up))
        return 0;
    if (pipe(down)) {
        int reason = errno;
        (void)close(up[0]);
        (void)close(up[1]);
        errno = reason;
        return 0;
    }
    fflush(stdout); /* or the child would print it again */
    sigset_t stops, before;
    sigemptyset(&stops);
    for (size_t i = 0; i < sizeof stop_signals / sizeof *stop_signals; i++)
        sigaddset(&stops, stop_signals[i]);
    (void)sigprocmask(SIG_BLOCK, &stops,
                      &before); /* one that comes before the child has its own handlers waits for them */
    pid_t process = fork();
    if (process == 0) {
        close_pipes(pool, workers);
        (void)close(up[0]);
        (void)close(down[1]);
        cli_catch_signals();
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        work_apart(pool, slot, down[0], up[1]);
    }
    int number = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = number;
    (void)close(up[1]);
    (void)close(down[0]);
    if (process < 0) {
        (void)close(up[0]);
        (void)close(down[1]);
        errno = number;
        return 0;
    }
    workers[slot] = (worker){
        .process = process, .index = -1, .again = -1, .pipe = up[0], .orders = down[1], .text = ulna_text_empty(NULL)};
    return 1;
}

/* Gives a worker that has nothing to do a piece of work. 0 if no process can be started: errno says why. */
static int assign(const batch_pool *pool, worker *workers, int slot, int index)
{
    worker *w = &workers[slot];
    const int kills = w->again == index ? w->kills : 0;
    if (!w->process && !start(pool, workers, slot))
        return 0;
    w->index = index;
    w->again = -1;
    w->kills = kills;
    w->begun = cli_seconds();
    send_bytes(w->orders, (const char *)&index, sizeof index); /* if it has ended, its pipe tells */
    return 1;
}

/* How the process of a worker ended. `is_idle`: it has nothing to do any more, and may not even listen. */
static int end(worker *w, int is_idle)
{
    int state = 0;
    (void)close(w->orders);
    (void)close(w->pipe);
    if (is_idle)
        (void)kill(w->process, SIGKILL);
    while (waitpid(w->process, &state, 0) < 0 && errno == EINTR)
        ;
    ulna_text_release(&w->text);
    w->process = 0;
    w->index = -1;
    return state;
}

static json_t *reason_of(const batch_pool *pool, int is_late, int state)
{
    json_t *row;
    if (is_late) {
        row = take_failed("time", "stopped after %g s without an end (--time-limit)", pool->seconds);
        put_number(row, "limit", pool->seconds);
    } else if (WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL)
        row = take_failed("crash", "killed from outside (signal 9), perhaps because the machine ran out of memory");
    else if (WIFSIGNALED(state)) {
        const int is_abort = WTERMSIG(state) == SIGABRT && pool->megabytes > 0;
        row = take_failed("crash", "ended by signal %d (%s)%s", WTERMSIG(state), strsignal(WTERMSIG(state)),
                          is_abort ? ", perhaps for lack of memory (--memory)" : "");
        if (is_abort)
            put_number(row, "limit", pool->megabytes);
    } else if (WEXITSTATUS(state) == CLI_PARTLY)
        row = take_failed("memory", "out of memory");
    else
        row = take_failed("crash", "ended without a result (exit code %d)", WEXITSTATUS(state));
    return row;
}

/* Such as by a scheduler, or by the system for want of memory: not the fault of the work. */
static int is_from_outside(int state)
{
    const int number = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    return number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP;
}

/* Line `kind` of what was received, without its end; NULL: it has not come. */
static char *find_line(const worker *w, char kind)
{
    char *line = w->text.data, *end;
    while (line && (end = strchr(line, '\n')) && *line != kind)
        line = end + 1;
    return line && strchr(line, '\n') ? line + 1 : NULL;
}

/* What fails for want of memory where there is a limit says which option raises it, once. */
static void name_limit(const batch_pool *pool, json_t *result)
{
    const char *message = json_string_value(json_object_get(result, "message"));
    if (pool->megabytes > 0 && row_has(result, "error", "memory"))
        put_number(result, "limit", pool->megabytes);
    if (json_object_get(result, "limit") && message && !strstr(message, "(--memory)") &&
        !strstr(message, "(--time-limit)"))
        json_object_set_new(result, "message",
                            json_sprintf("%s; the limit is %lld MB (--memory)", message, (long long)pool->megabytes));
}

/* A piece of work has ended: with a result, or, where there is none, with its process. Returns 0 to stop. */
static int finish(const batch_pool *pool, worker *w, int slot)
{
    const int index = w->index, is_first = w->done == 0, is_late = w->is_late;
    const double begun = w->begun;
    const char *key_line = find_line(w, 'k'), *result_line = find_line(w, 'r');
    char key[32] = "";
    if (key_line)
        snprintf(key, sizeof key, "%.*s", (int)strcspn(key_line, "\n"), key_line);
    json_t *result = result_line && !is_late ? json_loadb(result_line, strcspn(result_line, "\n"), 0, NULL) : NULL;
    const int has_failed = !result || row_is(result, "failed");
    int state = 0;
    w->index = -1;
    w->done++;
    if (has_failed || !pool->is_reused || w->done >= MOST_DONE)
        state = end(w, result != NULL);
    else
        ulna_text_release(&w->text);
    /* What an earlier piece left behind may be at fault, or somebody who ended the process: it may have been asked to stop, as we are. */
    const int is_killed = !result && !is_late && is_from_outside(state);
    w->kills += is_killed;
    if (has_failed && ((!is_first && !is_late) ||
                       (is_killed && w->kills < (WTERMSIG(state) == SIGKILL ? MOST_KILLS - 1 : MOST_KILLS)))) {
        w->again = index;
        json_decref(result);
        return 1;
    }
    if (!result)
        result = reason_of(pool, is_late, state);
    name_limit(pool, result);
    if (!json_object_get(result, "seconds"))
        put_number(result, "seconds", cli_seconds() - begun);
    return pool->settle(pool->context, index, slot, key, result);
}

/* What a worker has said, or that it has ended. Without memory for it, the worker ends. */
static int receive(const batch_pool *pool, worker *w, int slot)
{
    char bytes[65536];
    ssize_t got = read(w->pipe, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR)
        return 1;
    if (got > 0 && ulna_text_append(&w->text, bytes, (size_t)got) != ULNA_OK)
        (void)kill(w->process, SIGKILL); /* then its pipe ends */
    return got > 0 && !find_line(w, 'r') ? 1 : finish(pool, w, slot);
}

/* Waits until some child has said something, a deadline has passed or a fraction of a second. 0: stop. */
static int attend(const batch_pool *pool, worker *workers, struct pollfd *polls)
{
    enum { PART_MS = 200 };
    int goes_on = 1, wait = PART_MS;
    double now = cli_seconds();
    for (int i = 0; i < pool->workers; i++) {
        double left = workers[i].begun + pool->seconds - now;
        polls[i] = (struct pollfd){.fd = workers[i].index >= 0 ? workers[i].pipe : -1, .events = POLLIN};
        if (workers[i].index >= 0 && pool->seconds > 0 && left < 1e-3 * wait)
            wait = left > 0 ? 1 + (int)(1e3 * left) : 0;
    }
    int found = poll(polls, (nfds_t)pool->workers, wait);
    double slept = cli_seconds() - now - 1e-3 * wait;
    for (int i = 0; i < pool->workers && slept > 1; i++) /* all were stopped, as by Ctrl-Z: that is not their time */
        workers[i].begun += slept;
    for (int i = 0; i < pool->workers; i++) {
        worker *w = &workers[i];
        if (found > 0 && w->index >= 0 && polls[i].revents)
            goes_on &= receive(pool, w, i);
        if (w->index >= 0 && !w->is_late && pool->seconds > 0 && cli_seconds() - w->begun >= pool->seconds) {
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

/* Gives those that have nothing to do the next pieces of work. 0, or the number of the reason why no process can be started for some: the
 * others go on. */
static int assign_all(const batch_pool *pool, worker *workers, int *next, int count)
{
    int reason = 0;
    for (int i = 0; i < pool->workers; i++) {
        const int is_again = workers[i].again >= 0, index = is_again ? workers[i].again : *next;
        if (workers[i].index >= 0 || index >= count || (reason && !workers[i].process))
            continue;
        if (assign(pool, workers, i, index))
            *next += !is_again;
        else
            reason = errno;
    }
    return reason;
}

/* Those that work, and those that have a piece to do again. */
static int count_busy(const batch_pool *pool, const worker *workers, int with_again)
{
    int busy = 0;
    for (int i = 0; i < pool->workers; i++)
        busy += workers[i].index >= 0 || (with_again && workers[i].again >= 0);
    return busy;
}

static int work_through(const batch_pool *pool, worker *workers, struct pollfd *polls, int count)
{
    int next = 0, goes_on = 1, is_told = 0, reason = 0, tries = 0;
    for (int is_open = !pool_signal;
         tries < MOST_TRIES && count_busy(pool, workers, is_open) + (is_open && next < count);
         is_open = goes_on && !pool_signal) {
        if (is_open)
            reason = assign_all(pool, workers, &next, count);
        tries = reason && !count_busy(pool, workers, 0) ? tries + 1 : 0;
        if (pool_signal && !is_told) {
            stop_all(pool, workers);
            is_told = 1;
        }
        goes_on &= attend(pool, workers, polls);
    }
    return tries == MOST_TRIES ? reason : 0;
}

/* 0, or the number of the reason why no process can be started. */
static int run_processes(const batch_pool *pool, int count)
{
    worker *workers = calloc((size_t)pool->workers, sizeof *workers);
    struct pollfd *polls = calloc((size_t)pool->workers, sizeof *polls);
    for (int i = 0; i < pool->workers && workers; i++)
        workers[i].index = workers[i].again = -1;
    int reason = workers && polls ? work_through(pool, workers, polls, count) : ENOMEM;
    for (int i = 0; i < pool->workers && workers; i++)
        if (workers[i].process)
            (void)end(&workers[i], 1);
    free(workers);
    free(polls);
    return reason;
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
    return 0;
}

int pool_run(const batch_pool *pool, int count)
{
    return pool->is_isolated ? run_processes(pool, count) : run_threads(pool, count);
}
