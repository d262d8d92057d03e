/*
 * The skeleton as relaxations see it: a tree of one-freedom edges, in units of its own, with only what the goals can
 * feel.
 *
 * Made from a problem by ulna_reduced_create (reduce.c): joints are split into hinges and slides where they must be,
 * fixed rotations are absorbed into the axes and vectors below them, parts without goals are cut off, joints that
 * cannot move are part of the bones, lengths are divided by `length` and counted from `centre`.
 *
 *   cost of the problem = unit * ( sum over nodes weight |goal - p|^2  +  sum over nodes <turn, R>  +  constant )
 *
 * with p and R the place and the rotation of a node. Node 0 stands still: p = -centre/length, R = 1. A place p of the
 * tree is origin + centre + length p in the world, in metres.
 */
#ifndef ULNA_GLOBAL_REDUCED_H
#define ULNA_GLOBAL_REDUCED_H

#include "ulna/problem.h"

typedef enum ulna_edge {
    ULNA_EDGE_WORLD = 0, /* node 0, and no other */
    ULNA_EDGE_FREE,      /* anywhere, turned anyhow: only below the world */
    ULNA_EDGE_BALL,      /* where its parent is, turned anyhow */
    ULNA_EDGE_HINGE,     /* R = R_parent Rot(axis, angle), lower <= angle <= upper */
    ULNA_EDGE_SLIDE,     /* p = p_parent + R_parent axis travel, lower <= travel <= upper; either may be infinite */
    ULNA_EDGE_BONE       /* p = p_parent + R_parent v */
} ulna_edge;

typedef struct ulna_node {
    ulna_edge edge;
    int parent;     /* smaller than the node's own number; ULNA_NONE for node 0 */
    double axis[3]; /* unit vector in the parent's frame: hinge, slide */
    double lower,
        upper;     /* radians or lengths; a hinge that may turn all the way has upper - lower >= 2 pi, or infinite */
    double middle; /* slide: travel is counted from here, and the bones below begin there; 0 unless limits are narrow */
    double v[3];   /* bone, in the parent's frame; never zero */
    double weight; /* of the point goal; 0: none */
    double goal[3];
    double turn[9]; /* what the rotation costs, row by row: orientation and direction goals */
    int has_turn;
    int dof;  /* of the model: hinge and slide; ULNA_NONE otherwise */
    int body; /* of the model: whose joint this edge is part of, or for bones who carries the point */
} ulna_node;

typedef struct ulna_reduced {
    ulna_allocator allocator;
    ulna_node *nodes;
    int count, capacity;
    double length;    /* metres in one unit */
    double centre[3]; /* metres, from `origin` */
    double origin[3]; /* metres, in the world: where node 0 is */
    double unit;      /* m^2 (f of the problem) in one unit of cost */
    double constant;
    double summed; /* what `constant` was made of, without signs: its rounding is in proportion */
    int left_out;  /* terms of the problem that no relaxation can hold: they are never negative, so bounds stay true */
    unsigned left_out_types; /* bit 1 << ulna_term_type for each type among them */
    int limits_left_out;     /* limited degrees of freedom that became a ball: bounds stay true, but know less */
    struct ulna_reduction *reduction; /* how nodes and model belong together: reduce.h; NULL in trees made by hand */
} ulna_reduced;

/* ---- a pose of the tree ---------------------------------------------------------------------------------------- */

/*
 * What a relaxation is rounded to. To be given: `value` of hinges (radians) and slides (in units of `length`, as
 * lower and upper), `quaternion` of FREE and BALL nodes, `place` of FREE nodes. The rest is filled by
 * ulna_reduced_place and ulna_reduced_to_q.
 */
typedef struct ulna_reduced_pose {
    double *value;           /* count */
    double (*quaternion)[4]; /* count, w first: R of the node, that is, in the world, not against the parent */
    double (*place)[3];      /* count: p of the node, as goals are: in units of `length`, from `centre` */
    size_t count;
} ulna_reduced_pose;

ulna_status ulna_reduced_pose_create(const ulna_reduced *reduced, const ulna_allocator *allocator,
                                     ulna_reduced_pose *pose);
void ulna_reduced_pose_release(const ulna_allocator *allocator, ulna_reduced_pose *pose);

/* R of a node, row by row, from its quaternion. */
void ulna_reduced_rotation(const ulna_reduced_pose *pose, int node, double r[9]);
/* Forward kinematics: the quaternion and the place of every node where they are not given. O(count). */
void ulna_reduced_place(const ulna_reduced *reduced, const ulna_reduced_pose *pose);
/* What a lower bound of the tree's cost, `constant` included, says about f of the problem, in m^2: translations with
 * limits of less than a millionth of the skeleton apart stand still in the tree, and could bring every point nearer by
 * as much. */
double ulna_reduced_bound(const ulna_reduced *reduced, double cost);
/* A cost that no pose is below, from lengths alone: goals farther from node 0 than the way to them is long. For trees
 * made from problems, where all else is a sum of squares. Rounded down. O(count). */
double ulna_reduced_far(const ulna_reduced *reduced, double *reach /* scratch: count */);

/* ---- from the problem and back ----------------------------------------------------------------------------------- */

/* Point goals of a rigid part can become one, at their centroid, and a turn. Smaller, and tighter where every point has
 * a bone of its own; but a bone that carries on to other joints ties a relaxation with second moments of places (F3)
 * more firmly to goals at its end. */
typedef enum ulna_gather {
    ULNA_GATHER_NONE = 0,
    ULNA_GATHER_ALL,  /* tightest for F2 */
    ULNA_GATHER_LOOSE /* only points where no joint is: tightest for F3 */
} ulna_gather;

typedef struct ulna_reduce_options {
    int bounded;                 /* 1: keep the limits; 0: as if there were none */
    const double *lower, *upper; /* nv; NULL: the model's */
    const unsigned char *locked; /* nv: not 0 = stays where `q` has it; all three of a quaternion or none. NULL: none */
    const double *q;             /* nq; for `locked` alone */
    ulna_gather gather;
} ulna_reduce_options;

/*
 * The problem must be ready; options NULL: bounded by the model's limits, nothing locked, not gathered. Linear in bodies
 * and terms, but for many points on one rigid part that are not gathered: they are compared with each other.
 * ULNA_ERR_UNSUPPORTED if there is no active term that a relaxation can hold. If no joint is felt by any goal, count
 * is 1 and all the cost is `constant`.
 */
ulna_status ulna_reduced_create(const ulna_problem *problem, const ulna_reduce_options *options,
                                const ulna_allocator *allocator, ulna_reduced *out, ulna_error *error);
void ulna_reduced_release(ulna_reduced *reduced); /* harmless on a zeroed one */
/* Whether a tree is one: order, edges, axes, limits, numbers. */
ulna_status ulna_reduced_check(const ulna_reduced *reduced, ulna_error *error);

/* New goals and weights of the same problem on the same tree, without allocation. ULNA_ERR_STATE, and nothing
 * changed, if the set of active terms is another: then release and create. Scales stay as they were. */
ulna_status ulna_reduced_refresh(ulna_reduced *reduced, const ulna_problem *problem);
/* 1 if the goals are where they were at create, or within ten lengths of there: else digits are lost, and a new tree is
 * better. */
int ulna_reduced_is_centred(const ulna_reduced *reduced);

/*
 * The coordinates (nq) of a pose: within the limits if they were asked for. Parts that were cut off, and the branch of
 * angles that have several, are as in `near_q` (nq; NULL: the rest pose); joints that no goal feels are at rest.
 * Places the nodes of the pose; ULNA_ERR_NUMBER, and q unchanged, if the places are not finite. `q` may be `near_q`.
 * Does not allocate.
 */
ulna_status ulna_reduced_to_q(const ulna_reduced *reduced, const ulna_problem *problem, const ulna_reduced_pose *pose,
                              const double *near_q, double *q);

#endif
