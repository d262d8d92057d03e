/* track.h (private): what a tracker and a whole take share. */
#ifndef ULNA_SRC_MOCAP_TRACK_H
#define ULNA_SRC_MOCAP_TRACK_H

#include "ulna/mocap.h"

/* Adds whole turns to the angles of q, so that they are nearest to those of `near`; not where limits bind. The same pose. */
void ulna_nearest_turns(const ulna_model *model, int bounded, const double *near, double *q);

#endif
