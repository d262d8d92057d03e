/* branch.h (private): coordinates that differ and yet give the same motion of a joint. */
#ifndef ULNA_SRC_BRANCH_H
#define ULNA_SRC_BRANCH_H

#include "model/model.h"

/* Of all coordinates that move the joint as q does, those nearest to `near_q`: whole turns, the other family of three
 * Euler angles, rotation vectors longer by a full turn, quaternions of the other sign. Returns 0 if q is plainly the nearest. */
int ulna_joint_settle(const ulna_joint_plan *plan, const double *near_q, double *q);

/* Per coordinate: a joint whose coordinates all differ by less than `step` from those of the frame before, and are, without their sign,
 * farther than `least` and less than `most` from a quarter turn, is plainly the nearest. A step of -1: that cannot be said so quickly. */
typedef struct ulna_settled {
    double *step, *least, *most;
} ulna_settled;
/* Of the joint's coordinates, which begin at `at`. */
void ulna_joint_settled_within(const ulna_joint_plan *plan, int at, const ulna_settled *within);

/* How far apart two motions are: the largest difference of an entry, translations in units of `length`, metres. */
double ulna_motion_distance(const double rotation[9], const double translation[3], const double other_rotation[9],
                            const double other_translation[3], double length);

#endif
