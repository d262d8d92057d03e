/*
 * The built-in take, from `ulna sample` to `ulna solve`, as `make run` does it: the recording is spoilt as it says, the solve
 * tells what was spoilt, and the joints are where the take was made from.
 *
 * What is wrong with the take is read from the take itself, against the true motion: not from the code that made it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mocap/take.h"
#include "support_tool.h"
#include "ulna/kinematics.h"
#include "ulna/mocap.h"

#define NOISE_M 0.001 /* standard deviation of a marker, along each axis */

enum { FRAMES = 720, MARKERS = 41 };

/* Skeleton, true motion, recording and attachment, as files say them. */
typedef struct sample {
    ulna_content skeleton, truth, take;
    ulna_marker_set set;
    ulna_pose *pose;
} sample;

static void load(const ulna_test_tool *tool, const char *name, const ulna_content *skeleton, ulna_content *content)
{
    char path[128];
    ulna_error error;
    ulna_read_options options = ulna_read_options_for(skeleton);
    *content = ulna_content_empty(NULL);
    if (ulna_content_load(ulna_test_path(path, sizeof path, tool->folder, name), skeleton ? &options : NULL, content,
                          &error))
        fail_msg("%s: %s", name, error.message);
}

static sample open_sample(ulna_test_tool *tool)
{
    sample s = {.set = ulna_marker_set_empty(NULL)};
    assert_int_equal(ulna_test_tool_run(tool, "sample --only walk ."), 0);
    load(tool, "human.asf", NULL, &s.skeleton);
    load(tool, "walk-true.amc", &s.skeleton, &s.truth);
    load(tool, "walk.c3d", NULL, &s.take);
    char *table = ulna_test_tool_file(tool, "walk-markers.csv");
    assert_int_equal(ulna_marker_set_read_csv(table, strlen(table), s.skeleton.model, &s.set, NULL), ULNA_OK);
    free(table);
    assert_int_equal(ulna_pose_create(s.skeleton.model, NULL, &s.pose, NULL), ULNA_OK);
    assert_int_equal(s.truth.clip.frame_count, FRAMES);
    assert_int_equal(s.take.recording.frame_count, FRAMES);
    assert_int_equal(s.take.recording.marker_count, MARKERS);
    assert_int_equal(s.set.count, MARKERS);
    assert_near(s.take.recording.frame_seconds, 1.0 / 120, 1e-9);
    return s;
}

static void close_sample(sample *s)
{
    ulna_pose_destroy(s->pose);
    ulna_marker_set_release(&s->set);
    ulna_content_release(&s->take);
    ulna_content_release(&s->truth);
    ulna_content_release(&s->skeleton);
}

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* Where the true motion has the markers, in the order of the recording. */
static void true_markers(sample *s, int frame, double places[][3])
{
    assert_int_equal(ulna_pose_forward(s->pose, ulna_clip_frame(&s->truth.clip, frame)), ULNA_OK);
    for (size_t i = 0; i < s->set.count; i++) {
        int m = ulna_recording_find(&s->take.recording, s->set.items[i].marker);
        assert_true(m != ULNA_NONE);
        ulna_pose_point(s->pose, s->set.items[i].body, s->set.items[i].offset, places[m]);
    }
}

static const double *seen_at(const sample *s, int frame, int marker)
{
    return ulna_recording_frame(&s->take.recording, frame) + 3 * marker;
}

/* ---- the take --------------------------------------------------------------------------------------------------- */

static void bytes_are_the_same_every_time(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "sample one"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "sample two"), 0);
    ulna_test_tool_shell(tool, "test $(ls one | wc -l) = 10 && diff -r one two");
    assert_int_equal(ulna_test_tool_run(tool, "sample --only walk one"), 0);
    ulna_test_says(tool->out, "walk.c3d: unchanged");
    ulna_test_tool_shell(tool, "echo mine >one/walk.c3d");
    assert_int_equal(ulna_test_tool_run(tool, "sample one"), 1);
    ulna_test_says(tool->err, "one/walk.c3d: exists with different contents and is kept");
    assert_int_equal(ulna_test_tool_run(tool, "sample --force one"), 0);
    ulna_test_tool_shell(tool, "diff -r one two");
    assert_int_equal(ulna_test_tool_run(tool, "sample --only wlak d"), 2);
    ulna_test_says(tool->err, "did you mean 'walk'?");
}

/* Smooth, inside the limits, with the feet on the floor. */
static void motion_is_a_motion(void **state)
{
    ulna_test_tool *tool = *state;
    sample s = open_sample(tool);
    const ulna_model *model = s.skeleton.model;
    const double *lower = ulna_model_lower(model), *upper = ulna_model_upper(model);
    double jump = 0, low = INFINITY;
    for (int f = 0; f < FRAMES; f++) {
        const double *q = ulna_clip_frame(&s.truth.clip, f);
        for (int d = 0; d < ulna_model_dof_count(model); d++) {
            double value = q[ulna_model_dof_coordinate(model, d)];
            if (value < lower[d] || value > upper[d])
                fail_msg("frame %d: degree of freedom %d is outside its limits", f + 1, d);
            if (f >= 2 && d >= 6) {
                int c = ulna_model_dof_coordinate(model, d);
                double bend =
                    q[c] - 2 * ulna_clip_frame(&s.truth.clip, f - 1)[c] + ulna_clip_frame(&s.truth.clip, f - 2)[c];
                jump = fmax(jump, fabs(bend));
            }
        }
        double places[MARKERS][3] = {{0}};
        true_markers(&s, f, places);
        low = fmin(low, places[ulna_recording_find(&s.take.recording, "LTOE")][1]);
    }
    assert_true(jump < 0.02); /* rad: of one frame against the course of the two before: no kink */
    assert_true(low > 0 && low < 0.1);
    close_sample(&s);
}

static int is_missing(const sample *s, int frame, int marker)
{
    return isnan(seen_at(s, frame, marker)[0]);
}

static int frame_is_empty(const sample *s, int frame)
{
    for (int m = 0; m < MARKERS; m++)
        if (!is_missing(s, frame, m))
            return 0;
    return 1;
}

static int arm_is_missing(const sample *s, int frame)
{
    static const char *const names[] = {"LUPA", "LELB", "LFRM", "LWRA", "LWRB", "LFIN"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!is_missing(s, frame, ulna_recording_find(&s->take.recording, names[i])))
            return 0;
    return 1;
}

/* Markers that are nearer to the other knee than to their own. */
static int knees_are_swapped(sample *s, int frame, double places[][3])
{
    int l = ulna_recording_find(&s->take.recording, "LKNE"), r = ulna_recording_find(&s->take.recording, "RKNE");
    return distance(seen_at(s, frame, l), places[r]) < 0.02 || distance(seen_at(s, frame, r), places[l]) < 0.02;
}

static void recording_is_spoilt_as_it_says(void **state)
{
    sample s = open_sample(*state);
    double squares = 0;
    long long seen = 0;
    for (int f = 0; f < FRAMES; f++) {
        double places[MARKERS][3] = {{0}};
        true_markers(&s, f, places);
        int number = f + 1, swapped = knees_are_swapped(&s, f, places);
        assert_int_equal(frame_is_empty(&s, f), number >= 420 && number <= 427);
        assert_int_equal(arm_is_missing(&s, f), (number >= 260 && number <= 295) || (number >= 420 && number <= 427));
        assert_int_equal(swapped, number >= 180 && number <= 215);
        for (int m = 0; m < MARKERS; m++) {
            double d = distance(seen_at(&s, f, m), places[m]);
            if (isnan(d) || (swapped && d > 0.02))
                continue;
            assert_true(d < 6 * NOISE_M);
            squares += d * d;
            seen++;
        }
    }
    assert_near(sqrt(squares / (3.0 * (double)seen)), NOISE_M, 0.02 * NOISE_M);
    long long missing = ulna_recording_missing(&s.take.recording);
    assert_true(missing > FRAMES * MARKERS / 25 && missing < FRAMES * MARKERS / 10);
    close_sample(&s);
}

/* ---- the solve ---------------------------------------------------------------------------------------------------- */

static json_t *solve(ulna_test_tool *tool)
{
    int code =
        ulna_test_tool_run(tool, "solve --json --skeleton human.asf --markers walk.c3d --attach walk-markers.csv "
                                 "-o walk.amc -o walk.bvh -o walk.glb --report report.html");
    if (code)
        fail_msg("exit code %d: %s", code, tool->err);
    return ulna_test_tool_json(tool);
}

/* Frames that some range of `--json` names. */
static int count_marked(json_t *ranges)
{
    unsigned char is_marked[FRAMES + 1] = {0};
    const char *mark;
    json_t *list, *range;
    size_t i;
    int count = 0;
    json_object_foreach(ranges, mark, list)
    {
        json_array_foreach(list, i, range)
        {
            for (long long f = json_integer_value(json_array_get(range, 0));
                 f <= json_integer_value(json_array_get(range, 1)); f++)
                is_marked[f] = 1;
        }
    }
    for (int f = 1; f <= FRAMES; f++)
        count += is_marked[f];
    return count;
}

/* What was spoilt is told. */
static void defects_are_reported(void **state)
{
    ulna_test_tool *tool = *state;
    sample s = open_sample(tool);
    json_t *object = solve(tool), *swaps = json_object_get(object, "swaps"), *swap = json_array_get(swaps, 0);
    assert_int_equal(integer(object, "frames"), FRAMES);
    assert_int_equal(integer(object, "empty"), 8);
    assert_int_equal(integer(object, "lost"), 0);
    assert_int_equal(integer(object, "missing_markers"), ulna_recording_missing(&s.take.recording));
    assert_int_equal(integer(object, "outlier_frames"), 36);
    assert_int_equal(json_array_size(swaps), 1);
    json_t *names = json_object_get(swap, "markers");
    assert_string_equal(json_string_value(json_array_get(names, 0)), "LKNE");
    assert_string_equal(json_string_value(json_array_get(names, 1)), "RKNE");
    assert_int_equal(integer(swap, "first"), 180);
    assert_int_equal(integer(swap, "last"), 215);
    assert_int_equal(integer(object, "frames_unmarked"), FRAMES - count_marked(json_object_get(object, "ranges")));
    json_decref(object);
    char *page = ulna_test_tool_file(tool, "report.html");
    ulna_test_says(page,
                   "<p>This is the built-in take, which is damaged on purpose. Found: 8 frames without a marker, ");
    ulna_test_says(page, "LKNE and RKNE in <a href=\"#player\" data-frame=\"180\">180–215</a>");
    ulna_test_says(page, "<a href=\"#player\" data-frame=\"420\">420–427</a></dd>");
    free(page);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human.asf -m walk.c3d -a walk-markers.csv"), 0);
    ulna_test_says(tool->out, "verdict   look at it before you use it: ");
    assert_null(strstr(tool->out, "doubtful")); /* the swap explains the error, and all other markers fit */
    ulna_test_says(tool->out, "swapped   LKNE and RKNE in frames 180 to 215");
    ulna_test_says(tool->out, "empty     8 frames: 420 to 427");
    (void)ulna_test_tool_run(tool,
                             "solve -s human.asf -m walk.c3d -a walk-markers.csv --up z --no-checks --frames 1:20");
    ulna_test_says(tool->out, "the recording states that y is up; --up z is used instead");
    close_sample(&s);
}

/* The first lines of a solve say that the take is damaged, in whatever file it is; and of no other take. */
static void damage_is_announced(void **state)
{
    ulna_test_tool *tool = *state;
    const char *first = "This is the built-in take, which is damaged on purpose. Found: 8 frames without\n"
                        "a marker, ";
    assert_int_equal(ulna_test_tool_run(tool, "sample --only walk ."), 0);
    ulna_test_says(tool->out, "damaged on purpose");
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human.asf -m walk.c3d -a walk-markers.csv"), 0);
    assert_memory_equal(tool->out, first, strlen(first));
    ulna_test_says(tool->out, " frames without the markers of a limb, 36 frames with exchanged\nmarkers.\nwalk.c3d: ");
    assert_int_equal(ulna_test_tool_run(tool, "info walk.c3d"), 0);
    ulna_test_says(tool->out, "note      this is the built-in take, which is damaged on purpose");
    assert_int_equal(ulna_test_tool_run(tool, "convert walk.c3d -o walk.trc"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human.asf -m walk.trc -a walk-markers.csv --frames 1:20"), 0);
    ulna_test_says(tool->out, "This is the built-in take, which is damaged on purpose.\nwalk.trc: ");
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human.asf -m walk.c3d -a walk-markers.csv -o clean.trc"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human.asf -m clean.trc -a walk-markers.csv"), 0);
    assert_memory_equal(tool->out, "clean.trc: 720 frames", strlen("clean.trc: 720 frames"));
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human.asf -m clean.trc -a walk-markers.csv --json"), 0);
    assert_null(strstr(tool->out, "\"sample\""));
}

static void files_read_back(void **state)
{
    ulna_test_tool *tool = *state;
    sample s = open_sample(tool);
    ulna_content amc, bvh, glb;
    json_decref(solve(tool));
    load(tool, "walk.amc", &s.skeleton, &amc);
    load(tool, "walk.bvh", NULL, &bvh);
    load(tool, "walk.glb", NULL, &glb);
    assert_int_equal(amc.clip.frame_count, FRAMES);
    assert_int_equal(bvh.clip.frame_count, FRAMES);
    assert_int_equal(glb.clip.frame_count, FRAMES);
    assert_near(bvh.clip.frame_seconds, 1.0 / 120, 1e-6);
    assert_non_null(bvh.model);
    assert_non_null(glb.model);
    ulna_content_release(&amc);
    ulna_content_release(&bvh);
    ulna_content_release(&glb);
    close_sample(&s);
}

static int is_one_of(const ulna_model *model, int body, const char *const names[])
{
    for (int i = 0; names[i]; i++)
        if (strstr(ulna_model_body_name(model, body), names[i]))
            return 1;
    return 0;
}

typedef struct deviation {
    double squares, worst;
    int count;
} deviation;

static void add(deviation *of, double distance)
{
    of->squares += distance * distance;
    of->worst = fmax(of->worst, distance);
    of->count++;
}

/*
 * Joints against the truth. A marker is off by sqrt(3) NOISE_M = 1.73 mm (root mean square). A joint is held by the markers of
 * several bones: it may be off by as much as one marker, over the take, and in its worst frame by six times that. Two kinds
 * have no such bound. Joints that markers do not determine: hand, fingers and thumb have five freedoms and one marker, and
 * the spine bends in three places under five markers. And what was not seen: the arm below the shoulder while all its
 * markers are gone (0.3 s), and the empty frames, which are filled in over 9 frames, in
 * which a foot swings: 3 cm.
 */
static void joints_are_where_they_were(void **state)
{
    static const char *const loose[] = {"fingers", "thumb", "middle_spine", NULL};
    static const char *const arm[] = {"left_forearm", "left_hand", NULL};
    ulna_test_tool *tool = *state;
    sample s = open_sample(tool);
    const ulna_model *model = s.skeleton.model;
    ulna_content solved;
    ulna_pose *pose;
    json_decref(solve(tool));
    load(tool, "walk.amc", &s.skeleton, &solved);
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    deviation seen[64] = {{0}}, filled = {0};
    int bodies = ulna_model_body_count(model);
    assert_true(bodies <= 64);
    for (int f = 0; f < FRAMES; f++) {
        int is_empty = frame_is_empty(&s, f), is_armless = arm_is_missing(&s, f);
        assert_int_equal(ulna_pose_forward(s.pose, ulna_clip_frame(&s.truth.clip, f)), ULNA_OK);
        assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&solved.clip, f)), ULNA_OK);
        for (int b = 0; b < bodies; b++) {
            double is[3], was[3];
            ulna_pose_body(pose, b, is, NULL);
            ulna_pose_body(s.pose, b, was, NULL);
            if (!is_one_of(model, b, loose) && (is_empty || !is_armless || !is_one_of(model, b, arm)))
                add(is_empty ? &filled : &seen[b], distance(is, was));
        }
    }
    const double marker = sqrt(3.0) * NOISE_M;
    for (int b = 0; b < bodies; b++) {
        double rms = seen[b].count ? sqrt(seen[b].squares / seen[b].count) : 0;
        if (rms > marker || seen[b].worst > 6 * marker)
            fail_msg("%s is off by %.2f mm (rms), %.2f mm at most", ulna_model_body_name(model, b), 1e3 * rms,
                     1e3 * seen[b].worst);
    }
    assert_int_equal(filled.count, 8 * 26);
    if (filled.worst > 0.03)
        fail_msg("%.1f mm in empty frames", 1e3 * filled.worst);
    ulna_pose_destroy(pose);
    ulna_content_release(&solved);
    close_sample(&s);
}

/* The same files for other threads, and beside other takes. */
static void threads_and_company_do_not_matter(void **state)
{
    ulna_test_tool *tool = *state;
    sample s = open_sample(tool);
    close_sample(&s);
    ulna_test_tool_shell(tool, "cp walk.c3d b.c3d; cp walk.c3d c.c3d");
    assert_int_equal(ulna_test_tool_run(tool, "solve -q -s human.asf -a walk-markers.csv --threads 1 -m walk.c3d "
                                              "-o alone/ --report alone/"),
                     0);
    assert_int_equal(ulna_test_tool_run(tool, "solve -q -s human.asf -a walk-markers.csv --threads 3 -o out/ -m "
                                              "c.c3d walk.c3d b.c3d"),
                     0);
    ulna_test_tool_shell(
        tool, "test -s alone/walk.html; for i in walk b c; do cmp alone/walk.amc out/$i.amc || exit 1; done");
}

/* ---- the guide (a browser: tests/tools/report_page.sh) --------------------------------------------------------------------------------------- */

/* Every block of commands in docs/guide.md, one after the other, as somebody who reads it would run them. */
static void guide_runs_as_written(void **state)
{
    ulna_test_tool_shell(
        *state, "mkdir bin; ln -s '" ULNA_TEST_CLI "' bin/ulna; PATH=$PWD/bin:$PATH; export PATH;"
                "sed -n '/^```sh$/,/^```$/{/^```/d;p}' '" ULNA_SOURCE_DIR "/docs/guide.md' >guide.sh;"
                "test $(wc -l <guide.sh) -ge 8 && sh -e guide.sh >out 2>err || { cat out err; exit 1; };"
                "grep -q 'swapped   LKNE and RKNE in frames 180 to 215' out && cd first &&"
                "test -s walk.amc -a -s walk.glb -a -s walk.html -a -s mine.csv -a -s walk.bvh -a -s walk.trc &&"
                "cmp solved/walk.amc walk.amc && cmp solved/walk.bvh solved/again.bvh && test -s solved/again.html");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, ulna_test_tool_open, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(bytes_are_the_same_every_time),
        TEST(motion_is_a_motion),
        TEST(recording_is_spoilt_as_it_says),
        TEST(defects_are_reported),
        TEST(damage_is_announced),
        TEST(files_read_back),
        TEST(joints_are_where_they_were),
        TEST(threads_and_company_do_not_matter),
        TEST(guide_runs_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
