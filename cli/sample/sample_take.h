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
 * The files are the same every time.
 */
#ifndef ULNA_CLI_SAMPLE_TAKE_H
#define ULNA_CLI_SAMPLE_TAKE_H

#include "ulna/formats.h"

/* The files of the take, up to a row without a name. */
typedef struct sample_file {
    const char *name, *text; /* text: what it is, in a few words */
} sample_file;
extern const sample_file sample_take_files[];
ulna_status sample_take_write(int index, ulna_text *text, ulna_error *error);
/* Whether a recording is that of the take, whatever file it came from: it has the same gaps. */
int sample_take_is(const ulna_recording *recording);

#endif
