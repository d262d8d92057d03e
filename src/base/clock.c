/* Time, for limits and traces. */
#if defined(__unix__) || defined(__APPLE__)
#define _POSIX_C_SOURCE 199309L
#endif
#include "base/base.h"

#include <time.h>

double ulna_seconds(void)
{
    struct timespec now;
#if defined(CLOCK_MONOTONIC)
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
#else
    if (timespec_get(&now, TIME_UTC) != TIME_UTC)
        return 0;
#endif
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
