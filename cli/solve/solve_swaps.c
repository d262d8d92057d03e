/*
 * Who was weighed down, and who changed places with whom.
 *
 * With a robust loss of scale c a marker counts as an outlier where it is more than c from its place on the skeleton. Two
 * outliers are swapped where each stands within c of the other's place: then a label went to the wrong marker, and swapping
 * the two in the recording mends it.
 */
#include <math.h>

#include "cli/solve/solve.h"

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* A run goes on over a few frames in which one of the two is missing. */
static void add_swap(solve_job *job, int frame, int a, int b)
{
    enum { PATIENCE = 30 };
    for (int i = job->swap_count - 1; i >= 0; i--) {
        solve_swap *s = &job->swaps[i];
        if (s->a == a && s->b == b && frame - s->last <= PATIENCE) {
            s->last = frame;
            s->frames++;
            return;
        }
    }
    if (job->swap_count < SOLVE_MOST_SWAPS)
        job->swaps[job->swap_count++] = (solve_swap){a, b, frame, frame, 1};
}

void solve_look_at_outliers(solve_job *job, int frame, const double *seen, const double *here)
{
    double scale = job->options.loss_scale;
    int count = (int)job->set.count;
    for (int a = 0; a < count; a++) {
        if (!(distance(seen + 3 * a, here + 3 * a) > scale))
            continue;
        job->marker[a].outliers++;
        for (int b = a + 1; b < count; b++)
            if (distance(seen + 3 * b, here + 3 * b) > scale && distance(seen + 3 * a, here + 3 * b) < scale &&
                distance(seen + 3 * b, here + 3 * a) < scale)
                add_swap(job, frame, a, b);
    }
}
