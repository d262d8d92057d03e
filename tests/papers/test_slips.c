/* The slips of the papers that docs/mathematics.md lists, each shown on a small case: as printed it is wrong, as put right it is not. */
#include "support.h"
#include "support_tree.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the survey: a planar arm of two links of 1 m, P(x), its Jacobian and a goal ---- */

typedef struct arm {
    double p[2], J[2][2], r[2]; /* r: goal - P */
} arm;

static arm arm_at(double a, double b, double gx, double gy)
{
    arm s = {.p = {cos(a) + cos(a + b), sin(a) + sin(a + b)}};
    s.J[0][0] = -s.p[1];
    s.J[0][1] = -sin(a + b);
    s.J[1][0] = s.p[0];
    s.J[1][1] = cos(a + b);
    s.r[0] = gx - s.p[0];
    s.r[1] = gy - s.p[1];
    return s;
}

/* (JtJ + shift I) d = sign Jt r; returns the determinant, and the slope of f = 1/2 |r|^2 along d. */
static double step(const arm *s, double shift, double sign, double d[2], double *slope)
{
    double H[2][2], g[2], determinant;
    for (int i = 0; i < 2; i++) {
        g[i] = -(s->J[0][i] * s->r[0] + s->J[1][i] * s->r[1]);
        for (int k = 0; k < 2; k++)
            H[i][k] = s->J[0][i] * s->J[0][k] + s->J[1][i] * s->J[1][k] + (i == k ? shift : 0);
    }
    determinant = H[0][0] * H[1][1] - H[0][1] * H[1][0];
    d[0] = -sign * (H[1][1] * g[0] - H[0][1] * g[1]) / determinant;
    d[1] = -sign * (H[0][0] * g[1] - H[1][0] * g[0]) / determinant;
    *slope = g[0] * d[0] + g[1] * d[1];
    return determinant;
}

/* (3): a translation moves the effector along its axis, whatever lies between. The unit vector to the effector is another one as soon as a
 * rotated link follows. */
static void survey_3_translations(void **state)
{
    (void)state;
    double bend = 0.7, axis[2] = {1, 0}, x = 0.4, h = 1e-6;
    double tip[2] = {x + cos(bend), sin(bend)}, moved[2] = {x + h + cos(bend), sin(bend)};
    double derivative[2] = {(moved[0] - tip[0]) / h, (moved[1] - tip[1]) / h};
    double printed[2] = {(tip[0] - x), (tip[1] - 0)}; /* P - z over its length, z the joint's place */
    assert_true(hypot(derivative[0] - axis[0], derivative[1] - axis[1]) < 1e-9);
    assert_true(hypot(derivative[0] - printed[0], derivative[1] - printed[1]) > 0.5);
}

/* (14): JtJ of a straight arm has no inverse. (15), (16): with - gamma I a step may climb, and has no inverse where gamma is an eigenvalue. */
static void survey_14_to_16_damping(void **state)
{
    (void)state;
    double d[2], slope, plus;
    arm straight = arm_at(0.3, 0, 1, 1), bent = arm_at(0.3, 1.1, 0.2, 1.4);
    assert_true(fabs(step(&straight, 0, 1, d, &slope)) < 1e-12);
    int climbs = 0;
    for (double gamma = 0.05; gamma < 8; gamma *= 1.5) {
        assert_true(step(&bent, gamma, 1, d, &plus) > 0);
        assert_true(plus < 0);
        step(&bent, -gamma, 1, d, &slope);
        climbs += slope > 0;
    }
    assert_true(climbs > 2);
    double low = 1e-9, high = 0.5; /* the determinant of JtJ - gamma I passes through zero */
    assert_true(step(&bent, -low, 1, d, &slope) > 0 && step(&bent, -high, 1, d, &slope) < 0);
}

/* (25)-(27): with the Jacobian J of P, as in (14), the minus sign climbs; with that of the residual r - P, which is -J, it descends. The Jacobian of
 * f, which the text names, is one row: it does not fit. */
static void survey_25_to_27_signs(void **state)
{
    (void)state;
    double d[2], slope;
    arm bent = arm_at(0.3, 1.1, 0.2, 1.4);
    for (double gamma = 0; gamma < 2; gamma += 0.5) {
        step(&bent, gamma, -1, d, &slope);
        assert_true(slope > 0);
        step(&bent, gamma, 1, d, &slope);
        assert_true(slope < 0);
    }
}

/* (29), (31): L = x^2 / 2 - lambda (x - 1) has its only stationary point at (1, 1), the answer; it is a saddle, and L has no minimum. (31), with
 * C = x - 1 - s^2, also rests at s = 0, x = 1 for f = (x - 2)^2 / 2, whose minimum x = 2 is inside. */
static void survey_29_and_31_are_saddles(void **state)
{
    (void)state;
    double L = 0.5, lower = 0.5 * 4 - 100 * (2 - 1);
    assert_true(lower < L);
    double xx = 1, xl = -1, ll = 0;
    assert_true(xx * ll - xl * xl < 0);
    double x = 1, s = 0,
           lambda = (x - 2); /* dL/dx = (x - 2) - lambda, dL/ds = 2 lambda s, dL/dlambda = -(x - 1 - s^2) */
    assert_true((x - 2) - lambda == 0 && 2 * lambda * s == 0 && x - 1 - s * s == 0);
    assert_true(lambda < 0); /* a multiplier of the wrong sign: not a minimum */
}

/* ---- the recipe ---- */

/*
 * (13), (29): the adjoint from body to world, with its translation, gives the spatial Jacobian: the velocity of the point of the body that is at
 * the world's origin. The cross products of (17) are the velocity of the effector: the rotation alone leads there.
 */
static void recipe_13_and_29_frames(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_pose *pose;
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    int nv = ulna_model_dof_count(model), nq = ulna_model_coordinate_count(model);
    double *q = ulna_test_numbers(nq), *world = ulna_test_numbers(6 * nv), *body = ulna_test_numbers(6 * nv), p[3],
           R[9];
    for (int i = 0; i < nq; i++)
        q[i] = 0.3 + 0.1 * i;
    ulna_effector tip = {.body = ulna_model_body_count(model) - 1};
    assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
    assert_int_equal(ulna_pose_body(pose, tip.body, p, R), ULNA_OK);
    ulna_jacobian_options options = ulna_jacobian_options_default();
    assert_int_equal(ulna_pose_jacobian(pose, &options, 1, &tip, world), ULNA_OK);
    options.frame = ULNA_FRAME_BODY;
    assert_int_equal(ulna_pose_jacobian(pose, &options, 1, &tip, body), ULNA_OK);
    double by_rotation = 0, by_adjoint = 0, at_origin = 0;
    for (int j = 0; j < nv; j++) {
        double v[3], w[3], spatial[3];
        for (int i = 0; i < 3; i++) {
            v[i] = R[3 * i] * body[6 * j] + R[3 * i + 1] * body[6 * j + 1] + R[3 * i + 2] * body[6 * j + 2];
            w[i] = R[3 * i] * body[6 * j + 3] + R[3 * i + 1] * body[6 * j + 4] + R[3 * i + 2] * body[6 * j + 5];
        }
        for (int i = 0; i < 3; i++) { /* v + p x w */
            spatial[i] = v[i] + p[(i + 1) % 3] * w[(i + 2) % 3] - p[(i + 2) % 3] * w[(i + 1) % 3];
            by_rotation = fmax(by_rotation, fabs(v[i] - world[6 * j + i]));
            by_adjoint = fmax(by_adjoint, fabs(spatial[i] - world[6 * j + i]));
        }
        double axis[3],
            origin[3]; /* a rotation about an axis through `origin` moves the world's origin by origin x axis */
        assert_int_equal(ulna_pose_dof_axis(pose, j, axis, origin), ULNA_OK);
        for (int i = 0; i < 3; i++)
            at_origin = fmax(at_origin, fabs(spatial[i] - (origin[(i + 1) % 3] * axis[(i + 2) % 3] -
                                                           origin[(i + 2) % 3] * axis[(i + 1) % 3])));
    }
    assert_true(by_rotation < 1e-12);
    assert_true(at_origin < 1e-12);
    assert_true(by_adjoint > 0.05);
    free(q);
    free(world);
    free(body);
    ulna_pose_destroy(pose);
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survey_3_translations),   cmocka_unit_test(survey_14_to_16_damping),
        cmocka_unit_test(survey_25_to_27_signs),   cmocka_unit_test(survey_29_and_31_are_saddles),
        cmocka_unit_test(recipe_13_and_29_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
