/*
 * Every recorded file, in every format that can hold it, and back: the same poses, the same positions, angles that do not jump
 * where they need not, and a second pass of writing and reading that changes no byte.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/math3.h"
#include "model/model.h"
#include "support_recorded.h"
#include "ulna/kinematics.h"

static const char *const folders[] = {"bvh", "c3d", "cmu", "hand", "hdm05", "trc", "urdf"};

/* ---- one format ------------------------------------------------------------------------------------------------------ */

typedef struct target {
    ulna_format format;
    int needs_skeleton; /* to be read back */
    int is_single;      /* numbers of single precision */
} target;

// clang-format off
static const target motion_targets[] = {
    {ULNA_FORMAT_AMC, 1, 0},
    {ULNA_FORMAT_BVH, 0, 0},
    {ULNA_FORMAT_MOT, 1, 0},
    {ULNA_FORMAT_CSV, 1, 0},
    {ULNA_FORMAT_GLTF, 0, 1},
    {ULNA_FORMAT_GLB, 0, 1},
};
// clang-format on
// clang-format off
static const target marker_targets[] = {
    {ULNA_FORMAT_C3D, 0, 1},
    {ULNA_FORMAT_TRC, 0, 0},
    {ULNA_FORMAT_CSV, 0, 0},
    {ULNA_FORMAT_GLTF, 0, 1},
    {ULNA_FORMAT_GLB, 0, 1},
};
// clang-format on

enum { MOST_FRAMES = 120 }; /* of one take: long ones show nothing that these do not */

#define COUNT(list) (sizeof(list) / sizeof *(list))

static ulna_text written(const char *name, ulna_format format, const ulna_model *model, const ulna_clip *clip,
                         const ulna_recording *recording)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    ulna_error error;
    const ulna_content no_file = ulna_content_empty(NULL);
    const ulna_write_options options = ulna_write_options_for(&no_file, format);
    if (ulna_content_write(format, model, clip, recording, &options, &sink, NULL, &error) != ULNA_OK)
        fail_msg("%s as %s: %s", name, ulna_format_name(format), error.message);
    return text;
}

static ulna_content read_back(const char *name, ulna_format format, const ulna_text *text, const ulna_content *skeleton)
{
    ulna_content content = ulna_content_empty(NULL);
    ulna_read_options options = ulna_read_options_for(skeleton);
    ulna_error error;
    assert_int_equal(ulna_format_sniff(text->data, text->length), format);
    if (ulna_content_read(text->data, text->length, ULNA_FORMAT_UNKNOWN, &options, &content, &error) != ULNA_OK)
        fail_msg("%s as %s:%d: %s", name, ulna_format_name(format), error.line, error.message);
    return content;
}

static void assert_same_bytes(const char *name, ulna_format format, const ulna_text *a, const ulna_text *b)
{
    size_t at = 0;
    while (at < a->length && at < b->length && a->data[at] == b->data[at])
        at++;
    if (at < a->length || at < b->length)
        fail_msg("%s as %s: a second pass changes byte %zu of %zu, %.*s|%.20s", name, ulna_format_name(format), at,
                 a->length, 20, a->data + (at < 20 ? 0 : at - 20), a->data + at);
}

/* ---- poses ----------------------------------------------------------------------------------------------------------- */

/* The body of the same name; the root may be called otherwise, and Acclaim knows no bone called End. */
static int same_body(const ulna_model *model, int body, const ulna_model *other)
{
    char name[300];
    int found = body ? ulna_model_find_body(other, ulna_model_body_name(model, body)) : 0;
    snprintf(name, sizeof name, "_%s", ulna_model_body_name(model, body));
    found = found < 0 ? ulna_model_find_body(other, name) : found;
    if (found < 0)
        fail_msg("body '%s' is lost", name + 1);
    return found;
}

/* The largest distance of a body from where the other skeleton has it. */
static double bodies_apart(const ulna_model *model, const ulna_clip *clip, const ulna_model *other,
                           const ulna_clip *its)
{
    ulna_pose *one, *two;
    double largest = 0;
    int count = ulna_model_body_count(model), *same = calloc((size_t)count, sizeof *same);
    assert_non_null(same);
    for (int b = 0; b < count; b++)
        same[b] = same_body(model, b, other);
    assert_int_equal(its->frame_count, clip->frame_count);
    assert_int_equal(ulna_pose_create(model, NULL, &one, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_create(other, NULL, &two, NULL), ULNA_OK);
    for (int f = 0; f < clip->frame_count; f++) {
        assert_int_equal(ulna_pose_forward(one, ulna_clip_frame(clip, f)), ULNA_OK);
        assert_int_equal(ulna_pose_forward(two, ulna_clip_frame(its, f)), ULNA_OK);
        for (int b = 0; b < count; b++) {
            double p[3], q[3];
            ulna_pose_body(one, b, p, NULL);
            ulna_pose_body(two, same[b], q, NULL);
            for (int k = 0; k < 3; k++)
                largest = fmax(largest, fabs(p[k] - q[k]));
        }
    }
    free(same);
    ulna_pose_destroy(one);
    ulna_pose_destroy(two);
    return largest;
}

/* ---- jumps ----------------------------------------------------------------------------------------------------------- */

static double nearest_turn(double angle, double near)
{
    return angle + 2 * ULNA_PI * round((near - angle) / (2 * ULNA_PI));
}

/* How much nearer to the frame before the angles of the same rotations could be: whole turns, and the other family. */
static double needless(const ulna_joint_plan *plan, const double *before, const double *q)
{
    double other[7], own = 0, turned = 0, changed = 0;
    int turn[3];
    if (!ulna_joint_three_turns(plan, turn) || !ulna_joint_other_family(plan, q, other))
        return 0;
    for (int n = 0; n < 3; n++) {
        double here = before[turn[n]];
        own += (q[turn[n]] - here) * (q[turn[n]] - here);
        turned += pow(nearest_turn(q[turn[n]], here) - here, 2);
        changed += pow(nearest_turn(other[turn[n]], here) - here, 2);
    }
    return sqrt(own) - sqrt(fmin(turned, changed));
}

static void check_jumps(const char *name, ulna_format format, const ulna_model *model, const ulna_clip *clip)
{
    for (int b = 0; b < ulna_model_body_count(model); b++) {
        ulna_joint_plan plan;
        int at;
        ulna_joint_resolve(ulna_model_body_joint(model, b), &plan, NULL);
        ulna_model_body_coordinates(model, b, &at);
        for (int f = 1; f < clip->frame_count; f++) {
            double over = needless(&plan, ulna_clip_frame(clip, f - 1) + at, ulna_clip_frame(clip, f) + at);
            if (over > 1e-6)
                fail_msg("%s as %s: in frame %d angles of '%s' jump by %g degrees that they need not", name,
                         ulna_format_name(format), f, ulna_model_body_name(model, b), over * 180 / ULNA_PI);
        }
    }
}

/* ---- kinds of ball joints ---------------------------------------------------------------------------------------------- */

static void check_balls(const char *name, const ulna_model *model, const ulna_clip *clip)
{
    for (ulna_ball ball = ULNA_BALL_QUATERNION; ball <= ULNA_BALL_SWING_TWIST; ball++) {
        ulna_model *turned;
        ulna_clip its = ulna_clip_empty(NULL), back = ulna_clip_empty(NULL);
        ulna_error error;
        if (ulna_model_with_balls(model, ball, NULL, &turned, NULL, &error) != ULNA_OK ||
            ulna_clip_convert(model, clip, turned, &its, &error) != ULNA_OK ||
            ulna_clip_convert(turned, &its, model, &back, &error) != ULNA_OK)
            fail_msg("%s as balls of kind %d: %s", name, (int)ball, error.message);
        double there = bodies_apart(model, clip, turned, &its), again = bodies_apart(model, clip, model, &back);
        if (!(there < 1e-11 && again < 1e-11))
            fail_msg("%s as balls of kind %d: bodies are up to %g m apart, and %g m back again", name, (int)ball, there,
                     again);
        ulna_clip_release(&its);
        ulna_clip_release(&back);
        ulna_model_destroy(turned);
    }
}

/* ---- motions --------------------------------------------------------------------------------------------------------- */

/* For AMC: the ASF of the same skeleton, written and read back. */
static ulna_content other_skeleton(const char *name, const ulna_model *model)
{
    ulna_text text = written(name, ULNA_FORMAT_ASF, model, NULL, NULL);
    ulna_content content = read_back(name, ULNA_FORMAT_ASF, &text, NULL);
    ulna_text again = written(name, ULNA_FORMAT_ASF, content.model, NULL, NULL);
    assert_same_bytes(name, ULNA_FORMAT_ASF, &text, &again);
    ulna_text_release(&text);
    ulna_text_release(&again);
    return content;
}

static void check_motion(const char *name, const target *t, const ulna_content *skeleton, const ulna_clip *clip)
{
    ulna_content asf = ulna_content_empty(NULL);
    if (t->format == ULNA_FORMAT_AMC)
        asf = other_skeleton(name, skeleton->model);
    ulna_text once = written(name, t->format, skeleton->model, clip, NULL);
    ulna_content first = read_back(name, t->format, &once, asf.model ? &asf : skeleton);
    const ulna_model *model = first.model ? first.model : asf.model ? asf.model : skeleton->model;
    double apart = bodies_apart(skeleton->model, clip, model, &first.clip), most = t->is_single ? 5e-6 : 1e-10;
    if (!(apart <= most))
        fail_msg("%s as %s: bodies are up to %g m apart", name, ulna_format_name(t->format), apart);
    int is_timed = clip->frame_seconds > 0 && (clip->frame_count > 1 || /* one row has no step */
                                               (t->format != ULNA_FORMAT_MOT && t->format != ULNA_FORMAT_CSV));
    if (is_timed && first.clip.frame_seconds != clip->frame_seconds)
        fail_msg("%s as %s: %.17g s between frames, not %.17g", name, ulna_format_name(t->format),
                 first.clip.frame_seconds, clip->frame_seconds);
    check_jumps(name, t->format, model, &first.clip);
    ulna_text twice = written(name, t->format, model, &first.clip, NULL);
    assert_same_bytes(name, t->format, &once, &twice);
    ulna_text_release(&once);
    ulna_text_release(&twice);
    ulna_content_release(&first);
    ulna_content_release(&asf);
}

/* Whole takes where angles are made anew; of those formats that have the joints' own values, a part will do. */
static void check_motions(const char *name, const ulna_content *skeleton, ulna_clip *clip)
{
    assert_int_equal(ulna_clip_unwind(skeleton->model, clip), ULNA_OK);
    check_motion(name, &motion_targets[0], skeleton, clip);
    check_motion(name, &motion_targets[1], skeleton, clip);
    if (clip->frame_count > MOST_FRAMES)
        assert_int_equal(ulna_clip_resize(clip, clip->coordinate_count, MOST_FRAMES), ULNA_OK);
    for (size_t i = 2; i < COUNT(motion_targets); i++)
        check_motion(name, &motion_targets[i], skeleton, clip);
    check_balls(name, skeleton->model, clip);
}

static void motions_go_into_every_format_and_back(void **state)
{
    (void)state;
    ulna_test_recorded list = {0};
    int motions = 0;
    for (size_t i = 0; i < COUNT(folders); i++)
        ulna_test_recorded_add(&list, folders[i]);
    for (size_t i = 0; i < list.count; i++) {
        ulna_content skeleton, content;
        ulna_error error;
        ulna_format format = ulna_format_of_name(list.names[i]);
        if (format != ULNA_FORMAT_AMC && format != ULNA_FORMAT_BVH)
            continue;
        assert_int_equal(ulna_test_recorded_read(list.names[i], &skeleton, &content, &error), ULNA_OK);
        check_motions(list.names[i], skeleton.model ? &skeleton : &content, &content.clip);
        ulna_content_release(&content);
        ulna_content_release(&skeleton);
        motions++;
    }
    print_message("%d motions as %zu formats\n", motions, COUNT(motion_targets));
    assert_true(motions >= 34);
    ulna_test_recorded_release(&list);
}

/* ---- markers --------------------------------------------------------------------------------------------------------- */

static double markers_apart(const ulna_recording *a, const ulna_recording *b)
{
    double largest = 0;
    assert_int_equal(a->marker_count, b->marker_count);
    assert_int_equal(a->frame_count, b->frame_count);
    for (int m = 0; m < a->marker_count; m++)
        assert_string_equal(a->names[m], b->names[m]);
    for (size_t i = 0; i < 3 * (size_t)a->marker_count * (size_t)a->frame_count; i++) {
        assert_int_equal(isnan(a->positions[i]), isnan(b->positions[i]));
        if (!isnan(a->positions[i]))
            largest = fmax(largest, fabs(a->positions[i] - b->positions[i]));
    }
    return largest;
}

static double farthest(const ulna_recording *r)
{
    double largest = 0;
    for (size_t i = 0; i < 3 * (size_t)r->marker_count * (size_t)r->frame_count; i++)
        largest = fmax(largest, fabs(r->positions[i]));
    return largest;
}

static void check_markers(const char *name, const target *t, const ulna_recording *recording)
{
    ulna_text once = written(name, t->format, NULL, NULL, recording);
    ulna_content first = read_back(name, t->format, &once, NULL);
    double apart = markers_apart(recording, &first.recording), most = t->is_single ? 1.2e-7 * farthest(recording) : 0;
    if (!(apart <= most))
        fail_msg("%s as %s: markers are up to %g m apart", name, ulna_format_name(t->format), apart);
    assert_int_equal(first.recording.first_frame, /* C3D counts from 1 */
                     t->format == ULNA_FORMAT_C3D && recording->first_frame < 1 ? 1 : recording->first_frame);
    double step = recording->frame_seconds, most_step = t->format == ULNA_FORMAT_C3D ? 1e-7 * step : 0;
    int is_timed = step > 0 && (recording->frame_count > 1 || t->format != ULNA_FORMAT_CSV); /* one row has no step */
    if (is_timed && !(fabs(first.recording.frame_seconds - step) <= most_step))
        fail_msg("%s as %s: %.17g s between frames", name, ulna_format_name(t->format), first.recording.frame_seconds);
    ulna_text twice = written(name, t->format, NULL, NULL, &first.recording);
    assert_same_bytes(name, t->format, &once, &twice);
    ulna_text_release(&once);
    ulna_text_release(&twice);
    ulna_content_release(&first);
}

static void markers_go_into_every_format_and_back(void **state)
{
    (void)state;
    ulna_test_recorded list = {0};
    int recordings = 0;
    for (size_t i = 0; i < COUNT(folders); i++)
        ulna_test_recorded_add(&list, folders[i]);
    for (size_t i = 0; i < list.count; i++) {
        ulna_content skeleton, content;
        ulna_error error;
        ulna_format format = ulna_format_of_name(list.names[i]);
        if (format != ULNA_FORMAT_C3D && format != ULNA_FORMAT_TRC && format != ULNA_FORMAT_CSV)
            continue;
        ulna_status status = ulna_test_recorded_read(list.names[i], &skeleton, &content, &error);
        if (status == ULNA_OK && content.recording.marker_count) { /* test_data_files.c knows what is refused */
            if (content.recording.frame_count > MOST_FRAMES)
                assert_int_equal(ulna_recording_resize(&content.recording, content.recording.marker_count, MOST_FRAMES),
                                 ULNA_OK);
            for (size_t k = 0; k < COUNT(marker_targets); k++)
                check_markers(list.names[i], &marker_targets[k], &content.recording);
            recordings++;
        }
        ulna_content_release(&content);
        ulna_content_release(&skeleton);
    }
    print_message("%d recordings as %zu formats\n", recordings, COUNT(marker_targets));
    assert_true(recordings >= 44);
    ulna_test_recorded_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ulna_test_needs("bvh c3d cmu hand hdm05 trc urdf", cmocka_unit_test(motions_go_into_every_format_and_back)),
        ulna_test_needs("bvh c3d cmu hand hdm05 trc urdf", cmocka_unit_test(markers_go_into_every_format_and_back)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
