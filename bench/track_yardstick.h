/* track_yardstick.h: the prototype that reached the figures of the notes on tracking, run beside the product. */
#ifndef ULNA_BENCH_TRACK_YARDSTICK_H
#define ULNA_BENCH_TRACK_YARDSTICK_H

/* On the same take, with the same offsets, after five runs each: with a fresh start where the track is lost, as
 * ulna has it, and without. */
typedef struct track_yardstick {
    double us, bare_us; /* microseconds a frame, the best */
    double iterations, sum_cm;
} track_yardstick;

/* Builds it into a new folder where ../shared/prototypes (or $ULNA_PROTOTYPES) is. 0 if there is none. */
int track_yardstick_build(char folder[64]);
/* Runs it; keeps the lowest times. 0 if it does not say what is expected. */
int track_yardstick_run(const char *folder, track_yardstick *yardstick);
void track_yardstick_remove(const char *folder);

#endif
