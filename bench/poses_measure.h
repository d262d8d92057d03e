/* poses_measure.h: how true the poses of a tracked take are, as bench_poses and its tests have it. */
#ifndef ULNA_BENCH_POSES_MEASURE_H
#define ULNA_BENCH_POSES_MEASURE_H

#include "ulna/mocap.h"

typedef struct poses_figures {
    double rms_cm, sum_cm;  /* of all markers and frames; sum over markers, mean over frames */
    double rms_near_cm;     /* without distances above 6 cm */
    double rms_frames_cm;   /* mean over frames of the RMS of the frame */
    int jumps15, jumps30;   /* rotations of a joint by more than so many degrees from one frame to the next */
    double jerk;            /* degrees a frame^3, root mean square over joints: third difference of joint rotations */
    double orientation_deg; /* of bones against the reference: the constant part, a mean over bones; NaN without */
    double orientation_rest_deg; /* what is left when the constant part is taken off, root mean square */
    double position_mm;          /* of joint centres against the reference, mean */
    double limits_percent;       /* of the joint angles are more than 5 degrees beyond their limits */
    double midline_mm;           /* farthest that a marker of the midline is attached from it; NaN if there is none */
} poses_figures;

/* `reference` may be NULL; its frames are those of the take. 0 if there is no memory. */
int poses_measure(const ulna_take *take, const ulna_track_result *result, const ulna_clip *reference,
                  poses_figures *figures);

#endif
