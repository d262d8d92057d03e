/* The built-in skeletons: human, hand, arm, two-link, all-joints. */
#include "ulna/sample.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "math/math3.h"

/* ---- a builder that remembers the first failure, so that samples read as lists --------------------------------- */

typedef struct sketch_state {
    ulna_builder *builder;
    ulna_error *error;
    ulna_status status; /* after the first failure nothing more is done */
    int is_mirrored;    /* at the plane z = 0 */
} sketch_state;

/* Rounded to 0.1 mm, and from degrees to radians to four places, so that the model files are easy to read. */
static double rounded(double value, double steps)
{
    return round(value * steps) / steps;
}

static double sketch_metres(double value)
{
    return rounded(value, 1e4);
}

static double sketch_radians(double degrees)
{
    return rounded(degrees * ULNA_PI / 180, 1e4);
}

static double mirrored(const sketch_state *sketch, double z)
{
    return sketch->is_mirrored && z != 0 ? -z : z;
}

/* Adds a body whose joint sits at `position` in the parent's frame. Returns its index. */
static int sketch_body(sketch_state *sketch, const char *name, int parent, const double position[3], ulna_joint joint)
{
    int body = ULNA_NONE;
    const double there[3] = {position[0], position[1], mirrored(sketch, position[2])};
    if (!sketch->status)
        sketch->status = ulna_builder_add_body(sketch->builder, name, parent, &body, sketch->error);
    if (!sketch->status)
        sketch->status = ulna_builder_set_placement(sketch->builder, body, there, NULL, sketch->error);
    if (!sketch->status)
        sketch->status = ulna_builder_set_joint(sketch->builder, body, &joint, sketch->error);
    return body;
}

static void sketch_limits(sketch_state *sketch, int body, int k, double lower, double upper)
{
    if (!sketch->status)
        sketch->status = ulna_builder_set_limits(sketch->builder, body, k, lower, upper, sketch->error);
}

/* Of rotations about X and Y, which a mirror turns round. */
static void sketch_limits_across(sketch_state *sketch, int body, int k, double lower, double upper)
{
    sketch_limits(sketch, body, k, sketch->is_mirrored ? -upper : lower, sketch->is_mirrored ? -lower : upper);
}

static void sketch_rest(sketch_state *sketch, int body, const double *rest, int count)
{
    if (!sketch->status)
        sketch->status = ulna_builder_set_rest(sketch->builder, body, rest, count, sketch->error);
}

static void sketch_marker(sketch_state *sketch, const char *name, int body, const double position[3])
{
    const double there[3] = {position[0], position[1], mirrored(sketch, position[2])};
    if (!sketch->status)
        sketch->status = ulna_builder_add_marker(sketch->builder, name, body, there, 1, NULL, sketch->error);
}

/* A solid cylinder from the body's origin to `end`. */
static void sketch_cylinder(sketch_state *sketch, int body, double mass, const double end[3], double radius)
{
    double length = ulna_norm(end);
    double along = mass * radius * radius / 2;
    double across = mass * (3 * radius * radius + length * length) / 12;
    double d[3] = {end[0] / length, end[1] / length, end[2] / length};

    ulna_mass cylinder = {.mass = rounded(mass, 1e4), .center = {end[0] / 2, end[1] / 2, end[2] / 2}};
    static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int i = 0; i < 6; i++) {
        int row = pairs[i][0], column = pairs[i][1];
        cylinder.inertia[i] = rounded((along - across) * d[row] * d[column] + (row == column ? across : 0), 1e7);
    }
    if (!sketch->status)
        sketch->status = ulna_builder_set_mass(sketch->builder, body, &cylinder, sketch->error);
}

/* ---- human ------------------------------------------------------------------------------------------------------- */

/*
 * The human sample. Two tables, one of the middle and one of a side, hold lengths as fractions of the height, angles in
 * degrees and masses as fractions of the whole; the side is drawn twice, the second time through a mirror.
 *
 * The frames of all bodies are parallel to the world's in the T-pose: X to the left of the body, Y up, Z forward.
 * A mirror at the plane x = 0 keeps turns about X and negates turns about Y and Z.
 */

static const double height = 1.75; /* m */
static const double weight = 70;   /* kg */

typedef struct segment {
    const char *name;
    const char *parent;
    double at[3];       /* joint in the parent's frame */
    const char *order;  /* axes of the joint, the first turn first */
    double range[3][2]; /* degrees */
    double end[3];      /* where the segment ends, for its mass */
    double radius;
    double mass;
} segment;

/* Flexion about X, bending sideways about Z, twist about Y: the bone points along Y, so twists come last. */
static const segment middle[] = {
    {"lower_spine", "pelvis", {0, .040, 0}, "XZY", {{-20, 35}, {-20, 20}, {-15, 15}}, {0, .070, 0}, .075, .100},
    {"middle_spine", "lower_spine", {0, .070, 0}, "XZY", {{-20, 30}, {-20, 20}, {-20, 20}}, {0, .080, 0}, .075, .110},
    {"upper_spine", "middle_spine", {0, .080, 0}, "XZY", {{-15, 25}, {-15, 15}, {-25, 25}}, {0, .110, 0}, .080, .120},
    {"neck", "upper_spine", {0, .110, 0}, "XZY", {{-35, 40}, {-30, 30}, {-35, 35}}, {0, .040, .008}, .033, .020},
    {"head", "neck", {0, .040, .008}, "XZY", {{-30, 30}, {-25, 25}, {-45, 45}}, {0, .120, .012}, .045, .060},
};

/* The left side: the arm points along +X, the leg down, the foot forward. Clavicle, shoulder and hand: "Z" lifts the
 * arm, "Y" swings it forward (negative), "X" twists it. */
static const segment side[] = {
    {"clavicle", "upper_spine", {.012, .085, .020}, "YZ", {{-25, 20}, {-10, 35}}, {.093, 0, -.020}, .020, .010},
    {"upper_arm", "clavicle", {.093, 0, -.020}, "ZYX", {{-95, 95}, {-130, 40}, {-90, 90}}, {.168, 0, 0}, .025, .028},
    {"forearm", "upper_arm", {.168, 0, 0}, "YX", {{-150, 5}, {-90, 90}}, {.142, 0, 0}, .020, .016},
    {"hand", "forearm", {.142, 0, 0}, "ZY", {{-80, 70}, {-25, 35}}, {.050, 0, 0}, .014, .004},
    {"fingers", "hand", {.050, 0, 0}, "Z", {{-100, 15}}, {.047, 0, 0}, .010, .0015},
    {"thumb", "hand", {.012, -.004, .014}, "YZ", {{-40, 30}, {-50, 20}}, {.030, 0, .020}, .006, .0005},
    {"thigh", "pelvis", {.050, -.020, 0}, "XZY", {{-125, 25}, {-30, 50}, {-40, 45}}, {0, -.240, 0}, .045, .125},
    {"shank", "thigh", {0, -.240, 0}, "X", {{-5, 150}}, {0, -.235, 0}, .032, .043},
    {"foot", "shank", {0, -.235, 0}, "XZ", {{-30, 50}, {-30, 20}}, {0, -.030, .075}, .022, .010},
    {"toes", "foot", {0, -.030, .075}, "X", {{-60, 35}}, {0, 0, .040}, .012, .002},
};

typedef struct landmark {
    const char *name;
    const char *body;
    double at[3];
} landmark;

static const landmark middle_markers[] = {
    {"C7", "upper_spine", {0, .115, -.035}},       {"T10", "middle_spine", {0, .035, -.070}},
    {"CLAV", "upper_spine", {0, .085, .045}},      {"STRN", "upper_spine", {0, .010, .075}},
    {"RBAC", "upper_spine", {-.055, .050, -.070}}, /* on one side only: it tells left from right */
};

/* Names without the leading L or R. */
static const landmark side_markers[] = {
    {"FHD", "head", {.040, .080, .055}},      {"BHD", "head", {.040, .080, -.045}},
    {"SHO", "clavicle", {.085, .030, -.015}}, {"UPA", "upper_arm", {.080, .010, .030}},
    {"ELB", "upper_arm", {.168, 0, -.025}},   {"FRM", "forearm", {.075, .022, .005}},
    {"WRA", "forearm", {.138, .008, .022}},   {"WRB", "forearm", {.138, .008, -.020}},
    {"FIN", "fingers", {.006, .012, .004}},   {"FWT", "pelvis", {.072, .030, .060}},
    {"BWT", "pelvis", {.030, .035, -.065}},   {"THI", "thigh", {.048, -.115, .012}},
    {"KNE", "thigh", {.034, -.240, 0}},       {"SHN", "shank", {.030, -.110, .012}},
    {"ANK", "shank", {.024, -.235, 0}},       {"HEE", "foot", {0, -.022, -.030}},
    {"TOE", "toes", {-.008, .016, .008}},     {"MT5", "foot", {.028, -.022, .055}},
};

/* A point of the table, scaled to the height; `mirror` is 1 for the left side and -1 for the right. */
static void place(const double at[3], double mirror, double position[3])
{
    for (int i = 0; i < 3; i++)
        position[i] = sketch_metres(height * at[i]) * (i == 0 && at[0] != 0 ? mirror : 1);
}

/* A body of the same side, or of the middle. */
static int find_body(const sketch_state *sketch, const char *prefix, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    int body = ulna_builder_find_body(sketch->builder, full);
    return body != ULNA_NONE ? body : ulna_builder_find_body(sketch->builder, name);
}

static ulna_joint joint_of(const char *order)
{
    if (order[1])
        return ulna_joint_euler(order);
    return ulna_joint_revolute(order[0] == 'X', order[0] == 'Y', order[0] == 'Z');
}

static void add_segment(sketch_state *sketch, const char *prefix, double mirror, const segment *row)
{
    char name[64];
    double position[3], end[3];
    snprintf(name, sizeof name, "%s%s", prefix, row->name);
    place(row->at, mirror, position);
    place(row->end, mirror, end);
    int body = sketch_body(sketch, name, find_body(sketch, prefix, row->parent), position, joint_of(row->order));
    for (int k = 0; row->order[k]; k++) {
        double lower = sketch_radians(row->range[k][0]), upper = sketch_radians(row->range[k][1]);
        if (mirror < 0 && row->order[k] != 'X')
            sketch_limits(sketch, body, k, -upper, -lower);
        else
            sketch_limits(sketch, body, k, lower, upper);
    }
    sketch_cylinder(sketch, body, weight * row->mass, end, height * row->radius);
}

static void add_marker(sketch_state *sketch, const char *letter, const char *prefix, double mirror, const landmark *row)
{
    char name[16];
    double position[3];
    snprintf(name, sizeof name, "%s%s", letter, row->name);
    place(row->at, mirror, position);
    sketch_marker(sketch, name, find_body(sketch, prefix, row->body), position);
}

static void draw_human(sketch_state *sketch)
{
    static const struct {
        const char *prefix, *letter;
        double mirror;
    } sides[2] = {{"left_", "L", 1}, {"right_", "R", -1}};
    const int middle_count = sizeof middle / sizeof *middle, side_count = sizeof side / sizeof *side;
    const int middle_marker_count = sizeof middle_markers / sizeof *middle_markers;
    const int side_marker_count = sizeof side_markers / sizeof *side_markers;

    /* The root moves freely: position, then heading, pitch and roll. */
    const double origin[3] = {0, 0, 0}, waist[3] = {0, height * .04, 0}, rest[6] = {0, height * .540, 0, 0, 0, 0};
    int pelvis = sketch_body(sketch, "pelvis", ULNA_NONE, origin, ulna_joint_free_euler("YXZ"));
    sketch_rest(sketch, pelvis, rest, 6);
    sketch_cylinder(sketch, pelvis, weight * .110, waist, height * .085);

    for (int i = 0; i < middle_count; i++)
        add_segment(sketch, "", 1, &middle[i]);
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < side_count; i++)
            add_segment(sketch, sides[s].prefix, sides[s].mirror, &side[i]);

    for (int i = 0; i < middle_marker_count; i++)
        add_marker(sketch, "", "", 1, &middle_markers[i]);
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < side_marker_count; i++)
            add_marker(sketch, sides[s].letter, sides[s].prefix, sides[s].mirror, &side_markers[i]);
}

/* ---- hand -------------------------------------------------------------------------------------------------------- */

/*
 * The hand sample: a left hand, palm down. X points from the wrist to the fingertips, Y to the back of the hand, Z to
 * the thumb's side. The forearm floats freely, with a quaternion.
 */

typedef struct finger {
    const char *name;
    double knuckle[3]; /* in the palm's frame, m */
    double length[3];  /* of the phalanges, m */
} finger;

static const finger fingers[] = {
    {"index", {.092, .000, .024}, {.046, .026, .022}},
    {"middle", {.095, .002, .002}, {.050, .031, .023}},
    {"ring", {.090, .000, -.018}, {.046, .029, .023}},
    {"little", {.082, -.004, -.036}, {.037, .021, .020}},
};

static const double skin = .008; /* a marker is this far above the bone, m */

static void add_finger(sketch_state *sketch, int palm, const finger *row)
{
    static const char *const parts[3] = {"proximal", "middle", "distal"};
    static const char *const marks[3] = {"proximal", "middle", "tip"};
    static const double bend[3] = {-95, -110, -80}; /* degrees: towards the palm is negative */
    char name[32];
    int parent = palm;
    for (int i = 0; i < 3; i++) {
        const double along[3] = {i ? row->length[i - 1] : 0, 0, 0};
        const double end[3] = {row->length[i], skin, 0};
        snprintf(name, sizeof name, "%s_%s", row->name, parts[i]);
        ulna_joint joint = i ? ulna_joint_revolute(0, 0, 1) : ulna_joint_euler("YZ"); /* the knuckle also spreads */
        int body = sketch_body(sketch, name, parent, i ? along : row->knuckle, joint);
        if (i == 0)
            sketch_limits(sketch, body, 0, sketch_radians(-20), sketch_radians(20));
        sketch_limits(sketch, body, i == 0, sketch_radians(bend[i]), sketch_radians(15));
        snprintf(name, sizeof name, "%s_%s", row->name, marks[i]);
        sketch_marker(sketch, name, body, end);
        parent = body;
    }
}

/* The thumb points outwards and bends about Y, across the palm. */
static void add_thumb(sketch_state *sketch, int palm)
{
    static const char *const parts[3] = {"metacarpal", "proximal", "distal"};
    static const char *const marks[3] = {"metacarpal", "proximal", "tip"};
    static const double base[3] = {.022, -.008, .022};
    static const double length[3] = {.046, .034, .027};
    static const double direction[3] = {.72, -.10, .68};
    char name[32];
    int parent = palm;
    for (int i = 0; i < 3; i++) {
        double along[3], end[3];
        for (int k = 0; k < 3; k++) {
            along[k] = i ? sketch_metres(length[i - 1] * direction[k]) : base[k];
            end[k] = sketch_metres(length[i] * direction[k] + (k == 1 ? skin : 0));
        }
        snprintf(name, sizeof name, "thumb_%s", parts[i]);
        int body = sketch_body(sketch, name, parent, along, i ? ulna_joint_revolute(0, 1, 0) : ulna_joint_euler("YX"));
        if (i == 0)
            sketch_limits_across(sketch, body, 1, sketch_radians(-15), sketch_radians(55));
        sketch_limits_across(sketch, body, 0, sketch_radians(-20), sketch_radians(i == 0 ? 40 : 80));
        snprintf(name, sizeof name, "thumb_%s", marks[i]);
        sketch_marker(sketch, name, body, end);
        parent = body;
    }
}

static void draw_hand(sketch_state *sketch)
{
    const double origin[3] = {0, 0, 0}, wrist[3] = {.24, 0, 0};
    int forearm = sketch_body(sketch, "forearm", ULNA_NONE, origin, ulna_joint_free());
    int palm = sketch_body(sketch, "palm", forearm, wrist, ulna_joint_euler("ZY"));
    sketch_limits(sketch, palm, 0, sketch_radians(-80), sketch_radians(70));
    sketch_limits_across(sketch, palm, 1, sketch_radians(-25), sketch_radians(35));

    sketch_marker(sketch, "elbow", forearm, (const double[3]){.01, .04, 0});
    sketch_marker(sketch, "wrist_inner", forearm, (const double[3]){.235, .012, .03});
    sketch_marker(sketch, "wrist_outer", forearm, (const double[3]){.235, .012, -.03});
    sketch_marker(sketch, "knuckle_index", palm, (const double[3]){.090, .014, .026});
    sketch_marker(sketch, "knuckle_little", palm, (const double[3]){.080, .010, -.038});

    add_thumb(sketch, palm);
    for (size_t i = 0; i < sizeof fingers / sizeof *fingers; i++)
        add_finger(sketch, palm, &fingers[i]);
}

static void draw_right_hand(sketch_state *sketch)
{
    sketch->is_mirrored = 1;
    draw_hand(sketch);
}

/* ---- arm and two-link -------------------------------------------------------------------------------------------- */

/* Two robots: an arm with seven revolute joints on alternating axes, and two links in a plane. */

/*
 * Z up, Y is the axis of every bend: at q = 0 the arm stands upright. From the shoulder, 0.34 m above the floor, it is
 * 0.42 m to the elbow, 0.38 m on to the wrist and 0.10 m on to the tool.
 */
static void draw_arm(sketch_state *sketch)
{
    static const struct {
        const char *name;
        double above; /* the joint below, m */
        int bends;    /* about Y; the others turn about Z, along the arm */
        double limit; /* degrees, both ways */
        double rest;  /* degrees: bent, so that no two axes are in line */
        double mass;  /* kg */
        double radius;
    } links[] = {
        {"shoulder_turn", .16, 0, 170, 0, 3.6, .060},  {"shoulder_lift", .18, 1, 120, 30, 3.4, .055},
        {"upper_arm_turn", .21, 0, 170, 0, 2.8, .050}, {"elbow", .21, 1, 120, 75, 2.4, .050},
        {"forearm_turn", .19, 0, 170, 0, 1.8, .045},   {"wrist_lift", .19, 1, 115, 45, 1.2, .040},
        {"flange", .04, 0, 175, 0, 0.4, .035},
    };
    const int count = sizeof links / sizeof *links;
    const double origin[3] = {0, 0, 0}, tool[3] = {0, 0, .06}, base_end[3] = {0, 0, .16};

    int body = sketch_body(sketch, "base", ULNA_NONE, origin, ulna_joint_fixed());
    sketch_cylinder(sketch, body, 5, base_end, .08);
    for (int i = 0; i < count; i++) {
        const double at[3] = {0, 0, links[i].above};
        const double end[3] = {0, 0, i + 1 < count ? links[i + 1].above : tool[2]};
        const double rest = sketch_radians(links[i].rest);
        body = sketch_body(sketch, links[i].name, body, at, ulna_joint_revolute(0, links[i].bends, !links[i].bends));
        sketch_limits(sketch, body, 0, sketch_radians(-links[i].limit), sketch_radians(links[i].limit));
        sketch_rest(sketch, body, &rest, 1);
        sketch_cylinder(sketch, body, links[i].mass, end, links[i].radius);
    }
    sketch_marker(sketch, "tool", body, tool);
}

/* The chain on which the exact-Hessian paper draws its maps of definiteness (Fig. A.10). */
static void draw_two_link(sketch_state *sketch)
{
    const double origin[3] = {0, 0, 0}, unit[3] = {1, 0, 0};
    int first = sketch_body(sketch, "first", ULNA_NONE, origin, ulna_joint_revolute(0, 0, 1));
    int second = sketch_body(sketch, "second", first, unit, ulna_joint_revolute(0, 0, 1));
    sketch_marker(sketch, "tip", second, unit);
}

/* ---- all-joints -------------------------------------------------------------------------------------------------- */

/*
 * Every joint type once, and every option of the model file at least once: documentation by example, and what
 * the tests of the formats read and write.
 */

static void draw_all_joints(sketch_state *sketch)
{
    static const double up[3] = {0, 1, 0}, forward[3] = {0, 0, 1};
    static const double out_and_down[3] = {.8, -.6, 0};
    static const double about_x[9] = {1, 0, 0, 0, .8, -.6, 0, .6, .8}; /* turns by 36.87 degrees */
    static const double about_y[9] = {.8, 0, .6, 0, 1, 0, -.6, 0, .8};
    const ulna_joint joints[] = {
        ulna_joint_revolute(0, 0, 1),
        ulna_joint_prismatic(1, 0, 0),
        ulna_joint_euler("ZYX"),
        ulna_joint_ball(),
        ulna_joint_expmap(),
        ulna_joint_swing_twist(up, out_and_down),
        ulna_joint_planar(0, 1, 0),
        ulna_joint_free_euler("YXZ"),
        ulna_joint_free(),
        ulna_joint_sequence("TxRzTyRx"),
    };
    const int count = sizeof joints / sizeof *joints;

    /* A base that does not move, and a row of bodies on it, each called after its joint. */
    int base = sketch_body(sketch, "fixed", ULNA_NONE, (const double[3]){0, 0, 0}, ulna_joint_fixed());
    int bodies[ULNA_JOINT_TYPE_COUNT];
    for (int i = 0; i < count; i++) {
        const double at[3] = {i / 5.0, .5, 0};
        bodies[joints[i].type] = sketch_body(sketch, ulna_joint_type_name(joints[i].type), base, at, joints[i]);
        sketch_marker(sketch, ulna_joint_type_name(joints[i].type), bodies[joints[i].type], up);
    }

    /* A hinge whose axis is turned against the body, and one that is used the other way round. */
    ulna_joint tilted = ulna_joint_revolute(0, 0, 1);
    memcpy(tilted.frame, about_x, sizeof tilted.frame);
    int hinge = sketch_body(sketch, "tilted", base, forward, tilted);
    ulna_joint reversed = ulna_joint_sequence("TxRy");
    reversed.reversed = 1;
    sketch_body(sketch, "reversed", hinge, up, reversed);

    /* Limits: of one DOF, of some DOFs, on one side. Rest values follow: a rail cannot rest before its start. */
    sketch_limits(sketch, bodies[ULNA_JOINT_REVOLUTE], 0, sketch_radians(-90), sketch_radians(90));
    sketch_limits(sketch, bodies[ULNA_JOINT_PRISMATIC], 0, .05, .30);
    sketch_rest(sketch, bodies[ULNA_JOINT_PRISMATIC], (const double[1]){.10}, 1);
    sketch_limits(sketch, bodies[ULNA_JOINT_EULER], 1, sketch_radians(-80), sketch_radians(80));
    sketch_limits(sketch, bodies[ULNA_JOINT_SEQUENCE], 0, 0, INFINITY);
    sketch_rest(sketch, bodies[ULNA_JOINT_SEQUENCE], (const double[4]){.1, .2, .3, .4}, 4);
    sketch_rest(sketch, bodies[ULNA_JOINT_BALL], (const double[4]){0, 0, .6, .8}, 4);

    /* Placement and offset with a rotation, strength, mass, and a marker that weighs more. */
    if (sketch->status)
        return;
    ulna_builder *builder = sketch->builder;
    int ball = bodies[ULNA_JOINT_BALL], planar = bodies[ULNA_JOINT_PLANAR];
    sketch->status = ulna_builder_set_offset(builder, ball, (const double[3]){0, .1, 0}, about_y, sketch->error);
    if (!sketch->status)
        sketch->status =
            ulna_builder_set_placement(builder, planar, (const double[3]){1.2, .5, .1}, about_y, sketch->error);
    if (!sketch->status)
        sketch->status = ulna_builder_set_strength(builder, planar, 2, .25, sketch->error);
    sketch_cylinder(sketch, ball, 2, up, .05);
    if (!sketch->status)
        sketch->status = ulna_builder_add_marker(builder, "heavy", ball, forward, 2.5, NULL, sketch->error);
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const char *text;
    void (*draw)(sketch_state *sketch);
} samples[] = {
    {"human", "a human body with 41 markers", draw_human},
    {"hand", "a left hand on a free forearm", draw_hand},
    {"right-hand", "its mirror image", draw_right_hand},
    {"arm", "a robot arm with seven joints", draw_arm},
    {"two-link", "two links in a plane", draw_two_link},
    {"all-joints", "one body per joint type, to learn the file format from", draw_all_joints},
};

enum { SAMPLE_COUNT = sizeof samples / sizeof *samples };

const char *ulna_sample_name(int index)
{
    return index >= 0 && index < SAMPLE_COUNT ? samples[index].name : NULL;
}

const char *ulna_sample_text(int index)
{
    return index >= 0 && index < SAMPLE_COUNT ? samples[index].text : NULL;
}

ulna_status ulna_sample_create(const char *name, const ulna_allocator *allocator, ulna_model **model, ulna_error *error)
{
    if (model)
        *model = NULL;
    if (!name || !model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a name and a pointer for the model are needed");
    int index = 0;
    while (index < SAMPLE_COUNT && strcmp(samples[index].name, name) != 0)
        index++;
    if (index == SAMPLE_COUNT)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "there is no sample \"%.80s\"", name);

    sketch_state sketch = {.error = error};
    sketch.status = ulna_builder_create(allocator, &sketch.builder);
    if (sketch.status)
        return ulna_fail(error, sketch.status, "no memory left for the sample");
    sketch.status = ulna_builder_set_name(sketch.builder, name, error);
    samples[index].draw(&sketch);
    if (!sketch.status)
        sketch.status = ulna_builder_build(sketch.builder, allocator, model, error);
    ulna_builder_destroy(sketch.builder);
    return sketch.status;
}
