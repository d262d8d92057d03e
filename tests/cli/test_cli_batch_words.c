/* `ulna batch`: what its page says and in which order, what the dry run says, and what to do without sbatch. */
#include "support_batch.h"

/* ---- the overview ---------------------------------------------------------------------------------------------------------- */

static void put_line(FILE *file, const char *take, const char *facts)
{
    (void)fprintf(file, "{\"take\":\"%s\",\"subject\":\"s\",\"time\":1,\"files\":[],%s}\n", take, facts);
}

/* By verdict, then by the share of bad frames, then by the error, each of which alone would give another order. */
static void worst_takes_come_first(void **state)
{
    static const char *const facts[] = {
        "\"status\":\"done\",\"verdict\":\"trust\",\"frames\":100,\"lost\":0,\"doubtful\":0,\"rms_mm\":7",
        "\"status\":\"done\",\"verdict\":\"trust\",\"frames\":100,\"lost\":0,\"doubtful\":0,\"rms_mm\":9",
        "\"status\":\"done\",\"verdict\":\"trust\",\"frames\":1000,\"lost\":1,\"doubtful\":1,\"rms_mm\":8",
        "\"status\":\"done\",\"verdict\":\"look\",\"frames\":100,\"lost\":0,\"doubtful\":0,\"rms_mm\":2",
        "\"status\":\"done\",\"verdict\":\"look\",\"frames\":1000,\"lost\":4,\"doubtful\":0,\"rms_mm\":1",
        "\"status\":\"done\",\"verdict\":\"look\",\"frames\":100,\"lost\":0,\"doubtful\":1,\"rms_mm\":1",
        "\"status\":\"done\",\"verdict\":\"reject\",\"frames\":100,\"lost\":0,\"doubtful\":0,\"rms_mm\":1",
        "\"status\":\"failed\",\"error\":\"io\",\"message\":\"gone\"",
    };
    static const char order[] = "796543210"; /* the take 9 is not yet solved */
    static const char *const words[] = {"failed",     "not yet solved", "not to be used", "to look at",    "to look at",
                                        "to look at", "can be trusted", "can be trusted", "can be trusted"};
    char path[200];
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, "rm -r db && mkdir -p db out/journal && for i in 0 1 2 3 4 5 6 7 9; do cp take.c3d db/t$i.c3d; "
              "done && (echo take,skeleton,subject,name; for i in 0 1 2 3 4 5 6 7 9; do echo "
              "$PWD/db/t$i.c3d,human,s,t$i; done) >out/plan.csv");
    FILE *file = fopen(ulna_test_path(path, sizeof path, tool->folder, "out/journal/1-of-1.jsonl"), "wb");
    assert_non_null(file);
    for (int i = 0; i < 8; i++) {
        char take[16];
        snprintf(take, sizeof take, "t%d", i);
        put_line(file, take, facts[i]);
    }
    assert_int_equal(fclose(file), 0);
    expect(tool, "--merge out", 1);
    char *page = ulna_test_tool_file(tool, "out/index.html");
    const char *map = strstr(page, "class=\"map\""), *table = strstr(page, "<table class=\"takes\">");
    assert_true(map && table);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char title[100], cell[100];
        int take = order[i] - '0';
        snprintf(title, sizeof title, "title=\"t%d: %s", take, words[i]);
        snprintf(cell, sizeof cell, "<td>t%d</td><td>s</td><td>%s</td>", take, words[i]);
        map = strstr(map, title);
        table = strstr(table, cell);
        if (!map || !table)
            fail_msg("'%s' or '%s' is not where it should be in:\n%s", title, cell, page);
    }
    ulna_test_says(page, "By verdict, then by the share of lost and doubtful frames, then by the error.");
    free(page);
}

/* ---- --dry-run ------------------------------------------------------------------------------------------------------------- */

/* Many takes may have one reason. */
static void reasons_are_told_once(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, ULNA
        " sample -q t && cp t/human.asf db/a && mkdir db/c && for i in 1 2 3; do ln -s gone db/c/$i.c3d; done && "
        "printf 'take,skeleton,options\\n' >m.csv && for i in 1 2 3 4; do echo db/a/a_0$i.c3d,human,--frames x; done >>m.csv && "
        "for i in 1 2 3; do echo db/b/b_0$i.c3d,human,--tol x; done >>m.csv");
    expect(tool, "db -o out --dry-run", 1);
    ulna_test_says(tool->out, "\ncannot solve 9 takes: no skeleton was found: put one beside the take");
    ulna_test_says(tool->out, " (b/b_01, b/b_02, b/b_03, ...)\n");
    ulna_test_says(tool->out, "\na/a_01  a        db/a/human.asf  calibrated if needed: a/a\n");
    expect(tool, "m.csv -o out --dry-run", 1);
    ulna_test_says(tool->out, "cannot solve 4 takes: its options: --frames takes A:B");
    ulna_test_says(tool->out, "cannot solve db/b/b_01: m.csv:6: its options: --tol");
    ulna_test_says(tool->out, "cannot solve db/b/b_03: m.csv:8: its options: --tol");
    assert_memory_equal(tool->out, "cannot", 6); /* no heading of no takes */
    json_t *plan = ulna_test_tool_run_json(tool, "batch", "m.csv -o out --dry-run", 1);
    assert_true(json_is_integer(json_object_get(planned(plan, "db/a/a_01"), "bytes")));
    json_decref(plan);
    /* Long names would leave a table no room. */
    ulna_test_tool_shell(tool, "n=$(printf '%050d' 7) && mkdir -p long/$n && cp take.c3d long/$n/$n.c3d");
    expect(tool, "long -s human -o out --dry-run", 0);
    ulna_test_says(tool->out, "0007\n  skeleton  human\n  markers   calibrated if needed:\n            00");
    /* Only those of the shard. */
    expect(tool, "m.csv -o out --dry-run --shard 1/7", 1);
    ulna_test_says(tool->out, "\n1 take cannot be solved\n");
    ulna_test_tool_shell(tool, "for i in 1 2 3 4 5; do touch db/a/a_0$i.trc; done");
    expect(tool, "db -s human -o out --dry-run", 1);
    ulna_test_says(tool->out, "5 recordings left out, as a C3D has the same name: a/a_01.trc, a/a_02.trc,");
    ulna_test_says(tool->out, "a/a_04.trc, ...\n");
}

/* The first line of a manifest with a name has it, whatever its recording is called. */
static void namesakes_are_lines(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "printf 'take,name\\ndb/b/b_01.c3d,x\\ndb/a/a_01.c3d,x\\n' >m.csv");
    expect(tool, "m.csv -s human -o out --dry-run", 1);
    ulna_test_says(
        tool->out,
        "cannot solve x: m.csv:3: line 2 has the name x already: give one of them another in the column name\n");
}

/* ---- Slurm ----------------------------------------------------------------------------------------------------------------- */

/* One true message, and what to do. */
static void submitting_needs_sbatch(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "mkdir none && PATH=$PWD/none " ULNA
                               " batch db -s human -o 'my out' --slurm 2 --submit >log 2>err; [ $? = 1 ]");
    char *text = ulna_test_tool_file(tool, "err");
    assert_string_equal(text, "ulna: there is no sbatch on this machine, so nothing is submitted\n");
    free(text);
    text = ulna_test_tool_file(tool, "log");
    ulna_test_says(
        text, "  sbatch --dependency=afterany:$(sbatch --parsable 'my out/slurm/array.sh') 'my out/slurm/merge.sh'\n");
    free(text);
    ulna_test_tool_shell(
        tool, "printf '#!/bin/sh\\nexit 1\\n' >none/sbatch && chmod +x none/sbatch && PATH=$PWD/none:$PATH " ULNA
              " batch db -s human -o out --slurm 2 --submit >log 2>err; [ $? = 1 ] && grep -q '^  sbatch --dep' log && "
              "grep -q 'sbatch did not take .*: nothing is submitted' err");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_takes, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(worst_takes_come_first),
        TEST(reasons_are_told_once),
        TEST(namesakes_are_lines),
        TEST(submitting_needs_sbatch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
