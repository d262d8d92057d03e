/* support_tool.h: the command-line tool in a folder of its own, run as its users run it. */
#ifndef ULNA_TESTS_SUPPORT_TOOL_H
#define ULNA_TESTS_SUPPORT_TOOL_H

#include <jansson.h>

#include "support.h"

#ifndef ULNA_TEST_CLI
#define ULNA_TEST_CLI "" /* the tool is not part of this build */
#endif

typedef struct ulna_test_tool {
    char folder[64];
    char *out, *err; /* what the last run said */
} ulna_test_tool;

/* Set-up and tear-down of a test: `state` points to the tool. Skips where there is none. */
int ulna_test_tool_open(void **state);
int ulna_test_tool_close(void **state);

/* Runs `ulna ARGUMENTS` in the folder and returns its exit code. */
int ulna_test_tool_run(ulna_test_tool *tool, const char *arguments);
/* Standard output of the last run, which is one JSON object and nothing else. */
json_t *ulna_test_tool_json(const ulna_test_tool *tool);
/* Runs a shell script in the folder; fails the test if the script does. */
void ulna_test_tool_shell(const ulna_test_tool *tool, const char *script);
/* The whole file of the folder, with a zero byte at its end; free() it. */
char *ulna_test_tool_file(const ulna_test_tool *tool, const char *name);

/* Fails the test unless the part occurs in the text. */
void ulna_test_says(const char *text, const char *part);

/* Fails the test if the numbers are further apart than the tolerance. */
void ulna_test_near(double value, double expected, double tolerance, const char *file, int line);
#define assert_near(value, expected, tolerance) ulna_test_near(value, expected, tolerance, __FILE__, __LINE__)
/* Above 0 too: a number that is missing reads as 0, and an error of 0 would be suspicious. */
void ulna_test_below(double value, double limit, const char *file, int line);
#define assert_below(value, limit) ulna_test_below(value, limit, __FILE__, __LINE__)

#endif
