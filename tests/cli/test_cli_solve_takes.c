/* `ulna solve` on takes as they come: with defects, several at once, long ones, and the recorded one of the papers. */
#define _DEFAULT_SOURCE /* wait4 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support_take.h"
#include "support_tool.h"
#include "ulna/mocap.h"

enum { FRAMES = 120 };

/* A fresh folder with take.c3d. */
static int open_take(void **state)
{
    return ulna_test_take_open(state, FRAMES);
}

static json_t *solve(ulna_test_tool *tool, const char *arguments, int code)
{
    return ulna_test_tool_run_json(tool, "solve", arguments, code);
}

/* ---- takes with defects ------------------------------------------------------------------------------------------------ */

static void gaps_are_told(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    int markers = take.markers.marker_count;
    for (int f = 40; f < 45; f++) /* nothing seen */
        for (int i = 0; i < 3 * markers; i++)
            ulna_recording_frame(&take.markers, f)[i] = NAN;
    for (int f = 80; f < 90; f++) /* one marker */
        for (int i = 0; i < 3; i++)
            ulna_recording_frame(&take.markers, f)[i] = NAN;
    ulna_test_take_write(tool->folder, "gaps.c3d", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    json_t *object = solve(tool, "-s human -m gaps.c3d -a oracle --reference truth.csv --set objective=1e-12", 0);
    assert_int_equal(integer(object, "empty"), 5);
    assert_int_equal(integer(object, "missing_markers"), 5 * 41 + 10);
    assert_int_equal(integer(json_object_get(object, "stops"), "empty"), 5);
    assert_below(member(object, "rms_mm", "max"), 0.05);
    json_decref(object);
    object = solve(tool, "-s human -m gaps.c3d --report gaps.html --loss square", 0);
    assert_int_equal(integer(object, "empty"), 5);
    assert_int_equal(integer(object, "missing_markers"), 5 * 41 + 10);
    assert_int_equal(integer(json_object_get(object, "stops"), "empty"), 5);
    assert_below(member(object, "rms_mm", "max"), 0.05);
    json_t *empty = json_object_get(json_object_get(object, "ranges"), "empty");
    assert_int_equal(json_array_size(empty), 1);
    assert_int_equal(json_integer_value(json_array_get(json_array_get(empty, 0), 0)), 41);
    assert_int_equal(json_integer_value(json_array_get(json_array_get(empty, 0), 1)), 45);
    assert_string_equal(json_string_value(json_object_get(object, "verdict")), "look");
    assert_string_equal(json_string_value(json_array_get(json_object_get(object, "reasons"), 0)), "5 frames are empty");
    json_decref(object);
    char *page = ulna_test_tool_file(tool, "gaps.html");
    ulna_test_says(page, "no marker is seen: interpolated, or held before the first");
    ulna_test_says(page, "data-frame=\"41\">41–45<");
    ulna_test_says(page, "<div class=\"verdict look\"><strong>Look at it before you use it</strong>");
    ulna_test_says(page, "<li>5 frames are empty</li>");
    free(page);
}

static void hide(ulna_recording *r, const char *const *names, int first, int last)
{
    for (; *names; names++) {
        int m = ulna_recording_find(r, *names);
        assert_true(m >= 0);
        for (int f = first; f <= last; f++)
            for (int k = 0; k < 3; k++)
                ulna_recording_frame(r, f)[3 * m + k] = NAN;
    }
}

/* A hand that is seen on both sides of its gap is led over it; one that is not seen again is held. */
static void each_gap_is_told_by_itself(void **state)
{
    static const char *const left[] = {"LWRA", "LWRB", "LFIN", NULL}, *const right[] = {"RWRA", "RWRB", "RFIN", NULL};
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    hide(&take.markers, left, 30, 59);
    hide(&take.markers, right, FRAMES - 30, FRAMES - 1);
    ulna_test_take_write(tool->folder, "gaps.c3d", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    json_t *object = solve(tool, "-s human -m gaps.c3d", 0);
    assert_true(has_note(object, "left_hand (frames 31 to 60): interpolated to where it is seen next"));
    assert_true(has_note(object, "right_hand (frames 91 to 120): held, as it is not seen on both sides of the gap"));
    json_decref(object);
    object = solve(tool, "-s human -m gaps.c3d --causal", 0);
    assert_true(has_note(object, "(frames 31 to 60)"));
    assert_true(has_note(object, "held where it was seen last"));
    json_decref(object);
}

/* One frame of zeros, and a marker on its way to the moon: one frame is lost, the next one found again, all is told. */
static void garbage_is_told(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    for (int i = 0; i < 3 * take.markers.marker_count; i++)
        ulna_recording_frame(&take.markers, 60)[i] = 1e-3;
    ulna_recording_frame(&take.markers, 90)[4] = 3.8e8;
    ulna_test_take_write(tool->folder, "garbage.csv", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    json_t *object = solve(tool, "-s human -m garbage.csv --up y", 1);
    assert_int_equal(integer(object, "lost"), 1);
    assert_int_equal(integer(object, "recovered"), 1);
    assert_int_equal(integer(object, "missing_markers"), 1);
    assert_int_equal(integer(json_object_get(object, "stops"), "lost"), 1);
    assert_true(has_note(object, "1 position is more than 1000 km from the origin, and counts as missing"));
    json_decref(object);
}

/* A copy that was not completed: to be looked at, unless the missing frames were not asked for. */
static void a_file_that_ends_early_is_looked_at(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "head -c $(($(wc -c <take.c3d) * 3 / 4)) take.c3d >cut.c3d");
    json_t *object = solve(tool, "-s human -m cut.c3d --loss square", 0);
    int missing = FRAMES - (int)integer(object, "frames");
    char words[80];
    snprintf(words, sizeof words, "the file of the recording ends early: %d frames are missing", missing);
    assert_true(missing > 10 && missing < 60);
    assert_string_equal(json_string_value(json_object_get(object, "verdict")), "look");
    assert_string_equal(json_string_value(json_array_get(json_object_get(object, "reasons"), 0)), words);
    json_decref(object);
    object = solve(tool, "-s human -m cut.c3d --loss square --frames 1:50", 0);
    assert_string_equal(json_string_value(json_object_get(object, "verdict")), "trust");
    json_decref(object);
}

static void swapped_markers_are_weighed_down(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    int a = ulna_recording_find(&take.markers, "LKNE"), b = ulna_recording_find(&take.markers, "RKNE");
    assert_true(a != ULNA_NONE && b != ULNA_NONE);
    for (int f = 50; f < 60; f++)
        for (int k = 0; k < 3; k++) {
            double *p = ulna_recording_frame(&take.markers, f), x = p[3 * a + k];
            p[3 * a + k] = p[3 * b + k];
            p[3 * b + k] = x;
        }
    ulna_test_take_write(tool->folder, "swap.c3d", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    ulna_test_tool_run(tool, "solve --json -s human -m swap.c3d -o robust.csv");
    json_t *object = ulna_test_tool_json(tool);
    assert_int_equal(integer(object, "outlier_frames"), 10);
    json_decref(object);
    ulna_test_tool_run(tool, "solve --json -s human -m swap.c3d --loss-distance 3");
    object = ulna_test_tool_json(tool);
    assert_int_equal(integer(object, "outlier_frames"), 10);
    json_decref(object);
}

/* ---- several takes ---------------------------------------------------------------------------------------------------------- */

static void takes_are_solved_side_by_side(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, "cp take.c3d b.c3d; printf 'nothing that anybody reads' >junk.c3d; mkdir other; cp take.c3d other/");
    json_decref(solve(tool, "-s human -m take.c3d -o one.csv -o one.bvh", 0));
    json_t *object = solve(tool, "-s human -o out/deep/ --formats csv,bvh -r pages/ -m take.c3d b.c3d --threads 2", 0);
    json_t *takes = json_object_get(object, "takes");
    assert_int_equal(json_array_size(takes), 2);
    for (size_t i = 0; i < 2; i++) {
        json_t *row = json_array_get(takes, i);
        assert_string_equal(json_string_value(json_object_get(row, "take")), i ? "b.c3d" : "take.c3d");
        assert_int_equal(integer(row, "frames"), FRAMES);
        assert_int_equal(json_array_size(json_object_get(row, "outputs")), 2);
    }
    json_decref(object);
    ulna_test_tool_shell(tool,
                         "cmp one.csv out/deep/take.csv && cmp one.csv out/deep/b.csv && cmp one.bvh out/deep/b.bvh && "
                         "test -s pages/take.html && test -s pages/b.html");
    /* by -m or as operands, in any order */
    json_decref(solve(tool, "-s human -o swap/ -m b.c3d -m take.c3d --threads 1", 0));
    ulna_test_tool_shell(tool, "cmp one.csv swap/take.csv && cmp one.csv swap/b.csv && test $(ls swap | wc -l) = 2");
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human b.c3d take.c3d"), 0);
    const char *first = strstr(tool->out, "b.c3d: 120 frames"), *second = strstr(tool->out, "take.c3d: 120 frames");
    assert_true(first && second && first < second);
}

static void one_bad_take_does_not_stop_the_others(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, "cp take.c3d b.c3d; printf 'nothing that anybody reads' >junk.c3d; mkdir other; cp take.c3d other/");
    json_t *object = solve(tool, "-s human -m junk.c3d take.c3d absent.c3d b.c3d -o out/ --threads 3", 1);
    json_t *takes = json_object_get(object, "takes");
    static const int is_good[] = {0, 1, 0, 1};
    for (size_t i = 0; i < 4; i++) {
        json_t *row = json_array_get(takes, i);
        assert_int_equal(json_is_object(json_object_get(row, "error")), !is_good[i]);
        assert_int_equal(json_is_integer(json_object_get(row, "frames")), is_good[i]);
    }
    json_decref(object);
    const char *junk = strstr(tool->err, "junk.c3d: this is not"),
               *absent = strstr(tool->err, "absent.c3d: cannot open");
    assert_true(junk && absent && junk < absent);
    ulna_test_tool_shell(tool, "test $(ls out | wc -l) = 2 && cmp out/take.csv out/b.csv");
    json_decref(solve(tool, "-s human -m junk.c3d absent.c3d", 4)); /* none was solved: the highest code */

    static const struct {
        const char *arguments, *says;
    } wrong[] = {
        {"-m take.c3d other/take.c3d -o out2/", "would both be written to 'out2/take.csv'"},
        {"-m take.c3d b.c3d -o out2.csv", "with several takes this names a folder"},
        {"-m take.c3d b.c3d -r out2.html", "with several takes this names a folder"},
        {"-m take.c3d b.c3d -o . --formats c3d", "would overwrite the input"},
        {"-m take.c3d b.c3d --reference truth.csv", "--reference is a motion of one take"},
        {"-m - -", "standard input"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[256];
        snprintf(line, sizeof line, "-s human %s", wrong[i].arguments);
        json_decref(solve(tool, line, 2));
        ulna_test_says(tool->err, wrong[i].says);
    }
    ulna_test_tool_shell(tool, "test ! -e out2 && cmp take.c3d other/take.c3d");
}

/* ---- long takes --------------------------------------------------------------------------------------------------------------- */

/* The most memory that `ulna solve` takes for a take, in bytes. */
static double peak_of(const ulna_test_tool *tool, const char *take)
{
    int code;
    struct rusage usage;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (chdir(tool->folder) == 0)
            execl(ULNA_TEST_CLI, "ulna", "solve", "-q", "--threads", "1", "-s", "human", "-m", take, "-o", "long.amc",
                  "-r", "long.html", (char *)NULL);
        _exit(127);
    }
    assert_int_equal(wait4(child, &code, 0, &usage), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    return 1024.0 * (double)usage.ru_maxrss;
}

/* An hour at 120 Hz, 432,000 frames of 41 markers, fits into 1 GiB, report and all: here a twentieth of both. */
static void an_hour_fits_into_a_gibibyte(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const int is_sanitized = 1; /* which takes memory of its own */
#else
    const int is_sanitized = 0;
#endif
    ulna_test_tool *tool = *state;
    if (is_sanitized)
        skip();
    const int hour = 432000, part = hour / 20;
    ulna_test_take take = ulna_test_take_make(part);
    ulna_test_take_write(tool->folder, "long.c3d", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    double little = peak_of(tool, "take.c3d"), much = peak_of(tool, "long.c3d");
    double budget = 1073741824.0 - little, used = (much - little) * hour / (part - FRAMES);
    if (used > budget)
        fail_msg("%.0f bytes a frame: an hour would take %.0f MiB", used / hour, (used + little) / 1048576);
}

/* ---- the recorded take of the papers --------------------------------------------------------------------------------------------- */

static const char *const bones[][5] = {
    {"head", "LFHD", "RFHD", "LBHD", "RBHD"},
    {"lowerneck", "C7"},
    {"lowerback", "T10"},
    {"thorax", "CLAV"},
    {"upperback", "STRN", "RBAC"},
    {"root", "LFWT", "RFWT", "LBWT", "RBWT"},
    {"?clavicle", "?SHO"},
    {"?humerus", "?UPA", "?ELB"},
    {"?radius", "?FRM"},
    {"?wrist", "?WRA", "?WRB"},
    {"?fingers", "?FIN"},
    {"?femur", "?THI", "?KNE"},
    {"?tibia", "?SHN"},
    {"?foot", "?ANK", "?HEE"},
    {"?toes", "?TOE", "?MT5"},
};

static void bone_of(const char *marker, char bone[32])
{
    for (size_t i = 0; i < sizeof bones / sizeof *bones; i++)
        for (int k = 1; k < 5 && bones[i][k]; k++) {
            int sided = bones[i][k][0] == '?';
            if (strcmp(bones[i][k] + sided, marker + sided) == 0) {
                snprintf(bone, 32, "%s", bones[i][0]);
                if (sided)
                    bone[0] = marker[0] == 'L' ? 'l' : 'r';
                return;
            }
        }
    fail_msg("marker %s is unknown", marker);
}

static void recorded_take_is_solved(void **state)
{
    ulna_test_tool *tool = *state;
    char path[512], line[2048];
    size_t size;
    snprintf(path, sizeof path, "%s/../oracles/hdm05/dg_03-05_02_offsets_cm.txt", ulna_test_data_dir());
    char *offsets = ulna_test_read_file(path, &size);
    FILE *file = fopen(ulna_test_path(line, sizeof line, tool->folder, "offsets.csv"), "wb");
    assert_non_null(file);
    fprintf(file, "# unit: cm\n");
    for (char *at = strtok(offsets, "\n"); at; at = strtok(NULL, "\n")) {
        char marker[32], bone[32];
        double x, y, z;
        if (sscanf(at, "%31s %lf %lf %lf", marker, &x, &y, &z) != 4)
            continue;
        bone_of(marker, bone);
        fprintf(file, "%s,%s,%.9g,%.9g,%.9g\n", marker, bone, x, y, z);
    }
    assert_int_equal(fclose(file), 0);
    free(offsets);
    const char *data = ulna_test_data_dir();
    snprintf(
        line, sizeof line,
        "-s %s/hdm05/HDM_dg.asf -m %s/hdm05/HDM_dg_03-05_02_120.c3d -a offsets.csv -o out.amc -r r.html --loss square",
        data, data);
    json_t *object = solve(tool, line, 0);
    assert_int_equal(integer(object, "frames"), 3866);
    assert_int_equal(integer(object, "dof"), 62);
    assert_int_equal(integer(object, "markers"), 41);
    assert_int_equal(integer(object, "lost"), 0);
    assert_below(member(object, "sum_cm", "mean"), 21.95);
    assert_near(json_number_value(json_array_get(json_object_get(object, "axes"), 1)), 1, 0);
    json_decref(object);

    /* the motion reads back with the skeleton's own file, and oracle offsets leave nothing */
    snprintf(line, sizeof line, "info --json %s/hdm05/HDM_dg.asf out.amc", data);
    assert_int_equal(ulna_test_tool_run(tool, line), 0);
    object = ulna_test_tool_json(tool);
    json_t *row = json_array_get(json_object_get(object, "files"), 1);
    assert_int_equal(integer(row, "frames"), 3866);
    json_decref(object);
    snprintf(line, sizeof line,
             "-s %s/hdm05/HDM_dg.asf -m %s/hdm05/HDM_dg_06-03_03_120.c3d -a oracle --reference "
             "%s/hdm05/HDM_dg_06-03_03_120.amc",
             data, data, data);
    object = solve(tool, line, 0);
    assert_int_equal(integer(object, "frames"), 202);
    assert_int_equal(integer(object, "dof"), 62);
    assert_int_equal(integer(object, "dof_moved"), 58); /* both thumbs carry no marker */
    assert_below(member(object, "f_cm2", "max"), 1e-2);
    json_decref(object);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_take, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(gaps_are_told),
        TEST(each_gap_is_told_by_itself),
        TEST(garbage_is_told),
        TEST(a_file_that_ends_early_is_looked_at),
        TEST(swapped_markers_are_weighed_down),
        TEST(takes_are_solved_side_by_side),
        TEST(one_bad_take_does_not_stop_the_others),
        TEST(an_hour_fits_into_a_gibibyte),
        ulna_test_needs("hdm05 ../oracles/hdm05", TEST(recorded_take_is_solved)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
