/* Markers that get each other's names: found where they leap, exchanged back, and reported. */
#include <math.h>
#include <string.h>

#include "support_swing.h"
#include "ulna/calibrate.h"
#include "ulna/formats.h"

enum { FRAMES = 200 };

static int find(const ulna_test_swing *s, const char *name)
{
    for (size_t i = 0; i < s->set.count; i++)
        if (strcmp(s->set.items[i].marker, name) == 0)
            return (int)i;
    fail_msg("no marker %s", name);
    return ULNA_NONE;
}

static double *place(ulna_test_swing *s, int frame, int marker)
{
    return ulna_recording_frame(&s->recording, frame) + 3 * marker;
}

static void exchange(ulna_test_swing *s, int a, int b, int first, int last)
{
    for (int f = first; f < last; f++)
        for (int k = 0; k < 3; k++) {
            double kept = place(s, f, a)[k];
            place(s, f, a)[k] = place(s, f, b)[k];
            place(s, f, b)[k] = kept;
        }
}

static ulna_track_result track(const ulna_test_swing *s, const ulna_track_options *options)
{
    ulna_take_options o = ulna_take_options_default();
    ulna_take *take = NULL;
    ulna_track_result result;
    ulna_error error;
    o.model = s->model;
    o.recording = &s->recording;
    o.set = &s->set;
    if (ulna_take_create(&o, &take, &error) || ulna_track(take, options, &result, &error))
        fail_msg("%s", error.message);
    ulna_take_destroy(take);
    return result;
}

static void assert_swap(const ulna_track_result *r, int i, int a, int b, int first, int last)
{
    assert_true(i < r->swap_count);
    assert_int_equal(r->swaps[i].a, a < b ? a : b);
    assert_int_equal(r->swaps[i].b, a < b ? b : a);
    assert_int_equal(r->swaps[i].first, first);
    assert_int_equal(r->swaps[i].last, last);
}

static void assert_poses(const ulna_track_result *r, const ulna_track_result *expected)
{
    for (int i = 0; i < r->clip.frame_count * r->clip.coordinate_count; i++)
        if (fabs(r->clip.q[i] - expected->clip.q[i]) > 1e-9)
            fail_msg("frame %d differs by %g", i / r->clip.coordinate_count, r->clip.q[i] - expected->clip.q[i]);
}

/* Two markers of a wrist are near each other: exchanged they rotate the forearm by half a turn, and fit nearly as well. */
static void neighbours_are_exchanged_back(void **state)
{
    (void)state;
    const char *const pairs[][2] = {{"LWRA", "LWRB"}, {"LANK", "LHEE"}, {"LKNE", "RKNE"}, {"RFHD", "RBHD"}};
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_track_result expected = track(&s, NULL);
    assert_int_equal(expected.swap_count, 0);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int a = find(&s, pairs[i][0]), b = find(&s, pairs[i][1]);
        exchange(&s, a, b, 60, 100);
        ulna_track_result r = track(&s, NULL);
        assert_int_equal(r.swap_count, 1);
        assert_swap(&r, 0, a, b, 60, 99);
        assert_poses(&r, &expected);
        assert_int_equal(r.summary.lost + r.summary.doubtful + r.summary.bridged, 0);
        assert_int_equal(r.trust.verdict, ULNA_VERDICT_LOOK);
        assert_true(r.trust.reasons & ULNA_REASON_MARKERS);
        assert_true(r.frames[80].worst > 0.03); /* distances are those of the recorded names */
        ulna_track_result_release(&r);
        exchange(&s, a, b, 60, 100);
    }
    ulna_track_result_release(&expected);
    ulna_test_swing_release(&s);
}

/* At the ends of the take, in a single frame, and over a gap of one. */
static void names_of_most_frames_are_right(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_track_result expected = track(&s, NULL);
    int a = find(&s, "LWRA"), b = find(&s, "LWRB");
    exchange(&s, a, b, 0, 30);
    exchange(&s, a, b, 80, 81);
    exchange(&s, a, b, 150, FRAMES);
    ulna_track_result r = track(&s, NULL);
    assert_int_equal(r.swap_count, 3);
    assert_swap(&r, 0, a, b, 0, 29);
    assert_swap(&r, 1, a, b, 80, 80);
    assert_swap(&r, 2, a, b, 150, FRAMES - 1);
    assert_poses(&r, &expected);
    ulna_track_result_release(&r);
    ulna_track_result_release(&expected);

    exchange(&s, a, b, 0, 30);
    exchange(&s, a, b, 80, 81);
    place(&s, 150, a)[0] = place(&s, 150, b)[1] = (double)NAN;
    r = track(&s, NULL);
    assert_int_equal(r.swap_count, 1);
    assert_swap(&r, 0, a, b, 151, FRAMES - 1);
    ulna_track_result_release(&r);
    ulna_test_swing_release(&s);
}

/* However few frames have the right names, and for all markers of a limb at once: the skeleton says which ones are right. */
static void names_that_fit_are_right(void **state)
{
    (void)state;
    static const char *const groups[][8] = {{"LWRA", "LWRB"},
                                            {"LKNE", "RKNE"},
                                            {"RTHI", "RKNE"},
                                            {"LFRM", "RFRM", "LWRA", "RWRA", "LWRB", "RWRB", "LFIN", "RFIN"}};
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_track_result expected = track(&s, NULL);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        for (int k = 0; k < 8 && groups[i][k]; k += 2)
            exchange(&s, find(&s, groups[i][k]), find(&s, groups[i][k + 1]), 30, FRAMES);
        ulna_track_result r = track(&s, NULL);
        assert_swap(&r, 0, find(&s, groups[i][0]), find(&s, groups[i][1]), 30, FRAMES - 1);
        assert_poses(&r, &expected);
        assert_int_equal(r.trust.verdict, ULNA_VERDICT_LOOK);
        assert_int_equal(r.trust.misplaced, 0);
        assert_true(r.trust.typical_rms < 0.01);
        ulna_track_result_release(&r);
        for (int k = 0; k < 8 && groups[i][k]; k += 2)
            exchange(&s, find(&s, groups[i][k]), find(&s, groups[i][k + 1]), 30, FRAMES);
    }
    ulna_track_result_release(&expected);
    ulna_test_swing_release(&s);
}

static ulna_content load(const char *name)
{
    char path[512];
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    if (ulna_content_load(ulna_test_path(path, sizeof path, ulna_test_data_dir(), name), NULL, &content, &error))
        fail_msg("%s: %s", name, error.message);
    return content;
}

static ulna_calibration calibrate(const ulna_content *skeleton, const ulna_content *markers)
{
    ulna_take *take = NULL;
    ulna_calibration found = {0};
    ulna_error error;
    ulna_take_options options = ulna_take_options_for(skeleton, markers);
    options.attach = ULNA_ATTACH_NAMES;
    if (ulna_take_create(&options, &take, &error) || ulna_calibrate(take, NULL, &found, &error))
        fail_msg("%s", error.message);
    ulna_take_destroy(take);
    return found;
}

/* Offsets of a take in which most frames have wrong names are those of the right ones. Of HDM05 and CMU, where the data are. */
static void calibrations_see_names_exchanged_back(void **state)
{
    (void)state;
    static const char *const files[][2] = {{"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.c3d"},
                                           {"cmu/02.asf", "cmu/02_01.c3d"}};
    static const char *const pairs[][2] = {{"LKNE", "RKNE"}, {"RTHI", "RKNE"}, {"LWRA", "RWRA"}, {"LSHO", "LUPA"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
            ulna_content skeleton = load(files[i][0]), markers = load(files[i][1]);
            ulna_calibration expected = calibrate(&skeleton, &markers);
            ulna_recording *r = &markers.recording;
            double *x = r->positions;
            int a = ulna_recording_find(r, pairs[k][0]), b = ulna_recording_find(r, pairs[k][1]);
            assert_true(a != ULNA_NONE && b != ULNA_NONE);
            for (int f = 0; f < r->frame_count; f++, x += 3 * (ptrdiff_t)r->marker_count)
                for (int c = 0; c < 3 && f >= r->frame_count / 4; c++) {
                    double kept = x[3 * a + c];
                    x[3 * a + c] = x[3 * b + c];
                    x[3 * b + c] = kept;
                }
            ulna_calibration found = calibrate(&skeleton, &markers);
            for (size_t m = 0; m < found.set.count; m++)
                for (int c = 0; c < 3; c++)
                    if (fabs(found.set.items[m].offset[c] - expected.set.items[m].offset[c]) > 1e-9)
                        fail_msg("%s: with %s and %s exchanged, %s is elsewhere", files[i][1], pairs[k][0], pairs[k][1],
                                 found.set.items[m].marker);
            ulna_calibration_release(&found);
            ulna_calibration_release(&expected);
            ulna_content_release(&markers);
            ulna_content_release(&skeleton);
        }
}

/* A few frames before, most markers are not where they were going: that is no reason to count them as strays, and to miss what follows. */
static void a_jerk_hides_no_exchange(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    int a = find(&s, "LKNE"), b = find(&s, "RKNE");
    for (int f = 58; f < FRAMES; f++)
        for (int m = 0; m < s.recording.marker_count; m++)
            place(&s, f, m)[1] += m % 3 && m != a && m != b ? 0.03 : 0.1;
    ulna_track_result expected = track(&s, NULL);
    exchange(&s, a, b, 60, FRAMES);
    ulna_track_result r = track(&s, NULL);
    assert_swap(&r, 0, a, b, 60, FRAMES - 1);
    assert_poses(&r, &expected);
    ulna_track_result_release(&expected);
    ulna_track_result_release(&r);
    ulna_test_swing_release(&s);
}

/* A third marker takes part: A to B, then B to C. */
static void three_names_go_round(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_track_result expected = track(&s, NULL);
    int a = find(&s, "LANK"), b = find(&s, "LHEE"), c = find(&s, "LTOE");
    exchange(&s, a, b, 120, FRAMES);
    exchange(&s, b, c, 150, FRAMES);
    ulna_track_result r = track(&s, NULL);
    assert_poses(&r, &expected);
    assert_int_equal(r.trust.verdict, ULNA_VERDICT_LOOK);
    ulna_track_result_release(&r);
    ulna_track_result_release(&expected);
    ulna_test_swing_release(&s);
}

/* Markers that pass each other fast, spikes, and a recording that leaps as a whole are no exchange of names; least squares, and a
 * tracking that knows no later frames, take names as they are. */
static void what_is_no_exchange(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    int a = find(&s, "LFIN"), b = find(&s, "RFIN");
    s.set.items[a].weight = s.set.items[b].weight = 0;
    for (int f = 0; f < FRAMES; f++)
        for (int k = 0; k < 3; k++) {
            double there = f % 50 - 24.5, way = k == 0 ? 0.04 * (f / 50 % 2 ? -there : there) : k == 1 ? 0.01 : 1;
            place(&s, f, a)[k] = way;
            place(&s, f, b)[k] = k == 2 ? way : -way;
        }
    for (int f = 20; f < FRAMES; f += 20)
        place(&s, f, find(&s, "LKNE"))[0] += 0.3;
    ulna_track_result r = track(&s, NULL);
    assert_int_equal(r.swap_count, 0);
    ulna_track_result_release(&r);
    a = find(&s, "LWRA");
    b = find(&s, "LWRB");
    exchange(&s, a, b, 60, 100);
    ulna_track_options options = ulna_track_options_default();
    options.loss = ULNA_LOSS_SQUARE;
    r = track(&s, &options);
    assert_int_equal(r.swap_count, 0);
    ulna_track_result_release(&r);
    ulna_test_swing_release(&s);
}

/* Names that go wrong all the time: no crash, no end in sight, nothing is exchanged. */
static void hundreds_of_exchanges_are_left_alone(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    int a = find(&s, "LWRA"), b = find(&s, "LWRB");
    for (int f = 0; f < FRAMES; f += 2)
        exchange(&s, a, b, f, f + 1);
    ulna_track_result r = track(&s, NULL);
    assert_true(r.swap_count <= 64);
    ulna_track_result_release(&r);
    ulna_test_swing_release(&s);
}

static int is_unsure(const ulna_track_result *r)
{
    for (int i = 0; i < r->findings.count; i++)
        if (strstr(r->findings.list[i].text, "does not tell which of the names are right"))
            return 1;
    return 0;
}

/* Two markers at the same place on a bone, as far as the offsets say: nothing but the majority is left, and that is said. */
static void names_that_nothing_tells_are_unsure(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    int a = find(&s, "LWRA"), b = find(&s, "LWRB");
    exchange(&s, a, b, 30, FRAMES);
    ulna_track_result r = track(&s, NULL);
    assert_false(is_unsure(&r));
    ulna_track_result_release(&r);
    for (int k = 0; k < 3; k++)
        s.set.items[a].offset[k] = s.set.items[b].offset[k] =
            0.5 * (s.set.items[a].offset[k] + s.set.items[b].offset[k]);
    r = track(&s, NULL);
    assert_swap(&r, 0, a, b, 0, 29);
    assert_true(is_unsure(&r));
    ulna_track_result_release(&r);
    ulna_test_swing_release(&s);
}

/* Two exchanges with a marker in common: in the end, the first of three has the place of the last. */
static void exchanges_may_share_a_marker(void **state)
{
    (void)state;
    static const char *const names[][3] = {
        {"LELB", "LWRA", "LFIN"}, {"LKNE", "LANK", "LTOE"}, {"LKNE", "RKNE", "RANK"}};
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_track_result expected = track(&s, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int a = find(&s, names[i][0]), b = find(&s, names[i][1]), c = find(&s, names[i][2]);
        exchange(&s, a, b, 0, 50);
        exchange(&s, b, c, 150, FRAMES);
        ulna_track_result r = track(&s, NULL);
        assert_poses(&r, &expected);
        ulna_track_result_release(&r);
        exchange(&s, b, c, 150, FRAMES);
        exchange(&s, a, b, 0, 50);
    }
    ulna_track_result_release(&expected);
    ulna_test_swing_release(&s);
}

/* Somebody who runs, from the beginning of the recording or from its middle on, is not cut into pieces; and his names are exchanged back. */
static void fast_bodies_are_no_cuts(void **state)
{
    (void)state;
    static const double steps[] = {0.03, 0.07, 0.12, 0.3}; /* metres a frame */
    for (int n = 0; n < 8; n++) {
        ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
        for (int f = 0; f < FRAMES; f++)
            for (int m = 0; m < s.recording.marker_count; m++)
                place(&s, f, m)[0] += steps[n % 4] * (n < 4 ? f : f > 80 ? f - 80 : 0);
        int a = find(&s, "LWRA"), b = find(&s, "LWRB");
        exchange(&s, a, b, 120, 150);
        ulna_track_result r = track(&s, NULL);
        assert_int_equal(r.summary.jumps, 0);
        assert_int_equal(r.swap_count, 1);
        assert_swap(&r, 0, a, b, 120, 149);
        ulna_track_result_release(&r);
        ulna_test_swing_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_nothing_tells_are_unsure),
        cmocka_unit_test(exchanges_may_share_a_marker),
        cmocka_unit_test(fast_bodies_are_no_cuts),
        cmocka_unit_test(neighbours_are_exchanged_back),
        cmocka_unit_test(names_of_most_frames_are_right),
        cmocka_unit_test(names_that_fit_are_right),
        ulna_test_needs("hdm05 cmu", cmocka_unit_test(calibrations_see_names_exchanged_back)),
        cmocka_unit_test(a_jerk_hides_no_exchange),
        cmocka_unit_test(three_names_go_round),
        cmocka_unit_test(what_is_no_exchange),
        cmocka_unit_test(hundreds_of_exchanges_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
