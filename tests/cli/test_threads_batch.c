/* `ulna batch --isolate off`: takes and calibrations in threads of one process. Under ThreadSanitizer a race ends the tool with another code. */
#include "support_batch.h"

static void threads_share_a_batch(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool,
                         ULNA " sample -q t && for s in c d e; do mkdir db/$s && cp t/human.asf db/$s/ && cp take.c3d "
                              "db/$s/human_1.c3d && cp take.c3d db/$s/human_2.c3d || exit 1; done");
    for (int round = 0; round < 2; round++) {
        const char *options = round ? "--smooth 0" : "--smooth 1";
        char line[200];
        snprintf(line, sizeof line, "db -o out --no-reports --isolate off --threads 4 --options '%s'", options);
        ulna_test_tool_shell(tool, "cp t/human.asf db/a/a.asf && cp t/human.asf db/b/b.asf");
        assert_int_equal(count_of(tool, line, 0, "done"), 18);
        assert_int_equal(count_of(tool, line, 0, "kept"), 18);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(threads_share_a_batch, open_takes, ulna_test_tool_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
