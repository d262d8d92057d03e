/* A progress bar. */
#include "cli/progress.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 30 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(progress *bar, const cli *tool)
{
    const char *terminal = getenv("TERM");
    *bar = (progress){
        .is_shown = !tool->quiet && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0,
        .ascii = tool->ascii,
    };
    bar->begun = bar->drawn = seconds();
}

void progress_show(progress *bar, double part, const char *what)
{
    double now = bar->is_shown ? seconds() : 0;
    if (!bar->is_shown || now - bar->begun < 0.3 || (bar->is_drawn && now - bar->drawn < 0.1))
        return;
    int full = (int)(part * WIDTH + 0.5);
    full = full < 0 ? 0 : full > WIDTH ? WIDTH : full;
    fprintf(stderr, "\r\033[K%3.0f %% ", 100 * part);
    for (int i = 0; i < WIDTH; i++)
        fputs(i < full ? (bar->ascii ? "#" : "━") : (bar->ascii ? "." : "─"), stderr);
    fprintf(stderr, " %.30s", what);
    fflush(stderr);
    bar->is_drawn = 1;
    bar->drawn = now;
}

void progress_end(progress *bar)
{
    if (bar->is_drawn)
        fputs("\r\033[K", stderr);
    bar->is_drawn = 0;
}

void progress_restart(progress *bar)
{
    progress_end(bar);
    bar->begun = bar->drawn = seconds();
}

double progress_seconds(const progress *bar)
{
    double since = seconds() - bar->begun;
    return since > 1e-9 ? since : 1e-9;
}

/* ---- waiting ----------------------------------------------------------------------------------------------- */

struct progress_wait {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int is_over;
    char what[80];
};

static void *wait_and_tell(void *context)
{
    progress_wait *w = context;
    double begun = seconds();
    int is_drawn = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->is_over) {
        struct timespec until;
        double since = seconds() - begun;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        pthread_cond_timedwait(&w->ended, &w->lock, &until);
        if (w->is_over || since + 0.5 > seconds() - begun) /* woken early */
            continue;
        fprintf(stderr, "\r\033[K%s, %.0f s", w->what, seconds() - begun);
        fflush(stderr);
        is_drawn = 1;
    }
    if (is_drawn)
        fputs("\r\033[K", stderr);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

progress_wait *progress_wait_begin(const cli *tool, const char *what, const char *path)
{
    progress bar;
    progress_begin(&bar, tool);
    progress_wait *w = bar.is_shown ? calloc(1, sizeof *w) : NULL;
    if (!w)
        return NULL;
    const char *slash = strrchr(path, '/');
    snprintf(w->what, sizeof w->what, "%s %.50s", what, slash && slash[1] ? slash + 1 : path);
    for (char *at = w->what; *at; at++) /* a name from a file system may hold anything */
        *at = (unsigned char)*at < ' ' || *at == 127 ? '?' : *at;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    if (pthread_create(&w->thread, NULL, wait_and_tell, w)) {
        free(w);
        return NULL;
    }
    return w;
}

void progress_wait_end(progress_wait *wait)
{
    if (!wait)
        return;
    pthread_mutex_lock(&wait->lock);
    wait->is_over = 1;
    pthread_cond_signal(&wait->ended);
    pthread_mutex_unlock(&wait->lock);
    pthread_join(wait->thread, NULL);
    pthread_mutex_destroy(&wait->lock);
    pthread_cond_destroy(&wait->ended);
    free(wait);
}
