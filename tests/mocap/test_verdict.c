/* The verdict on a take: every rule by itself, jumps in SO(3) and limits by frames and by angles. */
#include <math.h>
#include <string.h>

#include "mocap/track.h"
#include "support.h"
#include "support_swing.h"

enum { FRAMES = 100, MARKERS = 20, DOFS = 200 };

/* A result with nothing to complain about, but for what a case changes. */
typedef struct scene {
    ulna_test_swing swing;
    ulna_frame_report frames[FRAMES];
    ulna_dof_report dofs[DOFS];
    ulna_track_result result;
} scene;

static void begin(scene *s)
{
    memset(s->frames, 0, sizeof s->frames);
    assert_true(ulna_model_dof_count(s->swing.model) <= DOFS);
    s->result = (ulna_track_result){.frames = s->frames, .dofs = s->dofs};
    s->result.summary = (ulna_track_summary){.frames = FRAMES, .markers_used = MARKERS, .rms_mean = 0.005};
    s->result.trust = (ulna_trust){.unmarked = FRAMES, .typical_rms = 0.005, .motion.limited = 40};
}

static void expect(scene *s, ulna_verdict verdict, unsigned reasons)
{
    ulna_track_judge(s->swing.model, ulna_model_length_scale(s->swing.model), &s->result);
    assert_int_equal(s->result.trust.reasons, reasons);
    assert_int_equal(s->result.trust.verdict, verdict);
    begin(s);
}

static void mark(scene *s, unsigned flag, int count, int *total)
{
    for (int f = 0; f < count; f++)
        s->frames[f].flags |= flag;
    *total = count;
}

static void every_rule_counts(void **state)
{
    (void)state;
    scene s = {.swing = ulna_test_swing_make(1, 0)};
    ulna_track_summary *sum = &s.result.summary;
    ulna_trust *trust = &s.result.trust;
    begin(&s);
    expect(&s, ULNA_VERDICT_TRUST, 0);
    mark(&s, ULNA_TRACK_OUTLIERS, 50, &sum->with_outliers);
    expect(&s, ULNA_VERDICT_TRUST, 0);
    mark(&s, ULNA_TRACK_OUTLIERS, 51, &sum->with_outliers);
    expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_OUTLIERS);

    int *const counts[] = {&sum->lost,    &sum->recovered, &sum->empty,         &sum->doubtful,
                           &sum->bridged, &sum->jumps,     &sum->outside_limits};
    static const unsigned flags[] = {ULNA_TRACK_LOST,    ULNA_TRACK_RECOVERED, ULNA_TRACK_EMPTY, ULNA_TRACK_DOUBTFUL,
                                     ULNA_TRACK_BRIDGED, ULNA_TRACK_JUMP,      ULNA_TRACK_LIMITS};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        mark(&s, flags[i], 1, counts[i]);
        expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_FRAMES);
    }
    mark(&s, ULNA_TRACK_LOST, 10, &sum->lost);
    expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_FRAMES);
    mark(&s, ULNA_TRACK_LOST, 11, &sum->lost);
    expect(&s, ULNA_VERDICT_REJECT, ULNA_REASON_LOST | ULNA_REASON_FRAMES);
    mark(&s, ULNA_TRACK_DOUBTFUL, 50, &sum->doubtful);
    expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_FRAMES);
    mark(&s, ULNA_TRACK_DOUBTFUL, 51, &sum->doubtful);
    expect(&s, ULNA_VERDICT_REJECT, ULNA_REASON_UNSURE | ULNA_REASON_FRAMES);

    trust->misplaced = 5;
    expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_MARKERS);
    trust->misplaced = 6;
    expect(&s, ULNA_VERDICT_REJECT, ULNA_REASON_MISPLACED | ULNA_REASON_MARKERS);
    s.result.swap_count = 1;
    expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_MARKERS);
    trust->is_undetermined = 1;
    trust->dofs_moved = 80; /* 60 numbers are 3/4 of that */
    expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_UNDETERMINED);
    trust->is_undetermined = 1;
    trust->dofs_moved = 81;
    expect(&s, ULNA_VERDICT_REJECT, ULNA_REASON_UNDETERMINED);
    int nv = ulna_model_dof_count(s.swing.model);
    trust->unmeasured = nv / 4;
    expect(&s, ULNA_VERDICT_TRUST, 0);
    trust->unmeasured = nv / 4 + 1;
    expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_UNMEASURED);
    trust->cut_frames = 1;
    expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_CUT);
    trust->typical_rms = 0.02;
    expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_ROUGH);
    trust->typical_rms = 0.02;
    trust->angles_outside = 11;
    expect(&s, ULNA_VERDICT_REJECT, ULNA_REASON_ROUGH | ULNA_REASON_LIMITS | ULNA_REASON_IMPLAUSIBLE);
    trust->angles_outside = 11;
    expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_LIMITS);
    ulna_test_swing_release(&s.swing);
}

/* 1.5 and 3 cm are those of an adult: what is poor grows with the skeleton. */
static void errors_count_by_the_size_of_the_skeleton(void **state)
{
    (void)state;
    scene s = {.swing = ulna_test_swing_make(1, 0)};
    int count = ulna_model_body_count(s.swing.model);
    double lengths[200];
    ulna_model *half, *adult = s.swing.model;
    assert_true(count <= 200);
    for (int b = 0; b < count; b++)
        lengths[b] = 0.5 * ulna_model_bone_length(adult, b);
    assert_int_equal(ulna_model_with_lengths(adult, lengths, NULL, &half, NULL), ULNA_OK);
    for (int is_half = 0; is_half < 2; is_half++) {
        s.swing.model = is_half ? half : adult;
        double length = ulna_model_length_scale(s.swing.model) / 1.3;
        begin(&s);
        s.result.trust.typical_rms = 0.0149 * length;
        expect(&s, ULNA_VERDICT_TRUST, 0);
        s.result.trust.typical_rms = 0.0299 * length;
        expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_ROUGH);
        s.result.trust.typical_rms = 0.0301 * length;
        expect(&s, ULNA_VERDICT_REJECT, ULNA_REASON_ROUGH | ULNA_REASON_POOR);
    }
    s.swing.model = adult;
    ulna_model_destroy(half);
    ulna_test_swing_release(&s.swing);
}

/* ---- marks of the motion ------------------------------------------------------------------------------------------------ */

/* The skeleton at rest in all frames, for a caller to move. */
static void begin_motion(scene *s, ulna_take *take, ulna_track_job *job)
{
    begin(s);
    s->result.clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&s->result.clip, s->swing.nq, FRAMES), ULNA_OK);
    for (int f = 0; f < FRAMES; f++)
        memcpy(ulna_clip_frame(&s->result.clip, f), ulna_model_rest(s->swing.model),
               (size_t)s->swing.nq * sizeof(double));
    s->result.clip.frame_seconds = 1.0 / 120;
    *take = (ulna_take){.model = s->swing.model, .frame_count = FRAMES, .allocator = s->result.clip.allocator};
    *job = (ulna_track_job){.take = take, .result = &s->result, .total = FRAMES};
}

static int count_marks(const scene *s, unsigned flag)
{
    int count = 0;
    for (int f = 0; f < FRAMES; f++)
        count += (s->frames[f].flags & flag) != 0;
    return count;
}

/* Adds degrees to a coordinate, from `first` to `last`. */
static void bend(scene *s, int coordinate, int first, int last, double degrees)
{
    for (int f = first; f <= last; f++)
        ulna_clip_frame(&s->result.clip, f)[coordinate] += degrees * acos(-1) / 180;
}

static int hinge_of(const ulna_model *model)
{
    for (int d = 6; d < ulna_model_dof_count(model); d++)
        if (isfinite(ulna_model_upper(model)[d]) && ulna_model_dof_coordinate(model, d) != ULNA_NONE)
            return d;
    fail_msg("the skeleton has no limits");
    return ULNA_NONE;
}

static void jumps_are_rotations(void **state)
{
    (void)state;
    scene s = {.swing = ulna_test_swing_make(1, 0)};
    ulna_take take;
    ulna_track_job job;
    begin_motion(&s, &take, &job);
    int c = ulna_model_dof_coordinate(s.swing.model, hinge_of(s.swing.model));
    bend(&s, c, 20, 20, 29);
    bend(&s, c, 40, 40, 31);
    bend(&s, c, 60, FRAMES - 1, 360); /* the same pose */
    bend(&s, c, 80, FRAMES - 1, 100);
    s.frames[80].flags = ULNA_TRACK_LOST;
    assert_int_equal(ulna_track_mark_motion(&job), ULNA_OK);
    assert_int_equal(count_marks(&s, ULNA_TRACK_JUMP), 2);
    assert_true(s.frames[40].flags & s.frames[41].flags & ULNA_TRACK_JUMP);

    s.result.clip.frame_seconds = 1.0 / 30; /* 31 degrees are no jump there, 100 are, if the frame is not lost */
    memset(s.frames, 0, sizeof s.frames);
    bend(&s, c, 80, FRAMES - 1, 1);
    assert_int_equal(ulna_track_mark_motion(&job), ULNA_OK);
    assert_int_equal(count_marks(&s, ULNA_TRACK_JUMP), 1);
    assert_true(s.frames[80].flags & ULNA_TRACK_JUMP);
    ulna_clip_release(&s.result.clip);
    ulna_test_swing_release(&s.swing);
}

static void limits_count_by_frames_or_by_angles(void **state)
{
    (void)state;
    static const struct {
        double outside; /* degrees */
        int frames, marked, angles;
    } cases[] = {{19, 5, 0, 0}, {21, 5, 5, 0}, {21, 10, 10, 0}, {21, 11, 0, 1}};
    scene s = {.swing = ulna_test_swing_make(1, 0)};
    int d = hinge_of(s.swing.model), c = ulna_model_dof_coordinate(s.swing.model, d);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ulna_take take;
        ulna_track_job job;
        begin_motion(&s, &take, &job);
        for (int f = 0; f < cases[i].frames; f++)
            ulna_clip_frame(&s.result.clip, f)[c] =
                ulna_model_upper(s.swing.model)[d] + cases[i].outside * acos(-1) / 180;
        assert_int_equal(ulna_track_mark_motion(&job), ULNA_OK);
        assert_int_equal(count_marks(&s, ULNA_TRACK_LIMITS), cases[i].marked);
        assert_int_equal(s.result.trust.angles_outside, cases[i].angles);
        assert_int_equal(s.dofs[d].is_outside, cases[i].angles);
        ulna_clip_release(&s.result.clip);
    }
    ulna_test_swing_release(&s.swing);
}

/* ---- what the markers measure ------------------------------------------------------------------------------------------------ */

static const char *text_of(const ulna_findings *findings, unsigned code)
{
    for (int i = 0; i < findings->count; i++)
        if (findings->list[i].code == code)
            return findings->list[i].text;
    return "";
}

/* Keeps the markers whose body is at or below `body`, or all others. */
static void keep_markers(ulna_test_swing *s, int body, int is_below)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->set.count; i++) {
        int b = s->set.items[i].body;
        while (b != ULNA_NONE && b != body)
            b = ulna_model_body_parent(s->model, b);
        if ((b == body) == is_below)
            s->set.items[kept++] = s->set.items[i];
    }
    s->set.count = kept;
}

static ulna_track_result track(const ulna_test_swing *s)
{
    ulna_take_options options = ulna_take_options_default();
    ulna_take *take = NULL;
    ulna_track_result r = {0};
    options.model = s->model;
    options.recording = &s->recording;
    options.set = &s->set;
    assert_int_equal(ulna_take_create(&options, &take, NULL), ULNA_OK);
    assert_int_equal(ulna_track(take, NULL, &r, NULL), ULNA_OK);
    ulna_take_destroy(take);
    return r;
}

static int dof_of(const ulna_model *model, const char *name)
{
    char label[100];
    for (int d = 0; d < ulna_model_dof_count(model); d++)
        if (ulna_model_dof_label(model, d, label, sizeof label) && strcmp(label, name) == 0)
            return d;
    fail_msg("no degree of freedom %s", name);
    return ULNA_NONE;
}

/* All markers: only the thumbs have none. */
static void small_rest_is_told_but_trusted(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(60, 0);
    ulna_track_result r = track(&s);
    assert_int_equal(r.trust.verdict, ULNA_VERDICT_TRUST);
    assert_int_equal(r.trust.unmeasured, 4);
    assert_int_equal(r.findings.count, 1);
    assert_string_equal(text_of(&r.findings, ULNA_REASON_UNMEASURED),
                        "4 of 59 degrees of freedom are not measured by the markers: left_thumb, right_thumb");
    ulna_track_result_release(&r);
    ulna_test_swing_release(&s);
}

/* Legs alone: the error is as small, but nothing is known of the upper body. */
static void half_a_body_is_not_trusted(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(60, 0);
    keep_markers(&s, ulna_model_find_body(s.model, "lower_spine"), 0);
    ulna_track_result r = track(&s);
    assert_int_equal(r.trust.verdict, ULNA_VERDICT_LOOK);
    assert_int_equal(r.trust.reasons, ULNA_REASON_UNMEASURED);
    assert_string_equal(text_of(&r.findings, ULNA_REASON_UNMEASURED),
                        "39 of 59 degrees of freedom are not measured by the markers: lower_spine and beyond");
    assert_true(isinf(r.dofs[dof_of(s.model, "left_forearm.Rx")].deviation));
    assert_true(r.dofs[dof_of(s.model, "left_shank")].is_measured);
    ulna_track_result_release(&r);
    ulna_test_swing_release(&s);
}

/* A marker on the axis of a twist moves with the elbow, and says nothing of the twist. */
static void a_twist_without_lever_is_not_measured(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(60, 0);
    int hand = ulna_model_find_body(s.model, "left_hand"), forearm = ulna_model_find_body(s.model, "left_forearm");
    keep_markers(&s, forearm, 0);
    const double joint[3] = {0, 0, 0};
    assert_int_equal(ulna_marker_set_add(&s.set, "LWRA", hand, joint, 1), ULNA_OK);
    ulna_track_result r = track(&s);
    assert_false(r.dofs[dof_of(s.model, "left_forearm.Rx")].is_measured);
    assert_true(r.dofs[dof_of(s.model, "left_forearm.Ry")].is_measured);
    assert_non_null(strstr(text_of(&r.findings, ULNA_REASON_UNMEASURED), "left_forearm.Rx, left_hand and beyond"));
    ulna_track_result_release(&r);
    ulna_test_swing_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_counts),
        cmocka_unit_test(errors_count_by_the_size_of_the_skeleton),
        cmocka_unit_test(jumps_are_rotations),
        cmocka_unit_test(limits_count_by_frames_or_by_angles),
        cmocka_unit_test(small_rest_is_told_but_trusted),
        cmocka_unit_test(half_a_body_is_not_trusted),
        cmocka_unit_test(a_twist_without_lever_is_not_measured),
    };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
