/*
 * track_skeleton.h: the skeleton as peers of bench_track see it, and what a peer is.
 *
 * A peer must not be slowed down by us. It gets the skeleton as plain arrays and a routine of a few loops for
 * residuals and Jacobian, compiled for the machine, and is opened once; between frames only the goals change. (peers.h
 * has the same for bench_solvers, with turns about coordinate axes only; the bones of Acclaim skeletons have axes of
 * their own.)
 */
#ifndef ULNA_BENCH_TRACK_SKELETON_H
#define ULNA_BENCH_TRACK_SKELETON_H

#include "ulna/mocap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a degree of freedom has brought what hangs on it. */
typedef struct track_frame {
    double r[9], t[3];         /* columns of the rotation; translation */
    double axis[3], origin[3]; /* its own axis */
} track_frame;

/* A degree of freedom in the zero pose, which is the frame of all: a product of exponentials. */
typedef struct track_dof {
    int parent; /* degree of freedom before it on the way from the root, -1 for none */
    int body;   /* of the model: degrees of freedom of one joint have it in common */
    int slides;
    double axis[3], origin[3]; /* unit length; a point of it */
    double k1[9], k2[9];       /* [axis]x and its square, columns: turn = 1 + sin k1 + (1 - cos) k2 */
} track_dof;

typedef struct track_skeleton {
    int nv, markers;
    track_dof *dof;
    int *marker_dof;     /* the last degree of freedom that moves it */
    double (*marker)[3]; /* where it is in the zero pose */
    track_frame *frame;  /* nv: scratch */
} track_skeleton;

/* 0 if the skeleton has joints other than slides and turns, or markers with other weights than 1. */
int track_skeleton_open(const ulna_model *model, const ulna_marker_set *set, track_skeleton *s);
void track_skeleton_close(track_skeleton *s);

/* Frames at q; the calls below are about them. */
void track_forward(const track_skeleton *s, const double *q);
void track_marker(const track_skeleton *s, int marker, double place[3]);
/* Row-major 3 x markers by nv: residuals place - goal, and J unless NULL. */
void track_residuals(const track_skeleton *s, const double *goals, double *residuals, double *jacobian);
/* d place / d q of one degree of freedom that moves it. */
void track_column(const track_frame *at, int slides, const double place[3], double column[3]);
/* 1/2 |r|^2, m^2, and the sum of distances unless NULL, m. */
double track_errors(const track_skeleton *s, const double *goals, double *sum);

typedef struct track_result {
    int iterations, evaluations; /* iterations: 0 if it does not tell */
} track_result;

/* A solver with one setting. */
typedef struct track_peer {
    const char *name, *text;
    int variant;      /* for open */
    int predicts;     /* starts each frame from the prediction; otherwise from its own last answer */
    double tolerance; /* that it always has; 0: the loosest that is good enough */
    void *(*open)(const struct track_peer *peer, const track_skeleton *skeleton, double tolerance);
    void (*begin)(void *self, const double *q); /* a new stretch of frames, from here */
    int (*solve)(void *self, const double *goals, double *q, track_result *result); /* 0 if it broke down */
    /* Places of all markers at q by the peer's own kinematics; NULL if it has none. */
    void (*places)(void *self, const double *q, double *places);
    void (*close)(void *self);
} track_peer;

/* Each list ends with a peer without name. Only those that the build found are there. */
const track_peer *track_peers_ceres(void);
const track_peer *track_peers_simbody(void);

#ifdef __cplusplus
}
#endif
#endif
