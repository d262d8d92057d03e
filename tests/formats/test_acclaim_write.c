/* ASF and AMC: any skeleton and its motion written, and read back as the same poses and the same bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/math3.h"
#include "support_model.h"
#include "support_tree.h"
#include "ulna/formats.h"
#include "ulna/sample.h"

/* ---- helpers ---- */

static ulna_text written(ulna_format format, const ulna_model *model, const ulna_clip *clip,
                         const ulna_write_options *options, ulna_remarks *remarks)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    ulna_error error = {.message = "untouched"};
    ulna_write_options used = options ? *options : ulna_write_options_default();
    if (format == ULNA_FORMAT_AMC && used.unit_m == 0)
        used.unit_m = 0.0254 / 0.45;
    if (ulna_content_write(format, model, clip, NULL, &used, &sink, remarks, &error) != ULNA_OK)
        fail_msg("writing: %s", error.message);
    assert_string_equal(error.message, "untouched");
    return text;
}

static ulna_content read_back(const ulna_text *text, ulna_format format, const ulna_content *skeleton)
{
    ulna_content content = ulna_content_empty(NULL);
    ulna_read_options options = ulna_read_options_for(skeleton);
    ulna_error error;
    if (ulna_content_read(text->data, text->length, ULNA_FORMAT_UNKNOWN, &options, &content, &error) != ULNA_OK)
        fail_msg("line %d: %s\n%.20000s", error.line, error.message, text->data);
    assert_int_equal(content.format, format);
    return content;
}

static void assert_same_text(const ulna_text *a, const ulna_text *b)
{
    if (a->length == b->length && memcmp(a->data, b->data, a->length) == 0)
        return;
    size_t at = 0;
    while (at < a->length && at < b->length && a->data[at] == b->data[at])
        at++;
    size_t from = at < 100 ? 0 : at - 100;
    fail_msg("byte %zu differs:\n%.200s\n--- and ---\n%.200s", at, a->data + from, b->data + from);
}

static ulna_clip random_clip(ulna_test_rng *rng, const ulna_model *model, int frames)
{
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, ulna_model_coordinate_count(model), frames), ULNA_OK);
    for (int f = 0; f < frames && clip.coordinate_count; f++)
        ulna_test_fill_q(rng, model, ulna_clip_frame(&clip, f));
    return clip;
}

static ulna_test_frame *frames_at(const ulna_model *model, const ulna_clip *clip, int frame)
{
    static const double nothing[1];
    return ulna_test_frames(model, clip->coordinate_count ? ulna_clip_frame(clip, frame) : nothing);
}

/* A body of the file may be turned against the body that it is, and begin at its joint: by the same everywhere. Returns
 * the largest change of that over all bodies and frames. */
static double unrest(const ulna_model *a, const ulna_clip *p, const ulna_model *b, const ulna_clip *q)
{
    double largest = 0;
    ulna_test_frame *first = NULL;
    int count = ulna_model_body_count(a);
    for (int f = 0; f < p->frame_count; f++) {
        ulna_test_frame *x = frames_at(a, p, f), *y = frames_at(b, q, f);
        for (int i = 0; i < count; i++) {
            int other = i ? ulna_model_find_body(b, ulna_model_body_name(a, i)) : 0;
            if (other < 0)
                fail_msg("there is no body %s", ulna_model_body_name(a, i));
            ulna_test_frame back;
            ulna_invert(x[i].r, x[i].t, back.r, back.t);
            x[i] = ulna_test_multiply(&back, &y[other]);
            if (f > 0)
                largest = fmax(largest, ulna_test_frame_difference(&x[i], &first[i]));
        }
        free(y);
        if (f == 0)
            first = x;
        else
            free(x);
    }
    free(first);
    return largest;
}

typedef struct pair {
    ulna_text asf, amc;
    ulna_content skeleton, motion;
} pair;

static pair write_and_read(const ulna_model *model, const ulna_clip *clip, const ulna_write_options *options)
{
    pair p;
    p.asf = written(ULNA_FORMAT_ASF, model, NULL, options, NULL);
    p.amc = written(ULNA_FORMAT_AMC, model, clip, options, NULL);
    p.skeleton = read_back(&p.asf, ULNA_FORMAT_ASF, NULL);
    p.motion = read_back(&p.amc, ULNA_FORMAT_AMC, &p.skeleton);
    assert_int_equal(p.motion.clip.frame_count, clip->frame_count);
    assert_int_equal(p.motion.clip.first_frame, clip->first_frame);
    assert_true(p.motion.clip.frame_seconds == clip->frame_seconds);
    assert_int_equal(p.motion.remarks.count, 0);
    return p;
}

static void release(pair *p)
{
    ulna_text_release(&p->asf);
    ulna_text_release(&p->amc);
    ulna_content_release(&p->skeleton);
    ulna_content_release(&p->motion);
}

static void assert_second_pass_is_the_same(const pair *once, const ulna_write_options *options)
{
    ulna_text asf = written(ULNA_FORMAT_ASF, once->skeleton.model, NULL, options, NULL);
    ulna_text amc = written(ULNA_FORMAT_AMC, once->skeleton.model, &once->motion.clip, options, NULL);
    assert_same_text(&once->asf, &asf);
    assert_same_text(&once->amc, &amc);
    ulna_text_release(&asf);
    ulna_text_release(&amc);
}

/* ---- round trips ---- */

static void random_skeletons_move_alike(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(77);
    static const double units[] = {0, 1, 0.01, 0.001, 0.0254, 0.3048};
    for (int round = 0; round < 600; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.far_m = round % 5 == 0 ? 10 : 0;
        tree.root = round % 3 == 0 ? ULNA_JOINT_FREE : -1;
        ulna_model *model = ulna_test_random_tree(&rng, &tree);
        ulna_clip clip = random_clip(&rng, model, 4);
        clip.first_frame = round - 100;
        clip.frame_seconds = round % 2 ? 1.0 / (1 + round) : 0;
        ulna_write_options options = ulna_write_options_default();
        options.unit_m = units[round % 6];
        options.degrees = round % 3 - 1;
        pair p = write_and_read(model, &clip, &options);
        double apart = unrest(model, &clip, p.skeleton.model, &p.motion.clip);
        if (!(apart < 1e-9))
            fail_msg("round %d: off by %g", round, apart);
        assert_second_pass_is_the_same(&p, &options);
        release(&p);
        ulna_clip_release(&clip);
        ulna_model_destroy(model);
    }
}

/* Where the body itself is, if nothing hangs on it: its end. */
static void origins_of_leaves_are_free_ends(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(78);
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    tree.offset = 1;
    tree.min_bodies = 2;
    ulna_model *model = ulna_test_random_tree(&rng, &tree);
    ulna_clip clip = random_clip(&rng, model, 1);
    pair p = write_and_read(model, &clip, NULL);
    ulna_test_frame *x = frames_at(model, &clip, 0), *y = frames_at(p.skeleton.model, &p.motion.clip, 0);
    int leaves = 0;
    for (int b = 1; b < ulna_model_body_count(model); b++) {
        char name[64];
        snprintf(name, sizeof name, "%s_end", ulna_model_body_name(model, b));
        int end = ulna_model_find_body(p.skeleton.model, name);
        assert_int_equal(end >= 0, ulna_model_subtree(model, b, NULL) == 1);
        for (int k = 0; k < 3 && end >= 0; k++)
            assert_true(fabs(x[b].t[k] - y[end].t[k]) < 1e-10);
        leaves += end >= 0;
    }
    assert_true(leaves > 0);
    free(x);
    free(y);
    release(&p);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

static void samples_move_alike(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(79);
    for (int i = 0; ulna_sample_name(i); i++) {
        ulna_model *model;
        assert_int_equal(ulna_sample_create(ulna_sample_name(i), NULL, &model, NULL), ULNA_OK);
        ulna_clip clip = random_clip(&rng, model, 3);
        pair p = write_and_read(model, &clip, NULL);
        assert_true(unrest(model, &clip, p.skeleton.model, &p.motion.clip) < 1e-9);
        assert_second_pass_is_the_same(&p, NULL);
        release(&p);
        ulna_clip_release(&clip);
        ulna_model_destroy(model);
    }
}

static void few_digits_settle_too(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(80);
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    tree.max_bodies = 6;
    for (int round = 0; round < 200; round++) {
        ulna_model *model = ulna_test_random_tree(&rng, &tree);
        ulna_clip clip = random_clip(&rng, model, 2);
        ulna_write_options options = ulna_write_options_default();
        options.digits = 6 + round % 6;
        pair p = write_and_read(model, &clip, &options);
        assert_true(unrest(model, &clip, p.skeleton.model, &p.motion.clip) < 100 * pow(10, -options.digits));
        assert_second_pass_is_the_same(&p, &options);
        release(&p);
        ulna_clip_release(&clip);
        ulna_model_destroy(model);
    }
}

static void recorded_files_come_back_to_the_bit(void **state)
{
    (void)state;
    static const char *const takes[][2] = {
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.amc"},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_kickLFront1Reps_013_120.amc"},
        {"hdm05/HDM_bd.asf", "hdm05/HDM_bd_kickLFront1Reps_001_120.amc"},
        {"hdm05/HDM_bk.asf", "hdm05/HDM_bk_kickLFront1Reps_007_120.amc"},
        {"cmu/02.asf", "cmu/02_01.amc"},
        {"cmu/03.asf", "cmu/03_02.amc"},
        {"cmu/11.asf", "cmu/11_01.amc"},
    };
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        char path[512];
        ulna_content skeleton = ulna_content_empty(NULL), motion = ulna_content_empty(NULL);
        ulna_test_path(path, sizeof path, ulna_test_data_dir(), takes[i][0]);
        assert_int_equal(ulna_content_load(path, NULL, &skeleton, NULL), ULNA_OK);
        ulna_read_options options = ulna_read_options_for(&skeleton);
        ulna_test_path(path, sizeof path, ulna_test_data_dir(), takes[i][1]);
        assert_int_equal(ulna_content_load(path, &options, &motion, NULL), ULNA_OK);
        pair p = write_and_read(skeleton.model, &motion.clip, NULL);
        assert_int_equal(p.skeleton.remarks.count, 0);
        assert_int_equal(ulna_model_body_count(p.skeleton.model), 38);
        assert_memory_equal(p.motion.clip.q, motion.clip.q,
                            (size_t)motion.clip.frame_count * 62 * sizeof *motion.clip.q);
        for (int k = 0; k < 62; k++)
            assert_true(ulna_model_upper(p.skeleton.model)[k] == ulna_model_upper(skeleton.model)[k]);
        for (int f = 0; f < motion.clip.frame_count; f++) {
            ulna_test_frame *x = frames_at(skeleton.model, &motion.clip, f);
            ulna_test_frame *y = frames_at(p.skeleton.model, &p.motion.clip, f);
            for (int b = 0; b < 38; b++)
                assert_true(ulna_test_frame_difference(&x[b], &y[b]) < 1e-12);
            free(x);
            free(y);
        }
        assert_second_pass_is_the_same(&p, NULL);
        release(&p);
        ulna_content_release(&skeleton);
        ulna_content_release(&motion);
    }
}

/* ---- what it looks like ---- */

static ulna_model *small_model(void)
{
    ulna_builder *builder = ulna_test_builder();
    int hips = ulna_test_add(builder, "hips", ULNA_NONE), arm = ulna_test_add(builder, "arm", hips);
    int hand = ulna_test_add(builder, "hand", arm), tip = ulna_test_add(builder, "hand_end", hand);
    int other = ulna_test_add(builder, "left leg", hips);
    ulna_test_set_joint(builder, hips, ulna_joint_free_euler("ZXY"));
    ulna_test_set_joint(builder, arm, ulna_joint_euler("ZYX"));
    ulna_test_set_joint(builder, hand, ulna_joint_sequence("TzTxRy"));
    ulna_test_set_joint(builder, other, ulna_joint_revolute(0, 0, 1));
    double turned[9];
    ulna_rotation_about(1, ULNA_PI / 2, turned);
    ulna_builder_set_placement(builder, arm, (double[]){0, 0, 0}, turned, NULL);
    ulna_builder_set_placement(builder, hand, (double[]){0, 0, 0.5}, NULL, NULL);
    ulna_builder_set_placement(builder, tip, (double[]){0.25, 0, 0}, NULL, NULL);
    ulna_builder_set_placement(builder, other, (double[]){0, -1, 0}, NULL, NULL);
    ulna_builder_set_limits(builder, arm, 2, -ULNA_PI / 2, INFINITY, NULL);
    ulna_builder_set_limits(builder, hand, 0, -0.1, 0.2, NULL);
    ulna_builder_set_name(builder, " small one ", NULL);
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    return model;
}

static void the_text_is_plain(void **state)
{
    (void)state;
    ulna_model *model = small_model();
    ulna_write_options options = ulna_write_options_default();
    options.unit_m = 1;
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, 13, 1), ULNA_OK);
    for (int k = 0; k < 13; k++)
        clip.q[k] = k + 1;
    clip.frame_seconds = 1.0 / 120;
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    ulna_text asf = written(ULNA_FORMAT_ASF, model, NULL, &options, &remarks);
    assert_string_equal(asf.data,
                        ":version 1.10\n:name small one\n:units\n  mass 1.0\n  length 0.0254\n  angle deg\n"
                        ":root\n  order TX TY TZ RY RX RZ\n  axis YXZ\n  position 0 0 0\n  orientation 0 0 0\n"
                        ":bonedata\n"
                        "  begin\n    id 1\n    name arm\n    direction 1 0 0\n    length 0.5\n"
                        "    axis 0 90 0 XZY\n    dof rx ry rz\n    limits (-90 inf)\n           (-inf inf)\n"
                        "           (-inf inf)\n  end\n"
                        "  begin\n    id 2\n    name hand\n    direction 0 0 -1\n    length 0.25\n"
                        "    axis 0 90 0 XZY\n    dof tx tz ry\n    limits (-inf inf)\n           (-0.1 0.2)\n"
                        "           (-inf inf)\n  end\n"
                        "  begin\n    id 3\n    name left_leg_start\n    direction 0 -1 0\n    length 1\n"
                        "    axis 0 0 0 XYZ\n  end\n"
                        "  begin\n    id 4\n    name left_leg\n    direction 1 0 0\n    length 0\n"
                        "    axis 0 0 0 XYZ\n    dof rz\n  end\n"
                        ":hierarchy\n  begin\n    root arm left_leg_start\n    arm hand\n"
                        "    left_leg_start left_leg\n  end\n");
    assert_int_equal(remarks.count, 2);
    assert_non_null(strstr(remarks.items[0].message, "body 'hips' is written as 'root'"));
    assert_non_null(strstr(remarks.items[1].message, "'left leg' is written as 'left_leg'"));
    ulna_remarks_release(&remarks);

    options.degrees = 0;
    ulna_text amc = written(ULNA_FORMAT_AMC, model, &clip, &options, NULL);
    assert_string_equal(amc.data, "#!ULNA:LENGTH 0.0254\n:SAMPLES-PER-SECOND 120\n:FULLY-SPECIFIED\n:RADIANS\n1\n"
                                  "root 1 2 3 6 5 4\narm 9 8 7\nhand 11 10 12\nleft_leg 13\n");
    /* read for the skeleton that it came from: the changed names are known */
    ulna_content c = ulna_content_empty(NULL);
    ulna_read_options reading = ulna_read_options_default();
    reading.model = model;
    assert_int_equal(ulna_content_read(amc.data, amc.length, ULNA_FORMAT_UNKNOWN, &reading, &c, NULL), ULNA_OK);
    assert_memory_equal(c.clip.q, clip.q, 13 * sizeof *clip.q);
    assert_int_equal(c.remarks.count, 0);
    ulna_content_release(&c);
    ulna_text_release(&asf);
    ulna_text_release(&amc);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

static void names_that_are_no_words_change(void **state)
{
    (void)state;
    static const char *const names[] = {"pelvis", "root", "a b", "a_b", "a\tb", "a_b_2",
                                        "begin",  "END",  "12",  "#x",  ":y",   "(z,w)"};
    ulna_builder *builder = ulna_test_builder();
    for (int i = 0; i < 12; i++)
        ulna_test_set_joint(builder, ulna_test_add(builder, names[i], i - 1), ulna_joint_euler("X"));
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, 12, 1), ULNA_OK);
    pair p = write_and_read(model, &clip, NULL);
    static const char *const changed[] = {"root",   "_root", "a_b_14", "a_b", "a_b_4", "a_b_2",
                                          "_begin", "_END",  "_12",    "_#x", "_:y",   "_z_w_"};
    for (int i = 0; i < 12; i++)
        assert_string_equal(ulna_model_body_name(p.skeleton.model, i), changed[i]);
    release(&p);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

static int says(const ulna_remarks *remarks, const char *part)
{
    for (size_t i = 0; i < remarks->count; i++)
        if (strstr(remarks->items[i].message, part))
            return 1;
    return 0;
}

static void what_is_changed_or_lost_is_told(void **state)
{
    (void)state;
    ulna_builder *builder = ulna_test_builder();
    int root = ulna_test_add(builder, "root", ULNA_NONE), a = ulna_test_add(builder, "a", root);
    int b = ulna_test_add(builder, "b", a);
    ulna_joint reversed = ulna_joint_euler("XZ");
    reversed.reversed = 1;
    ulna_test_set_joint(builder, root, ulna_joint_free_euler("ZYX"));
    ulna_test_set_joint(builder, a, reversed);
    ulna_test_set_joint(builder, b, ulna_joint_expmap());
    ulna_builder_set_limits(builder, root, 1, -1, 1, NULL);
    ulna_builder_set_limits(builder, a, 0, -1, 2, NULL);
    ulna_builder_set_limits(builder, b, 0, -1, 1, NULL);
    ulna_builder_set_rest(builder, a, (double[]){0.5, 0}, 2, NULL);
    ulna_builder_set_mass(builder, b, &(ulna_mass){.mass = 1}, NULL);
    ulna_builder_add_marker(builder, "m", b, (double[]){0, 0, 0}, 1, NULL, NULL);
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    ulna_text asf = written(ULNA_FORMAT_ASF, model, NULL, NULL, &remarks);
    assert_true(says(&remarks, "2 joints are written as angles, the only kind the format has: 'a' (reversed euler)"));
    assert_true(says(&remarks, "limits of 1 degree of freedom are lost"));
    assert_true(says(&remarks, "1 markers"));
    assert_true(says(&remarks, "masses of 1 bodies"));
    assert_true(says(&remarks, "limits of the root"));
    assert_true(says(&remarks, "1 rest value is not 0"));
    assert_int_equal(remarks.count, 6);

    /* Rz(-q0) Rx(-q1): the same turns with the other sign, and so are their limits */
    assert_non_null(
        strstr(asf.data, "dof rx rz\n    limits (-inf inf)\n           (-114.59155902616465 57.29577951308232"));
    ulna_remarks_release(&remarks);
    ulna_text_release(&asf);
    ulna_model_destroy(model);
}

static void angles_of_converted_joints_do_not_jump(void **state)
{
    (void)state;
    ulna_builder *builder = ulna_test_builder();
    ulna_test_set_joint(builder, ulna_test_add(builder, "root", ULNA_NONE), ulna_joint_free());
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, 7, 400), ULNA_OK);
    const double step[6] = {0.01, 0, 0, 0.02, 0.05, -0.01};
    memcpy(clip.q, ulna_model_rest(model), 7 * sizeof(double));
    for (int f = 1; f < 400; f++)
        ulna_model_integrate(model, ulna_clip_frame(&clip, f - 1), step, ulna_clip_frame(&clip, f));
    pair p = write_and_read(model, &clip, NULL);
    double largest = 0;
    for (int f = 1; f < 400; f++)
        for (int k = 0; k < 6; k++)
            largest =
                fmax(largest, fabs(ulna_clip_frame(&p.motion.clip, f)[k] - ulna_clip_frame(&p.motion.clip, f - 1)[k]));
    assert_true(largest < 1);
    assert_true(unrest(model, &clip, p.skeleton.model, &p.motion.clip) < 1e-12);
    release(&p);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

/* ---- refusals ---- */

static ulna_status refuse(void *context, const char *data, size_t bytes)
{
    (void)context, (void)data, (void)bytes;
    return ULNA_ERR_IO;
}

static void what_cannot_be_written_is_told(void **state)
{
    (void)state;
    ulna_error error;
    ulna_write_options options = ulna_write_options_default();
    options.unit_m = 1;
    ulna_model *model = small_model();
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text), broken = {refuse, NULL};
    assert_int_equal(ulna_clip_resize(&clip, 13, 2), ULNA_OK);
    clip.first_frame = 5;
    assert_says(ulna_content_write(ULNA_FORMAT_AMC, NULL, &clip, NULL, NULL, &sink, NULL, &error), ULNA_ERR_ARGUMENT,
                "skeleton");
    assert_says(ulna_content_write(ULNA_FORMAT_AMC, model, NULL, NULL, NULL, &sink, NULL, &error), ULNA_ERR_UNSUPPORTED,
                "holds a motion, but only a skeleton");
    assert_says(ulna_content_write(ULNA_FORMAT_ASF, model, NULL, NULL, NULL, &broken, NULL, &error), ULNA_ERR_IO,
                "written");
    assert_says(ulna_content_write(ULNA_FORMAT_AMC, model, &clip, NULL, &options, &broken, NULL, &error), ULNA_ERR_IO,
                "written");
    ulna_builder *builder = ulna_test_builder();
    ulna_test_add(builder, "far", ulna_test_add(builder, "root", ULNA_NONE));
    ulna_builder_set_placement(builder, 1, (double[]){0, 1e152, 0}, NULL, NULL);
    ulna_model *huge = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    assert_says(ulna_content_write(ULNA_FORMAT_ASF, huge, NULL, NULL, NULL, &sink, NULL, &error), ULNA_ERR_NUMBER,
                "too large");
    ulna_model_destroy(huge);
    ulna_clip_frame(&clip, 1)[7] = NAN;
    assert_says(ulna_content_write(ULNA_FORMAT_AMC, model, &clip, NULL, &options, &sink, NULL, &error), ULNA_ERR_NUMBER,
                "frame 6", "'arm'");
    ulna_clip_release(&clip);
    assert_int_equal(ulna_clip_resize(&clip, 12, 2), ULNA_OK);
    assert_says(ulna_content_write(ULNA_FORMAT_AMC, model, &clip, NULL, &options, &sink, NULL, &error),
                ULNA_ERR_ARGUMENT, "12 coordinates", "13");
    ulna_clip_release(&clip);
    ulna_text_release(&text);
    ulna_model_destroy(model);
}

/* ---- the unit and the order of an AMC are those of its ASF ---- */

#define ODD_ASF                                                                                                        \
    ":units\nlength %s\nangle deg\n:root\norder RX TZ RY RZ TX TY\naxis XYZ\nposition 1 2 3\norientation 0 0 0\n"      \
    ":bonedata\nbegin\nid 1\nname arm\ndirection 1 0 0\nlength 2\naxis 0 0 20 XYZ\ndof rz ty rx\nend\n"                \
    ":hierarchy\nbegin\nroot arm\nend\n"

static void assert_reads_as(const ulna_text *amc, const ulna_read_options *options, const ulna_clip *clip,
                            size_t remarks)
{
    ulna_content motion = ulna_content_empty(NULL);
    assert_int_equal(ulna_content_read(amc->data, amc->length, ULNA_FORMAT_UNKNOWN, options, &motion, NULL), ULNA_OK);
    assert_int_equal(motion.clip.frame_count, clip->frame_count);
    for (int i = 0; i < clip->frame_count * clip->coordinate_count; i++)
        assert_true(fabs(motion.clip.q[i] - clip->q[i]) <= 1e-14 * fmax(1, fabs(clip->q[i])));
    assert_int_equal(motion.remarks.count, remarks);
    ulna_content_release(&motion);
}

static void an_amc_goes_with_its_asf(void **state)
{
    (void)state;
    static const char *const lengths[] = {"0.45", "1.0", "2.54", "0.0254", "0.1"};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ulna_content asf = ulna_content_empty(NULL), again = asf, motion = asf;
        ulna_error error;
        char text[512];
        snprintf(text, sizeof text, ODD_ASF, lengths[i]);
        assert_int_equal(ulna_content_read(text, strlen(text), ULNA_FORMAT_UNKNOWN, NULL, &asf, NULL), ULNA_OK);
        ulna_read_options reading = ulna_read_options_for(&asf), bare = ulna_read_options_default();
        const char *amc = ":DEGREES\n1\nroot 1 2 3 4 5 6\narm 7 8 9\n2\nroot -1 20 30 40 50 -60\narm 0 -8 9\n";
        assert_int_equal(ulna_content_read(amc, strlen(amc), ULNA_FORMAT_AMC, &reading, &motion, NULL), ULNA_OK);
        assert_true(fabs(motion.clip.q[2] - 2 * 0.0254 / atof(lengths[i])) < 1e-14); /* TZ */

        /* nothing is guessed */
        ulna_text out = ulna_text_empty(NULL);
        ulna_sink sink = ulna_text_sink(&out);
        const ulna_write_options defaults = ulna_write_options_default();
        assert_says(ulna_content_write(ULNA_FORMAT_AMC, asf.model, &motion.clip, NULL, NULL, &sink, NULL, &error),
                    ULNA_ERR_ARGUMENT, "unit_m", "ulna_write_options_for");
        assert_says(ulna_content_write(ULNA_FORMAT_AMC, asf.model, &motion.clip, NULL, &defaults, &sink, NULL, &error),
                    ULNA_ERR_ARGUMENT, "unit_m");
        assert_int_equal(out.length, 0);

        /* what is written goes with that ASF, line by line, and with the ASF that is written of it */
        ulna_write_options options = ulna_write_options_for(&asf, ULNA_FORMAT_AMC);
        assert_int_equal(
            ulna_content_write(ULNA_FORMAT_AMC, asf.model, &motion.clip, NULL, &options, &sink, NULL, &error), ULNA_OK);
        assert_non_null(strstr(out.data, "1\nroot 1 2 3 4 5 6\narm 7 8 9\n2\nroot -1 20 30 40 50 -60\narm 0 -8 9\n"));
        assert_reads_as(&out, &reading, &motion.clip, 0);
        ulna_text copy = written(ULNA_FORMAT_ASF, asf.model, NULL, &options, NULL);
        assert_int_equal(ulna_content_read(copy.data, copy.length, ULNA_FORMAT_UNKNOWN, NULL, &again, NULL), ULNA_OK);
        assert_true(again.source.unit_m == asf.source.unit_m && again.channel_count == asf.channel_count);
        assert_memory_equal(again.channels, asf.channels, (size_t)asf.channel_count * sizeof *asf.channels);
        reading = ulna_read_options_for(&again);
        assert_reads_as(&out, &reading, &motion.clip, 0);
        ulna_text_release(&out);

        /* whoever gives no unit for reading, or that of another ASF, gets what was written */
        options.channels = NULL;
        assert_int_equal(
            ulna_content_write(ULNA_FORMAT_AMC, asf.model, &motion.clip, NULL, &options, &sink, NULL, &error), ULNA_OK);
        bare.model = asf.model;
        assert_reads_as(&out, &bare, &motion.clip, 0);
        bare.skeleton_unit_m = 1;
        assert_reads_as(&out, &bare, &motion.clip, i != 3);

        /* lists that are not of this skeleton */
        int wrong[9];
        memcpy(wrong, asf.channels, sizeof wrong);
        wrong[0] = wrong[2];
        options.channels = wrong;
        assert_says(ulna_content_write(ULNA_FORMAT_ASF, asf.model, NULL, NULL, &options, &sink, NULL, &error),
                    ULNA_ERR_ARGUMENT, "channels");
        wrong[0] = asf.channels[2]; /* rotations the other way round are another joint */
        wrong[2] = asf.channels[0];
        assert_says(ulna_content_write(ULNA_FORMAT_AMC, asf.model, &motion.clip, NULL, &options, &sink, NULL, &error),
                    ULNA_ERR_ARGUMENT, "channels");
        ulna_text_release(&out);
        ulna_text_release(&copy);
        ulna_content_release(&motion);
        ulna_content_release(&again);
        ulna_content_release(&asf);
    }
}

static void options_follow_the_skeleton(void **state)
{
    (void)state;
    ulna_content c = ulna_content_empty(NULL);
    c.source.unit_m = 0.01;
    c.format = ULNA_FORMAT_BVH;
    assert_true(ulna_write_options_for(&c, ULNA_FORMAT_BVH).unit_m == 0.01);
    assert_true(ulna_write_options_for(&c, ULNA_FORMAT_MOT).unit_m == 0);
    assert_true(ulna_write_options_for(&c, ULNA_FORMAT_AMC).unit_m == 0.0254 / 0.45);
    assert_true(ulna_write_options_for(&c, ULNA_FORMAT_ASF).unit_m == 0.0254 / 0.45);
    assert_true(ulna_read_options_for(&c).skeleton_unit_m == 0 && ulna_read_options_for(&c).unit_m == 0);
    assert_true(ulna_write_options_for(NULL, ULNA_FORMAT_AMC).unit_m == 0); /* which is refused */
}

static ulna_status swallow(void *context, const char *data, size_t bytes)
{
    (void)context, (void)data, (void)bytes;
    return ULNA_OK;
}

/* Writers take their memory from where the model has its own. */
static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    ulna_builder *builder;
    assert_int_equal(ulna_builder_create(&allocator, &builder), ULNA_OK);
    ulna_test_set_joint(builder, ulna_test_add(builder, "pelvis", ULNA_NONE), ulna_joint_free());
    int body = ulna_test_add(builder, "a b", 0);
    assert_int_equal(ulna_builder_set_placement(builder, body, (double[]){0, 1, 0}, NULL, NULL), ULNA_OK);
    ulna_model *model = NULL;
    assert_int_equal(ulna_builder_build(builder, &allocator, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, 7, 2), ULNA_OK);
    for (int f = 0; f < 2; f++)
        memcpy(ulna_clip_frame(&clip, f), ulna_model_rest(model), 7 * sizeof(double));
    ulna_sink sink = {swallow, NULL};
    ulna_write_options options = ulna_write_options_default();
    options.unit_m = 1;
    for (int what = 0; what < 2; what++)
        for (long fail = 0;; fail++) {
            ulna_error error;
            long live = memory.live_blocks;
            memory.failed = 0;
            memory.fail_at = memory.calls + fail;
            ulna_status status = ulna_content_write(what ? ULNA_FORMAT_AMC : ULNA_FORMAT_ASF, model, &clip, NULL,
                                                    &options, &sink, NULL, &error);
            assert_int_equal(memory.live_blocks, live);
            if (!memory.failed) {
                assert_int_equal(status, ULNA_OK);
                assert_true(fail > 3);
                break;
            }
            assert_true(status == ULNA_ERR_MEMORY && error.status == ULNA_ERR_MEMORY);
        }
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
    ulna_test_memory_check(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_skeletons_move_alike),
        cmocka_unit_test(origins_of_leaves_are_free_ends),
        cmocka_unit_test(samples_move_alike),
        cmocka_unit_test(few_digits_settle_too),
        ulna_test_needs("hdm05 cmu", cmocka_unit_test(recorded_files_come_back_to_the_bit)),
        cmocka_unit_test(the_text_is_plain),
        cmocka_unit_test(names_that_are_no_words_change),
        cmocka_unit_test(an_amc_goes_with_its_asf),
        cmocka_unit_test(options_follow_the_skeleton),
        cmocka_unit_test(what_is_changed_or_lost_is_told),
        cmocka_unit_test(angles_of_converted_joints_do_not_jump),
        cmocka_unit_test(what_cannot_be_written_is_told),
        cmocka_unit_test(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests_name("acclaim_write", tests, NULL, NULL);
}
