/*
 * Bones by names never leave a marker alone on a free joint of two rotations or more, whatever markers there are and on whatever
 * skeleton: the marker goes to another bone, or the joint is held near rest. Random parts of a common marker set on several skeletons.
 */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_marker_alone_on_the_human),
        cmocka_unit_test(no_marker_alone_on_the_human_in_files),
        cmocka_unit_test(fixed_bodies_change_nothing),
ulna_test_needs("hdm05 cmu bvh", cmocka_unit_test(no_marker_alone_on_recorded_skeletons)),
        cmocka_unit_test(single_wrist_markers_are_on_the_forearm),
    };
    return cmocka_run_group_tests_name("bones by names", tests, NULL, NULL);
}
