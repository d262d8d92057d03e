/* global_paper.h: the convex-IK paper's relaxation, solved by libraries, beside ours. */
#ifndef ULNA_BENCH_GLOBAL_PAPER_H
#define ULNA_BENCH_GLOBAL_PAPER_H

#include "global_scene.h"

/* CPU milliseconds that DSDP takes for F1 of pose `i`, all joints seen, with noise, to a gap of 1e-6 relative to
 * 1 + |optimum|. NaN if it failed or is not in this build. */
double global_dsdp_ms(const global_skeleton *skeleton, int i);

/* F1 (DSDP) against the literal (14) (SDPA) on chains of three and five joints with noise. */
typedef struct global_literal {
    int compared; /* instances: 0 if the program sdpa, DSDP or the files are not there */
    double worst; /* largest |F0 - F1| / F1 */
} global_literal;

global_literal global_compare_literal(void);

#endif
