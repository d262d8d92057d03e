/* Where `ulna solve` has the markers from: key points, the names of the markers, a reference motion. */
#include <stdlib.h>
#include <string.h>

#include "support_take.h"
#include "support_tool.h"
#include "support_walk.h"
#include "ulna/kinematics.h"
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
static void check_other_names(ulna_test_tool *tool, const char *file, int count)
{
    char line[600];
    snprintf(line, sizeof line, "-s human -m '%s'", file);
    json_t *object = solve(tool, line, 0);
    assert_int_equal(integer(object, "markers"), count);
    assert_below(number(object, "calibration_rms_mm"), 7);
    json_decref(object);
}

static void names_replace_markers_that_are_not_there(void **state)
{
    static const char *const other[][2] = {
        {"FHD", "Temple"},      {"SHO", "Acromium"}, {"UPA", "Bicep"}, {"ELB", "Elbow"},  {"WRA", "Wrist.Lat"},
        {"WRB", "Wrist.Med"},   {"FWT", "ASIS"},     {"BWT", "PSIS"},  {"THI", "Thigh"},  {"KNE", "Knee.Lat"},
        {"SHN", "Shank.Front"}, {"ANK", "Ankle"},    {"HEE", "Heel"},  {"TOE", "Toe.Tip"}};
    enum { OTHERS = sizeof other / sizeof *other };
    ulna_test_tool *tool = *state;
    ulna_test_walk walk = ulna_test_walk_make(1e-3);
    for (int m = 0; m < walk.markers.marker_count; m++) {
        char *name = walk.markers.names[m], side = name[4]; /* Eve:LFHD */
        int i = 0;
        while (i < OTHERS && strcmp(name + 5, other[i][0]) != 0)
            i++;
        if (i < OTHERS)
            snprintf(name, ULNA_MARKER_NAME, "%c.%s", side, other[i][1]);
        else
            snprintf(name, ULNA_MARKER_NAME, "*%d", m);
    }
    ulna_test_take_write(tool->folder, "other.c3d", NULL, NULL, &walk.markers);
    ulna_test_walk_release(&walk);
    check_other_names(tool, "other.c3d", 2 * OTHERS);
    json_t *object = solve(tool, "-s human -m take.c3d", 0); /* which has the skeleton's own */
    assert_null(json_object_get(object, "calibration_rms_mm"));
    json_decref(object);
}

static void names_replace_markers_of_recordings(void **state)
{
    char path[512];
    check_other_names(*state,
                      ulna_test_path(path, sizeof path, ulna_test_data_dir(), "trc/gait2354/subject01_walk1.trc"), 41);
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

/* ---- no skeleton ------------------------------------------------------------------------------------------------------------ */

/* The built-in human, as long as the person; what is written has it, or says what does. */
static void no_skeleton_is_needed(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = solve(tool, "-m take.c3d -o walk.bvh -r walk.html", 0);
    assert_string_equal(json_string_value(json_object_get(object, "skeleton")), "human");
    assert_true(json_is_true(json_object_get(object, "skeleton_scaled")));
    assert_near(number(object, "person_to_skeleton"), 1, 0.03);
    assert_below(member(object, "rms_mm", "mean"), 5);
    assert_false(has_note(object, "which was scaled to this person"));
    json_decref(object);
    ulna_test_tool_shell(tool, "grep -q 'the built-in human, since no --skeleton was given' walk.html");
    assert_int_equal(ulna_test_tool_run(tool, "solve -m take.c3d"), 0);
    ulna_test_says(tool->out, "skeleton  the built-in human, since no --skeleton was given");
    assert_int_equal(ulna_test_tool_run(tool, "info walk.bvh"), 0);
    object = solve(tool, "-m take.c3d -o walk.amc", 0);
    assert_true(has_note(object, "-o walk.asf writes it too"));
    json_decref(object);
    object = solve(tool, "-m take.c3d -o walk.csv", 0);
    assert_true(has_note(object, "-o walk.json writes it too"));
    json_decref(object);
    json_decref(solve(tool, "-m take.c3d -o walk.amc -o walk.asf -o walk.csv -o walk.json", 0));
    assert_int_equal(ulna_test_tool_run(tool, "info walk.asf walk.amc"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "info walk.json walk.csv"), 0);
    json_decref(solve(tool, "-m take.c3d -o out/", 0));                /* with the skeleton, by default */
    ulna_test_tool_shell(tool, "test -s out/take.bvh && mkdir human"); /* a folder of that name is not meant */
    json_decref(solve(tool, "-m take.c3d --ball quaternion --bounds skeleton -o walk.glb", 0));
    ulna_test_tool_shell(tool, "cp take.c3d again.c3d");
    json_decref(solve(tool, "take.c3d again.c3d -o two/", 0));
    ulna_test_tool_shell(tool, "cmp two/take.bvh two/again.bvh");
}

/* A child: the bones are found, and no unit is suspected. */
static void no_skeleton_for_a_child(void **state)
{
    ulna_test_tool *tool = *state;
    static const double sizes[] = {0.6, 0.8, 1.15};
    for (int i = 0; i < 3; i++) {
        char line[100];
        snprintf(line, sizeof line, "-m take.c3d --input-unit %g -o child.bvh", 1e-3 * sizes[i]);
        json_t *object = solve(tool, line, 0);
        assert_near(number(object, "person_to_skeleton"), sizes[i], 0.06);
        assert_below(member(object, "rms_mm", "mean"), 8);
        json_decref(object);
    }
    json_decref(solve(tool, "-m take.c3d --input-unit m", 3));
    json_decref(solve(tool, "-m take.c3d --input-unit 0.003", 3));
    ulna_test_says(tool->err, "you gave --input-unit");
}

/* One pose says little of lengths: they stay about those of an adult, and the verdict says what is a guess. */
static void no_skeleton_where_nothing_moves(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "convert take.c3d take.trc"), 0);
    ulna_test_tool_shell(tool,
                         "awk 'BEGIN { FS = OFS = \"\\t\" } NR == 3 { $3 = $8 = 40 } NR < 7\n"
                         "NR == 7 { for (i = 1; i <= 40; i++) { $1 = i; $2 = i / 120; print } }' take.trc >still.trc");
    json_t *object = solve(tool, "-m still.trc", 0);
    assert_near(number(object, "person_to_skeleton"), 1, 0.05);
    char *reasons = json_dumps(json_object_get(object, "reasons"), 0);
    assert_non_null(strstr(reasons, "the offsets of the markers are a guess"));
    free(reasons);
    json_decref(object);
}

static void no_skeleton_mistakes(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "convert human own.asf"), 0);
    json_decref(solve(tool, "-s human -m take.c3d -o walk.bvh -o walk.amc", 0));
    ulna_test_tool_shell(tool,
                         "printf 'frame,time,A.x,A.y,A.z,B.x,B.y,B.z\n1,0,1,2,3,2,3,4\n' >odd.csv\n"
                         "sed '1 s/[AB]/The_first_person_of_two:&/g' odd.csv >long.csv\n"
                         "printf 'Kaydara FBX Binary  \\000' >a.fbx; printf '; FBX 7.4.0 project file\\n' >b.fbx\n"
                         "x='<?xml version=\"1.0\"?><!-- a comment -->'; echo \"$x<OpenSimDocument/>\" >a.osim\n"
                         "echo \"$x<sdf/>\" >a.sdf; echo \"$x<mujoco/>\" >a.xml; echo \"$x<COLLADA/>\" >a.dae");
    static const struct {
        const char *arguments;
        int code;
        const char *says;
    } cases[] = {
        {"own.asf take.c3d", 2,
         "'own.asf' is no recording, but may be the skeleton: 'ulna solve -s own.asf -m take.c3d'?"},
        {"take.c3d own.asf", 2, "'ulna solve -s own.asf -m take.c3d'?"},
        {"-m take.c3d own.asf", 2, "'ulna solve -s own.asf -m take.c3d'?"},
        {"-m take.c3d -a own.csv", 2, "--attach own.csv is about a skeleton: give that too, with --skeleton"},
        {"-m take.c3d --reference own.amc", 2, "--reference is about a skeleton"},
        {"-m take.c3d -s ''", 2, "--skeleton needs the name of a file"},
        {"-m .", 2, "'.' is a folder: 'ulna batch . -o OUT' solves the takes in it"},
        {"-m odd.csv", 3,
         "(A, B): LKNE, R_FLE, LKneeOut, RKJC or C7 would be. A table must say which bone each marker is on; "
         "`ulna calibrate --attach FILE.csv` begins with one: marker,bone,0,0,0\n"},
        {"-m long.csv", 3, "begins with one: marker,bone,0,0,0\n"}, /* names, however long, cut nothing off */
        {"-s arm -m take.c3d -a names", 3,
         "a table must say which bone each marker is on; `ulna calibrate --attach FILE.csv` begins with one: marker,bone,0,0,0\n"},
        {"-m walk.bvh", 3, "is an animation: `ulna convert walk.bvh -o joints.c3d` writes where its joints are"},
        {"-m walk.amc", 3, "`ulna convert SKELETON.asf walk.amc -o joints.c3d` writes where"},
        {"-m a.fbx", 3, "this is an FBX file, which Ulna does not read: open it in Blender"},
        {"-s b.fbx -m take.c3d", 3, "export glTF (.glb) or BVH"},
        {"-s a.osim -m take.c3d", 3,
         "a.osim: this is an OpenSim model, which Ulna does not read: for a person the built-in"},
        {"-s a.sdf -m take.c3d", 3, "a.sdf: this is an SDF file, which Ulna does not read: give the robot as URDF"},
        {"-s a.xml -m take.c3d", 3, "a.xml: this is a MuJoCo file (MJCF), which Ulna does not read"},
        {"-s a.dae -m take.c3d", 3, "a.dae: this is a COLLADA file, which Ulna does not read: open it in Blender"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_decref(solve(tool, cases[i].arguments, cases[i].code));
        ulna_test_says(tool->err, cases[i].says);
    }
    assert_int_equal(ulna_test_tool_run(tool, "convert walk.bvh -o joints.c3d"), 0); /* what the messages say is true */
    assert_int_equal(ulna_test_tool_run(tool, "convert own.asf walk.amc -o joints.c3d"), 0);
}

/* Key points are put at the joints, as with -s human. */
static void no_skeleton_for_key_points(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, "awk 'BEGIN { n = split(\"nose left_eye right_eye left_ear right_ear left_shoulder right_shoulder "
              "left_elbow right_elbow left_wrist right_wrist left_hip right_hip left_knee right_knee "
              "left_ankle right_ankle\", name, \" \")\n"
              "split(\"0 1.6 .1 .03 1.64 .09 -.03 1.64 .09 .07 1.62 0 -.07 1.62 0 .18 1.4 0 -.18 1.4 0 "
              ".45 1.4 0 -.45 1.4 0 .7 1.4 0 -.7 1.4 0 .09 .9 0 -.09 .9 0 .1 .5 0 -.1 .5 0 .1 .08 0 -.1 "
              ".08 0\", at, \" \")\n"
              "printf \"frame,time\"\n"
              "for (i = 1; i <= n; i++) printf \",%s.x,%s.y,%s.z\", name[i], name[i], name[i]\n"
              "for (f = 1; f <= 20; f++) { printf \"\\n%d,%g\", f, f / 100\n"
              "for (i = 1; i <= 3 * n; i++) printf \",%g\", at[i] } }' >points.csv");
    json_decref(solve(tool, "-s human -m points.csv -o one.bvh", 0));
    json_t *object = solve(tool, "-m points.csv -o two.bvh -o two.amc", 0);
    assert_string_equal(json_string_value(json_object_get(object, "keypoints")), "COCO");
    assert_true(json_is_true(json_object_get(object, "skeleton_scaled")));
    json_decref(object);
    ulna_test_tool_shell(tool, "cmp one.bvh two.bvh");
}

/* ---- markers of another person ------------------------------------------------------------------------------------------------ */

/* The take of another person: their markers are centimetres from where the built-in human has its own. */
static void write_other(const ulna_test_tool *tool)
{
    ulna_test_take take = ulna_test_take_make(FRAMES);
    ulna_test_rng rng = ulna_test_rng_seed(4);
    ulna_pose *pose;
    int count = take.markers.marker_count - 1;
    double(*offset)[3] = malloc((size_t)count * sizeof *offset);
    assert_non_null(offset);
    assert_int_equal(ulna_pose_create(take.model, NULL, &pose, NULL), ULNA_OK);
    for (int m = 0; m < count; m++) {
        ulna_model_marker_position(take.model, m, offset[m]);
        for (int k = 0; k < 3; k++)
            offset[m][k] += 0.025 * ulna_test_rng_normal(&rng);
    }
    for (int f = 0; f < FRAMES; f++) {
        assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&take.clip, f)), ULNA_OK);
        for (int m = 0; m < count; m++)
            ulna_pose_point(pose, ulna_model_marker_body(take.model, m), offset[m],
                            ulna_recording_frame(&take.markers, f) + 3 * (size_t)m);
    }
    ulna_test_take_write(tool->folder, "other.c3d", NULL, NULL, &take.markers);
    ulna_pose_destroy(pose);
    free(offset);
    ulna_test_take_release(&take);
}

static void markers_of_another_person_are_calibrated(void **state)
{
    ulna_test_tool *tool = *state;
    write_other(tool);
    json_t *own = solve(tool, "-s human -m other.c3d -a model -o model.bvh", 1); /* not to be used */
    json_t *names = solve(tool, "-s human -m other.c3d -a names -o names.bvh", 0);
    json_t *object = solve(tool, "-s human -m other.c3d -o default.bvh", 0);
    assert_true(has_note(object, "the skeleton's own markers are not where this person wears them"));
    assert_true(number(object, "own_markers_rms_mm") > 15);
    assert_below(member(object, "rms_mm", "mean"), 0.5 * member(own, "rms_mm", "mean"));
    json_decref(object);
    object = solve(tool, "-s human -m take.c3d", 0); /* its own fit, and nothing is calibrated */
    assert_null(json_object_get(object, "calibration_rms_mm"));
    assert_below(number(object, "own_markers_rms_mm"), 3);
    json_decref(object);
    ulna_test_tool_shell(tool, "cmp names.bvh default.bvh && mkdir db && cp other.c3d db");
    json_decref(own);
    json_decref(names);
    assert_int_equal(ulna_test_tool_run(tool, "global human -m other.c3d --relax none"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "batch db -s human -o out --no-reports"), 0);
    ulna_test_tool_shell(tool, "test -s out/calibration/human.csv && ! grep -q reject out/results.csv");
    ulna_test_tool_shell(tool, "rm -r out && cp take.c3d db/other.c3d");
    assert_int_equal(ulna_test_tool_run(tool, "batch db -s human -o out --no-reports"), 0);
    ulna_test_tool_shell(tool, "test ! -e out/calibration/human.csv");
}

/* Recorded people: neither the built-in human's own markers nor a skeleton are needed, and the error is that of skin. */
static void recorded_people(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const files[] = {
        "cmu/02_01.c3d",
        "hdm05/HDM_dg_03-05_02_120.c3d",
        "hdm05/HDM_dg_06-03_03_120.c3d",
        "c3d/s09_PlugInC3D.c3d",
        "c3d/btk_PiG_Motion3_FF.c3d",
        "c3d/btk_PiG_Calibration3_FF.c3d",
        "trc/formats/osim_walking5.c3d",
        "trc/gait2354/subject01_walk1.trc",
        "trc/gait2354/subject01_static.trc",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int way = 0; way < 2; way++) {
            char line[600];
            snprintf(line, sizeof line, "%s -m '%s/%s'", way ? "-s human" : "", ulna_test_data_dir(), files[i]);
            json_t *object = solve(tool, line, 0);
            assert_below(number(object, "rms_typical_mm"), 8);
            if (!way) /* nobody of them is a child, or a giant */
                assert_near(number(object, "person_to_skeleton"), 1.03, 0.12);
            json_decref(object);
        }
}

/* ---- tables that cannot be right ---------------------------------------------------------------------------------------------- */

static void tables_in_other_units(void **state)
{
    ulna_test_tool *tool = *state;
    static const struct {
        double times;
        const char *line, *says;
    } cases[] = {
        {1, "", NULL},
        {1000, "", "t.csv:2: marker '"},
        {1000, "", "add the line '# unit: mm'"},
        {100, "", "add the line '# unit: cm'"},
        {1000, "# unit: mm\\n", NULL},
        {100, "# unit: cm\\n", NULL},
        {1000, "# unit: m\\n",
         "the unit in its columns' names, or in its line '# unit', seems wrong; 'mm' would fit\n"},
    };
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s human -m take.c3d -o a.csv"), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char script[400];
        snprintf(script, sizeof script,
                 "(printf '%s'; awk -F, '/^#/ { next } /^marker/ { print \"marker,bone,x,y,z\"; next } "
                 "{ printf \"%%s,%%s,%%g,%%g,%%g\\n\", $1, $2, $3 * %g, $4 * %g, $5 * %g }' a.csv) >t.csv",
                 cases[i].line, cases[i].times, cases[i].times, cases[i].times);
        ulna_test_tool_shell(tool, script);
        json_decref(solve(tool, "-s human -m take.c3d -a t.csv", cases[i].says ? 3 : 0));
        if (cases[i].says)
            ulna_test_says(tool->err, cases[i].says);
    }
    ulna_test_tool_shell(tool, "printf 'marker,bone,x,y,z\nLFHD,head,.07,.1,.09\nRFHD,head,-.07,.1,3\nC7,neck,0,0,0\n' "
                               ">typo.csv");
    json_decref(solve(tool, "-s human -m take.c3d -a typo.csv", 3));
    ulna_test_says(tool->err, "typo.csv:3: marker 'RFHD' would be 3 m from its bone");
    ulna_test_says(tool->err, "correct its numbers");
    ulna_test_tool_shell(tool, "printf 'marker,bone,x_m,y_m,z_m\nLFHD,head,1e300,0,0\n' >huge.csv");
    json_decref(solve(tool, "-s human -m take.c3d -a huge.csv", 3));
    ulna_test_says(tool->err, "correct its numbers"); /* no unit would fit */
    json_decref(ulna_test_tool_run_json(tool, "calibrate", "-s human -m take.c3d -a typo.csv", 3));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_take, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        ulna_test_needs("hand", TEST(key_points_need_no_attachment)),
        TEST(key_points_need_no_markers_on_the_skeleton),
        TEST(a_skeleton_without_markers_is_calibrated),
        TEST(names_replace_markers_that_are_not_there),
        ulna_test_needs("trc", TEST(names_replace_markers_of_recordings)),
        TEST(skeletons_of_others_are_not_trusted),
        TEST(offsets_of_one_pose_are_a_guess),
        TEST(a_reference_tells_offsets),
        TEST(no_skeleton_is_needed),
        TEST(no_skeleton_for_a_child),
        TEST(no_skeleton_where_nothing_moves),
        TEST(no_skeleton_mistakes),
        TEST(no_skeleton_for_key_points),
        TEST(markers_of_another_person_are_calibrated),
        TEST(tables_in_other_units),
        ulna_test_needs("cmu hdm05 c3d trc", TEST(recorded_people)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
