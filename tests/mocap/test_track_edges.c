/* Tracking where recordings are at their worst: bad frames, hidden limbs, gaps over seams, numbers that are none. */
#include "support_hdm05.h"
#include "support_mocap.h"
#include "support_model.h"
#include "support_swing.h"
#include "support_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- takes of the human sample ------------------------------------------------------------------------------------ */

static double *marker_of(ulna_test_swing *s, int frame, int marker)
{
    return ulna_recording_frame(&s->recording, frame) + 3 * marker;
}

static void set_marker(ulna_test_swing *s, int frame, int marker, double x)
{
    double *to = marker_of(s, frame, marker);
    to[0] = to[1] = to[2] = x;
}

static void empty(ulna_test_swing *s, int first, int last)
{
    for (int f = first; f < last; f++)
        for (int m = 0; m < s->recording.marker_count; m++)
            set_marker(s, f, m, (double)NAN);
}

/* The largest distance of a marker from where it truly was. */
static double error_of(const ulna_test_swing *s, const ulna_clip *clip, int frame)
{
    ulna_pose *pose[2];
    double worst = 0;
    const double *q[2] = {ulna_clip_frame(clip, frame), s->truth + (size_t)frame * (size_t)s->nq};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(ulna_pose_create(s->model, NULL, &pose[k], NULL), ULNA_OK);
        assert_int_equal(ulna_pose_forward(pose[k], q[k]), ULNA_OK);
    }
    for (size_t i = 0; i < s->set.count; i++) {
        double at[2][3];
        for (int k = 0; k < 2; k++)
            ulna_pose_point(pose[k], s->set.items[i].body, s->set.items[i].offset, at[k]);
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(at[0][k] - at[1][k]));
    }
    ulna_pose_destroy(pose[0]);
    ulna_pose_destroy(pose[1]);
    return worst;
}

/* ---- bad frames ----------------------------------------------------------------------------------------------------- */

enum { STRAY, FAR_STRAY, ONE_PLACE, MIXED_UP, KINDS };

static void spoil(ulna_test_swing *s, int frame, int kind)
{
    int count = s->recording.marker_count;
    if (kind == STRAY || kind == FAR_STRAY)
        marker_of(s, frame, 5)[1] += kind == STRAY ? 1e3 : 9e5;
    for (int m = 0; m < count && kind == ONE_PLACE; m++)
        set_marker(s, frame, m, 1e-3); /* not 0, which is missing */
    for (int m = 0; m < count / 2 && kind == MIXED_UP; m++) {
        double *a = marker_of(s, frame, m), *b = marker_of(s, frame, count - 1 - m), kept[3];
        memcpy(kept, a, sizeof kept);
        memcpy(a, b, sizeof kept);
        memcpy(b, kept, sizeof kept);
    }
}

/* One bad frame, in the middle or at the beginning, is lost, alone, and the next one is found again; both are told. */
static void one_bad_frame_is_one_lost_frame(void **state)
{
    (void)state;
    enum { FRAMES = 60 };
    for (int kind = 0; kind < KINDS; kind++)
        for (int bad = 0; bad <= 30; bad += 30) {
            ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
            ulna_frame_report frames[FRAMES];
            ulna_clip clip;
            spoil(&s, bad, kind);
            ulna_track_options options = ulna_track_options_default();
            options.loss = ULNA_LOSS_SQUARE;
            ulna_track_summary summary = ulna_test_swing_track(&s, &options, &clip, frames);
            assert_int_equal(summary.lost, 1);
            assert_int_equal(summary.recovered, 1);
            assert_int_equal(frames[bad].flags & ~(unsigned)ULNA_TRACK_STARTED, ULNA_TRACK_LOST);
            assert_int_equal(frames[bad + 1].flags, ULNA_TRACK_RECOVERED);
            for (int f = 0; f < FRAMES; f++)
                if (f != bad && !(error_of(&s, &clip, f) < 1e-4))
                    fail_msg("kind %d, frame %d bad: frame %d is %g m off", kind, bad, f, error_of(&s, &clip, f));
            ulna_clip_release(&clip);
            ulna_test_swing_release(&s);
        }
}

/* With a robust loss too, and a stray marker then does no harm at all. */
static void a_robust_loss_bears_a_bad_frame(void **state)
{
    (void)state;
    enum { FRAMES = 60, BAD = 30 };
    for (int kind = 0; kind < KINDS; kind++) {
        ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
        ulna_frame_report frames[FRAMES];
        ulna_clip clip;
        ulna_track_options options = ulna_track_options_default();
        options.smooth = options.posture = options.curve = 0; /* which cost some tenths of a millimetre */
        spoil(&s, BAD, kind);
        ulna_track_summary summary = ulna_test_swing_track(&s, &options, &clip, frames);
        int is_stray = kind == STRAY || kind == FAR_STRAY;
        assert_int_equal(summary.lost, !is_stray);
        assert_true(frames[BAD].flags & ULNA_TRACK_OUTLIERS);
        assert_int_equal(frames[BAD + 1].flags, is_stray ? 0 : ULNA_TRACK_RECOVERED);
        for (int f = 0; f < FRAMES; f++)
            if ((f != BAD || is_stray) && !(error_of(&s, &clip, f) < 1e-4))
                fail_msg("kind %d: frame %d is %g m off", kind, f, error_of(&s, &clip, f));
        ulna_clip_release(&clip);
        ulna_test_swing_release(&s);
    }
}

/* Markers that are always far off, from the first frame on, leave the others as they are. */
static void a_robust_start_bears_stray_markers(void **state)
{
    (void)state;
    enum { FRAMES = 30 };
    for (double off = 1; off < 2e4; off *= 100) {
        ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
        ulna_clip clip;
        ulna_track_options options = ulna_track_options_default();
        options.smooth = options.posture = options.curve = 0;
        for (int f = 0; f < FRAMES; f++)
            for (int m = 5; m < 41; m += 6)
                marker_of(&s, f, m)[0] += off;
        ulna_track_summary summary = ulna_test_swing_track(&s, &options, &clip, NULL);
        assert_int_equal(summary.lost, 0);
        assert_int_equal(summary.with_outliers, FRAMES);
        for (int f = 0; f < FRAMES; f++)
            if (!(error_of(&s, &clip, f) < 1e-3))
                fail_msg("%g m off: frame %d is %g m from the truth", off, f, error_of(&s, &clip, f));
        ulna_clip_release(&clip);
        ulna_test_swing_release(&s);
    }
}

/* Restarts that agree make others needless: the same pose in a fraction of the iterations. */
static void a_start_ends_where_restarts_agree(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(3, 0);
    ulna_frame_report frames[2][3];
    ulna_clip clips[2];
    ulna_track_options options = ulna_track_options_default();
    ulna_test_swing_track(&s, &options, &clips[0], frames[0]);
    options.fresh.agreeing_restarts = 0;
    ulna_test_swing_track(&s, &options, &clips[1], frames[1]);
    assert_true(2 * frames[0][0].iterations < frames[1][0].iterations);
    for (int f = 0; f < 3; f++)
        assert_true(fabs(frames[0][f].rms - frames[1][f].rms) < 1e-5 && error_of(&s, &clips[0], f) < 1e-3);
    for (int i = 0; i < 2; i++)
        ulna_clip_release(&clips[i]);
    ulna_test_swing_release(&s);
}

/* A bad frame with fresh starts by the global search. */
static void a_global_search_finds_the_track(void **state)
{
    (void)state;
    enum { FRAMES = 12, JUMP = 6 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_frame_report frames[FRAMES];
    ulna_clip clip;
    ulna_track_options options = ulna_track_options_default();
    options.global = 1;
    options.loss = ULNA_LOSS_SQUARE;
    for (int f = JUMP; f < FRAMES; f++) /* turned half round at once */
        for (int m = 0; m < s.recording.marker_count; m++) {
            marker_of(&s, f, m)[0] *= -1;
            marker_of(&s, f, m)[2] *= -1;
        }
    ulna_track_summary summary = ulna_test_swing_track(&s, &options, &clip, frames);
    assert_int_equal(summary.lost, 0);
    assert_int_equal(frames[0].flags, ULNA_TRACK_STARTED);
    assert_int_equal(frames[JUMP].flags, ULNA_TRACK_RECOVERED | ULNA_TRACK_JUMP);
    assert_true(summary.rms_max < 1e-4);
    ulna_clip_release(&clip);
    ulna_test_swing_release(&s);
}

/* Long garbage is lost from end to end, and never called recovered. */
static void long_garbage_stays_lost(void **state)
{
    (void)state;
    enum { FRAMES = 150 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_frame_report frames[FRAMES];
    ulna_clip clip;
    for (int f = 30; f < 100; f++)
        spoil(&s, f, MIXED_UP);
    for (int robust = 0; robust <= 1; robust++) {
        ulna_track_options options = ulna_track_options_default();
        options.loss = robust ? ULNA_LOSS_GEMAN_MCCLURE : ULNA_LOSS_SQUARE;
        ulna_test_swing_track(&s, &options, &clip, frames);
        for (int f = 1; f < FRAMES; f++)
            assert_int_equal(frames[f].flags & ~(unsigned)ULNA_TRACK_OUTLIERS, f < 30     ? 0
                                                                               : f < 100  ? ULNA_TRACK_LOST
                                                                               : f == 100 ? ULNA_TRACK_RECOVERED
                                                                                          : 0);
        assert_true(error_of(&s, &clip, 100) < (robust ? 2e-3 : 1e-4));
        ulna_clip_release(&clip);
    }
    ulna_test_swing_release(&s);
}

/* Positions that are no numbers, or no places on earth, are missing ones: nothing else changes. */
static void positions_that_are_none_are_missing(void **state)
{
    (void)state;
    enum { FRAMES = 40 };
    const double none[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e7, -1e160, 1e300};
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_clip expected, clip;
    set_marker(&s, 0, 3, (double)NAN);
    set_marker(&s, 20, 3, (double)NAN);
    ulna_test_swing_track(&s, NULL, &expected, NULL);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        marker_of(&s, 0, 3)[1] = marker_of(&s, 20, 3)[2] = none[i];
        marker_of(&s, 0, 3)[0] = marker_of(&s, 0, 3)[2] = marker_of(&s, 20, 3)[0] = marker_of(&s, 20, 3)[1] = 0.5;
        ulna_track_summary summary = ulna_test_swing_track(&s, NULL, &clip, NULL);
        assert_int_equal(summary.missing, 2);
        assert_memory_equal(clip.q, expected.q, FRAMES * (size_t)s.nq * sizeof(double));
        ulna_clip_release(&clip);
    }
    ulna_clip_release(&expected);
    ulna_test_swing_release(&s);
}

/* ---- what is not seen ----------------------------------------------------------------------------------------------- */

/* The left arm's markers are hidden for a while. Without a look ahead it stays where it was, to a hair, and does not swing to rest;
 * with one it goes to where it is seen next, nearer to the truth, and neither entry nor return is a jump. */
static void a_hidden_limb_is_held_or_bridged(void **state)
{
    (void)state;
    enum { FRAMES = 120 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    int arm = ulna_model_find_body(s.model, "left_upper_arm"), first, hidden = 0;
    assert_true(arm != ULNA_NONE);
    for (size_t i = 0; i < s.set.count; i++) {
        int body = s.set.items[i].body;
        while (body != ULNA_NONE && body != arm)
            body = ulna_model_body_parent(s.model, body);
        hidden += body == arm;
        for (int f = 40; f < 80 && body == arm; f++)
            set_marker(&s, f, (int)i, (double)NAN);
    }
    assert_true(hidden > 2);
    int count = ulna_model_body_coordinates(s.model, arm, &first);
    double off[2] = {0, 0};
    for (int causal = 0; causal <= 1; causal++) {
        ulna_clip clip;
        ulna_frame_report frames[FRAMES];
        ulna_track_options options = ulna_track_options_default();
        options.causal = causal;
        ulna_test_swing_track(&s, &options, &clip, frames);
        double away = 0, usual = 0, most = 0;
        for (int f = 1; f < FRAMES; f++)
            for (int c = first; c < first + count; c++) {
                double q = ulna_clip_frame(&clip, f)[c], step = fabs(q - ulna_clip_frame(&clip, f - 1)[c]);
                *(f >= 40 && f <= 80 ? &most : &usual) = fmax(f >= 40 && f <= 80 ? most : usual, step);
                if (f < 40 || f >= 80)
                    continue;
                assert_true(!causal || fabs(q - ulna_clip_frame(&clip, 39)[c]) < 0.01);
                away = fmax(away, fabs(ulna_clip_frame(&clip, 39)[c] - ulna_model_rest(s.model)[c]));
                off[causal] += fabs(q - s.truth[f * s.nq + c]);
            }
        assert_true(away > 0.1); /* else rest would be as good */
        assert_int_equal(frames[60].flags, ULNA_TRACK_BRIDGED);
        assert_true(causal || most < 1.5 * usual);
        assert_true(error_of(&s, &clip, 80) < 5e-3);
        ulna_clip_release(&clip);
    }
    assert_true(off[0] < 0.5 * off[1]);
    ulna_test_swing_release(&s);
}

/* The arm is hidden, and the markers of its clavicle come and go: no frame of it is without a mark. */
static void a_flickering_girdle_does_not_hide_a_gap(void **state)
{
    (void)state;
    enum { FRAMES = 120, PERIODS = 2 };
    static const int period[PERIODS] = {2, 9};
    for (int i = 0; i < 2 * PERIODS; i++) {
        ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
        int arm = ulna_model_find_body(s.model, "left_upper_arm"), girdle = ulna_model_body_parent(s.model, arm);
        for (size_t m = 0; m < s.set.count; m++)
            for (int f = 40; f < 80 && ulna_model_is_ancestor(s.model, girdle, s.set.items[m].body); f++)
                if (s.set.items[m].body != girdle || f % period[i / 2])
                    set_marker(&s, f, (int)m, (double)NAN);
        ulna_clip clip;
        ulna_frame_report frames[FRAMES];
        ulna_track_options options = ulna_track_options_default();
        options.causal = i % 2;
        ulna_test_swing_track(&s, &options, &clip, frames);
        for (int f = 40; f < 80; f++)
            assert_true(frames[f].flags & ULNA_TRACK_BRIDGED);
        assert_false(frames[20].flags & ULNA_TRACK_BRIDGED || frames[100].flags & ULNA_TRACK_BRIDGED);
        ulna_clip_release(&clip);
        ulna_test_swing_release(&s);
    }
}

/* From frame 40 on the arm shows one marker, which does not count. Its frames are marked to the end. */
static void a_limb_that_is_not_seen_again_is_marked(void **state)
{
    (void)state;
    enum { FRAMES = 100 };
    for (int causal = 0; causal <= 1; causal++) {
        ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
        int arm = ulna_model_find_body(s.model, "left_upper_arm"), hidden = 0;
        for (size_t i = 0; i < s.set.count; i++) {
            if (!ulna_model_is_ancestor(s.model, arm, s.set.items[i].body))
                continue;
            if (!hidden++)
                s.set.items[i].weight = 0;
            else
                for (int f = 40; f < FRAMES; f++)
                    set_marker(&s, f, (int)i, (double)NAN);
        }
        ulna_clip clip;
        ulna_frame_report frames[FRAMES];
        ulna_track_options options = ulna_track_options_default();
        options.causal = causal;
        ulna_track_summary summary = ulna_test_swing_track(&s, &options, &clip, frames);
        assert_int_equal(summary.bridged, FRAMES - 40);
        assert_int_equal(frames[39].flags & ULNA_TRACK_BRIDGED, 0);
        assert_int_equal(frames[FRAMES - 1].flags & ULNA_TRACK_BRIDGED, ULNA_TRACK_BRIDGED);
        ulna_clip_release(&clip);
        ulna_test_swing_release(&s);
    }
}

/* The same with a shoulder's marker that is 3 cm from where it should be, so that it and the arm's markers disagree about the
 * clavicle: that must not swing, and take the hidden arm along, when the arm's markers go and return. */
static void a_girdle_goes_with_its_hidden_limb(void **state)
{
    (void)state;
    enum { FRAMES = 120, FROM = 40, TO = 80 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    int arm = ulna_model_find_body(s.model, "left_upper_arm"), hand = ulna_model_find_body(s.model, "left_hand");
    double last[3] = {0}, at[3], usual = 0, step[2] = {0, 0};
    ulna_clip clip;
    ulna_pose *pose;
    assert_true(arm != ULNA_NONE && hand != ULNA_NONE);
    for (size_t i = 0; i < s.set.count; i++) {
        int body = s.set.items[i].body;
        for (int f = 0; f < FRAMES && strcmp(s.set.items[i].marker, "LSHO") == 0; f++)
            marker_of(&s, f, (int)i)[1] += 0.03;
        while (body != ULNA_NONE && body != arm)
            body = ulna_model_body_parent(s.model, body);
        for (int f = FROM; f < TO && body == arm; f++)
            set_marker(&s, f, (int)i, (double)NAN);
    }
    ulna_test_swing_track(&s, NULL, &clip, NULL);
    assert_int_equal(ulna_pose_create(s.model, NULL, &pose, NULL), ULNA_OK);
    for (int f = 0; f < FRAMES; f++) {
        assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&clip, f)), ULNA_OK);
        ulna_pose_body(pose, hand, at, NULL);
        double way = hypot(hypot(at[0] - last[0], at[1] - last[1]), at[2] - last[2]);
        if (f == FROM || f == TO)
            step[f == TO] = way;
        else if (f > 0)
            usual = fmax(usual, way);
        memcpy(last, at, sizeof last);
    }
    if (!(step[0] < usual && step[1] < usual))
        fail_msg("the hand steps by %g m and %g m, usually by %g m at most", step[0], step[1], usual);
    ulna_pose_destroy(pose);
    ulna_clip_release(&clip);
    ulna_test_swing_release(&s);
}

/* Nothing is seen from within a chunk to the end of the take, chunks later: the last pose is held. */
static void a_gap_to_the_end_is_held_over_chunks(void **state)
{
    (void)state;
    enum { FRAMES = 200, SEEN = 70 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_clip clip;
    ulna_track_options options = ulna_track_options_default();
    options.chunk_frames = 50;
    empty(&s, SEEN, FRAMES);
    assert_int_equal(ulna_test_swing_track(&s, &options, &clip, NULL).empty, FRAMES - SEEN);
    for (int f = SEEN; f < FRAMES; f++)
        for (int c = 0; c < s.nq; c++)
            assert_true(fabs(ulna_clip_frame(&clip, f)[c] - ulna_clip_frame(&clip, SEEN - 1)[c]) < 1e-12);
    ulna_clip_release(&clip);
    ulna_test_swing_release(&s);
}

/* A root that turns and turns, and is out of sight where chunks meet: it goes on, and does not turn back. */
static void a_gap_over_a_seam_keeps_its_turns(void **state)
{
    (void)state;
    enum { FRAMES = 400 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0.04);
    ulna_clip clip;
    ulna_track_options options = ulna_track_options_default();
    options.chunk_frames = 100;
    options.continuous = 0; /* angles as they are followed from the first frame on, not those near rest */
    empty(&s, 180, 230);
    empty(&s, 290, 301);
    ulna_test_swing_track(&s, &options, &clip, NULL);
    for (int f = 1; f < FRAMES; f++)
        for (int c = 0; c < s.nq; c++)
            if (!(fabs(ulna_clip_frame(&clip, f)[c] - ulna_clip_frame(&clip, f - 1)[c]) < 0.3))
                fail_msg("frame %d, coordinate %d: %g after %g", f, c, ulna_clip_frame(&clip, f)[c],
                         ulna_clip_frame(&clip, f - 1)[c]);
    assert_true(fabs(ulna_clip_frame(&clip, FRAMES - 1)[5] - s.truth[(FRAMES - 1) * s.nq + 5]) < 0.01);
    ulna_clip_release(&clip);
    ulna_test_swing_release(&s);
}

/* ---- seams ---------------------------------------------------------------------------------------------------------- */

/* The largest change of an element of a body's rotation from one pose to another. */
static double turn_between(ulna_pose *const pose[2], const ulna_model *model, const double *a, const double *b)
{
    double most = 0, rotation[2][9];
    assert_int_equal(ulna_pose_forward(pose[0], a), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose[1], b), ULNA_OK);
    for (int i = 0; i < ulna_model_body_count(model); i++) {
        ulna_pose_body(pose[0], i, NULL, rotation[0]);
        ulna_pose_body(pose[1], i, NULL, rotation[1]);
        for (int k = 0; k < 9; k++)
            most = fmax(most, fabs(rotation[0][k] - rotation[1][k]));
    }
    return most;
}

/* The real take in chunks: fits as well as in one, and at the seams bodies move no more than between other frames; angles
 * neither, but where a joint is near gimbal lock. */
static void hdm05_has_no_seams(void **state)
{
    (void)state;
    ulna_test_hdm05 take = ulna_test_hdm05_open();
    const ulna_model *model = take.skeleton.model;
    ulna_pose *pose[2];
    for (int k = 0; k < 2; k++)
        assert_int_equal(ulna_pose_create(model, NULL, &pose[k], NULL), ULNA_OK);
    for (int chunk = 50; chunk <= 800; chunk *= 4) {
        ulna_track_options options = ulna_track_options_default();
        ulna_clip clip = ulna_clip_empty(NULL);
        ulna_track_summary summary;
        options.chunk_frames = chunk;
        options.loss = ULNA_LOSS_SQUARE;
        assert_int_equal(ulna_test_track(model, &take.set, &take.markers.recording, ulna_test_hdm05_axes, &options,
                                         &clip, NULL, &summary, NULL),
                         ULNA_OK);
        assert_int_equal(summary.lost, 0);
        assert_true(100 * summary.sum_mean <= 21.95);
        for (int f = chunk; f < clip.frame_count; f += chunk) {
            double turn = turn_between(pose, model, ulna_clip_frame(&clip, f - 1), ulna_clip_frame(&clip, f));
            if (!(turn < 0.2))
                fail_msg("chunks of %d: a body turns by %g at frame %d", chunk, turn, f);
        }
        ulna_clip_release(&clip);
    }
    ulna_pose_destroy(pose[0]);
    ulna_pose_destroy(pose[1]);
    ulna_test_hdm05_close(&take);
}

/* As many chunks as there may be: of one frame, of all but one, of all, of more. */
static void any_chunk_length_will_do(void **state)
{
    (void)state;
    enum { FRAMES = 24 };
    const int lengths[] = {1, 2, 23, 24, 25};
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ulna_clip clip, other;
        ulna_frame_report frames[FRAMES];
        ulna_track_options options = ulna_track_options_default();
        options.chunk_frames = lengths[i];
        options.overlap_frames = 3;
        options.fresh.restarts = 3;
        options.loss = ULNA_LOSS_SQUARE;
        ulna_track_summary summary = ulna_test_swing_track(&s, &options, &clip, frames);
        assert_int_equal(summary.lost + summary.empty, 0);
        assert_true(summary.rms_max < 1e-4);
        options.threads = 3;
        ulna_test_swing_track(&s, &options, &other, NULL);
        assert_memory_equal(clip.q, other.q, FRAMES * (size_t)s.nq * sizeof(double));
        ulna_clip_release(&clip);
        ulna_clip_release(&other);
    }
    ulna_test_swing_release(&s);
}

/* ---- callers -------------------------------------------------------------------------------------------------------- */

static int stop_soon(void *context, int done, int total)
{
    int *calls = context;
    assert_true(done > 0 && done <= total);
    return ++*calls == 3;
}

static void a_caller_may_cancel(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(300, 0);
    for (int chunk = 0; chunk <= 100; chunk += 50) {
        int calls = 0;
        ulna_clip clip = ulna_clip_empty(NULL);
        ulna_error error;
        ulna_track_options options = ulna_track_options_default();
        options.chunk_frames = chunk;
        options.progress = stop_soon;
        options.progress_context = &calls;
        assert_says(ulna_test_track(s.model, &s.set, &s.recording, NULL, &options, &clip, NULL, NULL, &error),
                    ULNA_ERR_STATE, "cancelled");
        assert_int_equal(calls, 3);
        assert_int_equal(clip.frame_count, 0);
    }
    ulna_test_swing_release(&s);
}

static int stop_late(void *context, int done, int total)
{
    int *last = context;
    assert_true(done >= *last);
    *last = done;
    return done > total / 2; /* the frames have been tracked once then, a quarter of the work */
}

static void a_caller_may_cancel_when_the_frames_are_tracked(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(300, 0);
    int last = 0;
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_error error;
    ulna_track_options options = ulna_track_options_default();
    options.progress = stop_late;
    options.progress_context = &last;
    assert_says(ulna_test_track(s.model, &s.set, &s.recording, NULL, &options, &clip, NULL, NULL, &error),
                ULNA_ERR_STATE, "cancelled");
    assert_in_range(last, 150, 170);
    ulna_test_swing_release(&s);
}

static int note_progress(void *context, int done, int total)
{
    int *last = context;
    assert_true(done >= *last && done <= total);
    *last = done;
    return 0;
}

/* Whatever passes there are: with sweeps, without, or the frames alone. */
static void progress_ends_with_the_last_frame(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(100, 0);
    for (int way = 0; way < 3; way++) {
        int last = 0;
        ulna_clip clip;
        ulna_track_options options = ulna_track_options_default();
        options.loss = way == 1 ? ULNA_LOSS_SQUARE : options.loss;
        options.causal = way == 2;
        options.progress = note_progress;
        options.progress_context = &last;
        ulna_test_swing_track(&s, &options, &clip, NULL);
        assert_int_equal(last, 100);
        ulna_clip_release(&clip);
    }
    ulna_test_swing_release(&s);
}

/* Two markers of one body without weight that are far off for a while are no reason to doubt a frame. */
static void markers_without_weight_raise_no_doubt(void **state)
{
    (void)state;
    enum { FRAMES = 120 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_clip clip;
    ulna_frame_report frames[FRAMES];
    int second = 1;
    while (second < (int)s.set.count && s.set.items[second].body != s.set.items[second - 1].body)
        second++;
    assert_true(second < (int)s.set.count);
    for (int i = second - 1; i <= second; i++) {
        s.set.items[i].weight = 0;
        for (int f = 40; f < 80; f++)
            marker_of(&s, f, i)[0] += 0.5;
    }
    ulna_track_summary summary = ulna_test_swing_track(&s, NULL, &clip, frames);
    assert_int_equal(summary.doubtful + summary.bridged + summary.lost, 0);
    ulna_clip_release(&clip);
    ulna_test_swing_release(&s);
}

/* Plain least squares count a stray marker in full, with later frames known or not. Its small weight keeps its neighbours in
 * place, as a robust loss would. */
static void least_squares_leave_no_marker_out(void **state)
{
    (void)state;
    enum { FRAMES = 120, FIRST = 40, LAST = 80 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    double f[2] = {0, 0};
    s.set.items[4].weight = 0.05;
    for (int i = FIRST; i < LAST; i++)
        marker_of(&s, i, 4)[1] += 0.2;
    for (int causal = 0; causal < 2; causal++) {
        ulna_clip clip;
        ulna_frame_report frames[FRAMES];
        ulna_track_options options = ulna_track_options_default();
        options.loss = ULNA_LOSS_SQUARE;
        options.causal = causal;
        ulna_test_swing_track(&s, &options, &clip, frames);
        for (int i = FIRST; i < LAST; i++)
            f[causal] += frames[i].f;
        ulna_clip_release(&clip);
    }
    assert_true(f[0] <= 1.01 * f[1]);
    ulna_test_swing_release(&s);
}

/* Residuals are those of the last frame, whether it was reported or not, and none after an empty one. */
static void residuals_are_those_of_the_last_frame(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(3, 0);
    int count = s.recording.marker_count;
    double *q = ulna_test_numbers(s.nq), *one = ulna_test_numbers(count), *other = ulna_test_numbers(count);
    ulna_tracker *tracker;
    ulna_frame_report report;
    marker_of(&s, 1, 4)[0] += 0.03;
    assert_int_equal(ulna_tracker_create(s.model, &s.set, NULL, NULL, &tracker, NULL), ULNA_OK);
    assert_int_equal(ulna_tracker_residuals(tracker, one), ULNA_OK);
    assert_true(isnan(one[0]));
    for (int reported = 0; reported < 2; reported++) {
        ulna_tracker_reset(tracker, NULL);
        for (int f = 0; f < 2; f++)
            assert_int_equal(ulna_tracker_frame(tracker, marker_of(&s, f, 0), q, reported && f == 1 ? &report : NULL),
                             ULNA_OK);
        assert_int_equal(ulna_tracker_residuals(tracker, reported ? other : one), ULNA_OK);
    }
    assert_memory_equal(one, other, (size_t)count * sizeof *one);
    assert_true(one[4] > 0.005 && other[report.worst_marker] == report.worst);
    empty(&s, 2, 3);
    assert_int_equal(ulna_tracker_frame(tracker, marker_of(&s, 2, 0), q, NULL), ULNA_OK);
    assert_int_equal(ulna_tracker_residuals(tracker, one), ULNA_OK);
    for (int m = 0; m < count; m++)
        assert_true(isnan(one[m]));
    ulna_tracker_destroy(tracker);
    free(q);
    free(one);
    free(other);
    ulna_test_swing_release(&s);
}

/* Markers without weight are neither followed nor missed; if none has any, there is nothing to track. */
static void weights_may_be_zero(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(10, 0);
    ulna_clip clip;
    ulna_error error;
    s.set.items[4].weight = 0;
    for (int f = 0; f < 10; f++)
        marker_of(&s, f, 4)[1] += 0.5;
    ulna_track_options options = ulna_track_options_default();
    options.loss = ULNA_LOSS_SQUARE;
    ulna_track_summary summary = ulna_test_swing_track(&s, &options, &clip, NULL);
    assert_int_equal(summary.missing, 0);
    assert_true(summary.rms_max < 1e-4);
    ulna_clip_release(&clip);
    for (size_t i = 0; i < s.set.count; i++)
        s.set.items[i].weight = 0;
    clip = ulna_clip_empty(NULL);
    assert_says(ulna_test_track(s.model, &s.set, &s.recording, NULL, NULL, &clip, NULL, NULL, &error),
                ULNA_ERR_ARGUMENT, "weight above 0");
    ulna_test_swing_release(&s);
}

static void a_marker_on_no_body_is_refused(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(1, 0);
    ulna_tracker *tracker;
    ulna_error error;
    s.set.items[2].body = 100000;
    assert_says(ulna_tracker_create(s.model, &s.set, NULL, NULL, &tracker, &error), ULNA_ERR_ARGUMENT, "body 100000");
    assert_null(tracker);
    ulna_test_swing_release(&s);
}

/* Every allocation of a take in chunks fails once. */
static void memory_may_run_out_in_chunks(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(9, 0);
    ulna_track_options options = ulna_track_options_default();
    options.chunk_frames = 3;
    options.overlap_frames = 1;
    options.fresh.restarts = 0;
    int failed = 1;
    for (long fail = 0; failed; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_clip clip = ulna_clip_empty(&allocator);
        ulna_status status = ulna_test_track(s.model, &s.set, &s.recording, NULL, &options, &clip, NULL, NULL, NULL);
        failed = memory.failed;
        assert_int_equal(status, failed ? ULNA_ERR_MEMORY : ULNA_OK);
        ulna_clip_release(&clip);
        ulna_test_memory_check(&memory);
        assert_true(fail < 1000);
    }
    ulna_test_swing_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_bad_frame_is_one_lost_frame),
        cmocka_unit_test(a_robust_loss_bears_a_bad_frame),
        cmocka_unit_test(a_robust_start_bears_stray_markers),
        cmocka_unit_test(a_start_ends_where_restarts_agree),
        cmocka_unit_test(a_global_search_finds_the_track),
        cmocka_unit_test(long_garbage_stays_lost),
        cmocka_unit_test(positions_that_are_none_are_missing),
        cmocka_unit_test(a_hidden_limb_is_held_or_bridged),
        cmocka_unit_test(a_flickering_girdle_does_not_hide_a_gap),
        cmocka_unit_test(a_limb_that_is_not_seen_again_is_marked),
        cmocka_unit_test(a_girdle_goes_with_its_hidden_limb),
        cmocka_unit_test(a_gap_to_the_end_is_held_over_chunks),
        cmocka_unit_test(a_gap_over_a_seam_keeps_its_turns),
        ulna_test_needs("hdm05 ../oracles/hdm05", cmocka_unit_test(hdm05_has_no_seams)),
        cmocka_unit_test(any_chunk_length_will_do),
        cmocka_unit_test(a_caller_may_cancel),
        cmocka_unit_test(a_caller_may_cancel_when_the_frames_are_tracked),
        cmocka_unit_test(progress_ends_with_the_last_frame),
        cmocka_unit_test(markers_without_weight_raise_no_doubt),
        cmocka_unit_test(least_squares_leave_no_marker_out),
        cmocka_unit_test(residuals_are_those_of_the_last_frame),
        cmocka_unit_test(weights_may_be_zero),
        cmocka_unit_test(a_marker_on_no_body_is_refused),
        cmocka_unit_test(memory_may_run_out_in_chunks),
    };
    return cmocka_run_group_tests_name("track edges", tests, NULL, NULL);
}
