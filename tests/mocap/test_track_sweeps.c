/* Sweeps abreast against sweeps frame by frame, on takes of any length, with gaps, limbs that are hidden, and frames without markers. */
#include <math.h>
#include <string.h>

#include "mocap/tracker.h"
#include "objective/problem.h"
#include "support.h"
#include "support_take.h"
#include "ulna/mocap.h"

/* A posture of no weight. It changes nothing, but who adds terms on coordinates has every frame swept by itself. */
static ulna_status add_nothing(void *context, ulna_problem *problem, ulna_error *error)
{
    (void)context;
    return ulna_problem_add_posture(problem, NULL, NULL, 0, NULL, error);
}

/* Noise, an arm that is hidden for a while, gaps, and frames with no marker at all. */
static void disturb(ulna_test_rng *rng, ulna_recording *recording)
{
    int frames = recording->frame_count, count = recording->marker_count;
    for (int f = 0; f < frames; f++) {
        double *row = ulna_recording_frame(recording, f);
        for (int m = 0; m < count; m++) {
            const char *name = recording->names[m];
            int is_arm = strstr(name, "LELB") || strstr(name, "LWR") || strstr(name, "LFIN") || strstr(name, "LFRM");
            int is_gone = (is_arm && 3 * f > frames && 2 * f < frames) || (f > 40 && f % 97 == 5) ||
                          ulna_test_rng_index(rng, 40) == 0;
            for (int k = 0; k < 3; k++)
                row[3 * m + k] = is_gone ? (double)NAN : row[3 * m + k] + ulna_test_rng_uniform(rng, -0.008, 0.008);
        }
    }
}

static ulna_track_result track(const ulna_test_take *made, int is_alone, size_t *markers)
{
    static const double as_it_is[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    ulna_take_options about = ulna_take_options_default();
    ulna_track_options options = ulna_track_options_default();
    ulna_track_result result = {0};
    ulna_take *take = NULL;
    ulna_error error;
    about.model = made->model;
    about.recording = &made->markers;
    about.axes = as_it_is;
    options.extend = is_alone ? add_nothing : NULL;
    if (ulna_take_create(&about, &take, &error) || ulna_track(take, &options, &result, &error))
        fail_msg("%s", error.message);
    *markers = take->set.count;
    ulna_take_destroy(take);
    return result;
}

static void compare_poses(const ulna_clip *abreast, const ulna_clip *alone)
{
    double worst = 0;
    assert_int_equal(abreast->frame_count, alone->frame_count);
    for (int f = 0; f < alone->frame_count; f++)
        for (int c = 0; c < alone->coordinate_count; c++)
            worst = fmax(worst, fabs(ulna_clip_frame(abreast, f)[c] - ulna_clip_frame(alone, f)[c]));
    if (!(worst <= 1e-9))
        fail_msg("%d frames: a coordinate differs by %g", alone->frame_count, worst);
}

/* Frames are measured abreast, too. */
static void compare_distances(const ulna_track_result *abreast, const ulna_track_result *alone, size_t markers)
{
    for (int f = 0; f < alone->clip.frame_count; f++) {
        const ulna_frame_report *a = &abreast->frames[f], *b = &alone->frames[f];
        assert_int_equal(a->flags, b->flags);
        assert_int_equal(a->seen, b->seen);
        assert_int_equal(a->outliers, b->outliers);
        assert_true(fabs(a->rms - b->rms) <= 1e-9);
        for (size_t i = (size_t)f * markers; i < (size_t)(f + 1) * markers; i++) {
            assert_true(isnan(abreast->distances[i]) == isnan(alone->distances[i]));
            if (!isnan(alone->distances[i]))
                assert_true(fabs(abreast->distances[i] - alone->distances[i]) <= 1e-9);
        }
    }
}

static void sweeps_are_the_same_abreast(void **state)
{
    (void)state;
    static const int lengths[] = {1, 2, 3, 31, 32, 63, 64, 65, 130, 255, 256, 400};
    ulna_test_rng rng = ulna_test_rng_seed(81);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ulna_test_take made = ulna_test_take_make(lengths[i]);
        disturb(&rng, &made.markers);
        size_t markers;
        ulna_track_result abreast = track(&made, 0, &markers), alone = track(&made, 1, &markers);
        compare_poses(&abreast.clip, &alone.clip);
        compare_distances(&abreast, &alone, markers);
        ulna_track_result_release(&abreast);
        ulna_track_result_release(&alone);
        ulna_test_take_release(&made);
    }
}

/* What is compared above are two ways, and the usual tracker takes the one that is faster. */
static void human_takes_are_swept_abreast(void **state)
{
    (void)state;
    static double leap[200];
    ulna_test_take made = ulna_test_take_make(1);
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    assert_int_equal(ulna_marker_set_from_model(&set, made.model), ULNA_OK);
    for (int is_alone = 0; is_alone < 2; is_alone++) {
        ulna_track_options options = ulna_track_options_default();
        ulna_tracker *tracker;
        ulna_abreast *abreast;
        options.extend = is_alone ? add_nothing : NULL;
        assert_int_equal(ulna_tracker_create(made.model, &set, &options, NULL, &tracker, NULL), ULNA_OK);
        assert_int_equal(ulna_tracker_abreast(tracker, leap, 1e-3, &abreast), ULNA_OK);
        assert_true((abreast != NULL) == !is_alone);
        ulna_abreast_destroy(abreast);
        ulna_tracker_destroy(tracker);
    }
    ulna_marker_set_release(&set);
    ulna_test_take_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sweeps_are_the_same_abreast),
                                       cmocka_unit_test(human_takes_are_swept_abreast)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
