/* Calibration: which bone, where on it, how long, and whether it can be trusted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/math3.h"
#include "mocap/calibrator.h"
#include "support_calibrate.h"
#include "ulna/sample.h"

/* ---- names ---- */

static ulna_model *chain_of(const char *const *names, int count)
{
    ulna_builder *builder;
    ulna_model *model;
    ulna_builder_create(NULL, &builder);
    for (int i = 0; i < count; i++)
        assert_int_equal(ulna_builder_add_body(builder, names[i], i - 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

static void test_names_of_skeletons(void **state)
{
    (void)state;
    static const char *const mixamo[] = {"mixamorig:Hips",        "mixamorig:Spine",       "mixamorig:Spine1",
                                         "mixamorig:Spine2",      "mixamorig:Head",        "mixamorig:LeftShoulder",
                                         "mixamorig:LeftArm",     "mixamorig:LeftForeArm", "mixamorig:LeftHand",
                                         "mixamorig:RightUpLeg",  "mixamorig:RightLeg",    "mixamorig:RightFoot",
                                         "mixamorig:RightToeBase"};
    ulna_model *model = chain_of(mixamo, sizeof mixamo / sizeof *mixamo);
    assert_on(model, "LFWT", "mixamorig:Hips");
    assert_on(model, "subject:rasi", "mixamorig:Hips");
    assert_on(model, "LSHO", "mixamorig:LeftShoulder");
    assert_on(model, "LELB", "mixamorig:LeftArm");
    assert_on(model, "lfrm", "mixamorig:LeftForeArm");
    assert_on(model, "LFIN", "mixamorig:LeftHand");
    assert_on(model, "Anna:RKNE", "mixamorig:RightUpLeg");
    assert_on(model, "RTIB", "mixamorig:RightLeg");
    assert_on(model, "RTOE", "mixamorig:RightToeBase");
    assert_on(model, "T10", "mixamorig:Spine2"); /* not alone on a joint of the spine */
    assert_on(model, "CLAV", "mixamorig:Spine2");
    assert_on(model, "LKNE", NULL); /* there is no left leg */
    assert_on(model, "*0", NULL);
    assert_on(model, "", NULL);
    assert_on(model, "L", NULL);
    ulna_model_destroy(model);

    static const char *const bvh[] = {"Hips", "Chest", "LeftCollar", "LeftShoulder", "LeftElbow", "thigh_r", "calf_r"};
    model = chain_of(bvh, sizeof bvh / sizeof *bvh);
    assert_on(model, "LSHO", "LeftCollar");
    assert_on(model, "LUPA", "LeftShoulder");
    assert_on(model, "LFRM", "LeftElbow");
    assert_on(model, "RTHI", "thigh_r");
    assert_on(model, "RSHN", "calf_r");
    ulna_model_destroy(model);
}

static void test_names_of_marker_sets(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    static const char *const markers[][2] = {
        {"R.Acromium", "right_clavicle"},
        {"V.Sacral", "pelvis"},
        {"L.Knee.Lat", "left_thigh"},
        {"R.Knee.Med", "right_thigh"},
        {"R.Shank.Rear", "right_shank"},
        {"Top.Head", "head"},
        {"Left_Heel", "left_foot"},
        {"anna:RightKnee", "right_thigh"},
        {"KNE_L", "left_thigh"},
        {"TOE.Right", "right_toes"},
        {"RTH3", "right_thigh"},
        {"LLFC", "left_thigh"},
        {"RMMAL", "right_foot"},
        {"ROFF", "upper_spine"},
        {"VSAC", "pelvis"},
        {"LKNE1", NULL},
        {"LHJC", "left_thigh"},
        {"LKneeAngles", NULL},
        {"LGroundReactionForce", NULL},
        {"LTIO", NULL},
        {"L_IAS", "pelvis"},
        {"R_IPS", "pelvis"},
        {"R_FTC", "right_thigh"},
        {"R_FLE", "right_thigh"},
        {"RFME", "right_thigh"},
        {"L_FAX", "left_shank"},
        {"L_TTC", "left_shank"},
        {"R_TAM", "right_foot"},
        {"LFCC", "left_foot"},
        {"L_FM5", "left_foot"},
        {"SJN", "upper_spine"},
        {"R_SAE", "right_clavicle"},
        {"L_HME", "left_upper_arm"},
        {"R_USP", "right_forearm"},
        {"LLM", "left_foot"},
        {"LML", NULL},
        {"Skeleton:WaistLFront", "pelvis"},
        {"Skeleton_001:WaistRBack", "pelvis"},
        {"Skeleton_Hip2", "pelvis"},
        {"Karlie_LKneeOut", "left_thigh"},
        {"Q_LHeelBack", "left_foot"},
        {"Actor_1_RShin_2", "right_shank"},
        {"RWristIn", "right_forearm"},
        {"HeadTop", "head"},
        {"LFEA", NULL},
        {"left", NULL},
        {"right", NULL},
        {"r", NULL},
    };
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++)
        assert_on(model, markers[i][0], markers[i][1]);
    ulna_model_destroy(model);
}

/* The human has the markers itself: what the names say is the same bone, or the next. */
static void test_names_on_the_human(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    int same = 0, count = ulna_model_marker_count(model);
    for (int m = 0; m < count; m++) {
        int own = ulna_model_marker_body(model, m), named = ulna_marker_body(model, ulna_model_marker_name(model, m));
        assert_true(named != ULNA_NONE);
        assert_true(own == named || ulna_model_body_parent(model, own) == named ||
                    ulna_model_body_parent(model, named) == own);
        same += own == named;
    }
    assert_true(same >= count - 6);
    int left = ulna_model_find_body(model, "left_thigh");
    assert_int_equal(ulna_mirror_body(model, left), ulna_model_find_body(model, "right_thigh"));
    assert_int_equal(ulna_mirror_body(model, ulna_model_find_body(model, "head")), ULNA_NONE);
    ulna_model_destroy(model);
}

static void test_set_from_names(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_recording recording = ulna_recording_empty(NULL);
    ulna_recording_resize(&recording, 3, 1);
    snprintf(recording.names[0], sizeof recording.names[0], "me:RKNE");
    snprintf(recording.names[1], sizeof recording.names[1], "*3");
    snprintf(recording.names[2], sizeof recording.names[2], "me:LKNE");
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    int unknown = -1;
    assert_int_equal(ulna_marker_set_from_names(model, &recording, &set, &unknown, NULL), ULNA_OK);
    assert_int_equal(set.count, 2);
    assert_int_equal(unknown, 1);
    assert_string_equal(ulna_model_body_name(model, set.items[0].body), "right_thigh");
    /* outward: to the right of the right knee, which is -x in the human */
    assert_true(set.items[0].offset[0] < -0.03 && set.items[1].offset[0] > 0.03);
    assert_true(set.items[0].offset[1] < -0.3);
    /* What the set has stays; a name that comes twice counts once. */
    snprintf(recording.names[1], sizeof recording.names[1], "me:RKNE");
    set.items[0].offset[0] = 7;
    assert_int_equal(ulna_marker_set_from_names(model, &recording, &set, &unknown, NULL), ULNA_OK);
    assert_int_equal(set.count, 2);
    assert_int_equal(unknown, 0);
    assert_true(set.items[0].offset[0] == 7);

    ulna_marker_set none = ulna_marker_set_empty(NULL);
    ulna_model *arm = sample("arm");
    ulna_error error;
    assert_int_equal(ulna_marker_set_from_names(arm, &recording, &none, NULL, &error), ULNA_ERR_MODEL);
    assert_non_null(strstr(error.message, "no bone of the skeleton"));
    assert_non_null(strstr(error.message, "not even for me:LKNE: a table must say which bone each marker is on"));
    ulna_model_destroy(arm);
    for (int i = 0; i < 3; i++)
        snprintf(recording.names[i], sizeof recording.names[i], "*%d", i);
    assert_int_equal(ulna_marker_set_from_names(model, &recording, &none, NULL, &error), ULNA_ERR_MODEL);
    assert_non_null(strstr(error.message, "no name of a marker is known (*0, *1, *2)"));
    assert_int_equal(none.count, 0);
    ulna_marker_set_release(&set);
    ulna_recording_release(&recording);
    ulna_model_destroy(model);
}

/* ---- the reduced problem ---- */

/* dF/dz with all poses following, against differences of F; offsets and scales. */
static void test_reduced_gradient(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set set = own_markers(model), start = disturbed(&set, 0.01, 3);
    ulna_clip clip = make_motion(model, 60, 4);
    ulna_recording recording = record(model, &clip, &set);
    ulna_calibrate_options options = ulna_calibrate_options_default();
    options.scale = options.symmetric = 1;
    options.posture = 1e-3;
    ulna_take *take;
    ulna_calibrator *c;
    assert_int_equal(ulna_test_take(model, &start, &recording, NULL, NULL, &take, NULL), ULNA_OK);
    assert_int_equal(ulna_calibrator_create(take, &take->set, &options, &c, NULL), ULNA_OK);
    assert_true(c->groups > 10);
    const int frames[3] = {5, 30, 55};
    assert_int_equal(ulna_calibrator_set_keys(c, 3, frames), ULNA_OK);
    ulna_recording_frame(&recording, 30)[4] = NAN;
    assert_int_equal(ulna_calibrator_set_keys(c, 3, frames), ULNA_OK);
    c->warm.decrease = 1e-15;
    c->warm.iterations = 200;
    c->warm.hybrid.trust_last = 0;
    c->z[2] = 0.05;
    for (int k = 0; k < 3; k++)
        memcpy(ulna_key_q(c, k), ulna_clip_frame(&clip, frames[k]), (size_t)c->nq * sizeof(double));
    double objective, above, below, largest = 0;
    assert_int_equal(ulna_calibrator_solve_all(c, 0, &objective), ULNA_OK);
    assert_int_equal(ulna_calibrator_reduce(c), ULNA_OK);
    double *gradient = malloc((size_t)c->nz * sizeof *gradient);
    memcpy(gradient, c->gradient, (size_t)c->nz * sizeof *gradient);
    for (int i = 0; i < c->nz; i++)
        largest = fmax(largest, fabs(gradient[i]));
    assert_true(largest > 1e-4);
    for (int i = 0; i < c->nz; i += i < c->groups ? 3 : 7) {
        const double h = 1e-4;
        double z = c->z[i];
        c->z[i] = z + h;
        assert_int_equal(ulna_calibrator_solve_all(c, 0, &above), ULNA_OK);
        c->z[i] = z - h;
        assert_int_equal(ulna_calibrator_solve_all(c, 0, &below), ULNA_OK);
        c->z[i] = z;
        double slope = (above - below) / (2 * h);
        if (fabs(slope - gradient[i]) > 1e-4 * largest)
            fail_msg("unknown %d: %.9g, by differences %.9g", i, gradient[i], slope);
    }
    free(gradient);
    ulna_calibrator_destroy(c);
    ulna_take_destroy(take);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&start);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* ---- known offsets ---- */

static void test_known_offsets(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set truth = own_markers(model), start = disturbed(&truth, 0.03, 5);
    ulna_clip clip = make_motion(model, 1000, 6);
    ulna_recording recording = record(model, &clip, &truth);
    for (int gaps = 0; gaps < 2; gaps++) {
        ulna_test_rng rng = ulna_test_rng_seed(7);
        for (int i = 0; gaps && i < recording.frame_count * recording.marker_count; i++)
            if (ulna_test_rng_uniform(&rng, 0, 1) < 0.1)
                recording.positions[3 * i] = NAN;
        ulna_calibrate_options options = ulna_calibrate_options_default();
        options.posture = 1e-8;
        options.limits = 0;
        options.prior = 1e-5;
        ulna_calibration result = calibrate(model, &start, &recording, NULL, &options);
        assert_int_equal(result.set.count, truth.count);
        assert_int_equal(result.frames_used, 200);
        assert_int_equal(result.frames_held_out, 100);
        assert_true(result.rms < 5e-4);
        assert_true(result.rms_held_out < 5e-4);
        int determined = 0;
        for (size_t i = 0; i < truth.count; i++) {
            assert_string_equal(result.set.items[i].marker, truth.items[i].marker);
            assert_int_equal(result.set.items[i].body, truth.items[i].body);
            double deviation = ulna_norm(result.markers[i].deviation);
            if (deviation > 2e-3) /* the expected place decides, not the take */
                continue;
            determined++;
            double error = offset_error(&result.set.items[i], &truth.items[i]);
            if (error > 5e-4)
                fail_msg("%s is %.2f mm off, deviation %.2f mm", truth.items[i].marker, 1e3 * error, 1e3 * deviation);
        }
        assert_true(determined >= 22);
        ulna_calibration_release(&result);
    }
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&start);
    ulna_marker_set_release(&truth);
    ulna_model_destroy(model);
}

/* The model that is found has the set that is found, and no other markers. */
static void check_markers(const ulna_calibration *found)
{
    assert_int_equal(ulna_model_marker_count(found->model), found->set.count);
    for (size_t i = 0; i < found->set.count; i++) {
        double position[3];
        const ulna_attachment *item = &found->set.items[i];
        assert_string_equal(ulna_model_marker_name(found->model, (int)i), item->marker);
        assert_int_equal(ulna_model_marker_body(found->model, (int)i), item->body);
        assert_int_equal(ulna_model_marker_position(found->model, (int)i, position), ULNA_OK);
        assert_memory_equal(position, item->offset, sizeof position);
        assert_true(ulna_model_marker_weight(found->model, (int)i) == item->weight);
    }
}

static void test_known_lengths(void **state)
{
    (void)state;
    ulna_model *model = sample("human"), *longer;
    int nb = ulna_model_body_count(model);
    double *lengths = malloc((size_t)nb * sizeof *lengths);
    for (int b = 0; b < nb; b++) {
        const char *name = ulna_model_body_name(model, b);
        double factor = strstr(name, "shank") ? 1.1 : strstr(name, "forearm") ? 0.92 : 1; /* thighs, upper arms */
        lengths[b] = factor * ulna_model_bone_length(model, b);
    }
    assert_int_equal(ulna_model_with_lengths(model, lengths, NULL, &longer, NULL), ULNA_OK);
    ulna_marker_set truth = own_markers(model);
    ulna_clip clip = make_motion(longer, 1000, 8);
    ulna_recording recording = record(longer, &clip, &truth);
    ulna_calibrate_options options = ulna_calibrate_options_default();
    options.scale = options.symmetric = 1;
    ulna_calibration result = calibrate(model, &truth, &recording, NULL, &options);
    assert_non_null(result.model);
    check_markers(&result);
    assert_int_equal(result.body_count, nb);
    assert_true(result.rms < 2e-3);
    for (int b = 0; b < nb; b++) {
        const char *name = ulna_model_body_name(model, b);
        if (strstr(name, "shank") || strstr(name, "forearm"))
            assert_true(fabs(result.scale[b] * ulna_model_bone_length(model, b) / lengths[b] - 1) < 0.02);
        int other = ulna_mirror_body(model, b);
        if (other != ULNA_NONE)
            assert_true(result.scale[b] == result.scale[other]);
        assert_true(fabs(ulna_model_bone_length(result.model, b) - result.scale[b] * ulna_model_bone_length(model, b)) <
                    1e-12);
    }
    ulna_calibration_release(&result);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&truth);
    free(lengths);
    ulna_model_destroy(longer);
    ulna_model_destroy(model);
}

/* The skeleton and its markers; recorded is a person whose bones that end at bodies `*name` are longer by a factor. */
static ulna_calibration try_on_person(const ulna_model *model, const char *name, double factor,
                                      const ulna_calibrate_options *options)
{
    int nb = ulna_model_body_count(model);
    double *lengths = malloc((size_t)nb * sizeof *lengths);
    ulna_model *person;
    for (int b = 0; b < nb; b++)
        lengths[b] = (strstr(ulna_model_body_name(model, b), name) ? factor : 1) * ulna_model_bone_length(model, b);
    assert_int_equal(ulna_model_with_lengths(model, lengths, NULL, &person, NULL), ULNA_OK);
    ulna_marker_set set = own_markers(model);
    ulna_clip clip = make_motion(person, 300, 8);
    ulna_recording recording = record(person, &clip, &set);
    ulna_calibration result = calibrate(model, &set, &recording, NULL, options);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&set);
    ulna_model_destroy(person);
    free(lengths);
    return result;
}

static void test_other_lengths(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    int shank = ulna_model_find_body(model, "left_shank");
    ulna_calibrate_options options = ulna_calibrate_options_default();
    ulna_calibration found = try_on_person(model, "shank", 1.15, NULL); /* thighs */
    assert_int_equal(found.lengths.frames, 60);
    assert_true(found.lengths.are_others_better && found.set.has_other_lengths);
    assert_true(found.lengths.rms_given > 1.2 * found.lengths.rms_symmetric);
    assert_true(found.lengths.rms_given > 0.9 * found.lengths.rms_shoulders && !found.lengths.are_shoulders_better);
    assert_true(fabs(found.lengths.scale[shank] - 1.15) < 0.03);
    assert_true(!found.lengths.is_other_size && found.lengths.size > 1 && found.lengths.size < 1.04);
    assert_null(found.scale); /* what is found is still on the skeleton that was given */
    assert_null(found.model);
    ulna_calibration_release(&found);

    static const double sizes[] = {0.9, 1, 1.1};
    for (int i = 0; i < 3; i++) {
        found = try_on_person(model, "", sizes[i], NULL);
        assert_int_equal(found.lengths.frames, 60);
        assert_int_equal(found.lengths.is_other_size, sizes[i] != 1);
        assert_int_equal(found.set.has_other_lengths, sizes[i] != 1);
        assert_true(fabs(found.lengths.size - sizes[i]) < 0.04);
        ulna_calibration_release(&found);
    }

    for (int way = 0; way < 2; way++) {
        options.try_lengths = way;
        options.scale = way;
        found = try_on_person(model, "shank", 1.15, &options);
        assert_true(!found.lengths.frames && !found.lengths.scale && !found.set.has_other_lengths);
        assert_true(isnan(found.lengths.rms_given) && isnan(found.lengths.rms_symmetric) && isnan(found.lengths.size));
        ulna_calibration_release(&found);
    }
    ulna_model_destroy(model);
}

static double length_error(const ulna_model *model, const ulna_model *found, const double *lengths)
{
    double squares = 0;
    int nb = ulna_model_body_count(model), count = 0;
    for (int b = 1; b < nb; b++)
        if (ulna_model_bone_length(model, b) > 1e-6) {
            double off = ulna_model_bone_length(found, b) - lengths[b];
            squares += off * off;
            count++;
        }
    return sqrt(squares / count);
}

/* Someone of other proportions stands still, joints a few degrees from rest, markers 5 mm from where they should be. */
static void test_static_lengths(void **state)
{
    (void)state;
    ulna_model *model = sample("human"), *other;
    ulna_test_rng rng = ulna_test_rng_seed(31);
    int nb = ulna_model_body_count(model), nq = ulna_model_coordinate_count(model);
    double *lengths = malloc((size_t)nb * sizeof *lengths);
    for (int b = 0; b < nb; b++) {
        const char *name = ulna_model_body_name(model, b);
        double factor = strstr(name, "shank") ? 1.15 : strstr(name, "forearm") ? 0.88 : strstr(name, "foot") ? 1.1 : 1;
        lengths[b] = factor * ulna_model_bone_length(model, b);
    }
    assert_int_equal(ulna_model_with_lengths(model, lengths, NULL, &other, NULL), ULNA_OK);
    ulna_marker_set truth = own_markers(model), start = disturbed(&truth, 0.005, 32);
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, nq, 60), ULNA_OK);
    double lean[128];
    for (int c = 0; c < nq; c++)
        lean[c] = ulna_model_rest(model)[c] + (c < 6 ? 0 : 0.03 * ulna_test_rng_normal(&rng));
    for (int f = 0; f < 60; f++)
        for (int c = 0; c < nq; c++)
            ulna_clip_frame(&clip, f)[c] = lean[c] + 0.003 * ulna_test_rng_normal(&rng);
    ulna_recording recording = record(other, &clip, &truth);
    ulna_calibrate_options options = ulna_calibrate_options_static();
    options.symmetric = 1;
    ulna_calibration found = calibrate(model, &start, &recording, NULL, &options);
    double before = length_error(model, model, lengths), after = length_error(model, found.model, lengths);
    print_message("bone lengths: %.1f mm off before, %.1f mm after\n", 1e3 * before, 1e3 * after);
    assert_true(before > 0.02);
    assert_true(after < 0.4 * before);
    assert_int_equal(found.frames_held_out, 0);
    ulna_calibration_release(&found);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&start);
    ulna_marker_set_release(&truth);
    free(lengths);
    ulna_model_destroy(other);
    ulna_model_destroy(model);
}

/* Of frames first .. end - 1, only some markers stay, where they are in the first of them. */
static void hide_but(ulna_recording *recording, int kept, int first, int end)
{
    for (int f = first; f < end; f++)
        for (int i = 0; i < 3 * recording->marker_count; i++)
            ulna_recording_frame(recording, f)[i] =
                i < 3 * kept ? ulna_recording_frame(recording, first)[i] : (double)NAN;
}

/* What is used of a static trial is where the person stands still; one that walks throughout is refused. Frames without
 * markers, or with those of a standing foot alone, show neither. */
static void test_static_stands_still(void **state)
{
    (void)state;
    enum { FRAMES = 200, STILL = 80 };
    static const struct {
        int walks, kept, first, end; /* markers; frames that have no others */
    } trials[] = {{0, 0, 0, 0}, {0, 0, 30, 45}, {1, 0, 0, 0}, {1, 0, 0, 10}, {1, 4, 0, 60}};
    ulna_model *model = sample("human");
    int nq = ulna_model_coordinate_count(model);
    ulna_marker_set truth = own_markers(model);
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_test_rng rng = ulna_test_rng_seed(35);
    assert_int_equal(ulna_clip_resize(&clip, nq, FRAMES), ULNA_OK);
    for (size_t t = 0; t < sizeof trials / sizeof *trials; t++) {
        int walks = trials[t].walks;
        for (int f = 0; f < FRAMES; f++)
            for (int c = 0; c < nq; c++)
                ulna_clip_frame(&clip, f)[c] = ulna_model_rest(model)[c] + 0.002 * ulna_test_rng_normal(&rng) +
                                               (c == 0 && (walks || f >= STILL) ? 0.012 * (f - STILL) : 0);
        ulna_recording recording = record(model, &clip, &truth);
        recording.frame_seconds = 1.0 / 100;
        hide_but(&recording, trials[t].kept, trials[t].first, trials[t].end);
        ulna_calibrate_options options = ulna_calibrate_options_static();
        ulna_calibration found = {0};
        ulna_error error;
        ulna_status status = ulna_test_calibrate(model, &truth, &recording, NULL, &options, &found, &error);
        assert_int_equal(status, walks ? ULNA_ERR_ARGUMENT : ULNA_OK);
        if (walks) {
            assert_non_null(
                strstr(error.message, "nobody stands still in this static trial: half of the markers move by"));
            assert_non_null(strstr(error.message, "Record the person standing still"));
        } else {
            assert_int_equal(found.first_frame, 0);
            assert_true(found.last_frame >= STILL - 1 && found.last_frame < STILL + 5);
        }
        ulna_calibration_release(&found);
        options.is_static = 0; /* only a static trial must */
        status = ulna_test_calibrate(model, &truth, &recording, NULL, &options, &found, &error);
        assert_int_equal(status, ULNA_OK);
        assert_true(found.first_frame == 0 && found.last_frame == FRAMES - 1);
        ulna_calibration_release(&found);
        ulna_recording_release(&recording);
    }
    ulna_clip_release(&clip);
    ulna_marker_set_release(&truth);
    ulna_model_destroy(model);
}

/* A short trial counts as a whole, but for frames without markers: as one of which a single frame is labelled. */
static void test_static_of_few_frames(void **state)
{
    (void)state;
    enum { FRAMES = 40 };
    ulna_model *model = sample("human");
    int nq = ulna_model_coordinate_count(model);
    ulna_marker_set truth = own_markers(model);
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, nq, FRAMES), ULNA_OK);
    for (int f = 0; f < FRAMES; f++)
        memcpy(ulna_clip_frame(&clip, f), ulna_model_rest(model), (size_t)nq * sizeof(double));
    for (int only = 1; only < FRAMES; only += FRAMES / 2) {
        ulna_recording recording = record(model, &clip, &truth);
        recording.frame_seconds = 1.0 / 100;
        hide_but(&recording, 0, 0, only);
        hide_but(&recording, 0, only + 1, FRAMES);
        ulna_calibrate_options options = ulna_calibrate_options_static();
        ulna_calibration found = calibrate(model, &truth, &recording, NULL, &options);
        assert_true(found.first_frame == only && found.last_frame == only);
        ulna_calibration_release(&found);
        ulna_recording_release(&recording);
    }
    ulna_clip_release(&clip);
    ulna_marker_set_release(&truth);
    ulna_model_destroy(model);
}

/* ---- before a calibration ---- */

static ulna_take *reference_take(const ulna_model *model, const ulna_marker_set *set, const ulna_recording *recording,
                                 const ulna_clip *reference)
{
    ulna_take_options options = ulna_take_options_default();
    ulna_error error;
    ulna_take *take = NULL;
    options.model = model;
    options.set = set;
    options.recording = recording;
    options.reference = reference;
    options.reference_offsets = 1;
    options.attach = set && set->count ? ULNA_ATTACH_SET : ULNA_ATTACH_REFERENCE;
    if (ulna_take_create(&options, &take, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    assert_int_equal(take->axes_source, ULNA_AXES_REFERENCE);
    for (int k = 0; k < 9; k++)
        assert_true(take->axes[k] == (k % 4 == 0));
    return take;
}

static void test_from_motion(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set truth = own_markers(model), set = disturbed(&truth, 0.05, 9), empty = ulna_marker_set_empty(NULL);
    ulna_clip clip = make_motion(model, 300, 10);
    ulna_recording recording = record(model, &clip, &truth);
    for (int f = 0; f < 300; f += 7) /* strays do not move a robust mean */
        ulna_recording_frame(&recording, f)[3 * (f % 41)] += 0.8;
    ulna_take *take = reference_take(model, &set, &recording, &clip);
    for (size_t i = 0; i < truth.count; i++)
        assert_true(offset_error(&take->set.items[i], &truth.items[i]) < 1e-4);
    ulna_take_destroy(take);

    /* Without bodies: each on the one that carries it best; what has no name of its own is left out. */
    for (int m = 0; m < recording.marker_count; m++)
        snprintf(recording.names[m], sizeof *recording.names, m == 2 ? "*%d" : "me:Q%d", m);
    take = reference_take(model, &empty, &recording, &clip);
    assert_int_equal(take->attach, ULNA_ATTACH_REFERENCE);
    assert_int_equal(take->set.count, truth.count - 1);
    assert_int_equal(take->unused_count, 1);
    for (size_t i = 0; i < take->set.count; i++) {
        /* A knee's marker lies on the axis of the knee: both bones carry it. */
        const ulna_attachment *own = &truth.items[take->source[i]];
        assert_int_equal(strncmp(take->set.items[i].marker, "Q", 1), 0);
        if (strcmp(own->marker + 1, "KNE") == 0)
            continue;
        assert_int_equal(take->set.items[i].body, own->body);
        assert_true(offset_error(&take->set.items[i], own) < 1e-4);
    }
    ulna_take_destroy(take);
    for (size_t m = 0; m < truth.count; m++)
        snprintf(recording.names[m], sizeof *recording.names, "%s", truth.items[m].marker);

    /* By number where the counts differ: the last 100 frames, and none at all. */
    ulna_clip part = ulna_clip_empty(NULL);
    ulna_clip_resize(&part, clip.coordinate_count, 100);
    memcpy(part.q, ulna_clip_frame(&clip, 200), 100 * (size_t)clip.coordinate_count * sizeof(double));
    part.first_frame = 201;
    take = reference_take(model, &set, &recording, &part);
    assert_int_equal(take->reference_by_number, 1);
    assert_int_equal(take->reference_shift, -200);
    for (size_t i = 0; i < truth.count; i++)
        assert_true(offset_error(&take->set.items[i], &truth.items[i]) < 1e-4);
    ulna_take_destroy(take);
    part.first_frame = 1000;
    ulna_take_options options = ulna_take_options_default();
    options.model = model;
    options.recording = &recording;
    options.reference = &part;
    ulna_error error;
    assert_int_equal(ulna_take_create(&options, &take, &error), ULNA_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "no frame in common"));
    ulna_clip_release(&part);
    ulna_marker_set_release(&empty);
    ulna_marker_set_release(&set);
    ulna_marker_set_release(&truth);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

/* ---- refusals ---- */

static int cancel(void *context, int done, int total)
{
    assert_true(done >= 0 && done <= total);
    return ++*(int *)context == 3;
}

static void test_refusals(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set set = own_markers(model);
    ulna_clip clip = make_motion(model, 50, 12);
    ulna_recording recording = record(model, &clip, &set);
    ulna_calibration result;
    ulna_calibrate_options options = ulna_calibrate_options_default();
    ulna_error error;
    int calls = 0;
    options.progress = cancel;
    options.progress_context = &calls;
    assert_int_equal(ulna_test_calibrate(model, &set, &recording, NULL, &options, &result, &error), ULNA_ERR_STATE);
    assert_string_equal(error.message, "cancelled");
    assert_int_equal(calls, 3);
    assert_int_equal(result.set.count, 0);
    options = ulna_calibrate_options_default();
    options.frames = 0;
    assert_int_equal(ulna_test_calibrate(model, &set, &recording, NULL, &options, &result, NULL), ULNA_ERR_ARGUMENT);
    options = ulna_calibrate_options_default();
    options.prior = NAN;
    assert_int_equal(ulna_test_calibrate(model, &set, &recording, NULL, &options, &result, NULL), ULNA_ERR_ARGUMENT);
    options = ulna_calibrate_options_default();
    options.loss = (ulna_loss)-5;
    assert_int_equal(ulna_test_calibrate(model, &set, &recording, NULL, &options, &result, &error), ULNA_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "loss is -5"));
    options = ulna_calibrate_options_default();
    double *shown = ulna_clip_frame(&clip, 0);
    options.static_pose = shown;
    shown[7] = NAN;
    assert_int_equal(ulna_test_calibrate(model, &set, &recording, NULL, &options, &result, &error), ULNA_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "coordinate 7 of static_pose"));
    assert_int_equal(ulna_test_calibrate(NULL, &set, &recording, NULL, NULL, &result, NULL), ULNA_ERR_ARGUMENT);
    for (int i = 0; i < 3 * 50 * recording.marker_count; i++)
        recording.positions[i] = NAN;
    assert_int_equal(ulna_test_calibrate(model, &set, &recording, NULL, NULL, &result, &error), ULNA_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "no frame"));
    for (int i = 0; i < recording.marker_count; i++)
        recording.names[i][0] = '?';
    assert_int_equal(ulna_test_calibrate(model, &set, &recording, NULL, NULL, &result, &error), ULNA_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "no attached marker"));
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* Few frames, one of them, markers with no one to see them, one marker alone: odd, but answers. */
static void test_little(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set set = own_markers(model), one = ulna_marker_set_empty(NULL);
    ulna_clip clip = make_motion(model, 2, 13);
    ulna_recording recording = record(model, &clip, &set);
    for (int f = 0; f < 2; f++)
        for (int k = 0; k < 3; k++)
            ulna_recording_frame(&recording, f)[12 + k] = NAN;
    ulna_calibration result = calibrate(model, &set, &recording, NULL, NULL);
    assert_int_equal(result.frames_used, 2);
    assert_true(isnan(result.rms_held_out));
    assert_int_equal(result.markers[4].seen, 0);
    assert_true(isnan(result.markers[4].rms));
    for (size_t i = 0; i < result.set.count; i++)
        assert_true(ulna_all_finite(result.set.items[i].offset, 3));
    ulna_calibration_release(&result);
    ulna_marker_set_add(&one, set.items[0].marker, set.items[0].body, set.items[0].offset, 1);
    result = calibrate(model, &one, &recording, NULL, NULL);
    assert_int_equal(result.set.count, 1);
    ulna_calibration_release(&result);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    ulna_marker_set_release(&one);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* Infinite and huge numbers, markers that are never seen, one that jumps, weights of zero, all in one place. */
static void test_hostile(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_marker_set set = own_markers(model);
    ulna_clip clip = make_motion(model, 150, 15);
    for (int way = 0; way < 6; way++) {
        ulna_recording recording = record(model, &clip, &set);
        for (int f = 0; f < recording.frame_count; f++) {
            double *x = ulna_recording_frame(&recording, f);
            for (int i = 0; i < 3 * recording.marker_count; i++) {
                if (way == 0 && i % 3 == f % 3)
                    x[i] = i % 2 ? INFINITY : -INFINITY;
                if (way == 1 && i < 9)
                    x[i] = f % 2 ? 1e30 : -1e200;
                if (way == 2 && i >= 6)
                    x[i] = NAN;
                if (way == 3)
                    x[i] = 0;
                if (way == 4 && f % 2)
                    x[i] *= 1000;
            }
        }
        for (size_t i = 0; i < set.count; i++)
            set.items[i].weight = way == 5 && i % 2 ? 0 : 1;
        ulna_calibration result = {0};
        ulna_calibrate_options options = ulna_calibrate_options_default();
        options.scale = options.repair = 1;
        ulna_error error;
        ulna_error_clear(&error);
        ulna_status status = ulna_test_calibrate(model, &set, &recording, NULL, &options, &result, &error);
        if (status != ULNA_OK)
            assert_true(strlen(error.message) > 10);
        for (size_t i = 0; i < result.set.count; i++)
            assert_true(ulna_all_finite(result.set.items[i].offset, 3));
        assert_int_equal(status, way == 0 || way == 3 ? ULNA_ERR_ARGUMENT : ULNA_OK); /* zeros are missing */
        ulna_calibration_release(&result);
        ulna_recording_release(&recording);
    }
    ulna_clip_release(&clip);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

enum { LENGTHS, SHOULDERS, TRIAL, WAYS };

/* With the allocation of that number failing; *failed is 0 if there are not so many. */
static ulna_status calibrate_failing(const ulna_model *model, const ulna_clip *clip, long failing, int way, int *failed)
{
    static const double points[2][3] = {{0.3, 0.1, 0}, {0.5, 0, 0.1}};
    ulna_test_memory memory = {.fail_at = failing};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    ulna_marker_set truth = ulna_marker_set_empty(NULL), set = ulna_marker_set_empty(&allocator);
    for (int i = 0; i < 2; i++)
        ulna_marker_set_add(&truth, i ? "a" : "b", ulna_model_body_count(model) - 1, points[i], 1);
    ulna_recording recording = record(model, clip, &truth);
    ulna_calibration result = {0};
    ulna_calibrate_options options = ulna_calibrate_options_default();
    options.first_frames = 5;
    options.frames = 10;
    options.scale = way != TRIAL;
    options.repair = 1;
    options.shoulders = way == SHOULDERS;
    options.suspect_factor = 1e-6; /* so that there is something to repair */
    ulna_status status = ULNA_OK;
    for (int i = 0; i < 2 && status == ULNA_OK; i++)
        status = ulna_marker_set_add(&set, i ? "a" : "b", ulna_model_body_count(model) - 1, points[i], 1);
    if (status == ULNA_OK)
        status = ulna_test_calibrate(model, &set, &recording, NULL, &options, &result, NULL);
    ulna_calibration_release(&result);
    ulna_marker_set_release(&set);
    ulna_marker_set_release(&truth);
    ulna_recording_release(&recording);
    ulna_test_memory_check(&memory);
    *failed = memory.failed != 0;
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    ulna_model *model = sample("two-link");
    ulna_clip clip = make_motion(model, 120, 14); /* enough for blocks */
    for (int way = 0; way < WAYS; way++) {
        int failed = 1;
        for (long failing = 0; failed; failing++) {
            ulna_status status = calibrate_failing(model, &clip, failing, way, &failed);
            assert_int_equal(status, failed ? ULNA_ERR_MEMORY : way == SHOULDERS ? ULNA_ERR_MODEL : ULNA_OK);
        }
    }
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_skeletons),
        cmocka_unit_test(test_names_of_marker_sets),
        cmocka_unit_test(test_names_on_the_human),
        cmocka_unit_test(test_set_from_names),
        cmocka_unit_test(test_reduced_gradient),
        cmocka_unit_test(test_known_offsets),
        cmocka_unit_test(test_known_lengths),
        cmocka_unit_test(test_other_lengths),
        cmocka_unit_test(test_static_lengths),
        cmocka_unit_test(test_static_stands_still),
        cmocka_unit_test(test_static_of_few_frames),
        cmocka_unit_test(test_from_motion),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_little),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("calibrate", tests, NULL, NULL);
}
