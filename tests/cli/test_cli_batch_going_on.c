/* `ulna batch`: what holds after it was killed, stopped, or run with something else. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support_batch.h"

/* The process in which the batch $batch solves. */
#define CHILD "cat /proc/$batch/task/$batch/children 2>/dev/null | tr -d ' '"
/* Until the log has so many takes that are done. */
#define WAIT_FOR(count) "for i in $(seq 300); do [ $(grep -c ^done log) = " #count " ] && break; sleep 0.1; done; "
#define RUN "db -s human -o out --no-reports --formats csv"

/* Killed when the files are in their place and the journal has no line for them yet. */
static void files_without_a_line_do_not_count(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool,
                         "{ ULNA_BATCH_FAULT='moved a/a_02' " ULNA " batch -q " RUN " --threads 1; [ $? = 137 ]; } "
                         "2>/dev/null && [ -s out/a/a_02.csv ] && ! grep -q a/a_02 out/journal/1-of-1.jsonl");
    expect(tool, RUN, 0);
    /* The files of a GLB have the same lengths whatever the options are. */
    expect(tool, "db -s human -o out --no-reports --formats glb", 0);
    ulna_test_tool_shell(
        tool,
        "cp -r out/a first && { ULNA_BATCH_FAULT='moved a/a_02' " ULNA " batch -q db -s human -o out --no-reports "
        "--formats glb --options '--smooth 0'; [ $? = 137 ]; } 2>/dev/null; ! cmp -s first/a_02.glb out/a/a_02.glb && "
        "[ $(stat -c %s first/a_02.glb) = $(stat -c %s out/a/a_02.glb) ]");
    expect(tool, "--merge out", 1);
    ulna_test_says(tool->err, "not all takes are solved");
    expect(tool, "db -s human -o out --no-reports --formats glb", 0);
    ulna_test_tool_shell(tool, "cmp first/a_02.glb out/a/a_02.glb");
}

/* Somebody ends the process of a take, as a scheduler does that ends all of a job one by one: not the fault of the take. */
static void takes_whose_process_is_ended_are_done_again(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, ": >log; { ULNA_BATCH_FAULT='hang b/b_06' " ULNA " batch " RUN
              " --threads 1 >log 2>err & } ; batch=$!; " WAIT_FOR(
                  11) "first=$(" CHILD "); "
                      "kill -TERM $first; for i in $(seq 100); do second=$(" CHILD
                      "); [ -n \"$second\" ] && [ \"$second\" != \"$first\" ] && break; "
                      "sleep 0.1; done; [ -n \"$second\" ] && [ \"$second\" != \"$first\" ] || exit 1; "
                      "kill -TERM $batch; wait $batch; [ $? = 143 ] && ! grep -q failed log out/journal/1-of-1.jsonl");
    assert_int_equal(count_of(tool, RUN, 0, "kept"), 11);
    /* But not for ever. */
    ulna_test_tool_shell(
        tool,
        "rm -r out; : >log; { ULNA_BATCH_FAULT='hang b/b_06' " ULNA " batch " RUN
        " --threads 1 >log 2>err & } ; batch=$!; " WAIT_FOR(
            11) "for i in $(seq 100); do kill -TERM $(" CHILD ") 2>/dev/null; kill -0 $batch 2>/dev/null || break; "
                "sleep 0.2; done; wait $batch; [ $? = 1 ] && grep -q '^failed b/b_06: ended by signal 15' log");
}

/* kill -9 of the batch leaves no process that goes on. */
static void no_process_is_left_behind(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        ": >log; { ULNA_BATCH_FAULT='hang b/b_06' " ULNA " batch --json " RUN " --threads 1 >log 2>err & } ; batch=$!; "
        "for i in $(seq 300); do [ $(grep -c '\"status\":\"done\"' log) = 11 ] && break; sleep 0.1; done; "
        "[ $i != 300 ] || exit 1; " /* the lines of --json come while it runs */
        "child=$(" CHILD "); [ -n \"$child\" ] || exit 1; kill -9 $batch; wait $batch 2>/dev/null; "
        "for i in $(seq 50); do kill -0 $child 2>/dev/null || break; sleep 0.1; done; ! kill -0 $child 2>/dev/null");
}

static void interrupts_are_named(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        ": >log; { ULNA_BATCH_FAULT='hang b/b_06' env --default-signal=INT " ULNA " batch " RUN
        " --threads 1 >log 2>err & } ; "
        "batch=$!; " WAIT_FOR(
            11) "kill -INT $batch; "
                "wait $batch; [ $? = 130 ] && grep -q 'interrupted: 11 of 12 takes have ended; the same command goes on' err");
}

/* What is not there, or was made with something else, is not called done. */
static void tables_tell_what_is_there(void **state)
{
    ulna_test_tool *tool = *state;
    expect(tool, RUN, 0);
    ulna_test_tool_shell(tool, "rm out/a/a_01.csv");
    expect(tool, "--merge out", 1);
    ulna_test_says(tool->out, "12 takes: 11 solved, 1 not yet solved");
    expect_result(tool, "out", "a/a_01", "missing", "its files are not there any more");
    ulna_test_tool_shell(
        tool,
        ": >log; { ULNA_BATCH_FAULT='hang a/a_03' " ULNA " batch " RUN
        " --options '--smooth 0' --threads 1 >log 2>err & } ; "
        "batch=$!; " WAIT_FOR(
            2) "sleep 0.3; "
               "kill -TERM $batch; wait $batch; [ $? = 143 ] && grep -q '12 takes: 2 solved, 10 not yet solved' log");
    json_t *row = result_of(tool, "out", "b/b_01");
    assert_string_equal(json_string_value(json_object_get(row, "status")), "missing");
    assert_int_equal(json_array_size(json_object_get(row, "older_files")), 1);
    json_decref(row);
    expect(tool, "--merge out", 1);
    ulna_test_says(tool->out, "12 takes: 2 solved, 10 not yet solved");
    assert_int_equal(count_of(tool, RUN " --options '--smooth 0'", 0, "kept"), 2);
    /* The same with other formats. */
    ulna_test_tool_shell(
        tool, ": >log; { ULNA_BATCH_FAULT='hang a/a_03' " ULNA
              " batch db -s human -o out --no-reports --formats glb --options "
              "'--smooth 0' --threads 1 >log 2>err & } ; batch=$!; " WAIT_FOR(
                  2) "kill -TERM $batch; wait $batch; [ $? = 143 ] && grep -q '12 takes: 2 solved, 10 not yet "
                     "solved' log");
}

/* While sessions are calibrated: their takes did not fail. */
/* With the same length, too; but a copy, which has another time, is as good as the file itself. */
static void changed_files_are_made_again(void **state)
{
    ulna_test_tool *tool = *state;
    expect(tool, RUN, 0);
    ulna_test_tool_shell(
        tool, "cp out/a/a_01.csv whole && sed -i '$s/[0-9]/7/g' out/a/a_01.csv && ! cmp -s whole out/a/a_01.csv && "
              "[ $(stat -c %s whole) = $(stat -c %s out/a/a_01.csv) ]");
    expect(tool, "--merge out", 1);
    expect_result(tool, "out", "a/a_01", "missing", "its files are not there any more, or were changed");
    assert_int_equal(count_of(tool, RUN, 0, "kept"), 11);
    ulna_test_tool_shell(
        tool,
        "cmp whole out/a/a_01.csv && touch -d 2001-01-01 out/a/a_01.csv && cp -r out moved && rm -r out && mv moved out");
    assert_int_equal(count_of(tool, RUN, 0, "kept"), 12);
    /* A journal of an earlier version has lengths alone. */
    ulna_test_tool_shell(
        tool,
        "sed -i 's/,\"modified\":[0-9]*,\"hash\":\"[0-9a-f]*\"//' out/journal/1-of-1.jsonl && ! grep -q hash out/journal/1-of-1.jsonl");
    assert_int_equal(count_of(tool, RUN, 0, "kept"), 12);
}

static void stops_in_calibrations_fail_no_take(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, ULNA
        " sample -q t && rm -r db/* && for s in 1 2 3 4 5 6 7 8; do mkdir db/$s && cp t/human.asf db/$s/ && "
        "cp t/walk.c3d db/$s/human_1.c3d && cp t/walk.c3d db/$s/human_2.c3d && cp t/walk.c3d db/$s/human_3.c3d || exit 1; done");
    for (int round = 0; round < 4; round++) {
        char script[400];
        snprintf(script, sizeof script,
                 "rm -rf out; { setsid " ULNA " batch db -o out --no-reports --threads 16 >log 2>&1 & } ; batch=$!; "
                 "for i in $(seq 100); do [ -e out/journal/lock ] && break; sleep 0.02; done; sleep 0.0%d; "
                 "kill -TERM -$batch; wait $batch; [ $? = 143 ] && ! grep -qs failed out/journal/1-of-1.jsonl",
                 round * 15);
        ulna_test_tool_shell(tool, script);
    }
    expect(tool, "db -o out --no-reports", 0);
}

/* All at once, in a folder that is not there yet. */
static void shards_may_begin_together(void **state)
{
    ulna_test_tool *tool = *state;
    for (int round = 0; round < 5; round++)
        ulna_test_tool_shell(tool, "rm -rf out; for k in 1 2 3 4 5 6 7 8 9 10 11 12; do { " ULNA " batch -q " RUN
                                   " --shard $k/12 2>err$k || touch bad; } & done; wait; [ ! -e bad ]");
    ulna_test_tool_shell(tool, "mkdir -p begun/journal && " ULNA
                               " batch -q db -s human -o begun --no-reports"); /* then it was killed */
}

/* Nodes whose clocks differ: what was solved last counts. */
static void clocks_may_differ(void **state)
{
    ulna_test_tool *tool = *state;
    expect(tool, RUN " --shard 1/2", 0);
    expect(tool, RUN " --shard 2/2", 0);
    ulna_test_tool_shell(tool, "sed -i 's/\"time\":[0-9.]*/\"time\":4000000000.25/' out/journal/2-of-2.jsonl");
    assert_int_equal(count_of(tool, RUN " --options '--smooth 0'", 0, "kept"), 0);
    assert_int_equal(count_of(tool, RUN " --options '--smooth 0'", 0, "kept"), 12);
    expect(tool, "--merge out", 0);
}

/* Wherever the tables are made, and whatever is in the output folder. */
static void merges_need_no_files(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, ULNA " sample -q t && rm -r db/* && mkdir db/human && cp t/walk.c3d db/human/");
    expect(tool, "db -s human -o out --no-reports --options '--attach t/walk-markers.csv --frames 1:20'", 1);
    expect(tool, "db -s t/human.asf -o out2 --no-reports --options '--attach t/walk-markers.csv --frames 1:20'", 0);
    expect(tool, "db -s human -o out --no-reports --options '--frames 1:20'", 0);
    ulna_test_tool_shell(tool, "here=$PWD; cd / && for o in out out2; do " ULNA
                               " batch --merge \"$here/$o\" || exit 1; done >\"$here/log\"");
    char *log = ulna_test_tool_file(tool, "log");
    ulna_test_says(log, "1 take: 1 solved");
    free(log);
}

/* A file with the name of a word on the command line is not what the word means. */
static void words_are_no_files(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "echo x >csv; echo x >amc");
    expect(tool, RUN, 0);
    assert_int_equal(count_of(tool, "db -s human -o out --no-reports --formats amc", 0, "kept"), 0);
    ulna_test_tool_shell(tool, "[ $(ls out/a/*.amc | wc -l) = 6 ] && echo y >amc");
    assert_int_equal(count_of(tool, "db -s human -o out --no-reports --formats amc", 0, "kept"), 12);
}

static void broken_journals_are_read_as_far_as_possible(void **state)
{
    ulna_test_tool *tool = *state;
    expect(tool, RUN, 0);
    /* Zeros, as a crash of the machine leaves, and a line that was cut off, hide nothing that comes after them. */
    ulna_test_tool_shell(
        tool, "j=out/journal/1-of-1.jsonl; sed '/b_0/d' $j >1; sed -n '/b_0[1-5]/p' $j >2; { cat 1; head -c 40 "
              "/dev/zero; cat 2; } >$j");
    assert_int_equal(count_of(tool, RUN, 0, "kept"), 11);
    ulna_test_tool_shell(tool,
                         "cp db/a/a_01.c3d db/a/a_09.c3d && printf '{\"take\":\"a/a_0' >>out/journal/1-of-1.jsonl");
    assert_int_equal(count_of(tool, RUN, 0, "kept"), 12);
    assert_int_equal(count_of(tool, RUN, 0, "kept"), 13);
    /* Times of a clock that ran ahead. */
    ulna_test_tool_shell(tool, "sed -i 's/\"time\":[0-9.]*/\"time\":4e9/' out/journal/1-of-1.jsonl");
    assert_int_equal(count_of(tool, RUN " --options '--smooth 0'", 0, "kept"), 0);
    assert_int_equal(count_of(tool, RUN " --options '--smooth 0'", 0, "kept"), 13);
    ulna_test_tool_shell(tool, "mkdir out/journal/2-of-9.jsonl");
    expect(tool, RUN, 4);
    ulna_test_says(tool->err, "2-of-9.jsonl: ");
    expect(tool, "--merge out", 4);
}

/* What a limit ended is tried again once the limit is higher. */
static void higher_limits_are_another_try(void **state)
{
    ulna_test_tool *tool = *state;
    setenv("ULNA_BATCH_FAULT", "hang a/a_02", 1);
    assert_int_equal(count_of(tool, RUN " --time-limit 1", 1, "failed"), 1);
    unsetenv("ULNA_BATCH_FAULT");
    assert_int_equal(count_of(tool, RUN " --time-limit 1", 1, "kept"), 12);
    assert_int_equal(count_of(tool, RUN " --time-limit 2", 0, "kept"), 11);
}

static void processes_may_not_be_had(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "{ (ulimit -n 8; exec " ULNA " batch -q " RUN
        ") 2>err; [ $? = 4 ]; } && grep -q 'stopped: cannot start a process: .*; once that is mended, the same command goes on' err");
    expect(tool, RUN, 0);
}

static void folders_of_others_are_left_alone(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "mkdir -p mine/journal && echo x >mine/journal/monday && echo x >mine/a_01.csv");
    expect(tool, "db -s human -o mine", 2);
    ulna_test_says(tool->err, "'mine' has files that are not of a batch");
    ulna_test_tool_shell(tool, "[ $(find mine -type f | wc -l) = 2 ]");
}

/* A name that cannot be had is the fault of one take; the others are solved. */
static void names_that_cannot_be_had_fail_alone(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "mkdir db/a/a_01.csv && cp take.c3d db/a/a_01.csv/b.c3d && "
                               "cp take.c3d db/b/$(printf 'x%.0s' $(seq 248)).c3d");
    assert_int_equal(count_of(tool, RUN, 1, "done"), 12); /* of 14 */
    ulna_test_tool_shell(
        tool, "grep -q '^b/xxx.*its name has 252 bytes' out/results.csv && grep -q '^a/a_01.*,failed,.*a_01.csv' "
              "out/results.csv");
    ulna_test_tool_shell(tool, "printf 'take,subject\\ndb/b/b_01.c3d,%s\\n' $(printf 's%.0s' $(seq 300)) >m.csv");
    expect(tool, "m.csv -s human -o long --dry-run", 1);
    ulna_test_says(tool->out, "its subject has 300 bytes");
}

/* A name with "~2" is that of another group of takes. */
static void calibrations_have_names_of_their_own(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, ULNA " sample -q t && cp t/human.asf db/one.asf && cp t/human.asf db/two.asf && "
                                    "printf 'take,skeleton,subject,name\\ndb/a/a_01.c3d,db/one.asf,anna~2,a\\n"
                                    "db/a/a_02.c3d,db/two.asf,anna,b\\ndb/a/a_03.c3d,db/one.asf,anna,c\\n' >m.csv");
    expect(tool, "m.csv -o out --no-reports", 0);
    ulna_test_tool_shell(
        tool, "cd out/calibration && [ \"$(ls *.csv | tr '\\n' ' ')\" = 'anna.csv anna~2.csv anna~~2.csv ' ]");
}

/* A table of a calibration that somebody damaged is made again. */
static void damaged_tables_are_made_again(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, ULNA " sample -q t && mkdir one && cp t/human.asf one && cp take.c3d one/human_1.c3d");
    expect(tool, "one -o out --no-reports", 0);
    ulna_test_tool_shell(tool, "cp out/calibration/human.csv kept && : >out/calibration/human.csv");
    expect(tool, "one -o out --no-reports", 0);
    ulna_test_says(tool->out, "human: its table of markers in the output folder was changed and is");
    assert_int_equal(count_of(tool, "one -o out --no-reports", 0, "kept"), 1);
    ulna_test_tool_shell(tool, "cmp kept out/calibration/human.csv");
}

static void closed_output_harms_nothing(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, ULNA " batch " RUN " --json >&-; [ ! -s out/journal/lock ]");
    expect(tool, RUN, 0);
}

static void merges_wait_for_each_other(void **state)
{
    ulna_test_tool *tool = *state;
    expect(tool, RUN, 0);
    ulna_test_tool_shell(tool, "for i in 1 2 3 4 5 6; do { " ULNA
                               " batch -q --merge out || touch bad; } & done; wait; [ ! -e bad ]");
}

/* With one process, lines come in the order of the work: what cannot be solved, then the largest recording. */
static void the_largest_come_first(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(2 * FRAMES);
    ulna_test_take_write(tool->folder, "db/b/large.c3d", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    ulna_test_tool_shell(tool, "ln -s nowhere db/b/none.c3d");
    expect(tool, "--json " RUN " --threads 1", 1);
    json_t *lines = lines_of(tool->out);
    assert_string_equal(json_string_value(json_object_get(json_array_get(lines, 0), "take")), "b/none");
    assert_string_equal(json_string_value(json_object_get(json_array_get(lines, 1), "take")), "b/large");
    json_decref(lines);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_takes, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(files_without_a_line_do_not_count),
        TEST(takes_whose_process_is_ended_are_done_again),
        TEST(no_process_is_left_behind),
        TEST(interrupts_are_named),
        TEST(tables_tell_what_is_there),
        TEST(words_are_no_files),
        TEST(broken_journals_are_read_as_far_as_possible),
        TEST(higher_limits_are_another_try),
        TEST(processes_may_not_be_had),
        TEST(folders_of_others_are_left_alone),
        TEST(names_that_cannot_be_had_fail_alone),
        TEST(calibrations_have_names_of_their_own),
        TEST(damaged_tables_are_made_again),
        TEST(closed_output_harms_nothing),
        TEST(merges_wait_for_each_other),
        TEST(changed_files_are_made_again),
        TEST(stops_in_calibrations_fail_no_take),
        TEST(shards_may_begin_together),
        TEST(clocks_may_differ),
        TEST(merges_need_no_files),
        TEST(the_largest_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
