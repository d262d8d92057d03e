/* support_swing.h: a recording of the human sample for tracking: every joint swings, no marker is ever wrong. */
#ifndef ULNA_TESTS_SUPPORT_SWING_H
#define ULNA_TESTS_SUPPORT_SWING_H

#include "support.h"
#include "ulna/mocap.h"

typedef struct ulna_test_swing {
    ulna_model *model;
    ulna_marker_set set;
    ulna_recording recording; /* "Subject:LFHD", ... in the set's order */
    double *truth;            /* frames x nq */
    int frames, nq;
} ulna_test_swing;

/* `spin`: radians a frame by which the last angle of the root grows, besides swinging. */
ulna_test_swing ulna_test_swing_make(int frames, double spin);
void ulna_test_swing_release(ulna_test_swing *s);
/* Tracks it, from options that may be NULL; fails the test if that fails. */
ulna_track_summary ulna_test_swing_track(const ulna_test_swing *s, const ulna_track_options *options, ulna_clip *clip,
                                         ulna_frame_report *frames);

#endif
