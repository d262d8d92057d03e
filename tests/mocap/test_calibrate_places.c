/* Whether a skeleton's own markers are this person's, on takes whose truth is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_calibrate.h"

enum { FRAMES = 500 };
static const double as_it_is[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* A motion of the built-in human, recorded with these markers. */
static ulna_recording walk_with(const ulna_model *model, const ulna_marker_set *set, int frames)
{
    ulna_clip clip = make_motion(model, frames, 5);
    ulna_recording recording = record(model, &clip, set);
    ulna_clip_release(&clip);
    recording.frame_seconds = 0.01;
    return recording;
}

/* Of each coordinate in each frame. */
static void add_noise(ulna_recording *recording, double sigma, uint64_t seed)
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    size_t count = 3 * (size_t)recording->marker_count * (size_t)recording->frame_count;
    for (size_t i = 0; i < count; i++)
        recording->positions[i] += sigma * ulna_test_rng_normal(&rng);
}

/* Skin that moves with the pose, slowly: the same in neighbouring frames. */
static void add_skin(ulna_recording *recording, double sigma, uint64_t seed)
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    for (int i = 0; i < 3 * recording->marker_count; i++) {
        double pace = ulna_test_rng_uniform(&rng, 0.01, 0.05), phase = ulna_test_rng_uniform(&rng, 0, 6);
        for (int f = 0; f < recording->frame_count; f++)
            ulna_recording_frame(recording, f)[i] += sigma * sqrt(2) * sin(phase + pace * f);
    }
}

static ulna_places_choice choose(const ulna_model *model, const ulna_recording *recording)
{
    ulna_take_options options = ulna_take_options_default();
    ulna_places_choice choice;
    ulna_error error;
    ulna_error_clear(&error);
    options.model = model;
    options.recording = recording;
    options.axes = as_it_is;
    if (ulna_places_choose(&options, &choice, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    return choice;
}

static void test_own_markers_are_kept(void **state)
{
    (void)state;
    static const double noise[] = {0, 1e-3, 3e-3, 1e-2, 2e-2};
    ulna_model *model = sample("human");
    ulna_marker_set own = own_markers(model);
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++) {
        ulna_recording recording = walk_with(model, &own, FRAMES);
        add_noise(&recording, noise[i], 7);
        ulna_places_choice choice = choose(model, &recording);
        assert_int_equal(choice.is_calibration_needed, 0);
        assert_true(choice.rms_own < 2 * noise[i] + 3e-3);
        assert_int_equal(isnan(choice.rms_calibrated),
                         noise[i] < 5e-3); /* nothing is calibrated where there is no need */
        ulna_recording_release(&recording);
    }
    ulna_marker_set_release(&own);
    ulna_model_destroy(model);
}

/* The skeleton has the offsets of another take of the session: skin was elsewhere by as much as it moves within a take. */
static void test_markers_of_another_take_are_kept(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set own = own_markers(model);
    for (uint64_t seed = 1; seed < 4; seed++) {
        ulna_marker_set now = disturbed(&own, 5e-3, seed);
        ulna_recording recording = walk_with(model, &now, FRAMES);
        add_skin(&recording, 5e-3, seed + 10);
        ulna_places_choice choice = choose(model, &recording);
        assert_true(choice.rms_own > choice.rms_calibrated); /* it fits its own take better, and that is no reason */
        assert_int_equal(choice.is_calibration_needed, 0);
        ulna_recording_release(&recording);
        ulna_marker_set_release(&now);
    }
    ulna_marker_set_release(&own);
    ulna_model_destroy(model);
}

static void test_markers_of_another_person_are_not(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set own = own_markers(model);
    for (uint64_t seed = 1; seed < 4; seed++) {
        ulna_marker_set theirs = disturbed(&own, 0.02, seed);
        ulna_recording recording = walk_with(model, &theirs, FRAMES);
        add_skin(&recording, 3e-3, seed + 10);
        add_noise(&recording, 1e-3, seed);
        for (int f = 0; f < FRAMES; f += 9) /* strays decide nothing */
            ulna_recording_frame(&recording, f)[3 * (f % 40)] += 2;
        ulna_places_choice choice = choose(model, &recording);
        assert_int_equal(choice.is_calibration_needed, 1);
        assert_true(choice.rms_own > 2 * choice.rms_calibrated);
        ulna_recording_release(&recording);
        ulna_marker_set_release(&theirs);
    }
    ulna_marker_set_release(&own);
    ulna_model_destroy(model);
}

/* Offsets that are found where nothing moves fit whatever they are: they do not replace those that fit well enough. */
static void test_a_take_that_stands_still(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set own = own_markers(model);
    static const double off[] = {4e-3, 0.03};
    for (int way = 0; way < 2; way++) {
        ulna_marker_set now = disturbed(&own, off[way], 3);
        ulna_recording recording = walk_with(model, &now, FRAMES);
        size_t bytes = 3 * sizeof(double) * (size_t)recording.marker_count;
        for (int f = 1; f < FRAMES; f++)
            memcpy(ulna_recording_frame(&recording, f), ulna_recording_frame(&recording, 0), bytes);
        add_noise(&recording, 2e-4, 1);
        ulna_places_choice choice = choose(model, &recording);
        assert_int_equal(choice.is_calibration_needed, way);
        ulna_recording_release(&recording);
        ulna_marker_set_release(&now);
    }
    ulna_marker_set_release(&own);
    ulna_model_destroy(model);
}

/* Nor where there is a single frame: up to what markers on skin are off at most. */
static void test_a_single_frame(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set own = own_markers(model);
    static const double off[] = {8e-3, 0.03};
    for (int way = 0; way < 2; way++) {
        ulna_marker_set now = disturbed(&own, off[way], 3);
        ulna_recording recording = walk_with(model, &now, 1);
        ulna_places_choice choice = choose(model, &recording);
        assert_int_equal(choice.is_calibration_needed, way);
        assert_true(choice.rms_own > 2 * choice.rms_calibrated);
        ulna_recording_release(&recording);
        ulna_marker_set_release(&now);
    }
    ulna_marker_set_release(&own);
    ulna_model_destroy(model);
}

/* Names alone: a skeleton without markers, or with few of those that are recorded; not names that nobody knows. */
static void test_names(void **state)
{
    (void)state;
    ulna_model *model = sample("human"), *bare = sample("human");
    ulna_builder *builder;
    ulna_marker_set own = own_markers(model);
    ulna_recording recording = walk_with(model, &own, 50);
    assert_int_equal(choose(model, &recording).is_calibration_needed, 0);
    for (int i = 0; i < recording.marker_count; i++)
        snprintf(recording.names[i], sizeof recording.names[i], "P%d", i);
    assert_int_equal(choose(model, &recording).is_calibration_needed, 0);
    for (int i = 0; i < recording.marker_count;
         i++) /* six keep their own name, and others have those of another marker set */
        snprintf(recording.names[i], sizeof recording.names[i], "%s", i < 6 ? own.items[i].marker : "");
    static const char *const known[] = {"R.Acromium", "V.Sacral",    "L.Knee.Lat", "R.Knee.Lat",  "L.Heel",
                                        "R.Heel",     "L.Toe.Tip",   "R.ASIS",     "L.Ankle.Lat", "L.ASIS",
                                        "L.Acromium", "R.Ankle.Lat", "R.Toe.Tip"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        snprintf(recording.names[6 + i], sizeof recording.names[i], "%s", known[i]);
    assert_int_equal(choose(model, &recording).is_calibration_needed, 1);

    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    assert_int_equal(ulna_builder_add_body(builder, "pelvis", ULNA_NONE, NULL, NULL), 0);
    ulna_model_destroy(bare);
    assert_int_equal(ulna_builder_build(builder, NULL, &bare, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    assert_int_equal(choose(bare, &recording).is_calibration_needed, 1);
    ulna_model_destroy(bare);
    ulna_recording_release(&recording);
    ulna_marker_set_release(&own);
    ulna_model_destroy(model);
}

/* A calibration would lose a marker whose name nobody knows. */
static void test_a_marker_that_only_the_skeleton_knows(void **state)
{
    (void)state;
    static const double on_the_hip[3] = {0, -0.2, 0.06};
    ulna_model *human = sample("human"), *model;
    ulna_builder *builder;
    assert_int_equal(ulna_builder_from_model(human, NULL, &builder, NULL), ULNA_OK);
    assert_int_equal(
        ulna_builder_add_marker(builder, "Q7", ulna_model_marker_body(human, 0), on_the_hip, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    ulna_marker_set own = own_markers(model), theirs = disturbed(&own, 0.03, 2);
    ulna_recording recording = walk_with(model, &theirs, FRAMES);
    assert_int_equal(choose(model, &recording).is_calibration_needed, 0);
    assert_int_equal(choose(human, &recording).is_calibration_needed, 1);
    ulna_recording_release(&recording);
    ulna_marker_set_release(&theirs);
    ulna_marker_set_release(&own);
    ulna_model_destroy(model);
    ulna_model_destroy(human);
}

static void test_misuse_and_memory(void **state)
{
    (void)state;
    ulna_places_choice choice;
    ulna_take_options options = ulna_take_options_default();
    assert_int_equal(ulna_places_choose(NULL, &choice, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_places_choose(&options, &choice, NULL), ULNA_ERR_ARGUMENT);
    ulna_model *model = sample("human");
    ulna_marker_set own = own_markers(model), theirs = disturbed(&own, 0.03, 2);
    ulna_recording recording = walk_with(model, &theirs, 3);
    options.model = model;
    options.recording = &recording;
    options.axes = as_it_is;
    assert_int_equal(ulna_places_choose(&options, NULL, NULL), ULNA_ERR_ARGUMENT);
    int refused = 0;
    for (long n = 0;; n += 1 + n / 20) {
        ulna_test_memory memory = {.fail_at = n};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        options.allocator = &allocator;
        ulna_status status = ulna_places_choose(&options, &choice, NULL);
        ulna_test_memory_check(&memory);
        if (!memory.failed)
            break;
        assert_true(status == ULNA_ERR_MEMORY || status == ULNA_OK);
        refused += status == ULNA_ERR_MEMORY;
    }
    assert_true(refused > 10);
    ulna_recording_release(&recording);
    ulna_marker_set_release(&theirs);
    ulna_marker_set_release(&own);
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_markers_are_kept),
        cmocka_unit_test(test_markers_of_another_take_are_kept),
        cmocka_unit_test(test_markers_of_another_person_are_not),
        cmocka_unit_test(test_a_take_that_stands_still),
        cmocka_unit_test(test_a_single_frame),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_a_marker_that_only_the_skeleton_knows),
        cmocka_unit_test(test_misuse_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
