/*
 * peers.h: other people's solvers, for bench_solvers, bench_track and bench_constraints: what they are given, and what they give back.
 *
 * A peer must not be slowed down by us. It gets the skeleton as plain arrays and a routine of a few loops for
 * residuals and Jacobian (peers_skeleton.c), compiled for the machine, and is opened once; between solves only the
 * goals change.
 */
#ifndef ULNA_BENCH_PEERS_H
#define ULNA_BENCH_PEERS_H

#include "ulna/mocap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The frame that a degree of freedom moves. */
typedef struct peer_frame {
    double r[9], t[3];          /* columns of the rotation; translation */
    double axis[3], origin[3];  /* its own axis */
    double force[3], torque[3]; /* of the residuals beyond it, about the world's origin */
} peer_frame;

/* A degree of freedom in the zero pose, in which all frames are the world's: a product of exponentials. */
typedef struct peer_dof {
    int parent; /* degree of freedom before it on the way from the root, -1 for none */
    int body;   /* of the model: degrees of freedom of one joint have it in common */
    int slides;
    int coordinate_axis;       /* 0, 1, 2 if the axis is +x, +y or +z; -1 for others */
    double axis[3], origin[3]; /* unit length; a point of it */
    double k1[9], k2[9];       /* [axis]x and its square, columns: rotation = 1 + sin k1 + (1 - cos) k2 */
} peer_dof;

typedef struct peer_skeleton {
    int nv, markers, residuals;             /* residuals = 3 x markers, and nv more with priors */
    peer_dof *dof;                          /* nv */
    int *parent, *slides, *coordinate_axis; /* nv: as in dof, and so is origin; apart for the innermost loops */
    double (*origin)[3];
    double *lower, *upper; /* nv */
    int *marker_dof;       /* markers: the last degree of freedom that moves it */
    double (*marker)[3];   /* markers: where it is in the zero pose */
    peer_frame *frame;     /* nv: scratch, and q */
    double *q;
    /* Of bench_track: Geman-McClure's scale, 0 for squares; 1/2 weight (q - goal)^2 for each degree of freedom, or NULL. */
    double loss_scale;
    double *prior_weight, *prior_goal; /* nv */
    /* Of bench_constraints: the last degrees of freedom of bodies that stay where they are at `rest`. */
    int welded[2], welded_count;
    const double *rest; /* nv */
} peer_skeleton;

/* With the markers of the set, or (NULL) the model's own. 0 if the skeleton has other joints than rotations about and
 * translations along axes, or markers with other weights than 1. */
int peer_skeleton_open(const ulna_model *model, const ulna_marker_set *set, peer_skeleton *s);
void peer_skeleton_close(peer_skeleton *s);

/* Frames at q; the calls below are about them. */
void peer_forward(const peer_skeleton *s, const double *q);
void peer_marker(const peer_skeleton *s, int marker, double place[3]);
/* d place / d q of one degree of freedom that moves it; entries `stride` apart. */
void peer_column(const peer_skeleton *s, int dof, const double place[3], double *column, int stride);
/* A marker's residual with the loss in it, so that half its square is the cost; its factor for rows of J, and how much of r rT these
 * lose: row - along r (r . row). */
void peer_apply_loss(const peer_skeleton *s, double r[3], double *factor, double *along);
/* All residuals place - goal, and J unless NULL: entry (row, column) at row * row_stride + column * column_stride. */
void peer_residuals(const peer_skeleton *s, const double *goals, double *residuals, double *jacobian, int row_stride,
                    int column_stride);
/* f, m^2: 1/2 |r|^2 unless there are loss or priors; and the sum of distances unless NULL, m. */
double peer_errors(const peer_skeleton *s, const double *goals, double *sum);
/* f and its gradient (nv), by sums from the leaves to the root. */
double peer_gradient(const peer_skeleton *s, const double *goals, double *gradient);

/* When a peer stops. */
typedef struct peer_stop {
    double objective; /* f at which the goals are met; 0: no such rule */
    double tolerance; /* relative decrease of f */
    double typical;   /* f at the end, for peers whose tolerance is not relative; 0: that of the last solve */
    int iterations;
} peer_stop;

typedef struct peer_result {
    double f;                    /* NaN if the peer does not report it */
    int iterations, evaluations; /* iterations: 0 if it does not report them */
} peer_result;

/* A solver with one setting. */
typedef struct bench_peer {
    const char *name, *text;
    int variant; /* for open */
    int bounded; /* keeps limits */
    void *(*open)(const struct bench_peer *peer, const peer_skeleton *skeleton, const peer_stop *stop);
    int (*solve)(void *self, const double *goals, double *q, peer_result *result); /* 0 if it broke down */
    void (*close)(void *self);

    /* Of bench_track alone. */
    int predicts;     /* starts each frame from the prediction; otherwise from its own last answer */
    double tolerance; /* fixed; 0: the loosest that is good enough */
    void (*begin)(void *self, const double *q); /* a new stretch of frames, from here; may be NULL */
    /* Places of all markers at q by the peer's own kinematics; NULL if it has none. */
    void (*places)(void *self, const double *q, double *places);
} bench_peer;

/* Each list ends with a peer without name. Only those that the build found are there. */
const bench_peer *bench_peers_ceres(void);
const bench_peer *bench_peers_tiny(void);
const bench_peer *bench_peers_nlopt(void);
const bench_peer *track_peers_ceres(void);
const bench_peer *track_peers_tiny(void);
const bench_peer *track_peers_simbody(void);
const bench_peer *constraint_peers_simbody(void);

#ifdef __cplusplus
}
#endif
#endif
