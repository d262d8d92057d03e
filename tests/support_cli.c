/* Runs the command-line tool. */
#include "support_cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#ifndef ULNA_TEST_CLI
#define ULNA_TEST_CLI ""
#endif

static char folder[64];
static char *out, *err; /* what the last run said */

int ulna_test_cli_set_up(void **state)
{
    (void)state;
    if (!*ULNA_TEST_CLI) {
        print_message("the tool is not part of this build\n");
        skip();
    }
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("COLUMNS");
    strcpy(folder, "/tmp/ulna-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

int ulna_test_cli_tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    free(out);
    free(err);
    out = err = NULL;
    return system(command);
}

int ulna_test_cli(const char *arguments)
{
    char command[2048];
    free(out);
    free(err);
    snprintf(command, sizeof command, "cd %s && { %s %s; } >.out 2>.err", folder, ULNA_TEST_CLI, arguments);
    int state = system(command);
    assert_true(state != -1 && WIFEXITED(state));
    out = ulna_test_cli_read(".out");
    err = ulna_test_cli_read(".err");
    return WEXITSTATUS(state);
}

const char *ulna_test_cli_out(void)
{
    return out;
}

const char *ulna_test_cli_err(void)
{
    return err;
}

json_t *ulna_test_cli_json(void)
{
    json_error_t problem;
    json_t *object = json_loads(out, JSON_REJECT_DUPLICATES, &problem);
    if (!object)
        fail_msg("%d: %s:\n%s", problem.line, problem.text, out);
    assert_true(json_is_object(object));
    return object;
}

void ulna_test_assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* ---- files ---------------------------------------------------------------------------------------------- */

void ulna_test_cli_write(const char *name, const char *text, size_t length)
{
    char path[128];
    FILE *file = fopen(ulna_test_path(path, sizeof path, folder, name), "wb");
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
    char path[128];
    size_t size;
    return ulna_test_read_file(ulna_test_path(path, sizeof path, folder, name), &size);
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
