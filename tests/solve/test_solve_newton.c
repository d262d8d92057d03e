/* newton: its trust region step against eigenvalues, quadratic convergence, saddle points, limits, options. */
#include "math/math3.h"
#include "solve/trust_region.h"
#include "test_solve_newton_support.h"

#include <float.h>

static ulna_options newton_options(int line_search)
{
    ulna_options options = ulna_options_default();
    options.method = "newton";
    options.newton.line_search = line_search;
    return options;
}

/* ---- the trust region problem, by eigenvalues -------------------------------------------------------------------- */

/* min b y + 1/2 y A y over |y| <= radius, in the coordinates of A's eigenvectors. */
typedef struct spectrum {
    int n;
    double *values;  /* eigenvalues, ascending */
    double *vectors; /* columns; in the scaled coordinates of all DOFs, zero for those that are held */
    double *slopes;  /* b along them */
} spectrum;

/* The scaled Hessian on the DOFs that are not held: all numbers as the solver s has them at its q. */
static spectrum spectrum_open(ulna_solver *s)
{
    int nv = s->nv, n = 0, *dof = malloc(((size_t)nv + 1) * sizeof *dof);
    double *H = ulna_test_numbers(nv * nv), *A;
    assert_int_equal(ulna_work_hessian_dense(s->work, 1, H), ULNA_OK);
    for (int j = 0; j < nv; j++)
        if (!s->held[j])
            dof[n++] = j;
    spectrum e = {n, ulna_test_numbers(n), ulna_test_numbers(nv * n), ulna_test_numbers(n)};
    A = ulna_test_numbers(n * n);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            A[i + n * k] = H[dof[i] + nv * dof[k]] * s->scale[dof[i]] * s->scale[dof[k]];
    ulna_dense_work work = {0};
    assert_int_equal(ulna_dense_eigen_need(n, &work.have), ULNA_OK);
    work.reals = ulna_test_numbers((int)work.have.reals);
    work.integers = malloc((work.have.integers + 1) * sizeof *work.integers);
    assert_int_equal(ulna_dense_eigen(n, A, 1, e.values, &work), ULNA_OK);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            e.vectors[dof[i] + nv * k] = A[i + n * k];
            e.slopes[k] += s->gradient[dof[i]] * s->scale[dof[i]] * A[i + n * k];
        }
    free(work.reals);
    free(work.integers);
    free(A);
    free(H);
    free(dof);
    return e;
}

static void spectrum_close(spectrum *e)
{
    free(e->values);
    free(e->vectors);
    free(e->slopes);
}

static double length_at(const spectrum *e, double sigma)
{
    double sum = 0;
    for (int k = 0; k < e->n; k++)
        sum += e->slopes[k] == 0 ? 0 : pow(e->slopes[k] / (e->values[k] + sigma), 2);
    return sqrt(sum);
}

/* The lowest value, by bisection of the secular equation; in the hard case the lowest eigenvector fills up the
 * sphere. */
static double lowest_value(const spectrum *e, double radius)
{
    double least = e->n ? fmax(-e->values[0], 0) : 0, low = least, high = fmax(1, 2 * least), value = 0, used = 0;
    while (length_at(e, high) > radius)
        high *= 2;
    for (int i = 0; i < 200; i++) {
        double middle = 0.5 * (low + high);
        *(length_at(e, middle) > radius ? &low : &high) = middle;
    }
    for (int k = 0; k < e->n; k++) {
        double y = e->slopes[k] == 0 ? 0 : -e->slopes[k] / (e->values[k] + high);
        value += e->slopes[k] * y + 0.5 * e->values[k] * y * y;
        used += y * y;
    }
    double left = e->n && e->values[0] < 0 ? fmax(radius * radius - used, 0) : 0;
    return value - 0.5 * high * left * (left > 0);
}

/* The model at s->step, and |(A + sigma) y + b|: both by the spectrum. */
static double value_at_step(const ulna_solver *s, const spectrum *e, double sigma, double *residual)
{
    double value = 0;
    *residual = 0;
    for (int k = 0; k < e->n; k++) {
        double y = 0;
        for (int j = 0; j < s->nv; j++)
            y += e->vectors[j + s->nv * k] * s->step[j] / s->scale[j];
        value += e->slopes[k] * y + 0.5 * e->values[k] * y * y;
        *residual = fmax(*residual, fabs((e->values[k] + sigma) * y + e->slopes[k]));
    }
    return value;
}

typedef struct tally {
    int inside, sphere, enough, hard, negative;
} tally;

/* One step from q, without limits: More and Sorensen's conditions. */
static void check_step(ulna_solver *s, const double *q, double radius, tally *seen)
{
    assert_int_equal(ulna_solver_begin(s, q), ULNA_OK);
    ulna_trust *t = (ulna_trust *)(void *)s->state; /* the first member of the method's state */
    ulna_status status = ulna_trust_step(s, t, radius);
    assert_int_equal(status, ULNA_OK);
    double residual, length = 0, sigma = t->sigma;
    spectrum e = spectrum_open(s);
    double value = value_at_step(s, &e, sigma, &residual), best = lowest_value(&e, radius);
    double least = e.n ? e.values[0] : 0, size = e.n ? fmax(fabs(least), fabs(e.values[e.n - 1])) : 0;
    for (int j = 0; j < s->nv; j++) {
        length += pow(s->step[j] / s->scale[j], 2);
        assert_true(!s->locked[j] || s->step[j] == 0);
    }
    length = sqrt(length);
    double tiny = 1e-9 * size * length * length + 1e-9 * fabs(value) + 1e-15 * s->f;

    /* What it says of itself. */
    assert_true(fabs(length - t->length) <= 1e-12 * length);
    assert_true(fabs(value + t->predicted) <= tiny);
    assert_true(length <= 1.1 * radius * (1 + 1e-9));
    assert_true(t->is_negative ? least < 0 : !t->is_inside || least > -1e-9 * s->curvature);

    /* sigma >= 0, A + sigma positive semidefinite, (A + sigma) y = -b: then it is the best for its own length. */
    int is_solution = residual <= 1e-7 * (size + sigma) * length + 1e-14 * s->curvature;
    assert_true(sigma >= 0 && least + sigma >= -1e-9 * size);
    if (is_solution)
        assert_true(fabs(value - lowest_value(&e, length)) <= tiny + sigma * 1e-9 * length * length);
    else
        assert_true(t->is_negative && length >= 0.99 * radius); /* the eigenvector was added, up to the sphere */

    /* Inside, on the sphere, or good enough. */
    if (t->is_inside)
        seen->inside++;
    else if (length >= 0.89 * radius)
        assert_true(-value >= 0.7 * -best), seen->sphere += is_solution, seen->hard += !is_solution;
    else
        assert_true(t->is_negative && -value >= 0.49 * fmin(-best, s->f)), seen->enough++;
    seen->negative += t->is_negative;
    spectrum_close(&e);
}

static void steps_on_random_trees(void **state)
{
    (void)state;
    if (!ulna_dense_available()) /* for the eigenvalues to compare with */
        skip();
    ulna_test_rng rng = ulna_test_rng_seed(71);
    tally seen = {0};
    for (int round = 0; round < 1500; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.max_bodies = 12;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, ULNA_TEST_ALL_TERMS, 1 + ulna_test_rng_index(&rng, 8));
        unsigned char *locked = calloc((size_t)b.nv + 1, 1);
        double *strength = ulna_test_numbers(b.nv);
        for (int j = 0; j < b.nv; j++) {
            locked[j] = ulna_test_rng_index(&rng, 8) == 0;
            strength[j] = ulna_test_rng_uniform(&rng, 0.3, 3);
        }
        ulna_options options = newton_options(0);
        options.bounded = 0;
        options.objective = 0;
        options.locked = locked;
        options.strength = strength;
        ulna_solver *solver = solver_for(b.problem, &options);
        if (ulna_problem_term_count(b.problem) > 0)
            check_step(solver, b.q, pow(10, ulna_test_rng_uniform(&rng, -3, 1)), &seen);
        ulna_solver_destroy(solver);
        ulna_test_bench_close(&b);
        free(locked);
        free(strength);
    }
    assert_true(seen.inside > 50 && seen.sphere > 800 && seen.enough > 100 && seen.hard > 20 && seen.negative > 800);
}

/* The gradient has no component along the eigenvector of negative curvature, or is zero. */
static void hard_cases(void **state)
{
    (void)state;
    if (!ulna_dense_available()) /* for the eigenvalues to compare with */
        skip();
    ulna_test_rng rng = ulna_test_rng_seed(72);
    tally seen = {0};
    for (int round = 0; round < 300; round++) {
        int has_slide = round % 3 > 0; /* stiff, so that it gains little: the rest is for the hinges */
        ulna_model *model = straight_chain(2 + round % 7, has_slide);
        ulna_problem *problem = one_point(model, ulna_test_rng_uniform(&rng, 0.1, 0.9), 0, 30 * has_slide);
        ulna_options options = newton_options(0);
        ulna_solver *solver = solver_for(problem, &options);
        double *q = ulna_test_numbers(ulna_model_coordinate_count(model));
        check_step(solver, q, pow(10, ulna_test_rng_uniform(&rng, -3, 0)), &seen);
        free(q);
        ulna_solver_destroy(solver);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
    }
    assert_int_equal(seen.negative, 300);
    assert_true(seen.hard > 100);
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* Steps end inside, and the model is as low as they say. Only where nothing can be gained they say so. */
static void steps_inside_limits(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(73);
    int met = 0, nothing = 0;
    for (int round = 0; round < 1500; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.max_bodies = 12;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, ULNA_TEST_ALL_TERMS, 1 + ulna_test_rng_index(&rng, 8));
        double *lower = ulna_test_numbers(b.nv), *upper = ulna_test_numbers(b.nv), *product = ulna_test_numbers(b.nv);
        tight_limits(&rng, &b, lower, upper);
        ulna_options options = newton_options(0);
        options.objective = 0;
        options.lower = lower;
        options.upper = upper;
        ulna_solver *s = solver_for(b.problem, &options);
        assert_int_equal(ulna_solver_begin(s, b.q), ULNA_OK);
        ulna_trust *t = (ulna_trust *)(void *)s->state;
        if (s->f > 0 && b.nv > 0) {
            assert_int_equal(ulna_trust_step(s, t, pow(10, ulna_test_rng_uniform(&rng, -3, 1))), ULNA_OK);
            assert_int_equal(ulna_work_hessian_multiply(s->work, 1, s->step, product), ULNA_OK);
            double value = 0, size = 0;
            for (int j = 0; j < b.nv; j++) {
                int c = ulna_model_dof_coordinate(b.model, j);
                double to = c >= 0 ? b.q[c] + s->step[j] : 0, slack = 1e-14;
                assert_true(c < 0 || (to >= lower[j] - slack && to <= upper[j] + slack));
                value += s->gradient[j] * s->step[j] + 0.5 * product[j] * s->step[j];
                size += fabs(s->gradient[j] * s->step[j]) + fabs(product[j] * s->step[j]);
            }
            assert_true(fabs(value + t->predicted) <= 1e-9 * size + 1e-15 * s->f);
            double flat = ulna_projected_gradient(s);
            assert_true(t->predicted > 0 || flat < 1e-9 * s->length2);
            nothing += flat == 0;
            met += t->met > 0;
        }
        ulna_solver_destroy(s);
        ulna_test_bench_close(&b);
        free(lower);
        free(upper);
        free(product);
    }
    assert_true(met > 700 && nothing < 200);
}

static void limits_are_kept(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(74);
    int stops[2][ULNA_STOP_COUNT] = {{0}};
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
        for (int line_search = 0; line_search < 2; line_search++) {
            ulna_options options = newton_options(line_search);
            options.lower = lower;
            options.upper = upper;
            options.strength = strength;
            options.locked = locked;
            options.line.rule = round % 2 ? ULNA_LINE_WOLFE : ULNA_LINE_BACKTRACKING;
            ulna_solver *solver = solver_for(b.problem, &options);
            check_run(solver, &b, stops[line_search]);
            ulna_solver_destroy(solver);
        }
        ulna_test_bench_close(&b);
        free(lower);
        free(upper);
        free(strength);
        free(locked);
    }
    for (int k = 0; k < 2; k++) /* kinks of terms on coordinates and minima at infinity may keep it from ending well */
        assert_true(stops[k][ULNA_STOP_STALLED] + stops[k][ULNA_STOP_ITERATIONS] < 20);
}

/* ---- convergence ------------------------------------------------------------------------------------------------- */

/* The lengths of the last three steps above rounding; 0 if there are not so many in a row. */
static int last_steps(const ulna_trace_row *trace, int count, double steps[3])
{
    int last = count - 1;
    while (last > 0 && !(trace[last].step > 1e-9))
        last--;
    for (int k = 0; k < 3; k++) {
        int row = last - 2 + k;
        if (row < 1 || !trace[row].accepted)
            return 0;
        steps[k] = trace[row].step;
    }
    return 1;
}

static void convergence_is_quadratic(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(75);
    enum { ROWS = 400 };
    ulna_trace_row *trace = calloc(ROWS, sizeof *trace);
    int iterations[3] = {0};
    for (int round = 0; round < 60; round++) {
        ulna_model *model;
        double *start, steps[3] = {0}, f[3] = {0};
        ulna_problem *problem = noisy_human(&rng, &model, &start);
        size_t bytes = (size_t)ulna_model_coordinate_count(model) * sizeof(double);
        double *q = malloc(bytes);
        for (int k = 0; k < 3; k++) { /* trust region, line search, and Gauss-Newton for comparison */
            ulna_options options = newton_options(k == 1);
            ulna_result result;
            options.method = k == 2 ? "hybrid" : "newton";
            options.hybrid.exact = 0;
            options.bounded = 0;
            options.decrease = 0;
            options.gradient = 1e-13;
            options.trace = trace;
            options.trace_capacity = ROWS;
            memcpy(q, start, bytes);
            assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
            f[k] = result.f;
            iterations[k] += result.iterations;
            if (k == 2)
                continue;
            assert_true(result.converged && result.verified);
            assert_true(last_steps(trace, result.trace_count, steps));
            if (!(steps[0] < 0.2 && steps[1] <= 60 * steps[0] * steps[0] && steps[2] <= 60 * steps[1] * steps[1]))
                fail_msg("round %d: steps %.2g, %.2g, %.2g", round, steps[0], steps[1], steps[2]);
        }
        assert_true(f[0] > 1e-3); /* residuals there are */
        assert_true(fabs(f[0] - f[1]) <= 1e-10 * f[0] && fabs(f[0] - f[2]) <= 1e-8 * f[0]);
        free(q);
        free(start);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
    }
    assert_true(iterations[0] < 60 * 8 && iterations[1] < 60 * 8 && 2 * iterations[2] > 3 * iterations[0]);
    print_message("[ newton   ] %.1f iterations, line search %.1f, Gauss-Newton %.1f\n", iterations[0] / 60.0,
                  iterations[1] / 60.0, iterations[2] / 60.0);
    free(trace);
}

/* ---- saddle points ----------------------------------------------------------------------------------------------- */

/* A straight chain and a goal on its line: the gradient is zero, and exactly zero it stays without negative
 * curvature. */
static void saddles_are_left(void **state)
{
    (void)state;
    for (int round = 0; round < 40; round++) {
        int joints = 2 + round % 5, line_search = round / 5 % 2,
            bars = round / 10; /* of the hinges: no side, one side */
        ulna_model *model = straight_chain(joints, 0);
        ulna_problem *problem = one_point(model, 0.5, 0, 0);
        double lower[8], upper[8], *q = ulna_test_numbers(8);
        for (int j = 0; j < 8; j++) {
            lower[j] = bars == 1 ? 0 : -3;
            upper[j] = bars == 2 ? 0 : 3;
            if (bars == 3) /* every second one bends the other way */
                *(j % 2 ? &lower[j] : &upper[j]) = 0;
        }
        ulna_trace_row trace[2];
        ulna_options options = newton_options(line_search);
        ulna_result result;
        options.lower = lower;
        options.upper = upper;
        options.trace = trace;
        options.trace_capacity = 2;
        assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
        assert_true(trace[0].gradient < 1e-15 && result.violation <= 0);
        if (bars == 0 || bars == 3)
            assert_true(result.stop == ULNA_STOP_OBJECTIVE && trace[1].negative == 1 && trace[1].accepted);
        else if (joints == 2) /* two hinges that bend one way come no nearer: the end, but not known to be a minimum */
            assert_true(result.stop == ULNA_STOP_GRADIENT && result.f == result.first_f && !result.verified);
        else if (!line_search) /* only one side of the negative curvature is open */
            assert_true(result.f < 0.15 * result.first_f && result.converged);
        free(q);
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
    }
}

/* Away from the goal it stretches out: a maximum of f is left as well, and folded onto itself it is a saddle point
 * again. */
static void extremes_of_two_links(void **state)
{
    (void)state;
    const double starts[4][2] = {{0, 0}, {ULNA_PI, 0}, {0, ULNA_PI}, {ULNA_PI, ULNA_PI}};
    ulna_model *model;
    assert_int_equal(ulna_sample_create("two-link", NULL, &model, NULL), ULNA_OK);
    for (int round = 0; round < 8; round++) {
        ulna_problem *problem;
        const double tip[3] = {1, 0, 0}, goal[3] = {round < 4 ? 1.2 : 2.5, 0, 0};
        double q[2] = {starts[round % 4][0], starts[round % 4][1]};
        ulna_result result;
        ulna_options options = newton_options(0);
        assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_add_point(problem, 1, tip, goal, 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
        assert_int_equal(ulna_solve_once(problem, &options, q, &result, NULL), ULNA_OK);
        assert_true(result.converged);
        assert_true(round < 4 ? result.f <= 1e-24 : fabs(result.f - 0.125) < 1e-12); /* out of reach by half a metre */
        assert_true(round < 4 || result.verified);
        ulna_problem_destroy(problem);
    }
    ulna_model_destroy(model);
}

/* ---- size, options ----------------------------------------------------------------------------------------------- */

/* A thousand joints: memory grows with DOFs, not with their square, and it arrives. */
static void rope(void **state)
{
    (void)state;
    size_t bytes[2];
    for (int k = 0; k < 2; k++) {
        ulna_model *model = straight_chain(500 * (k + 1), 0);
        ulna_problem *problem = one_point(model, 0.3, 0.4, 0);
        for (int line_search = 0; line_search < 2; line_search++) {
            ulna_test_memory memory = {.fail_at = -1};
            ulna_allocator allocator = ulna_test_allocator(&memory);
            ulna_options options = newton_options(line_search);
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
        }
        ulna_problem_destroy(problem);
        ulna_model_destroy(model);
    }
    assert_true(bytes[1] < 2.1 * (double)bytes[0] && bytes[1] < (size_t)3000 * 1000);
}

/* The first radius bounds the first step, in the coordinates that strengths scale; the trace tells the radius. */
static void first_radius(void **state)
{
    (void)state;
    ulna_model *model = straight_chain(6, 0);
    ulna_problem *problem = one_point(model, -0.3, 0.4, 0);
    for (int round = 0; round < 5; round++) {
        double radius = pow(10, -round), q[6] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, strength[6] = {1, 2, 4, 1, 0.5, 1},
               y = 0;
        double before[6];
        ulna_trace_row trace[2];
        ulna_options options = newton_options(0);
        options.newton.radius = radius;
        options.strength = strength;
        options.iterations = 1;
        options.trace = trace;
        options.trace_capacity = 2;
        memcpy(before, q, sizeof q);
        assert_int_equal(ulna_solve_once(problem, &options, q, NULL, NULL), ULNA_OK);
        for (int j = 0; j < 6; j++)
            y += pow((q[j] - before[j]) / strength[j], 2);
        assert_true(trace[1].damping == radius && trace[1].exactness == 1);
        assert_true(sqrt(y) <= 1.1 * radius * (1 + 1e-12));
        assert_true(round == 0 || (trace[1].accepted && sqrt(y) >= 0.45 * radius));
    }
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_on_random_trees),
        cmocka_unit_test(hard_cases),
        cmocka_unit_test(steps_inside_limits),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(convergence_is_quadratic),
        cmocka_unit_test(saddles_are_left),
        cmocka_unit_test(extremes_of_two_links),
        cmocka_unit_test(rope),
        cmocka_unit_test(first_radius),
    };
    return cmocka_run_group_tests_name("solve_newton", tests, NULL, NULL);
}
