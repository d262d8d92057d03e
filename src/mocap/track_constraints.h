/* track_constraints.h (private): constraints and planted feet of a whole take. */
#ifndef ULNA_SRC_MOCAP_TRACK_CONSTRAINTS_H
#define ULNA_SRC_MOCAP_TRACK_CONSTRAINTS_H

#include "mocap/track.h"

/* ---- track_feet.c ------------------------------------------------------------------------------------------------------- */

/* Adds the feet that stand in the tracked motion to the stances of the result. */
ulna_status ulna_track_find_stances(ulna_track_job *j, ulna_error *error);
/* Where the ball of a foot is, in the frame of its body; 0 for a body that is no foot, or has no toes. `pose` is overwritten. */
void ulna_track_find_ball(const ulna_model *model, ulna_pose *pose, int body, double ball[3]);
/* The axis of the world that points up, or against it. `pose` is overwritten. */
void ulna_track_find_up(const ulna_take *take, ulna_pose *pose, double up[3]);

/* ---- track_constraints.c -------------------------------------------------------------------------------------------------- */

/* Adds it to the result, in the order of first frames. */
ulna_status ulna_track_add_stance(const ulna_track_job *j, const ulna_stance *stance);

#endif
