/* What is expected of a pose: the shape of skeletons, the priors of a tracker, its loop, its budget. */
#include "base/algorithms.h"
#include "math/math3.h"
#include "mocap/anatomy.h"
#include "mocap/tracker.h"
#include "model/model.h"
#include "support_model.h"
#include "support_swing.h"
#include "support_units.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the shape of a skeleton --------------------------------------------------------------------------------------- */

static ulna_anatomy *examine(const ulna_model *model, const ulna_marker_set *set)
{
    int *body = calloc(set->count + 1, sizeof *body);
    double *weight = calloc(set->count + 1, sizeof *weight);
    ulna_anatomy *anatomy;
    for (size_t i = 0; i < set->count; i++) {
        body[i] = set->items[i].body;
        weight[i] = set->items[i].weight;
    }
    assert_int_equal(ulna_anatomy_create(model, body, weight, (int)set->count, NULL, &anatomy), ULNA_OK);
    free(body);
    free(weight);
    return anatomy;
}

static int body_named(const ulna_model *model, const char *name)
{
    int body = ulna_model_find_body(model, name);
    if (body == ULNA_NONE)
        fail_msg("no body %s", name);
    return body;
}

/* The human: two halves, a spine and a neck; in metres and in units a thousand times as large. */
static void a_human_has_a_spine(void **state)
{
    (void)state;
    for (double unit = 1; unit < 2e3; unit *= 1024) {
        ulna_model *metres, *model;
        ulna_marker_set set = ulna_marker_set_empty(NULL);
        assert_int_equal(ulna_sample_create("human", NULL, &metres, NULL), ULNA_OK);
        model = ulna_test_scaled_model(metres, unit);
        assert_int_equal(ulna_marker_set_from_model(&set, model), ULNA_OK);
        ulna_anatomy *a = examine(model, &set);
        int left = body_named(model, "left_thigh"), right = body_named(model, "right_thigh");
        assert_true(a->has_midline);
        assert_int_equal(a->mirror[left], right);
        assert_int_equal(a->mirror[right], left);
        assert_true(a->chains >= 1);
        assert_true(a->is_root[0]);
        assert_false(a->is_root[left]);
        for (int b = 0; b < model->nb; b++)
            assert_true(a->chain[b] == ULNA_NONE || a->mirror[b] == b);
        assert_int_equal(a->chain[left], ULNA_NONE);
        ulna_anatomy_destroy(a);
        ulna_marker_set_release(&set);
        ulna_model_destroy(model);
        ulna_model_destroy(metres);
    }
}

/* An arm has neither halves nor a spine, and no root that moves as a whole. */
static void an_arm_has_none(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    const double tip[3] = {0, 0, 0.1};
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_marker_set_add(&set, "TIP", model->nb - 1, tip, 1), ULNA_OK);
    ulna_anatomy *a = examine(model, &set);
    assert_false(a->has_midline);
    assert_int_equal(a->chains, 0);
    for (int b = 0; b < model->nb; b++)
        assert_false(a->is_root[b]);
    ulna_anatomy_destroy(a);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* Any tree, and every allocation failing in turn. */
static void any_tree_will_do(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(41);
    for (int n = 0; n < 200; n++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        ulna_model *model = ulna_test_random_tree(&rng, &options);
        const int body[] = {model->nb - 1, 0};
        const double weight[] = {1, 0};
        ulna_anatomy *a = NULL;
        for (long fail = 0; fail < 10 && !a; fail++) {
            ulna_test_memory memory = {.fail_at = fail};
            ulna_allocator allocator = ulna_test_allocator(&memory);
            ulna_status status = ulna_anatomy_create(model, body, weight, 2, &allocator, &a);
            assert_int_equal(status, memory.failed ? ULNA_ERR_MEMORY : ULNA_OK);
            ulna_anatomy_destroy(a);
            ulna_test_memory_check(&memory);
        }
        assert_non_null(a);
        ulna_model_destroy(model);
    }
}

/* ---- trackers ------------------------------------------------------------------------------------------------------ */

static const double *frame_of(const ulna_test_swing *s, int frame)
{
    return ulna_recording_frame(&s->recording, frame);
}

static double difference(const double *a, const double *b, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* The loop ends where the solver does. */
static void the_loop_agrees_with_the_solver(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(60, 0);
    ulna_tracker *tracker[2];
    double *q[2] = {ulna_test_numbers(s.nq), ulna_test_numbers(s.nq)};
    ulna_track_options options = ulna_track_options_default();
    options.solve.decrease = 1e-12;
    for (int k = 0; k < 2; k++)
        assert_int_equal(ulna_tracker_create(s.model, &s.set, &options, NULL, &tracker[k], NULL), ULNA_OK);
    assert_true(tracker[0]->may_loop);
    tracker[1]->may_loop = 0;
    for (int f = 0; f < s.frames; f++) {
        for (int k = 0; k < 2; k++)
            assert_int_equal(ulna_tracker_frame(tracker[k], frame_of(&s, f), q[k], NULL), ULNA_OK);
        if (!(difference(q[0], q[1], s.nq) < 1e-5))
            fail_msg("frame %d: %g", f, difference(q[0], q[1], s.nq));
    }
    for (int k = 0; k < 2; k++) {
        ulna_tracker_destroy(tracker[k]);
        free(q[k]);
    }
    ulna_test_swing_release(&s);
}

/* The defaults go with the unit of length: the same poses. */
static void any_unit_of_length_will_do(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(60, 0);
    const double factors[] = {1.0 / 1024, 1024};
    ulna_track_options options = ulna_track_options_default();
    options.solve.decrease = 1e-14; /* at 3e-2 rounding may decide whether one step is enough */
    options.solve.iterations = 1000;
    int markers = s.recording.marker_count;
    double *q = ulna_test_numbers(s.nq), *scaled_q = ulna_test_numbers(s.nq), *x = ulna_test_numbers(3 * markers);
    for (int n = 0; n < 2; n++) {
        ulna_model *scaled = ulna_test_scaled_model(s.model, factors[n]);
        ulna_marker_set set = ulna_marker_set_empty(NULL);
        ulna_tracker *one, *other;
        assert_int_equal(ulna_marker_set_from_model(&set, scaled), ULNA_OK);
        assert_int_equal(ulna_tracker_create(s.model, &s.set, &options, NULL, &one, NULL), ULNA_OK);
        assert_int_equal(ulna_tracker_create(scaled, &set, &options, NULL, &other, NULL), ULNA_OK);
        for (int f = 0; f < s.frames; f++) {
            for (int i = 0; i < 3 * markers; i++)
                x[i] = factors[n] * frame_of(&s, f)[i];
            assert_int_equal(ulna_tracker_frame(one, frame_of(&s, f), q, NULL), ULNA_OK);
            assert_int_equal(ulna_tracker_frame(other, x, scaled_q, NULL), ULNA_OK);
            ulna_test_scale_q(s.model, scaled_q, 1 / factors[n], scaled_q);
            if (!(difference(q, scaled_q, s.nq) < 1e-7))
                fail_msg("unit %g, frame %d: %g", factors[n], f, difference(q, scaled_q, s.nq));
        }
        ulna_tracker_destroy(one);
        ulna_tracker_destroy(other);
        ulna_marker_set_release(&set);
        ulna_model_destroy(scaled);
    }
    free(q);
    free(scaled_q);
    free(x);
    ulna_test_swing_release(&s);
}

/* Five millimetres of noise: joints shake a third as much as by plain least squares, and are as much nearer to the truth. */
static void noise_does_not_shake_joints(void **state)
{
    (void)state;
    enum { FRAMES = 240 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    ulna_test_rng rng = ulna_test_rng_seed(42);
    double shake[2] = {0, 0}, off[2] = {0, 0};
    for (int f = 0; f < FRAMES; f++)
        for (int k = 0; k < 3 * s.recording.marker_count; k++)
            ulna_recording_frame(&s.recording, f)[k] += 0.005 * ulna_test_rng_normal(&rng);
    for (int way = 0; way < 2; way++) {
        ulna_track_options options = ulna_track_options_default();
        ulna_clip clip;
        options.loss = way ? ULNA_LOSS_GEMAN_MCCLURE : ULNA_LOSS_SQUARE;
        ulna_test_swing_track(&s, &options, &clip, NULL);
        for (int f = 1; f < FRAMES; f++)
            for (int c = 6; c < s.nq; c++) {
                const double *now = ulna_clip_frame(&clip, f), *truth = s.truth + (size_t)f * (size_t)s.nq;
                double step = now[c] - ulna_clip_frame(&clip, f - 1)[c] - (truth[c] - truth[c - s.nq]);
                shake[way] += step * step;
                off[way] += (now[c] - truth[c]) * (now[c] - truth[c]);
            }
        ulna_clip_release(&clip);
    }
    if (!(shake[1] < 0.1 * shake[0] && off[1] < 0.1 * off[0]))
        fail_msg("shake %g of %g, off by %g of %g", shake[1], shake[0], off[1], off[0]);
    ulna_test_swing_release(&s);
}

/* Without time for it no search is made: the frame is lost, and costs what other frames do. */
static void a_budget_ends_searches(void **state)
{
    (void)state;
    enum { FRAMES = 40, JUMP = 20 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    int iterations[2] = {0, 0};
    for (int f = JUMP; f < FRAMES; f++)
        for (int m = 0; m < s.recording.marker_count; m++) {
            double *x = ulna_recording_frame(&s.recording, f) + 3 * m;
            x[0] = 3 - x[0];
            x[2] = -x[2];
        }
    for (int way = 0; way < 2; way++) {
        ulna_tracker *tracker;
        ulna_track_options options = ulna_track_options_default();
        double *q = ulna_test_numbers(s.nq);
        options.budget = way ? 1e-9 : 0;
        assert_int_equal(ulna_tracker_create(s.model, &s.set, &options, NULL, &tracker, NULL), ULNA_OK);
        for (int f = 0; f <= JUMP; f++) {
            ulna_frame_report report;
            assert_int_equal(ulna_tracker_frame(tracker, frame_of(&s, f), q, &report), ULNA_OK);
            iterations[way] = report.iterations;
            if (f == JUMP)
                assert_int_equal(report.flags & (ULNA_TRACK_LOST | ULNA_TRACK_RECOVERED),
                                 way ? ULNA_TRACK_LOST : ULNA_TRACK_RECOVERED);
        }
        ulna_tracker_destroy(tracker);
        free(q);
    }
    if (!(iterations[1] <= 50 && iterations[0] > iterations[1]))
        fail_msg("%d iterations, %d without a search", iterations[0], iterations[1]);
    ulna_test_swing_release(&s);
}

/* Offsets of a calibration have deviations: then joints are drawn to rest as they were there. Plain least squares are not. */
static void offsets_of_a_calibration_bring_its_posture(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_marker_set_from_model(&set, model), ULNA_OK);
    ulna_anatomy *anatomy = examine(model, &set);
    for (int way = 0; way < 3; way++) {
        int is_calibrated = way > 0, is_plain = way == 2;
        ulna_track_options options = ulna_track_options_default();
        ulna_tracker *t;
        options.loss = is_plain ? ULNA_LOSS_SQUARE : options.loss;
        set.items[3].deviation[1] = is_calibrated ? 0.01 : 0;
        assert_int_equal(ulna_tracker_create(model, &set, &options, NULL, &t, NULL), ULNA_OK);
        double one = t->prior.rest[model->body[body_named(model, "left_thigh")].dof];
        assert_true(one > 0);
        for (int d = 0; d < model->nv; d++) {
            int body = model->dof_body[d];
            double factor = ulna_anatomy_posture(anatomy, body);
            if (!is_calibrated || is_plain)
                factor = factor > 0;
            assert_true(t->idle[d] || fabs(t->prior.rest[d] - factor * one) < 1e-12 * one);
        }
        ulna_tracker_destroy(t);
    }
    assert_true(ulna_anatomy_posture(anatomy, body_named(model, "upper_spine")) > 1);
    ulna_anatomy_destroy(anatomy);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* Markers that leap about the room in every frame: each is a lost track, or looks like one. Returns the most iterations of a frame,
 * the first one not counted. */
static int most_iterations(const ulna_test_swing *s, const ulna_track_options *options)
{
    uint64_t random = 1;
    int most = 0, count = s->recording.marker_count;
    ulna_tracker *tracker;
    double *q = ulna_test_numbers(s->nq), *x = ulna_test_numbers(3 * count);
    assert_int_equal(ulna_tracker_create(s->model, &s->set, options, NULL, &tracker, NULL), ULNA_OK);
    for (int f = 0; f < s->recording.frame_count; f++) {
        ulna_frame_report report;
        for (int i = 0; i < 3 * count; i++) /* by turns the whole body, and each marker by itself */
            x[i] = frame_of(s, f)[i] + (f % 2 ? 4 * sin(f + i % 3) : 4 * ulna_random_uniform(&random) - 2);
        assert_int_equal(ulna_tracker_frame(tracker, x, q, &report), ULNA_OK);
        assert_true(ulna_all_finite(q, s->nq));
        most = f && report.iterations > most ? report.iterations : most;
    }
    ulna_tracker_destroy(tracker);
    free(q);
    free(x);
    return most;
}

/* Whatever the recording does, a frame without time takes the steps of a single iteration, for each kind of solver. */
static void a_budget_bounds_the_worst_frame(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(120, 0);
    ulna_track_options options = ulna_track_options_default();
    int unlimited = most_iterations(&s, &options), limited[2];
    options.budget = 1e-9;
    limited[0] = most_iterations(&s, &options);
    options.solve.hybrid.exact = 1; /* a tracker's own loop has no exact steps */
    limited[1] = most_iterations(&s, &options);
    if (!(unlimited > 100 && limited[0] <= 1 && limited[1] <= 1))
        fail_msg("at most %d iterations; %d and %d without time", unlimited, limited[0], limited[1]);
    ulna_test_swing_release(&s);
}

/* ---- locked DOFs ---------------------------------------------------------------------------------------------------- */

/* One of a joint's three rotations is locked, another one moves; the head, which no marker shows, rests. */
static void a_locked_angle_does_not_lock_its_joint(void **state)
{
    (void)state;
    enum { FRAMES = 40 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    int thigh = body_named(s.model, "left_thigh"), head = body_named(s.model, "head"), first = s.model->body[thigh].dof;
    unsigned char *locked = calloc((size_t)s.model->nv, 1);
    double *q = ulna_test_numbers(s.nq);
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(s.model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(s.model->body[thigh].dof_count, 3);
    for (int lock = 0; lock < 3; lock++) {
        int moves = s.model->body[thigh].coordinate + (lock + 1) % 3;
        ulna_track_options options = ulna_track_options_default();
        ulna_tracker *tracker;
        memset(locked, 0, (size_t)s.model->nv);
        locked[first + lock] = 1;
        options.solve.locked = locked;
        for (size_t i = 0; i < s.set.count; i++)
            s.set.items[i].weight = s.set.items[i].body != head;
        assert_int_equal(ulna_tracker_create(s.model, &s.set, &options, NULL, &tracker, NULL), ULNA_OK);
        for (int f = 0; f < FRAMES; f++) {
            double angle = s.model->rest[moves] + 0.2 + 0.3 * sin(0.1 * f), *x = ulna_recording_frame(&s.recording, f);
            memcpy(q, s.model->rest, (size_t)s.nq * sizeof *q);
            q[moves] = angle;
            assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
            for (size_t i = 0; i < s.set.count; i++)
                ulna_pose_point(pose, s.set.items[i].body, s.set.items[i].offset, x + 3 * i);
            assert_int_equal(ulna_tracker_frame(tracker, x, q, NULL), ULNA_OK);
            if (fabs(q[moves] - angle) > 0.01)
                fail_msg("DOF %d locked, frame %d: the next one is off by %g", lock, f, q[moves] - angle);
        }
        ulna_tracker_destroy(tracker);
    }
    ulna_pose_destroy(pose);
    free(q);
    free(locked);
    ulna_test_swing_release(&s);
}

/* ---- weights -------------------------------------------------------------------------------------------------------- */

/* The poses of a take with noise and strays, all weights times `factor`. */
static ulna_clip track_weighted(ulna_test_swing *s, double factor, int causal)
{
    ulna_clip clip;
    ulna_track_options options = ulna_track_options_default();
    ulna_track_options_resolve(ulna_model_length_scale(s->model), &options);
    double *const weights[] = {&options.smooth, &options.posture, &options.curve, &options.hold, &options.limits};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        *weights[i] *= factor;
    for (size_t i = 0; i < s->set.count; i++)
        s->set.items[i].weight = factor;
    options.causal = causal;
    ulna_test_swing_track(s, &options, &clip, NULL);
    return clip;
}

static void a_common_factor_of_all_weights_does_not_matter(void **state)
{
    (void)state;
    enum { FRAMES = 120 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    uint64_t random = 5;
    for (int i = 0; i < 3 * FRAMES * s.recording.marker_count; i++)
        ulna_recording_frame(&s.recording, 0)[i] += 0.006 * ulna_random_normal(&random);
    for (int f = 30; f < 60; f++) /* a marker that is left out; the whole recording leaps, and is lost for a while */
        ulna_recording_frame(&s.recording, f)[3 * 12] += 0.3;
    for (int i = 0; i < 3 * 10 * s.recording.marker_count; i++)
        ulna_recording_frame(&s.recording, 90)[i] = 0.7 * ulna_random_normal(&random);
    for (int causal = 0; causal < 2; causal++) {
        ulna_clip clip = track_weighted(&s, 1, causal);
        for (double factor = 1.0 / 64; factor < 100; factor *= 4096) {
            ulna_clip other = track_weighted(&s, factor, causal);
            for (int i = 0; i < FRAMES * s.nq; i++)
                if (fabs(clip.q[i] - other.q[i]) > 1e-6)
                    fail_msg("weights x %g, frame %d: coordinate %d is %g, not %g", factor, i / s.nq, i % s.nq,
                             other.q[i], clip.q[i]);
            ulna_clip_release(&other);
        }
        ulna_clip_release(&clip);
    }
    ulna_test_swing_release(&s);
}

/* ---- outliers ------------------------------------------------------------------------------------------------------- */

/* A hinge with two markers, of which one leaps away and stays there. A third one of little weight, between them, leans now to this, now
 * to that one: the hinge may follow either, but not in turn. */
static void contradicting_markers_do_not_take_turns(void **state)
{
    (void)state;
    enum { FRAMES = 200 };
    const double apart = 0.2, place[3][3] = {{1, 0, 0}, {1, 0, 0.1}, {1, 0, -0.1}};
    ulna_builder *builder = ulna_test_builder();
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_track_options options = ulna_track_options_default();
    ulna_tracker *tracker;
    double q, before = 0;
    ulna_test_set_joint(builder, ulna_test_add(builder, "hinge", ULNA_NONE), ulna_joint_revolute(0, 0, 1));
    ulna_model *model = ulna_test_build(builder);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ulna_marker_set_add(&set,
                                             i == 0   ? "A"
                                             : i == 1 ? "B"
                                                      : "C",
                                             0, place[i], i == 2 ? 0.1 : 1),
                         ULNA_OK);
    options.loss_scale = 0.06;
    assert_int_equal(ulna_tracker_create(model, &set, &options, NULL, &tracker, NULL), ULNA_OK);
    for (int f = 0; f < FRAMES; f++) {
        const double angle[3] = {0, f < 10 ? 0 : apart, apart / 2 + 0.02 * sin(0.4 * f)};
        double positions[9];
        for (int i = 0; i < 3; i++) {
            positions[3 * i] = cos(angle[i]);
            positions[3 * i + 1] = sin(angle[i]);
            positions[3 * i + 2] = place[i][2];
        }
        assert_int_equal(ulna_tracker_frame(tracker, positions, &q, NULL), ULNA_OK);
        if (f > 1 && fabs(q - before) > apart / 4)
            fail_msg("frame %d: from %g to %g", f, before, q);
        before = q;
    }
    ulna_tracker_destroy(tracker);
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
    ulna_builder_destroy(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_human_has_a_spine),
        cmocka_unit_test(an_arm_has_none),
        cmocka_unit_test(any_tree_will_do),
        cmocka_unit_test(the_loop_agrees_with_the_solver),
        cmocka_unit_test(any_unit_of_length_will_do),
        cmocka_unit_test(noise_does_not_shake_joints),
        cmocka_unit_test(offsets_of_a_calibration_bring_its_posture),
        cmocka_unit_test(a_budget_ends_searches),
        cmocka_unit_test(a_budget_bounds_the_worst_frame),
        cmocka_unit_test(a_locked_angle_does_not_lock_its_joint),
        cmocka_unit_test(a_common_factor_of_all_weights_does_not_matter),
        cmocka_unit_test(contradicting_markers_do_not_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
