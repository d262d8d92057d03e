/* support_hdm05.h: the take of the exact-Hessian paper's Table 4, from the folder of recorded data. */
#ifndef ULNA_TESTS_SUPPORT_HDM05_H
#define ULNA_TESTS_SUPPORT_HDM05_H

#include "support.h"
#include "ulna/mocap.h"

typedef struct ulna_test_hdm05 {
    ulna_content skeleton, motion, markers; /* ASF, AMC, C3D */
    ulna_marker_set set;                    /* calibrated offsets, by the oracle file beside the data */
} ulna_test_hdm05;

/* amc(x, y, z) = c3d(y, z, x): for ulna_track. */
extern const double ulna_test_hdm05_axes[9];

/* HDM_dg_03-05_02; fails the test if a file cannot be read. It needs "hdm05 ../oracles/hdm05" (ulna_test_needs). */
ulna_test_hdm05 ulna_test_hdm05_open(void);
void ulna_test_hdm05_close(ulna_test_hdm05 *take);

#endif
