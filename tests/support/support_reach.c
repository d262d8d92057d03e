#include "support_reach.h"

#include "math/math3.h"

#include <math.h>
#include <string.h>

ulna_test_reach ulna_test_reach_make(const ulna_model *model, int tip_count, const ulna_reach_tip *tips,
                                     const ulna_reach_options *options)
{
    ulna_error error = {0};
    ulna_test_reach t = {.model = model,
                         .nq = ulna_model_coordinate_count(model),
                         .nv = ulna_model_dof_count(model),
                         .tip_count = tip_count};
    assert_true(tip_count <= ULNA_TEST_REACH_TIPS && t.nq <= ULNA_TEST_REACH_Q);
    memcpy(t.tip, tips, (size_t)tip_count * sizeof *tips);
    if (ulna_reach_create(model, tip_count, tips, options, NULL, &t.reach, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    assert_int_equal(ulna_reach_work_create(t.reach, NULL, &t.work, &error), ULNA_OK);
    assert_int_equal(ulna_pose_create(model, NULL, &t.pose, &error), ULNA_OK);
    return t;
}

void ulna_test_reach_release(ulna_test_reach *reach)
{
    ulna_pose_destroy(reach->pose);
    ulna_reach_work_destroy(reach->work);
    ulna_reach_destroy(reach->reach);
}

void ulna_test_reach_q(ulna_test_rng *rng, const ulna_model *model, double *q)
{
    const double *lower = ulna_model_lower(model), *upper = ulna_model_upper(model);
    memcpy(q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    for (int j = 0; j < ulna_model_dof_count(model); j++) {
        int c = ulna_model_dof_coordinate(model, j);
        double wide = ulna_model_dof_is_translation(model, j) ? 0.5 : ULNA_PI;
        if (c >= 0)
            q[c] = ulna_test_rng_uniform(rng, fabs(lower[j]) < 1e9 ? lower[j] : fmin(-wide, upper[j]),
                                         fabs(upper[j]) < 1e9 ? upper[j] : fmax(wide, lower[j]));
    }
    for (int body = 0; body < ulna_model_body_count(model); body++) {
        ulna_joint_type type = ulna_model_body_joint(model, body)->type;
        int first, count = ulna_model_body_coordinates(model, body, &first);
        if (type == ULNA_JOINT_BALL || type == ULNA_JOINT_FREE)
            for (int i = 0; i < 4; i++)
                q[first + count - 4 + i] = ulna_test_rng_normal(rng);
    }
}

/* Where the tip is, seen from what its goals are relative to. */
static void place(const ulna_test_reach *reach, int tip, double position[3], double rotation[9])
{
    const ulna_reach_tip *t = &reach->tip[tip];
    double R[9], p[3], tool[9], other[9], at[3], back[9], behind[3];
    ulna_pose_body(reach->pose, t->body, p, R);
    ulna_quaternion_to_rotation(t->rotation, tool);
    ulna_compose(R, p, tool, t->point, rotation, position);
    if (t->relative_to == ULNA_NONE)
        return;
    ulna_pose_body(reach->pose, t->relative_to, at, other);
    ulna_invert(other, at, back, behind);
    ulna_copy9(rotation, R);
    ulna_copy3(position, p);
    ulna_compose(back, behind, R, p, rotation, position);
}

void ulna_test_reach_goals(const ulna_test_reach *reach, const double *q, ulna_reach_goal *goals)
{
    double rotation[9];
    assert_int_equal(ulna_pose_forward(reach->pose, q), ULNA_OK);
    for (int i = 0; i < reach->tip_count; i++) {
        place(reach, i, goals[i].position, rotation);
        ulna_rotation_to_quaternion(rotation, goals[i].rotation);
    }
}

void ulna_test_reach_errors(const ulna_test_reach *reach, const ulna_reach_goal *goals, const double *q,
                            double *position, double *rotation)
{
    double p[3], R[9], a[4], off[3];
    *position = *rotation = 0;
    assert_int_equal(ulna_pose_forward(reach->pose, q), ULNA_OK);
    for (int i = 0; i < reach->tip_count; i++) {
        const double *w = reach->tip[i].weight;
        double back[4] = {-goals[i].rotation[0], -goals[i].rotation[1], -goals[i].rotation[2], goals[i].rotation[3]};
        place(reach, i, p, R);
        ulna_subtract3(p, goals[i].position, off);
        ulna_rotation_to_quaternion(R, a);
        ulna_quaternion_multiply(back, a, a);
        if (w[0] > 0 && w[1] > 0 && w[2] > 0)
            *position = fmax(*position, ulna_norm(off));
        if (w[3] > 0 && w[4] > 0 && w[5] > 0)
            *rotation = fmax(*rotation, 2 * atan2(ulna_norm(a), fabs(a[3])));
    }
}

int ulna_test_reach_inside(const ulna_model *model, const double *q)
{
    const double *lower = ulna_model_lower(model), *upper = ulna_model_upper(model);
    for (int j = 0; j < ulna_model_dof_count(model); j++) {
        int c = ulna_model_dof_coordinate(model, j);
        if (c >= 0 && (q[c] < lower[j] || q[c] > upper[j]))
            return 0;
    }
    return 1;
}
