#include "support_tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int ulna_test_tool_open(void **state)
{
    if (!*ULNA_TEST_CLI) {
        print_message("the tool is not part of this build\n");
        skip();
    }
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("COLUMNS");
    ulna_test_tool *tool = calloc(1, sizeof *tool);
    if (!tool)
        return -1;
    *state = tool;
    tool->program = ULNA_TEST_CLI;
    strcpy(tool->folder, "/tmp/ulna-test-XXXXXX");
    return mkdtemp(tool->folder) ? 0 : -1;
}

int ulna_test_tool_close(void **state)
{
    ulna_test_tool *tool = *state;
    char command[128];
    if (!tool)
        return 0;
    snprintf(command, sizeof command, "rm -rf %s", tool->folder);
    free(tool->out);
    free(tool->err);
    free(tool);
    *state = NULL;
    return system(command);
}

char *ulna_test_tool_file(const ulna_test_tool *tool, const char *name)
{
    char path[128];
    size_t size;
    return ulna_test_read_file(ulna_test_path(path, sizeof path, tool->folder, name), &size);
}

int ulna_test_tool_run(ulna_test_tool *tool, const char *arguments)
{
    char command[2048];
    free(tool->out);
    free(tool->err);
    tool->out = tool->err = NULL;
    /* ULNA_DATA is for the tests; `ulna paper` reads it as well. */
    snprintf(command, sizeof command, "unset ULNA_DATA; cd %s && { %s %s; } >.out 2>.err", tool->folder, tool->program,
             arguments);
    int state = system(command);
    assert_true(state != -1 && WIFEXITED(state));
    tool->out = ulna_test_tool_file(tool, ".out");
    tool->err = ulna_test_tool_file(tool, ".err");
    return WEXITSTATUS(state);
}

json_t *ulna_test_tool_json(const ulna_test_tool *tool)
{
    json_error_t problem;
    json_t *object = json_loads(tool->out, JSON_REJECT_DUPLICATES, &problem);
    if (!object)
        fail_msg("%d: %s:\n%s", problem.line, problem.text, tool->out);
    assert_true(json_is_object(object));
    return object;
}

json_t *ulna_test_tool_run_json(ulna_test_tool *tool, const char *command, const char *arguments, int code)
{
    char line[2048];
    snprintf(line, sizeof line, "%s --json %s", command, arguments);
    int got = ulna_test_tool_run(tool, line);
    if (got != code)
        fail_msg("exit code %d, not %d:\n%s%s", got, code, tool->out, tool->err);
    return ulna_test_tool_json(tool);
}

void ulna_test_tool_shell(const ulna_test_tool *tool, const char *script)
{
    char command[4096];
    snprintf(command, sizeof command, "cd %s && %s", tool->folder, script);
    assert_int_equal(system(command), 0);
}

/* The cells of a line of a table, cut apart in place at commas outside of quotes (RFC 4180); `at` moves behind the line. */
static int cut_line(char **at, char *cells[], int most)
{
    int count = 0, is_quoted = 0;
    cells[count++] = *at;
    for (; **at && (is_quoted || **at != '\n'); ++*at) {
        is_quoted ^= **at == '"';
        if (is_quoted || **at != ',')
            continue;
        assert_true(count < most);
        **at = 0;
        cells[count++] = *at + 1;
    }
    assert_false(is_quoted);
    if (**at)
        *(*at)++ = 0;
    return count;
}

static void check_table(char *text, const char *name)
{
    enum { MOST = 1000 };
    char *names[MOST], *cells[MOST], *at = text, *end;
    const int columns = cut_line(&at, names, MOST);
    for (int i = 0; i < columns; i++) {
        if (!*names[i] || *names[i] == '#' || (strtod(names[i], &end), !*end))
            fail_msg("%s: '%s' is no name of a column", name, names[i]);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(names[k], names[i]);
    }
    for (int line = 2; *at; line++) {
        const int count = cut_line(&at, cells, MOST);
        if (count != columns || *cells[0] == '#' || (columns == 1 && !*cells[0]))
            fail_msg("%s:%d: %d cells, not %d, or a comment: '%s'", name, line, count, columns, cells[0]);
    }
}

int ulna_test_tool_tables(const ulna_test_tool *tool, const char *folder)
{
    char line[256], path[512];
    int count = 0;
    snprintf(line, sizeof line, "find %s/%s -name '*.csv'", tool->folder, folder);
    FILE *files = popen(line, "r");
    assert_non_null(files);
    for (; fgets(path, sizeof path, files); count++) {
        size_t size;
        path[strcspn(path, "\n")] = 0;
        char *text = ulna_test_read_file(path, &size);
        check_table(text, path);
        free(text);
    }
    assert_int_equal(pclose(files), 0);
    return count;
}

void ulna_test_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

void ulna_test_near(double value, double expected, double tolerance, const char *file, int line)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s:%d: %.15g is not %.15g", file, line, value, expected);
}

void ulna_test_below(double value, double limit, const char *file, int line)
{
    if (!(value > 0 && value < limit))
        fail_msg("%s:%d: %.15g is not between 0 and %.15g", file, line, value, limit);
}
