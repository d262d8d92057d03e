/*
 * model.h (private): the finished model, as the kinematics sees it.
 *
 * Bodies are what users named. Links are what moves: a body whose joint has degrees of freedom, and the root.
 * Bodies with fixed joints are folded into the link on which they are. Links are numbered level by level from the
 * root, so that neighbours in the array are independent and parent < child; in big models one subtree after the other.
 *
 * A link's frame is oriented so that every elementary degree of freedom moves along or about a coordinate axis of the
 * moving frame: then a revolute DOF only mixes two columns of the frame. With X_l the link frame,
 *
 *     X_l = X_parent(l) * (rotation, offset) * J(q),      body frame = X_link(body) * (body_rotation, body_offset)
 */
#ifndef ULNA_SRC_MODEL_H
#define ULNA_SRC_MODEL_H

#include "linalg/linalg.h"
#include "ulna/model.h"

/* What a joint is made of. A joint is a sequence of segments; the first six have one DOF and one coordinate each. */
typedef enum ulna_segment {
    ULNA_SEGMENT_RX = 0, /* rotation about x of the moving frame */
    ULNA_SEGMENT_RY,
    ULNA_SEGMENT_RZ,
    ULNA_SEGMENT_TX, /* translation along x of the moving frame */
    ULNA_SEGMENT_TY,
    ULNA_SEGMENT_TZ,
    ULNA_SEGMENT_BALL,   /* 3 DOF, 4 coordinates: quaternion (x, y, z, w) */
    ULNA_SEGMENT_EXPMAP, /* 3 DOF: rotation vector */
    ULNA_SEGMENT_SWING,  /* 2 DOF: rotation vector in the plane of x and y */
} ulna_segment;

#define ULNA_JOINT_MAX_SEGMENTS 6

/* A joint resolved: motion = pre * segments(q) * post, with pre and post rotations. */
typedef struct ulna_joint_plan {
    int segment_count, dof_count, coordinate_count;
    unsigned char segment[ULNA_JOINT_MAX_SEGMENTS];
    int sign; /* +1, or -1 for a reversed joint: segments move by their inverse, in the order listed here */
    double pre[9], post[9];
    double zero[7]; /* coordinates of the zero pose (motion = identity) */
} ulna_joint_plan;

ulna_status ulna_joint_resolve(const ulna_joint *joint, ulna_joint_plan *plan, ulna_error *error);
/* The same joint in normal form: unit axes, an exact frame, orders in one spelling, unused fields at their defaults. */
ulna_status ulna_joint_normalise(const ulna_joint *joint, ulna_joint *normal, ulna_error *error);
int ulna_segment_dofs(ulna_segment segment);
int ulna_segment_coordinates(ulna_segment segment);

static inline int ulna_segment_is_translation(unsigned segment)
{
    return segment >= ULNA_SEGMENT_TX && segment <= ULNA_SEGMENT_TZ;
}

/* The motion of one segment at its coordinates, inverted if sign is negative: 3x3 rotation row by row, translation. */
void ulna_segment_motion(ulna_segment segment, int sign, const double *q, double rotation[9], double translation[3]);
/* The motion of a resolved joint, likewise. Slow and readable; fine for set-up. */
void ulna_joint_motion(const ulna_joint_plan *plan, const double *q, double rotation[9], double translation[3]);
/* The q whose motion comes nearest to the given one; exact where the joint can reach it. `near_q` picks the branch. Where
 * both cannot be reached, a translation by `length` counts as much as a rotation by one radian: the model's length scale
 * makes the result independent of the unit of length. */
void ulna_joint_fit(const ulna_joint_plan *plan, double length, const double rotation[9], const double translation[3],
                    const double *near_q, double *q);

/* Where the three rotations are among elementary segments, neighbours about different axes; 0 for other joints. */
int ulna_joint_three_turns(const ulna_joint_plan *plan, int turn[3]);

/*
 * The other set of three rotations a, b, c about the axes i, j, k:
 *
 *     Ri(a + pi) Rj(pi - b) = Ri(a) Rj(b) Rk(pi)      k differs from i (Tait-Bryan)
 *     Ri(a + pi) Rj(-b)     = Ri(a) Rj(b) Ri(pi)      k is i (proper Euler)
 *
 * both followed by Rk(c + pi). Between the first and the second rotation the frame is then half a turn about i away,
 * between the second and the third half a turn about k: translations there along other axes change their sign. A reversed
 * joint obeys the same rules, in the order in which its segments are listed. Returns 0 for joints that have no such family;
 * whole turns are for the caller to choose.
 */
int ulna_joint_other_family(const ulna_joint_plan *plan, const double *q, double *other);
/* Every coordinate of the body's joint, which q begins with, is inside its limits or outside by no more than `slack`. */
int ulna_joint_is_inside(const ulna_model *model, int body, double slack, const double *q);

enum {
    ULNA_LINK_UNTURNED = 1, /* rotation is the identity */
    ULNA_LINK_GENERAL = 2,  /* has a segment beyond the elementary six, or is reversed */
    ULNA_LINK_SLIDES = 4,   /* has a translation */
};

typedef struct ulna_link {
    double rotation[3][4]; /* columns; lane 3 is 0 */
    double offset[4];      /* in the parent link's frame */
    int parent;            /* link, -1 for the root */
    int body;
    int dof, dof_count;
    int coordinate;
    unsigned flags;
    int sign;
    unsigned char segment_count;
    unsigned char segment[ULNA_JOINT_MAX_SEGMENTS];
    unsigned char block_count;                    /* the DOFs cut into blocks of 1 to 3 of one kind, proximal first */
    unsigned char block[ULNA_JOINT_MAX_SEGMENTS]; /* sizes */
} __attribute__((aligned(64))) ulna_link;

typedef struct ulna_marker {
    int name; /* offset into names */
    int body;
    double position[3];
    double weight;
} ulna_marker;

typedef struct ulna_body {
    int name;       /* offset into names */
    int joint_name; /* likewise; that of the body if the joint has none */
    int parent;
    int dof, dof_count;
    int coordinate, coordinate_count;
    int link;     /* the link on which it is */
    int depth;    /* 0 for the root */
    int preorder; /* position in a depth-first walk */
    int subtree;  /* bodies in its subtree */
    void *user_data;
    double placement_rotation[9], placement_position[3];
    double offset_rotation[9], offset_position[3];
    double link_rotation[9], link_position[3]; /* body frame in the frame of its link */
} ulna_body;

struct ulna_model {
    ulna_allocator allocator;
    size_t bytes;
    int nb, nv, nq, nl, nm; /* bodies, DOFs, coordinates, links, markers */
    int nc, nj;             /* couplings, joints that are found by name */
    int reference; /* link near which coordinates are taken: links 0 .. reference form a chain without branches */
    int max_dof_depth;
    int has_general; /* some link is ULNA_LINK_GENERAL */
    double length_scale;
    int has_length; /* 0: the skeleton is one point without limits, and length_scale is 1 for want of a length */

    ulna_body *body;                  /* nb */
    ulna_joint *joint;                /* nb */
    ulna_mass *mass;                  /* nb */
    ulna_link *link;                  /* nl */
    double (*link_mass)[4];           /* nl: first moment of its bodies in its frame, and mass, over the whole mass */
    ulna_marker *marker;              /* nm */
    int *preorder;                    /* nb: bodies in depth-first order */
    int *body_by_name;                /* nb, sorted by name */
    int *marker_by_name;              /* nm, sorted by name */
    int *joint_by_name;               /* nj bodies, sorted by the names of their joints */
    ulna_coupling *coupling;          /* nc */
    int *dof_body;                    /* nv */
    int *dof_link;                    /* nv */
    int *dof_coordinate;              /* nv: -1 for quaternion tangents */
    unsigned char *dof_segment;       /* nv: ulna_segment that it belongs to */
    unsigned char *dof_part;          /* nv: which of the segment's DOFs: 0, 1, 2 */
    double *lower, *upper, *strength; /* nv */
    double *rest;                     /* nq */
    int *path_pool;                   /* shared ancestor lists */
    ulna_tree tree;                   /* sparsity of nv x nv matrices */
    int *tree_parent, *tree_depth;    /* nv */
    size_t *tree_row;                 /* nv + 1 */
    const int **tree_path;            /* nv */
    char *names;
};

/* The bone of a body: its placement, or its offset if its joint is reversed, as re-rooting swaps the two. */
static inline const double *ulna_body_bone(const ulna_model *model, int body)
{
    return model->joint[body].reversed ? model->body[body].offset_position : model->body[body].placement_position;
}

/* First coordinate of the quaternion that a DOF belongs to. A joint has at most one, and before it a coordinate per DOF. */
static inline int ulna_ball_coordinate(const ulna_model *model, int dof)
{
    const ulna_body *body = &model->body[model->dof_body[dof]];
    return body->coordinate + dof - model->dof_part[dof] - body->dof;
}

/* The type of that name, or -1. */
int ulna_joint_type_find(const char *name);
/* Degrees of freedom and coordinates of a joint, or -1 if it is not valid (then `error` says why). */
int ulna_joint_dof_count(const ulna_joint *joint, ulna_error *error);
int ulna_joint_coordinate_count(const ulna_joint *joint, ulna_error *error);

int ulna_builder_find_marker(const ulna_builder *builder, const char *name); /* ULNA_NONE if absent */

/* The step with q1 = q0 (+) step. Quaternions take the shorter way. */
void ulna_model_difference(const ulna_model *model, const double *q0, const double *q1, double *step);

/* Cuts limits of masters, other than the model's own, to what those of their followers allow; nv each. */
void ulna_model_limit_masters(const ulna_model *model, double *lower, double *upper);

#endif
