/* keypoints.h (private): key points of marker-less systems, and a skeleton that is scaled to them. */
#ifndef ULNA_SRC_MOCAP_KEYPOINTS_H
#define ULNA_SRC_MOCAP_KEYPOINTS_H

#include "ulna/mocap.h"

typedef enum ulna_keypoint_kind {
    ULNA_KEYPOINT_JOINT = 0,         /* where the bone begins, or else where the other one ends */
    ULNA_KEYPOINT_PLACE,             /* beside it */
    ULNA_KEYPOINT_TIP,               /* the free end of a bone without a child */
    ULNA_KEYPOINT_BETWEEN_SHOULDERS, /* on the bone, between both */
    ULNA_KEYPOINT_BETWEEN_HIPS
} ulna_keypoint_kind;

typedef struct ulna_keypoint {
    const char *names; /* small letters and digits, without the side */
    int sides; /* 0: in the middle; 1: left and right; 2: left and right of a bone in the middle; 3: of a hand alone */
    const char *begins, *ends; /* bones, the first that the skeleton has */
    double at[3];              /* m: left, up, forward of the joint, for an adult of 1.75 m */
    ulna_keypoint_kind kind;
    double weight;
} ulna_keypoint;

typedef struct ulna_keypoint_system {
    const char *name;
    int count;
    int is_hand, neck_between;
    const char *names; /* in the order of their numbers */
} ulna_keypoint_system;

/* The system whose key points the recording has, by names or by numbers from 0 on: at least 70 % of them. NULL if it has none. */
const ulna_keypoint_system *ulna_keypoint_system_of(const ulna_recording *recording, int *count);
/* What a name means in that system, and its side ('l', 'r' or 0); NULL if it is not known. */
const ulna_keypoint *ulna_keypoint_named(const ulna_keypoint_system *system, const char *name, char *side);
/* The same of a marker of the recording. */
const ulna_keypoint *ulna_keypoint_of(const ulna_keypoint_system *system, const ulna_recording *recording, int marker,
                                      char *side);

/*
 * The skeleton with bones as long as the recording has them (the median over frames), the recording's key points at its joints,
 * and the rotation that stands it upright. ULNA_ERR_UNSUPPORTED if the skeleton has no bones for them, is the other hand, or of quite
 * another size.
 */
ulna_status ulna_keypoints_fit(const ulna_model *model, const ulna_recording *recording,
                               const ulna_keypoint_system *system, const ulna_allocator *allocator, ulna_model **scaled,
                               ulna_marker_set *set, double axes[9], ulna_error *error);

#endif
