/* support_batch.h: `ulna batch` on a folder of takes, and what it says of them. */
#ifndef ULNA_TESTS_SUPPORT_BATCH_H
#define ULNA_TESTS_SUPPORT_BATCH_H

#include <stdlib.h>
#include <string.h>

#include "support_take.h"
#include "support_tool.h"

#define ULNA ULNA_TEST_FAULTY_CLI

enum { FRAMES = 40 };

/* A folder db with twelve takes of two people: db/a/a_01.c3d ..., db/b/b_01.c3d ...; the skeleton is the built-in human. */
static inline int open_takes(void **state)
{
    static const char *const schedulers[] = {"SLURM_ARRAY_TASK_ID", "SGE_TASK_ID", "PBS_ARRAY_INDEX",
                                             "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX"};
    for (size_t i = 0; i < sizeof schedulers / sizeof *schedulers; i++)
        unsetenv(schedulers[i]); /* of a job that runs the tests */
    if (ulna_test_take_open(state, FRAMES))
        return -1;
    ((ulna_test_tool *)*state)->program = ULNA;
    ulna_test_tool_shell(*state, "mkdir -p db/a db/b && for i in 1 2 3 4 5 6; do cp take.c3d db/a/a_0$i.c3d; "
                                 "cp take.c3d db/b/b_0$i.c3d; done");
    return 0;
}

static inline int run(ulna_test_tool *tool, const char *arguments)
{
    char line[2000];
    snprintf(line, sizeof line, "batch %s", arguments);
    return ulna_test_tool_run(tool, line);
}

static inline void expect(ulna_test_tool *tool, const char *arguments, int code)
{
    int got = run(tool, arguments);
    if (got != code)
        fail_msg("batch %s: exit code %d, not %d:\n%s%s", arguments, got, code, tool->out, tool->err);
}

/* A row that failed says so to programs, too. */
static inline void check_error(const json_t *row)
{
    const char *status = json_string_value(json_object_get(row, "status"));
    const char *error = json_string_value(json_object_get(row, "error"));
    if (status && strcmp(status, "failed") == 0 && (!error || !*error))
        fail_msg("%s failed without an error", json_string_value(json_object_get(row, "take")));
}

/* The lines that --json printed: a list of objects. */
static inline json_t *lines_of(const char *text)
{
    json_t *list = json_array();
    while (*text) {
        size_t length = strcspn(text, "\n");
        json_t *row = json_loadb(text, length, 0, NULL);
        if (!row)
            fail_msg("this is no JSON: %.*s", (int)length, text);
        check_error(row);
        json_array_append_new(list, row);
        text += length + (text[length] == '\n');
    }
    return list;
}

/* The summary of a run with --json, which is its last line. */
static inline json_t *summary_of(ulna_test_tool *tool, const char *arguments, int code)
{
    char line[1024];
    snprintf(line, sizeof line, "--json %s", arguments);
    expect(tool, line, code);
    json_t *lines = lines_of(tool->out), *last = json_array_get(lines, json_array_size(lines) - 1);
    json_t *summary = json_incref(json_object_get(last, "summary"));
    assert_non_null(summary);
    json_decref(lines);
    return summary;
}

/* Of results.jsonl, by the name of the take. */
static inline json_t *result_of(const ulna_test_tool *tool, const char *output, const char *take)
{
    char path[100];
    snprintf(path, sizeof path, "%s/results.jsonl", output);
    char *text = ulna_test_tool_file(tool, path);
    json_t *lines = lines_of(text), *row, *found = NULL;
    size_t i;
    json_array_foreach(lines, i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "take")), take) == 0)
            found = json_incref(row);
    }
    assert_non_null(found);
    json_decref(lines);
    free(text);
    return found;
}

static inline void expect_result(const ulna_test_tool *tool, const char *output, const char *take, const char *status,
                                 const char *message)
{
    json_t *row = result_of(tool, output, take);
    assert_string_equal(json_string_value(json_object_get(row, "status")), status);
    if (message)
        ulna_test_says(json_string_value(json_object_get(row, "message")), message);
    json_decref(row);
}

static inline long long count_of(ulna_test_tool *tool, const char *arguments, int code, const char *key)
{
    json_t *summary = summary_of(tool, arguments, code);
    long long count = integer(summary, key);
    json_decref(summary);
    return count;
}

static inline json_t *planned(const json_t *plan, const char *name)
{
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(plan, "takes"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "take")), name) == 0)
            return row;
    }
    fail_msg("%s is not planned", name);
    return NULL;
}

static inline void expect_end(const json_t *row, const char *key, const char *end)
{
    const char *text = json_string_value(json_object_get(row, key));
    if (!text || strlen(text) < strlen(end) || strcmp(text + strlen(text) - strlen(end), end) != 0)
        fail_msg("%s is %s, which does not end with %s", key, text ? text : "null", end);
}

/* What --dry-run says is left, done and failed; it changes nothing in OUT. */
static inline void expect_plan(ulna_test_tool *tool, const char *arguments, int left, int done, int failed)
{
    char line[300];
    ulna_test_tool_shell(tool, "[ ! -e out ] || (find out -printf '%p %s %T@\\n'; cat out/journal/*.jsonl) >shown");
    snprintf(line, sizeof line, "%s --dry-run", arguments);
    json_t *plan = ulna_test_tool_run_json(tool, "batch", line, 0);
    assert_int_equal(integer(plan, "left"), left);
    assert_int_equal(integer(plan, "done"), done);
    assert_int_equal(integer(plan, "failed"), failed);
    json_decref(plan);
    ulna_test_tool_shell(tool,
                         "[ ! -e out ] || (find out -printf '%p %s %T@\\n'; cat out/journal/*.jsonl) | cmp - shown");
}

#endif
