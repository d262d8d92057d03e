/* Instructions by perf_event_open of Linux. */
#define _DEFAULT_SOURCE /* for syscall: the C library has no function for it */
#include "cli/paper/counter.h"

#include <math.h>
#include <stdint.h>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void counter_open(counter *c)
{
    struct perf_event_attr what = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof what,
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    c->file = (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

void counter_begin(counter *c)
{
    if (c->file >= 0 && (ioctl(c->file, PERF_EVENT_IOC_RESET, 0) != 0 || ioctl(c->file, PERF_EVENT_IOC_ENABLE, 0) != 0))
        counter_close(c);
}

double counter_end(counter *c)
{
    uint64_t count = 0;
    if (c->file < 0 || ioctl(c->file, PERF_EVENT_IOC_DISABLE, 0) != 0 ||
        read(c->file, &count, sizeof count) != (ssize_t)sizeof count)
        return (double)NAN;
    return (double)count;
}

void counter_close(counter *c)
{
    if (c->file >= 0)
        close(c->file);
    c->file = -1;
}
#else
void counter_open(counter *c)
{
    c->file = -1;
}

void counter_begin(counter *c)
{
    (void)c;
}

double counter_end(counter *c)
{
    (void)c;
    return (double)NAN;
}

void counter_close(counter *c)
{
    (void)c;
}
#endif

int counter_is_open(const counter *c)
{
    return c->file >= 0;
}
