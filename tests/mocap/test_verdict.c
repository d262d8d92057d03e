/* The verdict on a take: every rule by itself, jumps in SO(3) and limits by frames and by angles. */
#include <math.h>
#include <string.h>

#include "mocap/track.h"
#include "support.h"
#include "support_swing.h"

enum { FRAMES = 100, MARKERS = 20 };

/* A result with nothing to complain about, but for what a case changes. */
typedef struct scene {
    ulna_test_swing swing;
    ulna_frame_report frames[FRAMES];
    ulna_track_result result;
} scene;

static void begin(scene *s)
{
    memset(s->frames, 0, sizeof s->frames);
    s->result = (ulna_track_result){.frames = s->frames};
    s->result.summary = (ulna_track_summary){.frames = FRAMES, .markers_used = MARKERS, .rms_mean = 0.005};
    s->result.trust = (ulna_trust){.unmarked = FRAMES, .typical_rms = 0.005, .motion.limited = 40};
}

static void expect(scene *s, ulna_verdict verdict, unsigned reasons)
{
    ulna_track_judge(s->swing.model, &s->result);
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
    expect(&s, ULNA_VERDICT_REJECT, ULNA_REASON_UNDETERMINED);
    trust->typical_rms = 0.02;
    expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_ROUGH);
    trust->typical_rms = 0.02;
    trust->angles_outside = 11;
    expect(&s, ULNA_VERDICT_REJECT, ULNA_REASON_ROUGH | ULNA_REASON_LIMITS | ULNA_REASON_IMPLAUSIBLE);
    trust->angles_outside = 11;
    expect(&s, ULNA_VERDICT_LOOK, ULNA_REASON_LIMITS);
    trust->is_poor = 1;
    expect(&s, ULNA_VERDICT_REJECT, ULNA_REASON_POOR);
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
        ulna_clip_release(&s.result.clip);
    }
    ulna_test_swing_release(&s.swing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_counts),
        cmocka_unit_test(jumps_are_rotations),
        cmocka_unit_test(limits_count_by_frames_or_by_angles),
    };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
