/*
 * Takes with constraints: they are kept, nothing else moves more than it must, what cannot be kept is said, and feet that stand do
 * not skate. What the library claims is recomputed from the motion alone. Walks are of the sample and of CMU.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_mocap.h"
#include "support_swing.h"
#include "support_walk.h"
#include "ulna/calibrate.h"
#include "ulna/kinematics.h"

enum { FRAMES = 120, FIRST = 40, LAST = 70 };

/* ---- a swinging human ------------------------------------------------------------------------------------------------- */

typedef struct scene {
    ulna_test_swing swing;
    ulna_take *take;
    int hand;
    double place[3]; /* of the hand, in the middle of the range */
} scene;

static void place_of(const ulna_model *model, const double *q, int body, const double *point, double place[3])
{
    static const double origin[3] = {0, 0, 0};
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
    assert_int_equal(ulna_pose_point(pose, body, point ? point : origin, place), ULNA_OK);
    ulna_pose_destroy(pose);
}

static void open_scene(scene *s)
{
    *s = (scene){.swing = ulna_test_swing_make(FRAMES, 0)}; /* the take points into it */
    ulna_error error;
    assert_int_equal(ulna_test_take(s->swing.model, &s->swing.set, &s->swing.recording, NULL, NULL, &s->take, &error),
                     ULNA_OK);
    s->hand = ulna_model_find_body(s->swing.model, "left_hand");
    place_of(s->swing.model, s->swing.truth + (size_t)(FIRST + LAST) / 2 * (size_t)s->swing.nq, s->hand, NULL,
             s->place);
}

static void close_scene(scene *s)
{
    ulna_take_destroy(s->take);
    ulna_test_swing_release(&s->swing);
}

static double distance(const double a[3], const double b[3])
{
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

static ulna_track_result track(const ulna_take *take, const ulna_track_options *options)
{
    ulna_track_result result = {0};
    ulna_error error;
    if (ulna_track(take, options, &result, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    return result;
}

/* The largest distance of a body between two motions, in frames `first` to `last`. */
static double apart(const ulna_model *model, const ulna_clip *a, const ulna_clip *b, int first, int last)
{
    double most = 0, x[3], y[3];
    for (int f = first; f <= last; f++)
        for (int body = 0; body < ulna_model_body_count(model); body += 5) {
            place_of(model, ulna_clip_frame(a, f), body, NULL, x);
            place_of(model, ulna_clip_frame(b, f), body, NULL, y);
            most = fmax(most, distance(x, y));
        }
    return most;
}

/* The hand is where it should be in all frames of the range. Away from it the motion is the same, to the bit. */
static void a_hand_is_held_in_a_range(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    ulna_frame_range range = {FIRST, LAST};
    ulna_track_constraint hold = {
        .constraint = {.type = ULNA_KEEP_POINT, .body = s.hand}, .ranges = &range, .range_count = 1};
    ulna_track_options options = ulna_track_options_default();
    ulna_track_result free_of = track(s.take, &options);
    memcpy(hold.constraint.goal, s.place, sizeof s.place);
    options.constraints = &hold;
    options.constraint_count = 1;
    ulna_track_result kept = track(s.take, &options);
    double worst = 0, x[3];
    for (int f = FIRST; f <= LAST; f++) {
        place_of(s.swing.model, ulna_clip_frame(&kept.clip, f), s.hand, NULL, x);
        worst = fmax(worst, distance(x, s.place));
    }
    assert_true(worst < 1e-8);
    assert_int_equal(kept.constraint_count, 1);
    assert_int_equal(kept.constraints[0].frames, LAST - FIRST + 1);
    assert_int_equal(kept.constraints[0].infeasible, 0);
    assert_true(fabs(kept.constraints[0].worst - worst) < 1e-12);
    assert_int_equal(kept.summary.lost, 0);
    int fade = (int)round(0.08 / kept.clip.frame_seconds);
    size_t before = (size_t)(FIRST - fade - 1) * (size_t)kept.clip.coordinate_count;
    assert_memory_equal(ulna_clip_frame(&kept.clip, 0), ulna_clip_frame(&free_of.clip, 0), before * sizeof(double));
    assert_true(apart(s.swing.model, &kept.clip, &free_of.clip, LAST + fade + 1, FRAMES - 1) == 0);
    assert_true(apart(s.swing.model, &kept.clip, &free_of.clip, FIRST - fade, FIRST - 1) > 0);
    assert_true(kept.unconstrained_rms < kept.summary.rms_mean);
    assert_true(fabs(kept.unconstrained_rms - free_of.summary.rms_mean) < 1e-6);
    ulna_track_result_release(&kept);
    ulna_track_result_release(&free_of);
    close_scene(&s);
}

/* Without a look ahead: the same places, and frames before the range do not know of it. */
static void causal_frames_keep_them_too(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    ulna_frame_range range = {FIRST, LAST};
    ulna_track_constraint hold = {
        .constraint = {.type = ULNA_KEEP_POINT, .body = s.hand}, .ranges = &range, .range_count = 1};
    ulna_track_options options = ulna_track_options_default();
    options.causal = 1;
    ulna_track_result free_of = track(s.take, &options);
    memcpy(hold.constraint.goal, s.place, sizeof s.place);
    options.constraints = &hold;
    options.constraint_count = 1;
    ulna_track_result kept = track(s.take, &options);
    assert_int_equal(kept.constraints[0].frames, LAST - FIRST + 1);
    assert_true(kept.constraints[0].worst < 1e-8);
    assert_true(apart(s.swing.model, &kept.clip, &free_of.clip, 0, FIRST - 1) == 0);
    ulna_track_result_release(&kept);
    ulna_track_result_release(&free_of);
    close_scene(&s);
}

/* Ten metres away: every frame of the range is counted and doubtful, poses are numbers, others are as they were. */
static void a_place_out_of_reach_is_said(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    ulna_frame_range range = {FIRST, LAST};
    int root = 0;
    ulna_track_constraint hold[2] = {
        {.constraint = {.type = ULNA_KEEP_POINT, .body = s.hand, .goal = {10, 0, 0}},
         .ranges = &range,
         .range_count = 1},
        {.constraint = {.type = ULNA_KEEP_POINT, .body = root}, .ranges = &range, .range_count = 1}};
    ulna_track_options options = ulna_track_options_default();
    place_of(s.swing.model, s.swing.truth, root, NULL, hold[1].constraint.goal);
    options.constraints = hold;
    options.constraint_count = 2;
    options.fade = 0;
    ulna_track_result kept = track(s.take, &options);
    assert_int_equal(kept.constraints[0].infeasible, LAST - FIRST + 1);
    assert_true(kept.constraints[0].worst > 3 && kept.constraints[1].infeasible > 0); /* both give way */
    for (int f = 0; f < FRAMES; f++) {
        int is_doubtful = (kept.frames[f].flags & (ULNA_TRACK_DOUBTFUL | ULNA_TRACK_LOST)) != 0;
        assert_int_equal(is_doubtful, f >= FIRST && f <= LAST);
    }
    ulna_track_result_release(&kept);
    close_scene(&s);
}

/* A place near by is met. One iteration is not enough for it: then the frame is doubtful, though no hard constraint is broken. */
static void a_solve_that_does_not_converge_is_doubtful(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    const int middle = (FIRST + LAST) / 2;
    ulna_frame_range range = {middle, middle};
    ulna_track_constraint hold = {
        .constraint = {.type = ULNA_KEEP_POINT, .body = s.hand, .level = 1}, .ranges = &range, .range_count = 1};
    ulna_track_options options = ulna_track_options_default();
    memcpy(hold.constraint.goal, s.place, sizeof s.place);
    hold.constraint.goal[1] += 0.002;
    options.constraints = &hold;
    options.constraint_count = 1;
    options.fade = 0;
    ulna_track_result kept = track(s.take, &options);
    assert_false(kept.frames[middle].flags & ULNA_TRACK_DOUBTFUL);
    ulna_track_result_release(&kept);
    options.solve.iterations = 1;
    kept = track(s.take, &options);
    assert_int_equal(kept.constraints[0].infeasible, 0);
    assert_true(kept.frames[middle].flags & ULNA_TRACK_DOUBTFUL);
    assert_int_equal(kept.frames[middle].stop, ULNA_STOP_ITERATIONS);
    ulna_track_result_release(&kept);
    close_scene(&s);
}

/* Two sums of a joint that are `apart` radians apart; in how many frames of the range the first is not kept. */
static int contradicted(const scene *s, double coefficient, double apart)
{
    int dof;
    ulna_frame_range range = {FIRST, FIRST + 3};
    ulna_track_constraint sums[2] = {{.ranges = &range, .range_count = 1}, {.ranges = &range, .range_count = 1}};
    ulna_track_options options = ulna_track_options_default();
    assert_int_equal(ulna_model_body_dofs(s->swing.model, ulna_model_find_body(s->swing.model, "left_shank"), &dof), 1);
    for (int i = 0; i < 2; i++)
        sums[i].constraint = (ulna_constraint){.type = ULNA_KEEP_LINEAR,
                                               .dofs = &dof,
                                               .coefficients = &coefficient,
                                               .dof_count = 1,
                                               .goal = {coefficient * (0.3 + i * apart)}};
    options.constraints = sums;
    options.constraint_count = 2;
    ulna_track_result kept = track(s->take, &options);
    int frames = kept.constraints[0].infeasible;
    ulna_track_result_release(&kept);
    return frames;
}

/* The unit of a sum does not matter: a joint that is off by 0.1 mrad is not where it should be, one by a nanoradian is. */
static void what_is_kept_goes_by_the_unit(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    for (double coefficient = 1e-3; coefficient < 2e3; coefficient *= 1e3) {
        assert_int_equal(contradicted(&s, coefficient, 2e-4), 4);
        assert_int_equal(contradicted(&s, coefficient, 2e-9), 0);
    }
    close_scene(&s);
}

/* A tracker with constraints of its own keeps them in every frame, as they come. */
static ulna_status add_hold(void *context, ulna_problem *problem, ulna_error *error)
{
    const scene *s = context;
    ulna_constraint hold = {.type = ULNA_KEEP_POINT, .body = s->hand};
    memcpy(hold.goal, s->place, sizeof s->place);
    return ulna_problem_add_constraint(problem, &hold, NULL, error);
}

static void a_live_tracker_keeps_them(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    ulna_track_options options = ulna_track_options_default();
    ulna_tracker *tracker;
    ulna_error error;
    double *q = calloc((size_t)s.swing.nq, sizeof *q), x[3], worst = 0;
    options.extend = add_hold;
    options.extend_context = &s;
    assert_int_equal(ulna_tracker_create(s.swing.model, &s.swing.set, &options, NULL, &tracker, &error), ULNA_OK);
    for (int f = FIRST; f <= LAST; f++) {
        assert_int_equal(ulna_tracker_frame(tracker, ulna_recording_frame(&s.swing.recording, f), q, NULL), ULNA_OK);
        place_of(s.swing.model, q, s.hand, NULL, x);
        worst = fmax(worst, distance(x, s.place));
    }
    assert_true(worst < 1e-8);
    ulna_tracker_destroy(tracker);
    free(q);
    ulna_track_result whole = track(s.take, &options); /* and the passes over a take do not break them */
    for (int f = 0; f < FRAMES; f++) {
        place_of(s.swing.model, ulna_clip_frame(&whole.clip, f), s.hand, NULL, x);
        worst = fmax(worst, distance(x, s.place));
    }
    assert_true(worst < 1e-8);
    ulna_track_result_release(&whole);
    close_scene(&s);
}

/* ---- what is refused -------------------------------------------------------------------------------------------------------- */

static void refused(const ulna_take *take, const ulna_track_options *options, ulna_status expected, const char *part)
{
    ulna_track_result result = {0};
    ulna_error error;
    ulna_error_clear(&error);
    assert_int_equal(ulna_track(take, options, &result, &error), expected);
    if (!strstr(error.message, part))
        fail_msg("'%s' does not say '%s'", error.message, part);
    ulna_track_result_release(&result);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    ulna_track_options options = ulna_track_options_default(), good = options;
    ulna_stance stances[2] = {{.body = s.hand, .first = 3, .last = 9}, {.body = s.hand, .first = 9, .last = 20}};
    options.stances = stances;
    options.stance_count = 2;
    refused(s.take, &options, ULNA_ERR_ARGUMENT, "overlap");
    stances[1].body = 999;
    refused(s.take, &options, ULNA_ERR_ARGUMENT, "999");
    options = good;
    options.fade = NAN;
    refused(s.take, &options, ULNA_ERR_ARGUMENT, "fade");
    options = good;
    options.plant_feet = options.causal = 1;
    refused(s.take, &options, ULNA_ERR_ARGUMENT, "whole take");
    options = good;
    options.constraint_count = -1;
    refused(s.take, &options, ULNA_ERR_ARGUMENT, "constraint_count");
    options = good;
    options.constraint_count = 1;
    refused(s.take, &options, ULNA_ERR_ARGUMENT, "constraints is NULL");
    options = good;
    options.stance_count = 1;
    refused(s.take, &options, ULNA_ERR_ARGUMENT, "stances is NULL");
    ulna_track_constraint hold = {.constraint = {.type = ULNA_KEEP_POINT, .body = s.hand, .goal = {NAN, 0, 0}}};
    options = good;
    options.constraints = &hold;
    options.constraint_count = 1;
    ulna_track_result result = {0};
    assert_true(ulna_track(s.take, &options, &result, NULL) != ULNA_OK);
    close_scene(&s);
}

static void wrong_ranges_are_refused(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    ulna_frame_range ranges[3] = {{20, 30}, {5, 10}, {8, 12}};
    ulna_track_constraint hold = {.constraint = {.type = ULNA_KEEP_POINT, .body = s.hand}, .range_count = 1};
    ulna_track_options options = ulna_track_options_default();
    options.constraints = &hold;
    options.constraint_count = 1;
    refused(s.take, &options, ULNA_ERR_ARGUMENT, "ranges is NULL");
    hold.ranges = ranges;
    hold.range_count = -1;
    refused(s.take, &options, ULNA_ERR_ARGUMENT, "negative");
    hold.range_count = 3;
    refused(s.take, &options, ULNA_ERR_ARGUMENT, "frames 5 to 10 and 8 to 12");
    memcpy(hold.constraint.goal, s.place, sizeof s.place);
    ranges[2] = (ulna_frame_range){11, 12}; /* out of order is no mistake */
    ulna_track_result kept = track(s.take, &options);
    assert_int_equal(kept.constraints[0].frames, 11 + 6 + 2);
    ulna_track_result_release(&kept);
    close_scene(&s);
}

/* Ranges outside the take, and a stance that covers more than it, are what is left of them. */
static void ranges_outside_the_take_are_ignored(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    ulna_frame_range ranges[2] = {{-50, -1}, {FRAMES, 2 * FRAMES}};
    ulna_track_constraint hold = {
        .constraint = {.type = ULNA_KEEP_POINT, .body = s.hand}, .ranges = ranges, .range_count = 2};
    ulna_stance stance = {.body = ulna_model_find_body(s.swing.model, "left_foot"),
                          .first = -5,
                          .last = 5 * FRAMES,
                          .flat_last = -1,
                          .point = {NAN, 0, 0}};
    ulna_track_options options = ulna_track_options_default();
    options.constraints = &hold;
    options.constraint_count = 1;
    options.stances = &stance;
    options.stance_count = 1;
    ulna_track_result kept = track(s.take, &options);
    assert_int_equal(kept.constraints[0].frames, 0);
    assert_int_equal(kept.stance_count, 1);
    assert_int_equal(kept.stances[0].first, 0);
    assert_int_equal(kept.stances[0].last, FRAMES - 1);
    assert_true(kept.stances[0].skate < 1e-6 && kept.stances[0].skate_before > 1e-3);
    ulna_track_result_release(&kept);
    close_scene(&s);
}

static void memory_may_be_refused(void **state)
{
    (void)state;
    scene s;
    open_scene(&s);
    ulna_frame_range range = {2, 4};
    ulna_stance stance = {.body = s.hand, .first = 5, .last = 7, .flat_first = 5, .flat_last = 7};
    ulna_track_constraint hold = {
        .constraint = {.type = ULNA_KEEP_POINT, .body = s.hand}, .ranges = &range, .range_count = 1};
    ulna_track_options options = ulna_track_options_default();
    memcpy(hold.constraint.goal, s.place, sizeof s.place);
    options.constraints = &hold;
    options.stances = &stance;
    options.constraint_count = options.stance_count = 1;
    s.swing.recording.frame_count = 10;
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_take *take = NULL;
        ulna_track_result result = {0};
        ulna_status status =
            ulna_test_take(s.swing.model, &s.swing.set, &s.swing.recording, NULL, &allocator, &take, NULL);
        if (status == ULNA_OK)
            status = ulna_track(take, &options, &result, NULL);
        ulna_track_result_release(&result);
        ulna_take_destroy(take);
        ulna_test_memory_check(&memory);
        if (!memory.failed)
            break;
        assert_int_equal(status, ULNA_ERR_MEMORY);
    }
    s.swing.recording.frame_count = FRAMES;
    close_scene(&s);
}

/* ---- a walk -------------------------------------------------------------------------------------------------------------- */

typedef struct walk {
    ulna_content skeleton, markers;
    ulna_take *start, *take;
    ulna_calibration found;
} walk;

static ulna_content load(const char *name)
{
    char path[512];
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    if (ulna_content_load(ulna_test_path(path, sizeof path, ulna_test_data_dir(), name), NULL, &content, &error))
        fail_msg("%s: %s", name, error.message);
    return content;
}

static void open_walk(walk *w, const char *skeleton, const char *markers)
{
    *w = (walk){.skeleton = load(skeleton), .markers = load(markers)};
    ulna_error error;
    ulna_take_options options = ulna_take_options_for(&w->skeleton, &w->markers);
    options.attach = ULNA_ATTACH_NAMES;
    assert_int_equal(ulna_take_create(&options, &w->start, &error), ULNA_OK);
    assert_int_equal(ulna_calibrate(w->start, NULL, &w->found, &error), ULNA_OK);
    options.attach = ULNA_ATTACH_SET;
    options.set = &w->found.set;
    assert_int_equal(ulna_take_create(&options, &w->take, &error), ULNA_OK);
}

static void close_walk(walk *w)
{
    ulna_take_destroy(w->take);
    ulna_take_destroy(w->start);
    ulna_calibration_release(&w->found);
    ulna_content_release(&w->skeleton);
    ulna_content_release(&w->markers);
}

/* How far the point goes along the floor in a stance. */
static double skate(const ulna_model *model, const ulna_clip *clip, const ulna_stance *s, int up)
{
    double path = 0, last[3] = {0, 0, 0}, now[3];
    for (int f = s->first; f <= s->last; f++) {
        place_of(model, ulna_clip_frame(clip, f), s->body, s->point, now);
        now[up] = 0;
        path += f > s->first ? distance(last, now) : 0;
        memcpy(last, now, sizeof now);
    }
    return path;
}

/* The largest second difference of the places of the bodies from frame `first` to `last`: a step would show. */
static double largest_step(const ulna_model *model, const ulna_clip *clip, int first, int last)
{
    double most = 0, a[3], b[3], c[3];
    for (int f = first < 1 ? 1 : first; f <= last && f < clip->frame_count - 1; f++)
        for (int body = 0; body < ulna_model_body_count(model); body++) {
            place_of(model, ulna_clip_frame(clip, f - 1), body, NULL, a);
            place_of(model, ulna_clip_frame(clip, f), body, NULL, b);
            place_of(model, ulna_clip_frame(clip, f + 1), body, NULL, c);
            for (int k = 0; k < 3; k++)
                a[k] = 0.5 * (a[k] + c[k]);
            most = fmax(most, 2 * distance(a, b));
        }
    return most;
}

/* How far the point is along the floor from where it is in the middle of the stance. */
static double farthest(const ulna_model *model, const ulna_clip *clip, const ulna_stance *s, int up)
{
    double most = 0, middle[3], now[3];
    place_of(model, ulna_clip_frame(clip, (s->first + s->last) / 2), s->body, s->point, middle);
    for (int f = s->first; f <= s->last; f++) {
        place_of(model, ulna_clip_frame(clip, f), s->body, s->point, now);
        now[up] = middle[up];
        most = fmax(most, distance(middle, now));
    }
    return most;
}

/* Feet stand where the result says (and where they stand in truth, if that is known), and nothing else jumps for it. Returns by how much they skated before, on average. */
static double check_stances(const ulna_take *take, const ulna_clip *truth, unsigned fewest, unsigned most, double cost)
{
    const ulna_model *model = take->model;
    ulna_track_options options = ulna_track_options_default();
    ulna_track_result free_of = track(take, &options);
    options.plant_feet = 1;
    ulna_track_result kept = track(take, &options);
    assert_in_range((unsigned)kept.stance_count, fewest, most);
    double before = 0, steps = largest_step(model, &free_of.clip, 1, free_of.clip.frame_count);
    for (int i = 0; i < kept.stance_count; i++) {
        const ulna_stance *s = &kept.stances[i];
        assert_true(skate(model, &kept.clip, s, 1) < 1e-6);
        assert_true(fabs(skate(model, &free_of.clip, s, 1) - s->skate_before) < 1e-9);
        assert_true(fabs(skate(model, &kept.clip, s, 1) - s->skate) < 1e-9);
        assert_true(largest_step(model, &kept.clip, s->first - 10, s->first + 10) <= 1.2 * steps);
        assert_true(largest_step(model, &kept.clip, s->last - 10, s->last + 10) <= 1.2 * steps);
        if (truth && farthest(model, truth, s, 1) > 0.025)
            fail_msg("%s moves by %.1f mm in frames %d to %d", ulna_model_body_name(model, s->body),
                     1e3 * farthest(model, truth, s, 1), s->first, s->last);
        before += s->skate_before / kept.stance_count;
    }
    print_message("%d stances, skated by %.1f mm; rms %.2f mm, %.2f without\n", kept.stance_count, 1e3 * before,
                  1e3 * kept.summary.rms_mean, 1e3 * free_of.summary.rms_mean);
    assert_true(kept.summary.rms_mean < cost * free_of.summary.rms_mean);
    assert_int_equal(kept.summary.doubtful + kept.summary.lost + kept.summary.jumps, 0);
    ulna_track_result_release(&kept);
    ulna_track_result_release(&free_of);
    return before;
}

static void feet_of_a_walk_stand(void **state)
{
    (void)state;
    ulna_test_walk w = ulna_test_walk_make(1e-3);
    ulna_take *take;
    ulna_error error;
    /* It stands, makes six steps, on the heel and on the toes, and stands. */
    assert_int_equal(ulna_test_take(w.skeleton.model, &w.set, &w.markers, NULL, NULL, &take, &error), ULNA_OK);
    assert_true(check_stances(take, &w.motion.clip, 8, 16, 1.5) > 0.005);
    ulna_take_destroy(take);
    ulna_test_walk_release(&w);
}

static void feet_of_a_recorded_walk_stand(void **state)
{
    (void)state;
    walk w; /* the take points into it */
    open_walk(&w, "cmu/02.asf", "cmu/02_01.c3d");
    /* 5 to 8 steps, seen by eye; 16 mm, at 2.7 -> 2.9 mm of RMS */
    assert_true(check_stances(w.take, NULL, 5, 8, 1.12) > 0.005);
    close_walk(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hand_is_held_in_a_range),
        cmocka_unit_test(causal_frames_keep_them_too),
        cmocka_unit_test(a_place_out_of_reach_is_said),
        cmocka_unit_test(a_solve_that_does_not_converge_is_doubtful),
        cmocka_unit_test(what_is_kept_goes_by_the_unit),
        cmocka_unit_test(a_live_tracker_keeps_them),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(wrong_ranges_are_refused),
        cmocka_unit_test(ranges_outside_the_take_are_ignored),
        cmocka_unit_test(memory_may_be_refused),
        cmocka_unit_test(feet_of_a_walk_stand),
        ulna_test_needs("cmu", cmocka_unit_test(feet_of_a_recorded_walk_stand)),
    };
    return cmocka_run_group_tests_name("takes with constraints", tests, NULL, NULL);
}
