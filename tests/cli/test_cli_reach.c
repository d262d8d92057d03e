/* `ulna reach`, run as its users run it: goals of all shapes, several tips, solutions, paths, the standard test, bad input. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_tool.h"
#include "ulna/ulna.h"

static int is(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_boolean(value))
        fail_msg("%s is neither true nor false", key);
    return json_is_true(value);
}

/* Where a link of a sample is at the q of the answer, by forward kinematics. */
static void place(const char *sample, const json_t *q, const char *link, double position[3], double rotation[9])
{
    ulna_model *model;
    ulna_pose *pose;
    double values[128];
    assert_int_equal(ulna_sample_create(sample, NULL, &model, NULL), ULNA_OK);
    assert_int_equal(json_array_size(q), ulna_model_coordinate_count(model));
    for (size_t i = 0; i < json_array_size(q); i++)
        values[i] = json_number_value(json_array_get(q, i));
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, values), ULNA_OK);
    assert_int_equal(ulna_pose_body(pose, ulna_model_find_body(model, link), position, rotation), ULNA_OK);
    ulna_pose_destroy(pose);
    ulna_model_destroy(model);
}

static void a_pose_is_reached(void **state)
{
    double p[3], r[9];
    json_t *o = ulna_test_tool_run_json(*state, "reach", "arm --goal '0.4 0.2 0.5 1 0 0 0'", 0);
    assert_true(is(o, "reached"));
    place("arm", json_object_get(o, "q"), "flange", p, r);
    assert_near(p[0], 0.4, 2e-6);
    assert_near(p[1], 0.2, 2e-6);
    assert_near(p[2], 0.5, 2e-6);
    assert_near(r[0], 1, 2e-6); /* half a turn about x */
    assert_near(r[4], -1, 2e-6);
    assert_int_equal(json_array_size(json_object_get(o, "joints")), 7);
    json_decref(o);
}

static void partial_goals(void **state)
{
    double p[3], r[9];
    json_t *o = ulna_test_tool_run_json(*state, "reach", "arm --goal '0.4 0.2 0.5' --direction 'x 0 0 -1'", 0);
    place("arm", json_object_get(o, "q"), "flange", p, r);
    assert_near(r[6], -1, 2e-6); /* its x axis points down */
    assert_near(p[2], 0.5, 2e-6);
    json_decref(o);
    o = ulna_test_tool_run_json(*state, "reach", "arm --goal '0 0.6 0 0.8'", 0);
    place("arm", json_object_get(o, "q"), "flange", p, r);
    assert_near(r[0], 0.28, 2e-6); /* a rotation about y by 2 asin 0.6, anywhere */
    json_decref(o);
    o = ulna_test_tool_run_json(*state, "reach", "arm --goal '0.4 9 0.5 1 0 0 0' --free 'y, rz'", 0);
    place("arm", json_object_get(o, "q"), "flange", p, r);
    assert_near(p[0], 0.4, 2e-6);
    assert_near(p[2], 0.5, 2e-6);
    assert_near(r[8], -1, 2e-6);
    json_decref(o);
}

static void several_tips_and_links(void **state)
{
    double p[3], r[9], head[3], turn[9];
    json_t *o = ulna_test_tool_run_json(
        *state, "reach",
        "human -t left_hand -g '0.5 1.3 0.3' -t right_hand -g '-0.5 1.3 0.3' -t left_foot -g '0.1 0.1 0'", 0);
    place("human", json_object_get(o, "q"), "right_hand", p, r);
    assert_near(p[0], -0.5, 2e-6);
    assert_int_equal(json_array_size(json_object_get(o, "tips")), 3);
    json_decref(o);
    o = ulna_test_tool_run_json(*state, "reach",
                                "human --lock pelvis --tip left_hand --relative-to head --goal '0.15 0 0.2'", 0);
    place("human", json_object_get(o, "q"), "left_hand", p, r);
    place("human", json_object_get(o, "q"), "head", head, turn);
    for (int k = 0; k < 3; k++) { /* seen from the head */
        double seen = 0;
        for (int i = 0; i < 3; i++)
            seen += turn[3 * i + k] * (p[i] - head[i]);
        assert_near(seen, k == 0 ? 0.15 : k == 1 ? 0 : 0.2, 2e-6);
    }
    json_decref(o);
}

/* All fingertips of a hand at once: each gets where it is in a hand that is half closed. */
static void five_fingertips(void **state)
{
    static const char *const links[] = {"thumb_distal", "index_distal", "middle_distal", "ring_distal",
                                        "little_distal"};
    char line[1000] = "hand --lock forearm";
    double goal[3], p[3], r[9];
    json_t *closed = json_array();
    for (int i = 0; i < 29; i++) /* a root of seven numbers, then angles */
        json_array_append_new(closed, json_real(i == 6 ? 1 : i < 9 ? 0 : -0.2));
    for (int i = 0; i < 5; i++) {
        place("hand", closed, links[i], goal, r);
        size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, " -t %s -g '%.9f %.9f %.9f'", links[i], goal[0], goal[1], goal[2]);
    }
    json_t *o = ulna_test_tool_run_json(*state, "reach", line, 0);
    assert_true(is(o, "reached"));
    for (int i = 0; i < 5; i++) {
        place("hand", closed, links[i], goal, r);
        place("hand", json_object_get(o, "q"), links[i], p, r);
        for (int k = 0; k < 3; k++)
            assert_near(p[k], goal[k], 2e-6);
    }
    json_decref(closed);
    json_decref(o);
    o = ulna_test_tool_run_json(
        *state, "reach",
        "hand -t thumb_distal -t index_distal -t middle_distal -t ring_distal -t little_distal --bench 200", 0);
    assert_near(number(o, "success_percent"), 100, 0);
    assert_int_equal(integer(o, "false_successes"), 0);
    json_decref(o);
}

static void out_of_reach_is_said(void **state)
{
    json_t *o = ulna_test_tool_run_json(*state, "reach", "arm --goal '3 0 0.5'", 1);
    assert_false(is(o, "reached"));
    assert_true(number(o, "position_error_m") > 1.5);
    json_decref(o);
    assert_int_equal(ulna_test_tool_run(*state, "reach arm --goal '3 0 0.5'"), 1);
    ulna_test_says(((ulna_test_tool *)*state)->out, "NOT reached");
    ulna_test_tool *tool = *state; /* how far it gets, where that is the reason */
    assert_int_equal(ulna_test_tool_run(tool, "reach arm --goal '3 0 0'"), 1);
    ulna_test_says(tool->out, "flange gets no farther than 1.02 m from joint shoulder_turn");
    ulna_test_says(tool->out, "3 m away");
    assert_null(strstr(tool->out, "in metres"));
    assert_int_equal(ulna_test_tool_run(tool, "reach arm --goal '0 500 300'"), 1);
    ulna_test_says(tool->out, "goals are in metres");
    assert_int_equal(ulna_test_tool_run(tool, "reach arm --goal '0.01 0 0.01'"), 1);
    assert_null(strstr(tool->out, "no farther"));
    ulna_test_tool_shell(tool,
                         "cat >fixed.urdf <<'EOF'\n"
                         "<robot name=\"r\"><link name=\"base\"/><link name=\"arm\"/><link name=\"fixed\"/>\n"
                         "<joint name=\"j\" type=\"continuous\"><parent link=\"base\"/><child link=\"arm\"/></joint>\n"
                         "<joint name=\"f\" type=\"fixed\"><parent link=\"base\"/><child link=\"fixed\"/></joint>\n"
                         "</robot>\nEOF");
    assert_int_equal(ulna_test_tool_run(tool, "reach fixed.urdf --tip fixed --goal '0.001 0 0'"), 1);
    assert_null(strstr(tool->out, "in metres")); /* no joint moves it: its reach says nothing */
    ulna_test_tool_shell(tool, "sed 's/continuous/spherical/; "
                               "s|<parent link=\"base\"/><child link=\"fixed\"/>|<parent link=\"arm\"/><child "
                               "link=\"fixed\"/><origin xyz=\"0.3 0 0\"/>|' fixed.urdf >ball.urdf");
    o = ulna_test_tool_run_json(tool, "reach", "ball.urdf --tip fixed --goal '0 0.3 0'", 0);
    json_t *ball = json_array_get(json_object_get(o, "joints"), 0); /* ball joints are listed, too */
    assert_int_equal(json_array_size(json_object_get(ball, "quaternion")), 4);
    assert_true(fabs(number(ball, "change") - 1.5707963) < 1e-4);
    json_decref(o);
    /* Milliseconds are not written as thousands of microseconds, 6.08e+03. */
    assert_int_equal(ulna_test_tool_run(*state,
                                        "reach human -t left_hand -g '0.3 9 0.3' -t right_hand -g '0 -9 0' -t head "
                                        "-g '5 5 5' --lock pelvis"),
                     1);
    const char *effort = strstr(((ulna_test_tool *)*state)->out, "  effort");
    assert_non_null(effort);
    assert_true(strtod(effort + strlen("  effort"), NULL) < 1000);
}

static void locks_and_seeds(void **state)
{
    json_t *o =
        ulna_test_tool_run_json(*state, "reach", "arm --goal '0.4 0.2 0.5' --lock upper_arm_turn=0.3 --lock flange", 0);
    json_t *q = json_object_get(o, "q");
    assert_near(json_number_value(json_array_get(q, 2)), 0.3, 1e-12);
    assert_near(json_number_value(json_array_get(q, 6)), 0, 0);
    json_decref(o);
    json_t *any = ulna_test_tool_run_json(*state, "reach",
                                          "arm --goal '0.4 0.2 0.5 1 0 0 0' --seed '0 .5 0 1.3 0 .8 0' --any", 0);
    o = ulna_test_tool_run_json(*state, "reach",
                                "arm --goal '0.4 0.2 0.5 1 0 0 0' --seed '0 .5 0 1.3 0 .8 0' --nearest", 0);
    assert_true(is(o, "reached") && number(o, "distance") <= number(any, "distance") + 1e-9);
    json_decref(any);
    json_decref(o);
}

/* A weak joint of a serial chain moves less, from rest, from a seed and with --nearest; a joint that follows another has no strength of its own. */
static void weak_joints_move_less(void **state)
{
    static const char *const how[] = {"", "--seed '0.2 0.5 0.3 1.3 0.2 0.8 0.1'", "--nearest",
                                      "--nearest --norm largest --seed '0.2 0.5 0.3 1.3 0.2 0.8 0.1'"};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        const double seed = i % 2 ? 0.3 : 0;
        double way[2];
        for (int weak = 0; weak < 2; weak++) {
            char line[200];
            snprintf(line, sizeof line, "arm --goal '0.4 0.2 0.5 1 0 0 0' %s %s", how[i],
                     weak ? "--strength upper_arm_turn=0.01" : "");
            json_t *o = ulna_test_tool_run_json(*state, "reach", line, 0);
            assert_true(is(o, "reached"));
            way[weak] = fabs(json_number_value(json_array_get(json_object_get(o, "q"), 2)) - seed);
            json_decref(o);
        }
        if (!(way[1] < 0.2 * way[0] && way[1] < 0.05))
            fail_msg("%s: the weak joint moves by %g, without --strength by %g", how[i], way[1], way[0]);
    }
}

static const char *const gripper =
    "<robot name='gripper'><link name='base'/><link name='arm'/><link name='hand'/><link name='left'/><link name='right'/>"
    "<joint name='turn' type='revolute'><parent link='base'/><child link='arm'/><axis xyz='0 0 1'/>"
    "<limit lower='-2' upper='2' effort='1' velocity='1'/></joint>"
    "<joint name='bend' type='revolute'><origin xyz='0 0 0.3'/><parent link='arm'/><child link='hand'/><axis xyz='0 1 0'/>"
    "<limit lower='-2' upper='2' effort='1' velocity='1'/></joint>"
    "<joint name='open' type='prismatic'><origin xyz='0.1 0 0'/><parent link='hand'/><child link='left'/><axis xyz='0 1 0'/>"
    "<limit lower='0' upper='0.1' effort='1' velocity='1'/></joint>"
    "<joint name='close' type='prismatic'><origin xyz='0.1 0 0'/><parent link='hand'/><child link='right'/><axis xyz='0 -1 0'/>"
    "<limit lower='0' upper='0.1' effort='1' velocity='1'/><mimic joint='open'/></joint></robot>";

static void joints_that_follow(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *o;
    char line[3000];
    snprintf(line, sizeof line, "cat >gripper.urdf <<'END'\n%s\nEND\n", gripper);
    ulna_test_tool_shell(tool, line);
    assert_int_equal(ulna_test_tool_run(tool, "reach gripper.urdf -t right -g '0.1 -0.05 0.3' --strength close=0.1"),
                     2);
    ulna_test_says(tool->err, "this joint follows open: give --strength for that one");
    assert_int_equal(ulna_test_tool_run(tool, "reach gripper.urdf -t right -g '0.1 -0.05 0.3' --lock close=0.01"), 2);
    ulna_test_says(tool->err, "this joint follows open: give --lock for that one");
    /* The distance counts both, whichever of them is on the way to the tip. */
    for (int left = 0; left < 2; left++) {
        double distance[2];
        for (int is_largest = 0; is_largest < 2; is_largest++) {
            snprintf(line, sizeof line, "gripper.urdf -t %s --nearest %s",
                     left ? "left -g '0.1 0.05 0.3'" : "right -g '0.1 -0.05 0.3'", is_largest ? "--norm largest" : "");
            o = ulna_test_tool_run_json(tool, "reach", line, 0);
            distance[is_largest] = number(o, "distance");
            json_decref(o);
        }
        assert_near(distance[0], sqrt(2) * distance[1], 1e-6);
    }
    /* `ulna global` keeps couplings: fingers on both sides alike are proven, unlike ones are not. */
    o = ulna_test_tool_run_json(tool, "global", "gripper.urdf --goal 'left 0.1 0.05 0.3' --goal 'right 0.1 -0.05 0.3'",
                                0);
    assert_true(is(o, "proven") && number(o, "cost") < 1e-12);
    json_decref(o);
    assert_int_equal(
        ulna_test_tool_run(tool, "global gripper.urdf --goal 'left 0.1 0.09 0.3' --goal 'right 0.1 -0.05 0.3'"), 0);
    ulna_test_says(tool->out, "not proven");
    ulna_test_says(tool->out, "1 joint follows another");
    /* Locked by what it follows, although that is not on its chain, or itself. */
    static const char *const locks[] = {"open", "close", "open=0.02"};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        snprintf(line, sizeof line, "gripper.urdf -t right -g '0.1 -0.05 0.3' --lock %s", locks[i]);
        o = ulna_test_tool_run_json(tool, "reach", line, 1);
        const double at = i < 2 ? 0 : 0.02;
        assert_near(json_number_value(json_array_get(json_object_get(o, "q"), 2)), at, 0);
        assert_near(json_number_value(json_array_get(json_object_get(o, "q"), 3)), at, 0);
        json_decref(o);
    }
}

/* Reach tells what was noticed of joints that move the tip; info tells everything. */
static void notes_are_about_joints_in_use(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, "cat >two.urdf <<'END'\n<robot name='r'><link name='base'/><link name='left'/><link name='right'/>"
              "<joint name='rail' type='prismatic'><parent link='base'/><child link='left'/></joint>"
              "<joint name='slide' type='prismatic'><parent link='base'/><child link='right'/>"
              "<limit lower='0' upper='1'/><mimic joint='nowhere'/></joint></robot>\nEND\n");
    json_t *o = ulna_test_tool_run_json(tool, "reach", "two.urdf -t left -g '0.5 0 0'", 0);
    assert_true(has_note(o, "joint \"rail\" is prismatic but has no <limit>"));
    assert_int_equal(json_array_size(json_object_get(o, "notes")), 1);
    json_decref(o);
    o = ulna_test_tool_run_json(tool, "reach", "two.urdf -t right -g '0.5 0 0'", 0);
    assert_true(has_note(o, "joint \"nowhere\""));
    assert_int_equal(json_array_size(json_object_get(o, "notes")), 1);
    json_decref(o);
    assert_int_equal(ulna_test_tool_run(tool, "info two.urdf"), 0);
    ulna_test_says(tool->out, "\"rail\"");
    ulna_test_says(tool->out, "\"nowhere\"");
}

static void solutions_are_listed_nearest_first(void **state)
{
    json_t *o = ulna_test_tool_run_json(*state, "reach", "arm --goal '0.4 0.2 0.5 1 0 0 0' --all -o all.csv", 0), *row;
    json_t *list = json_object_get(o, "solutions");
    double before = 0;
    size_t i;
    assert_int_equal(json_array_size(list), integer(o, "solutions_found"));
    assert_true(json_array_size(list) >= 2);
    json_array_foreach(list, i, row)
    {
        double p[3], r[9];
        assert_true(is(row, "reached") && number(row, "distance") >= before);
        before = number(row, "distance");
        place("arm", json_object_get(row, "q"), "flange", p, r);
        assert_near(p[0], 0.4, 2e-6);
        assert_near(r[4], -1, 2e-6);
    }
    json_decref(o);
    free(ulna_test_tool_file(*state, "all.csv"));
}

static void paths_are_followed(void **state)
{
    ulna_test_tool_shell(*state, "echo time,x,y,z,qx,qy,qz,qw >line.csv; for i in 0 1 2 3 4 5 6 7 8 9; do"
                                 " echo 0.0$i,0.5,0.1$i,0.3,1,0,0,0; done >>line.csv");
    json_t *o = ulna_test_tool_run_json(*state, "reach", "arm --path line.csv -o joints.csv -o joints.mot", 0);
    assert_int_equal(integer(o, "samples"), 10);
    assert_int_equal(integer(o, "jumps"), 0);
    assert_int_equal(integer(o, "missed"), 0);
    json_decref(o);
    o = ulna_test_tool_run_json(*state, "reach", "arm --path line.csv --seed joints.csv --max-speed 100", 0);
    json_decref(o); /* fast enough */
    o = ulna_test_tool_run_json(*state, "reach", "arm --path line.csv --max-speed 0.5", 1);
    assert_int_equal(integer(o, "missed"), 10); /* 0.005 rad a sample, from rest */
    json_decref(o);
    char *joints = ulna_test_tool_file(*state, "joints.csv");
    ulna_test_says(joints, "shoulder_turn");
    free(joints);
}

/* Two hundred goals, of which every tenth is out of reach. */
static const char *const make_list = "echo x,y,z,qx,qy,qz,qw >list.csv; i=0; while test $i -lt 200; do i=$((i + 1));"
                                     " echo 0.4,0.$((i + 100)),$((i % 10 ? 0 : 3)).5,1,0,0,0.$i; done >>list.csv;";

/* The cell of a column in a row of a CSV file, from 1; free() it. */
static char *cell_of(const ulna_test_tool *tool, const char *file, const char *column, int row)
{
    char script[400];
    snprintf(
        script, sizeof script,
        "awk -F, -v c='%s' -v r=%d 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) n = i; if (!n) exit 1 } NR == r + 1 { "
        "printf \"%%s\", $n }' %s >cell.txt",
        column, row, file);
    ulna_test_tool_shell(tool, script);
    return ulna_test_tool_file(tool, "cell.txt");
}

static void assert_cell(const ulna_test_tool *tool, const char *file, const char *column, int row, const char *expected)
{
    char *cell = cell_of(tool, file, column, row);
    assert_string_equal(cell, expected);
    free(cell);
}

static void rows_are_solved_alone(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, make_list);
    json_t *o = ulna_test_tool_run_json(tool, "reach", "arm --each list.csv -o a.csv -o a.jsonl --threads 1", 1);
    assert_int_equal(integer(o, "goals"), 200);
    assert_int_equal(integer(o, "missed"), 20);
    assert_false(is(o, "reached"));
    assert_int_equal(json_array_size(json_object_get(o, "missed_goals")), 20);
    assert_int_equal(json_array_size(json_object_get(o, "outputs")), 2);
    json_decref(o);
    assert_int_equal(ulna_test_tool_run(tool, "reach arm --each - -o b.csv --threads 3 <list.csv"), 1);
    ulna_test_says(tool->out, "180 of 200 goals reached");
    assert_int_equal(ulna_test_tool_run(tool, "reach arm --each list.csv -o c.jsonl --threads 2"), 1);
    ulna_test_tool_shell(tool, "cmp a.csv b.csv && cmp a.jsonl c.jsonl && head -1 a.csv | grep -q ^goal,status, &&"
                               " test $(wc -l <a.csv) = 201 -a $(wc -l <a.jsonl) = 200 -a ! -e a.csv.0.tmp");
    assert_cell(tool, "a.csv", "status", 9, "reached");
    assert_cell(tool, "a.csv", "status", 10, "closest");
    char *error = cell_of(tool, "a.csv", "position_error_m", 10);
    assert_true(atof(error) > 1);
    free(error);
    /* Each is what the same goal is alone; a line of JSON has the same numbers. */
    assert_int_equal(ulna_test_tool_run(tool, "reach arm -g '0.4 0.117 0.5 1 0 0 0.17' -o one.csv -o one.jsonl"), 0);
    ulna_test_tool_shell(tool, "test \"$(sed -n 18p a.csv | cut -d, -f2-)\" = \"$(sed -n 2p one.csv | cut -d, -f2-)\"");
    ulna_test_tool_shell(tool, "sed -n 17p a.jsonl >line.json");
    char *text = ulna_test_tool_file(tool, "line.json"), *elbow = cell_of(tool, "a.csv", "elbow_rad", 17);
    json_t *line = json_loads(text, 0, NULL);
    double p[3], r[9];
    assert_int_equal(integer(line, "goal"), 17);
    assert_string_equal(json_string_value(json_object_get(line, "status")), "reached");
    assert_near(member(line, "joints", "elbow"), atof(elbow), 0);
    place("arm", json_object_get(line, "q"), "flange", p, r);
    assert_near(p[1], 0.117, 2e-6);
    json_decref(line);
    free(text);
    free(elbow);
    /* From a seed, all of them. */
    assert_int_equal(ulna_test_tool_run(tool, "reach arm --each list.csv --seed a.csv -o d.csv"), 1);
    char *distance = cell_of(tool, "d.csv", "distance", 1);
    assert_true(atof(distance) < 1e-3);
    free(distance);
    assert_cell(tool, "d.csv", "jumped", 1, "0");
}

/* The heading says which number a column has, in any order, and of which tip. */
static void columns_have_names(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "echo 0.4,0.2,0.5 >plain.csv; printf 'x_m,y_m,z_m\\n0.4,0.2,0.5\\n' >units.csv; printf '\"\";\"Z\";\"x\";\"y\"\\r\\n7;0,5;0,4;0,2\\r\\n' >sheet.csv;"
        "printf 'left_hand:x,left_hand:y,left_hand:z,right_hand.x,right_hand.y,right_hand.z\\n"
        "0.5,1.3,0.3,-0.5,1.3,0.3\\n' >named.csv;"
        "printf 'x y z  x y z\\n0.5 1.3 0.3  -0.5 1.3 0.3\\n' >twice.csv; printf 'qx,qy,qz,qw\\n0,0.6,0,0.8\\n' >turn.csv");
    assert_int_equal(ulna_test_tool_run(tool, "reach arm --each plain.csv -o plain.out.csv"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "reach arm --each sheet.csv -o sheet.out.csv"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "reach arm --each units.csv -o units.out.csv"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "reach arm --path sheet.csv -o sheet.path.csv"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "reach human -t left_hand -t right_hand --each named.csv -o n.csv"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "reach human -t left_hand -t right_hand --each twice.csv -o t.csv"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "reach arm --each turn.csv -o turn.out.jsonl"), 0);
    ulna_test_tool_shell(
        tool,
        "cmp plain.out.csv sheet.out.csv && cmp plain.out.csv units.out.csv && cmp n.csv t.csv && grep -q worst_tip n.csv");
    char *text = ulna_test_tool_file(tool, "turn.out.jsonl");
    json_t *line = json_loads(text, 0, NULL);
    double p[3], r[9];
    place("arm", json_object_get(line, "q"), "flange", p, r);
    assert_near(r[0], 0.28, 2e-6);
    json_decref(line);
    free(text);
}

/* What was done is kept, as whole rows, and the signal ends the program. */
static void a_list_can_be_stopped(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "i=0; while test $i -lt 20000; do i=$((i + 1)); echo 9,9,9,9,9,9; done >far.csv;"
        "'" ULNA_TEST_CLI
        "' reach human --lock pelvis --threads 1 -t left_hand -t right_hand --each far.csv -o far.jsonl --json >out 2>err &"
        " p=$!; while test $(cat far.jsonl*.tmp 2>/dev/null | wc -c) -lt 4000; do sleep 0.05; done;"
        "kill -TERM $p; wait $p 2>/dev/null; test $? = 143 || exit 1;"
        "grep -q 'of 20000 goals are done and written' err && test ! -e far.jsonl.0.tmp &&"
        "test \"$(tail -c 3 far.jsonl | tr -d '\\n')\" = '}}'");
    char *out = ulna_test_tool_file(tool, "out"), *rows = ulna_test_tool_file(tool, "far.jsonl");
    json_t *o = json_loads(out, 0, NULL);
    int lines = 0;
    for (const char *at = rows; *at; at++)
        lines += *at == '\n';
    assert_int_equal(integer(o, "goals"), lines);
    assert_int_equal(integer(o, "goals") + integer(o, "goals_left"), 20000);
    json_decref(o);
    free(out);
    free(rows);
}

static void a_path_can_be_stopped(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, "i=0; while test $i -lt 20000; do i=$((i + 1)); echo 9,9,9,9,9,9; done >far.csv;"
              "'" ULNA_TEST_CLI
              "' reach human --lock pelvis -t left_hand -t right_hand --path far.csv -o far.jsonl --json >out 2>err &"
              " p=$!; sleep 2; kill -TERM $p; wait $p 2>/dev/null; test $? = 143 || exit 1;"
              "grep -q 'of 20000 samples are done and written' err && wc -l <far.jsonl >lines");
    char *out = ulna_test_tool_file(tool, "out"), *lines = ulna_test_tool_file(tool, "lines");
    json_t *o = json_loads(out, 0, NULL);
    assert_int_equal(integer(o, "samples"), atoi(lines));
    assert_int_equal(integer(o, "samples") + integer(o, "samples_left"), 20000);
    assert_true(json_is_false(json_object_get(o, "reached")));
    json_decref(o);
    free(out);
    free(lines);
}

/* In pieces, of which the first has the mode of the options: the answers of the library's one pass. */
static void pieces_make_one_path(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "i=0; echo x,y,z >line.csv; while test $i -lt 350; do i=$((i + 1));"
                               " echo 0.4,$(printf '0.%04d' $i),0.5; done >>line.csv");
    assert_int_equal(ulna_test_tool_run(tool, "reach arm -t flange --any --path line.csv -o line.out.csv"), 0);
    ulna_model *model;
    ulna_reach *reach;
    ulna_reach_work *work;
    ulna_reach_goal goals[350];
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    ulna_reach_tip tip = ulna_reach_tip_default(ulna_model_find_body(model, "flange"));
    ulna_reach_options options = ulna_reach_options_default();
    options.mode = ULNA_REACH_ANY;
    int nq = ulna_model_coordinate_count(model);
    for (int k = 3; k < 6; k++)
        tip.weight[k] = 0;
    assert_int_equal(ulna_reach_create(model, 1, &tip, &options, NULL, &reach, NULL), ULNA_OK);
    assert_int_equal(ulna_reach_work_create(reach, NULL, &work, NULL), ULNA_OK);
    for (int i = 0; i < 350; i++)
        goals[i] = (ulna_reach_goal){{0.4, (i + 1) / 1e4, 0.5}, {0, 0, 0, 1}};
    double *q = calloc((size_t)(350 * nq), sizeof *q);
    assert_int_equal(ulna_reach_path(work, 350, goals, NULL, NULL, q, NULL, NULL, NULL), ULNA_OK);
    char *cell = cell_of(tool, "line.out.csv", "elbow_rad", 350);
    assert_near(atof(cell), q[349 * nq + 3], 1e-12);
    free(cell);
    free(q);
    ulna_reach_work_destroy(work);
    ulna_reach_destroy(reach);
    ulna_model_destroy(model);
}

/* The table of a path has what the summary only counts, and is read back in its units. */
static void tables_of_paths(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "i=0; echo time,x,y,z >far.csv; while test $i -lt 50; do i=$((i + 1)); echo $((i - 1)),3,0,0.$i; done >>far.csv");
    json_t *o = ulna_test_tool_run_json(tool, "reach", "arm --path far.csv -o q.csv -o q.mot", 1);
    assert_int_equal(json_array_size(json_object_get(o, "missed_samples")), 20);
    assert_int_equal(integer(o, "missed_more"), 30);
    json_decref(o);
    assert_int_equal(ulna_test_tool_run(tool, "reach arm --path far.csv"), 1);
    ulna_test_says(tool->out, "and 30 more");
    assert_cell(tool, "q.csv", "status", 50, "closest");
    assert_cell(tool, "q.csv", "time_s", 50, "49");
    assert_int_equal(ulna_test_tool_run(tool, "info arm q.csv"), 0);
    assert_null(strstr(tool->out, "assumed"));
    assert_null(strstr(tool->out, "left out"));
    ulna_test_says(tool->out, "50, numbered 1 to 50");
    char *lift = cell_of(tool, "q.csv", "shoulder_lift_rad", 1);
    o = ulna_test_tool_run_json(tool, "reach", "arm -g '3 0 0.1' --seed q.csv --iterations 1 --restarts 0", 1);
    double seed = json_number_value(json_array_get(json_object_get(o, "q"), 1));
    assert_near(seed, atof(lift), 1e-3);
    free(lift);
    json_decref(o);
}

static void constraints_that_are_not_kept(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool,
        "echo '{\"constraints\": [{\"name\": \"ceiling\", \"type\": \"plane\", \"body\": \"elbow\", \"relation\":"
        " \"at least\", \"through\": [0, 0, 9], \"normal\": [0, 0, 1]}, {\"type\": \"plane\", \"body\": \"elbow\","
        " \"relation\": \"at least\", \"through\": [0, 0, -9], \"normal\": [0, 0, 1]}]}' >high.json;"
        "printf 'x,y,z\\n0.4,0.2,0.5\\n' >one.csv");
    json_t *o = ulna_test_tool_run_json(tool, "reach", "arm -g '0.4 0.2 0.5' --constraints high.json -o c.csv", 1),
           *row;
    assert_false(is(o, "reached"));
    assert_int_equal(integer(o, "constraints_not_kept"), 1);
    row = json_array_get(json_object_get(o, "constraints"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "name")), "ceiling");
    assert_string_equal(json_string_value(json_object_get(row, "type")), "plane");
    assert_true(!is(row, "kept") && number(row, "error") > 7 && number(row, "error") < 9);
    assert_true(is(json_array_get(json_object_get(o, "constraints"), 1), "kept"));
    json_decref(o);
    assert_cell(tool, "c.csv", "status", 1, "constraint not kept");
    assert_cell(tool, "c.csv", "constraint_not_kept", 1, "ceiling");
    assert_int_equal(ulna_test_tool_run(tool, "reach arm -g '0.4 0.2 0.5' --constraints high.json"), 1);
    ulna_test_says(tool->out, "a constraint is not kept");
    ulna_test_says(tool->out, "ceiling (plane)");
    static const char *const rows[] = {"--each", "--path"};
    for (int i = 0; i < 2; i++) {
        char line[200];
        snprintf(line, sizeof line, "arm %s one.csv --constraints high.json", rows[i]);
        o = ulna_test_tool_run_json(tool, "reach", line, 1);
        row = json_array_get(json_object_get(o, "constraints"), 0);
        assert_int_equal(integer(row, "not_kept"), 1);
        json_decref(o);
    }
    ulna_test_tool_shell(tool, "sed -i 's/, 9\\]/, 0.7]/' high.json");
    assert_int_equal(ulna_test_tool_run(tool, "reach arm -g '0.4 0.2 0.5' --constraints high.json"), 0);
    ulna_test_says(tool->out, "2 constraints");
}

/* Options about a tip may come in any order. */
static void options_of_a_tip_in_any_order(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const orders[] = {
        "arm -g '0.4 0.2 0.5' --direction '0 0 -1' --weight '1 0.5' -t flange",
        "arm --weight '1 0.5' --direction '0 0 -1' -t flange -g '0.4 0.2 0.5'",
        "arm -t flange --direction '0 0 -1' -g '0.4 0.2 0.5' --weight '1 0.5'",
    };
    json_t *first = NULL;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        json_t *o = ulna_test_tool_run_json(tool, "reach", orders[i], 0);
        if (first)
            assert_true(json_equal(json_object_get(o, "q"), json_object_get(first, "q")));
        json_decref(first);
        first = o;
    }
    json_decref(first);
}

static void constraints_are_kept(void **state)
{
    double p[3], r[9];
    ulna_test_tool_shell(
        *state, "echo '{\"constraints\": [{\"type\": \"plane\", \"body\": \"elbow\", \"relation\": \"at least\","
                " \"through\": [0, 0, 0.75], \"normal\": [0, 0, 1]}], \"locked\": [\"shoulder_turn\"]}' >keep.json;"
                "echo '{\"feet\": \"auto\"}' >feet.json");
    json_t *o = ulna_test_tool_run_json(*state, "reach", "arm --goal '0.4 0.1 0.5' --constraints keep.json", 0);
    place("arm", json_object_get(o, "q"), "elbow", p, r);
    assert_true(p[2] >= 0.75 - 1e-6);
    assert_near(json_number_value(json_array_get(json_object_get(o, "q"), 0)), 0, 0);
    json_decref(o);
    assert_int_equal(ulna_test_tool_run(*state, "reach arm --goal '0.4 0.1 0.5' --constraints feet.json"), 3);
    ulna_test_says(((ulna_test_tool *)*state)->err, "feet.json");
}

static void the_standard_test(void **state)
{
    json_t *o = ulna_test_tool_run_json(*state, "reach", "arm --bench 300 --seed-rng 5", 0);
    assert_near(number(o, "success_percent"), 100, 0);
    assert_int_equal(integer(o, "out_of_limits"), 0);
    assert_int_equal(integer(o, "false_successes"), 0);
    assert_true(member(o, "us", "median") <= member(o, "us", "p99"));
    assert_true(member(o, "iterations", "mean") > 0 && member(o, "restarts", "mean") >= 0);
    json_decref(o);
    o = ulna_test_tool_run_json(*state, "reach", "arm --bench 300 --start near", 0);
    assert_int_equal(integer(o, "jumps"), 0);
    json_decref(o);
    o = ulna_test_tool_run_json(*state, "reach", "hand -t index_distal --free 'rx ry rz' -t thumb_distal --bench 50",
                                0);
    assert_near(number(o, "success_percent"), 100, 0);
    json_decref(o);
}

static void bad_input_has_messages(void **state)
{
    static const struct {
        const char *arguments;
        int code;
        const char *says;
    } cases[] = {
        {"", 2, "no robot given: ulna reach ROBOT, as in: ulna reach arm --goal \"0.4 0.2 0.5\"\n"},
        {"arm", 2, "has no goal"},
        {"nosuch --goal '0 0 0'", 4, "nosuch"},
        {"arm --goal '0.4 0.2'", 2, "--goal takes"},
        {"arm --goal '0.4 nan 0'", 2, "--goal takes"},
        {"arm --goal '0 0 0 0 0 0 0'", 2, "quaternion is zero"},
        {"arm --goal '1e300 0 0'", 3, "too far away"},
        {"arm --tip tol --goal '0 0 0'", 2, "did you mean 'tool'"},
        {"arm --relative-to flanje --goal '0 0 0'", 2, "did you mean 'flange'"},
        {"arm --relative-to flange --goal '0 0 0'", 2, "no joint is between"},
        {"human --goal '0 0 0'", 2, "choose with --tip"},
        {"arm --goal '0 0 1' --free qx", 2, "--free takes"},
        {"arm --goal '0 0 1' --free 'x y z'", 2, "all axes are free"},
        {"arm --goal '0 0 1' --tolerance 0", 2, "not above 0"},
        {"arm --goal '0 0 1' --direction '0 0 0'", 2, "--direction takes"},
        {"arm --goal '0 0 1' --lock knee", 2, "no joint 'knee'"},
        {"arm --goal '0 0 1' --lock elbow=99", 2, "limits are"},
        {"arm --goal '0 0 1' --strength elbow", 2, "JOINT=NUMBER"},
        {"arm --goal '0 0 1' --strength elbow=-1", 2, "0 or above"},
        {"arm --goal '0 0 1' --strength elbow=nan", 2, "'nan' is not a number"},
        {"arm --goal '0 0 1' --strength elbow=inf", 2, "'inf' is not a number"},
        {"arm --goal '0 0 1' --strength elbov=1", 2, "no joint 'elbov'"},
        {"arm --goal '0 0 1' --seed '1 2 3'", 2, "7 numbers"},
        {"arm --goal '0 0 1' --seed nosuch.csv", 4, "nosuch.csv"},
        {"arm --goal '0 0 1' --budget 5", 2, "500us"},
        {"arm --goal '0 0 1' --max-speed 1", 2, "need --path"},
        {"arm --bench 10 --goal '0 0 1'", 2, "goals of its own"},
        {"arm --bench 10 --start far", 2, "random or near"},
        {"arm --path nosuch.csv", 4, "nosuch.csv"},
        {"arm --path bad.csv", 3, "bad.csv:3"},
        {"arm --path short.csv", 3, "short.csv:1"},
        {"arm --path empty.csv", 3, "no poses"},
        {"arm -g '0.4 0.2 0.5' -g '0.3 0.2 0.5'", 2, "tip flange has two --goal"},
        {"arm -t flange -g '0 0 1' -g '0.3 0.2 0.5' -t tool -g '0 0 1'", 2, "tip flange has two --goal"},
        {"arm -g '0 0 1 0 0 0 1' --direction '0 0 1'", 2, "has a rotation already"},
        {"arm -g '0 0 1' -t flange -g '0 0 1' -t tool -g '0 0 1'", 2, "before the first --tip"},
        {"arm --goal 0.4 0.2 0.5", 2, "--goal takes one argument, in quotes: --goal \"0.4 0.2 0.5\""},
        {"arm --goal 0.4 -0.2 0.5", 2, "--goal \"0.4 -0.2 0.5\""},
        {"arm --seed 1 2 3", 2, "--seed \"1 2 3\""},
        {"arm --goal 0.4 5 7", 2, "unexpected argument '5'"}, /* which is a file */
        {"arm -t wrist -g '0 0 1'", 2, "did you mean 'wrist_lift'"},
        {"human -t hand -g '0 0 1'", 2, "did you mean 'left_hand'"},
        {"human -t left_arm -g '0 0 1'", 2, "did you mean 'left_upper_arm'"},
        {"arm -t gripper -g '0 0 1'", 2, "`ulna info --tree arm` lists them"},
        {"arm --goal '0 0 1' --lock elbov", 2, "did you mean 'elbow'"},
        {"arm --each nosuch.csv", 4, "nosuch.csv"},
        {"arm --each bad.csv", 3, "bad.csv:3: column 2, 'oops', is not a finite number"},
        {"arm --each short.csv", 3, "short.csv:1: 2 columns"},
        {"arm --each empty.csv", 3, "no goals"},
        {"arm --each nothing.csv", 3, "empty"},
        {"arm --each nan.csv", 3, "nan.csv:2: column 3, 'nan', is not a finite number"},
        {"arm --each gap.csv", 3, "gap.csv:2: column 2 is empty"},
        {"arm --each more.csv", 3, "more.csv:2: 4 columns; the lines above have 3"},
        {"arm --each far.csv", 3, "far.csv:1: a goal is too far away"},
        {"arm --each null.csv", 3, "null.csv:2: the quaternion of tip flange is zero"},
        {"arm --each names.csv", 3, "names.csv:1: column 2, 'why'"},
        {"arm --each lacks.csv", 3, "lacks.csv:1: there is no column qw"},
        {"arm --each zero.csv", 3, "zero byte"},
        {"arm --each .", 4, "directory"},
        {"arm --each plain.csv --path plain.csv", 2, "either --each"},
        {"arm --each plain.csv --goal '0 0 1'", 2, "leave out --goal"},
        {"arm --each plain.csv --all", 2, "either --all or --each"},
        {"arm --each plain.csv --rate 10", 2, "need --path"},
        {"arm --each plain.csv -o plain.csv", 2, "overwrite"},
        {"arm --each plain.csv -o x.mot", 2, "ends with .csv or .jsonl"},
        {"arm --each plain.csv -o /dev/full/x.csv", 4, "/dev/full"},
        {"arm --goal '0.4 0.2 0.5' -o x.trc", 2, "extension"},
    };
    ulna_test_tool_shell(
        *state,
        "printf 'x,y,z\\n0.4,0.2,0.5\\n0.4,oops,0.5\\n' >bad.csv; echo 1,2 >short.csv; echo x,y,z >empty.csv;"
        "printf 'x,y,z\\n0.4,0.2,nan\\n' >nan.csv; printf 'x,y,z\\n0.4,,0.5\\n' >gap.csv; echo 1e300,0,0 >far.csv;"
        "printf '0,0,1\\n0,0,1,2\\n' >more.csv; printf 'x,y,z,qx,qy,qz,qw\\n0,0,1,0,0,0,0\\n' >null.csv;"
        "printf 'x,why,z\\n' >names.csv; printf 'x,y,z,qx,qy,qz\\n' >lacks.csv; : >nothing.csv; echo 0.4,0.2,0.5 >plain.csv;"
        "printf '0,0,1\\n0,\\0,1\\n' >zero.csv; : >5");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[300];
        snprintf(line, sizeof line, "reach %s", cases[i].arguments);
        int code = ulna_test_tool_run(*state, line);
        if (code != cases[i].code)
            fail_msg("ulna %s: exit code %d, not %d: %s", line, code, cases[i].code, ((ulna_test_tool *)*state)->err);
        ulna_test_says(((ulna_test_tool *)*state)->err, cases[i].says);
    }
}

/* A plate on the base is an end, too, but none that a goal can be meant for. */
static void an_end_that_no_joint_moves_is_no_tip(void **state)
{
    ulna_test_tool_shell(
        *state, "cat >plate.urdf <<'END'\n<robot name='r'><link name='base'/><link name='plate'/><link name='hand'/>"
                "<joint name='nail' type='fixed'><parent link='base'/><child link='plate'/></joint>"
                "<joint name='rail' type='prismatic'><parent link='base'/><child link='hand'/><axis xyz='1 0 0'/>"
                "<limit lower='0' upper='1'/></joint></robot>\nEND\n");
    assert_int_equal(ulna_test_tool_run(*state, "reach plate.urdf --goal '0.5 0 0'"), 0);
    ulna_test_says(((ulna_test_tool *)*state)->out, "hand  reached");
    assert_int_equal(ulna_test_tool_run(*state, "reach plate.urdf --goal '3 0 0'"), 1);
    ulna_test_says(((ulna_test_tool *)*state)->out, "hand  closest             2 m");
}

/* Every block of commands in docs/reach.md, one after the other. */
static void page_runs_as_written(void **state)
{
    ulna_test_tool_shell(*state,
                         "mkdir bin; ln -s '" ULNA_TEST_CLI "' bin/ulna; PATH=$PWD/bin:$PATH; export PATH;"
                         "sed -n '/^```sh$/,/^```$/{/^```/d;p}' '" ULNA_SOURCE_DIR "/docs/reach.md' >page.sh;"
                         "test $(wc -l <page.sh) -ge 12 && sh -e page.sh >out 2>err || { cat out err; exit 1; };"
                         "test -s joints.csv -a -s slow.csv");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, ulna_test_tool_open, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(a_pose_is_reached),
        TEST(partial_goals),
        TEST(several_tips_and_links),
        TEST(five_fingertips),
        TEST(out_of_reach_is_said),
        TEST(locks_and_seeds),
        TEST(weak_joints_move_less),
        TEST(joints_that_follow),
        TEST(solutions_are_listed_nearest_first),
        TEST(paths_are_followed),
        TEST(rows_are_solved_alone),
        TEST(columns_have_names),
        TEST(a_list_can_be_stopped),
        TEST(a_path_can_be_stopped),
        TEST(pieces_make_one_path),
        TEST(tables_of_paths),
        TEST(constraints_that_are_not_kept),
        TEST(options_of_a_tip_in_any_order),
        TEST(constraints_are_kept),
        TEST(the_standard_test),
        TEST(bad_input_has_messages),
        TEST(page_runs_as_written),
        TEST(an_end_that_no_joint_moves_is_no_tip),
        TEST(notes_are_about_joints_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
