/* convert.h (private): another joint for a body of a model that is being edited, angles where one expects them, recordings to be filled. */
#ifndef ULNA_SRC_CONVERT_H
#define ULNA_SRC_CONVERT_H

#include "model/builder.h"
#include "ulna/motion.h"

/*
 * Gives body `body` of a builder made from `model` another joint, with the rest pose as near to the old one as the joint
 * can be. Degree of freedom k of the new joint is sign * from[k] of the old one, and takes over its limits and strength;
 * from[k] is ULNA_NONE for one that is not. Adds to `dropped` (may be NULL) the number of limited degrees of freedom that
 * are left behind.
 */
ulna_status ulna_builder_replace_joint(ulna_builder *builder, const ulna_model *model, int body,
                                       const ulna_joint *joint, const int from[6], int sign, int *dropped,
                                       ulna_error *error);

/*
 * Moves angles near the middle of their limits, or near rest where there are none, without changing a pose: by full turns, and
 * by the choice between the two sets of three Euler angles. Each stretch between jumps (60 degrees from one frame to the next)
 * moves as a whole, so that what is continuous stays so.
 */
ulna_status ulna_clip_home(const ulna_model *model, ulna_clip *clip);

/* As ulna_recording_resize, but positions of new frames are not set: for a reader that sets all of them. */
ulna_status ulna_recording_resize_raw(ulna_recording *recording, int marker_count, int frame_count);

#endif
