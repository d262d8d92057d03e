/*
 * angles.h (private): rotations about coordinate axes, written as three others.
 *
 *     left Ra(p) Rb(q) ... right = Ri(x) Rj(y) Rk(z)
 *
 * with up to three rotations of any axes on the left side, i j k three different axes, and two rotations that do not change: what
 * files need whose joints have other axes, in every frame. Eight frames are done at once, one in each lane.
 */
#ifndef ULNA_SRC_ANGLES_H
#define ULNA_SRC_ANGLES_H

enum { ULNA_ANGLE_LANES = 8 };

typedef struct ulna_angle_change {
    int count;             /* of rotations on the left side */
    unsigned char axis[3]; /* theirs */
    double left[9];        /* rows i, j, k of `left` */
    double right[9];       /* columns i, j, k of `right`, each three numbers one after the other */
    double sign;           /* 1 if j is the axis behind i, as in x y z; -1 if not */
} ulna_angle_change;

/* Angles of up to three rotations, in radians. */
typedef struct ulna_angle_lanes {
    _Alignas(32) double of[3][ULNA_ANGLE_LANES];
} ulna_angle_lanes;

/* Without rotations on the left side: set count and axis. */
void ulna_angle_change_set(ulna_angle_change *change, const double left[9], const double right[9],
                           const unsigned char order[3]);

/*
 * x and z are in -pi .. pi, y in -pi/2 .. pi/2; `cosine` receives that of y: near 0, at gimbal lock, x and z cannot be told apart
 * and are wrong. Lanes from `lanes` on may be filled or not. Angles must be finite in all lanes.
 */
typedef void ulna_angle_function(const ulna_angle_change *change, int lanes, const ulna_angle_lanes *from,
                                 ulna_angle_lanes *to, double cosine[ULNA_ANGLE_LANES]);

ulna_angle_function ulna_change_angles_portable, ulna_change_angles_avx2;

/* The best for this machine. */
ulna_angle_function *ulna_change_angles_find(void);

#endif
