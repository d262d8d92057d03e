/*
 * The human sample. Two tables, one of the middle and one of a side, hold lengths as fractions of the height, angles in
 * degrees and masses as fractions of the whole; the side is drawn twice, the second time through a mirror.
 *
 * The frames of all bodies are parallel to the world's in the T-pose: X to the left of the body, Y up, Z forward.
 * A mirror at the plane x = 0 keeps turns about X and negates turns about Y and Z.
 */
#include <stdio.h>

#include "model/sample.h"

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
        position[i] = ulna_sketch_metres(height * at[i]) * (i == 0 && at[0] != 0 ? mirror : 1);
}

/* A body of the same side, or of the middle. */
static int find_body(const ulna_sketch *sketch, const char *prefix, const char *name)
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

static void add_segment(ulna_sketch *sketch, const char *prefix, double mirror, const segment *row)
{
    char name[64];
    double position[3], end[3];
    snprintf(name, sizeof name, "%s%s", prefix, row->name);
    place(row->at, mirror, position);
    place(row->end, mirror, end);
    int body = ulna_sketch_body(sketch, name, find_body(sketch, prefix, row->parent), position, joint_of(row->order));
    for (int k = 0; row->order[k]; k++) {
        double lower = ulna_sketch_radians(row->range[k][0]), upper = ulna_sketch_radians(row->range[k][1]);
        if (mirror < 0 && row->order[k] != 'X')
            ulna_sketch_limits(sketch, body, k, -upper, -lower);
        else
            ulna_sketch_limits(sketch, body, k, lower, upper);
    }
    ulna_sketch_cylinder(sketch, body, weight * row->mass, end, height * row->radius);
}

static void add_marker(ulna_sketch *sketch, const char *letter, const char *prefix, double mirror, const landmark *row)
{
    char name[16];
    double position[3];
    snprintf(name, sizeof name, "%s%s", letter, row->name);
    place(row->at, mirror, position);
    ulna_sketch_marker(sketch, name, find_body(sketch, prefix, row->body), position);
}

void ulna_sample_human(ulna_sketch *sketch)
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
    int pelvis = ulna_sketch_body(sketch, "pelvis", ULNA_NONE, origin, ulna_joint_free_euler("YXZ"));
    ulna_sketch_rest(sketch, pelvis, rest, 6);
    ulna_sketch_cylinder(sketch, pelvis, weight * .110, waist, height * .085);

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
