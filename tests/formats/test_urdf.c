/* URDF: what each element means, what is refused and where, attacks, memory that runs out. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/math3.h"
#include "model/model.h"
#include "support.h"
#include "ulna/formats.h"
#include "ulna/kinematics.h"

static ulna_content read_text(const char *text)
{
    ulna_content content = ulna_content_empty(NULL);
    ulna_error error;
    assert_int_equal(ulna_format_sniff(text, strlen(text)), ULNA_FORMAT_URDF);
    if (ulna_content_read(text, strlen(text), ULNA_FORMAT_UNKNOWN, NULL, &content, &error) != ULNA_OK)
        fail_msg("line %d: %s", error.line, error.message);
    return content;
}

static void check_remark(const ulna_content *content, size_t index, int line, const char *words)
{
    assert_true(index < content->remarks.count);
    if (content->remarks.items[index].line != line || !strstr(content->remarks.items[index].message, words))
        fail_msg("line %d: %s", content->remarks.items[index].line, content->remarks.items[index].message);
}

/* ---- what is read --------------------------------------------------------------------------------------------------- */

/* Every type of joint, limits, defaults, names, masses; and what is passed over without a word. */
static const char all_types[] =
    "<?xml version='1.0' encoding='UTF-8'?>\n"
    "<!-- a comment -->\n"
    "<robot name='everything'>\n"
    "  <material name='grey'><color rgba='1 1 1 1'/></material>\n"
    "  <joint name='j_fixed' type='fixed'><parent link='slide'/><child link='tool'/>\n"
    "    <origin xyz='0 0 0.1'/></joint>\n" /* before its links */
    "  <link name='base'><visual><geometry><mesh filename='a.stl'/></geometry></visual>\n"
    "    <collision><origin xyz='nonsense'/></collision></link>\n"
    "  <link name='turn'><inertial><origin xyz='1 2 3' rpy='0 0 1.5707963267948966'/><mass value='2.5'/>\n"
    "    <inertia ixx='1' ixy='0' ixz='0' iyy='2' iyz='0.25' izz='3'/></inertial></link>\n"
    "  <link name='spin'/><link name='slide'/><link name='tool'/><link name='ball'/><link name='raft'/><link name='kite'/>\n"
    "  <joint name='j_turn' type='revolute'>\n"
    "    <origin xyz='1 0 0' rpy='0.1 0.2 0.3'/><parent link='base'/><child link='turn'/>\n"
    "    <axis xyz='0 0 2'/><limit lower='-1.5' upper='2' effort='1' velocity='1'/><dynamics damping='1'/></joint>\n"
    "  <joint name='j_spin' type='continuous'><parent link='turn'/><child link='spin'/><limit effort='1' velocity='1'/></joint>\n"
    "  <joint name='j_slide' type='prismatic'><parent link='spin'/><child link='slide'/><axis xyz='0 1 0'/>\n"
    "    <limit upper='0.5' effort='1' velocity='1'/></joint>\n"
    "  <joint name='j_ball' type='spherical'><parent link='base'/><child link='ball'/></joint>\n"
    "  <joint name='j_raft' type='planar'><parent link='base'/><child link='raft'/><axis xyz='0 0 1'/></joint>\n"
    "  <joint name='j_kite' type='floating'><parent link='base'/><child link='kite'/></joint>\n"
    "  <transmission name='t'><joint name='j_turn'/></transmission>\n"
    "  <gazebo reference='x'><joint type='q'/></gazebo>\n"
    "</robot>\n";

static void every_type_is_read(void **state)
{
    (void)state;
    ulna_content content = read_text(all_types);
    const ulna_model *m = content.model;
    assert_string_equal(ulna_model_name(m), "everything");
    assert_int_equal(ulna_model_body_count(m), 8);
    assert_int_equal(ulna_model_dof_count(m), 3 + 3 + 3 + 6);
    assert_int_equal(content.remarks.count, 1);
    check_remark(&content, 0, 18, "spherical");
    static const struct {
        const char *link, *joint, *parent;
        ulna_joint_type type;
    } expected[] = {
        {"turn", "j_turn", "base", ULNA_JOINT_REVOLUTE},    {"spin", "j_spin", "turn", ULNA_JOINT_REVOLUTE},
        {"slide", "j_slide", "spin", ULNA_JOINT_PRISMATIC}, {"tool", "j_fixed", "slide", ULNA_JOINT_FIXED},
        {"ball", "j_ball", "base", ULNA_JOINT_BALL},        {"raft", "j_raft", "base", ULNA_JOINT_PLANAR},
        {"kite", "j_kite", "base", ULNA_JOINT_FREE},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        int body = ulna_model_find_body(m, expected[i].link);
        assert_int_not_equal(body, ULNA_NONE);
        assert_int_equal(ulna_model_body_joint(m, body)->type, expected[i].type);
        assert_string_equal(ulna_model_joint_name(m, body), expected[i].joint);
        assert_int_equal(ulna_model_find_joint(m, expected[i].joint), body);
        assert_string_equal(ulna_model_body_name(m, ulna_model_body_parent(m, body)), expected[i].parent);
    }
    assert_int_equal(ulna_model_body_joint(m, 0)->type, ULNA_JOINT_FIXED);

    int turn, spin, slide;
    ulna_model_body_dofs(m, ulna_model_find_body(m, "turn"), &turn);
    ulna_model_body_dofs(m, ulna_model_find_body(m, "spin"), &spin);
    ulna_model_body_dofs(m, ulna_model_find_body(m, "slide"), &slide);
    assert_true(m->lower[turn] == -1.5 && m->upper[turn] == 2);
    assert_true(isinf(m->lower[spin]) && isinf(m->upper[spin]));
    assert_true(m->lower[slide] == 0 && m->upper[slide] == 0.5); /* lower is 0 by default */
    const double *axis = ulna_model_body_joint(m, ulna_model_find_body(m, "spin"))->axis;
    assert_true(axis[0] == 1 && axis[1] == 0 && axis[2] == 0);
    axis = ulna_model_body_joint(m, ulna_model_find_body(m, "turn"))->axis;
    assert_true(axis[0] == 0 && axis[1] == 0 && axis[2] == 1);

    /* a quarter turn about z exchanges the moments about x and y; iyz goes to xz, with a sign */
    const ulna_mass *mass = ulna_model_body_mass(m, ulna_model_find_body(m, "turn"));
    const double inertia[6] = {2, 1, 3, 0, -0.25, 0};
    assert_true(mass->mass == 2.5 && mass->center[0] == 1 && mass->center[1] == 2 && mass->center[2] == 3);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(mass->inertia[i] - inertia[i]) < 1e-15);

    /* rpy: about fixed x, then y, then z */
    double rotation[9], position[3], x[9], y[9], z[9], zy[9], zyx[9];
    ulna_model_body_placement(m, ulna_model_find_body(m, "turn"), position, rotation);
    ulna_rotation_about(0, 0.1, x);
    ulna_rotation_about(1, 0.2, y);
    ulna_rotation_about(2, 0.3, z);
    ulna_multiply9(z, y, zy);
    ulna_multiply9(zy, x, zyx);
    for (int i = 0; i < 9; i++)
        assert_true(fabs(rotation[i] - zyx[i]) < 1e-15);
    ulna_content_release(&content);
}

#define TWO_LINKS "<link name='a'/><link name='b'/><link name='c'/>"
#define JOINT(name, type, parent, child, more)                                                                         \
    "<joint name='" name "' type='" type "'><parent link='" parent "'/><child link='" child "'/>" more "</joint>"

static void mimics_are_couplings(void **state)
{
    (void)state;
    ulna_content content =
        read_text("<robot name='gripper'>" TWO_LINKS JOINT(
            "right", "prismatic", "a", "c",
            "<limit lower='0' upper='0.1'/><mimic joint='left' multiplier='-2' offset='0.02'/>")
                      JOINT("left", "prismatic", "a", "b", "<limit lower='-1' upper='1'/>") "</robot>");
    int count;
    const ulna_coupling *c = ulna_model_couplings(content.model, &count);
    assert_int_equal(count, 1);
    assert_int_equal(ulna_model_dof_body(content.model, c->dof), ulna_model_find_joint(content.model, "right"));
    assert_int_equal(ulna_model_dof_body(content.model, c->master), ulna_model_find_joint(content.model, "left"));
    assert_true(c->multiplier == -2 && c->offset == 0.02);
    assert_true(fabs(content.model->lower[c->master] + 0.04) < 1e-15 &&
                fabs(content.model->upper[c->master] - 0.01) < 1e-15);
    assert_int_equal(content.remarks.count, 0);
    ulna_content_release(&content);
}

static double limit(const ulna_content *content, const char *joint, int is_upper)
{
    int dof;
    ulna_model_body_dofs(content->model, ulna_model_find_joint(content->model, joint), &dof);
    return (is_upper ? ulna_model_upper : ulna_model_lower)(content->model)[dof];
}

/* As in many grippers: -1 times, with the limits of the joint that leads. Those that agree with it count, the others do not. */
static void limits_of_a_mimic_do_not_freeze_what_leads(void **state)
{
    (void)state;
    static const struct {
        const char *follower; /* of one that leads and has limits from 0 to 1 */
        double upper;         /* of the one that leads; its lower limit stays 0 */
        double low, high;     /* of the follower */
        int is_noted;
    } cases[] = {
        {"<limit lower='0' upper='1'/><mimic joint='m' multiplier='-1'/>", 1, -1, 0, 1},
        {"<limit lower='-0.4' upper='0'/><mimic joint='m' multiplier='-1'/>", 0.4, -0.4, 0, 0},
        {"<limit lower='2' upper='3'/><mimic joint='m'/>", 1, 0, 1, 1}, /* none in common */
        {"<limit lower='0' upper='1'/><mimic joint='m' multiplier='0' offset='2'/>", 1, 2, 2, 1},
        {"<limit lower='0' upper='0'/><mimic joint='m' multiplier='2'/>", 1, 0, 2, 1},
        {"<mimic joint='m' multiplier='3'/><limit lower='0' upper='0.6'/>", 0.2, 0, 0.6, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "<robot name='x'>" TWO_LINKS
                 "%s\n<joint name='n' type='prismatic'><parent link='a'/><child link='c'/>%s"
                 "</joint></robot>",
                 JOINT("m", "prismatic", "a", "b", "<limit lower='0' upper='1'/>"), cases[i].follower);
        ulna_content content = read_text(text);
        const double is[] = {limit(&content, "m", 0), limit(&content, "m", 1), limit(&content, "n", 0),
                             limit(&content, "n", 1)},
                     should[] = {0, cases[i].upper, cases[i].low, cases[i].high};
        for (int k = 0; k < 4; k++)
            if (!(fabs(is[k] - should[k]) < 1e-12))
                fail_msg("%s: limits %g to %g, follower %g to %g", cases[i].follower, is[0], is[1], is[2], is[3]);
        assert_int_equal(content.remarks.count, cases[i].is_noted);
        if (cases[i].is_noted) {
            check_remark(&content, 0, 2, "leave joint \"m\", which it mimics, no room to move: they are not used");
            assert_int_equal(content.remarks.items[0].body, ulna_model_find_joint(content.model, "n"));
        }
        ulna_content_release(&content);
    }
}

/* Two that agree with the joint that leads, but not with each other: the first counts. Chains, and one that is locked. */
static void limits_of_several_mimics(void **state)
{
    (void)state;
    ulna_content content =
        read_text("<robot name='x'>" TWO_LINKS
                  "<link name='d'/>" JOINT("m", "revolute", "a", "b", "<limit lower='-1' upper='1'/>")
                      JOINT("n", "revolute", "a", "c", "<limit lower='0' upper='0.5'/><mimic joint='m'/>")
                          JOINT("o", "revolute", "a", "d",
                                "<limit lower='0' upper='2'/><mimic joint='n' multiplier='-2'/>") "</robot>");
    assert_true(fabs(limit(&content, "m", 0)) < 1e-12);
    assert_true(fabs(limit(&content, "m", 1) - 0.5) < 1e-12);
    assert_true(fabs(limit(&content, "o", 0) + 1) < 1e-12);
    check_remark(&content, 0, 1, "joint \"o\": its limits, 0 to 2");
    assert_int_equal(content.remarks.count, 1);
    ulna_content_release(&content);
    content =
        read_text("<robot name='x'>" TWO_LINKS JOINT("m", "revolute", "a", "b", "<limit lower='1' upper='1'/>")
                      JOINT("n", "revolute", "a", "c", "<limit lower='0' upper='2'/><mimic joint='m'/>") "</robot>");
    assert_true(fabs(limit(&content, "n", 1) - 1) < 1e-12); /* it is the one that leads which stands still */
    assert_int_equal(content.remarks.count, 0);
    ulna_content_release(&content);
}

static void mimics_that_mean_nothing_are_passed_over(void **state)
{
    (void)state;
    static const struct {
        const char *joint, *words;
        int dofs;
    } cases[] = {
        {JOINT("n", "fixed", "b", "c", "<mimic joint='m'/>"), "joint \"n\" (fixed) mimics joint \"m\" (revolute)", 1},
        {JOINT("n", "revolute", "b", "c", "<limit lower='0' upper='1'/><mimic joint='z'/>"),
         "mimics joint \"z\" (there is none of that name)", 2},
        {JOINT("n", "floating", "b", "c", "<mimic joint='m'/>"), "(floating) mimics", 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        snprintf(text, sizeof text, "<robot name='x'>" TWO_LINKS "%s\n%s</robot>",
                 JOINT("m", "revolute", "a", "b", "<limit lower='-1' upper='1'/>"), cases[i].joint);
        ulna_content content = read_text(text);
        int count;
        ulna_model_couplings(content.model, &count);
        assert_int_equal(count, 0);
        assert_int_equal(ulna_model_dof_count(content.model), cases[i].dofs);
        assert_int_equal(content.remarks.count, 1);
        check_remark(&content, 0, 2, cases[i].words);
        assert_int_equal(content.remarks.items[0].body, ulna_model_find_joint(content.model, "n"));
        ulna_content_release(&content);
    }
    ulna_content content = read_text("<robot name='x'>" TWO_LINKS JOINT("m", "fixed", "a", "b", "")
                                         JOINT("n", "continuous", "a", "c", "<mimic joint='m'/>") "</robot>");
    check_remark(&content, 0, 1, "mimics joint \"m\" (fixed)");
    ulna_content_release(&content);
}

/* Each is read by programs that are in use; where two elements are of one kind, the first counts. */
static void what_others_read_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *joint, *words;
        double at, lower, upper;
    } cases[] = {
        {JOINT("m", "revolute", "a", "b", "<limit lower='-1' upper='2'/><origin xyz='3 0 0'/>\n<origin xyz='4 0 0'/>"),
         "joint \"m\" has a second <origin>, which is passed over", 3, -1, 2},
        {JOINT("m", "revolute", "a", "b", "<origin xyz='3 0 0'/>\n<limit lower='1' upper='-1'/>"),
         "joint \"m\": its lower limit 1 exceeds the upper one, -1: it is read without limits", 3, -INFINITY, INFINITY},
        {JOINT("m", "prismatic", "a", "b",
               "<limit lower='-1' upper='2'/>\n<origin xyz='3, 0,-0.5'/><axis xyz='0,0,1'/>"),
         "commas between numbers are read as blanks", 3, -1, 2},
        {"<link name='d'><inertial><mass value='7'/></inertial>\n<inertial><mass value='8'/></inertial></link>" JOINT(
             "k", "fixed", "b", "d", "")
             JOINT("m", "revolute", "a", "b", "<limit lower='-1' upper='2'/><origin xyz='3 0 0'/>"),
         "link \"d\" has a second <inertial>", 3, -1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        double place[3];
        snprintf(text, sizeof text, "<robot name='x'>" TWO_LINKS "%s%s</robot>", cases[i].joint,
                 JOINT("l", "fixed", "b", "c", ""));
        ulna_content content = read_text(text);
        assert_int_equal(content.remarks.count, 1);
        check_remark(&content, 0, 2, cases[i].words);
        ulna_model_body_placement(content.model, ulna_model_find_body(content.model, "b"), place, NULL);
        assert_true(place[0] == cases[i].at);
        assert_true(ulna_model_lower(content.model)[0] == cases[i].lower);
        assert_true(ulna_model_upper(content.model)[0] == cases[i].upper);
        ulna_content_release(&content);
    }
    /* Blank lines before the declaration, which are counted in errors. */
    ulna_content content = read_text("\n \n<?xml version='1.0'?>\n<robot name='x'><link name='a'/></robot>");
    assert_int_equal(content.remarks.count, 0);
    ulna_content_release(&content);
    static const char wrong[] = "\n\n<?xml version='1.0'?>\n<robot name='x'><link/></robot>";
    ulna_error error;
    ulna_error_clear(&error);
    content = ulna_content_empty(NULL);
    assert_int_equal(ulna_content_read(wrong, sizeof wrong - 1, ULNA_FORMAT_URDF, NULL, &content, &error),
                     ULNA_ERR_PARSE);
    assert_int_equal(error.line, 4);
    ulna_content_release(&content);
    /* A follower whose limits are the wrong way round does not stop the joint that leads. */
    content =
        read_text("<robot name='x'>" TWO_LINKS JOINT("m", "revolute", "a", "b", "<limit lower='-1' upper='1'/>")
                      JOINT("n", "revolute", "b", "c", "<limit lower='1' upper='0'/><mimic joint='m'/>") "</robot>");
    assert_true(ulna_model_lower(content.model)[0] == -1 && ulna_model_upper(content.model)[0] == 1);
    assert_int_equal(content.remarks.count, 1);
    ulna_content_release(&content);
}

static void defects_with_a_clear_meaning_are_read(void **state)
{
    (void)state;
    ulna_content content = read_text("<robot>" TWO_LINKS "<extra/>\n<more/>" JOINT("m", "revolute", "a", "b", "") JOINT(
        "n", "revolute", "b", "c", "\n<limit effort='1' velocity='1'/><odd/>") "</robot>");
    assert_string_equal(ulna_model_name(content.model), "");
    assert_int_equal(content.remarks.count, 3);
    check_remark(&content, 0, 3, "cannot move");
    check_remark(&content, 1, 2, "no <limit>");
    check_remark(&content, 2, 1, "3 elements are not of URDF, such as <extra>");
    ulna_content_release(&content);

    static const char zeros[] = "<robot name='a'><link name='a'/></robot>\n\0\0";
    content = ulna_content_empty(NULL);
    assert_int_equal(ulna_content_read(zeros, sizeof zeros, ULNA_FORMAT_UNKNOWN, NULL, &content, NULL), ULNA_OK);
    check_remark(&content, 0, 0, "zero bytes");
    ulna_content_release(&content);
}

/* A comma as the decimal point of the machine's locale changes nothing. */
static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    const char *before = setlocale(LC_ALL, NULL);
    char kept[100];
    snprintf(kept, sizeof kept, "%s", before ? before : "C");
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        setlocale(LC_ALL, "de_DE.utf8");
    ulna_content content = read_text("<robot name='x'>" TWO_LINKS JOINT(
        "m", "fixed", "a", "b", "<origin xyz='1.5 -2.5e-1 +.125'/>") JOINT("n", "fixed", "a", "c", "") "</robot>");
    double position[3];
    ulna_model_body_placement(content.model, ulna_model_find_body(content.model, "b"), position, NULL);
    setlocale(LC_ALL, kept);
    assert_true(position[0] == 1.5 && position[1] == -0.25 && position[2] == 0.125);
    ulna_content_release(&content);
}

/* ---- what is refused ------------------------------------------------------------------------------------------------- */

typedef struct refusal {
    const char *text;
    ulna_status status;
    int line;
    const char *words;
} refusal;

// clang-format off
static const refusal refusals[] = {
    {"<robot name='x'>\n</robot>", ULNA_ERR_MODEL, 0, "no links"},
    {"<robot name='x'><link name='a'/>\n<link name='a'/></robot>", ULNA_ERR_MODEL, 2, "two links are called \"a\": the first is in line 1"},
    {"<robot name='x'>\n<link/></robot>", ULNA_ERR_PARSE, 2, "<link> needs a name"},
    {"<robot name='x'>" TWO_LINKS "\n</robot>", ULNA_ERR_MODEL, 1, "two links have no parent: \"a\" (line 1) and \"b\""},
    {"<robot name='x'>" TWO_LINKS "\n" JOINT("m", "fixed", "a", "b", "") "\n" JOINT("n", "fixed", "a", "b", "") "</robot>", ULNA_ERR_MODEL, 3, "link \"b\" has two parents, by joint \"m\" (line 2) and joint \"n\""},
    {"<robot name='x'>" TWO_LINKS "\n" JOINT("m", "fixed", "a", "b", "") "\n" JOINT("m", "fixed", "a", "c", "") "</robot>", ULNA_ERR_MODEL, 3, "two joints are called \"m\": the first is in line 2"},
    {"<robot name='x'>" TWO_LINKS "\n" JOINT("m", "fixed", "b", "c", "") "\n" JOINT("n", "fixed", "c", "b", "") "</robot>", ULNA_ERR_MODEL, 3, "its own ancestor"},
    {"<robot name='x'><link name='a'/>\n" JOINT("m", "fixed", "a", "a", "") "</robot>", ULNA_ERR_MODEL, 2, "link \"a\" is its own ancestor"},
    {"<robot name='x'>" TWO_LINKS "\n" JOINT("m", "fixed", "nobody", "b", "") "</robot>", ULNA_ERR_MODEL, 2, "joint \"m\": there is no link \"nobody\", its parent"},
    {"<robot name='x'>" TWO_LINKS "\n" JOINT("m", "fixed", "a", "nobody", "") "</robot>", ULNA_ERR_MODEL, 2, "there is no link \"nobody\", its child"},
    {"<robot name='x'>" TWO_LINKS "\n<joint name='m' type='fixed'><child link='b'/></joint></robot>", ULNA_ERR_PARSE, 2, "joint \"m\" has no <parent>"},
    {"<robot name='x'>" TWO_LINKS "<joint name='m' type='fixed'>\n<parent/></joint></robot>", ULNA_ERR_PARSE, 2, "joint \"m\": <parent> needs a link"},
    {"<robot name='x'>" TWO_LINKS "\n<joint name='m'/></robot>", ULNA_ERR_PARSE, 2, "<joint> needs a type"},
    {"<robot name='x'>" TWO_LINKS "\n<joint type='fixed'/></robot>", ULNA_ERR_PARSE, 2, "<joint> needs a name"},
    {"<robot name='x'>" TWO_LINKS "\n<joint name='m' type='hinge'/></robot>", ULNA_ERR_PARSE, 2, "unknown type \"hinge\""},
    {"<robot name='x'>" TWO_LINKS JOINT("m", "revolute", "a", "b", "\n<axis xyz='0 0 0'/>") "</robot>", ULNA_ERR_MODEL, 2, "zero length"},
    {"<robot name='x'>" TWO_LINKS JOINT("m", "revolute", "a", "b", "\n<axis xyz='0 1'/>") "</robot>", ULNA_ERR_PARSE, 2, "three numbers"},
    {"<robot name='x'>" TWO_LINKS JOINT("m", "revolute", "a", "b", "\n<axis xyz='0 1 2 3'/>") "</robot>", ULNA_ERR_PARSE, 2, "three numbers"},
    {"<robot name='x'>" TWO_LINKS JOINT("m", "revolute", "a", "b", "\n<origin xyz='0 1,5 0'/>") "</robot>", ULNA_ERR_PARSE, 2, "<origin xyz=\"0 1,5 0\">"},
    {"<robot name='x'>" TWO_LINKS JOINT("m", "revolute", "a", "b", "\n<origin rpy='nan 0 0'/>") "</robot>", ULNA_ERR_PARSE, 2, "three numbers"},
    {"<robot name='x'>" TWO_LINKS JOINT("m", "revolute", "a", "b", "\n<origin xyz='1e999 0 0'/>") "</robot>", ULNA_ERR_PARSE, 2, "three numbers"},
    {"<robot name='x'>" TWO_LINKS JOINT("m", "revolute", "a", "b", "\n<limit lower='low'/>") "</robot>", ULNA_ERR_PARSE, 2, "one number"},
    {"<robot name='x'>\n<link name='a'><inertial><mass value='-1'/></inertial></link></robot>", ULNA_ERR_MODEL, 2, "negative"},
    {"<robot name='x'>" TWO_LINKS JOINT("m", "revolute", "a", "b", "<mimic joint='n'/>") "\n" JOINT("n", "revolute", "a", "c", "<mimic joint='m'/>") "</robot>", ULNA_ERR_MODEL, 0, "cycle"},
    {"<robot name='x'>" TWO_LINKS JOINT("m", "revolute", "a", "b", "\n<mimic multiplier='2'/>") "</robot>", ULNA_ERR_PARSE, 2, "<mimic> needs a joint"},
    {"<robot name='x'>\n<xacro:macro name='y'/></robot>", ULNA_ERR_UNSUPPORTED, 2, "xacro"},
    {"<sdf version='1'>\n<robot name='x'/></sdf>", ULNA_ERR_FORMAT, 1, "<sdf>"},
    {"<robot name='x'>\n<link name='a'>\n</robot>", ULNA_ERR_PARSE, 3, "not valid XML: mismatched tag"},
    {"<robot name='x'>\n<link name='a'", ULNA_ERR_PARSE, 2, "not valid XML"},
    {"<robot name='x'>\n<link name='a' name='a'/></robot>", ULNA_ERR_PARSE, 2, "duplicate attribute"},
    {"<robot name='x'>\n&evil;</robot>", ULNA_ERR_PARSE, 2, "undefined entity"},
    {"<?xml version='1.0' encoding='klingon'?>\n<robot name='x'/>", ULNA_ERR_PARSE, 1, "unknown encoding"},
    {"<!DOCTYPE robot [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]>\n<robot name='&b;'><link name='a'/></robot>", ULNA_ERR_UNSUPPORTED, 1, "document types"},
    {"<!DOCTYPE robot SYSTEM 'file:///etc/passwd'>\n<robot name='x'><link name='a'/></robot>", ULNA_ERR_UNSUPPORTED, 1, "document types"},
    {"<robot name='x'><link name='a\xff'/></robot>", ULNA_ERR_PARSE, 1, "not valid XML"},
};
// clang-format on

static void mistakes_are_refused_with_their_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        ulna_content content = ulna_content_empty(NULL);
        ulna_error error;
        assert_int_equal(ulna_format_sniff(r->text, strlen(r->text)), ULNA_FORMAT_URDF);
        ulna_status status = ulna_content_read(r->text, strlen(r->text), ULNA_FORMAT_UNKNOWN, NULL, &content, &error);
        if (status != r->status || error.status != status || error.line != r->line || !strstr(error.message, r->words))
            fail_msg("%s\nstatus %d, line %d: %s", r->text, status, error.line, status ? error.message : "is read");
        assert_null(content.model);
        ulna_content_release(&content);
        assert_int_equal(ulna_content_read(r->text, strlen(r->text), ULNA_FORMAT_URDF, NULL, &content, NULL),
                         r->status);
        ulna_content_release(&content);
    }
}

/* `many` times the same text between two others. */
static ulna_text repeated(const char *head, const char *text, int many, const char *tail)
{
    ulna_text made = ulna_text_empty(NULL);
    ulna_text_append(&made, head, strlen(head));
    for (int i = 0; i < many; i++)
        ulna_text_append(&made, text, strlen(text));
    ulna_text_append(&made, tail, strlen(tail));
    return made;
}

static void check_attack(ulna_text text, ulna_status expected, const char *words)
{
    ulna_content content = ulna_content_empty(NULL);
    ulna_error error;
    ulna_status status = ulna_content_read(text.data, text.length, ULNA_FORMAT_URDF, NULL, &content, &error);
    if (status != expected || !strstr(error.message, words))
        fail_msg("status %d: %s", status, error.message);
    ulna_content_release(&content);
    ulna_text_release(&text);
}

static void attacks_are_refused(void **state)
{
    (void)state;
    char many[32 * 200] = "", name[400];
    for (int i = 0, at = 0; i < 200; i++)
        at += snprintf(many + at, sizeof many - (size_t)at, " a%d='1'", i);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    check_attack(repeated("<robot name='x'>", "<a>", 100000, ""), ULNA_ERR_LIMIT, "inside each other");
    check_attack(repeated("<robot name='x'><link name='a'", many, 1, "/></robot>"), ULNA_ERR_LIMIT, "attributes");
    check_attack(repeated("<robot name='x'><link name='", "long", 100000, "'/></robot>"), ULNA_ERR_LIMIT, "bytes");
    check_attack(repeated("<robot name='x'><link name='", name, 1, "'/></robot>"), ULNA_ERR_LIMIT, "255 bytes");
    check_attack(repeated("<robot name='", name, 1, "'/>"), ULNA_ERR_LIMIT, "255 bytes");
}

/* Loops and long chains of mimics cost no more than their length. */
static void large_robots_are_read(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    ulna_text text = ulna_text_empty(NULL);
    char line[300];
    ulna_text_append(&text, "<robot name='x'>", 16);
    for (int i = 0; i <= MANY; i++) {
        int length = snprintf(line, sizeof line, "<link name='l%d'/>", i);
        ulna_text_append(&text, line, (size_t)length);
    }
    for (int i = MANY; i > 0; i--) { /* the deepest first */
        int length =
            snprintf(line, sizeof line,
                     "<joint name='j%d' type='continuous'><parent link='l%d'/><child link='l%d'/>%s%d%s</joint>", i,
                     i - 1, i, i > 1 ? "<mimic joint='j" : "<!--", i - 1, i > 1 ? "'/>" : "-->");
        ulna_text_append(&text, line, (size_t)length);
    }
    ulna_text_append(&text, "</robot>", 8);
    ulna_content content = read_text(text.data);
    int count;
    ulna_model_couplings(content.model, &count);
    assert_int_equal(count, MANY - 1);
    ulna_content_release(&content);
    ulna_text_release(&text);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    static const char text[] = "<robot name='gripper'>" TWO_LINKS JOINT(
        "right", "prismatic", "a", "c",
        "<limit lower='0' upper='0.1'/><mimic joint='left' multiplier='-2' offset='0.02'/>")
        JOINT("left", "prismatic", "a", "b", "<limit lower='-1' upper='1'/>") "</robot>";
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_content content = ulna_content_empty(&allocator);
        ulna_error error;
        ulna_status status = ulna_content_read(text, sizeof text - 1, ULNA_FORMAT_URDF, NULL, &content, &error);
        ulna_content_release(&content);
        ulna_test_memory_check(&memory);
        if (!memory.failed) {
            assert_int_equal(status, ULNA_OK);
            break;
        }
        assert_int_equal(status, ULNA_ERR_MEMORY);
        assert_int_equal(error.status, ULNA_ERR_MEMORY);
    }
}

static void other_xml_is_not_urdf(void **state)
{
    (void)state;
    static const char *const texts[] = {"<robots name='x'/>", "<mujoco/>", "robot <robot>", "", "<", "<robot"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(ulna_format_sniff(texts[i], strlen(texts[i])), ULNA_FORMAT_UNKNOWN);
    assert_int_equal(ulna_format_sniff("\xEF\xBB\xBF\n <robot/>", 13), ULNA_FORMAT_URDF);
    assert_int_equal(ulna_format_of_name("a/b.URDF"), ULNA_FORMAT_URDF);
    assert_int_equal(ulna_format_writes(ULNA_FORMAT_URDF), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_read),
        cmocka_unit_test(mimics_are_couplings),
        cmocka_unit_test(limits_of_a_mimic_do_not_freeze_what_leads),
        cmocka_unit_test(limits_of_several_mimics),
        cmocka_unit_test(mimics_that_mean_nothing_are_passed_over),
        cmocka_unit_test(what_others_read_is_read),
        cmocka_unit_test(defects_with_a_clear_meaning_are_read),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(mistakes_are_refused_with_their_lines),
        cmocka_unit_test(attacks_are_refused),
        cmocka_unit_test(large_robots_are_read),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(other_xml_is_not_urdf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
