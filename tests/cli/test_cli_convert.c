/* `ulna convert`, and `ulna info` of motions and recordings, run as their users run them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_c3d.h"
#include "support_take.h"
#include "support_tool.h"
#include "ulna/kinematics.h"

enum { FRAMES = 40 };

/* A fresh folder with a skeleton, its motion and its markers. */
static int open_take(void **state)
{
    int result = ulna_test_tool_open(state);
    ulna_test_tool *tool = *state;
    if (result == 0 && tool) {
        ulna_test_take take = ulna_test_take_make(FRAMES);
        ulna_test_take_write(tool->folder, "take.c3d", NULL, NULL, &take.markers);
        ulna_test_take_write(tool->folder, "human.json", take.model, NULL, NULL);
        ulna_test_take_write(tool->folder, "take.csv", take.model, &take.clip, NULL);
        ulna_test_take_release(&take);
    }
    return result;
}

static void convert(ulna_test_tool *tool, const char *arguments, int code)
{
    char line[1024];
    snprintf(line, sizeof line, "convert %s", arguments);
    int got = ulna_test_tool_run(tool, line);
    if (got != code)
        fail_msg("%s: exit code %d, not %d:\n%s%s", arguments, got, code, tool->out, tool->err);
}

static ulna_content load(const ulna_test_tool *tool, const char *name, const ulna_model *model)
{
    ulna_content content = ulna_content_empty(NULL);
    ulna_read_options options = ulna_read_options_default();
    ulna_error error;
    char path[128];
    options.model = model;
    if (ulna_content_load(ulna_test_path(path, sizeof path, tool->folder, name), &options, &content, &error))
        fail_msg("%s:%d: %s", name, error.line, error.message);
    return content;
}

/* ---- motions --------------------------------------------------------------------------------------------------- */

/* The place of a body over the frames, in both. */
static void assert_same_poses(const ulna_model *a, const ulna_clip *p, const ulna_model *b, const ulna_clip *q,
                              double tolerance)
{
    ulna_pose *one, *other;
    assert_int_equal(p->frame_count, q->frame_count);
    assert_int_equal(ulna_pose_create(a, NULL, &one, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_create(b, NULL, &other, NULL), ULNA_OK);
    int compared = 0;
    for (int f = 0; f < p->frame_count; f += 7) {
        assert_int_equal(ulna_pose_forward(one, ulna_clip_frame(p, f)), ULNA_OK);
        assert_int_equal(ulna_pose_forward(other, ulna_clip_frame(q, f)), ULNA_OK);
        for (int i = 1; i < ulna_model_body_count(a); i++) {
            int same = ulna_model_find_body(b, ulna_model_body_name(a, i));
            double x[3], y[3];
            if (same == ULNA_NONE)
                continue;
            ulna_pose_body(one, i, x, NULL);
            ulna_pose_body(other, same, y, NULL);
            for (int k = 0; k < 3; k++)
                assert_near(x[k], y[k], tolerance);
            compared++;
        }
    }
    assert_true(compared > 20);
    ulna_pose_destroy(one);
    ulna_pose_destroy(other);
}

static void motions_keep_their_poses(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const through[] = {
        "human.json take.csv -o out.bvh", "take.csv human.json -o out.bvh", /* in any order */
        "human.json take.csv --ball quaternion -o out.bvh", "human.json take.csv --unit m -o out.bvh --input-unit m"};
    ulna_test_take take = ulna_test_take_make(FRAMES);
    for (size_t i = 0; i < sizeof through / sizeof *through; i++) {
        convert(tool, through[i], 0);
        ulna_test_says(tool->out, "out.bvh: Biovision (BVH)");
        if (strstr(through[i], "--unit"))
            continue; /* the reader takes BVH for centimetres */
        ulna_content out = load(tool, "out.bvh", NULL);
        assert_near(out.clip.frame_seconds, 1.0 / 120, 1e-9);
        assert_same_poses(take.model, &take.clip, out.model, &out.clip, 1e-6);
        ulna_content_release(&out);
    }
    /* and on: BVH to Acclaim and back */
    convert(tool, "human.json take.csv -o out.bvh", 0);
    convert(tool, "out.bvh -o out.asf", 0);
    convert(tool, "out.bvh -o out.amc", 0);
    convert(tool, "out.amc out.asf --rate 120 -o back.bvh", 0);
    ulna_content one = load(tool, "out.bvh", NULL), other = load(tool, "back.bvh", NULL);
    assert_same_poses(one.model, &one.clip, other.model, &other.clip, 1e-5);
    ulna_content_release(&one);
    ulna_content_release(&other);
    ulna_test_take_release(&take);
}

/* An AMC is in the unit and the order of its ASF, whichever that has. */
static void acclaim_files_go_together(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const units[] = {"m", "mm", "in"};
    ulna_test_take take = ulna_test_take_make(FRAMES);
    convert(tool, "human.json take.csv -o true.bvh", 0);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        char line[128];
        snprintf(line, sizeof line, "human.json -o own.asf --unit %s", units[i]);
        convert(tool, line, 0);
        snprintf(line, sizeof line, "human.json take.csv -o own.amc --unit %s", units[i]);
        convert(tool, line, 0);
        ulna_test_says(tool->out, "an AMC needs an ASF");
        convert(tool, "own.asf own.amc -o one.bvh", 0);
        convert(tool, "own.asf own.amc -o two.amc", 0); /* in the unit of own.asf */
        assert_null(strstr(tool->out, "an AMC needs an ASF"));
        convert(tool, "own.asf two.amc -o two.bvh", 0);
        convert(tool, "own.asf own.amc -o three.csv", 0); /* metres, whatever the skeleton's unit */
        convert(tool, "own.asf three.csv -o three.bvh", 0);
        static const char *const made[] = {"one.bvh", "two.bvh", "three.bvh"};
        for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
            ulna_content out = load(tool, made[k], NULL);
            assert_same_poses(take.model, &take.clip, out.model, &out.clip, 1e-6);
            ulna_content_release(&out);
        }
    }
    ulna_test_take_release(&take);
}

/* Where the format has no place for the motion: the joints as markers, or the skeleton alone, and told. */
static void what_does_not_fit_is_told(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    convert(tool, "human.json take.csv -o out.bvh", 0);
    convert(tool, "out.bvh -o joints.trc", 0);
    ulna_test_says(tool->out, "no recorded markers: the positions of the");
    ulna_content joints = load(tool, "joints.trc", NULL), bvh = load(tool, "out.bvh", NULL);
    assert_int_equal(joints.recording.marker_count, ulna_model_body_count(bvh.model));
    assert_int_equal(joints.recording.frame_count, FRAMES);
    int head = ulna_model_find_body(take.model, "head"), marker = ulna_recording_find(&joints.recording, "head");
    double place[3];
    ulna_pose *pose;
    assert_true(head >= 0 && marker >= 0);
    assert_int_equal(ulna_pose_create(take.model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&take.clip, 9)), ULNA_OK);
    assert_int_equal(ulna_pose_body(pose, head, place, NULL), ULNA_OK);
    for (int k = 0; k < 3; k++)
        assert_near(ulna_recording_frame(&joints.recording, 9)[3 * marker + k], place[k], 1e-6);
    ulna_pose_destroy(pose);
    ulna_content_release(&joints);
    ulna_content_release(&bvh);
    ulna_test_take_release(&take);

    convert(tool, "human.json take.csv -o own.c3d", 0); /* this skeleton has markers of its own */
    ulna_test_says(tool->out, "41 markers are");
    convert(tool, "out.bvh -o out.asf", 0);
    ulna_test_says(tool->out, "holds no motion: 40 frames are left");
    convert(tool, "out.bvh -o out.amc", 0);
    ulna_test_says(tool->out, "an AMC needs an ASF with the same joints");
    convert(tool, "out.asf out.amc -o again.amc", 0);
    assert_null(strstr(tool->out, "goes with"));
    convert(tool, "out.bvh -o out.mot", 0);
    ulna_test_says(tool->out, "also give");
    convert(tool, "human.json take.c3d -o out.bvh", 0);
    ulna_test_says(tool->out, "holds no markers: the ");
    convert(tool, "take.c3d -o other.bvh", 3);
    ulna_test_says(tool->err, "'ulna solve' computes the motion");

    convert(tool, "hand out.bvh -o other.bvh", 3); /* it says what to do, and that works */
    ulna_test_says(tool->err, "another skeleton: one skeleton has 26 bodies, the other 17. Write");
    ulna_test_says(tool->err,
                   "'ulna convert MOTION -o markers.c3d', then 'ulna solve -s SKELETON -m markers.c3d -o OUT'");
    convert(tool, "out.bvh -o markers.c3d", 0);
    assert_true(ulna_test_tool_run(tool, "solve -s human -m markers.c3d -o other.bvh") <= 1);
}

/* Values of an ASF that lists slides behind turns are written in another order than it has. */
static void the_order_of_an_asf_is_kept(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool,
                         "printf ':units\\nlength 1\\n:root\\norder RX RY RZ TX TY TZ\\n:bonedata\\nbegin\\nname a\\n"
                         "direction 1 0 0\\nlength 1\\ndof rx\\nend\\n:hierarchy\\nroot a\\n' >odd.asf; "
                         "printf ':DEGREES\\n1\\nroot 1 2 3 4 5 6\\na 7\\n' >odd.amc");
    convert(tool, "odd.asf odd.amc -o out.amc", 0);
    assert_null(strstr(tool->out, "an AMC goes with"));
    ulna_test_tool_shell(tool, "grep -q '^root 1 2 3 4 5 6$' out.amc");
}

/* An angle that is written as -170 after 170 degrees goes on to 190. */
static void jumps_are_taken_out(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, "printf 'HIERARCHY\\nROOT a\\n{\\nOFFSET 0 0 0\\nCHANNELS 3 Zrotation Xrotation Yrotation\\n}\\n"
              "MOTION\\nFrames: 2\\nFrame Time: 0.01\\n170 0 0\\n-170 0 0\\n' >spin.bvh");
    convert(tool, "spin.bvh -o out.bvh", 0);
    ulna_test_says(tool->out, "1 jump of angles between frames was removed");
    ulna_test_tool_shell(tool, "grep -q -e '^190 0 0$' -e '^189.99999999999' out.bvh");
}

static void rates_can_be_said(void **state)
{
    ulna_test_tool *tool = *state;
    convert(tool, "human.json take.csv --rate 50 -o out.mot", 0);
    ulna_test_take take = ulna_test_take_make(1);
    ulna_content out = load(tool, "out.mot", take.model);
    assert_int_equal(out.clip.frame_count, FRAMES);
    assert_near(out.clip.frame_seconds, 0.02, 1e-9);
    ulna_content_release(&out);
    ulna_test_take_release(&take);
}

/* ---- markers ---------------------------------------------------------------------------------------------------- */

static void markers_keep_their_places(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    convert(tool, "take.c3d -o out.trc", 0);
    convert(tool, "out.trc -o again.c3d", 0);
    static const char *const files[] = {"out.trc", "again.c3d"};
    for (int i = 0; i < 2; i++) {
        ulna_content out = load(tool, files[i], NULL);
        assert_int_equal(out.recording.marker_count, take.markers.marker_count);
        assert_int_equal(out.recording.frame_count, FRAMES);
        for (int m = 0; m < take.markers.marker_count; m++) {
            int same = ulna_recording_find(&out.recording, take.markers.names[m]);
            assert_true(same != ULNA_NONE);
            for (int k = 0; k < 3; k++)
                assert_near(ulna_recording_frame(&out.recording, 5)[3 * same + k],
                            ulna_recording_frame(&take.markers, 5)[3 * m + k], 1e-6);
        }
        ulna_content_release(&out);
    }
    ulna_test_take_release(&take);
}

/* ---- outputs ------------------------------------------------------------------------------------------------------ */

/* `convert *.bvh` with two files would write over the second one. The line of the message does what was meant. */
static void an_existing_file_is_no_output_without_o(void **state)
{
    ulna_test_tool *tool = *state;
    convert(tool, "human.json take.csv -o a.bvh", 0);
    ulna_test_tool_shell(tool, "cp a.bvh b.bvh; echo mine >\"it's mine.bvh\"; cp a.bvh 'long name.bvh'");
    static const struct {
        const char *arguments, *line;
    } cases[] = {
        {"a.bvh b.bvh", "ulna convert a.bvh -o b.bvh"},
        {"a.bvh take.c3d", "ulna convert a.bvh -o take.c3d"},
        {"a.bvh 'long name.bvh' --unit in --digits=6", "ulna convert --unit=in --digits=6 a.bvh -o 'long name.bvh'"},
        {"a.bvh \"it's mine.bvh\"", "ulna convert a.bvh -o 'it'\\''s mine.bvh'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char script[400];
        ulna_test_tool_shell(tool, "cp take.c3d before.c3d; cp b.bvh before.bvh");
        convert(tool, cases[i].arguments, 2);
        ulna_test_says(tool->err, cases[i].line);
        ulna_test_tool_shell(tool, "cmp take.c3d before.c3d && cmp b.bvh before.bvh");
        snprintf(script, sizeof script, "%s -q%s", ULNA_TEST_CLI, cases[i].line + strlen("ulna"));
        ulna_test_tool_shell(tool, script);
    }
    ulna_test_tool_shell(tool, "! cmp -s b.bvh 'long name.bvh' && cmp a.bvh \"it's mine.bvh\"");
    convert(tool, "*.bvh", 2);
    ulna_test_says(tool->err, "-o 'long name.bvh'");
    convert(tool, "a.bvh new.bvh", 0);
    convert(tool, "a.bvh new.bvh", 2);
    convert(tool, "--json a.bvh new.bvh", 2);
    json_decref(ulna_test_tool_json(tool));
}

static void several_outputs_are_those_of_several_commands(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const names[] = {"bvh", "asf", "amc", "c3d", "trc", "glb", "csv", "mot"};
    char all[400] = "human.json take.csv";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char one[100];
        snprintf(one, sizeof one, "human.json take.csv -o one.%s", names[i]);
        convert(tool, one, 0);
        snprintf(all + strlen(all), sizeof all - strlen(all), " -o sub/all.%s", names[i]);
    }
    convert(tool, all, 0);
    ulna_test_says(tool->out, "sub/all.bvh: Biovision (BVH), from a skeleton of");
    ulna_test_says(tool->out, "sub/all.trc: TRC, from a skeleton of");
    ulna_test_tool_shell(tool, "for f in bvh asf amc c3d trc glb csv mot; do cmp one.$f sub/all.$f || exit 1; done");
    convert(tool, "--json human.json take.csv -o one.bvh -o one.trc", 0);
    json_t *object = ulna_test_tool_json(tool), *list = json_object_get(object, "outputs");
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "file")), "one.trc");
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "format")), "trc");
    json_decref(object);
    ulna_test_tool_shell(tool, "ln -s take.csv link.csv; ln take.csv hard.csv");
    convert(tool, "human.json take.csv -o new.bvh -o link.csv", 2);
    ulna_test_says(tool->err, "would overwrite the input 'take.csv'");
    convert(tool, "human.json link.csv -o hard.csv", 2);
    ulna_test_tool_shell(tool, "test ! -e new.bvh");
}

/* A BVH does not state its unit: what is read in one is written in it. */
static void a_bvh_keeps_its_unit(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const units[] = {"m", "cm", "in"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        char line[100];
        snprintf(line, sizeof line, "human.json take.csv --unit %s -o own.bvh", units[i]);
        convert(tool, line, 0);
        snprintf(line, sizeof line, "own.bvh --input-unit %s -o again.bvh", units[i]);
        convert(tool, line, 0);
        ulna_test_tool_shell(tool, "cmp own.bvh again.bvh");
    }
}

/* As long as another program has made the file. */
static void characters_are_written_again(void **state)
{
    ulna_test_tool *tool = *state;
    convert(tool, "human.json -o own.gltf", 0);
    ulna_test_tool_shell(
        tool, "sed 's/\"generator\":\"Ulna\"/\"generator\":\"Tailor\",\"copyright\":\"me\"/' own.gltf >body.gltf");
    convert(tool, "body.gltf -o same.glb -o same.bvh", 0);
    ulna_test_tool_shell(tool, "grep -aq '\"copyright\":\"me\"' same.glb");
    assert_int_equal(ulna_test_tool_run(tool, "solve -s same.glb -m take.c3d -o moving.glb"), 0);
    ulna_test_tool_shell(tool,
                         "grep -aq '\"copyright\":\"me\"' moving.glb && grep -aq '\"name\":\"motion\"' moving.glb");
    assert_int_equal(ulna_test_tool_run(tool, "reach same.glb -t left_hand -g '0.2 1 0.3' -o pose.glb"), 0);
    ulna_test_tool_shell(tool, "grep -aq '\"copyright\":\"me\"' pose.glb");
    convert(tool, "same.glb take.c3d -o both.glb", 0);
    ulna_test_says(tool->out, "markers are left out");
}

static void results_are_told_in_json(void **state)
{
    ulna_test_tool *tool = *state;
    convert(tool, "--json human.json take.csv -o out.bvh", 0);
    json_t *object = ulna_test_tool_json(tool);
    assert_string_equal(json_string_value(json_object_get(object, "output")), "out.bvh");
    assert_int_equal(json_array_size(json_object_get(object, "outputs")), 1);
    assert_string_equal(json_string_value(json_object_get(object, "format")), "bvh");
    assert_int_equal(json_integer_value(json_object_get(object, "frames")), FRAMES);
    assert_true(json_array_size(json_object_get(object, "notes")) > 0); /* BVH has no limits */
    json_decref(object);
}

static void mistakes_are_told(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "printf 'nothing that anybody reads' >junk; cp take.csv second.csv");
    static const struct {
        const char *arguments;
        int code;
        const char *says;
    } cases[] = {
        {"take.c3d", 2, "missing argument: give a file to read, and one to write"},
        {"-o out.trc", 2, "ulna convert IN... -o OUT"},
        {"", 2, "missing argument"},
        {"take.c3d -o out.trc -o out.xyz", 2, "'out.xyz': unknown extension"},
        {"take.c3d -o ''", 2, "unknown extension"},
        {"take.c3d out.xyz", 2, "'out.xyz': unknown extension"},
        {"take.c3d out", 2, "unknown extension"},
        {"take.c3d out.trc --unit furlong", 2, "--unit takes m, cm, mm, in, ft or a number of metres"},
        {"take.c3d out.trc --rate 0", 2, "--rate takes a number"},
        {"take.c3d out.trc --ball x", 2, "--ball takes"},
        {"junk out.trc", 3, "junk: unknown file format"},
        {"absent.c3d out.trc", 4, "absent.c3d: cannot open"},
        {"take.c3d take.c3d out.trc", 3, "take.c3d: a second recording"},
        {"human.json take.csv second.csv out.bvh", 3,
         "second.csv: a second motion: only one can be converted at a time; call `ulna convert` for each file\n"},
        {"take.c3d out.bvh", 3, "out.bvh: "},
        {"take.c3d take.c3d/out.trc", 4, "take.c3d: cannot create the folder"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        convert(tool, cases[i].arguments, cases[i].code);
        ulna_test_says(tool->err, cases[i].says);
    }
    ulna_test_tool_shell(tool, "test ! -e out.trc && test ! -e out.bvh && test -z \"$(ls | grep tmp)\"");
}

/* Analog data goes from C3D to C3D; elsewhere it is not converted, and that is said. */
static void check_analog(ulna_test_tool *tool, const char *file, const char *told)
{
    char arguments[600];
    snprintf(arguments, sizeof arguments, "'%s' analog.c3d", file);
    convert(tool, arguments, 0);
    assert_null(strstr(tool->out, "analog data"));
    assert_int_equal(ulna_test_tool_run(tool, "info analog.c3d"), 0);
    ulna_test_says(tool->out, "analog  ");
    convert(tool, "analog.c3d -o analog.trc", 0);
    ulna_test_says(tool->out, told);
}

static void analog_data_is_kept_or_told(void **state)
{
    ulna_test_tool *tool = *state;
    char path[256];
    maker m = {.is_real = 1, .points = 4, .frames = 30, .analog = 6, .labels = "A   B   C   D   "};
    make(&m);
    FILE *file = fopen(ulna_test_path(path, sizeof path, tool->folder, "made.c3d"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(m.data, 1, m.length, file), m.length);
    fclose(file);
    free(m.data);
    check_analog(tool, "made.c3d", "the analog data (6 samples per frame) is not converted");
}

static void recorded_analog_data_is_kept_or_told(void **state)
{
    char path[512];
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), "c3d/btk_Analysis.c3d");
    check_analog(*state, path, "the analog data (16 samples per frame) is not converted");
}

/* ---- ulna info ----------------------------------------------------------------------------------------------------- */

static void recordings_are_described(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    int marker = ulna_recording_find(&take.markers, "LFHD");
    for (int f = 10; f < 17; f++)
        for (int k = 0; k < 3; k++)
            ulna_recording_frame(&take.markers, f)[3 * marker + k] = NAN;
    for (int f = 0; f < FRAMES; f++)
        for (int k = 0; k < 3; k++)
            ulna_recording_frame(&take.markers, f)[3 * (take.markers.marker_count - 1) + k] = NAN;
    ulna_recording_frame(&take.markers, 20)[3 * marker] += 3;
    ulna_test_take_write(tool->folder, "gaps.c3d", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    assert_int_equal(ulna_test_tool_run(tool, "info gaps.c3d"), 0);
    ulna_test_says(tool->out, "gaps.c3d: C3D");
    ulna_test_says(tool->out, "40, numbered 1 to 40; 120 per second");
    ulna_test_says(tool->out, "42: Eve:");
    ulna_test_says(tool->out, "47 of 1680 positions missing, 2.8 %");
    ulna_test_says(tool->out, "never seen");
    ulna_test_says(tool->out, "jump by more than 25 cm from one frame to the next 2 times");
    assert_int_equal(ulna_test_tool_run(tool, "info --json gaps.c3d"), 0);
    json_t *object = ulna_test_tool_json(tool), *row = json_array_get(json_object_get(object, "files"), 0);
    assert_int_equal(json_integer_value(json_object_get(row, "markers")), 42);
    assert_int_equal(json_integer_value(json_object_get(row, "missing")), 47);
    json_t *one = json_array_get(json_object_get(row, "marker_list"), (size_t)marker);
    assert_string_equal(json_string_value(json_object_get(one, "name")), "Eve:LFHD");
    assert_int_equal(json_integer_value(json_object_get(one, "longest_gap")), 7);
    assert_int_equal(json_integer_value(json_object_get(one, "gap_frame")), 11);
    json_decref(object);
}

static void motions_are_described(void **state)
{
    ulna_test_tool *tool = *state;
    convert(tool, "human.json take.csv -o out.bvh", 0);
    convert(tool, "out.bvh -o out.asf", 0);
    convert(tool, "out.bvh -o out.amc", 0);
    convert(tool, "out.amc -o again.bvh", 3);
    ulna_test_says(tool->err, "give the ASF file, as in `ulna convert SKELETON.asf out.amc -o again.bvh`\n");
    convert(tool, "out.asf out.amc -o again.bvh", 0);
    assert_int_equal(ulna_test_tool_run(tool, "convert out.bvh -o one.amc"), 0);
    ulna_test_says(tool->out, "an AMC needs an ASF with the same joints");
    assert_int_equal(ulna_test_tool_run(tool, "convert out.bvh -o one.amc -o one.asf"), 0);
    assert_null(strstr(tool->out, "an AMC needs an ASF")); /* it is there */
    convert(tool, "one.asf one.amc -o again.bvh", 0);
    assert_int_equal(ulna_test_tool_run(tool, "convert out.bvh -o joints_of_this_motion.c3d"), 0);
    for (const char *line = tool->out; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        assert_true(strcspn(line, "\n") < 80);
    assert_int_equal(ulna_test_tool_run(tool, "info out.bvh"), 0);
    ulna_test_says(tool->out, "40, numbered 1 to 40; 120 per second");
    assert_int_equal(ulna_test_tool_run(tool, "info out.amc"), 3);
    ulna_test_says(tool->err,
                   "out.amc: reading an AMC file needs its skeleton: give the ASF file together with this file");
    static const char *const orders[] = {"info --json out.asf out.amc", "info --json out.amc out.asf"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ulna_test_tool_run(tool, orders[i]), 0);
        json_t *object = ulna_test_tool_json(tool),
               *row = json_array_get(json_object_get(object, "files"), i == 0 ? 1 : 0);
        assert_string_equal(json_string_value(json_object_get(row, "format")), "amc");
        assert_int_equal(json_integer_value(json_object_get(row, "frames")), FRAMES);
        assert_true(json_array_size(json_object_get(row, "ranges")) > 50);
        json_decref(object);
    }
    assert_int_equal(ulna_test_tool_run(tool, "info --values out.asf out.amc"), 0);
    ulna_test_says(tool->out, "least");
}

/* Limits that a motion leaves, and jumps, are noted. */
static void odd_values_are_noted(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    int knee = ulna_model_find_body(take.model, "left_shank"), first;
    assert_true(ulna_model_body_coordinates(take.model, knee, &first) > 0);
    ulna_clip_frame(&take.clip, 8)[first] = 3.1;
    ulna_test_take_write(tool->folder, "odd.csv", take.model, &take.clip, NULL);
    ulna_test_take_release(&take);
    assert_int_equal(ulna_test_tool_run(tool, "info human.json odd.csv"), 0);
    ulna_test_says(tool->out, "degrees of freedom with limits exceed them, the most");
    ulna_test_says(tool->out, "angles jump by more than 90 degrees from one");
}

/* Analog data go with the frames into the C3D of a solved take. */
static void solved_markers_have_the_analog_data(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    maker m = made_with_analog(take.markers.first_frame, FRAMES);
    ulna_text out = ulna_text_empty(NULL);
    ulna_content with = ulna_content_empty(NULL);
    ulna_read_options reading = ulna_read_options_default();
    ulna_write_options writing = ulna_write_options_default();
    char path[128];
    reading.extras = 1;
    assert_int_equal(ulna_content_read((char *)m.data, m.length, ULNA_FORMAT_C3D, &reading, &with, NULL), ULNA_OK);
    writing.extras = with.extras;
    assert_int_equal(ulna_content_save(ulna_test_path(path, sizeof path, tool->folder, "analog.c3d"), NULL, NULL,
                                       &take.markers, &writing, NULL, NULL),
                     ULNA_OK);
    ulna_content_release(&with);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m analog.c3d --frames 11:30 -o out.c3d"), 0);
    ulna_test_says(tool->out, "residuals, cameras");
    assert_int_equal(
        ulna_content_load(ulna_test_path(path, sizeof path, tool->folder, "out.c3d"), &reading, &with, NULL), ULNA_OK);
    assert_int_equal(with.source.analog, CHANNELS * PER_FRAME);
    assert_true(with.recording.first_frame == 11 && with.recording.frame_count == 20);
    assert_int_equal(ulna_file_read(path, 1 << 24, &out, NULL), ULNA_OK);
    float first = (float)sample(11 - take.markers.first_frame, 1); /* of the second channel */
    size_t block = (unsigned char)out.data[16] + 256 * (size_t)(unsigned char)out.data[17];
    assert_memory_equal(out.data + 512 * (block - 1) + 16 * (size_t)with.recording.marker_count + 4, &first,
                        sizeof first);
    ulna_text_release(&out);
    ulna_content_release(&with);
    free(m.data);
    ulna_test_take_release(&take);
    ulna_test_tool_shell(tool, "'" ULNA_TEST_CLI "' solve -s human -m - -o in.c3d <analog.c3d >in.txt");
    char *text = ulna_test_tool_file(tool, "in.txt");
    ulna_test_says(text, "name the file");
    free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_take, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(analog_data_is_kept_or_told),
        ulna_test_needs("c3d", TEST(recorded_analog_data_is_kept_or_told)),
        TEST(solved_markers_have_the_analog_data),
        TEST(acclaim_files_go_together),
        TEST(what_does_not_fit_is_told),
        TEST(the_order_of_an_asf_is_kept),
        TEST(jumps_are_taken_out),
        TEST(motions_keep_their_poses),
        TEST(rates_can_be_said),
        TEST(markers_keep_their_places),
        TEST(characters_are_written_again),
        TEST(results_are_told_in_json),
        TEST(mistakes_are_told),
        TEST(recordings_are_described),
        TEST(motions_are_described),
        TEST(odd_values_are_noted),
        TEST(an_existing_file_is_no_output_without_o),
        TEST(several_outputs_are_those_of_several_commands),
        TEST(a_bvh_keeps_its_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
