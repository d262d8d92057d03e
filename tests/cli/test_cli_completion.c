/* `ulna help --completion`: what shells complete, asked of the shells themselves. */
#include <stdlib.h>
#include <string.h>

#include "support_tool.h"

#define ULNA ULNA_TEST_CLI

/* Every command and every option is in each script. */
static void scripts_know_all_options(void **state)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    ulna_test_tool *tool = *state;
    json_t *tables = ulna_test_tool_run_json(tool, "help", "", 0), *command, *option;
    for (size_t s = 0; s < sizeof shells / sizeof *shells; s++) {
        char arguments[40], part[100];
        size_t i, k;
        snprintf(arguments, sizeof arguments, "help --completion %s", shells[s]);
        assert_int_equal(ulna_test_tool_run(tool, arguments), 0);
        json_array_foreach(json_object_get(tables, "commands"), i, command)
        {
            ulna_test_says(tool->out, json_string_value(json_object_get(command, "name")));
            json_array_foreach(json_object_get(command, "options"), k, option)
            {
                snprintf(part, sizeof part, s == 2 ? "-l %s" : "--%s",
                         json_string_value(json_object_get(option, "name")));
                ulna_test_says(tool->out, part);
            }
        }
    }
    json_decref(tables);
    assert_int_equal(ulna_test_tool_run(tool, "help --completion tcsh"), 2);
    assert_int_equal(ulna_test_tool_run(tool, "help --completion bash --man"), 2);
    assert_int_equal(ulna_test_tool_run(tool, "help --completion bash solve"), 2);
}

/* Line -> what is offered after it, in order. In a folder with the file walk.asf. */
static const char *const cases[][2] = {
    {"ulna so", "solve"},
    {"ulna --threads 2 conv", "convert"},
    {"ulna --qu", "--quiet"},
    {"ulna --threads w", ""},
    {"ulna solve --skeleton-u", "--skeleton-unit"},
    {"ulna solve --method newton-", "newton-pcg"},
    {"ulna solve --skeleton wal", "walk.asf"},
    {"ulna solve --skeleton=wal", "walk.asf"},
    {"ulna solve -s wal", "walk.asf"},
    {"ulna solve -s hu", "human"},
    {"ulna solve wal", "walk.asf"},
    {"ulna solve --max-iter wal", ""},
    {"ulna solve --loss h", "huber"},
    {"ulna solve --attach or", "oracle"},
    {"ulna global --attach or", ""},
    {"ulna solve --bounds w", "walk.asf"},
    {"ulna compare --start r", "reference rest"},
    {"ulna reach --start r", "random"},
    {"ulna reach ar", "arm"},
    {"ulna paper table", "table3 table4"},
    {"ulna convert --unit c", "cm"},
    {"ulna batch --isolate o", "off on"},
    {"ulna batch -o wal", "walk.asf"},
    {"ulna help --completion z", "zsh"},
    {"ulna help met", "methods"},
    {"ulna help solve --meth", ""},
    {"ulna methods newton-", "newton-pcg"},
    {"ulna nonsense --q", ""},
};

/* `command` writes what the shell offers after $LINE, a word a line. A shell that is not installed is not tried. */
static void expect_all(ulna_test_tool *tool, const char *shell, const char *command)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char script[900];
        snprintf(
            script, sizeof script,
            "touch walk.asf; export LC_ALL=C; echo absent >.offered; command -v %s >/dev/null || exit 0; test -e script.%s || " ULNA
            " help --completion %s >script.%s; LINE='%s'; %s | sort | tr '\\n' ' ' >.offered; echo >>.offered",
            shell, shell, shell, shell, cases[i][0], command);
        ulna_test_tool_shell(tool, script);
        char *offered = ulna_test_tool_file(tool, ".offered");
        offered[strcspn(offered, "\n")] = 0;
        if (*offered && offered[strlen(offered) - 1] == ' ')
            offered[strlen(offered) - 1] = 0;
        if (strcmp(offered, cases[i][1]) != 0 && strcmp(offered, "absent") != 0)
            fail_msg("%s: '%s' gives '%s', not '%s'", shell, cases[i][0], offered, cases[i][1]);
        free(offered);
    }
}

static void bash_completes(void **state)
{
    expect_all(*state, "bash",
               "bash -c '. ./script.bash; COMP_WORDS=(${0//=/ = }); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _ulna; "
               "[ ${#COMPREPLY[@]} = 0 ] || printf \"%s\\n\" \"${COMPREPLY[@]}\"' \"$LINE\"");
}

static void zsh_completes(void **state)
{
    expect_all(*state, "zsh", "zsh -f " ULNA_SOURCE_DIR "/tests/cli/complete.zsh ./script.zsh \"$LINE\"");
}

static void fish_completes(void **state)
{
    expect_all(*state, "fish",
               "fish -c 'source script.fish; complete -C $argv[1]' \"$LINE\" | cut -f1 | sed 's/^--skeleton=//'");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, ulna_test_tool_open, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(scripts_know_all_options),
        TEST(bash_completes),
        TEST(zsh_completes),
        TEST(fish_completes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
