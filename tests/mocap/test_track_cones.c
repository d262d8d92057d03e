/*
 * Limits of balls: with `bounded`, the swing of a bone stays in a cone, its twist in a range. In no frame that is returned is a limit
 * exceeded, whatever way the frame was solved; and where the cone does not hold it, nothing changes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "support_mocap.h"
#include "support_swing.h"
#include "support_tree.h"
#include "ulna/kinematics.h"
#include "ulna/motion.h"

enum { FRAMES = 100 };

typedef struct scene {
    ulna_test_swing swing;
    ulna_model *balls; /* the same skeleton with swing-twist joints */
    ulna_take *take;
    double *lower, *upper; /* nv */
} scene;

static int is_swing(const ulna_model *model, int body)
{
    return model->joint[body].type == ULNA_JOINT_SWING_TWIST && model->body[body].parent >= 0;
}

/* Limits of `wide` to both sides for the first component of each swing, of `narrow` for the second, of 0.1 for the twist. */
static void open_scene(scene *s, double wide, double narrow)
{
    *s = (scene){.swing = ulna_test_swing_make(FRAMES, 0)};
    ulna_error error;
    assert_int_equal(ulna_model_with_balls(s->swing.model, ULNA_BALL_SWING_TWIST, NULL, &s->balls, NULL, &error),
                     ULNA_OK);
    assert_int_equal(ulna_test_take(s->balls, &s->swing.set, &s->swing.recording, NULL, NULL, &s->take, &error),
                     ULNA_OK);
    int nv = s->balls->nv, swings = 0;
    s->lower = ulna_test_numbers(nv);
    s->upper = ulna_test_numbers(nv);
    memcpy(s->lower, s->balls->lower, (size_t)nv * sizeof(double));
    memcpy(s->upper, s->balls->upper, (size_t)nv * sizeof(double));
    const double most[3] = {wide, narrow, 0.1};
    for (int b = 0; b < s->balls->nb; b++)
        for (int d = 0; d < 3 && is_swing(s->balls, b); d++, swings++) {
            s->upper[s->balls->body[b].dof + d] = most[d];
            s->lower[s->balls->body[b].dof + d] = -most[d];
        }
    assert_true(swings >= 3 * 6);
}

static void close_scene(scene *s)
{
    ulna_take_destroy(s->take);
    ulna_model_destroy(s->balls);
    ulna_test_swing_release(&s->swing);
    free(s->lower);
    free(s->upper);
}

static ulna_track_options bounded(const scene *s)
{
    ulna_track_options o = ulna_track_options_default();
    o.solve.bounded = o.fresh.bounded = 1;
    o.solve.lower = o.fresh.lower = s->lower;
    o.solve.upper = o.fresh.upper = s->upper;
    return o;
}

static ulna_track_result track(const scene *s, const ulna_track_options *options)
{
    ulna_track_result result = {0};
    ulna_error error;
    if (ulna_track(s->take, options, &result, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    return result;
}

/* How often the swing of a joint is outside of its cone, and how often on it. No coordinate is ever outside of its own range. */
typedef struct count {
    int outside, on;
} count;

static void count_pose(const scene *s, const double *q, count *to)
{
    for (int b = 0; b < s->balls->nb; b++) {
        if (!is_swing(s->balls, b))
            continue;
        int dof = s->balls->body[b].dof;
        const double *w = q + s->balls->body[b].coordinate, most = fmax(s->upper[dof], s->upper[dof + 1]);
        for (int d = 0; d < 3; d++)
            assert_true(s->lower[dof + d] <= w[d] && w[d] <= s->upper[dof + d]);
        double angle = hypot(w[0], w[1]);
        to->outside += angle > most;
        to->on +=
            fabs(angle - most) < 1e-6 && fabs(w[0]) < s->upper[dof] - 1e-3 && fabs(w[1]) < s->upper[dof + 1] - 1e-3;
    }
}

static count count_clip(const scene *s, const ulna_clip *clip)
{
    count all = {0, 0};
    for (int f = 0; f < clip->frame_count; f++)
        count_pose(s, ulna_clip_frame(clip, f), &all);
    return all;
}

/* Moves bones straight back into their cones. */
static void pull_in(const scene *s, ulna_clip *clip)
{
    for (int f = 0; f < clip->frame_count; f++)
        for (int b = 0; b < s->balls->nb; b++) {
            int dof = s->balls->body[b].dof;
            double *w = ulna_clip_frame(clip, f) + s->balls->body[b].coordinate;
            double most = is_swing(s->balls, b) ? fmax(s->upper[dof], s->upper[dof + 1]) : INFINITY;
            double share = is_swing(s->balls, b) ? fmin(1, (1 - 1e-12) * most / hypot(w[0], w[1])) : 1;
            for (int d = 0; d < 2 && is_swing(s->balls, b); d++)
                w[d] *= share;
        }
}

/* Mean of the frames' RMS, m. */
static double rms(const scene *s, const ulna_clip *clip)
{
    const ulna_marker_set *set = &s->take->set;
    ulna_pose *pose;
    double mean = 0;
    assert_int_equal(ulna_pose_create(s->balls, NULL, &pose, NULL), ULNA_OK);
    for (int f = 0; f < FRAMES; f++) {
        double sum = 0, place[3];
        assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(clip, f)), ULNA_OK);
        for (size_t m = 0; m < set->count; m++) {
            const double *seen = ulna_recording_frame(&s->swing.recording, f) + 3 * m;
            ulna_pose_point(pose, set->items[m].body, set->items[m].offset, place);
            for (int i = 0; i < 3; i++)
                sum += (place[i] - seen[i]) * (place[i] - seen[i]) / (double)set->count;
        }
        mean += sqrt(sum) / FRAMES;
    }
    ulna_pose_destroy(pose);
    return mean;
}

/* Other methods know limits of single degrees of freedom only: a pyramid. */
static void swings_stay_in_their_cones(void **state)
{
    (void)state;
    const double narrow[] = {0.15, 0.1};
    for (int i = 0; i < 2; i++) {
        scene s;
        open_scene(&s, 0.15, narrow[i]);
        ulna_track_options options = bounded(&s);
        ulna_track_result kept = track(&s, &options);
        count in_cone = count_clip(&s, &kept.clip);
        options.solve.method = "newton";
        ulna_track_result pyramid = track(&s, &options);
        count in_pyramid = count_clip(&s, &pyramid.clip);
        print_message("cone: %d outside, %d on it; pyramid: %d outside; rms %.2f and %.2f mm, %d doubtful\n",
                      in_cone.outside, in_cone.on, in_pyramid.outside, 1e3 * kept.summary.rms_mean,
                      1e3 * pyramid.summary.rms_mean, kept.summary.doubtful);
        assert_int_equal(in_cone.outside, 0);
        assert_true(in_cone.on > 50 && in_pyramid.outside > 50);
        pull_in(&s, &pyramid.clip);
        assert_int_equal(count_clip(&s, &pyramid.clip).outside, 0);
        assert_true(kept.summary.rms_mean < 0.9 * rms(&s, &pyramid.clip));
        ulna_track_result_release(&pyramid);
        ulna_track_result_release(&kept);
        close_scene(&s);
    }
}

/* Also live, causally, from a global search, and for a limb that is bridged. */
static void in_whatever_way_frames_are_solved(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 0.15, 0.15);
    ulna_track_options options = bounded(&s);
    for (int way = 0; way < 3; way++) {
        options.causal = way == 0;
        options.global = way == 1;
        for (int f = 30; f < 60 && way == 2; f++) /* the left arm */
            for (int m = 0; m < s.swing.recording.marker_count; m++)
                if (strstr(s.swing.recording.names[m], ":LELB") || strstr(s.swing.recording.names[m], ":LWR") ||
                    strstr(s.swing.recording.names[m], ":LUPA") || strstr(s.swing.recording.names[m], ":LFRM") ||
                    strstr(s.swing.recording.names[m], ":LFIN"))
                    ulna_recording_frame(&s.swing.recording, f)[3 * m] = (double)NAN;
        ulna_track_result result = track(&s, &options);
        assert_int_equal(count_clip(&s, &result.clip).outside, 0);
        assert_true(count_clip(&s, &result.clip).on > 0);
        assert_true(way != 2 || result.summary.bridged > 0);
        ulna_track_result_release(&result);
    }
    options.global = options.causal = 0;
    ulna_tracker *tracker;
    double *q = ulna_test_numbers(s.balls->nq);
    count live = {0, 0};
    assert_int_equal(ulna_tracker_create(s.balls, &s.take->set, &options, NULL, &tracker, NULL), ULNA_OK);
    for (int f = 0; f < FRAMES; f++) {
        assert_int_equal(ulna_tracker_frame(tracker, ulna_recording_frame(&s.swing.recording, f), q, NULL), ULNA_OK);
        count_pose(&s, q, &live);
    }
    assert_int_equal(live.outside, 0);
    assert_true(live.on > 50);
    ulna_tracker_destroy(tracker);
    free(q);
    close_scene(&s);
}

/* The largest distance of a body between two motions. */
static double apart(const scene *s, const ulna_clip *a, const ulna_clip *b)
{
    static const double origin[3] = {0, 0, 0};
    const ulna_clip *clip[2] = {a, b};
    ulna_pose *pose;
    double most = 0, *place = ulna_test_numbers(6 * s->balls->nb);
    assert_int_equal(ulna_pose_create(s->balls, NULL, &pose, NULL), ULNA_OK);
    for (int f = 0; f < FRAMES; f++) {
        for (int k = 0; k < 2; k++) {
            assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(clip[k], f)), ULNA_OK);
            for (int i = 0; i < s->balls->nb; i++)
                ulna_pose_point(pose, i, origin, place + 6 * i + 3 * k);
        }
        for (int i = 0; i < s->balls->nb; i++) {
            const double *x = place + 6 * i;
            most = fmax(most, hypot(hypot(x[0] - x[3], x[1] - x[4]), x[2] - x[5]));
        }
    }
    ulna_pose_destroy(pose);
    free(place);
    return most;
}

/* A cone that no frame reaches. */
static void a_wide_cone_changes_nothing(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 1.5, 1.5);
    for (int b = 0; b < s.balls->nb; b++)
        if (is_swing(s.balls, b)) {
            s.lower[s.balls->body[b].dof + 2] = -1.5;
            s.upper[s.balls->body[b].dof + 2] = 1.5;
        }
    ulna_track_options options = bounded(&s);
    ulna_track_result with = track(&s, &options);
    options.solve.bounded = options.fresh.bounded = 0;
    ulna_track_result without = track(&s, &options);
    double most = apart(&s, &with.clip, &without.clip);
    print_message("a wide cone moves joints by %.2f mm at most\n", 1e3 * most);
    assert_true(most < 2e-3);
    ulna_track_result_release(&without);
    ulna_track_result_release(&with);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swings_stay_in_their_cones),
        cmocka_unit_test(in_whatever_way_frames_are_solved),
        cmocka_unit_test(a_wide_cone_changes_nothing),
    };
    return cmocka_run_group_tests_name("cones of balls", tests, NULL, NULL);
}
