/*
 * ulna/model.h: from a builder to an immutable skeleton.
 *
 * A skeleton is a tree of bodies. Each body hangs on its parent (the root: on the world) by one joint:
 *
 *     body frame = parent frame * placement * joint motion(q) * offset
 *
 * Units: metres, radians, kilograms. Rotations are 3x3 matrices stored row by row, quaternions are
 * (x, y, z, w). Coordinates q (nq of them) and degrees of freedom (nv of them) differ where a joint uses
 * a quaternion: 4 coordinates, 3 degrees of freedom.
 *
 * A finished model is const and may be shared by any number of threads.
 *
 *     ulna_builder *builder;
 *     ulna_joint hinge = ulna_joint_revolute(0, 0, 1); // about z
 *     ulna_builder_create(NULL, &builder);
 *     ulna_builder_add_body(builder, "upper arm", ULNA_NONE, &body, &error); // hangs on the world
 *     ulna_builder_set_joint(builder, body, &hinge, &error);
 *     ulna_builder_set_limits(builder, body, 0, -1.5, 1.5, &error);
 *     ulna_builder_build(builder, NULL, &model, &error);
 *     ulna_builder_destroy(builder);
 */
#ifndef ULNA_MODEL_H
#define ULNA_MODEL_H

#include "ulna/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- joints ------------------------------------------------------------------------------------------- */

typedef enum ulna_joint_type {
    ULNA_JOINT_FIXED = 0, /* 0 DOF */
    ULNA_JOINT_REVOLUTE,  /* 1: rotation about `axis` */
    ULNA_JOINT_PRISMATIC, /* 1: translation along `axis` */
    ULNA_JOINT_EULER,     /* 1 to 3: rotations about the moving axes of `order`, such as "ZYX": Rz(q0) Ry(q1) Rx(q2) */
    ULNA_JOINT_BALL,      /* 3: quaternion, nq = 4; steps are rotations in the parent's frame: R <- exp(w) R */
    ULNA_JOINT_EXPMAP,    /* 3: rotation vector, R = exp(q); singular at a full turn */
    ULNA_JOINT_SWING_TWIST, /* 3: exp of a two-parameter swing, then a twist about `axis`; see below */
    ULNA_JOINT_PLANAR,      /* 3: translation along two axes normal to `axis`, then rotation about it */
    ULNA_JOINT_FREE_EULER,  /* 6: translation along X, Y, Z, then ULNA_JOINT_EULER with three letters */
    ULNA_JOINT_FREE,        /* 6: translation along X, Y, Z, then ULNA_JOINT_BALL; nq = 7 */
    ULNA_JOINT_SEQUENCE,    /* 1 to 6: translations and rotations in the order of `order`, such as "TxTyTzRzRyRx" */
    ULNA_JOINT_TYPE_COUNT
} ulna_joint_type;

/*
 * A joint's motion is frame * J(q) * frameT, where J is what the type says. The frame rotates the joint's axes
 * relative to the body's (Acclaim calls it `axis`); it is the identity by default.
 *
 * Swing-twist: J = exp(q0 s + q1 t) * Z * R(axis, q2), where Z is the shortest rotation from `axis` to `center`
 * and s, t complete `center` to a right-handed frame. While the swing is zero, the bone points along `center`; the
 * map degenerates only where the bone points along -center. So choose `center` to put the singularity out of
 * reach. With center = axis (the default) q = 0 is the body's zero pose.
 *
 * `reversed` means the inverse motion, (frame J(q) frameT)^-1: it is what re-rooting makes of a joint. Its coordinates
 * are those of the joint that it reverses, listed in the order in which the inverse applies them: a reversed "ZYX"
 * moves by Rx(-q0) Ry(-q1) Rz(-q2). A quaternion, a rotation vector or a swing keeps its own numbers in their order.
 */
typedef struct ulna_joint {
    ulna_joint_type type;
    int reversed;
    double axis[3];   /* any length but zero; it is normalised */
    double center[3]; /* swing-twist only */
    double frame[9];
    char order[16];
} ulna_joint;

ULNA_API ulna_joint ulna_joint_fixed(void);
ULNA_API ulna_joint ulna_joint_revolute(double x, double y, double z);
ULNA_API ulna_joint ulna_joint_prismatic(double x, double y, double z);
ULNA_API ulna_joint ulna_joint_euler(const char *order);
ULNA_API ulna_joint ulna_joint_ball(void);
ULNA_API ulna_joint ulna_joint_expmap(void);
ULNA_API ulna_joint ulna_joint_swing_twist(const double axis[3], const double center[3] /* NULL: axis */);
ULNA_API ulna_joint ulna_joint_planar(double x, double y, double z); /* normal */
ULNA_API ulna_joint ulna_joint_free_euler(const char *order);
ULNA_API ulna_joint ulna_joint_free(void);
ULNA_API ulna_joint ulna_joint_sequence(const char *order);

/* "revolute", "swing-twist", ...: the names of the model file. */
ULNA_API const char *ulna_joint_type_name(ulna_joint_type type);

/* ---- the builder --------------------------------------------------------------------------------------- */

typedef struct ulna_builder ulna_builder;
typedef struct ulna_model ulna_model;

#define ULNA_NONE (-1) /* no body, no parent, no degree of freedom */

/* Mass properties: not used by kinematics; stored for files and for your own use. */
typedef struct ulna_mass {
    double mass;       /* kg, >= 0 */
    double center[3];  /* m, body frame */
    double inertia[6]; /* kg m2 about the centre: xx, yy, zz, xy, xz, yz */
} ulna_mass;

ULNA_API ulna_status ulna_builder_create(const ulna_allocator *allocator, ulna_builder **builder);
ULNA_API void ulna_builder_destroy(ulna_builder *builder);

/* A builder that holds what the model holds, for editing. */
ULNA_API ulna_status ulna_builder_from_model(const ulna_model *model, const ulna_allocator *allocator,
                                             ulna_builder **builder, ulna_error *error);

/* Name of the whole skeleton; empty by default. */
ULNA_API ulna_status ulna_builder_set_name(ulna_builder *builder, const char *name, ulna_error *error);

/*
 * Adds a body and returns its index through `body` (may be NULL). Parents may come later: use ULNA_NONE now and
 * ulna_builder_set_parent afterwards. The joint is fixed and the placement the identity until set.
 * Names are UTF-8, not empty, unique, at most 255 bytes.
 */
ULNA_API ulna_status ulna_builder_add_body(ulna_builder *builder, const char *name, int parent, int *body,
                                           ulna_error *error);
ULNA_API ulna_status ulna_builder_set_parent(ulna_builder *builder, int body, int parent, ulna_error *error);
ULNA_API int ulna_builder_find_body(const ulna_builder *builder, const char *name); /* ULNA_NONE if absent */

/* Where the joint is in the parent's frame. `rotation` is 9 numbers row by row, or NULL for the identity; it is
 * re-orthonormalised if within 1e-6 of a rotation and refused otherwise. */
ULNA_API ulna_status ulna_builder_set_placement(ulna_builder *builder, int body, const double position[3],
                                                const double *rotation, ulna_error *error);
/* Replaces the joint; limits, rest values, strengths and couplings of the body go back to their defaults. */
ULNA_API ulna_status ulna_builder_set_joint(ulna_builder *builder, int body, const ulna_joint *joint,
                                            ulna_error *error);
/* A fixed transform from the end of the joint to the body's own frame; the identity by default. */
ULNA_API ulna_status ulna_builder_set_offset(ulna_builder *builder, int body, const double position[3],
                                             const double *rotation, ulna_error *error);
/* Limits of degree of freedom `k` of the body; -INFINITY and INFINITY for none. Not for quaternions. */
ULNA_API ulna_status ulna_builder_set_limits(ulna_builder *builder, int body, int k, double lower, double upper,
                                             ulna_error *error);
/* Rest coordinates, as many as the joint has. Default: the zero pose (0, or the unit quaternion; for a
 * swing-twist the q that gives the zero pose), moved into the limits if it lies outside. */
ULNA_API ulna_status ulna_builder_set_rest(ulna_builder *builder, int body, const double *rest, int count,
                                           ulna_error *error);
/* Strength of degree of freedom `k`: its steps are scaled by it, so that a DOF of larger strength moves more. 1 by default;
 * 0 locks it. Solvers use it, ulna_work_step does not. */
ULNA_API ulna_status ulna_builder_set_strength(ulna_builder *builder, int body, int k, double strength,
                                               ulna_error *error);
/*
 * Couples degree of freedom `k` of a body to another, its master, as a gear or a linkage does (URDF: a mimic joint):
 *
 *     q(body, k) = multiplier * q(master, master_k) + offset
 *
 * A master may itself be coupled: building resolves such chains and refuses cycles. The limits of a coupled DOF also limit
 * its master. `master` ULNA_NONE removes the coupling. Not for quaternions. See "couplings" below.
 */
ULNA_API ulna_status ulna_builder_couple(ulna_builder *builder, int body, int k, int master, int master_k,
                                         double multiplier, double offset, ulna_error *error);
/* Name of the body's joint, as robots have: labels of its degrees of freedom begin with it. "" (the default): the body's
 * name. Unique among joints that have a name or a degree of freedom. */
ULNA_API ulna_status ulna_builder_set_joint_name(ulna_builder *builder, int body, const char *name, ulna_error *error);
/* `data` may be NULL. */
ULNA_API ulna_status ulna_builder_set_user_data(ulna_builder *builder, int body, void *data);
ULNA_API ulna_status ulna_builder_set_mass(ulna_builder *builder, int body, const ulna_mass *mass, ulna_error *error);
/* A named point of a body. Marker names are unique among markers. `marker` (may be NULL) receives its index. */
ULNA_API ulna_status ulna_builder_add_marker(ulna_builder *builder, const char *name, int body,
                                             const double position[3], double weight, int *marker, ulna_error *error);
/* Moves a marker, to another body if it is not on that one, and weighs it anew. A refusal leaves it as it was. */
ULNA_API ulna_status ulna_builder_set_marker(ulna_builder *builder, int marker, int body, const double position[3],
                                             double weight, ulna_error *error);
/* Hangs `body` on another parent, or on the world (ULNA_NONE), so that at the rest pose every body stays where it is. */
ULNA_API ulna_status ulna_builder_reparent(ulna_builder *builder, int body, int new_parent, ulna_error *error);

/*
 * Checks everything and makes the model: one block of memory, parents before children, otherwise in the order of
 * addition. The builder may be used again. Errors: no body, two roots, a cycle, numbers that are not finite,
 * zero-length axes, inverted limits, a rest value outside its limits, ...
 *
 * Depth and size are limited only by memory, but for one thing: the ancestor lists of the sparsity pattern (one per
 * branch, as long as the branch has degrees of freedom above it) may take 1 GiB, enough for 30,000 leaves 9,000
 * degrees of freedom deep. Beyond that ULNA_ERR_LIMIT: a short file could otherwise ask for memory without bounds.
 */
ULNA_API ulna_status ulna_builder_build(const ulna_builder *builder, const ulna_allocator *allocator,
                                        ulna_model **model, ulna_error *error);

/* ---- the model --------------------------------------------------------------------------------------- */

ULNA_API void ulna_model_destroy(ulna_model *model);

ULNA_API const char *ulna_model_name(const ulna_model *model);
ULNA_API int ulna_model_body_count(const ulna_model *model);
ULNA_API int ulna_model_dof_count(const ulna_model *model);        /* nv */
ULNA_API int ulna_model_coordinate_count(const ulna_model *model); /* nq */
ULNA_API int ulna_model_marker_count(const ulna_model *model);
ULNA_API size_t ulna_model_bytes(const ulna_model *model); /* size of its memory block */

/* Characteristic length in metres: half of the longest path along the tree between any two body origins or markers,
 * over placements and offsets; if all of these are zero, half of a prismatic joint's range; 1 if there is none. It does
 * not depend on which body is the root (the root's own placement and offset do not count). A rotation by one radian
 * counts as much as a translation by this length. */
ULNA_API double ulna_model_length_scale(const ulna_model *model);

/* Bodies, by index 0 .. body_count - 1 (parent < child; the root is 0). Out-of-range indices give NULL or ULNA_NONE. */
ULNA_API int ulna_model_find_body(const ulna_model *model, const char *name);
ULNA_API const char *ulna_model_body_name(const ulna_model *model, int body);
ULNA_API int ulna_model_body_parent(const ulna_model *model, int body);
ULNA_API const ulna_joint *ulna_model_body_joint(const ulna_model *model, int body);
/* The name of the body's joint; the body's own if the joint has none. And the body whose joint is called so, or ULNA_NONE:
 * joints without a name of their own and without degrees of freedom are not found. */
ULNA_API const char *ulna_model_joint_name(const ulna_model *model, int body);
ULNA_API int ulna_model_find_joint(const ulna_model *model, const char *name);
ULNA_API void *ulna_model_body_user_data(const ulna_model *model, int body);
ULNA_API const ulna_mass *ulna_model_body_mass(const ulna_model *model, int body);
/* Placement and offset as given to the builder; `position` and `rotation` may be NULL. */
ULNA_API ulna_status ulna_model_body_placement(const ulna_model *model, int body, double position[3],
                                               double rotation[9]);
ULNA_API ulna_status ulna_model_body_offset(const ulna_model *model, int body, double position[3], double rotation[9]);
/* Count of the body's degrees of freedom, and of its coordinates; `first` (may be NULL) receives the first index. */
ULNA_API int ulna_model_body_dofs(const ulna_model *model, int body, int *first);
ULNA_API int ulna_model_body_coordinates(const ulna_model *model, int body, int *first);

/* Ancestry: a body is its own ancestor and part of its own subtree. */
ULNA_API int ulna_model_is_ancestor(const ulna_model *model, int ancestor, int body);
ULNA_API int ulna_model_body_depth(const ulna_model *model, int body); /* 0 for the root */
/* Returns the number of bodies in the subtree, 1 for a leaf, and writes them to `bodies`, parents first, unless it is NULL. */
ULNA_API int ulna_model_subtree(const ulna_model *model, int body, int *bodies);

/* Degrees of freedom. A translation's unit is the metre, a rotation's the radian. */
ULNA_API int ulna_model_dof_body(const ulna_model *model, int dof);
ULNA_API int ulna_model_dof_is_translation(const ulna_model *model, int dof);
/* The coordinate that a degree of freedom moves, or ULNA_NONE for those of a quaternion. */
ULNA_API int ulna_model_dof_coordinate(const ulna_model *model, int dof);
/* By the name of the joint: "left_knee" for a single degree of freedom, "hip.Rz" or "pelvis.w1" for one of several ("hip.Rz2"
 * for the second rotation about z). Returns the length. `text` may be NULL. */
ULNA_API int ulna_model_dof_label(const ulna_model *model, int dof, char *text, size_t size);

/* Arrays owned by the model. */
ULNA_API const double *ulna_model_lower(const ulna_model *model);    /* nv; -INFINITY if none */
ULNA_API const double *ulna_model_upper(const ulna_model *model);    /* nv */
ULNA_API const double *ulna_model_strength(const ulna_model *model); /* nv */
ULNA_API const double *ulna_model_rest(const ulna_model *model);     /* nq */

/*
 * Couplings. A coupled DOF has no say of its own: q = multiplier * q(master) + offset. In a finished model no master is itself
 * coupled, the limits of a master keep all that follow it inside theirs, and the limits of a coupled DOF are what these
 * make of it. Its coordinate is part of q all the same. ulna_pose_forward and ulna_pose_jacobian go by the masters alone;
 * every problem of the model has the couplings as hard constraints, its first ones (constraint.h), so that solvers keep
 * them; q that is made by other means is completed by ulna_model_couple.
 */
typedef struct ulna_coupling {
    int dof, master;
    double multiplier, offset;
} ulna_coupling;

/* By ascending `dof`; `count` (may be NULL) receives how many. */
ULNA_API const ulna_coupling *ulna_model_couplings(const ulna_model *model, int *count);
/* Sets coupled coordinates to what their masters say. */
ULNA_API void ulna_model_couple(const ulna_model *model, double *q);

/* Markers. */
ULNA_API int ulna_model_find_marker(const ulna_model *model, const char *name);
ULNA_API const char *ulna_model_marker_name(const ulna_model *model, int marker);
ULNA_API int ulna_model_marker_body(const ulna_model *model, int marker);
ULNA_API double ulna_model_marker_weight(const ulna_model *model, int marker);
ULNA_API ulna_status ulna_model_marker_position(const ulna_model *model, int marker, double position[3]);

/* ---- bone lengths ------------------------------------------------------------------------------------- */

/* A body's bone is its placement, from the parent's origin to the joint; if the joint is reversed it is the body's
 * offset, from the joint to the body's origin. Re-rooting therefore keeps the lengths of
 * all bones but the root's own, which starts in the world. The derivative of a point with respect to a bone's length is
 * ulna_pose_length_jacobian (kinematics.h). */
ULNA_API double ulna_model_bone_length(const ulna_model *model, int body);
/* The same skeleton with other bone lengths (one per body, >= 0; a bone of zero length cannot be lengthened). */
ULNA_API ulna_status ulna_model_with_lengths(const ulna_model *model, const double *lengths,
                                             const ulna_allocator *allocator, ulna_model **result, ulna_error *error);

/* ---- another root ------------------------------------------------------------------------------------- */

/*
 * The same bodies hung from `root`: joints on the way are reversed (the same values, listed as `reversed` says), the new
 * root gets a six-DOF joint of the kind that the old root had (FREE if it had none). Every pose of the old model is a
 * pose of the new one: ulna_pose_transfer (kinematics.h) finds it. The present root gives a copy of the model.
 */
ULNA_API ulna_status ulna_model_reroot(const ulna_model *model, int root, const ulna_allocator *allocator,
                                       ulna_model **result, ulna_error *error);

/* ---- coordinates ------------------------------------------------------------------------------------- */

/* result = q (+) step: adds; quaternions are rotated by exp(step) and normalised. A zero step changes nothing else.
 * Rotation vectors may grow to a full turn, where they are singular: see ulna_model_wrap. `result` may be `q`. Sizes:
 * nq, nv, nq. */
ULNA_API void ulna_model_integrate(const ulna_model *model, const double *q, const double *step, double *result);
/* Takes whole turns off rotation vectors (exponential maps and swings) longer than 1.5 pi, so that they are no longer
 * than pi; those with a finite limit stay as they are. The pose is the same, but q jumps: terms that compare q with other
 * coordinates see that, so call it between solves, not within. Returns how many vectors changed. */
ULNA_API int ulna_model_wrap(const ulna_model *model, double *q);
/* Moves coordinates outside their limits onto them, and says how many; coupled ones follow their masters. */
ULNA_API int ulna_model_clamp(const ulna_model *model, double *q);
/* All coordinates zero, quaternions the identity: what papers call theta = 0. Limits are not looked at. */
ULNA_API void ulna_model_zero(const ulna_model *model, double *q);
/* ULNA_ERR_NUMBER if a coordinate is not finite or a quaternion is zero; `coordinate` (may be NULL) says which. */
ULNA_API ulna_status ulna_model_check_q(const ulna_model *model, const double *q, int *coordinate);

#ifdef __cplusplus
}
#endif
#endif
