/*
 * Key points of marker-less systems to BVH and glTF in one command: each system, from CSV and from TRC; with points that are missing, the
 * upper body alone, and y pointing down. The BVH files are read by the tests' own reader, by the rules of Blender's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_bvh.h"
#include "support_keypoints.h"
#include "support_take.h"
#include "support_tool.h"
#include "support_tree.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

enum { FRAMES = 60, LIMBS = 8 };
#define METRES 0.01 /* a unit of a BVH file */

static const char *const limbs[LIMBS][2] = {{"left_thigh", "left_shank"},         {"left_shank", "left_foot"},
                                            {"right_thigh", "right_shank"},       {"right_shank", "right_foot"},
                                            {"left_upper_arm", "left_forearm"},   {"left_forearm", "left_hand"},
                                            {"right_upper_arm", "right_forearm"}, {"right_forearm", "right_hand"}};

static int open_folder(void **state)
{
    return ulna_test_take_open(state, FRAMES);
}

/* ---- solves -------------------------------------------------------------------------------------------------------------- */

static json_t *solve(ulna_test_tool *tool, const char *skeleton, const char *markers, const char *more)
{
    char line[200];
    snprintf(line, sizeof line, "solve --json -s %s -m %s -o k.bvh -o k.glb %s", skeleton, markers, more);
    int code = ulna_test_tool_run(tool, line);
    if (code > 1)
        fail_msg("%s: exit code %d: %s", line, code, tool->err);
    return ulna_test_tool_json(tool);
}

static ulna_test_bvh *read_bvh(const ulna_test_tool *tool)
{
    char *text = ulna_test_tool_file(tool, "k.bvh");
    ulna_test_bvh *bvh = ulna_test_bvh_read(text);
    free(text);
    return bvh;
}

static int says(const json_t *object, const char *list, const char *part)
{
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(object, list), i, note)
    {
        if (strstr(json_string_value(note), part))
            return 1;
    }
    return 0;
}

/* ---- how far the motion is from the truth --------------------------------------------------------------------------------- */

typedef struct errors {
    double worst_length;  /* share of a limb's length */
    double joints;        /* m: root of the mean square, of the limbs' joints */
    double most_backward; /* m: how far a knee is bent backward, beyond the truth */
} errors;

static double between(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static void place_of(const ulna_test_bvh *bvh, const double *places, const char *name, double x[3])
{
    int joint = ulna_test_bvh_find(bvh, name);
    assert_true(joint >= 0);
    for (int k = 0; k < 3; k++)
        x[k] = METRES * places[3 * joint + k];
}

/* Hip, knee and ankle of the left leg, then of the right one. */
typedef double legs[6][3];

/* How far a knee is in front of the line from hip to ankle; forward is to the left turned about y, which is up. */
static double knee_ahead(legs x, int leg)
{
    const double *hip = x[3 * leg], *knee = x[3 * leg + 1], *ankle = x[3 * leg + 2];
    double ahead[2] = {x[3][2] - x[0][2], x[0][0] - x[3][0]}; /* x and z */
    double share = between(hip, knee) / (between(hip, knee) + between(knee, ankle));
    return ((knee[0] - hip[0] - share * (ankle[0] - hip[0])) * ahead[0] +
            (knee[2] - hip[2] - share * (ankle[2] - hip[2])) * ahead[1]) /
           hypot(ahead[0], ahead[1]);
}

/* How much farther the knees are bent backward than in truth. */
static double bent_back(const ulna_test_bvh *bvh, const double *places, const ulna_pose *truth, const ulna_model *model)
{
    static const char *const names[6] = {"left_thigh",  "left_shank",  "left_foot",
                                         "right_thigh", "right_shank", "right_foot"};
    legs found, expected;
    for (int i = 0; i < 6; i++) {
        place_of(bvh, places, names[i], found[i]);
        ulna_pose_body(truth, ulna_model_find_body(model, names[i]), expected[i], NULL);
    }
    return fmax(fmin(knee_ahead(expected, 0), 0) - knee_ahead(found, 0),
                fmin(knee_ahead(expected, 1), 0) - knee_ahead(found, 1));
}

/* Only the limbs from `first` on. */
static errors compare(const ulna_test_bvh *bvh, const ulna_test_take *truth, int first)
{
    errors e = {0, 0, 0};
    ulna_pose *pose;
    double *places = ulna_test_numbers(3 * bvh->joint_count), a[3], b[3], x[3], y[3];
    int count = 0;
    assert_int_equal(bvh->frame_count, FRAMES);
    assert_int_equal(ulna_pose_create(truth->model, NULL, &pose, NULL), ULNA_OK);
    for (int f = 0; f < FRAMES; f++) {
        ulna_test_bvh_places(bvh, f, places);
        ulna_pose_forward(pose, ulna_clip_frame(&truth->clip, f));
        for (int l = first; l < LIMBS; l++, count++) {
            place_of(bvh, places, limbs[l][0], a);
            place_of(bvh, places, limbs[l][1], b);
            ulna_pose_body(pose, ulna_model_find_body(truth->model, limbs[l][0]), x, NULL);
            ulna_pose_body(pose, ulna_model_find_body(truth->model, limbs[l][1]), y, NULL);
            e.worst_length = fmax(e.worst_length, fabs(between(a, b) / between(x, y) - 1));
            e.joints += between(b, y) * between(b, y);
        }
        e.most_backward = fmax(e.most_backward, bent_back(bvh, places, pose, truth->model));
    }
    e.joints = sqrt(e.joints / count);
    ulna_pose_destroy(pose);
    free(places);
    return e;
}

static ulna_recording record(const ulna_test_take *take, int system, int is_down)
{
    return ulna_test_record_body(take->model, &take->clip, ulna_test_body_names[system],
                                 ulna_test_body_systems[system].count, 0.003, is_down);
}

static void lose(ulna_recording *r, const char *part, int first, int last)
{
    for (int m = 0; m < r->marker_count; m++)
        for (int f = first; f < last && strstr(r->names[m], part); f++)
            for (int k = 0; k < 3; k++)
                ulna_recording_frame(r, f)[3 * m + k] = NAN;
}

/* ---- tests ---------------------------------------------------------------------------------------------------------------- */

static void every_body_system_becomes_a_motion(void **state)
{
    static const char *const files[] = {"points.csv", "points.trc"};
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    for (int s = 0; s < ULNA_TEST_BODY_SYSTEMS; s++)
        for (int i = 0; i < 4; i++) { /* file, and which way y points */
            ulna_recording r = record(&take, s, i / 2);
            ulna_test_take_write(tool->folder, files[i % 2], NULL, NULL, &r);
            json_t *object = solve(tool, "human", files[i % 2], "");
            assert_string_equal(json_string_value(json_object_get(object, "keypoints")),
                                ulna_test_body_systems[s].name);
            ulna_test_bvh *bvh = read_bvh(tool);
            errors e = compare(bvh, &take, 0);
            print_message("%s, %s%s: lengths %.1f %%, joints %.1f mm, knees back %.1f mm\n",
                          ulna_test_body_systems[s].name, files[i % 2], i / 2 ? ", y down" : "", 100 * e.worst_length,
                          1e3 * e.joints, 1e3 * e.most_backward);
            assert_true(e.worst_length < 0.02 && e.joints < 0.012 && e.most_backward < 0.01);
            ulna_test_bvh_free(bvh);
            json_decref(object);
            assert_int_equal(ulna_test_tool_run(tool, "info --json k.glb"), 0);
            object = ulna_test_tool_json(tool);
            const json_t *glb = json_array_get(json_object_get(object, "files"), 0);
            assert_string_equal(json_string_value(json_object_get(glb, "format")), "glb");
            assert_int_equal(json_integer_value(json_object_get(glb, "frames")), FRAMES);
            json_decref(object);
            ulna_recording_release(&r);
        }
    ulna_test_take_release(&take);
}

static void hands_become_motions(void **state)
{
    static const char *const hands[] = {"hand", "right-hand"}, *const files[] = {"points.csv", "points.trc"};
    ulna_test_tool *tool = *state;
    for (int i = 0; i < 4; i++) {
        ulna_model *hand;
        assert_int_equal(ulna_sample_create(hands[i / 2], NULL, &hand, NULL), ULNA_OK);
        ulna_recording r = ulna_test_record_hand(hand, 0.9, FRAMES);
        ulna_test_take_write(tool->folder, files[i % 2], NULL, NULL, &r);
        json_t *object = solve(tool, hands[i / 2], files[i % 2], "");
        assert_true(json_number_value(json_object_get(json_object_get(object, "rms_mm"), "mean")) < 2);
        ulna_test_bvh *bvh = read_bvh(tool);
        assert_int_equal(bvh->frame_count, FRAMES);
        double *places = ulna_test_numbers(3 * bvh->joint_count), a[3], b[3];
        ulna_test_bvh_places(bvh, FRAMES / 2, places);
        place_of(bvh, places, "index_proximal", a);
        place_of(bvh, places, "index_middle", b);
        double length = 0.9 * ulna_model_bone_length(hand, ulna_model_find_body(hand, "index_middle"));
        assert_true(fabs(between(a, b) / length - 1) < 0.02);
        free(places);
        ulna_test_bvh_free(bvh);
        json_decref(object);
        ulna_recording_release(&r);
        ulna_model_destroy(hand);
    }
}

/* Points that are not seen for a while, and one that never is: the rest is as before. */
static void points_may_be_missing(void **state)
{
    static const char *const files[] = {"points.csv", "points.trc"};
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    for (int s = 0; s < ULNA_TEST_BODY_SYSTEMS; s++) {
        ulna_recording r = record(&take, s, 0);
        const char *wrist = s == 1 ? "LWrist" : s == 2 ? "L_Wrist" : s == 3 ? "LEFT_WRIST" : "left_wrist";
        lose(&r, wrist, 20, 28);
        lose(&r, s == 3 ? "RIGHT_EAR" : s == 0 ? "right_ear" : s == 1 ? "REar" : "R_Collar", 0, FRAMES);
        ulna_test_take_write(tool->folder, files[s % 2], NULL, NULL, &r);
        json_t *object = solve(tool, "human", files[s % 2], "");
        ulna_test_bvh *bvh = read_bvh(tool);
        errors e = compare(bvh, &take, 0);
        print_message("%s with gaps: joints %.1f mm\n", ulna_test_body_systems[s].name, 1e3 * e.joints);
        assert_true(e.worst_length < 0.02 && e.joints < 0.02);
        assert_true(json_integer_value(json_object_get(object, "missing_markers")) >= 8);
        ulna_test_bvh_free(bvh);
        json_decref(object);
        ulna_recording_release(&r);
    }
    ulna_test_take_release(&take);
}

/* Someone behind a desk: legs that are never seen stay at rest, which is reported; arms are as before. */
static void the_upper_body_alone_is_solved_and_said(void **state)
{
    static const char *const parts[] = {"knee", "ankle", "KNEE", "ANKLE", "HEEL", "FOOT",
                                        "Knee", "Ankle", "Toe",  "Heel",  "Foot"};
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    for (int s = 0; s < ULNA_TEST_BODY_SYSTEMS; s++) {
        ulna_recording r = record(&take, s, 0);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            lose(&r, parts[i], 0, FRAMES);
        ulna_test_take_write(tool->folder, "points.csv", NULL, NULL, &r);
        json_t *object = solve(tool, "human", "points.csv", "");
        ulna_test_bvh *bvh = read_bvh(tool);
        errors e = compare(bvh, &take, 4);
        print_message("%s, upper body: joints %.1f mm, knees back %.1f mm\n", ulna_test_body_systems[s].name,
                      1e3 * e.joints, 1e3 * e.most_backward);
        assert_true(e.joints < 0.02 && e.most_backward < 0.03);
        assert_true(says(object, "unmeasured", "left_shank") && says(object, "unmeasured", "right_foot"));
        ulna_test_bvh_free(bvh);
        json_decref(object);
        ulna_recording_release(&r);
    }
    ulna_test_take_release(&take);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_body_system_becomes_a_motion, open_folder, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(hands_become_motions, open_folder, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(points_may_be_missing, open_folder, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(the_upper_body_alone_is_solved_and_said, open_folder, ulna_test_tool_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
