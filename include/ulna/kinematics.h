/*
 * ulna/kinematics.h: where everything is, and how it moves.
 *
 * A pose holds the result of forward kinematics for one model at one q, and the scratch to go on from there. It
 * is sized once; nothing below allocates after ulna_pose_create. One pose per thread; the model is shared.
 *
 * Notation: spatial vectors are (v, w): velocity of a point, then angular velocity, as in the recipe (eq. 3).
 * Matrices are column-major, as LAPACK takes them: entry (row, column) at [column * rows + row].
 *
 *     double place[3];
 *     ulna_pose_create(model, NULL, &pose, &error);
 *     ulna_pose_forward(pose, q);
 *     ulna_pose_body(pose, body, place, NULL); // where the origin of that body is
 *     ulna_pose_destroy(pose);
 */
#ifndef ULNA_KINEMATICS_H
#define ULNA_KINEMATICS_H

#include "ulna/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ulna_pose ulna_pose;

ULNA_API ulna_status ulna_pose_create(const ulna_model *model, const ulna_allocator *allocator, ulna_pose **pose,
                                      ulna_error *error);
ULNA_API void ulna_pose_destroy(ulna_pose *pose);

/* The kernel in use, the best for this CPU: "portable", "avx2" or "avx512". Results of kernels agree to rounding (1e-12
 * relative); on one kernel they are the same bits every time. */
ULNA_API const char *ulna_pose_kernel(const ulna_pose *pose);

/* ---- forward kinematics -------------------------------------------------------------------------------- */

/* Places all bodies; coupled coordinates (model.h) are those that their masters say, whatever q holds there. O(bodies). ULNA_ERR_NUMBER if q holds NaN, infinity or a zero quaternion; the pose is then as it was. */
ULNA_API ulna_status ulna_pose_forward(ulna_pose *pose, const double *q);

/* World position and rotation (3x3, row by row) of a body's frame; `position` and `rotation` may be NULL. */
ULNA_API ulna_status ulna_pose_body(const ulna_pose *pose, int body, double position[3], double rotation[9]);

/* World position of a point given in a body's frame. */
ULNA_API ulna_status ulna_pose_point(const ulna_pose *pose, int body, const double point[3], double position[3]);
/* World positions of all markers of the model: 3 x marker_count. */
ULNA_API ulna_status ulna_pose_markers(const ulna_pose *pose, double *positions);
/* The unit twist of a degree of freedom in the world: axis and a point of it for a rotation, the axis alone for a translation
 * (`origin`, which may be NULL, is untouched). For exponential maps the axis is the effective one, J_left(w) e_i, not of unit length. */
ULNA_API ulna_status ulna_pose_dof_axis(const ulna_pose *pose, int dof, double axis[3], double origin[3]);

/*
 * Finds q of another model that puts its bodies where `from` has those of the same names: after re-rooting, after
 * editing the connectivity, or to read ball joints as another kind. `error_m` (may be NULL) receives the largest
 * distance left at any body origin or at unit length along its axes; it is rounding where the joints can follow. Of
 * several answers the one nearest to where `to_pose` is placed is taken, or to rest; if that lies outside the joint's limits
 * and another gives the same motion inside them, the other. Bodies that `from` lacks go to rest.
 * `to` has room for nq of `to_pose`'s model and holds the result, with to_pose placed at it. ULNA_ERR_MODEL if no body
 * has a name in common.
 */
ULNA_API ulna_status ulna_pose_transfer(const ulna_pose *from, ulna_pose *to_pose, double *to, double *error_m);

/* ---- Jacobians ----------------------------------------------------------------------------------------- */

typedef enum ulna_frame {
    ULNA_FRAME_WORLD = 0, /* velocity of the point and angular velocity, in world axes */
    ULNA_FRAME_BODY       /* the same two vectors, in the body's axes */
} ulna_frame;

enum { ULNA_ROWS_LINEAR = 1, ULNA_ROWS_ANGULAR = 2 }; /* rows: which velocities of the effector are controlled */
enum { ULNA_MOTIONS_REVOLUTE = 1, ULNA_MOTIONS_PRISMATIC = 2 }; /* columns: which degrees of freedom take part */

/* An effector: a point of a body, in the body's frame. */
typedef struct ulna_effector {
    int body;
    double point[3];
} ulna_effector;

typedef struct ulna_jacobian_options {
    ulna_frame frame;
    unsigned rows; /* ULNA_ROWS_LINEAR | ULNA_ROWS_ANGULAR; both by default: 3 or 6 rows per effector, linear first */
    unsigned motions;    /* ULNA_MOTIONS_REVOLUTE | ULNA_MOTIONS_PRISMATIC; columns of the others are zero */
    const int *columns;  /* degree of freedom of each column, any order, repeats allowed; NULL: 0 .. nv - 1 */
    int column_count;    /* number of columns if `columns` is given */
    const double *scale; /* nv: factor for each column; NULL: 1 */
} ulna_jacobian_options;

ULNA_API ulna_jacobian_options ulna_jacobian_options_default(void);

/* The stacked Jacobian of `count` effectors at the last forward pose: 3 or 6 rows per effector, one column per degree of
 * freedom unless the options list the columns. Columns of degrees of freedom that do not move an effector are zero.
 * The column of a master includes what is coupled to it (model.h), times the multiplier; that of a coupled degree of freedom is zero.
 * `pose` is not changed, but its scratch is used (hence not const). */
ULNA_API ulna_status ulna_pose_jacobian(ulna_pose *pose, const ulna_jacobian_options *options, int count,
                                        const ulna_effector *effectors, double *jacobian);

/* dp/dlength: 3 x body_count, one column per bone (model.h, bone lengths). Bones off the path, and of zero length, are zero. */
ULNA_API ulna_status ulna_pose_length_jacobian(const ulna_pose *pose, const ulna_effector *effector, double *jacobian);

#ifdef __cplusplus
}
#endif
#endif
