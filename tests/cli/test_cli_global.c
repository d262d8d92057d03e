/* `ulna global`, run as its users run it: goals of all kinds, what is proven about them, files, JSON, bad input. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "support_cli.h"
#include "support_tool.h"
#include "ulna/ulna.h"

#define PI 3.14159265358979323846

/* ---- what came out ----------------------------------------------------------------------------------------------- */

static json_t *run(const char *arguments)
{
    int code = ulna_test_cli(arguments);
    if (code)
        fail_msg("exit code %d: %s", code, ulna_test_cli_err());
    assert_string_equal(ulna_test_cli_err(), "");
    return ulna_test_cli_json();
}

static double real(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_real(value))
        fail_msg("%s is not a real number", key);
    return json_real_value(value);
}

static int is(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value))
        fail_msg("%s is neither true nor false", key);
    return json_is_true(value);
}

static json_t *frame_of(json_t *object, size_t index)
{
    json_t *frame = json_array_get(json_object_get(object, "frames"), index);
    assert_true(json_is_object(frame));
    return frame;
}

static json_t *goal_of(json_t *object, size_t index)
{
    return json_array_get(json_object_get(frame_of(object, 0), "goals"), index);
}

/* How far the marker of a one-marker sample is from a place, at the q of the answer, by forward kinematics. */
static double distance_from(const char *sample, json_t *object, const double place[3])
{
    ulna_model *model = NULL;
    ulna_pose *pose = NULL;
    double point[3], here[3], q[16];
    json_t *list = json_object_get(frame_of(object, 0), "q");
    assert_int_equal(ulna_sample_create(sample, NULL, &model, NULL), ULNA_OK);
    assert_int_equal(json_array_size(list), ulna_model_coordinate_count(model));
    for (size_t i = 0; i < json_array_size(list); i++)
        q[i] = json_real_value(json_array_get(list, i));
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
    assert_int_equal(ulna_model_marker_position(model, 0, point), ULNA_OK);
    ulna_pose_point(pose, ulna_model_marker_body(model, 0), point, here);
    ulna_pose_destroy(pose);
    ulna_model_destroy(model);
    return sqrt((here[0] - place[0]) * (here[0] - place[0]) + (here[1] - place[1]) * (here[1] - place[1]) +
                (here[2] - place[2]) * (here[2] - place[2]));
}

/* ---- goals that can be met, and others ------------------------------------------------------------------------------ */

static void reachable_goals_are_proven(void **state)
{
    (void)state;
    const double place[3] = {0.3, 0.2, 0.5};
    json_t *object = run("global arm --json --goal 'tool 0.3 0.2 0.5'");
    assert_true(is(object, "proven"));
    assert_false(is(object, "unreachable"));
    assert_true(real(object, "cost") < 1e-16);
    assert_true(real(object, "lower_bound") == 0);
    assert_true(real(object, "gap") == real(object, "cost"));
    assert_true(distance_from("arm", object, place) < 1e-8);
    json_decref(object);
    assert_int_equal(ulna_test_cli("global arm --goal 'tool 0.3 0.2 0.5'"), 0);
    ulna_test_assert_says(ulna_test_cli_out(), "the goals are met");
}

/* The least cost of many random poses inside the limits. */
static double least_of_many(const char *sample, const double place[3], int count)
{
    ulna_model *model = NULL;
    ulna_problem *problem = NULL;
    ulna_work *work = NULL;
    double point[3], q[16], least = INFINITY, f;
    ulna_test_rng random = ulna_test_rng_seed(7);
    assert_int_equal(ulna_sample_create(sample, NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_model_marker_position(model, 0, point), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(problem, ulna_model_marker_body(model, 0), point, place, 1, NULL, NULL),
                     ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(problem, NULL, &work, NULL), ULNA_OK);
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < ulna_model_dof_count(model); i++) {
            double low = fmax(-PI, ulna_model_lower(model)[i]), high = fmin(PI, ulna_model_upper(model)[i]);
            q[i] = ulna_test_rng_uniform(&random, low, high);
        }
        assert_int_equal(ulna_work_evaluate(work, q, &f), ULNA_OK);
        least = fmin(least, f);
    }
    ulna_work_destroy(work);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    return least;
}

static void unreachable_goals_are_certified(void **state)
{
    (void)state;
    const double place[3] = {3, 0, 0};
    json_t *object = run("global arm --json --goal 'tool 3 0 0'");
    double cost = real(object, "cost"), bound = real(object, "lower_bound");
    double distance = distance_from("arm", object, place);
    assert_true(is(object, "proven"));
    assert_true(is(object, "unreachable"));
    assert_true(bound > 0 && bound <= cost && cost - bound <= 1e-3 * cost);
    assert_near(real(object, "gap"), cost - bound, 2e-11); /* of numbers with 12 digits */
    assert_near(cost, 0.5 * distance * distance, 1e-9);
    assert_near(real(goal_of(object, 0), "distance_mm"), 1e3 * distance, 1e-6);
    assert_near(real(frame_of(object, 0), "rms_bound_mm"), 1e3 * sqrt(2 * bound), 1e-6);
    double many = least_of_many("arm", place, 20000);
    assert_true(many >= cost && many < 1.5 * cost); /* the random poses come near, but not below */
    json_decref(object);
    assert_int_equal(ulna_test_cli("global arm --goal 'tool 3 0 0'"), 0);
    ulna_test_assert_says(ulna_test_cli_out(), "no pose is better inside the");
    ulna_test_assert_says(ulna_test_cli_out(), "the goals cannot be met: every pose is at least 2.1");
}

/* Without a relaxation nothing is known, and that is no failure. */
static void not_proven_is_told(void **state)
{
    (void)state;
    json_t *object = run("global arm --json --goal 'tool 3 0 0' --relax none --starts 16");
    assert_false(is(object, "proven"));
    assert_false(is(object, "unreachable"));
    assert_true(real(object, "lower_bound") == 0);
    assert_int_equal(ulna_test_json_integer(object, "starts"), 16);
    assert_int_equal(ulna_test_json_integer(frame_of(object, 0), "relaxations"), 0);
    assert_string_equal(ulna_test_json_string(frame_of(object, 0), "stop"), "starts");
    json_decref(object);
    assert_int_equal(ulna_test_cli("global arm --goal 'tool 3 0 0' --relax none --starts 16"), 0);
    ulna_test_assert_says(ulna_test_cli_out(), "not proven");
    ulna_test_assert_says(ulna_test_cli_out(), "not proven, since nothing bounds the cost");
    object = run("global arm --json --goal 'tool 3 0 0' --starts 1000000 --relax none --seconds 1e-9");
    assert_string_equal(ulna_test_json_string(frame_of(object, 0), "stop"), "time");
    assert_true(ulna_test_json_integer(object, "starts") < 1000000);
    json_decref(object);
}

/* Limits make the difference between within and out of reach: behind the first joint's stop. */
static void limits_are_kept_or_not(void **state)
{
    (void)state;
    ulna_test_cli_write_text("one.json",
                             "{\"format\": \"ulna-model\", \"version\": 1, \"bodies\": [{\"name\": \"link\", "
                             "\"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1]}, \"limits\": [[-1, 1]]}], "
                             "\"markers\": [{\"name\": \"tip\", \"body\": \"link\", \"position\": [1, 0, 0]}]}");
    json_t *object = run("global one.json --json --goal 'tip 0 1 0'");
    double off = 2 * sin(0.5 * (PI / 2 - 1));
    assert_near(json_real_value(json_array_get(json_object_get(frame_of(object, 0), "q"), 0)), 1, 1e-9);
    assert_near(real(object, "cost"), 0.5 * off * off, 1e-9);
    assert_true(is(object, "proven") && is(object, "unreachable"));
    json_decref(object);
    object = run("global one.json --json --goal 'tip 0 1 0' --bounds none");
    assert_true(is(object, "proven") && !is(object, "unreachable"));
    assert_true(real(object, "cost") < 1e-16);
    json_decref(object);
}

/* ---- goals of all kinds ------------------------------------------------------------------------------------------- */

static void odd_goals_are_solved(void **state)
{
    (void)state;
    /* the same place twice */
    json_t *object = run("global arm --json --goal 'tool 0.3 0.2 0.5' --goal 'tool 0.3 0.2 0.5'");
    assert_true(is(object, "proven") && !is(object, "unreachable") && real(object, "cost") < 1e-16);
    json_decref(object);
    /* two places for one marker: the middle is best, f = |a - b|^2 / 4 */
    object = run("global arm --json --goal 'tool 0.3 0.2 0.5' --goal 'tool 0.3 0.3 0.5'");
    assert_true(is(object, "proven") && is(object, "unreachable"));
    assert_near(real(object, "cost"), 0.0025, 1e-12);
    assert_near(real(frame_of(object, 0), "rms_mm"), 50, 1e-6);
    json_decref(object);
    /* weights move it: w1 w2 / (w1 + w2) |a - b|^2 / 2 */
    object = run("global arm --json --goal 'tool 0.3 0.2 0.5 3' --goal 'tool 0.3 0.3 0.5 1'");
    assert_near(real(object, "cost"), 0.75 * 0.01 / 2, 1e-12);
    assert_near(real(goal_of(object, 0), "distance_mm"), 25, 1e-6);
    assert_near(real(goal_of(object, 1), "distance_mm"), 75, 1e-6);
    json_decref(object);
    /* no weight: told, not followed */
    object = run("global arm --json --goal 'tool 0.3 0.2 0.5' --goal 'tool 3 0 0 0'");
    assert_true(is(object, "proven") && !is(object, "unreachable") && real(object, "cost") < 1e-16);
    assert_true(real(goal_of(object, 1), "distance_mm") > 2000);
    assert_true(real(frame_of(object, 0), "rms_mm") < 1e-4);
    json_decref(object);
}

/* The same goal in five spellings: the same answer, to the bit. */
static void spellings_mean_the_same(void **state)
{
    (void)state;
    static const char *const runs[] = {
        "global arm --json --goal 'tool 0.3 0.2 0.5 0 1 0 0 0.25'",
        "global arm --json --goal 'tool,0.3,0.2,0.5,0,1,0,0,0.25'",
        "global arm --json --goals a.csv",
        "global arm --json --goals b.json",
        "global arm --json --goals c.json",
        "global --skeleton arm --json --unit cm --goals d.csv",
        "global - --json --goals a.csv <arm.json",
    };
    ulna_test_cli_write_text("a.csv", "name,x,y,z,qx,qy,qz,qw,weight\ntool,0.3,0.2,0.5,0,1,0,0,0.25\n");
    ulna_test_cli_write_text("b.json", "{\"goals\": [{\"marker\": \"tool\", \"position\": [0.3, 0.2, 0.5], \"weight\": "
                                       "0.25, \"orientation\": [0, 1, 0, 0]}]}");
    ulna_test_cli_write_text("c.json", "{\"goals\": {\"tool\": {\"position\": [0.3, 0.2, 0.5], \"weight\": 0.25, "
                                       "\"orientation\": [[-1, 0, 0], [0, 1, 0], [0, 0, -1]]}}}");
    ulna_test_cli_write_text("d.csv", "tool,30,20,50,0,1,0,0,0.25\n");
    assert_int_equal(ulna_test_cli("sample --quiet --only arm ."), 0);
    json_t *first = NULL;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        json_t *object = run(runs[i]);
        assert_true(is(object, "proven"));
        assert_true(real(frame_of(object, 0), "rms_mm") < 1e-3);
        assert_true(real(frame_of(object, 0), "rms_deg") < 1e-3);
        assert_string_equal(ulna_test_json_string(goal_of(object, 0), "name"), "tool");
        assert_string_equal(ulna_test_json_string(goal_of(object, 1), "kind"), "orientation");
        if (first)
            assert_true(
                json_equal(json_object_get(frame_of(first, 0), "q"), json_object_get(frame_of(object, 0), "q")));
        else
            first = json_incref(object);
        json_decref(object);
    }
    json_decref(first);
}

/* Only how a body is turned; and a list of places by name. */
static void turns_and_named_places(void **state)
{
    (void)state;
    ulna_test_cli_write_text("turn.csv", "flange,,,,0,0,0,1\n");
    json_t *object = run("global arm --json --goals turn.csv");
    assert_true(is(object, "proven"));
    assert_true(real(frame_of(object, 0), "rms_deg") < 1e-4);
    assert_true(json_is_null(json_object_get(frame_of(object, 0), "rms_mm")));
    assert_true(json_is_null(json_object_get(frame_of(object, 0), "rms_bound_mm")));
    json_decref(object);
    ulna_test_cli_write_text("named.json",
                             "{\"goals\": {\n\"LFHD\": [0.1, 1.7, 0.1],\n\"left_hand\": [0.5, 1.2, 0.3]}}");
    object = run("global human --json --goals named.json");
    assert_true(is(object, "proven") && !is(object, "unreachable"));
    assert_string_equal(ulna_test_json_string(goal_of(object, 1), "name"), "left_hand");
    json_decref(object);
}

/* ---- threads, keys, files ------------------------------------------------------------------------------------------- */

static void remove_times(json_t *object)
{
    json_object_del(object, "ms");
    json_object_del(frame_of(object, 0), "ms");
    json_object_del(frame_of(object, 0), "relax_ms");
    json_object_del(object, "outputs");
}

static void threads_give_the_same_bytes(void **state)
{
    (void)state;
    ulna_test_cli_write_text("far.csv", "LFHD,0.4,2.5,0.1\nRFHD,0.2,1.4,0.9\nleft_hand,2,1,0\nright_foot,0,-1,0.5\n");
    json_t *first = run("global human --json --threads 1 --goals far.csv -o 1.csv -o 1.amc -o 1.glb");
    assert_true(ulna_test_json_integer(first, "starts") > 8);
    remove_times(first);
    for (int threads = 2; threads <= 5; threads += 3) {
        char arguments[128], name[16];
        snprintf(arguments, sizeof arguments,
                 "global human --json --threads %d --goals far.csv -o %d.csv -o %d.amc -o %d.glb", threads, threads,
                 threads, threads);
        json_t *object = run(arguments);
        remove_times(object);
        json_object_del(object, "notes"); /* which name the files */
        json_object_del(first, "notes");
        assert_true(json_equal(first, object));
        json_decref(object);
        snprintf(name, sizeof name, "%d.csv", threads);
        char *one = ulna_test_cli_read("1.csv"), *other = ulna_test_cli_read(name);
        assert_string_equal(one, other);
        free(one);
        free(other);
    }
    json_decref(first);
}

static void every_key_is_there(void **state)
{
    (void)state;
    static const char *const keys[] = {"skeleton",
                                       "dof",
                                       "options",
                                       "cost",
                                       "lower_bound",
                                       "gap",
                                       "proven",
                                       "unreachable",
                                       "starts",
                                       "ms",
                                       "frames",
                                       "notes",
                                       "frames_solved",
                                       "frames_proven",
                                       "frames_unreachable",
                                       "outputs",
                                       "contradicted",
                                       "frames_contradicted"};
    static const char *const of_frames[] = {
        "cost",        "lower_bound", "gap",          "gap_percent", "proven",     "unreachable", "stop",
        "rms_mm",      "rms_deg",     "rms_bound_mm", "starts",      "best_start", "relax_ms",    "from_relaxation",
        "relaxations", "iterations",  "ms",           "goals",       "q",          "goals_seen",  "rms_weighted_mm",
        "contradicted"};
    json_t *object = run("global arm --json --goal 'tool 3 0 0' --seed 4 --gap 0.01 --starts 20 --relax hull");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_non_null(json_object_get(object, keys[i]));
    assert_int_equal(json_object_size(object), sizeof keys / sizeof *keys);
    for (size_t i = 0; i < sizeof of_frames / sizeof *of_frames; i++)
        assert_non_null(json_object_get(frame_of(object, 0), of_frames[i]));
    assert_int_equal(json_object_size(frame_of(object, 0)), sizeof of_frames / sizeof *of_frames);
    json_t *options = json_object_get(object, "options");
    assert_int_equal(ulna_test_json_integer(options, "seed"), 4);
    assert_int_equal(ulna_test_json_integer(options, "starts"), 20);
    assert_string_equal(ulna_test_json_string(options, "relax"), "hull");
    assert_true(real(options, "gap") == 0.01);
    assert_int_equal(ulna_test_json_integer(object, "dof"), 7);
    assert_true(ulna_test_json_integer(object, "starts") <= 20);
    json_decref(object);
}

/* A pose that was written is the pose that was found. */
static void poses_are_written(void **state)
{
    (void)state;
    json_t *object = run("global arm --json --goal 'tool 0.3 0.2 0.5' -o a.csv -o a.bvh -o a.glb -o a.mot -o a.json");
    assert_int_equal(json_array_size(json_object_get(object, "outputs")), 5);
    json_error_t problem;
    char *text = ulna_test_cli_read("a.json");
    json_t *file = json_loads(text, 0, &problem);
    free(text);
    assert_non_null(file);
    assert_true(distance_from("arm", file, (const double[3]){0.3, 0.2, 0.5}) < 1e-8);
    assert_int_equal(json_array_size(json_object_get(frame_of(file, 0), "q")), 7);
    text = ulna_test_cli_read("a.csv");
    ulna_model *model = NULL;
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    ulna_read_options options = ulna_read_options_default();
    options.model = model;
    ulna_content content = ulna_content_empty(NULL);
    assert_int_equal(ulna_content_read(text, strlen(text), ULNA_FORMAT_CSV, &options, &content, NULL), ULNA_OK);
    assert_int_equal(content.clip.frame_count, 1);
    for (size_t i = 0; i < 7; i++)
        assert_near(content.clip.q[i], json_real_value(json_array_get(json_object_get(frame_of(file, 0), "q"), i)),
                    1e-14);
    ulna_content_release(&content);
    ulna_model_destroy(model);
    free(text);
    json_decref(file);
    json_decref(object);
    /* an answer can be the next start */
    assert_int_equal(ulna_test_cli("sample --quiet --only arm . && cp arm.json b.json"), 0);
    assert_int_equal(ulna_test_cli("global b.json --goal 'tool 3 0 0' -o b.json"), 2);
    ulna_test_assert_says(ulna_test_cli_err(), "the output 'b.json' would overwrite the input 'b.json'");
    assert_int_equal(ulna_test_cli("info --quiet b.json"), 0); /* it is still a skeleton */
    assert_int_equal(ulna_test_cli("global arm --goal 'tool 3 0 0' -o /dev/null/a.csv"), 4);
    assert_int_equal(ulna_test_cli("global arm --goal 'tool 3 0 0' -o a.c3d"), 2);
    assert_int_equal(ulna_test_cli("global arm --goal 'tool 3 0 0' -o a.xyz"), 2);
}

/* ---- recordings ---------------------------------------------------------------------------------------------------- */

static void frames_of_a_recording(void **state)
{
    (void)state;
    assert_int_equal(ulna_test_cli("sample --quiet ."), 0);
    json_t *object = run("global human --json -m walk.c3d --up y --frames 418:421 -o w.csv"), *frame;
    json_t *list = json_object_get(object, "frames");
    assert_int_equal(json_array_size(list), 4);
    double cost = 0, bound = 0;
    size_t i;
    json_array_foreach(list, i, frame)
    {
        assert_int_equal(ulna_test_json_integer(frame, "frame"), 418 + (int)i);
        assert_int_equal(json_array_size(json_object_get(frame, "goals")), 41);
        cost += real(frame, "cost");
        bound += real(frame, "lower_bound");
        if (i < 2) /* noise of 1 mm along each axis, less what 59 degrees of freedom make up for */
            assert_true(real(frame, "rms_mm") > 0.5 && real(frame, "rms_mm") < 2);
        else { /* nobody is seen from 420 on: the pose stays */
            assert_int_equal(ulna_test_json_integer(frame, "starts"), 0);
            assert_true(json_equal(json_object_get(frame, "q"), json_object_get(json_array_get(list, 1), "q")));
        }
    }
    assert_near(real(object, "cost"), cost, 1e-15);
    assert_near(real(object, "lower_bound"), bound, 1e-15);
    json_decref(object);

    object = run("global human.asf --json -m walk.c3d -a walk-markers.csv --frame 100 -o w.amc");
    assert_int_equal(ulna_test_json_integer(frame_of(object, 0), "frame"), 100);
    assert_true(real(frame_of(object, 0), "rms_mm") < 2);
    json_decref(object);
    assert_int_equal(ulna_test_cli("info human.asf w.amc"), 0);
    ulna_test_assert_says(ulna_test_cli_out(), "numbered 100 to 100");
    assert_int_equal(ulna_test_cli("global human -m walk.c3d --up y"), 0);
    ulna_test_assert_says(ulna_test_cli_out(), "only the first of 720 frames");
    /* offsets are those of the whole take, not of the frame, which would fit itself */
    object = run("global human.asf --json -m walk.c3d --reference walk-true.amc --frame 100");
    assert_true(real(frame_of(object, 0), "rms_mm") > 0.5);
    json_decref(object);
    assert_int_equal(ulna_test_cli("global human -m walk.c3d --up y --frame 721"), 3);
    ulna_test_assert_says(ulna_test_cli_err(),
                          "walk.c3d: none of the frames is in the recording, which has frames 1 to 720");
}

/* ---- bad input ------------------------------------------------------------------------------------------------------ */

/* The three programs of a goal out of reach; where SDPA is installed, their minima, which no pose can beat. */
static void programs_are_written(void **state)
{
    (void)state;
    static const char *const forms[] = {"F0", "F1", "F2"};
    int has_sdpa = system("command -v sdpa >/dev/null 2>&1") == 0;
    for (int i = 0; i < 3; i++) {
        char command[200];
        double unit, constant, minimum;
        snprintf(command, sizeof command,
                 "global --json arm --goal 'tool 1.5 1 0.2' --sdpa program.dat-s --sdpa-form %s", forms[i]);
        json_t *object = run(command);
        double cost = real(object, "cost");
        assert_string_equal(ulna_test_json_string(object, "sdpa"), "program.dat-s");
        json_decref(object);
        char *text = ulna_test_cli_read("program.dat-s");
        assert_int_equal(sscanf(text, "\"f in m2 = %lf (objective + %lf)", &unit, &constant), 2);
        free(text);
        if (!has_sdpa)
            continue;
        assert_int_equal(
            ulna_test_cli("--version >version; sdpa -ds program.dat-s -o program.out -numThreads 1 >screen"), 0);
        text = ulna_test_cli_read("program.out");
        const char *line = strstr(text, "objValPrimal = ");
        assert_non_null(line);
        assert_int_equal(sscanf(line, "objValPrimal = %lf", &minimum), 1);
        free(text);
        double bound = unit * (minimum + constant);
        assert_true(bound < cost * (1 + 1e-3) && bound > 0.9 * cost);
    }
    assert_int_equal(ulna_test_cli("global arm --goal 'tool 1 0 0' --sdpa-form F1"), 2);
    assert_int_equal(ulna_test_cli("global arm --goal 'tool 1 0 0' --sdpa p --sdpa-form F3"), 2);
    ulna_test_assert_says(ulna_test_cli_err(), "F0, F1 or F2");
    assert_int_equal(ulna_test_cli("global arm --goal 'tool 1 0 0' --sdpa no/such/folder/p"), 4);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *arguments, *message;
    } cases[] = {
        {2, "", "no skeleton given"},
        {2, "arm", "no goals given"},
        {2, "arm --goal 'tool 1 2'", "missing fields"},
        {2, "arm --goal 'tool nan 2 3'", "x is not a finite number"},
        {2, "arm --goal 'tool 1 2 inf'", "z is not a finite number"},
        {2, "arm --goal 'tool 1 2 3 -1'", "the weight is negative"},
        {2, "arm --goal 'tool 1 2 3 0 0 0 0'", "the quaternion is zero"},
        {2, "arm --goal 'tool,1,2,3,0,0'", "wrong number of fields"},
        {2, "arm --goal 'toll 1 2 3'", "there is no marker or body 'toll'; did you mean 'tool'?"},
        {2, "human --goal 'left_hnad 1 2 3'", "did you mean 'left_hand'?"},
        {3, "arm --goal 'tool 1 2 3 0'", "all goals have weight 0"},
        {3, "arm --goal 'tool 1e200 0 0'", "too far away"},
        {3, "human --goals names.csv", "names.csv:2: the skeleton has no marker or body 'nobody-of-that-name'"},
        {3, "human --goals names.json", "names.json:3: the skeleton has no marker or body 'nobody-of-that-name'"},
        {4, "arm --goals nothing.csv", "nothing.csv: cannot open"},
        {4, "nothing.json --goal 'a 1 2 3'", "nothing.json: cannot open"},
        {3, "names.csv --goal 'a 1 2 3'", "names.csv:1: "},
        {2, "arm -s arm --goal 'tool 1 2 3'", "give one"},
        {2, "- --goals -", "standard input cannot be both"},
        {2, "arm --goal 'tool 1 2 3' --markers t.c3d", "give either --markers"},
        {2, "arm --goal 'tool 1 2 3' --frame 3", "--frame needs --markers"},
        {2, "arm --markers t.c3d --unit mm", "--unit applies to goals"},
        {2, "arm -m t.c3d -m u.c3d", "give one recording"},
        {2, "arm -m t.c3d --frame 1 --frames 1:2", "give either --frame or --frames"},
        {4, "arm -m t.c3d", "t.c3d: cannot open"},
        {2, "arm --goal 'tool 1 2 3' --gap 2", "--gap takes a number from 0 to 1"},
        {2, "arm --goal 'tool 1 2 3' --gap nan", "--gap takes a number from 0 to 1"},
        {2, "arm --goal 'tool 1 2 3' --starts 0", "--starts takes a whole number from 1"},
        {2, "arm --goal 'tool 1 2 3' --seconds -1", "--seconds takes a number from 0"},
        {2, "arm --goal 'tool 1 2 3' --relax some", "--relax takes none, hull or bones"},
        {2, "arm --goal 'tool 1 2 3' --seed -1", "--seed takes a whole number"},
        {2, "arm --goal 'tool 1 2 3' --bounds some", "--bounds takes none or skeleton"},
        {2, "arm --goal 'tool 1 2 3' --unit furlong", "--unit takes m, cm, mm, in, ft or a number of metres"},
    };
    ulna_test_cli_write_text("names.csv", "LFHD,1,2,3\nnobody-of-that-name,1,2,3\n");
    ulna_test_cli_write_text("names.json", "{\"goals\": {\n\"LFHD\": [1, 2, 3],\n\"nobody-of-that-name\": [1, 2, 3]}}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arguments[200];
        snprintf(arguments, sizeof arguments, "global --json %s", cases[i].arguments);
        int code = ulna_test_cli(arguments);
        if (code != cases[i].code)
            fail_msg("%s: exit code %d, not %d: %s", arguments, code, cases[i].code, ulna_test_cli_err());
        ulna_test_assert_says(ulna_test_cli_err(), cases[i].message);
        json_t *object = ulna_test_cli_json();
        assert_true(json_is_object(json_object_get(object, "error")));
        json_decref(object);
    }
}

/* ---- beside the others ---------------------------------------------------------------------------------------------- */

static void global_is_listed_and_compared(void **state)
{
    (void)state;
    assert_int_equal(ulna_test_cli("methods"), 0);
    ulna_test_assert_says(ulna_test_cli_out(), "global method");
    assert_int_equal(ulna_test_cli("methods global"), 0);
    ulna_test_assert_says(ulna_test_cli_out(), "convex IK");
    json_t *object = run("methods --json");
    assert_string_equal(ulna_test_json_string(json_object_get(object, "global"), "name"), "global");
    json_decref(object);
    assert_int_equal(ulna_test_cli("solve -s human -m t.c3d --method global"), 2);
    ulna_test_assert_says(ulna_test_cli_err(), "ulna help global");

    object = run("compare --json arm --methods hybrid,global --cold --frames 3 --report r.html");
    json_t *row = json_array_get(json_object_get(object, "methods"), 1);
    assert_string_equal(ulna_test_json_string(row, "name"), "global");
    assert_int_equal(ulna_test_json_integer(row, "successes"), 3);
    assert_int_equal(ulna_test_json_integer(json_object_get(row, "stops"), "proven"), 3);
    assert_true(json_is_null(json_object_get(json_object_get(row, "iterations"), "median")));
    assert_true(ulna_test_json_median(row, "us") > 0);
    json_decref(object);
    assert_int_equal(ulna_test_cli("compare arm --methods global,global"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reachable_goals_are_proven, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(unreachable_goals_are_certified, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(not_proven_is_told, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(limits_are_kept_or_not, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(odd_goals_are_solved, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(spellings_mean_the_same, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(turns_and_named_places, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(threads_give_the_same_bytes, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(every_key_is_there, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(poses_are_written, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(frames_of_a_recording, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(programs_are_written, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(mistakes_are_told, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(global_is_listed_and_compared, ulna_test_cli_set_up, ulna_test_cli_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
