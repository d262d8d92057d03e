/* support_keypoints.h: key points of marker-less systems: their names, and where a skeleton in motion has them. */
#ifndef ULNA_SUPPORT_KEYPOINTS_H
#define ULNA_SUPPORT_KEYPOINTS_H

#include "support.h"
#include "ulna/mocap.h"

enum { ULNA_TEST_BODY_SYSTEMS = 4, ULNA_TEST_HAND_POINTS = 21 };

typedef struct ulna_test_keypoint_system {
    const char *name;
    int count;
} ulna_test_keypoint_system;

extern const ulna_test_keypoint_system
    ulna_test_body_systems[ULNA_TEST_BODY_SYSTEMS]; /* COCO, BODY_25, SMPL, MediaPipe */
extern const char *const ulna_test_body_names[ULNA_TEST_BODY_SYSTEMS][33];
extern const char *const ulna_test_hand_names[ULNA_TEST_HAND_POINTS];

/* 30 frames a second, all positions 0; "landmark_0" ... without names. */
ulna_recording ulna_test_keypoints_of(const char *const *names, int count, int frames);
/* The person's key points; `noise` in metres; `is_down`: y points down and z back, as in pictures. */
ulna_recording ulna_test_record_body(const ulna_model *person, const ulna_clip *clip, const char *const *names,
                                     int count, double noise, int is_down);
/* Fingers that close and open, `size` times as large as the built-in hand. */
ulna_recording ulna_test_record_hand(const ulna_model *hand, double size, int frames);

#endif
