/* support_tool.h: the command-line tool in a folder of its own, run as its users run it. */
#ifndef ULNA_TESTS_SUPPORT_TOOL_H
#define ULNA_TESTS_SUPPORT_TOOL_H

#include <jansson.h>
#include <string.h>

#include "support.h"

#ifndef ULNA_TEST_CLI
#define ULNA_TEST_CLI "" /* the tool is not part of this build */
#define ULNA_TEST_FAULTY_CLI ""
#endif

typedef struct ulna_test_tool {
    const char *program; /* ULNA_TEST_CLI, or ULNA_TEST_FAULTY_CLI (tests/cli/faults) */
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
/* Runs `ulna COMMAND --json ARGUMENTS`, which must end with this exit code, and returns the object that it prints. */
json_t *ulna_test_tool_run_json(ulna_test_tool *tool, const char *command, const char *arguments, int code);
/* Runs a shell script in the folder; fails the test if the script does. */
void ulna_test_tool_shell(const ulna_test_tool *tool, const char *script);
/* The whole file of the folder, with a zero byte at its end; free() it. */
char *ulna_test_tool_file(const ulna_test_tool *tool, const char *name);

/* Fails the test unless each file *.csv below this folder can be read as it is by programs for tables: the first line names all
 * columns, each by another name, every line has as many cells as the first, and no line is empty or a comment. Returns how many. */
int ulna_test_tool_tables(const ulna_test_tool *tool, const char *folder);

/* Fails the test unless the part occurs in the text. */
void ulna_test_says(const char *text, const char *part);

/* Fails the test if the numbers are further apart than the tolerance. */
void ulna_test_near(double value, double expected, double tolerance, const char *file, int line);
#define assert_near(value, expected, tolerance) ulna_test_near(value, expected, tolerance, __FILE__, __LINE__)
/* Above 0 too: a number that is missing reads as 0, and an error of 0 would be suspicious. */
void ulna_test_below(double value, double limit, const char *file, int line);
#define assert_below(value, limit) ulna_test_below(value, limit, __FILE__, __LINE__)

/* ---- members of an object of JSON; a missing one fails the test -------------------------------------------------- */

static inline double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("%s is missing", key);
    return json_number_value(value);
}

/* The number object.key.part. */
static inline double member(const json_t *object, const char *key, const char *part)
{
    return number(json_object_get(object, key), part);
}

static inline long long integer(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        fail_msg("%s is missing", key);
    return json_integer_value(value);
}

/* The part occurs in one of the notes. */
static inline int has_note(const json_t *object, const char *part)
{
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(object, "notes"), i, note)
    {
        if (strstr(json_string_value(note), part))
            return 1;
    }
    return 0;
}

#endif
