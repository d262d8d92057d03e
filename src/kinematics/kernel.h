/*
 * kernel.h (private): the hot loops, compiled once per instruction set from kernel.inc and chosen at run time.
 *
 * Spatial quantities are pairs of four lanes: (angular, linear), about the pose's origin. Lane 3 of the angular half
 * has the right-hand side, which makes gradient and substitution free; lane 3 of the linear half is zero.
 */
#ifndef ULNA_SRC_KERNEL_H
#define ULNA_SRC_KERNEL_H

#include "base/base.h"
#include "kinematics/pose.h"

#include <math.h>
#include <stdint.h>

typedef struct ulna_pair {
    ulna_vec4 angular, linear;
} ulna_pair;

/* Arrays that the sweeps read four at a time are padded to a multiple of four. */
static inline size_t ulna_padded(size_t count)
{
    return (count + 3) & ~(size_t)3;
}

/*
 * What the goals ask of the links, in the form that the sweeps read: points, and directions that are the same without
 * position (chordal orientation), which differ in their fourth coordinate. Each pulls with w (goal - value).
 */
typedef struct ulna_pull {
    ulna_vec4 local; /* in the link's frame; lane 3 is 1 for a point, 0 for a direction */
    ulna_vec4 goal;  /* world; lane 3 is the weight, >= 0 */
} ulna_pull;

/* All that the pulls on one link amount to, however many there are. With h = (p, 1) for a point relative to the origin and
 * h = (d, 0) for a direction, r its residual: the columns of sum w h hT = [Q s; sT n] and of sum w h rT = [M; gT]. */
typedef struct ulna_pull_sums {
    ulna_vec4 square[4];
    ulna_vec4 moment[3];
} ulna_pull_sums;

/*
 * A robust loss: with d = |r|, a pull costs w rho(d) and pulls with w factor(d) r, where factor = rho' / d. The sums then have
 * w factor in place of w: their gradient is exact, their curvature that of the pull reweighted at this pose.
 */
typedef struct ulna_robust {
    ulna_loss loss;
    double *inverse; /* for each pull 1 / c^2, c the scale of the loss; 0: it counts by its square. Padded */
} ulna_robust;

typedef struct ulna_targets {
    int count;
    const int *first;      /* nl + 1: the pulls on link l are first[l] .. first[l + 1] - 1 */
    const ulna_pull *pull; /* count, sorted by link */
    const int *link;       /* count: whose it is */
    const ulna_robust *robust;
    ulna_pull_sums *sums; /* nl, out: set where a link has pulls */
    ulna_vec4 *values;    /* 2 count, out: value and residual of each pull */
    double *squares;      /* count, padded, out: of the residuals; only if the loss is not the square */
    double *weights;      /* count, padded, out: times the factors of the loss; likewise */
} ulna_targets;

/* rho(d) and factor(d) at the squared distance `square`, with `inverse` = 1 / c^2. */
static inline double ulna_loss_cost(ulna_loss loss, double square, double inverse)
{
    double u = square * inverse;
    if (loss == ULNA_LOSS_GEMAN_MCCLURE)
        return 0.5 * square / (1 + u);
    if (loss == ULNA_LOSS_CAUCHY && u > 0)
        return 0.5 * log1p(u) / inverse;
    return loss == ULNA_LOSS_HUBER && u > 1 ? (sqrt(u) - 0.5) / inverse : 0.5 * square;
}

static inline double ulna_loss_factor(ulna_loss loss, double square, double inverse)
{
    double u = square * inverse, v = 1 / (1 + u);
    if (loss == ULNA_LOSS_GEMAN_MCCLURE)
        return v * v;
    if (loss == ULNA_LOSS_CAUCHY)
        return v;
    return loss == ULNA_LOSS_HUBER && u > 1 ? 1 / sqrt(u) : 1;
}

/*
 * Terms that the sums over points cannot hold (planes, lines, geodesic orientation, aim at a point), added up per link:
 * for link extra_of[l] = k >= 0, `curvature` k is the Gauss-Newton 6x6 with its right-hand side in lane 3, six columns,
 * `second` the part of the exact second-order term that is symmetric (may be zero), and `moment` their share of g and M.
 */
typedef struct ulna_extras {
    const int *of;                /* nl, -1 for none; NULL if there are no extras at all */
    const ulna_pair *curvature;   /* 6 each */
    const ulna_pair *second;      /* 6 each; NULL: all zero */
    const ulna_vec4 *moment;      /* 4 each: g, then the columns of M */
    const unsigned char *is_flat; /* nl: the link has moments alone, its other sums mean nothing; NULL: none is so */
} ulna_extras;

/* Terms on coordinates (posture, limits, damping). `couple` is for segments of several DOFs: entry [3 j + part(i)],
 * i <= j in one segment, is added to H_ij (i = j included, beside `diagonal`), and t times `couple_second` taken off. */
typedef struct ulna_diagonal {
    const double *diagonal; /* nv */
    const double *slope;    /* nv: gradient */
    const double *couple;   /* 3 nv, or NULL */
    const double *couple_second;
} ulna_diagonal;

typedef struct ulna_elimination {
    double t;                    /* 0 Gauss-Newton ... 1 exact */
    const double *shift;         /* nv: damping, added to the diagonal */
    const unsigned char *locked; /* nv: 1 = moves by `displacement` and no other; NULL: all free */
    const double *displacement;  /* nv, read where locked; NULL: by nothing */
    int any_sign;                /* negative pivots are counted (ulna_sweep.negative), not refused */
} ulna_elimination;

/* Scratch of the sweeps, sized by the model alone. */
typedef struct ulna_sweep {
    ulna_pair *curvature; /* nl x 6: A, of the link or of its subtree */
    ulna_vec4 *moment;    /* nl x 4: g and the columns of M */
    ulna_pair *force;     /* nv: the gain K of each DOF (eliminate) or its force A S - t (tau, 0) (multiply) */
    ulna_pair *second;    /* nl x 6: symmetric second-order part of the extras */
    int has_second;
    double *pivot;    /* nv: 1 / D */
    double *lower;    /* nv x 3: unit lower factor inside blocks */
    ulna_pair *twist; /* nl: x, or the force of a subtree */
    double *size;     /* nl: how large the curvature of a subtree is, which is the scale of its rounding */
    double *path;     /* 6 x padded depth: motions of the current path */
    double *right;    /* nv: right-hand side of ulna_kernel.substitute, or what multipliers add to a step */
    int failed_dof;   /* where a pivot was not positive, or -1 */
    int negative;     /* pivots, if the elimination took any sign */
} ulna_sweep;

/*
 * Four rows beside the tree, one in each lane: the links on their way to the root, one bit each, and for all DOFs of these
 * links u (`angular`) and v (`linear`) of the rows (see lanes_up). Other DOFs are not set.
 */
typedef struct ulna_lanes {
    uint64_t *links;  /* ulna_link_words */
    uint64_t *loaded; /* likewise: links whose wrenches are set (ulna_lanes_wrench) */
    ulna_pair *dof;   /* nv */
} ulna_lanes;

/*
 * Many poses of a skeleton, one in each lane (kernel_abreast.inc). Arrays "by lanes" have ULNA_ABREAST numbers in a row for each of their
 * items, one for each pose; the kernel makes them from a row of each pose.
 */
enum { ULNA_ABREAST = 8, ULNA_ABREAST_SPOT = 7 }; /* poses; numbers of a point on the way to its link's sums */

/* What holds the coordinates of each pose, all alike: 1/2 w (q - goal)^2 for each DOF and goal. */
typedef struct ulna_abreast_hold {
    double side;               /* weight toward the poses before and after */
    const double *leap;        /* nv: one that is as far away holds nothing */
    const double *rest_weight; /* nv: toward rest */
    const double *rest;        /* nv */
    double group_weight;       /* toward the mean of a group, both counted from rest */
    int grouped, groups;
    const int *grouped_dof;      /* grouped */
    const int *group;            /* nv */
    const double *group_share;   /* groups: of a DOF in the mean */
    const double *lower, *upper; /* nv */
    double limit;                /* weight of what is beyond them */
    const double *unit;          /* nv */
    double scale;                /* all of these weights count scale times unit */
} ulna_abreast_hold;

typedef struct ulna_abreast_arrays {
    const ulna_model *model;
    const int *first;    /* nl + 1: the points on link l are first[l] .. first[l + 1] - 1 */
    int count;           /* points */
    const int *link;     /* loaded: the links with a point on them or beyond them, in order */
    const int *bare_dof; /* bare: the DOFs of the others */
    int loaded, bare;
    const double *local;         /* 3 for each point: in the link's frame */
    const double *inverse;       /* for each point 1 / c^2 of its loss; 0: the square */
    const double *metric;        /* nv: damping is lambda times this */
    const unsigned char *locked; /* nv, or NULL */
    ulna_abreast_hold hold;
    const double *weight;         /* nv: sum of what holds it, with one pose before or after */
    const double *inverse_weight; /* nv: 1 over it */
    const double *inverse_more;   /* nv: to be added to that with both */

    const double *row[ULNA_ABREAST], *before[ULNA_ABREAST], *after[ULNA_ABREAST]; /* nv each: of each pose */
    const double *points[ULNA_ABREAST]; /* 4 for each point: relative to the root's position, and weight; 0: missing */
    double *sides;                      /* by lanes: how many of before and after count, one at least */

    double *step;           /* nv by lanes, out */
    double *distance;       /* count by lanes, out */
    unsigned char *is_good; /* ULNA_ABREAST, out: all pivots were positive, so there is a step */

    /* Scratch, by lanes. */
    double *q, *q_before, *q_after, *point, *slope, *curve, *mean, *sine, *cosine, *motion, *gain, *frame, *spot, *sums;
} ulna_abreast_arrays;

static inline size_t ulna_link_words(const ulna_model *model)
{
    return ((size_t)model->nl + 63) / 64;
}

typedef struct ulna_kernel {
    const char *name;
    /* Places all links and evaluates the targets; returns f = sum w rho(|r|), or NaN if q is not finite. */
    double (*forward)(ulna_pose *pose, const double *q, const ulna_targets *targets);
    /* Lengths of the residuals of all pulls where the pose stands; with `sweep`, after the last step of `eliminate` from there, to
     * first order: its twist (w, v) moves a point p by w x p + v. */
    void (*distances)(const ulna_pose *pose, const ulna_targets *targets, const ulna_sweep *sweep, double *distances);
    /* g = gradient of the targets, extras and diagonal terms. */
    void (*gradient)(const ulna_pose *pose, const ulna_targets *targets, const ulna_extras *extras,
                     const ulna_diagonal *diagonal, ulna_sweep *sweep, double *g);
    /* The step of the damped system by elimination on the tree. ULNA_ERR_INDEFINITE if a pivot is negative and
     * ULNA_ERR_SINGULAR if it is zero to rounding; failed_dof says where. `decrease` is that of the quadratic model with
     * `diagonal` in it. Without `step` (NULL) only the factors are made, and the gains' lane 3. */
    ulna_status (*eliminate)(const ulna_pose *pose, const ulna_targets *targets, const ulna_extras *extras,
                             const ulna_diagonal *diagonal, const ulna_elimination *how, ulna_sweep *sweep,
                             double *step, double *decrease);
    /* H x = right with the factor that `eliminate` left (same locked set; locked rows give 0). x may be `right`. */
    void (*substitute)(const ulna_pose *pose, const unsigned char *locked, ulna_sweep *sweep, const double *right,
                       double *x);
    /*
     * Four rows on the factors that `eliminate` left: J of each is S . P at every DOF, P the sum of the wrenches beyond it, plus a
     * coefficient. For each block of DOFs, G the block of the elimination: u = J of the rows with what is beyond the block
     * eliminated, v = G^-1 u (0 for locked DOFs). Reads and destroys the wrenches of the links that are loaded, and, if
     * `has_coefficients`, the coefficients, which are where u goes. drift = J d0 of the four rows.
     */
    void (*lanes_up)(const ulna_pose *pose, const ulna_sweep *sweep, const ulna_lanes *lanes, int has_coefficients,
                     double drift[4]);
    /* The centre of mass relative to the pose's origin, and its velocity by the twists of the links; lane 3 says nothing. */
    void (*centre)(const ulna_pose *pose, double place[4]);
    void (*centre_velocity)(const ulna_pose *pose, const ulna_sweep *sweep, double velocity[4]);
    /* nl: share of the mass times its place, summed over the subtree of each link, and in lane 3 the sum of the shares. */
    void (*centre_sums)(const ulna_pose *pose, ulna_vec4 *sums);
    /* Adds the wrenches of rows n . (centre of mass) to all links with mass, and loads them: `normal` is x, y, z of four rows,
     * 0 for other rows. */
    void (*lanes_centre)(const ulna_pose *pose, const ulna_sweep *sweep, const ulna_lanes *lanes,
                         const double normal[12]);
    /* J M^-1 JT of four rows (lines) with four others (columns): sum of u vT over their common links. `block` and its transpose
     * have `leading` doubles from one line to the next. */
    void (*lanes_product)(const ulna_model *model, const ulna_lanes *a, const ulna_lanes *b, size_t leading,
                          double *block, double *transpose);
    /* d0 + M^-1 JT beta for `count` groups of rows, four multipliers each; leaves the twists of the links. */
    void (*lanes_down)(const ulna_pose *pose, ulna_sweep *sweep, int count, const ulna_lanes *lanes, const double *beta,
                       double *step);
    /* A Gauss-Newton step for ULNA_ABREAST poses, damped by lambda = kappa f: f at most `most_f`, lambda at least `least_lambda`. */
    void (*abreast)(const ulna_abreast_arrays *arrays, double kappa, double most_f, double least_lambda);
    /* Of the same poses, the distances of the points from their goals. Returns 0 if a q is not finite. */
    int (*abreast_distances)(const ulna_abreast_arrays *arrays);
    /* Composite curvature and moments of every link's subtree, for rows and multiply. */
    void (*compose)(const ulna_pose *pose, const ulna_targets *targets, const ulna_extras *extras, ulna_sweep *sweep);
    /* After compose: g, and H(t) = GN - t S in tree rows; if `second` is given, rows hold GN and `second` holds S. */
    void (*rows)(const ulna_pose *pose, const ulna_diagonal *diagonal, double t, ulna_sweep *sweep, double *g,
                 double *rows, double *second);
    /* After compose: y = H(t) x, without any matrix. */
    void (*multiply)(const ulna_pose *pose, const ulna_diagonal *diagonal, double t, ulna_sweep *sweep, const double *x,
                     double *y);
    /* Terms on n coordinates that are degrees of freedom: 1/2 sum of w off^2, w = weight unit_d, off how far q_d is from a
     * reference (where w has the factor_d), or beyond its limits. Adds w off to the slope and w to the curve; returns f. */
    double (*posture)(int n, const double *q, const double *reference, const double *factor, const double *unit,
                      double weight, double *slope, double *curve);
    double (*limits)(int n, const double *q, const double *lower, const double *upper, const double *unit,
                     double weight, double *slope, double *curve);
} ulna_kernel;

extern const ulna_kernel ulna_kernel_portable;
#ifndef ULNA_NO_X86
extern const ulna_kernel ulna_kernel_avx2;
extern const ulna_kernel ulna_kernel_avx512;
#endif

/* By name, or the best that this CPU runs for NULL; NULL if unknown or not supported. */
const ulna_kernel *ulna_kernel_find(const char *name);

/* Where the wrenches of four rows on a link are: 6 x 4 numbers. The curvature is not needed after the elimination. */
static inline double *ulna_lanes_wrench(const ulna_sweep *sweep, int link)
{
    return (double *)(sweep->curvature + 6 * (size_t)link);
}

/* Takes the arrays by lanes from an arena (base.h). */
void ulna_abreast_take(ulna_abreast_arrays *arrays, ulna_arena *arena);

/* Takes the scratch of the sweeps from an arena (base.h). */
void ulna_sweep_take(ulna_sweep *sweep, const ulna_model *model, ulna_arena *arena);

/* A link with segments beyond the elementary six: from its placed base frame (columns x, y, z, origin) to its moved
 * frame, motions (the linear half of a rotation holds a point of its axis, not yet crossed) and bends. */
void ulna_general_link(const ulna_link *link, const double *q, ulna_vec4 frame[4], ulna_vec4 *motion, ulna_vec4 *bend);

#endif
