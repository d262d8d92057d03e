/* Key points of marker-less systems: names, numbers, lengths, which hand, which way is up, and motions that come back. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mocap/keypoints.h"
#include "support_keypoints.h"
#include "support_model.h"
#include "support_take.h"
#include "support_tree.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

/* ---- names ---------------------------------------------------------------------------------------------------------- */

/* left_shoulder as LeftShoulder, LSHOULDER, shoulder.L, "Left shoulder" and Eve:left-shoulder. */
static void respell(const char *name, int way, char out[ULNA_MARKER_NAME])
{
    int is_left = strncmp(name, "left_", 5) == 0, is_right = strncmp(name, "right_", 6) == 0;
    const char *part = name + (is_left ? 5 : is_right ? 6 : 0), *side = is_left ? "Left" : is_right ? "Right" : "";
    const char *letter = is_left ? "L" : is_right ? "R" : "";
    snprintf(out, ULNA_MARKER_NAME,
             way == 0   ? "%s%s"
             : way == 1 ? "%.1s%s"
             : way == 2 ? "%s %s"
                        : "Eve:%s-%s",
             side, part);
    if (way == 3)
        snprintf(out, ULNA_MARKER_NAME, "%s%s%s", part, *letter ? "." : "", letter);
    for (char *at = out; *at && way == 1; at++)
        *at = (char)toupper((unsigned char)*at);
}

static void names_and_numbers_are_known(void **state)
{
    (void)state;
    int count;
    for (int s = 0; s <= ULNA_TEST_BODY_SYSTEMS; s++) {
        int wanted = s < ULNA_TEST_BODY_SYSTEMS ? ulna_test_body_systems[s].count : ULNA_TEST_HAND_POINTS;
        const char *name = s < ULNA_TEST_BODY_SYSTEMS ? ulna_test_body_systems[s].name : "MediaPipe hand";
        for (int way = 0; way < 2; way++) {
            ulna_recording r = ulna_test_keypoints_of(way                          ? NULL
                                                      : s < ULNA_TEST_BODY_SYSTEMS ? ulna_test_body_names[s]
                                                                                   : ulna_test_hand_names,
                                                      wanted, 1);
            const ulna_keypoint_system *found = ulna_keypoint_system_of(&r, &count);
            assert_non_null(found);
            assert_string_equal(found->name, name);
            assert_int_equal(count, wanted);
            for (int m = 0; m < wanted; m++) { /* the number means the name */
                char side, other;
                const ulna_keypoint *row = ulna_keypoint_of(found, &r, m, &side);
                assert_non_null(row);
                assert_ptr_equal(row, ulna_keypoint_named(found,
                                                          (s < ULNA_TEST_BODY_SYSTEMS ? ulna_test_body_names[s]
                                                                                      : ulna_test_hand_names)[m],
                                                          &other));
                assert_int_equal(side, other);
            }
            ulna_recording_release(&r);
        }
    }
    for (int way = 0; way < 5; way++) {
        ulna_recording r = ulna_test_keypoints_of(ulna_test_body_names[0], 17, 1);
        for (int m = 0; m < 17; m++)
            respell(ulna_test_body_names[0][m], way, r.names[m]);
        const ulna_keypoint_system *found = ulna_keypoint_system_of(&r, &count);
        if (!found || strcmp(found->name, "COCO") != 0 || count != 17)
            fail_msg("spelling %d, such as '%s': %d are known", way, r.names[5], count);
        ulna_recording_release(&r);
    }
}

static void markers_are_no_key_points(void **state)
{
    (void)state;
    int count;
    ulna_test_take take = ulna_test_take_make(2);
    assert_null(ulna_keypoint_system_of(&take.markers, &count));
    ulna_test_take_release(&take);
    ulna_recording r = ulna_test_keypoints_of(NULL, 20, 1);
    assert_null(ulna_keypoint_system_of(&r, &count)); /* no system has twenty */
    ulna_recording_release(&r);
}

/* ---- bodies ---------------------------------------------------------------------------------------------------------- */

/* Someone with long arms and short legs. */
static ulna_model *another_person(const ulna_model *model)
{
    ulna_model *person;
    int count = ulna_model_body_count(model);
    double *lengths = ulna_test_numbers(count);
    for (int b = 0; b < count; b++) {
        const char *name = ulna_model_body_name(model, b);
        double factor = strstr(name, "forearm") || strstr(name, "hand")         ? 1.12
                        : strstr(name, "shank") || strstr(name, "foot")         ? 0.85
                        : strstr(name, "clavicle") || strstr(name, "upper_arm") ? 0.9
                                                                                : 0.95;
        lengths[b] = factor * ulna_model_bone_length(model, b);
    }
    assert_int_equal(ulna_model_with_lengths(model, lengths, NULL, &person, NULL), ULNA_OK);
    free(lengths);
    return person;
}

typedef struct outcome {
    double joint_rms, length_worst; /* m; share */
} outcome;

static outcome solve(const ulna_model *model, const ulna_recording *r, const ulna_model *person, const ulna_clip *truth,
                     const char *system)
{
    static const char *const joints[] = {"upper_arm", "forearm", "hand", "thigh", "shank", "foot"};
    ulna_take_options options = ulna_take_options_default();
    ulna_take *take;
    ulna_track_result result = {0};
    ulna_error error;
    ulna_pose *a, *b;
    outcome out = {0, 0};
    options.model = model;
    options.recording = r;
    options.attach = ULNA_ATTACH_KEYPOINTS;
    if (ulna_take_create(&options, &take, &error) || ulna_track(take, NULL, &result, &error))
        fail_msg("%s: %s", system, error.message);
    assert_string_equal(take->keypoints, system);
    assert_ptr_equal(take->model, take->scaled);
    assert_int_equal(ulna_pose_create(take->model, NULL, &a, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_create(person, NULL, &b, NULL), ULNA_OK);
    int count = 0;
    for (int f = 0; f < truth->frame_count; f++) {
        ulna_pose_forward(a, ulna_clip_frame(&result.clip, f));
        ulna_pose_forward(b, ulna_clip_frame(truth, f));
        for (size_t j = 0; j < 2 * sizeof joints / sizeof *joints; j++) {
            char name[64];
            double x[3], y[3];
            snprintf(name, sizeof name, "%s_%s", j % 2 ? "left" : "right", joints[j / 2]);
            int body = ulna_model_find_body(person, name);
            ulna_pose_body(a, body, x, NULL);
            ulna_pose_body(b, body, y, NULL);
            for (int k = 0; k < 3; k++)
                out.joint_rms += (x[k] - y[k]) * (x[k] - y[k]);
            count++;
            if (j / 2 != 0 && j / 2 != 3)
                out.length_worst =
                    fmax(out.length_worst,
                         fabs(ulna_model_bone_length(take->model, body) / ulna_model_bone_length(person, body) - 1));
        }
    }
    out.joint_rms = sqrt(out.joint_rms / count);
    ulna_pose_destroy(a);
    ulna_pose_destroy(b);
    ulna_track_result_release(&result);
    ulna_take_destroy(take);
    return out;
}

static void bodies_come_back(void **state)
{
    (void)state;
    ulna_test_take take = ulna_test_take_make(120);
    ulna_model *person = another_person(take.model);
    for (int s = 0; s < ULNA_TEST_BODY_SYSTEMS; s++)
        for (int noisy = 0; noisy < 2; noisy++) {
            ulna_recording r = ulna_test_record_body(person, &take.clip, ulna_test_body_names[s],
                                                     ulna_test_body_systems[s].count, noisy ? .01 : 0, 0);
            outcome o = solve(take.model, &r, person, &take.clip, ulna_test_body_systems[s].name);
            print_message("%s%s: joints off by %.1f mm, lengths by %.2f %%\n", ulna_test_body_systems[s].name,
                          noisy ? ", 1 cm of noise" : "", 1e3 * o.joint_rms, 100 * o.length_worst);
            assert_true(o.joint_rms < (noisy ? .015 : .008));
            assert_true(o.length_worst < (noisy ? .02 : 1e-6));
            ulna_recording_release(&r);
        }
    ulna_model_destroy(person);
    ulna_test_take_release(&take);
}

/* Y points down in MediaPipe's world: the person stands upright all the same. */
static void down_becomes_up(void **state)
{
    (void)state;
    ulna_test_take take = ulna_test_take_make(60);
    ulna_recording r = ulna_test_record_body(take.model, &take.clip, ulna_test_body_names[3], 33, 0, 1);
    outcome o = solve(take.model, &r, take.model, &take.clip, "MediaPipe body");
    assert_true(o.joint_rms < .008);
    ulna_recording_release(&r);
    ulna_test_take_release(&take);
}

/* Lengths are those of the frames that are used, and 0, 0, 0 is no place but for the origin. */
static void only_what_is_seen_counts(void **state)
{
    (void)state;
    ulna_test_take take = ulna_test_take_make(60);
    ulna_model *person = another_person(take.model);
    ulna_recording r = ulna_test_record_body(person, &take.clip, ulna_test_body_names[0], 17, 0, 0);
    for (int f = 0; f < 40; f++) { /* another person was there before */
        double *x = ulna_recording_frame(&r, f);
        for (int i = 0; i < 3 * 17; i++)
            x[i] *= 1.5;
    }
    int knee = 14, hidden = ulna_recording_find(&r, "right_wrist"); /* never found, and found in few frames */
    for (int f = 0; f < 60; f++)
        for (int k = 0; k < 3; k++) {
            ulna_recording_frame(&r, f)[3 * hidden + k] = 0;
            if (f < 55)
                ulna_recording_frame(&r, f)[3 * knee + k] = 0;
        }
    ulna_recording_frame(&r, 0)[3 * hidden] = NAN;
    ulna_take_options options = ulna_take_options_default();
    ulna_take *made;
    ulna_error error;
    options.model = take.model;
    options.recording = &r;
    options.attach = ULNA_ATTACH_KEYPOINTS;
    options.first_frame = r.first_frame + 40;
    if (ulna_take_create(&options, &made, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    static const char *const bones[] = {"left_forearm", "left_hand", "left_shank", "left_foot", "right_shank"};
    for (size_t i = 0; i < sizeof bones / sizeof *bones; i++) {
        int body = ulna_model_find_body(person, bones[i]);
        double ratio = ulna_model_bone_length(made->model, body) / ulna_model_bone_length(person, body);
        if (fabs(ratio - 1) > 1e-6)
            fail_msg("%s is %g times as long", bones[i], ratio);
    }
    ulna_take_destroy(made);
    ulna_recording_release(&r);
    ulna_model_destroy(person);
    ulna_test_take_release(&take);
}

/* ---- hands ----------------------------------------------------------------------------------------------------------- */

static ulna_status hand_take(const ulna_model *model, const ulna_recording *r, double *rms, ulna_error *error)
{
    ulna_take_options options = ulna_take_options_default();
    ulna_take *take;
    ulna_track_result result = {0};
    options.model = model;
    options.recording = r;
    options.attach = ULNA_ATTACH_KEYPOINTS;
    ulna_status status = ulna_take_create(&options, &take, error);
    if (status != ULNA_OK)
        return status;
    assert_string_equal(take->keypoints, "MediaPipe hand");
    assert_int_equal(ulna_track(take, NULL, &result, error), ULNA_OK);
    *rms = result.summary.rms_mean;
    ulna_track_result_release(&result);
    ulna_take_destroy(take);
    return ULNA_OK;
}

static void hands_come_back(void **state)
{
    (void)state;
    static const char *const names[2] = {"hand", "right-hand"};
    ulna_model *hands[2];
    ulna_error error;
    double rms = 1;
    for (int h = 0; h < 2; h++)
        assert_int_equal(ulna_sample_create(names[h], NULL, &hands[h], NULL), ULNA_OK);
    for (int h = 0; h < 2; h++) {
        ulna_recording r = ulna_test_record_hand(hands[h], 0.8, 90);
        assert_int_equal(hand_take(hands[h], &r, &rms, &error), ULNA_OK);
        print_message("%s: off by %.2f mm\n", names[h], 1e3 * rms);
        assert_true(rms < .001);
        assert_int_equal(hand_take(hands[1 - h], &r, &rms, &error), ULNA_ERR_UNSUPPORTED);
        assert_non_null(strstr(error.message, h ? "those of a right hand" : "those of a left hand"));
        ulna_recording_release(&r);
    }
    ulna_recording big = ulna_test_record_hand(hands[0], 1000, 5); /* millimetres that were read as metres */
    assert_int_equal(hand_take(hands[0], &big, &rms, &error), ULNA_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "1000 times as large as the skeleton: is their unit of length right?"));
    ulna_recording_release(&big);
    ulna_model *arm;
    assert_int_equal(ulna_sample_create("arm", NULL, &arm, NULL), ULNA_OK);
    ulna_recording r = ulna_test_record_hand(hands[0], 1, 5);
    assert_int_equal(hand_take(arm, &r, &rms, &error), ULNA_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "no bones of the usual names"));
    ulna_recording_release(&r);
    ulna_model_destroy(arm);
    ulna_model_destroy(hands[0]);
    ulna_model_destroy(hands[1]);
}

static void a_recorded_hand_is_solved(void **state)
{
    (void)state;
    char path[512];
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    ulna_model *hand;
    double rms = 1;
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), "hand/dexretarget_human_joint_right.csv");
    assert_int_equal(ulna_content_load(path, NULL, &content, &error), ULNA_OK);
    assert_int_equal(ulna_sample_create("right-hand", NULL, &hand, NULL), ULNA_OK);
    assert_int_equal(hand_take(hand, &content.recording, &rms, &error), ULNA_OK);
    print_message("621 frames whose bone lengths vary: off by %.1f mm\n", 1e3 * rms);
    assert_true(rms < .0055);
    ulna_model_destroy(hand);
    ulna_content_release(&content);
}

/* ---- what cannot be right ---------------------------------------------------------------------------------------------- */

static unsigned doubts_of(const ulna_model *model, const ulna_recording *r)
{
    ulna_take_options options = ulna_take_options_default();
    ulna_take *take;
    ulna_error error;
    options.model = model;
    options.recording = r;
    options.attach = ULNA_ATTACH_KEYPOINTS;
    options.check = 1;
    if (ulna_take_create(&options, &take, &error))
        fail_msg("%s", error.message);
    unsigned doubts = take->doubts;
    ulna_take_destroy(take);
    return doubts;
}

static void scale_axis(ulna_recording *r, int axis, double by)
{
    for (int i = 0; i < r->frame_count * r->marker_count; i++)
        r->positions[3 * i + axis] *= by;
}

/* Joints alone, as SMPL has them, differ from their mirror image by the way in which they bend. */
static void mirrored_and_flat_points_are_found(void **state)
{
    (void)state;
    ulna_test_take take = ulna_test_take_make(60);
    const unsigned sides = ULNA_DOUBT_MIRRORED | ULNA_DOUBT_SIDES;
    for (int s = 0; s < ULNA_TEST_BODY_SYSTEMS; s++) {
        ulna_recording r = ulna_test_record_body(take.model, &take.clip, ulna_test_body_names[s],
                                                 ulna_test_body_systems[s].count, 0.01, 0);
        assert_int_equal(doubts_of(take.model, &r), 0);
        for (int axis = 0; axis < 3; axis += 2) {
            scale_axis(&r, axis, -1);
            if (!(doubts_of(take.model, &r) & sides))
                fail_msg("%s is mirrored, and nothing is said", ulna_test_body_systems[s].name);
            scale_axis(&r, axis, -1);
        }
        scale_axis(&r, 2, 0);
        assert_true(doubts_of(take.model, &r) & ULNA_DOUBT_FLAT);
        ulna_recording_release(&r);
    }
    ulna_test_take_release(&take);
    ulna_model *hand;
    assert_int_equal(ulna_sample_create("hand", NULL, &hand, NULL), ULNA_OK);
    ulna_recording r = ulna_test_record_hand(hand, 1, 30);
    assert_int_equal(doubts_of(hand, &r), 0);
    scale_axis(&r, 2, 0);
    assert_true(doubts_of(hand, &r) & ULNA_DOUBT_FLAT);
    ulna_recording_release(&r);
    ulna_model_destroy(hand);
}

/* ---- failures ---------------------------------------------------------------------------------------------------------- */

static void memory_may_fail_and_points_be_missing(void **state)
{
    (void)state;
    ulna_test_take take = ulna_test_take_make(3);
    ulna_recording r = ulna_test_record_body(take.model, &take.clip, ulna_test_body_names[0], 17, 0, 0);
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_take_options options = ulna_take_options_default();
        ulna_take *made;
        options.model = take.model;
        options.recording = &r;
        options.attach = ULNA_ATTACH_KEYPOINTS;
        options.allocator = &allocator;
        ulna_status status = ulna_take_create(&options, &made, NULL);
        ulna_take_destroy(made);
        ulna_test_memory_check(&memory);
        if (!memory.failed) {
            assert_int_equal(status, ULNA_OK);
            break;
        }
        assert_int_equal(status, ULNA_ERR_MEMORY);
    }
    for (int i = 0; i < 3 * 3 * 17; i++)
        r.positions[i] = i % 2 ? NAN : INFINITY;
    ulna_take_options options = ulna_take_options_default();
    ulna_take *made;
    ulna_error error;
    options.model = take.model;
    options.recording = &r;
    options.attach = ULNA_ATTACH_KEYPOINTS;
    assert_int_equal(ulna_take_create(&options, &made, &error), ULNA_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "ever seen together"));
    ulna_recording_release(&r);
    ulna_test_take_release(&take);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_numbers_are_known),
        cmocka_unit_test(markers_are_no_key_points),
        cmocka_unit_test(bodies_come_back),
        cmocka_unit_test(down_becomes_up),
        cmocka_unit_test(only_what_is_seen_counts),
        cmocka_unit_test(hands_come_back),
        ulna_test_needs("hand", cmocka_unit_test(a_recorded_hand_is_solved)),
        cmocka_unit_test(mirrored_and_flat_points_are_found),
        cmocka_unit_test(memory_may_fail_and_points_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
