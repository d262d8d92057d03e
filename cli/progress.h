/* progress.h: a bar on standard error while something takes long. Nothing unless that is a terminal. */
#ifndef ULNA_CLI_PROGRESS_H
#define ULNA_CLI_PROGRESS_H

#include "cli.h"

typedef struct progress {
    int is_shown; /* wanted, and there is a terminal */
    int ascii;
    int is_drawn;
    double begun, drawn; /* seconds */
} progress;

void progress_begin(progress *bar, const cli *tool);
/* `part`: 0 .. 1; `what` is being done: a few words. Draws at most ten times a second, and not in the first third. */
void progress_show(progress *bar, double part, const char *what);
/* Takes the bar away: before anything else is said. */
void progress_end(progress *bar);

#endif
