/* `ulna batch`: plans, results, resuming, limits, shards, Slurm scripts. The real Slurm is in tests/tools/slurm_batch.sh. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support_batch.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* sanitizers take terabytes of address space, so that memory has no limit */
#else
#define SANITIZED 0
#endif

/* ---- plans --------------------------------------------------------------------------------------------------------------- */

static void skeletons_are_found(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "rm -rf db && mkdir -p db/cmu db/hdm db/one/day1 db/none db/two && s=0 && " ULNA
        " sample -q t && for f in cmu/02_01 cmu/02_03 cmu/020_1 hdm/HDM_bd_01-01 one/day1/x "
        "none/y two/z; do cp take.c3d db/$f.c3d; done; cp take.c3d db/cmu/UPPER_1.C3D && cp t/human.asf db/cmu/02.asf && "
        "cp t/human.asf db/cmu/UPPER.ASF && touch db/cmu/02_01.bvh db/cmu/02_01.trc && cp t/human.asf db/hdm/HDM.asf && cp "
        "t/human.asf db/hdm/HDM_bd.asf && cp t/walk-markers.csv db/hdm/HDM_bd-markers.csv && cp t/human.json db/one/s.json "
        "&& echo '{\"meta\": 1}' >db/one/about.json && cp t/human.asf db/two/k.asf && cp t/human.asf db/two/l.asf");
    json_t *plan = ulna_test_tool_run_json(tool, "batch", "db -o out --dry-run", 1);
    assert_int_equal(json_array_size(json_object_get(plan, "takes")), 8);
    assert_int_equal(integer(plan, "left_out"), 1);
    expect_end(planned(plan, "cmu/02_01"), "skeleton", "/db/cmu/02.asf"); /* not the motion beside it */
    assert_string_equal(json_string_value(json_object_get(planned(plan, "cmu/02_01"), "subject")), "02");
    expect_end(planned(plan, "cmu/UPPER_1"), "skeleton", "/db/cmu/UPPER.ASF");
    assert_non_null(json_string_value(json_object_get(planned(plan, "cmu/020_1"), "problem"))); /* 02 is not 020 */
    expect_end(planned(plan, "hdm/HDM_bd_01-01"), "skeleton", "/db/hdm/HDM_bd.asf");            /* the longest name */
    expect_end(planned(plan, "hdm/HDM_bd_01-01"), "attach", "/db/hdm/HDM_bd-markers.csv");
    expect_end(planned(plan, "one/day1/x"), "skeleton", "/db/one/s.json"); /* the only one, in a folder above */
    assert_string_equal(json_string_value(json_object_get(planned(plan, "one/day1/x"), "subject")), "one/day1");
    ulna_test_says(json_string_value(json_object_get(planned(plan, "none/y"), "problem")), "no skeleton was found");
    ulna_test_says(json_string_value(json_object_get(planned(plan, "two/z"), "problem")), "two/k.asf, two/l.asf");
    /* In the words of the run. */
    assert_string_equal(json_string_value(json_object_get(planned(plan, "two/z"), "status")), "failed");
    assert_string_equal(json_string_value(json_object_get(planned(plan, "cmu/02_01"), "status")), "missing");
    assert_int_equal(integer(plan, "failed"), 3);
    assert_int_equal(integer(plan, "problems"), 3);
    json_decref(plan);
    expect(tool, "db -o out --dry-run", 1);
    ulna_test_says(tool->out, "cannot solve none/y: no skeleton was found: put one beside the take");
    ulna_test_says(tool->out,
                   "\n5 takes to solve\n3 takes cannot be solved\n3 calibrations, and one more for each take "
                   "whose markers were taken off and put\non again\n1 recording left out, as a C3D has the same name: "
                   "cmu/02_01.trc\n");
    ulna_test_tool_shell(tool, "[ ! -e out ]");
    expect(tool, "db -s human -o out --dry-run", 0);
    expect(tool, "t -o out --dry-run", 0);
    expect(tool, "nowhere -o out", 4);
    ulna_test_tool_shell(tool, "mkdir empty");
    expect(tool, "empty -o out", 3);
    ulna_test_says(tool->err, "there is no C3D or TRC file in this folder");
}

static void manifests_are_read(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "printf '\\357\\273\\277subject,take,options,name,skeleton\\r\\n# a comment\\r\\n\"Anna, the \"\"first\"\"\",db/a/a_01.c3d,"
        "--frames 1:20,anna/one,human\\r\\n\\r\\nBob,db/b/b_01.c3d,,,\\n' >m.csv");
    expect(tool, "m.csv -s human -o out --formats csv --no-reports", 0);
    json_t *row = result_of(tool, "out", "anna/one");
    assert_int_equal(integer(row, "frames"), 20);
    assert_string_equal(json_string_value(json_object_get(row, "subject")), "Anna, the \"first\"");
    json_decref(row);
    row = result_of(tool, "out", "db/b/b_01");
    assert_int_equal(integer(row, "frames"), FRAMES);
    json_decref(row);
    ulna_test_tool_shell(tool, "[ -s out/anna/one.csv ] && [ -s out/db/b/b_01.csv ]");
    /* The plan is a manifest of the same takes. */
    assert_int_equal(count_of(tool, "out/plan.csv -o out --formats csv --no-reports", 0, "kept"), 2);
}

/* A pipe that nobody writes to would be waited for without end. */
static void pipes_are_no_files(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "mkfifo pipe.asf && printf 'take,skeleton,attach\\ndb/a/a_01.c3d,pipe.asf,\\n"
                               "db/a/a_02.c3d,human,./pipe.asf\\n' >m.csv");
    expect(tool, "m.csv -o out --isolate off --no-reports", 1);
    ulna_test_says(tool->out, "the skeleton ");
    ulna_test_says(tool->out, "the table of markers ");
    ulna_test_says(tool->out, "pipe.asf is not a file");
}

static void wrong_manifests_are_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"skeleton,subject\\nx,y\\n", "m.csv: the first line of a manifest names its columns"},
        {"take,marks\\nx,y\\n", "m.csv: there is no column 'marks'"},
        {"take\\na.c3d,b\\n", "m.csv:2: more cells than the 1 columns"},
        {"take,subject\\nx,\"y\\n", "m.csv:2: a quote is not closed"},
        {"take,subject\\n\\n,y\\n", "m.csv:3: the take is missing"},
        {"", "m.csv: the manifest is empty: its first line names the columns"},
        {"\\n \\r\\n", "m.csv: the manifest is empty"},
        {"take,skeleton\\n", "m.csv: the manifest has a heading, but no take below it: add a line"},
        {"take\\n# none yet\\n\\n", "m.csv: the manifest has a heading, but no take below it"},
        {"take\\n\\000\\n", "m.csv: a manifest is a table of takes in CSV"},
    };
    ulna_test_tool *tool = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char script[300];
        snprintf(script, sizeof script, "printf '%s' >m.csv", cases[i].text);
        ulna_test_tool_shell(tool, script);
        expect(tool, "m.csv -o out", 3);
        ulna_test_says(tool->err, cases[i].message);
        expect(tool, "--json m.csv -o out", 3);
        json_t *lines = lines_of(tool->out);
        assert_non_null(json_object_get(json_array_get(lines, 0), "error"));
        json_decref(lines);
    }
    /* Takes that cannot be solved are listed, and the others are solved. */
    ulna_test_tool_shell(
        tool,
        "printf 'take,options,name\\ndb/a/a_01.c3d,,\\ndb/a/a_02.c3d,--frames x,\\ndb/a/a_03.c3d,-o x,\\n"
        "db/none.c3d,,\\ndb/a/a_04.c3d,,../up\\ndb/a/a_05.c3d,,db/a/a_01\\ndb/a/a_06.c3d,\"--loss \\047\",\\n' >m.csv");
    expect(tool, "m.csv -s human -o out --no-reports", 1);
    ulna_test_tool_shell(
        tool,
        "grep -q '^db/a/a_01,,done,' out/results.csv && grep -q '^db/a/a_01,,failed,.*m.csv:7: line 2 has the name db/a/a_01 already: give one' out/results.csv");
    expect_result(tool, "out", "db/a/a_02", "failed", "m.csv:3: its options: --frames takes A:B");
    expect_result(tool, "out", "db/a/a_03", "failed", "--output is set by the batch");
    expect_result(tool, "out", "db/none", "failed", "m.csv:5: there is no file /");
    expect_result(tool, "out", "../up", "failed",
                  "m.csv:6: the name '../up' is not one of a file below the output folder");
    expect_result(tool, "out", "db/a/a_06", "failed", "m.csv:8: its options: a quote is not closed");
    ulna_test_tool_shell(tool, "[ ! -e up.csv ] && [ $(find out -name '*.csv' -path '*db*' | wc -l) = 1 ]");
}

/* Random changes of a manifest: it is read or refused, and nothing else happens. */
static void broken_manifests_do_no_harm(void **state)
{
    static const char good[] =
        "take,skeleton,options,name\ndb/a/a_01.c3d,human,\"--frames 1:3\",x\ndb/a/a_02.c3d,human,,\n";
    static const char marks[] = ",\"\n\r;#\\/ .-\x80\xff";
    ulna_test_tool *tool = *state;
    ulna_test_rng rng = ulna_test_rng_seed(15);
    for (int round = 0; round < 150; round++) {
        char text[sizeof good], path[100];
        memcpy(text, good, sizeof good);
        for (int k = 1 + ulna_test_rng_index(&rng, 6); k > 0; k--)
            text[ulna_test_rng_index(&rng, (int)sizeof good - 1)] =
                marks[ulna_test_rng_index(&rng, (int)sizeof marks - 1)];
        FILE *file = fopen(ulna_test_path(path, sizeof path, tool->folder, "m.csv"), "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, sizeof good - 1, file), sizeof good - 1);
        assert_int_equal(fclose(file), 0);
        int code = run(tool, "m.csv -o out --dry-run");
        if (code != 0 && code != 1 && code != 3)
            fail_msg("exit code %d of:\n%s", code, text);
    }
}

/* ---- results -------------------------------------------------------------------------------------------------------------- */

static void everything_is_written(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "printf 'garbage' >db/a/bad.c3d; mv db/b/b_06.c3d 'db/b/a b#6.c3d'");
    expect(tool, "db -s human -o out --formats csv,bvh", 1);
    ulna_test_says(tool->out, "13 takes: 12 solved, 1 failed");
    ulna_test_says(tool->out, "failed a/bad: bad.c3d: ");
    expect_result(tool, "out", "a/bad", "failed", "bad.c3d");
    json_t *row = result_of(tool, "out", "a/a_03");
    assert_int_equal(integer(row, "frames"), FRAMES);
    assert_int_equal(json_array_size(json_object_get(row, "files")), 3);
    assert_below(number(row, "rms_mm"), 1);
    assert_below(number(row, "seconds"), 100);
    json_decref(row);
    char *table = ulna_test_tool_file(tool, "out/results.csv"), *page = ulna_test_tool_file(tool, "out/index.html");
    ulna_test_says(table, "take,subject,status,verdict,frames,markers,rms_mm,rms_max_mm,lost,doubtful,");
    ulna_test_says(table, "\na/a_01,a,done,");
    ulna_test_says(table, "\"a/a_01.csv a/a_01.bvh a/a_01.html\"\n");
    ulna_test_says(table, "\na/bad,a,failed,");
    ulna_test_says(page, "href=\"b/a%20b%236.html\"");
    const char *worst = strstr(page, "<h2>Takes, the worst first");
    assert_non_null(worst);
    assert_true(strstr(worst, ">a/<wbr/>bad<") < strstr(worst, ">a/<wbr/>a_<wbr/>01<"));
    assert_null(strstr(page, "{{"));
    free(table);
    free(page);
    /* The same as without a batch; nothing says where it was made. */
    ulna_test_tool_shell(
        tool, ULNA
        " solve -q -s human -m db/a/a_03.c3d -o one/ --formats csv,bvh && cmp one/a_03.csv out/a/a_03.csv && "
        "cmp one/a_03.bvh out/a/a_03.bvh && ! grep -rl 'of-1.work' out/a out/b && [ ! -e out/journal/1-of-1.work ]");
    for (int round = 0; round < 2; round++) {
        expect(tool, "--quiet db -s human -o out2 --no-reports", 1);
        assert_string_equal(tool->out, "");
        ulna_test_says(tool->err, "ulna: a/bad: ");
        assert_ptr_equal(strchr(tool->err, '\n'), tool->err + strlen(tool->err) - 1); /* one line */
    }
    ulna_test_tool_shell(tool, "[ -z \"$(find out2/a -name '*.html')\" ] && [ -s out2/index.html ]");
}

static void expect_same(const json_t *row, const json_t *solved, const char *key)
{
    if (!json_object_get(row, key) || !json_equal(json_object_get(row, key), json_object_get(solved, key)))
        fail_msg("%s is not that of ulna solve", key);
}

/* All of them, in the words of `ulna solve`. */
static void reasons_are_listed(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "mkdir few");
    ulna_test_take take = ulna_test_take_make(FRAMES);
    for (int frame = 5; frame < 35; frame++)
        for (int m = 0; m < take.markers.marker_count; m++)
            for (int k = 0; k < 3; k++)
                take.markers.positions[(frame * take.markers.marker_count + m) * 3 + k] += 0.2 * ((frame + m + k) % 3);
    ulna_test_take_write(tool->folder, "few/x.c3d", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    /* The exit code is that of `ulna solve`, also of a run that only keeps it and of a merge. */
    expect(tool, "few -s human -o out --formats csv", 1);
    expect(tool, "few -s human -o out --formats csv", 1);
    expect(tool, "--merge out", 1);
    json_t *row = result_of(tool, "out", "x");
    assert_string_equal(json_string_value(json_object_get(row, "verdict")), "reject");
    ulna_test_tool_shell(tool, ULNA " solve --json -s human -m few/x.c3d -o x.csv >solved 2>err; [ $? = 1 ]");
    char *text = ulna_test_tool_file(tool, "solved");
    json_t *solved = json_loads(text, 0, NULL), *codes = json_object_get(row, "reason_codes"), *item;
    free(text);
    expect_same(row, solved, "reasons");
    expect_same(row, solved, "reason_codes");
    assert_true(fabs(number(row, "rms_typical_mm") - number(solved, "rms_typical_mm")) < 1e-6);
    assert_true(json_is_false(json_object_get(row, "placed_anew")));
    assert_true(json_array_size(codes) > 1);
    char cell[300] = ",false,,\"", *table = ulna_test_tool_file(tool, "out/results.csv");
    size_t i;
    json_array_foreach(codes, i, item)
    {
        if (!strstr(cell, json_string_value(item))) /* once, where reasons share it */
            snprintf(cell + strlen(cell), sizeof cell - strlen(cell), "%s%s", i ? " " : "", json_string_value(item));
        ulna_test_says(json_string_value(json_object_get(row, "message")),
                       json_string_value(json_array_get(json_object_get(row, "reasons"), i)));
    }
    snprintf(cell + strlen(cell), sizeof cell - strlen(cell), "\",");
    ulna_test_says(table, cell);
    ulna_test_says(
        table, ",us_per_frame,rms_typical_mm,placed_anew,calibrated_on,reason_codes,error,message,older_files,files\n");
    free(table);
    json_decref(solved);
    json_decref(row);
}

static void lines_of_json_come_for_each_take(void **state)
{
    ulna_test_tool *tool = *state;
    expect(tool, "--json db -s human -o out --no-reports", 0);
    json_t *lines = lines_of(tool->out);
    assert_int_equal(json_array_size(lines), 13);
    assert_string_equal(json_string_value(json_object_get(json_array_get(lines, 0), "status")), "done");
    assert_true(json_is_false(json_object_get(json_array_get(lines, 0), "kept")));
    assert_int_equal(integer(json_object_get(json_array_get(lines, 12), "summary"), "done"), 12);
    json_decref(lines);
}

/* Threads, processes, shards and their order change no byte of a motion. */
static void results_do_not_depend_on_how(void **state)
{
    ulna_test_tool *tool = *state;
    expect(tool, "db -s human -o one --formats amc,bvh,glb --threads 1 --isolate off --no-reports", 0);
    expect(tool, "db -s human -o two --formats amc,bvh,glb --threads 3 --isolate off --no-reports", 0);
    expect(tool, "db -s human -o three --formats amc,bvh,glb --threads 2 --no-reports", 0);
    expect(tool, "db -s human -o four --formats amc,bvh,glb --shard 3/3 --no-reports", 0);
    expect(tool, "--merge four", 1);
    ulna_test_says(tool->out, "12 takes: 4 solved, 8 not yet solved");
    expect(tool, "db -s human -o four --formats amc,bvh,glb --shard 1/3 --threads 1 --no-reports", 0);
    expect(tool, "db -s human -o four --formats amc,bvh,glb --shard 2/3 --no-reports", 0);
    ulna_test_says(tool->out, "`ulna batch --merge four` makes the tables");
    expect(tool, "--merge four", 0);
    ulna_test_tool_shell(
        tool,
        "for o in two three four; do for f in $(cd one && find . -name '*.amc' -o -name '*.bvh' -o -name '*.glb'); do "
        "cmp one/$f $o/$f || exit 1; done; done; [ $(find one -name '*.amc' | wc -l) = 12 ]; "
        "[ $(cat four/journal/*.jsonl | wc -l) = 12 ]; cut -d, -f1-4 one/results.csv >1; cut -d, -f1-4 four/results.csv >4; "
        "cmp 1 4");
}

/* ---- going on -------------------------------------------------------------------------------------------------------------- */

#define RUN "db -s human -o out --no-reports --formats csv"

static void only_the_rest_is_done(void **state)
{
    ulna_test_tool *tool = *state;
    expect_plan(tool, RUN, 12, 0, 0);
    assert_int_equal(count_of(tool, RUN, 0, "kept"), 0);
    expect_plan(tool, RUN, 0, 12, 0);
    assert_int_equal(count_of(tool, RUN, 0, "kept"), 12);
    ulna_test_tool_shell(tool, "rm out/a/a_01.csv; : >out/a/a_02.csv; touch db/a/a_03.c3d");
    expect_plan(tool, RUN, 2, 10, 0);
    expect(tool, RUN " --dry-run", 0);
    ulna_test_says(tool->out, "2 takes to solve\n10 takes done already\n");
    ulna_test_says(tool->out, "a/a_01");
    assert_null(strstr(tool->out, "a/a_03"));             /* what is done is not listed */
    assert_int_equal(count_of(tool, RUN, 0, "kept"), 10); /* a file that is gone, and one that is not as long */
    ulna_test_tool_shell(tool, "[ -s out/a/a_01.csv ] && cmp out/a/a_01.csv out/a/a_02.csv");
    ulna_test_tool_shell(
        tool,
        "cp db/a/a_01.c3d db/a/a_07.c3d; printf x | dd of=db/a/a_03.c3d bs=1 seek=20000 conv=notrunc 2>/dev/null");
    assert_int_equal(count_of(tool, RUN, 0, "kept"), 11); /* a new take, and one with another byte */
    expect_plan(tool, RUN " --options '--smooth 0'", 13, 0, 0);
    assert_int_equal(count_of(tool, RUN " --options '--smooth 0'", 0, "kept"), 0);
    assert_int_equal(count_of(tool, RUN " --options '--smooth 0' --threads 1 --isolate off", 0, "kept"), 13);
    /* A line that a crash cut off does not count, nor hides the next. */
    ulna_test_tool_shell(tool, "printf '{\"take\":\"a/a_0' >>out/journal/1-of-1.jsonl; rm out/b/b_01.csv");
    assert_int_equal(count_of(tool, RUN " --options '--smooth 0'", 0, "kept"), 12);
    assert_int_equal(count_of(tool, RUN " --options '--smooth 0'", 0, "kept"), 13);
}

static void failed_takes_are_kept_until_asked(void **state)
{
    ulna_test_tool *tool = *state;
    expect(tool, RUN, 0);
    ulna_test_tool_shell(tool, "cp db/a/a_01.c3d keep; printf 'garbage' >db/a/a_01.c3d");
    assert_int_equal(count_of(tool, RUN, 1, "kept"), 11);
    ulna_test_tool_shell(tool, "[ -s out/a/a_01.csv ]"); /* until another replaces it */
    expect_plan(tool, RUN, 0, 11, 1);
    expect_plan(tool, RUN " --retry-failed", 1, 11, 0);
    assert_int_equal(count_of(tool, RUN, 1, "kept"), 12);
    assert_int_equal(count_of(tool, RUN " --retry-failed", 1, "kept"), 11);
    ulna_test_tool_shell(tool, "cp keep db/a/a_01.c3d");
    assert_int_equal(count_of(tool, RUN, 0, "kept"), 12); /* its file is that of these bytes */
    expect_result(tool, "out", "a/a_01", "done", NULL);
    expect_plan(tool, RUN, 0, 12, 0);
}

static void expect_older(const ulna_test_tool *tool, const char *take, const char *message)
{
    json_t *row = result_of(tool, "out", take);
    assert_string_equal(json_string_value(json_object_get(row, "status")), "failed");
    ulna_test_says(json_string_value(json_object_get(row, "message")), message);
    assert_int_equal(json_array_size(json_object_get(row, "older_files")), 2);
    assert_null(json_object_get(row, "files"));
    assert_null(json_object_get(row, "earlier"));
    json_decref(row);
}

/* Whatever goes wrong later: nothing is deleted, and once it is mended nothing is solved again. */
static void finished_results_stay(void **state)
{
    static const char *const wrong[][2] = {{"--smoth 0", "--smooth"},
                                           {"--loss squar", "squar"},
                                           {"-o x", "--output is set by the batch"},
                                           {"walk.c3d", "--options: "},
                                           {"--subject \\\"x", "a quote is not closed"}};
    ulna_test_tool *tool = *state;
    char line[200];
    ulna_test_tool_shell(tool, ULNA " sample -q t && cp t/human.json kept.json");
    expect(tool, "db -s kept.json -o out --formats csv", 0);
    ulna_test_tool_shell(tool, "cp -r out/a out/b . && find out -type f -exec cat {} + | cksum >all");
    /* Options that are none: nothing is touched. */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line, "db -s kept.json -o out --formats csv --options \"%s\"", wrong[i][0]);
        expect(tool, line, 2);
        ulna_test_says(tool->err, wrong[i][1]);
        ulna_test_tool_shell(tool, "find out -type f -exec cat {} + | cksum | cmp - all");
    }
    /* No skeleton. */
    ulna_test_tool_shell(tool, "mv kept.json away.json");
    expect(tool, "db -s kept.json -o out --formats csv", 4); /* given for all takes */
    ulna_test_tool_shell(tool, "find out -type f -exec cat {} + | cksum | cmp - all");
    expect(tool, "out/plan.csv -o out --formats csv", 1);
    ulna_test_says(tool->out, "/kept.json cannot be read: No such file or directory (a/a_01, a/a_02, a/a_03, ...)");
    expect_older(tool, "b/b_03", "/kept.json cannot be read");
    expect(tool, "--merge out", 1);
    expect_older(tool, "b/b_03", "/kept.json cannot be read");
    ulna_test_tool_shell(tool, "diff -r a out/a && diff -r b out/b && mv away.json kept.json");
    assert_int_equal(count_of(tool, "db -s kept.json -o out --formats csv", 0, "kept"), 12);
    /* A skeleton that is none, twice; a take that crashes. */
    ulna_test_tool_shell(tool, "mv kept.json away.json; echo '{' >kept.json");
    expect(tool, "db -s kept.json -o out --formats csv", 1);
    expect(tool, "db -s kept.json -o out --formats csv --retry-failed", 1);
    expect_older(tool, "a/a_01", "kept.json");
    char *table = ulna_test_tool_file(tool, "out/results.csv"), *page = ulna_test_tool_file(tool, "out/index.html");
    ulna_test_says(table, ",\"a/a_01.csv a/a_01.html\",\n");
    ulna_test_says(page, "older: <a href=\"a/a_01.csv\">csv</a> <a href=\"a/a_01.html\">html</a>");
    free(table);
    free(page);
    ulna_test_tool_shell(tool, "diff -r a out/a && diff -r b out/b && mv away.json kept.json");
    assert_int_equal(count_of(tool, "db -s kept.json -o out --formats csv", 0, "kept"), 12);
    setenv("ULNA_BATCH_FAULT", "crash a/a_02", 1);
    expect(tool, "db -s kept.json -o out --formats csv --options '--smooth 0'", 1);
    unsetenv("ULNA_BATCH_FAULT");
    expect_older(tool, "a/a_02", "ended by signal 6");
    ulna_test_tool_shell(tool, "cmp a/a_02.csv out/a/a_02.csv && cmp a/a_02.html out/a/a_02.html");
    assert_int_equal(count_of(tool, "db -s kept.json -o out --formats csv", 0, "kept"), 1);
    ulna_test_tool_shell(tool, "for f in a/a_02 b/b_01; do cmp $f.csv out/$f.csv || exit 1; done");
    /* Files that somebody deleted are not said to be there. */
    ulna_test_tool_shell(tool, "rm -r out/a; printf garbage >db/a/a_01.c3d");
    expect(tool, "db -s kept.json -o out --formats csv", 1);
    json_t *row = result_of(tool, "out", "a/a_01");
    assert_null(json_object_get(row, "older_files"));
    json_decref(row);
}

/* Of two takes with one name, the one that is refused does not touch the other. */
static void namesakes_do_no_harm(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, "printf 'take,name\\ndb/a/a_01.c3d,x\\n' >one.csv; (cat one.csv; echo db/a/a_02.c3d,x) >two.csv");
    expect(tool, "one.csv -s human -o out --formats csv --no-reports", 0);
    expect(tool, "two.csv -s human -o out --formats csv --no-reports", 1);
    ulna_test_tool_shell(tool, "[ -s out/x.csv ] && grep -q '^x,,done' out/results.csv");
    assert_int_equal(count_of(tool, "one.csv -s human -o out --formats csv --no-reports", 0, "kept"), 1);
}

/* Killed again and again, at other moments each time: nothing is half-written, little is lost. */
static void kill_leaves_nothing_half_written(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, ULNA " batch -q db -s human -o whole --no-reports --formats csv,bvh");
    for (int round = 0; round < 12; round++) {
        char script[700];
        snprintf(
            script, sizeof script,
            "{ " ULNA
            " batch -q db -s human -o out --no-reports --formats csv,bvh --threads 2 2>/dev/null & } ; child=$!; sleep "
            "0.%02d; kill -9 $child 2>/dev/null; wait $child 2>/dev/null; for f in $(cd out 2>/dev/null && find a b -type f "
            "2>/dev/null); do cmp out/$f whole/$f || exit 1; done; exit 0",
            3 + 4 * round);
        ulna_test_tool_shell(tool, script);
    }
    expect(tool, "db -s human -o out --no-reports --formats csv,bvh", 0);
    ulna_test_tool_shell(
        tool,
        "diff -r whole/a out/a && diff -r whole/b out/b && [ -z \"$(find out -name '*.tmp' -o -name '*.work')\" ]");
}

/* What is done stays, and the message says how to go on. (The shell lets jobs in the background ignore Ctrl-C.) */
static void interrupts_stop_cleanly(void **state)
{
    ulna_test_tool *tool = *state;
    setenv("ULNA_BATCH_FAULT", "hang b/b_06", 1);
    ulna_test_tool_shell(
        tool,
        "{ " ULNA " batch db -s human -o out --no-reports --threads 2 >log 2>err & } ; child=$!; for i in $(seq 300); "
        "do [ $(grep -c ^done log) = 11 ] && break; sleep 0.1; done; kill -TERM $child; wait $child; [ $? = 143 ] && "
        "grep -q 'asked to end (SIGTERM): 11 of 12 takes have ended; the same command goes on' err && [ -z \"$(find out "
        "-name '*.tmp' -o -name '*.work')\" ]");
    unsetenv("ULNA_BATCH_FAULT");
    assert_int_equal(count_of(tool, "db -s human -o out --no-reports", 0, "kept"), 11);
}

/* ---- takes that misbehave --------------------------------------------------------------------------------------------------- */

static void faults_stay_alone(void **state)
{
    static const struct {
        const char *fault, *options, *message;
    } cases[] = {
        {"hang a/a_02", "--time-limit 2", "stopped after 2 s without an end (--time-limit)"},
        {"crash a/a_02", "", "ended by signal 6"},
        {"memory a/a_02", "--memory 300 --time-limit 100", "ended by signal 6"},
    };
    ulna_test_tool *tool = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases - SANITIZED; i++) {
        char arguments[200];
        setenv("ULNA_BATCH_FAULT", cases[i].fault, 1);
        snprintf(arguments, sizeof arguments, "db -s human -o out%zu --no-reports %s", i, cases[i].options);
        assert_int_equal(count_of(tool, arguments, 1, "done"), 11);
        char output[16];
        snprintf(output, sizeof output, "out%zu", i);
        expect_result(tool, output, "a/a_02", "failed", cases[i].message);
        unsetenv("ULNA_BATCH_FAULT");
        assert_int_equal(count_of(tool, arguments, 1, "kept"), 12);
        snprintf(arguments, sizeof arguments, "db -s human -o out%zu --no-reports --retry-failed", i);
        assert_int_equal(count_of(tool, arguments, 0, "kept"), 11);
    }
}

/* Faults are linked into the tool of these tests alone. */
static void the_tool_itself_has_no_faults(void **state)
{
    ulna_test_tool *tool = *state;
    tool->program = ULNA_TEST_CLI;
    setenv("ULNA_BATCH_FAULT", "crash a/a_02", 1);
    assert_int_equal(count_of(tool, "db -s human -o out --no-reports --formats csv", 0, "done"), 12);
    unsetenv("ULNA_BATCH_FAULT");
    ulna_test_tool_shell(tool, "! grep -q ULNA_BATCH_FAULT " ULNA_TEST_CLI " && grep -q ULNA_BATCH_FAULT " ULNA);
}

/* What fails in a process that has done other takes is done again in a new one: no failure is another take's fault. */
static void processes_are_used_again(void **state)
{
    ulna_test_tool *tool = *state;
    setenv("ULNA_BATCH_FAULT", "again a/a_02", 1);
    assert_int_equal(count_of(tool, "db -s human -o out --no-reports --formats csv --threads 1", 0, "done"), 12);
    unsetenv("ULNA_BATCH_FAULT");
    assert_int_equal(count_of(tool, "db -s human -o out_threads --no-reports --formats csv --isolate off", 0, "done"),
                     12);
    ulna_test_tool_shell(tool,
                         "[ $(find out/a out/b -name '*.csv' | wc -l) = 12 ] && "
                         "for f in $(cd out && find a b -name '*.csv'); do cmp out/$f out_threads/$f || exit 1; done");
}

/* A recording that needs more memory than there is to be had: the library says so, and the take fails with its words. */
static void memory_has_a_limit(void **state)
{
    ulna_test_tool *tool = *state;
    if (SANITIZED)
        skip();
    ulna_test_take take = ulna_test_take_make(20000);
    ulna_test_take_write(tool->folder, "db/b/large.c3d", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    expect(tool, "db -s human -o out --no-reports --memory 20", 1);
    ulna_test_says(tool->out, "13 takes: 12 solved, 1 failed");
    json_t *row = result_of(tool, "out", "b/large");
    assert_string_equal(json_string_value(json_object_get(row, "status")), "failed");
    ulna_test_says(json_string_value(json_object_get(row, "message")), "memory");
    ulna_test_says(json_string_value(json_object_get(row, "message")), "the limit is 20 MB (--memory)");
    json_decref(row);
}

/* ---- places ------------------------------------------------------------------------------------------------------------------ */

static void a_lock_keeps_others_out(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "{ ULNA_BATCH_FAULT='hang a/a_01' " ULNA " batch -q db -s human -o out --no-reports --shard 1/2 "
        "--time-limit 60 >/dev/null 2>&1 & echo $! >pid; }; for i in $(seq 100); do [ -s out/journal/1-of-2.jsonl ] && "
        "break; sleep 0.1; done");
    expect(tool, RUN " --shard 1/2", 4);
    ulna_test_says(tool->err, "ulna: out: another batch (process ");
    json_t *refused = ulna_test_tool_run_json(tool, "batch", RUN " --shard 1/2", 4);
    assert_string_equal(json_string_value(json_object_get(json_object_get(refused, "error"), "status")), "io");
    json_decref(refused);
    expect(tool, RUN, 4);
    ulna_test_says(tool->err, "with another number of shards than 1");
    expect(tool, RUN " --shard 2/2", 0); /* another part of the same */
    expect(tool, "--merge out", 1);
    ulna_test_tool_shell(
        tool, "kill -9 $(cat pid); for i in $(seq 100); do kill -0 $(cat pid) 2>/dev/null || break; sleep 0.1; done");
    expect(tool, RUN " --shard 1/2", 0); /* a crash leaves no lock behind */
}

static void outputs_need_room(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "mkdir mine; echo x >mine/a.csv");
    expect(tool, "db -s human -o mine", 2); /* the files of somebody else */
    ulna_test_says(tool->err, "'mine' has files that are not of a batch");
    expect(tool, "db -s human -o db", 2);
    expect(tool, "db -s human -o take.c3d", 4);
    /* A limit of the size of files: nothing is listed as failed, as it is not the takes' fault. */
    ulna_test_tool_shell(
        tool,
        "(ulimit -f 8; " ULNA " batch -q db -s human -o out --formats csv --no-reports 2>err; [ $? = 4 ]) && grep -q "
        "'stopped: .*cannot write the file.*; once that is mended, the same command goes on' err && [ -z \"$(find out -name "
        "'*.tmp')\" ]");
    assert_int_equal(count_of(tool, "db -s human -o out --formats csv --no-reports", 0, "done"), 12);
}

/* A disk that is full, and a folder that cannot be written to, where the system lets us mount them. */
static void disks_may_be_full_or_read_only(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool,
                         "mkdir disk; unshare -rm mount -t tmpfs -o size=1m none disk 2>/dev/null || touch no-mount");
    ulna_test_tool_shell(
        tool,
        "[ -e no-mount ] || unshare -rm sh -c 'mount -t tmpfs -o size=200k none disk && { " ULNA
        " batch -q db -s human -o disk/out --formats csv --no-reports 2>err; [ $? = 4 ]; } && grep -q \"No space left\" err && [ -z "
        "\"$(find disk -name \"*.tmp\")\" ] && mount -o remount,size=20m disk && " ULNA
        " batch -q db -s human -o disk/out --formats csv --no-reports && [ $(find disk/out/a disk/out/b -name \"*.csv\" | wc -l) = 12 ]'");
    ulna_test_tool_shell(
        tool, "[ -e no-mount ] || unshare -rm sh -c 'mount -t tmpfs -o ro none disk && { " ULNA
              " batch -q db -s human -o disk/out 2>err; [ $? = 4 ]; } && grep -q \"Read-only file system\" err'");
}

/* ---- shards -------------------------------------------------------------------------------------------------------------------- */

/* Each take is in exactly one of them, and they have about the same size. */
static void shards_are_balanced(void **state)
{
    ulna_test_tool *tool = *state;
    double bytes[4] = {0}, largest = 0;
    int takes = 0;
    ulna_test_tool_shell(
        tool, "for i in 1 2 3 4 5 6; do for k in $(seq $((4 * i))); do cat take.c3d; done >db/b/b_0$i.c3d; done");
    for (int s = 0; s < 4; s++) {
        char arguments[100];
        snprintf(arguments, sizeof arguments, "db -s human -o out --dry-run --shard %d/4", s + 1);
        json_t *plan = ulna_test_tool_run_json(tool, "batch", arguments, 0), *row;
        size_t i;
        json_array_foreach(json_object_get(plan, "takes"), i, row)
        {
            bytes[s] += number(row, "bytes");
            largest = number(row, "bytes") > largest ? number(row, "bytes") : largest;
            takes++;
        }
        json_decref(plan);
    }
    assert_int_equal(takes, 12);
    for (int s = 0; s < 4; s++)
        for (int k = 0; k < 4; k++)
            assert_true(bytes[s] - bytes[k] < 0.5 * largest);
}

static int takes_with(ulna_test_tool *tool, const char *environment, const char *options, int code)
{
    char script[500];
    snprintf(script, sizeof script, "%s " ULNA " batch --json db -s human -o out --dry-run %s >plan 2>err; [ $? = %d ]",
             environment, options, code);
    ulna_test_tool_shell(tool, script);
    if (code)
        return 0;
    char *text = ulna_test_tool_file(tool, "plan");
    json_t *plan = json_loads(text, 0, NULL);
    int count = (int)json_array_size(json_object_get(plan, "takes"));
    json_decref(plan);
    free(text);
    return count;
}

static void schedulers_are_asked(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(takes_with(tool, "SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=5", "", 0), 3);
    assert_int_equal(takes_with(tool, "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=5 SLURM_ARRAY_TASK_MIN=0", "", 0),
                     2);
    assert_int_equal(
        takes_with(tool,
                   "SLURM_ARRAY_TASK_ID=15 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_STEP=10",
                   "", 0),
        6);
    assert_int_equal(takes_with(tool, "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=0", "", 0),
                     3);
    assert_int_equal(takes_with(tool, "CLOUD_RUN_TASK_INDEX=2 CLOUD_RUN_TASK_COUNT=4", "", 0), 3);
    assert_int_equal(takes_with(tool, "BATCH_TASK_INDEX=5 BATCH_TASK_COUNT=6", "", 0), 2);
    takes_with(tool, "PBS_ARRAY_INDEX=0", "--shard /4", 2);
    assert_int_equal(takes_with(tool, "SGE_TASK_ID=undefined", "", 0), 12);
    assert_int_equal(takes_with(tool, "SGE_TASK_ID=3 SGE_TASK_FIRST=1 SGE_TASK_LAST=5 SGE_TASK_STEPSIZE=2", "", 0), 4);
    assert_int_equal(takes_with(tool, "LSB_JOBINDEX=0", "", 0), 12);
    assert_int_equal(takes_with(tool, "LSB_JOBINDEX=2 LSB_JOBINDEX_END=4", "", 0), 3);
    assert_int_equal(takes_with(tool, "AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=6", "", 0), 2);
    assert_int_equal(takes_with(tool, "JOB_COMPLETION_INDEX=0", "--shard /3", 0), 4);
    assert_int_equal(takes_with(tool, "PBS_ARRAY_INDEX=12", "--shard /12", 0), 1);
    assert_int_equal(takes_with(tool, "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=1", "--shard 2/6", 0), 2);
    takes_with(tool, "JOB_COMPLETION_INDEX=0", "", 2); /* of how many? */
    takes_with(tool, "", "--shard /3", 2);
    takes_with(tool, "", "--shard 4/3", 2);
    takes_with(tool, "", "--shard 0/3", 2);
    takes_with(tool, "", "--shard 1/x", 2);
    takes_with(tool, "", "--shard 1", 2);
    takes_with(tool, "PBS_ARRAY_INDEX=13", "--shard /12", 2);
}

/* ---- Slurm ------------------------------------------------------------------------------------------------------------------------ */

static void scripts_are_written_and_submitted(void **state)
{
    ulna_test_tool *tool = *state;
    expect(
        tool,
        "db -s human -o \"o'ut\" --formats csv --no-reports --slurm 3 --threads 4 --slurm-options '--partition=long --time=10' "
        "--options '--smooth 0'",
        0);
    ulna_test_says(tool->out,
                   "submit them with:\n  sbatch --dependency=afterany:$(sbatch --parsable 'o'\\''ut/slurm/array.sh') "
                   "'o'\\''ut/slurm/merge.sh'\n");
    char *script = ulna_test_tool_file(tool, "o'ut/slurm/array.sh");
    ulna_test_says(script, "#!/bin/sh\n");
    ulna_test_says(script, "#SBATCH --array=1-3\n");
    ulna_test_says(script, "#SBATCH --cpus-per-task=4\n");
    ulna_test_says(script, "#SBATCH --requeue\n");
    ulna_test_says(script, "#SBATCH --partition=long\n#SBATCH --time=10\n");
    ulna_test_says(script, "/ulna' batch 'o'\\''ut/plan.csv' -o 'o'\\''ut' --shard \"$SLURM_ARRAY_TASK_ID/3\"");
    free(script);
    /* What Slurm would do. */
    ulna_test_tool_shell(
        tool,
        "for i in 2 3 1; do SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_COUNT=3 sh \"o'ut/slurm/array.sh\" >log || exit 1; "
        "done; sh \"o'ut/slurm/merge.sh\" >log && grep -q '12 takes: 12 solved' log && [ $(ls \"o'ut/a\" | wc -l) = 6 ]");
    /* A sbatch of our own shows how it is called. */
    ulna_test_tool_shell(
        tool,
        "mkdir bin; printf '#!/bin/sh\\necho \"$@\" >>calls\\necho 41\\n' >bin/sbatch; chmod +x bin/sbatch; PATH=$PWD/bin:$PATH " ULNA
        " batch db -s human -o sub --slurm 2 --submit >log && grep -q 'submitted: job 41, and job 41' log && grep -qx -- "
        "'--parsable sub/slurm/array.sh' calls && grep -qx -- '--parsable --dependency=afterany:41 sub/slurm/merge.sh' calls");
    ulna_test_tool_shell(
        tool,
        "printf '#!/bin/sh\\nexit 1\\n' >bin/sbatch; PATH=$PWD/bin:$PATH " ULNA
        " batch db -s human -o sub --slurm 2 --submit >log 2>&1; [ $? = 1 ] && grep -q 'sbatch did not take' log");
}

static void wrong_command_lines_are_refused(void **state)
{
    static const char *const lines[] = {"db",
                                        "db -o",
                                        "db -o out --submit",
                                        "db -o out --slurm-options --time=10",
                                        "db -o out --slurm 0",
                                        "db -o out --slurm 2 --shard 1/2",
                                        "db -o out --isolate maybe",
                                        "db -o out --time-limit -1",
                                        "db -o out --formats amc,nonsense",
                                        "db -o out --merge",
                                        "-o out",
                                        "db db -o out"};
    ulna_test_tool *tool = *state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect(tool, lines[i], 2);
    expect(tool, "--merge nowhere", 4);
    ulna_test_tool_shell(tool, "[ ! -e out ]");
}

/* The bar gives way to the words, down to a narrow window. A take that hangs makes it last long enough for a bar. */
static void time_left_is_shown_on_a_terminal(void **state)
{
    ulna_test_tool *tool = *state;
    if (system("command -v script >/dev/null") != 0)
        skip();
    ulna_test_tool_shell(
        tool,
        "for c in 70 120; do ULNA_BATCH_FAULT='hang a/a_03' TERM=xterm COLUMNS=$c script -qec '" ULNA
        " batch db -s human -o out'$c' --no-reports --threads 1 --time-limit 1' /dev/null >shown$c </dev/null; done; "
        "grep -q 'takes, [01] failed, [0-9]* frames/s, [0-9]* s left' shown70 && "
        "grep -q 'takes, [01] failed, [0-9]* frames/s, [0-9]* s left' shown120");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_takes, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(skeletons_are_found),
        TEST(manifests_are_read),
        TEST(pipes_are_no_files),
        TEST(wrong_manifests_are_refused),
        TEST(broken_manifests_do_no_harm),
        TEST(everything_is_written),
        TEST(reasons_are_listed),
        TEST(lines_of_json_come_for_each_take),
        TEST(results_do_not_depend_on_how),
        TEST(only_the_rest_is_done),
        TEST(failed_takes_are_kept_until_asked),
        TEST(finished_results_stay),
        TEST(namesakes_do_no_harm),
        TEST(kill_leaves_nothing_half_written),
        TEST(interrupts_stop_cleanly),
        TEST(faults_stay_alone),
        TEST(the_tool_itself_has_no_faults),
        TEST(processes_are_used_again),
        TEST(memory_has_a_limit),
        TEST(a_lock_keeps_others_out),
        TEST(outputs_need_room),
        TEST(disks_may_be_full_or_read_only),
        TEST(shards_are_balanced),
        TEST(schedulers_are_asked),
        TEST(scripts_are_written_and_submitted),
        TEST(wrong_command_lines_are_refused),
        TEST(time_left_is_shown_on_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
