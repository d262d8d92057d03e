/* The two families of three turns: see joint_family.h. */
#include "model/joint_family.h"

#include <string.h>

#include "math/math3.h"

int ulna_joint_three_turns(const ulna_joint_plan *plan, int turn[3])
{
    int turns = 0;
    for (int s = 0; s < plan->segment_count; s++) {
        if (plan->segment[s] >= ULNA_SEGMENT_BALL)
            return 0;
        if (ulna_segment_is_slide(plan->segment[s]))
            continue;
        if (turns == 3 || (turns > 0 && plan->segment[turn[turns - 1]] == plan->segment[s]))
            return 0;
        turn[turns++] = s;
    }
    return turns == 3;
}

int ulna_joint_other_family(const ulna_joint_plan *plan, const double *q, double *other)
{
    int turn[3];
    if (!ulna_joint_three_turns(plan, turn))
        return 0;
    unsigned i = plan->segment[turn[0]], k = plan->segment[turn[2]];
    memcpy(other, q, (size_t)plan->coordinate_count * sizeof *q);
    other[turn[0]] += ULNA_PI;
    other[turn[1]] = (i == k ? 0 : ULNA_PI) - q[turn[1]];
    other[turn[2]] += ULNA_PI;
    for (int s = turn[0] + 1; s < turn[2]; s++)
        if (s != turn[1] && plan->segment[s] != ULNA_SEGMENT_TX + (s < turn[1] ? i : k))
            other[s] = -q[s];
    return 1;
}
