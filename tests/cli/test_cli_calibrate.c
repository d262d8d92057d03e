/* `ulna calibrate`, run as its users run it: takes that are made up, and recorded ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_take.h"
#include "support_tool.h"
#include "ulna/calibrate.h"
#include "ulna/kinematics.h"

enum { FRAMES = 240 };

/* A fresh folder with take.c3d and truth.csv, the motion that it was made from. */
static int open_take(void **state)
{
    return ulna_test_take_open(state, FRAMES);
}

static json_t *calibrate(ulna_test_tool *tool, const char *arguments, int code)
{
    return ulna_test_tool_run_json(tool, "calibrate", arguments, code);
}

static const char *text(json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    if (!value)
        fail_msg("%s is missing", key);
    return value;
}

static json_t *marker(json_t *object, const char *name)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(object, "markers"), i, row)
    {
        if (strcmp(text(row, "name"), name) == 0)
            return row;
    }
    fail_msg("there is no marker %s", name);
    return NULL;
}

static void write_file(const ulna_test_tool *tool, const char *name, const char *content)
{
    char path[256];
    FILE *file = fopen(ulna_test_path(path, sizeof path, tool->folder, name), "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
}

/* ---- what comes out ----------------------------------------------------------------------------------------------- */

static void every_key_is_there(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = calibrate(tool, "-s human -m take.c3d -o a.csv", 0);
    assert_string_equal(tool->err, "");
    assert_below(number(object, "rms_mm"), 1);
    assert_below(number(object, "rms_holdout_mm"), 1);
    assert_near(number(object, "frames_used"), 200, 0);
    assert_near(number(object, "frames_holdout"), 0.1 * FRAMES, 6);
    static const char *const numbers[] = {"rounds",
                                          "rescued",
                                          "seconds",
                                          "outlier_percent",
                                          "suspects",
                                          "repaired",
                                          "unmatched",
                                          "limit_violation_percent",
                                          "undetermined_directions"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_true(number(object, numbers[i]) >= 0);
    assert_string_equal(text(object, "bones_from"), "the skeleton's own markers");
    assert_string_equal(text(object, "output"), "a.csv");
    assert_int_equal(json_array_size(json_object_get(object, "axes")), 9);
    assert_true(json_is_object(json_object_get(object, "joint_deviation_mm")));
    assert_true(json_is_object(json_object_get(object, "limit_violation_percent_of")));
    assert_null(json_object_get(object, "scales"));
    assert_int_equal(json_array_size(json_object_get(object, "markers")), 41);
    json_t *knee = marker(object, "LKNE");
    assert_string_equal(text(knee, "bone"), "left_thigh");
    assert_int_equal(json_array_size(json_object_get(knee, "offset_mm")), 3);
    assert_below(number(knee, "rms_mm"), 1);
    assert_below(number(knee, "rms_all_mm"), 1);
    assert_true(number(knee, "seen") == 200);
    assert_true(number(knee, "undetermined") >= 0 && number(knee, "outliers") == 0);
    assert_int_equal(json_array_size(json_object_get(knee, "deviation_mm")), 3);
    assert_true(json_is_false(json_object_get(knee, "suspect")));
    assert_true(has_note(object, "1 marker without a known bone, not used: *0"));
    json_decref(object);
}

static void people_are_told(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s human -m take.c3d"), 0);
    static const char *const parts[] = {"take.c3d: 41 markers on ",  "by the skeleton's own markers",
                                        "mm RMS in the 200",         " left out",
                                        "of the angles with limits", "rounds"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ulna_test_says(tool->out, parts[i]);
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -q -s human -m take.c3d"), 0);
    assert_string_equal(tool->out, "");
}

/* What is written is what `ulna solve` takes. */
static void the_table_serves_solve(void **state)
{
    ulna_test_tool *tool = *state;
    json_decref(calibrate(tool, "-s human -m take.c3d -o a.csv", 0));
    assert_int_equal(ulna_test_tool_run(tool, "solve --json -s human -m take.c3d -a a.csv"), 0);
    json_t *object = ulna_test_tool_json(tool);
    assert_below(json_number_value(json_object_get(json_object_get(object, "rms_mm"), "max")), 2);
    json_decref(object);
    ulna_test_tool_shell(tool, "test $(grep -c . a.csv) -ge 42");
}

/* ---- bones -------------------------------------------------------------------------------------------------------------- */

static void a_table_says_which_bone(void **state)
{
    ulna_test_tool *tool = *state;
    write_file(tool, "t.csv",
               "marker,bone,x,y,z\nLFWT,pelvis,0,0,0\nRFWT,pelvis,0,0,0\nLBWT,pelvis,0,0,0\n"
               "LTHI,left_thigh,0,0,0\nLKNE,left_thigh,0,0,0\nLSHN,left_shank,0,0,0\nNONE,head,0,0,0\n");
    json_t *object = calibrate(tool, "-s human -m take.c3d -a t.csv", 0);
    assert_string_equal(text(object, "bones_from"), "the table");
    assert_int_equal(json_array_size(json_object_get(object, "markers")), 6);
    assert_near(number(object, "unmatched"), 1, 0);
    json_decref(object);
    write_file(tool, "t.csv", "LFWT,wing,0,0,0\n");
    object = calibrate(tool, "-s human -m take.c3d -a t.csv", 3);
    ulna_test_says(tool->err, "t.csv:1:");
    json_decref(object);
}

/* The skeleton's own markers first, others by name; a reference if there is nothing else. */
static void names_and_reference(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    snprintf(take.markers.names[ulna_recording_find(&take.markers, "LKNE")], ULNA_MARKER_NAME, "Eve:L.Knee.Lat");
    ulna_test_take_write(tool->folder, "names.c3d", NULL, NULL, &take.markers);
    json_t *object = calibrate(tool, "-s human -m names.c3d", 0);
    assert_string_equal(text(object, "bones_from"), "the skeleton's own markers, the rest by their names");
    assert_string_equal(text(marker(object, "Eve:L.Knee.Lat"), "bone"), "left_thigh");
    json_decref(object);

    for (int m = 0; m < take.markers.marker_count; m++)
        snprintf(take.markers.names[m], ULNA_MARKER_NAME, "point%d", m);
    ulna_test_take_write(tool->folder, "points.c3d", NULL, NULL, &take.markers);
    object = calibrate(tool, "-s human -m points.c3d", 3);
    ulna_test_says(tool->err, "points.c3d: no name of a marker is known (point0, point1, ");
    ulna_test_says(tool->err, "--attach");
    json_decref(object);
    object = calibrate(tool, "-s human -m points.c3d --reference truth.csv", 0);
    assert_string_equal(text(object, "bones_from"), "the reference motion");
    for (int m = 0; m < 41; m++) { /* the last one stands still in the room, and is on no bone */
        char name[ULNA_MARKER_NAME];
        snprintf(name, sizeof name, "point%d", m);
        assert_below(number(marker(object, name), "rms_mm"), 20);
    }
    assert_true(json_is_true(json_object_get(marker(object, "point41"), "suspect")));
    json_decref(object);
    object = calibrate(tool, "-s human -m take.c3d --reference truth.csv --average", 0);
    assert_below(number(object, "rms_mm"), 0.05);
    json_decref(object);
    object = calibrate(tool, "-s arm -m take.c3d", 3);
    ulna_test_says(tool->err, "no bone of the skeleton");
    ulna_test_says(tool->err, "--attach");
    json_decref(object);
    ulna_test_take_release(&take);
}

static void wrong_bones_are_told_and_mended(void **state)
{
    ulna_test_tool *tool = *state;
    json_decref(calibrate(tool, "-s human -m take.c3d -o a.csv", 0));
    ulna_test_tool_shell(tool, "sed 's/^LWRA,[^,]*/LWRA,right_thigh/; s/^RTOE,[^,]*/RTOE,head/' a.csv > wrong.csv");
    json_t *object = calibrate(tool, "-s human -m take.c3d -a wrong.csv", 0);
    assert_true(number(object, "suspects") >= 2);
    assert_true(json_is_true(json_object_get(marker(object, "LWRA"), "suspect")));
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s human -m take.c3d -a wrong.csv"), 0);
    ulna_test_says(tool->out, "LWRA on right_thigh");
    ulna_test_says(tool->out, "--repair");
    object = calibrate(tool, "-s human -m take.c3d -a wrong.csv --repair", 0);
    assert_near(number(object, "suspects"), 0, 0);
    assert_true(number(object, "repaired") >= 2);
    assert_string_equal(text(marker(object, "LWRA"), "moved_from"), "right_thigh");
    assert_string_equal(text(marker(object, "LWRA"), "bone"), "left_forearm");
    assert_below(number(object, "rms_mm"), 2);
    json_decref(object);
}

/* ---- lengths ------------------------------------------------------------------------------------------------------------ */

/* The take of someone whose bones that end at the bodies `*name` are longer by a factor, and the same person at rest. */
static void write_person(const ulna_test_tool *tool, const char *name, double factor)
{
    ulna_test_take take = ulna_test_take_make(FRAMES);
    int nb = ulna_model_body_count(take.model), markers = ulna_model_marker_count(take.model);
    double *lengths = malloc((size_t)nb * sizeof *lengths);
    ulna_model *other;
    ulna_pose *pose;
    for (int b = 0; b < nb; b++)
        lengths[b] =
            ulna_model_bone_length(take.model, b) * (strstr(ulna_model_body_name(take.model, b), name) ? factor : 1);
    assert_int_equal(ulna_model_with_lengths(take.model, lengths, NULL, &other, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_create(other, NULL, &pose, NULL), ULNA_OK);
    for (int still = 0; still < 2; still++) {
        for (int f = 0; f < FRAMES; f++) {
            const double *q = still ? ulna_model_rest(other) : ulna_clip_frame(&take.clip, f);
            assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
            assert_true(markers < take.markers.marker_count);
            ulna_pose_markers(pose, ulna_recording_frame(&take.markers, f));
        }
        ulna_test_take_write(tool->folder, still ? "still.c3d" : "other.c3d", NULL, NULL, &take.markers);
    }
    ulna_pose_destroy(pose);
    ulna_model_destroy(other);
    free(lengths);
    ulna_test_take_release(&take);
}

/* With other legs. */
static void write_other_person(const ulna_test_tool *tool)
{
    write_person(tool, "_shank", 1.12);
}

static void lengths_are_found(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const ways[] = {"--scale", "--symmetric", "--static still.c3d",
                                       "--static still.c3d --symmetric"};
    write_other_person(tool);
    json_t *object = calibrate(tool, "-s human -m other.c3d", 0);
    double before = number(object, "rms_mm");
    json_decref(object);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char line[256];
        snprintf(line, sizeof line, "-s human -m other.c3d %s --model-out other.json -o a.csv", ways[i]);
        object = calibrate(tool, line, 0);
        json_t *scales = json_object_get(object, "scales");
        double left = number(scales, "left_shank"), right = number(scales, "right_shank");
        double least = strstr(ways[i], "static") ? 1.08 : 1.04; /* joints bend by 11 degrees only */
        if (left < least || left > 1.16 || right < least || right > 1.16)
            fail_msg("%s: %.3f and %.3f", ways[i], left, right);
        assert_true(!strstr(ways[i], "symmetric") || left == right);
        assert_true(number(object, "rms_mm") < before);
        json_decref(object);
        double mean[2];
        for (int own = 0; own < 2; own++) { /* by the table, and by the markers of the model that was written */
            const char *const line_end[] = {"-a a.csv", "--attach model"};
            snprintf(line, sizeof line, "solve --json -s other.json -m other.c3d %s", line_end[own]);
            assert_int_equal(ulna_test_tool_run(tool, line), 0);
            object = ulna_test_tool_json(tool);
            mean[own] = json_number_value(json_object_get(json_object_get(object, "rms_mm"), "mean"));
            json_decref(object);
        }
        assert_below(mean[0], 2);
        assert_below(mean[1], mean[0] + 0.1);
    }
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s human -m other.c3d --symmetric"), 0);
    ulna_test_says(tool->out, "of the bones that end at left_shank 1");
}

/* Shorter clavicles: they are found, and told where they were not asked for; the legs stay as they are. */
static void shoulders_are_found(void **state)
{
    ulna_test_tool *tool = *state;
    write_person(tool, "_upper_arm", 0.7);
    json_t *object = calibrate(tool, "-s human -m other.c3d", 0);
    double before = number(object, "rms_all_mm");
    assert_below(number(object, "rms_all_with_shoulders_mm"), before / 1.2);
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s human -m other.c3d"), 0);
    ulna_test_says(tool->out, "--shoulders");
    object = calibrate(tool, "-s human -m other.c3d --shoulders --model-out other.json -o a.csv", 0);
    json_t *scales = json_object_get(object, "scales");
    double clavicle = number(scales, "left_upper_arm");
    assert_true(clavicle > 0.65 && clavicle < 0.87); /* joints bend by 11 degrees only */
    assert_near(number(scales, "left_upper_arm"), number(scales, "right_upper_arm"), 0);
    assert_null(json_object_get(scales, "left_shank"));
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "solve --quiet -s other.json -m other.c3d -a a.csv"), 0);
    json_decref(calibrate(tool, "-s human -m other.c3d --shoulders --symmetric", 2));
    ulna_test_says(tool->err, "give one of them");
}

static void a_static_pose_is_known(void **state)
{
    ulna_test_tool *tool = *state;
    write_other_person(tool);
    json_decref(calibrate(tool, "-s human -m other.c3d --static still.c3d --static-pose t", 0));
    json_decref(calibrate(tool, "-s human -m other.c3d --static other.c3d", 3));
    ulna_test_says(tool->err, "other.c3d: nobody stands still in this static trial");
    json_t *object = calibrate(tool, "-s human -m other.c3d --static-pose t", 2);
    ulna_test_says(tool->err, "--static");
    json_decref(object);
    object = calibrate(tool, "-s human -m other.c3d --static still.c3d --static-pose none.bvh", 4);
    ulna_test_says(tool->err, "none.bvh");
    json_decref(object);
    object = calibrate(tool, "-s human -m other.c3d --static still.c3d --static-pose truth.csv", 0);
    json_decref(object);
}

/* Names that nobody knows, and a table that does. */
static void a_template_says_where(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    snprintf(take.markers.names[ulna_recording_find(&take.markers, "LKNE")], ULNA_MARKER_NAME, "P7");
    ulna_test_take_write(tool->folder, "p.c3d", NULL, NULL, &take.markers);
    write_file(tool, "places.csv", "marker,bone,left,up,forward,spread\nP7,left_thigh,55,-420,0,20\n");
    json_t *object = calibrate(tool, "-s human -m p.c3d --template places.csv", 0);
    assert_string_equal(text(marker(object, "P7"), "bone"), "left_thigh");
    assert_true(number(marker(object, "P7"), "rms_mm") < 2);
    json_decref(object);
    write_file(tool, "places.csv", "P7,left_thigh,55,-420,0,20\nP8,left_thigh,55,-300,0,20\n");
    object = calibrate(tool, "-s human -m p.c3d --template places.csv --frames 20", 0);
    assert_true(has_note(object, "1 marker of the template is not in the recording: P8"));
    json_decref(object);
    write_file(tool, "places.csv", "P7,left_thigh,55,-420,0,-1\n");
    object = calibrate(tool, "-s human -m p.c3d --template places.csv", 3);
    ulna_test_says(tool->err, "places.csv:1:");
    json_decref(object);
    ulna_test_take_release(&take);
}

/* The same motion, every marker placed about 3 cm elsewhere on its bone. */
static void place_anew(ulna_test_take *take)
{
    ulna_pose *pose = NULL;
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    assert_int_equal(ulna_marker_set_from_model(&set, take->model), ULNA_OK);
    assert_int_equal(ulna_pose_create(take->model, NULL, &pose, NULL), ULNA_OK);
    for (int f = 0; f < take->markers.frame_count; f++) {
        assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&take->clip, f)), ULNA_OK);
        for (size_t i = 0; i < set.count; i++) {
            int at = ulna_recording_find(&take->markers, set.items[i].marker);
            double offset[3], away = (double)i;
            for (int k = 0; k < 3; k++)
                offset[k] = set.items[i].offset[k] + 0.025 * sin(3 * away + 2 * k);
            assert_int_equal(ulna_pose_point(pose, set.items[i].body, offset,
                                             ulna_recording_frame(&take->markers, f) + 3 * (ptrdiff_t)at),
                             ULNA_OK);
        }
    }
    ulna_pose_destroy(pose);
    ulna_marker_set_release(&set);
}

/* One table does not fit both: it is written, but the exit code says so. */
static void markers_placed_anew_are_not_done(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    place_anew(&take);
    ulna_test_take_write(tool->folder, "second.c3d", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    json_t *object = calibrate(tool, "-s human -m take.c3d second.c3d -o a.csv", 1);
    assert_true(json_is_true(json_object_get(json_object_get(object, "session"), "placed_anew")));
    assert_string_equal(text(object, "output"), "a.csv");
    json_decref(object);
}

/* The ending of --model-out decides; folders are made; what was not done is said. */
static void files_are_what_they_are_called(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object =
        calibrate(tool, "-s human -m take.c3d --frames 40 --symmetric --model-out new/m.asf -o new/sub/a.csv", 0);
    assert_false(has_note(object, "nothing is written"));
    json_decref(object);
    char *asf = ulna_test_tool_file(tool, "new/m.asf"), *table = ulna_test_tool_file(tool, "new/sub/a.csv");
    assert_non_null(strstr(asf, ":bonedata"));
    free(asf);
    free(table);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d -a new/sub/a.csv -o other/sub/x.bvh"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "convert other/sub/x.bvh third/sub/x.bvh"), 0);
    free(ulna_test_tool_file(tool, "third/sub/x.bvh"));
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s human -m take.c3d --frames 40 --repair"), 0);
    ulna_test_says(tool->out, "repaired  none: ");
    ulna_test_says(tool->out, "nothing is written: -o FILE");
    ulna_test_tool_shell(tool, "echo x >file");
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d -o file/x.amc"), 4);
    ulna_test_says(tool->err, "file: cannot create the folder");
}

static void takes_of_a_session(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES + 20);
    ulna_test_take_write(tool->folder, "second.c3d", NULL, NULL, &take.markers);
    json_t *object = calibrate(tool, "-s human -m take.c3d second.c3d -o a.csv", 0), *session;
    session = json_object_get(object, "session");
    assert_int_equal(json_array_size(json_object_get(session, "rms_mm")), 2);
    assert_true(json_is_false(json_object_get(session, "placed_anew")));
    assert_int_equal(json_array_size(json_object_get(session, "elsewhere")), 0);
    assert_true(number(object, "rms_mm") < 1);
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s human -m take.c3d second.c3d"), 0);
    ulna_test_says(tool->out, "2 takes");
    /* What other lengths would give is of all takes. */
    for (int i = 0; i < 3 * take.markers.frame_count * take.markers.marker_count; i++)
        take.markers.positions[i] *= 0.8;
    ulna_test_take_write(tool->folder, "second.c3d", NULL, NULL, &take.markers);
    object = calibrate(tool, "-s human -m take.c3d second.c3d --frames 40", 1); /* placed anew */
    assert_true(number(object, "rms_all_with_lengths_mm") > 5);
    json_decref(object);
    object = calibrate(tool, "-s human -m take.c3d none.c3d", 4);
    ulna_test_says(tool->err, "none.c3d");
    json_decref(object);
    ulna_test_take_release(&take);
}

/* What is left out of one copy is used in the other: then no error is held out. */
static void a_recording_counts_once(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const names[] = {"take.c3d", "./take.c3d", "link.c3d", "copy.c3d", "take.trc"};
    ulna_test_tool_shell(tool, "ln -s take.c3d link.c3d; cp take.c3d copy.c3d");
    assert_int_equal(ulna_test_tool_run(tool, "convert take.c3d take.trc"), 0);
    for (size_t i = 0; i + 1 < sizeof names / sizeof *names; i++) {
        char line[100];
        snprintf(line, sizeof line, "-s human -m take.c3d %s -o a.csv", names[i]);
        json_decref(calibrate(tool, line, 3));
        ulna_test_says(tool->err, "recordings 1 and 2 are the same");
        ulna_test_tool_shell(tool, "test ! -e a.csv");
    }
}

/* The built-in human, with the lengths of the person. */
static void no_skeleton_is_needed(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = calibrate(tool, "-m take.c3d -o a.csv", 0);
    assert_string_equal(json_string_value(json_object_get(object, "skeleton")), "human");
    assert_string_equal(json_string_value(json_object_get(object, "bones_from")), "the markers' names");
    assert_true(json_is_object(json_object_get(object, "scales")));
    assert_true(has_note(object, "--model-out FILE writes that skeleton"));
    json_decref(object);
    object = calibrate(tool, "-m take.c3d -o a.csv --model-out me.json", 0);
    assert_false(has_note(object, "--model-out FILE writes that skeleton"));
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s me.json -a a.csv -m take.c3d -o two.bvh"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "solve -m take.c3d -o one.bvh"), 0); /* the same in one command */
    assert_int_equal(ulna_test_tool_run(tool, "solve -s me.json -a a.csv -m take.c3d -o two.csv"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "solve -m take.c3d -o one.csv"), 0);
    ulna_test_tool_shell(tool, "cmp one.csv two.csv");
}

/* ---- what goes wrong ------------------------------------------------------------------------------------------------------ */

static void mistakes_are_told(void **state)
{
    ulna_test_tool *tool = *state;
    static const struct {
        const char *arguments;
        int code;
        const char *part;
    } cases[] = {
        {"", 2, "--markers FILE is needed"},
        {"-s human", 2, "--markers FILE is needed"},
        {"-m take.c3d -a a.csv", 2, "--attach is about a skeleton: give that too, with --skeleton"},
        {"-m take.c3d --reference truth.csv", 2, "--reference is about a skeleton"},
        {"-s human -m take.c3d --model-out m.json", 2, "--scale"},
        {"-s human -m take.c3d --symmetric --model-out m.csv", 2, "the ending is that of a skeleton: .json, .asf"},
        {"-s human -m take.c3d --symmetric --model-out m", 2, "the ending is that of a skeleton: .json, .asf"},
        {"-s human -m take.c3d --average", 2, "--reference"},
        {"-s human -m take.c3d --average --reference truth.csv --scale", 2, "--average"},
        {"-s human -m take.c3d --up w", 2, "x, y or z"},
        {"-s human -m take.c3d --axes xxz", 2, "yzx"},
        {"-s human -m take.c3d --axes xyz --up y", 2, "give one of --axes and --up"},
        {"-s human -m take.c3d --frames 0", 2, "frames"},
        {"-s human -m take.c3d --frames 9:3", 2, "--frames takes A:B, numbers of frames in the file, not '9:3'"},
        {"-s human -m take.c3d --frames 9000:", 3, "frame"},
        {"-s human -m none.c3d", 4, "none.c3d"},
        {"-s human -m truth.csv", 3, "truth.csv"},
        {"-s take.c3d -m take.c3d", 3, "skeleton"},
        {"-s human -m take.c3d --static none.c3d", 4, "none.c3d"},
        {"-s human -m take.c3d -o take.c3d/folder.csv", 4, "take.c3d: cannot create the folder"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "calibrate %s", cases[i].arguments);
        int code = ulna_test_tool_run(tool, line);
        if (code != cases[i].code || !strstr(tool->err, cases[i].part))
            fail_msg("%s: exit code %d, says %s", line, code, tool->err);
    }
}

/* --up is about the recording: what is up for the skeleton, its bones say. */
static void up_of_a_skeleton_by_its_bones(void **state)
{
    ulna_test_tool *tool = *state;
    write_file(tool, "z.json",
               "{\"format\": \"ulna-model\", \"version\": 1, \"name\": \"z\", \"bodies\": [\n"
               "{\"name\": \"Hips\", \"joint\": {\"type\": \"free\"}},\n"
               "{\"name\": \"Spine\", \"parent\": \"Hips\", \"placement\": {\"position\": [0, 0, 0.5]}, "
               "\"joint\": {\"type\": \"ball\"}},\n"
               "{\"name\": \"LeftUpLeg\", \"parent\": \"Hips\", \"placement\": {\"position\": [0.1, 0, 0]}, "
               "\"joint\": {\"type\": \"ball\"}},\n"
               "{\"name\": \"RightUpLeg\", \"parent\": \"Hips\", \"placement\": {\"position\": [-0.1, 0, 0]}, "
               "\"joint\": {\"type\": \"ball\"}}]}\n");
    write_file(tool, "z.csv", "# unit: m\nframe,A:x,A:y,A:z,B:x,B:y,B:z,C:x,C:y,C:z\n0,0,0,0.5,0.1,0,0,-0.1,0,0\n");
    write_file(tool, "attach.csv", "marker,bone,x,y,z\nA,Spine,0,0,0\nB,LeftUpLeg,0,0,0\nC,RightUpLeg,0,0,0\n");
    json_t *object = calibrate(tool, "-s z.json -m z.csv -a attach.csv --up z --no-checks", 0);
    for (size_t k = 0; k < 9; k++)
        assert_near(json_number_value(json_array_get(json_object_get(object, "axes"), k)), k % 4 == 0, 1e-12);
    json_decref(object);
}

/* A range, as `ulna solve` takes it. */
static void some_frames_are_used(void **state)
{
    json_t *object = calibrate(*state, "-s human -m take.c3d --frames 11:90", 0);
    assert_int_equal(integer(object, "frames_used") + integer(object, "frames_holdout"), 80);
    json_decref(object);
}

/* A prefix is not repeated with every name; in JSON, names are as the set has them. */
static void names_without_their_prefix(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    for (int m = 0; m < take.markers.marker_count; m++) {
        char name[ULNA_MARKER_NAME];
        snprintf(name, sizeof name, "Anna:%.40s", take.markers.names[m]);
        memcpy(take.markers.names[m], name, sizeof name);
    }
    ulna_test_take_write(tool->folder, "anna.c3d", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    assert_int_equal(ulna_test_tool_run(tool, "convert human human.asf"), 0); /* without markers of its own */
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s human.asf -m anna.c3d -o anna.csv"), 0);
    ulna_test_says(tool->out, "RFIN");
    assert_null(strstr(tool->out, "Anna:RFIN"));
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human.asf -m anna.c3d -a anna.csv"), 0);
    ulna_test_says(tool->out, "worst     ");
    assert_null(strstr(tool->out, "worst     Anna:"));
    json_t *object = calibrate(tool, "-s human.asf -m anna.c3d", 0);
    assert_memory_equal(text(json_array_get(json_object_get(object, "markers"), 0), "name"), "Anna:", 5);
    json_decref(object);
}

/* Recordings that say little or nonsense: an answer with a note, or a refusal that says why. */
static void odd_recordings(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    size_t numbers = 3 * (size_t)take.markers.marker_count * FRAMES;
    for (size_t i = 0; i < numbers; i++)
        take.markers.positions[i] *= 25;
    ulna_test_take_write(tool->folder, "large.c3d", NULL, NULL, &take.markers);
    json_t *object = calibrate(tool, "-s human -m large.c3d", 3);
    ulna_test_says(tool->err, "25 times as far apart as on the skeleton: a unit of length is wrong by a factor of 25");
    json_decref(object);
    object = calibrate(tool, "-s human -m large.c3d --no-checks", 0);
    assert_true(has_note(object, "25 times as far apart"));
    json_decref(object);
    for (size_t i = 0; i < numbers; i++)
        take.markers.positions[i] *= 3.0 / 25;
    ulna_test_take_write(tool->folder, "large.c3d", NULL, NULL, &take.markers);
    object = calibrate(tool, "-s human -m large.c3d --no-checks", 0);
    assert_true(has_note(object, "3 times as far apart"));
    json_decref(object);
    for (size_t i = 0; i < numbers; i++)
        take.markers.positions[i] = 0.5;
    ulna_test_take_write(tool->folder, "point.trc", NULL, NULL, &take.markers);
    object = calibrate(tool, "-s human -m point.trc", 3);
    ulna_test_says(tool->err, "point.trc: all markers are in one place");
    json_decref(object);
    object = calibrate(tool, "-s human -m point.trc --no-checks", 0);
    assert_true(has_note(object, "all markers are in one place"));
    json_decref(object);
    for (size_t i = 0; i < numbers; i++)
        take.markers.positions[i] = NAN;
    ulna_test_take_write(tool->folder, "nothing.c3d", NULL, NULL, &take.markers);
    object = calibrate(tool, "-s human -m nothing.c3d", 3);
    ulna_test_says(tool->err, "nothing.c3d: ");
    json_decref(object);
    ulna_test_take_release(&take);

    take = ulna_test_take_make(1);
    ulna_test_take_write(tool->folder, "one.c3d", NULL, NULL, &take.markers);
    object = calibrate(tool, "-s human -m one.c3d", 0);
    assert_near(number(object, "frames_used"), 1, 0);
    assert_true(json_is_null(json_object_get(object, "rms_holdout_mm")));
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "calibrate -s human -m one.c3d"), 0);
    ulna_test_says(tool->out, "hardly moves");
    ulna_test_take_release(&take);
}

/* ---- recorded takes --------------------------------------------------------------------------------------------------------- */

static void recorded_takes(void **state)
{
    ulna_test_tool *tool = *state;
    static const struct {
        const char *skeleton, *markers;
        int code, count;
        double mm;
    } cases[] = {
        {"cmu/02.asf", "cmu/02_01.c3d", 0, 41, 3.05},
        {"human", "c3d/btk_PiG_Motion3_FF.c3d", 0, 16, 5.1},
        {"human", "c3d/s09_PlugInC3D.c3d", 0, 18, 6},
        {"human", "c3d/mfr_motion_analysis_corporation.c3d", 0, 25, 4.5},
        {"human", "c3d/btk_MyCube.c3d", 3, 0, 0},
        {"human", "c3d/btk_Empty.c3d", 3, 0, 0},
        {"human", "trc/rajagopal/motion_capture_walk.trc", 0, 41, 5.3}, /* not this person's lengths */
        {"human", "trc/gait2354/subject01_walk1.trc", 0, 41, 5.2},
        {"human", "trc/formats/motek_ballet_reduced.trc", 0, 41, 4.9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char skeleton[1024], line[2048];
        int is_file = strchr(cases[i].skeleton, '/') != NULL;
        snprintf(skeleton, sizeof skeleton, "%s%s%s", is_file ? ulna_test_data_dir() : "", is_file ? "/" : "",
                 cases[i].skeleton);
        snprintf(line, sizeof line, "-s '%s' -m '%s/%s'", skeleton, ulna_test_data_dir(), cases[i].markers);
        json_t *object = calibrate(tool, line, cases[i].code);
        if (!cases[i].code && ((int)json_array_size(json_object_get(object, "markers")) != cases[i].count ||
                               number(object, "rms_mm") > cases[i].mm))
            fail_msg("%s: %zu markers, %.2f mm", cases[i].markers, json_array_size(json_object_get(object, "markers")),
                     number(object, "rms_mm"));
        json_decref(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_key_is_there, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(people_are_told, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(the_table_serves_solve, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(a_table_says_which_bone, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(names_and_reference, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(a_static_pose_is_known, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(a_template_says_where, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(markers_placed_anew_are_not_done, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(files_are_what_they_are_called, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(takes_of_a_session, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(a_recording_counts_once, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(no_skeleton_is_needed, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(wrong_bones_are_told_and_mended, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(lengths_are_found, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(shoulders_are_found, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(mistakes_are_told, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(up_of_a_skeleton_by_its_bones, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(some_frames_are_used, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(names_without_their_prefix, open_take, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(odd_recordings, open_take, ulna_test_tool_close),
        ulna_test_needs("cmu c3d trc",
                        cmocka_unit_test_setup_teardown(recorded_takes, open_take, ulna_test_tool_close)),
    };
    return cmocka_run_group_tests_name("cli_calibrate", tests, NULL, NULL);
}
