/* calibrate_take.h: the take of bench_calibrate, and the prototype beside it. */
#ifndef ULNA_BENCH_CALIBRATE_TAKE_H
#define ULNA_BENCH_CALIBRATE_TAKE_H

#include "support.h"
#include "ulna/calibrate.h"

typedef struct calibrate_take {
    ulna_content skeleton, markers;
    ulna_take *clean; /* markers by names */
} calibrate_take;

/* 0 if it cannot be read. */
int calibrate_take_load(const bench_take *from, calibrate_take *take);
void calibrate_take_free(calibrate_take *take);
/* The clean take's attachment and axes with another recording, model or set; NULL: the clean one's. */
ulna_take *calibrate_take_with(const calibrate_take *take, const ulna_recording *recording, const ulna_model *model,
                               const ulna_marker_set *set);
/* The same recording with gaps, swaps and strays, the same every time. */
ulna_recording calibrate_take_dirty(const calibrate_take *take);
/* Metres, over the whole clean take. */
double calibrate_take_rms(const calibrate_take *take, const ulna_calibration *found);

/* What the prototype printed: milliseconds, centimetres. */
typedef struct calibrate_yardstick {
    double offsets_ms, offsets_cm, lengths_ms, lengths_cm;
} calibrate_yardstick;

/* Builds and runs it where ../shared/prototypes (or $ULNA_PROTOTYPES) is; stops it after the first take. 0 if there is none. */
int calibrate_yardstick_run(calibrate_yardstick *yardstick);

#endif
