/* `ulna batch`: which takes and skeletons are found, what is skipped, and what is refused before anything is touched. */
#include <unistd.h>

#include "support_batch.h"

/* ---- what is skipped ----------------------------------------------------------------------------------------------------- */

/* Links to folders may lead back: a note, and no failure. */
static void links_to_folders_are_noted(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool,
                         "rm -r db/b && mkdir -p other db/.hidden && cp take.c3d other && cp take.c3d db/.hidden && "
                         "ln -s ../other db/linked && ln -s ../../take.c3d db/a/linked.c3d");
    json_t *plan = ulna_test_tool_run_json(tool, "batch", "db -s human -o out --dry-run", 0);
    assert_int_equal(json_array_size(json_object_get(plan, "takes")), 7); /* links to files are followed */
    assert_int_equal(integer(plan, "links"), 1);
    assert_int_equal(integer(plan, "unread"), 0);
    ulna_test_says(json_string_value(json_array_get(json_object_get(plan, "notes"), 0)),
                   "db/linked is a link to a folder and is not followed; name its takes in a manifest");
    json_decref(plan);
    expect(tool, "db -s human -o out --dry-run", 0);
    ulna_test_says(tool->out, "db/linked is a link to a folder");
    expect(tool, "db -s human -o out --no-reports", 0);
    ulna_test_says(tool->out, "db/linked is a link to a folder");
    assert_null(strstr(tool->out, "not searched")); /* the note is enough */
    assert_int_equal(count_of(tool, "db -s human -o out --no-reports", 0, "links"), 1);
    ulna_test_tool_shell(tool, "for i in $(seq 30); do ln -s ../other db/l$i; done");
    expect(tool, "db -s human -o out --dry-run", 0);
    ulna_test_says(tool->out, "not searched in all: 31 links to folders\n");
    /* Nothing else is there. */
    ulna_test_tool_shell(tool, "mkdir only && ln -s ../db only/db");
    expect(tool, "only -o out2", 3);
    ulna_test_says(tool->err, "only/db is a link to a folder");
}

/* A name that is too long for the system cannot be opened by anybody, not even by root, who may read all else. */
static void folders_that_cannot_be_read_are_no_success(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "n=$(printf '%0200d' 0) && d=$n && for i in $(seq 14); do d=$d/$n; done && mkdir -p db/b/$d $d && mv $n db/b/$d/");
    json_t *plan = ulna_test_tool_run_json(tool, "batch", "db -s human -o out --dry-run", 1);
    assert_int_equal(integer(plan, "unread"), 1);
    assert_int_equal(integer(plan, "left"), 12);
    ulna_test_says(json_string_value(json_array_get(json_object_get(plan, "notes"), 0)),
                   "cannot be read (File name too long): takes below it are missing; make it readable");
    json_decref(plan);
    expect(tool, "db -s human -o out --no-reports", 1);
    ulna_test_says(tool->out, "12 takes: 12 solved");
    ulna_test_says(tool->out, "cannot be read (File name too long)");
    assert_null(strstr(tool->out, "not searched"));
    assert_string_equal(tool->err, "");
    expect(tool, "--quiet db -s human -o out --no-reports", 1);
    ulna_test_says(tool->err, "ulna: 1 folder cannot be read; takes below it are missing");
    assert_int_equal(count_of(tool, "db -s human -o out --no-reports", 1, "unread"), 1);
    /* Shards that have the plan only do not know; the merge does, until a plan is made without it. */
    expect(tool, "db -s human -o out3 --slurm 2 --no-reports", 1);
    ulna_test_tool_shell(
        tool,
        "for i in 1 2; do SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_COUNT=2 sh out3/slurm/array.sh || exit 1; done");
    expect(tool, "--merge out3", 1);
    ulna_test_says(tool->out, "12 takes: 12 solved");
    ulna_test_says(tool->out, "takes below it are missing;");
    assert_string_equal(tool->err, "");
    json_t *counts = ulna_test_tool_run_json(tool, "batch", "--merge out3", 1);
    assert_int_equal(integer(counts, "unread"), 1);
    assert_int_equal(json_array_size(json_object_get(counts, "notes")), 1);
    json_decref(counts);
    ulna_test_tool_shell(tool, "mv db/b/0* .");
    expect(tool, "db -s human -o out3 --no-reports --shard 1/2", 0);
    expect(tool, "--merge out3", 0);
    assert_null(strstr(tool->out, "cannot be read"));
    if (geteuid() == 0)
        return;
    ulna_test_tool_shell(tool, "rm -r db/b && chmod 0 db/a && mkdir db/c && cp take.c3d db/c");
    expect(tool, "db -s human -o out4 --no-reports", 1);
    ulna_test_says(tool->out, "db/a cannot be read (Permission denied)");
    ulna_test_tool_shell(tool, "chmod 700 db/a");
}

/* With C3D as a format, their motions would be takes. */
static void outputs_of_batches_are_not_searched(void **state)
{
    ulna_test_tool *tool = *state;
    expect(tool, "db/b -s human -o db/solved --formats c3d --no-reports", 0);
    json_t *plan = ulna_test_tool_run_json(tool, "batch", "db -s human -o out --dry-run", 0);
    assert_int_equal(json_array_size(json_object_get(plan, "takes")), 12);
    assert_int_equal(integer(plan, "outputs"), 1);
    json_decref(plan);
    expect(tool, "db -s human -o out --no-reports", 0);
    ulna_test_says(tool->out, "db/solved is the output of a batch and is not searched");
    json_t *counts = ulna_test_tool_run_json(tool, "batch", "--merge out", 0);
    assert_int_equal(integer(counts, "outputs"), 1);
    json_decref(counts);
    expect(tool, "db -s human -o db/solved --dry-run", 0); /* its own */
    assert_null(strstr(tool->out, "is the output of a batch"));
    ulna_test_tool_shell(tool, "mkdir only && mv db/solved only");
    expect(tool, "only -s human -o out2", 3);
    ulna_test_says(tool->err, "only/solved is the output of a batch");
    expect(tool, "only/solved -s human -o out2 --dry-run", 0); /* whoever names it means it */
}

static void recordings_that_are_not_there_fail(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, "rm -r db/b && ln -s gone.c3d db/a/x.c3d && mkfifo db/a/y.trc && ln -s gone.asf db/a/human.asf");
    expect(tool, "db -s human -o out --dry-run", 1);
    ulna_test_says(tool->out, "cannot solve a/x: ");
    expect(tool, "db -s human -o out --no-reports", 1);
    ulna_test_says(tool->out, "8 takes: 6 solved, 2 failed");
    expect_result(tool, "out", "a/x", "failed",
                  "a/x.c3d is a link to a file that is not there: mend or remove the link");
    expect_result(tool, "out", "a/y", "failed", "a/y.trc is not a file");
}

/* ---- skeletons ------------------------------------------------------------------------------------------------------------- */

/* What `ulna solve -o walk.glb` left beside walk.c3d is no skeleton, also not of another take; but a BVH may be the only one. */
static void motions_of_takes_are_no_skeletons(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "rm -r db && mkdir -p db/one db/two/day db/own && for f in one/walk one/walk_2 one/run two/day/walk own/walk "
        "own/run; do cp take.c3d db/$f.c3d; done && " ULNA " sample -q t && cp t/human.asf db/one && cp t/human.json "
        "db/two && touch db/one/walk.glb db/one/run.BVH db/two/day/walk.gltf db/two/walk.bvh db/own/walk.bvh "
        "db/own/run.bvh");
    json_t *plan = ulna_test_tool_run_json(tool, "batch", "db -o out --dry-run", 0);
    expect_end(planned(plan, "one/walk"), "skeleton", "/db/one/human.asf");
    expect_end(planned(plan, "one/walk_2"), "skeleton", "/db/one/human.asf");
    expect_end(planned(plan, "one/run"), "skeleton", "/db/one/human.asf");
    expect_end(planned(plan, "two/day/walk"), "skeleton", "/db/two/human.json"); /* above */
    expect_end(planned(plan, "own/walk"), "skeleton", "/db/own/walk.bvh");
    expect_end(planned(plan, "own/run"), "skeleton", "/db/own/run.bvh");
    json_decref(plan);
}

/* ---- command lines --------------------------------------------------------------------------------------------------------- */

static void expect_refusal(ulna_test_tool *tool, const char *arguments, int code, const char *message)
{
    expect(tool, arguments, code);
    ulna_test_says(tool->err, message);
    ulna_test_tool_shell(tool, "[ ! -e out ]");
}

static void formats_are_named_once(void **state)
{
    ulna_test_tool *tool = *state;
    expect_refusal(tool, "db -s human -o out --formats amc,bvh,AMC", 2, "--formats names AMC twice");
    expect_refusal(tool, "db -s human -o out --formats ''", 2, "--formats takes endings such as amc,bvh,glb");
    expect_refusal(
        tool, "db -s human -o out --formats amc,bvj,glb", 2,
        "--formats: 'bvj' cannot be written; did you mean 'bvh'? There is asf, amc, bvh, c3d, trc, mot, csv, gltf, glb");
    expect_refusal(tool, "db -s human -o out --formats bvh,fbx", 2, "--formats: 'fbx' cannot be written; ");
    expect_refusal(tool, "db -s human -o out --formats amc,nonsense", 2,
                   "'nonsense' cannot be written; there is asf, amc, bvh,");
    for (const char *all = "amc bvh glb gltf csv mot c3d trc asf json"; *all;
         all += strcspn(all, " "), all += *all == ' ') {
        char line[80];
        snprintf(line, sizeof line, "db -s human -o out --dry-run --formats %.*s", (int)strcspn(all, " "), all);
        expect(tool, line, 0);
    }
}

static void files_for_all_takes_are_looked_at_first(void **state)
{
    ulna_test_tool *tool = *state;
    expect_refusal(tool, "db -s nothere.asf -o out", 4, "nothere.asf: cannot open the file: No such file or directory");
    expect_refusal(tool, "db -s nothere -o out", 4, "nor is it a built-in skeleton (human,");
    expect_refusal(tool, "db -s human -a nothere.csv -o out --dry-run", 4,
                   "nothere.csv: cannot open the file: No such file or directory");
    expect_refusal(tool, "db -s db/a -o out", 4, "db/a: is not a file");
    json_decref(ulna_test_tool_run_json(tool, "batch", "db -s nothere.asf -o out", 4));
    expect_refusal(tool, "db -s human -o out --options '--bounds foo'", 4,
                   "foo: cannot open the file of --bounds: No such file or directory (--options)");
    expect_refusal(tool, "db -s human -o out --options '--init db'", 4,
                   "db: is not a file, as --init needs (--options)");
    json_decref(ulna_test_tool_run_json(tool, "batch", "db -s human -o out --options '--constraints foo'", 4));
    expect(tool, "db -s human -o out --dry-run --options '--bounds none --init rest --attach names'", 0);
    ulna_test_tool_shell(tool, "printf 'take,options\\ntake.c3d,--bounds foo\\n' >m.csv");
    expect(tool, "m.csv -s human -o out --dry-run", 1);
    ulna_test_says(tool->out, "m.csv:2: its options: foo: cannot open the file of --bounds");
    if (geteuid() == 0)
        return;
    ulna_test_tool_shell(tool, "touch closed.csv && chmod 0 closed.csv");
    expect_refusal(tool, "db -s human -a closed.csv -o out", 4, "closed.csv: cannot open the file: Permission denied");
}

/* Not in the middle of a word. */
static void long_messages_end_with_dots(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "w=$(for i in $(seq 80); do printf 'word '; done) && printf 'take,options\\n"
                               "db/a/a_01.c3d,--frames \\047%s\\047\\n' \"$w\" >m.csv");
    expect(tool, "m.csv -s human -o out --no-reports", 1);
    json_t *row = result_of(tool, "out", "db/a/a_01");
    expect_end(row, "message", " word ...");
    json_decref(row);
}

/* ---- errors as words -------------------------------------------------------------------------------------------------------- */

static void expect_error(const ulna_test_tool *tool, const char *take, const char *error)
{
    json_t *row = result_of(tool, "out", take);
    assert_string_equal(json_string_value(json_object_get(row, "status")), "failed");
    assert_string_equal(json_string_value(json_object_get(row, "error")), error);
    json_decref(row);
}

/* Every row that failed has one, whatever failed, in each kind of output. */
static void failed_rows_have_an_error(void **state)
{
    ulna_test_tool *tool = *state;
    size_t i;
    json_t *row;
    ulna_test_tool_shell(tool, "printf garbage >db/a/bad.c3d; printf 'take,skeleton,options,name\n"
                               "db/a/a_01.c3d,human,,crash\ndb/a/a_02.c3d,human,,hang\ndb/a/bad.c3d,human,,bad\n"
                               "db/none.c3d,human,,none\ndb/a/a_03.c3d,,,bare\ndb/a/a_04.c3d,human,--frames x,words\n"
                               "db/a/a_05.c3d,human,,twice\ndb/a/a_06.c3d,gone.asf,,twice\n' >m.csv");
    setenv("ULNA_BATCH_FAULT", "crash crash", 1);
    expect(tool, "--json m.csv -o out --no-reports", 1);
    json_decref(lines_of(tool->out));
    setenv("ULNA_BATCH_FAULT", "hang hang", 1);
    expect(tool, "--json m.csv -o out --no-reports --time-limit 1 --options '--smooth 0'", 1);
    json_decref(lines_of(tool->out));
    unsetenv("ULNA_BATCH_FAULT");
    expect_error(tool, "hang", "time");
    expect_error(tool, "bad", "parse");
    expect_error(tool, "none", "io");
    expect_error(tool, "bare", "argument");
    expect_error(tool, "words", "argument");
    setenv("ULNA_BATCH_FAULT", "crash crash", 1);
    expect(tool, "m.csv -o out --no-reports --options '--smooth 1'", 1);
    unsetenv("ULNA_BATCH_FAULT");
    expect_error(tool, "crash", "crash");
    expect(tool, "--merge out", 1);
    expect_error(tool, "crash", "crash");
    json_t *plan =
        ulna_test_tool_run_json(tool, "batch", "m.csv -o out --no-reports --options '--smooth 1' --dry-run", 1);
    json_array_foreach(json_object_get(plan, "takes"), i, row)
    {
        check_error(row);
    }
    assert_int_equal(integer(plan, "failed"), 6);
    json_decref(plan);
    /* A line that an earlier version has written. */
    ulna_test_tool_shell(tool, "sed -i 's/\"error\":\"crash\",//' out/journal/*.jsonl");
    expect(tool, "--merge out", 1);
    expect_error(tool, "crash", "unknown");
}

/* Comments, empty lines and quotes with line breaks count; folders have no lines. */
static void failures_name_the_line_of_the_manifest(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "printf 'take,subject\n# a comment\n\n"
                               "db/a/a_01.c3d,\"A\nB\"\ndb/gone.c3d,C\n' >sub.csv");
    expect(tool, "sub.csv -s human -o out --dry-run", 1);
    ulna_test_says(tool->out, "cannot solve db/gone: sub.csv:6: there is no file ");
    json_t *plan = ulna_test_tool_run_json(tool, "batch", "sub.csv -s human -o out --dry-run", 1);
    ulna_test_says(json_string_value(json_object_get(planned(plan, "db/gone"), "problem")), "sub.csv:6: ");
    json_decref(plan);
    expect(tool, "sub.csv -s human -o out --no-reports", 1);
    expect_result(tool, "out", "db/gone", "failed", "sub.csv:6: there is no file ");
    ulna_test_tool_shell(tool, "ln -s gone.c3d db/a/x.c3d");
    expect(tool, "db -s human -o out2 --no-reports", 1);
    ulna_test_says(tool->out, "failed a/x: /");
}

/* ---- merging ---------------------------------------------------------------------------------------------------------------- */

static void merges_name_what_failed(void **state)
{
    ulna_test_tool *tool = *state;
    expect(tool, "--merge", 2);
    ulna_test_says(tool->err, "missing argument: ulna batch --merge OUT");
    expect(tool, "-o out", 2);
    ulna_test_says(tool->err, "missing argument: ulna batch FOLDER|MANIFEST -o OUT");
    expect(tool, "--merge db", 4);
    ulna_test_says(tool->err, "db: is not the output folder of a batch, as it has no plan.csv");
    expect(tool, "--merge nowhere", 4);
    ulna_test_says(tool->err, "nowhere: cannot open the folder: No such file");
    ulna_test_tool_shell(tool, "[ ! -e db/journal ] && [ ! -e nowhere ] && printf garbage >db/a/bad.c3d");
    (void)run(tool, "db -s human -o out --no-reports --shard 1/2");
    (void)run(tool, "db -s human -o out --no-reports --shard 2/2");
    expect(tool, "--merge out", 1);
    ulna_test_says(tool->out, "failed a/bad: bad.c3d: ");
    ulna_test_says(tool->out, "out/index.html, out/results.csv, out/results.jsonl");
    expect(tool, "--merge out --quiet", 1);
    assert_string_equal(tool->out, "");
    ulna_test_says(tool->err, "ulna: a/bad: bad.c3d: ");
    json_t *counts = ulna_test_tool_run_json(tool, "batch", "--merge out", 1);
    assert_int_equal(integer(counts, "failed"), 1);
    json_decref(counts);
}

/* Two names that are not UTF-8, and the same but for a byte that is not. */
static void names_may_be_latin(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "rm -rf db; e=$(printf '\\351') g=$(printf '\\350'); mkdir -p db/$e db/$g && "
                               "cp take.c3d db/$e/x_$e.c3d && cp take.c3d db/$g/x_$e.c3d");
    for (int kept = 0; kept <= 2; kept += 2) {
        assert_int_equal(count_of(tool, "db -s human -o out --no-reports --formats csv", 0, "kept"), kept);
        ulna_test_tool_shell(tool, "[ -s out/\303\251/x_\303\251.csv ] && [ -s out/\303\250/x_\303\251.csv ]");
    }
}

/* Another way to say the same name would be another file of the same take, or of the batch's own. */
static void names_are_plain(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool,
                         "f=$(pwd)/take.c3d; for n in ./plan ./a a/./b a/b . a/; do echo \"$f,human,$n\"; done | sed "
                         "'1i take,skeleton,name' >m.csv");
    expect(tool, "m.csv -o out --no-reports --formats csv", 1);
    ulna_test_says(tool->out, "6 takes: 1 solved, 5 failed");
    ulna_test_says(tool->out, "m.csv:2: the name './plan' is not one of a file below the output folder");
    expect(tool, "--merge out", 1);
    ulna_test_says(tool->out, "6 takes: 1 solved, 5 failed");
    assert_null(strstr(tool->out, "plan.csv:"));
}

/* Takes whose outputs would be files of the batch, by their place in the database or by a manifest. */
static void names_of_the_batch_are_refused(void **state)
{
    static const char *const names[] = {"plan", "results", "index", "journal", "calibration/x", "slurm/array"};
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool,
                         "rm -r db && mkdir -p db/calibration db/slurm db/plan && for n in plan results index journal "
                         "calibration/x slurm/array plan/x journal_1; do cp take.c3d db/$n.c3d; done");
    expect(tool, "db -s human -o out --formats csv", 1);
    ulna_test_says(tool->out, "8 takes: 2 solved, 6 failed");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_result(tool, "out", names[i], "failed", "name the take in a manifest");
    expect_result(tool, "out", "plan", "failed", "the batch itself uses the name 'plan' in the output folder");
    ulna_test_tool_shell(tool,
                         "head -1 out/plan.csv | grep -q '^take,' && grep -q 'Takes of a batch' out/index.html && "
                         "printf 'take,skeleton,name\\ntake.c3d,human,slurm\\n' >m.csv");
    expect(tool, "m.csv -o out2 --dry-run", 1);
    ulna_test_says(tool->out, "m.csv:2: the batch itself uses the name 'slurm'");
}

/* ---- OUT/plan.csv ---------------------------------------------------------------------------------------------------------- */

/* Shards and merges, which have only the plan, give the reason of the run that looked for a skeleton. */
static void reasons_do_not_depend_on_the_plan(void **state)
{
    static const char none[] =
        "no skeleton was found: put one beside the take whose name begins that of the take, or give one with --skeleton or a manifest";
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool,
                         ULNA " sample -q t && rm -r db && mkdir -p db/two db/one && cp take.c3d db/two/x.c3d && cp "
                              "take.c3d db/one/y.c3d && cp t/human.asf db/two/k.asf && cp t/human.asf db/two/l.asf");
    expect(tool, "db -o out --slurm 1 --no-reports", 0);
    for (int round = 0; round < 2; round++) {
        expect(tool, round ? "--merge out" : "out/plan.csv -o out --no-reports", 1);
        expect_result(tool, "out", "two/x", "failed", "there are several skeletons (two/k.asf, two/l.asf)");
        json_t *row = result_of(tool, "out", "one/y");
        assert_string_equal(json_string_value(json_object_get(row, "message")), none);
        json_decref(row);
    }
    /* A skeleton that somebody has filled in. */
    expect(tool, "out/plan.csv -o out --no-reports -s human", 0);
    /* Of a manifest, with its line. */
    ulna_test_tool_shell(tool, "cp take.c3d two.c3d; printf 'take,skeleton\\ntake.c3d,\\ntwo.c3d,human\\n' >m.csv");
    expect(tool, "m.csv -o out2 --slurm 1", 0);
    expect(tool, "--merge out2", 1);
    expect_result(tool, "out2", "take", "failed", "m.csv:2: the manifest names no skeleton for it: fill in");
}
/* They would be added again in each run, which then would keep nothing. */
static void options_are_not_added_to_the_own_plan(void **state)
{
    ulna_test_tool *tool = *state;
    expect(tool, "db -s human -o out --no-reports --options '--frames 1:9'", 0);
    expect(tool, "out/plan.csv -o out --no-reports --options '--smooth 0'", 2);
    ulna_test_says(tool->err, "--options would be added to those that are in out/plan.csv already: leave them out, or");
    assert_int_equal(count_of(tool, "out/plan.csv -o out --no-reports", 0, "kept"), 12);
    assert_int_equal(count_of(tool, "out/plan.csv -o out --no-reports --options ''", 0, "kept"), 12);
    expect(tool, "out/plan.csv -o out2 --no-reports --options '--smooth 0'", 0); /* another batch */
}

/* ---- Slurm ----------------------------------------------------------------------------------------------------------------- */

static void options_of_sbatch_keep_their_values(void **state)
{
    ulna_test_tool *tool = *state;
    expect(
        tool,
        "db -s human -o 50%x --slurm 2 --slurm-options \"-p main --comment='a \\\"b' --mail-user x@y.z 'odd one' --exclusive\"",
        0);
    char *script = ulna_test_tool_file(tool, "50%x/slurm/array.sh");
    ulna_test_says(script, "#SBATCH -p main\n#SBATCH --comment=\"a \\\"b\"\n#SBATCH --mail-user x@y.z \"odd one\"\n"
                           "#SBATCH --exclusive\n");
    ulna_test_says(script, "#SBATCH --output=\"50%%x/slurm/\"%A_%a.log\n");
    ulna_test_says(script, "-o '50%x'");
    free(script);
    expect_refusal(tool, "db -s human -o out --slurm 2 --slurm-options \"--comment='a\"", 2, "a quote is not closed");
    expect_refusal(tool, "db -s human -o out --slurm 2 --slurm-options main", 2, "takes options of sbatch");
}

/* A line end in a name would end its line of the script, and what follows would be a command. */
static void names_of_folders_are_no_commands(void **state)
{
    ulna_test_tool *tool = *state;
    expect(tool, "db -s human -o 'o\ntouch INJECTED\n#' --slurm 2", 2);
    ulna_test_says(tool->err, "--slurm: the output folder, 'o?touch INJECTED?#', has a line break or another control "
                              "character in its name, which job scripts cannot hold: use another folder");
    expect(tool, "db -s human -o 'a\tb' --slurm 2", 2);
    ulna_test_tool_shell(tool,
                         "[ \"$(ls)\" = \"$(printf 'db\\ntake.c3d\\ntruth.csv')\" ] && mkdir 'c\ntouch INJECTED\n#' && "
                         "cd c* && " ULNA " batch ../db -s human -o out --slurm 2 2>err; [ $? = 2 ] && "
                         "grep -q 'the current folder, .* has a line break' err && ! [ -e out ]");
    expect(tool, "db/a -s human -o 'o\nk' --formats csv --no-reports", 0); /* without scripts such names do no harm */
}

/* Spreadsheets run what begins with one of these characters; programs get the name itself. */
static void names_are_no_formulas(void **state)
{
    static const char *const names[] = {"=cmd|calc!A1", "+1", "-1", "@SUM", "\tx", "'=apostrophe", "plain"};
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "rm -r db");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[100];
        snprintf(line, sizeof line, "mkdir -p db && cp take.c3d \"db/%s.c3d\"", names[i]);
        ulna_test_tool_shell(tool, line);
    }
    expect(tool, "db -s human -o out --formats csv --no-reports", 0);
    for (int k = 0; k < 2; k++) {
        char *table = ulna_test_tool_file(tool, k ? "out/plan.csv" : "out/results.csv");
        for (const char *line = table; *line; line += strcspn(line, "\n"), line += *line == '\n')
            for (const char *cell = line; *cell && *cell != '\n'; cell += strcspn(cell, ",\n"), cell += *cell == ',')
                if (strchr("=+-@\t", cell[*cell == '"']))
                    fail_msg("a cell is a formula: %s", cell);
        free(table);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_result(tool, "out", names[i], "done", NULL);
    /* The plan has the same names when it is read. */
    assert_int_equal(count_of(tool, "out/plan.csv -o out --formats csv --no-reports", 0, "kept"), 7);
    ulna_test_tool_shell(tool, "printf \"take,name,options\\ntake.c3d,'=x,'--smooth 0\\n\" >m.csv");
    expect(tool, "m.csv -s human -o out2 --formats csv --no-reports", 0);
    expect_result(tool, "out2", "=x", "done", NULL);
}

static void limits_need_processes(void **state)
{
    ulna_test_tool *tool = *state;
    expect_refusal(tool, "db -s human -o out --isolate off --time-limit 3", 2,
                   "--time-limit holds for processes apart, and --isolate off has none");
    expect_refusal(tool, "db -s human -o out --isolate off --memory 300", 2, "--memory holds for processes apart");
}

/* Neither a folder nor a manifest. */
static void sources_are_named(void **state)
{
    ulna_test_tool *tool = *state;
    expect_refusal(tool, "take.c3d -s human -o out", 3,
                   "take.c3d: this is a recording: give its folder, or use `ulna solve`");
    expect_refusal(tool, "nowhere -s human -o out", 4, "nowhere: there is no folder or manifest of this name");
    ulna_test_tool_shell(
        tool,
        "printf 'Take,SKELETON\\ntake.c3d,human\\n' >m.csv && printf 'take,Skelton\\ntake.c3d,human\\n' >near.csv");
    expect(tool, "m.csv -o out --dry-run", 0);
    expect_refusal(tool, "near.csv -o out", 3, "near.csv: there is no column 'Skelton'; did you mean 'skeleton'?");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_takes, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(links_to_folders_are_noted),
        TEST(folders_that_cannot_be_read_are_no_success),
        TEST(outputs_of_batches_are_not_searched),
        TEST(recordings_that_are_not_there_fail),
        TEST(motions_of_takes_are_no_skeletons),
        TEST(formats_are_named_once),
        TEST(files_for_all_takes_are_looked_at_first),
        TEST(long_messages_end_with_dots),
        TEST(failed_rows_have_an_error),
        TEST(failures_name_the_line_of_the_manifest),
        TEST(merges_name_what_failed),
        TEST(names_may_be_latin),
        TEST(names_are_plain),
        TEST(names_of_the_batch_are_refused),
        TEST(reasons_do_not_depend_on_the_plan),
        TEST(options_are_not_added_to_the_own_plan),
        TEST(options_of_sbatch_keep_their_values),
        TEST(names_of_folders_are_no_commands),
        TEST(names_are_no_formulas),
        TEST(limits_need_processes),
        TEST(sources_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
