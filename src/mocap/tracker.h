/*
 * tracker.h (private): what a tracker is made of. Its parts: tracker_setup.c; tracker.c, a frame; tracker_weights.c, which
 * markers to believe, and where to keep what no marker shows.
 */
#ifndef ULNA_SRC_MOCAP_TRACKER_H
#define ULNA_SRC_MOCAP_TRACKER_H

#include "ulna/global.h"
#include "ulna/mocap.h"

#define ULNA_TRACKER_OUTLIER 0.25 /* of a marker's weight: less makes it an outlier */

struct ulna_tracker {
    ulna_allocator allocator;
    const ulna_model *model;
    ulna_track_options options;
    ulna_problem *problem;
    ulna_solver *solver, *fresh;
    ulna_global *global; /* NULL: not asked for */
    int count;           /* markers: terms 0 .. count - 1 */
    int posture_term, smooth_term;
    int nq, nv;
    double *q1, *q2, *trial, *start, *kept; /* nq */
    double *good;                           /* nq: the last pose that was not lost */
    double *prior;                          /* nq: goal of the posture term: rest, or where a limb was last seen */
    double *step;                           /* nv */
    double *weight, *distance;              /* count */
    int *body, *outlier;                    /* count: whose it is; frames in a row that it has been an outlier */
    unsigned char *idle;                    /* nv: no marker ever moves it */
    unsigned char *anchored;                /* nb: a term of the caller's is about it */
    unsigned char *carries, *is_held;       /* nb: a marker that counts sits on it, or beyond it; held by the prior */
    double *offset, *seen;                  /* count x 3: on the body; this frame's positions */
    double *m1, *m2; /* count x 3: where the markers of the poses q1, q2 are; with a robust loss */
    size_t bytes;
    int history;      /* frames that q1, q2 hold: 0, 1, 2 */
    int age;          /* frames that made `usual` */
    double usual;     /* running mean of the cost; without meaning at age 0 */
    double last_f;    /* that of q1, posture and all */
    double tolerated; /* cost up to which no new search pays: the last ended there. 0: none */
    int patience;     /* frames that it is still believed */
    int was_lost;     /* the last frame */
    int held;         /* bodies that are */
    int has_jumped;   /* the frame's pose does not go on from q1 */
    ulna_work *work;  /* that stands at the last answer, if `placed` */
    int placed;
    int is_measured; /* `distance` is that of the last answer */
};

/* ---- tracker_setup.c --------------------------------------------------------------------------------------------- */

/* As if q had been the last frame, where a cost of `usual` was usual. */
void ulna_tracker_resume(ulna_tracker *t, const double *q, double usual);

/* ---- tracker_weights.c: which markers to believe ----------------------------------------------------------------- */

/* What is left of the weight of a marker at distance r, and rho(r), whose derivative is r times that. */
double ulna_robust_factor(const ulna_track_options *o, double r);
double ulna_robust_cost(const ulna_track_options *o, double r);
/* Weighs markers by t->distance; returns the largest change of a weight. Nothing is touched if that is small. */
double ulna_tracker_weigh(ulna_tracker *t);
void ulna_tracker_weigh_evenly(ulna_tracker *t);
/* Before a fresh start, which knows no course: evenly, but for what is too far from the others to be on the same skeleton. */
void ulna_tracker_weigh_possible(ulna_tracker *t);
/* Before the first step: by the distance from where the markers were going. */
void ulna_tracker_weigh_by_course(ulna_tracker *t);

/* ---- tracker_weights.c: what no marker shows --------------------------------------------------------------------- */

/* Joints that no marker of the set, nor a term of the caller's, ever moves are left out of the solving. */
void ulna_tracker_rest_idle(ulna_tracker *t, const ulna_marker_set *set);
/* Joints that no marker moves in this frame stay where they are. To be called where markers, or weights, have changed. */
void ulna_tracker_hold_unseen(ulna_tracker *t);
/* Nothing is held: the prior is rest. */
void ulna_tracker_hold_nothing(ulna_tracker *t);

#endif
