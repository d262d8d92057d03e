/* support_take.h: a take of the built-in human, made up: joints that swing, its markers where they then are. */
#ifndef ULNA_TESTS_SUPPORT_TAKE_H
#define ULNA_TESTS_SUPPORT_TAKE_H

#include "ulna/formats.h"

typedef struct ulna_test_take {
    ulna_model *model;
    ulna_clip clip;
    ulna_recording markers; /* "Eve:LFHD", ..., and last "*0", which is on no body */
} ulna_test_take;

ulna_test_take ulna_test_take_make(int frames);
void ulna_test_take_release(ulna_test_take *take);
/* To a file, in the format of its name. */
void ulna_test_take_write(const char *folder, const char *name, const ulna_model *model, const ulna_clip *clip,
                          const ulna_recording *recording);
/* Set-up of a test of the tool: a folder with such a take as take.c3d, and truth.csv, the motion that it was made from. */
int ulna_test_take_open(void **state, int frames);

#endif
