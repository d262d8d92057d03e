/* newton-pcg: reflected steps, limits, the same minima as newton, its options. */
#include "solve/coleman_li.h"
#include "test_solve_newton_support.h"

static ulna_options pcg_options(void)
{
    ulna_options options = ulna_options_default();
    options.method = "newton-pcg";
    return options;
}

/* ---- steps inside the limits ------------------------------------------------------------------------------------- */

typedef struct hatted {
    ulna_solver *s;
    ulna_interior in;
    double *moved;
} hatted;

/* D H D + C */
static ulna_status apply(void *context, const double *x, double *y)
{
    hatted *c = context;
    for (int j = 0; j < c->s->nv; j++)
        c->moved[j] = c->in.reach[j] * x[j];
    ulna_status status = ulna_work_hessian_multiply(c->s->work, 1, c->moved, y);
    for (int j = 0; j < c->s->nv; j++)
        y[j] = c->in.reach[j] * y[j] + c->in.bend[j] * x[j];
    return status;
}

static void hatted_open(ulna_solver *s, hatted *c)
{
    double **arrays[] = {&c->in.reach,    &c->in.bend,    &c->in.slope,   &c->in.reflected,
                         &c->in.downhill, &c->in.product, &c->in.scratch, &c->moved};
    c->s = s;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = ulna_test_numbers(s->nv);
}

static void hatted_close(hatted *c)
{
    double *arrays[] = {c->in.reach,    c->in.bend,    c->in.slope,   c->in.reflected,
                        c->in.downhill, c->in.product, c->in.scratch, c->moved};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}

/* The scaling as Coleman and Li define it. */
static void check_scaling(const hatted *c)
{
    const ulna_solver *s = c->s;
    for (int j = 0; j < s->nv; j++) {
        int k = ulna_model_dof_coordinate(s->model, j);
        double g = s->gradient[j], limit = g < 0 ? s->upper[j] : s->lower[j];
        double v = k < 0 || isinf(limit) ? 1 : fabs(s->q[k] - limit) / s->scale[j];
        double C = k < 0 || isinf(limit) ? 0 : fabs(g) * s->scale[j];
        int is_stuck = s->locked[j] || v == 0 || s->lower[j] == s->upper[j];
        assert_true(fabs(c->in.reach[j] - (is_stuck ? 0 : s->scale[j] * sqrt(v))) <= 1e-15 * s->scale[j] * (1 + v));
        assert_true(c->in.bend[j] == (is_stuck ? s->curvature : C));
        assert_true(c->in.slope[j] == c->in.reach[j] * g);
    }
    assert_true(c->in.theta >= 0.995 && c->in.theta <= 1);
}

/* Is h what becomes of `asked` if it goes on past the first limit, reflected: part * asked + x * asked with one sign
 * turned? */
static int is_reflected(const hatted *c, const double *asked, const double *h)
{
    const ulna_solver *s = c->s;
    double part = (double)INFINITY, longer = 0;
    int hit = -1, other = -1;
    for (int j = 0; j < s->nv; j++) {
        int k = ulna_model_dof_coordinate(s->model, j);
        double step = c->in.reach[j] * asked[j], limit = step < 0 ? s->lower[j] : s->upper[j];
        if (k >= 0 && step != 0 && fmax((limit - s->q[k]) / step, 0) < part) {
            part = fmax((limit - s->q[k]) / step, 0);
            hit = j;
        }
    }
    for (int j = 0; j < s->nv; j++)
        if (j != hit && (other < 0 || fabs(asked[j]) > fabs(asked[other])))
            other = j;
    if (hit < 0 || other < 0 || asked[other] == 0)
        return 0;
    longer = h[other] / asked[other];
    if (!(longer > part * (1 + 1e-9)))
        return 0;
    for (int j = 0; j < s->nv; j++)
        if (fabs(h[j] - (j == hit ? 2 * part - longer : longer) * asked[j]) > 1e-9 * (1 + longer) * fabs(asked[j]))
            return 0;
    return 1;
}

/* The step that was chosen from direction h: inside, as low as it says, and no higher than the lowest point downhill.
 * */
static void check_step(hatted *c, double *h, double radius, int *cut, int *reflected)
{
    ulna_solver *s = c->s;
    double decrease, value, length = 0, downhill = 0, slope = 0, most = 0, way = (double)INFINITY;
    double *product = ulna_test_numbers(s->nv), *down = ulna_test_numbers(s->nv), *asked = ulna_test_numbers(s->nv);
    memcpy(asked, h, (size_t)s->nv * sizeof *h);
    assert_int_equal(ulna_interior_step(s, &c->in, apply, c, radius, h, &decrease), ULNA_OK);
    assert_int_equal(ulna_interior_model(s, &c->in, apply, c, h, product, &value), ULNA_OK);
    assert_true(fabs(value + decrease) <= 1e-9 * (fabs(value) + 1e-6 * s->f));
    for (int j = 0; j < s->nv; j++) {
        int k = ulna_model_dof_coordinate(s->model, j);
        double to = k < 0 ? 0 : s->q[k] + s->step[j], rounding = 1e-14 * (1 + fabs(to));
        assert_true(k < 0 || (to >= s->lower[j] - rounding && to <= s->upper[j] + rounding));
        assert_true(fabs(s->step[j] - c->in.reach[j] * h[j]) <= 1.1e-10 * s->unit[j]);
        length += h[j] * h[j];
        *cut += h[j] != asked[j];
        down[j] = -c->in.slope[j];
        slope -= down[j] * down[j];
        double limit = down[j] < 0 ? s->lower[j] : s->upper[j], step = c->in.reach[j] * down[j];
        if (k >= 0 && step != 0)
            way = fmin(way, (limit - s->q[k]) / step);
    }
    assert_true(sqrt(length) <= radius * (1 + 1e-9));
    assert_int_equal(apply(c, down, product), ULNA_OK);
    for (int j = 0; j < s->nv; j++)
        most += down[j] * product[j];
    if (slope < 0) { /* the lowest point downhill, by hand */
        double end = fmin(0.99 * way, radius / sqrt(-slope)), at = most > 0 ? fmin(-slope / most, end) : end;
        downhill = at * slope + 0.5 * at * at * most;
    }
    *reflected += is_reflected(c, asked, h);
    int is_asked = memcmp(asked, h, (size_t)s->nv * sizeof *h) == 0; /* then it was not compared */
    assert_true(is_asked || value <= downhill * (1 - 1e-9) + 1e-15 * s->f);
    free(product);
    free(down);
    free(asked);
}

static void steps_inside_limits(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(81);
    int cut = 0, reflected = 0;
    for (int round = 0; round < 1500; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.max_bodies = 12;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, ULNA_TEST_ALL_TERMS, 1 + ulna_test_rng_index(&rng, 8));
        double *lower = ulna_test_numbers(b.nv), *upper = ulna_test_numbers(b.nv), *h = ulna_test_numbers(b.nv);
        double *right = ulna_test_numbers(b.nv), *scratch = ulna_test_numbers((int)ulna_pcg_size(b.nv));
        tight_limits(&rng, &b, lower, upper);
        ulna_options options = pcg_options();
        options.objective = 0;
        options.lower = lower;
        options.upper = upper;
        ulna_solver *s = solver_for(b.problem, &options);
        assert_int_equal(ulna_solver_begin(s, b.q), ULNA_OK);
        if (s->f > 0 && b.nv > 0) {
            hatted c;
            double radius = pow(10, ulna_test_rng_uniform(&rng, -3, 1));
            ulna_pcg_options how = {.tolerance = 0.1, .radius = radius};
            hatted_open(s, &c);
            assert_int_equal(ulna_gradient_here(s), ULNA_OK);
            ulna_interior_scale(s, &c.in);
            check_scaling(&c);
            for (int j = 0; j < b.nv; j++)
                right[j] = -c.in.slope[j];
            assert_int_equal(ulna_pcg(b.nv, apply, &c, NULL, NULL, right, h, &how, scratch, NULL), ULNA_OK);
            check_step(&c, h, radius, &cut, &reflected);
            hatted_close(&c);
        }
        ulna_solver_destroy(s);
        ulna_test_bench_close(&b);
        free(lower);
        free(upper);
        free(h);
        free(right);
        free(scratch);
    }
    assert_true(cut > 1000 && reflected > 200);
}

/* ---- whole runs -------------------------------------------------------------------------------------------------- */

static void limits_are_kept(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(82);
    int stops[ULNA_STOP_COUNT] = {0};
    for (int round = 0; round < 2000; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.max_bodies = 15;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, ULNA_TEST_ALL_TERMS, 1 + ulna_test_rng_index(&rng, 8));
        double *lower = ulna_test_numbers(b.nv), *upper = ulna_test_numbers(b.nv), *strength = ulna_test_numbers(b.nv);
        unsigned char *locked = calloc((size_t)b.nv + 1, 1);
        tight_limits(&rng, &b, lower, upper);
        for (int j = 0; j < b.nv; j++) {
            locked[j] = ulna_test_rng_index(&rng, 8) == 0;
            strength[j] = ulna_test_rng_index(&rng, 8) ? ulna_test_rng_uniform(&rng, 0.3, 3) : 0;
        }
        ulna_options options = pcg_options();
        options.lower = lower;
        options.upper = upper;
        options.strength = strength;
        options.locked = locked;
        options.pcg.nearest_spd = round % 5 == 0 && ulna_dense_available();
        options.pcg.band_width = round % 3 * 12;
        ulna_solver *solver = solver_for(b.problem, &options);
        check_run(solver, &b, stops);
        ulna_solver_destroy(solver);
        ulna_test_bench_close(&b);
        free(lower);
        free(upper);
        free(strength);
        free(locked);
    }
    assert_true(stops[ULNA_STOP_STALLED] + stops[ULNA_STOP_ITERATIONS] < 20);
}

/* From near one of newton's minima: the same one, limits included, to 1e-8. */
static void same_minima_as_newton(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(83);
    int compared = 0, at_limits = 0;
    for (int round = 0; round < 400; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.max_bodies = 12;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, 1u << ULNA_TERM_POINT | 1u << ULNA_TERM_POSTURE,
                                                 2 + ulna_test_rng_index(&rng, 8));
        double *lower = ulna_test_numbers(b.nv), *upper = ulna_test_numbers(b.nv), *step = ulna_test_numbers(b.nv);
        double *q = ulna_test_numbers(b.nq), *start = ulna_test_numbers(b.nq);
        tight_limits(&rng, &b, lower, upper);
        memcpy(q, b.q, (size_t)b.nq * sizeof *q);
        ulna_options options = ulna_options_default();
        ulna_result newton, result;
        options.method = "newton";
        options.decrease = 0;
        options.lower = lower;
        options.upper = upper;
        assert_int_equal(ulna_solve_once(b.problem, &options, q, &newton, NULL), ULNA_OK);
        ulna_test_rng_fill(&rng, step, b.nv, -1e-3, 1e-3);
        ulna_model_integrate(b.model, q, step, start);
        options.method = "newton-pcg";
        assert_int_equal(ulna_solve_once(b.problem, &options, start, &result, NULL), ULNA_OK);
        if (newton.verified) {
            assert_true(result.converged && result.violation <= 0);
            if (!(fabs(result.f - newton.f) <= 1e-8 * newton.f + 1e-20))
                fail_msg("round %d: newton %.12g, newton-pcg %.12g (%s)", round, newton.f, result.f,
                         ulna_stop_name(result.stop));
            compared++;
            at_limits += result.at_limits > 0;
        }
        ulna_test_bench_close(&b);
        free(lower);
        free(upper);
        free(step);
        free(q);
        free(start);
    }
    assert_true(compared > 300 && at_limits > 200);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* However the inner problem is solved, the minimum is the same; a wider band takes no more iterations. */
static void inner_options(void **state)
{
    (void)state;
    // clang-format off
    static const struct {
        double tolerance;
        int width, most, nearest_spd;
    } variants[] = {
        {0.1, 24, 0, 0},
        {0.1, 0, 0, 0},
        {0.1, 4, 0, 0},
        {0.1, 1000, 0, 0},
        {0.01, 24, 0, 0},
        {0.5, 24, 0, 0},
        {0.1, 24, 20, 0},
        {0.1, 24, 0, 1},
    };
    // clang-format on
    enum { VARIANTS = sizeof variants / sizeof *variants, ROUNDS = 20 };
    ulna_test_rng rng = ulna_test_rng_seed(84);
    int iterations[VARIANTS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        ulna_model *model;
        double *start, f = 0;
        ulna_problem *problem = noisy_human(&rng, &model, &start);
        size_t bytes = (size_t)ulna_model_coordinate_count(model) * sizeof(double);
        double *q = malloc(bytes);
        for (int v = 0; v < VARIANTS; v++) {
            ulna_options options = pcg_options();
            ulna_result result;
            options.decrease = 1e-13;
            options.pcg.tolerance = variants[v].tolerance;
            options.pcg.band_width = variants[v].width;
            options.pcg.max_iterations = variants[v].most;
            options.pcg.nearest_spd = variants[v].nearest_spd && ulna_dense_available();
            memcpy(q, start, bytes);
            assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
            assert_true(result.converged && result.verified && result.violation <= 0);
            f = v ? f : result.f;
            assert_true(f > 1e-3 && fabs(result.f - f) <= 1e-9 * f);
            iterations[v] += result.iterations;
        }
        free(q);
        free(start);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
    }
    for (int v = 0; v < VARIANTS; v++) {
        print_message("[ pcg      ] epsilon %g, width %d, at most %d, nearest %d: %.1f iterations\n",
                      variants[v].tolerance, variants[v].width, variants[v].most, variants[v].nearest_spd,
                      iterations[v] / (double)ROUNDS);
        assert_true(iterations[v] < 40 * ROUNDS);
    }
}

/* Where H is indefinite, the nearest matrix that is not is another model: the first step differs, and is no uphill
 * one. */
static void nearest_spd(void **state)
{
    (void)state;
    ulna_model *model = straight_chain(6, 0);
    ulna_problem *problem = one_point(model, -0.3, 0.4, 0);
    ulna_options options = pcg_options();
    ulna_solver *solver;
    ulna_error error;
    double q[2][6], f[2];
    ulna_error_clear(&error);
    for (int k = 0; k < 2; k++) {
        ulna_trace_row trace[2];
        ulna_result result;
        options.pcg.nearest_spd = k;
        options.iterations = 1;
        options.trace = trace;
        options.trace_capacity = 2;
        ulna_status status = ulna_solver_create(problem, &options, NULL, &solver, &error);
        if (k && !ulna_dense_available()) {
            assert_int_equal(status, ULNA_ERR_UNSUPPORTED);
            assert_non_null(strstr(error.message, "LAPACK"));
            break;
        }
        assert_int_equal(status, ULNA_OK);
        for (int j = 0; j < 6; j++)
            q[k][j] = 0.1;
        assert_int_equal(ulna_solve(solver, q[k], &result), ULNA_OK);
        assert_true(trace[1].negative == 1 && trace[1].accepted && result.f < result.first_f);
        f[k] = result.f;
        options.iterations = 0;
        options.trace_capacity = 0;
        assert_int_equal(ulna_solver_set_options(solver, &options, NULL), ULNA_OK);
        assert_int_equal(ulna_solve(solver, q[k], &result), ULNA_OK);
        assert_int_equal(result.stop, ULNA_STOP_OBJECTIVE);
        ulna_solver_destroy(solver);
        if (k)
            assert_true(f[0] != f[1]);
    }
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

/* ---- ends -------------------------------------------------------------------------------------------------------- */

/* An answer on a limit is on it, so that the gradient that is left counts for nothing; with limits without width too.
 * */
static void answers_on_limits(void **state)
{
    (void)state;
    ulna_model *model = straight_chain(3, 0);
    for (int round = 0; round < 3; round++) {
        ulna_problem *problem = one_point(model, 0.2, 0.9, 0);
        ulna_options options = pcg_options();
        double lower[3] = {-1, -1, round == 2 ? 0.25 : -1}, upper[3] = {0.5, 0.5, 0.25}, q[3] = {0, 0, 0};
        ulna_result result;
        options.lower = lower;
        options.upper = upper;
        if (round == 1) /* from the limit itself */
            memcpy(q, upper, sizeof q);
        assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
        assert_int_equal(result.stop, ULNA_STOP_GRADIENT);
        assert_true(result.verified && result.at_limits == 3 && result.gradient == 0);
        assert_memory_equal(q, upper, sizeof q);
        ulna_problem_destroy(problem);
    }
    ulna_model_destroy(model);
}

/* Conjugate gradients see no negative curvature if the gradient is zero: it ends there, and does not call it a
 * minimum. */
static void zero_gradient(void **state)
{
    (void)state;
    ulna_model *model = straight_chain(4, 0);
    ulna_problem *problem = one_point(model, 0.5, 0, 0);
    ulna_options options = pcg_options();
    double q[4] = {0, 0, 0, 0};
    ulna_result result;
    assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
    assert_true(result.stop == ULNA_STOP_GRADIENT && !result.verified && result.f == result.first_f);
    q[1] = 1e-9; /* anything else will do */
    assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
    assert_int_equal(result.stop, ULNA_STOP_OBJECTIVE);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

/* A thousand joints: memory grows with DOFs x band width, and it arrives. */
static void rope(void **state)
{
    (void)state;
    size_t bytes[2];
    for (int k = 0; k < 2; k++) {
        ulna_model *model = straight_chain(500 * (k + 1), 0);
        ulna_problem *problem = one_point(model, 0.3, 0.4, 0);
        ulna_test_memory memory = {.fail_at = -1};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_options options = pcg_options();
        ulna_solver *solver;
        ulna_result result;
        double *q = ulna_test_numbers(ulna_model_coordinate_count(model));
        assert_int_equal(ulna_solver_create(problem, &options, &allocator, &solver, NULL), ULNA_OK);
        bytes[k] = memory.peak_bytes;
        assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
        assert_int_equal(result.stop, ULNA_STOP_OBJECTIVE);
        ulna_solver_destroy(solver);
        ulna_test_memory_check(&memory);
        free(q);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
    }
    assert_true(bytes[1] < 2.1 * (double)bytes[0] && bytes[1] < (size_t)4000 * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_inside_limits),   cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(same_minima_as_newton), cmocka_unit_test(inner_options),
        cmocka_unit_test(nearest_spd),           cmocka_unit_test(answers_on_limits),
        cmocka_unit_test(zero_gradient),         cmocka_unit_test(rope),
    };
    return cmocka_run_group_tests_name("solve_newton_pcg", tests, NULL, NULL);
}
