/*
 * reduce.h (private to reduce*.c): how the nodes of a reduced tree relate to the model, and the steps of the reduction.
 *
 *   1. expand (reduce.c): links with goals on or below them become *parts*: one per hinge, translation or ball, each at
 *      an offset from its parent part. Locked degrees of freedom and fixed rotations are absorbed: with R_part the
 *      rotation of a part in the tree and C a constant, the moving frame of the model is R_part C.
 *   2. simplify (reduce_simplify.c): three rotations become a ball; parts on which no goal depends are locked, and the
 *      reduction starts again; three translations and a ball below the world become a free part.
 *   3. emit (reduce_emit.c): parts become nodes, offsets become bones, goals are assigned to nodes, and the units of
 *      length and cost are chosen.
 */
#ifndef ULNA_GLOBAL_REDUCE_H
#define ULNA_GLOBAL_REDUCE_H

#include "global/reduced.h"
#include "model/model.h"
#include "objective/problem.h"

/* A ball and the degrees of freedom that it replaces. */
typedef struct ulna_ball {
    int node;
    int of_rotations; /* 1: Rot(axis[0], q_dof[0]) Rot(axis[1], ...) Rot(axis[2], ...); 0: segments of one link */
    double axis[3][3];
    int dof[3];
    int link, segment, segment_count; /* the first segment and their number; if of_rotations, the last rotation */
    int coordinate;                   /* of the first segment */
    double frame[9];                  /* C after it */
    int translation[3];               /* FREE: the DOFs of its translations; ULNA_NONE otherwise */
    double along[3][3], base[3]; /* FREE: origin of the ball = base + sum along[k] q_translation[k], metres from home */
} ulna_ball;

/* A term and where it acts: point = p_node + R_node offset, rotation of the body = R_rotation_node frame. */
typedef struct ulna_reduced_term {
    int node;          /* that has the point goal; ULNA_NONE: the term is not active, or not supported */
    int rotation_node; /* that has the rotation cost; ULNA_NONE: none */
    int gathered;      /* the node's goal is at the centroid of several points */
    double offset[3];  /* metres, in the frame of the node's parent; of node 0: from home */
    double frame[9];
} ulna_reduced_term;

typedef struct ulna_reduction {
    const ulna_model *model;
    size_t bytes; /* of the block that this struct begins */
    int ball_count, term_count;
    ulna_ball *balls;
    ulna_reduced_term *terms; /* one per term of the problem */
    double home[3];        /* where the root is attached, in the world; offsets from the world are measured from here */
    double held;           /* metres: half the sum of the ranges of narrow translations, which are left out */
    double point_weight;   /* sum of half the weights of all point terms */
    double node0[3];       /* position of node 0, from home: origin = home + node0, but with more digits */
    double *lower, *upper; /* nv; infinite where there is no limit, or limits are ignored */
    double *q;             /* nq: rest, inside the limits; locked degrees of freedom where they are */
    unsigned char *locked; /* nv */
    double (*mean)[4];     /* per node: centroid of the points that its goal replaces (metres), and their weight */
} ulna_reduction;

/* ---- while reducing ---- */

typedef struct ulna_part {
    ulna_edge edge;    /* WORLD: part 0, and parts that were removed */
    int parent, owner; /* owner: the part that determines its rotation: itself, or for translations an ancestor */
    double offset[3];  /* from the parent's position, in its frame, metres */
    double axis[3];
    double frame[9];     /* C after it */
    double lower, upper; /* infinite for a hinge without limits */
    int dof, body, ball;
    int uses;             /* number of parts, points off its position, and rotation costs in its frame */
    int points;           /* point goals in its subtree */
    int rotation_matters; /* a goal depends on its rotation */
    int axis_matters;     /* a goal depends on the direction of its axis, which its own rotation does not change */
    int node;             /* of the tree */
    double carried[3];    /* translations: position = position of the node + R carried */
} ulna_part;

/* The frame of a link: rotation R_part C, position p_part + R_part d. */
typedef struct ulna_cursor {
    int part;
    double frame[9], offset[3];
} ulna_cursor;

typedef struct ulna_reducer {
    const ulna_problem *problem;
    const ulna_model *model;
    ulna_reduction *to;
    double tiny; /* metres: shorter lengths count as 0 */
    ulna_part *parts;
    int part_count;
    ulna_cursor *cursors;  /* nl */
    unsigned char *needed; /* nl: has a goal on it or below it */
    int limits_left_out;
    int *first_bone, *next_bone; /* per node: list of its bones */
    int *gathers;  /* per node: number of points of the rigid part; then the node of their goal, or ULNA_NONE */
    double *reach; /* per node: length of the path from node 0 */
    int anchored;  /* the position of node 0 is chosen */
} ulna_reducer;

static inline int ulna_part_is_gone(const ulna_part *part)
{
    return part->edge == ULNA_EDGE_WORLD;
}

/* Whether relaxations support this type of term. */
int ulna_reduce_is_supported(ulna_term_type type);

void ulna_reduce_expand(ulna_reducer *work);
/* Replaces three rotations by a ball, and locks DOFs on which no goal depends. Returns 1 if it locked one: expand again. */
int ulna_reduce_simplify(ulna_reducer *work);
void ulna_reduce_find_free(ulna_reducer *work);
void ulna_reduce_emit(ulna_reducer *work, ulna_reduced *reduced, ulna_gather gather);

/* Adds x to a weighted mean: x, y, z, weight. */
void ulna_reduce_average(double mean[4], double weight, const double x[3]);
void ulna_reduce_count_left_out(ulna_reduced *reduced, const ulna_problem *problem);
int ulna_reduce_is_finite(const ulna_reduced *reduced);
/* Goals, weights, rotation costs and constant from the problem, in the units of `reduced`. */
void ulna_reduce_fill(ulna_reduced *reduced, const ulna_problem *problem);

#endif
