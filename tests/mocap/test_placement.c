/* Markers that were placed anew between recordings. */
#include <math.h>
#include <stdio.h>

#include "support.h"
#include "ulna/mocap.h"

enum { FRAMES = 500 };

/* Three markers of a bone that goes through the room: B is `along` from A, C above; skin moves B by `skin` at most. */
static ulna_recording make(int frames, const char *prefix, double along, double skin)
{
    ulna_recording r = ulna_recording_empty(NULL);
    assert_int_equal(ulna_recording_resize(&r, 3, frames), ULNA_OK);
    for (int i = 0; i < 3; i++)
        snprintf(r.names[i], sizeof r.names[i], "%s%c", prefix, 'A' + i);
    for (int f = 0; f < frames; f++) {
        double angle = 0.01 * f, *x = ulna_recording_frame(&r, f), by = along + skin * sin(0.3 * f);
        const double local[3][2] = {{0, 0}, {by, 0}, {0.1, 0.15}};
        for (int i = 0; i < 3; i++) {
            x[3 * i] = 0.02 * f + cos(angle) * local[i][0] - sin(angle) * local[i][1];
            x[3 * i + 1] = sin(angle) * local[i][0] + cos(angle) * local[i][1];
            x[3 * i + 2] = 1;
        }
    }
    return r;
}

/* Compares a recording, and releases it. */
static int is_anew(ulna_recording r, int learn, ulna_marker_distance *pairs, size_t count)
{
    int anew = -1;
    assert_int_equal(ulna_placement_compare(&r, learn, pairs, count, &anew), ULNA_OK);
    ulna_recording_release(&r);
    return anew;
}

static void markers_placed_anew_are_told(void **state)
{
    (void)state;
    ulna_marker_distance pairs[] = {{"A", "B", NAN, NAN}, {"A", "C", NAN, NAN}, {"A", "D", NAN, NAN}};
    assert_false(is_anew(make(FRAMES, "", 0.2, 0.002), 0, pairs, 3)); /* nothing is known yet */
    assert_true(isnan(pairs[0].low));
    assert_false(is_anew(make(FRAMES, "", 0.2, 0.002), 1, pairs, 3));
    assert_true(pairs[0].low > 0.1979 && pairs[0].low < 0.1981 && pairs[0].high > 0.2019 && pairs[0].high < 0.2021);
    assert_true(fabs(pairs[1].low - hypot(0.1, 0.15)) < 1e-9 && isnan(pairs[2].low));
    assert_false(is_anew(make(FRAMES, "Eva:", 0.203, 0.002), 0, pairs, 3)); /* another prefix; within what skin does */
    assert_false(is_anew(make(20, "", 0.2015, 0.0001), 0, pairs, 3));       /* short: skin hardly moves */
    double low = pairs[0].low, high = pairs[0].high;
    assert_true(is_anew(make(FRAMES, "Eva:", 0.215, 0.002), 1, pairs, 3));
    assert_true(is_anew(make(FRAMES, "", 0.185, 0.002), 1, pairs, 3));
    assert_true(pairs[0].low == low && pairs[0].high == high); /* not learnt */
    assert_false(is_anew(make(5, "", 0.25, 0), 0, pairs, 3));  /* too short to say */
    assert_false(is_anew(make(FRAMES, "", 0.204, 0.002), 1, pairs, 3));
    assert_true(pairs[0].low == low && pairs[0].high > 0.2059);
}

static void zeros_and_gaps_do_not_count(void **state)
{
    (void)state;
    ulna_marker_distance pair = {"A", "B", NAN, NAN};
    assert_false(is_anew(make(FRAMES, "", 0.2, 0.002), 1, &pair, 1));
    ulna_recording r = make(FRAMES, "", 0.2, 0.002);
    for (int f = 0; f < FRAMES; f++)
        for (int k = 3; k < 6 && f % 5 != 0; k++)
            ulna_recording_frame(&r, f)[k] = f % 2 ? 0 : NAN;
    assert_false(is_anew(r, 0, &pair, 1));
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    int anew;
    ulna_marker_distance pair = {"A", "B", NAN, NAN};
    ulna_recording r = make(FRAMES, "", 0.2, 0);
    assert_int_equal(ulna_placement_compare(NULL, 0, &pair, 1, &anew), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_placement_compare(&r, 0, NULL, 1, &anew), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_placement_compare(&r, 0, &pair, 1, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_placement_compare(&r, 0, NULL, 0, &anew), ULNA_OK);
    assert_false(anew);
    pair.b = NULL; /* says nothing, as a name that the recording does not have */
    assert_int_equal(ulna_placement_compare(&r, 1, &pair, 1, &anew), ULNA_OK);
    assert_false(anew);
    ulna_recording_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markers_placed_anew_are_told),
        cmocka_unit_test(zeros_and_gaps_do_not_count),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
