/* What calibrations expect before they see a take: bones, places, mirrored sides, standing poses, sessions; and what they report. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "mocap/calibrator.h"
#include "model/model.h"
#include "support_calibrate.h"

/* ---- bones ---- */

/* A skeleton of ball joints from names, parents and places. */
typedef struct bone {
    const char *name;
    int parent;
    double at[3]; /* from the parent */
} bone;

static ulna_model *build(const bone *bones, int count)
{
    ulna_builder *builder;
    ulna_model *model;
    ulna_builder_create(NULL, &builder);
    for (int i = 0; i < count; i++) {
        assert_int_equal(ulna_builder_add_body(builder, bones[i].name, bones[i].parent, NULL, NULL), ULNA_OK);
        ulna_joint joint = i ? ulna_joint_euler("ZXY") : ulna_joint_free();
        assert_int_equal(ulna_builder_set_joint(builder, i, &joint, NULL), ULNA_OK);
        ulna_builder_set_placement(builder, i, bones[i].at, NULL, NULL);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

static const char *body_of(const ulna_model *model, const ulna_marker_set *set, const char *marker)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->items[i].marker, marker) == 0)
            return ulna_model_body_name(model, set->items[i].body);
    return "";
}

static ulna_marker_set set_of(const ulna_model *model, const char *const *names, int count)
{
    ulna_recording recording = ulna_recording_empty(NULL);
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_recording_resize(&recording, count, 1);
    for (int i = 0; i < count; i++)
        snprintf(recording.names[i], sizeof recording.names[i], "%s", names[i]);
    assert_int_equal(ulna_marker_set_from_names(model, &recording, &set, NULL, NULL), ULNA_OK);
    ulna_recording_release(&recording);
    return set;
}

static void test_lone_toes_and_fingers(void **state)
{
    (void)state;
    static const char *const two[] = {"LTOE", "LMT5", "LHEE", "RTOE", "RHEE", "LFIN", "LWRA"};
    ulna_model *model = sample("human");
    ulna_marker_set set = set_of(model, two, 7);
    assert_string_equal(body_of(model, &set, "LTOE"), "left_toes");
    assert_string_equal(body_of(model, &set, "LMT5"), "left_toes");
    assert_string_equal(body_of(model, &set, "RTOE"), "right_foot");
    assert_string_equal(body_of(model, &set, "LFIN"), "left_hand");
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* Two legs, two arms, and a spine of three joints, as BVH has them. */
static const bone bvh[] = {
    {"Hips", ULNA_NONE, {0, 1, 0}},
    {"Spine", 0, {0, .1, 0}},
    {"Spine1", 1, {0, .12, 0}},
    {"Spine2", 2, {0, .12, 0}},
    {"Spine3", 3, {0, .1, 0}},
    {"Neck", 4, {0, .12, 0}},
    {"Head", 5, {0, .1, 0}},
    {"LeftShoulder", 4, {.03, .08, 0}},
    {"LeftArm", 7, {.15, 0, 0}},
    {"LeftForeArm", 8, {.29, 0, 0}},
    {"LeftHand", 9, {.26, 0, 0}},
    {"RightShoulder", 4, {-.03, .08, 0}},
    {"RightArm", 11, {-.15, 0, 0}},
    {"RightForeArm", 12, {-.29, 0, 0}},
    {"RightHand", 13, {-.26, 0, 0}},
    {"LeftUpLeg", 0, {.09, -.05, 0}},
    {"LeftLeg", 15, {0, -.43, 0}},
    {"LeftFoot", 16, {0, -.42, 0}},
    {"LeftToeBase", 17, {0, -.06, .13}},
    {"RightUpLeg", 0, {-.09, -.05, 0}},
    {"RightLeg", 19, {0, -.43, 0}},
    {"RightFoot", 20, {0, -.42, 0}},
    {"RightToeBase", 21, {0, -.06, .13}},
};
enum { BVH = sizeof bvh / sizeof *bvh };

/* Never one marker on a joint of the spine, whichever of the markers there are. */
static void test_lone_trunk_markers(void **state)
{
    (void)state;
    static const char *const all[] = {"C7", "CLAV", "T10", "STRN", "RBAC", "LSHO", "LFIN", "LWRA"};
    static const char *const few[] = {"C7", "CLAV", "T10"}, *const end[] = {"LELB", "LUPA", "LFIN"};
    ulna_model *model = build(bvh, BVH);
    ulna_marker_set set = set_of(model, all, 8);
    assert_string_equal(body_of(model, &set, "C7"), "Spine3");
    assert_string_equal(body_of(model, &set, "T10"), "Spine2");
    assert_string_equal(body_of(model, &set, "RBAC"), "Spine2");
    assert_string_equal(body_of(model, &set, "LSHO"), "LeftShoulder");
    assert_string_equal(body_of(model, &set, "LFIN"), "LeftHand"); /* far from its joint: it stays */
    ulna_marker_set_release(&set);
    set = set_of(model, few, 3);
    assert_string_equal(body_of(model, &set, "T10"), "Spine3");
    ulna_marker_set_release(&set);
    set = set_of(model, end, 3); /* one marker for elbow and wrist */
    assert_string_equal(body_of(model, &set, "LFIN"), "LeftForeArm");
    assert_string_equal(body_of(model, &set, "LELB"), "LeftArm");
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* One marker cannot show three rotations: the joint is held, unless there are markers beyond it. */
static void test_one_marker_on_a_ball(void **state)
{
    (void)state;
    ulna_model *model = build(bvh, BVH);
    int hand = ulna_model_find_body(model, "LeftHand"), forearm = ulna_model_find_body(model, "LeftForeArm");
    const int body[4] = {forearm, hand, hand, ulna_model_find_body(model, "Spine3")};
    static const double weight[4] = {1, 1, 1, 1}, alone[4] = {1, 0, 0, 1};
    for (int way = 0; way < 2; way++) {
        ulna_anatomy *anatomy;
        assert_int_equal(ulna_anatomy_create(model, body, way ? alone : weight, 4, NULL, &anatomy), ULNA_OK);
        assert_true((ulna_anatomy_posture(anatomy, forearm) > 1) == way); /* in the second its hand shows nothing */
        ulna_anatomy_destroy(anatomy);
    }
    ulna_model_destroy(model);
}

/* ---- places ---- */

static ulna_model *build_in_unit(double unit)
{
    bone bones[BVH];
    memcpy(bones, bvh, sizeof bones);
    for (int i = 0; i < BVH; i++)
        for (int k = 0; k < 3; k++)
            bones[i].at[k] *= unit;
    return build(bones, BVH);
}

static void scaled_place(double unit, double place[3])
{
    ulna_model *model = build_in_unit(unit);
    static const char *const names[] = {"RKNE", "RTHI", "RANK"};
    ulna_marker_set set = set_of(model, names, 3);
    memcpy(place, set.items[0].offset, 3 * sizeof *place);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* A marker outside of the right knee; the same in millimetres. */
static void test_places_grow_with_the_skeleton(void **state)
{
    (void)state;
    double metres[3], millimetres[3];
    scaled_place(1, metres);
    scaled_place(1000, millimetres);
    assert_true(metres[0] < -0.04 && metres[0] > -0.07 && metres[1] < -0.38 && metres[1] > -0.45);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(millimetres[k] - 1000 * metres[k]) < 1e-6);
}

/* A walk of sorts, markers 1 cm from their places; in units of 1 / `unit` m. */
static ulna_calibration calibrate_in_unit(double unit)
{
    static const char *const names[] = {"C7",   "CLAV", "T10",  "STRN", "RBAC", "LSHO", "RSHO", "LUPA", "RUPA", "LELB",
                                        "RELB", "LFRM", "RFRM", "LWRA", "RWRA", "LWRB", "RWRB", "LFIN", "RFIN", "LFWT",
                                        "RFWT", "LBWT", "RBWT", "LTHI", "RTHI", "LKNE", "RKNE", "LSHN", "RSHN", "LANK",
                                        "RANK", "LHEE", "RHEE", "LTOE", "RTOE", "LFHD", "RFHD", "LBHD", "RBHD"};
    enum { MARKERS = sizeof names / sizeof *names, FRAMES = 200 };
    ulna_model *model = build_in_unit(unit);
    ulna_marker_set set = set_of(model, names, MARKERS), truth = disturbed(&set, 0.01 * unit, 71);
    ulna_test_rng rng = ulna_test_rng_seed(72);
    ulna_clip clip = ulna_clip_empty(NULL);
    int nq = ulna_model_coordinate_count(model), nv = ulna_model_dof_count(model);
    double *step = calloc((size_t)nv, sizeof *step);
    assert_int_equal(ulna_clip_resize(&clip, nq, FRAMES), ULNA_OK);
    for (int d = 0; d < nv; d++) {
        double pace = ulna_test_rng_uniform(&rng, 0.01, 0.05), phase = ulna_test_rng_uniform(&rng, 0, 6);
        for (int f = 0; f < FRAMES; f++) {
            double *q = ulna_clip_frame(&clip, f);
            if (d == 0)
                memcpy(q, ulna_model_rest(model), (size_t)nq * sizeof *q);
            memset(step, 0, (size_t)nv * sizeof *step);
            step[d] = 0.3 * sin(phase + pace * f) * (ulna_model_dof_is_translation(model, d) ? unit : 1);
            ulna_model_integrate(model, q, step, q);
        }
    }
    ulna_recording recording = record(model, &clip, &truth);
    ulna_calibration found = calibrate(model, &set, &recording, NULL, NULL);
    free(step);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&truth);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
    return found;
}

/* Metres and centimetres give the same offsets, deviations and errors, to the precision of the search. */
static void test_any_unit(void **state)
{
    (void)state;
    ulna_calibration metres = calibrate_in_unit(1), centimetres = calibrate_in_unit(100);
    assert_int_equal(metres.set.count, centimetres.set.count);
    assert_true(metres.rms < 5e-3);
    assert_true(fabs(centimetres.rms - 100 * metres.rms) < 2 * metres.rms);
    for (size_t i = 0; i < metres.set.count; i++)
        for (int k = 0; k < 3; k++) {
            double deviation = metres.markers[i].deviation[k];
            assert_true(fabs(centimetres.set.items[i].offset[k] - 100 * metres.set.items[i].offset[k]) < 100 * 1e-3);
            assert_true(fabs(centimetres.markers[i].deviation[k] - 100 * deviation) < 5 * deviation);
        }
    ulna_calibration_release(&metres);
    ulna_calibration_release(&centimetres);
}

/* ---- the sum of what is expected ---- */

static void test_slope_of_expectations(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set set = own_markers(model), start = disturbed(&set, 0.02, 41);
    ulna_clip clip = make_motion(model, 20, 42);
    ulna_recording recording = record(model, &clip, &set);
    ulna_calibrate_options options = ulna_calibrate_options_default();
    ulna_take *take;
    ulna_calibrator *c;
    options.posture = options.limits = 0;
    options.loss_scale = 0.04;
    assert_int_equal(ulna_test_take(model, &start, &recording, NULL, NULL, &take, NULL), ULNA_OK);
    assert_int_equal(ulna_calibrator_create(take, &take->set, &options, &c, NULL), ULNA_OK);
    assert_true(c->pair_count >= 12);
    ulna_test_rng rng = ulna_test_rng_seed(43);
    for (int i = 0; i < c->nz; i++)
        c->z[i] += 0.03 * ulna_test_rng_normal(&rng);
    ulna_calibrator_weigh_expectations(c);
    for (int i = 0; i < c->count; i++)
        assert_true(c->expected[i].weight > 0 && c->expected[i].weight <= 1);
    size_t n = (size_t)c->nz;
    double *gradient = calloc(n, sizeof *gradient), *matrix = calloc(n * n, sizeof *matrix);
    ulna_calibrator_add_expectation(c, 1, matrix, gradient);
    for (int i = 0; i < c->nz; i++) { /* a quadratic: differences are exact */
        const double h = 1e-3, z = c->z[i];
        c->z[i] = z + h;
        double above = ulna_calibrator_expectation(c);
        c->z[i] = z - h;
        double below = ulna_calibrator_expectation(c);
        c->z[i] = z;
        double middle = ulna_calibrator_expectation(c), size = fabs(above) + 1;
        assert_true(fabs((above - below) / (2 * h) - gradient[i]) < 1e-9 * size / h);
        assert_true(fabs((above + below - 2 * middle) / (h * h) - matrix[(size_t)i * (n + 1)]) < 1e-9 * size / (h * h));
    }
    free(matrix);
    free(gradient);
    ulna_calibrator_destroy(c);
    ulna_take_destroy(take);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&start);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* Sides that mirror each other at rest cost nothing; the middle of a bone beside the plane does not matter. */
static void test_mirrored_sides(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_figure figure;
    assert_int_equal(ulna_figure_create(model, NULL, &figure), ULNA_OK);
    assert_true(figure.has_axes && figure.has_trunk && figure.size > 0.8 && figure.size < 1.2);
    static const char *const names[][2] = {{"LKNE", "RKNE"}, {"LELB", "RELB"}, {"LFWT", "RFWT"}, {"LFHD", "RFHD"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double offset[2][3], M[9], shift[3], mirrored[3];
        int body[2];
        for (int s = 0; s < 2; s++) {
            char side;
            double place[3], axes[9];
            const ulna_spot *spot = ulna_spot_find(names[i][s], &side);
            body[s] = ulna_marker_body(model, names[i][s]);
            assert_true(ulna_figure_place(&figure, spot, side, body[s], place, axes) == 1);
            ulna_figure_to_body(&figure, body[s], place, offset[s]);
        }
        assert_true(ulna_names_are_mirrored(names[i][0], names[i][1]));
        assert_false(ulna_names_are_mirrored(names[i][1], names[i][0]));
        ulna_figure_mirror(&figure, figure.axes, body[0], body[1], M, shift);
        ulna_rotate(M, offset[1], mirrored);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(mirrored[k] + shift[k] - offset[0][k]) < 1e-9);
    }
    ulna_figure_release(&figure);
    ulna_model_destroy(model);
}

/* ---- what is reported ---- */

/* Markers 1 cm from where they are expected, skin that moves by up to `skin` (m): the share of the offsets within two of the deviations
 * that were reported, and the mean deviation. */
static double share_covered(const ulna_model *model, const ulna_marker_set *expected, double skin, double *deviation)
{
    int covered = 0, all = 0;
    *deviation = 0;
    for (uint64_t seed = 51; seed < 54; seed++) {
        ulna_marker_set truth = disturbed(expected, 0.01, seed);
        ulna_clip clip = make_motion(model, 400, seed + 10);
        ulna_recording recording = record(model, &clip, &truth);
        ulna_test_rng rng = ulna_test_rng_seed(seed + 20);
        for (int m = 0; m < recording.marker_count; m++)
            for (int k = 0; k < 3; k++) {
                double phase = ulna_test_rng_uniform(&rng, 0, 6), pace = ulna_test_rng_uniform(&rng, 0.01, 0.05);
                for (int f = 0; f < recording.frame_count; f++)
                    ulna_recording_frame(&recording, f)[3 * m + k] += skin * sin(phase + pace * f);
            }
        ulna_calibration found = calibrate(model, expected, &recording, NULL, NULL);
        for (size_t i = 0; i < truth.count; i++)
            for (int k = 0; k < 3; k++, all++) {
                double reported = found.markers[i].deviation[k];
                covered += fabs(found.set.items[i].offset[k] - truth.items[i].offset[k]) < 2 * reported;
                *deviation += reported;
            }
        for (int b = 0; b < found.body_count; b++)
            assert_true(!model->body[b].dof_count || (found.deviation[b] > 1e-4 && found.deviation[b] < 0.1));
        ulna_calibration_release(&found);
        ulna_recording_release(&recording);
        ulna_clip_release(&clip);
        ulna_marker_set_release(&truth);
    }
    *deviation /= all;
    print_message("skin %.0f mm: %.1f %% of the offsets within two deviations, %.1f mm each\n", 1e3 * skin,
                  100.0 * covered / all, 1e3 * *deviation);
    return (double)covered / all;
}

/* The deviations must hold, also where the skin moves more than the prior assumes. */
static void test_deviations_cover_the_truth(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set expected = own_markers(model);
    double usual, rough;
    assert_true(share_covered(model, &expected, 0.007, &usual) > 0.9);
    assert_true(share_covered(model, &expected, 0.03, &rough) > 0.9);
    assert_true(rough > 1.1 * usual);
    ulna_marker_set_release(&expected);
    ulna_model_destroy(model);
}

/* A palm with two rotations at the end of a fixed base, and beyond it a finger, which no marker shows. */
static ulna_model *make_palm(void)
{
    static const double reach[3] = {0.3, 0, 0};
    ulna_builder *builder;
    ulna_model *model;
    const ulna_joint joints[] = {ulna_joint_fixed(), ulna_joint_euler("YZ"), ulna_joint_revolute(0, 1, 0)};
    static const char *const names[] = {"base", "palm", "finger"};
    ulna_builder_create(NULL, &builder);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ulna_builder_add_body(builder, names[i], i - 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, i, &joints[i], NULL), ULNA_OK);
        ulna_builder_set_placement(builder, i, i ? reach : (const double[3]){0, 0, 0}, NULL, NULL);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

/*
 * One marker at distance L of a joint of two rotations, whose posture has weight w; the offset has the spread s before the take. Across
 * the lever the take says w / (L^2 + w) of the offset, since the joint follows it: the variance of the offset is
 * p / (w / (L^2 + w) + p / s^2), and that of the rotation v / (L^2 + w) from the frame, L^2 / (L^2 + w)^2 times the offset's from the rest.
 */
static void test_rotation_of_a_lone_marker(void **state)
{
    (void)state;
    const double lever = 0.1, guess = 0.06, unmodelled = 1.2, held = 3;
    ulna_model *model = make_palm();
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_marker_set_add(&set, "a", 0, (const double[3]){0.05, 0.05, 0}, 1);
    ulna_marker_set_add(&set, "b", 0, (const double[3]){0.05, -0.05, 0}, 1);
    ulna_marker_set_add(&set, "c", 1, (const double[3]){lever, 0, 0}, 1);
    ulna_clip clip = make_motion(model, 60, 91);
    for (int i = 0; i < clip.frame_count * clip.coordinate_count; i++)
        ulna_clip_frame(&clip, 0)[i] *= 0.1; /* the lever stays across both axes */
    ulna_recording recording = record(model, &clip, &set);
    ulna_calibrate_options options = ulna_calibrate_options_default();
    options.posture = 1e-5;
    options.held_out_blocks = 0;
    ulna_calibration found = calibrate(model, &set, &recording, NULL, &options);
    double size = ulna_model_length_scale(model) / ULNA_ADULT_LENGTH_SCALE, w = held * options.posture;
    double p = options.prior * 4e-4 * size * size, frame = 11 * p, both = lever * lever + w;
    double offset = p / (w / both + p / (guess * guess * size * size));
    double wanted = unmodelled * sqrt(frame / both + lever * lever / (both * both) * offset);
    print_message("palm %.2f degrees, by hand %.2f\n", found.rotation_deviation[1] * 180 / ULNA_PI,
                  wanted * 180 / ULNA_PI);
    assert_true(fabs(found.rotation_deviation[1] - wanted) < 0.02 * wanted);
    assert_true(found.rotation_deviation[0] == 0);   /* no joint */
    assert_true(isnan(found.rotation_deviation[2])); /* no marker */
    ulna_calibration_release(&found);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* ---- lengths of the shoulders ---- */

/* The sample with shorter clavicles and longer upper arms. */
static ulna_model *with_other_shoulders(const ulna_model *model)
{
    ulna_model *other;
    double lengths[64];
    assert_true(model->nb <= 64);
    for (int b = 0; b < model->nb; b++) {
        const char *name = ulna_model_body_name(model, b);
        double factor = strstr(name, "_upper_arm") ? 0.75 : strstr(name, "_forearm") ? 1.12 : 1;
        lengths[b] = factor * ulna_model_bone_length(model, b);
    }
    assert_int_equal(ulna_model_with_lengths(model, lengths, NULL, &other, NULL), ULNA_OK);
    return other;
}

/* Lengths that no offset makes up for are found, and nothing else changes. */
static void test_shoulder_lengths(void **state)
{
    (void)state;
    ulna_model *model = sample("human"), *person = with_other_shoulders(model);
    ulna_marker_set set = own_markers(model), truth = disturbed(&set, 0.01, 81);
    ulna_clip clip = make_motion(model, 400, 82);
    ulna_recording recording = record(person, &clip, &truth);
    ulna_calibrate_options options = ulna_calibrate_options_default();
    ulna_calibration without = calibrate(model, &set, &recording, NULL, &options);
    options.shoulders = 1;
    ulna_calibration found = calibrate(model, &set, &recording, NULL, &options);
    print_message("%.2f mm, %.2f mm with the lengths of the shoulders\n", 1e3 * without.rms_all, 1e3 * found.rms_all);
    assert_true(found.rms_all < 0.5 * without.rms_all);
    for (int b = 0; b < found.body_count; b++) {
        const char *name = ulna_model_body_name(model, b);
        double wanted = strstr(name, "_upper_arm") ? 0.75 : strstr(name, "_forearm") ? 1.12 : 1;
        if (fabs(found.scale[b] - wanted) > (wanted == 1 ? 0 : 0.05))
            fail_msg("%s: %.3f, not %.3f", name, found.scale[b], wanted);
    }
    ulna_calibration_release(&found);
    ulna_calibration_release(&without);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&truth);
    ulna_marker_set_release(&set);
    ulna_model_destroy(person);
    ulna_model_destroy(model);
}

/* ... and a skeleton without clavicles says so. */
static void test_no_shoulders(void **state)
{
    (void)state;
    ulna_model *model = sample("right-hand");
    ulna_marker_set set = own_markers(model);
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, model->nq, 1), ULNA_OK);
    memcpy(ulna_clip_frame(&clip, 0), model->rest, (size_t)model->nq * sizeof(double));
    ulna_recording recording = record(model, &clip, &set);
    ulna_calibrate_options options = ulna_calibrate_options_default();
    ulna_calibration found;
    ulna_error error;
    options.shoulders = 1;
    assert_int_equal(ulna_test_calibrate(model, &set, &recording, NULL, &options, &found, &error), ULNA_ERR_MODEL);
    assert_non_null(strstr(error.message, "clavicles"));
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* ---- a table of one's own ---- */

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_template(void **state)
{
    (void)state;
    char path[] = "/tmp/ulna-template-XXXXXX";
    int handle = mkstemp(path);
    assert_true(handle >= 0);
    ulna_model *model = sample("human");
    ulna_marker_template t;
    ulna_error error;
    write_text(path,
               "marker,bone,left,up,forward,sl,su,sf\nP1,left_thigh,80,-200,0,10,30,20\nP2,right_thigh,-80,-200,0,15\n"
               "P3,pelvis,0,50,90\n");
    assert_int_equal(ulna_marker_template_load(path, model, &t, &error), ULNA_OK);
    assert_int_equal(t.set.count, 3);
    assert_true(fabs(t.set.items[0].offset[0] - 0.08) < 5e-3 && fabs(t.set.items[0].offset[1] + 0.2) < 5e-3);
    static const double spreads[9] = {.01, .03, .02, .015, .015, .015, .02, .02, .02};
    for (int i = 0; i < 9; i++)
        assert_true(fabs(t.spread[i] - spreads[i]) < 1e-12);
    ulna_marker_template_release(&t);
    ulna_marker_template_release(&t);
    write_text(path, "P1,left_thigh,80,-200,0,0\n");
    assert_int_equal(ulna_marker_template_load(path, model, &t, &error), ULNA_ERR_PARSE);
    assert_non_null(strstr(error.message, "above 0"));
    assert_int_equal(t.set.count, 0);
    write_text(path, "P1,left_thigh,1e30,-200,0,20\n");
    assert_int_equal(ulna_marker_template_load(path, model, &t, &error), ULNA_ERR_PARSE);
    assert_non_null(strstr(error.message, "no place on a person"));
    write_text(path, "P1,wing,80,-200,0\n");
    assert_int_equal(ulna_marker_template_load(path, model, &t, &error), ULNA_ERR_PARSE);
    remove(path);
    assert_int_equal(ulna_marker_template_load(path, model, &t, &error), ULNA_ERR_IO);
    ulna_model_destroy(model);
}

/* ---- standing ---- */

static void test_standing_poses(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    double *q = calloc((size_t)ulna_model_coordinate_count(model), sizeof *q);
    ulna_pose *pose;
    ulna_pose_create(model, NULL, &pose, NULL);
    const ulna_allocator allocator = ulna_allocator_or_default(NULL);
    static const double down[] = {0, 1, 0.70710678};
    for (int i = 0; i < 3; i++)
        for (int side = 0; side < 2; side++) {
            double a[3], b[3], d[3];
            assert_int_equal(ulna_standing_pose(model, "tna"[i], &allocator, q, NULL), ULNA_OK);
            ulna_pose_forward(pose, q);
            ulna_pose_body(pose, ulna_model_find_body(model, side ? "right_upper_arm" : "left_upper_arm"), a, NULL);
            ulna_pose_body(pose, ulna_model_find_body(model, side ? "right_hand" : "left_hand"), b, NULL);
            for (int k = 0; k < 3; k++)
                d[k] = b[k] - a[k];
            double length = ulna_norm(d);
            assert_true(fabs(d[1] / length + down[i]) < 0.05);
            assert_true(fabs((side ? -1 : 1) * d[0] / length - sqrt(1 - down[i] * down[i])) < 0.1);
        }
    ulna_error error;
    ulna_model *arm = sample("arm");
    assert_int_equal(ulna_standing_pose(model, 'x', &allocator, q, &error), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_standing_pose(arm, 't', &allocator, q, &error), ULNA_ERR_MODEL);
    assert_non_null(strstr(error.message, "give the pose"));
    ulna_model_destroy(arm);
    ulna_pose_destroy(pose);
    free(q);
    ulna_model_destroy(model);
}

static double forearm_error(const ulna_model *model, const ulna_model *found, const double *lengths)
{
    double worst = 0;
    for (int b = 0; b < ulna_model_body_count(model); b++)
        if (strstr(ulna_model_body_name(model, b), "forearm") || strstr(ulna_model_body_name(model, b), "hand"))
            worst = fmax(worst, fabs(ulna_model_bone_length(found, b) - lengths[b]));
    return worst;
}

/* Someone with longer arms stands still, arms out or hanging: the lengths are right if the pose is known. */
static void test_static_pose(void **state)
{
    (void)state;
    ulna_model *model = sample("human"), *other;
    const ulna_allocator allocator = ulna_allocator_or_default(NULL);
    int nb = ulna_model_body_count(model), nq = ulna_model_coordinate_count(model);
    double *lengths = malloc((size_t)nb * sizeof *lengths), *q = malloc((size_t)nq * sizeof *q), before, after,
           unknown = 0;
    for (int b = 0; b < nb; b++)
        lengths[b] = ulna_model_bone_length(model, b) * (strstr(ulna_model_body_name(model, b), "forearm") ? 1.15 : 1);
    assert_int_equal(ulna_model_with_lengths(model, lengths, NULL, &other, NULL), ULNA_OK);
    ulna_marker_set set = own_markers(model);
    for (int way = 0; way < 2; way++) {
        ulna_clip clip = ulna_clip_empty(NULL);
        ulna_clip_resize(&clip, nq, 20);
        assert_int_equal(ulna_standing_pose(model, "tn"[way], &allocator, q, NULL), ULNA_OK);
        for (int f = 0; f < 20; f++)
            memcpy(ulna_clip_frame(&clip, f), q, (size_t)nq * sizeof *q);
        ulna_recording recording = record(other, &clip, &set);
        ulna_calibrate_options options = ulna_calibrate_options_static();
        options.symmetric = 1;
        ulna_calibration rest = calibrate(model, &set, &recording, NULL, &options);
        options.static_arms = "tn"[way];
        ulna_calibration known = calibrate(model, &set, &recording, NULL, &options);
        before = forearm_error(model, model, lengths);
        after = forearm_error(model, known.model, lengths);
        unknown = fmax(unknown, forearm_error(model, rest.model, lengths));
        print_message("%c: arms %.1f mm off before, %.1f after\n", "tn"[way], 1e3 * before, 1e3 * after);
        assert_true(after < 0.3 * before);
        ulna_calibration_release(&rest);
        ulna_calibration_release(&known);
        ulna_recording_release(&recording);
        ulna_clip_release(&clip);
    }
    print_message("without the pose %.1f mm\n", 1e3 * unknown);
    ulna_marker_set_release(&set);
    free(q);
    free(lengths);
    ulna_model_destroy(other);
    ulna_model_destroy(model);
}

/* ---- sessions ---- */

static void test_sessions(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set set = own_markers(model);
    for (int anew = 0; anew < 2; anew++) {
        ulna_marker_set truth[2] = {disturbed(&set, 0.01, 61), disturbed(&set, 0.01, anew ? 62 : 61)};
        ulna_recording recording[2];
        ulna_take *take[2];
        for (int t = 0; t < 2; t++) {
            for (size_t i = 0; i < set.count && t && anew; i++) /* a thigh's marker 6 cm farther down */
                if (strcmp(set.items[i].marker, "LTHI") == 0)
                    truth[t].items[i].offset[1] -= 0.06;
            ulna_clip clip = make_motion(model, 300, 63 + (uint64_t)t);
            recording[t] = record(model, &clip, &truth[t]);
            ulna_clip_release(&clip);
            assert_int_equal(ulna_test_take(model, &set, &recording[t], NULL, NULL, &take[t], NULL), ULNA_OK);
        }
        ulna_calibration found;
        ulna_calibrate_options options = ulna_calibrate_options_default();
        const ulna_take *const more[1] = {take[1]};
        options.other_takes = more;
        options.other_take_count = 1;
        assert_int_equal(ulna_calibrate(take[0], &options, &found, NULL), ULNA_OK);
        assert_int_equal(found.take_count, 2);
        assert_int_equal(found.is_placed_anew, anew);
        assert_int_equal(found.set.count, set.count);
        for (size_t i = 0; i < found.set.count; i++)
            if (strcmp(found.set.items[i].marker, "LTHI") == 0)
                assert_int_equal(found.markers[i].differs_between_takes, anew);
        assert_true(anew || found.differing_count == 0);
        ulna_calibration_release(&found);
        for (int t = 0; t < 2; t++) {
            ulna_take_destroy(take[t]);
            ulna_recording_release(&recording[t]);
            ulna_marker_set_release(&truth[t]);
        }
    }
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* Where a joint is in the pose that fits best, with one scale changed by h. */
static void joint_at_scale(ulna_calibrator *c, int group, double h, const double *key, int body, double place[3])
{
    double *q = malloc((size_t)c->nq * sizeof *q);
    ulna_pose *pose;
    memcpy(q, key, (size_t)c->nq * sizeof *q);
    c->z[group] += h;
    assert_int_equal(ulna_calibrator_apply(c), ULNA_OK);
    assert_int_equal(ulna_solver_set_options(c->solver, &c->warm, NULL), ULNA_OK);
    for (int i = 0; i < 6; i++)
        ulna_key_solve(c, 0, q, 0, 1);
    assert_int_equal(ulna_pose_create(c->scaled ? c->scaled : c->base, NULL, &pose, NULL), ULNA_OK);
    ulna_pose_forward(pose, q);
    ulna_pose_body(pose, body, place, NULL);
    ulna_pose_destroy(pose);
    c->z[group] -= h;
    free(q);
}

/* Rows of joint deviations against differences: a scale moves joints by itself, and through the pose that follows. */
static void test_joints_follow_scales(void **state)
{
    (void)state;
    static const char *const bodies[] = {"left_shank", "left_foot", "left_hand", "right_forearm"};
    const double h = 1e-4;
    ulna_model *model = sample("human");
    ulna_marker_set set = own_markers(model);
    ulna_clip clip = make_motion(model, 5, 71);
    ulna_recording recording = record(model, &clip, &set);
    ulna_calibrate_options options = ulna_calibrate_options_default();
    ulna_take *take;
    ulna_calibrator *c;
    options.scale = 1;
    options.posture = 1e-5;
    options.limits = 0;
    options.loss_scale = 0.04;
    assert_int_equal(ulna_test_take(model, &set, &recording, NULL, NULL, &take, NULL), ULNA_OK);
    assert_int_equal(ulna_calibrator_create(take, &take->set, &options, &c, NULL), ULNA_OK);
    assert_int_equal(ulna_calibrator_set_keys(c, 1, (const int[]){2}), ULNA_OK);
    ulna_calibrator_set_posture(c, 1e-5);
    c->loss_scale = 0;
    for (int i = 0; i < c->count; i++)
        memcpy(ulna_offset(c, i), take->set.items[c->item[i]].offset, 3 * sizeof(double));
    c->warm.decrease = 1e-15;
    c->warm.hybrid.trust_last = 0;
    c->warm.iterations = 500;
    double *key = ulna_key_q(c, 0), *rows = calloc(3 * (size_t)c->nz, sizeof *rows);
    ulna_key_start(c, 0, 0, key);
    joint_at_scale(c, 0, 0, key, 0, (double[3]){0});
    for (int i = 0; i < 6; i++)
        ulna_key_solve(c, 0, key, 0, 1);
    for (size_t n = 0; n < sizeof bodies / sizeof *bodies; n++) {
        int body = ulna_model_find_body(model, bodies[n]), group = body < 0 ? -1 : c->group[body];
        double above[3], below[3];
        assert_true(group >= 0);
        joint_at_scale(c, group, h, key, body, above);
        joint_at_scale(c, group, -h, key, body, below);
        joint_at_scale(c, group, 0, key, body, (double[3]){0});
        assert_int_equal(ulna_calibrator_reduce_key(c, 0), ULNA_OK);
        ulna_calibrator_joint_rows(c, body, rows);
        for (int k = 0; k < 3; k++) {
            double difference = (above[k] - below[k]) / (2 * h),
                   found = rows[(size_t)k * (size_t)c->nz + (size_t)group];
            if (!(fabs(difference - found) < 2e-3))
                fail_msg("%s, %c: %g by differences, %g by rows", bodies[n], "xyz"[k], difference, found);
        }
    }
    free(rows);
    ulna_calibrator_destroy(c);
    ulna_take_destroy(take);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

static ulna_calibration calibrate_two(const ulna_model *model, const ulna_marker_set sets[2],
                                      const ulna_recording recordings[2])
{
    ulna_take *take[2];
    ulna_error error;
    ulna_calibration found;
    for (int t = 0; t < 2; t++)
        assert_int_equal(ulna_test_take(model, &sets[t], &recordings[t], NULL, NULL, &take[t], NULL), ULNA_OK);
    ulna_calibrate_options options = ulna_calibrate_options_default();
    const ulna_take *const more[1] = {take[1]};
    options.other_takes = more;
    options.other_take_count = 1;
    if (ulna_calibrate(take[0], &options, &found, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    for (int t = 0; t < 2; t++)
        ulna_take_destroy(take[t]);
    return found;
}

/* "LKNE" of one take is "Anna:LKNE" of the next. */
static void test_sessions_with_prefixes(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set sets[2] = {own_markers(model), own_markers(model)}, truth = disturbed(&sets[0], 0.01, 61);
    ulna_recording recordings[2];
    for (int t = 0; t < 2; t++) {
        ulna_clip clip = make_motion(model, 100, 63 + (uint64_t)t);
        recordings[t] = record(model, &clip, &truth);
        ulna_clip_release(&clip);
    }
    ulna_calibration plain = calibrate_two(model, sets, recordings);
    for (size_t i = 0; i < sets[1].count; i++) {
        snprintf(sets[1].items[i].marker, ULNA_MARKER_NAME, "Anna:%.40s", sets[0].items[i].marker);
        memcpy(recordings[1].names[i], sets[1].items[i].marker, ULNA_MARKER_NAME);
    }
    ulna_calibration prefixed = calibrate_two(model, sets, recordings);
    assert_int_equal(prefixed.take_count, 2);
    assert_int_equal(prefixed.set.count, plain.set.count);
    assert_memory_equal(prefixed.set.items, plain.set.items, plain.set.count * sizeof *plain.set.items);
    ulna_calibration_release(&prefixed);
    ulna_calibration_release(&plain);
    for (int t = 0; t < 2; t++) {
        ulna_recording_release(&recordings[t]);
        ulna_marker_set_release(&sets[t]);
    }
    ulna_marker_set_release(&truth);
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lone_toes_and_fingers),
        cmocka_unit_test(test_lone_trunk_markers),
        cmocka_unit_test(test_one_marker_on_a_ball),
        cmocka_unit_test(test_places_grow_with_the_skeleton),
        cmocka_unit_test(test_any_unit),
        cmocka_unit_test(test_slope_of_expectations),
        cmocka_unit_test(test_mirrored_sides),
        cmocka_unit_test(test_deviations_cover_the_truth),
        cmocka_unit_test(test_rotation_of_a_lone_marker),
        cmocka_unit_test(test_shoulder_lengths),
        cmocka_unit_test(test_no_shoulders),
        cmocka_unit_test(test_template),
        cmocka_unit_test(test_standing_poses),
        cmocka_unit_test(test_static_pose),
        cmocka_unit_test(test_joints_follow_scales),
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_sessions_with_prefixes),
    };
    return cmocka_run_group_tests_name("calibrate_prior", tests, NULL, NULL);
}
