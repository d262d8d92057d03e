/* build_a_robot: a skeleton from scratch, where its tool is, and the Jacobian that moves it. */
#include <ulna/ulna.h>

#include <stdio.h>
#include <stdlib.h>

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "build_a_robot: %s: %s\n", ulna_status_text(status), error->message);
        exit(1);
    }
}

int main(void)
{
    ulna_error error;
    ulna_builder *builder;
    ulna_model *model;
    ulna_pose *pose;
    ulna_error_clear(&error);

    /* A turntable, an upper arm, a telescope, a wrist that turns freely, and a gripper. Metres and radians. */
    enum { WRIST = 3, LEFT, RIGHT, PARTS };
    const struct {
        const char *name, *joint_name;
        int parent;
        ulna_joint joint;
        double position[3];
    } parts[PARTS] = {
        {"turntable", "yaw", ULNA_NONE, ulna_joint_revolute(0, 0, 1), {0, 0, 0.1}},
        {"upper_arm", "lift", 0, ulna_joint_revolute(0, 1, 0), {0, 0, 0.2}},
        {"telescope", "extend", 1, ulna_joint_prismatic(1, 0, 0), {0.4, 0, 0}},
        {"wrist", "", 2, ulna_joint_ball(), {0.3, 0, 0}},
        {"left_finger", "grip", WRIST, ulna_joint_prismatic(0, 1, 0), {0.1, 0, 0}},
        {"right_finger", "grip_right", WRIST, ulna_joint_prismatic(0, 1, 0), {0.1, 0, 0}},
    };
    check(ulna_builder_create(NULL, &builder), &error);
    for (int i = 0; i < PARTS; i++) {
        int body;
        check(ulna_builder_add_body(builder, parts[i].name, parts[i].parent, &body, &error), &error);
        check(ulna_builder_set_placement(builder, body, parts[i].position, NULL, &error), &error);
        check(ulna_builder_set_joint(builder, body, &parts[i].joint, &error), &error);
        check(ulna_builder_set_joint_name(builder, body, parts[i].joint_name, &error), &error);
    }
    check(ulna_builder_set_limits(builder, ulna_builder_find_body(builder, "telescope"), 0, 0, 0.25, &error), &error);
    check(ulna_builder_set_limits(builder, LEFT, 0, 0, 0.04, &error), &error);
    check(ulna_builder_couple(builder, RIGHT, 0, LEFT, 0, -1, 0, &error), &error); /* it mirrors the left one */
    check(ulna_builder_build(builder, NULL, &model, &error), &error);
    ulna_builder_destroy(builder);

    /* Three angles and lengths, a quaternion (x, y, z, w), two fingers: 9 coordinates, 8 degrees of freedom. The second finger
     * follows the first. */
    double q[9] = {0.5, -0.3, 0.1, 0, 0, 0, 1, 0.02};
    ulna_effector tool = {ulna_model_find_body(model, "right_finger"), {0, 0, 0}};
    double position[3], jacobian[6 * 8];
    int count;
    const ulna_coupling *coupling = ulna_model_couplings(model, &count);
    ulna_model_couple(model, q);
    for (int i = 0; i < count; i++)
        printf("joint %s is at %g, %g times joint %s\n",
               ulna_model_joint_name(model, ulna_model_dof_body(model, coupling[i].dof)),
               q[ulna_model_dof_coordinate(model, coupling[i].dof)], coupling[i].multiplier,
               ulna_model_joint_name(model, ulna_model_dof_body(model, coupling[i].master)));
    printf("joint lift moves body %s\n", ulna_model_body_name(model, ulna_model_find_joint(model, "lift")));
    check(ulna_pose_create(model, NULL, &pose, &error), &error);
    check(ulna_pose_forward(pose, q), &error);
    check(ulna_pose_point(pose, tool.body, tool.point, position), &error);
    printf("right finger at (%.4f, %.4f, %.4f) m\n\nJacobian, rows vx vy vz wx wy wz:\n", position[0], position[1],
           position[2]);

    ulna_jacobian_options options = ulna_jacobian_options_default();
    check(ulna_pose_jacobian(pose, &options, 1, &tool, jacobian), &error);
    for (int dof = 0; dof < ulna_model_dof_count(model); dof++) {
        char label[64];
        ulna_model_dof_label(model, dof, label, sizeof label);
        printf("%-12s", label);
        for (int row = 0; row < 6; row++)
            printf(" %7.3f", jacobian[6 * dof + row]);
        printf("\n");
    }
    ulna_pose_destroy(pose);
    ulna_model_destroy(model);
    return 0;
}
