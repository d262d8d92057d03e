/* Joints: what each kind means (against a plain composition), and the way back from a motion to coordinates. */
#include "math/math3.h"
#include "model/model.h"
#include "support_tree.h"

#include <string.h>

static double difference(const double *a, const double *b, int count)
{
    double largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

static ulna_joint_plan resolve(const ulna_joint *joint)
{
    ulna_joint_plan plan;
    ulna_error error;
    ulna_error_clear(&error);
    if (ulna_joint_resolve(joint, &plan, &error))
        fail_msg("%s", error.message);
    return plan;
}

/* Turns within 2.5 rad, slides within 1 m, rotation vectors up to 2.5 rad long, any quaternion. */
static void random_coordinates(ulna_test_rng *rng, const ulna_joint_plan *plan, double *q)
{
    for (int i = 0, at = 0; i < plan->segment_count; i++) {
        ulna_segment segment = (ulna_segment)plan->segment[i];
        int count = ulna_segment_coordinates(segment);
        double square = 0;
        for (int k = 0; k < count; k++) {
            q[at + k] = ulna_test_rng_uniform(rng, -1, 1);
            square += q[at + k] * q[at + k];
        }
        double scale = segment == ULNA_SEGMENT_BALL                               ? 1 / sqrt(square)
                       : segment > ULNA_SEGMENT_BALL                              ? 2.5 / sqrt(3)
                       : segment >= ULNA_SEGMENT_TX && segment <= ULNA_SEGMENT_TZ ? 1
                                                                                  : 2.5;
        for (int k = 0; k < count; k++)
            q[at + k] *= scale;
        at += count;
    }
}

/* ---- the naive composition ------------------------------------------------------------------------------- */

/* Rodrigues' formula, word by word. */
static void naive_turn(const double axis[3], double angle, double r[9])
{
    double length = ulna_norm(axis), n[3] = {axis[0] / length, axis[1] / length, axis[2] / length};
    double k[9] = {0, -n[2], n[1], n[2], 0, -n[0], -n[1], n[0], 0}, square[9];
    ulna_multiply9(k, k, square);
    ulna_identity9(r);
    for (int i = 0; i < 9; i++)
        r[i] += sin(angle) * k[i] + (1 - cos(angle)) * square[i];
}

static void naive_exp(const double w[3], double r[9])
{
    if (ulna_norm(w) > 0)
        naive_turn(w, ulna_norm(w), r);
    else
        ulna_identity9(r);
}

typedef struct frame {
    double r[9], t[3];
} frame;

static void apply_turn(frame *x, const double r[9])
{
    double product[9];
    ulna_multiply9(x->r, r, product);
    ulna_copy9(product, x->r);
}

static void apply_slide(frame *x, const double along[3], double distance)
{
    double moved[3];
    ulna_rotate(x->r, along, moved);
    for (int i = 0; i < 3; i++)
        x->t[i] += moved[i] * distance;
}

static void apply_step(frame *x, int turn, int axis, double value)
{
    double e[3] = {0, 0, 0}, r[9];
    e[axis] = 1;
    if (turn) {
        naive_turn(e, value, r);
        apply_turn(x, r);
    } else {
        apply_slide(x, e, value);
    }
}

/* J(q) of a joint that is not reversed, as ulna/model.h tells it. */
static frame naive_motion(const ulna_joint *joint, const double *q)
{
    frame x = {.t = {0, 0, 0}};
    double r[9];
    ulna_identity9(x.r);
    switch (joint->type) {
    case ULNA_JOINT_REVOLUTE:
        naive_turn(joint->axis, q[0], x.r);
        break;
    case ULNA_JOINT_PRISMATIC: {
        double length = ulna_norm(joint->axis);
        apply_slide(&x, joint->axis, q[0] / length);
        break;
    }
    case ULNA_JOINT_FREE_EULER:
    case ULNA_JOINT_FREE:
        for (int i = 0; i < 3; i++)
            apply_step(&x, 0, i, *q++);
        if (joint->type == ULNA_JOINT_FREE) {
            ulna_quaternion_to_rotation(q, r);
            apply_turn(&x, r);
            break;
        } /* fall through */
    case ULNA_JOINT_EULER:
        for (int i = 0; joint->order[i]; i++)
            apply_step(&x, 1, joint->order[i] - 'X', q[i]);
        break;
    case ULNA_JOINT_BALL:
        ulna_quaternion_to_rotation(q, x.r);
        break;
    case ULNA_JOINT_EXPMAP:
        naive_exp(q, x.r);
        break;
    case ULNA_JOINT_PLANAR: {
        double n[3], f[9], length = ulna_norm(joint->axis);
        for (int i = 0; i < 3; i++)
            n[i] = joint->axis[i] / length;
        ulna_frame_around(n, f);
        for (int k = 0; k < 2; k++) {
            double along[3] = {f[k], f[3 + k], f[6 + k]};
            apply_slide(&x, along, q[k]);
        }
        naive_turn(n, q[2], r);
        apply_turn(&x, r);
        break;
    }
    case ULNA_JOINT_SWING_TWIST: {
        double a[3], c[3], f[9], w[3], z[9];
        for (int i = 0; i < 3; i++) {
            a[i] = joint->axis[i] / ulna_norm(joint->axis);
            c[i] = joint->center[i] / ulna_norm(joint->center);
        }
        ulna_frame_around(c, f);
        for (int i = 0; i < 3; i++)
            w[i] = q[0] * f[3 * i] + q[1] * f[3 * i + 1];
        naive_exp(w, r);
        apply_turn(&x, r);
        ulna_shortest_rotation(a, c, z);
        apply_turn(&x, z);
        naive_turn(a, q[2], r);
        apply_turn(&x, r);
        break;
    }
    case ULNA_JOINT_SEQUENCE:
        for (int i = 0; joint->order[2 * i]; i++)
            apply_step(&x, joint->order[2 * i] == 'R', joint->order[2 * i + 1] - 'x', q[i]);
        break;
    case ULNA_JOINT_FIXED:
    case ULNA_JOINT_TYPE_COUNT:
        break;
    }
    return x;
}

/* frame J frameT, inverted if reversed; `q` is listed as the joint lists it. */
static frame naive_joint(const ulna_joint *joint, const double *q)
{
    ulna_joint forward = *joint;
    forward.reversed = 0;
    ulna_joint_plan plan = resolve(&forward);
    double listed[7] = {0};
    if (joint->reversed) {
        int to = 0, from = plan.coordinate_count;
        for (int i = 0; i < plan.segment_count; i++) {
            int count = ulna_segment_coordinates((ulna_segment)plan.segment[i]);
            from -= count;
            memcpy(listed + to, q + from, (size_t)count * sizeof *q);
            to += count;
        }
        q = listed;
    }
    frame j = naive_motion(joint, q), x;
    double back[9], turned[9];
    ulna_transpose9(joint->frame, back);
    ulna_multiply9(joint->frame, j.r, turned);
    ulna_multiply9(turned, back, x.r);
    ulna_rotate(joint->frame, j.t, x.t);
    if (joint->reversed) {
        frame inverse;
        ulna_invert(x.r, x.t, inverse.r, inverse.t);
        x = inverse;
    }
    return x;
}

/* ---- tests ---------------------------------------------------------------------------------------------- */

static void every_type_moves_as_it_says(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(1);
    for (int round = 0; round < 200; round++)
        for (int type = 0; type < ULNA_JOINT_TYPE_COUNT; type++) {
            ulna_joint joint = ulna_test_random_joint(&rng, (ulna_joint_type)type, 0.5, 0.5);
            ulna_joint_plan plan = resolve(&joint);
            double q[7] = {0}, r[9], t[3];
            random_coordinates(&rng, &plan, q);
            ulna_joint_motion(&plan, q, r, t);
            frame expected = naive_joint(&joint, q);
            assert_true(difference(r, expected.r, 9) < 1e-14);
            assert_true(difference(t, expected.t, 3) < 1e-14);

            /* the zero pose does not move, and counts agree */
            double identity[9], zero[3] = {0, 0, 0};
            ulna_identity9(identity);
            ulna_joint_motion(&plan, plan.zero, r, t);
            assert_true(difference(r, identity, 9) < 3e-15);
            assert_true(difference(t, zero, 3) < 1e-15);
            assert_int_equal(ulna_joint_dof_count(&joint, NULL), plan.dof_count);
            assert_int_equal(ulna_joint_coordinate_count(&joint, NULL), plan.coordinate_count);
        }
}

static void reversing_twice_is_nothing(void **state)
{
    (void)state;
    ulna_joint joint = ulna_joint_free_euler("ZYX");
    ulna_joint_plan forward = resolve(&joint);
    joint.reversed = 1;
    ulna_joint_plan reversed = resolve(&joint);
    static const unsigned char order[6] = {ULNA_SEGMENT_TX, ULNA_SEGMENT_TY, ULNA_SEGMENT_TZ,
                                           ULNA_SEGMENT_RZ, ULNA_SEGMENT_RY, ULNA_SEGMENT_RX};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(forward.segment[i], order[i]);
        assert_int_equal(reversed.segment[i], order[5 - i]);
    }
    assert_int_equal(forward.sign, 1);
    assert_int_equal(reversed.sign, -1);
}

static void axes_need_no_turn_where_none_is_needed(void **state)
{
    (void)state;
    double identity[9];
    ulna_identity9(identity);
    for (int k = 0; k < 3; k++) {
        ulna_joint turn = ulna_joint_revolute(k == 0 ? 3 : 0, k == 1 ? 0.1 : 0, k == 2 ? 1 : 1e-18);
        ulna_joint slide = ulna_joint_prismatic(k == 0, k == 1, k == 2);
        ulna_joint_plan a = resolve(&turn), b = resolve(&slide);
        assert_int_equal(a.segment[0], ULNA_SEGMENT_RX + k);
        assert_int_equal(b.segment[0], ULNA_SEGMENT_TX + k);
        assert_true(difference(a.pre, identity, 9) == 0 && difference(a.post, identity, 9) == 0);
    }
}

/* A unit vector that is 1e-8 from x has exactly 1 as its first number. */
static void an_axis_next_to_x_is_not_x(void **state)
{
    (void)state;
    ulna_joint slide = ulna_joint_prismatic(1, 1e-8, -5e-9);
    ulna_joint_plan plan = resolve(&slide);
    const double q = 2, expected[3] = {2, 2e-8, -1e-8};
    double r[9], t[3];
    ulna_joint_motion(&plan, &q, r, t);
    assert_true(difference(t, expected, 3) < 1e-15);
}

static void swing_twist_points_along_its_center(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(2);
    for (int round = 0; round < 100; round++) {
        double axis[9], q[3] = {0, 0, 1.3}, r[9], t[3], image[3];
        ulna_test_random_rotation(&rng, axis);
        ulna_joint joint = ulna_joint_swing_twist(axis, axis + 3);
        ulna_joint_plan plan = resolve(&joint);
        ulna_joint_motion(&plan, q, r, t);
        ulna_rotate(r, axis, image);
        assert_true(difference(image, axis + 3, 3) < 1e-14);
        assert_true(fabs(hypot(plan.zero[0], plan.zero[1]) - ULNA_PI / 2) < 1e-12); /* the axes are at right angles */
    }
    static const double up[3] = {0, 0, 1}, down[3] = {0, 0, -1};
    ulna_joint joint = ulna_joint_swing_twist(up, down);
    ulna_joint_plan plan = resolve(&joint);
    double r[9], t[3], identity[9];
    ulna_identity9(identity);
    ulna_joint_motion(&plan, plan.zero, r, t);
    assert_true(difference(r, identity, 9) < 1e-14);
}

static int near_singular(const ulna_joint_plan *plan, const double *q)
{
    /* Euler triples lock where the middle angle is 0 or +-90 degrees; a joint with slides between turns may lock anywhere */
    for (int i = 0; i < plan->segment_count; i++)
        if (plan->segment[i] <= ULNA_SEGMENT_RZ && (fabs(sin(2 * q[i])) < 0.05 || fabs(cos(q[i])) < 0.05))
            return 1;
    return 0;
}

/* With near_q = q the same q comes back; with any near_q the same motion. */
static void fit_undoes_motion(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(3);
    for (int round = 0; round < 400; round++)
        for (int type = 0; type < ULNA_JOINT_TYPE_COUNT; type++) {
            ulna_joint joint = ulna_test_random_joint(&rng, (ulna_joint_type)type, 0.5, 0.5);
            ulna_joint_plan plan = resolve(&joint);
            double q[7] = {0}, near[7] = {0}, fitted[7] = {0}, r[9], t[3], again_r[9], again_t[3];
            random_coordinates(&rng, &plan, q);
            ulna_joint_motion(&plan, q, r, t);

            ulna_joint_fit(&plan, 1, r, t, q, fitted);
            if (!near_singular(&plan, q))
                assert_true(difference(fitted, q, plan.coordinate_count) < 1e-11);
            ulna_joint_motion(&plan, fitted, again_r, again_t);
            assert_true(difference(r, again_r, 9) < 1e-12 && difference(t, again_t, 3) < 1e-12);

            random_coordinates(&rng, &plan, near);
            ulna_joint_fit(&plan, 1, r, t, near, fitted);
            ulna_joint_motion(&plan, fitted, again_r, again_t);
            assert_true(difference(r, again_r, 9) < 1e-12 && difference(t, again_t, 3) < 1e-12);

            ulna_joint_fit(&plan, 1, r, t, near, near); /* in place */
            assert_true(difference(near, fitted, plan.coordinate_count) == 0);
        }
}

static void check_order(const char *order, const double *q, int sequence)
{
    ulna_joint joint = sequence ? ulna_joint_sequence(order) : ulna_joint_euler(order);
    for (joint.reversed = 0; joint.reversed < 2; joint.reversed++) {
        ulna_joint_plan plan = resolve(&joint);
        double r[9], t[3], fitted[7], again_r[9], again_t[3];
        ulna_joint_motion(&plan, q, r, t);
        ulna_joint_fit(&plan, 1, r, t, q, fitted);
        ulna_joint_motion(&plan, fitted, again_r, again_t);
        assert_true(difference(r, again_r, 9) < 1e-12 && difference(t, again_t, 3) < 1e-12);
        assert_true(difference(fitted, q, plan.coordinate_count) < 1e-5);
    }
}

/* Every Euler order, at and around its locks, far round, and on both branches. */
static void all_euler_orders(void **state)
{
    (void)state;
    static const double middles[] = {0, 1e-9, 0.4, ULNA_PI / 2, ULNA_PI / 2 - 1e-9, 1.8, 3, -ULNA_PI / 2, -2.7, 7};
    ulna_test_rng rng = ulna_test_rng_seed(4);
    for (int code = 0; code < 27; code++) {
        char order[4] = {(char)('X' + code / 9), (char)('X' + code / 3 % 3), (char)('X' + code % 3), 0};
        if (order[0] == order[1] || order[1] == order[2])
            continue;
        for (size_t k = 0; k < sizeof middles / sizeof *middles; k++) {
            double q[3] = {ulna_test_rng_uniform(&rng, -9, 9), middles[k], ulna_test_rng_uniform(&rng, -9, 9)};
            check_order(order, q, 0);
        }
    }
}

static void odd_sequences(void **state)
{
    (void)state;
    static const char *const orders[] = {"RxTyRz",       "TxTyTx",       "RzTxRz",       "RxTxRx",
                                         "TzRxTzRx",     "RxRyRzRx",     "RzRyRxTxTyTz", "RzTzRxTx",
                                         "TxRzTyRyTzRx", "RxRyRxRyRxRy", "RzTxRzTxRzTx"};
    ulna_test_rng rng = ulna_test_rng_seed(5);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
        for (int round = 0; round < 50; round++) {
            double q[6];
            ulna_test_rng_fill(&rng, q, 6, -1.4, 1.4);
            check_order(orders[k], q, 1);
        }
}

/* From a start elsewhere a sequence of mixed steps still finds an exact answer. */
static void mixed_sequences_from_elsewhere(void **state)
{
    (void)state;
    static const char *const orders[] = {"RxTyRz", "RzTxRz", "RxRyRzRx", "RzTxRyTyRx", "TxRzTyRyTzRx"};
    ulna_test_rng rng = ulna_test_rng_seed(6);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
        for (int round = 0; round < 100; round++) {
            ulna_joint joint = ulna_joint_sequence(orders[k]);
            ulna_joint_plan plan = resolve(&joint);
            double q[6], near[6], r[9], t[3], again_r[9], again_t[3], fitted[6];
            ulna_test_rng_fill(&rng, q, 6, -1.4, 1.4);
            ulna_test_rng_fill(&rng, near, 6, -1.4, 1.4);
            ulna_joint_motion(&plan, q, r, t);
            ulna_joint_fit(&plan, 1, r, t, near, fitted);
            ulna_joint_motion(&plan, fitted, again_r, again_t);
            assert_true(difference(r, again_r, 9) < 1e-12 && difference(t, again_t, 3) < 1e-12);
        }
}

static double misfit(const ulna_joint_plan *plan, const double *q, const double r[9], const double t[3])
{
    double sum = 0, reached[9], at[3];
    ulna_joint_motion(plan, q, reached, at);
    for (int i = 0; i < 9; i++)
        sum += (reached[i] - r[i]) * (reached[i] - r[i]);
    for (int i = 0; i < 3; i++)
        sum += (at[i] - t[i]) * (at[i] - t[i]);
    return sum;
}

/* Out of reach: no neighbour and no random q does better. */
static void out_of_reach_is_nearest(void **state)
{
    (void)state;
    static const char *const orders[] = {"Rx", "RyRz", "RxRy", "Tx", "TxRz", "TxTyRzRx", "RzTx"};
    ulna_test_rng rng = ulna_test_rng_seed(7);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
        for (int round = 0; round < 40; round++) {
            ulna_joint joint = ulna_joint_sequence(orders[k]);
            ulna_joint_plan plan = resolve(&joint);
            double r[9], t[3], near[6] = {0}, q[6], other[6];
            ulna_test_random_rotation(&rng, r);
            ulna_test_rng_fill(&rng, t, 3, -1, 1);
            ulna_joint_fit(&plan, 1, r, t, near, q);
            double best = misfit(&plan, q, r, t);
            for (int trial = 0; trial < 300; trial++) {
                for (int i = 0; i < plan.coordinate_count; i++)
                    other[i] = trial % 2 ? q[i] + ulna_test_rng_uniform(&rng, -1e-3, 1e-3)
                                         : ulna_test_rng_uniform(&rng, -3.2, 3.2);
                assert_true(misfit(&plan, other, r, t) > best - 1e-12);
            }
        }
}

/* In another unit of length the nearest motion is the same, to the bit, also where it cannot be reached. */
static void unit_of_length_does_not_matter(void **state)
{
    (void)state;
    static const char *const orders[] = {"TxRz", "RzTx", "TxRzTyRx", "RxTyRy", "TxTyTzRzRyRx"};
    const double unit = 1024;
    ulna_test_rng rng = ulna_test_rng_seed(8);
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
        for (int round = 0; round < 20; round++) {
            ulna_joint joint = ulna_joint_sequence(orders[k]);
            joint.reversed = round % 2;
            ulna_joint_plan plan = resolve(&joint);
            double r[9], t[3], large[3], near[6] = {0}, q[6], other[6];
            ulna_test_random_rotation(&rng, r);
            ulna_test_rng_fill(&rng, t, 3, -1, 1);
            for (int i = 0; i < 3; i++)
                large[i] = unit * t[i];
            ulna_joint_fit(&plan, 0.7, r, t, near, q);
            ulna_joint_fit(&plan, unit * 0.7, r, large, near, other);
            for (int i = 0; i < plan.coordinate_count; i++)
                assert_true(other[i] == q[i] * (ulna_segment_is_translation(plan.segment[i]) ? unit : 1));
        }
}

/* Rotation vectors and swings beyond half a turn come back on their own branch, and so do quaternions of either sign. */
static void branches_stay_near(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(8);
    static const double lengths[] = {0, 1e-9, 1, ULNA_PI, 4, 6, 2 * ULNA_PI, 7, 9.5, 11, -5};
    ulna_joint expmap = ulna_joint_expmap();
    static const double up[3] = {0, 1, 0};
    ulna_joint swing = ulna_joint_swing_twist(up, NULL);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int round = 0; round < 20; round++) {
            double turn[9], q[3], fitted[3], r[9], t[3], again[9];
            ulna_test_random_rotation(&rng, turn);
            ulna_joint_plan plan = resolve(&expmap);
            for (int i = 0; i < 3; i++)
                q[i] = turn[i] * lengths[k];
            ulna_joint_motion(&plan, q, r, t);
            ulna_joint_fit(&plan, 1, r, t, q, fitted);
            assert_true(difference(q, fitted, 3) < 1e-7);
            ulna_joint_motion(&plan, fitted, again, t);
            assert_true(difference(r, again, 9) < 1e-12);

            plan = resolve(&swing);
            double angle = ulna_test_rng_uniform(&rng, -3, 3);
            q[0] = cos(angle) * lengths[k];
            q[1] = sin(angle) * lengths[k];
            q[2] = 20 * angle;
            ulna_joint_motion(&plan, q, r, t);
            ulna_joint_fit(&plan, 1, r, t, q, fitted);
            ulna_joint_motion(&plan, fitted, again, t);
            assert_true(difference(r, again, 9) < 1e-12);
            assert_true(difference(q, fitted, 3) < 1e-6);
        }
    ulna_joint ball = ulna_joint_ball();
    ulna_joint_plan plan = resolve(&ball);
    double q[4] = {0.1, 0.7, -0.1, -0.7}, fitted[4], r[9], t[3];
    ulna_joint_motion(&plan, q, r, t);
    ulna_joint_fit(&plan, 1, r, t, q, fitted);
    assert_true(difference(q, fitted, 4) < 1e-15);
}

/* ---- refusals and names --------------------------------------------------------------------------------- */

static void assert_refused(ulna_joint joint, ulna_status status, const char *word)
{
    ulna_joint_plan plan;
    ulna_error error;
    ulna_error_clear(&error);
    assert_int_equal(ulna_joint_resolve(&joint, &plan, &error), status);
    if (!strstr(error.message, word))
        fail_msg("\"%s\" does not say \"%s\"", error.message, word);
    assert_int_equal(ulna_joint_dof_count(&joint, NULL), -1);
    assert_int_equal(ulna_joint_coordinate_count(&joint, NULL), -1);
}

static void bad_joints_are_refused(void **state)
{
    (void)state;
    static const double up[3] = {0, 0, 1}, zero[3] = {0, 0, 0};
    assert_refused(ulna_joint_revolute(0, 0, 0), ULNA_ERR_MODEL, "zero length");
    assert_refused(ulna_joint_prismatic(NAN, 0, 0), ULNA_ERR_NUMBER, "axis");
    assert_refused(ulna_joint_planar(INFINITY, 0, 0), ULNA_ERR_NUMBER, "axis");
    assert_refused(ulna_joint_swing_twist(up, zero), ULNA_ERR_MODEL, "center");
    static const char *const letters[] = {"", "XX", "XYY", "XYZX", "W", "XYZXYZXYZXYZXYZXYZ", "x1"};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        assert_refused(ulna_joint_euler(letters[i]), ULNA_ERR_MODEL, "order");
    assert_refused(ulna_joint_euler(NULL), ULNA_ERR_MODEL, "order");
    assert_refused(ulna_joint_free_euler("ZY"), ULNA_ERR_MODEL, "order");
    static const char *const tokens[] = {
        "", "T", "Tw", "Qx", "TxTx", "RzRyRyTx", "TxTyTzRxRyRzTx", "TxTyTzRxRyRzTxTyTz"};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        assert_refused(ulna_joint_sequence(tokens[i]), ULNA_ERR_MODEL, "order");

    ulna_joint joint = ulna_joint_ball();
    joint.frame[0] = 1.1;
    assert_refused(joint, ULNA_ERR_MODEL, "rotation");
    joint.frame[0] = NAN;
    assert_refused(joint, ULNA_ERR_NUMBER, "frame");
    joint.type = ULNA_JOINT_TYPE_COUNT;
    assert_refused(joint, ULNA_ERR_ARGUMENT, "type");
    joint = ulna_joint_sequence("TxRzRy");
    memset(joint.order, 'x', sizeof joint.order); /* not terminated */
    assert_refused(joint, ULNA_ERR_MODEL, "order");
}

/* Elsewhere small letters mean fixed axes, so there is one spelling only. */
static void spelling_matters(void **state)
{
    (void)state;
    static const char *const letters[] = {"zyx", "zYX", "ZYx"};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        assert_refused(ulna_joint_euler(letters[i]), ULNA_ERR_MODEL, "capital letters");
        assert_refused(ulna_joint_free_euler(letters[i]), ULNA_ERR_MODEL, "capital letters");
    }
    static const char *const tokens[] = {"tx", "TX", "Txrz", "RZ"};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        assert_refused(ulna_joint_sequence(tokens[i]), ULNA_ERR_MODEL, "steps such as TxRz");
}

static void normal_joints_stay(void **state)
{
    (void)state;
    ulna_joint a = ulna_joint_euler("ZYX"), b = ulna_joint_sequence("TxRz"), normal;
    assert_int_equal(ulna_joint_normalise(&a, &normal, NULL), ULNA_OK);
    assert_string_equal(normal.order, "ZYX");
    assert_int_equal(ulna_joint_normalise(&b, &normal, NULL), ULNA_OK);
    assert_string_equal(normal.order, "TxRz");
    b = ulna_joint_revolute(0, 1e300, -1e300);
    assert_int_equal(ulna_joint_normalise(&b, &normal, NULL), ULNA_OK);
    assert_true(fabs(normal.axis[1] - sqrt(0.5)) < 1e-15);
    ulna_joint again;
    assert_int_equal(ulna_joint_normalise(&normal, &again, NULL), ULNA_OK);
    assert_memory_equal(&normal, &again, sizeof normal);
}

static void names_go_both_ways(void **state)
{
    (void)state;
    for (int i = 0; i < ULNA_JOINT_TYPE_COUNT; i++)
        assert_int_equal(ulna_joint_type_find(ulna_joint_type_name((ulna_joint_type)i)), i);
    assert_string_equal(ulna_joint_type_name(ULNA_JOINT_SWING_TWIST), "swing-twist");
    assert_string_equal(ulna_joint_type_name(ULNA_JOINT_TYPE_COUNT), "unknown");
    assert_int_equal(ulna_joint_type_find("hinge"), -1);
    assert_int_equal(ulna_joint_type_find(NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_moves_as_it_says),
        cmocka_unit_test(reversing_twice_is_nothing),
        cmocka_unit_test(axes_need_no_turn_where_none_is_needed),
        cmocka_unit_test(an_axis_next_to_x_is_not_x),
        cmocka_unit_test(swing_twist_points_along_its_center),
        cmocka_unit_test(fit_undoes_motion),
        cmocka_unit_test(all_euler_orders),
        cmocka_unit_test(odd_sequences),
        cmocka_unit_test(mixed_sequences_from_elsewhere),
        cmocka_unit_test(out_of_reach_is_nearest),
        cmocka_unit_test(unit_of_length_does_not_matter),
        cmocka_unit_test(branches_stay_near),
        cmocka_unit_test(bad_joints_are_refused),
        cmocka_unit_test(spelling_matters),
        cmocka_unit_test(normal_joints_stay),
        cmocka_unit_test(names_go_both_ways),
    };
    return cmocka_run_group_tests_name("joint", tests, NULL, NULL);
}
