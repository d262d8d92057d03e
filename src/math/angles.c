/* Rotations as three others: what does not depend on the angles, and the choice of a kernel. */
#include "math/angles.h"

#include "base/base.h"

void ulna_angle_change_set(ulna_angle_change *change, const double left[9], const double right[9],
                           const unsigned char order[3])
{
    *change = (ulna_angle_change){.sign = (order[0] + 1) % 3 == order[1] ? 1 : -1};
    for (int n = 0; n < 3; n++)
        for (int c = 0; c < 3; c++) {
            change->left[3 * n + c] = left[3 * order[n] + c];
            change->right[3 * n + c] = right[3 * c + order[n]];
        }
}

ulna_angle_function *ulna_change_angles_find(void)
{
#ifndef ULNA_NO_X86
    if (ulna_cpu_runs("avx2"))
        return ulna_change_angles_avx2;
#endif
    return ulna_change_angles_portable;
}
