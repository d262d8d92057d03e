/* Two robots: an arm with seven revolute joints on alternating axes, and two links in a plane. */
#include "model/sample.h"

/*
 * Z up, Y is the axis of every bend: at q = 0 the arm stands upright. From the shoulder, 0.34 m above the floor, it is
 * 0.42 m to the elbow, 0.38 m on to the wrist and 0.10 m on to the tool.
 */
void ulna_sample_arm(ulna_sketch *sketch)
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

    int body = ulna_sketch_body(sketch, "base", ULNA_NONE, origin, ulna_joint_fixed());
    ulna_sketch_cylinder(sketch, body, 5, base_end, .08);
    for (int i = 0; i < count; i++) {
        const double at[3] = {0, 0, links[i].above};
        const double end[3] = {0, 0, i + 1 < count ? links[i + 1].above : tool[2]};
        const double rest = ulna_sketch_radians(links[i].rest);
        body =
            ulna_sketch_body(sketch, links[i].name, body, at, ulna_joint_revolute(0, links[i].bends, !links[i].bends));
        ulna_sketch_limits(sketch, body, 0, ulna_sketch_radians(-links[i].limit), ulna_sketch_radians(links[i].limit));
        ulna_sketch_rest(sketch, body, &rest, 1);
        ulna_sketch_cylinder(sketch, body, links[i].mass, end, links[i].radius);
    }
    ulna_sketch_marker(sketch, "tool", body, tool);
}

/* The chain on which the exact-Hessian paper draws its maps of definiteness (Fig. A.10). */
void ulna_sample_two_link(ulna_sketch *sketch)
{
    const double origin[3] = {0, 0, 0}, unit[3] = {1, 0, 0};
    int first = ulna_sketch_body(sketch, "first", ULNA_NONE, origin, ulna_joint_revolute(0, 0, 1));
    int second = ulna_sketch_body(sketch, "second", first, unit, ulna_joint_revolute(0, 0, 1));
    ulna_sketch_marker(sketch, "tip", second, unit);
}
