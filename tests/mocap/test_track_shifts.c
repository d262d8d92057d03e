/* Markers that shift on the skin and stay there: found, with marker and frame, and not where skin moves with the pose. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_mocap.h"
#include "support_swing.h"
#include "ulna/formats.h"
#include "ulna/kinematics.h"

enum { FRAMES = 600, EARLY = 200, AT = 360, NEAR = 15 };

static int find(const ulna_test_swing *s, const char *name)
{
    for (size_t i = 0; i < s->set.count; i++)
        if (strcmp(s->set.items[i].marker, name) == 0)
            return (int)i;
    fail_msg("no marker %s", name);
    return ULNA_NONE;
}

static ulna_track_result track(const ulna_test_swing *s)
{
    ulna_take *take = NULL;
    ulna_track_result result;
    ulna_error error;
    if (ulna_test_take(s->model, &s->set, &s->recording, NULL, NULL, &take, &error) ||
        ulna_track(take, NULL, &result, &error))
        fail_msg("%s", error.message);
    ulna_take_destroy(take);
    return result;
}

/* Moves a marker on its bone by `part` (frame) times 5 cm along the bone's axes. */
static void move(ulna_test_swing *s, int marker, double size, double (*part)(int frame))
{
    ulna_pose *pose;
    int body = s->set.items[marker].body;
    assert_int_equal(ulna_pose_create(s->model, NULL, &pose, NULL), ULNA_OK);
    for (int f = 0; f < s->frames; f++) {
        double r[9], by = size * part(f) / sqrt(3);
        assert_int_equal(ulna_pose_forward(pose, s->truth + (size_t)f * (size_t)s->nq), ULNA_OK);
        ulna_pose_body(pose, body, NULL, r);
        for (int k = 0; k < 3; k++)
            ulna_recording_frame(&s->recording, f)[3 * marker + k] += by * (r[3 * k] + r[3 * k + 1] - r[3 * k + 2]);
    }
    ulna_pose_destroy(pose);
}

/* Makes a marker missing in frames first .. end - 1. */
static void hide(ulna_test_swing *s, int marker, int first, int end)
{
    for (int f = first; f < end; f++)
        ulna_recording_frame(&s->recording, f)[3 * marker] = (double)NAN;
}

static double at_once(int frame)
{
    return frame >= AT;
}

static double back(int frame)
{
    return -at_once(frame);
}

static double early(int frame)
{
    return frame >= EARLY;
}

static double until_early(int frame)
{
    return frame < EARLY;
}

static double until_late(int frame)
{
    return frame < AT;
}

static double now_and_then(int frame) /* as skin does with the pose */
{
    return 0.5 + 0.5 * sin(0.03 * frame);
}

static double by_and_by(int frame)
{
    return fmin(1, fmax(0, (frame - 200) / 200.0));
}

static double slowly(int frame)
{
    return fmin(1, fmax(0, (frame - 100) / 400.0));
}

static const char *const names[] = {"LANK", "RKNE", "LTHI", "RWRA", "LELB", "C7", "STRN", "RFHD", "LFWT", "RTOE"};
enum { NAMES = sizeof names / sizeof *names };

static int is_told(const ulna_track_result *r, int marker)
{
    return r->shift_count == 1 && r->shifts[0].marker == marker && abs(r->shifts[0].frame - AT) <= NEAR;
}

static void a_shift_is_told(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_track_result none = track(&s);
    assert_int_equal(none.shift_count, 0);
    for (int i = 0; i < NAMES; i++) {
        int m = find(&s, names[i]);
        move(&s, m, 0.05, at_once);
        ulna_track_result r = track(&s);
        if (!is_told(&r, m))
            fail_msg("%s: %d shifts, the first of marker %d at frame %d", names[i], r.shift_count,
                     r.shift_count ? r.shifts[0].marker : -1, r.shift_count ? r.shifts[0].frame : -1);
        assert_true(r.shifts[0].distance > 0.01 && r.shifts[0].distance < 0.06);
        assert_true(r.trust.verdict == ULNA_VERDICT_LOOK && r.trust.reasons & ULNA_REASON_SHIFTED);
        int text = 0;
        while (text < r.findings.count && r.findings.list[text].code != ULNA_REASON_SHIFTED)
            text++;
        assert_true(text < r.findings.count && strstr(r.findings.list[text].text, names[i]));
        assert_non_null(strstr(r.findings.list[text].text, "has shifted"));
        ulna_track_result_release(&r);
        move(&s, m, 0.05, back);
    }
    ulna_track_result_release(&none);
    ulna_test_swing_release(&s);
}

/* Offsets that hold before the shift: the part after it is wrong, however long it is; and the other way round. */
static void the_part_that_fits_worse_is_wrong(void **state)
{
    (void)state;
    static const struct {
        double (*course)(int);
        int at, is_after;
    } parts[] = {{early, EARLY, 1}, {at_once, AT, 1}, {until_early, EARLY, 0}, {until_late, AT, 0}};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (int i = 0; i < NAMES - 1; i++) { /* RTOE takes the foot along: another marker of it may be reported */
            char look_at[60];
            ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
            int m = find(&s, names[i]);
            move(&s, m, 0.05, parts[p].course);
            ulna_track_result r = track(&s);
            if (r.shift_count != 1 || r.shifts[0].marker != m || abs(r.shifts[0].frame - parts[p].at) > NEAR)
                fail_msg("%s at frame %d: %d shifts", names[i], parts[p].at, r.shift_count);
            int first = parts[p].is_after ? r.shifts[0].frame : 0;
            int last = parts[p].is_after ? FRAMES - 1 : r.shifts[0].frame - 1, number = s.recording.first_frame;
            if (r.shifts[0].first != first || r.shifts[0].last != last)
                fail_msg("%s at frame %d: frames %d to %d", names[i], parts[p].at, r.shifts[0].first, r.shifts[0].last);
            snprintf(look_at, sizeof look_at, "look at frames %d to %d,", number + first, number + last);
            int text = 0;
            while (text < r.findings.count && r.findings.list[text].code != ULNA_REASON_SHIFTED)
                text++;
            assert_true(text < r.findings.count && strstr(r.findings.list[text].text, look_at));
            ulna_track_result_release(&r);
            ulna_test_swing_release(&s);
        }
}

/* At other rates, where the rate is not known, and where the marker is missing in between. */
static void rates_and_gaps_do_not_matter(void **state)
{
    (void)state;
    static const double rates[] = {30, 240, 0};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
        s.recording.frame_seconds = rates[i] > 0 ? 1 / rates[i] : 0;
        int m = find(&s, "LANK");
        move(&s, m, 0.05, at_once);
        hide(&s, m, AT - 8, AT + 2);
        ulna_track_result r = track(&s);
        assert_true(is_told(&r, m));
        ulna_track_result_release(&r);
        ulna_test_swing_release(&s);
    }
}

static void skin_that_moves_is_no_shift(void **state)
{
    (void)state;
    double (*const courses[])(int) = {now_and_then, by_and_by};
    for (size_t c = 0; c < 2; c++) {
        ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
        for (int i = 0; i < NAMES; i++)
            move(&s, find(&s, names[i]), 0.03, courses[c]);
        ulna_track_result r = track(&s);
        assert_int_equal(r.shift_count, 0);
        ulna_track_result_release(&r);
        ulna_test_swing_release(&s);
    }
}

/* It is one shift, although it is seen from places and from distances; and its frame is the first after the gap. */
static void a_shift_in_a_gap_is_one(void **state)
{
    (void)state;
    static const int gaps[][2] = {{350, 362}, {330, 380}, {300, 400}};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (int i = 0; i < NAMES; i++) {
            ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
            int m = find(&s, names[i]), end = gaps[g][1];
            move(&s, m, 0.05, at_once);
            hide(&s, m, gaps[g][0], end);
            ulna_track_result r = track(&s);
            if (r.shift_count != 1 || r.shifts[0].marker != m || r.shifts[0].frame < end || r.shifts[0].frame > end + 2)
                fail_msg("%s, gap up to %d: %d shifts, the first of marker %d at frame %d", names[i], end,
                         r.shift_count, r.shift_count ? r.shifts[0].marker : -1,
                         r.shift_count ? r.shifts[0].frame : -1);
            ulna_track_result_release(&r);
            ulna_test_swing_release(&s);
        }
}

/* Before and after a gap it is elsewhere, but no more than it moves in as long a time; or nothing shows how far that is. */
static void a_slow_drift_with_a_gap_is_no_shift(void **state)
{
    (void)state;
    static const int gaps[][2] = {{250, 350}, {150, 450}, {100, 500}};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (int i = 0; i < NAMES; i++) {
            ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
            int m = find(&s, names[i]);
            move(&s, m, 0.03, slowly);
            hide(&s, m, gaps[g][0], gaps[g][1]);
            ulna_track_result r = track(&s);
            if (r.shift_count)
                fail_msg("%s, gap from %d: a shift of marker %d at frame %d", names[i], gaps[g][0], r.shifts[0].marker,
                         r.shifts[0].frame);
            ulna_track_result_release(&r);
            ulna_test_swing_release(&s);
        }
}

/* Missing for most of the take, and clearly elsewhere then: whether it shifted or drifted, the offset does not hold for both parts. */
static void elsewhere_after_a_long_gap_is_told(void **state)
{
    (void)state;
    for (int i = 0; i < NAMES; i++) {
        ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
        int m = find(&s, names[i]);
        move(&s, m, 0.1, at_once);
        hide(&s, m, 120, 460);
        ulna_track_result r = track(&s);
        if (r.shift_count != 1 || r.shifts[0].marker != m || !r.shifts[0].is_after_gap || r.shifts[0].frame < 460)
            fail_msg("%s: %d shifts", names[i], r.shift_count);
        assert_true(r.trust.verdict != ULNA_VERDICT_TRUST && r.trust.reasons & ULNA_REASON_SHIFTED);
        ulna_track_result_release(&r);
        ulna_test_swing_release(&s);
    }
}

/* All markers leap in one frame: that is a jump, though no joint rotates. */
static void a_cut_is_a_jump(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    for (int f = AT; f < FRAMES; f++)
        for (int m = 0; m < s.recording.marker_count; m++)
            ulna_recording_frame(&s.recording, f)[3 * m + 1] += 0.5;
    ulna_track_result r = track(&s);
    assert_true(r.frames[AT].flags & ULNA_TRACK_JUMP);
    assert_int_equal(r.summary.jumps, 1);
    assert_int_equal(r.shift_count, 0);
    assert_int_equal(r.trust.verdict, ULNA_VERDICT_LOOK);
    ulna_track_result_release(&r);
    ulna_test_swing_release(&s);
}

/* ---- recorded takes ---------------------------------------------------------------------------------------------------------- */

static ulna_content load(const char *name)
{
    char path[512];
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    if (ulna_content_load(ulna_test_path(path, sizeof path, ulna_test_data_dir(), name), NULL, &content, &error))
        fail_msg("%s: %s", name, error.message);
    return content;
}

/* Calibrates and tracks frames from .. to, by their numbers; returns how many shifts there are, and the first one. */
static int shifts_in(const ulna_content *skeleton, const ulna_content *markers, int from, int to, ulna_shift *first,
                     char *name)
{
    ulna_take *take = NULL;
    ulna_calibration found = {0};
    ulna_track_result result = {0};
    ulna_error error;
    ulna_take_options options = ulna_take_options_for(skeleton, markers);
    ulna_calibrate_options calibrate = ulna_calibrate_options_default();
    options.attach = ULNA_ATTACH_NAMES;
    options.first_frame = from;
    options.last_frame = to;
    calibrate.try_lengths = 0; /* takes whose lengths are in doubt are not searched */
    if (ulna_take_create(&options, &take, &error) || ulna_calibrate(take, &calibrate, &found, &error))
        fail_msg("%s", error.message);
    ulna_take_destroy(take);
    options.attach = ULNA_ATTACH_SET;
    options.set = &found.set;
    if (ulna_take_create(&options, &take, &error) || ulna_track(take, NULL, &result, &error))
        fail_msg("%s", error.message);
    int count = result.shift_count;
    if (count) {
        *first = result.shifts[0];
        snprintf(name, ULNA_MARKER_NAME, "%s", take->set.items[first->marker].marker);
    }
    ulna_track_result_release(&result);
    ulna_calibration_release(&found);
    ulna_take_destroy(take);
    return count;
}

/* In the whole take. */
static int shifts_of(const ulna_content *skeleton, const ulna_content *markers, ulna_shift *first, char *name)
{
    ulna_take_options all = ulna_take_options_for(skeleton, markers);
    return shifts_in(skeleton, markers, all.first_frame, all.last_frame, first, name);
}

/* What skin does with the pose may be seen once only. */
static void short_parts_have_none(void **state)
{
    (void)state;
    static const struct {
        const char *skeleton, *markers;
        int first, last;
    } parts[] = {{"cmu/02.asf", "cmu/02_01.c3d", 60, 200},
                 {"cmu/02.asf", "cmu/02_01.c3d", 100, 250},
                 {"cmu/02.asf", "cmu/02_01.c3d", 150, 300},
                 {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.c3d", 172, 411},
                 {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.c3d", 2573, 2812}};
    ulna_shift shift;
    char name[ULNA_MARKER_NAME];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        ulna_content skeleton = load(parts[i].skeleton), markers = load(parts[i].markers);
        if (shifts_in(&skeleton, &markers, parts[i].first, parts[i].last, &shift, name))
            fail_msg("%s from %d: %s, %.0f mm", parts[i].markers, parts[i].first, name, 1e3 * shift.distance);
        ulna_content_release(&markers);
        ulna_content_release(&skeleton);
    }
}

/* No false alarm; and in the take of somebody who walks straight on, a shift of 5 cm along an axis of the room is told. */
static void recorded_takes_have_none(void **state)
{
    (void)state;
    static const char *const takes[][2] = {{"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d"},
                                           {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_01-03_01_120.c3d"},
                                           {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-02_02_120.c3d"},
                                           {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_06-03_03_120.c3d"},
                                           {"cmu/02.asf", "cmu/02_01.c3d"}};
    static const char *const shifted[] = {"LANK", "LKNE", "RTHI", "LWRA", "T10", "RFHD"};
    ulna_shift first;
    char name[ULNA_MARKER_NAME];
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        ulna_content skeleton = load(takes[i][0]), markers = load(takes[i][1]);
        if (shifts_of(&skeleton, &markers, &first, name))
            fail_msg("%s: %s at frame %d, %.0f mm", takes[i][1], name, first.frame, 1e3 * first.distance);
        for (size_t k = 0; k < sizeof shifted / sizeof *shifted && strstr(takes[i][1], "02_01.c3d"); k++) {
            int m = ulna_recording_find(&markers.recording, shifted[k]);
            assert_true(m != ULNA_NONE);
            for (int f = 150; f < markers.recording.frame_count; f++)
                ulna_recording_frame(&markers.recording, f)[3 * m + 2] += 0.05;
            if (shifts_of(&skeleton, &markers, &first, name) != 1 || !strstr(name, shifted[k]) ||
                abs(first.frame - 150) > NEAR)
                fail_msg("%s is not told", shifted[k]);
            for (int f = 150; f < markers.recording.frame_count; f++)
                ulna_recording_frame(&markers.recording, f)[3 * m + 2] -= 0.05;
        }
        ulna_content_release(&markers);
        ulna_content_release(&skeleton);
    }
}

/* Frames are cut out of a take: skin that moves with the pose is elsewhere at once then, for good. */
static void skin_at_a_cut_is_no_shift(void **state)
{
    (void)state;
    static const struct {
        const char *skeleton, *markers;
        int first, frames;
    } cuts[] = {{"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d", 442, 1876},
                {"hdm05/HDM_dg.asf", "hdm05/HDM_dg_03-05_02_120.c3d", 1735, 1936},
                {"cmu/02.asf", "cmu/02_01.c3d", 228, 62}};
    ulna_shift shift;
    char name[ULNA_MARKER_NAME];
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        ulna_content skeleton = load(cuts[i].skeleton), markers = load(cuts[i].markers);
        ulna_recording *r = &markers.recording;
        size_t row = 3 * (size_t)r->marker_count, all = (size_t)r->frame_count;
        size_t first = (size_t)cuts[i].first, next = first + (size_t)cuts[i].frames;
        memmove(r->positions + first * row, r->positions + next * row, (all - next) * row * sizeof *r->positions);
        r->frame_count -= cuts[i].frames;
        if (shifts_of(&skeleton, &markers, &shift, name))
            fail_msg("%s without %d frames: %s at frame %d", cuts[i].markers, cuts[i].frames, name, shift.frame);
        r->frame_count += cuts[i].frames;
        ulna_content_release(&markers);
        ulna_content_release(&skeleton);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shift_is_told),
        cmocka_unit_test(the_part_that_fits_worse_is_wrong),
        cmocka_unit_test(rates_and_gaps_do_not_matter),
        cmocka_unit_test(skin_that_moves_is_no_shift),
        cmocka_unit_test(a_shift_in_a_gap_is_one),
        cmocka_unit_test(a_slow_drift_with_a_gap_is_no_shift),
        cmocka_unit_test(elsewhere_after_a_long_gap_is_told),
        cmocka_unit_test(a_cut_is_a_jump),
        ulna_test_needs("cmu hdm05", cmocka_unit_test(short_parts_have_none)),
        ulna_test_needs("hdm05 cmu", cmocka_unit_test(recorded_takes_have_none)),
        ulna_test_needs("hdm05 cmu", cmocka_unit_test(skin_at_a_cut_is_no_shift)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
