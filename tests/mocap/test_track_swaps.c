/* Markers that get each other's names: found where they leap, exchanged back, and reported. */
#include <math.h>
#include <string.h>

#include "support_swing.h"

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
            double way = k == 0 ? 0.04 * (f % 50 - 24.5) : k == 1 ? 0.01 : 1;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_exchanged_back),
        cmocka_unit_test(names_of_most_frames_are_right),
        cmocka_unit_test(three_names_go_round),
        cmocka_unit_test(what_is_no_exchange),
        cmocka_unit_test(hundreds_of_exchanges_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
