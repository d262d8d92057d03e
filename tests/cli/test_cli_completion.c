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

/* words -> what bash offers */
static void bash_completes(void **state)
{
    static const char *const cases[][2] = {
        {"ulna so", "solve"},
        {"ulna --threads 2 conv", "convert"},
        {"ulna --qu", "--quiet"},
        {"ulna solve --skeleton-u", "--skeleton-unit"},
        {"ulna solve --method newton-", "newton-pcg"},
        {"ulna solve --skeleton wal", "walk.asf"},
        {"ulna solve -s wal", "walk.asf"},
        {"ulna solve wal", "walk.asf"},
        {"ulna solve --max-iter wal", ""},
        {"ulna batch --isolate o", "on off"},
        {"ulna batch -o wal", "walk.asf"},
        {"ulna help --completion z", "zsh"},
        {"ulna help met", "methods"},
        {"ulna methods newton-", "newton-pcg"},
        {"ulna nonsense --q", ""},
    };
    ulna_test_tool *tool = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char script[600];
        snprintf(
            script, sizeof script,
            "touch walk.asf; bash -c '. <(" ULNA
            " help --completion bash); COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _ulna; echo \"${COMPREPLY[*]}\"' >offered "
            "2>&1",
            cases[i][0]);
        ulna_test_tool_shell(tool, script);
        char *offered = ulna_test_tool_file(tool, "offered");
        offered[strcspn(offered, "\n")] = 0;
        if (strcmp(offered, cases[i][1]) != 0)
            fail_msg("'%s' gives '%s', not '%s'", cases[i][0], offered, cases[i][1]);
        free(offered);
    }
}

/* Where they are installed. */
static void zsh_and_fish_understand_theirs(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, ULNA " help --completion zsh >_ulna; " ULNA " help --completion fish >ulna.fish");
    ulna_test_tool_shell(
        tool,
        "! command -v zsh >/dev/null || { zsh -n _ulna && zsh -fc 'autoload -U compinit; compinit -u -D; . ./_ulna; [ "
        "$_comps[ulna] = _ulna ]'; }");
    ulna_test_tool_shell(
        tool,
        "! command -v fish >/dev/null || { fish -n ulna.fish && touch walk.asf && fish -c 'source ulna.fish; complete -C "
        "\"ulna so\"; complete -C \"ulna solve --method newton-\"; complete -C \"ulna solve -s walk.\"' | cut -f1 | tr '\\n' ' ' "
        "| grep -qx 'solve newton-pcg walk.asf '; }");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, ulna_test_tool_open, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(scripts_know_all_options),
        TEST(bash_completes),
        TEST(zsh_and_fish_understand_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
