/*
 * calibrator.h (private): the state of a calibration.
 *
 * Unknowns z: `groups` scales, then 3 offsets per marker. Markers are sorted by their bodies in depth-first order: those that
 * a degree of freedom moves are then neighbours. Poses of the key frames are no unknowns: they are solved for every z.
 */
#ifndef ULNA_SRC_CALIBRATOR_H
#define ULNA_SRC_CALIBRATOR_H

#include "base/algorithms.h"
#include "mocap/anatomy.h"
#include "mocap/marker_names.h"
#include "mocap/take.h"
#include "objective/problem.h"
#include "ulna/calibrate.h"
#include "ulna/solve.h"

enum { ULNA_PANEL_ROWS = 24 };

/* From 1, of a size. Chosen on HDM05's 01-03_01, 06-03_03, 03-02_02 and 03-05_02: the right skeleton has at most 0.016, one of 90 or 110 % at
 * least 0.051; docs/calibration.md has those it was confirmed on. */
#define ULNA_OTHER_SIZE 0.04

/* The hot loops, compiled per instruction set (reduce_kernel.inc). */
typedef struct ulna_reduce_kernel {
    /* C (width x width, by rows, blocks of 4 x 8 on and below the diagonal) += AT A; A: rows x width; width a multiple of 8. */
    void (*square)(int rows, int width, const double *A, double *C);
    /* H + shift I = LT D L without fill-in, for an H in tree rows, which becomes L (diagonal and padding mean nothing).
     * inverse_pivots: n, 1 / D, and 0 where D is zero to rounding. Returns 0 if a pivot is not finite. */
    int (*factor)(const ulna_tree *tree, double shift, double *H, double *inverse_pivots);
    /* W (n rows of `stride`) <- L^-T W. Row j holds columns 0 .. common - 1 and first[j] .. last[j] - 1, the rest is not read. */
    void (*eliminate)(const ulna_tree *tree, const double *L, int common, const int *first, const int *last,
                      size_t stride, double *W);
    /* A = L LT in the lower triangle (n x n, column-major); 0 if there is none. As ulna_dense_cholesky, but for matrices of
     * this size without the threads of a BLAS, which cost more than they save. */
    int (*cholesky)(int n, double *A);
    void (*add)(int n, const double *from, double *to);                  /* to += from */
    void (*scale)(int n, double factor, const double *from, double *to); /* to = factor from */
    /* to (n) = sum of factor[k] times row k of `rows` (6 x n) */
    void (*combine)(int n, const double factor[6], const double *rows, double *to);
    /* Three columns of the rows of W that a path names: motion (8 numbers a DOF, 3 and 7 not read) times wrench (6 x 4, the
     * last of four 0). Writes a 0 behind them. */
    void (*columns)(int depth, const int *path, const double *motion, const double wrench[24], size_t stride,
                    double *W);
} ulna_reduce_kernel;

extern const ulna_reduce_kernel ulna_reduce_portable;
#ifndef ULNA_NO_X86
extern const ulna_reduce_kernel ulna_reduce_avx2;
#endif

/* What is expected of an offset z before the take: weight (z - centre)T precision (z - centre). */
typedef struct ulna_expected {
    double centre[3];
    double precision[9]; /* 1/m^2, in the body's frame */
    double weight;       /* 1, less for places that turned out to be unlikely */
    double mirrored[3];  /* m: spread of left minus mirrored right; 0: not paired */
    double axes[9];      /* of that spread, at rest */
} ulna_expected;

/* A left and a right marker that mirror each other: left = mirror right + shift. */
typedef struct ulna_marker_pair {
    int left, right;
    double mirror[9], shift[3];
    double precision[9]; /* in the frame of the left one's body */
    double weight;
} ulna_marker_pair;

typedef struct ulna_calibrator {
    ulna_allocator allocator;
    const ulna_model *base; /* as it was given */
    const ulna_take *take;
    ulna_calibrate_options options;
    const ulna_reduce_kernel *kernel;
    int nv, nq, nb;

    /* Markers, sorted. */
    int count;
    int *source; /* in the recording */
    int *item;   /* in the set */
    int *body;
    double *weight;
    unsigned char *trunk; /* on a body that carries many: to align the root by */

    /* Scales. */
    int groups;
    int *group;             /* nb: of the body's bone, or -1 */
    int *path, *path_count; /* nb x groups, nb: groups between the root and a body */

    /* Unknowns. */
    int nz;
    double *z, *saved, *step, *gradient, *diagonal;
    double *matrix, *factor;            /* nz x nz */
    double prior, scale_prior, posture; /* of the present stage */

    /* What is expected of the offsets. */
    double unit;             /* of length: 1 m on an adult */
    double prior_unit;       /* m^2: of options.prior, where 2 cm are usual on an adult */
    ulna_expected *expected; /* count */
    ulna_marker_pair *pairs; /* pair_count of at most count */
    int pair_count;

    /* The skeleton at the scales of z, and what solves its poses. */
    ulna_model *scaled; /* NULL: base */
    double *scaled_at;  /* groups: scales of `scaled` */
    ulna_problem *problem;
    ulna_solver *solver;
    ulna_options warm, cold;
    int is_cold;
    double *dof_posture; /* nv: factors */
    double *rest;        /* nq: what poses are held to */

    /* Frames that may be used, and those that are held out. */
    int *usable, usable_count;
    int *held, held_count;

    /* Key frames. */
    int keys;
    size_t key_room;
    int *frame;
    double *q;                      /* keys x nq */
    double *f;                      /* keys */
    double *goal;                   /* keys x count x 3; NaN: missing */
    double *pull;                   /* keys x count: weights, those of the robust loss in them */
    double *saved_q, *trial, *best; /* keys x nq; nq; nq */
    double loss_scale;              /* 0: squares */
    int keeps_weights;              /* poses are solved with the weights that the keys have, and reweighed only then */

    /* Reduction. */
    int *first, *last;        /* nv: columns of W that a DOF moves */
    size_t stride;            /* of a row of W */
    double *W;                /* nv x stride: gradient, scales, offsets */
    double *rows;             /* tree rows */
    double *pivot, *slope;    /* nv */
    double *follow;           /* 3 nv */
    double *rotation;         /* nb x 9, of bodies */
    double *drift;            /* nb x groups x 3: motion of a body per unit of a scale */
    double *wrench;           /* nb x 6 x groups */
    double *mass;             /* nb x 7: weight, weighted place, weighted residual */
    double **panel, **square; /* nb */
    int *panel_rows, *panel_width;

    uint64_t random;
    int rounds, rescued, done;
    void *memory, *panel_memory;
    size_t bytes, panel_bytes;
} ulna_calibrator;

static inline double *ulna_key_q(const ulna_calibrator *c, int k)
{
    return c->q + (size_t)k * (size_t)c->nq;
}
static inline double *ulna_key_pull(const ulna_calibrator *c, int k)
{
    return c->pull + (size_t)k * (size_t)c->count;
}
static inline double *ulna_key_goal(const ulna_calibrator *c, int k)
{
    return c->goal + 3 * (size_t)k * (size_t)c->count;
}
static inline double *ulna_offset(const ulna_calibrator *c, int marker)
{
    return c->z + c->groups + 3 * marker;
}

/* calibrate.c */
/* Puts numbers in place of ULNA_AUTO. */
ulna_calibrate_options ulna_calibrate_resolve(const ulna_model *model, const ulna_calibrate_options *given);
/* Frames first .. last with at least half as many markers as the fullest one has, as `usable`; those inside the blocks apart, as `held`. */
void ulna_calibrator_choose_frames(ulna_calibrator *c, int first, int last);

/* calibrate_state.c */
/* `set`: the take's, perhaps with other bodies and offsets. */
ulna_status ulna_calibrator_create(const ulna_take *take, const ulna_marker_set *set,
                                   const ulna_calibrate_options *options, ulna_calibrator **calibrator,
                                   ulna_error *error);
void ulna_calibrator_destroy(ulna_calibrator *c);
/* Makes room for so many keys and gathers their goals from `frames`. */
ulna_status ulna_calibrator_set_keys(ulna_calibrator *c, int keys, const int *frames);
/* Where a frame of the recording has the sorted markers, in the skeleton's axes; NaN: missing. */
void ulna_calibrator_gather(const ulna_calibrator *c, int frame, double *goal);
/* Sets the weight of the posture term. */
void ulna_calibrator_set_posture(ulna_calibrator *c, double posture);
/* Brings the skeleton to the scales of z. */
ulna_status ulna_calibrator_apply(ulna_calibrator *c);

/* calibrate_poses.c */
/* Robust weight at a squared distance, and the loss there (both for weight 1). */
double ulna_calibrator_loss(const ulna_calibrator *c, double square, double *loss);
/* The pose of key k from q (in place) at the present z: f with the robust loss and posture, or INFINITY. Reweighs `rounds`
 * times. */
double ulna_key_solve(ulna_calibrator *c, int k, double *q, int cold, int rounds);
/* The pose of key k from rest, its root moved to the markers, and from `restarts` poses around that; the best into q. */
double ulna_key_start(ulna_calibrator *c, int k, int restarts, double *q);
/* All poses from where they are; the whole objective, priors included. With keep_weights the robust weights are those of the
 * solve before, as the reduced problem had them: the loss is concave in the square, so it falls where that problem does. */
ulna_status ulna_calibrator_solve_all(ulna_calibrator *c, int keep_weights, double *objective);
/* That, as it stands. */
double ulna_calibrator_objective(const ulna_calibrator *c);
/* Poses far worse than the others are tried from their neighbours and from elsewhere; how many were found. */
int ulna_calibrator_rescue(ulna_calibrator *c, int restarts);
/* Puts goals, offsets and weights of key k into the problem. */
void ulna_key_place(ulna_calibrator *c, int k);
/* Residual of marker i (world) and its place relative to the origin, as the work stands. */
void ulna_key_residual(const ulna_calibrator *c, int i, double place[3], double residual[3]);

/* calibrate_reduce.c: S and gradient over z with the poses eliminated, priors not in. */
ulna_status ulna_calibrator_reduce(ulna_calibrator *c);
/* How the joint of a body follows the unknowns in the pose of key k, which was reduced last: 3 rows of nz. */
void ulna_calibrator_joint_rows(ulna_calibrator *c, int body, double *rows);
/* How the rotation of its joint does (rotation vector in the world), and that part of the inverse of H: what a pose leaves open
 * where all unknowns are known. */
void ulna_calibrator_rotation_rows(ulna_calibrator *c, int body, double *rows, double inverse[9]);
/* Reduces key k alone, for these. */
ulna_status ulna_calibrator_reduce_key(ulna_calibrator *c, int k);

/* calibrate_prior.c: what is expected of the offsets, whatever the take shows. */
/* Expected places of all markers, and pairs; `set` as for ulna_calibrator_create. */
ulna_status ulna_calibrator_expect(ulna_calibrator *c, const ulna_marker_set *set);
/* Of one frame, m^2: the variance of a marker's error divided by the number of frames that count as independent. */
double ulna_calibrator_prior(const ulna_calibrator *c);
/* m^2: that variance. */
double ulna_calibrator_frame_variance(const ulna_calibrator *c);
/* Weights by how far the present offsets are from what is expected. */
void ulna_calibrator_weigh_expectations(ulna_calibrator *c);
/* The sum over markers and pairs at the present z, without c->prior. */
double ulna_calibrator_expectation(const ulna_calibrator *c);
/* `scale` times its second derivatives into the lower triangle of `matrix`, and its slope into `gradient` (may be NULL). */
void ulna_calibrator_add_expectation(const ulna_calibrator *c, double scale, double *matrix, double *gradient);

/* calibrate_search.c: z by Levenberg-Marquardt on the reduced problem, until it falls by less than `decrease` of itself.
 * is_solved: poses, weights and f are those of the present z and stage. */
ulna_status ulna_calibrator_search(ulna_calibrator *c, double decrease, int most, int is_solved);
/* L LT x = x */
void ulna_calibrator_substitute(size_t n, const double *L, double *x);

/* calibrate_session.c */
/* The take and options->other_takes as one; `result` is empty. */
ulna_status ulna_calibrate_takes(const ulna_take *take, const ulna_calibrate_options *options, ulna_calibration *result,
                                 ulna_error *error);
/* Rest with the arms held out ('t'), hanging ('n') or halfway ('a'), into q (nq). ULNA_ERR_MODEL if the names of the bodies do not say
 * which are the arms. */
ulna_status ulna_standing_pose(const ulna_model *model, char letter, const ulna_allocator *allocator, double *q,
                               ulna_error *error);

/* calibrate_lengths.c */
/* How much longer all bones are together, with these factors (nb); NaN without any. */
double ulna_calibrate_size(const ulna_model *model, const double *scale);
/* result->lengths, and what it means for result->set. `options` are those that gave the result. Fails only without
 * memory: a trial that fails otherwise says nothing. */
ulna_status ulna_calibrate_try_lengths(const ulna_take *take, const ulna_calibrate_options *options,
                                       ulna_calibration *result, ulna_error *error);

/* calibrate_report.c */
ulna_status ulna_calibrator_report(ulna_calibrator *c, const ulna_marker_set *set, ulna_calibration *result,
                                   ulna_error *error);
/* The error on the frames that were held out, which become the keys: the last thing to do. */
ulna_status ulna_calibrator_measure_held_out(ulna_calibrator *c, ulna_calibration *result);
/* The body in whose frame marker i moves least over the keys, and where it is there. */
int ulna_calibrator_nearest_body(ulna_calibrator *c, int i, double offset[3]);

/* ---- calibrate_still.c ---- */

/* The longest part of the take in which the person stands still. ULNA_ERR_ARGUMENT if that is short. */
ulna_status ulna_take_find_still(const ulna_take *take, int *first, int *last, ulna_error *error);

#endif
