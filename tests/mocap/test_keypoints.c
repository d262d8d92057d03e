/* Key points of marker-less systems: names, numbers, lengths, which hand, which way is up, and motions that come back. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mocap/keypoints.h"
#include "support_model.h"
#include "support_take.h"
#include "support_tree.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

/* ---- names ---------------------------------------------------------------------------------------------------------- */

static const char *const body_names[][33] = {
    {"nose", "left_eye", "right_eye", "left_ear", "right_ear", "left_shoulder", "right_shoulder", "left_elbow",
     "right_elbow", "left_wrist", "right_wrist", "left_hip", "right_hip", "left_knee", "right_knee", "left_ankle",
     "right_ankle"},
    {"Nose", "Neck",    "RShoulder", "RElbow", "RWrist",  "LShoulder", "LElbow", "LWrist", "MidHip",
     "RHip", "RKnee",   "RAnkle",    "LHip",   "LKnee",   "LAnkle",    "REye",   "LEye",   "REar",
     "LEar", "LBigToe", "LSmallToe", "LHeel",  "RBigToe", "RSmallToe", "RHeel"},
    {"Pelvis",     "L_Hip",      "R_Hip",   "Spine1",  "L_Knee",  "R_Knee",   "Spine2",   "L_Ankle",
     "R_Ankle",    "Spine3",     "L_Foot",  "R_Foot",  "Neck",    "L_Collar", "R_Collar", "Head",
     "L_Shoulder", "R_Shoulder", "L_Elbow", "R_Elbow", "L_Wrist", "R_Wrist",  "L_Hand",   "R_Hand"},
    {"NOSE",        "LEFT_EYE_INNER",  "LEFT_EYE",        "LEFT_EYE_OUTER", "RIGHT_EYE_INNER",
     "RIGHT_EYE",   "RIGHT_EYE_OUTER", "LEFT_EAR",        "RIGHT_EAR",      "MOUTH_LEFT",
     "MOUTH_RIGHT", "LEFT_SHOULDER",   "RIGHT_SHOULDER",  "LEFT_ELBOW",     "RIGHT_ELBOW",
     "LEFT_WRIST",  "RIGHT_WRIST",     "LEFT_PINKY",      "RIGHT_PINKY",    "LEFT_INDEX",
     "RIGHT_INDEX", "LEFT_THUMB",      "RIGHT_THUMB",     "LEFT_HIP",       "RIGHT_HIP",
     "LEFT_KNEE",   "RIGHT_KNEE",      "LEFT_ANKLE",      "RIGHT_ANKLE",    "LEFT_HEEL",
     "RIGHT_HEEL",  "LEFT_FOOT_INDEX", "RIGHT_FOOT_INDEX"},
};

static const struct {
    const char *name;
    int count;
} body_systems[] = {{"COCO", 17}, {"OpenPose BODY_25", 25}, {"SMPL", 24}, {"MediaPipe body", 33}};

enum { BODY_SYSTEMS = 4, HAND_POINTS = 21 };

static const char *const hand_names[HAND_POINTS] = {"WRIST",
                                                    "THUMB_CMC",
                                                    "THUMB_MCP",
                                                    "THUMB_IP",
                                                    "THUMB_TIP",
                                                    "INDEX_FINGER_MCP",
                                                    "INDEX_FINGER_PIP",
                                                    "INDEX_FINGER_DIP",
                                                    "INDEX_FINGER_TIP",
                                                    "MIDDLE_FINGER_MCP",
                                                    "MIDDLE_FINGER_PIP",
                                                    "MIDDLE_FINGER_DIP",
                                                    "MIDDLE_FINGER_TIP",
                                                    "RING_FINGER_MCP",
                                                    "RING_FINGER_PIP",
                                                    "RING_FINGER_DIP",
                                                    "RING_FINGER_TIP",
                                                    "PINKY_MCP",
                                                    "PINKY_PIP",
                                                    "PINKY_DIP",
                                                    "PINKY_TIP"};

static ulna_recording recording_of(const char *const *names, int count, int frames)
{
    ulna_recording r = ulna_recording_empty(NULL);
    assert_int_equal(ulna_recording_resize(&r, count, frames), ULNA_OK);
    r.frame_seconds = 1.0 / 30;
    for (int m = 0; m < count; m++)
        if (names)
            snprintf(r.names[m], ULNA_MARKER_NAME, "%s", names[m]);
        else
            snprintf(r.names[m], ULNA_MARKER_NAME, "landmark_%d", m);
    return r;
}

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
    for (int s = 0; s <= BODY_SYSTEMS; s++) {
        int wanted = s < BODY_SYSTEMS ? body_systems[s].count : HAND_POINTS;
        const char *name = s < BODY_SYSTEMS ? body_systems[s].name : "MediaPipe hand";
        for (int way = 0; way < 2; way++) {
            ulna_recording r = recording_of(way ? NULL : s < BODY_SYSTEMS ? body_names[s] : hand_names, wanted, 1);
            const ulna_keypoint_system *found = ulna_keypoint_system_of(&r, &count);
            assert_non_null(found);
            assert_string_equal(found->name, name);
            assert_int_equal(count, wanted);
            for (int m = 0; m < wanted; m++) { /* the number means the name */
                char side, other;
                const ulna_keypoint *row = ulna_keypoint_of(found, &r, m, &side);
                assert_non_null(row);
                assert_ptr_equal(
                    row, ulna_keypoint_named(found, (s < BODY_SYSTEMS ? body_names[s] : hand_names)[m], &other));
                assert_int_equal(side, other);
            }
            ulna_recording_release(&r);
        }
    }
    for (int way = 0; way < 5; way++) {
        ulna_recording r = recording_of(body_names[0], 17, 1);
        for (int m = 0; m < 17; m++)
            respell(body_names[0][m], way, r.names[m]);
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
    ulna_recording r = recording_of(NULL, 20, 1);
    assert_null(ulna_keypoint_system_of(&r, &count)); /* no system has twenty */
    ulna_recording_release(&r);
}

/* ---- bodies ---------------------------------------------------------------------------------------------------------- */

/* Where the point is on a person, by words of its own: the joint that begins a bone, or a place on it. */
static void bone_of(const char *name, char bone[64], double at[3])
{
    static const struct {
        const char *part, *bone;
        double at[3];
    } parts[] = {
        {"shoulder", "upper_arm", {0}},
        {"elbow", "forearm", {0}},
        {"wrist", "hand", {0}},
        {"midhip", "pelvis", {0, -.035, 0}},
        {"hip", "thigh", {0}},
        {"knee", "shank", {0}},
        {"ankle", "foot", {0}},
        {"collar", "clavicle", {0}},
        {"footindex", "toes", {0, 0, .06}},
        {"foot", "toes", {0}},
        {"bigtoe", "toes", {-.01, 0, .06}},
        {"smalltoe", "toes", {.04, 0, .03}},
        {"heel", "foot", {0, -.05, -.05}},
        {"index", "hand", {.09, 0, .025}},
        {"pinky", "hand", {.09, 0, -.035}},
        {"thumb", "thumb", {.02, 0, .02}},
        {"hand", "fingers", {0}},
        {"nose", "head", {0, .05, .1}},
        {"eyeinner", "head", {.02, .08, .085}},
        {"eyeouter", "head", {.045, .08, .075}},
        {"eye", "head", {.03, .08, .085}},
        {"ear", "head", {.075, .06, 0}},
        {"mouth", "head", {.025, .01, .085}},
        {"neck", "neck", {0}},
        {"head", "head", {0}},
        {"pelvis", "pelvis", {0}},
        {"spine1", "lower_spine", {0}},
        {"spine2", "middle_spine", {0}},
        {"spine3", "upper_spine", {0}},
    };
    char plain[ULNA_MARKER_NAME] = "";
    for (size_t i = 0, n = 0; name[i]; i++)
        if (name[i] != '_') {
            plain[n++] = (char)tolower((unsigned char)name[i]);
            plain[n] = 0;
        }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(plain, parts[i].part)) {
            int is_right = plain[0] == 'r' || strstr(plain, "right"), is_sided = strcmp(parts[i].bone, "head") != 0;
            int is_middle = strstr("pelvis neck head lower_spine middle_spine upper_spine", parts[i].bone) != NULL;
            snprintf(bone, 64, "%s%s", is_middle || !is_sided ? "" : is_right ? "right_" : "left_", parts[i].bone);
            memcpy(at, parts[i].at, sizeof parts[i].at);
            at[0] *= is_right ? -1 : 1;
            return;
        }
    fail_msg("where is %s?", name);
}

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

/* The person's key points; `noise` in metres; `is_down`: y points down and z back, as in pictures. */
static ulna_recording record(const ulna_model *person, const ulna_clip *clip, const char *const *names, int count,
                             double noise, int is_down)
{
    ulna_recording r = recording_of(names, count, clip->frame_count);
    ulna_test_rng rng = ulna_test_rng_seed(5);
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(person, NULL, &pose, NULL), ULNA_OK);
    for (int f = 0; f < clip->frame_count; f++) {
        assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(clip, f)), ULNA_OK);
        for (int m = 0; m < count; m++) {
            char bone[64];
            double at[3], *x = ulna_recording_frame(&r, f) + 3 * m;
            bone_of(names[m], bone, at);
            int body = ulna_model_find_body(person, bone);
            assert_true(body >= 0);
            if (strcmp(names[m], "Neck") == 0 && count == 25) { /* of BODY_25: between the shoulders */
                double left[3], right[3];
                ulna_pose_body(pose, ulna_model_find_body(person, "left_upper_arm"), left, NULL);
                ulna_pose_body(pose, ulna_model_find_body(person, "right_upper_arm"), right, NULL);
                for (int k = 0; k < 3; k++)
                    x[k] = (left[k] + right[k]) / 2;
            } else
                assert_int_equal(ulna_pose_point(pose, body, at, x), ULNA_OK);
            for (int k = 0; k < 3; k++)
                x[k] += noise * ulna_test_rng_uniform(&rng, -1.7, 1.7);
            for (int k = 1; k < 3 && is_down; k++)
                x[k] = -x[k];
        }
    }
    ulna_pose_destroy(pose);
    return r;
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
    for (int s = 0; s < BODY_SYSTEMS; s++)
        for (int noisy = 0; noisy < 2; noisy++) {
            ulna_recording r = record(person, &take.clip, body_names[s], body_systems[s].count, noisy ? .01 : 0, 0);
            outcome o = solve(take.model, &r, person, &take.clip, body_systems[s].name);
            print_message("%s%s: joints off by %.1f mm, lengths by %.2f %%\n", body_systems[s].name,
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
    ulna_recording r = record(take.model, &take.clip, body_names[3], 33, 0, 1);
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
    ulna_recording r = record(person, &take.clip, body_names[0], 17, 0, 0);
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

/* Fingers that close and open, `size` times as large as the built-in hand. */
static ulna_recording record_hand(const ulna_model *hand, double size, int frames)
{
    static const char *const bones[HAND_POINTS] = {
        "palm",          "thumb_metacarpal", "thumb_proximal", "thumb_distal",    "thumb_distal",  "index_proximal",
        "index_middle",  "index_distal",     "index_distal",   "middle_proximal", "middle_middle", "middle_distal",
        "middle_distal", "ring_proximal",    "ring_middle",    "ring_distal",     "ring_distal",   "little_proximal",
        "little_middle", "little_distal",    "little_distal"};
    ulna_recording r = recording_of(hand_names, HAND_POINTS, frames);
    ulna_pose *pose;
    double *q = ulna_test_numbers(ulna_model_coordinate_count(hand));
    assert_int_equal(ulna_pose_create(hand, NULL, &pose, NULL), ULNA_OK);
    for (int f = 0; f < frames; f++) {
        memcpy(q, ulna_model_rest(hand), (size_t)ulna_model_coordinate_count(hand) * sizeof *q);
        for (int d = 6; d < ulna_model_dof_count(hand); d++) {
            double low = ulna_model_lower(hand)[d], high = ulna_model_upper(hand)[d], t = 0.5 - 0.4 * cos(.1 * f + d);
            q[ulna_model_dof_coordinate(hand, d)] = low + t * (high - low);
        }
        assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
        for (int m = 0; m < HAND_POINTS; m++) {
            int is_tip = strstr(hand_names[m], "TIP") != NULL, body = ulna_model_find_body(hand, bones[m]);
            double tip[3] = {.02, 0, 0}, *x = ulna_recording_frame(&r, f) + 3 * m;
            if (is_tip && m == 4) {
                tip[0] = .0145;
                tip[1] = -.0020;
                tip[2] = strcmp(ulna_model_name(hand), "hand") == 0 ? .0137 : -.0137;
            }
            const double zero[3] = {0, 0, 0};
            assert_int_equal(ulna_pose_point(pose, body, is_tip ? tip : zero, x), ULNA_OK);
            for (int k = 0; k < 3; k++)
                x[k] *= size;
        }
    }
    ulna_pose_destroy(pose);
    free(q);
    return r;
}

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
        ulna_recording r = record_hand(hands[h], 0.8, 90);
        assert_int_equal(hand_take(hands[h], &r, &rms, &error), ULNA_OK);
        print_message("%s: off by %.2f mm\n", names[h], 1e3 * rms);
        assert_true(rms < .001);
        assert_int_equal(hand_take(hands[1 - h], &r, &rms, &error), ULNA_ERR_MODEL);
        assert_non_null(strstr(error.message, h ? "those of a right hand" : "those of a left hand"));
        ulna_recording_release(&r);
    }
    ulna_recording big = record_hand(hands[0], 1000, 5); /* millimetres that were read as metres */
    assert_int_equal(hand_take(hands[0], &big, &rms, &error), ULNA_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "1e+03 times as large as the skeleton: is their unit of length right?"));
    ulna_recording_release(&big);
    ulna_model *arm;
    assert_int_equal(ulna_sample_create("arm", NULL, &arm, NULL), ULNA_OK);
    ulna_recording r = record_hand(hands[0], 1, 5);
    assert_int_equal(hand_take(arm, &r, &rms, &error), ULNA_ERR_MODEL);
    assert_non_null(strstr(error.message, "no bones of the usual names"));
    ulna_recording_release(&r);
    ulna_model_destroy(arm);
    ulna_model_destroy(hands[0]);
    ulna_model_destroy(hands[1]);
}

static void a_recorded_hand_is_solved(void **state)
{
    ulna_test_need_data(state);
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

/* ---- failures ---------------------------------------------------------------------------------------------------------- */

static void memory_may_fail_and_points_be_missing(void **state)
{
    (void)state;
    ulna_test_take take = ulna_test_take_make(3);
    ulna_recording r = record(take.model, &take.clip, body_names[0], 17, 0, 0);
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
    assert_int_equal(ulna_take_create(&options, &made, &error), ULNA_ERR_MODEL);
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
        cmocka_unit_test(a_recorded_hand_is_solved),
        cmocka_unit_test(memory_may_fail_and_points_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
