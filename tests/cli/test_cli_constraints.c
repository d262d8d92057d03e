/* `ulna solve --constraints`: goals that hold in every frame besides the markers, constraints that are kept, feet that stand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_take.h"
#include "support_tool.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

enum { FRAMES = 4 }; /* in which the elbow hardly moves */

/* A take that has lost the markers of the left hand. */
static int open_take(void **state)
{
    int result = ulna_test_tool_open(state);
    ulna_test_tool *tool = *state;
    if (result == 0 && tool) {
        ulna_test_take take = ulna_test_take_make(FRAMES);
        int arm = ulna_model_find_body(take.model, "left_forearm");
        for (int m = 0; m < ulna_model_marker_count(take.model); m++) {
            int body = ulna_model_marker_body(take.model, m);
            while (body != ULNA_NONE && body != arm)
                body = ulna_model_body_parent(take.model, body);
            for (int f = 0; f < FRAMES && body == arm; f++)
                for (int k = 0; k < 3; k++)
                    ulna_recording_frame(&take.markers, f)[3 * m + k] = NAN;
        }
        ulna_test_take_write(tool->folder, "take.c3d", NULL, NULL, &take.markers);
        ulna_test_take_release(&take);
    }
    return result;
}

static void write_file(const ulna_test_tool *tool, const char *name, const char *text)
{
    char path[256];
    FILE *file = fopen(ulna_test_path(path, sizeof path, tool->folder, name), "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static json_t *solve(ulna_test_tool *tool, const char *arguments, int code)
{
    char line[512];
    snprintf(line, sizeof line, "solve --json -s human -m take.c3d %s", arguments);
    assert_int_equal(ulna_test_tool_run(tool, line), code);
    return ulna_test_tool_json(tool);
}

/* Where the hand, which no marker shows, is in truth, in the middle of the take. */
static void hand_place(double place[3])
{
    ulna_test_take take = ulna_test_take_make(FRAMES);
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(take.model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&take.clip, FRAMES / 2)), ULNA_OK);
    ulna_pose_body(pose, ulna_model_find_body(take.model, "left_hand"), place, NULL);
    ulna_pose_destroy(pose);
    ulna_test_take_release(&take);
}

/* The hand is held at a place within reach, and the markers fit as before; by CSV and by JSON. */
static void an_unseen_hand_is_held(void **state)
{
    ulna_test_tool *tool = *state;
    double place[3];
    char text[256];
    hand_place(place);

    snprintf(text, sizeof text, "name,x,y,z\nleft_hand,%.6f,%.6f,%.6f\n", place[0], place[1], place[2]);
    write_file(tool, "held.csv", text);
    json_t *object = solve(tool, "--constraints held.csv", 0);
    double worst = member(object, "constraints", "worst_mm"), rms = member(object, "constraints", "rms_mm");
    assert_true(worst > 0.01 && worst < 25);
    assert_true(rms > 0.01 && rms <= worst);
    assert_int_equal((int)member(object, "constraints", "places"), 1);
    assert_below(member(object, "rms_mm", "max"), 5);
    json_decref(object);
    snprintf(text, sizeof text, "{\"goals\": [{\"body\": \"left_hand\", \"position\": [%.6f, %.6f, %.6f]}]}", place[0],
             place[1], place[2]);
    write_file(tool, "held.json", text);
    object = solve(tool, "--constraints held.json --threads 2", 0);
    assert_true(member(object, "constraints", "worst_mm") == worst);
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints held.csv"), 0);
    ulna_test_says(tool->out, "1 place, met to");
}

/* 87 m from the origin: with plain least squares the goal pulls the skeleton away from the markers, frames are lost, and the summary
 * says how far it is. By a robust loss the markers give way altogether, and all frames are lost. */
static void a_place_out_of_reach_is_reported(void **state)
{
    ulna_test_tool *tool = *state;
    write_file(tool, "far.csv", "left_hand,50,50,50\n");
    json_t *object = solve(tool, "--constraints far.csv --loss square", 1);
    double worst = member(object, "constraints", "worst_mm");
    assert_true(worst > 80e3 && worst < 90e3);
    json_decref(object);
    object = solve(tool, "--constraints far.csv", 1);
    assert_int_equal((int)json_integer_value(json_object_get(object, "lost")), FRAMES);
    json_decref(object);
}

/* An orientation too. */
static void a_hand_is_held_level(void **state)
{
    ulna_test_tool *tool = *state;
    write_file(tool, "level.csv", "left_hand,,,,0,0,0,1\n");
    json_t *object = solve(tool, "--constraints level.csv", 0);
    assert_int_equal((int)member(object, "constraints", "orientations"), 1);
    double worst = member(object, "constraints", "worst_deg");
    assert_true(worst > 1e-9 && worst < 1);
    json_decref(object);
}

static void mistakes_are_told(void **state)
{
    ulna_test_tool *tool = *state;
    write_file(tool, "wrong.csv", "left_hoof,0,0,0\n");
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints wrong.csv"), 3);
    ulna_test_says(tool->err, "wrong.csv:1");
    ulna_test_says(tool->err, "left_hoof");
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints none.csv"), 4);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints \"\""), 2);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints wrong.csv -o wrong.csv"), 2);
    ulna_test_says(tool->err, "would overwrite the input");
}

/* ---- what is kept ------------------------------------------------------------------------------------------------------ */

/* The place of a body in a frame of a motion that the tool has written. */
static void place_in(const ulna_test_tool *tool, const char *name, int frame, const char *body, double place[3])
{
    char path[256];
    ulna_model *model;
    ulna_pose *pose;
    ulna_content motion = ulna_content_empty(NULL);
    ulna_read_options options = ulna_read_options_default();
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    options.model = model;
    assert_int_equal(ulna_content_load(ulna_test_path(path, sizeof path, tool->folder, name), &options, &motion, NULL),
                     ULNA_OK);
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&motion.clip, frame)), ULNA_OK);
    assert_int_equal(ulna_pose_body(pose, ulna_model_find_body(model, body), place, NULL), ULNA_OK);
    ulna_pose_destroy(pose);
    ulna_content_release(&motion);
    ulna_model_destroy(model);
}

/* A hard constraint is kept to the last digit of the file, in its unit; a soft goal beside it is not; a joint that is locked stays. */
static void a_hand_is_kept_exactly(void **state)
{
    ulna_test_tool *tool = *state;
    double goal[3], place[3];
    char text[600];
    hand_place(goal);
    snprintf(
        text, sizeof text,
        "{\"unit\": \"cm\", \"locked\": [\"neck\"], \"strengths\": {\"right_hand\": 0.5},\n"
        " \"constraints\": [{\"name\": \"the bar\", \"type\": \"point\", \"body\": \"left_hand\",\n"
        "   \"position\": [%.17g, %.17g, %.17g], \"frames\": [[2, 3]]},\n"
        "  {\"type\": \"plane\", \"body\": \"right_hand\", \"relation\": \"at least\", \"through\": [0, -500, 0],\n"
        "   \"normal\": [0, 1, 0], \"level\": 2, \"weight\": 3}]}",
        100 * goal[0], 100 * goal[1], 100 * goal[2]);
    write_file(tool, "kept.json", text);
    json_t *object = solve(tool, "--constraints kept.json --digits 17 -o kept.csv", 0);
    const json_t *kept = json_object_get(json_object_get(object, "constraints"), "kept"),
                 *bar = json_array_get(kept, 0);
    assert_int_equal(json_array_size(kept), 2);
    assert_string_equal(json_string_value(json_object_get(bar, "name")), "the bar");
    assert_int_equal(integer(bar, "frames"), 2);
    assert_int_equal(integer(bar, "infeasible"), 0);
    assert_true(number(bar, "worst") < 1e-5); /* mm */
    assert_int_equal(integer(json_array_get(kept, 1), "level"), 2);
    assert_true(number(json_array_get(kept, 1), "worst") == 0);
    for (int f = 1; f < 3; f++) {
        place_in(tool, "kept.csv", f, "left_hand", place);
        for (int k = 0; k < 3; k++)
            assert_near(place[k], goal[k], 1e-9);
    }
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints kept.json"), 0);
    ulna_test_says(tool->out, "1 constraint; at worst the bar, off by");
    ulna_test_says(tool->out, "mm without constraints and feet");
}

/* Three metres up: it is said which constraint, in how many frames, and by how much. */
static void what_cannot_be_kept_is_named(void **state)
{
    ulna_test_tool *tool = *state;
    write_file(
        tool, "high.json",
        "{\"constraints\": [{\"name\": \"high\", \"type\": \"point\", \"body\": \"left_hand\", \"position\": [0, 9, 0]},\n"
        "{\"name\": \"low\", \"type\": \"point\", \"body\": \"left_foot\", \"position\": [0, 0, 0]}]}");
    int code = ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints high.json");
    assert_in_range(code, 0, 1);
    ulna_test_says(tool->out, "but for high in 4 frames");
    ulna_test_says(tool->out, "mm without constraints and feet");
    ulna_test_says(tool->out, "doubtful");
}

/* Text of a file, and what the tool must say of it: the line first. */
static void mistakes_of_a_file_have_a_line(void **state)
{
#define POINT "{\"type\": \"point\", \"body\": \"left_hand\", \"position\": [0, 1, 0]"
    static const struct {
        const char *text, *line, *says;
    } files[] = {
        {"{\"constraints\": [\n{\"type\": \"pont\"}]}", "bad.json:2", "did you mean 'point'"},
        {"{\"constraints\": [\n{\"type\": \"custom\"}]}", "bad.json:2", "in C"},
        {"{\"constraints\": [\n" POINT ",\n\"places\": 1}]}", "bad.json:3", "places"},
        {"{\"constraints\": [\n" POINT ", \"weight\": 2}]}", "bad.json:2", "no weight"},
        {"{\"constraints\": [\n" POINT ", \"soft\": true}]}", "bad.json:2", "goals"},
        {"{\"constraints\": [\n" POINT ", \"level\": 1.5}]}", "bad.json:2", "whole number"},
        {"{\"constraints\": [\n" POINT ", \"level\": 9}]}", "bad.json:2", "constraints[0]: level"},
        {"{\"constraints\": [\n" POINT ", \"level\": -1}]}", "bad.json:2", "1 to 8"},
        {"{\"constraints\": [\n" POINT "},\n{\"type\": \"point\", \"body\": \"head\", \"position\": [1e308, 0, 0]}]}",
         "bad.json:3", "constraints[1]"},
        {"{\"constraints\": [\n{\"type\": \"distance\", \"body\": \"head\", \"distance\": -1}]}", "bad.json:2",
         "constraints[0]"},
        {" [1]", "bad.json:1", "{\"constraints\": [...]}"},
        {"{\"constraints\": [\n" POINT ", \"frames\": [[1, 3],\n [3, 4]]}]}", "bad.json:2", "two ranges"},
        {"{\"constraints\": [\n" POINT ", \"frames\": [[9, 3]]}]}", "bad.json:2", "after"},
        {"{\"constraints\": [\n" POINT ", \"frames\": []}]}", "bad.json:2", "no range"},
        {"{\"constraints\": [\n" POINT ", \"frames\": [[1e99, 2e99]]}]}", "bad.json:2", "whole number"},
        {"{\"constraints\": [\n{\"type\": \"point\", \"body\": \"left_hoof\"}]}", "bad.json:2", "left_hoof"},
        {"{\"constraints\": [\n{\"type\": \"point\", \"marker\": \"LFIM\"}]}", "bad.json:2", "LFIM"},
        {"{\"constraints\": [\n{\"type\": \"point\"}]}", "bad.json:2", "needs \"body\" or \"marker\""},
        {"{\"constraints\": [\n{\"type\": \"orientation\"}]}", "bad.json:2", "needs \"body\"\n"},
        {"{\"constraints\": [\n{\"type\": \"point\", \"body\": \"left_hand\"}]}", "bad.json:2", "position"},
        {"{\"constraints\": [\n{\"type\": \"linear\", \"dofs\": {}, \"sum\": 0}]}", "bad.json:2", "no degree"},
        {"{\"constraints\": [\n{\"type\": \"linear\", \"dofs\": {\"tail\": 1}, \"sum\": 0}]}", "bad.json:2", "tail"},
        {"{\"constraints\": [\n{\"type\": \"support\", \"corners\": [[0,0,0]], \"up\": [0,1,0]}]}", "bad.json:2",
         "1 corners"},
        {"{\"constraints\": [\n{\"type\": \"orientation\", \"body\": \"head\", \"orientation\": [9,0,0,0,1,0,0,0,1]}]}",
         "bad.json:2", "rotation"},
        {"{\"constraints\": [\n{\"type\": \"sphere\", \"body\": \"head\", \"relation\": \">\", \"centre\": [0,0,0], \"radius\": 1}]}",
         "bad.json:2", "at least"},
        {"{\"constraints\": [\n{\"type\": \"sphere\", \"body\": \"head\", \"centre\": [0,0,0], \"radius\": -1}]}",
         "bad.json:2", "radius"},
        {"{\"constraints\": 3}", "bad.json:1", "list"},
        {"{\"constraints\": []}", "bad.json", "has no goals"},
        {"{\"feet\": \"bare\"}", "bad.json:1", "auto"},
        {"{\"feet\": []}", "bad.json", "has no goals"},
        {"{\"feet\": 1}", "bad.json:1", "auto"},
        {"{\"feet\": [{\"body\": \"left_foot\"}]}", "bad.json:1", "frames"},
        {"{\"feet\": [{\"body\": \"left_foot\", \"frames\": [1, 3]},\n{\"body\": \"left_foot\", \"frames\": [2, 4]}]}",
         "bad.json:2", "another entry"},
        {"{\"feet\": [{\"body\": \"left_foot\", \"part\": \"heel\", \"frames\": [1, 3]}]}", "bad.json:1", "ball"},
        {"{\"locked\": [\"head\",\n\"tail\"]}", "bad.json:2", "tail"},
        {"{\"strengths\": {\"head\": -1}}", "bad.json:1", "0 or above"},
        {"{\"unit\": \"parsec\", \"feet\": \"auto\"}", "bad.json:1", "mm"},
        {"{\"constraints\": [\n" POINT "},\n" POINT "}]", "bad.json:3", ""},
        {"{\"hands\": []}", "bad.json:1", "hands"},
    };
    ulna_test_tool *tool = *state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        write_file(tool, "bad.json", files[i].text);
        int code = ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints bad.json");
        if (code != 3 || !strstr(tool->err, files[i].line) || !strstr(tool->err, files[i].says))
            fail_msg("%s: %d, %s", files[i].text, code, tool->err);
    }
}

/* Bytes of a good file that are left out, doubled or changed: never a crash. */
static void damaged_files_do_no_harm(void **state)
{
    static const char good[] =
        "{\"unit\": \"mm\", \"feet\": [{\"body\": \"left_foot\", \"part\": \"ball\", \"frames\": [[1, 2]]}],\n"
        "\"constraints\": [{\"type\": \"box\", \"body\": \"head\", \"lower\": [null, 0, -9e9], \"upper\": [1e9, null, 9e9]},\n"
        "{\"type\": \"linear\", \"dofs\": {\"left_shank\": 1}, \"relation\": \"at least\", \"sum\": -90}],\n"
        "\"locked\": [\"neck\"], \"strengths\": {\"head\": 2}, \"goals\": {\"left_hand\": [1, 2, 3]}}";
    static const char bytes[] = "0123456789-+.eE[]{},:\"ntf \\";
    enum { DAMAGED = 60 };
    ulna_test_tool *tool = *state;
    ulna_test_rng rng = ulna_test_rng_seed(12);
    write_file(tool, "good.json", good);
    assert_in_range(ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints good.json"), 0, 1);
    for (int i = 0; i < DAMAGED; i++) {
        char text[sizeof good + 1];
        int at = ulna_test_rng_index(&rng, (int)strlen(good)), kind = ulna_test_rng_index(&rng, 3);
        memcpy(text, good, sizeof good);
        if (kind == 0)
            memmove(text + at, text + at + 1, sizeof good - (size_t)at - 1);
        else if (kind == 1)
            text[at] = bytes[ulna_test_rng_index(&rng, (int)strlen(bytes))];
        else
            memmove(text + at + 1, good + at, sizeof good - (size_t)at);
        write_file(tool, "damaged.json", text);
        int code = ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints damaged.json");
        if (code != 0 && code != 1 && code != 3)
            fail_msg("%d after %s", code, text);
    }
}

/* Frames outside the take are a note; feet that cannot be found are said. */
static void what_is_not_in_the_take_is_noted(void **state)
{
    ulna_test_tool *tool = *state;
    write_file(tool, "later.json", "{\"constraints\": [" POINT ", \"frames\": [[900, 1000]]}]}");
    json_t *object = solve(tool, "--constraints later.json", 0);
    assert_true(has_note(object, "nothing in common with the take"));
    const json_t *kept = json_object_get(json_object_get(object, "constraints"), "kept");
    assert_null(json_object_get(json_array_get(kept, 0), "worst_frame"));
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints later.json -o feet.svg"), 3);
    ulna_test_says(tool->err, "later.json");
    ulna_test_says(tool->err, "no \"feet\"");
    write_file(tool, "feet.json", "{\"feet\": \"auto\"}");
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d --causal --constraints feet.json"), 3);
    ulna_test_says(tool->err, "--causal");
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints feet.json -o feet.svg"), 3);
    ulna_test_says(tool->err, "nothing to draw");
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d -o feet.svg"), 2);
    ulna_test_says(tool->err, "--constraints");
}

static void too_many_constraints_are_refused(void **state)
{
    enum { MANY = 201 };
    ulna_test_tool *tool = *state;
    char *text = calloc(MANY + 1, 100);
    assert_non_null(text);
    char *end = stpcpy(text, "{\"constraints\": [");
    for (int i = 0; i < MANY; i++)
        end = stpcpy(stpcpy(end, i ? "},\n" : ""), POINT);
    stpcpy(end, "}]}");
    write_file(tool, "many.json", text);
    free(text);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d --constraints many.json"), 3);
    ulna_test_says(tool->err, "201 constraints: at most 200");
    ulna_test_says(tool->err, "ranges of frames");
}

static void methods_say_what_they_keep(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "methods lagrange"), 0);
    ulna_test_says(tool->out, "refuses priorities");
    assert_int_equal(ulna_test_tool_run(tool, "methods hybrid"), 0);
    ulna_test_says(tool->out, "goals by priority");
    ulna_test_says(tool->out, "unless to keep constraints");
}

/* Commands that take goals say what to do with constraints. */
static void global_refuses_constraints(void **state)
{
    ulna_test_tool *tool = *state;
    write_file(tool, "hard.json", "{\"goals\": {\"left_hand\": [0, 1, 0]},\n\"constraints\": [" POINT "}]}");
    assert_int_equal(ulna_test_tool_run(tool, "global human --goals hard.json"), 3);
    ulna_test_says(tool->err, "hard.json:2");
    ulna_test_says(tool->err, "ulna solve --constraints");
    assert_int_equal(ulna_test_tool_run(tool, "compare human --goals hard.json"), 3);
    assert_null(strstr(tool->err, "--bounds")); /* which it does not have */
    write_file(tool, "soft.json", "{\"unit\": \"cm\", \"goals\": {\"left_hand\": [20, 110, 40]}}");
    assert_int_equal(ulna_test_tool_run(tool, "global human --goals soft.json --relax none --starts 1"), 0);
}

static const json_t *row_of(const json_t *object, const char *name)
{
    const json_t *rows = json_object_get(object, "methods");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(json_string_value(json_object_get(row, "name")), name) == 0)
            return row;
    }
    fail_msg("no row of %s", name);
    return NULL;
}

static double figure_of(const json_t *row, const char *key, const char *which)
{
    return json_number_value(json_object_get(json_object_get(row, key), which));
}

/* Feet planted, hands to a place on the floor that is too far away: three methods keep the feet and find the same f. */
static void compare_keeps_constraints(void **state)
{
    static const char reach[] =
        "{\"constraints\": [\n"
        "{\"type\": \"frame\", \"body\": \"left_foot\", \"position\": [0.1, 0.08, 0], \"orientation\": [0, 0, 0, 1]},\n"
        "{\"type\": \"frame\", \"body\": \"right_foot\", \"position\": [-0.1, 0.08, 0], \"orientation\": [0, 0, 0, 1]}],\n"
        "\"goals\": {\"left_hand\": [0.25, 0.1, 1.6], \"right_hand\": [-0.25, 0.1, 1.6]}}";
    static const char *const names[] = {"hybrid", "lagrange", "virtual-work"};
    ulna_test_tool *tool = *state;
    write_file(tool, "reach.json", reach);
    assert_int_equal(ulna_test_tool_run(tool, "compare human --json --constraints reach.json"), 0);
    json_t *object = json_loads(tool->out, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(object, "methods")), 3);
    assert_int_equal(json_integer_value(json_object_get(object, "constraints")), 2);
    double best = figure_of(row_of(object, "hybrid"), "f_m2", "median");
    assert_true(best > 1e-3); /* the hands do not reach that far */
    for (int i = 0; i < 3; i++) {
        const json_t *row = row_of(object, names[i]);
        assert_int_equal(json_integer_value(json_object_get(row, "successes")), 1);
        assert_true(figure_of(row, "violation_mm", "max") < 1e-5);
        assert_true(fabs(figure_of(row, "f_m2", "median") - best) < 1e-6 * best);
    }
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "compare human --constraints reach.json --methods hybrid,lm"), 0);
    ulna_test_says(tool->out, "2 positions; 2 constraints, from reach.json");
    ulna_test_says(tool->out, "violation mm");
    ulna_test_says(tool->out, "method 'lm' does not keep constraints");

    /* Without goals these are random, and the hand that is held is in their way; so is a joint that is locked. */
    write_file(tool, "locked.json", "{\"locked\": [\"left_thigh\"],\n\"constraints\": [" POINT "}]}");
    assert_int_equal(ulna_test_tool_run(tool, "compare human --constraints locked.json --methods hybrid"), 0);
    ulna_test_says(tool->out, "41 markers");

    write_file(tool, "frames.json", "{\"constraints\": [\n" POINT ",\n\"frames\": [1, 2]}]}");
    assert_int_equal(ulna_test_tool_run(tool, "compare human --constraints frames.json"), 3);
    ulna_test_says(tool->err, "frames.json:3");
    ulna_test_says(tool->err, "leave out \"frames\"");
    write_file(tool, "feet.json", "{\n\"feet\": \"auto\"}");
    assert_int_equal(ulna_test_tool_run(tool, "compare human --constraints feet.json"), 3);
    ulna_test_says(tool->err, "feet.json:2");
    ulna_test_says(tool->err, "of the type \"frame\"");
}

/* ---- a walk --------------------------------------------------------------------------------------------------------------- */

/* From the AMC that is written, and the skeleton alone, feet stand where the tool says they do. `skated`: by how many mm before. */
static void check_walk(ulna_test_tool *tool, const char *skeleton_path, const char *inputs, const char *toes[2],
                       unsigned fewest, unsigned most, double skated)
{
    char line[1200], written[256];
    ulna_content skeleton = ulna_content_empty(NULL), motion = ulna_content_empty(NULL);
    ulna_pose *pose;
    write_file(tool, "feet.json", "{\"feet\": \"auto\"}");
    snprintf(line, sizeof line, "solve --json -s %s %s --constraints feet.json -o t.amc -o feet.svg", skeleton_path,
             inputs);
    assert_int_equal(ulna_test_tool_run(tool, line), 0);
    json_t *object = ulna_test_tool_json(tool), *stances = json_object_get(json_object_get(object, "feet"), "stances");
    assert_in_range(json_array_size(stances), fewest, most);
    assert_true(member(object, "feet", "skate_before_mm") > skated && member(object, "feet", "skate_mm") < 1e-3);
    assert_true(member(object, "rms_mm", "mean") < 1.12 * number(object, "rms_unconstrained_mm"));
    assert_int_equal(ulna_content_load(skeleton_path, NULL, &skeleton, NULL), ULNA_OK);
    ulna_read_options options = ulna_read_options_for(&skeleton);
    assert_int_equal(
        ulna_content_load(ulna_test_path(written, sizeof written, tool->folder, "t.amc"), &options, &motion, NULL),
        ULNA_OK);
    assert_int_equal(ulna_pose_create(skeleton.model, NULL, &pose, NULL), ULNA_OK);
    for (size_t i = 0; i < json_array_size(stances); i++) {
        const json_t *s = json_array_get(stances, i);
        int is_right = json_string_value(json_object_get(s, "body"))[0] == 'r';
        int body = ulna_model_find_body(skeleton.model, toes[is_right]);
        double first[3] = {0}, now[3] = {0};
        assert_true(body != ULNA_NONE);
        for (long long f = integer(s, "first"); f <= integer(s, "last"); f++) {
            assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&motion.clip, (int)(f - motion.clip.first_frame))),
                             ULNA_OK);
            ulna_pose_body(pose, body, f == integer(s, "first") ? first : now, NULL);
            for (int k = 0; k < 3 && f > integer(s, "first"); k++)
                assert_near(now[k], first[k], 1e-7);
        }
    }
    char *picture = ulna_test_tool_file(tool, "feet.svg");
    ulna_test_says(picture, "as held");
    free(picture);
    ulna_pose_destroy(pose);
    ulna_content_release(&motion);
    ulna_content_release(&skeleton);
    json_decref(object);
}

static void feet_of_a_walk_stand_in_the_file(void **state)
{
    ulna_test_tool *tool = *state;
    char skeleton[256];
    assert_int_equal(ulna_test_tool_run(tool, "sample --quiet --only walk ."), 0);
    check_walk(tool, ulna_test_path(skeleton, sizeof skeleton, tool->folder, "human.asf"),
               "-m walk.c3d -a walk-markers.csv", (const char *[]){"left_toes", "right_toes"}, 8, 16, 1);
}

static void feet_of_a_recorded_walk_stand_in_the_file(void **state)
{
    ulna_test_tool *tool = *state;
    char line[1200], skeleton[512];
    const char *data = ulna_test_data_dir();
    snprintf(line, sizeof line, "calibrate -s %s/cmu/02.asf -m %s/cmu/02_01.c3d -o a.csv", data, data);
    assert_int_equal(ulna_test_tool_run(tool, line), 0);
    snprintf(line, sizeof line, "-m %s/cmu/02_01.c3d -a a.csv", data);
    check_walk(tool, ulna_test_path(skeleton, sizeof skeleton, data, "cmu/02.asf"), line,
               (const char *[]){"ltoes", "rtoes"}, 5, 8, 5);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_take, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(an_unseen_hand_is_held),
        TEST(a_place_out_of_reach_is_reported),
        TEST(a_hand_is_held_level),
        TEST(mistakes_are_told),
        TEST(a_hand_is_kept_exactly),
        TEST(what_cannot_be_kept_is_named),
        TEST(mistakes_of_a_file_have_a_line),
        TEST(damaged_files_do_no_harm),
        TEST(what_is_not_in_the_take_is_noted),
        TEST(too_many_constraints_are_refused),
        TEST(methods_say_what_they_keep),
        TEST(global_refuses_constraints),
        TEST(compare_keeps_constraints),
        cmocka_unit_test_setup_teardown(feet_of_a_walk_stand_in_the_file, ulna_test_tool_open, ulna_test_tool_close),
        ulna_test_needs("cmu", cmocka_unit_test_setup_teardown(feet_of_a_recorded_walk_stand_in_the_file,
                                                               ulna_test_tool_open, ulna_test_tool_close)),
    };
    return cmocka_run_group_tests_name("ulna solve --constraints", tests, NULL, NULL);
}
