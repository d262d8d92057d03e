/* Couplings (mimic joints): chains, limits, files, forward kinematics, Jacobians, re-rooting and solving, against plain
 * references: frames by composition at the completed q, differences, and gradient-free search in the reduced coordinates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"
#include "math/math3.h"
#include "support_model.h"
#include "support_tree.h"
#include "ulna/constraint.h"
#include "ulna/formats.h"
#include "ulna/global.h"
#include "ulna/solve.h"

#define COUPLED_ROUNDS 150

/* A random tree, some of whose DOFs follow others; about one in three. `joints` as in ulna_test_tree_options, 0: all. */
static ulna_model *random_coupled(ulna_test_rng *rng, double limits, unsigned joints)
{
    ulna_test_tree_options options = ulna_test_tree_options_default();
    options.min_bodies = 3;
    options.max_bodies = 12;
    options.limits = limits;
    options.joints = joints ? joints : options.joints;
    ulna_model *plain = ulna_test_random_tree(rng, &options), *model = NULL;
    ulna_builder *builder;
    assert_int_equal(ulna_builder_from_model(plain, NULL, &builder, NULL), ULNA_OK);
    for (int d = 1; d < plain->nv; d++) { /* a master comes before its followers, so that there are no cycles */
        int master = ulna_test_rng_index(rng, d), body = plain->dof_body[d], above = plain->dof_body[master];
        if (plain->dof_coordinate[d] < 0 || plain->dof_coordinate[master] < 0 || ulna_test_rng_index(rng, 3))
            continue;
        double multiplier = ulna_test_rng_uniform(rng, -1.5, 1.5), offset = ulna_test_rng_uniform(rng, -0.2, 0.2);
        assert_int_equal(ulna_builder_couple(builder, body, d - plain->body[body].dof, above,
                                             master - plain->body[above].dof, multiplier, limits > 0 ? 0 : offset,
                                             NULL),
                         ULNA_OK);
    }
    ulna_error error;
    if (ulna_builder_build(builder, NULL, &model, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    ulna_builder_destroy(builder);
    ulna_model_destroy(plain);
    return model;
}

/* hinge a at the root, b = 2 a + 0.1 on it, c = -0.5 b + 0.3 on that */
static ulna_builder *three_hinges(void)
{
    ulna_builder *b = ulna_test_builder();
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        ulna_test_add(b, names[i], i - 1);
        ulna_test_set_joint(b, i, ulna_joint_revolute(0, 0, 1));
        assert_int_equal(ulna_builder_set_placement(b, i, (double[]){0.3, 0, 0}, NULL, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_couple(b, 1, 0, 0, 0, 2, 0.1, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_couple(b, 2, 0, 1, 0, -0.5, 0.3, NULL), ULNA_OK);
    return b;
}

static void chains_end_at_the_first_master(void **state)
{
    (void)state;
    ulna_builder *b = three_hinges();
    ulna_model *m = ulna_test_build(b);
    int count;
    const ulna_coupling *c = ulna_model_couplings(m, &count);
    assert_int_equal(count, 2);
    assert_int_equal(c[0].dof, 1);
    assert_int_equal(c[0].master, 0);
    assert_true(c[0].multiplier == 2 && c[0].offset == 0.1);
    assert_int_equal(c[1].dof, 2);
    assert_int_equal(c[1].master, 0);
    assert_true(c[1].multiplier == -1 && fabs(c[1].offset - 0.25) < 1e-15);
    double q[3] = {0.7, 9, 9};
    ulna_model_couple(m, q);
    assert_true(fabs(q[1] - 1.5) < 1e-15 && fabs(q[2] + 0.45) < 1e-15);
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

static void a_long_chain_costs_no_more_than_its_length(void **state)
{
    (void)state;
    enum { MANY = 20000 }; /* backwards, so that each one asks for all that come after it */
    ulna_builder *b = ulna_test_builder();
    for (int i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        ulna_test_add(b, name, i > 0 ? 0 : ULNA_NONE);
        ulna_test_set_joint(b, i, ulna_joint_revolute(1, 0, 0));
    }
    for (int i = 0; i + 1 < MANY; i++)
        assert_int_equal(ulna_builder_couple(b, i, 0, i + 1, 0, -1, 0, NULL), ULNA_OK);
    ulna_model *m = ulna_test_build(b);
    int count;
    const ulna_coupling *c = ulna_model_couplings(m, &count);
    assert_int_equal(count, MANY - 1);
    for (int i = 0; i < count; i++)
        assert_true(c[i].master == MANY - 1 && c[i].multiplier == ((MANY - 1 - i) % 2 ? -1 : 1));
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

static void limits_of_followers_limit_the_master(void **state)
{
    (void)state;
    ulna_builder *b = three_hinges();
    assert_int_equal(ulna_builder_set_limits(b, 0, 0, -3, 3, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_limits(b, 1, 0, -1.9, 4.1, NULL), ULNA_OK); /* a in -1 .. 2 */
    assert_int_equal(ulna_builder_set_limits(b, 2, 0, -1.25, 5, NULL), ULNA_OK);  /* a <= 1.5 */
    ulna_model *m = ulna_test_build(b);
    double low[] = {-1, -1.9, -1.25}, high[] = {1.5, 3.1, 1.25};
    assert_true(ulna_test_difference(m->lower, low, 3) < 1e-14 && ulna_test_difference(m->upper, high, 3) < 1e-14);
    double q[3] = {7, 0, 0};
    assert_int_equal(ulna_model_clamp(m, q), 1);
    assert_true(q[0] == m->upper[0] && q[1] == m->upper[1] && q[2] == m->lower[2]); /* to the bit */
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    ulna_error error;
    ulna_model *m;
    ulna_builder *b = three_hinges();
    assert_says(ulna_builder_couple(b, 0, 1, 1, 0, 1, 0, &error), ULNA_ERR_ARGUMENT, "degrees of freedom");
    assert_says(ulna_builder_couple(b, 0, 0, 7, 0, 1, 0, &error), ULNA_ERR_ARGUMENT, "body 7");
    assert_says(ulna_builder_couple(b, 0, 0, 1, 0, (double)NAN, 0, &error), ULNA_ERR_NUMBER, "\"a\"", "finite");
    assert_int_equal(ulna_builder_couple(b, 0, 0, 2, 0, 1, 0, NULL), ULNA_OK); /* a -> c -> b -> a */
    assert_says(ulna_builder_build(b, NULL, &m, &error), ULNA_ERR_MODEL, "cycle");
    assert_int_equal(ulna_builder_couple(b, 0, 0, 0, 0, 1, 0, NULL), ULNA_OK); /* itself */
    assert_says(ulna_builder_build(b, NULL, &m, &error), ULNA_ERR_MODEL, "\"a\"", "cycle");
    assert_int_equal(ulna_builder_couple(b, 0, 0, ULNA_NONE, 0, 0, 0, NULL), ULNA_OK); /* none */

    assert_int_equal(ulna_builder_set_limits(b, 0, 0, -1, 1, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_limits(b, 1, 0, 5, 6, NULL), ULNA_OK);
    assert_says(ulna_builder_build(b, NULL, &m, &error), ULNA_ERR_MODEL, "\"b\"", "\"a\"", "limits");
    assert_int_equal(ulna_builder_couple(b, 1, 0, 0, 0, 0, 2, NULL), ULNA_OK); /* a constant outside the limits */
    assert_says(ulna_builder_build(b, NULL, &m, &error), ULNA_ERR_MODEL, "\"b\"", "limits");

    ulna_test_set_joint(b, 0, ulna_joint_ball());
    assert_says(ulna_builder_build(b, NULL, &m, &error), ULNA_ERR_MODEL, "coordinate");
    assert_says(ulna_builder_couple(b, 2, 0, 0, 1, 1, 0, &error), ULNA_ERR_UNSUPPORTED, "quaternion");
    ulna_builder_destroy(b);
}

static void joints_have_names(void **state)
{
    (void)state;
    ulna_error error;
    ulna_model *m;
    ulna_builder *b = three_hinges();
    char label[64];
    assert_int_equal(ulna_builder_set_joint_name(b, 1, "elbow", NULL), ULNA_OK);
    m = ulna_test_build(b);
    assert_string_equal(ulna_model_joint_name(m, 1), "elbow");
    assert_string_equal(ulna_model_joint_name(m, 2), "c");
    assert_int_equal(ulna_model_find_joint(m, "elbow"), 1);
    assert_int_equal(ulna_model_find_joint(m, "b"), ULNA_NONE);
    assert_int_equal(ulna_model_find_joint(m, "c"), 2);
    ulna_model_dof_label(m, 1, label, sizeof label);
    assert_string_equal(label, "elbow");
    ulna_model_destroy(m);
    assert_int_equal(ulna_builder_set_joint_name(b, 1, "c", NULL), ULNA_OK);
    assert_says(ulna_builder_build(b, NULL, &m, &error), ULNA_ERR_MODEL, "two joints are called \"c\"", "\"b\"");
    assert_int_equal(ulna_builder_set_joint_name(b, 1, "", NULL), ULNA_OK);
    m = ulna_test_build(b);
    assert_string_equal(ulna_model_joint_name(m, 1), "b");
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

/* Written, read and written again: the same bytes, and the same couplings. */
static void files_keep_couplings_and_names(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(11);
    for (int round = 0; round < COUPLED_ROUNDS; round++) {
        ulna_model *m = random_coupled(&rng, round % 2 ? 0.6 : 0, 0), *again;
        ulna_text first = ulna_text_empty(NULL), second = ulna_text_empty(NULL);
        ulna_sink to_first = ulna_text_sink(&first), to_second = ulna_text_sink(&second);
        ulna_error error;
        assert_int_equal(ulna_model_write_json(m, &to_first, NULL), ULNA_OK);
        if (ulna_model_read(first.data, first.length, NULL, &again, &error) != ULNA_OK)
            fail_msg("line %d: %s", error.line, error.message);
        assert_int_equal(again->nc, m->nc);
        assert_memory_equal(again->coupling, m->coupling, (size_t)m->nc * sizeof *m->coupling);
        assert_int_equal(ulna_model_write_json(again, &to_second, NULL), ULNA_OK);
        assert_string_equal(first.data, second.data);
        ulna_text_release(&first);
        ulna_text_release(&second);
        ulna_model_destroy(again);
        ulna_model_destroy(m);
    }
    ulna_builder *b = three_hinges();
    assert_int_equal(ulna_builder_set_joint_name(b, 1, "el\"bow", NULL), ULNA_OK);
    ulna_model *m = ulna_test_build(b), *again;
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    assert_int_equal(ulna_model_write_json(m, &sink, NULL), ULNA_OK);
    assert_int_equal(ulna_model_read(text.data, text.length, NULL, &again, NULL), ULNA_OK);
    assert_string_equal(ulna_model_joint_name(again, 1), "el\"bow");
    ulna_text_release(&text);
    ulna_model_destroy(again);
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

static void files_with_wrong_couplings_name_the_line(void **state)
{
    (void)state;
    static const char head[] =
        "{\"format\": \"ulna-model\", \"version\": 1, \"bodies\": [\n"
        "{\"name\": \"a\", \"joint\": {\"type\": \"revolute\", \"axis\": [1, 0, 0]}},\n"
        "{\"name\": \"b\", \"parent\": \"a\", \"joint\": {\"type\": \"revolute\", \"axis\": [1, 0, 0]}}],\n"
        "\"couplings\": [\n";
    static const struct {
        const char *line, *word;
    } cases[] = {
        {"{\"body\": \"b\"}]}", "master"},
        {"{\"body\": \"x\", \"master\": \"a\"}]}", "no body \"x\""},
        {"{\"body\": \"b\", \"master\": \"a\", \"dof\": 1.5}]}", "whole number"},
        {"{\"body\": \"b\", \"master\": \"a\", \"dof\": 1}]}", "degrees of freedom"},
        {"{\"body\": \"b\", \"master\": \"a\", \"gear\": 1}]}", "gear"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        ulna_error error;
        ulna_model *m;
        int length = snprintf(text, sizeof text, "%s%s", head, cases[i].line);
        assert_int_not_equal(ulna_model_read(text, (size_t)length, NULL, &m, &error), ULNA_OK);
        assert_int_equal(error.line, 5);
        if (!strstr(error.message, cases[i].word))
            fail_msg("\"%s\" does not say \"%s\"", error.message, cases[i].word);
    }
}

/* Forward kinematics goes by the masters, whatever stands in the other places; the Jacobian is its derivative. */
static void forward_and_jacobian_go_by_the_masters(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(12);
    const double h = 1e-6;
    for (int round = 0; round < COUPLED_ROUNDS; round++) {
        ulna_model *m = random_coupled(&rng, 0, 0);
        double *q = ulna_test_random_q(&rng, m), *full = malloc(((size_t)m->nq + 1) * sizeof *full);
        memcpy(full, q, (size_t)m->nq * sizeof *q);
        ulna_model_couple(m, full);
        ulna_test_frame *frames = ulna_test_frames(m, full);
        ulna_pose *pose;
        assert_int_equal(ulna_pose_create(m, NULL, &pose, NULL), ULNA_OK);
        assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
        for (int b = 0; b < m->nb; b++) {
            ulna_test_frame at;
            ulna_pose_body(pose, b, at.t, at.r);
            assert_true(ulna_test_frame_difference(&at, &frames[b]) < 1e-12);
        }

        ulna_effector tip = {.body = m->nb - 1, .point = {0.1, -0.2, 0.3}};
        ulna_jacobian_options options = ulna_jacobian_options_default();
        double *jacobian = malloc((6 * (size_t)m->nv + 6) * sizeof *jacobian);
        double *step = calloc((size_t)m->nv + 1, sizeof *step);
        assert_int_equal(ulna_pose_jacobian(pose, &options, 1, &tip, jacobian), ULNA_OK);
        for (int d = 0; d < m->nv; d++) {
            double ahead[3], behind[3];
            step[d] = h;
            ulna_model_integrate(m, q, step, full);
            ulna_pose_forward(pose, full);
            ulna_pose_point(pose, tip.body, tip.point, ahead);
            step[d] = -h;
            ulna_model_integrate(m, q, step, full);
            ulna_pose_forward(pose, full);
            ulna_pose_point(pose, tip.body, tip.point, behind);
            step[d] = 0;
            for (int i = 0; i < 3; i++)
                assert_true(fabs((ahead[i] - behind[i]) / (2 * h) - jacobian[6 * d + i]) < 1e-6);
        }

        /* one column alone, scaled, is that column */
        if (m->nv > 0) {
            double alone[6], *scale = malloc((size_t)m->nv * sizeof *scale);
            int column = ulna_test_rng_index(&rng, m->nv);
            for (int d = 0; d < m->nv; d++)
                scale[d] = 1 + d;
            options.columns = &column;
            options.column_count = 1;
            options.scale = scale;
            ulna_pose_forward(pose, q);
            assert_int_equal(ulna_pose_jacobian(pose, &options, 1, &tip, alone), ULNA_OK);
            for (int i = 0; i < 6; i++)
                assert_true(fabs(alone[i] - (1 + column) * jacobian[6 * column + i]) <= 1e-12 * (1 + fabs(alone[i])));
            free(scale);
        }
        free(step);
        free(jacobian);
        free(frames);
        free(full);
        free(q);
        ulna_pose_destroy(pose);
        ulna_model_destroy(m);
    }
}

/* The same poses from another root: couplings move with their joints. These joints have one q for each motion, up to whole
 * turns, and small q are the nearest to rest. */
static void rerooting_keeps_couplings(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(13);
    const unsigned one_way =
        1u << ULNA_JOINT_REVOLUTE | 1u << ULNA_JOINT_PRISMATIC | 1u << ULNA_JOINT_PLANAR | 1u << ULNA_JOINT_FIXED;
    int moved = 0;
    for (int round = 0; round < 2 * COUPLED_ROUNDS; round++) {
        ulna_model *m = random_coupled(&rng, 0, one_way), *other;
        int root = ulna_test_rng_index(&rng, m->nb), on_root = 0;
        for (int i = 0; i < m->nc; i++)
            on_root |= m->dof_body[m->coupling[i].dof] == 0 || m->dof_body[m->coupling[i].master] == 0;
        ulna_error error;
        ulna_status status = ulna_model_reroot(m, root, NULL, &other, &error);
        if (on_root && root) {
            assert_int_equal(status, ULNA_ERR_UNSUPPORTED);
            assert_non_null(strstr(error.message, "root"));
        } else {
            assert_int_equal(status, ULNA_OK);
            assert_int_equal(other->nc, m->nc);
            ulna_pose *from, *to;
            double *q = ulna_test_random_q(&rng, m), *p = malloc(((size_t)other->nq + 1) * sizeof *p), left = 1;
            for (int i = 0; i < m->nq; i++)
                q[i] = m->rest[i] + 0.3 * q[i];
            ulna_pose_create(m, NULL, &from, NULL);
            ulna_pose_create(other, NULL, &to, NULL);
            assert_int_equal(ulna_pose_forward(from, q), ULNA_OK);
            assert_int_equal(ulna_pose_transfer(from, to, p, &left), ULNA_OK); /* to_pose stands at the completed p */
            assert_true(left < 1e-7);
            for (int b = 0; b < m->nb; b++) {
                ulna_test_frame a, c;
                ulna_pose_body(from, b, a.t, a.r);
                ulna_pose_body(to, ulna_model_find_body(other, ulna_model_body_name(m, b)), c.t, c.r);
                assert_true(ulna_test_frame_difference(&a, &c) < 1e-7);
            }
            moved += root && m->nc;
            free(p);
            free(q);
            ulna_pose_destroy(to);
            ulna_pose_destroy(from);
            ulna_model_destroy(other);
        }
        ulna_model_destroy(m);
    }
    assert_true(moved > 20);
}

/* ---- solving ------------------------------------------------------------------------------------------------------- */

/* ½ |goal - point|² of the completed q: the objective in the reduced coordinates. */
static double cost(ulna_pose *pose, const double *q, int body, const double goal[3])
{
    double at[3];
    ulna_pose_forward(pose, q);
    ulna_pose_body(pose, body, at, NULL);
    return 0.5 * ulna_squared_distance(at, goal, 3);
}

/* A finger of three hinges on a slide, whose joints follow each other, reaches for points: as good as the best of a fine
 * search over the two free coordinates, inside the limits, and coupled to the bit. */
static void solved_as_well_as_by_search(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(14);
    ulna_builder *b = ulna_test_builder();
    ulna_test_add(b, "rail", ULNA_NONE);
    ulna_test_set_joint(b, 0, ulna_joint_prismatic(1, 0, 0));
    ulna_builder_set_limits(b, 0, 0, -0.3, 0.3, NULL);
    static const char *const names[] = {"", "near", "middle", "far"};
    for (int i = 1; i < 4; i++) {
        ulna_test_add(b, names[i], i - 1);
        ulna_test_set_joint(b, i, ulna_joint_revolute(0, 0, 1));
        ulna_builder_set_placement(b, i, (double[]){i > 1 ? 0.2 : 0, 0, 0}, NULL, NULL);
        ulna_builder_set_limits(b, i, 0, -1.2, 1.6, NULL);
    }
    int tip = ulna_test_add(b, "tip", 3);
    ulna_builder_set_placement(b, tip, (double[]){0.2, 0, 0}, NULL, NULL);
    ulna_builder_couple(b, 2, 0, 1, 0, 0.8, 0.1, NULL);
    ulna_builder_couple(b, 3, 0, 2, 0, -0.6, 0, NULL);
    ulna_model *m = ulna_test_build(b);
    ulna_pose *pose;
    ulna_pose_create(m, NULL, &pose, NULL);

    ulna_problem *problem;
    ulna_solver *solver;
    ulna_error error;
    int term;
    assert_int_equal(ulna_problem_create(m, NULL, &problem, &error), ULNA_OK);
    assert_int_equal(ulna_problem_constraint_count(problem), 2);
    assert_int_equal(ulna_problem_switch_constraint(problem, 0, 0), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_set_constraint_goal(problem, 1, (double[]){1}), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_add_point(problem, tip, NULL, (double[]){0, 0, 0}, 1, &term, &error), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, &error), ULNA_OK);
    ulna_options options = ulna_options_default();
    options.restarts = 8;
    assert_int_equal(ulna_solver_create(problem, &options, NULL, &solver, &error), ULNA_OK);
    ulna_global *global;
    int met = 0, unreachable = 0;
    assert_int_equal(ulna_global_create(problem, NULL, NULL, &global, &error), ULNA_OK);

    for (int round = 0; round < 200; round++) {
        double goal[3] = {ulna_test_rng_uniform(&rng, -0.9, 0.9), ulna_test_rng_uniform(&rng, -0.6, 0.6), 0};
        double q[4] = {0.1, 0.5, -3, 3}, best = (double)INFINITY;
        ulna_result result;
        assert_int_equal(ulna_problem_set_goal(problem, term, goal), ULNA_OK);
        assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
        double completed[4];
        memcpy(completed, q, sizeof q);
        ulna_model_couple(m, completed);
        assert_memory_equal(completed, q, sizeof q);
        for (int d = 0; d < 4; d++)
            assert_true(q[d] >= m->lower[d] - 1e-9 && q[d] <= m->upper[d] + 1e-9);
        double found = cost(pose, q, tip, goal);
        if (!(fabs(found - result.f) <
              1e-15)) /* of the q that comes back, not of one that keeps the couplings to a tolerance */
            fail_msg("f is %.17g, and %.17g at q", result.f, found);
        for (int i = 0; i <= 400; i++) { /* for each angle the best slide has a closed form: the tip moves with it */
            double try[4] = {0, m->lower[1] + (m->upper[1] - m->lower[1]) * i / 400, 0, 0}, at[3];
            ulna_pose_forward(pose, try);
            ulna_pose_body(pose, tip, at, NULL);
            try[0] = fmin(fmax(goal[0] - at[0], m->lower[0]), m->upper[0]);
            best = fmin(best, cost(pose, try, tip, goal));
        }
        if (!(found < best + 1e-9))
            fail_msg("round %d: cost %g, by search %g", round, found, best);

        /* A global solve is as good, keeps the couplings, and no bound is above what the search found. */
        ulna_global_result proof;
        memcpy(q, (double[]){0.1, 0.5, -3, 3}, sizeof q);
        assert_int_equal(ulna_global_solve(global, q, &proof, &error), ULNA_OK);
        memcpy(completed, q, sizeof q);
        ulna_model_couple(m, completed);
        assert_memory_equal(completed, q, sizeof q);
        assert_true(fabs(cost(pose, q, tip, goal) - proof.f) < 1e-15 && proof.f < best + 1e-9);
        assert_true(proof.bound <= best + 1e-12 && !proof.contradicted);
        assert_true(!proof.proven || proof.f - best < 1e-3 * best + 1e-9);
        met += proof.proven && !proof.unreachable;
        unreachable += proof.unreachable;
    }
    assert_true(met > 20 && unreachable > 20);
    ulna_global_destroy(global);
    ulna_solver_destroy(solver);

    /* locked: what moves with it stands still, too */
    unsigned char locked[4] = {0, 0, 1, 0};
    options.locked = locked;
    assert_int_equal(ulna_solver_create(problem, &options, NULL, &solver, &error), ULNA_OK);
    double q[4] = {0.1, 0.5, 0.5, -0.3};
    assert_int_equal(ulna_problem_set_goal(problem, term, (double[]){0.3, 0.2, 0}), ULNA_OK);
    assert_int_equal(ulna_solve(solver, q, NULL), ULNA_OK);
    assert_true(q[1] == 0.5 && q[2] == 0.8 * 0.5 + 0.1 && q[0] != 0.1);
    ulna_solver_destroy(solver);

    options = ulna_options_default();
    options.method = "lbfgs";
    assert_says(ulna_solver_create(problem, &options, NULL, &solver, &error), ULNA_ERR_UNSUPPORTED, "lbfgs",
                "couplings");
    ulna_problem_destroy(problem);
    ulna_pose_destroy(pose);
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

/* A locked joint is brought to its limit by every start; the bound of a global solve is for the same pose. */
static void bounds_know_where_locked_joints_are(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(31);
    ulna_builder *b = ulna_test_builder();
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"a", "b", "c"};
        ulna_test_add(b, names[i], i - 1);
        ulna_test_set_joint(b, i, ulna_joint_revolute(0, i == 2, i != 2));
        assert_int_equal(ulna_builder_set_placement(b, i, (double[]){i ? 0.3 : 0, 0, 0}, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_limits(b, i, 0, -0.8, 0.8, NULL), ULNA_OK);
    }
    int term, tip = ulna_test_add(b, "tip", 2);
    assert_int_equal(ulna_builder_set_placement(b, tip, (double[]){0.3, 0, 0}, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_couple(b, 1, 0, 0, 0, 0.7, 0.1, NULL), ULNA_OK);
    ulna_model *m = ulna_test_build(b);
    ulna_problem *problem;
    ulna_global *global;
    ulna_error error;
    unsigned char locked[3] = {1, 0, 0};
    ulna_global_options options = ulna_global_options_default();
    options.local.bounded = 1;
    options.local.locked = locked;
    assert_int_equal(ulna_problem_create(m, NULL, &problem, &error), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(problem, tip, NULL, (double[]){0, 0, 0}, 1, &term, &error), ULNA_OK);
    assert_int_equal(ulna_problem_ready(problem, &error), ULNA_OK);
    assert_int_equal(ulna_global_create(problem, &options, NULL, &global, &error), ULNA_OK);
    for (int round = 0; round < 100; round++) {
        ulna_global_result r[2];
        double goal[3], at = ulna_test_rng_uniform(&rng, -3, 3);
        for (int k = 0; k < 3; k++)
            goal[k] = ulna_test_rng_uniform(&rng, -0.9, 0.9);
        assert_int_equal(ulna_problem_set_goal(problem, term, goal), ULNA_OK);
        for (int is_inside = 0; is_inside < 2; is_inside++) {
            double q[3] = {is_inside ? fmax(-0.8, fmin(0.8, at)) : at, 0, 0};
            assert_int_equal(ulna_global_solve(global, q, &r[is_inside], &error), ULNA_OK);
        }
        assert_true(!r[0].contradicted && r[0].bound <= r[1].f + 1e-12 && fabs(r[0].f - r[1].f) < 1e-9);
    }
    ulna_global_destroy(global);
    ulna_problem_destroy(problem);
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_builder *b = three_hinges(), *copy = NULL;
        ulna_model *plain = ulna_test_build(b), *m = NULL;
        ulna_problem *problem = NULL;
        ulna_status status = ulna_builder_from_model(plain, &allocator, &copy, NULL);
        if (status == ULNA_OK)
            status = ulna_builder_set_joint_name(copy, 0, "a joint with a long name, to make the text grow", NULL);
        if (status == ULNA_OK)
            status = ulna_builder_build(copy, &allocator, &m, NULL);
        if (status == ULNA_OK)
            status = ulna_problem_create(m, &allocator, &problem, NULL);
        ulna_problem_destroy(problem);
        ulna_model_destroy(m);
        ulna_builder_destroy(copy);
        ulna_test_memory_check(&memory);
        ulna_model_destroy(plain);
        ulna_builder_destroy(b);
        if (!memory.failed)
            break;
        assert_int_equal(status, ULNA_ERR_MEMORY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_end_at_the_first_master),
        cmocka_unit_test(a_long_chain_costs_no_more_than_its_length),
        cmocka_unit_test(limits_of_followers_limit_the_master),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(joints_have_names),
        cmocka_unit_test(files_keep_couplings_and_names),
        cmocka_unit_test(files_with_wrong_couplings_name_the_line),
        cmocka_unit_test(forward_and_jacobian_go_by_the_masters),
        cmocka_unit_test(rerooting_keeps_couplings),
        cmocka_unit_test(solved_as_well_as_by_search),
        cmocka_unit_test(bounds_know_where_locked_joints_are),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
