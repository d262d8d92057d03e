/* support_cli.h: runs the command-line tool as its users do, in a folder of its own. */
#ifndef ULNA_TESTS_SUPPORT_CLI_H
#define ULNA_TESTS_SUPPORT_CLI_H

#include <jansson.h>
#include <stddef.h>

/* For set-up and tear-down of a test: a fresh folder. Skips the test in a build without the tool. */
int ulna_test_cli_set_up(void **state);
int ulna_test_cli_tear_down(void **state);

/* Runs `ulna ARGUMENTS` there and returns its exit code; what it said is in the two texts until the next run. */
int ulna_test_cli(const char *arguments);
const char *ulna_test_cli_out(void);
const char *ulna_test_cli_err(void);
/* Standard output, which must be one JSON object and nothing else. */
json_t *ulna_test_cli_json(void);

void ulna_test_assert_says(const char *text, const char *part);

/* Files of the folder. */
void ulna_test_cli_write(const char *name, const char *text, size_t length);
void ulna_test_cli_write_text(const char *name, const char *text);
char *ulna_test_cli_read(const char *name); /* to be freed */

/* Members of JSON objects that must be there and be of that kind. */
long long ulna_test_json_integer(json_t *object, const char *key);
const char *ulna_test_json_string(json_t *object, const char *key);
/* The "median" of an object that has a "max" as well, not below it. */
double ulna_test_json_median(json_t *object, const char *key);

#endif
