/* Markers that are joints of the skeleton: recognised by their names and lengths, and not if they are something else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mocap/take.h"
#include "model/builder.h"
#include "model/model.h"
#include "support_calibrate.h"
#include "support_mocap.h"

/* Bones with the names of their joints, which are those of key points, too. */
static const struct {
    const char *name;
    int parent;
    double at[3];
} joint_named[] = {
    {"Hips", -1, {0, .95, 0}},        {"Chest", 0, {0, .25, 0}},         {"Neck", 1, {0, .25, 0}},
    {"Head", 2, {0, .1, .01}},        {"LeftShoulder", 1, {.18, .2, 0}}, {"LeftElbow", 4, {.29, 0, 0}},
    {"LeftWrist", 5, {.25, 0, 0}},    {"LeftFinger", 6, {.1, 0, 0}},     {"RightShoulder", 1, {-.18, .2, 0}},
    {"RightElbow", 8, {-.29, 0, 0}},  {"RightWrist", 9, {-.25, 0, 0}},   {"RightFinger", 10, {-.1, 0, 0}},
    {"LeftHip", 0, {.09, -.03, 0}},   {"LeftKnee", 12, {0, -.43, 0}},    {"LeftAnkle", 13, {0, -.42, 0}},
    {"LeftToe", 14, {0, -.06, .13}},  {"RightHip", 0, {-.09, -.03, 0}},  {"RightKnee", 16, {0, -.43, 0}},
    {"RightAnkle", 17, {0, -.42, 0}}, {"RightToe", 18, {0, -.06, .13}},  {"Nose", 3, {0, .05, .1}},
    {"LeftEye", 3, {.03, .08, .08}},  {"RightEye", 3, {-.03, .08, .08}}, {"LeftEar", 3, {.07, .06, 0}},
    {"RightEar", 3, {-.07, .06, 0}},
};
enum { JOINTS = sizeof joint_named / sizeof *joint_named, FRAMES = 120 };

/* `longer`: the factor of the bones of one limb, `size` that of all. */
static ulna_model *build_joints(double longer, double size)
{
    ulna_builder *builder;
    ulna_model *model;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    for (int i = 0; i < JOINTS; i++) {
        double at[3];
        ulna_joint joint = i ? ulna_joint_euler("ZXY") : ulna_joint_free_euler("ZXY");
        for (int k = 0; k < 3; k++)
            at[k] = size * (i >= 5 && i <= 14 ? longer : 1) * joint_named[i].at[k];
        assert_int_equal(ulna_builder_add_body(builder, joint_named[i].name, joint_named[i].parent, NULL, NULL),
                         ULNA_OK);
        ulna_builder_set_joint(builder, i, &joint, NULL);
        ulna_builder_set_placement(builder, i, at, NULL, NULL);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

/* The joints of a motion, each `off` metres beside its place, and with noise. */
static ulna_recording record_joints(const ulna_model *model, double off, double noise)
{
    ulna_test_rng rng = ulna_test_rng_seed(5);
    ulna_recording recording = ulna_recording_empty(NULL);
    ulna_pose *pose;
    double *q = calloc((size_t)ulna_model_coordinate_count(model), sizeof *q);
    assert_int_equal(ulna_recording_resize(&recording, JOINTS, FRAMES), ULNA_OK);
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    recording.frame_seconds = 0.01;
    for (int f = 0; f < FRAMES; f++) {
        for (int d = 0; d < ulna_model_dof_count(model); d++)
            q[ulna_model_dof_coordinate(model, d)] = 0.4 * sin(0.03 * f + d);
        assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
        for (int b = 0; b < JOINTS; b++) {
            const double beside[3] = {0, off * sin(b), off * cos(b)};
            assert_int_equal(ulna_pose_point(pose, b, beside, ulna_recording_frame(&recording, f) + 3 * b), ULNA_OK);
        }
    }
    for (int i = 0; i < 3 * JOINTS * FRAMES; i++)
        recording.positions[i] += noise * ulna_test_rng_normal(&rng);
    for (int b = 0; b < JOINTS; b++)
        snprintf(recording.names[b], sizeof recording.names[0], "%s", ulna_model_body_name(model, b));
    ulna_pose_destroy(pose);
    free(q);
    return recording;
}

/* So many of the markers are the joints of that name, and the solve is exact. */
static void check_joints(const ulna_model *model, const ulna_recording *recording, ulna_attach attach, int expected)
{
    ulna_take *take = ulna_test_take_of(model, recording, attach);
    ulna_track_result result = {0};
    assert_int_equal(take->joints, expected);
    assert_null(take->keypoints);
    for (int i = 0; i < expected; i++) {
        const ulna_attachment *item = &take->set.items[i];
        assert_true(item->is_joint && item->body == take->source[i]);
        assert_true(item->offset[0] == 0 && item->offset[1] == 0 && item->offset[2] == 0);
    }
    assert_int_equal(ulna_track(take, NULL, &result, NULL), ULNA_OK);
    if ((size_t)expected == take->set.count)
        assert_true(result.summary.rms_mean < 1e-4);
    ulna_track_result_release(&result);
    ulna_take_destroy(take);
}

static void joints_of_the_skeleton_are_recognised(void **state)
{
    (void)state;
    ulna_model *model = build_joints(1, 1);
    ulna_recording recording = record_joints(model, 0, 0);
    check_joints(model, &recording, ULNA_ATTACH_KEYPOINTS, JOINTS);
    check_joints(model, &recording, ULNA_ATTACH_NAMES, JOINTS);
    ulna_take *take = ulna_test_take_of(model, &recording, ULNA_ATTACH_NAMES);
    ulna_calibration found;
    assert_int_equal(ulna_calibrate(take, NULL, &found, NULL), ULNA_OK); /* there is nothing to find */
    for (size_t i = 0; i < found.set.count; i++)
        for (int k = 0; k < 3; k++)
            assert_true(fabs(found.set.items[i].offset[k]) < 1e-3);
    assert_false(found.is_undetermined);
    ulna_calibration_release(&found);
    ulna_take_destroy(take);

    for (int b = 0; b < JOINTS; b++) /* a prefix, capitals */
        for (char *c = recording.names[b]; *c; c++)
            *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    check_joints(model, &recording, ULNA_ATTACH_KEYPOINTS, JOINTS);
    for (int b = 0; b < JOINTS; b++)
        snprintf(recording.names[b], sizeof recording.names[0], "Anna:%s", joint_named[b].name);
    check_joints(model, &recording, ULNA_ATTACH_KEYPOINTS, JOINTS);
    for (int b = JOINTS / 2 + 1; b < JOINTS; b++) /* nearly half of the names are others */
        snprintf(recording.names[b], sizeof recording.names[0], "other%d", b);
    check_joints(model, &recording, ULNA_ATTACH_KEYPOINTS, JOINTS / 2 + 1);
    snprintf(recording.names[JOINTS / 2], sizeof recording.names[0],
             "LKNE"); /* more than half, and one of a marker set */
    check_joints(model, &recording, ULNA_ATTACH_NAMES, JOINTS / 2);
    take = ulna_test_take_of(model, &recording, ULNA_ATTACH_NAMES);
    assert_int_equal(take->set.count, JOINTS / 2 + 1);
    ulna_take_destroy(take);
    for (int b = 2; b < JOINTS; b++) /* two names of bones among others say little */
        snprintf(recording.names[b], sizeof recording.names[0], b == 2 ? "LKNE" : "other%d", b);
    take = ulna_test_take_of(model, &recording, ULNA_ATTACH_NAMES);
    assert_int_equal(take->joints, 0);
    ulna_take_destroy(take);
    ulna_recording_release(&recording);

    recording = record_joints(model, 0, 0);
    int hidden = 0;
    for (int b = 1; b < JOINTS; b++) /* what is beyond it comes nearer when it bends */
        if (strstr(joint_named[b].name, "Elbow") || strstr(joint_named[b].name, "Knee")) {
            snprintf(recording.names[b], sizeof recording.names[0], "other%d", b);
            hidden++;
        }
    assert_true(hidden > 0);
    check_joints(model, &recording, ULNA_ATTACH_KEYPOINTS, JOINTS - hidden);
    ulna_recording_release(&recording);
    ulna_model_destroy(model);
}

/* Their names are those of key points and of markers on the skin, and their lengths another person's. */
static void names_of_bones_may_be_other_markers(void **state)
{
    (void)state;
    static const struct {
        double longer, size, off, noise;
        int is_joint;
        unsigned doubts;
    } all[] = {
        {1, 1, 0, 0, 1, 0},    {1, 1, .001, 0, 1, 0}, {1, 1, 0, .0005, 1, 0}, {1.1, 1, 0, 0, 0, 0},
        {1, 1.08, 0, 0, 0, 0}, {1, 1, .05, 0, 0, 0},  {1, 1, 0, .01, 0, 0},   {1, 1000, 0, 0, 1, ULNA_DOUBT_SIZE}};
    ulna_model *model = build_joints(1, 1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ulna_model *person = build_joints(all[i].longer, all[i].size);
        ulna_recording recording = record_joints(person, all[i].off, all[i].noise);
        ulna_take *take = ulna_test_take_of(model, &recording, ULNA_ATTACH_KEYPOINTS);
        if (take->joints != all[i].is_joint * JOINTS || (take->doubts & ULNA_DOUBT_SIZE) != all[i].doubts)
            fail_msg("row %zu: %d joints, doubts %u", i, take->joints, take->doubts);
        if (!all[i].is_joint)
            assert_non_null(take->keypoints);
        ulna_take_destroy(take);
        ulna_recording_release(&recording);
        ulna_model_destroy(person);
    }
    ulna_model_destroy(model);
}

/* Joints of a skeleton that is given with markers: the more there are, the more they count. */
static void own_markers_come_before_joints(void **state)
{
    (void)state;
    static const double beside[3] = {0, .05, 0};
    ulna_model *model = build_joints(1, 1), *marked;
    ulna_builder *builder;
    ulna_recording recording = record_joints(model, 0, 0);
    for (int own = 0; own < 2; own++) {
        assert_int_equal(ulna_builder_from_model(model, NULL, &builder, NULL), ULNA_OK);
        for (int b = 0; b < (own ? JOINTS : 3); b++)
            assert_int_equal(ulna_builder_add_marker(builder, joint_named[b].name, b, beside, 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_build(builder, NULL, &marked, NULL), ULNA_OK);
        ulna_take *take = ulna_test_take_of(marked, &recording, ULNA_ATTACH_KEYPOINTS);
        assert_int_equal(take->joints, own ? 0 : JOINTS);
        assert_int_equal(take->set.count, JOINTS);
        ulna_take_destroy(take);
        ulna_model_destroy(marked);
        ulna_builder_destroy(builder);
    }
    ulna_recording_release(&recording);
    ulna_model_destroy(model);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_of_the_skeleton_are_recognised),
        cmocka_unit_test(names_of_bones_may_be_other_markers),
        cmocka_unit_test(own_markers_come_before_joints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
