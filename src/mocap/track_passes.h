/* track_passes.h (private): what the passes over a whole take share. Their order, and what each is for: track_passes.c. */
#ifndef ULNA_SRC_MOCAP_TRACK_PASSES_H
#define ULNA_SRC_MOCAP_TRACK_PASSES_H

#include <math.h>

#include "mocap/track.h"
#include "mocap/tracker.h"
#include "model/model.h"

enum { ULNA_PASS_MARGIN = 10 }; /* frames around a stretch */

/* The joints of a pose, as rotations: whatever angles it has. */
typedef struct ulna_pass_joints {
    double *rotations; /* nb x 9 */
    int is_there, is_known;
} ulna_pass_joints;

/* What steps from a frame to the next count where two ways are weighed. */
typedef struct ulna_pass_steps {
    double before; /* to this frame, on the way from before */
    double across; /* to this frame of the way back, from the frame before of the other way */
    double behind; /* from this frame, on the way back */
} ulna_pass_steps;

typedef struct ulna_passes {
    ulna_track_job *j;
    ulna_error *error; /* may be NULL */
    int is_explained;  /* a failure, in `error` */
    ulna_tracker *tracker;
    int nq, nv, total;
    double *positions;                 /* of a frame */
    double *cost;                      /* total */
    double *sorted;                    /* total */
    double *usual;                     /* count: up to which the distance of a marker is no surprise */
    double *farthest;                  /* count: no distance of the marker is larger */
    double *astray;                    /* count: from which on it may have gone astray; INFINITY if it has no weight */
    unsigned char *aside;              /* total x count: not 0: astray, or around that, so it counts as missing */
    unsigned char *has_aside;          /* total: one is, in this frame */
    unsigned char *suspect;            /* total */
    unsigned char *back_lost;          /* total: the way back is lost there */
    unsigned char *hidden;             /* total x nb: no marker shows it */
    unsigned char *is_hidden_at_times; /* nb: hidden in some frames, but not in all */
    int *body_of;                      /* nq: whose coordinate it is */
    unsigned char *is_shown;           /* count: in the frame at hand */
    unsigned char *is_girdle;          /* nb: between trunk and limb, with a marker at most (anatomy.h) */
    unsigned char *is_mended;          /* nb: its joint is; others stay as they are */
    double *back;                      /* nq a frame: the way back, its last frame first */
    size_t back_room;
    double *former; /* nq a frame: poses of a stretch, before some of their joints are solved again */
    unsigned *former_flags;
    size_t former_room, former_flags_room;
    ulna_pose *pose;
    struct ulna_abreast *abreast; /* objective/problem.h; NULL: frames are swept and measured one by one */
    ulna_pass_joints joints[4];
    ulna_pass_steps *steps;     /* total + 1 */
    double *scratch;            /* nq */
    double *back_cost;          /* total */
    double *d0, *d1, *d2, *way; /* nv */
    double median, limit;       /* of the cost: from which on it stands out */
} ulna_passes;

static inline double *ulna_pass_pose(const ulna_passes *p, int frame)
{
    return ulna_clip_frame(&p->j->result->clip, frame);
}

static inline unsigned *ulna_pass_flags(const ulna_passes *p, int frame)
{
    return &p->j->result->frames[frame].flags;
}

static inline int ulna_pass_is_empty(const ulna_passes *p, int frame)
{
    return (*ulna_pass_flags(p, frame) & ULNA_TRACK_EMPTY) != 0;
}

static inline unsigned char *ulna_pass_aside(const ulna_passes *p, int frame)
{
    return p->aside + (size_t)frame * p->j->used.count;
}

/* How far marker i of the used ones is from its place on the skeleton; NaN: missing. */
static inline double ulna_pass_distance(const ulna_passes *p, int frame, size_t i)
{
    return p->j->result->distances[(size_t)frame * p->j->take->set.count + (size_t)p->j->item[i]];
}

/* ---- track_passes.c ---------------------------------------------------------------------------------------------- */

/* The positions of a frame, without markers that are set aside. */
void ulna_pass_gather(const ulna_passes *p, int frame, double *positions);
/* The tracker goes on from a frame; from nothing if that is not in the take. */
void ulna_pass_resume(ulna_passes *p, int frame);
/* Of the markers alone, a mean over those that `distances` (count) has: frames with gaps compare with others. */
double ulna_pass_cost(const ulna_passes *p, const double *distances);
/* Report, distances and cost of a frame, for the pose that it has now. */
ulna_status ulna_pass_measure(ulna_passes *p, int frame);
/* Copies the joints of the bodies b with marks[b] == mark, of a pose to another. Marks are 0 or 1. */
void ulna_pass_copy(const ulna_passes *p, const unsigned char *marks, int mark, const double *from, double *to);

/* ---- track_behind.c ---------------------------------------------------------------------------------------------- */

/* Marks the frames that stand out, and some around them. */
void ulna_pass_find_suspects(ulna_passes *p);
/* Keeps the poses of frames first .. last - 1, whose joints p->is_mended are about to be solved again; *cost: of their markers that are not
 * set aside. Then, if the other joints, which stay, do not go with what was found: puts them back. Both leave all distances measured. */
ulna_status ulna_pass_keep_former(ulna_passes *p, int first, int last, double *cost);
ulna_status ulna_pass_compare_former(ulna_passes *p, int first, int last, double cost);
/* Tracks the stretch of suspect frames that ends before `last` from behind, and joins the two ways. */
ulna_status ulna_pass_mend(ulna_passes *p, int first, int last);
ulna_status ulna_pass_mend_all(ulna_passes *p);

/* ---- track_astray.c ---------------------------------------------------------------------------------------------- */

/* Frames in which a marker may have gone astray are suspect. */
void ulna_pass_suspect_astray(ulna_passes *p);
/* Which joints of suspect frames first .. last - 1 are solved again: those near markers that may have gone astray; all where the track
 * was lost, or where no marker explains the cost. */
void ulna_pass_choose_suspects(ulna_passes *p, int first, int last);
/* Finds markers that have gone astray, and solves those stretches without them. */
ulna_status ulna_pass_leave_out_astray(ulna_passes *p);
/* Is a marker, that is set aside because it goes astray later or did before, far from the pose that was solved without it? Then one of the two is wrong. */
int ulna_pass_is_contradicted(const ulna_passes *p, int frame);

/* ---- track_bridges.c --------------------------------------------------------------------------------------------- */

ulna_status ulna_pass_find_hidden(ulna_passes *p);
void ulna_pass_bridge(ulna_passes *p);
/* Where the markers of a limb go and return, the joints that are seen would step. The steps are spread over the frames between. */
void ulna_pass_blend(ulna_passes *p);

/* ---- track_sweeps.c ---------------------------------------------------------------------------------------------- */

/* How much neighbours count, for p->abreast. */
double ulna_pass_sweep_weight(const ulna_passes *p);
ulna_status ulna_pass_sweep(ulna_passes *p);

static inline unsigned char *ulna_pass_hidden(const ulna_passes *p, int frame)
{
    return p->hidden + (size_t)frame * (size_t)p->j->take->model->nb;
}

#endif
