/* math: rotations in their three forms, the left Jacobian of exp and its derivative, turns between directions. */
#include "math/math3.h"
#include "support_tree.h"

static double difference(const double *a, const double *b, int count)
{
    double largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

#define assert_near(a, b, count, tolerance) assert_true(difference(a, b, count) <= (tolerance))

static void assert_rotation(const double r[9])
{
    double t[9], product[9], identity[9], cross[3];
    ulna_identity9(identity);
    ulna_transpose9(r, t);
    ulna_multiply9(r, t, product);
    assert_near(product, identity, 9, 4e-15);
    ulna_cross(r, r + 3, cross);
    assert_near(cross, r + 6, 3, 4e-15);
}

static void random_unit(ulna_test_rng *rng, double v[3])
{
    double r[9];
    ulna_test_random_rotation(rng, r);
    ulna_copy3(r, v);
    double length = ulna_norm(v);
    for (int i = 0; i < 3; i++)
        v[i] /= length;
}

/* Lengths from nothing to nearly half a turn. */
static const double angles[] = {
    0,   1e-300, 1e-160, 1e-20, 1e-12, 1e-8, 1e-7, 1e-5, 1e-4,           1e-3,           0.01,
    0.1, 0.5,    0.999,  1.0,   1.001, 1.5,  2,    3,    ULNA_PI - 1e-6, ULNA_PI - 1e-9, ULNA_PI - 1e-13};
enum { ANGLES = sizeof angles / sizeof *angles };

static void random_vector(ulna_test_rng *rng, double length, double w[3])
{
    random_unit(rng, w);
    for (int i = 0; i < 3; i++)
        w[i] *= length;
}

/* exp by its power series after halving: slow and plain. */
static void naive_exp(const double w[3], double r[9])
{
    enum { HALVINGS = 6 };
    double x[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0}, term[9], next[9];
    for (int i = 0; i < 9; i++)
        x[i] /= 1 << HALVINGS;
    ulna_identity9(r);
    ulna_identity9(term);
    for (int k = 1; k < 20; k++) {
        ulna_multiply9(term, x, next);
        for (int i = 0; i < 9; i++)
            r[i] += term[i] = next[i] / k;
    }
    for (int k = 0; k < HALVINGS; k++) {
        ulna_multiply9(r, r, next);
        ulna_copy9(next, r);
    }
}

static void exp_is_the_power_series(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(1);
    for (int round = 0; round < 50; round++)
        for (int k = 0; k < ANGLES; k++) {
            double w[3], a[9], b[9];
            random_vector(&rng, angles[k] * (round % 3 + 1), w);
            ulna_exp(w, a);
            naive_exp(w, b);
            assert_near(a, b, 9, 1e-13);
            assert_rotation(a);
        }
}

static void log_undoes_exp(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(2);
    for (int round = 0; round < 200; round++)
        for (int k = 0; k < ANGLES; k++) {
            double w[3], r[9], back[3], q[4], from_q[9];
            random_vector(&rng, angles[k], w);
            ulna_exp(w, r);
            ulna_log(r, back);
            assert_near(w, back, 3, 2e-15 + 4e-15 * angles[k]);
            ulna_quaternion_exp(w, q);
            ulna_quaternion_to_rotation(q, from_q);
            assert_near(r, from_q, 9, 2e-15);
            ulna_quaternion_log(q, back);
            assert_near(w, back, 3, 1e-300 + 2e-15 * angles[k]);
        }
}

static void log_of_half_turns(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(3);
    for (int round = 0; round < 300; round++) {
        double n[3] = {0, 0, 0}, r[9], w[3], back[9];
        if (round < 3)
            n[round] = 1;
        else
            random_unit(&rng, n);
        for (int i = 0; i < 9; i++)
            r[i] = 2 * n[i / 3] * n[i % 3] - (i % 4 == 0);
        ulna_log(r, w);
        assert_true(fabs(ulna_norm(w) - ULNA_PI) < 1e-14);
        ulna_exp(w, back);
        assert_near(r, back, 9, 4e-15);
    }
}

static void quaternions_and_matrices_agree(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(4);
    for (int round = 0; round < 1000; round++) {
        double a[9], b[9], product[9], qa[4], qb[4], qp[4], r[9];
        ulna_test_random_rotation(&rng, a);
        ulna_test_random_rotation(&rng, b);
        ulna_rotation_to_quaternion(a, qa);
        ulna_rotation_to_quaternion(b, qb);
        assert_true(qa[3] >= 0);
        assert_true(fabs(qa[0] * qa[0] + qa[1] * qa[1] + qa[2] * qa[2] + qa[3] * qa[3] - 1) < 1e-15);
        ulna_quaternion_to_rotation(qa, r);
        assert_near(a, r, 9, 4e-15);
        ulna_multiply9(a, b, product);
        ulna_quaternion_multiply(qa, qb, qp);
        ulna_quaternion_to_rotation(qp, r);
        assert_near(product, r, 9, 4e-15);
        ulna_quaternion_multiply(qa, qb, qa); /* in place */
        assert_near(qa, qp, 4, 0);
        for (int i = 0; i < 4; i++)
            qp[i] *= -7; /* any length, either sign */
        ulna_quaternion_to_rotation(qp, r);
        assert_near(product, r, 9, 4e-15);
    }
}

static void coordinate_turns(void **state)
{
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        double w[3] = {0, 0, 0}, a[9], b[9];
        w[axis] = 0.7;
        ulna_rotation_about(axis, 0.7, a);
        ulna_exp(w, b);
        assert_near(a, b, 9, 1e-15);
    }
}

/* d exp(w) = [J dw]x exp(w), by central differences of the logarithm. */
static void left_jacobian_against_differences(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(5);
    const double h = 1e-5;
    for (int round = 0; round < 20; round++)
        for (int k = 0; k < ANGLES; k++) {
            double w[3], j[9], inverse[9], product[9], identity[9], r[9], back[9];
            random_vector(&rng, angles[k], w);
            ulna_left_jacobian(w, j);
            ulna_exp(w, r);
            ulna_transpose9(r, back);
            for (int c = 0; c < 3; c++) {
                double a[3], b[3], ra[9], rb[9], turn[9], da[3], db[3];
                ulna_copy3(w, a);
                ulna_copy3(w, b);
                a[c] += h;
                b[c] -= h;
                ulna_exp(a, ra);
                ulna_exp(b, rb);
                ulna_multiply9(ra, back, turn);
                ulna_log(turn, da);
                ulna_multiply9(rb, back, turn);
                ulna_log(turn, db);
                for (int row = 0; row < 3; row++)
                    assert_true(fabs((da[row] - db[row]) / (2 * h) - j[3 * row + c]) < 1e-9);
            }
            ulna_left_jacobian_inverse(w, inverse);
            ulna_multiply9(j, inverse, product);
            ulna_identity9(identity);
            assert_near(product, identity, 9, 4e-15);
        }
}

static void left_jacobian_derivative_against_differences(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(6);
    const double h = 1e-5;
    for (int round = 0; round < 20; round++)
        for (int k = 0; k < ANGLES; k++) {
            double w[3];
            random_vector(&rng, angles[k] * (1 + round % 2), w);
            for (int c = 0; c < 3; c++) {
                double a[3], b[3], ja[9], jb[9], dj[9];
                ulna_copy3(w, a);
                ulna_copy3(w, b);
                a[c] += h;
                b[c] -= h;
                ulna_left_jacobian(a, ja);
                ulna_left_jacobian(b, jb);
                ulna_left_jacobian_derivative(w, c, dj);
                for (int i = 0; i < 9; i++)
                    assert_true(fabs((ja[i] - jb[i]) / (2 * h) - dj[i]) < 1e-9);
            }
        }
}

/* The series below |w| = 1 and the closed form above it meet. */
static void the_series_meets_the_closed_form(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(7);
    for (int round = 0; round < 50; round++) {
        double u[3], below[3], above[3], a[9], b[9];
        random_unit(&rng, u);
        for (int i = 0; i < 3; i++) {
            below[i] = u[i] * (1 - 1e-15);
            above[i] = u[i] * (1 + 1e-15);
        }
        ulna_left_jacobian(below, a);
        ulna_left_jacobian(above, b);
        assert_near(a, b, 9, 6e-15);
        for (int k = 0; k < 3; k++) {
            ulna_left_jacobian_derivative(below, k, a);
            ulna_left_jacobian_derivative(above, k, b);
            assert_near(a, b, 9, 6e-15);
        }
    }
}

static void check_turn(const double a[3], const double b[3])
{
    double r[9], image[3], w[3];
    ulna_shortest_rotation(a, b, r);
    assert_rotation(r);
    ulna_rotate(r, a, image);
    assert_near(image, b, 3, 2e-15);
    ulna_log(r, w);
    assert_true(fabs(ulna_dot(w, a)) < 1e-14 && fabs(ulna_dot(w, b)) < 1e-14);
}

static void shortest_turns(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(8);
    for (int round = 0; round < 500; round++) {
        double a[3], b[3], opposite[3];
        random_unit(&rng, a);
        random_unit(&rng, b);
        check_turn(a, b);
        check_turn(a, a);
        for (int i = 0; i < 3; i++)
            opposite[i] = -a[i];
        check_turn(a, opposite);
        for (double near = 1e-3; near > 1e-17; near *= 0.1) { /* towards and away, nearly */
            for (int sign = -1; sign <= 1; sign += 2) {
                double c[3];
                for (int i = 0; i < 3; i++)
                    c[i] = sign * a[i] + near * b[i];
                double length = ulna_norm(c);
                for (int i = 0; i < 3; i++)
                    c[i] /= length;
                check_turn(a, c);
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        double a[3] = {0, 0, 0}, b[3] = {0, 0, 0};
        a[k] = 1;
        b[k] = -1;
        check_turn(a, b);
    }
}

static void frames_around_an_axis(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(9);
    for (int round = 0; round < 506; round++) {
        double z[3] = {0, 0, 0}, r[9];
        if (round < 6)
            z[round / 2] = round % 2 ? -1 : 1;
        else
            random_unit(&rng, z);
        ulna_frame_around(z, r);
        assert_rotation(r);
        for (int i = 0; i < 3; i++)
            assert_true(r[3 * i + 2] == z[i]);
        if (round < 6)
            for (int i = 0; i < 9; i++)
                assert_true(r[i] == 0 || fabs(r[i]) == 1);
    }
    double z[3] = {0, 0, 1}, r[9], identity[9];
    ulna_identity9(identity);
    ulna_frame_around(z, r);
    assert_near(r, identity, 9, 0);
}

static void orthonormalising(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(10);
    for (int round = 0; round < 300; round++) {
        double r[9], bent[9], again[9];
        ulna_test_random_rotation(&rng, r);
        for (int i = 0; i < 9; i++)
            bent[i] = r[i] + ulna_test_rng_uniform(&rng, -1e-4, 1e-4);
        double far = ulna_orthonormalise(bent);
        assert_true(far > 0 && far < 3e-4);
        assert_rotation(bent);
        assert_near(bent, r, 9, 3e-4);
        ulna_copy9(bent, again); /* twice is once */
        assert_true(ulna_orthonormalise(again) == 0);
        assert_near(again, bent, 9, 0);
    }
    double mirror[9] = {1, 0, 0, 0, 1, 0, 0, 0, -1}, zero[9] = {0}, nan[9] = {1, 0, 0, 0, NAN, 0, 0, 0, 1};
    double flat[9] = {1, 0, 0, 0, 1, 0, 1, 1, 0};
    assert_true(isinf(ulna_orthonormalise(mirror)));
    assert_true(isinf(ulna_orthonormalise(zero)));
    assert_true(isinf(ulna_orthonormalise(nan)));
    assert_true(isinf(ulna_orthonormalise(flat)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_the_power_series),
        cmocka_unit_test(log_undoes_exp),
        cmocka_unit_test(log_of_half_turns),
        cmocka_unit_test(quaternions_and_matrices_agree),
        cmocka_unit_test(coordinate_turns),
        cmocka_unit_test(left_jacobian_against_differences),
        cmocka_unit_test(left_jacobian_derivative_against_differences),
        cmocka_unit_test(the_series_meets_the_closed_form),
        cmocka_unit_test(shortest_turns),
        cmocka_unit_test(frames_around_an_axis),
        cmocka_unit_test(orthonormalising),
    };
    return cmocka_run_group_tests_name("math", tests, NULL, NULL);
}
