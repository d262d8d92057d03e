/* At 100 frames a second and more not every frame is followed; the sweeps solve them all, and nothing unusual is leapt over. */
#include "support.h"
#include "support_swing.h"

#include <math.h>
#include <stdlib.h>

enum { FRAMES = 240 };

/* Every frame one by one: a stop of the caller's own. */
static ulna_track_options one_by_one(void)
{
    ulna_track_options options = ulna_track_options_default();
    options.solve.decrease = 3e-2;
    return options;
}

static void average(const double *a, const double *b, double *mean, int count)
{
    for (int i = 0; i < count; i++)
        mean[i] = 0.5 * (a[i] + b[i]);
}

/* A recording of 120 frames a second; or the first half of it at 240, with the means of each two frames between them. */
static ulna_test_swing make_swing(int is_dense)
{
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    const int count = 3 * s.recording.marker_count;
    for (int f = FRAMES - 1; f > 0 && is_dense; f--) { /* from frames that are not yet written */
        average(ulna_recording_frame(&s.recording, f / 2), ulna_recording_frame(&s.recording, (f + 1) / 2),
                ulna_recording_frame(&s.recording, f), count);
        average(s.truth + f / 2 * s.nq, s.truth + (f + 1) / 2 * s.nq, s.truth + f * s.nq, s.nq);
    }
    return s;
}

static int count_followed(const ulna_frame_report *frames)
{
    int followed = 0;
    for (int f = 0; f < FRAMES; f++)
        followed += frames[f].iterations > 0;
    return followed;
}

/* Of all angles, and of the root's position in metres. */
static double rms_error(const ulna_test_swing *s, const ulna_clip *clip)
{
    double sum = 0;
    for (int f = 0; f < FRAMES; f++)
        for (int c = 0; c < s->nq; c++)
            sum += pow(ulna_clip_frame(clip, f)[c] - s->truth[f * s->nq + c], 2);
    return sqrt(sum / (FRAMES * s->nq));
}

static double farthest(const ulna_test_swing *s, const ulna_clip *a, const ulna_clip *b)
{
    double most = 0;
    for (int f = 0; f < FRAMES; f++)
        for (int c = 0; c < s->nq; c++)
            most = fmax(most, fabs(ulna_clip_frame(a, f)[c] - ulna_clip_frame(b, f)[c]));
    return most;
}

static void fast_cameras_have_frames_between(void **state)
{
    (void)state;
    static const struct {
        double rate;
        int is_dense, least, most; /* frames that are followed */
    } cases[] = {{0, 0, FRAMES, FRAMES}, {30, 0, FRAMES, FRAMES}, {99, 0, FRAMES, FRAMES}, {100, 0, 120, 140},
                 {120, 0, 120, 140},     {240, 1, 60, 90},        {10000, 1, 60, 90}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ulna_test_swing s = make_swing(cases[i].is_dense);
        ulna_frame_report frames[FRAMES], all[FRAMES];
        ulna_clip clip, slow;
        ulna_track_options options = one_by_one();
        s.recording.frame_seconds = cases[i].rate > 0 ? 1 / cases[i].rate : 0;
        ulna_track_summary summary = ulna_test_swing_track(&s, NULL, &clip, frames);
        ulna_test_swing_track(&s, &options, &slow, all);
        assert_in_range((unsigned)count_followed(frames), (unsigned)cases[i].least, (unsigned)cases[i].most);
        assert_int_equal(count_followed(all), FRAMES);
        assert_int_equal(summary.lost + summary.doubtful + summary.jumps, 0);
        assert_true(summary.rms_max < 1e-3);
        double error = rms_error(&s, &clip), error_one_by_one = rms_error(&s, &slow);
        if (!(error < 1.05 * error_one_by_one))
            fail_msg("%g Hz: %g rad off, %g where every frame is followed", cases[i].rate, error, error_one_by_one);
        ulna_clip_release(&clip);
        ulna_clip_release(&slow);
        ulna_test_swing_release(&s);
    }
}

/* The same result for any number of threads, also where chunks begin at odd frames. */
static void chunks_leap_alike(void **state)
{
    (void)state;
    ulna_test_swing s = make_swing(0);
    ulna_frame_report frames[FRAMES];
    ulna_clip clips[2];
    for (int k = 0; k < 2; k++) {
        ulna_track_options options = ulna_track_options_default();
        options.chunk_frames = 51;
        options.threads = k ? 4 : 1;
        ulna_track_summary summary = ulna_test_swing_track(&s, &options, &clips[k], frames);
        assert_int_equal(summary.lost + summary.doubtful, 0);
    }
    assert_true(farthest(&s, &clips[0], &clips[1]) == 0);
    ulna_clip_release(&clips[0]);
    ulna_clip_release(&clips[1]);
    ulna_test_swing_release(&s);
}

/* A spike, a gap, garbage and a cut, each in an odd frame and in an even one: marked as if every frame had been followed. */
static void nothing_unusual_is_leapt_over(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++)
        for (int at = 100; at < 102; at++) {
            ulna_test_swing s = make_swing(0);
            const int markers = s.recording.marker_count;
            for (int m = 0; m < markers; m++) {
                double *x = ulna_recording_frame(&s.recording, at) + 3 * m;
                if (kind == 0 && m == 3)
                    x[1] += 0.4;
                if (kind == 1 && m % 3 == 0)
                    x[0] = (double)NAN;
                if (kind == 2)
                    x[m % 3] += 0.5 * (m % 5 - 2);
                for (int f = at; f < FRAMES && kind == 3; f++)
                    ulna_recording_frame(&s.recording, f)[3 * m] += 1.5;
            }
            ulna_frame_report frames[2][FRAMES];
            ulna_clip clip[2];
            ulna_track_options options = one_by_one();
            ulna_test_swing_track(&s, NULL, &clip[0], frames[0]);
            ulna_test_swing_track(&s, &options, &clip[1], frames[1]);
            for (int f = 0; f < FRAMES; f++) {
                if (frames[0][f].flags != frames[1][f].flags)
                    fail_msg("kind %d at %d: frame %d has flags %x, one by one %x", kind, at, f, frames[0][f].flags,
                             frames[1][f].flags);
                assert_int_equal(frames[0][f].seen, frames[1][f].seen);
                assert_int_equal(frames[0][f].outliers, frames[1][f].outliers);
            }
            assert_in_range((unsigned)count_followed(frames[0]), 100, 200);
            ulna_clip_release(&clip[0]);
            ulna_clip_release(&clip[1]);
            ulna_test_swing_release(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_cameras_have_frames_between),
        cmocka_unit_test(chunks_leap_alike),
        cmocka_unit_test(nothing_unusual_is_leapt_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
