/* What support_keypoints.h says. */
#include "support_keypoints.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_model.h"
#include "support_tree.h"
#include "ulna/kinematics.h"

/* ---- names ---------------------------------------------------------------------------------------------------------- */

const char *const ulna_test_body_names[ULNA_TEST_BODY_SYSTEMS][33] = {
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

const ulna_test_keypoint_system ulna_test_body_systems[ULNA_TEST_BODY_SYSTEMS] = {
    {"COCO", 17}, {"OpenPose BODY_25", 25}, {"SMPL", 24}, {"MediaPipe body", 33}};

const char *const ulna_test_hand_names[ULNA_TEST_HAND_POINTS] = {"WRIST",
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

ulna_recording ulna_test_keypoints_of(const char *const *names, int count, int frames)
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

ulna_recording ulna_test_record_body(const ulna_model *person, const ulna_clip *clip, const char *const *names,
                                     int count, double noise, int is_down)
{
    ulna_recording r = ulna_test_keypoints_of(names, count, clip->frame_count);
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

/* ---- hands ----------------------------------------------------------------------------------------------------------- */

ulna_recording ulna_test_record_hand(const ulna_model *hand, double size, int frames)
{
    static const char *const bones[ULNA_TEST_HAND_POINTS] = {
        "palm",          "thumb_metacarpal", "thumb_proximal", "thumb_distal",    "thumb_distal",  "index_proximal",
        "index_middle",  "index_distal",     "index_distal",   "middle_proximal", "middle_middle", "middle_distal",
        "middle_distal", "ring_proximal",    "ring_middle",    "ring_distal",     "ring_distal",   "little_proximal",
        "little_middle", "little_distal",    "little_distal"};
    ulna_recording r = ulna_test_keypoints_of(ulna_test_hand_names, ULNA_TEST_HAND_POINTS, frames);
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
        for (int m = 0; m < ULNA_TEST_HAND_POINTS; m++) {
            int is_tip = strstr(ulna_test_hand_names[m], "TIP") != NULL, body = ulna_model_find_body(hand, bones[m]);
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
