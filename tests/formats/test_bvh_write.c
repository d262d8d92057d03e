/* Writing BVH: what was read comes back, and skeletons that BVH cannot say are said so that they move alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_model.h"
#include "support_tree.h"
#include "ulna/formats.h"
#include "ulna/sample.h"

#define PI 3.14159265358979323846

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

static ulna_text write_channels(const ulna_model *model, const ulna_clip *clip, int dof_channels, ulna_remarks *remarks)
{
    ulna_error error;
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    ulna_write_options options = ulna_write_options_default();
    options.dof_channels = dof_channels;
    if (ulna_content_write(ULNA_FORMAT_BVH, model, clip, NULL, &options, &sink, remarks, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    return text;
}

static ulna_text write_bvh(const ulna_model *model, const ulna_clip *clip, ulna_remarks *remarks)
{
    return write_channels(model, clip, 0, remarks);
}

static ulna_content read_back(const ulna_text *text)
{
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    if (ulna_content_read(text->data, text->length, ULNA_FORMAT_UNKNOWN, NULL, &content, &error) != ULNA_OK)
        fail_msg("%d: %s", error.line, error.message);
    return content;
}

static int has_remark(const ulna_remarks *remarks, const char *words)
{
    for (size_t i = 0; i < remarks->count; i++)
        if (strstr(remarks->items[i].message, words))
            return 1;
    return 0;
}

/* How far bodies of `a` are from the bodies of that name in `b`, over all frames, if both clips move alike: the largest
 * distance, or difference of an entry of the rotation between the two, which must be the same in every frame. */
static double difference(const ulna_model *a, const ulna_clip *clip_a, const ulna_model *b, const ulna_clip *clip_b)
{
    ulna_pose *pose_a, *pose_b;
    double worst = 0, *first = ulna_test_numbers(9 * ulna_model_body_count(a));
    assert_int_equal(clip_a->frame_count, clip_b->frame_count);
    assert_int_equal(ulna_pose_create(a, NULL, &pose_a, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_create(b, NULL, &pose_b, NULL), ULNA_OK);
    for (int f = 0; f < clip_a->frame_count; f++) {
        const double *q = clip_a->coordinate_count ? ulna_clip_frame(clip_a, f) : ulna_model_rest(a);
        assert_int_equal(ulna_pose_forward(pose_a, q), ULNA_OK);
        assert_int_equal(ulna_pose_forward(pose_b, ulna_clip_frame(clip_b, f)), ULNA_OK);
        for (int i = 0; i < ulna_model_body_count(a); i++) {
            double at[2][3], r[2][9];
            int other = ulna_model_find_body(b, ulna_model_body_name(a, i));
            if (other < 0)
                fail_msg("body '%s' is lost", ulna_model_body_name(a, i));
            ulna_pose_body(pose_a, i, at[0], r[0]);
            ulna_pose_body(pose_b, other, at[1], r[1]);
            for (int k = 0; k < 3; k++)
                worst = fmax(worst, fabs(at[0][k] - at[1][k]));
            for (int k = 0; k < 9; k++) { /* RbT Ra */
                double between = 0;
                for (int l = 0; l < 3; l++)
                    between += r[1][3 * l + k / 3] * r[0][3 * l + k % 3];
                first[9 * i + k] = f ? first[9 * i + k] : between;
                worst = fmax(worst, fabs(between - first[9 * i + k]));
            }
        }
    }
    ulna_pose_destroy(pose_a);
    ulna_pose_destroy(pose_b);
    free(first);
    return worst;
}

/* What Blender needs: every list of channels has three rotations, and there is nothing but zeros that are not the joint's. */
static void assert_three_rotations(const char *text)
{
    for (const char *at = text; (at = strstr(at, "CHANNELS ")) != NULL; at++) {
        char line[160];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (!strstr(line, "Xrotation") || !strstr(line, "Yrotation") || !strstr(line, "Zrotation"))
            fail_msg("a joint has fewer than three rotations: %s", line);
    }
}

/* Writes, reads, compares, and writes again, which must give the same bytes. Returns the distance. */
static double round_trip_channels(const ulna_model *model, const ulna_clip *clip, int dof_channels)
{
    ulna_text once = write_channels(model, clip, dof_channels, NULL);
    ulna_content back = read_back(&once);
    ulna_text twice = write_channels(back.model, &back.clip, dof_channels, NULL);
    if (!dof_channels)
        assert_three_rotations(once.data);
    if (once.length != twice.length || memcmp(once.data, twice.data, once.length) != 0) {
        size_t at = 0;
        while (once.data[at] == twice.data[at])
            at++;
        fail_msg("not the same again:\n%.60s\n%.60s", once.data + at, twice.data + at);
    }
    assert_true(back.clip.frame_seconds == clip->frame_seconds);
    double worst = difference(model, clip, back.model, &back.clip);
    ulna_text_release(&once);
    ulna_text_release(&twice);
    ulna_content_release(&back);
    return worst;
}

static double round_trip(const ulna_model *model, const ulna_clip *clip)
{
    return fmax(round_trip_channels(model, clip, 0), round_trip_channels(model, clip, 1));
}

static ulna_clip clip_of(const ulna_model *model, int frames)
{
    ulna_clip clip = ulna_clip_empty(NULL);
    clip.frame_seconds = 0.01;
    assert_int_equal(ulna_clip_resize(&clip, ulna_model_coordinate_count(model), frames), ULNA_OK);
    return clip;
}

/* ---- recorded files --------------------------------------------------------------------------------------------- */

/* The numbers behind "Frame Time:". */
static const char *first_row(const char *text)
{
    const char *at = strstr(text, "Frame Time");
    return strchr(at, '\n') + 1;
}

/* Every number of the motion is the one that was read, with no more digits. `text` and `made` end with a zero byte. */
static void assert_same_numbers(const char *text, const char *made)
{
    const char *a = first_row(text), *b = first_row(made);
    for (;;) {
        char *end_a, *end_b;
        double x = strtod(a, &end_a), y = strtod(b, &end_b);
        if (end_a == a || end_b == b) {
            assert_true(end_a == a && end_b == b);
            return;
        }
        while (*a == ' ' || *a == '\t' || *a == '\r' || *a == '\n')
            a++;
        b += *b == ' ' || *b == '\n';
        if (x != y || end_b - b > end_a - a + 1) /* ".5" may become "0.5" */
            fail_msg("%.*s became %.*s", (int)(end_a - a), a, (int)(end_b - b), b);
        a = end_a;
        b = end_b;
    }
}

static void round_trip_file(const char *folder, const char *name, int keeps_numbers)
{
    char path[512], inside[128];
    ulna_error error;
    ulna_content c = ulna_content_empty(NULL);
    snprintf(inside, sizeof inside, "%s/%s.bvh", folder, name);
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), inside);
    if (ulna_content_load(path, NULL, &c, &error) != ULNA_OK)
        fail_msg("%s:%d: %s", name, error.line, error.message);
    double worst = round_trip(c.model, &c.clip);
    if (!(worst <= 1e-14))
        fail_msg("%s is off by %g", name, worst);
    if (keeps_numbers) {
        size_t size;
        char *text = ulna_test_read_file(path, &size);
        ulna_text made = write_channels(c.model, &c.clip, 1, NULL);
        assert_same_numbers(text, made.data);
        ulna_text_release(&made);
        free(text);
    }
    ulna_content_release(&c);
}

static void test_files(void **state)
{
    (void)state;
    static const char *const bvh[] = {"animdraw_cmu1_jumping_jacks",
                                      "assimp_Boxing_Toes_extra_frame",
                                      "bvh_anim_simple",
                                      "bvhtoolbox_walk01",
                                      "fairmotion_sinusoidal_no_endsite",
                                      "momentum_simple",
                                      "pybvh_YXZ_23j",
                                      "pybvh_full_precision_frame_time",
                                      "pybvh_mixed_orders_24j",
                                      "pybvh_standard_skeleton",
                                      "pymo_AV_8Walk_Meredith",
                                      "secondlife_per_joint_orders",
                                      "threejs_pirouette"};
    static const char *const cmu[] = {"02_01", "02_03", "02_05", "03_02", "11_01", "16_15", "16_35", "35_01"};
    for (size_t i = 0; i < sizeof bvh / sizeof *bvh; i++)
        round_trip_file("bvh", bvh[i], 1);
    for (size_t i = 0; i < sizeof cmu / sizeof *cmu; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_cgspeed_mb", cmu[i]);
        round_trip_file("cmu", name, 1);
    }
    /* positions that add to the offset are written so that they replace it */
    round_trip_file("bvh", "makehuman_benchmark_6ch", 0);
    round_trip_file("bvh", "makehuman_face_poseunits", 0);
    round_trip_file("bvh", "makehuman_walk1", 0);
}

/* An Acclaim skeleton has a turned frame in every joint. */
static void test_acclaim(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"cmu/02.asf", "cmu/02_01.amc"},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.amc"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char path[512];
        ulna_error error;
        ulna_content a = ulna_content_empty(NULL), m = ulna_content_empty(NULL);
        ulna_read_options options = ulna_read_options_default();
        ulna_test_path(path, sizeof path, ulna_test_data_dir(), pairs[i][0]);
        assert_int_equal(ulna_content_load(path, NULL, &a, &error), ULNA_OK);
        options.model = a.model;
        options.channels = a.channels;
        options.channel_count = a.channel_count;
        ulna_test_path(path, sizeof path, ulna_test_data_dir(), pairs[i][1]);
        assert_int_equal(ulna_content_load(path, &options, &m, &error), ULNA_OK);
        m.clip.frame_seconds = 1.0 / 120;
        double worst = round_trip(a.model, &m.clip);
        print_message("%s as BVH: off by %.2g at most\n", pairs[i][1], worst);
        assert_true(worst < 1e-12);
        ulna_content_release(&a);
        ulna_content_release(&m);
    }
}

/* Read with quaternions and written, it is the same motion. */
static void test_balls(void **state)
{
    (void)state;
    char path[512];
    ulna_error error;
    ulna_read_options options = ulna_read_options_default();
    ulna_content a = ulna_content_empty(NULL), b = ulna_content_empty(NULL);
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), "bvh/threejs_pirouette.bvh");
    assert_int_equal(ulna_content_load(path, &options, &a, &error), ULNA_OK);
    options.ball = ULNA_BALL_QUATERNION;
    assert_int_equal(ulna_content_load(path, &options, &b, &error), ULNA_OK);
    assert_int_equal(ulna_model_body_joint(b.model, 1)->type, ULNA_JOINT_BALL);
    ulna_text text = write_bvh(b.model, &b.clip, NULL);
    ulna_content back = read_back(&text);
    assert_int_equal(ulna_model_body_joint(back.model, 1)->type, ULNA_JOINT_EULER);
    assert_true(difference(a.model, &a.clip, back.model, &back.clip) < 1e-12);
    ulna_text_release(&text);
    ulna_content_release(&a);
    ulna_content_release(&b);
    ulna_content_release(&back);
}

/* ---- any skeleton ----------------------------------------------------------------------------------------------- */

static void test_random_trees(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(29);
    double worst = 0;
    for (int round = 0; round < 600; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.turned = round % 3 == 0 ? 0 : 0.5;
        options.offset = round % 2 == 0 ? 0 : 0.3;
        ulna_model *model = ulna_test_random_tree(&rng, &options);
        ulna_clip clip = clip_of(model, 3);
        for (int f = 0; f < 3 && clip.coordinate_count; f++)
            ulna_test_fill_q(&rng, model, ulna_clip_frame(&clip, f));
        worst = fmax(worst, round_trip(model, &clip));
        assert_true(worst < 1e-9);
        ulna_clip_release(&clip);
        ulna_model_destroy(model);
    }
    print_message("600 random trees: off by %.2g at most\n", worst);
}

static void test_samples(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(31);
    for (int i = 0; ulna_sample_name(i); i++) {
        ulna_model *model;
        assert_int_equal(ulna_sample_create(ulna_sample_name(i), NULL, &model, NULL), ULNA_OK);
        ulna_clip clip = clip_of(model, 2);
        memcpy(clip.q, ulna_model_rest(model), (size_t)clip.coordinate_count * sizeof *clip.q);
        ulna_test_fill_q(&rng, model, ulna_clip_frame(&clip, 1));
        assert_true(round_trip(model, &clip) < 1e-12);
        ulna_clip_release(&clip);
        ulna_model_destroy(model);
    }
}

/* A quaternion that turns steadily: its three turns go on without a jump, and past a whole turn. */
static void test_continuity(void **state)
{
    (void)state;
    enum { FRAMES = 400 };
    ulna_builder *builder = ulna_test_builder();
    ulna_test_set_joint(builder, ulna_test_add(builder, "spinner", ULNA_NONE), ulna_joint_ball());
    ulna_model *model = ulna_test_build(builder);
    ulna_clip clip = clip_of(model, FRAMES);
    for (int f = 0; f < FRAMES; f++) {
        double angle = 0.02 * f, tilt = 0.3 * sin(0.05 * f), *q = ulna_clip_frame(&clip, f); /* Rz(angle) Rx(tilt) */
        q[0] = cos(angle / 2) * sin(tilt / 2);
        q[1] = sin(angle / 2) * sin(tilt / 2);
        q[2] = sin(angle / 2) * cos(tilt / 2);
        q[3] = cos(angle / 2) * cos(tilt / 2);
        for (int k = 0; k < 4 && f % 2; k++)
            q[k] = -q[k]; /* the same turn */
    }
    ulna_text text = write_bvh(model, &clip, NULL);
    ulna_content back = read_back(&text);
    assert_string_equal(ulna_model_body_joint(back.model, 0)->order, "ZXY");
    for (int f = 0; f < FRAMES; f++) {
        const double *q = ulna_clip_frame(&back.clip, f);
        assert_true(fabs(q[0] - 0.02 * f) < 1e-12);
        assert_true(fabs(q[1] - 0.3 * sin(0.05 * f)) < 1e-12);
        assert_true(fabs(q[2]) < 1e-12);
    }
    ulna_content_release(&back);
    ulna_text_release(&text);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
    ulna_builder_destroy(builder);
}

/* ---- what is written -------------------------------------------------------------------------------------------- */

static const double zero3[3] = {0, 0, 0};

/* A root that slides and turns, an arm about -z behind a turned placement, a skew hinge with an offset, fixed bodies.
 * */
static ulna_model *odd_model(void)
{
    static const double up[3] = {0, 0.5, 0}, out[3] = {0.25, 0, 0}, quarter[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
    ulna_builder *b = ulna_test_builder();
    int root = ulna_test_add(b, "root", ULNA_NONE), arm = ulna_test_add(b, "arm", root);
    int hand = ulna_test_add(b, "hand", arm), hand_end = ulna_test_add(b, "hand_end", hand);
    int plate = ulna_test_add(b, "plate", root), tool = ulna_test_add(b, "tool", plate);
    int slide = ulna_test_add(b, "slide", root);
    ulna_test_set_joint(b, root, ulna_joint_free_euler("XYZ"));
    ulna_test_set_joint(b, arm, ulna_joint_revolute(0, 0, -1));
    ulna_test_set_joint(b, hand, ulna_joint_revolute(1, 1, 0));
    ulna_test_set_joint(b, slide, ulna_joint_prismatic(0, 1, 0));
    assert_int_equal(ulna_builder_set_placement(b, arm, up, quarter, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_placement(b, hand, up, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_offset(b, hand, out, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_placement(b, hand_end, out, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_placement(b, plate, out, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_placement(b, tool, out, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_placement(b, slide, up, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_limits(b, arm, 0, -1, 1, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_add_marker(b, "m", hand, zero3, 1, NULL, NULL), ULNA_OK);
    ulna_model *model = ulna_test_build(b);
    ulna_builder_destroy(b);
    return model;
}

/* The rotations of the arm, the channels of the slide, and the two rows up to the three turns of the hand. */
// clang-format off
#define ODD_TEXT(ARM, SLIDE, ROW_1, ROW_2) \
    "HIERARCHY\n" \
    "ROOT root\n" \
    "{\n" \
    "\tOFFSET 0 0 0\n" \
    "\tCHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation\n" \
    "\tJOINT arm\n" \
    "\t{\n" \
    "\t\tOFFSET 0 50 0\n" \
    "\t\tCHANNELS " ARM "\n" \
    "\t\tJOINT hand_joint\n" \
    "\t\t{\n" \
    "\t\t\tOFFSET 0 0 50\n" \
    "\t\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n" \
    "\t\t\tJOINT hand\n" \
    "\t\t\t{\n" \
    "\t\t\t\tOFFSET 0 25 0\n" \
    "\t\t\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n" \
    "\t\t\t\tEnd Site\n" \
    "\t\t\t\t{\n" \
    "\t\t\t\t\tOFFSET 0 25 0\n" \
    "\t\t\t\t}\n" \
    "\t\t\t}\n" \
    "\t\t}\n" \
    "\t}\n" \
    "\tJOINT plate\n" \
    "\t{\n" \
    "\t\tOFFSET 25 0 0\n" \
    "\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n" \
    "\t\tJOINT tool\n" \
    "\t\t{\n" \
    "\t\t\tOFFSET 25 0 0\n" \
    "\t\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n" \
    "\t\t}\n" \
    "\t}\n" \
    "\tJOINT slide\n" \
    "\t{\n" \
    "\t\tOFFSET 0 50 0\n" \
    "\t\tCHANNELS " SLIDE "\n" \
    "\t}\n" \
    "}\n" \
    "MOTION\n" \
    "Frames: 2\n" \
    "Frame Time: 0.008333333333333333\n" \
    ROW_1 "\n" \
    ROW_2
// clang-format on

static const char odd_text[] =
    ODD_TEXT("3 Xrotation Zrotation Yrotation", "4 Yposition Zrotation Xrotation Yrotation",
             "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 50 0 0 0", "12.5 0 0 12.4901 0 0 -30 0 0 ");
static const char odd_text_of_dofs[] =
    ODD_TEXT("1 Xrotation", "1 Yposition", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 50", "12.5 0 0 12.4901 0 0 -30 ");

static ulna_clip odd_clip(const ulna_model *model)
{
    ulna_clip clip = clip_of(model, 2);
    double *q = ulna_clip_frame(&clip, 1);
    q[0] = 12.5 * 0.01;
    q[3] = 12.4901 * (PI / 180);
    q[6] = 30 * (PI / 180);
    q[7] = 45 * (PI / 180);
    q[8] = 0.02;
    return clip;
}

static void test_text(void **state)
{
    (void)state;
    static const char end[] = " 0 0 0 0 0 0 0 0 0 52 0 0 0\n";
    ulna_model *model = odd_model();
    ulna_clip clip = odd_clip(model);
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    assert_true(round_trip(model, &clip) < 1e-14);
    clip.frame_seconds = 0;
    clip.first_frame = 7;
    ulna_text text = write_bvh(model, &clip, &remarks);
    assert_true(text.length > sizeof odd_text);
    assert_string_equal(text.data + text.length - strlen(end), end);
    text.data[sizeof odd_text - 1] = 0;
    assert_string_equal(text.data, odd_text);
    ulna_text own = write_channels(model, &clip, 1, NULL);
    assert_true(own.length > sizeof odd_text_of_dofs);
    assert_memory_equal(own.data, odd_text_of_dofs, sizeof odd_text_of_dofs - 1);
    ulna_text_release(&own);
    assert_true(has_remark(&remarks, "time between frames is unknown"));
    assert_true(has_remark(&remarks, "the first frame is number 7"));
    assert_true(has_remark(&remarks, "1 joint is written as three rotations"));
    assert_true(has_remark(&remarks, "2 fixed bodies"));
    assert_true(has_remark(&remarks, "1 bodies whose origin is away from their joint"));
    assert_true(has_remark(&remarks, "no limits: 1 are left out") &&
                has_remark(&remarks, "no markers: 1 are left out"));
    assert_int_equal(remarks.count, 7);
    ulna_text_release(&text);
    ulna_remarks_release(&remarks);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

static void test_no_motion(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    ulna_text text = write_bvh(model, NULL, &remarks);
    assert_true(has_remark(&remarks, "one frame, the rest pose"));
    ulna_content back = read_back(&text);
    ulna_clip rest = clip_of(model, 1);
    memcpy(rest.q, ulna_model_rest(model), (size_t)rest.coordinate_count * sizeof *rest.q);
    assert_true(difference(model, &rest, back.model, &back.clip) < 1e-14);
    ulna_clip_release(&rest);
    ulna_content_release(&back);
    ulna_text_release(&text);
    ulna_remarks_release(&remarks);
    ulna_model_destroy(model);
}

/* A fixed root gets six channels, as programs expect there. */
static void test_fixed_root(void **state)
{
    (void)state;
    static const double up[3] = {0, 1, 0};
    ulna_builder *b = ulna_test_builder();
    int base = ulna_test_add(b, " {base}\n", ULNA_NONE);
    assert_int_equal(ulna_builder_set_placement(b, base, up, NULL, NULL), ULNA_OK);
    ulna_model *model = ulna_test_build(b);
    ulna_text text = write_bvh(model, NULL, NULL);
    assert_string_equal(text.data, "HIERARCHY\n"
                                   "ROOT __base__\n"
                                   "{\n"
                                   "\tOFFSET 0 0 0\n"
                                   "\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
                                   "}\n"
                                   "MOTION\n"
                                   "Frames: 1\n"
                                   "Frame Time: 0.008333333333333333\n"
                                   "0 100 0 0 0 0\n");
    ulna_text_release(&text);
    ulna_model_destroy(model);
    ulna_builder_destroy(b);
}

/* Ends are those that the reader would name so; other fixed leaves keep their names as joints. */
static void test_ends(void **state)
{
    (void)state;
    ulna_builder *b = ulna_test_builder();
    int root = ulna_test_add(b, "r", ULNA_NONE);
    static const char *const names[] = {"r_end2", "r_end", "r_end2x", "r_end3", "rr_end"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ulna_test_add(b, names[i], root);
    ulna_model *model = ulna_test_build(b);
    ulna_text text = write_bvh(model, NULL, NULL);
    int ends = 0;
    for (const char *at = text.data; (at = strstr(at, "End Site")); at++)
        ends++;
    assert_int_equal(ends, 1);
    ulna_content back = read_back(&text);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(ulna_model_find_body(back.model, names[i]) >= 0);
    ulna_content_release(&back);
    ulna_text_release(&text);
    ulna_model_destroy(model);
    ulna_builder_destroy(b);
}

/* Slides that leave their rest by far cannot be told from positions that add: the offsets are zero, and all is well. */
static void test_far_slides(void **state)
{
    (void)state;
    static const double up[3] = {0, 0.5, 0};
    ulna_builder *b = ulna_test_builder();
    int root = ulna_test_add(b, "root", ULNA_NONE), lift = ulna_test_add(b, "lift", root);
    ulna_test_set_joint(b, lift, ulna_joint_prismatic(0, 1, 0));
    assert_int_equal(ulna_builder_set_placement(b, lift, up, NULL, NULL), ULNA_OK);
    ulna_model *model = ulna_test_build(b);
    ulna_clip clip = clip_of(model, 2);
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    clip.q[0] = -0.49;
    clip.q[1] = -0.51;
    ulna_text text = write_bvh(model, &clip, &remarks);
    assert_non_null(strstr(text.data, "OFFSET 0 0 0\n\t\tCHANNELS 4 Yposition "));
    assert_true(has_remark(&remarks, "the rest pose is lost"));
    assert_true(round_trip(model, &clip) < 1e-15);
    ulna_text_release(&text);
    ulna_remarks_release(&remarks);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
    ulna_builder_destroy(b);
}

static void test_options(void **state)
{
    (void)state;
    ulna_model *model = odd_model();
    ulna_clip clip = odd_clip(model);
    ulna_write_options options = ulna_write_options_default();
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    options.unit_m = 0.0254;
    options.digits = 4;
    options.degrees = 0;
    assert_int_equal(ulna_content_write(ULNA_FORMAT_BVH, model, &clip, NULL, &options, &sink, &remarks, NULL), ULNA_OK);
    assert_non_null(strstr(text.data, "\t\tOFFSET 0 19.69 0\n"));
    assert_non_null(strstr(text.data, "\n4.921 0 0 12.49 0 0 -30 "));
    assert_non_null(strstr(text.data, " 0 20.47 0 0 0\n")); /* 0.52 m */
    assert_true(has_remark(&remarks, "degrees"));
    ulna_text_release(&text);
    ulna_remarks_release(&remarks);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

/* ---- failures --------------------------------------------------------------------------------------------------- */

static ulna_status refuse(void *context, const char *data, size_t bytes)
{
    (void)context;
    (void)data;
    (void)bytes;
    return ULNA_ERR_IO;
}

static void test_errors(void **state)
{
    (void)state;
    ulna_error error;
    ulna_model *model = odd_model();
    ulna_clip clip = odd_clip(model);
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text), broken = {refuse, NULL};
    ulna_write_options options = ulna_write_options_default();
    assert_says(ulna_content_write(ULNA_FORMAT_BVH, NULL, &clip, NULL, NULL, &sink, NULL, &error), ULNA_ERR_ARGUMENT,
                "needs its skeleton");
    assert_says(ulna_content_write(ULNA_FORMAT_BVH, model, &clip, NULL, NULL, &broken, NULL, &error), ULNA_ERR_IO,
                "cannot be written");
    clip.q[12] = NAN;
    assert_says(ulna_content_write(ULNA_FORMAT_BVH, model, &clip, NULL, NULL, &sink, NULL, &error), ULNA_ERR_NUMBER,
                "frame 2", "coordinate 3");
    clip.q[12] = 1e308;
    assert_says(ulna_content_write(ULNA_FORMAT_BVH, model, &clip, NULL, NULL, &sink, NULL, &error), ULNA_ERR_NUMBER,
                "frame 2", "too large");
    clip.q[12] = 0;
    static const double far[3] = {1e301, 0, 0};
    ulna_builder *builder;
    ulna_model *remote;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    assert_int_equal(ulna_builder_add_body(builder, "far", ULNA_NONE, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_placement(builder, 0, far, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, NULL, &remote, NULL), ULNA_OK);
    options.unit_m = 1e-9;
    assert_says(ulna_content_write(ULNA_FORMAT_BVH, remote, NULL, NULL, &options, &sink, NULL, &error), ULNA_ERR_NUMBER,
                "body 'far' is too far away");
    ulna_builder_destroy(builder);
    ulna_model_destroy(remote);
    clip.coordinate_count = 6;
    assert_says(ulna_content_write(ULNA_FORMAT_BVH, model, &clip, NULL, NULL, &sink, NULL, &error), ULNA_ERR_ARGUMENT,
                "6 coordinates", "9");
    assert_int_equal(text.length, 0);
    ulna_text_release(&text);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

static void test_allocation_failures(void **state)
{
    (void)state;
    ulna_model *original = odd_model();
    ulna_clip clip = odd_clip(original);
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    ulna_builder *builder;
    ulna_model *model;
    assert_int_equal(ulna_builder_from_model(original, NULL, &builder, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, &allocator, &model, NULL), ULNA_OK); /* the writer asks the same */
    for (int fail = 0;; fail++) {
        ulna_error error;
        ulna_text text = ulna_text_empty(NULL);
        ulna_sink sink = ulna_text_sink(&text);
        long blocks = memory.live_blocks;
        memory.fail_at = memory.calls + fail;
        memory.failed = 0;
        ulna_status status = ulna_content_write(ULNA_FORMAT_BVH, model, &clip, NULL, NULL, &sink, NULL, &error);
        assert_int_equal(memory.live_blocks, blocks);
        ulna_text_release(&text);
        if (!memory.failed) {
            assert_int_equal(status, ULNA_OK);
            assert_true(fail > 3);
            break;
        }
        assert_int_equal(status, ULNA_ERR_MEMORY);
        assert_int_equal(error.status, ULNA_ERR_MEMORY);
    }
    ulna_model_destroy(model);
    ulna_test_memory_check(&memory);
    ulna_builder_destroy(builder);
    ulna_clip_release(&clip);
    ulna_model_destroy(original);
}

/* A chain of thousands: no recursion, and not more tabs than text. */
static void test_long_chain(void **state)
{
    (void)state;
    enum { BODIES = 20000 };
    ulna_builder *b = ulna_test_builder();
    for (int i = 0; i < BODIES; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        ulna_test_set_joint(b, ulna_test_add(b, name, i - 1), ulna_joint_euler("ZXY"));
    }
    ulna_model *model = ulna_test_build(b);
    ulna_text text = write_bvh(model, NULL, NULL);
    assert_true(text.length < (size_t)BODIES * 300);
    ulna_content back = read_back(&text);
    assert_int_equal(ulna_model_body_count(back.model), BODIES);
    ulna_content_release(&back);
    ulna_text_release(&text);
    ulna_model_destroy(model);
    ulna_builder_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ulna_test_needs("bvh cmu", cmocka_unit_test(test_files)),
        ulna_test_needs("cmu hdm05", cmocka_unit_test(test_acclaim)),
        ulna_test_needs("bvh", cmocka_unit_test(test_balls)),
        cmocka_unit_test(test_random_trees),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_continuity),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_no_motion),
        cmocka_unit_test(test_fixed_root),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_far_slides),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_allocation_failures),
        cmocka_unit_test(test_long_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
