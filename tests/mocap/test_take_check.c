/* What a take finds that cannot be right: people, sizes, sides, zeros, numbers; and no false alarm on any recorded take. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mocap/take.h"
#include "support_mocap.h"
#include "support_swing.h"
#include "ulna/formats.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

static ulna_take_options options_of(const ulna_test_swing *s)
{
    ulna_take_options options = ulna_take_options_default();
    options.model = s->model;
    options.recording = &s->recording;
    options.set = &s->set;
    options.up = options.model_up = 'y';
    options.check = 1;
    return options;
}

static ulna_take *make(const ulna_take_options *options)
{
    ulna_take *take = NULL;
    ulna_error error;
    if (ulna_take_create(options, &take, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    return take;
}

static unsigned doubts_of(const ulna_test_swing *s)
{
    ulna_take_options options = options_of(s);
    ulna_take *take = make(&options);
    unsigned doubts = take->doubts;
    ulna_take_destroy(take);
    return doubts;
}

static void scale(ulna_recording *r, double x, double yz)
{
    size_t count = (size_t)r->frame_count * (size_t)r->marker_count;
    for (size_t i = 0; i < 3 * count; i++)
        r->positions[i] *= i % 3 ? yz : x;
}

static void put(ulna_recording *r, int frame, int marker, double value)
{
    for (int k = 0; k < 3; k++)
        ulna_recording_frame(r, frame)[3 * marker + k] = value;
}

/* ---- sizes, sides, numbers of markers --------------------------------------------------------------------------------------- */

static void sizes_and_sides_are_checked(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(40, 0);
    ulna_take_options options = options_of(&s);
    ulna_take *take = make(&options);
    assert_int_equal(take->doubts, 0);
    assert_true(take->fit[0] < 1e-3 && isnan(take->fit[1])); /* no need to try */
    assert_true(fabs(take->size_ratio - 1) < 0.1 && take->size_factor == 1);
    assert_int_equal(take->most_seen, s.set.count);
    ulna_take_destroy(take);
    for (int power = -3; power <= 3; power++) {
        double factor = pow(10, power);
        scale(&s.recording, factor, factor);
        take = make(&options);
        assert_int_equal(take->doubts, power ? ULNA_DOUBT_SIZE : 0);
        assert_true(fabs(take->size_factor / factor - 1) < 1e-12);
        ulna_take_destroy(take);
        scale(&s.recording, 1 / factor, 1 / factor);
    }
    scale(&s.recording, 25.4, 25.4); /* inches for millimetres: no power of ten */
    take = make(&options);
    assert_int_equal(take->doubts, ULNA_DOUBT_SIZE);
    assert_true(fabs(take->size_factor / take->size_ratio - 1) < 1e-12);
    assert_int_equal(take->findings.count, 1);
    assert_int_equal(take->findings.list[0].code, ULNA_DOUBT_SIZE);
    assert_non_null(strstr(take->findings.list[0].text, "times as far apart as on the skeleton"));
    ulna_take_destroy(take);
    scale(&s.recording, 0.6 / 25.4, 0.6 / 25.4); /* near 1: it is no power of ten */
    take = make(&options);
    assert_int_equal(take->doubts, ULNA_DOUBT_SIZE);
    assert_true(fabs(take->size_factor / take->size_ratio - 1) < 1e-12);
    ulna_take_destroy(take);
    scale(&s.recording, 1 / 0.6, 1 / 0.6);
    scale(&s.recording, -1, 1);
    take = make(&options);
    assert_true(take->doubts & ULNA_DOUBT_MIRRORED);
    assert_true(take->fit[1] < 1e-2 && take->fit[0] > 5 * take->fit[1]);
    ulna_take_destroy(take);
    options.check = 0;
    take = make(&options);
    assert_int_equal(take->doubts, 0);
    assert_true(isnan(take->fit[0]));
    ulna_take_destroy(take);
    ulna_test_swing_release(&s);
}

/* One marker that is 100 m away, in all frames, says nothing about the unit. */
static void strays_do_not_change_the_size(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(40, 0);
    for (int f = 0; f < 40; f++) {
        put(&s.recording, f, 7, 100);
        if (f % 2)
            put(&s.recording, f, 8, -900);
    }
    assert_int_equal(doubts_of(&s), 0);
    ulna_test_swing_release(&s);
}

static void few_markers_are_enough_where_the_root_is_fixed(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(10, 0);
    for (int f = 0; f < 10; f++)
        for (int m = 0; m < s.recording.marker_count; m++)
            if (m != f && m != 20)
                put(&s.recording, f, m, NAN); /* many markers, but two at a time */
    assert_int_equal(doubts_of(&s), ULNA_DOUBT_FEW);
    ulna_test_swing_release(&s);
    ulna_model *arm;
    ulna_recording one = ulna_recording_empty(NULL);
    assert_int_equal(ulna_sample_create("two-link", NULL, &arm, NULL), ULNA_OK);
    assert_int_equal(ulna_recording_resize(&one, 1, 1), ULNA_OK);
    snprintf(one.names[0], ULNA_MARKER_NAME, "%s", ulna_model_marker_name(arm, 0));
    one.positions[0] = 1;
    one.positions[1] = 1;
    one.positions[2] = 0;
    ulna_take_options options = ulna_take_options_default();
    options.model = arm;
    options.recording = &one;
    options.check = 1;
    ulna_take *take = make(&options);
    assert_int_equal(take->doubts, 0);
    ulna_take_destroy(take);
    ulna_recording_release(&one);
    ulna_model_destroy(arm);
}

/* ---- zeros -------------------------------------------------------------------------------------------------------------------- */

static void zeros_are_missing_unless_they_are_right(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(30, 0);
    double x[3];
    for (int f = 0; f < 30; f++) {
        put(&s.recording, f, 3, 0);
        if (f < 12)
            put(&s.recording, f, 9, 0);
    }
    ulna_take_options options = options_of(&s);
    ulna_take *take = make(&options);
    assert_int_equal(take->at_zero, 42);
    assert_int_equal(take->seen[3], 0);
    assert_int_equal(take->seen[9], 18);
    assert_int_equal(ulna_take_position(take, 0, 9, x), 0);
    assert_true(isnan(x[0]));
    assert_int_equal(ulna_take_position(take, 12, 9, x), 1);
    double *all = calloc(3 * take->set.count, sizeof *all); /* all of a frame at once, which is another way */
    for (int f = 0; f < 30; f++) {
        ulna_take_positions(take, f, all);
        assert_true(isnan(all[9]) && isnan(all[27]) == (f < 12) && !isnan(all[12]));
    }
    free(all);
    ulna_take_destroy(take);
    ulna_test_swing_release(&s);

    s = ulna_test_swing_make(30, 0); /* positions relative to one marker, as of key points */
    for (int f = 0; f < 30; f++) {
        double *frame = ulna_recording_frame(&s.recording, f), origin[3];
        memcpy(origin, frame + 60, sizeof origin);
        for (int i = 0; i < 3 * s.recording.marker_count; i++)
            frame[i] -= origin[i % 3];
    }
    options = options_of(&s);
    take = make(&options);
    assert_int_equal(take->at_zero, 0);
    assert_int_equal(take->seen[20], 30);
    assert_int_equal(ulna_take_position(take, 0, 20, x), 1);
    assert_int_equal(take->doubts, 0);
    ulna_take_destroy(take);
    ulna_test_swing_release(&s);
}

/* ---- people ---------------------------------------------------------------------------------------------------------------------- */

static ulna_recording two_people(const ulna_recording *one)
{
    ulna_recording two = ulna_recording_empty(NULL);
    int n = one->marker_count;
    assert_int_equal(ulna_recording_resize(&two, 2 * n + 2, one->frame_count), ULNA_OK);
    for (int m = 0; m < 2 * n; m++) {
        const char *name = strrchr(one->names[m % n], ':');
        snprintf(two.names[m], ULNA_MARKER_NAME, "%s:%.40s", m < n ? "Anna" : "Bert",
                 name ? name + 1 : one->names[m % n]);
        for (int f = 0; f < one->frame_count; f++)
            for (int k = 0; k < 3; k++)
                ulna_recording_frame(&two, f)[3 * m + k] =
                    ulna_recording_frame(one, f)[3 * (m % n) + k] + (m < n ? 0 : 1);
    }
    snprintf(two.names[2 * n], ULNA_MARKER_NAME, "Wand:tip"); /* a prop; and a marker without a name */
    two.names[2 * n + 1][0] = 0;
    two.first_frame = one->first_frame;
    return two;
}

static void a_take_has_one_person(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(6, 0);
    ulna_recording two = two_people(&s.recording);
    int n = s.recording.marker_count;
    double x[3];
    ulna_error error;
    ulna_take_options options = options_of(&s);
    options.recording = &two;
    ulna_take *take = make(&options);
    assert_int_equal(take->subject_count, 2);
    assert_string_equal(take->subjects[0], "Anna");
    assert_string_equal(take->subjects[1], "Bert");
    assert_int_equal(take->doubts, ULNA_DOUBT_SUBJECTS);
    ulna_take_destroy(take);
    options.subject = "Bert";
    take = make(&options);
    assert_int_equal(take->subject, 1);
    assert_int_equal(take->doubts, 0);
    assert_int_equal(take->set.count, s.set.count);
    assert_int_equal(take->source[0], n);
    assert_int_equal(take->unused_count, 1); /* the prop; Anna's are hidden */
    assert_int_equal(take->unused[0], 2 * n);
    assert_int_equal(ulna_take_position(take, 0, 0, x), 1);
    assert_true(x[0] == ulna_recording_frame(&two, 0)[3 * n]);
    ulna_take_destroy(take);
    options.subject = "Carl";
    assert_int_equal(ulna_take_create(&options, &take, &error), ULNA_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "no subject 'Carl'; it has 'Anna', 'Bert'"));
    options.subject = NULL;
    for (size_t i = 0; i < s.set.count; i++) /* a table for Bert */
        memcpy(s.set.items[i].marker, two.names[(size_t)n + i], ULNA_MARKER_NAME);
    take = make(&options);
    assert_int_equal(take->doubts, 0);
    assert_int_equal(take->subject, 1);
    ulna_take_destroy(take);
    ulna_recording_release(&two);
    ulna_test_swing_release(&s);
}

/* Gives all names this prefix. */
static void rename_markers(ulna_recording *r, const char *prefix)
{
    for (int m = 0; m < r->marker_count; m++) {
        char name[ULNA_MARKER_NAME];
        memcpy(name, r->names[m], sizeof name);
        const char *colon = strrchr(name, ':');
        snprintf(r->names[m], ULNA_MARKER_NAME, "%s%.40s", prefix, colon ? colon + 1 : name);
    }
}

/* A prefix that all names have must be the subject's, also where there is one person only. */
static void the_only_person_is_known_by_name(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(6, 0);
    ulna_take_options options = options_of(&s);
    ulna_take *take = NULL;
    ulna_error error;
    options.subject = "Carl";
    rename_markers(&s.recording, "");
    ulna_take_destroy(make(&options)); /* names without a prefix may be anybody's */
    rename_markers(&s.recording, "Anna:");
    snprintf(s.recording.names[0], ULNA_MARKER_NAME, "*1"); /* unlabelled: nobody's */
    assert_int_equal(ulna_take_create(&options, &take, &error), ULNA_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "no subject 'Carl'; it has 'Anna'"));
    options.subject = "anna";
    ulna_take_destroy(make(&options));
    ulna_test_swing_release(&s);
}

/* What names alone say of a person does not depend on who else is there. */
static void the_markers_of_others_are_not_counted(void **state)
{
    (void)state;
    ulna_model *human;
    ulna_recording one = ulna_recording_empty(NULL);
    static const char *const names[] = {"LASI", "RASI", "LPSI", "RPSI", "LTHI", "LKNE", "LANK", "LTOE"};
    enum { COUNT = sizeof names / sizeof *names };
    assert_int_equal(ulna_sample_create("human", NULL, &human, NULL), ULNA_OK);
    assert_int_equal(ulna_recording_resize(&one, COUNT, 1), ULNA_OK);
    for (int m = 0; m < COUNT; m++) {
        snprintf(one.names[m], ULNA_MARKER_NAME, "Anna:%s", names[m]);
        for (int k = 0; k < 3; k++)
            one.positions[3 * m + k] = 0.1 * m + k;
    }
    ulna_recording two = two_people(&one);
    ulna_take_options options = ulna_take_options_default();
    options.model = human;
    options.attach = ULNA_ATTACH_NAMES;
    options.up = options.model_up = 'y';
    options.subject = "Anna";
    options.recording = &one;
    ulna_take *alone = make(&options);
    options.recording = &two;
    ulna_take *of_two = make(&options);
    assert_int_equal(of_two->set.count, alone->set.count);
    for (size_t i = 0; i < alone->set.count; i++) {
        assert_string_equal(of_two->set.items[i].marker, alone->set.items[i].marker);
        assert_string_equal(ulna_model_body_name(human, of_two->set.items[i].body),
                            ulna_model_body_name(human, alone->set.items[i].body));
    }
    assert_int_equal(of_two->named, alone->named);
    ulna_take_destroy(of_two);
    ulna_take_destroy(alone);
    ulna_recording_release(&two);
    ulna_recording_release(&one);
    ulna_model_destroy(human);
}

static void every_failure_of_memory_is_reported(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(6, 0);
    ulna_recording two = two_people(&s.recording);
    scale(&two, -1, 1);
    for (int f = 0; f < 6; f++)
        put(&two, f, 2, 0);
    ulna_take_options options = options_of(&s);
    options.recording = &two;
    options.subject = "Anna";
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_take *take = NULL;
        options.allocator = &allocator;
        ulna_status status = ulna_take_create(&options, &take, NULL);
        assert_int_equal(status, memory.failed ? ULNA_ERR_MEMORY : ULNA_OK);
        ulna_take_destroy(take);
        ulna_test_memory_check(&memory);
        if (!memory.failed)
            break;
    }
    ulna_recording_release(&two);
    ulna_test_swing_release(&s);
}

/* ---- hostile --------------------------------------------------------------------------------------------------------------------- */

static void nothing_at_all_ends_soon(void **state)
{
    (void)state;
    ulna_model *human;
    ulna_recording nothing = ulna_recording_empty(NULL);
    ulna_track_result result = {0};
    ulna_error error;
    assert_int_equal(ulna_sample_create("human", NULL, &human, NULL), ULNA_OK);
    assert_int_equal(ulna_recording_resize(&nothing, 2, 100000), ULNA_OK);
    snprintf(nothing.names[0], ULNA_MARKER_NAME, "LKNE");
    ulna_take_options options = ulna_take_options_default();
    options.model = human;
    options.recording = &nothing;
    options.check = 1;
    ulna_take *take = make(&options);
    assert_int_equal(take->doubts, ULNA_DOUBT_FEW);
    assert_int_equal(take->most_seen, 0);
    assert_true(isnan(take->size_ratio));
    assert_int_not_equal(ulna_track(take, NULL, &result, &error), ULNA_OK);
    ulna_take_destroy(take);
    ulna_recording_release(&nothing);
    ulna_model_destroy(human);
}

/* Weights and offsets at the end of what numbers can hold: a result is finite, or there is none. */
static void results_are_numbers(void **state)
{
    (void)state;
    static const double weights[] = {1e308, 1e200, 1e-300}, offsets[] = {1e308, 1e160, 1e20};
    for (int i = 0; i < 6; i++) {
        ulna_test_swing s = ulna_test_swing_make(5, 0);
        ulna_track_result result = {0};
        ulna_error error;
        for (size_t m = 0; m < s.set.count; m++)
            if (i < 3)
                s.set.items[m].weight = weights[i];
            else if (m % 7 == 0)
                s.set.items[m].offset[1] = offsets[i - 3];
        ulna_take_options options = options_of(&s);
        ulna_take *take = NULL;
        ulna_status status = ulna_take_create(&options, &take, &error);
        if (status == ULNA_OK)
            status = ulna_track(take, NULL, &result, &error);
        for (int c = 0; status == ULNA_OK && c < 5 * result.clip.coordinate_count; c++)
            assert_true(isfinite(result.clip.q[c]));
        assert_true(status == ULNA_OK || error.message[0]);
        ulna_track_result_release(&result);
        ulna_take_destroy(take);
        ulna_test_swing_release(&s);
    }
    ulna_test_swing s = ulna_test_swing_make(2, 0);
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    s.set.items[4].offset[2] = NAN;
    assert_int_equal(ulna_marker_set_write_csv(&s.set, s.model, &sink, NULL), ULNA_ERR_NUMBER);
    assert_int_equal(text.length, 0);
    ulna_text_release(&text);
    ulna_test_swing_release(&s);
}

/* ---- recorded takes ----------------------------------------------------------------------------------------------------------------- */

static ulna_content load(const char *name)
{
    char path[512];
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    if (strcmp(name, "human") == 0)
        assert_int_equal(ulna_sample_create("human", NULL, &content.model, NULL), ULNA_OK);
    else if (ulna_content_load(ulna_test_path(path, sizeof path, ulna_test_data_dir(), name), NULL, &content, &error))
        fail_msg("%s: %s", name, error.message);
    return content;
}

static unsigned doubts_of_files(const ulna_content *skeleton, const ulna_content *markers, const char *name)
{
    ulna_take *take = NULL;
    ulna_error error;
    ulna_take_options options = ulna_take_options_for(skeleton, markers);
    options.attach = ULNA_ATTACH_NAMES;
    options.check = 1;
    if (ulna_take_create(&options, &take, &error))
        fail_msg("%s: %s", name, error.message);
    unsigned doubts = take->doubts;
    ulna_take_destroy(take);
    return doubts;
}

/* Offsets by names only are 4 to 11 cm off, which is the hardest case. `is_found`: a mirror image is recognized. */
static void recorded_takes_give_no_alarm(void **state)
{
    (void)state;
    static const struct {
        const char *skeleton, *markers;
        int is_found;
    } files[] = {
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.c3d", 1},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-02_02_120.c3d", 1},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d", 1},
        {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.c3d", 1},
        {"hdm05/HDM_bk.asf", "hdm05/HDM_dg_06-03_03_120.c3d", 1}, /* another person's skeleton */
        {"cmu/02.asf", "cmu/02_01.c3d", 1},
        {"human", "cmu/02_01.c3d", 1},
        {"human", "hdm05/HDM_dg_03-05_02_120.c3d", 1},
        {"human", "c3d/btk_PiG_Calibration3_FF.c3d", 0},
        {"human", "c3d/btk_PiG_Motion3_FF.c3d", 0},
        {"human", "c3d/btk_shd01.c3d", 1},
        {"human", "c3d/mfr_innovative_sports_training.c3d", 1},
        {"human", "c3d/mfr_motion_analysis_corporation.c3d", 0},
        {"human", "c3d/s01_Eb015pr.c3d", 0},
        {"human", "c3d/s06_MACsample.c3d", 0},
        {"human", "c3d/s08_TESTAPI.c3d", 0},
        {"human", "c3d/s09_PlugInC3D.c3d", 1},
        {"human", "c3d/s28_BTS_type1.c3d", 0},
        {"human", "trc/formats/btk_Gait.trc", 1},
        {"human", "trc/formats/btk_Gait.c3d", 1},
        {"human", "trc/formats/motek_ballet_reduced.trc", 1},
        {"human", "trc/formats/osim_dataWithBlanksForMissingMarkers.trc", 0},
        {"human", "trc/formats/osim_dataWithNaNsOfDifferentCases.trc", 0},
        {"human", "trc/formats/osim_std_walking5_markers.trc", 1},
        {"human", "trc/formats/osim_walking5.c3d", 1},
        {"human", "trc/gait10dof18musc/subject01_walk.trc", 1},
        {"human", "trc/gait2354/subject01_static.trc", 1},
        {"human", "trc/gait2354/subject01_walk1.trc", 1},
        {"human", "trc/opensim_ik_test/subject01_synthetic_marker_data.trc", 1},
        {"human", "trc/rajagopal/motion_capture_walk.trc", 1},
        {"human", "trc/rajagopal/static_walk_2.trc", 1},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ulna_content skeleton = load(files[i].skeleton), markers = load(files[i].markers);
        unsigned doubts = doubts_of_files(&skeleton, &markers, files[i].markers);
        if (doubts)
            fail_msg("%s: doubts %u", files[i].markers, doubts);
        scale(&markers.recording, -1, 1);
        doubts = doubts_of_files(&skeleton, &markers, files[i].markers);
        if (files[i].is_found && !(doubts & ULNA_DOUBT_MIRRORED))
            fail_msg("%s: mirrored, and doubts %u", files[i].markers, doubts);
        ulna_content_release(&markers);
        ulna_content_release(&skeleton);
    }
}

/* ---- names ----------------------------------------------------------------------------------------------------------------------- */

/* Exchanges the positions of two markers, found without their prefixes, in all frames. */
static void exchange(ulna_recording *r, const char *a, const char *b)
{
    int i = ulna_recording_find(r, a), k = ulna_recording_find(r, b);
    assert_true(i != ULNA_NONE && k != ULNA_NONE);
    for (int f = 0; f < r->frame_count; f++)
        for (int c = 0; c < 3; c++) {
            double *x = ulna_recording_frame(r, f), kept = x[3 * i + c];
            x[3 * i + c] = x[3 * k + c];
            x[3 * k + c] = kept;
        }
}

static int is_of(const ulna_take *take, const char *a, const char *b)
{
    int found = 0;
    for (int i = 0; i < 2 && take->misnamed[i] != ULNA_NONE; i++) {
        const char *name = take->set.items[take->misnamed[i]].marker, *colon = strrchr(name, ':');
        name = colon ? colon + 1 : name;
        found |= strcmp(name, a) == 0 ? 1 : strcmp(name, b) == 0 ? 2 : 0;
    }
    return found == 3;
}

/* Two names of one limb, or of both sides. */
static void check_exchanged(const ulna_take_options *options, ulna_recording *r, const char *a, const char *b)
{
    exchange(r, a, b);
    ulna_take *take = make(options);
    if (take->doubts != ULNA_DOUBT_NAMES || !is_of(take, a, b))
        fail_msg("%s and %s exchanged: doubts %u, %s", a, b, take->doubts,
                 take->findings.count ? take->findings.list[0].text : "nothing");
    assert_true(take->findings.count == 1 && strstr(take->findings.list[0].text, "have each other's names"));
    ulna_take_destroy(take);
    exchange(r, a, b);
}

/* The markers of both sides, the first of them nearest to the body. */
static void check_parts(const ulna_take_options *options, ulna_recording *r, const char *const *names, int count)
{
    char left[8], right[8];
    for (int twice = 0; twice < 2; twice++) {
        for (int i = count - 1; i >= 0; i--) {
            snprintf(left, sizeof left, "L%s", names[i]);
            snprintf(right, sizeof right, "R%s", names[i]);
            exchange(r, left, right);
        }
        if (twice)
            return;
        ulna_take *take = make(options);
        if (take->doubts != ULNA_DOUBT_NAMES || take->misnamed_beyond < count - 2)
            fail_msg("%s and beyond exchanged: doubts %u, %s", left, take->doubts,
                     take->findings.count ? take->findings.list[0].text : "nothing");
        assert_non_null(strstr(take->findings.list[0].text, "and so have the markers farther out"));
        ulna_take_destroy(take);
    }
}

/* Many names that mean the left knee, and one right knee, which can be the partner of one only. */
static void partners_are_one_to_one(void **state)
{
    (void)state;
    static const char marks[] = "_-.+=~!@$%^&()?<>/|";
    enum { MARKS = sizeof marks - 1 };
    ulna_test_swing s = ulna_test_swing_make(60, 0);
    ulna_take_options options = options_of(&s);
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_recording r = ulna_recording_empty(NULL);
    int left = ulna_recording_find(&s.recording, "LKNE"), right = ulna_recording_find(&s.recording, "RKNE");
    assert_int_equal(ulna_recording_resize(&r, 2 * MARKS + 1, 60), ULNA_OK);
    for (int i = 0; i < 2 * MARKS + 1; i++) {
        char *name = r.names[i];
        snprintf(name, sizeof r.names[i], i == 2 * MARKS ? "RKNE" : i < MARKS ? "L%cKNE" : "LK%cNE", marks[i % MARKS]);
        for (size_t k = 0; k < s.set.count; k++)
            if (strcmp(s.set.items[k].marker, i == 2 * MARKS ? "RKNE" : "LKNE") == 0)
                assert_int_equal(ulna_marker_set_add(&set, name, s.set.items[k].body, s.set.items[k].offset, 1),
                                 ULNA_OK);
        for (int f = 0; f < 60; f++)
            for (int c = 0; c < 3; c++)
                ulna_recording_frame(&r, f)[3 * i + c] =
                    ulna_recording_frame(&s.recording, f)[3 * (i == 2 * MARKS ? right : left) + c] + 1e-3 * i;
    }
    options.recording = &r;
    options.set = &set;
    ulna_take_destroy(make(&options)); /* valgrind and the sanitizers look on */
    ulna_recording_release(&r);
    ulna_marker_set_release(&set);
    ulna_test_swing_release(&s);
}

static const char *const limb_pairs[][2] = {{"LKNE", "LANK"}, {"LELB", "LWRA"}, {"RUPA", "RELB"}, {"LSHN", "LKNE"},
                                            {"LANK", "RANK"}, {"LWRA", "RWRA"}, {"LKNE", "RKNE"}, {"LTOE", "RTOE"},
                                            {"RELB", "LELB"}, {"LSHO", "RSHO"}};
static const char *const feet[] = {"ANK", "HEE", "TOE", "MT5"}, *const hands[] = {"WRA", "WRB", "FIN"};

static void exchanged_neighbours_are_found(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(300, 0);
    ulna_take_options options = options_of(&s);
    for (size_t i = 0; i < sizeof limb_pairs / sizeof *limb_pairs; i++)
        check_exchanged(&options, &s.recording, limb_pairs[i][0], limb_pairs[i][1]);
    check_parts(&options, &s.recording, feet, 4);
    ulna_test_swing_release(&s);
}

/* By names only, where places are known least; in units of the file, whatever the size of the person. */
static void exchanged_neighbours_are_found_in_recordings(void **state)
{
    (void)state;
    static const char *const files[][2] = {{"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d"},
                                           {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.c3d"},
                                           {"cmu/02.asf", "cmu/02_01.c3d"},
                                           {"human", "cmu/02_01.c3d"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ulna_content skeleton = load(files[i][0]), markers = load(files[i][1]);
        ulna_take_options options = ulna_take_options_for(&skeleton, &markers);
        options.attach = ULNA_ATTACH_NAMES;
        for (size_t k = 0; k < sizeof limb_pairs / sizeof *limb_pairs; k++)
            check_exchanged(&options, &markers.recording, limb_pairs[k][0], limb_pairs[k][1]);
        check_parts(&options, &markers.recording, feet, 4);
        check_parts(&options, &markers.recording, hands, 3);
        ulna_content_release(&markers);
        ulna_content_release(&skeleton);
    }
}

/* Markers as people wear them, on what a motion file says. */
static ulna_recording markers_of_motion(const ulna_model *model, const ulna_clip *clip, const char *file)
{
    static const char *const names[] = {"FHD", "BHD", "SHO", "UPA", "ELB", "FRM", "WRA", "FIN",
                                        "FWT", "BWT", "THI", "KNE", "SHN", "ANK", "HEE", "TOE"};
    enum { NAMES = sizeof names / sizeof *names, MOST_FRAMES = 20 };
    ulna_recording r = ulna_recording_empty(NULL);
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_pose *pose;
    int frames = clip->frame_count < MOST_FRAMES ? clip->frame_count : MOST_FRAMES;
    assert_int_equal(ulna_recording_resize(&r, 2 * NAMES, frames), ULNA_OK);
    for (int m = 0; m < 2 * NAMES; m++)
        snprintf(r.names[m], ULNA_MARKER_NAME, "%c%s", m < NAMES ? 'L' : 'R', names[m % NAMES]);
    if (ulna_marker_set_from_names(model, &r, &set, NULL, NULL))
        fail_msg("%s: no names are known", file);
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    for (int f = 0; f < frames; f++) {
        for (int m = 0; m < 2 * NAMES; m++)
            put(&r, f, m, NAN);
        assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(clip, (f * clip->frame_count) / frames)), ULNA_OK);
        for (size_t i = 0; i < set.count; i++)
            ulna_pose_point(pose, set.items[i].body, set.items[i].offset,
                            ulna_recording_frame(&r, f) + 3 * ulna_recording_find(&r, set.items[i].marker));
    }
    ulna_pose_destroy(pose);
    ulna_marker_set_release(&set);
    return r;
}

/* Walking, kicking, boxing, jumping jacks, a pirouette, on skeletons of many programs; and legs exchanged. */
static void motions_give_no_alarm(void **state)
{
    (void)state;
    static const char *const files[][2] = {
        {"cmu/02.asf", "cmu/02_01.amc"},
        {"cmu/02.asf", "cmu/02_05.amc"},
        {"cmu/03.asf", "cmu/03_02.amc"},
        {"cmu/11.asf", "cmu/11_01.amc"},
        {"hdm05/HDM_bd.asf", "hdm05/HDM_bd_kickLFront1Reps_001_120.amc"},
        {"hdm05/HDM_bk.asf", "hdm05/HDM_bk_kickLFront1Reps_007_120.amc"},
        {"cmu/16_15_cgspeed_mb.bvh", NULL},
        {"cmu/16_35_cgspeed_mb.bvh", NULL},
        {"cmu/35_01_cgspeed_mb.bvh", NULL},
        {"bvh/animdraw_cmu1_jumping_jacks.bvh", NULL},
        {"bvh/assimp_Boxing_Toes_extra_frame.bvh", NULL},
        {"bvh/bvhtoolbox_walk01.bvh", NULL},
        {"bvh/makehuman_walk1.bvh", NULL},
        {"bvh/pymo_AV_8Walk_Meredith.bvh", NULL},
        {"bvh/threejs_pirouette.bvh", NULL},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512];
        ulna_error error;
        ulna_content skeleton = load(files[i][0]), motion = ulna_content_empty(NULL);
        ulna_read_options read = ulna_read_options_for(&skeleton);
        if (files[i][1] && ulna_content_load(ulna_test_path(path, sizeof path, ulna_test_data_dir(), files[i][1]),
                                             &read, &motion, &error))
            fail_msg("%s", error.message);
        ulna_recording r = markers_of_motion(skeleton.model, files[i][1] ? &motion.clip : &skeleton.clip, files[i][0]);
        ulna_take_options options = ulna_take_options_default();
        options.model = skeleton.model;
        options.recording = &r;
        options.attach = ULNA_ATTACH_NAMES;
        ulna_take *take = make(&options);
        if (take->doubts)
            fail_msg("%s: doubts %u, size %g", files[i][0], take->doubts, take->size_ratio);
        ulna_take_destroy(take);
        for (int m = 0; m < r.marker_count; m++)
            if (m % (r.marker_count / 2) >= 10)
                r.names[m][0] = r.names[m][0] == 'L' ? 'R' : 'L';
        take = make(&options);
        if (!(take->doubts & ULNA_DOUBT_PART))
            fail_msg("%s: exchanged legs are not found", files[i][0]);
        ulna_take_destroy(take);
        ulna_recording_release(&r);
        ulna_content_release(&motion);
        ulna_content_release(&skeleton);
    }
}

/* On a skeleton whose upper arms are lShldr and rShldr, arms that have each other's names were fitted, and trusted. */
static void exchanged_arms_of_poser_are_found(void **state)
{
    (void)state;
    static const char *const files[] = {"bvh/secondlife_per_joint_orders.bvh", "bvh/threejs_pirouette.bvh"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ulna_content skeleton = load(files[i]);
        ulna_recording r = markers_of_motion(skeleton.model, &skeleton.clip, files[i]);
        ulna_take_options options = ulna_take_options_default();
        options.model = skeleton.model;
        options.recording = &r;
        options.attach = ULNA_ATTACH_NAMES;
        for (int m = 0; m < r.marker_count; m++)
            if (m % (r.marker_count / 2) >= 3 && m % (r.marker_count / 2) < 8)
                r.names[m][0] = r.names[m][0] == 'L' ? 'R' : 'L';
        ulna_take *take = make(&options);
        assert_true(take->doubts & (ULNA_DOUBT_PART | ULNA_DOUBT_NAMES));
        ulna_take_destroy(take);
        ulna_recording_release(&r);
        ulna_content_release(&skeleton);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_sides_are_checked),
        cmocka_unit_test(strays_do_not_change_the_size),
        cmocka_unit_test(few_markers_are_enough_where_the_root_is_fixed),
        cmocka_unit_test(zeros_are_missing_unless_they_are_right),
        cmocka_unit_test(a_take_has_one_person),
        cmocka_unit_test(the_only_person_is_known_by_name),
        cmocka_unit_test(the_markers_of_others_are_not_counted),
        cmocka_unit_test(every_failure_of_memory_is_reported),
        cmocka_unit_test(nothing_at_all_ends_soon),
        cmocka_unit_test(results_are_numbers),
        cmocka_unit_test(partners_are_one_to_one),
        cmocka_unit_test(exchanged_neighbours_are_found),
        ulna_test_needs("hdm05 cmu", cmocka_unit_test(exchanged_neighbours_are_found_in_recordings)),
        ulna_test_needs("hdm05 cmu c3d trc", cmocka_unit_test(recorded_takes_give_no_alarm)),
        ulna_test_needs("cmu hdm05 bvh", cmocka_unit_test(motions_give_no_alarm)),
        ulna_test_needs("bvh", cmocka_unit_test(exchanged_arms_of_poser_are_found)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
