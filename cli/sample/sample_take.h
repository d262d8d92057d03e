/*
 * sample_take.h: a take to try things on: the built-in human walks, stops, bends its knees and waves, six seconds at 120 Hz.
 *
 * Nothing in it was recorded. The true motion is known, and what is wrong with the recording is put there on purpose:
 *
 *   noise    1 mm standard deviation along each axis
 *   gaps     of single markers, 3 to 30 frames each
 *   a limb   the left arm's six markers are gone in frames 260 to 295 (0.3 s)
 *   nothing  no marker at all in frames 420 to 427
 *   a swap   LKNE and RKNE have each other's places in frames 180 to 215
 *
 * The same bytes every time: sines, and random numbers of its own (splitmix64).
 */
#ifndef ULNA_CLI_SAMPLE_TAKE_H
#define ULNA_CLI_SAMPLE_TAKE_H

#include "ulna/formats.h"

/* The files of the take: their names, NULL past the end, and what they are in a few words. */
const char *sample_take_name(int index);
const char *sample_take_text(int index);
/* Their contents. */
ulna_status sample_take_write(int index, ulna_text *text, ulna_error *error);

#endif
