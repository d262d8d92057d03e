/*
 * The hand sample: a left hand, palm down. X points from the wrist to the fingertips, Y to the back of the hand, Z to
 * the thumb's side. The forearm floats freely, with a quaternion.
 */
#include <stdio.h>

#include "model/sample.h"

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

static void add_finger(ulna_sketch *sketch, int palm, const finger *row)
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
        int body = ulna_sketch_body(sketch, name, parent, i ? along : row->knuckle, joint);
        if (i == 0)
            ulna_sketch_limits(sketch, body, 0, ulna_sketch_radians(-20), ulna_sketch_radians(20));
        ulna_sketch_limits(sketch, body, i == 0, ulna_sketch_radians(bend[i]), ulna_sketch_radians(15));
        snprintf(name, sizeof name, "%s_%s", row->name, marks[i]);
        ulna_sketch_marker(sketch, name, body, end);
        parent = body;
    }
}

/* The thumb points outwards and bends about Y, across the palm. */
static void add_thumb(ulna_sketch *sketch, int palm)
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
            along[k] = i ? ulna_sketch_metres(length[i - 1] * direction[k]) : base[k];
            end[k] = ulna_sketch_metres(length[i] * direction[k] + (k == 1 ? skin : 0));
        }
        snprintf(name, sizeof name, "thumb_%s", parts[i]);
        int body =
            ulna_sketch_body(sketch, name, parent, along, i ? ulna_joint_revolute(0, 1, 0) : ulna_joint_euler("YX"));
        if (i == 0)
            ulna_sketch_limits(sketch, body, 1, ulna_sketch_radians(-15), ulna_sketch_radians(55));
        ulna_sketch_limits(sketch, body, 0, ulna_sketch_radians(-20), ulna_sketch_radians(i == 0 ? 40 : 80));
        snprintf(name, sizeof name, "thumb_%s", marks[i]);
        ulna_sketch_marker(sketch, name, body, end);
        parent = body;
    }
}

void ulna_sample_hand(ulna_sketch *sketch)
{
    const double origin[3] = {0, 0, 0}, wrist[3] = {.24, 0, 0};
    int forearm = ulna_sketch_body(sketch, "forearm", ULNA_NONE, origin, ulna_joint_free());
    int palm = ulna_sketch_body(sketch, "palm", forearm, wrist, ulna_joint_euler("ZY"));
    ulna_sketch_limits(sketch, palm, 0, ulna_sketch_radians(-80), ulna_sketch_radians(70));
    ulna_sketch_limits(sketch, palm, 1, ulna_sketch_radians(-25), ulna_sketch_radians(35));

    ulna_sketch_marker(sketch, "elbow", forearm, (const double[3]){.01, .04, 0});
    ulna_sketch_marker(sketch, "wrist_inner", forearm, (const double[3]){.235, .012, .03});
    ulna_sketch_marker(sketch, "wrist_outer", forearm, (const double[3]){.235, .012, -.03});
    ulna_sketch_marker(sketch, "knuckle_index", palm, (const double[3]){.090, .014, .026});
    ulna_sketch_marker(sketch, "knuckle_little", palm, (const double[3]){.080, .010, -.038});

    add_thumb(sketch, palm);
    for (size_t i = 0; i < sizeof fingers / sizeof *fingers; i++)
        add_finger(sketch, palm, &fingers[i]);
}
