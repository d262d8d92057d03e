/* `ulna solve --constraints`: goals that hold in every frame, besides the markers. */
#include <math.h>
#include <string.h>

#include "support_take.h"
#include "support_tool.h"
#include "ulna/kinematics.h"

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

/* The hand, which no marker shows, is held at a place within reach, and the markers fit as before; by CSV and by JSON. */
static void an_unseen_hand_is_held(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_take take = ulna_test_take_make(FRAMES);
    ulna_pose *pose;
    double place[3], rotation[9];
    char text[256];
    assert_int_equal(ulna_pose_create(take.model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&take.clip, FRAMES / 2)), ULNA_OK);
    ulna_pose_body(pose, ulna_model_find_body(take.model, "left_hand"), place, rotation);
    ulna_pose_destroy(pose);
    ulna_test_take_release(&take);

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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_take, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(an_unseen_hand_is_held),
        TEST(a_place_out_of_reach_is_reported),
        TEST(a_hand_is_held_level),
        TEST(mistakes_are_told),
    };
    return cmocka_run_group_tests_name("ulna solve --constraints", tests, NULL, NULL);
}
