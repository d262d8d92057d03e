/*
 * Bones by names never leave a marker alone on a free joint of two rotations or more, whatever markers there are and on whatever
 * skeleton: the marker goes to another bone, or the joint is held near rest. Random parts of a common marker set on several skeletons.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mocap/anatomy.h"
#include "mocap/take.h"
#include "model/model.h"
#include "support_content.h"
#include "support_mocap.h"
#include "ulna/formats.h"
#include "ulna/sample.h"

static const char *const names[] = {
    "LFHD", "RFHD", "LBHD", "RBHD", "C7",   "CLAV", "STRN", "T10",  "RBAC", "LSHO", "RSHO",
    "LUPA", "RUPA", "LELB", "RELB", "LFRM", "RFRM", "LWRA", "RWRA", "LWRB", "RWRB", "LTHM",
    "RTHM", "LFIN", "RFIN", "LFWT", "RFWT", "LBWT", "RBWT", "LTHI", "RTHI", "LKNE", "RKNE",
    "LSHN", "RSHN", "LANK", "RANK", "LHEE", "RHEE", "LMT5", "RMT5", "LTOE", "RTOE",
};
enum { NAMES = sizeof names / sizeof *names, SUBSETS = 300 };

static int rotations_of(const ulna_model *model, int body)
{
    int count = 0;
    for (int d = model->body[body].dof; d < model->body[body].dof + model->body[body].dof_count; d++)
        count += !ulna_model_dof_is_translation(model, d);
    return count;
}

/* Markers on a body and beyond it. */
static int markers_from(const ulna_model *model, const ulna_anatomy *a, int body)
{
    int count = 0;
    for (int b = body; b < model->nb; b++) {
        int up = b;
        while (up != ULNA_NONE && up != body)
            up = model->body[up].parent;
        count += up == body ? a->own[b] : 0;
    }
    return count;
}

/* The joints between a lone marker and the first body that others show too: a single one. */
static int joints_of_run(const ulna_model *model, const ulna_anatomy *a, int body)
{
    int count = 0;
    for (int b = body; b != ULNA_NONE && !a->is_root[b] && !a->is_on_axis[b] && markers_from(model, a, b) == 1;
         b = model->body[b].parent)
        count += model->body[b].dof_count > 0;
    return count;
}

static void check_set(const ulna_model *model, const ulna_marker_set *set, int *lone)
{
    int body[NAMES];
    double weight[NAMES];
    ulna_anatomy *a;
    for (size_t i = 0; i < set->count; i++) {
        body[i] = set->items[i].body;
        weight[i] = 1;
    }
    assert_int_equal(ulna_anatomy_create(model, body, weight, (int)set->count, NULL, &a), ULNA_OK);
    for (int b = 0; b < model->nb; b++) {
        if (a->own[b] != 1 || a->is_root[b] || rotations_of(model, b) < 2)
            continue;
        *lone += 1;
        if (a->is_on_axis[b]) /* a chain that bends two ways: it has no other marker to go to */
            for (int k = 0; k < model->nb; k++)
                if (k != b && a->chain[k] == a->chain[b] && a->own[k])
                    fail_msg("%s has one marker, and %s some", ulna_model_body_name(model, b),
                             ulna_model_body_name(model, k));
        if (markers_from(model, a, b) == 1) {
            if (!(ulna_anatomy_posture(a, b) > 1) || joints_of_run(model, a, b) > 1)
                fail_msg("%s has one marker and is free", ulna_model_body_name(model, b));
        } else if (model->body[b].parent >= 0 && a->is_on_axis[model->body[b].parent]) {
            assert_true(ulna_anatomy_posture(a, b) > 1); /* a clavicle */
        }
    }
    ulna_anatomy_destroy(a);
}

/* Returns how many markers were alone on such a joint, and held. */
static int check_skeleton(const ulna_model *model, uint64_t seed)
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    int lone = 0;
    for (int n = 0; n < SUBSETS; n++) {
        ulna_recording recording = ulna_recording_empty(NULL);
        ulna_marker_set set = ulna_marker_set_empty(NULL);
        double share = n ? ulna_test_rng_uniform(&rng, 0.2, 1) : 1;
        int count = 0;
        assert_int_equal(ulna_recording_resize(&recording, NAMES, 1), ULNA_OK);
        for (int i = 0; i < NAMES; i++)
            if (n == 0 || ulna_test_rng_uniform(&rng, 0, 1) < share)
                snprintf(recording.names[count++], sizeof recording.names[0], "%s", names[i]);
        for (int i = count; i < NAMES; i++)
            snprintf(recording.names[i], sizeof recording.names[0], "*%d", i);
        if (ulna_marker_set_from_names(model, &recording, &set, NULL, NULL) == ULNA_OK)
            check_set(model, &set, &lone);
        ulna_marker_set_release(&set);
        ulna_recording_release(&recording);
    }
    return lone;
}

static void no_marker_alone_on_the_human(void **state)
{
    (void)state;
    ulna_model *model;
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    assert_true(check_skeleton(model, 811) > 0);
    ulna_model_destroy(model);
}

/* As files have it: joints of other types, and bodies at the ends of its bones. */
static void no_marker_alone_on_the_human_in_files(void **state)
{
    (void)state;
    static const ulna_format formats[] = {ULNA_FORMAT_ASF, ULNA_FORMAT_BVH};
    ulna_model *model;
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        ulna_text text = written(formats[i], model, NULL, NULL, NULL, NULL);
        ulna_content content = content_of(text.data, text.length, formats[i], NULL);
        assert_true(check_skeleton(content.model, 821 + i) > 0);
        ulna_content_release(&content);
        ulna_text_release(&text);
    }
    ulna_model_destroy(model);
}

static void no_marker_alone_on_recorded_skeletons(void **state)
{
    (void)state;
    static const char *const files[] = {"hdm05/HDM_dg.asf",
                                        "hdm05/HDM_bd.asf",
                                        "cmu/02.asf",
                                        "bvh/pymo_AV_8Walk_Meredith.bvh",
                                        "bvh/animdraw_cmu1_jumping_jacks.bvh",
                                        "bvh/assimp_Boxing_Toes_extra_frame.bvh",
                                        "bvh/threejs_pirouette.bvh",
                                        "bvh/makehuman_walk1.bvh"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512];
        ulna_error error;
        ulna_content content = ulna_content_empty(NULL);
        if (ulna_content_load(ulna_test_path(path, sizeof path, ulna_test_data_dir(), files[i]), NULL, &content,
                              &error))
            fail_msg("%s: %s", files[i], error.message);
        print_message("%s: %d times one marker on a joint of two rotations, held or shown by markers beyond it\n",
                      files[i], check_skeleton(content.model, 812 + i));
        ulna_content_release(&content);
    }
}

/* Puts a body that does not move between a body and its parent. */
static void insert_fixed(ulna_builder *builder, const ulna_model *model, const char *name)
{
    char fixed[64];
    int body = ulna_builder_find_body(builder, name), between;
    const char *parent = ulna_model_body_name(model, ulna_model_body_parent(model, ulna_model_find_body(model, name)));
    snprintf(fixed, sizeof fixed, "%s_start", name);
    assert_int_equal(ulna_builder_add_body(builder, fixed, ulna_builder_find_body(builder, parent), &between, NULL),
                     ULNA_OK);
    assert_int_equal(ulna_builder_set_parent(builder, body, between, NULL), ULNA_OK);
}

static ulna_anatomy *anatomy_of(const ulna_model *model)
{
    int body[NAMES], count = ulna_model_marker_count(model);
    double weight[NAMES];
    ulna_anatomy *a;
    assert_true(count > 0 && count <= NAMES);
    for (int i = 0; i < count; i++) {
        body[i] = ulna_model_marker_body(model, i);
        weight[i] = 1;
    }
    assert_int_equal(ulna_anatomy_create(model, body, weight, count, NULL, &a), ULNA_OK);
    return a;
}

/* ASF skeletons have bones without degrees of freedom: clavicles on them, or with arms on them, are clavicles. */
static void fixed_bodies_change_nothing(void **state)
{
    (void)state;
    static const char *const after[] = {"left_clavicle", "right_clavicle", "left_upper_arm", "right_upper_arm"};
    ulna_model *model, *other;
    ulna_builder *builder;
    int girdles = 0;
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_from_model(model, NULL, &builder, NULL), ULNA_OK);
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        insert_fixed(builder, model, after[i]);
    assert_int_equal(ulna_builder_build(builder, NULL, &other, NULL), ULNA_OK);
    ulna_anatomy *a = anatomy_of(model), *b = anatomy_of(other);
    for (int i = 0; i < model->nb; i++) {
        int k = ulna_model_find_body(other, ulna_model_body_name(model, i));
        assert_int_equal(a->is_girdle[i], b->is_girdle[k]);
        assert_float_equal(ulna_anatomy_posture(a, i), ulna_anatomy_posture(b, k), 0);
        girdles += a->is_girdle[i];
    }
    assert_int_equal(girdles, 2);
    assert_int_equal(ulna_moving_parent(other, ulna_model_find_body(other, "left_upper_arm")),
                     ulna_model_find_body(other, "left_clavicle"));
    ulna_anatomy_destroy(a);
    ulna_anatomy_destroy(b);
    ulna_builder_destroy(builder);
    ulna_model_destroy(other);
    ulna_model_destroy(model);
}

/* ---- a single marker on the wrist ---- */

/* Arms of a skeleton of usual size, as files call their bones. */
typedef struct arm_names {
    const char *shoulder, *upper, *lower, *wrist,
        *hand;      /* NULL: it has none. `wrist` begins in the middle of the forearm if there are both */
    int is_knuckle; /* `wrist` is the hand, and `hand` the fingers */
    const char *marker_on;
} arm_names;

static ulna_model *build_arms(const arm_names *arm)
{
    const char *const bones[5] = {arm->shoulder, arm->upper, arm->lower, arm->wrist, arm->hand};
    double length[5] = {.03, .15, .29, .25, arm->is_knuckle ? .08 : .25};
    if (arm->wrist && arm->hand && !arm->is_knuckle)
        length[3] = length[4] = .125;
    ulna_builder *builder;
    ulna_model *model;
    ulna_joint joint = ulna_joint_free();
    const double chest[3] = {0, .50, 0}, up[3] = {0, .2, 0};
    int body;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    ulna_builder_add_body(builder, "Hips", ULNA_NONE, NULL, NULL);
    ulna_builder_set_joint(builder, 0, &joint, NULL);
    ulna_builder_add_body(builder, "Chest", 0, NULL, NULL);
    ulna_builder_set_placement(builder, 1, chest, NULL, NULL);
    ulna_builder_add_body(builder, "Head", 1, NULL, NULL);
    ulna_builder_set_placement(builder, 2, up, NULL, NULL);
    joint = ulna_joint_euler("ZXY");
    ulna_builder_set_joint(builder, 1, &joint, NULL);
    ulna_builder_set_joint(builder, 2, &joint, NULL);
    for (int leg = 0; leg < 6; leg++) {
        static const char *const parts[] = {"rthigh", "lthigh", "rshank", "lshank", "rfoot", "lfoot"};
        const double at[3] = {leg > 1 ? 0 : leg ? .09 : -.09, leg > 1 ? -.42 : 0, 0};
        assert_int_equal(ulna_builder_add_body(builder, parts[leg], leg > 1 ? leg + 1 : 0, &body, NULL), ULNA_OK);
        ulna_builder_set_placement(builder, body, at, NULL, NULL);
        ulna_builder_set_joint(builder, body, &joint, NULL);
    }
    for (int right = 0; right < 2; right++)
        for (int i = 0, parent = 1; i < 5; i++) {
            char name[40];
            const double at[3] = {right ? -length[i] : length[i], 0, 0};
            if (!bones[i])
                continue;
            snprintf(name, sizeof name, "%s%s", right ? "r" : "l", bones[i]);
            assert_int_equal(ulna_builder_add_body(builder, name, parent, &body, NULL), ULNA_OK);
            ulna_builder_set_placement(builder, body, at, NULL, NULL);
            ulna_builder_set_joint(builder, body, &joint, NULL);
            parent = body;
        }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

/* It shows the elbow, whatever the bones are called, and is at the wrist. Two of them are on the forearm too. */
static void single_wrist_markers_are_on_the_forearm(void **state)
{
    (void)state;
    static const arm_names all[] = {
        {"collar", "shoulder", "elbow", "wrist", NULL, 0, "lelbow"},
        {"shoulder", "arm", "forearm", NULL, "hand", 0, "lforearm"},
        {"clavicle", "humerus", "radius", "wrist", "hand", 0, "lradius"},
        {"collar", "shoulder", "elbow", "wrist", "hand", 1, "lelbow"},
        {"clavicle", "upperarm", "lowerarm", NULL, NULL, 0, "llowerarm"},
        {NULL, "uparm", "loarm", "wrist", NULL, 0, "lloarm"},
    };
    static const char *const one[] = {"LSHO", "LELB", "LWRI", "RSHO", "RELB", "RWRI"};
    static const char *const two[] = {"LSHO", "LELB", "LWRA", "LWRB", "RSHO", "RELB", "RWRA", "RWRB"};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        for (int pair = 0; pair < 2; pair++) {
            ulna_model *model = build_arms(&all[n]);
            ulna_recording recording = ulna_recording_empty(NULL);
            ulna_marker_set set = ulna_marker_set_empty(NULL);
            int count = pair ? 8 : 6;
            assert_int_equal(ulna_recording_resize(&recording, count, 1), ULNA_OK);
            for (int i = 0; i < count; i++)
                snprintf(recording.names[i], sizeof recording.names[0], "%s", pair ? two[i] : one[i]);
            assert_int_equal(ulna_marker_set_from_names(model, &recording, &set, NULL, NULL), ULNA_OK);
            const ulna_attachment *item = &set.items[2];
            const char *body = ulna_model_body_name(model, item->body), *on = all[n].marker_on;
            if (strcmp(body, pair && strcmp(on, "lradius") == 0 ? "lwrist" : on) != 0)
                fail_msg("row %zu: %s is on %s, not on %s", n, item->marker, body, on);
            ulna_pose *pose;
            double x[3];
            assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
            assert_int_equal(ulna_pose_forward(pose, ulna_model_rest(model)), ULNA_OK);
            assert_int_equal(ulna_pose_point(pose, item->body, item->offset, x), ULNA_OK);
            const double wrist = (all[n].shoulder ? .03 : 0) + .15 + .29 + .25;
            if (!(x[0] > wrist - .04 && x[0] < wrist + .04 && x[1] > .45 && x[1] < .6))
                fail_msg("row %zu: %s is at %.3f %.3f, the wrist at %.3f", n, item->marker, x[0], x[1], wrist);
            ulna_pose_destroy(pose);
            ulna_marker_set_release(&set);
            ulna_recording_release(&recording);
            ulna_model_destroy(model);
        }
}

/* ---- markers that are joints of the skeleton -------------------------------------------------------------------------- */

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

/* The joints of a motion, each `off` metres beside its place. */
static ulna_recording record_joints(const ulna_model *model, double off)
{
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
    for (int b = 0; b < JOINTS; b++)
        snprintf(recording.names[b], sizeof recording.names[0], "%s", ulna_model_body_name(model, b));
    ulna_pose_destroy(pose);
    free(q);
    return recording;
}

static ulna_take *take_of(const ulna_model *model, const ulna_recording *recording, ulna_attach attach)
{
    static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    ulna_take_options options = ulna_take_options_default();
    ulna_take *take;
    ulna_error error;
    options.model = model;
    options.recording = recording;
    options.attach = attach;
    options.axes = same;
    if (ulna_take_create(&options, &take, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    return take;
}

/* So many of the markers are the joints of that name, and the solve is exact. */
static void check_joints(const ulna_model *model, const ulna_recording *recording, ulna_attach attach, int expected)
{
    ulna_take *take = take_of(model, recording, attach);
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
    ulna_recording recording = record_joints(model, 0);
    check_joints(model, &recording, ULNA_ATTACH_KEYPOINTS, JOINTS);
    check_joints(model, &recording, ULNA_ATTACH_NAMES, JOINTS);
    ulna_take *take = take_of(model, &recording, ULNA_ATTACH_NAMES);
    ulna_calibration found;
    assert_int_equal(ulna_calibrate(take, NULL, &found, NULL), ULNA_OK); /* there is nothing to find */
    for (size_t i = 0; i < found.set.count; i++)
        for (int k = 0; k < 3; k++)
            assert_true(fabs(found.set.items[i].offset[k]) < 1e-3);
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
    take = take_of(model, &recording, ULNA_ATTACH_NAMES);
    assert_int_equal(take->set.count, JOINTS / 2 + 1);
    ulna_take_destroy(take);
    ulna_recording_release(&recording);
    ulna_model_destroy(model);
}

/* Their names are those of key points and of markers on the skin, and their lengths another person's. */
static void names_of_bones_may_be_other_markers(void **state)
{
    (void)state;
    static const struct {
        double longer, size, off;
        int is_joint;
        unsigned doubts;
    } all[] = {{1, 1, 0, 1, 0},    {1, 1, .002, 1, 0}, {1.1, 1, 0, 0, 0},
               {1, 1.08, 0, 0, 0}, {1, 1, .05, 0, 0},  {1, 1000, 0, 1, ULNA_DOUBT_SIZE}};
    ulna_model *model = build_joints(1, 1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ulna_model *person = build_joints(all[i].longer, all[i].size);
        ulna_recording recording = record_joints(person, all[i].off);
        ulna_take *take = take_of(model, &recording, ULNA_ATTACH_KEYPOINTS);
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
    ulna_recording recording = record_joints(model, 0);
    for (int own = 0; own < 2; own++) {
        assert_int_equal(ulna_builder_from_model(model, NULL, &builder, NULL), ULNA_OK);
        for (int b = 0; b < (own ? JOINTS : 3); b++)
            assert_int_equal(ulna_builder_add_marker(builder, joint_named[b].name, b, beside, 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_build(builder, NULL, &marked, NULL), ULNA_OK);
        ulna_take *take = take_of(marked, &recording, ULNA_ATTACH_KEYPOINTS);
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
        cmocka_unit_test(no_marker_alone_on_the_human),
        cmocka_unit_test(no_marker_alone_on_the_human_in_files),
        cmocka_unit_test(fixed_bodies_change_nothing),
        ulna_test_needs("hdm05 cmu bvh", cmocka_unit_test(no_marker_alone_on_recorded_skeletons)),
        cmocka_unit_test(single_wrist_markers_are_on_the_forearm),
        cmocka_unit_test(joints_of_the_skeleton_are_recognised),
        cmocka_unit_test(names_of_bones_may_be_other_markers),
        cmocka_unit_test(own_markers_come_before_joints),
    };
    return cmocka_run_group_tests_name("bones by names", tests, NULL, NULL);
}
