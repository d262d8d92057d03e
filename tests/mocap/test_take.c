/* Takes: what is matched, cleaned, found and refused; and the results of tracking them. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_mocap.h"
#include "support_swing.h"
#include "ulna/formats.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

static ulna_take_options options_of(const ulna_test_swing *s)
{
    ulna_take_options options = ulna_take_options_default();
    options.model = s->model;
    options.recording = &s->recording;
    options.set = &s->set;
    options.up = options.model_up = 'y';
    return options;
}

static ulna_take *make(const ulna_take_options *options)
{
    ulna_take *take = NULL;
    ulna_error error;
    if (ulna_take_create(options, &take, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    return take;
}

static double *at(ulna_test_swing *s, int frame, int marker)
{
    return ulna_recording_frame(&s->recording, frame) + 3 * marker;
}

/* ---- matching ---------------------------------------------------------------------------------------------------- */

static void markers_are_matched_once(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(10, 0);
    const double nowhere[3] = {0, 0, 0};
    size_t count = s.set.count;
    snprintf(s.recording.names[3], sizeof *s.recording.names, "*7");
    assert_int_equal(ulna_marker_set_add(&s.set, "XTRA", 0, nowhere, 1), ULNA_OK);
    for (int f = 0; f < 10; f++)
        for (int k = 0; k < 3; k++)
            at(&s, f, 5)[k] = NAN;
    ulna_take_options options = options_of(&s);
    ulna_take *take = make(&options);
    assert_int_equal(take->set.count, count - 1);
    assert_int_equal(take->absent.count, 2);
    assert_string_equal(take->absent.items[0].marker, s.set.items[3].marker);
    assert_string_equal(take->absent.items[1].marker, "XTRA");
    assert_int_equal(take->unused_count, 1);
    assert_int_equal(take->unused[0], 3);
    assert_int_equal(take->source[3], 4);
    assert_int_equal(take->seen[3], 10);
    assert_int_equal(take->seen[4], 0); /* in both, but never seen */
    assert_int_equal(take->named, 0);
    ulna_track_result result;
    assert_int_equal(ulna_track(take, NULL, &result, NULL), ULNA_OK);
    assert_int_equal(result.summary.markers_used, count - 2);
    assert_int_equal(result.summary.markers_unmatched, 3);
    assert_int_equal(result.markers[4].seen, 0);
    assert_true(isnan(result.distances[4]));
    ulna_track_result_release(&result);
    ulna_take_destroy(take);
    ulna_test_swing_release(&s);
}

/* One marker of the recording belongs to one of the set: the one with its exact name, else the first. */
static void a_recorded_marker_is_used_once(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(4, 0);
    const double elsewhere[3] = {0.1, 0.2, 0.3};
    size_t count = s.set.count;
    ulna_take_options options = options_of(&s);
    char twin[ULNA_MARKER_NAME];
    snprintf(twin, sizeof twin, "%s", s.set.items[0].marker);
    assert_int_equal(ulna_marker_set_add(&s.set, "Subject:LFHD", 0, elsewhere, 1), ULNA_OK);
    int exact = ulna_recording_find(&s.recording, "Subject:LFHD");
    assert_true(exact != ULNA_NONE);
    ulna_take *take = make(&options);
    assert_int_equal(take->set.count, count);
    assert_int_equal(take->absent.count, 1);
    assert_string_equal(take->absent.items[0].marker, "LFHD");
    assert_string_equal(take->set.items[count - 1].marker, "Subject:LFHD");
    assert_int_equal(take->source[count - 1], exact);
    assert_int_equal(take->unused_count, 0);
    ulna_take_destroy(take);
    snprintf(s.set.items[count].marker, ULNA_MARKER_NAME, "Other:%.40s", twin); /* neither is exact */
    take = make(&options);
    assert_int_equal(take->set.count, count);
    assert_int_equal(take->absent.count, 1);
    assert_string_equal(take->absent.items[0].marker, s.set.items[count].marker);
    ulna_take_destroy(take);
    ulna_test_swing_release(&s);
}

/* Without a set: the model's own markers; by names: those of the recording that are known. */
static void a_set_is_not_needed(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(5, 0);
    ulna_take_options options = options_of(&s);
    ulna_error error;
    ulna_take *take;
    options.set = NULL;
    take = make(&options);
    assert_int_equal(take->set.count, s.set.count);
    ulna_take_destroy(take);
    options.attach = ULNA_ATTACH_NAMES;
    take = make(&options);
    assert_int_equal(take->named, 0);
    ulna_take_destroy(take);
    ulna_model *arm;
    assert_int_equal(ulna_sample_create("arm", NULL, &arm, NULL), ULNA_OK);
    if (ulna_model_marker_count(arm) == 0) {
        options.model = arm;
        assert_int_equal(ulna_take_create(&options, &take, &error), ULNA_ERR_MODEL);
        options.attach = ULNA_ATTACH_SET;
        assert_int_equal(ulna_take_create(&options, &take, &error), ULNA_ERR_ARGUMENT);
        assert_null(take);
    }
    ulna_model_destroy(arm);
    ulna_test_swing_release(&s);
}

static void positions_out_of_range_are_missing_and_stay(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(10, 0);
    const double far[4] = {INFINITY, -INFINITY, 2e6, -1e300};
    for (int i = 0; i < 4; i++)
        at(&s, 2 + i, 7)[i % 3] = far[i];
    at(&s, 6, 7)[1] = NAN;
    ulna_take_options options = options_of(&s);
    ulna_take *take = make(&options);
    double x[3];
    assert_int_equal(take->out_of_range, 4);
    assert_int_equal(take->seen[7], 5);
    assert_int_equal(ulna_take_position(take, 3, 7, x), 0);
    assert_true(isnan(x[0]) && isnan(x[1]) && isnan(x[2]));
    assert_int_equal(ulna_take_position(take, 7, 7, x), 1);
    assert_memory_equal(x, at(&s, 7, 7), sizeof x);
    for (int i = 0; i < 4; i++)
        assert_true(at(&s, 2 + i, 7)[i % 3] == far[i]);
    ulna_take_destroy(take);
    ulna_test_swing_release(&s);
}

static void frames_are_chosen_by_number(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(30, 0);
    ulna_take_options options = options_of(&s);
    ulna_error error;
    s.recording.first_frame = 101;
    options.first_frame = 111;
    options.last_frame = 400;
    ulna_take *take = make(&options);
    assert_int_equal(take->frame_count, 20);
    assert_int_equal(take->skipped, 10);
    assert_int_equal(take->first_frame, 111);
    ulna_track_result result;
    assert_int_equal(ulna_track(take, NULL, &result, NULL), ULNA_OK);
    assert_int_equal(result.clip.frame_count, 20);
    assert_int_equal(result.clip.first_frame, 111);
    ulna_track_result_release(&result);
    ulna_take_destroy(take);
    options.first_frame = 131;
    assert_int_equal(ulna_take_create(&options, &take, &error), ULNA_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "101 to 130"));
    ulna_test_swing_release(&s);
}

/* Frame numbers as far apart as they can be. */
static void extreme_frame_numbers_are_refused(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(6, 0);
    ulna_clip truth = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&truth, s.nq, 5), ULNA_OK); /* not 6: frames belong together by number */
    memcpy(truth.q, s.truth, 5 * (size_t)s.nq * sizeof(double));
    ulna_take_options options = options_of(&s);
    options.reference = &truth;
    const int numbers[][2] = {{INT_MAX - 6, INT_MIN}, {INT_MIN, INT_MAX - 3}, {INT_MAX - 6, -10}, {-10, INT_MAX - 5}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ulna_take *take;
        ulna_error error;
        s.recording.first_frame = numbers[i][0];
        truth.first_frame = numbers[i][1];
        assert_int_equal(ulna_take_create(&options, &take, &error), ULNA_ERR_ARGUMENT);
        assert_non_null(strstr(error.message, "no frame in common"));
    }
    ulna_clip_release(&truth);
    ulna_test_swing_release(&s);
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

/* Found by trying, from which way is up, and by the skeleton's bones; three times, the recording turned in a circle. */
static void axes_are_found(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(60, 0);
    for (int way = 0; way < 3; way++) {
        for (int how = 0; how < 3; how++) {
            ulna_take_options options = options_of(&s);
            options.up = (char)(how == 0 ? 0 : 'x' + (1 + way) % 3);
            options.model_up = how == 1 ? 'y' : 0;
            ulna_take *take = make(&options);
            assert_int_equal(take->axes_source, how == 0 ? ULNA_AXES_UPRIGHT : ULNA_AXES_UP);
            assert_int_equal(take->model_up, 'y');
            for (int k = 0; k < 9; k++) /* row k: which axis of the recording is the model's k */
                assert_true(take->axes[k] == (k % 3 == (k / 3 + way) % 3));
            assert_true(fabs(take->size_ratio - 1) < 0.3);
            ulna_take_destroy(take);
        }
        for (int i = 0; i < s.recording.frame_count * s.recording.marker_count; i++) { /* (x, y, z) -> (z, x, y) */
            double *x = s.recording.positions + 3 * i, last = x[2];
            x[2] = x[1];
            x[1] = x[0];
            x[0] = last;
        }
    }
    ulna_test_swing_release(&s);
}

/* Which way is up in the recording is certain: then the bones say what is up for the skeleton, or if they do not, it is y. */
static void up_can_be_trusted(void **state)
{
    (void)state;
    static const char *const names[2][6] = {{"Hips", "Spine", "LeftArm", "RightArm", "LeftUpLeg", "RightUpLeg"},
                                            {"a", "b", "c", "d", "e", "f"}};
    static const double at[6][3] = {{0, 0, 0}, {0, 0, .4}, {.2, 0, .1}, {-.2, 0, .1}, {.1, 0, 0}, {-.1, 0, 0}};
    static const int parent[6] = {ULNA_NONE, 0, 1, 1, 0, 0};
    static const double origin[3] = {0, 0, 0};
    for (int is_unnamed = 0; is_unnamed < 2; is_unnamed++) { /* z is up at rest */
        ulna_builder *builder;
        ulna_model *model;
        ulna_marker_set set = ulna_marker_set_empty(NULL);
        ulna_recording recording = ulna_recording_empty(NULL);
        assert_int_equal(ulna_recording_resize(&recording, 6, 1), ULNA_OK);
        ulna_builder_create(NULL, &builder);
        for (int b = 0; b < 6; b++) {
            ulna_joint joint = b ? ulna_joint_euler("ZXY") : ulna_joint_free();
            ulna_builder_add_body(builder, names[is_unnamed][b], parent[b], NULL, NULL);
            ulna_builder_set_joint(builder, b, &joint, NULL);
            ulna_builder_set_placement(builder, b, at[b], NULL, NULL);
            snprintf(recording.names[b], ULNA_MARKER_NAME, "M%d", b);
            ulna_marker_set_add(&set, recording.names[b], b, origin, 1);
            for (int k = 0; k < 3; k++)
                recording.positions[3 * b + k] = at[b][k] + (parent[b] > 0 ? at[parent[b]][k] : 0) + 1;
        }
        assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
        ulna_take_options options = ulna_take_options_default();
        options.model = model;
        options.recording = &recording;
        options.set = &set;
        options.up = 'z';
        options.trust_up = 1;
        ulna_take *take = make(&options);
        assert_int_equal(take->axes_source, ULNA_AXES_UP);
        assert_int_equal(take->model_up, is_unnamed ? 'y' : 'z');
        assert_true(take->axes[is_unnamed ? 5 : 8] == 1);
        ulna_take_destroy(take);
        ulna_builder_destroy(builder);
        ulna_recording_release(&recording);
        ulna_marker_set_release(&set);
        ulna_model_destroy(model);
    }
}

/* The axis of a skeleton may point down: its y, where the recording's y points up. */
static void a_skeleton_may_stand_on_its_head(void **state)
{
    (void)state;
    static const char text[] =
        "HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\n"
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
        "JOINT Spine\n{\nOFFSET 0 -20 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
        "JOINT LeftArm\n{\nOFFSET 20 -30 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 30 0 0\n}\n}\n"
        "JOINT RightArm\n{\nOFFSET -20 -30 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
        "End Site\n{\nOFFSET -30 0 0\n}\n}\n}\n"
        "JOINT LeftUpLeg\n{\nOFFSET 10 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
        "JOINT LeftLeg\n{\nOFFSET 0 43 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 42 0\n}\n}\n}\n"
        "JOINT RightUpLeg\n{\nOFFSET -10 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
        "JOINT RightLeg\n{\nOFFSET 0 43 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
        "End Site\n{\nOFFSET 0 42 0\n}\n}\n}\n}\n";
    ulna_content content = ulna_content_empty(NULL);
    ulna_error error;
    if (ulna_content_read(text, sizeof text - 1, ULNA_FORMAT_BVH, NULL, &content, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    int count = ulna_model_body_count(content.model);
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_recording recording = ulna_recording_empty(NULL);
    ulna_pose *pose;
    assert_int_equal(ulna_recording_resize(&recording, count, 1), ULNA_OK);
    assert_int_equal(ulna_pose_create(content.model, NULL, &pose, NULL), ULNA_OK);
    ulna_pose_forward(pose, ulna_model_rest(content.model));
    for (int b = 0; b < count; b++) {
        static const double origin[3] = {0, 0, 0};
        double *x = recording.positions + 3 * b;
        snprintf(recording.names[b], ULNA_MARKER_NAME, "M%d", b);
        assert_int_equal(ulna_marker_set_add(&set, recording.names[b], b, origin, 1), ULNA_OK);
        ulna_pose_body(pose, b, x, NULL);
        for (int k = 0; k < 3; k++)
            x[k] = (k ? -1 : 1) * x[k] + 1; /* upright */
    }
    for (int is_known = 0; is_known < 2; is_known++) {
        ulna_take_options options = ulna_take_options_default();
        options.model = content.model;
        options.recording = &recording;
        options.set = &set;
        options.up = (char)(is_known ? 'y' : 0);
        ulna_take *take = make(&options);
        static const double expected[3] = {0, -1, 0};
        assert_int_equal(take->model_up, 'y');
        assert_int_equal(take->axes_source, is_known ? ULNA_AXES_UP : ULNA_AXES_UPRIGHT);
        assert_memory_equal(take->axes + 3, expected, sizeof expected);
        ulna_take_destroy(take);
    }
    ulna_pose_destroy(pose);
    ulna_recording_release(&recording);
    ulna_marker_set_release(&set);
    ulna_content_release(&content);
}

/* A reference motion attaches a thousand markers, each by its own name. */
static void many_markers_are_attached(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    ulna_model *arm;
    ulna_recording recording = ulna_recording_empty(NULL);
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_sample_create("two-link", NULL, &arm, NULL), ULNA_OK);
    int nq = ulna_model_coordinate_count(arm);
    assert_int_equal(ulna_clip_resize(&clip, nq, 1), ULNA_OK);
    memcpy(ulna_clip_frame(&clip, 0), ulna_model_rest(arm), (size_t)nq * sizeof(double));
    assert_int_equal(ulna_recording_resize(&recording, COUNT, 1), ULNA_OK);
    for (int m = 0; m < COUNT; m++) {
        snprintf(recording.names[m], ULNA_MARKER_NAME, "a long name of a marker, number %d", m);
        for (int k = 0; k < 3; k++)
            recording.positions[3 * m + k] = 0.1 + 1e-4 * m + k;
    }
    ulna_take_options options = ulna_take_options_default();
    options.model = arm;
    options.recording = &recording;
    options.reference = &clip;
    options.attach = ULNA_ATTACH_REFERENCE;
    options.axes = (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1};
    ulna_take *take = make(&options);
    assert_int_equal(take->set.count, COUNT);
    for (int m = 0; m < COUNT; m++)
        assert_string_equal(take->set.items[m].marker, recording.names[m]);
    ulna_take_destroy(take);
    ulna_clip_release(&clip);
    ulna_recording_release(&recording);
    ulna_model_destroy(arm);
}

static void axes_and_attachments_that_are_none_are_refused(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(3, 0);
    const double wrong[][9] = {
        {NAN},
        {1, 0, 0, 0, NAN, 0, 0, 0, 1},
        {0},
        {1, 2, 3, 4, 5, 6, 7, 8, 9},
        {2, 0, 0, 0, 2, 0, 0, 0, 2},
        {1, 0, 0, 0, 1, 0, 0, 0, -1},
        {0, 1, 0, 1, 0, 0, 0, 0, 1},
        {INFINITY, 0, 0, 0, 1, 0, 0, 0, 1},
    };
    const double right[9] = {0.8, -0.6, 0, 0.6, 0.8, 0, 0, 0, 1};
    ulna_take_options options = options_of(&s);
    ulna_take *take;
    ulna_error error;
    options.attach = (ulna_attach)77;
    assert_int_equal(ulna_take_create(&options, &take, &error), ULNA_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "attach is 77"));
    options.attach = ULNA_ATTACH_SET;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        options.axes = wrong[i];
        assert_int_equal(ulna_take_create(&options, &take, &error), ULNA_ERR_ARGUMENT);
        assert_non_null(strstr(error.message, "not a rotation"));
        assert_null(take);
    }
    options.axes = right;
    take = make(&options);
    assert_int_equal(take->axes_source, ULNA_AXES_GIVEN);
    ulna_take_destroy(take);
    options.axes = NULL;
    options.up = 'q';
    assert_int_equal(ulna_take_create(&options, &take, &error), ULNA_ERR_ARGUMENT);
    ulna_test_swing_release(&s);
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

static void distances_are_those_of_the_frames(void **state)
{
    (void)state;
    enum { FRAMES = 90 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_test_rng rng = ulna_test_rng_seed(5);
    for (int i = 0; i < 3 * FRAMES * s.recording.marker_count; i++)
        s.recording.positions[i] += ulna_test_rng_uniform(&rng, -0.01, 0.01);
    at(&s, 30, 2)[0] = NAN;
    for (int m = 0; m < s.recording.marker_count; m++)
        at(&s, 40, m)[1] = NAN;
    ulna_take_options take_options = options_of(&s);
    ulna_take *take = make(&take_options);
    ulna_track_options options = ulna_track_options_default();
    options.chunk_frames = 25;
    options.solved_markers = 1;
    ulna_track_result r;
    assert_int_equal(ulna_track(take, &options, &r, NULL), ULNA_OK);
    double mean = 0, x[3];
    for (int f = 0; f < FRAMES; f++) {
        const double *row = r.distances + (size_t)f * take->set.count;
        double squares = 0;
        int seen = 0;
        for (int m = 0; m < (int)take->set.count; m++) {
            const double *p = ulna_recording_frame(&r.solved, f) + 3 * m;
            if (!ulna_take_position(take, f, m, x)) {
                assert_true(isnan(row[m]));
                continue;
            }
            double d = sqrt(pow(p[0] - x[0], 2) + pow(p[1] - x[1], 2) + pow(p[2] - x[2], 2));
            assert_true(fabs(d - row[m]) < 1e-6);
            squares += row[m] * row[m];
            mean += m == 2 ? row[m] / (FRAMES - 2) : 0;
            seen++;
        }
        assert_int_equal(seen, r.frames[f].seen);
        assert_true(!seen || fabs(sqrt(squares / seen) - r.frames[f].rms) < 1e-12);
        assert_true(!seen || row[r.frames[f].worst_marker] == r.frames[f].worst);
    }
    assert_int_equal(r.markers[2].seen, FRAMES - 2);
    assert_true(fabs(r.markers[2].mean - mean) < 1e-12 && r.markers[2].rms >= mean && r.markers[2].worst >= mean);
    assert_true(r.distances[(size_t)r.markers[2].worst_frame * take->set.count + 2] == r.markers[2].worst);
    assert_true(r.frames[r.summary.rms_max_frame].rms == r.summary.rms_max);
    assert_int_equal(r.summary.empty, 1);
    assert_true(r.summary.us_median > 0 && r.summary.us_median <= r.summary.us_max);
    assert_string_equal(r.solved.names[2], take->set.items[2].marker);
    ulna_track_result_release(&r);
    ulna_track_result_release(&r);
    ulna_take_destroy(take);
    ulna_test_swing_release(&s);
}

/* A limb that is hidden, labels that are exchanged, a marker in the wrong place, angles beyond limits. */
static void what_is_wrong_is_found(void **state)
{
    (void)state;
    enum { FRAMES = 100 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    int left = ulna_recording_find(&s.recording, "LKNE"), right = ulna_recording_find(&s.recording, "RKNE");
    int head = ulna_recording_find(&s.recording, "LFHD"), foot = ULNA_NONE, gap = ULNA_NONE;
    for (int f = 40; f < 60; f++)
        for (int k = 0; k < 3; k++) {
            double kept = at(&s, f, left)[k];
            at(&s, f, left)[k] = at(&s, f, right)[k];
            at(&s, f, right)[k] = kept;
        }
    for (int f = 0; f < FRAMES; f++)
        at(&s, f, head)[0] += 0.3;
    foot = ulna_model_find_body(s.model, "left_foot");
    assert_true(foot != ULNA_NONE);
    for (int f = 70; f < 90; f++)
        for (size_t i = 0; i < s.set.count; i++)
            for (int b = s.set.items[i].body; b != ULNA_NONE; b = ulna_model_body_parent(s.model, b))
                if (b == foot)
                    at(&s, f, (int)i)[0] = NAN;
    ulna_take_options take_options = options_of(&s);
    ulna_take *take = make(&take_options);
    ulna_track_options options = ulna_track_options_default();
    options.loss = ULNA_LOSS_GEMAN_MCCLURE;
    ulna_track_result r;
    assert_int_equal(ulna_track(take, &options, &r, NULL), ULNA_OK);
    assert_true(r.swap_count >= 1);
    assert_int_equal(r.swaps[0].a + r.swaps[0].b, left + right);
    assert_int_equal(r.swaps[0].first, 40);
    assert_int_equal(r.swaps[0].last, 59);
    assert_true(r.markers[head].misplaced);
    assert_int_equal(r.trust.misplaced, 1);
    assert_int_equal(r.trust.verdict, ULNA_VERDICT_LOOK);
    assert_true(r.trust.reasons & ULNA_REASON_MARKERS);
    for (int i = 0; i < r.gap_count; i++)
        if (r.gaps[i].body == foot && r.gaps[i].first == 70 && r.gaps[i].last == 89)
            gap = i;
    for (int i = 1; i < r.gap_count; i++)
        assert_true(r.gaps[i - 1].first <= r.gaps[i].first);
    assert_true(gap != ULNA_NONE);
    assert_true(!r.trust.is_undetermined && r.trust.dofs_moved <= ulna_model_dof_count(s.model));
    assert_true(r.trust.motion.limited > 0);
    ulna_track_result_release(&r);
    ulna_take_destroy(take);

    /* Two markers do not determine a human, however small the error. */
    s.set.count = 2;
    take = make(&take_options);
    assert_int_equal(ulna_track(take, NULL, &r, NULL), ULNA_OK);
    assert_true(r.trust.is_undetermined && r.trust.dofs_moved < ulna_model_dof_count(s.model));
    assert_int_equal(r.trust.verdict, ULNA_VERDICT_REJECT);
    assert_true(r.trust.reasons & ULNA_REASON_UNDETERMINED);
    ulna_track_result_release(&r);
    ulna_take_destroy(take);
    ulna_test_swing_release(&s);
}

/* More threads than there are chunks, or than a process can have. */
static void any_number_of_threads_will_do(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(40, 0);
    ulna_take_options take_options = options_of(&s);
    ulna_take *take = make(&take_options);
    ulna_track_options options = ulna_track_options_default();
    ulna_track_result one, many;
    options.chunk_frames = 10;
    assert_int_equal(ulna_track(take, &options, &one, NULL), ULNA_OK);
    options.threads = 1000000;
    assert_int_equal(ulna_track(take, &options, &many, NULL), ULNA_OK);
    assert_memory_equal(one.clip.q, many.clip.q, 40 * (size_t)s.nq * sizeof(double));
    ulna_track_result_release(&one);
    ulna_track_result_release(&many);
    options.threads = -1;
    assert_int_equal(ulna_track(take, &options, &one, NULL), ULNA_ERR_ARGUMENT);
    ulna_take_destroy(take);
    ulna_test_swing_release(&s);
}

typedef struct wishes {
    int body, dofs[2];
    double goal[3];
} wishes;

static ulna_status add_wishes(void *context, ulna_problem *problem, ulna_error *error)
{
    const wishes *w = context;
    ulna_status status = ulna_problem_add_point(problem, w->body, NULL, w->goal, 1e-3, NULL, error);
    if (status == ULNA_OK)
        status = ulna_problem_add_posture(problem, NULL, NULL, 1e-6, NULL, error);
    if (status == ULNA_OK)
        status = ulna_problem_add_coupling(problem, w->dofs[0], w->dofs[1], 2, 0.5, 1e-6, NULL, error);
    return status;
}

/* Terms of the caller's own, none of which can be met: errors as forward kinematics and coordinates give them. */
static void goals_are_measured(void **state)
{
    (void)state;
    enum { FRAMES = 12, GOALS = 3 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    wishes w = {.body = ulna_model_find_body(s.model, "left_hand")};
    double rotation[9], place[3], rms[GOALS] = {0}, worst[GOALS] = {0};
    int worst_frame[GOALS] = {0}, nq = ulna_model_coordinate_count(s.model);
    ulna_pose *pose;
    assert_int_equal(ulna_model_dof_count(s.model), nq);
    assert_int_equal(ulna_pose_create(s.model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, s.truth), ULNA_OK);
    ulna_pose_body(pose, w.body, w.goal, rotation);
    w.goal[1] += 1;
    ulna_model_body_dofs(s.model, ulna_model_find_body(s.model, "left_forearm"), &w.dofs[0]);
    ulna_model_body_dofs(s.model, ulna_model_find_body(s.model, "right_forearm"), &w.dofs[1]);
    ulna_take_options take_options = options_of(&s);
    ulna_take *take = make(&take_options);
    ulna_track_options options = ulna_track_options_default();
    ulna_track_result r = {0};
    options.extend = add_wishes;
    options.extend_context = &w;
    assert_int_equal(ulna_track(take, &options, &r, NULL), ULNA_OK);
    assert_int_equal(r.goal_count, GOALS);
    for (int f = 0; f < FRAMES; f++) {
        const double *q = ulna_clip_frame(&r.clip, f), *rest = ulna_model_rest(s.model);
        double errors[GOALS] = {0};
        assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
        ulna_pose_body(pose, w.body, place, rotation);
        errors[0] = sqrt(pow(place[0] - w.goal[0], 2) + pow(place[1] - w.goal[1], 2) + pow(place[2] - w.goal[2], 2));
        for (int k = 0; k < nq; k++)
            errors[1] += pow(q[k] - rest[k], 2);
        errors[1] = sqrt(errors[1]);
        errors[2] = fabs(q[ulna_model_dof_coordinate(s.model, w.dofs[1])] -
                         2 * q[ulna_model_dof_coordinate(s.model, w.dofs[0])] - 0.5);
        for (int i = 0; i < GOALS; i++) {
            rms[i] += errors[i] * errors[i] / FRAMES;
            worst_frame[i] = errors[i] > worst[i] ? f : worst_frame[i];
            worst[i] = fmax(worst[i], errors[i]);
        }
    }
    assert_true(worst[0] > 0.8 && worst[1] > 0.5 && worst[2] > 0.1); /* it is not zeros that are compared */
    for (int i = 0; i < GOALS; i++) {
        assert_true(fabs(r.goals[i].worst - worst[i]) < 1e-9 * worst[i]);
        assert_true(fabs(r.goals[i].rms - sqrt(rms[i])) < 1e-9 * worst[i]);
        assert_int_equal(r.goals[i].worst_frame, worst_frame[i]);
    }
    ulna_track_result_release(&r);
    ulna_take_destroy(take);
    ulna_pose_destroy(pose);
    ulna_test_swing_release(&s);
}

/* Offsets of each frame's own: f = 0 is reached although the set is wrong. */
static void an_oracle_reaches_zero(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(30, 0);
    ulna_clip truth = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&truth, s.nq, 30), ULNA_OK);
    memcpy(truth.q, s.truth, 30 * (size_t)s.nq * sizeof(double));
    for (size_t i = 0; i < s.set.count; i++)
        s.set.items[i].offset[i % 3] += 0.05;
    ulna_take_options take_options = options_of(&s);
    ulna_track_options options = ulna_track_options_default();
    ulna_track_result r;
    ulna_error error;
    ulna_take *take = make(&take_options);
    options.oracle = 1;
    assert_int_equal(ulna_track(take, &options, &r, &error), ULNA_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "reference"));
    ulna_take_destroy(take);
    take_options.reference = &truth;
    take = make(&take_options);
    options.solve = ulna_options_default();
    options.solve.bounded = 0;
    options.solve.objective = 1e-10;
    for (int start = ULNA_ORACLE_SOLUTION; start <= ULNA_ORACLE_REFERENCE; start++) {
        options.oracle_start = (ulna_oracle_start)start;
        assert_int_equal(ulna_track(take, &options, &r, NULL), ULNA_OK);
        assert_true(r.summary.rms_max < 1e-4);
        assert_int_equal(r.summary.lost, 0);
        for (int f = 0; f < 30; f++) {
            assert_true(r.frames[f].f <= 1e-10);
            assert_true(r.frames[f].evaluations_added >= r.frames[f].evaluations);
        }
        ulna_track_result_release(&r);
    }
    options.oracle_start = (ulna_oracle_start)7;
    assert_int_equal(ulna_track(take, &options, &r, NULL), ULNA_ERR_ARGUMENT);
    ulna_take_destroy(take);
    ulna_clip_release(&truth);
    ulna_test_swing_release(&s);
}

/*
 * By the protocol: a frame has as many iterations as options.solve says, and no second attempt; it starts from the reference of the frame
 * before, from the solution, or from zero with the root at the mean of the markers; what moves no marker stays.
 */
static void an_oracle_follows_the_protocol(void **state)
{
    (void)state;
    enum { FRAMES = 12 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_clip truth = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&truth, s.nq, FRAMES), ULNA_OK);
    memcpy(truth.q, s.truth, FRAMES * (size_t)s.nq * sizeof(double));
    ulna_take_options take_options = options_of(&s);
    take_options.reference = &truth;
    ulna_take *take = make(&take_options);
    ulna_track_options options = ulna_track_options_default();
    options.oracle = 1;
    options.solve = ulna_options_default();
    options.solve.method = "bfgs";
    options.solve.iterations = 3;
    options.solve.objective = 1e-20;
    options.continuous = 0;
    ulna_track_result r;
    for (int start = ULNA_ORACLE_SOLUTION; start <= ULNA_ORACLE_ZERO; start++) {
        options.oracle_start = (ulna_oracle_start)start;
        assert_int_equal(ulna_track(take, &options, &r, NULL), ULNA_OK);
        for (int f = 1; f < FRAMES; f++) {
            assert_true(r.frames[f].iterations <= 3);
            assert_true(r.frames[f].evaluations < 60);
            assert_true((r.frames[f].flags & ULNA_TRACK_LOST) != 0 || r.frames[f].f <= 1e-20);
        }
        ulna_track_result_release(&r);
    }

    /* A solve that may not move returns its start. */
    const ulna_model *model = take->model;
    int nv = ulna_model_dof_count(model), nq = ulna_model_coordinate_count(model);
    unsigned char *locked = malloc((size_t)nv);
    memset(locked, 1, (size_t)nv);
    options.solve.locked = locked;
    options.oracle_start = ULNA_ORACLE_REFERENCE;
    assert_int_equal(ulna_track(take, &options, &r, NULL), ULNA_OK);
    for (int f = 1; f < FRAMES; f++)
        assert_memory_equal(ulna_clip_frame(&r.clip, f), ulna_clip_frame(&truth, f - 1), (size_t)nq * sizeof(double));
    ulna_track_result_release(&r);
    options.oracle_start = ULNA_ORACLE_ZERO;
    assert_int_equal(ulna_track(take, &options, &r, NULL), ULNA_OK);
    double *zero = calloc((size_t)nq, sizeof *zero), mean[3] = {0, 0, 0}, root[3];
    ulna_model_zero(model, zero);
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&r.clip, 5)), ULNA_OK);
    assert_int_equal(ulna_pose_body(pose, 0, root, NULL), ULNA_OK);
    int seen = 0;
    for (size_t i = 0; i < take->set.count; i++) {
        double x[3];
        if (!ulna_take_position(take, 5, (int)i, x))
            continue;
        seen++;
        for (int k = 0; k < 3; k++)
            mean[k] += x[k];
    }
    for (int k = 0; k < 3; k++)
        assert_true(fabs(root[k] - mean[k] / seen) < 1e-9);
    for (int d = 0; d < nv; d++) {
        int c = ulna_model_dof_coordinate(model, d);
        if (c != ULNA_NONE && !ulna_model_dof_is_translation(model, d))
            assert_true(ulna_clip_frame(&r.clip, 5)[c] == zero[c]);
    }
    ulna_track_result_release(&r);
    ulna_pose_destroy(pose);
    free(zero);
    free(locked);
    ulna_take_destroy(take);
    ulna_clip_release(&truth);
    ulna_test_swing_release(&s);
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

/* Every allocation of a take and of its tracking fails once, with a reference and without. */
static void memory_may_run_out(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(8, 0);
    ulna_clip truth = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&truth, s.nq, 8), ULNA_OK);
    memcpy(truth.q, s.truth, 8 * (size_t)s.nq * sizeof(double));
    for (int way = 0; way < 4; way++) {
        int failed = 1;
        for (long fail = 0; failed; fail++) {
            ulna_test_memory memory = {.fail_at = fail};
            ulna_allocator allocator = ulna_test_allocator(&memory);
            ulna_take_options options = options_of(&s);
            ulna_track_options track = ulna_track_options_default();
            ulna_take *take = NULL;
            ulna_track_result result = {0};
            options.allocator = &allocator;
            options.attach = (ulna_attach)(way < 3 ? way : 0);
            options.reference = way == 2 ? &truth : NULL;
            options.up = way == 3 ? 'y' : 0;
            options.set = way == 1 || way == 2 ? NULL : &s.set;
            track.fresh.restarts = 0;
            track.solved_markers = 1;
            track.oracle = way == 2;
            track.loss = way == 3 ? ULNA_LOSS_GEMAN_MCCLURE : ULNA_LOSS_SQUARE;
            ulna_status status = ulna_take_create(&options, &take, NULL);
            if (status == ULNA_OK && way > 1)
                status = ulna_track(take, &track, &result, NULL);
            failed = memory.failed;
            assert_int_equal(status, failed ? ULNA_ERR_MEMORY : ULNA_OK);
            ulna_track_result_release(&result);
            ulna_take_destroy(take);
            ulna_test_memory_check(&memory);
            assert_true(fail < 3000);
        }
    }
    ulna_clip_release(&truth);
    ulna_test_swing_release(&s);
}

/* What a take was made from may be released before it. */
static void a_take_may_be_destroyed_last(void **state)
{
    (void)state;
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    ulna_test_swing s = ulna_test_swing_make(4, 0);
    ulna_take_options options = options_of(&s);
    options.allocator = &allocator;
    ulna_take *take = make(&options);
    ulna_test_swing_release(&s);
    ulna_take_destroy(take);
    ulna_test_memory_check(&memory);
    ulna_track_result result = {0};
    ulna_calibration found = {0};
    ulna_track_result_release(&result);
    ulna_calibration_release(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markers_are_matched_once),
        cmocka_unit_test(a_recorded_marker_is_used_once),
        cmocka_unit_test(a_set_is_not_needed),
        cmocka_unit_test(positions_out_of_range_are_missing_and_stay),
        cmocka_unit_test(frames_are_chosen_by_number),
        cmocka_unit_test(extreme_frame_numbers_are_refused),
        cmocka_unit_test(axes_are_found),
        cmocka_unit_test(up_can_be_trusted),
        cmocka_unit_test(a_skeleton_may_stand_on_its_head),
        cmocka_unit_test(many_markers_are_attached),
        cmocka_unit_test(axes_and_attachments_that_are_none_are_refused),
        cmocka_unit_test(distances_are_those_of_the_frames),
        cmocka_unit_test(what_is_wrong_is_found),
        cmocka_unit_test(any_number_of_threads_will_do),
        cmocka_unit_test(goals_are_measured),
        cmocka_unit_test(an_oracle_reaches_zero),
        cmocka_unit_test(an_oracle_follows_the_protocol),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(a_take_may_be_destroyed_last),
    };
    return cmocka_run_group_tests_name("take", tests, NULL, NULL);
}
