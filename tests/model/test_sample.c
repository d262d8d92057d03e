/* The samples: what they promise, and that the human's left side is the mirror image of the right one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

static ulna_model *sample(const char *name)
{
    ulna_model *model;
    ulna_error error;
    if (ulna_sample_create(name, NULL, &model, &error))
        fail_msg("%s: %s", name, error.message);
    assert_string_equal(ulna_model_name(model), name);
    return model;
}

static ulna_pose *posed(const ulna_model *model, const double *q)
{
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
    return pose;
}

static void assert_near(const double *a, const double *b, int count, double tolerance)
{
    for (int i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance))
            fail_msg("%.17g and %.17g", a[i], b[i]);
}

static void samples_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"human", "hand", "right-hand", "arm", "two-link", "all-joints"};
    int count = sizeof names / sizeof *names;
    for (int i = 0; i < count; i++) {
        assert_string_equal(ulna_sample_name(i), names[i]);
        assert_non_null(ulna_sample_text(i));
        ulna_model_destroy(sample(names[i]));
    }
    assert_null(ulna_sample_name(count));
    assert_null(ulna_sample_text(-1));
    ulna_model *model;
    ulna_error error;
    assert_int_equal(ulna_sample_create("horse", NULL, &model, &error), ULNA_ERR_ARGUMENT);
    assert_null(model);
    assert_non_null(strstr(error.message, "horse"));
}

static void failing_allocations_are_survived(void **state)
{
    (void)state;
    for (int i = 0; ulna_sample_name(i); i++)
        for (long fail = 0;; fail++) {
            ulna_test_memory memory = {.fail_at = fail};
            ulna_allocator allocator = ulna_test_allocator(&memory);
            ulna_model *model;
            ulna_status status = ulna_sample_create(ulna_sample_name(i), &allocator, &model, NULL);
            ulna_model_destroy(model);
            ulna_test_memory_check(&memory);
            if (!memory.failed)
                break;
            assert_int_equal(status, ULNA_ERR_MEMORY);
        }
}

/* Rest poses lie inside the limits, away from them wherever a range is more than a point. */
static void rest_is_inside_the_limits(void **state)
{
    (void)state;
    for (int i = 0; ulna_sample_name(i); i++) {
        ulna_model *model = sample(ulna_sample_name(i));
        for (int dof = 0; dof < ulna_model_dof_count(model); dof++) {
            int at = ulna_model_dof_coordinate(model, dof);
            if (at == ULNA_NONE)
                continue;
            double rest = ulna_model_rest(model)[at];
            assert_true(ulna_model_lower(model)[dof] < rest && rest < ulna_model_upper(model)[dof]);
        }
        ulna_model_destroy(model);
    }
}

/* ---- the human ---------------------------------------------------------------------------------------- */

static void human_is_complete(void **state)
{
    (void)state;
    static const char *const middle[] = {"C7", "T10", "CLAV", "STRN", "RBAC"};
    static const char *const sides[] = {"FHD", "BHD", "SHO", "UPA", "ELB", "FRM", "WRA", "WRB", "FIN",
                                        "FWT", "BWT", "THI", "KNE", "SHN", "ANK", "HEE", "TOE", "MT5"};
    ulna_model *model = sample("human");
    int dofs = ulna_model_dof_count(model);
    assert_in_range(dofs, 58, 62);
    assert_int_equal(ulna_model_coordinate_count(model), dofs);
    assert_int_equal(ulna_model_marker_count(model), 41);
    for (size_t i = 0; i < sizeof middle / sizeof *middle; i++)
        assert_true(ulna_model_find_marker(model, middle[i]) >= 0);
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        for (int side = 0; side < 2; side++) {
            char name[8];
            snprintf(name, sizeof name, "%c%s", "LR"[side], sides[i]);
            assert_true(ulna_model_find_marker(model, name) >= 0);
        }

    /* every degree of freedom but the root's has limits on both sides */
    for (int i = 0; i < dofs; i++) {
        int limited = isfinite(ulna_model_lower(model)[i]) && isfinite(ulna_model_upper(model)[i]);
        assert_int_equal(limited, ulna_model_dof_body(model, i) != 0);
    }
    double mass = 0;
    for (int i = 0; i < ulna_model_body_count(model); i++) {
        assert_true(ulna_model_body_mass(model, i)->mass > 0);
        mass += ulna_model_body_mass(model, i)->mass;
    }
    assert_true(fabs(mass - 70) < 1e-9);
    ulna_model_destroy(model);
}

static void human_stands_on_the_floor(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    ulna_pose *pose = posed(model, ulna_model_rest(model));
    double head[3], top[3], toe[3], hand[3];
    int skull = ulna_model_find_body(model, "head");
    const double *center = ulna_model_body_mass(model, skull)->center;
    const double crown[3] = {2 * center[0], 2 * center[1], 2 * center[2]};
    assert_int_equal(ulna_pose_body(pose, skull, head, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_point(pose, skull, crown, top), ULNA_OK);
    assert_int_equal(ulna_pose_body(pose, ulna_model_find_body(model, "left_toes"), toe, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_body(pose, ulna_model_find_body(model, "left_hand"), hand, NULL), ULNA_OK);
    assert_true(fabs(top[1] - 1.75) < 0.001);              /* as tall as it says */
    assert_true(toe[1] > 0 && toe[1] < 0.05);              /* the ball of the foot is just above the floor */
    assert_true(toe[2] > 0.1);                             /* and in front: it faces +Z */
    assert_true(hand[0] > 0.6 && hand[1] > head[1] - 0.3); /* the left arm is stretched to +X */
    ulna_pose_destroy(pose);
    ulna_model_destroy(model);
}

/* The name on the other side: left_hand for right_hand, LSHO for RSHO, the same for what is in the middle. */
static void other_side(const char *name, int is_marker, char *other, size_t size)
{
    if (strncmp(name, "left_", 5) == 0)
        snprintf(other, size, "right_%s", name + 5);
    else if (strncmp(name, "right_", 6) == 0)
        snprintf(other, size, "left_%s", name + 6);
    else if (is_marker && strcmp(name, "RBAC") != 0 && (name[0] == 'L' || name[0] == 'R'))
        snprintf(other, size, "%c%s", name[0] == 'L' ? 'R' : 'L', name + 1);
    else
        snprintf(other, size, "%s", name);
}

/* A mirror at x = 0 negates slides along X and turns about Y and Z. */
static double mirror_sign(const ulna_model *model, int dof)
{
    char label[300];
    int body = ulna_model_dof_body(model, dof);
    const ulna_joint *joint = ulna_model_body_joint(model, body);
    if (joint->type == ULNA_JOINT_REVOLUTE)
        return joint->axis[0] == 1 ? 1 : -1;
    int length = ulna_model_dof_label(model, dof, label, sizeof label);
    char axis = label[length - 1];
    return (axis == 'x') == (label[length - 2] == 'T') ? -1 : 1;
}

static int mirror_dof(const ulna_model *model, int dof)
{
    char name[64];
    int body = ulna_model_dof_body(model, dof), first, first_other;
    other_side(ulna_model_body_name(model, body), 0, name, sizeof name);
    int other = ulna_model_find_body(model, name);
    assert_true(other >= 0);
    assert_int_equal(ulna_model_body_dofs(model, body, &first), ulna_model_body_dofs(model, other, &first_other));
    return first_other + dof - first;
}

static void human_is_symmetric(void **state)
{
    (void)state;
    ulna_model *model = sample("human");
    int dofs = ulna_model_dof_count(model), markers = ulna_model_marker_count(model);
    const double *lower = ulna_model_lower(model), *upper = ulna_model_upper(model);
    double *q = calloc((size_t)dofs, sizeof *q), *mirrored = calloc((size_t)dofs, sizeof *mirrored);
    double *points = calloc(3 * (size_t)markers, sizeof *points), *images = calloc(3 * (size_t)markers, sizeof *images);
    assert_true(q && mirrored && points && images);

    for (int i = 0; i < dofs; i++) {
        int other = mirror_dof(model, i);
        double sign = mirror_sign(model, i);
        assert_true((sign > 0 ? lower[other] : -upper[other]) == lower[i]);
        assert_true((sign > 0 ? upper[other] : -lower[other]) == upper[i]);
    }

    /* any pose, seen in the mirror, is the mirrored pose */
    ulna_test_rng rng = ulna_test_rng_seed(41);
    for (int trial = 0; trial < 20; trial++) {
        for (int i = 0; i < dofs; i++)
            q[i] = ulna_test_rng_uniform(&rng, fmax(lower[i], -3), fmin(upper[i], 3));
        for (int i = 0; i < dofs; i++)
            mirrored[mirror_dof(model, i)] = mirror_sign(model, i) * q[i];
        ulna_pose *pose = posed(model, q), *image = posed(model, mirrored);
        assert_int_equal(ulna_pose_markers(pose, points), ULNA_OK);
        assert_int_equal(ulna_pose_markers(image, images), ULNA_OK);
        for (int i = 0; i < markers; i++) {
            char name[16];
            if (strcmp(ulna_model_marker_name(model, i), "RBAC") == 0)
                continue; /* the one that tells right from left */
            other_side(ulna_model_marker_name(model, i), 1, name, sizeof name);
            int other = ulna_model_find_marker(model, name);
            const double expected[3] = {-points[3 * i], points[3 * i + 1], points[3 * i + 2]};
            assert_near(images + 3 * other, expected, 3, 1e-12);
        }
        ulna_pose_destroy(pose);
        ulna_pose_destroy(image);
    }
    free(q);
    free(mirrored);
    free(points);
    free(images);
    ulna_model_destroy(model);
}

/* ---- the others --------------------------------------------------------------------------------------- */

static void hand_has_all_fingers(void **state)
{
    (void)state;
    static const char *const tips[] = {"thumb_tip", "index_tip", "middle_tip", "ring_tip", "little_tip"};
    ulna_model *model = sample("hand");
    assert_int_equal(ulna_model_dof_count(model), 28);
    assert_int_equal(ulna_model_coordinate_count(model), 29);
    for (size_t i = 0; i < sizeof tips / sizeof *tips; i++)
        assert_true(ulna_model_find_marker(model, tips[i]) >= 0);
    ulna_model_destroy(model);
}

static void robots_have_their_lengths(void **state)
{
    (void)state;
    const double zero[7] = {0}, upright[3] = {0, 0, 0.34 + 0.90}, stretched[3] = {2, 0, 0};
    double tip[3];
    ulna_model *arm = sample("arm"), *two_link = sample("two-link");
    assert_int_equal(ulna_model_dof_count(arm), 7);
    assert_int_equal(ulna_model_dof_count(two_link), 2);
    ulna_pose *pose = posed(arm, zero);
    assert_int_equal(ulna_pose_markers(pose, tip), ULNA_OK);
    assert_near(tip, upright, 3, 1e-12);
    ulna_pose_destroy(pose);
    pose = posed(two_link, zero);
    assert_int_equal(ulna_pose_markers(pose, tip), ULNA_OK);
    assert_near(tip, stretched, 3, 1e-12);
    ulna_pose_destroy(pose);
    ulna_model_destroy(arm);
    ulna_model_destroy(two_link);
}

static void all_joints_are_there(void **state)
{
    (void)state;
    ulna_model *model = sample("all-joints");
    for (int type = 0; type < ULNA_JOINT_TYPE_COUNT; type++) {
        int body = ulna_model_find_body(model, ulna_joint_type_name((ulna_joint_type)type));
        assert_true(body >= 0);
        assert_int_equal(ulna_model_body_joint(model, body)->type, type);
    }
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_have_names),        cmocka_unit_test(failing_allocations_are_survived),
        cmocka_unit_test(rest_is_inside_the_limits), cmocka_unit_test(human_is_complete),
        cmocka_unit_test(human_stands_on_the_floor), cmocka_unit_test(human_is_symmetric),
        cmocka_unit_test(hand_has_all_fingers),      cmocka_unit_test(robots_have_their_lengths),
        cmocka_unit_test(all_joints_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
