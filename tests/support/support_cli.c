/* Runs the command-line tool: support_tool.h for tests that want no state of their own. */
#include "support_cli.h"

#include <string.h>

#include "support.h"
#include "support_tool.h"

static ulna_test_tool *tool; /* of the test that runs */

int ulna_test_cli_set_up(void **state)
{
    (void)state;
    return ulna_test_tool_open((void **)&tool);
}

int ulna_test_cli_tear_down(void **state)
{
    (void)state;
    return ulna_test_tool_close((void **)&tool);
}

int ulna_test_cli(const char *arguments)
{
    return ulna_test_tool_run(tool, arguments);
}

const char *ulna_test_cli_out(void)
{
    return tool->out;
}

const char *ulna_test_cli_err(void)
{
    return tool->err;
}

json_t *ulna_test_cli_json(void)
{
    return ulna_test_tool_json(tool);
}

void ulna_test_assert_says(const char *text, const char *part)
{
    ulna_test_says(text, part);
}

/* ---- files ---------------------------------------------------------------------------------------------- */

void ulna_test_cli_write(const char *name, const char *text, size_t length)
{
    char path[128];
    FILE *file = fopen(ulna_test_path(path, sizeof path, tool->folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

void ulna_test_cli_write_text(const char *name, const char *text)
{
    ulna_test_cli_write(name, text, strlen(text));
}

char *ulna_test_cli_read(const char *name)
{
    return ulna_test_tool_file(tool, name);
}

/* ---- JSON ----------------------------------------------------------------------------------------------- */

long long ulna_test_json_integer(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        fail_msg("%s is no whole number", key);
    return json_integer_value(value);
}

const char *ulna_test_json_string(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        fail_msg("%s is no text", key);
    return json_string_value(value);
}

double ulna_test_json_median(json_t *object, const char *key)
{
    json_t *value = json_object_get(json_object_get(object, key), "median");
    json_t *most = json_object_get(json_object_get(object, key), "max");
    if (!json_is_number(value) || !json_is_number(most))
        fail_msg("%s has no median or no max", key);
    assert_true(json_number_value(value) <= json_number_value(most));
    return json_number_value(value);
}
