/* ASF and AMC: what is odd in files, what is wrong with them, and what they cost. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_acclaim.h"

/* ---- oddities ---- */

static void odd_skeletons_are_remarked_upon(void **state)
{
    (void)state;
    ulna_content c =
        read_text(":root\n:bonedata\nbegin\nname a b\nlength 2\ndirection 0 0 0\ndof rz rx\nlimits (1 -1)\nfoo 3\n"
                  "end\nbegin\nname b\nend\n:hierarchy\nbegin\nroot a\na b\nend\n",
                  ULNA_FORMAT_ASF, NULL);
    assert_remark(&c, 0, "1/0.45 inch");
    assert_remark(&c, 1, "TX TY TZ RX RY RZ");
    assert_remark(&c, 4, "one word: 'a'");
    assert_remark(&c, 3, "2 limit numbers for 2 degrees");
    assert_remark(&c, 3, "no direction");
    assert_remark(&c, 3, "swapped (1 times)");
    assert_remark(&c, 3, "applied as listed");
    assert_remark(&c, 0, "1 lines with other keywords");
    assert_int_equal(ulna_model_dof_count(c.model), 8);
    assert_true(c.source.unit_m == UNIT);
    ulna_content_release(&c);
    c = read_text(HEAD ROOT, ULNA_FORMAT_ASF, NULL); /* nothing but a root: a skeleton of one body */
    assert_int_equal(ulna_model_body_count(c.model), 1);
    ulna_content_release(&c);
}

/* A skeleton from elsewhere has no unit for an AMC that does not state its own. */
static void an_assumed_unit_is_remarked_upon(void **state)
{
    (void)state;
    ulna_content c = read_text(ARM_FILE("dof rx\n"), ULNA_FORMAT_ASF, NULL);
    ulna_read_options options = ulna_read_options_default();
    options.model = c.model;
    ulna_content m = read_text("1\nroot 1 2 3 4 5 6\narm 7\n", ULNA_FORMAT_AMC, &options);
    assert_remark(&m, 0, "which is not known; the usual 1/0.45 inch is assumed");
    assert_true(m.source.unit_m == UNIT && m.clip.q[0] == UNIT);
    ulna_content_release(&m);
    m = read_text("#!ULNA:LENGTH 1e-300\n1\nroot 1 2 3 4 5 6\narm 7\n", ULNA_FORMAT_AMC, &options);
    assert_true(m.source.unit_m == UNIT); /* that length is not believed */
    ulna_content_release(&m);
    const struct {
        const char *text;
        double skeleton_unit_m, unit_m, expected;
    } known[] = {{"1\nroot 1 2 3 4 5 6\narm 7\n", 2, 0, 2},
                 {"1\nroot 1 2 3 4 5 6\narm 7\n", 0, 3, 3},
                 {"#!ULNA:LENGTH 0.0254\n1\nroot 1 2 3 4 5 6\narm 7\n", 0, 0, 1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        options.skeleton_unit_m = known[i].skeleton_unit_m;
        options.unit_m = known[i].unit_m;
        m = read_text(known[i].text, ULNA_FORMAT_AMC, &options);
        assert_int_equal(m.remarks.count, 0);
        assert_true(m.clip.q[0] == known[i].expected);
        ulna_content_release(&m);
    }
    ulna_content_release(&c);
}

static void free_ends_find_a_name(void **state)
{
    (void)state;
    ulna_content c = read_text(HEAD ROOT ":bonedata\nbegin\nname a\ndirection 1 0 0\nlength 1\nend\nbegin\nname a_end\n"
                                         "end\nbegin\nname a_end2\nend\n:hierarchy\nroot a a_end a_end2\n",
                               ULNA_FORMAT_ASF, NULL);
    double q[6] = {0};
    ulna_test_frame *frames = ulna_test_frames(c.model, q);
    assert_true(frames[ulna_model_find_body(c.model, "a_end3")].t[0] == 1);
    free(frames);
    assert_int_equal(ulna_model_body_count(c.model), 5);
    ulna_content_release(&c);
}

#define HINGE ARM_FILE("dof rx\n")
#define FRAME(n, angle) #n "\nroot 1 2 3 4 5 6\narm " #angle "\n"

static void odd_motions_are_remarked_upon(void **state)
{
    (void)state;
    ulna_content c = read_text(HINGE, ULNA_FORMAT_ASF, NULL);
    const char *amc = ":SAMPLES-PER-SECOND 120\n:DEGREES\n5\nroot 1 2 3 4 5 6\n" /* the arm is at rest */
                      "6\narm 20\nleg 1 2 3\nROOT 2 2 3 4 5 6\n"
                      "8\nARM 30\nleg 1\narm 40\nroot 3 2 3 4 5 6\n9\n10\nroot 4 2 3 4 5 6\n";
    ulna_content m = read_motion(amc, &c);
    assert_int_equal(m.clip.frame_count, 5);
    assert_int_equal(m.clip.first_frame, 5);
    assert_true(m.clip.frame_seconds == 1.0 / 120);
    const double arm[5] = {0, 20, 40, 40, 40}, root[5] = {1, 2, 3, 3, 4};
    for (int f = 0; f < 5; f++)
        assert_true(fabs(ulna_clip_frame(&m.clip, f)[6] - arm[f] * DEGREE) < 1e-15 &&
                    ulna_clip_frame(&m.clip, f)[0] == root[f]);
    assert_remark(&m, 7, "no bone 'leg'");
    assert_remark(&m, 0, "2 lines name bones");
    assert_remark(&m, 0, "4 times a frame does not list a bone");
    assert_remark(&m, 12, "1 times a frame lists a bone twice");
    assert_remark(&m, 9, "not consecutive (1 times)");
    assert_int_equal(m.remarks.count, 5);
    ulna_content_release(&m);
    ulna_content_release(&c);
}

static void a_cut_last_frame_is_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *tail;
        int frames;
        const char *remark;
    } tails[] = {
        {"", 2, NULL},
        {"3\nroot 1 2 3 4 5 6\narm 3", 3, NULL},
        {"3\nroot 1 2 3 4 5 6\narm", 2, "within a line"},
        {"3\nroot 1 2 3 4 5 6\narm -", 2, "within a line"},
        {"3\nroot 1 2 3 4 5\n\n  \n", 2, "within a line"},
        {"3\nroot 1 2 3 4 5 6\nar", 2, "bones are missing"},
        {"3\nroot 1 2 3 4 5 6\n", 2, "bones are missing"},
        {"3\n", 2, "bones are missing"},
        {"3", 2, "bones are missing"},
    };
    ulna_content c = read_text(HINGE, ULNA_FORMAT_ASF, NULL);
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        for (int full = 0; full < 2; full++) {
            char text[300];
            snprintf(text, sizeof text, "%s" FRAME(1, 10) FRAME(2, 20) "%s", full ? ":FULLY-SPECIFIED\n" : "",
                     tails[i].tail);
            ulna_content m = read_motion(text, &c);
            int keeps = !full && (i == 5 || i == 6); /* a frame may leave bones out */
            assert_int_equal(m.clip.frame_count, tails[i].frames + keeps);
            assert_true(fabs(ulna_clip_frame(&m.clip, 1)[6] - 20 * DEGREE) < 1e-15);
            int found = 0;
            for (size_t k = 0; k < m.remarks.count; k++)
                found |= tails[i].remark && strstr(m.remarks.items[k].message, tails[i].remark) != NULL;
            assert_int_equal(found, tails[i].remark && !keeps);
            ulna_content_release(&m);
        }
    ulna_content_release(&c);
}

static void formats_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ulna_format format;
    } texts[] = {
        {HINGE, ULNA_FORMAT_ASF},
        {"\xEF\xBB\xBF#\r\n:units\r\n", ULNA_FORMAT_ASF},
        {"x\n:root\n", ULNA_FORMAT_UNKNOWN},
        {":version 1.10\n:name VICON\n", ULNA_FORMAT_UNKNOWN},
        {":FULLY-SPECIFIED\n:DEGREES\n1\n", ULNA_FORMAT_AMC},
        {"#!OML:ASF X:\\f\xFCr\n1\nroot 1\n", ULNA_FORMAT_AMC},
        {"# comment\n:samples-per-second 30\n:radians\n7\n", ULNA_FORMAT_AMC},
        {":DEGREES\n1 2\n", ULNA_FORMAT_UNKNOWN},
        {":DEGREES\nroot 1\n", ULNA_FORMAT_UNKNOWN},
        {"1\nroot 1 2 3\n", ULNA_FORMAT_UNKNOWN},
        {"", ULNA_FORMAT_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(ulna_format_sniff(texts[i].text, strlen(texts[i].text)), texts[i].format);
    assert_int_equal(ulna_format_of_name("a/b.ASF"), ULNA_FORMAT_ASF);
    assert_int_equal(ulna_format_of_name("b.x.amc"), ULNA_FORMAT_AMC);
}

/* ---- mistakes ---- */

typedef struct mistake {
    const char *text;
    ulna_status status;
    int line, column; /* 0: none, or not asked */
    const char *message;
} mistake;

static const mistake skeleton_mistakes[] = {
    {"hello\n", ULNA_ERR_PARSE, 0, 0, "no root and no bones"},
    {":units\n length\n", ULNA_ERR_PARSE, 2, 2, "no value"},
    {":units\n length 0\n", ULNA_ERR_PARSE, 2, 9, "above 0"},
    {":units\n length -1\n", ULNA_ERR_PARSE, 2, 9, "above 0"},
    {":units\n length 1e-320\n", ULNA_ERR_PARSE, 2, 9, "above 0"},
    {":units\n length 1e-12\n", ULNA_ERR_PARSE, 2, 9, "mean 1e-9 to 1e9 metres"},
    {":units\n angle grad\n", ULNA_ERR_PARSE, 2, 8, "deg or rad"},
    {":root\norder TX TQ\n", ULNA_ERR_PARSE, 2, 10, "'TQ'"},
    {":root\norder TX tx\n", ULNA_ERR_PARSE, 2, 10, "twice"},
    {":root\norder TX l\n", ULNA_ERR_UNSUPPORTED, 2, 10, "'l'"},
    {":root\naxis XXZ\n", ULNA_ERR_PARSE, 2, 6, "XYZ"},
    {":root\naxis\n", ULNA_ERR_PARSE, 2, 5, "XYZ"},
    {":root\nposition 1 2\n", ULNA_ERR_PARSE, 2, 13, "3 numbers"},
    {":root\norientation 1 2 x\n", ULNA_ERR_PARSE, 2, 17, "3 numbers"},
    {":root\nposition 1 2 nan\n", ULNA_ERR_PARSE, 2, 14, "3 numbers"},
    {":bonedata\nname a\n", ULNA_ERR_PARSE, 2, 1, "begin"},
    {":bonedata\nbegin\nname a\n", ULNA_ERR_PARSE, 3, 1, "ends inside a bone"},
    {":bonedata\nbegin\nname a\nbegin\n", ULNA_ERR_PARSE, 4, 1, "end of a bone is missing"},
    {":bonedata\nbegin\nname a\n:hierarchy\n", ULNA_ERR_PARSE, 4, 1, "end of a bone is missing"},
    {":bonedata\nbegin\nend\n", ULNA_ERR_PARSE, 3, 1, "no name"},
    {":bonedata\nbegin\nname\n", ULNA_ERR_PARSE, 3, 5, "missing"},
    {":bonedata\nbegin\nlength x\n", ULNA_ERR_PARSE, 3, 8, "1 number"},
    {":bonedata\nbegin\nlength 1e999\n", ULNA_ERR_PARSE, 3, 8, "1 number"},
    {":bonedata\nbegin\ndirection 1 2\n", ULNA_ERR_PARSE, 3, 14, "3 numbers"},
    {":bonedata\nbegin\naxis 0 0 0 ABC\n", ULNA_ERR_PARSE, 3, 12, "XYZ"},
    {":bonedata\nbegin\naxis 0 0 XYZ\n", ULNA_ERR_PARSE, 3, 10, "3 numbers"},
    {":bonedata\nbegin\ndof rx l\n", ULNA_ERR_UNSUPPORTED, 3, 8, "change their length"},
    {":bonedata\nbegin\ndof rw\n", ULNA_ERR_PARSE, 3, 5, "'rw'"},
    {":bonedata\nbegin\ndof rx\nlimits (1 a)\n", ULNA_ERR_PARSE, 4, 11, "pairs of numbers"},
    {":bonedata\nbegin\ndof rx\nlimits (1 2)\n(-l80 3)\n", ULNA_ERR_PARSE, 5, 2, "pairs of numbers"},
    {":bonedata\nbegin\nlimits 1 2 3 4 5 6 7 8 9 0 1 2 3\n", ULNA_ERR_PARSE, 3, 32, "more limits"},
    {":root\n:bonedata\nbegin\nname a\nend\nbegin\nname a\nend\n", ULNA_ERR_MODEL, 6, 0, "\"a\""},
    {":root\n:bonedata\nbegin\nname root\nend\n", ULNA_ERR_MODEL, 3, 0, "\"root\""},
    {":bonedata\nbegin\nname a\nend\n:hierarchy\nroot b\n", ULNA_ERR_PARSE, 6, 6, "'b'"},
    {":bonedata\nbegin\nname a\nend\n:hierarchy\nb a\n", ULNA_ERR_PARSE, 6, 1, "'b'"},
    {":bonedata\nbegin\nname a\nend\n:hierarchy\na root\n", ULNA_ERR_PARSE, 6, 3, "the root cannot"},
    {":bonedata\nbegin\nname a\nend\n:hierarchy\na a\n", ULNA_ERR_PARSE, 6, 3, "its own parent"},
    {":bonedata\nbegin\nname a\nend\n:hierarchy\nroot a a\n", ULNA_ERR_PARSE, 6, 8, "two parents"},
    {":bonedata\nbegin\nname a\nend\n", ULNA_ERR_MODEL, 2, 0, "'a' is not connected to the root"},
    {":bonedata\nbegin\nname a\nend\nbegin\nname b\nend\nbegin\nname c\nend\n:hierarchy\nroot a\nb c\nc b\n",
     ULNA_ERR_MODEL, 5, 0, "'b' is not connected to the root"},
    {":units\nlength 1e-9\n:root\n:bonedata\nbegin\nname a\ndirection 1 0 0\nlength 1e304\nend\n:hierarchy\nroot a\n",
     ULNA_ERR_NUMBER, 5, 0, "finite"},
};

static const mistake motion_mistakes[] = {
    {":DEGREES\nroot 1 2 3 4 5 6\n", ULNA_ERR_PARSE, 2, 1, "first frame number is missing"},
    {":DEGREES\n# nothing\n", ULNA_ERR_PARSE, 0, 0, "no frames"},
    {"1\nroot 1 2 3 4 5\n", ULNA_ERR_PARSE, 2, 1, "needs 6 values, but has 5"},
    {"1\nroot 1 2 3 4 5 6 7\n", ULNA_ERR_PARSE, 2, 18, "more than its 6 values"},
    {"1\nroot 1 2 3 x 5 6\n", ULNA_ERR_PARSE, 2, 12, "'x' is not a number"},
    {"1\nroot 1 2 3 nan 5 6\n", ULNA_ERR_PARSE, 2, 12, "'nan' is not a number"},
    {"1\nroot 1 2 3 1e999 5 6\n", ULNA_ERR_PARSE, 2, 12, "'1e999' is not a number"},
    {"1\nroot 1 2 3 4 5 6\n2\narm x\nroot 1 2 3 4 5 6\n", ULNA_ERR_PARSE, 4, 5, "'x' is not a number"},
    {"1\nroot 1 2 3 4 5 6\n2 3\nroot 1 2 3 4 5 6\n", ULNA_ERR_PARSE, 3, 3, "alone"},
};

static void check_mistakes(const mistake *mistakes, size_t count, ulna_format format, const ulna_read_options *options)
{
    for (size_t i = 0; i < count; i++) {
        const mistake *wrong = &mistakes[i];
        ulna_error error = {.status = ULNA_ERR_STATE, .line = 77, .column = 77, .byte = 7, .path = "old"};
        ulna_content content = ulna_content_empty(NULL);
        ulna_status status = ulna_content_read(wrong->text, strlen(wrong->text), format, options, &content, &error);
        int good = status == wrong->status && error.status == status && !content.model && error.line == wrong->line &&
                   error.column == wrong->column && strstr(error.message, wrong->message) && !*error.path &&
                   (error.column > 0) == (error.byte >= 0) && content.clip.frame_count == 0 && !content.channels;
        if (!good)
            fail_msg("%s\ngives %d:%d (byte %lld), %s: %s", wrong->text, error.line, error.column, error.byte,
                     ulna_status_text(status), error.message);
        assert_true(content.format == ULNA_FORMAT_UNKNOWN && content.source.unit_m == 0);
        ulna_content_release(&content);
    }
}

static void mistakes_are_placed(void **state)
{
    (void)state;
    check_mistakes(skeleton_mistakes, sizeof skeleton_mistakes / sizeof *skeleton_mistakes, ULNA_FORMAT_ASF, NULL);
    ulna_content c = read_text(HINGE, ULNA_FORMAT_ASF, NULL);
    ulna_read_options options = ulna_read_options_for(&c);
    check_mistakes(motion_mistakes, sizeof motion_mistakes / sizeof *motion_mistakes, ULNA_FORMAT_AMC, &options);
    options.model = NULL;
    const mistake alone = {"1\nroot 1 2 3 4 5 6\n", ULNA_ERR_STATE, 0, 0, "skeleton"};
    check_mistakes(&alone, 1, ULNA_FORMAT_AMC, &options);
    ulna_content_release(&c);
}

/* Frames that name nothing would take memory without end. */
static void memory_is_bounded_by_the_file(void **state)
{
    (void)state;
    ulna_content c = read_text(HINGE, ULNA_FORMAT_ASF, NULL), m = ulna_content_empty(NULL);
    ulna_read_options options = ulna_read_options_for(&c);
    enum { LINES = 60000 };
    char *text = malloc(2 * LINES + 1);
    for (int i = 0; i < LINES; i++)
        text[2 * i] = '1', text[2 * i + 1] = '\n';
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    m = ulna_content_empty(&allocator);
    ulna_status status = ulna_content_read(text, 2 * LINES, ULNA_FORMAT_AMC, &options, &m, NULL);
    assert_int_equal(status, ULNA_OK); /* seven numbers a frame is not much */
    assert_true(memory.peak_bytes < 300 * 2 * LINES);
    ulna_content_release(&m);
    free(text);

    ulna_builder *builder = ulna_test_builder(); /* seven thousand is */
    for (int i = 0, parent = ULNA_NONE; i < 7000; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        parent = ulna_test_add(builder, name, parent);
        ulna_test_set_joint(builder, parent, ulna_joint_revolute(1, 0, 0));
    }
    ulna_model *big = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    options = ulna_read_options_default();
    options.model = big;
    ulna_error error;
    m = ulna_content_empty(NULL);
    assert_says(ulna_content_read("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", 27, ULNA_FORMAT_AMC, &options, &m, &error),
                ULNA_ERR_LIMIT, "almost no bones");
    assert_int_equal(error.line, 10);
    ulna_model_destroy(big);
    ulna_content_release(&m);
    ulna_content_release(&c);
}

static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    const char *amc = ":DEGREES\n" FRAME(1, 2) FRAME(2, 3) FRAME(3, 4) "leg 1\n" FRAME(9, 4);
    ulna_content plain = read_text(HINGE, ULNA_FORMAT_ASF, NULL);
    for (int what = 0; what < 3; what++)
        for (long fail = 0;; fail++) {
            ulna_test_memory memory = {.fail_at = fail};
            ulna_allocator allocator = ulna_test_allocator(&memory);
            ulna_content content = ulna_content_empty(&allocator);
            ulna_read_options options = ulna_read_options_for(&plain);
            options.unit_m = 0;
            options.ball = what == 2 ? ULNA_BALL_QUATERNION : ULNA_BALL_EULER;
            ulna_error error;
            const char *text = what == 1 ? amc : HINGE;
            ulna_status status = ulna_content_read(text, strlen(text), what == 1 ? ULNA_FORMAT_AMC : ULNA_FORMAT_ASF,
                                                   &options, &content, &error);
            size_t dropped = content.remarks.dropped;
            ulna_content_release(&content);
            ulna_test_memory_check(&memory);
            if (!memory.failed) {
                assert_int_equal(status, ULNA_OK);
                break;
            }
            if (status == ULNA_OK)
                assert_true(dropped > 0); /* only a remark had no room */
            else
                assert_true(status == ULNA_ERR_MEMORY && error.status == ULNA_ERR_MEMORY);
        }
    ulna_content_release(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_skeletons_are_remarked_upon),
        cmocka_unit_test(free_ends_find_a_name),
        cmocka_unit_test(an_assumed_unit_is_remarked_upon),
        cmocka_unit_test(odd_motions_are_remarked_upon),
        cmocka_unit_test(a_cut_last_frame_is_left_out),
        cmocka_unit_test(formats_are_told_apart),
        cmocka_unit_test(mistakes_are_placed),
        cmocka_unit_test(memory_is_bounded_by_the_file),
        cmocka_unit_test(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests_name("acclaim_errors", tests, NULL, NULL);
}
