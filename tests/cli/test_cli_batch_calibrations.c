/* `ulna batch`: calibrations that takes of a session share, and takes that are calibrated by themselves. */
#include "support_batch.h"
#include "support_walk.h"

/* Once for each subject and session, from takes that can be read. */
static void calibrations_are_shared(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "rm -rf db; " ULNA " sample -q t && mkdir -p db/anna db/bob && cp t/human.asf db/anna/anna.asf && cp "
        "t/human.asf db/bob/bob.asf && for i in 1 2 3; do cp t/walk.c3d db/anna/anna_$i.c3d; done; cp t/walk.c3d "
        "db/bob/bob_1.c3d; for i in $(seq 60); do cat t/walk.c3d; done | tr 'C' 'c' >db/bob/bob_2.c3d; printf PP >>db/bob/bob_2.c3d; "
        "head -c 400 t/walk.c3d >db/bob/bob_3.c3d");
    expect(tool, "db -o out --no-reports --options '--frames 1:60'", 1);
    expect_result(tool, "out", "anna/anna_1", "done", NULL);
    expect_result(tool, "out", "bob/bob_1", "done", NULL);
    expect_result(tool, "out", "bob/bob_3", "failed", "bob_3.c3d");
    ulna_test_tool_shell(
        tool,
        "[ -s out/calibration/anna/anna.csv ] && [ -s out/calibration/bob/bob.csv ] && ls -i out/calibration/anna/anna.csv >before");
    json_t *row = result_of(tool, "out", "anna/anna_2");
    assert_below(number(row, "rms_mm"), 12);
    json_decref(row);
    expect_plan(tool, "db -o out --no-reports --options '--frames 1:60'", 0, 5, 1);
    assert_int_equal(count_of(tool, "db -o out --no-reports --options '--frames 1:60'", 1, "kept"), 6);
    /* Other options of a take do not calibrate again; another take of the session does, and solves anew. */
    expect(tool, "db -o out --no-reports --options '--frames 1:50'", 1);
    ulna_test_tool_shell(tool, "ls -i out/calibration/anna/anna.csv | cmp - before");
    ulna_test_tool_shell(tool, "cp t/walk.c3d db/anna/anna_4.c3d");
    expect(tool, "db -o out --no-reports --options '--frames 1:50' --dry-run", 0);
    ulna_test_says(tool->out, "4 takes to solve\n1 calibration, and one more for each take ");
    ulna_test_says(tool->out, "\n2 takes done already\n1 take failed before; --retry-failed solves it again\n");
    expect(tool, "db -o out --no-reports --options '--frames 1:50'", 1);
    ulna_test_tool_shell(tool, "ls -i out/calibration/anna/anna.csv | cmp - before && exit 1; exit 0");
    /* Markers that nobody knows. */
    ulna_test_tool_shell(
        tool,
        "mkdir strange && cp t/human.asf strange && printf 'Time,X1_x,X1_y,X1_z,X2_x,X2_y,X2_z\\n0,1,2,3,4,5,6\\n0.1,1,2,3,4,5,6\\n' "
        ">strange/x.csv && " ULNA " convert -q strange/x.csv strange/x.trc");
    expect(tool, "strange -o out2 --no-reports", 1);
    expect_result(tool, "out2", "x", "failed", "x.trc: ");
    /* A take of a group without a calibration is not tried again, unless it changes or somebody asks. */
    ulna_test_tool_shell(tool, "mkdir broken && cp t/human.asf broken && printf garbage >broken/x.c3d");
    for (int round = 0; round < 2; round++)
        assert_int_equal(count_of(tool, "broken -o out3 --no-reports", 1, "kept"), round);
    json_t *failed = result_of(tool, "out3", "x");
    assert_int_equal(strlen(json_string_value(json_object_get(failed, "key"))), 16);
    json_decref(failed);
    expect(tool, "broken -o out3 --no-reports --dry-run", 0);
    ulna_test_says(tool->out, "0 takes to solve\n1 take failed before");
    assert_int_equal(count_of(tool, "broken -o out3 --no-reports --retry-failed", 1, "kept"), 0);
    ulna_test_tool_shell(tool, "cp t/walk.c3d broken/x.c3d");
    assert_int_equal(count_of(tool, "broken -o out3 --no-reports --options '--frames 1:20'", 0, "done"), 1);
}

/* The folder anew: SUBJECT.asf, one take whose markers sit elsewhere than in SUBJECT_1, SUBJECT_2 and SUBJECT_3, which are larger. */
typedef struct session {
    const char *subject, *other, *other_on_page;
} session;

static void shell(const ulna_test_tool *tool, const session *s, const char *script)
{
    char line[1024];
    snprintf(line, sizeof line, "s=%s t=%s; %s", s->subject, s->other, script);
    ulna_test_tool_shell(tool, line);
}

/* A calibration for all, from the largest three, does not fit the other take, which is calibrated by itself; they are as they were. */
static void check_placed_anew(ulna_test_tool *tool, const session *s)
{
    static const char solve[] = "anew -o out --no-reports --options '--frames 1:500'";
    char text[200], takes[3][100];
    expect(tool, "anew -o out --dry-run", 0);
    ulna_test_says(tool->out, "4 takes to solve\n1 calibration, and one more for each take whose"); /* two are made */
    expect(tool, solve, 0);
    ulna_test_says(tool->out, "calibrated by itself: its markers were placed anew");
    snprintf(takes[0], sizeof takes[0], "%s", s->other);
    for (int i = 1; i < 3; i++)
        snprintf(takes[i], sizeof takes[i], "%s_%d", s->subject, i);
    for (int i = 0; i < 3; i++) {
        json_t *row = result_of(tool, "out", takes[i]);
        assert_below(number(row, "rms_mm"), 10);
        assert_int_equal(json_is_true(json_object_get(row, "placed_anew")), i == 0);
        json_decref(row);
    }
    /* On the page, too: of this take only. */
    char *page = ulna_test_tool_file(tool, "out/index.html");
    snprintf(text, sizeof text, "<td>%s</td>", s->other_on_page);
    const char *anew = strstr(page, "its markers were placed anew"), *row_of = strstr(page, text);
    assert_non_null(anew);
    assert_non_null(row_of);
    assert_true(anew > row_of && anew < strstr(row_of, "</tr>"));
    assert_null(strstr(anew + 1, "its markers were placed anew"));
    free(page);
    shell(tool, s, "cd out/calibration && [ -s $s.csv ] && [ \"$(ls *~take.csv)\" = $t~take.csv ]");
    expect_plan(tool, solve, 0, 4, 0);
    assert_int_equal(count_of(tool, solve, 0, "kept"), 4);
    /* The axes that the calibration tried are those that the take alone finds. */
    shell(tool, s,
          "grep -q '\"axes_tried\": true' out/calibration/$t~take.json && " ULNA
          " solve -q -s anew/$s.asf -m anew/$t.c3d -a out/calibration/$t~take.csv --frames 1:500 -o alone.amc && "
          "cmp alone.amc out/$t.amc");
    /* If its own table cannot be written, it is not solved with that of the others. */
    shell(tool, s, "mkdir -p out2/journal && touch out2/journal/lock && mkdir -p \"out2/calibration/$t~take.csv/x\"");
    expect(tool, "anew -o out2 --no-reports --options '--frames 1:500'", 1);
    snprintf(text, sizeof text, "%s~take.csv: cannot write the table of markers: ", s->other);
    ulna_test_says(tool->out, text);
    shell(tool, s, "[ ! -e out2/$t.amc ]");
}

/* The markers of the left leg sit 7 cm apart in one take. */
static void markers_may_be_placed_anew(void **state)
{
    static const session s = {"eve", "eve_anew", "eve_<wbr/>anew"};
    ulna_test_tool *tool = *state;
    ulna_test_walk walk = ulna_test_walk_make(1e-3);
    ulna_test_tool_shell(tool, "mkdir anew");
    ulna_test_take_write(tool->folder, "anew/eve.asf", walk.skeleton.model, NULL, NULL);
    ulna_test_take_write(tool->folder, "anew/eve_1.c3d", NULL, NULL, &walk.markers);
    ulna_test_tool_shell(tool, "cd anew && cp eve_1.c3d eve_2.c3d && cp eve_1.c3d eve_3.c3d");
    for (size_t i = 0; i < walk.set.count; i++) {
        const char *marker = walk.set.items[i].marker;
        if (strcmp(marker, "LTHI") == 0 || strcmp(marker, "LKNE") == 0 || strcmp(marker, "LSHN") == 0)
            walk.set.items[i].offset[1] -= marker[1] == 'K' ? 0.07 : -0.07;
    }
    ulna_recording other = ulna_test_walk_record(&walk, &walk.set, 1e-3);
    assert_int_equal(ulna_recording_resize(&walk.markers, (int)walk.set.count, other.frame_count - 40), ULNA_OK);
    memcpy(walk.markers.positions, other.positions,
           3 * walk.set.count * (size_t)walk.markers.frame_count * sizeof(double));
    for (size_t i = 0; i < walk.set.count; i++)
        memcpy(walk.markers.names[i], other.names[i], sizeof *other.names);
    walk.markers.frame_seconds = other.frame_seconds;
    walk.markers.first_frame = other.first_frame;
    ulna_test_take_write(tool->folder, "anew/eve_anew.c3d", NULL, NULL, &walk.markers);
    ulna_recording_release(&other);
    ulna_test_walk_release(&walk);
    check_placed_anew(tool, &s);
}

/* Those of the left leg sit 7 cm apart in the smaller one, which makes the error of a common calibration three times as large. */
static void recorded_markers_may_be_placed_anew(void **state)
{
    static const session s = {"HDM_dg", "HDM_dg_01-03_01_120", "HDM_<wbr/>dg_<wbr/>01-03_<wbr/>01_<wbr/>120"};
    ulna_test_tool *tool = *state;
    char command[1024];
    snprintf(command, sizeof command,
             "mkdir anew && cd anew && for f in HDM_dg.asf HDM_dg_01-03_01_120.c3d; do ln -s '%s/hdm05/'$f; done; "
             "for i in 1 2 3; do ln -s '%s/hdm05/HDM_dg_03-02_02_120.c3d' HDM_dg_$i.c3d; done",
             ulna_test_data_dir(), ulna_test_data_dir());
    ulna_test_tool_shell(tool, command);
    check_placed_anew(tool, &s);
}

static void expect_calibrated_on(ulna_test_tool *tool, const char *output, const char *take, const char *on)
{
    json_t *row = result_of(tool, output, take);
    assert_string_equal(json_string_value(json_object_get(row, "calibrated_on")), on);
    json_decref(row);
}

/* A note that says it. */
static void expect_note(const json_t *notes, const char *text)
{
    size_t i;
    json_t *note;
    json_array_foreach(notes, i, note)
    {
        if (strstr(json_string_value(note), text))
            return;
    }
    fail_msg("no note says: %s", text);
}

/* DB/NAME_1.c3d and so on, each longer than the one before: copies of one recording would be calibrated with once. */
static void write_takes(ulna_test_tool *tool, const char *name, int first, int last)
{
    for (int i = first; i <= last; i++) {
        char path[64];
        ulna_test_take take = ulna_test_take_make(700 + i);
        snprintf(path, sizeof path, "%s_%d.c3d", name, i);
        ulna_test_take_write(tool->folder, path, NULL, NULL, &take.markers);
        ulna_test_take_release(&take);
    }
}

/* A broken take is left out, and fails by itself; the others are calibrated together, and solved. */
static void broken_takes_are_left_out(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, "rm -rf db; " ULNA
              " sample -q t && mkdir -p db/anna db/none && cp t/human.asf db/anna/anna.asf && cp t/human.asf "
              "db/none/none.asf && for i in 1 2 3; do cat t/walk.c3d; done | tr 'P' 'q' >db/anna/anna_4.c3d; "
              "head -c 400 t/walk.c3d >db/anna/anna_5.c3d; printf garbage >db/none/none_1.c3d; : >db/none/none_2.c3d; "
              "head -c 400 t/walk.c3d >db/none/none_3.c3d");
    write_takes(tool, "db/anna/anna", 1, 3);
    json_t *summary = summary_of(tool, "db -o out --no-reports --options '--frames 1:60'", 1);
    json_t *notes = json_object_get(summary, "calibration_notes");
    assert_int_equal(integer(summary, "done"), 3);
    assert_int_equal(json_array_size(notes), 2);
    expect_note(notes, "anna/anna: calibrated without anna/anna_4: anna_4.c3d: this is not a C3D file");
    expect_note(
        notes,
        "none/none: its takes cannot be calibrated together (none of its 3 largest recordings can be used); each is");
    json_decref(summary);
    /* By the three takes that can be read, not by one of them. */
    char *record = ulna_test_tool_file(tool, "out/calibration/anna/anna.json");
    json_t *row = json_loads(record, 0, NULL), *calibration = json_object_get(row, "calibration");
    assert_int_equal(json_array_size(json_object_get(json_object_get(calibration, "session"), "rms_mm")), 3);
    assert_int_equal(json_array_size(json_object_get(row, "left_out")), 1);
    json_decref(row);
    free(record);
    static const char *const broken[] = {"anna/anna_4", "anna/anna_5", "none/none_1", "none/none_2", "none/none_3"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char reason[40];
        snprintf(reason, sizeof reason, "%s.c3d", broken[i] + 5);
        expect_result(tool, "out", broken[i], "failed", reason);
    }
    expect(tool, "db -o out --no-reports --options '--frames 1:60'", 1);
    ulna_test_says(tool->out, "anna/anna: calibrated without anna/anna_4: anna_4.c3d");
    assert_int_equal(count_of(tool, "db -o out --no-reports --options '--frames 1:60'", 1, "kept"), 8);
    /* Mended, it is one of those to calibrate with. */
    write_takes(tool, "db/anna/anna", 4, 4);
    assert_int_equal(count_of(tool, "db -o out --no-reports --options '--frames 1:60'", 1, "done"), 4);
}

/* A file that can be opened, but gives an error instead of bytes, also to who may read all files. */
static void unreadable_takes_are_left_out(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "rm -rf db; " ULNA
                               " sample -q t && mkdir db && cp t/human.asf db/bob.asf && ln -s /proc/self/mem "
                               "db/bob_3.c3d");
    write_takes(tool, "db/bob", 1, 2);
    expect(tool, "db -o out --no-reports --options '--frames 1:60'", 1);
    ulna_test_says(tool->out, "bob: calibrated without bob_3: bob_3.c3d: ");
    ulna_test_says(tool->out, "3 takes: 2 solved, 1 failed");
    expect_result(tool, "out", "bob_3", "failed", "bob_3.c3d: ");
    expect_calibrated_on(tool, "out", "bob_1", "session");
    expect(tool, "--merge out", 1);
    ulna_test_says(tool->out, "bob: calibrated without bob_3: bob_3.c3d: ");
    ulna_test_tool_shell(tool, "rm db/bob_3.c3d");
    write_takes(tool, "db/bob", 3, 3);
    assert_int_equal(count_of(tool, "db -o out --no-reports --options '--frames 1:60'", 0, "kept"), 0);
}

/* Recordings and nothing else: the built-in human, as long as the person of each session. */
static void no_skeleton_is_needed(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "rm -rf db; mkdir -p db/anna db/bob");
    write_takes(tool, "db/anna/x", 1, 2);
    write_takes(tool, "db/bob/x", 1, 1);
    ulna_test_tool_shell(tool, "cp db/anna/x_1.c3d db/anna/copy.c3d"); /* which is calibrated with once */
    expect(tool, "db -o out --dry-run", 0);
    ulna_test_says(tool->out, "human (built in), scaled");
    expect(tool, "db -o out", 0);
    expect_calibrated_on(tool, "out", "anna/x_1", "session");
    expect_calibrated_on(tool, "out", "anna/copy", "session");
    ulna_test_tool_shell(tool, "test -s out/anna/x_1.bvh && test -s out/calibration/anna/anna~skeleton.json && "
                               "test -s out/calibration/bob/bob~skeleton.json && ! grep -q reject out/results.csv && "
                               "cmp out/anna/x_1.bvh out/anna/copy.bvh && cp -r out first");
    assert_int_equal(count_of(tool, "db -o out", 0, "kept"), 4);
    ulna_test_tool_shell(tool, "echo ' ' >>out/calibration/anna/anna~skeleton.json");
    assert_int_equal(count_of(tool, "db -o out", 0, "kept"), 4); /* made again, the same */
    ulna_test_tool_shell(tool, "cmp out/calibration/anna/anna~skeleton.json first/calibration/anna/anna~skeleton.json");
    expect(tool, "out/plan.csv -o out --shard 1/1", 0); /* which has no skeleton either */
    ulna_test_tool_shell(tool, "printf 'take\\ndb/bob/x_1.c3d\\n' >m.csv");
    expect(tool, "m.csv -o out2 --no-reports --formats csv", 0);
    ulna_test_tool_shell(tool, "cp first/calibration/anna/anna.csv db/anna/x-markers.csv"); /* of which skeleton? */
    expect(tool, "db -o out3 --dry-run", 1);
    ulna_test_says(tool->out, "no skeleton was found");
}

/* So is a take that can be read, but that `ulna calibrate` refuses. */
static void refused_takes_are_left_out(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "rm -rf db; " ULNA
        " sample -q t && mkdir db && cp t/human.asf db/bob.asf && cp t/walk.c3d db/bob_1.c3d && cp t/walk.c3d "
        "db/bob_2.c3d && printf 'Time,X1_x,X1_y,X1_z,X2_x,X2_y,X2_z\n0,1,2,3,4,5,6\n0.1,1,2,3,4,5,6\n' >x.csv && " ULNA
        " convert -q x.csv db/bob_3.trc");
    expect(tool, "db -o out --no-reports --options '--frames 1:60'", 1);
    ulna_test_says(tool->out, "bob: calibrated without bob_3: bob_3.trc: ");
    ulna_test_says(tool->out, "3 takes: 2 solved, 1 failed");
    expect_result(tool, "out", "bob_3", "failed", "bob_3.trc: ");
}

/* bob_1, the larger one, is good; limbs and head of bob_2 are torn off. The calibration of both fails, and does not say whose fault it is. */
static void the_take_at_fault_is_left_out(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "rm -rf db; " ULNA " sample -q t && mkdir db && cp t/human.asf db/bob.asf && " ULNA
        " convert -q t/walk.c3d w.csv && awk -F, -v OFS=, '/^#/ {print; next} /^frame/ {for (i = 3; i <= NF; i++) part[i] = "
        "$i ~ /^.(UPA|ELB|FRM|WR|FIN)/ ? 1 : $i ~ /^.(THI|KNE|TIB|SHN|ANK|HEE|TOE|MT)/ ? 2 : $i ~ /HD/ ? 3 : 0; print; "
        "next} {for (i = 3; i <= NF; i++) if (part[i]) $i += sin(NR / 9 + 2 * part[i] + i % 3); print}' w.csv >x.csv && " ULNA
        " convert -q w.csv db/bob_1.trc && " ULNA
        " convert -q x.csv db/bob_2.trc && head -c 1000000 /dev/zero | tr '\\0' "
        "'\\n' >>db/bob_1.trc");
    json_t *summary = summary_of(tool, "db -o out --no-reports", 1);
    json_t *notes = json_object_get(summary, "calibration_notes");
    assert_int_equal(json_array_size(notes), 1);
    expect_note(notes, "bob: calibrated without bob_2: bob_2.trc: ");
    json_decref(summary);
    expect_result(tool, "out", "bob_1", "done", NULL);
    expect_calibrated_on(tool, "out", "bob_1", "session");
}

/* A limit, or a folder that cannot be written, says nothing of the takes: they fail, or the batch stops, and the next run calibrates. No take is
 * solved by itself meanwhile, so that results do not depend on it. */
static void passing_failures_do_not_stay(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool,
                         "rm -rf db; " ULNA " sample -q t && mkdir db && cp t/human.asf db/anna.asf && for i in 1 2 3; "
                         "do cp t/walk.c3d db/anna_$i.c3d; done");
    expect(tool, "db -o whole --no-reports", 0);
    expect_calibrated_on(tool, "whole", "anna_1", "session");
    expect(tool, "db -o out --no-reports --time-limit 0.02", 1);
    expect_result(tool, "out", "anna_1", "failed", "no calibration of anna: stopped after 0.02 s");
    expect_plan(tool, "db -o out --no-reports", 3, 0, 0);
    expect(tool, "db -o out --no-reports", 0);
    ulna_test_tool_shell(tool, "for i in 1 2 3; do cmp whole/anna_$i.amc out/anna_$i.amc || exit 1; done");
    /* With a file where its folder should be. */
    ulna_test_tool_shell(tool, "mkdir -p out2/journal && touch out2/journal/lock && echo >out2/calibration");
    expect(tool, "db -o out2 --no-reports", 1);
    ulna_test_says(tool->out, "out2/calibration/anna.csv: cannot write the table of markers: ");
    ulna_test_tool_shell(tool, "[ -z \"$(ls out2/*.amc 2>/dev/null)\" ] && rm out2/calibration");
    expect(tool, "db -o out2 --no-reports", 0);
    ulna_test_tool_shell(tool, "for i in 1 2 3; do cmp whole/anna_$i.amc out2/anna_$i.amc || exit 1; done");
}

static void calibrations_are_shown_on_a_terminal(void **state)
{
    ulna_test_tool *tool = *state;
    if (system("command -v script >/dev/null") != 0)
        skip();
    ulna_test_tool_shell(
        tool,
        "rm -rf db; " ULNA
        " sample -q t && for p in anna bob cleo; do mkdir -p db/$p && cp t/human.asf db/$p/$p.asf && for i in "
        "1 2 3; do cp t/walk.c3d db/$p/${p}_$i.c3d; done; done; TERM=xterm COLUMNS=80 script -qec '" ULNA
        " batch db -o out --no-reports --threads 1' /dev/null >shown </dev/null; grep -q 'calibrating [123] of 3' shown");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_takes, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(calibrations_are_shared),
        TEST(markers_may_be_placed_anew),
        ulna_test_needs("hdm05", TEST(recorded_markers_may_be_placed_anew)),
        TEST(broken_takes_are_left_out),
        TEST(unreadable_takes_are_left_out),
        TEST(refused_takes_are_left_out),
        TEST(the_take_at_fault_is_left_out),
        TEST(passing_failures_do_not_stay),
        TEST(calibrations_are_shown_on_a_terminal),
        TEST(no_skeleton_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
