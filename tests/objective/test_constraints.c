/* Constraints: their rows and second derivatives, what loading them does, goals, copies, messages. */
#include "math/math3.h"
#include "support_constraint.h"
#include "support_units.h"
#include "ulna/sample.h"

#include <stdlib.h>

#define DIFFERENCE_TOLERANCE 1e-6
#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

static void assert_derivatives(ulna_test_bench *b, const char *type, const char *joint)
{
    ulna_derivative_report report;
    assert_int_equal(ulna_work_check_derivatives(b->work, b->q, &report, NULL), ULNA_OK);
    if (!(report.rows < DIFFERENCE_TOLERANCE) || !(report.bends < DIFFERENCE_TOLERANCE))
        fail_msg("%s on %s: rows %.2g, bends %.2g", type, joint, report.rows, report.bends);
}

static void every_type_on_every_joint(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(101);
    for (int type = 0; type < ULNA_CONSTRAINT_TYPE_COUNT; type++)
        for (int joint = 0; joint < ULNA_JOINT_TYPE_COUNT; joint++)
            for (int round = 0; round < 8; round++) {
                ulna_test_tree_options options = ulna_test_tree_options_default();
                options.max_bodies = 8;
                options.joints = 1u << joint;
                options.root = round % 2 ? joint : -1;
                ulna_test_bench b = ulna_test_constraint_bench(&rng, options, (ulna_constraint_type)type, 2);
                assert_derivatives(&b, ulna_constraint_type_name((ulna_constraint_type)type),
                                   ulna_joint_type_name((ulna_joint_type)joint));
                ulna_test_bench_close(&b);
            }
}

static void mixtures_on_random_trees(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(102);
    for (int round = 0; round < 300; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.max_bodies = 14;
        ulna_test_bench b = ulna_test_constraint_bench(&rng, options, ULNA_CONSTRAINT_TYPE_COUNT, 6);
        assert_derivatives(&b, "a mixture", "a random tree");
        ulna_test_bench_close(&b);
    }
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

typedef struct loads {
    ulna_row *rows;
    int count;
    double *y, *w, *z, *J; /* J: count x nv */
} loads;

/* Rows of all constraints with random multipliers; y and w where the tree can hold them. */
static loads open_loads(ulna_test_rng *rng, ulna_test_bench *b)
{
    int most = ulna_problem_row_count(b->problem);
    loads l = {.rows = calloc((size_t)most + 1, sizeof *l.rows), .y = ulna_test_numbers(most)};
    l.w = ulna_test_numbers(most);
    l.z = ulna_test_numbers(most);
    assert_int_equal(ulna_work_rows(b->work, 1, l.rows, &l.count), ULNA_OK);
    l.J = ulna_test_numbers(most * b->nv);
    ulna_rows_jacobian(b->work, l.rows, l.count, (size_t)l.count, l.J);
    for (int i = 0; i < l.count; i++) {
        const ulna_row *row = &l.rows[i];
        l.z[i] = ulna_test_rng_uniform(rng, -1, 1);
        l.y[i] = row->dof_count ? 0 : ulna_test_rng_uniform(rng, -1, 1);
        l.w[i] = row->dof_count || row->has_centre || row->part_count > 1 ? 0 : ulna_test_rng_uniform(rng, 0, 2);
    }
    return l;
}

static void close_loads(loads *l)
{
    free(l->rows);
    free(l->y);
    free(l->w);
    free(l->z);
    free(l->J);
}

/* H += factor u uT */
static void add_outer(double *H, int nv, const double *u, double factor)
{
    for (int i = 0; i < nv; i++)
        for (int j = 0; j < nv; j++)
            H[i * nv + j] += factor * u[i] * u[j];
}

static void add_couplings(ulna_test_bench *b, const loads *l, double *H)
{
    ulna_row *pieces = calloc(ULNA_ROW_PIECES, sizeof *pieces);
    double scale[ULNA_ROW_PIECES], *u = ulna_test_numbers(b->nv);
    for (int i = 0; i < l->count; i++) {
        int count = ulna_row_couplings(&l->rows[i], pieces, scale);
        assert_true(count <= ULNA_ROW_PIECES);
        for (int k = 0; k < count; k++) {
            ulna_rows_jacobian(b->work, &pieces[k], 1, 1, u);
            add_outer(H, b->nv, u, -l->z[i] * scale[k]);
        }
    }
    free(pieces);
    free(u);
}

static void loaded_rows_are_in_the_matrix(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(103);
    for (int round = 0; round < 200; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.max_bodies = 14;
        ulna_test_bench b = ulna_test_constraint_bench(&rng, options, ULNA_CONSTRAINT_TYPE_COUNT, 6);
        loads l = open_loads(&rng, &b);
        int n = b.nv * b.nv;
        double *whole = ulna_test_numbers(n), *H = ulna_test_numbers(n), *row = ulna_test_numbers(b.nv), *first;
        first = ulna_test_numbers(n);

        /* d2C on the tree and beside it is all of d2C. */
        assert_int_equal(ulna_work_hessian_dense(b.work, 1, first), ULNA_OK);
        assert_int_equal(ulna_work_lagrangian_dense(b.work, 1, l.rows, l.count, l.z, whole), ULNA_OK);
        assert_int_equal(ulna_work_load_rows(b.work, l.rows, l.count, NULL, NULL, l.z), ULNA_OK);
        assert_int_equal(ulna_work_hessian_dense(b.work, 1, H), ULNA_OK);
        add_couplings(&b, &l, H);
        ulna_test_assert_close(H, whole, n, 1e-11, "the exact matrix");

        /* Weights: JT w J joins the Gauss-Newton matrix. Loads replace each other. */
        assert_int_equal(ulna_work_load_rows(b.work, NULL, 0, NULL, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_work_hessian_dense(b.work, 0, whole), ULNA_OK);
        for (int i = 0; i < l.count; i++) {
            for (int d = 0; d < b.nv; d++)
                row[d] = l.J[d * l.count + i];
            add_outer(whole, b.nv, row, l.w[i]);
        }
        assert_int_equal(ulna_work_load_rows(b.work, l.rows, l.count, l.y, l.w, l.z), ULNA_OK);
        assert_int_equal(ulna_work_hessian_dense(b.work, 0, H), ULNA_OK);
        ulna_test_assert_close(H, whole, n, 1e-11, "the Gauss-Newton matrix");

        /* Taken out, nothing is left, to the bit. */
        assert_int_equal(ulna_work_load_rows(b.work, NULL, 0, NULL, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_work_hessian_dense(b.work, 1, H), ULNA_OK);
        assert_memory_equal(H, first, (size_t)n * sizeof *H);
        free(whole);
        free(H);
        free(row);
        free(first);
        close_loads(&l);
        ulna_test_bench_close(&b);
    }
}

/* The step of a loaded work solves H x = -(g - JT y); the gradient is that of f - z C. */
static void loaded_rows_are_in_the_step(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(104);
    for (int round = 0; round < 200; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.max_bodies = 14;
        ulna_test_bench b = ulna_test_constraint_bench(&rng, options, ULNA_CONSTRAINT_TYPE_COUNT, 6);
        loads l = open_loads(&rng, &b);
        double *g = ulna_test_numbers(b.nv), *loaded = ulna_test_numbers(b.nv), *step = ulna_test_numbers(b.nv);
        double *shift = ulna_test_numbers(b.nv), *product = ulna_test_numbers(b.nv),
               *expected = ulna_test_numbers(b.nv);
        for (int d = 0; d < b.nv; d++)
            shift[d] = 30; /* more than enough to be definite */
        assert_int_equal(ulna_work_gradient(b.work, g), ULNA_OK);
        assert_int_equal(ulna_work_load_rows(b.work, l.rows, l.count, l.y, l.w, l.z), ULNA_OK);
        assert_int_equal(ulna_work_gradient(b.work, loaded), ULNA_OK);
        for (int d = 0; d < b.nv; d++) {
            product[d] = -g[d];
            expected[d] = g[d];
            for (int i = 0; i < l.count; i++) {
                product[d] += l.J[d * l.count + i] * l.y[i];
                expected[d] -= l.rows[i].dof_count ? 0 : l.J[d * l.count + i] * l.z[i];
            }
        }
        ulna_test_assert_close(loaded, expected, b.nv, 1e-11, "the gradient of the Lagrangian");
        ulna_step_options how = {.t = 1, .shift = shift};
        if (ulna_work_step(b.work, &how, step, NULL, NULL) == ULNA_OK) {
            assert_int_equal(ulna_work_hessian_multiply(b.work, 1, step, loaded), ULNA_OK);
            for (int d = 0; d < b.nv; d++)
                loaded[d] += shift[d] * step[d];
            ulna_test_assert_close(loaded, product, b.nv, 1e-9, "the step");
        }
        free(g);
        free(loaded);
        free(step);
        free(shift);
        free(product);
        free(expected);
        close_loads(&l);
        ulna_test_bench_close(&b);
    }
}

static void transposed_product_agrees_with_the_jacobian(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(105);
    for (int round = 0; round < 100; round++) {
        ulna_test_bench b =
            ulna_test_constraint_bench(&rng, ulna_test_tree_options_default(), ULNA_CONSTRAINT_TYPE_COUNT, 5);
        loads l = open_loads(&rng, &b);
        double *down = ulna_test_numbers(b.nv), *expected = ulna_test_numbers(b.nv);
        ulna_test_rng_fill(&rng, down, b.nv, -1, 1);
        for (int d = 0; d < b.nv; d++) {
            expected[d] = down[d];
            for (int i = 0; i < l.count; i++)
                expected[d] += l.J[d * l.count + i] * l.z[i];
        }
        ulna_rows_add_transposed(b.work, l.rows, l.count, l.z, down);
        ulna_test_assert_close(down, expected, b.nv, 1e-13, "JT y");
        free(down);
        free(expected);
        close_loads(&l);
        ulna_test_bench_close(&b);
    }
}

/* What a tree cannot hold is refused. */
static void loads_that_leave_the_tree_are_refused(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(106);
    const ulna_constraint_type types[3] = {ULNA_KEEP_LINEAR, ULNA_KEEP_CENTRE, ULNA_KEEP_TOGETHER};
    for (int round = 0; round < 60; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.min_bodies = 5;
        ulna_test_bench b = ulna_test_constraint_bench(&rng, options, types[round % 3], 1);
        loads l = open_loads(&rng, &b);
        if (l.count && (l.rows[0].part_count != 1 || l.rows[0].has_centre)) {
            l.w[0] = 1;
            assert_int_equal(ulna_work_load_rows(b.work, l.rows, l.count, NULL, l.w, NULL), ULNA_ERR_ARGUMENT);
        }
        double value = 0;
        assert_int_equal(ulna_work_load_rows(b.work, NULL, 1, NULL, NULL, &value), ULNA_ERR_ARGUMENT);
        assert_int_equal(ulna_work_load_rows(b.work, l.rows, -1, NULL, NULL, NULL), ULNA_ERR_ARGUMENT);
        close_loads(&l);
        ulna_test_bench_close(&b);
    }
}

/* Constraints that are not loaded change nothing, to the bit. */
static void terms_do_not_see_constraints(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(107);
    for (int round = 0; round < 100; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.masses = 1;
        ulna_test_bench b = ulna_test_bench_open(&rng, &options, ULNA_TEST_ALL_TERMS, round % 7);
        ulna_problem *with = NULL;
        ulna_work *work = NULL;
        double f[2], *g[2] = {ulna_test_numbers(b.nv), ulna_test_numbers(b.nv)}, *shift = ulna_test_numbers(b.nv);
        assert_int_equal(ulna_problem_clone(b.problem, NULL, &with, NULL), ULNA_OK);
        for (int i = 0; i < 4; i++)
            ulna_test_add_constraint(&rng, with,
                                     (ulna_constraint_type)ulna_test_rng_index(&rng, ULNA_CONSTRAINT_TYPE_COUNT));
        assert_int_equal(ulna_problem_ready(with, NULL), ULNA_OK);
        assert_int_equal(ulna_work_create(with, NULL, &work, NULL), ULNA_OK);
        assert_int_equal(ulna_work_evaluate(b.work, b.q, &f[0]), ULNA_OK);
        assert_int_equal(ulna_work_evaluate(work, b.q, &f[1]), ULNA_OK);
        assert_memory_equal(&f[0], &f[1], sizeof f[0]);
        for (int d = 0; d < b.nv; d++)
            shift[d] = 50;
        ulna_step_options how = {.t = 1, .shift = shift};
        ulna_status status[2] = {ulna_work_step(b.work, &how, g[0], NULL, NULL),
                                 ulna_work_step(work, &how, g[1], NULL, NULL)};
        assert_int_equal(status[0], status[1]);
        if (status[0] == ULNA_OK)
            for (int d = 0; d < b.nv; d++)
                assert_true(g[0][d] == g[1][d]); /* 0 may have the other sign where a zero was added */
        free(g[0]);
        free(g[1]);
        free(shift);
        ulna_work_destroy(work);
        ulna_problem_destroy(with);
        ulna_test_bench_close(&b);
    }
}

/* ---- meaning ----------------------------------------------------------------------------------------------------- */

/* A free body (a ball and three translations) with a tip, and a second one beside it; both have masses. */
typedef struct pair_of_bodies {
    ulna_model *model;
    ulna_problem *problem;
    ulna_work *work;
    double q[14];
} pair_of_bodies;

static pair_of_bodies open_pair(void)
{
    pair_of_bodies p = {.q = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1}};
    ulna_builder *builder;
    ulna_joint free_joint = ulna_joint_free();
    ulna_mass mass[2] = {{.mass = 1, .center = {1, 0, 0}}, {.mass = 3}};
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    assert_int_equal(ulna_builder_add_body(builder, "root", ULNA_NONE, NULL, NULL), ULNA_OK);
    for (int b = 0; b < 2; b++) {
        int body;
        assert_int_equal(ulna_builder_add_body(builder, b ? "second" : "first", 0, &body, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, body, &free_joint, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_mass(builder, body, &mass[b], NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &p.model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    assert_int_equal(ulna_model_coordinate_count(p.model), 14);
    assert_int_equal(ulna_problem_create(p.model, NULL, &p.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_set_length(p.problem, 2), ULNA_OK);
    return p;
}

static void close_pair(pair_of_bodies *p)
{
    ulna_work_destroy(p->work);
    ulna_problem_destroy(p->problem);
    ulna_model_destroy(p->model);
}

static void add(pair_of_bodies *p, const ulna_constraint *c)
{
    ulna_error error;
    ulna_error_clear(&error);
    if (ulna_problem_add_constraint(p->problem, c, NULL, &error) != ULNA_OK)
        fail_msg("%s", error.message);
}

static void evaluate(pair_of_bodies *p)
{
    double f;
    assert_int_equal(ulna_problem_ready(p->problem, NULL), ULNA_OK);
    if (!p->work)
        assert_int_equal(ulna_work_create(p->problem, NULL, &p->work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(p->work, p->q, &f), ULNA_OK);
}

static double error_of(pair_of_bodies *p, int number)
{
    double error = -1;
    assert_int_equal(ulna_work_constraint_error(p->work, number, &error), ULNA_OK);
    return error;
}

/* First rows, evaluated anew. */
static int rows_of(pair_of_bodies *p, ulna_row *rows)
{
    int count;
    assert_true(ulna_problem_row_count(p->problem) <= 24);
    assert_int_equal(ulna_work_rows(p->work, 1, rows, &count), ULNA_OK);
    return count;
}

/* In another unit of length rows are the same times a factor. */
static void rows_scale_with_the_unit_of_length(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(111);
    const double factor = 1024;
    for (int round = 0; round < 200; round++) {
        ulna_test_bench b =
            ulna_test_constraint_bench(&rng, ulna_test_tree_options_default(), ULNA_CONSTRAINT_TYPE_COUNT, 6);
        ulna_model *model = ulna_test_scaled_model(b.model, factor);
        ulna_problem *problem = NULL;
        ulna_work *work = NULL;
        int count[2] = {0};
        double f, *q = ulna_test_numbers(b.nq);
        assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
        for (int i = 0; i < ulna_problem_constraint_count(b.problem); i++)
            ulna_test_add_scaled_constraint(problem, ulna_problem_constraint(b.problem, i), factor);
        assert_int_equal(ulna_problem_set_length(problem, factor * b.problem->length), ULNA_OK);
        assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
        assert_int_equal(ulna_work_create(problem, NULL, &work, NULL), ULNA_OK);
        ulna_test_scale_q(b.model, b.q, factor, q);
        assert_int_equal(ulna_work_evaluate(work, q, &f), ULNA_OK);
        int most = ulna_problem_row_count(problem);
        ulna_row *rows[2] = {calloc((size_t)most + 1, sizeof **rows), calloc((size_t)most + 1, sizeof **rows)};
        double *J[2] = {ulna_test_numbers(most * b.nv), ulna_test_numbers(most * b.nv)};
        ulna_work *works[2] = {b.work, work};
        for (int k = 0; k < 2; k++) {
            assert_int_equal(ulna_work_rows(works[k], 1, rows[k], &count[k]), ULNA_OK);
            ulna_rows_jacobian(works[k], rows[k], count[k], (size_t)most, J[k]);
        }
        assert_int_equal(count[0], count[1]);
        for (int i = 0; i < count[0]; i++) {
            double unit = ulna_problem_constraint(problem, rows[0][i].constraint)->type == ULNA_KEEP_CUSTOM ? 0 : 1;
            assert_near(unit * factor * rows[0][i].value, unit * rows[1][i].value, 1e-11 * factor);
            for (int d = 0; d < b.nv; d++) {
                double scale = ulna_model_dof_is_translation(model, d) ? 1 : factor;
                assert_near(unit * scale * J[0][d * most + i], unit * J[1][d * most + i], 1e-10 * factor);
            }
        }
        for (int k = 0; k < 2; k++) {
            free(rows[k]);
            free(J[k]);
        }
        free(q);
        ulna_work_destroy(work);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
        ulna_test_bench_close(&b);
    }
}

static void errors_are_in_the_units_of_users(void **state)
{
    (void)state;
    pair_of_bodies p = open_pair();
    const double square[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    const int dofs[2] = {0, 6};
    const double factors[2] = {2, -4};
    p.q[0] = 3, p.q[1] = 4, p.q[7] = 1;
    const struct {
        ulna_constraint constraint;
        double error;
    } rows[] = {
        {{.type = ULNA_KEEP_POINT, .body = 1}, 5},
        {{.type = ULNA_KEEP_PLANE, .body = 1, .goal = {0, 0, 0, 0, 2, 0}}, 4},
        {{.type = ULNA_KEEP_PLANE, .body = 1, .relation = ULNA_AT_LEAST, .goal = {0, 0, 0, 0, 2, 0}}, 0},
        {{.type = ULNA_KEEP_PLANE, .body = 1, .relation = ULNA_AT_MOST, .goal = {0, 0, 0, 0, 2, 0}}, 4},
        {{.type = ULNA_KEEP_SPHERE, .body = 1, .relation = ULNA_AT_MOST, .goal = {0, 0, 0, 2}}, 3},
        {{.type = ULNA_KEEP_SPHERE, .body = 1, .relation = ULNA_AT_LEAST, .goal = {0, 0, 0, 7}}, 2},
        {{.type = ULNA_KEEP_BOX, .body = 1, .goal = {4, -(double)INFINITY, -1, 5, 2, 1}}, 2},
        {{.type = ULNA_KEEP_LINE, .body = 1, .goal = {0, 0, 7, 0, 0, 1}}, 5},
        {{.type = ULNA_KEEP_DISTANCE, .body = 1, .other = 2, .goal = {1}}, sqrt(20) - 1},
        {{.type = ULNA_KEEP_DISTANCE, .body = 1, .other = ULNA_NONE, .other_point = {3, 0, 0}, .goal = {1}}, 3},
        {{.type = ULNA_KEEP_TOGETHER, .body = 1, .other = 2}, sqrt(20)},
        {{.type = ULNA_KEEP_LINEAR, .dof_count = 2, .dofs = dofs, .coefficients = factors, .goal = {1}}, 1},
        {{.type = ULNA_KEEP_ORIENTATION, .body = 1, .goal = {0, -1, 0, 1, 0, 0, 0, 0, 1}}, ULNA_PI / 2},
        {{.type = ULNA_KEEP_DIRECTION, .body = 1, .axis = {3, 0, 0}, .goal = {0, 0, 2}}, ULNA_PI / 2},
        {{.type = ULNA_KEEP_AIM, .body = 1, .axis = {1, 0, 0}, .goal = {3, 9, 0}}, ULNA_PI / 2},
        {{.type = ULNA_KEEP_AIM, .body = 1, .axis = {1, 0, 0}, .goal = {3, 4, 0}}, 0},
        {{.type = ULNA_KEEP_FRAME, .body = 1, .goal = {0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1}}, 5},
        {{.type = ULNA_KEEP_FRAME, .body = 1, .goal = {3, 4, 1, 0, -1, 0, 1, 0, 0, 0, 0, 1}}, ULNA_PI},
        {{.type = ULNA_KEEP_RELATIVE, .body = 1, .other = 2, .goal = {2, 4, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}}, 0},
        {{.type = ULNA_KEEP_ANGLE, .body = 1, .other = 2, .axis = {1, 0, 0}, .other_axis = {0, 1, 0}, .goal = {1}},
         ULNA_PI / 2 - 1},
        {{.type = ULNA_KEEP_CENTRE, .goal = {0, 0, 0, 0, 1, 0}}, 1}, /* (4, 4, 0), (1, 0, 0): mass 1, 3 */
        {{.type = ULNA_KEEP_SUPPORT, .axis = {0, 0, 1}, .corner_count = 4, .corners = square}, 0.75}, /* at (1.75, 1) */
    };
    int count = (int)(sizeof rows / sizeof *rows);
    for (int i = 0; i < count; i++)
        add(&p, &rows[i].constraint);
    evaluate(&p);
    for (int i = 0; i < count; i++)
        if (!(fabs(error_of(&p, i) - rows[i].error) < 1e-12))
            fail_msg("constraint %d: error %.15g, not %.15g", i, error_of(&p, i), rows[i].error);
    close_pair(&p);
}

/* Metres; largest coefficient 1, or the length for rotations; at most is negated. */
static void rows_are_in_metres(void **state)
{
    (void)state;
    pair_of_bodies p = open_pair();
    ulna_row rows[24];
    const int translations[2] = {0, 6};
    const double factors[2] = {2, -4};
    p.q[0] = 3, p.q[7] = 1;
    ulna_constraint c = {.type = ULNA_KEEP_LINEAR, .dof_count = 2, .dofs = translations, .coefficients = factors};
    c.goal[0] = 1;
    c.relation = ULNA_AT_MOST;
    add(&p, &c);
    c = (ulna_constraint){.type = ULNA_KEEP_DIRECTION, .body = 1, .axis = {1, 0, 0}, .goal = {1, 1e-3, 0}};
    add(&p, &c);
    c = (ulna_constraint){.type = ULNA_KEEP_ANGLE, .body = 1, .other = ULNA_NONE, .axis = {1, 0, 0}};
    c.other_axis[1] = 1;
    c.goal[0] = ULNA_PI / 2 - 1e-3;
    c.relation = ULNA_AT_MOST;
    add(&p, &c);
    evaluate(&p);
    assert_int_equal(rows_of(&p, rows), 4);
    assert_near(rows[0].value, -(2 * 3 - 4 * 1 - 1) / 4.0, 1e-15); /* at most: negated */
    assert_near(rows[0].coefficient[0], -0.5, 1e-15);
    assert_near(rows[0].coefficient[1], 1, 1e-15);
    assert_false(rows[0].is_equation);
    assert_near(hypot(rows[1].value, rows[2].value), 2e-3, 1e-8); /* length 2 */
    assert_near(rows[3].value, -2e-3, 1e-8);
    for (int i = 0; i < 4; i++)
        assert_true(rows[i].noise > 0 && rows[i].noise < 1e-13 && rows[i].place == i);
    close_pair(&p);
}

/* Half a turn away rows of rotations are far from zero, and know a way back. */
static void no_false_zero_at_half_a_turn(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(108);
    for (int round = 0; round < 200; round++) {
        pair_of_bodies p = open_pair();
        double rotation[9], half[9], axis[3], w[3];
        ulna_row rows[24];
        ulna_test_rng_fill(&rng, axis, 3, -1, 1);
        if (round < 3)
            for (int i = 0; i < 3; i++)
                axis[i] = i == round;
        double size = ulna_norm(axis);
        for (int i = 0; i < 3; i++)
            w[i] = axis[i] / size * (round % 2 ? ULNA_PI : ULNA_PI - 1e-3);
        ulna_exp(w, half);
        ulna_copy9(half, rotation);
        ulna_constraint c = {.type = ULNA_KEEP_ORIENTATION, .body = 1};
        ulna_copy9(rotation, c.goal);
        add(&p, &c);
        c = (ulna_constraint){.type = ULNA_KEEP_RELATIVE, .body = 1, .other = 2};
        ulna_copy9(rotation, c.goal + 3);
        add(&p, &c);
        c = (ulna_constraint){.type = ULNA_KEEP_DIRECTION, .body = 1, .axis = {axis[0], axis[1], axis[2]}};
        for (int i = 0; i < 3; i++)
            c.goal[i] = -axis[i];
        add(&p, &c);
        c = (ulna_constraint){.type = ULNA_KEEP_AIM, .body = 1, .axis = {axis[0], axis[1], axis[2]}};
        for (int i = 0; i < 3; i++)
            c.goal[i] = -3 * axis[i];
        add(&p, &c);
        evaluate(&p);
        assert_int_equal(rows_of(&p, rows), 3 + 6 + 2 + 2);
        const int first[4] = {0, 6, 9, 11}, last[4] = {3, 9, 11, 13};
        for (int k = 0; k < 4; k++) {
            double value = 0, push = 0, gradient[12] = {0};
            for (int i = first[k]; i < last[k]; i++) {
                value += rows[i].value * rows[i].value;
                ulna_rows_add_transposed(p.work, &rows[i], 1, &rows[i].value, gradient);
            }
            for (int d = 0; d < 12; d++)
                push += gradient[d] * gradient[d];
            assert_true(sqrt(value) > 1.99); /* 2, since the length is 2 */
            assert_true(sqrt(push) > 3);     /* of half the square */
        }
        close_pair(&p);
    }
}

/* Where the axes are parallel or opposite the row of an angle has its value, a bound and a derivative. */
static void angles_have_a_derivative_everywhere(void **state)
{
    (void)state;
    const double goals[3] = {1, 1e-12, ULNA_PI - 1e-12};
    for (int k = 0; k < 12; k++) {
        pair_of_bodies p = open_pair();
        ulna_row rows[24];
        double gradient[12] = {0}, unit = 1, goal = goals[k % 3], angle = k < 6 ? 0 : ULNA_PI;
        ulna_constraint c = {.type = ULNA_KEEP_ANGLE, .body = 1, .axis = {1, 2, 2}, .goal = {goal}};
        c.other = k % 2 ? 2 : ULNA_NONE;
        for (int i = 0; i < 3; i++)
            c.other_axis[i] = k < 6 ? c.axis[i] : -c.axis[i];
        add(&p, &c);
        evaluate(&p);
        assert_int_equal(rows_of(&p, rows), 1);
        assert_near(rows[0].value, 2 * (angle - goal), 1e-7); /* length 2 */
        ulna_rows_add_transposed(p.work, rows, 1, &unit, gradient);
        for (int b = 0; b < 2; b++) {
            double push = ulna_norm(gradient + 6 * (size_t)b + 3);
            assert_near(push, b == 0 || k % 2 ? 2 : 0, 1e-12);
        }
        close_pair(&p);
    }
}

/* On its goal an aim asks for nothing, and has axes for the poses after that. */
static void an_aim_on_its_goal_has_axes(void **state)
{
    (void)state;
    pair_of_bodies p = open_pair();
    ulna_row rows[24];
    double f;
    int count;
    const ulna_constraint c = {.type = ULNA_KEEP_AIM, .body = 1, .axis = {1, 0, 0}};
    add(&p, &c);
    evaluate(&p);
    assert_int_equal(rows_of(&p, rows), 2);
    assert_near(hypot(rows[0].value, rows[1].value), 0, 0);
    p.q[1] = 3;
    assert_int_equal(ulna_work_evaluate(p.work, p.q, &f), ULNA_OK);
    assert_int_equal(ulna_work_rows(p.work, 0, rows, &count), ULNA_OK);
    assert_near(hypot(rows[0].value, rows[1].value), 2, 1e-12); /* 90 degrees off; length 2 */
    close_pair(&p);
}

/* Axes are frozen anew, the torque stays. */
static void multipliers_turn_with_the_axes(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(112);
    const ulna_constraint_type types[3] = {ULNA_KEEP_ORIENTATION, ULNA_KEEP_FRAME, ULNA_KEEP_POINT};
    for (int round = 0; round < 90; round++) {
        ulna_test_bench b = ulna_test_constraint_bench(&rng, ulna_test_tree_options_default(), types[round % 3], 2);
        int most = ulna_problem_row_count(b.problem), count;
        ulna_row *rows[2] = {calloc((size_t)most + 1, sizeof **rows), calloc((size_t)most + 1, sizeof **rows)};
        double *step = ulna_test_numbers(b.nv), *moved = ulna_test_numbers(b.nq), *y = ulna_test_numbers(most), f;
        double *g[2] = {ulna_test_numbers(b.nv), ulna_test_numbers(b.nv)};
        ulna_test_rng_fill(&rng, step, b.nv, -0.1, 0.1);
        ulna_test_rng_fill(&rng, y, most, -1, 1);
        assert_int_equal(ulna_work_rows(b.work, 1, rows[0], &count), ULNA_OK);
        ulna_model_integrate(b.model, b.q, step, moved);
        assert_int_equal(ulna_work_evaluate(b.work, moved, &f), ULNA_OK);
        for (int k = 0; k < 2; k++)
            assert_int_equal(ulna_work_rows(b.work, k, rows[k], &count), ULNA_OK);
        ulna_rows_add_transposed(b.work, rows[0], count, y, g[0]);
        ulna_rows_turn_multipliers(b.problem, rows[0], rows[1], count, y);
        ulna_rows_add_transposed(b.work, rows[1], count, y, g[1]);
        ulna_test_assert_close(g[1], g[0], b.nv, 1e-10, "JT y with new axes");
        for (int k = 0; k < 2; k++) {
            free(rows[k]);
            free(g[k]);
        }
        free(step);
        free(moved);
        free(y);
        ulna_test_bench_close(&b);
    }
}

/* ---- goals, switching, copies ------------------------------------------------------------------------------------ */

static void goals_change_and_constraints_rest(void **state)
{
    (void)state;
    pair_of_bodies p = open_pair();
    ulna_row rows[24];
    const double triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, moved[9] = {5, 0, 0, 6, 0, 0, 5, 1, 0};
    const double clockwise[9] = {0, 0, 0, 0, 1, 0, 1, 0, 0}, bad[3] = {0, (double)NAN, 0};
    const double place[3] = {1, 2, 3}, plane[6] = {0, 0, 0, 0, 0, 0};
    ulna_constraint c = {.type = ULNA_KEEP_POINT, .body = 1};
    add(&p, &c);
    c = (ulna_constraint){.type = ULNA_KEEP_SUPPORT, .axis = {0, 0, 1}, .corner_count = 3, .corners = triangle};
    add(&p, &c);
    c = (ulna_constraint){.type = ULNA_KEEP_PLANE, .body = 1, .goal = {0, 0, 0, 0, 0, 3}};
    add(&p, &c);
    evaluate(&p);
    assert_int_equal(ulna_problem_constraint_count(p.problem), 3);
    assert_near(ulna_problem_constraint(p.problem, 2)->goal[5], 1, 0); /* canonical */
    assert_null(ulna_problem_constraint(p.problem, 3));
    assert_int_equal(ulna_problem_set_constraint_goal(p.problem, 0, place), ULNA_OK);
    double f, gradient[12];
    assert_int_equal(ulna_work_gradient(p.work, gradient), ULNA_ERR_STATE); /* goals have changed */
    assert_int_equal(ulna_work_evaluate(p.work, p.q, &f), ULNA_OK);
    assert_near(error_of(&p, 0), sqrt(14), 1e-15);
    assert_int_equal(ulna_problem_set_constraint_goal(p.problem, 0, bad), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_problem_set_constraint_goal(p.problem, 0, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_set_constraint_goal(p.problem, 2, plane), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_set_constraint_goal(p.problem, 3, place), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_set_constraint_goal(p.problem, 1, moved), ULNA_OK);
    assert_int_equal(ulna_problem_set_constraint_goal(p.problem, 1, clockwise), ULNA_ERR_ARGUMENT);
    assert_memory_equal(ulna_problem_constraint(p.problem, 1)->corners, moved, sizeof moved);
    assert_memory_equal(ulna_problem_constraint(p.problem, 0)->goal, place, sizeof place);

    assert_int_equal(rows_of(&p, rows), 7);
    assert_int_equal(ulna_problem_switch_constraint(p.problem, 1, 0), ULNA_OK);
    assert_int_equal(ulna_problem_switch_constraint(p.problem, 7, 0), ULNA_ERR_ARGUMENT);
    assert_int_equal(rows_of(&p, rows), 4);
    assert_int_equal(ulna_problem_row_count(p.problem), 7);
    assert_int_equal(rows[3].constraint, 2);
    assert_int_equal(rows[3].place, 6);
    assert_true(isnan(error_of(&p, 1)));
    assert_int_equal(ulna_problem_switch_constraint(p.problem, 1, 1), ULNA_OK);
    assert_int_equal(rows_of(&p, rows), 7);
    add(&p, &c); /* the work is too small now */
    int count;
    assert_int_equal(ulna_work_rows(p.work, 1, rows, &count), ULNA_ERR_STATE);
    assert_int_equal(ulna_work_evaluate(p.work, p.q, &f), ULNA_ERR_STATE);
    close_pair(&p);
}

static void copies_have_arrays_of_their_own(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(109);
    for (int round = 0; round < 60; round++) {
        ulna_test_bench b =
            ulna_test_constraint_bench(&rng, ulna_test_tree_options_default(), ULNA_CONSTRAINT_TYPE_COUNT, 6);
        int count = ulna_problem_constraint_count(b.problem), made[2];
        ulna_problem *copy = NULL;
        ulna_work *work = NULL;
        double f;
        for (int i = 0; i < count; i++)
            assert_int_equal(ulna_problem_switch_constraint(b.problem, i, i % 3), ULNA_OK);
        assert_int_equal(ulna_problem_clone(b.problem, NULL, &copy, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_row_count(copy), ulna_problem_row_count(b.problem));
        assert_int_equal(ulna_work_create(copy, NULL, &work, NULL), ULNA_OK);
        for (int i = 0; i < count; i++) {
            const ulna_constraint *c = ulna_problem_constraint(b.problem, i);
            assert_true(!c->corners || c->corners != ulna_problem_constraint(copy, i)->corners);
            assert_true(!c->dofs || c->dofs != ulna_problem_constraint(copy, i)->dofs);
            assert_int_equal(ulna_problem_switch_constraint(b.problem, i, i % 2), ULNA_OK);
            if (c->type != ULNA_KEEP_SUPPORT && c->type != ULNA_KEEP_BOX)
                assert_int_equal(ulna_problem_set_constraint_goal(b.problem, i, c->goal), ULNA_OK);
        }
        assert_int_equal(ulna_problem_set_length(b.problem, 3), ULNA_OK);
        assert_int_equal(ulna_problem_copy_goals(b.problem, copy), ULNA_OK);
        ulna_row *rows[2];
        ulna_work *works[2] = {b.work, work};
        for (int k = 0; k < 2; k++) {
            rows[k] = calloc((size_t)ulna_problem_row_count(copy) + 1, sizeof **rows);
            assert_int_equal(ulna_work_evaluate(works[k], b.q, &f), ULNA_OK);
            assert_int_equal(ulna_work_rows(works[k], 1, rows[k], &made[k]), ULNA_OK);
        }
        assert_int_equal(made[0], made[1]);
        for (int i = 0; i < made[0]; i++) {
            assert_memory_equal(&rows[0][i].value, &rows[1][i].value, sizeof(double));
            assert_memory_equal(rows[0][i].part[0].wrench, rows[1][i].part[0].wrench,
                                rows[0][i].part_count ? 6 * sizeof(double) : 0);
            for (int k = 0; k < rows[0][i].dof_count; k++)
                assert_near(rows[0][i].coefficient[k], rows[1][i].coefficient[k], 0);
        }
        free(rows[0]);
        free(rows[1]);
        ulna_work_destroy(work);
        ulna_problem_destroy(copy);
        ulna_test_bench_close(&b);
    }
}

static ulna_status set_up(const ulna_model *model, const ulna_allocator *allocator)
{
    const int dofs[2] = {0, 1};
    const double factors[2] = {1, 2}, corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const ulna_constraint all[3] = {
        {.type = ULNA_KEEP_LINEAR, .dof_count = 2, .dofs = dofs, .coefficients = factors},
        {.type = ULNA_KEEP_SUPPORT, .axis = {0, 0, 1}, .corner_count = 3, .corners = corners},
        {.type = ULNA_KEEP_POINT},
    };
    ulna_problem *problem = NULL, *copy = NULL;
    ulna_work *work = NULL;
    ulna_status status = ulna_problem_create(model, allocator, &problem, NULL);
    for (int i = 0; i < 3 && status == ULNA_OK; i++)
        status = ulna_problem_add_constraint(problem, &all[i], NULL, NULL);
    if (status == ULNA_OK)
        status = ulna_problem_ready(problem, NULL);
    if (status == ULNA_OK)
        status = ulna_problem_clone(problem, allocator, &copy, NULL);
    if (status == ULNA_OK)
        status = ulna_work_create(copy, allocator, &work, NULL);
    if (status == ULNA_OK) {
        double q[14] = {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1};
        ulna_derivative_report report;
        status = ulna_work_check_derivatives(work, q, &report, NULL);
    }
    ulna_work_destroy(work);
    ulna_problem_destroy(copy);
    ulna_problem_destroy(problem);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    pair_of_bodies p = open_pair();
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_status status = set_up(p.model, &allocator);
        ulna_test_memory_check(&memory);
        if (!memory.failed) {
            assert_int_equal(status, ULNA_OK);
            break;
        }
        assert_int_equal(status, ULNA_ERR_MEMORY);
    }
    close_pair(&p);
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static void nothing(const void *context, const double *goal, const double rotation[2][9], const double position[2][3],
                    ulna_constraint_value *value)
{
    (void)goal;
    (void)rotation;
    (void)position;
    value->value = context ? (double)NAN : 0;
}

static void messages_say_what_to_do(void **state)
{
    (void)state;
    pair_of_bodies p = open_pair();
    const double clockwise[9] = {0, 0, 0, 0, 1, 0, 1, 0, 0}, line[9] = {0, 0, 0, 1, 0, 0, 2, 0, 0};
    const double arrow[12] = {0, 0, 0, 2, -2, 0, 1, 0, 0, 2, 2, 0}, twice[9] = {0, 0, 0, 0, 0, 1, 1, 0, 0};
    const double extremes[2] = {1e-320, 1e307}, one[2] = {1, 1}, zero[2] = {0, 0},
                 nan_corner[9] = {0, 0, 0, 1, 0, 0, 0, (double)NAN, 0};
    const int dofs[2] = {0, 1}, same[2] = {1, 1}, ball[1] = {4}, none[1] = {99};
#define SUPPORT .type = ULNA_KEEP_SUPPORT, .axis = { 0, 0, 1 }
#define LINEAR .type = ULNA_KEEP_LINEAR, .coefficients = one
    const struct {
        ulna_constraint constraint;
        ulna_status status;
        const char *says;
    } rows[] = {
        {{.type = (ulna_constraint_type)77}, ULNA_ERR_ARGUMENT, "there is no type 77"},
        {{.type = ULNA_KEEP_POINT, .body = 9}, ULNA_ERR_ARGUMENT, "there is no body 9"},
        {{.type = ULNA_KEEP_POINT, .body = -1}, ULNA_ERR_ARGUMENT, "there is no body -1"},
        {{.type = ULNA_KEEP_TOGETHER, .body = 1, .other = 9}, ULNA_ERR_ARGUMENT, "no other body 9"},
        {{.type = ULNA_KEEP_TOGETHER, .body = 1, .other = 1}, ULNA_ERR_ARGUMENT, "both bodies are \"first\""},
        {{.type = ULNA_KEEP_POINT, .relation = ULNA_AT_LEAST}, ULNA_ERR_ARGUMENT, "no \"at least\""},
        {{.type = ULNA_KEEP_PLANE, .relation = (ulna_relation)5}, ULNA_ERR_ARGUMENT, "no relation 5"},
        {{.type = ULNA_KEEP_POINT, .level = 9}, ULNA_ERR_ARGUMENT, "0 (hard) to 8, not 9"},
        {{.type = ULNA_KEEP_POINT, .level = -1}, ULNA_ERR_ARGUMENT, "0 (hard) to 8"},
        {{.type = ULNA_KEEP_POINT, .weight = -1}, ULNA_ERR_ARGUMENT, "weight"},
        {{.type = ULNA_KEEP_POINT, .weight = (double)NAN}, ULNA_ERR_ARGUMENT, "weight"},
        {{.type = ULNA_KEEP_POINT, .goal = {(double)NAN}}, ULNA_ERR_NUMBER, "NaN"},
        {{.type = ULNA_KEEP_POINT, .goal = {(double)INFINITY}}, ULNA_ERR_NUMBER, "infinite"},
        {{.type = ULNA_KEEP_POINT, .point = {(double)NAN}}, ULNA_ERR_NUMBER, "point"},
        {{.type = ULNA_KEEP_ORIENTATION}, ULNA_ERR_ARGUMENT, "not a rotation"},
        {{.type = ULNA_KEEP_FRAME}, ULNA_ERR_ARGUMENT, "not a rotation"},
        {{.type = ULNA_KEEP_DIRECTION, .axis = {1}}, ULNA_ERR_ARGUMENT, "zero length"},
        {{.type = ULNA_KEEP_DIRECTION, .goal = {1}}, ULNA_ERR_ARGUMENT, "axis has zero length"},
        {{.type = ULNA_KEEP_AIM, .axis = {(double)NAN}}, ULNA_ERR_ARGUMENT, "axis"},
        {{.type = ULNA_KEEP_PLANE}, ULNA_ERR_ARGUMENT, "normal"},
        {{.type = ULNA_KEEP_SPHERE, .goal = {0, 0, 0, -1}}, ULNA_ERR_ARGUMENT, "radius"},
        {{.type = ULNA_KEEP_SPHERE}, ULNA_ERR_ARGUMENT, "radius"},
        {{.type = ULNA_KEEP_SPHERE, .relation = ULNA_AT_MOST}, ULNA_ERR_ARGUMENT, "use a point constraint"},
        {{.type = ULNA_KEEP_DISTANCE, .body = 1, .other = 2, .relation = ULNA_AT_MOST},
         ULNA_ERR_ARGUMENT,
         "use a together constraint"},
        {{.type = ULNA_KEEP_BOX, .goal = {0, 0, 0, 1, -1, 1}}, ULNA_ERR_ARGUMENT, "empty"},
        {{.type = ULNA_KEEP_BOX, .goal = {0, 0, (double)NAN, 1, 1, 1}}, ULNA_ERR_NUMBER, "NaN"},
        {{.type = ULNA_KEEP_BOX, .goal = {(double)INFINITY, 0, 0, (double)INFINITY, 1, 1}}, ULNA_ERR_ARGUMENT, "empty"},
        {{.type = ULNA_KEEP_DISTANCE, .body = 1, .other = 2}, ULNA_ERR_ARGUMENT, "distance"},
        {{.type = ULNA_KEEP_ANGLE, .body = 1, .other = 2, .axis = {1}, .other_axis = {1}}, ULNA_ERR_ARGUMENT, "angle"},
        {{.type = ULNA_KEEP_ANGLE, .body = 1, .other = 2, .axis = {1}, .other_axis = {1}, .goal = {3.2}},
         ULNA_ERR_ARGUMENT,
         "< pi"},
        {{LINEAR}, ULNA_ERR_ARGUMENT, "needs degrees"},
        {{LINEAR, .dof_count = 2, .dofs = same}, ULNA_ERR_ARGUMENT, "listed twice"},
        {{LINEAR, .dof_count = 1, .dofs = none}, ULNA_ERR_ARGUMENT, "no degree of freedom 99"},
        {{LINEAR, .dof_count = 1, .dofs = ball}, ULNA_ERR_UNSUPPORTED, "quaternion"},
        {{.type = ULNA_KEEP_LINEAR, .coefficients = zero, .dof_count = 2, .dofs = dofs}, ULNA_ERR_ARGUMENT, "are 0"},
        {{.type = ULNA_KEEP_LINEAR, .coefficients = nan_corner + 7, .dof_count = 1, .dofs = dofs},
         ULNA_ERR_NUMBER,
         "coefficient 0"},
        {{.type = ULNA_KEEP_LINEAR, .coefficients = extremes, .dof_count = 1, .dofs = dofs},
         ULNA_ERR_ARGUMENT,
         "too small"},
        {{.type = ULNA_KEEP_LINEAR, .coefficients = extremes, .dof_count = 2, .dofs = dofs},
         ULNA_ERR_NUMBER,
         "coefficient 1"},
        {{SUPPORT, .corner_count = 2, .corners = line}, ULNA_ERR_ARGUMENT, "3 to 16 corners"},
        {{SUPPORT, .corner_count = 17, .corners = line}, ULNA_ERR_ARGUMENT, "3 to 16 corners"},
        {{SUPPORT, .corner_count = 3}, ULNA_ERR_ARGUMENT, "3 to 16 corners"},
        {{SUPPORT, .corner_count = 3, .corners = clockwise}, ULNA_ERR_ARGUMENT, "clockwise"},
        {{SUPPORT, .corner_count = 3, .corners = line}, ULNA_ERR_ARGUMENT, "one line"},
        {{SUPPORT, .corner_count = 4, .corners = arrow}, ULNA_ERR_ARGUMENT, "not convex"},
        {{SUPPORT, .corner_count = 3, .corners = twice}, ULNA_ERR_ARGUMENT, "one above the other"},
        {{SUPPORT, .corner_count = 3, .corners = nan_corner}, ULNA_ERR_NUMBER, "corner"},
        {{.type = ULNA_KEEP_CUSTOM, .body = 1, .other = 2}, ULNA_ERR_ARGUMENT, "custom.evaluate"},
        {{.type = ULNA_KEEP_CUSTOM, .body = 1, .other = 2, .custom = {nothing, NULL, 13}},
         ULNA_ERR_ARGUMENT,
         "0 to 12"},
        {{.type = ULNA_KEEP_CUSTOM, .body = 1, .other = 2, .custom = {nothing, NULL, -1}},
         ULNA_ERR_ARGUMENT,
         "0 to 12"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ulna_error error;
        ulna_error_clear(&error);
        ulna_status status = ulna_problem_add_constraint(p.problem, &rows[i].constraint, NULL, &error);
        if (status != rows[i].status || !strstr(error.message, rows[i].says))
            fail_msg("case %d: %s: \"%s\"", (int)i, ulna_status_text(status), error.message);
    }
    assert_int_equal(ulna_problem_constraint_count(p.problem), 0);
    assert_int_equal(ulna_problem_add_constraint(NULL, &rows[0].constraint, NULL, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_add_constraint(p.problem, NULL, NULL, NULL), ULNA_ERR_ARGUMENT);
    assert_null(ulna_constraint_type_name(ULNA_CONSTRAINT_TYPE_COUNT));
    close_pair(&p);
}

static void masses_are_needed_for_their_centre(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(110);
    ulna_test_tree_options options = ulna_test_tree_options_default();
    ulna_model *model = ulna_test_random_tree(&rng, &options);
    ulna_problem *problem;
    ulna_error error;
    const ulna_constraint c = {.type = ULNA_KEEP_CENTRE, .goal = {0, 0, 0, 0, 1, 0}};
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_constraint(problem, &c, NULL, &error), ULNA_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "in the model file, or by ulna_builder_set_mass"));
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

static void numbers_that_are_none_are_reported(void **state)
{
    (void)state;
    pair_of_bodies p = open_pair();
    ulna_row rows[24];
    int count, wrong = 1;
    double error;
    const ulna_constraint c = {.type = ULNA_KEEP_CUSTOM, .body = 1, .other = ULNA_NONE, .custom = {nothing, &wrong, 0}};
    add(&p, &c);
    assert_int_equal(ulna_problem_ready(p.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(p.problem, NULL, &p.work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_rows(p.work, 1, rows, &count), ULNA_ERR_STATE); /* not placed yet */
    assert_int_equal(ulna_work_constraint_error(p.work, 0, &error), ULNA_ERR_STATE);
    evaluate(&p);
    assert_int_equal(ulna_work_rows(p.work, 1, rows, &count), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_work_constraint_error(p.work, 0, &error), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_work_constraint_error(p.work, 1, &error), ULNA_ERR_ARGUMENT);
    close_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_on_every_joint),
        cmocka_unit_test(mixtures_on_random_trees),
        cmocka_unit_test(loaded_rows_are_in_the_matrix),
        cmocka_unit_test(loaded_rows_are_in_the_step),
        cmocka_unit_test(transposed_product_agrees_with_the_jacobian),
        cmocka_unit_test(loads_that_leave_the_tree_are_refused),
        cmocka_unit_test(terms_do_not_see_constraints),
        cmocka_unit_test(errors_are_in_the_units_of_users),
        cmocka_unit_test(rows_are_in_metres),
        cmocka_unit_test(rows_scale_with_the_unit_of_length),
        cmocka_unit_test(no_false_zero_at_half_a_turn),
        cmocka_unit_test(angles_have_a_derivative_everywhere),
        cmocka_unit_test(an_aim_on_its_goal_has_axes),
        cmocka_unit_test(multipliers_turn_with_the_axes),
        cmocka_unit_test(goals_change_and_constraints_rest),
        cmocka_unit_test(copies_have_arrays_of_their_own),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(messages_say_what_to_do),
        cmocka_unit_test(masses_are_needed_for_their_centre),
        cmocka_unit_test(numbers_that_are_none_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
