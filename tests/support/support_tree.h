/*
 * support_tree.h: random skeletons and random poses, for property tests.
 *
 *     ulna_test_rng rng = ulna_test_rng_seed(7);
 *     for (int round = 0; round < 2000; round++) {
 *         ulna_model *model = ulna_test_random_tree(&rng, NULL);
 *         double *q = ulna_test_random_q(&rng, model);
 *         ...
 *         free(q);
 *         ulna_model_destroy(model);
 *     }
 *
 * Everything goes through the public builder. A tree of the default options has 1 to 40 bodies of any shape and, over
 * a few hundred draws, every joint type, the 12 Euler orders and the shorter ones, slides and turns in any sequence,
 * swing-twists about any centre, reversed joints, turned joint frames, placements, offsets, limits, strengths, markers,
 * fixed joints in between, and parents that were added after their children.
 */
#ifndef ULNA_TESTS_SUPPORT_TREE_H
#define ULNA_TESTS_SUPPORT_TREE_H

#include "kinematics/pose.h"
#include "support.h"

typedef enum ulna_test_shape {
    ULNA_TEST_SHAPE_ANY = 0, /* one of the others, drawn per tree */
    ULNA_TEST_SHAPE_CHAIN,   /* every body hangs on the one before */
    ULNA_TEST_SHAPE_STAR,    /* every body hangs on the root */
    ULNA_TEST_SHAPE_BUSH,    /* the parent is any earlier body */
    ULNA_TEST_SHAPE_LIMBS,   /* mostly chains with a branch now and then, as animals have */
    ULNA_TEST_SHAPE_COUNT
} ulna_test_shape;

/* Chances are from 0 (never) to 1 (always), drawn per body. */
typedef struct ulna_test_tree_options {
    int min_bodies, max_bodies;
    ulna_test_shape shape;
    unsigned joints; /* bit 1u << ulna_joint_type for each type that may occur */
    int root;        /* ulna_joint_type of the root, -1 for any of `joints` */
    double fixed;    /* chance of a fixed joint where a moving one was drawn */
    double reversed; /* chance of a reversed joint */
    double turned;   /* chance of a random joint frame, and again of a turned placement */
    double offset;   /* chance of an offset */
    double limits;   /* chance of limits on a degree of freedom; they leave room on both sides of zero */
    double length_m; /* placements, offsets and markers are up to this far in each direction */
    double far_m;    /* distance of the root's placement from the world's origin */
    int markers;     /* how many, on random bodies */
    double masses;   /* chance of a mass */
} ulna_test_tree_options;

/* 1 to 40 bodies, all joint types, lengths up to 0.5 m, near the world's origin, 3 markers. */
ulna_test_tree_options ulna_test_tree_options_default(void);

/* A random model; NULL options mean the default. Never NULL: it fails the test instead. ulna_model_destroy it. */
ulna_model *ulna_test_random_tree(ulna_test_rng *rng, const ulna_test_tree_options *options);

/* One random joint of the given type. */
ulna_joint ulna_test_random_joint(ulna_test_rng *rng, ulna_joint_type type, double reversed, double turned);

/*
 * Random coordinates (nq, at least one double; free() them) inside the limits: turns within 2.5 rad of zero, rotation
 * vectors no longer than 6 rad, twists within 4.3 rad, slides within 1 m, quaternions of unit length and any direction.
 */
double *ulna_test_random_q(ulna_test_rng *rng, const ulna_model *model);

/* The same into caller-owned memory. */
void ulna_test_fill_q(ulna_test_rng *rng, const ulna_model *model, double *q);

/* A rotation drawn uniformly, row by row, and a point of a random body within 0.5 m of its origin. */
void ulna_test_random_rotation(ulna_test_rng *rng, double r[9]);
ulna_effector ulna_test_random_effector(ulna_test_rng *rng, const ulna_model *model);

/* ---- a random model with a pose placed at a random q ---- */

typedef struct ulna_test_scene {
    ulna_model *model;
    ulna_pose *pose;
    double *q;
    int nb, nv, nq;
} ulna_test_scene;

/* Rows of an effector. */
int ulna_test_jacobian_rows(const ulna_jacobian_options *options);

ulna_test_scene ulna_test_scene_open(ulna_test_rng *rng, const ulna_test_tree_options *options);
void ulna_test_scene_close(ulna_test_scene *scene);

/* ---- arrays of numbers ---- */

/* `count` zeroes, and room for one more; free() them. */
double *ulna_test_numbers(int count);
double ulna_test_largest(const double *values, int count); /* the largest |value|, 0 for none */
/* Fails unless |a - b| <= tolerance * (1 + largest |b|) in every entry. NaN is never close. */
void ulna_test_assert_close(const double *a, const double *b, int count, double tolerance, const char *what);

#endif
