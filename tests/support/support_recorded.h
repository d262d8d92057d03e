/* support_recorded.h: the files of the folder of recorded data, one by one, for tests with ulna_test_needs. */
#ifndef ULNA_TESTS_SUPPORT_RECORDED_H
#define ULNA_TESTS_SUPPORT_RECORDED_H

#include "support.h"
#include "ulna/formats.h"

enum { ULNA_TEST_RECORDED_NAME = 160 };

/* Names of all files in a folder of the data and its subfolders, relative to the data, in order; `list` grows. */
typedef struct ulna_test_recorded {
    char (*names)[ULNA_TEST_RECORDED_NAME];
    size_t count;
} ulna_test_recorded;

void ulna_test_recorded_add(ulna_test_recorded *list, const char *folder);
void ulna_test_recorded_release(ulna_test_recorded *list);

/* Reads a file; an AMC with the ASF that its name begins with, which then is in `skeleton`. Release both in any case. */
ulna_status ulna_test_recorded_read(const char *name, ulna_content *skeleton, ulna_content *content, ulna_error *error);

#endif
