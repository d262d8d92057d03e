/* What the reduction makes of given skeletons: which edges, and what no goal feels. */
#include "test_reduce_support.h"

/* Letters of the edges in their order after the world: F, B (ball), H, S, b (bone). And f at random q. */
static void expect(bench *b, const ulna_reduce_options *options, const char *edges)
{
    static const char letter[] = {'W', 'F', 'B', 'H', 'S', 'b'};
    ulna_test_rng rng = ulna_test_rng_seed(5);
    ulna_reduced reduced;
    ulna_error error;
    char text[64] = "";
    if (!b->work)
        ready(b);
    if (ulna_reduced_create(b->problem, options, NULL, &reduced, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    ulna_test_check_reduced(&reduced);
    for (int n = 1; n < reduced.count && n < 64; n++)
        text[n - 1] = letter[reduced.nodes[n].edge];
    assert_string_equal(text, edges);
    for (int round = 0; round < 5; round++) {
        double *q = ulna_test_random_q(&rng, b->model), f;
        assert_int_equal(ulna_work_evaluate(b->work, q, &f), ULNA_OK);
        double found = ulna_test_reduced_f(&reduced, q);
        assert_true(fabs(found - f) <= 1e-12 * f);
        free(q);
    }
    ulna_reduced_release(&reduced);
}

/* ---- what becomes what ------------------------------------------------------------------------------------------- */

static const ulna_reduce_options usual = {.bounded = 1}, unbounded = {0},
                                 gathered = {.bounded = 1, .gather = ULNA_GATHER_ALL},
                                 loose = {.bounded = 1, .gather = ULNA_GATHER_LOOSE};

static void test_free_and_ball(void **state)
{
    (void)state;
    bench b = begin();
    hang(&b, ulna_joint_free(), 1, 2, 3);
    hang(&b, ulna_joint_euler("ZYX"), 0, 0.5, 0);
    int last = hang(&b, ulna_joint_revolute(0, 0, 1), 0, 0.4, 0);
    limit(&b, last, 0, -1, 1);
    build(&b);
    pull(&b, last, 0.3, 0, 0);
    expect(&b, &usual, "FbBbHb");
    end(&b);

    /* Euler angles below slides, split over bodies with turned placements between */
    b = begin();
    hang(&b, ulna_joint_sequence("TxTyTz"), 0, 0, 0);
    hang(&b, ulna_joint_fixed(), 0.3, 0, 0);
    hang(&b, ulna_joint_euler("ZYZ"), 0, 0.5, 0);
    build(&b);
    pull(&b, 2, 0.3, 0.1, 0);
    expect(&b, &usual, "Fb");
    end(&b);

    b = begin(); /* slides that stay in a plane */
    hang(&b, ulna_joint_sequence("TxTyTx"), 0, 0, 0);
    hang(&b, ulna_joint_ball(), 0, 0.5, 0);
    build(&b);
    pull(&b, 1, 0.3, 0.1, 0);
    expect(&b, &usual, "SSSbBb");
    end(&b);

    /* a goal where the root itself is does not feel its turn, and is no reason to split it */
    for (int euler = 0; euler < 2; euler++) {
        b = begin();
        hang(&b, euler ? ulna_joint_free_euler("ZYX") : ulna_joint_free(), 1, 2, 3);
        build(&b);
        pull(&b, 0, 0, 0, 0);
        pull(&b, 0, 0, 0, 0);
        pull(&b, 0, 0.3, 0.1, 0);
        expect(&b, &usual, "Fb");
        expect(&b, &loose, "Fb");
        end(&b);
    }
    b = begin(); /* but one beside it on the slide is */
    hang(&b, ulna_joint_sequence("TxTyTz"), 0, 0, 0);
    hang(&b, ulna_joint_ball(), 0, 0.5, 0);
    build(&b);
    pull(&b, 0, 0.1, 0, 0);
    pull(&b, 1, 0.3, 0.1, 0);
    expect(&b, &usual, "SSSbBbb");
    end(&b);

    /* a translation alone; a goal between the slides; limits */
    b = begin();
    int root = hang(&b, ulna_joint_free_euler("ZYX"), 0, 0, 0);
    build(&b);
    pull(&b, root, 0, 0, 0);
    expect(&b, &usual, "SSS");
    end(&b);
    b = begin();
    root = hang(&b, ulna_joint_free_euler("ZYX"), 0, 0, 0);
    limit(&b, root, 1, -2, 2);
    limit(&b, root, 5, -1, 2);
    build(&b);
    pull(&b, root, 0.1, 0.2, 0.3);
    expect(&b, &usual, "SSSHHHb");
    expect(&b, &unbounded, "Fb");
    end(&b);
}

/* Davenport: the first and the third axis may have any angle, the second is at right angles to both. */
static void test_three_hinges(void **state)
{
    (void)state;
    bench b = begin();
    hang(&b, ulna_joint_revolute(1, 0, 0), 0, 0, 1);
    hang(&b, ulna_joint_revolute(0, 1, 0), 0, 0, 0);
    hang(&b, ulna_joint_revolute(0.6, 0, 0.8), 0, 0, 0);
    build(&b);
    pull(&b, 2, 0.2, 0.3, 0.4);
    expect(&b, &usual, "Bb");
    end(&b);

    b = begin(); /* not at right angles */
    hang(&b, ulna_joint_revolute(1, 0, 0), 0, 0, 1);
    hang(&b, ulna_joint_revolute(0.1, 1, 0), 0, 0, 0);
    hang(&b, ulna_joint_revolute(0.6, 0, 0.8), 0, 0, 0);
    build(&b);
    pull(&b, 2, 0.2, 0.3, 0.4);
    expect(&b, &usual, "HHHb");
    end(&b);

    b = begin(); /* a goal in between */
    hang(&b, ulna_joint_revolute(1, 0, 0), 0, 0, 1);
    hang(&b, ulna_joint_revolute(0, 1, 0), 0, 0, 0);
    hang(&b, ulna_joint_revolute(0, 0, 1), 0, 0, 0);
    build(&b);
    pull(&b, 2, 0.2, 0.3, 0.4);
    turn(&b, 1);
    expect(&b, &usual, "HHHb");
    end(&b);

    b = begin(); /* of four turns the first is not felt; a whole turn of limits is none */
    int root = hang(&b, ulna_joint_sequence("RzRxRyRx"), 0, 0, 0);
    limit(&b, root, 0, -1, 1);
    limit(&b, root, 2, -1, 6);
    build(&b);
    pull(&b, 0, 0.2, 0.3, 0.4);
    expect(&b, &usual, "Bb");
    end(&b);
}

static void test_limits(void **state)
{
    (void)state;
    const double x[3] = {1, 0, 0};
    bench b = begin();
    hang(&b, ulna_joint_expmap(), 0, 0, 0);
    hang(&b, ulna_joint_swing_twist(x, NULL), 0.3, 0, 0);
    int last = hang(&b, ulna_joint_revolute(0, 0, 1), 0.2, 0, 0);
    limit(&b, 0, 1, -1, 2);
    limit(&b, 1, 0, -1, 1);
    limit(&b, 1, 2, -1, 1);
    limit(&b, last, 0, 0.25, 0.25);
    build(&b);
    pull(&b, last, 0.3, 0.1, 0.1);
    expect(&b, &usual, "BbBb");
    ulna_reduced reduced;
    assert_int_equal(ulna_reduced_create(b.problem, NULL, NULL, &reduced, NULL), ULNA_OK);
    assert_int_equal(reduced.limits_left_out, 3);
    ulna_reduced_release(&reduced);
    assert_int_equal(ulna_reduced_create(b.problem, &(ulna_reduce_options){0}, NULL, &reduced, NULL), ULNA_OK);
    assert_int_equal(reduced.limits_left_out, 0);
    ulna_reduced_release(&reduced);

    /* other limits than the model's */
    const double lower[7] = {-4, -4, -4, 0, -4, -1, -1}, upper[7] = {4, 4, 4, 0, 4, 1, 1};
    const ulna_reduce_options own = {.bounded = 1, .lower = lower, .upper = upper};
    assert_int_equal(ulna_reduced_create(b.problem, &own, NULL, &reduced, NULL), ULNA_OK);
    assert_int_equal(reduced.limits_left_out, 0);
    assert_int_equal(reduced.nodes[3].edge, ULNA_EDGE_HINGE); /* a swing in one plane, and its twist */
    assert_int_equal(reduced.nodes[3].dof, 4);
    assert_int_equal(reduced.nodes[4].edge, ULNA_EDGE_HINGE);
    assert_true(reduced.nodes[4].lower == -1 && reduced.nodes[4].upper == 1);
    ulna_reduced_release(&reduced);
    end(&b);
}

/* Swings in one plane are turns, also of a joint whose twist comes first. */
static void test_swing_in_a_plane(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        ulna_joint joint = ulna_joint_swing_twist((const double[3]){1, 2, 3}, (const double[3]){0, 0, 1});
        joint.reversed = k / 2;
        bench b = begin();
        hang(&b, joint, 0, 0, 0);
        limit(&b, 0, k % 2 + joint.reversed, 0, 0);
        build(&b);
        pull(&b, 0, 0.3, 0.1, 0.1);
        expect(&b, &usual, "HHb");
        expect(&b, &unbounded, "Bb");
        end(&b);
    }
}

/* ---- what is not felt -------------------------------------------------------------------------------------------- */

static void test_not_felt(void **state)
{
    (void)state;
    bench b = begin(); /* a point at the joint, one on its axis, and one beyond it */
    hang(&b, ulna_joint_revolute(0, 0, 1), 0, 0, 0);
    hang(&b, ulna_joint_revolute(0, 1, 0), 0.5, 0, 0);
    hang(&b, ulna_joint_revolute(1, 0, 0), 0.5, 0, 0);
    build(&b);
    pull(&b, 1, 0, 0, 0);
    expect(&b, &usual, "Hb");
    end(&b);

    b = begin();
    hang(&b, ulna_joint_revolute(0, 0, 1), 0, 0, 0);
    hang(&b, ulna_joint_revolute(0, 1, 0), 0.5, 0, 0);
    hang(&b, ulna_joint_revolute(1, 0, 0), 0.5, 0, 0);
    build(&b);
    pull(&b, 2, 0.25, 0, 0);
    point_along(&b, 2, -1, 0, 0);
    expect(&b, &usual, "HbHb");
    pull(&b, 2, 0.25, 1e-6, 0);
    ulna_work_destroy(b.work);
    b.work = NULL;
    expect(&b, &usual, "HbHbHbb");
    end(&b);

    b = begin(); /* the first is felt only through the axis of the second, which is not */
    hang(&b, ulna_joint_sequence("RzRx"), 0, 0, 0);
    build(&b);
    pull(&b, 0, 0.25, 0, 0);
    expect(&b, &usual, "Hb");
    end(&b);

    b = begin(); /* directions do not feel places */
    hang(&b, ulna_joint_planar(0, 0, 1), 1, 0, 0);
    hang(&b, ulna_joint_prismatic(0, 1, 0), 1, 0, 0);
    hang(&b, ulna_joint_revolute(0, 1, 0), 1, 0, 0);
    build(&b);
    turn(&b, 2);
    expect(&b, &usual, "HH");
    end(&b);

    b = begin(); /* a ball takes any rotation, wherever it hangs */
    hang(&b, ulna_joint_revolute(0, 0, 1), 0, 0, 0);
    hang(&b, ulna_joint_revolute(0, 1, 0), 0, 0, 0.5);
    hang(&b, ulna_joint_ball(), 0, 0, 0);
    build(&b);
    pull(&b, 2, 0.25, 0, 0);
    expect(&b, &usual, "Bb");
    end(&b);
}

/* Node 0 and the constant are all that is left. */
static void test_nothing_moves(void **state)
{
    (void)state;
    bench b = begin();
    hang(&b, ulna_joint_revolute(0, 0, 1), 1, 2, 3);
    hang(&b, ulna_joint_revolute(0, 0, 1), 0, 0, 1);
    build(&b);
    pull(&b, 1, 0, 0, 2);
    point_along(&b, 1, 0, 0, 1);
    expect(&b, &usual, "");
    ulna_reduced reduced;
    ulna_reduced_pose pose;
    double q[2] = {7, 7};
    assert_int_equal(ulna_reduced_create(b.problem, NULL, NULL, &reduced, NULL), ULNA_OK);
    assert_int_equal(ulna_reduced_pose_create(&reduced, NULL, &pose), ULNA_OK);
    assert_int_equal(ulna_reduced_to_q(&reduced, b.problem, &pose, NULL, q), ULNA_OK);
    assert_true(q[0] == 0 && q[1] == 0);
    ulna_reduced_pose_release(NULL, &pose);
    ulna_reduced_release(&reduced);
    end(&b);
}

/* The cost of a skeleton and its goals does not depend on where in the world they are, to the last digits: the base
 * and its goals are at numbers that are exact. */
static void test_far_base(void **state)
{
    (void)state;
    double f[2];
    for (int far = 0; far < 2; far++) {
        double base = far * 1048576.0;
        bench b = begin();
        hang(&b, ulna_joint_revolute(0, 0, 1), base, -base, 0);
        hang(&b, ulna_joint_revolute(0, 0.6, 0.8), 1.0 / 3, 0.1, 0);
        hang(&b, ulna_joint_revolute(1, 0, 0), 0, 0, 0.7);
        build(&b);
        const double goal[3] = {base + 0.25, -base + 0.5, 0.75}, point[3] = {0.1, 0.2, 0.3};
        assert_int_equal(ulna_problem_add_point(b.problem, 2, point, goal, 1, NULL, NULL), ULNA_OK);
        ready(&b);
        ulna_reduced reduced;
        const double q[3] = {0.3, 0.4, 0.5};
        assert_int_equal(ulna_reduced_create(
                             b.problem,
                             &(ulna_reduce_options){.bounded = 1, .locked = (const unsigned char[3]){1, 0, 0}, .q = q},
                             NULL, &reduced, NULL),
                         ULNA_OK);
        f[far] = ulna_test_reduced_f(&reduced, q);
        assert_int_equal(reduced.nodes[1].edge, ULNA_EDGE_HINGE); /* node 0 is where the first joint that moves is */
        ulna_reduced_release(&reduced);
        end(&b);
    }
    assert_true(f[0] > 0.01 && fabs(f[1] - f[0]) < 1e-15 * f[0]);
}

/* ---- goals that become one --------------------------------------------------------------------------------------- */

static void test_gather(void **state)
{
    (void)state;
    bench b = begin();
    hang(&b, ulna_joint_free(), 0, 0, 0);
    int hand = hang(&b, ulna_joint_revolute(0, 0, 1), 0, 0.5, 0);
    build(&b);
    for (int i = 0; i < 5; i++)
        pull(&b, 0, 0.1 * i, 0.2 - 0.1 * i * i, 0.3);
    pull(&b, hand, 0.1, 0, 0);
    pull(&b, hand, 0.1, 0, 0); /* twice the same point */
    expect(&b, &usual, "FbHbbbbbb");
    expect(&b, &gathered, "FbHbb");
    expect(&b, &loose, "FbHbb");
    end(&b);

    b = begin(); /* goals at joints stay there, if asked */
    hang(&b, ulna_joint_free(), 0, 0, 0);
    hand = hang(&b, ulna_joint_revolute(0, 0, 1), 0, 0.5, 0);
    build(&b);
    pull(&b, 0, 0, 0, 0);
    pull(&b, hand, 0, 0, 0);
    pull(&b, hand, 0.1, 0, 0);
    expect(&b, &usual, "FbHb");
    expect(&b, &gathered, "FbHbb");
    expect(&b, &loose, "FbHb");
    end(&b);

    b = begin(); /* around the joint: no bone at all */
    hang(&b, ulna_joint_ball(), 0, 0, 0);
    build(&b);
    pull(&b, 0, 0.1, 0, 0);
    pull(&b, 0, -0.1, 0, 0);
    ready(&b);
    ulna_reduced reduced;
    assert_int_equal(ulna_reduced_create(b.problem, &gathered, NULL, &reduced, NULL), ULNA_OK);
    assert_int_equal(reduced.count, 2);
    assert_true(reduced.nodes[1].has_rotation_cost);
    assert_int_equal(ulna_problem_set_weight(b.problem, 0, 3), ULNA_OK); /* now the centroid is elsewhere */
    assert_int_equal(ulna_reduced_refresh(&reduced, b.problem), ULNA_ERR_STATE);
    ulna_reduced_release(&reduced);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_and_ball), cmocka_unit_test(test_three_hinges),
        cmocka_unit_test(test_limits),        cmocka_unit_test(test_swing_in_a_plane),
        cmocka_unit_test(test_not_felt),      cmocka_unit_test(test_nothing_moves),
        cmocka_unit_test(test_far_base),      cmocka_unit_test(test_gather),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
