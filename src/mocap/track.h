/* track.h (private): what a tracker and a whole take share. */
#ifndef ULNA_SRC_MOCAP_TRACK_H
#define ULNA_SRC_MOCAP_TRACK_H

#include <math.h>
#include <stdatomic.h>

#include "ulna/mocap.h"

typedef struct ulna_track_matching {
    ulna_marker_set used; /* what the set and the recording have in common */
    int *source;          /* used.count: marker of the recording */
    size_t room;
    int unmatched, counting; /* markers of the set that are never seen; that are, with a weight */
} ulna_track_matching;

typedef struct ulna_track_outcome {
    ulna_status status;
    ulna_error error;
    double usual; /* the tracker's, in the end */
} ulna_track_outcome;

typedef struct ulna_track_job {
    const ulna_model *model;
    const ulna_recording *recording;
    const ulna_track_matching *matching;
    const double *axes;
    const ulna_track_options *options;
    ulna_clip *clip;
    ulna_frame_report *frames;
    int chunk, chunks, total;     /* frames of a chunk; chunks; frames */
    ulna_track_outcome *outcomes; /* one per chunk */
    atomic_int done, cancelled;
    atomic_flag telling; /* a thread is in the progress function */
} ulna_track_job;

/* The positions of a frame, in the set's order and the model's axes. */
void ulna_track_gather(const ulna_track_job *j, int frame, double *positions);
/* How far it is. One thread tells; others do not wait for it. */
void ulna_track_tell(ulna_track_job *j);
/* Joins the chunks, and fills gaps. */
ulna_status ulna_track_stitch(ulna_track_job *j, ulna_error *error);

/* Adds whole turns to the angles of q, so that they are nearest to those of `near`; not where limits of `options` bind.
 * The same pose. */
void ulna_nearest_turns(const ulna_model *model, const ulna_options *options, const double *near, double *q);

/* Numbers, and nowhere beyond ULNA_FARTHEST_MARKER. */
static inline int ulna_is_position(const double x[3])
{
    return fabs(x[0]) <= ULNA_FARTHEST_MARKER && fabs(x[1]) <= ULNA_FARTHEST_MARKER &&
           fabs(x[2]) <= ULNA_FARTHEST_MARKER;
}

#endif
