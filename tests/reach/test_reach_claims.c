/*
 * Attack on what answers claim: random robots with random tips, in the world and relative to links, in random order, by every call. Each claim is
 * computed again by plain code: frames parent by parent, errors as ulna/reach.h has them, limits, mimics, locked joints.
 */
#include "math/math3.h"
#include "reach/reach.h"
#include "support_model.h"
#include "support_reach.h"
#include "ulna/formats.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROBOTS = 150, LIMBS = 4, TIPS = 4, ROWS = 6, FROM_DATA = 40, FROM_SAMPLE = 40 };

/* ---- robots -------------------------------------------------------------------------------------------------------------- */

static int chance(ulna_test_rng *rng, double probability)
{
    return ulna_test_rng_uniform(rng, 0, 1) < probability;
}

static void set_joint(ulna_test_rng *rng, ulna_builder *builder, int body)
{
    int slides = chance(rng, 0.15), is_ball = !slides && chance(rng, 0.05);
    double x = ulna_test_rng_normal(rng), y = ulna_test_rng_normal(rng), z = ulna_test_rng_normal(rng), position[3];
    ulna_test_rng_fill(rng, position, 3, -0.3, 0.3);
    assert_int_equal(ulna_builder_set_placement(builder, body, position, (double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, NULL),
                     ULNA_OK);
    ulna_test_set_joint(builder, body,
                        is_ball  ? ulna_joint_ball()
                        : slides ? ulna_joint_prismatic(x, y, z)
                                 : ulna_joint_revolute(x, y, z));
    if (is_ball || (!slides && chance(rng, 0.2)))
        return;
    double wide = slides ? 0.4 : 2.5;
    if (slides && chance(rng, 0.3)) /* as files write joints without limits */
        wide = chance(rng, 0.5) ? 1e16 : 1e300;
    assert_int_equal(ulna_builder_set_limits(builder, body, 0, ulna_test_rng_uniform(rng, -wide, -0.1),
                                             ulna_test_rng_uniform(rng, 0.1, wide), NULL),
                     ULNA_OK);
}

/* A trunk of up to three joints, and limbs of up to seven that hang on any of its bodies; some joints follow others. */
static ulna_model *random_robot(ulna_test_rng *rng)
{
    ulna_builder *builder = ulna_test_builder();
    int trunk = ulna_test_rng_index(rng, 4), limbs = 1 + ulna_test_rng_index(rng, LIMBS), count = 1;
    char name[32];
    ulna_test_add(builder, "base", ULNA_NONE);
    for (; count <= trunk; count++) {
        snprintf(name, sizeof name, "trunk%d", count);
        set_joint(rng, builder, ulna_test_add(builder, name, count - 1));
    }
    for (int limb = 0; limb < limbs; limb++) {
        int parent = ulna_test_rng_index(rng, trunk + 1), joints = 1 + ulna_test_rng_index(rng, 7);
        for (int i = 0; i < joints; i++, count++) {
            snprintf(name, sizeof name, "limb%d_%d", limb, i);
            parent = ulna_test_add(builder, name, parent);
            set_joint(rng, builder, parent);
        }
    }
    for (int follower = 2; follower < count && chance(rng, 0.3);
         follower += 3) /* refused where a joint is a ball, or fixed */
        (void)ulna_builder_couple(builder, follower, 0, 1 + ulna_test_rng_index(rng, follower - 1), 0,
                                  ulna_test_rng_uniform(rng, -1.5, 1.5), ulna_test_rng_uniform(rng, -0.05, 0.05), NULL);
    ulna_model *model = NULL;
    (void)ulna_builder_build(builder, NULL, &model, NULL); /* NULL: couplings that no limits allow */
    ulna_builder_destroy(builder);
    return model;
}

/* ---- claims ---------------------------------------------------------------------------------------------------------------- */

/* A problem, and what a caller can know about it. */
typedef struct scene {
    ulna_test_rng *rng;
    ulna_model *model;
    ulna_reach_tip tip[TIPS];
    int tip_count, nq, nv;
    ulna_reach_options options;
    unsigned char locked[ULNA_TEST_REACH_Q];
    double posture[ULNA_TEST_REACH_Q], strength[ULNA_TEST_REACH_Q];
    ulna_constraint
        apart; /* type ULNA_KEEP_DISTANCE, if options.constraint_count is 1: between the origins of two bodies */
    ulna_test_reach reach;
    int reached, missed; /* answers */
} scene;

static ulna_test_frame inverse(const ulna_test_frame *a)
{
    ulna_test_frame back;
    ulna_invert(a->r, a->t, back.r, back.t);
    return back;
}

/* Errors of a tip over its goal's axes, as ulna/reach.h defines them. */
static void tip_errors(const ulna_reach_tip *tip, const ulna_test_frame *frames, const ulna_reach_goal *goal,
                       double error[6])
{
    ulna_test_frame tool, at, wanted, off;
    int rotations = 0, last = 0, free_axis = 0;
    ulna_quaternion_to_rotation(tip->rotation, tool.r);
    ulna_copy3(tip->point, tool.t);
    at = ulna_test_multiply(&frames[tip->body], &tool);
    if (tip->relative_to != ULNA_NONE) {
        ulna_test_frame back = inverse(&frames[tip->relative_to]);
        at = ulna_test_multiply(&back, &at);
    }
    double length = sqrt(ulna_inner(4, goal->rotation, goal->rotation)), unit[4];
    for (int i = 0; i < 4; i++)
        unit[i] = goal->rotation[i] / length;
    ulna_quaternion_to_rotation(unit, wanted.r);
    ulna_copy3(goal->position, wanted.t);
    wanted = inverse(&wanted);
    off = ulna_test_multiply(&wanted, &at);
    for (int k = 0; k < 3; k++) {
        error[k] = tip->weight[k] > 0 ? off.t[k] : 0;
        error[3 + k] = 0;
        rotations += tip->weight[3 + k] > 0;
        *(tip->weight[3 + k] > 0 ? &last : &free_axis) = k;
    }
    double vector[3], q[4];
    if (rotations == 3) {
        ulna_log(off.r, vector);
        ulna_copy3(vector, error + 3);
    } else if (rotations == 2) {
        double axis[3] = {off.r[free_axis], off.r[3 + free_axis], off.r[6 + free_axis]}, goal_axis[3] = {0};
        goal_axis[free_axis] = 1;
        ulna_cross(goal_axis, axis, vector);
        double sine = ulna_norm(vector), angle = atan2(sine, axis[free_axis]);
        for (int k = 0; k < 3 && sine > 0; k++)
            error[3 + k] = vector[k] * angle / sine;
    } else if (rotations == 1) {
        ulna_rotation_to_quaternion(off.r, q);
        error[3 + last] = 2 * atan2(q[last], q[3]);
        if (error[3 + last] > ULNA_PI)
            error[3 + last] -= 2 * ULNA_PI;
        if (error[3 + last] < -ULNA_PI)
            error[3 + last] += 2 * ULNA_PI;
    }
}

/* How far q is from what is asked: 1 is as far as the tolerances allow. */
static double distance_from_goals(const scene *s, const ulna_reach_goal *goals, const double *q, double *position,
                                  double *rotation)
{
    ulna_test_frame *frames = ulna_test_frames(s->model, q);
    double most = 0;
    *position = *rotation = 0;
    for (int i = 0; i < s->tip_count; i++) {
        double error[6], share[2] = {0}, size[2] = {0};
        tip_errors(&s->tip[i], frames, &goals[i], error);
        for (int k = 0; k < 6; k++) {
            double part = error[k] / s->tip[i].tolerance[k];
            share[k / 3] += part * part;
            size[k / 3] += error[k] * error[k];
        }
        most = fmax(most, sqrt(fmax(share[0], share[1])));
        *position = fmax(*position, sqrt(size[0]));
        *rotation = fmax(*rotation, sqrt(size[1]));
    }
    if (s->options.constraint_count > 0) {
        const ulna_test_frame *a = &frames[s->apart.body], *b = &frames[s->apart.other];
        most = fmax(most, fabs(sqrt(ulna_squared_distance(a->t, b->t, 3)) - s->apart.goal[0]) / 1e-6);
    }
    free(frames);
    return most;
}

/* Limits, mimics, and joints that stay where the seed has them. */
static void check_allowed(const scene *s, const double *seed, const double *q, const char *call)
{
    const double *lower = ulna_model_lower(s->model), *upper = ulna_model_upper(s->model);
    int count;
    const ulna_coupling *mimic = ulna_model_couplings(s->model, &count);
    for (int j = 0; j < s->nv; j++) {
        int c = ulna_model_dof_coordinate(s->model, j);
        if (c < 0)
            continue;
        if (q[c] < lower[j] || q[c] > upper[j])
            fail_msg("%s: coordinate %d is %.17g, its limits are %.17g and %.17g", call, c, q[c], lower[j], upper[j]);
        if (s->locked[j] && fabs(q[c] - fmin(fmax(seed[c], lower[j]), upper[j])) > 1e-12)
            fail_msg("%s: coordinate %d is locked at %g, and is %g", call, c, seed[c], q[c]);
    }
    for (int i = 0; i < count; i++) {
        double master = q[ulna_model_dof_coordinate(s->model, mimic[i].master)],
               follower = q[ulna_model_dof_coordinate(s->model, mimic[i].dof)],
               wanted = mimic[i].multiplier * master + mimic[i].offset;
        if (fabs(follower - wanted) > 1e-12 * (1 + fabs(wanted)))
            fail_msg("%s: a mimic is at %.17g, not at %.17g", call, follower, wanted);
    }
}

static void check_answer(scene *s, const ulna_reach_goal *goals, const double *seed, const double *q,
                         const ulna_reach_result *result, const char *call)
{
    double position, rotation, off = distance_from_goals(s, goals, q, &position, &rotation);
    ulna_reach_error errors[TIPS];
    check_allowed(s, seed, q, call);
    if (result->reached ? off > 1 + 1e-6 : off < 1 - 1e-6)
        fail_msg("%s: reached is %d, but %g m and %g rad are left, %g times the tolerance", call, result->reached,
                 position, rotation, off);
    if (fabs(result->position_error - position) > 1e-9 || fabs(result->rotation_error - rotation) > 1e-7)
        fail_msg("%s: errors are %g m and %g rad, not %g and %g", call, position, rotation, result->position_error,
                 result->rotation_error);
    assert_int_equal(ulna_reach_measure(s->reach.work, goals, q, errors), ULNA_OK);
    int within = 1;
    for (int i = 0; i < s->tip_count; i++)
        within &= errors[i].within;
    if (result->reached && !within)
        fail_msg("%s: reached, but a tip is not within its tolerance", call);
    s->reached += result->reached;
    s->missed += !result->reached;
}

/* ---- problems -------------------------------------------------------------------------------------------------------------- */

static int random_tip(scene *s, ulna_reach_tip *tip)
{
    static const char *const axes[] = {"111111", "111111", "111000", "111000", "111110", "000111", "110001", "011011"};
    int bodies = ulna_model_body_count(s->model);
    const char *which = axes[ulna_test_rng_index(s->rng, 8)];
    *tip = ulna_reach_tip_default(ulna_test_rng_index(s->rng, bodies));
    if (chance(s->rng, 0.5))
        tip->relative_to = ulna_test_rng_index(s->rng, bodies);
    for (int k = 0; k < 6; k++)
        tip->weight[k] = which[k] - '0';
    if (chance(s->rng, 0.5))
        ulna_test_rng_fill(s->rng, tip->point, 3, -0.1, 0.1);
    ulna_reach *reach;
    if (ulna_reach_create(s->model, 1, tip, NULL, NULL, &reach, NULL) != ULNA_OK) /* no joint between the two */
        return 0;
    ulna_reach_destroy(reach);
    return 1;
}

static void random_problem(scene *s)
{
    ulna_reach_options *o = &s->options;
    *o = ulna_reach_options_default();
    o->mode = (ulna_reach_mode)ulna_test_rng_index(s->rng, ULNA_REACH_MODE_COUNT);
    o->norm = (ulna_reach_norm)ulna_test_rng_index(s->rng, 2);
    o->restarts = 5;
    memset(s->locked, 0, sizeof s->locked);
    if (chance(s->rng, 0.2)) {
        for (int j = 0; j < s->nv; j++)
            s->locked[j] = chance(s->rng, 0.2) && ulna_model_dof_coordinate(s->model, j) >= 0;
        o->locked = s->locked;
    }
    if (chance(s->rng, 0.2)) {
        for (int j = 0; j < s->nv; j++)
            s->strength[j] = ulna_test_rng_uniform(s->rng, 0.1, 1);
        o->strength = s->strength;
    }
    if (chance(s->rng, 0.2)) {
        ulna_test_reach_q(s->rng, s->model, s->posture);
        o->posture = s->posture;
    }
    if (chance(s->rng, 0.2) && ulna_model_body_count(s->model) > 2) {
        s->apart =
            (ulna_constraint){.type = ULNA_KEEP_DISTANCE, .body = ulna_model_body_count(s->model) - 1, .other = 1};
        s->apart.goal[0] = ulna_test_rng_uniform(s->rng, 0.1, 0.3);
        o->constraints = &s->apart;
        o->constraint_count = 1;
    }
    s->tip_count = 1 + ulna_test_rng_index(s->rng, TIPS);
    if (s->tip_count > ulna_model_body_count(s->model))
        s->tip_count = ulna_model_body_count(s->model);
    for (int i = 0; i < s->tip_count; i++)
        for (int tries = 0; !random_tip(s, &s->tip[i]);)
            if (++tries == 50) {
                s->tip_count = i;
                break;
            }
}

/* Goals of a configuration, of several, one for each tip, so that they may contradict each other, or out of reach. */
static void random_goals(scene *s, const double *seed, ulna_reach_goal *goals)
{
    double truth[ULNA_TEST_REACH_Q];
    int kind = ulna_test_rng_index(s->rng, 6);
    for (int i = 0; i < s->tip_count; i++) {
        ulna_reach_goal all[TIPS];
        if (i == 0 || kind == 0) {
            ulna_test_reach_q(s->rng, s->model, truth);
            for (int j = 0; j < s->nv; j++)
                if (s->locked[j])
                    truth[ulna_model_dof_coordinate(s->model, j)] = seed[ulna_model_dof_coordinate(s->model, j)];
            ulna_model_couple(s->model, truth);
        }
        ulna_test_reach_goals(&s->reach, truth, all);
        goals[i] = all[i];
        for (int k = 0; k < 3 && kind == 1; k++)
            goals[i].position[k] += ulna_test_rng_uniform(s->rng, -1, 1);
    }
}

static void near_goals(scene *s, double *truth, ulna_reach_goal *goals)
{
    double step[ULNA_TEST_REACH_Q], next[ULNA_TEST_REACH_Q];
    ulna_test_rng_fill(s->rng, step, s->nv, -0.1, 0.1);
    for (int j = 0; j < s->nv; j++)
        step[j] *= !s->locked[j];
    ulna_model_integrate(s->model, truth, step, next);
    ulna_model_couple(s->model, next);
    memcpy(truth, next, (size_t)s->nq * sizeof *truth);
    ulna_test_reach_goals(&s->reach, truth, goals);
}

static void attack_path(scene *s, const double *seed)
{
    double truth[ULNA_TEST_REACH_Q], q[ROWS * ULNA_TEST_REACH_Q], most[ULNA_TEST_REACH_Q];
    ulna_reach_goal goals[ROWS * TIPS];
    ulna_reach_result results[ROWS];
    int limited = chance(s->rng, 0.5), has_quaternions = 0, missed, expected = 0;
    memcpy(truth, seed, (size_t)s->nq * sizeof *truth);
    for (int i = 0; i < ROWS; i++)
        near_goals(s, truth, goals + i * s->tip_count);
    for (int j = 0; j < s->nv; j++) {
        most[j] = 0.2;
        has_quaternions |= ulna_model_dof_coordinate(s->model, j) < 0;
    }
    assert_int_equal(
        ulna_reach_path(s->reach.work, ROWS, goals, seed, limited ? most : NULL, q, results, NULL, &missed), ULNA_OK);
    for (int i = 0; i < ROWS; i++) {
        const double *from = i ? q + (i - 1) * s->nq : seed;
        check_answer(s, goals + i * s->tip_count, from, q + i * s->nq, &results[i], "path");
        expected += !results[i].reached;
        for (int c = 0; c < s->nq && limited && !has_quaternions; c++)
            if (fabs(q[i * s->nq + c] - from[c]) > 0.2 + 1e-9)
                fail_msg("path: coordinate %d moves by %g", c, fabs(q[i * s->nq + c] - from[c]));
    }
    assert_int_equal(missed, expected);
}

static void attack_many(scene *s, const double *seed)
{
    double seeds[ROWS * ULNA_TEST_REACH_Q], q[ROWS * ULNA_TEST_REACH_Q];
    ulna_reach_goal goals[ROWS * TIPS];
    ulna_reach_result results[ROWS];
    for (int i = 0; i < ROWS; i++) {
        memcpy(seeds + i * s->nq, seed, (size_t)s->nq * sizeof *seed);
        random_goals(s, seed, goals + i * s->tip_count);
    }
    assert_int_equal(ulna_reach_solve_many(&s->reach.work, 1, ROWS, goals, seeds, q, results, NULL), ULNA_OK);
    for (int i = 0; i < ROWS; i++)
        check_answer(s, goals + i * s->tip_count, seed, q + i * s->nq, &results[i], "many");
}

static void attack(scene *s)
{
    double seed[ULNA_TEST_REACH_Q], q[ROWS * ULNA_TEST_REACH_Q];
    ulna_reach_goal goals[TIPS];
    ulna_reach_result results[ROWS];
    int count;
    s->nq = ulna_model_coordinate_count(s->model);
    s->nv = ulna_model_dof_count(s->model);
    random_problem(s);
    if (s->tip_count == 0)
        return;
    s->reach = ulna_test_reach_make(s->model, s->tip_count, s->tip, &s->options);
    ulna_test_reach_q(s->rng, s->model, seed);
    ulna_model_couple(s->model, seed);
    for (int i = 0; i < 2; i++) {
        random_goals(s, seed, goals);
        assert_int_equal(ulna_reach_solve(s->reach.work, goals, seed, q, results), ULNA_OK);
        check_answer(s, goals, seed, q, results, "solve");
    }
    assert_int_equal(ulna_reach_all(s->reach.work, goals, seed, ROWS, q, results, &count), ULNA_OK);
    for (int i = 0; i < (count ? count : 1); i++) {
        if (results[i].reached != (count > 0))
            fail_msg("all: row %d of %d: reached is %d", i, count, results[i].reached);
        check_answer(s, goals, seed, q + i * s->nq, &results[i], "all");
        if (i && results[i].distance < results[i - 1].distance)
            fail_msg("all: row %d is nearer than the one before", i);
    }
    attack_path(s, seed);
    attack_many(s, seed);
    ulna_test_reach_release(&s->reach);
}

static void random_robots(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(28);
    scene s = {.rng = &rng};
    for (int i = 0; i < ROBOTS; i++) {
        s.model = random_robot(&rng);
        if (s.model && ulna_model_dof_count(s.model) > 0)
            attack(&s);
        ulna_model_destroy(s.model);
    }
    print_message("%d answers that reach, %d that do not\n", s.reached, s.missed);
    assert_true(s.reached > ROBOTS && s.missed > ROBOTS);
}

/* A file that has 1e16 or 1e300 for "no limit": nothing but the tip says what is reached, and what can be reached is. */
static void far_limits(void **state)
{
    (void)state;
    const double limits[] = {1e10, 1e16, 1e100, 1e200, 1e300, 1e300};
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int i = 0; i < 6; i++) {
        ulna_builder *builder = ulna_test_builder();
        int base = ulna_test_add(builder, "base", ULNA_NONE), slide = ulna_test_add(builder, "slide", base),
            turn = ulna_test_add(builder, "turn", slide), tip = ulna_test_add(builder, "tip", turn);
        ulna_test_set_joint(builder, slide, ulna_joint_prismatic(1, 0, 0));
        ulna_test_set_joint(builder, turn, ulna_joint_revolute(0, 0, 1));
        assert_int_equal(ulna_builder_set_limits(builder, slide, 0, -limits[i], limits[i], NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_placement(builder, tip, (double[3]){1, 0, 0}, identity, NULL), ULNA_OK);
        if (i % 2) { /* a joint that follows has the limits, too */
            ulna_test_set_joint(builder, tip, ulna_joint_revolute(1, 0, 0));
            assert_int_equal(ulna_builder_couple(builder, tip, 0, slide, 0, -1, 0, NULL), ULNA_OK);
        }
        scene s = {.model = ulna_test_build(builder), .tip_count = 1};
        ulna_builder_destroy(builder);
        s.nq = s.nv = ulna_model_dof_count(s.model);
        s.tip[0] = ulna_reach_tip_default(tip);
        for (int k = 3; k < 6; k++)
            s.tip[0].weight[k] = 0;
        s.options = ulna_reach_options_default();
        s.reach = ulna_test_reach_make(s.model, 1, s.tip, &s.options);
        const double seed[3] = {0};
        double q[3];
        for (int above = 0; above < 2; above++) {
            ulna_reach_goal goal = {.position = {0.3, 0.4, above}, .rotation = {0, 0, 0, 1}};
            ulna_reach_result result;
            assert_int_equal(ulna_reach_solve(s.reach.work, &goal, seed, q, &result), ULNA_OK);
            check_answer(&s, &goal, seed, q, &result, "solve");
            assert_int_equal(result.reached, !above);
        }
        ulna_test_reach_release(&s.reach);
        ulna_model_destroy(s.model);
    }
}

static void built_in_human(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(29);
    scene s = {.rng = &rng};
    assert_int_equal(ulna_sample_create("human", NULL, &s.model, NULL), ULNA_OK);
    for (int i = 0; i < FROM_SAMPLE; i++)
        attack(&s);
    ulna_model_destroy(s.model);
}

static void recorded_robots(void **state)
{
    (void)state;
    static const char *const files[] = {"panda.urdf", "unitree_g1_29dof.urdf", "nao.urdf", "allegro_right_hand.urdf",
                                        "stretch_SE3.urdf"};
    ulna_test_rng rng = ulna_test_rng_seed(30);
    scene s = {.rng = &rng};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char folder[512], path[600];
        ulna_test_path(folder, sizeof folder, ulna_test_data_dir(), "urdf");
        assert_int_equal(ulna_model_load(ulna_test_path(path, sizeof path, folder, files[k]), NULL, &s.model, NULL),
                         ULNA_OK);
        for (int i = 0; i < FROM_DATA; i++)
            attack(&s);
        ulna_model_destroy(s.model);
    }
}

/* Solvers keep limits and mimics, so that no answer shows whether the judge would notice. */
static void beyond_limits_is_not_allowed(void **state)
{
    (void)state;
    ulna_builder *builder = ulna_test_builder();
    for (int b = 0; b < 3; b++) {
        ulna_test_add(builder, b == 0 ? "base" : b == 1 ? "leader" : "follower", b - 1);
        if (b > 0)
            ulna_test_set_joint(builder, b, ulna_joint_revolute(0, 0, 1));
    }
    assert_int_equal(ulna_builder_set_limits(builder, 1, 0, -1, 2, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_couple(builder, 2, 0, 1, 0, 0.5, 0.1, NULL), ULNA_OK);
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    const ulna_reach_tip tip = ulna_reach_tip_default(2);
    ulna_reach *reach;
    assert_int_equal(ulna_reach_create(model, 1, &tip, NULL, NULL, &reach, NULL), ULNA_OK);
    static const struct {
        double leader, off; /* of the follower, from where its leader has it */
        int allowed, at_limits;
    } cases[] = {{0, 0, 1, 0},     {2, 0, 1, 1},       {-1, 0, 1, 1},     {2 + 1e-12, 0, 0, 1},
                 {-1.01, 0, 0, 1}, {0.5, 1e-10, 1, 0}, {0.5, 1e-6, 0, 0}, {0.5, -1e-6, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double q[2] = {cases[i].leader, 0.5 * cases[i].leader + 0.1 + cases[i].off};
        int at_limits;
        assert_int_equal(ulna_reach_allows(reach, q, &at_limits), cases[i].allowed);
        assert_int_equal(at_limits > 0, cases[i].at_limits);
    }
    ulna_reach_destroy(reach);
    ulna_model_destroy(model);
}

/* A body behind `parent`, 1 m along its x, that turns about z. */
static int add_link(ulna_builder *builder, const char *name, int parent)
{
    const int body = ulna_test_add(builder, name, parent);
    assert_int_equal(
        ulna_builder_set_placement(builder, body, (double[3]){1, 0, 0}, (double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, NULL),
        ULNA_OK);
    ulna_test_set_joint(builder, body, ulna_joint_revolute(0, 0, 1));
    return body;
}

/* A place in the plane. */
static ulna_reach_tip place_of(int body, int relative_to)
{
    ulna_reach_tip tip = ulna_reach_tip_default(body);
    tip.relative_to = relative_to;
    tip.point[0] = 1;
    for (int k = 2; k < 6; k++)
        tip.weight[k] = 0;
    return tip;
}

/* The trunk moves one arm to its goal, and is on the way to the other tip, whose goal goes along. */
static void parts_leave_joints_of_others(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(31);
    ulna_builder *builder = ulna_test_builder();
    const int trunk = add_link(builder, "trunk", ulna_test_add(builder, "base", ULNA_NONE));
    const int left = add_link(builder, "left hand", add_link(builder, "left arm", trunk));
    const int right = add_link(builder, "right hand", add_link(builder, "right arm", trunk));
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    for (int order = 0; order < 2; order++) {
        ulna_reach_tip tips[2];
        tips[order] = place_of(left, ULNA_NONE);
        tips[!order] = place_of(right, trunk);
        ulna_test_reach r = ulna_test_reach_make(model, 2, tips, NULL);
        for (int i = 0; i < 20; i++) {
            double seed[5], truth[5], q[5];
            ulna_reach_goal goals[2];
            ulna_reach_result result;
            ulna_test_reach_q(&rng, model, seed);
            ulna_test_reach_q(&rng, model, truth);
            ulna_test_reach_goals(&r, truth, goals);
            assert_int_equal(ulna_reach_solve(r.work, goals, seed, q, &result), ULNA_OK);
            assert_true(result.reached);
        }
        ulna_test_reach_release(&r);
    }
    ulna_model_destroy(model);
}

/* The elbow takes a gripper along that is on the way to no tip: bending the other way is nearer for the arm, and farther in all. */
static void followers_count_in_the_distance(void **state)
{
    (void)state;
    static const double seed[3] = {0.7, 0.1, 0}, multipliers[] = {0.1, 3};
    for (int i = 0; i < 2; i++) {
        ulna_builder *builder = ulna_test_builder();
        const int base = ulna_test_add(builder, "base", ULNA_NONE), shoulder = add_link(builder, "shoulder", base);
        const int elbow = add_link(builder, "elbow", shoulder), gripper = add_link(builder, "gripper", elbow);
        assert_int_equal(ulna_builder_couple(builder, gripper, 0, elbow, 0, multipliers[i], 0, NULL), ULNA_OK);
        ulna_model *model = ulna_test_build(builder);
        ulna_builder_destroy(builder);
        const ulna_reach_tip tip = place_of(elbow, ULNA_NONE);
        ulna_reach_options options = ulna_reach_options_default();
        options.mode = ULNA_REACH_NEAREST;
        ulna_test_reach r = ulna_test_reach_make(model, 1, &tip, &options);
        ulna_reach_goal goal = {.rotation = {0, 0, 0, 1}};
        ulna_reach_result result;
        double q[3];
        goal.position[0] = 1 + 2 * cos(0.5); /* the elbow is bent by 1 radian, to either side */
        assert_int_equal(ulna_reach_solve(r.work, &goal, seed, q, &result), ULNA_OK);
        assert_true(result.reached);
        assert_true(fabs(q[1] - (i == 0 ? -1 : 1)) < 1e-5);
        ulna_test_reach_release(&r);
        ulna_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beyond_limits_is_not_allowed),
        cmocka_unit_test(parts_leave_joints_of_others),
        cmocka_unit_test(followers_count_in_the_distance),
        cmocka_unit_test(random_robots),
        cmocka_unit_test(far_limits),
        cmocka_unit_test(built_in_human),
        ulna_test_needs("urdf", cmocka_unit_test(recorded_robots)),
    };
    return cmocka_run_group_tests_name("reach_claims", tests, NULL, NULL);
}
