/*
 * edit_a_skeleton: every kind of joint, what a body can have besides (limits, rest, strength, mass, markers), and the
 * edits that keep a pose: another parent, another root, other bone lengths. And a copy through the text of a model file.
 */
#include <ulna/ulna.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "edit_a_skeleton: %s: %s\n", ulna_status_text(status), error->message);
        exit(1);
    }
}

/* A rover with an arm: one body per joint type. */
static ulna_model *build(const char *note)
{
    ulna_error error;
    ulna_builder *builder;
    ulna_model *model;
    ulna_error_clear(&error);
    const double up[3] = {0, 0, 1}, forward[3] = {1, 0, 0};
    const struct {
        const char *name, *parent;
        ulna_joint joint;
        double position[3];
    } parts[] = {
        {"platform", NULL, ulna_joint_free(), {0, 0, 0}},                          /* 6 DOF, quaternion */
        {"rover", "platform", ulna_joint_planar(0, 0, 1), {0, 0, 0.2}},            /* 3: x, y, heading */
        {"mast", "rover", ulna_joint_fixed(), {0.2, 0, 0.1}},                      /* 0 */
        {"camera", "mast", ulna_joint_euler("ZY"), {0, 0, 0.5}},                   /* 2: pan, tilt */
        {"drone", "mast", ulna_joint_free_euler("ZYX"), {0, 0, 1}},                /* 6, Euler angles */
        {"shoulder", "rover", ulna_joint_swing_twist(forward, up), {0.3, 0, 0.2}}, /* 3: singular only at -up */
        {"elbow", "shoulder", ulna_joint_revolute(0, 1, 0), {0.4, 0, 0}},          /* 1 */
        {"telescope", "elbow", ulna_joint_prismatic(1, 0, 0), {0.3, 0, 0}},        /* 1 */
        {"wrist", "telescope", ulna_joint_ball(), {0.1, 0, 0}},                    /* 3, quaternion */
        {"gripper", "wrist", ulna_joint_expmap(), {0.05, 0, 0}},                   /* 3, rotation vector */
        {"finger", "gripper", ulna_joint_sequence("TyRz"), {0.05, 0, 0}},          /* 2: translation, rotation */
    };
    check(ulna_builder_create(NULL, &builder), &error);
    check(ulna_builder_set_name(builder, "rover with an arm", &error), &error);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int body;
        check(ulna_builder_add_body(builder, parts[i].name, ULNA_NONE, &body, &error), &error);
        check(ulna_builder_set_placement(builder, body, parts[i].position, NULL, &error), &error);
        check(ulna_builder_set_joint(builder, body, &parts[i].joint, &error), &error);
        if (parts[i].parent)
            check(ulna_builder_set_parent(builder, body, ulna_builder_find_body(builder, parts[i].parent), &error),
                  &error);
    }
    const int elbow = ulna_builder_find_body(builder, "elbow"), gripper = ulna_builder_find_body(builder, "gripper");
    const double bent = 0.8, ahead[3] = {0.02, 0, 0};
    const ulna_mass mass = {.mass = 1.2, .center = {0.15, 0, 0}, .inertia = {0.001, 0.01, 0.01, 0, 0, 0}};
    check(ulna_builder_set_limits(builder, elbow, 0, 0, 2.6, &error), &error);
    check(ulna_builder_set_rest(builder, elbow, &bent, 1, &error), &error);
    check(ulna_builder_set_strength(builder, elbow, 0, 0.5, &error),
          &error); /* moves half as willingly as the others */
    check(ulna_builder_set_mass(builder, elbow, &mass, &error), &error);
    check(ulna_builder_set_user_data(builder, elbow, (void *)note), &error);
    check(ulna_builder_set_offset(builder, gripper, ahead, NULL, &error),
          &error); /* its frame lies ahead of its joint */
    check(ulna_builder_add_marker(builder, "tip", gripper, (double[]){0.1, 0, 0}, 1, NULL, &error), &error);
    check(ulna_builder_build(builder, NULL, &model, &error), &error);
    ulna_builder_destroy(builder);
    return model;
}

/* Where the tip is at rest. */
static void tip_of(const ulna_model *model, double position[3])
{
    ulna_error error;
    ulna_pose *pose;
    double *q = calloc((size_t)ulna_model_coordinate_count(model), sizeof *q);
    ulna_error_clear(&error);
    check(ulna_pose_create(model, NULL, &pose, &error), &error);
    memcpy(q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    check(ulna_pose_forward(pose, q), &error);
    check(ulna_pose_markers(pose, position), &error);
    ulna_pose_destroy(pose);
    free(q);
}

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

int main(int count, char **arguments)
{
    ulna_error error;
    ulna_error_clear(&error);
    ulna_model *rover = build("repaired in May"), *shorter, *edited, *from_gripper;
    const int elbow = ulna_model_find_body(rover, "elbow"), bodies = ulna_model_body_count(rover);
    double before[3], after[3], placement[3], offset[3];
    tip_of(rover, before);
    check(ulna_model_body_placement(rover, elbow, placement, NULL), &error);
    check(ulna_model_body_offset(rover, ulna_model_find_body(rover, "gripper"), offset, NULL), &error);
    printf(
        "%s: %d DOF; tip at (%.3f, %.3f, %.3f)\nelbow at %.2f m along the upper arm, %s; gripper frame %.2f m ahead\n",
        ulna_model_name(rover), ulna_model_dof_count(rover), before[0], before[1], before[2], placement[0],
        (const char *)ulna_model_body_user_data(rover, elbow), offset[0]);

    /* Edit: the camera moves from the mast to the elbow, and stays where it is at rest; the tip marker is moved. */
    ulna_builder *builder;
    check(ulna_builder_from_model(rover, NULL, &builder, &error), &error);
    check(ulna_builder_reparent(builder, ulna_builder_find_body(builder, "camera"), elbow, &error), &error);
    check(ulna_builder_set_marker(builder, 0, ulna_builder_find_body(builder, "gripper"), (double[]){0.12, 0, 0}, 1,
                                  &error),
          &error);
    check(ulna_builder_build(builder, NULL, &edited, &error), &error);
    ulna_builder_destroy(builder);
    tip_of(edited, after);
    printf("marker moved by 0.02 m: tip moved by %.4f m\n", distance(before, after));
    int failed = fabs(distance(before, after) - 0.02) > 1e-12;
    if (count > 1) /* a file that `ulna info` and other commands read */
        check(ulna_model_save(edited, arguments[1], &error), &error);

    /* Another length: the upper arm is 5 cm shorter. The length Jacobian gives the change of the tip to first order. */
    double *lengths = calloc((size_t)bodies, sizeof *lengths), *columns = calloc(3 * (size_t)bodies, sizeof *columns);
    for (int b = 0; b < bodies; b++)
        lengths[b] = ulna_model_bone_length(rover, b);
    lengths[elbow] -= 0.05;
    check(ulna_model_with_lengths(rover, lengths, NULL, &shorter, &error), &error);
    tip_of(shorter, after);
    ulna_pose *pose, *other;
    const ulna_effector tip = {ulna_model_find_body(rover, "gripper"), {0.1, 0, 0}};
    check(ulna_pose_create(rover, NULL, &pose, &error), &error);
    check(ulna_pose_forward(pose, ulna_model_rest(rover)), &error);
    check(ulna_pose_length_jacobian(pose, &tip, columns), &error);
    double predicted[3];
    for (int k = 0; k < 3; k++)
        predicted[k] = before[k] - 0.05 * columns[3 * elbow + k];
    printf("upper arm 0.05 m shorter: tip %.4f m away, as predicted to %.0e m\n", distance(before, after),
           distance(predicted, after));
    failed |= distance(predicted, after) > 1e-12;

    /* Another root: the same bodies hang from the gripper, and every pose can be expressed. */
    double error_m, *q;
    check(ulna_model_reroot(rover, ulna_model_find_body(rover, "gripper"), NULL, &from_gripper, &error), &error);
    check(ulna_pose_create(from_gripper, NULL, &other, &error), &error);
    q = calloc((size_t)ulna_model_coordinate_count(from_gripper), sizeof *q);
    check(ulna_pose_transfer(pose, other, q, &error_m), &error);
    printf("hung from the gripper: the same pose to %.0e m\n", error_m);
    failed |= error_m > 1e-9;

    /* Rotation vectors that have grown beyond 1.5 pi are brought back; the pose is the same. */
    double *turned = calloc((size_t)ulna_model_coordinate_count(rover), sizeof *turned);
    int first;
    memcpy(turned, ulna_model_rest(rover), (size_t)ulna_model_coordinate_count(rover) * sizeof *turned);
    ulna_model_body_coordinates(rover, tip.body, &first);
    turned[first] = 6;
    failed |= ulna_model_wrap(rover, turned) != 1 || fabs(turned[first] - (6 - 6.283185307179586)) > 1e-12;
    printf("a rotation vector of 6 rad became %.4f rad\n", turned[first]);

    /* A copy, as a program makes it that keeps skeletons in its own files: write the text, read it from memory. */
    ulna_text text = ulna_text_empty(NULL);
    const ulna_sink sink = ulna_text_sink(&text);
    ulna_model *copy;
    check(ulna_model_write_json(rover, &sink, &error), &error);
    check(ulna_model_read(text.data, text.length, NULL, &copy, &error), &error);
    tip_of(copy, after);
    printf("copied in %zu bytes: tip %.0e m away\n", text.length, distance(before, after));
    failed |= memcmp(before, after, sizeof before) != 0;

    ulna_text_release(&text);
    ulna_model_destroy(copy);
    ulna_pose_destroy(pose);
    ulna_pose_destroy(other);
    ulna_model_destroy(rover);
    ulna_model_destroy(shorter);
    ulna_model_destroy(edited);
    ulna_model_destroy(from_gripper);
    free(lengths);
    free(columns);
    free(q);
    free(turned);
    return failed;
}
