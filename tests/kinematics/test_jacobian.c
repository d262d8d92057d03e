/*
 * Jacobians, their options and rates, the adjoint blocks and the product of exponentials.
 *
 * The chain of trust: forward kinematics, differentiated here, holds the simple route; the simple route holds all
 * others on thousands of random trees; the options are held against a picking of columns and rows written here again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "papers/papers.h"
#include "support_tree.h"

enum { TREES = 2000, MAX_EFFECTORS = 4 };

static void rotate(const double r[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = r[3 * i] * x[0] + r[3 * i + 1] * x[1] + r[3 * i + 2] * x[2];
}

static void unrotate(const double r[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = r[i] * x[0] + r[3 + i] * x[1] + r[6 + i] * x[2];
}

static const char *const route_names[ULNA_JACOBIAN_ROUTE_COUNT] = {
    "simple", "generic", "adjusted", "twists", "differences",
};

static double route_tolerance(int route)
{
    return route == ULNA_JACOBIAN_DIFFERENCES ? 1e-8 : 1e-12;
}

/* ---- The simple route against differences of forward kinematics ---- */

static void difference_column(ulna_test_scene *s, const ulna_effector *e, int dof, double column[6])
{
    const double h = 1e-5;
    double *step = ulna_test_numbers(s->nv), *q = ulna_test_numbers(s->nq), p[2][3], r[2][9];
    for (int side = 0; side < 2; side++) {
        step[dof] = side ? -h : h;
        ulna_model_integrate(s->model, s->q, step, q);
        assert_int_equal(ulna_pose_forward(s->pose, q), ULNA_OK);
        assert_int_equal(ulna_pose_point(s->pose, e->body, e->point, p[side]), ULNA_OK);
        assert_int_equal(ulna_pose_body(s->pose, e->body, NULL, r[side]), ULNA_OK);
    }
    assert_int_equal(ulna_pose_forward(s->pose, s->q), ULNA_OK);

    /* R+ R-^T = I + 2h [w]x + ... */
    double w[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            w[i][j] = r[0][3 * i] * r[1][3 * j] + r[0][3 * i + 1] * r[1][3 * j + 1] + r[0][3 * i + 2] * r[1][3 * j + 2];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        column[i] = (p[0][i] - p[1][i]) / (2 * h);
        column[3 + i] = (w[k][j] - w[j][k]) / (4 * h);
    }
    free(step);
    free(q);
}

static void simple_route_is_the_derivative_of_forward(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(101);
    for (int round = 0; round < 400; round++) {
        ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
        ulna_effector e = ulna_test_random_effector(&rng, s.model);
        ulna_jacobian_options options = ulna_jacobian_options_default();
        double *jacobian = ulna_test_numbers(6 * s.nv), *expected = ulna_test_numbers(6 * s.nv);
        assert_int_equal(ulna_pose_jacobian(s.pose, &options, 1, &e, jacobian), ULNA_OK);
        for (int dof = 0; dof < s.nv; dof++)
            difference_column(&s, &e, dof, expected + 6 * dof);
        ulna_test_assert_close(jacobian, expected, 6 * s.nv, 2e-9, "simple route");
        free(jacobian);
        free(expected);
        ulna_test_scene_close(&s);
    }
}

/* ---- All routes, all options ---- */

/* The simple Jacobian of one effector, with exact zeros off the path; in body axes if asked. */
static void reference(ulna_test_scene *s, const ulna_effector *e, ulna_frame frame, double *full)
{
    ulna_jacobian_options options = ulna_jacobian_options_default();
    assert_int_equal(ulna_pose_jacobian(s->pose, &options, 1, e, full), ULNA_OK);
    double r[9];
    assert_int_equal(ulna_pose_body(s->pose, e->body, NULL, r), ULNA_OK);
    for (int dof = 0; dof < s->nv; dof++) {
        double *column = full + 6 * dof;
        int on_path = ulna_model_is_ancestor(s->model, ulna_model_dof_body(s->model, dof), e->body);
        assert_true(on_path == (ulna_test_largest(column, 6) > 0));
        for (int half = 0; half < 6 && frame == ULNA_FRAME_BODY; half += 3) {
            double turned[3];
            unrotate(r, column + half, turned);
            memcpy(column + half, turned, sizeof turned);
        }
    }
}

/* What the options make of the full matrices of the effectors. */
static void pick(const ulna_test_scene *s, const ulna_jacobian_options *o, int count, const double *full,
                 double *result)
{
    int columns = o->columns ? o->column_count : s->nv;
    int at = 0;
    for (int c = 0; c < columns; c++) {
        int dof = o->columns ? o->columns[c] : c;
        int slides = ulna_model_dof_is_translation(s->model, dof);
        int taken = (o->motions & (slides ? ULNA_MOTIONS_PRISMATIC : ULNA_MOTIONS_REVOLUTE)) != 0;
        for (int e = 0; e < count; e++)
            for (int row = 0; row < 6; row++)
                if (o->rows & (row < 3 ? ULNA_ROWS_LINEAR : ULNA_ROWS_ANGULAR))
                    result[at++] = taken ? full[(e * s->nv + dof) * 6 + row] * (o->scale ? o->scale[dof] : 1) : 0;
    }
}

static void assert_zero_off_path(const ulna_test_scene *s, const ulna_jacobian_options *o, int count,
                                 const ulna_effector *e, const double *jacobian)
{
    int rows = ulna_test_jacobian_rows(o), columns = o->columns ? o->column_count : s->nv;
    for (int c = 0; c < columns; c++)
        for (int i = 0; i < count; i++) {
            int body = ulna_model_dof_body(s->model, o->columns ? o->columns[c] : c);
            if (!ulna_model_is_ancestor(s->model, body, e[i].body))
                assert_true(ulna_test_largest(jacobian + (c * count + i) * rows, rows) == 0);
        }
}

static void routes_agree(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(102);
    for (int round = 0; round < TREES; round++) {
        ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
        int count = 1 + ulna_test_rng_index(&rng, MAX_EFFECTORS);
        ulna_effector e[MAX_EFFECTORS];
        for (int i = 0; i < count; i++)
            e[i] = ulna_test_random_effector(&rng, s.model);

        /* Options: everything in the first third, then trimmed rows and motions, then columns in any order too. */
        ulna_jacobian_options o = ulna_jacobian_options_default();
        double *scale = ulna_test_numbers(s.nv);
        int *columns = calloc((size_t)(2 * s.nv) + 1, sizeof *columns);
        assert_non_null(columns);
        o.frame = round % 2 ? ULNA_FRAME_BODY : ULNA_FRAME_WORLD;
        if (round % 3 > 0) {
            o.rows = 1 + (unsigned)ulna_test_rng_index(&rng, 3);
            o.motions = 1 + (unsigned)ulna_test_rng_index(&rng, 3);
            ulna_test_rng_fill(&rng, scale, s.nv, -2, 2);
            o.scale = scale;
        }
        if (round % 3 > 1 && s.nv > 0) {
            o.columns = columns;
            o.column_count = ulna_test_rng_index(&rng, 2 * s.nv + 1);
            for (int c = 0; c < o.column_count; c++)
                columns[c] = ulna_test_rng_index(&rng, s.nv);
        }

        int rows = count * ulna_test_jacobian_rows(&o), width = o.columns ? o.column_count : s.nv;
        double *full = ulna_test_numbers(6 * s.nv * count);
        double *expected = ulna_test_numbers(rows * width), *jacobian = ulna_test_numbers(rows * width);
        for (int i = 0; i < count; i++)
            reference(&s, &e[i], o.frame, full + 6 * s.nv * i);
        pick(&s, &o, count, full, expected);
        for (int route = 0; route < ULNA_JACOBIAN_ROUTE_COUNT; route++) {
            jacobian[rows * width] = 12345; /* nothing is written past the end */
            for (int i = 0; i < rows * width; i++)
                jacobian[i] = NAN;
            assert_int_equal(ulna_papers_jacobian(s.pose, (ulna_jacobian_route)route, &o, count, e, jacobian), ULNA_OK);
            ulna_test_assert_close(jacobian, expected, rows * width, route_tolerance(route), route_names[route]);
            assert_true(jacobian[rows * width] == 12345);
            assert_zero_off_path(&s, &o, count, e, jacobian);
        }
        free(columns);
        free(scale);
        free(full);
        free(expected);
        free(jacobian);
        ulna_test_scene_close(&s);
    }
}

/* ---- A planar arm, by hand ---- */

static ulna_model *planar_arm(void)
{
    ulna_builder *builder;
    ulna_model *model;
    ulna_joint hinge = ulna_joint_revolute(0, 0, 1), slider = ulna_joint_prismatic(1, 0, 0);
    const double upper[3] = {2, 0, 0}, none[3] = {0, 0, 0};
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    ulna_builder_add_body(builder, "upper", ULNA_NONE, NULL, NULL);
    ulna_builder_add_body(builder, "lower", 0, NULL, NULL);
    ulna_builder_add_body(builder, "piston", 1, NULL, NULL);
    ulna_builder_set_joint(builder, 0, &hinge, NULL);
    ulna_builder_set_joint(builder, 1, &hinge, NULL);
    ulna_builder_set_joint(builder, 2, &slider, NULL);
    ulna_builder_set_placement(builder, 1, upper, NULL, NULL);
    ulna_builder_set_placement(builder, 2, none, NULL, NULL);
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

/* Upper arm (2 m) along x, forearm turned up by a right angle, piston 1 m out: the tip is at (2, 1, 0). */
static void planar_arm_by_hand(void **state)
{
    (void)state;
    static const double q[3] = {0, 1.5707963267948966, 1};
    static const double world[18] = {-1, 2, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0};
    static const double body[18] = {2, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0};
    static const double rate[18] = {-1, -1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0}; /* both hinges at 1/2 */
    ulna_model *model = planar_arm();
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
    ulna_effector tip = {.body = 2};
    ulna_jacobian_options o = ulna_jacobian_options_default();
    const double velocity[3] = {0.5, 0.5, 0};
    double values[18];
    for (int route = 0; route < ULNA_JACOBIAN_ROUTE_COUNT; route++) {
        o.frame = ULNA_FRAME_WORLD;
        assert_int_equal(ulna_papers_jacobian(pose, (ulna_jacobian_route)route, &o, 1, &tip, values), ULNA_OK);
        ulna_test_assert_close(values, world, 18, route_tolerance(route), route_names[route]);
        assert_int_equal(ulna_papers_jacobian_rate(pose, (ulna_jacobian_route)route, &o, velocity, 1, &tip, values),
                         ULNA_OK);
        /* First hinge: z x p', p' = (-1, 2, 0)/2 + (-1, 0, 0)/2. Second: z x (p' - o'), o' = (0, 1, 0). */
        ulna_test_assert_close(values, rate, 18, route_tolerance(route), "rate");
        o.frame = ULNA_FRAME_BODY;
        assert_int_equal(ulna_papers_jacobian(pose, (ulna_jacobian_route)route, &o, 1, &tip, values), ULNA_OK);
        ulna_test_assert_close(values, body, 18, route_tolerance(route), route_names[route]);
    }
    ulna_pose_destroy(pose);
    ulna_model_destroy(model);
}

/* ---- Adjoint blocks: their definition, from world frames ---- */

static void adjoint_blocks_from_world_frames(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(103);
    for (int round = 0; round < 500; round++) {
        ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
        ulna_effector e = ulna_test_random_effector(&rng, s.model);
        int nb = ulna_model_body_count(s.model);
        double *blocks = ulna_test_numbers(36 * nb), *expected = ulna_test_numbers(36 * nb);
        double p[3], r[9];
        ulna_pose_point(s.pose, e.body, e.point, p);
        ulna_pose_body(s.pose, e.body, NULL, r);
        for (int body = 0; body < nb; body++) {
            if (!ulna_model_is_ancestor(s.model, body, e.body))
                continue;
            /* End of the joint: the body's frame without its offset. */
            double x[3], xr[9], offset[3], turned[9], end[9], shift[3];
            ulna_pose_body(s.pose, body, x, xr);
            ulna_model_body_offset(s.model, body, offset, turned);
            for (int i = 0; i < 3; i++)
                rotate(turned, xr + 3 * i, end + 3 * i); /* rows of X T^T */
            rotate(end, offset, shift);
            for (int c = 0; c < 6; c++) {
                double unit[3] = {c % 3 == 0, c % 3 == 1, c % 3 == 2}, axis[3], v[3];
                double *column = expected + 36 * body + 6 * c;
                rotate(end, unit, axis);
                if (c < 3) {
                    unrotate(r, axis, column);
                    continue;
                }
                double arm[3];
                for (int i = 0; i < 3; i++)
                    arm[i] = p[i] - (x[i] - shift[i]);
                v[0] = axis[1] * arm[2] - axis[2] * arm[1];
                v[1] = axis[2] * arm[0] - axis[0] * arm[2];
                v[2] = axis[0] * arm[1] - axis[1] * arm[0];
                unrotate(r, v, column);
                unrotate(r, axis, column + 3);
            }
        }
        assert_int_equal(ulna_papers_adjoint_blocks(s.pose, &e, blocks), ULNA_OK);
        ulna_test_assert_close(blocks, expected, 36 * nb, 1e-12, "adjoint blocks");
        free(blocks);
        free(expected);
        ulna_test_scene_close(&s);
    }
}

/* ---- Rates ---- */

static void rates_are_derivatives(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(104);
    for (int round = 0; round < TREES; round++) {
        ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
        ulna_effector e[2] = {ulna_test_random_effector(&rng, s.model), ulna_test_random_effector(&rng, s.model)};
        ulna_jacobian_options o = ulna_jacobian_options_default();
        o.frame = round % 2 ? ULNA_FRAME_BODY : ULNA_FRAME_WORLD;
        const ulna_jacobian_route route = (ulna_jacobian_route)(round % ULNA_JACOBIAN_DIFFERENCES);
        int size = 12 * s.nv;
        double *velocity = ulna_test_numbers(s.nv), *rate = ulna_test_numbers(size), *numeric = ulna_test_numbers(size);
        ulna_test_rng_fill(&rng, velocity, s.nv, -1, 1);
        assert_int_equal(ulna_papers_jacobian_rate(s.pose, route, &o, velocity, 2, e, rate), ULNA_OK);
        assert_int_equal(ulna_papers_jacobian_rate(s.pose, ULNA_JACOBIAN_DIFFERENCES, &o, velocity, 2, e, numeric),
                         ULNA_OK);
        ulna_test_assert_close(rate, numeric, size, 1e-8, "rate");

        /* Differences of the public Jacobian along the motion. */
        const double h = 1e-5;
        double *q = ulna_test_numbers(s.nq), *step = ulna_test_numbers(s.nv), *before = ulna_test_numbers(size);
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < s.nv; i++)
                step[i] = (side ? -h : h) * velocity[i];
            ulna_model_integrate(s.model, s.q, step, q);
            assert_int_equal(ulna_pose_forward(s.pose, q), ULNA_OK);
            assert_int_equal(ulna_pose_jacobian(s.pose, &o, 2, e, side ? before : numeric), ULNA_OK);
        }
        for (int i = 0; i < size; i++)
            numeric[i] = (numeric[i] - before[i]) / (2 * h);
        ulna_test_assert_close(rate, numeric, size, 1e-8, "rate along the motion");
        free(before);
        free(step);
        free(q);
        free(velocity);
        free(rate);
        free(numeric);
        ulna_test_scene_close(&s);
    }
}

/* ---- Product of exponentials ---- */

static void product_of_exponentials_is_forward(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(105);
    for (int round = 0; round < TREES; round++) {
        ulna_test_scene s = ulna_test_scene_open(&rng, NULL);
        ulna_effector e = ulna_test_random_effector(&rng, s.model);
        double expected[12], result[12], *other = ulna_test_random_q(&rng, s.model);
        ulna_pose_point(s.pose, e.body, e.point, expected);
        ulna_pose_body(s.pose, e.body, NULL, expected + 3);
        assert_int_equal(ulna_pose_forward(s.pose, other), ULNA_OK); /* where the pose stands does not matter */
        assert_int_equal(ulna_papers_product_of_exponentials(s.pose, s.q, &e, result, result + 3), ULNA_OK);
        ulna_test_assert_close(result, expected, 12, 1e-12, "product of exponentials");
        free(other);
        ulna_test_scene_close(&s);
    }
}

/* ---- A thousand kilometres away ---- */

/* Odd seeds: the root is placed far away. Even seeds: a free root has gone there. */
static void far_away_keeps_its_digits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        ulna_test_scene s[2];
        ulna_test_rng rng = {{0}};
        for (int far = 0; far < 2; far++) {
            ulna_test_tree_options options = ulna_test_tree_options_default();
            options.far_m = far && seed % 2 ? 1e6 : 0;
            options.root = seed % 2 ? -1 : ULNA_JOINT_FREE;
            options.reversed = 0;
            rng = ulna_test_rng_seed(seed);
            s[far] = ulna_test_scene_open(&rng, &options);
            for (int i = 0; i < 3 && far && seed % 2 == 0; i++)
                s[far].q[i] += 1e6;
            assert_int_equal(ulna_pose_forward(s[far].pose, s[far].q), ULNA_OK);
        }
        ulna_effector e = ulna_test_random_effector(&rng, s[0].model);
        ulna_jacobian_options o = ulna_jacobian_options_default();
        int size = 6 * s[0].nv;
        double *near = ulna_test_numbers(size), *far = ulna_test_numbers(size), *velocity = ulna_test_numbers(s[0].nv);
        ulna_test_rng_fill(&rng, velocity, s[0].nv, -1, 1);
        for (int route = 0; route < ULNA_JACOBIAN_ROUTE_COUNT; route++) {
            double tolerance = route_tolerance(route);
            assert_int_equal(ulna_papers_jacobian(s[0].pose, (ulna_jacobian_route)route, &o, 1, &e, near), ULNA_OK);
            assert_int_equal(ulna_papers_jacobian(s[1].pose, (ulna_jacobian_route)route, &o, 1, &e, far), ULNA_OK);
            ulna_test_assert_close(far, near, size, tolerance, route_names[route]);
            tolerance = 10 * route_tolerance(route);
            assert_int_equal(
                ulna_papers_jacobian_rate(s[0].pose, (ulna_jacobian_route)route, &o, velocity, 1, &e, near), ULNA_OK);
            assert_int_equal(ulna_papers_jacobian_rate(s[1].pose, (ulna_jacobian_route)route, &o, velocity, 1, &e, far),
                             ULNA_OK);
            ulna_test_assert_close(far, near, size, tolerance, "rate far away");
        }
        free(near);
        free(far);
        free(velocity);
        ulna_test_scene_close(&s[0]);
        ulna_test_scene_close(&s[1]);
    }
}

/* ---- What is refused ---- */

static void errors(void **state)
{
    (void)state;
    ulna_model *model = planar_arm();
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    ulna_effector tip = {.body = 2}, stray = {.body = 3}, negative = {.body = -1}, nowhere = {2, {0, NAN, 0}};
    const double q[3] = {0, 0, 0}, bad_q[3] = {0, INFINITY, 0};
    double values[108], rotation[9];
    const ulna_jacobian_options o = ulna_jacobian_options_default();

    assert_int_equal(ulna_pose_jacobian(pose, &o, 1, &tip, values), ULNA_ERR_STATE);
    assert_int_equal(ulna_papers_jacobian_rate(pose, ULNA_JACOBIAN_SIMPLE, &o, q, 1, &tip, values), ULNA_ERR_STATE);
    assert_int_equal(ulna_papers_adjoint_blocks(pose, &tip, values), ULNA_ERR_STATE);
    assert_int_equal(ulna_pose_length_jacobian(pose, &tip, values), ULNA_ERR_STATE);
    assert_int_equal(ulna_papers_product_of_exponentials(pose, q, &tip, values, rotation), ULNA_OK);
    assert_int_equal(ulna_papers_product_of_exponentials(pose, bad_q, &tip, values, rotation), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_papers_product_of_exponentials(pose, NULL, &tip, values, rotation), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_product_of_exponentials(pose, q, &stray, values, rotation), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);

    /* Each wrong option alone. */
    const int columns[2] = {0, 3}, below[1] = {-1};
    const double scale[3] = {1, NAN, 1};
    ulna_jacobian_options wrong[8];
    for (int i = 0; i < 8; i++)
        wrong[i] = o;
    wrong[0].frame = (ulna_frame)2;
    wrong[1].rows = 0;
    wrong[2].rows = 4;
    wrong[3].motions = 0;
    wrong[4].motions = 8;
    wrong[5].columns = columns, wrong[5].column_count = 2;
    wrong[6].columns = below, wrong[6].column_count = 1;
    wrong[7].columns = columns, wrong[7].column_count = -1;
    const int no_route[2] = {ULNA_JACOBIAN_ROUTE_COUNT, -1};
    for (int i = 0; i < 2; i++) {
        const ulna_jacobian_route route = (ulna_jacobian_route)no_route[i];
        assert_int_equal(ulna_papers_jacobian(pose, route, &o, 1, &tip, values), ULNA_ERR_ARGUMENT);
        assert_int_equal(ulna_papers_jacobian_rate(pose, route, &o, q, 1, &tip, values), ULNA_ERR_ARGUMENT);
    }
    for (int i = 0; i < 8; i++) {
        assert_int_equal(ulna_pose_jacobian(pose, &wrong[i], 1, &tip, values), ULNA_ERR_ARGUMENT);
        assert_int_equal(ulna_papers_jacobian(pose, ULNA_JACOBIAN_GENERIC, &wrong[i], 1, &tip, values),
                         ULNA_ERR_ARGUMENT);
        assert_int_equal(ulna_papers_jacobian_rate(pose, ULNA_JACOBIAN_SIMPLE, &wrong[i], q, 1, &tip, values),
                         ULNA_ERR_ARGUMENT);
    }
    ulna_jacobian_options scaled = o;
    scaled.scale = scale;
    assert_int_equal(ulna_pose_jacobian(pose, &scaled, 1, &tip, values), ULNA_ERR_NUMBER);

    assert_int_equal(ulna_pose_jacobian(NULL, &o, 1, &tip, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pose_jacobian(pose, NULL, 1, &tip, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pose_jacobian(pose, &o, -1, &tip, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pose_jacobian(pose, &o, 1, NULL, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pose_jacobian(pose, &o, 1, &tip, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pose_jacobian(pose, &o, 1, &stray, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pose_jacobian(pose, &o, 1, &negative, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pose_jacobian(pose, &o, 1, &nowhere, values), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_pose_jacobian(pose, &o, 0, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_papers_jacobian_rate(pose, ULNA_JACOBIAN_SIMPLE, &o, NULL, 1, &tip, values),
                     ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_jacobian_rate(pose, ULNA_JACOBIAN_SIMPLE, &o, bad_q, 1, &tip, values),
                     ULNA_ERR_NUMBER);
    assert_int_equal(ulna_papers_adjoint_blocks(pose, NULL, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_papers_adjoint_blocks(pose, &stray, values), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_pose_length_jacobian(pose, &tip, NULL), ULNA_ERR_ARGUMENT);
    ulna_pose_destroy(pose);
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planar_arm_by_hand),
        cmocka_unit_test(simple_route_is_the_derivative_of_forward),
        cmocka_unit_test(routes_agree),
        cmocka_unit_test(adjoint_blocks_from_world_frames),
        cmocka_unit_test(rates_are_derivatives),
        cmocka_unit_test(product_of_exponentials_is_forward),
        cmocka_unit_test(far_away_keeps_its_digits),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
