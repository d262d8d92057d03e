/*
 * Coordinates that differ and yet give the same motion of a joint, and which of them is nearest to given ones.
 *
 *   a rotation about an axis       q + 2 pi n
 *   three rotations about i, j, k  the other set (model/model.h), and in gimbal lock a whole line of answers
 *   a rotation vector              w + 2 pi n w/|w|
 *   a quaternion                   q and -q
 *
 * With frames close to each other, the nearest answer to the frame before is the continuous one. In gimbal lock two of
 * three angles only matter by their sum or difference: what is free is left where it was. Just beside the lock both
 * swing fast, by a quarter turn each at most, since the two families differ by half a turn in both.
 */
#include "motion/branch.h"

#include "math/math3.h"
#include "model/model.h"

/* A rotation vector of two or three parts. No rotation at all has any direction. */
static void settle_vector(int count, const double *near, double *w)
{
    double length = sqrt(ulna_inner(count, w, w)), along = ulna_inner(count, w, near);
    double distance = sqrt(ulna_inner(count, near, near));
    if (length > 1e-12) {
        double scale = ulna_nearest_turn(length, along / length) / length;
        for (int i = 0; i < count && scale != 1; i++)
            w[i] *= scale;
    } else if (distance > ULNA_PI) {
        double scale = 2 * ULNA_PI * round(distance / (2 * ULNA_PI)) / distance;
        for (int i = 0; i < count; i++)
            w[i] = near[i] * scale;
    }
}

static void settle_quaternion(const double *near, double *q)
{
    double product = ulna_inner(4, q, near);
    for (int i = 0; i < 4 && product < 0; i++)
        q[i] = -q[i];
}

double ulna_motion_distance(const double rotation[9], const double translation[3], const double other_rotation[9],
                            const double other_translation[3], double length)
{
    double largest = 0;
    for (int i = 0; i < 9; i++)
        largest = fmax(largest, fabs(rotation[i] - other_rotation[i]));
    for (int i = 0; i < 3; i++) {
        double apart = fabs(translation[i] - other_translation[i]);
        largest = fmax(largest, apart > 0 ? apart / length : 0);
    }
    return largest;
}

#define NO_LOCK 1.5              /* radians: no gimbal lock where the second of three different rotations is smaller */
#define LOCK 1e-10               /* cosine, or sine, of the second one */
#define SMALL_STEP (ULNA_PI / 4) /* an eighth of a turn */

static int is_locked(const ulna_joint_plan *plan, const int turn[3], const double *q)
{
    int is_proper = plan->segment[turn[0]] == plan->segment[turn[2]];
    double b = q[turn[1]];
    if (!is_proper && fabs(b) < NO_LOCK) /* as nearly always */
        return 0;
    return fabs(is_proper ? sin(b) : cos(b)) <= LOCK;
}

/* In gimbal lock, the first and third angle move against each other, or along, without moving the body: to where they
 * change least. The motion itself shows which of the two it is. */
static void settle_locked(const ulna_joint_plan *plan, const double *near_q, double *q)
{
    int turn[3];
    if (!ulna_joint_three_turns(plan, turn) || !is_locked(plan, turn, q))
        return;
    double r[9], t[3], trial_r[9], trial_t[3], trial[7];
    ulna_joint_motion(plan, q, r, t);
    double first = near_q[turn[0]] - q[turn[0]], third = near_q[turn[2]] - q[turn[2]];
    for (int sign = -1; sign <= 1; sign += 2) {
        double shift = 0.5 * (first + sign * third);
        memcpy(trial, q, (size_t)plan->coordinate_count * sizeof *q);
        trial[turn[0]] += shift;
        trial[turn[2]] += sign * shift;
        ulna_joint_motion(plan, trial, trial_r, trial_t);
        double length = ulna_norm(t) + ulna_norm(trial_t);
        if (fabs(shift) > 1e-9 && ulna_motion_distance(r, t, trial_r, trial_t, length) < 1e-11) {
            memcpy(q, trial, (size_t)plan->coordinate_count * sizeof *q);
            return;
        }
    }
}

/* Rotations that have moved by less than an eighth of a turn, as nearly always: the other set of three is farther away, half a turn
 * in two of them. But not in gimbal lock, where there is more to choose, and not with translations between them. */
static int is_settled(const ulna_joint_plan *plan, const double *near_q, const double *q)
{
    int turn[3], turns = 0;
    for (int s = 0; s < plan->segment_count; s++) {
        int slides = ulna_segment_is_translation(plan->segment[s]);
        if (plan->segment[s] >= ULNA_SEGMENT_BALL || (slides && turns))
            return 0;
        if (!slides && !(fabs(q[s] - near_q[s]) < SMALL_STEP))
            return 0;
        turns += !slides;
    }
    return !ulna_joint_three_turns(plan, turn) || !is_locked(plan, turn, q);
}

/* As is_settled says. */
void ulna_joint_settled_within(const ulna_joint_plan *plan, int at, const ulna_settled *within)
{
    int turn[3], turns = 0, is_quick = 1;
    for (int s = 0; s < plan->segment_count; s++) {
        int slides = ulna_segment_is_translation(plan->segment[s]);
        is_quick &= plan->segment[s] < ULNA_SEGMENT_BALL && !(slides && turns);
        turns += !slides;
    }
    int has_three = ulna_joint_three_turns(plan, turn);
    is_quick &= !has_three || plan->segment[turn[0]] != plan->segment[turn[2]];
    for (int i = 0; i < plan->coordinate_count; i++) {
        int slides = is_quick && ulna_segment_is_translation(plan->segment[i]);
        int is_second = is_quick && has_three && i == turn[1];
        within->step[at + i] = !is_quick ? -1 : slides ? (double)INFINITY : SMALL_STEP;
        within->least[at + i] = is_second ? 2 * LOCK : -1;
        within->most[at + i] = is_second ? ULNA_PI - 2 * LOCK : (double)INFINITY;
    }
}

int ulna_joint_settle(const ulna_joint_plan *plan, const double *near_q, double *q)
{
    if (is_settled(plan, near_q, q))
        return 0;
    int at = 0;
    for (int s = 0; s < plan->segment_count; s++) {
        ulna_segment segment = (ulna_segment)plan->segment[s];
        int count = ulna_segment_coordinates(segment);
        if (segment == ULNA_SEGMENT_BALL)
            settle_quaternion(near_q + at, q + at);
        else if (segment > ULNA_SEGMENT_BALL)
            settle_vector(count, near_q + at, q + at);
        else if (!ulna_segment_is_translation(segment))
            q[at] = ulna_nearest_turn(q[at], near_q[at]);
        at += count;
    }
    double other[7] = {0};
    if (ulna_joint_other_family(plan, q, other)) {
        for (int s = 0; s < plan->segment_count; s++)
            other[s] =
                ulna_segment_is_translation(plan->segment[s]) ? other[s] : ulna_nearest_turn(other[s], near_q[s]);
        if (ulna_squared_distance(near_q, other, at) < ulna_squared_distance(near_q, q, at))
            memcpy(q, other, (size_t)at * sizeof *q);
        settle_locked(plan, near_q, q);
    }
    return 1;
}
