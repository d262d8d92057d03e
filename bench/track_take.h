/* track_take.h: the take of bench_track: a skeleton, where its markers sit, and where they were seen. */
#ifndef ULNA_BENCH_TRACK_TAKE_H
#define ULNA_BENCH_TRACK_TAKE_H

#include "ulna/mocap.h"

typedef struct track_take {
    ulna_model *model;   /* thumbs welded: no marker sees them */
    ulna_marker_set set; /* calibrated offsets */
    int frames, markers;
    double *goals; /* frames x markers x 3: metres, axes of the model; all seen in all frames */
} track_take;

/* HDM_dg_03-05_02 from $ULNA_DATA or ../shared/data, the offsets from the oracles beside it. 0 if it is not there. */
int track_take_load(track_take *take);
void track_take_free(track_take *take);
const double *track_take_goals(const track_take *take, int frame);

#endif
