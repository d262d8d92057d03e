/* Terms of one's own: against built-in ones, by hand-written derivatives; numbers that are not; far away; copies. */
#include "math/math3.h"
#include "objective/problem.h"
#include "support_problem.h"
#include "ulna/sample.h"

#include <float.h>
#include <stdlib.h>

/* ---- built-in terms, written again as a user would: nothing but the formulas of the header ----------------------- */

/* Second derivative of c.(a moved), a point or direction of the body: 1/2 (c aT + a cT) - c.a, and -1/2 [c]x beside
 * it. */
static void bend_by_hand(const double c[3], const double a[3], int is_point, double bend[6][6])
{
    double hat[3][3] = {{0, -c[2], c[1]}, {c[2], 0, -c[0]}, {-c[1], c[0], 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            bend[i][j] += 0.5 * (c[i] * a[j] + a[i] * c[j]) - (i == j ? ulna_dot(c, a) : 0);
            if (is_point) {
                bend[i][3 + j] -= 0.5 * hat[i][j];
                bend[3 + j][i] -= 0.5 * hat[i][j];
            }
        }
}

/* Context: the point in the body's frame. Goal: a place. */
static void own_point(const void *context, const double *goal, const double rotation[9], const double position[3],
                      ulna_custom_value *value)
{
    double a[3];
    ulna_rotate(rotation, context, a);
    for (int k = 0; k < 3; k++) {
        double unit[3] = {k == 0, k == 1, k == 2};
        value->residual[k] = goal[k] - position[k] - a[k];
        ulna_cross(a, unit, value->row[k]);
        value->row[k][3 + k] = 1;
    }
    bend_by_hand(value->residual, a, 1, value->bend);
}

/* Goal: a point of the plane and its unit normal. */
static void own_plane(const void *context, const double *goal, const double rotation[9], const double position[3],
                      ulna_custom_value *value)
{
    const double *n = goal + 3;
    double a[3], pull[3], r = 0;
    ulna_rotate(rotation, context, a);
    for (int i = 0; i < 3; i++)
        r += n[i] * (goal[i] - position[i] - a[i]);
    value->residual[0] = r;
    ulna_cross(a, n, value->row[0]);
    for (int i = 0; i < 3; i++) {
        value->row[0][3 + i] = n[i];
        pull[i] = r * n[i];
    }
    bend_by_hand(pull, a, 1, value->bend);
}

/* The same by the helper, as a linear function of a point. */
static void own_plane_by_helper(const void *context, const double *goal, const double rotation[9],
                                const double position[3], ulna_custom_value *value)
{
    double a[3];
    ulna_rotate(rotation, context, a);
    for (int i = 0; i < 3; i++)
        value->residual[0] += goal[3 + i] * (goal[i] - position[i] - a[i]);
    ulna_custom_point(value, 0, a, goal + 3, NULL);
}

/* Context: an axis of the body, of unit length. Goal: a unit direction. */
static void own_direction(const void *context, const double *goal, const double rotation[9], const double position[3],
                          ulna_custom_value *value)
{
    (void)position;
    double d[3];
    ulna_rotate(rotation, context, d);
    for (int k = 0; k < 3; k++) {
        double unit[3] = {k == 0, k == 1, k == 2};
        value->residual[k] = goal[k] - d[k];
        ulna_cross(d, unit, value->row[k]);
    }
    bend_by_hand(value->residual, d, 0, value->bend);
}

enum { POINT, PLANE, PLANE_BY_HELPER, DIRECTION, OWN_COUNT };

static const struct {
    const char *name;
    ulna_custom custom;
} own[OWN_COUNT] = {
    [POINT] = {"point", {own_point, NULL, 3, 3}},
    [PLANE] = {"plane", {own_plane, NULL, 6, 1}},
    [PLANE_BY_HELPER] = {"plane by helper", {own_plane_by_helper, NULL, 6, 1}},
    [DIRECTION] = {"direction", {own_direction, NULL, 3, 3}},
};

/* One term twice: built in for `twin` 0, and as a custom one. `local` outlives the problem. */
static void add_twin(ulna_problem *problem, int which, int twin, int body, const double local[3], const double goal[6],
                     double weight)
{
    ulna_custom custom = own[which].custom;
    custom.context = local;
    ulna_status status = ULNA_OK;
    if (twin)
        status = ulna_problem_add_custom(problem, body, &custom, goal, weight, NULL, NULL);
    else if (which == POINT)
        status = ulna_problem_add_point(problem, body, local, goal, weight, NULL, NULL);
    else if (which == DIRECTION) /* a plain weight for a rotation: the length is 1 */
        status = ulna_problem_add_direction(problem, body, local, goal, weight, NULL, NULL);
    else
        status = ulna_problem_add_plane(problem, body, local, goal, goal + 3, weight, NULL, NULL);
    assert_int_equal(status, ULNA_OK);
}

static void unit_vector(ulna_test_rng *rng, double x[3])
{
    double size;
    do {
        ulna_test_rng_fill(rng, x, 3, -1, 1);
        size = ulna_norm(x);
    } while (size < 0.1);
    for (int i = 0; i < 3; i++)
        x[i] /= size;
}

static void assert_relative(const double *a, const double *b, int n, double tolerance, const char *what, int which)
{
    double scale = ulna_test_largest(b, n), worst = 0;
    for (int i = 0; i < n; i++)
        worst = isnan(a[i]) ? INFINITY : fmax(worst, fabs(a[i] - b[i]));
    if (!(worst <= tolerance * scale + DBL_MIN))
        fail_msg("%s as a custom term: %s differs by %.3g of %.3g", own[which].name, what, worst, scale);
}

typedef struct numbers {
    double f, *g, *H, *r, *J, *step;
} numbers;

static numbers numbers_of(const ulna_test_bench *b, double t)
{
    int m = ulna_work_residual_count(b->work);
    numbers n = {0,
                 ulna_test_numbers(b->nv),
                 ulna_test_numbers(b->nv * b->nv),
                 ulna_test_numbers(m),
                 ulna_test_numbers(m * b->nv),
                 ulna_test_numbers(b->nv)};
    double *shift = ulna_test_numbers(b->nv);
    for (int d = 0; d < b->nv; d++)
        shift[d] = 1e3;
    ulna_step_options options = {.t = t, .shift = shift};
    assert_int_equal(ulna_work_evaluate(b->work, b->q, &n.f), ULNA_OK);
    assert_int_equal(ulna_work_gradient(b->work, n.g), ULNA_OK);
    assert_int_equal(ulna_work_hessian_dense(b->work, t, n.H), ULNA_OK);
    assert_int_equal(ulna_work_residuals(b->work, n.r, n.J), ULNA_OK);
    assert_int_equal(ulna_work_step(b->work, &options, n.step, NULL, NULL), ULNA_OK);
    free(shift);
    return n;
}

static void numbers_close(numbers *n)
{
    free(n->g);
    free(n->H);
    free(n->r);
    free(n->J);
    free(n->step);
}

/* Opens the same tree twice from one seed, with the built-in terms or the custom ones, `far_m` from the world's
 * origin. */
static ulna_test_bench twin_open(uint64_t seed, int which, int twin, double far_m, double local[2][3])
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    tree.max_bodies = 12;
    tree.far_m = far_m;
    ulna_test_bench b = {.model = ulna_test_random_tree(&rng, &tree)};
    b.nv = ulna_model_dof_count(b.model);
    b.nq = ulna_model_coordinate_count(b.model);
    b.q = ulna_test_random_q(&rng, b.model);
    ulna_pose *pose;
    double root[3];
    assert_int_equal(ulna_pose_create(b.model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, b.q), ULNA_OK);
    assert_int_equal(ulna_pose_body(pose, 0, root, NULL), ULNA_OK);
    ulna_pose_destroy(pose);
    assert_int_equal(ulna_problem_create(b.model, NULL, &b.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_set_length(b.problem, 1), ULNA_OK);
    for (int k = 0; k < 2; k++) {
        ulna_effector e = ulna_test_random_effector(&rng, b.model);
        double goal[6], weight = ulna_test_rng_uniform(&rng, 0.1, 3);
        unit_vector(&rng, local[k]);
        unit_vector(&rng, goal + 3);
        if (which == DIRECTION)
            unit_vector(&rng, goal);
        else
            ulna_test_rng_fill(&rng, goal, 3, -1.5, 1.5);
        for (int i = 0; i < 3 && which != DIRECTION; i++)
            goal[i] += root[i];
        add_twin(b.problem, which, twin, e.body, local[k], goal, weight);
    }
    assert_int_equal(ulna_problem_ready(b.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(b.problem, NULL, &b.work, NULL), ULNA_OK);
    return b;
}

static void compare_twins(double far_m, double tolerance)
{
    for (int round = 0; round < 400; round++) {
        int which = round % OWN_COUNT, t = round / OWN_COUNT % 2;
        double local[2][2][3];
        ulna_test_bench built_in = twin_open(500 + (uint64_t)round, which, 0, far_m, local[0]);
        ulna_test_bench custom = twin_open(500 + (uint64_t)round, which, 1, far_m, local[1]);
        numbers a = numbers_of(&built_in, t), b = numbers_of(&custom, t);
        int nv = custom.nv, m = ulna_work_residual_count(custom.work);
        assert_int_equal(m, ulna_work_residual_count(built_in.work));
        assert_relative(&b.f, &a.f, 1, tolerance, "f", which);
        assert_relative(b.g, a.g, nv, tolerance, "gradient", which);
        assert_relative(b.H, a.H, nv * nv, tolerance, "Hessian", which);
        assert_relative(b.r, a.r, m, tolerance, "residuals", which);
        assert_relative(b.J, a.J, m * nv, tolerance, "residual Jacobian", which);
        assert_relative(b.step, a.step, nv, tolerance, "step", which);
        for (int i = 0; i < 2 && which != DIRECTION; i++) {
            double error[2];
            assert_int_equal(ulna_work_term_error(built_in.work, i, &error[0]), ULNA_OK);
            assert_int_equal(ulna_work_term_error(custom.work, i, &error[1]), ULNA_OK);
            assert_true(fabs(error[1] - error[0]) <= tolerance);
        }
        numbers_close(&a);
        numbers_close(&b);
        ulna_test_bench_close(&built_in);
        ulna_test_bench_close(&custom);
    }
}

static void same_as_built_in(void **state)
{
    (void)state;
    compare_twins(0, 1e-12);
}

/* A position is rounded to 1.5e-11 m at 100 km, and nothing else is: rows and bends about the world's origin would be
 * off by 1e-11 of 1e5 m and 1e10 m2. */
static void same_far_away(void **state)
{
    (void)state;
    compare_twins(1e5, 2e-10);
}

/* ---- what the checker shows ---------------------------------------------------------------------------------------
 * */

typedef struct sphere {
    double point[3];
    int flaw; /* 0 none, 1 no bend, 2 a wrong row, 3 all of the bend above the diagonal */
} sphere;

/* Distance of a point to a centre: goal = centre, radius. All by hand. */
static void own_sphere(const void *context, const double *goal, const double rotation[9], const double position[3],
                       ulna_custom_value *value)
{
    const sphere *s = context;
    double a[3], n[3], pull[3], move[3][6] = {{0}};
    ulna_rotate(rotation, s->point, a);
    for (int i = 0; i < 3; i++)
        n[i] = position[i] + a[i] - goal[i];
    double distance = ulna_norm(n), r = goal[3] - distance;
    for (int i = 0; i < 3; i++) {
        double unit[3] = {i == 0, i == 1, i == 2};
        n[i] /= distance;
        pull[i] = r * n[i];
        ulna_cross(a, unit, move[i]);
        move[i][3 + i] = 1;
    }
    value->residual[0] = r;
    for (int x = 0; x < 6; x++)
        for (int i = 0; i < 3; i++)
            value->row[0][x] += n[i] * move[i][x];
    if (s->flaw == 2)
        value->row[0][1] *= 1.01;
    if (s->flaw == 1)
        return;
    bend_by_hand(pull, a, 1, value->bend);
    for (int x = 0; x < 6; x++)
        for (int y = 0; y < 6; y++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    value->bend[x][y] += r * move[i][x] * ((i == j) - n[i] * n[j]) / distance * move[j][y];
    for (int x = 0; x < 6 && s->flaw == 3; x++)
        for (int y = 0; y < x; y++) {
            value->bend[y][x] *= 2;
            value->bend[x][y] = 0;
        }
}

static void the_checker_shows_flaws(void **state)
{
    (void)state;
    ulna_model *model;
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    double q[7];
    const double goal[4] = {0.4, 0.5, 0.1, 0.2};
    for (int d = 0; d < 7; d++)
        q[d] = ulna_model_rest(model)[d] + 0.3 - 0.1 * d;
    for (int flaw = 0; flaw < 4; flaw++) {
        ulna_problem *p;
        ulna_work *w;
        ulna_derivative_report report;
        sphere s = {{0.1, 0.05, -0.02}, flaw};
        ulna_custom custom = {own_sphere, &s, 4, 1};
        assert_int_equal(ulna_problem_create(model, NULL, &p, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_add_custom(p, ulna_model_body_count(model) - 1, &custom, goal, 2, NULL, NULL),
                         ULNA_OK);
        assert_int_equal(ulna_problem_ready(p, NULL), ULNA_OK);
        assert_int_equal(ulna_work_create(p, NULL, &w, NULL), ULNA_OK);
        assert_int_equal(ulna_work_check_derivatives(w, q, &report, NULL), ULNA_OK);
        assert_true(flaw == 2 ? report.jacobian > 1e-4 : report.jacobian < 1e-8);
        assert_true(flaw == 2 ? report.gradient > 1e-4 : report.gradient < 1e-8);
        assert_true(flaw == 1 || flaw == 2 ? report.hessian > 1e-4 : report.hessian < 1e-8);
        assert_true(report.product < 1e-12 && report.residuals < 1e-12); /* consistent in itself, whatever it is */
        ulna_work_destroy(w);
        ulna_problem_destroy(p);
    }
    ulna_model_destroy(model);
}

/* ---- numbers that are not, weights, goals, copies
 * ------------------------------------------------------------------ */

typedef struct trap {
    int where; /* 0 nowhere, 1 residual, 2 row, 3 bend, 4 a residual that does not count */
    double what;
    int calls;
} trap;

static void own_trap(const void *context, const double *goal, const double rotation[9], const double position[3],
                     ulna_custom_value *value)
{
    const trap *t = context;
    (void)rotation;
    ((trap *)(uintptr_t)t)->calls++; /* a test may look over the shoulder of one thread; terms may not */
    assert_true(value->residual[1] == 0 && value->row[1][5] == 0 && value->bend[5][5] == 0);
    value->residual[0] = (goal ? goal[0] : 0) - position[0];
    value->row[0][3] = 1;
    if (t->where == 1)
        value->residual[1] = t->what;
    if (t->where == 2)
        value->row[1][4] = t->what;
    if (t->where == 3)
        value->bend[2][5] = t->what;
    if (t->where == 4)
        value->residual[2] = value->row[2][2] = t->what;
}

static ulna_test_bench trap_open(const trap *t, int goal_size, double goal, double weight)
{
    ulna_test_bench b = {0};
    ulna_custom custom = {own_trap, t, goal_size, 2};
    int term = -1;
    assert_int_equal(ulna_sample_create("two-link", NULL, &b.model, NULL), ULNA_OK);
    b.q = ulna_test_numbers(2);
    b.q[0] = 0.3;
    b.nv = b.nq = 2;
    assert_int_equal(ulna_problem_create(b.model, NULL, &b.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_custom(b.problem, 1, &custom, goal_size ? &goal : NULL, weight, &term, NULL),
                     ULNA_OK);
    assert_int_equal(term, 0);
    assert_int_equal(ulna_problem_ready(b.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(b.problem, NULL, &b.work, NULL), ULNA_OK);
    return b;
}

static void numbers_that_are_not(void **state)
{
    (void)state;
    const double what[] = {NAN, INFINITY, -INFINITY};
    for (int where = 0; where <= 4; where++)
        for (int k = 0; k < 3; k++) {
            trap t = {where, what[k], 0};
            ulna_test_bench b = trap_open(&t, 1, 0.25, 1);
            double f, error, g[2];
            ulna_status expected = where == 0 || where == 4 ? ULNA_OK : ULNA_ERR_NUMBER;
            assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), expected);
            assert_int_equal(ulna_work_gradient(b.work, g), expected == ULNA_OK ? ULNA_OK : ULNA_ERR_STATE);

            /* Switched off it is not asked, and does no harm. */
            int calls = t.calls;
            double r[2] = {NAN, NAN}, J[4] = {NAN, NAN, NAN, NAN};
            assert_int_equal(ulna_problem_set_weight(b.problem, 0, 0), ULNA_OK);
            assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
            assert_int_equal(ulna_work_residuals(b.work, r, J), ULNA_OK);
            assert_int_equal(t.calls, calls);
            assert_true(f == 0 && r[0] == 0 && r[1] == 0 && J[0] == 0 && J[3] == 0);
            assert_int_equal(ulna_work_term_error(b.work, 0, &error), expected);

            /* And it comes back. */
            assert_int_equal(ulna_problem_set_weight(b.problem, 0, 1), ULNA_OK);
            t.where = 0;
            assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
            assert_true(f > 0);
            ulna_test_bench_close(&b);
        }
}

static void goals_weights_copies(void **state)
{
    (void)state;
    trap t = {0};
    ulna_test_bench b = trap_open(&t, 1, 0.25, 2);
    double f, error, goal = 0, at = cos(0.3), off = 0.25 - at; /* the second link begins a unit from the first */
    assert_string_equal(ulna_term_type_name(ULNA_TERM_CUSTOM), "custom");
    assert_int_equal(ulna_problem_term_type(b.problem, 0), ULNA_TERM_CUSTOM);
    assert_int_equal(ulna_problem_term_body(b.problem, 0), 1);
    assert_int_equal(ulna_work_residual_count(b.work), 2);
    assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
    assert_true(fabs(f - off * off) < 1e-15);
    assert_int_equal(ulna_work_term_error(b.work, 0, &error), ULNA_OK);
    assert_true(fabs(error - fabs(off)) < 1e-15);
    assert_int_equal(ulna_problem_goal(b.problem, 0, &goal), ULNA_OK);
    assert_true(goal == 0.25);
    assert_int_equal(ulna_problem_set_length(b.problem, 7), ULNA_OK); /* no rotation: the weight is plain */
    assert_int_equal(ulna_problem_set_weight(b.problem, 0, 6), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
    assert_true(fabs(f - 3 * off * off) < 1e-15);

    ulna_problem *copy;
    ulna_work *work;
    double g;
    assert_int_equal(ulna_problem_clone(b.problem, NULL, &copy, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(copy, NULL, &work, NULL), ULNA_OK);
    goal = at;
    assert_int_equal(ulna_problem_set_goal(copy, 0, &goal), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(work, b.q, &g), ULNA_OK);
    assert_true(g < 1e-30);
    assert_int_equal(ulna_work_evaluate(b.work, b.q, &g), ULNA_OK);
    assert_true(g == f);
    goal = NAN;
    assert_int_equal(ulna_problem_set_goal(copy, 0, &goal), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_problem_goal(copy, 0, &goal), ULNA_OK);
    assert_true(goal == at);
    ulna_work_destroy(work);
    ulna_problem_destroy(copy);
    ulna_test_bench_close(&b);

    b = trap_open(&t, 0, 0, 1); /* without a goal */
    assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
    assert_true(fabs(f - 0.5 * at * at) < 1e-15);
    ulna_test_bench_close(&b);
}

static void arguments(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_problem *p;
    const double goal[9] = {0}, bad[1] = {NAN};
    assert_int_equal(ulna_sample_create("two-link", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(model, NULL, &p, NULL), ULNA_OK);
    const struct {
        ulna_custom custom;
        int body;
        const double *goal;
        double weight;
        ulna_status status;
        const char *words;
    } cases[] = {
        {{own_trap, NULL, 1, 1}, 2, goal, 1, ULNA_ERR_ARGUMENT, "no body 2"},
        {{own_trap, NULL, 1, 1}, -1, goal, 1, ULNA_ERR_ARGUMENT, "no body -1"},
        {{NULL, NULL, 1, 1}, 0, goal, 1, ULNA_ERR_ARGUMENT, "missing"},
        {{own_trap, NULL, 1, 1}, 0, NULL, 1, ULNA_ERR_ARGUMENT, "missing"},
        {{own_trap, NULL, -1, 1}, 0, goal, 1, ULNA_ERR_ARGUMENT, "0 to 9 numbers, not -1"},
        {{own_trap, NULL, 10, 1}, 0, goal, 1, ULNA_ERR_ARGUMENT, "0 to 9 numbers, not 10"},
        {{own_trap, NULL, 1, 0}, 0, goal, 1, ULNA_ERR_ARGUMENT, "1 to 3 residuals, not 0"},
        {{own_trap, NULL, 1, 4}, 0, goal, 1, ULNA_ERR_ARGUMENT, "1 to 3 residuals, not 4"},
        {{own_trap, NULL, 1, 1}, 0, goal, -1, ULNA_ERR_ARGUMENT, "weight"},
        {{own_trap, NULL, 1, 1}, 0, bad, 1, ULNA_ERR_NUMBER, "NaN"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ulna_error error;
        ulna_error_clear(&error);
        assert_int_equal(
            ulna_problem_add_custom(p, cases[i].body, &cases[i].custom, cases[i].goal, cases[i].weight, NULL, &error),
            cases[i].status);
        if (!strstr(error.message, cases[i].words))
            fail_msg("message \"%s\" does not say \"%s\"", error.message, cases[i].words);
    }
    assert_int_equal(ulna_problem_add_custom(NULL, 0, &cases[0].custom, goal, 1, NULL, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_add_custom(p, 0, NULL, goal, 1, NULL, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_problem_term_count(p), 0);
    ulna_problem_destroy(p);
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_built_in),        cmocka_unit_test(same_far_away),
        cmocka_unit_test(the_checker_shows_flaws), cmocka_unit_test(numbers_that_are_not),
        cmocka_unit_test(goals_weights_copies),    cmocka_unit_test(arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
