/*
 * Recordings that cannot be right, made from the built-in take: `ulna solve` and `ulna calibrate` refuse them with exit code 3 and
 * say what to do, instead of giving a motion with a small error.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support_take.h"
#include "support_tool.h"
#include "ulna/formats.h"

#define SOLVE "solve --json -s human.asf -a walk-markers.csv -o out.amc -m bad.c3d "
#define CALIBRATE "calibrate --json -s human.asf -o out.csv -m bad.c3d "

enum { FRAMES = 160 }; /* of the built-in take: enough for all checks, and quick */

/* ---- the take, and how it is spoilt ----------------------------------------------------------------------------------- */

static ulna_content load_walk(const ulna_test_tool *tool)
{
    char path[128];
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    if (ulna_content_load(ulna_test_path(path, sizeof path, tool->folder, "walk.c3d"), NULL, &content, &error))
        fail_msg("%s", error.message);
    return content;
}

static int open_sample(void **state)
{
    int result = ulna_test_tool_open(state);
    if (result != 0 || !*state)
        return result;
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "sample --only walk ."), 0);
    ulna_content walk = load_walk(tool);
    walk.recording.frame_count = FRAMES;
    ulna_test_take_write(tool->folder, "walk.c3d", NULL, NULL, &walk.recording);
    ulna_content_release(&walk);
    return 0;
}

static void write_bad(const ulna_test_tool *tool, ulna_content *content)
{
    ulna_test_take_write(tool->folder, "bad.c3d", NULL, NULL, &content->recording);
    ulna_content_release(content);
}

static void scale(ulna_recording *r, double x, double y, double z)
{
    size_t count = (size_t)r->frame_count * (size_t)r->marker_count;
    for (size_t i = 0; i < count; i++) {
        r->positions[3 * i] *= x;
        r->positions[3 * i + 1] *= y;
        r->positions[3 * i + 2] *= z;
    }
}

static void exchange_sides(ulna_recording *r)
{
    for (int m = 0; m < r->marker_count; m++)
        if (r->names[m][0] == 'L' || r->names[m][0] == 'R')
            r->names[m][0] = r->names[m][0] == 'L' ? 'R' : 'L';
}

/* Only these markers, given without their side. */
static void exchange_some(ulna_recording *r, const char *const *names)
{
    for (int m = 0; m < r->marker_count; m++)
        for (int i = 0; names[i]; i++)
            if (strcmp(r->names[m] + 1, names[i]) == 0)
                r->names[m][0] = r->names[m][0] == 'L' ? 'R' : 'L';
}

/* Two people: the second one 1 m aside. */
static ulna_recording two_people(const ulna_recording *one, const char *first, const char *second)
{
    ulna_recording two = ulna_recording_empty(NULL);
    int n = one->marker_count;
    assert_int_equal(ulna_recording_resize(&two, 2 * n, one->frame_count), ULNA_OK);
    two.frame_seconds = one->frame_seconds;
    two.first_frame = one->first_frame;
    for (int m = 0; m < 2 * n; m++)
        snprintf(two.names[m], ULNA_MARKER_NAME, "%s%.40s", m < n ? first : second, one->names[m % n]);
    for (int f = 0; f < one->frame_count; f++)
        for (int m = 0; m < 2 * n; m++)
            for (int k = 0; k < 3; k++)
                ulna_recording_frame(&two, f)[3 * m + k] =
                    ulna_recording_frame(one, f)[3 * (m % n) + k] + (m < n || k != 0 ? 0 : 1);
    return two;
}

static void write_two(const ulna_test_tool *tool, const char *first, const char *second)
{
    ulna_content walk = load_walk(tool);
    ulna_recording two = two_people(&walk.recording, first, second);
    ulna_test_take_write(tool->folder, "bad.c3d", NULL, NULL, &two);
    ulna_recording_release(&two);
    ulna_content_release(&walk);
}

/* ---- what the tool says -------------------------------------------------------------------------------------------------- */

static json_t *run(ulna_test_tool *tool, const char *line, int code)
{
    int got = ulna_test_tool_run(tool, line);
    if (got != code)
        fail_msg("%s: exit code %d, not %d:\n%s%s", line, got, code, tool->out, tool->err);
    return ulna_test_tool_json(tool);
}

static int exists(const ulna_test_tool *tool, const char *name)
{
    char path[256];
    return access(ulna_test_path(path, sizeof path, tool->folder, name), F_OK) == 0;
}

static int unlink_in(const ulna_test_tool *tool, const char *name)
{
    char path[256];
    return unlink(ulna_test_path(path, sizeof path, tool->folder, name));
}

/* Refused, and nothing is written. */
static void refuses(ulna_test_tool *tool, const char *line, const char *what, const char *advice)
{
    json_t *object = run(tool, line, 3), *error = json_object_get(object, "error");
    assert_string_equal(json_string_value(json_object_get(error, "status")), "argument");
    ulna_test_says(json_string_value(json_object_get(error, "message")), what);
    ulna_test_says(json_string_value(json_object_get(error, "message")), advice);
    ulna_test_says(tool->err, "bad.c3d: ");
    assert_true(json_is_object(json_object_get(object, "checks")) || strstr(what, "no subject"));
    assert_false(exists(tool, "out.amc") || exists(tool, "out.csv"));
    json_decref(object);
}

static double rms_of(ulna_test_tool *tool, const char *line)
{
    json_t *object = run(tool, line, 0);
    double rms = json_number_value(json_object_get(object, "rms_unmarked_mm"));
    if (!(rms > 0))
        fail_msg("%s: no rms_unmarked_mm:\n%s", line, tool->out);
    json_decref(object);
    return rms;
}

static int notes_say(ulna_test_tool *tool, const char *line, const char *part)
{
    size_t i;
    json_t *note, *object = ulna_test_tool_run(tool, line) <= 1 ? ulna_test_tool_json(tool) : NULL;
    int found = 0;
    assert_non_null(object);
    json_array_foreach(json_object_get(object, "notes"), i, note)
    {
        found |= strstr(json_string_value(note), part) != NULL;
    }
    json_decref(object);
    return found;
}

/* ---- several people -------------------------------------------------------------------------------------------------------- */

static void one_of_two_people_must_be_chosen(void **state)
{
    ulna_test_tool *tool = *state;
    write_two(tool, "Anna:", "Bert:");
    refuses(tool, SOLVE, "2 people (Anna, Bert)", "--subject NAME solves one of them, --all-subjects each");
    refuses(tool, CALIBRATE, "2 people (Anna, Bert)", "--subject");
    refuses(tool, SOLVE "--subject Carl", "no subject 'Carl'", "'Anna', 'Bert'");
    assert_int_equal(ulna_test_tool_run(tool, SOLVE "--subject Anna --all-subjects"), 2);
    assert_true(rms_of(tool, SOLVE "--subject Bert") < 5);
    assert_true(rms_of(tool, SOLVE "--subject anna") < 5); /* letter case */
    assert_true(exists(tool, "out.amc"));
    json_decref(run(tool, CALIBRATE "--subject Bert", 0));
    char *table = ulna_test_tool_file(tool, "out.csv");
    ulna_test_says(table, "Bert:LKNE");
    assert_null(strstr(table, "Anna"));
    free(table);
    /* The names of a table choose too. */
    assert_true(rms_of(tool, "solve --json -s human.asf -a out.csv -o bert.csv -m bad.c3d") < 10);
}

/* A file without markers has no people; what is wrong with it is said when it is solved. */
static void people_are_not_sought_in_a_file_without_markers(void **state)
{
    ulna_test_tool *tool = *state;
    json_decref(run(tool, "solve --json -s human.asf -a walk-markers.csv --all-subjects -o out/ -m human.asf", 3));
    ulna_test_says(tool->err, "a recording of markers is needed");
}

static void all_people_are_solved_each_by_itself(void **state)
{
    ulna_test_tool *tool = *state;
    write_two(tool, "Anna:", "Bert:");
    json_t *object = run(tool,
                         "solve --json -s human.asf -a walk-markers.csv --all-subjects -o out/ --formats amc,csv "
                         "--report out/ -m bad.c3d walk.c3d",
                         0);
    json_t *takes = json_object_get(object, "takes");
    assert_int_equal(json_array_size(takes), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(takes, 1), "subject")), "Bert");
    assert_null(json_object_get(json_array_get(takes, 2), "subject"));
    json_decref(object);
    const char *const names[] = {"out/bad-Anna.amc", "out/bad-Bert.amc", "out/bad-Anna.csv", "out/bad-Anna.html",
                                 "out/walk.amc"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(exists(tool, names[i]));
    char *anna = ulna_test_tool_file(tool, "out/bad-Anna.amc"), *walk = ulna_test_tool_file(tool, "out/walk.amc");
    assert_string_equal(anna, walk); /* as if she were alone */
    free(anna);
    free(walk);
    assert_int_equal(ulna_test_tool_run(tool, SOLVE "--all-subjects"), 2); /* one file for two people */
}

static void all_people_are_calibrated_each_by_itself(void **state)
{
    ulna_test_tool *tool = *state;
    write_two(tool, "Anna:", "Bert:");
    json_t *object =
        run(tool,
            "calibrate --json -s human.asf --all-subjects --frames 40 --symmetric -o out/ --model-out out/ "
            "-m bad.c3d",
            0);
    json_t *people = json_object_get(object, "people");
    assert_int_equal(json_array_size(people), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(people, 1), "subject")), "Bert");
    assert_string_equal(json_string_value(json_object_get(json_array_get(people, 1), "output")), "out/bad-Bert.csv");
    assert_true(json_number_value(json_object_get(json_array_get(people, 0), "rms_mm")) < 5);
    json_decref(object);
    assert_true(exists(tool, "out/bad-Anna.json") && exists(tool, "out/bad-Bert.json"));
    json_decref(run(tool, "calibrate --json -s human.asf --frames 40 --symmetric -o walk.csv -m walk.c3d", 0));
    char *anna = ulna_test_tool_file(tool, "out/bad-Anna.csv"), *walk = ulna_test_tool_file(tool, "walk.csv");
    const char *row = strstr(anna, "Anna:LKNE"), *same = strstr(walk, "\nLKNE");
    assert_true(row && same);
    assert_memory_equal(row + strlen("Anna:"), same + 1, strcspn(same + 1, "\n")); /* as if she were alone */
    free(anna);
    free(walk);
    assert_true(rms_of(tool, "solve --json -s out/bad-Bert.json -a out/bad-Bert.csv -o bert.csv -m bad.c3d") < 10);
    json_decref(run(tool, "calibrate --json -s human.asf --all-subjects --frames 40 -o out/ -m walk.c3d", 0));
    assert_true(exists(tool, "out/walk.csv")); /* one person: no name */
}

static void options_about_people_are_checked(void **state)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {CALIBRATE "--all-subjects", "names a folder: 'out.csv/'"},
        {CALIBRATE "--all-subjects --subject Anna", "give one of these"},
        {"calibrate -s human.asf -m bad.c3d --all-subjects --reference walk-true.amc", "motion of one person"},
        {"calibrate -s human.asf -m bad.c3d --all-subjects --symmetric --model-out s.json", "'s.json/'"},
        {SOLVE "--all-subjects --subject Anna", "give one of these"},
    };
    ulna_test_tool *tool = *state;
    write_two(tool, "Anna:", "Bert:");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ulna_test_tool_run(tool, cases[i].line), 2);
        ulna_test_says(tool->err, cases[i].says);
    }
    refuses(tool, CALIBRATE "--subject Carl", "no subject 'Carl'", "'Anna', 'Bert'");
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s none.asf -m bad.c3d --all-subjects -o out/"), 4);
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s human.asf -m none.c3d --all-subjects -o out/"), 4);
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s human.asf -m bad.c3d --all-subjects -o walk.c3d/"), 4);
    ulna_test_says(tool->err, "cannot create the folder");
}

static void doubled_names_are_refused(void **state)
{
    write_two(*state, "", "");
    refuses(*state, SOLVE, "names occur twice", "prefix, such as Anna:LKNE");
    refuses(*state, CALIBRATE, "names occur twice", "prefix");
}

/* ---- calibration with several recordings --------------------------------------------------------------------------------------- */

/* Each of them is checked, and the message names its file: `bad.c3d` is not the first one. */
static void every_recording_of_a_calibration_is_checked(void **state)
{
#define SECOND "calibrate --json -s human.asf --frames 40 -o out.csv -m walk.c3d bad.c3d"
#define STATIC "calibrate --json -s human.asf --frames 40 -o out.csv -m walk.c3d --static bad.c3d"
    ulna_test_tool *tool = *state;
    ulna_content walk = load_walk(tool);
    scale(&walk.recording, 10, 10, 10);
    write_bad(tool, &walk);
    static const char *const lines[] = {SECOND, STATIC};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        json_t *object = run(tool, lines[i], 3), *error = json_object_get(object, "error");
        ulna_test_says(json_string_value(json_object_get(error, "message")), "times as far apart");
        ulna_test_says(tool->err, "bad.c3d: ");
        assert_false(exists(tool, "out.csv"));
        json_decref(object);
    }
    assert_true(notes_say(tool, SECOND " --no-checks", "bad.c3d: the markers are"));
    walk = load_walk(tool);
    scale(&walk.recording, -1, 1, 1);
    write_bad(tool, &walk);
    json_decref(run(tool, SECOND, 3));
    ulna_test_says(tool->err, "bad.c3d: ");
    ulna_test_says(tool->err, "mirrored");
#undef SECOND
#undef STATIC
}

/* Files that are named after people are compared with the inputs too. */
static void calibrating_all_people_overwrites_no_input(void **state)
{
    ulna_test_tool *tool = *state;
    write_two(tool, "Anna:", "Bert:");
    ulna_test_tool_shell(tool, "mkdir out && cp walk-markers.csv out/bad-Anna.csv");
    assert_int_equal(
        ulna_test_tool_run(tool, "calibrate -s human.asf -m bad.c3d --all-subjects -a out/bad-Anna.csv -o ./out/"), 2);
    ulna_test_says(tool->err, "would overwrite the input 'out/bad-Anna.csv'");
    ulna_test_tool_shell(tool, "cmp walk-markers.csv out/bad-Anna.csv");
}

/* ---- axes and sides ---------------------------------------------------------------------------------------------------------- */

static void mirrored_axes_are_refused(void **state)
{
    for (int axis = 0; axis < 3; axis++) {
        ulna_content walk = load_walk(*state);
        scale(&walk.recording, axis == 0 ? -1 : 1, axis == 1 ? -1 : 1, axis == 2 ? -1 : 1);
        write_bad(*state, &walk);
        refuses(*state, SOLVE, "its axes are mirrored (left-handed)", "one axis negated");
        refuses(*state, CALIBRATE, "mirror", "export it again");
    }
    assert_true(notes_say(*state, SOLVE "--no-checks", "its axes are mirrored"));
    assert_true(notes_say(*state, CALIBRATE "--no-checks", "mirror image"));
}

static void exchanged_sides_are_refused(void **state)
{
    ulna_content walk = load_walk(*state);
    exchange_sides(&walk.recording);
    write_bad(*state, &walk);
    refuses(*state, SOLVE, "the names of left and right are exchanged", "rename");
    refuses(*state, CALIBRATE, "the names of left and right are exchanged", "mirror image");
}

/* They fit well once they are calibrated: hips and shoulders are close to each other. */
static void exchanged_limbs_are_refused(void **state)
{
    static const char *const legs[] = {"THI", "KNE", "SHN", "ANK", "HEE", "TOE", "MT5", NULL},
                             *const arms[] = {"SHO", "UPA", "ELB", "FRM", "WRA", "WRB", "FIN", NULL},
                             *const pelvis[] = {"FWT", "BWT", NULL};
    ulna_test_tool *tool = *state;
    for (int which = 0; which < 3; which++) {
        ulna_content walk = load_walk(tool);
        exchange_some(&walk.recording, which == 1 ? arms : legs);
        if (which == 2)
            exchange_some(&walk.recording, pelvis);
        write_bad(tool, &walk);
        refuses(tool, SOLVE, "left and right are exchanged on one part of the body", "rename the markers");
        refuses(tool, CALIBRATE, "left and right are exchanged on one part of the body", "rename the markers");
    }
    assert_true(notes_say(tool, SOLVE "--no-checks", "on one part of the body"));
}

/* ---- units ---------------------------------------------------------------------------------------------------------------------- */

static void wrong_units_are_refused(void **state)
{
    static const struct {
        double factor;
        const char *what, *advice;
    } cases[] = {{10, "by a factor of 10;", "--input-unit 0.0001"}, {100, "by a factor of 100;", "--input-unit"},
                 {1000, "by a factor of 1000;", "--input-unit um"}, {0.1, "by a factor of 0.1;", "--input-unit cm"},
                 {0.01, "by a factor of 0.01;", "--input-unit dm"}, {0.001, "by a factor of 0.001;", "--input-unit m"}};
    ulna_test_tool *tool = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double by = cases[i].factor;
        ulna_content walk = load_walk(tool);
        scale(&walk.recording, by, by, by);
        write_bad(tool, &walk);
        refuses(tool, SOLVE, cases[i].what, cases[i].advice);
        refuses(tool, CALIBRATE, cases[i].what, cases[i].advice);
    }
    assert_true(rms_of(tool, SOLVE "--input-unit m") < 5); /* the last one, mended as it says */
    json_decref(run(tool, CALIBRATE "--input-unit m", 0));
    assert_true(notes_say(tool, SOLVE "--no-checks", "by a factor of 0.001"));
}

static void flat_recordings_are_refused(void **state)
{
    for (int axis = 0; axis < 3; axis++) {
        ulna_content walk = load_walk(*state);
        scale(&walk.recording, axis != 0, axis != 1, axis != 2);
        write_bad(*state, &walk);
        refuses(*state, SOLVE, "all markers are in one plane", "three coordinates");
        refuses(*state, CALIBRATE, "all markers are in one plane", "three coordinates");
    }
}

/* A folded skeleton fits markers that are too close to each other, the better the more freedom it has. */
static void wrong_inches_and_feet_are_refused(void **state)
{
    static const struct {
        double factor;
        const char *advice;
    } cases[] = {{0.5, "somebody else"},
                 {2, "somebody else"},
                 {0.3048, "(feet and metres?)"},
                 {2.54, "(inches and centimetres?)"},
                 {1 / 25.4, "(inches and millimetres?)"}};
    ulna_test_tool *tool = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double by = cases[i].factor;
        ulna_content walk = load_walk(tool);
        scale(&walk.recording, by, by, by);
        write_bad(tool, &walk);
        refuses(tool, SOLVE, "times as far apart as on the skeleton", cases[i].advice);
        refuses(tool, CALIBRATE, "times as far apart as on the skeleton", cases[i].advice);
    }
    /* A set that was calibrated so does not hide it. */
    ulna_content walk = load_walk(tool);
    scale(&walk.recording, 0.5, 0.5, 0.5);
    write_bad(tool, &walk);
    json_decref(run(tool, "calibrate --json -s human.asf -o folded.csv -m bad.c3d --frames 40 --no-checks", 0));
    refuses(tool, "solve --json -s human.asf -a folded.csv -o out.amc -m bad.c3d", "0.4", "somebody else");
    /* Lengths that are found may be a child's. */
    json_decref(run(tool, CALIBRATE "--symmetric --frames 40", 0));
    assert_int_equal(unlink_in(tool, "out.csv"), 0);
}

/* A unit that the user gives is checked like one that the file states. */
static void wrong_given_units_are_refused(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_content walk = load_walk(tool);
    write_bad(tool, &walk);
    refuses(tool, CALIBRATE "--input-unit m", "times as far apart", "you gave --input-unit m: is it mm?");
    refuses(tool, SOLVE "--input-unit m", "times as far apart", "you gave --input-unit m: is it mm?");
    refuses(tool, SOLVE "--input-unit cm", "times as far apart", "you gave --input-unit cm: is it mm?");
    refuses(tool, SOLVE "--input-unit in", "times as far apart", "you gave --input-unit in: is it mm?");
    refuses(tool, CALIBRATE "--skeleton-unit mm", "times as far apart", "you gave --skeleton-unit mm: is it ");
    json_decref(run(tool, CALIBRATE "--input-unit mm", 0));
    assert_int_equal(unlink_in(tool, "out.csv"), 0);
    /* Nothing fits: no table, unless it is asked for. */
    json_t *object = run(tool, CALIBRATE "--input-unit m --no-checks", 0);
    assert_true(json_number_value(json_object_get(object, "outlier_percent")) > 30);
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s human.asf -m bad.c3d --input-unit m --no-checks"), 0);
    const char *all = strstr(tool->out, "mm RMS with all positions"), *some = strstr(tool->out, "frames used");
    assert_true(all && some && all < some);
}

/* A table in which nothing is where it says: 30 % of outliers and more are no calibration. */
static void calibrations_that_fit_nothing_are_refused(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_content walk = load_walk(tool);
    for (int m = 0; m < walk.recording.marker_count; m += 2) /* half of the markers somewhere else in every frame */
        for (int f = 0; f < walk.recording.frame_count; f++)
            for (int k = 0; k < 3; k++)
                ulna_recording_frame(&walk.recording, f)[3 * m + k] += 0.9 * sin(37.0 * f + 11.0 * m + 5.0 * k);
    write_bad(tool, &walk);
    json_t *object = run(tool, CALIBRATE, 3);
    ulna_test_says(tool->err, "% of the positions are too far off to count, so nothing is written");
    assert_false(exists(tool, "out.csv"));
    json_decref(object);
}

/* BVH files do not state their unit: it is the first to be doubted. */
static void assumed_units_are_named_first(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_content walk = load_walk(tool);
    write_bad(tool, &walk);
    assert_int_equal(ulna_test_tool_run(tool, "convert human.asf small.bvh --unit 0.0564"), 0);
    json_t *object = run(tool, "calibrate --json -s small.bvh -m bad.c3d -o out.csv", 3);
    ulna_test_says(tool->err,
                   "a BVH file does not state its unit, centimetres are assumed: give --skeleton-unit 0.0564");
    json_decref(object);
    json_decref(run(tool, "calibrate --json -s small.bvh -m bad.c3d -o out.csv --skeleton-unit 0.0564", 0));
    assert_int_equal(ulna_test_tool_run(tool, "global small.bvh --skeleton-unit 0.0564 -a out.csv -m bad.c3d"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "global small.bvh -a out.csv -m bad.c3d --skeleton-unit m"), 3);
    ulna_test_says(tool->err, "you gave --skeleton-unit m: is it ");
}

/* ---- markers ----------------------------------------------------------------------------------------------------------------------- */

static void put(ulna_recording *r, int first, int last, double value)
{
    for (int f = 0; f < r->frame_count; f++)
        for (int i = 3 * first; i < 3 * last; i++)
            ulna_recording_frame(r, f)[i] = value;
}

static void too_few_markers_are_refused(void **state)
{
    ulna_content walk = load_walk(*state);
    put(&walk.recording, 2, walk.recording.marker_count, NAN);
    write_bad(*state, &walk);
    refuses(*state, SOLVE, "at most 2 markers", "three or more");
    refuses(*state, CALIBRATE, "at most 2 markers", "three or more");
    walk = load_walk(*state);
    put(&walk.recording, 0, walk.recording.marker_count, NAN);
    write_bad(*state, &walk);
    refuses(*state, SOLVE, "at most 0 markers", "three or more");
    refuses(*state, CALIBRATE, "at most 0 markers", "three or more");
    walk = load_walk(*state);
    put(&walk.recording, 0, walk.recording.marker_count, 1.5);
    write_bad(*state, &walk);
    refuses(*state, SOLVE, "all markers are in one place", "check the recording");
    refuses(*state, CALIBRATE, "all markers are in one place", "check the recording");
}

/* A head, a pelvis, a knee: three markers hold the root, and leave the joints between them open. */
static void markers_that_cannot_determine_the_joints_are_refused(void **state)
{
    static const char *const kept[] = {"LFWT", "RKNE", "RFHD"};
    ulna_test_tool *tool = *state;
    ulna_content walk = load_walk(tool);
    for (int m = 0; m < walk.recording.marker_count; m++) {
        int is_kept = 0;
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            is_kept |= strcmp(walk.recording.names[m], kept[i]) == 0;
        if (!is_kept)
            snprintf(walk.recording.names[m], ULNA_MARKER_NAME, "unknown%d", m);
    }
    write_bad(tool, &walk);
    refuses(tool, SOLVE, "at most 3 markers", "9 numbers, which cannot determine 24 degrees of freedom");
    refuses(tool, CALIBRATE, "at most 3 markers", "9 numbers, which cannot determine");
    assert_true(notes_say(tool, SOLVE "--no-checks", "9 numbers, which cannot determine"));
}

static void markers_without_known_names_are_refused(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_content walk = load_walk(tool);
    for (int m = 0; m < walk.recording.marker_count; m++)
        snprintf(walk.recording.names[m], ULNA_MARKER_NAME, "unknown%d", m);
    write_bad(tool, &walk);
    assert_int_equal(ulna_test_tool_run(tool, SOLVE), 3);
    ulna_test_says(tool->err, "no attached marker is in the recording");
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m bad.c3d -a model"), 3);
    ulna_test_says(tool->err, "the recording has none of the skeleton's own markers: the skeleton has 'C7'");
    assert_int_equal(ulna_test_tool_run(tool, CALIBRATE), 3);
    ulna_test_says(tool->err, "--attach takes such a table");
}

/* Numbers at the end of what a double holds: refused, or a result of numbers. */
static void no_result_has_nan(void **state)
{
    static const char *const offsets[] = {"1e308", "-1e200", "1e20", "nan", "inf"};
    ulna_test_tool *tool = *state;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        char path[256];
        FILE *file = fopen(ulna_test_path(path, sizeof path, tool->folder, "far.csv"), "w");
        assert_non_null(file);
        fprintf(file, "marker,bone,x,y,z\nLKNE,left_thigh,%s,0,0\nRKNE,right_thigh,0,%s,0\nLFWT,root,0,0,0\n",
                offsets[i], offsets[i]);
        for (int k = 0; k < 20; k++)
            fprintf(file, "%s,%s,0,0,%s\n", k % 2 ? "RBWT" : "LBWT", "root", k < 2 ? offsets[i] : "0");
        assert_int_equal(fclose(file), 0);
        for (int way = 0; way < 2; way++) {
            int code =
                ulna_test_tool_run(tool, way ? "calibrate -s human.asf -a far.csv -o out.csv -m walk.c3d --no-checks"
                                             : "solve -s human.asf -a far.csv -o out.csv -m walk.c3d --no-checks");
            if (code != 3 && code > 1)
                fail_msg("%s: exit code %d: %s", offsets[i], code, tool->err);
            char *text = exists(tool, "out.csv") ? ulna_test_tool_file(tool, "out.csv") : NULL;
            assert_true(!text || (code <= 1 && !strstr(text, "nan") && !strstr(text, "inf")));
            free(text);
            remove(ulna_test_path(path, sizeof path, tool->folder, "out.csv"));
        }
    }
}

/* TRC has no other way to say that a marker was not seen. The person begins near the origin. */
static void markers_at_zero_count_as_missing(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_content walk = load_walk(tool);
    for (int f = 0; f < walk.recording.frame_count; f++)
        for (int k = 0; k < 3; k++) {
            ulna_recording_frame(&walk.recording, f)[3 * 20 + k] = 0;
            if (f >= 100 && f < 150)
                ulna_recording_frame(&walk.recording, f)[3 * 5 + k] = 0;
        }
    write_bad(tool, &walk);
    assert_true(rms_of(tool, SOLVE) < 5);
    assert_true(notes_say(tool, SOLVE, "210 positions are exactly 0, 0, 0, and count as missing"));
    assert_true(notes_say(tool, CALIBRATE, "210 positions are exactly 0, 0, 0, and count as missing"));
}

static void hostile_recordings_end_well(void **state)
{
    static const struct {
        const char *name, *text;
        int code;
    } cases[] = {
        {"one marker", "frame,time,LKNE.x,LKNE.y,LKNE.z\n1,0,0.1,0.5,0.2\n2,0.01,0.1,0.5,0.2\n", 3},
        {"infinite", "frame,time,LKNE.x,LKNE.y,LKNE.z\n1,0,1e300,-1e300,1e300\n2,0.01,1e308,0,0\n", 3},
        {"not a number", "frame,time,LKNE.x,LKNE.y,LKNE.z\n1,0,nan,nan,nan\n2,0.01,nan,nan,nan\n", 3},
        {"no name", "frame,time,.x,.y,.z\n1,0,0.1,0.5,0.2\n2,0.01,0.1,0.5,0.2\n", 3},
    };
    ulna_test_tool *tool = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[256];
        FILE *file = fopen(ulna_test_path(path, sizeof path, tool->folder, "bad.csv"), "w");
        assert_non_null(file);
        fputs(cases[i].text, file);
        assert_int_equal(fclose(file), 0);
        int code = ulna_test_tool_run(tool, "solve -s human.asf -a walk-markers.csv -o out.csv -m bad.csv");
        if (code != cases[i].code)
            fail_msg("%s: exit code %d: %s", cases[i].name, code, tool->err);
        code = ulna_test_tool_run(tool, "calibrate -s human.asf -o out.csv -m bad.csv");
        if (code != cases[i].code)
            fail_msg("%s: calibrate: exit code %d: %s", cases[i].name, code, tool->err);
        assert_false(exists(tool, "out.csv"));
    }
    assert_int_equal(
        ulna_test_tool_run(tool, "solve -s human.asf -a walk-markers.csv -o one.csv --frames 5 -m walk.c3d"), 0);
}

/* What is meant is not hard to guess: the message says it. */
static void mistakes_have_advice(void **state)
{
    static const struct {
        const char *line, *advice;
        int code;
    } cases[] = {
        {"solve arm --goal x", "there is no option --goal in 'ulna solve'; it is one of ", 2},
        {"solve -s human.asf --frame 3", "did you mean --frames?", 2},
        {"solve human.asf walk.c3d", "'ulna solve -s human.asf -m walk.c3d'?", 2},
        {"solve walk.c3d human.asf", "'ulna solve -s human.asf -m walk.c3d'?", 2},
        {"solve -s human.asf -m walk.c3d -a walk-markers.csv new.amc", "-o new.amc writes it", 2},
        {"solve -s humn -m walk.c3d", "nor is it a built-in skeleton (human, ", 4},
        {"solve -s walk.c3d -m human.asf", "are the two files exchanged?", 3},
        {"solve -s human.asf -m walk.c3d -a model", "leave out --attach, or give a file", 3},
        {"solve -s human -m flat.csv", "the points have x and y only", 3},
        {"convert human.asf x.foo", ".mot, .csv, .gltf or .glb", 2},
        {"convert human.asf walk.c3d x.amc", "'ulna solve' computes the motion", 3},
        {"calibrate -s human.asf -m walk.c3d --frames 30:20", "--frames takes A:B", 2},
    };
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "printf 'frame,time,nose.x,nose.y\\n1,0,1,2\\n' >flat.csv");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = ulna_test_tool_run(tool, cases[i].line);
        if (code != cases[i].code)
            fail_msg("%s: exit code %d: %s", cases[i].line, code, tool->err);
        ulna_test_says(tool->err, cases[i].advice);
    }
    assert_int_equal(ulna_test_tool_run(tool, "global arm --goal 'tool 300 200 500'"), 0);
    ulna_test_says(tool->out, "is --unit right?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_of_two_people_must_be_chosen, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(all_people_are_solved_each_by_itself, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(all_people_are_calibrated_each_by_itself, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(options_about_people_are_checked, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(people_are_not_sought_in_a_file_without_markers, open_sample,
                                        ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(every_recording_of_a_calibration_is_checked, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(calibrating_all_people_overwrites_no_input, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(doubled_names_are_refused, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(mirrored_axes_are_refused, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(exchanged_sides_are_refused, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(exchanged_limbs_are_refused, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(flat_recordings_are_refused, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(wrong_units_are_refused, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(wrong_given_units_are_refused, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(wrong_inches_and_feet_are_refused, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(calibrations_that_fit_nothing_are_refused, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(assumed_units_are_named_first, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(too_few_markers_are_refused, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(markers_that_cannot_determine_the_joints_are_refused, open_sample,
                                        ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(markers_without_known_names_are_refused, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(no_result_has_nan, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(markers_at_zero_count_as_missing, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(mistakes_have_advice, open_sample, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(hostile_recordings_end_well, open_sample, ulna_test_tool_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
