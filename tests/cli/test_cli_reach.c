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
        {"", 2, "no robot given"},
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
        {"arm --goal '0.4 0.2 0.5' -o x.trc", 2, "extension"},
    };
    ulna_test_tool_shell(
        *state, "printf 'x,y,z\\n0.4,0.2,0.5\\n0.4,oops,0.5\\n' >bad.csv; echo 1,2 >short.csv; echo x,y,z >empty.csv");
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
        TEST(constraints_are_kept),
        TEST(the_standard_test),
        TEST(bad_input_has_messages),
        TEST(page_runs_as_written),
        TEST(an_end_that_no_joint_moves_is_no_tip),
        TEST(notes_are_about_joints_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
