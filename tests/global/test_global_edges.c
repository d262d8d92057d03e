/* The race at its edges: roots of every kind, few starts, odd weights, units and options. What it claims stays true. */
#include "global/global.h"
#include "support.h"
#include "support_problem.h"
#include "support_tree.h"
#include "support_units.h"
#include "ulna/global.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a root joint with three limited hinges on it ---------------------------------------------------------------- */

typedef struct arm {
    ulna_model *model;
    ulna_problem *problem;
    ulna_work *work;
    double *q;
    int body[4];
} arm;

/* Without terms; lengths are 0.4 times `unit`. */
static arm arm_open(const ulna_joint *root, double unit)
{
    arm a = {0};
    ulna_builder *builder;
    const double offset[3] = {0, 0, 0.4 * unit};
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    for (int i = 0; i < 4; i++) {
        const ulna_joint hinge = ulna_joint_revolute(i % 2, 1 - i % 2, 0.1);
        const char name[2] = {(char)('a' + i), 0};
        assert_int_equal(ulna_builder_add_body(builder, name, i - 1, &a.body[i], NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, i, i ? &hinge : root, NULL), ULNA_OK);
        if (i == 0)
            continue;
        assert_int_equal(ulna_builder_set_placement(builder, i, offset, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_limits(builder, i, 0, -2, 2, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &a.model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    assert_int_equal(ulna_problem_create(a.model, NULL, &a.problem, NULL), ULNA_OK);
    a.q = ulna_test_numbers(ulna_model_coordinate_count(a.model));
    memcpy(a.q, ulna_model_rest(a.model), (size_t)ulna_model_coordinate_count(a.model) * sizeof *a.q);
    return a;
}

static int add_point(arm *a, int body, double x, double y, double z, double weight)
{
    const double goal[3] = {x, y, z};
    int term;
    assert_int_equal(ulna_problem_add_point(a->problem, body, NULL, goal, weight, &term, NULL), ULNA_OK);
    return term;
}

static ulna_global_result solve(arm *a, const ulna_global_options *options)
{
    ulna_global *global;
    ulna_global_result result;
    double f;
    assert_int_equal(ulna_problem_ready(a->problem, NULL), ULNA_OK);
    assert_int_equal(ulna_global_create(a->problem, options, NULL, &global, NULL), ULNA_OK);
    assert_int_equal(ulna_global_solve(global, a->q, &result, NULL), ULNA_OK);
    ulna_global_destroy(global);
    assert_int_equal(ulna_work_create(a->problem, NULL, &a->work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(a->work, a->q, &f), ULNA_OK);
    assert_true(fabs(f - result.f) <= 1e-12 * f);
    assert_true(result.bound >= 0 && result.bound <= result.f * (1 + 1e-9) + 1e-300);
    ulna_work_destroy(a->work);
    return result;
}

static void arm_close(arm *a)
{
    ulna_problem_destroy(a->problem);
    ulna_model_destroy(a->model);
    free(a->q);
}

/* Goals that contradict each other: wherever the root can go, and whatever it is made of, the best pose is proven. */
static void every_root_has_a_bound(void **state)
{
    (void)state;
    const ulna_joint roots[] = {ulna_joint_fixed(),
                                ulna_joint_planar(0, 0, 1),
                                ulna_joint_sequence("TxTyTz"),
                                ulna_joint_sequence("TxTy"),
                                ulna_joint_sequence("TyTxRx"),
                                ulna_joint_prismatic(1, 1, 0),
                                ulna_joint_sequence("RzTx"),
                                ulna_joint_free(),
                                ulna_joint_free_euler("ZYX"),
                                ulna_joint_ball()};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        arm a = arm_open(&roots[i], 1);
        add_point(&a, 3, 3, 1, 2.5, 1);
        add_point(&a, 2, 5, 1, 0.2, 1);
        add_point(&a, 0, 4, 1, 0.1, 0.5); /* at the joint itself, which does not turn it */
        ulna_global_options options = ulna_global_options_default();
        options.gap = 5e-3;
        ulna_global_result result = solve(&a, &options);
        if (!result.proven || !result.unreachable)
            print_message("root %zu: f %g, bound %g\n", i, result.f, result.bound);
        assert_true(result.proven && result.unreachable);
        arm_close(&a);
    }
}

/* The bound does not depend on how many starts there are. */
static void few_starts_have_a_bound_too(void **state)
{
    (void)state;
    const ulna_joint root = ulna_joint_ball();
    for (int starts = 1; starts <= 9; starts++) {
        arm a = arm_open(&root, 1);
        ulna_global_options options = ulna_global_options_default();
        options.starts = starts;
        add_point(&a, 3, 0.3, 0.1, 0.5, 1);
        add_point(&a, 2, -0.3, 0.1, 0.5, 1);
        ulna_global_result result = solve(&a, &options);
        assert_true(result.relaxations > 0 && result.unreachable);
        assert_true(result.starts <= starts && (result.proven || result.starts == starts));
        assert_int_equal(result.stop, result.proven ? ULNA_GLOBAL_PROVEN : ULNA_GLOBAL_STARTS);
        arm_close(&a);
    }
}

/* What stands still, and heavy weights: rounding of the weight is no proof of anything. */
static void heavy_weights_prove_nothing_false(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(3);
    const ulna_joint root = ulna_joint_fixed();
    for (int round = 0; round < 50; round++) {
        arm a = arm_open(&root, 1);
        ulna_pose *pose;
        double rotation[9], place[3], axis[3] = {0.3, 0.4, round - 20}, along[3] = {0, 0, 0};
        const double weight = pow(10, ulna_test_rng_uniform(&rng, 2, 8));
        for (int i = 1; i < 4; i++)
            a.q[i - 1] = ulna_test_rng_uniform(&rng, -2, 2);
        assert_int_equal(ulna_pose_create(a.model, NULL, &pose, NULL), ULNA_OK);
        assert_int_equal(ulna_pose_forward(pose, a.q), ULNA_OK);
        for (int body = 0; body < (round % 2 ? 4 : 1); body++) {
            assert_int_equal(ulna_pose_body(pose, body, place, rotation), ULNA_OK);
            for (int i = 0; i < 9; i++)
                along[i / 3] += rotation[i] * axis[i % 3];
            assert_int_equal(ulna_problem_add_orientation(a.problem, body, rotation, weight, NULL, NULL), ULNA_OK);
            assert_int_equal(ulna_problem_add_direction(a.problem, body, axis, along, weight, NULL, NULL), ULNA_OK);
            memset(along, 0, sizeof along);
        }
        ulna_pose_destroy(pose);
        memset(a.q, 0, 3 * sizeof *a.q);
        ulna_global_result result = solve(&a, NULL);
        assert_true(!result.unreachable && result.bound <= 1e-14 * weight);
        arm_close(&a);
    }
}

/* A degree of freedom without strength stays, as one that is locked does: in every start. */
static void what_may_not_move_stays(void **state)
{
    (void)state;
    const ulna_joint root = ulna_joint_ball();
    for (int kind = 0; kind < 3; kind++) {
        arm a = arm_open(&root, 1);
        ulna_global_options options = ulna_global_options_default();
        const unsigned char locked[6] = {0, 0, 0, 0, 1, 0};
        const double strength[6] = {kind == 2 ? 0 : 1, 1, 1, 1, 0, 1};
        options.local.locked = kind == 0 ? locked : NULL;
        options.local.strength = kind == 0 ? NULL : strength;
        add_point(&a, 3, 0.3, 0.1, 0.5, 1);
        add_point(&a, 2, -0.3, 0.1, 0.5, 1);
        a.q[5] = 0.7;
        ulna_global_result result = solve(&a, &options);
        assert_true(a.q[5] == 0.7);
        assert_true(result.starts >= 16 && result.unreachable);
        arm_close(&a);
    }
}

/* Methods that take no notice of limits find poses outside: the bound is then one for those. */
static void unbounded_methods_have_their_own_bound(void **state)
{
    (void)state;
    const ulna_joint root = ulna_joint_fixed();
    const char *const methods[] = {"lm", "dls", "ccd", "penalty", "hybrid"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        arm a = arm_open(&root, 1);
        ulna_global_options options = ulna_global_options_default();
        options.local.method = methods[i];
        options.starts = 24;
        add_point(&a, 3, 0.1, 0, 0.35, 1); /* folded up: the limits are in the way */
        add_point(&a, 2, 0, 0.1, 0.05, 1);
        solve(&a, &options); /* checks that bound <= f */
        arm_close(&a);
    }
}

static void terms_left_out_are_counted(void **state)
{
    (void)state;
    const ulna_joint root = ulna_joint_fixed();
    arm a = arm_open(&root, 1);
    const double point[3] = {0.2, 0, 0}, normal[3] = {1, 0, 0};
    assert_int_equal(ulna_problem_add_plane(a.problem, 3, NULL, point, normal, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_posture(a.problem, NULL, NULL, 1e-3, NULL, NULL), ULNA_OK);
    ulna_global_result result = solve(&a, NULL); /* no term that relaxations support */
    assert_int_equal(result.terms_left_out, 2);
    assert_int_equal(result.relaxations, 0);
    add_point(&a, 3, 0.5, 0.2, 0.5, 1);
    memset(a.q, 0, 3 * sizeof *a.q);
    result = solve(&a, NULL);
    assert_int_equal(result.terms_left_out, 2);
    arm_close(&a);
}

/* The same arm in nanometres and in gigametres (powers of two): the same decisions. */
static void units_do_not_matter(void **state)
{
    (void)state;
    const ulna_joint root = ulna_joint_ball();
    const double units[3] = {1, 0x1p-30, 0x1p30};
    for (int reachable = 0; reachable < 2; reachable++) {
        ulna_global_result first = {0};
        for (int i = 0; i < 3; i++) {
            arm a = arm_open(&root, units[i]);
            const double u = units[i];
            add_point(&a, 3, 0.3 * u, 0.1 * u, 0.5 * u, 1);
            if (!reachable)
                add_point(&a, 2, -0.3 * u, 0.1 * u, 0.5 * u, 1);
            ulna_global_result result = solve(&a, NULL);
            if (i == 0)
                first = result;
            assert_int_equal(result.unreachable, !reachable);
            assert_int_equal(result.proven, first.proven);
            assert_true(first.proven || !reachable);
            assert_true(reachable || fabs(result.f / u / u - first.f) <= 1e-9 * first.f);
            assert_true(reachable || fabs(result.bound / u / u - first.bound) <= 1e-6 * first.bound);
            arm_close(&a);
        }
    }
}

/* One random scene in a unit 2^power as large; f, bound and q in the first unit. */
static ulna_global_result solve_scaled(const ulna_test_bench *bench, int power, double *q)
{
    double factor = ldexp(1, power);
    ulna_global_options options = ulna_global_options_default();
    ulna_global_result result;
    ulna_global *global;
    ulna_model *model = ulna_test_scaled_model(bench->model, factor);
    ulna_problem *problem = ulna_test_scaled_problem(bench->problem, model, factor);
    options.starts = 8;
    ulna_test_scale_q(model, bench->q, factor, q);
    assert_int_equal(ulna_global_create(problem, &options, NULL, &global, NULL), ULNA_OK);
    assert_int_equal(ulna_global_solve(global, q, &result, NULL), ULNA_OK);
    ulna_test_scale_q(model, q, 1 / factor, q);
    result.f /= factor * factor;
    result.bound /= factor * factor;
    ulna_global_destroy(global);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    return result;
}

/* Random trees, with bones and, every second one, without: only the points of the terms have a length. */
static void random_scenes_in_any_unit(void **state)
{
    (void)state;
    static const int powers[] = {-20, -10, 10, 20};
    static const int roots[] = {-1, ULNA_JOINT_FREE, ULNA_JOINT_FREE_EULER, ULNA_JOINT_PRISMATIC};
    for (int seed = 1; seed <= 16; seed++) {
        ulna_test_rng rng = ulna_test_rng_seed((uint64_t)seed);
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        int has_bones = seed % 2;
        tree.max_bodies = 5;
        tree.root = roots[seed % 4];
        tree.limits = has_bones ? 0.5 : 0;
        if (!has_bones)
            tree.length_m = tree.markers = 0;
        ulna_test_bench bench =
            ulna_test_bench_open(&rng, &tree, 1u << ULNA_TERM_POINT | 1u << ULNA_TERM_ORIENTATION, 2);
        ulna_test_add_term(&rng, bench.problem, ULNA_TERM_POINT);
        double *q = ulna_test_numbers(bench.nq), *other_q = ulna_test_numbers(bench.nq);
        ulna_global_result first = solve_scaled(&bench, 0, q);
        for (size_t n = 0; n < sizeof powers / sizeof *powers; n++) {
            ulna_global_result other = solve_scaled(&bench, powers[n], other_q);
            if (other.f != first.f || other.bound != first.bound || other.proven != first.proven ||
                other.starts != first.starts || memcmp(q, other_q, (size_t)bench.nq * sizeof *q) != 0)
                fail_msg("seed %d, 2^%d: f %g and %g, bound %g and %g", seed, powers[n], first.f, other.f, first.bound,
                         other.bound);
        }
        free(q);
        free(other_q);
        ulna_test_bench_close(&bench);
    }
}

/* A body that walks away takes its bound along: as good as that of a solver made there. */
static void goals_may_go_far_away(void **state)
{
    (void)state;
    const ulna_joint root = ulna_joint_free();
    arm a = arm_open(&root, 1);
    ulna_global *global;
    ulna_global_result result, fresh;
    const int term[2] = {add_point(&a, 3, 1, 0, 0, 1), add_point(&a, 0, 3, 0, 0, 1)};
    assert_int_equal(ulna_problem_ready(a.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_global_create(a.problem, NULL, NULL, &global, NULL), ULNA_OK);
    for (double far = 1; far < 1e8; far *= 100) {
        for (int i = 0; i < 2; i++)
            assert_int_equal(ulna_problem_set_goal(a.problem, term[i], (const double[3]){far + 2 * i, far, 0}),
                             ULNA_OK);
        memcpy(a.q, ulna_model_rest(a.model), 10 * sizeof *a.q);
        assert_int_equal(ulna_global_solve(global, a.q, &result, NULL), ULNA_OK);
        memcpy(a.q, ulna_model_rest(a.model), 10 * sizeof *a.q);
        fresh = solve(&a, NULL);
        assert_true(result.proven && result.unreachable && fresh.proven);
        assert_true(fabs(result.bound - fresh.bound) <= 1e-3 * fresh.bound);
    }
    ulna_global_destroy(global);
    arm_close(&a);
}

/* Too long for any relaxation: lengths alone tell that the goal is out of reach, and the time is kept. */
static void long_chains_are_certified_by_their_length(void **state)
{
    (void)state;
    enum { JOINTS = 1500 };
    const double step[3] = {1.0 / JOINTS, 0, 0}, far[3] = {0, 1.5, 0}, near[3] = {0, 0.6, 0};
    const ulna_joint hinge = ulna_joint_revolute(0, 0, 1);
    ulna_builder *builder;
    ulna_model *model;
    ulna_problem *problem;
    ulna_global *global;
    ulna_global_result result;
    int term;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    for (int i = 0; i < JOINTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(ulna_builder_add_body(builder, name, i - 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, i, &hinge, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_placement(builder, i, step, NULL, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(problem, JOINTS - 1, NULL, far, 2, &term, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    double *q = ulna_test_numbers(JOINTS);
    ulna_global_options options = ulna_global_options_default();
    options.starts = 2;
    assert_int_equal(ulna_global_create(problem, &options, NULL, &global, NULL), ULNA_OK);
    assert_int_equal(ulna_global_solve(global, q, &result, NULL), ULNA_OK);
    assert_true(result.unreachable && result.bound > 0.24 && result.bound <= result.f);
    assert_int_equal(ulna_problem_set_goal(problem, term, near), ULNA_OK);
    assert_int_equal(ulna_global_solve(global, q, &result, NULL), ULNA_OK);
    assert_true(!result.unreachable);
    ulna_global_destroy(global);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    free(q);
}

/* ---- random problems --------------------------------------------------------------------------------------------- */

/* Goals where the bodies are at a pose within the limits: no bound is above 0 by more than rounding. */
static void goals_taken_from_a_pose_are_never_out_of_reach(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(11);
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    tree.max_bodies = 7;
    for (int round = 0; round < 300; round++) {
        tree.length_m = round % 3 ? 0.5 : pow(10, ulna_test_rng_uniform(&rng, -4, 4));
        tree.far_m = round % 5 ? 0 : 1e4 * tree.length_m;
        ulna_test_scene scene = ulna_test_scene_open(&rng, &tree);
        ulna_problem *problem;
        assert_int_equal(ulna_problem_create(scene.model, NULL, &problem, NULL), ULNA_OK);
        double heaviest = 0;
        for (int i = 0; i < 4; i++) {
            double place[3], rotation[9], x[3] = {1, 0, 0}, along[3];
            int body = ulna_test_rng_index(&rng, scene.nb);
            const double weight = pow(10, ulna_test_rng_uniform(&rng, -3, 3));
            heaviest = fmax(heaviest, weight);
            assert_int_equal(ulna_pose_body(scene.pose, body, place, rotation), ULNA_OK);
            for (int k = 0; k < 3; k++)
                along[k] = rotation[3 * k];
            if (i < 2)
                assert_int_equal(ulna_problem_add_point(problem, body, NULL, place, weight, NULL, NULL), ULNA_OK);
            else if (i == 2)
                assert_int_equal(ulna_problem_add_orientation(problem, body, rotation, weight, NULL, NULL), ULNA_OK);
            else
                assert_int_equal(ulna_problem_add_direction(problem, body, x, along, weight, NULL, NULL), ULNA_OK);
        }
        assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
        ulna_global *global;
        ulna_global_result result;
        ulna_global_options options = ulna_global_options_default();
        options.relax = 1 + round % 2;
        options.gap = 0;
        options.absolute = 1e-200; /* so that it goes on to the relaxations */
        options.starts = 3;
        double *q = ulna_test_numbers(scene.nq), scale = ulna_model_length_scale(scene.model);
        memcpy(q, ulna_model_rest(scene.model), (size_t)scene.nq * sizeof *q);
        assert_int_equal(ulna_global_create(problem, &options, NULL, &global, NULL), ULNA_OK);
        assert_int_equal(ulna_global_solve(global, q, &result, NULL), ULNA_OK);
        /* places are rounded to 1e-16 of how far they are */
        assert_true(result.bound <= heaviest * (1e-14 * scale * scale + 1e-30 * tree.far_m * tree.far_m));
        ulna_global_destroy(global);
        ulna_problem_destroy(problem);
        ulna_test_scene_close(&scene);
        free(q);
    }
}

/* ---- narrow limits ------------------------------------------------------------------------------------------------ */

/* A rotation and a translation along x between 1 and 1 + width, as one joint, as two, or the translation of a free root:
 * where the nearest place is, is known. */
static double narrow_case(int kind, double width, double unit, const double goal[3])
{
    ulna_builder *builder;
    ulna_model *model;
    ulna_problem *problem;
    const ulna_joint sequence = ulna_joint_sequence("RzTx"), rotation = ulna_joint_revolute(0, 0, 1),
                     translation = ulna_joint_prismatic(1, 0, 0), root = ulna_joint_free();
    const ulna_joint *const first[3] = {&sequence, &rotation, &root};
    const int body = kind == 1, dof = kind == 0;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    assert_int_equal(ulna_builder_add_body(builder, "first", ULNA_NONE, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_joint(builder, 0, first[kind], NULL), ULNA_OK);
    if (kind == 1) {
        assert_int_equal(ulna_builder_add_body(builder, "tip", 0, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, 1, &translation, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_set_limits(builder, body, dof, unit, unit + width * unit, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(problem, body, NULL, goal, 1, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);

    const double along = kind == 2 ? goal[0] : hypot(goal[0], goal[1]), up = kind == 2 ? 0 : goal[2];
    const double away = along - fmin(fmax(along, unit), unit + width * unit), least = 0.5 * (away * away + up * up);
    ulna_global *global;
    ulna_global_result result;
    ulna_global_options options = ulna_global_options_default();
    double q[7] = {0, 0, 0, 0, 0, 0, 1};
    options.starts = 8;
    if (kind != 2)
        memset(q, 0, sizeof q);
    assert_int_equal(ulna_global_create(problem, &options, NULL, &global, NULL), ULNA_OK);
    assert_int_equal(ulna_global_solve(global, q, &result, NULL), ULNA_OK);
    assert_int_equal(result.contradicted, 0);
    assert_true(result.bound <= least * (1 + 1e-12) + 1e-24 * unit * unit);
    assert_true(result.bound <= result.f);
    ulna_global_destroy(global);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    return result.proven && result.f > 1e-12 * unit * unit ? 1 : 0;
}

static void narrow_translations_have_true_bounds(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(11);
    int proven = 0, count = 0;
    for (double width = 1e-13; width < 1; width *= 10)
        for (int kind = 0; kind < 3; kind++)
            for (int i = 0; i < 8; i++, count++) {
                const double unit = pow(10, i % 4 - 1), size = unit * pow(10, ulna_test_rng_uniform(&rng, -3, 2));
                const double goal[3] = {size * ulna_test_rng_uniform(&rng, -1, 1),
                                        size * ulna_test_rng_uniform(&rng, -1, 1),
                                        size * ulna_test_rng_uniform(&rng, -1, 1)};
                proven += narrow_case(kind, width, unit, goal) > 0;
            }
    assert_true(proven > count / 2);
}

/* ---- a bound that is wrong ---------------------------------------------------------------------------------------- */

static void a_bound_above_the_cost_is_withdrawn(void **state)
{
    (void)state;
    ulna_global_result good = {.f = 2, .bound = 1}, rounded = {.f = 2, .bound = 2 + 1e-13},
                       wrong = {.f = 2, .bound = 2.001}, worse = {.f = 2, .bound = 3};
    assert_int_equal(ulna_global_check_bound(&good, 1e-12, 0.5), 1);
    assert_true(good.bound == 1 && !good.contradicted);
    assert_int_equal(ulna_global_check_bound(&rounded, 1e-12, 0.5), 1);
    assert_true(rounded.bound == 2 && !rounded.contradicted);
    assert_int_equal(ulna_global_check_bound(&wrong, 1e-12, 0.5), 0);
    assert_true(wrong.bound == 0.5 && wrong.contradicted);
    assert_int_equal(ulna_global_check_bound(&worse, 1e-12, 2.5), 0); /* nor what was to replace it */
    assert_true(worse.bound == 0 && worse.contradicted);
}

/* A relaxation of a tree that was damaged behind its back: with bones a tenth as long it reaches less than it should, so
 * that its bound is above f. The solve says so, and proves nothing. */
static void damaged_trees_are_noticed(void **state)
{
    (void)state;
    const ulna_joint root = ulna_joint_revolute(0, 0, 1);
    arm a = arm_open(&root, 1);
    add_point(&a, a.body[3], 2.5, 0.1, 0, 1);
    add_point(&a, a.body[2], -0.5, 0.4, 0.1, 1);
    ulna_global *global;
    ulna_global_result result;
    ulna_global_options options = ulna_global_options_default();
    options.gap = 1e-9;
    assert_int_equal(ulna_problem_ready(a.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_global_create(a.problem, &options, NULL, &global, NULL), ULNA_OK);
    assert_int_equal(ulna_global_solve(global, a.q, &result, NULL), ULNA_OK);
    assert_true(!result.contradicted && result.bound > 0);
    for (int i = 0; i < 2; i++) {
        ulna_relaxation_destroy(global->relaxation[i]);
        global->relaxation[i] = NULL;
    }
    for (int n = 0; n < global->reduced.count; n++)
        for (int k = 0; k < 3; k++)
            global->reduced.nodes[n].v[k] *= 0.1;
    assert_int_equal(ulna_global_solve(global, a.q, &result, NULL), ULNA_OK);
    assert_true(result.contradicted && !result.proven && result.bound <= result.f);
    assert_true(result.stop != ULNA_GLOBAL_PROVEN);
    ulna_global_destroy(global);
    arm_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_root_has_a_bound),
        cmocka_unit_test(few_starts_have_a_bound_too),
        cmocka_unit_test(heavy_weights_prove_nothing_false),
        cmocka_unit_test(what_may_not_move_stays),
        cmocka_unit_test(unbounded_methods_have_their_own_bound),
        cmocka_unit_test(terms_left_out_are_counted),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(random_scenes_in_any_unit),
        cmocka_unit_test(goals_may_go_far_away),
        cmocka_unit_test(long_chains_are_certified_by_their_length),
        cmocka_unit_test(goals_taken_from_a_pose_are_never_out_of_reach),
        cmocka_unit_test(narrow_translations_have_true_bounds),
        cmocka_unit_test(a_bound_above_the_cost_is_withdrawn),
        cmocka_unit_test(damaged_trees_are_noticed),
    };
    return cmocka_run_group_tests_name("global_edges", tests, NULL, NULL);
}
