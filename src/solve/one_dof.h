/*
 * one_dof.h (private): f along a single degree of freedom, all others fixed, and its lowest point. For ccd and
 * fabrik.
 *
 * Pulls, which are points and directions with a goal and a weight w (kinematics/kernel.h), need no list: of those
 * beyond a degree of freedom only the sums Q = sum w h hT and M = sum w h rT matter (ulna_pull_sums), where
 * h = (p, 1) or (d, 0), and r = goal - value. If a rigid motion G moves the pulls, the sums move with them: with D = G - 1,
 *
 *     f -> f - <D, MT> + 1/2 tr D Q DT,     Q -> G Q GT,     M -> G (M - Q DT).
 *
 * Along a rotation by t they give exactly f + g sin t + h (1 - cos t), along a translation f + g t + 1/2 h t^2, where g is
 * the gradient and h the exact second derivative at t = 0. (Wang and Chen 1991 have the rotation in the form
 * k1 (1 - cos) + k2 cos + k3 sin, for one effector.)
 */
#ifndef ULNA_SRC_ONE_DOF_H
#define ULNA_SRC_ONE_DOF_H

#include "kinematics/kernel.h"
#include "solve/solver.h"

/* ---- rigid motions ---------------------------------------------------------------------------------------------- */

/* A rigid motion less the identity: h -> h + column[0] h0 + ... + column[3] h3. Lanes 3 are 0. */
typedef struct ulna_move {
    ulna_vec4 column[4];
} ulna_move;

/* First `move`, then `next`. */
void ulna_move_append(ulna_move *move, const ulna_move *next);

static inline ulna_vec4 ulna_moved(const ulna_move *move, ulna_vec4 h)
{
    return h + (move->column[0] * h[0] + move->column[1] * h[1]) + (move->column[2] * h[2] + move->column[3] * h[3]);
}

/* ---- the degrees of freedom of one link ------------------------------------------------------------------------- */

/* Where they are now, relative to the pose's origin, in world axes. */
typedef struct ulna_axes {
    const ulna_link *link;
    int count;
    unsigned char segment[ULNA_JOINT_MAX_SEGMENTS];    /* ulna_segment */
    unsigned char place[ULNA_JOINT_MAX_SEGMENTS];      /* which of the joint's segments */
    unsigned char part[ULNA_JOINT_MAX_SEGMENTS];       /* which of the segment's DOFs */
    unsigned char coordinate[ULNA_JOINT_MAX_SEGMENTS]; /* first one of the segment, counted from the joint's first */
    ulna_vec4 axis[ULNA_JOINT_MAX_SEGMENTS];           /* unit, lane 3 is 0; of no meaning for rotation vectors */
    ulna_vec4 through[ULNA_JOINT_MAX_SEGMENTS];        /* a point of the axis, lane 3 is 1 */
    ulna_vec4 base[4]; /* of the rotation vector or swing, if there is one: the frame before it, */
    double back[9];    /* and the inverse of its rotation */
} ulna_axes;

void ulna_axes_read(const ulna_pose *pose, const ulna_link *link, ulna_axes *axes);
/* The motion by t of degree of freedom `i` of the link, whose coordinates are q (its own, as they are at t = 0).
 * `twist` (may be NULL): the motion with which it goes on from there. */
void ulna_axes_move(const ulna_axes *axes, int i, const double *q, double t, ulna_move *move, ulna_pair *twist);
/* Degree of freedom `i` moves by t, which is this motion: its coordinate changes, and what it moves follows. */
void ulna_axes_step(ulna_axes *axes, int i, double t, const ulna_move *move, double *q);
/* The link's parent has made this motion: all axes follow. */
void ulna_axes_carry(ulna_axes *axes, const ulna_move *move);

static inline int ulna_axes_is_curved(const ulna_axes *axes, int i)
{
    return axes->segment[i] > ULNA_SEGMENT_BALL;
}

/* ---- sums of pulls ---------------------------------------------------------------------------------------------- */

void ulna_sums_add(ulna_pull_sums *sums, const ulna_pull_sums *other);
void ulna_sums_scale(ulna_pull_sums *sums, double factor);
/* One more pull: h now, and its residual. */
void ulna_sums_add_pull(ulna_pull_sums *sums, double weight, ulna_vec4 h, ulna_vec4 residual);
void ulna_sums_move(ulna_pull_sums *sums, const ulna_move *move);
/* g and h along a rotation or translation; 0 and 0 if they are only rounding, where f is about `f`. */
void ulna_sums_along(const ulna_pull_sums *sums, const ulna_axes *axes, int i, double f, double *g, double *h);

/* The change of f, and the slope there, with component i of a rotation vector moved by t. */
double ulna_sums_curve(const ulna_pull_sums *sums, const ulna_axes *axes, int i, const double *q, double t,
                       double *slope);

/* ---- the lowest point ------------------------------------------------------------------------------------------- */

typedef enum ulna_profile_kind {
    ULNA_PROFILE_ROTATION = 0, /* g sin t + h (1 - cos t) + g2 sin 2t + h2 (1 - cos 2t) */
    ULNA_PROFILE_TRANSLATION,  /* g t + 1/2 h t^2 */
    ULNA_PROFILE_CURVE         /* `rest` alone: a component of a rotation vector */
} ulna_profile_kind;

/* f as a function of t, less f at 0. */
typedef struct ulna_profile {
    ulna_profile_kind kind;
    double g, h, g2, h2;
    double slope, curve; /* terms on the coordinate: slope t + 1/2 curve t^2, curve >= 0 */
    double (*rest)(void *context, double t, double *slope); /* what else there is, 0 at 0; NULL for nothing */
    void *context;
    double low, high;      /* of t; low <= 0 <= high */
    double center, window; /* where the lowest point is looked for: center +- window, or, if there is a `rest` or a term
                              on the coordinate and the window is 0, in the valley that t = 0 lies in */
    double stride, reach;  /* with which to go down into it: a guess at how far it is, and how far at most */
    double fraction;       /* of the way to the lowest point that is gone: (0, 1] */
    double least;          /* decrease that is not worth a motion */
} ulna_profile;

/* The profile of a degree of freedom without any term yet: its limits relative to s->trial, its strength; a
 * window for rotation vectors. */
ulna_profile ulna_profile_of(const ulna_solver *s, const ulna_axes *axes, int i);
/* After a step by t: s->trial is on the limit that t leads to, and nowhere beyond one by rounding. */
void ulna_profile_stay_inside(const ulna_profile *profile, ulna_solver *s, int dof, double t);

/* The t to move by, 0 if nothing is gained. `decrease` receives how far f falls, >= 0. Exact where sines, cosines and
 * squares are all there is; otherwise found between samples a sixteenth of half a turn apart. */
double ulna_profile_minimise(const ulna_profile *profile, double *decrease);

/* ---- from sweep to sweep ---------------------------------------------------------------------------------------- */

/* One sweep of a method: from s->trial, where the work stands, on. Moves s->trial, adds the motions to s->step, and
 * returns the decrease that it predicts; 0 if it moved nothing. */
typedef double (*ulna_sweep_once)(ulna_solver *s, void *state);

/* A sweep from q, accepted if f falls (s->now.accepted). The work is at q afterwards. */
ulna_status ulna_sweep_from_q(ulna_solver *s, ulna_sweep_once sweep, void *state, double *predicted);
/*
 * After a sweep that was accepted: its step once more, times `stride`, if f falls. The stride doubles while f falls,
 * and is 1 at first. Large steps are not stretched: they choose between postures. (R.
 * Hooke, T. A. Jeeves, "Direct search solution of numerical and statistical problems", J. ACM 8, 1961: the pattern
 * move.)
 */
ulna_status ulna_pattern_move(ulna_solver *s, double *stride);
/*
 * Where no sweep gains anything: bends all joints by up to a hundredth of a radian and sweeps from there; accepted if
 * that ends lower. It leaves straight chains with the goal on their line, where single motions stay on the line.
 */
ulna_status ulna_bend_and_sweep(ulna_solver *s, ulna_sweep_once sweep, void *state);
/* If that did not help either: sets why the iteration ends. `predicted` is what the last sweep returned. */
ulna_status ulna_end_of_sweeps(ulna_solver *s, double predicted);

#endif
