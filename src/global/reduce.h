/*
 * reduce.h (private to reduce*.c): how the nodes of a reduced tree and the model belong together, and the steps of the
 * reduction.
 *
 *   1. expand (reduce.c): the links that carry goals become *parts*: one per hinge, slide or ball, each at an
 *      offset from its parent part. Held degrees of freedom and fixed rotations are absorbed: with R_part the rotation
 *      of a part in the tree and C a constant, the moving frame of the model is R_part C.
 *   2. simplify (reduce_simplify.c): three turns become a ball; parts that no goal feels are locked, and the reduction
 *      starts again; three slides and a ball below the world become a free part.
 *   3. emit (reduce_emit.c): parts become nodes, offsets become bones, goals find their nodes, lengths their scale.
 */
#ifndef ULNA_GLOBAL_REDUCE_H
#define ULNA_GLOBAL_REDUCE_H

#include "global/reduced.h"
#include "model/model.h"
#include "objective/problem.h"

/* A ball and the degrees of freedom that it stands for. */
typedef struct ulna_ball {
    int node;
    int turns; /* 1: Rot(axis[0], q_dof[0]) Rot(axis[1], ...) Rot(axis[2], ...); 0: segments of one link, see below */
    double axis[3][3];
    int dof[3];
    int link, segment, segment_count; /* the first and the number, all within the link; if turns, the last turn */
    int coordinate;                   /* of the first segment */
    double frame[9];                  /* C after it */
    int slide[3];                     /* FREE: the DOFs of its slides; ULNA_NONE otherwise */
    double along[3][3], base[3];      /* FREE: origin of the ball = base + sum along[k] q_slide[k], metres from home */
} ulna_ball;

/* A term and where it acts: point = p_node + R_node offset, rotation of the body = R_turned frame. */
typedef struct ulna_reduced_term {
    int node;         /* that has the point goal; ULNA_NONE: the term is not active or left out */
    int turned;       /* that has the turn; ULNA_NONE: none */
    int gathered;     /* the node's goal is at the centroid of several points */
    double offset[3]; /* metres, in the frame of the node's parent; of node 0: from home */
    double frame[9];
} ulna_reduced_term;

typedef struct ulna_reduction {
    const ulna_model *model;
    size_t bytes; /* of the block that this struct begins */
    int ball_count, term_count;
    ulna_ball *balls;
    ulna_reduced_term *terms; /* one per term of the problem */
    double home[3];           /* where the root is attached, in the world; offsets from the world count from there */
    double held;              /* metres: how far translations with narrow limits that are held may move, in all */
    double point_weight;      /* sum of half the weights of all point terms */
    double node0[3];          /* where node 0 is, likewise: origin = home + node0, to fewer digits */
    double *lower, *upper;    /* nv; infinite where there is no limit, or none was asked for */
    double *q;                /* nq: rest, inside the limits; locked degrees of freedom where they stand */
    unsigned char *locked;    /* nv */
    double (*mean)[4];        /* per node: centroid of the points that its goal stands for, and their weight; metres */
} ulna_reduction;

/* ---- while reducing ---- */

typedef struct ulna_part {
    ulna_edge edge;    /* WORLD: part 0, and parts that are gone */
    int parent, owner; /* owner: the part whose rotation this one has: itself, or for slides an ancestor */
    double offset[3];  /* from the parent's place, in its frame, metres */
    double axis[3];
    double frame[9];     /* C after it */
    double lower, upper; /* infinite for a hinge that turns all the way */
    int dof, body, ball;
    int uses;          /* what hangs on its frame: parts, points off its place, turns */
    int points;        /* point goals in its subtree */
    int felt, along;   /* its turning is felt; or only what it leaves as it is, the direction of its axis */
    int node;          /* emitted as */
    double carried[3]; /* slides: its place is the node's + R carried */
} ulna_part;

/* Where a link's frame is: at R_part C, p_part + R_part d. */
typedef struct ulna_cursor {
    int part;
    double frame[9], offset[3];
} ulna_cursor;

typedef struct ulna_reducer {
    const ulna_problem *problem;
    const ulna_model *model;
    ulna_reduction *to;
    double tiny; /* metres: lengths below are rounding */
    ulna_part *parts;
    int part_count;
    ulna_cursor *cursors;  /* nl */
    unsigned char *needed; /* nl: carries a goal, or does below */
    int limits_left_out;
    int *first_bone, *next_bone; /* per node: the bones that hang on it */
    int *gathers;                /* per node: points of the rigid part; then the node of their goal, or ULNA_NONE */
    double *reach;               /* per node: from node 0 along the tree */
    int anchored;                /* origin is chosen */
} ulna_reducer;

static inline int ulna_part_is_gone(const ulna_part *part)
{
    return part->edge == ULNA_EDGE_WORLD;
}

/* Active, and of a type that a relaxation can hold. */
int ulna_reduce_is_held_type(ulna_term_type type);

void ulna_reduce_expand(ulna_reducer *work);
/* Makes balls of turns, and holds what no goal feels. Returns 1 if it locked something: expand again. */
int ulna_reduce_simplify(ulna_reducer *work);
void ulna_reduce_find_free(ulna_reducer *work);
void ulna_reduce_emit(ulna_reducer *work, ulna_reduced *reduced, ulna_gather gather);

/* A weighted mean that grows: x, y, z, weight. */
void ulna_reduce_average(double mean[4], double weight, const double x[3]);
void ulna_reduce_count_left_out(ulna_reduced *reduced, const ulna_problem *problem);
int ulna_reduce_is_finite(const ulna_reduced *reduced);
/* Goals, weights, turns and constant from the problem, in the units of `reduced`. */
void ulna_reduce_fill(ulna_reduced *reduced, const ulna_problem *problem);

#endif
