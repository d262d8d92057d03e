/*
 * Units: a take tracked or calibrated in any unit of length gives the same motion, bit for bit up to the scale, if the ratio of
 * the units is a power of two. The built-in human, with noise, markers that are hidden or astray, and labels that are exchanged.
 */
#include "support_mocap.h"
#include "support_swing.h"
#include "support_units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int powers[] = {-20, -10, 10, 18}; /* farther than ULNA_FARTHEST_MARKER markers count as missing */

enum { FRAMES = 200, POWERS = sizeof powers / sizeof *powers };

/* Skeleton, set and recording in one unit. */
typedef struct scaled_take {
    double factor;
    ulna_model *model;
    ulna_marker_set set;
    ulna_recording recording;
} scaled_take;

static void disturb(ulna_recording *recording)
{
    ulna_test_rng rng = ulna_test_rng_seed(17);
    int count = recording->marker_count;
    for (int f = 0; f < recording->frame_count; f++) {
        double *x = ulna_recording_frame(recording, f);
        for (int i = 0; i < 3 * count; i++)
            x[i] += 0.004 * ulna_test_rng_normal(&rng);
        for (int m = 0; m < count; m++) {
            if (f >= 40 && f < 70 && m % 6 == 1)
                x[3 * m] = (double)NAN;
            if (f >= 100 && f < 106 && m % 9 == 4)
                x[3 * m + 1] += 0.3;
            if (f >= 130 && f < 150 && m < count / 3)
                x[3 * m] = (double)NAN;
        }
        for (int k = 0; k < 3 && f >= 160 && f < 180; k++) {
            double kept = x[3 + k];
            x[3 + k] = x[30 + k];
            x[30 + k] = kept;
        }
    }
}

static scaled_take scaled(const ulna_test_swing *s, int power)
{
    scaled_take to = {.factor = ldexp(1, power), .set = ulna_marker_set_empty(NULL)};
    int count = s->recording.marker_count;
    to.model = ulna_test_scaled_model(s->model, to.factor);
    to.recording = ulna_recording_empty(NULL);
    for (size_t i = 0; i < s->set.count; i++) {
        double offset[3];
        for (int k = 0; k < 3; k++)
            offset[k] = to.factor * s->set.items[i].offset[k];
        assert_int_equal(
            ulna_marker_set_add(&to.set, s->set.items[i].marker, s->set.items[i].body, offset, s->set.items[i].weight),
            ULNA_OK);
    }
    assert_int_equal(ulna_recording_resize(&to.recording, count, s->frames), ULNA_OK);
    to.recording.frame_seconds = s->recording.frame_seconds;
    for (int m = 0; m < count; m++)
        memcpy(to.recording.names[m], s->recording.names[m], ULNA_MARKER_NAME);
    for (int f = 0; f < s->frames; f++)
        for (int i = 0; i < 3 * count; i++)
            ulna_recording_frame(&to.recording, f)[i] = to.factor * ulna_recording_frame(&s->recording, f)[i];
    return to;
}

static void release(scaled_take *take)
{
    ulna_model_destroy(take->model);
    ulna_marker_set_release(&take->set);
    ulna_recording_release(&take->recording);
}

/* The same number in another unit; NaN is NaN. */
static int is_same(double a, double b, double factor)
{
    return a * factor == b || (isnan(a) && isnan(b));
}

/* ---- tracking ---- */

static ulna_track_result track(const scaled_take *in, const ulna_track_options *options)
{
    ulna_take *take;
    ulna_track_result result = {0};
    ulna_error error;
    ulna_error_clear(&error);
    if (ulna_test_take(in->model, &in->set, &in->recording, NULL, NULL, &take, &error) != ULNA_OK ||
        ulna_track(take, options, &result, &error) != ULNA_OK)
        fail_msg("2^%g: %s", log2(in->factor), error.message);
    ulna_take_destroy(take);
    return result;
}

/* What is said of the whole. */
static int verdict_differs(const ulna_model *model, const ulna_track_result *a, const ulna_track_result *b,
                           double factor)
{
    int differs = a->trust.reasons != b->trust.reasons || a->swap_count != b->swap_count ||
                  a->gap_count != b->gap_count || a->summary.doubtful != b->summary.doubtful ||
                  a->summary.lost != b->summary.lost || a->summary.recovered != b->summary.recovered ||
                  a->trust.misplaced != b->trust.misplaced || a->trust.unmeasured != b->trust.unmeasured ||
                  !is_same(a->trust.typical_rms, b->trust.typical_rms, factor);
    for (int d = 0; d < ulna_model_dof_count(model); d++)
        differs |=
            !is_same(a->dofs[d].deviation, b->dofs[d].deviation, ulna_model_dof_is_translation(model, d) ? factor : 1);
    return differs;
}

static int frame_differs(const ulna_model *model, const ulna_track_result *a, const ulna_track_result *b, int f,
                         double factor)
{
    const ulna_frame_report *x = &a->frames[f], *y = &b->frames[f];
    double q[256];
    assert_true(a->clip.coordinate_count <= 256);
    ulna_test_scale_q(model, ulna_clip_frame(&a->clip, f), factor, q);
    return memcmp(q, ulna_clip_frame(&b->clip, f), (size_t)a->clip.coordinate_count * sizeof *q) != 0 ||
           x->flags != y->flags || x->iterations != y->iterations || x->evaluations != y->evaluations ||
           x->outliers != y->outliers || x->stop != y->stop || !is_same(x->rms, y->rms, factor) ||
           !is_same(x->f, y->f, factor * factor) || x->worst_marker != y->worst_marker;
}

static void compare_tracks(const ulna_test_swing *s, const ulna_track_options *options, const char *what)
{
    scaled_take take = scaled(s, 0);
    ulna_track_result one = track(&take, options);
    for (int n = 0; n < POWERS; n++) {
        scaled_take in = scaled(s, powers[n]);
        ulna_track_result other = track(&in, options);
        int differing = 0, first = -1;
        for (int f = 0; f < s->frames; f++)
            if (frame_differs(s->model, &one, &other, f, in.factor)) {
                first = differing ? first : f;
                differing++;
            }
        if (differing)
            fail_msg("%s, 2^%d: %d frames differ from frame %d on", what, powers[n], differing, first);
        if (verdict_differs(s->model, &one, &other, in.factor))
            fail_msg("%s, 2^%d: another verdict, reasons %x and %x", what, powers[n], one.trust.reasons,
                     other.trust.reasons);
        ulna_track_result_release(&other);
        release(&in);
    }
    ulna_track_result_release(&one);
    release(&take);
}

static void tracking_in_any_unit(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_track_options options = ulna_track_options_default();
    disturb(&s.recording);
    compare_tracks(&s, &options, "as usual");
    options.causal = 1;
    compare_tracks(&s, &options, "causal");
    options.solve.bounded = options.fresh.bounded = 1;
    options.loss = ULNA_LOSS_SQUARE;
    compare_tracks(&s, &options, "least squares inside the limits");
    options = ulna_track_options_default();
    options.solve.method = "newton";
    options.chunk_frames = 60;
    compare_tracks(&s, &options, "newton, in chunks");
    options = ulna_track_options_default();
    options.global = options.solve.bounded = 1;
    compare_tracks(&s, &options, "found by a global solve");
    ulna_test_swing_release(&s);
}

/* A body that moves freely, with five markers that only the set knows: no bone says how large it is. */
static ulna_test_swing rigid_body(void)
{
    static const double places[5][3] = {{0.1, 0, 0}, {0, 0.12, 0}, {0, 0, 0.08}, {-0.07, 0.03, 0}, {0.05, -0.06, 0.04}};
    ulna_test_swing s = {
        .frames = FRAMES, .set = ulna_marker_set_empty(NULL), .recording = ulna_recording_empty(NULL), .nq = 6};
    const ulna_joint joint = ulna_joint_free_euler("XYZ");
    ulna_test_rng rng = ulna_test_rng_seed(23);
    ulna_builder *builder;
    ulna_pose *pose;
    char name[ULNA_MARKER_NAME];
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    assert_int_equal(ulna_builder_add_body(builder, "wand", ULNA_NONE, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_joint(builder, 0, &joint, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, NULL, &s.model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    assert_int_equal(ulna_recording_resize(&s.recording, 5, FRAMES), ULNA_OK);
    s.recording.frame_seconds = 0.01;
    assert_int_equal(ulna_pose_create(s.model, NULL, &pose, NULL), ULNA_OK);
    for (int m = 0; m < 5; m++) {
        snprintf(name, sizeof name, "w%d", m);
        memcpy(s.recording.names[m], name, sizeof name);
        assert_int_equal(ulna_marker_set_add(&s.set, name, 0, places[m], 1), ULNA_OK);
    }
    for (int f = 0; f < FRAMES; f++) {
        const double q[6] = {0.01 * f, sin(0.05 * f), 1, 0.02 * f, 0.5 * sin(0.1 * f), 0.3 * cos(0.07 * f)};
        assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
        for (int m = 0; m < 5; m++) {
            double *x = ulna_recording_frame(&s.recording, f) + 3 * (size_t)m;
            assert_int_equal(ulna_pose_point(pose, 0, places[m], x), ULNA_OK);
            for (int k = 0; k < 3; k++)
                x[k] += 0.001 * ulna_test_rng_normal(&rng) + (m == 2 && f > 90 && f < 95 ? 0.2 : 0);
        }
    }
    ulna_pose_destroy(pose);
    return s;
}

static void a_rigid_body_in_any_unit(void **state)
{
    (void)state;
    ulna_test_swing s = rigid_body();
    ulna_track_options options = ulna_track_options_default();
    compare_tracks(&s, &options, "rigid body");
    options.loss = ULNA_LOSS_SQUARE;
    options.chunk_frames = 50;
    compare_tracks(&s, &options, "rigid body, least squares in chunks");
    ulna_test_swing_release(&s);
}

/* ---- calibration ---- */

static ulna_calibration calibrated(const scaled_take *take, const ulna_calibrate_options *options)
{
    ulna_calibration result;
    ulna_error error;
    ulna_error_clear(&error);
    if (ulna_test_calibrate(take->model, &take->set, &take->recording, NULL, options, &result, &error) != ULNA_OK)
        fail_msg("2^%g: %s", log2(take->factor), error.message);
    return result;
}

static int markers_that_differ(const ulna_calibration *a, const ulna_calibration *b, double factor)
{
    int count = 0;
    for (size_t i = 0; i < a->set.count; i++) {
        int differs = !is_same(a->markers[i].rms, b->markers[i].rms, factor);
        for (int k = 0; k < 3; k++)
            differs |= !is_same(a->set.items[i].offset[k], b->set.items[i].offset[k], factor) ||
                       !is_same(a->markers[i].deviation[k], b->markers[i].deviation[k], factor);
        count += differs;
    }
    return count;
}

/* With `by_name` the places of markers are not known but by their names. */
static scaled_take to_calibrate(const ulna_test_swing *s, int power, int by_name)
{
    scaled_take take = scaled(s, power);
    for (size_t i = 0; i < take.set.count && by_name; i++)
        memset(take.set.items[i].offset, 0, sizeof take.set.items[i].offset);
    return take;
}

static void compare_calibrations(const ulna_test_swing *s, const ulna_calibrate_options *options, int by_name,
                                 const char *what)
{
    scaled_take take = to_calibrate(s, 0, by_name);
    ulna_calibration one = calibrated(&take, options);
    for (int n = 0; n < POWERS; n++) {
        scaled_take in = to_calibrate(s, powers[n], by_name);
        ulna_calibration other = calibrated(&in, options);
        int differing = markers_that_differ(&one, &other, in.factor), scales = 0;
        for (int b = 0; one.scale && b < one.body_count; b++)
            scales += one.scale[b] != other.scale[b];
        if (differing || scales || one.rounds != other.rounds)
            fail_msg("%s, 2^%d: %d markers differ, %d scales; %d rounds and %d; RMS %g and %g", what, powers[n],
                     differing, scales, one.rounds, other.rounds, one.rms, other.rms / in.factor);
        ulna_calibration_release(&other);
        release(&in);
    }
    ulna_calibration_release(&one);
    release(&take);
}

/* From a frame on, but for some sway. */
static void stand_still(ulna_recording *r, int from)
{
    const double *still = ulna_recording_frame(r, from);
    for (int f = from + 1; f < r->frame_count; f++)
        for (int i = 0; i < 3 * r->marker_count; i++)
            ulna_recording_frame(r, f)[i] = still[i] + 0.005 * sin(0.1 * f + i);
}

static void calibration_in_any_unit(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_calibrate_options options = ulna_calibrate_options_default();
    disturb(&s.recording);
    compare_calibrations(&s, &options, 0, "offsets");
    compare_calibrations(&s, &options, 1, "offsets from names");
    options.scale = options.symmetric = options.repair = 1;
    compare_calibrations(&s, &options, 0, "offsets and lengths");
    options = ulna_calibrate_options_static();
    stand_still(&s.recording, FRAMES / 4);
    compare_calibrations(&s, &options, 0, "static");
    ulna_test_swing_release(&s);
}

/* ---- takes ---- */

/* Axes found, sides checked; offsets by name, or in a motion that is known. */
static ulna_take *open_take(const ulna_test_swing *s, const scaled_take *in, ulna_attach attach)
{
    ulna_take_options options = ulna_take_options_default();
    ulna_clip motion = ulna_clip_empty(NULL);
    ulna_take *take;
    ulna_error error;
    ulna_error_clear(&error);
    assert_int_equal(ulna_clip_resize(&motion, s->nq, s->frames), ULNA_OK);
    for (int f = 0; f < s->frames; f++)
        ulna_test_scale_q(s->model, s->truth + (size_t)f * (size_t)s->nq, in->factor, ulna_clip_frame(&motion, f));
    options.model = in->model;
    options.recording = &in->recording;
    options.attach = attach;
    options.check = 1;
    options.reference = attach == ULNA_ATTACH_REFERENCE ? &motion : NULL;
    options.reference_offsets = attach == ULNA_ATTACH_REFERENCE;
    if (ulna_take_create(&options, &take, &error) != ULNA_OK)
        fail_msg("2^%g: %s", log2(in->factor), error.message);
    ulna_clip_release(&motion);
    return take;
}

static void compare_takes(const ulna_take *a, const ulna_take *b, double factor)
{
    assert_memory_equal(a->axes, b->axes, sizeof a->axes);
    assert_int_equal(a->doubts, b->doubts);
    assert_int_equal(a->set.count, b->set.count);
    assert_true(is_same(a->size_ratio, b->size_ratio, 1));
    for (int i = 0; i < 3; i++)
        assert_true(is_same(a->fit[i], b->fit[i], factor));
    for (size_t i = 0; i < a->set.count; i++) {
        assert_int_equal(a->set.items[i].body, b->set.items[i].body);
        for (int k = 0; k < 3; k++)
            assert_true(is_same(a->set.items[i].offset[k], b->set.items[i].offset[k], factor));
    }
}

static void takes_in_any_unit(void **state)
{
    (void)state;
    static const ulna_attach attach[] = {ULNA_ATTACH_SET, ULNA_ATTACH_NAMES, ULNA_ATTACH_REFERENCE};
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    disturb(&s.recording);
    for (size_t i = 0; i < sizeof attach / sizeof *attach; i++) {
        scaled_take metres = scaled(&s, 0);
        ulna_take *one = open_take(&s, &metres, attach[i]);
        for (int n = 0; n < POWERS; n++) {
            scaled_take in = scaled(&s, powers[n]);
            ulna_take *other = open_take(&s, &in, attach[i]);
            compare_takes(one, other, in.factor);
            ulna_take_destroy(other);
            release(&in);
        }
        ulna_take_destroy(one);
        release(&metres);
    }
    ulna_test_swing_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tracking_in_any_unit),
                                       cmocka_unit_test(a_rigid_body_in_any_unit),
                                       cmocka_unit_test(calibration_in_any_unit), cmocka_unit_test(takes_in_any_unit)};
    return cmocka_run_group_tests_name("mocap_units", tests, NULL, NULL);
}
