/* Where `ulna solve` has the markers from: key points, the names of the markers, a reference motion. */
#include <stdlib.h>
#include <string.h>

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

/* Key points of a hand become a motion in one command; the other hand and another unit are refused. */
static void key_points_need_no_attachment(void **state)
{
    ulna_test_tool *tool = *state;
    char line[600];
    ulna_test_need_data(NULL);
    snprintf(line, sizeof line, "-s right-hand -m '%s/hand/dexretarget_human_joint_right.csv' -o h.bvh -o h.glb",
             ulna_test_data_dir());
    json_t *object = solve(tool, line, 0);
    assert_int_equal(integer(object, "markers"), 21);
    assert_below(member(object, "rms_mm", "mean"), 6);
    assert_int_equal(json_array_size(json_object_get(object, "outputs")), 2);
    assert_string_equal(json_string_value(json_object_get(object, "keypoints")), "MediaPipe hand");
    json_decref(object);
    snprintf(line, sizeof line, "-s hand -m '%s/hand/dexretarget_human_joint_right.csv'", ulna_test_data_dir());
    json_decref(solve(tool, line, 3));
    ulna_test_says(tool->err, "use the built-in skeleton right-hand");
    snprintf(line, sizeof line, "-s right-hand --input-unit mm -m '%s/hand/dexretarget_human_joint_right.csv'",
             ulna_test_data_dir());
    json_decref(solve(tool, line, 3));
    ulna_test_says(tool->err, "is their unit of length right?");
}

/* A skeleton of one's own has no markers: key points need none. Other recordings need markers with names that are known, or a table. */
static void key_points_need_no_markers_on_the_skeleton(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "convert human own.asf"), 0);
    ulna_test_tool_shell(tool,
                         "cat >points.awk <<'EOF'\n"
                         "BEGIN { n = split(\"nose left_eye right_eye left_ear right_ear left_shoulder right_shoulder "
                         "left_elbow right_elbow left_wrist right_wrist left_hip right_hip left_knee right_knee "
                         "left_ankle right_ankle\", name, \" \")\n"
                         "split(\"0 1.6 .1 .03 1.64 .09 -.03 1.64 .09 .07 1.62 0 -.07 1.62 0 .18 1.4 0 -.18 1.4 0 "
                         ".45 1.4 0 -.45 1.4 0 .7 1.4 0 -.7 1.4 0 .09 .9 0 -.09 .9 0 .1 .5 0 -.1 .5 0 .1 .08 0 -.1 "
                         ".08 0\", at, \" \")\n"
                         "printf \"frame,time\"\n"
                         "for (i = 1; i <= n; i++) printf \",%s.x,%s.y,%s.z\", name[i], name[i], name[i]\n"
                         "for (f = 1; f <= 20; f++) { printf \"\\n%d,%g\", f, f / 100\n"
                         "for (i = 1; i <= 3 * n; i++) printf \",%g\", .8 * at[i] }\n"
                         "print \"\" }\nEOF\nawk -f points.awk >points.csv");
    json_t *object = solve(tool, "-s own.asf -m points.csv -o points.bvh", 0);
    assert_string_equal(json_string_value(json_object_get(object, "keypoints")), "COCO");
    assert_int_equal(integer(object, "markers"), 17);
    double rms = member(object, "rms_mm", "mean");
    json_decref(object);
    static const char *const skeletons[] = {"own.asf",
                                            "human"}; /* without markers, and with markers that do not matter */
    for (int i = 0; i < 2; i++) {
        char line[80];
        snprintf(line, sizeof line, "%s -m points.csv --frame 3 --relax none", skeletons[i]);
        object = ulna_test_tool_run_json(tool, "global", line, 0);
        json_t *frame = json_array_get(json_object_get(object, "frames"), 0);
        assert_below(number(frame, "rms_mm"), 1.5 * rms); /* on the skeleton that is scaled to them */
        json_decref(object);
    }
    ulna_test_tool_shell(tool, "sed '1s/left_/q_/g; 1s/right_/z_/g; 1s/nose/n/g' points.csv >others.csv");
    static const char *const refused[] = {"solve -s own.asf -m others.csv", "global own.asf -m others.csv",
                                          "solve -s own.asf -m take.c3d -a model"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ulna_test_tool_run(tool, refused[i]), 3);
        ulna_test_says(tool->err, i < 2 ? "no name of a marker is known" : "leave out --attach, or give a file");
    }
    assert_int_equal(ulna_test_tool_run(tool, "convert hand own.bvh"), 0);
    static const char *const others[] = {"solve -s own.bvh -m points.csv", "solve -s own.bvh -m points.csv -a model"};
    for (int i = 0; i < 2; i++) { /* another table would not help */
        assert_int_equal(ulna_test_tool_run(tool, others[i]), 3);
        ulna_test_says(tool->err, "use the built-in skeleton human");
        assert_null(strstr(tool->err, "leave out --attach"));
    }
}

/* By the names of the markers, as the two commands do, and from all frames however few are solved. */
static void a_skeleton_without_markers_is_calibrated(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "convert human own.asf"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s own.asf -m take.c3d -o own.csv"), 0);
    json_decref(solve(tool, "-s own.asf -m take.c3d -a own.csv -o two.amc", 0));
    json_t *object = solve(tool, "-s own.asf -m take.c3d -o one.amc", 0);
    assert_below(member(object, "rms_mm", "mean"), 5);
    assert_below(number(object, "calibration_rms_mm"), 5);
    json_decref(object);
    ulna_test_tool_shell(tool, "cmp one.amc two.amc");
    json_decref(solve(tool, "-s own.asf -m take.c3d -a own.csv --frames 5:9 -o two.amc", 0));
    json_decref(solve(tool, "-s own.asf -m take.c3d -a names --frames 5:9 -o one.amc", 0));
    ulna_test_tool_shell(tool, "cmp one.amc two.amc");
    assert_int_equal(ulna_test_tool_run(tool, "global own.asf -m take.c3d --relax none"), 0);
    json_decref(solve(tool, "-s own.asf -m take.c3d --input-unit cm", 3)); /* it is checked, as by `ulna calibrate` */
}

/* Built-in skeletons have markers; a recording with others, of names that are known, is calibrated. */
static void names_replace_markers_that_are_not_there(void **state)
{
    ulna_test_tool *tool = *state;
    char line[600];
    ulna_test_need_data(state);
    snprintf(line, sizeof line, "-s human -m '%s/trc/gait2354/subject01_walk1.trc'", ulna_test_data_dir());
    json_t *object = solve(tool, line, 0);
    assert_int_equal(integer(object, "markers"), 41);
    assert_below(number(object, "calibration_rms_mm"), 7);
    json_decref(object);
    object = solve(tool, "-s human -m take.c3d", 0); /* which has the skeleton's own */
    assert_null(json_object_get(object, "calibration_rms_mm"));
    json_decref(object);
}

/* Bones of another length fit, with angles that are wrong; the verdict and the table of the calibration say so. */
static void skeletons_of_others_are_not_trusted(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "convert human own.asf"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s own.asf -m take.c3d --input-unit 0.00083 -o other.csv"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s own.asf -m take.c3d --input-unit 0.0009 -o size.csv"), 0);
    ulna_test_says(tool->out, "% too large for this person");
    static const char *const lines[] = {"-s own.asf -m take.c3d --input-unit 0.00083",
                                        "-s own.asf -m take.c3d --input-unit 0.00083 -a other.csv",
                                        "-s own.asf -m take.c3d --input-unit 0.0009 -a size.csv",
                                        "-s own.asf -m take.c3d --input-unit 0.0011", "-s own.asf -m take.c3d"};
    for (int i = 0; i < 5; i++) {
        json_t *object = solve(tool, lines[i], 0);
        char *reasons = json_dumps(json_object_get(object, "reasons"), 0);
        assert_int_equal(strstr(reasons, "do not have this person's lengths") != NULL, i < 4);
        assert_int_equal(strcmp(json_string_value(json_object_get(object, "verdict")), "trust") == 0, i == 4);
        free(reasons);
        json_decref(object);
    }
}

/* One pose, however long: offsets and angles make up for each other. The table of a calibration says so as well. */
static void offsets_of_one_pose_are_a_guess(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "convert human own.asf"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "convert take.c3d take.trc"), 0);
    ulna_test_tool_shell(tool,
                         "awk 'BEGIN { FS = OFS = \"\\t\" } NR == 3 { $3 = $8 = 40 } NR < 7\n"
                         "NR == 7 { for (i = 1; i <= 40; i++) { $1 = i; $2 = i / 120; print } }' take.trc >still.trc");
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s own.asf -m still.trc -o still.csv"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "convert human balls.glb"), 0); /* quaternions */
    static const char *const lines[] = {"-s own.asf -m still.trc", "-s own.asf -m still.trc -a still.csv",
                                        "-s balls.glb -m still.trc -a names", "-s own.asf -m take.c3d",
                                        "-s balls.glb -m take.c3d -a names"};
    for (int i = 0; i < 5; i++) {
        json_t *object = solve(tool, lines[i], 0);
        char *reasons = json_dumps(json_object_get(object, "reasons"), 0);
        assert_int_equal(strstr(reasons, "the offsets of the markers are a guess") != NULL, i < 3);
        if (i < 3)
            assert_string_equal(json_string_value(json_object_get(object, "verdict")), "look");
        free(reasons);
        json_decref(object);
    }
}

static void a_reference_tells_offsets(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = solve(tool, "-s human -m take.c3d -a reference --reference truth.csv --loss square", 0);
    assert_below(member(object, "rms_mm", "max"), 0.05);
    assert_int_equal(integer(object, "markers"), 41); /* *0 has no name */
    json_decref(object);
    object = solve(tool, "-s human -m take.c3d -a oracle --reference truth.csv --frames 1:40", 0);
    assert_below(member(object, "f_cm2", "max"), 1e-2); /* the paper's stop */
    assert_true(member(object, "f_cm2", "max") > 1e-6);
    assert_int_equal(integer(object, "lost"), 0);
    json_decref(object);
    object = solve(tool, "-s human -m take.c3d -a oracle --reference truth.csv --frames 1:40 --set objective=1e-12", 0);
    assert_below(member(object, "rms_mm", "max"), 0.005);
    json_decref(object);

    /* So many iterations, and no more: from zero and from the frame before. */
    object = solve(
        tool,
        "-s human -m take.c3d -a oracle --reference truth.csv --frames 1:40 --oracle-start zero --method bfgs --max-iter 10",
        1);
    assert_true(member(object, "iterations", "max") == 10);
    assert_true(member(object, "iterations", "mean") == 10);
    assert_int_equal(integer(object, "lost"), 40);
    assert_true(member(object, "evaluations", "added_mean") > 5 * member(object, "evaluations", "mean"));
    json_decref(object);
    object = solve(
        tool,
        "-s human -m take.c3d -a oracle --reference truth.csv --frames 1:40 --max-iter 1 --oracle-start reference --set objective=1e-20",
        1);
    assert_true(member(object, "iterations", "max") == 1);
    json_decref(object);
    static const char *const refused[] = {"--smooth 1",        "--loss huber",     "--causal",
                                          "--init global",     "--init rest",      "--oracle-start rest",
                                          "--set objective=x", "--set pcg.fixed=1"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char line[200];
        snprintf(line, sizeof line, "-s human -m take.c3d -a oracle --reference truth.csv %s", refused[i]);
        json_decref(solve(tool, line, 2));
    }
    json_decref(solve(tool, "-s human -m take.c3d -a reference --reference truth.csv --oracle-start zero", 2));
    json_decref(solve(tool, "-s human -m take.c3d -a oracle", 2));
    json_decref(solve(tool, "-s human -m take.c3d -a reference", 2));
    json_decref(solve(tool, "-s human -m take.c3d --init first", 2));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_take, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(key_points_need_no_attachment),
        TEST(key_points_need_no_markers_on_the_skeleton),
        TEST(a_skeleton_without_markers_is_calibrated),
        TEST(names_replace_markers_that_are_not_there),
        TEST(skeletons_of_others_are_not_trusted),
        TEST(offsets_of_one_pose_are_a_guess),
        TEST(a_reference_tells_offsets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
