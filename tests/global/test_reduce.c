/* The reduction of a problem to what relaxations see: the same cost, the same poses, nothing that no goal feels. */
#include <math.h>
#include <stdlib.h>

#include "global/reduce.h"
#include "math/math3.h"
#include "support_model.h"
#include "support_oracle_problem.h"
#include "support_problem.h"
#include "support_reduced.h"

#define HELD_TERMS (1u << ULNA_TERM_POINT | 1u << ULNA_TERM_ORIENTATION | 1u << ULNA_TERM_DIRECTION)

static double evaluate(ulna_work *work, const double *q)
{
    double f;
    assert_int_equal(ulna_work_evaluate(work, q, &f), ULNA_OK);
    return f;
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not %.17g: off by %.2g, allowed %.2g", a, b, fabs(a - b), tolerance);
}

static ulna_reduced reduced_of(const ulna_problem *problem, const ulna_reduce_options *options)
{
    ulna_reduced reduced;
    ulna_error error;
    if (ulna_reduced_create(problem, options, NULL, &reduced, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    ulna_test_check_reduced(&reduced);
    return reduced;
}

/* ---- the cost is the problem's, and so is the pose --------------------------------------------------------------- */

static int is_inside(const ulna_model *model, const double *q)
{
    for (int j = 0; j < ulna_model_dof_count(model); j++) {
        int c = ulna_model_dof_coordinate(model, j);
        if (c >= 0 && (q[c] < ulna_model_lower(model)[j] || q[c] > ulna_model_upper(model)[j]))
            return 0;
    }
    return 1;
}

/* f from the tree at q, and f of what comes back from there. Limits that the tree does not know may be in the way if
 * joints that are not felt come back elsewhere, unless q is `settled`: has them at rest. */
static void check_there_and_back(ulna_test_bench *bench, const ulna_reduced *reduced,
                                 const ulna_reduce_options *options, int settled, double exact)
{
    double f = evaluate(bench->work, bench->q), *back = ulna_test_numbers(bench->nq);
    ulna_reduced_pose pose;
    assert_int_equal(ulna_reduced_pose_create(reduced, NULL, &pose), ULNA_OK);
    ulna_test_reduced_pose(reduced, bench->q, &pose);
    assert_near(reduced->unit * ulna_test_reduced_cost(reduced, &pose), f, exact * f);

    assert_int_equal(ulna_reduced_to_q(reduced, bench->problem, &pose, bench->q, back), ULNA_OK);
    if (!reduced->limits_left_out || settled)
        assert_near(evaluate(bench->work, back), f, 1e-9 * f);
    assert_true(!options->bounded || is_inside(bench->model, back));
    assert_int_equal(ulna_reduced_to_q(reduced, bench->problem, &pose, NULL, back), ULNA_OK);
    if (!reduced->limits_left_out)
        assert_near(evaluate(bench->work, back), f, 1e-9 * f);
    assert_true(!options->bounded || is_inside(bench->model, back));
    ulna_reduced_pose_release(NULL, &pose);
    free(back);
}

static void settle(const ulna_reduced *reduced, double *q)
{
    const ulna_reduction *to = reduced->reduction;
    for (int l = 0; l < to->model->nl; l++) {
        const ulna_link *link = &to->model->link[l];
        int dof = link->dof, c = link->coordinate;
        for (int s = 0; s < link->segment_count; s++) {
            int dofs = ulna_segment_dofs((ulna_segment)link->segment[s]);
            int numbers = ulna_segment_coordinates((ulna_segment)link->segment[s]);
            for (int k = 0; k < numbers; k++)
                if (to->locked[dof + (numbers == dofs ? k : 0)])
                    q[c + k] = to->q[c + k];
            dof += dofs;
            c += numbers;
        }
    }
}

static void check_random(ulna_test_rng *rng, const ulna_test_tree_options *tree, double exact)
{
    ulna_test_bench bench = ulna_test_bench_open(rng, tree, HELD_TERMS, 1 + ulna_test_rng_index(rng, 8));
    for (int k = 0; k < 6; k++) {
        const ulna_reduce_options options = {.bounded = k % 2, .gather = (ulna_gather)(k / 2)};
        ulna_reduced reduced = reduced_of(bench.problem, &options);
        for (int pose = 0; pose < 2; pose++) {
            ulna_test_fill_q(rng, bench.model, bench.q);
            if (pose)
                settle(&reduced, bench.q);
            check_there_and_back(&bench, &reduced, &options, pose, exact);
        }
        assert_int_equal(reduced.left_out, 0);
        ulna_reduced_release(&reduced);
    }
    ulna_test_bench_close(&bench);
}

static void test_random_trees(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(41);
    for (int round = 0; round < 1500; round++)
        check_random(&rng, NULL, 1e-12);
}

/* Each joint type alone, so that balls follow balls, turns follow turns and slides come in threes. */
static void test_one_joint_type(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(42);
    for (int type = 0; type < ULNA_JOINT_TYPE_COUNT; type++)
        for (int round = 0; round < 60; round++) {
            ulna_test_tree_options tree = ulna_test_tree_options_default();
            tree.joints = 1u << type;
            tree.max_bodies = 8;
            tree.limits = round % 2 ? 0 : 0.5;
            tree.length_m = round % 3 ? 0.5 : 0; /* all joints at one place */
            check_random(&rng, &tree, 1e-12);
        }
}

/* Lengths of a millionth of a millimetre and of a million kilometres, and a base far away. */
static void test_scales(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(43);
    for (int round = 0; round < 300; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.joints &= ~(1u << ULNA_JOINT_PRISMATIC | 1u << ULNA_JOINT_PLANAR | 1u << ULNA_JOINT_FREE_EULER |
                         1u << ULNA_JOINT_FREE | 1u << ULNA_JOINT_SEQUENCE); /* slides are a metre long */
        tree.length_m = round % 2 ? 1e9 : 1e-9;
        check_random(&rng, &tree, 1e-12);
    }
}

/* A base a thousand kilometres away, with its goals beside it. The problem itself takes places to 1e-10 m there. */
static void test_far_away(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(48);
    for (int round = 0; round < 300; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.far_m = 1e6;
        tree.max_bodies = 10;
        tree.root = round % 2 ? ULNA_JOINT_FREE : ULNA_JOINT_REVOLUTE;
        ulna_test_bench bench = ulna_test_bench_open(&rng, &tree, HELD_TERMS, 5);
        double base[3], goal[9];
        ulna_model_body_placement(bench.model, 0, base, NULL);
        for (int t = 0; t < ulna_problem_term_count(bench.problem); t++) {
            if (ulna_problem_term_type(bench.problem, t) != ULNA_TERM_POINT)
                continue;
            for (int i = 0; i < 3; i++)
                goal[i] = base[i] + ulna_test_rng_uniform(&rng, -1, 1);
            assert_int_equal(ulna_problem_set_goal(bench.problem, t, goal), ULNA_OK);
        }
        const ulna_reduce_options options = {.bounded = 1};
        ulna_reduced reduced = reduced_of(bench.problem, &options);
        settle(&reduced, bench.q);
        check_there_and_back(&bench, &reduced, &options, 1, 1e-9);
        ulna_reduced_release(&reduced);
        ulna_test_bench_close(&bench);
    }
}

/* ---- what stands still ------------------------------------------------------------------------------------------- */

/* A degree of freedom of a quaternion stands still if the first one does. */
static void draw_fixed(ulna_test_rng *rng, const ulna_model *model, unsigned char *fixed)
{
    int nv = ulna_model_dof_count(model);
    for (int j = 0; j < nv; j++) {
        fixed[j] = ulna_test_rng_index(rng, 3) == 0;
        if (ulna_model_dof_coordinate(model, j) < 0 && model->dof_part[j] > 0)
            fixed[j] = fixed[j - 1];
    }
}

static void test_fixed(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(44);
    for (int round = 0; round < 500; round++) {
        ulna_test_bench bench = ulna_test_bench_open(&rng, NULL, HELD_TERMS, 6);
        double *stand = ulna_test_random_q(&rng, bench.model);
        unsigned char *fixed = calloc((size_t)bench.nv + 1, 1);
        assert_non_null(fixed);
        draw_fixed(&rng, bench.model, fixed);
        const ulna_reduce_options options = {.bounded = round % 2, .locked = fixed, .q = stand};
        ulna_reduced reduced = reduced_of(bench.problem, &options);
        settle(&reduced, bench.q);
        check_there_and_back(&bench, &reduced, &options, 1, 1e-12);
        for (int n = 0; n < reduced.count; n++)
            assert_true(reduced.nodes[n].dof == ULNA_NONE || !fixed[reduced.nodes[n].dof]);
        for (int j = 0; j < bench.nv; j++) {
            int c = ulna_model_dof_coordinate(bench.model, j);
            if (c >= 0 && fixed[j])
                assert_true(bench.q[c] == stand[c]);
        }
        ulna_reduced_release(&reduced);
        ulna_test_bench_close(&bench);
        free(stand);
        free(fixed);
    }
}

/* ---- new goals --------------------------------------------------------------------------------------------------- */

static void new_goals(ulna_test_rng *rng, ulna_problem *problem)
{
    for (int t = 0; t < ulna_problem_term_count(problem); t++) {
        double goal[9];
        if (ulna_problem_term_type(problem, t) == ULNA_TERM_ORIENTATION)
            ulna_test_random_rotation(rng, goal);
        else
            ulna_test_rng_fill(rng, goal, 9, -1.5, 1.5);
        assert_int_equal(ulna_problem_set_goal(problem, t, goal), ULNA_OK);
        assert_int_equal(ulna_problem_set_weight(problem, t, ulna_test_rng_uniform(rng, 0.1, 2)), ULNA_OK);
    }
    assert_int_equal(ulna_problem_set_length(problem, ulna_test_rng_uniform(rng, 0.1, 2)), ULNA_OK);
}

static void test_refresh(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(45);
    for (int round = 0; round < 400; round++) {
        ulna_test_bench bench = ulna_test_bench_open(&rng, NULL, HELD_TERMS, 8);
        const ulna_reduce_options options = {.bounded = 1, .gather = (ulna_gather)(round % 3)};
        ulna_reduced reduced = reduced_of(bench.problem, &options);
        ulna_node *nodes = reduced.nodes;
        new_goals(&rng, bench.problem);
        assert_int_equal(ulna_reduced_refresh(&reduced, bench.problem), ULNA_OK);
        assert_ptr_equal(reduced.nodes, nodes);
        double f = evaluate(bench.work, bench.q);
        assert_near(ulna_test_reduced_f(&reduced, bench.q), f, 1e-12 * f);

        /* a term falls asleep: another tree */
        assert_int_equal(ulna_problem_set_weight(bench.problem, 3, 0), ULNA_OK);
        assert_int_equal(ulna_reduced_refresh(&reduced, bench.problem), ULNA_ERR_STATE);
        assert_near(ulna_test_reduced_f(&reduced, bench.q), f, 1e-12 * f);
        ulna_reduced fewer = reduced_of(bench.problem, &options);
        f = evaluate(bench.work, bench.q);
        assert_near(ulna_test_reduced_f(&fewer, bench.q), f, 1e-12 * f);
        ulna_reduced_release(&fewer);
        ulna_reduced_release(&reduced);
        ulna_test_bench_close(&bench);
    }
}

static void test_missing_marker(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(46);
    ulna_test_bench bench = ulna_test_bench_open(&rng, NULL, 1u << ULNA_TERM_POINT, 3);
    double goals[9] = {1, 2, 3, NAN, 0, 0, 4, 5, 6};
    ulna_reduced reduced = reduced_of(bench.problem, NULL);
    assert_int_equal(ulna_problem_set_points(bench.problem, 0, 3, goals), ULNA_OK);
    assert_int_equal(ulna_reduced_refresh(&reduced, bench.problem), ULNA_ERR_STATE);
    ulna_reduced_release(&reduced);
    reduced = reduced_of(bench.problem, NULL);
    double f = evaluate(bench.work, bench.q);
    assert_near(ulna_test_reduced_f(&reduced, bench.q), f, 1e-12 * f);
    ulna_reduced_release(&reduced);
    ulna_test_bench_close(&bench);
}

/* ---- terms that are left out ------------------------------------------------------------------------------------- */

static void test_left_out(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(47);
    for (int round = 0; round < 200; round++) {
        ulna_test_bench bench = ulna_test_bench_open(&rng, NULL, ULNA_TEST_ALL_TERMS, 12);
        int others = 0;
        unsigned types = 0;
        for (int t = 0; t < ulna_problem_term_count(bench.problem); t++)
            if (!(HELD_TERMS & 1u << ulna_problem_term_type(bench.problem, t))) {
                others++;
                types |= 1u << ulna_problem_term_type(bench.problem, t);
            }
        ulna_reduced reduced;
        ulna_error error;
        ulna_status status = ulna_reduced_create(bench.problem, NULL, NULL, &reduced, &error);
        if (others == ulna_problem_term_count(bench.problem)) {
            assert_int_equal(status, ULNA_ERR_UNSUPPORTED);
        } else {
            assert_int_equal(status, ULNA_OK);
            assert_int_equal(reduced.left_out, others);
            assert_int_equal(reduced.left_out_types, types);
            assert_true(ulna_test_reduced_f(&reduced, bench.q) <= evaluate(bench.work, bench.q) * (1 + 1e-12));
        }
        ulna_reduced_release(&reduced);
        ulna_test_bench_close(&bench);
    }
}

/* ---- the instances with known answers ---------------------------------------------------------------------------- */

static double oracle_cost(const ulna_oracle *o)
{
    ulna_reduced direct;
    ulna_reduced_pose pose;
    ulna_oracle_reduced(o, &direct);
    assert_int_equal(ulna_reduced_pose_create(&direct, NULL, &pose), ULNA_OK);
    for (int n = 0; n < direct.count; n++) {
        double c[4];
        if (direct.nodes[n].edge == ULNA_EDGE_HINGE)
            pose.value[n] = o->angle[direct.nodes[n].dof];
        if (direct.nodes[n].edge != ULNA_EDGE_FREE)
            continue;
        ulna_rotation_to_quaternion(o->rotation, c);
        memcpy(pose.quaternion[n], (const double[4]){c[3], c[0], c[1], c[2]}, sizeof c);
        ulna_copy3(o->translation, pose.place[n]);
    }
    double cost = ulna_test_reduced_cost(&direct, &pose);
    ulna_reduced_pose_release(NULL, &pose);
    free(direct.nodes);
    return cost;
}

static void test_oracles(void **state)
{
    (void)state;
    ulna_oracle *oracles;
    int count = ulna_oracles_load(&oracles);
    assert_int_equal(count, 160);
    for (int i = 0; i < count; i++) {
        const ulna_oracle *o = &oracles[i];
        ulna_model *model;
        ulna_problem *problem;
        ulna_work *work;
        ulna_oracle_problem(o, &model, &problem);
        assert_int_equal(ulna_work_create(problem, NULL, &work, NULL), ULNA_OK);
        double *q = ulna_test_random_q(&(ulna_test_rng){{1, 2, 3, 4}}, model);
        ulna_oracle_true_q(o, model, q);
        ulna_reduced reduced = reduced_of(problem, NULL);
        double f = evaluate(work, q), cost = ulna_test_reduced_f(&reduced, q);
        assert_near(cost, f, 1e-13);
        assert_near(cost, oracle_cost(o), 1e-13);
        if (strstr(o->family, "clean"))
            assert_true(cost < 1e-12);
        else
            assert_true(cost > o->best - 1e-9 && cost > 1e-6);
        ulna_reduced_release(&reduced);
        ulna_work_destroy(work);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
        free(q);
    }
    free(oracles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_trees),
        cmocka_unit_test(test_one_joint_type),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_far_away),
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_refresh),
        cmocka_unit_test(test_missing_marker),
        cmocka_unit_test(test_left_out),
        ulna_test_needs("../oracles/global-ik", cmocka_unit_test(test_oracles)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
