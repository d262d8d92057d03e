/* progress.h: a bar on standard error while something takes long. Nothing unless that is a terminal. */
#ifndef ULNA_CLI_PROGRESS_H
#define ULNA_CLI_PROGRESS_H

#include "cli/cli.h"

typedef struct progress {
    int is_shown; /* wanted, and there is a terminal */
    int ascii;
    int is_drawn;
    double begun, drawn; /* seconds */
} progress;

void progress_begin(progress *bar, const cli *tool);
/* `part`: 0 .. 1; `what` is being done: a few words. Draws at most ten times a second, and not in the first third. */
void progress_show(progress *bar, double part, const char *what);
/* Another part begins: its time counts from here. */
void progress_restart(progress *bar);
/* Since the beginning of the bar, or of this part; never 0. */
double progress_seconds(const progress *bar);
/* Takes the bar away: before anything else is said. */
void progress_end(progress *bar);

/* ---- where nothing tells how far it is -------------------------------------------------------------------------- */

/* "reading take.trc, 4 s", drawn by a thread of its own, from the first second on. */
typedef struct progress_wait progress_wait;

/* NULL if there is no terminal, or no thread; then nothing is shown. `what` is copied. */
progress_wait *progress_wait_begin(const cli *tool, const char *what, const char *path);
void progress_wait_end(progress_wait *wait);

#endif
