/*
 * reduced.h (private): the tree that relaxations use in place of the skeleton. Each edge is one simple motion or one
 * bone, lengths have their own unit, and only joints on which a goal depends are in it.
 *
 * ulna_reduced_create (reduce.c) makes it from a problem. It splits joints into rotations about one axis (hinges) and
 * translations where necessary, absorbs fixed rotations into the axes and vectors below them, removes parts without
 * goals, and makes joints that cannot move part of the bones. It divides lengths by `length`, and measures positions
 * from `centre`.
 *
 *   cost of the problem = unit * ( sum of weight |goal - p|^2  +  sum of <rotation_cost, R>  +  constant )
 *
 * The sums are over nodes; p and R are the position and the rotation of a node. Node 0 does not move:
 * p = -centre/length, R = 1. The position p of the tree is origin + centre + length p in the world, in metres.
 */
#ifndef ULNA_GLOBAL_REDUCED_H
#define ULNA_GLOBAL_REDUCED_H

#include "ulna/problem.h"

typedef enum ulna_edge {
    ULNA_EDGE_WORLD = 0,   /* node 0 only */
    ULNA_EDGE_FREE,        /* any position, any rotation; only below node 0 */
    ULNA_EDGE_BALL,        /* position of its parent, any rotation */
    ULNA_EDGE_HINGE,       /* R = R_parent Rot(axis, angle), lower <= angle <= upper */
    ULNA_EDGE_TRANSLATION, /* p = p_parent + R_parent axis travel, lower <= travel <= upper; either may be infinite */
    ULNA_EDGE_BONE         /* p = p_parent + R_parent v */
} ulna_edge;

typedef struct ulna_node {
    ulna_edge edge;
    int parent;          /* smaller than the node's own number; ULNA_NONE for node 0 */
    double axis[3];      /* hinge, translation: unit vector in the parent's frame */
    double lower, upper; /* radians or lengths; upper - lower >= 2 pi, or infinite: a hinge without limits */
    double middle;       /* translation: travel is measured from here, and the bones below begin here; 0 unless limits
                            are narrow */
    double v[3];         /* bone, in the parent's frame; never zero */
    double weight;       /* of the point goal; 0: none */
    double goal[3];
    double rotation_cost[9]; /* row by row; from orientation and direction goals */
    int has_rotation_cost;
    int dof;  /* of the model: hinge and translation; ULNA_NONE otherwise */
    int body; /* of the model: the body whose joint this edge is part of; for bones, the body that has the point */
} ulna_node;

typedef struct ulna_reduced {
    ulna_allocator allocator;
    ulna_node *nodes;
    int count, capacity;
    double length;    /* metres in one unit */
    double centre[3]; /* metres, from `origin` */
    double origin[3]; /* metres, in the world: position of node 0 */
    double unit;      /* m^2 (f of the problem) in one unit of cost */
    double constant;
    double summed; /* sum of the absolute values added into `constant`; its rounding error is proportional to this */
    int left_out;  /* terms that relaxations do not support; they are never negative, so bounds remain valid */
    unsigned left_out_types; /* bit 1 << ulna_term_type for each type among them */
    int limits_left_out; /* limited degrees of freedom that became part of a ball: bounds remain valid, but are lower */
    struct ulna_reduction *reduction; /* relates nodes to the model: reduce.h; NULL in trees made by hand */
} ulna_reduced;

/* ---- a pose of the tree ---------------------------------------------------------------------------------------- */

/*
 * A pose of the tree; relaxations are rounded to one. Input: `value` of hinges (radians) and translations (in units of
 * `length`, as lower and upper), `quaternion` of FREE and BALL nodes, `place` of FREE nodes. ulna_reduced_place and
 * ulna_reduced_to_q compute the rest.
 */
typedef struct ulna_reduced_pose {
    double *value;           /* count */
    double (*quaternion)[4]; /* count, w first: R of the node in the world, not relative to the parent */
    double (*place)[3];      /* count: p of the node, in units of `length`, from `centre`, like the goals */
    size_t count;
} ulna_reduced_pose;

ulna_status ulna_reduced_pose_create(const ulna_reduced *reduced, const ulna_allocator *allocator,
                                     ulna_reduced_pose *pose);
void ulna_reduced_pose_release(const ulna_allocator *allocator, ulna_reduced_pose *pose);

/* R of a node, row by row, from its quaternion. */
void ulna_reduced_rotation(const ulna_reduced_pose *pose, int node, double r[9]);
/* Forward kinematics: the quaternion and the position of every node where they are not input. O(count). */
void ulna_reduced_place(const ulna_reduced *reduced, const ulna_reduced_pose *pose);
/* Converts a lower bound of the tree's cost (`constant` included) into one of f of the problem, in m^2. The tree leaves
 * out translations whose range is below a millionth of the skeleton's size; the result allows for each point to be
 * nearer to its goal by half these ranges. */
double ulna_reduced_bound(const ulna_reduced *reduced, double cost);
/* A lower bound of the tree's cost from lengths alone: of goals whose distance from node 0 exceeds the length of the
 * bones and translations that lead to them. Only for trees made from problems, where all other terms are sums of
 * squares. Rounded down. O(count). */
double ulna_reduced_far(const ulna_reduced *reduced, double *reach /* scratch: count */);

/* ---- from the problem and back ----------------------------------------------------------------------------------- */

/* Whether the point goals of a rigid part are replaced by one goal at their centroid and a rotation cost. The tree is
 * then smaller, and F2 is tighter. F3, which has second moments of positions, is tighter if goals at the end of a bone
 * that leads to further joints remain there. */
typedef enum ulna_gather {
    ULNA_GATHER_NONE = 0,
    ULNA_GATHER_ALL,  /* tightest for F2 */
    ULNA_GATHER_LOOSE /* only points at which there is no joint: tightest for F3 */
} ulna_gather;

typedef struct ulna_reduce_options {
    int bounded;                 /* 1: use the limits; 0: ignore them */
    const double *lower, *upper; /* nv; NULL: the model's */
    const unsigned char
        *locked;     /* nv: not 0: does not move from `q`; all three DOFs of a quaternion or none. NULL: none */
    const double *q; /* nq; used only for `locked` */
    ulna_gather gather;
} ulna_reduce_options;

/*
 * The problem must be ready. options NULL: the model's limits, nothing locked, no goals gathered. Time is linear in bodies
 * and terms, except for points on one rigid part that are not gathered, which are compared in pairs.
 * ULNA_ERR_UNSUPPORTED if no active term is supported by relaxations. If no goal depends on a joint, count is 1 and the
 * whole cost is `constant`.
 */
ulna_status ulna_reduced_create(const ulna_problem *problem, const ulna_reduce_options *options,
                                const ulna_allocator *allocator, ulna_reduced *out, ulna_error *error);
void ulna_reduced_release(ulna_reduced *reduced); /* does nothing to a zeroed struct */
/* Checks a tree: order of nodes, edges, axes, limits, finite numbers. */
ulna_status ulna_reduced_check(const ulna_reduced *reduced, ulna_error *error);

/* Reads new goals and weights of the same problem, without allocation. `length`, `centre` and `unit` do not change.
 * ULNA_ERR_STATE, and nothing is changed, if other terms are active than before: then release and create again. */
ulna_status ulna_reduced_refresh(ulna_reduced *reduced, const ulna_problem *problem);
/* 1 if the goals are within ten lengths of where they were at create; if 0, digits are lost and a new tree is better. */
int ulna_reduced_is_centred(const ulna_reduced *reduced);

/*
 * The coordinates (nq) of a pose, within the limits if `bounded` was set. Parts that are not in the tree are as in
 * `near_q` (nq; NULL: the rest pose), and so is the choice among equivalent angles; joints on which no goal depends are
 * at rest. Calls ulna_reduced_place. ULNA_ERR_NUMBER, and q unchanged, if a position is not finite. `q` may be `near_q`.
 * Does not allocate.
 */
ulna_status ulna_reduced_to_q(const ulna_reduced *reduced, const ulna_problem *problem, const ulna_reduced_pose *pose,
                              const double *near_q, double *q);

#endif
