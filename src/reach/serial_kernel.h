/*
 * serial_kernel.h (private): a chain in canonical form, and the loops that work on several candidates at once.
 *
 * Canonical form. Lengths are divided by the chain's own length, so that a translation by 1 counts as a rotation by 1.
 * Frame i has joint i along its z axis:
 *
 *     frame(i + 1) = frame(i) * Rz(angle[i] + q[i]) * (translation[i], Rx(tilt))      joint i revolute
 *     frame(i + 1) = frame(i) * Tz(q[i]) Rz(angle[i]) * (translation[i], Rx(tilt))    joint i prismatic
 *
 * These are Denavit and Hartenberg's parameters but for neighbours that are nearly, not quite, parallel: their common
 * normal is too far away, and translation[i] keeps a part along y. What is before joint 0 and behind the last joint is
 * folded into the goal, so that the origin of the last frame, which the goal is for, lies on the last axis.
 */
#ifndef ULNA_REACH_SERIAL_KERNEL_H
#define ULNA_REACH_SERIAL_KERNEL_H

#include "base/base.h"
#include "reach/serial.h"

#define ULNA_SERIAL_LANES 8 /* the most that a kernel has */

/* Samples of the inner joints, and what the scan needs to know about the last frame at each. */
typedef struct ulna_serial_table {
    int lanes;      /* samples side by side: the scan finds the best of each lane */
    int blocks;     /* samples = lanes * blocks */
    int features;   /* 7: 2p, z axis, -(|2p|^2 + 1) / 2;  10: the x axis too, if the last joint is sampled */
    float *feature; /* [block][feature][lane] */
    float *q;       /* [sample][n] */
} ulna_serial_table;

enum { ULNA_SERIAL_SMALL = 0, ULNA_SERIAL_LARGE, ULNA_SERIAL_CELLS, ULNA_SERIAL_TABLES };

struct ulna_serial {
    int n;
    int padded;                            /* joints as the kernels see them: those from n on are fixed */
    unsigned char slides[ULNA_SERIAL_MAX]; /* prismatic */
    unsigned char
        free[ULNA_SERIAL_MAX]; /* revolute with a range of a whole turn and more: it is wrapped, not clamped */
    double angle[ULNA_SERIAL_MAX], sine[ULNA_SERIAL_MAX],
        cosine[ULNA_SERIAL_MAX];            /* of `angle`, for prismatic joints */
    double translation[ULNA_SERIAL_MAX][3]; /* none behind the last joint */
    double tilt_sine[ULNA_SERIAL_MAX], tilt_cosine[ULNA_SERIAL_MAX];
    double clamp_lower[ULNA_SERIAL_MAX], clamp_upper[ULNA_SERIAL_MAX]; /* scaled; infinite for free joints */
    double no_lower[ULNA_SERIAL_MAX], no_upper[ULNA_SERIAL_MAX];       /* infinite */
    double sample_lower[ULNA_SERIAL_MAX], sample_range[ULNA_SERIAL_MAX];
    double stride[ULNA_SERIAL_MAX]; /* of the low-discrepancy sequence over all joints */
    double unit[ULNA_SERIAL_MAX];   /* metres or radians in one scaled unit */

    /* Joints that follow others (mimic joints): q[i] = ratio q[owner] + shift, scaled; owner < i. The first of a group owns it. */
    int is_coupled, freedoms; /* freedoms: owners */
    int owner[ULNA_SERIAL_MAX];
    double ratio[ULNA_SERIAL_MAX], shift[ULNA_SERIAL_MAX];
    int rank;                             /* of the derivative of the pose, but for singular poses */
    double moves[ULNA_SERIAL_MAX];        /* sum of |ratio| of all that it moves */
    unsigned char wraps[ULNA_SERIAL_MAX]; /* a whole turn more is the same pose */

    double length;   /* metres in one scaled unit */
    double reach;    /* scaled: no joint is farther from the last frame; INFINITY without limits */
    double base[12]; /* world or base body to frame 0: rotation row by row, then position, in metres */
    double tool[12]; /* last frame to the tip */
    double lower[ULNA_SERIAL_MAX], upper[ULNA_SERIAL_MAX]; /* as in the model */
    int coordinate[ULNA_SERIAL_MAX], dof[ULNA_SERIAL_MAX];

    int has_tables;
    ulna_serial_table table[ULNA_SERIAL_TABLES];
    const struct ulna_serial_kernel *kernel; /* for one problem: what few candidates need */
    const struct ulna_serial_kernel *wide;   /* for many candidates or problems: as many lanes as the CPU has */

    ulna_allocator allocator;
    size_t bytes;
};

/* A goal in canonical form. */
typedef struct ulna_serial_target {
    ulna_serial_aim aim;
    double column[4][3]; /* x, y, z axes and origin of the last frame; for SPIN and POSITION: z the axis, the point */
    double point[3];     /* that must be there, in the last frame */
    double axis[3];      /* SPIN: in the last frame */
    double arm[3];       /* from there to where the position is measured, in the last frame */
    double lever;        /* length of `arm` */
    double met_position; /* squares of errors, scaled, that meet the tolerances */
    double met_rotation;
    double certified_below; /* a bound of the errors after a step that is small enough without looking */
    double bend;            /* errors after a step are below |error - J step| + bend * |step|_1^2 */
    int folded_spin;        /* SPIN about the last joint's axis, and for the last frame's origin */
    double folded_sign;     /* of that axis along the joint's */
    int uses_table;
} ulna_serial_target;

/* Candidates, one in each lane: [joint][lane]. */
typedef struct ulna_serial_lanes {
    double q[ULNA_SERIAL_MAX][ULNA_SERIAL_LANES];
    double target[12][ULNA_SERIAL_LANES]; /* columns of ulna_serial_target */
    double damping[ULNA_SERIAL_LANES];    /* lambda = damping * cost + a floor */
    double cost[ULNA_SERIAL_LANES];       /* half the square of the error, before the last step */
    const double *lower, *upper;          /* n: the chain's limits, or infinite ones */
    const struct ulna_serial_kernel *kernel;
    const ulna_serial_target *goal; /* aim, point, axis, tolerances: the same in all lanes */
    int is_shared;                  /* lanes have different goals: none may depend on the others, to the bit */
    int stop_at_first;              /* no step as soon as a lane has converged */
    unsigned converged;             /* bits of lanes that met the goal before the step; they did not move */
    unsigned certified;             /* bits of lanes that meet it after the step */
} __attribute__((aligned(64))) ulna_serial_lanes;

/* Steps along solutions of a redundant chain. Arrays have ULNA_SERIAL_MAX entries, scaled. */
typedef struct ulna_serial_slide {
    double seed[ULNA_SERIAL_MAX],
        weight[ULNA_SERIAL_MAX];      /* the distance is sqrt(sum weight (q - seed)^2); weights > 0 */
    double cap;                       /* the longest step */
    double stop_below;                /* shorter steps than this are not made where the goal is met */
    unsigned moving;                  /* bits of lanes that may move */
    double length[ULNA_SERIAL_LANES]; /* of the step along the solutions */
    unsigned stuck;                   /* bits of lanes for which no step leads inside the limits */

    /* Traces. The point of each lane before the step: in the turn that is nearest to the seed inside the limits, how far outside the
     * limits it is, and the square of its distance from the seed. */
    double direction[ULNA_SERIAL_MAX][ULNA_SERIAL_LANES];
    double point[ULNA_SERIAL_MAX][ULNA_SERIAL_LANES], outside[ULNA_SERIAL_LANES], square[ULNA_SERIAL_LANES];
    double middle[ULNA_SERIAL_MAX];                        /* angles come back within half a turn of it */
    double lower[ULNA_SERIAL_MAX], upper[ULNA_SERIAL_MAX]; /* limits, those of free joints too */
    double share[ULNA_SERIAL_MAX];                         /* weights of squares in the distance, each joint's own */
    int is_single;                                         /* the goal leaves the chain one direction */
    int is_largest;                                        /* the distance is the largest change */
} ulna_serial_slide;

typedef struct ulna_serial_kernel {
    const char *name;
    int lanes;
    /* The target into all lanes, and zeros into the padding of q. */
    void (*aim)(const ulna_serial *chain, const ulna_serial_target *target, ulna_serial_lanes *state);
    /* One step of damped least squares in each lane. */
    void (*step)(const ulna_serial *chain, ulna_serial_lanes *state);
    /* One step towards the goal and, along its solutions, towards the seed; converged: lanes that met the goal before it. */
    void (*slide)(const ulna_serial *chain, ulna_serial_lanes *state, ulna_serial_slide *slide);
    /* One step towards the goal and along its solutions; cost: before it. */
    void (*trace)(const ulna_serial *chain, ulna_serial_lanes *state, ulna_serial_slide *slide);
    /* For each of `count` points, by their numbers: bits of the lanes of a trace that are nearer to it than the square root of `square`,
     * whole turns not counted. */
    void (*passing)(const ulna_serial *chain, const ulna_serial_slide *slide, const double (*points)[ULNA_SERIAL_MAX],
                    const int *number, int count, double square, unsigned char *here);
    /* The last frame in each lane: x, y, z axis and origin, [12][lane]. */
    void (*forward)(const ulna_serial *chain, double (*q)[ULNA_SERIAL_LANES], double (*frame)[ULNA_SERIAL_LANES]);
    /* The best sample of each lane of the table, and its score. */
    void (*scan)(const ulna_serial *chain, const ulna_serial_table *table, const ulna_serial_target *target,
                 float *score, int *sample);
    /* Candidates from `lanes` samples: the inner joints as they are, the first and the last in closed form. */
    void (*begin)(const ulna_serial *chain, const ulna_serial_table *table, const ulna_serial_target *target,
                  const int *sample, ulna_serial_lanes *state);
} ulna_serial_kernel;

extern const ulna_serial_kernel ulna_serial_kernel_portable;
#ifndef ULNA_NO_X86
extern const ulna_serial_kernel ulna_serial_kernel_avx2;
extern const ulna_serial_kernel ulna_serial_kernel_avx512;
extern const ulna_serial_kernel ulna_serial_kernel_wide_avx512;
#endif

/* By name, or for NULL the fastest that this CPU supports; NULL if unknown or not supported. */
const ulna_serial_kernel *ulna_serial_kernel_find(const char *name);
/* ulna_serial_create with a given kernel. */
ulna_status ulna_serial_create_with(const ulna_model *model, int base, int tip, const double *lower,
                                    const double *upper, const ulna_serial_kernel *kernel,
                                    const ulna_allocator *allocator, ulna_serial **chain, ulna_error *error);

/* Without calls: fmin, fmax and rint are functions on the machines that everything but kernels is compiled for. */
static inline double ulna_serial_clamp(double x, double lower, double upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

/* The nearest integer of a number below 2^51, by its last bits. */
static inline double ulna_serial_round(double x)
{
    const double rounder = 6755399441055744.0; /* 1.5 * 2^52 */
    return (x + rounder) - rounder;
}

/* An angle without whole turns: within half a turn of `near`. */
static inline double ulna_serial_unturn(double angle, double near)
{
    const double turn = 6.28318530717958647692;
    return angle - turn * ulna_serial_round((angle - near) * (1 / turn));
}

/* serial_goal.c */
void ulna_serial_target_set(const ulna_serial *chain, const ulna_serial_goal *goal, ulna_serial_target *target);
/* Another position and rotation; aim, point, axis and tolerances are those of the target. */
void ulna_serial_target_move(const ulna_serial *chain, const ulna_serial_goal *goal, ulna_serial_target *target);
/* q into one lane. */
void ulna_serial_set_lane(const ulna_serial *chain, const double *q, int lane, ulna_serial_lanes *state);
/* Metres and radians from the target, in each of the first `count` lanes, by forward kinematics. */
void ulna_serial_measure(const ulna_serial *chain, ulna_serial_lanes *state, int count, double *position,
                         double *rotation);

/* serial.c */
/* Scaled coordinates of one lane to q, as near to the seed as whole turns allow; 0 if they are outside the limits. */
int ulna_serial_accept_at(const ulna_serial *chain, double (*scaled)[ULNA_SERIAL_LANES], int lane, const double *seed,
                          double *q);
static inline int ulna_serial_accept(const ulna_serial *chain, ulna_serial_lanes *state, int lane, const double *seed,
                                     double *q)
{
    return ulna_serial_accept_at(chain, state->q, lane, seed, q);
}

/* serial_solve.c */
enum { ULNA_SERIAL_BEST = 16 }; /* samples that the scan of the small and of the large table finds */
/* The most that lambda is, times the cost: little damping finds solutions from afar sooner, more damping stays near the seed. */
#define ULNA_SERIAL_DAMPING_ANY 0.1
#define ULNA_SERIAL_DAMPING_NEAR 1.0
/* Prepares all lanes of a kernel for a goal: target and limits. */
void ulna_serial_lanes_set(const ulna_serial *chain, const ulna_serial_kernel *kernel, const ulna_serial_target *target,
                           ulna_serial_lanes *state);
/* Samples with the best scores, best first. */
void ulna_serial_find_samples(const ulna_serial *chain, const ulna_serial_table *table,
                              const ulna_serial_target *target, int *sample);
/* Samples of the whole joint space, from number `first` on. */
void ulna_serial_begin_anywhere(const ulna_serial *chain, int first, ulna_serial_lanes *state);
/* The seed in scaled units, inside the limits; angles of free joints below a turn. */
void ulna_serial_scale_seed(const ulna_serial *chain, const double *seed, double *scaled);

/* The additive recurrence of M. Roberts ("R-sequence") in `count` dimensions: sample k is the fractional part of 0.5 + k stride. */
void ulna_serial_strides(int count, double *stride);

/* serial_table.c */
void ulna_serial_tables_take(ulna_serial *chain, ulna_arena *arena);
void ulna_serial_tables_fill(ulna_serial *chain);

#endif
