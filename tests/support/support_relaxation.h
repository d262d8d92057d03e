/* Random reduced trees with every kind of edge, and relaxations looked at from outside. */
#ifndef ULNA_TEST_SUPPORT_RELAXATION_H
#define ULNA_TEST_SUPPORT_RELAXATION_H

#include "global/relax_kernel.h"
#include "support.h"

/* What a random tree may hold. */
typedef struct ulna_test_tree_kind {
    int free_root; /* else joined to the world */
    int balls, slides, unlimited_slides, turns;
    int planar; /* all axes alike: the range of rotations stays small */
} ulna_test_tree_kind;

/* A tree of `count` nodes, free it with ulna_test_tree_release. Goals are where a random pose has its nodes, and up to
 * `noise` off. */
ulna_reduced ulna_test_random_reduced(ulna_test_rng *rng, ulna_test_tree_kind kind, int count, double noise);
void ulna_test_tree_release(ulna_reduced *tree);
/* A pose within the limits, drawn at random; create it with ulna_reduced_pose_create. */
void ulna_test_random_pose(ulna_test_rng *rng, const ulna_reduced *tree, ulna_reduced_pose *pose);

/* The second moments of a node's quaternion (x, y, z, w), row by row, trace 1, and its mean place, after a solve. */
void ulna_test_relaxation_moments(const ulna_relaxation *r, int node, double Z[16], double place[3]);

/*
 * The same again, from its definition and in plain loops: block number `which` of a node's edge for a given pose (rank
 * one, since a pose is a distribution of one point). Returns its rows as ulna_relax_block_now does.
 */
int ulna_test_block_of_pose(const ulna_relaxation *r, const ulna_reduced *tree, const ulna_reduced_pose *pose, int node,
                            int which, double *S);

#endif
