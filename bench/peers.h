/*
 * peers.h: other people's solvers, for bench_solvers: what they are given, and what they give back.
 *
 * A peer must not be slowed down by us. It gets the skeleton as plain arrays and a routine of a few loops for
 * residuals and Jacobian (peers_skeleton.c), and is opened once; between solves only the goals change.
 */
#ifndef ULNA_BENCH_PEERS_H
#define ULNA_BENCH_PEERS_H

#include "ulna/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a degree of freedom has brought what hangs on it. */
typedef struct peer_frame {
    double r[9], t[3];          /* columns of the rotation; translation */
    double axis[3], origin[3];  /* its own axis */
    double force[3], torque[3]; /* of the residuals beyond it, about the world's origin */
} peer_frame;

/*
 * A skeleton by its degrees of freedom, as a product of exponentials: degree of freedom i turns about, or slides
 * along, a coordinate axis of its parent's frame, and the zero pose is the frame of all. Every marker counts once.
 */
typedef struct peer_skeleton {
    int nv, markers, residuals; /* residuals = 3 x markers */
    int *parent;                /* nv: degree of freedom before it on the way from the root, -1 for none */
    int *axis;                  /* nv: 0, 1, 2 */
    int *slides;                /* nv */
    double (*origin)[3];        /* nv: a point of the axis in the zero pose */
    int *marker_dof;            /* markers: the last degree of freedom that moves it */
    double (*marker)[3];        /* markers: where it is in the zero pose */
    double *lower, *upper;      /* nv */
    peer_frame *frame;          /* nv: scratch */
} peer_skeleton;

/* 0 if the skeleton has a joint that does not fit the description above. */
int peer_skeleton_open(const ulna_model *model, peer_skeleton *s);
void peer_skeleton_close(peer_skeleton *s);

/* Frames at q; the calls below are about them. */
void peer_forward(const peer_skeleton *s, const double *q);
void peer_marker(const peer_skeleton *s, int marker, double place[3]);
/* All residuals place - goal, and J unless NULL: entry (row, column) at row * row_stride + column * column_stride. */
void peer_residuals(const peer_skeleton *s, const double *goals, double *residuals, double *jacobian, int row_stride,
                    int column_stride);

/* f = 1/2 |r|^2 and its gradient (nv) unless NULL, by sums from the leaves to the root. */
double peer_gradient(const peer_skeleton *s, const double *goals, double *gradient);

/* When a peer stops. f = 1/2 |r|^2, m^2. */
typedef struct peer_stop {
    double objective; /* f at which the goals are met */
    double tolerance; /* relative decrease of f */
    double typical;   /* f at the end, for peers whose tolerance is not relative */
    int iterations;
} peer_stop;

typedef struct peer_result {
    double f;
    int iterations, evaluations;
} peer_result;

/* A solver with one setting. */
typedef struct bench_peer {
    const char *name;
    const char *text;
    int bounded; /* keeps limits */
    int variant; /* for open */
    void *(*open)(const struct bench_peer *peer, const peer_skeleton *skeleton, const peer_stop *stop);
    int (*solve)(void *self, const double *goals, double *q, peer_result *result); /* 0 if it broke down */
    void (*close)(void *self);
} bench_peer;

/* Each list ends with a peer without name. Only those that the build found are there. */
const bench_peer *bench_peers_ceres(void);
const bench_peer *bench_peers_tiny(void);
const bench_peer *bench_peers_nlopt(void);

#ifdef __cplusplus
}
#endif
#endif
