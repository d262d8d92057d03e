/* support_walk.h: the take of `ulna sample`, in which a human walks, crouches and waves: its true motion, recorded anew without damage. */
#ifndef ULNA_TESTS_SUPPORT_WALK_H
#define ULNA_TESTS_SUPPORT_WALK_H

#include "support.h"
#include "ulna/mocap.h"

typedef struct ulna_test_walk {
    ulna_content skeleton, motion; /* ASF, and the true AMC; 720 frames */
    ulna_marker_set set;           /* the true offsets of 41 markers */
    ulna_recording markers;        /* where they are, with noise */
} ulna_test_walk;

/* `noise`: standard deviation along each axis, in metres. Needs the tool. */
ulna_test_walk ulna_test_walk_make(double noise);
/* The same motion with other markers; release it. */
ulna_recording ulna_test_walk_record(const ulna_test_walk *walk, const ulna_marker_set *set, double noise);
void ulna_test_walk_release(ulna_test_walk *walk);

#endif
