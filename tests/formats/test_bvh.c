/* Reading BVH: what the format says, its dialects, its defects, and the recorded files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "ulna/formats.h"
#include "ulna/kinematics.h"

#define DEGREES (3.14159265358979323846 / 180)

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

static ulna_content read_text(const char *text)
{
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    if (ulna_content_read(text, strlen(text), ULNA_FORMAT_BVH, NULL, &content, &error) != ULNA_OK)
        fail_msg("%d:%d: %s\n%s", error.line, error.column, error.message, text);
    return content;
}

static ulna_content load(const char *folder, const char *name, double unit_m)
{
    ulna_error error;
    char path[512], inside[256];
    ulna_read_options options = ulna_read_options_default();
    ulna_content content = ulna_content_empty(NULL);
    options.unit_m = unit_m;
    snprintf(inside, sizeof inside, "%s/%s", folder, name);
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), inside);
    if (ulna_content_load(path, &options, &content, &error) != ULNA_OK)
        fail_msg("%s:%d: %s", name, error.line, error.message);
    return content;
}

static int has_remark(const ulna_content *content, int line, const char *words)
{
    for (size_t i = 0; i < content->remarks.count; i++)
        if (strstr(content->remarks.items[i].message, words) && content->remarks.items[i].line == line)
            return 1;
    return 0;
}

static void assert_remark(const ulna_content *content, int line, const char *words)
{
    if (has_remark(content, line, words))
        return;
    for (size_t i = 0; i < content->remarks.count; i++)
        print_error("line %d: %s\n", content->remarks.items[i].line, content->remarks.items[i].message);
    fail_msg("no remark on line %d says \"%s\"", line, words);
}

static void body_at(const ulna_content *content, int frame, const char *name, double position[3], double rotation[9])
{
    ulna_pose *pose;
    int body = ulna_model_find_body(content->model, name);
    assert_true(body >= 0);
    assert_int_equal(ulna_pose_create(content->model, NULL, &pose, NULL), ULNA_OK);
    const double *q = frame < 0 ? ulna_model_rest(content->model) : ulna_clip_frame(&content->clip, frame);
    assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
    assert_int_equal(ulna_pose_body(pose, body, position, rotation), ULNA_OK);
    ulna_pose_destroy(pose);
}

static void assert_place(const ulna_content *content, int frame, const char *name, double x, double y, double z)
{
    double p[3], r[9], wanted[3] = {x, y, z};
    body_at(content, frame, name, p, r);
    for (int i = 0; i < 3; i++)
        if (!(fabs(p[i] - wanted[i]) <= 1e-14))
            fail_msg("%s in frame %d is at %.17g %.17g %.17g, not %.17g %.17g %.17g", name, frame, p[0], p[1], p[2], x,
                     y, z);
}

static const ulna_joint *joint_of(const ulna_content *content, const char *name)
{
    return ulna_model_body_joint(content->model, ulna_model_find_body(content->model, name));
}

/* ---- what the format says --------------------------------------------------------------------------------------- */

static const char plain[] = "HIERARCHY\n"
                            "ROOT Hips\n"
                            "{\n"
                            "\tOFFSET 0 0 0\n"
                            "\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
                            "\tJOINT Arm\n"
                            "\t{\n"
                            "\t\tOFFSET 10 0 0\n"
                            "\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n"
                            "\t\tEnd Site\n"
                            "\t\t{\n"
                            "\t\t\tOFFSET 0 50 20\n"
                            "\t\t}\n"
                            "\t}\n"
                            "}\n"
                            "MOTION\n"
                            "Frames: 2\n"
                            "Frame Time: .0083333\n"
                            "0 100 0 0 0 0 0 0 0\n"
                            "1 2 3 90 0 0 90 90 0\n";

static void test_plain(void **state)
{
    (void)state;
    ulna_content c = read_text(plain);
    assert_int_equal(c.format, ULNA_FORMAT_BVH);
    assert_int_equal(c.remarks.count, 0);
    assert_int_equal(ulna_model_body_count(c.model), 3);
    assert_int_equal(c.clip.frame_count, 2);
    assert_int_equal(c.clip.first_frame, 1);
    assert_int_equal(c.clip.coordinate_count, 9);
    assert_true(c.clip.frame_seconds == .0083333);
    assert_true(c.source.unit_m == 0.01 && c.source.up == 'y' && c.source.degrees);
    assert_int_equal(joint_of(&c, "Hips")->type, ULNA_JOINT_FREE_EULER);
    assert_string_equal(joint_of(&c, "Hips")->order, "ZXY");
    assert_int_equal(joint_of(&c, "Arm")->type, ULNA_JOINT_EULER);
    assert_int_equal(joint_of(&c, "Arm_end")->type, ULNA_JOINT_FIXED);

    assert_place(&c, -1, "Arm_end", 0.1, 0.5, 0.2);
    assert_place(&c, 0, "Hips", 0, 1, 0);
    assert_place(&c, 0, "Arm_end", 0.1, 1.5, 0.2);
    assert_true(ulna_clip_frame(&c.clip, 1)[1] == 2 * 0.01 && ulna_clip_frame(&c.clip, 1)[3] == 90 * DEGREES);

    /* the second frame by hand: (0, 50, 20) by X is (0, -20, 50), by Z (20, 0, 50); with (10, 0, 0) and by Z (0, 30,
     * 50) */
    assert_place(&c, 1, "Hips", 0.01, 0.02, 0.03);
    assert_place(&c, 1, "Arm", 0.01, 0.12, 0.03);
    assert_place(&c, 1, "Arm_end", 0.01, 0.02 + 0.30, 0.03 + 0.50);
    ulna_content_release(&c);
}

/* The same skeleton and motion as `plain`, written as others would. */
static void test_dialects(void **state)
{
    (void)state;
    static const char *const texts[] = {
        /* braces on the line of the name, and everything on few lines */
        "HIERARCHY ROOT Hips {OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation "
        "JOINT Arm{OFFSET 10 0 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site {OFFSET 0 50 20}}} MOTION "
        "Frames: 2 Frame Time: .0083333 0 100 0 0 0 0 0 0 0\n1 2 3 90 0 0 90 90 0",
        /* letter case, blank lines, other blanks, exponents, a byte order mark, no line end at the end */
        "\xEF\xBB\xBF\n\n hierarchy\n root   Hips  \n { \n offset 0. +0 -0\n"
        "channels 6 XPOSITION yposition Zposition ZROTATION xrotation Yrotation\n\n"
        "joint\tArm\n{\nOffset\t1e1\t0\t.0\nChannels\t3\tZrotation\tXrotation\tYrotation\n"
        "end site\n{\noffset 0 5.0E+001 200e-1\n}\n}\n}\n"
        "motion\nframes :\t2\nframe time :8.3333e-3\n\n0 1e2 0 0 0 0 0 0 0\n\n1 2 3 90. 0 0 90 9E1 0",
        /* the channels before the offset, the end before them, and rows over several lines */
        "HIERARCHY\r\nROOT Hips\r\n{\r\nCHANNELS 6 Xposition Yposition Zposition\r\n Zrotation Xrotation Yrotation\r\n"
        "OFFSET 0\r\n0 0\r\nJOINT Arm\r\n{\r\nEnd Site\r\n{\r\nCHANNELS 0\r\nOFFSET 0 50 20\r\n}\r\n"
        "CHANNELS 3 Zrotation Xrotation Yrotation OFFSET 10 0 0\r\n}\r\n}\r\n"
        "MOTION\r\nFrames:2\r\nFrame Time:.0083333\r\n0 100 0\r\n0 0 0\r\n0 0 0\r\n1 2 3\r\n90 0 0\r\n90 90 0\r\n\r\n",
        /* a stream of values whose lines mean nothing, but whose count is right; ends of lines as old Macs have them */
        "HIERARCHY\rROOT Hips\r{\rOFFSET 0 0 0\r"
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\r"
        "JOINT Arm\r{\rOFFSET 10 0 0\rCHANNELS 3 Zrotation Xrotation Yrotation\r"
        "End Site\r{\rOFFSET 0 50 20\r}\r}\r}\rMOTION\rFrames: 2\rFrame Time: .0083333\r"
        "0 100 0 0\r0 0 0 0\r0 1 2 3\r90 0 0 90\r90 0\r",
    };
    ulna_content a = read_text(plain);
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        ulna_content b = read_text(texts[t]);
        ulna_text as[2] = {ulna_text_empty(NULL), ulna_text_empty(NULL)};
        ulna_sink sinks[2] = {ulna_text_sink(&as[0]), ulna_text_sink(&as[1])};
        assert_int_equal(ulna_model_write_json(a.model, &sinks[0], NULL), ULNA_OK);
        assert_int_equal(ulna_model_write_json(b.model, &sinks[1], NULL), ULNA_OK);
        assert_string_equal(as[0].data, as[1].data);
        int is_stream = t + 1 == sizeof texts / sizeof *texts;
        assert_int_equal(b.remarks.count, is_stream);
        assert_int_equal(has_remark(&b, 21, "in the middle of a line"), is_stream);
        assert_int_equal(b.clip.frame_count, 2);
        assert_true(b.clip.frame_seconds == a.clip.frame_seconds);
        assert_memory_equal(a.clip.q, b.clip.q, 18 * sizeof *a.clip.q);
        ulna_text_release(&as[0]);
        ulna_text_release(&as[1]);
        ulna_content_release(&b);
    }
    ulna_content_release(&a);
}

static void test_sniff(void **state)
{
    (void)state;
    assert_int_equal(ulna_format_sniff(plain, strlen(plain)), ULNA_FORMAT_BVH);
    assert_int_equal(ulna_format_sniff("\xEF\xBB\xBF\r\n\thierarchy\r\n", 16), ULNA_FORMAT_BVH);
    assert_int_equal(ulna_format_sniff("HIERARCHYS\n", 11), ULNA_FORMAT_UNKNOWN);
    assert_int_equal(ulna_format_sniff("\n\n", 2), ULNA_FORMAT_UNKNOWN);
    assert_int_equal(ulna_format_of_name("walk.BVH"), ULNA_FORMAT_BVH);
}

/* ---- joints ----------------------------------------------------------------------------------------------------- */

static ulna_content with_channels(const char *channels, const char *row)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 0\nJOINT j\n{\nOFFSET 100 200 300\nCHANNELS %s\n}\n}\nMOTION\n"
        "Frames: 1\nFrame Time: 1\n%s\n",
        channels, row);
    return read_text(text);
}

static void test_channels(void **state)
{
    (void)state;
    // clang-format off
    static const struct {
        const char *channels, *row;
        ulna_joint_type type;
        const char *order;
        double q[6];
    } cases[] = {
        {"1 Xrotation", "1", ULNA_JOINT_EULER, "X", {DEGREES}},
        {"2 Yrotation Zrotation", "1 2", ULNA_JOINT_EULER, "YZ", {DEGREES, 2 * DEGREES}},
        {"3 Yrotation Zrotation Yrotation", "1 2 3", ULNA_JOINT_EULER, "YZY", {DEGREES, 2 * DEGREES, 3 * DEGREES}},
        {"1 Yposition", "3", ULNA_JOINT_SEQUENCE, "Ty", {0.03}},
        {"2 Zposition Xposition", "1 2", ULNA_JOINT_SEQUENCE, "TxTz", {0.02, 0.01}},
        /* positions are along the parent's axes, wherever they stand */
        {"4 Zrotation Yposition Xrotation Xposition", "1 2 3 4", ULNA_JOINT_SEQUENCE, "TxTyRzRx", {0.04, 0.02, DEGREES, 3 * DEGREES}},
        {"6 Xrotation Yrotation Zrotation Zposition Yposition Xposition", "1 2 3 4 5 6", ULNA_JOINT_FREE_EULER, "XYZ", {0.06, 0.05, 0.04, DEGREES, 2 * DEGREES, 3 * DEGREES}},
        {"4 Zrotation Xrotation Zrotation Yrotation", "1 2 3 4", ULNA_JOINT_SEQUENCE, "RzRxRzRy", {DEGREES, 2 * DEGREES, 3 * DEGREES, 4 * DEGREES}},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ulna_content c = with_channels(cases[i].channels, cases[i].row);
        const ulna_joint *joint = joint_of(&c, "j");
        assert_int_equal(joint->type, cases[i].type);
        assert_string_equal(joint->order, cases[i].order);
        int nq = ulna_model_coordinate_count(c.model);
        assert_int_equal(nq, cases[i].channels[0] - '0');
        for (int k = 0; k < nq; k++)
            assert_true(ulna_clip_frame(&c.clip, 0)[k] == cases[i].q[k]);
        ulna_content_release(&c);
    }
}

/* Programs disagree whether positions replace the OFFSET: the values tell. */
static void test_positions(void **state)
{
    (void)state;
    static const char text[] = "HIERARCHY\nROOT Hips\n{\nOFFSET %s\n"
                               "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
                               "JOINT a\n{\nOFFSET 0 30 4\nCHANNELS 3 Xposition Yposition Zposition\n"
                               "JOINT b\n{\nOFFSET 5 6 0\nCHANNELS 2 Zrotation Yposition\n}\n}\n}\n"
                               "MOTION\nFrames: 2\nFrame Time: 0.01\n%s\n%s\n";
    char buffer[1024];

    /* all replace */
    snprintf(buffer, sizeof buffer, text, "0 103 0", "300 101 -200 0 0 0 0 31 4 0 6.5", "9 102 0 0 0 0 0 30 4 0 6");
    ulna_content c = read_text(buffer);
    assert_remark(&c, 2, "'Hips' are taken to replace its OFFSET");
    assert_remark(&c, 0, "2 joints below the root are taken to replace");
    assert_place(&c, -1, "Hips", 0, 1.03, 0);
    assert_place(&c, -1, "b", 0.05, 1.03 + 0.36, 0.04);
    assert_place(&c, 0, "Hips", 3, 1.01, -2);
    assert_place(&c, 0, "a", 3, 1.01 + 0.31, -1.96);
    assert_place(&c, 0, "b", 3.05, 1.01 + 0.375, -1.96);
    assert_true(ulna_clip_frame(&c.clip, 0)[1] == 101 * 0.01); /* the root's own are as in the file */
    ulna_content_release(&c);

    /* the root adds, and so do the others, by their majority */
    snprintf(buffer, sizeof buffer, text, "0 103 0", "300 -2 -200 0 0 0 0 1 0 0 0.5", "9 1 0 0 0 0 0 0 0 0 0");
    c = read_text(buffer);
    assert_remark(&c, 2, "'Hips' are taken to add to its OFFSET");
    assert_remark(&c, 0, "2 joints below the root are taken to add to");
    assert_place(&c, -1, "b", 0.05, 1.03 + 0.36, 0.04);
    assert_place(&c, 0, "Hips", 3, 1.01, -2);
    assert_place(&c, 0, "b", 3.05, 1.01 + 0.375, -1.96);
    ulna_content_release(&c);

    /* the first frame of a file that was cut out of a walk: the height decides, not where it stands */
    snprintf(buffer, sizeof buffer, text, "173 92 -518", "-310 91 -120 0 0 0 0 30 4 0 6",
             "-311 90 -119 0 0 0 0 30 4 0 6");
    c = read_text(buffer);
    assert_place(&c, 0, "Hips", -3.1, 0.91, -1.2);
    ulna_content_release(&c);

    /* no difference, no remark */
    snprintf(buffer, sizeof buffer, text, "0 0 0", "300 101 -200 0 0 0 0 30 4 0 6", "9 102 0 0 0 0 0 30 4 0 6");
    c = read_text(buffer);
    assert_int_equal(c.remarks.count, 1);
    ulna_content_release(&c);
}

static void test_names(void **state)
{
    (void)state;
    ulna_content c = read_text("HIERARCHY\nROOT  left upper  arm \n{\nOFFSET 0 50 0\nCHANNELS 0\n"
                               "JOINT\n{\nOFFSET 0 50 0\nCHANNELS 0\nEnd Site\n{\nOFFSET 0 1 0\n}\n"
                               "End Site {\nOFFSET 0 2 0\n}\nEnd Site\n{\nOFFSET 0 3 0\n}\n}\n"
                               "JOINT x\n{\nOFFSET 0 1 0\nCHANNELS 0\n}\nJOINT x {\nOFFSET 0 1 0\nCHANNELS 0\n}\n"
                               "JOINT x\n{\nOFFSET 0 1 0\nCHANNELS 0\nEnd Site tip of x\n{\nOFFSET 0 1 0\n}\n}\n"
                               "JOINT H\xFCpfe\n{\nOFFSET 0 1 0\nCHANNELS 0\n}\nJOINT a\x01z{OFFSET 0 1 0 CHANNELS 0}\n"
                               "}\n");
    static const char *const names[] = {
        "left upper  arm", "joint",        "joint_end", "joint_end2", "joint_end3", "x", "x_2", "x_3",
        "tip of x",        "H\xC3\xBCpfe", "a_z"};
    assert_int_equal(ulna_model_body_count(c.model), sizeof names / sizeof *names);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_string_equal(ulna_model_body_name(c.model, (int)i), names[i]);
    assert_remark(&c, 6, "a joint has no name: it is called 'joint'");
    assert_remark(&c, 27, "'x' is used twice: renamed to 'x_2'");
    assert_remark(&c, 31, "renamed to 'x_3'");
    ulna_content_release(&c);

    char long_text[1024], name[301];
    memset(name, 'n', 300);
    name[300] = 0;
    snprintf(long_text, sizeof long_text,
             "HIERARCHY\nROOT %s\n{\nOFFSET 0 0 0\nCHANNELS 0\nJOINT %s\n{\nOFFSET 0 99 0\n"
             "CHANNELS 0\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n}\n",
             name, name);
    c = read_text(long_text);
    assert_int_equal(strlen(ulna_model_body_name(c.model, 0)), 255);
    assert_remark(&c, 2, "too long and was cut");
    assert_remark(&c, 6, "is used twice");
    ulna_content_release(&c);
}

static void test_several_roots(void **state)
{
    (void)state;
    ulna_content c = read_text("HIERARCHY\n"
                               "ROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\n}\n"
                               "ROOT b\n{\nOFFSET 0 100 0\nCHANNELS 1 Yposition\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n"
                               "MOTION\nFrames: 1\nFrame Time: 0.1\n1 2 3 104\n");
    assert_int_equal(ulna_model_body_count(c.model), 4);
    assert_string_equal(ulna_model_body_name(c.model, 0), "world");
    assert_int_equal(ulna_model_body_parent(c.model, ulna_model_find_body(c.model, "b")), 0);
    assert_remark(&c, 0, "2 roots");
    assert_place(&c, 0, "a", 0.01, 0.02, 0.03);
    assert_place(&c, 0, "b_end", 0, 1.05, 0);
    ulna_content_release(&c);
}

/* ---- frames ----------------------------------------------------------------------------------------------------- */

static ulna_content with_motion(const char *motion)
{
    char text[1024];
    snprintf(text, sizeof text,
             "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
             "End Site\n{\nOFFSET 0 100 0\n}\n}\n%s",
             motion);
    return read_text(text);
}

static void test_frames(void **state)
{
    (void)state;
    static const struct {
        const char *motion;
        int frames;
        double seconds;
        int line;
        const char *remark;
    } cases[] = {
        {"MOTION\nFrames: 1\nFrame Time: 0.5\n1 2 3\n4 5 6\n", 2, 0.5, 0, "states 1 frames but has 2"},
        {"MOTION\nFrames: 3\nFrame Time: 0.5\n1 2 3\n4 5 6\n", 2, 0.5, 0, "states 3 frames but has 2"},
        {"MOTION\nFrames: 2\nFrame Time: 0.5\n1 2 3\n4 5", 1, 0.5, 15, "the last frame, 2, has 2 of 3 values"},
        {"MOTION\nFrames: 2\nFrame Time: 0.5\n1 2 3\n4 5", 1, 0.5, 0, "states 2 frames but has 1"},
        {"MOTION\nFrames: 1\nFrame Time: 0.5\n1 2\n", 0, 0.5, 14, "the last frame, 1, has 2 of 3 values"},
        {"MOTION\nFrames: 1e30\nFrame Time: 0.5\n1 2 3\n", 1, 0.5, 0, "states 1000000000000000019884624838656"},
        {"MOTION\nFrame Time: 0.5\n1 2 3\n", 1, 0.5, 13, "the number of frames is missing"},
        {"MOTION\nFrames: 1\n1 2 3\n", 1, 0, 13, "the Frame Time is missing"},
        {"MOTION\nFrames: 1\nFrame Time: 0\n1 2 3\n", 1, 0, 13, "not above 0"},
        {"MOTION\nFrames: 1\nFrame Time: -1\n1 2 3\n", 1, 0, 13, "not above 0"},
        {"", 0, 0, 10, "the file has no MOTION"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ulna_content c = with_motion(cases[i].motion);
        assert_int_equal(c.clip.frame_count, cases[i].frames);
        assert_true(c.clip.frame_seconds == cases[i].seconds);
        assert_remark(&c, cases[i].line, cases[i].remark);
        if (c.clip.frame_count)
            assert_true(ulna_clip_frame(&c.clip, 0)[2] == 3 * DEGREES);
        ulna_content_release(&c);
    }
    ulna_content c = with_motion("MOTION\nFrames: 0\nFrame Time: 0.25\n");
    assert_int_equal(c.clip.frame_count, 0);
    assert_int_equal(c.remarks.count, 0);
    ulna_content_release(&c);

    c = read_text("HIERARCHY\nROOT r\n{\nEnd Site\n{\nOFFSET 0 100 0\n}\n}\nMOTION\nFrames: 5\nFrame Time: 1\n");
    assert_int_equal(c.clip.frame_count, 0);
    assert_remark(&c, 2, "'r' has no OFFSET");
    assert_remark(&c, 2, "'r' has no CHANNELS");
    ulna_content_release(&c);
}

static void test_units(void **state)
{
    (void)state;
    ulna_error error;
    ulna_read_options options = ulna_read_options_default();
    ulna_content c = ulna_content_empty(NULL);
    options.unit_m = 0.0254;
    assert_int_equal(ulna_content_read(plain, strlen(plain), ULNA_FORMAT_UNKNOWN, &options, &c, &error), ULNA_OK);
    assert_place(&c, 0, "Hips", 0, 2.54, 0);
    assert_place(&c, -1, "Arm_end", 0.254, 1.27, 0.508);
    assert_true(c.source.unit_m == 0.0254);
    assert_int_equal(c.remarks.count, 0);
    ulna_content_release(&c);

    static const struct {
        const char *height, *remark;
    } cases[] = {
        {"1.7", "with a unit of 1 m it would be 1.7 m"},
        {"17", "with a unit of 1 dm it would be 1.7 m"},
        {"26.5", "with a unit of 1/0.45 inch (0.0564444 m) it would be 1.5 m"},
        {"1700", "with a unit of 1 mm it would be 1.7 m"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "HIERARCHY\nROOT r\n{\nOFFSET 0 9000 0\nCHANNELS 0\nEnd Site\n{\nOFFSET 0 %s 0\n}\n}\n",
                 cases[i].height);
        c = read_text(text);
        assert_remark(&c, 0, cases[i].remark);
        ulna_content_release(&c);
    }
}

/* ---- errors ----------------------------------------------------------------------------------------------------- */

#define HEAD "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } cases[] = {
        {"hello", 1, 1, "unexpected 'hello': HIERARCHY was expected"},
        {"\n\n", 2, 1, "no ROOT"},
        {"HIERARCHY\n", 1, 10, "no ROOT"},
        {"HIERARCHY\nJOINT a\n", 2, 1, "unexpected 'JOINT': ROOT was expected"},
        {"HIERARCHY\nHIERARCHY\n", 2, 1, ": ROOT was expected"},
        {"HIERARCHY\nMOTION\n", 2, 1, "unexpected 'MOTION': ROOT was expected"},
        {"HIERARCHY\nROOT r\nOFFSET 0 0 0\n", 3, 1, "'{' is missing after 'r'"},
        {"HIERARCHY\nROOT r", 2, 7, "'{' is missing after 'r'"},
        {"HIERARCHY\nROOT r\n{\n  OFFSET 0 1\n}\n", 5, 1, "three finite numbers"},
        {"HIERARCHY\nROOT r\n{\n  OFFSET 0 nan 0\n}\n", 4, 12, "three finite numbers"},
        {"HIERARCHY\nROOT r\n{\n  OFFSET 0 1e999 0\n}\n", 4, 12, "three finite numbers"},
        {"HIERARCHY\nROOT r\n{\n  OFFSET 0 0,5 0\n}\n", 4, 12, "three finite numbers"},
        {HEAD "OFFSET 0 0 0\n", 6, 1, "two OFFSETs"},
        {HEAD "CHANNELS 0\n", 6, 1, "two lists of CHANNELS"},
        {"HIERARCHY\nROOT r\n{\n  CHANNELS 7 Xposition\n", 4, 12, "0 to 6"},
        {"HIERARCHY\nROOT r\n{\n  CHANNELS -1\n", 4, 12, "0 to 6"},
        {"HIERARCHY\nROOT r\n{\n  CHANNELS 1.5\n", 4, 12, "0 to 6"},
        {"HIERARCHY\nROOT r\n{\n  CHANNELS Xposition\n", 4, 12, "0 to 6"},
        {"HIERARCHY\nROOT r\n{\n  CHANNELS 2 Xposition\n}\n", 5, 1, "'}' is not a channel"},
        {"HIERARCHY\nROOT r\n{\n  CHANNELS 1 Wrotation\n", 4, 14, "'Wrotation' is not a channel"},
        {"HIERARCHY\nROOT r\n{\n  CHANNELS 1 Xrotation Yrotation\n", 4, 24,
         "'Yrotation' is not allowed inside a joint"},
        {"HIERARCHY\nROOT r\n{\n  CHANNELS 2 Xrotation Xrotation\n", 4, 24, "listed twice"},
        {"HIERARCHY\nROOT r\n{\n  CHANNELS 3 Xrotation Xposition Xrotation\n", 4, 34, "listed twice"},
        {"HIERARCHY\nROOT r\n{\n  CHANNELS 3 Xposition Xrotation Xposition\n", 4, 34, "listed twice"},
        {HEAD "ROOT s\n", 6, 1, "'ROOT' is not allowed inside a joint, which begins on line 2"},
        {HEAD "End Sites\n", 6, 5, "'End' must be followed by 'Site'"},
        {HEAD "End Site\n{\nJOINT x\n", 8, 1, "'JOINT' is not allowed inside an End Site, which begins on line 6"},
        {HEAD "End Site\n{\nCHANNELS 1 Xrotation\n", 8, 10, "no channels"},
        {HEAD "MOTION\nFrames: 0\n", 6, 1, "'MOTION' is not allowed inside a joint"},
        {HEAD "JOINT x\n{\nOFFSET 0 0 0\n", 8, 13, "the file ends inside 'x', which begins on line 6"},
        {HEAD "}\n}\n", 7, 1, "unexpected '}': MOTION or another ROOT was expected"},
        {HEAD "}\nMOTION\nFrames: many\n", 8, 9, "Frames needs a number"},
        {HEAD "}\nMOTION\nFrame Rate: 1\n", 8, 7, "'Frame' must be followed by 'Time'"},
        {HEAD "}\nMOTION\nFrame Time: inf\n", 8, 13, "Frame Time needs a number of seconds"},
        {HEAD "}\nMOTION\nFrames: 1\nFrame Time: 1\n1 NaN 3\n", 10, 3, "'NaN' is not a finite number"},
        {HEAD "}\nMOTION\nFrames: 1\nFrame Time: 1\n1 -1.#IND00 3\n", 10, 3, "'-1.#IND00' is not a finite number"},
        {HEAD "}\nMOTION\nFrames: 1\nFrame Time: 1\n1 2 3\nend\n", 11, 1, "'end' is not a finite number"},
        /* a row that is too short or too long is no stream */
        {HEAD "}\nMOTION\nFrames: 3\nFrame Time: 1\n1 2 3\n4 5\n7 8 9\n1 2 3\n", 11, 1, "in the middle of line 12"},
        {HEAD "}\nMOTION\nFrames: 3\nFrame Time: 1\n1 2 3 4\n4 5 6\n7 8 9\n", 10, 7, "in the middle of line 11"},
        {"HIERARCHY\nROOT r\n{\n}\nMOTION\nFrames: 1\nFrame Time: 1\n7\n", 8, 1, "the skeleton has no channels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ulna_error error;
        ulna_content c = ulna_content_empty(NULL);
        ulna_status status = ulna_content_read(cases[i].text, strlen(cases[i].text), ULNA_FORMAT_BVH, NULL, &c, &error);
        if (status != ULNA_ERR_PARSE || error.line != cases[i].line || error.column != cases[i].column ||
            !strstr(error.message, cases[i].message))
            fail_msg("%s\n%d:%d: %s\nis not\n%d:%d: %s", cases[i].text, error.line, error.column, error.message,
                     cases[i].line, cases[i].column, cases[i].message);
        assert_null(c.model);
        assert_int_equal(c.clip.frame_count, 0);
        ulna_content_release(&c);
    }

    /* too far away for the unit */
    static const char far[] =
        "HIERARCHY\nROOT r\n{\nCHANNELS 1 Xposition\n}\nMOTION\nFrames: 1\nFrame Time: 1\n1e300\n";
    static const char off[] = "HIERARCHY\nROOT r\n{\nOFFSET 0 1e300 0\n}\n";
    ulna_read_options options = ulna_read_options_default();
    ulna_content c = ulna_content_empty(NULL);
    ulna_error error;
    options.unit_m = 1e9;
    assert_int_equal(ulna_content_read(far, strlen(far), ULNA_FORMAT_BVH, &options, &c, &error), ULNA_ERR_NUMBER);
    assert_non_null(strstr(error.message, "frame 1"));
    assert_int_equal(ulna_content_read(off, strlen(off), ULNA_FORMAT_BVH, &options, &c, &error), ULNA_ERR_NUMBER);
    assert_int_equal(error.line, 2);
    ulna_content_release(&c);
}

/* Every part of a file is a file that is read or refused, never worse. */
static void test_cut_anywhere(void **state)
{
    (void)state;
    for (size_t length = 1; length < strlen(plain); length++) {
        ulna_error error;
        ulna_content c = ulna_content_empty(NULL);
        char *part = malloc(length); /* so that sanitizers see its end */
        memcpy(part, plain, length);
        ulna_status status = ulna_content_read(part, length, ULNA_FORMAT_BVH, NULL, &c, &error);
        assert_true(status == ULNA_OK ? c.model != NULL : error.line > 0 && c.model == NULL);
        ulna_content_release(&c);
        free(part);
    }
}

/* Deep, wide, and a crowd of the same name: in time and memory that grow with the file. */
static void test_hostile(void **state)
{
    (void)state;
    enum { DEEP = 50000 };
    static const char *const opens[] = {"JOINT a{OFFSET 0 1 0 CHANNELS 1 Xrotation ", "JOINT a{} ", "End Site{}"};
    for (int shape = 0; shape < 3; shape++) {
        ulna_text text = ulna_text_empty(NULL);
        ulna_error error;
        ulna_content c = ulna_content_empty(NULL);
        ulna_text_append(&text, "HIERARCHY ROOT a {", 18);
        for (int i = 0; i < DEEP; i++)
            ulna_text_append(&text, opens[shape], strlen(opens[shape]));
        for (int i = 0; i < DEEP && shape == 0; i++)
            ulna_text_append(&text, "}", 1);
        ulna_text_append(&text, "}", 1);
        if (ulna_content_read(text.data, text.length, ULNA_FORMAT_BVH, NULL, &c, &error) != ULNA_OK)
            fail_msg("%s", error.message);
        assert_int_equal(ulna_model_body_count(c.model), DEEP + 1);
        assert_int_equal(ulna_model_find_body(c.model, shape == 2 ? "a_end50000" : "a_50001"), DEEP);
        ulna_content_release(&c);
        ulna_text_release(&text);
    }
}

static void test_allocation_failures(void **state)
{
    (void)state;
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_content c = ulna_content_empty(&allocator);
        ulna_error error;
        ulna_status status = ulna_content_read(plain, strlen(plain), ULNA_FORMAT_BVH, NULL, &c, &error);
        ulna_content_release(&c);
        ulna_test_memory_check(&memory);
        if (!memory.failed)
            break;
        assert_int_equal(status, ULNA_ERR_MEMORY);
        assert_int_equal(error.status, ULNA_ERR_MEMORY);
    }
}

/* ---- recorded files --------------------------------------------------------------------------------------------- */

static void test_files(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *name;
        int bodies, coordinates, frames;
        double seconds;
    } files[] = {
        {"bvh", "animdraw_cmu1_jumping_jacks.bvh", 38, 96, 125, .03333},
        {"bvh", "assimp_Boxing_Toes_extra_frame.bvh", 26, 66, 3070, 0.01},
        {"bvh", "bvh_anim_simple.bvh", 3, 9, 2, 0.033333333},
        {"bvh", "bvhtoolbox_walk01.bvh", 24, 60, 101, 0.0416667},
        {"bvh", "fairmotion_sinusoidal_no_endsite.bvh", 4, 15, 120, 0.016666666666666666},
        {"bvh", "makehuman_benchmark_6ch.bvh", 212, 891, 1, 0.041667},
        {"bvh", "makehuman_face_poseunits.bvh", 212, 492, 60, 0.041667},
        {"bvh", "makehuman_walk1.bvh", 91, 228, 14, 0.041667},
        {"bvh", "momentum_simple.bvh", 6, 15, 3, 0.033333},
        {"bvh", "pybvh_YXZ_23j.bvh", 28, 72, 61, 0.008333},
        {"bvh", "pybvh_full_precision_frame_time.bvh", 3, 9, 3, 0.0417083750417},
        {"bvh", "pybvh_mixed_orders_24j.bvh", 29, 75, 75, 0.033333},
        {"bvh", "pybvh_standard_skeleton.bvh", 29, 75, 1, 0.008333},
        {"bvh", "pymo_AV_8Walk_Meredith.bvh", 30, 72, 1064, 0.008333},
        {"bvh", "secondlife_per_joint_orders.bvh", 24, 60, 19, 0.03333333},
        {"bvh", "threejs_pirouette.bvh", 57, 132, 592, 0.00833333},
        {"cmu", "02_01_cgspeed_mb.bvh", 38, 96, 344, .0083333},
        {"cmu", "02_03_cgspeed_mb.bvh", 38, 96, 174, .0083333},
        {"cmu", "02_05_cgspeed_mb.bvh", 38, 96, 1855, .0083333},
        {"cmu", "03_02_cgspeed_mb.bvh", 38, 96, 366, .0083333},
        {"cmu", "11_01_cgspeed_mb.bvh", 38, 96, 598, .0083333},
        {"cmu", "16_15_cgspeed_mb.bvh", 38, 96, 472, .0083333},
        {"cmu", "16_35_cgspeed_mb.bvh", 38, 96, 163, .0083333},
        {"cmu", "35_01_cgspeed_mb.bvh", 38, 96, 359, .0083333},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ulna_content c = load(files[i].folder, files[i].name, 0);
        assert_int_equal(ulna_model_body_count(c.model), files[i].bodies);
        assert_int_equal(ulna_model_coordinate_count(c.model), files[i].coordinates);
        assert_int_equal(c.clip.coordinate_count, files[i].coordinates);
        assert_int_equal(c.clip.frame_count, files[i].frames);
        assert_true(c.clip.frame_seconds == files[i].seconds);
        int is_miscounted = strstr(files[i].name, "extra_frame") != NULL;
        assert_int_equal(has_remark(&c, 0, "the file states 3069 frames but has 3070"), is_miscounted);
        ulna_content_release(&c);
    }
}

static void test_file_orders(void **state)
{
    (void)state;
    // clang-format off
    static const struct {
        const char *file, *body, *order;
    } cases[] = {
        {"pybvh_mixed_orders_24j.bvh", "Hips", "XZY"},
        {"pybvh_YXZ_23j.bvh", "Chest", "YXZ"},
        {"secondlife_per_joint_orders.bvh", "hip", "XZY"},
        {"secondlife_per_joint_orders.bvh", "head", "XZY"},
        {"secondlife_per_joint_orders.bvh", "lCollar", "YZX"},
        {"threejs_pirouette.bvh", "hip", "ZYX"},
        {"threejs_pirouette.bvh", "abdomen", "ZXY"},
        {"makehuman_benchmark_6ch.bvh", "foot.R", "XYZ"},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ulna_content c = load("bvh", cases[i].file, 0);
        const ulna_joint *joint = joint_of(&c, cases[i].body);
        assert_non_null(joint);
        assert_string_equal(joint->order, cases[i].order);
        ulna_content_release(&c);
    }
}

/* Roots whose positions replace the OFFSET, and others whose positions add to it: each stands where it should. */
static void test_file_positions(void **state)
{
    (void)state;
    ulna_content c = load("bvh", "bvhtoolbox_walk01.bvh", 0);
    assert_place(&c, -1, "Hips", 0, 103.511 * 0.01, 0);
    assert_place(&c, 1, "Hips", 0.318938 * 0.01, 103.465 * 0.01, 1.29419 * 0.01);
    ulna_content_release(&c);
    c = load("bvh", "pymo_AV_8Walk_Meredith.bvh", 0);
    assert_place(&c, 0, "Hips", -6.5115 * 0.01, 35.5548 * 0.01, -163.0160 * 0.01);
    ulna_content_release(&c);
    c = load("bvh", "makehuman_walk1.bvh", 0.1);
    assert_place(&c, 0, "Root", 0, 0.123529, 0.955688);
    ulna_content_release(&c);

    c = load("bvh", "makehuman_benchmark_6ch.bvh", 0.1);
    double foot[3], toe[3], r[9];
    assert_place(&c, 0, "root", -0.0057191, 0.0610814 - 0.064128, 0.6314334 - 0.63174);
    body_at(&c, 0, "foot.R", foot, r);
    body_at(&c, 0, "toe1-1.R", toe, r);
    double length = sqrt(0.25552 * 0.25552 + 1.33897 * 1.33897 + 0.551079 * 0.551079) / 10, moved = 0;
    for (int i = 0; i < 3; i++)
        moved += (toe[i] - foot[i]) * (toe[i] - foot[i]);
    assert_true(fabs(sqrt(moved) - length) < 1e-4); /* bones keep their lengths but for its small positions */
    ulna_content_release(&c);
}

/* ---- the same motion as ASF + AMC ------------------------------------------------------------------------------- */

/* The BVH was made from the AMC, with four decimals and one more frame before. The converter lost the bones that have
 * several children (thorax and wrists), so what hangs there is compared from their first joints on. */
static void compare_with_amc(const char *asf, const char *amc, const char *bvh)
{
    static const struct {
        const char *bone, *joint, *from_bone, *from_joint;
    } pairs[] = {
        {"root", "Hips", NULL, NULL},
        {"lfemur", "LeftUpLeg", NULL, NULL},
        {"ltibia", "LeftLeg", NULL, NULL},
        {"lfoot", "LeftFoot", NULL, NULL},
        {"ltoes_end", "LeftToeBase_end", NULL, NULL},
        {"rtibia", "RightLeg", NULL, NULL},
        {"rfoot", "RightFoot", NULL, NULL},
        {"rtoes", "RightToeBase", NULL, NULL},
        {"upperback", "Spine", NULL, NULL},
        {"thorax", "Spine1", NULL, NULL},
        {"upperneck", "Neck1", "lowerneck", "Neck"},
        {"head", "Head", "lowerneck", "Neck"},
        {"head_end", "Head_end", "lowerneck", "Neck"},
        {"lhumerus", "LeftArm", "lclavicle", "LeftShoulder"},
        {"lradius", "LeftForeArm", "lclavicle", "LeftShoulder"},
        {"lwrist", "LeftHand", "lclavicle", "LeftShoulder"},
        {"lfingers_end", "LeftHandIndex1_end", "lhand", "LeftFingerBase"},
        {"lthumb_end", "LThumb_end", "lthumb", "LThumb"},
        {"rhumerus", "RightArm", "rclavicle", "RightShoulder"},
        {"rwrist", "RightHand", "rclavicle", "RightShoulder"},
        {"rthumb_end", "RThumb_end", "rthumb", "RThumb"},
    };
    char path[512], name[128];
    ulna_error error;
    ulna_content a = load("cmu", asf, 0), b = load("cmu", bvh, 0.0254 / 0.45), m = ulna_content_empty(NULL);
    ulna_read_options options = ulna_read_options_default();
    options.model = a.model;
    options.channels = a.channels;
    options.channel_count = a.channel_count;
    snprintf(name, sizeof name, "cmu/%s", amc);
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), name);
    assert_int_equal(ulna_content_load(path, &options, &m, &error), ULNA_OK);
    assert_int_equal(b.clip.frame_count, m.clip.frame_count + 1);

    ulna_pose *poses[2];
    const ulna_model *models[2] = {a.model, b.model};
    for (int i = 0; i < 2; i++)
        assert_int_equal(ulna_pose_create(models[i], NULL, &poses[i], NULL), ULNA_OK);
    double worst = 0;
    for (int f = 0; f < m.clip.frame_count; f++) {
        assert_int_equal(ulna_pose_forward(poses[0], ulna_clip_frame(&m.clip, f)), ULNA_OK);
        assert_int_equal(ulna_pose_forward(poses[1], ulna_clip_frame(&b.clip, f + 1)), ULNA_OK);
        for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
            double at[2][3], from[2][3] = {{0}}, r[9];
            for (int i = 0; i < 2; i++) {
                const char *start = i ? pairs[p].from_joint : pairs[p].from_bone;
                int body = ulna_model_find_body(models[i], i ? pairs[p].joint : pairs[p].bone);
                assert_int_equal(ulna_pose_body(poses[i], body, at[i], r), ULNA_OK);
                if (start)
                    assert_int_equal(ulna_pose_body(poses[i], ulna_model_find_body(models[i], start), from[i], r),
                                     ULNA_OK);
            }
            for (int k = 0; k < 3; k++)
                worst = fmax(worst, fabs(at[0][k] - from[0][k] - at[1][k] + from[1][k]));
        }
    }
    print_message("%s: BVH and AMC differ by %.2g m at most\n", bvh, worst);
    assert_true(worst < 1e-5);
    for (int i = 0; i < 2; i++)
        ulna_pose_destroy(poses[i]);
    ulna_content_release(&a);
    ulna_content_release(&b);
    ulna_content_release(&m);
}

static void test_same_as_amc(void **state)
{
    (void)state;
    compare_with_amc("02.asf", "02_01.amc", "02_01_cgspeed_mb.bvh");
    compare_with_amc("02.asf", "02_03.amc", "02_03_cgspeed_mb.bvh");
    compare_with_amc("02.asf", "02_05.amc", "02_05_cgspeed_mb.bvh");
    compare_with_amc("03.asf", "03_02.amc", "03_02_cgspeed_mb.bvh");
    compare_with_amc("11.asf", "11_01.amc", "11_01_cgspeed_mb.bvh");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_dialects),
        cmocka_unit_test(test_sniff),
        cmocka_unit_test(test_channels),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_several_roots),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_allocation_failures),
        ulna_test_needs("bvh cmu", cmocka_unit_test(test_files)),
        ulna_test_needs("bvh", cmocka_unit_test(test_file_orders)),
        ulna_test_needs("bvh", cmocka_unit_test(test_file_positions)),
        ulna_test_needs("cmu", cmocka_unit_test(test_same_as_amc)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
