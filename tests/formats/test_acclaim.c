/* ASF and AMC: what files mean. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/math3.h"
#include "support_acclaim.h"

/* The frame of a body at q. */
static ulna_test_frame frame_of(const ulna_model *model, const double *q, const char *name)
{
    int body = ulna_model_find_body(model, name);
    assert_true(body >= 0);
    ulna_test_frame *all = ulna_test_frames(model, q), result = all[body];
    free(all);
    return result;
}

static ulna_test_frame turn(int axis, double degrees)
{
    ulna_test_frame f = {.t = {0, 0, 0}};
    ulna_rotation_about(axis, degrees * DEGREE, f.r);
    return f;
}

static ulna_test_frame shift(double x, double y, double z)
{
    ulna_test_frame f = {.t = {x, y, z}};
    ulna_identity9(f.r);
    return f;
}

static ulna_test_frame inverse(ulna_test_frame a)
{
    ulna_test_frame f;
    ulna_invert(a.r, a.t, f.r, f.t);
    return f;
}

/* a b c ...: the last one is applied first */
static ulna_test_frame product(const ulna_test_frame *frames, int count)
{
    ulna_test_frame result = shift(0, 0, 0);
    for (int i = 0; i < count; i++)
        result = ulna_test_multiply(&result, &frames[i]);
    return result;
}
#define PRODUCT(...)                                                                                                   \
    product((ulna_test_frame[]){__VA_ARGS__}, (int)(sizeof(ulna_test_frame[]){__VA_ARGS__} / sizeof(ulna_test_frame)))

static void assert_frame(const ulna_model *model, const double *q, const char *name, ulna_test_frame expected)
{
    ulna_test_frame frame = frame_of(model, q, name);
    double apart = ulna_test_frame_difference(&frame, &expected);
    if (!(apart < 1e-12))
        fail_msg("%s is off by %g", name, apart);
}

/* ---- files by other people ---- */

typedef struct take {
    const char *skeleton, *motion;
    int frames;
} take;

static const take takes[] = {
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.amc", 3498},
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.amc", 3866},
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.amc", 202},
    {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_kickLFront1Reps_013_120.amc", 359},
    {"hdm05/HDM_bd.asf", "hdm05/HDM_bd_kickLFront1Reps_001_120.amc", 161},
    {"hdm05/HDM_bk.asf", "hdm05/HDM_bk_kickLFront1Reps_007_120.amc", 293},
    {"cmu/02.asf", "cmu/02_01.amc", 343},
    {"cmu/02.asf", "cmu/02_03.amc", 173},
    {"cmu/02.asf", "cmu/02_05.amc", 1854},
    {"cmu/03.asf", "cmu/03_02.amc", 365},
    {"cmu/11.asf", "cmu/11_01.amc", 597},
};

static ulna_content load(const char *name, const ulna_read_options *options)
{
    char path[512];
    ulna_content content = ulna_content_empty(NULL);
    ulna_error error;
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), name);
    if (ulna_content_load(path, options, &content, &error) != ULNA_OK)
        fail_msg("%s:%d: %s", error.path, error.line, error.message);
    assert_int_equal(content.remarks.count, 0);
    return content;
}

static void recorded_files_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        ulna_content skeleton = load(takes[i].skeleton, NULL);
        assert_int_equal(skeleton.format, ULNA_FORMAT_ASF);
        assert_int_equal(ulna_model_body_count(skeleton.model), 1 + 30 + 7); /* root, bones, free ends */
        assert_int_equal(ulna_model_dof_count(skeleton.model), 62);
        assert_int_equal(ulna_model_coordinate_count(skeleton.model), 62);
        assert_int_equal(skeleton.channel_count, 62);
        assert_string_equal(ulna_model_name(skeleton.model), "VICON");
        assert_true(fabs(skeleton.source.unit_m - 0.0254 / 0.45) < 1e-17 && skeleton.source.degrees == 1);
        assert_string_equal(skeleton.source.text, "version 1.10");
        assert_int_equal(ulna_model_body_joint(skeleton.model, 0)->type, ULNA_JOINT_FREE_EULER);
        int thigh = ulna_model_find_body(skeleton.model, "lfemur"), dof;
        assert_int_equal(ulna_model_body_dofs(skeleton.model, thigh, &dof), 3);
        assert_true(fabs(ulna_model_upper(skeleton.model)[dof + 2] - 20 * DEGREE) < 1e-15); /* rx, the last of ZYX */
        assert_true(fabs(ulna_model_lower(skeleton.model)[dof] + 60 * DEGREE) < 1e-15);     /* rz */

        ulna_read_options options = ulna_read_options_for(&skeleton);
        ulna_content motion = load(takes[i].motion, &options);
        assert_int_equal(motion.format, ULNA_FORMAT_AMC);
        assert_int_equal(motion.clip.frame_count, takes[i].frames);
        assert_int_equal(motion.clip.first_frame, 1);
        assert_int_equal(motion.clip.coordinate_count, 62);
        assert_true(motion.model == NULL && motion.source.degrees == 1);
        ulna_content_release(&motion);
        ulna_content_release(&skeleton);
    }
}

/* The positions that the format's makers compute: for each bone C, its parent's end, the turns Rz Ry Rx of the line. A second
 * reader, as plain as can be, that shares nothing with the first. */
typedef struct plain_bone {
    char name[32], dof[3];
    int parent, dofs;
    double direction[3], length, axis[3];
    ulna_test_frame turned; /* in the world; the origin is the bone's end */
} plain_bone;

static int find_plain(const plain_bone *bones, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(bones[i].name, name) == 0)
            return i;
    return -1;
}

static int read_plain(char *text, plain_bone *bones)
{
    int count = 1, in_hierarchy = 0;
    strcpy(bones[0].name, "root");
    for (char *line = strtok(text, "\r\n"); line; line = strtok(NULL, "\r\n")) {
        char word[64] = "", a[8] = "", b[8] = "", c[8] = "";
        plain_bone *bone = &bones[count - 1];
        sscanf(line, "%63s", word);
        if (strcmp(word, ":hierarchy") == 0)
            in_hierarchy = 1;
        else if (in_hierarchy && find_plain(bones, count, word) >= 0) {
            int parent = find_plain(bones, count, word), used = 0, skipped;
            sscanf(line, "%*s%n", &used);
            for (; sscanf(line + used, "%63s%n", word, &skipped) == 1; used += skipped)
                bones[find_plain(bones, count, word)].parent = parent;
        } else if (strcmp(word, "id") == 0)
            count++;
        else if (strcmp(word, "name") == 0)
            sscanf(line, " name %31s", bone->name);
        else if (strcmp(word, "direction") == 0)
            sscanf(line, " direction %lf %lf %lf", &bone->direction[0], &bone->direction[1], &bone->direction[2]);
        else if (strcmp(word, "length") == 0 && count > 1)
            sscanf(line, " length %lf", &bone->length);
        else if (strcmp(word, "axis") == 0 && count > 1)
            sscanf(line, " axis %lf %lf %lf", &bone->axis[0], &bone->axis[1], &bone->axis[2]);
        else if (strcmp(word, "dof") == 0) {
            bone->dofs = sscanf(line, " dof %7s %7s %7s", a, b, c);
            bone->dof[0] = a[1], bone->dof[1] = b[1], bone->dof[2] = c[1];
        }
    }
    return count;
}

/* Reads one frame and returns the text behind it. */
static char *place_plain(char *text, plain_bone *bones, int count)
{
    int used, number;
    char word[64];
    double v[32][6] = {{0}};
    assert_int_equal(sscanf(text, "%d%n", &number, &used), 1);
    text += used;
    while (sscanf(text, "%63s%n", word, &used) == 1 && (word[0] < '0' || word[0] > '9')) {
        int b = find_plain(bones, count, word), n = b == 0 ? 6 : bones[b].dofs;
        text += used;
        for (int k = 0; k < n; k++, text += used)
            assert_int_equal(sscanf(text, "%lf%n", &v[b][k], &used), 1);
    }
    bones[0].turned = PRODUCT(shift(v[0][0] * UNIT, v[0][1] * UNIT, v[0][2] * UNIT), turn(2, v[0][5]), turn(1, v[0][4]),
                              turn(0, v[0][3]));
    for (int b = 1; b < count; b++) {
        plain_bone *bone = &bones[b];
        ulna_test_frame c = PRODUCT(turn(2, bone->axis[2]), turn(1, bone->axis[1]), turn(0, bone->axis[0]));
        ulna_test_frame m = shift(0, 0, 0);
        for (int k = 0; k < bone->dofs; k++) {
            ulna_test_frame r = turn(bone->dof[k] - 'x', v[b][k]);
            m = ulna_test_multiply(&r, &m);
        }
        double size = ulna_norm(bone->direction), l = bone->length * UNIT / size;
        const double *d = bone->direction;
        bone->turned = PRODUCT(bones[bone->parent].turned, c, m, inverse(c), shift(l * d[0], l * d[1], l * d[2]));
    }
    return text;
}

static void poses_are_those_of_a_plain_reader(void **state)
{
    (void)state;
    for (int i = 2; i < 7; i += 4) {
        char path[512];
        ulna_content skeleton = load(takes[i].skeleton, NULL);
        ulna_read_options options = ulna_read_options_for(&skeleton);
        ulna_content motion = load(takes[i].motion, &options);
        plain_bone bones[32];
        memset(bones, 0, sizeof bones);
        size_t size;
        ulna_test_path(path, sizeof path, ulna_test_data_dir(), takes[i].skeleton);
        char *asf = ulna_test_read_file(path, &size);
        int count = read_plain(asf, bones);
        assert_int_equal(count, 31);
        ulna_test_path(path, sizeof path, ulna_test_data_dir(), takes[i].motion);
        char *amc = ulna_test_read_file(path, &size), *at = strstr(amc, ":DEGREES") + 8;
        for (int f = 0; f < takes[i].frames; f++) {
            at = place_plain(at, bones, count);
            ulna_test_frame *frames = ulna_test_frames(skeleton.model, ulna_clip_frame(&motion.clip, f));
            for (int b = 0; b < count; b++) {
                int body = ulna_model_find_body(skeleton.model, bones[b].name), end = ULNA_NONE;
                for (int c = 0; c < ulna_model_body_count(skeleton.model) && end == ULNA_NONE; c++)
                    end = ulna_model_body_parent(skeleton.model, c) == body && b > 0 ? c : end;
                /* the bone's axes, and its end, which is where its children or its free end are */
                for (int k = 0; k < 9; k++)
                    assert_true(fabs(frames[body].r[k] - bones[b].turned.r[k]) < 1e-12);
                for (int k = 0; k < 3; k++)
                    assert_true(fabs(frames[end == ULNA_NONE ? body : end].t[k] - bones[b].turned.t[k]) < 1e-12);
            }
            free(frames);
        }
        free(asf);
        free(amc);
        ulna_content_release(&motion);
        ulna_content_release(&skeleton);
    }
}

/* ---- what a file means ---- */

static void lengths_and_directions(void **state)
{
    (void)state;
    ulna_content c = read_text(ARM_FILE(""), ULNA_FORMAT_ASF, NULL);
    assert_true(c.source.unit_m == 1); /* 0.0254 units an inch */
    assert_int_equal(c.remarks.count, 0);
    assert_int_equal(ulna_model_body_count(c.model), 3);
    double q[6] = {0};
    assert_frame(c.model, q, "arm", shift(0, 0, 0));
    assert_frame(c.model, q, "arm_end", shift(0, 1.2, 1.6));
    assert_int_equal(ulna_model_body_joint(c.model, ulna_model_find_body(c.model, "arm"))->type, ULNA_JOINT_FIXED);
    ulna_content_release(&c);

    ulna_read_options options = ulna_read_options_default();
    options.unit_m = 0.5;
    c = read_text(ARM_FILE(""), ULNA_FORMAT_ASF, &options);
    assert_frame(c.model, q, "arm_end", shift(0, 0.6, 0.8));
    assert_true(c.source.unit_m == 0.5);
    ulna_content_release(&c);
}

/* Every order of the axis, and turns in the order of their list. */
static void axes_and_turns(void **state)
{
    (void)state;
    static const char *const axes[] = {"XYZ", "XZY", "YXZ", "YZX", "ZXY", "zyx"};
    static const char *const dofs[] = {"rx ry rz", "RZ ry rx", "ry rx rz", "rz", "ry rx", "rx rz"};
    const double angles[3] = {10, -25, 70}, values[3] = {33, 44, -120};
    for (int a = 0; a < 6; a++)
        for (int d = 0; d < 6; d++) {
            char text[800], amc[200];
            snprintf(text, sizeof text, HEAD ROOT ARM("    axis 10 -25 70 %s\n    dof %s\n") TREE, axes[a], dofs[d]);
            ulna_content c = read_text(text, ULNA_FORMAT_ASF, NULL);
            int turns = ((int)strlen(dofs[d]) + 1) / 3;
            snprintf(amc, sizeof amc, ":FULLY-SPECIFIED\n:DEGREES\n1\nroot 0 0 0 0 0 0\narm %s\n",
                     turns == 3   ? "33 44 -120"
                     : turns == 2 ? "33 44"
                                  : "33");
            ulna_content m = read_motion(amc, &c);
            ulna_test_frame frame = shift(0, 0, 0), r = frame, next;
            for (int i = 0; i < 3; i++) { /* each about a fixed axis: to the left of those before */
                int axis = (axes[a][i] & ~32) - 'X';
                next = turn(axis, angles[axis]);
                frame = ulna_test_multiply(&next, &frame);
                if (i < turns) {
                    next = turn((dofs[d][3 * i + 1] | 32) - 'x', values[i]);
                    r = ulna_test_multiply(&next, &r);
                }
            }
            assert_frame(c.model, m.clip.q, "arm", PRODUCT(frame, r, inverse(frame)));
            assert_frame(c.model, m.clip.q, "arm_end", PRODUCT(frame, r, inverse(frame), shift(0, 1.2, 1.6)));
            ulna_content_release(&m);
            ulna_content_release(&c);
        }
}

static void slides_of_a_bone(void **state)
{
    (void)state;
    ulna_content c =
        read_text(ARM_FILE("axis 0 0 90 XYZ\n dof rx tz ry tx\n limits (-90 90) (-1 2) (-180 180) (-inf inf)\n"),
                  ULNA_FORMAT_ASF, NULL);
    ulna_content m = read_motion("1\nroot 0 0 0 0 0 0\narm 30 3 40 5\n", &c);
    int arm = ulna_model_find_body(c.model, "arm"), dof, at;
    assert_string_equal(ulna_model_body_joint(c.model, arm)->order, "TxTzRyRx");
    ulna_model_body_dofs(c.model, arm, &dof);
    ulna_model_body_coordinates(c.model, arm, &at);
    const double upper[4] = {INFINITY, 2, 180 * DEGREE, 90 * DEGREE};
    const int channels[4] = {3, 1, 2, 0};
    for (int k = 0; k < 4; k++) {
        assert_true(ulna_model_upper(c.model)[dof + k] == upper[k]);
        assert_int_equal(c.channels[6 + k], at + channels[k]);
    }
    assert_frame(c.model, m.clip.q, "arm",
                 PRODUCT(turn(2, 90), shift(5, 0, 3), turn(1, 40), turn(0, 30), turn(2, -90)));
    ulna_content_release(&m);
    ulna_content_release(&c);
}

static void roots_in_any_order(void **state)
{
    (void)state;
    static const struct {
        const char *order, *values;
        double slide[3];
        int turn[3]; /* axes, first applied first; 3: none */
    } roots[] = {
        {"TX TY TZ RX RY RZ", "1 2 3 10 20 30", {1, 2, 3}, {0, 1, 2}},
        {"RZ RY RX TX TY TZ", "10 20 30 1 2 3", {1, 2, 3}, {2, 1, 0}},
        {"RX TZ RZ TX RY TY", "10 3 20 1 30 2", {1, 2, 3}, {0, 2, 1}},
        {"TZ TX RY", "3 1 10", {1, 0, 3}, {1, 3, 3}},
        {"rz ry", "10 20", {0, 0, 0}, {2, 1, 3}},
        {"", "", {0, 0, 0}, {3, 3, 3}},
    };
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        char text[600], amc[100];
        snprintf(text, sizeof text,
                 HEAD ":root\n orientation 0 0 90\n axis XYZ\n order %s\n position 7 8 9\n" ARM("") TREE,
                 roots[i].order);
        snprintf(amc, sizeof amc, ":fully-specified\n1\nroot %s\n", roots[i].values);
        ulna_content c = read_text(text, ULNA_FORMAT_ASF, NULL), m = read_motion(amc, &c);
        const double *s = roots[i].slide, none[6] = {0};
        ulna_test_frame r = shift(0, 0, 0);
        for (int k = 0; k < 3 && roots[i].turn[k] < 3; k++) {
            ulna_test_frame next = turn(roots[i].turn[k], 10.0 * (k + 1));
            r = ulna_test_multiply(&next, &r);
        }
        assert_frame(c.model, m.clip.q ? m.clip.q : none, "arm_end",
                     PRODUCT(shift(7, 8, 9), turn(2, 90), shift(s[0], s[1], s[2]), r, shift(0, 1.2, 1.6)));
        ulna_content_release(&m);
        ulna_content_release(&c);
    }
}

static void radians_comments_and_line_ends(void **state)
{
    (void)state;
    const char *text =
        "# a comment f\xFCr alle\r\n   # and another\r\n:VERSION 1.0 # the old one\r\n:Name  two words \r\n"
        ":documentation\r\n begin end dof\r\n:Units\r\n angle RAD\r\n length 0.0254\r\n:ROOT\r\n"
        "order TX,TY,TZ,RX,RY,RZ\r\naxis xyz\r\n:BoneData # bones\r\nBEGIN\r\nid 1\r\n"
        "NAME Ellb\xF6gen # elbow\r\n# in between\r\ndirection (1, 0, 0)\r\nlength 1e-000\r\n"
        "bodymass 10\r\ncofmass 1.0\r\naxis 0 0 0\r\ndof rx\r\nlimits ( -inf\r\n 1.5 )\r\nEND\r\n"
        ":Hierarchy\r\nbegin\r\nRoot ellb\xF6gen # in lower case\r\nend\r\n:skin file.obj\r\n";
    ulna_content c = read_text(text, ULNA_FORMAT_ASF, NULL);
    ulna_content m = read_motion("# f\xFCr\r:RADIANS\r1 # first\rROOT 0 0 0 0 0 0\rEllb\xF6gen 1.25 # bent\r", &c);
    assert_int_equal(ulna_format_sniff(text, strlen(text)), ULNA_FORMAT_ASF);
    assert_string_equal(ulna_model_name(c.model), "two words");
    assert_int_equal(c.source.degrees, 0);
    assert_string_equal(c.source.text, "version 1.0");
    assert_int_equal(c.remarks.count, 0);
    assert_int_equal(ulna_model_find_body(c.model, "Ellb\xC3\xB6gen"), 1);
    assert_true(isinf(ulna_model_lower(c.model)[6]) && ulna_model_upper(c.model)[6] == 1.5);
    assert_true(m.clip.q[6] == 1.25);
    assert_int_equal(m.remarks.count, 0);
    ulna_content_release(&m);
    ulna_content_release(&c);
}

static void channels_are_listed_as_in_the_file(void **state)
{
    (void)state;
    ulna_content c = read_text(ARM_FILE("dof rz rx\n"), ULNA_FORMAT_ASF, NULL);
    const int expected[8] = {0, 1, 2, 5, 4, 3, 7, 6}; /* Euler ZYX; then XZ: rz is applied first */
    assert_int_equal(c.channel_count, 8);
    assert_memory_equal(c.channels, expected, sizeof expected);
    ulna_read_options options = ulna_read_options_for(&c);
    const char *amc = "1\nroot 1 2 3 4 5 6\narm 7 8\n";
    ulna_content listed = read_text(amc, ULNA_FORMAT_AMC, &options);
    options.channels = NULL;
    ulna_content custom = read_text(amc, ULNA_FORMAT_AMC, &options);
    const double q[8] = {1, 2, 3, 6 * DEGREE, 5 * DEGREE, 4 * DEGREE, 8 * DEGREE, 7 * DEGREE};
    assert_memory_equal(listed.clip.q, q, sizeof q);
    assert_memory_equal(custom.clip.q, q, sizeof q); /* no list: slides, then turns as they are applied */
    ulna_content_release(&listed);
    ulna_content_release(&custom);

    /* lists of something else */
    ulna_error error;
    int wrong[8] = {0, 1, 2, 5, 4, 3, 7, 7};
    options.channels = wrong;
    assert_says(ulna_content_read(amc, strlen(amc), ULNA_FORMAT_AMC, &options, &listed, &error), ULNA_ERR_ARGUMENT,
                "channels");
    wrong[7] = 8;
    assert_says(ulna_content_read(amc, strlen(amc), ULNA_FORMAT_AMC, &options, &listed, &error), ULNA_ERR_ARGUMENT,
                "channels");
    options.channel_count = 7;
    assert_says(ulna_content_read(amc, strlen(amc), ULNA_FORMAT_AMC, &options, &listed, &error), ULNA_ERR_ARGUMENT,
                "channels");
    ulna_content_release(&c);
}

static void ball_joints_can_be_asked_for(void **state)
{
    (void)state;
    const char *text = ARM_FILE("dof rx ry rz\n limits (-1 1) (-2 2) (-3 3)\n");
    ulna_read_options options = ulna_read_options_default();
    options.ball = ULNA_BALL_QUATERNION;
    ulna_content c = read_text(text, ULNA_FORMAT_ASF, &options);
    assert_int_equal(ulna_model_coordinate_count(c.model), 11);
    assert_true(c.channels == NULL && c.channel_count == 0);
    assert_remark(&c, 0, "limits of 3 angles");
    ulna_error error;
    ulna_content m = ulna_content_empty(NULL);
    options = ulna_read_options_for(&c);
    assert_says(ulna_content_read("1\n", 2, ULNA_FORMAT_AMC, &options, &m, &error), ULNA_ERR_UNSUPPORTED, "'root'",
                "free");
    ulna_content_release(&c);
}

/* Names that this library would write otherwise are found all the same. */
static void odd_names_are_found(void **state)
{
    (void)state;
    ulna_content c = read_text(HEAD ROOT ":bonedata\nbegin\nname end\ndof rx\nend\nbegin\nname Begin\ndof rx\nend\n"
                                         ":hierarchy\nroot end Begin\n",
                               ULNA_FORMAT_ASF, NULL);
    ulna_content m = read_motion("1\nroot 0 0 0 0 0 0\nend 1\nBegin 2\n", &c);
    assert_int_equal(m.remarks.count, 0);
    assert_true(m.clip.q[6] == DEGREE && m.clip.q[7] == 2 * DEGREE);
    ulna_content_release(&m);
    ulna_content_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ulna_test_needs("hdm05 cmu", cmocka_unit_test(recorded_files_are_read)),
        ulna_test_needs("hdm05 cmu", cmocka_unit_test(poses_are_those_of_a_plain_reader)),
        cmocka_unit_test(lengths_and_directions),
        cmocka_unit_test(axes_and_turns),
        cmocka_unit_test(slides_of_a_bone),
        cmocka_unit_test(roots_in_any_order),
        cmocka_unit_test(radians_comments_and_line_ends),
        cmocka_unit_test(channels_are_listed_as_in_the_file),
        cmocka_unit_test(ball_joints_can_be_asked_for),
        cmocka_unit_test(odd_names_are_found),
    };
    return cmocka_run_group_tests_name("acclaim", tests, NULL, NULL);
}
