/* angles: arc tangents without branches, and rotations written as three others, by every kernel of this machine. */
#include <float.h>

#include "base/base.h"
#include "math/angles.h"
#include "math/math3.h"
#include "math/wide.inc"
#include "support_tree.h"

/* ---- arc tangents, by the portable instructions -------------------------------------------------------------------- */

static double arc_tangent_of(double y, double x)
{
    wide ys, xs;
    for (int lane = 0; lane < WIDE; lane++) {
        ys[lane] = y;
        xs[lane] = x;
    }
    return arc_tangent(ys, xs)[WIDE - 1];
}

static void assert_arc_tangent(double y, double x)
{
    double angle = arc_tangent_of(y, x), expected = atan2(y, x), next = nextafter(fabs(expected), 4);
    assert_true(fabs(angle - expected) <= 2 * (next - fabs(expected)));
    assert_int_equal(!signbit(angle), !signbit(expected));
}

static void arc_tangents_of_all_sizes(void **state)
{
    (void)state;
    static const double size[] = {0,   DBL_TRUE_MIN, DBL_MIN, 1e-300, 1e-160, 1e-20, 1e-9, 1e-3,  0.4142135623730950,
                                  0.5, 0.7,          1,       1.5,    2.4142, 1e3,   1e9,  1e160, 1e299};
    enum { SIZES = sizeof size / sizeof *size };
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < SIZES; j++)
            for (int signs = 0; signs < 4; signs++)
                assert_arc_tangent(copysign(size[i], signs & 1 ? -1 : 1), copysign(size[j], signs & 2 ? -1 : 1));
}

static void arc_tangents_all_around(void **state)
{
    (void)state;
    enum { STEPS = 200000 };
    for (int n = -STEPS; n <= STEPS; n++) {
        double angle = ULNA_PI / STEPS * n;
        assert_arc_tangent(sin(angle), cos(angle));
        assert_arc_tangent(1e-7 * n, 1); /* small ones too */
    }
}

/* ---- rotations ------------------------------------------------------------------------------------------------------ */

static void multiply_by(double r[9], int axis, double angle)
{
    double step[9], product[9];
    ulna_rotation_about(axis, angle, step);
    ulna_multiply9(r, step, product);
    ulna_copy9(product, r);
}

static double random_angle(ulna_test_rng *rng)
{
    static const double most[] = {0, 1e-9, 0.1, 3.2, 20, 1e5, 1e12}; /* the last is beyond the quick sines */
    return most[ulna_test_rng_index(rng, 7)] * ulna_test_rng_uniform(rng, -1, 1);
}

/* Both sides of the equation in angles.h, in each lane. */
static void check_change(ulna_angle_function *change_angles, ulna_test_rng *rng)
{
    static const unsigned char orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const unsigned char *order = orders[ulna_test_rng_index(rng, 6)];
    ulna_angle_change change;
    ulna_angle_lanes from, to;
    double left[9], right[9], cosine[ULNA_ANGLE_LANES];
    int lanes = 1 + ulna_test_rng_index(rng, ULNA_ANGLE_LANES);
    ulna_test_random_rotation(rng, left);
    ulna_test_random_rotation(rng, right);
    ulna_angle_change_set(&change, left, right, order);
    change.count = ulna_test_rng_index(rng, 4);
    for (int n = 0; n < 3; n++) {
        change.axis[n] = (unsigned char)ulna_test_rng_index(rng, 3);
        for (int f = 0; f < ULNA_ANGLE_LANES; f++)
            from.of[n][f] = random_angle(rng);
    }
    change_angles(&change, lanes, &from, &to, cosine);
    for (int f = 0; f < lanes; f++) {
        double r[9], expected[9], found[9];
        ulna_copy9(left, r);
        for (int n = 0; n < change.count; n++)
            multiply_by(r, change.axis[n], from.of[n][f]);
        ulna_multiply9(r, right, expected);
        ulna_identity9(found);
        for (int n = 0; n < 3; n++) {
            multiply_by(found, order[n], to.of[n][f]);
            assert_true(fabs(to.of[n][f]) <= (n == 1 ? ULNA_PI / 2 : ULNA_PI));
        }
        assert_true(fabs(cosine[f] - cos(to.of[1][f])) < 1e-14);
        for (int k = 0; k < 9 && cosine[f] > 1e-3; k++)
            assert_true(fabs(found[k] - expected[k]) < 1e-15 + 2e-15 / cosine[f]);
    }
}

/* The same rotations again, and nothing else: angles that are zero are exactly zero. */
static void check_zeros(ulna_angle_function *change_angles, ulna_test_rng *rng)
{
    static const unsigned char order[3] = {2, 0, 1};
    ulna_angle_change change;
    ulna_angle_lanes from, to;
    double left[9], right[9], cosine[ULNA_ANGLE_LANES];
    ulna_rotation_about(2, ulna_test_rng_uniform(rng, -3, 3), left);
    ulna_transpose9(left, right);
    ulna_angle_change_set(&change, left, right, order);
    change.count = 1;
    change.axis[0] = 2;
    for (int f = 0; f < ULNA_ANGLE_LANES; f++)
        from.of[0][f] = ulna_test_rng_uniform(rng, -3, 3);
    change_angles(&change, ULNA_ANGLE_LANES, &from, &to, cosine);
    for (int f = 0; f < ULNA_ANGLE_LANES; f++) {
        assert_true(fabs(to.of[0][f] - from.of[0][f]) < 1e-15);
        assert_true(to.of[1][f] == 0 && to.of[2][f] == 0);
    }
}

static void check_kernel(ulna_angle_function *change_angles)
{
    ulna_test_rng rng = ulna_test_rng_seed(71);
    for (int trial = 0; trial < 20000; trial++) {
        check_change(change_angles, &rng);
        check_zeros(change_angles, &rng);
    }
}

static void rotations_as_three_others(void **state)
{
    (void)state;
    check_kernel(ulna_change_angles_portable);
#ifndef ULNA_NO_X86
    if (ulna_cpu_runs("avx2"))
        check_kernel(ulna_change_angles_avx2);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arc_tangents_of_all_sizes),
        cmocka_unit_test(arc_tangents_all_around),
        cmocka_unit_test(rotations_as_three_others),
    };
    return cmocka_run_group_tests_name("angles", tests, NULL, NULL);
}
