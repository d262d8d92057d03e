/*
 * tracker.h (private): what a tracker is made of. Its parts: tracker_setup.c; tracker.c, a frame; tracker_priors.c, what is
 * expected of a pose besides its markers.
 */
#ifndef ULNA_SRC_MOCAP_TRACKER_H
#define ULNA_SRC_MOCAP_TRACKER_H

#include "ulna/global.h"
#include "ulna/mocap.h"

struct ulna_abreast; /* objective/problem.h */

#define ULNA_TRACKER_OUTLIER 0.25 /* of a marker's weight: less makes it an outlier */
enum {
    ULNA_TRACKER_PATIENCE = 30
}; /* frames until what could not be found is looked for again, were its cost not to change */

/* The weights of the priors, nv each; without a unit: times `sum` they are m^2/rad^2. */
typedef struct ulna_prior_weights {
    double sum;     /* m^2/rad^2: of the options' weights. The scale of the term, beside that of the markers */
    double *course; /* toward where the last two frames were going */
    double *rest;   /* toward rest */
    double *whole;  /* their sum, with the curve's */
    double *course_share, *rest_share, *curve_share; /* each over `whole` */
    double curve;                                    /* toward the mean of its group, of each DOF that has one */
    int *group;                                      /* DOFs about the same axis of a chain of joints, or ULNA_NONE */
    int *grouped;                                    /* the DOFs that have one */
} ulna_prior_weights;

struct ulna_tracker {
    ulna_allocator allocator;
    const ulna_model *model;
    double length_scale;        /* m: ulna_marker_set_length_scale */
    ulna_track_options options; /* without ULNA_AUTO */
    ulna_problem *problem;
    ulna_solver *solver, *fresh;
    ulna_global *global; /* NULL: not asked for */
    int count;           /* markers: terms 0 .. count - 1 */
    int prior_term;
    int nq, nv;
    double *q1, *q2, *trial, *start, *kept; /* nq */
    double *good;                           /* nq: the last pose that was not lost */
    double *prior_goal;                     /* nq */
    double *hold_at;                        /* nq: where limbs that are not seen were seen last */
    double *velocity, *to_rest, *toward;    /* nv */
    double *prior_weight;                   /* nv: over prior.sum */
    ulna_prior_weights prior;
    int groups, grouped;              /* and how many DOFs they have */
    double *group_mean, *group_share; /* groups: at most nv. Of its mean, what each DOF makes */
    double *weight, *distance;        /* count */
    int *body, *outlier;              /* count: whose it is; frames in a row that it has been an outlier */
    unsigned char *idle;              /* nv: no marker ever moves it, or it is locked by the options */
    unsigned char *is_idle;           /* nb: no marker ever moves its joint */
    int has_locked;                   /* some DOFs are locked by the options */
    int *idle_at, idle_count;         /* coordinates of idle joints */
    int is_calibrated;       /* offsets have deviations: a calibration found them, with the posture that it expects */
    unsigned char *anchored; /* nb: a term of the caller's is about it */
    unsigned char *is_moved, *is_held; /* nb: a marker that is seen sits on it, or beyond it; or not */
    unsigned char *missing;            /* count: 1 in this frame, 2 in the last one but not in this, else 0 */
    int seen_if_whole;                 /* markers that count, if none was missing in the last two frames; else 0 */
    double *seen, *possible;           /* count x 3: this frame's positions; those of them that can be */
    size_t bytes;
    int history;                    /* frames that q1, q2 hold: 0, 1, 2 */
    int age;                        /* frames that made `usual` */
    double enough;                  /* f of a fresh start, squares and all, below which it is the last; 0 unless set */
    double usual;                   /* running median of the cost; without meaning at age 0 */
    double last_f;                  /* that of q1, priors and all */
    double tolerated;               /* cost up to which no new search pays: the last ended there. 0: none */
    int patience;                   /* frames until it is made again all the same */
    int rest_between;               /* and how many the next time: more after each search in vain */
    int was_lost;                   /* the last frame */
    int held;                       /* bodies that are */
    double *far_below, *far_above;  /* nq: limits of angles, and as much more as is far beyond them */
    int frames, beyond;             /* since the reset; of every fifth, those with a joint far beyond its limits */
    int leap;                       /* frames in a row in which most markers moved farther than the scale of the loss */
    int had_outliers;               /* the last frame */
    int has_jumped;                 /* the frame's pose does not go on from q1 */
    int is_measured;                /* `distance` is that of the last answer */
    double kappa;                   /* damping over f, from frame to frame */
    double last_step;               /* its largest component, of the frame's last step: radians or length scales */
    double weights, mean_weight;    /* of all markers: their sum; and of those that count */
    double inverse, outlier_square; /* 1 / c^2 of the loss; from which squared distance on a marker is an outlier */
    int may_loop;                   /* ulna_tracker_may_loop */
    double deadline;                /* by ulna_seconds; INFINITY: none */
};

/* ---- tracker_setup.c --------------------------------------------------------------------------------------------- */

/* Puts numbers in place of ULNA_AUTO. */
void ulna_track_options_resolve(double length_scale, ulna_track_options *options);
/* Whether limits hold the swing of some joint in a cone, by a constraint that trackers add by themselves. */
int ulna_tracker_has_cones(const ulna_model *model, const ulna_options *options);
/* Moves a pose that was not solved into the limits, and swings into their cones, if options.solve.bounded says so. */
void ulna_tracker_clamp(const ulna_tracker *t, double *q);
/* Sums up t->distance; returns the cost of the markers. */
double ulna_tracker_report(const ulna_tracker *t, ulna_frame_report *report);
/* The same for a report of a frame that has other distances now. */
double ulna_tracker_report_again(const ulna_tracker *t, ulna_frame_report *report);
/* Distances and report of the pose q for these positions, which may be missing. *cost: of the markers. */
ulna_status ulna_tracker_measure(ulna_tracker *t, const double *positions, const double *q, ulna_frame_report *report,
                                 double *cost);
/* Has the frame used up its budget? */
int ulna_tracker_is_late(const ulna_tracker *t);
/* A single step of t->problem from q, which is not evaluated. Joints that no marker ever moves may move a little. */
ulna_status ulna_tracker_step(ulna_tracker *t, const double *q, double *result);
/* As if q had been the last frame, where a cost of `usual` was usual. */
void ulna_tracker_resume(ulna_tracker *t, const double *q, double usual);

/* ---- tracker_loop.c: a solver for the usual case, without its layers ------------------------------------------------- */

/* Whether options and problem are the usual ones. */
int ulna_tracker_may_loop(const ulna_tracker *t);
/* Evaluates the problem at q: t->solver->f. */
ulna_status ulna_tracker_loop_begin(ulna_tracker *t, const double *q);
/* One step from q without an iteration around it. */
ulna_status ulna_tracker_loop_step(ulna_tracker *t, const double *q, double *result);
/* Such steps for many frames at once (ulna_tracker_abreast). */
void ulna_tracker_loop_abreast(ulna_tracker *t, struct ulna_abreast *abreast);
/* Iterates from there to q. ULNA_ERR_SINGULAR and _INDEFINITE are for the solver, from the start again. */
ulna_status ulna_tracker_loop(ulna_tracker *t, double *q, ulna_result *result);

/* ---- tracker_priors.c -------------------------------------------------------------------------------------------- */

/* The weights of all DOFs, from the options, the tree and the markers. `work` is one of t->problem. */
ulna_status ulna_tracker_set_priors(ulna_tracker *t, ulna_work *work);
/* Joints that no marker of the set, nor a term of the caller's, ever moves are left out of the solving. */
void ulna_tracker_rest_idle(ulna_tracker *t, const ulna_marker_set *set);
/* What is far beyond the limits; after idle joints are known. */
void ulna_tracker_set_far(ulna_tracker *t);
/* Is a joint far beyond its limits? */
int ulna_tracker_is_far_beyond(const ulna_tracker *t, const double *q);
/* Puts the joints that are so in q to rest in `to`. */
void ulna_tracker_put_back(const ulna_tracker *t, const double *q, double *to);
/* Which joints no marker moves in this frame. To be called where markers have appeared or disappeared. */
void ulna_tracker_find_unseen(ulna_tracker *t);
/* The prior of a frame that goes on from q1, and that of one that does not. */
void ulna_tracker_expect_course(ulna_tracker *t);
void ulna_tracker_expect_rest(ulna_tracker *t);
/* That of a frame at q between others: `sides` neighbours, `to_sides` (nv) the sum of the steps to them, `weight` in m^2/rad^2. */
void ulna_tracker_expect_neighbours(ulna_tracker *t, const double *q, const double *to_sides, double sides,
                                    double weight);
/* The same for many frames at once, held by `weight`, with a neighbour that is as far away as `leap` (nv) holding nothing. *abreast is NULL
 * if they must be solved one by one. */
ulna_status ulna_tracker_abreast(const ulna_tracker *t, const double *leap, double weight,
                                 struct ulna_abreast **abreast);

#endif
