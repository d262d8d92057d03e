#include "support_two_link.h"

#include <math.h>

ulna_test_two_link ulna_test_two_link_at(const double goal[2], double weight, double t1, double t2)
{
    double along = goal[0] * cos(t1 + t2) + goal[1] * sin(t1 + t2);
    double reach = goal[0] * cos(t1) + goal[1] * sin(t1) + along;
    double a = reach + weight, b = along, c = along - cos(t2) + weight;
    double middle = (a + c) / 2, radius = sqrt((a - c) * (a - c) / 4 + b * b);
    ulna_test_two_link found = {.low = middle - radius, .high = middle + radius};
    found.f = 1 + cos(t2) - reach + (goal[0] * goal[0] + goal[1] * goal[1]) / 2 + weight * (t1 * t1 + t2 * t2) / 2;

    double small = fmin(fabs(found.low), fabs(found.high)), large = fmax(fabs(found.low), fabs(found.high));
    found.region = found.low > 0 ? ULNA_TEST_POSITIVE : found.high < 0 ? ULNA_TEST_NEGATIVE : ULNA_TEST_INDEFINITE;
    if (small <= 1e-9 * large)
        found.region = ULNA_TEST_SEMIDEFINITE;
    return found;
}

double ulna_test_box_angle(const ulna_test_box *range, int axis, int cell, int size)
{
    double degrees = range->low[axis] + (range->high[axis] - range->low[axis]) * (cell + 0.5) / size;
    return degrees * (3.14159265358979323846 / 180);
}
