/* global_yardstick.h: the prototype that reached the figures of the notes on global IK, run beside the product. */
#ifndef ULNA_BENCH_GLOBAL_YARDSTICK_H
#define ULNA_BENCH_GLOBAL_YARDSTICK_H

#include "global_scene.h"

/* Medians in milliseconds over the same poses (all joints seen, with noise), to the same accuracy: the lowest of a few
 * rounds in turns. */
typedef struct global_yardstick {
    double f2_ms, f3_ms;         /* the prototype's */
    double our_f2_ms, our_f3_ms; /* ours */
} global_yardstick;

/* Builds it into a new folder where ../shared/prototypes (or $ULNA_PROTOTYPES) is. 0 if there is none. */
int global_yardstick_build(char folder[64]);
/* On the first `count` poses. 0 if it does not say what is expected. */
int global_yardstick_run(const char *folder, const global_skeleton *skeleton, int count, global_yardstick *yardstick);
void global_yardstick_remove(const char *folder);

#endif
