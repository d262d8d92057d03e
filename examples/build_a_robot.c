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

    /* A turntable, an upper arm, a telescope, and a wrist that turns freely. Metres and radians. */
    const struct {
        const char *name;
        ulna_joint joint;
        double position[3];
    } parts[] = {
        {"turntable", ulna_joint_revolute(0, 0, 1), {0, 0, 0.1}},
        {"upper_arm", ulna_joint_revolute(0, 1, 0), {0, 0, 0.2}},
        {"telescope", ulna_joint_prismatic(1, 0, 0), {0.4, 0, 0}},
        {"wrist", ulna_joint_ball(), {0.3, 0, 0}},
    };
    check(ulna_builder_create(NULL, &builder), &error);
    for (int i = 0; i < 4; i++) {
        int body;
        check(ulna_builder_add_body(builder, parts[i].name, i - 1, &body, &error), &error);
        check(ulna_builder_set_placement(builder, body, parts[i].position, NULL, &error), &error);
        check(ulna_builder_set_joint(builder, body, &parts[i].joint, &error), &error);
    }
    check(ulna_builder_set_limits(builder, ulna_builder_find_body(builder, "telescope"), 0, 0, 0.25, &error), &error);
    check(ulna_builder_build(builder, NULL, &model, &error), &error);
    ulna_builder_destroy(builder);

    /* Three angles and lengths, and a quaternion (x, y, z, w): 7 coordinates, 6 degrees of freedom. */
    const double q[7] = {0.5, -0.3, 0.1, 0, 0, 0, 1};
    ulna_effector tool = {ulna_model_find_body(model, "wrist"), {0.1, 0, 0}};
    double position[3], jacobian[6 * 6];
    check(ulna_pose_create(model, NULL, &pose, &error), &error);
    check(ulna_pose_forward(pose, q), &error);
    check(ulna_pose_point(pose, tool.body, tool.point, position), &error);
    printf("tool at (%.4f, %.4f, %.4f) m\n\nJacobian, rows vx vy vz wx wy wz:\n", position[0], position[1],
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
