/* joint_family.h (private): the two families of angles by which three turns make the same motion. */
#ifndef ULNA_SRC_JOINT_FAMILY_H
#define ULNA_SRC_JOINT_FAMILY_H

#include "model/model.h"

/* Where the three turns are among elementary segments, neighbours about different axes; 0 for other joints. */
int ulna_joint_three_turns(const ulna_joint_plan *plan, int turn[3]);

/*
 * The other family of three turns a, b, c about the axes i, j, k:
 *
 *     Ri(a + pi) Rj(pi - b) = Ri(a) Rj(b) Rk(pi)      k differs from i (Tait-Bryan)
 *     Ri(a + pi) Rj(-b)     = Ri(a) Rj(b) Ri(pi)      k is i (proper Euler)
 *
 * both followed by Rk(c + pi). Between the first and the second turn the frame is then half a turn about i away,
 * between the second and the third half a turn about k: slides there along other axes change their sign. A reversed
 * joint obeys the same rules, in the order in which its segments are listed. Returns 0 for joints that have no such family;
 * whole turns are for the caller to choose.
 */
int ulna_joint_other_family(const ulna_joint_plan *plan, const double *q, double *other);

#endif
