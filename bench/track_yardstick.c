/* The prototype of the notes on tracking: see the header. */
#include "track_yardstick.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lines such as "k2 mu 0.001 ftol 3e-04 recov1: 5.31 us/frame (best 5.20) it 2.82 max 50 ev 2.99 rej 0.13 sum
 * 21.878 ..."; recov0 is without fresh starts. It goes on with other offsets: closing the pipe ends it. */
static int read_lines(const char *command, track_yardstick *yardstick)
{
    char line[1024];
    int found = 0;
    FILE *pipe = popen(command, "r");
    while (pipe && found != 3 && fgets(line, sizeof line, pipe)) {
        int fresh;
        double best, iterations, sum;
        const char *at = strstr(line, " sum ");
        if (sscanf(line, "k2 mu %*f ftol %*f recov%d: %*f us/frame (best %lf) it %lf", &fresh, &best, &iterations) !=
                3 ||
            !at || sscanf(at, " sum %lf", &sum) != 1 || fresh > 1)
            continue;
        double *us = fresh ? &yardstick->us : &yardstick->bare_us;
        *us = *us > 0 ? fmin(*us, best) : best;
        if (fresh)
            yardstick->iterations = iterations, yardstick->sum_cm = sum;
        found |= fresh ? 2 : 1;
    }
    if (pipe)
        pclose(pipe);
    return found == 3;
}

int track_yardstick_build(char folder[64])
{
    const char *prototypes = getenv("ULNA_PROTOTYPES");
    char command[2048];
    track_yardstick aside = {0};
    snprintf(folder, 64, "/tmp/ulna-trackXXXXXX");
    prototypes = prototypes ? prototypes : ULNA_SOURCE_DIR "/../shared/prototypes";
    if (access(prototypes, R_OK) != 0 || !mkdtemp(folder))
        return 0;
    snprintf(command, sizeof command, "make -s -C '%s' OUT='%s' track 2>/dev/null", prototypes, folder);
    if (read_lines(command, &aside))
        return 1;
    track_yardstick_remove(folder);
    return 0;
}

int track_yardstick_run(const char *folder, track_yardstick *yardstick)
{
    char command[256];
    snprintf(command, sizeof command, "cd '%s' && ./track take.bin 5 2>/dev/null", folder);
    return read_lines(command, yardstick);
}

void track_yardstick_remove(const char *folder)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "bench_track: %s is still there\n", folder);
}
