/* A progress bar. */
#include "progress.h"

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
