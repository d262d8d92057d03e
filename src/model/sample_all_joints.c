/*
 * Every joint type once, and every option of the model file at least once: documentation by example, and what
 * the tests of the formats read and write.
 */
#include <math.h>
#include <string.h>

#include "model/sample.h"

void ulna_sample_all_joints(ulna_sketch *sketch)
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
    int base = ulna_sketch_body(sketch, "fixed", ULNA_NONE, (const double[3]){0, 0, 0}, ulna_joint_fixed());
    int bodies[ULNA_JOINT_TYPE_COUNT];
    for (int i = 0; i < count; i++) {
        const double at[3] = {i / 5.0, .5, 0};
        bodies[joints[i].type] = ulna_sketch_body(sketch, ulna_joint_type_name(joints[i].type), base, at, joints[i]);
        ulna_sketch_marker(sketch, ulna_joint_type_name(joints[i].type), bodies[joints[i].type], up);
    }

    /* A hinge whose axis is turned against the body, and one that is used the other way round. */
    ulna_joint tilted = ulna_joint_revolute(0, 0, 1);
    memcpy(tilted.frame, about_x, sizeof tilted.frame);
    int hinge = ulna_sketch_body(sketch, "tilted", base, forward, tilted);
    ulna_joint reversed = ulna_joint_sequence("TxRy");
    reversed.reversed = 1;
    ulna_sketch_body(sketch, "reversed", hinge, up, reversed);

    /* Limits: of one DOF, of some DOFs, on one side. Rest values follow: a rail cannot rest before its start. */
    ulna_sketch_limits(sketch, bodies[ULNA_JOINT_REVOLUTE], 0, ulna_sketch_radians(-90), ulna_sketch_radians(90));
    ulna_sketch_limits(sketch, bodies[ULNA_JOINT_PRISMATIC], 0, .05, .30);
    ulna_sketch_rest(sketch, bodies[ULNA_JOINT_PRISMATIC], (const double[1]){.10}, 1);
    ulna_sketch_limits(sketch, bodies[ULNA_JOINT_EULER], 1, ulna_sketch_radians(-80), ulna_sketch_radians(80));
    ulna_sketch_limits(sketch, bodies[ULNA_JOINT_SEQUENCE], 0, 0, INFINITY);
    ulna_sketch_rest(sketch, bodies[ULNA_JOINT_SEQUENCE], (const double[4]){.1, .2, .3, .4}, 4);
    ulna_sketch_rest(sketch, bodies[ULNA_JOINT_BALL], (const double[4]){0, 0, .6, .8}, 4);

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
    ulna_sketch_cylinder(sketch, ball, 2, up, .05);
    if (!sketch->status)
        sketch->status = ulna_builder_add_marker(builder, "heavy", ball, forward, 2.5, NULL, sketch->error);
}
